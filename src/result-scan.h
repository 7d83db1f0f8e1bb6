/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A JSON document cut into pieces: memory stays near the size of the text, where a tree of a long document takes many
 * times that. Private to result-read.c. Every int function returns 0 or -EINVAL with line and column (from 1) in the
 * reason, unless it says otherwise.
 */
#ifndef PERF_RELAX_RESULT_SCAN_H
#define PERF_RELAX_RESULT_SCAN_H

#include <jansson.h>

#include "util.h"

struct scan {
	const char *path;	/* for messages */
	char *text;
	size_t size;
	struct reason *why;
};

/* One value (or quoted name) of the text. */
struct piece {
	const char *begin, *end;
};

/* Read the whole file s->path ("-": standard input) into s->text (the caller frees it). 0 or -errno. */
int scan_load(struct scan *s);

int scan_fail(struct scan *s, const char *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
int scan_fail_short(struct scan *s);
const char *scan_end(const struct scan *s);
const char *scan_blank(const struct scan *s, const char *p);	/* past white space */
/* The end of the value at @p: brackets and quotes only; whether the inside is JSON is jansson's business. */
int scan_value(struct scan *s, const char *p, const char **end);
/*
 * Step through an object or array (@close is its closing bracket): @p is just past the opening bracket at first, then
 * what the last call left. The next member's name is in @key (objects only) and its value in @value. Returns 1, 0 at
 * the end (*p is then past it), or -EINVAL.
 */
int scan_next(struct scan *s, const char **p, char close, bool first, struct piece *key, struct piece *value);
json_t *scan_parse(struct scan *s, struct piece piece);	/* NULL: @why is set. Whole numbers become reals. */
bool scan_is(struct piece key, const char *name);

/* Typed members of a parsed object that stood at @at. An absent or null member leaves *out as it is. */
int scan_string(struct scan *s, struct piece at, json_t *object, const char *name, bool required, const char **out);
int scan_bool(struct scan *s, struct piece at, json_t *object, const char *name, bool *out);
int scan_number(struct scan *s, struct piece at, json_t *object, const char *name, double min, double max, double *out);
int scan_count(struct scan *s, struct piece at, json_t *object, const char *name, size_t *out);

#endif
