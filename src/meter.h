/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Clocks and counters are one concept: a meter is opened, read around a block, and closed. The wall clock
 * (CLOCK_MONOTONIC_RAW) and the architecture's counter are always there; PMU events are added by name (meter-perf.c).
 */
#ifndef PERF_RELAX_METER_H
#define PERF_RELAX_METER_H

#include <stdint.h>

#include "util.h"

#define METER_COUNTERS_MAX 64

/* The two clocks: X(ident, "name", "unit", "what") */
#define METERS(X) \
	X(NS, "ns", "ns", "wall clock, CLOCK_MONOTONIC_RAW") \
	X(TICKS, "ticks", "ticks", "the architecture's counter; never the same as core cycles")

/* One PMU event. */
struct meter_counter {
	char *name;		/* as asked for, with the modifiers that were really used ("cycles:u") */
	char *unit;		/* "" for counts, else "ns", "Joules", ... */
	double scale;		/* count * scale is in @unit; meters_count() applies it */
	char *why;		/* NULL: open; else why not, in a sentence */
	int err;		/* errno of the failure */
	bool supported;		/* false: <not supported>; true with time_running 0: <not counted> */
	bool generic;		/* libpfm4 did not know the CPU: perf's generic event was used */
	bool user_read;		/* read from user space (rdpmc and the like); known after meters_start() */
	const char *user_read_why;	/* why not; NULL when user_read */
	const char *core_type;	/* of a hybrid machine: the only type of core it counts on ("cpu_atom"); else NULL */
	bool never_zero;	/* any block of work counts some (cycles, instructions, raw codes): 0 is implausible */
	bool user_only;		/* the kernel's part was left out for lack of permission; the name ends in ":u" then */
	bool ungrouped;		/* was asked for in a group that the PMU cannot hold: counted by itself */
	int group;		/* index of its group; groups are scheduled together */
	int cpu;		/* -1: counts this thread; else all that happens on that CPU (PMUs outside the cores) */
	void *handle;		/* owned by meter-perf.c */
};

/* What reading a counter gives. */
struct meter_count {
	uint64_t value, enabled, running;	/* enabled, running in ns */
};

struct meters {
	/* clocks */
	bool ticks_usable;
	const char *ticks_why;		/* NULL when usable */
	const char *ticks_name;		/* "tsc", ... or NULL */
	double ticks_per_ns;		/* measured; 0 when not usable */
	double ticks_nominal_hz;	/* as the CPU states it (CNTFRQ_EL0, CPUID.15H, ...); 0: it does not */
	bool tsc_forbidden;		/* PR_GET_TSC says SIGSEGV: the clock is read by system call */
	bool have_rdtscp;
	double ns_resolution;		/* smallest step seen, ns */
	double read_cost_ns;		/* one meters_read(), median, measured by meters_calibrate() */
	/* what counters are opened for; to be set between meters_open() and meters_add_events() */
	int target_tid;			/* 0: the calling thread; another thread's or process's id */
	bool inherit;			/* with the threads and children that it starts from then on */
	bool enable_on_exec;		/* counting begins when the target calls execve(2), not with meters_start() */
	/* counters */
	struct meter_counter counter[METER_COUNTERS_MAX];
	size_t ncounter;
	void *perf;			/* owned by meter-perf.c; NULL: no counters */
};

/* A reading of everything. */
struct meter_reading {
	uint64_t ns;
	uint64_t ticks;
	struct meter_count count[METER_COUNTERS_MAX];
};

/*
 * Open the clocks: asks PR_GET_TSC, checks that the clock and the counter move, do not go backwards, and agree (three
 * short windows against CLOCK_MONOTONIC_RAW, median; outliers rejected). A counter that fails is refused (ticks_usable
 * false, ticks_why); a clock that fails is an error: -EIO "clock unusable".
 */
int meters_open(struct meters *m, struct reason *why);

/*
 * Add events for the calling thread (or target_tid): a perf-style list
 * "cycles,instructions:u,{a,b},cpu/event=0x3c/,r01c2,sched:sched_switch". Names: libpfm4, then perf's generic names,
 * cpu/.../ , raw, tracepoints. An event that this machine cannot count is added with its reason and is no failure
 * unless @required. Unknown names: -EINVAL with the nearest names in @why, and nothing is added. Hybrid CPUs: one
 * counter per core type. With @required an event that cannot be counted is -errno of its failure, never -EINVAL (then
 * -EOPNOTSUPP).
 */
int meters_add_events(struct meters *m, const char *list, bool required, struct reason *why);

/*
 * Start counting (once, after the last add). Counters then run until meters_close(). Finds out which counters can be
 * read from user space, and takes groups apart that the PMU does not schedule. Call it on the thread that will read: a
 * user-space read means the reader's own CPU.
 */
int meters_start(struct meters *m, struct reason *why);

/* Measure the cost of meters_read() on this thread's CPU. */
void meters_calibrate(struct meters *m);

/* Read all: clocks outermost, so that their difference covers the block and the counters' own reads are known. */
void meters_read_begin(struct meters *m, struct meter_reading *r);
void meters_read_end(struct meters *m, struct meter_reading *r);

/*
 * end - begin of counter @i: scaled by enabled / running of that event itself in double precision; @share (may be NULL)
 * gets running / enabled (1: never multiplexed). running 0 gives "<not counted>" with its reason.
 */
struct value meters_count(const struct meters *m, const struct meter_reading *begin, const struct meter_reading *end,
			  size_t i, double *share);

void meters_close(struct meters *m);

/*
 * The sanity check by itself, with the two clocks as functions so that tests can pass broken ones. Returns 0, or -EIO
 * and @why: "does not move", "went backwards by", "jumped". @ticks_per_ns gets the median rate.
 */
struct meter_clock {
	uint64_t (*read)(void *ctx);
	void *ctx;
};
int meter_check_clock(const struct meter_clock *clock, const struct meter_clock *reference, double *per_reference,
		      struct reason *why);

/*
 * meter-perf.c, reached through the above; the advice for a failed perf_event_open(2), with the values that matter as
 * read now.
 */
void meter_perf_advice(int err, const char *event, int cpu, struct reason *why);
/* All event names that the machine knows, for `list` and for nearest names: NULL-terminated, lives until exit. */
const char *const *meter_perf_event_names(void);

#endif
