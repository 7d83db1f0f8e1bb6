/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Addresses to functions and lines, by libdwfl.
 */
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "symbols.h"

/* Larger than any program with its debug information; libelf falls back to reading all of what it cannot map. */
#define FILE_BYTES_MAX (16ll << 30)

struct kernel_symbol {
	uint64_t addr;
	const char *name, *module;
};

struct symbols {
	Dwfl *dwfl;
	Dwfl_Module *only;	/* the module, when there is just one */
	GElf_Addr bias;		/* what libdwfl adds to the addresses of this module's program headers */
	struct kernel_symbol *kernel;
	size_t n_kernel, room_kernel;
	char *text;		/* of /proc/kallsyms; the names point into it */
};

/*
 * libdwfl asks the servers in $DEBUGINFOD_URLS when it finds no debug file. There is no other switch than the variable
 * (debuginfod(8)); the constructor runs before any thread, and a caller that wants the network puts it back.
 */
static char *saved_urls;

__attribute__((constructor)) static void save_urls(void)
{
	const char *urls = getenv("DEBUGINFOD_URLS");

	if (urls && *urls) {
		saved_urls = util_strdup(urls);
		unsetenv("DEBUGINFOD_URLS");
	}
}

void symbols_allow_network(bool allow)
{
	if (allow && saved_urls)
		setenv("DEBUGINFOD_URLS", saved_urls, 1);
	else
		unsetenv("DEBUGINFOD_URLS");
}

/*
 * The name in .gnu_debuglink is a base name ("Separate Debug Files", GDB manual); with a path in it a file could make
 * us open any other. What is found must have the build-id of the main file or, without one, the CRC of the link:
 * libdwfl checks that.
 */
static int find_debug(Dwfl_Module *mod, void **userdata, const char *modname, GElf_Addr base, const char *file_name,
		      const char *debuglink_file, GElf_Word debuglink_crc, char **debuginfo_file_name)
{
	if (debuglink_file && (strchr(debuglink_file, '/') || !*debuglink_file || !strcmp(debuglink_file, ".") ||
			       !strcmp(debuglink_file, "..")))
		return -1;
	return dwfl_standard_find_debuginfo(mod, userdata, modname, base, file_name, debuglink_file, debuglink_crc,
					    debuginfo_file_name);
}

static char *debug_path;	/* NULL: libdwfl's default, ":.debug:/usr/lib/debug" */

static const Dwfl_Callbacks file_callbacks = { .find_elf = dwfl_build_id_find_elf,
					       .find_debuginfo = find_debug,
					       .section_address = dwfl_offline_section_address,
					       .debuginfo_path = &debug_path };
static const Dwfl_Callbacks process_callbacks = {
	.find_elf = dwfl_linux_proc_find_elf, .find_debuginfo = find_debug, .debuginfo_path = &debug_path
};

static struct symbols *begin(const Dwfl_Callbacks *callbacks, struct reason *why)
{
	struct symbols *s = util_calloc(1, sizeof(*s));

	s->dwfl = dwfl_begin(callbacks);
	if (s->dwfl)
		return s;
	reason_set(why, ENOMEM, "cannot use libdwfl: %s", dwfl_errmsg(-1));
	free(s);
	errno = ENOMEM;
	return NULL;
}

static struct symbols *finish_file(struct symbols *s, const char *path, int fd, struct reason *why)
{
	dwfl_report_begin(s->dwfl);
	s->only = dwfl_report_offline(s->dwfl, path, path, fd);
	dwfl_report_end(s->dwfl, NULL, NULL);
	if (s->only && dwfl_module_getelf(s->only, &s->bias))
		return s;
	if (s->only)
		fd = -1;	/* libdwfl closes it */
	reason_set(why, EBADMSG, "no symbols from %s: %s", path, dwfl_errmsg(-1));
	if (fd >= 0)
		close(fd);
	symbols_close(s);
	errno = EBADMSG;
	return NULL;
}

struct symbols *symbols_open_file(int fd, const char *path, struct reason *why)
{
	struct symbols *s;
	struct stat st;
	int own = fd < 0 ? open(path, O_RDONLY | O_CLOEXEC) : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (own < 0) {
		reason_set(why, errno, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	if (fstat(own, &st) || st.st_size > FILE_BYTES_MAX) {
		reason_set(why, EFBIG, "%s is too large for libelf", path);
		close(own);
		errno = EFBIG;
		return NULL;
	}
	s = begin(&file_callbacks, why);
	if (!s) {
		close(own);
		return NULL;
	}
	return finish_file(s, path, own, why);
}

struct symbols *symbols_open_image(const void *image, size_t size, const char *name, struct reason *why)
{
	struct symbols *s;
	const uint8_t *p = image;
	size_t done = 0;
	int fd;

	/* dwfl_report_offline_memory() frees the image in some versions and not in others: give it a file instead. */
	fd = memfd_create("perf-relax-image", MFD_CLOEXEC);
	if (fd < 0) {
		reason_set(why, errno, "cannot make a file in memory: %s", strerror(errno));
		return NULL;
	}
	while (done < size) {
		ssize_t n = write(fd, p + done, size - done);

		if (n <= 0) {
			reason_set(why, errno, "cannot fill a file in memory: %s", strerror(errno));
			close(fd);
			return NULL;
		}
		done += (size_t)n;
	}
	s = begin(&file_callbacks, why);
	if (!s) {
		close(fd);
		return NULL;
	}
	return finish_file(s, name, fd, why);
}

struct symbols *symbols_open_process(pid_t pid, struct reason *why)
{
	struct symbols *s = begin(&process_callbacks, why);
	int err;

	if (!s)
		return NULL;
	dwfl_report_begin(s->dwfl);
	err = dwfl_linux_proc_report(s->dwfl, pid);
	dwfl_report_end(s->dwfl, NULL, NULL);
	if (!err)
		return s;
	if (err > 0)
		reason_set(why, err, "cannot read the mappings of process %d: %s", (int)pid, strerror(err));
	else
		reason_set(why, EIO, "cannot read the mappings of process %d: %s", (int)pid, dwfl_errmsg(-1));
	symbols_close(s);
	errno = err > 0 ? err : EIO;
	return NULL;
}

static char *read_all(const char *path, size_t *size, struct reason *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t n = 0, room = 1u << 20;
	char *buf;
	ssize_t got;

	if (fd < 0) {
		reason_set(why, errno, "cannot open %s: %s", path, strerror(errno));
		return NULL;
	}
	buf = util_calloc(room, 1);
	while ((got = read(fd, buf + n, room - n - 1)) > 0) {
		n += (size_t)got;
		if (room - n < 65536) {
			room *= 2;
			buf = util_realloc(buf, room, 1);
		}
	}
	if (got < 0) {
		reason_set(why, errno, "cannot read %s: %s", path, strerror(errno));
		close(fd);
		free(buf);
		return NULL;
	}
	close(fd);
	buf[n] = '\0';
	*size = n;
	return buf;
}

static int compare_kernel(const void *a, const void *b)
{
	const struct kernel_symbol *x = a, *y = b;

	return x->addr < y->addr ? -1 : x->addr > y->addr;
}

struct symbols *symbols_open_kernel(struct reason *why)
{
	struct symbols *s = util_calloc(1, sizeof(*s));
	bool any = false;
	char *line, *next;
	size_t size;

	s->text = read_all("/proc/kallsyms", &size, why);
	if (!s->text) {
		free(s);
		return NULL;
	}
	for (line = s->text; *line; line = next) {
		struct kernel_symbol k = { .module = "[kernel.kallsyms]" };
		char type, *name, *end;

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		else
			next = line + strlen(line);
		k.addr = strtoull(line, &end, 16);
		if (end == line || end[0] != ' ' || !end[1] || end[2] != ' ')
			continue;
		type = end[1];
		name = end + 3;
		if (!strchr("tTwWrRi", type) || !*name)
			continue;
		any = any || k.addr;
		end = strchr(name, '\t');
		if (end) {
			*end++ = '\0';
			k.module = end;		/* "[name]" */
		}
		k.name = name;
		if (s->n_kernel == s->room_kernel) {
			s->room_kernel = s->room_kernel * 2 + 1024;
			s->kernel = util_realloc(s->kernel, s->room_kernel, sizeof(s->kernel[0]));
		}
		s->kernel[s->n_kernel++] = k;
	}
	if (!any) {
		reason_set(
			why, EPERM, "%s",
			s->n_kernel
				? "/proc/kallsyms hides the addresses; kernel.kptr_restrict 0 or CAP_SYSLOG shows them"
				: "/proc/kallsyms is empty (a kernel without CONFIG_KALLSYMS?)");
		symbols_close(s);
		errno = EPERM;
		return NULL;
	}
	qsort(s->kernel, s->n_kernel, sizeof(s->kernel[0]), compare_kernel);
	return s;
}

bool symbols_kernel_at(const struct symbols *s, size_t i, uint64_t *addr, const char **name, const char **module)
{
	if (i >= s->n_kernel)
		return false;
	*addr = s->kernel[i].addr;
	*name = s->kernel[i].name;
	*module = s->kernel[i].module;
	return true;
}

void symbols_close(struct symbols *s)
{
	if (!s)
		return;
	if (s->dwfl)
		dwfl_end(s->dwfl);
	free(s->kernel);
	free(s->text);
	free(s);
}

static bool find_kernel(const struct symbols *s, uint64_t addr, struct symbol_place *place)
{
	size_t low = 0, high = s->n_kernel;
	const struct kernel_symbol *k;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->kernel[mid].addr <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low || !s->kernel[low - 1].addr)
		return false;
	k = &s->kernel[low - 1];
	while (k > s->kernel && k[-1].addr == k->addr)
		k--;
	*place = (struct symbol_place){ .module = k->module, .name = k->name, .start_addr = k->addr };
	if (low < s->n_kernel && !strcmp(s->kernel[low].module, k->module))
		place->size_bytes = s->kernel[low].addr - k->addr;
	/* Behind the last symbol of a module or of the kernel: far away is nowhere. */
	return place->size_bytes || addr - k->addr < (1u << 16);
}

bool symbols_find(struct symbols *s, uint64_t addr, struct symbol_place *place)
{
	Dwfl_Module *mod;
	const char *name, *file = NULL;
	GElf_Addr start = 0;
	GElf_Off offset = 0;
	GElf_Sym sym;

	*place = (struct symbol_place){ 0 };
	if (s->kernel)
		return find_kernel(s, addr, place);
	addr += s->bias;
	mod = s->only ? s->only : dwfl_addrmodule(s->dwfl, addr);
	if (!mod)
		return false;
	place->module = dwfl_module_info(mod, NULL, &start, NULL, NULL, NULL, &file, NULL);
	if (place->module && !strncmp(place->module, "[vdso:", 6))
		place->module = "[vdso]";
	else if (file)
		place->module = file;
	place->start_addr = start - s->bias;
	name = dwfl_module_addrinfo(mod, addr, &offset, &sym, NULL, NULL, NULL);
	if (name && *name) {
		place->name = name;
		place->start_addr = addr - offset - s->bias;
		place->size_bytes = sym.st_size;
	}
	return true;
}

bool symbols_line(struct symbols *s, uint64_t addr, const char **source, unsigned int *line)
{
	Dwfl_Module *mod;
	Dwfl_Line *l;
	int number = 0;

	if (!s->dwfl)
		return false;
	addr += s->bias;
	mod = s->only ? s->only : dwfl_addrmodule(s->dwfl, addr);
	l = mod ? dwfl_module_getsrc(mod, addr) : NULL;
	if (!l)
		return false;
	*source = dwfl_lineinfo(l, NULL, &number, NULL, NULL, NULL);
	*line = number > 0 ? (unsigned int)number : 0;
	return *source != NULL;
}

bool symbols_section_addr(struct symbols *s, size_t shndx, uint64_t offset, uint64_t *addr)
{
	GElf_Addr bias = 0;
	GElf_Shdr shdr;
	Elf_Scn *scn;
	Elf *elf;

	if (!s->only)
		return false;
	elf = dwfl_module_getelf(s->only, &bias);
	scn = elf ? elf_getscn(elf, shndx) : NULL;
	if (!scn || !gelf_getshdr(scn, &shdr))
		return false;
	*addr = shdr.sh_addr + bias + offset - s->bias;
	return true;
}
