/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The threads of lock contention: what a trial yields, that it ends whatever the lock does, that nothing is left, and
 * how CPUs hang together.
 */
#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "lock-run.h"
#include "probe.h"

#define THREADS 3

static struct meters meters;
static struct lock_run *run;
static struct topology topology;

static int setup(void **state)
{
	struct reason why = { 0 };

	(void)state;
	if (meters_open(&meters, &why) || topology_read(&topology, "", &why)) {
		print_error("%s\n", why.text);
		return -1;
	}
	run = lock_run_open(&meters, THREADS, &why);
	return run ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	lock_run_close(run);
	meters_close(&meters);
	topology_free(&topology);
	return 0;
}

static struct lock_condition condition(unsigned int threads)
{
	return (struct lock_condition){ .threads = threads,
					.cpus = topology.allowed,
					.cs_lines = 1,
					.window_s = 0.003,
					.spinner_cpu = topology.allowed.cpu[0],
					.victim_cpu = topology.allowed.cpu[topology.allowed.n - 1] };
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void assert_value(struct value v, double low, double high)
{
	if (!v.why && !(v.number >= low && v.number <= high))
		fail_msg("%g is outside %g to %g", v.number, low, high);
	assert_true(!v.why || *v.why);
}

static bool runs_here(const struct lock_pair *p)
{
	const struct probe *hint = probe_find(p->hint);

	return !hint || !probe_why_absent(hint);
}

static void check_trial(const struct lock_pair *p, unsigned int threads)
{
	struct lock_condition c = condition(threads);
	struct value values[LOCK_VALUES];
	uint64_t per_thread[THREADS], sum = 0;
	struct reason why = { 0 };

	for (size_t i = 0; i < LOCK_VALUES; i++)
		values[i] = value_of(-1);
	if (lock_run_trial(run, p, &c, values, per_thread, &why))
		fail_msg("%s %s: %s", p->lock, p->hint, why.text);
	for (unsigned int i = 0; i < threads; i++)
		sum += per_thread[i];
	for (size_t i = 0; i < LOCK_VALUES; i++)
		assert_value(values[i], 0, 1e18);
	assert_true((values[LOCK_VALUE_RATE].number > 0) == (sum > 0));
	assert_value(values[LOCK_VALUE_JAIN], 1.0 / threads - 1e-9, 1);
	assert_value(values[LOCK_VALUE_MIN_SHARE], 0, 1.0 / threads);
	assert_value(values[LOCK_VALUE_MAX_SHARE], 1.0 / threads, 1);
	assert_value(values[LOCK_VALUE_OVERLAP], 0, 1);
}

/* Every pair through the harness, mutual exclusion verified by it. */
static void test_every_pair(void **state)
{
	(void)state;
	for (size_t i = 0; lock_pair_at(i); i++)
		if (runs_here(lock_pair_at(i)))
			check_trial(lock_pair_at(i), THREADS);
	check_trial(lock_pair_find("ttas", "none"), 1);
}

static void test_handoff_and_victim(void **state)
{
	struct lock_condition c = condition(2);
	struct value turns[LOCK_MATRIX_VALUES], victim[LOCK_VICTIM_VALUES];
	struct reason why = { 0 };

	(void)state;
	for (size_t i = 0; lock_handoff_at(i); i++) {
		if (!runs_here(lock_handoff_at(i)))
			continue;
		if (lock_run_handoff(run, lock_handoff_at(i), &c, turns, &why))
			fail_msg("%s: %s", lock_handoff_at(i)->hint, why.text);
		assert_value(turns[LOCK_VALUE_MATRIX_HANDOFF], 0, 1e18);
	}
	for (size_t i = 0; lock_pair_at(i); i++) {
		const struct lock_pair *p = lock_pair_at(i);

		if (strcmp(p->hint, "none") != 0 && strcmp(p->hint, "library") != 0)
			continue;
		if (lock_run_victim(run, p, &c, victim, &why))
			fail_msg("victim of %s: %s", p->lock, why.text);
		for (size_t v = 0; v < LOCK_VICTIM_VALUES; v++)
			assert_value(victim[v], 0, 1e18);
	}
}

/* Locks that are none, made of a real one. */
static void run_open_door(struct lock_shared *s, struct lock_thread *t)
{
	volatile uint64_t *guard = &s->guard;

	while (!atomic_load(&s->stop)) {
		uint64_t seen = *guard;

		sched_yield();
		*guard = seen + 1;
		atomic_fetch_add(&t->acquired, 1);
	}
}

static void run_forever(struct lock_shared *s, struct lock_thread *t)
{
	(void)s;
	for (;;)
		if (atomic_load(&t->acquired) == UINT64_MAX)
			return;
}

#if defined(__SANITIZE_THREAD__)
#define THREAD_SANITIZER 1
#else
#define THREAD_SANITIZER 0
#endif

static void test_no_exclusion_is_found(void **state)
{
	struct lock_pair p = *lock_pair_find("ttas", "none");
	struct lock_condition c = condition(THREADS);
	struct value values[LOCK_VALUES];
	uint64_t per_thread[THREADS];
	struct reason why = { 0 };

	(void)state;
	if (THREAD_SANITIZER)
		skip();		/* the race is there on purpose */
	p.run = run_open_door;
	c.window_s = 0.05;
	assert_int_equal(lock_run_trial(run, &p, &c, values, per_thread, &why), -EPROTO);
	assert_non_null(strstr(why.text, "does not exclude"));
}

static void test_a_lock_that_never_opens_ends(void **state)
{
	struct lock_pair p = *lock_pair_find("ticket", "none");
	struct lock_condition c = condition(THREADS);
	struct value values[LOCK_VALUES];
	uint64_t per_thread[THREADS];
	struct reason why = { 0 };
	double start = seconds();

	(void)state;
	p.run = run_forever;
	assert_int_equal(lock_run_trial(run, &p, &c, values, per_thread, &why), 0);
	assert_true(seconds() - start < 30);	/* it would be for ever */
	assert_true(values[LOCK_VALUE_RATE].number == 0);
	assert_non_null(values[LOCK_VALUE_JAIN].why);
}

static volatile sig_atomic_t usr2;

static void on_usr2(int sig)
{
	(void)sig;
	usr2++;
}

static unsigned int tasks(void)
{
	DIR *dir = opendir("/proc/self/task");
	unsigned int n = 0;

	if (!dir)
		return 0;
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

/* Threads, the handler of the escape signal, the signal mask and this thread's affinity are as before. */
static void test_nothing_is_left(void **state)
{
	struct sigaction action = { .sa_handler = on_usr2 }, after;
	sigset_t mask, mask_after;
	cpu_set_t before, later;
	unsigned int n = tasks();

	(void)state;
	sigaction(SIGUSR2, &action, NULL);
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	check_trial(lock_pair_find("mcs", "none"), THREADS);
	assert_int_equal(sched_getaffinity(0, sizeof(later), &later), 0);
	pthread_sigmask(SIG_SETMASK, NULL, &mask_after);
	assert_true(CPU_EQUAL(&before, &later));
	for (int sig = 1; sig < 32; sig++)
		assert_int_equal(sigismember(&mask, sig), sigismember(&mask_after, sig));
	/* A thread that was joined may take an instant to leave the list. */
	for (int i = 0; i < 1000 && tasks() > n; i++)
		sched_yield();
	assert_int_equal(tasks(), n);
	sigaction(SIGUSR2, NULL, &after);
	assert_ptr_equal(after.sa_handler, on_usr2);
	assert_int_equal(usr2, 0);
	signal(SIGUSR2, SIG_DFL);
}

static int interrupted_at_once(void)
{
	return SIGTERM;
}

static void test_an_interrupt_ends_the_window(void **state)
{
	struct lock_condition c = condition(THREADS);
	struct value values[LOCK_VALUES];
	uint64_t per_thread[THREADS];
	struct reason why = { 0 };
	double start = seconds();

	(void)state;
	c.window_s = 3600;
	c.interrupted = interrupted_at_once;
	assert_int_equal(lock_run_trial(run, lock_pair_find("ttas", "none"), &c, values, per_thread, &why), -EINTR);
	assert_true(seconds() - start < 60);
}

static void test_bad_conditions(void **state)
{
	struct lock_condition c = condition(THREADS + 1);
	struct value values[LOCK_VALUES];
	uint64_t per_thread[THREADS + 1];
	struct reason why = { 0 };
	int nowhere = 60000;

	(void)state;
	assert_int_equal(lock_run_trial(run, lock_pair_find("ttas", "none"), &c, values, per_thread, &why), -EINVAL);
	c = condition(2);
	c.cpus = (struct cpulist){ .n = 1, .cpu = &nowhere };
	assert_true(lock_run_trial(run, lock_pair_find("ttas", "none"), &c, values, per_thread, &why) < 0);
	assert_non_null(strstr(why.text, "60000"));
	assert_null(lock_run_open(&meters, LOCK_THREADS_MAX, &why));
	check_trial(lock_pair_find("ttas", "none"), 2);		/* and the next one is none the worse */
}

/* Two sockets of two nodes each, with SMT: 0-7, and one CPU of which nothing is known. */
static void test_relations(void **state)
{
	struct topology_cpu cpu[9];
	struct topology t = { .cpu = cpu, .n = 9 };

	(void)state;
	memset(cpu, 0, sizeof(cpu));
	for (int i = 0; i < 8; i++)
		cpu[i] = (struct topology_cpu){
			.cpu = i, .core = i / 2, .package = i / 4, .llc = i & ~1, .node = i / 2
		};
	cpu[8] = (struct topology_cpu){ .cpu = 8, .core = -1, .package = -1, .llc = -1, .node = -1 };
	assert_string_equal(lock_relation(&t, 0, 1), "smt");
	assert_string_equal(lock_relation(&t, 0, 2), "socket");
	assert_string_equal(lock_relation(&t, 0, 4), "machine");
	assert_string_equal(lock_relation(&t, 0, 8), "unknown");
	assert_string_equal(lock_relation(&t, 0, 77), "unknown");
	cpu[1].core = 9;
	assert_string_equal(lock_relation(&t, 0, 1), "llc");
	cpu[2].node = 0;
	assert_string_equal(lock_relation(&t, 0, 2), "node");
}

static void test_idle(void **state)
{
	uint64_t iters = lock_run_idle_iters(10000);

	(void)state;
	assert_true(iters > 0);
	assert_true(lock_run_idle_ns(iters) > 0);
	assert_int_equal(lock_run_idle_iters(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_pair),
		cmocka_unit_test(test_handoff_and_victim),
		cmocka_unit_test(test_no_exclusion_is_found),
		cmocka_unit_test(test_a_lock_that_never_opens_ends),
		cmocka_unit_test(test_nothing_is_left),
		cmocka_unit_test(test_an_interrupt_ends_the_window),
		cmocka_unit_test(test_bad_conditions),
		cmocka_unit_test(test_relations),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
