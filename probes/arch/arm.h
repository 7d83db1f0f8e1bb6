/* SPDX-License-Identifier: GPL-2.0-only */
#define ARM_HINTS(X)
#define ARM_ATOMICS(X)
#define ARM_BARRIERS(X)
#define ARM_COUNTERS(X)
#define ARM_CHAINS(X)
