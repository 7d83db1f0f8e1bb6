# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 with -icount: the kernel's own counters, from inside the module, to the digit; twice, since exact means repeatable.
set -e
insmod /lib/modules/perf_relax.ko
kmod-test exact "${ICOUNT:-0}" >/tmp/first || { cat /tmp/first; exit 1; }
kmod-test exact "${ICOUNT:-0}" >/tmp/second || { cat /tmp/second; exit 1; }
cat /tmp/first
# What switching bottom halves on costs depends on whether ksoftirqd has work.
grep -v '^bh-off-on ' /tmp/first >/tmp/first.same
grep -v '^bh-off-on ' /tmp/second >/tmp/second.same
cmp /tmp/first.same /tmp/second.same
rmmod perf_relax
