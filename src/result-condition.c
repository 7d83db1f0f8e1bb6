/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reading the conditions of a result file: values, flags of trials, comparisons.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result-private.h"
#include "result-reader.h"

#define ROUNDS_MAX 100000000u

/* Index of @text in @names, or -1. */
static int name_index(const char *text, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(text, names[i]))
			return (int)i;
	return -1;
}

static void set_setting(struct reader *rd, size_t condition, const char *key, const char *value, const char *why)
{
	(void)why;
	if (value)
		result_condition_set(rd->r, condition, key, value);
}

static int read_summary(struct reader *rd, struct piece at, json_t *object, struct summary *out)
{
	int err;

	if (!object || json_is_null(object))
		return 0;
	if (!json_is_object(object))
		return scan_fail(&rd->s, at.begin, "\"summary\" must be an object");
	*out = (struct summary){ .mean = NAN, .sd = -1 };
	err = scan_count(&rd->s, at, object, "n", &out->n);
	err = err ? err : scan_number(&rd->s, at, object, "mean", -HUGE_VAL, HUGE_VAL, &out->mean);
	err = err ? err : scan_number(&rd->s, at, object, "sd", 0, HUGE_VAL, &out->sd);
	if (!err && out->n && !isfinite(out->mean))
		err = scan_fail(&rd->s, at.begin, "a \"summary\" with n needs its \"mean\"");
	if (!err && !out->n && isfinite(out->mean))
		err = scan_fail(&rd->s, at.begin, "a \"summary\" needs its \"n\", at least 1");
	return err;
}

static int read_comparison(struct reader *rd, struct piece at, json_t *object, const char *name,
			   struct result_comparison *c)
{
	json_t *member = json_object_get(object, name), *flags;
	const char *reference = NULL, *verdict = NULL, *method = NULL;
	struct interval *i = &c->c.interval;
	size_t n = 0;
	int err, index;

	if (!member || json_is_null(member))
		return 0;
	if (!json_is_object(member))
		return scan_fail(&rd->s, at.begin, "\"%s\" must be an object", name);
	memset(&c->c, 0, sizeof(c->c));
	c->null_control = false;
	/* null: no bound, which is infinite here */
	i->estimate = NAN;
	i->low = -HUGE_VAL;
	i->high = HUGE_VAL;
	c->c.detectable = c->c.rounds_needed = HUGE_VAL;
	c->c.p_value = NAN;
	err = scan_string(&rd->s, at, member, "reference", true, &reference);
	err = err ? err : scan_string(&rd->s, at, member, "verdict", true, &verdict);
	err = err ? err : scan_string(&rd->s, at, member, "method", true, &method);
	err = err ? err : scan_bool(&rd->s, at, member, "null_control", &c->null_control);
	err = err ? err : scan_number(&rd->s, at, member, "estimate", -HUGE_VAL, HUGE_VAL, &i->estimate);
	err = err ? err : scan_number(&rd->s, at, member, "low", -HUGE_VAL, HUGE_VAL, &i->low);
	err = err ? err : scan_number(&rd->s, at, member, "high", -HUGE_VAL, HUGE_VAL, &i->high);
	err = err ? err : scan_number(&rd->s, at, member, "confidence", 0, 1, &i->level);
	err = err ? err : scan_count(&rd->s, at, member, "n", &n);
	err = err ? err : scan_number(&rd->s, at, member, "margin", 0, HUGE_VAL, &c->c.margin);
	err = err ? err : scan_number(&rd->s, at, member, "detectable", 0, HUGE_VAL, &c->c.detectable);
	err = err ? err : scan_number(&rd->s, at, member, "rounds_needed", 0, HUGE_VAL, &c->c.rounds_needed);
	err = err ? err : scan_number(&rd->s, at, member, "p_value", 0, 1, &c->c.p_value);
	if (err)
		return err;
	i->n = n;
	index = name_index(method, result_method_names, RESULT_METHOD_NAMES);
	if (index < 0)
		return scan_fail(&rd->s, at.begin, "\"method\": \"%s\" is none of paired, unpaired, summary", method);
	c->c.method = (enum verdict_method)index;
	for (index = 0; index < VERDICTS && strcmp(verdict, verdict_name((enum verdict)index)); index++)
		;
	if (index == VERDICTS)
		return scan_fail(&rd->s, at.begin, "\"verdict\": there is no verdict \"%s\"", verdict);
	c->c.verdict = (enum verdict)index;
	flags = json_object_get(member, "flags");
	for (size_t k = 0; k < json_array_size(flags); k++) {
		const char *flag = json_string_value(json_array_get(flags, k));

		index = flag ? name_index(flag, result_compare_flag_names, RESULT_COMPARE_FLAG_NAMES) : -1;
		if (index >= 0)
			c->c.flags |= 1u << index;
	}
	c->reference = reader_find_arm(rd, reference, rd->r->reference);
	if (c->reference == SIZE_MAX)
		return scan_fail(&rd->s, at.begin, "\"reference\" names \"%s\", which is no arm of this file",
				 reference);
	if (isfinite(i->estimate))
		result_append_comparison(rd->r, c);
	return 0;
}

static int read_series(struct reader *rd, struct piece at, json_t *object, size_t condition, size_t arm, size_t metric)
{
	struct result_series *s = result_series(rd->r, condition, arm, metric);
	json_t *values = json_object_get(object, "values");
	struct result_comparison c = { .condition = condition, .arm = arm, .metric = metric };
	const char *why = NULL;
	size_t n = json_array_size(values);
	bool any = false;
	int err;

	if (!json_is_object(object))
		return scan_fail(&rd->s, at.begin, "metric \"%s\" must be an object", rd->r->metric[metric].name);
	if (values && !json_is_null(values) && !json_is_array(values))
		return scan_fail(&rd->s, at.begin, "\"values\" must be an array");
	if (n > ROUNDS_MAX)
		return scan_fail(&rd->s, at.begin, "more than %u rounds", ROUNDS_MAX);
	if (n) {
		s->value = util_calloc(n, sizeof(*s->value));
		s->n = s->room = n;
	}
	for (size_t i = 0; i < n; i++) {
		json_t *value = json_array_get(values, i);

		if (!json_is_number(value) && !json_is_null(value))
			return scan_fail(&rd->s, at.begin, "\"%s\": value %zu must be a number or null",
					 rd->r->metric[metric].name, i);
		s->value[i] = json_is_null(value) ? NAN : json_number_value(value);
		any = any || json_is_number(value);
	}
	if (n > rd->r->rounds[condition])
		rd->r->rounds[condition] = n;
	err = scan_string(&rd->s, at, object, "why", false, &why);
	err = err ? err : scan_number(&rd->s, at, object, "running_share", 0, 1, &s->running_share);
	/* next to values the summary is there for readers of the file; it is theirs that counts */
	if (!err && !any)
		err = read_summary(rd, at, json_object_get(object, "summary"), &s->summary);
	s->why = why ? util_strdup(why) : NULL;
	err = err ? err : read_comparison(rd, at, object, "comparison", &c);
	return err ? err : read_comparison(rd, at, object, "twin_comparison", &c);
}

static void add_late_flag(struct reader *rd, size_t condition, size_t arm, size_t round, unsigned int flag)
{
	if (rd->nlate == rd->late_room) {
		rd->late_room = rd->late_room ? 2 * rd->late_room : 16;
		rd->late = util_realloc(rd->late, rd->late_room, sizeof(*rd->late));
	}
	rd->late[rd->nlate++] = (struct late_flag){ condition, arm, round, flag };
}

static int read_trials(struct reader *rd, struct piece at, json_t *trials, size_t condition, size_t arm)
{
	if (!trials || json_is_null(trials))
		return 0;
	if (!json_is_object(trials))
		return scan_fail(&rd->s, at.begin, "\"trials\" must be an object");
	for (unsigned int bit = 0; bit < RESULT_FLAG_NAMES; bit++) {
		json_t *rounds = json_object_get(trials, result_flag_names[bit]);

		if (rounds && !json_is_array(rounds))
			return scan_fail(&rd->s, at.begin, "\"trials\": \"%s\" must be an array",
					 result_flag_names[bit]);
		for (size_t i = 0; i < json_array_size(rounds); i++) {
			json_t *round = json_array_get(rounds, i);
			double number = json_number_value(round);

			if (!json_is_number(round) || !(number >= 0 && number < ROUNDS_MAX) || number != floor(number))
				return scan_fail(&rd->s, at.begin, "\"trials\": \"%s\" must hold numbers of rounds",
						 result_flag_names[bit]);
			add_late_flag(rd, condition, arm, (size_t)number, 1u << bit);
		}
	}
	return 0;
}

/* One arm under one condition. Arms come in the order of "arms" in files of this tool; by name in any order elsewhere.
 */
static int read_condition_arm(struct reader *rd, struct piece at, json_t *object, size_t condition, size_t likely)
{
	json_t *metrics = json_object_get(object, "metrics"), *series;
	const char *name = NULL, *metric;
	int err = scan_string(&rd->s, at, object, "arm", true, &name);
	size_t arm;

	if (err)
		return err;
	arm = reader_find_arm(rd, name, likely);
	if (arm == SIZE_MAX)
		return scan_fail(&rd->s, at.begin, "\"arm\" names \"%s\", which is not in \"arms\"", name);
	if (metrics && !json_is_object(metrics))
		return scan_fail(&rd->s, at.begin, "\"metrics\" must be an object");
	json_object_foreach(metrics, metric, series) {
		size_t m = result_find_metric(rd->r, metric);

		if (m == SIZE_MAX)
			return scan_fail(&rd->s, at.begin, "metric \"%s\" is not in the file's \"metrics\"", metric);
		if (result_series(rd->r, condition, arm, m)->n || result_series(rd->r, condition, arm, m)->summary.n)
			return scan_fail(&rd->s, at.begin, "arm \"%s\" is there twice", name);
		err = read_series(rd, at, series, condition, arm, m);
		if (err)
			return err;
	}
	return read_trials(rd, at, json_object_get(object, "trials"), condition, arm);
}

static int read_condition_arms(struct reader *rd, struct piece piece, size_t condition)
{
	const char *p = piece.begin + 1;
	struct piece element;
	int more;

	if (*piece.begin != '[')
		return scan_fail(&rd->s, piece.begin, "\"arms\" of a condition must be an array");
	for (size_t i = 0; (more = scan_next(&rd->s, &p, ']', i == 0, NULL, &element)) > 0; i++) {
		json_t *object = scan_parse(&rd->s, element);
		int err = object ? 0 : -EINVAL;

		if (!err && !json_is_object(object))
			err = scan_fail(&rd->s, element.begin, "expected an object in \"arms\" of a condition");
		if (!err)
			err = read_condition_arm(rd, element, object, condition, i);
		json_decref(object);
		if (err)
			return err;
	}
	return more;
}

/* Its small members first, for the name; then its arms. */
static int read_condition(struct reader *rd, struct piece piece)
{
	static const char *const known[] = { "name", "settings", "rounds", "looks_planned", "looks_taken", "ended" };
	json_t *small = json_object();
	struct piece key, value, arms = { NULL, NULL };
	const char *p = piece.begin + 1, *name = "", *ended = NULL;
	size_t planned = 0, taken = 0, condition;
	int more, err = 0;

	if (*piece.begin != '{') {
		json_decref(small);
		return scan_fail(&rd->s, piece.begin, "expected an object in \"conditions\"");
	}
	for (bool first = true; !err && (more = scan_next(&rd->s, &p, '}', first, &key, &value)) != 0; first = false) {
		if (more < 0) {
			err = more;
			break;
		}
		if (scan_is(key, "arms")) {
			if (arms.begin)
				err = scan_fail(&rd->s, key.begin, "\"arms\" is there twice");
			arms = value;
			continue;
		}

		json_t *parsed = scan_parse(&rd->s, value);

		if (!parsed)
			err = -EINVAL;
		for (size_t i = 0; parsed && i < ARRAY_SIZE(known); i++)
			if (scan_is(key, known[i])) {
				if (json_object_get(small, known[i]))
					err = scan_fail(&rd->s, key.begin, "\"%s\" is there twice", known[i]);
				json_object_set(small, known[i], parsed);
			}
		json_decref(parsed);
	}
	err = err ? err : scan_string(&rd->s, piece, small, "name", false, &name);
	err = err ? err : scan_string(&rd->s, piece, small, "ended", false, &ended);
	err = err ? err : scan_count(&rd->s, piece, small, "looks_planned", &planned);
	err = err ? err : scan_count(&rd->s, piece, small, "looks_taken", &taken);
	if (!err) {
		condition = result_add_condition(rd->r, name);
		result_condition_end(rd->r, condition, ended, planned, taken);
		if (json_object_get(small, "settings"))
			err = reader_pairs(rd, piece, json_object_get(small, "settings"), "settings", set_setting,
					   condition);
		if (!err && arms.begin)
			err = read_condition_arms(rd, arms, condition);
	}
	json_decref(small);
	return err;
}

int reader_conditions(struct reader *rd, struct piece piece)
{
	const char *p = piece.begin + 1;
	struct piece element;
	int more;

	if (*piece.begin != '[')
		return scan_fail(&rd->s, piece.begin, "\"conditions\" must be an array");
	for (bool first = true; (more = scan_next(&rd->s, &p, ']', first, NULL, &element)) > 0; first = false) {
		int err = read_condition(rd, element);

		if (err)
			return err;
	}
	return more;
}

/* Now that the rounds are known: every round that has values took place; then what is special about some. */
int reader_set_flags(struct reader *rd)
{
	struct result *r = rd->r;
	size_t rounds = 0;

	for (size_t i = 0; i < rd->nlate; i++)
		if (rd->late[i].round >= r->rounds[rd->late[i].condition])
			r->rounds[rd->late[i].condition] = rd->late[i].round + 1;
	for (size_t c = 0; c < r->ncondition; c++)
		if (r->rounds[c] > rounds)
			rounds = r->rounds[c];
	if (rounds && (double)r->room_condition * (double)r->room_arm * (double)rounds >
	    (double)TABLE_BYTES_FREE + (double)rd->s.size * TABLE_BYTES_PER_BYTE)
		return scan_fail(&rd->s, rd->s.text,
				 "%zu arms under %zu conditions cannot have had %zu rounds in a file of %zu bytes",
				 r->narm, r->ncondition, rounds, rd->s.size);
	result_reserve_rounds(r, rounds);
	for (size_t c = 0; c < r->ncondition; c++)
		for (size_t a = 0; a < r->narm; a++) {
			size_t n = 0;

			for (size_t m = 0; m < r->nmetric; m++)
				if (result_series(r, c, a, m)->n > n)
					n = result_series(r, c, a, m)->n;
			for (size_t i = 0; i < n; i++)
				result_put_flags(r, c, a, i, 0);
		}
	for (size_t i = 0; i < rd->nlate; i++) {
		struct late_flag *f = &rd->late[i];
		unsigned int flags = result_flags(r, f->condition, f->arm, f->round);
		bool known = f->round < r->rounds[f->condition] && !(flags & TRIAL_FAILED);

		result_put_flags(r, f->condition, f->arm, f->round, known ? flags | f->flag : f->flag);
	}
	return 0;
}
