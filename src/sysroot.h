/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading /proc and /sys, of the running machine or of a recorded tree (--sysroot): what env.c and topology.c share.
 * Pure apart from the files it is asked for; knows libc and util only.
 */
#ifndef PERF_RELAX_SYSROOT_H
#define PERF_RELAX_SYSROOT_H

#include "util.h"

#define SYSROOT_FILE_MAX (1u << 20)	/* bytes; longer files are an error: none that is read here is */

/*
 * The contents of a file, malloc'ed, with a NUL after the last byte and trailing white space removed; NULL with errno
 * set and @why ("cannot read /sys/...: Permission denied"). @root: "" for the running machine. @length (may be NULL):
 * bytes, for files with NULs in them. Never blocks: a FIFO without a writer reads as empty.
 */
char *sysroot_read(const char *root, size_t *length, struct reason *why, const char *fmt, ...) PRINTF_LIKE(4, 5);

/*
 * A whole decimal number (a sign is allowed) in a file. 0, or -errno with @why; -EINVAL: something else is in it, and
 * @why quotes it.
 */
int sysroot_int(const char *root, int *out, struct reason *why, const char *fmt, ...) PRINTF_LIKE(4, 5);

/* A CPU list ("0,2-5") in a file; an empty file is an empty list. 0, or -errno with @why. The caller frees @list. */
int sysroot_cpulist(const char *root, struct cpulist *list, struct reason *why, const char *fmt, ...) PRINTF_LIKE(4, 5);

bool sysroot_exists(const char *root, const char *path);

/*
 * The names in a directory, sorted, NULL-terminated, without dot files; sysroot_free_names() releases them. NULL with
 * errno and @why.
 */
char **sysroot_list(const char *root, const char *path, size_t *n, struct reason *why);
void sysroot_free_names(char **names);

/*
 * Online CPUs: /sys/devices/system/cpu/online, else the cpuN lines of /proc/stat. 0, or -errno with @why when neither
 * can be read.
 */
int sysroot_online(const char *root, struct cpulist *list, struct reason *why);

/*
 * Make @s one line of valid UTF-8: white space and control characters become one blank each run, ends are trimmed, bad
 * bytes become '?'.
 */
char *sysroot_clean(char *s);

/*
 * The core types of a machine whose CPUs are not all alike: performance monitoring units that serve only some of the
 * CPUs ("cpu_core", "cpu_atom"; "armv8_cortex_a72"), else, without such units, Arm's main ID registers ("Cortex-A72").
 * Empty when all CPUs are alike or nothing tells. The names live until exit.
 */
struct sysroot_core_type {
	const char *name;
	struct cpulist cpus;
};
struct sysroot_core_types {
	struct sysroot_core_type *type;
	size_t n;
};
void sysroot_core_types(const char *root, struct sysroot_core_types *types);
void sysroot_core_types_free(struct sysroot_core_types *types);

/*
 * Arm: implementer and part number of MIDR_EL1 to the core's name. NULL: not in the table. sysroot_arm_core() is the
 * inverse and also takes the name of the core's performance monitoring unit: "armv8_cortex_a72", "apple_firestorm_pmu";
 * 0 or -ENOENT.
 */
const char *sysroot_arm_name(int implementer, int part);
int sysroot_arm_core(const char *name, int *implementer, int *part);

/* MIDR_EL1 of a CPU from sysfs. 0 or -errno. */
int sysroot_midr(const char *root, int cpu, uint64_t *midr);
#define SYSROOT_MIDR_IMPLEMENTER(midr)	((int)((midr) >> 24 & 0xff))
#define SYSROOT_MIDR_VARIANT(midr)	((int)((midr) >> 20 & 0xf))
#define SYSROOT_MIDR_PART(midr)		((int)((midr) >> 4 & 0xfff))
#define SYSROOT_MIDR_REVISION(midr)	((int)((midr) & 0xf))

#endif
