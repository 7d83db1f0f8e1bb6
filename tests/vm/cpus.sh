# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash disable=SC2086 # $short is several words
# CPUs that go and come, CPU 0 among them where the kernel allows it, and SMT switched off, on a real kernel. Wants 4 CPUs; with --smp 4,cores=2,threads=2
# on x86-64 the sibling tests run too.
fail() { echo "FAIL: $*"; exit 1; }
sys=/sys/devices/system/cpu
short="-q -r 3 chain-add nop"
[ "$(cat $sys/online)" = 0-3 ] || { echo "needs 4 CPUs, has $(cat $sys/online)"; exit 77; }

# item KEY: its value, as `check` describes the machine whose root is / (this one).
item() { perf-relax check -v --sysroot / | sed -n "s/^  $1  *//p"; }
# expect KEY VALUE
expect() { [ "$(item "$1")" = "$2" ] || fail "$1: '$(item "$1")', not '$2'"; }
# refused TEXT ARG...: a usage or cannot status, and TEXT on stderr.
refused() {
	text=$1
	shift
	perf-relax stat $short "$@" >/tmp/out 2>/tmp/err
	status=$?
	case $status in
	2 | 3) ;;
	*) fail "stat $*: status $status: $(cat /tmp/out /tmp/err)" ;;
	esac
	grep -q "$text" /tmp/err || fail "stat $*: no '$text' in: $(cat /tmp/err)"
}
works() {
	perf-relax stat $short "$@" >/tmp/out 2>/tmp/err || fail "stat $*: status $?: $(cat /tmp/out /tmp/err)"
	grep -q chain-add /tmp/out || fail "stat $*: $(cat /tmp/out)"
}

expect cpus 0-3
expect cpus_allowed 0-3
works -C 3

echo 0 >$sys/cpu1/online || fail "CPU 1 cannot be taken offline"
expect cpus 0,2-3
expect cpus_allowed 0,2-3
refused 'CPU 1 is not online' -C 1
refused 'CPU 1 is not online' -C 0-3
refused 'CPUs 1,4-9 are not online' -C 0-9
works -C 2
works
taskset -c 2 perf-relax stat $short >/tmp/out 2>/tmp/err || fail "only CPU 2 is allowed: $(cat /tmp/err)"
taskset -c 2 perf-relax stat $short -C 3 >/tmp/out 2>/tmp/err && fail "CPU 3 was used though not allowed"
grep -q 'CPU 3 is not allowed' /tmp/err || fail "CPU 3 not allowed: $(cat /tmp/err)"
echo 1 >$sys/cpu1/online

if echo 0 2>/dev/null >$sys/cpu0/online; then
	expect cpus 1-3
	refused 'CPU 0 is not online' -C 0
	works
	works -C 1
	echo 1 >$sys/cpu0/online
	echo "CPU 0 was offline"
else
	echo "CPU 0 cannot be taken offline here"
fi

case $(cat $sys/smt/control) in
on)
	expect smt on
	echo off >$sys/smt/control || fail "SMT cannot be switched off"
	expect smt 'off (control: off)'
	online=$(cat $sys/online)
	expect cpus "$online"
	[ "$online" = 0,2 ] || fail "online without SMT: $online"
	refused 'CPU 3 is not online' -C 3
	works -C 0,2
	echo on >$sys/smt/control
	expect cpus 0-3
	echo "SMT was off"
	;;
*) echo "no SMT here: $(item smt)" ;;
esac
