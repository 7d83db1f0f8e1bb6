// SPDX-License-Identifier: GPL-2.0-only
/*
 * classic=1: what people who ran the module of 2009 expect in the kernel log, line for line. The work is done in blocks
 * of bounded length, whose times are added up; the 2009 module kept interrupts off for all of a test. Counts are the
 * architecture's ticks, which it called cycles.
 */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "perf_relax.h"

/* The rows of 2009, in its order, each with the case that does the same; its CLI and STI rows were irq save and
 * restore. */
static const struct {
	const char *name, *long_name, *result_name;
} relax_classic_tests[] = {
	{ "empty", "baseline", "baseline" },
	{ "cmpxchg", "locked cmpxchg", "locked cmpxchg" },
	{ "cmpxchg-local", "non locked cmpxchg", "non locked cmpxchg" },
	{ "add-return", "locked add return", "locked add return" },
	{ "add-return-local", "non locked add return", "non locked add return" },
	{ "irq-restore", "enabling interrupts (STI)", "enabling interrupts (STI)" },
	{ "irq-save", "disabling interrupts (CLI)", "disabling interrupts (CLI)" },
	{ "irq-save-restore", "disabling/enabling interrupts (STI/CLI)", "enabling/disabling interrupts (STI/CLI)" },
};

static int relax_classic_test(const struct relax_case *c, struct relax_operands *o, unsigned int loops, u64 *total)
{
	unsigned int done = 0, cpu, iters, tries = 0;
	struct perf_relax_block b;
	u64 op_ps;
	int err;

	*total = 0;
	cpu = raw_smp_processor_id();
	err = relax_measure_cost(c, o, cpu, &op_ps);
	while (done < loops) {
		if (err ==
		    -EXDEV) { /* moved: the thread that loads a module is not bound; start over where it is now */
			if (++tries > 100)
				return err;
			done = 0;
			*total = 0;
			cpu = raw_smp_processor_id();
			err = relax_measure_cost(c, o, cpu, &op_ps);
			continue;
		}
		if (err)
			return err;
		if (signal_pending(current))
			return -EINTR;
		/* Whole iterations of the unrolled loop; a remainder below one is rounded up. */
		iters = min_t(u64, DIV_ROUND_UP(loops - done, RELAX_UNROLL), max_t(u64, relax_iters_max(op_ps, 0), 1));
		err = relax_block(c, o, cpu, 0, iters, NULL, &b);
		if (!err) {
			*total += b.ticks;
			done += iters * RELAX_UNROLL;
		}
		cond_resched();
	}
	return err;
}

int relax_classic(unsigned int loops)
{
	struct relax_operands *o = relax_operands_new();
	unsigned int i;
	int err = 0;
	u64 total;

	if (!o)
		return -ENOMEM;
	loops = roundup(loops, RELAX_UNROLL);
	printk(KERN_INFO "test init\n");
	for (i = 0; i < ARRAY_SIZE(relax_classic_tests); i++) {
		err = relax_classic_test(relax_case_find(relax_classic_tests[i].name), o, loops, &total);
		if (err) {
			printk(KERN_ERR "perf_relax: %s not measured: error %d\n", relax_classic_tests[i].long_name,
			       err);
			break;
		}
		printk(KERN_INFO "test results: time for %s\n", relax_classic_tests[i].long_name);
		printk(KERN_INFO "number of loops: %u\n", loops);
		printk(KERN_INFO "total time: %llu\n", total);
		printk(KERN_INFO "-> %s takes %llu cycles\n", relax_classic_tests[i].result_name,
		       div_u64(total, loops));
		printk(KERN_INFO "test end\n");
	}
	kfree(o);
	return err;
}
