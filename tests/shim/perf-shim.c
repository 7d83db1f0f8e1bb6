// SPDX-License-Identifier: GPL-2.0-only
/*
 * LD_PRELOAD: a worse machine than this one, for tests. PERF_SHIM is a list of words, separated by commas:
 *
 * fake            hardware events are opened as task-clock, so that a machine without a PMU has counters that count
 * something few=N               of those, only the first N of a group can be had together: the others are EINVAL in it,
 * as from the kernel's own check kernel=ERRNO     events that would count in the kernel are refused member=ERRNO
 * events are refused as members of a group, and accepted alone share=PCT  a counter ran for PCT % of its time only, and
 * counted as much less idle         a counter never ran stuck               a counter ran and reads 0 short=N
 * a read of a counter returns N bytes only; 0 is an end of file map=ERRNO counters cannot be mapped clock=FAULT
 * CLOCK_MONOTONIC_RAW is constant, backwards (once, 1 s), jump (once, 1 h) or coarse (10 ms)
 *
 * Only calls made through libc are seen; tests/confine.c refuses system calls whoever makes them.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define FDS 4096

static unsigned char is_counter[FDS];
static int members[FDS];	/* of the group that the descriptor leads */

/* The value of "word" or "word=VALUE" in PERF_SHIM; NULL: the word is not there; "" without value. */
static const char *word(const char *name)
{
	static char value[64];
	const char *list = getenv("PERF_SHIM");
	size_t n = strlen(name);

	for (const char *p = list; p && *p; p = strchr(p, ','), p = p ? p + 1 : NULL) {
		size_t length = strcspn(p, ",");

		if (strncmp(p, name, n) || (p[n] != '=' && n != length))
			continue;
		if (n == length)
			return "";
		length -= n + 1;
		if (length >= sizeof(value))
			length = sizeof(value) - 1;
		memcpy(value, p + n + 1, length);
		value[length] = '\0';
		return value;
	}
	return NULL;
}

static int error_number(const char *name)
{
	for (int e = 1; e < 256; e++)
		if (strerrorname_np(e) && !strcmp(strerrorname_np(e), name))
			return e;
	fprintf(stderr, "perf-shim: no errno is called '%s'\n", name);
	abort();
}

static bool is_hardware(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE || attr->type == PERF_TYPE_RAW;
}

static long open_counter(long (*real)(long, ...), long number, const struct perf_event_attr *attr, long pid, long cpu,
			 long group, long flags)
{
	struct perf_event_attr copy = { .size = sizeof(copy) };
	const char *value;
	long fd;

	memcpy(&copy, attr, attr->size && attr->size < sizeof(copy) ? attr->size : sizeof(copy));
	value = word("kernel");
	if (value && !copy.exclude_kernel) {
		errno = error_number(value);
		return -1;
	}
	value = word("member");
	if (value && group >= 0) {
		errno = error_number(value);
		return -1;
	}
	value = word("few");
	if (value && group >= 0 && group < FDS && members[group] + 1 >= atoi(value)) {
		errno = EINVAL;
		return -1;
	}
	if (word("fake") && is_hardware(&copy)) {
		copy.type = PERF_TYPE_SOFTWARE;
		copy.config = PERF_COUNT_SW_TASK_CLOCK;
		copy.config1 = copy.config2 = 0;
		copy.precise_ip = 0;
	}
	fd = real(number, &copy, pid, cpu, group, flags);
	if (fd >= 0 && fd < FDS) {
		is_counter[fd] = 1;
		members[fd] = 0;
		if (group >= 0 && group < FDS)
			members[group]++;
	}
	return fd;
}

long syscall(long number, ...)
{
	static long (*real)(long, ...);
	long a[6];
	va_list args;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "syscall");
	va_start(args, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(args, long);
	va_end(args);
	/* Integers narrower than a register leave its upper half undefined. */
	if (number == SYS_perf_event_open)
		return open_counter(real, number, (const struct perf_event_attr *)a[0], (int)a[1], (int)a[2], (int)a[3],
				    a[4]);
	return real(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

ssize_t read(int fd, void *buf, size_t size)
{
	static ssize_t (*real)(int, void *, size_t);
	uint64_t *v = buf;	/* value, time enabled, time running */
	const char *value;
	ssize_t n;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "read");
	n = real(fd, buf, size);
	if (fd < 0 || fd >= FDS || !is_counter[fd] || n < 24)
		return n;
	if (word("idle"))
		v[0] = v[2] = 0;
	if (word("stuck"))
		v[0] = 0;
	value = word("share");
	if (value) {
		v[0] = v[0] * (uint64_t)atoi(value) / 100;
		v[2] = v[1] * (uint64_t)atoi(value) / 100;
	}
	value = word("short");
	if (value) {
		/* What a caller does with a short count must not depend on what lies beyond it. */
		memset((char *)buf + atoi(value), 0xa5, size - (size_t)atoi(value));
		return atoi(value);
	}
	return n;
}

int close(int fd)
{
	static int (*real)(int);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "close");
	if (fd >= 0 && fd < FDS)
		is_counter[fd] = 0;
	return real(fd);
}

void *mmap(void *address, size_t size, int prot, int flags, int fd, off_t offset)
{
	static void *(*real)(void *, size_t, int, int, int, off_t);
	const char *value;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "mmap");
	if (fd >= 0 && fd < FDS && is_counter[fd] && (value = word("map"))) {
		errno = error_number(value);
		return MAP_FAILED;
	}
	return real(address, size, prot, flags, fd, offset);
}

int clock_gettime(clockid_t id, struct timespec *t)
{
	static int (*real)(clockid_t, struct timespec *);
	static unsigned long reads;
	const char *fault;
	int err;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "clock_gettime");
	err = real(id, t);
	if (err || id != CLOCK_MONOTONIC_RAW || !(fault = word("clock")))
		return err;
	reads++;
	if (!strcmp(fault, "constant"))
		*t = (struct timespec){ 1000, 0 };
	else if (!strcmp(fault, "backwards") && reads == 300)
		t->tv_sec -= 1;
	else if (!strcmp(fault, "jump") && reads >= 300)
		t->tv_sec += 3600;
	else if (!strcmp(fault, "coarse"))
		t->tv_nsec = t->tv_nsec / 10000000 * 10000000;
	return 0;
}
