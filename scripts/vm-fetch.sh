#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fetch what a guest of one architecture needs from Debian: kernel, busybox, and (for building modules) the kernel's headers. Nothing is
# installed: packages are downloaded with apt into lists and folders of their own, and unpacked. Prints the folder that holds:
#
#	vmlinuz config abi busybox      root/ (headers and kbuild, with --headers)
#
# usage: vm-fetch.sh ARCH [--suite SUITE] [--flavour FLAVOUR] [--headers] [--refresh]
# Exit: 0 done, 77 could not be had (reason on stderr), 2 wrong usage.
set -u -o pipefail

say() { echo "vm-fetch: $*" >&2; }
cannot() { say "$*"; exit 77; }

[ $# -ge 1 ] || { say "usage: vm-fetch.sh ARCH [--suite SUITE] [--flavour FLAVOUR] [--headers] [--refresh]"; exit 2; }
arch=$1
shift
suite='' flavour='' headers=0 refresh=0
while [ $# -gt 0 ]; do
	case $1 in
	--suite) suite=${2:?}; shift ;;
	--flavour) flavour=${2:?}; shift ;;
	--headers) headers=1 ;;
	--refresh) refresh=1 ;;
	*) say "unknown option $1"; exit 2 ;;
	esac
	shift
done

case $arch in
x86_64) deb=amd64 image=linux-image-amd64 ;;
aarch64) deb=arm64 image=linux-image-arm64 ;;
ppc64el) deb=ppc64el image=linux-image-powerpc64le ;;
s390x) deb=s390x image=linux-image-s390x ;;
riscv64) deb=riscv64 image=linux-image-riscv64 suite=${suite:-trixie} ;;	# no release architecture before trixie
*) say "no guest for architecture '$arch' (x86_64, aarch64, ppc64el, riscv64, s390x)"; exit 2 ;;
esac
suite=${suite:-bookworm}
[ -z "$flavour" ] || image=linux-image-$flavour

cache=${PERF_RELAX_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/perf-relax}/vm
dir=$cache/$arch-$suite${flavour:+-$flavour}
mkdir -p "$dir" || cannot "cannot write to $cache"
exec 9>"$dir/.lock"
flock -w 600 9 || cannot "another fetch into $dir has not ended after 10 minutes"

have_all() {
	[ -s "$dir/vmlinuz" ] && [ -s "$dir/busybox" ] && [ -s "$dir/abi" ] && { [ "$headers" = 0 ] || [ -e "$dir/root/.complete" ]; }
}
if [ "$refresh" = 0 ] && have_all; then
	echo "$dir"
	exit 0
fi

for prog in apt-get dpkg-deb; do
	command -v "$prog" >/dev/null ||
		cannot "$prog is missing: guests are made from Debian packages, so they need a host with apt (nothing is installed by it)"
done
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[ -r "$keyring" ] || cannot "$keyring is missing: install debian-archive-keyring"

# The mirror this machine already uses, so that a local one is honoured.
mirror=${PERF_RELAX_DEBIAN_MIRROR:-$(apt-get indextargets --format '$(REPO_URI)' 2>/dev/null | grep -m1 '/debian/*$')}
mirror=${mirror:-http://deb.debian.org/debian}

# apt in a world of its own: @1 = Debian architecture, the rest goes to the program @2.
private_apt() {
	local a=$1 prog=$2 w=$dir/apt-$1
	shift 2
	mkdir -p "$w/lists/partial" "$w/cache/archives/partial" "$w/empty"
	: >"$w/status"
	{
		echo "deb [signed-by=$keyring] $mirror $suite main"
		case $suite in *-backports) echo "deb [signed-by=$keyring] $mirror ${suite%-backports} main" ;; esac
	} >"$w/sources.list"
	timeout 300 "$prog" -q -o APT::Architecture="$a" -o APT::Architectures::="$a" \
		-o Dir::Etc::sourcelist="$w/sources.list" -o Dir::Etc::sourceparts="$w/empty" \
		-o Dir::Etc::preferencesparts="$w/empty" -o Dir::State::lists="$w/lists" -o Dir::State::status="$w/status" -o Dir::Cache="$w/cache" \
		-o APT::Sandbox::User="$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3 -o APT::Default-Release="$suite" "$@"
}

update() {
	private_apt "$1" apt-get -o APT::Update::Error-Mode=any update >"$dir/apt-$1.log" 2>&1 ||
		cannot "package lists for $1 could not be fetched from $mirror: $(grep -m1 '^E:' "$dir/apt-$1.log")"
}

# Download package @2 of architecture @1 and unpack it into @3.
unpack() {
	local tmp
	tmp=$(mktemp -d "$dir/deb.XXXXXX")
	if ! (cd "$tmp" && private_apt "$1" apt-get download "$2" >log 2>&1); then
		say "$(grep -m1 '^E:' "$tmp/log")"
		rm -rf "$tmp"
		cannot "package $2 ($1) could not be downloaded from $mirror"
	fi
	mkdir -p "$3"
	dpkg-deb -x "$tmp"/*.deb "$3" || { rm -rf "$tmp"; cannot "package $2 ($1) could not be unpacked"; }
	rm -rf "$tmp"
}

depends() { private_apt "$1" apt-cache depends --no-recommends --no-suggests "$2" | sed -n 's/^ *Depends: *//p'; }

mkdir -p "$dir/apt-$deb"
update "$deb"
if [ "$refresh" = 1 ] || ! [ -s "$dir/vmlinuz" ] || ! [ -s "$dir/abi" ]; then
	package=$(depends "$deb" "$image" | grep -m1 '^linux-image-')
	[ -n "$package" ] || cannot "no kernel package behind $image in $suite ($deb)"
	rm -rf "$dir/image"
	unpack "$deb" "$package" "$dir/image"
	rm -rf "$dir/root"		# headers and image must be one version
	kernel=$(find "$dir/image/boot" -name 'vmlinu*' | head -n1)
	[ -n "$kernel" ] || cannot "no kernel in $package"
	mv "$kernel" "$dir/vmlinuz"
	mv "$dir"/image/boot/config-* "$dir/config"
	echo "${package#linux-image-}" >"$dir/abi"
	rm -rf "$dir/image"
fi
if [ "$refresh" = 1 ] || ! [ -s "$dir/busybox" ]; then
	unpack "$deb" busybox-static "$dir/busybox.d"
	mv "$(find "$dir/busybox.d" -type f -path '*/bin/busybox' | head -n1)" "$dir/busybox"
	rm -rf "$dir/busybox.d"
fi
if [ "$headers" = 1 ] && ! [ -e "$dir/root/.complete" ]; then
	abi=$(cat "$dir/abi")
	host=$(dpkg --print-architecture)
	rm -rf "$dir/root"
	deps=$(depends "$deb" "linux-headers-$abi")
	common=$(grep -m1 -e '-common' <<<"$deps")
	kbuild=$(grep -m1 '^linux-kbuild-' <<<"$deps")
	kbuild=${kbuild%%:*}
	[ -n "$common" ] && [ -n "$kbuild" ] || cannot "linux-headers-$abi has no -common or kbuild dependency in $suite"
	unpack "$deb" "linux-headers-$abi" "$dir/root"
	unpack "$deb" "$common" "$dir/root"
	# The build programs run here, not in the guest.
	if [ "$host" != "$deb" ]; then
		mkdir -p "$dir/apt-$host"
		update "$host"
	fi
	unpack "$host" "$kbuild" "$dir/root"
	# The package's Makefile names its sister by its place once installed.
	sed -i "s,/usr/src/,$dir/root/usr/src/," "$dir/root/usr/src/linux-headers-$abi/Makefile"
	: >"$dir/root/.complete"
fi
rm -rf "$dir"/apt-*/cache
have_all || cannot "the fetch into $dir ended without all its parts"
echo "$dir"
