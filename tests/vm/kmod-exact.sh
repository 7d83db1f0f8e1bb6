# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 with -icount: the kernel's own counters, from inside the module, to the digit; twice, since exact means repeatable.
set -e
insmod /lib/modules/perf_relax.ko
kmod-test exact "${ICOUNT:-0}" >/tmp/first || { cat /tmp/first; exit 1; }
kmod-test exact "${ICOUNT:-0}" >/tmp/second || { cat /tmp/second; exit 1; }
cat /tmp/first
cmp /tmp/first /tmp/second
rmmod perf_relax
