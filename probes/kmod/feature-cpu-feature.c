// SPDX-License-Identifier: GPL-2.0-only
/* arm64: ask for CPU features by the names of the auxiliary vector. */
#include <asm/cpufeature.h>
#include <asm/hwcap.h>

unsigned long relax_feature(void);
unsigned long relax_feature(void)
{
	return (cpu_have_named_feature(ATOMICS) ? HWCAP_ATOMICS : 0) | (cpu_have_named_feature(SB) ? HWCAP_SB : 0) |
	       (cpu_have_named_feature(EVTSTRM) ? HWCAP_EVTSTRM : 0);
}
