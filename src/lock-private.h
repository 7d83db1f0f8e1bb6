/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to lock-*.c: the threads of one window. */
#ifndef PERF_RELAX_LOCK_PRIVATE_H
#define PERF_RELAX_LOCK_PRIVATE_H

#include <setjmp.h>

#include "histogram.h"
#include "lock-run.h"

/* A worker's own things; the parts the lock touches are in struct lock_thread. */
struct worker {
	struct lock_run *run;
	struct lock_thread *lock;
	void (*loop)(struct lock_shared *s, struct lock_thread *t);	/* set before a window */
	int cpu;		/* likewise; -1: not pinned */
	pthread_t thread;
	bool made, escaped;
	int err;		/* of pinning or scheduling class */
	uint64_t begin_ns, end_ns;
	long switches, preempted;	/* context switches; those that it did not ask for */
	struct histogram *acquire, *handoff, *held, *thought;	/* in ticks */
	uint64_t spins;
	sigjmp_buf escape;
};
#define WORKER_HISTOGRAMS 4

struct lock_run {
	const struct meters *meters;
	struct meters counters;			/* of all threads: inherited */
	const char *no_energy;			/* why there is no such counter; NULL: there is */
	struct meter_reading *before, *after;
	struct lock_shared *shared;
	struct lock_thread *threads;		/* one more than there is room for: the holder of WINDOW_HELD */
	struct worker *worker;
	unsigned int room;
	struct histogram merged;
	/* WORKER_HISTOGRAMS for each worker, 58 kB each, touched only where used */
	struct histogram *histograms;
	bool preempted;				/* in this trial, some thread */
	bool lost;				/* threads are still running: nothing may be freed */
	/* one window */
	bool fifo;
	unsigned int starters;
	atomic_uint ready, running, ended, go, abandon;
};

struct window {
	double seconds;		/* from the first look at the counts to the second */
	double run_s;		/* from the first thread's start to the last one's end */
};

enum window_kind {
	WINDOW_CONTEND,		/* all workers count what they also count under the lock: verified */
	WINDOW_ALONE,		/* nobody takes the lock */
	WINDOW_HELD,		/* this thread has the lock all the while, so that who wants it waits */
};

/*
 * Run @n workers for @window_s, their loops and CPUs already set. Counts of each in the window go to @per_thread. 0, or
 * -errno with @why (see lock_run_trial()); -EINTR when c->interrupted says so.
 */
int lock_window(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c, unsigned int n,
		double window_s, enum window_kind kind, uint64_t *per_thread, struct window *w, struct reason *why);

uint64_t lock_now_ns(void);

#endif
