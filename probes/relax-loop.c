/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The loops of hints, barriers, counter reads and calibration chains: everything whose text is in the arch headers and
 * that leaves its operand alone.
 */
#include "loop.h"

#define LOOP_HINT(ident, name, need, effect, setup, body, summary) PROBE_LOOPS(ident, PROBE_UNROLL_HINT, setup, body)
#define LOOP_BARRIER(ident, name, need, effect, setup, body, summary) \
	PROBE_LOOPS(ident, PROBE_UNROLL_BARRIER, setup, body)
#define LOOP_COUNTER(ident, name, need, effect, setup, body, summary) \
	PROBE_LOOPS(ident, PROBE_UNROLL_COUNTER, setup, body)
#define LOOP_CHAIN(ident, name, need, effect, setup, body, summary) PROBE_LOOPS(ident, PROBE_UNROLL_CHAIN, setup, body)

ARCH_HINTS(LOOP_HINT)
ARCH_BARRIERS(LOOP_BARRIER)
ARCH_COUNTERS(LOOP_COUNTER)
ARCH_CHAINS(LOOP_CHAIN)
