#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Emulated machines of the other architectures (make check-vm-all): every probe runs under a real kernel there, not under qemu-user.
. "$(dirname "$0")/vm/host.sh"
here=$srcdir/tests/vm

for row in ppc64el:powerpc64le-linux-gnu:qemu-system-ppc64 riscv64:riscv64-linux-gnu:qemu-system-riscv64 s390x:s390x-linux-gnu:qemu-system-s390x; do
	IFS=: read -r arch gnu qemu <<<"$row"
	if ! have "$qemu"; then
		skip "vm-$arch" "$arch" "no $qemu (package qemu-system-misc or qemu-system-ppc)"
		continue
	fi
	if ! have "$gnu-gcc"; then
		skip "vm-$arch" "$arch" "no $gnu-gcc (scripts/install-deps cross)"
		continue
	fi
	if ! bash "$vm" --arch "$arch" --fetch >/dev/null 2>"$tmp/fetch"; then
		skip "vm-$arch" "$arch" "$(tail -n 1 "$tmp/fetch")"
		continue
	fi
	static "$gnu-gcc" test-probes "$srcdir/tests/unit/test-probes.c" "$srcdir"/probes/*.c
	static "$gnu-gcc" soft-test "$here/soft-test.c"
	guest "$arch" "vm-$arch" --arch "$arch" --smp 2 --timeout 300 --test-timeout 200 --program "$tmp/guest/test-probes" --program "$tmp/guest/soft-test" \
		--run "$here/probes.sh"
done
finish
