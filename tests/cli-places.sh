#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Bad places: no counters for each of the reasons there are, few file descriptors, a forbidden time-stamp counter, one CPU, a foreign locale, full
# and closed outputs. Each works or says what is wrong; none hangs, crashes, or prints a number that was not measured.
. "$(dirname "$0")/lib.sh"

[ -z "${PERF_RELAX_RUNNER:-}" ] || skip_all native "needs the machine's own kernel, not an emulator"
confine=$builddir/tests/confine
[ -x "$confine" ] || broken "no $confine (make check builds it)"

# A short measurement of probes that every architecture has.
short=(stat -r 6 --time 2 chain-add chain-mul)
never='[^a-z]nan[^a-z]|egmentation|ssertion'

relax "${short[@]}"
is "a plain short run" 0 out 'chain-mul' noout "$never"

# Each way in which perf_event_open(2) fails. Clocks go on; the event is named with its own reason.
for errno in EPERM EACCES ENOENT ENODEV ENXIO ENOSYS EOPNOTSUPP EINVAL EBUSY EMFILE; do
	run "$confine" --deny perf_event_open=$errno -- "$PERF_RELAX" "${short[@]}"
	if [ "$status" -eq 77 ]; then
		skip seccomp "stat with perf_event_open failing with $errno" "$err"
		continue
	fi
	is "stat without events, perf_event_open gives $errno" 0 out 'chain-mul' noout "$never" noerr "$never"
	run "$confine" --deny perf_event_open=$errno -- "$PERF_RELAX" "${short[@]}" -e cycles
	seen=$out$err
	case $status in
	0 | 3) pass "stat -e cycles, $errno: ends with status 0 or 3" ;;
	*) fail "stat -e cycles, $errno: ends with status 0 or 3" "status $status" "$seen" ;;
	esac
	check "stat -e cycles, $errno: names the event as not supported, or refuses it" grep -Eq 'not supported|cycles' <<<"$seen"
	case $errno in
	EMFILE) check "$errno is never taken for a want of permission" test -z "$(grep -iE 'permission|paranoid' <<<"$seen")" ;;
	ENOSYS) check "$errno: no sysctl is advised" test -z "$(grep -iE 'paranoid' <<<"$seen")" ;;
	esac
	run "$confine" --deny perf_event_open=$errno -- "$PERF_RELAX" list meters
	is "list meters, $errno" 0 out 'ns' noout "$never"
done

# File descriptors: enough to start, too few for many events.
events=$(printf 'cpu-clock,%.0s' {1..40})
run "$confine" --nofile 12 -- "$PERF_RELAX" "${short[@]}" -e "${events%,}"
seen=$out$err
check "few file descriptors: ends by itself" test "$status" -ne 124
check "few file descriptors: no crash" test "$status" -lt 126
check "few file descriptors: is not taken for a want of permission" test -z "$(grep -iE 'permission' <<<"$seen")"

# The time-stamp counter forbidden to this process.
if instrumented; then
	skip uninstrumented "a forbidden TSC" "the sanitizer itself reads the vDSO's clock, and so the counter"
elif [ "$(uname -m)" = x86_64 ]; then
	if ${CC:-cc} -shared -fPIC -o "$tmp/no-tsc.so" "$srcdir/tests/no-tsc.c" 2>"$tmp/cc"; then
		run env LD_PRELOAD="$tmp/no-tsc.so" "$PERF_RELAX" "${short[@]}"
		is "a forbidden TSC: ns go on" 0 out 'chain-mul' noout "$never"
		run env LD_PRELOAD="$tmp/no-tsc.so" "$PERF_RELAX" list meters
		is "a forbidden TSC: list says so" 0 out 'ticks +<not supported>'
		run env LD_PRELOAD="$tmp/no-tsc.so" "$PERF_RELAX" stat -r 6 --time 2 rdtsc
		is "a forbidden TSC: rdtsc is refused by name" 3 err 'rdtsc'
		run env LD_PRELOAD="$tmp/no-tsc.so" "$PERF_RELAX" lock -r 3 --hint none
		is "a forbidden TSC: lock goes on without latencies" 0 out 'acquisitions' noout "$never"
		run env LD_PRELOAD="$tmp/no-tsc.so" "$PERF_RELAX" run -r 3 -- true
		# The command inherits the prohibition, and its loader may die of it: that is the command's status. The report is ours.
		check "a forbidden TSC: run reports" grep -q '^perf relax run: 1 arm, 3 rounds' <<<"$err"
	else
		skip cc "a forbidden TSC" "no shared object can be built: $(head -n 1 "$tmp/cc")"
	fi
else
	skip x86 "a forbidden TSC" "only x86 can forbid its counter"
fi

# One allowed CPU, and not the first.
last=$(sed 's/.*[,-]//' /sys/devices/system/cpu/online)
if [ "${last:-0}" -gt 0 ] && have taskset; then
	run taskset -c "$last" "$PERF_RELAX" "${short[@]}"
	is "only CPU $last is allowed" 0 out 'chain-mul'
	run taskset -c "$last" "$PERF_RELAX" "${short[@]}" -C 0
	check "a CPU that is not allowed is refused" test "$status" -ne 0
	check "and named" grep -Eq '(^|[^0-9])0([^0-9]|$)' <<<"$err"
else
	skip cpus "only the last CPU is allowed" "there is one CPU, or no taskset"
fi
relax "${short[@]}" -C 99999
check "a CPU that does not exist is refused" test "$status" -ne 0
check "and named" grep -q 99999 <<<"$err"

# Lists of CPUs that are none; numbers out of range name their option.
for list in '' ',' 5-2 0,0 x -1 0- 18446744073709551616; do
	relax "${short[@]}" -C "$list"
	is "-C '$list' is refused" 2 err '.' noout .
done
for pair in '-r 0' '-r -1' '-r 1e30' '-r 0x10' '-r 5x' '-r 18446744073709551616' '--time 0' '--time -1' '--time nan' '--time inf' \
	'--margin 0' '--margin -1' '--margin x' '--confidence 0' '--confidence 100' '--confidence 101' '--seed -1' '--seed x'; do
	option=${pair% *}
	relax stat chain-add "$option" "${pair#* }"
	is "$pair is refused and the option named" 2 err "${option#--}" noout .
done
for value in '' ' 5' '5 '; do
	relax stat chain-add -r "$value"
	is "-r '$value' is refused" 2 err '-r' noout .
done

# Names.
relax stat no-such-probe
is "an unknown probe" 2 err 'no-such-probe' noout .
relax stat chain-ad
is "a misspelt probe: the nearest" 2 err 'chain-add' noout .
relax "${short[@]}" -e no_such_event
is "an unknown event" 2 err 'no_such_event'
for event in ',' ',,' 'CYCLES:zz=1' "$(printf 'x%.0s' {1..5000})" '%s%n' 'cpu/' '{cycles' 'r'; do
	relax "${short[@]}" -e "$event"
	is "-e '${event:0:20}' is refused" 2 err .
done
foreign=yield
[ "$(uname -m)" = x86_64 ] || foreign=rep-nop
relax stat $foreign
is "a hint of another architecture is refused with its reason" 3 err "$foreign"

# Outputs.
run bash -c '"$@" >/dev/full' bash "$PERF_RELAX" "${short[@]}"
is "stat to a full disk" 4 err 'No space left'
run bash -c '"$@" >&-' bash "$PERF_RELAX" "${short[@]}"
check "stat to a closed stdout does not crash or hang" test "$status" -le 4
relax "${short[@]}" -o /dev/full
is "-o on a full disk" 4 err '.'
relax "${short[@]}" -o "$tmp/no/such/folder/x.json"
check "-o into a folder that is not there fails" test "$status" -ne 0
check "and is named" grep -q 'no/such/folder' <<<"$err"
relax "${short[@]}" -o "$tmp/result.json"
is "-o writes the result" 0
check "the result file is there" test -s "$tmp/result.json"
check "and nothing else is left beside it" test "$(find "$tmp" -name '*result*' | wc -l)" -eq 1
check "it has no NaN or infinity" test -z "$(grep -wiE 'nan|inf|infinity' "$tmp/result.json")"
if have python3; then
	check "it is strict JSON" python3 -c 'import json, sys
json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit("constant " + c))' "$tmp/result.json"
fi

for locale in de_DE.UTF-8 C.UTF-8; do
	run env LC_ALL=$locale LC_NUMERIC=$locale "$PERF_RELAX" "${short[@]}" -x ,
	is "numbers keep their point in locale $locale" 0
done

# Interrupted: ends soon, says that it is partial. (--foreground: one signal; without, timeout sends two, and the second means "at once".)
for signal in INT TERM HUP; do
	run timeout --foreground -s $signal 2 "$PERF_RELAX" stat --time 60 -r 100000 chain-add chain-mul
	seen=$out$err
	check "SIG$signal ends a run with what there is" test "$status" -eq 124 -a -n "$out"
	check "SIG$signal: marked partial" grep -qi 'partial' <<<"$seen"
done

finish
