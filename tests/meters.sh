#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Counters and clocks that misbehave, through the program: tests/shim/perf-shim.c gives this machine counters that
# cannot be grouped, mapped or read, that run for part of their time or not at all, and clocks that stand still, fall
# back or jump. tests/cli-places.sh has the refusals.
. "$(dirname "$0")/lib.sh"

[ -z "${PERF_RELAX_RUNNER:-}" ] || skip_all native "needs the machine's own kernel, not an emulator"
[ -x "$PERF_RELAX" ] || broken "no program '$PERF_RELAX' (run through make check, or set PERF_RELAX)"
shim=$tmp/perf-shim.so
${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o "$shim" "$srcdir/tests/shim/perf-shim.c" -ldl 2>"$tmp/cc" ||
	skip_all cc "the shim cannot be built: $(head -n 1 "$tmp/cc")"
if instrumented; then
	skip_all no-sanitizer "a sanitized program wants its own library first, before the shim"
fi
never='[^a-z]-?nan[^a-z]|egmentation|ssertion'
events='{cycles,instructions}'

# shim WORDS ARG...: perf-relax with the shim.
shim() {
	local words=$1
	shift
	run env PERF_SHIM="$words" LD_PRELOAD="$shim" "$PERF_RELAX" "$@"
	ran="PERF_SHIM=$words perf-relax $*"
}
short=(stat -r 6 --time 2 chain-add chain-mul)

# value FILE ARM METRIC: median of the arm's values in a result file, or the reason why there are none.
value() {
	python3 - "$@" 2>&1 <<'PY'
import json, statistics, sys
d = json.load(open(sys.argv[1]), parse_constant=lambda x: sys.exit("not JSON: " + x))
arm = [a for a in d["conditions"][0]["arms"] if a["arm"] == sys.argv[2]][0]
metric = arm["metrics"][sys.argv[3]]
values = [v for v in metric.get("values") or [] if v is not None]
print(statistics.median(values) if values else "none: %s" % metric.get("why"))
PY
}

# What the shim stands on: software events that can be opened.
shim fake "${short[@]}" -e "$events"
if [ "$status" -eq 3 ]; then
	skip_all perf "no event can be opened here: $err"
fi
is "counters that count" 0 out 'instructions' noout "$never"

# A counter that ran a quarter of the time is scaled, by its own times, and marked. The stand-in counts ns of CPU time:
# what the clock says.
shim fake,share=25 "${short[@]}" -e "$events" -o "$tmp/share.json"
is "counters that ran 25 % of the time: marked" 0 out '\[multiplexed\]' noout "$never"
if have python3; then
	scaled=$(value "$tmp/share.json" chain-mul instructions)
	ns=$(value "$tmp/share.json" chain-mul ns)
	# Unscaled it would be a quarter; preemption takes CPU time from under the wall clock, so only that is asked.
	check "and scaled: $scaled for $ns ns" awk -v a="$scaled" -v b="$ns" \
		'BEGIN { exit !(a + 0 > 0.5 * b && a + 0 < 2 * b && b + 0 > 0) }'
else
	skip python3 "scaled values" "no python3 to read the result file with"
fi

# Never scheduled: no number, also where the share of the time reads 100 %.
shim fake,idle "${short[@]}" -e "$events" -o "$tmp/idle.json"
is "counters that never ran: no number" 0 \
	out 'instructions.*<not (counted|supported)>.*never got a hardware counter' noout "$never"
if have python3; then
	seen=$(value "$tmp/idle.json" chain-mul instructions)
	check "and none in the file, with its reason: $seen" grep -q '^none: .*never got a hardware counter' <<<"$seen"
fi

# Opens and reads 0, as raw codes do that the PMU does not know.
shim fake,stuck "${short[@]}" -e "$events"
is "counters that read 0: implausible" 0 out '\[implausible\]' noout "$never"
shim fake "${short[@]}" -e page-faults
is "no page faults in a loop: nothing implausible" 0 noout 'page-faults read 0' noout "$never"

# An end of file (a pinned event in error), and a reading cut short: what is in the buffer is not a count.
for n in 0 8 16; do
	shim fake,short=$n "${short[@]}" -e "$events"
	is "a counter's read gives $n bytes" 0 \
		out 'instructions.*<not (counted|supported)>.*could not be read' noout "$never"
done

# Groups that the PMU cannot hold are taken apart, and no member is lost.
shim fake,member=EINVAL "${short[@]}" -e "$events"
is "members refused: counted one by one" 0 out 'instructions' noout '<not' noerr 'nvalid'
shim fake,few=2 "${short[@]}" -e '{cycles,instructions,branches,cache-misses}'
is "a group larger than the PMU: counted one by one" 0 out 'branches' out 'cache-misses' noout '<not'

# The kernel's part denied: user space alone, under a name that says so; what happens in the kernel only is refused,
# not 0.
for errno in EACCES EPERM; do
	shim fake,kernel=$errno "${short[@]}" -e "$events"
	is "the kernel may not be counted ($errno): user space is, and is named so" 0 \
		out 'instructions:u' noout "$never"
	shim fake,kernel=$errno "${short[@]}" -e cycles:u
	is "cycles:u stays what it is ($errno)" 0 out 'cycles:u' noout 'u:u|uu'
	shim fake,kernel=$errno "${short[@]}" -e cycles:k
	is "cycles:k is refused ($errno)" 3 err 'cycles:k.*perf_event_paranoid' noout "$never"
	shim fake,kernel=$errno "${short[@]}" -e context-switches
	is "context-switches are refused ($errno), for counting in user space gives 0" 3 \
		err 'context-switches.*perf_event_paranoid'
done

# No map: read(2) does.
shim fake,map=EPERM "${short[@]}" -e "$events"
is "counters cannot be mapped: read by system call" 0 out 'instructions' noout '<not'

# Clocks.
for fault in constant backwards jump; do
	shim clock=$fault "${short[@]}"
	check "a clock that is $fault: refused" test "$status" -ne 0
	check "a clock that is $fault: by name" grep -q 'clock unusable: CLOCK_MONOTONIC_RAW' <<<"$err"
	check "a clock that is $fault: no number" test -z "$(grep -E 'chain-mul' <<<"$out")"
done

finish
