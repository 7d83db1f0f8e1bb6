/* SPDX-License-Identifier: GPL-2.0-only */
#define GENERIC_HINTS(X)
#define GENERIC_ATOMICS(X)
#define GENERIC_BARRIERS(X)
#define GENERIC_COUNTERS(X)
#define GENERIC_CHAINS(X)
