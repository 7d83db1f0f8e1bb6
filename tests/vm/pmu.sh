# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 with -icount: a hardware PMU whose counts are exact. ICOUNT is the shift: cycles are instructions << ICOUNT.
fail() { echo "FAIL: $*"; exit 1; }
nowhere() { perf-relax "$@" >/tmp/out 2>/tmp/err; }

pmu-test all "$ICOUNT" || fail "the machine itself"
pmu-test all "$ICOUNT" >/dev/null || fail "the machine itself, second time"

# The meters, by their own test: every probe's instructions are whole and as many as its bytes say, cycles are instructions << shift, groups,
# multiplexing within 0.5 %, a group that does not fit, user-space reads.
echo 1 >/proc/sys/kernel/perf_user_access
PERF_RELAX_EXACT_COUNTS=$ICOUNT PERF_RELAX_USER_READS=1 test-meter-perf >/tmp/meter 2>&1 || { cat /tmp/meter; fail "test-meter-perf"; }
grep SKIPPED /tmp/meter && { cat /tmp/meter; fail "test-meter-perf skips what is there"; }
# Without permission to read in user space: the same values by read(2).
echo 0 >/proc/sys/kernel/perf_user_access
PERF_RELAX_EXACT_COUNTS=$ICOUNT test-meter-perf >/tmp/meter 2>&1 || { cat /tmp/meter; fail "test-meter-perf, read(2)"; }
test-probes >/tmp/probes 2>&1 || { cat /tmp/probes; fail "test-probes"; }

# stat: whole instructions an operation. A call of the long loop and one of the short loop differ by an instruction or two beside the operations, which
# is one in a million here; the text shows whole numbers.
nowhere stat -q -r 7 -x , nop yield isb dmb none wfe chain-add cmpxchg xadd || fail "stat: $(cat /tmp/err)"
cat /tmp/out
awk -F, '$3 ~ /\/instructions\/$/ { n++; d = $1 - int($1 + 0.5); if (d > 1e-4 || d < -1e-4) { print "not whole: " $0; bad = 1 } }
	END { exit bad || n < 9 }' /tmp/out || fail "stat: instructions are not whole"
for want in nop:1 yield:1 isb:1 dmb:1 none:0 wfe:2 chain-add:1; do
	awk -F, -v probe="${want%:*}" -v want="${want#*:}" '$3 == probe "/instructions/" { seen = 1; d = $1 - want; if (d > 1e-4 || d < -1e-4) bad = 1 }
		END { exit bad || !seen }' /tmp/out || fail "stat: ${want%:*} is not ${want#*:} instructions"
done
nowhere stat -q -r 7 nop wfe cmpxchg || fail "stat: $(cat /tmp/err)"
cat /tmp/out
for want in nop:1 wfe:2; do
	grep -qE "^ *${want%:*} .* ${want#*:}(\.0+)?( |\$)" /tmp/out || fail "stat shows no whole number for ${want%:*}"
done
nowhere stat -q -r 3 nop isb || fail "stat: $(cat /tmp/err)"
grep -q 'cycles~' /tmp/out && fail "cycles are estimated although there is a counter: $(cat /tmp/out)"

# A code that counts nothing: opened, read as 0, called implausible.
nowhere stat -r 3 -e instructions,r00f3 nop isb || fail "raw: $(cat /tmp/err)"
cat /tmp/out /tmp/err | grep -q '\[implausible\]' || fail "r00f3 is not called implausible: $(cat /tmp/out)"
# No such event here.
nowhere stat -r 3 -e branches nop
[ $? = 3 ] || fail "branches: $(cat /tmp/err)"

# As a user, at each level of perf_event_paranoid (Debian's kernels have 3).
for level in 3 2 1; do
	echo $level >/proc/sys/kernel/perf_event_paranoid
	su user -c "perf-relax stat -q -r 3 nop isb" >/tmp/out 2>/tmp/err || fail "paranoid $level: $(cat /tmp/err)"
	case $level in
	3) grep -q 'cycles~' /tmp/out || fail "paranoid 3: cycles from nowhere: $(cat /tmp/out)" ;;
	*) grep -q 'cycles~' /tmp/out && fail "paranoid $level: cycles are estimated: $(cat /tmp/out)" ;;
	esac
	su user -c "perf-relax stat -q -r 3 -e instructions:u nop isb" >/tmp/out 2>/tmp/err
	status=$?
	if [ $level = 3 ]; then
		[ $status = 3 ] && grep -q 'perf_event_paranoid is 3' /tmp/err || fail "paranoid 3: $status $(cat /tmp/err)"
	else
		[ $status = 0 ] || fail "paranoid $level: $(cat /tmp/err)"
	fi
	su user -c "perf-relax stat -q -r 3 -e cycles:k nop isb" >/tmp/out 2>/tmp/err
	status=$?
	if [ $level = 1 ]; then
		[ $status = 0 ] || fail "paranoid 1, :k: $(cat /tmp/err)"
	else
		[ $status = 3 ] && grep -q "perf_event_paranoid is $level" /tmp/err || fail "paranoid $level, :k: $status $(cat /tmp/err)"
	fi
done
echo finished
