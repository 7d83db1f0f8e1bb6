/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes to assembly text, for showing what a probe really executes (rule 2). capstone does the decoding; the few
 * instructions that it lacks or misnames (capstone 4 shows UMONITOR and TPAUSE as mfence, RDPID as rdseed, and drops a
 * second REP before PAUSE) are in a table of our own, and anything unknown is shown as data, never under another name.
 */
#ifndef PERF_RELAX_DISASM_H
#define PERF_RELAX_DISASM_H

#include <stddef.h>

/* X(IDENT, "name"): instruction sets, whatever the host is. x86 text is AT&T, as objdump and perf annotate show it. */
#define DISASM_MACHINES(X) \
	X(X86_64, "x86_64") \
	X(I386, "i386") \
	X(AARCH64, "aarch64") \
	X(ARM, "arm") \
	X(THUMB, "thumb") \
	X(PPC64, "ppc64") \
	X(PPC64LE, "ppc64le") \
	X(RISCV64, "riscv64") \
	X(S390X, "s390x") \
	X(MIPS64, "mips64") \
	X(MIPS64EL, "mips64el") \
	X(ALPHA, "alpha") \
	X(UNKNOWN, "this machine")

enum disasm_machine {
#define X(ident, name) DISASM_##ident,
	DISASM_MACHINES(X)
#undef X
	DISASM_MACHINE_COUNT
};

/* What this program is built for. */
enum disasm_machine disasm_native(void);

const char *disasm_machine_name(enum disasm_machine machine);

/*
 * Decode @n bytes into @out, instructions separated by "; " ("pause; nop"; "" for no bytes). Returns
 *	0		all decoded
 *	-EILSEQ		some bytes are no instruction that is known here: they stand as ".byte 0x66,0x0f" in their
 *			place, and the text ends in " (undecoded)"
 *	-ENOTSUP	nothing can be decoded: @out says "not decodable here: capstone 4.0 lacks riscv64"
 *	-ENOBUFS	@out is too small: it ends in "..."
 * Targets of branches are offsets from the first byte. @out always holds a string when @size > 0. Thread-safe.
 */
int disasm_machine_text(enum disasm_machine machine, const unsigned char *bytes, size_t n, char *out, size_t size);

/* The same for this program's own text. */
int disasm_text(const unsigned char *bytes, size_t n, char *out, size_t size);

/* "f3 90" for two bytes; "" for none. 0, or -ENOBUFS when cut, then it ends in "...". */
int disasm_bytes_hex(const unsigned char *bytes, size_t n, char *out, size_t size);

/*
 * The innermost loop of this program's own text around [at, at_end) (which may be empty), in the function that begins
 * at @function: from the target of a direct backward branch to the end of that branch. 0, -ENOENT (no such loop within
 * 8 KiB), or -ENOTSUP (this machine is not decoded).
 */
int disasm_loop_around(const unsigned char *function, const unsigned char *at, const unsigned char *at_end,
		       const unsigned char **begin, const unsigned char **end);

#endif
