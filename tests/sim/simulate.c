/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Does the verdict keep its promise? Thousands of simulated experiments for each kind of noise and each true effect,
 * run as the tool runs them: rounds of both arms in random order, the usual looks, verdict_paired() at each. Prints the
 * operating characteristics, and ends with 1 when wrong verdicts are more frequent than promised.
 *
 * The wrong verdicts: at no effect, `faster` and `slower`; at an effect of the margin or more, `same` and the wrong
 * direction. Each rate may be at most 1 - confidence. A rate counts as too high when the number of wrong verdicts is
 * above the 99.9 % quantile of the binomial distribution with that probability, so that a correct procedure fails one
 * line in a thousand at most; the default seed is fixed.
 */
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MATHLIB_STANDALONE 1
#include <Rmath.h>

#include "noise.h"
#include "verdict.h"

#define SURE 0.999

enum format { FORMAT_TEXT, FORMAT_MARKDOWN, FORMAT_ROFF };
enum decision { DECISION_TOOL, DECISION_UNPAIRED, DECISION_CUSTOMARY };

struct options {
	uint64_t experiments, seed, rounds;
	double margin, level;
	const char *model;
	enum format format;
	enum decision decision;
	bool single_look;
	bool null_control;
};

struct tally {
	uint64_t right, same, wrong, open, rounds, dependent, bimodal;
};

/* The values of one experiment, in the order of the rounds. */
struct arms {
	double *value[NOISE_ARMS];	/* of the reference, the arm, and the reference's twin */
	size_t n;
};

/*
 * What people do: all of one arm, then all of the other, means, a t interval of 95 % looked at again and again. Here to
 * show that this program can fail.
 */
static enum verdict customary(const struct arms *a, size_t n, const struct options *o)
{
	double mean[2], sd[2], half;
	struct interval i;

	stats_mean_sd(a->value[1], n, &mean[0], &sd[0]);
	stats_mean_sd(a->value[0], n, &mean[1], &sd[1]);
	if (n < 2 || stats_welch_interval(n, mean[1], sd[1], n, mean[0], sd[0], o->level, &i))
		return VERDICT_CANNOT_TELL;
	half = o->margin * fabs(mean[1]);
	if (i.low > 0 || i.high < 0)
		return i.low > 0 ? VERDICT_SLOWER : VERDICT_FASTER;
	return i.low > -half && i.high < half ? VERDICT_SAME : VERDICT_CANNOT_TELL;
}

/* All trials of one experiment in their order of time, as if it were to take all its rounds. */
static void run_trials(const struct noise_model *m, struct random_state *random, struct arms *a,
		       const struct options *o, double effect)
{
	size_t narms = o->null_control ? NOISE_ARMS : 2;
	struct noise s;

	noise_begin(&s, random, narms * a->n);
	if (o->decision != DECISION_TOOL) {
		for (size_t arm = 0; arm < 2; arm++)
			for (size_t i = 0; i < a->n; i++, s.time++)
				a->value[arm][i] = m->trial(&s, arm, arm == 1 ? effect : 0);
		return;
	}
	for (size_t i = 0; i < a->n; i++) {
		size_t order[NOISE_ARMS] = { 0, 1, 2 };

		random_shuffle(random, order, narms);
		for (size_t k = 0; k < narms; k++, s.time++)
			a->value[order[k]][i] = m->trial(&s, order[k], order[k] == 1 ? effect : 0);
	}
}

static void compare(const struct arms *a, size_t arm, size_t n, const struct verdict_rule *rule, double level,
		    const struct options *o, struct comparison *c)
{
	int err;

	if (o->decision == DECISION_UNPAIRED)
		err = verdict_unpaired(a->value[arm], n, a->value[0], n, rule, c);
	else
		err = verdict_paired(a->value[arm], a->value[0], n, rule, level, c);
	if (err)
		abort();
}

/*
 * As the tool's experiment does: at each look all arms are compared, the null control is applied, and the run ends when
 * none of them is open.
 */
static enum verdict decide(const struct noise_model *m, const struct arms *a, const struct options *o,
			   const struct looks *looks, struct tally *t)
{
	struct verdict_rule rule = { .margin = o->margin,
				     .margin_abs = m->additive ? NOISE_MARGIN_ABS : 0,
				     .level = o->level };
	struct comparison c = { .verdict = VERDICT_CANNOT_TELL }, null = { .verdict = VERDICT_SAME };
	bool open = true;
	size_t n = 0;

	for (size_t k = 0; k < looks->count && open; k++) {
		n = (size_t)ceil(looks->fraction[k] * (double)a->n - 1e-9);
		if (o->decision == DECISION_CUSTOMARY) {
			c.verdict = customary(a, n, o);
		} else {
			compare(a, 1, n, &rule, looks->look_level[k], o, &c);
			if (o->null_control) {
				compare(a, 2, n, &rule, looks->look_level[k], o, &null);
				verdict_apply_null(&c, &null);
			}
		}
		open = c.verdict == VERDICT_CANNOT_TELL || null.verdict == VERDICT_CANNOT_TELL;
	}
	t->rounds += n;
	t->dependent += (c.flags & COMPARE_AUTOCORRELATED) != 0;
	t->bimodal += (c.flags & COMPARE_BIMODAL) != 0;
	return c.verdict;
}

/* @size: the true effect in margins. Its direction changes from one experiment to the next. */
static void run_experiments(const struct noise_model *m, double size, const struct options *o,
			    const struct looks *looks, struct random_state *random, struct tally *t)
{
	struct arms a = { .n = o->rounds };

	*t = (struct tally){ .right = 0 };
	for (size_t i = 0; i < NOISE_ARMS; i++)
		a.value[i] = util_calloc(a.n, sizeof(*a.value[i]));
	for (uint64_t e = 0; e < o->experiments; e++) {
		double effect = size * (m->additive ? NOISE_MARGIN_ABS : log1p(o->margin)) * (e % 2 ? -1 : 1);
		enum verdict truth = effect > 0 ? VERDICT_SLOWER : VERDICT_FASTER, verdict;

		run_trials(m, random, &a, o, effect);
		verdict = decide(m, &a, o, looks, t);
		if (verdict == VERDICT_CANNOT_TELL)
			t->open++;
		else if (verdict == VERDICT_SAME)
			t->same++;
		else if (size > 0 && verdict == truth)
			t->right++;
		else
			t->wrong++;
	}
	for (size_t i = 0; i < NOISE_ARMS; i++)
		free(a.value[i]);
}

static double percent(uint64_t count, const struct options *o)
{
	return 100 * (double)count / (double)o->experiments;
}

/* The cells of one line: the true effect is known, so each verdict has its column. */
static void print_line(const struct noise_model *m, double size, const struct options *o, const struct tally *t,
		       bool too_many)
{
	static const char *const form[] = {
		[FORMAT_TEXT] = "%-12s %6s %9.2f %9.2f %9.2f %9.1f %8.1f %7.1f %7.1f%s\n",
		[FORMAT_MARKDOWN] = "| %s | %s | %.2f | %.2f | %.2f | %.1f | %.1f | %.1f | %.1f |%s\n",
		[FORMAT_ROFF] = ".It %s Ta %s Ta %.2f Ta %.2f Ta %.2f Ta %.1f Ta %.1f Ta %.1f Ta %.1f%s\n",
	};
	char effect[32];

	snprintf(effect, sizeof(effect), size > 0 ? "%g m" : "0", size);
	printf(form[o->format], m->name, effect, percent(t->wrong, o), percent(t->same, o), percent(t->right, o),
	       percent(t->open, o), (double)t->rounds / (double)o->experiments, percent(t->dependent, o),
	       percent(t->bimodal, o), too_many ? "  TOO MANY" : "");
	fflush(stdout);
}

static void print_head(const struct options *o)
{
	if (o->format == FORMAT_TEXT) {
		printf("%llu experiments a line, %llu rounds at most, %s, margin %g %%, confidence %g %%, seed %llu\n",
		       (unsigned long long)o->experiments, (unsigned long long)o->rounds,
		       o->single_look ? "one look" : "the usual looks", 100 * o->margin, 100 * o->level,
		       (unsigned long long)o->seed);
		printf("%-12s %6s %9s %9s %9s %9s %8s %7s %7s\n", "noise", "effect", "wrong %", "same %", "right %",
		       "open %", "rounds", "wide %", "modes %");
	} else if (o->format == FORMAT_MARKDOWN) {
		puts("| noise | effect | wrong % | same % | right % | cannot tell % | rounds | widened % | two modes % "
		     "|");
		puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
	} else {
		puts(".Bl -column \"arm-ar1-0.2\" \"effect\" \"wrong\" \"100.00\" \"100.00\" \"100.0\" \"100.0\" "
		     "\"wide\" \"modes\"");
		puts(".It Sy noise Ta Sy effect Ta Sy wrong Ta Sy same Ta Sy right Ta Sy open Ta Sy rounds Ta Sy wide "
		     "Ta Sy modes");
	}
}

static bool simulate(const struct options *o)
{
	static const double sizes[] = { 0, 1, 2, 5 };
	double limit = qbinom(SURE, (double)o->experiments, 1 - o->level, 1, 0);
	struct looks looks;
	bool good = true, known = false;

	if (o->single_look ? looks_plan(&looks, o->level, (const double[]){ 1 }, 1)
			   : looks_plan_usual(&looks, o->level))
		abort();
	if (o->decision == DECISION_CUSTOMARY)
		for (size_t k = 0; k < looks.count; k++)
			looks.look_level[k] = o->level;
	print_head(o);
	for (size_t i = 0; i < noise_model_count; i++) {
		const struct noise_model *m = &noise_models[i];

		if (o->model && strcmp(o->model, m->name))
			continue;
		known = true;
		for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
			struct random_state random;
			struct tally t;
			bool too_many;

			if (o->format == FORMAT_ROFF && sizes[k] > 2)
				continue;	/* the page is long enough */
			/* Each line by itself can be repeated with --model. */
			random_seed(&random, o->seed + 1000 * i + k);
			run_experiments(m, sizes[k], o, &looks, &random, &t);
			too_many = (double)t.wrong > limit || (sizes[k] > 0 && (double)t.same > limit);
			good = good && !too_many;
			print_line(m, sizes[k], o, &t, too_many);
		}
	}
	if (!known) {
		fprintf(stderr, "simulate: no noise model '%s'\n", o->model);
		exit(2);
	}
	if (o->format == FORMAT_ROFF)
		puts(".El");
	if (o->format == FORMAT_TEXT)
		printf("at most %.0f of %llu wrong verdicts allowed (%.1f %% promised, %.1f %% sure): %s\n", limit,
		       (unsigned long long)o->experiments, 100 * (1 - o->level), 100 * SURE, good ? "kept" : "BROKEN");
	return good;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	uint64_t number;
	int err = 0;

	switch (key) {
	case 'n':
		err = util_opt_u64("--experiments", arg, 100, 100000000, &o->experiments);
		break;
	case 's':
		err = util_opt_u64("--seed", arg, 0, UINT64_MAX, &o->seed);
		break;
	case 'r':
		err = util_opt_u64("--rounds", arg, 6, 1000000, &number);
		o->rounds = number;
		break;
	case 'm':
		o->model = arg;
		break;
	case '1':
		o->single_look = true;
		break;
	case '0':
		o->null_control = true;
		break;
	case 'u':
		o->decision = DECISION_UNPAIRED;
		o->single_look = true;
		break;
	case 'c':
		o->decision = DECISION_CUSTOMARY;
		break;
	case 'M':
		o->format = FORMAT_MARKDOWN;
		break;
	case 'R':
		o->format = FORMAT_ROFF;
		break;
	case 'l':
		for (size_t i = 0; i < noise_model_count; i++)
			printf("%-12s %s\n", noise_models[i].name, noise_models[i].what);
		exit(0);
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (err)
		exit(2);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct argp_option table[] = {
		{ "experiments", 'n', "N", 0, "per noise and effect (default 10000)", 0 },
		{ "rounds", 'r', "N", 0, "budget of one experiment (default 100)", 0 },
		{ "single-look", '1', NULL, 0, "decide once, after all rounds, as with -r of the tool", 0 },
		{ "model", 'm', "NAME", 0, "only this noise", 0 },
		{ "list", 'l', NULL, 0, "the noise models", 0 },
		{ "null-control", '0', NULL, 0, "with the reference's twin as a third arm", 0 },
		{ "unpaired", 'u', NULL, 0,
		  "arms one after the other and verdict_unpaired(), as `diff` has to: what that cannot know", 0 },
		{ "customary", 'c', NULL, 0,
		  "arms one after the other, means, 95 % at every look: shows how it goes wrong", 0 },
		{ "seed", 's', "N", 0, "of all random numbers (default 1)", 0 },
		{ "markdown", 'M', NULL, 0, "as a Markdown table", 0 },
		{ "roff", 'R', NULL, 0, "as an mdoc list, for the page", 0 },
		{ NULL, 0, NULL, 0, NULL, 0 },
	};
	static const struct argp argp = { .options = table,
					  .parser = parse,
					  .doc = "How often are verdicts wrong? Simulated experiments." };
	struct options o = { .experiments = 10000, .seed = 1, .rounds = 100, .margin = 0.01, .level = 0.95 };

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	return simulate(&o) ? 0 : 1;
}
