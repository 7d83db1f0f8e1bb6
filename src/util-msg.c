/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages to the user. */
#include <stdarg.h>
#include <unistd.h>

#include "util.h"

int msg_verbosity;

/* One write(2) for each message, so that lines of several processes do not mix. */
static void message(const char *level, const char *fmt, va_list ap)
{
	char buf[2048];
	int n = snprintf(buf, sizeof(buf), "perf-relax: %s", level), m;
	size_t used;
	ssize_t ignored;

	m = vsnprintf(buf + n, sizeof(buf) - (size_t)n - 1, fmt, ap);
	used = (size_t)n + (m < 0 ? 0 : (size_t)m);
	if (used > sizeof(buf) - 2)
		used = sizeof(buf) - 2;
	buf[used++] = '\n';
	ignored = write(STDERR_FILENO, buf, used);
	(void)ignored;
}

void msg_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message("", fmt, ap);
	va_end(ap);
}

void msg_warn(const char *fmt, ...)
{
	va_list ap;

	if (msg_verbosity < 0)
		return;
	va_start(ap, fmt);
	message("warning: ", fmt, ap);
	va_end(ap);
}

void msg_verbose(int level, const char *fmt, ...)
{
	va_list ap;

	if (msg_verbosity < level)
		return;
	va_start(ap, fmt);
	message("", fmt, ap);
	va_end(ap);
}
