/* SPDX-License-Identifier: GPL-2.0-only */
#define MIPS64_HINTS(X)
#define MIPS64_ATOMICS(X)
#define MIPS64_BARRIERS(X)
#define MIPS64_COUNTERS(X)
#define MIPS64_CHAINS(X)
