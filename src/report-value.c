/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one cell says: a value with as many digits as it deserves, or why there is none; an effect with its interval.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

/* Ratios beyond this read better as a factor than as percent. */
#define FACTOR_FROM log(4)

const char *report_value_missing(const struct result *r, size_t condition, size_t arm, size_t metric)
{
	const struct result_series *s = result_series(r, condition, arm, metric);

	if (r->arm[arm].absent)
		return r->arm[arm].absent;
	for (size_t i = 0; i < s->n; i++)
		if (isfinite(s->value[i]))
			return NULL;
	if (s->summary.n)
		return NULL;
	return s->why ? s->why : "not counted: no trial of it was run";
}

static const char not_counted[] = "not counted";

static bool says_not_counted(const char *why)
{
	why += *why == '<';
	return !strncmp(why, not_counted, strlen(not_counted));
}

const char *report_missing_word(const char *why)
{
	return says_not_counted(why) ? "<not counted>" : "<not supported>";
}

const char *report_missing_reason(const char *why)
{
	const char *rest;

	if (!says_not_counted(why))
		return why;
	rest = why + (*why == '<') + strlen(not_counted);
	rest += strspn(rest, ">: ");
	return *rest ? rest : why;
}

void report_value(const struct result *r, size_t condition, size_t arm, size_t metric, struct report_value *v)
{
	const struct result_series *s = result_series(r, condition, arm, metric);
	struct interval interval;
	double *x;

	*v = (struct report_value){ .low = -INFINITY,
				    .high = INFINITY,
				    .why = report_value_missing(r, condition, arm, metric) };
	if (v->why) {
		v->kind = says_not_counted(v->why) ? VALUE_NOT_COUNTED : VALUE_NOT_SUPPORTED;
		return;
	}
	x = s->n ? util_calloc(s->n, sizeof(*x)) : NULL;
	v->n = s->n ? result_values(r, condition, arm, metric, x) : 0;
	if (v->n) {
		v->value = stats_median(x, v->n);
		if (!stats_signed_rank_interval(x, v->n, r->rule.level, &interval)) {
			v->low = interval.low;
			v->high = interval.high;
		}
	} else {
		v->n = s->summary.n;
		v->value = s->summary.mean;
		if (s->summary.sd >= 0 &&
		    !stats_welch_interval(2, 0, 0, v->n, v->value, s->summary.sd, r->rule.level, &interval)) {
			v->low = interval.low;
			v->high = interval.high;
		}
	}
	/* exactly zero every time is a count of zero, not a failure to resolve one */
	if (isfinite(v->low) && isfinite(v->high)) {
		v->reach = fmax(fabs(v->low), fabs(v->high));
		if (v->low <= 0 && v->high >= 0 && v->low < v->high)
			v->kind = VALUE_BELOW;
	} else if (x && v->n > 1) {
		double least = stats_quantile(x, v->n, 0), most = stats_quantile(x, v->n, 1);

		v->reach = fmax(fabs(least), fabs(most));
		if (least <= 0 && most >= 0 && least < most)
			v->kind = VALUE_BELOW;
	}
	free(x);
}

char *report_value_text(const struct report_value *v, const struct report_options *o, char *buf, size_t size)
{
	double half = (v->high - v->low) / 2;
	int digits = 4;
	char number[64];

	switch (v->kind) {
	case VALUE_NOT_SUPPORTED:
		snprintf(buf, size, "<not supported>");
		break;
	case VALUE_NOT_COUNTED:
		snprintf(buf, size, "<not counted>");
		break;
	case VALUE_BELOW:
		snprintf(buf, size, "(0 %s %s)", o->ascii ? "+-" : "\u00b1",
			 util_format_significant(v->reach, 2, number, sizeof(number)));
		break;
	case VALUE_NUMBER:
		/* one digit beyond what the interval makes sure */
		if (isfinite(half) && v->value != 0) {
			digits = half > 0 ? (int)ceil(log10(fabs(v->value) / half)) + 1 : 6;
			digits = digits < 3 ? 3 : digits > 6 ? 6 : digits;
		}
		if (v->value == rint(v->value) && fabs(v->value) < 1e15)
			snprintf(buf, size, "%.0f", v->value + 0.0);
		else
			util_format_significant(v->value, digits, buf, size);
	}
	return buf;
}

/* Decimals that show two digits of @half percent points. */
static int percent_decimals(double half)
{
	if (!isfinite(half) || half == 0)
		return 2;
	return half >= 10 ? 0 : half >= 1 ? 1 : half >= 0.05 ? 2 : half >= 0.005 ? 3 : 4;
}

/* What rounds to zero has no sign worth showing. */
static double unsigned_zero(double x, int decimals)
{
	return fabs(x) < 0.5 * pow(10, -decimals) ? 0.0 : x;
}

static char *bound_text(double x, int decimals, const struct report_options *o, char *buf, size_t size)
{
	if (isinf(x))
		snprintf(buf, size, "%s%s", x < 0 ? "-" : "+", o->ascii ? "inf" : "\u221e");
	else
		snprintf(buf, size, "%+.*f", decimals, unsigned_zero(x, decimals));
	return buf;
}

char *report_effect_text(const struct comparison *c, const char *unit, const struct report_options *o, char *buf,
			 size_t size)
{
	const struct interval *i = &c->interval;
	char low[64], high[64], middle[64];

	if (c->flags & COMPARE_DIFFERENCE) {
		char *text[] = { middle, low, high };
		double bound[] = { i->estimate, i->low, i->high }, half = (i->high - i->low) / 2,
		       largest = fmax(fabs(i->estimate), half);
		/* one digit beyond the half width, or three of the estimate when there is no width */
		int digits = isfinite(half) && half > 0 && isfinite(largest / half) ?
				     (int)ceil(log10(largest / half)) + 1 :
				     3;

		for (int k = 0; k < 3; k++) {
			char number[48];
			int own = digits;

			/* the same last decimal as the largest of them */
			if (isfinite(bound[k]) && bound[k] != 0 && largest > 0 && isfinite(largest))
				own += (int)floor(log10(fabs(bound[k]))) - (int)floor(log10(largest));
			if (isinf(bound[k]))
				bound_text(bound[k], 0, o, text[k], sizeof(low));
			else
				snprintf(text[k], sizeof(low), "%s%s", bound[k] >= 0 ? "+" : "",
					 util_format_significant(bound[k],
								 own < 1  ? 1 :
								 own > 15 ? 15 :
									    own,
								 number, sizeof(number)));
		}
		snprintf(buf, size, "%s %s [%s, %s]", middle, unit, low, high);
	} else if (fabs(i->estimate) > FACTOR_FROM) {
		char number[48];

		snprintf(middle, sizeof(middle), "%s", util_format_significant(exp(i->estimate), 4, number, sizeof(number)));
		snprintf(low, sizeof(low), "%s", util_format_significant(exp(i->low), 4, number, sizeof(number)));
		if (isinf(i->high))
			snprintf(high, sizeof(high), "%s", o->ascii ? "inf" : "\u221e");
		else
			snprintf(high, sizeof(high), "%s", util_format_significant(exp(i->high), 4, number, sizeof(number)));
		snprintf(buf, size, "%s%s [%s, %s]", o->ascii ? "x" : "\u00d7", middle, low, high);
	} else {
		double lo = 100 * expm1(i->low), hi = 100 * expm1(i->high);
		int decimals = percent_decimals((hi - lo) / 2);

		if (isinf(i->low))
			lo = -INFINITY;
		snprintf(buf, size, "%+.*f %% [%s, %s]", decimals, unsigned_zero(100 * expm1(i->estimate), decimals),
			 bound_text(lo, decimals, o, low, sizeof(low)),
			 bound_text(hi, decimals, o, high, sizeof(high)));
	}
	return buf;
}

char *report_size_text(double effect, const struct comparison *c, const char *unit, char *buf, size_t size)
{
	char number[64];

	if (!isfinite(effect))
		snprintf(buf, size, "unknown");
	else if (c->flags & COMPARE_DIFFERENCE)
		snprintf(buf, size, "%s %s", util_format_significant(fabs(effect), 2, number, sizeof(number)), unit);
	else
		snprintf(buf, size, "%s %%",
			 util_format_significant(100 * expm1(fabs(effect)), 2, number, sizeof(number)));
	return buf;
}

enum table_style report_verdict_style(enum verdict v)
{
	switch (v) {
	case VERDICT_FASTER:
		return STYLE_GOOD;
	case VERDICT_SLOWER:
		return STYLE_BAD;
	case VERDICT_CANNOT_TELL:
		return STYLE_UNSURE;
	default:
		return STYLE_PLAIN;
	}
}

const char *report_metric_name(const struct result_metric *m, char *buf, size_t size)
{
	size_t n = strlen(m->name);

	snprintf(buf, size, "%s%s", m->name, m->estimated && (!n || m->name[n - 1] != '~') ? "~" : "");
	return buf;
}

const char *report_flag_sentence(unsigned int flag)
{
	switch (flag) {
	case COMPARE_DIFFERENCE:
		return "compared as a difference, not a ratio: values may be 0 or negative";
	case COMPARE_TOO_FEW:
		return "fewer rounds than an interval needs";
	case COMPARE_NO_SPREAD:
		return "no spread was kept, so nothing can be told";
	case COMPARE_ZERO_VARIANCE:
		return "every round gave the same difference";
	case COMPARE_AUTOCORRELATED:
		return "rounds seem to depend on one another; the interval was widened for it";
	case COMPARE_BELOW_NULL:
		return "withdrawn: no larger than the error that the null control shows";
	case COMPARE_NOT_INTERLEAVED:
		return "not interleaved: the two were not measured in the same rounds, so drift between them counts as an effect";
	case COMPARE_BIMODAL:
		return "values fall into two groups; a single number hides that";
	case COMPARE_EARLY:
		return "settled at a planned look before the last one";
	case COMPARE_COARSE:
		return "values lie on a grid too coarse for the margin: `same` cannot be told from a small effect";
	default:
		return NULL;
	}
}

struct comparison_index {
	size_t narm, nmetric, ncondition;
	const struct comparison **c;
};

struct comparison_index *comparison_index_new(const struct result *r)
{
	struct comparison_index *x = util_calloc(1, sizeof(*x));

	x->narm = r->narm;
	x->nmetric = r->nmetric;
	x->ncondition = r->ncondition;
	x->c = util_calloc(r->ncondition * r->narm * r->nmetric, sizeof(*x->c));
	for (size_t i = 0; i < r->ncomparison; i++) {
		const struct result_comparison *c = &r->comparison[i];

		if (c->reference == r->reference && c->arm < r->narm && c->metric < r->nmetric &&
		    c->condition < r->ncondition)
			x->c[(c->condition * r->nmetric + c->metric) * r->narm + c->arm] = &c->c;
	}
	return x;
}

const struct comparison *comparison_index_find(const struct comparison_index *x, size_t condition, size_t metric,
					       size_t arm)
{
	return x->c[(condition * x->nmetric + metric) * x->narm + arm];
}

void comparison_index_free(struct comparison_index *x)
{
	if (x)
		free(x->c);
	free(x);
}

int report_pick_metric(const struct result *r, const struct report_options *o, size_t *metric, struct reason *why)
{
	*metric = result_headline(r);
	if (!o->metric)
		return 0;

	const char **names = util_calloc(r->nmetric + 1, sizeof(*names));
	char hint[256], *all = util_strdup("");
	size_t length = strlen(o->metric);

	for (size_t m = 0; m < r->nmetric; m++) {
		char *longer = util_asprintf("%s%s%s", all, m ? ", " : "", r->metric[m].name);

		free(all);
		all = longer;
		names[m] = r->metric[m].name;
		/* "cycles~" finds the estimated "cycles" */
		if (!strcmp(r->metric[m].name, o->metric) ||
		    (r->metric[m].estimated && length && o->metric[length - 1] == '~' &&
		     strlen(r->metric[m].name) == length - 1 && !strncmp(r->metric[m].name, o->metric, length - 1))) {
			*metric = m;
			free(names);
			free(all);
			return 0;
		}
	}
	reason_set(why, EINVAL, "--metric %s: the result has no such metric%s; it has %s", o->metric,
		   util_did_you_mean(o->metric, names, hint, sizeof(hint)), *all ? all : "none");
	free(names);
	free(all);
	return -EINVAL;
}

char *report_comparison_line(const struct result *r, const struct result_comparison *c, bool ascii, char *buf,
			     size_t size)
{
	const struct report_options o = { .ascii = ascii };
	const struct result_metric *m = &r->metric[c->metric];
	char effect[192], name[64];

	snprintf(buf, size, "%s against %s, %s: %s %s", r->arm[c->arm].name, r->arm[c->reference].name,
		 report_metric_name(m, name, sizeof(name)),
		 report_effect_text(&c->c, m->unit, &o, effect, sizeof(effect)), verdict_name(c->c.verdict));
	return buf;
}
