/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What meter*.c share; nobody else but their tests includes it.
 *
 *	meter.c         clocks, readings
 *	meter-perf.c    counters: opened, mapped and read with libperf
 *	meter-events.c  a perf-style list of events -> struct meter_event
 *	meter-pmu.c     the PMUs of sysfs and the tracepoints of tracefs
 *	meter-pfm.c     libpfm4's event names
 *	meter-advice.c  what to do when perf_event_open(2) fails
 */
#ifndef PERF_RELAX_METER_PERF_H
#define PERF_RELAX_METER_PERF_H

#include <linux/perf_event.h>

#include "meter-pfm.h"
#include "meter.h"

/* One event as asked for, encoded. */
struct meter_event {
	char *name;		/* as asked for; for one PMU of several "cpu_core/cycles/" */
	char *unit;		/* "", "ns", "Joules", ... */
	double scale;		/* count * scale is in @unit */
	struct perf_event_attr attr;
	const char *core_type;	/* of a hybrid machine, "cpu_atom": counts on such cores only; else NULL */
	int cpu;		/* -1: the thread's; else everything on that CPU (PMUs outside the cores) */
	int group;		/* events with the same number are one group */
	bool levels_given;	/* :u, :k or :h was asked for, so the kernel's part may not be left out quietly */
	bool kernel_only;	/* happens in the kernel only: counting user space alone would give 0 */
	bool generic;		/* perf's generic hardware event, on a CPU that libpfm4 does not know */
	char *why;		/* NULL, or why it cannot be counted here (known without opening it) */
	int err;
};

struct meter_event_list {
	struct meter_event *event;
	size_t n;
	int groups;
};

/* Parse @text. -EINVAL with the nearest names in @why; the list is then empty. Free with meter_events_free(). */
int meter_events_parse(const char *text, struct meter_event_list *list, struct reason *why);
void meter_events_free(struct meter_event_list *list);

/* perf's generic names, in the order of `perf list`: @i from 0, NULL past the end. */
const char *meter_generic_name(size_t i);

/* Everything under /sys and /proc is read below @root: "" is this machine. For tests. */
void meter_perf_set_root(const char *root);
const char *meter_perf_root(void);

/* A PMU as sysfs shows it. */
struct meter_pmu {
	char name[64];
	uint32_t type;
	bool core;		/* has `cpus`, or is named "cpu": counts for threads */
	struct cpulist cpumask;	/* of a PMU outside the cores: the CPUs to count on; n = 0: none given */
};

/*
 * All PMUs whose name is @name, or, when there is none, @name followed by _ and a number. Returns how many; the caller
 * frees *@out with meter_pmu_free().
 */
size_t meter_pmu_find(const char *name, struct meter_pmu **out);
/* All PMUs that count for the cores: more than one is a hybrid machine. */
size_t meter_pmu_cores(struct meter_pmu **out);
/* Where there is none, the CPU's model and the event's code do not matter. */
bool meter_pmu_have_core(void);
void meter_pmu_free(struct meter_pmu *pmu, size_t n);
/* Apply "event=0x3c,umask=1" to @e. -EINVAL and the reason. */
int meter_pmu_terms(const struct meter_pmu *pmu, const char *terms, struct meter_event *e, struct reason *why);
/* Is @event one of @pmu's named events? */
bool meter_pmu_has_event(const struct meter_pmu *pmu, const char *event);
/* Each callback gets a name that is valid during the call only. */
void meter_pmu_each_name(void (*call)(void *ctx, const char *name), void *ctx);
void meter_pmu_each_event(void (*call)(void *ctx, const char *name), void *ctx);
void meter_tracepoint_each(void (*call)(void *ctx, const char *name), void *ctx);
/* Is @system one that has tracepoints ("sched")? False also where tracefs cannot be read. */
bool meter_tracepoint_system(const char *system);
/* Returns the id, or -errno: -ENOENT no such tracepoint, -ENODEV no tracefs, -EACCES not allowed to look. */
long meter_tracepoint_id(const char *system, const char *name);

/*
 * Read every open counter of @m into @count[]; what cannot be read is marked METER_COUNT_FAILED. The hot path: no
 * allocation, no messages.
 */
void meter_perf_read(struct meters *m, struct meter_count *count);
#define METER_COUNT_FAILED UINT64_MAX	/* in enabled */

/* Close all counters and free what meters_add_events() made. */
void meter_perf_close(struct meters *m);

#endif
