/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * mips64, n64 ABI, release 2 or later, both byte orders. MD00087: MIPS Architecture for Programmers, volume II-A.
 */
#ifndef PERF_RELAX_ARCH_MIPS64_H
#define PERF_RELAX_ARCH_MIPS64_H

/*
 * pause is sll $0,$0,5: a no-op before release 2, and after it a wait until the link bit that ll sets is clear (MD00087
 * PAUSE). Here no ll comes before it, so it does not wait: the cost shown is that of the instruction, not of a wait.
 */
#define MIPS64_HINTS(X) \
	X(pause, "pause", ARCH_NEED_NONE, EFFECT_NONE, "", ".word 0x00000140", \
	  "wait for the link bit to clear, sll $0,$0,5 (MD00087 PAUSE)") \
	X(nop,   "nop",   ARCH_NEED_NONE, EFFECT_NONE, "", "nop", "no operation (sll $0,$0,0)") \
	X(none,  "none",  ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Fully ordered as in arch/mips/include/asm/atomic.h and cmpxchg.h: ll and sc between two sync. Local: ll and sc alone,
 * local_add_return (local.h) and cmpxchg_local (cmpxchg.h). Branch delay slots are written out. $9: old value; $10:
 * expected; $11: new value; $12: status.
 */
#define MIPS64_SYNC "sync\n\t"
#define MIPS64_SLOTS(body) ".set push\n\t.set noreorder\n\t" body "\n\t.set pop"
#define MIPS64_CMPXCHG(barrier) \
	MIPS64_SLOTS(barrier "1:\tll $9, 0(%[p])\n\tbne $9, $10, 2f\n\tmove $12, $11\n\tsc $12, 0(%[p])\n\t" \
		     "beqz $12, 1b\n\tnop\n\t" barrier "\n2:\tmove $10, $9")
#define MIPS64_XADD(barrier) \
	MIPS64_SLOTS(barrier "1:\tll $9, 0(%[p])\n\taddiu $12, $9, 1\n\tsc $12, 0(%[p])\n\t" \
		     "beqz $12, 1b\n\tnop\n\t" barrier)

#define MIPS64_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "move $10, $0\n\tmove $11, $0", MIPS64_CMPXCHG(MIPS64_SYNC), \
	  "compare and swap by linked load, fully ordered") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "move $10, $0\n\tmove $11, $0", MIPS64_CMPXCHG(""), \
	  "compare and swap by linked load, no order: cmpxchg_local") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "", MIPS64_XADD(MIPS64_SYNC), \
	  "add and return by linked load, fully ordered") \
	X(xadd_local,    "xadd-local",    ARCH_NEED_NONE, EFFECT_ADD, "", MIPS64_XADD(""), \
	  "add and return by linked load, no order: local_add_return") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "li $11, 1", \
	  MIPS64_SLOTS("sync\n1:\tll $9, 0(%[p])\n\tmove $12, $11\n\tsc $12, 0(%[p])\n\t" \
		       "beqz $12, 1b\n\tnop\n\tmove $11, $9\n\tsync"), \
	  "swap by linked load, fully ordered") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "", \
	  MIPS64_SLOTS("1:\tll $9, 0(%[p])\n\tbnez $9, 1b\n\tli $12, 1\n\tsc $12, 0(%[p])\n\t" \
		       "beqz $12, 1b\n\tnop\n\tsync\n\tsync\n\tsw $0, 0(%[p])"), \
	  "take and release a free test-and-set spin lock (sync after taking and before releasing)")

#define MIPS64_MISSING(X) \
	X(ATOMIC, "xchg-local", \
	  "mips64 has no CPU-local swap: the kernel's local_xchg is its atomic_long_xchg (asm/local.h), " \
	  "as dear as xchg")

#define MIPS64_BARRIERS(X) \
	X(sync, "sync", ARCH_NEED_NONE, EFFECT_NONE, "", "sync", "full memory barrier (sync 0)")

/* Register 2 is CC, a 32-bit counter; the kernel may forbid it (HWREna), so it is tried. */
#define MIPS64_COUNTERS(X) \
	X(rdhwr_cc, "rdhwr-cc", ARCH_NEED_NONE, EFFECT_NONE, "", "rdhwr $9, $2", \
	  "read the cycle counter register CC (MD00087 RDHWR), 32 bits")

#define MIPS64_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "move $9, $0\n\tli $10, 1", "addu $9, $9, $10", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "li $9, 3\n\tli $10, 5", "mul $9, $9, $10", \
	  "dependent multiplications: 3 to 5 cycles each")

#if defined(__mips64) && defined(_ABI64) && _MIPS_SIM == _ABI64 && __mips_isa_rev >= 2 && \
	!defined(PERF_RELAX_ARCH_GENERIC)

#ifdef __MIPSEL__
#define ARCH_NAME "mips64el"
#else
#define ARCH_NAME "mips64"
#endif
#define ARCH_HINTS(X) MIPS64_HINTS(X)
#define ARCH_ATOMICS(X) MIPS64_ATOMICS(X)
#define ARCH_MISSING(X) MIPS64_MISSING(X)
#define ARCH_BARRIERS(X) MIPS64_BARRIERS(X)
#define ARCH_COUNTERS(X) MIPS64_COUNTERS(X)
#define ARCH_CHAINS(X) MIPS64_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#if __mips_isa_rev < 6
#define ARCH_CLOBBERS "$9", "$10", "$11", "$12", "hi", "lo", "memory"
#else
#define ARCH_CLOBBERS "$9", "$10", "$11", "$12", "memory"
#endif
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP \
	"\n\t.set push\n\t.set noreorder\n\tdaddiu %[n], %[n], -1\n\tbnez %[n], 77b\n\tnop\n\t.set pop\n\t"
#define ARCH_TICKS_NONE "the counter that user space can read on mips64 (rdhwr CC) has 32 bits and wraps within seconds"

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
