// SPDX-License-Identifier: GPL-2.0-only
/*
 * What to do when perf_event_open(2) fails: one answer for each of its errors, with the values that matter as they are
 * now.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "meter-perf.h"

/* From linux/capability.h, which libc's headers do not include. */
#define CAPABILITY_SYS_ADMIN	21
#define CAPABILITY_PERFMON	38

static long read_proc(const char *path, char *buf, size_t size)
{
	char *full = util_asprintf("%s%s", meter_perf_root(), path);
	long n = util_read_file(full, buf, size);

	free(full);
	if (n >= 0)
		buf[strcspn(buf, "\n")] = '\0';
	return n;
}

/* "kernel.perf_event_paranoid is 4", or why that is not known. Returns the value, or INT32_MIN. */
static int paranoid(char *buf, size_t size)
{
	char text[32];
	long n = read_proc("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	int value;

	if (n < 0) {
		snprintf(buf, size, "kernel.perf_event_paranoid cannot be read (%s)", strerror((int)-n));
		return INT32_MIN;
	}
	if (util_parse_int(text, -100, 100, &value)) {
		snprintf(buf, size, "kernel.perf_event_paranoid holds \"%.20s\", which is no number", text);
		return INT32_MIN;
	}
	snprintf(buf, size, "kernel.perf_event_paranoid is %d", value);
	return value;
}

/* A field of /proc/self/status as hexadecimal (CapEff) or decimal digits (Seccomp); 0 when it cannot be read. */
static uint64_t status_field(const char *name, int base)
{
	char text[4096], *line;

	char *full = util_asprintf("%s/proc/self/status", meter_perf_root());
	long n = util_read_file(full, text, sizeof(text));

	free(full);
	line = n > 0 ? strstr(text, name) : NULL;
	return line ? strtoull(line + strlen(name), NULL, base) : 0;
}

static int permission(int err, const char *where, int cpu, struct reason *why)
{
	uint64_t caps = status_field("\nCapEff:", 16);
	bool capable = caps >> CAPABILITY_PERFMON & 1 || caps >> CAPABILITY_SYS_ADMIN & 1;
	bool filtered = status_field("\nSeccomp:", 10) == 2;
	char value[96];
	int level = paranoid(value, sizeof(value));

	if (capable || (level <= 1 && level > INT32_MIN && cpu < 0))
		return reason_set(
			why, err,
			"%s: %s: %s%s, so %s refuses it: let it pass perf_event_open (docker: --cap-add PERFMON with "
			"a seccomp profile "
			"that allows the call), or run outside",
			where, strerror(err), value, capable ? " and the process may use counters" : "",
			filtered ? "the seccomp filter on this process" : "a sandbox or security module");
	if (level > 2)
		return reason_set(
			why, err,
			"%s: %s: %s; above 2, Debian's and Ubuntu's kernels refuse all counters to all but root and "
			"CAP_PERFMON: become root, or "
			"sysctl kernel.perf_event_paranoid=2%s",
			where, strerror(err), value, filtered ? " (a seccomp filter is active too)" : "");
	if (cpu >= 0)
		return reason_set(why, err, "%s: %s: %s; counting a whole CPU needs 0 or less, root or CAP_PERFMON",
				  where, strerror(err), value);
	return reason_set(
		why, err,
		"%s: %s: %s; at 2 only user space may be counted, the kernel's part needs 1 or less, tracepoints -1; "
		"or root or "
		"CAP_PERFMON%s",
		where, strerror(err), value,
		filtered ? ". A seccomp filter is active and may be the cause as well" : "");
}

/* The PMU that an event such as "msr/tsc/" names, if this machine has it. */
static bool names_pmu(const char *event, char *name, size_t size)
{
	struct meter_pmu *pmu;
	size_t length = strcspn(event, "/"), n;

	if (!event[length] || length >= size)
		return false;
	memcpy(name, event, length);
	name[length] = '\0';
	n = meter_pmu_find(name, &pmu);
	meter_pmu_free(pmu, n);
	return n > 0;
}

void meter_perf_advice(int err, const char *event, int cpu, struct reason *why)
{
	struct rlimit limit = { 0, 0 };
	char where[128], buf[96];

	snprintf(where, sizeof(where), cpu >= 0 ? "event '%.80s' on CPU %d" : "event '%.80s'", event, cpu);
	switch (err) {
	case EACCES:
	case EPERM:
		permission(err, where, cpu, why);
		return;
	case EINVAL:
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		if (names_pmu(event, buf, sizeof(buf))) {
			reason_set(why, err,
				   "%s: %s: the PMU %s is there, but its driver refuses this event or these modifiers",
				   where, strerror(err), buf);
			return;
		}
		if (err == EINVAL && meter_pmu_have_core()) {
			reason_set(
				why, err,
				"%s: %s: the kernel refuses this encoding on this CPU; try the event without its "
				"modifiers and masks, or a name "
				"of `perf-relax list`",
				where, strerror(err));
			return;
		}
		reason_set(
			why, err, "%s: %s: %s", where, strerror(err),
			meter_pmu_have_core() ?
				"this CPU's PMU has no such counter, or its kernel driver cannot count so" :
				"the kernel shows no PMU of the CPU; in a virtual machine the hypervisor has to offer "
				"one (QEMU/KVM: -cpu host,pmu=on)");
		return;
	case ENOSYS:
		reason_set(
			why, err,
			"%s: %s: this kernel, or the sandbox around it (gVisor, qemu-user, a seccomp filter), has no "
			"perf_event_open; no sysctl changes "
			"that, clocks work all the same",
			where, strerror(err));
		return;
	case EMFILE:
		getrlimit(RLIMIT_NOFILE, &limit);
		reason_set(why, err,
			   "%s: %s: the limit is %" PRIu64 " (hard limit %" PRIu64
			   "), and each event takes one: ulimit -n, or fewer events",
			   where, strerror(err), (uint64_t)limit.rlim_cur, (uint64_t)limit.rlim_max);
		return;
	case ENFILE:
		if (read_proc("/proc/sys/fs/file-nr", buf, sizeof(buf)) < 0)
			snprintf(buf, sizeof(buf), "unreadable");
		reason_set(
			why, err,
			"%s: %s: fs.file-nr (used, free, limit) is \"%s\": raise sysctl fs.file-max, or close programs",
			where, strerror(err), buf);
		return;
	case EBUSY:
		if (read_proc("/proc/sys/kernel/nmi_watchdog", buf, sizeof(buf)) < 0)
			snprintf(buf, sizeof(buf), "unreadable");
		reason_set(
			why, err,
			"%s: %s: another program holds the PMU for itself; kernel.nmi_watchdog is %s (1 takes a "
			"counter)",
			where, strerror(err), buf);
		return;
	case E2BIG:
		reason_set(why, err, "%s: %s: this kernel is too old for a field that the event uses", where,
			   strerror(err));
		return;
	case ENOSPC:
		reason_set(why, err, "%s: %s: all hardware breakpoints or counters of that kind are taken", where,
			   strerror(err));
		return;
	case ENOMEM:
		reason_set(why, err, "%s: %s: the kernel has no memory for another event; use fewer", where,
			   strerror(err));
		return;
	case ESRCH:
		reason_set(why, err, "%s: %s: the thread to be counted has ended", where, strerror(err));
		return;
	default:
		reason_set(why, err, "%s: perf_event_open: %s", where, strerror(err));
	}
}
