# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Tracepoints with kernel stacks, by root and by users; the tool's own use of tracepoints.
fail() { echo "FAIL: $*"; exit 1; }
trace-test 100 || fail "root"
su user -c 'trace-test 10'
[ $? = 3 ] || fail "a user gets tracepoints at paranoid $(cat /proc/sys/kernel/perf_event_paranoid)"
perf-relax stat -q -r 3 -e sched:sched_switch pause nop >/tmp/out 2>/tmp/err || fail "stat: $(cat /tmp/err)"
grep -q 'sched:sched_switch' /tmp/out || fail "stat shows no tracepoint: $(cat /tmp/out)"
perf-relax stat -q -r 3 -e sched:nonsense pause >/tmp/out 2>/tmp/err
[ $? = 2 ] || fail "an unknown tracepoint: $(cat /tmp/err)"
su user -c 'perf-relax stat -q -r 3 -e sched:sched_switch pause' >/tmp/out 2>/tmp/err
status=$?
[ $status = 3 ] || [ $status = 2 ] || fail "a user's tracepoint: $status"
grep -qiE 'paranoid|permission|denied|may not be read' /tmp/err || fail "a user's tracepoint: $(cat /tmp/err)"
echo finished
