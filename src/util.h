/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages, numbers, CPU lists, files: what every other unit leans on.
 * Knows libc only.
 */
#ifndef PERF_RELAX_UTIL_H
#define PERF_RELAX_UTIL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/* Exit codes of every command; perf-relax(1) documents them. */
enum exit_code {
	EXIT_DONE = 0,
	EXIT_DIFFERENCE = 1,	/* diff or check found a difference or failure */
	EXIT_USAGE = 2,
	EXIT_CANNOT = 3,	/* this machine cannot: permission, no PMU, instruction missing */
	EXIT_FAILED = 4,	/* the measurement failed or is partial */
};

/* Why something could not be done: errno (or 0) and a full sentence for the user, without the final stop. */
struct reason {
	int err;
	char text[512];
};

/* Fill @r (may be NULL). Returns -@err, so that callers can `return reason_set(r, EINVAL, ...)`. @err > 0. */
int reason_set(struct reason *r, int err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/*
 * A measured value: a number, or the reason why there is none (rule 1). `why` is NULL when there is a number; else it
 * is a string that lives until exit (a literal or one from util_intern()), and `number` is meaningless.
 */
struct value {
	double number;
	const char *why;
};

static inline struct value value_of(double number)
{
	return (struct value){ .number = number, .why = NULL };
}

static inline struct value value_missing(const char *why)
{
	return (struct value){ .number = 0, .why = why };
}

/* A copy of @s that lives until exit; equal strings give the same pointer. Aborts when memory is out. */
const char *util_intern(const char *s);

/* Allocation that cannot fail quietly: prints and exits 4 when memory is out. */
void *util_calloc(size_t n, size_t size);
void *util_realloc(void *p, size_t n, size_t size);
char *util_strdup(const char *s);
char *util_asprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/*
 * Strict number parsing, C locale whatever the user's: the whole string must be a number in [min, max]. No blanks, no sign for
 * unsigned values, decimal only. Return 0, -EINVAL (not a number) or -ERANGE (outside the bounds).
 */
int util_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out);
int util_parse_int(const char *s, int min, int max, int *out);
int util_parse_double(const char *s, double min, double max, double *out);
/* Bytes: 4096, 4k, 4K, 4KiB = 4096; 4kB = 4000; likewise M, G, T. -EINVAL, -ERANGE as above. */
int util_parse_bytes(const char *s, uint64_t min, uint64_t max, uint64_t *out);

/* The same for an option's argument, with a message naming the option, the text and the bounds. Return 0 or -EINVAL/-ERANGE. */
int util_opt_u64(const char *option, const char *s, uint64_t min, uint64_t max, uint64_t *out);
int util_opt_double(const char *option, const char *s, double min, double max, double *out);

/* Print @x as C-locale decimal with @digits significant digits, never an exponent between 1e-6 and 1e15. Returns buf. */
char *util_format_significant(double x, int digits, char *buf, size_t size);

/* A set of CPU numbers, ascending, without doubles. */
struct cpulist {
	size_t n;
	int *cpu;
};

/*
 * Parse the kernel's list form ("0,2-5"). Empty items, reversed ranges, doubles and numbers above 65535 are -EINVAL with a
 * reason. cpulist_free() releases it. cpulist_format() returns a malloc'ed string in the same form.
 */
int cpulist_parse(const char *s, struct cpulist *list, struct reason *why);
bool cpulist_has(const struct cpulist *list, int cpu);
char *cpulist_format(const struct cpulist *list);
void cpulist_add(struct cpulist *list, int cpu);
void cpulist_free(struct cpulist *list);

/*
 * A clock in ns, by system call on purpose: the vDSO reads the time-stamp counter, which ends a process that PR_SET_TSC forbids it (meter.c, for blocks
 * that are worth it, asks first). 0 when the kernel has no such clock.
 */
uint64_t util_clock_ns(int clock);

/* Read a small file (at most @size - 1 bytes), final newline removed. Returns the length or -errno. */
long util_read_file(const char *path, char *buf, size_t size);
int util_read_u64(const char *path, uint64_t *out);

/*
 * The up to @max names of @names (NULL-terminated) nearest to @name by edit distance, nearest first, none further than half of
 * the name's length (at least 2). Returns how many; `out` holds pointers into @names.
 */
size_t util_nearest(const char *name, const char *const *names, const char **out, size_t max);

/* "; did you mean a, b or c?" or "". Returns buf. */
char *util_did_you_mean(const char *name, const char *const *names, char *buf, size_t size);

/* Messages: "perf-relax: ..." on stderr, one write each. Level of msg_verbose: shown when verbosity is at least @level. */
extern int msg_verbosity;	/* -1 quiet, 0 normal, 1.. -v */
void msg_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
void msg_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
void msg_verbose(int level, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A small reproducible random generator (xoshiro256**, Blackman and Vigna 2018, seeded by splitmix64). */
struct random_state {
	uint64_t s[4];
};
void random_seed(struct random_state *r, uint64_t seed);
uint64_t random_u64(struct random_state *r);
/* Uniform in [0, n), without modulo bias. @n > 0. */
uint64_t random_below(struct random_state *r, uint64_t n);
/* Uniform in [0, 1). */
double random_unit(struct random_state *r);
/* Fisher-Yates over @n indices. */
void random_shuffle(struct random_state *r, size_t *index, size_t n);

#endif
