/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The context-switch ring as a workload: starts the tasks of one ring, lets them run for a window, counts and times. Knows nothing of arms, verdicts or output.
 */
#ifndef PERF_RELAX_CTX_RUN_H
#define PERF_RELAX_CTX_RUN_H

#include <stdbool.h>

#include "ctx-ring.h"
#include "meter.h"

/* How a metric is shown. */
enum ctx_show { CTX_SHOW_HEADLINE, CTX_SHOW, CTX_SHOW_DETAIL };

/* What one trial yields, in the order of the values; counters follow. X(IDENT, "metric", "unit", better, show) */
#define CTX_METRICS(X) \
	X(SWITCH, "switch", "us/switch", BETTER_LOWER, CTX_SHOW_HEADLINE) \
	X(NET, "switch_net", "us/switch", BETTER_LOWER, CTX_SHOW) \
	X(TRANSPORT, "transport", "us/switch", BETTER_NONE, CTX_SHOW) \
	X(MEAN, "mean", "us/switch", BETTER_LOWER, CTX_SHOW_DETAIL) \
	X(RMSE, "rmse", "us/switch", BETTER_LOWER, CTX_SHOW_DETAIL) \
	X(MEDIAN, "lap_p50", "us/switch", BETTER_LOWER, CTX_SHOW_DETAIL) \
	X(P99, "lap_p99", "us/switch", BETTER_LOWER, CTX_SHOW) \
	X(MAX, "lap_max", "us/switch", BETTER_LOWER, CTX_SHOW_DETAIL) \
	X(COUNTED, "counted", "1/planned", BETTER_NONE, CTX_SHOW_DETAIL)

#define X(ident, name, unit, better, show) CTX_VALUE_##ident,
enum ctx_value { CTX_METRICS(X) CTX_VALUE_COUNTERS };
#undef X

enum ctx_tsc { CTX_TSC_NONE, CTX_TSC_BOTH, CTX_TSC_ONE };	/* which tasks run with PR_TSC_SIGSEGV: none, all, the last one */
#define CTX_ABI_NATIVE ((int)(8 * sizeof(void *)))
enum ctx_place { CTX_PLACE_SAME, CTX_PLACE_CROSS, CTX_PLACE_FREE };

struct ctx_condition {
	unsigned int tasks;
	uint64_t size_bytes;		/* read by each task when it has the token; a multiple of 4 is used */
	enum ctx_via via;
	enum ctx_place place;
	enum ctx_tsc tsc;
	int abi;			/* bits: CTX_ABI_NATIVE, this program; 32, the helper */
	int policy;			/* SCHED_OTHER, SCHED_BATCH, SCHED_FIFO */
	bool threads;
	double window_s, warmup_s;
	const struct cpulist *cpus;	/* those that may be used; the last ones are taken first */
	bool cpus_chosen;		/* place free: keep to @cpus */
};

struct ctx_run;

/*
 * Shared memory for the trials, and the counters of all tasks: those of @events (which must work when @required). NULL and @why on error; @status then is the
 * exit code that fits. @interrupted: not 0 once the user wants the run to end.
 */
struct ctx_run *ctx_run_open(const struct meters *m, const char *events, bool required, int (*interrupted)(void), int *status, struct reason *why);
void ctx_run_close(struct ctx_run *run);

/* The counters: those with a reason are not in the values of a trial. */
const struct meters *ctx_run_counters(const struct ctx_run *run);

/*
 * One trial: a new ring of new tasks. Stores CTX_VALUE_COUNTERS values, then one for each counter that is open. Returns 0; -ECHILD when a task ended otherwise
 * than it should (@why has its status); -ETIMEDOUT; -EINTR; or what a task reported. No task is left in any case.
 */
int ctx_run_trial(struct ctx_run *run, const struct ctx_condition *c, struct value *values, struct reason *why);

/* Is PR_TSC_SIGSEGV carried out? Found out by a child that forbids itself the TSC and reads it. */
enum ctx_enforced { CTX_ENFORCED, CTX_NOT_ENFORCED, CTX_NO_SUCH_PRCTL, CTX_ENFORCED_UNKNOWN };
enum ctx_enforced ctx_run_tsc_enforced(struct reason *why);

/* Can tasks of @abi be run, under @policy? 0, or -errno with @why. */
int ctx_run_abi(int abi, struct reason *why);
int ctx_run_policy(int policy, struct reason *why);

/*
 * Do @tasks tasks with links of @via fit the limits on descriptors, processes and memory? Raises the soft limit on descriptors where that helps. 0, or -EMFILE,
 * -EAGAIN, -ENOMEM with @why.
 */
int ctx_limits_check(unsigned int tasks, enum ctx_via via, uint64_t size_bytes, struct reason *why);

#endif
