/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Latency histogram of bounded relative error over the whole range of 64 bits, constant memory, no value dropped or
 * clamped: linear below 2^7, then 128 steps for each power of two (at most 0.8 % wide), the scheme of HdrHistogram.
 * Pure.
 */
#ifndef PERF_RELAX_HISTOGRAM_H
#define PERF_RELAX_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_STEP_BITS 7
#define HISTOGRAM_BINS ((64 - HISTOGRAM_STEP_BITS + 1) << HISTOGRAM_STEP_BITS)

struct histogram {
	uint64_t count, negative;	/* negative: values below 0, counted apart; they are part of count */
	uint64_t max;
	double sum;
	uint64_t bin[HISTOGRAM_BINS];
};

void histogram_reset(struct histogram *h);
/* A negative value (counters of two CPUs that disagree) counts as such, and as 0 in quantiles. */
void histogram_add(struct histogram *h, int64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* Middle of the bin that holds the quantile, the exact maximum for 1; NAN when empty. 0 <= q <= 1. */
double histogram_quantile(const struct histogram *h, double q);

#endif
