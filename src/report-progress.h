/* SPDX-License-Identifier: GPL-2.0-only */
/* The progress line of long runs: on a terminal only, on stderr. */
#ifndef PERF_RELAX_REPORT_PROGRESS_H
#define PERF_RELAX_REPORT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "verdict.h"

struct report_progress {
	uint64_t rounds, rounds_planned;	/* planned 0: until settled */
	double elapsed_s, budget_s;		/* budget 0: none */
	const struct comparison *current;	/* widest comparison at the last look, NULL: none yet */
	size_t open;				/* arms that cannot be told yet */
};

/* Draw the line, at most ten times a second; NULL: wipe it. Nothing happens when stderr is not a terminal. */
void report_progress(const struct report_progress *p);

#endif
