/* SPDX-License-Identifier: GPL-2.0-only */
#define S390X_HINTS(X)
#define S390X_ATOMICS(X)
#define S390X_BARRIERS(X)
#define S390X_COUNTERS(X)
#define S390X_CHAINS(X)
