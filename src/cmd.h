/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of commands: dispatch, help, completion and the document check are made from it.
 */
#ifndef PERF_RELAX_CMD_H
#define PERF_RELAX_CMD_H

/* X(ident, "name", "one line") */
#define COMMANDS(X) \
	X(list,  "list",  "show probes, meters and events, or why this machine lacks them") \
	X(check, "check", "what can be measured here, how to unlock the rest, and a self-test") \
	X(stat,  "stat",  "cost of spin-wait hints, atomics and barriers: ns, ticks, cycles, verdicts")

/* Each returns an exit code (enum exit_code, or the status of a command that was run). */
#define X(ident, name, summary) int cmd_##ident(int argc, char **argv);
COMMANDS(X)
#undef X

struct argp;

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
};
extern const struct command commands[];
extern const unsigned int command_count;

#endif
