/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The algorithms. Each acquire function takes the hint as a function that is always inlined, so that a pair of the two
 * is one loop without a call. Memory orders are the weakest that the algorithm needs: acquire on getting the lock,
 * release on giving it away.
 */
#ifndef PERF_RELAX_SPIN_LOCK_H
#define PERF_RELAX_SPIN_LOCK_H

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The hint of a pair: one pass of the wait loop. @watched: the line waited for, for hints that monitor one. */
typedef void lock_relax_fn(void *watched, uint64_t *spins);

#define BACKOFF_MIN 4
#define BACKOFF_MAX 1024		/* hints; about 10 to 40 us of pause */
#define TICKET_BACKOFF 8		/* hints for each waiter ahead: about the time of a short critical section */
#define PARK_SPINS 100			/* as glibc.pthread.mutex_spin_count */

#define load(p)			atomic_load_explicit(p, memory_order_relaxed)
#define load_acquire(p)		atomic_load_explicit(p, memory_order_acquire)
#define store(p, v)		atomic_store_explicit(p, v, memory_order_relaxed)
#define store_release(p, v)	atomic_store_explicit(p, v, memory_order_release)
#define swap_acquire(p, v)	atomic_exchange_explicit(p, v, memory_order_acquire)

ALWAYS_INLINE void acquire_tas(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	(void)t;
	while (swap_acquire(&s->lock.word, 1))
		relax(&s->lock, spins);
}

ALWAYS_INLINE void release_tas(struct lock_shared *s, struct lock_thread *t)
{
	(void)t;
	store_release(&s->lock.word, 0);
}

ALWAYS_INLINE void acquire_ttas(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	(void)t;
	while (__builtin_expect(swap_acquire(&s->lock.word, 1) != 0, 0))
		while (load(&s->lock.word))
			relax(&s->lock, spins);
}

ALWAYS_INLINE void release_ttas(struct lock_shared *s, struct lock_thread *t)
{
	release_tas(s, t);
}

/* Bounded exponential back-off (Anderson 1990, Mellor-Crummey and Scott 1991, section 2.1). */
ALWAYS_INLINE void acquire_ttas_backoff(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax,
					uint64_t *spins)
{
	unsigned int wait = BACKOFF_MIN;

	(void)t;
	while (__builtin_expect(swap_acquire(&s->lock.word, 1) != 0, 0)) {
		for (unsigned int i = 0; i < wait; i++)
			relax(&s->lock, spins);
		if (wait < BACKOFF_MAX)
			wait *= 2;
		while (load(&s->lock.word))
			relax(&s->lock, spins);
	}
}

ALWAYS_INLINE void release_ttas_backoff(struct lock_shared *s, struct lock_thread *t)
{
	release_tas(s, t);
}

ALWAYS_INLINE void acquire_ticket(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	unsigned int mine = atomic_fetch_add_explicit(&s->lock.ticket.next, 1, memory_order_relaxed);

	while (load_acquire(&s->lock.ticket.owner) != mine)
		relax(&s->lock, spins);
	t->ticket = mine;
}

/* The holder's number is known without a look at the lock's line, which a newcomer may just have taken away. */
ALWAYS_INLINE void release_ticket(struct lock_shared *s, struct lock_thread *t)
{
	store_release(&s->lock.ticket.owner, t->ticket + 1);
}

/* Back-off in proportion to the number of waiters ahead (Mellor-Crummey and Scott 1991, section 2.2). */
ALWAYS_INLINE void acquire_ticket_backoff(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax,
					  uint64_t *spins)
{
	unsigned int mine = atomic_fetch_add_explicit(&s->lock.ticket.next, 1, memory_order_relaxed), ahead;

	while ((ahead = mine - load_acquire(&s->lock.ticket.owner)) != 0)
		for (unsigned int i = 0; i < ahead * TICKET_BACKOFF; i++)
			relax(&s->lock, spins);
	t->ticket = mine;
}

ALWAYS_INLINE void release_ticket_backoff(struct lock_shared *s, struct lock_thread *t)
{
	release_ticket(s, t);
}

/* Mellor-Crummey and Scott 1991, algorithm 5. */
ALWAYS_INLINE void acquire_mcs(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	struct lock_node *node = &t->node, *before;

	store(&node->next, NULL);
	before = atomic_exchange_explicit(&s->lock.tail, node, memory_order_acq_rel);
	if (!before)
		return;
	store(&node->wait, 1);
	store_release(&before->next, node);
	while (load_acquire(&node->wait))
		relax(node, spins);
}

/*
 * A successor that has swapped itself in but not linked itself yet is waited for without a hint: it is a few
 * instructions away.
 */
ALWAYS_INLINE void release_mcs(struct lock_shared *s, struct lock_thread *t)
{
	struct lock_node *node = &t->node, *after = load_acquire(&node->next), *expected = node;

	if (!after) {
		if (atomic_compare_exchange_strong_explicit(&s->lock.tail, &expected, NULL, memory_order_release,
							    memory_order_relaxed))
			return;
		while (!(after = load_acquire(&node->next)))
			;
	}
	store_release(&after->wait, 0);
}

/* Craig 1993; Magnusson, Landin and Hagersten 1994. The thread takes its predecessor's node for the next time. */
ALWAYS_INLINE void acquire_clh(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	struct lock_node *before;

	store(&t->mine->wait, 1);
	before = atomic_exchange_explicit(&s->lock.tail, t->mine, memory_order_acq_rel);
	store(&t->mine->next, before);
	while (load_acquire(&before->wait))
		relax(before, spins);
}

ALWAYS_INLINE void release_clh(struct lock_shared *s, struct lock_thread *t)
{
	struct lock_node *before = load(&t->mine->next);

	(void)s;
	store_release(&t->mine->wait, 0);
	t->mine = before;
}

/*
 * The kernel's queued spin lock: a byte for the lock, a bit for one pending waiter, and the tail of an MCS queue in one
 * word. Here the tail is the thread's index + 1. The word is only ever changed as a whole or by its low byte, as in the
 * kernel; _Q_PENDING_BITS is 8.
 */
#define Q_LOCKED	0x1u
#define Q_PENDING	0x100u
#define Q_LOCKED_MASK	0xffu
#define Q_LOW_MASK	0xffffu		/* locked and pending */
#define Q_TAIL_SHIFT	16
/* How often to look for the end of a pending waiter's taking the lock: _Q_PENDING_LOOPS of the kernel. */
#if defined(__x86_64__) || defined(__i386__)
#define Q_PENDING_LOOPS	512
#else
#define Q_PENDING_LOOPS	1
#endif

/* The whole of the slow path's queue, from the moment that the pending bit is not to be had. */
ALWAYS_INLINE void queue_qspin(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	unsigned int tail = (t->index + 1) << Q_TAIL_SHIFT, expected = 0, val, old;
	struct lock_node *node = &t->node, *next;
	atomic_uint *word = &s->lock.word;

	store(&node->wait, 1);
	store(&node->next, NULL);
	/* It may have become free meanwhile. */
	if (!load(word) && atomic_compare_exchange_strong_explicit(word, &expected, Q_LOCKED, memory_order_acquire,
								   memory_order_relaxed))
		return;
	old = load(word);
	while (!atomic_compare_exchange_weak_explicit(word, &old, (old & Q_LOW_MASK) | tail, memory_order_acq_rel,
						      memory_order_relaxed))
		;
	if (old >> Q_TAIL_SHIFT) {
		store_release(&s->threads[(old >> Q_TAIL_SHIFT) - 1].node.next, node);
		while (load_acquire(&node->wait))
			relax(node, spins);
	}
	while ((val = load_acquire(word)) & Q_LOW_MASK)
		relax(&s->lock, spins);
	/*
	 * Head of the queue. Alone in it: the tail goes too, but only if the word is nothing but the tail. When
	 * somebody has just set the pending bit, it is theirs to take back (clearing it here as well would clear the
	 * next waiter's); they have seen the tail and queue behind us, so a successor comes.
	 */
	if (val == tail &&
	    atomic_compare_exchange_strong_explicit(word, &val, Q_LOCKED, memory_order_acquire, memory_order_relaxed))
		return;
	atomic_fetch_or_explicit(word, Q_LOCKED, memory_order_acquire);
	while (!(next = load_acquire(&node->next)))
		relax(node, spins);
	store_release(&next->wait, 0);
}

ALWAYS_INLINE void acquire_qspin(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax, uint64_t *spins)
{
	unsigned int val = 0;
	atomic_uint *word = &s->lock.word;

	if (__builtin_expect(atomic_compare_exchange_strong_explicit(word, &val, Q_LOCKED, memory_order_acquire,
								     memory_order_relaxed),
			     1))
		return;
	/* The pending waiter is taking the lock this instant: wait for that, for a while. */
	for (unsigned int i = 0; val == Q_PENDING && i < Q_PENDING_LOOPS; i++) {
		relax(&s->lock, spins);
		val = load(word);
	}
	if (!(val & ~Q_LOCKED_MASK)) {
		val = atomic_fetch_or_explicit(word, Q_PENDING, memory_order_acquire);
		if (!(val & ~Q_LOCKED_MASK)) {
			while (load_acquire(word) & Q_LOCKED_MASK)
				relax(&s->lock, spins);
			/* pending -> locked: nobody else changes these two while both are as they are */
			atomic_fetch_add_explicit(word, Q_LOCKED - Q_PENDING, memory_order_relaxed);
			return;
		}
		if (!(val & Q_PENDING))		/* it was us who set it, and somebody queues: take it back */
			atomic_fetch_and_explicit(word, ~Q_PENDING, memory_order_relaxed);
	}
	queue_qspin(s, t, relax, spins);
}

ALWAYS_INLINE void release_qspin(struct lock_shared *s, struct lock_thread *t)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	unsigned char *locked = (unsigned char *)&s->lock.word;
#else
	unsigned char *locked = (unsigned char *)&s->lock.word + 3;
#endif
	(void)t;
	__atomic_store_n(locked, 0, __ATOMIC_RELEASE);
}

/* Drepper, "Futexes Are Tricky", mutex 2 (0 free, 1 held, 2 held and somebody may sleep), after a bounded spin. */
ALWAYS_INLINE void acquire_spin_park(struct lock_shared *s, struct lock_thread *t, lock_relax_fn *relax,
				     uint64_t *spins)
{
	unsigned int expected = 0;

	(void)t;
	if (__builtin_expect(atomic_compare_exchange_strong_explicit(&s->lock.word, &expected, 1, memory_order_acquire,
								     memory_order_relaxed),
			     1))
		return;
	for (unsigned int i = 0; i < PARK_SPINS; i++) {
		relax(&s->lock, spins);
		expected = 0;
		if (!load(&s->lock.word) &&
		    atomic_compare_exchange_strong_explicit(&s->lock.word, &expected, 1, memory_order_acquire,
							    memory_order_relaxed))
			return;
	}
	while (swap_acquire(&s->lock.word, 2))
		syscall(SYS_futex, &s->lock.word, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

ALWAYS_INLINE void release_spin_park(struct lock_shared *s, struct lock_thread *t)
{
	(void)t;
	if (atomic_exchange_explicit(&s->lock.word, 0, memory_order_release) == 2)
		syscall(SYS_futex, &s->lock.word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
