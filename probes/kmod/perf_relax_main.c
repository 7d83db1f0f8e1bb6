// SPDX-License-Identifier: GPL-2.0-only
/* perf_relax: measures kernel-side primitives for `perf relax irq`. The device, its requests, and what loading does. */
#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/kernel.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "perf_relax.h"

static bool classic;
module_param(classic, bool, 0444);
MODULE_PARM_DESC(classic, "print the eight tests of the 2009 module to the kernel log and refuse to stay (-EAGAIN)");

static unsigned int loops = 20000;
module_param(loops, uint, 0444);
MODULE_PARM_DESC(loops, "loops of each classic test, 1 to 10000000 (default 20000), rounded up to a multiple of 8");

#define RELAX_CLASSIC_LOOPS_MAX 10000000

static long relax_ioctl_info(void __user *arg)
{
	struct perf_relax_info info;
	int plain = relax_irq_is_plain();

	if (copy_from_user(&info, arg, sizeof(info)))
		return -EFAULT;
	if (info.abi != PERF_RELAX_ABI)
		return -EPROTONOSUPPORT;
	if (info.reserved)
		return -EINVAL;
	memset(&info, 0, sizeof(info));
	info.abi = PERF_RELAX_ABI;
	info.cases = relax_case_count;
	info.unroll = RELAX_UNROLL;
	info.block_ns_max = PERF_RELAX_BLOCK_NS_MAX;
	info.blocks_max = PERF_RELAX_BLOCKS_MAX;
	info.iters_max = PERF_RELAX_ITERS_MAX;
	if (plain >= 0)
		info.flags |= PERF_RELAX_INFO_IRQ_CHECKED;
	if (plain == 0)
		info.flags |= PERF_RELAX_INFO_PARAVIRT;
#ifdef CONFIG_X86
	{
		unsigned int r[4];

		arch_cpuid(1, 0, r); /* ECX[31]: reserved for hypervisors to say that they are there */
		if (r[2] >> 31)
			info.flags |= PERF_RELAX_INFO_HYPERVISOR;
	}
#endif
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		info.flags |= PERF_RELAX_INFO_RT;
	if (IS_ENABLED(CONFIG_TRACE_IRQFLAGS))
		info.flags |= PERF_RELAX_INFO_TRACE_IRQ;
	if (IS_ENABLED(CONFIG_DEBUG_SPINLOCK) || IS_ENABLED(CONFIG_LOCKDEP))
		info.flags |= PERF_RELAX_INFO_DEBUG_LOCKS;
	if (IS_ENABLED(CONFIG_PREEMPT_COUNT))
		info.flags |= PERF_RELAX_INFO_PREEMPT;
#if IS_ENABLED(CONFIG_PERF_EVENTS) && defined(RELAX_HAVE_PMU_READ)
	info.flags |= PERF_RELAX_INFO_PMU;
#endif
#ifdef ARCH_TICKS_NAME
	info.flags |= PERF_RELAX_INFO_TICKS;
	strscpy(info.ticks_name, ARCH_TICKS_NAME, sizeof(info.ticks_name));
#endif
	strscpy(info.arch, ARCH_NAME, sizeof(info.arch));
	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static long relax_ioctl_case(void __user *arg)
{
	const struct relax_case *c;
	struct perf_relax_case *out;
	u32 abi, index;
	long err = 0;

	if (get_user(abi, &((struct perf_relax_case __user *)arg)->abi) ||
	    get_user(index, &((struct perf_relax_case __user *)arg)->index))
		return -EFAULT;
	if (abi != PERF_RELAX_ABI)
		return -EPROTONOSUPPORT;
	if (index >= relax_case_count)
		return -ENOENT;
	out = kzalloc(sizeof(*out), GFP_KERNEL);
	if (!out)
		return -ENOMEM;
	c = &relax_cases[index];
	out->abi = abi;
	out->index = index;
	out->flags = relax_case_flags(c);
	out->bytes = c->end > c->begin ? c->end - c->begin : 0;
	memcpy(out->code, c->begin, min_t(size_t, out->bytes, sizeof(out->code)));
	strscpy(out->name, c->name, sizeof(out->name));
	strscpy(out->text, c->text, sizeof(out->text));
	if (out->flags & PERF_RELAX_CASE_ABSENT)
		strscpy(out->why, relax_case_why_absent(c), sizeof(out->why));
	if (copy_to_user(arg, out, sizeof(*out)))
		err = -EFAULT;
	kfree(out);
	return err;
}

/* The request is valid; fill it. */
static int relax_run(struct perf_relax_run *run)
{
	const struct relax_case *c = &relax_cases[run->index];
	const u32 blocks = run->blocks;
	struct relax_counters *counters = NULL;
	struct relax_operands *o;
	int err;

	run->blocks = 0;
	o = relax_operands_new();
	if (!o)
		return -ENOMEM;
	err = relax_measure_cost(c, o, run->cpu, &run->op_ps);
	if (err)
		goto out;
	run->iters_max = relax_iters_max(run->op_ps, run->loops == PERF_RELAX_SHORT ? 0 : 1);
	if (run->iters > run->iters_max) {
		err = -ERANGE;
		goto out;
	}
	if (run->flags & PERF_RELAX_RUN_PMU)
		counters = relax_counters_open(run->cpu, &run->cycles_error, &run->instructions_error);
	while (run->blocks < blocks) {
		unsigned int length =
			run->loops == PERF_RELAX_ALTERNATE ? run->blocks & 1 : run->loops == PERF_RELAX_LONG;

		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		err = relax_block(c, o, run->cpu, length, run->iters, counters, &run->block[run->blocks]);
		if (err)
			break;
		run->blocks++;
		cond_resched();
	}
	relax_counters_close(counters);
out:
	kfree(o);
	return err;
}

static long relax_ioctl_run(void __user *arg)
{
	struct perf_relax_run *run;
	long err;

	run = kmalloc(sizeof(*run), GFP_KERNEL);
	if (!run)
		return -ENOMEM;
	err = -EFAULT;
	if (copy_from_user(run, arg, offsetof(struct perf_relax_run, block)))
		goto out;
	memset(run->block, 0, sizeof(run->block));
	err = -EPROTONOSUPPORT;
	if (run->abi != PERF_RELAX_ABI)
		goto out;
	err = -ENOENT;
	if (run->index >= relax_case_count)
		goto out;
	err = -EINVAL;
	if (run->loops < PERF_RELAX_SHORT || run->loops > PERF_RELAX_ALTERNATE || !run->iters ||
	    run->iters > PERF_RELAX_ITERS_MAX || !run->blocks || run->blocks > PERF_RELAX_BLOCKS_MAX ||
	    (run->flags & ~PERF_RELAX_RUN_PMU) || run->iters_max || run->op_ps || run->cycles_error ||
	    run->instructions_error || run->cpu >= nr_cpu_ids)
		goto out;
	err = -ENODEV;
	if (!cpu_online(run->cpu))
		goto out;
	err = -EOPNOTSUPP;
	if (relax_case_flags(&relax_cases[run->index]) & PERF_RELAX_CASE_ABSENT)
		goto out;
	err = relax_run(run);
	if ((!err || err == -EINTR || err == -ERANGE) && copy_to_user(arg, run, sizeof(*run)))
		err = -EFAULT;
out:
	kfree(run);
	return err;
}

static long relax_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case PERF_RELAX_IOC_INFO:
		return relax_ioctl_info((void __user *)arg);
	case PERF_RELAX_IOC_CASE:
		return relax_ioctl_case((void __user *)arg);
	case PERF_RELAX_IOC_RUN:
		return relax_ioctl_run((void __user *)arg);
	}
	return -ENOTTY;
}

/* Mode 0600 can be changed by anyone who owns the node; the capability cannot. */
static int relax_open(struct inode *inode, struct file *file)
{
	if (!capable(CAP_SYS_ADMIN))
		return -EPERM;
	return nonseekable_open(inode, file);
}

static const struct file_operations relax_fops = {
	.owner = THIS_MODULE, /* an open device keeps the module: rmmod says "in use" */
	.open = relax_open,
	.unlocked_ioctl = relax_ioctl,
	.compat_ioctl = compat_ptr_ioctl,
};

static struct miscdevice relax_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = PERF_RELAX_DEVICE,
	.fops = &relax_fops,
	.mode = 0600,
};

static int __init relax_init(void)
{
	int err;

	BUILD_BUG_ON(sizeof(struct perf_relax_info) != 96);
	BUILD_BUG_ON(sizeof(struct perf_relax_case) != 368);
	BUILD_BUG_ON(sizeof(struct perf_relax_block) != 40);
	BUILD_BUG_ON(sizeof(struct perf_relax_run) != 48 + 40 * PERF_RELAX_BLOCKS_MAX);
	if (classic) {
		if (!loops || loops > RELAX_CLASSIC_LOOPS_MAX) {
			pr_err("perf_relax: loops must be 1 to %d\n", RELAX_CLASSIC_LOOPS_MAX);
			return -EINVAL;
		}
		err = relax_classic(loops);
		return err ? err : -EAGAIN;
	}
	return misc_register(&relax_device);
}

static void __exit relax_exit(void)
{
	misc_deregister(&relax_device);
}

module_init(relax_init);
module_exit(relax_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Costs of kernel-side synchronisation primitives, for perf relax irq");
MODULE_VERSION("1");
