/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planned looks: how sure each one must be so that all of them together keep the promise.
 *
 * Lan and DeMets (Biometrika 70 (1983) 659-663): the error allowed up to the fraction t of the plan is given in
 * advance, here by their function that resembles O'Brien and Fleming's rule, a(t) = 2 - 2 Phi(z(1 - a/2) / sqrt(t)),
 * for each side by itself (a = half of the error). The boundary of each look follows by numerical integration over the
 * paths that no earlier look has stopped (Armitage, McPherson and Rowe, J. R. Stat. Soc. A 132 (1969) 235-244). A
 * confidence interval at each look with the level of its boundary is a repeated confidence interval (Jennison and
 * Turnbull, J. R. Stat. Soc. B 51 (1989) 305-361): the chance that any of them misses the true effect is at most 1 -
 * level, whichever of the verdicts stops the run.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "util.h"
#include "verdict.h"

/*
 * Beyond 8 standard deviations a normal variable has 1e-15 of its mass: nothing that a level printed with digits could
 * show.
 */
#define Z_FAR 8.0
#define STEP_MIN 0.005	/* between two looks; closer ones would need a finer grid */
/* Points over the continuation region (odd: Simpson): at least two per standard deviation of the smallest step. */
#define GRID 201

/*
 * The density of the sum B(t) (a Wiener process without drift) over the paths that have not been stopped, on a grid of
 * the continuation region [-bound, bound] of the last look, times Simpson's weights.
 */
struct front {
	double bound;
	double mass[GRID];
};

static double grid_point(double bound, size_t i)
{
	return bound * (2 * (double)i / (GRID - 1) - 1);
}

/* Phi(-x) by libm: right far out in the tail, and several times as fast as libRmath's. */
static double upper_tail(double x)
{
	return erfc(x * M_SQRT1_2) / 2;
}

/* The chance that a path of @front lies outside +-@bound after a further time @step. */
static double exit_chance(const struct front *front, double step, double bound)
{
	double sd = sqrt(step), chance = 0;

	for (size_t i = 0; i < GRID; i++) {
		double at = grid_point(front->bound, i);

		chance += front->mass[i] * (upper_tail((bound - at) / sd) + upper_tail((bound + at) / sd));
	}
	return chance;
}

static double simpson_weight(size_t i, double bound)
{
	double h = 2 * bound / (GRID - 1);

	return h / 3 * (i == 0 || i == GRID - 1 ? 1 : i % 2 ? 4 : 2);
}

/*
 * Move @front on by @step to a look whose continuation region is +-@bound. @front NULL: from the start, where all paths
 * are at 0.
 */
static void advance(const struct front *front, double step, double bound, struct front *next)
{
	double sd = sqrt(step);

	next->bound = bound;
	for (size_t k = 0; k < GRID; k++) {
		double at = grid_point(bound, k), density = 0;

		if (!front)
			density = dnorm(at / sd, 0, 1, 0) / sd;
		for (size_t i = 0; front && i < GRID; i++) {
			double z = (at - grid_point(front->bound, i)) / sd;

			if (fabs(z) < Z_FAR + 1)
				density += front->mass[i] * M_1_SQRT_2PI * exp(-z * z / 2) / sd;
		}
		next->mass[k] = density * simpson_weight(k, bound);
	}
}

/* The boundary (in standard deviations of B at @time) that lets @spend of the error out at this look. */
static double find_boundary(const struct front *front, double step, double time, double spend)
{
	double low = 0, high = Z_FAR;

	if (!front)
		return fmin(-qnorm(spend / 2, 0, 1, 1, 0), Z_FAR);
	for (int i = 0; i < 44; i++) {
		double z = (low + high) / 2;

		if (exit_chance(front, step, z * sqrt(time)) > spend)
			low = z;
		else
			high = z;
	}
	return high;	/* the side that spends no more than allowed */
}

static int check_plan(double level, const double *fraction, size_t count)
{
	if (!(level > 0 && level < 1) || count == 0 || count > LOOKS_MAX)
		return -EINVAL;
	for (size_t k = 0; k < count; k++) {
		double before = k ? fraction[k - 1] : 0;

		if (!(fraction[k] >= before + STEP_MIN && fraction[k] <= 1))
			return -EINVAL;
	}
	return fraction[count - 1] >= 1 ? 0 : -EINVAL;
}

int looks_plan(struct looks *looks, double level, const double *fraction, size_t count)
{
	double alpha = 1 - level, spent = 0, time = 0;
	double z_side = -qnorm(alpha / 4, 0, 1, 1, 0);
	struct front *front, *next;
	int err = check_plan(level, fraction, count);

	if (err)
		return err;
	front = util_calloc(1, sizeof(*front));
	next = util_calloc(1, sizeof(*next));
	looks->level = level;
	looks->count = count;
	for (size_t k = 0; k < count; k++) {
		double t = fraction[k];
		double may_spend = k + 1 == count ? alpha : 4 * upper_tail(z_side / sqrt(t));
		double z = find_boundary(k ? front : NULL, t - time, t, may_spend - spent);

		looks->fraction[k] = t;
		looks->look_level[k] = 1 - 2 * upper_tail(z);
		if (k + 1 < count) {
			struct front *swap = front;

			advance(k ? front : NULL, t - time, z * sqrt(t), next);
			front = next;
			next = swap;
		}
		spent = may_spend;
		time = t;
	}
	free(front);
	free(next);
	return 0;
}

int looks_plan_usual(struct looks *looks, double level)
{
	/*
	 * Denser early, because effects of a factor (pause against nop) settle at once, and spending almost nothing
	 * there keeps the last look close to the full level.
	 */
	static const double usual[] = { 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.55, 0.7, 0.85, 1.0 };

	return looks_plan(looks, level, usual, ARRAY_SIZE(usual));
}
