/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Costs of instructions that others have published for a CPU model, to check measurements against. A CPU without values
 * is normal: there is no expected value that a new CPU could fail.
 */
#ifndef PERF_RELAX_PUBLISHED_H
#define PERF_RELAX_PUBLISHED_H

#include "env.h"

struct published_value {
	const char *microarch;	/* "Zen 5", "Alder Lake P", ... */
	const char *probe;	/* name of the probe, or of a sequence that has none ("cpuid") */
	double low, high;	/* in `unit`; equal for a single figure */
	const char *text;	/* "140-141", as published */
	const char *unit;	/* "cycles", "ns" or "ticks", per operation (sequences: as their name says) */
	double tolerance; /* how far outside [low, high] still agrees, 0.15 is 15 %; 0: never to be compared with */
	const char *source;
};

/*
 * The values that a measurement of @probe on this CPU can be compared with, @count of them (several sources may
 * differ), or NULL with 0. @core_type: topology_cpu.core_type of the CPU measured on, NULL when all are alike. On a
 * hybrid x86 model without a core type there are values (those of its P cores) only outside virtual machines: a guest's
 * CPU may be of either type.
 */
const struct published_value *published_find(const struct env *e, const char *core_type, const char *probe,
					     size_t *count);

/* What this CPU is called in the table, or NULL: not in it. */
const char *published_microarch(const struct env *e, const char *core_type);

/* Every row, those for reading only included: @i from 0; NULL past the end. */
const struct published_value *published_at(size_t i);

#endif
