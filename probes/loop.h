/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private to probes/: how one row of an arch header becomes two measured loops, and what the files of this directory
 * share.
 */
#ifndef PERF_RELAX_PROBE_LOOP_H
#define PERF_RELAX_PROBE_LOOP_H

#include "probe.h"
#include "arch/arch.h"

#define PROBE_STR_(x) #x
#define PROBE_STR(x) PROBE_STR_(x)

/*
 * Operations in the body of the short loop; the long one has twice as many. Many, so that the loop's own branch and the
 * rounding of a loop to whole cycles weigh little; few enough that the longest body (64 times about 30 bytes) stays
 * well inside any L1 instruction cache. Assemblers need literals.
 */
#define PROBE_UNROLL_HINT 32
#define PROBE_UNROLL_ATOMIC 16
#define PROBE_UNROLL_BARRIER 16
#define PROBE_UNROLL_COUNTER 8
#define PROBE_UNROLL_CHAIN 64
#define PROBE_UNROLL_CALL 4

/*
 * The loops carry global labels, so a second copy of one would not assemble: no inlining, no cloning. noipa also stops
 * folding of loops with equal code, which would make twins (pause, rep-nop) share their addresses. Clang knows neither
 * noclone nor noipa and does not copy asm with labels out of a noinline function.
 */
/* Aligned like the loop inside, so that the short and the long loop have equal padding before them: it is executed, and their difference is exact. */
#if defined(__clang__)
#define PROBE_NOCOPY __attribute__((noinline, aligned(64)))
#else
#define PROBE_NOCOPY __attribute__((noinline, noclone, noipa, aligned(64)))
#endif

#define PROBE_LABEL(ident, what) "perf_relax_probe_" #ident "_" #what
#define PROBE_SET_LABEL(ident, what) \
	".globl " PROBE_LABEL(ident, what) "\n\t.hidden " PROBE_LABEL(ident, what) "\n" PROBE_LABEL(ident, what) ":\n\t"

#define PROBE_SHORT_BODY(ident, unroll, body) ".rept " PROBE_STR(unroll) "\n\t" body "\n\t.endr\n\t"
#define PROBE_LONG_BODY(ident, unroll, body) \
	PROBE_SET_LABEL(ident, begin) body "\n\t" PROBE_SET_LABEL(ident, end) \
	".rept 2 * " PROBE_STR(unroll) " - 1\n\t" body "\n\t.endr\n\t" PROBE_SET_LABEL(ident, end_all)

#define PROBE_LOOP_ASM(setup, body) \
	__asm__ volatile(setup "\n\t" ARCH_LOOP_BEGIN body ARCH_LOOP_STEP \
			 : [n] "+r"(n), [p] "+" ARCH_POINTER(operand) : : ARCH_CLOBBERS)

#ifdef ARCH_LOOP_IN_C
/*
 * The generic architecture: no branch can be written, so the compiler's loop calls the unrolled body. Were it in the
 * loop, -funroll-loops would copy it and its labels.
 */
#define PROBE_FUNCTION(fn, setup, body) \
	static PROBE_NOCOPY void fn##_once(void *operand) \
	{ \
		__asm__ volatile(body : [p] "+" ARCH_POINTER(operand) : : ARCH_CLOBBERS); \
	} \
	PROBE_NOCOPY void fn(void *operand, uint64_t iters) \
	{ \
		do { \
			fn##_once(operand); \
		} while (--iters); \
	}
#elif UINTPTR_MAX == UINT64_MAX
#define PROBE_FUNCTION(fn, setup, body) \
	PROBE_NOCOPY void fn(void *operand, uint64_t iters) \
	{ \
		uint64_t n = iters; \
\
		PROBE_LOOP_ASM(setup, body); \
	}
#else
/* A register counts the loop: more than 2^32 - 1 iterations are run in parts. */
#define PROBE_FUNCTION(fn, setup, body) \
	static PROBE_NOCOPY void fn##_part(void *operand, uint32_t n) \
	{ \
		PROBE_LOOP_ASM(setup, body); \
	} \
	PROBE_NOCOPY void fn(void *operand, uint64_t iters) \
	{ \
		for (; iters > UINT32_MAX; iters -= UINT32_MAX) \
			fn##_part(operand, UINT32_MAX); \
		fn##_part(operand, (uint32_t)iters); \
	}
#endif

#define PROBE_DECLARE(ident) \
	void probe_short_##ident(void *operand, uint64_t iters); \
	void probe_long_##ident(void *operand, uint64_t iters);
#define PROBE_DECLARE_TEXT(ident) \
	PROBE_DECLARE(ident) \
	extern const unsigned char perf_relax_probe_##ident##_begin[] __attribute__((visibility("hidden"))); \
	extern const unsigned char perf_relax_probe_##ident##_end[] __attribute__((visibility("hidden"))); \
	extern const unsigned char perf_relax_probe_##ident##_end_all[] __attribute__((visibility("hidden")));

#define PROBE_LOOPS(ident, unroll, setup, body) \
	PROBE_FUNCTION(probe_short_##ident, setup, PROBE_SHORT_BODY(ident, unroll, body)) \
	PROBE_FUNCTION(probe_long_##ident, setup, PROBE_LONG_BODY(ident, unroll, body))

#define PROBE_DECLARE_ROW(ident, name, need, effect, setup, body, summary) PROBE_DECLARE_TEXT(ident)
ARCH_HINTS(PROBE_DECLARE_ROW)
ARCH_ATOMICS(PROBE_DECLARE_ROW)
ARCH_BARRIERS(PROBE_DECLARE_ROW)
ARCH_COUNTERS(PROBE_DECLARE_ROW)
ARCH_CHAINS(PROBE_DECLARE_ROW)
#undef PROBE_DECLARE_ROW

#ifdef ARCH_ATOMICS_IN_C
#define PROBE_DECLARE_IN_C(ident, name, effect, statement, summary) PROBE_DECLARE(ident)
ARCH_ATOMICS_IN_C(PROBE_DECLARE_IN_C)
#undef PROBE_DECLARE_IN_C
#endif

/* calls.c */
PROBE_DECLARE(clock_gettime)
PROBE_DECLARE(getppid)

/*
 * support.c: run @p once with SIGILL, SIGSEGV and SIGBUS caught. Returns 0 or the signal; -errno when the guard cannot
 * be set up.
 */
int probe_guard(const struct probe *p);

/*
 * support.c: a copy of @s that lives until exit (equal strings give the same pointer); a fixed sentence when memory is
 * out.
 */
const char *probe_keep(const char *s);

/* support.c: does this CPU have what @p needs? */
bool probe_cpu_has(const struct probe *p);

/* rseq.c */
#include "rseq-probe.h"

#endif
