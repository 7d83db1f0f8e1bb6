// SPDX-License-Identifier: GPL-2.0-only
/*
 * A perf-style list of events, "cycles,{instructions,branches}:u,cpu/event=0x3c/,r01c2,sched:sched_switch" -> struct
 * perf_event_attr. Names are looked up as perf's generic ones, then by libpfm4, then as named events of the core PMUs,
 * then as tracepoints.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "meter-perf.h"

#define NAME_SHOWN "%.60s%s"	/* a name in a message, with NAME_ARGS */
#define NAME_ARGS(s) (s), strlen(s) > 60 ? "..." : ""

/* perf's generic names */

struct generic {
	const char *name, *alias;
	uint32_t type;
	uint64_t config;
	const char *unit;
	bool kernel_only;
};

/* perf_event_open(2); the names are those of perf-list(1). */
static const struct generic generics[] = {
	{ "cycles", "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, "", false },
	{ "instructions", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, "", false },
	{ "branches", "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, "", false },
	{ "branch-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, "", false },
	{ "cache-references", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, "", false },
	{ "cache-misses", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, "", false },
	{ "bus-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, "", false },
	{ "ref-cycles", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, "", false },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "", false },
	{ "stalled-cycles-backend", "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, "",
	  false },
	{ "cpu-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, "ns", false },
	{ "task-clock", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, "ns", false },
	{ "page-faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, "", false },
	{ "context-switches", "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, "", true },
	{ "cpu-migrations", "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, "", true },
	{ "minor-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, "", false },
	{ "major-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, "", false },
	{ "alignment-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, "", false },
	{ "emulation-faults", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, "", false },
	{ "cgroup-switches", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES, "", true },
	{ "dummy", NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, "", false },
};

/* PERF_TYPE_HW_CACHE: CACHE-OPs or CACHE-OP-misses. Which operations a cache has is perf's own table. */
#define OP_READ		(1u << PERF_COUNT_HW_CACHE_OP_READ)
#define OP_WRITE	(1u << PERF_COUNT_HW_CACHE_OP_WRITE)
#define OP_PREFETCH	(1u << PERF_COUNT_HW_CACHE_OP_PREFETCH)

static const struct {
	const char *name;
	uint64_t id;
	unsigned int ops;
} caches[] = {
	{ "L1-dcache", PERF_COUNT_HW_CACHE_L1D, OP_READ | OP_WRITE | OP_PREFETCH },
	{ "L1-icache", PERF_COUNT_HW_CACHE_L1I, OP_READ | OP_PREFETCH },
	{ "LLC", PERF_COUNT_HW_CACHE_LL, OP_READ | OP_WRITE | OP_PREFETCH },
	{ "dTLB", PERF_COUNT_HW_CACHE_DTLB, OP_READ | OP_WRITE | OP_PREFETCH },
	{ "iTLB", PERF_COUNT_HW_CACHE_ITLB, OP_READ },
	{ "branch", PERF_COUNT_HW_CACHE_BPU, OP_READ },
	{ "node", PERF_COUNT_HW_CACHE_NODE, OP_READ | OP_WRITE | OP_PREFETCH },
};

static const struct {
	const char *one, *many;
	uint64_t id;
} cache_ops[] = {
	{ "load", "loads", PERF_COUNT_HW_CACHE_OP_READ },
	{ "store", "stores", PERF_COUNT_HW_CACHE_OP_WRITE },
	{ "prefetch", "prefetches", PERF_COUNT_HW_CACHE_OP_PREFETCH },
};

static bool find_cache(const char *name, struct generic *g)
{
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++) {
		size_t length = strlen(caches[c].name);
		const char *rest = name + length + 1;

		if (strncasecmp(name, caches[c].name, length) || name[length] != '-')
			continue;
		for (size_t o = 0; o < ARRAY_SIZE(cache_ops); o++) {
			size_t op_length = strlen(cache_ops[o].one);
			bool miss = !strncmp(rest, cache_ops[o].one, op_length) && !strcmp(rest + op_length, "-misses");

			if (!(caches[c].ops >> cache_ops[o].id & 1) || (!miss && strcmp(rest, cache_ops[o].many)))
				continue;
			*g = (struct generic){ .name = name, .type = PERF_TYPE_HW_CACHE, .unit = "" };
			g->config =
				caches[c].id | cache_ops[o].id << 8 |
				(uint64_t)(miss ? PERF_COUNT_HW_CACHE_RESULT_MISS : PERF_COUNT_HW_CACHE_RESULT_ACCESS)
					<< 16;
			return true;
		}
	}
	return false;
}

static bool find_generic(const char *name, struct generic *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(generics); i++)
		if (!strcmp(name, generics[i].name) || (generics[i].alias && !strcmp(name, generics[i].alias))) {
			*g = generics[i];
			return true;
		}
	return find_cache(name, g);
}

const char *meter_generic_name(size_t i)
{
	char text[64];

	if (i < ARRAY_SIZE(generics))
		return generics[i].name;
	i -= ARRAY_SIZE(generics);
	for (size_t c = 0; c < ARRAY_SIZE(caches); c++)
		for (size_t o = 0; o < ARRAY_SIZE(cache_ops); o++) {
			if (!(caches[c].ops >> cache_ops[o].id & 1))
				continue;
			if (i < 2) {
				snprintf(text, sizeof(text), "%s-%s%s", caches[c].name,
					 i ? cache_ops[o].one : cache_ops[o].many, i ? "-misses" : "");
				return util_intern(text);
			}
			i -= 2;
		}
	return NULL;
}

/* Modifiers */

/* perf's event modifiers (perf-list(1), "EVENT MODIFIERS"); S and W change nothing for counting. */
#define MODIFIERS "ukhGHIpPSDWe"

static bool are_modifiers(const char *s)
{
	return *s && strspn(s, MODIFIERS) == strlen(s);
}

static void apply_modifiers(struct meter_event *e, const char *mods)
{
	struct perf_event_attr *a = &e->attr;

	if (strpbrk(mods, "ukh")) {
		a->exclude_user = !strchr(mods, 'u');
		a->exclude_kernel = !strchr(mods, 'k');
		a->exclude_hv = !strchr(mods, 'h');
		e->levels_given = true;
	}
	if (strpbrk(mods, "GH")) {
		a->exclude_guest = !strchr(mods, 'G');
		a->exclude_host = !strchr(mods, 'H');
	}
	for (const char *p = mods; *p; p++) {
		if (*p == 'p' && a->precise_ip < 3)
			a->precise_ip++;
		if (*p == 'P')
			a->precise_ip = 3;
		if (*p == 'I')
			a->exclude_idle = 1;
		if (*p == 'D')
			a->pinned = 1;
		if (*p == 'e')
			a->exclusive = 1;
	}
}

static int bad_modifiers(const char *event, const char *mods, struct reason *why)
{
	return reason_set(why, EINVAL,
			  "event '" NAME_SHOWN "': '" NAME_SHOWN
			  "' is no modifier: u (user), k (kernel), h (hypervisor), "
			  "G (guest), H (host), I (not idle), p, pp, ppp, P (precise), D (pinned), e (exclusive)",
			  NAME_ARGS(event), NAME_ARGS(mods));
}

/* The list */

static struct meter_event *add_event(struct meter_event_list *list, const char *name, int group)
{
	struct meter_event *e;

	list->event = util_realloc(list->event, list->n + 1, sizeof(*list->event));
	e = &list->event[list->n++];
	memset(e, 0, sizeof(*e));
	e->name = util_strdup(name);
	e->unit = util_strdup("");
	e->scale = 1;
	e->cpu = -1;
	e->group = group;
	e->attr.size = sizeof(e->attr);
	return e;
}

static void drop_event(struct meter_event_list *list)
{
	struct meter_event *e = &list->event[--list->n];

	free(e->name);
	free(e->unit);
	free(e->why);
}

void meter_events_free(struct meter_event_list *list)
{
	while (list->n)
		drop_event(list);
	free(list->event);
	*list = (struct meter_event_list){ 0 };
}

/* A core event: one counter, or on a hybrid machine one for each type of core. @mods may be "". */
static void add_core_event(struct meter_event_list *list, const char *token, const char *base, const char *mods,
			   uint32_t type, uint64_t config, int group)
{
	struct meter_pmu *core;
	size_t n = meter_pmu_cores(&core);

	for (size_t i = 0; i < (n > 1 ? n : 1); i++) {
		struct meter_event *e = add_event(list, token, group);

		e->attr.type = type;
		e->attr.config = config;
		if (n > 1) {
			free(e->name);
			e->name = util_asprintf("%s/%s/%s", core[i].name, base, mods);
			/*
			 * PERF_PMU_CAP_EXTENDED_HW_TYPE: the PMU stands in the upper half of a generic event's config.
			 */
			if (type == PERF_TYPE_RAW)
				e->attr.type = core[i].type;
			else
				e->attr.config |= (uint64_t)core[i].type << 32;
		}
		apply_modifiers(e, mods);
	}
	meter_pmu_free(core, n);
}

static int add_generic(struct meter_event_list *list, const char *token, const char *base, const char *mods,
		       const struct generic *g, int group)
{
	bool software = g->type == PERF_TYPE_SOFTWARE;
	size_t first = list->n;

	if (software) {
		struct meter_event *e = add_event(list, token, group);

		e->attr.type = g->type;
		e->attr.config = g->config;
		e->kernel_only = g->kernel_only;
		free(e->unit);
		e->unit = util_strdup(g->unit);
		apply_modifiers(e, mods);
		return 0;
	}
	add_core_event(list, token, base, mods, g->type, g->config, group);
	for (; first < list->n; first++)
		list->event[first].generic = !meter_pfm_knows_cpu();
	return 0;
}

/* PMU/terms/modifiers */
static int add_pmu_event(struct meter_event_list *list, const char *token, int group, struct reason *why)
{
	char *pmu_name = util_strdup(token), *terms = strchr(pmu_name, '/'), *mods;
	struct meter_pmu *pmu = NULL;
	struct generic g;
	size_t n = 0;
	int err = 0;

	*terms++ = '\0';
	mods = strchr(terms, '/');
	if (!mods) {
		err = reason_set(why, EINVAL, "event '" NAME_SHOWN "': the closing / is missing", NAME_ARGS(token));
		goto out;
	}
	*mods++ = '\0';
	if (*mods == ':')
		mods++;
	if (*mods && !are_modifiers(mods)) {
		err = bad_modifiers(token, mods, why);
		goto out;
	}
	n = meter_pmu_find(pmu_name, &pmu);
	if (!n && !strcmp(pmu_name, "cpu") && !meter_pmu_have_core()) {
		/* The name is right everywhere on x86; it is the machine that has nothing behind it. */
		struct meter_event *e = add_event(list, token, group);
		struct reason reason;

		meter_perf_advice(ENODEV, token, -1, &reason);
		e->why = util_strdup(reason.text);
		e->err = ENODEV;
		goto out;
	}
	if (!n) {
		char hint[256];

		util_did_you_mean(pmu_name, meter_perf_event_names(), hint, sizeof(hint));
		err = reason_set(why, EINVAL,
				 "event '" NAME_SHOWN "': this machine has no PMU '" NAME_SHOWN
				 "'%s (see /sys/bus/event_source/devices)",
				 NAME_ARGS(token), NAME_ARGS(pmu_name), hint);
		goto out;
	}
	for (size_t i = 0; i < n && !err; i++) {
		size_t cpus = pmu[i].cpumask.n ? pmu[i].cpumask.n : 1;

		for (size_t c = 0; c < cpus && !err; c++) {
			struct meter_event *e = add_event(list, token, group);

			/* cpu_core/cycles/: perf's generic names work within a core PMU too. */
			if (pmu[i].core && !meter_pmu_has_event(&pmu[i], terms) && find_generic(terms, &g) &&
			    g.type != PERF_TYPE_SOFTWARE) {
				e->attr.type = g.type;
				e->attr.config = g.config | (uint64_t)pmu[i].type << 32;
			} else {
				err = meter_pmu_terms(&pmu[i], terms, e, why);
			}
			apply_modifiers(e, mods);
			if (pmu[i].cpumask.n)
				e->cpu = pmu[i].cpumask.cpu[c];
			if (!err && (n > 1 || cpus > 1) && !strcmp(e->name, token)) {
				free(e->name);
				e->name = e->cpu >= 0 && cpus > 1 ?
						  util_asprintf("%s/%s/%s@cpu%d", pmu[i].name, terms, mods, e->cpu) :
						  util_asprintf("%s/%s/%s", pmu[i].name, terms, mods);
			}
		}
	}
out:
	meter_pmu_free(pmu, n);
	free(pmu_name);
	return err;
}

static bool parse_raw(const char *base, uint64_t *config)
{
	size_t digits = strlen(base) - 1;

	if (base[0] != 'r' || digits < 1 || digits > 16 || strspn(base + 1, "0123456789abcdefABCDEF") != digits)
		return false;
	*config = strtoull(base + 1, NULL, 16);
	return true;
}

/* libpfm4, with its own modifiers, or with perf's behind the last colon. 0, -ENOENT or -EINVAL. */
static int add_pfm_event(struct meter_event_list *list, const char *token, int group, struct reason *why)
{
	char *copy = util_strdup(token), *mods = strrchr(copy, ':');
	struct reason detail = { 0, "" };
	struct meter_pfm_code code;
	struct meter_event *e;
	int err = meter_pfm_encode(token, &code, &detail);

	if (err && mods && mods > copy && mods[-1] != ':' && are_modifiers(mods + 1)) {
		*mods++ = '\0';
		if (meter_pfm_encode(copy, &code, NULL) == 0)
			err = 0;
	} else {
		mods = NULL;
	}
	/* It also looks for tracepoints, by paths of its own; that is done here, where it is known what they are. */
	if (!err && code.type == PERF_TYPE_TRACEPOINT)
		err = -ENOENT;
	if (err) {
		free(copy);
		if (err == -EINVAL)
			return reason_set(why, EINVAL, "event '" NAME_SHOWN "': %s", NAME_ARGS(token), detail.text);
		return -ENOENT;
	}
	e = add_event(list, token, group);
	e->attr.type = code.type;
	e->attr.config = code.config;
	e->attr.config1 = code.config1;
	e->attr.config2 = code.config2;
	e->attr.exclude_user = code.exclude_user;
	e->attr.exclude_kernel = code.exclude_kernel;
	e->attr.exclude_guest = code.exclude_guest;
	e->attr.exclude_host = code.exclude_host;
	e->attr.exclusive = code.exclusive;
	e->attr.pinned = code.pinned;
	e->attr.precise_ip = code.precise_ip & 3;
	e->levels_given = code.exclude_user || code.exclude_kernel;
	/* It always leaves the hypervisor out; only with other levels left out was that the user's wish. */
	e->attr.exclude_hv = e->levels_given && code.exclude_hv;
	e->cpu = code.cpu;
	if (mods)
		apply_modifiers(e, mods);
	free(copy);
	return 0;
}

/* system:name[:modifiers]. 0, or -ENOENT: it is none. */
static int add_tracepoint(struct meter_event_list *list, const char *token, int group)
{
	char *system = util_strdup(token), *name = strchr(system, ':'), *mods = NULL;
	struct meter_event *e;
	long id;

	if (!name || name[1] == ':') {
		free(system);
		return -ENOENT;
	}
	*name++ = '\0';
	mods = strchr(name, ':');
	if (mods)
		*mods++ = '\0';
	id = mods && !are_modifiers(mods) ? -ENOENT : meter_tracepoint_id(system, name);
	/* Where nobody may look, a name that can be a tracepoint's is taken for one; libpfm4's are in capitals. */
	if (id == -ENOENT || (id < 0 && strpbrk(token, "ABCDEFGHIJKLMNOPQRSTUVWXYZ=."))) {
		free(system);
		return -ENOENT;
	}
	e = add_event(list, token, group);
	e->attr.type = PERF_TYPE_TRACEPOINT;
	e->kernel_only = true;
	if (id >= 0) {
		e->attr.config = (uint64_t)id;
	} else if (id == -EACCES) {
		e->err = EACCES;
		e->why = util_asprintf(
			"'" NAME_SHOWN
			"' looks like a tracepoint, and /sys/kernel/tracing may not be read: become root (tracepoints "
			"need it)",
			NAME_ARGS(token));
	} else {
		e->err = ENODEV;
		e->why = util_asprintf(
			"'" NAME_SHOWN
			"' looks like a tracepoint, and no tracefs is mounted: mount -t tracefs tracefs "
			"/sys/kernel/tracing",
			NAME_ARGS(token));
	}
	if (mods)
		apply_modifiers(e, mods);
	free(system);
	return 0;
}

static int unknown_event(const char *token, struct reason *why)
{
	char hint[256] = "", *base = util_strdup(token);

	util_did_you_mean(base, meter_perf_event_names(), hint, sizeof(hint));
	if (!hint[0] && strchr(base, ':')) {	/* perhaps the name is right but for what follows the colon */
		base[strcspn(base, ":")] = '\0';
		util_did_you_mean(base, meter_perf_event_names(), hint, sizeof(hint));
	}
	free(base);
	return reason_set(
		why, EINVAL, "unknown event '" NAME_SHOWN "'%s%s", NAME_ARGS(token), hint,
		meter_pfm_knows_cpu() ?
			"" :
			" (libpfm4 does not know this CPU's own events; perf's generic names, rNNNN and "
			"PMU/event=.../ can be used)");
}

static int add_one(struct meter_event_list *list, const char *token, int group, struct reason *why)
{
	char *base, *mods;
	struct generic g;
	uint64_t config = 0;
	int err = 0;

	if (strchr(token, '/'))
		return add_pmu_event(list, token, group, why);

	base = util_strdup(token);
	mods = strchr(base, ':');
	if (mods)
		*mods++ = '\0';
	if (find_generic(base, &g) || parse_raw(base, &config)) {
		if (mods && !are_modifiers(mods))
			err = bad_modifiers(token, mods, why);
		else if (find_generic(base, &g))
			err = add_generic(list, token, base, mods ? mods : "", &g, group);
		else
			add_core_event(list, token, base, mods ? mods : "", PERF_TYPE_RAW, config, group);
		goto out;
	}
	/* libpfm4 takes such codes too, but cuts them to 64 bits. */
	if (base[0] == 'r' && strlen(base) > 17 && strspn(base + 1, "0123456789abcdefABCDEF") == strlen(base) - 1) {
		err = reason_set(why, EINVAL, "event '" NAME_SHOWN "': a raw code has at most 16 hexadecimal digits",
				 NAME_ARGS(token));
		goto out;
	}
	/* libpfm4 knows tracepoints too, but cannot say which it has. */
	if (mods && meter_tracepoint_system(base)) {
		err = add_tracepoint(list, token, group);
		if (err)
			err = unknown_event(token, why);
		goto out;
	}
	err = add_pfm_event(list, token, group, why);
	if (err == -ENOENT && (!mods || are_modifiers(mods))) {
		struct meter_pmu *core;
		size_t n = meter_pmu_cores(&core);

		for (size_t i = 0; i < n; i++)
			if (meter_pmu_has_event(&core[i], base)) {
				struct meter_event *e = add_event(list, token, group);

				if (n > 1) {
					free(e->name);
					e->name = util_asprintf("%s/%s/%s", core[i].name, base, mods ? mods : "");
				}
				err = meter_pmu_terms(&core[i], base, e, why);
				apply_modifiers(e, mods ? mods : "");
				if (err)
					break;
			}
		meter_pmu_free(core, n);
	}
	if (err == -ENOENT)
		err = add_tracepoint(list, token, group);
	if (err == -ENOENT)
		err = unknown_event(token, why);
out:
	free(base);
	return err;
}

/* Where the name that begins at @s ends: at , { } or blank outside of slashes. */
static size_t token_length(const char *s)
{
	bool in_terms = false;
	size_t n;

	for (n = 0; s[n]; n++) {
		if (s[n] == '/')
			in_terms = !in_terms;
		else if (!in_terms && (strchr(",{}", s[n]) || isspace((unsigned char)s[n])))
			break;
	}
	return n;
}

static int parse(const char *text, struct meter_event_list *list, struct reason *why)
{
	const char *p = text;
	bool in_group = false;
	size_t group_start = 0;
	int err;

	for (;;) {
		size_t length;
		char *token;

		p += strspn(p, " \t\n");
		if (*p == '{') {
			if (in_group)
				return reason_set(why, EINVAL, "a group of events within a group at '%.40s'", p);
			in_group = true;
			group_start = list->n;
			p++;
			continue;
		}
		length = token_length(p);
		if (!length) {
			if (!*p && in_group)
				return reason_set(why, EINVAL, "the closing } of a group of events is missing");
			return *text ? reason_set(why, EINVAL, "an event's name is missing %s'%.40s'",
						  *p ? "before " : "at the end of ", *p ? p : text) :
				       reason_set(why, EINVAL, "the list of events is empty");
		}
		token = util_calloc(1, length + 1);
		memcpy(token, p, length);
		err = add_one(list, token, list->groups, why);
		free(token);
		if (err)
			return err;
		p += length;
		p += strspn(p, " \t\n");
		if (!in_group)
			list->groups++;
		if (*p == '}') {
			size_t mods;
			char *text_mods;

			if (!in_group)
				return reason_set(why, EINVAL, "} without { at '%.40s'", p);
			in_group = false;
			list->groups++;
			p++;
			mods = *p == ':' ? token_length(p) : 0;
			if (mods) {
				text_mods = util_calloc(1, mods);
				memcpy(text_mods, p + 1, mods - 1);
				err = are_modifiers(text_mods) ? 0 : bad_modifiers("{...}", text_mods, why);
				for (size_t i = group_start; !err && i < list->n; i++) {
					char *name = list->event[i].name;
					size_t n = strlen(name);

					apply_modifiers(&list->event[i], text_mods);
					list->event[i].name = util_asprintf(
						"%s%s%s", name, n && name[n - 1] == '/' ? "" : ":", text_mods);
					free(name);
				}
				free(text_mods);
				if (err)
					return err;
			}
			p += mods;
			p += strspn(p, " \t\n");
		}
		if (!*p && in_group)
			return reason_set(why, EINVAL, "the closing } of a group of events is missing");
		if (!*p)
			return 0;
		if (*p != ',')
			return reason_set(why, EINVAL, "a comma is missing between events at '%.40s'", p);
		p++;
		if (list->n > METER_COUNTERS_MAX)
			return reason_set(why, EINVAL, "more than %d events", METER_COUNTERS_MAX);
	}
}

/* On a hybrid machine an event of a core PMU counts on that PMU's cores only. */
static void note_core_types(struct meter_event_list *list)
{
	struct meter_pmu *core;
	size_t n = meter_pmu_cores(&core);

	for (size_t i = 0; n > 1 && i < list->n; i++) {
		const struct perf_event_attr *a = &list->event[i].attr;
		bool generic = a->type == PERF_TYPE_HARDWARE || a->type == PERF_TYPE_HW_CACHE;
		uint64_t type = generic ? a->config >> 32 : a->type;

		for (size_t c = 0; c < n; c++)
			if (core[c].type == type)
				list->event[i].core_type = util_intern(core[c].name);
	}
	meter_pmu_free(core, n);
}

int meter_events_parse(const char *text, struct meter_event_list *list, struct reason *why)
{
	int err;

	*list = (struct meter_event_list){ 0 };
	err = parse(text, list, why);
	if (!err && list->n > METER_COUNTERS_MAX)
		err = reason_set(why, EINVAL, "more than %d events", METER_COUNTERS_MAX);
	if (err)
		meter_events_free(list);
	else
		note_core_types(list);
	return err;
}
