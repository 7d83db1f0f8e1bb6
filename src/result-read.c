/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the result file, perf-relax-result(5): strict about what it knows, silent about members that it does not
 * know.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result-private.h"
#include "result-reader.h"


/* The members of the top level. */
enum member {
	M_FORMAT,
	M_VERSION,
	M_TOOL_VERSION,
	M_COMMAND,
	M_COMMAND_LINE,
	M_SEED,
	M_START_TIME,
	M_ELAPSED_S,
	M_PARTIAL,
	M_INTERLEAVED,
	M_RULE,
	M_REFERENCE,
	M_ENV,
	M_METRICS,
	M_ARMS,
	M_CONDITIONS,
	M_WARNINGS,
	MEMBERS
};
static const char *const member_names[MEMBERS] = {
	"format",     "version",   "tool_version", "command",	  "command_line", "seed",
	"start_time", "elapsed_s", "partial",	   "interleaved", "rule",	  "reference",
	"env",	      "metrics",   "arms",	   "conditions",  "warnings",
};

static int better_of(struct reader *rd, struct piece at, const char *text, enum better *out)
{
	for (enum better b = BETTER_LOWER; b <= BETTER_NONE; b++)
		if (!strcmp(text, better_name(b))) {
			*out = b;
			return 0;
		}
	return scan_fail(&rd->s, at.begin, "\"better\" must be lower, higher or none, not \"%s\"", text);
}

static int read_metric(struct reader *rd, struct piece at, json_t *object)
{
	const char *name = NULL, *unit = "", *better = "none";
	bool estimated = false, headline = false, detail = false;
	size_t added;
	enum better direction = BETTER_NONE;
	int err = scan_string(&rd->s, at, object, "name", true, &name);

	err = err ? err : scan_string(&rd->s, at, object, "unit", false, &unit);
	err = err ? err : scan_string(&rd->s, at, object, "better", false, &better);
	err = err ? err : scan_bool(&rd->s, at, object, "estimated", &estimated);
	err = err ? err : scan_bool(&rd->s, at, object, "detail", &detail);
	err = err ? err : scan_bool(&rd->s, at, object, "headline", &headline);
	err = err ? err : better_of(rd, at, better, &direction);
	if (err)
		return err;
	if (result_find_metric(rd->r, name) != SIZE_MAX)
		return scan_fail(&rd->s, at.begin, "metric \"%s\" is there twice", name);
	added = result_add_metric(rd->r, name, unit, direction, estimated, headline);
	rd->r->metric[added].detail = detail;
	return 0;
}

/* twin_of may name an arm further down: it is kept as text in the reader's order and resolved by read_twins(). */
static int read_arm(struct reader *rd, struct piece at, json_t *object)
{
	const char *name = NULL, *kind = NULL, *bytes = NULL, *text = NULL, *setup = NULL, *absent = NULL;
	int err = scan_string(&rd->s, at, object, "name", true, &name);
	bool control = false;
	size_t arm;

	err = err ? err : scan_string(&rd->s, at, object, "kind", false, &kind);
	err = err ? err : scan_string(&rd->s, at, object, "bytes", false, &bytes);
	err = err ? err : scan_string(&rd->s, at, object, "text", false, &text);
	err = err ? err : scan_string(&rd->s, at, object, "setup", false, &setup);
	err = err ? err : scan_string(&rd->s, at, object, "absent", false, &absent);
	err = err ? err : scan_bool(&rd->s, at, object, "control", &control);
	if (err)
		return err;
	arm = result_add_arm(rd->r, name, kind, bytes, text);
	rd->r->arm[arm].setup = setup ? util_strdup(setup) : NULL;
	rd->r->arm[arm].control = control;
	result_arm_absent(rd->r, arm, absent);
	return 0;
}

static int compare_names(const void *pa, const void *pb)
{
	const struct name_index *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static void index_arms(struct reader *rd)
{
	rd->by_name = util_calloc(rd->r->narm, sizeof(*rd->by_name));
	for (size_t a = 0; a < rd->r->narm; a++)
		rd->by_name[a] = (struct name_index){ rd->r->arm[a].name, a };
	qsort(rd->by_name, rd->r->narm, sizeof(*rd->by_name), compare_names);
}

/* The first arm of that name: @likely when it has it, else by search; SIZE_MAX: none. */
size_t reader_find_arm(const struct reader *rd, const char *name, size_t likely)
{
	size_t low = 0, high = rd->r->narm;

	if (likely < rd->r->narm && !strcmp(rd->r->arm[likely].name, name))
		return likely;
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(rd->by_name[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < rd->r->narm && !strcmp(rd->by_name[low].name, name) ? rd->by_name[low].index : SIZE_MAX;
}

static int read_twin(struct reader *rd, struct piece at, json_t *object, size_t arm)
{
	const char *name = NULL;
	int err = scan_string(&rd->s, at, object, "twin_of", false, &name);
	size_t twin;

	if (err || !name)
		return err;
	twin = reader_find_arm(rd, name, SIZE_MAX);
	if (twin == SIZE_MAX || twin > INT32_MAX)
		return scan_fail(&rd->s, at.begin, "\"twin_of\" names \"%s\", which is no arm of this file", name);
	if (twin != arm)
		rd->r->arm[arm].twin_of = (int)twin;
	return 0;
}

/* Call @each for every element of the array @piece. */
static int for_each(struct reader *rd, struct piece piece, const char *name,
		    int (*each)(struct reader *, struct piece, json_t *, size_t))
{
	const char *p = piece.begin + 1;
	struct piece element;
	int more;

	if (*piece.begin != '[')
		return scan_fail(&rd->s, piece.begin, "\"%s\" must be an array", name);
	for (size_t i = 0; (more = scan_next(&rd->s, &p, ']', i == 0, NULL, &element)) > 0; i++) {
		json_t *object = scan_parse(&rd->s, element);
		int err = object ? 0 : -EINVAL;

		if (!err && !json_is_object(object))
			err = scan_fail(&rd->s, element.begin, "expected an object in \"%s\"", name);
		if (!err)
			err = each(rd, element, object, i);
		json_decref(object);
		if (err)
			return err;
	}
	return more;
}

static int count_elements(struct reader *rd, struct piece piece, size_t *n)
{
	const char *p = piece.begin + 1;
	struct piece element;
	int more = 0;

	*n = 0;
	if (*piece.begin != '[')
		return 0;	/* for_each() says so */
	while ((more = scan_next(&rd->s, &p, ']', *n == 0, NULL, &element)) > 0)
		++*n;
	return more;
}

static int each_metric(struct reader *rd, struct piece at, json_t *object, size_t i)
{
	(void)i;
	return read_metric(rd, at, object);
}

static int each_arm(struct reader *rd, struct piece at, json_t *object, size_t i)
{
	(void)i;
	return read_arm(rd, at, object);
}

static int each_warning(struct reader *rd, struct piece at, json_t *object, size_t i)
{
	const char *id = NULL, *detail = NULL;
	bool derived = false;
	int err = scan_string(&rd->s, at, object, "id", true, &id);

	(void)i;
	err = err ? err : scan_string(&rd->s, at, object, "detail", false, &detail);
	err = err ? err : scan_bool(&rd->s, at, object, "derived", &derived);
	for (enum result_warning w = 0; !err && w < RESULT_WARNING_COUNT; w++)
		if (!strcmp(id, result_warning_name(w)))
			result_append_warning(rd->r, w, detail, derived);
	return err;	/* a warning that this version does not know is none of its business */
}

/*
 * env and settings: {"key": "text"} or {"key": {"value": null, "why": "text"}}; a bare null and plain numbers are
 * accepted from other writers.
 */
int reader_pairs(struct reader *rd, struct piece at, json_t *object, const char *name,
		 void (*set)(struct reader *rd, size_t condition, const char *key, const char *value, const char *why),
		 size_t condition)
{
	const char *key;
	json_t *value;

	if (!json_is_object(object))
		return scan_fail(&rd->s, at.begin, "\"%s\" must be an object", name);
	json_object_foreach(object, key, value) {
		const char *why = NULL;

		if (json_is_object(value)) {
			int err = scan_string(&rd->s, at, value, "why", false, &why);

			if (err)
				return err;
			value = json_object_get(value, "value");
		}
		if (json_is_string(value)) {
			set(rd, condition, key, json_string_value(value), why);
		} else if (json_is_number(value)) {
			char text[32];

			snprintf(text, sizeof(text), "%.15g", json_number_value(value));
			set(rd, condition, key, text, why);
		} else if (!value || json_is_null(value)) {
			set(rd, condition, key, NULL, why);
		} else if (json_is_boolean(value)) {
			set(rd, condition, key, json_is_true(value) ? "true" : "false", why);
		} else {
			return scan_fail(&rd->s, at.begin, "\"%s\": \"%s\" must be a string", name, key);
		}
	}
	return 0;
}

static void set_env(struct reader *rd, size_t condition, const char *key, const char *value, const char *why)
{
	(void)condition;
	result_set_env(rd->r, key, value, why);
}

/* The whole text: the pieces of the top level, each once. */
static int cut_members(struct reader *rd, struct piece *member)
{
	struct piece key, value;
	const char *p = scan_blank(&rd->s, rd->s.text);
	int more;

	if (p == scan_end(&rd->s))
		return scan_fail(&rd->s, p, "the file is empty");
	if (*p != '{')
		return scan_fail(&rd->s, p, "this is no perf-relax result: it does not begin with '{'");
	p++;
	for (bool first = true; (more = scan_next(&rd->s, &p, '}', first, &key, &value)) > 0; first = false)
		for (size_t m = 0; m < MEMBERS; m++)
			if (scan_is(key, member_names[m])) {
				if (member[m].begin)
					return scan_fail(&rd->s, key.begin, "\"%s\" is there twice", member_names[m]);
				member[m] = value;
			}
	if (more < 0)
		return more;
	p = scan_blank(&rd->s, p);
	return p == scan_end(&rd->s) ? 0 : scan_fail(&rd->s, p, "there is something after the end of the document");
}

/* The small members, as one object. */
static json_t *parse_small(struct reader *rd, const struct piece *member)
{
	static const enum member small[] = { M_FORMAT,	     M_VERSION,	   M_TOOL_VERSION, M_COMMAND,
					     M_COMMAND_LINE, M_START_TIME, M_ELAPSED_S,	   M_PARTIAL,
					     M_INTERLEAVED,  M_RULE,	   M_REFERENCE,	   M_ENV };
	json_t *object = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(small); i++) {
		json_t *value;

		if (!member[small[i]].begin)
			continue;
		value = scan_parse(&rd->s, member[small[i]]);
		if (!value || json_object_set_new(object, member_names[small[i]], value)) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static int check_format(struct reader *rd, const struct piece *member, json_t *small)
{
	const char *format = NULL;
	double version = 0;
	struct piece at = member[M_FORMAT];
	int err;

	if (!at.begin)
		return scan_fail(&rd->s, rd->s.text, "this is no perf-relax result: it has no \"format\"");
	err = scan_string(&rd->s, at, small, "format", true, &format);
	if (err)
		return err;
	if (strcmp(format, RESULT_FORMAT))
		return scan_fail(&rd->s, at.begin, "this is no perf-relax result: its \"format\" is \"%s\"", format);
	if (!member[M_VERSION].begin)
		return scan_fail(&rd->s, at.begin, "the \"version\" of the format is missing");
	err = scan_number(&rd->s, member[M_VERSION], small, "version", 1, 1e9, &version);
	if (err)
		return err;
	if (version > RESULT_VERSION)
		return reason_set(
			rd->s.why, EPROTONOSUPPORT,
			"%s is version %.15g of the result format; this perf-relax reads version %d at most: use a newer perf-relax",
			rd->s.path, version, RESULT_VERSION);
	return 0;
}

static int read_seed(struct reader *rd, struct piece piece)
{
	size_t n = (size_t)(piece.end - piece.begin);
	char text[32];

	if (!piece.begin)
		return 0;
	if (n >= 2 && *piece.begin == '"') {
		piece.begin++;
		n -= 2;
	}
	if (n >= sizeof(text))
		return scan_fail(&rd->s, piece.begin, "\"seed\" must be a whole number");
	memcpy(text, piece.begin, n);
	text[n] = '\0';
	if (util_parse_u64(text, 0, UINT64_MAX, &rd->r->seed))
		return scan_fail(&rd->s, piece.begin, "\"seed\" must be a whole number");
	return 0;
}

static void replace_string(char **to, const char *s)
{
	free(*to);
	*to = s ? util_strdup(s) : NULL;
}

static int read_small(struct reader *rd, const struct piece *member, json_t *small)
{
	struct result *r = rd->r;
	struct piece at = member[M_FORMAT];
	const char *version = NULL, *command = NULL, *line = NULL, *start = NULL;
	json_t *rule = json_object_get(small, "rule");
	int err = scan_string(&rd->s, at, small, "tool_version", false, &version);

	r->interleaved = false;	/* who says nothing has not interleaved */
	err = err ? err : scan_string(&rd->s, at, small, "command", false, &command);
	err = err ? err : scan_string(&rd->s, at, small, "command_line", false, &line);
	err = err ? err : scan_string(&rd->s, at, small, "start_time", false, &start);
	err = err ? err : scan_number(&rd->s, at, small, "elapsed_s", 0, HUGE_VAL, &r->elapsed_s);
	err = err ? err : scan_bool(&rd->s, at, small, "partial", &r->partial);
	err = err ? err : scan_bool(&rd->s, at, small, "interleaved", &r->interleaved);
	if (!err && rule && !json_is_object(rule))
		err = scan_fail(&rd->s, member[M_RULE].begin, "\"rule\" must be an object");
	if (!err && rule) {
		err = scan_number(&rd->s, member[M_RULE], rule, "margin", 0, 1e6, &r->rule.margin);
		err = err ? err :
			    scan_number(&rd->s, member[M_RULE], rule, "margin_abs", 0, HUGE_VAL, &r->rule.margin_abs);
		err = err ? err :
			    scan_number(&rd->s, member[M_RULE], rule, "confidence", 0.5, 0.999999, &r->rule.level);
	}
	if (!err && json_object_get(small, "env"))
		err = reader_pairs(rd, member[M_ENV], json_object_get(small, "env"), "env", set_env, 0);
	if (err)
		return err;
	replace_string(&r->tool_version, version);
	replace_string(&r->command, command);
	replace_string(&r->command_line, line);
	replace_string(&r->start_time, start);
	return read_seed(rd, member[M_SEED]);
}

static int reserve_tables(struct reader *rd, const struct piece *member)
{
	size_t arms = 0, conditions = 0, metrics = 0;
	int err = count_elements(rd, member[M_METRICS], &metrics);

	err = err ? err : count_elements(rd, member[M_ARMS], &arms);
	err = err ? err : count_elements(rd, member[M_CONDITIONS], &conditions);
	if (err)
		return err;
	if ((double)arms * (double)conditions * (double)metrics * (double)sizeof(struct result_series) >
	    (double)TABLE_BYTES_FREE + (double)rd->s.size * TABLE_BYTES_PER_BYTE)
		return scan_fail(&rd->s, member[M_CONDITIONS].begin,
				 "%zu conditions of %zu arms and %zu metrics cannot be in a file of %zu bytes",
				 conditions, arms, metrics, rd->s.size);
	if (arms && conditions && metrics)
		result_reserve(rd->r, conditions, arms, metrics);
	return 0;
}

static int each_twin(struct reader *rd, struct piece at, json_t *object, size_t i)
{
	return read_twin(rd, at, object, i);
}

static int read_reference(struct reader *rd, const struct piece *member, json_t *small)
{
	const char *name = NULL;
	int err = scan_string(&rd->s, member[M_REFERENCE], small, "reference", false, &name);

	if (err || !name)
		return err;
	rd->r->reference = reader_find_arm(rd, name, 0);
	if (rd->r->reference == SIZE_MAX)
		return scan_fail(&rd->s, member[M_REFERENCE].begin,
				 "\"reference\" names \"%s\", which is no arm of this file", name);
	return 0;
}

static int read_document(struct reader *rd)
{
	struct piece member[MEMBERS] = { { NULL, NULL } };
	json_t *small = NULL;
	int err = cut_members(rd, member);

	if (err)
		return err;
	small = parse_small(rd, member);
	if (!small)
		return -EINVAL;
	err = check_format(rd, member, small);
	for (enum member m = M_METRICS; !err && m <= M_CONDITIONS; m++)
		if (!member[m].begin)
			err = scan_fail(&rd->s, rd->s.text, "\"%s\" is missing", member_names[m]);
	err = err ? err : read_small(rd, member, small);
	err = err ? err : reserve_tables(rd, member);
	err = err ? err : for_each(rd, member[M_METRICS], "metrics", each_metric);
	err = err ? err : for_each(rd, member[M_ARMS], "arms", each_arm);
	if (!err) {
		index_arms(rd);
		err = for_each(rd, member[M_ARMS], "arms", each_twin);
	}
	err = err ? err : read_reference(rd, member, small);
	err = err ? err : reader_conditions(rd, member[M_CONDITIONS]);
	err = err ? err : reader_set_flags(rd);
	if (!err && member[M_WARNINGS].begin)
		err = for_each(rd, member[M_WARNINGS], "warnings", each_warning);
	json_decref(small);
	return err;
}

int result_read(const char *path, struct result **out, struct reason *why)
{
	struct reader rd = { .s = { .path = path, .why = why } };
	int err;

	*out = NULL;
	err = scan_load(&rd.s);
	if (!err) {
		rd.r = result_new(NULL, 0, NULL, 0);
		rd.r->file = util_strdup(path);
		err = read_document(&rd);
	}
	free(rd.s.text);
	free(rd.late);
	free(rd.by_name);
	if (err) {
		result_free(rd.r);
		return err;
	}
	*out = rd.r;
	return 0;
}
