/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the machine is (rule 8), read from /proc and /sys under a root that tests can replace (--sysroot).
 */
#ifndef PERF_RELAX_ENV_H
#define PERF_RELAX_ENV_H

#include "util.h"

/* Everything that is recorded: X(IDENT, "key", "what it is"). Keys are those of the result file. */
#define ENV_ITEMS(X) \
	X(ARCH, "arch", "machine as uname gives it") \
	X(CPU_MODEL, "cpu_model", "model name") \
	X(CPU_ID, "cpu_id", "vendor, family, model, stepping; or implementer, part, revision") \
	X(CORE_TYPE, "core_type", "core types of a hybrid CPU, with their CPUs") \
	X(MICROCODE, "microcode", "microcode revision") \
	X(CPUS, "cpus", "online CPUs") \
	X(CPUS_ALLOWED, "cpus_allowed", "CPUs this process may use") \
	X(SMT, "smt", "simultaneous multithreading: on, off, not implemented") \
	X(HYPERVISOR, "hypervisor", "hypervisor, or none") \
	X(KERNEL, "kernel", "release and version") \
	X(CLOCKSOURCE, "clocksource", "the kernel's current clock source") \
	X(GOVERNOR, "governor", "cpufreq governor and driver") \
	X(TURBO, "turbo", "boost state") \
	X(PARANOID, "perf_event_paranoid", "value of the sysctl as read") \
	X(RDPMC, "rdpmc", "user-space counter reads: sysfs rdpmc or perf_user_access") \
	X(NMI_WATCHDOG, "nmi_watchdog", "uses one counter when on") \
	X(MITIGATIONS, "mitigations", "CPU vulnerabilities' mitigations, short") \
	X(ISOLATED, "isolated", "isolated CPUs") \
	X(TSC_MODE, "tsc_mode", "PR_GET_TSC of this process") \
	X(OS, "os", "PRETTY_NAME of os-release") \
	X(CONTAINER, "container", "container runtime, or none seen")

enum env_item {
#define X(ident, key, what) ENV_##ident,
	ENV_ITEMS(X)
#undef X
	ENV_ITEM_COUNT
};

struct env {
	char *value[ENV_ITEM_COUNT];	/* NULL: why says why not */
	char *why[ENV_ITEM_COUNT];
	/* numbers that decisions need */
	bool hypervisor;
	bool paravirt_irq;		/* Xen PV, PVM: cli and sti are calls */
	bool emulated;			/* by QEMU (TCG, qemu-user): what runs this program is not the CPU described */
	int paranoid;			/* ENV_PARANOID_UNKNOWN: not known */
	char vendor[16];		/* x86: "GenuineIntel", "AuthenticAMD", ...; "" elsewhere */
	int family, model, stepping;	/* x86; -1 elsewhere */
	int implementer, part;		/* arm: of the first CPU (core types tell them apart); -1 elsewhere */
	int pvr;			/* ppc: upper half of the processor version register; -1 elsewhere */
};

#define ENV_PARANOID_UNKNOWN (-100)

/*
 * @sysroot: "" for the running machine; with a sysroot nothing is asked of the running kernel (prctl, uname, CPUID).
 * Never fails: every item has either a value (one line of valid UTF-8) or a reason. Does not depend on the locale.
 * env_free() releases it and may be called twice.
 */
void env_read(struct env *e, const char *sysroot);
void env_free(struct env *e);
const char *env_key(enum env_item i);
const char *env_what(enum env_item i);

#endif
