/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf-relax-ctx-32: the tasks of a context-switch ring as a program of another ABI. Started by `perf relax ctx --abi 32` for each task; not for users.
 * Arguments: descriptor of the memory shared with the starter, and the number of the task. Exit status: 0 done, 1 a noted failure, 2 wrong use.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ctx-task.h"

static long number(const char *s)
{
	char *end;
	long n = strtol(s, &end, 10);

	return *s && !*end && n >= 0 && n < CTX_TASKS_MAX * 16 ? n : -1;
}

int main(int argc, char **argv)
{
	struct stat st;
	void *memory;
	long fd, index;

	if (argc != 3)
		return 2;
	fd = number(argv[1]);
	index = number(argv[2]);
	/* Both programs must agree on the layout; a helper of another build is caught by the size. */
	if (fd < 0 || index < 0 || index >= CTX_TASKS_MAX || fstat((int)fd, &st) || st.st_size != sizeof(struct ctx_trial))
		return 2;
	memory = mmap(NULL, sizeof(struct ctx_trial), PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
	if (memory == MAP_FAILED)
		return 2;
	return ctx_task_run(memory, (uint32_t)index) ? 1 : 0;
}
