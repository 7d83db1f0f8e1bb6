/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What runs beside a spinner: a thread that wants the core's execution units, and one that waits for memory most of the
 * time.
 */
#include "spin-lock.h"

ALWAYS_INLINE void count_block(struct lock_thread *t)
{
	store(&t->acquired, load(&t->acquired) + 1);
}

void lock_victim_alu(struct lock_shared *s, struct lock_thread *t)
{
	unsigned long a = 1, b = 2, c = 3, d = 4;	/* one register each, on 32-bit machines too */

	while (!load(&s->stop)) {
		/* Four chains keep two to four units busy; the empty asm keeps the compiler from solving them. */
		for (unsigned int i = 0; i < LOCK_VICTIM_ALU_OPS / 8; i++) {
			a += b;
			b = b << 7 | b >> (8 * sizeof(b) - 7);
			c += d;
			d = d << 9 | d >> (8 * sizeof(d) - 9);
			a ^= d;
			b += a;
			c ^= b;
			d += c;
			__asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
		}
		count_block(t);
	}
}

void lock_victim_memory(struct lock_shared *s, struct lock_thread *t)
{
	void *volatile *at = s->chase;

	while (!load(&s->stop)) {
		for (unsigned int i = 0; i < LOCK_VICTIM_LOADS; i++)
			at = *at;
		count_block(t);
	}
}

/* Sattolo 1986: a random permutation that is one cycle. The numbers: xorshift64 (Marsaglia 2003). */
void lock_victim_ring(void *memory, size_t bytes)
{
	unsigned char *line = memory;
	size_t n = bytes / LOCK_LINE;
	uint64_t x = 88172645463325252u;

	for (size_t i = 0; i < n; i++)
		*(void **)(void *)(line + i * LOCK_LINE) = line + i * LOCK_LINE;
	for (size_t i = n; i-- > 1;) {
		void **a = (void **)(void *)(line + i * LOCK_LINE), **b, *keep = *a;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		b = (void **)(void *)(line + x % i * LOCK_LINE);
		*a = *b;
		*b = keep;
	}
}
