#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax scan --kernel on a running Debian kernel, in an emulated machine. What the guest's own test does is in tests/scan/vm-kernel.sh.
. "$(dirname "$0")/vm/host.sh"

[ "$(uname -m)" = x86_64 ] || cannot_run vm-x86_64 "the programs built here are not for x86-64"
have qemu-system-x86_64 || cannot_run vm-x86_64 "no qemu-system-x86_64 (package qemu-system-x86)"
bash "$vm" --arch x86_64 --fetch >/dev/null 2>"$tmp/fetch" || cannot_run vm-x86_64 "$(tail -n 1 "$tmp/fetch")"
guest "x86_64 6.1" vm --arch x86_64 --smp 2 --mem 2G --timeout 400 --test-timeout 300 --program "$PERF_RELAX" --run "$srcdir/tests/scan/vm-kernel.sh"
finish
