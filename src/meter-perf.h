/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What meter.c, meter-perf.c and meter-events.c share; nobody else includes it.
 */
#ifndef PERF_RELAX_METER_PERF_H
#define PERF_RELAX_METER_PERF_H

#include "meter.h"

/* Read every open counter of @m into @count[]; what cannot be read gets running 0. The hot path: no allocation, no messages. */
void meter_perf_read(struct meters *m, struct meter_count *count);

/* Close all counters and free what meters_add_events() made. */
void meter_perf_close(struct meters *m);

#endif
