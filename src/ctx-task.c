/* SPDX-License-Identifier: GPL-2.0-only */
/* A task of the ring, from its set-up to its end; the first one also keeps the time. */
#include <errno.h>
#include <linux/prctl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ctx-task.h"

#define BLOCKS_MIN 3
#define SAMPLES_MIN 8
#define CLOCK_READS 64

static const char *const steps[] = {
#define X(ident, what) what,
	CTX_STEPS(X)
#undef X
};

const char *ctx_step_text(uint32_t step)
{
	return steps[step < CTX_STEP_COUNT ? step : CTX_STEP_NONE];
}

uint64_t ctx_task_clock_ns(void)
{
#ifdef SYS_clock_gettime64
	struct { int64_t tv_sec, tv_nsec; } now;
	long err = syscall(SYS_clock_gettime64, CLOCK_MONOTONIC_RAW, &now);
#else
	struct timespec now;
	long err = syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
#endif

	return err ? 0 : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int failed(struct ctx_trial *t, uint32_t index, enum ctx_step step, int err)
{
	t->slot[index].step = step;
	t->slot[index].err = err;
	return -err;
}

static uint64_t switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		return 0;
	return (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

/* Called at the first mark and at the second. */
static void mark(void *ctx)
{
	struct ctx_slot *s = ctx;

	if (!s->switches_begin)
		s->switches_begin = switches();
	else
		s->switches_end = switches();
}

static int pin(int cpu)
{
	size_t size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	cpu_set_t *set = CPU_ALLOC((size_t)cpu + 1);
	int err;

	if (!set)
		return ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	err = sched_setaffinity(0, size, set) ? errno : 0;
	CPU_FREE(set);
	return err;
}

static int set_policy(int policy)
{
	struct sched_param param = { 0 };

	if (policy == SCHED_OTHER)
		return 0;
	if (policy == SCHED_FIFO)
		param.sched_priority = sched_get_priority_min(SCHED_FIFO);
	return sched_setscheduler(0, policy, &param) ? errno : 0;
}

/* All that a task needs before it waits for the token; the last thing is to give up the TSC, because libc may use it until then. */
static int prepare(struct ctx_trial *t, uint32_t index, uint32_t **memory)
{
	size_t bytes = (size_t)t->ring.touch_words * sizeof(**memory);
	struct ctx_slot *s = &t->slot[index];
	int err;

	*memory = NULL;
	if (s->cpu != CTX_NO_CPU) {
		err = pin(s->cpu);
		if (err)
			return failed(t, index, CTX_STEP_PIN, err);
	}
	err = set_policy(t->policy);
	if (err)
		return failed(t, index, CTX_STEP_POLICY, err);
	if (bytes) {
		*memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (*memory == MAP_FAILED)
			return failed(t, index, CTX_STEP_MEMORY, errno);
		memset(*memory, (int)index & 0x7f, bytes);
	}
	/* Older C libraries keep rseq and friends per thread already; nothing below this line calls what may read the TSC. */
	if (s->forbid && prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0))
		return failed(t, index, CTX_STEP_TSC, errno);
	/* Or to take it back: the flag is inherited. Where there is no such flag, there is none to take back. */
	if (!s->forbid)
		prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0);
	return 0;
}

/* Tell the parent that something begins or ends, and wait until it has read its counters. */
static int report(struct ctx_trial *t)
{
	char byte = 'r';

	if (t->report_fd < 0)
		return 0;
	if (write(t->report_fd, &byte, 1) != 1 || read(t->report_fd, &byte, 1) != 1)
		return failed(t, 0, CTX_STEP_REPORT, errno ? errno : EPIPE);
	return 0;
}

static uint64_t clock_cost(void)
{
	uint64_t least = UINT64_MAX, before = ctx_task_clock_ns();

	for (int i = 0; i < CLOCK_READS; i++) {
		uint64_t now = ctx_task_clock_ns();

		if (now - before < least)
			least = now - before;
		before = now;
	}
	return least;
}

/* Laps in blocks of @block_laps until @ns have passed and at least @min blocks are done, at most @max. Block times to @out. Returns 0 or -errno. */
static int run_blocks(struct ctx_trial *t, const uint32_t *memory, uint64_t ns, uint64_t block_laps, uint64_t min, uint64_t max, uint64_t *out, uint64_t *done)
{
	uint64_t start = ctx_task_clock_ns(), before = start, now = start;

	for (*done = 0; *done < max && (*done < min || now - start < ns); (*done)++) {
		int err = ctx_ring_laps(&t->ring, memory, block_laps, CTX_TOKEN_GO);

		if (err)
			return err;
		now = ctx_task_clock_ns();
		if (out)
			out[*done] = now - before;
		before = now;
	}
	return 0;
}

static int run_alone(struct ctx_trial *t, const uint32_t *memory)
{
	uint64_t start = ctx_task_clock_ns(), now, before;

	/* A few passes for the size of a block. */
	int err = ctx_ring_alone(&t->ring, memory, 8);

	if (err)
		return err;
	now = ctx_task_clock_ns();
	t->alone_passes = now > start ? t->alone_ns / CTX_ALONE_BLOCKS * 8 / (now - start) : 1;
	if (t->alone_passes < 8)
		t->alone_passes = 8;
	before = ctx_task_clock_ns();
	for (t->alones = 0; t->alones < CTX_ALONE_BLOCKS; t->alones++) {
		err = ctx_ring_alone(&t->ring, memory, t->alone_passes);
		if (err)
			return err;
		now = ctx_task_clock_ns();
		t->alone_block_ns[t->alones] = now - before;
		before = now;
	}
	return 0;
}

static int mark_lap(struct ctx_trial *t, const uint32_t *memory)
{
	int err = ctx_ring_laps(&t->ring, memory, 1, CTX_TOKEN_MARK);

	mark(&t->slot[0]);
	return err;
}

/* The first task. */
static int lead(struct ctx_trial *t, const uint32_t *memory)
{
	uint64_t start, done;
	/* The first lap ends when every task is there. */
	int err = ctx_ring_laps(&t->ring, memory, 2, CTX_TOKEN_GO);

	if (!err && !ctx_task_clock_ns())
		return failed(t, 0, CTX_STEP_CLOCK, errno);
	if (!err)
		err = run_blocks(t, memory, t->warmup_ns, t->block_laps, 1, UINT64_MAX, NULL, &done);
	t->clock_ns = clock_cost();
	if (!err && report(t))
		return -t->slot[0].err;
	if (!err)
		err = mark_lap(t, memory);
	start = ctx_task_clock_ns();
	if (!err)
		err = run_blocks(t, memory, t->window_ns, t->block_laps, BLOCKS_MIN, CTX_BLOCKS_MAX, t->block_ns, &t->blocks);
	t->window_spent_ns = ctx_task_clock_ns() - start;
	t->laps = t->blocks * t->block_laps;
	if (!err)
		err = mark_lap(t, memory);
	if (!err && report(t))
		return -t->slot[0].err;
	if (!err)
		err = run_blocks(t, memory, t->samples_ns, 1, SAMPLES_MIN, CTX_LAPS_MAX, t->sample_ns, &t->samples);
	if (!err)
		err = run_alone(t, memory);
	if (!err)
		err = ctx_ring_laps(&t->ring, memory, 1, CTX_TOKEN_STOP);
	return err ? failed(t, 0, CTX_STEP_RING, -err) : 0;
}

static int one_task(struct ctx_trial *t, uint32_t index)
{
	uint32_t *memory;
	int err = prepare(t, index, &memory);

	if (err)
		return err;
	if (!index) {
		err = lead(t, memory);
	} else {
		err = ctx_ring_follow(&t->ring, index, memory, mark, &t->slot[index]);
		if (err)
			failed(t, index, CTX_STEP_RING, -err);
	}
	if (memory)
		munmap(memory, (size_t)t->ring.touch_words * sizeof(*memory));
	return err;
}

struct follower {
	struct ctx_trial *trial;
	uint32_t index;
};

/* A follower that fails takes all with it: the others would wait for its token for ever. */
static void *run_follower(void *arg)
{
	struct follower *f = arg;

	if (one_task(f->trial, f->index))
		_exit(1);
	return NULL;
}

static int run_threads(struct ctx_trial *t)
{
	struct follower *f = calloc(t->ring.tasks, sizeof(*f));
	pthread_t *thread = calloc(t->ring.tasks, sizeof(*thread));
	pthread_attr_t attr;
	int err = 0;

	if (!f || !thread)
		err = failed(t, 0, CTX_STEP_MEMORY, ENOMEM);
	/* Stacks of the usual 8 MiB would not fit a 32-bit program. */
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 128 * 1024);
	for (uint32_t i = 1; i < t->ring.tasks && !err; i++) {
		f[i] = (struct follower){ .trial = t, .index = i };
		err = pthread_create(&thread[i], &attr, run_follower, &f[i]);
		if (err)
			_exit(-failed(t, i, CTX_STEP_THREAD, err) ? 1 : 0);
	}
	pthread_attr_destroy(&attr);
	if (!err)
		err = one_task(t, 0);
	for (uint32_t i = 1; i < t->ring.tasks && !err; i++)
		pthread_join(thread[i], NULL);
	free(f);
	free(thread);
	return err;
}

int ctx_task_run(struct ctx_trial *t, uint32_t index)
{
	/* Set first, then looked: a parent that died in between would go unnoticed the other way round. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0))
		return failed(t, index, CTX_STEP_PARENT, errno);
	if (getppid() != t->parent)
		return failed(t, index, CTX_STEP_PARENT, ESRCH);
	return t->threads ? run_threads(t) : one_task(t, index);
}
