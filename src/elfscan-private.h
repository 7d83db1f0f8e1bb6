/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of elfscan share: instruction sets, code regions, function ranges.
 */
#ifndef PERF_RELAX_ELFSCAN_PRIVATE_H
#define PERF_RELAX_ELFSCAN_PRIVATE_H

#include <capstone/capstone.h>
#include <errno.h>
#include <gelf.h>

#include "elfscan.h"
#include "symbols.h"

/* What an instruction does to the control flow. */
enum insn_flow {
	INSN_NEXT,	/* goes on with the next one */
	INSN_COND,	/* may go to target */
	INSN_JUMP,	/* goes to target */
	INSN_CALL,
	INSN_STOP,	/* return, trap */
	INSN_INDIRECT,	/* goes somewhere */
	INSN_BAD,	/* not an instruction, or cut off */
};

struct insn {
	uint8_t len;		/* bytes; for INSN_BAD the least step to resynchronise */
	uint8_t flow;		/* enum insn_flow */
	int8_t hint;		/* row of the instruction set's hint table, or -1 */
	bool unlikely;		/* privileged or obsolete: in user code rather a sign of data */
	int64_t target;		/* relative to the instruction's first byte; for INSN_COND and INSN_JUMP */
};

/* When a hint counts. */
enum hint_when {
	HINT_ALWAYS,
	HINT_IN_LOOP,		/* a barrier or no-op with another use: only in a loop, and not certain */
	HINT_LOOP_CERTAIN,	/* only in a loop, but then certain */
	HINT_PRIVILEGED,	/* in kernel images, or when asked for */
};

struct hint_row {
	const char *name;
	uint32_t mask, value;	/* of the instruction as a number; x86 matches in its decoder */
	uint8_t len;		/* bytes */
	uint8_t when;		/* enum hint_when */
	const char *bytes;	/* for people */
};

/* A hint can only stand where (byte[0] & m0) == v0 and (byte[dist] & m1) == v1. */
struct byte_pair {
	uint8_t v0, m0, dist, v1, m1;
};

struct isa {
	const char *name;
	uint8_t align;		/* of instructions, bytes */
	bool big;		/* byte order of code */
	bool follow;		/* the decoder knows every kind of control flow: functions can be decoded along it */
	bool delay_slot;
	const struct byte_pair *pairs;
	size_t n_pairs;
	const struct hint_row *hints;
	size_t n_hints;
	void (*decode)(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
	/* Exact and cheap look at a match of a pair; NULL: all are candidates. @p is in [begin, end). */
	bool (*candidate)(const uint8_t *begin, const uint8_t *p, const uint8_t *end);
	int cs_arch, cs_mode;	/* capstone's; cs_arch -1: it does not know the machine */
};

/* elfscan-x86.c */
void x86_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
bool x86_candidate(const uint8_t *begin, const uint8_t *p, const uint8_t *end);
extern const struct hint_row x86_hints[];
extern const size_t x86_n_hints;

/* elfscan-flow.c: the machines whose instructions are found by their low bits or have one length */
void aarch64_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void a32_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void t32_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void ppc_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void riscv_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void s390_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void mips_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void sparc_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
void loongarch_decode(const struct isa *isa, const uint8_t *p, size_t avail, struct insn *out);
/* Memory reads of the machines that capstone 4 lacks. */
bool riscv_reads(const uint8_t *p, size_t len);
bool loongarch_reads(const uint8_t *p, size_t len);

/* elfscan-machine.c */
enum isa_id {
	ISA_X86_64, ISA_I386, ISA_AARCH64, ISA_A32_LE, ISA_T32_LE, ISA_A32_BE, ISA_T32_BE, ISA_PPC_BE, ISA_PPC_LE,
	ISA_RISCV64, ISA_RISCV32, ISA_S390X, ISA_MIPS_BE, ISA_MIPS_LE, ISA_SPARC, ISA_LOONGARCH, ISA_COUNT
};
extern const struct isa isas[ISA_COUNT];
/* The instruction set of an ELF file, or NULL: no table. For Arm it is the A32 one; isa_thumb() gives its sister. */
const struct isa *isa_of(unsigned int e_machine, unsigned int elf_class, bool msb, uint32_t e_flags,
			 unsigned int e_type);
const struct isa *isa_thumb(const struct isa *a32);
const struct isa *isa_host(void);
/* "EM_SH", or "e_machine 4711"; lives until exit. */
const char *machine_name(unsigned int e_machine);
/* elfscan-search.c: the first place at or after @from in @p[0..n) where a hint could start or lie, or @n. */
size_t isa_search(const struct isa *isa, bool privileged, const uint8_t *p, size_t n, size_t from);

/* Executable bytes of a file. */
struct region {
	const uint8_t *bytes;
	uint64_t size, file_offset;
	uint64_t addr;		/* as addresses are in struct ranges: unique in the file, also for relocatable files */
	uint64_t shown;		/* what to add to addr for the address that users see (modulo 2^64) */
	const char *name;	/* section, or NULL */
	size_t shndx;
	uint64_t start;		/* first address to decode: behind the headers, in a segment */
};

#define RANGE_SIZED	1u	/* start and end are both known */
#define RANGE_SYMBOL	2u	/* from a symbol of type function */
#define RANGE_UNWIND	4u	/* from an unwind entry */
#define RANGE_LANDING	8u	/* has landing pads: places reached through the unwinder */
#define RANGE_LABEL	16u	/* symbol without type: may be code or data */
#define RANGE_DYNSYM	32u
#define RANGE_THUMB	64u

struct range {
	uint64_t start, end;
	const char *name;	/* or NULL; points into the file */
	uint32_t flags;
};

struct mark {			/* mapping symbols ($a, $t, $x, $d) and objects: what lies from here on */
	uint64_t start, end;	/* end 0: to the next mark */
	char kind;		/* 'a', 't', 'x', 'd' */
};

struct ranges {
	struct range *range;	/* sorted by start */
	uint64_t *max_end;	/* greatest end among range[0..i] */
	size_t n, room;
	struct mark *mark;	/* mapping symbols, sorted */
	size_t n_marks, room_marks;
	struct mark *object;	/* data objects in code, sorted */
	size_t n_objects, room_objects;
	bool have_symtab;
};

struct elf_file {
	Elf *elf;
	int fd;			/* -1: in memory */
	bool writable;		/* map is ours */
	const uint8_t *map;
	uint64_t size;
	unsigned int e_type, e_machine, elf_class;
	bool msb, kernel, no_sections, debug_file;
	uint64_t e_entry;
	uint32_t e_flags;
	size_t shnum, shstrndx;
	uint64_t *section_addr;		/* by section: what struct region's addr is; NULL unless relocatable */
	struct region *region;
	size_t n_regions, room_regions;
	const struct isa *isa;
	bool truncated;
	struct reason damage;		/* what was wrong, when something was */
};

/* Keep the first thing that was wrong. */
#define damage(file, ...) do { \
	if (!(file)->damage.text[0]) \
		reason_set(&(file)->damage, EBADMSG, __VA_ARGS__); \
} while (0)

/* elfscan-regions.c */
void regions_add(struct elf_file *f, uint64_t offset, uint64_t size, uint64_t addr, const char *name, size_t shndx);
/* Fill in f->region; false when there are none. What is wrong with the file is left in f->damage. */
bool regions_find(struct elf_file *f, const GElf_Ehdr *eh);

/* elfscan-ranges.c: the functions of a file from .symtab, .dynsym and .eh_frame. Only memory exhaustion stops it. */
void ranges_load(struct ranges *r, const struct elf_file *file);
void ranges_add(struct ranges *r, uint64_t start, uint64_t end, const char *name, uint32_t flags);
void ranges_sort(struct ranges *r);
void ranges_free(struct ranges *r);
/* The last range that starts at or before @addr: its index, or -1. */
long ranges_before(const struct ranges *r, uint64_t addr);
/* The innermost sized range over @addr, or -1. */
long ranges_over(const struct ranges *r, uint64_t addr);
/* 'd' for data, 'a', 't', 'x' by mapping symbol, 0 when there is none. */
char ranges_kind(const struct ranges *r, uint64_t addr);
bool ranges_is_object(const struct ranges *r, uint64_t addr);
/* The best name for @addr within [low, addr]: covering symbol, else nearest before. Returns the range or NULL. */
const struct range *ranges_name(const struct ranges *r, uint64_t addr, uint64_t low, enum elfscan_name_from *from);

/* elfscan-frames.c: unwind entries */
typedef void (*frame_fn)(void *ctx, uint64_t start, uint64_t size, bool landing_pads);
/* Walk .eh_frame bytes at virtual address @addr. Stops silently at what it does not understand. */
void frames_walk(const uint8_t *data, size_t size, uint64_t addr, unsigned int address_bytes, bool big, frame_fn fn,
		 void *ctx);

/* elfscan-loops.c: one function */
struct code_hit {
	uint32_t pos;		/* from the start of the code given */
	uint8_t len;
	int8_t hint;
	bool followed;		/* control flow leads here */
	bool in_loop;
	uint32_t loop_start, loop_end;
	enum elfscan_reads reads, spin;
	const char *reads_why;
	uint32_t loop_hints;
};

struct insn_at {
	uint32_t pos;
	int32_t target;		/* position, or -1: none or outside */
	uint8_t len, flow;
	bool unlikely, followed;
};

struct analysis {		/* buffers, kept between calls */
	uint8_t *state;
	size_t state_room;
	uint32_t *stack;
	size_t stack_room;
	struct insn_at *insn;
	size_t n_insn, insn_room;
	struct code_hit *hit;
	size_t n_hits, hit_room;
	struct branch *branch;
	size_t n_branches, branch_room;
	uint32_t *work;
	size_t work_room;
	csh cs[ISA_COUNT];
	bool cs_open[ISA_COUNT];
	cs_insn *cs_insn[ISA_COUNT];
	uint64_t decoded_bytes, budget_bytes;
	uint64_t n_data;
};

#define ANALYSE_FOLLOW		1u	/* along the control flow: for isa->follow, and not for huge pieces */
#define ANALYSE_EXACT		2u	/* the roots are all the ways in: what they do not reach is data or dead code */
#define ANALYSE_LANDING		4u	/* but there are landing pads */
#define ANALYSE_KERNEL		8u	/* code may be reached through tables; nothing is "unlikely" */
#define ANALYSE_PRIVILEGED	16u	/* cli and sti count */
#define ANALYSE_UNSURE		32u	/* the roots are labels, which may stand before data */

/*
 * Decode @size bytes (below 2^31) at @code: @roots are positions where functions start, ascending. Leaves the hits, in
 * order, in a->hit[0..a->n_hits).
 */
void analysis_run(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t size, const uint32_t *roots,
		  size_t n_roots, unsigned int flags);
void analysis_free(struct analysis *a);

/* elfscan-sweep.c: all hits of a region */
struct sweep {
	const struct elf_file *file;
	const struct region *region;
	const struct ranges *ranges;
	struct analysis *analysis;
	bool privileged;
	/* Non-zero ends the sweep. */
	int (*emit)(void *ctx, const struct isa *isa, const struct region *region, const struct code_hit *hit,
		    uint64_t addr, enum elfscan_confidence confidence, uint64_t loop_bytes);
	void *ctx;
};
int sweep_region(struct sweep *s);

#define GROW(array, room, n) do { \
	if ((n) >= (room)) { \
		(room) = (n) + ((n) >> 1) + 64; \
		(array) = util_realloc((array), (room), sizeof(*(array))); \
	} \
} while (0)

#endif
