/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Writing the result file, perf-relax-result(5). It is printed piece by piece, so that a large result is not held
 * twice; jansson sets the strings. Reading is in result-read.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "result.h"
#include "result-private.h"

const char *const result_flag_names[RESULT_FLAG_NAMES] = { "migrated", "descheduled", "stolen", "scaled", "failed" };
const char *const result_compare_flag_names[RESULT_COMPARE_FLAG_NAMES] = {
	"difference", "too-few",	 "no-spread", "zero-variance", "autocorrelated",
	"below-null", "not-interleaved", "bimodal",   "early",	       "coarse",
};
const char *const result_method_names[RESULT_METHOD_NAMES] = { "paired", "unpaired", "summary" };

/* Bytes that are not UTF-8, one by one, and nothing else are replaced: the rest of the name stays readable. */
static char *repaired_utf8(const char *s)
{
	char *fixed = util_calloc(3 * strlen(s) + 1, 1), *p = fixed;

	while (*s) {
		size_t n = 4;
		json_t *character = NULL;

		while (n > 0) {
			if (strnlen(s, n) == n) {
				character = json_stringn(s, n);
				if (character)
					break;
			}
			n--;
		}
		if (character) {
			memcpy(p, s, n);
			p += n;
			s += n;
		} else {
			p = stpcpy(p, "\xef\xbf\xbd");
			s++;
		}
		json_decref(character);
	}
	return fixed;
}

void result_json_string(FILE *f, const char *s)
{
	json_t *text = json_string(s);

	if (!text) {
		char *fixed = repaired_utf8(s);

		text = json_string(fixed);
		free(fixed);
	}
	if (!text || json_dumpf(text, f, JSON_ENCODE_ANY))
		fputs("\"\"", f);	/* only when memory is out or f failed, which its error flag tells */
	json_decref(text);
}

/* The shortest of 15 to 17 digits that reads back as the same number. */
void result_json_number(FILE *f, double x)
{
	char text[40];

	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, x);
		if (strtod(text, NULL) == x)
			break;
	}
	/* the program stays in the C locale, yet a caller's must not break the file */
	for (char *c = text; *c; c++)
		if (*c == ',')
			*c = '.';
	fputs(text, f);
}

/* A number, or null and (beside it) why: rule 1. */
static void put_number(FILE *f, const char *name, double x, const char *why)
{
	fprintf(f, ", \"%s\": ", name);
	if (isfinite(x)) {
		result_json_number(f, x);
		return;
	}
	fprintf(f, "null, \"%s_why\": ", name);
	result_json_string(f, why);
}

/* ", "name": "text"", nothing when there is no text. */
static void put_string(FILE *f, const char *name, const char *s)
{
	if (!s)
		return;
	fprintf(f, ", \"%s\": ", name);
	result_json_string(f, s);
}

static void put_pairs(FILE *f, const struct result_pair *pair, size_t n, const char *indent)
{
	fputc('{', f);
	for (size_t i = 0; i < n; i++) {
		fprintf(f, "%s\n%s  ", i ? "," : "", indent);
		result_json_string(f, pair[i].key);
		if (pair[i].value) {
			fputs(": ", f);
			result_json_string(f, pair[i].value);
		} else {
			fputs(": {\"value\": null", f);
			put_string(f, "why", pair[i].why ? pair[i].why : "not known");
			fputc('}', f);
		}
	}
	if (n)
		fprintf(f, "\n%s", indent);
	fputc('}', f);
}

static void put_names(FILE *f, unsigned int flags, const char *const *names, size_t n)
{
	bool any = false;

	fputs(", \"flags\": [", f);
	for (size_t i = 0; i < n; i++)
		if (flags & (1u << i)) {
			fprintf(f, "%s\"%s\"", any ? ", " : "", names[i]);
			any = true;
		}
	fputc(']', f);
}

static void put_comparison(FILE *f, const struct result *r, const struct result_comparison *rc)
{
	static const char no_bound[] = "too few rounds for this confidence";
	const struct comparison *c = &rc->c;

	fputs("{\"reference\": ", f);
	result_json_string(f, r->arm[rc->reference].name);
	fprintf(f, ", \"null_control\": %s", rc->null_control ? "true" : "false");
	fprintf(f, ", \"verdict\": \"%s\", \"method\": \"%s\", \"scale\": \"%s\"", verdict_name(c->verdict),
		result_method_names[c->method], c->flags & COMPARE_DIFFERENCE ? "difference" : "log ratio");
	put_names(f, c->flags, result_compare_flag_names, RESULT_COMPARE_FLAG_NAMES);
	put_number(f, "estimate", c->interval.estimate, "no estimate");
	put_number(f, "low", c->interval.low, no_bound);
	put_number(f, "high", c->interval.high, no_bound);
	put_number(f, "confidence", c->interval.level, "no interval");
	fprintf(f, ", \"n\": %zu", c->interval.n);
	put_number(f, "margin", c->margin, "no margin");
	put_number(f, "detectable", c->detectable, "nothing could be detected");
	put_number(f, "rounds_needed", c->rounds_needed, "more rounds alone would not settle it");
	put_number(f, "p_value", c->p_value, "no test");
	fputc('}', f);
}

static void put_series(FILE *f, const struct result *r, size_t condition, size_t arm, size_t metric)
{
	const struct result_series *s = result_series(r, condition, arm, metric);
	bool missing = false;
	double *x;
	size_t n;

	fputs("{\"values\": [", f);
	for (size_t i = 0; i < s->n; i++) {
		fputs(i ? ", " : "", f);
		if (isfinite(s->value[i])) {
			result_json_number(f, s->value[i]);
		} else {
			fputs("null", f);
			missing = true;
		}
	}
	fputc(']', f);
	if (missing || (!s->n && !s->summary.n) || s->why)
		put_string(f, "why",
			   s->why	      ? s->why :
			   r->arm[arm].absent ? r->arm[arm].absent :
			   missing	      ? "the trial failed" :
						"no trial of it was run");
	if (s->running_share < 1)
		put_number(f, "running_share", s->running_share, "not counted");
	x = s->n ? util_calloc(s->n, sizeof(*x)) : NULL;
	n = s->n ? result_values(r, condition, arm, metric, x) : 0;
	if (n) {
		double mean, sd;

		stats_mean_sd(x, n, &mean, &sd);
		fprintf(f, ", \"summary\": {\"n\": %zu", n);
		put_number(f, "median", stats_median(x, n), "beyond the range of a double");
		put_number(f, "mean", mean, "beyond the range of a double");
		put_number(f, "sd", n > 1 ? sd : NAN,
			   n > 1 ? "beyond the range of a double" : "one value has no spread");
		put_number(f, "min", stats_quantile(x, n, 0), "beyond the range of a double");
		put_number(f, "max", stats_quantile(x, n, 1), "beyond the range of a double");
		fputc('}', f);
	} else if (s->summary.n) {
		fprintf(f, ", \"summary\": {\"n\": %zu", s->summary.n);
		put_number(f, "mean", s->summary.mean, "not known");
		put_number(f, "sd", s->summary.sd >= 0 ? s->summary.sd : NAN, "not known");
		fputc('}', f);
	}
	free(x);
}

/* Which rounds carry which flag: "trials": {"migrated": [3, 17]}. */
static void put_trial_flags(FILE *f, const struct result *r, size_t condition, size_t arm)
{
	bool any = false;

	for (size_t bit = 0; bit < RESULT_FLAG_NAMES; bit++) {
		bool first = true;

		for (size_t i = 0; i < r->rounds[condition]; i++) {
			if (!(result_flags(r, condition, arm, i) & (1u << bit)))
				continue;
			if (first)
				fprintf(f, "%s\"%s\": [%zu", any ? ", " : ", \"trials\": {", result_flag_names[bit], i);
			else
				fprintf(f, ", %zu", i);
			first = false;
			any = true;
		}
		if (!first)
			fputc(']', f);
	}
	if (any)
		fputc('}', f);
}

/* comparison[] by arm, for one condition: each arm's entries are a chain in the order of the array. */
struct chains {
	size_t *first, *next;
};

static void chains_fill(struct chains *x, const struct result *r, size_t condition)
{
	for (size_t a = 0; a < r->narm; a++)
		x->first[a] = SIZE_MAX;
	for (size_t i = r->ncomparison; i-- > 0;) {
		const struct result_comparison *c = &r->comparison[i];

		if (c->condition != condition)
			continue;
		x->next[i] = x->first[c->arm];
		x->first[c->arm] = i;
	}
}

static void put_condition(FILE *f, const struct result *r, size_t condition, struct chains *chains)
{
	const struct result_condition *c = &r->condition[condition];

	chains_fill(chains, r, condition);
	fputs("    {\"name\": ", f);
	result_json_string(f, c->name);
	fputs(", \"settings\": ", f);
	put_pairs(f, c->pair, c->npair, "    ");
	fprintf(f, ",\n     \"rounds\": %zu, \"looks_planned\": %zu, \"looks_taken\": %zu", r->rounds[condition],
		c->looks_planned, c->looks_taken);
	put_string(f, "ended", c->ended);
	fputs(",\n     \"arms\": [", f);
	for (size_t a = 0; a < r->narm; a++) {
		fprintf(f, "%s\n      {\"arm\": ", a ? "," : "");
		result_json_string(f, r->arm[a].name);
		put_trial_flags(f, r, condition, a);
		fputs(", \"metrics\": {", f);
		for (size_t m = 0; m < r->nmetric; m++) {
			fprintf(f, "%s\n        ", m ? "," : "");
			result_json_string(f, r->metric[m].name);
			fputs(": ", f);
			put_series(f, r, condition, a, m);
			for (size_t i = chains->first[a]; i != SIZE_MAX; i = chains->next[i]) {
				if (r->comparison[i].metric != m)
					continue;
				fputs(r->comparison[i].reference == r->reference ? ",\n         \"comparison\": " :
										   ",\n         \"twin_comparison\": ",
				      f);
				put_comparison(f, r, &r->comparison[i]);
			}
			fputc('}', f);
		}
		fputs("}}", f);
	}
	fputs("\n    ]}", f);
}

static void put_arms(FILE *f, const struct result *r)
{
	fputs(",\n  \"arms\": [", f);
	for (size_t a = 0; a < r->narm; a++) {
		const struct result_arm *arm = &r->arm[a];

		fprintf(f, "%s\n    {\"name\": ", a ? "," : "");
		result_json_string(f, arm->name);
		put_string(f, "kind", arm->kind);
		put_string(f, "bytes", arm->bytes);
		put_string(f, "text", arm->text);
		put_string(f, "setup", arm->setup);
		put_string(f, "absent", arm->absent);
		if (arm->twin_of >= 0 && (size_t)arm->twin_of < r->narm)
			put_string(f, "twin_of", r->arm[arm->twin_of].name);
		if (arm->control)
			fputs(", \"control\": true", f);
		fputc('}', f);
	}
	fputs(r->narm ? "\n  ]" : "]", f);
}

void result_json_write(FILE *f, const struct result *r)
{
	struct chains chains = { util_calloc(r->narm, sizeof(size_t)), util_calloc(r->ncomparison, sizeof(size_t)) };

	fprintf(f, "{\n  \"format\": \"%s\", \"version\": %d", RESULT_FORMAT, RESULT_VERSION);
	put_string(f, "tool_version", r->tool_version);
	put_string(f, "command", r->command);
	fprintf(f, ",\n  \"command_line\": ");
	if (r->command_line)
		result_json_string(f, r->command_line);
	else
		fputs("null", f);
	/* most readers of JSON keep only 53 bits of a number */
	fprintf(f, r->seed >> 53 ? ",\n  \"seed\": \"%" PRIu64 "\"" : ",\n  \"seed\": %" PRIu64, r->seed);
	put_string(f, "start_time", r->start_time);
	put_number(f, "elapsed_s", r->elapsed_s, "not known");
	fprintf(f, ", \"partial\": %s, \"interleaved\": %s", r->partial ? "true" : "false",
		r->interleaved ? "true" : "false");
	fputs(",\n  \"rule\": {\"scale\": \"relative\"", f);
	put_number(f, "margin", r->rule.margin, "none");
	put_number(f, "margin_abs", r->rule.margin_abs, "none");
	put_number(f, "confidence", r->rule.level, "none");
	fputc('}', f);
	if (r->reference < r->narm)
		put_string(f, "reference", r->arm[r->reference].name);
	fputs(",\n  \"env\": ", f);
	put_pairs(f, r->env, r->nenv, "  ");
	fputs(",\n  \"metrics\": [", f);
	for (size_t m = 0; m < r->nmetric; m++) {
		fprintf(f, "%s\n    {\"name\": ", m ? "," : "");
		result_json_string(f, r->metric[m].name);
		put_string(f, "unit", r->metric[m].unit ? r->metric[m].unit : "");
		fprintf(f, ", \"better\": \"%s\", \"estimated\": %s, \"headline\": %s%s}",
			better_name(r->metric[m].better), r->metric[m].estimated ? "true" : "false",
			r->metric[m].headline ? "true" : "false", r->metric[m].detail ? ", \"detail\": true" : "");
	}
	fputs(r->nmetric ? "\n  ]" : "]", f);
	put_arms(f, r);
	fputs(",\n  \"conditions\": [\n", f);
	for (size_t c = 0; c < r->ncondition; c++) {
		fputs(c ? ",\n" : "", f);
		put_condition(f, r, c, &chains);
	}
	fputs("\n  ],\n  \"warnings\": [", f);
	for (size_t i = 0; i < r->nwarning; i++) {
		const struct result_warning_entry *w = &r->warning[i];

		fprintf(f, "%s\n    {\"id\": \"%s\"", i ? "," : "", result_warning_name(w->id));
		put_string(f, "detail", w->detail);
		put_string(f, "text", result_warning_text(w->id));
		put_string(f, "advice", result_warning_advice(w->id));
		fprintf(f, "%s}", w->derived ? ", \"derived\": true" : "");
	}
	fputs(r->nwarning ? "\n  ]\n}\n" : "]\n}\n", f);
	free(chains.first);
	free(chains.next);
}
