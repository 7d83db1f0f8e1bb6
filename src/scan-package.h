/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax scan --summary: files, the packages that they came with, sums. */
#ifndef PERF_RELAX_SCAN_PACKAGE_H
#define PERF_RELAX_SCAN_PACKAGE_H

#include "scan.h"

struct scan_summaries;
struct scan_summaries *scan_summaries_new(void);
/* Copies what it needs of a finished job. */
void scan_summaries_add(struct scan_summaries *s, const struct scan_job *job);
/* Ask dpkg or rpm, where there is one, and print. */
void scan_summaries_print(struct scan_summaries *s, FILE *f, const struct scan_style *style);
void scan_summaries_free(struct scan_summaries *s);

#endif
