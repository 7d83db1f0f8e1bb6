/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel's text, as it is after the kernel has patched itself at boot: addresses from /proc/kallsyms, bytes
 * from /proc/kcore.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "scan.h"
#include "symbols.h"

#define TEXT_BYTES_MAX (256u << 20)

/* Read [start, start + size) of the kernel's memory. */
static int read_kcore(uint64_t start, size_t size, void *to, struct reason *why)
{
	int fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	ElfW(Ehdr) eh;
	ElfW(Phdr) ph;
	size_t i, done = 0;
	ssize_t n;

	if (fd < 0 && errno == ENOENT)
		return reason_set(why, ENOENT,
				  "this kernel has no /proc/kcore (CONFIG_PROC_KCORE): scan its vmlinux file instead");
	if (fd < 0)
		return reason_set(why, errno,
				  "cannot open /proc/kcore: %s; reading the kernel's text needs root (CAP_SYS_RAWIO) "
				  "and no lockdown",
				  strerror(errno));
	if (pread(fd, &eh, sizeof(eh), 0) != (ssize_t)sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG)) {
		close(fd);
		return reason_set(why, EPERM, "/proc/kcore cannot be read (kernel lockdown?)");
	}
	for (i = 0; i < eh.e_phnum; i++) {
		if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) != (ssize_t)sizeof(ph) ||
		    ph.p_type != PT_LOAD || start < ph.p_vaddr || start - ph.p_vaddr >= ph.p_memsz ||
		    size > ph.p_memsz - (start - ph.p_vaddr))
			continue;
		while (done < size) {
			n = pread(fd, (char *)to + done, size - done,
				  (off_t)(ph.p_offset + (start - ph.p_vaddr) + done));
			if (n <= 0)
				break;
			done += (size_t)n;
		}
		break;
	}
	close(fd);
	return done == size ? 0
			    : reason_set(why, EIO, "/proc/kcore holds %zu of the %zu bytes of the kernel's text", done,
					 size);
}

int scan_kernel(struct elfscan *scan, struct elfscan_result *result, struct reason *why)
{
	struct symbols *symbols = symbols_open_kernel(why);
	struct elfscan_function *function = NULL;
	uint64_t addr, start = 0, end = 0;
	const char *name, *module;
	size_t n = 0, room = 0, i;
	void *text;
	int err;

	if (!symbols)
		return -errno;
	for (i = 0; symbols_kernel_at(symbols, i, &addr, &name, &module); i++) {
		if (!strcmp(name, "_stext") && !start)
			start = addr;
		else if (!strcmp(name, "_etext"))
			end = addr;
	}
	if (!start || end <= start || end - start > TEXT_BYTES_MAX) {
		symbols_close(symbols);
		return reason_set(
			why, ENOENT,
			"/proc/kallsyms does not say where the kernel's text begins and ends (_stext, _etext)");
	}
	for (i = 0; symbols_kernel_at(symbols, i, &addr, &name, &module); i++) {
		if (addr < start || addr >= end)
			continue;
		if (n && function[n - 1].start_addr == addr)
			continue;
		if (n == room) {
			room = room * 2 + 1024;
			function = util_realloc(function, room, sizeof(function[0]));
		}
		if (n)
			function[n - 1].end_addr = addr;
		function[n++] = (struct elfscan_function){ .start_addr = addr, .end_addr = end, .name = name };
	}
	text = util_calloc(1, end - start);
	err = read_kcore(start, end - start, text, why);
	if (!err)
		elfscan_code(scan, text, end - start, start, ".text", function, n, result);
	free(text);
	free(function);
	symbols_close(symbols);
	return err;
}
