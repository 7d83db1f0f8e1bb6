/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs there are, which of them this process may use, and how they hang together. Any number of CPUs; holes, offline CPUs and
 * missing files are normal.
 */
#ifndef PERF_RELAX_TOPOLOGY_H
#define PERF_RELAX_TOPOLOGY_H

#include "util.h"

struct topology_cpu {
	int cpu;
	int core;		/* (package, core) made unique; -1 unknown */
	int package;
	int llc;		/* smallest CPU number that shares the last-level cache; -1 unknown */
	int node;		/* NUMA node; -1 unknown */
	int capacity;		/* cpu_capacity, or -1 */
	const char *core_type;	/* "cpu_core", "cpu_atom", ... of a hybrid CPU, or NULL */
	struct cpulist siblings;	/* SMT threads of the core that are online, itself included; n = 0: unknown */
};

struct topology {
	struct topology_cpu *cpu;	/* online CPUs, ascending */
	size_t n;
	struct cpulist online, allowed;
};

int topology_read(struct topology *t, const char *sysroot, struct reason *why);
void topology_free(struct topology *t);
const struct topology_cpu *topology_cpu(const struct topology *t, int cpu);	/* NULL: not online */

/* The CPUs this process may use (sched_getaffinity, grown until it fits). */
int topology_allowed(struct cpulist *list, struct reason *why);

/*
 * For -C: parse @s, require that every CPU is online and allowed, naming those that are not. Returns 0, -EINVAL (bad list) or -ENXIO (not usable).
 */
int topology_choose(const struct topology *t, const char *s, struct cpulist *list, struct reason *why);

/*
 * @n CPUs placed as asked: "smt" threads of one core, "core" one per core within one last-level cache, "llc" one per last-level cache, "numa"
 * one per node. -ENOTSUP with the reason when the machine has no such set ("no SMT sibling among the allowed CPUs").
 */
int topology_place(const struct topology *t, const char *place, size_t n, struct cpulist *list, struct reason *why);

/* Pin the calling thread to @cpu and read it back. topology_unpin restores the allowed mask as it was at start. */
int topology_pin(int cpu, struct reason *why);
int topology_unpin(void);

#endif
