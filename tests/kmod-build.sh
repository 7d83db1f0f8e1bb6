#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Building the companion module where it cannot be built: each cause is told apart, in one line. Needs no kernel: the build folders are made up.
. "$(dirname "$0")/lib.sh"
build=$srcdir/probes/kmod/build.sh
have make || skip_all make "no make"

# kdir NAME RELEASE RECIPE: a build folder whose `make modules` runs RECIPE.
kdir() {
	local d="$tmp/$1"
	mkdir -p "$d/include/generated"
	printf '#define UTS_RELEASE "%s"\n' "$2" >"$d/include/generated/utsrelease.h"
	printf 'modules:\n\t@%s\n' "$3" >"$d/Makefile"
	echo "$d"
}

run sh "$build" --kdir "$tmp/nothing" --out "$tmp/x.ko"
is "no headers" 3 err 'no kernel headers in .*/nothing: install them'
ln -s "$tmp/gone" "$tmp/dangling"
run sh "$build" --kdir "$tmp/dangling" --out "$tmp/x.ko"
is "a link to headers that are gone" 3 err 'dangling points to .*/gone, which does not exist'
run sh "$build" --kdir "$(kdir other 5.0.0-other :)" --release 6.1.0-this --out "$tmp/x.ko"
is "headers of another kernel" 4 err 'is for kernel 5.0.0-other, but the module is for kernel 6.1.0-this'
run sh "$build" --kdir "$(kdir error 6.1.0 \
	'echo "$(M)/perf_relax_main.c:7:10: fatal error: asm/gone.h: No such file or directory" >&2; echo "more: error: noise" >&2; exit 1')" --out "$tmp/x.ko"
is "a compile error" 5 err 'does not compile for kernel 6.1.0: perf_relax_main.c:7:10: fatal error: asm/gone.h' noerr 'noise'
check "it is one line" test "$(wc -l <"$tmp/err")" -eq 1
run sh "$build" --kdir "$(kdir compiler 6.1.0 'echo "/bin/sh: 1: gcc-99: not found" >&2; exit 127')" --out "$tmp/x.ko"
is "no compiler" 6 err 'compiler that this kernel wants is missing: .*gcc-99'
check "failures leave no module" test ! -e "$tmp/x.ko"

# From and to names with blanks; the kernel's build sees none.
mkdir -p "$tmp/a b/kmod" "$tmp/a b/arch"
cp "$srcdir"/probes/kmod/* "$tmp/a b/kmod/"
cp "$srcdir"/probes/arch/*.h "$tmp/a b/arch/"
run env TMPDIR="$tmp/a b" sh "$tmp/a b/kmod/build.sh" \
	--kdir "$(kdir good 6.1.0 'case "$(M)" in *" "*) exit 9 ;; esac; test -s "$(M)/../arch/arch.h" && echo built >"$(M)/perf_relax.ko"')" \
	--out "$tmp/a b/out dir/perf_relax.ko"
is "blanks in names" 0
check "the module is where it was asked for" test -s "$tmp/a b/out dir/perf_relax.ko"
check "and nothing is left in the folder for temporary files" test -z \
	"$(find /tmp "$tmp/a b" -maxdepth 1 -name 'perf-relax-kmod.*' -user "$(id -u)" -newer "$tmp/a b/kmod/Kbuild" 2>/dev/null)"

# The same through the program.
run env PERF_RELAX_DATADIR="$srcdir/probes" PERF_RELAX_CACHE="$tmp/cache" "$PERF_RELAX" irq --build --kdir "$tmp/nothing"
is "irq --build without headers" 3 err 'no kernel headers'
run env PERF_RELAX_DATADIR="$srcdir/probes" PERF_RELAX_CACHE="$tmp/cache" "$PERF_RELAX" irq --build --kdir "$tmp/error"
is "irq --build with an error" 4 err 'fatal error: asm/gone.h' noerr 'noise'
run env PERF_RELAX_DATADIR="$tmp" "$PERF_RELAX" irq --build
is "irq --build without the source" 3 err "module's source is not in"
run env PERF_RELAX_DATADIR="$srcdir/probes" PERF_RELAX_CACHE="$tmp/cache" "$PERF_RELAX" irq --build --kdir "$tmp/good"
is "irq --build" 0 out 'built .*/cache/kmod/.*/perf_relax.ko'
finish
