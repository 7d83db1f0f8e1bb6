/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table that was collected in 2009 for kernel-side costs: what a local compare-and-swap saves over disabling and
 * enabling interrupts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

/* The rounds in which all @n arms have a value, as value[arm][round]. Returns how many; arms that were not measured
 * give 0. */
static size_t common_rounds(const struct result *r, size_t metric, const char *const *names, size_t n, double **value)
{
	size_t rounds = r->rounds[0], kept = 0, arm[3];

	for (size_t i = 0; i < n; i++) {
		arm[i] = result_find_arm(r, names[i]);
		if (arm[i] == SIZE_MAX || r->arm[arm[i]].absent || result_series(r, 0, arm[i], metric)->n < rounds)
			return 0;
	}
	for (size_t k = 0; k < rounds; k++) {
		bool all = true;

		for (size_t i = 0; i < n; i++) {
			value[i][kept] = result_series(r, 0, arm[i], metric)->value[k];
			all &= isfinite(value[i][kept]) && !(result_flags(r, 0, arm[i], k) & TRIAL_FAILED);
		}
		kept += all;
	}
	return kept;
}

/* "6.23 [6.20, 6.26]": of (numerators) / the last name, round by round, Hodges-Lehmann in logs. */
static void format_speedup(const struct result *r, size_t metric, const char *const *names, size_t n, double level,
			   char *buf, size_t size)
{
	double *value[3], *log_ratio;
	struct interval in;
	size_t rounds = 0, k;

	for (size_t i = 0; i < n; i++)
		value[i] = util_calloc(r->rounds[0] + 1, sizeof(double));
	log_ratio = util_calloc(r->rounds[0] + 1, sizeof(double));
	rounds = common_rounds(r, metric, names, n, value);
	for (k = 0; k < rounds; k++) {
		double top = value[0][k] + (n == 3 ? value[1][k] : 0), bottom = value[n - 1][k];

		if (top <= 0 || bottom <= 0)
			break;
		log_ratio[k] = log(top / bottom);
	}
	if (!rounds)
		snprintf(buf, size, "<not measured>");
	else if (k < rounds)
		snprintf(buf, size, "<below resolution>");
	else if (stats_signed_rank_interval(log_ratio, rounds, level, &in))
		snprintf(buf, size, "<too few rounds>");
	else if (!isfinite(in.low) || !isfinite(in.high))
		snprintf(buf, size, "%.2f [too few rounds]", exp(in.estimate));
	else
		snprintf(buf, size, "%.2f [%.2f, %.2f]", exp(in.estimate), exp(in.low), exp(in.high));
	for (size_t i = 0; i < n; i++)
		free(value[i]);
	free(log_ratio);
}

static void format_cost(const struct result *r, size_t metric, const char *name, char *buf, size_t size)
{
	size_t arm = result_find_arm(r, name), n;
	double *x;

	snprintf(buf, size, "<not measured>");
	if (arm == SIZE_MAX || r->arm[arm].absent)
		return;
	x = util_calloc(r->rounds[0] + 1, sizeof(double));
	n = result_values(r, 0, arm, metric, x);
	if (n)
		util_format_significant(stats_median(x, n), 3, buf, size);
	free(x);
}

/* Core cycles where they were counted, else ticks, else ns: never an estimate. SIZE_MAX when there is none of them. */
static size_t table_metric(const struct result *r)
{
	static const char *const names[] = { "cycles", "ticks", "ns" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t m = result_find_metric(r, names[i]), arm = result_find_arm(r, "cmpxchg-local");

		if (m != SIZE_MAX && !r->metric[m].estimated && result_series(r, 0, arm, m)->n &&
		    !result_series(r, 0, arm, m)->why)
			return m;
	}
	return SIZE_MAX;
}

/* Does @r have what the table is made of? Sets the metric that its row is in. */
static bool has_row(const struct result *r, size_t *metric)
{
	if (!r->ncondition || !r->rounds[0] || result_find_arm(r, "cmpxchg-local") == SIZE_MAX ||
	    (result_find_arm(r, "cli-sti") == SIZE_MAX && result_find_arm(r, "cli") == SIZE_MAX))
		return false;
	*metric = table_metric(r);
	return *metric != SIZE_MAX;
}

static void add_row(struct table *t, const struct result *r, size_t metric)
{
	static const char *const sum[] = { "cli", "sti", "cmpxchg-local" }, *const pair[] = { "cli-sti", "cmpxchg-"
													 "local" };
	const char *model = result_env(r, "cpu_model"), *arch = result_env(r, "arch");
	char text[64];

	table_cell(t, STYLE_PLAIN, "%s", model ? model : arch ? arch : "unknown");
	format_speedup(r, metric, sum, ARRAY_SIZE(sum), r->rule.level, text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	format_speedup(r, metric, pair, ARRAY_SIZE(pair), r->rule.level, text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	format_cost(r, metric, "cmpxchg-local", text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	format_cost(r, metric, "cmpxchg", text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	format_cost(r, metric, "sti", text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	format_cost(r, metric, "cli", text, sizeof(text));
	table_cell(t, STYLE_PLAIN, "%s", text);
	table_cell(t, STYLE_PLAIN, "%s", r->metric[metric].name);
}

void report_irq_table(FILE *f, struct result *const *r, size_t n, const struct report_options *o)
{
	static const char *const heads[] = { "CAS local", "CAS sync", "enable", "disable" };
	struct table *t = NULL;
	bool paravirtual = false;

	for (size_t i = 0; i < n; i++) {
		const char *kind = result_env(r[i], "irq_instructions");
		size_t metric;

		if (!has_row(r[i], &metric))
			continue;
		if (!t) {
			t = table_new(o);
			table_column(t, TABLE_LEFT, "architecture");
			table_column(t, TABLE_LEFT, "speed-up (cli + sti) / local cmpxchg");
			table_column(t, TABLE_LEFT, "by the pair");
			for (size_t k = 0; k < ARRAY_SIZE(heads); k++)
				table_column(t, TABLE_RIGHT, heads[k]);
			table_column(t, TABLE_LEFT, "in");
		}
		add_row(t, r[i], metric);
		paravirtual |= kind && !strncmp(kind, "paravirtual", 11);
	}
	if (!t)
		return;
	fputc('\n', f);
	report_paragraph(f, o,
			 "Speed-up of a local compare-and-swap over disabling and enabling interrupts, with its "
			 "interval: by the sum "
			 "of the two rows, as in the table of 2009, and by the pair as it was measured. Costs of one "
			 "operation.");
	table_print(f, t, o);
	table_free(t);
	if (paravirtual)
		report_paragraph(f, o,
				 "Where the kernel is paravirtual, enable and disable are calls, not the CPU's "
				 "instructions.");
}
