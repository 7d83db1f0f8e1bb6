# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The module: load, list, run every case, refuse what is wrong, unload; again and again.
set -e
ko=/lib/modules/perf_relax.ko
fail() { echo "FAIL: $*"; exit 1; }

insmod $ko
[ "$(stat -c %a /dev/perf_relax)" = 600 ] || fail "mode $(stat -c %a /dev/perf_relax)"
kmod-test list
kmod-test run
kmod-test refuse
kmod-test signal
su user -c 'kmod-test denied' || fail "an unprivileged user"
chmod 666 /dev/perf_relax
su user -c 'kmod-test denied' || fail "an unprivileged user, with the node's mode changed"
rmmod perf_relax
[ -e /dev/perf_relax ] && fail "the device outlived the module"

i=0
while [ $i -lt "${ROUNDS:-50}" ]; do
	insmod $ko
	kmod-test list >/tmp/list
	kmod-test run >/tmp/run || { cat /tmp/run; fail "round $i"; }
	rmmod perf_relax
	i=$((i + 1))
done
echo "${ROUNDS:-50} rounds of load, list, run, unload"
