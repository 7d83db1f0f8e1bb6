/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * 32-bit arm, ARMv7 or later, in ARM or Thumb-2 state as the compiler chose (the bytes differ, and are shown). Builds
 * for older processors use generic.h. ARM ARM: Arm Architecture Reference Manual ARMv7-A and ARMv7-R (DDI 0406), A8 for
 * instructions.
 */
#ifndef PERF_RELAX_ARCH_ARM_H
#define PERF_RELAX_ARCH_ARM_H

/*
 * sevl came with ARMv8, so wfe is armed with sev, which also wakes the other CPUs (ARM ARM A8.8.424 "WFE", A8.8.168
 * "SEV").
 */
#define ARM_HINTS(X) \
	X(yield, "yield", ARCH_NEED_NONE, EFFECT_NONE, "", "yield", \
	  "hint that this is a spin-wait loop (ARM ARM YIELD); a no-op on most cores") \
	X(isb,   "isb",   ARCH_NEED_NONE, EFFECT_NONE, "", "isb", "flush the pipeline (ARM ARM ISB)") \
	X(wfe,   "wfe",   ARCH_NEED_NONE, EFFECT_NONE, "", "sev\n\twfe", \
	  "wait for event with the event set before (sev): never sleeps") \
	X(dmb,   "dmb",   ARCH_NEED_NONE, EFFECT_NONE, "", "dmb ish", \
	  "data memory barrier, inner shareable (ARM ARM DMB)") \
	X(nop,   "nop",   ARCH_NEED_NONE, EFFECT_NONE, "", "nop", "no operation") \
	X(none,  "none",  ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Fully ordered as in arch/arm/include/asm/atomic.h and cmpxchg.h: exclusive accesses between two dmb ish.
 * cmpxchg_local is the same without the barriers (cmpxchg.h). r4: old value; r5: expected, new value; r6: status; r12:
 * new value.
 */
#define ARM_CMPXCHG(barrier) \
	barrier "1:\tldrex r4, [%[p]]\n\tcmp r4, r5\n\tbne 2f\n\tstrex r6, r12, [%[p]]\n\tcmp r6, #0\n\t" \
	"bne 1b\n2:\tmov r5, r4\n\t" barrier
#define ARM_DMB "dmb ish\n\t"

#define ARM_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "mov r5, #0\n\tmov r12, #0", ARM_CMPXCHG(ARM_DMB), \
	  "compare and swap by exclusive access, fully ordered") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "mov r5, #0\n\tmov r12, #0", ARM_CMPXCHG(""), \
	  "compare and swap by exclusive access, no order: cmpxchg_local") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "", \
	  ARM_DMB "1:\tldrex r4, [%[p]]\n\tadd r4, r4, #1\n\tstrex r6, r4, [%[p]]\n\tcmp r6, #0\n\tbne 1b\n\tdmb ish", \
	  "add and return by exclusive access, fully ordered") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "mov r5, #1", \
	  ARM_DMB "1:\tldrex r4, [%[p]]\n\tstrex r6, r5, [%[p]]\n\tcmp r6, #0\n\tbne 1b\n\tmov r5, r4\n\tdmb ish", \
	  "swap by exclusive access, fully ordered") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "mov r5, #1\n\tmov r12, #0", \
	  "1:\tldrex r4, [%[p]]\n\tcmp r4, #0\n\tbne 1b\n\tstrex r6, r5, [%[p]]\n\tcmp r6, #0\n\tbne 1b\n\t" \
	  "dmb ish\n\tdmb ish\n\tstr r12, [%[p]]", \
	  "take and release a free test-and-set spin lock (a barrier after taking, one before releasing)")

#define ARM_MISSING(X) \
	X(ATOMIC, "xadd-local", \
	  "arm has no CPU-local add: the kernel's local_t is its atomic_long_t (asm-generic/local.h), " \
	  "as dear as xadd") \
	X(ATOMIC, "xchg-local", \
	  "arm has no CPU-local swap: the kernel's local_t is its atomic_long_t (asm-generic/local.h), " \
	  "as dear as xchg")

#define ARM_BARRIERS(X) \
	X(dmb_ishst, "dmb-ishst", ARCH_NEED_NONE, EFFECT_NONE, "", "dmb ishst", "data memory barrier for stores") \
	X(dsb,       "dsb",       ARCH_NEED_NONE, EFFECT_NONE, "", "dsb ish", \
	  "data synchronisation barrier, inner shareable")

/*
 * Needs the Generic Timer (ARM ARM B8) and the kernel's leave, which no bit of the auxiliary vector states: it is
 * tried.
 */
#define ARM_COUNTERS(X) \
	X(cntvct, "cntvct", ARCH_NEED_NONE, EFFECT_NONE, "", "mrrc p15, 1, r4, r5, c14", \
	  "read the virtual counter of the Generic Timer")

#define ARM_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "mov r4, #0\n\tmov r5, #1", "add r4, r4, r5", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "mov r4, #3\n\tmov r5, #5", "mul r4, r5, r4", \
	  "dependent multiplications: 3 to 4 cycles each")

#if defined(__arm__) && defined(__ARM_ARCH) && __ARM_ARCH >= 7 && !defined(PERF_RELAX_ARCH_GENERIC)

#define ARCH_NAME "arm"
#define ARCH_HINTS(X) ARM_HINTS(X)
#define ARCH_ATOMICS(X) ARM_ATOMICS(X)
#define ARCH_MISSING(X) ARM_MISSING(X)
#define ARCH_BARRIERS(X) ARM_BARRIERS(X)
#define ARCH_COUNTERS(X) ARM_COUNTERS(X)
#define ARCH_CHAINS(X) ARM_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_CLOBBERS "r4", "r5", "r6", "r12", "cc", "memory"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\tsubs %[n], %[n], #1\n\tbne 77b\n\t"
#define ARCH_TICKS_NAME "cntvct"
#define ARCH_TICKS_PROBE "cntvct"

static inline unsigned long long arch_ticks_begin(void)
{
	unsigned int lo, hi;

	__asm__ volatile("isb\n\tmrrc p15, 1, %0, %1, c14\n\tisb" : "=r"(lo), "=r"(hi) : : "memory");
	return ((unsigned long long)hi << 32) | lo;
}

static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	(void)have_rdtscp;
	return arch_ticks_begin();
}

static inline unsigned long long arch_ticks_hz(void)
{
	unsigned int hz;

	__asm__ volatile("mrc p15, 0, %0, c14, c0, 0" : "=r"(hz));
	return hz;
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
