/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * alpha. AHB: Alpha Architecture Handbook, version 4, chapter 4.
 */
#ifndef PERF_RELAX_ARCH_ALPHA_H
#define PERF_RELAX_ARCH_ALPHA_H

/* There is no spin-wait hint: the kernel's cpu_relax is a compiler barrier. */
#define ALPHA_HINTS(X) \
	X(nop,  "nop",  ARCH_NEED_NONE, EFFECT_NONE, "", "bis $31,$31,$31", "no operation (bis $31,$31,$31)") \
	X(none, "none", ARCH_NEED_NONE, EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Fully ordered as in arch/alpha/include/asm/atomic.h and cmpxchg.h: load locked and store conditional (AHB 4.2.4,
 * 4.2.5) between two mb. Local: without mb, local_add_return (local.h), cmpxchg_local and xchg_local (cmpxchg.h). $1:
 * old value; $2: expected; $3: new value; $4: status.
 */
#define ALPHA_MB "mb\n"
#define ALPHA_CMPXCHG(barrier) \
	barrier "1:\tldl_l $1,0(%[p])\n\tcmpeq $1,$2,$4\n\tbeq $4,2f\n\tmov $3,$4\n\tstl_c $4,0(%[p])\n\t" \
	"beq $4,1b\n2:\tmov $1,$2\n\t" barrier
#define ALPHA_XADD(barrier) barrier "1:\tldl_l $1,0(%[p])\n\taddl $1,1,$4\n\tstl_c $4,0(%[p])\n\tbeq $4,1b\n\t" barrier
#define ALPHA_XCHG(barrier) \
	barrier "1:\tldl_l $1,0(%[p])\n\tmov $3,$4\n\tstl_c $4,0(%[p])\n\tbeq $4,1b\n\tmov $1,$3\n\t" barrier

#define ALPHA_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "mov $31,$2\n\tmov $31,$3", ALPHA_CMPXCHG(ALPHA_MB), \
	  "compare and swap by locked load, fully ordered") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, \
	  "mov $31,$2\n\tmov $31,$3", ALPHA_CMPXCHG(""), \
	  "compare and swap by locked load, no order: cmpxchg_local") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "", ALPHA_XADD(ALPHA_MB), \
	  "add and return by locked load, fully ordered") \
	X(xadd_local,    "xadd-local",    ARCH_NEED_NONE, EFFECT_ADD, "", ALPHA_XADD(""), \
	  "add and return by locked load, no order: local_add_return") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "lda $3,1($31)", ALPHA_XCHG(ALPHA_MB), \
	  "swap by locked load, fully ordered") \
	X(xchg_local,    "xchg-local",    ARCH_NEED_NONE, EFFECT_XCHG, "lda $3,1($31)", ALPHA_XCHG(""), \
	  "swap by locked load, no order: xchg_local") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "", \
	  "1:\tldl_l $1,0(%[p])\n\tbne $1,1b\n\tlda $4,1($31)\n\tstl_c $4,0(%[p])\n\tbeq $4,1b\n\t" \
	  "mb\n\tmb\n\tstl $31,0(%[p])", \
	  "take and release a free test-and-set spin lock (mb after taking and before releasing)")

#define ALPHA_MISSING(X)

#define ALPHA_BARRIERS(X) \
	X(mb,  "mb",  ARCH_NEED_NONE, EFFECT_NONE, "", "mb", "full memory barrier") \
	X(wmb, "wmb", ARCH_NEED_NONE, EFFECT_NONE, "", "wmb", "memory barrier for stores")

#define ALPHA_COUNTERS(X) \
	X(rpcc, "rpcc", ARCH_NEED_NONE, EFFECT_NONE, "", "rpcc $1", \
	  "read the process cycle counter (AHB RPCC), 32 bits")

#define ALPHA_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "mov $31,$1\n\tlda $2,1($31)", "addl $1,$2,$1", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "lda $1,3($31)\n\tlda $2,5($31)", "mull $1,$2,$1", \
	  "dependent multiplications: 7 cycles each on EV6")

#if defined(__alpha__) && !defined(PERF_RELAX_ARCH_GENERIC)

#define ARCH_NAME "alpha"
#define ARCH_HINTS(X) ALPHA_HINTS(X)
#define ARCH_ATOMICS(X) ALPHA_ATOMICS(X)
#define ARCH_MISSING(X) ALPHA_MISSING(X)
#define ARCH_BARRIERS(X) ALPHA_BARRIERS(X)
#define ARCH_COUNTERS(X) ALPHA_COUNTERS(X)
#define ARCH_CHAINS(X) ALPHA_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_CLOBBERS "$1", "$2", "$3", "$4", "memory"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\tsubq %[n],1,%[n]\n\tbne %[n],77b\n\t"
#define ARCH_TICKS_NONE "the counter that user space can read on alpha (rpcc) has 32 bits and wraps within seconds"

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
