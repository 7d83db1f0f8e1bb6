/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of locked and CPU-local read-modify-writes and of lock and unlock, from the arch headers.
 */
#include "loop.h"

#define LOOP_ATOMIC(ident, name, need, effect, setup, body, summary) \
	PROBE_LOOPS(ident, PROBE_UNROLL_ATOMIC, setup, body)

ARCH_ATOMICS(LOOP_ATOMIC)

#ifdef ARCH_ATOMICS_IN_C
/* The generic architecture: the compiler's atomics, written out 16 and 32 times. */
_Static_assert(PROBE_UNROLL_ATOMIC == 16, "the loops below are written out for 16 and 32 operations");

#define TIMES4(x) x; x; x; x
#define TIMES16(x) TIMES4(TIMES4(x))
#define LOOP_IN_C(fn, statements) \
	PROBE_NOCOPY void fn(void *operand, uint64_t iters) \
	{ \
		unsigned int *p = operand, expected = 0, swapped = 1; \
\
		do { \
			statements; \
		} while (--iters); \
		__asm__ volatile("" : : "r"(expected), "r"(swapped)); \
	}
#define LOOPS_IN_C(ident, name, effect, statement, summary) \
	LOOP_IN_C(probe_short_##ident, TIMES16(statement)) \
	LOOP_IN_C(probe_long_##ident, TIMES16(statement); TIMES16(statement))

ARCH_ATOMICS_IN_C(LOOPS_IN_C)
#endif
