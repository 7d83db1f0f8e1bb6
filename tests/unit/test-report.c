/* SPDX-License-Identifier: GPL-2.0-only */
/* What is printed: every format, what is missing, what is below resolution, hostile names. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report.h"

static const struct report_options plain = { .format = REPORT_TEXT };

static struct result *sample(void)
{
	struct result *r = result_new("stat", 0, NULL, 4711);
	static const double ns[] = { 17.7, 17.7, 18.9, 0, 5.5 };
	struct random_state s;

	random_seed(&s, 5);
	result_add_arm(r, "pause", "hint", "f3 90", "pause");
	result_add_arm(r, "rep-nop", "hint", "f3 90", "rep; nop");
	result_add_arm(r, "rep-pause", "hint", "f3 f3 90", NULL);
	result_add_arm(r, "nop", "hint", "90", NULL);
	result_add_arm(r, "cmpxchg", "atomic", "f0 48 0f b1 0f 11 22 33 44 55", NULL);
	result_add_arm(r, "tpause", "hint", NULL, NULL);
	r->arm[1].twin_of = 0;
	result_arm_absent(r, 5, "this CPU lacks WAITPKG");
	result_add_metric(r, "ns", "ns/op", BETTER_LOWER, false, true);
	result_add_metric(r, "cycles", "cycles/op", BETTER_LOWER, true, false);
	result_add_metric(r, "instructions:u", "instructions/op", BETTER_NONE, false, false);
	result_add_condition(r, "");
	for (size_t i = 0; i < 24; i++)
		for (size_t a = 0; a < 5; a++) {
			double x = ns[a] + 0.02 * (random_unit(&s) - 0.5);

			result_put(r, 0, a, 0, i, value_of(x));
			result_put(r, 0, a, 1, i, value_of(3.6 * x));
			result_put(r, 0, a, 2, i, value_missing("not counted: the counter had no time"));
		}
	r->elapsed_s = 2;
	result_set_env(r, "cpu_model", "Some CPU", NULL);
	result_warn(r, WARN_HYPERVISOR, "KVM");
	result_compare(r, 0, 0, 0);
	return r;
}

/* Print @r; the caller frees. */
static char *printed(const struct result *r, const struct report_options *o)
{
	char *text = NULL;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);
	struct reason why = { 0 };

	assert_non_null(f);
	if (report_print(f, r, o, &why))
		fail_msg("report_print: %s", why.text);
	fclose(f);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void assert_lacks(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' should not be in:\n%s", part, text);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *p = strstr(text, part); p; p = strstr(p + 1, part))
		n++;
	return n;
}

/* The line that begins with @name (after a blank). */
static char *line_of(const char *text, const char *name)
{
	char *start = util_asprintf("\n %s ", name);
	const char *at = strstr(text, start);
	char *line;

	free(start);
	if (!at)
		fail_msg("no line of '%s' in:\n%s", name, text);
	line = strndup(at + 1, strcspn(at + 1, "\n"));
	return line;
}

/* Wrapped text as one line. */
static char *unwrapped(const char *text)
{
	char *flat = util_calloc(strlen(text) + 1, 1), *p = flat;

	for (; *text; text++) {
		bool blank = *text == ' ' || *text == '\n';

		if (!blank || p == flat || p[-1] != ' ')
			*p++ = blank ? ' ' : *text;
	}
	return flat;
}

static void test_text(void **state)
{
	struct result *r = sample();
	char *text = printed(r, &plain), *line, *flat;

	(void)state;
	assert_has(text, "ns, cycles~: lower is better; instructions:u: no direction");
	line = line_of(text, "pause");
	assert_has(line, "reference");
	assert_has(line, " 17.");
	free(line);
	line = line_of(text, "rep-nop");
	assert_has(line, "same (null)");
	free(line);
	line = line_of(text, "rep-pause");
	assert_has(line, "slower");
	assert_has(line, "+6.");
	free(line);
	line = line_of(text, "nop");
	assert_has(line, "(0 \u00b1 ");
	assert_has(line, "faster");
	free(line);
	line = line_of(text, "tpause");
	assert_has(line, "<not supported>");
	free(line);
	line = line_of(text, "cmpxchg");
	assert_has(line, "f0 48 0f b1 0f +5");
	free(line);
	assert_has(text, "below resolution");
	flat = unwrapped(text);
	/* each reason once */
	assert_int_equal(count(flat, "this CPU lacks WAITPKG"), 1);
	assert_int_equal(count(flat, "the counter had no time"), 1);
	assert_has(flat, "instructions:u <not counted>");
	assert_has(flat, "null control: rep-nop against pause (the same bytes)");
	assert_has(flat, "confidence 95 %");
	assert_has(flat, "same = within \u00b11 %");
	assert_has(flat, "24 rounds");
	assert_has(flat, "6 comparisons in this run");
	assert_has(flat, "a hypervisor is present");
	assert_has(flat, "[hypervisor]");
	assert_has(flat, "Some CPU");
	assert_has(flat, "seed: 4711");
	free(flat);
	assert_lacks(text, "nan");
	assert_lacks(text, "inf");
	assert_lacks(text, "\033");
	free(text);
	result_free(r);
}

static void test_ascii_and_colour(void **state)
{
	struct report_options o = { .ascii = true, .colour = true };
	struct result *r = sample();
	char *text = printed(r, &o);

	(void)state;
	for (const char *p = text; *p; p++)
		assert_true((unsigned char)*p < 0x80);
	assert_has(text, "(0 +- ");
	assert_has(text, "\033[31mslower\033[0m");
	free(text);
	result_free(r);
}

static void test_quiet_and_verbose(void **state)
{
	struct report_options o = { .verbosity = -1 };
	struct result *r = sample();
	char *text = printed(r, &o);

	(void)state;
	assert_lacks(text, "warning:");
	free(text);
	o.verbosity = 1;
	text = printed(r, &o);
	assert_has(text, "f0 48 0f b1 0f 11 22 33 44 55");
	assert_has(text, "other metrics");
	assert_has(text, "rep; nop");
	free(text);
	result_free(r);
}

/* A name is text from outside: nothing of it reaches a terminal as control, or breaks a table. */
static void test_hostile_names(void **state)
{
	static const enum report_format formats[] = { REPORT_TEXT, REPORT_MARKDOWN };
	struct result *r = sample();

	(void)state;
	free(r->arm[2].name);
	r->arm[2].name = util_strdup("evil\033[2J\n\xff\xc2\x9b|`x`");
	free(r->metric[1].name);
	r->metric[1].name = util_strdup("cyc\033[1mles");
	free(r->metric[1].unit);
	r->metric[1].unit = util_strdup("\x1b]0;title\x07");
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct report_options o = { .format = formats[i] };
		char *text = printed(r, &o);

		assert_lacks(text, "\033");
		assert_lacks(text, "\xff");
		assert_lacks(text, "\xc2\x9b");
		assert_has(text, "evil?[2J???");
		if (formats[i] == REPORT_MARKDOWN)
			assert_has(text, "\\|\\`x\\`");
		free(text);
	}
	result_free(r);
}

static void test_csv(void **state)
{
	struct report_options o = { .format = REPORT_CSV };
	struct result *r = sample();
	char *text, *save = NULL;
	size_t lines = 0;

	(void)state;
	free(r->arm[2].name);
	r->arm[2].name = util_strdup("a,\"b\"");
	text = printed(r, &o);
	assert_has(text, ",\"a,\"\"b\"\"\",");
	assert_has(text, ",not supported,this CPU lacks WAITPKG,");
	assert_has(text, ",below resolution,");
	assert_lacks(text, "nan");
	assert_lacks(text, "inf");
	free(text);
	o.csv_sep = ";";
	text = printed(r, &o);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_int_equal(count(line, ";"), 20);
		lines++;
	}
	assert_int_equal(lines, 1 + 6 * 3);
	free(text);
	result_free(r);
}

/*
 * perf's own test of its output counts the separators: 6 without aggregation. Its JSON linter knows these seven keys
 * and no others.
 */
static void test_perf_forms(void **state)
{
	static const char *const keys[] = { "counter-value", "unit",	     "event",	   "event-runtime",
					    "pcnt-running",  "metric-value", "metric-unit" };
	struct result *r = sample();
	char *text = NULL, *save = NULL;
	size_t size = 0, lines = 0;
	FILE *f;

	(void)state;
	free(r->arm[2].name);
	r->arm[2].name = util_strdup("a, \"b");
	f = open_memstream(&text, &size);
	assert_int_equal(report_perf_csv(f, r, ","), 0);
	fclose(f);
	assert_has(text, ",ns/op,pause/ns/,2000000000,100.00,,\n");
	assert_has(text, "<not supported>,ns/op,tpause/ns/,0,100.00,,\n");
	assert_has(text, "<not counted>,instructions/op,pause/instructions:u/,0,100.00,,\n");
	assert_has(text, ",cycles/op,rep-nop/cycles~/,");
	assert_has(text, "% vs pause (same)\n");
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		/* perf's check looks at the commas alone, quoted or not: names have none */
		assert_int_equal(count(line, ","), 6);
		lines++;
	}
	assert_int_equal(lines, 6 * 3);
	free(text);
	f = open_memstream(&text, &size);
	assert_int_equal(report_perf_json(f, r), 0);
	fclose(f);
	save = NULL;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		assert_int_equal(count(line, ","), 6);
		for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
			char *key = util_asprintf("\"%s\" : ", keys[i]);

			assert_int_equal(count(line, key), 1);
			free(key);
		}
	}
	free(text);
	result_free(r);
}

/* Order of the rows of a text. */
static void assert_order(const struct result *r, const char *sort, const char *const *names)
{
	struct report_options o = { .sort = sort };
	char *text = printed(r, &o);
	const char *at = text;

	for (; *names; names++) {
		char *start = util_asprintf("\n %s ", *names);
		const char *next = strstr(at, start);

		if (!next)
			fail_msg("--sort %s: '%s' is not where it should be in:\n%s", sort, *names, text);
		at = next + 1;
		free(start);
	}
	free(text);
}

static void test_sort(void **state)
{
	static const char *const by_ns[] = { "nop", "cmpxchg", "rep-nop", "rep-pause", "tpause", NULL };
	static const char *const by_ns_down[] = { "rep-pause", "rep-nop", "cmpxchg", "nop", "tpause", NULL };
	static const char *const by_name[] = { "cmpxchg", "nop", "pause", "rep-nop", "rep-pause", "tpause", NULL };
	struct report_options o = { .sort = "weight" };
	struct result *r = sample();
	struct reason why = { 0 };

	(void)state;
	assert_order(r, "ns", by_ns);
	assert_order(r, "cycles~", by_ns);
	assert_order(r, "-ns", by_ns_down);
	assert_order(r, "name", by_name);
	assert_int_equal(report_print(stdout, r, &o, &why), -EINVAL);
	assert_has(why.text, "weight");
	o = (struct report_options){ .metric = "cycels" };
	assert_int_equal(report_print(stdout, r, &o, &why), -EINVAL);
	assert_has(why.text, "did you mean cycles");
	result_free(r);
}

/* One value, two, none; equal values; huge and tiny ones; zero and negative references. */
static void test_odd_values(void **state)
{
	static const double values[][2] = { { 1, 2 }, { 1e-12, 1.1e-12 }, { 1e18, 2e18 }, { 0, 0 },
					    { 0, 5 }, { -3, 3 },	  { 7, 7 } };
	static const enum report_format formats[] = { REPORT_TEXT, REPORT_CSV, REPORT_MARKDOWN, REPORT_JSON };

	(void)state;
	for (size_t rounds = 0; rounds < 9; rounds = rounds * 2 + 1)
		for (size_t i = 0; i < ARRAY_SIZE(values); i++)
			for (size_t k = 0; k < ARRAY_SIZE(formats); k++) {
				struct report_options o = { .format = formats[k], .ascii = true };
				struct result *r = result_new("x", 0, NULL, 0);
				char *text;

				result_add_arm(r, "one", NULL, NULL, NULL);
				result_add_arm(r, "two", NULL, NULL, NULL);
				result_add_metric(r, "m", "u", BETTER_HIGHER, false, false);
				result_add_condition(r, "");
				for (size_t n = 0; n < rounds; n++) {
					result_put(r, 0, 0, 0, n, value_of(values[i][0]));
					result_put(r, 0, 1, 0, n, value_of(values[i][1]));
				}
				assert_int_equal(result_compare(r, 0, 0, 0), 0);
				text = printed(r, &o);
				assert_lacks(text, "nan");
				if (formats[k] != REPORT_TEXT && formats[k] != REPORT_MARKDOWN)
					assert_lacks(text, "inf");
				if (!rounds && formats[k] == REPORT_TEXT)
					assert_has(text, "<not counted>");
				free(text);
				result_free(r);
			}
}

/* A long name loses its middle in a table, and nothing elsewhere. */
static void test_long_names(void **state)
{
	static const char name[] = "a-command-with-a-long-name --and-its-options --one \u00e9\u00e9\u00e9\u00e9 --another --the-last=1";
	struct report_options o = plain;
	struct result *r = sample();
	char *text;

	(void)state;
	free(r->arm[2].name);
	r->arm[2].name = util_strdup(name);
	text = printed(r, &o);
	assert_has(text, "\n a-command-with-a-long..-another --the-last=1 ");
	free(text);
	o.verbosity = 1;
	text = printed(r, &o);
	assert_has(text, name);
	free(text);
	o = (struct report_options){ .format = REPORT_CSV };
	text = printed(r, &o);
	assert_has(text, name);
	free(text);
	result_free(r);
}

/* Two groups of values are shown as two. */
static void test_modes(void **state)
{
	struct result *r = result_new("run", 0, NULL, 0);
	struct random_state s;
	char *text;

	(void)state;
	random_seed(&s, 9);
	result_add_arm(r, "one", NULL, NULL, NULL);
	result_add_metric(r, "wall", "ms", BETTER_LOWER, false, true);
	result_add_condition(r, "");
	for (size_t i = 0; i < 60; i++)
		result_put(r, 0, 0, 0, i, value_of((i % 2 ? 765 : 11) + random_unit(&s)));
	result_compare(r, 0, 0, 0);
	text = printed(r, &plain);
	assert_has(text, "two modes: one, wall: 11.");
	assert_has(text, "and 765.");
	free(text);
	result_free(r);
}

/* A hundred equal values and one other are neither two modes nor a warning. */
static void test_no_spread(void **state)
{
	struct result *r = result_new("run", 0, NULL, 0);
	char *text;

	(void)state;
	result_add_arm(r, "one", NULL, NULL, NULL);
	result_add_metric(r, "wall", "ms", BETTER_LOWER, false, true);
	result_add_condition(r, "");
	for (size_t i = 0; i < 101; i++)
		result_put(r, 0, 0, 0, i, value_of(i == 50 ? 0.6 : 0.5));
	result_compare(r, 0, 0, 0);
	text = printed(r, &plain);
	assert_lacks(text, "two modes");
	assert_lacks(text, "warning");
	assert_has(text, "0.5");
	free(text);
	result_free(r);
}

static void test_merge(void **state)
{
	struct result *r[3] = { sample(), sample(), sample() };
	struct report_options o = plain;
	struct reason why = { 0 };
	char *text = NULL, *line;
	size_t size = 0;
	FILE *f = open_memstream(&text, &size);

	(void)state;
	result_add_arm(r[1], "yield", "hint", NULL, NULL);
	result_put(r[1], 0, 6, 0, 0, value_of(1));
	free(r[2]->metric[1].unit);
	r[2]->metric[1].unit = util_strdup("Mcycles/op");
	assert_int_equal(report_print_many(f, r, 3, &o, &why), 0);
	fclose(f);
	line = line_of(text, "rep-pause");
	assert_int_equal(count(line, "slower"), 3);
	free(line);
	line = line_of(text, "yield");
	free(line);
	assert_has(text, "A: ");
	assert_has(text, "C: ");
	assert_has(text, "cycles: not merged");
	free(text);
	for (int i = 0; i < 3; i++)
		result_free(r[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_ascii_and_colour),
		cmocka_unit_test(test_quiet_and_verbose),
		cmocka_unit_test(test_hostile_names),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_perf_forms),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_odd_values),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_modes),
		cmocka_unit_test(test_no_spread),
		cmocka_unit_test(test_merge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
