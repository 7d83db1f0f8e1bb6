// SPDX-License-Identifier: GPL-2.0-only
/* Measuring one block: clocks and counters around a loop, with interrupts off for no longer than was planned. */
#include <linux/err.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/math64.h>
#include <linux/perf_event.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "perf_relax.h"

struct relax_counters {
	struct perf_event *cycles, *instructions;
};

#if IS_ENABLED(CONFIG_PERF_EVENTS) && defined(RELAX_HAVE_PMU_READ)
static struct perf_event *relax_counter_open(unsigned int cpu, u64 config, s32 *error)
{
	/* Pinned: a counter that has no hardware goes into error state, where others would be multiplexed behind our
	 * back. */
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.pinned = 1,
		.exclude_user = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	if (!IS_ERR(event))
		return event;
	*error = PTR_ERR(event);
	return NULL;
}

struct relax_counters *relax_counters_open(unsigned int cpu, s32 *cycles_error, s32 *instructions_error)
{
	struct relax_counters *counters = kzalloc(sizeof(*counters), GFP_KERNEL);

	if (!counters) {
		*cycles_error = *instructions_error = -ENOMEM;
		return NULL;
	}
	counters->cycles = relax_counter_open(cpu, PERF_COUNT_HW_CPU_CYCLES, cycles_error);
	counters->instructions = relax_counter_open(cpu, PERF_COUNT_HW_INSTRUCTIONS, instructions_error);
	return counters;
}

void relax_counters_close(struct relax_counters *counters)
{
	if (!counters)
		return;
	if (counters->cycles)
		perf_event_release_kernel(counters->cycles);
	if (counters->instructions)
		perf_event_release_kernel(counters->instructions);
	kfree(counters);
}

/*
 * Interrupts are off. perf_event_read_value() may sleep and asks the CPU by interrupt, perf_event_read_local() is not
 * exported; this is what the latter does: on the event's own CPU, while it counts, have its PMU bring the count up to
 * date.
 */
static __always_inline bool relax_counter_read(struct perf_event *event, u64 *value)
{
	if (!event || event->state != PERF_EVENT_STATE_ACTIVE || READ_ONCE(event->oncpu) != raw_smp_processor_id())
		return false;
	event->pmu->read(event);
	*value = local64_read(&event->count);
	return true;
}
#else
struct relax_counters *relax_counters_open(unsigned int cpu, s32 *cycles_error, s32 *instructions_error)
{
	*cycles_error = *instructions_error = -EOPNOTSUPP;
	return NULL;
}

void relax_counters_close(struct relax_counters *counters)
{
}

static __always_inline bool relax_counter_read(struct perf_event *event, u64 *value)
{
	return false;
}
#endif

#ifdef ARCH_TICKS_NAME
static __always_inline u64 relax_ticks_begin(void)
{
	return arch_ticks_begin();
}

static __always_inline u64 relax_ticks_end(bool have_rdtscp)
{
	return arch_ticks_end(have_rdtscp);
}
#else
static __always_inline u64 relax_ticks_begin(void)
{
	return 0;
}

static __always_inline u64 relax_ticks_end(bool have_rdtscp)
{
	return 0;
}
#endif

struct relax_operands *relax_operands_new(void)
{
	/* kmalloc aligns powers of two to themselves. */
	struct relax_operands *o = kzalloc(roundup_pow_of_two(sizeof(*o)), GFP_KERNEL);

	if (o)
		spin_lock_init(&o->lock);
	return o;
}

static bool relax_effect_seen(const struct relax_case *c, struct relax_operands *o, u32 percpu, u64 ops)
{
	switch (c->effect) {
	case RELAX_EFFECT_WORD_ZERO:
		return o->word[0] == 0;
	case RELAX_EFFECT_ATOMIC:
		return (u32)atomic_read(&o->atomic) == (u32)ops;
	case RELAX_EFFECT_LOCAL:
		return (u32)local_read(&o->local) == (u32)ops;
	case RELAX_EFFECT_PERCPU:
		return percpu == (u32)ops;
	case RELAX_EFFECT_PERCPU_ZERO:
		return percpu == 0;
	default:
		return true;
	}
}

int relax_block(const struct relax_case *c, struct relax_operands *o, unsigned int cpu, unsigned int length,
		unsigned long iters, struct relax_counters *counters, struct perf_relax_block *b)
{
	const bool preemptible = c->context == RELAX_MAY_SLEEP && IS_ENABLED(CONFIG_PREEMPT_RT);
	void (*run)(struct relax_operands *, unsigned long) = c->run[length];
	struct perf_event *cycles = counters ? counters->cycles : NULL,
			  *instructions = counters ? counters->instructions : NULL;
	u64 ns0, ns1, ticks0, ticks1, c0 = 0, c1 = 0, i0 = 0, i1 = 0;
	unsigned long switches;
	bool have_c, have_i, have_rdtscp = false;
	u32 percpu;

#ifdef CONFIG_X86
	have_rdtscp = arch_has(X86_NEED_RDTSCP, 0, 0);
#endif
	memset(o->word, 0, sizeof(o->word));
	atomic_set(&o->atomic, 0);
	local_set(&o->local, 0);

	if (preemptible)
		migrate_disable();
	else
		preempt_disable();
	if (raw_smp_processor_id() != cpu) {
		if (preemptible)
			migrate_enable();
		else
			preempt_enable();
		return -EXDEV;
	}
	switches = current->nvcsw + current->nivcsw;

	local_irq_disable();
	relax_percpu_clear();
	have_c = relax_counter_read(cycles, &c0);
	have_i = relax_counter_read(instructions, &i0);
	if (c->context != RELAX_IRQS_OFF)
		local_irq_enable();
	ns0 = ktime_get_raw_ns();
	ticks0 = relax_ticks_begin();

	run(o, iters);

	ticks1 = relax_ticks_end(have_rdtscp);
	ns1 = ktime_get_raw_ns();
	local_irq_disable();
	have_i = relax_counter_read(instructions, &i1) && have_i;
	have_c = relax_counter_read(cycles, &c1) && have_c;
	percpu = relax_percpu_value();
	local_irq_enable();

	switches = current->nvcsw + current->nivcsw - switches;
	if (preemptible)
		migrate_enable();
	else
		preempt_enable();

	memset(b, 0, sizeof(*b));
	b->ns = ns1 - ns0;
	b->ticks = ticks1 - ticks0;
	if (length)
		b->flags |= PERF_RELAX_BLOCK_LONG;
	if (b->ns > 2 * PERF_RELAX_BLOCK_NS_MAX)
		b->flags |= PERF_RELAX_BLOCK_OVERRUN;
	if (switches)
		b->flags |= PERF_RELAX_BLOCK_SWITCHED;
	if (have_c) {
		b->cycles = c1 - c0;
		b->flags |= PERF_RELAX_BLOCK_CYCLES;
	}
	if (have_i) {
		b->instructions = i1 - i0;
		b->flags |= PERF_RELAX_BLOCK_INSTRUCTIONS;
	}
	return relax_effect_seen(c, o, percpu, (u64)iters * (RELAX_UNROLL << length)) ? 0 : -EIO;
}

/*
 * The clock's smallest step. Where the kernel has nothing better than its tick, no block can be bounded: the clock
 * would stand still while interrupts are off.
 */
static u64 relax_clock_step(void)
{
	u64 step = U64_MAX;
	int i, n;

	for (i = 0; i < 3; i++) {
		u64 begin = ktime_get_raw_ns(), now = begin;

		for (n = 0; now == begin && n < 1000000; n++)
			now = ktime_get_raw_ns();
		if (now > begin)
			step = min(step, now - begin);
	}
	return step;
}

/*
 * Start with one iteration and lengthen only as far as what was seen allows: what waits in the hypervisor or for a
 * timer may take a thousand times what a nop does. The clock's own cost stays in the estimate, which makes it err on
 * the long side.
 */
int relax_measure_cost(const struct relax_case *c, struct relax_operands *o, unsigned int cpu, u64 *op_ps)
{
	unsigned long iters = 1;
	struct perf_relax_block b;
	u64 best;
	int i, err;

	if (relax_clock_step() > PERF_RELAX_BLOCK_NS_MAX / 10)
		return -ETIME;
	for (;;) {
		best = U64_MAX;
		for (i = 0; i < 3; i++) {
			err = relax_block(c, o, cpu, 0, iters, NULL, &b);
			if (err)
				return err;
			best = min(best, (u64)b.ns);
		}
		if (best * 8 > PERF_RELAX_BLOCK_NS_MAX / 2 || iters > PERF_RELAX_ITERS_MAX / 8)
			break;
		iters *= 8;
	}
	*op_ps = max_t(u64, div64_u64(best * 1000, (u64)iters * RELAX_UNROLL), 1);
	return 0;
}

u64 relax_iters_max(u64 op_ps, unsigned int length)
{
	u64 iters = div64_u64((u64)PERF_RELAX_BLOCK_NS_MAX * 1000, op_ps * (RELAX_UNROLL << length));

	return min_t(u64, iters, PERF_RELAX_ITERS_MAX);
}
