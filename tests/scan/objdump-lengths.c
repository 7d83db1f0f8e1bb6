/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads what `objdump -d --insn-width=15` prints of an x86 file, and decodes the bytes of each instruction again: is it
 *as long, and is it the same hint? Counts, and shows the first differences that are not in this list of explained ones:
 *
 *	bad       objdump shows (bad) or .byte: data in code, or an instruction that it does not know
 *	prefix    objdump shows prefixes on a line of their own, because what follows does not take them: data in code
 *	fwait     objdump takes fwait (9b) for a prefix of the next x87 instruction; it is an instruction
 *
 * Exit status: 0 no other differences, 1 differences, 2 nothing was read.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "elfscan-private.h"

static bool only_prefixes(const uint8_t *b, size_t n, bool bits64)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (!strchr("\x66\x67\x26\x2e\x36\x3e\x64\x65\xf0\xf2\xf3", b[i]) && !(bits64 && (b[i] & 0xf0) == 0x40))
			return false;
	return true;
}

/* The hint that objdump's words mean, or NULL. Words before the instruction are prefixes. */
static const char *objdump_hint(char *text)
{
	static const char *const prefix[] = { "repz", "repnz", "data16", "addr32", "cs",      "ds",
					      "es",   "ss",    "fs",	 "gs",	   "notrack", "bnd" };
	static const char *const hint[] = { "pause",  "tpause",	   "umwait", "umonitor", "monitorx",
					    "mwaitx", "serialize", "cli",    "sti" };
	char *word, *rest = text;
	size_t i;

	while ((word = strsep(&rest, " \t\n")) != NULL) {
		if (!*word || !strncmp(word, "rex", 3))
			continue;
		for (i = 0; i < ARRAY_SIZE(prefix) && strcmp(word, prefix[i]); i++)
			;
		if (i < ARRAY_SIZE(prefix))
			continue;
		for (i = 0; i < ARRAY_SIZE(hint); i++)
			if (!strcmp(word, hint[i]))
				return hint[i];
		return NULL;
	}
	return NULL;
}

static size_t hex_bytes(const char **p, uint8_t *b)
{
	size_t n = 0;

	while (isxdigit((unsigned char)(*p)[0]) && isxdigit((unsigned char)(*p)[1]) && n < ELFSCAN_INSN_MAX) {
		char two[3] = { (*p)[0], (*p)[1], 0 };

		b[n++] = (uint8_t)strtoul(two, NULL, 16);
		*p += (*p)[2] == ' ' ? 3 : 2;
	}
	return n;
}

int main(int argc, char **argv)
{
	bool bits64 = !(argc > 1 && !strcmp(argv[1], "i386"));
	const struct isa *isa = &isas[bits64 ? ISA_X86_64 : ISA_I386];
	unsigned long n = 0, different = 0, bad = 0, prefixes = 0, fwait = 0, hints = 0;
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, stdin) > 0) {
		uint8_t b[ELFSCAN_INSN_MAX * 2];
		const char *p = strchr(line, '\t'), *theirs, *ours;
		struct insn in;
		size_t len;
		char *text;

		if (!p)
			continue;
		p++;
		memset(b, 0x90, sizeof(b));
		len = hex_bytes(&p, b);
		text = strchr(p, '\t');
		if (!len || !text)
			continue;
		n++;
		if (strstr(text, "(bad)") || strstr(text, ".byte")) {
			bad++;
			continue;
		}
		if (only_prefixes(b, len, bits64)) {
			prefixes++;
			continue;
		}
		text = util_strdup(text);
		theirs = objdump_hint(text);
		isa->decode(isa, b, sizeof(b), &in);
		ours = in.hint < 0				    ? NULL
		       : strstr(isa->hints[in.hint].name, "-pause") ? "pause"
								    : isa->hints[in.hint].name;
		hints += ours != NULL;
		if (b[0] == 0x9b && in.len == 1 && len > 1) {
			fwait++;
		} else if (in.flow == INSN_BAD || in.len != len ||
			   (theirs ? !ours || strcmp(theirs, ours) : ours != NULL)) {
			if (different++ < 20)
				printf("ours: %u bytes, hint %s: %s", in.flow == INSN_BAD ? 0 : in.len,
				       ours ? ours : "none", line);
		}
		free(text);
	}
	free(line);
	printf("%lu instructions, %lu hints, %lu differences; explained: bad %lu, prefix %lu, fwait %lu\n", n, hints,
	       different, bad, prefixes, fwait);
	return !n ? 2 : different != 0;
}
