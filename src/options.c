/* SPDX-License-Identifier: GPL-2.0-only */
/* Options common to all measuring commands. perf's letters keep perf's meaning. */
#include <stdlib.h>
#include <string.h>

#include "options.h"

#define SEED_MAX ((UINT64_C(1) << 53) - 1)	/* every JSON reader keeps it exact */

enum { KEY_TIME = 0x100, KEY_MARGIN, KEY_CONFIDENCE, KEY_SEED };

static const struct argp_option experiment_options[] = {
	{ "repeat", 'r', "N", 0, "Do N rounds (each runs every arm once); default: until the verdicts are settled", 10 },
	{ "time", KEY_TIME, "S", 0, "Stop after S seconds per condition (default 10)", 10 },
	{ "margin", KEY_MARGIN, "PCT", 0, "Differences below PCT per cent count as the same (default 1)", 10 },
	{ "confidence", KEY_CONFIDENCE, "PCT", 0, "Confidence of the intervals (default 95)", 10 },
	{ "seed", KEY_SEED, "N", 0, "Seed of the random order of arms", 10 },
	{ "output", 'o', "FILE", 0, "Write the result file (JSON) here", 11 },
	{ "verbose", 'v', NULL, 0, "Say more; may be repeated", 12 },
	{ "quiet", 'q', NULL, 0, "No progress, no warnings", 12 },
	{ 0 }
};

static const struct argp_option meter_options[] = {
	{ "cpu", 'C', "LIST", 0, "CPUs to measure on, as in 0,2-3", 10 },
	{ "field-separator", 'x', "SEP", 0, "Print counts as perf stat -x does", 11 },
	{ "json-output", 'j', NULL, 0, "Print counts as perf stat -j does", 11 },
	{ 0 }
};

static const struct argp_option event_options[] = {
	{ "event", 'e', "LIST", 0, "Count these events too, as perf stat does; may be repeated", 10 },
	{ 0 }
};

/* Several -e are one list, as perf has it. */
static void add_events(struct measure_options *o, const char *list)
{
	char *joined = o->events ? util_asprintf("%s,%s", o->events, list) : util_strdup(list);

	free(o->events);
	o->events = joined;
}

static error_t parse_percent(const char *option, const char *arg, double min, double max, double *out)
{
	double percent;

	if (util_opt_double(option, arg, min, max, &percent))
		return EXIT_USAGE;
	*out = percent / 100;
	return 0;
}

static error_t parse_experiment(int key, char *arg, struct argp_state *state)
{
	struct measure_options *o = state->input;
	error_t status = 0;

	switch (key) {
	case 'r':
		status = util_opt_u64("-r", arg, 1, 100000, &o->rounds);
		break;
	case KEY_TIME:
		status = util_opt_double("--time", arg, 0.001, 86400, &o->time_s);
		break;
	case KEY_MARGIN:
		status = parse_percent("--margin", arg, 0.001, 100, &o->margin);
		break;
	case KEY_CONFIDENCE:
		status = parse_percent("--confidence", arg, 50, 99.99, &o->level);
		break;
	case KEY_SEED:
		status = util_opt_u64("--seed", arg, 0, SEED_MAX, &o->seed);
		o->seed_set = true;
		break;
	case 'o':
		o->output = arg;
		break;
	case 'v':
		msg_verbosity++;
		break;
	case 'q':
		msg_verbosity = -1;
		o->quiet = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (status)
		exit(EXIT_USAGE);
	return 0;
}

static error_t parse_meter(int key, char *arg, struct argp_state *state)
{
	struct measure_options *o = state->input;

	switch (key) {
	case 'C':
		o->cpus = arg;
		break;
	case 'x':
		if (!*arg) {
			msg_error("-x: the separator is empty");
			exit(EXIT_USAGE);
		}
		o->csv_sep = arg;
		break;
	case 'j':
		o->json = true;
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static error_t parse_event(int key, char *arg, struct argp_state *state)
{
	if (key != 'e')
		return ARGP_ERR_UNKNOWN;
	add_events(state->input, arg);
	return 0;
}

const struct argp options_experiment_argp = { .options = experiment_options, .parser = parse_experiment };
const struct argp options_meter_argp = { .options = meter_options, .parser = parse_meter };
const struct argp options_event_argp = { .options = event_options, .parser = parse_event };

static const struct argp_option help_options[] = {
	{ NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1 },
	{ 0 }
};

static error_t parse_help(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != 'h')
		return ARGP_ERR_UNKNOWN;
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

const struct argp options_help_argp = { .options = help_options, .parser = parse_help };

int options_format(struct report_options *o, const char *text)
{
	static const char *const names[] = {
		[REPORT_TEXT] = "text", [REPORT_CSV] = "csv", [REPORT_MARKDOWN] = "markdown", [REPORT_JSON] = "json",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i])) {
			o->format = (enum report_format)i;
			return 0;
		}
	msg_error("--format %s: it is one of text, csv, markdown, json", text);
	return EXIT_USAGE;
}

void options_measure_free(struct measure_options *o)
{
	free(o->events);
	o->events = NULL;
}
