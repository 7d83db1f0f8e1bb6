// SPDX-License-Identifier: GPL-2.0-only
/*
 * Clocks: the check against broken ones, the real ones, and what is made of two readings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meter-perf.h"
#include "meter.h"

/* Broken clocks: every read of either clock takes 25 ns of a common time */

#define READ_NS 25

#ifdef __has_feature	/* clang */
#if __has_feature(address_sanitizer)
#define TEST_SANITIZED 1
#endif
#endif

enum fault { GOOD, CONSTANT, BACKWARDS, JUMP, COARSE, WANDERING, ALTERNATING };

struct world {
	uint64_t now;		/* ns */
	double rate;		/* of the clock under test, units a nanosecond */
	enum fault fault;
	uint64_t granule;	/* ns: the clock moves only so often */
	uint64_t at;		/* ns: when the fault happens */
	bool reference_stands, reference_falls;
	uint64_t reference_granule;
	double wandered;	/* integral of the wandering rate */
	uint64_t wandered_at;
};

static uint64_t world_reference(void *ctx)
{
	struct world *w = ctx;

	w->now += READ_NS;
	if (w->reference_stands)
		return 42;
	if (w->reference_falls && w->now > w->at)
		return w->now - 5000;
	return w->reference_granule ? w->now / w->reference_granule * w->reference_granule : w->now;
}

static uint64_t world_clock(void *ctx)
{
	struct world *w = ctx;
	uint64_t ns = w->now += READ_NS;
	double rate = w->rate;

	switch (w->fault) {
	case CONSTANT:
		return 0;
	case BACKWARDS:
		return (uint64_t)((double)(ns > w->at ? ns - 10000 : ns) * w->rate);
	case JUMP:
		return (uint64_t)((double)(ns > w->at ? ns + UINT64_C(3600000000000) : ns) * w->rate);
	case WANDERING:
	case ALTERNATING:
		if (w->fault == WANDERING)
			rate *= 1 + 0.31 * (double)(ns / 1000000 % 7);
		else
			rate *= ns / 1000000 % 2 ? 3 : 1;
		w->wandered += rate * (double)(ns - w->wandered_at);
		w->wandered_at = ns;
		return (uint64_t)w->wandered;
	default:
		break;
	}
	if (w->granule)
		ns = ns / w->granule * w->granule;
	return (uint64_t)((double)ns * w->rate);
}

static int check(struct world *w, double *rate, struct reason *why)
{
	struct meter_clock clock = { world_clock, w }, reference = { world_reference, w };

	w->now += 1000;
	why->text[0] = '\0';
	return meter_check_clock(&clock, &reference, rate, why);
}

static void assert_contains(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("\"%s\" is not in \"%s\"", part, text);
}

static void assert_near(double x, double expected, double relative)
{
	if (!(fabs(x / expected - 1) <= relative))
		fail_msg("%.9g is not %.9g within %g", x, expected, relative);
}

static void good_clocks(void **state)
{
	/* A TSC; a 1 GHz counter; Arm's at 25 MHz (a tick is 40 ns) and at 1 MHz; a timebase of 512 MHz. */
	static const struct {
		double rate;
		uint64_t granule;
	} clocks[] = { { 2.3, 0 }, { 1, 0 }, { 0.025, 40 }, { 0.001, 1000 }, { 0.512, 0 } };
	struct reason why;
	double rate;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct world w = { .rate = clocks[i].rate, .granule = clocks[i].granule };

		assert_int_equal(check(&w, &rate, &why), 0);
		assert_near(rate, clocks[i].rate, 2e-3);
	}
}

static void good_clock_coarse_reference(void **state)
{
	struct world w = { .rate = 2.3, .reference_granule = 10000000 };	/* jiffies at 100 Hz */
	struct reason why;
	double rate;

	(void)state;
	assert_int_equal(check(&w, &rate, &why), 0);
	assert_near(rate, 2.3, 2e-3);
}

static void broken_clocks(void **state)
{
	static const struct {
		struct world world;
		const char *why;
	} clocks[] = {
		{ { .rate = 1, .fault = CONSTANT }, "does not move" },
		{ { .rate = 1, .fault = BACKWARDS, .at = 1500000 }, "went backwards by 9950 units" },
		{ { .rate = 2.3, .fault = JUMP, .at = 1500000 }, "jumped by 3600 s" },
		{ { .rate = 1, .fault = COARSE, .granule = 10000000 }, "too coarse: it moves in steps of 10 ms" },
		{ { .rate = 1, .fault = WANDERING }, "does not agree" },
		{ { .rate = 1, .fault = ALTERNATING }, "does not agree" },
		{ { .rate = 1, .reference_stands = true }, "the reference clock does not move" },
		{ { .rate = 1, .reference_falls = true, .at = 1500000 }, "the reference clock went backwards" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct world w = clocks[i].world;
		struct reason why;
		double rate = -1;

		assert_int_equal(check(&w, &rate, &why), -EIO);
		assert_int_equal(why.err, EIO);
		assert_contains(why.text, clocks[i].why);
		assert_true(rate == 0);
	}
}

/* The real ones */

static void real_clocks(void **state)
{
	struct meter_reading *r = calloc(3, sizeof(*r));
	struct timespec pause = { 0, 20000000 };
	struct meters m;
	struct reason why;

	(void)state;
	assert_int_equal(meters_open(&m, &why), 0);
	assert_true(m.ns_resolution > 0);
	assert_true(m.ticks_usable == !m.ticks_why);
	assert_true(m.ticks_usable == (m.ticks_per_ns > 0));
	meters_read_begin(&m, &r[0]);
	nanosleep(&pause, NULL);
	meters_read_end(&m, &r[1]);
	meters_read_begin(&m, &r[2]);
	assert_true(r[1].ns - r[0].ns >= 20000000);
	assert_true(r[2].ns >= r[1].ns);
	if (m.ticks_usable) {
		assert_true(r[2].ticks >= r[1].ticks);
		/* Both cover the same 20 ms but for the reads themselves, which a preemption may stretch. */
		assert_near((double)(r[1].ticks - r[0].ticks) / (double)(r[1].ns - r[0].ns), m.ticks_per_ns, 0.05);
	} else {
		print_message("ticks: %s\n", m.ticks_why);
	}
	meters_calibrate(&m);
	assert_true(m.read_cost_ns > 0);
	m.have_rdtscp = false;	/* as where a hypervisor hides it */
	meters_read_end(&m, &r[2]);
	assert_true(r[2].ns >= r[1].ns);
	assert_true(r[2].ticks >= r[1].ticks);
	meters_close(&m);
	meters_close(&m);	/* twice is harmless */
	free(r);
}

/*
 * In a process that may not read the counter: any read of it, also by the vDSO, is SIGSEGV and shows as the child's
 * end.
 */
static int forbidden_child(void)
{
	struct meter_reading *r = calloc(2, sizeof(*r));
	struct meters m;
	struct reason why;

	if (!r || prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return 77;
	if (meters_open(&m, &why))
		return 2;
	if (!m.tsc_forbidden || m.ticks_usable || !m.ticks_why || !strstr(m.ticks_why, "PR_SET_TSC") ||
	    m.ticks_per_ns != 0)
		return 3;
	meters_read_begin(&m, &r[0]);
	if (meters_add_events(&m, "task-clock,msr/tsc/", false, &why) && !strstr(why.text, "msr"))
		return 4;
	if (meters_start(&m, &why))
		return 5;
	meters_calibrate(&m);
	meters_read_end(&m, &r[1]);
	if (r[1].ns <= r[0].ns || r[0].ticks || r[1].ticks || m.read_cost_ns <= 0)
		return 6;
	meters_close(&m);
	free(r);
	return 0;
}

static void forbidden_counter(void **state)
{
	int status;
	pid_t pid;

	(void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(TEST_SANITIZED)
	skip();		/* the sanitizer's own allocator reads the clock through the vDSO */
#endif
	pid = fork();
	if (!pid)
		_exit(forbidden_child());
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		fail_msg("the child was killed by signal %d", WTERMSIG(status));
	if (WEXITSTATUS(status) == 77)
		skip();		/* no PR_SET_TSC on this architecture or kernel */
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Counts */

static struct value count(const struct meter_counter *counter, struct meter_count begin, struct meter_count end,
			  double *share)
{
	struct meters *m = calloc(1, sizeof(*m));
	struct meter_reading *r = calloc(2, sizeof(*r));
	struct value v;

	/* Second of two, so that the index matters; the first one was always running. */
	m->ncounter = 2;
	m->counter[0] = (struct meter_counter){ .supported = true, .scale = 1 };
	m->counter[1] = *counter;
	r[1].count[0] = (struct meter_count){ 7, 1000, 1000 };
	r[0].count[1] = begin;
	r[1].count[1] = end;
	v = meters_count(m, &r[0], &r[1], 0, share);
	assert_null(v.why);
	assert_true(v.number == 7 && *share == 1);
	v = meters_count(m, &r[0], &r[1], 1, share);
	free(m);
	free(r);
	return v;
}

static void scaling(void **state)
{
	static const struct meter_counter plain = { .supported = true, .scale = 1 };
	static const struct meter_counter joules = { .supported = true, .scale = 0.25 };
	struct meter_count zero = { 0, 0, 0 };
	struct value v;
	double share;

	(void)state;
	v = count(&plain, zero, (struct meter_count){ 12345, 1000000, 1000000 }, &share);
	assert_true(!v.why && v.number == 12345 && share == 1);
	/* 2^40 * 2^40 does not fit 64 bits. */
	v = count(&plain, zero, (struct meter_count){ UINT64_C(1) << 40, UINT64_C(1) << 40, UINT64_C(1) << 39 },
		  &share);
	assert_true(!v.why && v.number == ldexp(1, 41) && share == 0.5);
	/* The differences count, not the totals. */
	v = count(&plain, (struct meter_count){ 100, 5000, 1000 }, (struct meter_count){ 200, 6000, 1250 }, &share);
	assert_true(!v.why && v.number == 400 && share == 0.25);
	v = count(&joules, zero, (struct meter_count){ 8, 10, 10 }, &share);
	assert_true(!v.why && v.number == 2);
}

static void no_count(void **state)
{
	static const struct meter_counter plain = { .supported = true, .scale = 1 };
	static const struct meter_counter atom = { .supported = true, .scale = 1, .core_type = "cpu_atom" };
	static const struct meter_counter absent = { .why = (char *)(uintptr_t) "no such counter here", .scale = 1 };
	struct meter_count zero = { 0, 0, 0 }, failed = { .enabled = METER_COUNT_FAILED };
	struct value v;
	double share = -1;

	(void)state;
	v = count(&plain, zero, (struct meter_count){ 0, 1000000, 0 }, &share);
	assert_non_null(v.why);
	assert_contains(v.why, "never got a hardware counter");
	assert_true(share == 0);
	v = count(&atom, zero, (struct meter_count){ 0, 1000000, 0 }, &share);
	assert_string_equal(v.why, "not counted: it counts on cpu_atom cores only, and the thread ran on none of them");
	v = count(&plain, zero, failed, &share);
	assert_contains(v.why, "could not be read");
	v = count(&plain, failed, (struct meter_count){ 1, 1, 1 }, &share);
	assert_contains(v.why, "could not be read");
	v = count(&plain, (struct meter_count){ 10, 10, 10 }, (struct meter_count){ 9, 20, 20 }, &share);
	assert_contains(v.why, "went backwards");
	v = count(&plain, (struct meter_count){ 10, 20, 20 }, (struct meter_count){ 11, 10, 10 }, &share);
	assert_contains(v.why, "went backwards");
	v = count(&absent, zero, zero, &share);
	assert_string_equal(v.why, "no such counter here");
}

static void user_read_times(void **state)
{
	static const struct meter_counter user = { .supported = true, .user_read = true, .scale = 1 };
	struct value v;
	double share;

	(void)state;
	/* Within one turn the page's times stand still: the event was counting all the time. */
	v = count(&user, (struct meter_count){ 100, 5000, 5000 }, (struct meter_count){ 350, 5000, 5000 }, &share);
	assert_true(!v.why && v.number == 250 && share == 1);
	/* The error of extrapolated times. */
	v = count(&user, (struct meter_count){ 100, 5000, 3000 }, (struct meter_count){ 350, 4990, 2995 }, &share);
	assert_true(!v.why && v.number == 250 && share == 1);
	v = count(&user, (struct meter_count){ 100, 5000, 3000 }, (struct meter_count){ 350, 105000, 53000 }, &share);
	assert_true(!v.why && v.number == 500 && share == 0.5);
	v = count(&user, (struct meter_count){ 100, 50000, 3000 }, (struct meter_count){ 350, 5000, 3000 }, &share);
	assert_contains(v.why, "went backwards");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_clocks),
		cmocka_unit_test(good_clock_coarse_reference),
		cmocka_unit_test(broken_clocks),
		cmocka_unit_test(real_clocks),
		cmocka_unit_test(forbidden_counter),
		cmocka_unit_test(scaling),
		cmocka_unit_test(no_count),
		cmocka_unit_test(user_read_times),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
