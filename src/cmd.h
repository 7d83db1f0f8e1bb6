/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of commands: dispatch, help, completion and the document check are made from it.
 */
#ifndef PERF_RELAX_CMD_H
#define PERF_RELAX_CMD_H

#include <argp.h>

/* X(ident, "name", "one line"); each has cmd_<ident>() and argp_<ident> in cmd-<name>.c */
#define COMMANDS(X) \
	X(list,  "list",  "show probes, meters and events, or why this machine lacks them") \
	X(check, "check", "what can be measured here, how to unlock the rest, and a self-test") \
	X(stat,  "stat",  "cost of spin-wait hints, atomics and barriers: ns, ticks, cycles, verdicts") \
	X(lock,  "lock",  "spin-lock contention: throughput, latency and fairness, by hint or by lock") \
	X(ctx,   "ctx",   "context switches by a ring of tasks; TSC flag, ABI, policy or placement as the arm") \
	X(run,   "run",   "run a command, or several as arms, and compare time and resources") \
	X(irq,   "irq",   "kernel-side costs through the companion module: interrupts, atomics, locks") \
	X(scan,  "scan",  "find spin-wait hints in ELF files, with function, source line and loop") \
	X(report, "report", "print stored results as tables") \
	X(diff,  "diff",  "verdicts between two stored results; conditions that differ are named first")

/* Each returns an exit code (enum exit_code, or the status of a command that was run). argv[0] is "perf-relax NAME". */
#define X(ident, name, summary) \
	int cmd_##ident(int argc, char **argv); \
	extern const struct argp argp_##ident;
COMMANDS(X)
#undef X

#endif
