/* SPDX-License-Identifier: GPL-2.0-only */
/* Verdicts: the table of the design, published results, and data that has misled other tools. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "util.h"
#include "verdict.h"

#define assert_near(a, b, tolerance) near_or_fail(a, b, tolerance, #a, __LINE__)
#define assert_verdict(c, v) assert_string_equal(verdict_name((c).verdict), v)

static void near_or_fail(double a, double b, double tolerance, const char *what, int line)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("line %d: %s is %.17g, not %.17g", line, what, a, b);
}

static const struct verdict_rule usual = { .margin = 0.01, .level = 0.95, .better = BETTER_LOWER };

static double normal(struct random_state *r)
{
	return sqrt(-2 * log1p(-random_unit(r))) * cos(2 * M_PI * random_unit(r));
}

static double percent(double log_ratio)
{
	return 100 * expm1(log_ratio);
}

/* Nothing that a report prints may be NaN, whatever the verdict. */
static void check_numbers(const struct comparison *c)
{
	assert_false(isnan(c->interval.estimate) || isnan(c->interval.low) || isnan(c->interval.high) ||
		     isnan(c->margin));
	assert_false(isnan(c->detectable) || isnan(c->rounds_needed) || isnan(c->p_value));
	assert_true(c->interval.low <= c->interval.estimate && c->interval.estimate <= c->interval.high);
	assert_true(c->p_value >= 0 && c->p_value <= 1);
	assert_true(c->verdict == VERDICT_CANNOT_TELL ? c->rounds_needed > 0 : c->rounds_needed <= 0);
}

static struct comparison paired(const double *arm, const double *ref, size_t n)
{
	struct comparison c;

	assert_int_equal(verdict_paired(arm, ref, n, &usual, 0, &c), 0);
	assert_int_equal(c.method, METHOD_PAIRED);
	check_numbers(&c);
	return c;
}

static struct comparison unpaired(const double *arm, size_t narm, const double *ref, size_t nref)
{
	struct comparison c;

	assert_int_equal(verdict_unpaired(arm, narm, ref, nref, &usual, &c), 0);
	assert_int_equal(c.method, METHOD_UNPAIRED);
	assert_true(c.flags & COMPARE_NOT_INTERLEAVED);
	check_numbers(&c);
	return c;
}

static struct comparison summaries(struct summary arm, struct summary ref)
{
	struct comparison c;

	assert_int_equal(verdict_summary(&arm, &ref, &usual, &c), 0);
	assert_int_equal(c.method, METHOD_SUMMARY);
	assert_true(c.flags & COMPARE_NOT_INTERLEAVED);
	check_numbers(&c);
	return c;
}

/* lat_ctx with and without a patch, 2008: averages, rmse, 1000 repeats. */
static void test_published_context_switch(void **state)
{
	struct comparison c = summaries((struct summary){ 1000, 1.319, 0.081 }, (struct summary){ 1000, 1.335, 0.107 });

	(void)state;
	assert_verdict(c, "faster");
	assert_near(percent(c.interval.estimate), -1.20, 0.005);
	assert_near(percent(c.interval.low), -1.82, 0.005);
	assert_near(percent(c.interval.high), -0.57, 0.005);
	assert_near(percent(c.margin), 1, 1e-9);

	c = summaries((struct summary){ 1000, 1.417, 0.0716 }, (struct summary){ 1000, 1.423, 0.0745 });
	assert_verdict(c, "same");
	assert_near(percent(c.interval.estimate), -0.42, 0.005);
	assert_near(percent(c.interval.low), -0.87, 0.005);
	assert_near(percent(c.interval.high), 0.03, 0.005);
	assert_false(c.flags & COMPARE_NO_SPREAD);
}

/* tiotest with pause and rep;pause, 2010: five runs each, of which the means were kept. */
static void test_published_tiotest(void **state)
{
	static const double table[][2] = {
		{ 1.12, 1.14 }, { 70.4, 72.01 }, { 311.58, 322.44 }, { 3.46, 3.7 }, { 9.04, 8.51 }, { 72.34, 66.48 },
		{ 11620.15, 11557.48 }, { 5974.90, 6040.74 }, { 11786.99, 11416.9 }, { 5118.66, 5330.50 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		struct comparison c =
			summaries((struct summary){ 5, table[i][0], -1 }, (struct summary){ 5, table[i][1], -1 });

		assert_verdict(c, "cannot tell");
		assert_true(c.flags & COMPARE_NO_SPREAD);
		assert_near(percent(c.interval.estimate), 100 * (table[i][0] / table[i][1] - 1), 1e-9);
		assert_true(isinf(c.detectable) && isinf(c.interval.low) && isinf(c.interval.high));
		assert_near(c.rounds_needed, 6, 0);
	}
}

/* cmpxchg tables, 2009: single numbers. */
static void test_published_single_values(void **state)
{
	struct comparison c = summaries((struct summary){ 1, 7, -1 }, (struct summary){ 1, 17, -1 });

	(void)state;
	assert_verdict(c, "cannot tell");
	assert_true(c.flags & COMPARE_NO_SPREAD);
	c = summaries((struct summary){ 1, 7, 0 }, (struct summary){ 1, 17, 0 });
	assert_verdict(c, "cannot tell");
	assert_true(c.flags & COMPARE_TOO_FEW);
}

static void test_summary_edges(void **state)
{
	struct summary a = { 10, NAN, 1 }, b = { 10, 1, 1 };
	struct comparison c;

	(void)state;
	assert_int_equal(verdict_summary(&a, &b, &usual, &c), -EINVAL);
	assert_verdict(c, "cannot tell");
	c = summaries((struct summary){ 5, 2, 0 }, (struct summary){ 5, 2, 0 });
	assert_verdict(c, "same");
	assert_true(c.flags & COMPARE_ZERO_VARIANCE);
	c = summaries((struct summary){ 5, 2.1, 0 }, (struct summary){ 5, 2, 0 });
	assert_verdict(c, "slower");
	c = summaries((struct summary){ 5, 0, 0 }, (struct summary){ 5, 0, 0 });
	assert_verdict(c, "same");
	assert_true(c.flags & COMPARE_DIFFERENCE);
	c = summaries((struct summary){ 50, -3, 0.1 }, (struct summary){ 50, -2, 0.1 });
	assert_verdict(c, "faster");
	assert_true(c.flags & COMPARE_DIFFERENCE);
	assert_near(c.margin, 0.02, 1e-12);
	/* An interval of the difference that reaches below the whole of the reference. */
	c = summaries((struct summary){ 3, 1, 5 }, (struct summary){ 3, 1, 5 });
	assert_verdict(c, "cannot tell");
	assert_true(isinf(c.interval.low) && isfinite(c.interval.high));
	c = summaries((struct summary){ 1000, 1e-12, 1e-14 }, (struct summary){ 1000, 1.1e-12, 1e-14 });
	assert_verdict(c, "faster");
	c = summaries((struct summary){ 1000, 1e18, 1e16 }, (struct summary){ 1000, 1e18, 1e16 });
	assert_verdict(c, "same");
}

/*
 * @n rounds whose effects (log ratios) are @center plus an even spread of +-@half, in an order that shows no trend and
 * is not alternating either.
 */
static void rounds(double *arm, double *ref, size_t n, double center, double half)
{
	struct random_state r;
	size_t order[200];

	random_seed(&r, 5);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	random_shuffle(&r, order, n);
	for (size_t i = 0; i < n; i++) {
		ref[i] = 50 * exp(0.1 * normal(&r));
		arm[i] = ref[i] * exp(center + half * (2 * (double)order[i] / (double)(n - 1) - 1));
	}
}

static void test_table_of_the_design(void **state)
{
	struct verdict_rule up = usual, none = usual;
	double arm[200], ref[200];
	struct comparison c;

	(void)state;
	up.better = BETTER_HIGHER;
	none.better = BETTER_NONE;
	rounds(arm, ref, 200, 0, 0.02);
	c = paired(arm, ref, 200);
	assert_verdict(c, "same");
	rounds(arm, ref, 200, 0.004, 0.02);	/* zero excluded, but inside the margin */
	c = paired(arm, ref, 200);
	assert_true(c.interval.low > 0);
	assert_verdict(c, "same");
	rounds(arm, ref, 200, 0.0105, 0.02);	/* outside zero, across the margin */
	c = paired(arm, ref, 200);
	assert_true(c.interval.low < c.margin && c.interval.high > c.margin);
	assert_verdict(c, "slower");
	assert_int_equal(verdict_paired(arm, ref, 200, &up, 0, &c), 0);
	assert_verdict(c, "faster");
	assert_int_equal(verdict_paired(arm, ref, 200, &none, 0, &c), 0);
	assert_verdict(c, "up");
	rounds(arm, ref, 200, -0.05, 0.02);
	c = paired(arm, ref, 200);
	assert_verdict(c, "faster");
	assert_int_equal(verdict_paired(arm, ref, 200, &none, 0, &c), 0);
	assert_verdict(c, "down");
	rounds(arm, ref, 200, 0.002, 0.2);	/* holds zero and the margin */
	c = paired(arm, ref, 200);
	assert_verdict(c, "cannot tell");
	assert_true(c.rounds_needed > 200 && isfinite(c.rounds_needed));
	assert_true(c.detectable > 0.01 && c.detectable < 0.1);
	rounds(arm, ref, 200, 0, 0.02);
	none.margin = 0;			/* no margin: never the same, and never settled */
	assert_int_equal(verdict_paired(arm, ref, 200, &none, 0, &c), 0);
	assert_verdict(c, "cannot tell");
}

static void test_few_rounds(void **state)
{
	double a[] = { 2, 2, 2, 2, 2, 2, 2, 2 }, b[] = { 2.1, 2.1, 2.1, 2.1, 2.1, 2.1, 2.1, 2.1 };
	struct comparison c;

	(void)state;
	for (size_t n = 0; n < 6; n++) {
		c = paired(a, b, n);
		assert_verdict(c, "cannot tell");
		assert_true(c.flags & COMPARE_TOO_FEW);
		assert_near(c.rounds_needed, 6, 0);
		assert_verdict(paired(a, a, n), "cannot tell");
	}
	for (size_t n = 6; n <= 8; n++) {
		c = paired(a, b, n);
		assert_verdict(c, "faster");
		assert_true(c.flags & COMPARE_ZERO_VARIANCE);
		assert_near(c.detectable, 0, 0);
		assert_verdict(paired(b, a, n), "slower");
		assert_verdict(paired(a, a, n), "same");
	}
	/* Five equal values against five others, not from the same rounds: 2 of 252 orders are as clear as this. */
	c = unpaired(a, 5, b, 5);
	assert_verdict(c, "faster");
	assert_near(c.p_value, 2.0 / 252, 1e-9);
	assert_verdict(unpaired(a, 5, a, 5), "same");
	assert_verdict(unpaired(a, 3, b, 3), "cannot tell");
	assert_true(unpaired(a, 3, b, 3).flags & COMPARE_TOO_FEW);
	assert_near(unpaired(a, 3, b, 3).rounds_needed, 4, 0);
	assert_verdict(unpaired(a, 0, b, 5), "cannot tell");
	assert_verdict(unpaired(a, 5, b, 0), "cannot tell");
	assert_verdict(unpaired(a, 1, b, 1), "cannot tell");
	/* Try-lock times of 728, 2003 and 2 ms against anything. */
	c = paired((const double[]){ 728, 2003, 2 }, (const double[]){ 700, 690, 710 }, 3);
	assert_verdict(c, "cannot tell");
	assert_true(c.rounds_needed > 6);
	/* At other levels, other numbers of rounds. */
	assert_int_equal(verdict_paired(a, b, 6, &usual, 0.99, &c), 0);
	assert_verdict(c, "cannot tell");
	assert_near(c.rounds_needed, 8, 0);
	assert_int_equal(verdict_paired(a, b, 8, &usual, 0.99, &c), 0);
	assert_verdict(c, "faster");
}

static void test_zero_and_negative(void **state)
{
	double arm[40], ref[40];
	struct verdict_rule rule = usual;
	struct random_state r;
	struct comparison c;

	(void)state;
	random_seed(&r, 6);
	for (size_t i = 0; i < 40; i++) {	/* switch times after subtracting: about zero */
		ref[i] = 0.1 * normal(&r);
		arm[i] = 0.1 * normal(&r);
	}
	c = paired(arm, ref, 40);
	assert_true(c.flags & COMPARE_DIFFERENCE);
	assert_true(c.interval.low < 0 && c.interval.high > 0);
	assert_verdict(c, "cannot tell");
	rule.margin_abs = 0.2;
	assert_int_equal(verdict_paired(arm, ref, 40, &rule, 0, &c), 0);
	assert_near(c.margin, 0.2, 0);
	assert_verdict(c, "same");
	for (size_t i = 0; i < 40; i++) {
		ref[i] = -100 + 0.1 * normal(&r);
		arm[i] = -102 + 0.1 * normal(&r);
	}
	c = paired(arm, ref, 40);
	assert_near(c.margin, 1, 0.01);
	assert_near(c.interval.estimate, -2, 0.1);
	assert_verdict(c, "faster");
	/* A reference that is always zero gives no margin; equal values are still the same, others are not. */
	memset(ref, 0, sizeof(ref));
	assert_verdict(paired(ref, ref, 40), "same");
	for (size_t i = 0; i < 40; i++)
		arm[i] = i % 20 == 3;
	c = paired(arm, ref, 40);
	assert_verdict(c, "cannot tell");
	assert_near(c.margin, 0, 0);
	assert_verdict(unpaired(ref, 40, ref, 40), "same");
	for (size_t i = 0; i < 40; i++)
		arm[i] = 3 + normal(&r) * 0.1;
	assert_verdict(paired(arm, ref, 40), "slower");
	arm[3] = NAN;
	assert_int_equal(verdict_paired(arm, ref, 40, &usual, 0, &c), -EINVAL);
	assert_verdict(c, "cannot tell");
	assert_int_equal(verdict_unpaired(arm, 40, ref, 40, &usual, &c), -EINVAL);
}

static void test_scales(void **state)
{
	static const double scales[] = { 1e-12, 1, 1e18, 1e-300, 1e300 };
	double arm[60], ref[60], a[60], b[60];
	struct comparison first, c;

	(void)state;
	rounds(arm, ref, 60, 0.03, 0.05);
	first = paired(arm, ref, 60);
	assert_verdict(first, "slower");
	for (size_t k = 0; k < ARRAY_SIZE(scales); k++) {
		for (size_t i = 0; i < 60; i++) {
			a[i] = arm[i] * scales[k];
			b[i] = ref[i] * scales[k];
		}
		c = paired(a, b, 60);
		assert_verdict(c, "slower");
		assert_near(c.interval.low, first.interval.low, 1e-12);
		assert_near(c.interval.high, first.interval.high, 1e-12);
		/* Exchanged arms mirror the interval. */
		c = paired(b, a, 60);
		assert_verdict(c, "faster");
		assert_near(c.interval.low, -first.interval.high, 1e-12);
		assert_near(c.interval.high, -first.interval.low, 1e-12);
		assert_near(c.p_value, first.p_value, 1e-12);
	}
	for (size_t i = 0; i < 60; i++) {
		a[i] = i % 2 ? 1e18 : 1e-12;
		b[i] = i % 3 ? 1e-12 : 1e18;
	}
	paired(a, b, 60);
	unpaired(a, 60, b, 60);
	for (size_t i = 0; i < 60; i++)
		a[i] = i % 2 ? 1e300 : -1e300;
	paired(a, b, 60);
	unpaired(a, 60, b, 60);
}

/* The p-value belongs to the interval, with or without widening. */
static void test_p_value_agrees(void **state)
{
	double arm[50], ref[50];
	struct random_state r;
	size_t outside = 0;

	(void)state;
	random_seed(&r, 8);
	for (size_t k = 0; k < 400; k++) {
		size_t n = 6 + random_below(&r, 45);
		struct comparison c;
		bool excludes;

		for (size_t i = 0; i < n; i++) {
			ref[i] = exp(0.1 * normal(&r));
			arm[i] = exp(0.03 + 0.1 * normal(&r));
		}
		c = paired(arm, ref, n);
		excludes = c.interval.low > 0 || c.interval.high < 0;
		outside += excludes;
		if (!(c.flags & COMPARE_AUTOCORRELATED))
			assert_int_equal(excludes, c.p_value <= 0.05);
		else if (excludes)	/* softened on the normal scale: the same up to the steps of the ranks */
			assert_true(c.p_value < 0.08);
		c = unpaired(arm, n, ref, n);
		excludes = c.interval.low > 0 || c.interval.high < 0;
		if (!(c.flags & COMPARE_AUTOCORRELATED))
			assert_int_equal(excludes, c.p_value <= 0.05);
	}
	assert_in_range(outside, 50, 350);
}

/* @n rounds with even noise of +-@half in the effect. */
static void noisy_rounds(struct random_state *r, double *arm, double *ref, size_t n, double center, double half)
{
	for (size_t i = 0; i < n; i++) {
		ref[i] = 10 * exp(normal(r));
		arm[i] = ref[i] * exp(center + half * (2 * random_unit(r) - 1));
	}
}

/*
 * What a comparison says of other runs, tried: as many rounds as it names settle it, and an effect as large as it names
 * is seen, in 80 %, about.
 */
static void test_what_a_run_could_have_seen(void **state)
{
	enum { TRIES = 300, ROOM = 5000 };
	double *arm = util_calloc(ROOM, sizeof(*arm)), *ref = util_calloc(ROOM, sizeof(*ref)), detectable = 0;
	size_t settled = 0, early = 0, seen = 0, needed;
	struct random_state r;
	struct comparison c;

	(void)state;
	random_seed(&r, 9);
	rounds(arm, ref, 40, 0.02, 0.2);
	c = paired(arm, ref, 40);
	assert_verdict(c, "cannot tell");
	assert_near(c.interval.estimate, 0.02, 1e-9);
	needed = (size_t)c.rounds_needed;
	assert_in_range(needed, 100, ROOM);
	for (size_t k = 0; k < TRIES; k++) {
		noisy_rounds(&r, arm, ref, needed, 0.02, 0.2);
		settled += paired(arm, ref, needed).verdict != VERDICT_CANNOT_TELL;
		early += paired(arm, ref, needed / 4).verdict != VERDICT_CANNOT_TELL;
		noisy_rounds(&r, arm, ref, 60, 0, 0.2);
		detectable += paired(arm, ref, 60).detectable / TRIES;
	}
	/* Widening for dependence that is not there costs a little. */
	assert_in_range(settled, TRIES * 70 / 100, TRIES * 90 / 100);
	assert_in_range(early, 0, TRIES * 40 / 100);
	for (size_t k = 0; k < TRIES; k++) {
		noisy_rounds(&r, arm, ref, 60, detectable, 0.2);
		c = paired(arm, ref, 60);
		seen += c.interval.low > 0;
	}
	assert_in_range(seen, TRIES * 70 / 100, TRIES * 92 / 100);
	free(arm);
	free(ref);
}

static void test_dependent_rounds(void **state)
{
	double arm[200], ref[200], wander = 0;
	struct comparison c, independent;
	struct random_state r;

	(void)state;
	random_seed(&r, 10);
	for (size_t i = 0; i < 200; i++) {
		wander = 0.8 * wander + 0.006 * normal(&r);
		ref[i] = 10;
		arm[i] = 10 * exp(wander + 0.004 * normal(&r));
	}
	c = paired(arm, ref, 200);
	assert_true(c.flags & COMPARE_AUTOCORRELATED);
	/* The same values in another order: */
	for (size_t i = 199; i > 0; i--) {
		size_t j = random_below(&r, i + 1);
		double t = arm[i];

		arm[i] = arm[j];
		arm[j] = t;
	}
	independent = paired(arm, ref, 200);
	assert_true(c.interval.high - c.interval.low > 1.5 * (independent.interval.high - independent.interval.low));
	assert_near(c.interval.estimate, independent.interval.estimate, 1e-15);
	assert_true(c.p_value >= independent.p_value);
}

static void test_coarse_values(void **state)
{
	double arm[60], ref[60];
	struct verdict_rule wide = usual;
	struct comparison c;

	(void)state;
	/* A clock of 10 ms: 0.10 and sometimes 0.11 s in both. Up to 10 % may be hidden. */
	for (size_t i = 0; i < 60; i++) {
		ref[i] = i % 10 == 2 || i % 10 == 7 ? 0.11 : 0.10;
		arm[i] = i % 10 == 4 || i % 10 == 7 ? 0.11 : 0.10;
	}
	c = paired(arm, ref, 60);
	assert_verdict(c, "cannot tell");
	assert_true(c.flags & COMPARE_COARSE);
	assert_true(isinf(c.rounds_needed) || c.rounds_needed > 60);
	assert_verdict(unpaired(arm, 60, ref, 60), "cannot tell");
	wide.margin = 0.25;
	assert_int_equal(verdict_paired(arm, ref, 60, &wide, 0, &c), 0);
	assert_verdict(c, "same");
	/* But values that are equal round by round are the same. */
	assert_verdict(paired(ref, ref, 60), "same");
}

static void test_bimodal_flag(void **state)
{
	double arm[100], ref[100];
	struct random_state r;

	(void)state;
	random_seed(&r, 11);
	for (size_t i = 0; i < 100; i++) {
		ref[i] = (random_below(&r, 2) ? 11 : 765) * (1 + 0.01 * normal(&r));
		arm[i] = (random_below(&r, 2) ? 11 : 765) * (1 + 0.01 * normal(&r));
	}
	assert_true(paired(arm, ref, 100).flags & COMPARE_BIMODAL);
	assert_true(unpaired(arm, 100, ref, 100).flags & COMPARE_BIMODAL);
	for (size_t i = 0; i < 100; i++)	/* 0.5 ms a hundred times, and one 0.6 */
		arm[i] = ref[i] = i == 30 ? 0.6 : 0.5;
	ref[30] = 0.5;
	assert_false(paired(arm, ref, 100).flags & COMPARE_BIMODAL);
}

/* A longer sleep under bursts of load was once called 1.75 times faster. */
static void test_load_in_bursts(void **state)
{
	struct random_state r;
	size_t slower = 0;

	(void)state;
	random_seed(&r, 12);
	for (size_t k = 0; k < 200; k++) {
		double arm[40], ref[40];
		bool load = false;
		struct comparison c;

		/* The order within a round is random; the load changes in bursts of about ten trials. */
		for (size_t i = 0; i < 40; i++) {
			bool arm_first = random_u64(&r) & 1;

			for (size_t t = 0; t < 2; t++) {
				double delay = 0.00006 * (1 + 0.3 * fabs(normal(&r)));

				if (random_below(&r, 10) == 0)
					load = !load;
				if (load)
					delay += 0.02 * random_unit(&r);
				if (arm_first == (t == 0))
					arm[i] = 0.012 + delay;
				else
					ref[i] = 0.010 + delay;
			}
		}
		c = paired(arm, ref, 40);
		assert_true(c.verdict == VERDICT_SLOWER || c.verdict == VERDICT_CANNOT_TELL);
		slower += c.verdict == VERDICT_SLOWER;
	}
	assert_in_range(slower, 100, 200);	/* and it is told most of the time */
}

static void test_null_control(void **state)
{
	struct comparison null = { .verdict = VERDICT_SAME,
				   .interval = {
					   .estimate = 0.001, .low = -0.02, .high = 0.022, .level = 0.95, .n = 50 } };
	struct comparison c = { .verdict = VERDICT_FASTER,
				.interval = {
					.estimate = -0.015, .low = -0.02, .high = -0.01, .level = 0.95, .n = 50 } };
	struct comparison kept = c;

	(void)state;
	verdict_apply_null(&c, &null);
	assert_verdict(c, "cannot tell");
	assert_true(c.flags & COMPARE_BELOW_NULL);
	assert_true(c.rounds_needed > 50 && isfinite(c.rounds_needed));
	c = kept;
	c.interval.estimate = -0.03;
	verdict_apply_null(&c, &null);
	assert_verdict(c, "faster");
	assert_false(c.flags & COMPARE_BELOW_NULL);
	c = kept;
	c.verdict = VERDICT_SAME;
	verdict_apply_null(&c, &null);
	assert_verdict(c, "same");
	c = kept;
	null.interval.low = 0.001;	/* the twins were told apart: no number of rounds helps */
	verdict_apply_null(&c, &null);
	assert_verdict(c, "cannot tell");
	assert_true(isinf(c.rounds_needed));
	c = kept;
	null.interval.low = -INFINITY;
	null.interval.high = INFINITY;
	verdict_apply_null(&c, &null);
	assert_verdict(c, "cannot tell");
	c = kept;
	null.flags |= COMPARE_DIFFERENCE;	/* other terms: cannot be held against it */
	verdict_apply_null(&c, &null);
	assert_verdict(c, "faster");
	c = kept;
	verdict_apply_null(&c, &c);
	assert_verdict(c, "faster");
}

static void test_rule_refused(void **state)
{
	const double x[] = { 1, 2, 3, 4, 5, 6, 7 };
	struct verdict_rule rule = usual;
	struct summary s = { 5, 1, 1 };
	struct comparison c;

	(void)state;
	rule.margin = NAN;
	assert_int_equal(verdict_paired(x, x, 7, &rule, 0, &c), -EINVAL);
	assert_int_equal(verdict_unpaired(x, 7, x, 7, &rule, &c), -EINVAL);
	assert_int_equal(verdict_summary(&s, &s, &rule, &c), -EINVAL);
	rule = usual;
	rule.margin_abs = -1;
	assert_int_equal(verdict_paired(x, x, 7, &rule, 0, &c), -EINVAL);
	rule = usual;
	rule.level = 1;
	assert_int_equal(verdict_paired(x, x, 7, &rule, 0, &c), -EINVAL);
	assert_verdict(c, "cannot tell");
	assert_int_equal(verdict_paired(x, x, 7, &rule, 0.9, &c), 0);
	assert_verdict(c, "same");
}

/* Whatever the values: an error, or numbers that can be printed. */
static void test_any_values(void **state)
{
	static const double pool[] = { 0,      -0.0,	1,	 -1,	  1e-12,    1e18,
				       5e-324, -5e-324, DBL_MIN, DBL_MAX, -DBL_MAX, 1 + DBL_EPSILON,
				       2,      3,	1e300,	 -1e-300 };
	struct random_state r;
	size_t judged = 0;

	(void)state;
	random_seed(&r, 14);
	for (size_t k = 0; k < 20000; k++) {
		size_t n = random_below(&r, 41), m = random_below(&r, 41), first = random_below(&r, ARRAY_SIZE(pool));
		size_t kinds = 1 + random_below(&r, ARRAY_SIZE(pool) - first);
		struct verdict_rule rule = { .margin = 0.01,
					     .level = 0.95,
					     .better = (enum better)random_below(&r, 3) };
		struct summary s[2];
		struct comparison c;
		double x[40], y[40];

		for (size_t i = 0; i < 40; i++) {
			x[i] = pool[first + random_below(&r, kinds)] * (random_below(&r, 3) ? 1 : random_unit(&r));
			y[i] = pool[first + random_below(&r, kinds)] * (random_below(&r, 3) ? 1 : random_unit(&r));
		}
		for (size_t i = 0; i < 2; i++)
			s[i] = (struct summary){ .n = random_below(&r, 5), .mean = x[i], .sd = y[i] };
		if (!verdict_paired(x, y, n, &rule, 0, &c))
			judged++;
		check_numbers(&c);
		if (!verdict_unpaired(x, n, y, m, &rule, &c))
			judged++;
		check_numbers(&c);
		if (!verdict_summary(&s[0], &s[1], &rule, &c))
			judged++;
		check_numbers(&c);
	}
	assert_in_range(judged, 40000, 60000);
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(verdict_name(VERDICT_FASTER), "faster");
	assert_string_equal(verdict_name(VERDICT_SLOWER), "slower");
	assert_string_equal(verdict_name(VERDICT_SAME), "same");
	assert_string_equal(verdict_name(VERDICT_CANNOT_TELL), "cannot tell");
	assert_string_equal(verdict_name(VERDICT_UP), "up");
	assert_string_equal(verdict_name(VERDICT_DOWN), "down");
	assert_string_equal(verdict_name((enum verdict)99), "cannot tell");
	assert_string_equal(better_name(BETTER_LOWER), "lower");
	assert_string_equal(better_name(BETTER_HIGHER), "higher");
	assert_string_equal(better_name(BETTER_NONE), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_published_context_switch),
		cmocka_unit_test(test_published_tiotest),
		cmocka_unit_test(test_published_single_values),
		cmocka_unit_test(test_summary_edges),
		cmocka_unit_test(test_table_of_the_design),
		cmocka_unit_test(test_few_rounds),
		cmocka_unit_test(test_zero_and_negative),
		cmocka_unit_test(test_scales),
		cmocka_unit_test(test_p_value_agrees),
		cmocka_unit_test(test_what_a_run_could_have_seen),
		cmocka_unit_test(test_dependent_rounds),
		cmocka_unit_test(test_coarse_values),
		cmocka_unit_test(test_bimodal_flag),
		cmocka_unit_test(test_load_in_bursts),
		cmocka_unit_test(test_null_control),
		cmocka_unit_test(test_rule_refused),
		cmocka_unit_test(test_any_values),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
