/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Any other architecture: no instruction is known but nop, which every assembler seen has. Loops and atomics are the
 * compiler's. Define PERF_RELAX_ARCH_GENERIC to build this on a known architecture, as the tests do.
 */
#ifndef PERF_RELAX_ARCH_GENERIC_H
#define PERF_RELAX_ARCH_GENERIC_H

#define GENERIC_HINTS(X) \
	X(nop,  "nop",  ARCH_NEED_NONE, EFFECT_NONE, "", "nop", "no operation") \
	X(none, "none", ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * X(ident, "name", EFFECT, statement, "summary"), for the compiler's atomics (GCC manual, "__atomic Builtins"). A
 * statement may use unsigned int *p, and expected (0 at first) and swapped (1 at first), both unsigned int.
 */
#define GENERIC_ATOMICS_IN_C(X) \
	X(cmpxchg,   "cmpxchg",   EFFECT_CMPXCHG, \
	  __atomic_compare_exchange_n(p, &expected, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST), \
	  "compare and swap, the compiler's __atomic_compare_exchange_n") \
	X(xadd,      "xadd",      EFFECT_ADD,     expected = __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST), \
	  "add and return, the compiler's __atomic_fetch_add") \
	X(xchg,      "xchg",      EFFECT_XCHG,    swapped = __atomic_exchange_n(p, swapped, __ATOMIC_SEQ_CST), \
	  "swap, the compiler's __atomic_exchange_n") \
	X(spin_lock, "spin-lock", EFFECT_LOCK, \
	  while (__atomic_exchange_n(p, 1, __ATOMIC_ACQUIRE)) {} __atomic_store_n(p, 0, __ATOMIC_RELEASE), \
	  "take and release a free test-and-set spin lock, the compiler's atomics")

#define GENERIC_MISSING(X) \
	X(ATOMIC, "cmpxchg-local", \
	  "no CPU-local compare and swap is known for this architecture, and the compiler has none") \
	X(ATOMIC, "xadd-local", "no CPU-local add is known for this architecture, and the compiler has none") \
	X(ATOMIC, "xchg-local", "no CPU-local swap is known for this architecture, and the compiler has none") \
	X(CHAIN, "chain-add", \
	  "a dependent chain needs the architecture's own instructions, and none are known for this one") \
	X(CHAIN, "chain-mul", \
	  "a dependent chain needs the architecture's own instructions, and none are known for this one")

#ifndef ARCH_NAME

#define ARCH_NAME "generic"
#define ARCH_HINTS(X) GENERIC_HINTS(X)
#define ARCH_ATOMICS(X)
#define ARCH_ATOMICS_IN_C(X) GENERIC_ATOMICS_IN_C(X)
#define ARCH_MISSING(X) GENERIC_MISSING(X)
#define ARCH_BARRIERS(X)
#define ARCH_COUNTERS(X)
#define ARCH_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_CLOBBERS "memory"
#define ARCH_LOOP_IN_C 1
#define ARCH_TICKS_NONE "no time counter is known for this architecture"

static inline unsigned long long arch_ticks_begin(void)
{
	return 0;
}

static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	(void)have_rdtscp;
	return 0;
}

static inline unsigned long long arch_ticks_hz(void)
{
	return 0;
}

static inline int arch_has(int need, unsigned long hwcap, unsigned long hwcap2)
{
	(void)hwcap;
	(void)hwcap2;
	return need == ARCH_NEED_NONE;
}

static inline const char *arch_need_name(int need)
{
	(void)need;
	return "nothing";
}

#endif /* target */
#endif
