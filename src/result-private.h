/* SPDX-License-Identifier: GPL-2.0-only */
/* What the result*.c files share; nobody else includes it. */
#ifndef PERF_RELAX_RESULT_PRIVATE_H
#define PERF_RELAX_RESULT_PRIVATE_H

#include "result.h"

#define RESULT_FORMAT "perf-relax"

/* Names in the file; index = bit number of TRIAL_* and COMPARE_*, value of enum verdict_method. */
#define RESULT_FLAG_NAMES 5
#define RESULT_COMPARE_FLAG_NAMES 10
#define RESULT_METHOD_NAMES 3
extern const char *const result_flag_names[RESULT_FLAG_NAMES];
extern const char *const result_compare_flag_names[RESULT_COMPARE_FLAG_NAMES];
extern const char *const result_method_names[RESULT_METHOD_NAMES];

/* Print the document to @f; the caller looks at f's error flag. */
void result_json_write(FILE *f, const struct result *r);

/* One series of some result. */
struct result_place {
	const struct result *r;
	size_t condition, arm, metric;
};
/* As independent samples, by values or by summaries; sets COMPARE_NOT_INTERLEAVED. -ENODATA when a side has neither. */
int result_compare_places(const struct result_place *arm, const struct result_place *reference,
			  const struct verdict_rule *rule, struct comparison *out);

/* For readers. Room for the flags of @rounds rounds at once; every round not put counts as failed. */
void result_reserve_rounds(struct result *r, size_t rounds);
/* Without the check for an equal warning. */
void result_append_warning(struct result *r, enum result_warning id, const char *detail, bool derived);
void result_append_comparison(struct result *r, const struct result_comparison *c);

#endif
