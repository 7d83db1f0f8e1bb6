/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spin locks whose wait loop contains a hint chosen at run time: one specialised loop for each (lock, hint) pair, so
 * that the choice costs nothing inside. Like all probes, these know nothing of time, statistics or output.
 */
#ifndef PERF_RELAX_LOCK_H
#define PERF_RELAX_LOCK_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOCK_LINE 128		/* two cache lines: adjacent-line prefetchers pair them */
#define LOCK_THREADS_MAX 4096
#define LOCK_CS_LINES_MAX 64

/*
 * X(ident, "name", extra, "summary"): the algorithms with a wait loop of ours. @extra is passed on, so that the list
 * can be expanded inside another one (each hint).
 */
#define SPIN_LOCKS(X, extra) \
	X(tas, "tas", extra, "test-and-set: swaps until it gets 0") \
	X(ttas, "ttas", extra, "test-and-test-and-set: reads until it sees 0, then swaps") \
	X(ttas_backoff, "ttas-backoff", extra, "ttas, waiting twice as long after each failed swap, up to 1024 hints") \
	X(ticket, "ticket", extra, "ticket: first come, first served") \
	X(ticket_backoff, "ticket-backoff", extra, "ticket, waiting in proportion to the distance from the head") \
	X(mcs, "mcs", extra, "Mellor-Crummey and Scott's queue: each waiter spins on its own line") \
	X(clh, "clh", extra, "Craig, Landin and Hagersten's queue: each waiter spins on its predecessor's line") \
	X(qspin, "qspin", extra, "the queued spin lock of Linux (kernel/locking/qspinlock.c), with threads for CPUs") \
	X(spin_park, "spin-park", extra, "100 hints, then sleeping on a futex")

/* Those whose wait loop is the C library's: no hint of ours is in them. */
#define LIBRARY_LOCKS(X) \
	X(pthread_spin, "pthread-spin", "pthread_spin_lock(3)") \
	X(pthread_mutex, "pthread-mutex", "pthread_mutex_lock(3), normal: sleeps at once") \
	X(pthread_adaptive, "pthread-adaptive", "pthread_mutex_lock(3), adaptive: spins, then sleeps")

/* A queue node: one for each thread (two for clh, which trades them). */
struct lock_node {
	_Alignas(LOCK_LINE) _Atomic(struct lock_node *) next;
	atomic_uint wait;
};

/* What the threads share. Every field that is written by one party only has a line of its own. */
struct lock_shared {
	_Alignas(LOCK_LINE) union {
		atomic_uint word;			/* tas, ttas, qspin, spin-park */
		struct { atomic_uint next, owner; } ticket;
		_Atomic(struct lock_node *) tail;	/* mcs, clh */
		pthread_spinlock_t spin;
		pthread_mutex_t mutex;
	} lock;
	/* changed only under the lock: must match the sum of the threads' counts */
	_Alignas(LOCK_LINE) uint64_t guard;
	/* likewise, by the counting loops only: who released last, and when */
	unsigned int owner;
	unsigned long long released;
	_Alignas(LOCK_LINE) unsigned char line[LOCK_CS_LINES_MAX][LOCK_LINE];
	/* read by all, written at the ends of a window */
	_Alignas(LOCK_LINE) atomic_uint stop;
	uint64_t cs_iters, think_iters;	/* empty iterations inside and outside the lock */
	unsigned int cs_lines;		/* lines touched inside */
	struct lock_thread *threads;	/* all of them, for qspin's tail */
	void *chase;			/* for lock_victim_memory() */
	struct lock_node first;		/* clh's first predecessor */
};

/* What the counting loops tell of one acquisition, in readings of the architecture's counter. */
struct lock_event {
	unsigned long long before, after;	/* asked for the lock, got it */
	uint64_t spins;				/* passes of the wait loop */
	bool handed_over;			/* it came from another thread, that released it at `released` */
	unsigned long long released;
	/* length of the critical section; of the work outside before it, 0: none yet */
	unsigned long long held, thought;
};

/* Called by the counting loops after each release; see lock_pair.run_counted. */
struct lock_hooks {
	void (*acquired)(void *ctx, const struct lock_event *event);
	void *ctx;
};

struct lock_thread {
	/* written by the thread, read by others at the ends of a window */
	_Alignas(LOCK_LINE) atomic_ullong acquired;
	_Alignas(LOCK_LINE) struct lock_shared *shared;
	unsigned int index;		/* below LOCK_THREADS_MAX */
	unsigned int ticket;		/* the number drawn, while it has a ticket lock */
	struct lock_node node;
	struct lock_node *mine;		/* clh: the node that is the thread's now */
	struct lock_hooks hooks;	/* for run_counted only */
};

struct lock_pair {
	const char *lock, *hint;	/* hint "library": the C library's own wait loop */
	const char *summary;		/* of the lock */
	/*
	 * Acquire and release until shared->stop. Returns when stopped; nothing but the lock, the work and the count is
	 * in the loop.
	 */
	void (*run)(struct lock_shared *s, struct lock_thread *t);
	/*
	 * The same, reading the architecture's counter around each acquisition and counting the spins (passes of the
	 * wait loop): dearer.
	 */
	void (*run_counted)(struct lock_shared *s, struct lock_thread *t);
	int (*init)(struct lock_shared *s);	/* 0 or an errno */
	void (*destroy)(struct lock_shared *s);
	/* Once, waiting without a hint: for a holder that keeps others waiting. give() on the thread that took it. */
	void (*take)(struct lock_shared *s, struct lock_thread *t);
	void (*give)(struct lock_shared *s, struct lock_thread *t);
};

/* Table: @i from 0; NULL past the end. By hint, then by lock; the library's locks last. */
const struct lock_pair *lock_pair_at(size_t i);
/* NULL: no such pair. Locks of the library have the hint "library" only. */
const struct lock_pair *lock_pair_find(const char *lock, const char *hint);

/*
 * Not a lock: two threads that take turns, each waiting for its own with the hint; nothing but the word of the turn
 * goes between their CPUs. One acquisition is one hand-over from CPU to CPU. run() only, and exactly 2 threads; take
 * and give are NULL. @i from 0, in the order of the hints; NULL past the end.
 */
const struct lock_pair *lock_handoff_at(size_t i);
const struct lock_pair *lock_handoff_find(const char *hint);

/*
 * What may share a core with a spinner; both count blocks in t->acquired until shared->stop. LOCK_VICTIM_ALU_OPS
 * additions and rotations in four independent chains, registers only; LOCK_VICTIM_LOADS dependent loads from
 * shared->chase, a ring of pointers made by lock_victim_ring().
 */
#define LOCK_VICTIM_ALU_OPS 512
#define LOCK_VICTIM_LOADS 16
void lock_victim_alu(struct lock_shared *s, struct lock_thread *t);
void lock_victim_memory(struct lock_shared *s, struct lock_thread *t);
/* Link the first word of every LOCK_LINE of @bytes to another, in one ring of random order (the same each time). */
void lock_victim_ring(void *memory, size_t bytes);

/* @iters empty iterations, as in --cs and --think: for the calibration of their length. */
void lock_idle(uint64_t iters);

/* Set everything to the start state, with @threads of @n threads. 0 or an errno. */
int lock_prepare(const struct lock_pair *p, struct lock_shared *s, struct lock_thread *threads, unsigned int n);

/*
 * Where the hint stands in the text of run(): up to @max places [begin, end), the wait loop's own first. The hint
 * `none` has places with begin == end. Returns how many there are.
 */
struct lock_site {
	const unsigned char *begin, *end;
};
size_t lock_pair_sites(const struct lock_pair *p, struct lock_site *sites, size_t max);

#endif
