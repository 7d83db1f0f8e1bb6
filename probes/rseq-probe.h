/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Restartable sequences: the user-space heir of the kernel's per-CPU operations. Private to probes/ and its test.
 */
#ifndef PERF_RELAX_RSEQ_PROBE_H
#define PERF_RELAX_RSEQ_PROBE_H

#include <stddef.h>
#include <stdint.h>

#if defined(__has_include)
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#endif

/*
 * Written for these, and tried on their kernels. ppc64 in big-endian order and mips64 could have one too, but it could
 * not be tried; the 32-bit ones have too few registers or another layout of the area; Power code with PC-relative
 * addressing keeps no TOC pointer.
 */
#if !defined(PERF_RELAX_ARCH_GENERIC) && UINTPTR_MAX == UINT64_MAX && \
	(defined(__x86_64__) || defined(__aarch64__) || defined(__s390x__) || \
	 (defined(__powerpc64__) && defined(__LITTLE_ENDIAN__) && !defined(__PCREL__)))
#define PROBE_RSEQ_WRITTEN 1
#endif

#if defined(PROBE_RSEQ_WRITTEN) && defined(RSEQ_SIG)
#define PROBE_HAVE_RSEQ 1
PROBE_DECLARE_TEXT(rseq_add)
PROBE_DECLARE_TEXT(rseq_cmpxchg)
/* What the critical section is, in words as short as assembly: the descriptor's address differs from copy to copy. */
#define PROBE_TEXT_rseq_add "rseq_cs = &descriptor; cpu == rseq.cpu_id or reload; p[cpu] += 1"
#define PROBE_TEXT_rseq_cmpxchg \
	"rseq_cs = &descriptor; cpu == rseq.cpu_id or reload; p[cpu] == expected or skip; p[cpu] = new"
#endif

/* NULL when the calling thread's area is registered with the kernel, else why not. */
const char *probe_rseq_here(void);
/* Why this build has none; NULL when it has. */
const char *probe_rseq_missing(void);

/*
 * Bytes from one CPU's operand to the next one's. 0 (the default): one operand serves every CPU, so only threads of one
 * CPU may share it. Set before any thread runs a probe; @operand must then have room for every CPU number.
 */
extern size_t probe_rseq_stride_bytes;

#endif
