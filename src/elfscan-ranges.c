/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the functions of a file are, and which bytes of its code sections are data: symbols, mapping symbols, unwind
 * entries.
 */
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "elfscan-private.h"

/* How far back ranges_over() looks for a range that encloses others: bounds the time on hostile files. */
#define ENCLOSING_MAX 256

/* More symbols than any program has: bounds the time on sparse files that claim terabytes of them. */
#define MAX_SYMBOLS (1u << 25)

/* The largest compressed symbol or string table that is expanded. */
#define MAX_EXPANDED_BYTES (512u << 20)

void ranges_add(struct ranges *r, uint64_t start, uint64_t end, const char *name, uint32_t flags)
{
	GROW(r->range, r->room, r->n);
	r->range[r->n++] = (struct range){ .start = start, .end = end, .name = name, .flags = flags };
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->end < y->end ? -1 : x->end > y->end;
}

static int compare_marks(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/*
 * Sort by start: least significant byte first, leaving out the bytes that all have in common. Libraries have a hundred
 * thousand ranges, and comparing them took a seventh of a scan's time. Equal starts are put in order of their ends
 * afterwards.
 */
static void sort_by_start(struct ranges *r)
{
	struct range *from = r->range, *to = util_calloc(r->n, sizeof(*to)), *swap;
	uint64_t same = 0, first = r->n ? r->range[0].start : 0;
	unsigned int shift;
	size_t i, k, at[256];

	for (i = 0; i < r->n; i++)
		same |= r->range[i].start ^ first;
	for (shift = 0; shift < 64; shift += 8) {
		if (!(same >> shift & 0xff))
			continue;
		memset(at, 0, sizeof(at));
		for (i = 0; i < r->n; i++)
			at[from[i].start >> shift & 0xff]++;
		for (i = k = 0; i < 256; i++) {
			size_t count = at[i];

			at[i] = k;
			k += count;
		}
		for (i = 0; i < r->n; i++)
			to[at[from[i].start >> shift & 0xff]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	r->range = from;
	r->room = r->n;
	free(to);
	for (i = 0; i < r->n; i = k) {
		for (k = i + 1; k < r->n && r->range[k].start == r->range[i].start; k++)
			;
		if (k - i > 1)
			qsort(r->range + i, k - i, sizeof(r->range[0]), compare_ranges);
	}
}

void ranges_sort(struct ranges *r)
{
	uint64_t max = 0;
	size_t i, k, first = 0;

	sort_by_start(r);
	if (r->n_marks)
		qsort(r->mark, r->n_marks, sizeof(r->mark[0]), compare_marks);
	if (r->n_objects)
		qsort(r->object, r->n_objects, sizeof(r->object[0]), compare_marks);
	r->max_end = util_realloc(r->max_end, r->n + 1, sizeof(r->max_end[0]));
	for (i = 0; i < r->n; i++) {
		if (r->range[i].end > max)
			max = r->range[i].end;
		r->max_end[i] = max;
		/* The symbol and the unwind entry of a function are two ranges: landing pads are in both. */
		if (r->range[i].start != r->range[first].start)
			first = i;
		if (r->range[first].flags & RANGE_LANDING)
			r->range[i].flags |= RANGE_LANDING;
		else if (r->range[i].flags & RANGE_LANDING)
			for (k = first; k < i; k++)
				r->range[k].flags |= RANGE_LANDING;
	}
}

void ranges_free(struct ranges *r)
{
	free(r->range);
	free(r->max_end);
	free(r->mark);
	free(r->object);
	*r = (struct ranges){ 0 };
}

long ranges_before(const struct ranges *r, uint64_t addr)
{
	size_t low = 0, high = r->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (r->range[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return (long)low - 1;
}

long ranges_over(const struct ranges *r, uint64_t addr)
{
	long i = ranges_before(r, addr);
	unsigned int steps = 0;

	for (; i >= 0 && r->max_end[i] > addr && steps < ENCLOSING_MAX; i--, steps++)
		if (r->range[i].flags & RANGE_SIZED && r->range[i].end > addr)
			return i;
	return -1;
}

/* The last mark at or before @addr, or NULL. */
static const struct mark *mark_before(const struct mark *mark, size_t n, uint64_t addr)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (mark[mid].start <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? &mark[low - 1] : NULL;
}

char ranges_kind(const struct ranges *r, uint64_t addr)
{
	const struct mark *m = mark_before(r->mark, r->n_marks, addr);

	return m ? m->kind : 0;
}

bool ranges_is_object(const struct ranges *r, uint64_t addr)
{
	const struct mark *m = mark_before(r->object, r->n_objects, addr);

	return m && addr < m->end;
}

const struct range *ranges_name(const struct ranges *r, uint64_t addr, uint64_t low, enum elfscan_name_from *from)
{
	long i = ranges_before(r, addr);
	const struct range *nearest = NULL, *covering = NULL;
	unsigned int steps = 0;

	for (; i >= 0 && steps < ENCLOSING_MAX && r->range[i].start >= low; i--, steps++) {
		const struct range *c = &r->range[i];

		if (covering && c->start != covering->start)
			break;
		if (!c->name)
			continue;
		if (c->flags & RANGE_SIZED && c->end > addr) {
			/*
			 * Of several names for one place the .symtab one, then the shortest: aliases tend to have
			 * longer names.
			 */
			if (!covering || (covering->flags & RANGE_DYNSYM && !(c->flags & RANGE_DYNSYM)))
				covering = c;
			else if ((covering->flags & RANGE_DYNSYM) == (c->flags & RANGE_DYNSYM) &&
				 strlen(c->name) < strlen(covering->name))
				covering = c;
		} else if (!nearest) {
			nearest = c;
		}
	}
	/* A label without size inside the function is not a better name than the function's. */
	if (covering) {
		*from = covering->flags & RANGE_DYNSYM ? ELFSCAN_NAME_DYNSYM : ELFSCAN_NAME_SYMTAB;
		return covering;
	}
	*from = nearest ? ELFSCAN_NAME_NEAREST : ELFSCAN_NAME_NONE;
	return nearest;
}

static const struct region *region_at(const struct elf_file *file, uint64_t addr)
{
	size_t low = 0, high = file->n_regions;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (file->region[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || addr - file->region[low - 1].addr >= file->region[low - 1].size)
		return NULL;
	return &file->region[low - 1];
}

static bool is_mapping_symbol(const char *name, char *kind)
{
	/*
	 * $a, $t, $d, $x, with ".anything"; RISC-V also $x followed by an ISA string. AAELF64 4.5.4, RISC-V ELF psABI
	 * "Mapping symbol".
	 */
	if (name[0] != '$' || !strchr("atxd", name[1]) || !name[1])
		return false;
	if (name[2] && name[2] != '.' && !(name[1] == 'x' && name[2] == 'r'))
		return false;
	*kind = name[1];
	return true;
}

/* ELFv1 functions are descriptors in .opd; the first doubleword is the address of the code. */
static uint64_t through_opd(const struct elf_file *file, GElf_Sym *sym, const uint8_t *opd, const GElf_Shdr *opd_shdr)
{
	uint64_t at = sym->st_value - opd_shdr->sh_addr, x = 0;
	unsigned int i;

	if (sym->st_value < opd_shdr->sh_addr || opd_shdr->sh_size < 8 || at > opd_shdr->sh_size - 8)
		return sym->st_value;
	for (i = 0; i < 8; i++)
		x |= (uint64_t)opd[at + i] << 8 * (file->msb ? 7 - i : i);
	return x;
}

static void add_symbol(struct ranges *r, const struct elf_file *file, const GElf_Sym *sym, const char *name,
		       size_t shndx, bool dynamic)
{
	unsigned int type = GELF_ST_TYPE(sym->st_info);
	uint64_t addr = sym->st_value;
	uint32_t flags = dynamic ? RANGE_DYNSYM : 0;
	const struct region *region;
	char kind;

	if (file->section_addr) {
		if (shndx >= file->shnum)
			return;
		addr += file->section_addr[shndx];
	}
	if (file->e_machine == EM_ARM && type == STT_FUNC && addr & 1) {
		addr--;
		flags |= RANGE_THUMB;
	}
	region = region_at(file, addr);
	if (!region)
		return;
	switch (type) {
	case STT_NOTYPE:
		if (is_mapping_symbol(name, &kind)) {
			GROW(r->mark, r->room_marks, r->n_marks);
			r->mark[r->n_marks++] = (struct mark){ .start = addr, .kind = kind };
			return;
		}
		if (name[0])
			ranges_add(r, addr, 0, name, flags | RANGE_LABEL);
		return;
	case STT_OBJECT:
	case STT_TLS:
		if (sym->st_size) {
			GROW(r->object, r->room_objects, r->n_objects);
			r->object[r->n_objects++] =
				(struct mark){ .start = addr,
					       .end = sym->st_size > UINT64_MAX - addr ? UINT64_MAX
										       : addr + sym->st_size,
					       .kind = 'd' };
		}
		return;
	case STT_FUNC:
	case STT_GNU_IFUNC:
		flags |= RANGE_SYMBOL;
		if (sym->st_size && sym->st_size <= region->size - (addr - region->addr))
			ranges_add(r, addr, addr + sym->st_size, name, flags | RANGE_SIZED);
		else
			ranges_add(r, addr, 0, name, flags);
		return;
	default:
		return;
	}
}

/* elf_compress() changes the section headers where they are: the mapping is private, but made for reading. */
static bool make_writable(const struct elf_file *file)
{
	return !mprotect((void *)(uintptr_t)file->map, file->size, PROT_READ | PROT_WRITE);
}

/*
 * The bytes of a section as libelf gives them: symbols in native form, compressed sections expanded, unless they claim
 * a size that no compression of theirs can reach. NULL when there are none.
 */
static Elf_Data *section_data(const struct elf_file *file, Elf_Scn *scn, GElf_Shdr *shdr)
{
	GElf_Chdr chdr;

	if (!scn || !gelf_getshdr(scn, shdr) || shdr->sh_type == SHT_NOBITS)
		return NULL;
	if (shdr->sh_flags & SHF_COMPRESSED) {
		if (!file->writable || shdr->sh_offset > file->size || shdr->sh_size > file->size - shdr->sh_offset ||
		    !gelf_getchdr(scn, &chdr) || chdr.ch_size > MAX_EXPANDED_BYTES ||
		    chdr.ch_size / 1100 > shdr->sh_size || !make_writable(file) || elf_compress(scn, 0, 0) < 0 ||
		    !gelf_getshdr(scn, shdr))
			return NULL;
	}
	return elf_getdata(scn, NULL);
}

static void load_symbols(struct ranges *r, const struct elf_file *file, Elf_Scn *scn, Elf_Scn *opd_scn,
			 Elf_Scn *xndx_scn, bool dynamic)
{
	GElf_Shdr shdr, str_shdr, opd_shdr = { 0 };
	Elf_Data *data = section_data(file, scn, &shdr), *strings,
		 *opd = opd_scn ? section_data(file, opd_scn, &opd_shdr) : NULL;
	Elf_Data *xndx = xndx_scn ? elf_getdata(xndx_scn, NULL) : NULL;
	size_t i, n, entry = gelf_fsize(file->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!data || !entry || !data->d_buf)
		return;
	strings = section_data(file, elf_getscn(file->elf, shdr.sh_link), &str_shdr);
	if (!strings || !strings->d_buf || !strings->d_size || ((const char *)strings->d_buf)[strings->d_size - 1])
		return;		/* a string table that does not end in a NUL is malformed */
	n = data->d_size / entry;
	if (n > MAX_SYMBOLS)
		n = MAX_SYMBOLS;
	if (opd && (!opd->d_buf || opd->d_size < opd_shdr.sh_size))
		opd = NULL;
	for (i = 1; i < n; i++) {
		GElf_Sym sym;
		Elf32_Word extended = 0;
		size_t shndx;

		if (!gelf_getsymshndx(data, xndx, (int)i, &sym, &extended))
			break;
		shndx = sym.st_shndx == SHN_XINDEX ? extended : sym.st_shndx;
		if (shndx == SHN_UNDEF || (sym.st_shndx >= SHN_LORESERVE && sym.st_shndx != SHN_XINDEX) ||
		    sym.st_name >= strings->d_size)
			continue;
		if (opd && !file->section_addr && GELF_ST_TYPE(sym.st_info) == STT_FUNC)
			sym.st_value = through_opd(file, &sym, opd->d_buf, &opd_shdr);
		add_symbol(r, file, &sym, (const char *)strings->d_buf + sym.st_name, shndx, dynamic);
	}
}

struct frame_ctx {
	struct ranges *r;
	const struct elf_file *file;
};

static void add_frame(void *ctx, uint64_t start, uint64_t size, bool landing_pads)
{
	struct frame_ctx *f = ctx;
	const struct region *region = region_at(f->file, start);

	if (region && size <= region->size - (start - region->addr))
		ranges_add(f->r, start, start + size, NULL,
			   RANGE_SIZED | RANGE_UNWIND | (landing_pads ? RANGE_LANDING : 0));
}

/* Unwind entries without section headers: PT_GNU_EH_FRAME leads to .eh_frame (LSB 5.0 Core, 10.6.2). */
static void load_frames_by_segment(const struct elf_file *file, unsigned int address_bytes, struct frame_ctx *ctx)
{
	GElf_Phdr ph, load;
	size_t i, k, n;

	if (elf_getphdrnum(file->elf, &n))
		return;
	for (i = 0; i < n && i < 65536; i++) {
		const uint8_t *hdr;
		uint64_t addr;
		int32_t relative;

		if (!gelf_getphdr(file->elf, (int)i, &ph) || ph.p_type != PT_GNU_EH_FRAME)
			continue;
		if (ph.p_offset > file->size || file->size - ph.p_offset < 8)
			return;
		hdr = file->map + ph.p_offset;
		if (hdr[0] != 1 || hdr[1] != 0x1b)	/* pcrel, sdata4: the only form linkers write */
			return;
		relative = (int32_t)(file->msb ? (uint32_t)hdr[4] << 24 | (uint32_t)hdr[5] << 16 |
							 (uint32_t)hdr[6] << 8 | hdr[7]
					       : (uint32_t)hdr[7] << 24 | (uint32_t)hdr[6] << 16 |
							 (uint32_t)hdr[5] << 8 | hdr[4]);
		addr = ph.p_vaddr + 4 + (uint64_t)(int64_t)relative;
		for (k = 0; k < n && k < 65536; k++) {
			uint64_t off;

			if (!gelf_getphdr(file->elf, (int)k, &load) || load.p_type != PT_LOAD || addr < load.p_vaddr ||
			    addr - load.p_vaddr >= load.p_filesz)
				continue;
			off = load.p_offset + (addr - load.p_vaddr);
			if (off < load.p_offset || off >= file->size)
				return;
			frames_walk(file->map + off, file->size - off, addr, address_bytes, file->msb, add_frame, ctx);
			return;
		}
		return;
	}
}

static void load_frames(struct ranges *r, const struct elf_file *file, Elf_Scn *scn, const GElf_Shdr *shdr)
{
	struct frame_ctx ctx = { .r = r, .file = file };
	unsigned int address_bytes = file->elf_class == ELFCLASS64 ? 8 : 4;

	if (file->section_addr)
		return;		/* relocatable: the addresses are still to be filled in, and there are symbols */
	if (!scn) {
		load_frames_by_segment(file, address_bytes, &ctx);
		return;
	}
	if (shdr->sh_type == SHT_NOBITS || shdr->sh_offset > file->size || shdr->sh_size > file->size - shdr->sh_offset)
		return;
	frames_walk(file->map + shdr->sh_offset, shdr->sh_size, shdr->sh_addr, address_bytes, file->msb, add_frame,
		    &ctx);
}

void ranges_load(struct ranges *r, const struct elf_file *file)
{
	Elf_Scn *scn = NULL, *symtab = NULL, *dynsym = NULL, *opd = NULL, *frames = NULL, *xndx = NULL;
	GElf_Shdr shdr, frames_shdr = { 0 };
	const char *name;
	uint64_t entry;

	while (!file->no_sections && (scn = elf_nextscn(file->elf, scn)) != NULL) {
		if (!gelf_getshdr(scn, &shdr))
			continue;
		if (shdr.sh_type == SHT_SYMTAB) {
			symtab = scn;
		} else if (shdr.sh_type == SHT_DYNSYM) {
			dynsym = scn;
		} else if (shdr.sh_type == SHT_SYMTAB_SHNDX) {
			xndx = scn;
		} else {
			name = elf_strptr(file->elf, file->shstrndx, shdr.sh_name);
			if (name && !strcmp(name, ".eh_frame")) {
				frames = scn;
				frames_shdr = shdr;
			} else if (name && !strcmp(name, ".opd") && file->e_machine == EM_PPC64) {
				opd = scn;
			}
		}
	}
	if (symtab) {
		load_symbols(r, file, symtab, opd, xndx, false);
		r->have_symtab = r->n > 0;
	}
	if (dynsym)
		load_symbols(r, file, dynsym, opd, NULL, true);
	load_frames(r, file, frames, &frames_shdr);
	entry = file->e_machine == EM_ARM ? file->e_entry & ~(uint64_t)1 : file->e_entry;
	if (entry && !file->section_addr && region_at(file, entry))
		ranges_add(r, entry, 0, NULL, entry != file->e_entry ? RANGE_THUMB : 0);
	ranges_sort(r);
}
