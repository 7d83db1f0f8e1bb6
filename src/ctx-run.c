/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trials of the ring. Every task is a child of this process and is watched by it, so that one that dies ends the trial at once; nothing waits without a bound,
 * and whatever happens, all children are gone when a trial returns.
 */
#include <errno.h>
#include <limits.h>
#include <linux/prctl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/arch.h"
#include "ctx-run.h"
#include "ctx-task.h"
#include "stats.h"

#ifndef PERF_RELAX_LIBEXECDIR
#define PERF_RELAX_LIBEXECDIR "/usr/libexec/perf-relax"
#endif
#define HELPER "perf-relax-ctx-32"

/* A trial that takes this much longer than planned is ended. */
#define WATCHDOG_S 20.0
/* Slowest reading of memory that is waited for. */
#define TOUCH_BYTES_PER_S 50e6
#define SWITCHES_IN_BLOCK 64
#define END_MS 2000	/* for tasks to end after a kill */

struct ctx_run {
	const struct meters *meters;
	struct meters counters;
	struct meter_reading *before, *after;
	bool counting;
	int (*interrupted)(void);
	int fd;			/* of @trial */
	struct ctx_trial *trial;
	pid_t *pid;		/* [CTX_TASKS_MAX]; 0: none or reaped */
	size_t npid, alive;
	double *scratch;
};

/* By system call: this process itself may have been started with the TSC forbidden. */
static double now_s(void)
{
	return (double)ctx_task_clock_ns() * 1e-9;
}

static void describe_status(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

/* Of the helper: next to this program (as built), else where it is installed. Returns a string to be freed, or NULL with @why. */
static char *find_helper(struct reason *why)
{
	char self[PATH_MAX], *path;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (n > 0) {
		self[n] = '\0';
		slash = strrchr(self, '/');
		if (slash) {
			path = util_asprintf("%.*s/" HELPER, (int)(slash - self), self);
			if (!access(path, X_OK))
				return path;
			free(path);
		}
	}
	path = util_strdup(PERF_RELAX_LIBEXECDIR "/" HELPER);
	if (!access(path, X_OK))
		return path;
	reason_set(why, ENOENT, "%s is not there: this build has no 32-bit program (the compiler could not make one)", path);
	free(path);
	return NULL;
}

/* ---- children ------------------------------------------------------------------------------------------------------------------------------------------ */

static int set_free_mask(const struct cpulist *cpus)
{
	size_t room = (size_t)cpus->cpu[cpus->n - 1] + 1, size = CPU_ALLOC_SIZE(room);
	cpu_set_t *set = CPU_ALLOC(room);
	int err;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < cpus->n; i++)
		CPU_SET_S((size_t)cpus->cpu[i], size, set);
	err = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	return err;
}

static _Noreturn void child(struct ctx_run *run, const struct ctx_condition *c, uint32_t index, const sigset_t *mask, const char *helper)
{
	struct ctx_slot *s = &run->trial->slot[index];
	char fd[16], number[16];

	/* Before anything else: this process may be the only thing left of a run that was killed. ctx_task_run() looks at the parent after this. */
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (c->place == CTX_PLACE_FREE && c->cpus_chosen) {
		s->err = set_free_mask(c->cpus);
		if (s->err) {
			s->step = CTX_STEP_PIN;
			_exit(1);
		}
	}
	if (!helper)
		_exit(ctx_task_run(run->trial, index) ? 1 : 0);
	snprintf(fd, sizeof(fd), "%d", run->fd);
	snprintf(number, sizeof(number), "%u", index);
	execl(helper, HELPER, fd, number, (char *)NULL);
	s->err = errno;
	_exit(127);
}

static int start_tasks(struct ctx_run *run, const struct ctx_condition *c, const sigset_t *mask, const char *helper, struct reason *why)
{
	size_t n = c->threads ? 1 : c->tasks;

	run->npid = run->alive = 0;
	/* The first task is started last: it is the one that keeps the time. */
	for (size_t i = n; i-- > 0;) {
		pid_t pid = fork();

		if (!pid)
			child(run, c, (uint32_t)i, mask, helper);
		if (pid < 0)
			return reason_set(why, errno, "cannot start task %zu of %u: %s", n - i, c->tasks, strerror(errno));
		run->pid[run->npid++] = pid;
		run->alive++;
	}
	return 0;
}

/* The number of a task by its place in run->pid. */
static size_t task_of(const struct ctx_run *run, size_t i)
{
	return run->npid - 1 - i;
}

/* Reap what has ended. Returns 0, or the first bad end as -errno with @why. */
static int reap(struct ctx_run *run, struct reason *why)
{
	char text[96];
	int err = 0, status;

	for (size_t i = 0; i < run->npid; i++) {
		struct ctx_slot *s = &run->trial->slot[task_of(run, i)];

		if (!run->pid[i] || waitpid(run->pid[i], &status, WNOHANG) != run->pid[i])
			continue;
		run->pid[i] = 0;
		run->alive--;
		if (err || (WIFEXITED(status) && !WEXITSTATUS(status)))
			continue;
		describe_status(status, text, sizeof(text));
		if (WIFEXITED(status) && WEXITSTATUS(status) == 127 && s->err)
			err = reason_set(why, s->err, "cannot execute the 32-bit program: %s", strerror(s->err));
		else if (s->err)
			err = reason_set(why, s->err, "task %zu failed %s: %s", task_of(run, i), ctx_step_text(s->step), strerror(s->err));
		else
			err = reason_set(why, ECHILD, "task %zu of the ring %s", task_of(run, i), text);
	}
	/* In a process of threads the failure is in the slot of the thread. */
	for (uint32_t i = 0; err == -ECHILD && run->trial->threads && i < run->trial->ring.tasks; i++)
		if (run->trial->slot[i].err)
			return reason_set(why, run->trial->slot[i].err, "thread %u failed %s: %s", i, ctx_step_text(run->trial->slot[i].step),
					  strerror(run->trial->slot[i].err));
	return err;
}

static void kill_tasks(struct ctx_run *run)
{
	for (size_t i = 0; i < run->npid; i++)
		if (run->pid[i])
			kill(run->pid[i], SIGKILL);
	for (size_t i = 0; i < run->npid; i++)
		if (run->pid[i])
			waitpid(run->pid[i], NULL, 0);
	run->alive = run->npid = 0;
}

/* The first task has come to the begin or the end of what is counted. */
static int answer_report(struct ctx_run *run, int fd, size_t *reports, struct reason *why)
{
	char byte;

	if (read(fd, &byte, 1) != 1)
		return 0;	/* it has ended: reap() says how */
	if (!(*reports)++)
		meters_read_begin(&run->counters, run->before);
	else
		meters_read_end(&run->counters, run->after);
	return write(fd, &byte, 1) == 1 || errno == EPIPE ? 0 : reason_set(why, errno, "cannot answer the first task: %s", strerror(errno));
}

/* Until all tasks have ended well, or one has not, or time is up. */
static int watch(struct ctx_run *run, int signal_fd, int report_fd, double limit_s, struct reason *why)
{
	struct signalfd_siginfo ignored[8];
	double deadline = now_s() + limit_s, left;
	size_t reports = 0;
	int err;

	for (;;) {
		struct pollfd p[] = { { .fd = signal_fd, .events = POLLIN }, { .fd = report_fd, .events = POLLIN } };

		err = reap(run, why);
		if (run->interrupted && run->interrupted())
			return -EINTR;
		if (err || !run->alive)
			return err;
		left = deadline - now_s();
		if (left <= 0)
			return reason_set(why, ETIMEDOUT, "the ring did not end within %.0f s; its %zu tasks were killed", limit_s, run->alive);
		/* At least once a second, in case a signal came between the look at interrupted() and here. */
		if (poll(p, 2, left < 1 ? (int)(left * 1e3) + 1 : 1000) < 0 && errno != EINTR)
			return reason_set(why, errno, "poll: %s", strerror(errno));
		if (p[0].revents && read(signal_fd, ignored, sizeof(ignored)) < 0 && errno != EAGAIN)
			return reason_set(why, errno, "signalfd: %s", strerror(errno));
		if (p[1].revents & POLLIN)
			err = answer_report(run, report_fd, &reports, why);
		else if (p[1].revents)
			report_fd = -1;		/* nobody is left to write to it */
		if (err)
			return err;
	}
}

/* ---- values -------------------------------------------------------------------------------------------------------------------------------------------- */

static void set_values(struct ctx_run *run, const struct ctx_condition *c, struct value *values)
{
	const struct ctx_trial *t = run->trial;
	double per_lap = 1e3 * c->tasks, per_block = per_lap * t->block_laps, sum = 0, squares = 0, planned = (double)(t->laps + 1) * c->tasks, counted = 0;
	double *x = run->scratch;
	size_t n;

	n = (size_t)t->alones;
	for (size_t i = 0; i < n; i++)
		x[i] = (double)t->alone_block_ns[i] / (1e3 * (double)t->alone_passes);
	values[CTX_VALUE_TRANSPORT] = value_of(stats_median(x, n));
	n = (size_t)t->blocks;
	for (size_t i = 0; i < n; i++) {
		x[i] = ((double)t->block_ns[i] - (double)t->clock_ns) / per_block;
		sum += x[i];
	}
	values[CTX_VALUE_SWITCH] = value_of(stats_median(x, n));
	values[CTX_VALUE_NET] = value_of(values[CTX_VALUE_SWITCH].number - values[CTX_VALUE_TRANSPORT].number);
	values[CTX_VALUE_MEAN] = value_of(sum / (double)n);
	n = (size_t)t->samples;
	sum = 0;
	for (size_t i = 0; i < n; i++) {
		x[i] = ((double)t->sample_ns[i] - (double)t->clock_ns) / per_lap;
		sum += x[i];
	}
	for (size_t i = 0; i < n; i++)
		squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
	values[CTX_VALUE_RMSE] = value_of(sqrt(squares / (double)n));
	values[CTX_VALUE_MEDIAN] = value_of(stats_median(x, n));
	values[CTX_VALUE_P99] = value_of(stats_quantile(x, n, 0.99));
	values[CTX_VALUE_MAX] = value_of(stats_quantile(x, n, 1));
	for (uint32_t i = 0; i < c->tasks; i++)
		counted += (double)(t->slot[i].switches_end - t->slot[i].switches_begin);
	values[CTX_VALUE_COUNTED] = value_of(counted / planned);
	for (size_t i = 0, k = CTX_VALUE_COUNTERS; i < run->counters.ncounter; i++) {
		struct value v;

		if (run->counters.counter[i].why)
			continue;
		v = meters_count(&run->counters, run->before, run->after, i, NULL);
		values[k++] = v.why ? v : value_of(v.number / planned);
	}
}

static void set_trial(struct ctx_run *run, const struct ctx_condition *c, int report_fd)
{
	struct ctx_trial *t = run->trial;
	const struct cpulist *cpus = c->cpus;

	memset(t, 0, offsetof(struct ctx_trial, slot));
	t->ring.via = c->via;
	t->ring.tasks = c->tasks;
	t->ring.touch_words = (uint32_t)(c->size_bytes / sizeof(uint32_t));
	t->window_ns = (uint64_t)(c->window_s * 1e9);
	t->warmup_ns = (uint64_t)(c->warmup_s * 1e9);
	t->samples_ns = t->window_ns / 4;
	t->alone_ns = t->window_ns / 4;
	t->parent = (int32_t)getpid();
	t->threads = c->threads;
	t->policy = c->policy;
	t->block_laps = SWITCHES_IN_BLOCK > c->tasks ? SWITCHES_IN_BLOCK / c->tasks : 1;
	t->report_fd = report_fd;
	for (uint32_t i = 0; i < c->tasks; i++) {
		struct ctx_slot *s = &t->slot[i];

		memset(s, 0, sizeof(*s));
		s->cpu = c->place == CTX_PLACE_FREE ? CTX_NO_CPU : c->place == CTX_PLACE_SAME ? cpus->cpu[cpus->n - 1] : cpus->cpu[cpus->n - 1 - i % cpus->n];
		s->forbid = c->tsc == CTX_TSC_BOTH || (c->tsc == CTX_TSC_ONE && i == c->tasks - 1);
	}
}

int ctx_run_trial(struct ctx_run *run, const struct ctx_condition *c, struct value *values, struct reason *why)
{
	double laps = 100 + c->tasks, limit = WATCHDOG_S + 4 * (c->window_s + c->warmup_s) + laps * c->tasks * (double)c->size_bytes / TOUCH_BYTES_PER_S;
	int report[2] = { -1, -1 }, signal_fd = -1, keep = c->abi != CTX_ABI_NATIVE, err;
	sigset_t set, mask;
	char *helper = NULL;

	if (c->tasks < 2 || c->tasks > CTX_TASKS_MAX)
		return reason_set(why, EINVAL, "%u tasks: a ring has 2 to %d", c->tasks, CTX_TASKS_MAX);
	if (keep) {
		helper = find_helper(why);
		if (!helper)
			return why ? -why->err : -ENOENT;
	}
	/* A child that dies must wake this process: hence the signal as a descriptor. */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, &mask);
	signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (signal_fd < 0 || (run->counting && socketpair(AF_UNIX, SOCK_STREAM | (keep ? 0 : SOCK_CLOEXEC), 0, report))) {
		err = reason_set(why, errno, "cannot watch the tasks: %s", strerror(errno));
		goto out;
	}
	set_trial(run, c, report[1]);
	err = ctx_ring_open(&run->trial->ring, keep);
	if (err) {
		reason_set(why, -err, "cannot make %u links (%s): %s", c->tasks, ctx_via_name(c->via), strerror(-err));
		goto out;
	}
	err = start_tasks(run, c, &mask, helper, why);
	if (!err)
		err = watch(run, signal_fd, report[0], limit, why);
	kill_tasks(run);
	if (!err)
		set_values(run, c, values);
	ctx_ring_close(&run->trial->ring);
out:
	if (signal_fd >= 0)
		close(signal_fd);
	if (report[0] >= 0) {
		close(report[0]);
		close(report[1]);
	}
	sigprocmask(SIG_SETMASK, &mask, NULL);
	free(helper);
	return err;
}

/* ---- what can be done here ----------------------------------------------------------------------------------------------------------------------------- */

/* Run @f in a child that cannot outlive END_MS. Returns its wait status, or -errno. */
static int in_child(int (*f)(int arg), int arg)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		alarm(END_MS / 1000);
		_exit(f(arg));
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return status;
}

#define GOT_SIGSEGV 3

/* With a handler, the kernel does not log the signal as a program's crash. */
static void note_segv(int sig)
{
	(void)sig;
	_exit(GOT_SIGSEGV);
}

static int read_forbidden_tsc(int arg)
{
	(void)arg;
	signal(SIGSEGV, note_segv);
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return 2;
	arch_ticks_begin();
	return 0;
}

enum ctx_enforced ctx_run_tsc_enforced(struct reason *why)
{
	int status = in_child(read_forbidden_tsc, 0);
	char text[96];

	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == GOT_SIGSEGV)
		return CTX_ENFORCED;
	if (status >= 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return CTX_NOT_ENFORCED;
	if (status >= 0 && WIFEXITED(status) && WEXITSTATUS(status) == 2) {
		reason_set(why, EINVAL, "this kernel and architecture have no prctl(PR_SET_TSC)");
		return CTX_NO_SUCH_PRCTL;
	}
	if (status < 0)
		snprintf(text, sizeof(text), "could not be started: %s", strerror(-status));
	else
		describe_status(status, text, sizeof(text));
	reason_set(why, EIO, "the process that was to find out whether the TSC can be forbidden %s", text);
	return CTX_ENFORCED_UNKNOWN;
}

static int try_policy(int policy)
{
	struct sched_param param = { .sched_priority = policy == SCHED_FIFO ? sched_get_priority_min(SCHED_FIFO) : 0 };

	return sched_setscheduler(0, policy, &param) ? errno : 0;
}

int ctx_run_policy(int policy, struct reason *why)
{
	int status = in_child(try_policy, policy), err;

	if (status < 0)
		return reason_set(why, -status, "cannot try the scheduling policy: %s", strerror(-status));
	err = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
	if (!err)
		return 0;
	return reason_set(why, err, "the scheduling policy is refused: %s%s", strerror(err), err == EPERM ? " (root, CAP_SYS_NICE or `ulimit -r 1`)" : "");
}

static int try_helper(int arg)
{
	struct reason why;
	char *helper = find_helper(&why);

	(void)arg;
	if (!helper)
		return ENOENT;
	execl(helper, HELPER, (char *)NULL);	/* without arguments: status 2, above every errno of exec below */
	return errno == 2 ? ENOENT + 100 : errno;
}

int ctx_run_abi(int abi, struct reason *why)
{
	char *helper;
	int status;

	if (abi == CTX_ABI_NATIVE)
		return 0;
	if (abi != 32)
		return reason_set(why, ENOTSUP, "this is a %d-bit build of perf-relax", CTX_ABI_NATIVE);
	helper = find_helper(why);
	if (!helper)
		return -ENOENT;
	free(helper);
	status = in_child(try_helper, 0);
	if (status < 0)
		return reason_set(why, -status, "cannot try the 32-bit program: %s", strerror(-status));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
		return 0;
	if (WIFSIGNALED(status))
		return reason_set(why, EIO, "the 32-bit program was killed by signal %d when it was tried", WTERMSIG(status));
	status = WEXITSTATUS(status) > 100 ? WEXITSTATUS(status) - 100 : WEXITSTATUS(status);
	return reason_set(why, status, "this kernel cannot execute the 32-bit program: %s", strerror(status));
}

/* ---- opening ------------------------------------------------------------------------------------------------------------------------------------------- */

/* Counters of all tasks: opened here, handed on to children. A machine without them is normal: each keeps its reason. */
static int open_counters(struct ctx_run *run, const char *events, bool required, int *status, struct reason *why)
{
	int err;

	run->counters = *run->meters;
	run->counters.ncounter = 0;
	run->counters.perf = NULL;
	run->counters.inherit = true;
	if (!events)
		return 0;
	err = meters_add_events(&run->counters, events, required, why);
	if (err && required) {
		*status = err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
		return err;
	}
	err = meters_start(&run->counters, why);
	*status = EXIT_CANNOT;
	for (size_t i = 0; i < run->counters.ncounter; i++)
		run->counting |= !run->counters.counter[i].why;
	return err;
}

struct ctx_run *ctx_run_open(const struct meters *m, const char *events, bool required, int (*interrupted)(void), int *status, struct reason *why)
{
	struct ctx_run *run = util_calloc(1, sizeof(*run));
	int err = 0;

	*status = EXIT_FAILED;
	run->meters = m;
	run->interrupted = interrupted;
	run->pid = util_calloc(CTX_TASKS_MAX, sizeof(*run->pid));
	run->scratch = util_calloc(CTX_BLOCKS_MAX > CTX_LAPS_MAX ? CTX_BLOCKS_MAX : CTX_LAPS_MAX, sizeof(*run->scratch));
	run->before = util_calloc(1, sizeof(*run->before));
	run->after = util_calloc(1, sizeof(*run->after));
	run->trial = MAP_FAILED;
	/* Stays open on exec: the 32-bit program finds it by its number. */
	run->fd = memfd_create("perf-relax-ctx", 0);
	if (run->fd >= 0 && !ftruncate(run->fd, sizeof(*run->trial)))
		run->trial = mmap(NULL, sizeof(*run->trial), PROT_READ | PROT_WRITE, MAP_SHARED, run->fd, 0);
	if (run->trial == MAP_FAILED)
		err = reason_set(why, errno, "no memory to share with the tasks: %s", strerror(errno));
	if (!err)
		err = open_counters(run, events, required, status, why);
	if (err) {
		ctx_run_close(run);
		return NULL;
	}
	return run;
}

const struct meters *ctx_run_counters(const struct ctx_run *run)
{
	return &run->counters;
}

void ctx_run_close(struct ctx_run *run)
{
	if (!run)
		return;
	meters_close(&run->counters);
	if (run->trial != MAP_FAILED)
		munmap(run->trial, sizeof(*run->trial));
	if (run->fd >= 0)
		close(run->fd);
	free(run->pid);
	free(run->scratch);
	free(run->before);
	free(run->after);
	free(run);
}
