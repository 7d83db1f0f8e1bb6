/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One result as text (or Markdown): a table per condition, then everything that a sceptic asks: null control, rule,
 * what could not be told and why, warnings, where it ran, seed.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

#define BYTES_SHOWN 5		/* of an encoding; all of them with -v, in CSV and in JSON */
#define WARNING_DETAIL_MAX 300	/* characters of what a warning is about */
#define METRIC_COLUMNS 34	/* width that the metrics may take beside the comparison */

struct text_report {
	FILE *f;
	const struct result *r;
	const struct report_options *o;
	const struct comparison_index *index;
	size_t headline;
	size_t below;		/* cells of the last table that are below resolution */
};

static bool has_flag(const struct comparison *c, unsigned int flag)
{
	return c && (c->flags & flag);
}

/* "f3 90"; long encodings are cut, with the number of bytes left out. */
static char *short_bytes(const char *bytes, const struct report_options *o, char *buf, size_t size)
{
	size_t n = (strlen(bytes) + 1) / 3;

	if (n <= BYTES_SHOWN + 1 || o->verbosity > 0)
		snprintf(buf, size, "%s", bytes);
	else
		snprintf(buf, size, "%.*s +%zu", BYTES_SHOWN * 3 - 1, bytes, n - BYTES_SHOWN);
	return buf;
}

static void print_title(const struct text_report *t)
{
	const struct result *r = t->r;
	size_t rounds = 0, measured = 0;

	for (size_t c = 0; c < r->ncondition; c++)
		rounds += r->rounds[c];
	for (size_t a = 0; a < r->narm; a++)
		measured += !r->arm[a].absent;
	fputs(t->o->format == REPORT_MARKDOWN ? "## " : "", t->f);
	if (rounds)
		report_paragraph(t->f, t->o, "perf relax %s: %zu arm%s, %zu round%s in %.2f s%s%s",
				 r->command ? r->command : "(command not known)", measured, measured == 1 ? "" : "s",
				 rounds, rounds == 1 ? "" : "s", r->elapsed_s,
				 measured < 2	? "" :
				 r->interleaved ? ", each round in random order" :
						  ", not interleaved",
				 r->partial ? "; PARTIAL" : "");
	else
		report_paragraph(t->f, t->o, "perf relax report: %zu arm%s, summaries without single values%s",
				 measured, measured == 1 ? "" : "s", r->partial ? "; PARTIAL" : "");
	if (r->file)
		report_paragraph(t->f, t->o, "file %s, measured %s", r->file,
				 r->start_time ? r->start_time : "at an unknown time");
}

/* Details are for -v, unless one is what the table is about. */
static bool metric_shown(const struct text_report *t, size_t metric)
{
	return !t->r->metric[metric].detail || metric == t->headline || t->o->verbosity > 0;
}

/* "ns, ticks, cycles~: lower is better; instructions: no better direction". */
static char *direction_text(const struct text_report *t)
{
	const struct result *r = t->r;
	static const char *const words[] = {
		[BETTER_LOWER] = "lower is better",
		[BETTER_HIGHER] = "higher is better",
		[BETTER_NONE] = "no direction",
	};
	char *text = util_strdup("");

	for (enum better b = BETTER_LOWER; b <= BETTER_NONE; b++) {
		bool any = false;

		for (size_t m = 0; m < r->nmetric; m++) {
			char name[64], *longer;

			if (r->metric[m].better != b || !metric_shown(t, m))
				continue;
			longer = util_asprintf("%s%s%s", text,
					       any   ? ", " :
					       *text ? "; " :
						       "",
					       report_metric_name(&r->metric[m], name, sizeof(name)));
			free(text);
			text = longer;
			any = true;
		}
		if (any) {
			char *longer = util_asprintf("%s: %s", text, words[b]);

			free(text);
			text = longer;
		}
	}
	return text;
}

static void print_caption(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	char *directions = direction_text(t);
	bool per_op = true;

	for (size_t m = 0; m < r->nmetric; m++) {
		const char *unit = r->metric[m].unit;

		per_op = per_op && unit && strlen(unit) > 3 && !strcmp(unit + strlen(unit) - 3, "/op");
	}
	if (t->o->format == REPORT_TEXT)
		fputc('\n', t->f);
	if (*r->condition[condition].name)
		report_paragraph(t->f, t->o, "%s", r->condition[condition].name);
	if (r->rounds[condition])
		report_paragraph(t->f, t->o, "%s of %zu round%s. %s", per_op ? "Per operation, median" : "Median",
				 r->rounds[condition], r->rounds[condition] == 1 ? "" : "s", directions);
	else
		report_paragraph(t->f, t->o, "%s. %s", per_op ? "Per operation, means" : "Means", directions);
	free(directions);
	if (t->o->format == REPORT_TEXT)
		fputc('\n', t->f);
}

static char *metric_head(const struct result_metric *m, char *buf, size_t size)
{
	char name[64];
	const char *unit = m->unit ? m->unit : "";
	size_t n = strlen(m->name);

	report_metric_name(m, name, sizeof(name));
	/* "ns" in "ns/op" needs no unit beside it; the caption says "per operation" */
	if (!*unit || (!strncmp(unit, m->name, n) && !strcmp(unit + n, "/op")) ||
	    (strlen(unit) > 3 && !strcmp(unit + strlen(unit) - 3, "/op")))
		snprintf(buf, size, "%s", name);
	else
		snprintf(buf, size, "%s %s", name, unit);
	return buf;
}

static void verdict_cell(const struct text_report *t, struct table *table, size_t condition, size_t arm)
{
	const struct comparison *c = comparison_index_find(t->index, condition, t->headline, arm);
	const struct result_metric *m = &t->r->metric[t->headline];
	char effect[192];

	if (arm == t->r->reference) {
		table_cell(table, STYLE_DIM, "reference");
		table_cell(table, STYLE_PLAIN, "%s", "");
	} else if (!c) {
		table_cell(table, STYLE_PLAIN, "%s", "");
		table_cell(table, STYLE_PLAIN, "%s", "");
	} else {
		table_cell(table, STYLE_PLAIN, "%s",
			   report_effect_text(c, m->unit ? m->unit : "", t->o, effect, sizeof(effect)));
		table_cell(table, report_verdict_style(c->verdict), "%s%s", verdict_name(c->verdict),
			   result_are_twins(t->r, arm, t->r->reference) ? " (null)" : "");
	}
}

/* Is there a value of this metric in any arm? */
static bool metric_measured(const struct result *r, size_t condition, size_t metric)
{
	for (size_t a = 0; a < r->narm; a++)
		if (!report_value_missing(r, condition, a, metric))
			return true;
	return false;
}

/*
 * The metrics of one table: from @from on, as many as fit into @room columns, at least one. Those without any value
 * only get their reason below.
 */
static size_t choose_metrics(const struct text_report *t, size_t condition, size_t from, size_t room, bool *chosen)
{
	const struct result *r = t->r;
	char head[128];
	bool any = false;
	size_t m;

	memset(chosen, 0, r->nmetric);
	for (m = from; m < r->nmetric; m++) {
		size_t width = strlen(metric_head(&r->metric[m], head, sizeof(head)));

		if (!metric_measured(r, condition, m) || !metric_shown(t, m))
			continue;
		width = (width < 8 ? 8 : width) + 2;
		if (any && width > room)
			break;
		room -= width < room ? width : room;
		chosen[m] = any = true;
	}
	return m;
}

static void fill_table(struct text_report *t, struct table *table, size_t condition, const size_t *order,
		       const bool *chosen, bool main_table)
{
	const struct result *r = t->r;
	bool bytes = false, compared = main_table && r->narm > 1;
	char text[256], name[128], against[192];

	for (size_t a = 0; a < r->narm; a++)
		bytes |= r->arm[a].bytes != NULL;
	table_column(table, TABLE_LEFT, bytes ? "probe" : "arm");
	bytes = bytes && main_table;
	if (bytes)
		table_column(table, TABLE_LEFT, "bytes");
	for (size_t m = 0; m < r->nmetric; m++)
		if (chosen[m])
			table_column(table, TABLE_DECIMAL, metric_head(&r->metric[m], name, sizeof(name)));
	if (compared) {
		char *reference = report_name(r->arm[r->reference].name, t->o);

		snprintf(against, sizeof(against), "%s against %s",
			 report_metric_name(&r->metric[t->headline], name, sizeof(name)), reference);
		free(reference);
		table_column(table, TABLE_LEFT, against);
		table_column(table, TABLE_LEFT, "verdict");
	}
	for (size_t i = 0; i < r->narm; i++) {
		const struct result_arm *arm = &r->arm[order[i]];
		char *clean = report_name(arm->name, t->o);
		bool first = true;

		table_cell(table, STYLE_PLAIN, "%s", clean);
		free(clean);
		if (bytes)
			table_cell(table, STYLE_DIM, "%s",
				   arm->bytes ? short_bytes(arm->bytes, t->o, text, sizeof(text)) : "");
		for (size_t m = 0; m < r->nmetric; m++) {
			struct report_value v;

			if (!chosen[m])
				continue;
			report_value(r, condition, order[i], m, &v);
			report_value_text(&v, t->o, text, sizeof(text));
			t->below += v.kind == VALUE_BELOW;
			/* an arm that is not there says so once, across its row */
			if (arm->absent)
				table_cell(table, first ? STYLE_SPAN : STYLE_PLAIN, "%s", first ? text : "");
			else
				table_cell(table, v.why ? STYLE_DIM : STYLE_PLAIN, "%s", text);
			first = false;
		}
		if (compared)
			verdict_cell(t, table, condition, order[i]);
	}
}

static int print_table(struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	size_t *order = util_calloc(r->narm, sizeof(*order)), next = 0;
	bool *chosen = util_calloc(r->nmetric, sizeof(*chosen)), main_table = true;
	int err = 0;

	report_order(r, condition, t->headline, t->o, t->index, order);
	t->below = 0;
	while (!err && next < r->nmetric) {
		struct table *table = table_new(t->o);

		next = choose_metrics(t, condition, next, main_table ? METRIC_COLUMNS : REPORT_WIDTH - 20, chosen);
		fill_table(t, table, condition, order, chosen, main_table);
		if (!main_table)
			fputc('\n', t->f);
		if (main_table || memchr(chosen, 1, r->nmetric))
			err = table_print(t->f, table, t->o);
		table_free(table);
		main_table = false;
	}
	free(order);
	free(chosen);
	return err;
}

/* Which arms a note is about: "pause, rep-nop". All of them: "". */
struct note {
	const char *why;
	size_t metric;		/* SIZE_MAX: the whole arm */
	char *who;
	size_t n;
};

static void note_add(struct note **notes, size_t *n, const char *why, size_t metric, const char *who)
{
	size_t i = 0;
	char *longer;

	while (i < *n && ((*notes)[i].metric != metric || strcmp((*notes)[i].why, why)))
		i++;
	if (i == *n) {
		*notes = util_realloc(*notes, *n + 1, sizeof(**notes));
		(*notes)[(*n)++] = (struct note){ .why = why, .metric = metric, .who = util_strdup("") };
	}
	if ((*notes)[i].n++ > 8)
		return;
	longer =
		util_asprintf("%s%s%s", (*notes)[i].who, *(*notes)[i].who ? ", " : "", (*notes)[i].n > 8 ? "..." : who);
	free((*notes)[i].who);
	(*notes)[i].who = longer;
}

/* The reason of every missing value, once. */
static void print_missing(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	struct note *notes = NULL;
	size_t n = 0, measured = 0;

	for (size_t a = 0; a < r->narm; a++) {
		measured += !r->arm[a].absent;
		if (r->arm[a].absent) {
			note_add(&notes, &n, r->arm[a].absent, SIZE_MAX, r->arm[a].name);
			continue;
		}
		for (size_t m = 0; m < r->nmetric; m++) {
			const char *why = report_value_missing(r, condition, a, m);

			if (why)
				note_add(&notes, &n, why, m, r->arm[a].name);
		}
	}
	if (n || t->below)
		fputc('\n', t->f);
	for (size_t i = 0; i < n; i++) {
		char metric[64];
		const char *word = report_missing_word(notes[i].why), *reason = report_missing_reason(notes[i].why);

		if (notes[i].metric == SIZE_MAX)
			report_wrap(t->f, t->o, "  ", 4, "%s %s: %s", notes[i].who, word, reason);
		else
			report_wrap(t->f, t->o, "  ", 4, "%s%s%s %s: %s", notes[i].n == measured ? "" : notes[i].who,
				    notes[i].n == measured ? "" : ", ",
				    report_metric_name(&r->metric[notes[i].metric], metric, sizeof(metric)), word,
				    reason);
		free(notes[i].who);
	}
	free(notes);
	if (t->below)
		report_wrap(t->f, t->o, "  ", 4,
			    "(0 %s x): below resolution (0 %s x): not distinguishable from zero in this run",
			    t->o->ascii ? "+-" : "\u00b1", t->o->ascii ? "+-" : "\u00b1");
}

static void print_null(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	const struct result_comparison *null = result_find_null(r, condition, t->headline);
	const char *unit = r->metric[t->headline].unit ? r->metric[t->headline].unit : "";
	char effect[192], reach[160], size[96], name[64];
	double reached;

	if (!null) {
		if (r->narm > 1)
			report_wrap(t->f, t->o, "null control: ", 14, "none in this run (no arm is there twice)");
		return;
	}
	report_effect_text(&null->c, unit, t->o, effect, sizeof(effect));
	report_metric_name(&r->metric[t->headline], name, sizeof(name));
	reached = fmax(fabs(null->c.interval.low), fabs(null->c.interval.high));
	if (isfinite(reached))
		snprintf(reach, sizeof(reach), "nothing finer than %s counts as an effect here",
			 report_size_text(reached, &null->c, unit, size, sizeof(size)));
	else
		snprintf(reach, sizeof(reach), "too few rounds to know the tool's own error");
	report_wrap(t->f, t->o, "null control: ", 14, "%s against %s (the same %s): %s %s, %s; %s", r->arm[null->arm].name,
		    r->arm[null->reference].name, r->arm[null->arm].bytes ? "bytes" : "thing twice", name, effect,
		    verdict_name(null->c.verdict), reach);
}

static void print_rule(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	const struct result_condition *c = &r->condition[condition];
	char margin[48], looks[96] = "";
	size_t compared = result_comparisons_counted(r);

	if (!compared && !result_find_null(r, condition, t->headline))
		return;
	snprintf(margin, sizeof(margin), "%.4g", 100 * r->rule.margin);
	if (c->looks_planned)
		snprintf(looks, sizeof(looks), ", look %zu of %zu", c->looks_taken, c->looks_planned);
	report_wrap(
		t->f, t->o, "rule: ", 6,
		"same = within %s%s %% of the reference; confidence %.4g %%%s; %zu round%s%s%s%s; %zu comparison%s in this run",
		t->o->ascii ? "+-" : "\u00b1", margin, 100 * r->rule.level,
		c->looks_planned > 1 ? " over all looks" : "", r->rounds[condition],
		r->rounds[condition] == 1 ? "" : "s", looks, c->ended ? ", ended: " : "", c->ended ? c->ended : "",
		compared, compared == 1 ? "" : "s");
}

/* How many trials were disturbed. They are kept: the medians bear it. */
static void print_trials(const struct text_report *t, size_t condition)
{
	static const struct { unsigned int flag; const char *what;
	} kinds[] = {
		{ TRIAL_MIGRATED, "changed CPU" },
		{ TRIAL_DESCHEDULED, "descheduled" },
		{ TRIAL_STOLEN, "stolen from by the hypervisor" },
		{ TRIAL_SCALED, "with scaled counters" },
		{ TRIAL_FAILED, "failed" },
	};
	const struct result *r = t->r;
	size_t trials = 0, count[ARRAY_SIZE(kinds)] = { 0 };
	char *line = util_strdup("");

	for (size_t a = 0; a < r->narm; a++)
		for (size_t i = 0; i < r->rounds[condition] && !r->arm[a].absent; i++) {
			trials++;
			for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)
				count[k] += !!(result_flags(r, condition, a, i) & kinds[k].flag);
		}
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		char *longer;

		if (!count[k])
			continue;
		longer = util_asprintf("%s, %zu %s (%.1f %%)", line, count[k], kinds[k].what,
				       100.0 * (double)count[k] / (double)trials);
		free(line);
		line = longer;
	}
	if (trials && *line)
		report_wrap(t->f, t->o, "trials: ", 8, "%zu%s; %s", trials, line,
			    count[ARRAY_SIZE(kinds) - 1] ? "the failed are left out, the others kept" : "all kept");
	free(line);
}

/* Where the values of an arm fall into two groups, one number hides it: show both. */
static void print_modes(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;

	for (size_t a = 0; a < r->narm; a++) {
		size_t n = result_series(r, condition, a, t->headline)->n;
		double *x = util_calloc(n, sizeof(*x));
		struct stats_modes modes;
		char low[48], high[48], median[48], name[64];

		n = result_values(r, condition, a, t->headline, x);
		if (n && stats_modes(x, n, r->rule.margin, &modes))
			report_wrap(t->f, t->o, "two modes: ", 11,
				    "%s, %s: %s (%.0f %% of the trials) and %s (%.0f %%); median %s", r->arm[a].name,
				    report_metric_name(&r->metric[t->headline], name, sizeof(name)),
				    util_format_significant(modes.center[0], 4, low, sizeof(low)), 100 * modes.share[0],
				    util_format_significant(modes.center[1], 4, high, sizeof(high)),
				    100 * modes.share[1],
				    util_format_significant(stats_median(x, n), 4, median, sizeof(median)));
		free(x);
	}
}

/* What a run that could not tell would have told, and what would settle it. */
static void print_cannot_tell(const struct text_report *t, size_t condition, size_t metric)
{
	const struct result *r = t->r;
	const char *unit = r->metric[metric].unit ? r->metric[metric].unit : "";
	size_t rounds = 0, lines = 0;

	for (size_t c = 0; c < r->ncondition; c++)
		rounds += r->rounds[c];
	for (size_t a = 0; a < r->narm; a++) {
		const struct comparison *c = comparison_index_find(t->index, condition, metric, a);
		char seen[96], needed[128], name[64];

		if (!c || c->verdict != VERDICT_CANNOT_TELL || lines++ >= REPORT_LINES)
			continue;
		if (c->flags & COMPARE_NO_SPREAD)
			snprintf(needed, sizeof(needed), "repeat both sides and keep every value");
		else if (!isfinite(c->rounds_needed))
			snprintf(needed, sizeof(needed), "more rounds alone would not settle it");
		else if (r->elapsed_s > 0 && rounds)
			snprintf(needed, sizeof(needed), "about %.0f rounds (%.3g s) would settle it",
				 ceil(c->rounds_needed), ceil(c->rounds_needed) * r->elapsed_s / (double)rounds);
		else
			snprintf(needed, sizeof(needed), "about %.0f rounds would settle it", ceil(c->rounds_needed));
		report_size_text(c->detectable, c, unit, seen, sizeof(seen));
		report_metric_name(&r->metric[metric], name, sizeof(name));
		if (isfinite(c->detectable))
			report_wrap(t->f, t->o, "cannot tell: ", 13,
				    "%s, %s: smallest effect that this run would have seen: %s; %s", r->arm[a].name, name,
				    seen, needed);
		else
			report_wrap(t->f, t->o, "cannot tell: ", 13, "%s, %s: so little data shows no effect of any size; %s",
				    r->arm[a].name, name, needed);
	}
	if (lines > REPORT_LINES)
		report_wrap(t->f, t->o, "cannot tell: ", 13, "and %zu more", lines - REPORT_LINES);
}

static void print_flags(const struct text_report *t, size_t condition, size_t metric)
{
	const struct result *r = t->r;

	for (unsigned int flag = COMPARE_DIFFERENCE; flag <= COMPARE_COARSE; flag <<= 1) {
		struct note *notes = NULL;
		size_t n = 0;

		if (flag == COMPARE_EARLY && t->o->verbosity < 1)
			continue;
		for (size_t a = 0; a < r->narm; a++)
			if (has_flag(comparison_index_find(t->index, condition, metric, a), flag))
				note_add(&notes, &n, report_flag_sentence(flag), metric, r->arm[a].name);
		for (size_t i = 0; i < n; i++) {
			report_wrap(t->f, t->o, "note: ", 6, "%s: %s", notes[i].who, notes[i].why);
			free(notes[i].who);
		}
		free(notes);
	}
}

/* The comparisons of the other metrics: all with -v, else those that say something else than the headline. */
static void print_other_metrics(const struct text_report *t, size_t condition)
{
	const struct result *r = t->r;
	struct table *table = table_new(t->o);
	char text[192], name[64];

	table_column(table, TABLE_LEFT, "other metrics");
	table_column(table, TABLE_LEFT, "metric");
	table_column(table, TABLE_LEFT, "against the reference");
	table_column(table, TABLE_LEFT, "verdict");
	for (size_t m = 0; m < r->nmetric; m++)
		for (size_t a = 0; a < r->narm && m != t->headline; a++) {
			const struct comparison *c = comparison_index_find(t->index, condition, m, a);
			const struct comparison *head = comparison_index_find(t->index, condition, t->headline, a);
			char *clean;

			if (!c || !metric_shown(t, m) ||
			    (t->o->verbosity < 1 &&
			     (r->metric[m].better == BETTER_NONE || (head && head->verdict == c->verdict))))
				continue;
			clean = report_name(r->arm[a].name, t->o);
			table_cell(table, STYLE_PLAIN, "%s", clean);
			free(clean);
			table_cell(table, STYLE_PLAIN, "%s", report_metric_name(&r->metric[m], name, sizeof(name)));
			table_cell(table, STYLE_PLAIN, "%s",
				   report_effect_text(c, r->metric[m].unit ? r->metric[m].unit : "", t->o, text,
						      sizeof(text)));
			table_cell(table, report_verdict_style(c->verdict), "%s", verdict_name(c->verdict));
		}
	if (table_rows(table)) {
		fputc('\n', t->f);
		table_print(t->f, table, t->o);
	}
	table_free(table);
}

static void print_where(const struct text_report *t)
{
	static const struct { const char *key, *label;
	} shown[] = {
		{ "cpu_model", "" },
		{ "cpu_id", "" },
		{ "core_type", "core types " },
		{ "hypervisor", "hypervisor " },
		{ "kernel", "Linux " },
		{ "clocksource", "clock " },
		{ "governor", "governor " },
		{ "turbo", "boost " },
		{ "smt", "SMT " },
		{ "cpus_allowed", "CPUs " },
		{ "perf_event_paranoid", "paranoid " },
		{ "microcode", "microcode " },
		{ "container", "container " },
	};
	const struct result *r = t->r;
	char *line = util_strdup("");

	if (t->o->verbosity > 0) {
		for (size_t i = 0; i < r->nenv; i++)
			report_wrap(t->f, t->o, i ? "              " : "where it ran: ", 16, "%s: %s%s%s",
				    r->env[i].key, r->env[i].value ? r->env[i].value : "not known (",
				    r->env[i].value ? "" : r->env[i].why, r->env[i].value ? "" : ")");
		free(line);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++) {
		const char *value = result_env(r, shown[i].key);
		char *longer;

		if (!value || !*value)
			continue;
		longer = util_asprintf("%s%s%s%s", line, *line ? "; " : "", shown[i].label, value);
		free(line);
		line = longer;
	}
	if (*line)
		report_wrap(t->f, t->o, "where it ran: ", 14, "%s", line);
	free(line);
}

static void print_warnings(const struct text_report *t)
{
	const struct result *r = t->r;

	/* each kind once, with what it is about */
	for (size_t i = 0; i < r->nwarning && t->o->verbosity >= 0; i++) {
		const struct result_warning_entry *w = &r->warning[i];
		char *details = util_strdup("");
		bool seen = false;

		for (size_t k = 0; k < i; k++)
			seen = seen || r->warning[k].id == w->id;
		for (size_t k = i; k < r->nwarning && !seen; k++) {
			char *longer;

			if (r->warning[k].id != w->id || !r->warning[k].detail || strlen(details) > WARNING_DETAIL_MAX)
				continue;
			longer = util_asprintf("%s%s%s", details, *details ? "; " : "",
					       strlen(details) + strlen(r->warning[k].detail) > WARNING_DETAIL_MAX ?
						       "..." :
						       r->warning[k].detail);
			free(details);
			details = longer;
		}
		if (!seen)
			report_wrap(t->f, t->o, t->o->colour ? "\033[33mwarning:\033[0m " : "warning: ", 9,
				    "%s%s%s%s: %s [%s]", result_warning_text(w->id), *details ? " (" : "", details,
				    *details ? ")" : "", result_warning_advice(w->id), result_warning_name(w->id));
		free(details);
	}
}

static void print_decoded(const struct text_report *t)
{
	const struct result *r = t->r;

	for (size_t a = 0; t->o->verbosity > 0 && a < r->narm; a++)
		if (r->arm[a].text || r->arm[a].setup)
			report_wrap(t->f, t->o, "  ", 4, "%s: %s%s%s", r->arm[a].name,
				    r->arm[a].text ? r->arm[a].text : "", r->arm[a].setup ? "; set-up: " : "",
				    r->arm[a].setup ? r->arm[a].setup : "");
}

int report_text(FILE *f, const struct result *r, const struct report_options *o, struct reason *why)
{
	struct comparison_index *index = comparison_index_new(r);
	struct text_report t = { .f = f, .r = r, .o = o, .index = index };
	int err = report_pick_metric(r, o, &t.headline, why);

	err = err ? err : report_check_sort(r, o, why);
	if (err)
		goto out;
	print_title(&t);
	print_decoded(&t);
	for (size_t c = 0; c < r->ncondition && r->nmetric && r->narm; c++) {
		print_caption(&t, c);
		err = print_table(&t, c);
		if (err)
			goto out;
		print_missing(&t, c);
		print_other_metrics(&t, c);
		fputc('\n', f);
		print_null(&t, c);
		print_rule(&t, c);
		print_trials(&t, c);
		print_cannot_tell(&t, c, t.headline);
		print_modes(&t, c);
		print_flags(&t, c, t.headline);
	}
	print_warnings(&t);
	print_where(&t);
	if (r->command)
		report_wrap(f, o, "seed: ", 6, "%" PRIu64 " (--seed repeats the order of the arms)", r->seed);
out:
	comparison_index_free(index);
	return err ? err : ferror(f) ? -EIO : 0;
}
