/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `perf relax diff` prints.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-diff.h"
#include "report-private.h"

static const char *side_name(const struct result_diff *d, enum diff_side side)
{
	return d->side[side]->file ? d->side[side]->file : side == DIFF_OLD ? "old" : "new";
}

static const struct result_metric *row_metric(const struct result_diff *d, const struct diff_row *row)
{
	return &d->side[DIFF_OLD]->metric[row->metric[DIFF_OLD]];
}

static void row_values(const struct result_diff *d, const struct diff_row *row, struct report_value *v)
{
	for (int s = 0; s < 2; s++)
		report_value(d->side[s], row->condition[s], row->arm[s], row->metric[s], &v[s]);
}

/* "pause", or "pause -> rep-pause" when the two sides' only arms are held against one another. */
static char *row_arm(const struct result_diff *d, const struct diff_row *row)
{
	const char *old = d->side[DIFF_OLD]->arm[row->arm[DIFF_OLD]].name,
		   *new = d->side[DIFF_NEW]->arm[row->arm[DIFF_NEW]].name;

	return strcmp(old, new) ? util_asprintf("%s -> %s", old, new) : util_strdup(old);
}

static const char *row_condition(const struct result_diff *d, const struct diff_row *row)
{
	return d->side[DIFF_OLD]->condition[row->condition[DIFF_OLD]].name;
}

static void print_differences(FILE *f, const struct result_diff *d, const struct report_options *o)
{
	struct table *table;

	if (!d->ndifference) {
		report_paragraph(f, o, "Conditions: no difference in anything that was recorded.");
		return;
	}
	report_paragraph(f, o, "Conditions that differ (they may be the whole effect):");
	for (size_t i = 0; i < d->ndifference && o->format == REPORT_TEXT; i++) {
		char *what = util_asprintf("  %s: ", d->difference[i].what), *clean = report_clean(what, o);

		report_wrap(f, o, clean, 6, "%s -> %s", d->difference[i].old, d->difference[i].new);
		free(what);
		free(clean);
	}
	if (o->format == REPORT_TEXT)
		return;
	table = table_new(o);
	table_column(table, TABLE_LEFT, "condition");
	table_column(table, TABLE_LEFT, "old");
	table_column(table, TABLE_LEFT, "new");
	for (size_t i = 0; i < d->ndifference; i++) {
		table_cell(table, STYLE_PLAIN, "%s", d->difference[i].what);
		table_cell(table, STYLE_PLAIN, "%s", d->difference[i].old);
		table_cell(table, STYLE_PLAIN, "%s", d->difference[i].new);
	}
	table_print(f, table, o);
	table_free(table);
}

static void print_refusals(FILE *f, const struct report_options *o, const char *prefix, const struct diff_refusal *list,
			   size_t n)
{
	for (size_t i = 0; i < n && i < REPORT_LINES; i++)
		report_wrap(f, o, prefix, strlen(prefix), "%s: %s", list[i].what, list[i].why);
	if (n > REPORT_LINES)
		report_wrap(f, o, prefix, strlen(prefix), "and %zu more (--format json has them)", n - REPORT_LINES);
}

static void print_rows(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o)
{
	static const char *const arrows[] = {
		[BETTER_LOWER] = "lower", [BETTER_HIGHER] = "higher", [BETTER_NONE] = "none"
	};
	struct table *table = table_new(o);
	bool conditions = false;

	for (size_t i = 0; i < d->nrow; i++)
		conditions = conditions || *row_condition(d, &d->row[i]);
	if (conditions)
		table_column(table, TABLE_LEFT, "condition");
	table_column(table, TABLE_LEFT, "arm");
	table_column(table, TABLE_LEFT, "metric");
	table_column(table, TABLE_LEFT, "better");
	table_column(table, TABLE_DECIMAL, "old");
	table_column(table, TABLE_DECIMAL, "new");
	table_column(table, TABLE_LEFT, "new against old");
	table_column(table, TABLE_LEFT, "verdict");
	for (size_t i = 0; i < d->nrow; i++) {
		const struct diff_row *row = &d->row[i];
		const struct result_metric *m = row_metric(d, row);
		struct report_value v[2];
		char text[192], name[96], *arm = row_arm(d, row), *clean = report_name(arm, o);
		size_t n = strlen(m->name);

		if (conditions)
			table_cell(table, STYLE_PLAIN, "%s", row_condition(d, row));
		table_cell(table, STYLE_PLAIN, "%s", clean);
		report_metric_name(m, name, sizeof(name));
		/* the unit where the name does not say it */
		if (m->unit && *m->unit && strncmp(m->unit, m->name, n))
			table_cell(table, STYLE_PLAIN, "%s %s", name, m->unit);
		else
			table_cell(table, STYLE_PLAIN, "%s", name);
		table_cell(table, STYLE_DIM, "%s", arrows[m->better]);
		row_values(d, row, v);
		table_cell(table, STYLE_PLAIN, "%s", report_value_text(&v[0], o, text, sizeof(text)));
		table_cell(table, STYLE_PLAIN, "%s", report_value_text(&v[1], o, text, sizeof(text)));
		table_cell(table, STYLE_PLAIN, "%s",
			   report_effect_text(&row->c, m->unit ? m->unit : "", o, text, sizeof(text)));
		table_cell(table, report_verdict_style(row->c.verdict), "%s%s", verdict_name(row->c.verdict),
			   failed && failed[i] ? " !" : "");
		free(arm);
		free(clean);
	}
	table_print(f, table, o);
	table_free(table);
}

/* How many values one side of a row rests on. */
static size_t side_count(const struct result_diff *d, const struct diff_row *row, enum diff_side side)
{
	struct report_value v;

	report_value(d->side[side], row->condition[side], row->arm[side], row->metric[side], &v);
	return v.n;
}

/*
 * Means without a spread: nothing can be told, but what it would have taken can: the standard deviation below which
 * that many runs would have told this difference from zero (Welch's interval of equal spreads is that many standard
 * deviations wide).
 */
static void print_no_spread(FILE *f, const struct result_diff *d, const struct diff_row *row, const char *who,
			    const struct report_options *o)
{
	struct interval unit;
	size_t n[2] = { side_count(d, row, DIFF_OLD), side_count(d, row, DIFF_NEW) };
	double effect = row->c.interval.estimate;
	char text[64];

	if (n[0] < 2 || n[1] < 2 || !isfinite(effect) || effect == 0 || (row->c.flags & COMPARE_DIFFERENCE) ||
	    stats_welch_interval(n[0], 0, 1, n[1], 0, 1, d->rule.level, &unit)) {
		report_wrap(f, o, "  ", 4, "%s: no spread was kept; repeat both sides and keep every value", who);
		return;
	}
	report_wrap(f, o, "  ", 4, "%s: no spread was kept; %zu and %zu runs tell %+.2f %% only if their standard deviation is below %s %%",
		    who, n[0], n[1], 100 * expm1(effect),
		    util_format_significant(100 * fabs(expm1(effect)) / unit.high, 2, text, sizeof(text)));
}

static void print_unsettled(FILE *f, const struct result_diff *d, const struct diff_row *row, const char *who,
			    const struct report_options *o)
{
	const char *unit = row_metric(d, row)->unit;
	char seen[96], needed[96];

	if (isfinite(row->c.rounds_needed))
		snprintf(needed, sizeof(needed), "about %.0f rounds a side would settle it", ceil(row->c.rounds_needed));
	else
		snprintf(needed, sizeof(needed), "more of the same alone would not settle it");
	if (!isfinite(row->c.detectable))
		report_wrap(f, o, "  ", 4, "%s: so little data shows no effect of any size; %s", who, needed);
	else
		report_wrap(f, o, "  ", 4, "%s: %s or more would have been seen; %s", who,
			    report_size_text(row->c.detectable, &row->c, unit ? unit : "", seen, sizeof(seen)), needed);
}

/* What could not be told, what these runs would have seen (four times out of five), and what would settle it. */
static void print_cannot_tell(FILE *f, const struct result_diff *d, const struct report_options *o)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nrow; i++) {
		const struct diff_row *row = &d->row[i];
		const char *condition = row_condition(d, row);
		char name[96], *arm, *who;

		if (row->c.verdict != VERDICT_CANNOT_TELL || n++ >= REPORT_LINES)
			continue;
		if (n == 1)
			report_paragraph(f, o, "cannot tell:");
		arm = row_arm(d, row);
		who = util_asprintf("%s%s%s, %s", condition, *condition ? ", " : "", arm,
				    report_metric_name(row_metric(d, row), name, sizeof(name)));
		if (row->c.flags & COMPARE_NO_SPREAD)
			print_no_spread(f, d, row, who, o);
		else
			print_unsettled(f, d, row, who, o);
		free(arm);
		free(who);
	}
	if (n > REPORT_LINES)
		report_wrap(f, o, "  ", 4, "and %zu more (--format json has them)", n - REPORT_LINES);
}

/* Modes, and what else the flags of the comparisons say: once each, with how many rows it is about. */
static void print_flags(FILE *f, const struct result_diff *d, const struct report_options *o)
{
	for (unsigned int flag = COMPARE_DIFFERENCE; flag <= COMPARE_BIMODAL; flag <<= 1) {
		size_t n = 0;

		for (size_t i = 0; i < d->nrow; i++)
			n += !!(d->row[i].c.flags & flag);
		if (n && n == d->nrow)
			report_wrap(f, o, "note: ", 6, "%s", report_flag_sentence(flag));
		else if (n)
			report_wrap(f, o, "note: ", 6, "%zu of %zu comparisons: %s", n, d->nrow,
				    report_flag_sentence(flag));
	}
	for (size_t i = 0; i < d->nrow; i++)
		for (int s = 0; s < 2; s++) {
			const struct diff_row *row = &d->row[i];
			const struct result *r = d->side[s];
			size_t n = result_series(r, row->condition[s], row->arm[s], row->metric[s])->n;
			double *x = n ? util_calloc(n, sizeof(*x)) : NULL;
			struct stats_modes modes;
			char low[48], high[48], median[48];

			n = n ? result_values(r, row->condition[s], row->arm[s], row->metric[s], x) : 0;
			if (n && stats_modes(x, n, d->rule.margin, &modes))
				report_wrap(f, o, "two modes: ", 11,
					    "%s, %s of %s: %s (%.0f %%) and %s (%.0f %%); median %s",
					    side_name(d, (enum diff_side)s), r->metric[row->metric[s]].name,
					    r->arm[row->arm[s]].name,
					    util_format_significant(modes.center[0], 4, low, sizeof(low)),
					    100 * modes.share[0],
					    util_format_significant(modes.center[1], 4, high, sizeof(high)),
					    100 * modes.share[1],
					    util_format_significant(stats_median(x, n), 4, median, sizeof(median)));
			free(x);
		}
}

static void print_summary(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o)
{
	size_t count[VERDICTS] = { 0 }, nfailed = 0;
	char *line = util_strdup("");

	for (size_t i = 0; i < d->nrow; i++) {
		count[d->row[i].c.verdict]++;
		nfailed += failed && failed[i];
	}
	for (int v = 0; v < VERDICTS; v++) {
		char *longer;

		if (!count[v])
			continue;
		longer = util_asprintf("%s%s%zu %s", line, *line ? ", " : "", count[v], verdict_name((enum verdict)v));
		free(line);
		line = longer;
	}
	report_wrap(f, o, "rule: ", 6,
		    "same = within %s%.4g %% of the old value; confidence %.4g %% for each; %zu comparison%s: %s",
		    o->ascii ? "+-" : "\u00b1", 100 * d->rule.margin, 100 * d->rule.level, d->nrow,
		    d->nrow == 1 ? "" : "s", line);
	if (d->nrow >= 20)
		report_wrap(
			f, o, "note: ", 6,
			"of %zu comparisons of equal things about %.0f may look different by chance at this confidence",
			d->nrow, ceil((double)d->nrow * (1 - d->rule.level)));
	if (nfailed)
		report_wrap(f, o, "result: ", 8, "%zu difference%s that count%s (marked !): exit status 1", nfailed,
			    nfailed == 1 ? "" : "s", nfailed == 1 ? "s" : "");
	free(line);
}

static int diff_text(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o)
{
	fputs(o->format == REPORT_MARKDOWN ? "## " : "", f);
	report_paragraph(f, o, "perf relax diff: %s (old) and %s (new)", side_name(d, DIFF_OLD),
			 side_name(d, DIFF_NEW));
	if (o->format == REPORT_TEXT)
		fputc('\n', f);
	print_differences(f, d, o);
	if (d->nrefused || d->nexcluded)
		fputc('\n', f);
	print_refusals(f, o, "refused: ", d->refused, d->nrefused);
	print_refusals(f, o, "excluded: ", d->excluded, d->nexcluded);
	fputc('\n', f);
	if (!d->nrow) {
		report_paragraph(f, o, "Nothing is left to compare.");
		return ferror(f) ? -EIO : 0;
	}
	print_rows(f, d, failed, o);
	fputc('\n', f);
	print_cannot_tell(f, d, o);
	print_flags(f, d, o);
	print_summary(f, d, failed, o);
	return ferror(f) ? -EIO : 0;
}

static double scaled(const struct comparison *c, double x)
{
	return c->flags & COMPARE_DIFFERENCE || isinf(x) ? x : 100 * expm1(x);
}

static void csv_number(FILE *f, const char *sep, double x)
{
	fputs(sep, f);
	if (isfinite(x))
		report_number(f, x);
}

static int diff_csv(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o)
{
	static const char *const head[] = {
		"kind",	       "condition", "arm",	  "metric",	 "unit",    "better", "old", "new",
		"effect_unit", "effect",    "effect_low", "effect_high", "verdict", "fails",  "why",
	};
	const char *sep = o->csv_sep ? o->csv_sep : ",";

	for (size_t i = 0; i < ARRAY_SIZE(head); i++)
		fprintf(f, "%s%s", i ? sep : "", head[i]);
	fputc('\n', f);
	/* what differs, is refused or excluded comes first here too */
	for (size_t i = 0; i < d->ndifference; i++) {
		fprintf(f, "differs%s", sep);
		report_csv_field(f, d->difference[i].what, sep);
		for (int k = 0; k < 5; k++)
			fputs(sep, f);
		report_csv_field(f, d->difference[i].old, sep);
		fputs(sep, f);
		report_csv_field(f, d->difference[i].new, sep);
		for (int k = 0; k < 7; k++)
			fputs(sep, f);
		fputc('\n', f);
	}
	for (size_t i = 0; i < d->nrefused + d->nexcluded; i++) {
		bool refused = i < d->nrefused;
		const struct diff_refusal *x = refused ? &d->refused[i] : &d->excluded[i - d->nrefused];

		fprintf(f, "%s%s", refused ? "refused" : "excluded", sep);
		report_csv_field(f, x->what, sep);
		for (int k = 0; k < 13; k++)
			fputs(sep, f);
		report_csv_field(f, x->why, sep);
		fputc('\n', f);
	}
	for (size_t i = 0; i < d->nrow; i++) {
		const struct diff_row *row = &d->row[i];
		const struct result_metric *m = row_metric(d, row);
		char name[96], *arm = row_arm(d, row);
		const char *text[] = { row_condition(d, row), arm, report_metric_name(m, name, sizeof(name)),
				       m->unit ? m->unit : "", better_name(m->better) };
		struct report_value v[2];

		row_values(d, row, v);
		fputs("verdict", f);
		for (size_t k = 0; k < ARRAY_SIZE(text); k++) {
			fputs(sep, f);
			report_csv_field(f, text[k], sep);
		}
		csv_number(f, sep, v[0].value);
		csv_number(f, sep, v[1].value);
		fputs(sep, f);
		report_csv_field(f, row->c.flags & COMPARE_DIFFERENCE ? text[3] : "%", sep);
		csv_number(f, sep, scaled(&row->c, row->c.interval.estimate));
		csv_number(f, sep, scaled(&row->c, row->c.interval.low));
		csv_number(f, sep, scaled(&row->c, row->c.interval.high));
		fprintf(f, "%s%s%s%s%s\n", sep, verdict_name(row->c.verdict), sep, failed && failed[i] ? "yes" : "no",
			sep);
		free(arm);
	}
	return ferror(f) ? -EIO : 0;
}

static void json_member(FILE *f, const char *before, const char *name, const char *text)
{
	fprintf(f, "%s\"%s\": ", before, name);
	result_json_string(f, text);
}

static void json_number(FILE *f, const char *name, double x, const char *why)
{
	fprintf(f, ", \"%s\": ", name);
	if (isfinite(x))
		report_number(f, x);
	else
		fprintf(f, "null, \"%s_why\": \"%s\"", name, why);
}

static void json_refusals(FILE *f, const char *name, const struct diff_refusal *list, size_t n)
{
	fprintf(f, ",\n \"%s\": [", name);
	for (size_t i = 0; i < n; i++) {
		json_member(f, i ? ",\n  {" : "\n  {", "what", list[i].what);
		json_member(f, ", ", "why", list[i].why);
		fputc('}', f);
	}
	fputc(']', f);
}

static int diff_json(FILE *f, const struct result_diff *d, const bool *failed)
{
	fputs("{\"format\": \"perf-relax-diff\", \"version\": 1", f);
	json_member(f, ", ", "old", side_name(d, DIFF_OLD));
	json_member(f, ", ", "new", side_name(d, DIFF_NEW));
	json_number(f, "margin", d->rule.margin, "none");
	json_number(f, "confidence", d->rule.level, "none");
	fputs(",\n \"differs\": [", f);
	for (size_t i = 0; i < d->ndifference; i++) {
		json_member(f, i ? ",\n  {" : "\n  {", "what", d->difference[i].what);
		json_member(f, ", ", "old", d->difference[i].old);
		json_member(f, ", ", "new", d->difference[i].new);
		fputc('}', f);
	}
	fputc(']', f);
	json_refusals(f, "refused", d->refused, d->nrefused);
	json_refusals(f, "excluded", d->excluded, d->nexcluded);
	fputs(",\n \"verdicts\": [", f);
	for (size_t i = 0; i < d->nrow; i++) {
		const struct diff_row *row = &d->row[i];
		const struct result_metric *m = row_metric(d, row);
		struct report_value v[2];
		char *arm = row_arm(d, row);

		row_values(d, row, v);
		json_member(f, i ? ",\n  {" : "\n  {", "condition", row_condition(d, row));
		json_member(f, ", ", "arm", arm);
		json_member(f, ", ", "metric", m->name);
		json_member(f, ", ", "unit", m->unit ? m->unit : "");
		json_member(f, ", ", "better", better_name(m->better));
		json_number(f, "old", v[0].value, "no value");
		json_number(f, "new", v[1].value, "no value");
		json_member(f, ", ", "effect_unit", row->c.flags & COMPARE_DIFFERENCE ? (m->unit ? m->unit : "") : "%");
		json_number(f, "effect", scaled(&row->c, row->c.interval.estimate), "no spread was kept, or no value");
		json_number(f, "effect_low", scaled(&row->c, row->c.interval.low),
			    "too little data for this confidence");
		json_number(f, "effect_high", scaled(&row->c, row->c.interval.high),
			    "too little data for this confidence");
		json_number(f, "detectable", scaled(&row->c, row->c.detectable), "nothing could be detected");
		json_member(f, ", ", "verdict", verdict_name(row->c.verdict));
		fprintf(f, ", \"interleaved\": false, \"fails\": %s}", failed && failed[i] ? "true" : "false");
		free(arm);
	}
	fputs("]}\n", f);
	return ferror(f) ? -EIO : 0;
}

int report_diff(FILE *f, const struct result_diff *d, const bool *failed, const struct report_options *o)
{
	switch (o->format) {
	case REPORT_CSV:
		return diff_csv(f, d, failed, o);
	case REPORT_JSON:
		return diff_json(f, d, failed);
	default:
		return diff_text(f, d, failed, o);
	}
}
