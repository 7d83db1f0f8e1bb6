/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data of published.c, which sorts it: the order of the rows means nothing.
 *
 * Left out, because Linux shows nothing that identifies the CPU, or no CPU is named: Itanium 2 and UltraSPARC-III of table 4.2, "this_cpu_xchg
 * 37 to 11" of a kernel commit, and Intel's "about 10" and "as many as 140" cycles of PAUSE before and on Skylake.
 */
#ifndef PERF_RELAX_PUBLISHED_VALUES_H
#define PERF_RELAX_PUBLISHED_VALUES_H

#define SOURCE_INSTLATX64 "InstLatX64 AIDA64 dumps, July 2026"
#define SOURCE_INSTLATX64_KABY SOURCE_INSTLATX64 ": one, probably newer microcode"
#define SOURCE_INSTLATX64_LFENCE SOURCE_INSTLATX64 ": DE_CFG[1] not set, LFENCE does not wait"
#define SOURCE_INSTLATX64_VM SOURCE_INSTLATX64 ": one Matisse in a virtual machine, CPUID intercepted"
#define SOURCE_UOPS "uops.info"
#define SOURCE_BTVER2 "LLVM btver2 scheduling model"
#define SOURCE_TOSATTI "Tosatti, LKML 2023-01-10: in the kernel, TSC ticks at an unknown core clock"
#define SOURCE_THESIS "Desnoyers, thesis 2009, table 4.2"
#define SOURCE_THESIS_41 "Desnoyers, thesis 2009, table 4.1: in the kernel"
#define SOURCE_THESIS_43 "Desnoyers, thesis 2009, table 4.3: in the kernel"
#define SOURCE_THESIS_PPC SOURCE_THESIS ", as cycles; time-base ticks by their size"
#define SOURCE_LKML_2007 "Desnoyers, LKML 2007"
#define SOURCE_ZEN5_GUEST "measured on a Zen 5 guest, cycles estimated by an add chain"
#define SOURCE_DOTNET "dotnet runtime issue 95849: pinned at 2 GHz"
#define SOURCE_RUST "Rust issue 84725"
#define SOURCE_GO "Go runtime, procyield(30)"
#define SOURCE_GRAVITON2 "Graviton2, 2.5 GHz"
#define SOURCE_A72 "Cortex-A72, clock not given"
#define SOURCE_M1 "Apple M1"

/* X(IDENT, "name") */
#define MICROARCHS(X) \
	X(P4, "Pentium 4") \
	X(PRESCOTT, "Pentium 4 Prescott") \
	X(CONROE, "Core 2 Conroe") \
	X(PENRYN, "Core 2 Penryn") \
	X(NEHALEM, "Nehalem") \
	X(WESTMERE, "Westmere") \
	X(SANDY_BRIDGE, "Sandy Bridge") \
	X(IVY_BRIDGE, "Ivy Bridge") \
	X(HASWELL, "Haswell") \
	X(BROADWELL, "Broadwell") \
	X(SKYLAKE, "Skylake") \
	X(SKYLAKE_SP, "Skylake-SP") \
	X(KABY_LAKE, "Kaby Lake") \
	X(COFFEE_LAKE, "Coffee Lake") \
	X(COMET_LAKE, "Comet Lake") \
	X(CANNON_LAKE, "Cannon Lake") \
	X(CASCADE_LAKE, "Cascade Lake-SP") \
	X(ICE_LAKE_SP, "Ice Lake-SP") \
	X(ICE_LAKE, "Ice Lake client") \
	X(TIGER_LAKE, "Tiger Lake") \
	X(ROCKET_LAKE, "Rocket Lake") \
	X(ALDER_P, "Alder Lake P") \
	X(ALDER_E, "Alder Lake E") \
	X(RAPTOR_P, "Raptor Lake P") \
	X(RAPTOR_E, "Raptor Lake E") \
	X(METEOR_P, "Meteor Lake P") \
	X(METEOR_E, "Meteor Lake E") \
	X(LION_COVE, "Arrow Lake P (Lion Cove)") \
	X(SKYMONT, "Arrow Lake E (Skymont)") \
	X(GOLDMONT, "Goldmont") \
	X(GOLDMONT_PLUS, "Goldmont Plus") \
	X(TREMONT, "Tremont") \
	X(BONNELL, "Bonnell") \
	X(SILVERMONT, "Silvermont") \
	X(KNL, "Knights Landing") \
	X(K8, "K8") \
	X(K10, "K10") \
	X(BOBCAT, "Bobcat") \
	X(JAGUAR, "Jaguar") \
	X(BULLDOZER, "Bulldozer") \
	X(PILEDRIVER, "Piledriver (Trinity)") \
	X(VISHERA, "Piledriver (Vishera)") \
	X(STEAMROLLER, "Steamroller") \
	X(EXCAVATOR, "Excavator") \
	X(ZEN, "Zen") \
	X(ZEN_PLUS, "Zen+") \
	X(ZEN2, "Zen 2") \
	X(ZEN3, "Zen 3") \
	X(ZEN4, "Zen 4") \
	X(ZEN5, "Zen 5") \
	X(NEOVERSE_N1, "Neoverse-N1") \
	X(CORTEX_A72, "Cortex-A72") \
	X(CORTEX_A76, "Cortex-A76") \
	X(CORTEX_A8, "Cortex-A8") \
	X(FIRESTORM, "Apple M1 Firestorm") \
	X(PPC970, "PowerPC 970") \
	X(POWER6, "POWER6")

/*
 * X(VENDOR, family, first model, last model, first stepping, last stepping, "core type" or "", IDENT): the first match counts. Sources: Linux
 * arch/x86/include/asm/intel-family.h and arch/x86/kernel/cpu/amd.c (bsp_init_amd); steppings: Intel specification updates.
 */
#define X86_KEYS(X) \
	X(INTEL, 15, 3, 4, 0, 15, "", PRESCOTT) \
	X(INTEL, 15, 0, 15, 0, 15, "", P4) \
	X(INTEL, 6, 0x0f, 0x0f, 0, 15, "", CONROE) \
	X(INTEL, 6, 0x16, 0x16, 0, 15, "", CONROE) \
	X(INTEL, 6, 0x17, 0x17, 0, 15, "", PENRYN) \
	X(INTEL, 6, 0x1d, 0x1d, 0, 15, "", PENRYN) \
	X(INTEL, 6, 0x1a, 0x1a, 0, 15, "", NEHALEM) \
	X(INTEL, 6, 0x1e, 0x1f, 0, 15, "", NEHALEM) \
	X(INTEL, 6, 0x2e, 0x2e, 0, 15, "", NEHALEM) \
	X(INTEL, 6, 0x25, 0x25, 0, 15, "", WESTMERE) \
	X(INTEL, 6, 0x2c, 0x2c, 0, 15, "", WESTMERE) \
	X(INTEL, 6, 0x2f, 0x2f, 0, 15, "", WESTMERE) \
	X(INTEL, 6, 0x2a, 0x2a, 0, 15, "", SANDY_BRIDGE) \
	X(INTEL, 6, 0x2d, 0x2d, 0, 15, "", SANDY_BRIDGE) \
	X(INTEL, 6, 0x3a, 0x3a, 0, 15, "", IVY_BRIDGE) \
	X(INTEL, 6, 0x3e, 0x3e, 0, 15, "", IVY_BRIDGE) \
	X(INTEL, 6, 0x3c, 0x3c, 0, 15, "", HASWELL) \
	X(INTEL, 6, 0x3f, 0x3f, 0, 15, "", HASWELL) \
	X(INTEL, 6, 0x45, 0x46, 0, 15, "", HASWELL) \
	X(INTEL, 6, 0x3d, 0x3d, 0, 15, "", BROADWELL) \
	X(INTEL, 6, 0x47, 0x47, 0, 15, "", BROADWELL) \
	X(INTEL, 6, 0x4f, 0x4f, 0, 15, "", BROADWELL) \
	X(INTEL, 6, 0x56, 0x56, 0, 15, "", BROADWELL) \
	X(INTEL, 6, 0x4e, 0x4e, 0, 15, "", SKYLAKE) \
	X(INTEL, 6, 0x5e, 0x5e, 0, 15, "", SKYLAKE) \
	X(INTEL, 6, 0x55, 0x55, 0, 4, "", SKYLAKE_SP) \
	X(INTEL, 6, 0x55, 0x55, 5, 7, "", CASCADE_LAKE) \
	X(INTEL, 6, 0x8e, 0x8e, 0, 9, "", KABY_LAKE) \
	X(INTEL, 6, 0x9e, 0x9e, 0, 9, "", KABY_LAKE) \
	X(INTEL, 6, 0x8e, 0x8e, 10, 15, "", COFFEE_LAKE) \
	X(INTEL, 6, 0x9e, 0x9e, 10, 15, "", COFFEE_LAKE) \
	X(INTEL, 6, 0xa5, 0xa6, 0, 15, "", COMET_LAKE) \
	X(INTEL, 6, 0x66, 0x66, 0, 15, "", CANNON_LAKE) \
	X(INTEL, 6, 0x6a, 0x6a, 0, 15, "", ICE_LAKE_SP) \
	X(INTEL, 6, 0x6c, 0x6c, 0, 15, "", ICE_LAKE_SP) \
	X(INTEL, 6, 0x7d, 0x7e, 0, 15, "", ICE_LAKE) \
	X(INTEL, 6, 0x8c, 0x8d, 0, 15, "", TIGER_LAKE) \
	X(INTEL, 6, 0xa7, 0xa7, 0, 15, "", ROCKET_LAKE) \
	X(INTEL, 6, 0x97, 0x97, 0, 15, "cpu_core", ALDER_P) \
	X(INTEL, 6, 0x97, 0x97, 0, 15, "cpu_atom", ALDER_E) \
	X(INTEL, 6, 0x9a, 0x9a, 0, 15, "cpu_core", ALDER_P) \
	X(INTEL, 6, 0x9a, 0x9a, 0, 15, "cpu_atom", ALDER_E) \
	X(INTEL, 6, 0xbe, 0xbe, 0, 15, "", ALDER_E) \
	X(INTEL, 6, 0xb7, 0xb7, 0, 15, "cpu_core", RAPTOR_P) \
	X(INTEL, 6, 0xb7, 0xb7, 0, 15, "cpu_atom", RAPTOR_E) \
	X(INTEL, 6, 0xba, 0xba, 0, 15, "cpu_core", RAPTOR_P) \
	X(INTEL, 6, 0xba, 0xba, 0, 15, "cpu_atom", RAPTOR_E) \
	X(INTEL, 6, 0xbf, 0xbf, 0, 15, "cpu_core", RAPTOR_P) \
	X(INTEL, 6, 0xbf, 0xbf, 0, 15, "cpu_atom", RAPTOR_E) \
	X(INTEL, 6, 0xaa, 0xaa, 0, 15, "cpu_core", METEOR_P) \
	X(INTEL, 6, 0xaa, 0xaa, 0, 15, "cpu_atom", METEOR_E) \
	X(INTEL, 6, 0xac, 0xac, 0, 15, "cpu_core", METEOR_P) \
	X(INTEL, 6, 0xac, 0xac, 0, 15, "cpu_atom", METEOR_E) \
	X(INTEL, 6, 0xc5, 0xc6, 0, 15, "cpu_core", LION_COVE) \
	X(INTEL, 6, 0xc5, 0xc6, 0, 15, "cpu_atom", SKYMONT) \
	X(INTEL, 6, 0x5c, 0x5c, 0, 15, "", GOLDMONT) \
	X(INTEL, 6, 0x5f, 0x5f, 0, 15, "", GOLDMONT) \
	X(INTEL, 6, 0x7a, 0x7a, 0, 15, "", GOLDMONT_PLUS) \
	X(INTEL, 6, 0x86, 0x86, 0, 15, "", TREMONT) \
	X(INTEL, 6, 0x96, 0x96, 0, 15, "", TREMONT) \
	X(INTEL, 6, 0x9c, 0x9c, 0, 15, "", TREMONT) \
	X(INTEL, 6, 0x1c, 0x1c, 0, 15, "", BONNELL) \
	X(INTEL, 6, 0x26, 0x26, 0, 15, "", BONNELL) \
	X(INTEL, 6, 0x37, 0x37, 0, 15, "", SILVERMONT) \
	X(INTEL, 6, 0x4a, 0x4a, 0, 15, "", SILVERMONT) \
	X(INTEL, 6, 0x4d, 0x4d, 0, 15, "", SILVERMONT) \
	X(INTEL, 6, 0x57, 0x57, 0, 15, "", KNL) \
	X(AMD, 15, 0, 255, 0, 15, "", K8) \
	X(AMD, 16, 0, 255, 0, 15, "", K10) \
	X(AMD, 20, 0, 255, 0, 15, "", BOBCAT) \
	X(AMD, 22, 0x00, 0x0f, 0, 15, "", JAGUAR) \
	X(AMD, 21, 0x00, 0x01, 0, 15, "", BULLDOZER) \
	X(AMD, 21, 0x02, 0x02, 0, 15, "", VISHERA) \
	X(AMD, 21, 0x10, 0x1f, 0, 15, "", PILEDRIVER) \
	X(AMD, 21, 0x30, 0x3f, 0, 15, "", STEAMROLLER) \
	X(AMD, 21, 0x60, 0x7f, 0, 15, "", EXCAVATOR) \
	X(AMD, 23, 0x08, 0x08, 0, 15, "", ZEN_PLUS) \
	X(AMD, 23, 0x18, 0x18, 0, 15, "", ZEN_PLUS) \
	X(AMD, 23, 0x00, 0x2f, 0, 15, "", ZEN) \
	X(AMD, 23, 0x50, 0x5f, 0, 15, "", ZEN) \
	X(AMD, 23, 0x30, 0x4f, 0, 15, "", ZEN2) \
	X(AMD, 23, 0x60, 0x7f, 0, 15, "", ZEN2) \
	X(AMD, 23, 0x90, 0x91, 0, 15, "", ZEN2) \
	X(AMD, 23, 0xa0, 0xaf, 0, 15, "", ZEN2) \
	X(AMD, 25, 0x00, 0x0f, 0, 15, "", ZEN3) \
	X(AMD, 25, 0x20, 0x5f, 0, 15, "", ZEN3) \
	X(AMD, 25, 0x10, 0x1f, 0, 15, "", ZEN4) \
	X(AMD, 25, 0x60, 0xaf, 0, 15, "", ZEN4) \
	X(AMD, 26, 0x00, 0x2f, 0, 15, "", ZEN5) \
	X(AMD, 26, 0x40, 0x4f, 0, 15, "", ZEN5) \
	X(AMD, 26, 0x60, 0x7f, 0, 15, "", ZEN5)

/* X(implementer, part, IDENT) of MIDR_EL1 */
#define ARM_KEYS(X) \
	X(0x41, 0xd0c, NEOVERSE_N1) \
	X(0x41, 0xd08, CORTEX_A72) \
	X(0x41, 0xd0b, CORTEX_A76) \
	X(0x41, 0xc08, CORTEX_A8) \
	X(0x61, 0x023, FIRESTORM)

/* X(upper half of the processor version register, IDENT); Linux arch/powerpc/include/asm/reg.h */
#define PPC_KEYS(X) \
	X(0x0039, PPC970) \
	X(0x003c, PPC970) \
	X(0x0044, PPC970) \
	X(0x0045, PPC970) \
	X(0x003e, POWER6)

#define CHECK 0.15		/* the tolerance for figures in core cycles */
#define CHECK_CLOCK 0.6		/* for ns where products with the core have clocks from 1.5 to 3.3 GHz */
#define CHECK_SMALL 1.0	/* for figures below one cycle: rounding is a large part of them */
#define READ 0			/* for reading only */
#define ONE(x) x, x, #x
#define RANGE(a, b) a, b, #a "-" #b

/* X(MICROARCH, "probe", ONE(figure) or RANGE(low, high), "unit", tolerance, SOURCE) */
#define PUBLISHED_PAUSE(X) \
	X(PRESCOTT, "pause", ONE(54), "cycles", CHECK, INSTLATX64) \
	X(CONROE, "pause", ONE(8), "cycles", CHECK, INSTLATX64) \
	X(CONROE, "pause", RANGE(2.7, 4.4), "ns", READ, INSTLATX64) \
	X(PENRYN, "pause", ONE(8), "cycles", CHECK, INSTLATX64) \
	X(PENRYN, "pause", RANGE(2.7, 4.4), "ns", READ, INSTLATX64) \
	X(NEHALEM, "pause", ONE(9), "cycles", CHECK, INSTLATX64) \
	X(NEHALEM, "pause", ONE(3.4), "ns", READ, INSTLATX64) \
	X(WESTMERE, "pause", ONE(9), "cycles", CHECK, INSTLATX64) \
	X(WESTMERE, "pause", ONE(3.4), "ns", READ, INSTLATX64) \
	X(SANDY_BRIDGE, "pause", ONE(11), "cycles", CHECK, INSTLATX64) \
	X(SANDY_BRIDGE, "pause", ONE(3.2), "ns", READ, INSTLATX64) \
	X(IVY_BRIDGE, "pause", RANGE(10, 11), "cycles", CHECK, INSTLATX64) \
	X(IVY_BRIDGE, "pause", ONE(2.9), "ns", READ, INSTLATX64) \
	X(HASWELL, "pause", ONE(9), "cycles", CHECK, INSTLATX64) \
	X(HASWELL, "pause", RANGE(2.6, 4.5), "ns", READ, INSTLATX64) \
	X(BROADWELL, "pause", ONE(9.5), "cycles", CHECK, INSTLATX64) \
	X(BROADWELL, "pause", RANGE(2.6, 7.3), "ns", READ, INSTLATX64) \
	X(SKYLAKE, "pause", RANGE(140, 141), "cycles", CHECK, INSTLATX64) \
	X(SKYLAKE, "pause", RANGE(33, 83), "ns", READ, INSTLATX64) \
	X(SKYLAKE, "pause", ONE(41.7), "ns", READ, RUST) \
	X(SKYLAKE_SP, "pause", RANGE(140, 141), "cycles", CHECK, INSTLATX64) \
	X(SKYLAKE_SP, "pause", RANGE(33, 83), "ns", READ, INSTLATX64) \
	X(KABY_LAKE, "pause", RANGE(140, 141), "cycles", CHECK, INSTLATX64) \
	X(KABY_LAKE, "pause", RANGE(33, 83), "ns", READ, INSTLATX64) \
	X(COFFEE_LAKE, "pause", ONE(152.6), "cycles", CHECK, INSTLATX64) \
	X(COFFEE_LAKE, "pause", ONE(41), "ns", READ, INSTLATX64) \
	X(COMET_LAKE, "pause", ONE(153.8), "cycles", CHECK, INSTLATX64) \
	X(COMET_LAKE, "pause", ONE(41), "ns", READ, INSTLATX64) \
	X(CANNON_LAKE, "pause", ONE(159.5), "cycles", CHECK, INSTLATX64) \
	X(CANNON_LAKE, "pause", ONE(41), "ns", READ, INSTLATX64) \
	X(CASCADE_LAKE, "pause", ONE(40.4), "cycles", CHECK, INSTLATX64) \
	X(CASCADE_LAKE, "pause", RANGE(14, 17.6), "ns", READ, INSTLATX64) \
	X(ICE_LAKE_SP, "pause", ONE(34.4), "cycles", CHECK, INSTLATX64) \
	X(ICE_LAKE_SP, "pause", ONE(17.2), "ns", READ, INSTLATX64) \
	X(ICE_LAKE, "pause", ONE(138.5), "cycles", CHECK, INSTLATX64) \
	X(ICE_LAKE, "pause", RANGE(49, 58), "ns", READ, INSTLATX64) \
	X(TIGER_LAKE, "pause", RANGE(138.7, 140.3), "cycles", CHECK, INSTLATX64) \
	X(TIGER_LAKE, "pause", RANGE(49, 58), "ns", READ, INSTLATX64) \
	X(ROCKET_LAKE, "pause", RANGE(138, 139), "cycles", CHECK, INSTLATX64) \
	X(ROCKET_LAKE, "pause", RANGE(49, 58), "ns", READ, INSTLATX64) \
	X(ALDER_P, "pause", RANGE(159.6, 159.9), "cycles", CHECK, INSTLATX64) \
	X(ALDER_P, "pause", ONE(50), "ns", READ, INSTLATX64) \
	X(ALDER_E, "pause", ONE(62.2), "cycles", CHECK, INSTLATX64) \
	X(ALDER_E, "pause", ONE(19.5), "ns", READ, INSTLATX64) \
	X(RAPTOR_P, "pause", ONE(160.4), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_P, "pause", ONE(53.6), "ns", READ, INSTLATX64) \
	X(RAPTOR_P, "pause", ONE(92), "ns", READ, DOTNET) \
	X(RAPTOR_P, "30 pauses", ONE(2300), "ns", READ, GO) \
	X(RAPTOR_E, "pause", ONE(62.3), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_E, "pause", ONE(20.8), "ns", READ, INSTLATX64) \
	X(RAPTOR_E, "30 pauses", ONE(750), "ns", READ, GO) \
	X(METEOR_P, "pause", ONE(229.4), "cycles", CHECK, INSTLATX64) \
	X(METEOR_P, "pause", ONE(76.6), "ns", READ, INSTLATX64) \
	X(METEOR_E, "pause", ONE(90.8), "cycles", CHECK, INSTLATX64) \
	X(METEOR_E, "pause", ONE(30.3), "ns", READ, INSTLATX64) \
	X(LION_COVE, "pause", ONE(42.9), "cycles", CHECK, INSTLATX64) \
	X(LION_COVE, "pause", ONE(11.1), "ns", READ, INSTLATX64) \
	X(SKYMONT, "pause", ONE(77.1), "cycles", CHECK, INSTLATX64) \
	X(SKYMONT, "pause", ONE(19.9), "ns", READ, INSTLATX64) \
	X(GOLDMONT, "pause", ONE(147.5), "cycles", CHECK, INSTLATX64) \
	X(GOLDMONT_PLUS, "pause", ONE(153.3), "cycles", CHECK, INSTLATX64) \
	X(GOLDMONT_PLUS, "pause", ONE(102), "ns", READ, INSTLATX64) \
	X(TREMONT, "pause", RANGE(158, 179), "cycles", CHECK, INSTLATX64) \
	X(BONNELL, "pause", ONE(24), "cycles", CHECK, INSTLATX64) \
	X(BONNELL, "pause", RANGE(11, 13), "ns", READ, INSTLATX64) \
	X(SILVERMONT, "pause", ONE(24), "cycles", CHECK, INSTLATX64) \
	X(SILVERMONT, "pause", RANGE(11, 13), "ns", READ, INSTLATX64) \
	X(KNL, "pause", ONE(25), "cycles", CHECK, INSTLATX64) \
	X(KNL, "pause", RANGE(11, 13), "ns", READ, INSTLATX64) \
	X(K8, "pause", ONE(0.3), "cycles", CHECK_SMALL, INSTLATX64) \
	X(K10, "pause", RANGE(2, 4), "cycles", CHECK, INSTLATX64) \
	X(BOBCAT, "pause", ONE(6), "cycles", CHECK, INSTLATX64) \
	X(JAGUAR, "pause", RANGE(45, 46), "cycles", CHECK, INSTLATX64) \
	X(BULLDOZER, "pause", ONE(43), "cycles", CHECK, INSTLATX64) \
	X(PILEDRIVER, "pause", ONE(42.6), "cycles", CHECK, INSTLATX64) \
	X(VISHERA, "pause", ONE(5), "cycles", CHECK, INSTLATX64) \
	X(STEAMROLLER, "pause", ONE(4), "cycles", CHECK, INSTLATX64) \
	X(EXCAVATOR, "pause", ONE(3.2), "cycles", CHECK, INSTLATX64) \
	X(ZEN, "pause", ONE(3.0), "cycles", CHECK, INSTLATX64) \
	X(ZEN, "pause", RANGE(0.8, 1.0), "ns", READ, INSTLATX64) \
	X(ZEN_PLUS, "pause", ONE(3.0), "cycles", CHECK, INSTLATX64) \
	X(ZEN_PLUS, "pause", RANGE(0.8, 1.0), "ns", READ, INSTLATX64) \
	X(ZEN2, "pause", ONE(65), "cycles", CHECK, INSTLATX64) \
	X(ZEN2, "pause", RANGE(14.5, 29), "ns", READ, INSTLATX64) \
	X(ZEN3, "pause", ONE(65), "cycles", CHECK, INSTLATX64) \
	X(ZEN3, "pause", RANGE(14.5, 29), "ns", READ, INSTLATX64) \
	X(ZEN4, "pause", ONE(65), "cycles", CHECK, INSTLATX64) \
	X(ZEN4, "pause", RANGE(14.5, 29), "ns", READ, INSTLATX64) \
	X(ZEN5, "pause", ONE(64.6), "cycles", CHECK, INSTLATX64) \
	X(ZEN5, "pause", ONE(63.6), "cycles", CHECK, ZEN5_GUEST) \
	X(ZEN5, "pause", ONE(15.0), "ns", READ, INSTLATX64) \
	X(ZEN5, "pause", ONE(17.7), "ns", READ, ZEN5_GUEST)

#define PUBLISHED_ARM(X) \
	X(NEOVERSE_N1, "yield", ONE(0.40), "ns", CHECK_CLOCK, GRAVITON2) \
	X(NEOVERSE_N1, "isb", ONE(13.2), "ns", CHECK_CLOCK, GRAVITON2) \
	X(CORTEX_A72, "isb", ONE(13.0), "ns", CHECK_CLOCK, A72) \
	X(FIRESTORM, "yield", ONE(0.313), "ns", CHECK, M1) \
	X(FIRESTORM, "isb", ONE(9.06), "ns", CHECK, M1) \
	X(FIRESTORM, "30 yields", ONE(12), "ns", READ, GO) \
	X(CORTEX_A76, "30 yields", ONE(16), "ns", READ, GO)

/*
 * One line of the second table: RDTSC, LFENCE, MFENCE, XCHG with memory (latency), CMPXCHG of registers (not the memory form of the probe
 * cmpxchg-local, hence another name), CMPXCHG16B without LOCK, CPUID leaf 0.
 */
#define PUBLISHED_SEVEN(X, u, rdtsc, lfence, mfence, xchg, cmpxchg, cmpxchg16b, cpuid) \
	X(u, "rdtsc", rdtsc, "cycles", CHECK, INSTLATX64) \
	X(u, "lfence", lfence, "cycles", CHECK, INSTLATX64) \
	X(u, "mfence", mfence, "cycles", CHECK, INSTLATX64) \
	X(u, "xchg", xchg, "cycles", CHECK, INSTLATX64) \
	X(u, "cmpxchg-registers", cmpxchg, "cycles", CHECK, INSTLATX64) \
	X(u, "cmpxchg16b-local", cmpxchg16b, "cycles", CHECK, INSTLATX64) \
	X(u, "cpuid", cpuid, "cycles", CHECK, INSTLATX64)

#define PUBLISHED_SINGLE(X) \
	PUBLISHED_SEVEN(X, CONROE, RANGE(28, 64), ONE(8), RANGE(6, 9), RANGE(18, 25), ONE(10), ONE(15.6), RANGE(180, 197)) \
	PUBLISHED_SEVEN(X, PENRYN, RANGE(28, 64), ONE(8), RANGE(6, 9), RANGE(18, 25), ONE(10), ONE(15.6), RANGE(180, 197)) \
	PUBLISHED_SEVEN(X, NEHALEM, ONE(24), ONE(9), ONE(23), ONE(20), ONE(5), ONE(17.2), ONE(84)) \
	PUBLISHED_SEVEN(X, SANDY_BRIDGE, ONE(28), ONE(4.25), ONE(33), ONE(23), ONE(5), ONE(15.8), RANGE(96, 101)) \
	PUBLISHED_SEVEN(X, IVY_BRIDGE, ONE(27), ONE(4.25), ONE(36), ONE(22), ONE(5), ONE(15.8), RANGE(96, 101)) \
	PUBLISHED_SEVEN(X, HASWELL, ONE(24), ONE(4.25), ONE(33), RANGE(19, 21), ONE(5), ONE(15.2), ONE(99)) \
	PUBLISHED_SEVEN(X, BROADWELL, ONE(24), ONE(4.25), ONE(33), RANGE(19, 21), ONE(5), ONE(15.2), ONE(99)) \
	PUBLISHED_SEVEN(X, SKYLAKE, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	PUBLISHED_SEVEN(X, SKYLAKE_SP, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	PUBLISHED_SEVEN(X, KABY_LAKE, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	X(KABY_LAKE, "mfence", ONE(56), "cycles", CHECK, INSTLATX64_KABY) \
	PUBLISHED_SEVEN(X, COFFEE_LAKE, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	PUBLISHED_SEVEN(X, COMET_LAKE, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	PUBLISHED_SEVEN(X, CASCADE_LAKE, ONE(25), ONE(4.25), RANGE(33, 34), ONE(18), ONE(5), ONE(16.3), ONE(100)) \
	PUBLISHED_SEVEN(X, ICE_LAKE_SP, ONE(27), ONE(5.2), ONE(36), ONE(20), ONE(5), RANGE(16, 17), RANGE(104, 108)) \
	PUBLISHED_SEVEN(X, TIGER_LAKE, ONE(27), RANGE(5.3, 8), ONE(36), ONE(20), ONE(5), RANGE(16, 17), RANGE(104, 108)) \
	PUBLISHED_SEVEN(X, ALDER_P, ONE(26), ONE(12), ONE(38), ONE(17), ONE(5), ONE(16.1), ONE(123)) \
	PUBLISHED_SEVEN(X, RAPTOR_P, ONE(26), ONE(12), ONE(38), ONE(17), ONE(5), ONE(16.1), ONE(123)) \
	PUBLISHED_SEVEN(X, ALDER_E, RANGE(29, 31), RANGE(24, 26), ONE(15), ONE(18), ONE(4.8), ONE(26), RANGE(335, 355)) \
	PUBLISHED_SEVEN(X, RAPTOR_E, RANGE(29, 31), RANGE(24, 26), ONE(15), ONE(18), ONE(4.8), ONE(26), RANGE(335, 355)) \
	PUBLISHED_SEVEN(X, LION_COVE, ONE(26.9), ONE(14.9), ONE(40), ONE(19.9), ONE(5), ONE(25.5), ONE(116)) \
	PUBLISHED_SEVEN(X, SKYMONT, ONE(27.7), ONE(10.5), ONE(15.6), ONE(15.1), ONE(6), ONE(23), ONE(728)) \
	PUBLISHED_SEVEN(X, K10, ONE(66), ONE(1), ONE(33), ONE(21), ONE(3), ONE(14), ONE(56)) \
	PUBLISHED_SEVEN(X, ZEN, ONE(36.6), ONE(17), RANGE(74, 77), RANGE(26, 29), ONE(3.3), ONE(14.5), RANGE(125, 128)) \
	X(ZEN, "lfence", ONE(0.2), "cycles", CHECK, INSTLATX64_LFENCE) \
	PUBLISHED_SEVEN(X, ZEN_PLUS, ONE(36.6), ONE(17), RANGE(74, 77), RANGE(26, 29), ONE(3.3), ONE(14.5), RANGE(125, 128)) \
	X(ZEN_PLUS, "lfence", ONE(0.2), "cycles", CHECK, INSTLATX64_LFENCE) \
	PUBLISHED_SEVEN(X, ZEN2, ONE(37.3), ONE(11), ONE(78), ONE(17.7), ONE(3.1), ONE(14), ONE(131)) \
	X(ZEN2, "cpuid", ONE(1841), "cycles", READ, INSTLATX64_VM) \
	PUBLISHED_SEVEN(X, ZEN3, ONE(36), ONE(10), ONE(60), ONE(7.8), ONE(3), ONE(14.7), ONE(128)) \
	PUBLISHED_SEVEN(X, ZEN4, ONE(35), ONE(10), ONE(58), ONE(7.9), ONE(3), ONE(14.7), ONE(147)) \
	PUBLISHED_SEVEN(X, ZEN5, ONE(37.8), ONE(10.9), ONE(83), ONE(19.9), ONE(3), ONE(19.3), ONE(129)) \
	X(ALDER_P, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(ALDER_E, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_P, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_E, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(LION_COVE, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(SKYMONT, "tpause", RANGE(85, 92), "cycles", CHECK, INSTLATX64) \
	X(ALDER_P, "serialize", ONE(105), "cycles", CHECK, INSTLATX64) \
	X(ALDER_E, "serialize", ONE(45), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_P, "serialize", ONE(105), "cycles", CHECK, INSTLATX64) \
	X(RAPTOR_E, "serialize", ONE(45), "cycles", CHECK, INSTLATX64) \
	X(LION_COVE, "serialize", ONE(105), "cycles", CHECK, INSTLATX64) \
	X(SKYMONT, "serialize", ONE(45), "cycles", CHECK, INSTLATX64)

/* A measurement in the kernel has names with "kernel" or those of the irq cases; only what one instruction does alike in user space is compared. */
#define PUBLISHED_ATOMICS(X) \
	X(ALDER_P, "cmpxchg", RANGE(14, 19.07), "cycles", CHECK, UOPS) \
	X(ALDER_E, "cmpxchg", ONE(18), "cycles", CHECK, UOPS) \
	X(JAGUAR, "cmpxchg-local", ONE(11), "cycles", CHECK, BTVER2) \
	X(JAGUAR, "xadd-local", ONE(11), "cycles", CHECK, BTVER2) \
	X(JAGUAR, "cmpxchg", ONE(17), "cycles", CHECK, BTVER2) \
	X(JAGUAR, "xchg", ONE(16), "cycles", CHECK, BTVER2) \
	X(ZEN5, "cmpxchg-local", ONE(8.8), "cycles", CHECK, ZEN5_GUEST) \
	X(ZEN5, "xadd-local", ONE(7.8), "cycles", CHECK, ZEN5_GUEST) \
	X(ZEN5, "cmpxchg", ONE(19.5), "cycles", CHECK, ZEN5_GUEST) \
	X(ZEN5, "xadd", ONE(19.5), "cycles", CHECK, ZEN5_GUEST) \
	X(TIGER_LAKE, "cmpxchg-local", ONE(3.70), "ticks", READ, TOSATTI) \
	X(TIGER_LAKE, "cmpxchg", ONE(12.37), "ticks", READ, TOSATTI) \
	X(TIGER_LAKE, "xadd", ONE(10.59), "ticks", READ, TOSATTI) \
	PUBLISHED_CAS(X, P4, ONE(25), ONE(81), ONE(70), ONE(61), CHECK, THESIS) \
	PUBLISHED_CAS(X, PRESCOTT, ONE(25), ONE(81), ONE(70), ONE(61), CHECK, THESIS) \
	PUBLISHED_CAS(X, K8, ONE(5), ONE(24), ONE(12), ONE(11), CHECK, THESIS) \
	PUBLISHED_CAS(X, CONROE, ONE(8), ONE(24), ONE(21), ONE(22), CHECK, THESIS) \
	PUBLISHED_CAS(X, PENRYN, ONE(8), ONE(24), ONE(20), ONE(22), CHECK, THESIS) \
	PUBLISHED_CAS(X, CORTEX_A8, ONE(11), ONE(71), ONE(25), ONE(20), READ, THESIS) \
	PUBLISHED_CAS(X, PPC970, ONE(1), ONE(2), ONE(3), ONE(1), READ, THESIS_PPC) \
	PUBLISHED_CAS(X, POWER6, ONE(9), ONE(17), ONE(14), ONE(2), READ, THESIS_PPC) \
	X(P4, "sti", ONE(112), "cycles", READ, LKML_2007) \
	X(P4, "cli", ONE(82), "cycles", READ, LKML_2007) \
	X(P4, "cmpxchg-local", ONE(26), "cycles", CHECK, LKML_2007) \
	X(PRESCOTT, "sti", ONE(112), "cycles", READ, LKML_2007) \
	X(PRESCOTT, "cli", ONE(82), "cycles", READ, LKML_2007) \
	X(PRESCOTT, "cmpxchg-local", ONE(26), "cycles", CHECK, LKML_2007) \
	X(K8, "sti", ONE(125), "cycles", READ, LKML_2007) \
	X(K8, "cli", ONE(102), "cycles", READ, LKML_2007) \
	X(K8, "cmpxchg-local", ONE(19), "cycles", CHECK, LKML_2007) \
	X(PENRYN, "kernel empty loop", ONE(1), "cycles", READ, THESIS_41) \
	X(PENRYN, "kernel irq save+restore", ONE(39), "cycles", READ, THESIS_41) \
	X(PENRYN, "kernel spin lock+unlock", ONE(46), "cycles", READ, THESIS_41) \
	X(PENRYN, "kernel seqlock read", ONE(3), "cycles", READ, THESIS_41) \
	X(PENRYN, "kernel preempt off+on", ONE(12), "cycles", READ, THESIS_41) \
	X(P4, "kernel spin lock+unlock", ONE(144), "cycles", READ, THESIS_43) \
	X(PRESCOTT, "kernel spin lock+unlock", ONE(144), "cycles", READ, THESIS_43) \
	X(K8, "kernel spin lock+unlock", ONE(67), "cycles", READ, THESIS_43) \
	X(CONROE, "kernel spin lock+unlock", ONE(57), "cycles", READ, THESIS_43) \
	X(PENRYN, "kernel spin lock+unlock", ONE(46), "cycles", READ, THESIS_43) \
	X(CORTEX_A8, "kernel spin lock+unlock", ONE(132), "cycles", READ, THESIS_43)

/* Local and synchronised compare-and-swap, interrupts on, interrupts off. */
#define PUBLISHED_CAS(X, u, local, sync, sti, cli, tolerance, source) \
	X(u, "cmpxchg-local", local, "cycles", tolerance, source) \
	X(u, "cmpxchg", sync, "cycles", tolerance, source) \
	X(u, "sti", sti, "cycles", READ, source) \
	X(u, "cli", cli, "cycles", READ, source)

#define PUBLISHED_VALUES(X) PUBLISHED_PAUSE(X) PUBLISHED_ARM(X) PUBLISHED_SINGLE(X) PUBLISHED_ATOMICS(X)

#endif
