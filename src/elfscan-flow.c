/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Length, branches and hints of the machines whose instructions have one length, or say it in their first bits.
 *
 * Branches are decoded here because capstone 4 does not put conditional branches of PowerPC and z/Architecture into its
 * group of jumps and has no RISC-V and LoongArch; a row of bits is all there is to it. Sources: Arm ARM (DDI 0487, C4
 * and F3/F4), Power ISA 3.1 book I, RISC-V unprivileged ISA chapters 24 and 16, z/Architecture Principles of Operation
 * (SA22-7832) appendix B, MIPS64 volume II, SPARC V9 appendix A, LoongArch reference manual volume 1.
 */
#include "elfscan-private.h"

static uint32_t get16(const uint8_t *p, bool big)
{
	return big ? (uint32_t)p[0] << 8 | p[1] : (uint32_t)p[1] << 8 | p[0];
}

static uint32_t get32(const uint8_t *p, bool big)
{
	return big ? get16(p, big) << 16 | get16(p + 2, big) : get16(p + 2, big) << 16 | get16(p, big);
}

/* Bits [low, low + width) of @w as a signed number times @scale. */
static int64_t field(uint32_t w, unsigned int low, unsigned int width, int scale)
{
	return (int64_t)((int32_t)(w << (32 - low - width)) >> (32 - width)) * scale;
}

static void find_hint(const struct isa *isa, uint32_t w, unsigned int len, struct insn *out)
{
	size_t i;

	for (i = 0; i < isa->n_hints; i++)
		if (isa->hints[i].len == len && (w & isa->hints[i].mask) == isa->hints[i].value) {
			out->hint = (int8_t)i;
			return;
		}
}

/* Set up @out for an instruction of @len bytes; false when it is cut off. */
static bool begin(struct insn *out, size_t avail, unsigned int len)
{
	*out = (struct insn){ .len = (uint8_t)len, .flow = INSN_NEXT, .hint = -1 };
	if (avail >= len)
		return true;
	out->len = (uint8_t)(avail ? avail : 1);
	out->flow = INSN_BAD;
	return false;
}

static void set_branch(struct insn *out, bool always, int64_t target)
{
	out->flow = always ? INSN_JUMP : INSN_COND;
	out->target = target;
}

void aarch64_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, isa->big);
	if ((w & 0xfc000000) == 0x14000000)
		set_branch(out, true, field(w, 0, 26, 4));
	else if ((w & 0xfc000000) == 0x94000000)
		out->flow = INSN_CALL;
	else if ((w & 0xff000000) == 0x54000000 || (w & 0x7e000000) == 0x34000000)	/* b.cond, cbz */
		set_branch(out, false, field(w, 5, 19, 4));
	else if ((w & 0x7e000000) == 0x36000000)					/* tbz */
		set_branch(out, false, field(w, 5, 14, 4));
	else if ((w & 0xfe000000) == 0xd6000000)	/* br, blr, ret, eret, with and without authentication */
		out->flow = (w >> 21 & 7) == 0 ? INSN_INDIRECT : (w >> 21 & 7) == 1 ? INSN_CALL : INSN_STOP;
	else if ((w & 0xffe0001f) == 0xd4200000)	/* brk */
		out->flow = INSN_STOP;
	else if ((w & 0xffff0000) == 0)			/* udf */
		out->flow = INSN_BAD;
	else
		find_hint(isa, w, 4, out);
}

void a32_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, isa->big);
	if ((w & 0x0f000000) == 0x0a000000 && w >> 28 != 15)
		set_branch(out, w >> 28 == 14, field(w, 0, 24, 4) + 8);
	else if ((w & 0x0e000000) == 0x0a000000)	/* bl, blx */
		out->flow = INSN_CALL;
	else if ((w & 0x0ffffff0) == 0x012fff10)	/* bx */
		out->flow = w >> 28 == 14 ? ((w & 15) == 14 ? INSN_STOP : INSN_INDIRECT) : INSN_NEXT;
	else if (w >> 28 != 15)
		find_hint(isa, w, 4, out);
}

void t32_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t h, l, w;

	if (!begin(out, avail, 2))
		return;
	h = get16(p, isa->big);
	if (h >> 11 < 0x1d) {				/* 16 bits */
		if ((h & 0xf000) == 0xd000 && (h >> 8 & 15) < 14)
			set_branch(out, false, field(h, 0, 8, 2) + 4);
		else if ((h & 0xf800) == 0xe000)
			set_branch(out, true, field(h, 0, 11, 2) + 4);
		else if ((h & 0xf500) == 0xb100)	/* cbz: forward only */
			set_branch(out, false, (int64_t)((h >> 9 & 1) << 6 | (h >> 3 & 31) << 1) + 4);
		else if ((h & 0xff07) == 0x4700)
			out->flow = (h >> 3 & 15) == 14 ? INSN_STOP : h & 0x80 ? INSN_CALL : INSN_INDIRECT;
		else
			find_hint(isa, h, 2, out);
		return;
	}
	if (!begin(out, avail, 4))
		return;
	l = get16(p + 2, isa->big);
	w = h << 16 | l;
	if ((w & 0xf8008000) == 0xf0008000) {
		uint32_t s = h >> 10 & 1, j1 = l >> 13 & 1, j2 = l >> 11 & 1;

		if ((l & 0x5000) == 0x1000) {		/* b, encoding T4 */
			uint32_t imm = s << 24 | (~(j1 ^ s) & 1) << 23 | (~(j2 ^ s) & 1) << 22 | (h & 0x3ff) << 12 |
				       (l & 0x7ff) << 1;

			set_branch(out, true, field(imm, 0, 25, 1) + 4);
			return;
		}
		if (l & 0x4000) {			/* bl, blx */
			out->flow = INSN_CALL;
			return;
		}
		if ((l & 0x5000) == 0 && (h >> 7 & 7) != 7) {	/* b<cond>, encoding T3 */
			uint32_t imm = s << 20 | j2 << 19 | j1 << 18 | (h & 0x3f) << 12 | (l & 0x7ff) << 1;

			set_branch(out, false, field(imm, 0, 21, 1) + 4);
			return;
		}
	}
	find_hint(isa, w, 4, out);
}

void ppc_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w;
	bool always;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, isa->big);
	always = (w >> 21 & 0x14) == 0x14;	/* BO: branch always */
	switch (w >> 26) {
	case 1:					/* prefixed: Power ISA 3.1, book I, 1.6.3 */
		begin(out, avail, 8);
		break;
	case 16:
		if (w & 1)
			out->flow = INSN_CALL;
		else if (!(w & 2))
			set_branch(out, always, field(w, 2, 14, 4));
		break;
	case 18:
		if (w & 1)
			out->flow = INSN_CALL;
		else if (w & 2)
			out->flow = INSN_INDIRECT;
		else
			set_branch(out, true, field(w, 2, 24, 4));
		break;
	case 19:
		if ((w & 0x7fe) == 0x020 && always)		/* bclr */
			out->flow = w & 1 ? INSN_CALL : INSN_STOP;
		else if ((w & 0x7fe) == 0x420)			/* bcctr */
			out->flow = w & 1 ? INSN_CALL : INSN_INDIRECT;
		break;
	default:
		if (w == 0)
			out->flow = INSN_BAD;
		else
			find_hint(isa, w, 4, out);
	}
}

static int64_t bit(uint32_t w, unsigned int from, unsigned int to)
{
	return (int64_t)(w >> from & 1) << to;
}

static int64_t bits(uint32_t w, unsigned int from, unsigned int width, unsigned int to)
{
	return (int64_t)(w >> from & ((1u << width) - 1)) << to;
}

static int64_t extend(int64_t x, unsigned int width)
{
	return x & (int64_t)1 << (width - 1) ? x - ((int64_t)1 << width) : x;
}

static void riscv_compressed(const struct isa *isa, uint32_t h, struct insn *out)
{
	int64_t j = extend(bit(h, 12, 11) | bit(h, 11, 4) | bits(h, 9, 2, 8) | bit(h, 8, 10) | bit(h, 7, 6) |
				   bit(h, 6, 7) | bits(h, 3, 3, 1) | bit(h, 2, 5),
			   12);
	int64_t b = extend(bit(h, 12, 8) | bits(h, 10, 2, 3) | bits(h, 5, 2, 6) | bits(h, 3, 2, 1) | bit(h, 2, 5), 9);

	if ((h & 0xe003) == 0xa001)
		set_branch(out, true, j);
	else if ((h & 0xe003) == 0x2001 && isa == &isas[ISA_RISCV32])
		out->flow = INSN_CALL;
	else if ((h & 0xc003) == 0xc001)
		set_branch(out, false, b);
	else if ((h & 0xf07f) == 0x8002 && h >> 7 & 31)
		out->flow = (h >> 7 & 31) == 1 || (h >> 7 & 31) == 5 ? INSN_STOP : INSN_INDIRECT;
	else if (h == 0x9002)
		out->flow = INSN_STOP;		/* c.ebreak */
	else if ((h & 0xf07f) == 0x9002)
		out->flow = INSN_CALL;
	else if (h == 0)
		out->flow = INSN_BAD;
}

void riscv_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w, rd, rs1;

	if (!begin(out, avail, 2))
		return;
	w = get16(p, false);
	if ((w & 3) != 3) {
		riscv_compressed(isa, w, out);
		return;
	}
	if ((w & 0x1c) == 0x1c) {		/* longer formats, chapter 1.5; none is in use */
		begin(out, avail, (w & 0x3f) == 0x1f ? 6 : (w & 0x7f) == 0x3f ? 8 : 2);
		return;
	}
	if (!begin(out, avail, 4))
		return;
	w = get32(p, false);
	rd = w >> 7 & 31;
	rs1 = w >> 15 & 31;
	switch (w & 0x7f) {
	case 0x6f:
		if (rd)
			out->flow = INSN_CALL;
		else
			set_branch(out, true,
				   extend(bit(w, 31, 20) | bits(w, 12, 8, 12) | bit(w, 20, 11) | bits(w, 21, 10, 1),
					  21));
		break;
	case 0x63:
		set_branch(out, false,
			   extend(bit(w, 31, 12) | bit(w, 7, 11) | bits(w, 25, 6, 5) | bits(w, 8, 4, 1), 13));
		break;
	case 0x67:
		out->flow = rd ? INSN_CALL : rs1 == 1 || rs1 == 5 ? INSN_STOP : INSN_INDIRECT;
		break;
	case 0x73:
		if (w == 0x00100073)
			out->flow = INSN_STOP;		/* ebreak */
		else
			find_hint(isa, w, 4, out);
		break;
	default:
		find_hint(isa, w, 4, out);
	}
}

/* Loads, atomic operations, and the compressed loads of quadrants 0 and 2. */
bool riscv_reads(const uint8_t *p, size_t len)
{
	uint32_t h = get16(p, false), op = h >> 13;

	if (len == 2)
		return (h & 3) != 1 && op >= 1 && op <= 3;
	return len == 4 && ((h & 0x7f) == 0x03 || (h & 0x7f) == 0x07 || (h & 0x7f) == 0x2f);
}

void s390_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	static const uint8_t length[4] = { 2, 4, 4, 6 };
	unsigned int mask, len;
	uint32_t w;

	if (!begin(out, avail, 1) || !begin(out, avail, length[p[0] >> 6]))
		return;
	len = out->len;
	mask = p[1] >> 4;
	switch (p[0]) {
	case 0x07:				/* bcr */
		if (mask == 15 && (p[1] & 15))
			out->flow = (p[1] & 15) == 14 ? INSN_STOP : INSN_INDIRECT;
		break;
	case 0x84: case 0x85:			/* brxh, brxle */
		set_branch(out, false, (int16_t)get16(p + 2, true) * 2);
		break;
	case 0xa7:
		if ((p[1] & 15) == 4 && mask)	/* brc */
			set_branch(out, mask == 15, (int16_t)get16(p + 2, true) * 2);
		else if ((p[1] & 15) == 5)
			out->flow = INSN_CALL;
		else if ((p[1] & 15) == 6 || (p[1] & 15) == 7)
			set_branch(out, false, (int16_t)get16(p + 2, true) * 2);
		break;
	case 0xc0:
		if ((p[1] & 15) == 4 && mask)	/* brcl */
			set_branch(out, mask == 15, (int64_t)(int32_t)get32(p + 2, true) * 2);
		else if ((p[1] & 15) == 5)
			out->flow = INSN_CALL;
		break;
	case 0xcc:
		if ((p[1] & 15) == 6)		/* brcth */
			set_branch(out, false, (int64_t)(int32_t)get32(p + 2, true) * 2);
		break;
	case 0xec:				/* compare and branch relative; brxhg, brxlg */
		if (p[5] == 0x44 || p[5] == 0x45 || (p[5] >= 0x64 && p[5] <= 0x65) || (p[5] >= 0x76 && p[5] <= 0x77) ||
		    (p[5] >= 0x7c && p[5] <= 0x7f))
			set_branch(out, false, (int16_t)get16(p + 2, true) * 2);
		break;
	}
	if (out->flow != INSN_NEXT || len == 6)
		return;
	w = len == 2 ? get16(p, true) : get32(p, true);
	find_hint(isa, w, len, out);
}

void mips_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w, rt, rs;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, isa->big);
	rs = w >> 21 & 31;
	rt = w >> 16 & 31;
	switch (w >> 26) {
	case 0:
		if ((w & 0x3e) == 8)		/* jr, jalr */
			out->flow = (w >> 11 & 31) ? INSN_CALL : rs == 31 ? INSN_STOP : INSN_INDIRECT;
		else
			find_hint(isa, w, 4, out);
		break;
	case 1:
		if (rt >= 16)
			out->flow = INSN_CALL;
		else if (rt < 4)
			set_branch(out, false, (int64_t)(int16_t)w * 4 + 4);
		break;
	case 2:
		out->flow = INSN_INDIRECT;	/* j: absolute within 256 MiB, needs relocation */
		break;
	case 3:
		out->flow = INSN_CALL;
		break;
	case 4: case 5: case 6: case 7: case 20: case 21: case 22: case 23:
		set_branch(out, w >> 16 == 0x1000, (int64_t)(int16_t)w * 4 + 4);
		break;
	case 17: case 18:
		if (rs == 8 || rs == 9 || rs == 13)	/* bc1f, bc1t, release 6: bc1eqz, bc1nez */
			set_branch(out, false, (int64_t)(int16_t)w * 4 + 4);
		break;
	case 50:				/* release 6: bc, balc, beqzc, bnezc */
		set_branch(out, true, field(w, 0, 26, 4) + 4);
		break;
	case 58:
		out->flow = INSN_CALL;
		break;
	case 54: case 62:
		if (rs)
			set_branch(out, false, field(w, 0, 21, 4) + 4);
		break;
	default:
		find_hint(isa, w, 4, out);
	}
}

void sparc_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w;
	bool always;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, true);
	always = (w >> 25 & 15) == 8;
	if (w >> 30 == 1) {
		out->flow = INSN_CALL;
	} else if (w >> 30 == 0) {
		switch (w >> 22 & 7) {
		case 1: case 5:			/* with prediction */
			set_branch(out, always, field(w, 0, 19, 4));
			break;
		case 2: case 6:
			set_branch(out, always, field(w, 0, 22, 4));
			break;
		case 3: /* on register contents; bit 28: compare and branch (Oracle SPARC 2011) */
			if (w & 1u << 28)
				set_branch(out, false, extend(bits(w, 19, 2, 8) | bits(w, 5, 8, 0), 10) * 4);
			else
				set_branch(out, false, extend(bits(w, 20, 2, 14) | bits(w, 0, 14, 0), 16) * 4);
			break;
		case 0:
			out->flow = INSN_BAD;	/* illtrap */
			break;
		}
	} else if ((w & 0xc1f80000) == 0x81c00000) {	/* jmpl */
		out->flow = (w >> 25 & 31) ? INSN_CALL : INSN_STOP;
	} else {
		find_hint(isa, w, 4, out);
	}
}

void loongarch_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out)
{
	uint32_t w;

	if (!begin(out, avail, 4))
		return;
	w = get32(p, false);
	switch (w >> 26) {
	case 0x10: case 0x11: case 0x12:
		set_branch(out, false, extend(bits(w, 0, 5, 16) | bits(w, 10, 16, 0), 21) * 4);
		break;
	case 0x13:
		out->flow = (w & 31) ? INSN_CALL : (w >> 5 & 31) == 1 ? INSN_STOP : INSN_INDIRECT;
		break;
	case 0x14:
		set_branch(out, true, extend(bits(w, 0, 10, 16) | bits(w, 10, 16, 0), 26) * 4);
		break;
	case 0x15:
		out->flow = INSN_CALL;
		break;
	case 0x16: case 0x17: case 0x18: case 0x19: case 0x1a: case 0x1b:
		set_branch(out, false, field(w, 10, 16, 4));
		break;
	default:
		if (w == 0)
			out->flow = INSN_BAD;
		else
			find_hint(isa, w, 4, out);
	}
}

bool loongarch_reads(const uint8_t *p, size_t len)
{
	uint32_t w = len == 4 ? get32(p, false) : 0;

	return (w >> 26 == 0x0a && !(w & 1u << 24) && w >> 22 != 0xab) ||	/* ld, not st and preld */
	       w >> 24 == 0x20 || w >> 24 == 0x22 ||			/* ll.w, ll.d */
	       w >> 24 == 0x24 || w >> 24 == 0x26 ||			/* ldptr */
	       w >> 20 == 0x380 || w >> 20 == 0x382 ||			/* ldx */
	       (w >> 15 >= 0x70c0 && w >> 15 <= 0x70e3);		/* am*: read, modify, write */
}
