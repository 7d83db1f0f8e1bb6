/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf-relax, reached as `perf relax`: perf runs any perf-NAME on PATH. Dispatch only; perf itself turns `perf relax --help` into
 * `man perf-relax`, so --help is answered the same way here.
 */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "config.h"
#include "util.h"

struct command {
	const char *name, *summary;
	int (*run)(int argc, char **argv);
	const struct argp *argp;
};

static const struct command commands[] = {
#define X(ident, name, summary) { name, summary, cmd_##ident, &argp_##ident },
	COMMANDS(X)
#undef X
};

static const struct command *find_command(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

static void print_usage(FILE *f)
{
	fprintf(f, "Usage: perf relax COMMAND [OPTION...]\n\n"
		"Measure what the small instructions of synchronisation cost, and prove whether\n"
		"swapping one for another matters.\n\nCommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-8s %s\n", commands[i].name, commands[i].summary);
	fprintf(f, "  %-8s %s\n", "help", "show the manual page of a command");
	fprintf(f, "\nOptions:\n"
		"  -h, --help        this text\n"
		"  --version         version\n"
		"  --list-cmds       names of the commands, one a line\n"
		"  --list-opts CMD   long options of a command, one a line\n"
		"\nStart with: perf relax check, then perf relax stat\n");
}

static int unknown_command(const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 2];
	char hint[256];
	size_t n = 0;

	for (; n < ARRAY_SIZE(commands); n++)
		names[n] = commands[n].name;
	names[n++] = "help";
	names[n] = NULL;
	msg_error("'%s' is not a command%s; `perf relax -h` lists them", name, util_did_you_mean(name, names, hint, sizeof(hint)));
	return EXIT_USAGE;
}

static void list_options(const struct argp *argp)
{
	for (const struct argp_option *o = argp->options; o && (o->name || o->key || o->doc); o++)
		if (o->name && !(o->flags & (OPTION_HIDDEN | OPTION_DOC)))
			printf("--%s\n", o->name);
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		list_options(c->argp);
}

/* Show the page with man(1) when there is one, as perf does; else the short help. */
static int help(const char *name)
{
	const struct command *c = name ? find_command(name) : NULL;
	char *page = name ? util_asprintf("perf-relax-%s", name) : util_strdup("perf-relax");
	int status = -1;
	pid_t pid;

	if (name && !c) {
		free(page);
		return unknown_command(name);
	}
	fflush(stdout);
	pid = isatty(STDOUT_FILENO) ? fork() : -1;
	if (!pid) {
		execlp("man", "man", page, (char *)NULL);
		_exit(127);
	}
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	free(page);
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return EXIT_DONE;
	if (c) {
		char *program = util_asprintf("perf-relax %s", c->name);

		argp_help(c->argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned int)(ARGP_HELP_EXIT_ERR | ARGP_HELP_EXIT_OK), program);
		free(program);
	} else {
		print_usage(stdout);
	}
	return EXIT_DONE;
}

static int run_command(int argc, char **argv)
{
	const struct command *c = find_command(argv[0]);
	char *program;
	int status;

	if (!c)
		return unknown_command(argv[0]);
	program = util_asprintf("perf-relax %s", c->name);
	argv[0] = program;
	status = c->run(argc, argv);
	free(program);
	return status;
}

static int dispatch(int argc, char **argv)
{
	const char *first = argc > 1 ? argv[1] : NULL;

	if (!first) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(first, "-h") || !strcmp(first, "--help")) {
		print_usage(stdout);
		return EXIT_DONE;
	}
	if (!strcmp(first, "help"))
		return help(argc > 2 ? argv[2] : NULL);
	if (!strcmp(first, "--version") || !strcmp(first, "-V")) {
		printf("perf-relax %s\n", PACKAGE_VERSION);
		return EXIT_DONE;
	}
	if (!strcmp(first, "--list-cmds")) {
		for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
			printf("%s\n", commands[i].name);
		return EXIT_DONE;
	}
	if (!strcmp(first, "--list-opts")) {
		const struct command *c = argc > 2 ? find_command(argv[2]) : NULL;

		if (!c)
			return argc > 2 ? unknown_command(argv[2]) : EXIT_USAGE;
		list_options(c->argp);
		return EXIT_DONE;
	}
	if (*first == '-') {
		msg_error("unknown option '%s'; `perf relax -h` lists commands and options", first);
		return EXIT_USAGE;
	}
	return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	int status;

	/* Characters only: numbers, times and messages stay in the C locale, so that output reads the same everywhere. */
	setlocale(LC_CTYPE, "");
	argp_err_exit_status = EXIT_USAGE;
	status = dispatch(argc, argv);

	/* A full disk or a closed pipe must not look like success. stdout that was closed from the start matters only when something was printed. */
	if ((fflush(stdout) || ferror(stdout) || (fclose(stdout) && errno != EBADF))) {
		msg_error("cannot write to standard output: %s", strerror(errno));
		if (status == EXIT_DONE)
			status = EXIT_FAILED;
	}
	return status;
}
