/* SPDX-License-Identifier: GPL-2.0-only */
/* The ring and its trials: every kind of link, limits, and what happens when a task does not behave. */
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "ctx-ring.h"
#include "ctx-run.h"
#include "ctx-task.h"
#include "topology.h"

static struct meters meters;
static struct cpulist cpus;

static int set_up(void **state)
{
	struct reason why = { 0 };

	(void)state;
	/* Nothing here may hang. */
	alarm(120);
	return topology_allowed(&cpus, &why) || meters_open(&meters, &why);
}

static int tear_down(void **state)
{
	(void)state;
	meters_close(&meters);
	cpulist_free(&cpus);
	return 0;
}

static struct ctx_condition condition(unsigned int tasks, enum ctx_via via)
{
	return (struct ctx_condition){ .tasks = tasks, .via = via, .abi = CTX_ABI_NATIVE, .policy = SCHED_OTHER,
		.window_s = 0.002, .warmup_s = 0.0005, .cpus = &cpus };
}

static struct ctx_run *open_run(const char *events)
{
	struct reason why = { 0 };
	int status;
	struct ctx_run *run = ctx_run_open(&meters, events, false, NULL, &status, &why);

	if (!run)
		fail_msg("%s", why.text);
	return run;
}

/* No child is left, whatever happened. */
static void assert_childless(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

static void test_names(void **state)
{
	(void)state;
	for (int i = 0; i < CTX_VIA_COUNT; i++) {
		assert_int_equal(ctx_via_find(ctx_via_name((enum ctx_via)i)), i);
		assert_true(*ctx_via_summary((enum ctx_via)i) != '\0');
		assert_true(ctx_via_fds((enum ctx_via)i) <= 2);
	}
	assert_int_equal(ctx_via_find("pipes"), -1);
}

/* The ring in one process: the links carry the token, and what is no token is seen. */
static void test_alone(void **state)
{
	struct ctx_ring *r = calloc(1, sizeof(*r));
	uint32_t memory[64] = { 1 };

	(void)state;
	assert_non_null(r);
	for (int via = 0; via < CTX_VIA_COUNT; via++) {
		r->via = (uint32_t)via;
		r->tasks = 3;
		r->touch_words = 64;
		assert_int_equal(ctx_ring_open(r, 0), 0);
		assert_int_equal(ctx_ring_alone(r, memory, 100), 0);
		ctx_ring_close(r);
		for (uint32_t i = 0; i < r->tasks; i++)
			assert_true(r->link[i].read_fd == -1 && r->link[i].write_fd == -1);
	}
	r->via = CTX_VIA_PIPE;
	assert_int_equal(ctx_ring_open(r, 0), 0);
	assert_int_equal(write(r->link[1].write_fd, "\x07", 1), 1);
	assert_int_equal(ctx_ring_follow(r, 1, memory, NULL, NULL), -EPROTO);
	/* A link that is gone. */
	close(r->link[2].write_fd);
	r->link[2].write_fd = -1;
	assert_int_equal(ctx_ring_follow(r, 2, memory, NULL, NULL), -EPIPE);
	ctx_ring_close(r);
	free(r);
}

static unsigned int marks;

static void count_mark(void *ctx)
{
	(void)ctx;
	marks++;
}

/* A follower passes on what it gets, marks when told, and ends when told. */
static void test_follow(void **state)
{
	struct ctx_ring *r = calloc(1, sizeof(*r));
	const unsigned char tokens[] = { CTX_TOKEN_GO, CTX_TOKEN_MARK, CTX_TOKEN_GO, CTX_TOKEN_STOP };
	unsigned char got[8];

	(void)state;
	assert_non_null(r);
	r->via = CTX_VIA_PIPE;
	r->tasks = 2;
	marks = 0;
	assert_int_equal(ctx_ring_open(r, 0), 0);
	assert_int_equal(write(r->link[1].write_fd, tokens, sizeof(tokens)), sizeof(tokens));
	assert_int_equal(ctx_ring_follow(r, 1, NULL, count_mark, NULL), 0);
	assert_int_equal(marks, 1);
	assert_int_equal(read(r->link[0].read_fd, got, sizeof(got)), sizeof(tokens));
	assert_memory_equal(got, tokens, sizeof(tokens));
	ctx_ring_close(r);
	free(r);
}

/* Too few descriptors: an error, and none of those opened is left open. */
static void test_ring_fds(void **state)
{
	struct ctx_ring *r = calloc(1, sizeof(*r));
	struct rlimit old, few;
	int before = dup(0), after;

	(void)state;
	assert_non_null(r);
	assert_true(before >= 0);
	close(before);
	r->via = CTX_VIA_SOCKETPAIR;
	r->tasks = 100;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(ctx_ring_open(r, 0), -EMFILE);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	after = dup(0);
	assert_int_equal(after, before);
	close(after);
	free(r);
}

static void check_values(const struct value *v, const struct ctx_condition *c)
{
	for (int i = 0; i < CTX_VALUE_COUNTERS; i++)
		assert_null(v[i].why);
	assert_true(v[CTX_VALUE_SWITCH].number > 0);
	assert_true(v[CTX_VALUE_TRANSPORT].number > 0);
	assert_true(v[CTX_VALUE_MEAN].number > 0);
	assert_true(v[CTX_VALUE_RMSE].number >= 0);
	assert_true(v[CTX_VALUE_MEDIAN].number <= v[CTX_VALUE_P99].number && v[CTX_VALUE_P99].number <= v[CTX_VALUE_MAX].number);
	assert_true(v[CTX_VALUE_NET].number == v[CTX_VALUE_SWITCH].number - v[CTX_VALUE_TRANSPORT].number);
	/* Each hop blocks its task once at most (on two CPUs the token may be there already); who is preempted besides is counted too. */
	assert_true(v[CTX_VALUE_COUNTED].number > 0);
	if (c->place == CTX_PLACE_SAME)
		assert_true(v[CTX_VALUE_COUNTED].number > 0.9);
}

static void test_trials(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct ctx_run *run = open_run(NULL);
	struct reason why = { 0 };

	(void)state;
	for (int via = 0; via < CTX_VIA_COUNT; via++)
		for (int variant = 0; variant < 6; variant++) {
			struct ctx_condition c = condition(variant == 1 ? 5 : 2, (enum ctx_via)via);

			c.threads = variant == 2;
			c.size_bytes = variant == 3 ? 10000 : 0;
			c.place = variant == 4 ? CTX_PLACE_FREE : variant == 5 ? CTX_PLACE_CROSS : CTX_PLACE_SAME;
			if (ctx_run_trial(run, &c, v, &why))
				fail_msg("%s, variant %d: %s", ctx_via_name((enum ctx_via)via), variant, why.text);
			check_values(v, &c);
			assert_childless();
		}
	ctx_run_close(run);
}

/* Counters that every kernel has: what they count is divided by the hops. */
static void test_counters(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct ctx_run *run = open_run("context-switches");
	struct ctx_condition c = condition(2, CTX_VIA_PIPE);
	struct reason why = { 0 };

	(void)state;
	if (!ctx_run_counters(run)->ncounter || ctx_run_counters(run)->counter[0].why) {
		ctx_run_close(run);
		skip();
	}
	if (ctx_run_trial(run, &c, v, &why))
		fail_msg("%s", why.text);
	if (!v[CTX_VALUE_COUNTERS].why)
		assert_true(v[CTX_VALUE_COUNTERS].number > 0.5 && v[CTX_VALUE_COUNTERS].number < 100);
	ctx_run_close(run);
}

static void test_refused(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct ctx_run *run = open_run(NULL);
	struct ctx_condition c = condition(1, CTX_VIA_PIPE);
	struct cpulist nowhere = { 0 };
	struct reason why = { 0 };

	(void)state;
	assert_int_equal(ctx_run_trial(run, &c, v, &why), -EINVAL);
	c.tasks = CTX_TASKS_MAX + 1;
	assert_int_equal(ctx_run_trial(run, &c, v, &why), -EINVAL);
	/* A CPU that is not there: the task says so, and the others end. */
	c = condition(4, CTX_VIA_FUTEX);
	cpulist_add(&nowhere, 65535);
	c.cpus = &nowhere;
	assert_int_equal(ctx_run_trial(run, &c, v, &why), -EINVAL);
	assert_non_null(strstr(why.text, "pinning"));
	assert_childless();
	cpulist_free(&nowhere);
	ctx_run_close(run);
}

/* Called while the parent watches: the moment to harm its children. */
static int kill_signal;

static int kill_a_child(void)
{
	char path[64], text[256];
	pid_t pid;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	if (kill_signal && util_read_file(path, text, sizeof(text)) > 0 && sscanf(text, "%d", &pid) == 1) {
		kill(pid, kill_signal);
		kill_signal = 0;
	}
	return 0;
}

static int stop_at_once(void)
{
	return SIGINT;
}

static void test_dying_task(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct reason why = { 0 };
	int status;
	struct ctx_run *run = ctx_run_open(&meters, NULL, false, kill_a_child, &status, &why);

	(void)state;
	assert_non_null(run);
	for (int via = 0; via < CTX_VIA_COUNT; via++) {
		struct ctx_condition c = condition(3, (enum ctx_via)via);
		int err;

		c.window_s = 5;		/* ends much earlier, or the alarm does */
		kill_signal = via % 2 ? SIGKILL : SIGTERM;
		err = ctx_run_trial(run, &c, v, &why);
		if (kill_signal) {	/* no /proc/.../children in this kernel */
			kill_signal = 0;
			skip();
		}
		assert_int_equal(err, -ECHILD);
		assert_non_null(strstr(why.text, via % 2 ? "signal 9" : "signal 15"));
		assert_childless();
	}
	ctx_run_close(run);
}

static void test_interrupted(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct ctx_condition c = condition(3, CTX_VIA_PIPE);
	struct reason why = { 0 };
	int status;
	struct ctx_run *run = ctx_run_open(&meters, NULL, false, stop_at_once, &status, &why);

	(void)state;
	assert_non_null(run);
	c.window_s = 30;
	assert_int_equal(ctx_run_trial(run, &c, v, &why), -EINTR);
	assert_childless();
	ctx_run_close(run);
}

static void test_forbidding(void **state)
{
	struct value v[CTX_VALUE_COUNTERS + METER_COUNTERS_MAX];
	struct ctx_condition c = condition(2, CTX_VIA_PIPE);
	struct ctx_run *run = open_run(NULL);
	struct reason why = { 0 };
	enum ctx_enforced e = ctx_run_tsc_enforced(&why);

	(void)state;
	assert_int_not_equal(e, CTX_ENFORCED_UNKNOWN);
	/* Whether it is enforced or not, nothing in the ring may read the counter: the trial ends well. */
	for (c.threads = false;; c.threads = true) {
		for (int tsc = CTX_TSC_BOTH; tsc <= CTX_TSC_ONE; tsc++) {
			int err;

			c.tsc = (enum ctx_tsc)tsc;
			err = ctx_run_trial(run, &c, v, &why);
			if (e == CTX_NO_SUCH_PRCTL)
				assert_int_equal(err, -EINVAL);
			else if (err)
				fail_msg("%s", why.text);
			assert_childless();
		}
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
		break;	/* the sanitizers' own part of a thread reads the counter */
#endif
		if (c.threads)
			break;
	}
	ctx_run_close(run);
}

static void test_limits(void **state)
{
	struct reason why = { 0 };
	struct rlimit old, few;

	(void)state;
	assert_int_equal(ctx_limits_check(2, CTX_VIA_PIPE, 0, &why), 0);
	assert_int_equal(ctx_limits_check(2, CTX_VIA_PIPE, UINT64_C(1) << 50, &why), -ENOMEM);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	/* A soft limit is raised ... */
	few = old;
	few.rlim_cur = 40;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(ctx_limits_check(50, CTX_VIA_PIPE, 0, &why), 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &few), 0);
	assert_true(few.rlim_cur >= 100);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_alone),
		cmocka_unit_test(test_follow),
		cmocka_unit_test(test_ring_fds),
		cmocka_unit_test(test_trials),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_dying_task),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_forbidding),
		cmocka_unit_test(test_limits),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
