/* SPDX-License-Identifier: GPL-2.0-only */
/* Set up and take down of a measuring command. */
#include <errno.h>
#include <string.h>

#include "report-progress.h"
#include "report.h"
#include "session.h"

const char *session_core_type(const struct session *s, int cpu)
{
	const struct topology_cpu *c = topology_cpu(&s->topology, cpu);

	return c ? c->core_type : NULL;
}

/* On hybrid machines one run measures one core type: values of two types are not values of one thing. */
static int choose_cpu(const struct session *s)
{
	const char *type = session_core_type(s, s->cpus.cpu[0]), *t;

	for (size_t i = s->cpus.n; i-- > 1;) {
		t = session_core_type(s, s->cpus.cpu[i]);
		if (t == type || (t && type && !strcmp(t, type)))
			return s->cpus.cpu[i];
	}
	return s->cpus.cpu[0];
}

static int open_cpus(struct session *s, const struct measure_options *o, bool pin, struct reason *why)
{
	int err = topology_read(&s->topology, "", why);

	if (err)
		return EXIT_CANNOT;
	if (o->cpus) {
		err = topology_choose(&s->topology, o->cpus, &s->cpus, why);
		if (err)
			return err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
	} else {
		for (size_t i = 0; i < s->topology.allowed.n; i++)
			cpulist_add(&s->cpus, s->topology.allowed.cpu[i]);
	}
	if (!s->cpus.n) {
		reason_set(why, ENXIO, "no CPU to run on");
		return EXIT_CANNOT;
	}
	if (!pin)
		return EXIT_DONE;
	s->cpu = choose_cpu(s);
	return topology_pin(s->cpu, why) ? EXIT_CANNOT : EXIT_DONE;
}

static int open_meters(struct session *s, const struct measure_options *o, const char *default_events, struct reason *why)
{
	int err = meters_open(&s->meters, why);

	if (err)
		return EXIT_CANNOT;
	s->meters_open = true;
	if (o->events) {
		err = meters_add_events(&s->meters, o->events, true, why);
		if (err)
			return err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
	} else if (default_events) {
		/* A machine without a PMU is normal: each counter keeps its reason, and the clocks go on. */
		meters_add_events(&s->meters, default_events, false, why);
	}
	if (meters_start(&s->meters, why))
		return EXIT_CANNOT;
	meters_calibrate(&s->meters);
	return EXIT_DONE;
}

int session_open(struct session *s, const struct measure_options *o, const char *default_events, bool pin, struct reason *why)
{
	int code;

	*s = (struct session){ .cpu = -1 };
	env_read(&s->env, "");
	code = open_cpus(s, o, pin, why);
	if (code == EXIT_DONE)
		code = open_meters(s, o, default_events, why);
	if (code != EXIT_DONE)
		session_close(s);
	return code;
}

void session_close(struct session *s)
{
	if (s->meters_open)
		meters_close(&s->meters);
	s->meters_open = false;
	if (s->cpu >= 0)
		topology_unpin();
	s->cpu = -1;
	cpulist_free(&s->cpus);
	topology_free(&s->topology);
	env_free(&s->env);
}

/* The clock source names that are the architecture's own counter. */
static bool is_own_counter(const char *clocksource)
{
	static const char *const own[] = { "tsc", "arch_sys_counter", "timebase", "tod", "riscv_clocksource", "MIPS", "rpcc", "stick", "itc" };

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (!strcmp(clocksource, own[i]))
			return true;
	return false;
}

static void describe_meters(const struct session *s, struct result *r)
{
	const struct meters *m = &s->meters;
	char text[64];

	result_set_env(r, "ticks", m->ticks_usable ? m->ticks_name : NULL, m->ticks_usable ? NULL : m->ticks_why);
	if (m->ticks_usable) {
		snprintf(text, sizeof(text), "%.6f", m->ticks_per_ns * 1e3);
		result_set_env(r, "ticks_mhz", text, NULL);
	}
	snprintf(text, sizeof(text), "%.1f", m->read_cost_ns);
	result_set_env(r, "read_cost_ns", text, NULL);
	if (s->cpu >= 0) {
		snprintf(text, sizeof(text), "%d", s->cpu);
		result_set_env(r, "cpu", text, NULL);
	}
}

struct result *session_result(const struct session *s, const struct measure_options *o, const char *command, int argc, char *const *argv)
{
	struct result *r = result_new(command, argc, argv, o->seed_set ? o->seed : experiment_new_seed());
	const struct env *e = &s->env;

	r->rule.margin = o->margin;
	r->rule.level = o->level;
	r->interleaved = true;
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++)
		result_set_env(r, env_key(i), e->value[i], e->why[i]);
	describe_meters(s, r);
	/* Whole programs are not about one instruction. */
	if (e->hypervisor && strcmp(command, "run"))
		result_warn(r, WARN_HYPERVISOR, e->value[ENV_HYPERVISOR]);
	if (e->value[ENV_CLOCKSOURCE] && !is_own_counter(e->value[ENV_CLOCKSOURCE]))
		result_warn(r, WARN_CLOCKSOURCE, e->value[ENV_CLOCKSOURCE]);
	if (!s->meters.ticks_usable)
		result_warn(r, WARN_TICKS_UNUSABLE, s->meters.ticks_why);
	return r;
}

void session_progress(void *ctx, const struct experiment *e)
{
	struct report_progress p = { 0 };

	(void)ctx;
	if (!e) {
		report_progress(NULL);
		return;
	}
	p.rounds = e->round;
	p.rounds_planned = e->rounds;
	p.elapsed_s = e->elapsed_s;
	p.budget_s = e->budget_s;
	p.current = e->looks_done ? &e->widest : NULL;
	p.open = e->open_arms;
	report_progress(&p);
}

int session_print(const struct result *r, const struct measure_options *o, FILE *f)
{
	struct report_options options;
	struct reason why = { 0 };
	int err;

	if (o->output && result_write(r, o->output, &why)) {
		msg_error("%s", why.text);
		return EXIT_FAILED;
	}
	if (!o->output || strcmp(o->output, "-")) {
		report_options_init(&options, f);
		options.verbosity = msg_verbosity;
		if (o->json)
			err = report_perf_json(f, r);
		else if (o->csv_sep)
			err = report_perf_csv(f, r, o->csv_sep);
		else
			err = report_print(f, r, &options, &why);
		if (err) {
			msg_error("cannot print the report: %s", why.text[0] ? why.text : strerror(-err));
			return EXIT_FAILED;
		}
	}
	return r->partial ? EXIT_FAILED : EXIT_DONE;
}
