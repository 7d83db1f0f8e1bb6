/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which libraries a file asks the dynamic linker for, read by program headers, as the linker does.
 */
#include <stdlib.h>
#include <string.h>

#include "elfscan-private.h"

#define NEEDED_MAX 4096		/* more names than any program has: bounds a hostile file */
#define STRINGS_MAX (64u << 20)

/* The file offset of virtual address @addr, or UINT64_MAX. */
static uint64_t offset_of(Elf *elf, size_t n, uint64_t addr)
{
	GElf_Phdr ph;
	size_t i;

	for (i = 0; i < n; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD && addr >= ph.p_vaddr &&
		    addr - ph.p_vaddr < ph.p_filesz)
			return ph.p_offset + (addr - ph.p_vaddr);
	return UINT64_MAX;
}

static char *string_at(const Elf_Data *strings, uint64_t at)
{
	const char *s = strings->d_buf;

	if (at >= strings->d_size || !memchr(s + at, 0, strings->d_size - at) || !s[at])
		return NULL;
	return util_strdup(s + at);
}

static void read_strings(const Elf_Data *dyn, const Elf_Data *strings, struct elfscan_dynamic *d)
{
	size_t room = 0, i;
	GElf_Dyn entry;
	char *s;

	for (i = 0; gelf_getdyn((Elf_Data *)(uintptr_t)dyn, (int)i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_RUNPATH && entry.d_tag != DT_RPATH)
			continue;
		s = string_at(strings, entry.d_un.d_val);
		if (!s)
			continue;
		if (entry.d_tag == DT_NEEDED && d->n_needed < NEEDED_MAX) {
			GROW(d->needed, room, d->n_needed);
			d->needed[d->n_needed++] = s;
		} else if (entry.d_tag == DT_RUNPATH && !d->runpath) {
			d->runpath = s;
		} else if (entry.d_tag == DT_RPATH && !d->rpath) {
			d->rpath = s;
		} else {
			free(s);
		}
	}
}

int elfscan_dynamic_read(int fd, struct elfscan_dynamic *d)
{
	uint64_t str_addr = 0, str_bytes = 0, at;
	Elf_Data *dyn = NULL, *strings;
	size_t n = 0, i;
	GElf_Dyn entry;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	Elf *elf;

	*d = (struct elfscan_dynamic){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &eh)) {
		elf_end(elf);
		return -ENOEXEC;
	}
	d->machine = eh.e_machine;
	d->elf_class = eh.e_ident[EI_CLASS];
	if (elf_getphdrnum(elf, &n) || n > 65536)
		n = 0;
	for (i = 0; i < n && !dyn; i++)
		if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_DYNAMIC && ph.p_filesz < STRINGS_MAX)
			dyn = elf_getdata_rawchunk(elf, (int64_t)ph.p_offset, ph.p_filesz, ELF_T_DYN);
	for (i = 0; dyn && gelf_getdyn(dyn, (int)i, &entry) && entry.d_tag != DT_NULL; i++) {
		if (entry.d_tag == DT_STRTAB)
			str_addr = entry.d_un.d_ptr;
		else if (entry.d_tag == DT_STRSZ)
			str_bytes = entry.d_un.d_val;
	}
	at = str_addr ? offset_of(elf, n, str_addr) : UINT64_MAX;
	if (at < INT64_MAX && str_bytes && str_bytes < STRINGS_MAX) {
		strings = elf_getdata_rawchunk(elf, (int64_t)at, str_bytes, ELF_T_BYTE);
		if (strings && strings->d_buf)
			read_strings(dyn, strings, d);
	}
	elf_end(elf);
	return 0;
}

void elfscan_dynamic_free(struct elfscan_dynamic *d)
{
	size_t i;

	for (i = 0; i < d->n_needed; i++)
		free(d->needed[i]);
	free(d->needed);
	free(d->runpath);
	free(d->rpath);
	*d = (struct elfscan_dynamic){ 0 };
}
