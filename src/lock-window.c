/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One window of contention. All threads are made, pinned and waiting before any starts; the window is cut out of the
 * time in which all of them run; counts are taken from the threads' own lines at its two ends. Whoever still waits for
 * the lock after the window is taken out of its wait loop by a signal, so that queue locks with preempted waiters end
 * in time although the loop itself looks at nothing but the lock.
 */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock-private.h"

#define SETTLE_S 0.001		/* between the start of the last thread and the window */
#define START_BOUND_S 10.0	/* all threads must be running by then */
#define GRACE_S 0.02		/* to leave by themselves after the window */
#define LIBRARY_GRACE_S 2.0	/* the same where a jump would leave a lock of the C library half taken */
#define KICK_S 0.01		/* between two signals to one thread */
#define END_BOUND_S 10.0	/* after that the trial has failed */
#define SLICE_S 0.05		/* between two looks for an interrupt */
#define ESCAPE_SIGNAL SIGUSR2
#define THREAD_STACK (256 * 1024)

static _Thread_local struct worker *this_worker;

static void escape(int sig)
{
	struct worker *w = this_worker;

	(void)sig;
	if (w)
		siglongjmp(w->escape, 1);
}

uint64_t lock_now_ns(void)
{
	return util_clock_ns(CLOCK_MONOTONIC);
}

static double since_s(uint64_t start_ns)
{
	return (double)(lock_now_ns() - start_ns) * 1e-9;
}

static void sleep_s(double s)
{
	struct timespec t = { .tv_sec = (time_t)s, .tv_nsec = (long)((s - floor(s)) * 1e9) };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t) == EINTR)
		;
}

/* False: a signal asked for the end. */
static bool sleep_window(const struct lock_condition *c, double s)
{
	uint64_t start = lock_now_ns();

	for (double left = s; left > 0; left = s - since_s(start)) {
		sleep_s(fmin(left, SLICE_S));
		if (c->interrupted && c->interrupted())
			return false;
	}
	return true;
}

static void note_acquisition(void *ctx, const struct lock_event *event)
{
	struct worker *w = ctx;

	histogram_add(w->acquire, (int64_t)(event->after - event->before));
	if (event->handed_over)
		histogram_add(w->handoff, (int64_t)(event->after - event->released));
	histogram_add(w->held, (int64_t)event->held);
	if (event->thought)
		histogram_add(w->thought, (int64_t)event->thought);
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

/*
 * The start line: asleep until all are made, then, having come to run, each lets the others come too. Those that share
 * a CPU would otherwise start a whole time slice apart. False: the window does not take place.
 */
static bool wait_for_start(struct lock_run *run)
{
	atomic_fetch_add(&run->ready, 1);
	while (!atomic_load(&run->go))
		syscall(SYS_futex, &run->go, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
	if (atomic_load(&run->abandon))
		return false;
	atomic_fetch_add(&run->running, 1);
	while (atomic_load(&run->running) < run->starters && !atomic_load(&run->abandon))
		sched_yield();
	return !atomic_load(&run->abandon);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	struct lock_run *run = w->run;
	struct rusage before, after;

	w->err = prepare_worker(w);
	if (!wait_for_start(run))
		goto out;
	getrusage(RUSAGE_THREAD, &before);
	w->begin_ns = lock_now_ns();
	if (!sigsetjmp(w->escape, 1)) {
		this_worker = w;
		w->loop(run->shared, w->lock);
		this_worker = NULL;
	} else {
		this_worker = NULL;
		w->escaped = true;
	}
	w->end_ns = lock_now_ns();
	getrusage(RUSAGE_THREAD, &after);
	w->preempted = after.ru_nivcsw - before.ru_nivcsw;
	w->switches = w->preempted + after.ru_nvcsw - before.ru_nvcsw;
out:
	atomic_fetch_add(&run->ended, 1);
	return NULL;
}

/* Wait until @counter is @n; false when @bound_s passed first. */
static bool wait_until(atomic_uint *counter, unsigned int n, double bound_s)
{
	uint64_t start = lock_now_ns();

	while (atomic_load(counter) < n) {
		if (since_s(start) > bound_s)
			return false;
		sleep_s(50e-6);
	}
	return true;
}

static void reset_worker(struct lock_run *run, unsigned int i)
{
	struct worker *w = &run->worker[i];

	w->run = run;
	w->lock = &run->threads[i];
	w->made = w->escaped = false;
	w->err = 0;
	w->begin_ns = w->end_ns = 0;
	w->switches = w->preempted = 0;
	w->spins = 0;
	w->acquire = &run->histograms[WORKER_HISTOGRAMS * i];
	w->handoff = w->acquire + 1;
	w->held = w->acquire + 2;
	w->thought = w->acquire + 3;
	for (int h = 0; h < WORKER_HISTOGRAMS; h++)
		if (w->acquire[h].count)	/* a page that was never written stays unused */
			histogram_reset(&w->acquire[h]);
	w->lock->hooks.acquired = note_acquisition;
	w->lock->hooks.ctx = w;
}

/*
 * Start the threads: all signals but ours stay with the thread that called. Returns how many were made; less than @n:
 * @err.
 */
static unsigned int make_workers(struct lock_run *run, unsigned int n, int *err)
{
	unsigned int made = 0;
	pthread_attr_t attr;
	sigset_t ours, old;

	sigfillset(&ours);
	sigdelset(&ours, ESCAPE_SIGNAL);
	pthread_sigmask(SIG_SETMASK, &ours, &old);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, THREAD_STACK);
	for (*err = 0; made < n && !*err; made += !*err) {
		*err = pthread_create(&run->worker[made].thread, &attr, work, &run->worker[made]);
		run->worker[made].made = !*err;
	}
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return made;
}

static int first_error(struct lock_run *run, unsigned int n, struct reason *why)
{
	for (unsigned int i = 0; i < n; i++)
		if (run->worker[i].err)
			return reason_set(why, -run->worker[i].err,
					  run->fifo ? "thread %u: cannot run as SCHED_FIFO on CPU %d: %s"
						    : "thread %u: cannot run on CPU %d: %s",
					  i + 1, run->worker[i].cpu, strerror(-run->worker[i].err));
	return 0;
}

/* All made, ready and running, or a reason; then those that are there are told to go home. */
static int start_workers(struct lock_run *run, unsigned int n, unsigned int *made, struct reason *why)
{
	int err;

	run->ready = run->running = run->ended = run->go = run->abandon = 0;
	run->starters = n;
	for (unsigned int i = 0; i < n; i++)
		reset_worker(run, i);
	*made = make_workers(run, n, &err);
	if (err)
		err = reason_set(why, err,
				 "cannot make thread %u of %u: %s (see ulimit -u, and pids.max of the control group)",
				 *made + 1, n, strerror(err));
	else if (!wait_until(&run->ready, n, START_BOUND_S))
		err = reason_set(why, ETIMEDOUT, "only %u of %u threads were ready within %.0f s",
				 atomic_load(&run->ready), n, START_BOUND_S);
	else
		err = first_error(run, n, why);
	atomic_store(&run->abandon, err != 0);
	atomic_store(&run->go, 1);
	syscall(SYS_futex, &run->go, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
	if (!err && !wait_until(&run->running, n, START_BOUND_S)) {
		err = reason_set(why, ETIMEDOUT, "only %u of %u threads came to run within %.0f s",
				 atomic_load(&run->running), n, START_BOUND_S);
		atomic_store(&run->abandon, 1);
	}
	return err;
}

/* After `stop`: let the threads leave, then take those that wait out of their loops. */
static int end_workers(struct lock_run *run, unsigned int n, double grace_s, struct reason *why)
{
	bool done = wait_until(&run->ended, n, grace_s);
	uint64_t start = lock_now_ns();

	while (!done && since_s(start) < END_BOUND_S) {
		for (unsigned int i = 0; i < n; i++)
			pthread_kill(run->worker[i].thread, ESCAPE_SIGNAL);
		done = wait_until(&run->ended, n, KICK_S);
	}
	if (!done) {
		run->lost = true;
		return reason_set(why, ETIMEDOUT, "%u of %u threads did not end within %.0f s",
				  n - atomic_load(&run->ended), n, END_BOUND_S);
	}
	for (unsigned int i = 0; i < n; i++)
		pthread_join(run->worker[i].thread, NULL);
	return 0;
}

/*
 * Mutual exclusion: the count kept under the lock against the threads' own. A thread taken out may have counted on one
 * side only.
 */
static int verify(struct lock_run *run, const struct lock_pair *p, unsigned int n, struct reason *why)
{
	uint64_t sum = 0, escaped = 0, guard = run->shared->guard;
	/* of those the guard holds what each counted for itself; that they alternated is to be shown */
	bool turns = !p->take;
	bool good;

	for (unsigned int i = 0; i < n; i++) {
		sum += atomic_load(&run->threads[i].acquired);
		escaped += run->worker[i].escaped;
	}
	if (turns) {
		uint64_t a = run->threads[0].acquired, b = run->threads[1].acquired;

		good = (a > b ? a - b : b - a) <= 1 && (escaped || guard == sum);
	} else {
		good = guard >= sum && guard - sum <= escaped;
	}
	if (good)
		return 0;
	return reason_set(
		why, EPROTO,
		"%s with %s does not exclude: %llu acquisitions were counted by the threads, %llu under the lock",
		p->lock, p->hint, (unsigned long long)sum, (unsigned long long)guard);
}

static void read_counts(const struct lock_run *run, unsigned int n, uint64_t *counts)
{
	for (unsigned int i = 0; i < n; i++)
		counts[i] = atomic_load_explicit(&run->threads[i].acquired, memory_order_relaxed);
}

/* The window itself: counts at its two ends. */
static int measure(struct lock_run *run, const struct lock_condition *c, unsigned int n, double window_s,
		   uint64_t *per_thread, struct window *w)
{
	uint64_t from, to, before;

	if (!sleep_window(c, SETTLE_S))
		return -EINTR;
	from = lock_now_ns();
	read_counts(run, n, per_thread);
	if (!sleep_window(c, window_s))
		return -EINTR;
	to = lock_now_ns();
	for (unsigned int i = 0; i < n; i++) {
		before = per_thread[i];
		per_thread[i] = atomic_load_explicit(&run->threads[i].acquired, memory_order_relaxed) - before;
	}
	w->seconds = (double)(to - from) * 1e-9;
	return 0;
}

int lock_window(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c, unsigned int n,
		double window_s, enum window_kind kind, uint64_t *per_thread, struct window *w, struct reason *why)
{
	struct sigaction action = { .sa_handler = escape }, old;
	uint64_t begin = UINT64_MAX, end = 0;
	bool hold = kind == WINDOW_HELD;
	unsigned int made;
	int err = lock_prepare(p, run->shared, run->threads, n + hold), status;

	if (err)
		return reason_set(why, err, "cannot initialise %s: %s", p->lock, strerror(err));
	run->fifo = c->fifo;
	run->shared->cs_iters = c->cs_iters;
	run->shared->think_iters = c->think_iters;
	run->shared->cs_lines = c->cs_lines;
	sigaction(ESCAPE_SIGNAL, &action, &old);
	if (hold)
		p->take(run->shared, &run->threads[n]);
	err = start_workers(run, n, &made, why);
	if (!err)
		err = measure(run, c, n, window_s, per_thread, w);
	atomic_store(&run->shared->stop, 1);
	if (hold)
		p->give(run->shared, &run->threads[n]);
	status = end_workers(run, made, !strcmp(p->hint, "library") ? LIBRARY_GRACE_S : GRACE_S, err ? NULL : why);
	if (run->lost)
		return err ? err : status;	/* the handler stays: they may still come to it */
	sigaction(ESCAPE_SIGNAL, &old, NULL);
	p->destroy(run->shared);
	if (err)
		return err;
	for (unsigned int i = 0; i < n; i++) {
		begin = run->worker[i].begin_ns < begin ? run->worker[i].begin_ns : begin;
		end = run->worker[i].end_ns > end ? run->worker[i].end_ns : end;
		run->preempted = run->preempted || run->worker[i].preempted;
	}
	w->run_s = end > begin ? (double)(end - begin) * 1e-9 : w->seconds;
	return kind == WINDOW_CONTEND ? verify(run, p, n, why) : 0;
}
