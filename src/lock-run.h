/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lock contention as a workload: threads that take and release one lock for a time window. Knows nothing of arms,
 * verdicts or output.
 */
#ifndef PERF_RELAX_LOCK_RUN_H
#define PERF_RELAX_LOCK_RUN_H

#include "lock.h"
#include "meter.h"
#include "topology.h"

/* How a metric is shown. */
enum lock_show { LOCK_SHOW_HEADLINE, LOCK_SHOW, LOCK_SHOW_DETAIL };

/* What one trial yields: X(IDENT, "metric", "unit", better, show) in the order of the values. */
#define LOCK_METRICS(X) \
	X(RATE, "acquisitions", "1/s", BETTER_HIGHER, LOCK_SHOW_HEADLINE) \
	X(P50, "acquire_p50", "ns", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(P99, "acquire_p99", "ns", BETTER_LOWER, LOCK_SHOW) \
	X(P999, "acquire_p99.9", "ns", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(MAX, "acquire_max", "ns", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(HANDOFF, "handoff_p50", "ns", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(JAIN, "jain", "index", BETTER_HIGHER, LOCK_SHOW) \
	X(MIN_SHARE, "min_share", "share", BETTER_HIGHER, LOCK_SHOW_DETAIL) \
	X(MEDIAN_SHARE, "median_share", "share", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(MAX_SHARE, "max_share", "share", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(SPINS, "spins", "1/acquisition", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(INSTRUCTIONS, "instructions", "1/acquisition", BETTER_LOWER, LOCK_SHOW) \
	X(CYCLES, "cycles", "cycles/acquisition", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(ENERGY, "energy", "J/acquisition", BETTER_LOWER, LOCK_SHOW_DETAIL) \
	X(HELD, "held_p50", "ns", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(THOUGHT, "thought_p50", "ns", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(SWITCHES, "switches", "1/s", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(OVERLAP, "overlap", "share", BETTER_NONE, LOCK_SHOW_DETAIL)

/* The same of --victim. A share is the victim's speed beside the spinner over its speed alone, both of this trial. */
#define LOCK_VICTIM_METRICS(X) \
	X(VICTIM_ALU_SHARE, "alu_left", "share", BETTER_HIGHER, LOCK_SHOW_HEADLINE) \
	X(VICTIM_MEMORY_SHARE, "memory_left", "share", BETTER_HIGHER, LOCK_SHOW) \
	X(VICTIM_ALU, "alu", "operations/s", BETTER_HIGHER, LOCK_SHOW_DETAIL) \
	X(VICTIM_ALU_ALONE, "alu_alone", "operations/s", BETTER_NONE, LOCK_SHOW_DETAIL) \
	X(VICTIM_MEMORY, "memory", "loads/s", BETTER_HIGHER, LOCK_SHOW_DETAIL) \
	X(VICTIM_MEMORY_ALONE, "memory_alone", "loads/s", BETTER_NONE, LOCK_SHOW_DETAIL)

/* And of --matrix. */
#define LOCK_MATRIX_METRICS(X) \
	X(MATRIX_HANDOFF, "handoff", "ns", BETTER_LOWER, LOCK_SHOW_HEADLINE) \
	X(MATRIX_OVERLAP, "overlap", "share", BETTER_NONE, LOCK_SHOW_DETAIL)

#define X(ident, name, unit, better, show) LOCK_VALUE_##ident,
enum lock_value { LOCK_METRICS(X) LOCK_VALUES };
enum lock_victim_value { LOCK_VICTIM_METRICS(X) LOCK_VICTIM_VALUES };
enum lock_matrix_value { LOCK_MATRIX_METRICS(X) LOCK_MATRIX_VALUES };
#undef X

struct lock_condition {
	unsigned int threads;
	/* thread i runs on cpus.cpu[i % cpus.n], in the order of placement; n = 0: not pinned */
	struct cpulist cpus;
	uint64_t cs_iters, think_iters;	/* lock_idle() iterations */
	unsigned int cs_lines;
	double window_s;		/* of the uncounted part; the counted one is half as long */
	bool fifo;
	int spinner_cpu, victim_cpu;	/* for lock_run_victim() */
	int (*interrupted)(void);	/* may be NULL; not 0: the trial is given up with -EINTR */
};

struct lock_run;

/*
 * Memory for up to @threads threads. @m: open clocks, for ns and the rate of the counter. Counters for all threads are
 * opened where the machine has them. NULL and @why on error.
 */
struct lock_run *lock_run_open(const struct meters *m, unsigned int threads, struct reason *why);
void lock_run_close(struct lock_run *run);

/*
 * One trial: a window without any counting for the rate, and one with the counter read around every acquisition for
 * latencies and spins. Stores LOCK_VALUES values, and per thread its acquisitions in the first window in @per_thread
 * (room for c->threads). Verifies mutual exclusion: a mismatch is -EPROTO. A thread that cannot be made, pinned or
 * started ends the trial with -errno; nothing is left running in any case. -ETIMEDOUT: the watchdog could not end it.
 */
int lock_run_trial(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		   struct value *values, uint64_t *per_thread, struct reason *why);

/*
 * One trial of --victim: a thread on c->victim_cpu computes, then loads from memory, each alone and beside a thread on
 * c->spinner_cpu that waits in @p's wait loop for a lock that is never free. LOCK_VICTIM_VALUES values. Errors as
 * above.
 */
int lock_run_victim(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		    struct value *values, struct reason *why);
#define LOCK_VICTIM_BYTES (32u << 20)	/* of the memory-bound victim: beyond any core's own caches */

/*
 * One trial of --matrix: @p of lock_handoff_find(), two threads on c->cpus taking turns. Time over turns, so that
 * clocks of two CPUs are never compared. LOCK_MATRIX_VALUES values.
 */
int lock_run_handoff(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		     struct value *values, struct reason *why);

/* Was a thread of the last trial taken off its CPU by somebody else? */
bool lock_run_preempted(const struct lock_run *run);

/*
 * How two CPUs hang together, nearest first: "smt", "llc", "node", "socket", "machine"; "unknown" where the kernel does
 * not say.
 */
const char *lock_relation(const struct topology *t, int a, int b);

/*
 * Iterations of lock_idle() that take @ns, by measurement on this thread's CPU; and the inverse: ns of @iters
 * iterations (median of several).
 */
uint64_t lock_run_idle_iters(double ns);
double lock_run_idle_ns(uint64_t iters);

#endif
