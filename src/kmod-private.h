/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to kmod*.c. */
#ifndef PERF_RELAX_KMOD_PRIVATE_H
#define PERF_RELAX_KMOD_PRIVATE_H

#include "kmod.h"

/* finit_module(2), or modprobe for a compressed file that the kernel does not read itself. -EEXIST: it is there already. */
int kmod_load_file(const char *path, const char *params, struct reason *why);

#endif
