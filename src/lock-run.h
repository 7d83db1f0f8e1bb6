/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lock contention as a workload: threads that take and release one lock for a time window. Knows nothing of arms, verdicts or output.
 */
#ifndef PERF_RELAX_LOCK_RUN_H
#define PERF_RELAX_LOCK_RUN_H

#include "lock.h"
#include "meter.h"
#include "topology.h"

/* What one trial yields: X(IDENT, "metric", "unit", better, headline?) in the order of the values. */
#define LOCK_METRICS(X) \
	X(RATE, "acquisitions", "1/s", BETTER_HIGHER, true) \
	X(P50, "acquire_p50", "ns", BETTER_LOWER, false) \
	X(P99, "acquire_p99", "ns", BETTER_LOWER, false) \
	X(P999, "acquire_p99.9", "ns", BETTER_LOWER, false) \
	X(MAX, "acquire_max", "ns", BETTER_LOWER, false) \
	X(HANDOFF, "handoff_p50", "ns", BETTER_LOWER, false) \
	X(JAIN, "jain", "index", BETTER_HIGHER, false) \
	X(MIN_SHARE, "min_share", "share", BETTER_HIGHER, false) \
	X(MAX_SHARE, "max_share", "share", BETTER_LOWER, false) \
	X(SPINS, "spins", "1/acquisition", BETTER_NONE, false) \
	X(SWITCHES, "switches", "1/s", BETTER_NONE, false) \
	X(OVERLAP, "overlap", "share", BETTER_NONE, false)

enum lock_value {
#define X(ident, name, unit, better, headline) LOCK_VALUE_##ident,
	LOCK_METRICS(X)
#undef X
	LOCK_VALUES
};

struct lock_condition {
	unsigned int threads;
	struct cpulist cpus;		/* thread i runs on cpus.cpu[i % cpus.n], in the order of placement; n = 0: not pinned */
	uint64_t cs_iters, think_iters;	/* lock_idle() iterations */
	unsigned int cs_lines;
	double window_s;		/* of the uncounted part; the counted one is half as long */
	bool fifo;
};

struct lock_run;

/* Memory for up to @threads threads. @m: open clocks, for ns and the rate of the counter. NULL and @why on error. */
struct lock_run *lock_run_open(const struct meters *m, unsigned int threads, struct reason *why);
void lock_run_close(struct lock_run *run);

/*
 * One trial: a window without any counting for the rate, and one with the counter read around every acquisition for latencies and spins. Stores LOCK_VALUES
 * values, and per thread its acquisitions in the first window in @per_thread (room for c->threads). Verifies mutual exclusion: a mismatch is -EPROTO. A
 * thread that cannot be made, pinned or started ends the trial with -errno; nothing is left running in any case. -ETIMEDOUT: the watchdog had to end it.
 */
int lock_run_trial(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c, struct value *values, uint64_t *per_thread,
		   struct reason *why);

/* Iterations of lock_idle() that take @ns, by measurement on this thread's CPU; and the inverse: ns of @iters iterations (median of several). */
uint64_t lock_run_idle_iters(double ns);
double lock_run_idle_ns(uint64_t iters);

#endif
