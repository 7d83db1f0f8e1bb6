/* SPDX-License-Identifier: GPL-2.0-only */
/* Between env.c, env-cpu.c and env-virt.c only. */
#ifndef PERF_RELAX_ENV_PRIVATE_H
#define PERF_RELAX_ENV_PRIVATE_H

#include "env.h"

/* Give item @i its value, cleaned to one line, or the reason why it has none. The later call wins. */
void env_set(struct env *e, enum env_item i, const char *fmt, ...) PRINTF_LIKE(3, 4);
void env_lack(struct env *e, enum env_item i, const char *fmt, ...) PRINTF_LIKE(3, 4);

bool env_is_x86(const struct env *e);
bool env_is_arm(const struct env *e);

/*
 * CPU_MODEL, CPU_ID, MICROCODE and the numbers. ENV_ARCH must be done. Returns the "flags" of /proc/cpuinfo (x86),
 * malloc'ed, or NULL.
 */
char *env_read_cpu(struct env *e, const char *root);

/* HYPERVISOR, CONTAINER and their flags. @flags: what env_read_cpu() returned. */
void env_read_virt(struct env *e, const char *root, const char *flags);

#endif
