// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event names by libpfm4. Its tables may lag behind a new CPU; the caller then has perf's generic names and raw codes.
 */
#include <errno.h>
#include <perfmon/pfmlib_perf_event.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "meter-pfm.h"

static int pfm_status = PFM_ERR_NOINIT;

static void pfm_start(void)
{
	pfm_status = pfm_initialize();
}

static bool pfm_ready(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, pfm_start);
	return pfm_status == PFM_SUCCESS;
}

/* The names of an event's unit masks and modifiers, for a message: "CYCLES has ..." */
static void pfm_list_attributes(int index, char *buf, size_t size)
{
	pfm_event_info_t info = { .size = sizeof(info) };
	size_t used = 0;

	buf[0] = '\0';
	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS)
		return;
	for (int i = 0; i < info.nattrs; i++) {
		pfm_event_attr_info_t attr = { .size = sizeof(attr) };
		size_t length;

		if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT_EXT, &attr) != PFM_SUCCESS || !attr.name)
			continue;
		length = strlen(attr.name) + (used ? 2 : 0);
		if (used + length + sizeof(", ...") > size) {
			snprintf(buf + used, size - used, ", ...");
			return;
		}
		used += (size_t)snprintf(buf + used, size - used, "%s%s", used ? ", " : "", attr.name);
	}
}

int meter_pfm_encode(const char *name, struct meter_pfm_code *code, struct reason *why)
{
	struct perf_event_attr attr;
	pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg), .cpu = -1 };
	char attributes[240], event[64];
	int err, index;

	memset(code, 0, sizeof(*code));
	if (!pfm_ready())
		return reason_set(why, ENOSYS, "libpfm4 cannot be used: %s", pfm_strerror(pfm_status));
	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	err = pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
	switch (err) {
	case PFM_SUCCESS:
		break;
	case PFM_ERR_NOTFOUND:
	case PFM_ERR_INVAL:	/* what it says to "," and the like */
		return reason_set(why, ENOENT, "libpfm4 has no such event");
	default:
		snprintf(event, sizeof(event), "%s", name);
		event[strcspn(event, ":")] = '\0';
		index = pfm_find_event(event);
		attributes[0] = '\0';
		if (index >= 0)
			pfm_list_attributes(index, attributes, sizeof(attributes));
		return reason_set(why, EINVAL, "libpfm4: %s%s%s%s%s", pfm_strerror(err), attributes[0] ? "; " : "",
				  attributes[0] ? event : "", attributes[0] ? " takes " : "", attributes);
	}
	code->type = attr.type;
	code->config = attr.config;
	code->config1 = attr.config1;
	code->config2 = attr.config2;
	code->exclude_user = attr.exclude_user;
	code->exclude_kernel = attr.exclude_kernel;
	code->exclude_hv = attr.exclude_hv;
	code->exclude_guest = attr.exclude_guest;
	code->exclude_host = attr.exclude_host;
	code->exclusive = attr.exclusive;
	code->pinned = attr.pinned;
	code->precise_ip = attr.precise_ip;
	code->cpu = arg.cpu;
	return 0;
}

bool meter_pfm_knows_cpu(void)
{
	if (!pfm_ready())
		return false;
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };

		if (pfm_get_pmu_info((pfm_pmu_t)i, &info) == PFM_SUCCESS && info.is_present &&
		    info.type == PFM_PMU_TYPE_CORE)
			return true;
	}
	return false;
}

void meter_pfm_each_name(void (*call)(void *ctx, const char *name), void *ctx)
{
	if (!pfm_ready())
		return;
	for (int i = 0; i < PFM_PMU_MAX; i++) {
		pfm_pmu_info_t info = { .size = sizeof(info) };
		int event;

		if (pfm_get_pmu_info((pfm_pmu_t)i, &info) != PFM_SUCCESS || !info.is_present ||
		    info.type == PFM_PMU_TYPE_OS_GENERIC)
			continue;
		for (event = info.first_event; event != -1; event = pfm_get_event_next(event)) {
			pfm_event_info_t e = { .size = sizeof(e) };

			if (pfm_get_event_info(event, PFM_OS_PERF_EVENT_EXT, &e) == PFM_SUCCESS && e.name)
				call(ctx, e.name);
		}
	}
}
