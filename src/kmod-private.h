/* SPDX-License-Identifier: GPL-2.0-only */
/* Private to kmod*.c. */
#ifndef PERF_RELAX_KMOD_PRIVATE_H
#define PERF_RELAX_KMOD_PRIVATE_H

#include "kmod.h"

/* finit_module(2); a compressed file (.ko.xz, .gz, .zst) is unpacked by its program where the kernel does not do so
 * itself. -EEXIST: it is there already. */
int kmod_load_file(const char *path, const char *params, struct reason *why);

#endif
