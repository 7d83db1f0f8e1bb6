/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machines: their hints, how to find the bytes that could be one, and which files are theirs.
 */
#include <elf.h>
#include <string.h>

#include "elfscan-private.h"

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

/*
 * Arm ARM, DDI 0487: C6 "YIELD", "WFE", "WFET", "WFIT", "ISB", "SB". isb and sb are barriers that some projects spin
 * with; dmb and dsb are barriers that nobody uses so.
 */
static const struct hint_row aarch64_hints[] = {
	{ "yield", 0xffffffff, 0xd503203f, 4, HINT_ALWAYS, "d503203f" },
	{ "wfe",   0xffffffff, 0xd503205f, 4, HINT_ALWAYS, "d503205f" },
	{ "wfet",  0xffffffe0, 0xd5031000, 4, HINT_ALWAYS, "d5031000 + register" },
	{ "isb",   0xfffff0ff, 0xd50330df, 4, HINT_IN_LOOP, "d50330df + option" },
	{ "sb",    0xffffffff, 0xd50330ff, 4, HINT_IN_LOOP, "d50330ff" },
};
static const struct byte_pair aarch64_pairs[] = { { 0x03, 0xff, 1, 0xd5, 0xff } };

/* Arm ARM F5 "YIELD", "WFE", encodings A1, T1 and T2; the condition is free in A32. */
static const struct hint_row a32_hints[] = {
	{ "yield", 0x0fffffff, 0x0320f001, 4, HINT_ALWAYS, "e320f001" },
	{ "wfe",   0x0fffffff, 0x0320f002, 4, HINT_ALWAYS, "e320f002" },
};
static const struct hint_row t32_hints[] = {
	{ "yield", 0xffff, 0xbf10, 2, HINT_ALWAYS, "bf10" },
	{ "wfe",   0xffff, 0xbf20, 2, HINT_ALWAYS, "bf20" },
	{ "yield", 0xffffffff, 0xf3af8001, 4, HINT_ALWAYS, "f3af8001" },
	{ "wfe",   0xffffffff, 0xf3af8002, 4, HINT_ALWAYS, "f3af8002" },
};
static const struct byte_pair arm_le_pairs[] = { { 0x10, 0xff, 1, 0xbf, 0xff },
						 { 0x20, 0xff, 1, 0xbf, 0xff },
						 { 0xaf, 0xff, 1, 0xf3, 0xff },
						 { 0xf0, 0xff, 1, 0x20, 0xff } };
static const struct byte_pair arm_be_pairs[] = { { 0xbf, 0xff, 1, 0x10, 0xff },
						 { 0xbf, 0xff, 1, 0x20, 0xff },
						 { 0xf3, 0xff, 1, 0xaf, 0xff },
						 { 0x20, 0xff, 1, 0xf0, 0xff } };

/* Power ISA 3.1, book II 3.2 (program priority) and 4.3.3 "wait"; mdoio, mdoom and miso: book II 3.2 of 2.07. */
static const struct hint_row ppc_hints[] = {
	{ "or-31", 0xffffffff, 0x7ffffb78, 4, HINT_ALWAYS, "7ffffb78, or 31,31,31: very low priority" },
	{ "or-1",  0xffffffff, 0x7c210b78, 4, HINT_ALWAYS, "7c210b78, or 1,1,1: low priority" },
	{ "or-6",  0xffffffff, 0x7cc63378, 4, HINT_ALWAYS, "7cc63378, or 6,6,6: medium low priority" },
	{ "or-2",  0xffffffff, 0x7c421378, 4, HINT_ALWAYS, "7c421378, or 2,2,2: medium priority" },
	{ "or-5",  0xffffffff, 0x7ca52b78, 4, HINT_ALWAYS, "7ca52b78, or 5,5,5: medium high priority" },
	{ "or-3",  0xffffffff, 0x7c631b78, 4, HINT_ALWAYS, "7c631b78, or 3,3,3: high priority" },
	{ "or-7",  0xffffffff, 0x7ce73b78, 4, HINT_ALWAYS, "7ce73b78, or 7,7,7: very high priority" },
	{ "or-26", 0xffffffff, 0x7f5ad378, 4, HINT_ALWAYS, "7f5ad378, or 26,26,26: miso" },
	{ "or-27", 0xffffffff, 0x7f7bdb78, 4, HINT_ALWAYS, "7f7bdb78, or 27,27,27: yield" },
	{ "or-29", 0xffffffff, 0x7fbdeb78, 4, HINT_ALWAYS, "7fbdeb78, or 29,29,29: mdoio" },
	{ "or-30", 0xffffffff, 0x7fdef378, 4, HINT_ALWAYS, "7fdef378, or 30,30,30: mdoom" },
	{ "wait",  0xff9cffff, 0x7c00003c, 4, HINT_ALWAYS, "7c00003c + kind" },
};
static const struct byte_pair ppc_be_pairs[] = { { 0x7c, 0xfc, 3, 0x78, 0xff }, { 0x7c, 0xff, 3, 0x3c, 0xff } };
static const struct byte_pair ppc_le_pairs[] = { { 0x78, 0xff, 3, 0x7c, 0xfc }, { 0x3c, 0xff, 3, 0x7c, 0xff } };

/* RISC-V Zihintpause: fence with pred = w, succ = 0, rd = rs1 = x0, fm = 0; Zawrs: wrs.nto, wrs.sto. */
static const struct hint_row riscv_hints[] = {
	{ "pause",   0xffffffff, 0x0100000f, 4, HINT_ALWAYS, "0100000f" },
	{ "wrs.nto", 0xffffffff, 0x00d00073, 4, HINT_ALWAYS, "00d00073" },
	{ "wrs.sto", 0xffffffff, 0x01d00073, 4, HINT_ALWAYS, "01d00073" },
};
static const struct byte_pair riscv_pairs[] = { { 0x0f, 0xff, 3, 0x01, 0xff }, { 0x73, 0xff, 2, 0xd0, 0xff } };

/*
 * z/Architecture has no hint of its own. diagnose 44 and 9C give the CPU up to the hypervisor (Linux arch/s390,
 * smp_yield_cpu); nopr with a register and nop are what programs put where others have a pause, but compilers pad code
 * with them: only in loops.
 */
static const struct hint_row s390_hints[] = {
	{ "diag-44", 0xff00ffff, 0x83000044, 4, HINT_ALWAYS, "83xx0044" },
	{ "diag-9c", 0xff00ffff, 0x8300009c, 4, HINT_ALWAYS, "83xx009c" },
	{ "nopr",    0xfff0, 0x0700, 2, HINT_IN_LOOP, "070x" },
	{ "nop",     0xffffffff, 0x47000000, 4, HINT_IN_LOOP, "47000000" },
};
static const struct byte_pair s390_pairs[] = { { 0x83, 0xff, 3, 0x44, 0xff },
					       { 0x83, 0xff, 3, 0x9c, 0xff },
					       { 0x07, 0xff, 1, 0x00, 0xf0 },
					       { 0x47, 0xff, 1, 0x00, 0xff } };

/* MIPS32/64 release 2: PAUSE is SLL r0, r0, 5. */
static const struct hint_row mips_hints[] = {
	{ "pause", 0xffffffff, 0x00000140, 4, HINT_ALWAYS, "00000140" },
};
static const struct byte_pair mips_be_pairs[] = { { 0x01, 0xff, 1, 0x40, 0xff } };
static const struct byte_pair mips_le_pairs[] = { { 0x40, 0xff, 1, 0x01, 0xff } };

/*
 * Oracle SPARC Architecture 2011: PAUSE is wr to %asr27. rd %ccr,%g0 is what Linux spins with on older ones
 * (asm/processor_64.h).
 */
static const struct hint_row sparc_hints[] = {
	{ "pause",  0xfff80000, 0xb7800000, 4, HINT_ALWAYS, "b78xxxxx, wr %asr27" },
	{ "rd-ccr", 0xffffffff, 0x81408000, 4, HINT_IN_LOOP, "81408000, rd %ccr, %g0" },
};
static const struct byte_pair sparc_pairs[] = { { 0xb7, 0xff, 1, 0x80, 0xf8 }, { 0x81, 0xff, 1, 0x40, 0xff } };

/* LoongArch has no hint of its own; programs spin with dbar 0 and ibar 0. */
static const struct hint_row loongarch_hints[] = {
	{ "dbar", 0xffffffff, 0x38720000, 4, HINT_IN_LOOP, "38720000, dbar 0" },
	{ "ibar", 0xffffffff, 0x38728000, 4, HINT_IN_LOOP, "38728000, ibar 0" },
};
static const struct byte_pair loongarch_pairs[] = { { 0x72, 0xff, 1, 0x38, 0xff } };

/* A prefix before 90; 0f 01; ae f0..f7. x86_candidate() looks closer. */
static const struct byte_pair x86_pairs[] = {
	{ 0xf2, 0xfe, 1, 0x90, 0xff }, { 0x64, 0xfc, 1, 0x90, 0xff }, { 0x26, 0xe7, 1, 0x90, 0xff },
	{ 0x40, 0xf0, 1, 0x90, 0xff }, { 0x0f, 0xff, 1, 0x01, 0xff }, { 0xae, 0xff, 1, 0xf0, 0xf8 },
};

#define TABLE(h, p) .hints = (h), .n_hints = ARRAY_SIZE(h), .pairs = (p), .n_pairs = ARRAY_SIZE(p)
#define X86(n, mode) \
	{ \
		.name = (n), .align = 1, .follow = true, .hints = x86_hints, .n_hints = 11, .pairs = x86_pairs, \
		.n_pairs = ARRAY_SIZE(x86_pairs), .decode = x86_decode, .candidate = x86_candidate, \
		.cs_arch = CS_ARCH_X86, .cs_mode = (mode) \
	}

const struct isa isas[ISA_COUNT] = {
	[ISA_X86_64] = X86("x86-64", CS_MODE_64),
	[ISA_I386] = X86("i386", CS_MODE_32),
	[ISA_AARCH64] = { .name = "aarch64",
			  .align = 4,
			  TABLE(aarch64_hints, aarch64_pairs),
			  .decode = aarch64_decode,
			  .cs_arch = CS_ARCH_ARM64 },
	[ISA_A32_LE] = { .name = "arm",
			 .align = 4,
			 TABLE(a32_hints, arm_le_pairs),
			 .decode = a32_decode,
			 .cs_arch = CS_ARCH_ARM },
	[ISA_T32_LE] = { .name = "arm",
			 .align = 2,
			 TABLE(t32_hints, arm_le_pairs),
			 .decode = t32_decode,
			 .cs_arch = CS_ARCH_ARM,
			 .cs_mode = CS_MODE_THUMB | CS_MODE_V8 },
	[ISA_A32_BE] = { .name = "arm",
			 .align = 4,
			 .big = true,
			 TABLE(a32_hints, arm_be_pairs),
			 .decode = a32_decode,
			 .cs_arch = CS_ARCH_ARM,
			 .cs_mode = (int)CS_MODE_BIG_ENDIAN },
	[ISA_T32_BE] = { .name = "arm",
			 .align = 2,
			 .big = true,
			 TABLE(t32_hints, arm_be_pairs),
			 .decode = t32_decode,
			 .cs_arch = CS_ARCH_ARM,
			 .cs_mode = (int)(CS_MODE_BIG_ENDIAN | CS_MODE_THUMB) },
	[ISA_PPC_BE] = { .name = "ppc",
			 .align = 4,
			 .big = true,
			 TABLE(ppc_hints, ppc_be_pairs),
			 .decode = ppc_decode,
			 .cs_arch = CS_ARCH_PPC,
			 .cs_mode = (int)(CS_MODE_BIG_ENDIAN | CS_MODE_64) },
	[ISA_PPC_LE] = { .name = "ppc",
			 .align = 4,
			 TABLE(ppc_hints, ppc_le_pairs),
			 .decode = ppc_decode,
			 .cs_arch = CS_ARCH_PPC,
			 .cs_mode = CS_MODE_64 },
	[ISA_RISCV64] = { .name = "riscv64",
			  .align = 2,
			  TABLE(riscv_hints, riscv_pairs),
			  .decode = riscv_decode,
			  .cs_arch = -1 },
	[ISA_RISCV32] = { .name = "riscv32",
			  .align = 2,
			  TABLE(riscv_hints, riscv_pairs),
			  .decode = riscv_decode,
			  .cs_arch = -1 },
	[ISA_S390X] = { .name = "s390x",
			.align = 2,
			.big = true,
			TABLE(s390_hints, s390_pairs),
			.decode = s390_decode,
			.cs_arch = CS_ARCH_SYSZ,
			.cs_mode = (int)CS_MODE_BIG_ENDIAN },
	[ISA_MIPS_BE] = { .name = "mips",
			  .align = 4,
			  .big = true,
			  .delay_slot = true,
			  TABLE(mips_hints, mips_be_pairs),
			  .decode = mips_decode,
			  .cs_arch = CS_ARCH_MIPS,
			  .cs_mode = (int)(CS_MODE_BIG_ENDIAN | CS_MODE_MIPS64) },
	[ISA_MIPS_LE] = { .name = "mips",
			  .align = 4,
			  .delay_slot = true,
			  TABLE(mips_hints, mips_le_pairs),
			  .decode = mips_decode,
			  .cs_arch = CS_ARCH_MIPS,
			  .cs_mode = CS_MODE_MIPS64 },
	[ISA_SPARC] = { .name = "sparc",
			.align = 4,
			.big = true,
			.delay_slot = true,
			TABLE(sparc_hints, sparc_pairs),
			.decode = sparc_decode,
			.cs_arch = CS_ARCH_SPARC,
			.cs_mode = (int)(CS_MODE_BIG_ENDIAN | CS_MODE_V9) },
	[ISA_LOONGARCH] = { .name = "loongarch",
			    .align = 4,
			    TABLE(loongarch_hints, loongarch_pairs),
			    .decode = loongarch_decode,
			    .cs_arch = -1 },
};

const struct isa *isa_of(unsigned int e_machine, unsigned int elf_class, bool msb, uint32_t e_flags,
			 unsigned int e_type)
{
	switch (e_machine) {
	case EM_X86_64:
		return &isas[ISA_X86_64];	/* x32 as well */
	case EM_386:
	case EM_IAMCU:
		return &isas[ISA_I386];
	case EM_AARCH64:
		return &isas[ISA_AARCH64];	/* code is little-endian whatever the data is: DDI 0487, B2.6.2 */
	case EM_ARM:
		/*
		 * BE8: the linker turns the code of big-endian objects to little-endian (ELF for the Arm architecture,
		 * e_flags).
		 */
		return &isas[msb && (e_type == ET_REL || !(e_flags & EF_ARM_BE8)) ? ISA_A32_BE : ISA_A32_LE];
	case EM_PPC:
	case EM_PPC64:
		return &isas[msb ? ISA_PPC_BE : ISA_PPC_LE];
	case EM_RISCV:
		return &isas[elf_class == ELFCLASS64 ? ISA_RISCV64 : ISA_RISCV32];
	case EM_S390:
		return &isas[ISA_S390X];
	case EM_MIPS:
	case EM_MIPS_RS3_LE:
		return &isas[msb ? ISA_MIPS_BE : ISA_MIPS_LE];
	case EM_SPARC:
	case EM_SPARC32PLUS:
	case EM_SPARCV9:
		return &isas[ISA_SPARC];
	case EM_LOONGARCH:
		return &isas[ISA_LOONGARCH];
	default:
		return NULL;
	}
}

const struct isa *isa_thumb(const struct isa *a32)
{
	return a32 == &isas[ISA_A32_LE] ? &isas[ISA_T32_LE] : a32 == &isas[ISA_A32_BE] ? &isas[ISA_T32_BE] : a32;
}

const struct isa *isa_host(void)
{
#if defined(__x86_64__)
	return &isas[ISA_X86_64];
#elif defined(__i386__)
	return &isas[ISA_I386];
#elif defined(__aarch64__)
	return &isas[ISA_AARCH64];
#elif defined(__arm__)
	return &isas[ISA_A32_LE];
#elif defined(__powerpc64__) && defined(__BIG_ENDIAN__)
	return &isas[ISA_PPC_BE];
#elif defined(__powerpc64__)
	return &isas[ISA_PPC_LE];
#elif defined(__riscv)
	return &isas[ISA_RISCV64];
#elif defined(__s390x__)
	return &isas[ISA_S390X];
#elif defined(__mips__) && defined(__MIPSEB__)
	return &isas[ISA_MIPS_BE];
#elif defined(__mips__)
	return &isas[ISA_MIPS_LE];
#elif defined(__loongarch__)
	return &isas[ISA_LOONGARCH];
#else
	return NULL;
#endif
}

const char *machine_name(unsigned int e_machine)
{
#define EM(n) { n, #n }
	static const struct {
		unsigned int number;
		const char *name;
	} names[] = {
		EM(EM_NONE),	    EM(EM_M32),	   EM(EM_68K),	  EM(EM_88K),	   EM(EM_860),
		EM(EM_PARISC),	    EM(EM_SPU),	   EM(EM_V850),	  EM(EM_FR20),	   EM(EM_SH),
		EM(EM_TRICORE),	    EM(EM_ARC),	   EM(EM_H8_300), EM(EM_IA_64),	   EM(EM_COLDFIRE),
		EM(EM_68HC12),	    EM(EM_AVR),	   EM(EM_M32R),	  EM(EM_MN10300),  EM(EM_OPENRISC),
		EM(EM_ARC_COMPACT), EM(EM_XTENSA), EM(EM_MSP430), EM(EM_BLACKFIN), EM(EM_ALTERA_NIOS2),
		EM(EM_CRX),	    EM(EM_M32C),   EM(EM_QDSP6),  EM(EM_TI_C6000), EM(EM_TI_PRU),
		EM(EM_L10M),	    EM(EM_K10M),   EM(EM_AVR32),  EM(EM_TILEPRO),  EM(EM_TILEGX),
		EM(EM_MICROBLAZE),  EM(EM_CUDA),   EM(EM_Z80),	  EM(EM_AMDGPU),   EM(EM_RL78),
		EM(EM_BPF),	    EM(EM_CSKY),   EM(EM_ALPHA),  EM(EM_NDS32),	   EM(EM_METAG),
	};
#undef EM
	size_t i;
	char text[32];

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (names[i].number == e_machine)
			return names[i].name;
	snprintf(text, sizeof(text), "EM_%u", e_machine);
	return util_intern(text);
}

bool elfscan_hint_info(size_t i, struct elfscan_hint_info *info)
{
	static const enum isa_id shown[] = { ISA_X86_64,  ISA_AARCH64, ISA_A32_LE,  ISA_T32_LE, ISA_PPC_BE,
					     ISA_RISCV64, ISA_S390X,   ISA_MIPS_BE, ISA_SPARC,	ISA_LOONGARCH };
	static const char *const when[] = {
		[HINT_ALWAYS] = "always", [HINT_IN_LOOP] = "in a loop only: another instruction used as a hint?",
		[HINT_LOOP_CERTAIN] = "in a loop only", [HINT_PRIVILEGED] = "in kernel images, or with --privileged",
	};
	size_t k;

	for (k = 0; k < ARRAY_SIZE(shown); k++) {
		const struct isa *isa = &isas[shown[k]];

		if (i >= isa->n_hints) {
			i -= isa->n_hints;
			continue;
		}
		*info = (struct elfscan_hint_info){ .machine = shown[k] == ISA_X86_64	 ? "x86"
							       : shown[k] == ISA_RISCV64 ? "riscv"
											 : isa->name,
						    .name = isa->hints[i].name,
						    .bytes = isa->hints[i].bytes,
						    .when = when[isa->hints[i].when] };
		return true;
	}
	return false;
}
