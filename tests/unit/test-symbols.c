/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions and lines of this very process, of its file, of its vDSO and of the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "symbols.h"

int marked_function(int x);

__attribute__((noinline)) int marked_function(int x)
{
	__asm__ volatile("" : "+r"(x));
	return x + 1;
}

static void test_process(void **state)
{
	struct reason why;
	struct symbols *s = symbols_open_process(getpid(), &why);
	uint64_t addr = (uint64_t)(uintptr_t)marked_function;
	struct symbol_place place;
	const char *source;
	unsigned int line;

	(void)state;
	if (!s)
		fail_msg("%s", why.text);
	assert_true(symbols_find(s, addr, &place));
	assert_non_null(place.name);
	assert_string_equal(place.name, "marked_function");
	assert_int_equal(place.start_addr, addr);
	assert_true(place.size_bytes > 0);
	assert_true(symbols_find(s, addr + 1, &place));
	assert_string_equal(place.name, "marked_function");
	assert_int_equal(place.start_addr, addr);
	assert_non_null(strstr(place.module, "test-symbols"));
	/* Lines need -g, which a user's CFLAGS may lack. */
	if (symbols_line(s, addr, &source, &line)) {
		assert_non_null(strstr(source, "test-symbols.c"));
		assert_in_range(line, 20, 28);
	}
	/* A function of the C library, by whichever of its names. */
	assert_true(symbols_find(s, (uint64_t)(uintptr_t)getauxval, &place));
	assert_non_null(place.module);
	assert_false(symbols_find(s, 16, &place));
	symbols_close(s);
}

static void test_vdso(void **state)
{
	uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct symbols *s;
	struct symbol_place place;
	unsigned int named = 0;
	uint64_t addr;

	(void)state;
	if (!base)
		skip();
	s = symbols_open_process(getpid(), NULL);
	assert_non_null(s);
	for (addr = base; addr < base + 4096; addr += 16) {
		assert_true(symbols_find(s, addr, &place));
		assert_string_equal(place.module, "[vdso]");
		named += place.name != NULL;
	}
	assert_true(named > 0);
	symbols_close(s);
}

static void test_file(void **state)
{
	struct symbols *s = symbols_open_file(-1, "/proc/self/exe", NULL);
	struct symbol_place place;
	struct reason why;

	(void)state;
	assert_non_null(s);
	/* Addresses as in the program headers: nothing is at the far end. */
	assert_true(symbols_find(s, 0x1000, &place));
	assert_non_null(place.module);
	symbols_close(s);
	assert_null(symbols_open_file(-1, "/nonexistent/file", &why));
	assert_int_equal(why.err, ENOENT);
	assert_non_null(strstr(why.text, "/nonexistent/file"));
	assert_null(symbols_open_file(-1, "/dev/null", &why));
	assert_true(why.text[0]);
	assert_null(symbols_open_process(INT32_MAX, &why));
	assert_true(why.text[0]);
	symbols_close(NULL);
}

static void test_kernel(void **state)
{
	struct reason why;
	struct symbols *s = symbols_open_kernel(&why);
	const char *name, *module;
	struct symbol_place place;
	uint64_t addr, before = 0;
	size_t i;

	(void)state;
	if (!s) {
		/* Hidden addresses, or no kallsyms: the reason says which. */
		assert_non_null(strstr(why.text, "/proc/kallsyms"));
		skip();
	}
	for (i = 0; symbols_kernel_at(s, i, &addr, &name, &module); i++) {
		assert_true(addr >= before);
		assert_true(name[0]);
		assert_int_equal(module[0], '[');
		before = addr;
		if (addr && i % 1000 == 500) {
			assert_true(symbols_find(s, addr, &place));
			assert_int_equal(place.start_addr, addr);
		}
	}
	assert_true(i > 1000);
	assert_false(symbols_find(s, 16, &place));
	symbols_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process),
		cmocka_unit_test(test_vdso),
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
