/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The door to the report: options from the surroundings, and which format does it.
 */
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report-private.h"

/*
 * The program itself stays in the C locale, so that numbers are the same everywhere; only the character set is asked
 * for.
 */
static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return utf8;
}

void report_options_init(struct report_options *o, FILE *f)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

	memset(o, 0, sizeof(*o));
	o->ascii = !locale_is_utf8();
	o->colour = isatty(fileno(f)) && !(no_color && *no_color) && term && strcmp(term, "dumb");
}

int report_print(FILE *f, const struct result *r, const struct report_options *o, struct reason *why)
{
	struct result *one = (struct result *)(uintptr_t)r;	/* the formats only read */

	return report_print_many(f, &one, 1, o, why);
}
