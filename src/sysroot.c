/* SPDX-License-Identifier: GPL-2.0-only */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arm-cores.h"
#include "sysroot.h"

/* The path below @root into @full. Returns where in it the path without the root begins: what users know. */
static const char *path_format(char full[PATH_MAX], const char *root, const char *fmt, va_list ap)
{
	size_t used = strlen(root);

	if (used >= PATH_MAX / 2)
		return NULL;
	memcpy(full, root, used + 1);
	if (vsnprintf(full + used, PATH_MAX - used, fmt, ap) >= (int)(PATH_MAX - used))
		return NULL;
	return full + used;
}

static char *read_all(const char *full, size_t *length)
{
	size_t n = 0, room = 4096;
	char *buf;
	/* O_NONBLOCK: whatever lies at that path in a recorded tree, the open and the read return. */
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int err;

	if (fd < 0)
		return NULL;
	buf = util_calloc(room, 1);
	for (;;) {
		ssize_t got;

		if (n + 1 == room) {
			if (room >= SYSROOT_FILE_MAX) {
				err = EFBIG;
				goto fail;
			}
			room *= 2;
			buf = util_realloc(buf, room, 1);
		}
		got = read(fd, buf + n, room - 1 - n);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0) {
			err = errno;
			goto fail;
		}
		if (got == 0)
			break;
		n += (size_t)got;
	}
	close(fd);
	while (n > 0 && isspace((unsigned char)buf[n - 1]))
		n--;
	buf[n] = '\0';
	if (length)
		*length = n;
	return buf;
fail:
	close(fd);
	free(buf);
	errno = err;
	return NULL;
}

static char *vread(const char *root, size_t *length, struct reason *why, const char *fmt, va_list ap)
{
	char full[PATH_MAX];
	const char *shown = path_format(full, root, fmt, ap);
	char *text;

	if (!shown) {
		reason_set(why, ENAMETOOLONG, "cannot read a file below the given root: its path is too long");
		errno = ENAMETOOLONG;
		return NULL;
	}
	text = read_all(full, length);
	if (!text) {
		int err = errno;

		reason_set(why, err, "cannot read %s: %s", shown, strerror(err));
		errno = err;
	}
	return text;
}

char *sysroot_read(const char *root, size_t *length, struct reason *why, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = vread(root, length, why, fmt, ap);
	va_end(ap);
	return text;
}

int sysroot_int(const char *root, int *out, struct reason *why, const char *fmt, ...)
{
	char full[PATH_MAX];
	va_list ap;
	char *text, *digits;
	const char *shown;
	uint64_t number;
	int err = 0;

	va_start(ap, fmt);
	text = vread(root, NULL, why, fmt, ap);
	va_end(ap);
	if (!text)
		return -errno;
	digits = text + (*text == '-');
	if (util_parse_u64(digits, 0, INT_MAX, &number) != 0) {
		va_start(ap, fmt);
		shown = path_format(full, root, fmt, ap);
		va_end(ap);
		text[strnlen(text, 40)] = '\0';
		err = reason_set(why, EINVAL, "%s holds \"%s\", not a number", shown, sysroot_clean(text));
	} else {
		*out = digits == text ? (int)number : -(int)number;
	}
	free(text);
	return err;
}

int sysroot_cpulist(const char *root, struct cpulist *list, struct reason *why, const char *fmt, ...)
{
	struct reason inner = { 0 };
	char full[PATH_MAX];
	va_list ap;
	char *text;
	int err = 0;

	*list = (struct cpulist){ 0 };
	va_start(ap, fmt);
	text = vread(root, NULL, why, fmt, ap);
	va_end(ap);
	if (!text)
		return -errno;
	if (*text)
		err = cpulist_parse(text, list, &inner);
	if (err) {
		const char *shown;

		va_start(ap, fmt);
		shown = path_format(full, root, fmt, ap);
		va_end(ap);
		reason_set(why, -err, "%s is not a CPU list: %s", shown, sysroot_clean(inner.text));
	}
	free(text);
	return err;
}

bool sysroot_exists(const char *root, const char *path)
{
	char full[PATH_MAX];

	return (size_t)snprintf(full, sizeof(full), "%s%s", root, path) < sizeof(full) && access(full, F_OK) == 0;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

char **sysroot_list(const char *root, const char *path, size_t *n, struct reason *why)
{
	char full[PATH_MAX];
	const struct dirent *entry;
	char **names = NULL;
	size_t count = 0;
	DIR *dir = NULL;

	if ((size_t)snprintf(full, sizeof(full), "%s%s", root, path) < sizeof(full))
		dir = opendir(full);
	else
		errno = ENAMETOOLONG;
	if (!dir) {
		int err = errno;

		reason_set(why, err, "cannot list %s: %s", path, strerror(err));
		errno = err;
		return NULL;
	}
	while ((entry = readdir(dir)) != NULL) {
		if (entry->d_name[0] == '.')
			continue;
		names = util_realloc(names, count + 2, sizeof(*names));
		names[count++] = util_strdup(entry->d_name);
	}
	closedir(dir);
	if (!names)
		names = util_calloc(1, sizeof(*names));
	names[count] = NULL;
	qsort(names, count, sizeof(*names), compare_names);
	if (n)
		*n = count;
	return names;
}

void sysroot_free_names(char **names)
{
	for (char **p = names; p && *p; p++)
		free(*p);
	free(names);
}

int sysroot_online(const char *root, struct cpulist *list, struct reason *why)
{
	struct reason sysfs = { 0 }, stat = { 0 };
	int err = sysroot_cpulist(root, list, &sysfs, "/sys/devices/system/cpu/online");
	char *text, *line, *save;

	if (!err && list->n > 0)
		return 0;
	cpulist_free(list);
	*list = (struct cpulist){ 0 };
	if (!err)
		reason_set(&sysfs, ENODATA, "/sys/devices/system/cpu/online is empty");
	/* Without sysfs (some containers and sandboxes) /proc/stat has one line for each online CPU. */
	text = sysroot_read(root, NULL, &stat, "/proc/stat");
	for (line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
		char *end;
		long cpu;

		if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
			continue;
		cpu = strtol(line + 3, &end, 10);
		if (*end == ' ' && cpu <= UINT16_MAX)
			cpulist_add(list, (int)cpu);
	}
	free(text);
	if (list->n > 0)
		return 0;
	return reason_set(why, sysfs.err, "%s; %s", sysfs.text, stat.err ? stat.text : "/proc/stat names no CPU");
}

/* Length of the valid UTF-8 sequence at @s (RFC 3629), 0: none. */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = 0;

	if (s[0] < 0x80)
		n = 1;
	else if (s[0] >= 0xc2 && s[0] < 0xe0)
		n = 2;
	else if (s[0] >= 0xe0 && s[0] < 0xf0)
		n = 3;
	else if (s[0] >= 0xf0 && s[0] < 0xf5)
		n = 4;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

char *sysroot_clean(char *s)
{
	unsigned char *from = (unsigned char *)s, *to = from;
	bool blank = false;

	while (*from) {
		size_t n = utf8_length(from);

		if (*from <= ' ' || *from == 0x7f) {
			blank = to != (unsigned char *)s;
			from++;
			continue;
		}
		if (blank)
			*to++ = ' ';
		blank = false;
		if (n == 0) {
			*to++ = '?';
			from++;
		}
		while (n-- > 0)
			*to++ = *from++;
	}
	*to = '\0';
	return s;
}

int sysroot_midr(const char *root, int cpu, uint64_t *midr)
{
	char *text = sysroot_read(root, NULL, NULL, "/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);
	char *end;
	int err = 0;

	if (!text)
		return -errno;
	errno = 0;
	*midr = strtoull(text, &end, 16);
	if (errno || end == text || *end)
		err = -EINVAL;
	free(text);
	return err;
}

static const struct arm_core {
	int implementer, part;
	const char *name;
} arm_cores[] = {
#define X(implementer, part, name) { implementer, part, name },
	ARM_CORES(X)
#undef X
};

const char *sysroot_arm_name(int implementer, int part)
{
	for (size_t i = 0; i < ARRAY_SIZE(arm_cores); i++)
		if (arm_cores[i].implementer == implementer && arm_cores[i].part == part)
			return arm_cores[i].name;
	return NULL;
}

/* "Cortex-A72" is "armv8_cortex_a72", "Firestorm (M1)" is "apple_firestorm_pmu": what follows the first underscore. */
static bool unit_is_core(const char *unit, const char *core)
{
	const char *start = NULL;
	size_t i = 0;

	if (strncmp(unit, "armv", 4) == 0 || strncmp(unit, "apple_", 6) == 0)
		start = strchr(unit, '_');
	if (!start)
		return false;
	for (start++; *start && core[i] && core[i] != ' '; start++, i++) {
		if (core[i] == '-' && *start == '_')
			continue;
		if (tolower((unsigned char)core[i]) != *start)
			return false;
	}
	return (core[i] == '\0' || core[i] == ' ') && (*start == '\0' || strcmp(start, "_pmu") == 0);
}

int sysroot_arm_core(const char *name, int *implementer, int *part)
{
	for (size_t i = 0; i < ARRAY_SIZE(arm_cores); i++) {
		if (strcmp(arm_cores[i].name, name) != 0 && !unit_is_core(name, arm_cores[i].name))
			continue;
		*implementer = arm_cores[i].implementer;
		*part = arm_cores[i].part;
		return 0;
	}
	return -ENOENT;
}

static struct cpulist *add_type(struct sysroot_core_types *types, const char *name)
{
	for (size_t i = 0; i < types->n; i++)
		if (strcmp(types->type[i].name, name) == 0)
			return &types->type[i].cpus;
	types->type = util_realloc(types->type, types->n + 1, sizeof(*types->type));
	types->type[types->n] = (struct sysroot_core_type){ .name = util_intern(name) };
	return &types->type[types->n++].cpus;
}

/*
 * A unit of the cores has a file "cpus"; units beside the cores have "cpumask" (Linux
 * Documentation/ABI/testing/sysfs-bus-event_source-devices).
 */
static void types_from_units(const char *root, struct sysroot_core_types *types)
{
	static const char *const place[] = { "/sys/bus/event_source/devices", "/sys/devices" };

	for (size_t i = 0; i < ARRAY_SIZE(place) && types->n == 0; i++) {
		char **names = sysroot_list(root, place[i], NULL, NULL);

		for (char **name = names; name && *name; name++) {
			struct cpulist cpus;

			if (sysroot_cpulist(root, &cpus, NULL, "%s/%s/cpus", place[i], *name) == 0 && cpus.n > 0)
				*add_type(types, *name) = cpus;
			else
				cpulist_free(&cpus);
		}
		sysroot_free_names(names);
	}
}

static void types_from_midr(const char *root, struct sysroot_core_types *types)
{
	struct cpulist online;
	uint64_t midr;

	if (sysroot_online(root, &online, NULL) != 0)
		return;
	for (size_t i = 0; i < online.n; i++) {
		char number[32];
		const char *name;

		if (sysroot_midr(root, online.cpu[i], &midr) != 0) {
			if (i == 0)
				break;	/* not this architecture: do not try a thousand more */
			continue;
		}
		name = sysroot_arm_name(SYSROOT_MIDR_IMPLEMENTER(midr), SYSROOT_MIDR_PART(midr));
		snprintf(number, sizeof(number), "0x%02x/0x%03x", (unsigned int)SYSROOT_MIDR_IMPLEMENTER(midr),
			 (unsigned int)SYSROOT_MIDR_PART(midr));
		cpulist_add(add_type(types, name ? name : number), online.cpu[i]);
	}
	cpulist_free(&online);
}

void sysroot_core_types(const char *root, struct sysroot_core_types *types)
{
	bool numbered = false;

	*types = (struct sysroot_core_types){ 0 };
	types_from_units(root, types);
	/* Units that the firmware tables describe are only numbered ("armv8_pmuv3_1"): the registers say more. */
	for (size_t i = 0; i < types->n; i++)
		numbered = numbered || strstr(types->type[i].name, "pmuv3");
	if (types->n < 2 || numbered) {
		sysroot_core_types_free(types);
		types_from_midr(root, types);
	}
	if (types->n < 2)
		sysroot_core_types_free(types);
}

void sysroot_core_types_free(struct sysroot_core_types *types)
{
	for (size_t i = 0; i < types->n; i++)
		cpulist_free(&types->type[i].cpus);
	free(types->type);
	*types = (struct sysroot_core_types){ 0 };
}
