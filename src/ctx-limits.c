/* SPDX-License-Identifier: GPL-2.0-only */
/* Does a ring fit the limits of this process? Asked before anything starts, so that a run that cannot be is refused in a sentence and not half begun. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ctx-run.h"

#define SPARE_FDS 8		/* shared memory, signals, reports, and what the C library opens */
#define MEMORY_SHARE 2		/* of what is available */

static unsigned int count_entries(const char *path, bool digits_only)
{
	DIR *d = opendir(path);
	unsigned int n = 0;

	if (!d)
		return 0;
	for (const struct dirent *e = readdir(d); e; e = readdir(d))
		n += digits_only ? isdigit((unsigned char)*e->d_name) != 0 : *e->d_name != '.';
	closedir(d);
	return n;
}

static int check_fds(unsigned int tasks, enum ctx_via via, struct reason *why)
{
	unsigned int open_now = count_entries("/proc/self/fd", false);
	rlim_t need = (rlim_t)tasks * ctx_via_fds(via) + (open_now ? open_now : 64) + SPARE_FDS;
	struct rlimit limit, raised;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= need)
		return 0;
	raised = limit;
	raised.rlim_cur = need;
	if (raised.rlim_max != RLIM_INFINITY && raised.rlim_max < need)
		raised.rlim_max = need;		/* needs CAP_SYS_RESOURCE */
	if (!setrlimit(RLIMIT_NOFILE, &raised)) {
		msg_verbose(1, "limit on open files raised from %llu to %llu", (unsigned long long)limit.rlim_cur, (unsigned long long)need);
		return 0;
	}
	return reason_set(why, EMFILE, "%u tasks through %s need %u file descriptors for each and %llu in all, but this process may have %llu "
			  "and may not raise that above %llu: fewer tasks, --via futex (needs none), or a higher `ulimit -n`",
			  tasks, ctx_via_name(via), ctx_via_fds(via), (unsigned long long)need, (unsigned long long)limit.rlim_cur,
			  (unsigned long long)limit.rlim_max);
}

/* Threads of this user, as RLIMIT_NPROC counts them. */
static unsigned long count_own_threads(void)
{
	char path[64];
	struct stat st;
	DIR *d = opendir("/proc");
	unsigned long n = 0;

	if (!d)
		return 0;
	for (const struct dirent *e = readdir(d); e; e = readdir(d)) {
		if (!isdigit((unsigned char)*e->d_name) || strlen(e->d_name) > 20)
			continue;
		snprintf(path, sizeof(path), "/proc/%.20s/task", e->d_name);
		if (!stat(path, &st) && st.st_uid == getuid())
			n += count_entries(path, true);
	}
	closedir(d);
	return n;
}

/* The same of this process's control group (version 2), up to the root. */
static int check_cgroup(unsigned int tasks, struct reason *why)
{
	char group[1024], path[1280], text[64], *line, *slash;
	uint64_t most, now;

	if (util_read_file("/proc/self/cgroup", group, sizeof(group)) < 0)
		return 0;
	line = strstr(group, "0::/");
	if (!line)
		return 0;
	line += 3;
	line[strcspn(line, "\n")] = '\0';
	for (;;) {
		snprintf(path, sizeof(path), "/sys/fs/cgroup%s/pids.max", line);
		if (util_read_file(path, text, sizeof(text)) > 0 && !util_parse_u64(text, 0, UINT64_MAX, &most)) {
			snprintf(path, sizeof(path), "/sys/fs/cgroup%s/pids.current", line);
			if (!util_read_u64(path, &now) && now + tasks + 1 > most)
				return reason_set(why, EAGAIN, "%u tasks do not fit: the control group %s may have %llu tasks and has %llu now", tasks, line,
						  (unsigned long long)most, (unsigned long long)now);
		}
		slash = strrchr(line, '/');
		if (!slash || !*line)
			return 0;
		*slash = '\0';
	}
}

static int check_processes(unsigned int tasks, struct reason *why)
{
	struct rlimit limit;
	unsigned long own;
	rlim_t need;

	/* The limit does not bind root (nor CAP_SYS_RESOURCE, which is found out by fork itself). */
	if (!geteuid() || getrlimit(RLIMIT_NPROC, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return check_cgroup(tasks, why);
	own = count_own_threads();
	need = own + tasks + 1;
	if (limit.rlim_cur < need) {
		struct rlimit raised = limit;

		raised.rlim_cur = need;
		if ((limit.rlim_max != RLIM_INFINITY && limit.rlim_max < need) || setrlimit(RLIMIT_NPROC, &raised))
			return reason_set(why, EAGAIN, "%u tasks do not fit: this user may have %llu processes and threads and has %lu now: fewer tasks, or a "
					  "higher `ulimit -u`", tasks, (unsigned long long)limit.rlim_cur, own);
	}
	return check_cgroup(tasks, why);
}

static int check_memory(unsigned int tasks, uint64_t size_bytes, struct reason *why)
{
	char text[256];
	const char *line;
	unsigned long long available;
	FILE *f;
	int found = 0;

	if (!size_bytes)
		return 0;
	f = fopen("/proc/meminfo", "re");
	while (f && fgets(text, sizeof(text), f) && !found)
		found = (line = strstr(text, "MemAvailable:")) && sscanf(line, "MemAvailable: %llu kB", &available) == 1;
	if (f)
		fclose(f);
	if (!found || (double)tasks * (double)size_bytes <= (double)available * 1024 / MEMORY_SHARE)
		return 0;
	return reason_set(why, ENOMEM, "%u tasks of %.1f MiB need %.0f MiB; %.0f MiB are available, of which half is used at most", tasks,
			  (double)size_bytes / 1048576, (double)tasks * (double)size_bytes / 1048576, (double)available / 1024);
}

int ctx_limits_check(unsigned int tasks, enum ctx_via via, uint64_t size_bytes, struct reason *why)
{
	int err = check_fds(tasks, via, why);

	if (!err)
		err = check_processes(tasks, why);
	return err ? err : check_memory(tasks, size_bytes, why);
}
