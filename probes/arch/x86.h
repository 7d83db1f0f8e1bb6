/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * x86: 64 and 32 bit. SDM: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2; APM: AMD64
 * Architecture Programmer's Manual, volume 3. Instructions that assemblers of 2018 lack are written as bytes.
 */
#ifndef PERF_RELAX_ARCH_X86_H
#define PERF_RELAX_ARCH_X86_H

#define X86_NEED_PAUSE		1
#define X86_NEED_SERIALIZE	2
#define X86_NEED_WAITPKG	3
#define X86_NEED_MWAITX		4
#define X86_NEED_RDTSCP		5
#define X86_NEED_SSE2		6
#define X86_NEED_TSC		7

/*
 * pause and rep-nop are the same bytes (SDM "PAUSE": encoded as REP NOP): the null control. `rep pause` is an error in
 * one statement, hence the two. tpause and umwait get a deadline in the past (EDX:EAX = 0), so what they cost is their
 * entry and exit; mwaitx gets a timer of one TSC tick (ECX bit 1, EBX = 1; APM "MWAITX").
 */
#define X86_HINTS(X) \
	X(pause,     "pause",     X86_NEED_PAUSE,     EFFECT_NONE, "", "pause", "spin-wait hint, F3 90 (SDM PAUSE)") \
	X(rep_nop,   "rep-nop",   X86_NEED_PAUSE,     EFFECT_NONE, "", "rep; nop", \
	  "the same bytes as pause, by its old name: the null control") \
	X(rep_pause, "rep-pause", X86_NEED_PAUSE,     EFFECT_NONE, "", "rep; pause", \
	  "pause with a redundant prefix, F3 F3 90") \
	X(nop,       "nop",       ARCH_NEED_NONE,     EFFECT_NONE, "", "nop", "no operation, 90") \
	X(none,      "none",      ARCH_NEED_NONE,     EFFECT_NONE, "", "", "nothing at all: the empty loop body") \
	X(lfence,    "lfence",    X86_NEED_SSE2,      EFFECT_NONE, "", "lfence", \
	  "load fence: waits for all earlier instructions (SDM LFENCE)") \
	X(serialize, "serialize", X86_NEED_SERIALIZE, EFFECT_NONE, "", ".byte 0x0f, 0x01, 0xe8", \
	  "serialise execution (SDM SERIALIZE)") \
	X(tpause,    "tpause",    X86_NEED_WAITPKG,   EFFECT_NONE, \
	  "xorl %%eax, %%eax; xorl %%edx, %%edx; movl $1, %%ecx", \
	  ".byte 0x66, 0x0f, 0xae, 0xf1", "timed pause in C0.1 with an expired deadline (SDM TPAUSE)") \
	X(umwait,    "umwait",    X86_NEED_WAITPKG,   EFFECT_NONE, "xorl %%edx, %%edx; movl $1, %%ecx", \
	  "mov %[p], %%" X86_AX "; .byte 0xf3, 0x0f, 0xae, 0xf0; xorl %%eax, %%eax; .byte 0xf2, 0x0f, 0xae, 0xf1", \
	  "umonitor and umwait in C0.1 with an expired deadline (SDM UMWAIT)") \
	X(mwaitx,    "mwaitx",    X86_NEED_MWAITX,    EFFECT_NONE, "", \
	  "mov %[p], %%" X86_AX "; xorl %%ecx, %%ecx; xorl %%edx, %%edx; .byte 0x0f, 0x01, 0xfa; " \
	  "movl $0xf0, %%eax; movl $2, %%ecx; movl $1, %%ebx; .byte 0x0f, 0x01, 0xfb", \
	  "monitorx and mwaitx with a timer of one tick (APM MWAITX)")

/*
 * The LOCK prefix is what makes a read-modify-write visible to other CPUs as one; without it the instruction is still
 * one for interrupts of this CPU: the kernel's local_t and this_cpu operations (arch/x86/include/asm/local.h). xchg
 * with memory locks always (SDM XCHG), so it has no local form.
 */
#define X86_ATOMICS(X) \
	X(cmpxchg,       "cmpxchg",       ARCH_NEED_NONE, EFFECT_CMPXCHG, "xorl %%eax, %%eax; xorl %%edx, %%edx", \
	  "lock; cmpxchgl %%edx, (%[p])", "compare and swap, locked") \
	X(cmpxchg_local, "cmpxchg-local", ARCH_NEED_NONE, EFFECT_CMPXCHG, "xorl %%eax, %%eax; xorl %%edx, %%edx", \
	  "cmpxchgl %%edx, (%[p])", "compare and swap, this CPU only (no LOCK)") \
	X(xadd,          "xadd",          ARCH_NEED_NONE, EFFECT_ADD, "", \
	  "movl $1, %%eax; lock; xaddl %%eax, (%[p])", "add and return, locked") \
	X(xadd_local,    "xadd-local",    ARCH_NEED_NONE, EFFECT_ADD, "", \
	  "movl $1, %%eax; xaddl %%eax, (%[p])", "add and return, this CPU only (no LOCK)") \
	X(xchg,          "xchg",          ARCH_NEED_NONE, EFFECT_XCHG, "movl $1, %%eax", \
	  "xchgl %%eax, (%[p])", "swap; always locked on x86, so there is no local form") \
	X(spin_lock,     "spin-lock",     ARCH_NEED_NONE, EFFECT_LOCK, "", \
	  "1: movl $1, %%eax; xchgl %%eax, (%[p]); testl %%eax, %%eax; jnz 1b; movl $0, (%[p])", \
	  "take and release a free test-and-set spin lock")

#define X86_MISSING(X) \
	X(ATOMIC, "xchg-local", "x86 has no CPU-local swap: xchg with memory locks always (SDM XCHG)")

#define X86_BARRIERS(X) \
	X(mfence, "mfence", X86_NEED_SSE2, EFFECT_NONE, "", "mfence", "full memory fence") \
	X(sfence, "sfence", X86_NEED_SSE2, EFFECT_NONE, "", "sfence", "store fence")

#define X86_COUNTERS(X) \
	X(rdtsc,  "rdtsc",  X86_NEED_TSC,    EFFECT_NONE, "", "rdtsc", "read the time-stamp counter") \
	X(rdtscp, "rdtscp", X86_NEED_RDTSCP, EFFECT_NONE, "", "rdtscp", \
	  "read the time-stamp counter after earlier instructions")

/*
 * Both operands are registers: cores since Golden Cove and Zen 5 may fold a chain of `add $imm, %reg` at rename, at
 * less than a cycle each, and such a chain would make every "cycles~" wrong (seen: 0.2 cycles an add on a family 6
 * model 207).
 */
#define X86_CHAINS(X) \
	X(chain_add, "chain-add", ARCH_NEED_NONE, EFFECT_NONE, "xorl %%eax, %%eax; movl $1, %%edx", \
	  "addl %%edx, %%eax", "dependent additions: 1 cycle each") \
	X(chain_mul, "chain-mul", ARCH_NEED_NONE, EFFECT_NONE, "movl $3, %%eax; movl $5, %%edx", "imull %%edx, %%eax", \
	  "dependent multiplications: 3 cycles each on most cores")

#if (defined(__x86_64__) || defined(__i386__)) && !defined(PERF_RELAX_ARCH_GENERIC)

#ifdef __x86_64__
#define ARCH_NAME "x86_64"
#define X86_AX "rax"
#define ARCH_CLOBBERS "rax", "rbx", "rcx", "rdx", "cc", "memory"
#else
#define ARCH_NAME "i386"
#define X86_AX "eax"
#define ARCH_CLOBBERS "eax", "ebx", "ecx", "edx", "cc", "memory"
#endif

#define ARCH_HINTS(X) X86_HINTS(X)
#define ARCH_ATOMICS(X) X86_ATOMICS(X)
#define ARCH_MISSING(X) X86_MISSING(X)
#define ARCH_BARRIERS(X) X86_BARRIERS(X)
#define ARCH_COUNTERS(X) X86_COUNTERS(X)
#define ARCH_CHAINS(X) X86_CHAINS(X)
#define ARCH_OPERAND_BITS 32
#define ARCH_POINTER "r"
#define ARCH_LOOP_BEGIN ".p2align 6\n77:\n\t"
#define ARCH_LOOP_STEP "\n\tdec %[n]\n\tjnz 77b\n\t"
#define ARCH_TICKS_NAME "tsc"
#define ARCH_TICKS_PROBE "rdtsc"

static inline void arch_cpuid(unsigned int leaf, unsigned int sub, unsigned int r[4])
{
	__asm__ volatile("cpuid" : "=a"(r[0]), "=b"(r[1]), "=c"(r[2]), "=d"(r[3]) : "a"(leaf), "c"(sub));
}

/* LFENCE waits until all earlier instructions have completed (SDM RDTSC: "LFENCE immediately before RDTSC"). */
static inline unsigned long long arch_ticks_begin(void)
{
	unsigned int lo, hi;

	__asm__ volatile("lfence; rdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return ((unsigned long long)hi << 32) | lo;
}

/* Without RDTSCP (hidden by some hypervisors) LFENCE; RDTSC orders as well, and costs a little more. */
static inline unsigned long long arch_ticks_end(int have_rdtscp)
{
	unsigned int lo, hi, aux;

	if (have_rdtscp)
		__asm__ volatile("rdtscp; lfence" : "=a"(lo), "=d"(hi), "=c"(aux) : : "memory");
	else
		__asm__ volatile("lfence; rdtsc; lfence" : "=a"(lo), "=d"(hi) : : "memory");
	return ((unsigned long long)hi << 32) | lo;
}

/*
 * The counter's frequency where the CPU states it: CPUID.15H, crystal * EBX / EAX (SDM volume 3, "Determining the
 * Processor Base Frequency"). 0: not stated; measure it.
 */
static inline unsigned long long arch_ticks_hz(void)
{
	unsigned int r[4];

	arch_cpuid(0, 0, r);
	if (r[0] < 0x15)
		return 0;
	arch_cpuid(0x15, 0, r);
	if (!r[0] || !r[1] || !r[2])
		return 0;
	return (unsigned long long)r[2] * r[1] / r[0];
}

/* SDM volume 2, CPUID; APM volume 3, appendix E. @hwcap and @hwcap2 are not used: CPUID says what can be executed. */
static inline int arch_has(int need, unsigned long hwcap, unsigned long hwcap2)
{
	unsigned int max[4], xmax[4], r[4];

	(void)hwcap;
	(void)hwcap2;
	arch_cpuid(0, 0, max);
	arch_cpuid(0x80000000u, 0, xmax);
	switch (need) {
	case ARCH_NEED_NONE:
	case X86_NEED_PAUSE:	/* on CPUs before it, F3 90 is a NOP (SDM PAUSE) */
		return 1;
	case X86_NEED_TSC:
		arch_cpuid(1, 0, r);
		return r[3] >> 4 & 1;
	case X86_NEED_SSE2:
		arch_cpuid(1, 0, r);
		return r[3] >> 26 & 1;
	case X86_NEED_SERIALIZE:
	case X86_NEED_WAITPKG:
		if (max[0] < 7)
			return 0;
		arch_cpuid(7, 0, r);
		return need == X86_NEED_SERIALIZE ? r[3] >> 14 & 1 : r[2] >> 5 & 1;
	case X86_NEED_RDTSCP:
	case X86_NEED_MWAITX:
		if (xmax[0] < 0x80000001u)
			return 0;
		arch_cpuid(0x80000001u, 0, r);
		return need == X86_NEED_RDTSCP ? r[3] >> 27 & 1 : r[2] >> 29 & 1;
	}
	return 0;
}

static inline const char *arch_need_name(int need)
{
	switch (need) {
	case X86_NEED_TSC:
		return "a time-stamp counter (CPUID.01H:EDX[4])";
	case X86_NEED_SSE2:
		return "SSE2 (CPUID.01H:EDX[26])";
	case X86_NEED_SERIALIZE:
		return "SERIALIZE (CPUID.07H:EDX[14])";
	case X86_NEED_WAITPKG:
		return "WAITPKG (CPUID.07H:ECX[5])";
	case X86_NEED_RDTSCP:
		return "RDTSCP (CPUID.80000001H:EDX[27])";
	case X86_NEED_MWAITX:
		return "MONITORX (CPUID.80000001H:ECX[29])";
	}
	return "nothing";
}

#endif /* target */
#endif
