/* SPDX-License-Identifier: GPL-2.0-only */
/* Numbers, memory, files, names and randomness. Messages and CPU lists are in util-msg.c and util-cpulist.c. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util.h"

/* Longest name for which neighbours are looked for. */
#define NEAREST_NAME_MAX 128

static void out_of_memory(void)
{
	static const char text[] = "perf-relax: out of memory\n";
	ssize_t ignored = write(STDERR_FILENO, text, sizeof(text) - 1);

	(void)ignored;
	_exit(EXIT_FAILED);
}

void *util_calloc(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size ? size : 1);

	if (!p)
		out_of_memory();
	return p;
}

void *util_realloc(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size ? size : 1);

	if (!q)
		out_of_memory();
	return q;
}

char *util_strdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		out_of_memory();
	return p;
}

char *util_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *p;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&p, fmt, ap);
	va_end(ap);
	if (n < 0)
		out_of_memory();
	return p;
}

int reason_set(struct reason *r, int err, const char *fmt, ...)
{
	va_list ap;

	if (r) {
		r->err = err;
		va_start(ap, fmt);
		vsnprintf(r->text, sizeof(r->text), fmt, ap);
		va_end(ap);
	}
	return -err;
}

/* The table is small (reasons and names), so a list that is searched is enough. */
struct interned {
	struct interned *next;
	char text[];
};

static struct interned *interned;

const char *util_intern(const char *s)
{
	size_t n = strlen(s) + 1;
	struct interned *i;

	for (i = interned; i; i = i->next)
		if (!strcmp(i->text, s))
			return i->text;
	i = util_calloc(1, sizeof(*i) + n);
	memcpy(i->text, s, n);
	i->next = interned;
	interned = i;
	return i->text;
}

int util_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t x = 0;

	if (!*s)
		return -EINVAL;
	for (const char *p = s; *p; p++)
		if (*p < '0' || *p > '9')
			return -EINVAL;
	for (; *s; s++)
		if (__builtin_mul_overflow(x, 10u, &x) || __builtin_add_overflow(x, (uint64_t)(*s - '0'), &x))
			return -ERANGE;
	if (x < min || x > max)
		return -ERANGE;
	*out = x;
	return 0;
}

int util_parse_int(const char *s, int min, int max, int *out)
{
	bool negative = *s == '-';
	uint64_t x;
	int err = util_parse_u64(s + negative, 0, (uint64_t)INT32_MAX, &x);
	int64_t v;

	if (err)
		return err;
	v = negative ? -(int64_t)x : (int64_t)x;
	if (v < min || v > max)
		return -ERANGE;
	*out = (int)v;
	return 0;
}

/* strtod in the C locale, whatever the process has: the caller's locale decides on the decimal point otherwise. */
static double strtod_c(const char *s, char **end)
{
	static locale_t c_locale;

	if (!c_locale)
		c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	return c_locale ? strtod_l(s, end, c_locale) : strtod(s, end);
}

int util_parse_double(const char *s, double min, double max, double *out)
{
	const char *p = s + (*s == '-');
	char *end;
	double x;

	/* Only plain decimals: strtod would also take blanks, hexadecimal, "inf" and "nan". */
	if (!isdigit((unsigned char)*p) && !(*p == '.' && isdigit((unsigned char)p[1])))
		return -EINVAL;
	if (p[strspn(p, "0123456789.eE+-")])
		return -EINVAL;
	errno = 0;
	x = strtod_c(s, &end);
	if (*end)
		return -EINVAL;
	if (errno == ERANGE || !isfinite(x) || x < min || x > max)
		return -ERANGE;
	*out = x;
	return 0;
}

int util_parse_bytes(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	static const char letters[] = "kmgt";
	size_t digits = strspn(s, "0123456789");
	const char *unit = s + digits, *letter;
	uint64_t factor = 1, base = 1024, x;
	char number[32];
	int err;

	if (!digits || digits >= sizeof(number))
		return digits ? -ERANGE : -EINVAL;
	memcpy(number, s, digits);
	number[digits] = '\0';
	if (*unit) {
		letter = strchr(letters, tolower((unsigned char)*unit));
		if (!letter)
			return -EINVAL;
		if (!strcmp(unit + 1, "B"))
			base = 1000;
		else if (unit[1] && strcmp(unit + 1, "iB"))
			return -EINVAL;
		for (long i = 0; i <= letter - letters; i++)
			factor *= base;
	}
	err = util_parse_u64(number, 0, UINT64_MAX, &x);
	if (err)
		return err;
	if (__builtin_mul_overflow(x, factor, &x) || x < min || x > max)
		return -ERANGE;
	*out = x;
	return 0;
}

int util_opt_u64(const char *option, const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	int err = util_parse_u64(s, min, max, out);

	if (err == -EINVAL)
		msg_error("%s: '%s' is not a whole number", option, s);
	else if (err)
		msg_error("%s: %s is outside %llu to %llu", option, s, (unsigned long long)min, (unsigned long long)max);
	return err;
}

int util_opt_double(const char *option, const char *s, double min, double max, double *out)
{
	int err = util_parse_double(s, min, max, out);
	char lo[32], hi[32];

	if (err == -EINVAL)
		msg_error("%s: '%s' is not a number", option, s);
	else if (err)
		msg_error("%s: %s is outside %s to %s", option, s, util_format_significant(min, 6, lo, sizeof(lo)),
			  util_format_significant(max, 6, hi, sizeof(hi)));
	return err;
}

char *util_format_significant(double x, int digits, char *buf, size_t size)
{
	double magnitude = fabs(x);
	int before;

	if (x == 0 || !isfinite(x)) {
		snprintf(buf, size, x == 0 ? "0" : isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
		return buf;
	}
	if (magnitude < 1e-6 || magnitude >= 1e15) {
		snprintf(buf, size, "%.*e", digits - 1, x);
		return buf;
	}
	before = (int)floor(log10(magnitude)) + 1;
	snprintf(buf, size, "%.*f", digits > before ? digits - before : 0, x);
	return buf;
}

uint64_t util_clock_ns(int clock)
{
	/* 32-bit systems have a second call, for times beyond 2038. */
#ifdef SYS_clock_gettime64
	struct { long long sec, nsec; } now = { 0, 0 };
	long err = syscall(SYS_clock_gettime64, clock, &now);
#else
	struct { long sec, nsec; } now = { 0, 0 };
	long err = syscall(SYS_clock_gettime, clock, &now);
#endif
	return err ? 0 : (uint64_t)now.sec * UINT64_C(1000000000) + (uint64_t)now.nsec;
}

long util_read_file(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	while (used < size - 1) {
		n = read(fd, buf + used, size - 1 - used);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = errno;

			close(fd);
			return -err;
		}
		if (!n)
			break;
		used += (size_t)n;
	}
	close(fd);
	if (used && buf[used - 1] == '\n')
		used--;
	buf[used] = '\0';
	return (long)used;
}

int util_read_u64(const char *path, uint64_t *out)
{
	char buf[64];
	long n = util_read_file(path, buf, sizeof(buf));

	return n < 0 ? (int)n : util_parse_u64(buf, 0, UINT64_MAX, out);
}

/* Levenshtein distance, case ignored, in one row of memory; names beyond the limit count as far away. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[NEAREST_NAME_MAX + 1], na = strlen(a), nb = strlen(b);

	if (na > NEAREST_NAME_MAX || nb > NEAREST_NAME_MAX)
		return SIZE_MAX;
	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t up = row[j];
			size_t best = diagonal + (tolower((unsigned char)a[i - 1]) != tolower((unsigned char)b[j - 1]));

			if (up + 1 < best)
				best = up + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			diagonal = up;
			row[j] = best;
		}
	}
	return row[nb];
}

size_t util_nearest(const char *name, const char *const *names, const char **out, size_t max)
{
	size_t limit = strlen(name) / 2, n = 0;

	if (limit < 2)
		limit = 2;
	for (size_t want = 0; want <= limit && n < max; want++)
		for (const char *const *p = names; *p && n < max; p++)
			if (edit_distance(name, *p) == want)
				out[n++] = *p;
	return n;
}

char *util_did_you_mean(const char *name, const char *const *names, char *buf, size_t size)
{
	const char *near[3];
	size_t n = util_nearest(name, names, near, ARRAY_SIZE(near)), used;

	buf[0] = '\0';
	if (!n)
		return buf;
	used = (size_t)snprintf(buf, size, "; did you mean %s", near[0]);
	for (size_t i = 1; i < n && used < size; i++)
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i + 1 == n ? " or " : ", ", near[i]);
	if (used + 1 < size)
		strcpy(buf + used, "?");
	return buf;
}

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

void random_seed(struct random_state *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++) {
		uint64_t z = (seed += 0x9e3779b97f4a7c15u);

		z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
		z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
		r->s[i] = z ^ (z >> 31);
	}
}

uint64_t random_u64(struct random_state *r)
{
	uint64_t result = rotl(r->s[1] * 5, 7) * 9, t = r->s[1] << 17;

	r->s[2] ^= r->s[0];
	r->s[3] ^= r->s[1];
	r->s[1] ^= r->s[2];
	r->s[0] ^= r->s[3];
	r->s[2] ^= t;
	r->s[3] = rotl(r->s[3], 45);
	return result;
}

uint64_t random_below(struct random_state *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n, x;

	do
		x = random_u64(r);
	while (x >= limit);
	return x % n;
}

double random_unit(struct random_state *r)
{
	return (double)(random_u64(r) >> 11) * 0x1p-53;
}

void random_shuffle(struct random_state *r, size_t *index, size_t n)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)random_below(r, i), t = index[i - 1];

		index[i - 1] = index[j];
		index[j] = t;
	}
}
