/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "env-private.h"
#include "sysroot.h"
#include "topology.h"

#define CPU_DIR "/sys/devices/system/cpu"

static const struct {
	const char *key, *what;
} items[ENV_ITEM_COUNT] = {
#define X(ident, key, what) [ENV_##ident] = { key, what },
	ENV_ITEMS(X)
#undef X
};

const char *env_key(enum env_item i)
{
	return items[i].key;
}

const char *env_what(enum env_item i)
{
	return items[i].what;
}

static char *format(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		return util_strdup("(out of memory)");
	return sysroot_clean(text);
}

static void replace(struct env *e, enum env_item i, char *value, char *why)
{
	free(e->value[i]);
	free(e->why[i]);
	e->value[i] = value;
	e->why[i] = why;
}

void env_set(struct env *e, enum env_item i, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = format(fmt, ap);
	va_end(ap);
	if (*text) {
		replace(e, i, text, NULL);
	} else {	/* an empty value would be neither a value nor a reason */
		free(text);
		replace(e, i, NULL, util_asprintf("what should say it is empty"));
	}
}

void env_lack(struct env *e, enum env_item i, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = format(fmt, ap);
	va_end(ap);
	replace(e, i, NULL, text);
}

bool env_is_x86(const struct env *e)
{
	const char *arch = e->value[ENV_ARCH];

	/* A recorded tree without the file that names the architecture: x86 is what has a family. */
	if (!arch)
		return e->family >= 0;
	return strcmp(arch, "x86_64") == 0 || (arch[0] == 'i' && strcmp(arch + 2, "86") == 0);
}

bool env_is_arm(const struct env *e)
{
	const char *arch = e->value[ENV_ARCH];

	return arch ? strncmp(arch, "aarch64", 7) == 0 || strncmp(arch, "arm", 3) == 0 : e->implementer >= 0;
}

/* A one-line file as it is. */
static void from_file(struct env *e, enum env_item i, const char *root, const char *path)
{
	struct reason why;
	char *text = sysroot_read(root, NULL, &why, "%s", path);

	if (!text)
		env_lack(e, i, "%s", why.text);
	else if (!*text)
		env_lack(e, i, "%s is empty", path);
	else
		env_set(e, i, "%s", text);
	free(text);
}

static void read_system(struct env *e, const char *root)
{
	struct utsname u;

	if (!*root) {
		if (uname(&u) == 0) {
			env_set(e, ENV_ARCH, "%s", u.machine);
			env_set(e, ENV_KERNEL, "%s %s", u.release, u.version);
		} else {
			env_lack(e, ENV_ARCH, "uname: %s", strerror(errno));
			env_lack(e, ENV_KERNEL, "uname: %s", strerror(errno));
		}
	} else {
		char *release, *version;
		struct reason why;

		from_file(e, ENV_ARCH, root, "/proc/sys/kernel/arch");
		release = sysroot_read(root, NULL, &why, "/proc/sys/kernel/osrelease");
		version = sysroot_read(root, NULL, NULL, "/proc/sys/kernel/version");
		if (release)
			env_set(e, ENV_KERNEL, "%s %s", release, version ? version : "");
		else
			env_lack(e, ENV_KERNEL, "%s", why.text);
		free(release);
		free(version);
	}
}

static void read_os(struct env *e, const char *root)
{
	static const char *const file[] = { "/etc/os-release", "/usr/lib/os-release" };

	env_lack(e, ENV_OS, "neither /etc/os-release nor /usr/lib/os-release can be read");
	for (size_t i = 0; i < ARRAY_SIZE(file); i++) {
		char *text = sysroot_read(root, NULL, NULL, "%s", file[i]), *line, *save;

		if (text)
			env_lack(e, ENV_OS, "%s has no PRETTY_NAME", file[i]);
		for (line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save)) {
			char *name = line + strlen("PRETTY_NAME="), quote;

			if (strncmp(line, "PRETTY_NAME=", strlen("PRETTY_NAME=")) != 0)
				continue;
			quote = *name == '"' || *name == '\'' ? *name : '\0';
			name += quote != '\0';
			if (quote && strrchr(name, quote))
				*strrchr(name, quote) = '\0';
			env_set(e, ENV_OS, "%s", name);
		}
		free(text);
		if (e->value[ENV_OS])
			return;
	}
}

static void set_list(struct env *e, enum env_item i, const struct cpulist *list)
{
	char *text = cpulist_format(list);

	env_set(e, i, "%s", text);
	free(text);
}

static void read_cpus(struct env *e, const char *root)
{
	struct topology t;
	struct reason why;

	if (topology_read_lists(&t, root, &why) != 0) {
		env_lack(e, ENV_CPUS, "%s", why.text);
		env_lack(e, ENV_CPUS_ALLOWED, "%s", why.text);
		return;
	}
	set_list(e, ENV_CPUS, &t.online);
	if (t.allowed.n > 0)
		set_list(e, ENV_CPUS_ALLOWED, &t.allowed);
	else
		env_lack(e, ENV_CPUS_ALLOWED, "none of the CPUs that this process may use is online");
	topology_free(&t);
}

/* Groups of CPUs with the same text: "performance on 0-3; powersave on 4-7", or the text alone when there is one. */
struct groups {
	struct group {
		char *text;
		struct cpulist cpus;
	} *group;
	size_t n;
};

static void groups_add(struct groups *g, const char *text, int cpu)
{
	size_t i = 0;

	while (i < g->n && strcmp(g->group[i].text, text) != 0)
		i++;
	if (i == g->n) {
		g->group = util_realloc(g->group, g->n + 1, sizeof(*g->group));
		g->group[g->n++] = (struct group){ .text = util_strdup(text) };
	}
	cpulist_add(&g->group[i].cpus, cpu);
}

/* Sets @i when there is any group, and frees all. */
static void groups_set(struct env *e, enum env_item i, struct groups *g)
{
	char *all = NULL;

	for (size_t j = 0; j < g->n; j++) {
		char *cpus = cpulist_format(&g->group[j].cpus), *old = all;

		if (g->n == 1)
			all = util_strdup(g->group[j].text);
		else
			all = util_asprintf("%s%s%s on %s", old ? old : "", old ? "; " : "", g->group[j].text, cpus);
		free(cpus);
		free(old);
		free(g->group[j].text);
		cpulist_free(&g->group[j].cpus);
	}
	if (all)
		env_set(e, i, "%s", all);
	free(all);
	free(g->group);
	*g = (struct groups){ 0 };
}

static void read_core_types(struct env *e, const char *root, const struct cpulist *online)
{
	struct sysroot_core_types types;
	struct groups groups = { 0 };

	sysroot_core_types(root, &types);
	for (size_t i = 0; i < types.n; i++)
		for (size_t j = 0; j < types.type[i].cpus.n; j++)
			groups_add(&groups, types.type[i].name, types.type[i].cpus.cpu[j]);
	sysroot_core_types_free(&types);
	if (groups.n == 0) {
		for (size_t i = 0; i < online->n; i++) {
			char text[40] = "capacity not known";
			int capacity;

			if (sysroot_int(root, &capacity, NULL, CPU_DIR "/cpu%d/cpu_capacity", online->cpu[i]) == 0)
				snprintf(text, sizeof(text), "capacity %d", capacity);
			groups_add(&groups, text, online->cpu[i]);
		}
		if (groups.n == 1) {
			free(groups.group[0].text);
			groups.group[0].text = util_strdup("alike");
		}
	}
	if (sysroot_exists(root, CPU_DIR)) {
		groups_set(e, ENV_CORE_TYPE, &groups);
	} else {
		groups_set(e, ENV_CORE_TYPE, &groups);
		env_lack(e, ENV_CORE_TYPE, CPU_DIR " is not there");
	}
}

static void read_governor(struct env *e, const char *root, const struct cpulist *online)
{
	struct groups groups = { 0 };
	struct reason why = { 0 }, first = { 0 };
	size_t known = 0;

	for (size_t i = 0; i < online->n; i++) {
		char *governor = sysroot_read(root, NULL, &why, CPU_DIR "/cpu%d/cpufreq/scaling_governor",
					      online->cpu[i]);
		char *driver = sysroot_read(root, NULL, NULL, CPU_DIR "/cpu%d/cpufreq/scaling_driver", online->cpu[i]);
		char *text;

		if (!governor && !first.err)
			first = why;
		known += governor != NULL;
		text = governor && driver ? util_asprintf("%s (%s)", governor, driver)
					  : util_strdup(governor ? governor : "not known");
		groups_add(&groups, text, online->cpu[i]);
		free(governor);
		free(driver);
		free(text);
	}
	groups_set(e, ENV_GOVERNOR, &groups);
	if (online->n == 0)
		env_lack(e, ENV_GOVERNOR, "the online CPUs are not known");
	else if (known == 0 && first.err == ENOENT)
		env_lack(e, ENV_GOVERNOR, "no cpufreq: " CPU_DIR "/cpu%d/cpufreq/scaling_governor is not there%s",
			 online->cpu[0], e->hypervisor ? " (in a virtual machine the host sets the clock)" : "");
	else if (known == 0)
		env_lack(e, ENV_GOVERNOR, "%s", first.text);
}

static void read_turbo(struct env *e, const char *root)
{
	struct reason why;
	int value, err = sysroot_int(root, &value, &why, CPU_DIR "/intel_pstate/no_turbo");

	if (!err) {
		env_set(e, ENV_TURBO, "%s", value ? "off (intel_pstate/no_turbo)" : "on (intel_pstate/no_turbo)");
		return;
	}
	if (err == -ENOENT)
		err = sysroot_int(root, &value, &why, CPU_DIR "/cpufreq/boost");
	if (!err)
		env_set(e, ENV_TURBO, "%s", value ? "on (cpufreq/boost)" : "off (cpufreq/boost)");
	else if (err == -ENOENT)
		env_lack(e, ENV_TURBO, "neither intel_pstate/no_turbo nor cpufreq/boost is in " CPU_DIR);
	else
		env_lack(e, ENV_TURBO, "%s", why.text);
}

static void read_smt(struct env *e, const char *root, const struct cpulist *online)
{
	struct reason why;
	int active;
	char *control = sysroot_read(root, NULL, NULL, CPU_DIR "/smt/control");
	int err = sysroot_int(root, &active, &why, CPU_DIR "/smt/active");

	if (control && strcmp(control, "notimplemented") == 0) {
		env_set(e, ENV_SMT, "not implemented");
	} else if (control && strcmp(control, "notsupported") == 0) {
		env_set(e, ENV_SMT, "not supported by this CPU");
	} else if (!err && active) {
		env_set(e, ENV_SMT, "on");
	} else if (!err) {
		env_set(e, ENV_SMT, control ? "off (control: %s)" : "off", control);
	} else {	/* before Linux 4.19 */
		bool known = false, on = false;

		for (size_t i = 0; i < online->n && !on; i++) {
			struct cpulist siblings;

			if (sysroot_cpulist(root, &siblings, NULL, CPU_DIR "/cpu%d/topology/thread_siblings_list",
					    online->cpu[i]) == 0) {
				size_t there = 0;

				for (size_t j = 0; j < siblings.n; j++)
					there += cpulist_has(online, siblings.cpu[j]);
				known = true;
				on = there > 1;
			}
			cpulist_free(&siblings);
		}
		if (known)
			env_set(e, ENV_SMT, on ? "on" : "off or not implemented (no CPU has a sibling)");
		else
			env_lack(e, ENV_SMT, "%s, and no CPU has topology/thread_siblings_list", why.text);
	}
	free(control);
}

static void read_paranoid(struct env *e, const char *root)
{
	struct reason why;
	int value, err = sysroot_int(root, &value, &why, "/proc/sys/kernel/perf_event_paranoid");

	e->paranoid = err ? ENV_PARANOID_UNKNOWN : value;
	if (!err)
		env_set(e, ENV_PARANOID, "%d", value);
	else
		env_lack(e, ENV_PARANOID, "%s%s", why.text,
			 err == -ENOENT ? " (a kernel without perf events, or a sandbox that hides it)" : "");
}

/* x86 has one file for each core unit; arm64 and riscv have a sysctl. */
static void read_rdpmc(struct env *e, const char *root)
{
	static const char *const file[] = { "/sys/bus/event_source/devices/cpu/rdpmc",
					    "/sys/bus/event_source/devices/cpu_core/rdpmc",
					    "/proc/sys/kernel/perf_user_access" };
	static const char *const meaning[] = { "off", "while an event is open", "always" };
	struct reason why = { 0 };
	int value, err = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(file) && err == -ENOENT; i++)
		err = sysroot_int(root, &value, &why, "%s", file[i]);
	if (!err)
		env_set(e, ENV_RDPMC, "%d (%s)", value, meaning[value < 0 || value > 2 ? 2 : value]);
	else if (err != -ENOENT)
		env_lack(e, ENV_RDPMC, "%s", why.text);
	else if (env_is_x86(e))
		env_lack(e, ENV_RDPMC,
			 "no core performance monitoring unit: /sys/bus/event_source/devices/cpu is not there");
	else
		env_lack(e, ENV_RDPMC,
			 "no /proc/sys/kernel/perf_user_access: this kernel lets no program read counters itself");
}

static void read_watchdog(struct env *e, const char *root)
{
	struct reason why;
	int value;

	if (sysroot_int(root, &value, &why, "/proc/sys/kernel/nmi_watchdog") == 0)
		env_set(e, ENV_NMI_WATCHDOG, "%s", value ? "on" : "off");
	else
		env_lack(e, ENV_NMI_WATCHDOG, "%s", why.text);
}

/* Only what is affected, each in its first clause: "meltdown: PTI; spectre_v2: Retpolines". */
static void read_mitigations(struct env *e, const char *root)
{
	struct reason why;
	char *all = NULL, **names = sysroot_list(root, CPU_DIR "/vulnerabilities", NULL, &why);

	if (!names) {
		env_lack(e, ENV_MITIGATIONS, "%s", why.text);
		return;
	}
	for (char **name = names; *name; name++) {
		char *text = sysroot_read(root, NULL, NULL, CPU_DIR "/vulnerabilities/%s", *name), *old = all;
		const char *shown = text ? text : "not readable";

		if (strncmp(shown, "Not affected", 12) == 0) {
			free(text);
			continue;
		}
		if (strncmp(shown, "KVM: ", 5) == 0)	/* itlb_multihit says whom it concerns first */
			shown += 5;
		if (strncmp(shown, "Mitigation: ", 12) == 0)
			shown += 12;
		all = util_asprintf("%s%s%s: %.*s", old ? old : "", old ? "; " : "", *name,
				    (int)strcspn(shown, ";:,\n"), shown);
		free(old);
		free(text);
	}
	env_set(e, ENV_MITIGATIONS, "%s", all ? all : *names ? "not affected by any" : "none listed");
	free(all);
	sysroot_free_names(names);
}

static void read_isolated(struct env *e, const char *root)
{
	struct cpulist isolated, nohz = { 0 };
	struct reason why;
	char *first, *second;

	if (sysroot_cpulist(root, &isolated, &why, CPU_DIR "/isolated") != 0) {
		env_lack(e, ENV_ISOLATED, "%s", why.text);
		return;
	}
	/* The file says "(null)" in kernels without the boot option: no list. */
	if (sysroot_cpulist(root, &nohz, NULL, CPU_DIR "/nohz_full") != 0)
		nohz = (struct cpulist){ 0 };
	first = cpulist_format(&isolated);
	second = cpulist_format(&nohz);
	env_set(e, ENV_ISOLATED, "%s%s%s", isolated.n ? first : "none", nohz.n ? ", nohz_full " : "", second);
	free(first);
	free(second);
	cpulist_free(&isolated);
	cpulist_free(&nohz);
}

static void read_tsc_mode(struct env *e, const char *root)
{
	int mode = 0;

	if (*root)
		env_lack(e, ENV_TSC_MODE, "a property of the running process, not of a recorded tree");
	else if (prctl(PR_GET_TSC, &mode, 0, 0, 0) == 0)
		env_set(e, ENV_TSC_MODE, "%s", mode == PR_TSC_SIGSEGV ? "forbidden (PR_TSC_SIGSEGV)" : "allowed");
	else if (errno == EINVAL && !env_is_x86(e))
		env_lack(e, ENV_TSC_MODE, "PR_GET_TSC is only for x86");
	else
		env_lack(e, ENV_TSC_MODE, "prctl(PR_GET_TSC): %s", strerror(errno));
}

void env_read(struct env *e, const char *sysroot)
{
	struct cpulist online = { 0 };
	char *flags;

	*e = (struct env){ .paranoid = ENV_PARANOID_UNKNOWN, .pvr = -1 };
	e->family = e->model = e->stepping = -1;
	e->implementer = e->part = -1;
	read_system(e, sysroot);
	flags = env_read_cpu(e, sysroot);
	env_read_virt(e, sysroot, flags);
	free(flags);
	if (e->hypervisor && e->value[ENV_MICROCODE]) {
		char *old = util_strdup(e->value[ENV_MICROCODE]);

		env_set(e, ENV_MICROCODE, "%s (as the hypervisor shows it)", old);
		free(old);
	}

	if (sysroot_online(sysroot, &online, NULL) != 0)
		online = (struct cpulist){ 0 };
	read_cpus(e, sysroot);
	read_core_types(e, sysroot, &online);
	read_smt(e, sysroot, &online);
	read_governor(e, sysroot, &online);
	cpulist_free(&online);
	from_file(e, ENV_CLOCKSOURCE, sysroot, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	read_turbo(e, sysroot);
	read_paranoid(e, sysroot);
	read_rdpmc(e, sysroot);
	read_watchdog(e, sysroot);
	read_mitigations(e, sysroot);
	read_isolated(e, sysroot);
	read_tsc_mode(e, sysroot);
	read_os(e, sysroot);
}

void env_free(struct env *e)
{
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++)
		replace(e, i, NULL, NULL);
}
