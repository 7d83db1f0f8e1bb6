/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The self-test of `check`: does what this tool measures here agree with what is known beforehand? A chain of additions takes one cycle each, known loops
 * have known instruction counts, equal bytes cost the same, locked costs more than local, and published values hold for this CPU model.
 */
#ifndef PERF_RELAX_SELFTEST_H
#define PERF_RELAX_SELFTEST_H

#include "session.h"

enum selftest_status { SELFTEST_OK, SELFTEST_FAILED, SELFTEST_SKIPPED };

struct selftest_line {
	const char *name;
	enum selftest_status status;
	char text[320];
};

struct selftest {
	struct selftest_line *line;
	size_t n;
	size_t failed;
};

/*
 * Run it on the CPU that @s is pinned to; takes about @seconds. Returns 0 or -errno with @why (when nothing could be measured at all).
 * selftest_free() releases the lines.
 */
int selftest_run(struct session *s, double seconds, struct selftest *out, struct reason *why);
void selftest_free(struct selftest *t);

#endif
