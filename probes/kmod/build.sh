#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Build the module for one kernel, in a temporary folder of its own (kernel builds write beside their sources and cannot bear blanks in
# names), and put perf_relax.ko where asked.
#
# usage: build.sh --out FILE [--kdir DIR] [--release RELEASE] [MAKE-VARIABLE=VALUE...]
#   --kdir     the kernel's build folder (default /lib/modules/RELEASE/build)
#   --release  the kernel that the module is for (default: with --kdir whatever it is for, else the running one)
# Exit: 0 done, 2 usage, 3 no headers, 4 headers of another kernel, 5 does not compile (first error on stderr), 6 no make or compiler
set -u
LC_ALL=C
export LC_ALL
kdir='' out='' release=''
while [ $# -gt 0 ]; do
	case $1 in
	--kdir) kdir=${2:?}; shift 2 ;;
	--out) out=${2:?}; shift 2 ;;
	--release) release=${2:?}; shift 2 ;;
	--*) echo "build.sh: unknown option $1" >&2; exit 2 ;;
	*) break ;;
	esac
done
[ -n "$out" ] || { echo "build.sh: --out FILE is needed" >&2; exit 2; }
[ -n "$kdir" ] || [ -n "$release" ] || release=$(uname -r)
[ -n "$kdir" ] || kdir=/lib/modules/$release/build
here=$(cd "$(dirname "$0")" && pwd)

if [ -h "$kdir" ] && ! [ -e "$kdir" ]; then
	echo "$kdir points to $(readlink "$kdir"), which does not exist: the kernel's headers were removed or belong to another" \
		"version; install the headers of kernel ${release:-that kernel}" >&2
	exit 3
fi
if ! [ -f "$kdir/Makefile" ]; then
	echo "no kernel headers in $kdir: install them (Debian, Ubuntu: linux-headers-${release:-RELEASE}; Fedora: kernel-devel;" \
		"openSUSE: kernel-default-devel), or name their folder with --kdir" >&2
	exit 3
fi
command -v make >/dev/null || { echo "make is missing: the module cannot be built; install make and a C compiler" >&2; exit 6; }
# What the module will say it is for; kernel.release differs from it on Debian.
have=$(sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' "$kdir/include/generated/utsrelease.h" 2>/dev/null)
if [ -n "$release" ] && [ -n "$have" ] && [ "$have" != "$release" ]; then
	echo "$kdir is for kernel $have, but the module is for kernel $release: install the headers of $release, or start $have" >&2
	exit 4
fi

base=${TMPDIR:-/tmp}
case $base in
*[!A-Za-z0-9/._+-]*) base=/tmp ;;
esac
work=$(mktemp -d "$base/perf-relax-kmod.XXXXXX") || exit 5
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$work/kmod" "$work/arch"
cp "$here"/*.[ch] "$here/Kbuild" "$work/kmod/" && cp "$here"/../arch/*.h "$work/arch/" || exit 5
# Type information for BPF is of no use here, and needs a program that few have.
command -v pahole >/dev/null || set -- "$@" CONFIG_DEBUG_INFO_BTF_MODULES=
if ! make -C "$kdir" M="$work/kmod" "$@" modules >"$work/log" 2>&1 </dev/null; then
	if grep -q -E '(gcc|clang|cc)[-0-9.]*: (command )?not found|No such file or directory.*(gcc|clang)' "$work/log"; then
		echo "the compiler that this kernel wants is missing: $(grep -m1 -E 'not found|No such file' "$work/log")" >&2
		exit 6
	fi
	# One line: the rest follows from it.
	echo "the module does not compile for kernel ${have:-in $kdir}:" \
		"$(grep -m1 -E 'error:|Error:|fatal|not found|\*\*\*' "$work/log" | sed "s,$work/kmod/,,")" >&2
	exit 5
fi
mkdir -p "$(dirname "$out")" && cp "$work/kmod/perf_relax.ko" "$out"
