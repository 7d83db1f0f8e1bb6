/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where functions start and end in stripped files: the entries of .eh_frame (Linux Standard Base 5.0 Core, "Exception
 * Frames"; System V ABI AMD64, 4.2.4). libdw's dwarf_next_cfi() hands out entries, but leaves their addresses encoded
 * and needs a section.
 */
#include <dwarf.h>
#include <string.h>

#include "elfscan-private.h"

struct reader {
	const uint8_t *begin, *p, *end;
	uint64_t addr;		/* of begin */
	unsigned int address_bytes;
	bool big, failed;
};

static uint64_t read_fixed(struct reader *r, unsigned int bytes)
{
	uint64_t x = 0;
	unsigned int i;

	if ((size_t)(r->end - r->p) < bytes) {
		r->failed = true;
		return 0;
	}
	for (i = 0; i < bytes; i++)
		x |= (uint64_t)r->p[i] << 8 * (r->big ? bytes - 1 - i : i);
	r->p += bytes;
	return x;
}

static uint64_t read_leb128(struct reader *r, bool is_signed)
{
	uint64_t x = 0;
	unsigned int shift = 0;
	uint8_t b;

	do {
		if (r->p >= r->end || shift > 63) {
			r->failed = true;
			return 0;
		}
		b = *r->p++;
		x |= (uint64_t)(b & 0x7f) << shift;
		shift += 7;
	} while (b & 0x80);
	if (is_signed && b & 0x40 && shift < 64)
		x |= ~(uint64_t)0 << shift;
	return x;
}

/* A pointer in encoding @enc; @relative: apply what it is relative to. */
static uint64_t read_encoded(struct reader *r, uint8_t enc, bool relative)
{
	uint64_t place = r->addr + (uint64_t)(r->p - r->begin), x;

	switch (enc & 0x0f) {
	case DW_EH_PE_absptr:
		x = read_fixed(r, r->address_bytes);
		break;
	case DW_EH_PE_uleb128:
		x = read_leb128(r, false);
		break;
	case DW_EH_PE_sleb128:
		x = read_leb128(r, true);
		break;
	case DW_EH_PE_udata2:
		x = read_fixed(r, 2);
		break;
	case DW_EH_PE_udata4:
		x = read_fixed(r, 4);
		break;
	case DW_EH_PE_sdata2:
		x = (uint64_t)(int64_t)(int16_t)read_fixed(r, 2);
		break;
	case DW_EH_PE_sdata4:
		x = (uint64_t)(int64_t)(int32_t)read_fixed(r, 4);
		break;
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		x = read_fixed(r, 8);
		break;
	default:
		r->failed = true;
		return 0;
	}
	if (!relative)
		return x;
	if ((enc & 0x70) == DW_EH_PE_pcrel)
		x += place;
	else if (enc & 0x70)
		r->failed = true;	/* relative to text, data or function: not used in .eh_frame */
	if (r->address_bytes == 4)
		x &= 0xffffffff;
	return x;
}

struct cie {
	const uint8_t *at;
	uint8_t fde_encoding, lsda_encoding;
	bool augmented, known;
};

static void read_cie(struct cie *cie, const struct reader *section, const uint8_t *at)
{
	struct reader r = *section;
	const char *augmentation;
	uint64_t len, version;
	size_t left;

	*cie = (struct cie){ .at = at, .fde_encoding = DW_EH_PE_absptr, .lsda_encoding = DW_EH_PE_omit };
	r.p = at;
	len = read_fixed(&r, 4);
	if (len == 0xffffffff)
		len = read_fixed(&r, 8);
	if (r.failed || len > (uint64_t)(r.end - r.p))
		return;
	r.end = r.p + len;
	if (read_fixed(&r, 4) != 0)
		return;
	version = read_fixed(&r, 1);
	augmentation = (const char *)r.p;
	left = (size_t)(r.end - r.p);
	if (r.failed || !memchr(augmentation, 0, left < 16 ? left : 16)) /* bounded: entries may share a hostile one */
		return;
	r.p += strlen(augmentation) + 1;
	read_leb128(&r, false);
	read_leb128(&r, true);
	if (version == 1)
		read_fixed(&r, 1);
	else
		read_leb128(&r, false);
	if (*augmentation == 'z') {
		cie->augmented = true;
		read_leb128(&r, false);
		for (augmentation++; *augmentation && !r.failed; augmentation++) {
			switch (*augmentation) {
			case 'R':
				cie->fde_encoding = (uint8_t)read_fixed(&r, 1);
				break;
			case 'L':
				cie->lsda_encoding = (uint8_t)read_fixed(&r, 1);
				break;
			case 'P':
				read_encoded(&r, (uint8_t)read_fixed(&r, 1), false);
				break;
			case 'S':
			case 'B':
			case 'G':
				break;
			default:
				return;
			}
		}
	} else if (*augmentation) {
		return;
	}
	cie->known = !r.failed;
}

void frames_walk(const uint8_t *data, size_t size, uint64_t addr, unsigned int address_bytes, bool big, frame_fn fn,
		 void *ctx)
{
	struct reader section = {
		.begin = data, .p = data, .end = data + size, .addr = addr, .address_bytes = address_bytes, .big = big
	};
	struct cie cie = { 0 };

	while (section.end - section.p >= 8) {
		struct reader r = section;
		uint64_t len = read_fixed(&r, 4), id, start, bytes, landing = 0;
		const uint8_t *id_at, *next, *from;

		if (len == 0)
			return;		/* the terminator */
		if (len == 0xffffffff)
			len = read_fixed(&r, 8);
		if (r.failed || len > (uint64_t)(r.end - r.p))
			return;
		next = r.p + len;
		section.p = next;
		r.end = next;
		id_at = r.p;
		id = read_fixed(&r, 4);
		if (r.failed || id == 0)
			continue;	/* too short, or a CIE: read when an entry refers to it */
		if (id > (uint64_t)(id_at - section.begin))
			continue;
		from = id_at - id;
		if (cie.at != from)
			read_cie(&cie, &section, from);
		if (!cie.known || cie.fde_encoding == DW_EH_PE_omit || cie.fde_encoding & DW_EH_PE_indirect)
			continue;
		start = read_encoded(&r, cie.fde_encoding, true);
		bytes = read_encoded(&r, cie.fde_encoding & 0x0f, false);
		if (cie.augmented && read_leb128(&r, false) && cie.lsda_encoding != DW_EH_PE_omit)
			landing = read_encoded(&r, cie.lsda_encoding & 0x0f, false);
		if (!r.failed && bytes && start + bytes > start)
			fn(ctx, start, bytes, landing != 0);
	}
}
