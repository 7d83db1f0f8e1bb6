#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Copy a program into a guest's root with the shared libraries it needs, found by reading the ELF files (so it works for foreign programs).
# usage: vm-copy-program.sh ROOT FILE TO [SYSROOT...]
set -u
root=$1 file=$2 to=$3
shift 3
[ -e "$file" ] || { echo "vm: no program $file" >&2; exit 1; }
[ -n "$to" ] || to=/bin/$(basename "$file")
mkdir -p "$root$(dirname "$to")"
install -m 755 "$file" "$root$to" || exit 1

machine() { readelf -h "$1" 2>/dev/null | sed -n 's/^ *Class: *//p; s/^ *Machine: *//p' | tr '\n' ' '; }
want=$(machine "$file")
[ -n "$want" ] || exit 0		# a script: nothing more to copy
case $want in
*X86-64*) triplets='x86_64-linux-gnu' ;;
*80386*) triplets='i386-linux-gnu i686-linux-gnu' ;;
*AArch64*) triplets='aarch64-linux-gnu' ;;
*PowerPC64*) triplets='powerpc64le-linux-gnu' ;;
*RISC-V*) triplets='riscv64-linux-gnu' ;;
*S/390*) triplets='s390x-linux-gnu' ;;
*) triplets='' ;;
esac
folders=()
for base in "$@" ''; do
	for triplet in $triplets; do
		folders+=("$base/lib/$triplet" "$base/usr/lib/$triplet" "$base/usr/local/lib/$triplet" "$base/usr/$triplet/lib")
	done
	folders+=("$base/lib" "$base/lib64" "$base/lib32" "$base/usr/lib" "$base/usr/lib32" "$base/usr/local/lib")
done
find_library() {
	local d
	for d in "${folders[@]}"; do
		if [ -e "$d/$1" ] && [ "$(machine "$d/$1")" = "$want" ]; then
			echo "$d/$1"
			return 0
		fi
	done
	return 1
}
libdir=lib/${triplets%% *}		# where the loader looks by itself: there is no ld.so.cache in the guest
declare -A seen
copy_needed() {
	local lib path
	for lib in $(readelf -d "$1" 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
		[ -z "${seen[$lib]:-}" ] || continue
		seen[$lib]=1
		path=$(find_library "$lib") || { echo "vm: $(basename "$file") needs $lib, which is in none of the folders searched" >&2; exit 1; }
		mkdir -p "$root/$libdir"
		cp -L "$path" "$root/$libdir/$lib" || exit 1
		copy_needed "$path"
	done
}
copy_needed "$file"
interpreter=$(readelf -l "$file" 2>/dev/null | sed -n 's/.*program interpreter: \(.*\)\]/\1/p')
if [ -n "$interpreter" ]; then
	path=$(find_library "$(basename "$interpreter")") || { echo "vm: no $interpreter for $(basename "$file")" >&2; exit 1; }
	mkdir -p "$root$(dirname "$interpreter")"
	cp -L "$path" "$root$interpreter" || exit 1
fi
