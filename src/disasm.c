/* SPDX-License-Identifier: GPL-2.0-only */
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <capstone/capstone.h>

#include "disasm.h"
#include "util.h"

#define NO_ARCH CS_ARCH_MAX	/* cs_open() refuses it */

#if CS_API_MAJOR >= 5
#define RISCV_ARCH CS_ARCH_RISCV
#define RISCV_MODE (CS_MODE_RISCV64 | CS_MODE_RISCVC)
#else
#define RISCV_ARCH NO_ARCH
#define RISCV_MODE CS_MODE_LITTLE_ENDIAN
#endif
#if CS_API_MAJOR >= 6
#define AARCH64_ARCH CS_ARCH_AARCH64
#define S390X_ARCH CS_ARCH_SYSTEMZ
#else
#define AARCH64_ARCH CS_ARCH_ARM64
#define S390X_ARCH CS_ARCH_SYSZ
#endif

/* How data is written in the machine's own assembler when it cannot be decoded, and in pieces of how many bytes. */
static const struct machine {
	const char *name;
	cs_arch arch;
	uint32_t mode;
	unsigned int unit;	/* bytes of the smallest instruction */
	bool big;
} machines[DISASM_MACHINE_COUNT] = {
	[DISASM_X86_64] = { "x86_64", CS_ARCH_X86, CS_MODE_64, 1, false },
	[DISASM_I386] = { "i386", CS_ARCH_X86, CS_MODE_32, 1, false },
	[DISASM_AARCH64] = { "aarch64", AARCH64_ARCH, CS_MODE_LITTLE_ENDIAN, 4, false },
	[DISASM_ARM] = { "arm", CS_ARCH_ARM, (uint32_t)CS_MODE_ARM | CS_MODE_V8, 4, false },
	[DISASM_THUMB] = { "thumb", CS_ARCH_ARM, CS_MODE_THUMB, 2, false },
	[DISASM_PPC64] = { "ppc64", CS_ARCH_PPC, CS_MODE_64 | (uint32_t)CS_MODE_BIG_ENDIAN, 4, true },
	[DISASM_PPC64LE] = { "ppc64le", CS_ARCH_PPC, CS_MODE_64, 4, false },
	[DISASM_RISCV64] = { "riscv64", RISCV_ARCH, RISCV_MODE, 2, false },
	[DISASM_S390X] = { "s390x", S390X_ARCH, (uint32_t)CS_MODE_BIG_ENDIAN, 2, true },
	[DISASM_MIPS64] = { "mips64", CS_ARCH_MIPS, CS_MODE_64 | (uint32_t)CS_MODE_BIG_ENDIAN, 4, true },
	[DISASM_MIPS64EL] = { "mips64el", CS_ARCH_MIPS, CS_MODE_64, 4, false },
	[DISASM_ALPHA] = { "alpha", NO_ARCH, 0, 4, false },
	[DISASM_UNKNOWN] = { "this machine", NO_ARCH, 0, 1, false },
};

enum disasm_machine disasm_native(void)
{
#if defined(__x86_64__)
	return DISASM_X86_64;
#elif defined(__i386__)
	return DISASM_I386;
#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	return DISASM_AARCH64;
#elif defined(__thumb__)
	return DISASM_THUMB;
#elif defined(__arm__)
	return DISASM_ARM;
#elif defined(__powerpc__)
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? DISASM_PPC64 : DISASM_PPC64LE;
#elif defined(__riscv)
	return DISASM_RISCV64;
#elif defined(__s390x__)
	return DISASM_S390X;
#elif defined(__mips__)
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? DISASM_MIPS64 : DISASM_MIPS64EL;
#elif defined(__alpha__)
	return DISASM_ALPHA;
#else
	return DISASM_UNKNOWN;
#endif
}

const char *disasm_machine_name(enum disasm_machine machine)
{
	return machines[machine].name;
}

/* A text that grows in a caller's buffer and ends in "..." when it does not fit. */
struct text {
	char *out;
	size_t size, used;
	bool pending;		/* a "; " is due before the next piece */
	bool cut;
};

static void append(struct text *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

static void append(struct text *t, const char *fmt, ...)
{
	const char *separator = t->pending ? "; " : "";
	va_list ap;
	int n;

	t->pending = false;
	if (t->cut || t->size == 0)
		return;
	n = snprintf(t->out + t->used, t->size - t->used, "%s", separator);
	t->used += (size_t)n;
	if (t->used < t->size) {
		va_start(ap, fmt);
		n = vsnprintf(t->out + t->used, t->size - t->used, fmt, ap);
		va_end(ap);
		t->used += n < 0 ? 0 : (size_t)n;
	}
	t->cut = t->used >= t->size;
	if (t->cut && t->size >= 4)
		memcpy(t->out + t->size - 4, "...", 4);
}

/*
 * x86 instructions that capstone 4 lacks or misnames: the bytes before the last, and the last as a range of eight when
 * it names a register. Source: Intel SDM volume 2 (SERIALIZE, TPAUSE, UMONITOR, UMWAIT, RDPID), AMD APM volume 3
 * (MONITORX, MWAITX).
 */
static const struct x86_known {
	unsigned char n, bytes[4];
	const char *mnemonic;
	char reg;		/* 0: no register; 'd': 32 bit; 'p': as wide as a pointer */
} x86_known[] = {
	{ 3, { 0x0f, 0x01, 0xe8 }, "serialize", 0 },
	{ 3, { 0x0f, 0x01, 0xfa }, "monitorx", 0 },
	{ 3, { 0x0f, 0x01, 0xfb }, "mwaitx", 0 },
	{ 4, { 0x66, 0x0f, 0xae, 0xf0 }, "tpause", 'd' },
	{ 4, { 0xf2, 0x0f, 0xae, 0xf0 }, "umwait", 'd' },
	{ 4, { 0xf3, 0x0f, 0xae, 0xf0 }, "umonitor", 'p' },
	{ 4, { 0xf3, 0x0f, 0xc7, 0xf8 }, "rdpid", 'p' },
};

static size_t decode_x86(enum disasm_machine machine, const unsigned char *bytes, size_t n, struct text *t)
{
	static const char *const reg[8] = { "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" };
	size_t reps = 0;

	for (size_t i = 0; i < ARRAY_SIZE(x86_known); i++) {
		const struct x86_known *k = &x86_known[i];
		unsigned int last = k->n - 1u;

		if (n < k->n || memcmp(bytes, k->bytes, last) != 0 ||
		    (k->reg ? bytes[last] & 0xf8 : bytes[last]) != k->bytes[last])
			continue;
		append(t, "%s", k->mnemonic);
		if (k->reg)
			append(t, " %%%c%s", k->reg == 'p' && machine == DISASM_X86_64 ? 'r' : 'e',
			       reg[bytes[last] & 7]);
		return k->n;
	}
	/*
	 * More REP prefixes than PAUSE itself has: capstone prints one mnemonic for all of them, which would hide the
	 * difference.
	 */
	while (reps < n && bytes[reps] == 0xf3)
		reps++;
	if (reps < 2 || reps == n || bytes[reps] != 0x90 || reps > 14)
		return 0;
	for (size_t i = 1; i < reps; i++)
		append(t, "rep ");
	append(t, "pause");
	return reps + 1;
}

/*
 * Hints of the machines with fixed-size instructions that capstone 4 lacks (riscv altogether) or shows as a write to a
 * nameless register. Sources: Arm ARM (C6.2 SB, WFET, WFIT), RISC-V unprivileged ISA (Zihintpause, Zifencei).
 */
static const struct word_known {
	enum disasm_machine machine;
	uint32_t mask, value;
	const char *text;
	unsigned int shift;	/* of a register number of 5 bits that follows the text; 32: none */
} word_known[] = {
	{ DISASM_AARCH64, 0xffffffff, 0xd50330ff, "sb", 32 },
	{ DISASM_AARCH64, 0xffffffe0, 0xd5031000, "wfet x", 0 },
	{ DISASM_AARCH64, 0xffffffe0, 0xd5031020, "wfit x", 0 },
	{ DISASM_RISCV64, 0xffffffff, 0x0100000f, "pause", 32 },
	{ DISASM_RISCV64, 0xffffffff, 0x00000013, "nop", 32 },
	{ DISASM_RISCV64, 0xffffffff, 0x0000100f, "fence.i", 32 },
};

static uint32_t word_at(const unsigned char *b, bool big)
{
	return big ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3] :
		     (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

/* Power: or rN,rN,rN does nothing but, for some N, hint: show the instruction, not its alias for a move. */
static size_t decode_ppc(uint32_t word, struct text *t)
{
	unsigned int s = word >> 21 & 31, a = word >> 16 & 31, b = word >> 11 & 31;

	if ((word & 0xfc0007ff) != 0x7c000378 || s != a || s != b)
		return 0;
	append(t, "or r%u, r%u, r%u", s, s, s);
	return 4;
}

/* z/Architecture Principles of Operation: NIAI (two immediate fields in the last byte), STORE CLOCK, STORE CLOCK FAST.
 */
static size_t decode_s390(uint32_t word, struct text *t)
{
	unsigned int opcode = word >> 16;

	if ((word & 0xffffff00) == 0xb2fa0000)
		append(t, "niai %u, %u", (unsigned int)(word >> 4 & 15), (unsigned int)(word & 15));
	else if (opcode == 0xb205 || opcode == 0xb27c)
		append(t, "%s %u(%%r%u)", opcode == 0xb205 ? "stck" : "stckf", (unsigned int)(word & 0xfff),
		       (unsigned int)(word >> 12 & 15));
	else
		return 0;
	return 4;
}

/* Arm ARM C6.2 CAS, LDADD, SWP (FEAT_LSE) of words and doublewords: A acquires, L releases. */
static size_t decode_lse(uint32_t word, struct text *t)
{
	unsigned int s = word >> 16 & 31, n = word >> 5 & 31, r = word & 31;
	char width = word >> 30 & 1 ? 'x' : 'w', rs[8], rt[8], rn[8];
	const char *name;
	bool acquire, release;

	if ((word & 0xbfa07c00) == 0x88a07c00) {
		name = "cas";
		acquire = word >> 22 & 1;
		release = word >> 15 & 1;
	} else if ((word & 0xbf207c00) == 0xb8200000) {
		name = word >> 15 & 1 ? "swp" : "ldadd";
		acquire = word >> 23 & 1;
		release = word >> 22 & 1;
	} else {
		return 0;
	}
	snprintf(rs, sizeof(rs), s == 31 ? "%czr" : "%c%u", width, s);
	snprintf(rt, sizeof(rt), r == 31 ? "%czr" : "%c%u", width, r);
	snprintf(rn, sizeof(rn), n == 31 ? "sp" : "x%u", n);
	append(t, "%s%s%s %s, %s, [%s]", name, acquire ? "a" : "", release ? "l" : "", rs, rt, rn);
	return 4;
}

static size_t decode_word(enum disasm_machine machine, const unsigned char *bytes, size_t n, struct text *t)
{
	uint32_t word;

	if (n < 4)
		return 0;
	word = word_at(bytes, machines[machine].big);
	for (size_t i = 0; i < ARRAY_SIZE(word_known); i++) {
		const struct word_known *k = &word_known[i];

		if (k->machine != machine || (word & k->mask) != k->value)
			continue;
		append(t, "%s", k->text);
		if (k->shift < 32)
			append(t, "%u", (unsigned int)(word >> k->shift & 31));
		return 4;
	}
	if (machine == DISASM_PPC64 || machine == DISASM_PPC64LE)
		return decode_ppc(word, t);
	if (machine == DISASM_S390X)
		return decode_s390(word, t);
	if (machine == DISASM_AARCH64)
		return decode_lse(word, t);
	/*
	 * MIPS64 volume II, RDHWR: capstone 4 has it for none of its modes. Registers by number: their names depend on
	 * the ABI.
	 */
	if ((machine == DISASM_MIPS64 || machine == DISASM_MIPS64EL) && (word & 0xffe007ff) == 0x7c00003b) {
		append(t, "rdhwr $%u, $%u", (unsigned int)(word >> 16 & 31), (unsigned int)(word >> 11 & 31));
		return 4;
	}
	return 0;
}

/*
 * Prefixes that capstone 4 ignores where they make another instruction (or none): a fence or RDRAND/RDSEED with one is
 * not what it says.
 */
static bool misnamed(enum disasm_machine machine, const cs_insn *insn)
{
	static const char *const names[] = { "mfence",	"lfence", "sfence", "rdseed", "rdrand",
					     "monitor", "mwait",  "cpuid",  "rdtsc",  "rdtscp" };
	static const char prefixes[] = "\x66\x67\xf0\xf2\xf3\x26\x2e\x36\x3e\x64\x65";
	bool operand_size = false, other = false;

	if (machine != DISASM_X86_64 && machine != DISASM_I386)
		return false;
	for (size_t i = 0; i < insn->size && insn->bytes[i] && strchr(prefixes, insn->bytes[i]); i++) {
		operand_size = operand_size || insn->bytes[i] == 0x66;
		other = other || insn->bytes[i] >= 0xf0;
	}
	if (!operand_size && !other)
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t length = strlen(names[i]);

		/* rdseedw and rdrandw do take the prefix 66 */
		if (strncmp(insn->mnemonic, names[i], length) == 0 && (other || insn->mnemonic[length] != 'w'))
			return true;
	}
	return false;
}

/* @offset: of the instruction in what is shown, so that the targets of branches are offsets too. */
static size_t decode_capstone(csh handle, enum disasm_machine machine, const unsigned char *bytes, size_t n,
			      uint64_t offset, struct text *t)
{
	cs_insn *insn;
	size_t size = 0;

	if (!handle || cs_disasm(handle, bytes, n, offset, 1, &insn) == 0)
		return 0;
	if (insn->size > 0 && !misnamed(machine, insn)) {
		size = insn->size;
		/* nop with operand-size prefixes, as objdump's "data16": another length, another instruction */
		if (strcmp(insn->mnemonic, "nop") == 0 && (machine == DISASM_X86_64 || machine == DISASM_I386))
			for (size_t i = 0; i < size && bytes[i] == 0x66; i++)
				append(t, "data16 ");
		append(t, "%s%s%s", insn->mnemonic, insn->op_str[0] ? " " : "", insn->op_str);
	}
	cs_free(insn, 1);
	return size;
}

static csh open_handle(const struct machine *m)
{
	csh handle = 0;

	if (m->arch == NO_ARCH || cs_open(m->arch, (cs_mode)m->mode, &handle) != CS_ERR_OK)
		return 0;
	if (m->arch == CS_ARCH_X86)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	return handle;
}

/*
 * How many bytes an instruction that could not be decoded has: what follows it is decoded again only where the encoding
 * itself tells.
 */
static size_t skip(enum disasm_machine machine, const unsigned char *bytes, size_t n)
{
	size_t size = machines[machine].unit;

	if (size == 1)
		size = n;	/* x86: no length without decoding; the rest would be guesses */
	else if (machine == DISASM_S390X)
		size = bytes[0] < 0x40 ? 2 : bytes[0] < 0xc0 ? 4 : 6;
	else if (machine == DISASM_RISCV64)
		size = (bytes[0] & 3) == 3 ? 4 : 2;
	else if (machine == DISASM_THUMB && n > 1)
		size = bytes[1] >= 0xe8 ? 4 : 2;
	return size < n ? size : n;
}

int disasm_machine_text(enum disasm_machine machine, const unsigned char *bytes, size_t n, char *out, size_t size)
{
	const struct machine *m = &machines[machine];
	struct text t = { .out = out, .size = size };
	csh handle = open_handle(m);
	bool have = handle != 0;
	size_t undecoded = 0, known = 0;
	bool in_data = false;

	if (size > 0)
		out[0] = '\0';
	for (size_t i = 0, step; i < n; i += step) {
		t.pending = i > 0;
		step = m->unit == 1 ? decode_x86(machine, bytes + i, n - i, &t)
				    : decode_word(machine, bytes + i, n - i, &t);
		if (step == 0)
			step = decode_capstone(handle, machine, bytes + i, n - i, i, &t);
		if (step > 0) {
			known += step;
			in_data = false;
			continue;
		}
		/* Data, one directive for all that stands together. */
		t.pending = t.pending && !in_data;
		step = skip(machine, bytes + i, n - i);
		for (size_t j = 0; j < step; j++, in_data = true)
			append(&t, "%s0x%02x", in_data ? "," : ".byte ", bytes[i + j]);
		undecoded += step;
	}
	if (have)
		cs_close(&handle);
	if (!have && undecoded > 0 && known == 0) {
		t = (struct text){ .out = out, .size = size };
		append(&t, "not decodable here: capstone %d.%d lacks %s", CS_API_MAJOR, CS_API_MINOR, m->name);
		return -ENOTSUP;
	}
	if (undecoded > 0)
		append(&t, " (undecoded)");
	return t.cut ? -ENOBUFS : undecoded ? -EILSEQ : 0;
}

int disasm_text(const unsigned char *bytes, size_t n, char *out, size_t size)
{
	return disasm_machine_text(disasm_native(), bytes, n, out, size);
}

int disasm_bytes_hex(const unsigned char *bytes, size_t n, char *out, size_t size)
{
	struct text t = { .out = out, .size = size };

	if (size > 0)
		out[0] = '\0';
	for (size_t i = 0; i < n; i++)
		append(&t, "%s%02x", i ? " " : "", bytes[i]);
	return t.cut ? -ENOBUFS : 0;
}

extern const char etext[];	/* end(3): the linker's end of the text */

#define FUNCTION_BYTES_MAX 8192		/* looked at from the function's start; the loops in question are far shorter */

/* The target of a direct branch: capstone writes it as the last operand, 0x..., on some machines after # or $. */
static bool branch_target(csh handle, const cs_insn *insn, uint64_t *target)
{
	const char *s = strrchr(insn->op_str, ' ');
	char *end;

	if (!cs_insn_group(handle, insn, CS_GRP_JUMP) || cs_insn_group(handle, insn, CS_GRP_CALL))
		return false;
	s = s ? s + 1 : insn->op_str;
	s += strspn(s, "#$");
	*target = strtoull(s, &end, 0);
	return end != s && !*end;
}

int disasm_loop_around(const unsigned char *function, const unsigned char *at, const unsigned char *at_end,
		       const unsigned char **begin, const unsigned char **end)
{
	uint64_t address = (uintptr_t)function, shortest = UINT64_MAX, target;
	size_t left = FUNCTION_BYTES_MAX, text_left = (size_t)(etext - (const char *)function);
	const uint8_t *code = function;
	cs_insn *insn;
	csh handle = open_handle(&machines[disasm_native()]);

	if (!handle)
		return -ENOTSUP;
	/* Nothing need be mapped behind the program's text. A function elsewhere (a library's) has no such end. */
	if ((const char *)function < etext && text_left < left)
		left = text_left;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	cs_option(handle, CS_OPT_SKIPDATA, CS_OPT_ON);	/* hints that capstone does not know must not end the walk */
	insn = cs_malloc(handle);
	while (insn && cs_disasm_iter(handle, &code, &left, &address, insn)) {
		uint64_t after = insn->address + insn->size;

		if (insn->id == 0 || insn->address < (uintptr_t)at_end || !branch_target(handle, insn, &target))
			continue;
		if (target >= (uintptr_t)function && target <= (uintptr_t)at && after - target < shortest) {
			shortest = after - target;
			*begin = (const unsigned char *)(uintptr_t)target;
			*end = (const unsigned char *)(uintptr_t)after;
		}
	}
	if (insn)
		cs_free(insn, 1);
	cs_close(&handle);
	return shortest == UINT64_MAX ? -ENOENT : 0;
}
