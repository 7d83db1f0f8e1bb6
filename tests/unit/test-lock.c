/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Every (lock, hint): does it exclude, does everybody come through, are the counting loops' notes true? Links with
 * probes/ and libc alone, statically, so that it runs under qemu-user for every architecture; hence no test library.
 *
 * Usage: test-lock [-t THREADS] [-m MS] [LOCK...]
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"
#include "probe.h"

#define THREADS_DEFAULT 4
#define MS_DEFAULT 12
#define START_MS 5000
#define WATCHDOG_S 280

static unsigned int passed, failed, skipped;

static bool check(bool good, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool check(bool good, const char *fmt, ...)
{
	va_list ap;

	if (good) {
		passed++;
		return true;
	}
	failed++;
	printf("FAIL ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	return false;
}

/* What a worker and its hook keep. */
struct tally {
	struct lock_shared *shared;
	struct lock_thread *lock;
	void (*loop)(struct lock_shared *s, struct lock_thread *t);
	uint64_t events, handed_over, backwards, spins;
	pthread_t thread;
};

static void note(void *ctx, const struct lock_event *event)
{
	struct tally *tally = ctx;

	tally->events++;
	tally->handed_over += event->handed_over;
	tally->backwards += event->after < event->before;
	tally->spins += event->spins;
}

static void *work(void *arg)
{
	struct tally *tally = arg;

	tally->loop(tally->shared, tally->lock);
	return NULL;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec t = { .tv_sec = (time_t)(ms / 1000), .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&t, NULL);
}

/* All threads at it for @ms. False: a thread could not be made. */
static bool contend(const struct lock_pair *p, struct tally *tally, struct lock_shared *s, struct lock_thread *threads,
		    unsigned int n, unsigned int ms, bool counted)
{
	unsigned int made = 0;

	for (unsigned int i = 0; i < n; i++) {
		tally[i] =
			(struct tally){ .shared = s, .lock = &threads[i], .loop = counted ? p->run_counted : p->run };
		threads[i].hooks.acquired = note;
		threads[i].hooks.ctx = &tally[i];
	}
	while (made < n && !pthread_create(&tally[made].thread, NULL, work, &tally[made]))
		made++;
	sleep_ms(ms);
	/* On a busy machine nobody may have run yet. */
	for (unsigned int waited = 0; made == n && waited < START_MS && !atomic_load(&threads[n - 1].acquired);
	     waited++)
		sleep_ms(1);
	atomic_store(&s->stop, 1);
	for (unsigned int i = 0; i < made; i++)
		pthread_join(tally[i].thread, NULL);
	return check(made == n, "%s %s: only %u of %u threads could be made", p->lock, p->hint, made, n);
}

static void test_pair(const struct lock_pair *p, struct lock_shared *s, struct lock_thread *threads, unsigned int n,
		      unsigned int ms, bool counted)
{
	struct tally *tally = calloc(n, sizeof(*tally));
	uint64_t sum = 0, events = 0, handed_over = 0, spins = 0;
	int err = lock_prepare(p, s, threads, n);

	if (!tally || !check(!err, "%s %s: cannot be prepared: %s", p->lock, p->hint, strerror(err)))
		goto out;
	s->cs_lines = 2;
	s->cs_iters = 5;
	s->think_iters = 3;
	if (!contend(p, tally, s, threads, n, ms, counted))
		goto out;
	for (unsigned int i = 0; i < n; i++) {
		sum += threads[i].acquired;
		events += tally[i].events;
		handed_over += tally[i].handed_over;
		spins += tally[i].spins;
	}
	check(sum > 0, "%s %s: nobody got the lock", p->lock, p->hint);
	check(s->guard == sum, "%s %s does not exclude: %llu acquisitions counted, %llu under the lock", p->lock,
	      p->hint, (unsigned long long)sum, (unsigned long long)s->guard);
	check(s->line[0][0] == (unsigned char)sum && s->line[1][0] == (unsigned char)sum && !s->line[2][0],
	      "%s %s: the lines of the critical section hold %u, %u, %u after %llu passes", p->lock, p->hint,
	      s->line[0][0], s->line[1][0], s->line[2][0], (unsigned long long)sum);
	if (counted) {
		check(events == sum, "%s %s: %llu events for %llu acquisitions", p->lock, p->hint,
		      (unsigned long long)events, (unsigned long long)sum);
		check(handed_over < events || !events, "%s %s: %llu of %llu acquisitions came from another thread",
		      p->lock, p->hint, (unsigned long long)handed_over, (unsigned long long)events);
		check(n > 1 || (!handed_over && !spins), "%s %s: one thread alone: %llu hand-overs, %llu spins",
		      p->lock, p->hint, (unsigned long long)handed_over, (unsigned long long)spins);
	}
	/* Nothing is left in the lock: it can be taken again by one thread. */
	atomic_store(&s->stop, 0);
	p->take(s, &threads[0]);
	p->give(s, &threads[0]);
	p->destroy(s);
out:
	free(tally);
}

/* Hand-overs in turn: each thread waits for its own number. */
static void test_handoff(const struct lock_pair *p, struct lock_shared *s, struct lock_thread *threads, unsigned int ms)
{
	struct tally tally[2];
	uint64_t a, b;

	lock_prepare(p, s, threads, 2);
	if (!contend(p, tally, s, threads, 2, ms, false))
		return;
	a = threads[0].acquired;
	b = threads[1].acquired;
	check(a > 0 && (a > b ? a - b : b - a) <= 1, "hand-off %s: %llu and %llu turns", p->hint, (unsigned long long)a,
	      (unsigned long long)b);
	check(s->guard == a + b, "hand-off %s does not exclude: %llu and %llu turns, %llu together", p->hint,
	      (unsigned long long)a, (unsigned long long)b, (unsigned long long)s->guard);
}

/* Each pair has its own text, with the hint in it. */
static void test_sites(const struct lock_pair *p)
{
	const struct probe *hint = probe_find(p->hint);
	struct lock_site site[8];
	size_t n = lock_pair_sites(p, site, 8), bytes = hint && hint->begin ? (size_t)(hint->end - hint->begin) : 0;

	check(n > 0, "%s %s: no place of the hint is noted", p->lock, p->hint);
	for (size_t i = 0; i < n; i++) {
		size_t length = (size_t)(site[i].end - site[i].begin);

		check(site[i].end >= site[i].begin && length < 200, "%s %s: a hint of %zd bytes", p->lock, p->hint,
		      site[i].end - site[i].begin);
		check((length == 0) == !strcmp(p->hint, "none"), "%s %s: a hint of %zu bytes", p->lock, p->hint,
		      length);
		/* Without registers of the compiler's choice and without a setup, the text is the probe's. */
		if (hint && hint->begin && length == bytes && bytes && bytes <= 4)
			check(!memcmp(site[i].begin, hint->begin, bytes), "%s %s: not the bytes of the probe", p->lock,
			      p->hint);
	}
}

static const char *why_absent(const struct lock_pair *p)
{
	const struct probe *hint = probe_find(p->hint);

	return hint ? probe_why_absent(hint) : NULL;
}

static bool chosen(const struct lock_pair *p, int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		if (!strcmp(argv[i], p->lock))
			return true;
	return argc == 0;
}

int main(int argc, char **argv)
{
	unsigned int n = THREADS_DEFAULT, ms = MS_DEFAULT;
	struct lock_shared *s;
	struct lock_thread *threads;
	int option;

	while ((option = getopt(argc, argv, "t:m:")) != -1) {
		if (option == 't')
			n = (unsigned int)atoi(optarg);
		else if (option == 'm')
			ms = (unsigned int)atoi(optarg);
		else
			return 99;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	alarm(WATCHDOG_S);	/* a lock that lets nobody in must not hang the test */
	if (n < 1 || posix_memalign((void **)&s, 4096, sizeof(*s)) ||
	    posix_memalign((void **)&threads, 4096, (n > 2 ? n : 2) * sizeof(*threads)))
		return 99;
	memset(s, 0, sizeof(*s));
	memset(threads, 0, (n > 2 ? n : 2) * sizeof(*threads));
	for (size_t i = 0; lock_pair_at(i); i++) {
		const struct lock_pair *p = lock_pair_at(i);
		const char *why = why_absent(p);

		if (!chosen(p, argc - optind, argv + optind))
			continue;
		if (strcmp(p->hint, "library") != 0)
			test_sites(p);
		if (why) {
			skipped++;
			printf("skip %s %s: %s\n", p->lock, p->hint, why);
			continue;
		}
		test_pair(p, s, threads, n, ms, false);
		test_pair(p, s, threads, n, ms / 2, true);
		test_pair(p, s, threads, 1, 1, true);
		if (failed > 50)
			break;
	}
	for (size_t i = 0; argc == optind && lock_handoff_at(i); i++)
		if (!why_absent(lock_handoff_at(i)))
			test_handoff(lock_handoff_at(i), s, threads, ms);
	check(lock_prepare(lock_pair_at(0), s, threads, LOCK_THREADS_MAX + 1) == EINVAL, "too many threads were taken");
	check(!lock_pair_find("ttas", "no-such-hint") && !lock_pair_find("no-such-lock", "none"),
	      "a pair that is not there was found");
	printf("%u passed, %u failed, %u skipped\n", passed, failed, skipped);
	free(threads);
	free(s);
	return failed ? 1 : 0;
}
