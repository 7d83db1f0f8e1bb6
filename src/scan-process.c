/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a process has mapped: its program, its libraries, its vDSO.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scan.h"

struct seen {
	uint64_t dev, ino;
};

static bool seen_before(struct seen **seen, size_t *n, uint64_t dev, uint64_t ino)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if ((*seen)[i].dev == dev && (*seen)[i].ino == ino)
			return true;
	*seen = util_realloc(*seen, *n + 1, sizeof(**seen));
	(*seen)[(*n)++] = (struct seen){ .dev = dev, .ino = ino };
	return false;
}

/* In /proc/PID/maps a newline in a name is \012 (and only that is escaped). */
static void unescape(char *s)
{
	char *to = s;

	while (*s) {
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

static int send_vdso(const struct scan_sink *sink, pid_t pid, uint64_t start, uint64_t end)
{
	char *path = util_asprintf("/proc/%d/mem", (int)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct scan_job *job;
	ssize_t n;

	free(path);
	job = scan_job_new("[vdso]", false);
	job->image_bytes = end - start;
	job->image = util_calloc(1, job->image_bytes);
	n = fd < 0 ? -1 : pread(fd, job->image, job->image_bytes, (off_t)start);
	if (fd >= 0)
		close(fd);
	if (n <= 0) {
		sink->fail(sink->ctx, "[vdso]", strerror(errno));
		scan_job_free(job);
		return 0;
	}
	job->image_bytes = (size_t)n;
	return sink->file(sink->ctx, job);
}

/*
 * The file behind a mapping: /proc/PID/map_files reaches deleted ones and those of other mount namespaces, but needs
 * privileges; then through the process's root; a file that is gone or was replaced is told, not another one scanned in
 * its place.
 */
static int send_file(const struct scan_sink *sink, pid_t pid, uint64_t start, uint64_t end, uint64_t ino, char *name)
{
	struct scan_job *job;
	struct stat st;
	size_t len = strlen(name);
	char *open_path = util_asprintf("/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, start, end);
	int fd = open(open_path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0) {
		free(open_path);
		if (len > 10 && !strcmp(name + len - 10, " (deleted)")) {
			sink->fail(sink->ctx, name,
				   "mapped, but deleted since; reading it needs CAP_CHECKPOINT_RESTORE");
			return 0;
		}
		open_path = util_asprintf("/proc/%d/root%s", (int)pid, name);
		if (stat(open_path, &st) || (uint64_t)st.st_ino != ino) {
			sink->fail(sink->ctx, name,
				   errno == EACCES ? "no permission to reach it through the process's root"
						   : "mapped, but another file has this name now");
			free(open_path);
			return 0;
		}
	} else {
		close(fd);
	}
	job = scan_job_new(name, false);
	job->open_path = open_path;
	return sink->file(sink->ctx, job);
}

int scan_process(const struct scan_sink *sink, pid_t pid, struct reason *why)
{
	char *path = util_asprintf("/proc/%d/maps", (int)pid), *line = NULL;
	FILE *maps = fopen(path, "re");
	size_t room = 0, n_seen = 0;
	struct seen *seen = NULL;
	unsigned int n_maps = 0, n_anonymous = 0;
	int err = maps ? 0 : errno, stop = 0;

	free(path);
	while (maps && !stop && (errno = 0, getline(&line, &room, maps)) > 0) {
		uint64_t start, end, ino;
		unsigned int major, minor;
		char perms[5];
		int at = 0;
		char *name;

		n_maps++;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %*x %x:%x %" SCNu64 " %n", &start, &end, perms, &major,
			   &minor, &ino, &at) < 6 ||
		    !at || perms[2] != 'x')
			continue;
		name = line + at;
		name[strcspn(name, "\n")] = '\0';
		unescape(name);
		if (!strcmp(name, "[vdso]") && end > start && end - start <= (1u << 20))
			stop = send_vdso(sink, pid, start, end);
		else if (name[0] == '/' && ino && !seen_before(&seen, &n_seen, (uint64_t)major << 32 | minor, ino))
			stop = send_file(sink, pid, start, end, ino, name);
		else if (!name[0])
			n_anonymous++;
	}
	if (maps && !n_maps)
		err = errno ? errno : ESRCH;	/* a kernel thread, or a process that has ended */
	if (n_anonymous)
		msg_verbose(1, "process %d: %u anonymous executable mappings (code made at run time) were left out",
			    (int)pid, n_anonymous);
	free(seen);
	free(line);
	if (maps)
		fclose(maps);
	if (!err)
		return 0;
	if (err == ENOENT || err == ESRCH)
		return reason_set(why, err,
				  maps ? "process %d has no mappings (a kernel thread, or it has ended)"
				       : "there is no process %d",
				  (int)pid);
	return reason_set(why, err,
			  "cannot read the mappings of process %d: %s; it needs the same user or CAP_SYS_PTRACE",
			  (int)pid, strerror(err));
}
