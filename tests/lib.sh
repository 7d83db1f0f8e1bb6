# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What test scripts share. A script begins with
#	. "$(dirname "$0")/lib.sh"
# names each check, and ends with `finish`. Exit: 0 pass, 1 fail, 77 everything skipped, 99 the test itself is broken.
#
# Lines "ok - NAME", "not ok - NAME", "skip - NAME: reason" are counted by scripts/test.
# From the environment (make check sets it; else guessed): PERF_RELAX (the program), PERF_RELAX_RUNNER (an emulator to run it with),
# PERF_RELAX_SRCDIR, PERF_RELAX_BUILDDIR, and PERF_RELAX_TEST_REQUIRE: names of needs whose absence is a failure and not a skip.
set -u
export LC_ALL=C

tests_passed=0
tests_failed=0
tests_skipped=0
tests_finished=

export srcdir builddir
srcdir=${PERF_RELAX_SRCDIR:-$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)}
builddir=${PERF_RELAX_BUILDDIR:-$PWD}
PERF_RELAX=${PERF_RELAX:-$builddir/perf-relax}
# No single command of a test may hang; seconds.
TEST_TIMEOUT=${TEST_TIMEOUT:-120}

tmp=$(mktemp -d "${TMPDIR:-/tmp}/perf-relax-test.XXXXXX") || exit 99
lib_cleanup() {
	local status=$?
	if declare -F cleanup >/dev/null; then cleanup; fi
	rm -rf "$tmp"
	if [ -z "$tests_finished" ] && [ $status -ne 77 ]; then
		echo "not ok - $(basename "$0") ended without 'finish' (status $status)"
		exit 99
	fi
}
trap lib_cleanup EXIT
trap 'exit 99' HUP INT TERM

broken() {
	echo "broken test: $*" >&2
	tests_finished=1
	exit 99
}

pass() {
	tests_passed=$((tests_passed + 1))
	echo "ok - $1"
}

# fail NAME [LINE...]: the further lines say what was seen.
fail() {
	tests_failed=$((tests_failed + 1))
	echo "not ok - $1"
	shift
	local line
	for line in "$@"; do printf '    %s\n' "$line"; done
}

# required NEED: is its absence a failure?
required() {
	case " ${PERF_RELAX_TEST_REQUIRE:-} " in
	*" $1 "*) return 0 ;;
	esac
	return 1
}

# skip NEED NAME REASON: one check that cannot run here.
skip() {
	if required "$1"; then
		fail "$2" "required ($1) but cannot run: $3"
	else
		tests_skipped=$((tests_skipped + 1))
		echo "skip - $2: $3"
	fi
}

# skip_all NEED REASON: the whole script cannot run here.
skip_all() {
	tests_finished=1
	if required "$1"; then
		echo "not ok - $(basename "$0"): required ($1) but cannot run: $2"
		exit 1
	fi
	echo "skip - $(basename "$0"): $2"
	exit 77
}

finish() {
	tests_finished=1
	echo "$(basename "$0"): $tests_passed passed, $tests_failed failed, $tests_skipped skipped"
	[ $((tests_passed + tests_failed + tests_skipped)) -gt 0 ] || broken "no check was made"
	[ $tests_failed -eq 0 ] || exit 1
	[ $tests_passed -gt 0 ] || exit 77
	exit 0
}

# run CMD...: run it without input, for at most TEST_TIMEOUT seconds; $out, $err (texts without final newlines), $status. 124: it hung.
run() {
	ran=$*
	timeout -k 5 "$TEST_TIMEOUT" "$@" </dev/null >"$tmp/out" 2>"$tmp/err"
	status=$?
	out=$(tr -d '\000' <"$tmp/out")
	err=$(tr -d '\000' <"$tmp/err")
}

# relax ARG...: run perf-relax so.
relax() {
	local -a runner=()
	[ -x "$PERF_RELAX" ] || broken "no program '$PERF_RELAX' (run through make check, or set PERF_RELAX)"
	read -ra runner <<<"${PERF_RELAX_RUNNER:-}"
	run ${runner[@]+"${runner[@]}"} "$PERF_RELAX" "$@"
	ran="perf-relax $*"
}

lib_seen() {
	printf '%s\n' "ran: $ran" "status: $status" "stdout: ${out:0:2000}" "stderr: ${err:0:2000}"
}

# is NAME STATUS [out|err|noout|noerr REGEX]...: judge the last run by its exit status and by extended regular expressions.
is() {
	local name=$1 want=$2 which regex text
	local -a wrong=()
	shift 2
	[ "$status" -eq "$want" ] || wrong+=("status is $status, not $want")
	while [ $# -gt 0 ]; do
		[ $# -ge 2 ] || broken "is '$name': '$1' without a regex"
		which=$1 regex=$2
		shift 2
		case $which in
		*out) text=$out ;;
		*err) text=$err ;;
		*) broken "is '$name': unknown '$which'" ;;
		esac
		if grep -Eq -e "$regex" <<<"$text"; then
			[ "$which" = "${which#no}" ] || wrong+=("std${which#no} matches /$regex/ and should not")
		else
			[ "$which" != "${which#no}" ] || wrong+=("std$which does not match /$regex/")
		fi
	done
	if [ ${#wrong[@]} -eq 0 ]; then
		pass "$name"
	else
		local -a lib_lines
		mapfile -t lib_lines < <(lib_seen)
		fail "$name" "${wrong[@]}" "${lib_lines[@]}"
	fi
}

# check NAME CMD...: passes when CMD does (a function of the script, test, grep, ...); shows its output when it does not.
check() {
	local name=$1
	shift
	if "$@" >"$tmp/check" 2>&1; then
		pass "$name"
	else
		local -a lib_lines
		mapfile -t lib_lines < <(head -n 40 "$tmp/check")
		fail "$name" "failed: $*" ${lib_lines[@]+"${lib_lines[@]}"}
	fi
}

# for_everyone: a copy of the program that every user can execute, as $for_everyone; build folders are often private.
for_everyone() {
	for_everyone=$tmp/for-everyone
	[ -x "$for_everyone" ] || { chmod 711 "$tmp" && cp "$PERF_RELAX" "$for_everyone" && chmod 755 "$for_everyone"; } || broken "no copy of $PERF_RELAX"
}

# instrumented: is the program built with a sanitizer? Those read clocks and memory of their own.
instrumented() {
	nm -D "$PERF_RELAX" 2>/dev/null | grep -qE '__(a|t|ub)san_'
}

# have CMD: is there such a program? The administrator's directories count too.
have() {
	PATH=$PATH:/usr/sbin:/sbin command -v "$1" >/dev/null 2>&1
}
