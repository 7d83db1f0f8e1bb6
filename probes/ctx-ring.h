/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring of tasks that pass a token on: each waits for it on the link that leads to it, reads its memory, and passes it on. Like all probes it knows nothing
 * of time, statistics or output. Everything here has the same layout in 32- and 64-bit programs, so that both can run one ring in shared memory.
 */
#ifndef PERF_RELAX_CTX_RING_H
#define PERF_RELAX_CTX_RING_H

#include <stddef.h>
#include <stdint.h>

#define CTX_TASKS_MAX 1024
#define CTX_LINE 64

/* X(IDENT, ident, "name", file descriptors of one link, "summary") */
#define CTX_VIAS(X) \
	X(PIPE, pipe, "pipe", 2, "one byte through a pipe") \
	X(FUTEX, futex, "futex", 0, "a word in shared memory, and futex(2)") \
	X(EVENTFD, eventfd, "eventfd", 1, "eventfd(2)") \
	X(SOCKETPAIR, socketpair, "socketpair", 2, "one byte through a pair of Unix stream sockets")

enum ctx_via {
#define X(ident, lower, name, fds, summary) CTX_VIA_##ident,
	CTX_VIAS(X)
#undef X
	CTX_VIA_COUNT
};

/* What the token says. 0 is no token. */
enum ctx_token {
	CTX_TOKEN_GO = 1,	/* pass it on */
	CTX_TOKEN_MARK,		/* call mark(), then pass it on */
	CTX_TOKEN_STOP,		/* pass it on and end */
};

/* The link that leads to one task. */
struct ctx_link {
	_Alignas(CTX_LINE) int32_t read_fd, write_fd;
	_Alignas(CTX_LINE) uint32_t word;	/* futex: the token, or 0 */
};

struct ctx_ring {
	uint32_t via;		/* enum ctx_via */
	uint32_t tasks;		/* 1 to CTX_TASKS_MAX */
	uint32_t touch_words;	/* 32-bit words that each task reads when it has the token */
	struct ctx_link link[CTX_TASKS_MAX];
};

const char *ctx_via_name(enum ctx_via via);
const char *ctx_via_summary(enum ctx_via via);
unsigned int ctx_via_fds(enum ctx_via via);
/* -1: no such. */
int ctx_via_find(const char *name);

/* Make the links of @r->tasks tasks; the descriptors are closed on exec unless @keep_on_exec. 0, or -errno with nothing left open. */
int ctx_ring_open(struct ctx_ring *r, int keep_on_exec);
void ctx_ring_close(struct ctx_ring *r);

/*
 * Task @index, not the first one: pass on what comes until CTX_TOKEN_STOP. @memory: this task's own, of r->touch_words 32-bit words. 0 or -errno (-EPROTO:
 * something else than a token came).
 */
int ctx_ring_follow(struct ctx_ring *r, uint32_t index, const uint32_t *memory, void (*mark)(void *ctx), void *ctx);

/* The first task: send @token around @laps times; each lap is one pass, one wait and one reading of memory for each task. 0 or -errno. */
int ctx_ring_laps(struct ctx_ring *r, const uint32_t *memory, uint64_t laps, enum ctx_token token);

/* The same calls without another task: @passes times pass the token to the own link, take it and read the memory. Nobody else may use the link then. */
int ctx_ring_alone(struct ctx_ring *r, const uint32_t *memory, uint64_t passes);

#endif
