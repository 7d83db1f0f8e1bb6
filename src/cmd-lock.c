/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax lock: spin-lock contention, with the hint in the wait loop, or the lock itself, as the arm. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "disasm.h"
#include "experiment.h"
#include "lock-run.h"
#include "options.h"
#include "probe.h"
#include "session.h"

#define DEFAULT_TIME_S 10.0
#define DEFAULT_WINDOW_MS 20.0
#define THREADS_MAX 1024
#define LIST_MAX 32

enum { KEY_LOCK = 0x200, KEY_HINT, KEY_PLACE, KEY_CS, KEY_THINK, KEY_CS_LINES, KEY_WINDOW, KEY_FIFO };

struct list {
	const char *item[LIST_MAX];
	size_t n;
};

struct condition {
	const char *lock;		/* NULL: the locks are the arms */
	struct lock_condition run;
	size_t index;			/* in the result */
};

struct lock_cmd {
	struct measure_options options;
	struct list locks, hints, threads, places;
	const char *cs, *think;
	uint64_t cs_lines;
	double window_ms;
	bool fifo;

	struct session session;
	struct lock_run *run;
	struct result *result;
	struct condition *condition;
	size_t ncondition;
	bool locks_are_arms;
	size_t max_threads;
	uint64_t *per_thread;
	size_t thread_metric;		/* index of the first of the per-thread metrics */
};

static const struct argp_option lock_options[] = {
	{ "lock", KEY_LOCK, "LIST", 0, "Locks (default ttas); with one hint, the locks are the arms", 0 },
	{ "hint", KEY_HINT, "LIST", 0, "Hints in the wait loop, the arms (default: those of this CPU); the first is the reference", 0 },
	{ "threads", 't', "LIST", 0, "Numbers of threads (default 2)", 0 },
	{ "place", KEY_PLACE, "LIST", 0, "Where the threads run: smt, core, llc, numa, or any (default)", 0 },
	{ "cs", KEY_CS, "N[ns]", 0, "Work inside the lock: iterations of an empty loop, or nanoseconds (default 0)", 0 },
	{ "think", KEY_THINK, "N[ns]", 0, "Work outside the lock (default 0)", 0 },
	{ "cs-lines", KEY_CS_LINES, "N", 0, "Cache lines written inside the lock, 0 to 64 (default 0)", 0 },
	{ "window", KEY_WINDOW, "MS", 0, "Length of one trial's window in ms (default 20)", 0 },
	{ "fifo", KEY_FIFO, NULL, 0, "Run the threads as SCHED_FIFO; refused when that would take every CPU", 0 },
	{ 0 }
};

static const struct argp_child lock_children[] = {
	{ &options_experiment_argp, 0, "Measuring:", 10 },
	{ &options_meter_argp, 0, NULL, 10 },
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

/* Split a comma list in place; the text lives as long as argv. */
static void parse_list(const char *option, char *arg, struct list *list)
{
	char *item;

	list->n = 0;
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

static error_t parse_lock(int key, char *arg, struct argp_state *state)
{
	struct lock_cmd *l = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &l->options;
		return 0;
	case KEY_LOCK:
		parse_list("--lock", arg, &l->locks);
		return 0;
	case KEY_HINT:
		parse_list("--hint", arg, &l->hints);
		return 0;
	case 't':
		parse_list("-t", arg, &l->threads);
		return 0;
	case KEY_PLACE:
		parse_list("--place", arg, &l->places);
		return 0;
	case KEY_CS:
		l->cs = arg;
		return 0;
	case KEY_THINK:
		l->think = arg;
		return 0;
	case KEY_CS_LINES:
		if (util_opt_u64("--cs-lines", arg, 0, LOCK_CS_LINES_MAX, &l->cs_lines))
			exit(EXIT_USAGE);
		return 0;
	case KEY_WINDOW:
		if (util_opt_double("--window", arg, 1, 10000, &l->window_ms))
			exit(EXIT_USAGE);
		return 0;
	case KEY_FIFO:
		l->fifo = true;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "lock takes no arguments: '%s' (locks are named with --lock)", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_lock = {
	.options = lock_options,
	.parser = parse_lock,
	.doc = "Threads take and release one lock; compare the hint in its wait loop, or the locks themselves.\v"
	       "Each (lock, hint) is a loop of its own in this program; the bytes shown are those of its wait loop. Each number of threads, place and "
	       "lock is a condition with a table of its own.",
	.children = lock_children,
};

static int unknown_lock(const char *name)
{
	const char *names[LIST_MAX] = { NULL };
	char hint[256];
	size_t n = 0;

#define X(ident, lock_name, extra, summary) names[n++] = lock_name;
	SPIN_LOCKS(X, )
#undef X
#define X(ident, lock_name, summary) names[n++] = lock_name;
	LIBRARY_LOCKS(X)
#undef X
	msg_error("--lock: '%s' is not a lock%s", name, util_did_you_mean(name, names, hint, sizeof(hint)));
	msg_error("`perf relax list locks` shows all locks");
	return EXIT_USAGE;
}

/* The pair of a lock and a hint; locks of the library have their own. */
static const struct lock_pair *find_pair(const char *lock, const char *hint)
{
	const struct lock_pair *p = lock_pair_find(lock, hint);

	return p ? p : lock_pair_find(lock, "library");
}

static bool is_lock(const char *name)
{
	for (size_t i = 0; lock_pair_at(i); i++)
		if (!strcmp(lock_pair_at(i)->lock, name))
			return true;
	return false;
}

/* Hints named must exist and run here; by default all that do. */
static int choose_hints(struct lock_cmd *l)
{
	bool named = l->hints.n > 0;

	for (size_t i = 0; i < l->hints.n; i++) {
		const struct probe *p = probe_find(l->hints.item[i]);
		const char *why = p ? probe_why_absent(p) : NULL, *elsewhere = probe_foreign(l->hints.item[i]);

		if (!p || p->class != PROBE_HINT) {
			msg_error("--hint: '%s' is not a hint%s%s; `perf relax list hints` shows those of this CPU", l->hints.item[i],
				  elsewhere ? " of this architecture but one of " : "", elsewhere ? elsewhere : "");
			return elsewhere ? EXIT_CANNOT : EXIT_USAGE;
		}
		if (why) {
			msg_error("--hint: %s: %s", p->name, why);
			return EXIT_CANNOT;
		}
	}
	for (size_t i = 0; !named && i < probe_count() && l->hints.n < LIST_MAX; i++)
		if (probe_at(i)->class == PROBE_HINT && !probe_why_absent(probe_at(i)))
			l->hints.item[l->hints.n++] = probe_at(i)->name;
	return EXIT_DONE;
}

static int choose_locks(struct lock_cmd *l)
{
	if (!l->locks.n)
		l->locks.item[l->locks.n++] = "ttas";
	for (size_t i = 0; i < l->locks.n; i++) {
		if (!is_lock(l->locks.item[i]))
			return unknown_lock(l->locks.item[i]);
		if (!lock_pair_find(l->locks.item[i], l->hints.item[0]) && l->locks.n == 1) {
			msg_error("--lock %s: its wait loop is the C library's, so there are no hints to compare; name other locks beside it", l->locks.item[i]);
			return EXIT_USAGE;
		}
	}
	l->locks_are_arms = l->locks.n > 1 && l->hints.n == 1;
	if (l->locks.n > 1 && !l->locks_are_arms)
		for (size_t i = 0; i < l->locks.n; i++)
			if (!lock_pair_find(l->locks.item[i], l->hints.item[0])) {
				msg_error("--lock %s: its wait loop is the C library's: compare it with other locks, with one --hint", l->locks.item[i]);
				return EXIT_USAGE;
			}
	return EXIT_DONE;
}

/* "100" iterations or "100ns". */
static int parse_work(const char *option, const char *arg, uint64_t *iters)
{
	size_t n = arg ? strlen(arg) : 0;
	char *number;
	uint64_t x = 0;
	int err;

	*iters = 0;
	if (!arg)
		return EXIT_DONE;
	if (n > 2 && !strcmp(arg + n - 2, "ns")) {
		number = util_strdup(arg);
		number[n - 2] = '\0';
		err = util_opt_u64(option, number, 0, 1000000000, &x);
		free(number);
		*iters = lock_run_idle_iters((double)x);
		if (!err && x && !*iters)
			*iters = 1;
	} else {
		err = util_opt_u64(option, arg, 0, 1000000000, iters);
	}
	return err ? EXIT_USAGE : EXIT_DONE;
}

static int check_fifo(const struct lock_cmd *l, uint64_t threads)
{
	if (!l->fifo || threads < l->session.cpus.n)
		return EXIT_DONE;
	msg_error("--fifo with %llu threads would take every one of the %zu CPUs from all else on this machine; use fewer threads",
		  (unsigned long long)threads, l->session.cpus.n);
	return EXIT_CANNOT;
}

static int place_threads(struct lock_cmd *l, const char *place, uint64_t threads, struct lock_condition *c)
{
	struct reason why = { 0 };
	size_t cpus = threads < l->session.cpus.n ? threads : l->session.cpus.n;

	c->cpus = (struct cpulist){ 0 };
	if (!strcmp(place, "any")) {
		for (size_t i = 0; i < cpus; i++)
			cpulist_add(&c->cpus, l->session.cpus.cpu[l->session.cpus.n - 1 - i]);
		return EXIT_DONE;
	}
	if (topology_place(&l->session.topology, place, threads, &c->cpus, &why)) {
		msg_error("--place %s with %llu threads: %s", place, (unsigned long long)threads, why.text);
		return why.err == EINVAL ? EXIT_USAGE : EXIT_CANNOT;
	}
	return EXIT_DONE;
}

static void describe_condition(struct lock_cmd *l, struct condition *c, const char *place)
{
	char *cpus = cpulist_format(&c->run.cpus), *name;
	char text[64];

	name = util_asprintf("%s%sthreads=%u place=%s", c->lock ? c->lock : "", c->lock ? " " : "", c->run.threads, place);
	c->index = result_add_condition(l->result, name);
	free(name);
	if (c->lock)
		result_condition_set(l->result, c->index, "lock", c->lock);
	else
		result_condition_set(l->result, c->index, "hint", l->hints.item[0]);
	snprintf(text, sizeof(text), "%u", c->run.threads);
	result_condition_set(l->result, c->index, "threads", text);
	result_condition_set(l->result, c->index, "place", place);
	result_condition_set(l->result, c->index, "cpus", cpus);
	free(cpus);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)c->run.cs_iters);
	result_condition_set(l->result, c->index, "cs_iters", text);
	snprintf(text, sizeof(text), "%.1f", c->run.cs_iters ? lock_run_idle_ns(c->run.cs_iters) : 0.0);
	result_condition_set(l->result, c->index, "cs_measured_ns", text);
	snprintf(text, sizeof(text), "%llu", (unsigned long long)c->run.think_iters);
	result_condition_set(l->result, c->index, "think_iters", text);
	snprintf(text, sizeof(text), "%.1f", c->run.think_iters ? lock_run_idle_ns(c->run.think_iters) : 0.0);
	result_condition_set(l->result, c->index, "think_measured_ns", text);
	snprintf(text, sizeof(text), "%u", c->run.cs_lines);
	result_condition_set(l->result, c->index, "cs_lines", text);
	snprintf(text, sizeof(text), "%.1f", c->run.window_s * 1e3);
	result_condition_set(l->result, c->index, "window_ms", text);
	if (c->run.threads > l->session.cpus.n) {
		snprintf(text, sizeof(text), "%u threads on %zu CPUs", c->run.threads, l->session.cpus.n);
		result_warn(l->result, WARN_OVERSUBSCRIBED, text);
	}
}

static int add_conditions(struct lock_cmd *l, const char *lock)
{
	uint64_t cs, think, threads;
	int status = parse_work("--cs", l->cs, &cs);

	if (!status)
		status = parse_work("--think", l->think, &think);
	for (size_t t = 0; t < l->threads.n && !status; t++) {
		if (util_opt_u64("-t", l->threads.item[t], 1, THREADS_MAX, &threads))
			return EXIT_USAGE;
		status = check_fifo(l, threads);
		for (size_t p = 0; p < l->places.n && !status; p++) {
			struct condition *c;

			l->condition = util_realloc(l->condition, l->ncondition + 1, sizeof(*l->condition));
			c = &l->condition[l->ncondition++];
			*c = (struct condition){ .lock = lock, .run = { .threads = (unsigned int)threads, .cs_iters = cs, .think_iters = think,
				.cs_lines = (unsigned int)l->cs_lines, .window_s = l->window_ms / 1e3, .fifo = l->fifo } };
			status = place_threads(l, l->places.item[p], threads, &c->run);
			if (!status)
				describe_condition(l, c, l->places.item[p]);
			if (threads > l->max_threads)
				l->max_threads = threads;
		}
	}
	return status;
}

/* The wait loop's own bytes: the innermost loop around the hint, as it stands in the text of run(). */
static void add_arm(struct lock_cmd *l, const char *name, const struct lock_pair *p)
{
	char hex[512] = "", text[512] = "";
	struct lock_site site;
	const unsigned char *begin, *end;
	bool found = lock_pair_sites(p, &site, 1) && !disasm_loop_around((const unsigned char *)(uintptr_t)p->run, site.begin, site.end, &begin, &end);

	if (found) {
		disasm_bytes_hex(begin, (size_t)(end - begin), hex, sizeof(hex));
		disasm_text(begin, (size_t)(end - begin), text, sizeof(text));
	}
	result_add_arm(l->result, name, "lock", found ? hex : NULL, found ? text : NULL);
}

static void declare_arms(struct lock_cmd *l)
{
	const struct list *names = l->locks_are_arms ? &l->locks : &l->hints;

	for (size_t i = 0; i < names->n; i++) {
		add_arm(l, names->item[i], l->locks_are_arms ? find_pair(names->item[i], l->hints.item[0]) : find_pair(l->locks.item[0], names->item[i]));
		for (size_t j = 0; j < i && !l->locks_are_arms; j++)
			if (l->result->arm[i].twin_of < 0 && probe_same_bytes(probe_find(names->item[j]), probe_find(names->item[i])))
				l->result->arm[i].twin_of = (int)j;
	}
}

/* Rule 6: without a second arm of the reference's bytes, the reference runs twice. */
static void add_null_control(struct lock_cmd *l)
{
	const struct list *names = l->locks_are_arms ? &l->locks : &l->hints;
	char *name;
	size_t arm;

	for (size_t i = 1; i < l->result->narm; i++)
		if (l->result->arm[i].twin_of == 0)
			return;
	name = util_asprintf("%s#2", names->item[0]);
	arm = result_add_arm(l->result, name, "lock", l->result->arm[0].bytes, l->result->arm[0].text);
	l->result->arm[arm].twin_of = 0;
	free(name);
}

static void declare_metrics(struct lock_cmd *l)
{
	char name[48];

#define X(ident, metric, unit, better, headline) result_add_metric(l->result, metric, unit, better, false, headline);
	LOCK_METRICS(X)
#undef X
	l->thread_metric = l->result->nmetric;
	for (size_t i = 0; i < l->max_threads; i++) {
		snprintf(name, sizeof(name), "acquired.thread%zu", i);
		result_add_metric(l->result, name, "count", BETTER_NONE, false, false);
	}
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why)
{
	struct lock_cmd *l = ctx;
	const struct condition *c = &l->condition[condition];
	const struct list *names = l->locks_are_arms ? &l->locks : &l->hints;
	const char *name = names->item[arm < names->n ? arm : 0];
	const struct lock_pair *p = l->locks_are_arms ? find_pair(name, l->hints.item[0]) : find_pair(c->lock, name);
	int err;

	(void)round;
	*flags = 0;
	err = lock_run_trial(l->run, p, &c->run, values, l->per_thread, why);
	for (size_t i = 0; i < l->max_threads && !err; i++)
		values[l->thread_metric + i] = i < c->run.threads ? value_of((double)l->per_thread[i]) : value_missing("no such thread in this condition");
	return err;
}

static int measure(struct lock_cmd *l)
{
	struct reason why = { 0 };
	enum experiment_end end = EXPERIMENT_SETTLED;
	double level = l->result->rule.level;
	unsigned int flags = 0;
	int err = 0;

	experiment_catch_signals();
	for (size_t i = 0; i < l->ncondition && !err && end != EXPERIMENT_INTERRUPTED; i++) {
		struct experiment e = {
			.result = l->result, .condition = i, .rounds = l->options.rounds, .trial = trial, .ctx = l,
			.budget_s = l->options.time_s > 0 ? l->options.time_s : l->options.rounds ? 0 : DEFAULT_TIME_S,
			.progress = l->options.quiet ? NULL : session_progress,
		};

		err = experiment_run(&e, &end, &why);
		/* Verdicts of all conditions are given at one level: the most careful one that any condition stopped at. */
		level = e.level > level ? e.level : level;
		flags |= e.flags;
	}
	experiment_restore_signals();
	session_progress(NULL, NULL);
	if (err)
		msg_error("%s", why.text);
	result_compare(l->result, 0, level, flags);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int run_lock(struct lock_cmd *l, int argc, char **argv)
{
	struct reason why = { 0 };
	int status = choose_hints(l);

	if (!status)
		status = choose_locks(l);
	if (status)
		return status;
	status = session_open(&l->session, &l->options, NULL, false, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	l->result = session_result(&l->session, &l->options, "lock", argc, argv);
	for (size_t i = 0; i < (l->locks_are_arms ? 1 : l->locks.n) && !status; i++)
		status = add_conditions(l, l->locks_are_arms ? NULL : l->locks.item[i]);
	if (!status) {
		declare_arms(l);
		add_null_control(l);
		declare_metrics(l);
		l->per_thread = util_calloc(l->max_threads, sizeof(*l->per_thread));
		l->run = lock_run_open(&l->session.meters, (unsigned int)l->max_threads, &why);
		if (l->run) {
			status = measure(l);
			if (session_print(l->result, &l->options, stdout) && !status)
				status = EXIT_FAILED;
		} else {
			msg_error("%s", why.text);
			status = EXIT_CANNOT;
		}
	}
	lock_run_close(l->run);
	session_close(&l->session);
	return status;
}

int cmd_lock(int argc, char **argv)
{
	struct lock_cmd l = { .options = MEASURE_OPTIONS_INIT, .window_ms = DEFAULT_WINDOW_MS,
		.threads = { .item = { "2" }, .n = 1 }, .places = { .item = { "any" }, .n = 1 } };
	int status;

	if (argp_parse(&argp_lock, argc, argv, 0, NULL, &l))
		return EXIT_USAGE;
	status = run_lock(&l, argc, argv);
	for (size_t i = 0; i < l.ncondition; i++)
		cpulist_free(&l.condition[i].run.cpus);
	free(l.condition);
	free(l.per_thread);
	if (l.result)
		result_free(l.result);
	options_measure_free(&l.options);
	return status;
}
