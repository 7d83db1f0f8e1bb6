/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The search for bytes that could be a hint: all bytes of all code go through here, so this is what the speed of a scan
 * is made of.
 */
#include <string.h>

#include "elfscan-private.h"

/* Vectors of the compiler: SSE2, AVX2, NEON, AltiVec or plain words, as the target has them. */
#define VEC 32
#define BLOCK (2 * VEC)
typedef uint8_t vec __attribute__((vector_size(VEC)));

#define MAX_PAIRS 8
#define INLINE static inline __attribute__((always_inline))

static const struct byte_pair x86_privileged_pair = { 0xfa, 0xfe, 0, 0xfa, 0xfe };

struct pairs {
	struct byte_pair pair[MAX_PAIRS];
	vec v0[MAX_PAIRS], m0[MAX_PAIRS], v1[MAX_PAIRS], m1[MAX_PAIRS];
	size_t n, reach;
	bool x86;
};

INLINE void load(vec *v, const uint8_t *p)
{
	memcpy(v, p, VEC);
}

INLINE bool any(const vec *v)
{
	uint64_t w[VEC / 8];

	memcpy(w, v, VEC);
	return w[0] | w[1] | w[2] | w[3];
}

/* Where in the VEC bytes at @p a pair matches. */
INLINE void match(const struct pairs *s, const uint8_t *p, vec *found)
{
	vec acc = {}, a, b;
	size_t k;

	for (k = 0; k < s->n; k++) {
		load(&a, p);
		load(&b, p + s->pair[k].dist);
		acc |= (vec)(((a & s->m0[k]) == s->v0[k]) & ((b & s->m1[k]) == s->v1[k]));
	}
	*found = acc;
}

/*
 * Could a pair of x86's table match in the VEC bytes at @p? Cheaper than match(), and mostly no: there is no 90, no 0f
 * 01 and no ae f0..f7.
 */
INLINE void glance_x86(const uint8_t *p, vec *found)
{
	vec a, b;

	load(&a, p);
	load(&b, p + 1);
	*found |= (vec)(b == 0x90) | (vec)((a == 0x0f) & (b == 0x01)) | (vec)((a == 0xae) & ((b & 0xf8) == 0xf0));
}

INLINE bool matches_at(const struct isa *isa, const struct pairs *s, const uint8_t *p, size_t n, size_t i)
{
	size_t k;

	for (k = 0; k < s->n; k++)
		if ((p[i] & s->pair[k].m0) == s->pair[k].v0 && n - i > s->pair[k].dist &&
		    (p[i + s->pair[k].dist] & s->pair[k].m1) == s->pair[k].v1)
			return !isa->candidate || isa->candidate(p, p + i, p + n);
	return false;
}

INLINE size_t search(const struct isa *isa, const struct pairs *s, const uint8_t *p, size_t n, size_t i)
{
	while (i < n) {
		uint8_t at[BLOCK];
		vec first, second, both;
		size_t k;

		if (n - i < BLOCK + s->reach)
			break;
		if (s->x86) {
			both = (vec){};
			glance_x86(p + i, &both);
			glance_x86(p + i + VEC, &both);
			if (!any(&both)) {
				i += BLOCK;
				continue;
			}
		}
		match(s, p + i, &first);
		match(s, p + i + VEC, &second);
		both = first | second;
		if (any(&both)) {
			memcpy(at, &first, VEC);
			memcpy(at + VEC, &second, VEC);
			for (k = 0; k < BLOCK; k++)
				if (at[k] && (!isa->candidate || isa->candidate(p, p + i + k, p + n)))
					return i + k;
		}
		i += BLOCK;
	}
	for (; i < n; i++)
		if (matches_at(isa, s, p, n, i))
			return i;
	return n;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static size_t search_avx2(const struct isa *isa, const struct pairs *s,
							  const uint8_t *p, size_t n, size_t i)
{
	return search(isa, s, p, n, i);
}
#define HAVE_AVX2() __builtin_cpu_supports("avx2")
#else
#define search_avx2 search
#define HAVE_AVX2() false
#endif

size_t isa_search(const struct isa *isa, bool privileged, const uint8_t *p, size_t n, size_t from)
{
	struct pairs s = { .n = isa->n_pairs, .x86 = isa->candidate && !privileged };
	size_t k;

	memcpy(s.pair, isa->pairs, s.n * sizeof(s.pair[0]));
	if (privileged && isa->candidate)
		s.pair[s.n++] = x86_privileged_pair;
	for (k = 0; k < s.n; k++) {
		s.v0[k] = (vec){} + s.pair[k].v0;
		s.m0[k] = (vec){} + s.pair[k].m0;
		s.v1[k] = (vec){} + s.pair[k].v1;
		s.m1[k] = (vec){} + s.pair[k].m1;
		if (s.pair[k].dist > s.reach)
			s.reach = s.pair[k].dist;
	}
	return HAVE_AVX2() ? search_avx2(isa, &s, p, n, from) : search(isa, &s, p, n, from);
}
