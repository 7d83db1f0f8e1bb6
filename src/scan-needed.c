/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The libraries that a program would be given: found as ld.so(8) describes, without running it.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "scan.h"

#define DEPTH_MAX 64	/* of includes in ld.so.conf, and of libraries that need libraries */

struct library {
	dev_t dev;
	ino_t ino;
};

struct scan_needed {
	struct library *seen;
	size_t n_seen;
	char **dir;		/* of ld.so.conf and the linker's own */
	size_t n_dirs;
};

static void add_dir(struct scan_needed *n, const char *dir)
{
	n->dir = util_realloc(n->dir, n->n_dirs + 1, sizeof(n->dir[0]));
	n->dir[n->n_dirs++] = util_strdup(dir);
}

static void read_conf(struct scan_needed *n, const char *path, unsigned int depth)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t room = 0, i;

	while (f && getline(&line, &room, f) > 0) {
		char *p = line + strspn(line, " \t");

		p[strcspn(p, "#\n\r")] = '\0';
		for (i = strlen(p); i && strchr(" \t", p[i - 1]); i--)
			p[i - 1] = '\0';
		if (!strncmp(p, "include ", 8) || !strncmp(p, "include\t", 8)) {
			char *pattern;
			glob_t g;

			p += 8 + strspn(p + 8, " \t");
			pattern = *p == '/' ? util_strdup(p) : util_asprintf("/etc/%s", p);
			if (depth < DEPTH_MAX && !glob(pattern, 0, NULL, &g)) {
				for (i = 0; i < g.gl_pathc; i++)
					read_conf(n, g.gl_pathv[i], depth + 1);
				globfree(&g);
			}
			free(pattern);
		} else if (*p == '/') {
			add_dir(n, p);
		}
	}
	free(line);
	if (f)
		fclose(f);
}

struct scan_needed *scan_needed_new(void)
{
	static const char *const standard[] = { "/lib64", "/usr/lib64", "/lib",	   "/usr/lib",
						"/lib32", "/usr/lib32", "/libx32", "/usr/libx32" };
	struct scan_needed *n = util_calloc(1, sizeof(*n));
	size_t i;

	read_conf(n, "/etc/ld.so.conf", 0);
	for (i = 0; i < ARRAY_SIZE(standard); i++)
		add_dir(n, standard[i]);
	return n;
}

void scan_needed_free(struct scan_needed *n)
{
	size_t i;

	if (!n)
		return;
	for (i = 0; i < n->n_dirs; i++)
		free(n->dir[i]);
	free(n->dir);
	free(n->seen);
	free(n);
}

/* $ORIGIN and $LIB, with or without braces; malloc'ed. */
static char *expand(const char *dir, size_t len, const char *origin, unsigned int elf_class)
{
	char *text = util_asprintf("%.*s", (int)len, dir), *p;
	static const char *const names[] = { "${ORIGIN}", "$ORIGIN", "${LIB}", "$LIB" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		while ((p = strstr(text, names[i])) != NULL && strlen(text) < 65536) {
			const char *with = i < 2 ? origin : elf_class == 2 ? "lib64" : "lib";
			char *longer = util_asprintf("%.*s%s%s", (int)(p - text), text, with, p + strlen(names[i]));

			free(text);
			text = longer;
			if (strstr(with, names[i]))
				return text;
		}
	return text;
}

/* Open @path when it is a library for the same machine. */
static int try_open(const char *path, const struct elfscan_dynamic *want, struct stat *st)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct elfscan_dynamic d;
	bool fits;

	if (fd < 0)
		return -1;
	if (fstat(fd, st) || !S_ISREG(st->st_mode) || elfscan_dynamic_read(fd, &d)) {
		close(fd);
		return -1;
	}
	fits = d.machine == want->machine && d.elf_class == want->elf_class;
	elfscan_dynamic_free(&d);
	if (fits)
		return fd;
	close(fd);
	return -1;
}

/* Search a list of directories as in DT_RUNPATH. */
static int try_list(const char *list, const char *origin, const char *name, const struct elfscan_dynamic *want,
		    struct stat *st, char **path)
{
	const char *p = list, *end;
	int fd = -1;

	while (p && fd < 0) {
		char *dir;

		end = strchrnul(p, ':');
		dir = expand(p, (size_t)(end - p), origin, want->elf_class);
		*path = util_asprintf("%s%s%s", dir, *dir ? "/" : "", name);
		free(dir);
		fd = try_open(*path, want, st);
		if (fd < 0)
			free(*path);
		p = *end ? end + 1 : NULL;
	}
	return fd;
}

static int find_library(const struct scan_needed *n, const char *name, const struct elfscan_dynamic *by,
			const char *origin, struct stat *st, char **path)
{
	const char *env = getenv("LD_LIBRARY_PATH");
	int fd = -1;
	size_t i;

	if (strchr(name, '/')) {
		*path = expand(name, strlen(name), origin, by->elf_class);
		fd = try_open(*path, by, st);
		if (fd < 0)
			free(*path);
		return fd;
	}
	if (by->rpath && !by->runpath)
		fd = try_list(by->rpath, origin, name, by, st, path);
	if (fd < 0 && env && *env)
		fd = try_list(env, origin, name, by, st, path);
	if (fd < 0 && by->runpath)
		fd = try_list(by->runpath, origin, name, by, st, path);
	for (i = 0; i < n->n_dirs && fd < 0; i++)
		fd = try_list(n->dir[i], origin, name, by, st, path);
	return fd;
}

static bool is_seen(struct scan_needed *n, const struct stat *st)
{
	size_t i;

	for (i = 0; i < n->n_seen; i++)
		if (n->seen[i].dev == st->st_dev && n->seen[i].ino == st->st_ino)
			return true;
	n->seen = util_realloc(n->seen, n->n_seen + 1, sizeof(n->seen[0]));
	n->seen[n->n_seen++] = (struct library){ .dev = st->st_dev, .ino = st->st_ino };
	return false;
}

static size_t follow(struct scan_needed *n, const struct scan_sink *sink, int fd, const char *file, unsigned int depth)
{
	struct elfscan_dynamic d;
	char *real, *slash;
	size_t count = 0, i;

	if (elfscan_dynamic_read(fd, &d))
		return 0;
	real = realpath(file, NULL);
	slash = real ? strrchr(real, '/') : NULL;
	if (slash)
		*slash = '\0';
	for (i = 0; i < d.n_needed; i++) {
		struct scan_job *job;
		struct stat st;
		char *path;
		int lib = find_library(n, d.needed[i], &d, real ? real : ".", &st, &path);

		count++;
		if (lib < 0) {
			char *why = util_asprintf("needed by %s, but not found where the dynamic linker looks", file);

			sink->fail(sink->ctx, d.needed[i], why);
			free(why);
			continue;
		}
		if (!is_seen(n, &st)) {
			job = scan_job_new(path, false);
			job->needed_by_named = true;
			if (sink->file(sink->ctx, job))
				depth = DEPTH_MAX;
			if (depth < DEPTH_MAX)
				count += follow(n, sink, lib, path, depth + 1);
		}
		free(path);
		close(lib);
	}
	free(real);
	elfscan_dynamic_free(&d);
	return count;
}

size_t scan_needed_of(struct scan_needed *n, const struct scan_sink *sink, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	size_t count = 0;

	if (fd < 0)
		return 0;	/* the scan of the file itself tells */
	if (!fstat(fd, &st) && S_ISREG(st.st_mode)) {
		is_seen(n, &st);
		count = follow(n, sink, fd, path, 0);
	}
	close(fd);
	return count;
}
