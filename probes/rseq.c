/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * rseq-add and rseq-cmpxchg: restartable sequences through the area that glibc (2.35 and later) registers for every
 * thread (rseq(2); kernel: Documentation of struct rseq in include/uapi/linux/rseq.h). One operation announces its
 * critical section, checks that the thread is still on the CPU whose operand it holds, and commits with one store. When
 * the kernel preempts, migrates or signals the thread inside, it resumes at the abort handler, which starts the
 * operation again: no LOCK prefix, no exclusive access, no lost update.
 */
#include "loop.h"

size_t probe_rseq_stride_bytes;

const char *probe_rseq_missing(void)
{
#ifdef PROBE_HAVE_RSEQ
	return NULL;
#elif !defined(PROBE_RSEQ_WRITTEN)
	return "no restartable sequence is written for " ARCH_NAME " (x86_64, aarch64, ppc64le and s390x have one)";
#else
	return "built with a C library that registers no rseq area (glibc 2.35 or later is needed, with <sys/rseq.h>)";
#endif
}

#ifdef PROBE_HAVE_RSEQ
static struct rseq *rseq_area(void)
{
	unsigned char *thread;

#if defined(__x86_64__)
	__asm__("movq %%fs:0, %0" : "=r"(thread));
#elif defined(__aarch64__)
	__asm__("mrs %0, tpidr_el0" : "=r"(thread));
#elif defined(__s390x__)
	thread = __builtin_thread_pointer();
#else
	__asm__("mr %0,13" : "=r"(thread));
#endif
	return (struct rseq *)(void *)(thread + __rseq_offset);
}

const char *probe_rseq_here(void)
{
	if (!__rseq_size)
		return "glibc registered no rseq area: the kernel lacks rseq(2) (before 4.18, without CONFIG_RSEQ, or "
		       "an emulator), or GLIBC_TUNABLES has glibc.pthread.rseq=0";
	if ((int)*(volatile uint32_t *)&rseq_area()->cpu_id < 0)
		return "the kernel refused to register this thread's rseq area";
	return NULL;
}

/*
 * Labels: 60 descriptor (struct rseq_cs: version, flags, start, length, abort), 61 start, 62 after the commit, 63
 * restart, 64 abort handler, 65 moved to another CPU, 67 compared unequal. The kernel demands RSEQ_SIG in the 4 bytes
 * before the abort handler. What is seldom executed lies in subsection 1, behind all functions of the section.
 */
#define RSEQ_DESCRIPTOR \
	".pushsection .data.rel.ro, \"aw\"\n\t.balign 32\n60:\t.long 0, 0\n\t.quad 61f, 62f - 61f, 64f\n\t.popsection\n"

#if defined(__x86_64__)
/* rax: this CPU's operand; edx: its CPU; rcx: descriptor; ebx: expected; r8: old; r9: new */
#define RSEQ_CLOBBERS ARCH_CLOBBERS, "r8", "r9"
#define RSEQ_SETUP \
	"movl (%[area]), %%edx\n\tmovq %%rdx, %%rax\n\timulq %[stride], %%rax\n\taddq %[p], %%rax\n\t" \
	"xorl %%ebx, %%ebx\n\txorl %%r9d, %%r9d"
#define RSEQ_FINISH "movq $0, 8(%[area])\n\t"
#define RSEQ_ENTER \
	RSEQ_DESCRIPTOR "63:\tleaq 60b(%%rip), %%rcx\n\tmovq %%rcx, 8(%[area])\n" \
	"61:\tcmpl %%edx, 4(%[area])\n\tjne 65f\n\t"
#define RSEQ_ABORT \
	".byte 0x0f, 0xb9, 0x3d\n\t.long " PROBE_STR(RSEQ_SIG) "\n64:\tjmp 63b\n" \
	"65:\tmovl (%[area]), %%edx\n\tmovq %%rdx, %%rax\n\timulq %[stride], %%rax\n\taddq %[p], %%rax\n\tjmp 63b\n\t"
#define RSEQ_ADD RSEQ_ENTER "addl $1, (%%rax)\n62:\n\t.subsection 1\n\t" RSEQ_ABORT ".previous"
#define RSEQ_CMPXCHG \
	RSEQ_ENTER "movl (%%rax), %%r8d\n\tcmpl %%ebx, %%r8d\n\tjne 67f\n\tmovl %%r9d, (%%rax)\n62:\n\t" \
	".subsection 1\n\t" RSEQ_ABORT "67:\tmovl %%r8d, %%ebx\n\tjmp 62b\n\t.previous"
#elif defined(__aarch64__)
/* x9: this CPU's operand; w10: its CPU; x11: descriptor, CPU now; w12: expected; w13: old */
#define RSEQ_CLOBBERS ARCH_CLOBBERS
#define RSEQ_SETUP "ldr w10, [%[area]]\n\tmadd x9, x10, %[stride], %[p]\n\tmov w12, wzr"
#define RSEQ_FINISH "str xzr, [%[area], #8]\n\t"
#define RSEQ_ENTER \
	RSEQ_DESCRIPTOR "63:\tadrp x11, 60b\n\tadd x11, x11, :lo12:60b\n\tstr x11, [%[area], #8]\n" \
	"61:\tldr w11, [%[area], #4]\n\tcmp w11, w10\n\tb.ne 65f\n\t"
#define RSEQ_ABORT \
	".inst 0xd428bc00\n64:\tb 63b\n65:\tldr w10, [%[area]]\n\tmadd x9, x10, %[stride], %[p]\n\tb 63b\n\t"
#define RSEQ_ADD \
	RSEQ_ENTER "ldr w13, [x9]\n\tadd w13, w13, #1\n\tstr w13, [x9]\n62:\n\t.subsection 1\n\t" RSEQ_ABORT ".previous"
#define RSEQ_CMPXCHG \
	RSEQ_ENTER "ldr w13, [x9]\n\tcmp w13, w12\n\tb.ne 67f\n\tstr wzr, [x9]\n62:\n\t" \
	".subsection 1\n\t" RSEQ_ABORT "67:\tmov w12, w13\n\tb 62b\n\t.previous"
#elif defined(__s390x__)
/* r3: this CPU's operand; r2: its CPU; r1: descriptor; r4: expected; r0: old; r5: new */
#define RSEQ_CLOBBERS ARCH_CLOBBERS, "r0", "r4", "r5"
#define RSEQ_RELOAD "llgf %%r2,0(%[area])\n\tlgr %%r3,%%r2\n\tmsgr %%r3,%[stride]\n\tagr %%r3,%[p]\n\t"
#define RSEQ_SETUP RSEQ_RELOAD "lhi %%r4,0\n\tlhi %%r5,0"
#define RSEQ_FINISH "lghi %%r1,0\n\tstg %%r1,8(%[area])\n\t"
#define RSEQ_ENTER \
	RSEQ_DESCRIPTOR "63:\tlarl %%r1,60b\n\tstg %%r1,8(%[area])\n61:\tc %%r2,4(%[area])\n\tjgne 65f\n\t"
#define RSEQ_ABORT ".long " PROBE_STR(RSEQ_SIG) "\n64:\tjg 63b\n65:\t" RSEQ_RELOAD "jg 63b\n\t"
#define RSEQ_ADD \
	RSEQ_ENTER "l %%r0,0(%%r3)\n\tahi %%r0,1\n\tst %%r0,0(%%r3)\n62:\n\t.subsection 1\n\t" RSEQ_ABORT ".previous"
#define RSEQ_CMPXCHG \
	RSEQ_ENTER "l %%r0,0(%%r3)\n\tcr %%r0,%%r4\n\tjgne 67f\n\tst %%r5,0(%%r3)\n62:\n\t" \
	".subsection 1\n\t" RSEQ_ABORT "67:\tlr %%r4,%%r0\n\tjg 62b\n\t.previous"
#else
/*
 * 11: this CPU's operand; 10: its CPU; 9: descriptor, CPU now, old; 7: expected; 8: new. 2 is the TOC of the whole
 * program.
 */
#define RSEQ_CLOBBERS ARCH_CLOBBERS, "r7", "r8"
#define RSEQ_RELOAD "lwz 10,0(%[area])\n\tmulld 11,10,%[stride]\n\tadd 11,11,%[p]\n\t"
#define RSEQ_SETUP RSEQ_RELOAD "li 7,0\n\tli 8,0"
#define RSEQ_FINISH "li 9,0\n\tstd 9,8(%[area])\n\t"
#define RSEQ_ENTER \
	RSEQ_DESCRIPTOR "63:\taddis 9,2,60b@toc@ha\n\taddi 9,9,60b@toc@l\n\tstd 9,8(%[area])\n" \
	"61:\tlwz 9,4(%[area])\n\tcmpw 9,10\n\tbne- 65f\n\t"
#define RSEQ_ABORT ".long " PROBE_STR(RSEQ_SIG) "\n64:\tb 63b\n65:\t" RSEQ_RELOAD "b 63b\n\t"
#define RSEQ_ADD \
	RSEQ_ENTER "lwz 9,0(11)\n\taddi 9,9,1\n\tstw 9,0(11)\n62:\n\t.subsection 1\n\t" RSEQ_ABORT ".previous"
#define RSEQ_CMPXCHG \
	RSEQ_ENTER "lwz 9,0(11)\n\tcmpw 9,7\n\tbne- 67f\n\tstw 8,0(11)\n62:\n\t" \
	".subsection 1\n\t" RSEQ_ABORT "67:\tmr 7,9\n\tb 62b\n\t.previous"
#endif

#define RSEQ_FUNCTION(fn, body) \
	PROBE_NOCOPY void fn(void *operand, uint64_t iters) \
	{ \
		__asm__ volatile(RSEQ_SETUP "\n\t" ARCH_LOOP_BEGIN body ARCH_LOOP_STEP RSEQ_FINISH \
				 : [n] "+r"(iters), [p] "+" ARCH_POINTER(operand) \
				 : [area] ARCH_POINTER(rseq_area()), [stride] "r"(probe_rseq_stride_bytes) \
				 : RSEQ_CLOBBERS); \
	}

#define RSEQ_LOOPS(ident, body) \
	RSEQ_FUNCTION(probe_short_##ident, PROBE_SHORT_BODY(ident, PROBE_UNROLL_ATOMIC, body)) \
	RSEQ_FUNCTION(probe_long_##ident, PROBE_LONG_BODY(ident, PROBE_UNROLL_ATOMIC, body))

RSEQ_LOOPS(rseq_add, RSEQ_ADD)
RSEQ_LOOPS(rseq_cmpxchg, RSEQ_CMPXCHG)

#else

const char *probe_rseq_here(void)
{
	return NULL;
}

#endif
