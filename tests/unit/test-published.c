/* SPDX-License-Identifier: GPL-2.0-only */
/* The published figures: those of the reference by spot and count, the keys, and the form of every row. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "published.h"

static struct env x86(const char *vendor, int family, int model, int stepping)
{
	struct env e = {
		.family = family, .model = model, .stepping = stepping, .implementer = -1, .part = -1, .pvr = -1
	};

	snprintf(e.vendor, sizeof(e.vendor), "%s", vendor);
	return e;
}

static struct env arm(int implementer, int part)
{
	return (struct env){
		.family = -1, .model = -1, .stepping = -1, .implementer = implementer, .part = part, .pvr = -1
	};
}

#define INTEL "GenuineIntel"
#define AMD "AuthenticAMD"

/* The PAUSE column of the reference, a row for each microarchitecture, in cycles. */
static const struct {
	const char *vendor;
	int family, model, stepping;
	const char *core_type, *microarch;
	double low, high;
} pauses[] = {
	{ INTEL, 15, 4, 1, NULL, "Pentium 4 Prescott", 54, 54 },
	{ INTEL, 6, 15, 11, NULL, "Core 2 Conroe", 8, 8 },
	{ INTEL, 6, 23, 10, NULL, "Core 2 Penryn", 8, 8 },
	{ INTEL, 6, 26, 5, NULL, "Nehalem", 9, 9 },
	{ INTEL, 6, 44, 2, NULL, "Westmere", 9, 9 },
	{ INTEL, 6, 42, 7, NULL, "Sandy Bridge", 11, 11 },
	{ INTEL, 6, 62, 4, NULL, "Ivy Bridge", 10, 11 },
	{ INTEL, 6, 60, 3, NULL, "Haswell", 9, 9 },
	{ INTEL, 6, 79, 1, NULL, "Broadwell", 9.5, 9.5 },
	{ INTEL, 6, 94, 3, NULL, "Skylake", 140, 141 },
	{ INTEL, 6, 85, 4, NULL, "Skylake-SP", 140, 141 },
	{ INTEL, 6, 158, 9, NULL, "Kaby Lake", 140, 141 },
	{ INTEL, 6, 158, 12, NULL, "Coffee Lake", 152.6, 152.6 },
	{ INTEL, 6, 142, 10, NULL, "Coffee Lake", 152.6, 152.6 },
	{ INTEL, 6, 165, 5, NULL, "Comet Lake", 153.8, 153.8 },
	{ INTEL, 6, 102, 3, NULL, "Cannon Lake", 159.5, 159.5 },
	{ INTEL, 6, 85, 7, NULL, "Cascade Lake-SP", 40.4, 40.4 },
	{ INTEL, 6, 106, 6, NULL, "Ice Lake-SP", 34.4, 34.4 },
	{ INTEL, 6, 108, 1, NULL, "Ice Lake-SP", 34.4, 34.4 },
	{ INTEL, 6, 126, 5, NULL, "Ice Lake client", 138.5, 138.5 },
	{ INTEL, 6, 140, 1, NULL, "Tiger Lake", 138.7, 140.3 },
	{ INTEL, 6, 167, 1, NULL, "Rocket Lake", 138, 139 },
	{ INTEL, 6, 151, 2, "cpu_core", "Alder Lake P", 159.6, 159.9 },
	{ INTEL, 6, 154, 3, "cpu_atom", "Alder Lake E", 62.2, 62.2 },
	{ INTEL, 6, 190, 0, NULL, "Alder Lake E", 62.2, 62.2 },
	{ INTEL, 6, 183, 1, "cpu_core", "Raptor Lake P", 160.4, 160.4 },
	{ INTEL, 6, 186, 2, "cpu_atom", "Raptor Lake E", 62.3, 62.3 },
	{ INTEL, 6, 191, 2, "cpu_core", "Raptor Lake P", 160.4, 160.4 },
	{ INTEL, 6, 170, 4, "cpu_core", "Meteor Lake P", 229.4, 229.4 },
	{ INTEL, 6, 172, 4, "cpu_atom", "Meteor Lake E", 90.8, 90.8 },
	{ INTEL, 6, 198, 2, "cpu_core", "Arrow Lake P (Lion Cove)", 42.9, 42.9 },
	{ INTEL, 6, 197, 2, "cpu_atom", "Arrow Lake E (Skymont)", 77.1, 77.1 },
	{ INTEL, 6, 92, 9, NULL, "Goldmont", 147.5, 147.5 },
	{ INTEL, 6, 122, 8, NULL, "Goldmont Plus", 153.3, 153.3 },
	{ INTEL, 6, 150, 1, NULL, "Tremont", 158, 179 },
	{ INTEL, 6, 28, 10, NULL, "Bonnell", 24, 24 },
	{ INTEL, 6, 55, 8, NULL, "Silvermont", 24, 24 },
	{ INTEL, 6, 87, 1, NULL, "Knights Landing", 25, 25 },
	{ AMD, 15, 107, 2, NULL, "K8", 0.3, 0.3 },
	{ AMD, 16, 4, 3, NULL, "K10", 2, 4 },
	{ AMD, 20, 2, 0, NULL, "Bobcat", 6, 6 },
	{ AMD, 22, 0, 1, NULL, "Jaguar", 45, 46 },
	{ AMD, 21, 1, 2, NULL, "Bulldozer", 43, 43 },
	{ AMD, 21, 16, 1, NULL, "Piledriver (Trinity)", 42.6, 42.6 },
	{ AMD, 21, 2, 0, NULL, "Piledriver (Vishera)", 5, 5 },
	{ AMD, 21, 48, 1, NULL, "Steamroller", 4, 4 },
	{ AMD, 21, 101, 1, NULL, "Excavator", 3.2, 3.2 },
	{ AMD, 23, 1, 1, NULL, "Zen", 3.0, 3.0 },
	{ AMD, 23, 17, 0, NULL, "Zen", 3.0, 3.0 },
	{ AMD, 23, 8, 2, NULL, "Zen+", 3.0, 3.0 },
	{ AMD, 23, 24, 1, NULL, "Zen+", 3.0, 3.0 },
	{ AMD, 23, 113, 0, NULL, "Zen 2", 65, 65 },
	{ AMD, 25, 33, 0, NULL, "Zen 3", 65, 65 },
	{ AMD, 25, 17, 1, NULL, "Zen 4", 65, 65 },
	{ AMD, 25, 97, 2, NULL, "Zen 4", 65, 65 },
	{ AMD, 26, 2, 1, NULL, "Zen 5", 64.6, 64.6 },
	{ AMD, 26, 68, 0, NULL, "Zen 5", 64.6, 64.6 },
};

static void test_pause(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(pauses); i++) {
		struct env e = x86(pauses[i].vendor, pauses[i].family, pauses[i].model, pauses[i].stepping);
		const char *name = published_microarch(&e, pauses[i].core_type);
		const struct published_value *p;
		size_t count;

		if (!name)
			fail_msg("%s family %d model %d is not in the table", pauses[i].vendor, pauses[i].family,
				 pauses[i].model);
		assert_string_equal(name, pauses[i].microarch);
		p = published_find(&e, pauses[i].core_type, "pause", &count);
		assert_non_null(p);
		assert_true(count >= 1);
		assert_string_equal(p->microarch, name);
		assert_string_equal(p->unit, "cycles");
		assert_true(p->low == pauses[i].low && p->high == pauses[i].high);
	}
}

/* Figures of the second and third table: probe, CPU, value. */
static void test_spots(void **state)
{
	static const struct {
		const char *vendor;
		int family, model, stepping;
		const char *core_type, *probe;
		double low, high;
	} spots[] = {
		{ INTEL, 6, 23, 6, NULL, "rdtsc", 28, 64 },
		{ INTEL, 6, 58, 9, NULL, "mfence", 36, 36 },
		{ INTEL, 6, 42, 7, NULL, "cpuid", 96, 101 },
		{ INTEL, 6, 61, 4, NULL, "xchg", 19, 21 },
		{ INTEL, 6, 85, 7, NULL, "lfence", 4.25, 4.25 },
		{ INTEL, 6, 85, 4, NULL, "cmpxchg16b-local", 16.3, 16.3 },
		{ INTEL, 6, 140, 1, NULL, "lfence", 5.3, 8 },
		{ INTEL, 6, 106, 6, NULL, "lfence", 5.2, 5.2 },
		{ INTEL, 6, 151, 2, "cpu_core", "tpause", 85, 92 },
		{ INTEL, 6, 151, 2, "cpu_core", "serialize", 105, 105 },
		{ INTEL, 6, 151, 2, "cpu_atom", "serialize", 45, 45 },
		{ INTEL, 6, 151, 2, "cpu_core", "cmpxchg", 14, 19.07 },
		{ INTEL, 6, 151, 2, "cpu_atom", "cmpxchg", 18, 18 },
		{ INTEL, 6, 183, 1, "cpu_atom", "cpuid", 335, 355 },
		{ INTEL, 6, 198, 2, "cpu_core", "xchg", 19.9, 19.9 },
		{ INTEL, 6, 198, 2, "cpu_atom", "cpuid", 728, 728 },
		{ INTEL, 6, 15, 6, NULL, "cmpxchg", 24, 24 },
		{ INTEL, 6, 15, 6, NULL, "cmpxchg-local", 8, 8 },
		{ INTEL, 15, 2, 9, NULL, "cmpxchg", 81, 81 },
		{ AMD, 16, 2, 3, NULL, "rdtsc", 66, 66 },
		{ AMD, 22, 0, 1, NULL, "xadd-local", 11, 11 },
		{ AMD, 22, 0, 1, NULL, "xchg", 16, 16 },
		{ AMD, 23, 1, 1, NULL, "xchg", 26, 29 },
		{ AMD, 23, 49, 0, NULL, "xchg", 17.7, 17.7 },
		{ AMD, 25, 1, 1, NULL, "mfence", 60, 60 },
		{ AMD, 25, 17, 1, NULL, "xchg", 7.9, 7.9 },
		{ AMD, 26, 2, 1, NULL, "xchg", 19.9, 19.9 },
		{ AMD, 26, 2, 1, NULL, "xadd", 19.5, 19.5 },
		{ AMD, 26, 2, 1, NULL, "cmpxchg-local", 8.8, 8.8 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(spots); i++) {
		struct env e = x86(spots[i].vendor, spots[i].family, spots[i].model, spots[i].stepping);
		size_t count;
		const struct published_value *p = published_find(&e, spots[i].core_type, spots[i].probe, &count);

		if (!p || p->low != spots[i].low || p->high != spots[i].high)
			fail_msg("%s %d/%d %s: %s", spots[i].vendor, spots[i].family, spots[i].model, spots[i].probe,
				 p ? p->text : "no value");
	}
}

/* Several sources for one figure: all of them, and only those to compare with. */
static void test_several(void **state)
{
	struct env zen5 = x86(AMD, 26, 2, 1), zen = x86(AMD, 23, 1, 1), kaby = x86(INTEL, 6, 142, 9),
		   tiger = x86(INTEL, 6, 140, 1);
	const struct published_value *p;
	size_t count;

	(void)state;
	p = published_find(&zen5, NULL, "pause", &count);
	assert_int_equal(count, 2);
	assert_true(p[1].low == 63.6);
	p = published_find(&zen, NULL, "lfence", &count);
	assert_int_equal(count, 2);
	assert_true(fmin(p[0].low, p[1].low) == 0.2 && fmax(p[0].low, p[1].low) == 17);
	p = published_find(&kaby, NULL, "mfence", &count);
	assert_int_equal(count, 2);
	assert_true(fmax(p[0].high, p[1].high) == 56);
	/* ticks at an unknown clock are not to be compared with */
	assert_null(published_find(&tiger, NULL, "xadd", &count));
	assert_int_equal(count, 0);
}

static void test_arm(void **state)
{
	struct env n1 = arm(0x41, 0xd0c), a72 = arm(0x41, 0xd08), big_little = arm(0x41, 0xd03), m1 = arm(0x61, 0x022),
		   other = arm(0x41, 0xd4f);
	const struct published_value *p;
	size_t count;

	(void)state;
	p = published_find(&n1, NULL, "isb", &count);
	assert_true(p && count == 1 && p->low == 13.2);
	assert_string_equal(p->unit, "ns");
	assert_true(published_find(&n1, NULL, "yield", &count)->low == 0.40);
	assert_true(published_find(&a72, NULL, "isb", &count)->low == 13.0);
	/* the core measured on decides, not the first one of the machine */
	assert_null(published_find(&big_little, NULL, "isb", &count));
	assert_true(published_find(&big_little, "armv8_cortex_a72", "isb", &count)->low == 13.0);
	assert_null(published_find(&a72, "armv8_cortex_a53", "isb", &count));
	assert_true(published_find(&m1, "apple_firestorm_pmu", "yield", &count)->low == 0.313);
	assert_true(published_find(&m1, "Firestorm (M1)", "isb", &count)->low == 9.06);
	assert_null(published_find(&m1, "apple_icestorm_pmu", "isb", &count));
	assert_null(published_microarch(&other, NULL));
	assert_null(published_find(&a72, "armv8_pmuv3_0", "isb", &count));
}

/* C30: a CPU that is not in the table has no expected value. */
static void test_unknown(void **state)
{
	static const struct {
		const char *vendor;
		int family, model, stepping;
		const char *core_type;
	} unknown[] = {
		{ INTEL, 6, 143, 8, NULL }, /* Sapphire Rapids */
		{ INTEL, 6, 207, 2, NULL }, /* Emerald Rapids */
		{ INTEL, 6, 85, 11, NULL }, /* Cooper Lake */
		{ INTEL, 6, 189, 1, "cpu_core" }, /* Lunar Lake */
		{ INTEL, 6, 181, 0, "cpu_core" }, /* Arrow Lake-U: not the cores of Arrow Lake */
		{ INTEL, 6, 151, 2, "cpu_lowpower" },
		{ INTEL, 19, 1, 0, NULL },
		{ INTEL, 6, 255, 0, NULL },
		{ INTEL, 5, 2, 0, NULL },
		{ AMD, 23, 0x80, 0, NULL },
		{ AMD, 26, 0x50, 0, NULL },
		{ AMD, 22, 0x30, 1, NULL },
		{ AMD, 6, 94, 3, NULL },
		{ "HygonGenuine", 24, 1, 1, NULL },
		{ "CentaurHauls", 6, 94, 3, NULL },
		{ "", 6, 94, 3, NULL },
	};
	struct env nothing = arm(-1, -1);
	size_t count = 7;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++) {
		struct env e = x86(unknown[i].vendor, unknown[i].family, unknown[i].model, unknown[i].stepping);

		if (published_microarch(&e, unknown[i].core_type))
			fail_msg("%s %d/%d is taken for %s", unknown[i].vendor, unknown[i].family, unknown[i].model,
				 published_microarch(&e, unknown[i].core_type));
		assert_null(published_find(&e, unknown[i].core_type, "pause", &count));
		assert_int_equal(count, 0);
	}
	assert_null(published_find(&nothing, NULL, "pause", &count));
	assert_null(published_find(&nothing, "cpu_core", "pause", &count));
}

/*
 * A hybrid model without core types: P cores only on bare metal, not known in a guest. A probe without figures has
 * none.
 */
static void test_hybrid_guest(void **state)
{
	struct env e = x86(INTEL, 6, 151, 2);
	size_t count;

	(void)state;
	assert_string_equal(published_microarch(&e, NULL), "Alder Lake P");
	e.hypervisor = true;
	assert_null(published_microarch(&e, NULL));
	assert_string_equal(published_microarch(&e, "cpu_atom"), "Alder Lake E");
	assert_null(published_find(&e, "cpu_core", "nop", &count));
	e.emulated = true;
	assert_null(published_microarch(&e, "cpu_atom"));
}

static void test_rows(void **state)
{
	size_t n = 0, pause_cycles = 0, compared = 0;

	(void)state;
	for (const struct published_value *p; (p = published_at(n)); n++) {
		const struct published_value *before = n ? published_at(n - 1) : NULL;
		char low[32], range[64];

		assert_true(*p->microarch && *p->probe && *p->source);
		assert_true(p->low > 0 && p->low <= p->high && isfinite(p->high));
		assert_true(p->tolerance >= 0 && p->tolerance <= 1);
		assert_true(strcmp(p->unit, "cycles") == 0 || strcmp(p->unit, "ns") == 0 ||
			    strcmp(p->unit, "ticks") == 0);
		/* only what can be compared is: no ticks, and on x86 no ns */
		if (strcmp(p->unit, "ticks") == 0 || (strcmp(p->unit, "ns") == 0 && strcmp(p->probe, "pause") == 0))
			assert_true(p->tolerance == 0);
		/* the text is the figure */
		snprintf(low, sizeof(low), "%g", strtod(p->text, NULL));
		snprintf(range, sizeof(range), "%g", p->low);
		assert_string_equal(low, range);
		assert_int_equal(strchr(p->text, '-') != NULL, p->low != p->high);
		if (before && strcmp(before->microarch, p->microarch) == 0 && strcmp(before->probe, p->probe) == 0)
			assert_true(before->tolerance > 0 || p->tolerance == 0);
		compared += p->tolerance > 0;
		pause_cycles += strcmp(p->probe, "pause") == 0 && strcmp(p->unit, "cycles") == 0;
	}
	assert_int_equal(n, 376);
	/* 49 microarchitectures have a PAUSE in cycles, Zen 5 two */
	assert_int_equal(pause_cycles, 50);
	assert_int_equal(compared, 289);
	assert_null(published_at(n));
	assert_null(published_at(SIZE_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pause), cmocka_unit_test(test_spots),   cmocka_unit_test(test_several),
		cmocka_unit_test(test_arm),   cmocka_unit_test(test_unknown), cmocka_unit_test(test_hybrid_guest),
		cmocka_unit_test(test_rows),
	};

	return cmocka_run_group_tests_name("published", tests, NULL, NULL);
}
