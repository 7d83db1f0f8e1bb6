/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The interface of the companion module, /dev/perf_relax: root only (mode 0600, CAP_SYS_ADMIN). Structures have one size on every
 * architecture, in 32- and 64-bit programs; every member is checked. Each request names the interface's version in `abi`, and any
 * other version than the module's is refused with EPROTONOSUPPORT. Reserved members must be 0.
 */
#ifndef PERF_RELAX_UAPI_H
#define PERF_RELAX_UAPI_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define PERF_RELAX_ABI			1
#define PERF_RELAX_DEVICE		"perf_relax"

#define PERF_RELAX_NAME_SIZE		32
#define PERF_RELAX_TEXT_SIZE		128
#define PERF_RELAX_BYTES_SIZE		64
#define PERF_RELAX_BLOCKS_MAX		64
#define PERF_RELAX_ITERS_MAX		(1u << 24)
/* A block is refused (ERANGE) when its planned time, from the cost measured just before, is longer than this. */
#define PERF_RELAX_BLOCK_NS_MAX		100000

/* perf_relax_info.flags */
#define PERF_RELAX_INFO_PARAVIRT	(1u << 0)	/* local_irq_disable/enable are not the plain instructions here (Xen PV, PVM): calls */
#define PERF_RELAX_INFO_IRQ_CHECKED	(1u << 1)	/* the above is known: the text was looked at. Without it nothing is claimed */
#define PERF_RELAX_INFO_HYPERVISOR	(1u << 2)	/* the CPU says that a hypervisor is present */
#define PERF_RELAX_INFO_RT		(1u << 3)	/* PREEMPT_RT: spin locks sleep, bottom halves take a lock */
#define PERF_RELAX_INFO_TRACE_IRQ	(1u << 4)	/* the kernel traces interrupts on/off: those cases include the tracing */
#define PERF_RELAX_INFO_DEBUG_LOCKS	(1u << 5)	/* lockdep or spin-lock debugging: the lock cases include it */
#define PERF_RELAX_INFO_PREEMPT		(1u << 6)	/* preempt_disable() does something */
#define PERF_RELAX_INFO_TICKS		(1u << 7)	/* blocks have ticks */
#define PERF_RELAX_INFO_PMU		(1u << 8)	/* built with kernel counters; whether this machine has them, a run says */

struct perf_relax_info {
	__u32 abi;		/* in */
	__u32 flags;
	__u32 cases;
	__u32 unroll;		/* operations of one iteration of the short loop; the long one has twice as many */
	__u32 block_ns_max;
	__u32 blocks_max;
	__u32 iters_max;
	__u32 reserved;
	char ticks_name[PERF_RELAX_NAME_SIZE];	/* "tsc", ..., or "" */
	char arch[PERF_RELAX_NAME_SIZE];	/* GNU name */
};

/* perf_relax_case.flags */
#define PERF_RELAX_CASE_HINT		(1u << 0)	/* a row of the arch header, the same text as in user space */
#define PERF_RELAX_CASE_ABSENT		(1u << 1)	/* cannot run here: `why` says why */
#define PERF_RELAX_CASE_IRQS_ON		(1u << 2)	/* interrupts are on during (part of) the block */
#define PERF_RELAX_CASE_PREEMPTIBLE	(1u << 3)	/* so is preemption (PREEMPT_RT only) */
#define PERF_RELAX_CASE_PARAVIRT	(1u << 4)	/* contains a paravirtual call in place of the instruction */

struct perf_relax_case {
	__u32 abi;		/* in */
	__u32 index;		/* in, from 0; ENOENT past the last */
	__u32 flags;
	__u32 bytes;		/* length of one operation's machine code, as it is in the running kernel; may exceed what fits in `code` */
	char name[PERF_RELAX_NAME_SIZE];
	char text[PERF_RELAX_TEXT_SIZE];	/* what the operation is, in C or assembly */
	char why[PERF_RELAX_TEXT_SIZE];
	__u8 code[PERF_RELAX_BYTES_SIZE];
};

/* perf_relax_block.flags */
#define PERF_RELAX_BLOCK_LONG		(1u << 0)	/* the long loop */
#define PERF_RELAX_BLOCK_OVERRUN	(1u << 1)	/* took more than twice the limit: stolen time, a firmware interrupt */
#define PERF_RELAX_BLOCK_SWITCHED	(1u << 2)	/* the thread was descheduled inside the block */
#define PERF_RELAX_BLOCK_CYCLES		(1u << 3)	/* `cycles` is a count */
#define PERF_RELAX_BLOCK_INSTRUCTIONS	(1u << 4)	/* `instructions` is a count */

struct perf_relax_block {
	__u64 ns;		/* raw monotonic clock; blocks include the cost of the reads, so use differences */
	__u64 ticks;
	__u64 cycles;
	__u64 instructions;
	__u32 flags;
	__u32 reserved;
};

/* perf_relax_run.loops */
#define PERF_RELAX_SHORT		1u
#define PERF_RELAX_LONG			2u
#define PERF_RELAX_ALTERNATE		3u	/* short, long, short, ... */

/* perf_relax_run.flags */
#define PERF_RELAX_RUN_PMU		(1u << 0)	/* count cycles and instructions */

/*
 * Run `blocks` blocks of `iters` iterations. The calling thread must be bound to `cpu`. Between blocks the kernel may schedule,
 * and a pending signal ends the run: EINTR, with the blocks done so far. Members marked "out" are also filled on EINTR and ERANGE.
 *
 *	ERANGE      a block would be longer than block_ns_max; iters_max is the most that would have been accepted
 *	ENODEV      the CPU is offline
 *	EXDEV       the thread is on another CPU
 *	EOPNOTSUPP  the case is absent
 *	ETIME       the kernel's clock is too coarse to bound a block by
 *	EIO         the operand does not show the operations, so they were not done
 */
struct perf_relax_run {
	__u32 abi;		/* in */
	__u32 index;		/* in: the case */
	__u32 cpu;		/* in */
	__u32 loops;		/* in */
	__u32 iters;		/* in: 1 .. PERF_RELAX_ITERS_MAX */
	__u32 blocks;		/* in: 1 .. PERF_RELAX_BLOCKS_MAX; out: blocks done */
	__u32 flags;		/* in */
	__u32 iters_max;	/* out: by the cost just measured, for the loops asked for */
	__u64 op_ps;		/* out: the cost measured, picoseconds an operation */
	__s32 cycles_error;	/* out: 0 or -errno: why there are no cycles */
	__s32 instructions_error;
	struct perf_relax_block block[PERF_RELAX_BLOCKS_MAX];	/* out */
};

#define PERF_RELAX_IOC_INFO	_IOWR('R', 0xe0, struct perf_relax_info)
#define PERF_RELAX_IOC_CASE	_IOWR('R', 0xe1, struct perf_relax_case)
#define PERF_RELAX_IOC_RUN	_IOWR('R', 0xe2, struct perf_relax_run)

#endif
