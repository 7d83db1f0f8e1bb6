/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs, placement, choice, pinning: on recorded machines, and on a kernel whose affinity calls this test answers. */
#include <sched.h>
#include <pthread.h>

#include "topology.h"
#include "tree.h"

/*
 * The affinity of the calls below, which replace the C library's: a kernel of `kernel_cpus` CPUs refuses smaller sets,
 * and a cpuset leaves only `cpuset` of what is asked for. kernel_cpus 0: the real kernel.
 */
static size_t kernel_cpus;
static struct cpulist fake_affinity, cpuset;
static int affinity_error;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *set)
{
	(void)pid;
	if (affinity_error) {
		errno = affinity_error;
		return -1;
	}
	if (!kernel_cpus) {
		int err = pthread_getaffinity_np(pthread_self(), size, set);

		errno = err;
		return err ? -1 : 0;
	}
	if (size * 8 < kernel_cpus) {
		errno = EINVAL;
		return -1;
	}
	CPU_ZERO_S(size, set);
	for (size_t i = 0; i < fake_affinity.n; i++)
		CPU_SET_S((size_t)fake_affinity.cpu[i], size, set);
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *set)
{
	(void)pid;
	if (!kernel_cpus) {
		int err = pthread_setaffinity_np(pthread_self(), size, set);

		errno = err;
		return err ? -1 : 0;
	}
	cpulist_free(&fake_affinity);
	for (size_t cpu = 0; cpu < size * 8 && cpu < kernel_cpus; cpu++)
		if (CPU_ISSET_S(cpu, size, set) && cpulist_has(&cpuset, (int)cpu))
			cpulist_add(&fake_affinity, (int)cpu);
	if (fake_affinity.n == 0) {	/* what cpusets do: all of theirs instead */
		for (size_t i = 0; i < cpuset.n; i++)
			cpulist_add(&fake_affinity, cpuset.cpu[i]);
	}
	return 0;
}

static void describe(const struct topology_cpu *c, char *text, size_t size)
{
	char *siblings = cpulist_format(&c->siblings);

	snprintf(text, size, "core %d package %d llc %d node %d capacity %d type %s siblings %s", c->core, c->package,
		 c->llc, c->node, c->capacity, c->core_type ? c->core_type : "-", *siblings ? siblings : "-");
	free(siblings);
}

static void check_places(struct tree_run *t, const struct topology *topology)
{
	static const char *const words[] = { "expect-place", "expect-place-why", "expect-choose", "expect-choose-why" };
	char *key, *value;

	for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
		rewind(t->f);
		while (tree_next(t->f, words[w], t->line, sizeof(t->line), &key, &value)) {
			struct reason why = { 0 };
			struct cpulist list;
			char *blank = strchr(key, ' '), *seen;
			int err;

			if (w < 2) {
				assert_non_null(blank);
				*blank = '\0';
				err = topology_place(topology, key, strtoul(blank + 1, NULL, 10), &list, &why);
			} else {
				err = topology_choose(topology, key, &list, &why);
			}
			seen = cpulist_format(&list);
			if (w % 2 == 0) {
				tree_check(t, !err && strcmp(seen, value) == 0, key, value, err ? why.text : seen);
			} else {
				tree_check(t, err < 0 && err == -why.err && strstr(why.text, value), key, value,
					   err ? why.text : seen);
				assert_int_equal(list.n, 0);
			}
			free(seen);
			cpulist_free(&list);
		}
	}
}

static void test_tree(void **state)
{
	struct tree_run *t = tree_open(*state);
	struct reason why = { 0 };
	struct topology topology;
	char *key, *value, seen[256];
	int err = topology_read(&topology, t->dir, &why);

	while (tree_next(t->f, "expect-topology-fails", t->line, sizeof(t->line), &key, &value)) {
		tree_check(t, err < 0 && strstr(why.text, key), "topology", key, err ? why.text : "no error");
		assert_int_equal(topology.n, 0);
		assert_int_equal(topology.online.n, 0);
	}
	if (t->checks == 0)
		tree_check(t, err == 0, "topology", "read", why.text);
	rewind(t->f);
	while (tree_next(t->f, "expect-cpu", t->line, sizeof(t->line), &key, &value)) {
		const struct topology_cpu *c = topology_cpu(&topology, atoi(key));

		if (c)
			describe(c, seen, sizeof(seen));
		tree_check(t, c && strcmp(seen, value) == 0, key, value, c ? seen : "no such CPU");
	}
	rewind(t->f);
	while (tree_next(t->f, "expect-no-cpu", t->line, sizeof(t->line), &key, &value))
		tree_check(t, !topology_cpu(&topology, atoi(key)), key, "not online", "online");
	check_places(t, &topology);
	/* of every machine: ascending, allowed is part of online, siblings are mutual */
	for (size_t i = 1; i < topology.n; i++)
		assert_true(topology.cpu[i - 1].cpu < topology.cpu[i].cpu);
	for (size_t i = 0; i < topology.allowed.n; i++)
		assert_true(cpulist_has(&topology.online, topology.allowed.cpu[i]));
	for (size_t i = 0; i < topology.n; i++) {
		for (size_t j = 0; j < topology.cpu[i].siblings.n; j++) {
			const struct topology_cpu *c = topology_cpu(&topology, topology.cpu[i].siblings.cpu[j]);

			assert_non_null(c);
			assert_int_equal(c->core, topology.cpu[i].core);
		}
	}
	topology_free(&topology);
	topology_free(&topology);
	tree_close(t);
}

static void test_this_machine(void **state)
{
	struct reason why = { 0 };
	struct topology t;
	cpu_set_t set;

	(void)state;
	assert_int_equal(topology_read(&t, "", &why), 0);
	assert_true(t.n > 0 && t.allowed.n > 0);
	assert_int_equal(pthread_getaffinity_np(pthread_self(), sizeof(set), &set), 0);
	for (size_t i = 0; i < t.n; i++)
		assert_int_equal(cpulist_has(&t.allowed, t.cpu[i].cpu), CPU_ISSET((size_t)t.cpu[i].cpu, &set) != 0);
	topology_free(&t);
}

/* Kernels of more CPUs than a cpu_set_t has (C130): EINVAL until the set is large enough. */
static void test_allowed_grows(void **state)
{
	static const size_t sizes[] = { 1, 1024, 1025, 2048, 8192, 65536 };
	struct reason why = { 0 };
	struct cpulist list;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		kernel_cpus = sizes[i];
		cpulist_free(&fake_affinity);
		cpulist_add(&fake_affinity, (int)sizes[i] - 1);
		assert_int_equal(topology_allowed(&list, &why), 0);
		assert_int_equal(list.n, 1);
		assert_int_equal(list.cpu[0], (int)sizes[i] - 1);
		cpulist_free(&list);
	}
	kernel_cpus = 65537;	/* beyond any kernel: an error and not a loop */
	assert_int_equal(topology_allowed(&list, &why), -EINVAL);
	assert_non_null(strstr(why.text, "cannot read the CPU affinity"));
	assert_int_equal(list.n, 0);
	kernel_cpus = 4;
	affinity_error = EPERM;
	assert_int_equal(topology_allowed(&list, &why), -EPERM);
	assert_int_equal(topology_allowed(&list, NULL), -EPERM);
	affinity_error = 0;
	cpulist_free(&fake_affinity);
	assert_int_equal(topology_allowed(&list, &why), -ENODATA);
	kernel_cpus = 0;
}

/* In a child each, since the mask at the first pin is kept for the process. */
static int in_child(int (*function)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(function());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int pin_and_unpin(void)
{
	struct cpulist before, during, after;
	struct reason why = { 0 };
	cpu_set_t set;
	int cpu;

	if (topology_unpin() != 0)	/* nothing to undo is no error */
		return 1;
	if (topology_allowed(&before, &why) != 0)
		return 2;
	cpu = before.cpu[before.n - 1];
	if (topology_pin(cpu, &why) != 0)
		return 3;
	if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set) != 0 || CPU_COUNT(&set) != 1 ||
	    !CPU_ISSET((size_t)cpu, &set))
		return 4;
	if (sched_getcpu() != cpu)
		return 5;
	/* what may be used is not what this thread is pinned to now */
	if (topology_allowed(&during, &why) != 0 || during.n != before.n)
		return 6;
	if (topology_pin(before.cpu[0], NULL) != 0 || topology_unpin() != 0)
		return 7;
	if (pthread_getaffinity_np(pthread_self(), sizeof(set), &set) != 0 || (size_t)CPU_COUNT(&set) != before.n)
		return 8;
	if (topology_allowed(&after, &why) != 0 || after.n != before.n)
		return 9;
	cpulist_free(&before);
	cpulist_free(&during);
	cpulist_free(&after);
	return 0;
}

static int pin_refused(void)
{
	struct reason why = { 0 };

	if (topology_pin(-1, &why) != -EINVAL || topology_pin(65536, &why) != -EINVAL)
		return 1;
	if (topology_pin(65535, &why) != -EINVAL || !strstr(why.text, "cannot pin to CPU 65535"))
		return 2;
	return topology_pin(65535, NULL) == -EINVAL ? 0 : 3;
}

/* C129: the kernel says yes and pins elsewhere. */
static int pin_does_not_hold(void)
{
	struct reason why = { 0 };

	kernel_cpus = 8;
	for (int cpu = 2; cpu < 4; cpu++) {
		cpulist_add(&cpuset, cpu);
		cpulist_add(&fake_affinity, cpu);
	}
	if (topology_pin(3, &why) != 0 || fake_affinity.n != 1 || topology_unpin() != 0 || fake_affinity.n != 2)
		return 1;
	if (topology_pin(5, &why) != -EXDEV ||
	    !strstr(why.text, "pinning to CPU 5 did not hold: the affinity reads back as 2-3"))
		return 2;
	return fake_affinity.n == 2 ? 0 : 3;
}

static void *pin_thread(void *arg)
{
	struct cpulist list;
	cpu_set_t set;
	intptr_t result = 1;

	(void)arg;
	/* made by a pinned thread: this one has its mask, and still gets the process's back */
	if (topology_allowed(&list, NULL) == 0 && topology_pin(list.cpu[0], NULL) == 0 && topology_unpin() == 0 &&
	    pthread_getaffinity_np(pthread_self(), sizeof(set), &set) == 0 && (size_t)CPU_COUNT(&set) == list.n)
		result = 0;
	cpulist_free(&list);
	return (void *)result;
}

static int pin_in_threads(void)
{
	pthread_t thread[4];
	struct cpulist list;
	void *result;
	int failed = 0;

	if (topology_allowed(&list, NULL) != 0 || topology_pin(list.cpu[0], NULL) != 0)
		return 1;
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		if (pthread_create(&thread[i], NULL, pin_thread, NULL) != 0)
			return 2;
	for (size_t i = 0; i < ARRAY_SIZE(thread); i++)
		failed += pthread_join(thread[i], &result) != 0 || result != NULL;
	cpulist_free(&list);
	return failed ? 3 : 0;
}

static void test_pin(void **state)
{
	(void)state;
	assert_int_equal(in_child(pin_and_unpin), 0);
	assert_int_equal(in_child(pin_refused), 0);
	assert_int_equal(in_child(pin_does_not_hold), 0);
	assert_int_equal(in_child(pin_in_threads), 0);
}

/* Long lists: the sentence keeps both of its ends. */
static void test_long_message(void **state)
{
	struct reason why = { 0 };
	struct topology t = { 0 };
	struct cpulist list;
	char text[8192] = "";
	size_t used = 0;

	(void)state;
	for (int cpu = 0; cpu < 1500; cpu += 2) {
		cpulist_add(&t.online, cpu);
		cpulist_add(&t.allowed, cpu);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", cpu ? "," : "", cpu + 1);
	}
	assert_int_equal(topology_choose(&t, text, &list, &why), -ENXIO);
	assert_non_null(strstr(why.text, "CPUs 1,3,5"));
	assert_non_null(strstr(why.text, "are not online"));
	assert_non_null(strstr(why.text, "allowed to this process: 0,2,4"));
	topology_free(&t);
}

static void test_place_zero(void **state)
{
	struct reason why = { 0 };
	struct topology t = { 0 };
	struct cpulist list;

	(void)state;
	assert_int_equal(topology_place(&t, "smt", 0, &list, &why), -EINVAL);
	assert_int_equal(topology_place(&t, "smt", 1, &list, &why), -ENOTSUP);
	assert_int_equal(topology_place(&t, "", 1, &list, &why), -EINVAL);
	assert_null(topology_cpu(&t, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_machine), cmocka_unit_test(test_allowed_grows), cmocka_unit_test(test_pin),
		cmocka_unit_test(test_long_message), cmocka_unit_test(test_place_zero),
	};

	return tree_run_all("topology", test_tree, tests, ARRAY_SIZE(tests));
}
