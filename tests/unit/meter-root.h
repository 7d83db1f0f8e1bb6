/* SPDX-License-Identifier: GPL-2.0-only */
/* A made-up /sys and /proc for the meters' tests: one for each test, in a temporary folder. */
#ifndef PERF_RELAX_TEST_METER_ROOT_H
#define PERF_RELAX_TEST_METER_ROOT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "meter-perf.h"

static char root[64];

/* Write a file below the made-up root, with its folders. */
static inline void put(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *p = full + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		assert_true(mkdir(full, 0777) == 0 || errno == EEXIST);
		*p = '/';
	}
	file = fopen(full, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static inline void drop(const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s%s", root, path);
	assert_int_equal(remove(full), 0);
}

static inline int new_root(void **state)
{
	const char *tmp = getenv("TMPDIR");

	(void)state;
	snprintf(root, sizeof(root), "%.40s/meter-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(root))
		return -1;
	meter_perf_set_root(root);
	return 0;
}

static inline int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int drop_root(void **state)
{
	(void)state;
	meter_perf_set_root("");
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#define WITH_ROOT(f) cmocka_unit_test_setup_teardown(f, new_root, drop_root)

#endif
