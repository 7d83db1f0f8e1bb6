/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From addresses to functions, source lines and debug files, with elfutils' libdwfl: of one ELF file, of a process, of
 * the kernel. Debug files are looked for by build-id and by .gnu_debuglink (CRC checked, base name only), never over
 * the network unless asked.
 */
#ifndef PERF_RELAX_SYMBOLS_H
#define PERF_RELAX_SYMBOLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "util.h"

/*
 * Once, before threads are started: whether debuginfod servers ($DEBUGINFOD_URLS) may be asked. The default, without a
 * call, is no.
 */
void symbols_allow_network(bool allow);

struct symbols;

/*
 * The ELF file @path (@fd: open for reading, or -1 to open it here; not kept). Returns NULL with @why when it cannot be
 * used. symbols_close() releases it. A struct symbols must not be used by two threads at the same time.
 */
struct symbols *symbols_open_file(int fd, const char *path, struct reason *why);
/* The same for an image in memory, which must live as long as the result. */
struct symbols *symbols_open_image(const void *image, size_t size, const char *name, struct reason *why);
/* All that process @pid has mapped, with its vDSO, as it is now; call again after it has mapped more. */
struct symbols *symbols_open_process(pid_t pid, struct reason *why);
/*
 * The running kernel and its modules, from /proc/kallsyms: names only. Needs kptr_restrict and perf_event_paranoid to
 * allow it.
 */
struct symbols *symbols_open_kernel(struct reason *why);
void symbols_close(struct symbols *s);

/*
 * The kernel's symbols of code one by one, in order of address: number @i of those of symbols_open_kernel(), or false
 * past the end. @module is
 * "[kernel.kallsyms]" or "[name]".
 */
bool symbols_kernel_at(const struct symbols *s, size_t i, uint64_t *addr, const char **name, const char **module);

struct symbol_place {
	const char *module;	/* file name, "[vdso]", "[kernel.kallsyms]" or "[name]" of a kernel module */
	const char *name;	/* of the function, as in the symbol table; NULL: none */
	uint64_t start_addr;	/* of the function; of the module when name is NULL */
	uint64_t size_bytes;	/* of the function; 0 when not known */
};

/*
 * What is at @addr: an address of the process, of the kernel, or as in the file's program headers. Strings live until
 * symbols_close(). Returns false when no module is there.
 */
bool symbols_find(struct symbols *s, uint64_t addr, struct symbol_place *place);
/* The source line of @addr, or false. *@source lives until symbols_close(). */
bool symbols_line(struct symbols *s, uint64_t addr, const char **source, unsigned int *line);
/* The address that symbols_find() and symbols_line() want for byte @offset of section @shndx of a relocatable file. */
bool symbols_section_addr(struct symbols *s, size_t shndx, uint64_t offset, uint64_t *addr);

#endif
