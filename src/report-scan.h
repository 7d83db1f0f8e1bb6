/* SPDX-License-Identifier: GPL-2.0-only */
/* What perf relax scan prints: one hint a line, or one file a line. */
#ifndef PERF_RELAX_REPORT_SCAN_H
#define PERF_RELAX_REPORT_SCAN_H

#include <stdio.h>

#include "elfscan.h"

enum scan_format { SCAN_TEXT, SCAN_CSV, SCAN_JSON, SCAN_NUL };

struct scan_style {
	enum scan_format format;
	const char *csv_sep;
	bool summary;		/* one line for each file */
};

/* Number of hints of one name in a file. */
struct scan_count {
	const char *hint;
	uint64_t n;
};

struct scan_summary {
	const char *file, *machine, *package;	/* package may be NULL */
	uint64_t n_hits, n_in_loop, n_spin_waits;
	const struct scan_count *count;
	size_t n_counts;
};

/*
 * A name as text: characters that are not printable, and bytes that are not UTF-8, as \n, \t, \xNN; a backslash as \\.
 * malloc'ed. Names from directories may hold anything.
 */
char *report_scan_escape(const char *s);

/* What is left out of a tree without being an error. */
enum scan_skip {
	SCAN_SKIP_NOT_ELF,
	SCAN_SKIP_LINK,		/* symbolic links: their target is scanned where it is */
	SCAN_SKIP_SPECIAL,	/* FIFOs, sockets, devices */
	SCAN_SKIP_KERNEL_FS,	/* /proc, /sys and the like */
	SCAN_SKIP_LOOP,
	SCAN_SKIP_NO_TABLE,
	SCAN_SKIP_REFUSED,	/* core files */
	SCAN_SKIP_DEBUG,	/* split debug information */
	SCAN_SKIP_COUNT
};

struct scan_totals {
	uint64_t n_scanned, n_with_hits, n_hits, n_in_loop, n_spin_waits, code_bytes, n_data;
	uint64_t n_partial, n_failed;
	uint64_t n_cannot;	/* things that this machine or user cannot give */
	uint64_t n_skipped[SCAN_SKIP_COUNT];
	uint64_t n_libraries, n_library_hits, n_named_hits;
};

void report_scan_head(FILE *f, const struct scan_style *style);
/* @first: the file's first hit, which the text form puts the file's name before. */
void report_scan_hit(FILE *f, const struct scan_style *style, const char *file, const struct elfscan_hit *hit,
		     bool first);
void report_scan_summary(FILE *f, const struct scan_style *style, const struct scan_summary *s);
/* The sums of a package. */
void report_scan_package(FILE *f, const struct scan_style *style, const struct scan_summary *s);
/* What was found, in sentences. @n_needed: of so many named files the libraries were scanned as well. */
void report_scan_totals(FILE *f, const struct scan_totals *t, size_t n_needed, bool interrupted);
void report_scan_skipped(FILE *f, const struct scan_totals *t);
/* The table of hints of all machines. */
void report_scan_hints(FILE *f);

#endif
