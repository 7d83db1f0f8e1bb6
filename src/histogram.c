/* SPDX-License-Identifier: GPL-2.0-only */
/* Latency histogram. */
#include <math.h>
#include <string.h>

#include "histogram.h"

#define STEPS (1u << HISTOGRAM_STEP_BITS)

void histogram_reset(struct histogram *h)
{
	memset(h, 0, sizeof(*h));
}

static unsigned int bin_of(uint64_t value)
{
	unsigned int shift;

	if (value < STEPS)
		return (unsigned int)value;
	shift = 63u - (unsigned int)__builtin_clzll(value) - HISTOGRAM_STEP_BITS;
	return ((shift + 1) << HISTOGRAM_STEP_BITS) + (unsigned int)((value >> shift) - STEPS);
}

/* Middle of a bin. */
static double value_of_bin(unsigned int bin)
{
	unsigned int shift;

	if (bin < STEPS)
		return bin;
	shift = (bin >> HISTOGRAM_STEP_BITS) - 1;
	return ldexp((double)(STEPS + (bin & (STEPS - 1))) + 0.5, (int)shift) - 0.5;
}

void histogram_add(struct histogram *h, int64_t value)
{
	h->count++;
	h->sum += (double)value;
	if (value < 0) {
		h->negative++;
		value = 0;
	}
	if ((uint64_t)value > h->max)
		h->max = (uint64_t)value;
	h->bin[bin_of((uint64_t)value)]++;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	into->count += from->count;
	into->negative += from->negative;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
	for (unsigned int i = 0; i < HISTOGRAM_BINS; i++)
		into->bin[i] += from->bin[i];
}

double histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank, seen = 0;

	if (!h->count)
		return NAN;
	if (q >= 1)
		return (double)h->max;
	rank = (uint64_t)ceil(q * (double)h->count);
	if (!rank)
		rank = 1;
	for (unsigned int i = 0; i < HISTOGRAM_BINS; i++) {
		seen += h->bin[i];
		if (seen >= rank)
			return fmin(value_of_bin(i), (double)h->max);
	}
	return (double)h->max;
}
