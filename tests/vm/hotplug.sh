# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# CPUs that go and come: before a run, and in the middle of one.
fail() { echo "FAIL: $*"; exit 1; }
cpu1=/sys/devices/system/cpu/cpu1/online
[ "$(nproc)" = 2 ] || fail "two CPUs, not $(nproc)"
perf-relax stat -q -r 3 -C 1 pause nop >/tmp/out 2>/tmp/err || fail "CPU 1: $(cat /tmp/err)"

echo 0 >$cpu1 || fail "CPU 1 cannot be switched off"
perf-relax stat -q -r 3 -C 1 pause nop >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "an offline CPU: $(cat /tmp/out /tmp/err)"
grep -qi 'offline\|not online' /tmp/err || fail "an offline CPU: $(cat /tmp/err)"
perf-relax stat -q -r 3 pause nop >/tmp/out 2>/tmp/err || fail "with one CPU: $(cat /tmp/err)"
insmod /lib/modules/perf_relax.ko
perf-relax irq -q -r 3 -C 1 cli sti >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "irq on an offline CPU: $(cat /tmp/err)"
kmod-test busy 0 50 || fail "the module with one CPU"
echo 1 >$cpu1

# In the middle: whatever the tool makes of it, it ends, and says so when it could not go on.
n=0
while [ $n -lt 3 ]; do
	timeout 60 perf-relax irq -q --time 20 -r 100000 -C 1 cli sti >/tmp/out 2>/tmp/err &
	pid=$!
	sleep 2
	echo 0 >$cpu1 || fail "CPU 1 cannot be switched off"
	wait $pid
	status=$?
	[ $status = 4 ] || [ $status = 3 ] || fail "irq when its CPU goes: status $status $(cat /tmp/err)"
	[ -s /tmp/err ] || fail "irq when its CPU goes: no word"
	cat /tmp/err
	echo 1 >$cpu1
	n=$((n + 1))
done
timeout 60 perf-relax stat -q --time 6 -C 1 pause nop >/tmp/out 2>/tmp/err &
pid=$!
sleep 2
echo 0 >$cpu1
wait $pid
status=$?
[ $status -ne 124 ] && [ $status -lt 128 ] || fail "stat when its CPU goes: status $status"
echo 1 >$cpu1

# Users of the module on a CPU that goes up and down.
kmod-test busy 1 >/tmp/busy 2>&1 &
busy=$!
i=0
while [ $i -lt 10 ]; do
	echo 0 >$cpu1
	echo 1 >$cpu1
	i=$((i + 1))
done
kill -9 $busy 2>/dev/null
wait $busy 2>/dev/null
rmmod perf_relax || fail "cannot be unloaded"
[ "$(nproc)" = 2 ] || fail "CPU 1 is not back"
echo finished
