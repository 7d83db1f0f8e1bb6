/* SPDX-License-Identifier: GPL-2.0-only */
/* What the report-*.c files share; nobody else includes it. */
#ifndef PERF_RELAX_REPORT_PRIVATE_H
#define PERF_RELAX_REPORT_PRIVATE_H

#include "report.h"

#define REPORT_LINES 20	/* of one kind of note for people, in large results; programs get all */
#define REPORT_NAME 44	/* columns of a name in a table */
#define REPORT_WIDTH 96	/* columns that running text is wrapped to */

/* report-table.c: rows and columns of text, printed in any of the formats. Memory: the text and 9 bytes a cell. */
enum table_align { TABLE_LEFT, TABLE_RIGHT, TABLE_DECIMAL };
enum table_style {
	STYLE_PLAIN,
	STYLE_GOOD,
	STYLE_BAD,
	STYLE_UNSURE,
	STYLE_DIM,
	STYLE_HEAD,
	STYLE_SPAN
}; /* SPAN: may run over the empty cells after it */

struct table;
/* What is put into it is made safe for a terminal (see report_clean()). */
struct table *table_new(const struct report_options *o);
void table_free(struct table *t);
void table_column(struct table *t, enum table_align align, const char *head);
/* Cells are added row by row. */
void table_cell(struct table *t, enum table_style style, const char *fmt, ...) PRINTF_LIKE(3, 4);
size_t table_rows(const struct table *t);
int table_print(FILE *f, const struct table *t, const struct report_options *o);

/*
 * @s made safe for a terminal: control characters and broken UTF-8 become '?', with o->ascii all beyond ASCII too.
 * Caller frees.
 */
char *report_clean(const char *s, const struct report_options *o);
/* The same for a cell: a long name loses its middle (unless verbose). */
char *report_name(const char *s, const struct report_options *o);
/* A line of its own, wrapped. */
void report_paragraph(FILE *f, const struct report_options *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
/*
 * Text wrapped to REPORT_WIDTH, the first line after @prefix, later lines indented by @indent; an item of a list in
 * Markdown. The text is cleaned.
 */
void report_wrap(FILE *f, const struct report_options *o, const char *prefix, size_t indent, const char *fmt, ...)
	PRINTF_LIKE(5, 6);
void report_csv_field(FILE *f, const char *s, const char *sep);
/*
 * A finite number for programs, 12 significant digits: what is printed is derived, and the exact values are in the
 * result file.
 */
void report_number(FILE *f, double x);
void report_style(FILE *f, const struct report_options *o, enum table_style style, const char *text);

/* report-value.c: what one cell says. */
enum value_kind { VALUE_NUMBER, VALUE_BELOW, VALUE_NOT_SUPPORTED, VALUE_NOT_COUNTED };
struct report_value {
	enum value_kind kind;
	double value;		/* median; the mean when only a summary is known */
	double low, high;	/* interval of the value; infinite when there are too few rounds */
	double reach; /* VALUE_BELOW: how far from zero the interval (or, with too few rounds, the values) reach */
	size_t n;		/* trials that it rests on */
	const char *why;	/* why there is none */
};
void report_value(const struct result *r, size_t condition, size_t arm, size_t metric, struct report_value *v);
/* Is there one? Cheaper than report_value(); NULL: yes, else why not. */
const char *report_value_missing(const struct result *r, size_t condition, size_t arm, size_t metric);
/* perf's word for a missing value, and the reason without that word in front. */
const char *report_missing_word(const char *why);
const char *report_missing_reason(const char *why);
/* "17.70", "(0 ± 0.021)", "<not supported>". */
char *report_value_text(const struct report_value *v, const struct report_options *o, char *buf, size_t size);
char *report_effect_text(const struct comparison *c, const char *unit, const struct report_options *o, char *buf,
			 size_t size);
char *report_size_text(double effect, const struct comparison *c, const char *unit, char *buf, size_t size);
enum table_style report_verdict_style(enum verdict v);
const char *report_metric_name(const struct result_metric *m, char *buf, size_t size);	/* "cycles~" when estimated */
/* One sentence per COMPARE_* flag, NULL for those that need none. */
const char *report_flag_sentence(unsigned int flag);

/* Comparisons by (condition, metric, arm), so that large results are not searched cell by cell. */
struct comparison_index;
struct comparison_index *comparison_index_new(const struct result *r);
const struct comparison *comparison_index_find(const struct comparison_index *x, size_t condition, size_t metric,
					       size_t arm);
void comparison_index_free(struct comparison_index *x);

/* -EINVAL when o->sort names no column, with those there are. */
int report_check_sort(const struct result *r, const struct report_options *o, struct reason *why);
/* The order of the rows as o->sort asks, into @order (room for every arm); as measured where there is no such column. */
void report_order(const struct result *r, size_t condition, size_t headline, const struct report_options *o,
		  const struct comparison_index *index, size_t *order);

/* Which metric a report judges by: o->metric or the run's headline. -EINVAL with the names there are. */
int report_pick_metric(const struct result *r, const struct report_options *o, size_t *metric, struct reason *why);

int report_text(FILE *f, const struct result *r, const struct report_options *o, struct reason *why);
int report_csv(FILE *f, struct result *const *r, size_t n, const struct report_options *o);
int report_json(FILE *f, struct result *const *r, size_t n, const struct report_options *o);

#endif
