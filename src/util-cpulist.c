/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU lists in the kernel's form: "0,2-5". */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define CPU_MAX 65535	/* far above NR_CPUS of any kernel; bounds what a typing error can allocate */

bool cpulist_has(const struct cpulist *list, int cpu)
{
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (list->cpu[mid] == cpu)
			return true;
		if (list->cpu[mid] < cpu)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

void cpulist_add(struct cpulist *list, int cpu)
{
	size_t i = list->n;

	if (cpulist_has(list, cpu))
		return;
	list->cpu = util_realloc(list->cpu, list->n + 1, sizeof(*list->cpu));
	for (; i > 0 && list->cpu[i - 1] > cpu; i--)
		list->cpu[i] = list->cpu[i - 1];
	list->cpu[i] = cpu;
	list->n++;
}

void cpulist_free(struct cpulist *list)
{
	free(list->cpu);
	*list = (struct cpulist){ 0 };
}

/* One item, "N" or "N-M", into first and last. */
static int parse_item(const char *item, const char *whole, int *first, int *last, struct reason *why)
{
	char *copy = util_strdup(item), *dash = strchr(copy, '-');
	int err;

	if (dash)
		*dash = '\0';
	err = util_parse_int(copy, 0, CPU_MAX, first);
	if (!err)
		err = dash ? util_parse_int(dash + 1, 0, CPU_MAX, last) : 0;
	free(copy);
	if (err)
		return reason_set(why, EINVAL, "CPU list '%s': '%s' is not a CPU number or range (0 to %d)", whole, item, CPU_MAX);
	if (!dash)
		*last = *first;
	if (*last < *first)
		return reason_set(why, EINVAL, "CPU list '%s': the range '%s' runs backwards", whole, item);
	return 0;
}

int cpulist_parse(const char *s, struct cpulist *list, struct reason *why)
{
	char *copy = util_strdup(s), *rest = copy, *item;
	int err = 0, first, last;

	*list = (struct cpulist){ 0 };
	while (!err && (item = strsep(&rest, ","))) {
		if (!*item) {
			err = reason_set(why, EINVAL, *s ? "CPU list '%s' has an empty item" : "the CPU list%s is empty", s);
			break;
		}
		err = parse_item(item, s, &first, &last, why);
		for (int cpu = first; !err && cpu <= last; cpu++) {
			if (cpulist_has(list, cpu))
				err = reason_set(why, EINVAL, "CPU list '%s' names CPU %d twice", s, cpu);
			else
				cpulist_add(list, cpu);
		}
	}
	free(copy);
	if (err)
		cpulist_free(list);
	return err;
}

char *cpulist_format(const struct cpulist *list)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return util_strdup("");
	for (size_t i = 0, j; i < list->n; i = j) {
		for (j = i + 1; j < list->n && list->cpu[j] == list->cpu[j - 1] + 1; j++)
			;
		fprintf(f, "%s%d", i ? "," : "", list->cpu[i]);
		if (j - i > 1)
			fprintf(f, "-%d", list->cpu[j - 1]);
	}
	fclose(f);
	return text;
}
