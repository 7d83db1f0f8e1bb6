/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only unit that prints results: tables as text, CSV, Markdown and JSON, verdict lines, and what perf stat's -x and
 * -j print.
 */
#ifndef PERF_RELAX_REPORT_H
#define PERF_RELAX_REPORT_H

#include "result.h"

enum report_format { REPORT_TEXT, REPORT_CSV, REPORT_MARKDOWN, REPORT_JSON };

struct report_options {
	enum report_format format;
	bool ascii;		/* no characters beyond ASCII */
	bool colour;
	int verbosity; /* 1: every metric's comparison, all of env, the decoded instructions; 2: p-values and raw values
			*/
	const char *sort;	/* column to sort by, "-NAME" descending; NULL: as measured */
	const char *metric;	/* headline metric instead of the run's own; NULL: as the run says */
	const char *csv_sep;	/* NULL: "," */
};

/*
 * Text for @f: ASCII unless the locale is UTF-8, colour only when @f is a terminal, NO_COLOR is unset or empty and TERM
 * is not "dumb".
 */
void report_options_init(struct report_options *o, FILE *f);

/*
 * Print one result. Returns 0, -EINVAL when o->metric or o->sort names nothing (with the names there are in @why), or
 * -errno of a failed write (a caller still has to flush).
 */
int report_print(FILE *f, const struct result *r, const struct report_options *o, struct reason *why);

/*
 * Several results: one table per condition, the same probe in one row, a group of columns for each result (its
 * machine).
 */
int report_print_many(FILE *f, struct result *const *r, size_t n, const struct report_options *o, struct reason *why);

/*
 * What `perf stat -x SEP` and `perf stat -j` of Linux 6.1 print: one line per arm and metric, event "arm/metric/". The
 * fields are value, unit, event, run time in ns, percent of it counted, metric value and metric unit; the last two hold
 * the difference from the reference in percent and
 * "% vs REFERENCE (VERDICT)". perf-relax-stat(1) documents them.
 */
int report_perf_csv(FILE *f, const struct result *r, const char *sep);
int report_perf_json(FILE *f, const struct result *r);

/*
 * The table of 2009, one row for each result of `irq`: architecture, speed-up (cli + sti) / local cmpxchg by the sum and by the pair, and the four
 * costs. Prints nothing for results that lack the cases for it. report_print() and report_print_many() end with it.
 */
void report_irq_table(FILE *f, struct result *const *r, size_t n, const struct report_options *o);

/* One line: "rep-pause against pause, ns: +6.70 % [+6.51, +6.88] slower". Returns buf. For progress lines and logs. */
char *report_comparison_line(const struct result *r, const struct result_comparison *c, bool ascii, char *buf,
			     size_t size);

#endif
