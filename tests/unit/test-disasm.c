/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes to text: what the instruction sets' manuals (and objdump) say, and never a wrong name. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "disasm.h"
#include "util.h"

static size_t from_hex(const char *hex, unsigned char *bytes)
{
	size_t n = 0;

	for (; hex[0] && hex[1]; hex += 2) {
		char pair[3] = { hex[0], hex[1], '\0' };

		bytes[n++] = (unsigned char)strtoul(pair, NULL, 16);
		while (hex[2] == ' ')
			hex++;
	}
	return n;
}

static void test_decode(void **state)
{
	static const struct {
		enum disasm_machine machine;
		const char *hex, *text;
		int err;
	} cases[] = {
		{ DISASM_X86_64, "", "", 0 },
		{ DISASM_X86_64, "f3 90", "pause", 0 },
		{ DISASM_X86_64, "f3 f3 90", "rep pause", 0 },
		{ DISASM_X86_64, "f3 f3 f3 90", "rep rep pause", 0 },
		{ DISASM_X86_64, "90", "nop", 0 },
		{ DISASM_X86_64, "66 90", "data16 nop", 0 },
		{ DISASM_X86_64, "f3 90 90 f3 90", "pause; nop; pause", 0 },
		{ DISASM_X86_64, "85 c0 75 fc", "testl %eax, %eax; jne 0", 0 },
		{ DISASM_X86_64, "0f 31", "rdtsc", 0 },
		{ DISASM_X86_64, "0f 01 f9", "rdtscp", 0 },
		{ DISASM_X86_64, "0f ae e8", "lfence", 0 },
		{ DISASM_X86_64, "0f ae f0", "mfence", 0 },
		{ DISASM_X86_64, "0f ae f8", "sfence", 0 },
		{ DISASM_X86_64, "0f a2", "cpuid", 0 },
		{ DISASM_X86_64, "f0 0f b1 17", "lock cmpxchgl %edx, (%rdi)", 0 },
		{ DISASM_X86_64, "0f b1 17", "cmpxchgl %edx, (%rdi)", 0 },
		{ DISASM_X86_64, "f0 0f c1 07", "lock xaddl %eax, (%rdi)", 0 },
		{ DISASM_X86_64, "87 07", "xchgl %eax, (%rdi)", 0 },
		{ DISASM_X86_64, "01 d0", "addl %edx, %eax", 0 },
		{ DISASM_X86_64, "0f 01 e8", "serialize", 0 },
		{ DISASM_X86_64, "66 0f ae f1", "tpause %ecx", 0 },
		{ DISASM_X86_64, "66 0f ae f0", "tpause %eax", 0 }, /* capstone 4: mfence */
		{ DISASM_X86_64, "f2 0f ae f1", "umwait %ecx", 0 },
		{ DISASM_X86_64, "f3 0f ae f0", "umonitor %rax", 0 }, /* capstone 4: mfence */
		{ DISASM_X86_64, "f3 0f ae f7", "umonitor %rdi", 0 },
		{ DISASM_I386, "f3 0f ae f0", "umonitor %eax", 0 },
		{ DISASM_X86_64, "0f 01 fa", "monitorx", 0 },
		{ DISASM_X86_64, "0f 01 fb", "mwaitx", 0 },
		{ DISASM_X86_64, "f3 0f c7 f8", "rdpid %rax", 0 }, /* capstone 4: rdseed */
		{ DISASM_X86_64, "0f c7 f8", "rdseedl %eax", 0 },
		{ DISASM_X86_64, "66 0f c7 f8", "rdseedw %ax", 0 },
		{ DISASM_X86_64, "48 89 f8 f3 0f ae f0 31 c0 f2 0f ae f1",
		  "movq %rdi, %rax; umonitor %rax; xorl %eax, %eax; umwait %ecx", 0 },
		{ DISASM_I386, "40", "incl %eax", 0 },
		/* no fence, whatever capstone 4 says: prefixes it does not look at */
		{ DISASM_X86_64, "f3 48 0f ae f0", ".byte 0xf3,0x48,0x0f,0xae,0xf0 (undecoded)", -EILSEQ },
		{ DISASM_X86_64, "67 f3 0f ae f0", ".byte 0x67,0xf3,0x0f,0xae,0xf0 (undecoded)", -EILSEQ },
		{ DISASM_X86_64, "ff ff 90", ".byte 0xff,0xff,0x90 (undecoded)", -EILSEQ },
		{ DISASM_X86_64, "90 0f", "nop; .byte 0x0f (undecoded)", -EILSEQ },
		{ DISASM_X86_64, "f3", ".byte 0xf3 (undecoded)", -EILSEQ },
		{ DISASM_AARCH64, "3f 20 03 d5", "yield", 0 },
		{ DISASM_AARCH64, "df 3f 03 d5", "isb", 0 },
		{ DISASM_AARCH64, "ff 30 03 d5", "sb", 0 },
		{ DISASM_AARCH64, "5f 20 03 d5", "wfe", 0 },
		{ DISASM_AARCH64, "05 10 03 d5", "wfet x5", 0 },
		{ DISASM_AARCH64, "25 10 03 d5", "wfit x5", 0 },
		{ DISASM_AARCH64, "1f 20 03 d5", "nop", 0 },
		{ DISASM_AARCH64, "40 e0 3b d5", "mrs x0, cntvct_el0", 0 },
		{ DISASM_AARCH64, "0b 7c aa 88", "cas w10, w11, [x0]", 0 },
		{ DISASM_AARCH64, "0b fc ea 88", "casal w10, w11, [x0]", 0 },
		{ DISASM_AARCH64, "e1 7f e0 c8", "casa x0, x1, [sp]", 0 },
		{ DISASM_AARCH64, "09 00 2b b8", "ldadd w11, w9, [x0]", 0 },
		{ DISASM_AARCH64, "09 00 6b f8", "ldaddl x11, x9, [x0]", 0 },
		{ DISASM_AARCH64, "1f 80 eb b8", "swpal w11, wzr, [x0]", 0 },
		{ DISASM_AARCH64, "09 10 2b b8", ".byte 0x09,0x10,0x2b,0xb8 (undecoded)", -EILSEQ },	/* ldclr */
		{ DISASM_AARCH64, "1f 20 03 d5 c9 ff ff 35", "nop; cbnz w9, #0xfffffffffffffffc", 0 },
		{ DISASM_AARCH64, "1f 20 03 d5 e9 ff ff 35", "nop; cbnz w9, #0", 0 },
		{ DISASM_AARCH64, "1f 20 03 d5 aa", "nop; .byte 0xaa (undecoded)", -EILSEQ },
		{ DISASM_ARM, "01 f0 20 e3", "yield", 0 },
		{ DISASM_ARM, "02 f0 20 e3", "wfe", 0 },
		{ DISASM_THUMB, "10 bf", "yield", 0 },
		{ DISASM_PPC64, "7c 21 0b 78", "or r1, r1, r1", 0 },
		{ DISASM_PPC64LE, "78 0b 21 7c 78 13 42 7c", "or r1, r1, r1; or r2, r2, r2", 0 },
		{ DISASM_PPC64LE, "78 db 7b 7f", "or r27, r27, r27", 0 },
		{ DISASM_PPC64LE, "78 fb ff 7f", "or r31, r31, r31", 0 },
		{ DISASM_PPC64LE, "00 00 00 60", "nop", 0 },
		{ DISASM_RISCV64, "0f 00 00 01", "pause", 0 },
		{ DISASM_RISCV64, "0f 00 00 01 13 00 00 00", "pause; nop", 0 },
		{ DISASM_MIPS64, "00 00 01 40", "pause", 0 },
		{ DISASM_MIPS64EL, "40 01 00 00", "pause", 0 },
		{ DISASM_MIPS64EL, "3b 10 09 7c", "rdhwr $9, $2", 0 },
		{ DISASM_MIPS64EL, "0f 00 00 00", "sync", 0 },
		{ DISASM_S390X, "b2 fa 00 70", "niai 7, 0", 0 },
		{ DISASM_S390X, "b2 05 40 f0", "stck 240(%r4)", 0 },
		{ DISASM_S390X, "b2 7c 40 08", "stckf 8(%r4)", 0 },
		{ DISASM_S390X, "07 00", "bcr 0, %r0", 0 },
		{ DISASM_ALPHA, "00 00 00 00", "not decodable here: capstone", -ENOTSUP },
		{ DISASM_UNKNOWN, "00", "not decodable here: capstone", -ENOTSUP },
		{ DISASM_ALPHA, "", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		unsigned char bytes[64];
		char text[256];
		size_t n = from_hex(cases[i].hex, bytes);
		int err = disasm_machine_text(cases[i].machine, bytes, n, text, sizeof(text));
		bool same = cases[i].err == -ENOTSUP ? strncmp(text, cases[i].text, strlen(cases[i].text)) == 0
						     : strcmp(text, cases[i].text) == 0;

		if (err != cases[i].err || !same)
			fail_msg("%s %s: \"%s\" (%d), not \"%s\" (%d)", disasm_machine_name(cases[i].machine),
				 cases[i].hex, text, err, cases[i].text, cases[i].err);
	}
}

/* Every buffer size: always a string, cut with "..." and -ENOBUFS, never a byte beyond. */
static void test_sizes(void **state)
{
	static const unsigned char bytes[] = { 0xf3, 0x90, 0x90, 0x0f, 0x01, 0xe8, 0x0f };
	static const char whole[] = "pause; nop; serialize; .byte 0x0f (undecoded)";
	static const char hex[] = "f3 90 90 0f 01 e8 0f";

	(void)state;
	for (size_t size = 0; size <= sizeof(whole) + 1; size++) {
		char *text = malloc(size ? size : 1);
		int err;

		assert_non_null(text);
		memset(text, 'x', size);
		err = disasm_machine_text(DISASM_X86_64, bytes, sizeof(bytes), text, size);
		if (size >= sizeof(whole)) {
			assert_int_equal(err, -EILSEQ);
			assert_string_equal(text, whole);
		} else if (size > 0) {
			assert_int_equal(err, -ENOBUFS);
			assert_int_equal(strlen(text), size - 1);
			if (size >= 4) {
				assert_string_equal(text + size - 4, "...");
				assert_memory_equal(text, whole, size - 4);
			}
		}
		if (size > 0) {
			err = disasm_bytes_hex(bytes, sizeof(bytes), text, size);
			assert_int_equal(err, size >= sizeof(hex) ? 0 : -ENOBUFS);
			if (!err)
				assert_string_equal(text, hex);
		}
		free(text);
	}
}

/*
 * Every one- and two-byte start of an instruction, each with a tail: the whole is accounted for, and no name of a fence
 * for what has a prefix.
 */
static void test_sweep(void **state)
{
	(void)state;
	for (enum disasm_machine m = 0; m < DISASM_MACHINE_COUNT; m++) {
		for (unsigned int word = 0; word < 65536; word += m == DISASM_X86_64 ? 1 : 7) {
			unsigned char bytes[4] = { (unsigned char)word, (unsigned char)(word >> 8), 0xae, 0xf0 };
			char text[256];
			int err = disasm_machine_text(m, bytes, sizeof(bytes), text, sizeof(text));

			assert_true(err == 0 || err == -EILSEQ || err == -ENOTSUP);
			assert_true(*text);
			assert_int_equal(err == -EILSEQ, strstr(text, "(undecoded)") != NULL);
			assert_int_equal(err == -ENOTSUP, strstr(text, "not decodable") != NULL);
			if (m == DISASM_X86_64 && bytes[1] == 0x0f &&
			    (bytes[0] == 0x66 || bytes[0] == 0xf2 || bytes[0] == 0xf3))
				assert_null(strstr(text, "fence"));
		}
	}
}

static void test_names(void **state)
{
	static const char *const names[] = {
#define X(ident, name) [DISASM_##ident] = name,
		DISASM_MACHINES(X)
#undef X
	};

	(void)state;
	for (enum disasm_machine m = 0; m < DISASM_MACHINE_COUNT; m++)
		assert_string_equal(disasm_machine_name(m), names[m]);
	assert_int_not_equal(disasm_native(), DISASM_MACHINE_COUNT);
}

/* This program's own text, as the assembler wrote it. */
__asm__(".text\n"
	".globl test_disasm_nops, test_disasm_nops_end\n"
	"test_disasm_nops:\n\tnop\n\tnop\ntest_disasm_nops_end:\n");
extern const unsigned char test_disasm_nops[] __attribute__((visibility("hidden")));
extern const unsigned char test_disasm_nops_end[] __attribute__((visibility("hidden")));

static void test_native(void **state)
{
	size_t n = (size_t)((uintptr_t)test_disasm_nops_end - (uintptr_t)test_disasm_nops);
	char text[256], other[256];
	int err = disasm_text(test_disasm_nops, n, text, sizeof(text));

	(void)state;
	assert_int_equal(err, disasm_machine_text(disasm_native(), test_disasm_nops, n, other, sizeof(other)));
	assert_string_equal(text, other);
	if (err == -ENOTSUP)
		skip();
	assert_int_equal(err, 0);
#ifdef __s390x__	/* its nop is a branch that never branches */
	assert_non_null(strchr(text, ';'));
#else
	assert_string_equal(text, "nop; nop");
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decode), cmocka_unit_test(test_sizes),  cmocka_unit_test(test_sweep),
		cmocka_unit_test(test_names),  cmocka_unit_test(test_native),
	};

	return cmocka_run_group_tests_name("disasm", tests, NULL, NULL);
}
