/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one door to the instruction sequences of all architectures. Includes nothing but its neighbours, so that the
 * tool, its tests and the kernel module compile the same text.
 *
 * Every arch header defines, for every build host, the lists of its primitives (they are only text):
 *
 *	<ARCH>_HINTS(X)     spin-wait hints
 *	<ARCH>_ATOMICS(X)   locked and CPU-local read-modify-writes
 *	<ARCH>_BARRIERS(X)  memory and instruction barriers
 *	<ARCH>_COUNTERS(X)  reads of time counters
 *	<ARCH>_CHAINS(X)    dependent chains for calibration: chain-add, chain-mul
 *
 * each row being X(ident, "name", NEED, EFFECT, SETUP, BODY, "summary"):
 *
 *	ident    C identifier; "name" is what the user types: instruction and variant, never a promise such as "relax"
 *	NEED     ARCH_NEED_NONE, or what the CPU must have: a constant of the arch header, for arch_has()
 *	EFFECT   one of EFFECT_* below: what the body does to the operand; the probe test checks it everywhere
 *	SETUP    assembly run once before the loop; the registers it sets are still set when the body runs
 *	BODY     assembly of one operation, one instruction a line ("\n\t"; ';' begins a comment for some assemblers);
 *	         it may use %[p] (pointer to a 64-byte operand of zeros, cache line aligned) and the registers
 *	         that ARCH_CLOBBERS names, numeric labels below 70, and must be valid when repeated by .rept
 *
 * and <ARCH>_MISSING(X), rows X(CLASS, "name", "why") for names that most architectures have and this one cannot have;
 * CLASS is one of the lists' words in the singular: ATOMIC, CHAIN;
 *
 * and, only when it is the target, the macros and inline functions that arch.h lists under "target" below.
 */
#ifndef PERF_RELAX_ARCH_H
#define PERF_RELAX_ARCH_H

/* What a body does to its operand, a 32- or 64-bit word of ARCH_OPERAND_BITS at %[p], initially 0. */
#define EFFECT_NONE	0	/* nothing */
#define EFFECT_ADD	1	/* adds 1 an operation */
/* Compares with 0 (later: with the value last seen) and stores 0: any start value is 0 after two operations. */
#define EFFECT_CMPXCHG	2
/* Swaps with a register that holds 1 at first: 1 after an odd number of operations, the start value after an even. */
#define EFFECT_XCHG	3
#define EFFECT_LOCK	4	/* takes and releases a lock: 0 before and after */

#define ARCH_NEED_NONE	0

#include "x86.h"
#include "aarch64.h"
#include "arm.h"
#include "ppc64.h"
#include "riscv64.h"
#include "s390x.h"
#include "mips64.h"
#include "alpha.h"
#include "generic.h"

/* Every list there is, with its architecture: X(arch, LIST). To tell users where a name that is absent here belongs. */
#define ARCH_LISTS(X) \
	X("x86", X86_HINTS) X("x86", X86_ATOMICS) X("x86", X86_BARRIERS) X("x86", X86_COUNTERS) \
	X("aarch64", AARCH64_HINTS) X("aarch64", AARCH64_ATOMICS) \
	X("aarch64", AARCH64_BARRIERS) X("aarch64", AARCH64_COUNTERS) \
	X("arm", ARM_HINTS) X("arm", ARM_ATOMICS) X("arm", ARM_BARRIERS) X("arm", ARM_COUNTERS) \
	X("ppc64", PPC64_HINTS) X("ppc64", PPC64_ATOMICS) X("ppc64", PPC64_BARRIERS) X("ppc64", PPC64_COUNTERS) \
	X("riscv64", RISCV64_HINTS) X("riscv64", RISCV64_ATOMICS) \
	X("riscv64", RISCV64_BARRIERS) X("riscv64", RISCV64_COUNTERS) \
	X("s390x", S390X_HINTS) X("s390x", S390X_ATOMICS) X("s390x", S390X_BARRIERS) X("s390x", S390X_COUNTERS) \
	X("mips64", MIPS64_HINTS) X("mips64", MIPS64_ATOMICS) \
	X("mips64", MIPS64_BARRIERS) X("mips64", MIPS64_COUNTERS) \
	X("alpha", ALPHA_HINTS) X("alpha", ALPHA_ATOMICS) X("alpha", ALPHA_BARRIERS) X("alpha", ALPHA_COUNTERS)

/*
 * The target. Defined by exactly one of the headers above:
 *
 *	ARCH_NAME              "x86_64", "i386", "aarch64", ... (GNU names)
 *	ARCH_HINTS ... ARCH_CHAINS, ARCH_MISSING   its lists
 *	ARCH_OPERAND_BITS      32 or 64
 *	ARCH_CLOBBERS          registers that setups and bodies may use, as an asm clobber list, with "memory"
 *	ARCH_POINTER           constraint for %[p] ("r"; "b" on ppc64)
 *	ARCH_LOOP_BEGIN        assembly: align to 64 bytes and set label 77
 *	ARCH_LOOP_STEP         assembly: take 1 from %[n] and branch to 77b while it is not 0
 *	ARCH_HINT_RESET        assembly after a wait that used hints, when a hint outlives itself (ppc64: thread
 *	                       priority); else empty
 *	ARCH_TICKS_NAME        "tsc", "cntvct", "timebase", ...: the counter of arch_ticks_*()
 *	ARCH_TICKS_PROBE       name of the probe that reads it
 *	ARCH_TICKS_NONE        instead of both: why user space has no counter; arch_ticks_*() then return 0
 *	arch_ticks_begin()     unsigned long long: the counter, ordered after what came before and before what follows
 *	arch_ticks_end(int have_rdtscp)   likewise; the argument matters to x86 only: it has RDTSCP
 *	arch_ticks_hz()        the counter's frequency where the architecture states it, else 0
 *	arch_has(need, hwcap, hwcap2)  1 when the CPU has NEED; hwcap and hwcap2 from the auxiliary vector (x86 asks
 *	                       CPUID instead)
 *	arch_need_name(need)   what is missing, in the manual's words ("WAITPKG (CPUID.07H:ECX[5])")
 */
#ifndef ARCH_NAME
#error "no arch header has taken this target"
#endif

#ifndef ARCH_HINT_RESET
#define ARCH_HINT_RESET ""
#endif

#endif
