/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf relax report: tables from stored results.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "options.h"
#include "report.h"

enum { KEY_FORMAT = 0x200, KEY_SORT, KEY_METRIC, KEY_ASCII };

struct report_run {
	struct report_options report;
	const char **file;
	size_t nfile;
};

static const struct argp_option options[] = {
	{ "format", KEY_FORMAT, "FORMAT", 0, "text (default), csv, markdown or json", 1 },
	{ "field-separator", 'x', "SEP", 0, "CSV with this separator", 1 },
	{ "json-output", 'j', NULL, 0, "The same as --format json", 1 },
	{ "sort", KEY_SORT, "COLUMN", 0,
	  "Sort by name, kind, bytes, effect, verdict or a metric; -COLUMN: the other way round", 2 },
	{ "metric", KEY_METRIC, "NAME", 0, "Judge by this metric (text), or show it only (csv, json, several files)",
	  2 },
	{ "ascii", KEY_ASCII, NULL, 0, "No characters beyond ASCII", 3 },
	{ "verbose", 'v', NULL, 0, "Say more: every comparison, the whole environment, the instructions", 3 },
	{ 0 }
};

static error_t parse_report(int key, char *arg, struct argp_state *state)
{
	struct report_run *run = state->input;
	error_t status = 0;

	switch (key) {
	case KEY_FORMAT:
		status = options_format(&run->report, arg);
		break;
	case 'x':
		if (!*arg) {
			msg_error("-x: the separator is empty");
			status = EXIT_USAGE;
		}
		run->report.format = REPORT_CSV;
		run->report.csv_sep = arg;
		break;
	case 'j':
		run->report.format = REPORT_JSON;
		break;
	case KEY_SORT:
		run->report.sort = arg;
		break;
	case KEY_METRIC:
		run->report.metric = arg;
		break;
	case KEY_ASCII:
		run->report.ascii = true;
		break;
	case 'v':
		run->report.verbosity++;
		break;
	case ARGP_KEY_ARG:
		run->file = util_realloc(run->file, run->nfile + 1, sizeof(*run->file));
		run->file[run->nfile++] = arg;
		break;
	case ARGP_KEY_END:
		if (!run->nfile)
			argp_error(state, "a result file is needed, as -o writes them");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (status)
		exit(EXIT_USAGE);
	return 0;
}

static const struct argp_child report_children[] = {
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

const struct argp argp_report = {
	.options = options,
	.parser = parse_report,
	.args_doc = "FILE...",
	.doc = "Print stored results as tables.\v"
	       "One file: what the command itself printed. Several: the same probe in one row, a group of columns for each file. - is standard input.",
	.children = report_children,
};

int cmd_report(int argc, char **argv)
{
	struct report_run run = { .nfile = 0 };
	struct result **r;
	struct reason why = { 0 };
	enum exit_code status = EXIT_DONE;
	size_t n = 0;
	int err;

	report_options_init(&run.report, stdout);
	if (argp_parse(&argp_report, argc, argv, 0, NULL, &run))
		return EXIT_USAGE;
	r = util_calloc(run.nfile, sizeof(*r));
	/* a file that cannot be read does not keep the others from being shown */
	for (size_t i = 0; i < run.nfile; i++) {
		if (result_read(run.file[i], &r[n], &why)) {
			msg_error("%s", why.text);
			status = EXIT_FAILED;
			continue;
		}
		/* files of other writers, with values or summaries only */
		if (!r[n]->ncomparison && r[n]->narm > 1)
			result_compare(r[n], r[n]->reference, 0, 0);
		n++;
	}
	if (n) {
		why.text[0] = '\0';
		err = report_print_many(stdout, r, n, &run.report, &why);
		if (err == -EINVAL) {
			msg_error("%s", why.text);
			status = EXIT_USAGE;
		} else if (err) {
			status = EXIT_FAILED;
		}
	}
	for (size_t i = 0; i < n; i++)
		result_free(r[i]);
	free(r);
	free(run.file);
	return (int)status;
}
