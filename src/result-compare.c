/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From the values of a result to its comparisons, null controls and the warnings that follow from the data.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result-private.h"

/* More than this share of interrupted trials is worth a warning; RESULT_WARNINGS says so in words. */
#define INTERFERENCE_SHARE 0.10

struct workspace {
	double *a, *b;
	size_t room;
};

static void workspace_reach(struct workspace *w, size_t n)
{
	if (n <= w->room)
		return;
	w->a = util_realloc(w->a, n, sizeof(double));
	w->b = util_realloc(w->b, n, sizeof(double));
	w->room = n;
}

/*
 * The (n, mean, sd) of a series, whichever way its values are known. @x, @n: its values. Returns false when there are
 * none.
 */
static bool series_summary(const struct result_series *s, const double *x, size_t n, struct summary *out)
{
	if (!n) {
		*out = s->summary;
		return s->summary.n > 0;
	}
	out->n = n;
	stats_mean_sd(x, n, &out->mean, &out->sd);
	if (n < 2)
		out->sd = -1;
	return true;
}

static int compare_unpaired(const struct result_place *arm, const struct result_place *reference,
			    const struct verdict_rule *rule, struct workspace *w, struct comparison *out)
{
	const struct result_series *sa = result_series(arm->r, arm->condition, arm->arm, arm->metric);
	const struct result_series *sb =
		result_series(reference->r, reference->condition, reference->arm, reference->metric);
	size_t na, nb;
	int err;

	workspace_reach(w, sa->n > sb->n ? sa->n : sb->n);
	na = sa->n ? result_values(arm->r, arm->condition, arm->arm, arm->metric, w->a) : 0;
	nb = sb->n ? result_values(reference->r, reference->condition, reference->arm, reference->metric, w->b) : 0;
	memset(out, 0, sizeof(*out));
	if (na && nb) {
		err = verdict_unpaired(w->a, na, w->b, nb, rule, out);
	} else {
		struct summary a, b;

		if (!series_summary(sa, w->a, na, &a) || !series_summary(sb, w->b, nb, &b))
			return -ENODATA;
		err = verdict_summary(&a, &b, rule, out);
	}
	out->flags |= COMPARE_NOT_INTERLEAVED;
	return err;
}

int result_compare_places(const struct result_place *arm, const struct result_place *reference,
			  const struct verdict_rule *rule, struct comparison *out)
{
	struct workspace w = { 0 };
	int err = compare_unpaired(arm, reference, rule, &w, out);

	free(w.a);
	free(w.b);
	return err;
}

/* Compare two arms; -ENODATA when one of them has no values here. */
static int compare_arms(const struct result *r, struct workspace *w, size_t condition, size_t metric, size_t arm,
			size_t reference, double level, struct comparison *out)
{
	const struct result_series *sa = result_series(r, condition, arm, metric),
				   *sb = result_series(r, condition, reference, metric);
	struct verdict_rule rule = r->rule;

	rule.better = r->metric[metric].better;
	if (level > 0)
		rule.level = level;
	workspace_reach(w, sa->n > sb->n ? sa->n : sb->n);
	memset(out, 0, sizeof(*out));
	if (r->interleaved && sa->n && sb->n) {
		size_t n = result_paired(r, condition, arm, reference, metric, w->a, w->b);

		if (n)
			return verdict_paired(w->a, w->b, n, &rule, level, out);
	}
	return compare_unpaired(&(struct result_place){ r, condition, arm, metric },
				&(struct result_place){ r, condition, reference, metric }, &rule, w, out);
}

/* The arm that stands for all arms of the same bytes. */
static size_t twin_root(const struct result *r, size_t arm)
{
	return r->arm[arm].twin_of >= 0 && (size_t)r->arm[arm].twin_of < r->narm ? (size_t)r->arm[arm].twin_of : arm;
}

bool result_are_twins(const struct result *r, size_t a, size_t b)
{
	return a != b && twin_root(r, a) == twin_root(r, b);
}

/* How far from zero a null control reaches: the run's own error. */
static double null_reach(const struct comparison *c)
{
	double low = fabs(c->interval.low), high = fabs(c->interval.high);

	return low > high ? low : high;
}

static double reference_median(const struct result *r, struct workspace *w, size_t condition, size_t metric, size_t arm)
{
	workspace_reach(w, result_series(r, condition, arm, metric)->n);
	return stats_median(w->a, result_values(r, condition, arm, metric, w->a));
}

/*
 * Withdraw what is finer than the null control. The two may be on different scales (one as log ratio, one as
 * difference, when an arm is near zero): a small log ratio is a share of the reference's value.
 */
static void apply_null(struct result *r, struct workspace *w, struct result_comparison *c,
		       const struct result_comparison *null)
{
	struct comparison scaled = null->c;
	bool difference = c->c.flags & COMPARE_DIFFERENCE, null_difference = scaled.flags & COMPARE_DIFFERENCE;

	if (difference != null_difference) {
		double median = fabs(reference_median(r, w, c->condition, c->metric, null->reference));

		if (!isfinite(median) || median <= 0)
			return;

		double factor = difference ? median : 1 / median;

		scaled.interval.estimate *= factor;
		scaled.interval.low *= factor;
		scaled.interval.high *= factor;
		scaled.flags ^= COMPARE_DIFFERENCE;
	}
	verdict_apply_null(&c->c, &scaled);
}

static void compare_metric(struct result *r, struct workspace *w, size_t condition, size_t metric, double level,
			   unsigned int flags)
{
	size_t first = r->ncomparison, widest = SIZE_MAX;
	struct result_comparison c = { .condition = condition, .metric = metric };

	for (size_t arm = 0; arm < r->narm; arm++) {
		if (arm == r->reference || r->arm[arm].absent || r->arm[r->reference].absent)
			continue;
		c.arm = arm;
		c.reference = r->reference;
		c.null_control = result_are_twins(r, arm, r->reference);
		if (compare_arms(r, w, condition, metric, arm, c.reference, level, &c.c))
			continue;
		c.c.flags |= flags;
		result_append_comparison(r, &c);
	}
	for (size_t arm = 0; arm < r->narm; arm++) {
		c.arm = arm;
		c.reference = twin_root(r, arm);
		c.null_control = true;
		if (c.reference == arm || result_are_twins(r, arm, r->reference) || arm == r->reference ||
		    r->arm[arm].absent || r->arm[c.reference].absent)
			continue;
		if (compare_arms(r, w, condition, metric, arm, c.reference, level, &c.c))
			continue;
		c.c.flags |= flags;
		result_append_comparison(r, &c);
	}
	for (size_t i = first; i < r->ncomparison; i++)
		if (r->comparison[i].null_control &&
		    (widest == SIZE_MAX || null_reach(&r->comparison[i].c) > null_reach(&r->comparison[widest].c)))
			widest = i;
	for (size_t i = first; widest != SIZE_MAX && i < r->ncomparison; i++)
		if (!r->comparison[i].null_control)
			apply_null(r, w, &r->comparison[i], &r->comparison[widest]);
}

static void drop_comparisons(struct result *r, size_t condition)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->ncomparison; i++)
		if (condition != SIZE_MAX && r->comparison[i].condition != condition)
			r->comparison[kept++] = r->comparison[i];
	r->ncomparison = kept;
	if (!kept) {
		free(r->comparison);
		r->comparison = NULL;
	} else {
		/* result_append_comparison() doubles at powers of two: give it exactly that room */
		size_t room = 1;

		while (room < kept)
			room *= 2;
		r->comparison = util_realloc(r->comparison, room, sizeof(*r->comparison));
	}
}

static void warn_derived(struct result *r, enum result_warning id, char *detail)
{
	size_t before = r->nwarning;

	result_warn(r, id, detail);
	if (r->nwarning > before)
		r->warning[before].derived = true;
	free(detail);
}

static const char *condition_prefix(const struct result *r, size_t condition, char *buf, size_t size)
{
	const char *name = r->condition[condition].name;

	snprintf(buf, size, "%s%s", name, *name ? ": " : "");
	return buf;
}

static void warn_comparisons(struct result *r)
{
	char where[128];

	for (size_t i = 0; i < r->ncomparison; i++) {
		const struct result_comparison *c = &r->comparison[i];
		const struct result_metric *m = &r->metric[c->metric];
		const char *prefix = condition_prefix(r, c->condition, where, sizeof(where));

		if (c->null_control && c->c.verdict != VERDICT_SAME && c->c.verdict != VERDICT_CANNOT_TELL) {
			const char *arm = r->arm[c->arm].name, *reference = r->arm[c->reference].name;

			if (c->c.flags & COMPARE_DIFFERENCE)
				warn_derived(r, WARN_NULL_DIFFERS,
					     util_asprintf("%s%s against %s, %s: %+.3g %s [%+.3g, %+.3g]", prefix, arm,
							   reference, m->name, c->c.interval.estimate, m->unit,
							   c->c.interval.low, c->c.interval.high));
			else
				warn_derived(r, WARN_NULL_DIFFERS,
					     util_asprintf("%s%s against %s, %s: %+.2f %% [%+.2f, %+.2f]", prefix, arm,
							   reference, m->name, 100 * expm1(c->c.interval.estimate),
							   100 * expm1(c->c.interval.low),
							   100 * expm1(c->c.interval.high)));
		}
		if ((c->c.flags & COMPARE_BIMODAL) && c->metric == result_headline(r))
			warn_derived(r, WARN_BIMODAL, util_asprintf("%s%s against %s, %s", prefix, r->arm[c->arm].name,
				     r->arm[c->reference].name, m->name));
	}
}

static void warn_trials(struct result *r)
{
	size_t trials = 0, interrupted = 0;
	char where[128];

	for (size_t c = 0; c < r->ncondition; c++)
		for (size_t a = 0; a < r->narm; a++) {
			size_t failed = 0;

			if (r->arm[a].absent)
				continue;
			for (size_t i = 0; i < r->rounds[c]; i++) {
				unsigned int flags = result_flags(r, c, a, i);

				trials++;
				failed += !!(flags & TRIAL_FAILED);
				interrupted += !!(flags & (TRIAL_MIGRATED | TRIAL_DESCHEDULED | TRIAL_STOLEN));
			}
			/* a round that a signal cut short is no failure of the arms that it did not reach */
			if (failed &&
			    !(r->partial && failed == 1 && result_flags(r, c, a, r->rounds[c] - 1) & TRIAL_FAILED))
				warn_derived(r, WARN_FAILED_TRIALS,
					     util_asprintf("%s%s: %zu of %zu trials",
							   condition_prefix(r, c, where, sizeof(where)), r->arm[a].name,
							   failed, r->rounds[c]));
			for (size_t m = 0; m < r->nmetric; m++) {
				const struct result_series *s = result_series(r, c, a, m);

				if (s->n && s->running_share < 0.999)
					warn_derived(r, WARN_MULTIPLEXED,
						     util_asprintf("%s%s, %s: counted %.1f %% of the time",
								   condition_prefix(r, c, where, sizeof(where)),
								   r->arm[a].name, r->metric[m].name,
								   100 * s->running_share));
			}
		}
	if (trials && (double)interrupted > INTERFERENCE_SHARE * (double)trials)
		warn_derived(r, WARN_INTERFERENCE, util_asprintf("%zu of %zu trials", interrupted, trials));
}

static void find_warnings(struct result *r)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->nwarning; i++) {
		if (r->warning[i].derived)
			free(r->warning[i].detail);
		else
			r->warning[kept++] = r->warning[i];
	}
	r->nwarning = kept;
	if (kept) {
		size_t room = 1;

		while (room < kept)
			room *= 2;
		r->warning = util_realloc(r->warning, room, sizeof(*r->warning));
	} else {
		free(r->warning);
		r->warning = NULL;
	}
	warn_comparisons(r);
	warn_trials(r);
}

static int compare(struct result *r, size_t only, size_t reference, double level, unsigned int flags)
{
	struct workspace w = { 0 };

	if (reference >= r->narm || (only != SIZE_MAX && only >= r->ncondition))
		return -EINVAL;
	r->reference = reference;
	drop_comparisons(r, only);
	for (size_t c = 0; c < r->ncondition; c++)
		for (size_t m = 0; m < r->nmetric && (only == SIZE_MAX || only == c); m++)
			compare_metric(r, &w, c, m, level, flags);
	find_warnings(r);
	free(w.a);
	free(w.b);
	return 0;
}

int result_compare(struct result *r, size_t reference, double level, unsigned int flags)
{
	return compare(r, SIZE_MAX, reference, level, flags);
}

int result_compare_condition(struct result *r, size_t condition, size_t reference, double level, unsigned int flags)
{
	return condition == SIZE_MAX ? -EINVAL : compare(r, condition, reference, level, flags);
}

int result_compare_headline(struct result *r, size_t condition, size_t reference, double level)
{
	struct workspace w = { 0 };

	if (reference >= r->narm || condition >= r->ncondition || !r->nmetric)
		return -EINVAL;
	r->reference = reference;
	drop_comparisons(r, condition);
	compare_metric(r, &w, condition, result_headline(r), level, 0);
	free(w.a);
	free(w.b);
	return 0;
}

const struct comparison *result_find_comparison(const struct result *r, size_t condition, size_t metric, size_t arm)
{
	for (size_t i = 0; i < r->ncomparison; i++) {
		const struct result_comparison *c = &r->comparison[i];

		if (c->condition == condition && c->metric == metric && c->arm == arm && c->reference == r->reference)
			return &c->c;
	}
	return NULL;
}

const struct result_comparison *result_find_null(const struct result *r, size_t condition, size_t metric)
{
	const struct result_comparison *widest = NULL;

	for (size_t i = 0; i < r->ncomparison; i++) {
		const struct result_comparison *c = &r->comparison[i];

		if (c->null_control && c->condition == condition && c->metric == metric &&
		    (!widest || null_reach(&c->c) > null_reach(&widest->c)))
			widest = c;
	}
	return widest;
}

size_t result_comparisons_counted(const struct result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->ncomparison; i++)
		n += !r->comparison[i].null_control;
	return n;
}
