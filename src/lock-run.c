/* SPDX-License-Identifier: GPL-2.0-only */
/* Trials of lock contention: windows (lock-window.c) put together, and what their counts say. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lock-private.h"
#include "stats.h"

#define NOBODY "nobody got the lock in the window"

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2); 1 is fair, 1/n is one thread taking all. */
static void fairness(const uint64_t *x, unsigned int n, struct value *values)
{
	double sum = 0, squares = 0, *sorted = util_calloc(n, sizeof(*sorted));

	for (unsigned int i = 0; i < n; i++) {
		sorted[i] = (double)x[i];
		sum += sorted[i];
		squares += sorted[i] * sorted[i];
	}
	qsort(sorted, n, sizeof(*sorted), compare_doubles);
	if (sum > 0) {
		values[LOCK_VALUE_JAIN] = value_of(sum * sum / (n * squares));
		values[LOCK_VALUE_MIN_SHARE] = value_of(sorted[0] / sum);
		values[LOCK_VALUE_MEDIAN_SHARE] = value_of((sorted[(n - 1) / 2] + sorted[n / 2]) / 2 / sum);
		values[LOCK_VALUE_MAX_SHARE] = value_of(sorted[n - 1] / sum);
	} else {
		values[LOCK_VALUE_JAIN] = values[LOCK_VALUE_MIN_SHARE] = values[LOCK_VALUE_MEDIAN_SHARE] =
			values[LOCK_VALUE_MAX_SHARE] = value_missing(NOBODY);
	}
	free(sorted);
}

/*
 * One kind of histogram of all threads in run->merged; the missing value says why there is nothing to take a quantile
 * of.
 */
static struct value merge(struct lock_run *run, unsigned int n, int kind, const char *empty)
{
	if (!run->meters->ticks_usable)
		return value_missing(run->meters->ticks_why);
	histogram_reset(&run->merged);
	for (unsigned int i = 0; i < n; i++)
		if (run->worker[i].acquire[kind].count)
			histogram_merge(&run->merged, &run->worker[i].acquire[kind]);
	return run->merged.count ? value_of(1 / run->meters->ticks_per_ns) : value_missing(empty);
}

static struct value quantile(const struct lock_run *run, struct value ns_per_tick, double q)
{
	return ns_per_tick.why ? ns_per_tick : value_of(histogram_quantile(&run->merged, q) * ns_per_tick.number);
}

static void latencies(struct lock_run *run, unsigned int n, bool spins_counted, struct value *values)
{
	struct value scale = merge(run, n, 0, NOBODY);
	uint64_t acquisitions = 0, spins = 0;

	values[LOCK_VALUE_P50] = quantile(run, scale, 0.5);
	values[LOCK_VALUE_P99] = quantile(run, scale, 0.99);
	values[LOCK_VALUE_P999] = quantile(run, scale, 0.999);
	values[LOCK_VALUE_MAX] = quantile(run, scale, 1);
	scale = merge(run, n, 1, "the lock never went from one thread to another");
	values[LOCK_VALUE_HANDOFF] = quantile(run, scale, 0.5);
	scale = merge(run, n, 2, NOBODY);
	values[LOCK_VALUE_HELD] = quantile(run, scale, 0.5);
	scale = merge(run, n, 3, "no thread got the lock twice in the window");
	values[LOCK_VALUE_THOUGHT] = quantile(run, scale, 0.5);
	for (unsigned int i = 0; i < n; i++) {
		acquisitions += run->worker[i].acquire->count;
		spins += run->worker[i].spins;
	}
	if (!spins_counted)
		values[LOCK_VALUE_SPINS] = value_missing("the wait loop is the C library's");
	else
		values[LOCK_VALUE_SPINS] = acquisitions ? value_of((double)spins / (double)acquisitions)
							: value_missing(NOBODY);
}

/*
 * A counter by the beginning of its name ("cycles:u" when the kernel may not be counted; one for each core type of a
 * hybrid CPU, which add up) for one acquisition. Counted is all that the threads do from their making to their end, so
 * it is divided by all acquisitions, not only those in the window.
 */
static struct value per_acquisition(const struct lock_run *run, const char *name, uint64_t acquisitions)
{
	struct value one, sum = value_missing("no such counter");
	const struct meters *m = &run->counters;

	for (size_t i = 0; i < m->ncounter; i++) {
		if (!strstr(m->counter[i].name, name))
			continue;
		one = meters_count(m, run->before, run->after, i, NULL);
		if (one.why && sum.why)
			sum = one;
		else if (!one.why)
			sum = value_of(one.number + (sum.why ? 0 : sum.number));
	}
	if (sum.why || !acquisitions)
		return sum.why ? sum : value_missing(NOBODY);
	return value_of(sum.number / (double)acquisitions);
}

static void set_loops(struct lock_run *run, const struct lock_condition *c,
		      void (*loop)(struct lock_shared *s, struct lock_thread *t))
{
	for (unsigned int i = 0; i < c->threads; i++) {
		run->worker[i].loop = loop;
		run->worker[i].cpu = c->cpus.n ? c->cpus.cpu[i % c->cpus.n] : -1;
	}
}

/* Before each trial. */
static int begin_trial(struct lock_run *run, unsigned int n, struct reason *why)
{
	run->preempted = false;
	if (run->lost)
		return reason_set(why, ETIMEDOUT, "threads of an earlier trial are still running");
	if (n < 1 || n > run->room)
		return reason_set(why, EINVAL, "%u threads: this run was opened for 1 to %u", n, run->room);
	return 0;
}

int lock_run_trial(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		   struct value *values, uint64_t *per_thread, struct reason *why)
{
	uint64_t *ignored, all = 0;
	struct window w = { 0 };
	double sum = 0;
	long switches = 0;
	int err = begin_trial(run, c->threads, why);

	if (err)
		return err;
	set_loops(run, c, p->run);
	meters_read_begin(&run->counters, run->before);
	err = lock_window(run, p, c, c->threads, c->window_s, WINDOW_CONTEND, per_thread, &w, why);
	meters_read_end(&run->counters, run->after);
	if (err)
		return err;
	for (unsigned int i = 0; i < c->threads; i++) {
		sum += (double)per_thread[i];
		all += run->threads[i].acquired;
		switches += run->worker[i].switches;
	}
	values[LOCK_VALUE_RATE] = value_of(sum / w.seconds);
	values[LOCK_VALUE_SWITCHES] = value_of((double)switches / w.run_s);
	values[LOCK_VALUE_OVERLAP] = value_of(w.seconds / w.run_s);
	values[LOCK_VALUE_INSTRUCTIONS] = per_acquisition(run, "instructions", all);
	values[LOCK_VALUE_CYCLES] = per_acquisition(run, "cycles", all);
	values[LOCK_VALUE_ENERGY] = run->no_energy ? value_missing(run->no_energy) : per_acquisition(run, "energy-pkg", all);
	fairness(per_thread, c->threads, values);
	ignored = util_calloc(c->threads, sizeof(*ignored));
	set_loops(run, c, p->run_counted);
	err = lock_window(run, p, c, c->threads, c->window_s / 2, WINDOW_CONTEND, ignored, &w, why);
	free(ignored);
	if (!err)
		latencies(run, c->threads, strcmp(p->hint, "library") != 0, values);
	return err;
}

/* The victim's blocks per second, alone or beside the spinner. */
static int victim_rate(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		       void (*victim)(struct lock_shared *s, struct lock_thread *t), bool beside, double *rate,
		       struct reason *why)
{
	uint64_t blocks[2];
	struct window w = { 0 };
	int err;

	run->worker[0].loop = victim;
	run->worker[0].cpu = c->victim_cpu;
	run->worker[1].loop = p->run;
	run->worker[1].cpu = c->spinner_cpu;
	err = lock_window(run, p, c, 1 + beside, c->window_s, beside ? WINDOW_HELD : WINDOW_ALONE, blocks, &w, why);
	if (!err)
		*rate = (double)blocks[0] / w.seconds;
	return err;
}

int lock_run_victim(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		    struct value *values, struct reason *why)
{
	static const struct {
		void (*loop)(struct lock_shared *s, struct lock_thread *t);
		double operations;	/* of one block */
		enum lock_victim_value share, beside, alone;
	} victim[] = {
		{ lock_victim_alu, LOCK_VICTIM_ALU_OPS, LOCK_VALUE_VICTIM_ALU_SHARE, LOCK_VALUE_VICTIM_ALU,
		  LOCK_VALUE_VICTIM_ALU_ALONE },
		{ lock_victim_memory, LOCK_VICTIM_LOADS, LOCK_VALUE_VICTIM_MEMORY_SHARE, LOCK_VALUE_VICTIM_MEMORY,
		  LOCK_VALUE_VICTIM_MEMORY_ALONE },
	};
	double alone = 0, beside = 0;
	int err = begin_trial(run, 2, why);

	if (!err && !run->shared->chase) {
		if (posix_memalign(&run->shared->chase, 4096, LOCK_VICTIM_BYTES))
			return reason_set(why, ENOMEM, "no memory for the victim (%u bytes)", LOCK_VICTIM_BYTES);
		lock_victim_ring(run->shared->chase, LOCK_VICTIM_BYTES);
	}
	for (size_t i = 0; i < ARRAY_SIZE(victim) && !err; i++) {
		err = victim_rate(run, p, c, victim[i].loop, false, &alone, why);
		if (!err)
			err = victim_rate(run, p, c, victim[i].loop, true, &beside, why);
		values[victim[i].alone] = value_of(alone * victim[i].operations);
		values[victim[i].beside] = value_of(beside * victim[i].operations);
		values[victim[i].share] = alone > 0 ? value_of(beside / alone)
						    : value_missing("the victim did not come to run");
	}
	return err;
}

int lock_run_handoff(struct lock_run *run, const struct lock_pair *p, const struct lock_condition *c,
		     struct value *values, struct reason *why)
{
	uint64_t turns[2];
	struct window w = { 0 };
	int err = begin_trial(run, 2, why);

	if (err)
		return err;
	set_loops(run, c, p->run);
	err = lock_window(run, p, c, 2, c->window_s, WINDOW_CONTEND, turns, &w, why);
	if (err)
		return err;
	values[LOCK_VALUE_MATRIX_HANDOFF] = turns[0] + turns[1]
						    ? value_of(w.seconds * 1e9 / (double)(turns[0] + turns[1]))
						    : value_missing("the turn never changed in the window");
	values[LOCK_VALUE_MATRIX_OVERLAP] = value_of(w.seconds / w.run_s);
	return 0;
}

bool lock_run_preempted(const struct lock_run *run)
{
	return run->preempted;
}

const char *lock_relation(const struct topology *t, int a, int b)
{
	const struct topology_cpu *x = topology_cpu(t, a), *y = topology_cpu(t, b);

	if (!x || !y)
		return "unknown";
	if (x->core >= 0 && x->core == y->core)
		return "smt";
	if (x->llc >= 0 && x->llc == y->llc)
		return "llc";
	/* A package may hold several nodes, and (rarely) a node several packages: the nearer one is said. */
	if (x->package >= 0 && x->package == y->package)
		return x->node >= 0 && x->node != y->node ? "socket" : x->node >= 0 ? "node" : "socket";
	if (x->node >= 0 && x->node == y->node)
		return "node";
	return x->package >= 0 && y->package >= 0 ? "machine" : "unknown";
}

/* Counters of all threads that this one starts. A machine without them is normal: each keeps its reason. */
static void open_counters(struct lock_run *run)
{
	struct reason why = { 0 };

	run->counters = *run->meters;
	run->counters.ncounter = 0;
	run->counters.perf = NULL;
	run->counters.inherit = true;
	meters_add_events(&run->counters, "instructions", false, NULL);
	meters_add_events(&run->counters, "cycles", false, NULL);
	/* Not every machine knows the name. */
	if (meters_add_events(&run->counters, "power/energy-pkg/", false, &why))
		run->no_energy = util_intern(why.text);
	meters_start(&run->counters, NULL);
}

struct lock_run *lock_run_open(const struct meters *m, unsigned int threads, struct reason *why)
{
	struct lock_run *run = util_calloc(1, sizeof(*run));
	void *shared = NULL, *array = NULL;

	run->meters = m;
	run->room = threads;
	if (threads >= LOCK_THREADS_MAX || posix_memalign(&shared, 4096, sizeof(struct lock_shared)) ||
	    posix_memalign(&array, 4096, (threads + 1) * sizeof(struct lock_thread))) {
		reason_set(why, ENOMEM, "no memory for %u threads (fewer than %d)", threads, LOCK_THREADS_MAX);
		free(shared);
		free(run);
		return NULL;
	}
	run->shared = memset(shared, 0, sizeof(struct lock_shared));
	run->threads = memset(array, 0, (threads + 1) * sizeof(struct lock_thread));
	run->worker = util_calloc(threads, sizeof(*run->worker));
	run->histograms = util_calloc(WORKER_HISTOGRAMS * (size_t)threads, sizeof(*run->histograms));
	run->before = util_calloc(1, sizeof(*run->before));
	run->after = util_calloc(1, sizeof(*run->after));
	open_counters(run);
	return run;
}

void lock_run_close(struct lock_run *run)
{
	if (!run || run->lost)
		return;
	meters_close(&run->counters);
	free(run->shared->chase);
	free(run->shared);
	free(run->threads);
	free(run->worker);
	free(run->histograms);
	free(run->before);
	free(run->after);
	free(run);
}

double lock_run_idle_ns(uint64_t iters)
{
	double x[9];
	/* Enough for the clock, few enough that a long critical section is not measured for minutes. */
	uint64_t calls = iters < 1000 ? 1000 : 1 + 1000000 / iters;
	size_t n = iters < 10000000 ? ARRAY_SIZE(x) : 1;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = lock_now_ns();

		for (uint64_t k = 0; k < calls; k++)
			lock_idle(iters);
		x[i] = (double)(lock_now_ns() - start) / (double)calls;
	}
	return stats_median(x, n);
}

uint64_t lock_run_idle_iters(double ns)
{
	double shorter = INFINITY, longer = INFINITY, one;

	if (ns <= 0)
		return 0;
	/* What disturbs a loop only makes it longer: the shortest of several, taken in turn, is its own time, on a busy machine too. */
	for (int i = 0; i < 5; i++) {
		shorter = fmin(shorter, lock_run_idle_ns(2000));
		longer = fmin(longer, lock_run_idle_ns(4000));
	}
	one = (longer - shorter) / 2000;
	/* Still no difference: the loop's own overhead is small beside 4000 passes, so that the plain quotient serves. */
	if (one <= 0)
		one = longer / 4000;
	return (uint64_t)fmax(1, round(ns / one));
}
