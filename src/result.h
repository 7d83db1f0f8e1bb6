/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of one run, and its JSON file (perf-relax-result(5)). Everything that a command measures goes through here to report.c
 * and to the file; whatever is not in here does not exist for `report` and `diff`.
 */
#ifndef PERF_RELAX_RESULT_H
#define PERF_RELAX_RESULT_H

#include <stdint.h>

#include "util.h"
#include "verdict.h"

#define RESULT_VERSION 1	/* readers refuse higher ones by name and accept unknown members */

/* Flags of one trial (one run of one arm). */
#define TRIAL_MIGRATED		(1u << 0)	/* changed CPU */
#define TRIAL_DESCHEDULED	(1u << 1)	/* involuntary context switch */
#define TRIAL_STOLEN		(1u << 2)	/* hypervisor steal time grew */
#define TRIAL_SCALED		(1u << 3)	/* counters were multiplexed */
#define TRIAL_FAILED		(1u << 4)	/* not used in any summary */

/* The closed list of warnings: X(ident, "id", "what happened, printf-free", "what to do") lives in result.c. */
#define RESULT_WARNINGS(X) \
	X(READ_OVERHEAD, "read-overhead", "reading the meters takes more than 1 % of a block", "use fewer events or longer blocks") \
	X(CLOCKSOURCE, "clocksource", "the kernel's clock source is not the architecture's counter", "read ns, not ticks, and expect coarser times") \
	X(INTERFERENCE, "interference", "more than 10 % of the trials were interrupted", "use an idle or isolated CPU (-C)") \
	X(FREQUENCY, "frequency", "the core's clock changed by more than 5 % during the run", "fix the frequency, or trust ratios rather than values") \
	X(NO_WARMUP, "not-settled", "the clock frequency did not settle before the first round", "run again on a quieter machine") \
	X(HYPERVISOR, "hypervisor", "a hypervisor is present: pause may exit to it, cli and sti may be paravirtual calls", "repeat on the bare machine before you conclude") \
	X(NULL_DIFFERS, "null-differs", "two arms of the same bytes were told apart: the run's error is larger than it promises", "distrust verdicts of this run; run again") \
	X(MULTIPLEXED, "multiplexed", "counters shared the hardware and were scaled", "ask for fewer events at a time") \
	X(IMPLAUSIBLE, "implausible", "a counter read 0 or less than the work can take", "do not use it; check the event's encoding") \
	X(BIMODAL, "bimodal", "values fall into two groups", "look at the distribution before you use one number") \
	X(OVERSUBSCRIBED, "oversubscribed", "more threads than CPUs: a waiter can wait for a whole time slice", "use fewer threads or more CPUs") \
	X(TICKS_UNUSABLE, "ticks-unusable", "the architecture's counter failed its check and is not used", "see `perf relax check`") \
	X(PARTIAL, "partial", "the run ended before its plan was done", "run again; verdicts use what there is") \
	X(OFF_CPU, "off-cpu", "most of the time was not spent on a CPU", "compare user and system time as well as wall time") \
	X(SWITCH_COUNT, "switch-count", "the kernel counted 1 % more or fewer context switches than were planned", "use an idle CPU: the time is of more than these switches") \
	X(TSC_NOT_ENFORCED, "tsc-not-enforced", "forbidding the TSC is accepted but not carried out: the counter can still be read", "a cost seen is that of the kernel's attempt, not of protection") \
	X(FAILED_TRIALS, "failed-trials", "some trials failed and are not used", "see their messages")

enum result_warning {
#define X(ident, id, what, advice) WARN_##ident,
	RESULT_WARNINGS(X)
#undef X
	RESULT_WARNING_COUNT
};

struct result_arm {
	char *name;
	char *kind;		/* "hint", "atomic", "command", ... */
	char *bytes;		/* "f3 90", NULL: not a probe */
	char *text;		/* instruction(s) as decoded, or the command line; may be NULL */
	char *setup;		/* may be NULL */
	char *absent;		/* why it was not measured, NULL: it was */
	int twin_of;		/* index of an arm with equal bytes, -1: none */
	bool control;		/* added as null control only: a run does not wait for its verdict */
};

struct result_metric {
	char *name;		/* "ns", "ticks", "cycles", "instructions", "wall", ... */
	char *unit;		/* "ns/op", "ticks/op", ... */
	enum better better;
	bool estimated;		/* cycles~ */
	bool headline;		/* named before the run */
	bool detail;		/* in tables for people only with -v; set by the caller after result_add_metric() */
};

struct result_pair {		/* ordered key and value; value NULL: why says why not */
	char *key, *value, *why;
};

struct result_condition {
	char *name;		/* "threads=2 place=core", or "" for the only one */
	struct result_pair *pair;
	size_t npair;
	char *ended;		/* why the rounds ended: "settled", "rounds", "budget", "interrupted", ...; NULL: not known */
	size_t looks_planned;	/* 0: a fixed number of rounds, one look at the end */
	size_t looks_taken;
};

/* All values of one metric in one arm under one condition. */
struct result_series {
	double *value;		/* [rounds], NAN where flags has TRIAL_FAILED */
	size_t n, room;
	char *why;		/* why values are missing; begins with "not counted" for perf's <not counted>; NULL: none is */
	struct summary summary;	/* set when only (n, mean, sd) are known and value is empty; n = 0: unset */
	double running_share;	/* time_running / time_enabled of a counter, 1 when always; < 1 is scaled */
};

struct result_comparison {
	size_t condition, metric, arm, reference;
	bool null_control;	/* arm and reference have the same bytes */
	struct comparison c;
};

struct result_warning_entry {
	enum result_warning id;
	char *detail;		/* "pause: 12 of 40 trials", may be NULL */
	bool derived;		/* found by result_compare(), which replaces it */
};

struct result {
	char *tool_version, *command, *command_line, *file;	/* file: where it was read from, or NULL */
	uint64_t seed;
	char *start_time;	/* ISO 8601, UTC */
	double elapsed_s;
	struct result_pair *env;
	size_t nenv;
	struct result_arm *arm;
	size_t narm;
	struct result_metric *metric;
	size_t nmetric;
	struct result_condition *condition;
	size_t ncondition;
	struct result_series *series;	/* via result_series(): the layout grows */
	unsigned char *trial_flags;	/* via result_flags() */
	size_t *rounds;			/* [condition] */
	size_t room_condition, room_arm, room_metric, flags_room;	/* what series and trial_flags have room for */
	size_t reference;		/* arm that the comparisons refer to; the first unless result_compare() was told otherwise */
	struct result_comparison *comparison;
	size_t ncomparison;
	struct verdict_rule rule;	/* margin and level asked for */
	struct result_warning_entry *warning;
	size_t nwarning;
	bool partial;
	bool interleaved;
};

struct result *result_new(const char *command, int argc, char *const *argv, uint64_t seed);
void result_free(struct result *r);

/* Make room for this many, so that a known number of arms is not grown step by step. */
void result_reserve(struct result *r, size_t conditions, size_t arms, size_t metrics);

/* Building. Strings are copied (NULL stays NULL). Return the index of what was added. Arms, metrics and conditions come before values. */
size_t result_add_arm(struct result *r, const char *name, const char *kind, const char *bytes, const char *text);
size_t result_add_metric(struct result *r, const char *name, const char *unit, enum better better, bool estimated, bool headline);
size_t result_add_condition(struct result *r, const char *name);
void result_condition_set(struct result *r, size_t condition, const char *key, const char *value);
void result_condition_end(struct result *r, size_t condition, const char *ended, size_t looks_planned, size_t looks_taken);
void result_arm_absent(struct result *r, size_t arm, const char *why);
void result_set_env(struct result *r, const char *key, const char *value, const char *why);
const char *result_env(const struct result *r, const char *key);	/* NULL: not known */
void result_warn(struct result *r, enum result_warning id, const char *detail);

struct result_series *result_series(const struct result *r, size_t condition, size_t arm, size_t metric);
/* One trial's value; rounds grow as needed, gaps become failed. A missing value (why set) marks the series' reason. */
void result_put(struct result *r, size_t condition, size_t arm, size_t metric, size_t round, struct value v);
void result_put_flags(struct result *r, size_t condition, size_t arm, size_t round, unsigned int flags);
unsigned int result_flags(const struct result *r, size_t condition, size_t arm, size_t round);

/* The finite values of one series in round order into @out (room for its n). Returns how many. */
size_t result_values(const struct result *r, size_t condition, size_t arm, size_t metric, double *out);
/* The metric to judge by: the one marked headline, else the first; nmetric when there is none. */
size_t result_headline(const struct result *r);
/* Indexes by name, or SIZE_MAX. */
size_t result_find_arm(const struct result *r, const char *name);
size_t result_find_metric(const struct result *r, const char *name);

/* Values of the rounds that both have, in order: into @a and @b (room for rounds[condition]). Returns how many. */
size_t result_paired(const struct result *r, size_t condition, size_t arm, size_t reference, size_t metric, double *a, double *b);

/*
 * Compare every measured arm with @reference for every metric and condition, at confidence @level (0: rule.level), find the null controls
 * (twins) and apply them. Replaces r->comparison and the warnings that follow from the data. @flags are or-ed into each (COMPARE_EARLY).
 * Twins that are not the reference are compared with one another, as an entry of their own with null_control set. Returns 0, -EINVAL when
 * there is no such reference.
 */
int result_compare(struct result *r, size_t reference, double level, unsigned int flags);
/* The same for one condition only: the comparisons of the others stay as they are. */
int result_compare_condition(struct result *r, size_t condition, size_t reference, double level, unsigned int flags);
/* The same for the headline metric alone, warnings left alone: what a look at a running experiment needs. */
int result_compare_headline(struct result *r, size_t condition, size_t reference, double level);
/* Of @arm with the reference; NULL when not compared (no values on one side, or it is the reference). */
const struct comparison *result_find_comparison(const struct result *r, size_t condition, size_t metric, size_t arm);
/* Do the two have the same bytes (or run the same thing)? An arm is no twin of itself. */
bool result_are_twins(const struct result *r, size_t a, size_t b);
/* The widest null control of this condition and metric, or NULL. */
const struct result_comparison *result_find_null(const struct result *r, size_t condition, size_t metric);
/* Comparisons made with the reference, null controls left out: what a reader weighs a chance finding against. */
size_t result_comparisons_counted(const struct result *r);

/* "what happened" and "what to do". */
const char *result_warning_name(enum result_warning id);
const char *result_warning_text(enum result_warning id);
const char *result_warning_advice(enum result_warning id);

/*
 * The file. Writing: to a temporary file in the same directory, fsync, rename; "-" is stdout; devices and pipes are written directly. A failure leaves
 * the old file as it was and nothing else. Reading: -EPROTONOSUPPORT for a higher version, -EINVAL with line and column for what is not
 * such a file; "-" is stdin.
 */
int result_write(const struct result *r, const char *path, struct reason *why);
int result_read(const char *path, struct result **out, struct reason *why);

/* JSON text for others that print it: a string with its quotes (each broken UTF-8 byte becomes U+FFFD); a finite number that reads back exactly. */
void result_json_string(FILE *f, const char *s);
void result_json_number(FILE *f, double x);

#endif
