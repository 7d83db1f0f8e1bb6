// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clocks: CLOCK_MONOTONIC_RAW and the architecture's counter. Counters of the PMU are in meter-perf.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "arch/arch.h"
#include "meter-perf.h"
#include "meter.h"

#define NS_PER_S UINT64_C(1000000000)

/* The check of a clock. Windows are long against a read (20 to 300 ns) and short against what a user notices. */
#define CHECK_WINDOWS		3
#define CHECK_WINDOWS_MAX	9		/* when the first ones disagree */
#define CHECK_WINDOW_NS		1000000
#define CHECK_WINDOW_MAX_NS	100000000	/* for a coarse clock: ten steps of a 100 Hz tick */
#define CHECK_STEPS		20		/* steps a window should hold, so that its ends matter little */
#define CHECK_READS_MAX		4000000		/* bounds the wait for a clock that stands still: 0.1 to 1 s */
#define CHECK_COARSE_READS	1000		/* the reference stood still for as many: it is coarse */
#define CHECK_AGREE		2e-3		/* windows of a good counter differ by less */
#define CHECK_JUMP_NS		50e6		/* a window off by more holds a jump: preemption moves both alike */
#define CHECK_COARSE_NS		100000.0	/* a counter with larger steps times no block better than the clock */
#define CHECK_STEP_MAX_NS	(60 * NS_PER_S)	/* between two reads of the wall clock by itself */

#define USER_TIME_ERROR_NS	1000		/* of times extrapolated in user space (mult and shift of the page) */

#define CALIBRATE_SAMPLES	31
#define CALIBRATE_PAIRS		8		/* reads in a sample: keeps the clock's resolution out of the result */
#define CALIBRATE_STEPS		20
#define CALIBRATE_MAX_NS	50000000

/* The clock */

static inline uint64_t timespec_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * NS_PER_S + (uint64_t)t->tv_nsec;
}

/*
 * The vDSO reads the counter in user space: with the counter forbidden it would kill the process, a real system call
 * does not.
 */
static inline uint64_t read_ns(bool by_syscall)
{
	struct timespec t = { 0, 0 };

	if (__builtin_expect(by_syscall, 0)) {
#ifdef SYS_clock_gettime64	/* 32-bit: SYS_clock_gettime would fill a 32-bit timespec */
		long long t64[2] = { 0, 0 };

		if (syscall(SYS_clock_gettime64, CLOCK_MONOTONIC_RAW, t64) == 0)
			return (uint64_t)t64[0] * NS_PER_S + (uint64_t)t64[1];
		return 0;
#else
		(void)syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &t);
#endif
	} else {
		(void)clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	}
	return timespec_ns(&t);
}

static uint64_t clock_by_vdso(void *ctx)
{
	(void)ctx;
	return read_ns(false);
}

static uint64_t clock_by_syscall(void *ctx)
{
	(void)ctx;
	return read_ns(true);
}

/* Checking a clock */

struct check {
	const struct meter_clock *clock, *reference;
	uint64_t last;			/* of clock */
	uint64_t last_reference;
	double step;			/* smallest step of clock, in its units; 0: none yet */
	uint64_t steps;			/* in this window */
	struct reason *why;
};

struct check_point {
	uint64_t clock, reference;
	uint64_t gap;			/* time that reading took, in reference units */
	uint64_t span;			/* the same in units of the clock, from before the edge of the reference */
};

static uint64_t clock_read(const struct meter_clock *c)
{
	return c->read(c->ctx);
}

static int check_read(struct check *c, uint64_t *out)
{
	uint64_t now = clock_read(c->clock);

	if (now < c->last)
		return reason_set(c->why, EIO, "went backwards by %" PRIu64 " units", c->last - now);
	if (now > c->last) {
		double step = (double)(now - c->last);

		if (c->step == 0 || step < c->step)
			c->step = step;
		c->steps++;
	}
	c->last = *out = now;
	return 0;
}

static int check_read_reference(struct check *c, uint64_t *out)
{
	uint64_t now = clock_read(c->reference);

	if (now < c->last_reference)
		return reason_set(c->why, EIO,
				  "cannot be checked: the reference clock went backwards by %" PRIu64 " ns",
				  c->last_reference - now);
	c->last_reference = *out = now;
	return 0;
}

/*
 * The clock between two reads of the reference, from an edge of the reference on; the tightest of a few attempts. With
 * a coarse reference the edge itself is what can be missed (the thread was preempted while waiting for it): then the
 * clock moved far across it.
 */
static int check_take_point(struct check *c, struct check_point *p)
{
	for (int attempt = 0; attempt < 5; attempt++) {
		uint64_t start = c->last_reference, before = start, after = start, edge = c->last, between = 0;
		unsigned long reads = 0;
		int err;

		do {
			err = check_read(c, &edge);
			if (!err)
				err = check_read_reference(c, &before);
			if (err)
				return err;
			if (++reads > CHECK_READS_MAX)
				return reason_set(c->why, EIO, "cannot be checked: the reference clock does not move");
		} while (before == start);
		err = check_read(c, &between);
		if (!err)
			err = check_read_reference(c, &after);
		if (err)
			return err;
		if (attempt == 0 || after - before < p->gap || (after - before == p->gap && between - edge < p->span))
			*p = (struct check_point){ .clock = between,
						   .reference = before + (after - before) / 2,
						   .gap = after - before,
						   .span = between - edge };
		/* One good edge of a coarse reference is enough; more would only take time. */
		if (reads > CHECK_COARSE_READS && (double)p->span <= 20 * c->step)
			break;
	}
	return 0;
}

/* Wait until a window has passed that says something about the rate. */
static int check_wait(struct check *c, uint64_t start)
{
	unsigned long reads = 0;
	uint64_t now, reference;
	int err;

	c->steps = 0;
	do {
		err = check_read(c, &now);
		if (!err)
			err = check_read_reference(c, &reference);
		if (err)
			return err;
		if (++reads > CHECK_READS_MAX)
			break;
	} while (reference - start < CHECK_WINDOW_NS ||
		 (c->steps < CHECK_STEPS && reference - start < CHECK_WINDOW_MAX_NS));
	return 0;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Median of @v, which is sorted on return. @n > 0. */
static double median_of(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), compare_doubles);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/* By itself: it moves, does not go backwards and does not leap. */
static int check_alone(const struct meter_clock *clock, double *step, struct reason *why)
{
	struct check c = { .clock = clock, .why = why };
	uint64_t first, now, previous;
	unsigned long reads = 0;
	int err;

	c.last = previous = first = clock_read(clock);
	do {
		err = check_read(&c, &now);
		if (err)
			return err;
		if (now - previous > CHECK_STEP_MAX_NS)
			return reason_set(why, EIO, "jumped by %.4g s between two reads",
					  (double)(now - previous) / (double)NS_PER_S);
		previous = now;
		if (++reads > CHECK_READS_MAX)
			break;
	} while (now - first < CHECK_WINDOW_NS || reads < CHECK_STEPS);
	if (now == first)
		return reason_set(why, EIO, "does not move (%lu reads gave the same value)", reads);
	*step = c.step;
	return 0;
}

int meter_check_clock(const struct meter_clock *clock, const struct meter_clock *reference, double *per_reference,
		      struct reason *why)
{
	struct check c = { .clock = clock, .reference = reference, .why = why };
	double rate[CHECK_WINDOWS_MAX], tolerance[CHECK_WINDOWS_MAX], length[CHECK_WINDOWS_MAX],
		sorted[CHECK_WINDOWS_MAX], median = 0;
	struct check_point from, to;
	size_t n = 0, good = 0;
	int err;

	if (per_reference)
		*per_reference = 0;
	c.last = clock_read(clock);
	c.last_reference = clock_read(reference);
	err = check_take_point(&c, &from);
	if (err)
		return err;
	while (n < CHECK_WINDOWS_MAX) {
		double ticks, ns;

		err = check_wait(&c, from.reference);
		if (!err)
			err = check_take_point(&c, &to);
		if (err)
			return err;
		ticks = (double)(to.clock - from.clock);
		ns = (double)(to.reference - from.reference);
		if (ticks <= 0)
			return reason_set(why, EIO, "does not move (the same value for %.4g ms)", ns / 1e6);
		rate[n] = ticks / ns;
		tolerance[n] = CHECK_AGREE + (double)(from.gap + to.gap) / ns + (double)(from.span + to.span) / ticks +
			       2 * c.step / ticks;
		length[n] = ns;
		from = to;
		if (++n < CHECK_WINDOWS)
			continue;

		memcpy(sorted, rate, n * sizeof(*rate));
		median = median_of(sorted, n);
		good = 0;
		for (size_t i = 0; i < n; i++) {
			double excess = (rate[i] / median - 1) * length[i];

			if (fabs(excess) > CHECK_JUMP_NS)
				return reason_set(why, EIO, "jumped by %.4g s within %.4g ms", excess / 1e9,
						  length[i] / 1e6);
			if (fabs(rate[i] / median - 1) <= tolerance[i])
				sorted[good++] = rate[i];
		}
		if (good >= CHECK_WINDOWS && good * 3 >= n * 2)
			break;
	}
	if (good < CHECK_WINDOWS || good * 3 < n * 2) {
		double low = rate[0], high = rate[0];

		for (size_t i = 1; i < n; i++) {
			low = fmin(low, rate[i]);
			high = fmax(high, rate[i]);
		}
		return reason_set(why, EIO,
				  "does not agree with the clock: %.6g to %.6g units a nanosecond in %zu windows", low,
				  high, n);
	}
	median = median_of(sorted, good);
	if (c.step / median > CHECK_COARSE_NS)
		return reason_set(why, EIO, "is too coarse: it moves in steps of %.4g ms", c.step / median / 1e6);
	if (per_reference)
		*per_reference = median;
	return 0;
}

/* The architecture's counter */

#ifdef ARCH_TICKS_NAME

static uint64_t clock_ticks(void *ctx)
{
	(void)ctx;
	return arch_ticks_begin();
}

static sigjmp_buf ticks_escape;

static void ticks_fault(int sig)
{
	siglongjmp(ticks_escape, sig);
}

/*
 * Some sandboxes and enclaves forbid the instruction without saying so in PR_GET_TSC. Returns 0 or the signal's number.
 */
static int ticks_try(bool have_rdtscp)
{
	static const int signals[] = { SIGSEGV, SIGILL, SIGBUS };
	struct sigaction catch = { .sa_handler = ticks_fault }, old[ARRAY_SIZE(signals)];
	volatile uint64_t sink = 0;
	int sig;

	sigemptyset(&catch.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &catch, &old[i]);
	sig = sigsetjmp(ticks_escape, 1);
	if (!sig) {
		sink = arch_ticks_begin();
		sink = arch_ticks_end(have_rdtscp);
	}
	(void)sink;
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return sig;
}

static void ticks_open(struct meters *m, const struct meter_clock *wall)
{
	struct meter_clock ticks = { .read = clock_ticks };
	struct reason why = { 0, "" };
	char text[sizeof(why.text) + 64];
	int sig;

	m->ticks_name = ARCH_TICKS_NAME;
#if defined(__x86_64__) || defined(__i386__)
	m->have_rdtscp = arch_has(X86_NEED_RDTSCP, 0, 0);
#endif
	if (m->tsc_forbidden) {
		m->ticks_why =
			"prctl(PR_SET_TSC) forbids this process to read the time-stamp counter; the clock is read by "
			"system call";
		return;
	}
	sig = ticks_try(m->have_rdtscp);
	if (sig) {
		snprintf(text, sizeof(text), "reading %s in user space gives signal %d (%s)", ARCH_TICKS_NAME, sig,
			 strsignal(sig));
		m->ticks_why = util_intern(text);
		return;
	}
	if (meter_check_clock(&ticks, wall, &m->ticks_per_ns, &why)) {
		snprintf(text, sizeof(text), "the counter (%s) %s", ARCH_TICKS_NAME, why.text);
		m->ticks_why = util_intern(text);
		return;
	}
	m->ticks_usable = true;
	m->ticks_nominal_hz = (double)arch_ticks_hz();
}

static inline uint64_t ticks_begin(void)
{
	return arch_ticks_begin();
}

static inline uint64_t ticks_end(const struct meters *m)
{
	return arch_ticks_end(m->have_rdtscp);
}

#else

static void ticks_open(struct meters *m, const struct meter_clock *wall)
{
	(void)wall;
	m->ticks_why = ARCH_TICKS_NONE;
}

static inline uint64_t ticks_begin(void)
{
	return 0;
}

static inline uint64_t ticks_end(const struct meters *m)
{
	(void)m;
	return 0;
}

#endif

/* PR_GET_TSC exists on x86 and, since Linux 6.12, on arm64; elsewhere it fails and nothing is forbidden. */
static bool tsc_is_forbidden(void)
{
	int mode = 0;

	return prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0 && mode == PR_TSC_SIGSEGV;
}

int meters_open(struct meters *m, struct reason *why)
{
	struct meter_clock wall = { .read = clock_by_vdso };
	struct reason detail = { 0, "" };
	int err;

	memset(m, 0, sizeof(*m));
	m->tsc_forbidden = tsc_is_forbidden();
	if (m->tsc_forbidden)
		wall.read = clock_by_syscall;
	err = check_alone(&wall, &m->ns_resolution, &detail);
	if (err)
		return reason_set(why, -err, "clock unusable: CLOCK_MONOTONIC_RAW %s", detail.text);
	ticks_open(m, &wall);
	return 0;
}

/* Reading */

void meters_read_begin(struct meters *m, struct meter_reading *r)
{
	r->ns = read_ns(m->tsc_forbidden);
	r->ticks = m->ticks_usable ? ticks_begin() : 0;
	if (m->perf)
		meter_perf_read(m, r->count);
}

void meters_read_end(struct meters *m, struct meter_reading *r)
{
	if (m->perf)
		meter_perf_read(m, r->count);
	r->ticks = m->ticks_usable ? ticks_end(m) : 0;
	r->ns = read_ns(m->tsc_forbidden);
}

/* Time by the finer of the two clocks, ns. */
static double fine_ns(const struct meters *m)
{
	return m->ticks_usable ? (double)ticks_begin() / m->ticks_per_ns : (double)read_ns(m->tsc_forbidden);
}

void meters_calibrate(struct meters *m)
{
	struct meter_reading *r = util_calloc(2, sizeof(*r));
	/*
	 * A sample lasts many steps of its clock; that matters only where there is no counter and the clock is the
	 * kernel's tick.
	 */
	double least = m->ticks_usable ? 0 : CALIBRATE_STEPS * m->ns_resolution;
	double sample[CALIBRATE_SAMPLES], start = fine_ns(m), from = start, to;
	size_t n = 0;

	do {
		unsigned long reads = 0;

		do {
			for (int i = 0; i < CALIBRATE_PAIRS; i++) {
				meters_read_begin(m, &r[0]);
				meters_read_end(m, &r[1]);
			}
			reads += 2 * CALIBRATE_PAIRS;
			to = fine_ns(m);
		} while (to - from < least && reads < CHECK_READS_MAX);
		sample[n++] = (to - from) / (double)reads;
		from = to;
	} while (n < CALIBRATE_SAMPLES && to - start < CALIBRATE_MAX_NS);
	m->read_cost_ns = median_of(sample, n);
	free(r);
}

struct value meters_count(const struct meters *m, const struct meter_reading *begin, const struct meter_reading *end,
			  size_t i, double *share)
{
	const struct meter_counter *c = &m->counter[i];
	const struct meter_count *b = &begin->count[i], *e = &end->count[i];
	double value, enabled, running;

	if (share)
		*share = 0;
	if (i >= m->ncounter)
		return value_missing("no such counter");
	if (!c->supported)
		return value_missing(util_intern(c->why ? c->why : "not supported"));
	if (b->enabled == METER_COUNT_FAILED || e->enabled == METER_COUNT_FAILED)
		return value_missing("the counter could not be read");
	if (e->value < b->value)
		return value_missing("the counter went backwards");
	value = (double)(e->value - b->value) * c->scale;
	enabled = (double)e->enabled - (double)b->enabled;
	running = (double)e->running - (double)b->running;
	/*
	 * A page read in user space carries the times of the event's last change of state: two reads within one turn of
	 * the event show no time at all, and extrapolated times may seem to step back by the error of that. In both
	 * cases the event was on its counter.
	 */
	if (c->user_read && fabs(enabled) < USER_TIME_ERROR_NS && fabs(running) < USER_TIME_ERROR_NS)
		enabled = running = 1;
	if (enabled < 0 || running < 0)
		return value_missing("the counter's times went backwards");
	if (running <= 0 && c->core_type) {
		char text[128];

		snprintf(text, sizeof(text), "not counted: it counts on %.40s cores only, and the thread ran on none of them",
			 c->core_type);
		return value_missing(util_intern(text));
	}
	if (running <= 0)
		return value_missing("not counted: the event never got a hardware counter during the block");
	if (share)
		*share = running < enabled ? running / enabled : 1;
	return value_of(running < enabled ? value * (enabled / running) : value);
}

void meters_close(struct meters *m)
{
	if (m->perf || m->ncounter)
		meter_perf_close(m);
	memset(m, 0, sizeof(*m));
}
