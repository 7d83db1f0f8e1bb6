/* SPDX-License-Identifier: GPL-2.0-only */
/* perf relax list: what can be measured here, with the bytes that would run, or why not. */
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "disasm.h"
#include "lock.h"
#include "meter.h"
#include "options.h"
#include "probe.h"

/* Sections that are no probe class. */
enum { SECTION_LOCKS = PROBE_CLASSES, SECTION_METERS, SECTION_EVENTS, SECTIONS };

static const char *const section_title[SECTIONS] = {
	[PROBE_HINT] = "Spin-wait hints",
	[PROBE_ATOMIC] = "Atomics (-local: this CPU only)",
	[PROBE_BARRIER] = "Barriers",
	[PROBE_COUNTER] = "Counter reads",
	[PROBE_CALL] = "Calls, for scale",
	[PROBE_CHAIN] = "Calibration chains",
	[SECTION_LOCKS] = "Locks (perf relax lock)",
	[SECTION_METERS] = "Meters",
	[SECTION_EVENTS] = "Events that perf_event_open(2) may count here (-e)",
};

struct list_run {
	bool wanted[SECTIONS];
	bool any;
};

static const char *section_name(size_t i)
{
	static const char *const plural[SECTIONS] = {
		[PROBE_HINT] = "hints", [PROBE_ATOMIC] = "atomics", [PROBE_BARRIER] = "barriers", [PROBE_COUNTER] = "counters",
		[PROBE_CALL] = "calls", [PROBE_CHAIN] = "chains", [SECTION_LOCKS] = "locks", [SECTION_METERS] = "meters", [SECTION_EVENTS] = "events",
	};

	return plural[i];
}

static const struct argp_option list_options[] = {
	{ "verbose", 'v', NULL, 0, "Also where the code stands, how far it is unrolled, and the wait loops of the locks", 0 },
	{ 0 }
};

static const struct argp_child list_children[] = {
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

static error_t want(struct list_run *l, const char *name)
{
	const char *names[SECTIONS + 1] = { NULL };
	char hint[256];

	for (size_t i = 0; i < SECTIONS; i++) {
		names[i] = section_name(i);
		if (strcmp(names[i], name) == 0) {
			l->wanted[i] = l->any = true;
			return 0;
		}
	}
	msg_error("list has no section '%s'%s", name, util_did_you_mean(name, names, hint, sizeof(hint)));
	exit(EXIT_USAGE);
}

static error_t parse_list(int key, char *arg, struct argp_state *state)
{
	switch (key) {
	case 'v':
		msg_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
		return want(state->input, arg);
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_list = {
	.options = list_options,
	.parser = parse_list,
	.args_doc = "[hints|atomics|barriers|counters|calls|chains|locks|meters|events...]",
	.doc = "Show what can be measured: each probe with the bytes that this program would run, decoded, or why this machine lacks it.\v"
	       "Without a section: all but the events.",
	.children = list_children,
};

static void print_probe(const struct probe *p)
{
	const char *why = probe_why_absent(p);
	size_t n = p->begin ? (size_t)(p->end - p->begin) : 0;
	char hex[512] = "", text[512] = "";

	if (why) {
		printf("  %-14s <not supported>  %s\n", p->name, why);
		return;
	}
	if (n) {
		disasm_bytes_hex(p->begin, n, hex, sizeof(hex));
		disasm_text(p->begin, n, text, sizeof(text));
	}
	/* Sequences whose bytes do not fit their column get a second line for the instructions. */
	printf("  %-14s %-24s", p->name, n ? hex : p->begin ? "(empty)" : "(C code)");
	if (strlen(hex) > 24)
		printf("\n  %-14s", "");
	printf(" %s\n", n && p->text ? text : p->summary);
	if (msg_verbosity < 1)
		return;
	if (n && p->text)
		printf("  %-14s %s\n", "", p->summary);
	printf("  %-14s %u and %u operations an iteration%s", "", p->unroll, 2 * p->unroll, p->begin ? "" : "\n");
	if (p->begin)
		printf("; code at %p, mod 64: %u; %u copies verified\n", (const void *)p->begin, (unsigned int)((uintptr_t)p->begin % 64),
		       probe_verify_copies(p));
}

static void print_probes(enum probe_class class)
{
	for (size_t i = 0; i < probe_count(); i++)
		if (probe_at(i)->class == class)
			print_probe(probe_at(i));
}

/* The wait loop of a lock with each hint of this CPU, as it stands in the text. */
static void print_wait_loops(const char *lock)
{
	const unsigned char *begin, *end;
	char hex[256], text[256];
	struct lock_site site;

	for (size_t i = 0; i < probe_count(); i++) {
		const struct probe *p = probe_at(i);
		const struct lock_pair *pair = p->class == PROBE_HINT && !probe_why_absent(p) ? lock_pair_find(lock, p->name) : NULL;

		if (!pair || !lock_pair_sites(pair, &site, 1) ||
		    disasm_loop_around((const unsigned char *)(uintptr_t)pair->run, site.begin, site.end, &begin, &end))
			continue;
		disasm_bytes_hex(begin, (size_t)(end - begin), hex, sizeof(hex));
		disasm_text(begin, (size_t)(end - begin), text, sizeof(text));
		printf("    %-14s %s\n    %-14s %s\n", p->name, hex, "", text);
	}
}

static void print_locks(void)
{
#define X(ident, name, extra, summary) \
	printf("  %-16s %s\n", name, summary); \
	if (msg_verbosity > 0) \
		print_wait_loops(name);
	SPIN_LOCKS(X, )
#undef X
#define X(ident, name, summary) printf("  %-16s %s\n", name, summary);
	LIBRARY_LOCKS(X)
#undef X
}

static void print_meters(void)
{
	struct reason why = { 0 };
	struct meters m;

	if (meters_open(&m, &why)) {
		printf("  %-14s <not supported>  %s\n", "ns", why.text);
		return;
	}
	printf("  %-14s wall clock, CLOCK_MONOTONIC_RAW%s; finest step seen %.0f ns\n", "ns",
	       m.tsc_forbidden ? " by system call (the TSC is forbidden to this process)" : "", m.ns_resolution);
	if (m.ticks_usable)
		printf("  %-14s %s, %.3f MHz as measured; never the same as core cycles\n", "ticks", m.ticks_name, m.ticks_per_ns * 1e3);
	else
		printf("  %-14s <not supported>  %s\n", "ticks", m.ticks_why);
	meters_add_events(&m, "cycles,instructions", false, &why);
	for (size_t i = 0; i < m.ncounter; i++) {
		const struct meter_counter *c = &m.counter[i];

		if (c->why)
			printf("  %-14s <not supported>  %s\n", c->name, c->why);
		else
			printf("  %-14s PMU event, read %s\n", c->name, c->user_read ? "from user space" : "by read(2)");
	}
	if (m.ncounter && m.counter[0].why)
		printf("  %-14s core cycles, estimated by a chain of dependent additions beside each block\n", "cycles~");
	meters_close(&m);
}

/* Without trying them: that takes milliseconds of looking at clocks, and a plain `list` shall be instant. */
static void print_meter_names(void)
{
#define X(ident, name, unit, what) printf("  %-14s %s\n", name, what);
	METERS(X)
#undef X
	printf("  %-14s core cycles of a PMU, else (cycles~) estimated by a chain of dependent additions\n", "cycles");
	printf("  `perf relax list meters` tries them and says why this machine lacks one.\n");
}

static void print_events(void)
{
	for (const char *const *name = meter_perf_event_names(); *name; name++)
		printf("  %s\n", *name);
}

int cmd_list(int argc, char **argv)
{
	struct list_run l = { 0 };
	bool first = true;

	if (argp_parse(&argp_list, argc, argv, 0, NULL, &l))
		return EXIT_USAGE;
	for (size_t i = 0; i < SECTIONS; i++) {
		if (l.any ? !l.wanted[i] : i == SECTION_EVENTS)
			continue;
		printf("%s%s:\n", first ? "" : "\n", section_title[i]);
		first = false;
		if (i == SECTION_LOCKS)
			print_locks();
		else if (i == SECTION_METERS && l.any)
			print_meters();
		else if (i == SECTION_METERS)
			print_meter_names();
		else if (i == SECTION_EVENTS)
			print_events();
		else
			print_probes((enum probe_class)i);
	}
	return EXIT_DONE;
}
