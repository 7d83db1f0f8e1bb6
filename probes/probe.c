/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The table of probes, made from the lists of the architecture's header, and the questions that can be asked about it.
 */
#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "loop.h"

#define ROW_TEXT(klass, count, ident, user_name, needs, does, body, words) { \
	.name = user_name, .class = klass, .summary = words, .text = body, .need = needs, .effect = does, \
	.run_short = probe_short_##ident, .run_long = probe_long_##ident, .unroll = count, \
	.begin = perf_relax_probe_##ident##_begin, .end = perf_relax_probe_##ident##_end, \
		.end_all = perf_relax_probe_##ident##_end_all },
#define ROW_C(klass, count, ident, user_name, does, words) { \
	.name = user_name, .class = klass, .summary = words, .need = ARCH_NEED_NONE, .effect = does, \
	.run_short = probe_short_##ident, .run_long = probe_long_##ident, .unroll = count },

#define ROW_HINT(ident, name, need, effect, setup, body, words) \
	ROW_TEXT(PROBE_HINT, PROBE_UNROLL_HINT, ident, name, need, effect, body, words)
#define ROW_ATOMIC(ident, name, need, effect, setup, body, words) \
	ROW_TEXT(PROBE_ATOMIC, PROBE_UNROLL_ATOMIC, ident, name, need, effect, body, words)
#define ROW_BARRIER(ident, name, need, effect, setup, body, words) \
	ROW_TEXT(PROBE_BARRIER, PROBE_UNROLL_BARRIER, ident, name, need, effect, body, words)
#define ROW_COUNTER(ident, name, need, effect, setup, body, words) \
	ROW_TEXT(PROBE_COUNTER, PROBE_UNROLL_COUNTER, ident, name, need, effect, body, words)
#define ROW_CHAIN(ident, name, need, effect, setup, body, words) \
	ROW_TEXT(PROBE_CHAIN, PROBE_UNROLL_CHAIN, ident, name, need, effect, body, words)

#define RSEQ_ADD_WORDS "add through a restartable sequence: atomic for this CPU without a lock"
#define RSEQ_CMPXCHG_WORDS "compare and swap through a restartable sequence"
#ifdef PROBE_HAVE_RSEQ
#define RSEQ_ROW(ident, user_name, does, words) { \
	.name = user_name, .class = PROBE_ATOMIC, .summary = words, .text = PROBE_TEXT_##ident, .effect = does, \
	.run_short = probe_short_##ident, .run_long = probe_long_##ident, .unroll = PROBE_UNROLL_ATOMIC, \
	.begin = perf_relax_probe_##ident##_begin, .end = perf_relax_probe_##ident##_end, \
		.end_all = perf_relax_probe_##ident##_end_all, \
	.missing_here = probe_rseq_here },
#else
#define RSEQ_ROW(ident, user_name, does, words) \
	{ .name = user_name, .class = PROBE_ATOMIC, .summary = words, .effect = does },
#endif

#define ROW_ATOMIC_IN_C(ident, name, effect, statement, words) \
	ROW_C(PROBE_ATOMIC, PROBE_UNROLL_ATOMIC, ident, name, effect, words)
#define ROW_MISSING(klass, user_name, why) \
	{ .name = user_name, .class = PROBE_##klass, .summary = "absent on " ARCH_NAME, .missing = why },

static struct probe table[] = {
	ARCH_HINTS(ROW_HINT)
	ARCH_ATOMICS(ROW_ATOMIC)
#ifdef ARCH_ATOMICS_IN_C
	ARCH_ATOMICS_IN_C(ROW_ATOMIC_IN_C)
#endif
	ARCH_MISSING(ROW_MISSING)
	RSEQ_ROW(rseq_add, "rseq-add", EFFECT_ADD, RSEQ_ADD_WORDS)
	RSEQ_ROW(rseq_cmpxchg, "rseq-cmpxchg", EFFECT_CMPXCHG, RSEQ_CMPXCHG_WORDS)
	ARCH_BARRIERS(ROW_BARRIER)
	ARCH_COUNTERS(ROW_COUNTER)
	ROW_C(PROBE_CALL, PROBE_UNROLL_CALL, clock_gettime, "clock-gettime", EFFECT_NONE,
	      "clock_gettime(CLOCK_MONOTONIC), usually in the vDSO")
	ROW_C(PROBE_CALL, PROBE_UNROLL_CALL, getppid, "getppid", EFFECT_NONE,
	      "the cheapest system call: into the kernel and back")
	ARCH_CHAINS(ROW_CHAIN)
};

#define COUNT (sizeof(table) / sizeof(table[0]))

/* Answers of probe_why_absent. */
static struct {
	bool known;
	const char *why;
} answer[COUNT];

/*
 * An asm template as people read it: "%%" is "%", the operand is "p", lines are joined by "; ", and directives that
 * only steer the assembler (".set ...") are left out.
 */
static const char *readable(const char *body)
{
	char text[1024];
	size_t n = 0;

	while (*body) {
		size_t line = strcspn(body, "\n"), next = body[line] ? line + 1 : line;

		if (n && strncmp(body, ".set", 4) && line)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "; ");
		for (size_t i = 0; i < line && strncmp(body, ".set", 4) && n < sizeof(text) - 3; i++) {
			if (body[i] == '%' && body[i + 1] == '%')
				continue;
			if (!strncmp(body + i, "%[p]", 4)) {
				text[n++] = 'p';
				i += 3;
			} else {
				text[n++] = body[i] == '\t' ? ' ' : body[i];
			}
		}
		body += next;
		body += strspn(body, "\n\t ");
		if (n >= sizeof(text) - 3)
			break;
	}
	text[n] = '\0';
	return probe_keep(text);
}

static void prepare_once(void)
{
	for (size_t i = 0; i < COUNT; i++) {
		struct probe *p = &table[i];

		if (p->text)
			p->text = readable(p->text);
		if (!p->run_short && !p->missing)
			p->missing = probe_rseq_missing();
	}
}

static void prepare(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_once);
}

const struct probe *probe_at(size_t i)
{
	prepare();
	return i < COUNT ? &table[i] : NULL;
}

size_t probe_count(void)
{
	return COUNT;
}

/*
 * "rep; nop", "rep_nop" and "REP-NOP" are one name: punctuation and blanks count as one hyphen, and case does not
 * matter.
 */
static bool same_name(const char *typed, const char *name)
{
	static const char marks[] = " \t;,_-";

	for (;;) {
		size_t a = strspn(typed, marks), b = strspn(name, marks);

		if (!a != !b)
			return false;
		typed += a;
		name += b;
		if (tolower((unsigned char)*typed) != tolower((unsigned char)*name))
			return false;
		if (!*typed)
			return true;
		typed++;
		name++;
	}
}

const struct probe *probe_find(const char *name)
{
	prepare();
	for (size_t i = 0; i < COUNT; i++)
		if (same_name(name, table[i].name))
			return &table[i];
	return NULL;
}

const char *probe_class_name(enum probe_class class)
{
	static const char *const names[PROBE_CLASSES] = {
		[PROBE_HINT] = "hint", [PROBE_ATOMIC] = "atomic", [PROBE_BARRIER] = "barrier",
		[PROBE_COUNTER] = "counter", [PROBE_CALL] = "call", [PROBE_CHAIN] = "chain",
	};

	return class < PROBE_CLASSES ? names[class] : "unknown";
}

static const char *find_reason(const struct probe *p)
{
	char text[400];
	const char *why;
	int sig;

	if (!p->run_short)
		return p->missing;
	if (!probe_cpu_has(p)) {
		snprintf(text, sizeof(text), "this CPU lacks %s", arch_need_name(p->need));
		return probe_keep(text);
	}
	why = p->missing_here ? p->missing_here() : NULL;
	if (why)
		return why;
	sig = probe_guard(p);
	if (!sig)
		return NULL;
	if (sig < 0)
		snprintf(text, sizeof(text), "could not be tried: a signal handler cannot be installed (%s)",
			 strerror(-sig));
	else if (sig == SIGSEGV && p->class == PROBE_COUNTER)
		snprintf(text, sizeof(text),
			 "reading it raised SIGSEGV: this process may not read the counter "
			 "(prctl(PR_SET_TSC) forbids it)");
	else if (p->need == ARCH_NEED_NONE)
		snprintf(text, sizeof(text), "the CPU raised %s when it was tried",
			 sig == SIGILL ? "SIGILL (illegal instruction)" : strsignal(sig));
	else
		snprintf(text, sizeof(text), "the CPU raised %s when it was tried, although it reports %s",
			 sig == SIGILL ? "SIGILL (illegal instruction)" : strsignal(sig), arch_need_name(p->need));
	return probe_keep(text);
}

const char *probe_why_absent(const struct probe *p)
{
	size_t i = (size_t)(p - table);

	prepare();
	if (!answer[i].known) {
		answer[i].why = find_reason(p);
		answer[i].known = true;
	}
	return answer[i].why;
}

const char *probe_ticks_why(void)
{
#ifdef ARCH_TICKS_NONE
	return ARCH_TICKS_NONE;
#else
	return probe_why_absent(probe_find(ARCH_TICKS_PROBE));
#endif
}

const char *probe_foreign(const char *name)
{
	/* A row with an architecture opens its names. */
	static const struct {
		const char *arch, *name;
	} rows[] = {
#define FOREIGN_ROW(ident, name, need, effect, setup, body, words) { NULL, name },
#define FOREIGN_LIST(arch, list) { arch, NULL }, list(FOREIGN_ROW)
		ARCH_LISTS(FOREIGN_LIST)
	};
	char text[200] = "";
	const char *arch = NULL, *last = NULL;

	if (probe_find(name))
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t n = strlen(text);

		if (rows[i].arch) {
			arch = rows[i].arch;
			continue;
		}
		if (!same_name(name, rows[i].name) || (last && !strcmp(last, arch)) ||
		    n + strlen(arch) + 3 > sizeof(text))
			continue;
		snprintf(text + n, sizeof(text) - n, "%s%s", n ? ", " : "", arch);
		last = arch;
	}
	return last ? probe_keep(text) : NULL;
}

bool probe_same_bytes(const struct probe *a, const struct probe *b)
{
	size_t n;

	if (!a->begin || !b->begin)
		return false;
	n = (size_t)(a->end - a->begin);
	return n && n == (size_t)(b->end - b->begin) && !memcmp(a->begin, b->begin, n);
}

unsigned int probe_verify_copies(const struct probe *p)
{
	size_t n;
	unsigned int copies = 0;

	/* Every copy of a restartable sequence addresses a descriptor of its own. */
	if (!p->begin || p->end == p->begin || p->missing_here == probe_rseq_here)
		return 0;
	n = (size_t)(p->end - p->begin);
	for (const unsigned char *at = p->begin; at + n <= p->end_all; at += n)
		copies += !memcmp(at, p->begin, n);
	return copies;
}
