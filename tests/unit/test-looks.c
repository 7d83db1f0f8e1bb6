/* SPDX-License-Identifier: GPL-2.0-only */
/* The plan of looks, against published boundaries and against simulated paths. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "util.h"
#include "verdict.h"

static void near_or_fail(double a, double b, double tolerance, const char *what, int line)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("line %d: %s is %.17g, not %.17g", line, what, a, b);
}

#define assert_near(a, b, tolerance) near_or_fail(a, b, tolerance, #a, __LINE__)

static double normal(struct random_state *r)
{
	return sqrt(-2 * log1p(-random_unit(r))) * cos(2 * M_PI * random_unit(r));
}

static double boundary(double level)
{
	return -qnorm((1 - level) / 2, 0, 1, 1, 0);
}

/* Boundaries of the O'Brien-Fleming-like spending function for two-sided 5 % as printed in the literature on it. */
static void test_looks_published(void **state)
{
	static const double five[] = { 0.2, 0.4, 0.6, 0.8, 1 }, five_z[] = { 4.8769, 3.3569, 2.6803, 2.2898, 2.0310 };
	static const double four[] = { 0.25, 0.5, 0.75, 1 }, four_z[] = { 4.3326, 2.9631, 2.3590, 2.0141 };
	struct looks looks;

	(void)state;
	assert_int_equal(looks_plan(&looks, 0.95, five, 5), 0);
	assert_int_equal(looks.count, 5);
	for (size_t k = 0; k < 5; k++)
		assert_near(boundary(looks.look_level[k]), five_z[k], 3e-4);
	assert_int_equal(looks_plan(&looks, 0.95, four, 4), 0);
	for (size_t k = 0; k < 4; k++)
		assert_near(boundary(looks.look_level[k]), four_z[k], 3e-4);
	assert_int_equal(looks_plan(&looks, 0.99, (const double[]){ 1 }, 1), 0);
	assert_near(looks.look_level[0], 0.99, 1e-12);
}

/* The usual plan, checked by paths of a Wiener process instead of integration. */
static void test_looks_by_simulation(void **state)
{
	enum { PATHS = 40000 };
	struct random_state r;
	struct looks looks;
	size_t stopped = 0;

	(void)state;
	random_seed(&r, 13);
	assert_int_equal(looks_plan_usual(&looks, 0.9), 0);
	assert_near(looks.fraction[looks.count - 1], 1, 0);
	for (size_t k = 0; k < looks.count; k++)
		assert_true(looks.look_level[k] > 0.9 && looks.look_level[k] < 1 &&
			    (k == 0 || looks.look_level[k] <= looks.look_level[k - 1]));
	for (size_t p = 0; p < PATHS; p++) {
		double at = 0, time = 0;
		bool out = false;

		for (size_t k = 0; k < looks.count; k++) {
			at += sqrt(looks.fraction[k] - time) * normal(&r);
			time = looks.fraction[k];
			out = out || fabs(at) / sqrt(time) > boundary(looks.look_level[k]);
		}
		stopped += out;
	}
	assert_in_range(stopped, (size_t)qbinom(0.0005, PATHS, 0.1, 1, 0), (size_t)qbinom(0.9995, PATHS, 0.1, 1, 0));
}

static void test_looks_refused(void **state)
{
	double many[LOOKS_MAX + 1];
	struct looks looks;

	(void)state;
	for (size_t i = 0; i <= LOOKS_MAX; i++)
		many[i] = (double)(i + 1) / (LOOKS_MAX + 1);
	assert_int_equal(looks_plan(&looks, 0.95, many, LOOKS_MAX + 1), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, many, 0), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, many, 3), -EINVAL);	/* does not end at 1 */
	assert_int_equal(looks_plan(&looks, 0.95, (const double[]){ 0.5, 0.5, 1 }, 3), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, (const double[]){ 0.5, 0.4, 1 }, 3), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, (const double[]){ 0, 1 }, 2), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, (const double[]){ 1.5 }, 1), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0.95, (const double[]){ NAN, 1 }, 2), -EINVAL);
	assert_int_equal(looks_plan(&looks, 1, (const double[]){ 1 }, 1), -EINVAL);
	assert_int_equal(looks_plan(&looks, 0, (const double[]){ 1 }, 1), -EINVAL);
	assert_int_equal(looks_plan_usual(&looks, NAN), -EINVAL);
	for (size_t i = 0; i < LOOKS_MAX; i++)
		many[i] = (double)(i + 1) / LOOKS_MAX;
	assert_int_equal(looks_plan(&looks, 0.999999, many, LOOKS_MAX), 0);
	for (size_t k = 0; k < LOOKS_MAX; k++)
		assert_true(looks.look_level[k] > 0 && looks.look_level[k] < 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_looks_published),
		cmocka_unit_test(test_looks_by_simulation),
		cmocka_unit_test(test_looks_refused),
	};

	return cmocka_run_group_tests_name("looks", tests, NULL, NULL);
}
