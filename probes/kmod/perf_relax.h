/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to the module: the cases, how a block is measured, and the 2009 output. */
#ifndef PERF_RELAX_KMOD_H
#define PERF_RELAX_KMOD_H

#include <linux/cache.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <asm/local.h>

#include "arch/arch.h"
#include "perf_relax_uapi.h"

#define RELAX_UNROLL 8		/* assemblers need a literal */
#define RELAX_LINE 64

/* What the operations work on: each on a cache line of its own, all zero (the lock: free) at the start of a block. */
struct relax_operands {
	u32 word[RELAX_LINE / 4] __aligned(RELAX_LINE);
	atomic_t atomic __aligned(RELAX_LINE);
	local_t local __aligned(RELAX_LINE);
	spinlock_t lock __aligned(RELAX_LINE);
} __aligned(RELAX_LINE);

enum relax_context {
	RELAX_IRQS_OFF,		/* interrupts off when the block begins */
	RELAX_IRQS_ON,		/* interrupts on, preemption off */
	RELAX_MAY_SLEEP,	/* as IRQS_ON, but preemptible where locks sleep (PREEMPT_RT) */
};

/* Which operand counts the operations, so that a block can be checked to have done them. */
enum relax_effect {
	RELAX_EFFECT_NONE,
	RELAX_EFFECT_WORD_ZERO,
	RELAX_EFFECT_ATOMIC,
	RELAX_EFFECT_LOCAL,
	RELAX_EFFECT_PERCPU,
	RELAX_EFFECT_PERCPU_ZERO,
};

struct relax_case {
	const char *name, *text;
	enum relax_context context;
	enum relax_effect effect;
	bool hint;
	bool toggles_irqs;	/* built on local_irq_*: may be paravirtual */
	bool ends_irqs_on;	/* leaves interrupts on whatever the context */
	int need;		/* arch need of a hint */
	void (*run[2])(struct relax_operands *operands, unsigned long iters);	/* short, long */
	const u8 *begin, *end;	/* text of one operation */
};

extern const struct relax_case relax_cases[];
extern const unsigned int relax_case_count;

/* NULL, or why this CPU cannot execute the case. */
const char *relax_case_why_absent(const struct relax_case *c);
u32 relax_case_flags(const struct relax_case *c);
const struct relax_case *relax_case_find(const char *name);
/* The per-CPU operand of this CPU: preemption is off. */
u32 relax_percpu_value(void);
void relax_percpu_clear(void);

/* Is local_irq_disable() the plain instruction? 1 yes, 0 no (paravirtual), -1 not known for this architecture. */
int relax_irq_is_plain(void);

/*
 * Cost of one operation on this CPU in picoseconds, at least 1, by the fastest of a few tries that are themselves bounded. -EXDEV
 * when the thread is not on @cpu; -ETIME when the kernel's clock is too coarse to bound a block by.
 */
int relax_measure_cost(const struct relax_case *c, struct relax_operands *operands, unsigned int cpu, u64 *op_ps);
/* Iterations whose planned time is within the limit. @length: 0 short, 1 long. */
u64 relax_iters_max(u64 op_ps, unsigned int length);

struct relax_counters;
struct relax_counters *relax_counters_open(unsigned int cpu, s32 *cycles_error, s32 *instructions_error);
void relax_counters_close(struct relax_counters *counters);

/* One block on @cpu; @counters may be NULL. 0; -EXDEV: on another CPU; -EIO: the operand shows that the operations were not done. */
int relax_block(const struct relax_case *c, struct relax_operands *operands, unsigned int cpu, unsigned int length, unsigned long iters,
		struct relax_counters *counters, struct perf_relax_block *block);

struct relax_operands *relax_operands_new(void);

/* The 2009 module's eight tests, printed to the kernel log. Returns 0 or -errno. */
int relax_classic(unsigned int loops);

#endif
