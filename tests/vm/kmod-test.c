// SPDX-License-Identifier: GPL-2.0-only
/*
 * Talks to the module from inside a guest, without the rest of the tool: what the interface promises, one subcommand
 * each. Exit: 0 as promised, 1 not (said on stdout), 2 usage.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "kmod/perf_relax_uapi.h"

#define DEVICE "/dev/" PERF_RELAX_DEVICE

static int failures;

#define CHECK(cond, ...) \
	do { \
		if (!(cond)) { \
			failures++; \
			printf("not as promised: " __VA_ARGS__); \
			printf(" (%s:%d, errno %s)\n", __FILE__, __LINE__, strerror(errno)); \
		} \
	} while (0)

static int open_device(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		printf("%s: %s\n", DEVICE, strerror(errno));
		exit(1);
	}
	return fd;
}

static void bind_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		printf("cannot bind to CPU %u: %s\n", cpu, strerror(errno));
		exit(1);
	}
}

static struct perf_relax_info get_info(int fd)
{
	struct perf_relax_info info = { .abi = PERF_RELAX_ABI };

	if (ioctl(fd, PERF_RELAX_IOC_INFO, &info)) {
		printf("info: %s\n", strerror(errno));
		exit(1);
	}
	return info;
}

static int get_case(int fd, uint32_t index, struct perf_relax_case *c)
{
	memset(c, 0, sizeof(*c));
	c->abi = PERF_RELAX_ABI;
	c->index = index;
	return ioctl(fd, PERF_RELAX_IOC_CASE, c);
}

static int find_case(int fd, const char *name)
{
	struct perf_relax_case c;

	for (uint32_t i = 0; !get_case(fd, i, &c); i++)
		if (!strcmp(c.name, name))
			return (int)i;
	printf("no case named %s\n", name);
	exit(1);
}

static int cmd_list(void)
{
	int fd = open_device();
	struct perf_relax_info info = get_info(fd);
	struct perf_relax_case c;
	uint32_t n = 0;

	printf("arch %s ticks '%s' cases %u flags %#x\n", info.arch, info.ticks_name, info.cases, info.flags);
	for (; !get_case(fd, n, &c); n++) {
		printf("%-18s flags %#x %s [", c.name, c.flags, c.text);
		for (uint32_t i = 0; i < c.bytes && i < sizeof(c.code); i++)
			printf("%s%02x", i ? " " : "", c.code[i]);
		printf("]%s%s\n", c.why[0] ? " absent: " : "", c.why);
	}
	CHECK(errno == ENOENT, "the list ends with ENOENT");
	CHECK(n == info.cases, "%u cases listed, %u announced", n, info.cases);
	close(fd);
	return failures != 0;
}

/* Every case once, and what each block must have. */
static int cmd_run(void)
{
	int fd = open_device();
	struct perf_relax_info info = get_info(fd);
	struct perf_relax_case c;
	struct perf_relax_run run;

	bind_to(0);
	for (uint32_t i = 0; i < info.cases; i++) {
		get_case(fd, i, &c);
		memset(&run, 0, sizeof(run));
		run.abi = PERF_RELAX_ABI;
		run.index = i;
		run.loops = PERF_RELAX_ALTERNATE;
		run.iters = 1;
		run.blocks = 6;
		run.flags = PERF_RELAX_RUN_PMU;
		if (ioctl(fd, PERF_RELAX_IOC_RUN, &run)) {
			CHECK((c.flags & PERF_RELAX_CASE_ABSENT) && errno == EOPNOTSUPP, "%s runs", c.name);
			continue;
		}
		CHECK(!(c.flags & PERF_RELAX_CASE_ABSENT), "%s is absent, yet runs", c.name);
		CHECK(run.blocks == 6, "%s: %u of 6 blocks", c.name, run.blocks);
		CHECK(run.op_ps > 0 && run.iters_max > 0, "%s: a cost was measured", c.name);
		for (uint32_t b = 0; b < run.blocks; b++) {
			CHECK(!(info.flags & PERF_RELAX_INFO_TICKS) || run.block[b].ticks > 0, "%s block %u has ticks",
			      c.name, b);
			CHECK(!!(run.block[b].flags & PERF_RELAX_BLOCK_LONG) == (b & 1), "%s: blocks alternate",
			      c.name);
			CHECK((run.cycles_error == 0) == !!(run.block[b].flags & PERF_RELAX_BLOCK_CYCLES),
			      "%s: cycles or a reason (%d)", c.name, run.cycles_error);
		}
		if (run.iters_max >= 4) { /* long enough for the coarsest clock that the module accepts */
			memset(run.block, 0, sizeof(run.block));
			run.iters = run.iters_max / 4;
			run.loops = PERF_RELAX_LONG;
			run.op_ps = 0;
			run.iters_max = 0;
			run.cycles_error = run.instructions_error = 0;
			if (ioctl(fd, PERF_RELAX_IOC_RUN, &run))
				CHECK(errno == ERANGE, "%s runs again", c.name); /* found slower this time */
			else
				CHECK(run.block[0].ns > 0, "%s: %u iterations take no time", c.name, run.iters);
		}
		printf("%s %" PRIu64 " ps/op cycles_error %d\n", c.name, (uint64_t)run.op_ps, run.cycles_error);
	}
	close(fd);
	return failures != 0;
}

static struct perf_relax_run good_run(int fd)
{
	return (struct perf_relax_run){ .abi = PERF_RELAX_ABI,
					.index = (uint32_t)find_case(fd, "cli-sti"),
					.loops = PERF_RELAX_SHORT,
					.iters = 1,
					.blocks = 1 };
}

#define REFUSED(err, change) \
	do { \
		run = good_run(fd); \
		change; \
		errno = 0; \
		CHECK(ioctl(fd, PERF_RELAX_IOC_RUN, &run) == -1 && errno == (err), "%s is refused with %s", #change, \
		      #err); \
	} while (0)

/* Each wrong request gets its own errno. */
static int cmd_refuse(void)
{
	int fd = open_device();
	struct perf_relax_info info = { .abi = PERF_RELAX_ABI + 1 };
	struct perf_relax_run run;
	void *bad = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	bind_to(0);
	run = good_run(fd);
	CHECK(!ioctl(fd, PERF_RELAX_IOC_RUN, &run), "a good request is accepted");
	CHECK(ioctl(fd, PERF_RELAX_IOC_INFO, &info) == -1 && errno == EPROTONOSUPPORT, "another version is refused");
	info = (struct perf_relax_info){ .abi = PERF_RELAX_ABI, .reserved = 1 };
	CHECK(ioctl(fd, PERF_RELAX_IOC_INFO, &info) == -1 && errno == EINVAL, "reserved members must be 0");
	REFUSED(EPROTONOSUPPORT, run.abi = 0);
	REFUSED(ENOENT, run.index = 100000);
	REFUSED(ENOENT, run.index = UINT32_MAX);
	REFUSED(EINVAL, run.loops = 0);
	REFUSED(EINVAL, run.loops = 4);
	REFUSED(EINVAL, run.iters = 0);
	REFUSED(EINVAL, run.iters = PERF_RELAX_ITERS_MAX + 1);
	REFUSED(ERANGE, run.iters = PERF_RELAX_ITERS_MAX);
	CHECK(run.iters_max > 0 && run.iters_max < PERF_RELAX_ITERS_MAX,
	      "ERANGE names the most that is accepted, got %u", run.iters_max);
	REFUSED(EINVAL, run.blocks = 0);
	REFUSED(EINVAL, run.blocks = PERF_RELAX_BLOCKS_MAX + 1);
	REFUSED(EINVAL, run.flags = 2);
	REFUSED(EINVAL, run.cpu = UINT32_MAX);
	REFUSED(EINVAL, run.op_ps = 1);
	CHECK(ioctl(fd, PERF_RELAX_IOC_RUN, bad) == -1 && errno == EFAULT, "unreadable memory");
	CHECK(ioctl(fd, PERF_RELAX_IOC_RUN, NULL) == -1 && errno == EFAULT, "no memory");
	CHECK(ioctl(fd, _IO('R', 0xff)) == -1 && errno == ENOTTY, "an unknown request");
	CHECK(read(fd, &run, 1) == -1 && errno == EINVAL, "read");
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		REFUSED(EXDEV, run.cpu = 1);
	close(fd);
	return failures != 0;
}

static uint64_t random_state = 88172645463325252ull;

static uint64_t random_next(void) /* xorshift64 (Marsaglia 2003) */
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static const uint64_t boundary[] = { 0,
				     1,
				     2,
				     3,
				     4,
				     7,
				     8,
				     63,
				     64,
				     65,
				     255,
				     4096,
				     0x7fffffff,
				     0x80000000,
				     0xfffffffe,
				     0xffffffff,
				     1u << 24,
				     (1u << 24) + 1,
				     0x7fffffffffffffff,
				     0x8000000000000000,
				     UINT64_MAX };

static void fuzz_words(void *p, size_t size)
{
	uint32_t *w = p;

	for (size_t i = 0; i < size / 4; i++)
		w[i] = random_next() & 1 ? (uint32_t)boundary[random_next() % (sizeof(boundary) / sizeof(boundary[0]))]
					 : (uint32_t)random_next();
}

/* Random and boundary requests: any answer is right, as long as the machine lives and the log stays clean. Some are
 * nearly valid. */
static int cmd_fuzz(unsigned long count)
{
	static const unsigned long requests[] = { PERF_RELAX_IOC_INFO, PERF_RELAX_IOC_CASE, PERF_RELAX_IOC_RUN };
	unsigned long accepted = 0, answers[3] = { 0 };
	union {
		struct perf_relax_info info;
		struct perf_relax_case c;
		struct perf_relax_run run;
	} *u = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned char *page = (unsigned char *)u;
	int fd = open_device();

	bind_to(0);
	/* The second page is not mapped: requests that lie across the edge. */
	munmap(page + 4096, 4096);
	for (unsigned long i = 0; i < count; i++) {
		unsigned int which = (unsigned int)(random_next() % 3);
		unsigned long request = requests[which];
		void *arg = u;

		switch (random_next() % 8) {
		case 0:
			fuzz_words(u, sizeof(struct perf_relax_run));
			break;
		case 1:
			fuzz_words(u, 64);
			u->run.abi = PERF_RELAX_ABI;
			break;
		case 2: /* across the edge, or anywhere */
			arg = random_next() & 1 ? page + 4096 - random_next() % 128 : (void *)(uintptr_t)random_next();
			break;
		case 3: /* another request, direction or size */
			request = random_next() & 1 ? request ^ (1ul << (random_next() % 32))
						    : (unsigned int)random_next();
			break;
		default: /* nearly valid: one member is wrong or at its bound */
			memset(u, 0, sizeof(*u));
			u->run = (struct perf_relax_run){ .abi = PERF_RELAX_ABI,
							  .index = (uint32_t)(random_next() % 48),
							  .loops = 1 + (uint32_t)(random_next() % 3),
							  .iters = 1 + (uint32_t)(random_next() % 64),
							  .blocks = 1 + (uint32_t)(random_next() % 4),
							  .flags = random_next() % 16 == 0 };
			if (random_next() & 1)
				((uint32_t *)u)[random_next() % 12] =
					(uint32_t)boundary[random_next() % (sizeof(boundary) / sizeof(boundary[0]))];
			break;
		}
		if (!ioctl(fd, request, arg)) {
			accepted++;
			answers[which]++;
		}
	}
	printf("%lu requests, %lu accepted (%lu info, %lu case, %lu run)\n", count, accepted, answers[0], answers[1],
	       answers[2]);
	CHECK(answers[0] && answers[1] && answers[2], "some requests of each kind are valid");
	CHECK(answers[2] < count, "some are refused");
	close(fd);
	return failures != 0;
}

static volatile sig_atomic_t stop;

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

/* Runs until it is killed; with @rounds, that many times. */
static int cmd_busy(unsigned int cpu, unsigned long rounds)
{
	int fd = open_device();
	uint32_t n = get_info(fd).cases;

	bind_to(cpu);
	for (unsigned long i = 0; !rounds || i < rounds; i++) {
		struct perf_relax_run run = { .abi = PERF_RELAX_ABI,
					      .index = (uint32_t)(i % n),
					      .cpu = cpu,
					      .loops = PERF_RELAX_ALTERNATE,
					      .iters = 8,
					      .blocks = PERF_RELAX_BLOCKS_MAX,
					      .flags = i % 64 == 0 };

		if (ioctl(fd, PERF_RELAX_IOC_RUN, &run) && errno != EOPNOTSUPP && errno != ERANGE) {
			printf("case %u on CPU %u: %s\n", run.index, cpu, strerror(errno));
			return 1;
		}
	}
	close(fd);
	return 0;
}

/* A signal ends a run between blocks: EINTR, and the blocks so far are there. */
static int cmd_signal(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	int fd = open_device(), seen = 0;
	timer_t timer;
	struct sigevent ev = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	struct itimerspec when = { .it_value.tv_nsec = 200000 };

	bind_to(0);
	sigaction(SIGALRM, &sa, NULL);
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer))
		return 1;
	for (int i = 0; i < 2000 && !seen; i++) {
		struct perf_relax_run run = good_run(fd), probe = good_run(fd);

		probe.iters = PERF_RELAX_ITERS_MAX;
		(void)ioctl(fd, PERF_RELAX_IOC_RUN, &probe);
		run.iters = probe.iters_max / 2 + 1;
		run.blocks = PERF_RELAX_BLOCKS_MAX;
		stop = 0;
		timer_settime(timer, 0, &when, NULL);
		if (ioctl(fd, PERF_RELAX_IOC_RUN, &run) == -1 && errno == EINTR) {
			CHECK(run.blocks < PERF_RELAX_BLOCKS_MAX, "an interrupted run is not complete");
			seen = 1;
		}
		while (!stop)
			usleep(100);
		when.it_value.tv_nsec += 20000;
	}
	CHECK(seen, "a signal interrupts a run");
	close(fd);
	return failures != 0;
}

static void *opener(void *arg)
{
	unsigned int cpu = *(unsigned int *)arg;

	for (int i = 0; i < 20; i++)
		if (cmd_busy(cpu, 30))
			failures++;
	return NULL;
}

static int cmd_concurrent(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t thread[8];
	unsigned int cpu[8];

	for (unsigned int i = 0; i < 8; i++) {
		cpu[i] = i % (unsigned int)cpus;
		if (pthread_create(&thread[i], NULL, opener, &cpu[i]))
			return 1;
	}
	for (int i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	return failures != 0;
}

/* One block's counts: instructions of @iters iterations. */
static uint64_t count(int fd, int index, uint32_t loops, uint32_t iters, bool cycles)
{
	struct perf_relax_run run;

	/* Switching bottom halves on looks for ksoftirqd while that has work: three times as dear, and over soon. */
	for (int tries = 0;; tries++) {
		run = (struct perf_relax_run){ .abi = PERF_RELAX_ABI,
					       .index = (uint32_t)index,
					       .loops = loops,
					       .iters = iters,
					       .blocks = 1,
					       .flags = PERF_RELAX_RUN_PMU };
		if (!ioctl(fd, PERF_RELAX_IOC_RUN, &run))
			break;
		if (errno != ERANGE || tries == 20) {
			printf("case %d, %u iterations: %s (at most %u, %" PRIu64 " ps an operation)\n", index, iters,
			       strerror(errno), run.iters_max, (uint64_t)run.op_ps);
			exit(1);
		}
		usleep(100000);
	}
	if (run.instructions_error || run.cycles_error || !(run.block[0].flags & PERF_RELAX_BLOCK_INSTRUCTIONS)) {
		printf("no kernel counters: cycles %d, instructions %d, flags %#x\n", run.cycles_error,
		       run.instructions_error, run.block[0].flags);
		exit(1);
	}
	return cycles ? run.block[0].cycles : run.block[0].instructions;
}

/*
 * Instructions of @blocks blocks of @iters iterations. With interrupts off all blocks must count the same. Where the
 * case has interrupts on, the timer's may fall into a block and is counted: the least is what the case itself takes,
 * and most blocks must have it.
 */
static uint64_t exact_count(int fd, const struct perf_relax_case *c, uint32_t loops, uint32_t iters,
			    unsigned int blocks)
{
	uint64_t least = UINT64_MAX, seen[64];
	unsigned int equal = 0;

	for (unsigned int b = 0; b < blocks; b++) {
		seen[b] = count(fd, (int)c->index, loops, iters, false);
		least = seen[b] < least ? seen[b] : least;
	}
	for (unsigned int b = 0; b < blocks; b++)
		equal += seen[b] == least;
	CHECK(equal == blocks || ((c->flags & PERF_RELAX_CASE_IRQS_ON) && equal > blocks / 2),
	      "%s: %u of %u equal blocks have equal counts", c->name, equal, blocks);
	return least * blocks;
}

/*
 * With exact counters: an operation costs a whole number of instructions, the same in every run. A block is at most 100
 * us, so 20000 operations are 50 blocks of 50 iterations of 8. Counted as differences of two numbers of iterations, and
 * these of the long and the short loop, which leaves the operations alone. Cycles are instructions << @shift.
 */
static int cmd_exact(unsigned int shift)
{
	enum { EMPTY, PAIR, SAVE_RESTORE, CMPXCHG, CLI, STI, YIELD, NOP, NONE, ISB, WFE, N };
	static const char *const names[] = { "empty",
					     "cli-sti",
					     "irq-save-restore",
					     "cmpxchg",
					     "cli",
					     "sti",
					     "yield",
					     "nop",
					     "none",
					     "isb",
					     "wfe",
					     "irq-save",
					     "irq-restore",
					     "cmpxchg-local",
					     "add-return",
					     "add-return-local",
					     "this-cpu-add",
					     "this-cpu-cmpxchg",
					     "preempt-off-on",
					     "bh-off-on",
					     "spin-lock",
					     "spin-lock-irqsave",
					     "rcu-read-lock" };
	/* A block is at most 100 us, and an instruction takes 2^shift ns. */
	const uint32_t iters = 50u >> shift, total_iters = 50 * iters, ops = 8 * total_iters, many = 1000u >> shift;
	uint64_t per_op[sizeof(names) / sizeof(names[0])];
	int fd = open_device();

	bind_to(0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct perf_relax_case c;
		uint64_t s1, s2, l1, l2, d;

		get_case(fd, (uint32_t)find_case(fd, names[i]), &c);
		s1 = exact_count(fd, &c, PERF_RELAX_SHORT, iters, 50);
		s2 = exact_count(fd, &c, PERF_RELAX_SHORT, 2 * iters, 50);
		l1 = exact_count(fd, &c, PERF_RELAX_LONG, iters, 50);
		l2 = exact_count(fd, &c, PERF_RELAX_LONG, 2 * iters, 50);
		CHECK((s2 - s1) % total_iters == 0, "%s: %" PRIu64 " instructions for all iterations are not whole",
		      names[i], s2 - s1);
		CHECK((l2 - l1) % total_iters == 0,
		      "%s: %" PRIu64 " instructions for all long iterations are not whole", names[i], l2 - l1);
		d = (l2 - l1) - (s2 - s1);
		CHECK(d % ops == 0, "%s: %" PRIu64 " instructions for all operations are not whole", names[i], d);
		per_op[i] = d / ops;
		printf("%-18s %" PRIu64 " instructions an operation, %" PRIu64 " an iteration of 8, %" PRIu64
		       " of 16\n",
		       names[i], per_op[i], (s2 - s1) / total_iters, (l2 - l1) / total_iters);
	}
	CHECK(per_op[EMPTY] == 0 && per_op[NONE] == 0, "empty and none are no instructions");
	CHECK(per_op[PAIR] == per_op[CLI] + per_op[STI], "cli-sti is cli and sti");
	CHECK(per_op[YIELD] == 1 && per_op[NOP] == 1 && per_op[ISB] == 1 && per_op[WFE] == 2,
	      "yield, nop, isb and sevl + wfe are 1, 1, 1 and 2");
	CHECK(per_op[SAVE_RESTORE] > per_op[PAIR] && per_op[CMPXCHG] > 3, "irq save and restore are more than off and "
									  "on; cmpxchg is a loop of exclusives");
	{
		int index = find_case(fd, "nop");
		uint64_t cycles = count(fd, index, PERF_RELAX_LONG, many, true) -
				  count(fd, index, PERF_RELAX_LONG, many / 2, true);
		uint64_t instructions = count(fd, index, PERF_RELAX_LONG, many, false) -
					count(fd, index, PERF_RELAX_LONG, many / 2, false);

		CHECK(cycles == instructions << shift, "%" PRIu64 " instructions are %" PRIu64 " cycles at shift %u",
		      instructions, cycles, shift);
		CHECK(instructions == (many - many / 2) * (16 + 2),
		      "iterations of 16 nops and a loop's 2 are not %" PRIu64, instructions);
	}
	close(fd);
	return failures != 0;
}

/* As a user without rights. */
static int cmd_denied(void)
{
	CHECK(open(DEVICE, O_RDWR) == -1 && (errno == EACCES || errno == EPERM), "the device is root's");
	return failures != 0;
}

int main(int argc, char **argv)
{
	const char *cmd = argc > 1 ? argv[1] : "";
	unsigned long arg = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(cmd, "list"))
		return cmd_list();
	if (!strcmp(cmd, "run"))
		return cmd_run();
	if (!strcmp(cmd, "refuse"))
		return cmd_refuse();
	if (!strcmp(cmd, "fuzz"))
		return cmd_fuzz(arg ? arg : 1000);
	if (!strcmp(cmd, "busy"))
		return cmd_busy((unsigned int)arg, argc > 3 ? strtoul(argv[3], NULL, 0) : 0);
	if (!strcmp(cmd, "signal"))
		return cmd_signal();
	if (!strcmp(cmd, "concurrent"))
		return cmd_concurrent();
	if (!strcmp(cmd, "exact"))
		return cmd_exact((unsigned int)arg);
	if (!strcmp(cmd, "denied"))
		return cmd_denied();
	fprintf(stderr, "usage: kmod-test list|run|refuse|fuzz N|busy CPU [N]|signal|concurrent|exact SHIFT|denied\n");
	return 2;
}
