/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parts of perf relax scan: finding files (scan-walk.c, scan-process.c, scan-needed.c), the running kernel
 * (scan-kernel.c), and threads that work on them while results keep the order of the files (scan-pool.c).
 */
#ifndef PERF_RELAX_SCAN_H
#define PERF_RELAX_SCAN_H

#include <stdio.h>
#include <sys/types.h>

#include "elfscan.h"
#include "report-scan.h"

struct scan_job {
	uint64_t seq;		/* the pool's */
	bool done;
	char *path;		/* as it is shown */
	char *open_path;	/* as it is opened; NULL: path */
	void *image;		/* or bytes instead of a file, malloc'ed */
	size_t image_bytes;
	bool named;		/* by the user, not found in a tree */
	bool needed_by_named;	/* a library that a named file needs */
	bool kernel;		/* the running kernel instead of a file */
	bool cannot;		/* what failed before, failed for lack of permission or support */
	bool failed_before;	/* there is nothing to scan: result.why is to be told in its turn */
	/* results */
	struct elfscan_result result;
	FILE *out;
	char *text;
	size_t text_bytes;
	char *messages;		/* lines for the user, or NULL */
	struct scan_count *count;
	size_t n_counts;
};

struct scan_job *scan_job_new(const char *path, bool named);
void scan_job_free(struct scan_job *job);

struct scan_sink {
	/* Takes the job over. Non-zero: stop. */
	int (*file)(void *ctx, struct scan_job *job);
	void (*skip)(void *ctx, enum scan_skip why);
	/* Something that was asked for and cannot be had. */
	void (*fail)(void *ctx, const char *path, const char *why);
	void *ctx;
	bool list; /* the names come from a list that a program made: what is not ELF is left out, as in a tree */
};

/* A file, or the files in a directory; of its whole tree when @recursive. Non-zero when the sink asked to stop. */
int scan_walk(const struct scan_sink *sink, const char *path, bool recursive);
/* The files and executable memory of process @pid. Returns 0, or -errno with @why. */
int scan_process(const struct scan_sink *sink, pid_t pid, struct reason *why);

/* Libraries that the dynamic linker would load for files: DT_NEEDED, and theirs. */
struct scan_needed;
struct scan_needed *scan_needed_new(void);
void scan_needed_free(struct scan_needed *n);
/* Send what @path needs to @sink, each library once in the life of @n. Returns how many libraries it needs in all. */
size_t scan_needed_of(struct scan_needed *n, const struct scan_sink *sink, const char *path);

/* The text of the running kernel. Returns 0, or -errno with @why. */
int scan_kernel(struct elfscan *scan, struct elfscan_result *result, struct reason *why);

struct scan_pool;
struct scan_pool_ops {
	void *(*begin)(void *ctx);	/* once for each thread: its state */
	void (*run)(void *state, struct scan_job *job);
	void (*finish)(void *ctx, struct scan_job *job);	/* in order, one at a time; the pool frees the job */
	void (*end)(void *state);
	void *ctx;
};
/*
 * @threads at least 1. Threads that cannot be started are done without, as long as there is one; NULL with @why else.
 *
 */
struct scan_pool *scan_pool_new(unsigned int threads, const struct scan_pool_ops *ops, struct reason *why);
/* Queue a job; blocks while too many are ahead. Returns non-zero, and frees the job, when the pool was told to stop. */
int scan_pool_push(struct scan_pool *pool, struct scan_job *job);
/* Wait, in run(), until all earlier jobs are finished: then the job may write by itself. */
void scan_pool_wait_turn(struct scan_pool *pool, const struct scan_job *job);
void scan_pool_stop(struct scan_pool *pool);
bool scan_pool_stopped(struct scan_pool *pool);
/* Wait for all jobs, and free the pool. */
void scan_pool_finish(struct scan_pool *pool);

#endif
