/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One piece of code: which of its bytes are hints, and which loops they stand in.
 *
 * Decoding follows the control flow from the known starts, so that data between code is stepped over; what no direct
 * branch reaches (jump tables, landing pads, cold parts, data) is then decoded from the end of what was reached, and
 * judged. On machines whose decoder does not know all control flow, and in very large pieces, all is decoded in order.
 */
#include <stdlib.h>
#include <string.h>

#include "elfscan-private.h"

/* The longest loop that is searched for memory reads; a longer one is no spin-wait. */
#define LOOP_BYTES_MAX (16u << 10)

/* A loop around a delay loop: "look; pause a few times; look again". Longer ones do more than wait. */
#define OUTER_BYTES_MAX 512u
#define OUTER_STEPS_MAX 256	/* more branches than a loop of that length has; bounds the time */

#define ST_START 1u	/* an instruction starts here */
#define ST_BODY 2u	/* inside of one */
#define ST_FOLLOWED 4u	/* control flow leads here */
#define ST_ROOT 8u
#define ST_BAD 16u	/* not an instruction */
#define ST_GAP 32u	/* first instruction of a part that control flow does not reach */

struct branch {
	uint32_t from_end, to;	/* the loop is [to, from_end) */
	uint32_t from;
};

static void note_insn(struct analysis *a, uint32_t pos, const struct insn *in, uint32_t size, bool followed)
{
	int64_t target = (int64_t)pos + in->target;
	bool has = in->flow == INSN_COND || in->flow == INSN_JUMP;

	GROW(a->insn, a->insn_room, a->n_insn);
	a->insn[a->n_insn++] = (struct insn_at){ .pos = pos,
						 .target = has && target >= 0 && target < size ? (int32_t)target : -1,
						 .len = in->len,
						 .flow = in->flow,
						 .unlikely = in->unlikely,
						 .followed = followed };
	if (in->hint >= 0) {
		GROW(a->hit, a->hit_room, a->n_hits);
		a->hit[a->n_hits++] =
			(struct code_hit){ .pos = pos, .len = in->len, .hint = in->hint, .followed = followed };
	}
}

static void push(struct analysis *a, size_t *depth, uint32_t pos)
{
	GROW(a->stack, a->stack_room, *depth);
	a->stack[(*depth)++] = pos;
}

/* Mark all instructions that are reached from the roots. */
static void follow_flow(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t size,
			const uint32_t *roots, size_t n_roots)
{
	size_t depth = 0, i;

	for (i = n_roots; i > 0; i--)
		if (roots[i - 1] < size)
			push(a, &depth, roots[i - 1]);
	while (depth) {
		uint32_t pos = a->stack[--depth];

		while (pos < size && !(a->state[pos] & ST_START)) {
			struct insn in;
			int64_t target;
			uint32_t k;

			isa->decode(isa, code + pos, size - pos, &in);
			a->decoded_bytes += in.len;
			if (in.flow == INSN_BAD) {
				a->state[pos] |= ST_BAD;
				break;
			}
			a->state[pos] |= ST_START | ST_FOLLOWED;
			for (k = 1; k < in.len; k++)
				a->state[pos + k] |= ST_BODY;
			target = (int64_t)pos + in.target;
			if ((in.flow == INSN_COND || in.flow == INSN_JUMP) && target >= 0 && target < size &&
			    !(a->state[target] & ST_START))
				push(a, &depth, (uint32_t)target);
			if (in.flow == INSN_JUMP || in.flow == INSN_STOP || in.flow == INSN_INDIRECT)
				break;
			pos += in.len;
		}
	}
}

/* Lists all instructions in order: the reached ones, and what a linear sweep makes of the bytes between them. */
static void list_insns(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t size, bool sure)
{
	uint32_t pos = 0, reached_end = 0;

	a->n_insn = 0;
	a->n_hits = 0;
	while (pos < size) {
		struct insn in;
		uint32_t k;

		if (a->state[pos] & ST_START) {
			isa->decode(isa, code + pos, size - pos, &in);
			note_insn(a, pos, &in, size, sure);
			if (pos + in.len > reached_end)
				reached_end = pos + in.len;
			pos++;		/* an instruction inside another one (a jump over a prefix) counts as well */
			while (pos < reached_end && !(a->state[pos] & ST_START))
				pos++;
			continue;
		}
		if (pos < reached_end) {
			pos++;
			continue;
		}
		isa->decode(isa, code + pos, size - pos, &in);
		a->decoded_bytes += in.len;
		for (k = 1; k < in.len; k++)
			if (a->state[pos + k] & (ST_START | ST_ROOT))
				break;
		if (k < in.len) {	/* runs into an instruction that is known to start there: not one itself */
			in = (struct insn){ .len = (uint8_t)k, .flow = INSN_BAD, .hint = -1 };
		}
		note_insn(a, pos, &in, size, false);
		pos += in.len ? in.len : 1;
	}
}

static void list_linear(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t size,
			const uint32_t *roots, size_t n_roots)
{
	uint32_t pos = 0;
	size_t root = 0;

	a->n_insn = 0;
	a->n_hits = 0;
	while (pos < size) {
		struct insn in;

		isa->decode(isa, code + pos, size - pos, &in);
		a->decoded_bytes += in.len;
		while (root < n_roots && roots[root] <= pos)
			root++;
		if (root < n_roots && roots[root] < pos + in.len)	/* a function starts inside it */
			in = (struct insn){ .len = (uint8_t)(roots[root] - pos), .flow = INSN_BAD, .hint = -1 };
		if (in.flow == INSN_BAD && isa->align > 1)
			in.len = isa->align;
		note_insn(a, pos, &in, size, false);
		pos += in.len;
	}
}

static size_t insn_index(const struct analysis *a, uint32_t pos)
{
	size_t low = 0, high = a->n_insn;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->insn[mid].pos < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low < a->n_insn && a->insn[low].pos == pos ? low : SIZE_MAX;
}

static bool ends_run(const struct insn_at *in)
{
	return in->flow == INSN_JUMP || in->flow == INSN_STOP || in->flow == INSN_INDIRECT;
}

/*
 * Does the straight run of instructions around insn[@i] look like data? Bytes that are no instruction, or that only a
 * kernel or an emulator uses, do not stand in a compiler's code.
 */
static bool looks_like_data(const struct analysis *a, size_t i)
{
	size_t k;

	for (k = i; k-- > 0 && i - k < 64;) {
		if (a->insn[k].flow == INSN_BAD || (a->insn[k].unlikely && !a->insn[k].followed))
			return true;
		if (ends_run(&a->insn[k]) || a->insn[k].followed)
			break;
	}
	for (k = i + 1; k < a->n_insn && k - i < 64; k++) {
		if (a->insn[k].flow == INSN_BAD || (a->insn[k].unlikely && !a->insn[k].followed))
			return true;
		if (ends_run(&a->insn[k]) || a->insn[k].followed)
			return false;
	}
	return false;
}

/* Leave out the hits that are data rather than code. */
static void drop_data(struct analysis *a, bool exact, bool kernel)
{
	size_t i, kept = 0;
	bool indirect = false;

	for (i = 0; i < a->n_insn && !indirect; i++)
		indirect = a->insn[i].flow == INSN_INDIRECT && a->insn[i].followed;
	for (i = 0; i < a->n_hits; i++) {
		struct code_hit *h = &a->hit[i];

		if (!h->followed && !kernel && ((exact && !indirect) || looks_like_data(a, insn_index(a, h->pos)))) {
			a->n_data++;
			continue;
		}
		a->hit[kept++] = *h;
	}
	a->n_hits = kept;
}

static int compare_branches(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;
	uint32_t dx = x->from_end - x->to, dy = y->from_end - y->to;

	if (dx != dy)
		return dx < dy ? -1 : 1;
	return x->to < y->to ? -1 : x->to > y->to;
}

static void collect_branches(struct analysis *a, const struct isa *isa)
{
	size_t i;

	a->n_branches = 0;
	for (i = 0; i < a->n_insn; i++) {
		const struct insn_at *in = &a->insn[i];
		uint32_t end = in->pos + in->len;

		if (in->target < 0 || (uint32_t)in->target > in->pos || insn_index(a, (uint32_t)in->target) == SIZE_MAX)
			continue;
		if (isa->delay_slot && i + 1 < a->n_insn)	/* what stands behind the branch is executed with it */
			end = a->insn[i + 1].pos + a->insn[i + 1].len;
		GROW(a->branch, a->branch_room, a->n_branches);
		a->branch[a->n_branches++] =
			(struct branch){ .from_end = end, .to = (uint32_t)in->target, .from = in->pos };
	}
	if (a->n_branches)
		qsort(a->branch, a->n_branches, sizeof(a->branch[0]), compare_branches);
}

static size_t find_open(uint32_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

static size_t hit_at_or_after(const struct analysis *a, uint32_t pos)
{
	size_t low = 0, high = a->n_hits;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->hit[mid].pos < pos)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/*
 * The innermost backward branch over each hit: branches from short to long, each taking the hits that none before it
 * took.
 */
static void assign_loops(struct analysis *a)
{
	uint32_t *next;
	size_t i, k;

	GROW(a->work, a->work_room, a->n_hits + 1);
	next = a->work;
	for (i = 0; i <= a->n_hits; i++)
		next[i] = (uint32_t)i;
	for (i = 0; i < a->n_branches; i++) {
		const struct branch *b = &a->branch[i];

		for (k = find_open(next, hit_at_or_after(a, b->to)); k < a->n_hits && a->hit[k].pos < b->from_end;
		     k = find_open(next, k)) {
			a->hit[k].in_loop = true;
			a->hit[k].loop_start = b->to;
			a->hit[k].loop_end = b->from_end;
			next[k] = (uint32_t)k + 1;
		}
	}
}

#define UNSEEN UINT32_MAX

/* Successors of insn[@i] in the list: fall-through in s[0], branch target in s[1]; SIZE_MAX: none. */
static void successors(const struct analysis *a, size_t i, size_t s[2])
{
	const struct insn_at *in = &a->insn[i];

	s[0] = s[1] = SIZE_MAX;
	if (in->flow == INSN_NEXT || in->flow == INSN_COND || in->flow == INSN_CALL)
		s[0] = i + 1 < a->n_insn && a->insn[i + 1].pos == in->pos + in->len ? i + 1
										    : insn_index(a, in->pos + in->len);
	if (in->target >= 0)
		s[1] = insn_index(a, (uint32_t)in->target);
}

/*
 * Take back the loops that control cannot run around (a cold part that jumps back once): a hit is in a loop when its
 * instruction is in a strongly connected component with a cycle. Tarjan, Depth-first search and linear graph
 * algorithms, 1972; without recursion.
 */
static void check_cycles(struct analysis *a)
{
	size_t n = a->n_insn, i, depth = 0, on_stack = 0;
	uint32_t *index, *low, *component, *stack, *path, *step, counter = 0;

	if (a->work_room < 6 * n + 1) {
		a->work_room = 6 * n + 1;
		a->work = util_realloc(a->work, a->work_room, sizeof(a->work[0]));
	}
	index = a->work;
	low = index + n;
	component = low + n;	/* 0: not yet; 1: without a cycle; 2: in a cycle */
	stack = component + n;
	path = stack + n;
	step = path + n;
	memset(index, 0xff, n * sizeof(index[0]));
	memset(component, 0, n * sizeof(component[0]));
	for (i = 0; i < a->n_hits; i++) {
		size_t root = insn_index(a, a->hit[i].pos);

		if (root == SIZE_MAX)
			continue;
		if (index[root] == UNSEEN) {
			path[depth] = (uint32_t)root;
			step[depth++] = 0;
			index[root] = low[root] = counter++;
			stack[on_stack++] = (uint32_t)root;
		}
		while (depth) {
			uint32_t v = path[depth - 1];
			size_t s[2], w;

			successors(a, v, s);
			if (step[depth - 1] < 2) {
				w = s[step[depth - 1]++];
				if (w == SIZE_MAX)
					continue;
				if (index[w] == UNSEEN) {
					index[w] = low[w] = counter++;
					stack[on_stack++] = (uint32_t)w;
					path[depth] = (uint32_t)w;
					step[depth++] = 0;
				} else if (!component[w] && index[w] < low[v]) {
					low[v] = index[w];
				}
				continue;
			}
			depth--;
			if (depth && low[v] < low[path[depth - 1]])
				low[path[depth - 1]] = low[v];
			if (low[v] == index[v]) {
				bool cycle = stack[on_stack - 1] != v || s[0] == v || s[1] == v;
				uint32_t u;

				do {
					u = stack[--on_stack];
					component[u] = cycle ? 2 : 1;
				} while (u != v);
			}
		}
		if (component[root] == 1)
			a->hit[i].in_loop = false;
	}
}

static cs_insn *open_capstone(struct analysis *a, const struct isa *isa, csh *handle)
{
	size_t id = (size_t)(isa - isas);

	if (isa->cs_arch < 0)
		return NULL;
	if (!a->cs_open[id]) {
		a->cs_open[id] = true;
		if (cs_open((cs_arch)isa->cs_arch, (cs_mode)isa->cs_mode, &a->cs[id]) == CS_ERR_OK) {
			cs_option(a->cs[id], CS_OPT_DETAIL, CS_OPT_ON);
			a->cs_insn[id] = cs_malloc(a->cs[id]);
		}
	}
	*handle = a->cs[id];
	return a->cs_insn[id];
}

/* Does an instruction read memory that it names? Implicit stack accesses (call, push, ret) do not make a spin-wait. */
static bool capstone_reads(const struct isa *isa, const cs_insn *in)
{
	const cs_detail *d = in->detail;
	unsigned int i;

	if (!d)
		return false;
	switch (isa->cs_arch) {
	case CS_ARCH_X86:
		if (in->id == X86_INS_LEA || in->id == X86_INS_NOP || !strncmp(in->mnemonic, "prefetch", 8) ||
		    !strncmp(in->mnemonic, "clflush", 7))
			return false;
		for (i = 0; i < d->x86.op_count; i++)
			if (d->x86.operands[i].type == X86_OP_MEM && d->x86.operands[i].access & CS_AC_READ)
				return true;
		return false;
	case CS_ARCH_ARM64:
		if (in->id == ARM64_INS_PRFM || in->id == ARM64_INS_PRFUM || !strncmp(in->mnemonic, "st", 2))
			return false;
		for (i = 0; i < d->arm64.op_count; i++)
			if (d->arm64.operands[i].type == ARM64_OP_MEM)
				return true;
		return false;
	case CS_ARCH_ARM:
		if (!strncmp(in->mnemonic, "st", 2) || !strncmp(in->mnemonic, "pld", 3) ||
		    !strncmp(in->mnemonic, "vst", 3))
			return false;
		for (i = 0; i < d->arm.op_count; i++)
			if (d->arm.operands[i].type == ARM_OP_MEM)
				return true;
		return false;
	case CS_ARCH_PPC:	/* indexed forms have registers only, so the name decides: l*, but li, lis, la */
		return in->mnemonic[0] == 'l' && strcmp(in->mnemonic, "li") && strcmp(in->mnemonic, "lis") &&
		       strcmp(in->mnemonic, "la");
	case CS_ARCH_MIPS:
		return in->mnemonic[0] == 'l' && strcmp(in->mnemonic, "lui") && strcmp(in->mnemonic, "li") &&
		       strcmp(in->mnemonic, "lsa") && strcmp(in->mnemonic, "la");
	case CS_ARCH_SPARC:
		return !strncmp(in->mnemonic, "ld", 2) || !strncmp(in->mnemonic, "cas", 3) ||
		       !strncmp(in->mnemonic, "swap", 4);
	case CS_ARCH_SYSZ:
		if (!strncmp(in->mnemonic, "st", 2) || !strncmp(in->mnemonic, "la", 2) ||
		    !strncmp(in->mnemonic, "pfd", 3))
			return !strncmp(in->mnemonic, "laa", 3) || !strncmp(in->mnemonic, "lan", 3) ||
			       !strncmp(in->mnemonic, "lax", 3) || !strncmp(in->mnemonic, "lao", 3);
		for (i = 0; i < d->sysz.op_count; i++)
			if (d->sysz.operands[i].type == SYSZ_OP_MEM)
				return true;
		return false;
	default:
		return false;
	}
}

static bool insn_reads(struct analysis *a, const struct isa *isa, const uint8_t *p, size_t len)
{
	const uint8_t *q = p;
	size_t left = len;
	uint64_t addr = 0;
	cs_insn *in;
	csh handle;

	if (isa == &isas[ISA_RISCV64] || isa == &isas[ISA_RISCV32])
		return riscv_reads(p, len);
	if (isa == &isas[ISA_LOONGARCH])
		return loongarch_reads(p, len);
	in = open_capstone(a, isa, &handle);
	return in && cs_disasm_iter(handle, &q, &left, &addr, in) && capstone_reads(isa, in);
}

/* Does the loop [start, end) read memory? */
static enum elfscan_reads loop_reads(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t start,
				     uint32_t end, const char **why)
{
	bool calls = false;
	size_t k;

	*why = NULL;
	if (end - start > LOOP_BYTES_MAX || a->decoded_bytes > a->budget_bytes) {
		*why = "the loop is too long to be searched";
		return ELFSCAN_READS_UNKNOWN;
	}
	for (k = insn_index(a, start); k < a->n_insn && a->insn[k].pos < end; k++) {
		a->decoded_bytes += a->insn[k].len;
		if (a->insn[k].flow == INSN_CALL)
			calls = true;
		else if (a->insn[k].flow != INSN_BAD && insn_reads(a, isa, code + a->insn[k].pos, a->insn[k].len))
			return ELFSCAN_READS_YES;
	}
	if (!calls)
		return ELFSCAN_READS_NO;
	*why = "the loop calls a function";
	return ELFSCAN_READS_UNKNOWN;
}

static int compare_targets(const void *a, const void *b)
{
	const struct branch *x = a, *y = b;

	return x->to < y->to ? -1 : x->to > y->to;
}

/*
 * The same of the short loops around @h's. The branches are in order of their targets by now; a loop of at most
 * OUTER_BYTES_MAX around @h begins not far before it.
 */
static enum elfscan_reads outer_reads(struct analysis *a, const struct isa *isa, const uint8_t *code,
				      const struct code_hit *h)
{
	enum elfscan_reads reads = h->reads;
	uint32_t from = h->loop_end > OUTER_BYTES_MAX ? h->loop_end - OUTER_BYTES_MAX : 0;
	size_t low = 0, high = a->n_branches, steps;
	const char *why;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (a->branch[mid].to < from)
			low = mid + 1;
		else
			high = mid;
	}
	for (steps = 0; low < a->n_branches && reads != ELFSCAN_READS_YES && steps < OUTER_STEPS_MAX; low++, steps++) {
		const struct branch *b = &a->branch[low];
		uint32_t bytes = b->from_end - b->to;

		if (b->to > h->loop_start)
			break;
		if (bytes > h->loop_end - h->loop_start && bytes <= OUTER_BYTES_MAX && b->from_end >= h->loop_end)
			reads = loop_reads(a, isa, code, b->to, b->from_end, &why);
	}
	return reads;
}

/* Memory reads and hints of each loop that was assigned. Hits of one loop share the answer. */
static void inspect_loops(struct analysis *a, const struct isa *isa, const uint8_t *code)
{
	size_t i;

	if (a->n_branches)
		qsort(a->branch, a->n_branches, sizeof(a->branch[0]), compare_targets);
	for (i = 0; i < a->n_hits; i++) {
		struct code_hit *h = &a->hit[i];

		if (!h->in_loop)
			continue;
		if (i && h[-1].in_loop && h[-1].loop_start == h->loop_start && h[-1].loop_end == h->loop_end) {
			h->reads = h[-1].reads;
			h->spin = h[-1].spin;
			h->reads_why = h[-1].reads_why;
			h->loop_hints = h[-1].loop_hints;
			continue;
		}
		h->loop_hints = (uint32_t)(hit_at_or_after(a, h->loop_end) - hit_at_or_after(a, h->loop_start));
		h->reads = loop_reads(a, isa, code, h->loop_start, h->loop_end, &h->reads_why);
		h->spin = outer_reads(a, isa, code, h);
	}
}

/* Hits that count only under conditions: barriers in loops, privileged ones on request. */
static void drop_by_condition(struct analysis *a, const struct isa *isa, bool privileged, bool looped)
{
	size_t i, kept = 0;

	for (i = 0; i < a->n_hits; i++) {
		unsigned int when = isa->hints[a->hit[i].hint].when;

		if ((when == HINT_PRIVILEGED && !privileged) ||
		    (looped && (when == HINT_IN_LOOP || when == HINT_LOOP_CERTAIN) && !a->hit[i].in_loop))
			continue;
		a->hit[kept++] = a->hit[i];
	}
	a->n_hits = kept;
}

void analysis_run(struct analysis *a, const struct isa *isa, const uint8_t *code, uint32_t size, const uint32_t *roots,
		  size_t n_roots, unsigned int flags)
{
	bool complete = flags & ANALYSE_FOLLOW && !(flags & (ANALYSE_KERNEL | ANALYSE_LANDING)),
	     privileged = flags & ANALYSE_PRIVILEGED;
	size_t i;

	if (flags & ANALYSE_FOLLOW) {
		if (a->state_room < (size_t)size + ELFSCAN_INSN_MAX + 1) {
			a->state_room = (size_t)size + size / 2 + ELFSCAN_INSN_MAX + 1;
			a->state = util_realloc(a->state, a->state_room, 1);
		}
		memset(a->state, 0, (size_t)size + ELFSCAN_INSN_MAX + 1);
		for (i = 0; i < n_roots; i++)
			if (roots[i] < size)
				a->state[roots[i]] |= ST_ROOT;
		follow_flow(a, isa, code, size, roots, n_roots);
		list_insns(a, isa, code, size, !(flags & ANALYSE_UNSURE));
	} else {
		list_linear(a, isa, code, size, roots, n_roots);
	}
	drop_by_condition(a, isa, privileged, false);
	if (a->n_hits && isa->follow)
		drop_data(a, flags & ANALYSE_EXACT && !(flags & ANALYSE_LANDING), flags & ANALYSE_KERNEL);
	if (!a->n_hits)
		return;
	collect_branches(a, isa);
	assign_loops(a);
	for (i = 0; i < a->n_insn && complete; i++)
		complete = a->insn[i].flow != INSN_INDIRECT && a->insn[i].flow != INSN_BAD;
	if (complete)
		check_cycles(a);
	drop_by_condition(a, isa, privileged, true);
	inspect_loops(a, isa, code);
}

void analysis_free(struct analysis *a)
{
	size_t i;

	free(a->state);
	free(a->stack);
	free(a->insn);
	free(a->hit);
	free(a->branch);
	free(a->work);
	for (i = 0; i < ISA_COUNT; i++)
		if (a->cs_insn[i]) {
			cs_free(a->cs_insn[i], 1);
			cs_close(&a->cs[i]);
		}
	*a = (struct analysis){ 0 };
}
