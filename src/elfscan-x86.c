/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where x86 instructions begin and end, where they branch to, and which of them are spin-wait hints.
 *
 * Not left to capstone, which decodes 2 million instructions a second (objdump does as many: a library of 110 MB takes
 * 14 s) and whose version 4 knows neither tpause, umwait and serialize nor AVX512-FP16: an instruction that is not
 * known has no length, and everything after it is a guess. Lengths follow from prefixes, opcode map, ModRM and a few
 * bits, for future instructions too: SDM volume 2, chapter 2 and appendix A; APM volume 3, chapter 1 (XOP, 3DNow!).
 * Checked against objdump, instruction by instruction.
 */
#include <string.h>

#include "elfscan-private.h"

/* The rows' order is that of enum x86_hint. */
enum x86_hint {
	X86_PAUSE,
	X86_REP_PAUSE,
	X86_PREFIXED_PAUSE,
	X86_TPAUSE,
	X86_UMWAIT,
	X86_UMONITOR,
	X86_MONITORX,
	X86_MWAITX,
	X86_SERIALIZE,
	X86_CLI,
	X86_STI
};

const struct hint_row x86_hints[] = {
	[X86_PAUSE]          = { "pause",          0, 0, 2, HINT_ALWAYS,       "f3 90" },
	[X86_REP_PAUSE]      = { "rep-pause",      0, 0, 3, HINT_ALWAYS,       "f3 f3 90" },
	[X86_PREFIXED_PAUSE] = { "prefixed-pause", 0, 0, 3, HINT_ALWAYS,       "f3 90 with other prefixes" },
	[X86_TPAUSE]         = { "tpause",         0, 0, 4, HINT_ALWAYS,       "66 0f ae /6" },
	[X86_UMWAIT]         = { "umwait",         0, 0, 4, HINT_ALWAYS,       "f2 0f ae /6" },
	[X86_UMONITOR]       = { "umonitor",       0, 0, 4, HINT_ALWAYS,       "f3 0f ae /6" },
	[X86_MONITORX]       = { "monitorx",       0, 0, 3, HINT_ALWAYS,       "0f 01 fa" },
	[X86_MWAITX]         = { "mwaitx",         0, 0, 3, HINT_ALWAYS,       "0f 01 fb" },
	[X86_SERIALIZE]      = { "serialize",      0, 0, 3, HINT_LOOP_CERTAIN, "0f 01 e8" },
	[X86_CLI]            = { "cli",            0, 0, 1, HINT_PRIVILEGED,   "fa" },
	[X86_STI]            = { "sti",            0, 0, 1, HINT_PRIVILEGED,   "fb" },
};
const size_t x86_n_hints = ARRAY_SIZE(x86_hints);

/* What follows an opcode. */
enum {
	M = 1,		/* ModRM */
	B = 2,		/* imm8 */
	W = 4,		/* imm16 */
	Z = 8,		/* imm16 or imm32 by operand size */
	V = 16,		/* imm16, 32 or 64 by operand size */
	X = 32,		/* not an instruction in 64-bit mode */
	P = 64,		/* privileged, port I/O or obsolete */
	U = 128,	/* not an instruction */
};

static const uint8_t one_byte[256] = {
	/* 00 */ M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, 0,
	/* 10 */ M, M, M, M, B, Z, X, X, M, M, M, M, B, Z, X, X,
	/* 20 */ M, M, M, M, B, Z, 0, X, M, M, M, M, B, Z, 0, X,
	/* 30 */ M, M, M, M, B, Z, 0, X, M, M, M, M, B, Z, 0, X,
	/* 40 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 50 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	/* 60 */ X, X, M | X, M, 0, 0, 0, 0, Z, M | Z, B, M | B, P, P, P, P,
	/* 70 */ B, B, B, B, B, B, B, B, B, B, B, B, B, B, B, B,
	/* 80 */ M | B, M | Z, M | B | X, M | B, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 90 */ 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, W | Z | X, 0, 0, 0, 0, 0,
	/* a0 */ 0, 0, 0, 0, 0, 0, 0, 0, B, Z, 0, 0, 0, 0, 0, 0,
	/* b0 */ B, B, B, B, B, B, B, B, V, V, V, V, V, V, V, V,
	/* c0 */ M | B, M | B, W, 0, M | X, M | X, M | B, M | Z, W | B, 0, W, 0, 0, B, X, P,
	/* d0 */ M, M, M, M, B | X, B | X, X, 0, M, M, M, M, M, M, M, M,
	/* e0 */ B, B, B, B, B | P, B | P, B | P, B | P, Z, Z, W | Z | X, B, P, P, P, P,
	/* f0 */ 0, P, 0, 0, P, 0, M, M, 0, 0, P, P, 0, 0, M, M,
};

static const uint8_t two_byte[256] = {
	/* 00 */ M, M, M, M, U, 0, P, P, P, P, U, 0, U, M, 0, M | B,
	/* 10 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 20 */ M | P, M | P, M | P, M | P, U, U, U, U, M, M, M, M, M, M, M, M,
	/* 30 */ P, 0, P, 0, 0, P, U, P, U, U, U, U, U, U, U, U,
	/* 40 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 50 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 60 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* 70 */ M | B, M | B, M | B, M | B, M, M, M, 0, M, M, U, U, M, M, M, M,
	/* 80 */ Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z, Z,
	/* 90 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* a0 */ 0, 0, 0, M, M | B, M, M, M, 0, 0, P, M, M | B, M, M, M,
	/* b0 */ M, M, M, M, M, M, M, M, M, M, M | B, M, M, M, M, M,
	/* c0 */ M, M, M | B, M, M | B, M | B, M | B, M, 0, 0, 0, 0, 0, 0, 0, 0,
	/* d0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* e0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
	/* f0 */ M, M, M, M, M, M, M, M, M, M, M, M, M, M, M, M,
};

struct decoder {
	const uint8_t *p;
	size_t avail, at;	/* bytes there are; bytes used */
	bool bits64, op16, addr_small, rex_w, rex_b, lock;
	uint8_t rep;		/* the last of f2 and f3, or 0 */
	unsigned int n_prefixes, n_f3;
	bool vex;
};

static bool need(const struct decoder *d, size_t n)
{
	return d->avail - d->at >= n;
}

static int64_t signed_le(const uint8_t *p, unsigned int bytes)
{
	int8_t i8;
	int16_t i16;
	int32_t i32;

	switch (bytes) {
	case 1:
		memcpy(&i8, p, 1);
		return i8;
	case 2:
		i16 = (int16_t)(p[0] | p[1] << 8);
		return i16;
	default:
		i32 = (int32_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
		return i32;
	}
}

/* ModRM, SIB and displacement: SDM volume 2, tables 2-1 to 2-3. Returns false when cut off. */
static bool skip_modrm(struct decoder *d, uint8_t *modrm)
{
	unsigned int mod, rm, disp = 0;

	if (!need(d, 1))
		return false;
	*modrm = d->p[d->at++];
	mod = *modrm >> 6;
	rm = *modrm & 7;
	if (mod == 3)
		return true;
	if (!d->bits64 && d->addr_small) {	/* 16-bit addressing */
		disp = mod == 1 ? 1 : mod == 2 || rm == 6 ? 2 : 0;
	} else {
		if (rm == 4) {
			if (!need(d, 1))
				return false;
			if (mod == 0 && (d->p[d->at] & 7) == 5)
				disp = 4;
			d->at++;
		} else if (mod == 0 && rm == 5) {
			disp = 4;
		}
		if (mod)
			disp = mod == 1 ? 1 : 4;
	}
	if (!need(d, disp))
		return false;
	d->at += disp;
	return true;
}

static bool skip(struct decoder *d, unsigned int n)
{
	if (!need(d, n))
		return false;
	d->at += n;
	return true;
}

/* VEX, EVEX and XOP: all have ModRM (vzeroupper excepted); the map and opcode say whether an immediate follows. */
static bool decode_vex(struct decoder *d, uint8_t first, struct insn *out)
{
	unsigned int map, imm = 0;
	uint8_t opcode, modrm;

	if (!need(d, first == 0x62 ? 4 : first == 0xc5 ? 2 : 3))
		return false;
	if (first == 0x62) {
		map = d->p[d->at] & 7;
		d->at += 3;
	} else if (first == 0xc5) {
		map = 1;
		d->at += 1;
	} else {
		map = d->p[d->at] & 31;
		d->at += 2;
	}
	opcode = d->p[d->at++];
	if (first == 0x8f) {		/* APM volume 3, 1.2.7: maps 8, 9 and 10 */
		if (map > 10)
			return false;
		imm = map == 8 ? 1 : map == 10 ? 4 : 0;
	} else {
		switch (map) {
		case 1:
			if (opcode == 0x77 && first != 0x62)
				return true;	/* vzeroupper, vzeroall */
			imm = (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
			      (opcode >= 0xc4 && opcode <= 0xc6);
			break;
		case 2:
		case 5:
		case 6:
			break;
		case 3:
			imm = 1;
			break;
		case 7:
			imm = 4;		/* urdmsr, uwrmsr with an immediate */
			break;
		default:
			return false;
		}
	}
	out->flow = INSN_NEXT;
	return skip_modrm(d, &modrm) && skip(d, imm);
}

static bool decode_two_byte(struct decoder *d, struct insn *out)
{
	uint8_t opcode, modrm = 0;
	unsigned int kind;

	if (!need(d, 1))
		return false;
	opcode = d->p[d->at++];
	if (opcode == 0x38 || opcode == 0x3a) {
		if (!skip(d, 1) || !skip_modrm(d, &modrm))
			return false;
		return skip(d, opcode == 0x3a);
	}
	kind = two_byte[opcode];
	if (kind & U)
		return false;
	out->unlikely = kind & P;
	if (kind & M) {
		if (opcode >= 0x20 && opcode <= 0x23) {		/* mov to and from control registers: mod is ignored */
			if (!need(d, 1))
				return false;
			modrm = d->p[d->at++];
		} else if (!skip_modrm(d, &modrm)) {
			return false;
		}
	}
	if (kind & B && !skip(d, 1))
		return false;
	if (opcode == 0x78 && (d->rep == 0xf2 || (!d->rep && d->op16)) &&
	    !skip(d, 2)) /* extrq, insertq: APM volume 4 */
		return false;
	if (kind & Z) {
		unsigned int bytes = d->op16 && !d->rex_w ? 2 : 4;

		if (!skip(d, bytes))
			return false;
		out->flow = INSN_COND;
		out->target = signed_le(d->p + d->at - bytes, bytes) + (int64_t)d->at;
		return true;
	}
	switch (opcode) {
	case 0x01:
		if (d->rep || d->op16)
			break;
		if (modrm == 0xfa)
			out->hint = X86_MONITORX;
		else if (modrm == 0xfb)
			out->hint = X86_MWAITX;
		else if (modrm == 0xe8)
			out->hint = X86_SERIALIZE;
		break;
	case 0xae:
		if (modrm >> 3 != 0x1e)		/* mod 3, reg 6 */
			break;
		if (d->rep)
			out->hint = d->rep == 0xf3 ? X86_UMONITOR : X86_UMWAIT;
		else if (d->op16)
			out->hint = X86_TPAUSE;
		break;
	case 0x07:	/* sysret */
	case 0x35:	/* sysexit */
	case 0x0b:	/* ud2 */
	case 0xb9:
	case 0xff:
		out->flow = INSN_STOP;
		break;
	}
	return true;
}

static void pause_hint(const struct decoder *d, struct insn *out)
{
	/* With REX.B it is xchg with r8; the last of f2 and f3 counts; LOCK makes it invalid. */
	if (d->rep != 0xf3 || d->rex_b || d->lock)
		return;
	if (d->n_f3 == d->n_prefixes && d->n_f3 <= 2)
		out->hint = d->n_f3 == 1 ? X86_PAUSE : X86_REP_PAUSE;
	else
		out->hint = X86_PREFIXED_PAUSE;
}

static void one_byte_flow(const struct decoder *d, uint8_t opcode, uint8_t modrm, unsigned int imm_bytes,
			  struct insn *out)
{
	switch (opcode) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:
		out->flow = INSN_COND;
		break;
	case 0xe9:
	case 0xeb:
		out->flow = INSN_JUMP;
		break;
	case 0xe8:
		out->flow = INSN_CALL;
		break;
	case 0xc2 ... 0xc3:
	case 0xca ... 0xcb:
	case 0xcc:
	case 0xcf:
		out->flow = INSN_STOP;
		break;
	case 0xea:
		out->flow = INSN_INDIRECT;
		break;
	case 0x9a:
		out->flow = INSN_CALL;
		break;
	case 0xc7:
		if (modrm == 0xf8)
			out->flow = INSN_COND;	/* xbegin */
		break;
	case 0xff:
		if ((modrm >> 3 & 7) == 2 || (modrm >> 3 & 7) == 3)
			out->flow = INSN_CALL;
		else if ((modrm >> 3 & 7) == 4 || (modrm >> 3 & 7) == 5)
			out->flow = INSN_INDIRECT;
		break;
	case 0x90:
		pause_hint(d, out);
		break;
	case 0xfa:
		out->hint = d->lock ? -1 : X86_CLI;
		break;
	case 0xfb:
		out->hint = d->lock ? -1 : X86_STI;
		break;
	}
	if (out->flow == INSN_COND || out->flow == INSN_JUMP)
		out->target = signed_le(d->p + d->at - imm_bytes, imm_bytes) + (int64_t)d->at;
}

static bool decode_one_byte(struct decoder *d, uint8_t opcode, struct insn *out)
{
	unsigned int kind = one_byte[opcode], imm = 0;
	uint8_t modrm = 0;

	if (kind & U || (kind & X && d->bits64))
		return false;
	out->unlikely = kind & (P | X);
	if (kind & M && !skip_modrm(d, &modrm))
		return false;
	if (kind & B)
		imm += 1;
	if (kind & W)
		imm += 2;
	if (kind & Z)
		imm += d->op16 && !d->rex_w ? 2 : 4;
	if (kind & V)
		imm += d->rex_w ? 8 : d->op16 ? 2 : 4;
	if (opcode >= 0xa0 && opcode <= 0xa3)	/* mov with an absolute address */
		imm = d->bits64 ? (d->addr_small ? 4 : 8) : (d->addr_small ? 2 : 4);
	if (opcode == 0xf6 && (modrm & 0x38) < 0x10)	/* test */
		imm = 1;
	if (opcode == 0xf7 && (modrm & 0x38) < 0x10)
		imm = d->op16 && !d->rex_w ? 2 : 4;
	if (!skip(d, imm))
		return false;
	if (opcode == 0x8f && modrm & 0x38)		/* pop is /0; the rest is XOP or nothing */
		return false;
	if ((opcode == 0xfe && (modrm & 0x38) > 8) || (opcode == 0xff && (modrm & 0x38) == 0x38))
		return false;
	if ((opcode == 0xc6 || opcode == 0xc7) && modrm & 0x38 && modrm != 0xf8)
		return false;
	one_byte_flow(d, opcode, modrm, imm, out);
	return true;
}

static bool decode(struct decoder *d, struct insn *out)
{
	uint8_t b, next;
	bool rex = false;

	for (;;) {
		if (!need(d, 1))
			return false;
		b = d->p[d->at++];
		switch (b) {
		case 0x66:
			d->op16 = true;
			break;
		case 0x67:
			d->addr_small = true;
			break;
		case 0xf3:
			d->n_f3++;
			d->rep = b;
			break;
		case 0xf2:
			d->rep = b;
			break;
		case 0xf0:
			d->lock = true;
			break;
		case 0x26: case 0x2e: case 0x36: case 0x3e: case 0x64: case 0x65:
			break;
		default:
			if (d->bits64 && (b & 0xf0) == 0x40) {	/* counts only right before the opcode */
				rex = true;
				d->rex_w = b & 8;
				d->rex_b = b & 1;
				d->n_prefixes++;
				continue;
			}
			goto opcode;
		}
		d->n_prefixes++;
		if (rex) {
			rex = false;
			d->rex_w = d->rex_b = false;
		}
	}
opcode:
	if (b == 0x0f)
		return decode_two_byte(d, out);
	if (b == 0xc4 || b == 0xc5 || b == 0x62 || b == 0x8f) {
		if (!need(d, 1))
			return false;
		next = d->p[d->at];
		if (b == 0x8f ? (next & 31) >= 8 : d->bits64 || next >= 0xc0)
			return decode_vex(d, b, out);
	}
	return decode_one_byte(d, b, out);
}

void x86_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	struct decoder d = { .p = p,
			     .avail = avail < ELFSCAN_INSN_MAX ? avail : ELFSCAN_INSN_MAX,
			     .bits64 = isa == &isas[ISA_X86_64] };

	*out = (struct insn){ .flow = INSN_NEXT, .hint = -1 };
	if (decode(&d, out)) {
		out->len = (uint8_t)d.at;
		return;
	}
	*out = (struct insn){ .flow = INSN_BAD, .hint = -1, .len = 1 };
}

static bool is_prefix(uint8_t b)
{
	return (b & 0xfc) == 0x64 || (b & 0xe7) == 0x26 || (b & 0xf0) == 0x40 || (b & 0xfe) == 0xf2 || b == 0xf0;
}

/* @p: a prefix before 90, 0f 01, ae f0..f7, or fa and fb (see the table of pairs). */
bool x86_candidate(const uint8_t *begin, const uint8_t *p, const uint8_t *end)
{
	const uint8_t *q;

	if (p[0] == 0x0f && p + 1 < end && p[1] == 0x01)
		return p + 2 < end && (p[2] == 0xfa || p[2] == 0xfb || p[2] == 0xe8);
	if (p[0] == 0xae)
		return p > begin && p[-1] == 0x0f;
	if (p[0] == 0xfa || p[0] == 0xfb)	/* only looked for when cli and sti count; not in endbr64 and endbr32 */
		return !(p - begin >= 3 && p[-1] == 0x1e && p[-2] == 0x0f && p[-3] == 0xf3);
	for (q = p; q >= begin && p - q < ELFSCAN_INSN_MAX && is_prefix(*q); q--)
		if (*q == 0xf3)
			return true;
	return false;
}
