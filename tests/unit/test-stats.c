/* SPDX-License-Identifier: GPL-2.0-only */
/* Order statistics and intervals, against published examples and against brute force over all pairs. */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "stats.h"
#include "util.h"

#define assert_near(a, b, tolerance) near_or_fail(a, b, tolerance, #a, __LINE__)

static void near_or_fail(double a, double b, double tolerance, const char *what, int line)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("line %d: %s is %.17g, not %.17g", line, what, a, b);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double normal(struct random_state *r)
{
	return sqrt(-2 * log1p(-random_unit(r))) * cos(2 * M_PI * random_unit(r));
}

/* All Walsh averages in ascending order; the caller frees them. */
static double *walsh(const double *d, size_t n, size_t *count)
{
	double *w = util_calloc(n * (n + 1) / 2, sizeof(*w));

	*count = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i; j < n; j++)
			w[(*count)++] = d[i] / 2 + d[j] / 2;
	qsort(w, *count, sizeof(*w), compare);
	return w;
}

/*
 * Hollander and Wolfe, Nonparametric Statistical Methods (1973), p. 29: depression scale, 9 patients; example of R's
 * wilcox.test().
 */
static void test_signed_rank_published(void **state)
{
	static const double x[] = { 1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30 };
	static const double y[] = { 0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29 };
	struct interval i;
	double d[9];

	(void)state;
	for (size_t k = 0; k < 9; k++)
		d[k] = x[k] - y[k];
	assert_int_equal(stats_signed_rank_interval(d, 9, 0.95, &i), 0);
	assert_near(i.estimate, 0.46, 1e-9);
	assert_near(i.low, 0.010, 1e-9);
	assert_near(i.high, 0.786, 1e-9);
	assert_int_equal(i.n, 9);
	assert_near(i.level, 0.95, 0);
	assert_near(stats_signed_rank_p(d, 9), 0.0390625, 1e-12);
	assert_near(stats_hodges_lehmann(d, 9), 0.46, 1e-9);
}

/* The same book, p. 69: permeability of membranes. */
static void test_rank_sum_published(void **state)
{
	static const double x[] = { 0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46 };
	static const double y[] = { 1.15, 0.88, 0.90, 0.74, 1.21 };
	struct interval i;

	(void)state;
	assert_int_equal(stats_rank_sum_interval(y, 5, x, 10, 0.95, &i), 0);
	assert_near(i.estimate, 0.305, 1e-9);
	assert_near(i.low, -0.15, 1e-9);
	assert_near(i.high, 0.76, 1e-9);
	assert_int_equal(i.n, 5);
	assert_near(stats_rank_sum_p(y, 5, x, 10), 0.254412, 5e-7);
	assert_near(stats_rank_sum_p(x, 10, y, 5), 0.254412, 5e-7);
}

/* Student's sleep data, as summaries; R's t.test(extra ~ group). */
static void test_welch_published(void **state)
{
	struct interval i;

	(void)state;
	assert_int_equal(stats_welch_interval(10, 2.33, 2.0022487, 10, 0.75, 1.7890097, 0.95, &i), 0);
	assert_near(i.estimate, -1.58, 1e-9);
	assert_near(i.low, -3.3654832, 1e-6);
	assert_near(i.high, 0.2054832, 1e-6);
	assert_near(stats_welch_p(10, 2.33, 2.0022487, 10, 0.75, 1.7890097), 0.07939414, 1e-6);
	assert_int_equal(stats_welch_interval(3, 1, 0, 4, 2, 0, 0.95, &i), 0);
	assert_near(i.low, 1, 0);
	assert_near(i.high, 1, 0);
	assert_int_equal(stats_welch_interval(5, 1e18, 1e15, 5, 2e18, 1e15, 0.95, &i), 0);
	assert_true(i.low > 0.99e18 && i.high < 1.01e18);
	assert_int_equal(stats_welch_interval(5, 1e-12, 1e-15, 5, 2e-12, 1e-15, 0.95, &i), 0);
	assert_true(i.low > 0.99e-12 && i.high < 1.01e-12);
	assert_int_equal(stats_welch_interval(1, 1, 0, 4, 2, 0, 0.95, &i), -EINVAL);
	assert_int_equal(stats_welch_interval(4, 1, -1, 4, 2, 0, 0.95, &i), -EINVAL);
	assert_int_equal(stats_welch_interval(4, NAN, 1, 4, 2, 0, 0.95, &i), -EINVAL);
}

/*
 * Critical values of Wilcoxon's T, two-sided 5 %, as in every table: the interval starts at the Walsh average with that
 * many below it.
 */
static void test_signed_rank_table(void **state)
{
	static const struct {
		size_t n, t;
	} table[] = { { 6, 0 },	  { 7, 2 },   { 8, 3 },	   { 9, 5 },	{ 10, 8 },  { 15, 25 },
		      { 20, 52 }, { 25, 89 }, { 30, 137 }, { 40, 264 }, { 50, 434 } };
	struct random_state r;
	struct interval i;

	(void)state;
	random_seed(&r, 11);
	for (size_t k = 0; k < ARRAY_SIZE(table); k++) {
		double d[50], *w;
		size_t count;

		for (size_t j = 0; j < table[k].n; j++)
			d[j] = normal(&r);
		w = walsh(d, table[k].n, &count);
		assert_int_equal(stats_signed_rank_interval(d, table[k].n, 0.95, &i), 0);
		assert_near(i.low, w[table[k].t], 0);
		assert_near(i.high, w[count - 1 - table[k].t], 0);
		free(w);
	}
	for (size_t n = 1; n < 6; n++) {
		double d[] = { 1, 2, 3, 4, 5 };

		assert_int_equal(stats_signed_rank_interval(d, n, 0.95, &i), 0);
		assert_true(isinf(i.low) && i.low < 0 && isinf(i.high) && i.high > 0);
		assert_true(isfinite(i.estimate));
	}
	/* 2 / 2^6 is exactly 1 - 0.96875: the outermost pair is allowed. */
	assert_int_equal(stats_signed_rank_interval((const double[]){ 1, 2, 3, 4, 5, 6 }, 6, 0.96875, &i), 0);
	assert_near(i.low, 1, 0);
	assert_near(i.high, 6, 0);
	assert_int_equal(stats_signed_rank_interval((const double[]){ 1, 2, 3, 4, 5, 6 }, 6, 0.9688, &i), 0);
	assert_true(isinf(i.low));
}

/* Samples of many kinds: continuous, heavily tied, of wildly different scales, constant. */
static void sample(struct random_state *r, size_t kind, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		x[i] = normal(r);
		if (kind == 1)
			x[i] = floor(3 * x[i]);
		else if (kind == 2)
			x[i] *= pow(10, 40 * random_unit(r) - 20);
		else if (kind == 3)
			x[i] = 7;
		else if (kind == 4)
			x[i] = random_below(r, 2) ? 1e18 + 1e6 * x[i] : 1e-12 * x[i];
	}
}

static void check_walsh(const double *d, size_t n, double level)
{
	struct interval i;
	size_t count, below = 0, upto = 0, above = 0, from = 0;
	double *w = walsh(d, n, &count), miss;

	assert_int_equal(stats_signed_rank_interval(d, n, level, &i), 0);
	assert_near(i.estimate, count % 2 ? w[count / 2] : w[count / 2 - 1] / 2 + w[count / 2] / 2,
		    4 * DBL_EPSILON * fabs(i.estimate));
	assert_near(i.estimate, stats_hodges_lehmann(d, n), 0);
	for (size_t k = 0; k < count; k++) {
		below += w[k] < i.low;
		upto += w[k] <= i.low;
		above += w[k] > i.high;
		from += w[k] >= i.high;
	}
	/*
	 * Both ends are Walsh averages, equally deep (ties leave the depth between two counts), and the exact chance to
	 * miss is within the promise.
	 */
	if (isfinite(i.low)) {
		assert_true(upto > below && from > above);
		assert_true(upto > above && from > below);
		miss = 2 * psignrank((double)(below > above ? below : above) - 1, (double)n, 1, 0);
		assert_true(miss <= (1 - level) * (n <= 60 ? 1 + 1e-9 : 1.02));
	} else {
		assert_true(2 * psignrank(0, (double)n, 1, 0) > 1 - level);
	}
	free(w);
}

static void test_signed_rank_brute_force(void **state)
{
	static const double levels[] = { 0.5, 0.9, 0.95, 0.99, 0.9999 };
	struct random_state r;
	double d[140];

	(void)state;
	random_seed(&r, 12);
	for (size_t n = 1; n <= 140; n += n < 30 ? 1 : 11)
		for (size_t kind = 0; kind < 5; kind++)
			for (size_t k = 0; k < ARRAY_SIZE(levels); k++) {
				sample(&r, kind, d, n);
				check_walsh(d, n, levels[k]);
			}
}

/* Beyond the exact table: how deep the interval starts, without ties, against libRmath's exact probability. */
static void test_signed_rank_normal_approximation(void **state)
{
	static const size_t sizes[] = { 61, 80, 120, 250 };
	static const double levels[] = { 0.9, 0.95, 0.99, 0.9999, 0.9999999 };
	struct random_state r;
	double d[250];

	(void)state;
	random_seed(&r, 13);
	for (size_t a = 0; a < ARRAY_SIZE(sizes); a++)
		for (size_t b = 0; b < ARRAY_SIZE(levels); b++) {
			double alpha = 1 - levels[b], *w;
			size_t n = sizes[a], count, depth = 0;
			struct interval i;

			sample(&r, 0, d, n);
			w = walsh(d, n, &count);
			assert_int_equal(stats_signed_rank_interval(d, n, levels[b], &i), 0);
			while (w[depth] < i.low)
				depth++;
			/* Never more than 1 % of the error too generous; at usual levels not wasteful either. */
			assert_true(2 * psignrank((double)depth, (double)n, 1, 0) <= 1.01 * alpha);
			if (levels[b] < 0.999)
				assert_true(2 * psignrank((double)depth + 3, (double)n, 1, 0) >= 0.95 * alpha);
			free(w);
		}
}

/* The p-value by going through all 2^n signs, which is its definition; |d| without ties. */
static void test_signed_rank_p_by_enumeration(void **state)
{
	struct random_state r;

	(void)state;
	random_seed(&r, 14);
	for (size_t n = 1; n <= 12; n++) {
		double d[12], rank_sum = 0, total = (double)(n * (n + 1)) / 2, as_far = 0;
		size_t rank[12];

		sample(&r, 0, d, n);
		for (size_t i = 0; i < n; i++) {
			rank[i] = 1;
			for (size_t j = 0; j < n; j++)
				rank[i] += fabs(d[j]) < fabs(d[i]);
			rank_sum += d[i] > 0 ? (double)rank[i] : 0;
		}
		for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
			double sum = 0;

			for (size_t i = 0; i < n; i++)
				sum += signs >> i & 1 ? (double)rank[i] : 0;
			as_far += fabs(sum - total / 2) >= fabs(rank_sum - total / 2);
		}
		assert_near(stats_signed_rank_p(d, n), as_far / (double)((size_t)1 << n), 1e-12);
	}
	assert_near(stats_signed_rank_p((const double[]){ 0, 0, 0 }, 3), 1, 0);
	assert_near(stats_signed_rank_p((const double[]){ 1, -1, 2, -2 }, 4), 1, 0);
}

static void test_rank_sum_brute_force(void **state)
{
	static const size_t sizes[][2] = { { 1, 1 },   { 1, 30 },  { 3, 3 },   { 4, 4 },  { 5, 40 },
					   { 17, 11 }, { 40, 40 }, { 60, 35 }, { 3, 500 } };
	struct random_state r;
	double x[500], y[500];

	(void)state;
	random_seed(&r, 15);
	for (size_t a = 0; a < ARRAY_SIZE(sizes); a++)
		for (size_t kind = 0; kind < 5; kind++) {
			size_t nx = sizes[a][0], ny = sizes[a][1], count = 0, depth = 0;
			double *shift = util_calloc(nx * ny, sizeof(*shift));
			struct interval i;

			sample(&r, kind, x, nx);
			sample(&r, kind, y, ny);
			for (size_t k = 0; k < nx; k++)
				for (size_t j = 0; j < ny; j++)
					shift[count++] = y[j] - x[k];
			qsort(shift, count, sizeof(*shift), compare);
			assert_int_equal(stats_rank_sum_interval(x, nx, y, ny, 0.95, &i), 0);
			assert_near(i.estimate,
				    count % 2 ? shift[count / 2] : shift[count / 2 - 1] / 2 + shift[count / 2] / 2,
				    4 * DBL_EPSILON * fabs(i.estimate));
			while (isfinite(i.low) && shift[depth] < i.low)
				depth++;
			if (isfinite(i.low)) {
				assert_near(i.low, shift[depth], 0);
				if (kind == 0) {
					assert_near(i.high, shift[count - 1 - depth], 0);
					assert_true(2 * pwilcox((double)depth, (double)nx, (double)ny, 1, 0) <= 0.0505);
					wilcox_free();
				}
			}
			free(shift);
		}
}

static void test_far_scales(void **state)
{
	const double huge[] = { DBL_MAX, DBL_MAX, DBL_MAX / 2, -DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX / 4, DBL_MAX };
	const double tiny[] = { 5e-324, -5e-324, 0, 1e-320, 2e-320, 0, 0, -1e-310 };
	struct interval i;

	(void)state;
	assert_int_equal(stats_signed_rank_interval(huge, 8, 0.95, &i), 0);
	assert_true(!isnan(i.estimate) && !isnan(i.low) && !isnan(i.high) && i.low <= i.estimate &&
		    i.estimate <= i.high);
	assert_int_equal(stats_signed_rank_interval(tiny, 8, 0.95, &i), 0);
	assert_true(i.low <= i.estimate && i.estimate <= i.high && fabs(i.low) < 1e-300);
	assert_int_equal(stats_rank_sum_interval(huge, 8, tiny, 8, 0.95, &i), 0);
	assert_true(!isnan(i.estimate) && i.low <= i.estimate && i.estimate <= i.high);
	/* A difference that no double holds. */
	assert_int_equal(stats_rank_sum_interval(huge, 8, huge, 8, 0.95, &i), -EINVAL);
}

static void test_bad_input(void **state)
{
	double mean, sd, x[] = { 1, NAN, 3 }, y[] = { 1, INFINITY };
	struct random_state r;
	struct interval i;

	(void)state;
	random_seed(&r, 1);
	assert_int_equal(stats_signed_rank_interval(x, 0, 0.95, &i), -EINVAL);
	assert_int_equal(stats_signed_rank_interval(x, 3, 0.95, &i), -EINVAL);
	assert_int_equal(stats_signed_rank_interval(x, 1, 0, &i), -EINVAL);
	assert_int_equal(stats_signed_rank_interval(x, 1, 1, &i), -EINVAL);
	assert_int_equal(stats_signed_rank_interval(x, 1, NAN, &i), -EINVAL);
	assert_int_equal(stats_rank_sum_interval(x, 1, y, 2, 0.95, &i), -EINVAL);
	assert_int_equal(stats_rank_sum_interval(x, 1, y, 0, 0.95, &i), -EINVAL);
	assert_int_equal(stats_bootstrap_interval(x, 0, 0.95, 100, &r, &i), -EINVAL);
	assert_true(isnan(stats_median(x, 0)) && isnan(stats_mad(x, 0)) && isnan(stats_quantile(x, 1, 2)) &&
		    isnan(stats_quantile(x, 0, 0.5)));
	assert_true(isnan(stats_hodges_lehmann(x, 0)) && isnan(stats_signed_rank_p(x, 0)) &&
		    isnan(stats_rank_sum_p(x, 0, y, 1)));
	assert_true(isnan(stats_dip(x, 0)));
	stats_mean_sd(x, 0, &mean, &sd);
	assert_true(isnan(mean));
	assert_near(sd, 0, 0);
}

static void test_order_statistics(void **state)
{
	double ten[] = { 3, 1, 2, 10, 9, 8, 4, 5, 7, 6 }, mean, sd;
	const double far[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };

	(void)state;
	/* R: quantile(1:10, c(.1, .25, .5, 1)), mad(c(1, 1, 2, 2, 4, 6, 9), constant = 1) */
	assert_near(stats_quantile(ten, 10, 0.1), 1.9, 1e-12);
	assert_near(stats_quantile(ten, 10, 0.25), 3.25, 1e-12);
	assert_near(stats_quantile(ten, 10, 1), 10, 0);
	assert_near(stats_quantile(ten, 10, 0), 1, 0);
	assert_near(stats_median(ten, 10), 5.5, 1e-12);
	assert_near(ten[0], 3, 0);	/* not sorted in place */
	assert_near(stats_median(ten, 1), 3, 0);
	assert_near(stats_mad((const double[]){ 1, 1, 2, 2, 4, 6, 9 }, 7), 1, 0);
	stats_mean_sd(far, 4, &mean, &sd);
	assert_near(mean, 1e9 + 10, 1e-6);
	assert_near(sd, sqrt(30), 1e-9);
	stats_mean_sd(far, 1, &mean, &sd);
	assert_near(sd, 0, 0);
}

/*
 * The bootstrap knows nothing of ranks, so the two check one another: over many samples both must cover the true centre
 * about equally often and be of about the same width. It is known to be a little too narrow at this n.
 */
static void test_bootstrap_agrees(void **state)
{
	enum { SAMPLES = 300, N = 40 };
	double d[N], width[2] = { 0, 0 };
	size_t covers[2] = { 0, 0 };
	struct random_state r;

	(void)state;
	random_seed(&r, 16);
	for (size_t k = 0; k < SAMPLES; k++) {
		struct interval rank, boot;

		for (size_t i = 0; i < N; i++)	/* a skewed noise in each arm: d is symmetric and heavy-tailed */
			d[i] = log1p(-random_unit(&r)) - log1p(-random_unit(&r));
		assert_int_equal(stats_signed_rank_interval(d, N, 0.95, &rank), 0);
		assert_int_equal(stats_bootstrap_interval(d, N, 0.95, 400, &r, &boot), 0);
		assert_near(boot.estimate, rank.estimate, 0);
		width[0] += rank.high - rank.low;
		width[1] += boot.high - boot.low;
		covers[0] += rank.low <= 0 && rank.high >= 0;
		covers[1] += boot.low <= 0 && boot.high >= 0;
	}
	assert_true(width[1] > 0.85 * width[0] && width[1] < 1.1 * width[0]);
	/* Binomial bounds, 99.9 %: for a coverage of 95 % from below, and for 92 % for the bootstrap. */
	assert_true((double)covers[0] >= qbinom(0.001, SAMPLES, 0.95, 1, 0));
	assert_true((double)covers[1] >= qbinom(0.001, SAMPLES, 0.92, 1, 0));
}

static void ar1(struct random_state *r, double rho, double *x, size_t n)
{
	double at = normal(r);

	for (size_t i = 0; i < n; i++) {
		at = rho * at + sqrt(1 - rho * rho) * normal(r);
		x[i] = at;
	}
}

static void test_dependence(void **state)
{
	enum { N = 1000, SAMPLES = 200 };
	double x[N], acted = 0, widened = 0;
	struct random_state r;

	(void)state;
	random_seed(&r, 17);
	for (size_t k = 0; k < SAMPLES; k++) {
		double factor;

		ar1(&r, 0, x, N);
		factor = stats_dependence(x, N);
		assert_true(factor >= 1 && factor < 1.2);
		acted += factor > 1;
		ar1(&r, 0.5, x, N);
		/* sqrt((1 + r) / (1 - r)), r = 0.483 between ranks; and the margin of safety. */
		factor = stats_dependence(x, N);
		assert_true(factor > 1.5 && factor < 2.1);
		widened += factor;
	}
	assert_true(acted < qbinom(0.999, SAMPLES, 0.25, 1, 0));
	assert_true(widened / SAMPLES > sqrt(1.483 / 0.517) && widened / SAMPLES < 1.85);

	/* Outliers neither hide it nor feign it. */
	ar1(&r, 0.5, x, N);
	for (size_t i = 0; i < N; i += 20)
		x[i] *= 1e6;
	assert_true(stats_dependence(x, N) > 1.4);
	for (size_t i = 0; i < N; i++)
		x[i] = i % 2 ? 1 : -1;
	assert_near(stats_dependence(x, N), 1, 0);	/* alternating: no reason to widen */
	for (size_t i = 0; i < N; i++)
		x[i] = (double)i;
	assert_true(stats_dependence(x, N) > 5);
	for (size_t i = 0; i < N; i++)
		x[i] = 4;
	assert_near(stats_dependence(x, N), 1, 0);
	assert_near(stats_dependence(x, 5), 1, 0);
}

static void test_dip(void **state)
{
	enum { N = 100, SAMPLES = 3000 };
	double x[N], dips[SAMPLES];
	struct random_state r;

	(void)state;
	for (size_t i = 0; i < N; i++)
		x[i] = (double)i;
	assert_near(stats_dip(x, N), 1.0 / (2 * N), 1e-12);	/* as even as can be: the least dip there is */
	for (size_t i = 0; i < N; i++)
		x[i] = i % 2 ? 1 : 0;
	assert_near(stats_dip(x, N), 0.25, 1e-12);		/* two points: the largest */
	for (size_t i = 0; i < N; i++)
		x[i] = (double)(i % 2) * 1e6 + (double)i;
	assert_near(stats_dip(x, N), 0.25, 0.003);
	for (size_t i = 0; i < N; i++)
		x[i] = 1000 - x[i];
	assert_near(stats_dip(x, N), 0.25, 0.003);

	/*
	 * Table 1 of Hartigan and Hartigan (1985), n = 100: sqrt(n) dip of a uniform sample is above 0.474 in 10 %
	 * (0.471 by larger simulations).
	 */
	random_seed(&r, 18);
	for (size_t k = 0; k < SAMPLES; k++) {
		for (size_t i = 0; i < N; i++)
			x[i] = random_unit(&r);
		dips[k] = 10 * stats_dip(x, N);
	}
	assert_near(stats_quantile(dips, SAMPLES, 0.9), 0.472, 0.008);
	/* The critical value that stats_modes() uses. */
	assert_near(stats_quantile(dips, SAMPLES, 0.99), 0.64 - 0.46 / 10, 0.025);
}

static void test_modes(void **state)
{
	enum { N = 200 };
	struct stats_modes m;
	struct random_state r;
	size_t found = 0;
	double x[N];

	(void)state;
	random_seed(&r, 19);
	/* 11 ms or 765 ms. */
	for (size_t i = 0; i < N; i++)
		x[i] = (i % 3 ? 11 : 765) * (1 + 0.01 * normal(&r));
	assert_true(stats_modes(x, N, 0.01, &m));
	assert_near(m.center[0], 11, 0.1);
	assert_near(m.center[1], 765, 8);
	assert_near(m.share[1], 1.0 / 3, 0.01);
	for (size_t i = 0; i < N; i++)
		x[i] = i % 2 ? 11 : 765;
	assert_true(stats_modes(x, N, 0.01, &m));
	/* Too close to matter. */
	for (size_t i = 0; i < N; i++)
		x[i] = (i % 2 ? 1 : 1.005) * (1 + 0.0002 * normal(&r));
	assert_true(stats_modes(x, N, 0.001, &m));
	assert_false(stats_modes(x, N, 0.01, &m));

	/*
	 * Not two modes: a hundred equal values and one other; a coarse clock; counts; outliers; a skewed tail; too
	 * few.
	 */
	for (size_t i = 0; i < 101; i++)
		x[i] = i == 50 ? 0.6 : 0.5;
	assert_false(stats_modes(x, 101, 0.01, &m));
	for (size_t k = 0; k < 200; k++) {
		for (size_t i = 0; i < N; i++)
			x[i] = round(5 + normal(&r));
		found += stats_modes(x, N, 0.01, &m);
		for (size_t i = 0; i < N; i++)
			x[i] = qpois(random_unit(&r), 1.5, 1, 0);
		found += stats_modes(x, N, 0.01, &m);
		for (size_t i = 0; i < N; i++)
			x[i] = (1 + 0.02 * normal(&r)) * (random_below(&r, 20) ? 1 : 10 + 240 * random_unit(&r));
		found += stats_modes(x, N, 0.01, &m);
		for (size_t i = 0; i < N; i++)
			x[i] = exp(normal(&r));
		found += stats_modes(x, N, 0.01, &m);
		for (size_t i = 0; i < N; i++)
			x[i] = 5 + (double)random_below(&r, 2);
		found += stats_modes(x, N, 0.01, &m);
	}
	assert_true((double)found <= qbinom(0.999, 1000, 0.01, 1, 0));
	assert_false(stats_modes(x, 19, 0.01, &m));
	assert_false(stats_modes(x, 0, 0.01, &m));
}

static void test_grid(void **state)
{
	size_t distinct;

	(void)state;
	assert_near(stats_grid_step((const double[]){ 0.3, 0.1, 0.1 + 1e-17, 0.2 - 1e-17, 0.1, 0.5 }, 6, &distinct),
		    0.1, 1e-12);
	assert_int_equal(distinct, 4);
	assert_near(stats_grid_step((const double[]){ 4, 4, 4 }, 3, &distinct), 0, 0);
	assert_int_equal(distinct, 1);
	assert_near(stats_grid_step(NULL, 0, &distinct), 0, 0);
	assert_int_equal(distinct, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signed_rank_published),
		cmocka_unit_test(test_rank_sum_published),
		cmocka_unit_test(test_welch_published),
		cmocka_unit_test(test_signed_rank_table),
		cmocka_unit_test(test_signed_rank_brute_force),
		cmocka_unit_test(test_signed_rank_normal_approximation),
		cmocka_unit_test(test_signed_rank_p_by_enumeration),
		cmocka_unit_test(test_rank_sum_brute_force),
		cmocka_unit_test(test_far_scales),
		cmocka_unit_test(test_bad_input),
		cmocka_unit_test(test_order_statistics),
		cmocka_unit_test(test_bootstrap_agrees),
		cmocka_unit_test(test_dependence),
		cmocka_unit_test(test_dip),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_grid),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
