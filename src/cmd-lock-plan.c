/* SPDX-License-Identifier: GPL-2.0-only */
/* What `perf relax lock` measures: locks, hints, where the threads run, arms and metrics. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-lock.h"
#include "disasm.h"
#include "probe.h"

#define LOOPS_MAX 8
#define HEX_SIZE 1024
#define TEXT_SIZE 2048
#define PAIRS_MAX 4096		/* of CPUs in a matrix: at a second each more than an hour */

static int unknown_lock(const char *name)
{
	const char *names[LIST_MAX] = { NULL };
	char hint[256];
	size_t n = 0;

#define X(ident, lock_name, extra, summary) names[n++] = lock_name;
	SPIN_LOCKS(X, )
#undef X
#define X(ident, lock_name, summary) names[n++] = lock_name;
	LIBRARY_LOCKS(X)
#undef X
	msg_error("--lock: '%s' is not a lock%s", name, util_did_you_mean(name, names, hint, sizeof(hint)));
	msg_error("`perf relax list locks` shows all locks");
	return EXIT_USAGE;
}

/* The pair of a lock and a hint; locks of the library have their own. */
static const struct lock_pair *find_pair(const char *lock, const char *hint)
{
	const struct lock_pair *p = lock_pair_find(lock, hint);

	return p ? p : lock_pair_find(lock, "library");
}

static bool is_lock(const char *name)
{
	for (size_t i = 0; lock_pair_at(i); i++)
		if (!strcmp(lock_pair_at(i)->lock, name))
			return true;
	return false;
}

/* Hints named must exist and run here; by default all that do. */
int lock_plan_hints(struct lock_cmd *l)
{
	bool named = l->hints.n > 0;

	for (size_t i = 0; i < l->hints.n; i++) {
		const struct probe *p = probe_find(l->hints.item[i]);
		const char *why = p ? probe_why_absent(p) : NULL, *elsewhere = probe_foreign(l->hints.item[i]);

		if (!p || p->class != PROBE_HINT) {
			msg_error("--hint: '%s' is not a hint%s%s; `perf relax list hints` shows those of this CPU",
				  l->hints.item[i], elsewhere ? " of this architecture but one of " : "",
				  elsewhere ? elsewhere : "");
			return elsewhere ? EXIT_CANNOT : EXIT_USAGE;
		}
		if (why) {
			msg_error("--hint: %s: %s", p->name, why);
			return EXIT_CANNOT;
		}
	}
	for (size_t i = 0; !named && i < probe_count() && l->hints.n < LIST_MAX; i++)
		if (probe_at(i)->class == PROBE_HINT && !probe_why_absent(probe_at(i)))
			l->hints.item[l->hints.n++] = probe_at(i)->name;
	return EXIT_DONE;
}

int lock_plan_locks(struct lock_cmd *l)
{
	if (!l->locks.n)
		l->locks.item[l->locks.n++] = LOCK_DEFAULT_LOCK;
	for (size_t i = 0; i < l->locks.n; i++) {
		if (!is_lock(l->locks.item[i]))
			return unknown_lock(l->locks.item[i]);
		if (!lock_pair_find(l->locks.item[i], l->hints.item[0]) && l->locks.n == 1) {
			msg_error("--lock %s: its wait loop is the C library's, so there are no hints to compare; name "
				  "other locks beside it",
				  l->locks.item[i]);
			return EXIT_USAGE;
		}
	}
	l->locks_are_arms = l->locks.n > 1 && l->hints.n == 1 && l->mode == LOCK_CONTEND;
	if (l->locks.n > 1 && !l->locks_are_arms)
		for (size_t i = 0; i < l->locks.n; i++)
			if (!lock_pair_find(l->locks.item[i], l->hints.item[0])) {
				msg_error("--lock %s: its wait loop is the C library's: compare it with other locks, "
					  "with one --hint",
					  l->locks.item[i]);
				return EXIT_USAGE;
			}
	return EXIT_DONE;
}

/* "100" iterations or "100ns". */
static int parse_work(const char *option, const char *arg, uint64_t *iters)
{
	size_t n = arg ? strlen(arg) : 0;
	char *number;
	uint64_t x = 0;
	int err;

	*iters = 0;
	if (!arg)
		return EXIT_DONE;
	if (n > 2 && !strcmp(arg + n - 2, "ns")) {
		number = util_strdup(arg);
		number[n - 2] = '\0';
		err = util_opt_u64(option, number, 0, 1000000000, &x);
		free(number);
		*iters = err ? 0 : lock_run_idle_iters((double)x);
		if (!err && x && !*iters)
			*iters = 1;
	} else {
		err = util_opt_u64(option, arg, 0, 1000000000, iters);
	}
	return err ? EXIT_USAGE : EXIT_DONE;
}

/* A real-time thread that spins gives its CPU to nobody. */
static int check_fifo(const struct lock_cmd *l, uint64_t threads)
{
	if (!l->fifo || threads < l->session.cpus.n)
		return EXIT_DONE;
	msg_error("--fifo with %llu thread%s would take every one of the %zu CPU%s from all else on this machine; use "
		  "fewer threads or more CPUs",
		  (unsigned long long)threads, threads == 1 ? "" : "s", l->session.cpus.n,
		  l->session.cpus.n == 1 ? "" : "s");
	return EXIT_CANNOT;
}

/* The machine, of which only the CPUs of -C may be used. */
static struct topology usable(const struct lock_cmd *l)
{
	struct topology t = l->session.topology;

	t.allowed = l->session.cpus;
	return t;
}

/*
 * The last CPUs, as interrupts gather on the first ones; of a hybrid machine those of the first CPU's type before
 * others.
 */
static void place_anywhere(const struct lock_cmd *l, uint64_t threads, struct cpulist *cpus)
{
	const struct cpulist *all = &l->session.cpus;
	const char *type = session_core_type(&l->session, all->cpu[0]);

	for (int same = 1; same >= 0; same--)
		for (size_t i = all->n; i-- > 0 && cpus->n < threads;)
			if ((session_core_type(&l->session, all->cpu[i]) == type) == same)
				cpulist_add(cpus, all->cpu[i]);
}

static int place_threads(struct lock_cmd *l, const char *place, uint64_t threads, struct lock_condition *c)
{
	struct topology t = usable(l);
	struct reason why = { 0 };
	int err;

	c->cpus = (struct cpulist){ 0 };
	if (!strcmp(place, "any")) {
		place_anywhere(l, threads, &c->cpus);
		return EXIT_DONE;
	}
	/* A list is taken as it is: fewer CPUs than threads is oversubscribed, more stay unused. */
	if (*place >= '0' && *place <= '9')
		err = topology_choose(&t, place, &c->cpus, &why);
	else
		err = topology_place(&t, place, threads, &c->cpus, &why);
	if (!err)
		return EXIT_DONE;
	msg_error("--place %s with %llu thread%s: %s", place, (unsigned long long)threads, threads == 1 ? "" : "s",
		  why.text);
	return err == -EINVAL ? EXIT_USAGE : EXIT_CANNOT;
}

static void set_number(struct lock_cmd *l, const struct condition *c, const char *key, const char *format,
		       double number)
{
	char text[64];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(text, sizeof(text), format, number);
#pragma GCC diagnostic pop
	result_condition_set(l->result, c->index, key, text);
}

static struct condition *add_condition(struct lock_cmd *l, const char *lock, unsigned int threads)
{
	struct condition *c;

	l->condition = util_realloc(l->condition, l->ncondition + 1, sizeof(*l->condition));
	c = &l->condition[l->ncondition++];
	*c = (struct condition){ .lock = lock, .run = { .threads = threads, .window_s = l->window_ms / 1e3,
		.fifo = l->fifo,
		.interrupted = experiment_interrupted, .spinner_cpu = -1, .victim_cpu = -1 } };
	l->max_threads = threads > l->max_threads ? threads : l->max_threads;
	return c;
}

/* @name is freed. */
static void describe(struct lock_cmd *l, struct condition *c, char *name)
{
	char *cpus = cpulist_format(&c->run.cpus);

	c->index = result_add_condition(l->result, name);
	free(name);
	if (c->lock)
		result_condition_set(l->result, c->index, "lock", c->lock);
	if (l->locks_are_arms)
		result_condition_set(l->result, c->index, "hint", l->hints.item[0]);
	set_number(l, c, "threads", "%.0f", c->run.threads);
	result_condition_set(l->result, c->index, "cpus", cpus);
	set_number(l, c, "window_ms", "%.1f", c->run.window_s * 1e3);
	if (c->run.fifo)
		result_condition_set(l->result, c->index, "policy", "SCHED_FIFO");
	free(cpus);
}

struct work {
	uint64_t cs_iters, think_iters;
	double cs_ns, think_ns;		/* measured */
};

static void describe_contention(struct lock_cmd *l, struct condition *c, const char *place, const struct work *work)
{
	char text[64];

	describe(l, c,
		 util_asprintf("%s%sthreads=%u place=%s", c->lock ? c->lock : "", c->lock ? " " : "", c->run.threads,
			       place));
	result_condition_set(l->result, c->index, "place", place);
	if (c->run.cpus.n == 2)
		result_condition_set(l->result, c->index, "relation",
				     lock_relation(&l->session.topology, c->run.cpus.cpu[0], c->run.cpus.cpu[1]));
	set_number(l, c, "cs_iters", "%.0f", (double)work->cs_iters);
	set_number(l, c, "cs_measured_ns", "%.1f", work->cs_ns);
	set_number(l, c, "think_iters", "%.0f", (double)work->think_iters);
	set_number(l, c, "think_measured_ns", "%.1f", work->think_ns);
	set_number(l, c, "cs_lines", "%.0f", c->run.cs_lines);
	if (c->run.threads > c->run.cpus.n) {
		snprintf(text, sizeof(text), "%u threads on %zu CPU%s", c->run.threads, c->run.cpus.n,
			 c->run.cpus.n == 1 ? "" : "s");
		result_condition_set(l->result, c->index, "oversubscribed", text);
		result_warn(l->result, WARN_OVERSUBSCRIBED, text);
	}
}

static int plan_contention(struct lock_cmd *l, const char *lock, const struct work *work)
{
	uint64_t threads;
	int status = EXIT_DONE;

	for (size_t t = 0; t < l->threads.n && !status; t++) {
		if (util_opt_u64("-t", l->threads.item[t], 1, LOCK_CMD_THREADS_MAX, &threads))
			return EXIT_USAGE;
		status = check_fifo(l, threads);
		for (size_t p = 0; p < l->places.n && !status; p++) {
			struct condition *c = add_condition(l, lock, (unsigned int)threads);

			c->run.cs_iters = work->cs_iters;
			c->run.think_iters = work->think_iters;
			c->run.cs_lines = (unsigned int)l->cs_lines;
			status = place_threads(l, l->places.item[p], threads, &c->run);
			if (!status)
				describe_contention(l, c, l->places.item[p], work);
		}
	}
	return status;
}

/*
 * The victim's CPU and the spinner's: threads of one core, or where --victim-cpu says, the spinner then on the last
 * other one.
 */
static int place_victim(struct lock_cmd *l, struct lock_condition *c)
{
	struct topology t = usable(l);
	struct reason why = { 0 };
	char number[16];
	int err;

	if (!l->victim_cpu_given) {
		err = topology_place(&t, "smt", 2, &c->cpus, &why);
		if (err) {
			msg_error("--victim: not supported: %s; --victim-cpu places the victim on any CPU", why.text);
			return EXIT_CANNOT;
		}
		c->spinner_cpu = c->cpus.cpu[0];
		c->victim_cpu = c->cpus.cpu[1];
		return EXIT_DONE;
	}
	snprintf(number, sizeof(number), "%u", (unsigned int)l->victim_cpu);
	err = topology_choose(&t, number, &c->cpus, &why);
	if (err) {
		msg_error("--victim-cpu %s: %s", number, why.text);
		return EXIT_CANNOT;
	}
	c->victim_cpu = (int)l->victim_cpu;
	for (size_t i = 0; i < t.allowed.n; i++)
		if (t.allowed.cpu[i] != c->victim_cpu)
			c->spinner_cpu = t.allowed.cpu[i];
	if (c->spinner_cpu < 0) {
		msg_error("--victim: needs a second CPU for the spinner, and only CPU %s may be used", number);
		return EXIT_CANNOT;
	}
	cpulist_add(&c->cpus, c->spinner_cpu);
	return EXIT_DONE;
}

static int plan_victim(struct lock_cmd *l, const char *lock)
{
	struct condition *c = add_condition(l, lock, 2);
	const char *relation;
	int status = check_fifo(l, 2);

	if (!status)
		status = place_victim(l, &c->run);
	if (status)
		return status;
	relation = lock_relation(&l->session.topology, c->run.spinner_cpu, c->run.victim_cpu);
	describe(l, c,
		 util_asprintf("%s spinner=%d victim=%d (%s)", lock, c->run.spinner_cpu, c->run.victim_cpu, relation));
	set_number(l, c, "spinner_cpu", "%.0f", c->run.spinner_cpu);
	set_number(l, c, "victim_cpu", "%.0f", c->run.victim_cpu);
	result_condition_set(l->result, c->index, "relation", relation);
	set_number(l, c, "memory_bytes", "%.0f", LOCK_VICTIM_BYTES);
	return EXIT_DONE;
}

static int plan_matrix(struct lock_cmd *l)
{
	const struct cpulist *cpus = &l->session.cpus;
	int status = check_fifo(l, 2);

	if (status)
		return status;
	if (cpus->n < 2) {
		msg_error("--matrix: needs two CPUs, and only CPU %d may be used", cpus->cpu[0]);
		return EXIT_CANNOT;
	}
	if (cpus->n * (cpus->n - 1) / 2 > PAIRS_MAX) {
		msg_error("--matrix: %zu CPUs make %zu pairs, more than %d; choose CPUs with -C", cpus->n,
			  cpus->n * (cpus->n - 1) / 2, PAIRS_MAX);
		return EXIT_USAGE;
	}
	for (size_t i = 0; i < cpus->n; i++)
		for (size_t j = i + 1; j < cpus->n; j++) {
			struct condition *c = add_condition(l, NULL, 2);
			const char *relation = lock_relation(&l->session.topology, cpus->cpu[i], cpus->cpu[j]);

			cpulist_add(&c->run.cpus, cpus->cpu[i]);
			cpulist_add(&c->run.cpus, cpus->cpu[j]);
			describe(l, c, util_asprintf("cpus=%d,%d (%s)", cpus->cpu[i], cpus->cpu[j], relation));
			result_condition_set(l->result, c->index, "relation", relation);
		}
	return EXIT_DONE;
}

int lock_plan_conditions(struct lock_cmd *l)
{
	struct work work = { 0 };
	int status;

	if (l->mode == LOCK_MATRIX)
		return plan_matrix(l);
	status = parse_work("--cs", l->cs, &work.cs_iters);
	if (!status)
		status = parse_work("--think", l->think, &work.think_iters);
	if (status)
		return status;
	work.cs_ns = work.cs_iters ? lock_run_idle_ns(work.cs_iters) : 0;
	work.think_ns = work.think_iters ? lock_run_idle_ns(work.think_iters) : 0;
	for (size_t i = 0; i < (l->locks_are_arms ? 1 : l->locks.n) && !status; i++)
		status = l->mode == LOCK_VICTIM
				 ? plan_victim(l, l->locks.item[i])
				 : plan_contention(l, l->locks_are_arms ? NULL : l->locks.item[i], &work);
	return status;
}

static const struct list *arm_names(const struct lock_cmd *l)
{
	return l->locks_are_arms ? &l->locks : &l->hints;
}

const struct lock_pair *lock_plan_pair(const struct lock_cmd *l, const struct condition *c, size_t arm)
{
	const struct list *names = arm_names(l);
	const char *name = names->item[arm < names->n ? arm : 0];	/* past them: the reference once more */

	if (l->mode == LOCK_MATRIX)
		return lock_handoff_find(name);
	return l->locks_are_arms ? find_pair(name, l->hints.item[0]) : find_pair(c->lock, name);
}

/*
 * The wait loops' own bytes, as they stand in the text of run(): around each place of the hint the innermost loop, each
 * loop once. False: none was found.
 */
static bool wait_loops(const struct lock_pair *p, char hex[HEX_SIZE], char text[TEXT_SIZE])
{
	const unsigned char *seen[LOOPS_MAX], *begin, *end;
	struct lock_site site[LOOPS_MAX];
	size_t nsites = lock_pair_sites(p, site, LOOPS_MAX), n = 0;

	hex[0] = text[0] = '\0';
	for (size_t i = 0; i < nsites; i++) {
		bool again = false;
		size_t h = strlen(hex), t = strlen(text);

		if (disasm_loop_around((const unsigned char *)(uintptr_t)p->run, site[i].begin, site[i].end, &begin,
				       &end))
			continue;
		for (size_t j = 0; j < n; j++)
			again = again || seen[j] == begin;
		if (again)
			continue;
		seen[n++] = begin;
		if (h && h + 4 < HEX_SIZE && t + 4 < TEXT_SIZE) {
			strcpy(hex + h, " | ");
			strcpy(text + t, " | ");
			h += 3;
			t += 3;
		}
		disasm_bytes_hex(begin, (size_t)(end - begin), hex + h, HEX_SIZE - h);
		disasm_text(begin, (size_t)(end - begin), text + t, TEXT_SIZE - t);
	}
	return n > 0;
}

/*
 * An arm is shown by its wait loop; when several locks have one each, by the bytes of the hint that is in all of them.
 * Either way each condition records its loops.
 */
static void add_arm(struct lock_cmd *l, const char *name, size_t arm)
{
	const struct lock_pair *p = lock_plan_pair(l, &l->condition[0], arm);
	bool one_lock = l->locks_are_arms || l->mode == LOCK_MATRIX || l->locks.n == 1;
	char hex[HEX_SIZE], text[TEXT_SIZE];
	struct lock_site site;
	bool found = one_lock ? wait_loops(p, hex, text) : lock_pair_sites(p, &site, 1) == 1;

	if (found && !one_lock) {
		disasm_bytes_hex(site.begin, (size_t)(site.end - site.begin), hex, sizeof(hex));
		disasm_text(site.begin, (size_t)(site.end - site.begin), text, sizeof(text));
	}
	result_add_arm(l->result, name, "lock", found ? hex : NULL,
		       found                         ? text
		       : !strcmp(p->hint, "library") ? "the C library's own"
						     : NULL);
}

static void record_loops(struct lock_cmd *l, const struct condition *c)
{
	char hex[HEX_SIZE], text[TEXT_SIZE], *key, *value;

	for (size_t i = 0; i < arm_names(l)->n; i++) {
		if (!wait_loops(lock_plan_pair(l, c, i), hex, text))
			continue;
		key = util_asprintf("loop.%s", arm_names(l)->item[i]);
		value = util_asprintf("%s (%s)", hex, text);
		result_condition_set(l->result, c->index, key, value);
		free(value);
		free(key);
	}
}

/*
 * Equal bytes of all wait loops, whatever the lock; where no loop can be decoded, equal bytes of the hint in equal
 * loops.
 */
static bool same_loops(const struct lock_cmd *l, size_t a, size_t b)
{
	char hex[2][HEX_SIZE], text[TEXT_SIZE];
	bool decoded = false;

	if (l->locks_are_arms)
		return false;
	for (size_t i = 0; i < l->ncondition; i++) {
		bool x = wait_loops(lock_plan_pair(l, &l->condition[i], a), hex[0], text);
		bool y = wait_loops(lock_plan_pair(l, &l->condition[i], b), hex[1], text);

		if (x != y || (x && strcmp(hex[0], hex[1])))
			return false;
		decoded = decoded || x;
	}
	return decoded || probe_same_bytes(probe_find(arm_names(l)->item[a]), probe_find(arm_names(l)->item[b]));
}

void lock_plan_arms(struct lock_cmd *l)
{
	const struct list *names = arm_names(l);
	bool controlled = false;
	size_t arm;
	char *name;

	for (size_t i = 0; i < l->ncondition; i++)
		record_loops(l, &l->condition[i]);
	for (size_t i = 0; i < names->n; i++) {
		add_arm(l, names->item[i], i);
		for (size_t j = 0; j < i && l->result->arm[i].twin_of < 0; j++)
			if (same_loops(l, j, i))
				l->result->arm[i].twin_of = (int)j;
		controlled = controlled || l->result->arm[i].twin_of == 0;
	}
	if (controlled)
		return;
	/* Rule 6: without a second arm of the reference's bytes, the reference runs twice. */
	name = util_asprintf("%s#2", names->item[0]);
	arm = result_add_arm(l->result, name, "lock", l->result->arm[0].bytes, l->result->arm[0].text);
	l->result->arm[arm].twin_of = 0;
	free(name);
}

void lock_plan_metrics(struct lock_cmd *l)
{
	struct result *r = l->result;
	char name[48];
	size_t metric;

#define X(ident, metric_name, unit, better, show) \
	metric = result_add_metric(r, metric_name, unit, better, false, (show) == LOCK_SHOW_HEADLINE); \
	r->metric[metric].detail = (show) == LOCK_SHOW_DETAIL;
	if (l->mode == LOCK_VICTIM) {
		LOCK_VICTIM_METRICS(X)
	} else if (l->mode == LOCK_MATRIX) {
		LOCK_MATRIX_METRICS(X)
	} else {
		LOCK_METRICS(X)
		l->thread_metric = r->nmetric;
		for (size_t i = 0; i < l->max_threads; i++) {
			snprintf(name, sizeof(name), "acquired.thread%zu", i);
			metric = result_add_metric(r, name, "count", BETTER_NONE, false, false);
			r->metric[metric].detail = true;
		}
	}
#undef X
}
