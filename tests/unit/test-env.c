/* SPDX-License-Identifier: GPL-2.0-only */
/* What the machine is: recorded machines against their manifests' "expect" lines, and the machine that this runs on. */
#include <fcntl.h>
#include <locale.h>
#include <sys/prctl.h>
#include <sys/utsname.h>

#include "env.h"
#include "published.h"
#include "sysroot.h"
#include "tree.h"

static enum env_item item(const char *key)
{
	enum env_item i = 0;

	while (i < ENV_ITEM_COUNT && strcmp(env_key(i), key) != 0)
		i++;
	if (i == ENV_ITEM_COUNT)
		fail_msg("no item \"%s\"", key);
	return i;
}

/* Whatever was read: each item has a value or a reason, one of them, one line. */
static void check_form(const struct env *e)
{
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++) {
		const char *text = e->value[i] ? e->value[i] : e->why[i];

		if (!e->value[i] == !e->why[i])
			fail_msg("%s: %s", env_key(i),
				 e->value[i] ? "both a value and a reason" : "neither a value nor a reason");
		assert_true(*text);
		assert_null(strpbrk(text, "\n\t\r"));
	}
}

static int number(const struct env *e, const char *name)
{
	const struct {
		const char *name;
		int value;
	} numbers[] = {
		{ "hypervisor", e->hypervisor },
		{ "paravirt_irq", e->paravirt_irq },
		{ "emulated", e->emulated },
		{ "paranoid", e->paranoid },
		{ "family", e->family },
		{ "model", e->model },
		{ "stepping", e->stepping },
		{ "implementer", e->implementer },
		{ "part", e->part },
		{ "pvr", e->pvr },
	};

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (strcmp(numbers[i].name, name) == 0)
			return numbers[i].value;
	fail_msg("no number \"%s\"", name);
	return 0;
}

static void test_tree(void **state)
{
	struct tree_run *t = tree_open(*state);
	struct env e;
	char *key, *value;

	env_read(&e, t->dir);
	check_form(&e);
	while (tree_next(t->f, "expect", t->line, sizeof(t->line), &key, &value)) {
		const char *seen = e.value[item(key)];

		tree_check(t, seen && strcmp(seen, value) == 0, key, value, seen ? seen : e.why[item(key)]);
	}
	rewind(t->f);
	while (tree_next(t->f, "expect-why", t->line, sizeof(t->line), &key, &value)) {
		const char *seen = e.why[item(key)];

		tree_check(t, seen && strstr(seen, value), key, value, seen ? seen : e.value[item(key)]);
	}
	rewind(t->f);
	while (tree_next(t->f, "expect-number", t->line, sizeof(t->line), &key, &value)) {
		char seen[20];

		snprintf(seen, sizeof(seen), "%d", number(&e, key));
		tree_check(t, strcmp(seen, value) == 0, key, value, seen);
	}
	rewind(t->f);
	while (tree_next(t->f, "expect-microarch", t->line, sizeof(t->line), &key, &value)) {
		const char *seen = published_microarch(&e, strcmp(key, "-") == 0 ? NULL : key);

		tree_check(t, strcmp(seen ? seen : "none", value) == 0, "microarch", value, seen);
	}
	assert_true(t->checks > 0);
	/* the root of the tree must not show: users know the machine's own paths */
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++)
		assert_null(strstr(e.value[i] ? e.value[i] : e.why[i], t->dir));
	env_free(&e);
	tree_close(t);
}

static void test_this_machine(void **state)
{
	struct utsname u;
	struct env e;

	(void)state;
	assert_int_equal(uname(&u), 0);
	env_read(&e, "");
	check_form(&e);
	assert_string_equal(e.value[ENV_ARCH], u.machine);
	assert_true(strncmp(e.value[ENV_KERNEL], u.release, strlen(u.release)) == 0);
	assert_non_null(e.value[ENV_CPUS]);
	assert_non_null(e.value[ENV_CPUS_ALLOWED]);
	env_free(&e);
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++)
		assert_true(!e.value[i] && !e.why[i]);
	env_free(&e);
}

/* PR_SET_TSC in a child, so that this process keeps its counter. */
static void test_tsc_forbidden(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	if (prctl(PR_SET_TSC, PR_TSC_ENABLE, 0, 0, 0) != 0)
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct env e;

		prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
		env_read(&e, "");
		_exit(e.value[ENV_TSC_MODE] && strncmp(e.value[ENV_TSC_MODE], "forbidden", 9) == 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* A file that may not be read: "Permission denied" is the reason. Root reads everything, so a child gives root up. */
static void test_unreadable(void **state)
{
	struct tree_run *t = tree_open("broken.tree");
	int status;
	pid_t pid;

	(void)state;
	assert_int_equal(chmod(t->dir, 0755), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct env e;

		if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
			_exit(77);
		env_read(&e, t->dir);
		_exit(e.why[ENV_RDPMC] && strstr(e.why[ENV_RDPMC], "cpu/rdpmc: Permission denied") ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	tree_close(t);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* Twice the same values, in two locales and with stdin and the like closed: nothing depends on them. */
static void test_locale(void **state)
{
	static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "tr_TR.UTF-8", "C.UTF-8" };
	struct tree_run *t = tree_open("alder-lake.tree");
	struct env a, b;

	(void)state;
	env_read(&a, t->dir);
	for (size_t i = 0; i < ARRAY_SIZE(locales); i++) {
		if (!setlocale(LC_ALL, locales[i]))
			continue;
		env_read(&b, t->dir);
		for (enum env_item j = 0; j < ENV_ITEM_COUNT; j++)
			assert_string_equal(a.value[j] ? a.value[j] : a.why[j], b.value[j] ? b.value[j] : b.why[j]);
		env_free(&b);
	}
	setlocale(LC_ALL, "C");
	env_free(&a);
	tree_close(t);
}

/* tests/sysroot/record, unpacked again, is this machine. */
static void test_record(void **state)
{
	static const enum env_item same[] = { ENV_CPU_MODEL,	ENV_CPU_ID,	 ENV_CORE_TYPE, ENV_CPUS,
					      ENV_CPUS_ALLOWED, ENV_SMT,	 ENV_KERNEL,	ENV_CLOCKSOURCE,
					      ENV_GOVERNOR,	ENV_TURBO,	 ENV_PARANOID,	ENV_RDPMC,
					      ENV_NMI_WATCHDOG, ENV_MITIGATIONS, ENV_ISOLATED,	ENV_OS };
	char script[PATH_MAX], manifest[] = "/tmp/perf-relax-record.XXXXXX", dir[PATH_MAX];
	int fd = mkstemp(manifest);
	struct env live, recorded;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(script, sizeof(script), "%s/tests/sysroot/record", tree_srcdir());
	assert_int_equal(tree_run((const char *[]){ "sh", "-c", "exec sh \"$0\" >\"$1\"", script, manifest, NULL }), 0);
	tree_unpack(manifest, dir);
	env_read(&live, "");
	env_read(&recorded, dir);
	if (live.emulated) {	/* the recording is of the machine, and this program's CPU is the emulator's */
		env_free(&live);
		env_free(&recorded);
		tree_remove(dir);
		unlink(manifest);
		skip();
	}
	for (size_t i = 0; i < ARRAY_SIZE(same); i++) {
		const char *a = live.value[same[i]], *b = recorded.value[same[i]];

		/* reasons may differ: what could not be read was not recorded */
		if (a ? !b || strcmp(a, b) != 0 : b != NULL)
			fail_msg("%s: here \"%s\", recorded \"%s\"", env_key(same[i]), a ? a : "(none)",
				 b ? b : recorded.why[same[i]]);
	}
	env_free(&live);
	env_free(&recorded);
	tree_remove(dir);
	unlink(manifest);
}

static size_t open_files(void)
{
	size_t n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void test_no_leak(void **state)
{
	struct tree_run *t = tree_open("broken.tree");
	size_t before = open_files();
	struct env e;

	(void)state;
	env_read(&e, t->dir);
	env_free(&e);
	assert_int_equal(open_files(), before);
	tree_close(t);
}

static void test_long_root(void **state)
{
	char root[PATH_MAX];
	struct env e;

	(void)state;
	memset(root, '/', sizeof(root));
	root[sizeof(root) - 10] = '\0';
	env_read(&e, root);
	check_form(&e);
	assert_null(e.value[ENV_CPU_MODEL]);
	env_free(&e);
}

static void test_clean(void **state)
{
	static const char *const cases[][2] = {
		{ "", "" },
		{ " \t\n", "" },
		{ "  a  b\n", "a b" },
		{ "\x01x\x7fy", "x y" },
		{ "\xff", "?" },
		{ "\xc3\xa9", "\xc3\xa9" },
		{ "\xc3", "?" },
		{ "\xc0\xaf", "??" },
		{ "\xe0\x80\x80", "???" },
		{ "\xed\xa0\x80", "???" },
		{ "\xf4\x90\x80\x80", "????" },
		{ "\xf0\x9f\x98\x80!", "\xf0\x9f\x98\x80!" },
		{ "\xe2\x82", "??" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		char *text = util_strdup(cases[i][0]);

		assert_string_equal(sysroot_clean(text), cases[i][1]);
		free(text);
	}
}

static void test_arm_names(void **state)
{
	static const struct {
		const char *name;
		int implementer, part;
	} cases[] = {
		{ "Cortex-A72", 0x41, 0xd08 },	      { "armv8_cortex_a72", 0x41, 0xd08 },
		{ "armv8_cortex_a57", 0x41, 0xd07 },  { "armv8_neoverse_n1", 0x41, 0xd0c },
		{ "armv7_cortex_a7", 0x41, 0xc07 },   { "apple_firestorm_pmu", 0x61, 0x023 },
		{ "armv9_cortex_a710", 0x41, 0xd47 }, { "Firestorm (M1)", 0x61, 0x023 },
	};
	int implementer, part;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(sysroot_arm_core(cases[i].name, &implementer, &part), 0);
		assert_int_equal(implementer, cases[i].implementer);
		assert_int_equal(part, cases[i].part);
	}
	assert_string_equal(sysroot_arm_name(0x41, 0xd0c), "Neoverse-N1");
	assert_null(sysroot_arm_name(0x41, 0xfff));
	assert_int_equal(sysroot_arm_core("armv8_cortex_a7", &implementer, &part), 0);
	assert_int_equal(part, 0xc07);
	assert_int_equal(sysroot_arm_core("armv8_pmuv3_0", &implementer, &part), -ENOENT);
	assert_int_equal(sysroot_arm_core("cpu_core", &implementer, &part), -ENOENT);
	assert_int_equal(sysroot_arm_core("", &implementer, &part), -ENOENT);
}

static void test_keys(void **state)
{
	(void)state;
	for (enum env_item i = 0; i < ENV_ITEM_COUNT; i++) {
		assert_true(*env_key(i) && *env_what(i));
		for (enum env_item j = 0; j < i; j++)
			assert_string_not_equal(env_key(i), env_key(j));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this_machine), cmocka_unit_test(test_tsc_forbidden),
		cmocka_unit_test(test_unreadable),   cmocka_unit_test(test_locale),
		cmocka_unit_test(test_record),	     cmocka_unit_test(test_no_leak),
		cmocka_unit_test(test_long_root),    cmocka_unit_test(test_clean),
		cmocka_unit_test(test_arm_names),    cmocka_unit_test(test_keys),
	};

	return tree_run_all("env", test_tree, tests, ARRAY_SIZE(tests));
}
