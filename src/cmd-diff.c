/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf relax diff: verdicts between two stored results.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "options.h"
#include "report-diff.h"
#include "result-diff.h"

enum { KEY_FAIL_ON = 0x200, KEY_MARGIN, KEY_CONFIDENCE, KEY_METRIC, KEY_FORMAT, KEY_PARTIAL, KEY_ASCII };

/* What makes the exit status 1. */
struct fail_rule {
	bool faster, slower, up, down;
	double faster_by, slower_by;	/* at least this much, relative */
};

struct diff_run {
	struct diff_options options;
	struct report_options report;
	struct fail_rule fail;
	const char *file[2];
	unsigned int nfile;
};

static const struct argp_option options[] = {
	{ "fail-on", KEY_FAIL_ON, "WHAT[:PCT]", 0,
	  "Exit 1 on this only: faster, slower, change (a metric without direction), any or none, with PCT on at least so many per cent; "
	  "several with commas (default faster,slower)",
	  1 },
	{ "margin", KEY_MARGIN, "PCT", 0,
	  "Differences below PCT per cent count as the same (default: the margin of OLD)", 2 },
	{ "confidence", KEY_CONFIDENCE, "PCT", 0, "Confidence of the intervals (default: that of OLD)", 2 },
	{ "metric", KEY_METRIC, "NAME", 0, "Compare this metric only", 2 },
	{ "partial", KEY_PARTIAL, NULL, 0, "Use results of runs that were interrupted too", 2 },
	{ "format", KEY_FORMAT, "FORMAT", 0, "text (default), csv, markdown or json", 3 },
	{ "field-separator", 'x', "SEP", 0, "CSV with this separator", 3 },
	{ "json-output", 'j', NULL, 0, "The same as --format json", 3 },
	{ "ascii", KEY_ASCII, NULL, 0, "No characters beyond ASCII", 3 },
	{ 0 }
};

static error_t parse_fail_on(struct fail_rule *rule, const char *text)
{
	char *copy = util_strdup(text), *save = NULL;
	error_t status = 0;

	memset(rule, 0, sizeof(*rule));
	for (char *word = strtok_r(copy, ",", &save); word && !status; word = strtok_r(NULL, ",", &save)) {
		char *colon = strchr(word, ':');
		double percent = 0;
		bool any;

		if (colon) {
			*colon = '\0';
			if (util_opt_double("--fail-on", colon + 1, 0, 1e6, &percent)) {
				status = EXIT_USAGE;
				break;
			}
		}
		any = !strcmp(word, "any");
		if (any || !strcmp(word, "faster")) {
			rule->faster = true;
			rule->faster_by = percent / 100;
		}
		if (any || !strcmp(word, "slower")) {
			rule->slower = true;
			rule->slower_by = percent / 100;
		}
		if (any || !strcmp(word, "change"))
			rule->up = rule->down = true;
		if (!any && strcmp(word, "faster") && strcmp(word, "slower") && strcmp(word, "change") &&
		    strcmp(word, "none")) {
			msg_error("--fail-on %s: %s is none of faster, slower, change, any, none", text, word);
			status = EXIT_USAGE;
		}
	}
	if (!*text) {
		msg_error("--fail-on: faster, slower, change, any or none is missing");
		status = EXIT_USAGE;
	}
	free(copy);
	return status;
}

static error_t parse_diff(int key, char *arg, struct argp_state *state)
{
	struct diff_run *d = state->input;
	error_t status = 0;
	double percent;

	switch (key) {
	case KEY_FAIL_ON:
		status = parse_fail_on(&d->fail, arg);
		break;
	case KEY_MARGIN:
		status = util_opt_double("--margin", arg, 0, 1e6, &percent) ? EXIT_USAGE : 0;
		if (!status)
			d->options.margin = percent / 100;
		break;
	case KEY_CONFIDENCE:
		status = util_opt_double("--confidence", arg, 50, 99.99, &percent) ? EXIT_USAGE : 0;
		if (!status)
			d->options.level = percent / 100;
		break;
	case KEY_METRIC:
		d->options.metric = arg;
		break;
	case KEY_PARTIAL:
		d->options.partial = true;
		break;
	case KEY_FORMAT:
		status = options_format(&d->report, arg);
		break;
	case 'x':
		if (!*arg) {
			msg_error("-x: the separator is empty");
			exit(EXIT_USAGE);
		}
		d->report.format = REPORT_CSV;
		d->report.csv_sep = arg;
		break;
	case 'j':
		d->report.format = REPORT_JSON;
		break;
	case KEY_ASCII:
		d->report.ascii = true;
		break;
	case ARGP_KEY_ARG:
		if (d->nfile == 2)
			argp_error(state, "two results are compared, OLD and NEW; %s is one too many", arg);
		d->file[d->nfile++] = arg;
		break;
	case ARGP_KEY_END:
		if (d->nfile < 2)
			argp_error(state, "two results are needed, OLD and NEW");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (status)
		exit(EXIT_USAGE);
	return 0;
}

static const struct argp_child diff_children[] = {
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

const struct argp argp_diff = {
	.options = options,
	.parser = parse_diff,
	.args_doc = "OLD NEW",
	.doc = "Compare two stored results: is NEW faster, slower, the same as OLD, or can it not be told?\v"
	       "Conditions that differ are named first; what cannot be compared (ticks with cycles, different units) is refused. "
	       "Exit status: 1 when something is faster or slower, or as --fail-on says; 4 when nothing could be compared. - is standard input.",
	.children = diff_children,
};

static bool row_fails(const struct result_diff *d, const struct diff_row *row, const struct fail_rule *rule)
{
	double size = fabs(row->c.interval.estimate);

	/* a relative size for differences too: of the old value, where there is one */
	if (row->c.flags & COMPARE_DIFFERENCE) {
		const struct result_series *s = result_series(d->side[DIFF_OLD], row->condition[DIFF_OLD],
							      row->arm[DIFF_OLD], row->metric[DIFF_OLD]);
		double *x = util_calloc(s->n, sizeof(*x)), old;
		size_t n = s->n ? result_values(d->side[DIFF_OLD], row->condition[DIFF_OLD], row->arm[DIFF_OLD],
						row->metric[DIFF_OLD], x) :
				  0;

		old = fabs(n ? stats_median(x, n) : s->summary.mean);
		size = old > 0 ? size / old : HUGE_VAL;
		free(x);
	} else {
		size = fabs(expm1(row->c.interval.estimate));
	}
	switch (row->c.verdict) {
	case VERDICT_FASTER:
		return rule->faster && size >= rule->faster_by;
	case VERDICT_SLOWER:
		return rule->slower && size >= rule->slower_by;
	case VERDICT_UP:
		return rule->up;
	case VERDICT_DOWN:
		return rule->down;
	default:
		return false;
	}
}

static enum exit_code run_diff(struct diff_run *run, struct result **side, struct reason *why)
{
	struct result_diff *d;
	enum exit_code status = EXIT_DONE;
	bool *failed;

	if (result_diff(side[0], side[1], &run->options, &d, why)) {
		msg_error("%s", why->text);
		return EXIT_USAGE;
	}
	failed = util_calloc(d->nrow, sizeof(*failed));
	for (size_t i = 0; i < d->nrow; i++) {
		failed[i] = row_fails(d, &d->row[i], &run->fail);
		if (failed[i])
			status = EXIT_DIFFERENCE;
	}
	if (!d->nrow)
		status = EXIT_FAILED;
	if (report_diff(stdout, d, failed, &run->report) && status == EXIT_DONE)
		status = EXIT_FAILED;
	free(failed);
	result_diff_free(d);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct diff_run run = { .options = { .margin = -1 }, .fail = { .faster = true, .slower = true } };
	struct result *side[2] = { NULL, NULL };
	struct reason why = { 0 };
	enum exit_code status = EXIT_DONE;

	report_options_init(&run.report, stdout);
	if (argp_parse(&argp_diff, argc, argv, 0, NULL, &run))
		return EXIT_USAGE;
	for (int s = 0; s < 2 && !status; s++)
		if (result_read(run.file[s], &side[s], &why)) {
			msg_error("%s", why.text);
			status = EXIT_FAILED;
		}
	if (!status)
		status = run_diff(&run, side, &why);
	result_free(side[0]);
	result_free(side[1]);
	return (int)status;
}
