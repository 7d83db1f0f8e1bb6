/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rounds of interleaved trials. A round runs every arm once in an order drawn anew (rule 4), so that whatever drifts (frequency, temperature,
 * neighbours) meets all arms alike. Without -r the run goes on until each comparison on the headline metric is settled, but it may only stop at looks
 * that were planned before the first round, at the confidence that the plan gives to each (verdict.h): looking often must not lie.
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "experiment.h"

/* Words of the result file. */
static const char *const end_name[] = {
	[EXPERIMENT_SETTLED] = "settled", [EXPERIMENT_ROUNDS] = "rounds", [EXPERIMENT_BUDGET] = "budget",
	[EXPERIMENT_INTERRUPTED] = "interrupted", [EXPERIMENT_ERROR] = "error",
};

static const int caught[] = { SIGINT, SIGTERM, SIGHUP };
static struct sigaction old_action[ARRAY_SIZE(caught)];
static volatile sig_atomic_t interrupted;

static volatile pid_t forward_to;

static void note_signal(int sig, siginfo_t *info, void *context)
{
	(void)context;
	interrupted = sig;
	if (forward_to > 0 && info->si_code == SI_USER)
		kill(forward_to, sig);
}

void experiment_forward_signals(pid_t pid)
{
	forward_to = pid;
}

void experiment_catch_signals(void)
{
	struct sigaction action = { .sa_sigaction = note_signal };

	/* The first signal ends the run in order; the second, by SA_RESETHAND, ends the process. */
	action.sa_flags = (int)SA_RESETHAND | SA_SIGINFO;
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++) {
		sigaction(caught[i], NULL, &old_action[i]);
		if (old_action[i].sa_handler != SIG_IGN)	/* nohup, or started with & in a script */
			sigaction(caught[i], &action, NULL);
	}
}

void experiment_restore_signals(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(caught); i++)
		sigaction(caught[i], &old_action[i], NULL);
}

int experiment_interrupted(void)
{
	return interrupted;
}

uint64_t experiment_new_seed(void)
{
	struct timespec now;
	uint64_t seed;

	if (getrandom(&seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		clock_gettime(CLOCK_REALTIME, &now);
		seed = (uint64_t)now.tv_sec * 1000000007u + (uint64_t)now.tv_nsec;
	}
	return seed & ((UINT64_C(1) << 53) - 1);
}

/* By system call on purpose: under PR_TSC_SIGSEGV the vDSO's clock would kill the process, and this is read once a round only. */
static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/*
 * Compare every arm on the headline metric at @level; count those that cannot tell yet and keep the widest of them. By the same code as the final
 * comparison, null control and all: a verdict that this would withdraw is not settled.
 */
static void look(struct experiment *e, double level)
{
	struct result *r = e->result;
	size_t metric = result_headline(r);
	size_t open_controls = 0, asked_for = 0;
	double widest = -1;
	int err = result_compare_headline(r, e->condition, e->reference, level);

	e->open_arms = 0;
	e->level = level;
	for (size_t arm = 0; arm < r->narm; arm++) {
		const struct comparison *c;
		double width;

		if (arm == e->reference || r->arm[arm].absent || result_series(r, e->condition, arm, metric)->why)
			continue;
		c = err ? NULL : result_find_comparison(r, e->condition, metric, arm);
		if (!c || c->verdict == VERDICT_CANNOT_TELL)
			*(r->arm[arm].control ? &open_controls : &e->open_arms) += 1;
		asked_for += !r->arm[arm].control;
		if (!c)
			continue;
		width = c->interval.high - c->interval.low;
		if (width > widest || isnan(width)) {
			widest = width;
			e->widest = *c;
		}
	}
	/* One arm by itself: how well it is known shows in its control. */
	if (!asked_for)
		e->open_arms = open_controls;
	e->looks_done++;
}

static int run_trial(struct experiment *e, size_t arm, struct value *values, struct reason *why)
{
	struct result *r = e->result;
	unsigned int flags = 0;
	int err;

	for (size_t m = 0; m < r->nmetric; m++)
		values[m] = value_missing("the trial gave no value");
	err = e->trial(e->ctx, e->condition, arm, e->round, values, &flags, why);
	if (err)
		return err;
	for (size_t m = 0; m < r->nmetric; m++)
		if (!(flags & TRIAL_FAILED))
			result_put(r, e->condition, arm, m, e->round, values[m]);
	result_put_flags(r, e->condition, arm, e->round, flags);
	return 0;
}

/* One round: every arm once, in random order. A round that a signal cuts short stays, its missing trials are gaps. */
static int run_round(struct experiment *e, struct random_state *random, size_t *order, size_t narms, struct value *values, struct reason *why)
{
	int err = 0;

	random_shuffle(random, order, narms);
	for (size_t i = 0; i < narms && !err; i++) {
		if (interrupted)
			return -EINTR;
		err = run_trial(e, order[i], values, why);
	}
	return err;
}

/* Should the run end now? Looks are taken when their share of the budget has passed. */
static bool is_done(struct experiment *e, const struct looks *looks, enum experiment_end *end)
{
	double share = e->budget_s > 0 ? e->elapsed_s / e->budget_s : 0;
	size_t due = e->looks_done;

	if (e->rounds) {
		*end = e->round >= e->rounds ? EXPERIMENT_ROUNDS : EXPERIMENT_BUDGET;
		if (e->round < e->rounds && share < 1)
			return false;
		if (e->round < e->rounds)
			e->result->partial = true;
		look(e, e->result->rule.level);
		return true;
	}
	if (e->round >= EXPERIMENT_ROUNDS_MAX)
		share = 1;
	if (due >= looks->count || share < looks->fraction[due])
		return false;
	while (due + 1 < looks->count && share >= looks->fraction[due + 1])
		due++;		/* a slow round passed several looks: only the last of them is taken */
	look(e, looks->look_level[due]);
	e->looks_done = due + 1;
	*end = e->open_arms ? EXPERIMENT_BUDGET : EXPERIMENT_SETTLED;
	if (!e->open_arms && due + 1 < looks->count)
		e->flags |= COMPARE_EARLY;
	return !e->open_arms || due + 1 >= looks->count;
}

int experiment_run(struct experiment *e, enum experiment_end *end, struct reason *why)
{
	struct result *r = e->result;
	size_t *order = util_calloc(r->narm, sizeof(*order)), narms = 0;
	struct value *values = util_calloc(r->nmetric, sizeof(*values));
	struct random_state random;
	struct looks looks;
	double start;
	int err;

	random_seed(&random, r->seed + e->condition);
	err = looks_plan_usual(&looks, r->rule.level);
	if (err) {
		reason_set(why, -err, "no plan of looks for a confidence of %g", r->rule.level);
		goto out;
	}
	for (size_t i = 0; i < r->narm; i++)
		if (!r->arm[i].absent)
			order[narms++] = i;
	e->round = 0;
	e->looks_done = 0;
	e->flags = 0;
	e->level = r->rule.level;
	start = now_s();
	for (*end = EXPERIMENT_ERROR;;) {
		err = run_round(e, &random, order, narms, values, why);
		if (err)
			break;
		e->round++;
		e->elapsed_s = now_s() - start;
		if (is_done(e, &looks, end))
			break;
		if (e->progress)
			e->progress(e->progress_ctx, e);
	}
	e->elapsed_s = now_s() - start;
	if (err == -EINTR && interrupted) {
		*end = EXPERIMENT_INTERRUPTED;
		err = 0;
	} else if (err) {
		*end = EXPERIMENT_ERROR;
	}
	if (*end == EXPERIMENT_INTERRUPTED || *end == EXPERIMENT_ERROR) {
		r->partial = true;
		/* Between two looks: the confidence of the last one passed keeps the promise, as if that look were taken now. */
		if (!e->rounds)
			e->level = looks.look_level[e->looks_done ? e->looks_done - 1 : 0];
	}
	if (r->partial)
		result_warn(r, WARN_PARTIAL, NULL);
	result_condition_end(r, e->condition, end_name[*end], e->rounds ? 0 : looks.count, e->rounds ? 0 : e->looks_done);
	r->elapsed_s += e->elapsed_s;
out:
	free(order);
	free(values);
	return err;
}
