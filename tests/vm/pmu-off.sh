# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 without a PMU (pmu=off): estimated cycles marked as such, and a refusal where an event was named.
fail() { echo "FAIL: $*"; exit 1; }
pmu-test absent || fail "the machine has a PMU"
perf-relax stat -q -r 3 nop isb >/tmp/out 2>/tmp/err || fail "stat: $(cat /tmp/err)"
cat /tmp/out
grep -q 'cycles~' /tmp/out || fail "no estimated cycles"
perf-relax stat -q -r 3 -e cycles nop >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "-e cycles: $(cat /tmp/err)"
cat /tmp/err
grep -q "event 'cycles'" /tmp/err || fail "-e cycles does not say why: $(cat /tmp/err)"
perf-relax check >/tmp/out 2>/tmp/err
status=$?
[ $status -le 1 ] || fail "check: status $status $(cat /tmp/err)"
test-meter-perf >/tmp/meter 2>&1 || { cat /tmp/meter; fail "test-meter-perf"; }
echo finished
