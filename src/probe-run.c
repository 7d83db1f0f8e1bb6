/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A trial is a few pairs of blocks. In a pair the same loop runs with U and with 2U operations an iteration; the difference of the two readings is
 * iters * U operations, free of the loop and of the reads (nanoBench and uarch-bench do likewise). Which of the two comes first alternates, so that a
 * steady drift cancels. Chain blocks of dependent additions stand inside each pair: one core cycle an addition, so their time is the unit of cycles~.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "probe-run.h"
#include "result.h"
#include "stats.h"

#define PAIRS 5			/* odd, so that the median is a value that was seen */
#define BLOCK_NS 40e3		/* far above a clock read (0.1 us), far below a timer tick (1 to 10 ms) */
#define BLOCK_NS_MAX 20e6
#define READ_SHARE 0.007	/* of the shorter block */
#define CHAIN_SHARE 0.5		/* of a block, for each chain block */
#define ITERS_MAX (UINT64_C(1) << 40)
#define SETTLE_WINDOW 8
#define SETTLE_SPREAD 0.01
#define STAT_COST_MAX_NS 200e3	/* on machines with very many CPUs, reading /proc/stat costs more than it tells */

/* Both readings of a block. Static: a reading holds METER_COUNTERS_MAX counts, too much for a stack that is measured on. */
struct block {
	struct meter_reading begin, end;
};
static struct block short_block, long_block, chain_short, chain_long;

static void run_block(struct probe_run *run, void (*loop)(void *, uint64_t), uint64_t iters, struct block *b)
{
	meters_read_begin(run->meters, &b->begin);
	loop(run->operand, iters);
	meters_read_end(run->meters, &b->end);
}

static double block_ns(const struct block *b)
{
	return (double)(b->end.ns - b->begin.ns);
}

static double block_ticks(const struct block *b)
{
	return (double)(int64_t)(b->end.ticks - b->begin.ticks);
}

/* ns of one chain operation, by the two blocks. */
static double chain_op_ns(const struct probe_run *run)
{
	return (block_ns(&chain_long) - block_ns(&chain_short)) / ((double)run->chain_iters * run->chain->unroll);
}

static void run_chain(struct probe_run *run)
{
	run_block(run, run->chain->run_short, run->chain_iters, &chain_short);
	run_block(run, run->chain->run_long, run->chain_iters, &chain_long);
}

uint64_t probe_run_calibrate(struct probe_run *run, const struct probe *p)
{
	double target = run->block_ns, ns = 0;
	uint64_t iters = 1;

	memset(run->operand, 0, PROBE_CACHE_LINE);
	p->run_short(run->operand, 1);		/* first touch of code and data */
	p->run_long(run->operand, 1);
	for (;;) {
		run_block(run, p->run_short, iters, &short_block);
		ns = block_ns(&short_block);
		if (ns >= target / 4 || iters >= ITERS_MAX)
			break;
		iters *= 2;
	}
	/* An interrupted block looks longer than it is: take the shorter of two. */
	run_block(run, p->run_short, iters, &short_block);
	ns = fmin(ns, block_ns(&short_block));
	if (ns > 0 && ns < target)
		iters = (uint64_t)((double)iters * target / ns);
	return iters ? iters : 1;
}

/* Run the chain until SETTLE_WINDOW rates in a row lie within SETTLE_SPREAD, or time is up. */
static bool settle(struct probe_run *run, double warmup_s)
{
	double ring[SETTLE_WINDOW];
	struct meter_reading now;
	uint64_t start;
	size_t n = 0;

	meters_read_begin(run->meters, &now);
	start = now.ns;
	do {
		double low, high;

		run_chain(run);
		ring[n++ % SETTLE_WINDOW] = chain_op_ns(run);
		if (n >= SETTLE_WINDOW) {
			low = stats_quantile(ring, SETTLE_WINDOW, 0.125);
			high = stats_quantile(ring, SETTLE_WINDOW, 0.875);
			if (low > 0 && high / low < 1 + SETTLE_SPREAD)
				return true;
		}
		meters_read_begin(run->meters, &now);
	} while ((double)(now.ns - start) < warmup_s * 1e9);
	return false;
}

/* Steal time of the pinned CPU in clock ticks, from /proc/stat; -1: cannot be seen. */
static long steal_ticks(const struct probe_run *run)
{
	static char buf[65536];
	char name[32];
	long v[8];
	ssize_t n;
	char *line;

	if (run->stat_fd < 0)
		return -1;
	n = pread(run->stat_fd, buf, sizeof(buf) - 1, 0);
	if (n <= 0)
		return -1;
	buf[n] = '\0';
	snprintf(name, sizeof(name), "\ncpu%d ", run->cpu);
	line = strstr(buf, name);
	if (!line || sscanf(line + strlen(name), "%ld %ld %ld %ld %ld %ld %ld %ld", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7) != 8)
		return -1;
	return v[7];
}

static void watch_steal(struct probe_run *run)
{
	struct meter_reading a, b;

	run->stat_fd = -1;
	if (run->cpu < 0)
		return;
	run->stat_fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);
	steal_ticks(run);
	meters_read_begin(run->meters, &a);
	steal_ticks(run);
	meters_read_end(run->meters, &b);
	if (run->stat_fd >= 0 && (double)(b.ns - a.ns) > STAT_COST_MAX_NS) {
		close(run->stat_fd);
		run->stat_fd = -1;
	}
}

int probe_run_open(struct probe_run *run, struct meters *meters, int cpu, double warmup_s, bool *settled, struct reason *why)
{
	*run = (struct probe_run){ .meters = meters, .cpu = cpu, .stat_fd = -1, .cycles_counter = -1 };
	if (posix_memalign(&run->operand, PROBE_CACHE_LINE, PROBE_CACHE_LINE))
		return reason_set(why, ENOMEM, "no memory for the operand");
	memset(run->operand, 0, PROBE_CACHE_LINE);
	for (size_t i = 0; i < meters->ncounter; i++)
		if (!meters->counter[i].why && run->cycles_counter < 0 &&
		    (!strcmp(meters->counter[i].name, "cycles") || !strcmp(meters->counter[i].name, "cycles:u")))
			run->cycles_counter = (int)i;
	run->block_ns = fmin(fmax(BLOCK_NS, meters->read_cost_ns / READ_SHARE), BLOCK_NS_MAX);
	run->chain = probe_find("chain-add");
	run->chain_why = run->chain ? probe_why_absent(run->chain) : "no chain of dependent additions for this architecture";
	if (run->chain_why)
		run->chain = NULL;
	if (settled)
		*settled = true;
	if (run->chain) {
		bool ok;

		run->block_ns *= CHAIN_SHARE;
		run->chain_iters = probe_run_calibrate(run, run->chain);
		run->block_ns /= CHAIN_SHARE;
		ok = settle(run, warmup_s);
		if (settled)
			*settled = ok;
	}
	watch_steal(run);
	return 0;
}

void probe_run_close(struct probe_run *run)
{
	free(run->operand);
	run->operand = NULL;
	if (run->stat_fd >= 0)
		close(run->stat_fd);
	run->stat_fd = -1;
}

size_t probe_run_values(const struct probe_run *run)
{
	return PROBE_VALUE_COUNTERS + run->meters->ncounter;
}

/* The difference long - short of counter @i as cost of one operation. */
static struct value counter_difference(struct probe_run *run, size_t i, double ops, unsigned int *flags)
{
	double share_short, share_long;
	struct value s = meters_count(run->meters, &short_block.begin, &short_block.end, i, &share_short);
	struct value l = meters_count(run->meters, &long_block.begin, &long_block.end, i, &share_long);

	if (s.why)
		return s;
	if (l.why)
		return l;
	run->share[i] = fmin(run->share[i], fmin(share_short, share_long));
	if (run->share[i] < 1)
		*flags |= TRIAL_SCALED;
	return value_of((l.number - s.number) / ops);
}

/* Core cycles per ns during the pair just run: by the chain, or by the cycles counter over the long block. 0: not known. */
static double pair_frequency(const struct probe_run *run)
{
	double ns = block_ns(&long_block);
	struct value v;

	if (run->cycles_counter < 0)
		return run->chain && chain_op_ns(run) > 0 ? 1 / chain_op_ns(run) : 0;
	v = meters_count(run->meters, &long_block.begin, &long_block.end, (size_t)run->cycles_counter, NULL);
	return v.why || ns <= 0 ? 0 : v.number / ns;
}

/* One pair of blocks; costs of one operation into row[]. */
static void run_pair(struct probe_run *run, const struct probe *p, uint64_t iters, bool long_first, struct value *row, unsigned int *flags)
{
	double ops = (double)iters * p->unroll, ns, chain_ns;

	if (long_first)
		run_block(run, p->run_long, iters, &long_block);
	else
		run_block(run, p->run_short, iters, &short_block);
	if (run->chain && run->cycles_counter < 0)
		run_chain(run);
	if (long_first)
		run_block(run, p->run_short, iters, &short_block);
	else
		run_block(run, p->run_long, iters, &long_block);

	ns = (block_ns(&long_block) - block_ns(&short_block)) / ops;
	run->measured_block_ns = block_ns(&short_block);
	run->subtracted_ns = 2 * block_ns(&short_block) - block_ns(&long_block);
	row[PROBE_VALUE_NS] = value_of(ns);
	row[PROBE_VALUE_TICKS] = run->meters->ticks_usable ?
		value_of((block_ticks(&long_block) - block_ticks(&short_block)) / ops) : value_missing(run->meters->ticks_why);
	for (size_t i = 0; i < run->meters->ncounter; i++)
		row[PROBE_VALUE_COUNTERS + i] = counter_difference(run, i, ops, flags);
	if (run->cycles_counter >= 0) {
		row[PROBE_VALUE_CYCLES] = row[PROBE_VALUE_COUNTERS + run->cycles_counter];
		return;
	}
	if (!run->chain) {
		row[PROBE_VALUE_CYCLES] = value_missing(run->chain_why);
		return;
	}
	chain_ns = chain_op_ns(run);
	row[PROBE_VALUE_CYCLES] = chain_ns > 0 ? value_of(ns / chain_ns) : value_missing("the calibration chain took no time");
}

/* Median over the pairs; a value that is missing in one pair is missing, with its reason. */
static struct value column_median(struct value *rows, size_t columns, size_t column)
{
	double x[PAIRS];

	for (size_t i = 0; i < PAIRS; i++) {
		struct value *v = &rows[i * columns + column];

		if (v->why)
			return *v;
		x[i] = v->number;
	}
	return value_of(stats_median(x, PAIRS));
}

void probe_run_trial(struct probe_run *run, const struct probe *p, uint64_t iters, struct value *values, unsigned int *flags)
{
	size_t columns = probe_run_values(run);
	struct value rows[PAIRS * (PROBE_VALUE_COUNTERS + METER_COUNTERS_MAX)];
	double frequency[PAIRS];
	struct rusage before, after;
	long steal = steal_ticks(run);
	int cpu = sched_getcpu();

	*flags = 0;
	for (size_t i = 0; i < run->meters->ncounter; i++)
		run->share[i] = 1;
	getrusage(RUSAGE_THREAD, &before);
	memset(run->operand, 0, PROBE_CACHE_LINE);
	for (size_t i = 0; i < PAIRS; i++) {
		run_pair(run, p, iters, i & 1, &rows[i * columns], flags);
		frequency[i] = pair_frequency(run);
	}
	getrusage(RUSAGE_THREAD, &after);
	if (sched_getcpu() != cpu)
		*flags |= TRIAL_MIGRATED;
	if (after.ru_nivcsw != before.ru_nivcsw)
		*flags |= TRIAL_DESCHEDULED;
	if (steal >= 0 && steal_ticks(run) > steal)
		*flags |= TRIAL_STOLEN;
	for (size_t c = 0; c < columns; c++)
		values[c] = column_median(rows, columns, c);
	run->frequency = stats_median(frequency, PAIRS);
}
