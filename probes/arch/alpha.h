/* SPDX-License-Identifier: GPL-2.0-only */
#define ALPHA_HINTS(X)
#define ALPHA_ATOMICS(X)
#define ALPHA_BARRIERS(X)
#define ALPHA_COUNTERS(X)
#define ALPHA_CHAINS(X)
