/* SPDX-License-Identifier: GPL-2.0-only */
/* A command as a workload. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "command.h"

#define NOT_EXECUTABLE 126
#define NOT_FOUND 127
#define BY_SIGNAL 128

struct words {
	char **word;
	size_t n;
	char *text;	/* of the word being read */
	size_t used;
	bool open;	/* a word has begun, though it may be empty ('') */
};

static void add_char(struct words *w, char c)
{
	w->text = util_realloc(w->text, w->used + 2, 1);
	w->text[w->used++] = c;
	w->text[w->used] = '\0';
	w->open = true;
}

static void end_word(struct words *w)
{
	if (!w->open)
		return;
	w->word = util_realloc(w->word, w->n + 2, sizeof(*w->word));
	w->word[w->n++] = w->text ? w->text : util_strdup("");
	w->word[w->n] = NULL;
	w->text = NULL;
	w->used = 0;
	w->open = false;
}

void command_free_words(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/* A quoted part that begins at @s (the quote); returns its closing quote or NULL. In double quotes, a backslash takes the next of "\$`. */
static const char *read_quoted(struct words *w, const char *s)
{
	char quote = *s++;

	w->open = true;
	for (; *s && *s != quote; s++) {
		if (quote == '"' && *s == '\\' && s[1] && strchr("\"\\$`", s[1]))
			s++;
		else if (quote == '"' && (*s == '$' || *s == '`'))
			return NULL;
		add_char(w, *s);
	}
	return *s ? s : NULL;
}

char **command_split(const char *line, struct reason *why)
{
	struct words w = { 0 };
	const char *s;

	for (s = line; *s; s++) {
		if (strchr(" \t\n", *s)) {
			end_word(&w);
		} else if (*s == '\'' || *s == '"') {
			const char *end = read_quoted(&w, s);

			if (!end) {
				reason_set(why, EINVAL, "'%s': a quote is not closed, or needs a shell; write sh -c '...' for one", line);
				goto fail;
			}
			s = end;
		} else if (*s == '\\' && s[1]) {
			add_char(&w, *++s);
		} else if (strchr("|&;<>()`$#*?[~", *s)) {
			reason_set(why, EINVAL, "'%s': '%c' needs a shell; quote it, or write sh -c '...' for one", line, *s);
			goto fail;
		} else {
			add_char(&w, *s);
		}
	}
	end_word(&w);
	if (w.n)
		return w.word;
	reason_set(why, EINVAL, "a command is empty");
fail:
	free(w.text);
	command_free_words(w.word);
	errno = EINVAL;
	return NULL;
}

char *command_join(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return util_strdup(argv[0]);
	for (char *const *a = argv; *a; a++) {
		if (a != argv)
			fputc(' ', f);
		if (**a && !(*a)[strspn(*a, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-")]) {
			fputs(*a, f);
			continue;
		}
		fputc('\'', f);
		for (const char *c = *a; *c; c++)
			fputs(*c == '\'' ? "'\\''" : (char[]){ *c, '\0' }, f);
		fputc('\'', f);
	}
	fclose(f);
	return text;
}

/* Only what is safe between fork and exec. The pipe closes on success and carries errno otherwise. */
static _Noreturn void child(char *const *argv, pid_t parent, int report, const sigset_t *mask)
{
	int err;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(NOT_FOUND);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	err = errno;
	while (write(report, &err, sizeof(err)) < 0 && errno == EINTR)
		;
	_exit(err == ENOENT ? NOT_FOUND : NOT_EXECUTABLE);
}

static double now_s(void)
{
	return (double)util_clock_ns(CLOCK_MONOTONIC_RAW) * 1e-9;
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static void take_usage(struct command_usage *usage, int status, const struct rusage *r)
{
	usage->user_s = seconds(&r->ru_utime);
	usage->sys_s = seconds(&r->ru_stime);
	usage->max_rss_bytes = (double)r->ru_maxrss * 1024;
	usage->voluntary = (double)r->ru_nvcsw;
	usage->involuntary = (double)r->ru_nivcsw;
	usage->minor_faults = (double)r->ru_minflt;
	usage->major_faults = (double)r->ru_majflt;
	usage->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	usage->status = usage->signal ? BY_SIGNAL + usage->signal : WEXITSTATUS(status);
}

static void block_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* Wait for the child; -errno. The caller learns that it is gone before its pid can be used again for something else. */
static int wait_for(pid_t pid, int *status, struct rusage *r, void (*running)(pid_t pid))
{
	siginfo_t info;
	sigset_t old;
	int err = 0;

	/* First without reaping: until `running` says 0, a handler may still send signals to this pid. */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	block_signals(&old);
	if (running)
		running(0);
	if (wait4(pid, status, 0, r) < 0)
		err = -errno;
	sigprocmask(SIG_SETMASK, &old, NULL);
	return err;
}

int command_run(char *const *argv, struct command_usage *usage, void (*running)(pid_t pid), struct reason *why)
{
	struct rusage r;
	pid_t self = getpid(), pid;
	int report[2], status, err = 0;
	sigset_t old;
	double start;

	*usage = (struct command_usage){ 0 };
	if (pipe2(report, O_CLOEXEC))
		return reason_set(why, errno, "%s: cannot make a pipe: %s", argv[0], strerror(errno));
	block_signals(&old);
	start = now_s();
	pid = fork();
	if (!pid)
		child(argv, self, report[1], &old);
	if (pid < 0)
		err = errno;
	else if (running)
		running(pid);
	sigprocmask(SIG_SETMASK, &old, NULL);
	close(report[1]);
	if (err) {
		close(report[0]);
		return reason_set(why, err, "%s: cannot start a process: %s", argv[0], strerror(err));
	}
	err = wait_for(pid, &status, &r, running);
	usage->wall_s = now_s() - start;
	if (!err) {
		take_usage(usage, status, &r);
		if (read(report[0], &usage->exec_errno, sizeof(usage->exec_errno)) != (ssize_t)sizeof(usage->exec_errno))
			usage->exec_errno = 0;
	}
	close(report[0]);
	return err ? reason_set(why, -err, "%s: cannot wait for it: %s", argv[0], strerror(-err)) : 0;
}
