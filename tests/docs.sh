#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The documents against the program: commands, options, probes, warnings, exit codes, version; and the examples are run.
#
# Examples are lines that begin with "$ " in ```console blocks of README.md and in the EXAMPLES of the pages: those that run perf relax, and cat, sed,
# printf, cp and mkdir, which make their files; with here-documents. They share one folder. Each must end with status 0, or a comment at its end:
#	# exit N		this status is right
#	# not run: REASON	needs what is absent where tests run
. "$(dirname "$0")/lib.sh"

pages=$srcdir/man
have mandoc || skip_all mandoc "mandoc is missing (package mandoc)"

# render PAGE: plain text.
render() {
	mandoc -Tascii -O width=200 "$1" | sed -e 's/.\x08//g'
}

# sections PAGE REGEX: the text of the sections whose title matches.
sections() {
	render "$1" | awk -v want="$2" '/^[A-Z]/ { on = ($0 ~ want); next } on'
}

relax --list-cmds
is "--list-cmds" 0 out '^list$'
commands=$out
mkdir -p "$tmp/page"
for page in "$pages"/*.[1-9]; do
	[ -e "$page" ] || break
	render "$page" >"$tmp/page/$(basename "$page")"
done

for page in perf-relax.1 perf-relax-probes.7 perf-relax-result.5 perf-relax-verdict.7; do
	check "there is a page $page" test -s "$pages/$page"
done

# Tags of the options, in OPTIONS or in DESCRIPTION: the line of an option is indented and begins with a dash.
page_options() {	# PAGE: every long option tagged there
	sections "$1" 'OPTION|DESCRIPTION' | grep -E '^ +-' | grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

page_pairs() {	# PAGE: "-x --long" of each tag
	sections "$1" 'OPTION|DESCRIPTION' | sed -nE '
		s/^ +-([A-Za-z]),? .*(--[a-z][a-z0-9-]*).*/-\1 \2/p
		s/^ +(--[a-z][a-z0-9-]*).*, -([A-Za-z])\b.*/-\2 \1/p' | sort -u
}

while read -r command; do
	page=$pages/perf-relax-$command.1
	if ! [ -s "$page" ]; then
		fail "command $command has a page" "no man/perf-relax-$command.1"
		continue
	fi
	pass "command $command has a page"
	check "perf-relax.1 names $command" grep -qE "(^|[ (,-])$command\b" "$tmp/page/perf-relax.1"
	relax --list-opts "$command"
	[ "$status" -eq 0 ] || fail "--list-opts $command" "status $status: $err"
	sort -u <<<"$out" >"$tmp/program"
	page_options "$page" >"$tmp/documented"
	check "$command: every option is in its page" test -z "$(comm -23 "$tmp/program" "$tmp/documented" | tee "$tmp/undocumented")"
	[ ! -s "$tmp/undocumented" ] || sed 's/^/    not in the page: /' "$tmp/undocumented"
	check "$command: every option of its page exists" test -z "$(comm -13 "$tmp/program" "$tmp/documented" | tee "$tmp/unknown")"
	[ ! -s "$tmp/unknown" ] || sed 's/^/    not in the program: /' "$tmp/unknown"
	# The letters.
	relax "$command" --help
	is "$command --help" 0 out '^Usage: '
	sed -nE 's/^ +-([A-Za-z]), (--[a-z][a-z0-9-]*).*/-\1 \2/p' <<<"$out" | sort -u >"$tmp/program"
	page_pairs "$page" >"$tmp/documented"
	check "$command: letters and long options go together as documented" diff "$tmp/program" "$tmp/documented"
done <<<"$commands"

# Pages of commands that are gone.
for page in "$pages"/perf-relax-*.1; do
	[ -e "$page" ] || break
	name=$(basename "$page" .1)
	check "page $name.1 is of a command" grep -Fqx "${name#perf-relax-}" <<<"$commands"
done

# Probes of every architecture, from the tables themselves, and those written in C from the program.
relax list hints atomics barriers counters calls chains
is "list of probes" 0
{
	sed -nE 's/^\tX\([a-z_0-9]+, *"([^"]+)".*/\1/p' "$srcdir"/probes/arch/*.h
	sed -nE 's/^  ([a-z][^ ]*) .*/\1/p' <<<"$out"
} | sort -u >"$tmp/probes"
check "probe names were found" test "$(wc -l <"$tmp/probes")" -gt 20
if [ -s "$tmp/page/perf-relax-probes.7" ]; then
	missing=
	while read -r name; do
		grep -qE "(^|[^a-z0-9-])$name([^a-z0-9-]|\$)" "$tmp/page/perf-relax-probes.7" || missing+=" $name"
	done <"$tmp/probes"
	check "perf-relax-probes(7) has every probe" test -z "$missing"
	[ -z "$missing" ] || echo "    missing:$missing"
fi

# The closed list of warnings, and the keys of the environment.
if [ -s "$tmp/page/perf-relax-result.5" ]; then
	missing=
	for id in $(sed -nE '/define RESULT_WARNINGS/,/^$/s/^\tX\([A-Z_0-9]+, *"([^"]+)".*/\1/p' "$srcdir/src/result.h") \
		$(sed -nE '/define ENV_ITEMS/,/^$/s/^\tX\([A-Z_0-9]+, *"([^"]+)".*/\1/p' "$srcdir/src/env.h"); do
		grep -qE "(^|[^a-z0-9_-])$id([^a-z0-9_-]|\$)" "$tmp/page/perf-relax-result.5" || missing+=" $id"
	done
	check "perf-relax-result(5) has every warning and every key of the environment" test -z "$missing"
	[ -z "$missing" ] || echo "    missing:$missing"
fi

# Exit codes, from the enum.
for code in $(sed -nE 's/^\tEXIT_[A-Z]+ = ([0-9]+),.*/\1/p' "$srcdir/src/util.h"); do
	check "perf-relax(1) documents exit status $code" grep -qE "^ +$code( |\$)" <(sections "$pages/perf-relax.1" 'EXIT STATUS')
done

version=$(sed -nE 's/^AC_INIT\(\[perf-relax\], \[([^]]+)\].*/\1/p' "$srcdir/configure.ac")
check "configure.ac has a version" test -n "$version"
check "NEWS has version $version" grep -qE "^Version ${version//./\\.}\b" "$srcdir/NEWS"
relax --version
is "--version" 0 out "^perf-relax ${version//./\\.}$"

# Examples. Real perf in front where there is one; else a stand-in does what perf does with an unknown name. Prints "FILE <tab> COMMAND", the
# lines of a here-document joined by \001.
examples() {
	{
		awk '/^```console/ { on = 1; next } /^```/ { on = 0 } on { print "README.md\t" $0 }' "$srcdir/README.md"
		local page
		for page in "$tmp"/page/*; do
			[ -e "$page" ] || break
			awk -v page="$(basename "$page")" '/^[A-Z]/ { on = /^EXAMPLES/ } on && /^ / { sub(/^ +/, ""); print page "\t" $0 }' "$page"
		done
	} | awk -F'\t' '
		here != "" { text = text "\001" $2; if ($2 == here) { print text; here = "" }; next }
		$2 !~ /^\$ / { next }
		{ text = $0; sub(/\t\$ /, "\t", text); command = text; sub(/^[^\t]*\t/, "", command) }
		command !~ /perf[ -]relax/ && command !~ /^(cat|sed|printf|cp|mkdir) / { next }
		match(command, /<<[A-Za-z'"'"']+/) { here = substr(command, RSTART + 2, RLENGTH - 2); gsub(/'"'"'/, "", here); next }
		{ print text }'
}

if [ -n "${PERF_RELAX_RUNNER:-}" ]; then
	skip native "examples of README and pages" "this is a build for another machine"
	finish
fi
mkdir -p "$tmp/bin" "$tmp/examples"
ln -s "$PERF_RELAX" "$tmp/bin/perf-relax"
if ! have perf; then
	printf '#!/bin/sh\n[ "$1" = relax ] || exit 1\nshift\nexec perf-relax "$@"\n' >"$tmp/bin/perf"
	chmod +x "$tmp/bin/perf"
fi
export PATH=$tmp/bin:$PATH
ran_examples=0
while IFS=$'\t' read -r where line; do
	want=0
	line=${line//$'\001'/$'\n'}
	case $line in
	*"# not run: "*)
		skip example "example of $where: ${line%%#*}" "${line##*# not run: }"
		continue
		;;
	*"# exit "*) want=${line##*# exit } ;;
	esac
	ran_examples=$((ran_examples + 1))
	TEST_TIMEOUT=300 run bash -c "cd '$tmp/examples' && ${line%%# exit *}"
	is "example of $where: ${line%%$'\n'*}" "$want"
done < <(examples)
check "there are examples, and they were run" test "$ran_examples" -gt 0

finish
