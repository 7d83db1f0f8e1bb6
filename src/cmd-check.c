/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax check: what can be measured here, how to unlock the rest, and a self-test. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "options.h"
#include "selftest.h"

#define SELFTEST_S 1.5

enum { KEY_SYSROOT = 0x200, KEY_NO_SELFTEST, KEY_TIME };

struct check_run {
	struct measure_options options;
	const char *sysroot;
	bool no_selftest;
	double seconds;
};

static const struct argp_option check_options[] = {
	{ "cpu", 'C', "LIST", 0, "Test on one of these CPUs", 0 },
	{ "time", KEY_TIME, "S", 0, "Let the self-test take about S seconds (default 1.5)", 0 },
	{ "no-self-test", KEY_NO_SELFTEST, NULL, 0, "Only say what there is", 0 },
	{ "sysroot", KEY_SYSROOT, "DIR", 0, "Describe the machine whose /proc and /sys were recorded in DIR; no self-test", 0 },
	{ "verbose", 'v', NULL, 0, "Say more", 0 },
	{ 0 }
};

static const struct argp_child check_children[] = {
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

static error_t parse_check(int key, char *arg, struct argp_state *state)
{
	struct check_run *c = state->input;

	switch (key) {
	case 'C':
		c->options.cpus = arg;
		return 0;
	case 'v':
		msg_verbosity++;
		return 0;
	case KEY_TIME:
		if (util_opt_double("--time", arg, 0.01, 3600, &c->seconds))
			exit(EXIT_USAGE);
		return 0;
	case KEY_NO_SELFTEST:
		c->no_selftest = true;
		return 0;
	case KEY_SYSROOT:
		c->sysroot = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "check takes no arguments: '%s'", arg);
		return EINVAL;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_check = {
	.options = check_options,
	.parser = parse_check,
	.doc = "Say what can be measured on this machine and how to unlock the rest, then test the tool against what is known beforehand.\v"
	       "Exit status 1: a self-test failed.",
	.children = check_children,
};

static void print_env(const struct env *e)
{
	printf("This machine:\n");
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++)
		if (e->value[i])
			printf("  %-20s %s\n", env_key(i), e->value[i]);
		else if (msg_verbosity > 0)
			printf("  %-20s <not known>  %s\n", env_key(i), e->why[i]);
}

static void feature(const char *name, bool have, const char *have_text, const char *unlock)
{
	printf("  %-20s %-4s %s\n", name, have ? "yes" : "no", have ? have_text : unlock);
}

static void print_counters(struct session *s)
{
	for (size_t i = 0; i < s->meters.ncounter; i++) {
		const struct meter_counter *c = &s->meters.counter[i];

		feature(c->name, !c->why, c->user_read ? "read from user space" : "read by read(2)", c->why ? c->why : "");
	}
}

static void print_access(const struct env *e)
{
	static const char *const tracefs = "/sys/kernel/tracing/events/sched/sched_switch/id";
	char text[128];
	bool root = geteuid() == 0;

	if (!access(tracefs, R_OK) || !access("/sys/kernel/debug/tracing/events/sched/sched_switch/id", R_OK))
		feature("tracepoints", true, "readable", "");
	else
		feature("tracepoints", false, "", root ? "mount -t tracefs tracefs /sys/kernel/tracing" : "run as root, or mount tracefs with a gid of yours");
	snprintf(text, sizeof(text), "perf_event_paranoid is %s", e->value[ENV_PARANOID] ? e->value[ENV_PARANOID] : "not known");
	feature("kernel events", root || e->paranoid <= 1, text,
		"root or CAP_PERFMON, or sysctl kernel.perf_event_paranoid=1; until then only user mode is counted");
	feature("kernel module", !access("/proc/modules", R_OK), root ? "modules can be loaded" : "modules can be loaded by root",
		"this kernel has no loadable modules");
	feature("latency_stats", !access("/proc/latency_stats", F_OK), "readable by root",
		"kernel without CONFIG_LATENCYTOP: scheduler tracepoints are used instead");
	feature("energy", !access("/sys/bus/event_source/devices/power/events/energy-pkg", F_OK), "power/energy-pkg/ counts this package",
		"no power/energy-pkg/ event on this machine");
}

static const char *const status_text[] = { [SELFTEST_OK] = "ok", [SELFTEST_FAILED] = "FAILED", [SELFTEST_SKIPPED] = "skipped" };

static int print_selftest(struct session *s, double seconds)
{
	struct reason why = { 0 };
	struct selftest t;
	size_t failed;

	if (selftest_run(s, seconds, &t, &why)) {
		msg_error("self-test: %s", why.text);
		return EXIT_FAILED;
	}
	printf("\nSelf-test on CPU %d:\n", s->cpu);
	for (size_t i = 0; i < t.n; i++)
		printf("  %-16s %-8s %s\n", t.line[i].name, status_text[t.line[i].status], t.line[i].text);
	failed = t.failed;
	selftest_free(&t);
	if (failed)
		printf("\n%zu failed: what this tool measures here does not agree with what is known. Do not trust the values concerned.\n", failed);
	return failed ? EXIT_DIFFERENCE : EXIT_DONE;
}

static int describe_recorded(const char *sysroot)
{
	struct env e;

	if (access(sysroot, R_OK | X_OK)) {
		msg_error("--sysroot %s: %s", sysroot, strerror(errno));
		return EXIT_USAGE;
	}
	env_read(&e, sysroot);
	print_env(&e);
	env_free(&e);
	return EXIT_DONE;
}

int cmd_check(int argc, char **argv)
{
	struct check_run c = { .options = MEASURE_OPTIONS_INIT, .seconds = SELFTEST_S };
	struct reason why = { 0 };
	struct session s;
	int status;

	if (argp_parse(&argp_check, argc, argv, 0, NULL, &c))
		return EXIT_USAGE;
	if (c.sysroot)
		return describe_recorded(c.sysroot);
	status = session_open(&s, &c.options, "{cycles,instructions}", true, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	print_env(&s.env);
	printf("\nWhat can be used:\n");
	print_counters(&s);
	print_access(&s.env);
	fflush(stdout);
	status = c.no_selftest ? EXIT_DONE : print_selftest(&s, c.seconds);
	session_close(&s);
	return status;
}
