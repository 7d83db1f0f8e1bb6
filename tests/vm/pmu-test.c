// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the emulated arm64 PMU promises, straight from perf_event_open(2), so that a failure of the tool can be told
 * from one of the machine: exact counts of groups, over exec, inherited, multiplexed, sampled. Run with -icount
 * shift=SHIFT. Exit: 0 as promised, 1 not, 2 usage.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int failures;

#define CHECK(cond, ...) \
	do { \
		if (!(cond)) { \
			failures++; \
			printf("not as promised: " __VA_ARGS__); \
			printf(" (line %d)\n", __LINE__); \
		} \
	} while (0)

/* Two instructions a round, whatever the compiler does. */
static __attribute__((noinline)) void spin(uint64_t rounds)
{
#ifdef __aarch64__
	__asm__ volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r"(rounds) : : "cc");
#else
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
#endif
}

static struct perf_event_attr event(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .exclude_kernel = 1,
					 .disabled = 1,
					 .read_format =
						 PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };
}

static int open_event(struct perf_event_attr *attr, pid_t pid, int group)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, pid, -1, group, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0) {
		printf("perf_event_open type %u config %#llx: %s\n", attr->type, (unsigned long long)attr->config,
		       strerror(errno));
		exit(1);
	}
	return fd;
}

struct count {
	uint64_t value, enabled, running;
};

static struct count get(int fd)
{
	struct count c = { 0 };

	if (read(fd, &c, sizeof(c)) != sizeof(c)) {
		printf("read: %s\n", strerror(errno));
		exit(1);
	}
	return c;
}

/* A leader and a member count over the very same instructions: {a, b} read in one go. */
static void spin_group(uint64_t rounds, uint64_t out[2])
{
	struct perf_event_attr a = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
			       b = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	struct {
		uint64_t n, enabled, running, value[2];
	} r;
	int lead, member;

	a.read_format = b.read_format |= PERF_FORMAT_GROUP;
	b.disabled = 0;
	lead = open_event(&a, 0, -1);
	member = open_event(&b, 0, lead);
	ioctl(lead, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
	spin(rounds);
	ioctl(lead, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	CHECK(read(lead, &r, sizeof(r)) == sizeof(r) && r.n == 2, "a group of two is read at once");
	CHECK(r.enabled == r.running && r.enabled > 0, "a group that fits runs all the time");
	out[0] = r.value[0];
	out[1] = r.value[1];
	close(member);
	close(lead);
}

static void group(unsigned int shift)
{
	uint64_t one[2], two[2], again[2];

	spin_group(1000000, one);
	spin_group(2000000, two);
	spin_group(1000000, again);
	printf("group: %" PRIu64 " cycles, %" PRIu64 " instructions for 1000000 rounds\n", one[0], one[1]);
	CHECK(two[1] - one[1] == 2000000, "1000000 more rounds are 2000000 instructions, not %" PRIu64,
	      two[1] - one[1]);
	CHECK(two[0] - one[0] == (uint64_t)2000000 << shift, "and %u cycles, not %" PRIu64, 2000000u << shift,
	      two[0] - one[0]);
	CHECK(one[1] == again[1], "twice the same: %" PRIu64 " and %" PRIu64, one[1], again[1]);
}

/* Instructions of this program started anew with `spin ROUNDS`, counted from exec on (@inherit: of a child of it). */
static uint64_t child_count(const char *self, const char *command, const char *rounds, bool inherit)
{
	struct perf_event_attr a = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int go[2], status, fd;
	struct count c;
	char byte = 0;
	pid_t pid;

	a.enable_on_exec = 1;
	a.inherit = inherit;
	if (pipe(go))
		exit(1);
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execl(self, self, command, rounds, (char *)NULL);
		_exit(127);
	}
	fd = open_event(&a, pid, -1);
	if (write(go[1], &byte, 1) != 1)
		exit(1);
	waitpid(pid, &status, 0);
	CHECK(WIFEXITED(status) && !WEXITSTATUS(status), "the child ran");
	c = get(fd);
	CHECK(c.enabled == c.running, "alone, it runs all the time");
	close(fd);
	close(go[0]);
	close(go[1]);
	return c.value;
}

static void exec_and_inherit(const char *self)
{
	uint64_t one = child_count(self, "spin", "1000000", false), two = child_count(self, "spin", "2000000", false);
	uint64_t one_child = child_count(self, "fork-spin", "1000000", true),
		 two_child = child_count(self, "fork-spin", "2000000", true);
	uint64_t not_inherited = child_count(self, "fork-spin", "2000000", false);

	printf("enable_on_exec: %" PRIu64 "; inherited: %" PRIu64 "\n", one, one_child);
	CHECK(two - one == 2000000, "enable_on_exec: %" PRIu64 " more, not 2000000", two - one);
	CHECK(two_child - one_child == 2000000, "inherit: %" PRIu64 " more, not 2000000", two_child - one_child);
	CHECK(not_inherited < 2000000, "without inherit the child's child is counted: %" PRIu64, not_inherited);
}

/* More counters than the hardware has (7): each is there for a share of the time, and its scaled value is right. */
static void multiplex(void)
{
	enum { N = 10, ROUNDS = 100000000 };
	struct perf_event_attr a = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
	int fd[N];
	unsigned int shared = 0;

	for (int i = 0; i < N; i++)
		fd[i] = open_event(&a, 0, -1);
	for (int i = 0; i < N; i++)
		ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
	spin(ROUNDS);
	for (int i = 0; i < N; i++)
		ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0);
	for (int i = 0; i < N; i++) {
		struct count c = get(fd[i]);
		double share = (double)c.running / (double)c.enabled, scaled = (double)c.value / share;

		printf("multiplexed %d: share %.3f, scaled %.0f\n", i, share, scaled);
		CHECK(c.running > 0 && share <= 1, "a share between 0 and 1, not %f", share);
		CHECK(scaled / (2.0 * ROUNDS) > 0.995 && scaled / (2.0 * ROUNDS) < 1.005,
		      "%.0f is not within 0.5 %% of %.0f", scaled, 2.0 * ROUNDS);
		shared += share < 0.999;
		close(fd[i]);
	}
	CHECK(shared >= 3, "ten counters share seven: only %u were shared", shared);
}

/* One sample each 100000 cycles of 10000000. */
static void sample(unsigned int shift)
{
	enum { PAGES = 64, PERIOD = 100000, SAMPLES = 100 };
	struct perf_event_attr a = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	size_t size = (size_t)sysconf(_SC_PAGESIZE), got = 0, inside = 0;
	struct perf_event_mmap_page *page;
	unsigned char *data;
	uint64_t tail, head;
	int fd;

	a.sample_period = PERIOD;
	a.sample_type = PERF_SAMPLE_IP;
	fd = open_event(&a, 0, -1);
	page = mmap(NULL, (1 + PAGES) * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		printf("ring buffer: %s\n", strerror(errno));
		exit(1);
	}
	data = (unsigned char *)page + size;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin((uint64_t)PERIOD * SAMPLES / 2 >> shift);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (tail = page->data_tail; tail < head;) {
		struct perf_event_header *h = (struct perf_event_header *)(void *)(data + tail % (PAGES * size));
		uint64_t ip;

		if (h->type == PERF_RECORD_SAMPLE) {
			memcpy(&ip, h + 1, sizeof(ip));
			got++;
			inside += ip >= (uintptr_t)spin && ip < (uintptr_t)spin + 64;
		}
		CHECK(h->size, "a record has a size");
		if (!h->size)
			break;
		tail += h->size;
	}
	printf("samples: %zu of %d, %zu in the loop\n", got, SAMPLES, inside);
	CHECK(got >= SAMPLES - 1 && got <= SAMPLES + 1, "%zu samples of %d", got, SAMPLES);
	CHECK(inside * 100 >= got * 95, "%zu of %zu samples lie in the loop", inside, got);
	close(fd);
}

/* A code that means nothing opens, runs, and reads 0: what the tool must flag. */
static void raw(void)
{
	struct perf_event_attr a = event(PERF_TYPE_RAW, 0xf3);
	int fd = open_event(&a, 0, -1);
	struct count c;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(1000000);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	c = get(fd);
	CHECK(c.value == 0 && c.running > 0, "raw f3 counts %" PRIu64, c.value);
	close(fd);
}

/* No PMU: every hardware event is ENOENT, software events go on. */
static int absent(void)
{
	struct perf_event_attr a = event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
			       s = event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, 0);

	CHECK(fd == -1 && errno == ENOENT, "cycles: %s", fd < 0 ? strerror(errno) : "opens");
	fd = open_event(&s, 0, -1);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	spin(1000000);
	CHECK(get(fd).value > 0, "task-clock counts");
	return failures != 0;
}

int main(int argc, char **argv)
{
	const char *cmd = argc > 1 ? argv[1] : "";
	unsigned long arg = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!strcmp(cmd, "spin")) {
		spin(arg);
		return 0;
	}
	if (!strcmp(cmd, "fork-spin")) {
		pid_t pid = fork();

		if (!pid) {
			spin(arg);
			_exit(0);
		}
		return waitpid(pid, NULL, 0) == pid ? 0 : 1;
	}
	if (!strcmp(cmd, "absent"))
		return absent();
	if (!strcmp(cmd, "all") && argc > 2) {
		group((unsigned int)arg);
		exec_and_inherit("/proc/self/exe");
		multiplex();
		sample((unsigned int)arg);
		raw();
		return failures != 0;
	}
	fprintf(stderr, "usage: pmu-test all SHIFT | absent | spin N | fork-spin N\n");
	return 2;
}
