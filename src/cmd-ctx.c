/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax ctx: the cost of a context switch, by a ring of tasks; TSC flag, ABI, scheduling policy or placement as the arm. */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "ctx-run.h"
#include "experiment.h"
#include "options.h"
#include "session.h"
#include "stats.h"

#define DEFAULT_TIME_S 10.0
#define DEFAULT_WINDOW_MS 5.0
#define DEFAULT_WARMUP_US 2000.0
#define SIZE_MAX_BYTES (UINT64_C(1) << 32)
#define LIST_MAX 32
#define COUNTED_MARGIN 0.01

enum { KEY_SIZE = 0x200, KEY_VIA, KEY_THREADS, KEY_PLACE, KEY_TSC, KEY_ABI, KEY_POLICY, KEY_AFFINITY, KEY_WINDOW, KEY_LMBENCH };

struct list {
	const char *item[LIST_MAX];
	size_t n;
};

struct word {
	const char *name;
	int value;
};

static const struct word tsc_names[] = { { "none", CTX_TSC_NONE }, { "both", CTX_TSC_BOTH }, { "one", CTX_TSC_ONE }, { 0 } },
  abi_names[] = { { "64", 64 }, { "32", 32 }, { 0 } },
  policy_names[] = { { "other", SCHED_OTHER }, { "batch", SCHED_BATCH }, { "fifo", SCHED_FIFO }, { 0 } },
  place_names[] = { { "same-cpu", CTX_PLACE_SAME }, { "cross-cpu", CTX_PLACE_CROSS }, { "free", CTX_PLACE_FREE }, { 0 } };

struct arm {
	const char *tsc, *abi, *policy, *affinity;	/* as typed; affinity NULL: the condition's place */
	struct ctx_condition run;
	bool absent;
};

struct condition {
	struct ctx_condition run;
	const char *place;	/* NULL: the places are the arms */
	uint64_t size_bytes;
};

struct ctx_cmd {
	struct measure_options options;
	struct list tasks, sizes, vias, places, tsc, abi, policy, affinity;
	bool sizes_kib, threads, lmbench;
	double window_ms, warmup_us;

	struct session session;
	struct ctx_run *run;
	struct result *result;
	struct arm *arm;
	size_t narm;
	struct condition *condition;
	size_t ncondition;
	enum ctx_enforced enforced;
	size_t counter[METER_COUNTERS_MAX], ncounter;
};

static const struct argp_option ctx_options[] = {
	{ "tasks", 'n', "LIST", 0, "Numbers of tasks in the ring (default 2); the same as the arguments", 0 },
	{ NULL, 's', "LIST", 0, "Memory that each task reads when it has the token; bare numbers are KiB, as in lat_ctx (default 0)", 0 },
	{ "size", KEY_SIZE, "LIST", 0, "The same; bare numbers are bytes", 0 },
	{ "via", KEY_VIA, "LIST", 0, "How the token is passed: pipe (default), futex, eventfd, socketpair", 0 },
	{ "threads", KEY_THREADS, NULL, 0, "Threads of one process instead of processes", 0 },
	{ "place", KEY_PLACE, "LIST", 0, "same-cpu (default), cross-cpu or free", 0 },
	{ "window", KEY_WINDOW, "MS", 0, "Length of one trial's window in ms (default 5)", 0 },
	{ NULL, 'W', "US", 0, "Warm-up of a trial in us (default 2000)", 0 },
	{ NULL, 'N', "N", 0, "The same as -r, as in lat_ctx", 0 },
	{ NULL, 'P', "N", 0, "Rings at the same time, as in lat_ctx: only 1 is possible", 0 },
	{ "lmbench", KEY_LMBENCH, NULL, 0, "Print what lat_ctx prints, on standard error, and no report", 0 },
	{ NULL, 0, NULL, 0, "Arms; the first of each list is the reference:", 5 },
	{ "tsc", KEY_TSC, "LIST", 0, "Tasks that run with the time-stamp counter forbidden: none, both (all), one (the last)", 5 },
	{ "abi", KEY_ABI, "LIST", 0, "64- and 32-bit programs: 64, 32", 5 },
	{ "policy", KEY_POLICY, "LIST", 0, "Scheduling policies: other, batch, fifo", 5 },
	{ "affinity", KEY_AFFINITY, "LIST", 0, "Placements, as --place has them, compared with one another", 5 },
	{ 0 }
};

static const struct argp_child ctx_children[] = {
	{ &options_experiment_argp, 0, "Measuring:", 10 },
	{ &options_meter_argp, 0, NULL, 10 },
	{ &options_event_argp, 0, NULL, 10 },
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

/* Add the items of a comma list; the text lives as long as argv. */
static void parse_list(const char *option, char *arg, struct list *list)
{
	char *item;

	while ((item = strsep(&arg, ","))) {
		if (!*item || list->n == LIST_MAX) {
			msg_error(*item ? "%s: more than %d items" : "%s: the list has an empty item", option, LIST_MAX);
			exit(EXIT_USAGE);
		}
		for (size_t i = 0; i < list->n; i++)
			if (!strcmp(list->item[i], item)) {
				msg_error("%s: '%s' stands twice", option, item);
				exit(EXIT_USAGE);
			}
		list->item[list->n++] = item;
	}
}

static error_t parse_ctx(int key, char *arg, struct argp_state *state)
{
	struct ctx_cmd *c = state->input;
	uint64_t n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = state->child_inputs[2] = &c->options;
		return 0;
	case 'n':
		parse_list("-n", arg, &c->tasks);
		return 0;
	case ARGP_KEY_ARG:
		parse_list("number of tasks", arg, &c->tasks);
		return 0;
	case 's':
	case KEY_SIZE:
		if (c->sizes.n && c->sizes_kib != (key == 's')) {
			msg_error("-s and --size: a bare number is KiB in the one and bytes in the other; use one of them");
			exit(EXIT_USAGE);
		}
		c->sizes_kib = key == 's';
		parse_list(key == 's' ? "-s" : "--size", arg, &c->sizes);
		return 0;
	case KEY_VIA:
		parse_list("--via", arg, &c->vias);
		return 0;
	case KEY_THREADS:
		c->threads = true;
		return 0;
	case KEY_PLACE:
		parse_list("--place", arg, &c->places);
		return 0;
	case KEY_TSC:
		parse_list("--tsc", arg, &c->tsc);
		return 0;
	case KEY_ABI:
		parse_list("--abi", arg, &c->abi);
		return 0;
	case KEY_POLICY:
		parse_list("--policy", arg, &c->policy);
		return 0;
	case KEY_AFFINITY:
		parse_list("--affinity", arg, &c->affinity);
		return 0;
	case KEY_LMBENCH:
		c->lmbench = true;
		return 0;
	case KEY_WINDOW:
		if (util_opt_double("--window", arg, 1, 10000, &c->window_ms))
			exit(EXIT_USAGE);
		return 0;
	case 'W':
		if (util_opt_double("-W", arg, 0, 1e7, &c->warmup_us))
			exit(EXIT_USAGE);
		return 0;
	case 'N':
		if (util_opt_u64("-N", arg, 1, EXPERIMENT_ROUNDS_MAX, &c->options.rounds))
			exit(EXIT_USAGE);
		return 0;
	case 'P':
		if (util_opt_u64("-P", arg, 1, UINT32_MAX, &n))
			exit(EXIT_USAGE);
		if (n != 1) {
			msg_error("-P %llu: rings side by side are not measured here; only -P 1", (unsigned long long)n);
			exit(EXIT_USAGE);
		}
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_ctx = {
	.options = ctx_options,
	.parser = parse_ctx,
	.args_doc = "[TASKS...]",
	.doc = "Measure a context switch: tasks in a ring pass a token, and each reads some memory when it has it.\v"
	       "Each number of tasks, size, link and place is a condition with a table of its own. "
	       "Without arms to compare, the ring is measured against itself.",
	.children = ctx_children,
};

/* In a table that a NULL name ends. */
static int look_up(const char *option, const struct word *table, const char *name, int *value)
{
	const char *names[8] = { NULL };
	char hint[256];

	for (size_t i = 0; table[i].name; i++) {
		names[i] = table[i].name;
		if (!strcmp(table[i].name, name)) {
			*value = table[i].value;
			return EXIT_DONE;
		}
	}
	msg_error("%s: '%s' is none of %s, %s%s%s%s", option, name, names[0], names[1], names[2] ? ", " : "", names[2] ? names[2] : "",
		  util_did_you_mean(name, names, hint, sizeof(hint)));
	return EXIT_USAGE;
}

static void default_item(struct list *list, const char *item)
{
	if (!list->n)
		list->item[list->n++] = item;
}

/* "tsc=one abi=32": those dimensions that were asked for. */
static char *arm_name(const struct ctx_cmd *c, const struct arm *a)
{
	const char *key[] = { "tsc", "abi", "policy", "affinity" }, *item[] = { a->tsc, a->abi, a->policy, a->affinity };
	const bool shown[] = { c->tsc.n > 0, c->abi.n > 0, c->policy.n > 0, c->affinity.n > 0 };
	char *name = util_strdup(""), *longer;

	for (size_t i = 0; i < ARRAY_SIZE(key); i++) {
		if (!shown[i])
			continue;
		longer = util_asprintf("%s%s%s=%s", name, *name ? " " : "", key[i], item[i]);
		free(name);
		name = longer;
	}
	if (*name)
		return name;
	free(name);
	return util_strdup("ring");
}

static int set_arm(struct arm *a)
{
	int tsc = CTX_TSC_NONE, abi = CTX_ABI_NATIVE, policy = SCHED_OTHER, place = 0, status;

	status = look_up("--tsc", tsc_names, a->tsc, &tsc);
	if (!status)
		status = look_up("--abi", abi_names, a->abi, &abi);
	if (!status)
		status = look_up("--policy", policy_names, a->policy, &policy);
	if (!status && a->affinity)
		status = look_up("--affinity", place_names, a->affinity, &place);
	a->run.tsc = (enum ctx_tsc)tsc;
	a->run.abi = abi;
	a->run.policy = policy;
	a->run.place = (enum ctx_place)place;
	return status;
}

/* Every combination of the lists, the first of each varying slowest. */
static int choose_arms(struct ctx_cmd *c)
{
	struct list tsc = c->tsc, abi = c->abi, policy = c->policy, affinity = c->affinity;
	int status = EXIT_DONE;

	default_item(&tsc, "none");
	default_item(&abi, CTX_ABI_NATIVE == 32 ? "32" : "64");
	default_item(&policy, "other");
	default_item(&affinity, NULL);
	c->arm = util_calloc(tsc.n * abi.n * policy.n * affinity.n, sizeof(*c->arm));
	for (size_t f = 0; f < affinity.n; f++)
		for (size_t p = 0; p < policy.n; p++)
			for (size_t b = 0; b < abi.n; b++)
				for (size_t t = 0; t < tsc.n && !status; t++) {
					struct arm *a = &c->arm[c->narm++];

					*a = (struct arm){ .tsc = tsc.item[t], .abi = abi.item[b], .policy = policy.item[p],
						.affinity = affinity.item[f] };
					status = set_arm(a);
				}
	return status;
}

/* A size as it is named everywhere: binary units, which it is a multiple of, else bytes. */
static void format_size(uint64_t bytes, char *text, size_t size)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB" };
	size_t i = 0;

	while (bytes && bytes % 1024 == 0 && i + 1 < ARRAY_SIZE(unit)) {
		bytes /= 1024;
		i++;
	}
	snprintf(text, size, "%llu%s", (unsigned long long)bytes, bytes ? unit[i] : "");
}

static int parse_size(const struct ctx_cmd *c, const char *s, uint64_t *bytes)
{
	const char *option = c->sizes_kib ? "-s" : "--size";
	char *kib = c->sizes_kib && *s && strspn(s, "0123456789") == strlen(s) ? util_asprintf("%sKiB", s) : NULL;
	int err = util_parse_bytes(kib ? kib : s, 0, SIZE_MAX_BYTES, bytes);

	free(kib);
	if (!err)
		return EXIT_DONE;
	if (err == -ERANGE)
		msg_error("%s: '%s' is not between 0 and 4 GiB", option, s);
	else
		msg_error("%s: '%s' is no size; sizes are whole numbers, as in 64k = 64K = 64KiB (65536 bytes), 64kB (64000 bytes), "
			  "1M = 1MiB; a bare number is %s", option, s, c->sizes_kib ? "KiB" : "bytes");
	return EXIT_USAGE;
}

static int check_place(const struct ctx_cmd *c, enum ctx_place place)
{
	const struct cpulist *cpus = &c->session.cpus;

	if (place == CTX_PLACE_CROSS && cpus->n < 2) {
		msg_error("cross-cpu needs two CPUs; this process may use one (CPU %d)", cpus->cpu[0]);
		return EXIT_CANNOT;
	}
	return EXIT_DONE;
}

static int add_condition(struct ctx_cmd *c, uint64_t size, uint64_t tasks, const char *via, const char *place)
{
	struct condition *k;
	struct reason why = { 0 };
	char text[64], *name, *cpus;
	size_t index;
	int v = ctx_via_find(via), where = CTX_PLACE_SAME, status = EXIT_DONE;

	if (v < 0) {
		msg_error("--via: '%s' is none of pipe, futex, eventfd, socketpair", via);
		return EXIT_USAGE;
	}
	if (place)
		status = look_up("--place", place_names, place, &where);
	if (!status)
		status = check_place(c, (enum ctx_place)where);
	if (status)
		return status;
	if (ctx_limits_check((unsigned int)tasks, (enum ctx_via)v, size, &why)) {
		msg_error("%s", why.text);
		return EXIT_CANNOT;
	}
	c->condition = util_realloc(c->condition, c->ncondition + 1, sizeof(*c->condition));
	k = &c->condition[c->ncondition++];
	*k = (struct condition){ .place = place, .size_bytes = size, .run = { .tasks = (unsigned int)tasks, .size_bytes = size, .via = (enum ctx_via)v,
		.place = (enum ctx_place)where, .threads = c->threads, .window_s = c->window_ms / 1e3, .warmup_s = c->warmup_us / 1e6,
		.cpus = &c->session.cpus, .cpus_chosen = c->options.cpus != NULL } };
	format_size(size, text, sizeof(text));
	cpus = cpulist_format(&c->session.cpus);
	name = util_asprintf("%s=%llu size=%s via=%s%s%s", c->threads ? "threads" : "processes", (unsigned long long)tasks, text, via,
			     place ? " place=" : "", place ? place : "");
	index = result_add_condition(c->result, name);
	free(name);
	result_condition_set(c->result, index, "size", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)tasks);
	result_condition_set(c->result, index, "tasks", text);
	result_condition_set(c->result, index, "kind", c->threads ? "threads" : "processes");
	result_condition_set(c->result, index, "via", via);
	if (place)
		result_condition_set(c->result, index, "place", place);
	if (where == CTX_PLACE_SAME && place) {
		snprintf(text, sizeof(text), "%d", c->session.cpus.cpu[c->session.cpus.n - 1]);
		result_condition_set(c->result, index, "cpus", text);
	} else {
		result_condition_set(c->result, index, "cpus", cpus);
	}
	free(cpus);
	snprintf(text, sizeof(text), "%.1f", c->window_ms);
	result_condition_set(c->result, index, "window_ms", text);
	return EXIT_DONE;
}

static int add_conditions(struct ctx_cmd *c)
{
	uint64_t size, tasks;
	int status = EXIT_DONE;

	default_item(&c->tasks, "2");
	default_item(&c->sizes, "0");
	default_item(&c->vias, "pipe");
	if (c->affinity.n && c->places.n) {
		msg_error("--affinity and --place: the places are either compared or conditions");
		return EXIT_USAGE;
	}
	if (c->affinity.n)
		c->places = (struct list){ .item = { NULL }, .n = 1 };
	else
		default_item(&c->places, "same-cpu");
	for (size_t i = 0; i < c->narm && !status; i++)
		if (c->arm[i].affinity)
			status = check_place(c, c->arm[i].run.place);
	for (size_t v = 0; v < c->vias.n && !status; v++)
		for (size_t p = 0; p < c->places.n && !status; p++)
			for (size_t s = 0; s < c->sizes.n && !status; s++) {
				status = parse_size(c, c->sizes.item[s], &size);
				for (size_t t = 0; t < c->tasks.n && !status; t++) {
					if (util_opt_u64("number of tasks", c->tasks.item[t], 2, CTX_TASKS_MAX, &tasks))
						return EXIT_USAGE;
					status = add_condition(c, size, tasks, c->vias.item[v], c->places.item[p]);
				}
			}
	return status;
}

/* Why an arm cannot be measured here, or NULL. */
static const char *arm_absent(struct ctx_cmd *c, const struct arm *a)
{
	struct reason why = { 0 };

	if (a->run.tsc != CTX_TSC_NONE && (c->enforced == CTX_NO_SUCH_PRCTL || c->enforced == CTX_ENFORCED_UNKNOWN)) {
		ctx_run_tsc_enforced(&why);
		return util_intern(why.text);
	}
	if (ctx_run_abi(a->run.abi, &why))
		return util_intern(why.text);
	if (a->run.policy == SCHED_FIFO && c->session.topology.online.n < 2)
		return "a SCHED_FIFO ring would take the only CPU from all else on this machine";
	if (a->run.policy != SCHED_OTHER && ctx_run_policy(a->run.policy, &why))
		return util_intern(why.text);
	return NULL;
}

static bool only_same_cpu(const struct ctx_cmd *c)
{
	for (size_t i = 0; i < c->ncondition; i++)
		if (c->condition[i].run.place != CTX_PLACE_SAME)
			return false;
	return !c->affinity.n;
}

/*
 * The kernel writes CR4 only when the flags of the two tasks differ. On one CPU `both` therefore does what `none` does: the same
 * work, a null control. Elsewhere the idle task, which has no flag, comes in between.
 */
static bool is_null_of(const struct ctx_cmd *c, const struct arm *a, const struct arm *b)
{
	return a->run.tsc != CTX_TSC_ONE && b->run.tsc != CTX_TSC_ONE && a->run.abi == b->run.abi &&
	       a->run.policy == b->run.policy && only_same_cpu(c);
}

static int declare_arms(struct ctx_cmd *c)
{
	bool null = false;
	const char *why;
	char *name;
	size_t arm;

	c->enforced = CTX_ENFORCED;
	if (c->tsc.n) {
		c->enforced = ctx_run_tsc_enforced(NULL);
		result_set_env(c->result, "tsc_forbidding",
			       c->enforced == CTX_ENFORCED ? "enforced" : c->enforced == CTX_NOT_ENFORCED ? "not enforced" : NULL,
			       c->enforced == CTX_NO_SUCH_PRCTL ? "no prctl(PR_SET_TSC) here" : "could not be found out");
		if (c->enforced == CTX_NOT_ENFORCED)
			result_warn(c->result, WARN_TSC_NOT_ENFORCED, c->session.env.value[ENV_HYPERVISOR]);
	}
	for (size_t i = 0; i < c->narm; i++) {
		struct arm *a = &c->arm[i];

		name = arm_name(c, a);
		arm = result_add_arm(c->result, name, "ctx", NULL, NULL);
		why = arm_absent(c, a);
		if (why && !i) {
			msg_error("%s: %s", name, why);
			free(name);
			return EXIT_CANNOT;
		}
		free(name);
		a->absent = why != NULL;
		if (why)
			result_arm_absent(c->result, arm, why);
		for (size_t j = 0; j < i && !why; j++)
			if (!c->arm[j].absent && c->result->arm[arm].twin_of < 0 && is_null_of(c, a, &c->arm[j]))
				c->result->arm[arm].twin_of = (int)j;
		null |= c->result->arm[arm].twin_of == 0;
	}
	if (null)
		return EXIT_DONE;
	/* Rule 6: the reference runs twice. */
	name = util_asprintf("%s#2", c->result->arm[0].name);
	arm = result_add_arm(c->result, name, "ctx", NULL, NULL);
	free(name);
	c->result->arm[arm].twin_of = 0;
	/* Alone, it is all that there is to settle: how well the ring can be told from itself. */
	c->result->arm[arm].control = c->narm > 1;
	return EXIT_DONE;
}

static void declare_metrics(struct ctx_cmd *c)
{
	const struct meters *m = ctx_run_counters(c->run);
	size_t metric;
	char *unit;

#define X(ident, name, metric_unit, better, show) \
	metric = result_add_metric(c->result, name, metric_unit, better, false, (show) == CTX_SHOW_HEADLINE); \
	c->result->metric[metric].detail = (show) == CTX_SHOW_DETAIL;
	CTX_METRICS(X)
#undef X
	for (size_t i = 0; i < m->ncounter; i++) {
		if (m->counter[i].why) {
			result_set_env(c->result, m->counter[i].name, NULL, m->counter[i].why);
			continue;
		}
		unit = util_asprintf("%s/switch", *m->counter[i].unit ? m->counter[i].unit : "count");
		result_add_metric(c->result, m->counter[i].name, unit, BETTER_NONE, false, false);
		free(unit);
	}
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why)
{
	struct ctx_cmd *c = ctx;
	const struct arm *a = &c->arm[arm < c->narm ? arm : 0];
	struct ctx_condition run = c->condition[condition].run;

	(void)round;
	*flags = 0;
	run.tsc = a->run.tsc;
	run.abi = a->run.abi;
	run.policy = a->run.policy;
	if (a->affinity)
		run.place = a->run.place;
	return ctx_run_trial(c->run, &run, values, why);
}

/* Did the kernel switch as often as was planned? */
static void check_counted(struct ctx_cmd *c, size_t condition)
{
	double *x;
	char text[192];

	for (size_t arm = 0; arm < c->result->narm; arm++) {
		size_t n = result_series(c->result, condition, arm, CTX_VALUE_COUNTED)->n;
		double counted;

		x = util_calloc(n + 1, sizeof(*x));
		n = result_values(c->result, condition, arm, CTX_VALUE_COUNTED, x);
		counted = n ? stats_median(x, n) : 1;
		free(x);
		if (fabs(counted - 1) <= COUNTED_MARGIN)
			continue;
		snprintf(text, sizeof(text), "%.60s, %.80s: %.3f of the planned number", c->result->condition[condition].name,
			 c->result->arm[arm].name, counted);
		result_warn(c->result, WARN_SWITCH_COUNT, text);
	}
}

static int measure(struct ctx_cmd *c)
{
	struct reason why = { 0 };
	enum experiment_end end = EXPERIMENT_SETTLED;
	double level = c->result->rule.level;
	unsigned int flags = 0;
	int err = 0;

	experiment_catch_signals();
	for (size_t i = 0; i < c->ncondition && !err && end != EXPERIMENT_INTERRUPTED; i++) {
		struct experiment e = {
			.result = c->result, .condition = i, .rounds = c->options.rounds, .trial = trial, .ctx = c,
			.budget_s = c->options.time_s > 0 ? c->options.time_s : c->options.rounds ? 0 : DEFAULT_TIME_S,
			.progress = c->options.quiet ? NULL : session_progress,
		};

		err = experiment_run(&e, &end, &why);
		/* Verdicts of all conditions are given at one level: the most careful one that any condition stopped at. */
		level = e.level > level ? e.level : level;
		flags |= e.flags;
		check_counted(c, i);
	}
	experiment_restore_signals();
	session_progress(NULL, NULL);
	if (err)
		msg_error("%s", why.text);
	result_compare(c->result, 0, level, flags);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static double median_of(const struct result *r, size_t condition, enum ctx_value metric)
{
	size_t n = result_series(r, condition, 0, metric)->n;
	double *x = util_calloc(n + 1, sizeof(*x)), median;

	n = result_values(r, condition, 0, metric, x);
	median = n ? stats_median(x, n) : NAN;
	free(x);
	return median;
}

/* As lat_ctx does, but for its silence about results that are not above 0. */
static void print_lmbench(const struct ctx_cmd *c)
{
	for (size_t i = 0; i < c->ncondition; i++) {
		const struct condition *k = &c->condition[i];
		double net = median_of(c->result, i, CTX_VALUE_NET);

		if (isnan(net))
			continue;
		if (!i || k->size_bytes != k[-1].size_bytes || k->run.via != k[-1].run.via || k->place != k[-1].place)
			fprintf(stderr, "\n\"size=%.15gk ovr=%.2f\n", (double)k->size_bytes / 1024, median_of(c->result, i, CTX_VALUE_TRANSPORT));
		fprintf(stderr, "%u %.2f\n", k->run.tasks, net);
	}
}

static int print(struct ctx_cmd *c)
{
	static const char *const says[] = {
		[CTX_ENFORCED] = "enforced: a process that read the counter after forbidding it to itself got SIGSEGV",
		[CTX_NOT_ENFORCED] = "NOT enforced here: the flag is accepted, and the counter can still be read",
		[CTX_NO_SUCH_PRCTL] = "this kernel and architecture cannot",
		[CTX_ENFORCED_UNKNOWN] = "could not be found out",
	};
	struct reason why = { 0 };
	int status;

	if (c->lmbench) {
		print_lmbench(c);
		if (c->options.output && result_write(c->result, c->options.output, &why)) {
			msg_error("%s", why.text);
			return EXIT_FAILED;
		}
		return c->result->partial ? EXIT_FAILED : EXIT_DONE;
	}
	status = session_print(c->result, &c->options, stdout);
	if (c->tsc.n && !c->options.json && !c->options.csv_sep && (!c->options.output || strcmp(c->options.output, "-")))
		printf("Forbidding the time-stamp counter: %s\n", says[c->enforced]);
	return status;
}

static int run_ctx(struct ctx_cmd *c, int argc, char **argv)
{
	struct reason why = { 0 };
	int status = choose_arms(c);

	if (status)
		return status;
	if (c->lmbench && c->narm > 1) {
		msg_error("--lmbench: lat_ctx's output has no place for arms; measure one");
		return EXIT_USAGE;
	}
	/* The events are those of the tasks, which are opened later; here only the clocks. */
	status = session_open(&c->session, &(struct measure_options){ .cpus = c->options.cpus }, NULL, false, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	c->result = session_result(&c->session, &c->options, "ctx", argc, argv);
	status = add_conditions(c);
	if (!status)
		status = declare_arms(c);
	if (!status) {
		c->run = ctx_run_open(&c->session.meters, c->options.events ? c->options.events : "cycles,instructions", c->options.events != NULL,
				      experiment_interrupted, &status, &why);
		if (c->run) {
			declare_metrics(c);
			status = measure(c);
			/* Of a run that failed before its first round there is nothing to show. */
			if ((!status || c->result->rounds[0]) && print(c) && !status)
				status = EXIT_FAILED;
		} else {
			msg_error("%s", why.text);
		}
	}
	ctx_run_close(c->run);
	session_close(&c->session);
	return status;
}

int cmd_ctx(int argc, char **argv)
{
	struct ctx_cmd c = { .options = MEASURE_OPTIONS_INIT, .window_ms = DEFAULT_WINDOW_MS, .warmup_us = DEFAULT_WARMUP_US };
	int status;

	if (argp_parse(&argp_ctx, argc, argv, 0, NULL, &c))
		return EXIT_USAGE;
	status = run_ctx(&c, argc, argv);
	free(c.condition);
	free(c.arm);
	if (c.result)
		result_free(c.result);
	options_measure_free(&c.options);
	return status;
}
