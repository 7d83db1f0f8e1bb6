# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The module under pressure: many users, wrong requests, unloading while it works, users that are killed.
set -e
ko=/lib/modules/perf_relax.ko
fail() { echo "FAIL: $*"; exit 1; }

insmod $ko
kmod-test concurrent
kmod-test fuzz "${FUZZ:-100000}"

# In use: rmmod says so, and the work goes on.
kmod-test busy 0 &
busy=$!
i=0
while [ "$(cut -d' ' -f3 /sys/module/perf_relax/refcnt 2>/dev/null || echo 0)" = 0 ] && [ $i -lt 50 ]; do usleep 20000; i=$((i + 1)); done
n=0
while [ $n -lt 20 ]; do
	if rmmod perf_relax 2>/tmp/rmmod.err; then fail "unloaded under a user"; fi
	grep -qi -e 'temporarily unavailable' -e busy -e 'in use' /tmp/rmmod.err || fail "rmmod said: $(cat /tmp/rmmod.err)"
	n=$((n + 1))
done
kill -0 $busy || fail "the user did not survive rmmod"

# kill -9 in the middle of a run: the reference goes with the process.
kill -9 $busy
wait $busy 2>/dev/null || true
rmmod perf_relax || fail "still in use after its user was killed"

n=0
while [ $n -lt 20 ]; do
	insmod $ko
	kmod-test busy 0 &
	busy=$!
	usleep $((n * 7000))
	kill -9 $busy
	wait $busy 2>/dev/null || true
	rmmod perf_relax || fail "round $n"
	n=$((n + 1))
done
echo "20 rounds of kill -9 and unload"

# Loading and unloading against a crowd that opens, runs and closes all the time.
n=0
( while :; do kmod-test busy 0 3 >/dev/null 2>&1 || true; done ) &
crowd=$!
while [ $n -lt 30 ]; do
	insmod $ko 2>/dev/null || true
	rmmod perf_relax 2>/dev/null || true
	n=$((n + 1))
done
kill $crowd
wait $crowd 2>/dev/null || true
i=0
while grep -q '^perf_relax ' /proc/modules && ! rmmod perf_relax 2>/dev/null && [ $i -lt 50 ]; do usleep 100000; i=$((i + 1)); done
grep -q '^perf_relax ' /proc/modules && fail "cannot be unloaded in the end"
echo finished
