// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMU events: opened with libperf, named by meter-events.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "meter-perf.h"

int meters_add_events(struct meters *m, const char *list, bool required, struct reason *why)
{
	(void)m;
	(void)required;
	return reason_set(why, ENOSYS, "events are not built in yet: %s", list);
}

int meters_start(struct meters *m, struct reason *why)
{
	(void)m;
	(void)why;
	return 0;
}

void meter_perf_read(struct meters *m, struct meter_count *count)
{
	(void)m;
	(void)count;
}

void meter_perf_close(struct meters *m)
{
	(void)m;
}

void meter_perf_advice(int err, const char *event, int cpu, struct reason *why)
{
	(void)cpu;
	(void)reason_set(why, err, "%s: %s", event, strerror(err));
}

const char *const *meter_perf_event_names(void)
{
	static const char *const none[] = { NULL };

	return none;
}
