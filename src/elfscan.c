/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Opening what may be an ELF file, finding its executable parts, and telling the hits. Nothing in a file is believed:
 * every offset and size is checked against the file before it is used.
 */
#include <ar.h>
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "elfscan-private.h"

/* libdwfl looks through all symbols for each name: after so many hits in one file they are named by its own symbols only. */
#define DEBUG_NAMES_MAX 10000

struct elfscan {
	struct elfscan_options options;
	struct analysis analysis;
	/* of the file or archive member that is being scanned */
	const char *path, *member;
	int fd;
	const void *image;
	size_t image_size;
	struct ranges ranges;
	bool ranges_loaded;
	struct elf_file file;
	struct elfscan_result *result;
	struct symbols *symbols;
	bool symbols_tried;
};

/* The mapping that this thread reads; a fault in it ends at its end. */
static __thread uint8_t *guard_begin, *guard_end;
static __thread volatile sig_atomic_t guard_faults;

/*
 * A file that is cut short while it is mapped gives SIGBUS. Zeros take the place of what is gone, and the scan says
 * "truncated". The same for pages that elfutils has mapped. mmap is not in POSIX's list of safe functions, but is a
 * bare system call here.
 */
static void on_sigbus(int sig, siginfo_t *info, void *context)
{
	uintptr_t page_bytes = (uintptr_t)getpagesize();
	uint8_t *page = (uint8_t *)((uintptr_t)info->si_addr & ~(page_bytes - 1));
	size_t len = page_bytes;

	(void)context;
	if (page >= guard_begin && page < guard_end)
		len = (size_t)(guard_end - page);
	if (info->si_code == BUS_ADRERR &&
	    mmap(page, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) !=
		    MAP_FAILED) {
		guard_faults = 1;
		return;
	}
	signal(sig, SIG_DFL);
}

static void init_once(void)
{
	struct sigaction sa = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };

	elf_version(EV_CURRENT);
	sigemptyset(&sa.sa_mask);
	sigaction(SIGBUS, &sa, NULL);
}

struct elfscan *elfscan_new(const struct elfscan_options *options)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct elfscan *scan = util_calloc(1, sizeof(*scan));

	pthread_once(&once, init_once);
	scan->options = *options;
	return scan;
}

void elfscan_free(struct elfscan *scan)
{
	if (!scan)
		return;
	analysis_free(&scan->analysis);
	free(scan);
}

static void note(struct elfscan *scan, const char *text)
{
	if (scan->options.note)
		scan->options.note(scan->options.ctx, scan->member, text);
}

static void fail(struct elfscan_result *result, enum elfscan_status status, int err, const char *text)
{
	result->status = status;
	reason_set(&result->why, err, "%s", text);
}

static const char *machine_label(const struct elf_file *f)
{
	switch (f->e_machine) {
	case EM_X86_64:
		return f->elf_class == ELFCLASS32 ? "x32" : "x86-64";
	case EM_AARCH64:
		return f->msb ? "aarch64_be" : "aarch64";
	case EM_ARM:
		return f->msb ? "armeb" : "arm";
	case EM_PPC64:
		return f->msb ? "ppc64" : "ppc64le";
	case EM_MIPS:
	case EM_MIPS_RS3_LE:
		return f->elf_class == ELFCLASS64 ? (f->msb ? "mips64" : "mips64el") : f->msb ? "mips" : "mipsel";
	case EM_SPARCV9:
		return "sparc64";
	case EM_S390:
		return f->elf_class == ELFCLASS64 ? "s390x" : "s390";
	case EM_LOONGARCH:
		return f->elf_class == ELFCLASS64 ? "loongarch64" : "loongarch32";
	default:
		return f->isa ? f->isa->name : machine_name(f->e_machine);
	}
}

static struct symbols *symbols_of(struct elfscan *scan)
{
	if (scan->symbols_tried || scan->options.no_source)
		return scan->symbols;
	scan->symbols_tried = true;
	if (scan->fd >= 0)
		scan->symbols = symbols_open_file(scan->fd, scan->path, NULL);
	else if (scan->image)
		scan->symbols = symbols_open_image(scan->image, scan->image_size,
						   scan->member ? scan->member : scan->path, NULL);
	return scan->symbols;
}

static void name_hit(struct elfscan *scan, const struct region *region, uint64_t addr, uint64_t shown,
		     struct elfscan_hit *h)
{
	const struct range *r = ranges_name(&scan->ranges, addr, region->addr, &h->name_from);
	struct symbol_place place;

	if (h->name_from != ELFSCAN_NAME_SYMTAB && !scan->ranges.have_symtab && scan->fd >= 0 &&
	    scan->result->n_hits < DEBUG_NAMES_MAX && symbols_of(scan) &&
	    symbols_find(scan->symbols, shown, &place) && place.name &&
	    (place.size_bytes || h->name_from == ELFSCAN_NAME_NONE)) {
		if (h->name_from != ELFSCAN_NAME_DYNSYM) {
			h->name_from = place.size_bytes ? ELFSCAN_NAME_DEBUG : ELFSCAN_NAME_NEAREST;
			h->function = place.name;
			h->offset_bytes = shown - place.start_addr;
			return;
		}
	}
	if (r) {
		h->function = r->name;
		h->offset_bytes = addr - r->start;
	} else {
		h->offset_bytes = addr - region->addr;
	}
}

static int emit(void *ctx, const struct isa *isa, const struct region *region, const struct code_hit *ch, uint64_t addr,
		enum elfscan_confidence confidence, uint64_t loop_bytes)
{
	struct elfscan *scan = ctx;
	unsigned int when = isa->hints[ch->hint].when;
	uint64_t pos = addr - region->addr, shown = addr + region->shown, where = shown;
	struct elfscan_hit h = {
		.member = scan->member,
		.machine = scan->result->machine,
		.section = region->name,
		.address = shown,
		.file_offset = region->file_offset + pos,
		.n_bytes = ch->len,
		.hint = isa->hints[ch->hint].name,
		.certain = when != HINT_IN_LOOP,
		.in_loop = ch->in_loop,
		.confidence = confidence,
	};

	if (ch->in_loop) {
		h.loop_bytes = loop_bytes;
		h.loop_hints = ch->loop_hints;
		h.loop_reads = ch->reads;
		h.spin_wait = ch->spin;
		h.reads_why = ch->reads_why;
	}
	memcpy(h.bytes, region->bytes + pos, ch->len);
	name_hit(scan, region, addr, shown, &h);
	if (symbols_of(scan) &&
	    (!scan->file.section_addr || symbols_section_addr(scan->symbols, region->shndx, pos, &where)))
		if (!symbols_line(scan->symbols, where, &h.source, &h.line))
			h.source = NULL;
	scan->result->n_hits++;
	scan->result->n_in_loop += h.in_loop;
	scan->result->n_spin_waits += h.in_loop && h.spin_wait == ELFSCAN_READS_YES;
	return scan->options.hit(scan->options.ctx, &h);
}

static void sweep_all(struct elfscan *scan, struct elf_file *f)
{
	struct elfscan_result *result = scan->result;
	struct analysis *a = &scan->analysis;
	size_t i;
	int err = 0;

	a->decoded_bytes = a->n_data = 0;
	a->budget_bytes = 64u << 20;
	for (i = 0; i < f->n_regions; i++)
		a->budget_bytes += 8 * f->region[i].size;
	for (i = 0; i < f->n_regions && !err; i++) {
		struct sweep s = { .file = f, .region = &f->region[i], .ranges = &scan->ranges, .analysis = a,
				   .privileged = scan->options.privileged || f->kernel, .emit = emit, .ctx = scan };

		result->code_bytes += f->region[i].size;
		if (!scan->ranges_loaded) {
			/* Most files hold nothing that looks like a hint: they need no symbols. */
			uint64_t from = f->region[i].start - f->region[i].addr;

			if (f->region[i].size < (1u << 30) && isa_search(f->isa, s.privileged, f->region[i].bytes,
									 f->region[i].size, from) >= f->region[i].size)
				continue;
			ranges_load(&scan->ranges, f);
			scan->ranges_loaded = true;
		}
		err = sweep_region(&s);
	}
	result->n_data += a->n_data;
	if (err)
		result->status = ELFSCAN_STOPPED;
}

static void scan_file(struct elfscan *scan, struct elf_file *f)
{
	struct elfscan_result *result = scan->result;

	sweep_all(scan, f);
	if (guard_faults)
		damage(f, "truncated: the file was cut short while it was read");
	if (f->damage.text[0] && result->status == ELFSCAN_DONE) {
		result->status = ELFSCAN_PARTIAL;
		result->why = f->damage;
	}
}

static void scan_elf(struct elfscan *scan, Elf *elf, const uint8_t *map, uint64_t size)
{
	struct elfscan_result *result = scan->result;
	struct elf_file *f = &scan->file;
	char text[128];
	GElf_Ehdr eh;

	*f = (struct elf_file){ .elf = elf, .fd = scan->fd, .writable = scan->fd >= 0, .map = map, .size = size };
	if (!gelf_getehdr(elf, &eh)) {
		snprintf(text, sizeof(text), "malformed ELF header: %s", elf_errmsg(-1));
		fail(result, ELFSCAN_BAD, EBADMSG, text);
		return;
	}
	f->e_type = eh.e_type;
	f->e_machine = eh.e_machine;
	f->e_entry = eh.e_entry;
	f->e_flags = eh.e_flags;
	f->elf_class = eh.e_ident[EI_CLASS];
	f->msb = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	f->isa = isa_of(f->e_machine, f->elf_class, f->msb, f->e_flags, f->e_type);
	if (!result->machine)
		result->machine = machine_label(f);
	if (f->e_type == ET_CORE) {
		fail(result, ELFSCAN_REFUSED, EINVAL,
		     "a core file: it holds a process's data; scan the program that it comes from");
		return;
	}
	if (!f->isa) {
		snprintf(text, sizeof(text), "no table for %s", machine_name(f->e_machine));
		fail(result, ELFSCAN_NO_TABLE, ENOTSUP, text);
		return;
	}
	if (f->isa == &isas[ISA_X86_64] && f->msb)
		note(scan,
		     "an x86 file whose header says big-endian: read as its header says, but no x86 kernel runs it so");
	if (regions_find(f, &eh)) {
		scan_file(scan, f);
	} else if (f->debug_file) {
		result->debug_file = true;
	} else if (f->damage.text[0]) {
		result->status = ELFSCAN_BAD;
		result->why = f->damage;
	}
	ranges_free(&scan->ranges);
	scan->ranges_loaded = false;
	free(f->region);
	free(f->section_addr);
	symbols_close(scan->symbols);
	scan->symbols = NULL;
	scan->symbols_tried = false;
}

/* e_machine as the bytes say in little-endian order; the header's own order may be a lie. */
static bool is_flipped_x86(const uint8_t *p)
{
	unsigned int le = p[18] | (unsigned int)p[19] << 8;

	return p[EI_DATA] == ELFDATA2MSB && (le == EM_X86_64 || le == EM_386);
}

/* @p: a first look at the file, @n bytes of it. Returns true when it is worth mapping. */
static bool check_header(const uint8_t *p, size_t n, uint64_t size, struct elfscan_result *result)
{
	static const struct {
		const char *magic;
		size_t len;
		const char *what;
	} others[] = {
		{ "\x1f\x8b", 2, "compressed with gzip" },
		{ "\xfd"
		  "7zXZ",
		  5, "compressed with xz" },
		{ "\x28\xb5\x2f\xfd", 4, "compressed with zstd" },
		{ "BZh", 3, "compressed with bzip2" },
		{ "!<thin>\n", 8, "a thin archive: its members are files of their own" },
		{ "MZ", 2, "a PE image" },
		{ "#!", 2, "a script" },
	};
	char text[160];
	size_t i, need;

	if (size == 0) {
		fail(result, ELFSCAN_NOT_ELF, ENOEXEC, "an empty file");
		return false;
	}
	if (n >= 8 && !memcmp(p, ARMAG, SARMAG))
		return true;
	if (n < SELFMAG || memcmp(p, ELFMAG, SELFMAG)) {
		for (i = 0; i < ARRAY_SIZE(others); i++)
			if (n >= others[i].len && !memcmp(p, others[i].magic, others[i].len))
				break;
		snprintf(text, sizeof(text), "not an ELF file%s%s", i < ARRAY_SIZE(others) ? ", but " : "",
			 i < ARRAY_SIZE(others) ? others[i].what : "");
		fail(result, ELFSCAN_NOT_ELF, ENOEXEC, text);
		return false;
	}
	need = n > EI_CLASS && p[EI_CLASS] == ELFCLASS32 ? sizeof(Elf32_Ehdr) : sizeof(Elf64_Ehdr);
	if (size < need) {
		snprintf(text, sizeof(text), "truncated: %" PRIu64 " bytes, an ELF header has %zu", size, need);
		fail(result, ELFSCAN_BAD, EBADMSG, text);
		return false;
	}
	if ((p[EI_CLASS] != ELFCLASS32 && p[EI_CLASS] != ELFCLASS64) ||
	    (p[EI_DATA] != ELFDATA2LSB && p[EI_DATA] != ELFDATA2MSB)) {
		snprintf(text, sizeof(text), "malformed ELF header: class %u, data encoding %u", p[EI_CLASS],
			 p[EI_DATA]);
		fail(result, ELFSCAN_BAD, EBADMSG, text);
		return false;
	}
	return true;
}

static void scan_image(struct elfscan *scan, const uint8_t *image, size_t size)
{
	struct elfscan_result *result = scan->result;
	uint8_t *copy = NULL;
	char text[128];
	Elf *elf;

	if (!check_header(image, size, size, result))
		return;
	if (size > EI_NIDENT + 4 && is_flipped_x86(image)) {
		/* Linux does not look at EI_DATA, so such a file runs; libelf does. */
		note(scan, "the header says big-endian, the rest is little-endian x86: read as little-endian");
		copy = malloc(size);
		if (!copy) {
			fail(result, ELFSCAN_BAD, ENOMEM,
			     "too large to be copied, which its wrong byte order asks for");
			return;
		}
		memcpy(copy, image, size);
		copy[EI_DATA] = ELFDATA2LSB;
		image = copy;
	}
	/* libelf wants a char *, but writes to it only when asked to update. */
	elf = elf_memory((char *)(uintptr_t)image, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF) {
		snprintf(text, sizeof(text), "malformed: %s", elf ? "not an ELF file" : elf_errmsg(-1));
		fail(result, ELFSCAN_BAD, EBADMSG, text);
	} else {
		scan_elf(scan, elf, image, size);
	}
	if (elf)
		elf_end(elf);
	free(copy);
}

/*
 * Members of an archive, one after the other. The worst status of a member is the archive's, the first reason its
 * reason.
 */
static void scan_archive(struct elfscan *scan, const uint8_t *image, size_t size)
{
	struct elfscan_result *whole = scan->result, one;
	Elf *archive = elf_memory((char *)(uintptr_t)image, size), *m;
	Elf_Cmd cmd = ELF_C_READ_MMAP;	/* else libelf would read the members from a file descriptor */
	int fd = scan->fd;

	if (!archive || elf_kind(archive) != ELF_K_AR) {
		fail(whole, ELFSCAN_BAD, EBADMSG, "a malformed archive");
		if (archive)
			elf_end(archive);
		return;
	}
	scan->fd = -1;		/* the file is not the member */
	while (whole->status != ELFSCAN_STOPPED && (m = elf_begin(-1, cmd, archive)) != NULL) {
		Elf_Arhdr *hdr = elf_getarhdr(m);
		size_t bytes = 0;
		const char *raw = elf_rawfile(m, &bytes);

		if (hdr && raw && hdr->ar_name && strcmp(hdr->ar_name, "/") && strcmp(hdr->ar_name, "//") &&
		    strcmp(hdr->ar_name, "/SYM64/")) {
			one = (struct elfscan_result){ 0 };
			scan->result = &one;
			scan->member = hdr->ar_name;
			scan->image = raw;
			scan->image_size = bytes;
			scan_image(scan, (const uint8_t *)raw, bytes);
			whole->n_members++;
			whole->n_hits += one.n_hits;
			whole->n_in_loop += one.n_in_loop;
			whole->n_spin_waits += one.n_spin_waits;
			whole->n_data += one.n_data;
			whole->code_bytes += one.code_bytes;
			if (!whole->machine)
				whole->machine = one.machine;
			if (one.status == ELFSCAN_STOPPED) {
				whole->status = one.status;
			} else if (one.status == ELFSCAN_NO_TABLE && whole->status == ELFSCAN_DONE) {
				whole->status = one.status;
				whole->why = one.why;
			} else if (one.status != ELFSCAN_DONE && one.status != ELFSCAN_NOT_ELF &&
				   one.status != ELFSCAN_NO_TABLE) {
				whole->status = ELFSCAN_PARTIAL;
				reason_set(&whole->why, one.why.err, "member %s: %.400s", hdr->ar_name, one.why.text);
			}
		}
		cmd = elf_next(m) == ELF_C_NULL ? ELF_C_NULL : ELF_C_READ_MMAP;
		elf_end(m);
	}
	elf_end(archive);
	if (whole->status == ELFSCAN_DONE && size > SARMAG && !whole->n_members && size < SARMAG + 60)
		fail(whole, ELFSCAN_BAD, EBADMSG, "a truncated archive");
	scan->member = NULL;
	scan->image = NULL;
	scan->fd = fd;
	scan->result = whole;
}

static void scan_any(struct elfscan *scan, const uint8_t *image, size_t size)
{
	if (size >= SARMAG && !memcmp(image, ARMAG, SARMAG))
		scan_archive(scan, image, size);
	else
		scan_image(scan, image, size);
}

void elfscan_image(struct elfscan *scan, const void *image, size_t size, const char *name,
		   struct elfscan_result *result)
{
	*result = (struct elfscan_result){ 0 };
	guard_faults = 0;
	scan->path = name;
	scan->member = NULL;
	scan->fd = -1;
	scan->image = image;
	scan->image_size = size;
	scan->result = result;
	scan_any(scan, image, size);
	scan->image = NULL;
}

void elfscan_fd(struct elfscan *scan, int fd, const char *path, struct elfscan_result *result)
{
	uint8_t first[sizeof(Elf64_Ehdr)];
	struct stat st;
	ssize_t n = 0;
	char text[128];
	uint8_t *map;

	*result = (struct elfscan_result){ 0 };
	if (fstat(fd, &st) || (S_ISREG(st.st_mode) && (n = pread(fd, first, sizeof(first), 0)) < 0)) {
		snprintf(text, sizeof(text), "cannot read: %s", strerror(errno));
		fail(result, ELFSCAN_UNREADABLE, errno ? errno : EIO, text);
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		fail(result, ELFSCAN_UNREADABLE, EINVAL, "not a regular file");
		return;
	}
	if (!check_header(first, (size_t)n, (uint64_t)st.st_size, result))
		return;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED) {
		snprintf(text, sizeof(text), "cannot map %" PRId64 " bytes: %s", (int64_t)st.st_size, strerror(errno));
		fail(result, ELFSCAN_UNREADABLE, errno, text);
		return;
	}
	guard_begin = map;
	guard_end = map + (((uint64_t)st.st_size + (uint64_t)getpagesize() - 1) & ~((uint64_t)getpagesize() - 1));
	guard_faults = 0;
	scan->path = path;
	scan->member = NULL;
	scan->fd = fd;
	scan->image = NULL;
	scan->result = result;
	scan_any(scan, map, (size_t)st.st_size);
	guard_begin = guard_end = NULL;
	munmap(map, (size_t)st.st_size);
}

void elfscan_code(struct elfscan *scan, const void *code, size_t size, uint64_t addr, const char *section,
		  const struct elfscan_function *functions, size_t n_functions, struct elfscan_result *result)
{
	struct elf_file *f = &scan->file;
	size_t i;

	*result = (struct elfscan_result){ 0 };
	guard_faults = 0;
	*f = (struct elf_file){ .fd = -1, .map = code, .size = size, .kernel = true, .isa = isa_host() };
	scan->path = scan->member = NULL;
	scan->fd = -1;
	scan->image = NULL;
	scan->result = result;
	scan->symbols_tried = true;
	if (!f->isa) {
		fail(result, ELFSCAN_NO_TABLE, ENOTSUP, "no table for this machine");
		return;
	}
	result->machine = f->isa->name;
	for (i = 0; i < n_functions; i++)
		ranges_add(&scan->ranges, functions[i].start_addr, functions[i].end_addr, functions[i].name,
			   RANGE_SYMBOL | (functions[i].end_addr ? RANGE_SIZED : 0));
	scan->ranges.have_symtab = true;
	ranges_sort(&scan->ranges);
	scan->ranges_loaded = true;
	regions_add(f, 0, size, addr, section, 0);
	scan_file(scan, f);
	ranges_free(&scan->ranges);
	scan->ranges_loaded = false;
	scan->symbols_tried = false;
	free(f->region);
}

const char *elfscan_confidence_name(enum elfscan_confidence c)
{
	static const char *const names[] = { "symbol sweep", "linear sweep", "segment sweep" };

	return names[c];
}

const char *elfscan_name_from_name(enum elfscan_name_from f)
{
	static const char *const names[] = { "none", "symtab", "dynsym", "debug", "nearest" };

	return names[f];
}

const char *elfscan_status_name(enum elfscan_status s)
{
	static const char *const names[] = { "done",	 "partial", "not-elf",	  "refused",
					     "no-table", "bad",	    "unreadable", "stopped" };

	return names[s];
}
