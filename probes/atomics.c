/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of locked and CPU-local read-modify-writes and of lock and unlock, from the arch headers.
 */
#include "loop.h"

#define LOOP_ATOMIC(ident, name, need, effect, setup, body, summary) PROBE_LOOPS(ident, PROBE_UNROLL_ATOMIC, setup, body)

ARCH_ATOMICS(LOOP_ATOMIC)
