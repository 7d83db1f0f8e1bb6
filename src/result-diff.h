/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two stored results held against one another: what differs in their conditions, what must not be compared, and the
 * verdicts on the rest.
 */
#ifndef PERF_RELAX_RESULT_DIFF_H
#define PERF_RELAX_RESULT_DIFF_H

#include "result.h"

enum diff_side { DIFF_OLD, DIFF_NEW };

/* Something that is not the same on both sides. */
struct diff_difference {
	char *what, *old, *new;
};

/* Something that is not compared, and why. */
struct diff_refusal {
	char *what, *why;
};

/* One comparison: the new side against the old. Indexes by enum diff_side. */
struct diff_row {
	size_t condition[2], arm[2], metric[2];
	struct comparison c;
};

struct result_diff {
	const struct result *side[2];	/* not owned */
	struct verdict_rule rule;
	struct diff_difference *difference;
	size_t ndifference;
	struct diff_refusal *refused;	/* comparisons that would be meaningless */
	size_t nrefused;
	struct diff_refusal *excluded;	/* partial, failed, absent, or only on one side */
	size_t nexcluded;
	struct diff_row *row;
	size_t nrow;
};

struct diff_options {
	double margin, level;	/* margin < 0, level <= 0: as the old result's rule says */
	const char *metric;	/* only this one; NULL: all but the details */
	bool partial;		/* use partial results too */
};

/* Never fails but for a metric that neither side has: -EINVAL and @why. Free with result_diff_free(). */
int result_diff(const struct result *old, const struct result *new, const struct diff_options *o,
		struct result_diff **out, struct reason *why);
void result_diff_free(struct result_diff *d);

#endif
