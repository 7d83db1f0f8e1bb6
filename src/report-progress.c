/* SPDX-License-Identifier: GPL-2.0-only */
/* The progress line. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "report-progress.h"

#define REDRAW_S 0.1

void report_progress(const struct report_progress *p)
{
	static double drawn_s = -1;
	static int terminal = -1;
	double left;

	if (terminal < 0)
		terminal = isatty(STDERR_FILENO);
	if (!terminal)
		return;
	if (!p) {
		if (drawn_s >= 0)
			fputs("\r\033[K", stderr);
		drawn_s = -1;
		return;
	}
	if (drawn_s >= 0 && p->elapsed_s < drawn_s + REDRAW_S && p->elapsed_s >= drawn_s)
		return;
	drawn_s = p->elapsed_s;
	fprintf(stderr, "\r\033[K%llu", (unsigned long long)p->rounds);
	if (p->rounds_planned)
		fprintf(stderr, " of %llu", (unsigned long long)p->rounds_planned);
	fprintf(stderr, " rounds, %.1f s", p->elapsed_s);
	left = p->rounds_planned && p->rounds ? p->elapsed_s * ((double)p->rounds_planned / (double)p->rounds - 1) : p->budget_s - p->elapsed_s;
	if (left > 0 && isfinite(left))
		fprintf(stderr, ", at most %.0f s left", ceil(left));
	if (p->current && isfinite(p->current->interval.high - p->current->interval.low) && !(p->current->flags & COMPARE_DIFFERENCE))
		fprintf(stderr, "; widest interval [%+.2f %%, %+.2f %%], margin %.2f %%, %zu open", 100 * expm1(p->current->interval.low),
			100 * expm1(p->current->interval.high), 100 * expm1(p->current->margin), p->open);
}
