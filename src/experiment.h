/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The experiment: rounds of interleaved trials, planned looks, stopping, and what remains when it is interrupted. Knows nothing of what an arm does.
 */
#ifndef PERF_RELAX_EXPERIMENT_H
#define PERF_RELAX_EXPERIMENT_H

#include "result.h"

struct experiment {
	struct result *result;		/* arms, metrics and conditions are already in it */
	size_t condition;		/* the condition that this call measures */
	size_t reference;		/* arm */
	uint64_t rounds;		/* -r; 0: until settled */
	uint64_t rounds_max;		/* upper bound when rounds is 0 */
	double budget_s;		/* --time, per condition */
	/*
	 * One trial of one arm: store one value per metric (a number or a reason) and the flags. Return 0, or -errno and @why to give up the
	 * experiment. A failed trial that should not end it sets TRIAL_FAILED.
	 */
	int (*trial)(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why);
	void *ctx;
	/* Called after each round when not NULL: for progress lines. settled: 0..1 of the plan done. */
	void (*progress)(void *ctx, const struct experiment *e, double elapsed_s);
};

/* Why an experiment ended. */
enum experiment_end { EXPERIMENT_SETTLED, EXPERIMENT_ROUNDS, EXPERIMENT_BUDGET, EXPERIMENT_INTERRUPTED, EXPERIMENT_ERROR };

/*
 * Run one condition. Arms with `absent` set are skipped. SIGINT, SIGTERM and SIGHUP (after experiment_catch_signals()) end it after the trial in
 * hand with the result marked partial. Returns 0 or -errno of the trial that gave up, with @why; what was measured is in the result in any case.
 */
int experiment_run(struct experiment *e, enum experiment_end *end, struct reason *why);

/* Install handlers that only take note; experiment_interrupted() is the signal's number or 0. experiment_restore_signals() puts the old ones back. */
void experiment_catch_signals(void);
void experiment_restore_signals(void);
int experiment_interrupted(void);

/* A seed from getrandom(2), for runs without --seed. */
uint64_t experiment_new_seed(void);

#endif
