/* SPDX-License-Identifier: GPL-2.0-only */
/* The options that every measuring command takes, as an argp child. */
#ifndef PERF_RELAX_OPTIONS_H
#define PERF_RELAX_OPTIONS_H

#include <argp.h>

#include "report.h"
#include "topology.h"
#include "verdict.h"

struct measure_options {
	uint64_t rounds;	/* 0: until settled */
	double time_s;		/* 0: the default of the command */
	double margin;		/* relative: 0.01 */
	double level;		/* 0.95 */
	bool seed_set;
	uint64_t seed;
	const char *cpus;	/* -C, NULL: not given */
	char *events;		/* -e, all joined by commas; NULL: not given */
	const char *output;	/* -o */
	const char *csv_sep;	/* -x */
	bool json;		/* -j */
	bool quiet;
};

/* Child parsers; their input is a struct measure_options, initialised by MEASURE_OPTIONS_INIT: rounds, verdicts and output; CPUs and perf's formats; events. */
extern const struct argp options_experiment_argp;
extern const struct argp options_meter_argp;
extern const struct argp options_event_argp;
#define MEASURE_OPTIONS_INIT { .margin = 0.01, .level = 0.95 }

/* -h, for every command: prints the help and exits 0. Child parser without input. */
extern const struct argp options_help_argp;

/* The argument of --format into @o. 0, or EXIT_USAGE with the message printed. */
int options_format(struct report_options *o, const char *text);

void options_measure_free(struct measure_options *o);

#endif
