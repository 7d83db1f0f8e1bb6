#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An emulated x86-64 machine with Debian's kernel: the companion module and `irq`, tracepoints with stacks, users without rights, CPU hotplug, 32-bit
# programs. Needs QEMU and the network at first (downloads are kept). What the guest's own tests do is in tests/vm/.
# shellcheck disable=SC2154 # builddir comes from lib.sh
. "$(dirname "$0")/vm/host.sh"

[ "$(uname -m)" = x86_64 ] || cannot_run vm-x86_64 "the programs built here are not for x86-64"
have qemu-system-x86_64 || cannot_run vm-x86_64 "no qemu-system-x86_64 (package qemu-system-x86)"
bash "$vm" --arch x86_64 --fetch >/dev/null 2>"$tmp/fetch" || cannot_run vm-x86_64 "$(tail -n 1 "$tmp/fetch")"
here=$srcdir/tests/vm

module "x86_64 6.1" vm x86_64 "$tmp/perf_relax.ko" || finish

# The same by the ways that users have: make module, and DKMS with what make install puts in place.
cache=$(bash "$vm" --arch x86_64 --fetch)
abi=$(cat "$cache/abi")
kdir=$cache/root/usr/src/linux-headers-$abi
if [ -e "$builddir/Makefile" ]; then
	make_module() {
		make -C "$builddir" module KDIR="$kdir" && make -C "$builddir" module-install DESTDIR="$tmp/dest" KRELEASE="$abi" &&
			cmp "$builddir/perf_relax.ko" "$tmp/dest/lib/modules/$abi/updates/perf_relax.ko"
		local status=$?
		rm -f "$builddir/perf_relax.ko"
		return $status
	}
	check "make module, make module-install" make_module
	if have dkms; then
		dkms_build() {
			make -C "$builddir" install-dist_kmodDATA install-kmodarchDATA install-dist_pkgdataDATA DESTDIR="$tmp/dkms" pkgdatadir=/perf-relax-1 \
				kmoddir=/perf-relax-1/kmod kmodarchdir=/perf-relax-1/arch && mkdir -p "$tmp/dkms/tree" &&
				dkms add perf-relax/1 --dkmstree "$tmp/dkms/tree" --sourcetree "$tmp/dkms" &&
				timeout 120 dkms build perf-relax/1 -k "$abi" --kernelsourcedir "$kdir" --dkmstree "$tmp/dkms/tree" --sourcetree "$tmp/dkms" &&
				test -s "$tmp/dkms/tree/perf-relax/1/$abi/x86_64/module/perf_relax.ko"
		}
		check "DKMS builds the installed source" dkms_build
	else
		skip dkms "DKMS builds the installed source" "no dkms"
	fi
else
	skip builddir "make module" "no build folder '$builddir'"
fi

static "${CC:-gcc}" kmod-test "$here/kmod-test.c"
static "${CC:-gcc}" trace-test "$here/trace-test.c"
static "${CC:-gcc}" without-cap "$here/without-cap.c"
args=(--arch x86_64 --smp 2 --timeout 900 --test-timeout 400 --kernel-module "$tmp/perf_relax.ko"
	--program "$PERF_RELAX" --program "$tmp/guest/kmod-test" --program "$tmp/guest/trace-test" --program "$tmp/guest/without-cap"
	--run "$here/kmod-basic.sh" --run "$here/kmod-classic.sh" --run "$here/kmod-stress.sh"
	--run "$here/trace.sh" --run "$here/ctx.sh" --run "$here/users.sh" --run "$here/hotplug.sh")
if have i686-linux-gnu-gcc; then
	static i686-linux-gnu-gcc kmod-test-32 "$here/kmod-test.c"
	static i686-linux-gnu-gcc test-probes-32 "$srcdir/tests/unit/test-probes.c" "$srcdir"/probes/*.c
	args+=(--program "$tmp/guest/kmod-test-32" --program "$tmp/guest/test-probes-32" --run "$here/m32.sh")
else
	skip vm "x86_64 6.1: 32-bit programs" "no i686-linux-gnu-gcc (packages gcc-i686-linux-gnu libc6-dev-i386-cross)"
fi
if [ -x "$builddir/perf-relax-ctx-32" ]; then
	args+=(--program "$builddir/perf-relax-ctx-32")
fi
# Last: it switches module loading off.
guest "x86_64 6.1" vm "${args[@]}" --run "$here/irq.sh"

# Cores with two threads, so that SMT can be switched off.
guest "x86_64 SMT" vm --arch x86_64 --cpu Skylake-Client --smp 4,cores=2,threads=2 --timeout 500 --test-timeout 400 --program "$PERF_RELAX" \
	--run "$here/cpus.sh"

# The same module source on a newer kernel and on one with PREEMPT_RT.
for kernel in "6.12:--suite bookworm-backports" "6.1-rt:--flavour rt-amd64"; do
	label="x86_64 ${kernel%%:*}"
	read -ra which <<<"${kernel#*:}"
	mkdir -p "$tmp/other"
	if module "$label" vm x86_64 "$tmp/other/perf_relax.ko" "${which[@]}"; then
		guest "$label" vm --arch x86_64 "${which[@]}" --smp 2 --timeout 300 --test-timeout 200 --kernel-module "$tmp/other/perf_relax.ko" \
			--program "$tmp/guest/kmod-test" --param ROUNDS=5 --param FUZZ=20000 --run "$here/kmod-basic.sh" --run "$here/kmod-stress.sh"
	fi
done
finish
