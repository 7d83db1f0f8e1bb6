/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command as a workload: started, waited for, its time and resources taken. No shell: words are split as a shell splits them, and nothing more is
 * done; who wants a shell says `sh -c`.
 */
#ifndef PERF_RELAX_COMMAND_H
#define PERF_RELAX_COMMAND_H

#include <sys/types.h>

#include "util.h"

struct command_usage {
	double wall_s;		/* from before fork to after wait */
	double user_s, sys_s;	/* of the command and its waited-for children */
	double max_rss_bytes;
	double voluntary, involuntary;	/* context switches */
	double minor_faults, major_faults;
	int status;		/* as a shell has it: exit code, 128 + signal, 126 cannot execute, 127 not found */
	int signal;		/* that ended it, 0: none */
	int exec_errno;		/* why it could not be executed, 0: it was */
};

/*
 * Split @line into a NULL-terminated argument vector: blanks, quotes and backslashes as in sh; no expansion of any kind. Unquoted
 * | & ; < > ( ) ` $ # * ? [ ~ are refused, since they would need a shell. NULL and @why on error; command_free_words() releases it.
 */
char **command_split(const char *line, struct reason *why);
void command_free_words(char **words);

/* argv as one line, quoted where needed; malloc'ed. */
char *command_join(char *const *argv);

/*
 * Run @argv once with the caller's stdin, stdout and stderr, and wait for it. The child dies with its parent (PR_SET_PDEATHSIG). @argv[0] is looked up
 * on PATH. @running (may be NULL) is called with the child's pid once it exists, and with 0 once it has ended, with SIGINT, SIGTERM and SIGHUP blocked,
 * so that a handler that passes signals on misses none. Returns 0 or -errno (fork or wait failed) with @why; a command that fails is no error
 * here: see usage->status.
 */
int command_run(char *const *argv, struct command_usage *usage, void (*running)(pid_t pid), struct reason *why);

#endif
