#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The verdict keeps its promise in simulated experiments, the same program sees the customary way fail, and the table in perf-relax-verdict(7) is what
# the program prints. Short here; `make check-full` sets PERF_RELAX_SIM_EXPERIMENTS=10000.
. "$(dirname "$0")/lib.sh"

simulate=$builddir/tests/sim/simulate
page=$srcdir/man/perf-relax-verdict.7
[ -x "$simulate" ] || broken "$simulate is not built (make check builds it)"
# An emulator runs it some twenty times slower.
experiments=${PERF_RELAX_SIM_EXPERIMENTS:-$([ -n "${PERF_RELAX_RUNNER:-}" ] && echo 100 || echo 500)}
limit=$((TEST_TIMEOUT + experiments / 5))

# run OUTPUT OPTIONS...: status in $status
run() {
	local out=$1
	shift
	# shellcheck disable=SC2086 # the runner is a command with options
	timeout "$limit" ${PERF_RELAX_RUNNER:-} "$simulate" --experiments "$experiments" "$@" >"$tmp/$out" 2>"$tmp/$out.err"
	status=$?
}

# kept NAME OUTPUT: all lines within the promise
kept() {
	if [ "$status" -eq 0 ] && grep -q ': kept$' "$tmp/$2"; then
		pass "$1"
	else
		fail "$1" "status $status" "$(grep -E 'TOO MANY|BROKEN' "$tmp/$2")" "$(tail -n 3 "$tmp/$2.err")"
	fi
}

run looks
cat "$tmp/looks"
kept "$experiments experiments a line, 100 rounds, the usual looks" looks

run fixed --single-look --rounds 30
kept "$experiments experiments a line, 30 rounds, one look" fixed

# Other random numbers than those the widening for dependence was tuned with.
run other --seed 20261130 --model arm-ar1-0.5
kept "dependent effects with another seed" other

run customary --customary --model drift
if [ "$status" -eq 1 ] && grep -q 'BROKEN$' "$tmp/customary" && grep -q 'TOO MANY' "$tmp/customary"; then
	pass "means of one arm after the other, looked at again and again, are found wrong"
else
	fail "means of one arm after the other, looked at again and again, are found wrong" "status $status" "$(cat "$tmp/customary")"
fi

run unknown --model no-such-noise
if [ "$status" -eq 2 ] && grep -q "no-such-noise" "$tmp/unknown.err"; then
	pass "an unknown model is wrong usage"
else
	fail "an unknown model is wrong usage" "status $status" "$(cat "$tmp/unknown.err")"
fi

run roff --roff --model constant
if [ "$status" -eq 0 ] && [ "$(grep -c '^\.It constant Ta .* Ta ' "$tmp/roff")" -eq 3 ] && tail -n 1 "$tmp/roff" | grep -qx '\.El'; then
	pass "--roff prints a list for the page"
else
	fail "--roff prints a list for the page" "status $status" "$(cat "$tmp/roff")"
fi

# The page's table against the first run: the same lines (up to 2 m), and each rate within five standard errors of the smaller run, at the worst.
compare_page() {
	awk -v n="$experiments" '
		FNR == 1 { file++ }
		file == 1 && $2 == "0" { seen[$1 " 0"] = $3 " " $4 " " $5 " " $6; lines++ }
		file == 1 && $3 == "m" && $2 <= 2 { seen[$1 " " $2 " m"] = $4 " " $5 " " $6 " " $7; lines++ }
		/\\" simulate table/ { inside = !inside; next }
		file == 2 && inside && /^\.It [a-z]/ {
			sub(/^\.It /, "")
			split($0, cell, / Ta /)
			key = cell[1] " " cell[2]
			if (!(key in seen)) { print "only in the page: " key; bad = 1; next }
			found++
			split(seen[key], run, " ")
			for (i = 1; i <= 4; i++) {
				difference = cell[i + 2] - run[i]
				if (difference < 0) difference = -difference
				if (difference > 100 * 5 * sqrt(0.25 / n)) { print key ": page " cell[i + 2] ", this run " run[i]; bad = 1 }
			}
		}
		END { if (!lines || found != lines) { print found + 0 " of " lines + 0 " lines are in the page"; bad = 1 } exit bad }
	' "$tmp/looks" "$page"
}
if seen=$(compare_page); then
	pass "the table in the page is what the program prints"
else
	fail "the table in the page is what the program prints" "$seen"
fi

finish
