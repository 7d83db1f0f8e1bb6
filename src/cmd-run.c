/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax run: any command as the workload, alone or against others. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "command.h"
#include "experiment.h"
#include "options.h"
#include "session.h"

#define DEFAULT_TIME_S 10.0
/* Less CPU time than this share of wall time: the comparison is one of waiting (C119). */
#define OFF_CPU_SHARE 0.5

enum { KEY_VS = 0x200, KEY_NULL };

/* X(member of struct command_usage, "metric", "unit", better, factor) */
#define RUN_METRICS(X) \
	X(wall_s, "wall", "s", BETTER_LOWER) \
	X(user_s, "user", "s", BETTER_LOWER) \
	X(sys_s, "sys", "s", BETTER_LOWER) \
	X(max_rss_bytes, "max_rss", "bytes", BETTER_LOWER) \
	X(voluntary, "voluntary_switches", "count", BETTER_NONE) \
	X(involuntary, "involuntary_switches", "count", BETTER_NONE) \
	X(minor_faults, "minor_faults", "count", BETTER_NONE) \
	X(major_faults, "major_faults", "count", BETTER_NONE)

struct run_arm {
	char **argv;
	char *name;
};

struct run {
	struct measure_options options;
	bool null_control;
	struct run_arm *arm;
	size_t narm;
	struct session session;
	struct result *result;
	int status;		/* what is passed on: that of the first trial that failed */
	size_t failed;
	double cpu_s, wall_s;	/* over all trials */
};

static const struct argp_option run_options[] = {
	{ "vs", KEY_VS, "CMD", 0, "Another arm: a command, split into words as a shell would; may be repeated", 0 },
	{ "null", KEY_NULL, NULL, 0, "Run the first command twice a round: the null control", 0 },
	{ 0 }
};

static const struct argp_child run_children[] = {
	{ &options_experiment_argp, 0, "Measuring:", 10 },
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

static void add_arm(struct run *r, char **argv)
{
	r->arm = util_realloc(r->arm, r->narm + 1, sizeof(*r->arm));
	r->arm[r->narm++] = (struct run_arm){ .argv = argv, .name = command_join(argv) };
}

static char **copy_words(char *const *words)
{
	size_t n = 0;
	char **copy;

	while (words[n])
		n++;
	copy = util_calloc(n + 1, sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = util_strdup(words[i]);
	return copy;
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct run *r = state->input;
	struct reason why;
	char **words;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &r->options;
		return 0;
	case KEY_VS:
		words = command_split(arg, &why);
		if (!words) {
			msg_error("--vs: %s", why.text);
			exit(EXIT_USAGE);
		}
		add_arm(r, words);
		return 0;
	case KEY_NULL:
		r->null_control = true;
		return 0;
	case ARGP_KEY_ARGS:
		/* The command comes last on the line, yet it is the reference: the first arm. */
		add_arm(r, copy_words(state->argv + state->next));
		if (r->narm > 1) {
			struct run_arm reference = r->arm[r->narm - 1];

			memmove(r->arm + 1, r->arm, (r->narm - 1) * sizeof(*r->arm));
			r->arm[0] = reference;
		}
		state->next = state->argc;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no command; give it after --");
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_run = {
	.options = run_options,
	.parser = parse_run,
	.args_doc = "-- COMMAND [ARG...]",
	.doc = "Run COMMAND again and again, interleaved with the arms of --vs, and compare time and resources.\v"
	       "The report goes to standard error, so that the commands' own output stays what it is. The exit status is that of the "
	       "commands: of the first run that failed, else 0.",
	.children = run_children,
};

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why)
{
	struct run *r = ctx;
	struct command_usage usage;
	size_t i = 0;
	int err = command_run(r->arm[arm].argv, &usage, experiment_forward_signals, why);

	(void)condition;
	(void)round;
	if (err)
		return err;
	if (usage.exec_errno) {
		r->status = usage.status;
		return reason_set(why, usage.exec_errno, "%s: cannot be executed: %s", r->arm[arm].argv[0], strerror(usage.exec_errno));
	}
	if (usage.status) {
		/* A signal that stops the experiment also stops the command: that is no failure of the command. */
		if (experiment_interrupted())
			return -EINTR;
		if (!r->status)
			r->status = usage.status;
		r->failed++;
		*flags |= TRIAL_FAILED;
		if (usage.signal == SIGINT || usage.signal == SIGQUIT)
			return reason_set(why, EINTR, "%s: ended by signal %d (%s)", r->arm[arm].argv[0], usage.signal, strsignal(usage.signal));
		return 0;
	}
	r->cpu_s += usage.user_s + usage.sys_s;
	r->wall_s += usage.wall_s;
#define X(member, name, unit, better) values[i++] = value_of(usage.member);
	RUN_METRICS(X)
#undef X
	return 0;
}

static void declare(struct run *r)
{
	size_t metric;

	for (size_t i = 0; i < r->narm; i++) {
		bool null = r->null_control && i == r->narm - 1;
		char *name = null ? util_asprintf("%s#2", r->arm[i].name) : util_strdup(r->arm[i].name);
		size_t arm = result_add_arm(r->result, name, "command", NULL, r->arm[i].name);

		if (null) {
			r->result->arm[arm].twin_of = 0;
			r->result->arm[arm].control = true;
		}
		free(name);
	}
#define X(member, name, unit, better) \
	metric = result_add_metric(r->result, name, unit, better, false, !strcmp(name, "wall")); \
	r->result->metric[metric].detail = (better) == BETTER_NONE;
	RUN_METRICS(X)
#undef X
	result_add_condition(r->result, "");
}

static int measure(struct run *r)
{
	struct experiment e = {
		.result = r->result, .rounds = r->options.rounds, .trial = trial, .ctx = r,
		.budget_s = r->options.time_s > 0 ? r->options.time_s : r->options.rounds ? 0 : DEFAULT_TIME_S,
		.progress = r->options.quiet ? NULL : session_progress,
	};
	struct reason why = { 0 };
	enum experiment_end end;
	char text[64];
	int err;

	/* One command has nothing to settle: without -r it would run for the whole budget, which nobody expects of `run -- CMD`. */
	if (r->narm == 1 && !e.rounds && r->options.time_s <= 0)
		e.rounds = 1;
	experiment_catch_signals();
	err = experiment_run(&e, &end, &why);
	experiment_restore_signals();
	session_progress(NULL, NULL);
	if (err)
		msg_error("%s", why.text);
	if (r->failed) {
		snprintf(text, sizeof(text), "%zu", r->failed);
		result_warn(r->result, WARN_FAILED_TRIALS, text);
	}
	if (r->wall_s > 0 && r->cpu_s / r->wall_s < OFF_CPU_SHARE) {
		snprintf(text, sizeof(text), "%.0f %% of wall time on a CPU", 100 * r->cpu_s / r->wall_s);
		result_warn(r->result, WARN_OFF_CPU, text);
	}
	result_compare(r->result, 0, e.level, e.flags);
	return err ? EXIT_FAILED : EXIT_DONE;
}

static int run(struct run *r, int argc, char **argv)
{
	struct reason why = { 0 };
	int status = session_open(&r->session, &r->options, NULL, false, &why), report;

	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	r->result = session_result(&r->session, &r->options, "run", argc, argv);
	declare(r);
	status = measure(r);
	report = session_print(r->result, &r->options, stderr);
	session_close(&r->session);
	if (r->status)
		return r->status;
	if (experiment_interrupted())
		return 128 + experiment_interrupted();
	return status ? status : report;
}

int cmd_run(int argc, char **argv)
{
	struct run r = { .options = MEASURE_OPTIONS_INIT };
	int status;

	if (argp_parse(&argp_run, argc, argv, ARGP_IN_ORDER, NULL, &r))
		return EXIT_USAGE;
	if (r.null_control)
		add_arm(&r, copy_words(r.arm[0].argv));
	status = run(&r, argc, argv);
	for (size_t i = 0; i < r.narm; i++) {
		command_free_words(r.arm[i].argv);
		free(r.arm[i].name);
	}
	free(r.arm);
	if (r.result)
		result_free(r.result);
	options_measure_free(&r.options);
	return status;
}
