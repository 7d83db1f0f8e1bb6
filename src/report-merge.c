/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order of rows, and several results in one table: the same probe in one row, a group of columns for each result.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report-private.h"

#define MISSING_NOTES 16	/* different reasons that are told for one table and result */
#define SIDE_BY_SIDE 6	/* results; more of them are set below one another */

struct sort_key {
	size_t arm;
	bool has;
	double number;
	const char *text;
	bool descending;	/* for the text; numbers are negated */
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct sort_key *a = pa, *b = pb;

	if (a->has != b->has)
		return a->has ? -1 : 1;	/* what has no value comes last, in either direction */
	if (a->text && strcmp(a->text, b->text))
		return a->descending ? strcmp(b->text, a->text) : strcmp(a->text, b->text);
	if (!a->text && a->has && a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->arm < b->arm ? -1 : a->arm > b->arm;
}

int report_check_sort(const struct result *r, const struct report_options *o, struct reason *why)
{
	static const char *const columns[] = { "name", "probe", "arm", "kind", "bytes", "effect", "verdict" };
	const char *name = o->sort;

	if (!name)
		return 0;
	name += *name == '-';
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		if (!strcmp(name, columns[i]))
			return 0;
	for (size_t m = 0; m < r->nmetric; m++) {
		char shown[64];

		if (!strcmp(name, r->metric[m].name) ||
		    !strcmp(name, report_metric_name(&r->metric[m], shown, sizeof(shown))))
			return 0;
	}
	return reason_set(why, EINVAL,
			  "--sort %s: no such column; there are name, kind, bytes, effect, verdict and the metrics%s%s",
			  o->sort, r->nmetric ? ", such as " : "", r->nmetric ? r->metric[0].name : "");
}

void report_order(const struct result *r, size_t condition, size_t headline, const struct report_options *o,
		  const struct comparison_index *index, size_t *order)
{
	const char *name = o->sort;
	bool descending = name && *name == '-';
	size_t metric = SIZE_MAX;
	struct sort_key *key;

	for (size_t a = 0; a < r->narm; a++)
		order[a] = a;
	/* several results: one that has no such column keeps its order */
	if (!name || report_check_sort(r, o, NULL))
		return;
	name += descending;
	for (size_t m = 0; m < r->nmetric; m++) {
		char shown[64];

		if (!strcmp(name, r->metric[m].name) ||
		    !strcmp(name, report_metric_name(&r->metric[m], shown, sizeof(shown))))
			metric = m;
	}
	key = util_calloc(r->narm, sizeof(*key));
	for (size_t a = 0; a < r->narm; a++) {
		const struct comparison *c = comparison_index_find(index, condition, headline, a);

		key[a].arm = a;
		key[a].descending = descending;
		if (metric != SIZE_MAX) {
			struct report_value v;

			report_value(r, condition, a, metric, &v);
			key[a].has = !v.why;
			key[a].number = v.why ? 0 : descending ? -v.value : v.value;
		} else if (!strcmp(name, "effect")) {
			key[a].has = c || a == r->reference;
			key[a].number = c ? c->interval.estimate : 0;
			key[a].number = descending ? -key[a].number : key[a].number;
		} else if (!strcmp(name, "verdict")) {
			key[a].has = c;
			key[a].text = c ? verdict_name(c->verdict) : "";
		} else {
			const char *s = !strcmp(name, "kind")  ? r->arm[a].kind :
					!strcmp(name, "bytes") ? r->arm[a].bytes :
								 r->arm[a].name;

			key[a].has = s;
			key[a].text = s ? s : "";
		}
	}
	qsort(key, r->narm, sizeof(*key), compare_keys);
	for (size_t a = 0; a < r->narm; a++)
		order[a] = key[a].arm;
	free(key);
}


/* One arm of one result. */
struct member {
	const char *name;
	size_t file, arm, sequence;
};

static int compare_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	int order = strcmp(a->name, b->name);

	return order ? order : a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

static int compare_sequence(const void *pa, const void *pb)
{
	const struct member *const *a = pa, *const *b = pb;

	return (*a)->sequence < (*b)->sequence ? -1 : (*a)->sequence > (*b)->sequence;
}

struct merge {
	FILE *f;
	struct result *const *r;
	size_t n;
	const struct report_options *o;
	struct comparison_index **index;
	struct member *member;	/* by name, then by sequence */
	size_t nmember;
	const struct member **row;	/* first member of each row, in the order of the rows */
	size_t nrow;
};

/* "A", "B", ... "AA": short names of results, explained above the tables. */
static char *label(size_t i, char *buf, size_t size)
{
	char *p = buf + size - 1;

	*p = '\0';
	do {
		*--p = (char)('A' + i % 26);
		i = i / 26;
	} while (i-- && p > buf);
	return p;
}

static size_t find_condition(const struct result *r, const char *name)
{
	for (size_t c = 0; c < r->ncondition; c++)
		if (!strcmp(r->condition[c].name, name))
			return c;
	return SIZE_MAX;
}

/*
 * The rows of a condition: every arm of every result that has it, equal names together, in the order of first
 * appearance.
 */
static void collect_rows(struct merge *m, const char *condition)
{
	size_t sequence = 0;

	m->nmember = m->nrow = 0;
	for (size_t i = 0; i < m->n; i++) {
		const struct result *r = m->r[i];
		size_t c = find_condition(r, condition), *order;

		if (c == SIZE_MAX || !r->nmetric)
			continue;
		order = util_calloc(r->narm, sizeof(*order));
		report_order(r, c, result_headline(r), m->o, m->index[i], order);
		for (size_t a = 0; a < r->narm; a++) {
			m->member[m->nmember++] = (struct member){ r->arm[order[a]].name, i, order[a], sequence };
			sequence++;
		}
		free(order);
	}
	qsort(m->member, m->nmember, sizeof(*m->member), compare_members);
	for (size_t i = 0; i < m->nmember; i++)
		if (!i || strcmp(m->member[i].name, m->member[i - 1].name))
			m->row[m->nrow++] = &m->member[i];
	qsort(m->row, m->nrow, sizeof(*m->row), compare_sequence);
}

static void value_cells(struct merge *m, struct table *table, const struct member *member, const char *condition,
			const char *metric)
{
	const struct result *r = m->r[member->file];
	size_t c = find_condition(r, condition), k = result_find_metric(r, metric);
	const struct comparison *cmp;
	struct report_value v;
	char text[192], effect[192];

	if (c == SIZE_MAX || k == SIZE_MAX) {
		table_cell(table, STYLE_PLAIN, "%s", "");
		table_cell(table, STYLE_PLAIN, "%s", "");
		return;
	}
	report_value(r, c, member->arm, k, &v);
	table_cell(table, v.why ? STYLE_DIM : STYLE_PLAIN, "%s", report_value_text(&v, m->o, text, sizeof(text)));
	cmp = comparison_index_find(m->index[member->file], c, k, member->arm);
	if (cmp && m->n <= 2)
		table_cell(table, report_verdict_style(cmp->verdict), "%s %s",
			   report_effect_text(cmp, r->metric[k].unit ? r->metric[k].unit : "", m->o, effect,
					      sizeof(effect)),
			   verdict_name(cmp->verdict));
	else
		table_cell(table, cmp ? report_verdict_style(cmp->verdict) : STYLE_DIM, "%s",
			   cmp					      ? verdict_name(cmp->verdict) :
			   member->arm == r->reference && r->narm > 1 ? "reference" :
									"");
}

/*
 * A row of the side-by-side table: what each result has under this name. The same name again in one result gets a row
 * of its own.
 */
static void side_by_side(struct merge *m, struct table *table, const struct member *first, const char *condition,
			 const char *metric)
{
	const struct member *end = m->member + m->nmember, *at[SIDE_BY_SIDE];
	bool more = true;

	for (size_t i = 0; i < m->n; i++) {
		at[i] = first;
		while (at[i] < end && !strcmp(at[i]->name, first->name) && at[i]->file != i)
			at[i]++;
	}
	while (more) {
		char *clean = report_name(first->name, m->o);

		more = false;
		table_cell(table, STYLE_PLAIN, "%s", clean);
		free(clean);
		for (size_t i = 0; i < m->n; i++) {
			if (at[i] < end && at[i]->file == i && !strcmp(at[i]->name, first->name)) {
				value_cells(m, table, at[i], condition, metric);
				at[i]++;
				more = more || (at[i] < end && at[i]->file == i && !strcmp(at[i]->name, first->name));
			} else {
				table_cell(table, STYLE_DIM, "%s", "");
				table_cell(table, STYLE_DIM, "%s", "");
			}
		}
	}
}

/* The metric as the results have it: false when two of them mean different things by the name. */
static bool metric_agrees(const struct merge *m, const char *name, const struct result_metric **out)
{
	*out = NULL;
	for (size_t i = 0; i < m->n; i++) {
		size_t k = result_find_metric(m->r[i], name);
		const struct result_metric *metric = k == SIZE_MAX ? NULL : &m->r[i]->metric[k];

		if (!metric)
			continue;
		if (*out && ((*out)->better != metric->better ||
			     strcmp((*out)->unit ? (*out)->unit : "", metric->unit ? metric->unit : "")))
			return false;
		if (!*out)
			*out = metric;
	}
	return true;
}

/* Some results may count what others estimate: say which. */
static void say_estimated(const struct merge *m, const char *name)
{
	char *who = util_strdup(""), text[16];
	size_t estimated = 0, have = 0;

	for (size_t i = 0; i < m->n; i++) {
		size_t k = result_find_metric(m->r[i], name);

		if (k == SIZE_MAX)
			continue;
		have++;
		if (m->r[i]->metric[k].estimated) {
			char *longer = util_asprintf("%s%s%s", who, *who ? ", " : "", label(i, text, sizeof(text)));

			free(who);
			who = longer;
			estimated++;
		}
	}
	if (estimated && estimated < have)
		report_paragraph(m->f, m->o,
				 "%s is estimated (~) in %s and counted in the others: do not compare across.", name,
				 who);
	free(who);
}

/* Why values are missing: each reason once for each result. */
static void print_missing(const struct merge *m, const char *condition, const char *metric)
{
	for (size_t i = 0; i < m->n; i++) {
		const struct result *r = m->r[i];
		size_t c = find_condition(r, condition), k = result_find_metric(r, metric), n = 0;
		struct { const char *why; char *who; } note[MISSING_NOTES];
		char text[16];

		for (size_t a = 0; a < r->narm && c != SIZE_MAX && k != SIZE_MAX; a++) {
			const char *why = report_value_missing(r, c, a, k);
			size_t at = 0;
			char *longer;

			while (why && at < n && strcmp(note[at].why, why))
				at++;
			if (!why || at == MISSING_NOTES)
				continue;
			if (at == n) {
				note[n].why = why;
				note[n++].who = util_strdup(r->arm[a].name);
				continue;
			}
			if (strlen(note[at].who) > 200)
				continue;
			longer = util_asprintf("%s, %s", note[at].who, r->arm[a].name);
			free(note[at].who);
			note[at].who = longer;
		}
		for (size_t at = 0; at < n; at++) {
			report_wrap(m->f, m->o, "  ", 4, "%s: %s %s: %s", label(i, text, sizeof(text)), note[at].who,
				    report_missing_word(note[at].why), report_missing_reason(note[at].why));
			free(note[at].who);
		}
	}
}

static int print_metric(struct merge *m, const char *condition, const char *name)
{
	static const char *const words[] = {
		[BETTER_LOWER] = "lower is better",
		[BETTER_HIGHER] = "higher is better",
		[BETTER_NONE] = "no direction",
	};
	const struct result_metric *metric;
	struct table *table = table_new(m->o);
	bool side = m->n <= SIDE_BY_SIDE;
	char text[16];
	int err;

	if (!metric_agrees(m, name, &metric)) {
		table_free(table);
		report_paragraph(
			m->f, m->o,
			"%s: not merged, its unit or direction is not the same in all results; see each by itself.",
			name);
		return 0;
	}
	collect_rows(m, condition);
	if (m->o->format == REPORT_TEXT)
		fputc('\n', m->f);
	report_paragraph(m->f, m->o, "%s%s%s%s%s%s: %s; medians", condition, *condition ? ", " : "", name,
			 metric->estimated ? "~" : "", metric->unit && *metric->unit ? " in " : "",
			 metric->unit ? metric->unit : "", words[metric->better]);
	say_estimated(m, name);
	table_column(table, TABLE_LEFT, "arm");
	if (!side)
		table_column(table, TABLE_LEFT, "result");
	for (size_t i = 0; i < (side ? m->n : 1); i++) {
		table_column(table, TABLE_DECIMAL, side ? label(i, text, sizeof(text)) : "value");
		table_column(table, TABLE_LEFT, m->n <= 2 ? "against its reference" : "verdict");
	}
	for (size_t i = 0; i < m->nrow; i++) {
		if (side) {
			side_by_side(m, table, m->row[i], condition, name);
			continue;
		}
		for (const struct member *at = m->row[i];
		     at < m->member + m->nmember && !strcmp(at->name, m->row[i]->name); at++) {
			char *clean = report_name(at->name, m->o);

			table_cell(table, STYLE_PLAIN, "%s", clean);
			free(clean);
			table_cell(table, STYLE_PLAIN, "%s", label(at->file, text, sizeof(text)));
			value_cells(m, table, at, condition, name);
		}
	}
	err = table_print(m->f, table, m->o);
	table_free(table);
	print_missing(m, condition, name);
	return err;
}

static void print_legend(const struct merge *m)
{
	char text[16];

	for (size_t i = 0; i < m->n; i++) {
		const struct result *r = m->r[i];
		const char *cpu = result_env(r, "cpu_model"), *kernel = result_env(r, "kernel"),
			   *hypervisor = result_env(r, "hypervisor");
		char *prefix = util_asprintf("%s: ", label(i, text, sizeof(text)));

		report_wrap(m->f, m->o, prefix, 4, "%s; %s; Linux %s; hypervisor %s%s%s", r->file ? r->file : "-",
			    cpu ? cpu : "CPU not known", kernel ? kernel : "not known",
			    hypervisor ? hypervisor : "not known", r->partial ? "; PARTIAL" : "",
			    r->interleaved ? "" : "; not interleaved");
		free(prefix);
	}
}

/* Encodings that are not the same in all results: the same name is then not the same instruction. */
static void print_encodings(const struct merge *m)
{
	for (size_t i = 0; i < m->nmember; i++) {
		const struct member *first = &m->member[i], *last = first;
		const char *bytes = m->r[first->file]->arm[first->arm].bytes;

		while (last + 1 < m->member + m->nmember && !strcmp(last[1].name, first->name)) {
			const char *other = m->r[last[1].file]->arm[last[1].arm].bytes;

			last++;
			if (bytes && other && strcmp(bytes, other)) {
				report_wrap(m->f, m->o, "note: ", 6, "%s is not the same code everywhere: %s, %s",
					    first->name, bytes, other);
				break;
			}
		}
		while (i + 1 < m->nmember && !strcmp(m->member[i + 1].name, first->name))
			i++;
	}
}

/* Every name of a list over all results once, in order of appearance. */
struct names {
	const char **name;
	size_t n;
};

static void names_add(struct names *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++)
		if (!strcmp(x->name[i], name))
			return;
	x->name = util_realloc(x->name, x->n + 1, sizeof(*x->name));
	x->name[x->n++] = name;
}

static int merge_text(struct merge *m)
{
	struct names metrics = { 0 }, conditions = { 0 };
	int err = 0;

	for (size_t i = 0; i < m->n; i++) {
		const struct result *r = m->r[i];
		size_t headline;

		if (m->o->metric) {
			if (!report_pick_metric(r, m->o, &headline, NULL))
				names_add(&metrics, r->metric[headline].name);
		}
		for (size_t k = 0; k < r->nmetric && !m->o->metric; k++)
			names_add(&metrics, r->metric[k].name);
		for (size_t c = 0; c < r->ncondition; c++)
			names_add(&conditions, r->condition[c].name);
	}
	fputs(m->o->format == REPORT_MARKDOWN ? "## " : "", m->f);
	report_paragraph(m->f, m->o, "perf relax report: %zu results", m->n);
	print_legend(m);
	for (size_t c = 0; c < conditions.n && !err; c++)
		for (size_t k = 0; k < metrics.n && !err; k++) {
			bool any = false;

			/* a metric that no result has a value of is not worth a table */
			for (size_t i = 0; i < m->n && !any; i++) {
				size_t at = result_find_metric(m->r[i], metrics.name[k]),
				       where = find_condition(m->r[i], conditions.name[c]);

				for (size_t a = 0; at != SIZE_MAX && where != SIZE_MAX && a < m->r[i]->narm && !any;
				     a++)
					any = !report_value_missing(m->r[i], where, a, at);
			}
			if (any)
				err = print_metric(m, conditions.name[c], metrics.name[k]);
		}
	if (!err)
		print_encodings(m);
	free(metrics.name);
	free(conditions.name);
	return err;
}

int report_print_many(FILE *f, struct result *const *r, size_t n, const struct report_options *o, struct reason *why)
{
	struct merge m = { .f = f, .r = r, .n = n, .o = o };
	bool have_metric = false, have_column = false;
	size_t arms = 0;
	int err;

	/* a metric or column that one of them has will do */
	for (size_t i = 0; i < n; i++) {
		size_t metric;

		have_metric = have_metric || !report_pick_metric(r[i], o, &metric, why);
		have_column = have_column || !report_check_sort(r[i], o, why);
	}
	if (n && (!have_metric || !have_column))
		return -EINVAL;
	if (o->format == REPORT_CSV)
		return report_csv(f, r, n, o);
	if (o->format == REPORT_JSON)
		return report_json(f, r, n, o);
	if (n == 1) {
		err = report_text(f, r[0], o, why);
		if (!err)
			report_irq_table(f, r, n, o);
		return err;
	}
	m.index = util_calloc(n, sizeof(*m.index));
	for (size_t i = 0; i < n; i++) {
		m.index[i] = comparison_index_new(r[i]);
		arms += r[i]->narm;
	}
	m.member = util_calloc(arms, sizeof(*m.member));
	m.row = util_calloc(arms, sizeof(*m.row));
	err = merge_text(&m);
	if (!err)
		report_irq_table(f, r, n, o);
	for (size_t i = 0; i < n; i++)
		comparison_index_free(m.index[i]);
	free(m.index);
	free(m.member);
	free(m.row);
	return err ? err : ferror(f) ? -EIO : 0;
}
