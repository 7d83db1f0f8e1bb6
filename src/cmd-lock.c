/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax lock: spin-lock contention, with the hint in the wait loop, or the lock itself, as the arm. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-lock.h"
#include "cmd.h"

#define DEFAULT_TIME_S 10.0
#define DEFAULT_PAIR_TIME_S 2.0		/* of each pair of CPUs of a matrix */
#define DEFAULT_WINDOW_MS 20.0
#define DEFAULT_VICTIM_WINDOW_MS 10.0	/* a trial has four */

enum {
	KEY_LOCK = 0x200,
	KEY_HINT,
	KEY_PLACE,
	KEY_CS,
	KEY_THINK,
	KEY_CS_LINES,
	KEY_WINDOW,
	KEY_FIFO,
	KEY_VICTIM,
	KEY_VICTIM_CPU,
	KEY_MATRIX
};

static const struct argp_option lock_options[] = {
	{ "lock", KEY_LOCK, "LIST", 0, "Locks (default ttas); with one hint, the locks are the arms", 0 },
	{ "hint", KEY_HINT, "LIST", 0,
	  "Hints in the wait loop, the arms (default: those of this CPU); the first is the reference", 0 },
	{ "threads", 't', "LIST", 0, "Numbers of threads (default 2)", 0 },
	{ "place", KEY_PLACE, "LIST", 0,
	  "Where the threads run: smt, core, llc, numa, any (default), or a list of CPUs; may be repeated", 0 },
	{ "cs", KEY_CS, "N[ns]", 0, "Work inside the lock: iterations of an empty loop, or nanoseconds (default 0)",
	  0 },
	{ "think", KEY_THINK, "N[ns]", 0, "Work outside the lock (default 0)", 0 },
	{ "cs-lines", KEY_CS_LINES, "N", 0, "Cache lines written inside the lock, 0 to 64 (default 0)", 0 },
	{ "window", KEY_WINDOW, "MS", 0, "Length of a window in ms (default 20; with --victim 10)", 0 },
	{ "fifo", KEY_FIFO, NULL, 0, "Run the threads as SCHED_FIFO; refused when that would take every CPU", 0 },
	{ "victim", KEY_VICTIM, NULL, 0, "Measure what a waiting thread leaves of its core to its SMT sibling", 0 },
	{ "victim-cpu", KEY_VICTIM_CPU, "N", 0, "The same with the sibling's work on CPU N", 0 },
	{ "matrix", KEY_MATRIX, NULL, 0, "Measure the one-way hand-over between each two CPUs", 0 },
	{ 0 }
};

static const struct argp_child lock_children[] = {
	{ &options_experiment_argp, 0, "Measuring:", 10 },
	{ &options_meter_argp, 0, NULL, 10 },
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

/* Split a comma list in place and add it; the text lives as long as argv. */
static void add_item(const char *option, const char *item, struct list *list)
{
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

static void parse_list(const char *option, char *arg, struct list *list)
{
	char *item;

	while ((item = strsep(&arg, ",")))
		add_item(option, item, list);
}

/* Words, or one list of CPUs, which has commas of its own. */
static void parse_places(char *arg, struct list *places)
{
	size_t first = places->n;

	if (*arg >= '0' && *arg <= '9') {
		add_item("--place", arg, places);
		return;
	}
	parse_list("--place", arg, places);
	for (size_t i = first; i < places->n; i++)
		if (*places->item[i] >= '0' && *places->item[i] <= '9') {
			msg_error("--place: '%s' beside words: give a list of CPUs in a --place of its own",
				  places->item[i]);
			exit(EXIT_USAGE);
		}
}

static void choose_mode(struct lock_cmd *l, enum lock_mode mode)
{
	if (l->mode != LOCK_CONTEND && l->mode != mode) {
		msg_error("--victim and --matrix cannot be combined");
		exit(EXIT_USAGE);
	}
	l->mode = mode;
}

/* Options that say nothing in a mode are refused: whoever gave them expects something of them. */
static void check_mode(struct lock_cmd *l)
{
	const char *mode = l->mode == LOCK_VICTIM ? "--victim" : "--matrix", *option = NULL;

	if (l->mode == LOCK_CONTEND)
		return;
	if (l->threads.n)
		option = "-t";
	else if (l->places.n)
		option = l->mode == LOCK_VICTIM ? "--place (see --victim-cpu)" : "--place (see -C)";
	else if (l->cs || l->think || l->cs_lines)
		option = "--cs, --think and --cs-lines";
	else if (l->mode == LOCK_MATRIX && l->locks.n)
		option = "--lock: no lock is taken, a word is handed over";
	if (!option)
		return;
	msg_error("%s does not go with %s", mode, option);
	exit(EXIT_USAGE);
}

/* What was not said. */
static void set_defaults(struct lock_cmd *l)
{
	if (!l->threads.n)
		l->threads.item[l->threads.n++] = "2";
	if (!l->places.n)
		l->places.item[l->places.n++] = "any";
	if (l->window_ms <= 0)
		l->window_ms = l->mode == LOCK_VICTIM ? DEFAULT_VICTIM_WINDOW_MS : DEFAULT_WINDOW_MS;
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
		parse_places(arg, &l->places);
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
	case KEY_VICTIM:
		choose_mode(l, LOCK_VICTIM);
		return 0;
	case KEY_VICTIM_CPU:
		choose_mode(l, LOCK_VICTIM);
		l->victim_cpu_given = true;
		if (util_opt_u64("--victim-cpu", arg, 0, 65535, &l->victim_cpu))
			exit(EXIT_USAGE);
		return 0;
	case KEY_MATRIX:
		choose_mode(l, LOCK_MATRIX);
		return 0;
	case ARGP_KEY_END:
		check_mode(l);
		set_defaults(l);
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
	       "Each (lock, hint) is a loop of its own in this program; the bytes shown are those of its wait loop. "
	       "Each number of threads, place and "
	       "lock is a condition with a table of its own.",
	.children = lock_children,
};

static int run_trial(struct lock_cmd *l, const struct condition *c, const struct lock_pair *p, struct value *values,
		     struct reason *why)
{
	int err;

	if (l->mode == LOCK_VICTIM)
		return lock_run_victim(l->run, p, &c->run, values, why);
	if (l->mode == LOCK_MATRIX)
		return lock_run_handoff(l->run, p, &c->run, values, why);
	err = lock_run_trial(l->run, p, &c->run, values, l->per_thread, why);
	for (size_t i = 0; i < l->max_threads && !err; i++)
		values[l->thread_metric + i] = i < c->run.threads ? value_of((double)l->per_thread[i])
								  : value_missing("no such thread in this condition");
	return err;
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags,
		 struct reason *why)
{
	struct lock_cmd *l = ctx;
	const struct condition *c = &l->condition[condition];
	int err = run_trial(l, c, lock_plan_pair(l, c, arm), values, why);

	(void)round;
	/* More threads than CPUs interrupt one another: no interference but what was asked for. */
	*flags = lock_run_preempted(l->run) && c->run.threads <= c->run.cpus.n ? TRIAL_DESCHEDULED : 0;
	return err;
}

static int measure(struct lock_cmd *l)
{
	double budget_s = l->options.time_s > 0    ? l->options.time_s
			  : l->options.rounds      ? 0
			  : l->mode == LOCK_MATRIX ? DEFAULT_PAIR_TIME_S
						   : DEFAULT_TIME_S;
	struct reason why = { 0 };
	enum experiment_end end = EXPERIMENT_SETTLED;
	double level = l->result->rule.level;
	unsigned int flags = 0;
	int err = 0;

	experiment_catch_signals();
	for (size_t i = 0; i < l->ncondition && !err && end != EXPERIMENT_INTERRUPTED; i++) {
		struct experiment e = {
			.result = l->result,
			.condition = i,
			.rounds = l->options.rounds,
			.budget_s = budget_s,
			.trial = trial,
			.ctx = l,
			.progress = l->options.quiet ? NULL : session_progress,
		};

		err = experiment_run(&e, &end, &why);
		/*
		 * Verdicts of all conditions are given at one level: the most careful one that any condition stopped
		 * at.
		 */
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

static int measure_and_print(struct lock_cmd *l)
{
	struct reason why = { 0 };
	int status;

	lock_plan_arms(l);
	lock_plan_metrics(l);
	l->per_thread = util_calloc(l->max_threads, sizeof(*l->per_thread));
	l->run = lock_run_open(&l->session.meters, (unsigned int)l->max_threads, &why);
	if (!l->run) {
		msg_error("%s", why.text);
		return EXIT_CANNOT;
	}
	status = measure(l);
	if (session_print(l->result, &l->options, stdout) && !status)
		status = EXIT_FAILED;
	lock_run_close(l->run);
	return status;
}

static int run_lock(struct lock_cmd *l, int argc, char **argv)
{
	struct reason why = { 0 };
	int status = lock_plan_hints(l);

	if (!status)
		status = lock_plan_locks(l);
	if (status)
		return status;
	status = session_open(&l->session, &l->options, NULL, false, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	l->result = session_result(&l->session, &l->options, "lock", argc, argv);
	status = lock_plan_conditions(l);
	if (!status)
		status = measure_and_print(l);
	session_close(&l->session);
	return status;
}

int cmd_lock(int argc, char **argv)
{
	struct lock_cmd l = { .options = MEASURE_OPTIONS_INIT };
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
