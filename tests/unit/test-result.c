/* SPDX-License-Identifier: GPL-2.0-only */
/* The result model, its comparisons with their null controls, and its file. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "result.h"

static char dir[] = "/tmp/perf-relax-result.XXXXXX";

static char *in_dir(const char *name)
{
	return util_asprintf("%s/%s", dir, name);
}

static double noise(struct random_state *s)
{
	return random_unit(s) + random_unit(s) + random_unit(s) - 1.5;
}

/* pause and rep-nop with the same bytes, one arm 7 % slower, one of them absent; two metrics, two conditions. */
static struct result *sample(size_t rounds)
{
	char *const argv[] = { (char *)(uintptr_t) "perf-relax", (char *)(uintptr_t) "stat",
			       (char *)(uintptr_t) "it's; here" };
	struct result *r = result_new("stat", 3, argv, 12345);
	static const double ns[] = { 17.7, 17.7, 18.9, 0 };
	struct random_state s;

	random_seed(&s, 1);
	result_add_arm(r, "pause", "hint", "f3 90", "pause");
	result_add_arm(r, "rep-nop", "hint", "f3 90", "rep; nop");
	result_add_arm(r, "rep-pause", "hint", "f3 f3 90", NULL);
	result_add_arm(r, "tpause", "hint", NULL, NULL);
	r->arm[1].twin_of = 0;
	result_arm_absent(r, 3, "this CPU lacks WAITPKG");
	result_add_metric(r, "ns", "ns/op", BETTER_LOWER, false, true);
	result_add_metric(r, "cycles", "cycles/op", BETTER_LOWER, true, false);
	for (size_t c = 0; c < 2; c++) {
		result_add_condition(r, c ? "threads=2" : "threads=1");
		result_condition_set(r, c, "threads", c ? "2" : "1");
		for (size_t i = 0; i < rounds; i++)
			for (size_t a = 0; a < 3; a++) {
				double x = ns[a] * (1 + 0.002 * noise(&s));

				result_put(r, c, a, 0, i, value_of(x));
				result_put(r, c, a, 1, i, value_missing("no PMU: <not known>"));
				result_put_flags(r, c, a, i, i == 3 && a == 1 ? TRIAL_MIGRATED : 0);
			}
		result_condition_end(r, c, "rounds", 0, 1);
	}
	result_set_env(r, "cpu_model", "Some CPU \"quoted\"", NULL);
	result_set_env(r, "governor", NULL, "no cpufreq");
	r->elapsed_s = 1.5;
	return r;
}

static void test_building(void **state)
{
	struct result *r = sample(12);

	(void)state;
	assert_int_equal(r->narm, 4);
	assert_int_equal(r->rounds[1], 12);
	assert_string_equal(r->command_line, "perf-relax stat 'it'\\''s; here'");
	assert_string_equal(result_env(r, "cpu_model"), "Some CPU \"quoted\"");
	assert_null(result_env(r, "governor"));
	assert_null(result_env(r, "nothing"));
	assert_int_equal(result_flags(r, 0, 1, 3), TRIAL_MIGRATED);
	assert_int_equal(result_flags(r, 0, 1, 4), 0);
	/* never put: failed */
	assert_int_equal(result_flags(r, 0, 3, 0), TRIAL_FAILED);
	assert_int_equal(result_flags(r, 0, 0, 99999), TRIAL_FAILED);
	assert_string_equal(result_series(r, 0, 0, 1)->why, "no PMU: <not known>");
	assert_int_equal(result_find_arm(r, "rep-pause"), 2);
	assert_true(result_find_arm(r, "none") == SIZE_MAX);
	assert_int_equal(result_headline(r), 0);
	result_free(r);
}

/* Values come in any order, rounds with holes, arms and metrics after values. */
static void test_growing(void **state)
{
	struct result *r = result_new("x", 0, NULL, 0);
	double a[64], b[64];
	size_t later;

	(void)state;
	result_add_arm(r, "a", NULL, NULL, NULL);
	result_add_arm(r, "b", NULL, NULL, NULL);
	result_add_metric(r, "m", NULL, BETTER_NONE, false, false);
	result_add_condition(r, NULL);
	result_put(r, 0, 0, 0, 5, value_of(5));
	result_put(r, 0, 0, 0, 2, value_of(2));
	result_put(r, 0, 1, 0, 2, value_of(20));
	result_put(r, 0, 1, 0, 5, value_of(50));
	result_put(r, 0, 1, 0, 6, value_of(60));
	result_put_flags(r, 0, 1, 6, TRIAL_FAILED | TRIAL_STOLEN);
	for (int i = 0; i < 20; i++)
		result_add_arm(r, "more", NULL, NULL, NULL);
	later = result_add_metric(r, "later", "u", BETTER_HIGHER, false, false);
	result_add_metric(r, "latest", "u", BETTER_HIGHER, false, false);
	result_add_condition(r, "second");
	assert_int_equal(r->rounds[0], 7);
	assert_int_equal(result_flags(r, 0, 0, 3), TRIAL_FAILED);
	assert_int_equal(result_flags(r, 0, 0, 5), 0);
	assert_int_equal(result_flags(r, 0, 1, 6), TRIAL_FAILED | TRIAL_STOLEN);
	assert_int_equal(result_values(r, 0, 1, 0, a), 2);	/* the failed one is none */
	assert_int_equal(result_paired(r, 0, 1, 0, 0, a, b), 2);
	assert_true(a[0] == 20 && b[0] == 2 && a[1] == 50 && b[1] == 5);
	/* a failed trial stays failed whichever comes first */
	result_put(r, 0, 1, 0, 6, value_of(61));
	assert_int_equal(result_values(r, 0, 1, 0, a), 2);
	/* what is no number is missing */
	result_put(r, 1, 3, later, 0, value_of(NAN));
	result_put(r, 1, 3, later, 1, value_of(INFINITY));
	assert_int_equal(result_values(r, 1, 3, later, a), 0);
	assert_non_null(result_series(r, 1, 3, later)->why);
	result_free(r);
}

static void test_comparing(void **state)
{
	struct result *r = sample(30);
	const struct comparison *c;

	(void)state;
	assert_int_equal(result_compare(r, 99, 0, 0), -EINVAL);
	assert_int_equal(result_compare(r, 0, 0, COMPARE_EARLY), 0);
	c = result_find_comparison(r, 1, 0, 2);
	assert_non_null(c);
	assert_int_equal(c->verdict, VERDICT_SLOWER);
	assert_int_equal(c->method, METHOD_PAIRED);
	assert_true(c->flags & COMPARE_EARLY);
	assert_true(fabs(expm1(c->interval.estimate) - (18.9 / 17.7 - 1)) < 0.005);
	assert_null(result_find_comparison(r, 0, 0, 0));	/* the reference itself */
	assert_null(result_find_comparison(r, 0, 0, 3));	/* absent */
	assert_null(result_find_comparison(r, 0, 1, 2));	/* no values */
	/* rep-nop is the null control of the reference */
	assert_non_null(result_find_null(r, 0, 0));
	assert_int_equal(result_find_null(r, 0, 0)->arm, 1);
	assert_int_equal(result_find_comparison(r, 0, 0, 1)->verdict, VERDICT_SAME);
	assert_int_equal(result_comparisons_counted(r), 2);
	assert_int_equal(r->nwarning, 0);
	/* again, and one condition only: nothing is there twice */
	assert_int_equal(result_compare_condition(r, 1, 0, 0.99, 0), 0);
	assert_int_equal(result_comparisons_counted(r), 2);
	assert_true(result_find_comparison(r, 1, 0, 2)->interval.level > 0.98);
	assert_true(result_find_comparison(r, 0, 0, 2)->interval.level < 0.98);
	result_free(r);
}

/* With another reference the twins are compared with one another, beside the comparisons with the reference. */
static void test_null_elsewhere(void **state)
{
	struct result *r = sample(30);
	const struct result_comparison *null;

	(void)state;
	assert_int_equal(result_compare(r, 2, 0, 0), 0);
	null = result_find_null(r, 0, 0);
	assert_non_null(null);
	assert_int_equal(null->arm, 1);
	assert_int_equal(null->reference, 0);
	assert_int_equal(result_find_comparison(r, 0, 0, 1)->verdict, VERDICT_FASTER);
	assert_int_equal(result_comparisons_counted(r), 4);
	result_free(r);
}

/* A null control that is told apart is a warning; effects within its reach are withdrawn. */
static void test_null_differs(void **state)
{
	struct result *r = result_new("stat", 0, NULL, 0);
	struct random_state s;
	bool warned = false;

	(void)state;
	random_seed(&s, 2);
	for (int a = 0; a < 3; a++)
		result_add_arm(r, a == 0 ? "a" : a == 1 ? "twin" : "b", NULL, a < 2 ? "90" : "91", NULL);
	r->arm[1].twin_of = 0;
	result_add_metric(r, "ns", "ns", BETTER_LOWER, false, true);
	result_add_condition(r, "");
	for (size_t i = 0; i < 40; i++) {
		double base = 10 * (1 + 0.001 * noise(&s));

		result_put(r, 0, 0, 0, i, value_of(base));
		result_put(r, 0, 1, 0, i, value_of(base * 1.05 * (1 + 0.001 * noise(&s))));
		result_put(r, 0, 2, 0, i, value_of(base * 1.03 * (1 + 0.001 * noise(&s))));
	}
	assert_int_equal(result_compare(r, 0, 0, 0), 0);
	assert_int_equal(result_find_comparison(r, 0, 0, 1)->verdict, VERDICT_SLOWER);
	assert_int_equal(result_find_comparison(r, 0, 0, 2)->verdict, VERDICT_CANNOT_TELL);
	assert_true(result_find_comparison(r, 0, 0, 2)->flags & COMPARE_BELOW_NULL);
	for (size_t i = 0; i < r->nwarning; i++)
		warned = warned || r->warning[i].id == WARN_NULL_DIFFERS;
	assert_true(warned);
	assert_int_equal(result_compare(r, 0, 0, 0), 0);
	assert_int_equal(r->nwarning, 1);	/* found anew, not added */
	result_free(r);
}

static void test_derived_warnings(void **state)
{
	struct result *r = sample(20);
	unsigned int seen = 0;

	(void)state;
	for (size_t i = 0; i < 20; i++)
		result_put_flags(r, 0, 0, i, TRIAL_DESCHEDULED);
	result_put_flags(r, 1, 2, 7, TRIAL_FAILED);
	result_series(r, 0, 2, 0)->running_share = 0.4;
	result_compare(r, 0, 0, 0);
	for (size_t i = 0; i < r->nwarning; i++)
		seen |= 1u << r->warning[i].id;
	assert_int_equal(seen, 1u << WARN_INTERFERENCE | 1u << WARN_FAILED_TRIALS | 1u << WARN_MULTIPLEXED);
	result_free(r);
}

static void write_text(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

static char *read_text(const char *path, size_t *n)
{
	FILE *f = fopen(path, "r");
	char *text = util_calloc(1 << 20, 1);

	assert_non_null(f);
	*n = fread(text, 1, (1 << 20) - 1, f);
	fclose(f);
	return text;
}

static void assert_same_results(const struct result *a, const struct result *b)
{
	assert_int_equal(a->seed, b->seed);
	assert_string_equal(a->command_line, b->command_line);
	assert_int_equal(a->narm, b->narm);
	assert_int_equal(a->nmetric, b->nmetric);
	assert_int_equal(a->ncondition, b->ncondition);
	assert_int_equal(a->ncomparison, b->ncomparison);
	assert_int_equal(a->nwarning, b->nwarning);
	assert_int_equal(a->reference, b->reference);
	assert_true(a->interleaved == b->interleaved && a->partial == b->partial);
	for (size_t c = 0; c < a->ncondition; c++)
		for (size_t i = 0; i < a->narm; i++) {
			assert_int_equal(a->arm[i].twin_of, b->arm[i].twin_of);
			for (size_t k = 0; k < a->rounds[c]; k++)
				assert_int_equal(result_flags(a, c, i, k), result_flags(b, c, i, k));
			for (size_t m = 0; m < a->nmetric; m++) {
				const struct result_series *x = result_series(a, c, i, m),
							   *y = result_series(b, c, i, m);

				assert_int_equal(x->n, y->n);
				for (size_t k = 0; k < x->n; k++)
					assert_true(x->value[k] == y->value[k] ||
						    (isnan(x->value[k]) && isnan(y->value[k])));
			}
		}
	for (size_t i = 0; i < a->ncomparison; i++) {
		const struct result_comparison *x = &a->comparison[i];
		bool found = false;

		for (size_t k = 0; k < b->ncomparison; k++) {
			const struct result_comparison *y = &b->comparison[k];

			found = found ||
				(x->condition == y->condition && x->metric == y->metric && x->arm == y->arm &&
				 x->reference == y->reference && x->null_control == y->null_control &&
				 x->c.verdict == y->c.verdict && x->c.flags == y->c.flags &&
				 x->c.interval.low == y->c.interval.low && x->c.interval.high == y->c.interval.high &&
				 x->c.interval.estimate == y->c.interval.estimate &&
				 x->c.detectable == y->c.detectable && x->c.rounds_needed == y->c.rounds_needed &&
				 x->c.margin == y->c.margin && x->c.p_value == y->c.p_value);
		}
		assert_true(found);
	}
}

static void test_round_trip(void **state)
{
	struct reason why = { 0 };
	char *one = in_dir("one.json"), *two = in_dir("two.json"), *first, *second;

	(void)state;
	for (size_t rounds = 1; rounds <= 40; rounds = rounds * 2 + 1)
		for (size_t reference = 0; reference < 3; reference += 2) {
			struct result *r = sample(rounds), *back;
			size_t n, m;

			r->seed = rounds > 20 ? UINT64_MAX : 7;
			r->partial = rounds > 10;
			result_put_flags(r, 0, 2, 0, TRIAL_FAILED);
			result_compare(r, reference, 0, 0);
			result_warn(r, WARN_HYPERVISOR, "KVM");
			assert_int_equal(result_write(r, one, &why), 0);
			assert_int_equal(result_read(one, &back, &why), 0);
			assert_same_results(r, back);
			/* and once more: the same bytes */
			assert_int_equal(result_write(back, two, &why), 0);
			first = read_text(one, &n);
			second = read_text(two, &m);
			assert_int_equal(n, m);
			assert_memory_equal(first, second, n);
			free(first);
			free(second);
			result_free(r);
			result_free(back);
		}
	free(one);
	free(two);
}

/* Extreme numbers read back as they were. */
static void test_numbers(void **state)
{
	static const double numbers[] = {
		0,
		-0.0,
		1e-12,
		1e18,
		1.7976931348623157e308,
		5e-324,
		0.1,
		1.0 / 3,
		9007199254740993.0,
		-17.699999999999999,
		123456789.123456789,
	};
	struct result *r = result_new("x", 0, NULL, 0), *back;
	struct reason why = { 0 };
	char *path = in_dir("numbers.json");

	(void)state;
	result_add_arm(r, "a", NULL, NULL, NULL);
	result_add_metric(r, "m", "u", BETTER_NONE, false, false);
	result_add_condition(r, "");
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		result_put(r, 0, 0, 0, i, value_of(numbers[i]));
	assert_int_equal(result_write(r, path, &why), 0);
	assert_int_equal(result_read(path, &back, &why), 0);
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		assert_true(result_series(back, 0, 0, 0)->value[i] == numbers[i]);
	result_free(r);
	result_free(back);
	free(path);
}

/* Names that are not UTF-8, or full of quotes and control characters. */
static void test_strings(void **state)
{
	struct result *r = result_new("x", 0, NULL, 0), *back;
	struct reason why = { 0 };
	char *path = in_dir("strings.json");

	(void)state;
	result_add_arm(r, "bad \xff\xfe byte \xc3\xa9 \xe2\x82", NULL, NULL, "\"\\\n\t\x01");
	result_add_metric(r, "m", "u", BETTER_NONE, false, false);
	result_add_condition(r, "");
	assert_int_equal(result_write(r, path, &why), 0);
	assert_int_equal(result_read(path, &back, &why), 0);
	assert_string_equal(back->arm[0].name, "bad \xef\xbf\xbd\xef\xbf\xbd byte \xc3\xa9 \xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(back->arm[0].text, "\"\\\n\t\x01");
	result_free(r);
	result_free(back);
	free(path);
}

/* Every file that is cut short or has a byte changed is refused or read, never worse. */
static void test_damage(void **state)
{
	struct result *r = sample(3), *back;
	struct reason why = { 0 };
	char *path = in_dir("whole.json"), *cut = in_dir("cut.json"), *text;
	struct random_state s;
	size_t n, end;

	(void)state;
	random_seed(&s, 3);
	result_compare(r, 0, 0, 0);
	assert_int_equal(result_write(r, path, &why), 0);
	text = read_text(path, &n);
	end = n;
	while (text[end - 1] == '\n')
		end--;
	for (size_t i = 0; i < end; i += i < 600 || i > end - 600 ? 1 : 37) {
		write_text(cut, text, i);
		assert_int_equal(result_read(cut, &back, &why), -EINVAL);
		assert_null(back);
		assert_non_null(strstr(why.text, "line "));
	}
	for (int i = 0; i < 2000; i++) {
		size_t at = random_below(&s, n);
		char old = text[at];

		text[at] = (char)random_below(&s, 256);
		write_text(cut, text, n);
		if (!result_read(cut, &back, &why))
			result_compare(back, 0, 0, 0);
		result_free(back);
		text[at] = old;
	}
	free(text);
	free(path);
	free(cut);
	result_free(r);
}

struct refused {
	const char *text, *words;
	int err;
};

#define HEAD "{\"format\": \"perf-relax\", \"version\": 1, "
#define LISTS "\"metrics\": [{\"name\": \"m\"}], \"arms\": [{\"name\": \"a\"}], "

static void test_refused(void **state)
{
	static const struct refused cases[] = {
		{ "", "line 1, column 1: the file is empty", EINVAL },
		{ "hello", "does not begin with", EINVAL },
		{ "[1]", "does not begin with", EINVAL },
		{ "{}", "no \"format\"", EINVAL },
		{ "{\"format\": \"other\", \"version\": 1}", "its \"format\" is \"other\"", EINVAL },
		{ "{\"format\": \"perf-relax\"}", "\"version\"", EINVAL },
		{ "{\"format\": \"perf-relax\", \"version\": 2}",
		  "is version 2 of the result format; this perf-relax reads version 1", EPROTONOSUPPORT },
		{ "{\"format\": \"perf-relax\", \"version\": 2, \"arms\": {\"new\": true}}", "is version 2",
		  EPROTONOSUPPORT },
		{ "{\"format\": \"perf-relax\", \"version\": \"1\"}", "must be a number", EINVAL },
		{ "{\"format\": \"perf-relax\", \"version\": 0}", "outside", EINVAL },
		{ HEAD "\"format\": \"perf-relax\"}", "there twice", EINVAL },
		{ HEAD "\"metrics\": []}", "\"arms\" is missing", EINVAL },
		{ HEAD LISTS "\"conditions\": {}}", "must be an array", EINVAL },
		{ HEAD LISTS "\"conditions\": []} x", "after the end", EINVAL },
		{ HEAD LISTS "\"conditions\": [7]}", "expected an object", EINVAL },
		{ HEAD LISTS "\"conditions\": [{\"arms\": [{\"arm\": \"b\"}]}]}", "names \"b\"", EINVAL },
		{ HEAD LISTS "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"x\": {}}}]}]}",
		  "\"x\" is not in", EINVAL },
		{ HEAD LISTS
		  "\n\"conditions\": [{\"arms\": [\n  {\"arm\": \"a\", \"metrics\": {\"m\": {\"values\": [1, \"2\"]}}}]}]}",
		  "line 3, column 3", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"values\": [NaN]}}}]}]}",
		  "line 1", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"values\": [1e999]}}}]}]}",
		  "line 1", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"summary\": {\"n\": 3}}}}]}]}",
		  "needs its \"mean\"", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"summary\": {\"n\": 3, \"mean\": 1, \"sd\": -1}}}}]}]}",
		  "outside", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"summary\": {\"n\": 2.5, \"mean\": 1}}}}]}]}",
		  "whole number", EINVAL },
		{ HEAD LISTS
		  "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"metrics\": {\"m\": {\"values\": [1]}}}, "
		       "{\"arm\": \"a\", \"metrics\": {\"m\": {\"values\": [1]}}}]}]}",
		  "there twice", EINVAL },
		{ HEAD LISTS "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"trials\": {\"failed\": [99999999]}}]}]}",
		  "cannot have had", EINVAL },
		{ HEAD LISTS "\"conditions\": [{\"arms\": [{\"arm\": \"a\", \"trials\": {\"failed\": [-1]}}]}]}",
		  "numbers of rounds", EINVAL },
		{ HEAD "\"metrics\": [{\"name\": \"m\"}, {\"name\": \"m\"}], \"arms\": [], \"conditions\": []}",
		  "there twice", EINVAL },
		{ HEAD "\"metrics\": [{\"name\": \"m\", \"better\": \"bigger\"}], \"arms\": [], \"conditions\": []}",
		  "lower, higher or none", EINVAL },
		{ HEAD "\"metrics\": [], \"arms\": [{\"name\": \"a\", \"twin_of\": \"q\"}], \"conditions\": []}",
		  "no arm of this file", EINVAL },
		{ HEAD "\"seed\": -1, " LISTS "\"conditions\": []}", "\"seed\"", EINVAL },
		{ HEAD LISTS "\"reference\": \"zz\", \"conditions\": []}", "names \"zz\"", EINVAL },
		{ HEAD "\"x\": [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]], " LISTS
		       "\"conditions\": []}",
		  "nested deeper", EINVAL },
	};
	char *path = in_dir("refused.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct result *r = NULL;
		struct reason why = { 0 };
		int err;

		write_text(path, cases[i].text, strlen(cases[i].text));
		err = result_read(path, &r, &why);
		if (err != -cases[i].err || r || !strstr(why.text, cases[i].words))
			fail_msg("%s\n  gave %d \"%s\", wanted \"%s\"", cases[i].text, err, why.text, cases[i].words);
	}
	free(path);
}

static void test_accepted(void **state)
{
	static const char *const cases[] = {
		HEAD LISTS "\"conditions\": []}",
		" \n\t" HEAD LISTS "\"conditions\": [{}]}\n\n",
		HEAD LISTS
		"\"later\": {\"any\": [1, {\"x\": \"]}\\\"\"}]}, "
		"\"conditions\": [{\"later\": 1, \"arms\": [{\"arm\": \"a\", \"later\": null, \"metrics\": {}}]}]}",
		"{" LISTS "\"conditions\": [], \"version\": 1.0, \"format\": \"perf-relax\"}",
		HEAD LISTS
		"\"seed\": 18446744073709551615, \"conditions\": [], \"warnings\": [{\"id\": \"of-the-future\"}]}",
		HEAD LISTS
		"\"env\": {\"a\": null, \"b\": 7, \"c\": true, \"d\": {\"value\": \"x\"}}, \"conditions\": []}",
	};
	char *path = in_dir("accepted.json");

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct result *r = NULL;
		struct reason why = { 0 };

		write_text(path, cases[i], strlen(cases[i]));
		if (result_read(path, &r, &why))
			fail_msg("%s\n  gave \"%s\"", cases[i], why.text);
		result_free(r);
	}
	free(path);
}

static size_t entries(void)
{
	char *command = util_asprintf("ls -A %s | wc -l", dir);
	FILE *f = popen(command, "r");
	size_t n = 0;

	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu", &n), 1);
	pclose(f);
	free(command);
	return n;
}

/* Modes, links, and what is no file. */
static void test_places(void **state)
{
	struct result *r = sample(2);
	struct reason why = { 0 };
	char *path = in_dir("kept.json"), *link = in_dir("link.json"), *missing = in_dir("no/such.json");
	struct stat st;
	size_t before;

	(void)state;
	write_text(path, "old", 3);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink("kept.json", link), 0);
	before = entries();
	assert_int_equal(result_write(r, link, &why), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_true(st.st_size > 100);
	/* a link to what is not there yet */
	assert_int_equal(unlink(path), 0);
	assert_int_equal(result_write(r, link, &why), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(entries(), before);
	assert_int_equal(result_write(r, dir, &why), -EISDIR);
	assert_int_equal(result_write(r, missing, &why), -ENOENT);
	assert_int_equal(result_write(r, "", &why), -ENOENT);
	assert_int_equal(result_write(r, "/dev/null", &why), 0);
	if (!access("/dev/full", W_OK)) {
		assert_int_equal(result_write(r, "/dev/full", &why), -ENOSPC);
		assert_non_null(strstr(why.text, "/dev/full"));
	}
	unlink(link);
	unlink(path);
	/* a pipe without a reader is an error at once */
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(result_write(r, path, &why), -ENXIO);
	unlink(path);
	free(path);
	free(link);
	free(missing);
	result_free(r);
}

/* The names of the closed list. */
static void test_warnings(void **state)
{
	(void)state;
	for (enum result_warning i = 0; i < RESULT_WARNING_COUNT; i++) {
		assert_true(*result_warning_name(i) && *result_warning_text(i) && *result_warning_advice(i));
		for (enum result_warning k = 0; k < i; k++)
			assert_string_not_equal(result_warning_name(i), result_warning_name(k));
	}
}

static int remove_dir(void **state)
{
	char *command = util_asprintf("rm -rf %s", dir);
	int status = system(command);

	(void)state;
	free(command);
	return status;
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_building),
		cmocka_unit_test(test_growing),
		cmocka_unit_test(test_comparing),
		cmocka_unit_test(test_null_elsewhere),
		cmocka_unit_test(test_null_differs),
		cmocka_unit_test(test_derived_warnings),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_accepted),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_warnings),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
