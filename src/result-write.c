/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Getting a result onto the disk whole or not at all: an unnamed file where the file system has them (nothing is left
 * even after kill -9), a temporary name elsewhere, then fsync and rename.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result-private.h"

#define LINKS_MAX 40	/* symbolic links followed, as the kernel does */

static const char *advice(int err)
{
	switch (err) {
	case ENOSPC:
	case EDQUOT:
		return "; free some space or choose another place with -o";
	case EACCES:
	case EPERM:
	case EROFS:
		return "; choose a directory that you can write to with -o";
	case EFBIG:
		return "; the file size limit (ulimit -f) is too small";
	default:
		return "";
	}
}

static int fail(struct reason *why, int err, const char *path, const char *what)
{
	return reason_set(why, err, "cannot write %s: %s%s%s%s", path, what, *what ? ": " : "", strerror(err),
			  advice(err));
}

/* Print to @fd and see it through to the disk. Closes @fd in any case. 0 or -errno. */
static int print_and_close(int fd, const struct result *r, bool sync)
{
	FILE *f = fdopen(fd, "w");
	int err = 0;

	if (!f) {
		err = errno;
		close(fd);
		return -err;
	}
	errno = 0;
	result_json_write(f, r);
	if (fflush(f) || ferror(f))
		err = errno ? errno : EIO;
	/* a file system without fsync says EINVAL or EROFS: nothing more can be done there */
	if (!err && sync && fsync(fd) && errno != EINVAL && errno != EROFS && errno != ENOSYS)
		err = errno;
	if (fclose(f) && !err)
		err = errno;
	return -err;
}

/*
 * Where @path really leads: a symbolic link is followed even when its target is not there yet, so that the link stays a
 * link. Malloc'ed; NULL and errno.
 */
static char *follow_links(const char *path)
{
	char *at = util_strdup(path), target[PATH_MAX];

	for (int i = 0; i < LINKS_MAX; i++) {
		ssize_t n = readlink(at, target, sizeof(target) - 1);
		char *next, *copy;

		if (n < 0) {
			if (errno == EINVAL || errno == ENOENT)
				return at;
			i = errno;
			free(at);
			errno = i;
			return NULL;
		}
		target[n] = '\0';
		copy = util_strdup(at);
		next = *target == '/' ? util_strdup(target) : util_asprintf("%s/%s", dirname(copy), target);
		free(copy);
		free(at);
		at = next;
	}
	free(at);
	errno = ELOOP;
	return NULL;
}

static mode_t current_umask(void)
{
	mode_t mask = umask(077);

	umask(mask);
	return mask;
}

/* The new file is to look like the one it replaces. Not being allowed to give it away is no failure. */
static void copy_ownership(int fd, const struct stat *old)
{
	if (!old) {
		(void)!fchmod(fd, 0666 & ~current_umask());
		return;
	}
	if (!fchown(fd, old->st_uid, old->st_gid) || !fchown(fd, (uid_t)-1, old->st_gid))
		(void)!fchmod(fd, old->st_mode & 07777);
	else
		(void)!fchmod(fd, old->st_mode & 0777);
}

static void sync_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return;
	(void)!fsync(fd);
	close(fd);
}

/* Give the unnamed file @fd a name beside @path, then that of @path. */
static int name_file(int fd, const char *path, char *temporary)
{
	char self[64];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 100; i++) {
		snprintf(temporary + strlen(temporary) - 6, 7, "%06u",
			 ((unsigned int)getpid() * 131u + (unsigned int)i) % 1000000u);
		if (!linkat(AT_FDCWD, self, AT_FDCWD, temporary, AT_SYMLINK_FOLLOW))
			break;
		if (errno != EEXIST || i == 99)
			return -errno;
	}
	if (rename(temporary, path)) {
		int err = errno;

		unlink(temporary);
		return -err;
	}
	return 0;
}

static int write_named(const struct result *r, const char *path, const struct stat *old, char *temporary)
{
	int fd = mkostemp(temporary, O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	copy_ownership(fd, old);
	err = print_and_close(fd, r, true);
	if (!err && rename(temporary, path))
		err = -errno;
	if (err)
		unlink(temporary);
	return err;
}

static int write_unnamed(int fd, const struct result *r, const char *path, const struct stat *old, char *temporary)
{
	int keep = fcntl(fd, F_DUPFD_CLOEXEC, 3), err;

	if (keep < 0) {
		err = -errno;
		close(fd);
		return err;
	}
	copy_ownership(fd, old);
	err = print_and_close(fd, r, true);
	if (!err)
		err = name_file(keep, path, temporary);
	close(keep);
	return err;
}

static int write_regular(const struct result *r, const char *path, const struct stat *old, struct reason *why)
{
	char *copy = util_strdup(path), *copy2 = util_strdup(path);
	const char *directory = dirname(copy), *name = basename(copy2);
	/* file names end at 255 bytes: a long one is cut for the temporary name */
	char *temporary = util_asprintf("%s/.%.200s.XXXXXX", directory, name);
	sigset_t block, old_mask;
	int fd, err = -1;

	/* a signal now would leave the temporary file behind: it waits (a regular file keeps nobody waiting for long)
	 */
	sigemptyset(&block);
	sigaddset(&block, SIGINT);
	sigaddset(&block, SIGTERM);
	sigaddset(&block, SIGHUP);
	sigaddset(&block, SIGQUIT);
	sigprocmask(SIG_BLOCK, &block, &old_mask);
	fd = access("/proc/self/fd", X_OK) ? -1 : open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0)
		err = write_unnamed(fd, r, path, old, temporary);
	/*
	 * no such thing here, or no linking out of /proc (some containers): the named way; it says itself what else is
	 * wrong
	 */
	if (fd < 0 || err == -ENOENT || err == -EXDEV || err == -EPERM || err == -EACCES || err == -EOPNOTSUPP) {
		free(temporary);
		temporary = util_asprintf("%s/.%.200s.XXXXXX", directory, name);
		err = write_named(r, path, old, temporary);
	}
	if (err)
		fail(why, -err, path, old ? "the old file is unchanged" : "");
	else
		sync_directory(directory);
	sigprocmask(SIG_SETMASK, &old_mask, NULL);
	free(temporary);
	free(copy);
	free(copy2);
	return err;
}

/* Devices and pipes. A pipe that nobody reads is an error, not a wait. */
static int write_through(const struct result *r, const char *path, struct reason *why)
{
	int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY), err;

	if (fd < 0)
		return errno == ENXIO ? reason_set(why, ENXIO, "cannot write %s: no process reads from it", path) :
					fail(why, errno, path, "");
	err = fcntl(fd, F_GETFL);
	if (err < 0 || fcntl(fd, F_SETFL, err & ~O_NONBLOCK) < 0) {
		err = errno;
		close(fd);
		return fail(why, err, path, "");
	}
	err = print_and_close(fd, r, false);
	return err ? fail(why, -err, path, "") : 0;
}

static int write_stdout(const struct result *r, struct reason *why)
{
	errno = 0;
	result_json_write(stdout, r);
	if (fflush(stdout) || ferror(stdout))
		return fail(why, errno ? errno : EIO, "standard output", "");
	return 0;
}

static int write_path(const struct result *r, const char *path, struct reason *why)
{
	struct stat st;
	char *real;
	int err;

	if (!*path)
		return reason_set(why, ENOENT, "cannot write a result to a file without a name");
	if (!strcmp(path, "-"))
		return write_stdout(r, why);
	if (!stat(path, &st)) {
		if (S_ISDIR(st.st_mode))
			return reason_set(why, EISDIR, "cannot write %s: it is a directory; name a file in it", path);
		if (!S_ISREG(st.st_mode))
			return write_through(r, path, why);
		/* rename() would replace a write-protected file without asking */
		if (access(path, W_OK))
			return fail(why, errno, path, "");
	} else if (errno != ENOENT) {
		return fail(why, errno, path, "");
	}
	real = follow_links(path);
	if (!real)
		return fail(why, errno, path, "");
	err = write_regular(r, real, stat(real, &st) ? NULL : &st, why);
	free(real);
	return err;
}

int result_write(const struct result *r, const char *path, struct reason *why)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, old_pipe, old_size;
	int err;

	/* closed pipes and full limits are errors of the write, not deaths */
	sigaction(SIGPIPE, &ignore, &old_pipe);
	sigaction(SIGXFSZ, &ignore, &old_size);
	err = write_path(r, path, why);
	sigaction(SIGPIPE, &old_pipe, NULL);
	sigaction(SIGXFSZ, &old_size, NULL);
	return err;
}
