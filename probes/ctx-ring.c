/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One set of loops for each kind of link, so that nothing inside chooses. Every hop makes the same two system calls, whether the other side has been quicker
 * or not: only then does the loop without a switch (ctx_ring_alone) cost what the loop with one costs besides.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "ctx-ring.h"

#ifndef SYS_futex	/* 32-bit architectures made after 2038 was thought of */
#define SYS_futex SYS_futex_time64
#endif

#define ALWAYS_INLINE inline __attribute__((always_inline))

static const struct {
	const char *name, *summary;
	unsigned int fds;
} vias[] = {
#define X(ident, lower, via_name, nfds, text) { .name = via_name, .summary = text, .fds = nfds },
	CTX_VIAS(X)
#undef X
};

const char *ctx_via_name(enum ctx_via via)
{
	return vias[via].name;
}

const char *ctx_via_summary(enum ctx_via via)
{
	return vias[via].summary;
}

unsigned int ctx_via_fds(enum ctx_via via)
{
	return vias[via].fds;
}

int ctx_via_find(const char *name)
{
	for (int i = 0; i < CTX_VIA_COUNT; i++)
		if (!strcmp(vias[i].name, name))
			return i;
	return -1;
}

static int open_link(struct ctx_link *l, uint32_t via, int keep_on_exec)
{
	int fd[2] = { -1, -1 };

	l->word = 0;
	switch (via) {
	case CTX_VIA_PIPE:
		if (pipe2(fd, keep_on_exec ? 0 : O_CLOEXEC))
			return -errno;
		break;
	case CTX_VIA_SOCKETPAIR:
		if (socketpair(AF_UNIX, SOCK_STREAM | (keep_on_exec ? 0 : SOCK_CLOEXEC), 0, fd))
			return -errno;
		break;
	case CTX_VIA_EVENTFD:
		fd[0] = fd[1] = eventfd(0, keep_on_exec ? 0 : EFD_CLOEXEC);
		if (fd[0] < 0)
			return -errno;
		break;
	}
	l->read_fd = fd[0];
	l->write_fd = fd[1];
	return 0;
}

int ctx_ring_open(struct ctx_ring *r, int keep_on_exec)
{
	int err = 0;

	for (uint32_t i = 0; i < r->tasks; i++)
		r->link[i].read_fd = r->link[i].write_fd = -1;
	for (uint32_t i = 0; i < r->tasks && !err; i++)
		err = open_link(&r->link[i], r->via, keep_on_exec);
	if (err)
		ctx_ring_close(r);
	return err;
}

void ctx_ring_close(struct ctx_ring *r)
{
	for (uint32_t i = 0; i < r->tasks; i++) {
		struct ctx_link *l = &r->link[i];

		if (l->read_fd >= 0)
			close(l->read_fd);
		if (l->write_fd >= 0 && l->write_fd != l->read_fd)
			close(l->write_fd);
		l->read_fd = l->write_fd = -1;
	}
}

/* One byte through a descriptor; signals that only interrupt are no error. */
static ALWAYS_INLINE int pass_byte(struct ctx_link *l, unsigned char token)
{
	ssize_t n;

	do
		n = write(l->write_fd, &token, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : n < 0 ? -errno : -EPROTO;
}

static ALWAYS_INLINE int wait_byte(struct ctx_link *l)
{
	unsigned char token = 0;
	ssize_t n;

	do
		n = read(l->read_fd, &token, 1);
	while (n < 0 && errno == EINTR);
	return n == 1 ? token : n < 0 ? -errno : -EPIPE;
}

#define pass_pipe pass_byte
#define wait_pipe wait_byte
#define pass_socketpair pass_byte
#define wait_socketpair wait_byte

static ALWAYS_INLINE int pass_eventfd(struct ctx_link *l, unsigned char token)
{
	uint64_t count = token;
	ssize_t n;

	do
		n = write(l->write_fd, &count, sizeof(count));
	while (n < 0 && errno == EINTR);
	return n == sizeof(count) ? 0 : n < 0 ? -errno : -EPROTO;
}

static ALWAYS_INLINE int wait_eventfd(struct ctx_link *l)
{
	uint64_t count = 0;
	ssize_t n;

	do
		n = read(l->read_fd, &count, sizeof(count));
	while (n < 0 && errno == EINTR);
	return n == sizeof(count) && count <= INT_MAX ? (int)count : n < 0 ? -errno : -EPROTO;
}

static ALWAYS_INLINE int pass_futex(struct ctx_link *l, unsigned char token)
{
	__atomic_store_n(&l->word, token, __ATOMIC_SEQ_CST);
	return syscall(SYS_futex, &l->word, FUTEX_WAKE, 1, NULL, NULL, 0) < 0 ? -errno : 0;
}

static ALWAYS_INLINE int wait_futex(struct ctx_link *l)
{
	uint32_t token;

	/* The call is made even when the token is here already; see above. */
	do {
		if (syscall(SYS_futex, &l->word, FUTEX_WAIT, 0, NULL, NULL, 0) < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		token = __atomic_load_n(&l->word, __ATOMIC_SEQ_CST);
	} while (!token);
	__atomic_store_n(&l->word, 0, __ATOMIC_SEQ_CST);
	return (int)token;
}

/* Reads every word; the sum goes where the compiler cannot see that nobody wants it. */
static ALWAYS_INLINE void touch(const uint32_t *memory, uint32_t words)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < words; i++)
		sum += memory[i];
	__asm__ volatile("" : : "r"(sum));
}

#define X(ident, lower, via_name, nfds, text) \
static int follow_##lower(struct ctx_ring *r, uint32_t index, const uint32_t *memory, void (*mark)(void *ctx), void *ctx) \
{ \
	struct ctx_link *in = &r->link[index], *out = &r->link[(index + 1) % r->tasks]; \
	const uint32_t words = r->touch_words; \
	int token, err; \
\
	do { \
		token = wait_##lower(in); \
		if (token < 0) \
			return token; \
		touch(memory, words); \
		if (token != CTX_TOKEN_GO) { \
			if (token == CTX_TOKEN_MARK) \
				mark(ctx); \
			else if (token != CTX_TOKEN_STOP) \
				return -EPROTO; \
		} \
		err = pass_##lower(out, (unsigned char)token); \
		if (err) \
			return err; \
	} while (token != CTX_TOKEN_STOP); \
	return 0; \
} \
\
static int laps_##lower(struct ctx_ring *r, struct ctx_link *out, const uint32_t *memory, uint64_t laps, enum ctx_token say) \
{ \
	struct ctx_link *in = &r->link[0]; \
	const uint32_t words = r->touch_words; \
	int token, err; \
\
	for (uint64_t i = 0; i < laps; i++) { \
		err = pass_##lower(out, (unsigned char)say); \
		if (err) \
			return err; \
		token = wait_##lower(in); \
		if (token != (int)say) \
			return token < 0 ? token : -EPROTO; \
		touch(memory, words); \
	} \
	return 0; \
}
CTX_VIAS(X)
#undef X

static const struct {
	int (*follow)(struct ctx_ring *r, uint32_t index, const uint32_t *memory, void (*mark)(void *ctx), void *ctx);
	int (*laps)(struct ctx_ring *r, struct ctx_link *out, const uint32_t *memory, uint64_t laps, enum ctx_token say);
} loops[] = {
#define X(ident, lower, via_name, nfds, text) { .follow = follow_##lower, .laps = laps_##lower },
	CTX_VIAS(X)
#undef X
};

int ctx_ring_follow(struct ctx_ring *r, uint32_t index, const uint32_t *memory, void (*mark)(void *ctx), void *ctx)
{
	return loops[r->via].follow(r, index, memory, mark, ctx);
}

int ctx_ring_laps(struct ctx_ring *r, const uint32_t *memory, uint64_t laps, enum ctx_token token)
{
	return loops[r->via].laps(r, &r->link[1 % r->tasks], memory, laps, token);
}

int ctx_ring_alone(struct ctx_ring *r, const uint32_t *memory, uint64_t passes)
{
	return loops[r->via].laps(r, &r->link[0], memory, passes, CTX_TOKEN_GO);
}
