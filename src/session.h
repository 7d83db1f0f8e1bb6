/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What every measuring command sets up and takes down: where it runs, on which CPU, with which meters, and the record of all that in the result.
 */
#ifndef PERF_RELAX_SESSION_H
#define PERF_RELAX_SESSION_H

#include "env.h"
#include "experiment.h"
#include "meter.h"
#include "options.h"
#include "result.h"
#include "topology.h"

struct session {
	struct env env;
	struct topology topology;
	struct cpulist cpus;	/* those of -C, else all allowed ones */
	int cpu;		/* the one that this thread is pinned to, -1: not pinned */
	struct meters meters;
	bool meters_open;
};

/*
 * Read the machine, choose CPUs (-C, else the allowed ones), pin this thread to one of them when @pin, open the clocks, add the events of -e
 * (which must work) or else @default_events (which need not), start and calibrate. Returns an exit code; not EXIT_DONE: @why is set.
 * The pinned CPU is the last of the list: interrupts gather on the first ones, and on hybrid machines the list is first cut to the
 * type of its first CPU.
 */
int session_open(struct session *s, const struct measure_options *o, const char *default_events, bool pin, struct reason *why);
void session_close(struct session *s);

/* A result with the rule, the seed, the environment and the warnings that follow from it. */
struct result *session_result(const struct session *s, const struct measure_options *o, const char *command, int argc, char *const *argv);

/*
 * Write the result file (-o) and print the report to @f in the form that was asked for (-x, -j, else the table; nothing when the file is standard
 * output itself). Errors are printed. Returns EXIT_DONE, or EXIT_FAILED when something could not be written or the result is partial.
 */
int session_print(const struct result *r, const struct measure_options *o, FILE *f);

/* For struct experiment's progress: draws the progress line; @e NULL wipes it. @ctx is not used. */
void session_progress(void *ctx, const struct experiment *e);

/* The core type of @cpu on a hybrid machine, else NULL. */
const char *session_core_type(const struct session *s, int cpu);

#endif
