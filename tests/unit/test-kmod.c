/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Why a module cannot be loaded, told apart for made-up machines; and the kernel log of modules that print their
 * results. Loading itself is tested in guests (tests/vm/irq.sh).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"

static const struct kmod_facts good = { .release = "6.1.0-50-amd64",
					.root = true,
					.cap_sys_module = true,
					.modules = true,
					.lockdown = "none",
					.headers = true };

static struct reason seen;

/* The reason of one machine: its errno, and words that it must and must not hold. */
static void assert_machine(const struct kmod_facts *f, int err, const char *words)
{
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(kmod_explain_machine(f, &seen), -err);
	if (err && !strstr(seen.text, words))
		fail_msg("\"%s\" lacks \"%s\"", seen.text, words);
}

static void assert_load(const struct kmod_facts *f, int err, const char *vermagic, const char *words)
{
	memset(&seen, 0, sizeof(seen));
	assert_int_equal(kmod_explain_load(f, err, "/x/perf_relax.ko", vermagic, &seen), -err);
	assert_int_equal(seen.err, err);
	if (!strstr(seen.text, words))
		fail_msg("errno %d: \"%s\" lacks \"%s\"", err, seen.text, words);
}

static void machines(void **state)
{
	struct kmod_facts f = good;

	(void)state;
	assert_machine(&f, 0, "");
	f.modules_disabled = true;
	assert_machine(&f, EPERM, "modules_disabled");
	f = good;
	f.cap_sys_module = false;
	assert_machine(&f, EPERM, "CAP_SYS_MODULE");
	assert_null(strstr(seen.text, "container,"));
	f.container = true;
	assert_machine(&f, EPERM, "in a container");
	f = good;
	f.root = f.cap_sys_module = false;
	assert_machine(&f, EPERM, "sudo");
	/* Root would not help here, so that is not what is said. */
	f.modules = false;
	assert_machine(&f, ENOSYS, "CONFIG_MODULES");
	assert_null(strstr(seen.text, "sudo"));
}

/* Every cause has words of its own, and each says what to do. */
static void refusals(void **state)
{
	struct kmod_facts f = good;
	static const int errors[] = { ENOSYS, EPERM,  EKEYREJECTED, ENOKEY, ENOEXEC,
				      ENOENT, EINVAL, EAGAIN,	    EBUSY,  ENOMEM };
	char *text[ARRAY_SIZE(errors)];

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		assert_load(&f, errors[i], "", " ");
		text[i] = util_strdup(seen.text);
		for (size_t j = 0; j < i; j++)
			assert_string_not_equal(text[i], text[j]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		free(text[i]);
	assert_load(&f, EKEYREJECTED, "", "signed");
	assert_load(&f, ENOKEY, "", "signed");
	assert_load(&f, ENOEXEC, "6.12.1-x SMP preempt mod_unload ",
		    "was built for kernel 6.12.1-x, but 6.1.0-50-amd64 is running");
	assert_load(&f, ENOEXEC, "6.1.0-50-amd64 SMP mod_unload ", "other options");
	assert_load(&f, ENOEXEC, "6.1.0-50-amd64-debug SMP mod_unload ", "was built for kernel 6.1.0-50-amd64-debug");
	assert_load(&f, ENOEXEC, NULL, "no module for this kernel");
	assert_load(&f, EAGAIN, "", "--classic");
	strcpy(f.lockdown, "integrity");
	assert_load(&f, EPERM, "", "locked down (integrity)");
	strcpy(f.lockdown, "none");
	assert_load(&f, EPERM, "", "security module");
	f.cap_sys_module = false;
	assert_load(&f, EPERM, "", "CAP_SYS_MODULE");
}

static void not_found(void **state)
{
	struct kmod_facts f = good;
	struct reason why = { 0 };

	(void)state;
	strcpy(f.release, "0.0.0-no-such-kernel");
	assert_null(kmod_find(&f, &why));
	assert_non_null(strstr(why.text, "--build"));
	assert_null(strstr(why.text, "headers are not installed"));
	f.headers = false;
	assert_null(kmod_find(&f, &why));
	assert_non_null(strstr(why.text, "headers are not installed"));
}

static void vermagic(void **state)
{
	static const char image[] = "\177ELF....\0license=GPL\0xvermagic=wrong\0vermagic=6.1.0 SMP mod_unload \0name=x";
	char path[] = "/tmp/perf-relax-test-XXXXXX", text[64] = "";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, image, sizeof(image)), sizeof(image));
	close(fd);
	assert_int_equal(kmod_vermagic(path, text, sizeof(text)), 0);
	assert_string_equal(text, "6.1.0 SMP mod_unload ");
	assert_int_equal(truncate(path, 20), 0);
	assert_int_equal(kmod_vermagic(path, text, sizeof(text)), -ENOENT);
	unlink(path);
	assert_int_equal(kmod_vermagic(path, text, sizeof(text)), -ENOENT);
}

#define BLOCK(name) \
	"test results: time for " name "\nnumber of loops: 20000\ntotal time: 48052\n-> " name \
	" takes 2 cycles\ntest end\n"

static void log_blocks(void **state)
{
	(void)state;
	assert_int_equal(kmod_log_blocks(NULL), 0);
	assert_int_equal(kmod_log_blocks(""), 0);
	assert_int_equal(kmod_log_blocks("test init\n" BLOCK("baseline") BLOCK("locked cmpxchg")), 2);
	assert_int_equal(kmod_log_blocks("test init\n"), 0);
	/* Cut at either end, and begun anew in the middle. */
	assert_int_equal(kmod_log_blocks("total time: 48052\n-> x takes 2 cycles\ntest end\n" BLOCK("a")), 1);
	assert_int_equal(kmod_log_blocks(BLOCK("a") "test results: time for b\nnumber of loops: 20000\n"), 1);
	assert_int_equal(kmod_log_blocks("test results: time for b\nnumber of loops: 20000\n" BLOCK("a")), 1);
	/* Lines of others inside; no final newline. */
	assert_int_equal(kmod_log_blocks("test results: time for b\nusb 1-1: new device\nnumber of loops: 2\ntotal "
					 "time: 1\n-> b takes 0 cycles\ntest end"),
			 1);
	assert_true(kmod_log_has_stall("rcu: INFO: rcu_sched detected stalls on CPUs/tasks: { 1}\n"));
	assert_true(kmod_log_has_stall("watchdog: BUG: soft lockup - CPU#0 stuck for 22s!"));
	assert_false(kmod_log_has_stall(BLOCK("a")));
	assert_false(kmod_log_has_stall(NULL));
}

/* A module that cannot be loaded leaves nothing open, and closing twice is harmless. */
static void open_and_close(void **state)
{
	struct reason why = { 0 };
	struct kmod k;
	int err;

	(void)state;
	if (access("/sys/module/perf_relax", F_OK) == 0)
		skip();
	err = kmod_open(&k, "/nonexistent/perf_relax.ko", &why);
	assert_true(err < 0 && *why.text);
	assert_int_equal(k.fd, -1);
	assert_false(k.loaded_here);
	assert_true(k.keeper < 0);
	assert_int_equal(kmod_close(&k, &why), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines), cmocka_unit_test(refusals),	  cmocka_unit_test(not_found),
		cmocka_unit_test(vermagic), cmocka_unit_test(log_blocks), cmocka_unit_test(open_and_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
