/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Noise that measurements meet, as streams of trials in the order of time: whatever is disturbed by the machine depends
 * on when a trial ran, not on which arm it was. Only the arm-* models disturb an arm as such.
 */
#ifndef PERF_RELAX_SIM_NOISE_H
#define PERF_RELAX_SIM_NOISE_H

#include <stdbool.h>
#include <stddef.h>

#include "util.h"

#define NOISE_ARMS 3	/* reference, arm, the reference's twin */

struct noise {
	struct random_state *random;
	size_t trials;		/* planned, to scale slow drift */
	size_t time;		/* trials so far */
	double state;		/* of an AR(1) process or a mode */
	double arm_state[NOISE_ARMS];
	double phase;
};

struct noise_model {
	const char *name;
	const char *what;	/* for the table's legend */
	bool additive;		/* values around zero: the effect is added, in units of margin_abs */
	bool dependent_arm;	/* random order cannot protect: the inflation must */
	/* One trial of @arm whose value is exp(@effect) times the usual one. */
	double (*trial)(struct noise *s, size_t arm, double effect);
};

extern const struct noise_model noise_models[];
extern const size_t noise_model_count;

#define NOISE_MARGIN_ABS 0.25	/* of additive models: an effect of log(1 + margin) moves values by this */

void noise_begin(struct noise *s, struct random_state *random, size_t trials);
double noise_normal(struct random_state *r);

#endif
