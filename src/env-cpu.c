/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPU: /proc/cpuinfo in the forms of all architectures, Arm's ID registers in sysfs, CPUID without cpuinfo. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "env-private.h"
#include "sysroot.h"

#define FIELDS_MAX 96		/* different keys in one cpuinfo; x86 has 28, s390 about 40 */
#define CORES_MAX 16		/* different Arm cores in one machine; 3 or 4 are usual */

struct field {
	char *key, *value;
};

/* One kind of Arm core. */
struct core {
	int implementer, variant, part, revision;
};

struct cpuinfo {
	struct field field[FIELDS_MAX];	/* first occurrence of each key */
	size_t n;
	struct core core[CORES_MAX];
	size_t cores;
	int err;
};

static const char *get(const struct cpuinfo *c, const char *key)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->field[i].key, key) == 0)
			return c->field[i].value;
	return NULL;
}

static int get_int(const struct cpuinfo *c, const char *key)
{
	const char *text = get(c, key);
	int number;

	return text && util_parse_int(text, 0, INT_MAX, &number) == 0 ? number : -1;
}

static void add_core(struct cpuinfo *c, const struct core *core)
{
	for (size_t i = 0; i < c->cores; i++)
		if (memcmp(&c->core[i], core, sizeof(*core)) == 0)
			return;
	if (c->cores < CORES_MAX)
		c->core[c->cores++] = *core;
}

/* "0x41" or "8" (CPU architecture and revision are decimal); -1: not a number */
static int number_of(const char *value)
{
	char *end;
	long n;

	if (!isdigit((unsigned char)*value))
		return -1;
	n = strtol(value, &end, 0);
	return *end || n > INT_MAX ? -1 : (int)n;
}

static void arm_line(struct core *core, const char *key, const char *value)
{
	if (strcmp(key, "CPU implementer") == 0)
		core->implementer = number_of(value);
	else if (strcmp(key, "CPU variant") == 0)
		core->variant = number_of(value);
	else if (strcmp(key, "CPU part") == 0)
		core->part = number_of(value);
	else if (strcmp(key, "CPU revision") == 0)
		core->revision = number_of(value);
}

/* Split "key : value" in place. False: no such line. */
static bool split(char *line, char **key, char **value)
{
	char *colon = strchr(line, ':'), *end;

	if (!colon)
		return false;
	*colon = '\0';
	for (end = colon; end > line && isspace((unsigned char)end[-1]);)
		*--end = '\0';
	*key = line;
	*value = sysroot_clean(colon + 1);
	return **key != '\0';
}

static FILE *open_cpuinfo(const char *root)
{
	char path[PATH_MAX];
	int fd;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/proc/cpuinfo", root) >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

/*
 * x86 describes each CPU in the same words, and a kernel may take milliseconds a CPU to do so: the first block is
 * enough. Other architectures have what matters anywhere in the file.
 */
static void cpuinfo_read(struct cpuinfo *c, const char *root)
{
	static const struct core no_core = { -1, -1, -1, -1 };
	struct core core = no_core;
	FILE *f = open_cpuinfo(root);
	char *line = NULL, *key, *value;
	size_t room = 0;

	*c = (struct cpuinfo){ 0 };
	if (!f) {
		c->err = errno;
		return;
	}
	errno = 0;
	while (getline(&line, &room, f) > 0) {
		if (line[strspn(line, " \t\n")] == '\0' && get(c, "cpu family") && get(c, "vendor_id"))
			break;
		if (!split(line, &key, &value))
			continue;
		if (strcmp(key, "processor") == 0) {
			if (core.part >= 0)
				add_core(c, &core);
			core = no_core;
		}
		arm_line(&core, key, value);
		if (c->n < FIELDS_MAX && !get(c, key))
			c->field[c->n++] = (struct field){ util_strdup(key), util_strdup(value) };
	}
	c->err = ferror(f) ? errno : c->n ? 0 : ENODATA;
	if (core.part >= 0)
		add_core(c, &core);
	free(line);
	fclose(f);
}

static void cpuinfo_free(struct cpuinfo *c)
{
	for (size_t i = 0; i < c->n; i++) {
		free(c->field[i].key);
		free(c->field[i].value);
	}
}

static void read_x86(struct env *e, const struct cpuinfo *c)
{
	const char *vendor = get(c, "vendor_id"), *name = get(c, "model name"), *microcode = get(c, "microcode");

	snprintf(e->vendor, sizeof(e->vendor), "%s", vendor ? vendor : "");
	e->family = get_int(c, "cpu family");
	e->model = get_int(c, "model");
	e->stepping = get_int(c, "stepping");
	if (name && *name)
		env_set(e, ENV_CPU_MODEL, "%s", name);
	else
		env_lack(e, ENV_CPU_MODEL, "/proc/cpuinfo has no \"model name\"");
	if (e->family >= 0 && e->model >= 0)
		env_set(e, ENV_CPU_ID, "%s family %d model %d stepping %d", vendor ? vendor : "unknown vendor",
			e->family, e->model, e->stepping);
	else
		env_lack(e, ENV_CPU_ID, "/proc/cpuinfo has no \"cpu family\" and \"model\" with numbers");
	if (microcode && *microcode)
		env_set(e, ENV_MICROCODE, "%s", microcode);
}

/*
 * What CPUID says. Intel SDM volume 2, CPUID: leaf 1 (extended family and model). False: another architecture, or no
 * such leaf.
 */
static bool ask_cpuid(struct env *e)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned int a, b, c, d;

	if (!__get_cpuid(0, &a, &b, &c, &d))
		return false;
	memcpy(e->vendor, (unsigned int[]){ b, d, c }, 12);
	e->vendor[12] = '\0';
	if (!__get_cpuid(1, &a, &b, &c, &d))
		return false;
	e->stepping = (int)(a & 15);
	e->family = (int)(a >> 8 & 15);
	e->model = (int)(a >> 4 & 15);
	if (e->family >= 6)	/* as Linux does: families 7 to 14 exist outside Intel's document */
		e->model += (int)(a >> 16 & 15) << 4;
	if (e->family == 15)
		e->family += (int)(a >> 20 & 255);
	return true;
#else
	(void)e;
	return false;
#endif
}

/* Without /proc the CPU itself can be asked. Its name: leaves 80000002H to 80000004H. */
static void read_cpuid(struct env *e)
{
	if (!ask_cpuid(e))
		return;
	env_set(e, ENV_CPU_ID, "%s family %d model %d stepping %d", e->vendor, e->family, e->model, e->stepping);
#if defined(__x86_64__) || defined(__i386__)
	unsigned int brand[12];

	for (unsigned int i = 0; i < 3; i++)
		if (!__get_cpuid(0x80000002u + i, &brand[4 * i], &brand[4 * i + 1], &brand[4 * i + 2],
				 &brand[4 * i + 3]))
			return;
	env_set(e, ENV_CPU_MODEL, "%.48s", (const char *)brand);
#endif
}

/*
 * An x86 program that an emulator runs on x86 sees the host's cpuinfo and the emulator's CPUID. Then what cpuinfo says
 * is not of the CPU that this program runs on.
 */
static void check_emulated(struct env *e)
{
	struct env cpu = { .family = -1, .model = -1 };

	if (e->family < 0 || e->model < 0 || !ask_cpuid(&cpu))
		return;
	if (strcmp(e->vendor, cpu.vendor) == 0 && e->family == cpu.family && e->model == cpu.model)
		return;
	e->emulated = true;
	for (enum env_item i = ENV_CPU_MODEL; i <= ENV_CPU_ID; i++)
		env_lack(
			e, i,
			"/proc/cpuinfo says %s %d/%d, CPUID says %s %d/%d (family/model): a user-mode emulator, or the "
			"machine was moved",
			e->vendor, e->family, e->model, cpu.vendor, cpu.family, cpu.model);
	e->family = e->model = e->stepping = -1;
	e->vendor[0] = '\0';
}

static void read_arm(struct env *e, struct cpuinfo *c, const char *root)
{
	char *model = NULL, *id = NULL;

	if (c->cores == 0) {	/* cpuinfo lacks the fields or is not there; the registers may be in sysfs */
		struct cpulist online;
		uint64_t midr;

		if (sysroot_online(root, &online, NULL) == 0) {
			for (size_t i = 0; i < online.n && sysroot_midr(root, online.cpu[i], &midr) == 0; i++)
				add_core(c, &(struct core){ SYSROOT_MIDR_IMPLEMENTER(midr), SYSROOT_MIDR_VARIANT(midr),
							    SYSROOT_MIDR_PART(midr), SYSROOT_MIDR_REVISION(midr) });
			cpulist_free(&online);
		}
	}
	for (size_t i = 0; i < c->cores; i++) {
		const struct core *core = &c->core[i];
		const char *name = sysroot_arm_name(core->implementer, core->part);
		char *old_model = model, *old_id = id;

		if (!name)
			name = "core without a known name";
		/* revisions of one core are different ids but one model */
		if (old_model && strstr(old_model, name))
			model = util_strdup(old_model);
		else
			model = util_asprintf("%s%s%s", old_model ? old_model : "", old_model ? " + " : "", name);
		id = util_asprintf("%s%simplementer 0x%02x part 0x%03x variant 0x%x revision %d", old_id ? old_id : "",
				   old_id ? "; " : "", (unsigned int)core->implementer, (unsigned int)core->part,
				   (unsigned int)core->variant, core->revision);
		free(old_model);
		free(old_id);
	}
	if (c->cores > 0) {
		e->implementer = c->core[0].implementer;
		e->part = c->core[0].part;
		env_set(e, ENV_CPU_MODEL, "%s", model);
		env_set(e, ENV_CPU_ID, "%s", id);
	} else if (get(c, "model name") || get(c, "Processor")) {
		env_set(e, ENV_CPU_MODEL, "%s", get(c, "model name") ? get(c, "model name") : get(c, "Processor"));
	}
	free(model);
	free(id);
	if (!e->value[ENV_CPU_ID])
		env_lack(e, ENV_CPU_ID, "neither /proc/cpuinfo (CPU implementer, CPU part) nor sysfs "
			 "(cpu*/regs/identification/midr_el1) says which core this is");
}

static void read_s390(struct env *e, const struct cpuinfo *c)
{
	const char *processor = NULL, *machine, *version;

	for (size_t i = 0; i < c->n && !processor; i++)
		if (strncmp(c->field[i].key, "processor ", 10) == 0)
			processor = c->field[i].value;
	machine = processor ? strstr(processor, "machine = ") : NULL;
	version = processor ? strstr(processor, "version = ") : NULL;
	if (machine)
		env_set(e, ENV_CPU_MODEL, "%s machine %.4s", get(c, "vendor_id") ? get(c, "vendor_id") : "IBM/S390",
			machine + strlen("machine = "));
	else
		env_lack(e, ENV_CPU_MODEL, "/proc/cpuinfo names no machine type");
	if (version)
		env_set(e, ENV_CPU_ID, "%s", processor);
	else
		env_lack(e, ENV_CPU_ID, "/proc/cpuinfo has no \"processor N: version = \" line");
}

static void read_ppc(struct env *e, const struct cpuinfo *c)
{
	const char *cpu = get(c, "cpu"), *revision = get(c, "revision");
	const char *pvr = revision ? strstr(revision, "pvr ") : NULL;

	if (cpu)
		env_set(e, ENV_CPU_MODEL, "%s", cpu);
	if (pvr)
		e->pvr = (int)(strtoul(pvr + 4, NULL, 16) & 0xffff);
	if (revision)
		env_set(e, ENV_CPU_ID, "revision %s", revision);
	else
		env_lack(e, ENV_CPU_ID, "/proc/cpuinfo has no \"revision\"");
}

/* riscv: three registers and, on newer kernels, the device tree's name of the core. */
static void read_riscv(struct env *e, const struct cpuinfo *c)
{
	const char *uarch = get(c, "uarch"), *isa = get(c, "isa");
	const char *vendor = get(c, "mvendorid"), *arch = get(c, "marchid"), *imp = get(c, "mimpid");

	if (uarch || isa)
		env_set(e, ENV_CPU_MODEL, "%s", uarch ? uarch : isa);
	if (vendor && arch)
		env_set(e, ENV_CPU_ID, "mvendorid %s marchid %s mimpid %s", vendor, arch, imp ? imp : "unknown");
	else
		env_lack(e, ENV_CPU_ID, "/proc/cpuinfo has no mvendorid and marchid (Linux 6.2 and later show them)");
}

/* mips, alpha, sparc, loongarch and what is yet to come: the fields that some of them have. */
static void read_other(struct env *e, const struct cpuinfo *c)
{
	static const char *const model_keys[] = { "cpu model", "model name", "Model Name", "cpu", "cpu type" };
	const char *system = get(c, "system type"), *model = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(model_keys) && !model; i++)
		model = get(c, model_keys[i]);
	if (model) {
		const char *variation = get(c, "cpu variation"), *revision = get(c, "cpu revision");

		env_set(e, ENV_CPU_MODEL, "%s%s%s%s", model, system ? " (" : "", system ? system : "",
			system ? ")" : "");
		env_set(e, ENV_CPU_ID, "%s%s%s%s%s", model, variation ? " variation " : "", variation ? variation : "",
			revision ? " revision " : "", revision ? revision : "");
	}
}

/* cpuinfo of another architecture than this program's: qemu-user and its like pass the host's file through. */
static bool foreign_cpuinfo(const struct env *e, const struct cpuinfo *c)
{
	bool describes_x86 = get(c, "vendor_id") && get(c, "cpu family") && get(c, "flags");
	bool describes_arm = c->cores > 0;

	if (!e->value[ENV_ARCH])
		return false;
	return env_is_x86(e) ? describes_arm : describes_x86;
}

char *env_read_cpu(struct env *e, const char *root)
{
	const char *arch = e->value[ENV_ARCH] ? e->value[ENV_ARCH] : "";
	struct cpuinfo c;
	char *flags;

	cpuinfo_read(&c, root);
	env_lack(e, ENV_CPU_MODEL, "/proc/cpuinfo names no model");
	env_lack(e, ENV_CPU_ID, "/proc/cpuinfo has no identification that is known for this architecture");
	env_lack(e, ENV_MICROCODE, "%s%s has no microcode revision", *arch ? "/proc/cpuinfo of " : "/proc/cpuinfo",
		 arch);

	if (foreign_cpuinfo(e, &c)) {
		e->emulated = true;
		for (enum env_item i = ENV_CPU_MODEL; i <= ENV_CPU_ID; i++)
			env_lack(e, i, "/proc/cpuinfo describes another architecture than %s: a user-mode emulator",
				 arch);
	} else if (c.err && !(env_is_arm(e) && (read_arm(e, &c, root), c.cores > 0))) {
		const char *text = c.err == ENODATA ? "it is empty" : strerror(c.err);

		for (enum env_item i = ENV_CPU_MODEL; i <= ENV_CPU_ID; i++)
			env_lack(e, i, "cannot read /proc/cpuinfo: %s", text);
		if (!*root)
			read_cpuid(e);
	} else if (!c.err) {
		if (get(&c, "cpu family") && get(&c, "vendor_id")) {
			read_x86(e, &c);
			if (!*root)
				check_emulated(e);
		} else if (env_is_arm(e) || c.cores > 0) {
			read_arm(e, &c, root);
		} else if (get(&c, "vendor_id") && strstr(get(&c, "vendor_id"), "S390")) {
			read_s390(e, &c);
		} else if (get(&c, "revision") && strstr(get(&c, "revision"), "pvr ")) {
			read_ppc(e, &c);
		} else if (get(&c, "isa") || get(&c, "uarch")) {
			read_riscv(e, &c);
		} else {
			read_other(e, &c);
		}
	}
	if (!e->value[ENV_MICROCODE]) {
		struct cpulist online;
		char *text = NULL;

		if (sysroot_online(root, &online, NULL) == 0 && online.n > 0)
			text = sysroot_read(root, NULL, NULL, "/sys/devices/system/cpu/cpu%d/microcode/version",
					    online.cpu[0]);
		cpulist_free(&online);
		if (text && *text)
			env_set(e, ENV_MICROCODE, "%s", text);
		free(text);
	}
	flags = get(&c, "flags") ? util_strdup(get(&c, "flags")) : NULL;
	cpuinfo_free(&c);
	return flags;
}
