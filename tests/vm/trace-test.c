// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints with kernel stacks, as `latency` needs them: sched:sched_switch of a thread that sleeps, each sample with
 * a call chain whose addresses are known to /proc/kallsyms. Exit: 0 as promised, 1 not, 2 usage, 3 not allowed (EACCES
 * or EPERM).
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGES 64

static int is_schedule(uint64_t address)
{
	static uint64_t begin[64], end[64];
	static size_t n;
	char line[512], name[256], type;
	unsigned long long a;
	int open = 0;
	FILE *f;

	if (!n) {
		f = fopen("/proc/kallsyms", "re");
		while (f && fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%llx %c %255s", &a, &type, name) != 3)
				continue;
			if (open)
				end[n++] = a;
			open = !strcmp(name, "schedule") || !strcmp(name, "__schedule") ||
			       !strcmp(name, "do_nanosleep");
			if (open && n < 63)
				begin[n] = a;
		}
		if (f)
			fclose(f);
	}
	for (size_t i = 0; i < n; i++)
		if (address >= begin[i] && address < end[i])
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long sleeps = argc > 1 ? strtoul(argv[1], NULL, 10) : 50, seen = 0, with_stack = 0, in_schedule = 0;
	struct perf_event_attr a = { .type = PERF_TYPE_TRACEPOINT,
				     .size = sizeof(a),
				     .sample_period = 1,
				     .sample_type = PERF_SAMPLE_CALLCHAIN,
				     .disabled = 1,
				     .exclude_callchain_user = 1 };
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *page;
	struct timespec moment = { 0, 1000000 };
	char text[32] = "";
	uint64_t head;
	FILE *f;
	int fd;

	f = fopen("/sys/kernel/tracing/events/sched/sched_switch/id", "re");
	if (!f || !fgets(text, sizeof(text), f)) {
		printf("sched_switch: %s\n", strerror(errno));
		return errno == EACCES || errno == EPERM ? 3 : 1;
	}
	fclose(f);
	a.config = strtoull(text, NULL, 10);
	fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0) {
		printf("perf_event_open: %s\n", strerror(errno));
		return errno == EACCES || errno == EPERM ? 3 : 1;
	}
	page = mmap(NULL, (1 + PAGES) * size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED) {
		printf("ring buffer: %s\n", strerror(errno));
		return 1;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (unsigned long i = 0; i < sleeps; i++)
		nanosleep(&moment, NULL);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	for (uint64_t tail = 0; tail < head;) {
		unsigned char *data = (unsigned char *)page + size;
		struct perf_event_header *h = (struct perf_event_header *)(void *)(data + tail % (PAGES * size));
		uint64_t n, ip;
		unsigned long schedule = 0;

		if (!h->size)
			break;
		if (h->type == PERF_RECORD_SAMPLE) {
			seen++;
			n = *(uint64_t *)(void *)(data + (tail + sizeof(*h)) % (PAGES * size));
			with_stack += n > 3; /* a context marker and more than one frame */
			for (uint64_t i = 0; i < n; i++) {
				ip = *(uint64_t *)(void *)(data + (tail + sizeof(*h) + 8 + 8 * i) % (PAGES * size));
				schedule |= (unsigned long)is_schedule(ip);
			}
			in_schedule += schedule;
		}
		tail += h->size;
	}
	printf("%lu sleeps: %lu switches, %lu with a stack, %lu of them through schedule()\n", sleeps, seen, with_stack,
	       in_schedule);
	return seen >= sleeps && with_stack >= sleeps && in_schedule >= sleeps ? 0 : 1;
}
