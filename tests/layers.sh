#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The rules of the tree that a program can check: the five layers of CONTRIBUTING.md (by #include, and by the symbols that the built objects
# really use), who may print, whose each outside library is, file sizes, SPDX lines, line lengths, and that no generated file is in git.
. "$(dirname "$0")/lib.sh"
cd "$srcdir" || broken "no source tree at '$srcdir'"

# Layer of a unit (the file's name without .c or .h). A file that fits nothing here is an error: decide where it belongs.
layer_of() {
	case $1 in
	probes/arch/*) echo arch ;;
	probes/kmod/*) echo module ;;
	probes/*) echo probes ;;
	src/util* | src/stats* | src/verdict* | src/looks | src/histogram) echo pure ;;
	src/sysroot | src/arm-cores) echo base ;;
	src/env* | src/topology* | src/published*) echo service ;;
	src/meter* | src/kmod* | src/elfscan* | src/symbols | src/result* | src/import* | src/disasm | src/sample | src/command) echo service ;;
	src/main | src/cmd | src/cmd-* | src/options | src/session | src/selftest | src/scan*) echo command ;;
	src/experiment* | src/report* | src/ctx-* | src/probe-run | src/*-run | src/lock-* | src/html | src/plot) echo engine ;;
	*) echo unknown ;;
	esac
}

# Units that are one job in several files go by one name: result-json is part of result.
family_of() {
	local name=${1#src/}
	case $name in
	env* | topology* | published*) echo machine ;; # what the machine is, and what is known of it
	util* | stats* | verdict* | meter* | elfscan* | result* | import* | experiment* | report* | kmod*) echo "${name%%-*}" ;;
	symbols) echo elfscan ;; # both are what elfutils knows of a file
	lock-*) echo lock ;;
	cmd-lock*) echo cmd-lock ;;
	scan*) echo scan ;;
	ctx*) echo ctx ;;
	cmd | options) echo options ;;
	*) echo "$name" ;;
	esac
}

# may_use UNIT OTHER: prints nothing when the layers allow it, else why not.
may_use() {
	local from to
	from=$(layer_of "$1")
	to=$(layer_of "$2")
	[ "$(family_of "$1")" != "$(family_of "$2")" ] || return 0
	case $from:$to in
	unknown:* | *:unknown) echo "no layer is known for it: add it to layer_of in tests/layers.sh and say in CONTRIBUTING.md what it may use" ;;
	service:module | command:module)	# the interface of the module, for those who talk to it
		case $1:$2 in
		src/kmod*:probes/kmod/perf_relax_uapi | command:*) ;;
		*) echo "only src/kmod knows the module's interface" ;;
		esac
		;;
	arch:arch | module:arch | module:module) ;;
	arch:*) echo "rule 1: architecture headers include nothing but their neighbours" ;;
	probes:arch | probes:probes) ;;
	probes:*) echo "rule 2: probes know probe.h, arch/arch.h and libc" ;;
	pure:pure) ;;
	pure:*) echo "rule 3: pure parts know libc, libm and libRmath" ;;
	base:pure | base:base) ;;
	base:*) echo "rule 3: tables and readers under services know pure parts only" ;;
	service:pure | service:base | service:arch) ;;
	service:*) echo "rule 3: services know pure parts and the one outside library that is theirs" ;;
	engine:pure | engine:base | engine:service | engine:arch | engine:probes) ;;
	engine:*) echo "rule 4: engines use services and never one another" ;;
	command:command)
		# main reaches the commands through the table, and options and session are what commands share.
		case $1:$2 in
		src/main:* | *:src/cmd | *:src/options | *:src/session | *:src/selftest | src/cmd-scan:src/scan*) ;;
		*) echo "rule 5: commands never use one another" ;;
		esac
		;;
	command:*) ;;
	*) echo "no rule for $from using $to" ;;
	esac
}

sources=$(find src probes -name '*.[ch]' | sort)
[ -n "$sources" ] || broken "no sources found"
mapfile -t source_list <<<"$sources"

# resolve FILE HEADER: the unit that a quoted include means.
resolve() {
	local base
	for base in "$(dirname "$1")" src probes; do
		if [ -e "$base/$2" ]; then
			printf '%s\n' "$base/${2%.[ch]}"
			return
		fi
	done
	case $2 in
	config.h) ;;
	*) printf 'missing/%s\n' "$2" ;;
	esac
}

check_includes() {
	local file line header unit other why bad=0
	while read -r file; do
		unit=${file%.[ch]}
		while IFS= read -r line; do
			header=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]([^">]*)[">].*/\1/' <<<"$line")
			case $line in
			*\"*\"*)
				other=$(resolve "$file" "$header")
				[ -n "$other" ] || continue
				why=$(may_use "$unit" "$other")
				;;
			*)
				why=
				case $unit in probes/arch/*) why="rule 1: architecture headers include nothing" ;; esac
				;;
			esac
			if [ -n "$why" ]; then
				echo "$file includes $header: $why"
				bad=1
			fi
		done < <(grep -E '^[[:space:]]*#[[:space:]]*include' "$file")
	done <<<"$sources"
	return $bad
}
check "includes keep to the layers" check_includes

# Outside libraries: header prefix, symbols (extended regex), units that may use them.
libraries='perf/ ^(perf_evsel__|perf_evlist__|perf_cpu_map__|perf_thread_map__|perf_mmap__|libperf_) src/meter-perf src/meter-pmu src/sample
perfmon/ ^pfm_ src/meter-perf src/meter-pfm src/sample
elfutils/ ^dwfl_ src/symbols src/elfscan
dwarf.h ^dwarf_ src/symbols src/elfscan
libelf.h ^elf(32|64)?_ src/symbols src/elfscan
gelf.h ^gelf_ src/symbols src/elfscan
capstone/ ^cs_ src/elfscan src/disasm
jansson.h ^json_ src/result src/import
Rmath.h ^([pqd](norm|t|signrank|wilcox|binom|chisq|beta|gamma)|[pqd](norm|t|beta|gamma)[0-9]*(_both)?)$ src/stats src/verdict src/looks'

# owner UNIT ALLOWED...: is UNIT one of them, or of the same family?
owner() {
	local unit=$1 allowed
	shift
	for allowed in "$@"; do
		case $unit in "$allowed" | "$allowed"-*) return 0 ;; esac
	done
	return 1
}

check_library_headers() {
	local header symbols allowed file bad=0
	while read -r header symbols allowed; do
		while read -r file; do
			# shellcheck disable=SC2086 # a list of units
			if ! owner "${file%.[ch]}" $allowed; then
				echo "$file includes <$header...>, which only these may: $allowed"
				bad=1
			fi
		done < <(grep -lE "^[[:space:]]*#[[:space:]]*include[[:space:]]*<$header" "${source_list[@]}")
	done <<<"$libraries"
	return $bad
}
check "each outside library has one owner" check_library_headers

# The same by symbols: what the objects really call, however it was declared. readelf reads every machine's objects.
declare -A defined=()
objects=
if have readelf && [ -d "$builddir/src" ]; then
	objects=$(cd "$builddir" && find src probes -name '*.o' ! -name 'perf_relax_ctx_32-*' 2>/dev/null | sort)
fi

symbols_of() {	# OBJECT WHICH: names that it defines (DEF) or needs (UND)
	readelf -sW "$builddir/$1" | awk -v which="$2" '
		$5 == "GLOBAL" || $5 == "WEAK" { if (($7 == "UND") == (which == "UND") && $8 != "") { sub(/@.*/, "", $8); print $8 } }' | sort -u
}

probe_forbidden='clock_gettime|clock_nanosleep|nanosleep|gettimeofday|time|f?printf(_chk)?|write|f?puts|fopen(64)?|sqrt|log|exp'

check_symbols() {
	local object unit symbol other why header symbols allowed bad=0
	while read -r object; do
		while read -r symbol; do defined[$symbol]=${object%.o}; done < <(symbols_of "$object" DEF)
	done <<<"$objects"
	while read -r object; do
		unit=${object%.o}
		[ -e "$unit.c" ] || continue	# left from an earlier build
		symbols_of "$object" UND >"$tmp/und"
		while read -r symbol; do
			other=${defined[$symbol]:-}
			[ -n "$other" ] || continue
			why=$(may_use "$unit" "$other")
			if [ -n "$why" ]; then
				echo "$unit uses $symbol of $other: $why"
				bad=1
			fi
		done <"$tmp/und"
		while read -r header symbols allowed; do
			# shellcheck disable=SC2086 # a list of units
			if symbol=$(grep -Em1 "$symbols" "$tmp/und") && [ -z "${defined[$symbol]:-}" ] && ! owner "$unit" $allowed; then
				echo "$unit calls $symbol (<$header>), which only these may: $allowed"
				bad=1
			fi
		done <<<"$libraries"
		# Who prints: main, the commands, reports, and the messages that they share.
		case $unit in
		src/main | src/cmd* | src/options | src/report* | src/html | src/plot | src/util-msg) ;;
		src/result-write) ;;	# the result file is standard output with -o -
		*)
			if symbol=$(grep -Em1 '^(__)?(stdout|stderr|v?printf(_chk)?|puts|putchar|perror|psignal|warnx?|errx?)$' "$tmp/und"); then
				echo "$unit prints (it uses $symbol); only main, cmd-*, report* and the messages of util do"
				bad=1
			fi
			;;
		esac
		# Rule 2: no clock, output or statistics in probes. calls.c measures clock_gettime itself; ctx-ring.c passes its token by write.
		case $unit in
		probes/*)
			if symbol=$(grep -Em1 "^($probe_forbidden)\$" "$tmp/und") &&
				[ "$unit:$symbol" != probes/calls:clock_gettime ] && [ "$unit:$symbol" != probes/ctx-ring:write ]; then
				echo "$unit uses $symbol: rule 2, probes know no clock, output or statistics"
				bad=1
			fi
			;;
		esac
	done <<<"$objects"
	return $bad
}
if [ -n "$objects" ]; then
	check "symbols keep to the layers, libraries to their owners, and only the right units print" check_symbols
else
	skip objects "symbols keep to the layers" "no objects under '$builddir', or no readelf (binutils)"
fi

# Sources of all kinds that people edit.
tree_files() {
	find src probes tests scripts m4 .ci man configure.ac Makefile.am -type f \
		! -name '*~' ! -name '*.json' ! -name '*.csv' ! -name '*.html' ! -name '*.o' ! -name '*.log' ! -name '*.trs' ! -name '*.Po' \
		! -name .dirstamp ! -path '*/samples/*' ! -path 'tests/sysroot*' 2>/dev/null | sort
}

check_sizes() {
	local bad=0 file lines
	while read -r file; do
		lines=$(wc -l <"$file")
		if [ "$lines" -gt 700 ]; then
			echo "$file has $lines lines; 700 at most"
			bad=1
		fi
	done < <(tree_files)
	return $bad
}
check "no file over 700 lines" check_sizes

check_spdx() {
	local bad=0 file first
	while read -r file; do
		case $file in
		*.md | *.txt | *.in | *.expected) continue ;;
		esac
		first=$(head -n 2 "$file")
		case $file in
		*.[chS]) first=$(head -n 1 "$file") ;;
		esac
		case $first in
		*"SPDX-License-Identifier: GPL-2.0-only"*) ;;
		*)
			echo "$file does not begin with SPDX-License-Identifier: GPL-2.0-only"
			bad=1
			;;
		esac
		if [ "$(grep -c 'SPDX-License-Identifier:' "$file")" -gt 1 ] && [ "$file" != tests/layers.sh ]; then
			echo "$file has more than one SPDX line"
			bad=1
		fi
		if grep -qiE 'This program is free software|WITHOUT ANY WARRANTY' "$file" && [ "$file" != tests/layers.sh ]; then
			echo "$file has a licence text; the SPDX line is enough"
			bad=1
		fi
	done < <(tree_files)
	return $bad
}
check "every source begins with its SPDX line, and no licence text stands elsewhere" check_spdx

check_style() {
	local bad=0 file seen
	while read -r file; do
		# The aim is 120 columns; what is far beyond is an error, but for rows of tables (X macros) and the text of pages.
		case $file in
		man/*) seen= ;;
		*) seen=$(expand "$file" | awk '!/^ *X?[A-Z_]*\(/ && length($0) > 160 { print FNR; exit }') ;;
		esac
		if [ -n "$seen" ]; then
			echo "$file:$seen: line is longer than 160 columns; aim at 120"
			bad=1
		fi
		if seen=$(grep -nEm1 '[[:blank:]]+$' "$file"); then
			echo "$file:${seen%%:*}: blanks at the end of the line"
			bad=1
		fi
		case $file in
		*.[ch])
			if seen=$(grep -nEm1 '^typedef +(struct|union|enum)' "$file"); then
				echo "$file:${seen%%:*}: no typedef'd structs"
				bad=1
			fi
			;;
		esac
	done < <(tree_files)
	return $bad
}
check "lines end clean and fit, no typedef'd structs" check_style

if have git && git -C "$srcdir" rev-parse --is-inside-work-tree >/dev/null 2>&1 &&
	[ "$(git -C "$srcdir" rev-parse --show-toplevel)" = "$(pwd -P)" ]; then
	generated='configure|Makefile\.in|aclocal\.m4|config\.h\.in|build-aux/.*|.*\.(o|a|so|ko|log|trs|orig|rej)|.*~'
	check_git() {
		! git ls-files | grep -v '/samples/' | grep -E "(^|/)($generated)\$"
	}
	check "no generated file is in git" check_git
else
	skip git "no generated file is in git" "not a git checkout"
fi

finish
