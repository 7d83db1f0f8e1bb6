/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decoders, the search for candidates, loops, and damaged images. What whole files give is tested by tests/scan.sh, and
 * against objdump by tests/scan-objdump.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elfscan-private.h"

struct sample {
	const char *bytes;
	unsigned int len;
	enum insn_flow flow;
	int64_t target;
	const char *hint;
};

#define S(text, flow, target, hint) { text, sizeof(text) - 1, flow, target, hint }

static void check(const struct isa *isa, const struct sample *s, size_t n)
{
	size_t i, cut;

	for (i = 0; i < n; i++) {
		uint8_t padded[32];
		struct insn in;

		/* What follows must not matter. */
		memset(padded, 0x90, sizeof(padded));
		memcpy(padded, s[i].bytes, s[i].len);
		isa->decode(isa, padded, sizeof(padded), &in);
		if (in.len != s[i].len || in.flow != s[i].flow)
			fail_msg("%s row %zu: length %u, flow %u; expected %u, %u", isa->name, i, in.len, in.flow,
				 s[i].len, s[i].flow);
		if ((s[i].flow == INSN_COND || s[i].flow == INSN_JUMP) && in.target != s[i].target)
			fail_msg("%s row %zu: target %lld, expected %lld", isa->name, i, (long long)in.target,
				 (long long)s[i].target);
		if (s[i].hint) {
			if (in.hint < 0 || strcmp(isa->hints[in.hint].name, s[i].hint))
				fail_msg("%s row %zu: hint %d, expected %s", isa->name, i, in.hint, s[i].hint);
		} else if (in.hint >= 0) {
			fail_msg("%s row %zu: unexpected hint %s", isa->name, i, isa->hints[in.hint].name);
		}
		/* Cut off, it is no instruction; nothing is read past the end (the sanitizers see to that). */
		for (cut = 0; s[i].flow != INSN_BAD && cut < s[i].len; cut++) {
			uint8_t *exact = malloc(cut ? cut : 1);

			assert_non_null(exact);
			memcpy(exact, s[i].bytes, cut);
			isa->decode(isa, exact, cut, &in);
			if (isa->align > 1 || cut == 0)
				assert_int_equal(in.flow == INSN_BAD || in.len <= cut, 1);
			else if (in.flow != INSN_BAD && in.len > cut)
				fail_msg("%s row %zu cut to %zu: length %u", isa->name, i, cut, in.len);
			free(exact);
		}
	}
}

static void test_x86_64(void **state)
{
	static const struct sample s[] = {
		S("\xf3\x90", INSN_NEXT, 0, "pause"),
		S("\xf3\xf3\x90", INSN_NEXT, 0, "rep-pause"),
		S("\xf3\xf3\xf3\x90", INSN_NEXT, 0, "prefixed-pause"),
		S("\x66\xf3\x90", INSN_NEXT, 0, "prefixed-pause"),
		S("\xf3\x66\x90", INSN_NEXT, 0, "prefixed-pause"),
		S("\xf3\x48\x90", INSN_NEXT, 0, "prefixed-pause"),
		S("\xf2\xf3\x90", INSN_NEXT, 0, "prefixed-pause"),
		S("\xf3\xf2\x90", INSN_NEXT, 0, NULL),		/* the last of the two counts */
		S("\xf3\x41\x90", INSN_NEXT, 0, NULL),		/* xchg %r8d,%eax */
		S("\xf3\x41\x66\x90", INSN_NEXT, 0, "prefixed-pause"),	/* a REX that is not last is ignored */
		S("\x90", INSN_NEXT, 0, NULL),
		S("\x66\x90", INSN_NEXT, 0, NULL),
		S("\xf3\x0f\x1f\x90\x90\x90\x90\x90", INSN_NEXT, 0, NULL),
		S("\xb8\xf3\x90\xf3\x90", INSN_NEXT, 0, NULL),
		S("\x48\xb8\xf3\x90\xf3\x90\xf3\x90\xf3\x90", INSN_NEXT, 0, NULL),
		S("\xf3\x0f\x1e\xfa", INSN_NEXT, 0, NULL),	/* endbr64 */
		S("\x66\x0f\xae\xf1", INSN_NEXT, 0, "tpause"),
		S("\xf2\x0f\xae\xf7", INSN_NEXT, 0, "umwait"),
		S("\xf3\x0f\xae\xf0", INSN_NEXT, 0, "umonitor"),
		S("\x0f\xae\xf0", INSN_NEXT, 0, NULL),		/* mfence */
		S("\x66\x0f\xae\x30", INSN_NEXT, 0, NULL),	/* clwb (%rax) */
		S("\x0f\x01\xfa", INSN_NEXT, 0, "monitorx"),
		S("\x0f\x01\xfb", INSN_NEXT, 0, "mwaitx"),
		S("\x0f\x01\xe8", INSN_NEXT, 0, "serialize"),
		S("\xf2\x0f\x01\xe8", INSN_NEXT, 0, NULL),	/* xsusldtrk */
		S("\xfa", INSN_NEXT, 0, "cli"),
		S("\xfb", INSN_NEXT, 0, "sti"),
		S("\x75\xf0", INSN_COND, -14, NULL),
		S("\xeb\x10", INSN_JUMP, 18, NULL),
		S("\xe9\xfb\xff\xff\xff", INSN_JUMP, 0, NULL),
		S("\x0f\x84\x00\x01\x00\x00", INSN_COND, 262, NULL),
		S("\xe2\xfe", INSN_COND, 0, NULL),		/* loop */
		S("\xc7\xf8\x02\x00\x00\x00", INSN_COND, 8, NULL),	/* xbegin */
		S("\xe8\x00\x00\x00\x00", INSN_CALL, 0, NULL),
		S("\xff\x15\x00\x00\x00\x00", INSN_CALL, 0, NULL),
		S("\xff\xe0", INSN_INDIRECT, 0, NULL),
		S("\x3e\xff\xe0", INSN_INDIRECT, 0, NULL),	/* notrack jmp */
		S("\xc3", INSN_STOP, 0, NULL),
		S("\xf3\xc3", INSN_STOP, 0, NULL),
		S("\xc2\x08\x00", INSN_STOP, 0, NULL),
		S("\x0f\x0b", INSN_STOP, 0, NULL),
		S("\x66\xb8\x01\x02", INSN_NEXT, 0, NULL),
		S("\x66\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08", INSN_NEXT, 0, NULL),
		S("\xa1\x01\x02\x03\x04\x05\x06\x07\x08", INSN_NEXT, 0, NULL),
		S("\x67\xa1\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\xc8\x01\x02\x03", INSN_NEXT, 0, NULL),
		S("\xf6\x00\x01", INSN_NEXT, 0, NULL),		/* test with an immediate */
		S("\xf6\x10", INSN_NEXT, 0, NULL),		/* not without */
		S("\xf7\x00\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\x66\xf7\x00\x01\x02", INSN_NEXT, 0, NULL),
		S("\x8b\x04\x25\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\x8b\x44\x24\x08", INSN_NEXT, 0, NULL),
		S("\x8b\x05\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\x0f\x22\x00", INSN_NEXT, 0, NULL),		/* mov to %cr0: mod is ignored */
		S("\x0f\x70\xc0\x1b", INSN_NEXT, 0, NULL),
		S("\x66\x0f\x3a\x0f\xc1\x08", INSN_NEXT, 0, NULL),
		S("\xf3\x0f\x38\xf6\xc0", INSN_NEXT, 0, NULL),
		S("\x66\x0f\x78\xc0\x01\x02", INSN_NEXT, 0, NULL),	/* extrq */
		S("\x0f\x0f\xc1\x9e", INSN_NEXT, 0, NULL),	/* 3DNow!: the opcode comes last */
		S("\xc5\xf8\x77", INSN_NEXT, 0, NULL),		/* vzeroupper */
		S("\xc5\xf9\x70\xc0\x1b", INSN_NEXT, 0, NULL),
		S("\xc4\xe3\x7d\x19\xc1\x01", INSN_NEXT, 0, NULL),
		S("\xc4\xe2\x7d\x18\x05\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\x62\xf1\x7c\x48\x28\x40\x01", INSN_NEXT, 0, NULL),
		S("\x62\xf5\x7c\x48\x58\xc1", INSN_NEXT, 0, NULL),	/* AVX512-FP16 vaddph */
		S("\x62\xf3\x7d\x48\x3a\xc1\x01", INSN_NEXT, 0, NULL),
		S("\x8f\xe8\x78\xcc\xc1\x05", INSN_NEXT, 0, NULL),	/* XOP map 8 */
		S("\x8f\xea\x78\x10\xc1\x01\x02\x03\x04", INSN_NEXT, 0, NULL),	/* XOP map 10: bextr */
		S("\x8f\xc0", INSN_NEXT, 0, NULL),		/* pop */
		S("\x06", INSN_BAD, 0, NULL),
		S("\x82", INSN_BAD, 0, NULL),
	};
	static const uint8_t long_one[] = { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
					    0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90 };
	struct insn in;

	(void)state;
	check(&isas[ISA_X86_64], s, ARRAY_SIZE(s));
	x86_decode(&isas[ISA_X86_64], long_one, sizeof(long_one), &in);	/* 16 bytes: one more than there can be */
	assert_int_equal(in.flow, INSN_BAD);
	x86_decode(&isas[ISA_X86_64], long_one + 1, sizeof(long_one) - 1, &in);
	assert_int_equal(in.len, 15);
}

static void test_i386(void **state)
{
	static const struct sample s[] = {
		S("\xf3\x90", INSN_NEXT, 0, "pause"),
		S("\x40", INSN_NEXT, 0, NULL),			/* inc %eax: no prefix here */
		S("\x06", INSN_NEXT, 0, NULL),
		S("\xa1\x01\x02\x03\x04", INSN_NEXT, 0, NULL),
		S("\x67\xa1\x01\x02", INSN_NEXT, 0, NULL),
		S("\x67\x8b\x46\x01", INSN_NEXT, 0, NULL),	/* 16-bit addressing */
		S("\x67\x8b\x06\x01\x02", INSN_NEXT, 0, NULL),
		S("\x66\xe9\x01\x02", INSN_JUMP, 0x0205, NULL),
		S("\x9a\x01\x02\x03\x04\x05\x06", INSN_CALL, 0, NULL),
		S("\xc5\x00", INSN_NEXT, 0, NULL),		/* lds, not VEX */
		S("\xc5\xf8\x77", INSN_NEXT, 0, NULL),
		S("\x62\x00", INSN_NEXT, 0, NULL),		/* bound, not EVEX */
	};

	(void)state;
	check(&isas[ISA_I386], s, ARRAY_SIZE(s));
}

static void test_fixed(void **state)
{
	static const struct sample aarch64[] = {
		S("\x3f\x20\x03\xd5", INSN_NEXT, 0, "yield"),
		S("\x5f\x20\x03\xd5", INSN_NEXT, 0, "wfe"),
		S("\x1f\x20\x03\xd5", INSN_NEXT, 0, NULL),
		S("\xdf\x3f\x03\xd5", INSN_NEXT, 0, "isb"),
		S("\xff\x30\x03\xd5", INSN_NEXT, 0, "sb"),
		S("\x05\x10\x03\xd5", INSN_NEXT, 0, "wfet"),
		S("\xbf\x3b\x03\xd5", INSN_NEXT, 0, NULL) /* dmb ish */,
		S("\x9f\x20\x03\xd5", INSN_NEXT, 0, NULL) /* sev */,
		S("\xc0\x03\x5f\xd6", INSN_STOP, 0, NULL),
		S("\xff\xff\xff\x17", INSN_JUMP, -4, NULL),
		S("\xe1\xff\xff\x54", INSN_COND, -4, NULL),
		S("\xe0\xff\xff\x35", INSN_COND, -4, NULL),
		S("\xe0\xff\x07\x37", INSN_COND, -4, NULL),
		S("\x00\x00\x1f\xd6", INSN_INDIRECT, 0, NULL),
	};
	static const struct sample riscv[] = {
		S("\x0f\x00\x00\x01", INSN_NEXT, 0, "pause"),
		S("\x0f\x10\x00\x00", INSN_NEXT, 0, NULL) /* fence.i */,
		S("\x8f\x00\x00\x01", INSN_NEXT, 0, NULL) /* rd is not x0 */,
		S("\x0f\x00\xf0\x0f", INSN_NEXT, 0, NULL) /* fence */,
		S("\x73\x00\xd0\x00", INSN_NEXT, 0, "wrs.nto"),
		S("\x6f\xf0\xdf\xff", INSN_JUMP, -4, NULL),
		S("\xe3\x1e\x05\xfe", INSN_COND, -4, NULL),
		S("\xf5\xbf", INSN_JUMP, -4, NULL),
		S("\x75\xfd", INSN_COND, -4, NULL),
		S("\x82\x80", INSN_STOP, 0, NULL),
		S("\x67\x80\x00\x00", INSN_STOP, 0, NULL),
	};
	static const struct sample ppc[] = {
		S("\x7f\xff\xfb\x78", INSN_NEXT, 0, "or-31"),
		S("\x7c\x21\x0b\x78", INSN_NEXT, 0, "or-1"),
		S("\x7c\x63\x1b\x79", INSN_NEXT, 0, NULL) /* or. */,
		S("\x7c\x83\x1b\x78", INSN_NEXT, 0, NULL) /* or 3,4,3 */,
		S("\x7c\x00\x00\x3c", INSN_NEXT, 0, "wait"),
		S("\x4b\xff\xff\xfc", INSN_JUMP, -4, NULL),
		S("\x40\x82\xff\xfc", INSN_COND, -4, NULL),
		S("\x4e\x80\x00\x20", INSN_STOP, 0, NULL),
	};
	static const struct sample s390[] = {
		S("\x83\x00\x00\x44", INSN_NEXT, 0, "diag-44"),
		S("\x07\x07", INSN_NEXT, 0, "nopr"),
		S("\x07\xfe", INSN_STOP, 0, NULL),
		S("\xa7\x74\xff\xfe", INSN_COND, -4, NULL),
		S("\xc0\xf4\xff\xff\xff\xfd", INSN_JUMP, -6, NULL),
		S("\xec\x16\xff\xfd\x00\x76", INSN_COND, -6, NULL),
		S("\xe3\x10\x20\x00\x00\x04", INSN_NEXT, 0, NULL),
	};
	static const struct sample mips[] = {
		S("\x00\x00\x01\x40", INSN_NEXT, 0, "pause"), S("\x00\x00\x00\x40", INSN_NEXT, 0, NULL) /* ssnop */,
		S("\x14\x40\xff\xfe", INSN_COND, -4, NULL),   S("\x10\x00\xff\xfe", INSN_JUMP, -4, NULL),
		S("\x03\xe0\x00\x08", INSN_STOP, 0, NULL),
	};
	static const struct sample sparc[] = {
		S("\xb7\x80\x20\x80", INSN_NEXT, 0, "pause"), S("\x81\x40\x80\x00", INSN_NEXT, 0, "rd-ccr"),
		S("\x12\xbf\xff\xff", INSN_COND, -4, NULL),   S("\x10\x6f\xff\xff", INSN_JUMP, -4, NULL),
		S("\x81\xc3\xe0\x08", INSN_STOP, 0, NULL),
	};
	static const struct sample arm[] = {
		S("\x01\xf0\x20\xe3", INSN_NEXT, 0, "yield"), S("\x02\xf0\x20\x13", INSN_NEXT, 0, "wfe") /* wfene */,
		S("\x00\xf0\x20\xe3", INSN_NEXT, 0, NULL),    S("\xfd\xff\xff\x1a", INSN_COND, -4, NULL),
		S("\xfd\xff\xff\xea", INSN_JUMP, -4, NULL),   S("\x1e\xff\x2f\xe1", INSN_STOP, 0, NULL),
	};
	static const struct sample thumb[] = {
		S("\x10\xbf", INSN_NEXT, 0, "yield"),	   S("\x20\xbf", INSN_NEXT, 0, "wfe"),
		S("\x00\xbf", INSN_NEXT, 0, NULL),	   S("\xaf\xf3\x01\x80", INSN_NEXT, 0, "yield"),
		S("\xfc\xd1", INSN_COND, -4, NULL),	   S("\xfc\xe7", INSN_JUMP, -4, NULL),
		S("\x7f\xf4\xfe\xaf", INSN_COND, 0, NULL), S("\xff\xf7\xfe\xbf", INSN_JUMP, 0, NULL),
		S("\x70\x47", INSN_STOP, 0, NULL),
	};
	static const struct sample loongarch[] = {
		S("\x00\x00\x72\x38", INSN_NEXT, 0, "dbar"),
		S("\x00\x80\x72\x38", INSN_NEXT, 0, "ibar"),
		S("\x00\x07\x72\x38", INSN_NEXT, 0, NULL) /* dbar 0x700 */,
		S("\xff\xff\xff\x53", INSN_JUMP, -4, NULL),
		S("\x9f\xfc\xff\x47", INSN_COND, -4, NULL),
		S("\x20\x00\x00\x4c", INSN_STOP, 0, NULL),
	};

	(void)state;
	check(&isas[ISA_AARCH64], aarch64, ARRAY_SIZE(aarch64));
	check(&isas[ISA_RISCV64], riscv, ARRAY_SIZE(riscv));
	check(&isas[ISA_PPC_BE], ppc, ARRAY_SIZE(ppc));
	check(&isas[ISA_S390X], s390, ARRAY_SIZE(s390));
	check(&isas[ISA_MIPS_BE], mips, ARRAY_SIZE(mips));
	check(&isas[ISA_SPARC], sparc, ARRAY_SIZE(sparc));
	check(&isas[ISA_A32_LE], arm, ARRAY_SIZE(arm));
	check(&isas[ISA_T32_LE], thumb, ARRAY_SIZE(thumb));
	check(&isas[ISA_LOONGARCH], loongarch, ARRAY_SIZE(loongarch));
}

/* Every hint must lie behind one of the pairs that the search looks for, at any place and with any neighbours. */
static void test_search_finds_hints(void **state)
{
	struct random_state random;
	unsigned int id, round;
	size_t h, i;

	(void)state;
	random_seed(&random, 1);
	for (id = ISA_AARCH64; id < ISA_COUNT; id++)
		for (h = 0; h < isas[id].n_hints; h++)
			for (round = 0; round < 200; round++) {
				const struct isa *isa = &isas[id];
				const struct hint_row *row = &isa->hints[h];
				uint32_t w = row->value | ((uint32_t)random_u64(&random) & ~row->mask &
							   (row->len == 2 ? 0xffff : 0xffffffff));
				size_t at = random_below(&random, 150) & ~(size_t)(isa->align - 1), found;
				bool thumb = isa->align == 2 && !strcmp(isa->name, "arm");
				uint8_t buf[160];

				for (i = 0; i < sizeof(buf); i++)
					buf[i] = 0x55;
				for (i = 0; i < row->len; i++) {
					size_t from = isa->big ? row->len - 1 - i : i;

					if (thumb && row->len == 4)	/* two halfwords, the first one first */
						from = isa->big ? 3 - i : i ^ 2;
					buf[at + i] = (uint8_t)(w >> 8 * from);
				}
				found = isa_search(isa, false, buf, sizeof(buf), 0);
				if (found < at || found >= at + row->len)
					fail_msg("%s %s at %zu: found at %zu", isa->name, row->name, at, found);
			}
}

/* On random bytes that are rich in what hints are made of, the vectors must not miss one. */
static void test_search_x86(void **state)
{
	static const uint8_t rich[] = { 0xf3, 0x90, 0x66, 0x48, 0x0f, 0xae, 0xf0,
					0x01, 0xfa, 0xfb, 0xe8, 0x2e, 0xf2, 0x41 };
	struct random_state random;
	unsigned int round;
	uint8_t buf[300];
	size_t i, n;

	(void)state;
	random_seed(&random, 2);
	for (round = 0; round < 3000; round++) {
		n = 1 + random_below(&random, sizeof(buf));
		for (i = 0; i < n; i++)
			buf[i] = random_below(&random, 4) ? (uint8_t)random_u64(&random)
							  : rich[random_below(&random, sizeof(rich))];
		for (i = 0; i < n;) {
			size_t found = isa_search(&isas[ISA_X86_64], false, buf, n, i);
			struct insn in;

			/* No hint may begin and end before the place found. */
			for (; i + 1 < found; i++) {
				x86_decode(&isas[ISA_X86_64], buf + i, found - i, &in);
				if (in.hint >= 0 && isas[ISA_X86_64].hints[in.hint].when != HINT_PRIVILEGED)
					fail_msg("round %u: missed %s at %zu of %zu, found %zu", round,
						 x86_hints[in.hint].name, i, n, found);
			}
			i = found + 1;
		}
	}
}

static void run(struct analysis *a, const char *code, size_t n, unsigned int flags)
{
	static const uint32_t root = 0;

	a->budget_bytes = 1u << 20;
	a->decoded_bytes = 0;
	analysis_run(a, &isas[ISA_X86_64], (const uint8_t *)code, (uint32_t)n, &root, 1, flags | ANALYSE_FOLLOW);
}

#define RUN(a, code, flags) run(a, code, sizeof(code) - 1, flags)

static void test_loops(void **state)
{
	struct analysis a = { 0 };

	(void)state;
	/* 1: pause; cmpl $0,(%rdi); jne 1b; ret */
	RUN(&a, "\xf3\x90\x83\x3f\x00\x75\xf9\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	assert_true(a.hit[0].in_loop);
	assert_int_equal(a.hit[0].loop_end - a.hit[0].loop_start, 7);
	assert_int_equal(a.hit[0].reads, ELFSCAN_READS_YES);
	/* the same without the read: dec %ecx */
	RUN(&a, "\xf3\x90\xff\xc9\x75\xfa\xc3", ANALYSE_EXACT);
	assert_true(a.hit[0].in_loop);
	assert_int_equal(a.hit[0].reads, ELFSCAN_READS_NO);
	assert_int_equal(a.hit[0].spin, ELFSCAN_READS_NO);
	/* a call: the callee may read */
	RUN(&a, "\xf3\x90\xe8\x00\x00\x00\x00\x75\xf7\xc3", ANALYSE_EXACT);
	assert_int_equal(a.hit[0].reads, ELFSCAN_READS_UNKNOWN);
	/* a delay loop in a loop that reads: 0: mov (%rdi),%eax; 1: pause; dec %ecx; jnz 1b; jmp 0b */
	RUN(&a, "\x8b\x07\xf3\x90\xff\xc9\x75\xfa\xeb\xf6", ANALYSE_EXACT);
	assert_int_equal(a.hit[0].loop_end - a.hit[0].loop_start, 6);
	assert_int_equal(a.hit[0].reads, ELFSCAN_READS_NO);
	assert_int_equal(a.hit[0].spin, ELFSCAN_READS_YES);
	/* a backward branch over it that is no cycle: test; jne 5f; 4: ret; 5: pause; jmp 4b */
	RUN(&a, "\x85\xff\x75\x01\xc3\xf3\x90\xeb\xfb", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	assert_false(a.hit[0].in_loop);
	/* two hints in one loop */
	RUN(&a, "\xf3\x90\xf3\x90\x83\x3f\x00\x75\xf7\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 2);
	assert_int_equal(a.hit[0].loop_hints, 2);
	assert_int_equal(a.hit[1].loop_hints, 2);
	/* serialize counts in loops only */
	RUN(&a, "\x0f\x01\xe8\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 0);
	RUN(&a, "\x0f\x01\xe8\xeb\xfb", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	/* privileged ones on request only */
	RUN(&a, "\xfa\xfb\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 0);
	RUN(&a, "\xfa\xfb\xc3", ANALYSE_EXACT | ANALYSE_PRIVILEGED);
	assert_int_equal(a.n_hits, 2);
	analysis_free(&a);
}

static void test_data(void **state)
{
	struct analysis a = { 0 };

	(void)state;
	/* jmp over data that ends in the middle of an instruction; then a real one */
	RUN(&a, "\xeb\x04\xf3\x90\xf3\xb8\xf3\x90\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	assert_int_equal(a.hit[0].pos, 6);
	assert_int_equal(a.n_data, 1);
	/* the same with an indirect jump in the function: may be a case of a switch */
	a.n_data = 0;
	RUN(&a, "\x85\xff\x75\x02\xff\xe0\xc3\xf3\x90\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	assert_false(a.hit[0].followed);
	/* and with bytes around it that are no code */
	RUN(&a, "\x85\xff\x75\x02\xff\xe0\xc3\x06\x07\xf3\x90\x06\x27", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 0);
	/* an instruction inside another: je over a lock prefix, then pause */
	RUN(&a, "\x74\x01\xf0\x0f\xb1\x0f\xf3\x90\xc3", ANALYSE_EXACT);
	assert_int_equal(a.n_hits, 1);
	analysis_free(&a);
}

struct seen {
	unsigned int n;
	struct elfscan_hit last;
};

static int count(void *ctx, const struct elfscan_hit *hit)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->last = *hit;
	return 0;
}

/* A file with one segment: pause; pause; ret. */
static size_t make_elf(uint8_t *buf)
{
	static const uint8_t code[] = { 0xf3, 0x90, 0xf3, 0x90, 0xc3 };
	Elf64_Ehdr eh = { .e_ident = ELFMAG,
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = 1,
			  .e_phoff = sizeof(eh),
			  .e_ehsize = sizeof(eh),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1,
			  .e_entry = 0x400000 + sizeof(eh) + sizeof(Elf64_Phdr) };
	Elf64_Phdr ph = { .p_type = PT_LOAD,
			  .p_flags = PF_R | PF_X,
			  .p_vaddr = 0x400000,
			  .p_filesz = sizeof(eh) + sizeof(ph) + sizeof(code) };

	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_ident[EI_DATA] = ELFDATA2LSB;
	eh.e_ident[EI_VERSION] = 1;
	memcpy(buf, &eh, sizeof(eh));
	memcpy(buf + sizeof(eh), &ph, sizeof(ph));
	memcpy(buf + sizeof(eh) + sizeof(ph), code, sizeof(code));
	return sizeof(eh) + sizeof(ph) + sizeof(code);
}

static void test_image(void **state)
{
	struct seen seen = { 0 };
	struct elfscan_options options = { .hit = count, .ctx = &seen };
	struct elfscan *scan = elfscan_new(&options);
	struct elfscan_result r;
	uint8_t buf[512];
	size_t n = make_elf(buf), i;

	(void)state;
	elfscan_image(scan, buf, n, "image", &r);
	assert_int_equal(r.status, ELFSCAN_DONE);
	assert_int_equal(r.n_hits, 2);
	assert_int_equal(seen.n, 2);
	assert_int_equal(seen.last.confidence, ELFSCAN_SEGMENT_SWEEP);
	assert_string_equal(seen.last.machine, "x86-64");
	assert_int_equal(seen.last.address, 0x400000 + n - 3);
	assert_int_equal(seen.last.n_bytes, 2);
	/* Every prefix: an answer, a reason, nothing read past the end. */
	for (i = 0; i < n; i++) {
		uint8_t *prefix = malloc(i ? i : 1);

		assert_non_null(prefix);
		memcpy(prefix, buf, i);
		elfscan_image(scan, prefix, i, "prefix", &r);
		if (r.status == ELFSCAN_DONE)
			fail_msg("prefix of %zu of %zu bytes: taken for whole", i, n);
		assert_true(r.why.text[0]);
		free(prefix);
	}
	/* Every bit turned: an answer. */
	for (i = 0; i < n * 8; i++) {
		buf[i / 8] ^= (uint8_t)(1u << (i % 8));
		elfscan_image(scan, buf, n, "turned", &r);
		if (r.status != ELFSCAN_DONE)
			assert_true(r.why.text[0]);
		buf[i / 8] ^= (uint8_t)(1u << (i % 8));
	}
	elfscan_free(scan);
}

static void test_names(void **state)
{
	struct elfscan_hint_info info;
	size_t n = 0;

	(void)state;
	while (elfscan_hint_info(n, &info)) {
		assert_non_null(info.name);
		assert_non_null(info.bytes);
		assert_non_null(info.when);
		n++;
	}
	assert_true(n > 30);
	assert_string_equal(machine_name(EM_SH), "EM_SH");
	assert_string_equal(machine_name(54321), "EM_54321");
	assert_null(isa_of(EM_SH, ELFCLASS32, false, 0, ET_EXEC));
	assert_ptr_equal(isa_of(EM_ARM, ELFCLASS32, true, EF_ARM_BE8, ET_EXEC), &isas[ISA_A32_LE]);
	assert_ptr_equal(isa_of(EM_ARM, ELFCLASS32, true, EF_ARM_BE8, ET_REL), &isas[ISA_A32_BE]);
	assert_ptr_equal(isa_of(EM_AARCH64, ELFCLASS64, true, 0, ET_DYN), &isas[ISA_AARCH64]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_x86_64),
		cmocka_unit_test(test_i386),
		cmocka_unit_test(test_fixed),
		cmocka_unit_test(test_search_finds_hints),
		cmocka_unit_test(test_search_x86),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_data),
		cmocka_unit_test(test_image),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
