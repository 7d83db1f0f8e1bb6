/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes every probe of this architecture and checks what it did. Links with probes/ and libc alone, statically, so
 * that it runs under qemu-user for every architecture; hence no test library.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loop.h"

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

static void skip(const char *what, const char *why)
{
	skipped++;
	printf("skip %s: %s\n", what, why);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A page with the operand in the middle, so that neighbours can be checked too. */
static unsigned char *page;
static size_t page_bytes;

static uint32_t *fresh_operand(uint32_t value)
{
	uint32_t *operand = (uint32_t *)(void *)(page + page_bytes / 2);

	memset(page, 0x5a, page_bytes);
	memset(operand, 0, PROBE_CACHE_LINE);
	*operand = value;
	return operand;
}

/* All but the operand's word as fresh_operand left it; stckf may use the second doubleword. */
static bool neighbours_kept(const struct probe *p)
{
	const unsigned char *operand = page + page_bytes / 2;
	size_t from = strcmp(p->name, "stckf") ? 4 : 16;

	for (size_t i = 0; i < page_bytes; i++) {
		const unsigned char *at = page + i;

		if (at < operand || at >= operand + PROBE_CACHE_LINE) {
			if (*at != 0x5a)
				return false;
		} else if (at >= operand + from && *at) {
			return false;
		}
	}
	return true;
}

/*
 * The word after @ops operations that began with @start, or -1 when the effect does not tell. @ops is even and at least
 * 2.
 */
static int64_t expected_word(const struct probe *p, uint32_t start, uint64_t ops)
{
	switch (p->effect) {
	case EFFECT_NONE:
		return start;
	case EFFECT_ADD:
		return (uint32_t)(start + ops);
	case EFFECT_CMPXCHG:
		return 0;
	case EFFECT_XCHG:	/* an even number of swaps gives it back */
		return start;
	case EFFECT_LOCK:
		return start ? -1 : 0;
	}
	return -1;
}

static void test_effect(const struct probe *p)
{
	static const uint32_t starts[] = { 0, 5, 0xfffffff0u };
	static const uint64_t iters[] = { 1, 2, 3, 1000 };

	for (size_t s = 0; s < sizeof(starts) / sizeof(starts[0]); s++) {
		for (size_t i = 0; i < sizeof(iters) / sizeof(iters[0]); i++) {
			for (unsigned int length = 1; length <= 2; length++) {
				uint64_t ops = iters[i] * p->unroll * length;
				int64_t want = expected_word(p, starts[s], ops);
				uint32_t *operand = fresh_operand(starts[s]);

				if (want < 0)
					continue;
				(length == 1 ? p->run_short : p->run_long)(operand, iters[i]);
				if (!check(*operand == want, "%s: %llu operations on %u left %u, not %lld", p->name,
					   (unsigned long long)ops, starts[s], *operand, (long long)want))
					return;
				if (!check(neighbours_kept(p), "%s: wrote beside its operand", p->name))
					return;
			}
		}
	}
}

static sigjmp_buf fault_return;

static void fault_handler(int sig)
{
	siglongjmp(fault_return, sig);
}

static bool faults(void (*run)(void *, uint64_t), void *operand)
{
	if (sigsetjmp(fault_return, 1))
		return true;
	run(operand, 1);
	return false;
}

/* Does it write its operand at all? Tried on a page that may not be written. */
static void test_writes(const struct probe *p)
{
	struct sigaction guard, old;
	uint32_t *operand = fresh_operand(0);
	bool writes = p->effect != EFFECT_NONE || !strcmp(p->name, "stckf"), faulted;

	memset(&guard, 0, sizeof(guard));
	guard.sa_handler = fault_handler;
	sigaction(SIGSEGV, &guard, &old);
	mprotect(page, page_bytes, PROT_READ);
	faulted = faults(p->run_short, operand);
	mprotect(page, page_bytes, PROT_READ | PROT_WRITE);
	sigaction(SIGSEGV, &old, NULL);
	check(faulted == writes, "%s: %s its operand", p->name, writes ? "does not write" : "writes");
}

static void test_text(const struct probe *p)
{
	size_t n = (size_t)(p->end - p->begin);

	if (!p->begin) {
		check(!p->text && !p->end && !p->end_all, "%s: has text without addresses", p->name);
		return;
	}
	check(p->text && !strchr(p->text, '\n') && !strstr(p->text, "%[") && !strstr(p->text, "%%"),
	      "%s: its text is not readable: %s", p->name, p->text ? p->text : "(none)");
	if (!strcmp(p->name, "none")) {
		check(p->begin == p->end && p->end == p->end_all, "none: its body is not empty");
		check(probe_verify_copies(p) == 0, "none: copies of nothing");
		return;
	}
	check(n > 0 && n < 200, "%s: one operation has %zu bytes", p->name, n);
	check((size_t)(p->end_all - p->begin) == 2 * p->unroll * n, "%s: %td bytes of text, not %zu", p->name,
	      p->end_all - p->begin, 2 * p->unroll * n);
	if (p->missing_here)
		check(probe_verify_copies(p) == 0, "%s: its copies address code, so cannot be equal", p->name);
	else
		check(probe_verify_copies(p) == 2 * p->unroll, "%s: %u equal copies, not %u", p->name,
		      probe_verify_copies(p), 2 * p->unroll);
#ifndef ARCH_LOOP_IN_C
	check(((uintptr_t)p->begin & 63) == 0, "%s: its loop begins at %p, not aligned to 64", p->name,
	      (const void *)p->begin);
#endif
}

/* Swaps and locks come back to where they began: another thread must see both states. */
struct watched {
	const struct probe *probe;
	_Atomic bool stop;
	uint32_t *operand;
};

static void *run_until_stopped(void *data)
{
	struct watched *w = data;

	while (!atomic_load(&w->stop))
		w->probe->run_short(w->operand, 200);
	return NULL;
}

static void test_states(const struct probe *p)
{
	struct watched w = { .probe = p, .operand = fresh_operand(0) };
	bool zero = false, one = false, other = false;
	double until = seconds() + 20;
	pthread_t thread;

	if (p->effect != EFFECT_XCHG && p->effect != EFFECT_LOCK)
		return;
	if (!check(!pthread_create(&thread, NULL, run_until_stopped, &w), "%s: pthread_create failed", p->name))
		return;
	while (!(zero && one) && seconds() < until) {
		for (int i = 0; i < 1000; i++) {
			uint32_t seen = *(volatile uint32_t *)w.operand;

			zero |= seen == 0;
			one |= seen == 1;
			other |= seen > 1;
		}
		sched_yield();
	}
	atomic_store(&w.stop, true);
	pthread_join(thread, NULL);
	check(zero && one, "%s: within 20 s its operand was seen %s", p->name, one ? "never free" : "never taken");
	check(!other, "%s: its operand held something else than 0 and 1", p->name);
}

/* Moves @thread to the n-th CPU that this process may use, counted round. */
static cpu_set_t allowed;

static void move_to(pthread_t thread, unsigned int n)
{
	cpu_set_t one;

	n %= (unsigned int)CPU_COUNT(&allowed);
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed) && !n--)
			CPU_SET(cpu, &one);
	pthread_setaffinity_np(thread, sizeof(one), &one);
}

/* Two threads on one operand, for long enough to run at the same time where there are two CPUs. */
struct shared {
	const struct probe *probe;
	uint32_t *operand;
	pthread_barrier_t start;
};

static _Atomic uint32_t shared_ops;	/* modulo 2^32, as the operand is */

static void *run_shared(void *data)
{
	struct shared *s = data;
	uint32_t ops = 0;
	double until;

	pthread_barrier_wait(&s->start);
	until = seconds() + 0.2;
	do {
		s->probe->run_short(s->operand, 50);
		s->probe->run_long(s->operand, 50);
		ops += 3 * 50 * s->probe->unroll;
	} while (seconds() < until);
	atomic_fetch_add(&shared_ops, ops);
	return NULL;
}

static void test_threads(const struct probe *p)
{
	struct shared s = { .probe = p, .operand = fresh_operand(0) };
	bool local = strstr(p->name, "-local") != NULL;
	pthread_t thread[2];
	uint32_t lost;

	if (p->missing_here || (p->effect != EFFECT_ADD && p->effect != EFFECT_LOCK))
		return;
	atomic_store(&shared_ops, 0);
	pthread_barrier_init(&s.start, NULL, 2);
	for (unsigned int i = 0; i < 2; i++) {
		if (pthread_create(&thread[i], NULL, run_shared, &s)) {
			printf("%s: pthread_create failed\n", p->name);
			exit(99);
		}
		move_to(thread[i], i);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	pthread_barrier_destroy(&s.start);
	lost = shared_ops - *s.operand;
	if (p->effect == EFFECT_LOCK)
		check(*s.operand == 0, "%s: two threads left the lock taken", p->name);
	else if (!local)
		check(!lost, "%s: two threads lost %u of %u updates", p->name, lost, shared_ops);
	else
		printf("note %s: two threads lost %u of %u updates (it is for one CPU only)\n", p->name, lost,
		       shared_ops);
}

#define BYTES(...) (const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ })

/* Encodings from the manuals, written down independently of the arch headers. */
static const struct {
	const char *name;
	const unsigned char *bytes;
	size_t n;
} known[] = {
#ifdef PERF_RELAX_ARCH_GENERIC
#elif defined(__x86_64__) || defined(__i386__)
	{ "pause", BYTES(0xf3, 0x90) }, { "rep-nop", BYTES(0xf3, 0x90) }, { "rep-pause", BYTES(0xf3, 0xf3, 0x90) },
	{ "nop", BYTES(0x90) },
	{ "lfence", BYTES(0x0f, 0xae, 0xe8) }, { "serialize", BYTES(0x0f, 0x01, 0xe8) },
	{ "tpause", BYTES(0x66, 0x0f, 0xae, 0xf1) },
	{ "mfence", BYTES(0x0f, 0xae, 0xf0) }, { "sfence", BYTES(0x0f, 0xae, 0xf8) }, { "rdtsc", BYTES(0x0f, 0x31) },
	{ "rdtscp", BYTES(0x0f, 0x01, 0xf9) },
#elif defined(__aarch64__)
	{ "yield", BYTES(0x3f, 0x20, 0x03, 0xd5) }, { "isb", BYTES(0xdf, 0x3f, 0x03, 0xd5) },
	{ "sb", BYTES(0xff, 0x30, 0x03, 0xd5) },
	{ "wfe", BYTES(0xbf, 0x20, 0x03, 0xd5, 0x5f, 0x20, 0x03, 0xd5) }, { "wfet", BYTES(0x09, 0x10, 0x03, 0xd5) },
	{ "dmb", BYTES(0xbf, 0x3b, 0x03, 0xd5) }, { "nop", BYTES(0x1f, 0x20, 0x03, 0xd5) },
	{ "cntvct", BYTES(0x49, 0xe0, 0x3b, 0xd5) },
	{ "cntvctss", BYTES(0xc9, 0xe0, 0x3b, 0xd5) },
#elif defined(__thumb2__)
	{ "yield", BYTES(0x10, 0xbf) }, { "wfe", BYTES(0x40, 0xbf, 0x20, 0xbf) },
	{ "isb", BYTES(0xbf, 0xf3, 0x6f, 0x8f) },
	{ "dmb", BYTES(0xbf, 0xf3, 0x5b, 0x8f) },
#elif defined(__arm__)
	{ "yield", BYTES(0x01, 0xf0, 0x20, 0xe3) }, { "wfe", BYTES(0x04, 0xf0, 0x20, 0xe3, 0x02, 0xf0, 0x20, 0xe3) },
	{ "isb", BYTES(0x6f, 0xf0, 0x7f, 0xf5) }, { "dmb", BYTES(0x5b, 0xf0, 0x7f, 0xf5) },
#elif defined(__powerpc64__) && defined(__LITTLE_ENDIAN__)
	{ "or-1-1-1-or-2-2-2", BYTES(0x78, 0x0b, 0x21, 0x7c, 0x78, 0x13, 0x42, 0x7c) },
	{ "or-27-27-27", BYTES(0x78, 0xdb, 0x7b, 0x7f) },
	{ "or-31-31-31", BYTES(0x78, 0xfb, 0xff, 0x7f) }, { "nop", BYTES(0, 0, 0, 0x60) },
	{ "lwsync", BYTES(0xac, 0x04, 0x20, 0x7c) },
#elif defined(__powerpc64__)
	{ "or-1-1-1-or-2-2-2", BYTES(0x7c, 0x21, 0x0b, 0x78, 0x7c, 0x42, 0x13, 0x78) },
	{ "or-27-27-27", BYTES(0x7f, 0x7b, 0xdb, 0x78) },
	{ "or-31-31-31", BYTES(0x7f, 0xff, 0xfb, 0x78) }, { "nop", BYTES(0x60, 0, 0, 0) },
	{ "lwsync", BYTES(0x7c, 0x20, 0x04, 0xac) },
#elif defined(__riscv)
	{ "pause", BYTES(0x0f, 0x00, 0x00, 0x01) }, { "fence", BYTES(0x0f, 0x00, 0x30, 0x03) },
	{ "fence-tso", BYTES(0x0f, 0x00, 0x30, 0x83) },
	{ "fence-i", BYTES(0x0f, 0x10, 0x00, 0x00) },
#elif defined(__s390x__)
	{ "niai", BYTES(0xb2, 0xfa, 0x00, 0x40) }, { "nop", BYTES(0x07, 0x00) }, { "bcr-15-0", BYTES(0x07, 0xf0) },
#elif defined(__mips64) && defined(__MIPSEL__)
	{ "pause", BYTES(0x40, 0x01, 0x00, 0x00) }, { "nop", BYTES(0, 0, 0, 0) }, { "sync", BYTES(0x0f, 0, 0, 0) },
#elif defined(__mips64)
	{ "pause", BYTES(0x00, 0x00, 0x01, 0x40) }, { "nop", BYTES(0, 0, 0, 0) }, { "sync", BYTES(0, 0, 0, 0x0f) },
#elif defined(__alpha__)
	{ "nop", BYTES(0x1f, 0x04, 0xff, 0x47) }, { "mb", BYTES(0x00, 0x40, 0x00, 0x60) },
	{ "wmb", BYTES(0x00, 0x44, 0x00, 0x60) },
#endif
	{ NULL, NULL, 0 }
};

static void test_known_bytes(void)
{
	for (size_t i = 0; known[i].name; i++) {
		const struct probe *p = probe_find(known[i].name);

		if (!check(p && p->begin, "%s: not in the table", known[i].name))
			continue;
		check((size_t)(p->end - p->begin) == known[i].n && !memcmp(p->begin, known[i].bytes, known[i].n),
		      "%s: its bytes are not those of the manual (%td bytes, first %02x)", p->name,
			p->end - p->begin, p->begin[0]);
	}
}

static void test_names(void)
{
	static const char *const everywhere[] = {
		"nop", "none", "cmpxchg", "cmpxchg-local", "xadd", "xadd-local", "xchg", "xchg-local", "spin-lock",
		"rseq-add", "rseq-cmpxchg", "clock-gettime", "getppid", "chain-add", "chain-mul",
	};
	const struct probe *p;
	const char *archs;

	for (size_t i = 0; i < sizeof(everywhere) / sizeof(everywhere[0]); i++)
		check(probe_find(everywhere[i]), "%s: not in the table of " ARCH_NAME, everywhere[i]);
	for (size_t i = 0; (p = probe_at(i)); i++) {
		check(probe_find(p->name) == p, "%s: two rows have this name", p->name);
		check(p->summary && *p->summary && !strchr(p->summary, '\n'), "%s: no summary", p->name);
		check(p->class < PROBE_CLASSES && strcmp(probe_class_name(p->class), "unknown"), "%s: no class",
		      p->name);
		check(!p->run_short == !!p->missing && !p->run_short == !p->run_long,
		      "%s: neither functions nor a reason", p->name);
		check(!probe_foreign(p->name), "%s: is both here and foreign", p->name);
	}
	check(!probe_at(probe_count()) && !probe_at((size_t)-1), "the table has no end");
	check(probe_find("CLOCK_gettime") == probe_find("clock-gettime"), "clock_gettime is not found by its C name");
	check(probe_find(" nop") != probe_find("nop") && !probe_find("no-p") && !probe_find("nopx") &&
	      !probe_find(""), "a wrong name was found");
	check(!probe_foreign("no-such-thing") && !probe_foreign(""), "a wrong name is foreign");
	archs = probe_foreign("rdhwr-cc");
	if (!probe_find("rdhwr-cc"))
		check(archs && !strcmp(archs, "mips64") && archs == probe_foreign("rdhwr_cc"),
		      "rdhwr-cc belongs to %s", archs ? archs : "nobody");
	archs = probe_foreign("yield");
	if (!probe_find("yield"))
		check(archs && !strcmp(archs, "aarch64, arm"), "yield belongs to %s", archs ? archs : "nobody");
#if (defined(__x86_64__) || defined(__i386__)) && !defined(PERF_RELAX_ARCH_GENERIC)
	check(probe_find("rep; nop") == probe_find("rep-nop") && probe_find("REP_NOP") == probe_find("rep-nop"),
	      "rep; nop is not rep-nop");
	check(probe_same_bytes(probe_find("pause"), probe_find("rep-nop")),
	      "pause and rep-nop differ: there is no null control");
	check(!probe_same_bytes(probe_find("pause"), probe_find("rep-pause")),
	      "pause and rep-pause have the same bytes");
	check(!probe_same_bytes(probe_find("pause"), probe_find("getppid")), "a call has the bytes of pause");
	archs = probe_foreign("or 27,27,27");
	check(archs && !strcmp(archs, "ppc64"), "or 27,27,27 belongs to %s", archs ? archs : "nobody");
#endif
	check(!probe_same_bytes(probe_find("none"), probe_find("none")), "two nothings are a null control");
}

static void raise_illegal(void *operand, uint64_t iters)
{
	(void)operand;
	(void)iters;
	raise(SIGILL);
}

static void raise_fault(void *operand, uint64_t iters)
{
	(void)operand;
	(void)iters;
	raise(SIGSEGV);
}

static void do_nothing(void *operand, uint64_t iters)
{
	memset(operand, 1, PROBE_CACHE_LINE);
	(void)iters;
}

static void test_guard(void)
{
	struct probe fake = { .name = "fake", .run_short = raise_illegal, .run_long = do_nothing };
	struct sigaction before, after;
	sigset_t blocked;

	sigaction(SIGILL, NULL, &before);
	for (int i = 0; i < 3; i++) {
		fake.run_short = raise_illegal;
		check(probe_guard(&fake) == SIGILL, "SIGILL was not caught, round %d", i);
		fake.run_short = raise_fault;
		check(probe_guard(&fake) == SIGSEGV, "SIGSEGV was not caught, round %d", i);
		fake.run_short = do_nothing;
		check(probe_guard(&fake) == 0, "a good probe was refused, round %d", i);
	}
	sigaction(SIGILL, NULL, &after);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	check(before.sa_handler == after.sa_handler &&
	      !sigismember(&blocked, SIGILL) && !sigismember(&blocked, SIGSEGV),
	      "the guard left its handler or a blocked signal behind");
}

static void test_ticks(void)
{
	unsigned long long first, last, now;
	double until = seconds() + 10;
	const char *why = probe_ticks_why();

	if (why) {
		skip("ticks", why);
		return;
	}
	first = last = arch_ticks_begin();
	for (int i = 0; i < 10000; i++) {
		now = i & 1 ? arch_ticks_begin() : arch_ticks_end(0);
		if (now < last)
			break;
		last = now;
	}
	check(now >= last, "the counter went back from %llu to %llu", last, now);
	while (last == first && seconds() < until)
		last = arch_ticks_end(0);
	check(last != first, "the counter stood still for 10 s");
	printf("note ticks: %llu in the test, stated frequency %llu Hz\n", last - first, arch_ticks_hz());
}

/*
 * With the TSC forbidden, the counter must be found absent instead of killing the process. Asked in a child: answers
 * are remembered.
 */
static void test_forbidden_counter(void)
{
#if (defined(__x86_64__) || defined(__i386__)) && !defined(PERF_RELAX_ARCH_GENERIC)
	int status = 0;
	pid_t child = fork();

	if (!child) {
		const char *why;
		int mode = 0;

		if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) || prctl(PR_GET_TSC, &mode, 0, 0, 0) ||
		    mode != PR_TSC_SIGSEGV)
			_exit(77);
		why = probe_ticks_why();
		_exit(why && strstr(why, "PR_SET_TSC") ? 0 : 1);
	}
	waitpid(child, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("forbidden TSC", "prctl(PR_SET_TSC) does not work here");
	else
		check(WIFEXITED(status) && !WEXITSTATUS(status), "with PR_SET_TSC the counter was %s",
		      WIFEXITED(status) ? "said to be readable" : "read, and killed the process");
#endif
}

#ifdef PROBE_HAVE_RSEQ
/*
 * Per-CPU operands, four threads that are sent from CPU to CPU and interrupted all the time: the sum of all operands
 * must be exact. The kernel kills the process when an abort handler is wrong.
 */
#define RSEQ_THREADS 4
static unsigned char *percpu;
static _Atomic uint64_t rseq_ops;
static _Atomic bool rseq_stop;

static void *rseq_thread(void *data)
{
	const struct probe *p = data;
	uint64_t ops = 0;

	while (!atomic_load(&rseq_stop)) {
		p->run_short(percpu, 50);
		p->run_long(percpu, 20);
		ops += (50 + 2 * 20) * p->unroll;
	}
	atomic_fetch_add(&rseq_ops, ops);
	return NULL;
}

static _Atomic unsigned int alarms;

static void count_alarm(int sig)
{
	(void)sig;
	atomic_fetch_add(&alarms, 1);
}

static void disturb_threads(pthread_t *thread, double for_seconds)
{
	double until = seconds() + for_seconds;
	uint32_t random = 12345;

	while (seconds() < until) {
		for (int i = 0; i < RSEQ_THREADS; i++) {
			random = random * 1664525 + 1013904223;	/* Numerical Recipes' generator: any would do */
			move_to(thread[i], random >> 16);
			pthread_kill(thread[i], SIGUSR1);
		}
		usleep(50);
	}
}

static void test_rseq_hammer(const struct probe *p)
{
	struct sigaction act, old;
	pthread_t thread[RSEQ_THREADS];
	uint64_t sum = 0, used = 0;

	percpu = aligned_alloc(PROBE_CACHE_LINE, CPU_SETSIZE * PROBE_CACHE_LINE);
	if (!percpu)
		exit(99);
	memset(percpu, 0, CPU_SETSIZE * PROBE_CACHE_LINE);
	memset(&act, 0, sizeof(act));
	act.sa_handler = count_alarm;
	act.sa_flags = SA_RESTART;
	sigaction(SIGUSR1, &act, &old);
	atomic_store(&rseq_stop, false);
	atomic_store(&rseq_ops, 0);
	atomic_store(&alarms, 0);
	probe_rseq_stride_bytes = PROBE_CACHE_LINE;
	for (int i = 0; i < RSEQ_THREADS; i++)
		if (pthread_create(&thread[i], NULL, rseq_thread, (void *)(uintptr_t)p))
			exit(99);
	disturb_threads(thread, 1.5);
	atomic_store(&rseq_stop, true);
	for (int i = 0; i < RSEQ_THREADS; i++)
		pthread_join(thread[i], NULL);
	probe_rseq_stride_bytes = 0;
	sigaction(SIGUSR1, &old, NULL);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		uint32_t n = *(uint32_t *)(void *)(percpu + cpu * PROBE_CACHE_LINE);

		sum += n;
		used += n != 0;	/* compare and swap stores 0 */
	}
	/* The operands are 32 bits wide. */
	if (p->effect == EFFECT_ADD)
		check((uint32_t)sum == (uint32_t)rseq_ops, "%s: %d threads on moving CPUs counted %u, not %u",
		      p->name, RSEQ_THREADS, (uint32_t)sum, (uint32_t)rseq_ops);
	check(rseq_ops > 0 && alarms > 0, "%s: nothing ran", p->name);
	if (p->effect == EFFECT_ADD)
		check(used >= (CPU_COUNT(&allowed) > 1 ? 2 : 1), "%s: the threads used %llu CPUs", p->name,
		      (unsigned long long)used);
	printf("note %s: %llu operations, %u signals\n", p->name, (unsigned long long)rseq_ops, (unsigned int)alarms);
	free(percpu);
}
#endif

static void test_rseq(void)
{
#ifdef PROBE_HAVE_RSEQ
	const struct probe *add = probe_find("rseq-add"), *cmpxchg = probe_find("rseq-cmpxchg");

	if (probe_why_absent(add)) {
		skip("rseq with moving threads", probe_why_absent(add));
		return;
	}
	test_rseq_hammer(add);
	test_rseq_hammer(cmpxchg);
#endif
}

int main(void)
{
	const struct probe *p;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		CPU_SET(0, &allowed);
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED) {
		perror("mmap");
		return 99;
	}
	test_names();
	test_known_bytes();
	test_guard();
	test_forbidden_counter();
	for (size_t i = 0; (p = probe_at(i)); i++) {
		const char *why = probe_why_absent(p);

		check(probe_why_absent(p) == why, "%s: two answers to one question", p->name);
		if (p->run_short)
			test_text(p);
		if (why) {
			check(strlen(why) > 15, "%s: a poor reason: %s", p->name, why);
			skip(p->name, why);
			continue;
		}
		test_effect(p);
		test_writes(p);
		test_states(p);
		test_threads(p);
	}
	test_ticks();
	test_rseq();
	printf(ARCH_NAME ": %u passed, %u failed, %u skipped\n", passed, failed, skipped);
	return failed ? 1 : 0;
}
