// SPDX-License-Identifier: GPL-2.0-only
/* Can a module bring a kernel counter up to date on its own CPU? */
#include <linux/perf_event.h>

u64 relax_feature(struct perf_event *event);
u64 relax_feature(struct perf_event *event)
{
	if (event->state != PERF_EVENT_STATE_ACTIVE || READ_ONCE(event->oncpu) < 0)
		return 0;
	event->pmu->read(event);
	return (u64)local64_read(&event->count);
}
