/* SPDX-License-Identifier: GPL-2.0-only */
/* Talking to the module: its device, its cases, the kernel log; and leaving nothing behind. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod-private.h"

#define DEVICE "/dev/" PERF_RELAX_DEVICE
#define SYSFS "/sys/module/perf_relax"
#define UNLOAD_WAIT_MS 5000

/* Names that people know the cases by. */
static const char *const aliases[][2] = {
	{ "baseline", "empty" },
	{ "irq-off", "cli" },
	{ "irq-disable", "cli" },
	{ "irq-on", "sti" },
	{ "irq-enable", "sti" },
	{ "irq-off-on", "cli-sti" },
	{ "irq-disable-enable", "cli-sti" },
	{ "cli/sti", "cli-sti" },
	{ "local-irq-save", "irq-save" },
	{ "local-irq-restore", "irq-restore" },
	{ "local-cmpxchg", "cmpxchg-local" },
	{ "atomic-add-return", "add-return" },
	{ "xadd", "add-return" },
	{ "local-add-return", "add-return-local" },
	{ "xadd-local", "add-return-local" },
	{ "preempt", "preempt-off-on" },
	{ "bh", "bh-off-on" },
	{ "rcu", "rcu-read-lock" },
	{ "spin-lock-irqsave-restore", "spin-lock-irqsave" },
};

static void sleep_ms(long ms)
{
	struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	while (nanosleep(&t, &t) && errno == EINTR)
		;
}

/* While a file is being closed elsewhere the module is still in use for a moment. Returns 0 or -errno. */
static int unload(void)
{
	long waited = 0;

	for (;;) {
		if (!syscall(SYS_delete_module, "perf_relax", O_NONBLOCK))
			return 0;
		if (errno == ENOENT)
			return 0;
		if ((errno != EAGAIN && errno != EWOULDBLOCK && errno != EBUSY) || waited >= UNLOAD_WAIT_MS)
			return -errno;
		sleep_ms(50);
		waited += 50;
	}
}

/*
 * A process that only waits: when this one ends without a word (kill -9), the pipe closes and the module is unloaded.
 * It has nothing else open, so that nobody who reads our output waits for it, and is in a session of its own, so that
 * ^C does not reach it.
 */
static void start_keeper(struct kmod *k)
{
	int fd[2];
	pid_t pid;
	char word;

	k->keeper = -1;
	k->keeper_fd = -1;
	if (pipe2(fd, O_CLOEXEC))
		return;
	pid = fork();
	if (pid < 0) {
		close(fd[0]);
		close(fd[1]);
		return;
	}
	if (!pid) {
		ssize_t got;

		setsid();
		prctl(PR_SET_NAME, "relax-unload", 0, 0, 0);
		for (int sig = 1; sig < 32; sig++)
			signal(sig, SIG_IGN);
		dup2(fd[0], 0);
		/* Everything else: descriptors of the parent keep pipes and files of others open. */
		if (syscall(SYS_close_range, 1u, ~0u, 0u))
			for (int i = 1; i < 1024; i++)
				close(i);
		do
			got = read(0, &word, 1);
		while (got < 0 && errno == EINTR);
		if (got <= 0)
			unload();
		_exit(0);
	}
	close(fd[0]);
	k->keeper = pid;
	k->keeper_fd = fd[1];
}

static void stop_keeper(struct kmod *k)
{
	if (k->keeper < 0)
		return;
	if (write(k->keeper_fd, "q", 1) != 1)
		kill(k->keeper, SIGKILL);
	close(k->keeper_fd);
	while (waitpid(k->keeper, NULL, 0) < 0 && errno == EINTR)
		;
	k->keeper = -1;
	k->keeper_fd = -1;
}

static int read_cases(struct kmod *k, struct reason *why)
{
	k->info = (struct perf_relax_info){ .abi = PERF_RELAX_ABI };
	if (ioctl(k->fd, PERF_RELAX_IOC_INFO, &k->info)) {
		if (errno == EPROTONOSUPPORT || errno == ENOTTY)
			return reason_set(why, EPROTONOSUPPORT,
					  "the module that is loaded speaks another version of the interface than %d: "
					  "unload it (rmmod "
					  "perf_relax), and build and load the one that belongs to this program (perf "
					  "relax irq --build)",
					  PERF_RELAX_ABI);
		return reason_set(why, errno, "%s: %s", DEVICE, strerror(errno));
	}
	k->cases = util_calloc(k->info.cases ? k->info.cases : 1, sizeof(*k->cases));
	for (uint32_t i = 0; i < k->info.cases; i++) {
		struct perf_relax_case raw = { .abi = PERF_RELAX_ABI, .index = i };
		struct kmod_case *c = &k->cases[i];

		if (ioctl(k->fd, PERF_RELAX_IOC_CASE, &raw))
			return reason_set(why, errno, "%s: case %u: %s", DEVICE, i, strerror(errno));
		c->name = util_strdup(raw.name);
		c->text = util_strdup(raw.text);
		c->why = raw.flags & PERF_RELAX_CASE_ABSENT ? util_asprintf("this CPU lacks %s", raw.why) : NULL;
		c->flags = raw.flags;
		c->code_cut = raw.bytes > sizeof(raw.code);
		c->code_bytes = c->code_cut ? sizeof(raw.code) : raw.bytes;
		memcpy(c->code, raw.code, c->code_bytes);
		k->ncases++;
	}
	return 0;
}

static int open_device(struct kmod *k, struct reason *why)
{
	/* udev may need a moment to make the node. */
	for (int tries = 0; tries < 20; tries++) {
		k->fd = open(DEVICE, O_RDWR | O_CLOEXEC);
		if (k->fd >= 0)
			return 0;
		if (errno != ENOENT && errno != ENXIO)
			break;
		sleep_ms(50);
	}
	if (errno == EACCES || errno == EPERM)
		return reason_set(why, errno, "%s is for root with CAP_SYS_ADMIN only: run it with sudo", DEVICE);
	if (errno == ENOENT || errno == ENXIO)
		return reason_set(why, errno,
				  "the module is loaded, but there is no %s here (in a container: give it the device)",
				  DEVICE);
	return reason_set(why, errno, "%s: %s", DEVICE, strerror(errno));
}

static int load(struct kmod *k, const char *path, struct reason *why)
{
	struct kmod_facts f;
	int err;

	kmod_facts_read(&f);
	err = kmod_explain_machine(&f, why);
	if (err)
		return err;
	k->path = path ? util_strdup(path) : kmod_find(&f, why);
	if (!k->path)
		return -ENOENT;
	/* Before the module is there, so that there is no moment without it. */
	start_keeper(k);
	err = kmod_load_file(k->path, "", why);
	if (err) {
		stop_keeper(k);
		return err == -EEXIST ? 0 : err; /* somebody was faster: then it is theirs */
	}
	k->loaded_here = true;
	return 0;
}

int kmod_open(struct kmod *k, const char *path, struct reason *why)
{
	int err = 0;

	*k = (struct kmod){ .fd = -1, .keeper = -1, .keeper_fd = -1 };
	if (access(SYSFS, F_OK))
		err = load(k, path, why);
	if (!err)
		err = open_device(k, why);
	if (!err)
		err = read_cases(k, why);
	if (err)
		kmod_close(k, NULL);
	return err;
}

int kmod_close(struct kmod *k, struct reason *why)
{
	int err = 0;

	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	if (k->loaded_here) {
		err = unload();
		if (err)
			reason_set(why, -err, "the module could not be unloaded: %s; unload it with rmmod perf_relax",
				   err == -EAGAIN || err == -EWOULDBLOCK ? "somebody else uses it" : strerror(-err));
	}
	k->loaded_here = false;
	stop_keeper(k);
	for (size_t i = 0; i < k->ncases; i++) {
		free(k->cases[i].name);
		free(k->cases[i].text);
		free(k->cases[i].why);
	}
	free(k->cases);
	free(k->path);
	k->cases = NULL;
	k->path = NULL;
	k->ncases = 0;
	return err;
}

size_t kmod_case_find(const struct kmod *k, const char *name)
{
	char plain[PERF_RELAX_NAME_SIZE];

	snprintf(plain, sizeof(plain), "%s", name);
	for (char *p = plain; *p; p++)
		if (*p == '_' || *p == '+')
			*p = '-';
	for (size_t i = 0; i < ARRAY_SIZE(aliases); i++)
		if (!strcmp(plain, aliases[i][0]) || !strcmp(name, aliases[i][0])) {
			/* A case of that very name goes first: arch headers may have one. */
			for (size_t j = 0; j < k->ncases; j++)
				if (!strcmp(k->cases[j].name, plain))
					return j;
			snprintf(plain, sizeof(plain), "%s", aliases[i][1]);
			break;
		}
	for (size_t j = 0; j < k->ncases; j++)
		if (!strcmp(k->cases[j].name, plain))
			return j;
	return SIZE_MAX;
}

int kmod_run(struct kmod *k, struct perf_relax_run *run, struct reason *why)
{
	const char *name = run->index < k->ncases ? k->cases[run->index].name : "?";

	run->abi = PERF_RELAX_ABI;
	if (!ioctl(k->fd, PERF_RELAX_IOC_RUN, run))
		return 0;
	switch (errno) {
	case EINTR:
		return -EINTR;
	case ERANGE:
		return reason_set(why, ERANGE,
				  "%s: %u iterations would keep interrupts off for more than %u us; at most %u here",
				  name, run->iters, k->info.block_ns_max / 1000, run->iters_max);
	case EXDEV:
		return reason_set(why, EXDEV, "%s: this thread is not on CPU %u", name, run->cpu);
	case ENODEV:
		return reason_set(why, ENODEV, "%s: CPU %u is offline", name, run->cpu);
	case EOPNOTSUPP:
		return reason_set(why, EOPNOTSUPP, "%s: this CPU cannot execute it", name);
	case ETIME:
		return reason_set(why, ETIME,
				  "the kernel's clock is too coarse to bound a block by: use another clock source "
				  "(/sys/devices/system/clocksource/clocksource0/current_clocksource)");
	case EIO:
		return reason_set(why, EIO,
				  "%s: the operand does not show the operations, so they were not done; nothing is "
				  "reported",
				  name);
	}
	return reason_set(why, errno, "%s: %s", name, strerror(errno));
}

int kmod_log_open(struct reason *why)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		if (errno == EPERM || errno == EACCES)
			return reason_set(why, errno,
					  "the kernel log cannot be read: it takes root, or CAP_SYSLOG where "
					  "kernel.dmesg_restrict is 1; have somebody "
					  "save it (dmesg >FILE, or journalctl -k) and use `perf relax import FILE`");
		return reason_set(why, errno,
				  "the kernel log cannot be read: /dev/kmsg: %s; save it with dmesg and use `perf "
				  "relax import FILE`",
				  strerror(errno));
	}
	lseek(fd, 0, SEEK_END);
	return fd;
}

int kmod_log_read(int fd, char **text)
{
	char record[8192];
	size_t have = *text ? strlen(*text) : 0;

	for (;;) {
		/* One record a read: "level,sequence,time,flags;message\n key=value\n"
		 * (Documentation/ABI/testing/dev-kmsg). */
		ssize_t n = read(fd, record, sizeof(record) - 1);
		char *message, *end;

		if (n < 0 &&
		    (errno == EINTR || errno == EPIPE)) /* EPIPE: records were overwritten; go on with the next */
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -errno;
		if (!n)
			return 0;
		record[n] = '\0';
		message = strchr(record, ';');
		if (!message)
			continue;
		message++;
		end = strchr(message, '\n');
		if (end)
			*end = '\0';
		*text = util_realloc(*text, have + strlen(message) + 2, 1);
		have += (size_t)sprintf(*text + have, "%s\n", message);
	}
}

bool kmod_log_has_stall(const char *text)
{
	static const char *const signs[] = { "detected stalls", "self-detected stall", "soft lockup", "hard LOCKUP",
					     "Watchdog detected" };

	for (size_t i = 0; text && i < ARRAY_SIZE(signs); i++)
		if (strstr(text, signs[i]))
			return true;
	return false;
}

size_t kmod_log_blocks(const char *text)
{
	static const char *const parts[] = { "test results: time for ", "number of loops: ", "total time: ", "-> ",
					     "test end" };
	size_t next = 0, blocks = 0;

	while (text && *text) {
		const char *end = strchrnul(text, '\n');
		size_t n = (size_t)(end - text);

		/* Lines of others between ours do not matter; a block that begins anew does. */
		if (memmem(text, n, parts[0], strlen(parts[0])))
			next = 1;
		else if (next && memmem(text, n, parts[next], strlen(parts[next])) && ++next == ARRAY_SIZE(parts)) {
			blocks++;
			next = 0;
		}
		text = *end ? end + 1 : end;
	}
	return blocks;
}

/* The module that @path holds, by the name the kernel makes of the file's. */
static void unload_file(const char *path)
{
	const char *base = strrchr(path, '/');
	char name[64];

	snprintf(name, sizeof(name), "%s", base ? base + 1 : path);
	name[strcspn(name, ".")] = '\0';
	for (char *p = name; *p; p++)
		if (*p == '-')
			*p = '_';
	syscall(SYS_delete_module, name, O_NONBLOCK);
}

int kmod_classic(const char *path, const char *params, char **text, struct reason *why)
{
	struct kmod_facts f;
	char *found = NULL;
	int log, err;

	*text = NULL;
	kmod_facts_read(&f);
	err = kmod_explain_machine(&f, why);
	if (err)
		return err;
	if (!path) {
		found = kmod_find(&f, why);
		if (!found)
			return -ENOENT;
		path = found;
	}
	log = kmod_log_open(why);
	if (log < 0) {
		free(found);
		return log;
	}
	err = kmod_load_file(path, params, why);
	kmod_log_read(log, text);
	close(log);
	if (err == -EAGAIN) {
		/* Refusing to stay is how it says that it is done; the proof is in the log. */
		if (kmod_log_blocks(*text) && !kmod_log_has_stall(*text))
			err = 0;
		else if (kmod_log_blocks(*text))
			err = reason_set(why, EAGAIN,
					 "%s ran, but the kernel reported a stall in the meantime: its times are worth "
					 "nothing",
					 path);
		else
			err = reason_set(why, EAGAIN,
					 "%s refused to stay (EAGAIN), but the kernel log has no complete result of it",
					 path);
	} else if (!err) {
		unload_file(path);
		err = reason_set(
			why, EPROTO,
			"%s was loaded and stayed: it is no module that prints its results and refuses to stay", path);
	}
	free(found);
	return err;
}
