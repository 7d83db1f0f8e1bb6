/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Calls, for scale: one into the vDSO (usually) and one into the kernel. They take no time themselves: what they return
 * is dropped.
 */
#include <time.h>
#include <unistd.h>

#include "loop.h"

_Static_assert(PROBE_UNROLL_CALL == 4, "the loops below are written out for 4 and 8 calls");

#define TWICE(x) x; x
#define CALL_LOOPS(ident, call) \
	PROBE_NOCOPY void probe_short_##ident(void *operand, uint64_t iters) \
	{ \
		(void)operand; \
		do { \
			TWICE(TWICE(call)); \
		} while (--iters); \
	} \
	PROBE_NOCOPY void probe_long_##ident(void *operand, uint64_t iters) \
	{ \
		(void)operand; \
		do { \
			TWICE(TWICE(TWICE(call))); \
		} while (--iters); \
	}

static PROBE_NOCOPY void read_clock(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	__asm__ volatile("" : : "r"(&t) : "memory");
}

static PROBE_NOCOPY void read_parent(void)
{
	pid_t pid = getppid();

	__asm__ volatile("" : : "r"(pid));
}

CALL_LOOPS(clock_gettime, read_clock())
CALL_LOOPS(getppid, read_parent())
