/* SPDX-License-Identifier: GPL-2.0-only */
/* Recorded machines for tests: unpack a manifest of tests/sysroot and walk over its "expect" lines. */
#ifndef PERF_RELAX_TEST_TREE_H
#define PERF_RELAX_TEST_TREE_H

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "util.h"

static inline const char *tree_srcdir(void)
{
	const char *dir = getenv("PERF_RELAX_SRCDIR");

	if (!dir)
		dir = getenv("srcdir");
	return dir ? dir : ".";
}

/* Run a program; its exit status, or -1. */
static inline int tree_run(const char *const argv[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Unpack @manifest into a fresh directory, whose name goes into @dir. Ends the test when that fails. */
static inline void tree_unpack(const char *manifest, char dir[PATH_MAX])
{
	char script[PATH_MAX];
	const char *tmp = getenv("TMPDIR");

	snprintf(script, sizeof(script), "%s/tests/sysroot/unpack", tree_srcdir());
	snprintf(dir, PATH_MAX, "%s/perf-relax-tree.XXXXXX", tmp ? tmp : "/tmp");
	assert_non_null(mkdtemp(dir));
	assert_int_equal(tree_run((const char *[]){ "bash", script, manifest, dir, NULL }), 0);
}

static inline void tree_remove(const char *dir)
{
	assert_int_equal(tree_run((const char *[]){ "rm", "-rf", "--", dir, NULL }), 0);
}

/*
 * The next line of @f that begins with @word and a blank: "WORD KEY = VALUE"; @key and @value point into @line (@size
 * bytes). @value is "" for a line without " =". False at the end.
 */
static inline bool tree_next(FILE *f, const char *word, char *line, size_t size, char **key, char **value)
{
	size_t length = strlen(word);

	while (fgets(line, (int)size, f)) {
		char *equals;

		if (strncmp(line, word, length) != 0 || line[length] != ' ')
			continue;
		line[strcspn(line, "\n")] = '\0';
		*key = line + length + 1;
		equals = strstr(*key, " = ");
		*value = *key + strlen(*key);
		if (equals) {
			*equals = '\0';
			*value = equals + 3;
		}
		return true;
	}
	return false;
}

struct tree_run {
	FILE *f;
	char line[8192], dir[PATH_MAX], name[NAME_MAX + 1];
	size_t checks, failures;
};

/* Open the manifest NAME and unpack it. */
static inline struct tree_run *tree_open(const char *name)
{
	struct tree_run *t = util_calloc(1, sizeof(*t));
	char manifest[PATH_MAX];

	snprintf(t->name, sizeof(t->name), "%s", name);
	snprintf(manifest, sizeof(manifest), "%s/tests/sysroot/%s", tree_srcdir(), name);
	t->f = fopen(manifest, "re");
	assert_non_null(t->f);
	tree_unpack(manifest, t->dir);
	return t;
}

static inline void tree_check(struct tree_run *t, bool right, const char *what, const char *wanted, const char *seen)
{
	t->checks++;
	if (right)
		return;
	t->failures++;
	print_error("%s: %s: expected \"%s\", seen \"%s\"\n", t->name, what, wanted, seen ? seen : "(nothing)");
}

static inline void tree_close(struct tree_run *t)
{
	size_t failures = t->failures;

	tree_remove(t->dir);
	fclose(t->f);
	free(t);
	assert_int_equal(failures, 0);
}

static inline int tree_filter(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 5 && strcmp(entry->d_name + length - 5, ".tree") == 0;
}

/*
 * Run @test once for each manifest (its name is the state), and the @n tests of @more after them. Returns the number of
 * failures.
 */
static inline int tree_run_all(const char *group, CMUnitTestFunction test, const struct CMUnitTest *more, size_t n)
{
	char path[PATH_MAX];
	struct dirent **entry;
	struct CMUnitTest *tests;
	int trees, failed;

	snprintf(path, sizeof(path), "%s/tests/sysroot", tree_srcdir());
	trees = scandir(path, &entry, tree_filter, alphasort);
	if (trees <= 0) {
		fprintf(stderr, "no *.tree in %s: set PERF_RELAX_SRCDIR to the source tree\n", path);
		return 99;
	}
	tests = util_calloc((size_t)trees + n, sizeof(*tests));
	for (int i = 0; i < trees; i++)
		tests[i] = (struct CMUnitTest){ entry[i]->d_name, test, NULL, NULL, entry[i]->d_name };
	memcpy(tests + trees, more, n * sizeof(*more));
	failed = _cmocka_run_group_tests(group, tests, (size_t)trees + n, NULL, NULL);
	for (int i = 0; i < trees; i++)
		free(entry[i]);
	free(entry);
	free(tests);
	return failed;
}

#endif
