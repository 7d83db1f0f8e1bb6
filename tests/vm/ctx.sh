# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# klog-allow: traps: perf-relax\[[0-9]+\] general protection fault
# Context-switch rings on a machine that surely forbids the TSC when told to, with tasks of both ABIs; also by a user, and as root under SCHED_FIFO.
fail() { echo "FAIL: $*"; exit 1; }
perf-relax ctx -q -r 3 --tsc=none,both,one >/tmp/out 2>/tmp/err || fail "TSC arms: $(cat /tmp/out /tmp/err)"
grep -q 'counter: enforced' /tmp/out || fail "the TSC is not forbidden: $(cat /tmp/out)"
if [ -e /bin/perf-relax-ctx-32 ]; then
	perf-relax ctx -q -r 3 --abi=64,32 --tsc=none,one -n 3 -s 4 >/tmp/out 2>/tmp/err || fail "both ABIs: $(cat /tmp/out /tmp/err)"
	grep -q 'tsc=one abi=32 *[0-9]' /tmp/out || fail "no value for 32-bit tasks: $(cat /tmp/out)"
	for via in pipe futex eventfd socketpair; do
		perf-relax ctx -q -r 1 --abi=32 --via $via >/tmp/out 2>/tmp/err || fail "32-bit tasks, $via: $(cat /tmp/err)"
		perf-relax ctx -q -r 1 --abi=32 --via $via --threads >/tmp/out 2>/tmp/err || fail "32-bit threads, $via: $(cat /tmp/err)"
	done
	# A helper that is not there, and one that is something else.
	mkdir /tmp/alone && cp /bin/perf-relax /tmp/alone/
	/tmp/alone/perf-relax ctx -q -r 1 --abi=64,32 >/tmp/out 2>/tmp/err || fail "no helper: $(cat /tmp/err)"
	grep -q 'abi=32 *<not supported>' /tmp/out || fail "no helper, and no reason: $(cat /tmp/out)"
	echo garbage >/tmp/alone/perf-relax-ctx-32 && chmod +x /tmp/alone/perf-relax-ctx-32
	/tmp/alone/perf-relax ctx -q -r 1 --abi=64,32 >/tmp/out 2>/tmp/err || fail "no program as helper: $(cat /tmp/err)"
	grep -q 'abi=32 *<not supported>' /tmp/out || fail "no program as helper, and no reason: $(cat /tmp/out)"
fi
perf-relax ctx -q -r 2 --policy=other,fifo >/tmp/out 2>/tmp/err || fail "policies: $(cat /tmp/out /tmp/err)"
grep -q 'policy=fifo *[0-9]' /tmp/out || fail "no SCHED_FIFO for root: $(cat /tmp/out)"
su user -c 'perf-relax ctx -q -r 2 --policy=other,fifo' >/tmp/out 2>/tmp/err || fail "user: $(cat /tmp/out /tmp/err)"
grep -q 'policy=fifo *<not supported>' /tmp/out || fail "a user with SCHED_FIFO: $(cat /tmp/out)"
su user -c 'ulimit -n 20 && perf-relax ctx -q -r 1 -n 96' >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "20 descriptors: $(cat /tmp/out /tmp/err)"
perf-relax ctx -q -r 1 --place cross-cpu --tsc=none,both >/tmp/out 2>/tmp/err || fail "cross-cpu: $(cat /tmp/err)"
perf-relax ctx --window 10000 -n 4 >/dev/null 2>&1 &
sleep 3
kill -9 $!
sleep 1
ps | grep -v grep | grep -q perf-relax && fail "left running: $(ps)"
echo finished
