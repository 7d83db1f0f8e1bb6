/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does a sample have two modes? The dip test of unimodality (Hartigan and Hartigan, Annals of Statistics 13 (1985)
 * 70-84): the dip is the largest distance between the empirical distribution function and the nearest one with a single
 * mode. Outliers and skewness do not move it, and it takes linear time once the values are sorted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stats.h"
#include "util.h"

/*
 * A uniform sample is the hardest of the unimodal ones; its dip times sqrt(n) exceeds 0.64 - 0.46 / sqrt(n) in 1 of 100
 * samples. A fit to simulated quantiles from n = 20 to 5000, which the unit test repeats; the 90 % quantile for n = 100
 * agrees with the paper's 0.0474.
 */
static double dip_critical(size_t n)
{
	double root = sqrt((double)n);

	return (0.64 - 0.46 / root) / root;
}

#define DIP_MIN_N 20
#define MODE_SHARE 0.1	/* a group smaller than this is a handful of outliers, not a mode */

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

/*
 * A step function: at x[k] it rises from y[k] to y[k + 1] (counts). Its greatest convex minorant runs through lower
 * corners (x[k], y[k]), its least concave majorant through upper ones (x[k], y[k + 1]).
 */
struct steps {
	size_t n;
	double *x, *y;
};

/*
 * Corners of the convex minorant (@upper 0) or the concave majorant (1) of steps @low..@high, as indices into @knot;
 * returns how many.
 */
static size_t hull(const struct steps *s, size_t low, size_t high, size_t upper, size_t *knot)
{
	double side = upper ? -1 : 1;
	size_t n = 0;

	for (size_t k = low; k <= high; k++) {
		while (n > 1) {
			size_t a = knot[n - 2], b = knot[n - 1];
			double turn = (s->y[b + upper] - s->y[a + upper]) * (s->x[k] - s->x[b]) -
				      (s->y[k + upper] - s->y[b + upper]) * (s->x[b] - s->x[a]);

			if (side * turn < 0)
				break;
			n--;
		}
		knot[n++] = k;
	}
	return n;
}

/* Height at x[@k] of the hull segment between corners @a and @b. */
static double on_segment(const struct steps *s, size_t upper, size_t a, size_t b, size_t k)
{
	double from = s->y[a + upper], to = s->y[b + upper];

	return a == b ? from : from + (to - from) * (s->x[k] - s->x[a]) / (s->x[b] - s->x[a]);
}

/* Where the majorant is furthest above the minorant, at a corner of either; the modal interval that this leaves. */
static double widest_gap(const struct steps *s, const size_t *convex, size_t nconvex, const size_t *concave,
			 size_t nconcave, size_t *low, size_t *high)
{
	double widest = -1;

	for (size_t i = 0, j = 0; i < nconvex; i++) {
		double gap;

		while (j + 1 < nconcave && concave[j + 1] < convex[i])
			j++;
		if (j + 1 >= nconcave)
			break;
		gap = on_segment(s, 1, concave[j], concave[j + 1], convex[i]) - s->y[convex[i]];
		if (gap > widest) {
			widest = gap;
			*low = convex[i];
			*high = concave[j + 1];
		}
	}
	for (size_t j = 0, i = 0; j < nconcave; j++) {
		double gap;

		while (i + 1 < nconvex && convex[i + 1] <= concave[j])
			i++;
		gap = s->y[concave[j] + 1] -
		      on_segment(s, 0, convex[i], i + 1 < nconvex ? convex[i + 1] : convex[i], concave[j]);
		if (gap > widest) {
			widest = gap;
			*low = convex[i];
			*high = concave[j];
		}
	}
	return widest;
}

/* How far the steps rise above the minorant within the corners up to @to, or fall below the majorant from @from on. */
static double convex_error(const struct steps *s, const size_t *knot, size_t n, size_t to)
{
	double error = 0;

	for (size_t i = 0; i + 1 < n && knot[i] < to; i++)
		for (size_t k = knot[i]; k <= knot[i + 1]; k++)
			error = fmax(error, s->y[k + 1] - on_segment(s, 0, knot[i], knot[i + 1], k));
	return error;
}

static double concave_error(const struct steps *s, const size_t *knot, size_t n, size_t from)
{
	double error = 0;

	for (size_t i = 0; i + 1 < n; i++)
		for (size_t k = knot[i]; knot[i] >= from && k <= knot[i + 1]; k++)
			error = fmax(error, on_segment(s, 1, knot[i], knot[i + 1], k) - s->y[k]);
	return error;
}

/* Twice the dip, in counts. The modal interval shrinks until no gap within it is larger than the error outside. */
static double steps_dip(const struct steps *s)
{
	size_t *convex = util_calloc(s->n, sizeof(*convex)), *concave = util_calloc(s->n, sizeof(*concave));
	size_t low = 0, high = s->n - 1;
	double dip = 0;

	for (size_t k = 0; k < s->n; k++)
		dip = fmax(dip, s->y[k + 1] - s->y[k]);
	while (low < high) {
		size_t nconvex = hull(s, low, high, 0, convex), nconcave = hull(s, low, high, 1, concave);
		size_t next_low = low, next_high = high;

		if (widest_gap(s, convex, nconvex, concave, nconcave, &next_low, &next_high) <= dip)
			break;
		dip = fmax(dip, convex_error(s, convex, nconvex, next_low));
		dip = fmax(dip, concave_error(s, concave, nconcave, next_high));
		if (next_low == low && next_high == high)
			break;
		low = next_low;
		high = next_high;
	}
	free(convex);
	free(concave);
	return dip;
}

/* @x ascending, n > 0. */
static double sorted_dip(const double *x, size_t n)
{
	struct steps s = { .x = util_calloc(n, sizeof(double)), .y = util_calloc(n + 1, sizeof(double)) };
	double dip;

	for (size_t i = 0; i < n; i++) {
		if (i == 0 || x[i] > x[i - 1])
			s.x[s.n++] = x[i];
		s.y[s.n] = (double)(i + 1);
	}
	dip = steps_dip(&s) / (2 * (double)n);
	free(s.x);
	free(s.y);
	return dip;
}

double stats_dip(const double *x, size_t n)
{
	double *sorted, dip;

	if (n == 0)
		return NAN;
	sorted = sorted_copy(x, n);
	dip = sorted_dip(sorted, n);
	free(sorted);
	return dip;
}

/* Values that differ by rounding alone are the same value. */
static bool same_value(double a, double b)
{
	return b - a <= 1e-9 * fmax(fabs(a), fabs(b));
}

static double sorted_grid_step(const double *sorted, size_t n, size_t *distinct)
{
	double step = 0;

	*distinct = n > 0;
	for (size_t i = 1; i < n; i++) {
		double gap = sorted[i] - sorted[i - 1];

		if (same_value(sorted[i - 1], sorted[i]))
			continue;
		if (*distinct == 1 || gap < step)
			step = gap;
		++*distinct;
	}
	return step;
}

double stats_grid_step(const double *x, size_t n, size_t *distinct)
{
	double *sorted, step;

	*distinct = 0;
	if (n == 0)
		return 0;
	sorted = sorted_copy(x, n);
	step = sorted_grid_step(sorted, n, distinct);
	free(sorted);
	return step;
}

/*
 * A value read from a coarse clock stands for a cell of the grid; as a point it would look like a mode of its own.
 * Spread each group of ties evenly over its cell, as wide as the smallest gap. Two values alone show a grid only when
 * both are multiples of their distance (5 and 6, not 11 and 765).
 */
static void spread_ties(double *x, size_t n)
{
	size_t distinct;
	double step = sorted_grid_step(x, n, &distinct);

	if (distinct == 2 && fabs(x[0] / step - round(x[0] / step)) > 1e-6)
		return;
	for (size_t from = 0, to; from < n; from = to) {
		double value = x[from];

		for (to = from + 1; to < n && same_value(value, x[to]); to++)
			;
		for (size_t i = from; to - from > 1 && i < to; i++)
			x[i] = value + step * (((double)(i - from) + 0.5) / (double)(to - from) - 0.5);
	}
}

static double clamp(double x, double low, double high)
{
	return x < low ? low : x > high ? high : x;
}

/*
 * Where to cut the ascending @x in two groups with the least squares within, far values pulled in and no group smaller
 * than MODE_SHARE.
 */
static size_t split_in_two(const double *x, size_t n)
{
	double low = x[n / 20], high = x[n - 1 - n / 20], scale = high - low > 0 ? high - low : 1;
	double total = 0, left = 0, best = -1;
	size_t least = (size_t)ceil(MODE_SHARE * (double)n), cut = n / 2;

	for (size_t i = 0; i < n; i++)
		total += (clamp(x[i], low, high) - low) / scale;
	for (size_t i = 1; i + least <= n; i++) {
		double between;

		left += (clamp(x[i - 1], low, high) - low) / scale;
		between = left * left / (double)i + (total - left) * (total - left) / (double)(n - i);
		if (i >= least && between > best) {
			best = between;
			cut = i;
		}
	}
	return cut;
}

bool stats_modes(const double *x, size_t n, double margin, struct stats_modes *out)
{
	double *sorted;
	bool two;
	size_t cut;

	if (n < DIP_MIN_N)
		return false;
	sorted = sorted_copy(x, n);
	cut = split_in_two(sorted, n);
	out->center[0] = stats_median(sorted, cut);
	out->center[1] = stats_median(sorted + cut, n - cut);
	out->share[0] = (double)cut / (double)n;
	out->share[1] = 1 - out->share[0];
	spread_ties(sorted, n);
	two = sorted_dip(sorted, n) > dip_critical(n) &&
	      out->center[1] - out->center[0] > margin * fabs(out->center[0]);
	free(sorted);
	return two;
}
