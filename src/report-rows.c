/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One line per result, condition, arm and metric, for programs: CSV and JSON.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

/* One row, what both formats print. */
struct row {
	const struct result *r;
	size_t condition, arm, metric;
	struct report_value v;
	const struct comparison *c;	/* NULL: not compared */
	bool reference;
	bool first;
};

static const char *const status_names[] = {
	[VALUE_NUMBER] = "ok",
	[VALUE_BELOW] = "below resolution",
	[VALUE_NOT_SUPPORTED] = "not supported",
	[VALUE_NOT_COUNTED] = "not counted",
};

/* Call @print for every row, in the order that o->sort asks for; o->metric keeps one metric. */
static int for_each_row(FILE *f, struct result *const *results, size_t n, const struct report_options *o,
			void (*print)(FILE *f, const struct report_options *o, const struct row *row))
{
	bool first = true;

	for (size_t i = 0; i < n; i++) {
		const struct result *r = results[i];
		struct comparison_index *index;
		size_t headline, *order;

		/* one of several that has no such metric has no rows */
		if (report_pick_metric(r, o, &headline, NULL))
			continue;
		index = comparison_index_new(r);
		order = util_calloc(r->narm, sizeof(*order));
		for (size_t c = 0; c < r->ncondition; c++) {
			report_order(r, c, headline, o, index, order);
			for (size_t a = 0; a < r->narm; a++)
				for (size_t m = 0; m < r->nmetric; m++) {
					struct row row = { .r = r, .condition = c, .arm = order[a], .metric = m };

					if (o->metric && m != headline)
						continue;
					report_value(r, c, order[a], m, &row.v);
					row.c = comparison_index_find(index, c, m, order[a]);
					row.reference = order[a] == r->reference;
					row.first = first;
					first = false;
					print(f, o, &row);
				}
		}
		free(order);
		comparison_index_free(index);
	}
	return ferror(f) ? -EIO : 0;
}

static const char *text_or_empty(const char *s)
{
	return s ? s : "";
}

static const char *csv_sep(const struct report_options *o)
{
	return o->csv_sep ? o->csv_sep : ",";
}

static void csv_text(FILE *f, const struct report_options *o, const char *s)
{
	fputs(csv_sep(o), f);
	report_csv_field(f, text_or_empty(s), csv_sep(o));
}

/* An empty field where there is no number: the status column says why. */
static void csv_number(FILE *f, const struct report_options *o, double x, bool have)
{
	fputs(csv_sep(o), f);
	if (have && isfinite(x))
		report_number(f, x);
}

/* Effects in percent; differences in the unit of the metric. */
static double effect(const struct comparison *c, double x)
{
	return c->flags & COMPARE_DIFFERENCE ? x : isinf(x) ? x : 100 * expm1(x);
}

static void csv_row(FILE *f, const struct report_options *o, const struct row *row)
{
	const struct result *r = row->r;
	const struct result_arm *arm = &r->arm[row->arm];
	const struct result_metric *m = &r->metric[row->metric];
	const struct comparison *c = row->c;
	bool number = !row->v.why;
	char name[64];

	report_csv_field(f, text_or_empty(r->file), csv_sep(o));
	csv_text(f, o, r->condition[row->condition].name);
	csv_text(f, o, arm->name);
	csv_text(f, o, arm->kind);
	csv_text(f, o, arm->bytes);
	csv_text(f, o, report_metric_name(m, name, sizeof(name)));
	csv_text(f, o, m->unit);
	csv_text(f, o, better_name(m->better));
	fprintf(f, "%s%zu", csv_sep(o), row->v.n);
	csv_number(f, o, row->v.value, number);
	csv_number(f, o, row->v.low, number);
	csv_number(f, o, row->v.high, number);
	csv_text(f, o, status_names[row->v.kind]);
	csv_text(f, o, row->v.why);
	csv_text(f, o, c && r->reference < r->narm ? r->arm[r->reference].name : "");
	csv_text(f, o, !c ? "" : c->flags & COMPARE_DIFFERENCE ? m->unit : "%");
	csv_number(f, o, c ? effect(c, c->interval.estimate) : 0, c);
	csv_number(f, o, c ? effect(c, c->interval.low) : 0, c);
	csv_number(f, o, c ? effect(c, c->interval.high) : 0, c);
	csv_text(f, o, c ? verdict_name(c->verdict) : row->reference ? "reference" : "");
	csv_text(f, o, r->partial ? "partial" : "");
	fputc('\n', f);
}

int report_csv(FILE *f, struct result *const *r, size_t n, const struct report_options *o)
{
	static const char *const head[] = {
		"file",	     "condition",   "arm",    "kind",	    "bytes",	   "metric",  "unit",
		"better",    "n",	    "value",  "low",	    "high",	   "status",  "why",
		"reference", "effect_unit", "effect", "effect_low", "effect_high", "verdict", "partial",
	};

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		fprintf(f, "%s%s", i ? csv_sep(o) : "", head[i]);
	fputc('\n', f);
	return for_each_row(f, r, n, o, csv_row);
}

static void json_text(FILE *f, const char *name, const char *s)
{
	if (!s)
		return;
	fprintf(f, ", \"%s\": ", name);
	result_json_string(f, s);
}

static void json_number(FILE *f, const char *name, double x, const char *why)
{
	fprintf(f, ", \"%s\": ", name);
	if (isfinite(x))
		report_number(f, x);
	else
		fprintf(f, "null, \"%s_why\": \"%s\"", name, why);
}

static void json_row(FILE *f, const struct report_options *o, const struct row *row)
{
	static const char no_bound[] = "too few rounds for this confidence";
	const struct result *r = row->r;
	const struct result_arm *arm = &r->arm[row->arm];
	const struct result_metric *m = &r->metric[row->metric];
	const struct comparison *c = row->c;

	(void)o;
	fputs(row->first ? "\n  {\"arm\": " : ",\n  {\"arm\": ", f);
	result_json_string(f, arm->name);
	json_text(f, "file", r->file);
	json_text(f, "condition", r->condition[row->condition].name);
	json_text(f, "kind", arm->kind);
	json_text(f, "bytes", arm->bytes);
	json_text(f, "metric", m->name);
	json_text(f, "unit", m->unit);
	json_text(f, "better", better_name(m->better));
	fprintf(f, ", \"estimated\": %s, \"n\": %zu", m->estimated ? "true" : "false", row->v.n);
	if (row->v.why) {
		fputs(", \"value\": null", f);
		json_text(f, "why", row->v.why);
	} else {
		json_number(f, "value", row->v.value, "beyond the range of a double");
		json_number(f, "low", row->v.low, no_bound);
		json_number(f, "high", row->v.high, no_bound);
	}
	json_text(f, "status", status_names[row->v.kind]);
	if (c) {
		json_text(f, "reference", r->arm[r->reference].name);
		json_text(f, "effect_unit", c->flags & COMPARE_DIFFERENCE ? m->unit : "%");
		json_number(f, "effect", effect(c, c->interval.estimate), "no estimate");
		json_number(f, "effect_low", effect(c, c->interval.low), no_bound);
		json_number(f, "effect_high", effect(c, c->interval.high), no_bound);
		json_text(f, "verdict", verdict_name(c->verdict));
	}
	fprintf(f, ", \"partial\": %s}", r->partial ? "true" : "false");
}

int report_json(FILE *f, struct result *const *r, size_t n, const struct report_options *o)
{
	int err;

	fputs("{\"format\": \"perf-relax-report\", \"version\": 1, \"files\": [", f);
	for (size_t i = 0; i < n; i++) {
		fputs(i ? ",\n  {\"command\": " : "\n  {\"command\": ", f);
		result_json_string(f, text_or_empty(r[i]->command));
		json_text(f, "file", r[i]->file);
		json_text(f, "tool_version", r[i]->tool_version);
		json_text(f, "start_time", r[i]->start_time);
		fprintf(f, r[i]->seed >> 53 ? ", \"seed\": \"%" PRIu64 "\"" : ", \"seed\": %" PRIu64, r[i]->seed);
		json_number(f, "margin", r[i]->rule.margin, "none");
		json_number(f, "confidence", r[i]->rule.level, "none");
		fputs(", \"env\": {", f);
		for (size_t e = 0; e < r[i]->nenv; e++) {
			fputs(e ? ", " : "", f);
			result_json_string(f, r[i]->env[e].key);
			fputs(": ", f);
			if (r[i]->env[e].value) {
				result_json_string(f, r[i]->env[e].value);
			} else {
				fputs("{\"value\": null", f);
				json_text(f, "why", r[i]->env[e].why);
				fputc('}', f);
			}
		}
		fputs("}, \"warnings\": [", f);
		for (size_t w = 0; w < r[i]->nwarning; w++) {
			fprintf(f, "%s{\"id\": \"%s\"", w ? ", " : "", result_warning_name(r[i]->warning[w].id));
			json_text(f, "detail", r[i]->warning[w].detail);
			fputc('}', f);
		}
		fputs("]}", f);
	}
	fputs("\n], \"rows\": [", f);
	err = for_each_row(f, r, n, o, json_row);
	fputs("\n]}\n", f);
	return err;
}
