/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libpfm4 behind plain types: its headers declare their own struct perf_event_attr, which clashes with
 * <linux/perf_event.h>, so meter-pfm.c includes this and not meter-perf.h.
 */
#ifndef PERF_RELAX_METER_PFM_H
#define PERF_RELAX_METER_PFM_H

#include "util.h"

struct meter_pfm_code {
	uint32_t type;
	uint64_t config, config1, config2;
	bool exclude_user, exclude_kernel, exclude_hv, exclude_guest, exclude_host, exclusive, pinned;
	unsigned int precise_ip;
	int cpu;
};

/*
 * Encode @name ("INST_RETIRED:ANY_P:u", "perf::CYCLES"). -ENOENT: no such event; -EINVAL: the event exists but not so,
 * and @why says what it has; -ENOSYS: libpfm4 does not work here.
 */
int meter_pfm_encode(const char *name, struct meter_pfm_code *code, struct reason *why);

/* Does libpfm4 know this CPU's core PMU? */
bool meter_pfm_knows_cpu(void);

/* Every event of the PMUs present, perf's generic ones left out. @name is valid during the call only. */
void meter_pfm_each_name(void (*call)(void *ctx, const char *name), void *ctx);

#endif
