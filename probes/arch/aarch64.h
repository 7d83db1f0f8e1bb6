/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * aarch64. ARM ARM: Arm Architecture Reference Manual for A-profile (DDI 0487), chapter C6 for instructions, D for
 * registers.
 */
#ifndef PERF_RELAX_ARCH_AARCH64_H
#define PERF_RELAX_ARCH_AARCH64_H

#define AARCH64_NEED_LSE	1
#define AARCH64_NEED_SB		2
#define AARCH64_NEED_WFXT	3
#define AARCH64_NEED_ECV	4

/*
 * wfe sleeps unless the event register is set (ARM ARM C6 "WFE"), so sevl sets it first: the pair never sleeps and
 * costs its two instructions. wfet with a deadline of 0, which CNTVCT_EL0 passed long ago, returns at once (C6 "WFET").
 * sb and wfet are written as words for assemblers that lack FEAT_SB and FEAT_WFxT.
 */
#define AARCH64_HINTS(X) \
	X(yield,   "yield",   ARCH_NEED_NONE,    EFFECT_NONE, "", "yield", \
	  "hint that this is a spin-wait loop (ARM ARM YIELD); a no-op on most cores") \
	X(isb,     "isb",     ARCH_NEED_NONE,    EFFECT_NONE, "", "isb", \
	  "flush the pipeline (ARM ARM ISB); used as a delay since it really waits") \
	X(sb,      "sb",      AARCH64_NEED_SB,   EFFECT_NONE, "", ".inst 0xd50330ff", \
	  "speculation barrier (ARM ARM SB)") \
	X(wfe,     "wfe",     ARCH_NEED_NONE,    EFFECT_NONE, "", "sevl\n\twfe", \
	  "wait for event with the event set before (sevl): never sleeps") \
	X(wfet,    "wfet",    AARCH64_NEED_WFXT, EFFECT_NONE, "mov x9, xzr", ".inst 0xd5031009", \
	  "wait for event until a deadline that has passed, wfet x9 (ARM ARM WFET)") \
	X(dmb,     "dmb",     ARCH_NEED_NONE,    EFFECT_NONE, "", "dmb ish", \
	  "data memory barrier, inner shareable (ARM ARM DMB)") \
	X(nop,     "nop",     ARCH_NEED_NONE,    EFFECT_NONE, "", "nop", "no operation") \
	X(none,    "none",    ARCH_NEED_NONE,    EFFECT_NONE, "", "", "nothing at all: the empty loop body")

/*
 * Each in the two forms that the kernel chooses from at boot: exclusive accesses
 * (arch/arm64/include/asm/atomic_ll_sc.h, cmpxchg.h) and the single instructions of FEAT_LSE (atomic_lse.h). The plain
 * names are fully ordered: a releasing store and a dmb, or the acquire-release form. The local ones are without order:
 * what cmpxchg_local (arch_cmpxchg_relaxed in cmpxchg.h), this_cpu_add_return and this_cpu_xchg (percpu.h) do. local_t
 * itself is an atomic_long_t (asm-generic/local.h), so local_add_return costs what xadd costs.
 *
 * w9: old value; w10: expected; w11: new value or addend; w12: status.
 */
#define AARCH64_CMPXCHG(stxr, barrier) \
	"prfm pstl1strm, [%[p]]\n1:\tldxr w9, [%[p]]\n\teor w12, w9, w10\n\tcbnz w12, 2f\n\t" \
	stxr " w12, w11, [%[p]]\n\tcbnz w12, 1b" barrier "\n2:\tmov w10, w9"
#define AARCH64_XADD(stxr, barrier) \
	"prfm pstl1strm, [%[p]]\n1:\tldxr w9, [%[p]]\n\tadd w9, w9, #1\n\t" \
	stxr " w12, w9, [%[p]]\n\tcbnz w12, 1b" barrier
#define AARCH64_XCHG(stxr, barrier) \
	"prfm pstl1strm, [%[p]]\n1:\tldxr w9, [%[p]]\n\t" \
	stxr " w12, w11, [%[p]]\n\tcbnz w12, 1b" barrier "\n\tmov w11, w9"
#define AARCH64_LSE ".arch_extension lse\n\t"

#define AARCH64_ATOMICS(X) \
	X(cmpxchg,           "cmpxchg",           ARCH_NEED_NONE,   EFFECT_CMPXCHG, "mov w10, wzr\n\tmov w11, wzr", \
	  AARCH64_CMPXCHG("stlxr", "\n\tdmb ish"), "compare and swap by exclusive access, fully ordered") \
	X(cmpxchg_local,     "cmpxchg-local",     ARCH_NEED_NONE,   EFFECT_CMPXCHG, "mov w10, wzr\n\tmov w11, wzr", \
	  AARCH64_CMPXCHG("stxr", ""), "compare and swap by exclusive access, no order: cmpxchg_local") \
	X(cmpxchg_lse,       "cmpxchg-lse",       AARCH64_NEED_LSE, EFFECT_CMPXCHG, \
	  AARCH64_LSE "mov w10, wzr\n\tmov w11, wzr", \
	  "casal w10, w11, [%[p]]", "compare and swap in one instruction, fully ordered") \
	X(cmpxchg_local_lse, \
	  "cmpxchg-local-lse", AARCH64_NEED_LSE, EFFECT_CMPXCHG, AARCH64_LSE "mov w10, wzr\n\tmov w11, wzr", \
	  "cas w10, w11, [%[p]]", "compare and swap in one instruction, no order: cmpxchg_local") \
	X(xadd,              "xadd",              ARCH_NEED_NONE,   EFFECT_ADD, "", \
	  AARCH64_XADD("stlxr", "\n\tdmb ish"), "add and return by exclusive access, fully ordered") \
	X(xadd_local,        "xadd-local",        ARCH_NEED_NONE,   EFFECT_ADD, "", \
	  AARCH64_XADD("stxr", ""), "add and return by exclusive access, no order: this_cpu_add_return") \
	X(xadd_lse,          "xadd-lse",          AARCH64_NEED_LSE, EFFECT_ADD, AARCH64_LSE "mov w11, #1", \
	  "ldaddal w11, w9, [%[p]]", "add and return in one instruction, fully ordered") \
	X(xadd_local_lse,    "xadd-local-lse",    AARCH64_NEED_LSE, EFFECT_ADD, AARCH64_LSE "mov w11, #1", \
	  "ldadd w11, w9, [%[p]]", "add and return in one instruction, no order: this_cpu_add_return") \
	X(xchg,              "xchg",              ARCH_NEED_NONE,   EFFECT_XCHG, "mov w11, #1", \
	  AARCH64_XCHG("stlxr", "\n\tdmb ish"), "swap by exclusive access, fully ordered") \
	X(xchg_local,        "xchg-local",        ARCH_NEED_NONE,   EFFECT_XCHG, "mov w11, #1", \
	  AARCH64_XCHG("stxr", ""), "swap by exclusive access, no order: this_cpu_xchg") \
	X(xchg_lse,          "xchg-lse",          AARCH64_NEED_LSE, EFFECT_XCHG, AARCH64_LSE "mov w11, #1", \
	  "swpal w11, w11, [%[p]]", "swap in one instruction, fully ordered") \
	X(xchg_local_lse,    "xchg-local-lse",    AARCH64_NEED_LSE, EFFECT_XCHG, AARCH64_LSE "mov w11, #1", \
	  "swp w11, w11, [%[p]]", "swap in one instruction, no order: this_cpu_xchg") \
	X(spin_lock,         "spin-lock",         ARCH_NEED_NONE,   EFFECT_LOCK, "mov w11, #1", \
	  "1:\tldaxr w9, [%[p]]\n\tcbnz w9, 1b\n\tstxr w12, w11, [%[p]]\n\tcbnz w12, 1b\n\tstlr wzr, [%[p]]", \
	  "take and release a free test-and-set spin lock, by exclusive access") \
	X(spin_lock_lse,     "spin-lock-lse",     AARCH64_NEED_LSE, EFFECT_LOCK, AARCH64_LSE "mov w11, #1", \
	  "1:\tswpa w11, w9, [%[p]]\n\tcbnz w9, 1b\n\tstlr wzr, [%[p]]", \
	  "take and release a free test-and-set spin lock, by swap")

#define AARCH64_MISSING(X)

#define AARCH64_BARRIERS(X) \
	X(dmb_ishld, "dmb-ishld", ARCH_NEED_NONE, EFFECT_NONE, "", "dmb ishld", "data memory barrier for loads") \
	X(dmb_ishst, "dmb-ishst", ARCH_NEED_NONE, EFFECT_NONE, "", "dmb ishst", "data memory barrier for stores") \
	X(dsb,       "dsb",       ARCH_NEED_NONE, EFFECT_NONE, "", "dsb ish", \
	  "data synchronisation barrier, inner shareable")

/* The virtual counter runs at CNTFRQ_EL0, mostly 1 to 50 MHz: no CPU clock (ARM ARM D12, the Generic Timer). */
#define AARCH64_COUNTERS(X) \
	X(cntvct,     "cntvct",     ARCH_NEED_NONE,   EFFECT_NONE, "", "mrs x9, cntvct_el0", \
	  "read the virtual counter") \
	X(cntvct_isb, "cntvct-isb", ARCH_NEED_NONE,   EFFECT_NONE, "", "isb\n\tmrs x9, cntvct_el0", \
	  "read the virtual counter after earlier instructions") \
	X(cntvctss,   "cntvctss",   AARCH64_NEED_ECV, EFFECT_NONE, "", "mrs x9, s3_3_c14_c0_6", \
	  "read the self-synchronised virtual counter")

#define AARCH64_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "mov x9, xzr\n\tmov x10, #1", "add x9, x9, x10", \
	  "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "mov w9, #3\n\tmov w10, #5", "mul w9, w9, w10", \
	  "dependent multiplications: 2 to 4 cycles each")

#if defined(__aarch64__) && !defined(PERF_RELAX_ARCH_GENERIC)

#define ARCH_NAME "aarch64"
#define ARCH_HINTS(X) AARCH64_HINTS(X)
#define ARCH_ATOMICS(X) AARCH64_ATOMICS(X)
#define ARCH_MISSING(X) AARCH64_MISSING(X)
#define ARCH_BARRIERS(X) AARCH64_BARRIERS(X)
#define ARCH_COUNTERS(X) AARCH64_COUNTERS(X)
#define ARCH_CHAINS(X) AARCH64_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_CLOBBERS "x9", "x10", "x11", "x12", "x13", "cc", "memory"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\tsubs %[n], %[n], #1\n\tb.ne 77b\n\t"
#define ARCH_TICKS_NAME "cntvct"
#define ARCH_TICKS_PROBE "cntvct"

/* ISB: the read happens after all earlier instructions, and nothing that follows begins before it (ARM ARM D12.1.2). */
static inline unsigned long long arch_ticks_begin(void)
{
	unsigned long long t;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t) : : "memory");
	return t;
}

static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	unsigned long long t;

	(void)have_rdtscp;
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0\n\tisb" : "=r"(t) : : "memory");
	return t;
}

static inline unsigned long long arch_ticks_hz(void)
{
	unsigned long long hz;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(hz));
	return hz & 0xffffffffu;
}

/* Bits of the auxiliary vector: arch/arm64/include/uapi/asm/hwcap.h; Documentation/arch/arm64/elf_hwcaps.rst. */
static inline int arch_has(int need, unsigned long hwcap, unsigned long hwcap2)
{
	switch (need) {
	case ARCH_NEED_NONE:
		return 1;
	case AARCH64_NEED_LSE:
		return hwcap >> 8 & 1;
	case AARCH64_NEED_SB:
		return hwcap >> 29 & 1;
	case AARCH64_NEED_WFXT:
		return hwcap2 >> 31 & 1;
	case AARCH64_NEED_ECV:
		return hwcap2 >> 19 & 1;
	}
	return 0;
}

static inline const char *arch_need_name(int need)
{
	switch (need) {
	case AARCH64_NEED_LSE:
		return "FEAT_LSE (HWCAP_ATOMICS)";
	case AARCH64_NEED_SB:
		return "FEAT_SB (HWCAP_SB)";
	case AARCH64_NEED_WFXT:
		return "FEAT_WFxT (HWCAP2_WFXT)";
	case AARCH64_NEED_ECV:
		return "FEAT_ECV (HWCAP2_ECV)";
	}
	return "nothing";
}

#endif /* target */
#endif
