# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# 32-bit programs on a 64-bit kernel: the probes of i386, and the module's interface through the compatibility entry.
fail() { echo "FAIL: $*"; exit 1; }
test-probes-32 >/tmp/out 2>&1 || { cat /tmp/out; fail "probes"; }
grep -q ' passed, 0 failed' /tmp/out || { cat /tmp/out; fail "probes: nothing was tested"; }
insmod /lib/modules/perf_relax.ko
kmod-test-32 list >/tmp/out32 || { cat /tmp/out32; fail "list"; }
kmod-test list >/tmp/out64 || { cat /tmp/out64; fail "list, 64 bit"; }
cmp /tmp/out32 /tmp/out64 || fail "32 and 64 bit see different cases"
kmod-test-32 run >/tmp/out || { cat /tmp/out; fail "run"; }
kmod-test-32 refuse || fail "refuse"
kmod-test-32 fuzz 20000 || fail "fuzz"
rmmod perf_relax
echo finished
