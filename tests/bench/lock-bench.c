/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Locks beside their peers, for scripts/bench; built by it alone (make tests/bench/lock-bench). Prints one line for
 * each round: what is compared, then a value of ours and one of the peer's, measured one after the other in random
 * order.
 *
 * 	lock-bench pairs ROUNDS            cycles~ of an uncontended lock and unlock: ours against Concurrency Kit's
 *	lock-bench contended ROUNDS MS     acquisitions per second of two threads: `perf relax lock`'s loop and threads
 *	                                   against a bare loop written here
 *
 * Contending threads run as SCHED_FIFO where that is permitted, so that on a busy machine too both are on their CPUs
 * all the while; between the windows the machine has its CPUs back.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#if __has_include(<ck_spinlock.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <ck_spinlock.h>
#pragma GCC diagnostic pop
#define HAVE_CK 1
#else
#define HAVE_CK 0
#endif

#include "arch/arch.h"
#include "lock-private.h"
#include "loop.h"
#include "spin-lock.h"

static struct random_state rng;

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* The hint that Concurrency Kit has in its wait loops, where there is one. */
static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ volatile("pause" : : : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("yield" : : : "memory");
#else
	__asm__ volatile("" : : : "memory");
#endif
}

#if HAVE_CK

#define PAIRS 4000		/* of one block: 20 to 50 us, mostly between two interruptions */
#define CHAIN_ITERS 100

static struct lock_shared *ours;
static struct lock_thread *thread;

ALWAYS_INLINE void relax_here(void *watched, uint64_t *spins)
{
	(void)watched;
	(void)spins;
	cpu_relax();
}

#define OURS(lock) \
	static PROBE_NOCOPY void ours_##lock(void) \
	{ \
		for (unsigned int i = 0; i < PAIRS; i++) { \
			acquire_##lock(ours, thread, relax_here, NULL); \
			release_##lock(ours, thread); \
		} \
	}
OURS(tas)
OURS(ticket)
OURS(mcs)
OURS(clh)

/* Each on a line of its own, as ours are. */
static _Alignas(LOCK_LINE) ck_spinlock_fas_t fas = CK_SPINLOCK_FAS_INITIALIZER;
static _Alignas(LOCK_LINE) ck_spinlock_ticket_t ticket = CK_SPINLOCK_TICKET_INITIALIZER;
static _Alignas(LOCK_LINE) ck_spinlock_mcs_t mcs = CK_SPINLOCK_MCS_INITIALIZER;
static _Alignas(LOCK_LINE) ck_spinlock_mcs_context_t mcs_node;
static _Alignas(LOCK_LINE) ck_spinlock_clh_t *clh;
static _Alignas(LOCK_LINE) ck_spinlock_clh_t clh_first;
static _Alignas(LOCK_LINE) ck_spinlock_clh_t clh_node;
static _Alignas(LOCK_LINE) ck_spinlock_clh_t *clh_mine = &clh_node;

#define PEER(name, take, give) \
	static PROBE_NOCOPY void ck_##name(void) \
	{ \
		for (unsigned int i = 0; i < PAIRS; i++) { \
			take; \
			give; \
		} \
	}
PEER(fas, ck_spinlock_fas_lock(&fas), ck_spinlock_fas_unlock(&fas))
PEER(ticket, ck_spinlock_ticket_lock(&ticket), ck_spinlock_ticket_unlock(&ticket))
PEER(mcs, ck_spinlock_mcs_lock(&mcs, &mcs_node), ck_spinlock_mcs_unlock(&mcs, &mcs_node))
PEER(clh, ck_spinlock_clh_lock(&clh, clh_mine), ck_spinlock_clh_unlock(&clh_mine))

static const struct {
	const char *name;
	const char *lock;	/* of ours */
	void (*ours)(void), (*peer)(void);
} peers[] = {
	{ "fas", "tas", ours_tas, ck_fas },
	{ "ticket", "ticket", ours_ticket, ck_ticket },
	{ "mcs", "mcs", ours_mcs, ck_mcs },
	{ "clh", "clh", ours_clh, ck_clh },
};

static double time_block(void (*block)(void))
{
	double start = now_ns();

	block();
	return (now_ns() - start) / PAIRS;
}

/* ns of one cycle: dependent additions. */
static double cycle_ns(const struct probe *chain)
{
	static _Alignas(64) uint64_t operand;
	double start = now_ns();

	chain->run_long(&operand, CHAIN_ITERS);
	return (now_ns() - start) / (2.0 * chain->unroll * CHAIN_ITERS);
}

static int pairs(unsigned int rounds)
{
	const struct probe *chain = probe_find("chain-add");

	if (!chain) {
		fputs("lock-bench: this architecture has no chain of additions\n", stderr);
		return 77;
	}
	ck_spinlock_clh_init(&clh, &clh_first);
	for (unsigned int r = 0; r < rounds; r++)
		for (size_t i = 0; i < ARRAY_SIZE(peers); i++) {
			bool first = random_below(&rng, 2);
			double cycle = cycle_ns(chain), mine = 0, theirs;

			lock_prepare(lock_pair_find(peers[i].lock, "none"), ours, thread, 1);
			if (first)
				mine = time_block(peers[i].ours);
			theirs = time_block(peers[i].peer);
			if (!first)
				mine = time_block(peers[i].ours);
			printf("%s %.4f %.4f\n", peers[i].name, mine / cycle, theirs / cycle);
		}
	return 0;
}

#else

static int pairs(unsigned int rounds)
{
	(void)rounds;
	fputs("lock-bench: built without Concurrency Kit (Debian: libck-dev)\n", stderr);
	return 77;
}

#endif

/*
 * The bare loops: what somebody writes who wants to know. A lock, what it protects, a count of one's own, and a flag
 * that ends it; on the very lines that ours use, because the way from one CPU to another depends on a line's address by
 * far more than the 3 % in question.
 */
static PROBE_NOCOPY void bare_ttas(struct lock_shared *s, atomic_ullong *count)
{
	while (!load(&s->stop)) {
		while (__builtin_expect(swap_acquire(&s->lock.word, 1) != 0, 0))
			while (load(&s->lock.word))
				cpu_relax();
		s->guard++;
		store_release(&s->lock.word, 0);
		store(count, load(count) + 1);
	}
}

static PROBE_NOCOPY void bare_ticket(struct lock_shared *s, atomic_ullong *count)
{
	while (!load(&s->stop)) {
		unsigned int mine = atomic_fetch_add_explicit(&s->lock.ticket.next, 1, memory_order_relaxed);

		while (load_acquire(&s->lock.ticket.owner) != mine)
			cpu_relax();
		s->guard++;
		store_release(&s->lock.ticket.owner, mine + 1);
		store(count, load(count) + 1);
	}
}

typedef void bare_loop(struct lock_shared *s, atomic_ullong *count);

/* This thread into the real-time class: the one that ends a window above those that run in it. */
static bool real_time(int priority)
{
	struct sched_param p = { .sched_priority = priority };

	return !pthread_setschedparam(pthread_self(), priority ? SCHED_FIFO : SCHED_OTHER, &p);
}

struct bare_worker {
	bare_loop *loop;
	struct lock_shared *shared;
	atomic_ullong *count;
	atomic_uint *running;
	int cpu;
	bool fifo;
	pthread_t thread;
};

static void *bare_work(void *arg)
{
	struct bare_worker *w = arg;

	topology_pin(w->cpu, NULL);
	if (w->fifo)
		real_time(1);
	atomic_fetch_add(w->running, 1);
	while (load(w->running) < 2)
		;
	w->loop(w->shared, w->count);
	return NULL;
}

static void sleep_ms(double ms)
{
	struct timespec t = { .tv_sec = 0, .tv_nsec = (long)(ms * 1e6) };

	nanosleep(&t, NULL);
}

static double bare_rate(bare_loop *loop, const struct lock_pair *p, struct lock_run *run, const struct cpulist *cpus,
			bool fifo, double ms)
{
	atomic_ullong *count[2] = { &run->threads[0].acquired, &run->threads[1].acquired };
	atomic_uint running = 0;
	struct bare_worker w[2];
	unsigned long long from, to;
	double start, end;

	lock_prepare(p, run->shared, run->threads, 2);
	for (unsigned int i = 0; i < 2; i++) {
		w[i] = (struct bare_worker){ .loop = loop,
					     .shared = run->shared,
					     .count = count[i],
					     .running = &running,
					     .cpu = cpus->cpu[i % cpus->n],
					     .fifo = fifo };
		if (pthread_create(&w[i].thread, NULL, bare_work, &w[i]))
			exit(1);
	}
	while (load(&running) < 2)
		sleep_ms(0.05);
	sleep_ms(1);
	start = now_ns();
	from = load(count[0]) + load(count[1]);
	sleep_ms(ms);
	end = now_ns();
	to = load(count[0]) + load(count[1]);
	atomic_store(&run->shared->stop, 1);
	for (unsigned int i = 0; i < 2; i++)
		pthread_join(w[i].thread, NULL);
	return (double)(to - from) / (end - start) * 1e9;
}

static int contended(unsigned int rounds, double ms)
{
	static const struct {
		const char *name;
		bare_loop *bare;
	} lock[] = { { "ttas", bare_ttas }, { "ticket", bare_ticket } };
	const char *hint = lock_pair_find("ttas", "pause")   ? "pause"
			   : lock_pair_find("ttas", "yield") ? "yield"
							     : "none";
	struct meters meters;
	struct topology topology;
	struct reason why = { 0 };
	struct lock_run *run;
	struct value values[LOCK_VALUES];
	uint64_t per_thread[2];
	bool fifo = real_time(2);

	if (meters_open(&meters, &why) || topology_read(&topology, "", &why) ||
	    !(run = lock_run_open(&meters, 2, &why))) {
		fprintf(stderr, "lock-bench: %s\n", why.text);
		return 1;
	}
	for (unsigned int r = 0; r < rounds; r++)
		for (size_t i = 0; i < ARRAY_SIZE(lock); i++) {
			struct lock_condition c = {
				.threads = 2, .cpus = topology.allowed, .window_s = ms * 1e-3, .fifo = fifo
			};
			const struct lock_pair *p = lock_pair_find(lock[i].name, hint);
			bool first = random_below(&rng, 2);
			double theirs = first ? 0 : bare_rate(lock[i].bare, p, run, &topology.allowed, fifo, ms);

			if (lock_run_trial(run, p, &c, values, per_thread, &why)) {
				fprintf(stderr, "lock-bench: %s\n", why.text);
				return 1;
			}
			if (first)
				theirs = bare_rate(lock[i].bare, p, run, &topology.allowed, fifo, ms);
			printf("%s %.1f %.1f\n", lock[i].name, values[LOCK_VALUE_RATE].number, theirs);
			sleep_ms(3 * ms);
		}
	lock_run_close(run);
	topology_free(&topology);
	meters_close(&meters);
	return 0;
}

int main(int argc, char **argv)
{
	void *a, *b;

	random_seed(&rng, 1);
	if (posix_memalign(&a, 4096, sizeof(struct lock_shared)) ||
	    posix_memalign(&b, 4096, sizeof(struct lock_thread)))
		return 1;
#if HAVE_CK
	ours = memset(a, 0, sizeof(struct lock_shared));
	thread = memset(b, 0, sizeof(struct lock_thread));
#endif
	if (argc == 3 && !strcmp(argv[1], "pairs"))
		return pairs((unsigned int)atoi(argv[2]));
	if (argc == 4 && !strcmp(argv[1], "contended"))
		return contended((unsigned int)atoi(argv[2]), atof(argv[3]));
	fputs("usage: lock-bench pairs ROUNDS | contended ROUNDS MS\n", stderr);
	return 2;
}
