/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From values to verdicts: effects per round, their interval, and where it lies with respect to zero and to the margin.
 * perf-relax-verdict(7) says why each step is as it is.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "util.h"
#include "verdict.h"

#define POWER 0.8	/* the probability behind `detectable` and `rounds_needed` */

static bool all_positive(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!(x[i] > 0))
			return false;
	return true;
}

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool all_equal(const double *x, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (x[i] < x[0] || x[i] > x[0])
			return false;
	return true;
}

/* log(a / b) of positive numbers: exact to the last digits near 1, and without overflow far from it. */
static double log_ratio(double a, double b)
{
	if (a > b / 2 && a < b * 2)
		return log1p((a - b) / b);
	return log(a) - log(b);
}

/* The smallest n whose signed-rank interval is finite: both signs alike have the chance 2 / 2^n. */
static double fewest_rounds(double level)
{
	return fmax(2, ceil(1 - log2(1 - level) - 1e-9));
}

static double z_of(double level)
{
	return -qnorm((1 - level) / 2, 0, 1, 1, 0);
}

static int check_rule(const struct verdict_rule *rule, double level)
{
	if (!(rule->margin >= 0) || !isfinite(rule->margin) || !(rule->margin_abs >= 0) ||
	    !isfinite(rule->margin_abs) || !(level > 0 && level < 1))
		return -EINVAL;
	return 0;
}

/* What counts as no effect, in the terms of the interval. @size: the reference's magnitude. */
static double margin_of(const struct verdict_rule *rule, unsigned int flags, double size)
{
	if (!(flags & COMPARE_DIFFERENCE))
		return log1p(rule->margin);
	return rule->margin_abs > 0 ? rule->margin_abs : rule->margin * size;
}

static enum verdict direction(double effect, enum better better)
{
	if (better == BETTER_NONE)
		return effect > 0 ? VERDICT_UP : VERDICT_DOWN;
	return (effect > 0) == (better == BETTER_HIGHER) ? VERDICT_FASTER : VERDICT_SLOWER;
}

/*
 * The table of the design. Equality counts as "not outside zero" and as "not inside the margin" (with a hair for
 * rounding), so both errors stay within the promise for discrete values too.
 */
static enum verdict place(const struct interval *i, double margin, enum better better)
{
	double inside = margin * (1 - 1e-9);

	if (i->low > -inside && i->high < inside)
		return VERDICT_SAME;
	if (i->low > 0 || i->high < 0)
		return direction(i->low > 0 ? 1 : -1, better);
	return VERDICT_CANNOT_TELL;
}

/*
 * Half widths shrink with the square root of the rounds. The question is settled when the interval no longer holds zero
 * (half width below |effect|) or lies inside the margin (below margin - |effect|), whichever comes first.
 */
static double rounds_to_settle(double n, double half, double effect, double margin, double z)
{
	double enough = fmax(fabs(effect), margin - fabs(effect));
	double factor = 1 + qnorm(POWER, 0, 1, 1, 0) / z;
	double shrink = half / enough * factor;

	if (!(enough > 0))
		return INFINITY;
	return ceil(fmax(n + 1, n * shrink * shrink));
}

/* What `conclude` knows beyond the interval. */
struct evidence {
	double fewest;	/* rounds without which there is no verdict */
	double sd;	/* of d, for a guess when the interval is infinite; < 0: unknown */
	double grid;	/* step of the grid on which the values lie, in the terms of the interval; 0: none seen */
	bool identical;	/* every value equals its partner */
};

/*
 * Verdict, detectable and rounds_needed from the interval. Values on a grid can hide an effect of up to one step of it:
 * `same` is only said when that much would still be inside the margin.
 */
static void conclude(struct comparison *c, const struct verdict_rule *rule, const struct evidence *e)
{
	double z = z_of(c->interval.level), half = (c->interval.high - c->interval.low) / 2, n = (double)c->interval.n;
	double margin = fmax(0, c->margin - e->grid);

	c->detectable = half * (1 + qnorm(POWER, 0, 1, 1, 0) / z);
	c->rounds_needed = 0;
	c->verdict = e->identical && isfinite(half) ? VERDICT_SAME : place(&c->interval, c->margin, rule->better);
	if (c->verdict == VERDICT_SAME && !e->identical && place(&c->interval, margin, rule->better) != VERDICT_SAME) {
		c->verdict = VERDICT_CANNOT_TELL;
		c->flags |= COMPARE_COARSE;
	}
	if (c->verdict != VERDICT_CANNOT_TELL)
		return;
	if (isfinite(half))
		c->rounds_needed = rounds_to_settle(n, half, c->interval.estimate, margin, z);
	else if (e->sd > 0)
		c->rounds_needed = fmax(e->fewest, rounds_to_settle(1, z * e->sd, c->interval.estimate, margin, z));
	else
		c->rounds_needed = e->fewest;
}

static void begin(struct comparison *c, enum verdict_method method, double level)
{
	*c = (struct comparison){
		.verdict = VERDICT_CANNOT_TELL,
		.method = method,
		.interval = { .estimate = 0, .low = -INFINITY, .high = INFINITY, .level = level },
		.detectable = INFINITY,
		.rounds_needed = fewest_rounds(level),
		.p_value = 1,
	};
}

/* Widen @c's interval, and soften its p-value, by @factor (>= 1) for rounds that depend on one another. */
static void inflate(struct comparison *c, double factor)
{
	struct interval *i = &c->interval;

	if (!(factor > 1))
		return;
	i->low = i->estimate - (i->estimate - i->low) * factor;
	i->high = i->estimate + (i->high - i->estimate) * factor;
	c->p_value = fmin(1, 2 * pnorm(qnorm(c->p_value / 2, 0, 1, 1, 0) / factor, 0, 1, 1, 0));
	c->flags |= COMPARE_AUTOCORRELATED;
}

/* Effects per round into @d. */
static unsigned int effects(const double *arm, const double *ref, size_t n, double *d)
{
	bool logs = all_positive(arm, n) && all_positive(ref, n);

	for (size_t i = 0; i < n; i++)
		d[i] = logs ? log_ratio(arm[i], ref[i]) : arm[i] - ref[i];
	return logs ? 0 : COMPARE_DIFFERENCE;
}

static double median_magnitude(const double *x, size_t n)
{
	double *size = util_calloc(n, sizeof(*size)), median;

	for (size_t i = 0; i < n; i++)
		size[i] = fabs(x[i]);
	median = stats_median(size, n);
	free(size);
	return median;
}

/* The step of the grid on which @x lies, when at least half of the values are repeated; 0: none seen. */
static double heavy_ties_step(const double *x, size_t n)
{
	size_t distinct;
	double step = stats_grid_step(x, n, &distinct);

	return distinct <= n / 2 ? step : 0;
}

/* Of two samples, in the terms of the interval: the finer of the two grids that are seen. */
static double grid_of(const double *arm, size_t narm, const double *ref, size_t nref, bool logs)
{
	double a = heavy_ties_step(arm, narm), b = heavy_ties_step(ref, nref);
	double step = a > 0 && b > 0 ? fmin(a, b) : a + b;

	return logs ? log1p(step / median_magnitude(ref, nref)) : step;
}

int verdict_paired(const double *arm, const double *ref, size_t n, const struct verdict_rule *rule, double level,
		   struct comparison *out)
{
	struct evidence e = { .sd = -1 };
	struct stats_modes modes;
	double mean, *d;
	int err;

	if (!(level > 0))
		level = rule->level;
	begin(out, METHOD_PAIRED, level);
	err = check_rule(rule, level);
	if (err)
		return err;
	if (n == 0) {
		out->flags |= COMPARE_TOO_FEW;
		return 0;
	}
	if (!all_finite(arm, n) || !all_finite(ref, n))
		return -EINVAL;
	d = util_calloc(n, sizeof(*d));
	out->flags |= effects(arm, ref, n, d);
	out->margin = margin_of(rule, out->flags, out->flags & COMPARE_DIFFERENCE ? median_magnitude(ref, n) : 0);
	err = stats_signed_rank_interval(d, n, level, &out->interval);
	if (err)
		goto out;
	out->p_value = stats_signed_rank_p(d, n);
	if (!isfinite(out->interval.low) || !isfinite(out->interval.high))
		out->flags |= COMPARE_TOO_FEW;
	if (n > 1 && all_equal(d, n)) {
		out->flags |= COMPARE_ZERO_VARIANCE;
		e.identical = fabs(d[0]) <= 0;
	} else {
		inflate(out, stats_dependence(d, n));
	}
	if (n > 1)
		stats_mean_sd(d, n, &mean, &e.sd);
	e.fewest = fewest_rounds(level);
	e.grid = grid_of(arm, n, ref, n, !(out->flags & COMPARE_DIFFERENCE));
	if (stats_modes(arm, n, rule->margin, &modes) || stats_modes(ref, n, rule->margin, &modes))
		out->flags |= COMPARE_BIMODAL;
	conclude(out, rule, &e);
out:
	free(d);
	return err;
}

/* Logs of @x, or a copy. */
static double *transformed(const double *x, size_t n, bool logs)
{
	double *y = util_calloc(n, sizeof(*y));

	for (size_t i = 0; i < n; i++)
		y[i] = logs ? log(x[i]) : x[i];
	return y;
}

/* The fewest values per arm with which the rank-sum interval can be finite: 2 / C(2n, n) <= 1 - level. */
static double fewest_per_arm(double level)
{
	double n = 1;

	while (lchoose(2 * n, n) < log(2 / (1 - level)) - 1e-9)
		n++;
	return n;
}

int verdict_unpaired(const double *arm, size_t narm, const double *ref, size_t nref, const struct verdict_rule *rule,
		     struct comparison *out)
{
	struct evidence e = { .sd = -1 };
	struct stats_modes modes;
	double level = rule->level, *a, *b;
	bool logs;
	int err;

	begin(out, METHOD_UNPAIRED, level);
	out->flags |= COMPARE_NOT_INTERLEAVED;
	err = check_rule(rule, level);
	if (err)
		return err;
	out->rounds_needed = fewest_per_arm(level);
	if (narm == 0 || nref == 0) {
		out->flags |= COMPARE_TOO_FEW;
		return 0;
	}
	if (!all_finite(arm, narm) || !all_finite(ref, nref))
		return -EINVAL;
	logs = all_positive(arm, narm) && all_positive(ref, nref);
	if (!logs)
		out->flags |= COMPARE_DIFFERENCE;
	out->margin = margin_of(rule, out->flags, logs ? 0 : median_magnitude(ref, nref));
	a = transformed(arm, narm, logs);
	b = transformed(ref, nref, logs);
	err = stats_rank_sum_interval(b, nref, a, narm, level, &out->interval);
	if (err)
		goto out;
	out->p_value = stats_rank_sum_p(b, nref, a, narm);
	if (!isfinite(out->interval.low) || !isfinite(out->interval.high))
		out->flags |= COMPARE_TOO_FEW;
	if (narm > 1 && nref > 1 && all_equal(a, narm) && all_equal(b, nref)) {
		out->flags |= COMPARE_ZERO_VARIANCE;
		e.identical = fabs(a[0] - b[0]) <= 0;
	} else {
		inflate(out, fmax(stats_dependence(a, narm), stats_dependence(b, nref)));
	}
	e.fewest = out->rounds_needed;
	e.grid = grid_of(arm, narm, ref, nref, logs);
	if (stats_modes(arm, narm, rule->margin, &modes) || stats_modes(ref, nref, rule->margin, &modes))
		out->flags |= COMPARE_BIMODAL;
	conclude(out, rule, &e);
out:
	free(a);
	free(b);
	return err;
}

/* The wider reading of a published spread: it may have been the root of the mean square (divided by n). */
static double sample_sd(const struct summary *s)
{
	return s->sd * sqrt((double)s->n / (double)(s->n - 1));
}

static double log_ratio_or_infinity(double a, double b)
{
	return a > 0 ? log_ratio(a, b) : -INFINITY;
}

int verdict_summary(const struct summary *arm, const struct summary *ref, const struct verdict_rule *rule,
		    struct comparison *out)
{
	struct evidence e = { .fewest = 2, .sd = -1 };
	struct interval around;
	bool logs = arm->mean > 0 && ref->mean > 0;
	int err;

	begin(out, METHOD_SUMMARY, rule->level);
	out->flags |= COMPARE_NOT_INTERLEAVED;
	err = check_rule(rule, rule->level);
	if (err)
		return err;
	if (!isfinite(arm->mean - ref->mean) || isnan(arm->sd) || isnan(ref->sd))
		return -EINVAL;
	if (!logs)
		out->flags |= COMPARE_DIFFERENCE;
	out->margin = margin_of(rule, out->flags, fabs(ref->mean));
	out->interval.n = arm->n < ref->n ? arm->n : ref->n;
	out->interval.estimate = logs ? log_ratio(arm->mean, ref->mean) : arm->mean - ref->mean;
	out->p_value = 1;
	if (arm->sd < 0 || ref->sd < 0) {
		out->flags |= COMPARE_NO_SPREAD;
		return 0;
	}
	if (out->interval.n < 2) {
		out->flags |= COMPARE_TOO_FEW;
		return 0;
	}
	/* Around 0 first: the half width must not drown in a difference that is 1e18 times as large. */
	err = stats_welch_interval(ref->n, 0, sample_sd(ref), arm->n, 0, sample_sd(arm), rule->level, &around);
	if (err)
		return err;
	out->p_value = stats_welch_p(ref->n, ref->mean, sample_sd(ref), arm->n, arm->mean, sample_sd(arm));
	if (logs) {
		out->interval.low = log_ratio_or_infinity(arm->mean + around.low, ref->mean);
		out->interval.high = log_ratio_or_infinity(arm->mean + around.high, ref->mean);
	} else {
		out->interval.low = out->interval.estimate + around.low;
		out->interval.high = out->interval.estimate + around.high;
	}
	if (around.low >= around.high) {
		out->flags |= COMPARE_ZERO_VARIANCE;
		e.identical = fabs(out->interval.estimate) <= 0;
	}
	conclude(out, rule, &e);
	return 0;
}

void verdict_apply_null(struct comparison *c, const struct comparison *null)
{
	double error = fmax(fabs(null->interval.low), fabs(null->interval.high));
	double effect = fabs(c->interval.estimate);

	if (c == null || c->verdict == VERDICT_SAME || c->verdict == VERDICT_CANNOT_TELL)
		return;
	/* A log ratio and a difference cannot be held against one another. */
	if ((c->flags ^ null->flags) & COMPARE_DIFFERENCE)
		return;
	if (effect > error)
		return;
	c->verdict = VERDICT_CANNOT_TELL;
	c->flags |= COMPARE_BELOW_NULL;
	/* The null's width shrinks with the rounds as any other; when it is off zero for good, nothing helps. */
	if (null->interval.low > 0 || null->interval.high < 0 || !(effect > 0) || !isfinite(error))
		c->rounds_needed = INFINITY;
	else
		c->rounds_needed = ceil(
			fmax((double)c->interval.n + 1, (double)c->interval.n * (error / effect) * (error / effect)));
}

const char *verdict_name(enum verdict v)
{
	static const char *const names[VERDICTS] = {
		[VERDICT_FASTER] = "faster",
		[VERDICT_SLOWER] = "slower",
		[VERDICT_SAME] = "same",
		[VERDICT_CANNOT_TELL] = "cannot tell",
		[VERDICT_UP] = "up",
		[VERDICT_DOWN] = "down",
	};

	return (unsigned int)v < VERDICTS ? names[v] : "cannot tell";
}

const char *better_name(enum better b)
{
	static const char *const names[] = {
		[BETTER_LOWER] = "lower", [BETTER_HIGHER] = "higher", [BETTER_NONE] = "none"
	};

	return (unsigned int)b < ARRAY_SIZE(names) ? names[b] : "none";
}
