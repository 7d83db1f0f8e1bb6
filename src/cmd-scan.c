/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf relax scan: which spin-wait hints are in files, where, and in which loops.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include "cmd.h"
#include "options.h"
#include "scan.h"
#include "scan-package.h"
#include "symbols.h"

/* A job's output that is kept until its turn comes; beyond, the job waits for its turn and then writes as it goes. */
#define KEEP_BYTES (1u << 20)
#define THREADS_MAX 256

enum {
	KEY_NEEDED = 0x200,
	KEY_KERNEL,
	KEY_STDIN0,
	KEY_SUMMARY,
	KEY_PRIVILEGED,
	KEY_NO_SOURCE,
	KEY_DEBUGINFOD,
	KEY_HINTS,
};

struct scan_run {
	/* options */
	struct scan_style style;
	bool recursive, needed, kernel, stdin0, privileged, no_source, hints, quiet;
	unsigned int threads;
	pid_t *pid;
	size_t n_pids;
	const char **file;
	size_t n_files;
	/* state; the totals change in finish_job() only, which is never run twice at the same time */
	struct scan_pool *pool;
	struct scan_summaries *summaries;
	bool progress, progress_shown, head_written;
	struct timespec progress_at;
	struct scan_totals totals;
};

/* One for each thread. */
struct scan_worker {
	struct scan_run *run;
	struct elfscan *scan;
	struct scan_job *job;
	bool streaming;
};

/* Set in a signal handler, read by all threads: an atomic of a size that needs no lock anywhere. */
static int interrupted_by;
static struct scan_pool *signal_pool;

static bool is_interrupted(void)
{
	return __atomic_load_n(&interrupted_by, __ATOMIC_RELAXED);
}

static const struct argp_option scan_options[] = {
	{ "recursive", 'r', NULL, 0, "All files below the directories", 1 },
	{ "needed", KEY_NEEDED, NULL, 0, "Also the libraries that the files need, as the dynamic linker finds them",
	  1 },
	{ "pid", 'p', "PID", 0, "The files that this process has mapped, and its vDSO (several: commas)", 1 },
	{ "kernel", KEY_KERNEL, NULL, 0, "The text of the running kernel", 1 },
	{ "stdin0", KEY_STDIN0, NULL, 0, "Read names of files from standard input, each ended by a NUL", 1 },
	{ "privileged", KEY_PRIVILEGED, NULL, 0,
	  "Look for cli and sti outside of kernels as well (slower: everything is decoded)", 2 },
	{ "no-source", KEY_NO_SOURCE, NULL, 0, "No source lines, no separate debug files", 2 },
	{ "debuginfod", KEY_DEBUGINFOD, NULL, 0,
	  "Ask the servers in $DEBUGINFOD_URLS for debug files; otherwise the network is never used", 2 },
	{ "jobs", 'J', "N", 0, "Threads (default: the CPUs that may be used)", 2 },
	{ "field-separator", 'x', "SEP", 0, "CSV with this separator", 3 },
	{ "json-output", 'j', NULL, 0, "JSON, one object a line", 3 },
	{ "summary", KEY_SUMMARY, NULL, 0, "One line for each file with hints, and sums for each package", 3 },
	{ "null", '0', NULL, 0, "Only the names of the files with hints, each ended by a NUL", 3 },
	{ "hints", KEY_HINTS, NULL, 0, "Show the hints that are known, machine by machine", 3 },
	{ "quiet", 'q', NULL, 0, "No warnings and no progress", 4 },
	{ "verbose", 'v', NULL, 0, "Say more: what was left out, and why", 4 },
	{ 0 }
};

static const struct argp_child scan_children[] = {
	{ &options_help_argp, 0, NULL, -1 },
	{ 0 }
};

static error_t usage(const char *text)
{
	msg_error("%s", text);
	exit(EXIT_USAGE);
}

static void parse_pids(struct scan_run *run, char *arg)
{
	char *part, *rest = arg;

	while ((part = strsep(&rest, ",")) != NULL) {
		uint64_t pid;

		if (util_opt_u64("-p", part, 1, INT32_MAX, &pid))
			exit(EXIT_USAGE);
		run->pid = util_realloc(run->pid, run->n_pids + 1, sizeof(run->pid[0]));
		run->pid[run->n_pids++] = (pid_t)pid;
	}
}

static error_t parse_scan(int key, char *arg, struct argp_state *state)
{
	struct scan_run *run = state->input;
	uint64_t n;

	switch (key) {
	case 'r':
		run->recursive = true;
		return 0;
	case KEY_NEEDED:
		run->needed = true;
		return 0;
	case 'p':
		parse_pids(run, arg);
		return 0;
	case KEY_KERNEL:
		run->kernel = true;
		return 0;
	case KEY_STDIN0:
		run->stdin0 = true;
		return 0;
	case KEY_PRIVILEGED:
		run->privileged = true;
		return 0;
	case KEY_NO_SOURCE:
		run->no_source = true;
		return 0;
	case KEY_DEBUGINFOD:
		symbols_allow_network(true);
		return 0;
	case 'J':
		if (util_opt_u64("-J", arg, 1, THREADS_MAX, &n))
			exit(EXIT_USAGE);
		run->threads = (unsigned int)n;
		return 0;
	case 'x':
		if (!*arg || strpbrk(arg, "\"\r\n"))
			return usage("-x: the separator must not be empty, and hold no quotes and newlines");
		run->style.format = SCAN_CSV;
		run->style.csv_sep = arg;
		return 0;
	case 'j':
		run->style.format = SCAN_JSON;
		return 0;
	case KEY_SUMMARY:
		run->style.summary = true;
		return 0;
	case '0':
		run->style.format = SCAN_NUL;
		return 0;
	case KEY_HINTS:
		run->hints = true;
		return 0;
	case 'q':
		run->quiet = true;
		msg_verbosity = -1;
		return 0;
	case 'v':
		msg_verbosity++;
		return 0;
	case ARGP_KEY_ARG:
		run->file = util_realloc(run->file, run->n_files + 1, sizeof(run->file[0]));
		run->file[run->n_files++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!run->n_files && !run->n_pids && !run->kernel && !run->stdin0 && !run->hints)
			return usage("nothing to scan: name files or directories, or use -p, --kernel or --stdin0; "
				     "`perf relax scan -h` shows all");
		if (run->style.summary && run->style.format == SCAN_NUL)
			return usage("--summary and -0 exclude each other");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

const struct argp argp_scan = {
	.options = scan_options,
	.parser = parse_scan,
	.args_doc = "[FILE|DIRECTORY...]",
	.doc = "Find spin-wait hints in ELF files of any machine: in which function and source line, and whether they "
	       "stand in a loop that reads "
	       "memory.\vExit status: 0 all was scanned, with hints or without; 2 wrong usage; 3 this machine or user "
	       "cannot; 4 some file could not be "
	       "scanned, or only in part.",
	.children = scan_children,
};

static void add_message(struct scan_job *job, const char *member, const char *text)
{
	char *name = report_scan_escape(job->path), *of = member ? report_scan_escape(member) : NULL, *all;

	all = util_asprintf("%s%s%s%s%s%s: %s", job->messages ? job->messages : "", job->messages ? "\n" : "", name,
			    of ? "(" : "", of ? of : "", of ? ")" : "", text);
	free(job->messages);
	job->messages = all;
	free(name);
	free(of);
}

static void on_note(void *ctx, const char *member, const char *text)
{
	struct scan_worker *w = ctx;

	if (!w->job->messages || strlen(w->job->messages) < 65536)
		add_message(w->job, member, text);
}

static void count_hint(struct scan_job *job, const char *hint)
{
	size_t i;

	for (i = 0; i < job->n_counts && strcmp(job->count[i].hint, hint); i++)
		;
	if (i == job->n_counts) {
		job->count = util_realloc(job->count, i + 1, sizeof(job->count[0]));
		job->count[job->n_counts++] = (struct scan_count){ .hint = hint };
	}
	job->count[i].n++;
}

static void clear_progress(struct scan_run *run)
{
	if (run->progress_shown)
		fputs("\r\033[K", stderr);
	run->progress_shown = false;
}

/* Column heads, once; in the text form only when there is something under them. */
static void write_head(struct scan_run *run)
{
	if (!run->head_written)
		report_scan_head(stdout, &run->style);
	run->head_written = true;
}

static void write_out(struct scan_run *run, const struct scan_job *job)
{
	clear_progress(run);
	write_head(run);
	fwrite(job->text, 1, job->text_bytes, stdout);
}

static int on_hit(void *ctx, const struct elfscan_hit *hit)
{
	struct scan_worker *w = ctx;
	struct scan_job *job = w->job;
	bool first = job->n_counts == 0;
	long kept;

	count_hint(job, hit->hint);
	if (w->run->style.summary)
		return is_interrupted();
	if (!job->out)
		job->out = open_memstream(&job->text, &job->text_bytes);
	if (!job->out)
		return -ENOMEM;
	report_scan_hit(job->out, &w->run->style, job->path, hit, first);
	kept = ftell(job->out);
	if (kept < 0 || (size_t)kept < KEEP_BYTES)
		return is_interrupted();
	if (!w->streaming)
		scan_pool_wait_turn(w->run->pool, job);
	w->streaming = true;
	fflush(job->out);
	write_out(w->run, job);
	rewind(job->out);
	return is_interrupted() || ferror(stdout);
}

static void *begin_worker(void *ctx)
{
	struct scan_worker *w = util_calloc(1, sizeof(*w));
	struct elfscan_options options = { .hit = on_hit, .note = on_note, .ctx = w };

	w->run = ctx;
	options.privileged = w->run->privileged;
	options.no_source = w->run->no_source || w->run->style.summary || w->run->style.format == SCAN_NUL;
	w->scan = elfscan_new(&options);
	return w;
}

static void end_worker(void *state)
{
	struct scan_worker *w = state;

	elfscan_free(w->scan);
	free(w);
}

static void run_job(void *state, struct scan_job *job)
{
	struct scan_worker *w = state;
	const char *path = job->open_path ? job->open_path : job->path;
	int fd;

	w->job = job;
	w->streaming = false;
	if (job->failed_before)
		return;
	if (job->kernel) {
		if (scan_kernel(w->scan, &job->result, &job->result.why) < 0)
			job->result.status = ELFSCAN_UNREADABLE;
	} else if (job->image) {
		elfscan_image(w->scan, job->image, job->image_bytes, job->path, &job->result);
	} else {
		/* O_NONBLOCK: a FIFO that took the file's place since it was listed must not hang us. */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
		if (fd < 0) {
			job->result.status = ELFSCAN_UNREADABLE;
			reason_set(&job->result.why, errno, "cannot open: %s", strerror(errno));
			return;
		}
		elfscan_fd(w->scan, fd, path, &job->result);
		close(fd);
	}
	if (job->out)
		fflush(job->out);
}

static void show_progress(struct scan_run *run)
{
	struct timespec now;

	if (!run->progress)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	if ((double)(now.tv_sec - run->progress_at.tv_sec) + (double)(now.tv_nsec - run->progress_at.tv_nsec) / 1e9 <
	    0.2)
		return;
	run->progress_at = now;
	run->progress_shown = true;
	fprintf(stderr, "\r\033[K%" PRIu64 " files, %.1f MB of code, %" PRIu64 " hints", run->totals.n_scanned,
		(double)run->totals.code_bytes / 1e6, run->totals.n_hits);
}

static void tell(struct scan_run *run, const struct scan_job *job, bool error)
{
	char *name = report_scan_escape(job->path);

	clear_progress(run);
	if (error)
		msg_error("%s: %s", name, job->result.why.text);
	else
		msg_verbose(1, "%s: %s", name, job->result.why.text);
	free(name);
}

/* A file that gave no results: is that an error? Only what the user named, or what is broken. */
static void not_scanned(struct scan_run *run, const struct scan_job *job)
{
	enum scan_skip skip = SCAN_SKIP_NOT_ELF;
	bool error = job->named;

	switch (job->result.status) {
	case ELFSCAN_NOT_ELF:
		break;
	case ELFSCAN_NO_TABLE:
		skip = SCAN_SKIP_NO_TABLE;
		break;
	case ELFSCAN_REFUSED:
		skip = SCAN_SKIP_REFUSED;
		break;
	default:
		error = true;
	}
	tell(run, job, error);
	if (!error)
		__atomic_fetch_add(&run->totals.n_skipped[skip], 1, __ATOMIC_RELAXED);
	else if (job->kernel || job->cannot)
		run->totals.n_cannot++;
	else
		run->totals.n_failed++;
}

static void finish_job(void *ctx, struct scan_job *job)
{
	struct scan_run *run = ctx;
	const struct elfscan_result *r = &job->result;
	char *line, *rest = job->messages;

	while ((line = strsep(&rest, "\n")) != NULL) {
		clear_progress(run);
		msg_warn("%s", line);
	}
	if (r->status != ELFSCAN_DONE && r->status != ELFSCAN_PARTIAL && r->status != ELFSCAN_STOPPED && !r->n_hits) {
		not_scanned(run, job);
		return;
	}
	if (r->debug_file) {
		if (job->named)
			msg_warn("%s: a debug file: its code is in the file that it was split from", job->path);
		__atomic_fetch_add(&run->totals.n_skipped[SCAN_SKIP_DEBUG], 1, __ATOMIC_RELAXED);
		return;
	}
	run->totals.n_scanned++;
	if (r->status == ELFSCAN_PARTIAL) {
		run->totals.n_partial++;
		tell(run, job, true);
	}
	run->totals.n_with_hits += r->n_hits > 0;
	run->totals.n_hits += r->n_hits;
	run->totals.n_in_loop += r->n_in_loop;
	run->totals.n_spin_waits += r->n_spin_waits;
	run->totals.code_bytes += r->code_bytes;
	run->totals.n_data += r->n_data;
	if (job->needed_by_named) {
		run->totals.n_libraries++;
		run->totals.n_library_hits += r->n_hits;
	} else if (job->named) {
		run->totals.n_named_hits += r->n_hits;
	}
	if (r->n_hits && run->style.summary)
		scan_summaries_add(run->summaries, job);
	if (job->text_bytes)
		write_out(run, job);
	show_progress(run);
}

static int sink_file(void *ctx, struct scan_job *job)
{
	struct scan_run *run = ctx;

	return scan_pool_push(run->pool, job) || is_interrupted();
}

/* The walker runs beside the workers: what it counts must not be lost between threads. */
static void sink_skip(void *ctx, enum scan_skip why)
{
	struct scan_run *run = ctx;

	__atomic_fetch_add(&run->totals.n_skipped[why], 1, __ATOMIC_RELAXED);
}

static void sink_fail(void *ctx, const char *path, const char *why)
{
	struct scan_run *run = ctx;
	struct scan_job *job = scan_job_new(path, true);

	/* Through the queue, so that messages come in the order of the files. */
	job->result.status = ELFSCAN_UNREADABLE;
	reason_set(&job->result.why, ENOENT, "%s", why);
	job->failed_before = true;
	scan_pool_push(run->pool, job);
}

static void scan_stdin(struct scan_run *run, const struct scan_sink *named)
{
	struct scan_sink list = *named, *sink = &list;
	char *name = NULL;
	size_t room = 0;
	ssize_t n;

	list.list = true;
	while ((n = getdelim(&name, &room, '\0', stdin)) > 0 && !is_interrupted()) {
		if (name[n - 1] == '\0')
			n--;
		if (n && scan_walk(sink, name, run->recursive))
			break;
	}
	if (ferror(stdin) && !is_interrupted()) {
		msg_error("cannot read names from standard input: %s", strerror(errno));
		__atomic_fetch_add(&run->totals.n_failed, 1, __ATOMIC_RELAXED);
	}
	free(name);
}

static void scan_named(struct scan_run *run, const struct scan_sink *sink)
{
	struct scan_needed *needed = run->needed ? scan_needed_new() : NULL;
	size_t i;

	for (i = 0; i < run->n_files && !is_interrupted(); i++) {
		if (scan_walk(sink, run->file[i], run->recursive))
			break;
		if (needed)
			scan_needed_of(needed, sink, run->file[i]);
	}
	scan_needed_free(needed);
}

static void scan_pids(struct scan_run *run, const struct scan_sink *sink)
{
	size_t i;

	for (i = 0; i < run->n_pids && !is_interrupted(); i++) {
		char name[32];
		struct scan_job *job;
		struct reason why;
		int err = scan_process(sink, run->pid[i], &why);

		if (!err)
			continue;
		snprintf(name, sizeof(name), "-p %d", (int)run->pid[i]);
		job = scan_job_new(name, true);
		job->failed_before = true;
		job->cannot = err == -EACCES || err == -EPERM;
		job->result.status = ELFSCAN_UNREADABLE;
		job->result.why = why;
		scan_pool_push(run->pool, job);
	}
}

/* "objdump | grep pause finds nothing" may mean that the hint is in a library: say so. */
static void mention_libraries(const struct scan_run *run)
{
	struct elfscan_dynamic d;
	size_t i;
	int fd;

	if (run->needed || run->totals.n_hits || run->n_files != 1 || run->totals.n_scanned != 1)
		return;
	fd = open(run->file[0], O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || elfscan_dynamic_read(fd, &d)) {
		if (fd >= 0)
			close(fd);
		return;
	}
	close(fd);
	if (d.n_needed) {
		printf("No hints in this file, but it uses %zu librar%s:", d.n_needed, d.n_needed == 1 ? "y" : "ies");
		for (i = 0; i < d.n_needed && i < 8; i++) {
			char *name = report_scan_escape(d.needed[i]);

			printf("%s %s", i ? "," : "", name);
			free(name);
		}
		printf("%s. --needed scans them as well.\n", d.n_needed > 8 ? ", ..." : "");
	}
	elfscan_dynamic_free(&d);
}

static unsigned int allowed_cpus(void)
{
	cpu_set_t *set;
	size_t size = CPU_ALLOC_SIZE(65536);
	int n = 1;

	set = CPU_ALLOC(65536);
	if (set && !sched_getaffinity(0, size, set))
		n = CPU_COUNT_S(size, set);
	if (set)
		CPU_FREE(set);
	return n < 1 ? 1 : n > 32 ? 32 : (unsigned int)n;
}

static void on_signal(int sig)
{
	__atomic_store_n(&interrupted_by, sig, __ATOMIC_RELAXED);
	scan_pool_stop(signal_pool);
}

static void handle_signals(struct scan_run *run)
{
	/* The second one ends the program. What was found so far is printed after the first. */
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND };

	signal_pool = run->pool;
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

static int exit_code(const struct scan_run *run)
{
	if (run->totals.n_failed || run->totals.n_partial || is_interrupted())
		return EXIT_FAILED;
	if (run->totals.n_cannot)
		return run->totals.n_scanned ? EXIT_FAILED : EXIT_CANNOT;
	return EXIT_DONE;
}

static int scan_all(struct scan_run *run)
{
	struct scan_pool_ops ops = {
		.begin = begin_worker, .run = run_job, .finish = finish_job, .end = end_worker, .ctx = run
	};
	struct scan_sink sink = { .file = sink_file, .skip = sink_skip, .fail = sink_fail, .ctx = run };
	struct reason why;

	if (!run->threads)
		run->threads = allowed_cpus();
	run->pool = scan_pool_new(run->threads, &ops, &why);
	if (!run->pool) {
		msg_error("%s", why.text);
		return EXIT_FAILED;
	}
	handle_signals(run);
	run->progress = !run->quiet && isatty(STDERR_FILENO) && (run->recursive || run->stdin0);
	if (run->style.format != SCAN_TEXT || run->style.summary)
		write_head(run);
	if (run->kernel) {
		struct scan_job *job = scan_job_new("[kernel.kallsyms]", true);

		job->kernel = true;
		scan_pool_push(run->pool, job);
	}
	scan_pids(run, &sink);
	scan_named(run, &sink);
	if (run->stdin0)
		scan_stdin(run, &sink);
	scan_pool_finish(run->pool);
	clear_progress(run);
	if (run->style.summary)
		scan_summaries_print(run->summaries, stdout, &run->style);
	if (run->style.format == SCAN_TEXT) {
		report_scan_totals(stdout, &run->totals, run->needed ? run->n_files : 0, is_interrupted());
		mention_libraries(run);
	} else if (run->recursive && msg_verbosity > 0) {
		report_scan_skipped(stderr, &run->totals);
	}
	return exit_code(run);
}

int cmd_scan(int argc, char **argv)
{
	struct scan_run run = { .style = { .format = SCAN_TEXT, .csv_sep = "," } };
	int status;

	if (argp_parse(&argp_scan, argc, argv, 0, NULL, &run))
		return EXIT_USAGE;
	if (run.hints) {
		report_scan_hints(stdout);
		status = EXIT_DONE;
	} else {
		run.summaries = scan_summaries_new();
		status = scan_all(&run);
		scan_summaries_free(run.summaries);
	}
	free(run.pid);
	free(run.file);
	if (fflush(stdout) || ferror(stdout)) {
		msg_error("cannot write the results: %s", strerror(errno));
		return EXIT_FAILED;
	}
	return status;
}
