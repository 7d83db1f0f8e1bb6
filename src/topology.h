/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which CPUs there are, which of them this process may use, and how they hang together. Any number of CPUs; holes,
 * offline CPUs and missing files are normal.
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

/*
 * @sysroot: "" for the running machine; a recorded tree's allowed CPUs are those of its /proc/self/status, else all of
 * its online ones. `allowed` holds only CPUs that are online. Missing files leave -1, NULL or an empty list. -errno
 * only when no online CPU can be found out.
 */
int topology_read(struct topology *t, const char *sysroot, struct reason *why);
/* The same without the CPUs themselves (n = 0): only `online` and `allowed`. */
int topology_read_lists(struct topology *t, const char *sysroot, struct reason *why);
void topology_free(struct topology *t);
const struct topology_cpu *topology_cpu(const struct topology *t, int cpu);	/* NULL: not online */

/*
 * The CPUs this process may use (sched_getaffinity, grown until it fits). After the first topology_pin() of any thread:
 * the ones that the process had before it. The caller frees @list. 0, or -errno with @why.
 */
int topology_allowed(struct cpulist *list, struct reason *why);

/*
 * For -C: parse @s, require that every CPU is online and allowed, naming those that are not. Returns 0, -EINVAL (bad
 * list) or -ENXIO (not usable); then @list is empty.
 */
int topology_choose(const struct topology *t, const char *s, struct cpulist *list, struct reason *why);

/*
 * @n CPUs placed as asked: "smt" threads of one core, "core" one per core within one last-level cache, "llc" one per
 * last-level cache, "numa" one per node, or a list of CPUs of which the first @n are taken (errors as topology_choose).
 * -ENOTSUP with the reason when the machine has no such set ("no SMT sibling among the allowed CPUs"); -EINVAL for an
 * unknown word. On a hybrid CPU cores of one type are preferred. @list is ascending; the caller frees it.
 */
int topology_place(const struct topology *t, const char *place, size_t n, struct cpulist *list, struct reason *why);

/*
 * Pin the calling thread to @cpu and read it back: -EXDEV when the affinity is then not exactly @cpu (a cpuset dropped
 * it); after a failed check the thread is as it was at start. topology_unpin() gives the calling thread (or the child
 * after a fork) the mask that the process had before its first topology_pin(); without one it does nothing. Both return
 * 0 or -errno. Thread-safe.
 */
int topology_pin(int cpu, struct reason *why);
int topology_unpin(void);

#endif
