/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to cmd-lock*.c: what `perf relax lock` is asked for, and what it plans. */
#ifndef PERF_RELAX_CMD_LOCK_H
#define PERF_RELAX_CMD_LOCK_H

#include "lock-run.h"
#include "options.h"
#include "session.h"

#define LOCK_DEFAULT_LOCK "ttas"
#define LOCK_CMD_THREADS_MAX 1024
#define LIST_MAX 32

struct list {
	const char *item[LIST_MAX];
	size_t n;
};

enum lock_mode { LOCK_CONTEND, LOCK_VICTIM, LOCK_MATRIX };

struct condition {
	const char *lock;		/* NULL: the locks are the arms, or there is none */
	struct lock_condition run;
	size_t index;			/* in the result */
};

struct lock_cmd {
	struct measure_options options;
	struct list locks, hints, threads, places;
	const char *cs, *think;
	uint64_t cs_lines, victim_cpu;
	bool victim_cpu_given;
	double window_ms;
	bool fifo;
	enum lock_mode mode;

	struct session session;
	struct lock_run *run;
	struct result *result;
	struct condition *condition;
	size_t ncondition;
	bool locks_are_arms;
	size_t max_threads;
	uint64_t *per_thread;
	size_t thread_metric;		/* index of the first of the per-thread metrics */
};

/* Each returns an exit code; what is wrong has been printed. Before the session is open: names. */
int lock_plan_hints(struct lock_cmd *l);
int lock_plan_locks(struct lock_cmd *l);
/* After it, with the result: conditions, then arms and metrics. */
int lock_plan_conditions(struct lock_cmd *l);
void lock_plan_arms(struct lock_cmd *l);
void lock_plan_metrics(struct lock_cmd *l);

/* The loop that @arm runs under @c. */
const struct lock_pair *lock_plan_pair(const struct lock_cmd *l, const struct condition *c, size_t arm);

#endif
