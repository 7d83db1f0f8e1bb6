/* SPDX-License-Identifier: GPL-2.0-only */
#define RISCV64_HINTS(X)
#define RISCV64_ATOMICS(X)
#define RISCV64_BARRIERS(X)
#define RISCV64_COUNTERS(X)
#define RISCV64_CHAINS(X)
