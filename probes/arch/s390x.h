/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * s390x. PoP: z/Architecture Principles of Operation (SA22-7832), chapter 7 for instructions, chapter 5 for
 * serialization.
 */
#ifndef PERF_RELAX_ARCH_S390X_H
#define PERF_RELAX_ARCH_S390X_H

#define S390X_NEED_EXECUTION_HINT	1
#define S390X_NEED_INTERLOCKED		2

/*
 * There is no spin-wait instruction: the kernel's cpu_relax is a compiler barrier. What exists is niai (PoP NEXT
 * INSTRUCTION ACCESS INTENT), which the kernel puts before the accesses to a lock (arch/s390/lib/spinlock.c: 4 before a
 * load that will be followed by a store). Written as a word for assemblers that lack it.
 */
#define S390X_HINTS(X) \
	X(niai, "niai", S390X_NEED_EXECUTION_HINT, EFFECT_NONE, "", ".long 0xb2fa0040", \
	  "next access intends to store later (PoP NIAI 4,0)") \
	X(nop,  "nop",  ARCH_NEED_NONE,            EFFECT_NONE, "", "nopr %%r0", "no operation (BCR 0,0)") \
	X(none, "none", ARCH_NEED_NONE,            EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * compare and swap serializes before and after (PoP COMPARE AND SWAP), so it is fully ordered and has no lesser form.
 * laa (PoP LOAD AND ADD, written with .insn for assemblers of old targets) does not: atomic_add_return follows it with
 * BCR 14,0 (arch/s390/include/asm/ atomic_ops.h) and this_cpu_add_return does not (percpu.h). r1: old value, expected;
 * r2: addend; r3: new value.
 */
#define S390X_LAA ".insn rsy,0xeb00000000f8,%%r1,%%r2,0(%[p])"
#define S390X_ATOMICS(X) \
	X(cmpxchg,    "cmpxchg",    ARCH_NEED_NONE,         EFFECT_CMPXCHG, "lhi %%r1,0\n\tlhi %%r3,0", \
	  "cs %%r1,%%r3,0(%[p])", \
	  "compare and swap, always serializing") \
	X(xadd,       "xadd",       S390X_NEED_INTERLOCKED, EFFECT_ADD, "lhi %%r2,1", S390X_LAA "\n\tbcr 14,0", \
	  "add and return (laa), fully ordered") \
	X(xadd_local, "xadd-local", S390X_NEED_INTERLOCKED, EFFECT_ADD, "lhi %%r2,1", S390X_LAA, \
	  "add and return (laa), no order: this_cpu_add_return") \
	X(xchg,       "xchg",       ARCH_NEED_NONE,         EFFECT_XCHG, "lhi %%r3,1", \
	  "l %%r1,0(%[p])\n1:\tcs %%r1,%%r3,0(%[p])\n\tjne 1b\n\tlr %%r3,%%r1", \
	  "swap by compare and swap, always serializing") \
	X(spin_lock,  "spin-lock",  ARCH_NEED_NONE,         EFFECT_LOCK, "lhi %%r2,0\n\tlhi %%r3,1", \
	  "1:\tlhi %%r1,0\n\tcs %%r1,%%r3,0(%[p])\n\tjne 1b\n\tst %%r2,0(%[p])", \
	  "take and release a free test-and-set spin lock")

#define S390X_MISSING(X) \
	X(ATOMIC, "cmpxchg-local", \
	  "s390x has no CPU-local compare and swap: CS always serializes, and the kernel's cmpxchg_local is CS") \
	X(ATOMIC, "xchg-local", "s390x has no CPU-local swap: it is made of CS, which always serializes")

#define S390X_BARRIERS(X) \
	X(bcr_15, "bcr-15-0", ARCH_NEED_NONE,         EFFECT_NONE, "", "bcr 15,0", \
	  "serialization and checkpoint synchronisation") \
	X(bcr_14, "bcr-14-0", S390X_NEED_INTERLOCKED, EFFECT_NONE, "", "bcr 14,0", \
	  "serialization (fast-BCR-serialization facility)")

/* The value goes to the operand's second doubleword: stckf has no register form. */
#define S390X_COUNTERS(X) \
	X(stckf, "stckf", ARCH_NEED_NONE, EFFECT_NONE, "", ".insn s,0xb27c0000,8(%[p])", \
	  "store clock fast: TOD clock, 4096 MHz, no CPU clock")

#define S390X_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "lhi %%r1,0\n\tlhi %%r2,1", "ar %%r1,%%r2", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "lhi %%r1,3\n\tlhi %%r2,5", "msr %%r1,%%r2", \
	  "dependent multiplications: 5 to 7 cycles each")

#if defined(__s390x__) && !defined(PERF_RELAX_ARCH_GENERIC)

#define ARCH_NAME "s390x"
#define ARCH_HINTS(X) S390X_HINTS(X)
#define ARCH_ATOMICS(X) S390X_ATOMICS(X)
#define ARCH_MISSING(X) S390X_MISSING(X)
#define ARCH_BARRIERS(X) S390X_BARRIERS(X)
#define ARCH_COUNTERS(X) S390X_COUNTERS(X)
#define ARCH_CHAINS(X) S390X_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "a"
#define ARCH_CLOBBERS "r1", "r2", "r3", "cc", "memory"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\taghi %[n],-1\n\tjne 77b\n\t"
#define ARCH_TICKS_NAME "tod"
#define ARCH_TICKS_PROBE "stckf"

/* stckf may run early or late; BCR 15,0 serializes around it (PoP 5, "CPU Serialization"). */
static inline unsigned long long arch_ticks_begin(void)
{
	unsigned long long t;

	__asm__ volatile("bcr 15,0\n\t.insn s,0xb27c0000,%0\n\tbcr 15,0" : "=Q"(t) : : "cc", "memory");
	return t;
}

static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	(void)have_rdtscp;
	return arch_ticks_begin();
}

/* Bit 51 of the TOD clock steps every microsecond (PoP 4, "TOD Clock"). */
static inline unsigned long long arch_ticks_hz(void)
{
	return 4096000000ull;
}

/* STORE FACILITY LIST EXTENDED is open to user space (PoP 4, "Facility Indications"); bit 0 is the leftmost. */
static inline int arch_has(int need, unsigned long hwcap, unsigned long hwcap2)
{
	unsigned long long facilities[4] = { 0, 0, 0, 0 };
	register unsigned long long last __asm__("r0") = 3;

	(void)hwcap;
	(void)hwcap2;
	if (need == ARCH_NEED_NONE)
		return 1;
	__asm__ volatile(".insn s,0xb2b00000,%[list]" : [list] "=Q"(facilities), "+d"(last) : : "cc", "memory");
	switch (need) {
	case S390X_NEED_EXECUTION_HINT:
		return facilities[0] >> (63 - 49) & 1;
	case S390X_NEED_INTERLOCKED:
		return facilities[0] >> (63 - 45) & 1;
	}
	return 0;
}

static inline const char *arch_need_name(int need)
{
	switch (need) {
	case S390X_NEED_EXECUTION_HINT:
		return "the execution-hint facility (facility bit 49)";
	case S390X_NEED_INTERLOCKED:
		return "the interlocked-access facility 1 (facility bit 45)";
	}
	return "nothing";
}

#endif /* target */
#endif
