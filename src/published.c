/* SPDX-License-Identifier: GPL-2.0-only */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "published.h"
#include "published-values.h"
#include "sysroot.h"

enum microarch {
#define X(ident, name) MICROARCH_##ident,
	MICROARCHS(X)
#undef X
	MICROARCH_COUNT,
	MICROARCH_NONE = -1
};

static const char *const microarch_name[] = {
#define X(ident, name) name,
	MICROARCHS(X)
#undef X
};

#define VENDOR_INTEL "GenuineIntel"
#define VENDOR_AMD "AuthenticAMD"

static const struct x86_key {
	const char *vendor;
	int family, first_model, last_model, first_stepping, last_stepping;
	const char *core_type;
	enum microarch microarch;
} x86_keys[] = {
#define X(vendor, family, first, last, first_stepping, last_stepping, type, ident) \
	{ VENDOR_##vendor, family, first, last, first_stepping, last_stepping, type, MICROARCH_##ident },
	X86_KEYS(X)
#undef X
};

static const struct arm_key {
	int implementer, part;
	enum microarch microarch;
} arm_keys[] = {
#define X(implementer, part, ident) { implementer, part, MICROARCH_##ident },
	ARM_KEYS(X)
#undef X
};

static const struct ppc_key {
	int pvr;
	enum microarch microarch;
} ppc_keys[] = {
#define X(pvr, ident) { pvr, MICROARCH_##ident },
	PPC_KEYS(X)
#undef X
};

static struct row {
	enum microarch microarch;
	struct published_value value;
} rows[] = {
/* A figure comes as three arguments out of one macro, hence the second level. */
#define ROW(ident, name, a, b, figure, of, off, from) \
	{ MICROARCH_##ident, \
	  { .probe = name, \
	    .low = a, \
	    .high = b, \
	    .text = figure, \
	    .unit = of, \
	    .tolerance = off, \
	    .source = SOURCE_##from } },
#define X(...) ROW(__VA_ARGS__)
	PUBLISHED_VALUES(X)
#undef X
#undef ROW
};

/* The same sorted: by microarchitecture and probe, those to compare with first. */
static struct published_value values[ARRAY_SIZE(rows)];
static enum microarch value_microarch[ARRAY_SIZE(rows)];
static pthread_once_t sorted = PTHREAD_ONCE_INIT;

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->value.probe, y->value.probe);

	if (x->microarch != y->microarch)
		return x->microarch < y->microarch ? -1 : 1;
	if (order)
		return order;
	if ((x->value.tolerance > 0) != (y->value.tolerance > 0))
		return x->value.tolerance > 0 ? -1 : 1;
	return strcmp(x->value.source, y->value.source);
}

static void sort_rows(void)
{
	qsort(rows, ARRAY_SIZE(rows), sizeof(rows[0]), compare_rows);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		values[i] = rows[i].value;
		values[i].microarch = microarch_name[rows[i].microarch];
		value_microarch[i] = rows[i].microarch;
	}
}

static enum microarch find_x86(const struct env *e, const char *core_type)
{
	/* A model that exists with two core types shows none when this one has P cores only, or in a guest. */
	if (!core_type && !e->hypervisor)
		core_type = "cpu_core";
	for (size_t i = 0; i < ARRAY_SIZE(x86_keys); i++) {
		const struct x86_key *k = &x86_keys[i];

		if (k->family != e->family || e->model < k->first_model || e->model > k->last_model)
			continue;
		if (e->stepping >= 0 && (e->stepping < k->first_stepping || e->stepping > k->last_stepping))
			continue;
		if (strcmp(k->vendor, e->vendor) != 0)
			continue;
		if (*k->core_type && (!core_type || strcmp(k->core_type, core_type) != 0))
			continue;
		return k->microarch;
	}
	return MICROARCH_NONE;
}

static enum microarch find_microarch(const struct env *e, const char *core_type)
{
	int implementer = e->implementer, part = e->part;

	if (e->emulated)
		return MICROARCH_NONE;
	if (e->family >= 0)
		return find_x86(e, core_type);
	if (implementer >= 0) {
		if (core_type && sysroot_arm_core(core_type, &implementer, &part) != 0)
			return MICROARCH_NONE;
		for (size_t i = 0; i < ARRAY_SIZE(arm_keys); i++)
			if (arm_keys[i].implementer == implementer && arm_keys[i].part == part)
				return arm_keys[i].microarch;
	}
	for (size_t i = 0; e->pvr >= 0 && i < ARRAY_SIZE(ppc_keys); i++)
		if (ppc_keys[i].pvr == e->pvr)
			return ppc_keys[i].microarch;
	return MICROARCH_NONE;
}

const char *published_microarch(const struct env *e, const char *core_type)
{
	enum microarch microarch = find_microarch(e, core_type);

	return microarch == MICROARCH_NONE ? NULL : microarch_name[microarch];
}

const struct published_value *published_find(const struct env *e, const char *core_type, const char *probe,
					     size_t *count)
{
	enum microarch microarch = find_microarch(e, core_type);
	const struct published_value *first = NULL;

	*count = 0;
	if (microarch == MICROARCH_NONE)
		return NULL;
	pthread_once(&sorted, sort_rows);
	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		if (value_microarch[i] != microarch || strcmp(values[i].probe, probe) != 0 || values[i].tolerance <= 0)
			continue;
		if (!first)
			first = &values[i];
		++*count;
	}
	return first;
}

const struct published_value *published_at(size_t i)
{
	pthread_once(&sorted, sort_rows);
	return i < ARRAY_SIZE(values) ? &values[i] : NULL;
}
