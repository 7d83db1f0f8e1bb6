/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of directories and trees, in the order of their names. Symbolic links inside a tree are not followed, so there
 * are no loops; kernel file systems are left alone: reading /proc or /sys is endless, or does things.
 */
#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "scan.h"

/* From linux/magic.h, which not all distributions have complete. */
static bool is_kernel_fs(const char *path)
{
	static const uint32_t magic[] = {
		0x9fa0 /* proc */,
		0x62656572 /* sysfs */,
		0x64626720 /* debugfs */,
		0x74726163 /* tracefs */,
		0x73636673 /* securityfs */,
		0x63677270 /* cgroup2 */,
		0x27e0eb /* cgroup */,
		0xcafe4a11 /* bpf */,
		0x6165676c /* pstore */,
		0xde5e81e4 /* efivarfs */,
		0x1cd1 /* devpts */,
		0x62656570 /* configfs */,
		0x65735543 /* fusectl */,
		0x19800202 /* mqueue */,
		0x6e736673 /* nsfs */,
		0x42494e4d /* binfmt_misc */,
		0xf97cff8c /* selinuxfs */
	};
	struct statfs fs;
	size_t i;

	if (statfs(path, &fs))
		return false;
	for (i = 0; i < ARRAY_SIZE(magic); i++)
		if ((uint32_t)fs.f_type == magic[i])
			return true;
	return false;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int one_file(const struct scan_sink *sink, const FTSENT *e)
{
	return sink->file(sink->ctx, scan_job_new(e->fts_path, e->fts_level == FTS_ROOTLEVEL && !sink->list));
}

/* A named file that is no file. */
static void fail_special(const struct scan_sink *sink, const FTSENT *e)
{
	mode_t mode = e->fts_statp->st_mode;

	sink->fail(sink->ctx, e->fts_path,
		   S_ISFIFO(mode)   ? "a FIFO, not a file"
		   : S_ISSOCK(mode) ? "a socket, not a file"
				    : "a device, not a file");
}

static int entry(const struct scan_sink *sink, FTS *fts, FTSENT *e, bool recursive, dev_t *dev)
{
	bool named = e->fts_level == FTS_ROOTLEVEL;

	switch (e->fts_info) {
	case FTS_D:
		if (!named && !recursive) {
			fts_set(fts, e, FTS_SKIP);
			return 0;
		}
		/* A file system begins: is it one of the kernel's? */
		if (named || e->fts_statp->st_dev != *dev) {
			if (is_kernel_fs(e->fts_accpath)) {
				sink->skip(sink->ctx, SCAN_SKIP_KERNEL_FS);
				fts_set(fts, e, FTS_SKIP);
				return 0;
			}
			*dev = e->fts_statp->st_dev;
		}
		return 0;
	case FTS_DP:
		*dev = e->fts_statp->st_dev;
		return 0;
	case FTS_F:
		return one_file(sink, e);
	case FTS_DEFAULT:
		if (named && !sink->list)
			fail_special(sink, e);
		else
			sink->skip(sink->ctx, SCAN_SKIP_SPECIAL);
		return 0;
	case FTS_SL:
	case FTS_SLNONE:
		if (named)
			sink->fail(sink->ctx, e->fts_path, "a symbolic link to nowhere");
		else
			sink->skip(sink->ctx, SCAN_SKIP_LINK);
		return 0;
	case FTS_DC:
		sink->skip(sink->ctx, SCAN_SKIP_LOOP);
		return 0;
	case FTS_DNR:
	case FTS_ERR:
	case FTS_NS:
		sink->fail(sink->ctx, e->fts_path, strerror(e->fts_errno));
		return 0;
	default:
		return 0;
	}
}

int scan_walk(const struct scan_sink *sink, const char *path, bool recursive)
{
	char *roots[] = { (char *)(uintptr_t)path, NULL };
	FTSENT *e;
	dev_t dev = 0;
	int stop = 0;
	FTS *fts;

	if (!*path) {
		sink->fail(sink->ctx, path, "an empty name");
		return 0;
	}
	fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	if (!fts) {
		sink->fail(sink->ctx, path, strerror(errno));
		return 0;
	}
	while (!stop) {
		errno = 0;
		e = fts_read(fts);
		if (!e) {
			if (errno)
				sink->fail(sink->ctx, path, strerror(errno));
			break;
		}
		stop = entry(sink, fts, e, recursive, &dev);
	}
	fts_close(fts);
	return stop;
}
