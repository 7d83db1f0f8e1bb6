/* SPDX-License-Identifier: GPL-2.0-only */
#define PPC64_HINTS(X)
#define PPC64_ATOMICS(X)
#define PPC64_BARRIERS(X)
#define PPC64_COUNTERS(X)
#define PPC64_CHAINS(X)
