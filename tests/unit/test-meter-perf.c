// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of the running machine, and the advice for each way in which they can fail. What the machine lacks is
 * skipped by name; with PERF_RELAX_EXACT_COUNTS=SHIFT (an emulated arm64 machine, qemu -icount shift=SHIFT) counts must
 * be exact.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "meter-perf.h"
#include "meter.h"
#include "probe.h"

static struct meter_reading before, after;

static void open_meters(struct meters *m)
{
	struct reason why = { 0, "" };

	if (meters_open(m, &why))
		fail_msg("%s", why.text);
}

static void add(struct meters *m, const char *list)
{
	struct reason why = { 0, "" };

	if (meters_add_events(m, list, false, &why))
		fail_msg("%s: %s", list, why.text);
}

static void start(struct meters *m)
{
	struct reason why = { 0, "" };

	if (meters_start(m, &why))
		fail_msg("%s", why.text);
}

/* Every counter that is not open says why, in a sentence that names it. */
static void assert_all_told(const struct meters *m)
{
	for (size_t i = 0; i < m->ncounter; i++) {
		const struct meter_counter *c = &m->counter[i];

		assert_true(c->supported == !c->why);
		if (!c->supported && (!strstr(c->why, "event '") || c->err <= 0))
			fail_msg("%s: err %d, \"%s\"", c->name, c->err, c->why);
	}
}

static double number(const struct meters *m, size_t i)
{
	struct value v = meters_count(m, &before, &after, i, NULL);

	if (v.why)
		fail_msg("%s: %s", m->counter[i].name, v.why);
	return v.number;
}

static void software_events(void **state)
{
	enum { PAGES = 200, SLEEPS = 5 };
	/* Sanitizers touch pages of their own: the thread sanitizer two of shadow for each page. */
#ifdef __SANITIZE_THREAD__
	enum { PAGES_MOST = 5 * PAGES };
#else
	enum { PAGES_MOST = PAGES + PAGES / 2 };
#endif
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct timespec moment = { 0, 1000000 };
	struct value v;
	struct meters m;
	double share;
	char *memory;

	(void)state;
	open_meters(&m);
	add(&m, "{task-clock,page-faults},context-switches,cpu-migrations,dummy");
	assert_int_equal(m.ncounter, 5);
	assert_all_told(&m);
	if (!m.counter[0].supported) {
		print_message("%s\n", m.counter[0].why);
		meters_close(&m);
		skip();
	}
	assert_int_equal(m.counter[0].group, m.counter[1].group);
	assert_int_not_equal(m.counter[0].group, m.counter[2].group);
	assert_string_equal(m.counter[0].unit, "ns");
	/* Nothing counts yet, a group's members no more than its leader. */
	meters_read_begin(&m, &before);
	assert_true(before.count[0].enabled == METER_COUNT_FAILED && before.count[1].enabled == METER_COUNT_FAILED);
	start(&m);
	memory = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(memory != MAP_FAILED);
	(void)madvise(memory, PAGES * page, MADV_NOHUGEPAGE);
	memset(&before, 1, sizeof(before));	/* their own first touch counts too */
	memset(&after, 1, sizeof(after));
	meters_read_begin(&m, &before);
	for (size_t i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * page] = 1;
	for (int i = 0; i < SLEEPS; i++)
		nanosleep(&moment, NULL);
	meters_read_end(&m, &after);
	munmap(memory, PAGES * page);
	assert_true(number(&m, 0) > 0);
	assert_true(number(&m, 0) <= (double)(after.ns - before.ns));
	assert_in_range((uint64_t)number(&m, 1), PAGES, PAGES_MOST);
	v = meters_count(&m, &before, &after, 2, &share);
	if (m.counter[2].supported) {
		assert_true(!v.why && share == 1);
		assert_true(v.number >= SLEEPS);
	} else {	/* counting user space only, there are no context switches: no number rather than 0 */
		assert_non_null(v.why);
		assert_int_equal(m.counter[2].err, EACCES);
	}
	meters_close(&m);
	assert_int_equal(m.ncounter, 0);
	assert_null(m.perf);
}

static void required_events(void **state)
{
	struct reason why = { 0, "" };
	struct meters m;
	int err;

	(void)state;
	open_meters(&m);
	err = meters_add_events(&m, "no_such_event", true, &why);
	assert_int_equal(err, -EINVAL);
	assert_int_equal(m.ncounter, 0);
	err = meters_add_events(&m, "task-clock,r1ffffffff", true, &why);
	assert_int_equal(m.ncounter, 2);
	if (!err) {
		assert_true(m.counter[0].supported && m.counter[1].supported);
	} else {
		assert_int_not_equal(err, -EINVAL);	/* that means a bad name, which is the user's to mend */
		assert_non_null(strstr(why.text, "event '"));
	}
	meters_close(&m);
}

static void limits(void **state)
{
	struct reason why = { 0, "" };
	struct meters m;

	(void)state;
	open_meters(&m);
	for (int i = 0; i < METER_COUNTERS_MAX; i++)
		add(&m, "dummy");
	assert_int_equal(meters_add_events(&m, "dummy", false, &why), -EINVAL);
	assert_non_null(strstr(why.text, "more than 64 events"));
	assert_int_equal(m.ncounter, METER_COUNTERS_MAX);
	start(&m);
	assert_int_equal(meters_add_events(&m, "dummy", false, &why), m.perf ? -EBUSY : 0);
	meters_close(&m);
}

static void few_descriptors(void **state)
{
	struct rlimit limit, few;
	struct meters m;
	size_t open = 0;

	(void)state;
	open_meters(&m);
	add(&m, "dummy");
	if (!m.counter[0].supported) {
		print_message("%s\n", m.counter[0].why);
		meters_close(&m);
		skip();
	}
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few = limit;
	few.rlim_cur = 16;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	/* A group that does not fit, and then single ones. */
	add(&m, "{dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy,dummy},dummy,dummy");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (size_t i = 0; i < m.ncounter; i++) {
		const struct meter_counter *c = &m.counter[i];

		open += c->supported;
		assert_false(c->ungrouped);
		if (c->supported)
			continue;
		assert_int_equal(c->err, EMFILE);
		assert_non_null(strstr(c->why, "the limit is 16"));
		assert_null(strstr(c->why, "ermission"));
		assert_null(strstr(c->why, "paranoid"));
	}
	assert_true(open > 1 && open < 16);
	start(&m);
	meters_read_begin(&m, &before);
	meters_read_end(&m, &after);
	meters_close(&m);
}

/* No descriptor, map or memory is left behind. */
static void nothing_left(void **state)
{
	struct meters m;
	int first = dup(0), last;

	(void)state;
	assert_true(first >= 0);
	close(first);
	for (int i = 0; i < 3; i++) {
		open_meters(&m);
		add(&m, "{cycles,instructions,task-clock},{page-faults,dummy},r1");
		start(&m);
		meters_close(&m);
	}
	last = dup(0);
	close(last);
	assert_int_equal(first, last);
}

/* A command that is run afterwards is handed none of them. */
static void nothing_handed_on(void **state)
{
	struct meters m;
	char line[64] = "";
	FILE *pipe;

	(void)state;
	open_meters(&m);
	add(&m, "task-clock,{page-faults,dummy},cycles");
	start(&m);
	pipe = popen("ls -l /proc/self/fd | grep -c perf_event", "r");
	assert_non_null(pipe);
	assert_non_null(fgets(line, sizeof(line), pipe));
	pclose(pipe);
	assert_string_equal(line, "0\n");
	meters_close(&m);
}

/* Inherited counters include the threads started later. */
static void *spin_some(void *ctx)
{
	volatile unsigned long *n = ctx;

	while (*n)
		--*n;
	return NULL;
}

static void inherit(void **state)
{
	volatile unsigned long work = 20000000;
	struct meters with, without;
	pthread_t thread;
	double mine, all;

	(void)state;
	open_meters(&with);
	open_meters(&without);
	with.inherit = true;
	add(&with, "task-clock");
	add(&without, "task-clock");
	if (!with.counter[0].supported) {
		meters_close(&with);
		meters_close(&without);
		skip();
	}
	start(&with);
	start(&without);
	meters_read_begin(&with, &before);
	assert_int_equal(pthread_create(&thread, NULL, spin_some, (void *)(uintptr_t)&work), 0);
	pthread_join(thread, NULL);
	meters_read_end(&with, &after);
	all = number(&with, 0);
	before.count[0] = (struct meter_count){ 0, 0, 0 };
	meters_read_end(&without, &after);
	mine = number(&without, 0);
	assert_true(all > mine);	/* 20 M rounds against starting and joining a thread */
	meters_close(&with);
	meters_close(&without);
}

static void counts_from_exec(void **state)
{
	struct meters m;
	int go[2], status;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (!pid) {
		if (read(go[0], &byte, 1) == 1)
			execl("/bin/sh", "sh", "-c", ":", (char *)NULL);
		_exit(127);
	}
	open_meters(&m);
	m.target_tid = pid;
	m.enable_on_exec = true;
	m.inherit = true;
	add(&m, "task-clock");
	start(&m);
	meters_read_begin(&m, &before);
	assert_int_equal(write(go[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	meters_read_end(&m, &after);
	close(go[0]);
	close(go[1]);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	if (m.counter[0].supported) {
		/* Before exec nothing had been enabled, so that reading gave no time: begin from zero. */
		before.count[0] = (struct meter_count){ 0, 0, 0 };
		assert_true(number(&m, 0) > 0);
		assert_false(m.counter[0].user_read);
	} else {
		assert_all_told(&m);
	}
	meters_close(&m);
}

/* Hardware counters */

static bool have_hardware(struct meters *m)
{
	for (size_t i = 0; i < m->ncounter; i++)
		if (!m->counter[i].supported) {
			print_message("%s\n", m->counter[i].why);
			return false;
		}
	return true;
}

static const char *exact_shift(void)
{
	return getenv("PERF_RELAX_EXACT_COUNTS");
}

/* What the longer loop of @p counts more than the shorter one, of counter @i. */
static double longer(struct meters *m, size_t i, const struct probe *p, uint64_t iters)
{
	static char operand[PROBE_CACHE_LINE] __attribute__((aligned(PROBE_CACHE_LINE)));
	double shorter;

	memset(operand, 0, sizeof(operand));
	p->run_short(operand, 1);	/* its page is touched, its code present */
	p->run_long(operand, 1);
	meters_read_begin(m, &before);
	p->run_short(operand, iters);
	meters_read_end(m, &after);
	shorter = number(m, i);
	meters_read_begin(m, &before);
	p->run_long(operand, iters);
	meters_read_end(m, &after);
	return number(m, i) - shorter;
}

/*
 * Twice as many rounds against as many: what happens once in a call (padding before the loop) falls out, and whole
 * operations remain.
 */
static double per_operation(struct meters *m, size_t i, const struct probe *p, uint64_t iters)
{
	return (longer(m, i, p, 2 * iters) - longer(m, i, p, iters)) / (double)(iters * p->unroll);
}

static void instructions_of_probes(void **state)
{
	const char *shift = exact_shift();
	struct meters m;
	size_t seen = 0;

	(void)state;
	open_meters(&m);
	add(&m, "{instructions:u,cycles:u}");
	if (!have_hardware(&m)) {
		meters_close(&m);
		skip();
	}
	assert_false(m.counter[0].ungrouped);
	start(&m);
	for (size_t i = 0; i < probe_count(); i++) {
		const struct probe *p = probe_at(i);
		double instructions, cycles;

		if (probe_why_absent(p) || p->class == PROBE_CALL || !p->text)
			continue;
		instructions = per_operation(&m, 0, p, 100);
		assert_true(isfinite(instructions));
		seen++;
		if (!shift)
			continue;
		cycles = per_operation(&m, 1, p, 100);
		/*
		 * An interrupt makes a restartable sequence begin again; that is seldom, so once in a few times it is
		 * not seen.
		 */
		for (int retry = 0;
		     retry < 5 && !strncmp(p->name, "rseq", 4) && cycles != ldexp(instructions, atoi(shift)); retry++) {
			instructions = per_operation(&m, 0, p, 100);
			cycles = per_operation(&m, 1, p, 100);
		}
		if (instructions != round(instructions) || instructions < 0)
			fail_msg("%s: %.6f instructions an operation", p->name, instructions);
#ifdef __aarch64__	/* every instruction is 4 bytes; a body without branches executes each once */
		if (p->class == PROBE_HINT && instructions * 4 != (double)(p->end - p->begin))
			fail_msg("%s: %.0f instructions in %td bytes", p->name, instructions, p->end - p->begin);
#endif
		if (cycles != ldexp(instructions, atoi(shift)))
			fail_msg("%s: %.6f cycles for %.0f instructions at shift %s", p->name, cycles, instructions,
				 shift);
		print_message("%-14s %.0f instructions, %.0f cycles\n", p->name, instructions, cycles);
	}
	assert_true(seen > 3);
	meters_close(&m);
}

/* Two million rounds and four: the difference is what any counter must agree on. */
static void spin(uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++)
		__asm__ volatile("" : "+r"(i));
}

static void multiplexing(void **state)
{
	static const char *const list =
		"instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,"
		"instructions:u,"
		"instructions:u,instructions:u,instructions:u,instructions:u,instructions:u";
	struct meters m;
	size_t scaled = 0;
	double alone;

	(void)state;
	open_meters(&m);
	add(&m, "instructions:u");
	if (!have_hardware(&m)) {
		meters_close(&m);
		skip();
	}
	start(&m);
	meters_read_begin(&m, &before);
	spin(50000000);
	meters_read_end(&m, &after);
	alone = number(&m, 0);
	meters_close(&m);
	open_meters(&m);
	add(&m, list);
	start(&m);
	meters_read_begin(&m, &before);
	spin(50000000);
	meters_read_end(&m, &after);
	for (size_t i = 0; i < m.ncounter; i++) {
		double share;
		struct value v = meters_count(&m, &before, &after, i, &share);

		if (v.why)
			fail_msg("%s: %s", m.counter[i].name, v.why);
		assert_true(share > 0 && share <= 1);
		scaled += share < 1;
		/* On a real machine other users of the PMU and uneven work make scaled counts differ. */
		if (fabs(v.number / alone - 1) > (exact_shift() ? 0.005 : 0.5))
			fail_msg("counter %zu: %.0f for %.0f at a share of %.3f", i, v.number, alone, share);
	}
	if (exact_shift())
		assert_true(scaled > 0);
	meters_close(&m);
}

static void impossible_group(void **state)
{
	struct meters m;

	(void)state;
	if (!exact_shift())
		skip();		/* only there the number of counters is known: 7 */
	open_meters(&m);
	add(&m,
	    "{instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,instructions:u,"
	    "instructions:u,instructions:u,instructions:u}");
	start(&m);
	meters_read_begin(&m, &before);
	spin(20000000);
	meters_read_end(&m, &after);
	for (size_t i = 0; i < m.ncounter; i++) {
		assert_true(m.counter[i].supported && m.counter[i].ungrouped);
		assert_true(number(&m, i) > 0);
	}
	meters_close(&m);
}

/* Read in user space and by read(2), the same counter tells the same. */
static void user_reads(void **state)
{
	struct meters m, other;
	double user, system;

	(void)state;
	open_meters(&m);
	add(&m, "instructions:u");
	start(&m);
	if (!m.counter[0].supported || !m.counter[0].user_read) {
		print_message("%s\n", m.counter[0].why ? m.counter[0].why : m.counter[0].user_read_why);
		if (exact_shift() && getenv("PERF_RELAX_USER_READS"))
			fail_msg("user-space reads were asked for");
		meters_close(&m);
		skip();
	}
	open_meters(&other);
	other.target_tid = (int)gettid();	/* by number, so that it is read by system call */
	add(&other, "instructions:u");
	start(&other);
	assert_false(other.counter[0].user_read);
	meters_read_begin(&m, &before);
	spin(1000000);
	meters_read_end(&m, &after);
	user = number(&m, 0);
	meters_read_begin(&other, &before);
	spin(1000000);
	meters_read_end(&other, &after);
	system = number(&other, 0);
	/* They differ by the instructions of the reads themselves. */
	assert_true(user >= 1000000 && fabs(user - system) < 5000);
	meters_calibrate(&m);
	meters_calibrate(&other);
	print_message("a read takes %.0f ns in user space, %.0f ns by system call\n", m.read_cost_ns,
		      other.read_cost_ns);
	meters_close(&other);
	meters_close(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(software_events),  cmocka_unit_test(required_events),
		cmocka_unit_test(limits),	    cmocka_unit_test(few_descriptors),
		cmocka_unit_test(nothing_left), cmocka_unit_test(nothing_handed_on),	    cmocka_unit_test(inherit),
		cmocka_unit_test(counts_from_exec),	    cmocka_unit_test(instructions_of_probes),
		cmocka_unit_test(multiplexing),	    cmocka_unit_test(impossible_group),
		cmocka_unit_test(user_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
