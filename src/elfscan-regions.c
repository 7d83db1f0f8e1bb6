/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The executable parts of an ELF file: by section headers, else by program headers.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "elfscan-private.h"

void regions_add(struct elf_file *f, uint64_t offset, uint64_t size, uint64_t addr, const char *name, size_t shndx)
{
	if (offset >= f->size) {
		damage(f, "truncated: %s lies at byte %" PRIu64 " of a file of %" PRIu64 " bytes",
		       name ? name : "an executable segment", offset, f->size);
		return;
	}
	if (size > f->size - offset) {
		damage(f, "truncated: %s ends at byte %" PRIu64 " of a file of %" PRIu64 " bytes",
		       name ? name : "an executable segment", size > UINT64_MAX - offset ? UINT64_MAX : offset + size,
		       f->size);
		size = f->size - offset;
	}
	if (size > UINT64_MAX - addr)
		return;		/* addresses that wrap around */
	GROW(f->region, f->room_regions, f->n_regions);
	f->region[f->n_regions++] = (struct region){ .bytes = f->map + offset,
						     .size = size,
						     .file_offset = offset,
						     .addr = addr,
						     .name = name,
						     .shndx = shndx,
						     .start = addr };
}

static bool is_kernel_section(const char *name)
{
	static const char *const names[] = {
		".gnu.linkonce.this_module", ".modinfo",   "__ksymtab", "__ksymtab_gpl", "__ex_table",
		".altinstructions",	     "__bug_table"
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* Executable sections. Returns how many there are, with or without bytes in this file. */
static size_t regions_by_section(struct elf_file *f)
{
	uint64_t next_addr = 0;
	Elf_Scn *scn = NULL;
	size_t n = 0;

	if (f->e_type == ET_REL)
		f->section_addr = util_calloc(f->shnum, sizeof(f->section_addr[0]));
	while ((scn = elf_nextscn(f->elf, scn)) != NULL) {
		size_t ndx = elf_ndxscn(scn);
		const char *name;
		GElf_Shdr sh;
		uint64_t addr;

		if (!gelf_getshdr(scn, &sh) || ndx >= f->shnum)
			continue;
		name = elf_strptr(f->elf, f->shstrndx, sh.sh_name);
		if (name && is_kernel_section(name))
			f->kernel = true;
		addr = sh.sh_addr;
		if (f->section_addr) {
			/* Sections of relocatable files all start at 0: give each a place of its own. */
			addr = f->section_addr[ndx] = next_addr;
			if (sh.sh_flags & SHF_EXECINSTR && sh.sh_size < f->size)
				next_addr += (sh.sh_size + 4095) & ~(uint64_t)4095;
			next_addr += 4096;
		}
		if (!(sh.sh_flags & SHF_EXECINSTR) || !sh.sh_size ||
		    (f->e_type != ET_REL && !(sh.sh_flags & SHF_ALLOC)))
			continue;
		n++;
		if (sh.sh_type == SHT_NOBITS)
			continue;
		if (sh.sh_flags & SHF_COMPRESSED) {
			damage(f, "section %s is marked as both code and compressed, and was left out",
			       name ? name : "(unnamed)");
			continue;
		}
		regions_add(f, sh.sh_offset, sh.sh_size, addr, name ? name : "(unnamed)", ndx);
		if (f->section_addr && f->n_regions)
			f->region[f->n_regions - 1].shown = 0 - f->region[f->n_regions - 1].addr;
	}
	return n;
}

static void regions_by_segment(struct elf_file *f)
{
	uint64_t headers = f->elf_class == ELFCLASS64 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr);
	size_t i, n;

	f->no_sections = true;
	if (elf_getphdrnum(f->elf, &n) || n > 65536)
		n = 0;
	for (i = 0; i < n; i++) {
		uint64_t table_bytes = n * (f->elf_class == ELFCLASS64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr));
		struct region *r;
		GElf_Ehdr eh;
		GElf_Phdr ph;

		if (!gelf_getphdr(f->elf, (int)i, &ph) || ph.p_type != PT_LOAD || !(ph.p_flags & PF_X) || !ph.p_filesz)
			continue;
		regions_add(f, ph.p_offset, ph.p_filesz, ph.p_vaddr, NULL, 0);
		if (!f->n_regions)
			continue;
		/* The headers are in the first segment of most programs, and are not code. */
		r = &f->region[f->n_regions - 1];
		if (r->file_offset == 0 && gelf_getehdr(f->elf, &eh) && r->size > headers) {
			r->start = r->addr + headers;
			if (eh.e_phoff == headers && r->size > headers + table_bytes)
				r->start += table_bytes;
		}
	}
}

static int compare_regions(const void *a, const void *b)
{
	const struct region *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

/* In order of address, without overlap, and never more bytes in all than the file has. */
static void tidy_regions(struct elf_file *f)
{
	size_t i, kept = 0;
	uint64_t total = 0, end = 0;

	if (f->n_regions)
		qsort(f->region, f->n_regions, sizeof(f->region[0]), compare_regions);
	for (i = 0; i < f->n_regions; i++) {
		struct region *r = &f->region[i];

		if ((kept && r->addr < end) || total > f->size - r->size) {
			damage(f, "malformed: executable parts overlap; each byte was scanned once");
			continue;
		}
		total += r->size;
		end = r->addr + r->size;
		f->region[kept++] = *r;
	}
	f->n_regions = kept;
}

bool regions_find(struct elf_file *f, const GElf_Ehdr *eh)
{
	uint64_t entry = f->elf_class == ELFCLASS64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	size_t in_sections = 0;
	bool usable;

	usable = eh->e_shoff && !elf_getshdrnum(f->elf, &f->shnum) && f->shnum > 1;
	if (eh->e_shoff && (eh->e_shoff > f->size || f->shnum > (f->size - eh->e_shoff) / entry ||
			    eh->e_shnum > (f->size - eh->e_shoff) / entry)) {
		damage(f,
		       "truncated: the section headers lie past the end of the file, at byte %" PRIu64 " of %" PRIu64,
		       (uint64_t)eh->e_shoff, f->size);
		usable = false;
	}
	if (usable && elf_getshdrstrndx(f->elf, &f->shstrndx))
		f->shstrndx = 0;
	if (usable)
		in_sections = regions_by_section(f);
	if (!in_sections && f->e_type != ET_REL)
		regions_by_segment(f);
	else if (in_sections && !f->n_regions && !f->damage.text[0])
		f->debug_file = true;
	/* libelf shows no program headers when not all of them are there. */
	if (!f->n_regions && eh->e_phnum && eh->e_phnum != PN_XNUM && !in_sections &&
	    (eh->e_phoff >= f->size || eh->e_phnum > (f->size - eh->e_phoff) /
	     (f->elf_class == ELFCLASS64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr))))
		damage(f,
		       "truncated: the program headers lie past the end of the file, at byte %" PRIu64 " of %" PRIu64,
		       (uint64_t)eh->e_phoff, f->size);
	tidy_regions(f);
	return f->n_regions > 0;
}
