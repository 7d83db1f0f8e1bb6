/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One task of a context-switch ring: what runs in the children, and what they share with the process that started them. Compiled twice, for this program and
 * for the 32-bit one (ctx-helper.c); the layout is the same in both. Needs libc and the ring, nothing else of the tool.
 */
#ifndef PERF_RELAX_CTX_TASK_H
#define PERF_RELAX_CTX_TASK_H

#include <stddef.h>
#include <stdint.h>

#include "ctx-ring.h"

#define CTX_BLOCKS_MAX 8192
#define CTX_LAPS_MAX 8192
#define CTX_ALONE_BLOCKS 16
#define CTX_NO_CPU (-1)

/* Steps of a task that can fail: X(IDENT, "while doing what") */
#define CTX_STEPS(X) \
	X(NONE, "in an unknown step") \
	X(PARENT, "arranging to end with its parent") \
	X(PIN, "pinning it to its CPU") \
	X(POLICY, "setting its scheduling policy") \
	X(MEMORY, "getting its memory") \
	X(THREAD, "making a thread") \
	X(TSC, "forbidding the time-stamp counter (prctl PR_SET_TSC)") \
	X(RING, "passing the token") \
	X(CLOCK, "reading the clock") \
	X(REPORT, "talking to its parent")

enum ctx_step {
#define X(ident, what) CTX_STEP_##ident,
	CTX_STEPS(X)
#undef X
	CTX_STEP_COUNT
};

/* Of one task. */
struct ctx_slot {
	_Alignas(CTX_LINE) int32_t cpu;		/* to be pinned to, or CTX_NO_CPU */
	uint32_t forbid;			/* 1: no TSC for this task */
	int32_t err;				/* errno of its failure, 0: none */
	uint32_t step;				/* enum ctx_step */
	_Alignas(8) uint64_t switches_begin, switches_end;	/* voluntary and not, by the kernel's count, at the ends of the measured part */
};

struct ctx_trial {
	/* set before the start */
	_Alignas(8) uint64_t window_ns, warmup_ns, samples_ns, alone_ns;
	int32_t parent;			/* process id */
	uint32_t threads;		/* 1: threads of one process */
	int32_t policy;			/* SCHED_OTHER, ... */
	uint32_t block_laps;		/* laps between two readings of the clock */
	int32_t report_fd;		/* the first task says on it where it is and waits for an answer; -1: it does not */
	/* results of the first task */
	_Alignas(8) uint64_t laps;	/* between the marks */
	uint64_t window_spent_ns;
	uint64_t blocks, samples, alones;
	uint64_t clock_ns;		/* one reading of the clock */
	uint64_t block_ns[CTX_BLOCKS_MAX];	/* each of block_laps laps */
	uint64_t sample_ns[CTX_LAPS_MAX];	/* each of one lap, the clock's cost included */
	uint64_t alone_block_ns[CTX_ALONE_BLOCKS];	/* each of alone_passes passes */
	uint64_t alone_passes;
	struct ctx_slot slot[CTX_TASKS_MAX];
	struct ctx_ring ring;
};

/*
 * Run task @index of @t to its end (threads: all of them, @index 0). Returns 0, or -errno after noting it and the step in the slot. The clock is read by system
 * call only, so that it works where the time-stamp counter is forbidden.
 */
int ctx_task_run(struct ctx_trial *t, uint32_t index);

/* CLOCK_MONOTONIC_RAW by system call, ns; 0: it cannot be read. */
uint64_t ctx_task_clock_ns(void);

const char *ctx_step_text(uint32_t step);

#endif
