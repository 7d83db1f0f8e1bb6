/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One window of contention. All threads are made, pinned and waiting before any starts; the window is cut out of the time in which all of them run; counts are
 * taken from the threads' own lines at its two ends. Whoever still waits for the lock after the window is taken out of its wait loop by a signal, so that
 * queue locks with preempted waiters end in time although the loop itself looks at nothing but the lock.
 */
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "histogram.h"
#include "lock-run.h"
#include "stats.h"

#define SETTLE_S 0.001		/* between the start of the last thread and the window */
#define START_BOUND_S 10.0	/* all threads must be running by then */
#define GRACE_S 0.02		/* to leave by themselves after the window */
#define KICK_S 0.01		/* between two signals to one thread */
#define END_BOUND_S 10.0	/* after that the trial has failed */
#define ESCAPE_SIGNAL SIGUSR2
#define THREAD_STACK (256 * 1024)

/* A worker's own things; the parts the lock touches are in struct lock_thread. */
struct worker {
	struct lock_run *run;
	struct lock_thread *lock;
	pthread_t thread;
	int cpu;		/* -1: not pinned */
	bool made, escaped;
	int err;		/* of pinning or scheduling class */
	uint64_t begin_ns, end_ns;
	long switches;
	struct histogram *acquire, *handoff;	/* in ticks */
	uint64_t spins;
	sigjmp_buf escape;
};

struct lock_run {
	const struct meters *meters;
	struct lock_shared *shared;
	struct lock_thread *threads;
	struct worker *worker;
	unsigned int room;
	struct histogram acquire, handoff;	/* merged */
	/* one window */
	void (*loop)(struct lock_shared *s, struct lock_thread *t);
	bool fifo;
	atomic_uint ready, running, ended, go, abandon;
	struct histogram *histograms;		/* two for each worker, 58 kB each, touched only where used */
};


static _Thread_local struct worker *this_worker;

static void escape(int sig)
{
	struct worker *w = this_worker;

	(void)sig;
	if (w)
		siglongjmp(w->escape, 1);
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void sleep_s(double s)
{
	struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - floor(s)) * 1e9) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

static void note_acquisition(void *ctx, const struct lock_event *event)
{
	struct worker *w = ctx;

	histogram_add(w->acquire, (int64_t)(event->after - event->before));
	if (event->handed_over)
		histogram_add(w->handoff, (int64_t)(event->after - event->released));
	w->spins += event->spins;
}

static int prepare_worker(struct worker *w)
{
	if (w->cpu >= 0) {
		int err = topology_pin(w->cpu, NULL);

		if (err)
			return err;
	}
	if (w->run->fifo) {
		struct sched_param p = { .sched_priority = 1 };

		return -pthread_setschedparam(pthread_self(), SCHED_FIFO, &p);
	}
	return 0;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct lock_run *run = w->run;
	struct rusage before, after;

	w->err = prepare_worker(w);
	atomic_fetch_add(&run->ready, 1);
	while (!atomic_load(&run->go))
		sched_yield();
	if (w->err || atomic_load(&run->abandon))
		goto out;
	getrusage(RUSAGE_THREAD, &before);
	w->begin_ns = now_ns();
	if (!sigsetjmp(w->escape, 1)) {
		this_worker = w;
		atomic_fetch_add(&run->running, 1);
		run->loop(run->shared, w->lock);
		this_worker = NULL;
	} else {
		this_worker = NULL;
		w->escaped = true;
	}
	w->end_ns = now_ns();
	getrusage(RUSAGE_THREAD, &after);
	w->switches = after.ru_nvcsw + after.ru_nivcsw - before.ru_nvcsw - before.ru_nivcsw;
out:
	atomic_fetch_add(&run->ended, 1);
	return NULL;
}

/* Wait until @counter is @n; false when @bound_s passed first. */
static bool wait_until(atomic_uint *counter, unsigned int n, double bound_s)
{
	uint64_t start = now_ns();

	while (atomic_load(counter) < n) {
		if ((double)(now_ns() - start) > bound_s * 1e9)
			return false;
		sleep_s(50e-6);
	}
	return true;
}

static int make_workers(struct lock_run *run, const struct lock_condition *c, struct reason *why)
{
	pthread_attr_t attr;
	int err = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	for (unsigned int i = 0; i < c->threads && !err; i++) {
		struct worker *w = &run->worker[i];

		w->run = run;
		w->lock = &run->threads[i];
		w->cpu = c->cpus.n ? c->cpus.cpu[i % c->cpus.n] : -1;
		w->made = w->escaped = false;
		w->err = 0;
		w->switches = 0;
		w->spins = 0;
		w->acquire = &run->histograms[2 * i];
		w->handoff = w->acquire + 1;
		histogram_reset(w->acquire);
		histogram_reset(w->handoff);
		w->lock->hooks.acquired = note_acquisition;
		w->lock->hooks.ctx = w;
		err = pthread_create(&w->thread, &attr, work, w);
		w->made = !err;
		if (err)
			reason_set(why, err, "cannot make thread %u of %u: %s (see ulimit -u, and pids.max of the control group)", i + 1, c->threads,
				   strerror(err));
	}
	pthread_attr_destroy(&attr);
	return -err;
}

static int first_error(struct lock_run *run, unsigned int n, struct reason *why)
{
	for (unsigned int i = 0; i < n; i++)
		if (run->worker[i].err)
			return reason_set(why, -run->worker[i].err, run->fifo ? "thread %u: cannot run as SCHED_FIFO on CPU %d: %s" :
					  "thread %u: cannot run on CPU %d: %s", i + 1, run->worker[i].cpu, strerror(-run->worker[i].err));
	return 0;
}

/* After `stop`: let the threads leave, then take those that wait out of their loops. */
static int end_workers(struct lock_run *run, unsigned int n, struct reason *why)
{
	uint64_t start = now_ns();
	bool done = wait_until(&run->ended, n, GRACE_S);

	while (!done && (double)(now_ns() - start) < END_BOUND_S * 1e9) {
		for (unsigned int i = 0; i < n; i++)
			if (run->worker[i].made)
				pthread_kill(run->worker[i].thread, ESCAPE_SIGNAL);
		done = wait_until(&run->ended, n, KICK_S);
	}
	if (!done)
		return reason_set(why, ETIMEDOUT, "%u of %u threads did not end within %.0f s", n - atomic_load(&run->ended), n, END_BOUND_S);
	for (unsigned int i = 0; i < n; i++)
		if (run->worker[i].made)
			pthread_join(run->worker[i].thread, NULL);
	return 0;
}

/* Mutual exclusion: the count kept under the lock against the threads' own. A thread taken out may have counted on one side only. */
static int verify(struct lock_run *run, const struct lock_pair *p, unsigned int n, struct reason *why)
{
	uint64_t sum = 0, escaped = 0;

	for (unsigned int i = 0; i < n; i++) {
		sum += atomic_load(&run->threads[i].acquired);
		escaped += run->worker[i].escaped;
	}
	if (run->shared->guard >= sum && run->shared->guard - sum <= escaped)
		return 0;
	return reason_set(why, EPROTO, "%s with %s does not exclude: %llu acquisitions were counted by the threads, %llu under the lock", p->lock, p->hint,
			  (unsigned long long)sum, (unsigned long long)run->shared->guard);
}

struct window {
	double seconds, overlap;
};

/* Run one window; counts of each thread into @per_thread. */
static int run_window(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c, bool counted, double window_s, uint64_t *per_thread,
		      struct window *w, struct reason *why)
{
	uint64_t from, to, begin = UINT64_MAX, end = 0;
	unsigned int n = c->threads, made = 0;
	int err = lock_prepare(p, run->shared, run->threads, n), status;

	if (err)
		return reason_set(why, err, "cannot initialise %s: %s", p->lock, strerror(err));
	run->loop = counted ? p->run_counted : p->run;
	run->fifo = c->fifo;
	run->shared->cs_iters = c->cs_iters;
	run->shared->think_iters = c->think_iters;
	run->shared->cs_lines = c->cs_lines;
	run->ready = run->running = run->ended = run->go = run->abandon = 0;
	err = make_workers(run, c, why);
	for (unsigned int i = 0; i < n; i++)
		made += run->worker[i].made;
	if (!err && !wait_until(&run->ready, n, START_BOUND_S))
		err = reason_set(why, ETIMEDOUT, "%u threads were not ready within %.0f s", n, START_BOUND_S);
	if (!err)
		err = first_error(run, n, why);
	atomic_store(&run->abandon, err != 0);
	atomic_store(&run->go, 1);
	if (!err && !wait_until(&run->running, n, START_BOUND_S))
		err = reason_set(why, ETIMEDOUT, "%u of %u threads came to run within %.0f s", atomic_load(&run->running), n, START_BOUND_S);
	if (!err) {
		sleep_s(SETTLE_S);
		from = now_ns();
		for (unsigned int i = 0; i < n; i++)
			per_thread[i] = atomic_load_explicit(&run->threads[i].acquired, memory_order_relaxed);
		sleep_s(window_s);
		to = now_ns();
		for (unsigned int i = 0; i < n; i++)
			per_thread[i] = atomic_load_explicit(&run->threads[i].acquired, memory_order_relaxed) - per_thread[i];
		w->seconds = (double)(to - from) * 1e-9;
	}
	atomic_store(&run->shared->stop, 1);
	status = end_workers(run, made, err ? NULL : why);
	p->destroy(run->shared);
	if (err || status)
		return err ? err : status;
	for (unsigned int i = 0; i < n; i++) {
		begin = run->worker[i].begin_ns < begin ? run->worker[i].begin_ns : begin;
		end = run->worker[i].end_ns > end ? run->worker[i].end_ns : end;
	}
	w->overlap = end > begin ? w->seconds / ((double)(end - begin) * 1e-9) : 1;
	return verify(run, p, n, why);
}

/* Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2); 1 is fair, 1/n is one thread taking all. */
static void fairness(const uint64_t *x, unsigned int n, struct value *values)
{
	double sum = 0, squares = 0, min = INFINITY, max = 0;

	for (unsigned int i = 0; i < n; i++) {
		double v = (double)x[i];

		sum += v;
		squares += v * v;
		min = fmin(min, v);
		max = fmax(max, v);
	}
	if (sum <= 0) {
		values[LOCK_VALUE_JAIN] = values[LOCK_VALUE_MIN_SHARE] = values[LOCK_VALUE_MAX_SHARE] = value_missing("nobody got the lock in the window");
		return;
	}
	values[LOCK_VALUE_JAIN] = value_of(sum * sum / (n * squares));
	values[LOCK_VALUE_MIN_SHARE] = value_of(min / sum);
	values[LOCK_VALUE_MAX_SHARE] = value_of(max / sum);
}

static void latencies(struct lock_run *run, unsigned int n, bool spins_counted, struct value *values)
{
	double ns_per_tick = run->meters->ticks_usable ? 1 / run->meters->ticks_per_ns : NAN;
	const char *why = run->meters->ticks_usable ? NULL : run->meters->ticks_why;
	static const struct { enum lock_value value; double q; } quantile[] = {
		{ LOCK_VALUE_P50, 0.5 }, { LOCK_VALUE_P99, 0.99 }, { LOCK_VALUE_P999, 0.999 }, { LOCK_VALUE_MAX, 1 },
	};
	double spins = 0;

	histogram_reset(&run->acquire);
	histogram_reset(&run->handoff);
	for (unsigned int i = 0; i < n; i++) {
		spins += (double)run->worker[i].spins;
		histogram_merge(&run->acquire, run->worker[i].acquire);
		histogram_merge(&run->handoff, run->worker[i].handoff);
	}
	if (!run->acquire.count && !why)
		why = "nobody got the lock in the window";
	for (size_t i = 0; i < ARRAY_SIZE(quantile); i++)
		values[quantile[i].value] = why ? value_missing(why) : value_of(histogram_quantile(&run->acquire, quantile[i].q) * ns_per_tick);
	if (!why && !run->handoff.count)
		values[LOCK_VALUE_HANDOFF] = value_missing("the lock never went from one thread to another");
	else
		values[LOCK_VALUE_HANDOFF] = why ? value_missing(why) : value_of(histogram_quantile(&run->handoff, 0.5) * ns_per_tick);
	if (!spins_counted)
		values[LOCK_VALUE_SPINS] = value_missing("the wait loop is the C library's");
	else
		values[LOCK_VALUE_SPINS] = run->acquire.count ? value_of(spins / (double)run->acquire.count) : value_missing("nobody got the lock in the window");
}

int lock_run_trial(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c, struct value *values, uint64_t *per_thread,
		   struct reason *why)
{
	struct sigaction action = { .sa_handler = escape }, old;
	uint64_t *ignored;
	struct window w = { 0 }, w_counted = { 0 };
	double sum = 0;
	long switches = 0;
	int err;

	if (!c->threads || c->threads > run->room)
		return reason_set(why, EINVAL, "%u threads: this run was opened for 1 to %u", c->threads, run->room);
	sigaction(ESCAPE_SIGNAL, &action, &old);
	err = run_window(run, p, c, false, c->window_s, per_thread, &w, why);
	for (unsigned int i = 0; i < c->threads && !err; i++) {
		sum += (double)per_thread[i];
		switches += run->worker[i].switches;
	}
	if (!err) {
		ignored = util_calloc(c->threads, sizeof(*ignored));
		err = run_window(run, p, c, true, c->window_s / 2, ignored, &w_counted, why);
		free(ignored);
	}
	sigaction(ESCAPE_SIGNAL, &old, NULL);
	if (err)
		return err;
	values[LOCK_VALUE_RATE] = value_of(sum / w.seconds);
	values[LOCK_VALUE_SWITCHES] = value_of((double)switches / w.seconds);
	values[LOCK_VALUE_OVERLAP] = value_of(w.overlap);
	fairness(per_thread, c->threads, values);
	latencies(run, c->threads, strcmp(p->hint, "library") != 0, values);
	return 0;
}

struct lock_run *lock_run_open(const struct meters *m, unsigned int threads, struct reason *why)
{
	struct lock_run *run = util_calloc(1, sizeof(*run));
	void *shared = NULL, *array = NULL;

	run->meters = m;
	run->room = threads;
	if (threads > LOCK_THREADS_MAX || posix_memalign(&shared, 4096, sizeof(struct lock_shared)) ||
	    posix_memalign(&array, 4096, threads * sizeof(struct lock_thread))) {
		reason_set(why, ENOMEM, "no memory for %u threads (at most %d)", threads, LOCK_THREADS_MAX);
		free(shared);
		free(run);
		return NULL;
	}
	run->shared = memset(shared, 0, sizeof(struct lock_shared));
	run->threads = memset(array, 0, threads * sizeof(struct lock_thread));
	run->worker = util_calloc(threads, sizeof(*run->worker));
	run->histograms = util_calloc(2 * (size_t)threads, sizeof(*run->histograms));
	return run;
}

void lock_run_close(struct lock_run *run)
{
	if (!run)
		return;
	free(run->shared);
	free(run->threads);
	free(run->worker);
	free(run->histograms);
	free(run);
}

double lock_run_idle_ns(uint64_t iters)
{
	double x[9];

	for (size_t i = 0; i < ARRAY_SIZE(x); i++) {
		uint64_t start = now_ns();

		for (int k = 0; k < 1000; k++)
			lock_idle(iters);
		x[i] = (double)(now_ns() - start) / 1000;
	}
	return stats_median(x, ARRAY_SIZE(x));
}

uint64_t lock_run_idle_iters(double ns)
{
	double one = (lock_run_idle_ns(2000) - lock_run_idle_ns(1000)) / 1000;

	return one > 0 ? (uint64_t)llround(ns / one) : 0;
}
