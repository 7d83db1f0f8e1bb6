/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * riscv64 with the A extension. Unprivileged ISA manual: "Zihintpause", "A" standard extension, "Counters" (Zicntr).
 */
#ifndef PERF_RELAX_ARCH_RISCV64_H
#define PERF_RELAX_ARCH_RISCV64_H

/*
 * pause is a FENCE with predecessor W, no successor, rd = rs1 = x0 (Zihintpause): 0x0100000f. It is a hint, so harmless
 * on CPUs without the extension, where it does little or nothing. Written as a word for assemblers that lack it.
 */
#define RISCV64_HINTS(X) \
	X(pause, "pause", ARCH_NEED_NONE, EFFECT_NONE, "", ".4byte 0x0100000f", \
	  "spin-wait hint, the word 0x0100000f (Zihintpause)") \
	X(nop,   "nop",   ARCH_NEED_NONE, EFFECT_NONE, "", "nop", \
	  "no operation (2 bytes where the compiler's target is compressed)") \
	X(none,  "none",  ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Fully ordered as in arch/riscv/include/asm/atomic.h and cmpxchg.h. cmpxchg_local there is the relaxed form. t0: old
 * value; t1: expected; t2: new value or addend; t3: status.
 */
#define RISCV64_CMPXCHG(sc, barrier) \
	"1:\tlr.w t0, (%[p])\n\tbne t0, t1, 2f\n\t" sc " t3, t2, (%[p])\n\tbnez t3, 1b" barrier "\n2:\tmv t1, t0"

#define RISCV64_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, "li t1, 0\n\tli t2, 0", \
	  RISCV64_CMPXCHG("sc.w.rl", "\n\tfence rw, rw"), "compare and swap by reservation, fully ordered") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, "li t1, 0\n\tli t2, 0", \
	  RISCV64_CMPXCHG("sc.w", ""), "compare and swap by reservation, no order: cmpxchg_local") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "li t2, 1", "amoadd.w.aqrl t0, t2, (%[p])", \
	  "add and return, fully ordered") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "li t2, 1", "amoswap.w.aqrl t2, t2, (%[p])", \
	  "swap, fully ordered") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "li t2, 1", \
	  "1:\tamoswap.w.aq t0, t2, (%[p])\n\tbnez t0, 1b\n\tfence rw, w\n\tsw zero, 0(%[p])", \
	  "take and release a free test-and-set spin lock")

#define RISCV64_MISSING(X) \
	X(ATOMIC, "xadd-local", \
	  "riscv64 has no CPU-local add: the kernel's local_t is its atomic_long_t (asm-generic/local.h), " \
	  "as dear as xadd") \
	X(ATOMIC, "xchg-local", \
	  "riscv64 has no CPU-local swap: the kernel's local_t is its atomic_long_t (asm-generic/local.h), " \
	  "as dear as xchg")

#define RISCV64_BARRIERS(X) \
	X(fence,     "fence",     ARCH_NEED_NONE, EFFECT_NONE, "", "fence rw, rw", "full memory barrier") \
	X(fence_tso, "fence-tso", ARCH_NEED_NONE, EFFECT_NONE, "", ".4byte 0x8330000f", \
	  "memory barrier, but for store-load (fence.tso)") \
	X(fence_i,   "fence-i",   ARCH_NEED_NONE, EFFECT_NONE, "", ".4byte 0x0000100f", \
	  "instruction fetch barrier (fence.i, Zifencei)")

/*
 * Since Linux 6.6 user space may read cycle only while perf counts for it (sysctl kernel.perf_user_access): it is
 * tried.
 */
#define RISCV64_COUNTERS(X) \
	X(rdtime,  "rdtime",  ARCH_NEED_NONE, EFFECT_NONE, "", "rdtime t0", "read the time counter: no CPU clock") \
	X(rdcycle, "rdcycle", ARCH_NEED_NONE, EFFECT_NONE, "", "rdcycle t0", "read the cycle counter")

#define RISCV64_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "li t0, 0\n\tli t1, 1", "add t0, t0, t1", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "li t0, 3\n\tli t1, 5", "mulw t0, t0, t1", \
	  "dependent multiplications: 3 to 5 cycles each")

#if defined(__riscv) && __riscv_xlen == 64 && defined(__riscv_atomic) && !defined(PERF_RELAX_ARCH_GENERIC)

#define ARCH_NAME "riscv64"
#define ARCH_HINTS(X) RISCV64_HINTS(X)
#define ARCH_ATOMICS(X) RISCV64_ATOMICS(X)
#define ARCH_MISSING(X) RISCV64_MISSING(X)
#define ARCH_BARRIERS(X) RISCV64_BARRIERS(X)
#define ARCH_COUNTERS(X) RISCV64_COUNTERS(X)
#define ARCH_CHAINS(X) RISCV64_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_CLOBBERS "t0", "t1", "t2", "t3", "memory"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\taddi %[n], %[n], -1\n\tbnez %[n], 77b\n\t"
#define ARCH_TICKS_NAME "time"
#define ARCH_TICKS_PROBE "rdtime"

/* Reads of time count as device input for FENCE (Zicntr); nothing architected waits for arithmetic. */
static inline unsigned long long arch_ticks_begin(void)
{
	unsigned long long t;

	__asm__ volatile("fence iorw, iorw\n\trdtime %0\n\tfence iorw, iorw" : "=r"(t) : : "memory");
	return t;
}

static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	(void)have_rdtscp;
	return arch_ticks_begin();
}

/* The device tree knows it, not the CPU. */
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
