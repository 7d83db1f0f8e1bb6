/* SPDX-License-Identifier: GPL-2.0-only */
/* Printing what result-diff.c found. */
#ifndef PERF_RELAX_REPORT_DIFF_H
#define PERF_RELAX_REPORT_DIFF_H

#include "report.h"
#include "result-diff.h"

/*
 * Conditions that differ first, then what is refused and excluded, then the verdicts. @failed (one per row of @d, may
 * be NULL): rows that make `diff` exit 1. Returns 0 or -errno of a failed write.
 */
int report_diff(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o);

#endif
