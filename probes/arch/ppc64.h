/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ppc64, both byte orders. Power ISA, Book II: 3.2 "or" instruction priority hints, 4.6 memory barriers and
 * reservations, 5 time base.
 */
#ifndef PERF_RELAX_ARCH_PPC64_H
#define PERF_RELAX_ARCH_PPC64_H

/*
 * The `or rx,rx,rx` forms set the priority of the hardware thread (Book II 3.2): 31 very low, 1 low, 2 medium; 27
 * yields to the other threads of the core. The pair is the kernel's cpu_relax
 * (arch/powerpc/include/asm/vdso/processor.h). A priority stays until it is changed: ARCH_LOOP_STEP ends with medium,
 * and other users put ARCH_HINT_RESET after their wait.
 */
#define PPC64_HINTS(X) \
	X(or_1_or_2, "or-1-1-1-or-2-2-2", ARCH_NEED_NONE, EFFECT_NONE, "", "or 1,1,1\n\tor 2,2,2", \
	  "low, then medium priority: the kernel's cpu_relax") \
	X(or_27,     "or-27-27-27",       ARCH_NEED_NONE, EFFECT_NONE, "", "or 27,27,27", \
	  "yield to the other threads of the core") \
	X(or_31,     "or-31-31-31",       ARCH_NEED_NONE, EFFECT_NONE, "", "or 31,31,31", \
	  "very low priority, which lasts for the whole loop") \
	X(nop,       "nop",               ARCH_NEED_NONE, EFFECT_NONE, "", "nop", "no operation (ori 0,0,0)") \
	X(none,      "none",              ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Fully ordered as in arch/powerpc/include/asm/atomic.h and cmpxchg.h: a reservation loop between two sync. The local
 * forms are the loop alone: cmpxchg_local and xchg_local (cmpxchg.h), and for add what local_t was before it took to
 * masking interrupts, which user space cannot (local.h, since Linux 4.16). 9: old value; 10: expected; 11: new value.
 */
#define PPC64_SYNC "sync\n\t"
#define PPC64_CMPXCHG(barrier) \
	barrier "1:\tlwarx 9,0,%[p]\n\tcmpw 9,10\n\tbne- 2f\n\tstwcx. 11,0,%[p]\n\tbne- 1b\n\t" barrier "\n2:\tmr 10,9"
#define PPC64_XADD(barrier) barrier "1:\tlwarx 9,0,%[p]\n\taddi 9,9,1\n\tstwcx. 9,0,%[p]\n\tbne- 1b\n\t" barrier
#define PPC64_XCHG(barrier) barrier "1:\tlwarx 9,0,%[p]\n\tstwcx. 11,0,%[p]\n\tbne- 1b\n\tmr 11,9\n\t" barrier

#define PPC64_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "li 10,0\n\tli 11,0", PPC64_CMPXCHG(PPC64_SYNC), \
	  "compare and swap by reservation, fully ordered") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, "li 10,0\n\tli 11,0", PPC64_CMPXCHG(""), \
	  "compare and swap by reservation, no order: cmpxchg_local") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "", PPC64_XADD(PPC64_SYNC), \
	  "add and return by reservation, fully ordered") \
	X(xadd_local,    "xadd-local",    ARCH_NEED_NONE, EFFECT_ADD, "", PPC64_XADD(""), \
	  "add and return by reservation, no order: local_t before Linux 4.16") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "li 11,1", PPC64_XCHG(PPC64_SYNC), \
	  "swap by reservation, fully ordered") \
	X(xchg_local,    "xchg-local",    ARCH_NEED_NONE, EFFECT_XCHG, "li 11,1", PPC64_XCHG(""), \
	  "swap by reservation, no order: xchg_local") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "li 10,0\n\tli 11,1", \
	  "1:\tlwarx 9,0,%[p]\n\tcmpwi 9,0\n\tbne- 1b\n\tstwcx. 11,0,%[p]\n\tbne- 1b\n\t" \
	  "lwsync\n\tlwsync\n\tstw 10,0(%[p])", \
	  "take and release a free test-and-set spin lock (lwsync after taking and before releasing)")

#define PPC64_MISSING(X)

#define PPC64_BARRIERS(X) \
	X(sync,   "sync",   ARCH_NEED_NONE, EFFECT_NONE, "", "sync", "full memory barrier (hwsync)") \
	X(lwsync, "lwsync", ARCH_NEED_NONE, EFFECT_NONE, "", "lwsync", "memory barrier, but for store-load") \
	X(isync,  "isync",  ARCH_NEED_NONE, EFFECT_NONE, "", "isync", "waits for all earlier instructions")

#define PPC64_COUNTERS(X) \
	X(mftb, "mftb", ARCH_NEED_NONE, EFFECT_NONE, "", "mftb 9", "read the time base, mostly 512 MHz: no CPU clock")

#define PPC64_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "li 9,0\n\tli 10,1", "add 9,9,10", \
	  "dependent additions: 1 to 2 cycles each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "li 9,3\n\tli 10,5", "mullw 9,9,10", \
	  "dependent multiplications: 4 to 7 cycles each")

#if defined(__powerpc64__) && !defined(PERF_RELAX_ARCH_GENERIC)

#if defined(__LITTLE_ENDIAN__)
#define ARCH_NAME "ppc64le"
#else
#define ARCH_NAME "ppc64"
#endif
#define ARCH_HINTS(X) PPC64_HINTS(X)
#define ARCH_ATOMICS(X) PPC64_ATOMICS(X)
#define ARCH_MISSING(X) PPC64_MISSING(X)
#define ARCH_BARRIERS(X) PPC64_BARRIERS(X)
#define ARCH_COUNTERS(X) PPC64_COUNTERS(X)
#define ARCH_CHAINS(X) PPC64_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "b"
#define ARCH_CLOBBERS "r9", "r10", "r11", "cr0", "xer", "memory"
#define ARCH_HINT_RESET "or 2,2,2"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
/* addic., not addi: register 0 would read as the number 0 there. */
#define ARCH_LOOP_STEP "\n\taddic. %[n],%[n],-1\n\tbne 77b\n\t" ARCH_HINT_RESET "\n\t"
#define ARCH_TICKS_NAME "timebase"
#define ARCH_TICKS_PROBE "mftb"

/* isync: all earlier instructions have completed, none that follow has begun (Book II 4.6.1). */
static inline unsigned long long arch_ticks_begin(void)
{
	unsigned long long t;

	__asm__ volatile("isync\n\tmftb %0\n\tisync" : "=r"(t) : : "memory");
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
