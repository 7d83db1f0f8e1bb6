/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax stat: what primitives cost, and whether they differ. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "disasm.h"
#include "experiment.h"
#include "options.h"
#include "probe-run.h"
#include "session.h"

#define DEFAULT_TIME_S 10.0
#define WARMUP_S 0.25
#define FREQUENCY_SPREAD 0.05
#define READ_SHARE_WARN 0.01
/* A read-modify-write, fence or counter read cannot retire faster than this many cycles: below it, nothing was measured (C34). */
#define CYCLES_FLOOR 0.25

/* Measured when no probe is named, after all hints of this architecture. */
static const char *const default_atomics[] = { "cmpxchg", "cmpxchg-local", "xadd", "xadd-local", "spin-lock" };

struct stat_arm {
	const struct probe *probe;
	char *name;		/* the probe's, with #2 when it stands twice */
	const char *absent;
	bool control;		/* nobody asked for it: the null control */
	uint64_t iters;
};

struct stat_run {
	struct measure_options options;
	const char **names;	/* as typed */
	size_t nnames;

	struct session session;
	struct probe_run run;
	struct stat_arm *arm;
	size_t narm;
	struct result *result;
	double *frequency;	/* one of each trial */
	size_t nfrequency, room;
	size_t counter[METER_COUNTERS_MAX], ncounter;	/* the counters that have a metric: those that are open */
};

static const struct argp_child stat_children[] = {
	{ &options_experiment_argp, 0, "Measuring:", 10 },
	{ &options_meter_argp, 0, NULL, 10 },
	{ &options_event_argp, 0, NULL, 10 },
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

static error_t parse_stat(int key, char *arg, struct argp_state *state)
{
	struct stat_run *s = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = state->child_inputs[2] = &s->options;
		return 0;
	case ARGP_KEY_ARG:
		s->names = util_realloc(s->names, s->nnames + 1, sizeof(*s->names));
		s->names[s->nnames++] = arg;
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_stat = {
	.parser = parse_stat,
	.args_doc = "[PROBE...]",
	.doc = "Measure what primitives cost: ns, ticks of the architecture's counter, core cycles.\v"
	       "The first probe is the reference; the others are compared with it. Without a probe: the spin-wait hints of this CPU, "
	       "compare-and-swap and add, locked and CPU-local, and an uncontended spin lock. `perf relax list` shows all probes.",
	.children = stat_children,
};

static int unknown_probe(const char *name)
{
	const char **names = util_calloc(probe_count() + 1, sizeof(*names));
	const char *elsewhere = probe_foreign(name);
	char hint[256];

	if (elsewhere) {
		free(names);
		msg_error("%s: this architecture has no such instruction; %s has it. `perf relax list` shows what can be measured here", name, elsewhere);
		return EXIT_CANNOT;
	}
	for (size_t i = 0; i < probe_count(); i++)
		names[i] = probe_at(i)->name;
	msg_error("'%s' is not a probe%s", name, util_did_you_mean(name, names, hint, sizeof(hint)));
	msg_error("`perf relax list` shows all probes");
	free(names);
	return EXIT_USAGE;
}

static void add_arm(struct stat_run *s, const struct probe *p, const char *absent)
{
	struct stat_arm *a;
	int copies = 1;

	for (size_t i = 0; i < s->narm; i++)
		copies += s->arm[i].probe == p;
	s->arm = util_realloc(s->arm, s->narm + 1, sizeof(*s->arm));
	a = &s->arm[s->narm++];
	*a = (struct stat_arm){ .probe = p, .absent = absent };
	a->name = copies > 1 ? util_asprintf("%s#%d", p->name, copies) : util_strdup(p->name);
}

static int add_named(struct stat_run *s)
{
	for (size_t i = 0; i < s->nnames; i++) {
		const struct probe *p = probe_find(s->names[i]);
		const char *why = p ? probe_why_absent(p) : NULL;

		if (!p)
			return unknown_probe(s->names[i]);
		if (why) {
			msg_error("%s: %s", p->name, why);
			return EXIT_CANNOT;
		}
		add_arm(s, p, NULL);
	}
	return EXIT_DONE;
}

static void add_default(struct stat_run *s)
{
	for (size_t i = 0; i < probe_count(); i++)
		if (probe_at(i)->class == PROBE_HINT)
			add_arm(s, probe_at(i), probe_why_absent(probe_at(i)));
	for (size_t i = 0; i < ARRAY_SIZE(default_atomics); i++) {
		const struct probe *p = probe_find(default_atomics[i]);

		if (p)
			add_arm(s, p, probe_why_absent(p));
	}
}

/* The first arm that can run is the reference. Where no other arm has its bytes, it runs a second time: the null control (rule 6). */
static size_t add_null_control(struct stat_run *s)
{
	size_t reference = 0;

	while (reference < s->narm && s->arm[reference].absent)
		reference++;
	if (reference == s->narm)
		return reference;
	for (size_t i = 0; i < s->narm; i++)
		if (i != reference && !s->arm[i].absent && probe_same_bytes(s->arm[i].probe, s->arm[reference].probe))
			return reference;
	add_arm(s, s->arm[reference].probe, NULL);
	s->arm[s->narm - 1].control = true;
	return reference;
}

static void declare_arms(struct stat_run *s, size_t reference)
{
	char hex[512], text[512];

	for (size_t i = 0; i < s->narm; i++) {
		const struct stat_arm *a = &s->arm[i];
		size_t n = a->probe->begin ? (size_t)(a->probe->end - a->probe->begin) : 0, arm;

		hex[0] = text[0] = '\0';
		if (n) {
			disasm_bytes_hex(a->probe->begin, n, hex, sizeof(hex));
			disasm_text(a->probe->begin, n, text, sizeof(text));
		}
		arm = result_add_arm(s->result, a->name, probe_class_name(a->probe->class), a->probe->begin ? hex : NULL, n ? text : NULL);
		s->result->arm[arm].control = a->control;
		if (a->absent)
			s->result->arm[arm].absent = util_strdup(a->absent);
		for (size_t j = 0; j < i && !a->absent; j++)
			if (!s->arm[j].absent && s->result->arm[arm].twin_of < 0 && (j == reference || s->result->arm[j].twin_of < 0) &&
			    (s->arm[j].probe == a->probe || probe_same_bytes(s->arm[j].probe, a->probe)))
				s->result->arm[arm].twin_of = (int)j;
	}
}

/*
 * Order as in enum probe_value, then the counters that are open. Events that were asked for are (session_open() saw to that); of the default ones, those that
 * this machine lacks would only be empty columns: they are named once, in the environment.
 */
static void declare_metrics(struct stat_run *s)
{
	const struct meters *m = &s->session.meters;
	bool estimated = s->run.cycles_counter < 0;
	char *unit;

	result_add_metric(s->result, "ns", "ns/op", BETTER_LOWER, false, true);
	result_add_metric(s->result, "ticks", "ticks/op", BETTER_LOWER, false, false);
	/* By its full name: cycles:u is not what cycles is. */
	result_add_metric(s->result, estimated ? "cycles" : m->counter[s->run.cycles_counter].name, "cycles/op", BETTER_LOWER, estimated, false);
	for (size_t i = 0; i < m->ncounter; i++) {
		if (m->counter[i].why) {
			result_set_env(s->result, m->counter[i].name, NULL, m->counter[i].why);
			continue;
		}
		if ((int)i == s->run.cycles_counter)
			continue;	/* it is the metric above */
		unit = util_asprintf("%s/op", *m->counter[i].unit ? m->counter[i].unit : "count");
		result_add_metric(s->result, m->counter[i].name, unit, BETTER_NONE, false, false);
		s->counter[s->ncounter++] = i;
		free(unit);
	}
}

static void note_frequency(struct stat_run *s, double frequency)
{
	if (frequency <= 0)
		return;
	if (s->nfrequency == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->frequency = util_realloc(s->frequency, s->room, sizeof(*s->frequency));
	}
	s->frequency[s->nfrequency++] = frequency;
}

/* The least share of any trial stands for the series: what the user has to know is how much was extrapolated at worst. */
static void note_share(struct stat_run *s, size_t condition, size_t arm, size_t metric, double share)
{
	struct result_series *series = result_series(s->result, condition, arm, metric);

	series->running_share = fmin(series->running_share, share);
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why)
{
	struct value all[PROBE_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct stat_run *s = ctx;

	(void)round;
	(void)why;
	probe_run_trial(&s->run, s->arm[arm].probe, s->arm[arm].iters, all, flags);
	memcpy(values, all, PROBE_VALUE_COUNTERS * sizeof(*values));
	for (size_t i = 0; i < s->ncounter; i++)
		values[PROBE_VALUE_COUNTERS + i] = all[PROBE_VALUE_COUNTERS + s->counter[i]];
	for (size_t i = 0; i < s->ncounter; i++)
		note_share(s, condition, arm, PROBE_VALUE_COUNTERS + i, s->run.share[s->counter[i]]);
	if (s->run.cycles_counter >= 0)
		note_share(s, condition, arm, PROBE_VALUE_CYCLES, s->run.share[s->run.cycles_counter]);
	note_frequency(s, s->run.frequency);
	return 0;
}

static void warn_frequency(struct stat_run *s)
{
	double low, high;
	char text[96];

	if (s->nfrequency < 8)
		return;
	low = stats_quantile(s->frequency, s->nfrequency, 0.05);
	high = stats_quantile(s->frequency, s->nfrequency, 0.95);
	if (low > 0 && high / low > 1 + FREQUENCY_SPREAD) {
		snprintf(text, sizeof(text), "%.2f to %.2f GHz (5th to 95th percentile)", low, high);
		result_warn(s->result, WARN_FREQUENCY, text);
	}
}

/* Counters that read nothing although work was done, and operations that cost less than they can. */
static void warn_implausible(struct stat_run *s)
{
	char text[192];

	for (size_t arm = 0; arm < s->narm; arm++) {
		const struct result_series *c = result_series(s->result, 0, arm, PROBE_VALUE_CYCLES);

		if (s->arm[arm].absent || s->arm[arm].probe->class == PROBE_HINT || !c->n || c->why)
			continue;
		if (stats_median(c->value, c->n) < CYCLES_FLOOR) {
			snprintf(text, sizeof(text), "%s: %.3f cycles for one operation", s->arm[arm].name, stats_median(c->value, c->n));
			result_warn(s->result, WARN_IMPLAUSIBLE, text);
		}
	}
	for (size_t i = 0; i < s->ncounter; i++) {
		bool any = false, nonzero = false;

		for (size_t arm = 0; arm < s->narm; arm++) {
			const struct result_series *v = result_series(s->result, 0, arm, PROBE_VALUE_COUNTERS + i);

			any |= v->n && !v->why;
			for (size_t k = 0; !v->why && k < v->n; k++)
				nonzero |= v->value[k] != 0;
		}
		if (any && !nonzero && s->session.meters.counter[s->counter[i]].never_zero) {
			snprintf(text, sizeof(text), "%.100s read 0 in every block", s->session.meters.counter[s->counter[i]].name);
			result_warn(s->result, WARN_IMPLAUSIBLE, text);
		}
	}
}

static void warn_after(struct stat_run *s)
{
	double share = s->run.measured_block_ns > 0 ? s->session.meters.read_cost_ns / s->run.measured_block_ns : 0;
	char text[128];

	if (share > READ_SHARE_WARN) {
		snprintf(text, sizeof(text), "%.0f ns of %.0f ns, %.1f %%", s->session.meters.read_cost_ns, s->run.measured_block_ns, share * 100);
		result_warn(s->result, WARN_READ_OVERHEAD, text);
	}
	warn_frequency(s);
	warn_implausible(s);
}

static int measure(struct stat_run *s, size_t reference)
{
	struct experiment e = {
		.result = s->result, .reference = reference, .rounds = s->options.rounds,
		.budget_s = s->options.time_s > 0 ? s->options.time_s : s->options.rounds ? 0 : DEFAULT_TIME_S,
		.trial = trial, .ctx = s, .progress = s->options.quiet ? NULL : session_progress,
	};
	struct reason why = { 0 };
	enum experiment_end end;
	int err;

	for (size_t i = 0; i < s->narm; i++)
		if (!s->arm[i].absent)
			s->arm[i].iters = probe_run_calibrate(&s->run, s->arm[i].probe);
	experiment_catch_signals();
	err = experiment_run(&e, &end, &why);
	experiment_restore_signals();
	session_progress(NULL, NULL);
	if (err) {
		msg_error("%s", why.text);
		return EXIT_FAILED;
	}
	warn_after(s);
	result_compare(s->result, reference, e.level, e.flags);
	return EXIT_DONE;
}

static void describe_run(struct stat_run *s, bool settled)
{
	struct result *r = s->result;
	const char *type = s->session.cpu >= 0 ? session_core_type(&s->session, s->session.cpu) : NULL;
	size_t condition = result_add_condition(r, "");
	char text[64];

	snprintf(text, sizeof(text), "%d", s->session.cpu);
	result_condition_set(r, condition, "cpu", text);
	if (type)
		result_condition_set(r, condition, "core_type", type);
	snprintf(text, sizeof(text), "%.0f", s->run.block_ns);
	result_condition_set(r, condition, "block_ns", text);
	if (!settled)
		result_warn(r, WARN_NO_WARMUP, NULL);
}

static int print(struct stat_run *s)
{
	int status = session_print(s->result, &s->options, stdout);

	fflush(stdout);
	msg_verbose(1, "block %.0f ns (short); loop and reads subtracted: %.0f ns a block; one reading costs %.0f ns, %.2f %% of it",
		    s->run.measured_block_ns, s->run.subtracted_ns, s->session.meters.read_cost_ns,
		    100 * s->session.meters.read_cost_ns / s->run.measured_block_ns);
	for (size_t i = 0; i < s->narm; i++)
		if (!s->arm[i].absent && s->arm[i].probe->begin)
			msg_verbose(1, "%s: %u operations an iteration, code at %p (mod 64: %u), %u copies verified", s->arm[i].name,
				    2 * s->arm[i].probe->unroll, (const void *)s->arm[i].probe->begin,
				    (unsigned int)((uintptr_t)s->arm[i].probe->begin % 64), probe_verify_copies(s->arm[i].probe));
	return status;
}

static int run_stat(struct stat_run *s, int argc, char **argv)
{
	struct reason why = { 0 };
	size_t reference;
	bool settled;
	int status;

	if (s->nnames) {
		status = add_named(s);
		if (status)
			return status;
	} else {
		add_default(s);
	}
	reference = add_null_control(s);
	if (reference == s->narm) {
		msg_error("none of the default probes can run on this CPU; `perf relax list` says why");
		return EXIT_CANNOT;
	}
	status = session_open(&s->session, &s->options, "{cycles,instructions}", true, &why);
	if (status) {
		msg_error("%s", why.text);
		return status;
	}
	if (probe_run_open(&s->run, &s->session.meters, s->session.cpu, WARMUP_S, &settled, &why)) {
		msg_error("%s", why.text);
		status = EXIT_FAILED;
	} else {
		s->result = session_result(&s->session, &s->options, "stat", argc, argv);
		declare_arms(s, reference);
		declare_metrics(s);
		describe_run(s, settled);
		status = measure(s, reference);
		if (status == EXIT_DONE)
			status = print(s);
	}
	probe_run_close(&s->run);
	session_close(&s->session);
	return status;
}

int cmd_stat(int argc, char **argv)
{
	struct stat_run s = { .options = MEASURE_OPTIONS_INIT };
	int status;

	if (argp_parse(&argp_stat, argc, argv, 0, NULL, &s))
		return EXIT_USAGE;
	status = run_stat(&s, argc, argv);
	for (size_t i = 0; i < s.narm; i++)
		free(s.arm[i].name);
	free(s.arm);
	free(s.names);
	free(s.frequency);
	if (s.result)
		result_free(s.result);
	options_measure_free(&s.options);
	return status;
}
