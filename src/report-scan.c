/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Forms of perf relax scan's results: text, CSV, JSON lines, NUL-terminated names.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report-scan.h"

/* Length of the valid UTF-8 sequence at @p (RFC 3629), its character in *@c, or 0. */
static size_t utf8_at(const unsigned char *p, uint32_t *c)
{
	size_t n = *p < 0x80 ? 1 : (*p & 0xe0) == 0xc0 ? 2 : (*p & 0xf0) == 0xe0 ? 3 : (*p & 0xf8) == 0xf0 ? 4 : 0, i;
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };

	if (n <= 1) {
		*c = *p;
		return n;
	}
	*c = *p & (0x7fu >> n);
	for (i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*c = *c << 6 | (p[i] & 0x3f);
	}
	return *c < least[n] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : n;
}

/* Characters that move the cursor or turn the text around are not for a terminal. */
static bool is_printable(uint32_t c)
{
	return c >= 0x20 && (c < 0x7f || c >= 0xa0) && !(c >= 0x200e && c <= 0x200f) && !(c >= 0x2028 && c <= 0x202e) &&
	       !(c >= 0x2066 && c <= 0x2069);
}

static void put_escaped(FILE *f, const char *s, bool backslash)
{
	const unsigned char *p = (const unsigned char *)s;

	while (*p) {
		uint32_t c;
		size_t n = utf8_at(p, &c), i;

		if (n && *p == '\\' && backslash) {
			fputs("\\\\", f);
		} else if (n && is_printable(c)) {
			fwrite(p, 1, n, f);
		} else if (*p == '\n') {
			fputs("\\n", f);
		} else if (*p == '\t') {
			fputs("\\t", f);
		} else {
			for (i = 0; i < (n ? n : 1); i++)
				fprintf(f, "\\x%02x", p[i]);
		}
		p += n ? n : 1;
	}
}

char *report_scan_escape(const char *s)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return util_strdup("?");
	put_escaped(f, s, true);
	fclose(f);
	return text;
}

/* A JSON string. What is not UTF-8 cannot be in one: \xNN as text; json_name() gives the exact bytes beside it. */
static void put_json(FILE *f, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	if (!s) {
		fputs("null", f);
		return;
	}
	fputc('"', f);
	while (*p) {
		uint32_t c;
		size_t n = utf8_at(p, &c);

		if (!n)
			fprintf(f, "\\\\x%02x", *p);
		else if (*p == '"' || *p == '\\')
			fprintf(f, "\\%c", *p);
		else if (!is_printable(c) && c < 0x10000)
			fprintf(f, "\\u%04" PRIx32, c);
		else
			fwrite(p, 1, n, f);
		p += n ? n : 1;
	}
	fputc('"', f);
}

static bool is_utf8(const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c;
	size_t n;

	for (; *p; p += n) {
		n = utf8_at(p, &c);
		if (!n)
			return false;
	}
	return true;
}

static void json_name(FILE *f, const char *key, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;

	fprintf(f, "\"%s\":", key);
	put_json(f, s);
	if (!s || is_utf8(s))
		return;
	fprintf(f, ",\"%s_hex\":\"", key);
	for (; *p; p++)
		fprintf(f, "%02x", *p);
	fputc('"', f);
}

/* RFC 4180; what is not UTF-8 as \xNN, so that readers do not stumble. */
static void put_csv(FILE *f, const struct scan_style *style, const char *s)
{
	const unsigned char *p = (const unsigned char *)s;
	bool quote =
		s[0] == ' ' || strstr(s, style->csv_sep) || s[strcspn(s, "\"\r\n")] || (*s && s[strlen(s) - 1] == ' ');

	if (quote)
		fputc('"', f);
	while (*p) {
		uint32_t c;
		size_t n = utf8_at(p, &c);

		if (!n) {
			fprintf(f, "\\x%02x", *p);
			n = 1;
		} else {
			if (*p == '"')
				fputc('"', f);
			fwrite(p, 1, n, f);
		}
		p += n;
	}
	if (quote)
		fputc('"', f);
}

static void csv_row(FILE *f, const struct scan_style *style, const char *const *field, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i)
			fputs(style->csv_sep, f);
		put_csv(f, style, field[i] ? field[i] : "");
	}
	fputc('\n', f);
}

static const char *reads_name(enum elfscan_reads r)
{
	return r == ELFSCAN_READS_YES ? "yes" : r == ELFSCAN_READS_NO ? "no" : "unknown";
}

void report_scan_head(FILE *f, const struct scan_style *style)
{
	static const char *const hit[] = { "file",	    "member",	  "machine",   "section",   "function",
					   "function_from", "offset",	  "address",   "source",    "line",
					   "bytes",	    "hint",	  "certain",   "in_loop",   "loop_bytes",
					   "loop_hints",    "loop_reads", "spin_wait", "confidence" };
	static const char *const sum[] = { "file", "machine", "package", "hints", "in_loop", "spin_waits", "by_hint" };

	if (style->format == SCAN_CSV)
		csv_row(f, style, style->summary ? sum : hit, style->summary ? ARRAY_SIZE(sum) : ARRAY_SIZE(hit));
	else if (style->format == SCAN_TEXT && style->summary)
		fprintf(f, "%8s %8s %8s  %-12s %-24s %-24s %s\n", "hints", "in loops", "spinning", "machine", "which",
			"package", "file");
	else if (style->format == SCAN_TEXT)
		fprintf(f, "  %-12s %-15s %-13s %-8s %-6s %-7s %-8s %s\n", "address", "hint", "bytes", "loop", "hints",
			"spin", "sweep", "function, source");
}

static void hex_bytes(const struct elfscan_hit *h, const char *between, char *text)
{
	unsigned int i;

	text[0] = '\0';
	for (i = 0; i < h->n_bytes; i++)
		text += sprintf(text, "%s%02x", i ? between : "", h->bytes[i]);
}

static void text_hit(FILE *f, const char *file, const struct elfscan_hit *h, bool first)
{
	char bytes[ELFSCAN_INSN_MAX * 3 + 1], loop[32] = "-", hints[32] = "-", hint[64];

	if (first) {
		put_escaped(f, file, true);
		fprintf(f, " (%s)\n", h->machine);
	}
	hex_bytes(h, " ", bytes);
	if (h->in_loop) {
		snprintf(loop, sizeof(loop), "%" PRIu64 " B", h->loop_bytes);
		snprintf(hints, sizeof(hints), "%u", h->loop_hints);
	}
	snprintf(hint, sizeof(hint), "%s%s", h->hint, h->certain ? "" : "?");
	fprintf(f, "  %-12" PRIx64 " %-15s %-13s %-8s %-6s %-7s %-8.*s ", h->address, hint, bytes, loop, hints,
		h->in_loop ? reads_name(h->spin_wait) : "-", (int)strcspn(elfscan_confidence_name(h->confidence), " "),
		elfscan_confidence_name(h->confidence));
	if (h->member) {
		put_escaped(f, h->member, true);
		fputs(": ", f);
	}
	if (h->function) {
		fputs(h->name_from == ELFSCAN_NAME_NEAREST ? "after " : "", f);
		put_escaped(f, h->function, true);
	} else {
		put_escaped(f, h->section ? h->section : "segment", true);
	}
	fprintf(f, "+0x%" PRIx64, h->offset_bytes);
	if (h->source) {
		fputs("  ", f);
		put_escaped(f, h->source, true);
		fprintf(f, ":%u", h->line);
	}
	if (!h->certain)
		fputs("  (another instruction used as a hint?)", f);
	fputc('\n', f);
}

static void csv_hit(FILE *f, const struct scan_style *style, const char *file, const struct elfscan_hit *h)
{
	char offset[32], address[32], line[32] = "", bytes[ELFSCAN_INSN_MAX * 3 + 1], loop[32] = "", hints[32] = "";
	const char *field[] = { file,
				h->member,
				h->machine,
				h->section,
				h->function,
				elfscan_name_from_name(h->name_from),
				offset,
				address,
				h->source,
				line,
				bytes,
				h->hint,
				h->certain ? "true" : "false",
				h->in_loop ? "true" : "false",
				loop,
				hints,
				h->in_loop ? reads_name(h->loop_reads) : "",
				h->in_loop ? reads_name(h->spin_wait) : "",
				elfscan_confidence_name(h->confidence) };

	snprintf(offset, sizeof(offset), "%" PRIu64, h->offset_bytes);
	snprintf(address, sizeof(address), "0x%" PRIx64, h->address);
	hex_bytes(h, "", bytes);
	if (h->source)
		snprintf(line, sizeof(line), "%u", h->line);
	if (h->in_loop) {
		snprintf(loop, sizeof(loop), "%" PRIu64, h->loop_bytes);
		snprintf(hints, sizeof(hints), "%u", h->loop_hints);
	}
	csv_row(f, style, field, ARRAY_SIZE(field));
}

static void json_reads(FILE *f, const char *key, enum elfscan_reads r, const char *why)
{
	if (r == ELFSCAN_READS_UNKNOWN) {
		fprintf(f, ",\"%s\":null,\"%s_why\":", key, key);
		put_json(f, why ? why : "the loop calls a function");
	} else {
		fprintf(f, ",\"%s\":%s", key, r == ELFSCAN_READS_YES ? "true" : "false");
	}
}

static void json_hit(FILE *f, const char *file, const struct elfscan_hit *h)
{
	char bytes[ELFSCAN_INSN_MAX * 3 + 1];

	hex_bytes(h, "", bytes);
	fputc('{', f);
	json_name(f, "file", file);
	if (h->member) {
		fputc(',', f);
		json_name(f, "member", h->member);
	}
	fprintf(f, ",\"machine\":\"%s\",", h->machine);
	json_name(f, "section", h->section);
	fputc(',', f);
	json_name(f, "function", h->function);
	fprintf(f, ",\"function_from\":\"%s\",\"offset\":%" PRIu64 ",\"address\":\"0x%" PRIx64 "\",",
		elfscan_name_from_name(h->name_from), h->offset_bytes, h->address);
	json_name(f, "source", h->source);
	if (h->source)
		fprintf(f, ",\"line\":%u", h->line);
	else
		fputs(",\"line\":null,\"source_why\":\"no line information\"", f);
	fprintf(f, ",\"bytes\":\"%s\",\"hint\":\"%s\",\"certain\":%s,\"in_loop\":%s", bytes, h->hint,
		h->certain ? "true" : "false", h->in_loop ? "true" : "false");
	if (h->in_loop) {
		fprintf(f, ",\"loop_bytes\":%" PRIu64 ",\"loop_hints\":%u", h->loop_bytes, h->loop_hints);
		json_reads(f, "loop_reads", h->loop_reads, h->reads_why);
		json_reads(f, "spin_wait", h->spin_wait, h->reads_why);
	} else {
		fputs(",\"loop_bytes\":null,\"loop_hints\":null,\"loop_reads\":null,\"spin_wait\":null,\"why\":\"not "
		      "in a loop\"",
		      f);
	}
	fprintf(f, ",\"confidence\":\"%s\"}\n", elfscan_confidence_name(h->confidence));
}

void report_scan_hit(FILE *f, const struct scan_style *style, const char *file, const struct elfscan_hit *hit,
		     bool first)
{
	switch (style->format) {
	case SCAN_TEXT:
		text_hit(f, file, hit, first);
		break;
	case SCAN_CSV:
		csv_hit(f, style, file, hit);
		break;
	case SCAN_JSON:
		json_hit(f, file, hit);
		break;
	case SCAN_NUL:
		if (first)
			fwrite(file, 1, strlen(file) + 1, f);
		break;
	}
}

static void by_hint(const struct scan_summary *s, char *text, size_t size)
{
	size_t i, used = 0;

	text[0] = '\0';
	for (i = 0; i < s->n_counts && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s %" PRIu64, i ? ", " : "", s->count[i].hint,
					 s->count[i].n);
}

static void json_summary(FILE *f, const struct scan_summary *s)
{
	size_t i;

	fputc('{', f);
	if (s->file) {
		json_name(f, "file", s->file);
		fputs(",\"machine\":", f);
		put_json(f, s->machine);
		fputc(',', f);
	}
	fputs("\"package\":", f);
	put_json(f, s->package);
	fprintf(f, ",\"hints\":%" PRIu64 ",\"in_loop\":%" PRIu64 ",\"spin_waits\":%" PRIu64 ",\"by_hint\":{", s->n_hits,
		s->n_in_loop, s->n_spin_waits);
	for (i = 0; i < s->n_counts; i++)
		fprintf(f, "%s\"%s\":%" PRIu64, i ? "," : "", s->count[i].hint, s->count[i].n);
	fputs("}}\n", f);
}

void report_scan_summary(FILE *f, const struct scan_style *style, const struct scan_summary *s)
{
	char which[256], hits[32], in_loop[32], spin[32];
	const char *field[] = { s->file, s->machine, s->package, hits, in_loop, spin, which };

	by_hint(s, which, sizeof(which));
	switch (style->format) {
	case SCAN_TEXT:
		fprintf(f, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 "  %-12s %-24s %-24s ", s->n_hits, s->n_in_loop,
			s->n_spin_waits, s->machine ? s->machine : "-", which[0] ? which : "-",
			s->package ? s->package : "-");
		put_escaped(f, s->file, true);
		fputc('\n', f);
		break;
	case SCAN_CSV:
		snprintf(hits, sizeof(hits), "%" PRIu64, s->n_hits);
		snprintf(in_loop, sizeof(in_loop), "%" PRIu64, s->n_in_loop);
		snprintf(spin, sizeof(spin), "%" PRIu64, s->n_spin_waits);
		csv_row(f, style, field, ARRAY_SIZE(field));
		break;
	case SCAN_JSON:
		json_summary(f, s);
		break;
	case SCAN_NUL:
		break;
	}
}

void report_scan_package(FILE *f, const struct scan_style *style, const struct scan_summary *s)
{
	char which[256];

	by_hint(s, which, sizeof(which));
	if (style->format == SCAN_TEXT)
		fprintf(f, "%8" PRIu64 " %8" PRIu64 " %8" PRIu64 "  %-12s %-24s %s\n", s->n_hits, s->n_in_loop,
			s->n_spin_waits, "", which, s->package);
	else if (style->format == SCAN_JSON)
		json_summary(f, s);
}

void report_scan_hints(FILE *f)
{
	struct elfscan_hint_info info;
	size_t i;

	fprintf(f, "%-10s %-15s %-44s %s\n", "machine", "hint", "bytes", "reported");
	for (i = 0; elfscan_hint_info(i, &info); i++)
		fprintf(f, "%-10s %-15s %-44s %s\n", info.machine, info.name, info.bytes, info.when);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

void report_scan_skipped(FILE *f, const struct scan_totals *t)
{
	static const char *const names[SCAN_SKIP_COUNT] = {
		[SCAN_SKIP_NOT_ELF] = "not ELF",
		[SCAN_SKIP_LINK] = "symbolic links",
		[SCAN_SKIP_SPECIAL] = "FIFOs, sockets and devices",
		[SCAN_SKIP_KERNEL_FS] = "kernel file systems",
		[SCAN_SKIP_LOOP] = "loops",
		[SCAN_SKIP_NO_TABLE] = "of machines without a table",
		[SCAN_SKIP_REFUSED] = "core files",
		[SCAN_SKIP_DEBUG] = "debug files without code",
	};
	const char *before = "left out: ";
	size_t i;

	for (i = 0; i < SCAN_SKIP_COUNT; i++)
		if (t->n_skipped[i]) {
			fprintf(f, "%s%" PRIu64 " %s", before, t->n_skipped[i], names[i]);
			before = ", ";
		}
	if (t->n_failed + t->n_cannot)
		fprintf(f, "%s%" PRIu64 " that could not be scanned", *before == ',' ? "; " : "",
			t->n_failed + t->n_cannot);
	if (*before == ',' || t->n_failed + t->n_cannot)
		fputc('\n', f);
}

void report_scan_totals(FILE *f, const struct scan_totals *t, size_t n_needed, bool interrupted)
{
	if (n_needed)
		fprintf(f, "%" PRIu64 " hint%s in the named file%s; %" PRIu64 " in %" PRIu64 " librar%s that %s\n",
			t->n_named_hits, plural(t->n_named_hits), n_needed == 1 ? "" : "s", t->n_library_hits,
			t->n_libraries, t->n_libraries == 1 ? "y" : "ies",
			n_needed == 1 ? "it needs" : "they need");
	fprintf(f,
		"%" PRIu64 " hint%s in %" PRIu64 " of %" PRIu64 " file%s: %" PRIu64 " in loops, %" PRIu64
		" in loops that wait for memory",
		t->n_hits, plural(t->n_hits), t->n_with_hits, t->n_scanned, plural(t->n_scanned),
		t->n_in_loop, t->n_spin_waits);
	if (t->n_data)
		fprintf(f, "; %" PRIu64 " look-alike%s in data", t->n_data, plural(t->n_data));
	if (interrupted)
		fputs("; partial: interrupted", f);
	else if (t->n_partial)
		fprintf(f, "; partial: %" PRIu64 " file%s damaged", t->n_partial,
			t->n_partial == 1 ? " is" : "s are");
	fputc('\n', f);
	report_scan_skipped(f, t);
}
