/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * To be preloaded: forbids the time-stamp counter to the process, as a sandbox does with PR_SET_TSC. Not by a wrapper before exec: glibc's
 * loader itself reads the counter at start.
 */
#include <sys/prctl.h>

__attribute__((constructor)) static void forbid_tsc(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}
