/* SPDX-License-Identifier: GPL-2.0-only */
/* Between result-read.c (the document) and result-condition.c (its conditions). */
#ifndef PERF_RELAX_RESULT_READER_H
#define PERF_RELAX_RESULT_READER_H

#include "result.h"
#include "result-scan.h"

/* A small file must not ask for large tables (many conditions times many arms, nearly all of them empty). */
#define TABLE_BYTES_FREE ((size_t)64 << 20)
#define TABLE_BYTES_PER_BYTE 1000

/* A flag of a trial, kept until the number of rounds is known. */
struct late_flag {
	size_t condition, arm, round;
	unsigned int flag;
};

struct name_index {
	const char *name;
	size_t index;
};

struct reader {
	struct scan s;
	struct result *r;
	struct late_flag *late;
	size_t nlate, late_room;
	struct name_index *by_name;	/* arms, sorted */
};

/* The first arm of that name: @likely when it has it, else by search; SIZE_MAX: none. */
size_t reader_find_arm(const struct reader *rd, const char *name, size_t likely);
int reader_pairs(struct reader *rd, struct piece at, json_t *object, const char *name,
		 void (*set)(struct reader *rd, size_t condition, const char *key, const char *value, const char *why),
		 size_t condition);
int reader_conditions(struct reader *rd, struct piece piece);
int reader_set_flags(struct reader *rd);

#endif
