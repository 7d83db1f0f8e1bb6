/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Spin-wait hints in ELF files: which, where, and in which loops. Every machine's files on every host.
 * Knows elfutils and capstone; prints nothing.
 */
#ifndef PERF_RELAX_ELFSCAN_H
#define PERF_RELAX_ELFSCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util.h"

/* How sure it is that the bytes are an instruction. */
enum elfscan_confidence {
	ELFSCAN_SYMBOL_SWEEP,	/* decoded from the start of its function (symbol or unwind entry) */
	ELFSCAN_LINEAR_SWEEP,	/* decoded one after the other from the start of a section or the end of a function */
	ELFSCAN_SEGMENT_SWEEP,	/* there are no section headers: decoded from the start of an executable segment */
};

/* Where a function name comes from. */
enum elfscan_name_from {
	ELFSCAN_NAME_NONE,	/* no symbol: section (or segment) and offset */
	ELFSCAN_NAME_SYMTAB,
	ELFSCAN_NAME_DYNSYM,
	ELFSCAN_NAME_DEBUG,	/* the symbol table of a separate debug file, or .gnu_debugdata */
	ELFSCAN_NAME_NEAREST,	/* the symbol before it, which does not claim this address */
};

enum elfscan_reads {
	ELFSCAN_READS_NO,
	ELFSCAN_READS_YES,
	ELFSCAN_READS_UNKNOWN,	/* reads_why says why */
};

#define ELFSCAN_INSN_MAX 15	/* the longest instruction of any machine, x86's (SDM volume 2, 2.3.11) */

struct elfscan_hit {
	const char *member;		/* archive member, or NULL */
	const char *machine;		/* "x86-64", "aarch64", ... */
	const char *section;		/* NULL: found through a program header */
	const char *function;		/* NULL with ELFSCAN_NAME_NONE */
	enum elfscan_name_from name_from;
	uint64_t offset_bytes;		/* from the function, else from the section or segment */
	uint64_t address;		/* virtual; from the section's start in relocatable files */
	uint64_t file_offset;		/* of the first byte in the file (in the member, for archives) */
	const char *source;		/* NULL: no line information */
	unsigned int line;
	uint8_t bytes[ELFSCAN_INSN_MAX];
	unsigned int n_bytes;
	const char *hint;
	bool certain;			/* false: a barrier or no-op that is perhaps used as a hint */
	bool in_loop;			/* a backward branch goes over it, and control can come back to it */
	uint64_t loop_bytes;		/* of the innermost such loop; 0 when not in a loop */
	unsigned int loop_hints;	/* hints in that loop */
	enum elfscan_reads loop_reads;	/* does that loop read memory */
	enum elfscan_reads spin_wait;	/* does it, or a short loop around it (it is a delay between two looks) */
	const char *reads_why;
	enum elfscan_confidence confidence;
};

enum elfscan_status {
	ELFSCAN_DONE,
	ELFSCAN_PARTIAL,	/* scanned what there is; the file is truncated or parts of it are malformed */
	ELFSCAN_NOT_ELF,
	ELFSCAN_REFUSED,	/* an ELF file that is not a program, such as a core file */
	ELFSCAN_NO_TABLE,	/* a machine whose hints are not known here */
	ELFSCAN_BAD,		/* nothing in it could be scanned */
	ELFSCAN_UNREADABLE,
	ELFSCAN_STOPPED,	/* the hit callback asked to stop */
};

struct elfscan_result {
	enum elfscan_status status;
	struct reason why;		/* for every status but ELFSCAN_DONE */
	const char *machine;		/* of the file, or of the first member; NULL when unknown. Lives until exit */
	uint64_t n_hits, n_in_loop, n_spin_waits, n_members;
	uint64_t code_bytes;		/* executable bytes searched */
	bool debug_file;		/* split debug information: its code is in another file */
	uint64_t n_data;		/* look-alikes that were left out because they are data in code */
};

/* Called for each hit in order of place; the strings live during the call only. Return non-zero to stop the file. */
typedef int (*elfscan_hit_fn)(void *ctx, const struct elfscan_hit *hit);
/* Something worth telling that does not end the scan; @member may be NULL. */
typedef void (*elfscan_note_fn)(void *ctx, const char *member, const char *text);

struct elfscan_options {
	bool privileged;	/* also cli and sti in files that are not part of a kernel */
	bool no_source;		/* do not look for source lines and separate debug files */
	elfscan_hit_fn hit;
	elfscan_note_fn note;	/* may be NULL */
	void *ctx;
};

struct elfscan;

/*
 * A scanner; one per thread. elfscan_free() releases it. Scanners of different threads are independent. The first one
 * installs a SIGBUS handler, so that a file which is cut short while it is being read ends as "truncated" and not in a
 * signal.
 */
struct elfscan *elfscan_new(const struct elfscan_options *options);
void elfscan_free(struct elfscan *scan);

/*
 * Scan the open file @fd, called @path in messages and for separate debug files (which are looked for beside it). @fd
 * stays open and its position does not matter. All that can go wrong is in @result.
 */
void elfscan_fd(struct elfscan *scan, int fd, const char *path, struct elfscan_result *result);

/* The same for an ELF image in memory: the vDSO of a process, a fuzzer's input. @image is not written to. */
void elfscan_image(struct elfscan *scan, const void *image, size_t size, const char *name,
		   struct elfscan_result *result);

/* A function for elfscan_code(): @end_addr 0 when its size is not known. */
struct elfscan_function {
	uint64_t start_addr, end_addr;
	const char *name;
};

/*
 * Scan @size bytes of machine code of this host at @addr, with its functions sorted by start: the running kernel.
 * @section names the range. cli and sti count.
 */
void elfscan_code(struct elfscan *scan, const void *code, size_t size, uint64_t addr, const char *section,
		  const struct elfscan_function *functions, size_t n_functions, struct elfscan_result *result);

/* What the dynamic linker is told by a file. */
struct elfscan_dynamic {
	char **needed;		/* DT_NEEDED */
	size_t n_needed;
	char *runpath, *rpath;	/* or NULL */
	unsigned int machine, elf_class;
};

/*
 * Returns 0, with nothing needed when the file is static, or -errno when @fd is no ELF file. elfscan_dynamic_free()
 * releases it.
 */
int elfscan_dynamic_read(int fd, struct elfscan_dynamic *d);
void elfscan_dynamic_free(struct elfscan_dynamic *d);

const char *elfscan_confidence_name(enum elfscan_confidence c);
const char *elfscan_name_from_name(enum elfscan_name_from f);
const char *elfscan_status_name(enum elfscan_status s);

/* The table of hints, for `--hints` and the documents' check: row @i of all machines, or false past the end. */
struct elfscan_hint_info {
	const char *machine, *name, *bytes, *when;
};
bool elfscan_hint_info(size_t i, struct elfscan_hint_info *info);

#endif
