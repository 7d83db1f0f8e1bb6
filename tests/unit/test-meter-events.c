// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lists of events: what they are encoded as, on made-up machines, and what is said about those that are wrong.
 */
#include "meter-root.h"

#define DEVICES "/sys/bus/event_source/devices/"

static void put_core(const char *pmu, const char *type, const char *cpus)
{
	static const char *const formats[][2] = {
		{ "event", "config:0-7,32-35" }, { "umask", "config:8-15" },	  { "edge", "config:18" },
		{ "inv", "config:23" },		 { "cmask", "config:24-31" },	  { "offcore_rsp", "config1:0-63" },
		{ "ldlat", "config1:0-15" },	 { "odd", "config9:0-3" },	  { "bad", "config:60-70" },
	};
	char path[256];

	snprintf(path, sizeof(path), DEVICES "%s/type", pmu);
	put(path, type);
	if (cpus) {
		snprintf(path, sizeof(path), DEVICES "%s/cpus", pmu);
		put(path, cpus);
	}
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		snprintf(path, sizeof(path), DEVICES "%s/format/%s", pmu, formats[i][0]);
		put(path, formats[i][1]);
	}
	snprintf(path, sizeof(path), DEVICES "%s/events/mem-loads", pmu);
	put(path, "event=0xcd,umask=0x1,ldlat=3\n");
	snprintf(path, sizeof(path), DEVICES "%s/events/per-core", pmu);
	put(path, "event=0x11,umask=?\n");
}

static struct meter_event_list parse_ok(const char *text)
{
	struct meter_event_list list;
	struct reason why = { 0, "" };

	if (meter_events_parse(text, &list, &why))
		fail_msg("%s: %s", text, why.text);
	return list;
}

static void parse_bad(const char *text, const char *part)
{
	struct meter_event_list list;
	struct reason why = { 0, "" };
	int err = meter_events_parse(text, &list, &why);

	if (err != -EINVAL)
		fail_msg("%.60s: %d, not -EINVAL", text, err);
	if (!strstr(why.text, part))
		fail_msg("%.60s: \"%s\" is not in \"%s\"", text, part, why.text);
	assert_int_equal(list.n, 0);
	assert_null(list.event);
}

static void generic_names(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		uint64_t config;
	} events[] = {
		{ "cycles", 0, 0 },
		{ "cpu-cycles", 0, 0 },
		{ "instructions", 0, 1 },
		{ "branches", 0, 4 },
		{ "branch-instructions", 0, 4 },
		{ "ref-cycles", 0, 9 },
		{ "task-clock", 1, 1 },
		{ "context-switches", 1, 3 },
		{ "cs", 1, 3 },
		{ "faults", 1, 2 },
		{ "L1-dcache-loads", 3, 0 },
		{ "L1-dcache-load-misses", 3, 0x10000 },
		{ "L1-icache-load-misses", 3, 0x10001 },
		{ "LLC-store-misses", 3, 0x10102 },
		{ "dTLB-prefetches", 3, 0x203 },
		{ "iTLB-load-misses", 3, 0x10004 },
		{ "branch-loads", 3, 5 },
		{ "node-stores", 3, 0x106 },
		{ "r01c2", 4, 0x1c2 },
		{ "rFFFFFFFFFFFFFFFF", 4, UINT64_MAX },
	};

	(void)state;
	put_core("cpu", "4", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		struct meter_event_list list = parse_ok(events[i].name);

		assert_int_equal(list.n, 1);
		assert_int_equal(list.event[0].attr.type, events[i].type);
		assert_true(list.event[0].attr.config == events[i].config);
		assert_string_equal(list.event[0].name, events[i].name);
		assert_false(list.event[0].levels_given);
		/* These happen in the kernel only. */
		assert_true(list.event[0].kernel_only == (events[i].type == 1 && events[i].config == 3));
		assert_int_equal(list.event[0].cpu, -1);
		meter_events_free(&list);
	}
	/* Each name that the list of names promises can be parsed. */
	for (size_t i = 0; meter_generic_name(i); i++) {
		struct meter_event_list list = parse_ok(meter_generic_name(i));

		assert_int_equal(list.n, 1);
		meter_events_free(&list);
	}
	parse_bad("iTLB-stores", "unknown event");
	parse_bad("L1-dcache-", "unknown event");
	parse_bad("L1-dcache-load-misse", "L1-dcache-load-misses");
}

static void groups_and_modifiers(void **state)
{
	struct meter_event_list list;

	(void)state;
	put_core("cpu", "4", NULL);
	list = parse_ok(" cycles , {instructions:u,branches:k}, {cache-misses,faults}:uk,ref-cycles:Gpp");
	assert_int_equal(list.n, 6);
	assert_int_equal(list.event[0].group, 0);
	assert_int_equal(list.event[1].group, 1);
	assert_int_equal(list.event[2].group, 1);
	assert_int_equal(list.event[3].group, 2);
	assert_int_equal(list.event[4].group, 2);
	assert_int_equal(list.event[5].group, 3);
	assert_true(list.event[1].attr.exclude_kernel && list.event[1].attr.exclude_hv &&
		    !list.event[1].attr.exclude_user);
	assert_true(list.event[2].attr.exclude_user && !list.event[2].attr.exclude_kernel);
	assert_true(list.event[1].levels_given && list.event[3].levels_given && !list.event[0].levels_given &&
		    !list.event[5].levels_given);
	assert_true(list.event[3].attr.exclude_hv && !list.event[3].attr.exclude_user &&
		    !list.event[3].attr.exclude_kernel);
	assert_true(list.event[5].attr.exclude_host && !list.event[5].attr.exclude_guest &&
		    list.event[5].attr.precise_ip == 2);
	assert_string_equal(list.event[1].name, "instructions:u");
	assert_string_equal(list.event[4].name, "faults:uk");
	meter_events_free(&list);
}

static void pmu_terms(void **state)
{
	struct meter_event_list list;

	(void)state;
	put_core("cpu", "4", NULL);
	put(DEVICES "rapl/type", "9");
	put(DEVICES "rapl/format/event", "config:0-7");
	put(DEVICES "rapl/cpumask", "0,18");
	put(DEVICES "rapl/events/energy", "event=0x05");
	put(DEVICES "rapl/events/energy.scale", "2.3283064365386962890625e-10");
	put(DEVICES "rapl/events/energy.unit", "Joules");
	put(DEVICES "imc_0/type", "20");
	put(DEVICES "imc_0/cpumask", "0");
	put(DEVICES "imc_0/format/event", "config:0-7");
	put(DEVICES "imc_1/type", "21");
	put(DEVICES "imc_1/cpumask", "0");
	put(DEVICES "imc_1/format/event", "config:0-7");
	put(DEVICES "imc_free/type", "22");

	list = parse_ok("cpu/event=0x3c,umask=0x1,inv,cmask=2/u");
	assert_int_equal(list.event[0].attr.type, 4);
	assert_true(list.event[0].attr.config == 0x0280013c);
	assert_true(list.event[0].attr.exclude_kernel);
	meter_events_free(&list);
	list = parse_ok("cpu/event=0x1aa/:k");	/* the field is in two parts: bits 0-7 and 32-35 */
	assert_true(list.event[0].attr.config == 0x1000000aa);
	assert_true(list.event[0].attr.exclude_user);
	meter_events_free(&list);
	list = parse_ok("cpu/mem-loads,ldlat=30,name=slow/,cycles");
	assert_int_equal(list.n, 2);
	assert_true(list.event[0].attr.config == 0x1cd && list.event[0].attr.config1 == 30);
	assert_string_equal(list.event[0].name, "slow");
	meter_events_free(&list);
	list = parse_ok("cpu/config=0x1234,config1=7,config2=8/");
	assert_true(list.event[0].attr.config == 0x1234 && list.event[0].attr.config1 == 7 &&
		    list.event[0].attr.config2 == 8);
	meter_events_free(&list);
	list = parse_ok("cpu/instructions/u");
	assert_int_equal(list.event[0].attr.type, PERF_TYPE_HARDWARE);
	assert_true(list.event[0].attr.config == ((UINT64_C(4) << 32) | 1));
	meter_events_free(&list);
	list = parse_ok("mem-loads");	/* a core PMU's named event by itself */
	assert_true(list.event[0].attr.type == 4 && list.event[0].attr.config == 0x1cd);
	meter_events_free(&list);
	list = parse_ok("cpu/per-core,umask=3/");
	assert_true(list.event[0].attr.config == 0x311);
	meter_events_free(&list);

	list = parse_ok("rapl/energy/");
	assert_int_equal(list.n, 2);
	assert_true(list.event[0].cpu == 0 && list.event[1].cpu == 18);
	assert_string_equal(list.event[0].unit, "Joules");
	assert_true(list.event[0].scale == 2.3283064365386962890625e-10);
	assert_string_equal(list.event[1].name, "rapl/energy/@cpu18");
	meter_events_free(&list);
	list = parse_ok("imc/event=4/");
	assert_int_equal(list.n, 2);
	assert_int_equal(list.event[0].attr.type, 20);
	assert_int_equal(list.event[1].attr.type, 21);
	assert_string_equal(list.event[1].name, "imc_1/event=4/");
	meter_events_free(&list);

	parse_bad("cpu/event=0x10000/", "does not fit, the field has 12 bits");
	parse_bad("cpu/umask=256/", "does not fit, the field has 8 bits");
	parse_bad("cpu/evnt=1/", "did you mean event");
	parse_bad("cpu/mem-lods/", "did you mean mem-loads");
	parse_bad("cpu/event=/", "not a number");
	parse_bad("cpu/event=-1/", "not a number");
	parse_bad("cpu/event=0x1z/", "not a number");
	parse_bad("cpu/event=99999999999999999999999/", "not a number");
	parse_bad("cpu/event=1,,umask=2/", "empty term");
	parse_bad("cpu/odd=1/", "does not know the kernel's format");
	parse_bad("cpu/bad=1/", "bad bit range");
	parse_bad("cpu/per-core/", "needs a value for 'umask'");
	parse_bad("cpu/..=1/", "no term or event");
	parse_bad("cpu/../type/", "no modifier");
	parse_bad("cpu/event=1/x", "no modifier");
	parse_bad("cpu/event=1", "closing / is missing");
	parse_bad("../cpu/event=1/", "no modifier");
	parse_bad("../event=1/", "no PMU");
	parse_bad("/event=1/", "no PMU");
	parse_bad("rapk/energy/", "no PMU 'rapk'");
}

static void hybrid(void **state)
{
	struct meter_event_list list;

	(void)state;
	put_core("cpu_core", "4", "0-15");
	put_core("cpu_atom", "10", "16-31");
	put(DEVICES "software/type", "1");
	list = parse_ok("{cycles:u,task-clock},r1c2,L1-dcache-loads,cpu_atom/event=1/,mem-loads");
	assert_int_equal(list.n, 10);
	assert_string_equal(list.event[0].name, "cpu_atom/cycles/u");
	assert_string_equal(list.event[1].name, "cpu_core/cycles/u");
	assert_true(list.event[0].attr.config == UINT64_C(10) << 32 && list.event[1].attr.config == UINT64_C(4) << 32);
	assert_true(list.event[0].attr.exclude_kernel && list.event[1].attr.exclude_kernel);
	assert_int_equal(list.event[0].group, list.event[2].group);
	assert_string_equal(list.event[2].name, "task-clock");
	assert_string_equal(list.event[0].core_type, "cpu_atom");
	assert_string_equal(list.event[1].core_type, "cpu_core");
	assert_null(list.event[2].core_type);
	assert_string_equal(list.event[7].core_type, "cpu_atom");
	assert_string_equal(list.event[9].core_type, "cpu_core");
	assert_int_equal(list.event[3].attr.type, 10);
	assert_true(list.event[3].attr.config == 0x1c2);
	assert_int_equal(list.event[4].attr.type, 4);
	assert_string_equal(list.event[5].name, "cpu_atom/L1-dcache-loads/");
	assert_true(list.event[6].attr.config == UINT64_C(4) << 32 && list.event[6].attr.type == PERF_TYPE_HW_CACHE);
	assert_int_equal(list.event[7].attr.type, 10);
	assert_string_equal(list.event[8].name, "cpu_atom/mem-loads/");
	assert_string_equal(list.event[9].name, "cpu_core/mem-loads/");
	meter_events_free(&list);
	parse_bad("cpu/event=1/", "no PMU 'cpu'");
}

static void no_pmu(void **state)
{
	struct meter_event_list list;

	(void)state;
	put(DEVICES "software/type", "1");
	list = parse_ok("cpu/event=0x3c/,cycles");	/* right on any x86, so it is the machine that lacks it */
	assert_int_equal(list.n, 2);
	assert_int_equal(list.event[0].err, ENODEV);
	assert_non_null(strstr(list.event[0].why, "no PMU of the CPU"));
	assert_null(list.event[1].why);
	meter_events_free(&list);
}

static void tracepoints(void **state)
{
	struct meter_event_list list;

	(void)state;
	list = parse_ok("sched:sched_switch");
	assert_int_equal(list.event[0].err, ENODEV);
	assert_non_null(strstr(list.event[0].why, "tracefs"));
	meter_events_free(&list);
	put("/sys/kernel/tracing/events/sched/sched_switch/id", "314\n");
	put("/sys/kernel/tracing/events/sched/enable", "0\n");
	list = parse_ok("sched:sched_switch:u,{sched:sched_switch,task-clock}");
	assert_int_equal(list.n, 3);
	assert_int_equal(list.event[0].attr.type, PERF_TYPE_TRACEPOINT);
	assert_true(list.event[0].attr.config == 314 && list.event[0].kernel_only && !list.event[0].why);
	meter_events_free(&list);
	parse_bad("sched:sched_swich", "unknown event");
	parse_bad("sched:enable", "unknown event");
	parse_bad("..:id", "unknown event");
	parse_bad("sched:.", "unknown event");
}

static void bad_lists(void **state)
{
	char *longest = calloc(1, 5001), *many = calloc(1, 8 * 70);

	(void)state;
	put_core("cpu", "4", NULL);
	memset(longest, 'a', 5000);
	for (int i = 0; i < 70; i++)
		strcat(many, i ? ",cycles" : "cycles");
	parse_bad("", "the list of events is empty");
	parse_bad(",", "name is missing before ','");
	parse_bad("cycles,", "name is missing at the end");
	parse_bad("cycles,,instructions", "name is missing before ',instructions'");
	parse_bad("{}", "name is missing before '}'");
	parse_bad("{", "closing } of a group");
	parse_bad("{cycles", "closing } of a group");
	parse_bad("{cycles,", "closing } of a group");
	parse_bad("{{cycles}}", "group of events within a group");
	parse_bad("cycles}", "} without {");
	parse_bad("cycles instructions", "a comma is missing");
	parse_bad("{cycles}instructions", "a comma is missing");
	parse_bad("{cycles}:zz", "'zz' is no modifier");
	parse_bad("cycles:zz=1", "'zz=1' is no modifier");
	parse_bad("cycles:", "'' is no modifier");
	parse_bad("CYCLES:zz=1", "CYCLES:zz=1");
	parse_bad("no_such_event", "unknown event 'no_such_event'");
	parse_bad("instuctions", "did you mean instructions");
	parse_bad("r", "unknown event");
	parse_bad("r00000000000000001", "at most 16 hexadecimal digits");
	parse_bad(longest, "aaa...'");
	parse_bad(many, "more than 64 events");
	free(longest);
	free(many);
}

/* Anything at all: a list or a reason, never a crash (which the sanitizers' build of this test sees best). */
static void random_lists(void **state)
{
	static const char *const parts[] = { "cycles", "instructions", "{",	 "}",  ",",  ":",	"u",
					     "/",      "cpu/",	       "event=", "0x", "1",  "r1",	"sched:",
					     "name=",  "mem-loads",    "=",	 "?",  " ",  "perf::",	"CYCLES",
					     "-",      "\xff",	       "%s%n",	 "..", "pp", "config=", "task-clock" };
	unsigned long long taken = 0, refused = 0;
	struct random_state random;

	(void)state;
	put_core("cpu", "4", NULL);
	random_seed(&random, 2026);
	for (int i = 0; i < 3000; i++) {
		struct meter_event_list list;
		struct reason why = { 0, "" };
		char text[256] = "";
		int err;

		for (uint64_t n = random_below(&random, 9); n--;)
			strcat(text, parts[random_below(&random, ARRAY_SIZE(parts))]);
		err = meter_events_parse(text, &list, &why);
		if (err) {
			if (err != -EINVAL || !why.text[0] || list.n)
				fail_msg("'%s': %d \"%s\"", text, err, why.text);
			refused++;
		} else {
			assert_true(list.n > 0);
			taken++;
			meter_events_free(&list);
		}
	}
	assert_true(taken > 0 && refused > 0);
}

static void names(void **state)
{
	const char *const *name = meter_perf_event_names();
	bool cycles = false, clock = false;
	size_t n;

	(void)state;
	for (n = 0; name[n]; n++) {
		cycles = cycles || !strcmp(name[n], "cycles");
		clock = clock || !strcmp(name[n], "task-clock");
	}
	assert_true(n > 40 && cycles && clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_ROOT(generic_names), WITH_ROOT(groups_and_modifiers),
		WITH_ROOT(pmu_terms),	  WITH_ROOT(hybrid),
		WITH_ROOT(no_pmu),	  WITH_ROOT(tracepoints),
		WITH_ROOT(bad_lists),	  WITH_ROOT(random_lists),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
