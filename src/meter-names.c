// SPDX-License-Identifier: GPL-2.0-only
/*
 * All event names that this machine knows.
 */
#include <stdlib.h>
#include <string.h>

#include "meter-perf.h"

struct name_list {
	const char **name;
	size_t n, room;
};

static void add(void *ctx, const char *name)
{
	struct name_list *list = ctx;

	if (list->n + 1 >= list->room) {
		list->room = list->room ? 2 * list->room : 1024;
		list->name = util_realloc(list->name, list->room, sizeof(*list->name));
	}
	list->name[list->n++] = util_strdup(name);
	list->name[list->n] = NULL;
}

/* Collected once, at the first call; freed by exit(3) only. Not for use by several threads at once. */
const char *const *meter_perf_event_names(void)
{
	static struct name_list list;
	const char *name;

	if (!list.n) {
		for (size_t i = 0; (name = meter_generic_name(i)); i++)
			add(&list, name);
		meter_pmu_each_event(add, &list);
		meter_pfm_each_name(add, &list);
		meter_tracepoint_each(add, &list);
	}
	return list.name;
}
