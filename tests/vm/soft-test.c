// SPDX-License-Identifier: GPL-2.0-only
/* Events that every kernel has: task-clock and page-faults count; says whether there are hardware events. Exit: 0 as promised, 1 not. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_event(uint32_t type, uint64_t config)
{
	struct perf_event_attr a = { .type = type, .size = sizeof(a), .config = config };

	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
}

int main(void)
{
	enum { PAGES = 100 };
	int clock = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK), faults = open_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS);
	int cycles = open_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES), err = errno;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	uint64_t ns = 0, n = 0;
	char *p;

	if (clock < 0 || faults < 0) {
		printf("software events: %s\n", strerror(errno));
		return 1;
	}
	p = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return 1;
	/* Small pages, each touched once. */
	madvise(p, PAGES * size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)p)[i * size] = 1;
	if (read(clock, &ns, sizeof(ns)) != sizeof(ns) || read(faults, &n, sizeof(n)) != sizeof(n))
		return 1;
	printf("task-clock %" PRIu64 " ns, page-faults %" PRIu64 ", cycles: %s\n", ns, n, cycles >= 0 ? "open" : strerror(err));
	return ns > 0 && n >= PAGES ? 0 : 1;
}
