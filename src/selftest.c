/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The self-test. All probes that it needs are measured interleaved, as arms of one small experiment; then each expectation is judged on those values.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "experiment.h"
#include "probe-run.h"
#include "published.h"
#include "selftest.h"

#define WARMUP_S 0.25
#define MIN_ROUNDS 6		/* fewer cannot give a 95 % signed-rank interval */
/* A chain latency is a whole number of cycles; medians on busy machines were seen within 2 % of it. */
#define CHAIN_TOLERANCE 0.05
#define COUNT_TOLERANCE 0.002	/* instruction counts: interrupts may add a few */
#define LOCAL_TOLERANCE 0.05	/* local may tie with locked on some cores, not cost more */

struct arm {
	const struct probe *probe;
	uint64_t iters;
};

struct test {
	const struct session *session;
	struct probe_run run;
	struct result *result;
	struct arm *arm;
	size_t narm;
	struct selftest *out;
};

static void line(struct selftest *t, const char *name, enum selftest_status status, const char *fmt, ...) PRINTF_LIKE(4, 5);
static void line(struct selftest *t, const char *name, enum selftest_status status, const char *fmt, ...)
{
	struct selftest_line *l;
	va_list ap;

	t->line = util_realloc(t->line, t->n + 1, sizeof(*t->line));
	l = &t->line[t->n++];
	l->name = name;
	l->status = status;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
	t->failed += status == SELFTEST_FAILED;
}

static size_t find_arm(const struct test *t, const char *name)
{
	for (size_t i = 0; i < t->narm; i++)
		if (!strcmp(t->arm[i].probe->name, name))
			return i;
	return SIZE_MAX;
}

/* Add the probe of this name unless it is there already or cannot run here. */
static void add(struct test *t, const char *name)
{
	const struct probe *p = probe_find(name);

	if (!p || probe_why_absent(p) || find_arm(t, name) != SIZE_MAX)
		return;
	t->arm = util_realloc(t->arm, t->narm + 1, sizeof(*t->arm));
	t->arm[t->narm++] = (struct arm){ .probe = p };
}

/* Hybrid CPUs have published values for each core type; others for the model. */
static const struct published_value *published(const struct test *t, const char *probe, size_t *count)
{
	return published_find(&t->session->env, session_core_type(t->session, t->session->cpu), probe, count);
}

static void choose_probes(struct test *t)
{
	static const char *const always[] = { "chain-add", "chain-mul", "nop", "pause", "rep-nop", "cmpxchg", "cmpxchg-local", "xadd", "xadd-local" };
	size_t count;

	for (size_t i = 0; i < ARRAY_SIZE(always); i++)
		add(t, always[i]);
	for (size_t i = 0; i < probe_count(); i++)
		if (published(t, probe_at(i)->name, &count) && count)
			add(t, probe_at(i)->name);
}

static int trial(void *ctx, size_t condition, size_t arm, size_t round, struct value *values, unsigned int *flags, struct reason *why)
{
	struct test *t = ctx;

	(void)condition;
	(void)round;
	(void)why;
	probe_run_trial(&t->run, t->arm[arm].probe, t->arm[arm].iters, values, flags);
	return 0;
}

static int measure(struct test *t, double seconds, struct reason *why)
{
	struct measure_options options = MEASURE_OPTIONS_INIT;
	struct experiment e = { .trial = trial, .ctx = t, .rounds = 1, .budget_s = 0 };
	enum experiment_end end;
	const struct meters *m = &t->session->meters;
	int err;

	t->result = session_result(t->session, &options, "check", 0, NULL);
	for (size_t i = 0; i < t->narm; i++) {
		result_add_arm(t->result, t->arm[i].probe->name, "probe", NULL, NULL);
		t->arm[i].iters = probe_run_calibrate(&t->run, t->arm[i].probe);
	}
	result_add_metric(t->result, "ns", "ns/op", BETTER_LOWER, false, true);
	result_add_metric(t->result, "ticks", "ticks/op", BETTER_LOWER, false, false);
	result_add_metric(t->result, "cycles", "cycles/op", BETTER_LOWER, t->run.cycles_counter < 0, false);
	for (size_t i = 0; i < m->ncounter; i++)
		result_add_metric(t->result, m->counter[i].name, "count/op", BETTER_NONE, false, false);
	result_add_condition(t->result, "");
	e.result = t->result;
	/* Rounds from the time at hand: a trial of 5 pairs of blocks and chain blocks is about 22 short blocks long. */
	e.rounds = (uint64_t)(seconds * 1e9 / (22 * t->run.block_ns * (double)t->narm));
	if (e.rounds < MIN_ROUNDS)
		e.rounds = MIN_ROUNDS;
	err = experiment_run(&e, &end, why);
	if (!err && end == EXPERIMENT_INTERRUPTED)
		return reason_set(why, EINTR, "interrupted");
	return err;
}

/* Median of a metric of an arm; NAN when there is none. */
static double median(const struct test *t, size_t arm, size_t metric)
{
	const struct result_series *s = arm == SIZE_MAX ? NULL : result_series(t->result, 0, arm, metric);

	return s && s->n && !s->why ? stats_median(s->value, s->n) : NAN;
}

static void check_clocks(struct test *t)
{
	const struct meters *m = &t->session->meters;

	line(t->out, "clock", SELFTEST_OK, "CLOCK_MONOTONIC_RAW moves forward; finest step seen %.0f ns; one reading of all meters costs %.0f ns",
	     m->ns_resolution, m->read_cost_ns);
	if (m->ticks_usable)
		line(t->out, "counter", SELFTEST_OK, "%s agrees with the clock, %.3f MHz", m->ticks_name, m->ticks_per_ns * 1e3);
	else
		line(t->out, "counter", m->ticks_name ? SELFTEST_FAILED : SELFTEST_SKIPPED, "%s", m->ticks_why);
}

/* Rule 2: the text that runs is that many copies of the bytes that are shown. */
static void check_bytes(struct test *t)
{
	size_t verified = 0, c_code = 0;

	for (size_t i = 0; i < probe_count(); i++) {
		const struct probe *p = probe_at(i);
		unsigned int copies;

		if (probe_why_absent(p))
			continue;
		copies = probe_verify_copies(p);
		verified += copies == 2 * p->unroll;
		c_code += !copies;
		if (copies && copies != 2 * p->unroll)
			line(t->out, "bytes", SELFTEST_FAILED, "%s: %u of %u copies in the text are what is shown", p->name, copies, 2 * p->unroll);
	}
	line(t->out, "bytes", verified ? SELFTEST_OK : SELFTEST_FAILED,
	     "%zu probes run exactly the bytes that `list` shows; %zu are C code or address themselves", verified, c_code);
}

static void check_chain(struct test *t)
{
	size_t add_arm = find_arm(t, "chain-add"), mul_arm = find_arm(t, "chain-mul");
	double add_cycles = median(t, add_arm, PROBE_VALUE_CYCLES), ratio, whole;

	if (t->run.cycles_counter >= 0) {
		line(t->out, "add chain", fabs(add_cycles - 1) < CHAIN_TOLERANCE ? SELFTEST_OK : SELFTEST_FAILED,
		     "%.3f cycles by the PMU; a dependent addition takes 1", add_cycles);
		return;
	}
	ratio = median(t, mul_arm, PROBE_VALUE_NS) / median(t, add_arm, PROBE_VALUE_NS);
	if (!isfinite(ratio)) {
		line(t->out, "add chain", SELFTEST_SKIPPED, "no calibration chains on this architecture: cycles cannot be estimated");
		return;
	}
	whole = round(ratio);
	if (whole >= 1 && fabs(ratio - whole) < CHAIN_TOLERANCE)
		line(t->out,
		     "add chain", SELFTEST_OK, "no PMU; a multiplication takes %.3f additions, a whole number of cycles: cycles~ can be trusted", ratio);
	else
		line(t->out, "add chain", SELFTEST_FAILED,
		     "no PMU, and a multiplication takes %.3f additions, not a whole number: an emulated CPU or a very busy machine; distrust cycles~", ratio);
}

/* With a PMU, one operation of these probes is one instruction. */
static void check_instructions(struct test *t)
{
	static const char *const one[] = { "chain-add", "chain-mul", "nop", "pause" };
	const struct meters *m = &t->session->meters;
	size_t metric = SIZE_MAX, tested = 0;

	for (size_t i = 0; i < m->ncounter; i++)
		if (!m->counter[i].why && !strncmp(m->counter[i].name, "instructions", strlen("instructions")))
			metric = PROBE_VALUE_COUNTERS + i;
	if (metric == SIZE_MAX) {
		line(t->out, "instructions", SELFTEST_SKIPPED, "not counted on this machine");
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(one); i++) {
		double n = median(t, find_arm(t, one[i]), metric);

		if (isnan(n))
			continue;
		tested++;
		if (fabs(n - 1) > COUNT_TOLERANCE)
			line(t->out, "instructions", SELFTEST_FAILED, "%s: %.4f instructions for one operation instead of 1", one[i], n);
	}
	line(t->out, "instructions", tested ? SELFTEST_OK : SELFTEST_SKIPPED, "%zu loops of one-instruction operations were counted", tested);
}

static void check_null(struct test *t)
{
	size_t a = find_arm(t, "rep-nop"), b = find_arm(t, "pause"), n;
	double *x, *y;
	struct verdict_rule rule = t->result->rule;
	struct comparison c = { 0 };

	if (a == SIZE_MAX || b == SIZE_MAX)
		return;
	x = util_calloc(t->result->rounds[0], sizeof(*x));
	y = util_calloc(t->result->rounds[0], sizeof(*y));
	n = result_paired(t->result, 0, a, b, PROBE_VALUE_NS, x, y);
	rule.better = BETTER_LOWER;
	/* 99.9 %: a healthy machine must not fail its self-test one time in twenty. */
	if (verdict_paired(x, y, n, &rule, 0.999, &c) || c.verdict == VERDICT_CANNOT_TELL || c.verdict == VERDICT_SAME)
		line(t->out, "null control", SELFTEST_OK, "pause and rep-nop, the same bytes: %+.2f %% [%+.2f, %+.2f]", 100 * expm1(c.interval.estimate),
		     100 * expm1(c.interval.low), 100 * expm1(c.interval.high));
	else
		line(t->out, "null control", SELFTEST_FAILED, "pause and rep-nop are the same bytes, yet were told apart: %+.2f %% [%+.2f, %+.2f]",
		     100 * expm1(c.interval.estimate), 100 * expm1(c.interval.low), 100 * expm1(c.interval.high));
	free(x);
	free(y);
}

/* A locked operation costs no less than the CPU-local one. */
static void check_order(struct test *t, const char *locked, const char *local)
{
	size_t a = find_arm(t, locked), b = find_arm(t, local);
	double x = median(t, a, PROBE_VALUE_NS), y = median(t, b, PROBE_VALUE_NS);

	if (!isfinite(x) || !isfinite(y))
		return;
	if (probe_same_bytes(t->arm[a].probe, t->arm[b].probe))
		line(t->out, "locked > local", SELFTEST_SKIPPED, "%s and %s are the same instructions here", locked, local);
	else
		line(t->out, "locked > local", x > y * (1 - LOCAL_TOLERANCE) ? SELFTEST_OK : SELFTEST_FAILED, "%s %.2f ns, %s %.2f ns", locked, x, local, y);
}

static void check_published(struct test *t)
{
	const char *unit = t->run.cycles_counter < 0 ? "cycles~" : "cycles";
	size_t tested = 0;

	for (size_t i = 0; i < t->narm; i++) {
		size_t count = 0;
		const struct published_value *p = published(t, t->arm[i].probe->name, &count), *nearest;
		double measured, off;
		bool ns;

		if (!p || !count)
			continue;
		ns = !strcmp(p->unit, "ns");
		measured = median(t, i, ns ? PROBE_VALUE_NS : PROBE_VALUE_CYCLES);
		if (!isfinite(measured))
			continue;
		tested++;
		/* Several published figures: the nearest of them counts, since each was seen on this model. */
		off = INFINITY;
		nearest = p;
		for (size_t k = 0; k < count; k++) {
			double d = measured < p[k].low ? measured / p[k].low - 1 : measured > p[k].high ? measured / p[k].high - 1 : 0;

			if (fabs(d) < fabs(off)) {
				off = d;
				nearest = &p[k];
			}
		}
		p = nearest;
		line(t->out, "published", fabs(off) <= p->tolerance ? SELFTEST_OK : SELFTEST_FAILED, "%s: %.2f %s here, published %s %s%s (%s)%s",
		     t->arm[i].probe->name, measured, ns ? "ns" : unit, p->text, p->unit, fabs(off) <= p->tolerance ? "" : ": too far off", p->source,
		     t->session->env.hypervisor && fabs(off) > p->tolerance ? "; a hypervisor may intercept it" : "");
	}
	if (!tested)
		line(t->out, "published", SELFTEST_SKIPPED, "no published values are known for this CPU model (%s)",
		     t->session->env.value[ENV_CPU_MODEL] ? t->session->env.value[ENV_CPU_MODEL] : "unknown");
}

int selftest_run(struct session *s, double seconds, struct selftest *out, struct reason *why)
{
	struct test t = { .session = s, .out = out };
	int err;

	*out = (struct selftest){ 0 };
	err = probe_run_open(&t.run, &s->meters, s->cpu, WARMUP_S, NULL, why);
	if (!err) {
		choose_probes(&t);
		err = measure(&t, seconds, why);
	}
	if (!err) {
		check_clocks(&t);
		check_bytes(&t);
		check_chain(&t);
		check_instructions(&t);
		check_null(&t);
		check_order(&t, "cmpxchg", "cmpxchg-local");
		check_order(&t, "xadd", "xadd-local");
		check_published(&t);
	}
	probe_run_close(&t.run);
	free(t.arm);
	if (t.result)
		result_free(t.result);
	return err;
}

void selftest_free(struct selftest *t)
{
	free(t->line);
	*t = (struct selftest){ 0 };
}
