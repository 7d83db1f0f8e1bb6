/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: columns, rows, and how each format sets them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

struct column {
	char *head;
	enum table_align align;
};

struct table {
	struct column *column;
	size_t ncolumn;
	size_t *cell;		/* offsets into text */
	unsigned char *style;
	size_t ncell, cell_room;
	char *text;
	size_t used, text_room;
	bool ascii;
};

static const char *const style_on[] = {
	[STYLE_PLAIN] = "",	 [STYLE_GOOD] = "\033[32m", [STYLE_BAD] = "\033[31m", [STYLE_UNSURE] = "\033[33m",
	[STYLE_DIM] = "\033[2m", [STYLE_HEAD] = "\033[1m",  [STYLE_SPAN] = "\033[2m",
};

/* Length in bytes of the UTF-8 character at @s, 0 when it is none (overlong, surrogate, cut short). */
static size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	size_t n = u[0] < 0x80 ? 1 : u[0] < 0xc2 ? 0 : u[0] < 0xe0 ? 2 : u[0] < 0xf0 ? 3 : u[0] < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < n; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	if (n == 3 && ((u[0] == 0xe0 && u[1] < 0xa0) || (u[0] == 0xed && u[1] > 0x9f)))
		return 0;
	if (n == 4 && ((u[0] == 0xf0 && u[1] < 0x90) || (u[0] == 0xf4 && u[1] > 0x8f)))
		return 0;
	return n;
}

/* Control characters and broken UTF-8 become '?', with @ascii all beyond ASCII too. Returns the new length. */
static size_t clean_in_place(char *s, bool ascii)
{
	char *start = s, *p = s;

	while (*s) {
		size_t n = utf8_length(s);
		unsigned char first = (unsigned char)s[0];
		bool control = first < 0x20 || first == 0x7f || (n == 2 && first == 0xc2 && (unsigned char)s[1] < 0xa0);

		if (!n || control || (n > 1 && ascii)) {
			*p++ = '?';
			s += n ? n : 1;
			continue;
		}
		memmove(p, s, n);
		p += n;
		s += n;
	}
	*p = '\0';
	return (size_t)(p - start);
}

struct table *table_new(const struct report_options *o)
{
	struct table *t = util_calloc(1, sizeof(struct table));

	t->ascii = o->ascii;
	return t;
}

void table_free(struct table *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->ncolumn; i++)
		free(t->column[i].head);
	free(t->column);
	free(t->cell);
	free(t->style);
	free(t->text);
	free(t);
}

void table_column(struct table *t, enum table_align align, const char *head)
{
	t->column = util_realloc(t->column, t->ncolumn + 1, sizeof(*t->column));
	t->column[t->ncolumn] = (struct column){ .head = util_strdup(head), .align = align };
	clean_in_place(t->column[t->ncolumn++].head, t->ascii);
}

void table_cell(struct table *t, enum table_style style, const char *fmt, ...)
{
	va_list ap, again;
	int length;

	if (t->ncell == t->cell_room) {
		t->cell_room = t->cell_room ? t->cell_room + t->cell_room / 2 : 64;
		t->cell = util_realloc(t->cell, t->cell_room, sizeof(*t->cell));
		t->style = util_realloc(t->style, t->cell_room, 1);
	}
	t->cell[t->ncell] = t->used;
	t->style[t->ncell++] = (unsigned char)style;
	va_start(ap, fmt);
	va_copy(again, ap);
	length = vsnprintf(t->text ? t->text + t->used : NULL, t->text_room - t->used, fmt, ap);
	if (length < 0)
		length = 0;
	if ((size_t)length >= t->text_room - t->used) {
		t->text_room = t->text_room + t->text_room / 2 + (size_t)length + 1024;
		t->text = util_realloc(t->text, t->text_room, 1);
		vsnprintf(t->text + t->used, t->text_room - t->used, fmt, again);
	}
	va_end(again);
	va_end(ap);
	t->used += clean_in_place(t->text + t->used, t->ascii) + 1;
}

size_t table_rows(const struct table *t)
{
	return t->ncolumn ? t->ncell / t->ncolumn : 0;
}

/* Characters, each taken as one column wide. */
static size_t text_width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

char *report_clean(const char *s, const struct report_options *o)
{
	char *clean = util_strdup(s);

	clean_in_place(clean, o->ascii);
	return clean;
}

/* The first byte of character number @n. */
static char *character(char *s, size_t n)
{
	for (; *s; s++)
		if (((unsigned char)*s & 0xc0) != 0x80 && !n--)
			break;
	return s;
}

char *report_name(const char *s, const struct report_options *o)
{
	char *clean = report_clean(s, o);
	size_t width = text_width(clean), half = (REPORT_NAME - 2) / 2;

	if (width > REPORT_NAME && o->verbosity < 1) {
		char *end = character(clean, width - half), *cut = character(clean, half);

		/* two dots take two bytes, and more than two characters went */
		memmove(cut + 2, end, strlen(end) + 1);
		memcpy(cut, "..", 2);
	}
	return clean;
}

void report_style(FILE *f, const struct report_options *o, enum table_style style, const char *text)
{
	if (o->colour && style != STYLE_PLAIN)
		fprintf(f, "%s%s\033[0m", style_on[style], text);
	else
		fputs(text, f);
}

void report_csv_field(FILE *f, const char *s, const char *sep)
{
	if (!strstr(s, sep) && !s[strcspn(s, "\"\r\n")] && *s != ' ' && (!*s || s[strlen(s) - 1] != ' ')) {
		fputs(s, f);
		return;
	}
	fputc('"', f);
	for (; *s; s++) {
		if (*s == '"')
			fputc('"', f);
		fputc(*s, f);
	}
	fputc('"', f);
}

void report_number(FILE *f, double x)
{
	fprintf(f, "%.12g", x);
}

static void markdown_cell(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '|' || *s == '\\' || *s == '`' || *s == '*' || *s == '_')
			fputc('\\', f);
		if (*s == '<')
			fputs("&lt;", f);
		else
			fputc(*s, f);
	}
}

/* @text is cut into words here and does not survive. */
static void wrap_words(FILE *f, char *text, size_t column, size_t indent)
{
	char *word, *save = NULL;
	bool first = true;

	for (word = strtok_r(text, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		size_t width = text_width(word);

		if (!first && column + 1 + width > REPORT_WIDTH) {
			fprintf(f, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			fputc(' ', f);
			column++;
		}
		fputs(word, f);
		column += width;
		first = false;
	}
	fputc('\n', f);
}

static void wrap(FILE *f, const struct report_options *o, const char *prefix, size_t indent, bool item, const char *fmt,
		 va_list ap)
{
	char *raw, *text;

	if (vasprintf(&raw, fmt, ap) < 0)
		return;
	text = report_clean(raw, o);
	free(raw);
	if (o->format == REPORT_MARKDOWN) {
		fputs(item ? "- " : "", f);
		fputs(prefix + strspn(prefix, " "), f);
		markdown_cell(f, text);
		fputs(item ? "\n" : "\n\n", f);
	} else {
		fputs(prefix, f);
		wrap_words(f, text, text_width(prefix), indent);
	}
	free(text);
}

void report_wrap(FILE *f, const struct report_options *o, const char *prefix, size_t indent, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wrap(f, o, prefix, indent, true, fmt, ap);
	va_end(ap);
}

void report_paragraph(FILE *f, const struct report_options *o, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	wrap(f, o, "", 2, false, fmt, ap);
	va_end(ap);
}

static const char *cell_at(const struct table *t, size_t row, size_t column)
{
	return t->text + t->cell[row * t->ncolumn + column];
}

static void print_csv(FILE *f, const struct table *t, const char *sep)
{
	for (size_t i = 0; i < t->ncolumn; i++) {
		fputs(i ? sep : "", f);
		report_csv_field(f, t->column[i].head, sep);
	}
	fputc('\n', f);
	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->ncolumn; i++) {
			fputs(i ? sep : "", f);
			report_csv_field(f, cell_at(t, row, i), sep);
		}
		fputc('\n', f);
	}
}

static void print_markdown(FILE *f, const struct table *t)
{
	for (size_t i = 0; i < t->ncolumn; i++) {
		fputs(i ? " | " : "| ", f);
		markdown_cell(f, t->column[i].head);
	}
	fputs(" |\n", f);
	for (size_t i = 0; i < t->ncolumn; i++)
		fputs(t->column[i].align == TABLE_LEFT ? "| --- " : "| ---: ", f);
	fputs("|\n", f);
	for (size_t row = 0; row < table_rows(t); row++) {
		for (size_t i = 0; i < t->ncolumn; i++) {
			fputs(i ? " | " : "| ", f);
			markdown_cell(f, cell_at(t, row, i));
		}
		fputs(" |\n", f);
	}
}

/* A column of numbers is set so that the decimal points stand below one another. */
struct width {
	size_t before, after, all;
};

static bool is_number(const char *s)
{
	return *s && s[strspn(s, "+-0123456789.")] == '\0';
}

static void measure(struct width *w, enum table_align align, const char *s)
{
	size_t all = text_width(s);

	if (align == TABLE_DECIMAL && is_number(s)) {
		size_t before = strcspn(s, ".");

		if (before > w->before)
			w->before = before;
		if (all - before > w->after)
			w->after = all - before;
		all = w->before + w->after;
	}
	if (all > w->all)
		w->all = all;
}

static void set_cell(FILE *f, const struct report_options *o, const struct width *w, enum table_align align,
		     enum table_style style, const char *s, bool last)
{
	size_t all = text_width(s), right = 0, left = 0;

	if (align == TABLE_LEFT)
		right = w->all - all;
	else if (align == TABLE_DECIMAL && is_number(s))
		right = w->after - (all - strcspn(s, "."));
	if (align != TABLE_LEFT)
		left = w->all - all - right;
	fprintf(f, "%*s", (int)left, "");
	report_style(f, o, style, s);
	if (!last)
		fprintf(f, "%*s", (int)right, "");
}

static void print_text_row(FILE *f, const struct table *t, const struct report_options *o, const struct width *w,
			   size_t row)
{
	size_t last = t->ncolumn - 1, over = 0;

	while (last > 0 && !*cell_at(t, row, last))
		last--;
	fputc(' ', f);
	for (size_t i = 0; i <= last; i++) {
		const char *cell = cell_at(t, row, i);
		enum table_style style = t->style[row * t->ncolumn + i];

		fputs(i && !over ? "  " : "", f);
		if (style == STYLE_SPAN) {
			report_style(f, o, style, cell);
			over = text_width(cell) > w[i].all ? text_width(cell) - w[i].all : 0;
			if (!over)
				fprintf(f, "%*s", (int)(w[i].all - text_width(cell)), "");
		} else if (over) {
			/* this empty cell is partly written over */
			size_t room = w[i].all + 2;

			fprintf(f, "%*s", over < room ? (int)(room - over) : 0, "");
			over = over < room ? 0 : over - room;
		} else {
			set_cell(f, o, &w[i], t->column[i].align, style, cell, i == last);
		}
	}
	fputc('\n', f);
}

static void print_text(FILE *f, const struct table *t, const struct report_options *o)
{
	struct width *w = util_calloc(t->ncolumn, sizeof(*w));
	size_t line = 0;

	for (size_t i = 0; i < t->ncolumn; i++) {
		measure(&w[i], TABLE_RIGHT, t->column[i].head);
		for (size_t row = 0; row < table_rows(t); row++)
			if (t->style[row * t->ncolumn + i] != STYLE_SPAN)
				measure(&w[i], t->column[i].align, cell_at(t, row, i));
		line += w[i].all + (i ? 2 : 0);
	}
	fputc(' ', f);
	for (size_t i = 0; i < t->ncolumn; i++) {
		fputs(i ? "  " : "", f);
		set_cell(f, o, &w[i], t->column[i].align == TABLE_LEFT ? TABLE_LEFT : TABLE_RIGHT, STYLE_HEAD,
			 t->column[i].head, i + 1 == t->ncolumn);
	}
	fputs("\n ", f);
	for (size_t i = 0; i < line; i++)
		fputs(o->ascii ? "-" : "\u2500", f);
	fputc('\n', f);
	for (size_t row = 0; row < table_rows(t); row++)
		print_text_row(f, t, o, w, row);
	free(w);
}

int table_print(FILE *f, const struct table *t, const struct report_options *o)
{
	if (!t->ncolumn)
		return 0;
	switch (o->format) {
	case REPORT_CSV:
		print_csv(f, t, o->csv_sep ? o->csv_sep : ",");
		break;
	case REPORT_MARKDOWN:
		print_markdown(f, t);
		break;
	default:
		print_text(f, t, o);
	}
	return ferror(f) ? -EIO : 0;
}
