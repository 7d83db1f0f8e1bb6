/* SPDX-License-Identifier: GPL-2.0-only */
#define AARCH64_HINTS(X)
#define AARCH64_ATOMICS(X)
#define AARCH64_BARRIERS(X)
#define AARCH64_COUNTERS(X)
#define AARCH64_CHAINS(X)
