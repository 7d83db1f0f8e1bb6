/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax irq: kernel-side costs, through the companion module. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "disasm.h"
#include "experiment.h"
#include "kmod.h"
#include "options.h"
#include "probe.h"
#include "report-progress.h"
#include "report.h"
#include "session.h"

#ifndef PERF_RELAX_DATADIR
#define PERF_RELAX_DATADIR "/usr/local/share/perf-relax"
#endif

#define DEFAULT_TIME_S 15.0
#define PAIRS 8 /* pairs of a short and a long block in a trial */
#define PLANNED_SHARE \
	0.4 /* of the longest block allowed: room for a core that clocks down between the measurement of the cost and \
	       the run */
#define CHAIN_NS 20000.0 /* length of a block of dependent additions */
#define REFERENCE "cli-sti"

enum { VALUE_NS, VALUE_TICKS, VALUE_CYCLES, VALUE_INSTRUCTIONS, VALUES };

struct irq_arm {
	size_t index; /* of the module's cases */
	char *name;
	char *absent;
	uint32_t iters;
};

struct irq_run {
	struct measure_options options;
	const char **names;
	size_t nnames;
	const char *module, *kdir;
	uint64_t loops; /* --loops, 0: as many as fit */
	bool list, build, classic;

	struct session session;
	bool session_open;
	struct kmod kmod;
	bool kmod_open;
	struct irq_arm *arm;
	size_t narm;
	struct result *result;
	bool pmu; /* the kernel has cycles and instructions */
	const char *pmu_why;
	const struct probe *chain;
	uint64_t chain_iters;
	void *operand;
	int log; /* kernel log, -1: not readable */
	char *log_text;
	bool stalled;
};

enum { OPT_MODULE = 0x400, OPT_LOOPS, OPT_LIST, OPT_BUILD, OPT_KDIR, OPT_CLASSIC };

static const struct argp_option irq_options[] = {
	{ "module", OPT_MODULE, "FILE", 0, "load this module file instead of the installed one", 1 },
	{ "loops", OPT_LOOPS, "N", 0,
	  "iterations of a block (default: as many as fit into 40 us); with --classic, loops of a test (default 20000)",
	  1 },
	{ "list", OPT_LIST, NULL, 0, "show the cases with the machine code that this kernel runs, and measure nothing",
	  1 },
	{ "build", OPT_BUILD, NULL, 0, "build the module for the running kernel, say where it is, and measure nothing",
	  1 },
	{ "kdir", OPT_KDIR, "DIR", 0, "with --build: the kernel's build folder (default /lib/modules/RELEASE/build)",
	  1 },
	{ "classic", OPT_CLASSIC, NULL, 0, "do as the module of 2009 did: print its eight tests from the kernel log",
	  1 },
	{ 0 }
};

static const struct argp_child irq_children[] = { { &options_experiment_argp, 0, "Measuring:", 10 },
						  { &options_meter_argp, 0, NULL, 10 },
						  { &options_help_argp, 0, NULL, -1 },
						  { 0 } };

static error_t parse_irq(int key, char *arg, struct argp_state *state)
{
	struct irq_run *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &s->options;
		return 0;
	case OPT_MODULE:
		s->module = arg;
		return 0;
	case OPT_LOOPS:
		return util_opt_u64("--loops", arg, 1, PERF_RELAX_ITERS_MAX, &s->loops) ? EINVAL : 0;
	case OPT_LIST:
		s->list = true;
		return 0;
	case OPT_BUILD:
		s->build = true;
		return 0;
	case OPT_KDIR:
		s->kdir = arg;
		return 0;
	case OPT_CLASSIC:
		s->classic = true;
		return 0;
	case ARGP_KEY_ARG:
		s->names = util_realloc(s->names, s->nnames + 1, sizeof(*s->names));
		s->names[s->nnames++] = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_irq = {
	.options = irq_options,
	.parser = parse_irq,
	.args_doc = "[CASE...]",
	.doc = "Measure kernel-side costs with the companion module: interrupts off and on, compare-and-swap, add, "
	       "preemption, bottom halves, spin locks, RCU, "
	       "and this architecture's spin-wait hints.\v"
	       "Needs root and a kernel that loads modules; the module is loaded, used and unloaded. The first case "
	       "named is the reference; without a name "
	       "all are measured and " REFERENCE " is. Ends with the table of 2009: speed-up of a local "
						 "compare-and-swap over disabling and enabling interrupts.",
	.children = irq_children,
};

static int unknown_case(const struct irq_run *s, const char *name)
{
	const char **names = util_calloc(s->kmod.ncases + 1, sizeof(*names));
	char hint[256];

	for (size_t i = 0; i < s->kmod.ncases; i++)
		names[i] = s->kmod.cases[i].name;
	msg_error("'%s' is not a case of the module%s; `perf relax irq --list` shows all", name,
		  util_did_you_mean(name, names, hint, sizeof(hint)));
	free(names);
	return EXIT_USAGE;
}

static void add_arm(struct irq_run *s, size_t index)
{
	const struct kmod_case *c = &s->kmod.cases[index];
	int copies = 1;

	for (size_t i = 0; i < s->narm; i++)
		copies += s->arm[i].index == index;
	s->arm = util_realloc(s->arm, s->narm + 1, sizeof(*s->arm));
	s->arm[s->narm] = (struct irq_arm){ .index = index, .absent = c->why ? util_strdup(c->why) : NULL };
	s->arm[s->narm++].name = copies > 1 ? util_asprintf("%s#%d", c->name, copies) : util_strdup(c->name);
}

static bool same_code(const struct kmod_case *a, const struct kmod_case *b)
{
	return a->code_bytes && !a->code_cut && !b->code_cut && a->code_bytes == b->code_bytes &&
	       !memcmp(a->code, b->code, a->code_bytes);
}

/* The arms; @reference is the index of the one that the others are compared with. Returns an exit code. */
static int choose_arms(struct irq_run *s, size_t *reference)
{
	bool twin = false;

	*reference = 0;
	for (size_t i = 0; i < s->nnames; i++) {
		size_t index = kmod_case_find(&s->kmod, s->names[i]);

		if (index == SIZE_MAX)
			return unknown_case(s, s->names[i]);
		if (s->kmod.cases[index].why) {
			msg_error("%s: %s", s->kmod.cases[index].name, s->kmod.cases[index].why);
			return EXIT_CANNOT;
		}
		add_arm(s, index);
	}
	if (!s->nnames)
		for (size_t i = 0; i < s->kmod.ncases; i++) {
			if (!strcmp(s->kmod.cases[i].name, REFERENCE))
				*reference = s->narm;
			add_arm(s, i);
		}
	/* The null control (rule 6): where no other arm has the reference's code, it runs a second time. */
	for (size_t i = 0; i < s->narm; i++)
		twin |= i != *reference && !s->arm[i].absent &&
			same_code(&s->kmod.cases[s->arm[i].index], &s->kmod.cases[s->arm[*reference].index]);
	if (!twin)
		add_arm(s, s->arm[*reference].index);
	return EXIT_DONE;
}

/* Iterations of a block of every arm, by the cost that the module measures. Returns an exit code. */
static int plan_blocks(struct irq_run *s)
{
	for (size_t i = 0; i < s->narm; i++) {
		struct irq_arm *a = &s->arm[i];
		struct perf_relax_run run = { .index = (uint32_t)a->index,
					      .cpu = (uint32_t)s->session.cpu,
					      .loops = PERF_RELAX_LONG,
					      .iters = 1,
					      .blocks = 1 };
		struct reason why = { 0 };
		int err;

		if (a->absent)
			continue;
		err = kmod_run(&s->kmod, &run, &why);
		if (err == -ERANGE) {
			a->absent = util_asprintf("one iteration (%u operations) takes more than the %u us that "
						  "interrupts may be off",
						  2 * s->kmod.info.unroll, s->kmod.info.block_ns_max / 1000);
			continue;
		}
		if (err) {
			msg_error("%s", why.text);
			return err == -EINTR ? EXIT_FAILED : EXIT_CANNOT;
		}
		a->iters = (uint32_t)(PLANNED_SHARE * run.iters_max);
		if (!a->iters)
			a->iters = 1;
		if (s->loops && s->loops > run.iters_max) {
			msg_error("--loops %llu: %s would keep interrupts off for more than %u us; at most %u here (an "
				  "iteration is %u operations)",
				  (unsigned long long)s->loops, a->name, s->kmod.info.block_ns_max / 1000,
				  run.iters_max, 2 * s->kmod.info.unroll);
			return EXIT_USAGE;
		}
		if (s->loops)
			a->iters = (uint32_t)s->loops;
	}
	return EXIT_DONE;
}

/* Has the kernel counters? Asked once, so that cycles are of one kind in all of the run. */
static void ask_counters(struct irq_run *s)
{
	struct perf_relax_run run = { .cpu = (uint32_t)s->session.cpu,
				      .loops = PERF_RELAX_SHORT,
				      .iters = 1,
				      .blocks = 1,
				      .flags = PERF_RELAX_RUN_PMU };
	struct reason why = { 0 };
	char text[200];
	int err = kmod_run(&s->kmod, &run, &why), cause;

	s->pmu = !err && !run.cycles_error && !run.instructions_error &&
		 (run.block[0].flags & PERF_RELAX_BLOCK_CYCLES) && (run.block[0].flags & PERF_RELAX_BLOCK_INSTRUCTIONS);
	if (s->pmu)
		return;
	cause = err ? err : run.cycles_error ? run.cycles_error : run.instructions_error;
	if (cause == -ENOENT || cause == -ENODEV || cause == -EOPNOTSUPP)
		snprintf(text, sizeof(text),
			 "the kernel has no hardware counter for it (%s): no PMU, or none given to this guest",
			 strerror(-cause));
	else if (cause)
		snprintf(text, sizeof(text), "the kernel's counter cannot be used: %s", strerror(-cause));
	else
		snprintf(text, sizeof(text),
			 "not counted: no hardware counter was free (the NMI watchdog or another perf may hold it)");
	s->pmu_why = util_intern(text);
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Core clock by dependent additions on this CPU, one a cycle: cycles~ per ns; 0 when it cannot be told. */
static double chain_frequency(const struct irq_run *s)
{
	double begin, middle, end, ns;

	if (!s->chain)
		return 0;
	begin = now_ns();
	s->chain->run_short(s->operand, s->chain_iters);
	middle = now_ns();
	s->chain->run_long(s->operand, s->chain_iters);
	end = now_ns();
	ns = (end - middle) - (middle - begin);
	return ns > 0 ? (double)s->chain_iters * s->chain->unroll / ns : 0;
}

static void prepare_chain(struct irq_run *s)
{
	double begin, ns = 0;

	s->operand = aligned_alloc(PROBE_CACHE_LINE, PROBE_CACHE_LINE);
	s->chain = probe_find("chain-add");
	if (!s->operand || !s->chain || probe_why_absent(s->chain)) {
		s->chain = NULL;
		return;
	}
	memset(s->operand, 0, PROBE_CACHE_LINE);
	for (s->chain_iters = 16; ns < CHAIN_NS && s->chain_iters < 1 << 24; s->chain_iters *= 2) {
		begin = now_ns();
		s->chain->run_short(s->operand, s->chain_iters);
		ns = now_ns() - begin;
	}
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median over the pairs of (long - short) per operation; pairs with a block that was held up are not used. */
static struct value pair_median(const struct perf_relax_run *run, uint32_t unroll, size_t offset, unsigned int need)
{
	double d[PAIRS];
	size_t n = 0;

	for (uint32_t i = 0; i + 1 < run->blocks && n < PAIRS; i += 2) {
		const struct perf_relax_block *a = &run->block[i], *b = &run->block[i + 1];
		uint64_t x, y;

		if ((a->flags | b->flags) & PERF_RELAX_BLOCK_OVERRUN || (a->flags & b->flags & need) != need)
			continue;
		memcpy(&x, (const char *)a + offset, sizeof(x));
		memcpy(&y, (const char *)b + offset, sizeof(y));
		d[n++] = ((double)y - (double)x) / ((double)run->iters * unroll);
	}
	if (!n)
		return value_missing(need ? "not counted: the counter was taken by somebody else"
					  : "every block was held up");
	qsort(d, n, sizeof(*d), compare_doubles);
	return value_of(n % 2 ? d[n / 2] : (d[n / 2 - 1] + d[n / 2]) / 2);
}

static void watch_log(struct irq_run *s)
{
	if (s->log < 0)
		return;
	free(s->log_text);
	s->log_text = NULL;
	kmod_log_read(s->log, &s->log_text);
	s->stalled = kmod_log_has_stall(s->log_text);
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags,
		 struct reason *why)
{
	struct irq_run *s = ctx;
	struct irq_arm *a = &s->arm[arm];
	struct perf_relax_run run;
	double before = chain_frequency(s), after;
	int err;

	(void)condition;
	(void)round;
	for (int tries = 0;; tries++) {
		run = (struct perf_relax_run){ .index = (uint32_t)a->index,
					       .cpu = (uint32_t)s->session.cpu,
					       .loops = PERF_RELAX_ALTERNATE,
					       .iters = a->iters,
					       .blocks = 2 * PAIRS,
					       .flags = s->pmu ? PERF_RELAX_RUN_PMU : 0 };
		err = kmod_run(&s->kmod, &run, why);
		/* Slower than when it was planned: shorter blocks, still the same operations. */
		if (err == -ERANGE && !s->loops && run.iters_max && tries < 4)
			a->iters = run.iters_max / 2 ? run.iters_max / 2 : 1;
		else if (err != -ERANGE || tries >= 4)
			break;
	}
	after = chain_frequency(s);
	watch_log(s);
	*flags = 0;
	if (err == -EINTR || err == -ERANGE || s->stalled) {
		const char *what = err == -EINTR ? "interrupted"
				   : err	 ? "a block would have taken too long"
						 : "the kernel reported a stall";

		for (size_t i = 0; i < VALUES; i++)
			values[i] = value_missing(what);
		*flags = TRIAL_FAILED;
		return 0;
	}
	if (err)
		return err;
	for (uint32_t i = 0; i < run.blocks; i++)
		if (run.block[i].flags & PERF_RELAX_BLOCK_SWITCHED)
			*flags |= TRIAL_DESCHEDULED;
		else if (run.block[i].flags & PERF_RELAX_BLOCK_OVERRUN)
			*flags |= TRIAL_STOLEN;
	values[VALUE_NS] = pair_median(&run, s->kmod.info.unroll, offsetof(struct perf_relax_block, ns), 0);
	values[VALUE_TICKS] =
		s->kmod.info.flags & PERF_RELAX_INFO_TICKS
			? pair_median(&run, s->kmod.info.unroll, offsetof(struct perf_relax_block, ticks), 0)
			: value_missing("this architecture's kernel has no counter that the module can read");
	if (values[VALUE_NS].why)
		*flags |= TRIAL_FAILED;
	if (s->pmu) {
		values[VALUE_CYCLES] = pair_median(&run, s->kmod.info.unroll, offsetof(struct perf_relax_block, cycles),
						   PERF_RELAX_BLOCK_CYCLES);
		values[VALUE_INSTRUCTIONS] =
			pair_median(&run, s->kmod.info.unroll, offsetof(struct perf_relax_block, instructions),
				    PERF_RELAX_BLOCK_INSTRUCTIONS);
		return 0;
	}
	if (values[VALUE_NS].why || before <= 0 || after <= 0)
		values[VALUE_CYCLES] = value_missing("the core clock could not be told");
	else
		values[VALUE_CYCLES] = value_of(values[VALUE_NS].number * (before + after) / 2);
	values[VALUE_INSTRUCTIONS] = value_missing(s->pmu_why);
	return 0;
}

static void declare_arms(struct irq_run *s, size_t reference)
{
	char hex[512], text[512];

	for (size_t i = 0; i < s->narm; i++) {
		const struct kmod_case *c = &s->kmod.cases[s->arm[i].index];
		size_t arm;

		hex[0] = text[0] = '\0';
		disasm_bytes_hex(c->code, c->code_bytes, hex, sizeof(hex));
		if (!c->code_bytes || c->code_cut || disasm_text(c->code, c->code_bytes, text, sizeof(text)))
			snprintf(text, sizeof(text), "%s", c->text);
		arm = result_add_arm(s->result, s->arm[i].name, c->flags & PERF_RELAX_CASE_HINT ? "hint" : "kernel",
				     hex, text);
		if (s->arm[i].absent)
			result_arm_absent(s->result, arm, s->arm[i].absent);
		for (size_t j = 0; j < i && !s->arm[i].absent; j++)
			if (!s->arm[j].absent && s->result->arm[arm].twin_of < 0 &&
			    (j == reference || s->result->arm[j].twin_of < 0) &&
			    (s->arm[j].index == s->arm[i].index || same_code(&s->kmod.cases[s->arm[j].index], c)))
				s->result->arm[arm].twin_of = (int)j;
	}
}

static void describe(struct irq_run *s)
{
	const struct perf_relax_info *info = &s->kmod.info;
	struct result *r = s->result;
	size_t condition = result_add_condition(r, "");
	char text[64];

	snprintf(text, sizeof(text), "%d", s->session.cpu);
	result_condition_set(r, condition, "cpu", text);
	result_add_metric(r, "ns", "ns/op", BETTER_LOWER, false, true);
	result_add_metric(r, "ticks", "ticks/op", BETTER_LOWER, false, false);
	result_add_metric(r, "cycles", "cycles/op", BETTER_LOWER, !s->pmu, false);
	result_add_metric(r, "instructions", "count/op", BETTER_NONE, false, false);
	if (info->flags & PERF_RELAX_INFO_PARAVIRT)
		result_set_env(r, "irq_instructions",
			       "paravirtual calls (see the bytes of cli and sti): not the CPU's own instructions",
			       NULL);
	else if (info->flags & PERF_RELAX_INFO_IRQ_CHECKED)
		result_set_env(r, "irq_instructions", "plain", NULL);
	else
		result_set_env(r, "irq_instructions", NULL,
			       "what local_irq_disable() is on this architecture is not checked; its bytes are shown");
	if (info->flags & PERF_RELAX_INFO_RT)
		result_set_env(r, "preempt_rt", "yes: spin locks sleep", NULL);
	if (info->flags & PERF_RELAX_INFO_TRACE_IRQ)
		result_set_env(r, "trace_irqflags", "yes: switching interrupts includes tracing it", NULL);
	if (info->flags & PERF_RELAX_INFO_DEBUG_LOCKS)
		result_set_env(r, "debug_locks", "yes: lock cases include their checking", NULL);
	if (info->flags & PERF_RELAX_INFO_PARAVIRT)
		result_warn(r, WARN_HYPERVISOR, "switching interrupts is a paravirtual call in this kernel");
}

static void progress(void *ctx, const struct experiment *e)
{
	struct report_progress p = {
		.rounds = e->round,
		.rounds_planned = e->rounds,
		.elapsed_s = e->elapsed_s,
		.budget_s = e->budget_s,
		.current = e->looks_done ? &e->widest : NULL,
		.open = e->open_arms,
	};

	(void)ctx;
	report_progress(&p);
}

static int measure(struct irq_run *s, size_t reference)
{
	struct experiment e = {
		.result = s->result,
		.reference = reference,
		.rounds = s->options.rounds,
		.budget_s = s->options.time_s > 0 ? s->options.time_s
			    : s->options.rounds	  ? 0
						  : DEFAULT_TIME_S,
		.trial = trial,
		.ctx = s,
		.progress = s->options.quiet ? NULL : progress,
	};
	struct reason why = { 0 };
	enum experiment_end end;
	int err;

	s->log = kmod_log_open(NULL);
	experiment_catch_signals();
	err = experiment_run(&e, &end, &why);
	experiment_restore_signals();
	report_progress(NULL);
	if (s->log >= 0)
		close(s->log);
	if (err) {
		msg_error("%s", why.text);
		return EXIT_FAILED;
	}
	result_compare(s->result, reference, e.level, e.flags);
	return EXIT_DONE;
}

static int run_build(struct irq_run *s)
{
	const char *source = getenv("PERF_RELAX_DATADIR");
	struct reason why = { 0 };
	char *built = NULL;
	int err = kmod_build(source && *source ? source : PERF_RELAX_DATADIR, s->kdir, NULL, &built, &why);

	if (err) {
		msg_error("%s", why.text);
		return err == -EBADMSG || err == -EIO ? EXIT_FAILED : EXIT_CANNOT;
	}
	printf("built %s\n", built);
	free(built);
	return EXIT_DONE;
}

static int run_classic(struct irq_run *s)
{
	char *params = util_asprintf("classic=1 loops=%llu", (unsigned long long)(s->loops ? s->loops : 20000)),
	     *text = NULL;
	struct reason why = { 0 };
	int err;

	/* Somebody else's module (--module) knows no parameters of ours. */
	if (s->module && !strstr(s->module, "perf_relax"))
		*params = '\0';
	err = kmod_classic(s->module, params, &text, &why);
	if (text)
		fputs(text, stdout);
	if (err)
		msg_error("%s", why.text);
	free(params);
	free(text);
	return !err ? EXIT_DONE : err == -EAGAIN || err == -EPROTO ? EXIT_FAILED : EXIT_CANNOT;
}

static void print_list(const struct irq_run *s)
{
	char hex[512], text[512];

	for (size_t i = 0; i < s->kmod.ncases; i++) {
		const struct kmod_case *c = &s->kmod.cases[i];

		disasm_bytes_hex(c->code, c->code_bytes, hex, sizeof(hex));
		disasm_text(c->code, c->code_bytes, text, sizeof(text));
		printf("%-18s %s\n", c->name, c->text);
		if (c->why)
			printf("%-18s absent: %s\n", "", c->why);
		if (c->code_bytes)
			printf("%-18s %s%s  %s%s\n", "", hex, c->code_cut ? " ..." : "", text,
			       c->flags & PERF_RELAX_CASE_PARAVIRT ? "  (a paravirtual call)" : "");
	}
}

static int run_irq(struct irq_run *s, int argc, char **argv)
{
	struct reason why = { 0 };
	size_t reference;
	int status, err;

	if (s->options.events) {
		msg_error("-e: the module counts cycles and instructions and nothing else");
		return EXIT_USAGE;
	}
	err = kmod_open(&s->kmod, s->module, &why);
	if (err) {
		msg_error("%s", why.text);
		return EXIT_CANNOT;
	}
	s->kmod_open = true;
	if (s->list) {
		print_list(s);
		return EXIT_DONE;
	}
	status = choose_arms(s, &reference);
	if (status)
		return status;
	status = session_open(&s->session, &s->options, NULL, true, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	s->session_open = true;
	status = plan_blocks(s);
	if (status)
		return status;
	if (s->arm[reference].absent) {
		msg_error("%s: %s; name another case first", s->arm[reference].name, s->arm[reference].absent);
		return EXIT_CANNOT;
	}
	ask_counters(s);
	prepare_chain(s);
	s->result = session_result(&s->session, &s->options, "irq", argc, argv);
	declare_arms(s, reference);
	describe(s);
	status = measure(s, reference);
	return status == EXIT_DONE ? session_print(s->result, &s->options, stdout) : status;
}

int cmd_irq(int argc, char **argv)
{
	struct irq_run s = { .options = MEASURE_OPTIONS_INIT, .log = -1 };
	struct reason why = { 0 };
	int status;

	if (argp_parse(&argp_irq, argc, argv, 0, NULL, &s))
		return EXIT_USAGE;
	if (s.build)
		status = run_build(&s);
	else if (s.classic)
		status = run_classic(&s);
	else
		status = run_irq(&s, argc, argv);
	if (s.session_open)
		session_close(&s.session);
	if (s.kmod_open && kmod_close(&s.kmod, &why))
		msg_warn("%s", why.text);
	for (size_t i = 0; i < s.narm; i++) {
		free(s.arm[i].name);
		free(s.arm[i].absent);
	}
	free(s.arm);
	free(s.names);
	free(s.operand);
	free(s.log_text);
	if (s.result)
		result_free(s.result);
	options_measure_free(&s.options);
	return status;
}
