/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which package a file came with, as dpkg or rpm knows it, and sums of hints by package.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "scan-package.h"

#define BATCH 200		/* names in one question to dpkg */
#define ANSWER_MS 60000		/* a package manager that takes longer is waiting for something */

struct summary {
	char *path, *real, *package;
	const char *machine;
	uint64_t n_hits, n_in_loop, n_spin_waits;
	struct scan_count *count;
	size_t n_counts;
};

struct scan_summaries {
	struct summary *file;
	size_t n, room;
};

struct scan_summaries *scan_summaries_new(void)
{
	return util_calloc(1, sizeof(struct scan_summaries));
}

void scan_summaries_add(struct scan_summaries *s, const struct scan_job *job)
{
	struct summary *f;

	if (s->n == s->room) {
		s->room = s->room * 2 + 64;
		s->file = util_realloc(s->file, s->room, sizeof(s->file[0]));
	}
	f = &s->file[s->n++];
	*f = (struct summary){ .path = util_strdup(job->path),
			       .machine = job->result.machine,
			       .n_hits = job->result.n_hits,
			       .n_in_loop = job->result.n_in_loop,
			       .n_spin_waits = job->result.n_spin_waits,
			       .n_counts = job->n_counts };
	f->real = job->image || job->kernel ? NULL : realpath(job->path, NULL);
	f->count = util_calloc(job->n_counts + 1, sizeof(f->count[0]));
	memcpy(f->count, job->count, job->n_counts * sizeof(f->count[0]));
}

void scan_summaries_free(struct scan_summaries *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		free(s->file[i].path);
		free(s->file[i].real);
		free(s->file[i].package);
		free(s->file[i].count);
	}
	free(s->file);
	free(s);
}

/* Read until the end or the deadline. */
static char *read_answer(int fd, pid_t pid)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t n = 0, room = 65536;
	char *text = util_calloc(room, 1);
	struct timespec start, now;
	ssize_t got = 1;

	clock_gettime(CLOCK_MONOTONIC, &start);
	while (got > 0) {
		int left;

		clock_gettime(CLOCK_MONOTONIC, &now);
		left = ANSWER_MS - (int)((now.tv_sec - start.tv_sec) * 1000);
		if (left <= 0 || poll(&p, 1, left) <= 0) {
			kill(pid, SIGKILL);
			break;
		}
		got = read(fd, text + n, room - n - 1);
		if (got > 0)
			n += (size_t)got;
		if (room - n < 4096) {
			room *= 2;
			text = util_realloc(text, room, 1);
		}
	}
	text[n] = '\0';
	return text;
}

/*
 * What a program prints, or NULL when there is no such program. Its messages are not of interest: unknown files are its
 * errors.
 */
static char *ask(char *const argv[])
{
	posix_spawn_file_actions_t actions;
	int fd[2], err, status;
	char *text;
	pid_t pid;

	if (pipe2(fd, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fd[1], STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fd[1]);
	if (err) {
		close(fd[0]);
		return NULL;
	}
	text = read_answer(fd[0], pid);
	close(fd[0]);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127) {
		free(text);
		return NULL;
	}
	return text;
}

/* dpkg takes names with these for patterns. */
static bool is_plain(const char *path)
{
	return path && path[0] == '/' && !strpbrk(path, "*?[]\\\n");
}

/* Since /lib is a link to /usr/lib, packages may list a file under either name. */
static const char *other_name(const char *path)
{
	return !strncmp(path, "/usr/", 5) ? path + 4 : NULL;
}

static void take_dpkg_line(struct scan_summaries *s, size_t from, size_t to, char *line)
{
	char *path = strstr(line, ": /");
	size_t i;

	if (!path || !strncmp(line, "diversion by ", 13))
		return;
	*path = '\0';
	path += 2;
	for (i = from; i < to; i++) {
		struct summary *f = &s->file[i];

		if (f->package || !is_plain(f->real) ||
		    (strcmp(f->real, path) && (!other_name(f->real) || strcmp(other_name(f->real), path))))
			continue;
		f->package = util_strdup(line);
	}
}

static bool ask_dpkg(struct scan_summaries *s)
{
	size_t from, to, i, n;

	for (from = 0; from < s->n; from = to) {
		char **argv = util_calloc(2 * BATCH + 4, sizeof(argv[0])), *text, *line, *rest;

		n = 0;
		argv[n++] = (char *)(uintptr_t)"dpkg-query";
		argv[n++] = (char *)(uintptr_t)"-S";
		argv[n++] = (char *)(uintptr_t)"--";
		to = from + BATCH < s->n ? from + BATCH : s->n;
		for (i = from; i < to; i++) {
			if (!is_plain(s->file[i].real))
				continue;
			argv[n++] = s->file[i].real;
			if (other_name(s->file[i].real))
				argv[n++] = (char *)(uintptr_t)other_name(s->file[i].real);
		}
		text = n > 3 ? ask(argv) : util_strdup("");
		free(argv);
		if (!text)
			return false;
		rest = text;
		while ((line = strsep(&rest, "\n")) != NULL)
			take_dpkg_line(s, from, to, line);
		free(text);
	}
	return true;
}

static void ask_rpm(struct scan_summaries *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		char *argv[] = { (char *)(uintptr_t) "rpm",
				 (char *)(uintptr_t) "-qf",
				 (char *)(uintptr_t) "--queryformat",
				 (char *)(uintptr_t) "%{NAME}\\n",
				 (char *)(uintptr_t) "--",
				 s->file[i].real,
				 NULL };
		char *text;

		if (!is_plain(s->file[i].real))
			continue;
		text = ask(argv);
		if (!text)
			return;
		text[strcspn(text, "\n")] = '\0';
		if (*text && !strchr(text, ' '))	/* "file ... is not owned by any package" */
			s->file[i].package = util_strdup(text);
		free(text);
	}
}

static void add_counts(struct scan_summary *sum, struct scan_count *count, const struct summary *f)
{
	size_t i, k;

	for (i = 0; i < f->n_counts; i++) {
		for (k = 0; k < sum->n_counts && strcmp(count[k].hint, f->count[i].hint); k++)
			;
		if (k == sum->n_counts)
			count[sum->n_counts++] = (struct scan_count){ .hint = f->count[i].hint };
		count[k].n += f->count[i].n;
	}
}

#define HINT_NAMES_MAX 64	/* more than all tables have */

static void print_packages(const struct scan_summaries *s, FILE *f, const struct scan_style *style)
{
	bool head = false;
	size_t i, k;

	for (i = 0; i < s->n; i++) {
		struct scan_count count[HINT_NAMES_MAX] = { { 0 } };
		struct scan_summary sum = { .package = s->file[i].package, .count = count };
		bool before = false;

		for (k = 0; k < i && sum.package && !before; k++)
			before = s->file[k].package && !strcmp(s->file[k].package, sum.package);
		if (!sum.package || before)
			continue;
		for (k = i; k < s->n; k++) {
			const struct summary *x = &s->file[k];

			if (!x->package || strcmp(x->package, sum.package))
				continue;
			sum.n_hits += x->n_hits;
			sum.n_in_loop += x->n_in_loop;
			sum.n_spin_waits += x->n_spin_waits;
			add_counts(&sum, count, x);
		}
		if (!head && style->format == SCAN_TEXT)
			fputs("By package:\n", f);
		head = true;
		report_scan_package(f, style, &sum);
	}
}

void scan_summaries_print(struct scan_summaries *s, FILE *f, const struct scan_style *style)
{
	size_t i;

	if (s->n && !ask_dpkg(s))
		ask_rpm(s);
	for (i = 0; i < s->n; i++) {
		const struct summary *x = &s->file[i];
		struct scan_summary sum = { .file = x->path,
					    .machine = x->machine,
					    .package = x->package,
					    .n_hits = x->n_hits,
					    .n_in_loop = x->n_in_loop,
					    .n_spin_waits = x->n_spin_waits,
					    .count = x->count,
					    .n_counts = x->n_counts };

		report_scan_summary(f, style, &sum);
	}
	print_packages(s, f, style);
}
