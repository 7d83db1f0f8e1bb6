/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order statistics and intervals. See stats.h for the contracts and perf-relax-verdict(7) for the reasons.
 *
 * libRmath keeps static tables for the signed-rank and rank-sum distributions: these functions are not for several
 * threads at once.
 */
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "stats.h"
#include "util.h"

/*
 * Up to here the exact distributions are used. Building libRmath's table for the signed rank takes time n^3; beyond 60
 * the normal approximation with continuity correction is off by less than one Walsh average at 95 %, and towards the
 * wide side in the far tails that early looks need, because the exact distribution has the lighter tails.
 */
#define SIGNED_RANK_EXACT_MAX 60
#define RANK_SUM_EXACT_PAIRS 1600
#define RANK_SUM_EXACT_MAX 400

#define DEPENDENCE_MIN_N 6
#define DEPENDENCE_MAX 0.95	/* widens by 6.2 */

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double *sorted_copy(const double *x, size_t n)
{
	double *copy = util_calloc(n, sizeof(*copy));

	memcpy(copy, x, n * sizeof(*copy));
	qsort(copy, n, sizeof(*copy), compare_doubles);
	return copy;
}

static bool all_finite(const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!isfinite(x[i]))
			return false;
	return true;
}

static bool valid_level(double level)
{
	return level > 0 && level < 1;
}

/* Halves first, so that two values near DBL_MAX do not overflow. */
static double midpoint(double a, double b)
{
	return a == b ? a : a / 2 + b / 2;
}

static double sorted_quantile(const double *x, size_t n, double q)
{
	double place = q * (double)(n - 1);
	size_t below = (size_t)floor(place);
	double share = place - (double)below;

	if (below + 1 >= n || share <= 0 || x[below] == x[below + 1])
		return x[below];
	return x[below] * (1 - share) + x[below + 1] * share;
}

double stats_quantile(const double *x, size_t n, double q)
{
	double *sorted, value;

	if (n == 0 || !(q >= 0 && q <= 1))
		return NAN;
	sorted = sorted_copy(x, n);
	value = sorted_quantile(sorted, n, q);
	free(sorted);
	return value;
}

double stats_median(const double *x, size_t n)
{
	return stats_quantile(x, n, 0.5);
}

double stats_mad(const double *x, size_t n)
{
	double center, value, *distance;

	if (n == 0)
		return NAN;
	center = stats_median(x, n);
	distance = util_calloc(n, sizeof(*distance));
	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(x[i] - center);
	value = stats_median(distance, n);
	free(distance);
	return value;
}

void stats_mean_sd(const double *x, size_t n, double *mean, double *sd)
{
	double m = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double step = x[i] - m;

		m += step / (double)(i + 1);
		squares += step * (x[i] - m);
	}
	*mean = n ? m : NAN;
	*sd = n < 2 ? 0 : sqrt(squares / (double)(n - 1));
}

/*
 * A double as it is in memory: on i387 an intermediate result has more digits, and counting and collecting must see the
 * same sums.
 */
static double rounded(double x)
{
#if FLT_EVAL_METHOD != 0
	volatile double stored = x;

	return stored;
#else
	return x;
#endif
}

/*
 * All sums a[i] + b[j] of two ascending arrays, or with `triangle` (a and b the same array) those with j >= i: a matrix
 * with sorted rows and columns that is never built. Walsh averages are the sums of halves, shifts the sums of y and -x.
 */
struct sums {
	const double *a, *b;
	size_t na, nb;
	bool triangle;
};

static double sum_of(const struct sums *s, size_t i, size_t j)
{
	return rounded(s->a[i] + s->b[j]);
}

static uint64_t sums_total(const struct sums *s)
{
	return s->triangle ? (uint64_t)s->na * (s->na + 1) / 2 : (uint64_t)s->na * s->nb;
}

/* How many sums are <= @t. One staircase walk, O(na + nb). Rounded addition is monotone, so the rows stay sorted. */
static uint64_t sums_count(const struct sums *s, double t)
{
	uint64_t count = 0;
	size_t j = s->nb;

	for (size_t i = 0; i < s->na; i++) {
		size_t first = s->triangle ? i : 0;

		while (j > first && sum_of(s, i, j - 1) > t)
			j--;
		if (j <= first)
			break;
		count += j - first;
	}
	return count;
}

/* The sums in (@low, @high] into @out; returns how many. */
static size_t sums_collect(const struct sums *s, double low, double high, double *out)
{
	size_t from = s->nb, to = s->nb, n = 0;

	for (size_t i = 0; i < s->na; i++) {
		size_t first = s->triangle ? i : 0;

		while (to > first && sum_of(s, i, to - 1) > high)
			to--;
		if (to <= first)
			break;
		while (from > 0 && sum_of(s, i, from - 1) > low)
			from--;
		for (size_t j = from > first ? from : first; j < to; j++)
			out[n++] = sum_of(s, i, j);
	}
	return n;
}

/*
 * An integer with the order of the doubles, and back: the middle of two keys halves the doubles between them, whatever
 * their scale.
 */
static uint64_t key_of(double x)
{
	uint64_t u;

	memcpy(&u, &x, sizeof(u));
	return u >> 63 ? ~u : u | UINT64_C(1) << 63;
}

static double of_key(uint64_t k)
{
	uint64_t u = k >> 63 ? k & ~(UINT64_C(1) << 63) : ~k;
	double x;

	memcpy(&x, &u, sizeof(x));
	return x;
}

/*
 * The @k-th smallest sum, 1 <= k <= total. Selection in a matrix with sorted rows and columns by counting below a pivot
 * (the setting of Johnson and Mizoguchi, SIAM J. Comput. 7 (1978) 147-153; Monahan's Algorithm 616, ACM TOMS 10 (1984)
 * 265-270), here with pivots that halve the value range and the set of doubles in turn: no random numbers, at most 128
 * walks whatever the scale of the values, until no more sums are left than one walk can collect. The result is exactly
 * one of the sums.
 */
static double sums_select(const struct sums *s, uint64_t k)
{
	double low = sum_of(s, 0, 0);
	double high = sum_of(s, s->na - 1, s->nb - 1);
	uint64_t below = sums_count(s, low);	/* sums <= low: always < k in the loop */
	uint64_t upto = sums_total(s);		/* sums <= high: always >= k */
	size_t room = s->na + s->nb, n;
	double *rest, value;
	bool halve_range = true;

	if (below >= k)
		return low;
	while (upto - below > room) {
		double pivot = rounded(midpoint(low, high));
		uint64_t count;

		if (!halve_range || !(pivot > low && pivot < high)) {
			uint64_t from = key_of(low), to = key_of(high);

			if (to - from <= 1)
				return high;
			pivot = of_key(from + (to - from) / 2);
		}
		halve_range = !halve_range;
		count = sums_count(s, pivot);
		if (count >= k) {
			high = pivot;
			upto = count;
		} else {
			low = pivot;
			below = count;
		}
	}
	rest = util_calloc(room, sizeof(*rest));
	n = sums_collect(s, low, high, rest);
	qsort(rest, n, sizeof(*rest), compare_doubles);
	value = rest[k - below - 1];
	free(rest);
	return value + 0.0;	/* never -0 */
}

static double sums_median(const struct sums *s)
{
	uint64_t total = sums_total(s);
	double upper = sums_select(s, total / 2 + 1);

	return total % 2 ? upper : midpoint(sums_select(s, total / 2), upper);
}

/* The interval between the @k-th sum from below and from above, or the whole line when k is 0. */
static void sums_interval(const struct sums *s, uint64_t k, struct interval *out)
{
	out->estimate = sums_median(s);
	if (k == 0) {
		out->low = -INFINITY;
		out->high = INFINITY;
		return;
	}
	out->low = sums_select(s, k);
	out->high = sums_select(s, sums_total(s) + 1 - k);
}

/* Halves of the values in ascending order: sums of two of them are the Walsh averages. */
static double *sorted_halves(const double *d, size_t n)
{
	double *half = sorted_copy(d, n);

	for (size_t i = 0; i < n; i++)
		half[i] /= 2;
	return half;
}

/* 2 P(V <= v), of the signed rank with @n values. */
static double signed_rank_two_sided(double v, size_t n)
{
	double count = (double)n;
	double p;

	if (n <= SIGNED_RANK_EXACT_MAX) {
		p = psignrank(v, count, 1, 0);
	} else {
		double mean = count * (count + 1) / 4;
		double sd = sqrt(count * (count + 1) * (2 * count + 1) / 24);

		p = pnorm((v + 0.5 - mean) / sd, 0, 1, 1, 0);
	}
	return fmin(1, 2 * p);
}

/* The largest k with 2 P(V <= k - 1) <= alpha; 0 when not even k = 1 is allowed. */
static uint64_t signed_rank_depth(size_t n, double alpha)
{
	double count = (double)n, k;

	if (n <= SIGNED_RANK_EXACT_MAX) {
		k = qsignrank(alpha / 2, count, 1, 0) + 1;
		while (k > 0 && 2 * psignrank(k - 1, count, 1, 0) > alpha * (1 + 1e-12))
			k--;
	} else {
		double mean = count * (count + 1) / 4;
		double sd = sqrt(count * (count + 1) * (2 * count + 1) / 24);

		k = floor(mean - 0.5 + sd * qnorm(alpha / 2, 0, 1, 1, 0)) + 1;
	}
	return k > 0 ? (uint64_t)k : 0;
}

int stats_signed_rank_interval(const double *d, size_t n, double level, struct interval *out)
{
	struct sums s = { .na = n, .nb = n, .triangle = true };
	double *half;

	if (n == 0 || !valid_level(level) || !all_finite(d, n))
		return -EINVAL;
	half = sorted_halves(d, n);
	s.a = s.b = half;
	out->level = level;
	out->n = n;
	sums_interval(&s, signed_rank_depth(n, 1 - level), out);
	free(half);
	return 0;
}

double stats_hodges_lehmann(const double *d, size_t n)
{
	struct sums s = { .na = n, .nb = n, .triangle = true };
	double *half, value;

	if (n == 0 || !all_finite(d, n))
		return NAN;
	half = sorted_halves(d, n);
	s.a = s.b = half;
	value = sums_median(&s);
	free(half);
	return value;
}

double stats_signed_rank_p(const double *d, size_t n)
{
	struct sums s = { .na = n, .nb = n, .triangle = true };
	uint64_t upto, below;
	double *half;

	if (n == 0 || !all_finite(d, n))
		return NAN;
	half = sorted_halves(d, n);
	s.a = s.b = half;
	upto = sums_count(&s, 0);
	below = sums_count(&s, -0x1p-1074);
	free(half);
	/* Inverts the interval: zero counts for both sides, so ties and zeros make it larger, never smaller. */
	return fmin(signed_rank_two_sided((double)upto, n), signed_rank_two_sided((double)(sums_total(&s) - below), n));
}

static bool rank_sum_exact(size_t nx, size_t ny)
{
	return nx <= RANK_SUM_EXACT_MAX && ny <= RANK_SUM_EXACT_MAX && nx * ny <= RANK_SUM_EXACT_PAIRS;
}

/* 2 P(W <= w) of the Mann-Whitney count. */
static double rank_sum_two_sided(double w, size_t nx, size_t ny)
{
	double m = (double)nx, n = (double)ny, p;

	if (rank_sum_exact(nx, ny)) {
		p = pwilcox(w, m, n, 1, 0);
		wilcox_free();
	} else {
		p = pnorm((w + 0.5 - m * n / 2) / sqrt(m * n * (m + n + 1) / 12), 0, 1, 1, 0);
	}
	return fmin(1, 2 * p);
}

static uint64_t rank_sum_depth(size_t nx, size_t ny, double alpha)
{
	double m = (double)nx, n = (double)ny, k;

	if (rank_sum_exact(nx, ny)) {
		k = qwilcox(alpha / 2, m, n, 1, 0) + 1;
		while (k > 0 && 2 * pwilcox(k - 1, m, n, 1, 0) > alpha * (1 + 1e-12))
			k--;
		wilcox_free();	/* up to several MB */
	} else {
		k = floor(m * n / 2 - 0.5 + sqrt(m * n * (m + n + 1) / 12) * qnorm(alpha / 2, 0, 1, 1, 0)) + 1;
	}
	return k > 0 ? (uint64_t)k : 0;
}

/* @x reversed in sign, ascending. */
static double *sorted_negative(const double *x, size_t n)
{
	double *copy = util_calloc(n, sizeof(*copy));

	for (size_t i = 0; i < n; i++)
		copy[i] = -x[i];
	qsort(copy, n, sizeof(*copy), compare_doubles);
	return copy;
}

int stats_rank_sum_interval(const double *x, size_t nx, const double *y, size_t ny, double level, struct interval *out)
{
	double *negative, *plus;
	struct sums s;
	bool fits;

	if (nx == 0 || ny == 0 || !valid_level(level) || !all_finite(x, nx) || !all_finite(y, ny))
		return -EINVAL;
	plus = sorted_copy(y, ny);
	negative = sorted_negative(x, nx);
	s = (struct sums){ .a = plus, .na = ny, .b = negative, .nb = nx };
	fits = isfinite(sum_of(&s, 0, 0)) && isfinite(sum_of(&s, ny - 1, nx - 1));
	if (fits) {
		out->level = level;
		out->n = nx < ny ? nx : ny;
		sums_interval(&s, rank_sum_depth(nx, ny, 1 - level), out);
	}
	free(plus);
	free(negative);
	return fits ? 0 : -EINVAL;
}

double stats_rank_sum_p(const double *x, size_t nx, const double *y, size_t ny)
{
	double *negative, *plus, p;
	struct sums s;

	if (nx == 0 || ny == 0 || !all_finite(x, nx) || !all_finite(y, ny))
		return NAN;
	plus = sorted_copy(y, ny);
	negative = sorted_negative(x, nx);
	s = (struct sums){ .a = plus, .na = ny, .b = negative, .nb = nx };
	p = fmin(rank_sum_two_sided((double)sums_count(&s, 0), nx, ny),
		 rank_sum_two_sided((double)(sums_total(&s) - sums_count(&s, -0x1p-1074)), nx, ny));
	free(plus);
	free(negative);
	return p;
}

/*
 * Welch's standard error and Satterthwaite's degrees of freedom, in shares of the total so that neither 1e-12 nor 1e18
 * leaves the range of a double. false: no spread at all.
 */
static bool welch(size_t nx, double sd_x, size_t ny, double sd_y, double *se, double *df)
{
	double vx = sd_x / sqrt((double)nx), vy = sd_y / sqrt((double)ny), share;

	*se = hypot(vx, vy);
	if (!(*se > 0))
		return false;
	share = (vx / *se) * (vx / *se);
	*df = 1 / (share * share / (double)(nx - 1) + (1 - share) * (1 - share) / (double)(ny - 1));
	return true;
}

int stats_welch_interval(size_t nx, double mean_x, double sd_x, size_t ny, double mean_y, double sd_y, double level,
			 struct interval *out)
{
	double se, df, half = 0;

	if (nx < 2 || ny < 2 || !valid_level(level) || !isfinite(mean_y - mean_x) || !(sd_x >= 0 && isfinite(sd_x)) ||
	    !(sd_y >= 0 && isfinite(sd_y)))
		return -EINVAL;
	if (welch(nx, sd_x, ny, sd_y, &se, &df))
		half = se * qt(0.5 + level / 2, df, 1, 0);
	out->estimate = mean_y - mean_x;
	out->low = out->estimate - half;
	out->high = out->estimate + half;
	out->level = level;
	out->n = nx < ny ? nx : ny;
	return 0;
}

int stats_bootstrap_interval(const double *d, size_t n, double level, size_t resamples, struct random_state *r,
			     struct interval *out)
{
	double *sample, *estimates;

	if (n == 0 || resamples < 2 || !valid_level(level) || !all_finite(d, n))
		return -EINVAL;
	sample = util_calloc(n, sizeof(*sample));
	estimates = util_calloc(resamples, sizeof(*estimates));
	for (size_t k = 0; k < resamples; k++) {
		for (size_t i = 0; i < n; i++)
			sample[i] = d[random_below(r, n)];
		estimates[k] = stats_hodges_lehmann(sample, n);
	}
	qsort(estimates, resamples, sizeof(*estimates), compare_doubles);
	out->estimate = stats_hodges_lehmann(d, n);
	out->low = sorted_quantile(estimates, resamples, (1 - level) / 2);
	out->high = sorted_quantile(estimates, resamples, (1 + level) / 2);
	out->level = level;
	out->n = n;
	free(sample);
	free(estimates);
	return 0;
}

double stats_welch_p(size_t nx, double mean_x, double sd_x, size_t ny, double mean_y, double sd_y)
{
	double difference = fabs(mean_y - mean_x), se, df;

	if (nx < 2 || ny < 2)
		return NAN;
	if (!welch(nx, sd_x, ny, sd_y, &se, &df))
		return difference > 0 ? 0 : 1;
	return 2 * pt(-difference / se, df, 1, 0);
}

/* How many of the ascending @x are below @value, or (@equal) not above it. */
static size_t count_below(const double *x, size_t n, double value, bool equal)
{
	size_t from = 0;

	while (n > 0) {
		size_t half = n / 2;

		if (x[from + half] < value || (equal && x[from + half] <= value)) {
			from += half + 1;
			n -= half + 1;
		} else {
			n = half;
		}
	}
	return from;
}

/* Mid-ranks of @x minus their mean. */
static double *centred_ranks(const double *x, size_t n)
{
	double *sorted = sorted_copy(x, n), *rank = util_calloc(n, sizeof(*rank));

	for (size_t i = 0; i < n; i++) {
		size_t below = count_below(sorted, n, x[i], false), upto = count_below(sorted, n, x[i], true);

		rank[i] = ((double)(below + upto) - (double)n) / 2;
	}
	free(sorted);
	return rank;
}

/*
 * The interval's end points are sums of ranks, so what dependence does to them is told by the autocorrelation of the
 * ranks; outliers cannot hide or feign it. As if from an AR(1) process, variance grows by (1 + r) / (1 - r).
 *
 * r is estimated too low by about (1 + 3 r) / n (Marriott and Pope, Biometrika 41 (1954) 390-402), which is added back.
 * Its standard error is 1 / sqrt(n): below three quarters of that, nothing is done; above, one standard error is added
 * for safety (less of it below 20 values, where it would blow up every fifth interval). Tuned by simulation so that
 * AR(1) effects with r up to 0.5 keep a 95 % interval's promise from 30 values on.
 */
double stats_dependence(const double *d, size_t n)
{
	double *rank, square = 0, product = 0, rho, error = 1 / sqrt((double)n);

	if (n < DEPENDENCE_MIN_N || !all_finite(d, n))
		return 1;
	rank = centred_ranks(d, n);
	for (size_t i = 0; i < n; i++) {
		square += rank[i] * rank[i];
		if (i > 0)
			product += rank[i] * rank[i - 1];
	}
	free(rank);
	if (!(square > 0))
		return 1;
	rho = product / square;
	rho += (1 + 3 * fmax(rho, 0)) / (double)n;
	if (rho < 0.75 * error)
		return 1;
	rho = fmin(DEPENDENCE_MAX, rho + error * fmin(1, (double)n / 20));
	return sqrt((1 + rho) / (1 - rho));
}
