/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe loop as a workload: what one operation of a probe costs, by every meter. Puts probes and meters together; knows nothing of
 * arms, verdicts or output.
 */
#ifndef PERF_RELAX_PROBE_RUN_H
#define PERF_RELAX_PROBE_RUN_H

#include "meter.h"
#include "probe.h"

/* Values of a trial, in this order; then one per counter of the meters. */
enum probe_value { PROBE_VALUE_NS, PROBE_VALUE_TICKS, PROBE_VALUE_CYCLES, PROBE_VALUE_COUNTERS };

struct probe_run {
	struct meters *meters;
	const struct probe *chain;	/* dependent additions, for cycles~; NULL: this build has none */
	const char *chain_why;		/* why there is none */
	uint64_t chain_iters;
	int cycles_counter;		/* index of the counter "cycles", -1: cycles are estimated */
	double block_ns;		/* planned length of the short block; the long one is twice that */
	void *operand;			/* one cache line */
	int cpu;			/* pinned to; -1: not pinned */
	int stat_fd;			/* /proc/stat for steal time, -1: not watched */
	/* seen so far */
	double share[METER_COUNTERS_MAX];	/* of the last trial: least share of a block that the counter ran, 0 to 1 */
	double frequency;		/* core clock during the last trial, cycles (or cycles~) per ns; 0: not known */
	double subtracted_ns;		/* loop and read cost of the last pair of blocks, per block */
	double measured_block_ns;	/* length of the last short block */
};

/*
 * Prepare: choose the block length so that reading the meters (calibrated) stays below 0.7 % of the shorter block, calibrate the chain, warm up until the
 * frequency settles. @settled (may be NULL): whether it did within @warmup_s. Returns 0 or -errno.
 */
int probe_run_open(struct probe_run *run, struct meters *meters, int cpu, double warmup_s, bool *settled, struct reason *why);
void probe_run_close(struct probe_run *run);

/* How many loop iterations of @p fill a short block. At least 1. */
uint64_t probe_run_calibrate(struct probe_run *run, const struct probe *p);

/* How many values probe_run_trial() stores. */
size_t probe_run_values(const struct probe_run *run);

/*
 * One trial: pairs of blocks of @iters iterations of run_short and run_long, chain blocks between them. values[] are costs of one operation: medians
 * over the pairs. @flags: TRIAL_* of result.h.
 */
void probe_run_trial(struct probe_run *run, const struct probe *p, uint64_t iters, struct value *values, unsigned int *flags);

#endif
