/* SPDX-License-Identifier: GPL-2.0-only */
/* The noise models of the simulation. */
#include <math.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "noise.h"

#define USUAL 100.0	/* the undisturbed value of the reference */

/* Standard normal: the polar method of Marsaglia and Bray (1964), one of the pair. */
double noise_normal(struct random_state *r)
{
	double x, y, s;

	do {
		x = 2 * random_unit(r) - 1;
		y = 2 * random_unit(r) - 1;
		s = x * x + y * y;
	} while (s >= 1 || s <= 0);
	return x * sqrt(-2 * log(s) / s);
}

static double exponential(struct random_state *r)
{
	return -log1p(-random_unit(r));
}

void noise_begin(struct noise *s, struct random_state *random, size_t trials)
{
	*s = (struct noise){ .random = random, .trials = trials };
	s->state = noise_normal(random);
	for (size_t i = 0; i < NOISE_ARMS; i++)
		s->arm_state[i] = noise_normal(random);
	s->phase = 2 * M_PI * random_unit(random);
}

static double clean(const struct noise *s, double effect, double sd)
{
	return USUAL * exp(effect) * (1 + sd * noise_normal(s->random));
}

static double trial_normal(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return clean(s, effect, 0.02);
}

static double trial_log_normal(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return USUAL * exp(effect) * (0.96 + 0.04 * exp(0.7 * noise_normal(s->random)));
}

static double trial_bimodal(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return clean(s, effect, 0.005) * (random_unit(s->random) < 0.5 ? 1.08 : 1);
}

/* Stays in a mode for twenty trials on average: a frequency step, a huge page won or lost. */
static double trial_sticky(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	if (random_unit(s->random) < 0.05)
		s->state = -s->state;
	return clean(s, effect, 0.01) * (s->state > 0 ? 1.15 : 1);
}

/* A hypervisor takes the CPU away in one trial of twenty. */
static double trial_outliers(struct noise *s, size_t arm, double effect)
{
	double value = clean(s, effect, 0.02);

	(void)arm;
	if (random_unit(s->random) < 0.05)
		value *= 10 * exp(log(25) * random_unit(s->random));
	return value;
}

static double trial_heavy(struct noise *s, size_t arm, double effect)
{
	double cauchy = noise_normal(s->random) / noise_normal(s->random);

	(void)arm;
	return USUAL * exp(effect + fmax(-30, fmin(30, 0.006 * cauchy)));
}

/* A neighbour that comes and goes: bursts of ten trials, half as slow again. */
static double trial_bursts(struct noise *s, size_t arm, double effect)
{
	double value = clean(s, effect, 0.015);

	(void)arm;
	if (random_unit(s->random) < (s->state > 1 ? 0.1 : 0.02))
		s->state = s->state > 1 ? 0 : 2;
	return s->state > 1 ? value * (1.5 + 0.2 * exponential(s->random)) : value;
}

/* 20 % over the run, and a slow swing on top. */
static double trial_drift(struct noise *s, size_t arm, double effect)
{
	double at = (double)s->time / (double)s->trials;

	(void)arm;
	return clean(s, effect, 0.015) * (1 + 0.2 * at + 0.05 * sin(2 * M_PI * 4 * at + s->phase));
}

static double trial_ar1(struct noise *s, size_t arm, double effect)
{
	const double rho = 0.95;

	(void)arm;
	s->state = rho * s->state + sqrt(1 - rho * rho) * noise_normal(s->random);
	return clean(s, effect, 0.01) * exp(0.05 * s->state);
}

static double trial_counts(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return qpois(random_unit(s->random), 2000 * exp(effect), 1, 0);
}

static double trial_few_counts(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return qpois(random_unit(s->random), 4 * exp(effect), 1, 0);
}

/* A clock whose step is a quarter of the margin: most values occur several times. */
static double trial_ties(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return 0.25 * round(clean(s, effect, 0.015) / 0.25);
}

/* A clock whose step is twice the margin, and hardly any other noise. */
static double trial_coarse(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return 2 * round((clean(s, effect, 0.004) + s->phase / M_PI) / 2);
}

static double trial_constant(struct noise *s, size_t arm, double effect)
{
	(void)s;
	(void)arm;
	return USUAL * exp(effect);
}

static double trial_around_zero(struct noise *s, size_t arm, double effect)
{
	(void)arm;
	return effect + noise_normal(s->random);
}

/* The arm itself wanders: its code's place, its own pages. The effects d are an AR(1) process. */
static double wander(struct noise *s, size_t arm, double effect, double rho)
{
	s->arm_state[arm] = rho * s->arm_state[arm] + sqrt(1 - rho * rho) * noise_normal(s->random);
	return USUAL * exp(effect + 0.015 * s->arm_state[arm]);
}

static double trial_arm_ar1_2(struct noise *s, size_t arm, double effect)
{
	return wander(s, arm, effect, 0.2);
}

static double trial_arm_ar1_5(struct noise *s, size_t arm, double effect)
{
	return wander(s, arm, effect, 0.5);
}

const struct noise_model noise_models[] = {
	{ .name = "normal", .what = "normal, 2 %", .trial = trial_normal },
	{ .name = "log-normal", .what = "a floor and a log-normal tail", .trial = trial_log_normal },
	{ .name = "bimodal", .what = "two modes 8 % apart, drawn anew each trial", .trial = trial_bimodal },
	{ .name = "sticky", .what = "two modes 15 % apart, each for 20 trials on average", .trial = trial_sticky },
	{ .name = "outliers", .what = "5 % of the trials 10 to 250 times as long", .trial = trial_outliers },
	{ .name = "heavy", .what = "Cauchy in logs: no mean, no variance", .trial = trial_heavy },
	{ .name = "bursts", .what = "a neighbour slows runs of 10 trials by half or more", .trial = trial_bursts },
	{ .name = "drift", .what = "20 % over the run and a swing of 5 %", .trial = trial_drift },
	{ .name = "ar1", .what = "AR(1) in time, 5 %, correlation of neighbouring trials 0.95", .trial = trial_ar1 },
	{ .name = "counts", .what = "Poisson counts, mean 2000", .trial = trial_counts },
	{ .name = "few-counts",
	  .what = "Poisson counts, mean 4: zeros, compared as differences",
	  .trial = trial_few_counts },
	{ .name = "ties", .what = "normal, 1.5 %, read in steps of 0.25 %", .trial = trial_ties },
	{ .name = "coarse", .what = "normal, 0.4 %, read in steps of 2 %", .trial = trial_coarse },
	{ .name = "constant", .what = "no variance at all", .trial = trial_constant },
	{ .name = "around-zero",
	  .what = "values around 0, compared as differences",
	  .additive = true,
	  .trial = trial_around_zero },
	{ .name = "arm-ar1-0.2",
	  .what = "each arm by itself wanders: effects are AR(1), 0.2",
	  .dependent_arm = true,
	  .trial = trial_arm_ar1_2 },
	{ .name = "arm-ar1-0.5", .what = "the same, 0.5", .dependent_arm = true, .trial = trial_arm_ar1_5 },
};
const size_t noise_model_count = ARRAY_SIZE(noise_models);
