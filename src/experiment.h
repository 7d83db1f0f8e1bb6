/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The experiment: rounds of interleaved trials, planned looks, stopping, and what remains when it is interrupted. Knows nothing of what an arm does.
 */
#ifndef PERF_RELAX_EXPERIMENT_H
#define PERF_RELAX_EXPERIMENT_H

#include <sys/types.h>

#include "result.h"

#define EXPERIMENT_ROUNDS_MAX 100000

/* Why an experiment ended. */
enum experiment_end {
	EXPERIMENT_SETTLED,	/* every verdict on the headline metric was reached at a planned look */
	EXPERIMENT_ROUNDS,	/* the rounds asked for were done */
	EXPERIMENT_BUDGET,	/* time was up */
	EXPERIMENT_INTERRUPTED,	/* a signal: the result is partial */
	EXPERIMENT_ERROR,	/* a trial gave up: the result is partial */
};

struct experiment {
	/* set by the caller */
	struct result *result;		/* arms, metrics and conditions are already in it */
	size_t condition;		/* the condition that this call measures */
	size_t reference;		/* arm */
	uint64_t rounds;		/* -r; 0: until settled */
	double budget_s;		/* --time, per condition; with rounds > 0 it is an upper bound only when > 0 */
	/*
	 * One trial of one arm: store one value per metric (a number or a reason) and the flags. Return 0, or -errno and @why to give up the
	 * experiment. A failed trial that should not end it sets TRIAL_FAILED.
	 */
	int (*trial)(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why);
	void *ctx;
	/* Called after each round when not NULL: for progress lines. */
	void (*progress)(void *ctx, const struct experiment *e);
	void *progress_ctx;

	/* kept by experiment_run(), for progress and the final comparison */
	size_t round;			/* rounds done */
	double elapsed_s;
	size_t looks_done;
	double level;			/* confidence level of the last look: the one that verdicts are given at */
	unsigned int flags;		/* COMPARE_EARLY when stopped before the last look */
	size_t open_arms;		/* arms still `cannot tell` at the last look */
	struct comparison widest;	/* of those comparisons, the one with the widest interval; n = 0: no look yet */
};

/*
 * Run one condition. Arms with `absent` set are skipped. SIGINT, SIGTERM and SIGHUP (after experiment_catch_signals()) end it after the trial in
 * hand with the result marked partial. Returns 0 or -errno of the trial that gave up, with @why; what was measured is in the result in any case.
 * When all conditions are done, result_compare(r, reference, e->level, e->flags) gives the verdicts.
 */
int experiment_run(struct experiment *e, enum experiment_end *end, struct reason *why);

/* Install handlers that only take note; experiment_interrupted() is the signal's number or 0. experiment_restore_signals() puts the old ones back. */
void experiment_catch_signals(void);
void experiment_restore_signals(void);
int experiment_interrupted(void);

/*
 * Signals that were sent to this process alone (not those of a terminal, which the whole process group gets) are passed on to @pid from now on; 0: to
 * nobody. Fits command_run()'s callback.
 */
void experiment_forward_signals(pid_t pid);

/* A seed from getrandom(2), for runs without --seed. Below 2^53, so that every JSON reader keeps it. */
uint64_t experiment_new_seed(void);

#endif
