/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Holding two stored results against one another.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result-diff.h"
#include "result-private.h"

/* Measured settings and rates move a little between runs; this much is no difference. */
#define RATE_TOLERANCE 0.01

/* Keys of env that tell nothing about whether two runs may be compared, or are measured anew each time. */
static const char *const not_conditions[] = { "read_cost_ns", "cpus_allowed" };

static bool same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool ends_in(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n >= m && !strcmp(s + n - m, end);
}

/* Equal, or rates and times that are nearly equal. */
static bool same_value(const char *key, const char *a, const char *b)
{
	double x, y;

	if (same_text(a, b))
		return true;
	if (!a || !b || (!ends_in(key, "_mhz") && !ends_in(key, "_ns")))
		return false;
	if (util_parse_double(a, -1e18, 1e18, &x) || util_parse_double(b, -1e18, 1e18, &y))
		return false;
	return fabs(x - y) <= RATE_TOLERANCE * fmax(fabs(x), fabs(y));
}

static void *grown_by_one(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : util_realloc(array, n ? 2 * n : 1, size);
}

static void add_difference(struct result_diff *d, const char *what, const char *old, const char *new)
{
	d->difference = grown_by_one(d->difference, d->ndifference, sizeof(*d->difference));
	d->difference[d->ndifference++] = (struct diff_difference){
		util_strdup(what), util_strdup(old ? old : "not known"), util_strdup(new ? new : "not known"),
	};
}

/* Takes @what and @why over. */
static void add_refusal(struct diff_refusal **list, size_t *n, char *what, char *why)
{
	*list = grown_by_one(*list, *n, sizeof(**list));
	(*list)[(*n)++] = (struct diff_refusal){ what, why };
}

static void exclude(struct result_diff *d, char *what, char *why)
{
	add_refusal(&d->excluded, &d->nexcluded, what, why);
}

static void refuse(struct result_diff *d, char *what, char *why)
{
	add_refusal(&d->refused, &d->nrefused, what, why);
}

static const struct result_pair *find_pair(const struct result_pair *pair, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(pair[i].key, key))
			return &pair[i];
	return NULL;
}

/* Keys of both lists, those of the old side first. @prefix: what they belong to. */
static void compare_pairs(struct result_diff *d, const char *prefix, const struct result_pair *old, size_t nold,
			  const struct result_pair *new, size_t nnew)
{
	for (size_t pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < (pass ? nnew : nold); i++) {
			const char *key = pass ? new[i].key : old[i].key;
			const struct result_pair *a = find_pair(old, nold, key), *b = find_pair(new, nnew, key);
			bool skip = pass && a;
			char *what;

			for (size_t k = 0; k < ARRAY_SIZE(not_conditions); k++)
				skip = skip || !strcmp(key, not_conditions[k]);
			if (skip || same_value(key, a ? a->value : NULL, b ? b->value : NULL))
				continue;
			what = util_asprintf("%s%s", prefix, key);
			add_difference(d, what, a ? a->value : NULL, b ? b->value : NULL);
			free(what);
		}
}

static void compare_environments(struct result_diff *d)
{
	const struct result *old = d->side[DIFF_OLD], *new = d->side[DIFF_NEW];

	compare_pairs(d, "", old->env, old->nenv, new->env, new->nenv);
	if (!same_text(old->tool_version, new->tool_version))
		add_difference(d, "tool version", old->tool_version, new->tool_version);
	if (!same_text(old->command, new->command))
		add_difference(d, "command", old->command, new->command);
	if (old->interleaved != new->interleaved)
		add_difference(d, "interleaved", old->interleaved ? "yes" : "no", new->interleaved ? "yes" : "no");
	if (old->narm > 1 && new->narm > 1 && old->reference < old->narm && new->reference < new->narm &&
	    !same_text(old->arm[old->reference].name, new->arm[new->reference].name))
		add_difference(d, "reference arm", old->arm[old->reference].name, new->arm[new->reference].name);
}

/* Names of one side in order, to find equal ones of large results. */
struct sorted_name {
	const char *name;
	size_t index;
};

static int compare_sorted(const void *pa, const void *pb)
{
	const struct sorted_name *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : a->index < b->index ? -1 : a->index > b->index;
}

static size_t find_sorted(const struct sorted_name *list, size_t n, const char *name)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(list[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && !strcmp(list[low].name, name) ? list[low].index : SIZE_MAX;
}

/* For each arm (or condition) of the old side its partner on the new side, or SIZE_MAX. */
struct pairing {
	size_t *partner;
	bool *taken;	/* of the new side */
};

static struct pairing pair_names(size_t nold, const char *(*name)(const struct result *r, size_t i),
				 const struct result_diff *d, size_t nnew)
{
	struct pairing p = { util_calloc(nold, sizeof(*p.partner)), util_calloc(nnew, sizeof(*p.taken)) };
	struct sorted_name *list = util_calloc(nnew, sizeof(*list));

	for (size_t i = 0; i < nnew; i++)
		list[i] = (struct sorted_name){ name(d->side[DIFF_NEW], i), i };
	qsort(list, nnew, sizeof(*list), compare_sorted);
	for (size_t i = 0; i < nold; i++) {
		p.partner[i] = find_sorted(list, nnew, name(d->side[DIFF_OLD], i));
		if (p.partner[i] != SIZE_MAX && p.taken[p.partner[i]])
			p.partner[i] = SIZE_MAX;	/* a name that is there twice is paired once */
		if (p.partner[i] != SIZE_MAX)
			p.taken[p.partner[i]] = true;
	}
	/* what is alone on both sides is meant for one another */
	if (nold == 1 && nnew == 1 && p.partner[0] == SIZE_MAX) {
		p.partner[0] = 0;
		p.taken[0] = true;
	}
	free(list);
	return p;
}

static const char *arm_name(const struct result *r, size_t i)
{
	return r->arm[i].name;
}

static const char *condition_name(const struct result *r, size_t i)
{
	return r->condition[i].name;
}

static void free_pairing(struct pairing *p)
{
	free(p->partner);
	free(p->taken);
}

static void compare_arm_texts(struct result_diff *d, const struct pairing *arms)
{
	const struct result *old = d->side[DIFF_OLD], *new = d->side[DIFF_NEW];

	for (size_t i = 0; i < old->narm; i++) {
		const struct result_arm *a = &old->arm[i], *b;
		const struct { const char *what, *old, *new; } text[] = {
			{ "name", a->name, arms->partner[i] == SIZE_MAX ? NULL : new->arm[arms->partner[i]].name },
			{ "bytes", a->bytes, arms->partner[i] == SIZE_MAX ? NULL : new->arm[arms->partner[i]].bytes },
			{ "text", a->text, arms->partner[i] == SIZE_MAX ? NULL : new->arm[arms->partner[i]].text },
			{ "set-up", a->setup, arms->partner[i] == SIZE_MAX ? NULL : new->arm[arms->partner[i]].setup },
			{ "kind", a->kind, arms->partner[i] == SIZE_MAX ? NULL : new->arm[arms->partner[i]].kind },
		};

		if (arms->partner[i] == SIZE_MAX) {
			exclude(d, util_strdup(a->name), util_strdup("only in the old result"));
			continue;
		}
		b = &new->arm[arms->partner[i]];
		if (a->absent || b->absent)
			exclude(d, util_strdup(a->name),
				util_asprintf("not measured in the %s result: %s", a->absent ? "old" : "new",
					      a->absent ? a->absent : b->absent));
		for (size_t k = 0; k < ARRAY_SIZE(text); k++) {
			char *what;

			if (same_text(text[k].old, text[k].new))
				continue;
			what = util_asprintf("%s of %s", text[k].what, a->name);
			add_difference(d, what, text[k].old, text[k].new);
			free(what);
		}
	}
	for (size_t i = 0; i < new->narm; i++)
		if (!arms->taken[i])
			exclude(d, util_strdup(new->arm[i].name), util_strdup("only in the new result"));
}

static void compare_settings(struct result_diff *d, const struct pairing *conditions)
{
	const struct result *old = d->side[DIFF_OLD], *new = d->side[DIFF_NEW];

	for (size_t i = 0; i < old->ncondition; i++) {
		const struct result_condition *a = &old->condition[i], *b;
		char *prefix;

		if (conditions->partner[i] == SIZE_MAX) {
			exclude(d, util_asprintf("condition %s", *a->name ? a->name : "without a name"),
				util_strdup("only in the old result"));
			continue;
		}
		b = &new->condition[conditions->partner[i]];
		if (strcmp(a->name, b->name))
			add_difference(d, "condition", a->name, b->name);
		prefix = util_asprintf("%s%s", a->name, *a->name ? ": " : "");
		compare_pairs(d, prefix, a->pair, a->npair, b->pair, b->npair);
		free(prefix);
	}
	for (size_t i = 0; i < new->ncondition; i++)
		if (!conditions->taken[i])
			exclude(d,
				util_asprintf("condition %s",
					      *new->condition[i].name ? new->condition[i].name : "without a name"),
				util_strdup("only in the new result"));
}

/* "cycles:u" -> "cycles": the event without what narrows it down. */
static size_t base_length(const char *name)
{
	return strcspn(name, ":~");
}

static bool same_base(const char *a, const char *b)
{
	return base_length(a) == base_length(b) && !strncmp(a, b, base_length(a));
}

static bool is_ticks(const struct result_metric *m)
{
	return same_base(m->name, "ticks") || !strncmp(m->unit ? m->unit : "", "ticks", strlen("ticks"));
}

/* Does it say how long something took, in whatever unit? Such metrics are taken for one another most easily. */
static bool is_duration(const struct result_metric *m)
{
	static const char *const words[] = {
		"ns", "us", "ms", "s", "ticks", "tsc", "cycles", "cpu-cycles", "ref-cycles"
	};
	const char *unit = m->unit ? m->unit : "";
	size_t length = strcspn(unit, "/ ");

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if ((strlen(words[i]) == base_length(m->name) && !strncmp(m->name, words[i], base_length(m->name))) ||
		    (length && strlen(words[i]) == length && !strncmp(unit, words[i], length)))
			return true;
	return false;
}

static const char *unit_text(const struct result_metric *m)
{
	return m->unit && *m->unit ? m->unit : "no unit";
}

/* Why two metrics of the same name must not be compared, malloc'ed; NULL: they may. */
static char *metrics_differ(const struct result_diff *d, const struct result_metric *a, const struct result_metric *b)
{
	if (!same_text(a->unit ? a->unit : "", b->unit ? b->unit : ""))
		return util_asprintf("its unit is %s in the old result and %s in the new one", unit_text(a),
				     unit_text(b));
	if (a->estimated != b->estimated)
		return util_asprintf("%s in the old result and %s in the new one",
				     a->estimated ? "estimated (~)" : "counted",
				     b->estimated ? "estimated (~)" : "counted");
	if (a->better != b->better)
		return util_asprintf("%s is better in the old result and %s in the new one", better_name(a->better),
				     better_name(b->better));
	if (is_ticks(a)) {
		static const char *const keys[] = { "arch", "ticks", "ticks_mhz" };

		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			const char *x = result_env(d->side[DIFF_OLD], keys[i]),
				   *y = result_env(d->side[DIFF_NEW], keys[i]);

			if (x && y && !same_value(keys[i], x, y))
				return util_asprintf(
					"a tick is not the same on both sides: %s is %s in the old result and %s in the new one",
					keys[i], x, y);
		}
	}
	return NULL;
}

/*
 * Name what is on one side only, and say when the other side has something of nearly the same name that must not stand
 * in for it: cycles:u for cycles, ticks for cycles.
 */
static void name_lonely_metric(struct result_diff *d, enum diff_side side, size_t metric)
{
	const struct result *here = d->side[side], *there = d->side[!side];
	const struct result_metric *m = &here->metric[metric];
	const char *where = side == DIFF_OLD ? "old" : "new";

	for (size_t i = 0; i < there->nmetric; i++) {
		const struct result_metric *o = &there->metric[i];
		bool confusable = same_base(m->name, o->name) || (is_duration(m) && is_duration(o));

		if (result_find_metric(here, o->name) != SIZE_MAX || !confusable)
			continue;
		/* each such pair once, from the old side */
		if (side == DIFF_OLD)
			refuse(d,
			       util_asprintf("%s%s against %s%s", m->name, m->estimated ? "~" : "", o->name,
					     o->estimated ? "~" : ""),
			       same_base(m->name, o->name) ?
				       util_strdup(
					       "they do not count the same thing: what follows the colon selects where an event is counted") :
				       util_asprintf("%s are not %s", m->name, o->name));
		return;
	}
	exclude(d, util_strdup(m->name), util_asprintf("only in the %s result", where));
}

static void add_row(struct result_diff *d, const struct diff_row *row)
{
	d->row = grown_by_one(d->row, d->nrow, sizeof(*d->row));
	d->row[d->nrow++] = *row;
}

/* Without values on one side: one line for all arms that share the metric and the reason. */
static void exclude_missing(struct result_diff *d, const struct diff_row *row, int err)
{
	const struct result *old = d->side[DIFF_OLD], *new = d->side[DIFF_NEW];
	const struct result_series *a =
		result_series(old, row->condition[DIFF_OLD], row->arm[DIFF_OLD], row->metric[DIFF_OLD]);
	const struct result_series *b =
		result_series(new, row->condition[DIFF_NEW], row->arm[DIFF_NEW], row->metric[DIFF_NEW]);
	bool in_old = !a->summary.n && (!a->n || a->why), in_new = !b->summary.n && (!b->n || b->why);
	const char *metric = old->metric[row->metric[DIFF_OLD]].name;
	const char *reason = in_old && a->why ? a->why : in_new && b->why ? b->why : "";
	const char *condition = old->condition[row->condition[DIFF_OLD]].name;
	char *arm = util_asprintf("%s%s%s%s", old->arm[row->arm[DIFF_OLD]].name, *condition ? " (" : "", condition,
				  *condition ? ")" : "");
	char *why = err == -ENODATA ? util_asprintf("no values in %s%s%s",
						    in_old && in_new ? "either result" :
						    in_old	     ? "the old result" :
								       "the new result",
						    *reason ? ": " : "", reason) :
				      util_strdup("no comparison is possible");

	for (size_t i = 0; i < d->nexcluded; i++) {
		struct diff_refusal *x = &d->excluded[i];
		size_t n = strlen(metric);

		if (strcmp(x->why, why) || strncmp(x->what, metric, n) || strncmp(x->what + n, " of ", 4))
			continue;
		if (!ends_in(x->what, "...")) {
			char *longer = util_asprintf("%s, %s", x->what, strlen(x->what) > 100 ? "..." : arm);

			free(x->what);
			x->what = longer;
		}
		free(why);
		free(arm);
		return;
	}
	exclude(d, util_asprintf("%s of %s", metric, arm), why);
	free(arm);
}

static void compare_rows(struct result_diff *d, const struct pairing *conditions, const struct pairing *arms,
			 size_t mold, size_t mnew)
{
	const struct result *old = d->side[DIFF_OLD], *new = d->side[DIFF_NEW];
	struct verdict_rule rule = d->rule;

	rule.better = old->metric[mold].better;
	for (size_t c = 0; c < old->ncondition; c++)
		for (size_t a = 0; a < old->narm && conditions->partner[c] != SIZE_MAX; a++) {
			struct diff_row row = { .condition = { c, conditions->partner[c] },
						.arm = { a, arms->partner[a] },
						.metric = { mold, mnew } };
			int err;

			if (arms->partner[a] == SIZE_MAX || old->arm[a].absent || new->arm[row.arm[1]].absent)
				continue;
			err = result_compare_places(&(struct result_place){ new, row.condition[1], row.arm[1], mnew },
						    &(struct result_place){ old, c, a, mold }, &rule, &row.c);
			if (!err) {
				add_row(d, &row);
				continue;
			}
			exclude_missing(d, &row, err);
		}
}

static int check_metric(const struct result_diff *d, const char *metric, struct reason *why)
{
	const char **names;
	size_t n = 0;
	char hint[256];

	for (int s = 0; s < 2; s++)
		if (!metric || result_find_metric(d->side[s], metric) != SIZE_MAX)
			return 0;
	names = util_calloc(d->side[0]->nmetric + d->side[1]->nmetric + 1, sizeof(*names));
	for (int s = 0; s < 2; s++)
		for (size_t m = 0; m < d->side[s]->nmetric; m++)
			names[n++] = d->side[s]->metric[m].name;
	reason_set(why, EINVAL, "--metric %s: neither result has it%s", metric,
		   util_did_you_mean(metric, names, hint, sizeof(hint)));
	free(names);
	return -EINVAL;
}

int result_diff(const struct result *old, const struct result *new, const struct diff_options *o,
		struct result_diff **out, struct reason *why)
{
	struct result_diff *d = util_calloc(1, sizeof(*d));
	struct pairing arms, conditions;
	int err;

	d->side[DIFF_OLD] = old;
	d->side[DIFF_NEW] = new;
	d->rule = old->rule;
	if (o->margin >= 0)
		d->rule.margin = o->margin;
	if (o->level > 0)
		d->rule.level = o->level;
	err = check_metric(d, o->metric, why);
	if (err) {
		free(d);
		return err;
	}
	arms = pair_names(old->narm, arm_name, d, new->narm);
	conditions = pair_names(old->ncondition, condition_name, d, new->ncondition);
	compare_environments(d);
	compare_settings(d, &conditions);
	compare_arm_texts(d, &arms);
	for (int s = 0; s < 2; s++)
		if (d->side[s]->partial && !o->partial)
			exclude(d,
				util_asprintf("all of %s", d->side[s]->file ? d->side[s]->file :
							   s		    ? "the new result" :
									      "the old result"),
				util_strdup(
					"it is partial: its run ended before its plan was done (--partial uses it nevertheless)"));
	for (size_t m = 0; m < old->nmetric; m++) {
		size_t other = result_find_metric(new, old->metric[m].name);
		char *reason;

		/* details are for looking at: each one more comparison is one more chance finding */
		if (o->metric ? strcmp(o->metric, old->metric[m].name) != 0 : old->metric[m].detail)
			continue;
		if (other == SIZE_MAX) {
			name_lonely_metric(d, DIFF_OLD, m);
			continue;
		}
		reason = metrics_differ(d, &old->metric[m], &new->metric[other]);
		if (reason)
			refuse(d, util_strdup(old->metric[m].name), reason);
		else if (o->partial || (!old->partial && !new->partial))
			compare_rows(d, &conditions, &arms, m, other);
	}
	for (size_t m = 0; m < new->nmetric; m++)
		if (result_find_metric(old, new->metric[m].name) == SIZE_MAX &&
		    (o->metric || !new->metric[m].detail) && (!o->metric || !strcmp(o->metric, new->metric[m].name)))
			name_lonely_metric(d, DIFF_NEW, m);
	free_pairing(&arms);
	free_pairing(&conditions);
	*out = d;
	return 0;
}

static void free_refusals(struct diff_refusal *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].what);
		free(list[i].why);
	}
	free(list);
}

void result_diff_free(struct result_diff *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->ndifference; i++) {
		free(d->difference[i].what);
		free(d->difference[i].old);
		free(d->difference[i].new);
	}
	free(d->difference);
	free_refusals(d->refused, d->nrefused);
	free_refusals(d->excluded, d->nexcluded);
	free(d->row);
	free(d);
}
