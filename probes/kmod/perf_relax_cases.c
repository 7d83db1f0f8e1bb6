// SPDX-License-Identifier: GPL-2.0-only
/* The cases: one table row each, and from it two loops (short, long) and the labels around one operation. */
#include <linux/atomic.h>
#include <linux/bottom_half.h>
#include <linux/irqflags.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/rcupdate.h>
#include <linux/string.h>

#include "perf_relax.h"

/* The labels are in a table, so objtool would take them for targets of indirect calls. */
#if defined(__has_include)
#if __has_include(<linux/objtool.h>)
#include <linux/objtool.h>
#endif
#endif
#ifndef ANNOTATE_NOENDBR
#define ANNOTATE_NOENDBR ""
#endif

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
#endif
#if defined(CONFIG_ARM64) && defined(RELAX_HAVE_CPU_FEATURE)
#include <asm/cpufeature.h>
#endif

static DEFINE_PER_CPU_ALIGNED(u32, relax_percpu);

u32 relax_percpu_value(void)
{
	return this_cpu_read(relax_percpu);
}

void relax_percpu_clear(void)
{
	this_cpu_write(relax_percpu, 0);
}

/*
 * X(ident, "name", context, effect, irq toggles, ends with irqs on, setup, operation, "text"). The setup runs once before the loop;
 * `flags` is at its disposal. The irq pairs begin with interrupts on, so that each operation really changes them.
 *
 * irq-restore restores flags that say "on", with interrupts already on after the first one, as the 2009 module's "STI" row did; irq-save saves
 * with interrupts already off, as its "CLI" row did. Neither is the instruction of that name: those are cli and sti. The flags are hidden
 * from the compiler, which would else test them once for all copies.
 */
#define RELAX_CASES(X) \
	X(empty, "empty", RELAX_IRQS_OFF, RELAX_EFFECT_NONE, 0, 0, , barrier(), "barrier()") \
	X(cli, "cli", RELAX_IRQS_OFF, RELAX_EFFECT_NONE, 1, 0, , local_irq_disable(), "local_irq_disable()") \
	X(sti, "sti", RELAX_IRQS_OFF, RELAX_EFFECT_NONE, 1, 1, , local_irq_enable(), "local_irq_enable()") \
	X(cli_sti, "cli-sti", RELAX_IRQS_ON, RELAX_EFFECT_NONE, 1, 1, , local_irq_disable(); local_irq_enable(), \
	  "local_irq_disable(); local_irq_enable()") \
	X(irq_save, "irq-save", RELAX_IRQS_OFF, RELAX_EFFECT_NONE, 1, 0, , local_irq_save(flags), "local_irq_save(flags)") \
	X(irq_restore, "irq-restore", RELAX_IRQS_ON, RELAX_EFFECT_NONE, 1, 1, local_irq_save(flags), \
	  OPTIMIZER_HIDE_VAR(flags); local_irq_restore(flags), \
	  "local_irq_restore(flags that say on)") \
	X(irq_save_restore, "irq-save-restore", RELAX_IRQS_ON, RELAX_EFFECT_NONE, 1, 1, , local_irq_save(flags); local_irq_restore(flags), \
	  "local_irq_save(flags); local_irq_restore(flags)") \
	X(cmpxchg, "cmpxchg", RELAX_IRQS_OFF, RELAX_EFFECT_WORD_ZERO, 0, 0, , (void)cmpxchg(&o->word[0], 0, 0), "cmpxchg(&word, 0, 0)") \
	X(cmpxchg_local, "cmpxchg-local", RELAX_IRQS_OFF, RELAX_EFFECT_WORD_ZERO, 0, 0, , (void)cmpxchg_local(&o->word[0], 0, 0), \
	  "cmpxchg_local(&word, 0, 0)") \
	X(add_return, "add-return", RELAX_IRQS_OFF, RELAX_EFFECT_ATOMIC, 0, 0, , (void)atomic_add_return(1, &o->atomic), "atomic_add_return(1, &v)") \
	X(add_return_local, "add-return-local", RELAX_IRQS_OFF, RELAX_EFFECT_LOCAL, 0, 0, , (void)local_add_return(1, &o->local), \
	  "local_add_return(1, &v)") \
	X(this_cpu_add, "this-cpu-add", RELAX_IRQS_OFF, RELAX_EFFECT_PERCPU, 0, 0, , this_cpu_add(relax_percpu, 1), "this_cpu_add(v, 1)") \
	X(this_cpu_cmpxchg, "this-cpu-cmpxchg", RELAX_IRQS_OFF, RELAX_EFFECT_PERCPU_ZERO, 0, 0, , (void)this_cpu_cmpxchg(relax_percpu, 0, 0), \
	  "this_cpu_cmpxchg(v, 0, 0)") \
	X(preempt, "preempt-off-on", RELAX_IRQS_ON, RELAX_EFFECT_NONE, 0, 0, , preempt_disable(); preempt_enable(), \
	  "preempt_disable(); preempt_enable()") \
	X(bh, "bh-off-on", RELAX_MAY_SLEEP, RELAX_EFFECT_NONE, 0, 0, , local_bh_disable(); local_bh_enable(), \
	  "local_bh_disable(); local_bh_enable()") \
	X(spin_lock, "spin-lock", RELAX_MAY_SLEEP, RELAX_EFFECT_NONE, 0, 0, , spin_lock(&o->lock); spin_unlock(&o->lock), \
	  "spin_lock(&lock); spin_unlock(&lock)") \
	X(spin_lock_irqsave, "spin-lock-irqsave", RELAX_MAY_SLEEP, RELAX_EFFECT_NONE, 1, 0, , \
	  spin_lock_irqsave(&o->lock, flags); spin_unlock_irqrestore(&o->lock, flags), \
	  "spin_lock_irqsave(&lock, flags); spin_unlock_irqrestore(&lock, flags)") \
	X(rcu, "rcu-read-lock", RELAX_IRQS_ON, RELAX_EFFECT_NONE, 0, 0, , rcu_read_lock(); rcu_read_unlock(), "rcu_read_lock(); rcu_read_unlock()")

/*
 * notrace: no call to the function tracer inside a block. flatten: sixteen copies of the kernel's inline functions look too
 * large to a compiler, which would call them out of line in the long loop and not in the short one. A compiler that
 * duplicates a piece of code duplicates its label: the first one counts.
 */
#define RELAX_FN static noinline __noclone notrace __attribute__((flatten, aligned(64)))
#define RELAX_LABEL(name) ".ifndef " name "\n" name ":\n.endif\n\t" ANNOTATE_NOENDBR "\n\t"
#define RELAX_MARK(ident, what) asm volatile(RELAX_LABEL("relax_" #ident "_" #what) : : : "memory")

#define RELAX_7(op) do { op; } while (0); do { op; } while (0); do { op; } while (0); do { op; } while (0); \
	do { op; } while (0); do { op; } while (0); do { op; } while (0)
#define RELAX_8(op) RELAX_7(op); do { op; } while (0)

#define RELAX_C(ident, name, context, effect, toggles, ends_on, setup, op, text) \
	extern const u8 relax_##ident##_begin[], relax_##ident##_end[]; \
	RELAX_FN void relax_short_##ident(struct relax_operands *o, unsigned long n) \
	{ \
		unsigned long flags = 0; \
 \
		(void)flags; \
		setup; \
		do { \
			RELAX_8(op); \
			barrier(); \
		} while (--n); \
	} \
	RELAX_FN void relax_long_##ident(struct relax_operands *o, unsigned long n) \
	{ \
		unsigned long flags = 0; \
 \
		(void)flags; \
		setup; \
		do { \
			RELAX_MARK(ident, begin); \
			do { op; } while (0); \
			RELAX_MARK(ident, end); \
			RELAX_7(op); \
			RELAX_8(op); \
			barrier(); \
		} while (--n); \
	}
RELAX_CASES(RELAX_C)

/* The hints: the arch header's text, in its own loop. */
#define RELAX_STR_(x) #x
#define RELAX_STR(x) RELAX_STR_(x)
#ifdef ARCH_LOOP_IN_C
#define RELAX_ASM(setup, body) do { asm volatile(body : [p] "+" ARCH_POINTER(p) : : ARCH_CLOBBERS); } while (--n)
#else
#define RELAX_ASM(setup, body) \
	asm volatile(setup "\n\t" ARCH_LOOP_BEGIN body ARCH_LOOP_STEP : [n] "+r"(n), [p] "+" ARCH_POINTER(p) : : ARCH_CLOBBERS)
#endif
#define RELAX_HINT(ident, name, need, effect, setup, body, summary) \
	extern const u8 relax_hint_##ident##_begin[], relax_hint_##ident##_end[]; \
	RELAX_FN void relax_short_hint_##ident(struct relax_operands *o, unsigned long n) \
	{ \
		void *p = o->word; \
 \
		RELAX_ASM(setup, ".rept " RELAX_STR(RELAX_UNROLL) "\n\t" body "\n\t.endr\n\t"); \
	} \
	RELAX_FN void relax_long_hint_##ident(struct relax_operands *o, unsigned long n) \
	{ \
		void *p = o->word; \
 \
		RELAX_ASM(setup, RELAX_LABEL("relax_hint_" #ident "_begin") body "\n\t" RELAX_LABEL("relax_hint_" #ident "_end") \
			  ".rept 2 * " RELAX_STR(RELAX_UNROLL) " - 1\n\t" body "\n\t.endr\n\t"); \
	}
ARCH_HINTS(RELAX_HINT)

const struct relax_case relax_cases[] = {
#define X(ident_, name_, context_, effect_, toggles_, ends_on_, setup_, op_, text_) \
	{ .name = name_, .text = text_, .context = context_, .effect = effect_, .toggles_irqs = toggles_, .ends_irqs_on = ends_on_, \
	  .run = { relax_short_##ident_, relax_long_##ident_ }, .begin = relax_##ident_##_begin, .end = relax_##ident_##_end },
	RELAX_CASES(X)
#undef X
#define X(ident_, name_, need_, effect_, setup_, body_, summary_) \
	{ .name = name_, .text = body_, .context = RELAX_IRQS_OFF, .effect = RELAX_EFFECT_WORD_ZERO, .hint = true, .need = need_, \
	  .run = { relax_short_hint_##ident_, relax_long_hint_##ident_ }, .begin = relax_hint_##ident_##_begin, .end = relax_hint_##ident_##_end },
	ARCH_HINTS(X)
#undef X
};
const unsigned int relax_case_count = ARRAY_SIZE(relax_cases);

const struct relax_case *relax_case_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < relax_case_count; i++)
		if (!strcmp(relax_cases[i].name, name))
			return &relax_cases[i];
	return NULL;
}

/* What user space gets in its auxiliary vector, as far as the arch header asks for it. */
static void relax_hwcap(unsigned long *hwcap, unsigned long *hwcap2)
{
	*hwcap = 0;
	*hwcap2 = 0;
#if defined(CONFIG_ARM64) && defined(RELAX_HAVE_CPU_FEATURE)
#define RELAX_CAP(word, name) do { if (cpu_have_named_feature(name)) *(word) |= HWCAP_##name; } while (0)
#define RELAX_CAP2(word, name) do { if (cpu_have_named_feature(name)) *(word) |= HWCAP2_##name; } while (0)
	RELAX_CAP(hwcap, EVTSTRM);
	RELAX_CAP(hwcap, ATOMICS);
	RELAX_CAP(hwcap, SB);
#ifdef HWCAP2_WFXT
	RELAX_CAP2(hwcap2, WFXT);
#endif
#endif
}

const char *relax_case_why_absent(const struct relax_case *c)
{
	unsigned long hwcap, hwcap2;

	if (!c->hint || c->need == ARCH_NEED_NONE)
		return NULL;
	relax_hwcap(&hwcap, &hwcap2);
	return arch_has(c->need, hwcap, hwcap2) ? NULL : arch_need_name(c->need);
}

int relax_irq_is_plain(void)
{
#ifdef CONFIG_X86
	/* SDM: CLI is FA, STI is FB; a paravirtual kernel has a call here, patched in when the module was loaded. */
	return relax_cli_begin[0] == 0xfa && relax_sti_begin[0] == 0xfb;
#else
	return -1;
#endif
}

u32 relax_case_flags(const struct relax_case *c)
{
	u32 flags = 0;

	if (c->hint)
		flags |= PERF_RELAX_CASE_HINT;
	if (c->context != RELAX_IRQS_OFF || c->ends_irqs_on)
		flags |= PERF_RELAX_CASE_IRQS_ON;
	if (c->context == RELAX_MAY_SLEEP && IS_ENABLED(CONFIG_PREEMPT_RT))
		flags |= PERF_RELAX_CASE_PREEMPTIBLE;
	if (c->toggles_irqs && relax_irq_is_plain() == 0)
		flags |= PERF_RELAX_CASE_PARAVIRT;
	if (relax_case_why_absent(c))
		flags |= PERF_RELAX_CASE_ABSENT;
	return flags;
}
