/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What `perf stat -x` and `perf stat -j` of Linux 6.1 print, for scripts that read those. One line per condition, arm
 *and metric:
 *
 *	value SEP unit SEP event SEP run time SEP percent counted SEP metric value SEP metric unit
 *
 * The arm is part of the event's name, in the form of a PMU's event: "pause/ns/". perf's columns for an aggregate (CPU,
 *thread) would carry it too, but then neither of perf's own checks for the plain form accepts the output. perf's
 *"variance" column of -r is left out for the same reason: perf's JSON linter does not know it, and an interval says
 *more; it is in the result file.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

struct perf_line {
	char *event;
	const char *unit;
	struct report_value v;
	double runtime_ns, percent;	/* time that the event was counted; its share of the run */
	bool has_metric;
	double metric;
	char *metric_unit;
};

/* Event names of perf hold no blanks, separators or quotes: whatever else an arm is called is bent into that. */
static char *event_name(const struct result *r, size_t condition, size_t arm, size_t metric)
{
	char name[64], *event;
	const char *where = r->condition[condition].name;

	event = util_asprintf("%s/%s/%s%s", r->arm[arm].name,
			      report_metric_name(&r->metric[metric], name, sizeof(name)), *where ? "@" : "", where);
	for (char *p = event; *p; p++)
		if ((unsigned char)*p <= ' ' || *p == '"' || *p == ',' || *p == ';' || *p == 0x7f)
			*p = '_';
	return event;
}

static int for_each_line(FILE *f, const struct result *r, const char *sep,
			 void (*print)(FILE *f, const struct perf_line *line, const char *sep))
{
	struct comparison_index *index = comparison_index_new(r);

	for (size_t c = 0; c < r->ncondition; c++)
		for (size_t a = 0; a < r->narm; a++)
			for (size_t m = 0; m < r->nmetric; m++) {
				const struct comparison *cmp = comparison_index_find(index, c, m, a);
				struct perf_line line = { .event = event_name(r, c, a, m),
							  .unit = r->metric[m].unit ? r->metric[m].unit : "" };
				double share = result_series(r, c, a, m)->running_share;

				report_value(r, c, a, m, &line.v);
				/* like perf: an event that was not counted ran for no time, all of it */
				line.percent = line.v.why ? 100 : 100 * share;
				line.runtime_ns = line.v.why ? 0 : r->elapsed_s * 1e9 * share;
				if (cmp && !(cmp->flags & COMPARE_DIFFERENCE) && isfinite(cmp->interval.estimate)) {
					line.has_metric = true;
					line.metric = 100 * expm1(cmp->interval.estimate);
					line.metric_unit = util_asprintf("%% vs %s (%s)", r->arm[r->reference].name,
									 verdict_name(cmp->verdict));
				}
				print(f, &line, sep);
				free(line.event);
				free(line.metric_unit);
			}
	comparison_index_free(index);
	return ferror(f) ? -EIO : 0;
}

static void csv_line(FILE *f, const struct perf_line *line, const char *sep)
{
	char number[64];

	if (line->v.why)
		fputs(report_missing_word(line->v.why), f);
	else
		report_csv_field(f, util_format_significant(line->v.value, 8, number, sizeof(number)), sep);
	fputs(sep, f);
	report_csv_field(f, line->unit, sep);
	fputs(sep, f);
	report_csv_field(f, line->event, sep);
	fprintf(f, "%s%.0f%s%.2f%s", sep, line->runtime_ns, sep, line->percent, sep);
	if (line->has_metric)
		fprintf(f, "%.3f", line->metric);
	fputs(sep, f);
	if (line->has_metric)
		report_csv_field(f, line->metric_unit, sep);
	fputc('\n', f);
}

/* perf prints the value as a string, and 0.000000 with an empty unit where there is no metric. */
static void json_line(FILE *f, const struct perf_line *line, const char *sep)
{
	char number[64];

	(void)sep;
	fputs("{\"counter-value\" : ", f);
	result_json_string(f, line->v.why ? report_missing_word(line->v.why) :
					    util_format_significant(line->v.value, 8, number, sizeof(number)));
	fputs(", \"unit\" : ", f);
	result_json_string(f, line->unit);
	fputs(", \"event\" : ", f);
	result_json_string(f, line->event);
	fprintf(f, ", \"event-runtime\" : %.0f, \"pcnt-running\" : %.2f, \"metric-value\" : %.6f, \"metric-unit\" : ",
		line->runtime_ns, line->percent, line->has_metric ? line->metric : 0.0);
	result_json_string(f, line->has_metric ? line->metric_unit : "");
	fputs("}\n", f);
}

int report_perf_csv(FILE *f, const struct result *r, const char *sep)
{
	return for_each_line(f, r, sep && *sep ? sep : ",", csv_line);
}

int report_perf_json(FILE *f, const struct result *r)
{
	return for_each_line(f, r, NULL, json_line);
}
