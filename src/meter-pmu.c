// SPDX-License-Identifier: GPL-2.0-only
/*
 * The PMUs that the kernel shows under /sys/bus/event_source/devices, their formats and named events
 * (Documentation/ABI/testing/ sysfs-bus-event_source-devices-*), and the tracepoints of tracefs.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meter-perf.h"

#define PMU_DIR "/sys/bus/event_source/devices"
#define PMU_EVENT_BYTES_MAX 1024	/* of an events/ file: a few terms */

static const char *root = "";

void meter_perf_set_root(const char *new_root)
{
	root = new_root;
}

const char *meter_perf_root(void)
{
	return root;
}

static long read_pmu_file(const char *pmu, const char *file, char *buf, size_t size)
{
	char *path = util_asprintf("%s" PMU_DIR "/%s/%s", root, pmu, file);
	long n = util_read_file(path, buf, size);

	free(path);
	return n;
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a directory, sorted; hidden ones left out. */
struct names {
	char **name;
	size_t n;
};

static void names_free(struct names *names)
{
	for (size_t i = 0; i < names->n; i++)
		free(names->name[i]);
	free(names->name);
	*names = (struct names){ NULL, 0 };
}

static int names_read(const char *path, struct names *names)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	*names = (struct names){ NULL, 0 };
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		names->name = util_realloc(names->name, names->n + 1, sizeof(*names->name));
		names->name[names->n++] = util_strdup(entry->d_name);
	}
	closedir(dir);
	if (names->n)
		qsort(names->name, names->n, sizeof(*names->name), compare_strings);
	return 0;
}

/* PMUs */

static bool pmu_read(const char *name, struct meter_pmu *pmu)
{
	static const size_t list_bytes = 65536;	/* of a CPU list, on machines with thousands of CPUs with holes */
	char buf[32], *list;
	uint64_t type;

	memset(pmu, 0, sizeof(*pmu));
	if (strlen(name) >= sizeof(pmu->name) || strchr(name, '/') || name[0] == '.' || !name[0])
		return false;
	if (read_pmu_file(name, "type", buf, sizeof(buf)) < 0 || util_parse_u64(buf, 0, UINT32_MAX, &type))
		return false;
	memcpy(pmu->name, name, strlen(name) + 1);
	pmu->type = (uint32_t)type;
	list = util_calloc(1, list_bytes);
	/* `cpus` is what core PMUs have; `cpumask` names the CPU that answers for a socket, a memory controller, ... */
	pmu->core = !strcmp(name, "cpu") || read_pmu_file(name, "cpus", list, list_bytes) >= 0;
	if (!pmu->core && read_pmu_file(name, "cpumask", list, list_bytes) > 0 &&
	    cpulist_parse(list, &pmu->cpumask, NULL))
		pmu->cpumask = (struct cpulist){ 0 };
	free(list);
	return true;
}

void meter_pmu_free(struct meter_pmu *pmu, size_t n)
{
	for (size_t i = 0; i < n; i++)
		cpulist_free(&pmu[i].cpumask);
	free(pmu);
}

static size_t pmu_collect(bool (*wanted)(const struct meter_pmu *, const void *), const void *ctx,
			  struct meter_pmu **out)
{
	char *path = util_asprintf("%s" PMU_DIR, root);
	struct names names;
	size_t n = 0;

	*out = NULL;
	(void)names_read(path, &names);
	free(path);
	for (size_t i = 0; i < names.n; i++) {
		struct meter_pmu pmu;

		if (!pmu_read(names.name[i], &pmu))
			continue;
		if (!wanted(&pmu, ctx)) {
			cpulist_free(&pmu.cpumask);
			continue;
		}
		*out = util_realloc(*out, n + 1, sizeof(**out));
		(*out)[n++] = pmu;
	}
	names_free(&names);
	return n;
}

static bool is_core(const struct meter_pmu *pmu, const void *ctx)
{
	(void)ctx;
	return pmu->core;
}

size_t meter_pmu_cores(struct meter_pmu **out)
{
	return pmu_collect(is_core, NULL, out);
}

bool meter_pmu_have_core(void)
{
	struct meter_pmu *core;
	size_t n = meter_pmu_cores(&core);

	meter_pmu_free(core, n);
	return n > 0;
}

/* uncore_imc means uncore_imc_0, uncore_imc_1, ... as in perf. */
static bool is_unit_of(const struct meter_pmu *pmu, const void *ctx)
{
	const char *name = ctx;
	size_t length = strlen(name);

	if (strncmp(pmu->name, name, length) || pmu->name[length] != '_' || !pmu->name[length + 1])
		return false;
	return pmu->name[length + 1 + strspn(pmu->name + length + 1, "0123456789")] == '\0';
}

size_t meter_pmu_find(const char *name, struct meter_pmu **out)
{
	struct meter_pmu pmu;

	if (pmu_read(name, &pmu)) {
		*out = util_calloc(1, sizeof(pmu));
		**out = pmu;
		return 1;
	}
	return pmu_collect(is_unit_of, name, out);
}

/* Terms */

static uint64_t *config_word(struct meter_event *e, const char *name, size_t length)
{
	if (length == 6 && !strncmp(name, "config", 6))
		return (uint64_t *)&e->attr.config;
	if (length == 7 && !strncmp(name, "config1", 7))
		return (uint64_t *)&e->attr.config1;
	if (length == 7 && !strncmp(name, "config2", 7))
		return (uint64_t *)&e->attr.config2;
	return NULL;
}

/* "config:0-7,32-35": the value's low bits go to bits 0-7, the next ones to 32-35. */
static int apply_format(const struct meter_pmu *pmu, const char *term, const char *format, uint64_t value,
			struct meter_event *e, struct reason *why)
{
	const char *p = strchr(format, ':');
	uint64_t *word = p ? config_word(e, format, (size_t)(p - format)) : NULL;
	unsigned int used = 0;

	if (!word)
		return reason_set(why, EINVAL, "%s/%s/: this build does not know the kernel's format \"%.60s\"",
				  pmu->name, term, format);
	do {
		char *end;
		unsigned long low = strtoul(++p, &end, 10), high = low;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high > 63 || low > high)
			return reason_set(why, EINVAL, "%s/%s/: the kernel's format \"%.60s\" has a bad bit range",
					  pmu->name, term, format);
		for (unsigned long bit = low; bit <= high; bit++, used++) {
			uint64_t mask = UINT64_C(1) << bit;

			*word = (used < 64 && value >> used & 1) ? *word | mask : *word & ~mask;
		}
		p = end;
	} while (*p == ',');
	if (used < 64 && value >> used)
		return reason_set(why, EINVAL, "%s/%s=0x%" PRIx64 "/: the value does not fit, the field has %u bits",
				  pmu->name, term, value, used);
	return 0;
}

static void add_name(void *ctx, const char *name)
{
	struct names *names = ctx;

	names->name = util_realloc(names->name, names->n + 2, sizeof(*names->name));
	names->name[names->n++] = util_strdup(name);
	names->name[names->n] = NULL;
}

static int unknown_term(const struct meter_pmu *pmu, const char *term, struct reason *why)
{
	static const char *const parts[] = { "format", "events" };
	struct names all = { NULL, 0 };
	char hint[256];

	add_name(&all, "config");
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		char *path = util_asprintf("%s" PMU_DIR "/%s/%s", root, pmu->name, parts[i]);
		struct names names;

		(void)names_read(path, &names);
		for (size_t j = 0; j < names.n; j++)
			add_name(&all, names.name[j]);
		names_free(&names);
		free(path);
	}
	util_did_you_mean(term, (const char *const *)all.name, hint, sizeof(hint));
	names_free(&all);
	return reason_set(why, EINVAL, "the PMU %s has no term or event '%.60s'%s", pmu->name, term, hint);
}

static void read_scale_and_unit(const struct meter_pmu *pmu, const char *event, struct meter_event *e)
{
	char buf[64], *path = util_asprintf("events/%s.scale", event);
	double scale;

	if (read_pmu_file(pmu->name, path, buf, sizeof(buf)) > 0 && !util_parse_double(buf, -1e300, 1e300, &scale) &&
	    scale != 0)
		e->scale = scale;
	free(path);
	path = util_asprintf("events/%s.unit", event);
	if (read_pmu_file(pmu->name, path, buf, sizeof(buf)) > 0) {
		free(e->unit);
		e->unit = util_strdup(buf);
	}
	free(path);
}

static int apply_terms(const struct meter_pmu *pmu, const char *terms, bool in_event, struct meter_event *e,
		       struct reason *why);

static int apply_term(const struct meter_pmu *pmu, const char *term, const char *text, bool in_event,
		      struct meter_event *e, struct reason *why)
{
	char buf[PMU_EVENT_BYTES_MAX], *path, *end = NULL;
	uint64_t value = 1, *word;
	long n;

	if (strchr(term, '/') || term[0] == '.')
		return unknown_term(pmu, term, why);
	/* A named event; its own terms come first, so that later ones of the user can change them. */
	if (!text && !in_event) {
		path = util_asprintf("events/%s", term);
		n = read_pmu_file(pmu->name, path, buf, sizeof(buf));
		free(path);
		if (n > 0) {
			read_scale_and_unit(pmu, term, e);
			return apply_terms(pmu, buf, true, e, why);
		}
	}
	if (text && !strcmp(term, "name")) {
		free(e->name);
		e->name = util_strdup(text);
		return 0;
	}
	if (text) {
		errno = 0;
		value = strtoull(text, &end, 0);
		if (!isdigit((unsigned char)text[0]) || *end || errno)
			return reason_set(why, EINVAL, "%s/%.60s=%.60s/: the value is not a number (decimal or 0x...)",
					  pmu->name, term, text);
	}
	word = config_word(e, term, strlen(term));
	if (word) {
		*word = value;
		return 0;
	}
	path = util_asprintf("format/%s", term);
	n = read_pmu_file(pmu->name, path, buf, sizeof(buf));
	free(path);
	if (n <= 0)
		return unknown_term(pmu, term, why);
	return apply_format(pmu, term, buf, value, e, why);
}

static int apply_terms(const struct meter_pmu *pmu, const char *terms, bool in_event, struct meter_event *e,
		       struct reason *why)
{
	char *copy = util_strdup(terms), *rest = copy, *term;
	int err = 0;

	while (!err && (term = strsep(&rest, ","))) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		if (!*term)
			err = reason_set(why, EINVAL, "%s/%.100s/: an empty term", pmu->name, terms);
		/* "core=?": check_open_terms() sees to it. */
		else if (in_event && value && !strcmp(value, "?"))
			continue;
		else
			err = apply_term(pmu, term, value, in_event, e, why);
	}
	free(copy);
	return err;
}

/* Does the list @terms hold "@name=..."? */
static bool has_term(const char *terms, const char *name, size_t length)
{
	for (const char *p = terms; p; p = strchr(p, ','), p = p ? p + 1 : NULL)
		if (!strncmp(p, name, length) && p[length] == '=')
			return true;
	return false;
}

/*
 * A named event may leave a term open ("core=?"): the user has to give it, else another event than the one named would
 * be counted.
 */
static int check_open_terms(const struct meter_pmu *pmu, const char *terms, struct reason *why)
{
	char *copy = util_strdup(terms), *rest = copy, *term, buf[PMU_EVENT_BYTES_MAX];
	int err = 0;

	while (!err && (term = strsep(&rest, ","))) {
		char *path = util_asprintf("events/%s", term);
		long n = strpbrk(term, "=/") || !meter_pmu_has_event(pmu, term) ?
				 0 :
				 read_pmu_file(pmu->name, path, buf, sizeof(buf));

		free(path);
		for (char *open = n > 0 ? strstr(buf, "=?") : NULL; open && !err; open = strstr(open + 1, "=?")) {
			char *start = open;

			while (start > buf && start[-1] != ',')
				start--;
			if (!has_term(terms, start, (size_t)(open - start)))
				err = reason_set(why, EINVAL,
						 "%s/%.60s/ needs a value for '%.*s': %s/%.60s,%.*s=VALUE/", pmu->name,
						 term, (int)(open - start), start, pmu->name, term, (int)(open - start),
						 start);
		}
	}
	free(copy);
	return err;
}

int meter_pmu_terms(const struct meter_pmu *pmu, const char *terms, struct meter_event *e, struct reason *why)
{
	int err;

	e->attr.type = pmu->type;
	if (!*terms)
		return 0;
	err = apply_terms(pmu, terms, false, e, why);
	return err ? err : check_open_terms(pmu, terms, why);
}

bool meter_pmu_has_event(const struct meter_pmu *pmu, const char *event)
{
	char buf[PMU_EVENT_BYTES_MAX], *path;
	long n;

	if (!*event || strchr(event, '/') || event[0] == '.')
		return false;
	path = util_asprintf("events/%s", event);
	n = read_pmu_file(pmu->name, path, buf, sizeof(buf));
	free(path);
	return n > 0;
}

/* Lists */

void meter_pmu_each_name(void (*call)(void *ctx, const char *name), void *ctx)
{
	char *path = util_asprintf("%s" PMU_DIR, root);
	struct names pmus;

	(void)names_read(path, &pmus);
	free(path);
	for (size_t i = 0; i < pmus.n; i++)
		call(ctx, pmus.name[i]);
	names_free(&pmus);
}

static bool is_attribute_of_event(const char *name)
{
	static const char *const suffixes[] = { ".scale", ".unit", ".per-pkg", ".snapshot" };
	size_t length = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t suffix = strlen(suffixes[i]);

		if (length > suffix && !strcmp(name + length - suffix, suffixes[i]))
			return true;
	}
	return false;
}

void meter_pmu_each_event(void (*call)(void *ctx, const char *name), void *ctx)
{
	char *path = util_asprintf("%s" PMU_DIR, root);
	struct names pmus;

	(void)names_read(path, &pmus);
	free(path);
	for (size_t i = 0; i < pmus.n; i++) {
		struct names events;

		path = util_asprintf("%s" PMU_DIR "/%s/events", root, pmus.name[i]);
		(void)names_read(path, &events);
		free(path);
		for (size_t j = 0; j < events.n; j++) {
			char *name;

			if (is_attribute_of_event(events.name[j]))
				continue;
			name = util_asprintf("%s/%s/", pmus.name[i], events.name[j]);
			call(ctx, name);
			free(name);
		}
		names_free(&events);
	}
	names_free(&pmus);
}

/* Tracepoints */

static const char *const tracefs[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };

bool meter_tracepoint_system(const char *system)
{
	bool found = false;

	if (!*system || strchr(system, '/') || system[0] == '.')
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(tracefs) && !found; i++) {
		char *path = util_asprintf("%s%s/events/%s/enable", root, tracefs[i], system);

		found = access(path, F_OK) == 0;
		free(path);
	}
	return found;
}

long meter_tracepoint_id(const char *system, const char *name)
{
	long result = -ENODEV;

	if (!*system || !*name || strchr(system, '/') || strchr(name, '/') || system[0] == '.' || name[0] == '.')
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(tracefs); i++) {
		char *dir = util_asprintf("%s%s/events", root, tracefs[i]),
		     *path = util_asprintf("%s/%s/%s/id", dir, system, name), buf[32];
		struct names names;
		long n = util_read_file(path, buf, sizeof(buf));
		int id, err = 0;

		if (n < 0)
			err = names_read(dir, &names);	/* is there a tracefs at all, and may we look? */
		if (n < 0 && !err)
			names_free(&names);
		free(path);
		free(dir);
		if (n > 0 && !util_parse_int(buf, 0, INT32_MAX, &id))
			return id;
		if (n == -EACCES || n == -EPERM || err == -EACCES || err == -EPERM)
			result = -EACCES;
		else if (!err && result == -ENODEV)
			result = -ENOENT;
	}
	return result;
}

void meter_tracepoint_each(void (*call)(void *ctx, const char *name), void *ctx)
{
	for (size_t i = 0; i < ARRAY_SIZE(tracefs); i++) {
		char *dir = util_asprintf("%s%s/events", root, tracefs[i]);
		struct names systems;

		(void)names_read(dir, &systems);
		for (size_t j = 0; j < systems.n; j++) {
			char *path = util_asprintf("%s/%s", dir, systems.name[j]);
			struct names events;

			(void)names_read(path, &events);	/* files such as "enable" are no directories */
			for (size_t k = 0; k < events.n; k++) {
				char *name;

				/* What is no event: the system's own enable and filter. */
				if (!strcmp(events.name[k], "enable") || !strcmp(events.name[k], "filter"))
					continue;
				name = util_asprintf("%s:%s", systems.name[j], events.name[k]);
				call(ctx, name);
				free(name);
			}
			names_free(&events);
			free(path);
		}
		free(dir);
		if (systems.n) {
			names_free(&systems);
			return;		/* the second one is the same, mounted elsewhere */
		}
	}
}
