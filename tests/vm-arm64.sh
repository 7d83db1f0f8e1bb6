#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# An emulated arm64 machine whose PMU counts exactly (QEMU -icount): meters, stat, and the module's kernel counters, to the digit. Needs QEMU, a cross
# compiler, and the network at first. PERF_RELAX_ARM64_BUILD: a complete arm64 build to use, else one is made (scripts/cross-build).
. "$(dirname "$0")/vm/host.sh"

have qemu-system-aarch64 || cannot_run vm-arm64 "no qemu-system-aarch64 (package qemu-system-arm)"
have aarch64-linux-gnu-gcc || cannot_run vm-arm64 "no aarch64-linux-gnu-gcc (packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross)"
bash "$vm" --arch aarch64 --fetch >/dev/null 2>"$tmp/fetch" || cannot_run vm-arm64 "$(tail -n 1 "$tmp/fetch")"
here=$srcdir/tests/vm

build=${PERF_RELAX_ARM64_BUILD:-}
if [ -z "$build" ]; then
	build=$tmp/arm64
	timeout 900 bash "$srcdir/scripts/cross-build" --build "$build" aarch64 >"$tmp/build.log" 2>&1
	status=$?
	[ $status != 77 ] || cannot_run vm-arm64 "$(tail -n 1 "$tmp/build.log")"
	[ $status = 0 ] || { fail "arm64 build" "$(tail -n 20 "$tmp/build.log")"; finish; }
fi
make -C "$build" tests/unit/test-meter-perf tests/unit/test-probes check_PROGRAMS= >"$tmp/build.log" 2>&1 ||
	{ fail "arm64 build of tests" "$(tail -n 20 "$tmp/build.log")"; finish; }
sysroot=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/perf-relax/sysroot-arm64

module "arm64 6.1" vm-arm64 aarch64 "$tmp/perf_relax.ko" || finish
static aarch64-linux-gnu-gcc kmod-test "$here/kmod-test.c"
static aarch64-linux-gnu-gcc pmu-test "$here/pmu-test.c"
static aarch64-linux-gnu-gcc without-cap "$here/without-cap.c"
programs=(--sysroot "$sysroot" --kernel-module "$tmp/perf_relax.ko" --program "$build/perf-relax" --program "$build/tests/unit/test-meter-perf"
	--program "$build/tests/unit/test-probes" --program "$tmp/guest/kmod-test" --program "$tmp/guest/pmu-test" --program "$tmp/guest/without-cap")

# One CPU: with -icount the count is machine-wide.
guest "arm64 icount 0" vm-arm64 --arch aarch64 --icount 0 --smp 1 --timeout 600 --test-timeout 300 "${programs[@]}" --param ICOUNT=0 \
	--run "$here/pmu.sh" --run "$here/kmod-exact.sh" --run "$here/kmod-classic.sh"
# Another known ratio: eight cycles an instruction.
guest "arm64 icount 3" vm-arm64 --arch aarch64 --icount 3 --smp 1 --timeout 400 --test-timeout 300 "${programs[@]}" \
	--param ICOUNT=3 --run "$here/pmu-ratio.sh"
guest "arm64 without a PMU" vm-arm64 --arch aarch64 --cpu cortex-a57,pmu=off --icount 0 --smp 1 \
	--timeout 300 --test-timeout 200 "${programs[@]}" --run "$here/pmu-off.sh"
# Two CPUs, host time: the module under pressure, and irq.
guest "arm64" vm-arm64 --arch aarch64 --smp 2 --timeout 900 --test-timeout 400 "${programs[@]}" --param ROUNDS=50 --param FUZZ=100000 \
	--run "$here/kmod-basic.sh" --run "$here/kmod-stress.sh" --run "$here/irq.sh"

# Here CPU 0 can go offline.
guest "arm64 four CPUs" vm-arm64 --arch aarch64 --smp 4 --timeout 500 --test-timeout 400 \
	--sysroot "$sysroot" --program "$build/perf-relax" --run "$here/cpus.sh"

mkdir -p "$tmp/other"
module "arm64 6.12" vm-arm64 aarch64 "$tmp/other/perf_relax.ko" --suite bookworm-backports
finish
