/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Run a command in a worse place: a system call that fails (by a seccomp filter, as containers and sandboxes have it), few file
 * descriptors. What cannot be had exits 77.
 *
 *	confine [--deny perf_event_open=EPERM] [--nofile N] [--] COMMAND [ARG...]
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CANNOT 77

static const struct {
	const char *name;
	int err;
} errors[] = {
	{ "EPERM", EPERM }, { "EACCES", EACCES }, { "ENOENT", ENOENT }, { "ENODEV", ENODEV }, { "ENXIO", ENXIO }, { "ENOSYS", ENOSYS },
	{ "EOPNOTSUPP", EOPNOTSUPP }, { "EINVAL", EINVAL }, { "EBUSY", EBUSY }, { "EMFILE", EMFILE }, { "E2BIG", E2BIG },
};

static const struct {
	const char *name;
	long number;
} calls[] = {
	{ "perf_event_open", SYS_perf_event_open },
	{ "sched_setaffinity", SYS_sched_setaffinity },
	{ "getrandom", SYS_getrandom },
};

static void die(int status, const char *what)
{
	fprintf(stderr, "confine: %s: %s\n", what, strerror(errno));
	exit(status);
}

static void usage(void)
{
	fputs("usage: confine [--deny CALL=ERRNO] [--nofile N] [--] COMMAND [ARG...]\n", stderr);
	exit(99);
}

static void deny(const char *what)
{
	const char *equals = strchr(what, '=');
	long number = -1;
	int err = 0;

	for (size_t i = 0; equals && i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strlen(calls[i].name) == (size_t)(equals - what) && !strncmp(what, calls[i].name, (size_t)(equals - what)))
			number = calls[i].number;
	for (size_t i = 0; equals && i < sizeof(errors) / sizeof(errors[0]); i++)
		if (!strcmp(equals + 1, errors[i].name))
			err = errors[i].err;
	if (number < 0 || !err)
		usage();

	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { .len = sizeof(filter) / sizeof(filter[0]), .filter = filter };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		die(CANNOT, "seccomp filter");
}

static void limit_files(const char *text)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	struct rlimit limit = { .rlim_cur = n, .rlim_max = n };

	if (*end || !n)
		usage();
	if (setrlimit(RLIMIT_NOFILE, &limit))
		die(CANNOT, "RLIMIT_NOFILE");
}

int main(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-'; i++) {
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--deny") && i + 1 < argc) {
			deny(argv[++i]);
		} else if (!strcmp(argv[i], "--nofile") && i + 1 < argc) {
			limit_files(argv[++i]);
		} else {
			usage();
		}
	}
	if (i >= argc)
		usage();
	execvp(argv[i], argv + i);
	die(99, argv[i]);
}
