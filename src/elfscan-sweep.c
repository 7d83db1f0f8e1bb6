/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All hints of a region: find bytes that could be one, decode the function around them, go on behind it. What holds no
 * such byte is never decoded.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elfscan-private.h"

/*
 * Larger pieces (no symbols and no unwind entries) are decoded in order, in windows of this size that overlap for the
 * sake of loops.
 */
#define PIECE_BYTES_MAX (1u << 20)
#define LOOK_BACK_BYTES (64u << 10)

/* Smaller regions are not asked for holes. */
#define SPARSE_BYTES_MIN (64u << 20)

struct piece {
	uint64_t start, end;	/* addresses */
	const struct range *function;	/* the range that it is, or NULL: what lies between functions */
};

/* First start of a sized function after @addr, at most @limit. */
static uint64_t next_start(const struct ranges *r, uint64_t addr, uint64_t limit)
{
	size_t i = (size_t)(ranges_before(r, addr) + 1);

	for (; i < r->n && r->range[i].start < limit; i++)
		if (r->range[i].flags & RANGE_SIZED && r->range[i].start > addr)
			return r->range[i].start;
	return limit;
}

/* The piece of code to decode for the byte at @addr. */
static struct piece piece_at(const struct sweep *s, uint64_t addr)
{
	const struct region *g = s->region;
	const struct ranges *r = s->ranges;
	uint64_t region_end = g->addr + g->size;
	long i = ranges_over(r, addr);
	struct piece p = { .start = g->start, .end = region_end };

	if (i >= 0 && r->range[i].start >= g->addr && r->range[i].end <= region_end) {
		p.function = &r->range[i];
		p.start = p.function->start;
		p.end = p.function->end;
		return p;
	}
	i = ranges_before(r, addr);
	if (i >= 0 && r->max_end[i] > p.start && r->max_end[i] <= addr)
		p.start = r->max_end[i];
	else if (i >= 0 && r->max_end[i] > addr && r->range[i].start > p.start)
		p.start = r->range[i].start;	/* under more ranges than are looked at: begin at the last one */
	/* A symbol without size is a start as well; but the piece begins before it, for loops that labels lie in. */
	p.end = next_start(r, addr, region_end);
	return p;
}

/* Starts of functions and labels in [start, end), as positions; the piece's own start first. Returns how many. */
static size_t roots_in(const struct ranges *r, uint64_t start, uint64_t end, bool labels, uint32_t **roots,
		       size_t *room)
{
	size_t n = 0, i = (size_t)(ranges_before(r, start) + 1);

	GROW(*roots, *room, n);
	(*roots)[n++] = 0;
	for (; i < r->n && r->range[i].start < end; i++) {
		uint32_t pos = (uint32_t)(r->range[i].start - start);

		if ((r->range[i].flags & RANGE_LABEL && !labels) || pos == (*roots)[n - 1])
			continue;
		GROW(*roots, *room, n);
		(*roots)[n++] = pos;
	}
	return n;
}

/* Arm: A32 or T32, by mapping symbol, else by the function's symbol. */
static const struct isa *isa_at(const struct sweep *s, uint64_t addr)
{
	const struct isa *isa = s->file->isa;
	char kind;
	long i;

	if (isa_thumb(isa) == isa)
		return isa;
	kind = ranges_kind(s->ranges, addr);
	if (kind == 't' || kind == 'a')
		return kind == 't' ? isa_thumb(isa) : isa;
	for (i = ranges_before(s->ranges, addr); i >= 0; i--)
		if (!(s->ranges->range[i].flags & RANGE_LABEL))
			return s->ranges->range[i].flags & RANGE_THUMB ? isa_thumb(isa) : isa;
	/* Nothing before it: as the first function, which in a stripped program is its entry. */
	return s->ranges->n && s->ranges->range[0].flags & RANGE_THUMB ? isa_thumb(isa) : isa;
}

/* Arm: a piece ends where the instruction set changes. */
static void clip_to_isa(const struct ranges *r, uint64_t addr, struct piece *p)
{
	char kind = ranges_kind(r, addr);
	size_t i, k;

	if (kind != 'a' && kind != 't')
		return;
	for (i = 0, k = r->n_marks; i < k;) {	/* the first mark after addr */
		size_t mid = i + (k - i) / 2;

		if (r->mark[mid].start <= addr)
			i = mid + 1;
		else
			k = mid;
	}
	for (k = i; k < r->n_marks && r->mark[k].start < p->end; k++)
		if (r->mark[k].kind != kind && r->mark[k].kind != 'd') {
			p->end = r->mark[k].start;
			break;
		}
	for (k = i; k > 0 && r->mark[k - 1].start > p->start; k--)
		if (r->mark[k - 1].kind != kind && r->mark[k - 1].kind != 'd') {
			p->start = k < i ? r->mark[k].start : addr;
			break;
		}
}

/* Does everything that starts at @start have to be reached from there? Cold parts are entered in their middle. */
static bool is_exact(const struct range *function)
{
	return function && function->flags & RANGE_SYMBOL && function->name && !strstr(function->name, ".cold");
}

static int emit_hits(struct sweep *s, const struct isa *isa, const struct piece *p, uint64_t base, uint64_t from,
		     uint64_t to)
{
	struct analysis *a = s->analysis;
	size_t i;
	int err;

	for (i = 0; i < a->n_hits; i++) {
		uint64_t addr = base + a->hit[i].pos;
		enum elfscan_confidence confidence = ELFSCAN_LINEAR_SWEEP;

		if (addr < from || addr >= to)
			continue;
		if (ranges_kind(s->ranges, addr) == 'd' || ranges_is_object(s->ranges, addr)) {
			a->n_data++;
			continue;
		}
		if (isa_at(s, addr) != isa)
			continue;
		if (p->function)
			confidence = ELFSCAN_SYMBOL_SWEEP;
		else if (s->file->no_sections)
			confidence = ELFSCAN_SEGMENT_SWEEP;
		err = s->emit(s->ctx, isa, s->region, &a->hit[i], addr, confidence,
			      a->hit[i].loop_end - a->hit[i].loop_start);
		if (err)
			return err;
	}
	return 0;
}

/*
 * A piece of any size, in order. Instructions are kept in step from its start; windows overlap so that loops are seen.
 *
 */
static int sweep_large(struct sweep *s, const struct isa *isa, const struct piece *p, uint64_t from, uint32_t **roots,
		       size_t *room)
{
	const struct region *g = s->region;
	struct analysis *a = s->analysis;
	unsigned int flags = (s->file->kernel ? ANALYSE_KERNEL : 0) | (s->privileged ? ANALYSE_PRIVILEGED : 0);
	uint64_t start = p->start, done = from;
	int err;

	while (start < p->end) {
		uint64_t size = p->end - start < PIECE_BYTES_MAX ? p->end - start : PIECE_BYTES_MAX, next, emit_to;
		const uint8_t *code = g->bytes + (start - g->addr);
		size_t n, k;

		/* Nothing that could be a hint in this window and the next step: only keep in step. */
		n = roots_in(s->ranges, start, start + size, true, roots, room);
		analysis_run(a, isa, code, (uint32_t)size, *roots, n, flags);
		if (start + size >= p->end) {
			err = emit_hits(s, isa, p, start, done, p->end);
			return err;
		}
		emit_to = start + size - LOOK_BACK_BYTES;
		err = emit_hits(s, isa, p, start, done, emit_to);
		if (err)
			return err;
		done = emit_to;
		/*
		 * The next window begins at an instruction, LOOK_BACK_BYTES before the first one that is still to be
		 * told.
		 */
		next = emit_to - LOOK_BACK_BYTES;
		for (k = a->n_insn; k > 1 && start + a->insn[k - 1].pos > next; k--)
			;
		start += a->insn[k - 1].pos;
	}
	return 0;
}

/*
 * The extent of the file that holds the region's byte at @pos or, in a hole, the next one: [*begin, *end) as positions;
 * false: nothing but holes follows. Zeros are no hints, and a sparse file may claim a terabyte of them.
 */
static bool data_extent(const struct sweep *s, uint64_t pos, uint64_t *begin, uint64_t *end)
{
	const struct region *g = s->region;
	off_t data, hole;

	*begin = pos;
	*end = g->size;
	if (s->file->fd < 0 || g->size < SPARSE_BYTES_MIN)
		return pos < g->size;
	data = lseek(s->file->fd, (off_t)(g->file_offset + pos), SEEK_DATA);
	if (data < 0)
		return false;
	hole = lseek(s->file->fd, data, SEEK_HOLE);
	if ((uint64_t)data > g->file_offset + pos)
		*begin = (uint64_t)data - g->file_offset;
	if (hole > data && (uint64_t)hole - g->file_offset < g->size)
		*end = (uint64_t)hole - g->file_offset;
	return *begin < g->size;
}

/*
 * Cut a large piece down to the surroundings of @addr: where instructions have one length, any place is a start; else
 * the extent is.
 */
static uint64_t clip_large(const struct sweep *s, const struct isa *isa, uint64_t addr, uint64_t extent_begin,
			   uint64_t extent_end, struct piece *p)
{
	uint64_t begin = s->region->addr + extent_begin, end = s->region->addr + extent_end;

	if (p->end > end)
		p->end = end;
	if (p->start < begin)
		p->start = begin;
	if (p->end - p->start <= PIECE_BYTES_MAX || isa->align < 4)
		return p->end;
	if (addr - p->start > LOOK_BACK_BYTES)
		p->start = (addr - LOOK_BACK_BYTES) & ~(uint64_t)(isa->align - 1);
	if (p->end - addr > PIECE_BYTES_MAX / 2) {
		p->end = addr + PIECE_BYTES_MAX / 2;
		return p->end - LOOK_BACK_BYTES;
	}
	return p->end;
}

static int sweep_piece(struct sweep *s, const struct isa *isa, const struct piece *p, uint64_t from, uint64_t to,
		       uint32_t **roots, size_t *room)
{
	unsigned int flags = (s->file->kernel ? ANALYSE_KERNEL : 0) | (s->privileged ? ANALYSE_PRIVILEGED : 0);
	size_t n;

	if (p->end - p->start > PIECE_BYTES_MAX)
		return sweep_large(s, isa, p, from, roots, room);
	n = roots_in(s->ranges, p->start, p->end, !p->function, roots, room);
	if (isa->follow && (p->function || n > 1))
		flags |= ANALYSE_FOLLOW;
	if (!p->function)
		flags |= ANALYSE_UNSURE;
	if (is_exact(p->function))
		flags |= ANALYSE_EXACT;
	if (p->function && p->function->flags & RANGE_LANDING)
		flags |= ANALYSE_LANDING;
	analysis_run(s->analysis, isa, s->region->bytes + (p->start - s->region->addr), (uint32_t)(p->end - p->start),
		     *roots, n, flags);
	return emit_hits(s, isa, p, p->start, from, to);
}

int sweep_region(struct sweep *s)
{
	const struct region *g = s->region;
	struct analysis *a = s->analysis;
	uint32_t *roots = NULL;
	size_t room = 0;
	uint64_t from = g->start, begin, end;
	int err = 0;

	while (!err && from < g->addr + g->size && data_extent(s, from - g->addr, &begin, &end)) {
		/* A few bytes more, for a hint that lies across the end of the extent. */
		size_t n = g->size - end > ELFSCAN_INSN_MAX ? end + ELFSCAN_INSN_MAX : g->size;
		size_t found = isa_search(s->file->isa, s->privileged, g->bytes, n, begin);
		const struct isa *isa;
		struct piece p;
		uint64_t addr, to;

		if (found >= n) {
			from = g->addr + n;
			continue;
		}
		addr = g->addr + found;
		p = piece_at(s, addr);
		isa = isa_at(s, addr);
		if (isa_thumb(s->file->isa) != s->file->isa)
			clip_to_isa(s->ranges, addr, &p);
		if (a->decoded_bytes > a->budget_bytes &&
		    p.start < from) { /* nested ranges on purpose: decode nothing twice any more */
			p.start = from;
			p.function = NULL;
		}
		to = p.end - p.start > PIECE_BYTES_MAX ? clip_large(s, isa, addr, begin, end, &p) : p.end;
		err = sweep_piece(s, isa, &p, from, to, &roots, &room);
		from = to > addr ? to : addr + 1;
	}
	free(roots);
	return err;
}
