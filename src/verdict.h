/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From values to verdicts. Pure. perf-relax-verdict(7) is the specification.
 */
#ifndef PERF_RELAX_VERDICT_H
#define PERF_RELAX_VERDICT_H

#include "stats.h"

enum better { BETTER_LOWER, BETTER_HIGHER, BETTER_NONE };

enum verdict {
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_SAME,
	VERDICT_CANNOT_TELL,
	VERDICT_UP,		/* metrics without a direction */
	VERDICT_DOWN,
	VERDICTS
};

enum verdict_method {
	METHOD_PAIRED,		/* same rounds: signed rank */
	METHOD_UNPAIRED,	/* different runs: rank sum, "not interleaved" */
	METHOD_SUMMARY,		/* n, mean, sd: Welch */
};

/* Flags of a comparison: each is one sentence in reports. */
#define COMPARE_DIFFERENCE	(1u << 0)	/* d is a difference, not a log ratio: values may be 0 or negative */
#define COMPARE_TOO_FEW		(1u << 1)	/* fewer rounds than the interval needs */
#define COMPARE_NO_SPREAD	(1u << 2)	/* no spread was kept: cannot tell */
#define COMPARE_ZERO_VARIANCE	(1u << 3)	/* all d equal */
#define COMPARE_AUTOCORRELATED	(1u << 4)	/* rounds seem to depend on one another; the interval was widened */
#define COMPARE_BELOW_NULL	(1u << 5)	/* withdrawn: finer than the null control's width */
#define COMPARE_NOT_INTERLEAVED	(1u << 6)
#define COMPARE_BIMODAL		(1u << 7)	/* two modes seen in one of the samples */
#define COMPARE_EARLY		(1u << 8)	/* stopped at a planned look before the last one */
#define COMPARE_COARSE		(1u << 9)	/* not `same`: the values lie on a grid too coarse for the margin */

/*
 * One comparison of an arm with the reference. Effects are log ratios of arm to reference, or (COMPARE_DIFFERENCE)
 * differences in the metric's own unit; margin in the same terms.
 */
struct comparison {
	enum verdict verdict;
	enum verdict_method method;
	unsigned int flags;
	struct interval interval;
	double margin;		/* log(1 + margin) or absolute */
	double detectable;	/* smallest true effect this run would have told from zero with probability 0.8 */
	/*
	 * About how many rounds in all (per arm) would settle it with probability 0.8 if the effect is what it seems;
	 * INFINITY when none would, 0 when settled. Of data without spread: the fewest with which there can be a
	 * verdict.
	 */
	double rounds_needed;
	double p_value;		/* of "no effect"; for reading, never for the decision */
};

/* What counts as the same, and how sure to be. */
struct verdict_rule {
	double margin;		/* relative, 0.01 = 1 % */
	double margin_abs;	/* for COMPARE_DIFFERENCE, in the metric's unit; 0: margin times the reference's median */
	double level;		/* 0.95 */
	enum better better;
};

/* @arm[i] and @ref[i] come from the same round. @level replaces rule->level when > 0 (a planned look). */
int verdict_paired(const double *arm, const double *ref, size_t n, const struct verdict_rule *rule, double level,
		   struct comparison *out);
int verdict_unpaired(const double *arm, size_t narm, const double *ref, size_t nref, const struct verdict_rule *rule,
		     struct comparison *out);

/*
 * Summaries: sd < 0 means "not known". Welch's interval of the difference of the means, relative to the reference's
 * mean (which is taken as known: the delta method), in logs as the others. Published spreads seldom say whether they
 * divide by n or n - 1; the wider reading is used.
 */
struct summary {
	size_t n;
	double mean, sd;
};
int verdict_summary(const struct summary *arm, const struct summary *ref, const struct verdict_rule *rule,
		    struct comparison *out);

/*
 * Rule 6: @null is the comparison of the two twins. A faster/slower/up/down whose estimate is no larger than the null's
 * own error (the far end of its interval) is withdrawn to cannot tell with COMPARE_BELOW_NULL.
 */
void verdict_apply_null(struct comparison *c, const struct comparison *null);

const char *verdict_name(enum verdict v);	/* "faster", "cannot tell", ... */
const char *better_name(enum better b);		/* "lower", "higher", "none" */

/*
 * Planned looks. The error is spent over them so that stopping early keeps the promise. Lan-DeMets spending with an
 * O'Brien-Fleming-like function over information fractions. A plan is made before the first round and never changed by
 * the data.
 */
#define LOOKS_MAX 16
struct looks {
	double level;		/* promised over all looks, 0.95 */
	size_t count;
	double fraction[LOOKS_MAX];	/* of the budget, ascending, last 1 */
	double look_level[LOOKS_MAX];	/* confidence level to use at each look */
};
/*
 * -EINVAL: level not in (0, 1), no look or more than LOOKS_MAX, fractions not ascending by at least 0.005, or the last
 * not 1.
 */
int looks_plan(struct looks *looks, double level, const double *fraction, size_t count);
/* The looks that every experiment takes, and that the simulation proves. */
int looks_plan_usual(struct looks *looks, double level);

#endif
