# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Users without rights: everything that needs none works, the rest says what it needs; nothing is left running or loaded.
fail() { echo "FAIL: $*"; exit 1; }
for level in 3 2 1 -1; do
	echo $level >/proc/sys/kernel/perf_event_paranoid
	su user -c 'perf-relax stat -q -r 3 pause rep-nop nop' >/tmp/out 2>/tmp/err || fail "stat at $level: $(cat /tmp/err)"
	grep -q 'reference' /tmp/out || fail "stat at $level: $(cat /tmp/out)"
	su user -c 'perf-relax list' >/tmp/out 2>/tmp/err || fail "list at $level: $(cat /tmp/err)"
	su user -c 'perf-relax check' >/tmp/out 2>/tmp/err
	[ $? -le 1 ] || fail "check at $level: $(cat /tmp/out /tmp/err)"
	# No PMU here: a named event is refused, whoever asks.
	su user -c 'perf-relax stat -q -r 3 -e cycles pause' >/tmp/out 2>/tmp/err
	[ $? = 3 ] || fail "-e cycles at $level: $(cat /tmp/out)"
done
su nobody -c 'cd / && perf-relax stat -q -r 3 -o /cannot-write pause' >/tmp/out 2>/tmp/err
[ $? = 4 ] || fail "a result that cannot be written: $(cat /tmp/err)"
su user -c 'perf-relax irq' >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "irq: $(cat /tmp/err)"
ps | grep -v grep | grep -q perf-relax && fail "left running: $(ps)"
echo finished
