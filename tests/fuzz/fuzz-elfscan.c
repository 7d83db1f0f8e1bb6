/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * libFuzzer target: any bytes as an ELF file or archive. Built and run by tests/fuzz.sh: with AddressSanitizer and
 * UndefinedBehaviorSanitizer, 60 s in CI, ten minutes and more by `make check-full`. What is checked besides: counts
 * add up, hits lie in the file and hold the bytes that are there.
 */
#include <stdlib.h>
#include <string.h>

#include "elfscan.h"

struct input {
	const uint8_t *data;
	size_t size;
	uint64_t hits;
};

static int on_hit(void *ctx, const struct elfscan_hit *hit)
{
	struct input *in = ctx;

	in->hits++;
	if (!hit->n_bytes || hit->n_bytes > sizeof(hit->bytes) || !hit->hint || !hit->machine)
		abort();
	/* In archives the offset is the member's. */
	if (!hit->member && (hit->file_offset >= in->size || in->size - hit->file_offset < hit->n_bytes ||
			     memcmp(hit->bytes, in->data + hit->file_offset, hit->n_bytes)))
		abort();
	if (hit->in_loop && (!hit->loop_bytes || !hit->loop_hints))
		abort();
	return 0;
}

static void on_note(void *ctx, const char *member, const char *text)
{
	(void)ctx;
	(void)member;
	if (!*text)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { .data = data, .size = size };
	/* Without source lines: libdw is not what is tested, and it is slow. The last byte chooses. */
	struct elfscan_options options = {
		.hit = on_hit, .note = on_note, .ctx = &in, .privileged = size && data[size - 1] & 1, .no_source = true
	};
	struct elfscan *scan = elfscan_new(&options);
	struct elfscan_result result;

	elfscan_image(scan, data, size, "input", &result);
	if (result.n_hits != in.hits || result.n_in_loop > in.hits || result.n_spin_waits > result.n_in_loop)
		abort();
	if (result.status != ELFSCAN_DONE && !result.why.text[0])
		abort();
	elfscan_free(scan);
	return 0;
}
