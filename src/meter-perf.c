// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMU events: opened, grouped, mapped and read with libperf.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "meter-perf.h"

/*
 * A group that shares the PMU gets its turn within a few multiplexing intervals (4 ms each by default,
 * perf_event_mux_interval_ms).
 */
#define TURN_NS		5000000
#define TURNS_MAX_NS	100000000

/* Set in config1 on arm64 it asks for a counter that user space can read (Documentation/arm64/perf.rst). */
#define ARM64_USER_READ 2u

struct counter {
	struct meter_event event;
	struct perf_evsel *evsel;
	const struct perf_event_mmap_page *page;	/* NULL: read(2) */
};

struct group {
	struct perf_evlist *evlist;
	struct perf_evsel *leader;
	size_t members;
};

struct perf {
	struct group *group;
	size_t ngroup;
	bool started;
};

static int no_output(enum libperf_print_level level, const char *format, va_list args)
{
	(void)level;
	(void)format;
	(void)args;
	return 0;
}

static void libperf_start(void)
{
	libperf_init(no_output);	/* also learns the page size, which mapping needs */
}

/* Opening */

static struct counter *counter_of(struct meter_counter *c)
{
	return c->handle;
}

/*
 * May user space read it? Not with the time-stamp counter forbidden: libperf reads that too, to extrapolate the times.
 * Another thread's counter would be that thread's own CPU's.
 */
static bool wants_user_read(const struct meters *m, const struct meter_event *e)
{
	return !m->tsc_forbidden && !m->inherit && !m->enable_on_exec && !m->target_tid && e->cpu < 0 &&
	       e->attr.type != PERF_TYPE_SOFTWARE && e->attr.type != PERF_TYPE_TRACEPOINT &&
	       e->attr.type != PERF_TYPE_BREAKPOINT;
}

static bool arm64_asks_for_user_read(void)
{
#ifdef __aarch64__
	char *path = util_asprintf("%s/proc/sys/kernel/perf_user_access", meter_perf_root());
	uint64_t allowed = 0;
	int err = util_read_u64(path, &allowed);

	free(path);
	return !err && allowed == 1;
#else
	return false;
#endif
}

/* Open @c as prepared; without permission for the kernel's part, without it. Returns 0 or -errno. */
static int open_evsel(struct meters *m, struct meter_counter *c)
{
	struct counter *counter = counter_of(c);
	struct meter_event *e = &counter->event;
	struct perf_event_attr *attr = perf_evsel__attr(counter->evsel);
	struct perf_thread_map *threads = perf_thread_map__new_dummy();
	struct perf_cpu_map *cpus = NULL;
	bool user_read_bit = false;
	char cpu[16];
	int err, refused = 0;

	if (!threads)
		return -ENOMEM;
	perf_thread_map__set_pid(threads, 0, e->cpu >= 0 ? -1 : m->target_tid);
	if (e->cpu >= 0) {
		snprintf(cpu, sizeof(cpu), "%d", e->cpu);
		cpus = perf_cpu_map__new(cpu);
		if (!cpus) {
			perf_thread_map__put(threads);
			return -ENOMEM;
		}
	}
	if (wants_user_read(m, e) && arm64_asks_for_user_read() && !(attr->config1 & ARM64_USER_READ)) {
		attr->config1 |= ARM64_USER_READ;
		user_read_bit = true;
	}
	c->user_only = false;
	for (;;) {
		err = perf_evsel__open(counter->evsel, cpus, threads);
		if (user_read_bit && (err == -EINVAL || err == -EOPNOTSUPP)) {
			attr->config1 &= ~(uint64_t)ARM64_USER_READ;
			user_read_bit = false;
		} else if ((err == -EACCES || err == -EPERM) && !e->levels_given && !e->kernel_only &&
			   !attr->exclude_kernel) {
			attr->exclude_kernel = 1;
			attr->exclude_hv = 1;
			c->user_only = true;
			refused = err;
		} else {
			break;
		}
	}
	/* A PMU that cannot leave the kernel out says EINVAL: permission remains the reason. */
	if (refused && err == -EINVAL)
		err = refused;
	perf_cpu_map__put(cpus);
	perf_thread_map__put(threads);
	return err;
}

static struct perf_evsel *make_evsel(struct meters *m, const struct meter_event *e, bool leader)
{
	struct perf_event_attr attr = e->attr;
	struct perf_evsel *evsel;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	attr.disabled = leader;
	attr.inherit = m->inherit && e->cpu < 0;
	attr.enable_on_exec = leader && m->enable_on_exec && e->cpu < 0;
	evsel = perf_evsel__new(&attr);
	if (!evsel) {
		msg_error("out of memory");
		exit(EXIT_FAILED);
	}
	return evsel;
}

static void close_group(struct meters *m, struct group *g, const size_t *member, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct counter *counter = counter_of(&m->counter[member[i]]);

		if (counter->page)
			perf_evsel__munmap(counter->evsel);
		counter->page = NULL;
		counter->evsel = NULL;
	}
	if (g->evlist)
		perf_evlist__delete(g->evlist);	/* closes and frees its members */
	*g = (struct group){ 0 };
}

static void mark_failed(struct meter_counter *c, int err)
{
	struct reason why;

	meter_perf_advice(-err, c->name, c->cpu, &why);
	free(c->why);
	c->why = util_strdup(why.text);
	c->err = -err;
	c->supported = false;
	c->user_only = false;
}

/* "cycles" -> "cycles:u", "cpu/event=0x3c/" -> "cpu/event=0x3c/u": what was really counted. */
static void mark_open(struct meter_counter *c)
{
	const char *asked = counter_of(c)->event.name;
	size_t n = strlen(asked);

	free(c->name);
	c->name = c->user_only ? util_asprintf("%s%su", asked, n && asked[n - 1] == '/' ? "" : ":") :
				 util_strdup(asked);
	c->supported = true;
}

/* Map before counting begins (on x86 the map is what allows rdpmc). Failing is no error: read(2) remains. */
static void map_counter(struct meters *m, struct meter_counter *c)
{
	struct counter *counter = counter_of(c);
	int err;

	if (!wants_user_read(m, &counter->event)) {
		c->user_read_why = counter->event.attr.type == PERF_TYPE_SOFTWARE ||
						   counter->event.attr.type == PERF_TYPE_TRACEPOINT ?
					   "the kernel counts it in software" :
				   m->tsc_forbidden ? "the time-stamp counter is forbidden" :
						      "it counts more than this thread";
		return;
	}
	err = perf_evsel__mmap(counter->evsel, 0);
	if (err) {
		char text[128], limit[24] = "unreadable";

		(void)util_read_file("/proc/sys/kernel/perf_event_mlock_kb", limit, sizeof(limit));
		snprintf(text, sizeof(text), "its page cannot be mapped (%s; kernel.perf_event_mlock_kb is %s)",
			 strerror(err < 0 ? -err : errno), limit);
		c->user_read_why = util_intern(text);
		return;
	}
	counter->page = perf_evsel__mmap_base(counter->evsel, 0, 0);
	c->user_read_why = "not tried yet";
}

/* Try to open @member[0..n) as one group. Returns 0, or -errno with the culprit in *failed; nothing is open then. */
static int try_group(struct meters *m, const size_t *member, size_t n, struct group *g, size_t *failed)
{
	*g = (struct group){ .evlist = perf_evlist__new(), .members = n };
	if (!g->evlist)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		struct counter *counter = counter_of(&m->counter[member[i]]);

		counter->evsel = make_evsel(m, &counter->event, i == 0);
		perf_evlist__add(g->evlist, counter->evsel);
	}
	g->leader = counter_of(&m->counter[member[0]])->evsel;
	perf_evlist__set_leader(g->evlist);
	for (size_t i = 0; i < n; i++) {
		int err = open_evsel(m, &m->counter[member[i]]);

		if (err) {
			*failed = i;
			close_group(m, g, member, n);
			return err;
		}
	}
	return 0;
}

static void keep_group(struct meters *m, const struct group *g, const size_t *member, size_t n)
{
	struct perf *p = m->perf;

	for (size_t i = 0; i < n; i++) {
		struct meter_counter *c = &m->counter[member[i]];

		c->group = (int)p->ngroup;
		mark_open(c);
		map_counter(m, c);
	}
	p->group = util_realloc(p->group, p->ngroup + 1, sizeof(*p->group));
	p->group[p->ngroup++] = *g;
}

static void open_singly(struct meters *m, const size_t *member, size_t n)
{
	struct group g;
	size_t failed;

	for (size_t i = 0; i < n; i++) {
		int err = try_group(m, &member[i], 1, &g, &failed);

		if (err) {
			mark_failed(&m->counter[member[i]], err);
			continue;
		}
		m->counter[member[i]].ungrouped = n > 1;
		keep_group(m, &g, &member[i], 1);
	}
}

static bool is_resource_error(int err)
{
	return err == -EMFILE || err == -ENFILE || err == -ENOMEM || err == -ENOSPC;
}

/*
 * Open @member[0..n) as a group: what this machine cannot count by itself leaves the group; a group that cannot be
 * although each of its members can is taken apart.
 */
static void open_group(struct meters *m, size_t *member, size_t n)
{
	while (n) {
		struct group g, alone;
		size_t failed = 0, none;
		int err = try_group(m, member, n, &g, &failed), alone_err;

		if (!err) {
			keep_group(m, &g, member, n);
			return;
		}
		alone_err = err;
		if (n > 1 && !is_resource_error(err)) {
			alone_err = try_group(m, &member[failed], 1, &alone, &none);
			if (!alone_err) {
				close_group(m, &alone, &member[failed], 1);
				open_singly(m, member, n);
				return;
			}
		}
		mark_failed(&m->counter[member[failed]], alone_err);
		memmove(&member[failed], &member[failed + 1], (n - failed - 1) * sizeof(*member));
		n--;
	}
}

/* Misses and faults may well be 0; cycles, and what a user has spelt out as a code, may not without a remark. */
static bool is_never_zero(const struct perf_event_attr *attr)
{
	uint32_t generic = (uint32_t)attr->config;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		return generic == PERF_COUNT_HW_CPU_CYCLES || generic == PERF_COUNT_HW_INSTRUCTIONS ||
		       generic == PERF_COUNT_HW_REF_CPU_CYCLES || generic == PERF_COUNT_HW_BUS_CYCLES ||
		       generic == PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	case PERF_TYPE_SOFTWARE:
		return attr->config == PERF_COUNT_SW_TASK_CLOCK || attr->config == PERF_COUNT_SW_CPU_CLOCK;
	case PERF_TYPE_TRACEPOINT:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_BREAKPOINT:
		return false;
	}
	return true;
}

static void add_counters(struct meters *m, struct meter_event_list *list)
{
	bool done[METER_COUNTERS_MAX] = { false };
	size_t member[METER_COUNTERS_MAX], first = m->ncounter;

	for (size_t i = 0; i < list->n; i++) {
		struct meter_counter *c = &m->counter[m->ncounter++];
		struct counter *counter = util_calloc(1, sizeof(*counter));
		struct meter_event *e = &list->event[i];

		memset(c, 0, sizeof(*c));
		counter->event = *e;
		c->handle = counter;
		c->name = util_strdup(e->name);
		c->unit = util_strdup(e->unit);
		c->scale = e->scale;
		c->generic = e->generic;
		c->never_zero = is_never_zero(&e->attr) && e->cpu < 0;
		c->cpu = e->cpu;
		c->core_type = e->core_type;
		c->group = -1;
		if (e->why) {
			c->why = util_strdup(e->why);
			c->err = e->err;
			done[i] = true;
		}
		memset(e, 0, sizeof(*e));	/* its strings are the counter's now */
	}
	for (size_t i = 0; i < list->n; i++) {
		const struct meter_event *e = &counter_of(&m->counter[first + i])->event;
		size_t n = 0;

		if (done[i])
			continue;
		for (size_t j = i; j < list->n; j++) {
			const struct meter_event *other = &counter_of(&m->counter[first + j])->event;

			/* Counters of different core types never run at the same time, so a group is one for each. */
			if (done[j] || other->group != e->group || other->core_type != e->core_type)
				continue;
			done[j] = true;
			member[n++] = first + j;
		}
		open_group(m, member, n);
	}
}

/*
 * libperf opens its descriptors so that they outlive execve(2), and keeps them to itself. A command that is run as a
 * workload must not be handed them, so all of that kind are closed on exec.
 */
static void close_on_exec(void)
{
	DIR *dir = opendir("/proc/self/fd");
	struct dirent *entry;
	char target[64];
	ssize_t n;
	int fd;

	while (dir && (entry = readdir(dir))) {
		if (util_parse_int(entry->d_name, 0, INT_MAX, &fd))
			continue;
		n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);
		if (n <= 0)
			continue;
		target[n] = '\0';
		if (strstr(target, "perf_event"))
			(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	}
	if (dir)
		closedir(dir);
}

int meters_add_events(struct meters *m, const char *text, bool required, struct reason *why)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct meter_event_list list;
	struct perf *p = m->perf;
	size_t first = m->ncounter;
	int err;

	if (p && p->started)
		return reason_set(why, EBUSY, "events cannot be added once counting has started");
	err = meter_events_parse(text, &list, why);
	if (err)
		return err;
	if (m->ncounter + list.n > METER_COUNTERS_MAX) {
		meter_events_free(&list);
		return reason_set(why, EINVAL, "more than %d events", METER_COUNTERS_MAX);
	}
	pthread_once(&once, libperf_start);
	if (!p)
		m->perf = util_calloc(1, sizeof(*p));
	add_counters(m, &list);
	close_on_exec();
	meter_events_free(&list);
	for (size_t i = first; required && i < m->ncounter; i++)
		if (!m->counter[i].supported)
			return reason_set(why, m->counter[i].err == EINVAL ? EOPNOTSUPP : m->counter[i].err, "%s",
					  m->counter[i].why);
	return 0;
}

/* Reading */

/*
 * libperf returns -errno when read(2) gives less than asked for, although errno is then stale: clear it before, and
 * look at what came. A counter that has been enabled has a time, so 0 means that nothing was read; but a page's times
 * may be 0 when the counter has just begun.
 */
static inline void read_counter(const struct counter *c, struct meter_count *out)
{
	struct perf_counts_values v;

	errno = 0;
	if (perf_evsel__read(c->evsel, 0, 0, &v) || (v.ena == 0 && !(c->page && c->page->index))) {
		*out = (struct meter_count){ .enabled = METER_COUNT_FAILED };
		return;
	}
	out->value = v.val;
	out->enabled = v.ena;
	out->running = v.run;
}

void meter_perf_read(struct meters *m, struct meter_count *count)
{
	for (size_t i = 0; i < m->ncounter; i++)
		if (m->counter[i].supported)
			read_counter(m->counter[i].handle, &count[i]);
		else
			count[i] = (struct meter_count){ 0, 0, 0 };
}

static sigjmp_buf read_escape;

static void read_fault(int sig)
{
	siglongjmp(read_escape, sig);
}

/* Hypervisors and a cleared CR4.PCE make rdpmc fault although the page allows it. Returns 0 or the signal's number. */
static int try_read(const struct counter *c)
{
	static const int signals[] = { SIGSEGV, SIGILL, SIGBUS };
	struct sigaction catch = { .sa_handler = read_fault }, old[ARRAY_SIZE(signals)];
	struct meter_count count;
	int sig;

	sigemptyset(&catch.sa_mask);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &catch, &old[i]);
	sig = sigsetjmp(read_escape, 1);
	if (!sig)
		read_counter(c, &count);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old[i], NULL);
	return sig;
}

/* Which counters can really be read from user space? The others lose their page, so that libperf does not try. */
static void settle_user_reads(struct meters *m)
{
	for (size_t i = 0; i < m->ncounter; i++) {
		struct meter_counter *c = &m->counter[i];
		struct counter *counter = counter_of(c);
		const char *why = NULL;
		char text[96];
		int sig;

		if (!c->supported || !counter->page)
			continue;
		if (!counter->page->cap_user_rdpmc)
			why = "the kernel does not allow it (see /sys/bus/event_source/devices/cpu/rdpmc, "
			      "kernel.perf_user_access)";
		else if (!counter->page->index)
			why = "the event was not on a counter when counting began";
		if (!why) {
			sig = try_read(counter);
			if (!sig) {
				c->user_read = true;
				c->user_read_why = NULL;
				continue;
			}
			snprintf(text, sizeof(text), "the instruction gives signal %d although the kernel allows it",
				 sig);
			why = util_intern(text);
		}
		perf_evsel__munmap(counter->evsel);
		counter->page = NULL;
		c->user_read_why = why;
	}
}

/* Starting */

static uint64_t now_ns(void)
{
	struct timespec t = { 0, 0 };

	/* Not clock_gettime() with the time-stamp counter forbidden; the coarse clock never reads it. */
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static int enable_group(const struct meters *m, const struct group *g)
{
	return !g->leader || m->enable_on_exec ? 0 : perf_evsel__enable(g->leader);
}

/* Does any group of several still wait for its first turn? */
static bool group_waits(struct meters *m, size_t index)
{
	struct perf *p = m->perf;

	if (p->group[index].members < 2)
		return false;
	for (size_t i = 0; i < m->ncounter; i++) {
		struct meter_count count;

		if (!m->counter[i].supported || m->counter[i].group != (int)index)
			continue;
		read_counter(counter_of(&m->counter[i]), &count);
		return count.enabled != METER_COUNT_FAILED && count.running == 0 && !counter_of(&m->counter[i])->page;
	}
	return false;
}

static bool any_group_waits(struct meters *m)
{
	const struct perf *p = m->perf;

	for (size_t i = 0; i < p->ngroup; i++)
		if (group_waits(m, i))
			return true;
	return false;
}

/*
 * The kernel accepts some groups that it can never schedule (a watchdog holds a counter): after waiting for its turn,
 * take such a group apart.
 */
static int split_waiting_groups(struct meters *m)
{
	struct perf *p = m->perf;
	size_t groups = p->ngroup, member[METER_COUNTERS_MAX];
	uint64_t start = now_ns(), wait = (uint64_t)TURN_NS * (groups + 2);

	if (wait > TURNS_MAX_NS)
		wait = TURNS_MAX_NS;
	while (any_group_waits(m) && now_ns() - start < wait)
		;
	for (size_t i = 0; i < groups; i++) {
		size_t n = 0, opened = p->ngroup;
		int err;

		if (!group_waits(m, i))
			continue;
		for (size_t j = 0; j < m->ncounter; j++)
			if (m->counter[j].supported && m->counter[j].group == (int)i)
				member[n++] = j;
		close_group(m, &p->group[i], member, n);
		open_singly(m, member, n);
		for (; opened < p->ngroup; opened++) {
			err = enable_group(m, &p->group[opened]);
			if (err)
				return err;
		}
	}
	return 0;
}

int meters_start(struct meters *m, struct reason *why)
{
	struct perf *p = m->perf;
	int err = 0;

	if (!p || p->started)
		return 0;
	p->started = true;
	for (size_t i = 0; i < p->ngroup && !err; i++)
		err = enable_group(m, &p->group[i]);
	if (!err && !m->enable_on_exec && !m->target_tid)
		err = split_waiting_groups(m);
	if (err)
		return reason_set(why, -err, "counting cannot be started: %s", strerror(-err));
	close_on_exec();	/* groups that were taken apart */
	settle_user_reads(m);
	return 0;
}

void meter_perf_close(struct meters *m)
{
	struct perf *p = m->perf;

	for (size_t i = 0; i < m->ncounter; i++) {
		struct meter_counter *c = &m->counter[i];
		struct counter *counter = counter_of(c);

		if (counter->page)
			perf_evsel__munmap(counter->evsel);
		free(counter->event.name);
		free(counter->event.unit);
		free(counter->event.why);
		free(counter);
		free(c->name);
		free(c->unit);
		free(c->why);
	}
	m->ncounter = 0;
	if (!p)
		return;
	for (size_t i = 0; i < p->ngroup; i++)
		if (p->group[i].evlist)
			perf_evlist__delete(p->group[i].evlist);
	free(p->group);
	free(p);
	m->perf = NULL;
}
