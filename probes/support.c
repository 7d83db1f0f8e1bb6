/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Can this machine execute it? CPU features, and one careful try under a guard.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "loop.h"

#ifndef AT_HWCAP2
#define AT_HWCAP2 26
#endif

bool probe_cpu_has(const struct probe *p)
{
	return arch_has(p->need, getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}

static sigjmp_buf guard_return;

static void guard_handler(int sig)
{
	siglongjmp(guard_return, sig);
}

int probe_guard(const struct probe *p)
{
	static const int signals[] = { SIGILL, SIGSEGV, SIGBUS };
	enum { N = sizeof(signals) / sizeof(signals[0]) };
	/* A probe may fault with its operand half used, so each try has its own. */
	_Alignas(PROBE_CACHE_LINE) static unsigned char operand[PROBE_CACHE_LINE];
	struct sigaction guard, old[N];
	volatile int result = 0;
	volatile size_t set = 0;

	memset(operand, 0, sizeof(operand));
	memset(&guard, 0, sizeof(guard));
	guard.sa_handler = guard_handler;
	sigemptyset(&guard.sa_mask);
	for (; set < N; set++) {
		if (sigaction(signals[set], &guard, &old[set])) {
			result = -errno;
			break;
		}
	}
	if (!result) {
		/* The mask is saved, so the caught signal is unblocked again. */
		result = sigsetjmp(guard_return, 1);
		if (!result) {
			p->run_short(operand, 1);
			p->run_long(operand, 1);
		}
	}
	while (set) {
		set--;
		sigaction(signals[set], &old[set], NULL);
	}
	return result;
}

const char *probe_keep(const char *s)
{
	static struct kept {
		struct kept *next;
		char text[];
	} *kept;
	struct kept *k;
	size_t size = strlen(s) + 1;

	for (k = kept; k; k = k->next)
		if (!strcmp(k->text, s))
			return k->text;
	k = malloc(sizeof(*k) + size);
	if (!k)
		return "(memory is out)";
	memcpy(k->text, s, size);
	k->next = kept;
	kept = k;
	return k->text;
}
