/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "sysroot.h"
#include "topology.h"

#define CPU_DIR		"/sys/devices/system/cpu/cpu%d"
#define CACHE_INDEX_MAX	16	/* cache/indexN of one CPU; machines have 3 to 5 */
#define NODE_DIR	"/sys/devices/system/node"
#define AFFINITY_MAX	65536u	/* CPUs; the kernel's largest NR_CPUS is 8192 */

static bool place_ids(struct topology_cpu *c, const char *root)
{
	if (sysroot_int(root, &c->package, NULL, CPU_DIR "/topology/physical_package_id", c->cpu) != 0 ||
	    c->package < 0)
		c->package = -1;	/* arm and riscv kernels write -1 for "not known" */
	return sysroot_int(root, &c->core, NULL, CPU_DIR "/topology/core_id", c->cpu) == 0;
}

/* Keep only the CPUs of @list that are online. */
static void only_online(struct cpulist *list, const struct cpulist *online)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++)
		if (cpulist_has(online, list->cpu[i]))
			list->cpu[n++] = list->cpu[i];
	list->n = n;
}

static void read_siblings(struct topology_cpu *c, const char *root, const struct cpulist *online)
{
	/* The second is the name since Linux 5.3; the first is kept there, and is the only one before. */
	static const char *const file[] = { CPU_DIR "/topology/thread_siblings_list",
					    CPU_DIR "/topology/core_cpus_list" };

	for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		int err = sysroot_cpulist(root, &c->siblings, NULL, file[i], c->cpu);
#pragma GCC diagnostic pop

		if (err)
			continue;
		only_online(&c->siblings, online);
		if (cpulist_has(&c->siblings, c->cpu))
			return;
		cpulist_free(&c->siblings);	/* a list without the CPU itself says nothing about it */
	}
}

/* The smallest online CPU that shares the data or unified cache of the highest level. */
static void read_llc(struct topology_cpu *c, const char *root, const struct cpulist *online)
{
	int best = 0;

	c->llc = -1;
	for (int index = 0; index < CACHE_INDEX_MAX; index++) {
		struct cpulist shared;
		char *type;
		int level;
		bool data;

		if (sysroot_int(root, &level, NULL, CPU_DIR "/cache/index%d/level", c->cpu, index) != 0)
			break;
		type = sysroot_read(root, NULL, NULL, CPU_DIR "/cache/index%d/type", c->cpu, index);
		data = !type || strcmp(type, "Instruction") != 0;
		free(type);
		if (!data || level <= best ||
		    sysroot_cpulist(root, &shared, NULL, CPU_DIR "/cache/index%d/shared_cpu_list", c->cpu, index) != 0)
			continue;
		only_online(&shared, online);
		if (shared.n > 0 && cpulist_has(&shared, c->cpu)) {
			best = level;
			c->llc = shared.cpu[0];
		}
		cpulist_free(&shared);
	}
}

static struct topology_cpu *find_cpu(const struct topology *t, int cpu)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (t->cpu[mid].cpu == cpu)
			return &t->cpu[mid];
		if (t->cpu[mid].cpu < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

const struct topology_cpu *topology_cpu(const struct topology *t, int cpu)
{
	return find_cpu(t, cpu);
}

static void read_nodes(struct topology *t, const char *root)
{
	char **names = sysroot_list(root, NODE_DIR, NULL, NULL);

	for (char **name = names; name && *name; name++) {
		struct cpulist cpus;
		int node;

		if (strncmp(*name, "node", 4) != 0 || util_parse_int(*name + 4, 0, UINT16_MAX, &node) != 0)
			continue;
		if (sysroot_cpulist(root, &cpus, NULL, NODE_DIR "/%s/cpulist", *name) != 0)
			continue;
		for (size_t i = 0; i < cpus.n; i++) {
			struct topology_cpu *c = find_cpu(t, cpus.cpu[i]);

			if (c)
				c->node = node;
		}
		cpulist_free(&cpus);
	}
	sysroot_free_names(names);
}

static void read_core_types(struct topology *t, const char *root)
{
	struct sysroot_core_types types;

	sysroot_core_types(root, &types);
	for (size_t i = 0; i < types.n; i++) {
		for (size_t j = 0; j < types.type[i].cpus.n; j++) {
			struct topology_cpu *c = find_cpu(t, types.type[i].cpus.cpu[j]);

			if (c)
				c->core_type = types.type[i].name;
		}
	}
	sysroot_core_types_free(&types);
}

/*
 * Make `core` the same for the threads of one core and for no others. The sibling lists say it directly; core_id is
 * unique only within a package (and on some machines only within a die or a cluster), so it is the second choice.
 */
static void unify_cores(struct topology *t, const bool *has_id)
{
	int next = 0;
	int *id = util_calloc(t->n ? t->n : 1, sizeof(*id));

	for (size_t i = 0; i < t->n; i++)
		id[i] = -1;
	for (size_t i = 0; i < t->n; i++) {
		const struct topology_cpu *c = &t->cpu[i];

		if (id[i] >= 0)
			continue;
		if (c->siblings.n > 0) {
			for (size_t j = 0; j < c->siblings.n; j++)
				id[find_cpu(t, c->siblings.cpu[j]) - t->cpu] = next;
			next++;
		} else if (has_id[i]) {
			for (size_t j = i; j < t->n; j++)
				if (has_id[j] && t->cpu[j].siblings.n == 0 && t->cpu[j].core == c->core &&
				    t->cpu[j].package == c->package)
					id[j] = next;
			next++;
		}
	}
	for (size_t i = 0; i < t->n; i++)
		t->cpu[i].core = id[i];
	free(id);
}

/* The CPUs that /proc/self/status of a recorded tree allows, or all that were online in it. */
static int recorded_allowed(struct topology *t, const char *root)
{
	char *text = sysroot_read(root, NULL, NULL, "/proc/self/status");
	char *line = text ? strstr(text, "Cpus_allowed_list:") : NULL;
	int err = -ENOENT;

	if (line) {
		line += strlen("Cpus_allowed_list:");
		line += strspn(line, " \t");
		line[strcspn(line, "\n")] = '\0';
		err = cpulist_parse(line, &t->allowed, NULL);
	}
	free(text);
	if (err)
		for (size_t i = 0; i < t->online.n; i++)
			cpulist_add(&t->allowed, t->online.cpu[i]);
	return 0;
}

int topology_read_lists(struct topology *t, const char *sysroot, struct reason *why)
{
	int err;

	*t = (struct topology){ 0 };
	err = sysroot_online(sysroot, &t->online, why);
	if (!*sysroot) {
		int allowed_err = topology_allowed(&t->allowed, err ? NULL : why);

		if (allowed_err) {
			topology_free(t);
			return err ? err : allowed_err;
		}
		if (err) {	/* neither /sys nor /proc: what may be used is online */
			for (size_t i = 0; i < t->allowed.n; i++)
				cpulist_add(&t->online, t->allowed.cpu[i]);
			err = 0;
		}
	} else if (!err) {
		err = recorded_allowed(t, sysroot);
	}
	if (err) {
		topology_free(t);
		return err;
	}
	/* The affinity mask may still name CPUs that have gone offline. */
	only_online(&t->allowed, &t->online);
	return 0;
}

int topology_read(struct topology *t, const char *sysroot, struct reason *why)
{
	bool *has_id;
	int err = topology_read_lists(t, sysroot, why);

	if (err)
		return err;
	t->n = t->online.n;
	t->cpu = util_calloc(t->n, sizeof(*t->cpu));
	has_id = util_calloc(t->n, sizeof(*has_id));
	for (size_t i = 0; i < t->n; i++) {
		struct topology_cpu *c = &t->cpu[i];

		*c = (struct topology_cpu){
			.cpu = t->online.cpu[i], .core = -1, .package = -1, .llc = -1, .node = -1, .capacity = -1
		};
		has_id[i] = place_ids(c, sysroot);
		read_siblings(c, sysroot, &t->online);
		read_llc(c, sysroot, &t->online);
		if (sysroot_int(sysroot, &c->capacity, NULL, CPU_DIR "/cpu_capacity", c->cpu) != 0)
			c->capacity = -1;
	}
	unify_cores(t, has_id);
	free(has_id);
	read_nodes(t, sysroot);
	read_core_types(t, sysroot);
	return 0;
}

void topology_free(struct topology *t)
{
	for (size_t i = 0; i < t->n; i++)
		cpulist_free(&t->cpu[i].siblings);
	free(t->cpu);
	cpulist_free(&t->online);
	cpulist_free(&t->allowed);
	*t = (struct topology){ 0 };
}

/* sched_getaffinity(2) fails with EINVAL while the set is smaller than the kernel's own. */
static cpu_set_t *get_affinity(size_t *size, struct reason *why)
{
	int err = EINVAL;

	for (size_t cpus = 1024; cpus <= AFFINITY_MAX; cpus *= 2) {
		cpu_set_t *set = CPU_ALLOC(cpus);

		*size = CPU_ALLOC_SIZE(cpus);
		if (!set) {
			err = ENOMEM;
			break;
		}
		CPU_ZERO_S(*size, set);
		if (sched_getaffinity(0, *size, set) == 0)
			return set;
		err = errno;
		CPU_FREE(set);
		if (err != EINVAL)
			break;
	}
	reason_set(why, err, "cannot read the CPU affinity of this thread: %s", strerror(err));
	errno = err;
	return NULL;
}

static void list_from_set(struct cpulist *list, const cpu_set_t *set, size_t size)
{
	*list = (struct cpulist){ 0 };
	for (size_t cpu = 0; cpu < size * 8; cpu++)
		if (CPU_ISSET_S(cpu, size, set))
			cpulist_add(list, (int)cpu);
}

/*
 * The affinity that the process had when it first pinned a thread. Threads inherit the pinned mask of the thread that
 * makes them, so one mask for the process is what "as it was at start" means. Kept until exit.
 */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static cpu_set_t *start_set;
static size_t start_size;

static int save_start(struct reason *why)
{
	int err = 0;

	pthread_mutex_lock(&start_lock);
	if (!start_set) {
		start_set = get_affinity(&start_size, why);
		err = start_set ? 0 : -errno;
	}
	pthread_mutex_unlock(&start_lock);
	return err;
}

int topology_allowed(struct cpulist *list, struct reason *why)
{
	bool pinned;

	*list = (struct cpulist){ 0 };
	pthread_mutex_lock(&start_lock);
	pinned = start_set != NULL;
	if (pinned)
		list_from_set(list, start_set, start_size);
	pthread_mutex_unlock(&start_lock);
	if (!pinned) {
		size_t size;
		cpu_set_t *set = get_affinity(&size, why);

		if (!set)
			return -errno;
		list_from_set(list, set, size);
		CPU_FREE(set);
	}
	if (list->n == 0)
		return reason_set(why, ENODATA, "the CPU affinity of this thread is empty");
	return 0;
}

/*
 * "CPUs 4-5 are not online", malloc'ed; "" for an empty list. Long lists are cut so that the sentence keeps its end:
 * none that was typed by hand is that long.
 */
static char *not_usable(const struct cpulist *list, const char *what)
{
	char *cpus = cpulist_format(list), *text;

	if (list->n == 0)
		text = util_strdup("");
	else if (list->n == 1)
		text = util_asprintf("CPU %s is not %s", cpus, what);
	else
		text = util_asprintf("CPUs %.100s are not %s", cpus, what);
	free(cpus);
	return text;
}

int topology_choose(const struct topology *t, const char *s, struct cpulist *list, struct reason *why)
{
	struct cpulist offline = { 0 }, forbidden = { 0 };
	int err = cpulist_parse(s, list, why);

	if (err)
		return err;
	for (size_t i = 0; i < list->n; i++) {
		if (!cpulist_has(&t->online, list->cpu[i]))
			cpulist_add(&offline, list->cpu[i]);
		else if (!cpulist_has(&t->allowed, list->cpu[i]))
			cpulist_add(&forbidden, list->cpu[i]);
	}
	if (offline.n > 0 || forbidden.n > 0) {
		char *off = not_usable(&offline, "online"), *no = not_usable(&forbidden, "allowed to this process");
		char *online = cpulist_format(&t->online), *allowed = cpulist_format(&t->allowed);

		err = reason_set(why, ENXIO, "%s%s%s; online: %.100s; allowed to this process: %.100s", off,
				 offline.n && forbidden.n ? "; " : "", no, online, allowed);
		free(off);
		free(no);
		free(online);
		free(allowed);
		cpulist_free(list);
	}
	cpulist_free(&offline);
	cpulist_free(&forbidden);
	return err;
}

/*
 * What may keep a thread off @cpu after sched_setaffinity(2) said yes is a cpuset: the kernel drops what it does not
 * allow.
 */
static int check_pinned(int cpu, struct reason *why)
{
	struct cpulist list;
	size_t size;
	cpu_set_t *set = get_affinity(&size, why);
	char *text;
	int err = 0;

	if (!set)
		return -errno;
	list_from_set(&list, set, size);
	CPU_FREE(set);
	if (list.n != 1 || list.cpu[0] != cpu) {
		text = cpulist_format(&list);
		err = reason_set(why, EXDEV, "pinning to CPU %d did not hold: the affinity reads back as %.300s", cpu,
				 text);
		free(text);
	}
	cpulist_free(&list);
	return err;
}

int topology_pin(int cpu, struct reason *why)
{
	cpu_set_t *set;
	size_t size;
	int err;

	if (cpu < 0 || cpu >= (int)AFFINITY_MAX)
		return reason_set(why, EINVAL, "cannot pin to CPU %d: not a CPU number", cpu);
	err = save_start(why);
	if (err)
		return err;
	size = CPU_ALLOC_SIZE((size_t)cpu + 1);
	if (size < start_size)
		size = start_size;
	set = CPU_ALLOC(size * 8);
	if (!set)
		return reason_set(why, ENOMEM, "cannot pin to CPU %d: %s", cpu, strerror(ENOMEM));
	CPU_ZERO_S(size, set);
	CPU_SET_S((size_t)cpu, size, set);
	err = sched_setaffinity(0, size, set) == 0 ? 0 : errno;
	CPU_FREE(set);
	if (err == EINVAL)
		return reason_set(why, err, "cannot pin to CPU %d: it is not online, or not in this process's cpuset",
				  cpu);
	if (err)
		return reason_set(why, err, "cannot pin to CPU %d: %s", cpu, strerror(err));
	err = check_pinned(cpu, why);
	if (err)
		topology_unpin();
	return err;
}

int topology_unpin(void)
{
	int err = 0;

	pthread_mutex_lock(&start_lock);
	if (start_set && sched_setaffinity(0, start_size, start_set) != 0)
		err = -errno;
	pthread_mutex_unlock(&start_lock);
	return err;
}

static int group_smt(const struct topology_cpu *c)
{
	return c->core;
}

static int group_llc(const struct topology_cpu *c)
{
	return c->llc;
}

static int group_node(const struct topology_cpu *c)
{
	return c->node;
}

/* Any group: every CPU is in one. */
static int group_all(const struct topology_cpu *c)
{
	(void)c;
	return 0;
}

/*
 * A placement takes CPUs that are in one group of `within`, each in another group of `apart` (NULL: each is its own).
 */
static const struct place {
	const char *name;
	int (*within)(const struct topology_cpu *c);
	int (*apart)(const struct topology_cpu *c);
	const char *unknown, *lacking;
} places[] = {
	{ "smt", group_smt, NULL, "which CPUs share a core is not known", "SMT sibling" },
	{ "core", group_llc, group_smt, "which CPUs share a core or a last-level cache is not known",
	  "second core under the same last-level cache" },
	{ "llc", group_all, group_llc, "which CPUs share a last-level cache is not known", "second last-level cache" },
	{ "numa", group_all, group_node, "which CPUs belong to which NUMA node is not known", "second NUMA node" },
};

/* Collect into @list up to @n CPUs of the group that the CPU @first belongs to; @type: only CPUs of its core type. */
static void collect(const struct topology *t, const struct place *place, const struct topology_cpu *first, bool type,
		    size_t n, struct cpulist *list)
{
	int *seen = util_calloc(n, sizeof(*seen));
	size_t found = 0;

	*list = (struct cpulist){ 0 };
	for (size_t i = 0; i < t->n && found < n; i++) {
		const struct topology_cpu *c = &t->cpu[i];
		int apart = place->apart ? place->apart(c) : c->cpu;
		bool fresh = apart >= 0;

		if (!cpulist_has(&t->allowed, c->cpu) || place->within(c) < 0 ||
		    place->within(c) != place->within(first))
			continue;
		if (type && c->core_type != first->core_type)
			continue;
		for (size_t j = 0; j < found; j++)
			fresh = fresh && seen[j] != apart;
		if (!fresh)
			continue;
		seen[found++] = apart;
		cpulist_add(list, c->cpu);
	}
	free(seen);
}

/* Has an earlier allowed CPU the same group (and type)? Then it has been tried. */
static bool tried(const struct topology *t, const struct place *place, size_t i, bool type)
{
	for (size_t j = 0; j < i; j++)
		if (place->within(&t->cpu[j]) == place->within(&t->cpu[i]) &&
		    (!type || t->cpu[j].core_type == t->cpu[i].core_type) && cpulist_has(&t->allowed, t->cpu[j].cpu))
			return true;
	return false;
}

int topology_place(const struct topology *t, const char *name, size_t n, struct cpulist *list, struct reason *why)
{
	const struct place *place = NULL;
	size_t best = 0;
	bool known = false;

	*list = (struct cpulist){ 0 };
	if (n == 0)
		return reason_set(why, EINVAL, "placement '%s' of 0 CPUs", name);
	if (*name >= '0' && *name <= '9') {
		int err = topology_choose(t, name, list, why);

		if (!err && list->n < n) {
			err = reason_set(why, ENOTSUP, "placement '%.100s' names %zu CPUs; %zu are needed", name,
					 list->n, n);
			cpulist_free(list);
		}
		if (!err)
			list->n = n;
		return err;
	}
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (strcmp(places[i].name, name) == 0)
			place = &places[i];
	if (!place)
		return reason_set(why, EINVAL, "unknown placement '%.100s': use smt, core, llc, numa or a list of CPUs",
				  name);

	/* Of a hybrid CPU, cores of one type first: two of different types would compare the types. */
	for (int type = 1; type >= 0; type--) {
		for (size_t i = 0; i < t->n; i++) {
			if (!cpulist_has(&t->allowed, t->cpu[i].cpu) || tried(t, place, i, type))
				continue;
			known = known ||
				(place->within(&t->cpu[i]) >= 0 && (!place->apart || place->apart(&t->cpu[i]) >= 0));
			collect(t, place, &t->cpu[i], type, n, list);
			if (list->n == n)
				return 0;
			best = list->n > best ? list->n : best;
			cpulist_free(list);
		}
	}
	if (!known)
		return reason_set(why, ENOTSUP, "%s here; give a list of CPUs instead of '%s'", place->unknown, name);
	if (n == 2)
		return reason_set(why, ENOTSUP, "no %s among the allowed CPUs", place->lacking);
	return reason_set(why, ENOTSUP, "placement '%s' for %zu CPUs: the allowed CPUs give %zu at most", name, n,
			  best);
}
