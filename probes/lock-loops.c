/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One loop for each (lock, hint): what stands inside is the lock, the work asked for, the guard and the count; nothing
 * else.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "loop.h"
#include "spin-lock.h"

/*
 * Each place where the hint stands is noted in the section relax_sites as two distances from the note itself, so that
 * no relocation is needed: the wait loop as executed can then be found and decoded. "%=" makes labels unique where a
 * hint stands several times in a loop.
 */
struct site_note {
	int32_t begin, end;
};
extern const struct site_note __start_relax_sites[], __stop_relax_sites[];

#define RELAX_BEGIN ".Lrelax_begin%=:\n\t"
#define RELAX_END "\n.Lrelax_end%=:\n\t" \
	".pushsection relax_sites,\"a\"\n\t.balign 4\n\t" \
	".long .Lrelax_begin%= - .\n\t.long .Lrelax_end%= - . + 4\n\t.popsection"

/* The empty work of --cs and --think: one pass of an empty loop, which no compiler may remove. */
ALWAYS_INLINE void idle(uint64_t iters)
{
	for (; iters; iters--)
		__asm__ volatile("");
}

void lock_idle(uint64_t iters)
{
	idle(iters);
}

/* What is done inside and outside: read once, as the compiler may not keep what is in memory across a hint. */
struct work {
	uint64_t cs_iters, think_iters;
	unsigned int cs_lines;
};

ALWAYS_INLINE struct work work_of(const struct lock_shared *s)
{
	return (struct work){ .cs_iters = s->cs_iters, .think_iters = s->think_iters, .cs_lines = s->cs_lines };
}

ALWAYS_INLINE void critical_section(struct lock_shared *s, const struct work *work)
{
	s->guard++;
	for (unsigned int i = 0; i < work->cs_lines; i++)
		s->line[i][0]++;
	idle(work->cs_iters);
}

ALWAYS_INLINE void count(struct lock_thread *t)
{
	atomic_store_explicit(&t->acquired, atomic_load_explicit(&t->acquired, memory_order_relaxed) + 1,
			      memory_order_relaxed);
}

/* The wait is over: what a hint changed for longer than itself (ppc64: the thread's priority) ends with it. */
#define HINT_RESET() __asm__ volatile(ARCH_HINT_RESET)

/*
 * Ordered on both sides. Without a counter all readings are 0, and whoever measures sees no ticks
 * (meters.ticks_usable).
 */
#define TICKS() (have_ticks ? arch_ticks_begin() : 0)

/* Reading the counter may end the process: under PR_TSC_SIGSEGV, or where the kernel keeps it (arm). Found out once, under a guard. */
static bool have_ticks;

/* Under the lock: when it was got, and from whom. */
ALWAYS_INLINE void got_it(struct lock_shared *s, struct lock_thread *t, struct lock_event *event)
{
	event->after = TICKS();
	event->handed_over = s->owner != t->index && s->released;
	event->released = s->released;
	s->owner = t->index;
}

#define LOOPS(lock, name, hint, summary_text) \
	static PROBE_NOCOPY void run_##lock##_##hint(struct lock_shared *s, struct lock_thread *t) \
	{ \
		const struct work work = work_of(s); \
 \
		while (!load(&s->stop)) { \
			acquire_##lock(s, t, relax_##hint, NULL); \
			HINT_RESET(); \
			critical_section(s, &work); \
			release_##lock(s, t); \
			count(t); \
			idle(work.think_iters); \
		} \
	} \
	static PROBE_NOCOPY void run_counted_##lock##_##hint(struct lock_shared *s, struct lock_thread *t) \
	{ \
		const struct work work = work_of(s); \
		unsigned long long thought = 0; \
 \
		while (!load(&s->stop)) { \
			struct lock_event event = { .before = TICKS(), .thought = thought }; \
 \
			acquire_##lock(s, t, count_##hint, &event.spins); \
			HINT_RESET(); \
			got_it(s, t, &event); \
			critical_section(s, &work); \
			s->released = TICKS(); \
			event.held = s->released - event.after; \
			release_##lock(s, t); \
			count(t); \
			t->hooks.acquired(t->hooks.ctx, &event); \
			thought = TICKS(); \
			idle(work.think_iters); \
			thought = TICKS() - thought; \
		} \
	}

/*
 * Turns. Whoever sees in its turn that time is up says so to the other, hands over for the last time and leaves; so
 * neither can be left waiting. The guard is on another line, and no line but the word's may go between the CPUs here:
 * it gets the sums at the end.
 */
#define HANDOFF(hint) \
	static PROBE_NOCOPY void run_handoff_##hint(struct lock_shared *s, struct lock_thread *t) \
	{ \
		unsigned int me = t->index; \
		bool over; \
 \
		do { \
			while (load_acquire(&s->lock.word) != me) \
				relax_##hint(&s->lock, NULL); \
			HINT_RESET(); \
			if (s->released) \
				break; \
			count(t); \
			over = load(&s->stop); \
			if (over) { \
				s->released = 1; \
				s->guard += load(&t->acquired); \
			} \
			store_release(&s->lock.word, !me); \
			if (over) \
				return; \
		} while (true); \
		s->guard += load(&t->acquired); \
	}

/* The hint itself, without and with a count of the passes; then all loops with it. */
#define X(ident, name, need, effect, setup, body, summary_text) \
	static const char hint_##ident[] = name; \
	ALWAYS_INLINE void relax_##ident(void *watched, uint64_t *spins) \
	{ \
		(void)spins; \
		__asm__ volatile(RELAX_BEGIN setup "\n\t" body RELAX_END \
				 : : [p] ARCH_POINTER(watched) : ARCH_CLOBBERS); \
	} \
	ALWAYS_INLINE void count_##ident(void *watched, uint64_t *spins) \
	{ \
		++*spins; \
		relax_##ident(watched, spins); \
	} \
	SPIN_LOCKS(LOOPS, ident) \
	HANDOFF(ident)
ARCH_HINTS(X)
#undef X

/* Without a hint and without a note of the place. */
ALWAYS_INLINE void relax_plain(void *watched, uint64_t *spins)
{
	(void)watched;
	(void)spins;
}

#define X(lock, name, extra, summary_text) \
	static void take_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		acquire_##lock(s, t, relax_plain, NULL); \
	} \
	static void give_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		release_##lock(s, t); \
	}
SPIN_LOCKS(X, )
#undef X

/* The library's locks by the same pattern; their wait loop has no hint of ours and counts no spins. */
ALWAYS_INLINE void acquire_pthread_spin(struct lock_shared *s)
{
	pthread_spin_lock(&s->lock.spin);
}

ALWAYS_INLINE void release_pthread_spin(struct lock_shared *s)
{
	pthread_spin_unlock(&s->lock.spin);
}

ALWAYS_INLINE void acquire_pthread_mutex(struct lock_shared *s)
{
	pthread_mutex_lock(&s->lock.mutex);
}

ALWAYS_INLINE void release_pthread_mutex(struct lock_shared *s)
{
	pthread_mutex_unlock(&s->lock.mutex);
}

#define acquire_pthread_adaptive acquire_pthread_mutex
#define release_pthread_adaptive release_pthread_mutex

#define X(lock, name, summary_text) \
	static PROBE_NOCOPY void run_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		const struct work work = work_of(s); \
 \
		while (!load(&s->stop)) { \
			acquire_##lock(s); \
			critical_section(s, &work); \
			release_##lock(s); \
			count(t); \
			idle(work.think_iters); \
		} \
	} \
	static PROBE_NOCOPY void run_counted_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		const struct work work = work_of(s); \
		unsigned long long thought = 0; \
 \
		while (!load(&s->stop)) { \
			struct lock_event event = { .before = TICKS(), .thought = thought }; \
 \
			acquire_##lock(s); \
			got_it(s, t, &event); \
			critical_section(s, &work); \
			s->released = TICKS(); \
			event.held = s->released - event.after; \
			release_##lock(s); \
			count(t); \
			t->hooks.acquired(t->hooks.ctx, &event); \
			thought = TICKS(); \
			idle(work.think_iters); \
			thought = TICKS() - thought; \
		} \
	}
LIBRARY_LOCKS(X)
#undef X

#define X(lock, name, summary_text) \
	static void take_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		(void)t; \
		acquire_##lock(s); \
	} \
	static void give_##lock(struct lock_shared *s, struct lock_thread *t) \
	{ \
		(void)t; \
		release_##lock(s); \
	}
LIBRARY_LOCKS(X)
#undef X

static int init_zero(struct lock_shared *s)
{
	(void)s;
	return 0;
}

static int init_queue(struct lock_shared *s)
{
	store(&s->lock.tail, &s->first);
	return 0;
}

static int init_pthread_spin(struct lock_shared *s)
{
	return pthread_spin_init(&s->lock.spin, PTHREAD_PROCESS_PRIVATE);
}

static int init_mutex(struct lock_shared *s, int type)
{
	pthread_mutexattr_t attr;
	int err = pthread_mutexattr_init(&attr);

	if (!err)
		err = pthread_mutexattr_settype(&attr, type);
	if (!err)
		err = pthread_mutex_init(&s->lock.mutex, &attr);
	return err;
}

static int init_pthread_mutex(struct lock_shared *s)
{
	return init_mutex(s, PTHREAD_MUTEX_NORMAL);
}

static int init_pthread_adaptive(struct lock_shared *s)
{
	return init_mutex(s, PTHREAD_MUTEX_ADAPTIVE_NP);
}

#define init_tas init_zero
#define init_ttas init_zero
#define init_ttas_backoff init_zero
#define init_ticket init_zero
#define init_ticket_backoff init_zero
#define init_mcs init_zero
#define init_clh init_queue
#define init_qspin init_zero
#define init_spin_park init_zero

static void destroy_nothing(struct lock_shared *s)
{
	(void)s;
}

static void destroy_spin(struct lock_shared *s)
{
	pthread_spin_destroy(&s->lock.spin);
}

static void destroy_mutex(struct lock_shared *s)
{
	pthread_mutex_destroy(&s->lock.mutex);
}

#define destroy_pthread_spin destroy_spin
#define destroy_pthread_mutex destroy_mutex
#define destroy_pthread_adaptive destroy_mutex

#define ROW(lock_ident, lock_name, hint_ident, summary_text) \
	{ .lock = lock_name, .hint = hint_##hint_ident, .summary = summary_text, \
	  .run = run_##lock_ident##_##hint_ident, .run_counted = run_counted_##lock_ident##_##hint_ident, \
	  .init = init_##lock_ident, .destroy = destroy_nothing, .take = take_##lock_ident, .give = give_##lock_ident },
#define X(ident, name, need, effect, setup, body, summary_text) SPIN_LOCKS(ROW, ident)
static const struct lock_pair pairs[] = {
	ARCH_HINTS(X)
#undef X
#define X(ident, name, summary_text) \
	{ .lock = name, .hint = "library", .summary = summary_text, \
	  .run = run_##ident, .run_counted = run_counted_##ident, .init = init_##ident, .destroy = destroy_##ident, \
	  .take = take_##ident, .give = give_##ident },
	LIBRARY_LOCKS(X)
#undef X
};

#define X(ident, name, need, effect, setup, body, summary_text) \
	{ .lock = "hand-off", .hint = hint_##ident, .summary = "two threads taking turns", \
	  .run = run_handoff_##ident, .init = init_zero, .destroy = destroy_nothing },
static const struct lock_pair handoffs[] = { ARCH_HINTS(X) };
#undef X

#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

const struct lock_pair *lock_pair_at(size_t i)
{
	return i < PAIRS ? &pairs[i] : NULL;
}

const struct lock_pair *lock_pair_find(const char *lock, const char *hint)
{
	for (size_t i = 0; i < PAIRS; i++)
		if (!strcmp(pairs[i].lock, lock) && !strcmp(pairs[i].hint, hint))
			return &pairs[i];
	return NULL;
}

const struct lock_pair *lock_handoff_at(size_t i)
{
	return i < sizeof(handoffs) / sizeof(handoffs[0]) ? &handoffs[i] : NULL;
}

const struct lock_pair *lock_handoff_find(const char *hint)
{
	for (size_t i = 0; lock_handoff_at(i); i++)
		if (!strcmp(handoffs[i].hint, hint))
			return &handoffs[i];
	return NULL;
}

int lock_prepare(const struct lock_pair *p, struct lock_shared *s, struct lock_thread *threads, unsigned int n)
{
	if (n > LOCK_THREADS_MAX)
		return EINVAL;
	memset(&s->lock, 0, sizeof(s->lock));
	memset(&s->first, 0, sizeof(s->first));
	memset(s->line, 0, sizeof(s->line));
	s->guard = 0;
	s->owner = 0;
	s->released = 0;
	s->threads = threads;
	have_ticks = !probe_ticks_why();
	store(&s->stop, 0);
	for (unsigned int i = 0; i < n; i++) {
		struct lock_thread *t = &threads[i];

		store(&t->acquired, 0);
		memset(&t->node, 0, sizeof(t->node));
		t->shared = s;
		t->index = i;
		t->mine = &t->node;
	}
	return p->init(s);
}

/*
 * The notes hold addresses only. A note belongs to the function that begins nearest below it; all loops are functions
 * of this file.
 */
static const void *owner(const unsigned char *at)
{
	uintptr_t best = 0;

	for (size_t i = 0; i < PAIRS; i++) {
		uintptr_t run = (uintptr_t)pairs[i].run, counted = (uintptr_t)pairs[i].run_counted;

		if (run <= (uintptr_t)at && run > best)
			best = run;
		if (counted <= (uintptr_t)at && counted > best)
			best = counted;
	}
	for (size_t i = 0; lock_handoff_at(i); i++) {
		uintptr_t run = (uintptr_t)handoffs[i].run;

		if (run <= (uintptr_t)at && run > best)
			best = run;
	}
	return (const void *)best;
}

size_t lock_pair_sites(const struct lock_pair *p, struct lock_site *sites, size_t max)
{
	size_t n = 0;

	for (const struct site_note *note = __start_relax_sites; note < __stop_relax_sites && n < max; note++) {
		/* One note is two distances, each from its own place. */
		const unsigned char *begin = (const unsigned char *)&note->begin + note->begin;

		if (owner(begin) != (const void *)(uintptr_t)p->run)
			continue;
		sites[n].begin = begin;
		sites[n].end = (const unsigned char *)&note->begin + note->end;
		n++;
	}
	return n;
}
