#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Build the companion module for a guest's kernel. usage: vm-module.sh ARCH OUT.ko [--suite SUITE] [--flavour FLAVOUR]
# Exit: 0 done, 1 does not build, 77 kernel headers or compiler cannot be had.
set -u
here=$(cd "$(dirname "$0")" && pwd)
arch=$1 out=$2
shift 2
dir=$("$here/vm-fetch.sh" "$arch" --headers "$@") || exit $?
case $arch in
x86_64) karch=x86_64 cross=x86_64-linux-gnu- ;;
aarch64) karch=arm64 cross=aarch64-linux-gnu- ;;
*) echo "vm-module: no module for guests of $arch" >&2; exit 77 ;;
esac
[ "$(uname -m)" = "$arch" ] && cross=''
command -v "${cross}gcc" >/dev/null || { echo "vm-module: ${cross}gcc is missing" >&2; exit 77; }
abi=$(cat "$dir/abi")
"$here/../probes/kmod/build.sh" --kdir "$dir/root/usr/src/linux-headers-$abi" --out "$out" ARCH=$karch CROSS_COMPILE=$cross
status=$?
case $status in 0) exit 0 ;; 3 | 6) exit 77 ;; *) exit 1 ;; esac
