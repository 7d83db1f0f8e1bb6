/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order statistics and intervals. Pure: no I/O, no clock; libm and libRmath only. Every function accepts n = 0 and
 * answers with -EINVAL or a documented value; none returns NaN in an interval that it calls valid. Values that are not
 * finite, or whose differences are not, are -EINVAL.
 */
#ifndef PERF_RELAX_STATS_H
#define PERF_RELAX_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct random_state;

/*
 * An estimate and its two-sided confidence interval. level: the coverage promised, 0 < level < 1; the exact one is at
 * least this.
 */
struct interval {
	double estimate;
	double low, high;	/* may be -INFINITY / INFINITY when n is too small for the level */
	double level;
	size_t n;		/* pairs; of two samples the smaller one */
};

/* These sort or permute a private copy; @x is unchanged. @n > 0, else NAN. */
double stats_median(const double *x, size_t n);
double stats_quantile(const double *x, size_t n, double q);	/* type 7 (Hyndman and Fan 1996), 0 <= q <= 1 */
double stats_mad(const double *x, size_t n);			/* median absolute deviation, not scaled */
void stats_mean_sd(const double *x, size_t n, double *mean, double *sd);	/* Welford; sd 0 when n < 2 */

/*
 * One sample (paired differences): Hodges-Lehmann estimate (median of the Walsh averages) and the Wilcoxon signed-rank
 * interval. Exact distribution (libRmath) for small n, normal approximation beyond. O(n log n), no n^2 memory.
 */
int stats_signed_rank_interval(const double *d, size_t n, double level, struct interval *out);

/* Its estimate alone; NAN when n is 0 or a value is not finite. */
double stats_hodges_lehmann(const double *d, size_t n);

/* Two-sided p-value of "centre 0" that belongs to the interval: below 1 - level just when zero is outside. */
double stats_signed_rank_p(const double *d, size_t n);

/*
 * Two samples: Hodges-Lehmann shift (median of y - x over all pairs) and the rank-sum (Mann-Whitney) interval. O((m+n)
 * log).
 */
int stats_rank_sum_interval(const double *x, size_t nx, const double *y, size_t ny, double level, struct interval *out);

double stats_rank_sum_p(const double *x, size_t nx, const double *y, size_t ny);

/* Summaries (n, mean, sd): Welch's interval of mean_y - mean_x. nx, ny >= 2. */
int stats_welch_interval(size_t nx, double mean_x, double sd_x, size_t ny, double mean_y, double sd_y, double level,
			 struct interval *out);

double stats_welch_p(size_t nx, double mean_x, double sd_x, size_t ny, double mean_y, double sd_y);

/*
 * By how much (>= 1) to widen an interval of the centre of @d (in the order in which it was measured) for serial
 * dependence: the square root of (1 + r) / (1 - r), r the lag-1 autocorrelation of the ranks, on the safe side. 1 when
 * none is seen, or n < 6.
 */
double stats_dependence(const double *d, size_t n);

/*
 * Two modes: the dip test of Hartigan and Hartigan (1985) at 1 %, with ties spread over the cell of their grid, and
 * centres further apart than @margin (relative). n < 20 is never enough. Returns whether there are two, and then @out:
 * the medians of the two groups and their shares.
 */
struct stats_modes {
	double center[2], share[2];
};
bool stats_modes(const double *x, size_t n, double margin, struct stats_modes *out);
double stats_dip(const double *x, size_t n);	/* 1 / (2 n) ... 0.25; NAN when n is 0 */

/* The smallest gap between different values, and how many different ones there are; 0 when they are all the same. */
double stats_grid_step(const double *x, size_t n, size_t *distinct);

/* Percentile bootstrap of the Hodges-Lehmann estimate or the median: the cross-check in tests. */
int stats_bootstrap_interval(const double *d, size_t n, double level, size_t resamples, struct random_state *r,
			     struct interval *out);

#endif
