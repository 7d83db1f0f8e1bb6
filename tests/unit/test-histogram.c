/* SPDX-License-Identifier: GPL-2.0-only */
/* The latency histogram against sorted values: the error is bounded, nothing is dropped or clamped. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "histogram.h"
#include "util.h"

/* Half of a bin of 1/128, and the rounding of a bin's middle. */
#define ERROR_MAX (0.5 / (1 << HISTOGRAM_STEP_BITS))

static int compare_u64(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static struct histogram *fresh(void)
{
	struct histogram *h = malloc(sizeof(*h));

	assert_non_null(h);
	histogram_reset(h);
	return h;
}

static void assert_near(double got, double want)
{
	if (fabs(got - want) > ERROR_MAX * want + 1e-9)
		fail_msg("%.17g is not within %g of %.17g", got, ERROR_MAX, want);
}

/* One value alone is found again, over the whole range. */
static void test_bounded_error(void **state)
{
	struct histogram *h = fresh();

	(void)state;
	for (unsigned int bit = 0; bit < 63; bit++)
		for (int step = -2; step <= 2; step++) {
			int64_t value = (int64_t)(UINT64_C(1) << bit) + step;

			if (value < 0)
				continue;
			histogram_reset(h);
			histogram_add(h, value);
			assert_near(histogram_quantile(h, 0.5), (double)value);
			assert_true(histogram_quantile(h, 1) == (double)value);
			/* The middle of its bin, were a larger value there too. */
			histogram_add(h, INT64_MAX);
			assert_near(histogram_quantile(h, 0.5), (double)value);
		}
	histogram_reset(h);
	histogram_add(h, INT64_MAX);
	assert_near(histogram_quantile(h, 0.5), 9223372036854775807.0);
	free(h);
}

/* Below 128 every value has a bin of its own. */
static void test_small_values_are_exact(void **state)
{
	struct histogram *h = fresh();

	(void)state;
	for (int i = 0; i < 100; i++)
		histogram_add(h, i);
	for (int i = 1; i <= 100; i++)
		assert_true(histogram_quantile(h, i / 100.0 - 0.001) == i - 1);
	assert_int_equal(h->count, 100);
	assert_true(h->sum == 4950);
	free(h);
}

static void test_quantiles(void **state)
{
	static const double q[] = { 0, 0.001, 0.01, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 0.9999, 1 };
	enum { N = 20011 };
	struct histogram *h = fresh(), *parts[3];
	uint64_t *x = calloc(N, sizeof(*x));
	struct random_state random;

	(void)state;
	assert_non_null(x);
	random_seed(&random, 5);
	for (int shape = 0; shape < 4; shape++) {
		histogram_reset(h);
		for (int i = 0; i < 3; i++)
			parts[i] = fresh();
		for (int i = 0; i < N; i++) {
			double u = random_unit(&random);

			/* uniform; ten decades; nearly all equal; small with a far tail */
			x[i] = shape == 0   ? random_below(&random, 1000000)
			       : shape == 1 ? (uint64_t)pow(10, 10 * u)
			       : shape == 2 ? 12345 + (u > 0.999)
			       : u < 0.99   ? random_below(&random, 90)
					    : (uint64_t)(1e12 * u);
			histogram_add(h, (int64_t)x[i]);
			histogram_add(parts[i % 3], (int64_t)x[i]);
		}
		qsort(x, N, sizeof(*x), compare_u64);
		for (size_t i = 0; i < ARRAY_SIZE(q); i++) {
			size_t rank = (size_t)ceil(q[i] * N);

			assert_near(histogram_quantile(h, q[i]), (double)x[rank ? rank - 1 : 0]);
		}
		assert_true(histogram_quantile(h, 1) == (double)x[N - 1]);
		/* Merged parts are the whole. */
		for (int i = 1; i < 3; i++)
			histogram_merge(parts[0], parts[i]);
		assert_int_equal(parts[0]->count, N);
		assert_int_equal(parts[0]->max, h->max);
		for (size_t i = 0; i < HISTOGRAM_BINS; i++)
			assert_int_equal(parts[0]->bin[i], h->bin[i]);
		for (int i = 0; i < 3; i++)
			free(parts[i]);
	}
	free(x);
	free(h);
}

static void test_negative_and_empty(void **state)
{
	struct histogram *h = fresh();

	(void)state;
	assert_true(isnan(histogram_quantile(h, 0.5)));
	histogram_add(h, -5);
	histogram_add(h, INT64_MIN);
	histogram_add(h, 7);
	assert_int_equal(h->count, 3);
	assert_int_equal(h->negative, 2);
	assert_true(histogram_quantile(h, 0.5) == 0);
	assert_true(histogram_quantile(h, 1) == 7);
	histogram_reset(h);
	assert_int_equal(h->count, 0);
	assert_true(isnan(histogram_quantile(h, 1)));
	free(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounded_error),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_negative_and_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
