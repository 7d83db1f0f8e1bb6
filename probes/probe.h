/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is measured: the table of probes. A probe runs one primitive a given number of times and knows nothing of
 * clocks, statistics or output.
 */
#ifndef PERF_RELAX_PROBE_H
#define PERF_RELAX_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_CACHE_LINE 64	/* bytes; operands are one line, aligned to it */

enum probe_class {
	PROBE_HINT,	/* spin-wait hint */
	PROBE_ATOMIC,	/* locked or CPU-local read-modify-write, lock+unlock */
	PROBE_BARRIER,
	PROBE_COUNTER,	/* time counter read */
	PROBE_CALL,	/* library or system call, for scale */
	PROBE_CHAIN,	/* calibration chain */
	PROBE_CLASSES
};

struct probe {
	const char *name;
	enum probe_class class;
	const char *summary;
	const char *text;	/* assembly as written, the operand's pointer being "p"; NULL for probes written in C */
	int need;		/* arch need, 0: none */
	int effect;		/* EFFECT_* of arch.h */
	/*
	 * Two lengths of the same loop: @iters times `unroll` operations, and @iters times 2 * `unroll`. Their
	 * difference is `iters * unroll` operations without loop and read costs. @operand: one cache line of zeros.
	 * @iters > 0.
	 */
	void (*run_short)(void *operand, uint64_t iters);
	void (*run_long)(void *operand, uint64_t iters);
	unsigned int unroll;
	/* One operation in the text of run_long, [begin, end), and the end of all 2 * unroll operations. */
	const unsigned char *begin, *end, *end_all;
	/* NULL, or why this build has no such probe (then the functions are NULL). */
	const char *missing;
	/* NULL, or a run-time condition beyond the CPU's features: NULL when met, else the reason. */
	const char *(*missing_here)(void);
};

/* The table, in the order of `list`: @i from 0; NULL past the end. */
const struct probe *probe_at(size_t i);
size_t probe_count(void);
/* By name as users type it: "rep; nop", "rep_nop" and "REP-NOP" are all rep-nop. NULL: no such name here. */
const struct probe *probe_find(const char *name);

/* "hint", "atomic", ... */
const char *probe_class_name(enum probe_class class);

/*
 * Can this CPU, kernel and build execute @p? Runs it once under a guard for SIGILL, SIGSEGV and SIGBUS (so not
 * async-safe; call from one thread, at start). NULL: yes. Else the reason, a string that lives until exit. The answer
 * is remembered.
 */
const char *probe_why_absent(const struct probe *p);

/*
 * Can this process read the counter of arch_ticks_begin()? Asked in the same way, so that nobody dies of finding out.
 * NULL: yes.
 */
const char *probe_ticks_why(void);

/* For a name that is in no table here: the architectures that have it ("aarch64, arm"), or NULL. Lives until exit. */
const char *probe_foreign(const char *name);

/* True when the bytes of one operation are the same: the pair is a null control (rule 6). */
bool probe_same_bytes(const struct probe *a, const struct probe *b);

/*
 * Check that the unrolled text of run_long is 2 * unroll copies of the bytes shown. Returns the number of copies found
 * to be equal; probes whose operations address code (rseq) or are written in C differ between copies and return 0.
 */
unsigned int probe_verify_copies(const struct probe *p);

#endif
