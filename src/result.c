/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result model: building it and asking it. Comparisons are in result-compare.c, the file in result-json.c and
 * result-read.c.
 */
#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "result-private.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

/* A round of which nothing is known yet. Only inside trial_flags; result_flags() shows it as TRIAL_FAILED. */
#define TRIAL_UNSET 0x80u

static const struct {
	const char *name, *text, *advice;
} warnings[RESULT_WARNING_COUNT] = {
#define X(ident, id, what, todo) [WARN_##ident] = { id, what, todo },
	RESULT_WARNINGS(X)
#undef X
};

const char *result_warning_name(enum result_warning id)
{
	return warnings[id].name;
}

const char *result_warning_text(enum result_warning id)
{
	return warnings[id].text;
}

const char *result_warning_advice(enum result_warning id)
{
	return warnings[id].advice;
}

static char *copy_string(const char *s)
{
	return s ? util_strdup(s) : NULL;
}

/* Words that a shell would read back as they are need no quotes. */
static bool is_plain_word(const char *s)
{
	return *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^")] == '\0';
}

/* The command line as a user could paste it into a shell. */
static char *join_command_line(int argc, char *const *argv)
{
	size_t size = 1;

	for (int i = 0; i < argc; i++)
		size += 4 * strlen(argv[i]) + 3;	/* a quote becomes '\'' */

	char *line = util_calloc(size, 1), *p = line;

	for (int i = 0; i < argc; i++) {
		if (i)
			*p++ = ' ';
		if (is_plain_word(argv[i])) {
			p = stpcpy(p, argv[i]);
			continue;
		}
		*p++ = '\'';
		for (const char *c = argv[i]; *c; c++) {
			if (*c == '\'')
				p = stpcpy(p, "'\\''");
			else
				*p++ = *c;
		}
		*p++ = '\'';
	}
	*p = '\0';
	return line;
}

static char *utc_now(void)
{
	time_t now = time(NULL);
	struct tm tm;
	char text[32];

	if (!gmtime_r(&now, &tm) || !strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm))
		return NULL;
	return util_strdup(text);
}

struct result *result_new(const char *command, int argc, char *const *argv, uint64_t seed)
{
	struct result *r = util_calloc(1, sizeof(*r));

	r->tool_version = util_strdup(PACKAGE_VERSION);
	r->command = copy_string(command);
	r->command_line = argc > 0 ? join_command_line(argc, argv) : NULL;
	r->start_time = utc_now();
	r->seed = seed;
	r->rule = (struct verdict_rule){ .margin = 0.01, .level = 0.95, .better = BETTER_LOWER };
	r->interleaved = true;
	return r;
}

static void free_pairs(struct result_pair *pair, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(pair[i].key);
		free(pair[i].value);
		free(pair[i].why);
	}
	free(pair);
}

void result_free(struct result *r)
{
	if (!r)
		return;
	for (size_t c = 0; c < r->ncondition; c++)
		for (size_t a = 0; a < r->narm; a++)
			for (size_t m = 0; m < r->nmetric; m++) {
				free(result_series(r, c, a, m)->value);
				free(result_series(r, c, a, m)->why);
			}
	free(r->series);
	for (size_t a = 0; a < r->narm; a++) {
		free(r->arm[a].name);
		free(r->arm[a].kind);
		free(r->arm[a].bytes);
		free(r->arm[a].text);
		free(r->arm[a].setup);
		free(r->arm[a].absent);
	}
	free(r->arm);
	for (size_t m = 0; m < r->nmetric; m++) {
		free(r->metric[m].name);
		free(r->metric[m].unit);
	}
	free(r->metric);
	for (size_t c = 0; c < r->ncondition; c++) {
		free(r->condition[c].name);
		free(r->condition[c].ended);
		free_pairs(r->condition[c].pair, r->condition[c].npair);
	}
	free(r->condition);
	free_pairs(r->env, r->nenv);
	for (size_t i = 0; i < r->nwarning; i++)
		free(r->warning[i].detail);
	free(r->warning);
	free(r->comparison);
	free(r->trial_flags);
	free(r->rounds);
	free(r->tool_version);
	free(r->command);
	free(r->command_line);
	free(r->file);
	free(r->start_time);
	free(r);
}

static size_t flags_index(const struct result *r, size_t condition, size_t arm, size_t round)
{
	return (condition * r->room_arm + arm) * r->flags_room + round;
}

/* Move series and flags to tables of a new shape. */
static void reshape(struct result *r, size_t conditions, size_t arms, size_t metrics, size_t rounds)
{
	struct result old = *r;

	r->room_condition = conditions;
	r->room_arm = arms;
	r->room_metric = metrics;
	r->flags_room = rounds;
	r->series = util_calloc(conditions * arms * metrics, sizeof(*r->series));
	for (size_t i = 0; i < conditions * arms * metrics; i++)
		r->series[i].running_share = 1;
	r->trial_flags = rounds ? util_calloc(conditions * arms * rounds, 1) : NULL;
	if (rounds)
		memset(r->trial_flags, TRIAL_UNSET, conditions * arms * rounds);
	for (size_t c = 0; c < old.ncondition; c++)
		for (size_t a = 0; a < old.narm; a++) {
			for (size_t m = 0; m < old.nmetric; m++)
				*result_series(r, c, a, m) = *result_series(&old, c, a, m);
			if (old.flags_room)
				memcpy(&r->trial_flags[flags_index(r, c, a, 0)],
				       &old.trial_flags[flags_index(&old, c, a, 0)], old.flags_room);
		}
	free(old.series);
	free(old.trial_flags);
}

static size_t grown(size_t room, size_t wanted, size_t first)
{
	if (wanted <= room)
		return room;
	return wanted > 2 * room ? (wanted > first ? wanted : first) : 2 * room;
}

void result_reserve(struct result *r, size_t conditions, size_t arms, size_t metrics)
{
	if (conditions <= r->room_condition && arms <= r->room_arm && metrics <= r->room_metric)
		return;
	reshape(r, grown(r->room_condition, conditions, 1), grown(r->room_arm, arms, 1),
		grown(r->room_metric, metrics, 1), r->flags_room);
}

void result_reserve_rounds(struct result *r, size_t rounds)
{
	if (rounds > r->flags_room)
		reshape(r, r->room_condition, r->room_arm, r->room_metric, rounds);
}

/* Arrays of arms, metrics, conditions, pairs and warnings double whenever their number reaches a power of two. */
static void *append_room(void *array, size_t n, size_t size)
{
	if (n & (n - 1))
		return array;
	return util_realloc(array, n ? 2 * n : 1, size);
}

size_t result_add_arm(struct result *r, const char *name, const char *kind, const char *bytes, const char *text)
{
	result_reserve(r, r->room_condition ? r->room_condition : 1, r->narm + 1, r->room_metric ? r->room_metric : 1);
	r->arm = append_room(r->arm, r->narm, sizeof(*r->arm));
	r->arm[r->narm] = (struct result_arm){
		.name = copy_string(name),
		.kind = copy_string(kind),
		.bytes = copy_string(bytes),
		.text = copy_string(text),
		.twin_of = -1,
	};
	return r->narm++;
}

void result_arm_absent(struct result *r, size_t arm, const char *why)
{
	free(r->arm[arm].absent);
	r->arm[arm].absent = copy_string(why);
}

size_t result_add_metric(struct result *r, const char *name, const char *unit, enum better better, bool estimated,
			 bool headline)
{
	result_reserve(r, r->room_condition ? r->room_condition : 1, r->room_arm ? r->room_arm : 1, r->nmetric + 1);
	r->metric = append_room(r->metric, r->nmetric, sizeof(*r->metric));
	r->metric[r->nmetric] = (struct result_metric){
		.name = copy_string(name),
		.unit = copy_string(unit),
		.better = better,
		.estimated = estimated,
		.headline = headline,
	};
	return r->nmetric++;
}

size_t result_add_condition(struct result *r, const char *name)
{
	result_reserve(r, r->ncondition + 1, r->room_arm ? r->room_arm : 1, r->room_metric ? r->room_metric : 1);
	r->condition = append_room(r->condition, r->ncondition, sizeof(*r->condition));
	r->rounds = append_room(r->rounds, r->ncondition, sizeof(*r->rounds));
	r->condition[r->ncondition] = (struct result_condition){ .name = util_strdup(name ? name : "") };
	r->rounds[r->ncondition] = 0;
	return r->ncondition++;
}

/* Set @key in an ordered list of pairs, replacing an earlier value. */
static void set_pair(struct result_pair **pair, size_t *n, const char *key, const char *value, const char *why)
{
	size_t i = 0;

	while (i < *n && strcmp((*pair)[i].key, key))
		i++;
	if (i == *n) {
		*pair = append_room(*pair, *n, sizeof(**pair));
		(*pair)[i] = (struct result_pair){ .key = util_strdup(key) };
		++*n;
	}
	free((*pair)[i].value);
	free((*pair)[i].why);
	(*pair)[i].value = copy_string(value);
	(*pair)[i].why = value ? NULL : copy_string(why ? why : "not known");
}

void result_condition_set(struct result *r, size_t condition, const char *key, const char *value)
{
	set_pair(&r->condition[condition].pair, &r->condition[condition].npair, key, value, NULL);
}

void result_condition_end(struct result *r, size_t condition, const char *ended, size_t looks_planned,
			  size_t looks_taken)
{
	struct result_condition *c = &r->condition[condition];

	free(c->ended);
	c->ended = copy_string(ended);
	c->looks_planned = looks_planned;
	c->looks_taken = looks_taken;
}

void result_set_env(struct result *r, const char *key, const char *value, const char *why)
{
	set_pair(&r->env, &r->nenv, key, value, why);
}

const char *result_env(const struct result *r, const char *key)
{
	for (size_t i = 0; i < r->nenv; i++)
		if (!strcmp(r->env[i].key, key))
			return r->env[i].value;
	return NULL;
}

void result_warn(struct result *r, enum result_warning id, const char *detail)
{
	for (size_t i = 0; i < r->nwarning; i++) {
		const char *seen = r->warning[i].detail;

		if (r->warning[i].id == id && (seen && detail ? !strcmp(seen, detail) : seen == detail))
			return;
	}
	result_append_warning(r, id, detail, false);
}

void result_append_warning(struct result *r, enum result_warning id, const char *detail, bool derived)
{
	r->warning = append_room(r->warning, r->nwarning, sizeof(*r->warning));
	r->warning[r->nwarning++] =
		(struct result_warning_entry){ .id = id, .detail = copy_string(detail), .derived = derived };
}

void result_append_comparison(struct result *r, const struct result_comparison *c)
{
	r->comparison = append_room(r->comparison, r->ncomparison, sizeof(*r->comparison));
	r->comparison[r->ncomparison++] = *c;
}

struct result_series *result_series(const struct result *r, size_t condition, size_t arm, size_t metric)
{
	return &r->series[(condition * r->room_arm + arm) * r->room_metric + metric];
}

/* A round that is stored for the first time makes the flag table grow. */
static void reach_round(struct result *r, size_t condition, size_t round)
{
	if (round >= r->flags_room)
		reshape(r, r->room_condition, r->room_arm, r->room_metric, grown(r->flags_room, round + 1, 8));
	if (round >= r->rounds[condition])
		r->rounds[condition] = round + 1;
}

void result_put(struct result *r, size_t condition, size_t arm, size_t metric, size_t round, struct value v)
{
	reach_round(r, condition, round);

	unsigned char *flags = &r->trial_flags[flags_index(r, condition, arm, round)];
	struct result_series *s = result_series(r, condition, arm, metric);

	if (*flags == TRIAL_UNSET)
		*flags = 0;
	if (round >= s->room) {
		s->room = grown(s->room, round + 1, 4);
		s->value = util_realloc(s->value, s->room, sizeof(*s->value));
	}
	while (s->n <= round)
		s->value[s->n++] = NAN;
	if (!v.why && !isfinite(v.number))
		v = value_missing("the value is not a finite number");
	if (v.why && !s->why)
		s->why = util_strdup(v.why);
	s->value[round] = v.why || (*flags & TRIAL_FAILED) ? NAN : v.number;
}

void result_put_flags(struct result *r, size_t condition, size_t arm, size_t round, unsigned int flags)
{
	reach_round(r, condition, round);
	r->trial_flags[flags_index(r, condition, arm, round)] = (unsigned char)(flags & ~TRIAL_UNSET);
	if (!(flags & TRIAL_FAILED))
		return;
	for (size_t m = 0; m < r->nmetric; m++) {
		struct result_series *s = result_series(r, condition, arm, m);

		if (round < s->n)
			s->value[round] = NAN;
	}
}

unsigned int result_flags(const struct result *r, size_t condition, size_t arm, size_t round)
{
	unsigned int flags =
		round < r->flags_room ? r->trial_flags[flags_index(r, condition, arm, round)] : TRIAL_UNSET;

	return flags & TRIAL_UNSET ? TRIAL_FAILED : flags;
}

size_t result_values(const struct result *r, size_t condition, size_t arm, size_t metric, double *out)
{
	const struct result_series *s = result_series(r, condition, arm, metric);
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		if (isfinite(s->value[i]))
			out[n++] = s->value[i];
	return n;
}

size_t result_headline(const struct result *r)
{
	for (size_t m = 0; m < r->nmetric; m++)
		if (r->metric[m].headline)
			return m;
	return 0;
}

size_t result_find_arm(const struct result *r, const char *name)
{
	for (size_t a = 0; a < r->narm; a++)
		if (!strcmp(r->arm[a].name, name))
			return a;
	return SIZE_MAX;
}

size_t result_find_metric(const struct result *r, const char *name)
{
	for (size_t m = 0; m < r->nmetric; m++)
		if (!strcmp(r->metric[m].name, name))
			return m;
	return SIZE_MAX;
}

size_t result_paired(const struct result *r, size_t condition, size_t arm, size_t reference, size_t metric, double *a,
		     double *b)
{
	const struct result_series *sa = result_series(r, condition, arm, metric),
				   *sb = result_series(r, condition, reference, metric);
	size_t n = 0;

	for (size_t i = 0; i < sa->n && i < sb->n; i++)
		if (isfinite(sa->value[i]) && isfinite(sb->value[i])) {
			a[n] = sa->value[i];
			b[n++] = sb->value[i];
		}
	return n;
}
