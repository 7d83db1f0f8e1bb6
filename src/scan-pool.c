/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads over files; results in the order of the files.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

#define RING 512 /* jobs that may be ahead of the one whose turn it is: bounds the memory of finished ones that wait \
		  */

struct scan_pool {
	struct scan_pool_ops ops;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct scan_job *ring[RING];
	uint64_t pushed, taken, turn;
	bool closed, stop;
	unsigned int n_threads;
	pthread_t *thread;
};

struct scan_job *scan_job_new(const char *path, bool named)
{
	struct scan_job *job = util_calloc(1, sizeof(*job));

	job->path = util_strdup(path);
	job->named = named;
	return job;
}

void scan_job_free(struct scan_job *job)
{
	if (job->out)
		fclose(job->out);
	free(job->text);
	free(job->path);
	free(job->open_path);
	free(job->image);
	free(job->messages);
	free(job->count);
	free(job);
}

static void *work(void *arg)
{
	struct scan_pool *p = arg;
	void *state = p->ops.begin(p->ops.ctx);
	struct scan_job *job;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (p->taken == p->pushed && !p->closed)
			pthread_cond_wait(&p->changed, &p->lock);
		if (p->taken == p->pushed)
			break;
		job = p->ring[p->taken++ % RING];
		if (!scan_pool_stopped(p)) {
			pthread_mutex_unlock(&p->lock);
			p->ops.run(state, job);
			pthread_mutex_lock(&p->lock);
		}
		job->done = true;
		while (p->turn < p->taken && p->ring[p->turn % RING]->done) {
			job = p->ring[p->turn % RING];
			if (!scan_pool_stopped(p))
				p->ops.finish(p->ops.ctx, job);
			scan_job_free(job);
			p->turn++;
		}
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	p->ops.end(state);
	return NULL;
}

struct scan_pool *scan_pool_new(unsigned int threads, const struct scan_pool_ops *ops, struct reason *why)
{
	struct scan_pool *p = util_calloc(1, sizeof(*p));
	int err = 0;

	p->ops = *ops;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->changed, NULL);
	p->thread = util_calloc(threads, sizeof(p->thread[0]));
	for (; p->n_threads < threads && !err; p->n_threads += !err)
		err = pthread_create(&p->thread[p->n_threads], NULL, work, p);
	if (p->n_threads)
		return p;
	reason_set(why, err, "cannot start a thread: %s", strerror(err));
	scan_pool_finish(p);
	errno = err;
	return NULL;
}

int scan_pool_push(struct scan_pool *p, struct scan_job *job)
{
	bool stop;

	pthread_mutex_lock(&p->lock);
	while (p->pushed - p->turn >= RING && !scan_pool_stopped(p))
		pthread_cond_wait(&p->changed, &p->lock);
	stop = scan_pool_stopped(p);
	if (!stop) {
		job->seq = p->pushed;
		p->ring[p->pushed++ % RING] = job;
		pthread_cond_broadcast(&p->changed);
	}
	pthread_mutex_unlock(&p->lock);
	if (stop)
		scan_job_free(job);
	return stop;
}

void scan_pool_wait_turn(struct scan_pool *p, const struct scan_job *job)
{
	pthread_mutex_lock(&p->lock);
	while (p->turn != job->seq)
		pthread_cond_wait(&p->changed, &p->lock);
	pthread_mutex_unlock(&p->lock);
}

void scan_pool_stop(struct scan_pool *p)
{
	__atomic_store_n(&p->stop, true, __ATOMIC_SEQ_CST);
}

bool scan_pool_stopped(struct scan_pool *p)
{
	return __atomic_load_n(&p->stop, __ATOMIC_SEQ_CST);
}

void scan_pool_finish(struct scan_pool *p)
{
	unsigned int i;

	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_cond_broadcast(&p->changed);
	pthread_mutex_unlock(&p->lock);
	for (i = 0; i < p->n_threads; i++)
		pthread_join(p->thread[i], NULL);
	pthread_cond_destroy(&p->changed);
	pthread_mutex_destroy(&p->lock);
	free(p->thread);
	free(p);
}
