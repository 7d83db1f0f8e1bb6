/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cutting a JSON document into pieces that jansson parses one by one, and taking typed members out of them, with the
 * place in every error.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "result-scan.h"

#define FILE_MAX ((size_t)1 << 30)	/* bytes: far above any run, far below what would exhaust a machine */
#define DEPTH_MAX 32	/* nesting that the format never reaches */
#define PARSE_FLAGS (JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL)

/* -EINVAL with the place: line and column, both from 1. */
int scan_fail(struct scan *s, const char *at, const char *fmt, ...)
{
	size_t line = 1;
	const char *start = s->text;
	char what[256];
	va_list ap;

	for (const char *p = s->text; p < at; p++)
		if (*p == '\n') {
			line++;
			start = p + 1;
		}
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	return reason_set(s->why, EINVAL, "%s, line %zu, column %zu: %s", s->path, line, (size_t)(at - start) + 1,
			  what);
}

const char *scan_end(const struct scan *s)
{
	return s->text + s->size;
}

const char *scan_blank(const struct scan *s, const char *p)
{
	while (p < scan_end(s) && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
		p++;
	return p;
}

int scan_fail_short(struct scan *s)
{
	return scan_fail(s, scan_end(s), "the file ends in the middle of the document: it was cut short");
}

/*
 * Find the end of the value at @p: brackets and quotes only; whether the inside is JSON is jansson's business. Returns
 * 0 and *end.
 */
int scan_value(struct scan *s, const char *p, const char **end)
{
	const char *start = p;
	int depth = 0;

	for (; p < scan_end(s); p++) {
		if (*p == '"') {
			for (p++; p < scan_end(s) && *p != '"'; p++)
				if (*p == '\\' && p + 1 < scan_end(s))
					p++;
			if (p >= scan_end(s))
				break;
			if (!depth) {
				*end = p + 1;
				return 0;
			}
		} else if (*p == '{' || *p == '[') {
			if (++depth > DEPTH_MAX)
				return scan_fail(s, p, "nested deeper than a result can be");
		} else if (*p == '}' || *p == ']') {
			if (!depth)
				break;
			if (!--depth) {
				*end = p + 1;
				return 0;
			}
		} else if (!depth && strchr(", \t\r\n:", *p)) {
			break;
		}
	}
	if (p >= scan_end(s))
		return scan_fail_short(s);
	if (p == start)
		return scan_fail(s, p, "a value is missing here");
	*end = p;
	return 0;
}

json_t *scan_parse(struct scan *s, struct piece piece)
{
	json_error_t error;
	json_t *value = json_loadb(piece.begin, (size_t)(piece.end - piece.begin), PARSE_FLAGS, &error);

	if (!value) {
		size_t at = error.position > 0 && error.position <= piece.end - piece.begin ?
				    (size_t)error.position - 1 :
				    0;

		scan_fail(s, piece.begin + at, "%s", error.text);
	}
	return value;
}

/*
 * Step through the object or array at @p (just past its opening bracket at first, then what the last call left): the
 * next member in @key (objects) and @value. Returns 1, 0 at the closing bracket (*p is then past it), or -EINVAL.
 */
int scan_next(struct scan *s, const char **p, char close, bool first, struct piece *key, struct piece *value)
{
	int err;

	*p = scan_blank(s, *p);
	if (*p >= scan_end(s))
		return scan_fail_short(s);
	if (**p == close) {
		++*p;
		return 0;
	}
	if (!first) {
		if (**p != ',')
			return scan_fail(s, *p, "expected ',' or '%c'", close);
		*p = scan_blank(s, *p + 1);
		if (*p >= scan_end(s))
			return scan_fail_short(s);
	}
	if (close == '}') {
		if (**p != '"')
			return scan_fail(s, *p, "expected the name of a member in quotes");
		key->begin = *p;
		err = scan_value(s, *p, &key->end);
		if (err)
			return err;
		*p = scan_blank(s, key->end);
		if (*p >= scan_end(s))
			return scan_fail_short(s);
		if (**p != ':')
			return scan_fail(s, *p, "expected ':'");
		*p = scan_blank(s, *p + 1);
	}
	value->begin = *p;
	err = scan_value(s, *p, &value->end);
	if (err)
		return err;
	*p = value->end;
	return 1;
}

bool scan_is(struct piece piece, const char *quoted)
{
	size_t n = strlen(quoted);

	return (size_t)(piece.end - piece.begin) == n + 2 && !memcmp(piece.begin + 1, quoted, n);
}

/* Typed members of a parsed element. An absent or null member leaves *out as it is. */
int scan_string(struct scan *s, struct piece at, json_t *object, const char *name, bool required, const char **out)
{
	json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return required ? scan_fail(s, at.begin, "\"%s\" is missing", name) : 0;
	if (!json_is_string(value))
		return scan_fail(s, at.begin, "\"%s\" must be a string", name);
	*out = json_string_value(value);
	return 0;
}

int scan_bool(struct scan *s, struct piece at, json_t *object, const char *name, bool *out)
{
	json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_boolean(value))
		return scan_fail(s, at.begin, "\"%s\" must be true or false", name);
	*out = json_is_true(value);
	return 0;
}

int scan_number(struct scan *s, struct piece at, json_t *object, const char *name, double min, double max, double *out)
{
	json_t *value = json_object_get(object, name);

	if (!value || json_is_null(value))
		return 0;
	if (!json_is_number(value))
		return scan_fail(s, at.begin, "\"%s\" must be a number", name);
	if (!(json_number_value(value) >= min && json_number_value(value) <= max))
		return scan_fail(s, at.begin, "\"%s\" is %g, outside %g to %g", name, json_number_value(value), min,
				 max);
	*out = json_number_value(value);
	return 0;
}

int scan_count(struct scan *s, struct piece at, json_t *object, const char *name, size_t *out)
{
	double number = (double)*out;
	int err = scan_number(s, at, object, name, 0, 9007199254740992.0, &number);

	if (!err && number != floor(number))
		return scan_fail(s, at.begin, "\"%s\" must be a whole number", name);
	*out = (size_t)number;
	return err;
}

int scan_load(struct scan *s)
{
	bool input = !strcmp(s->path, "-");
	int fd = input ? STDIN_FILENO : open(s->path, O_RDONLY | O_CLOEXEC | O_NOCTTY), err = 0;
	struct stat st;
	size_t room = 1 << 16;
	ssize_t n = 0;

	if (input)
		s->path = "standard input";
	if (fd < 0 || fstat(fd, &st))
		err = errno;
	else if (S_ISDIR(st.st_mode))
		err = EISDIR;
	else if (S_ISREG(st.st_mode) && (size_t)st.st_size < FILE_MAX)
		room = (size_t)st.st_size + 1;
	s->text = err ? NULL : util_calloc(room, 1);
	while (!err && s->size < FILE_MAX) {
		if (s->size == room) {
			room *= 2;
			s->text = util_realloc(s->text, room, 1);
		}
		n = read(fd, s->text + s->size, room - s->size);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err = errno;
		if (n <= 0)
			break;
		s->size += (size_t)n;
	}
	if (fd >= 0 && !input)
		close(fd);
	if (!err && s->size >= FILE_MAX)
		return reason_set(s->why, EFBIG, "%s is larger than %zu MiB, which no result is", s->path,
				  FILE_MAX >> 20);
	return err ? reason_set(s->why, err, "cannot read %s: %s", s->path, strerror(err)) : 0;
}
