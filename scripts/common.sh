# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What the scripts share: messages, and a source tree and build folder whose names autotools accepts.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
self=$(basename "$0")
# shellcheck disable=SC2034 # for the scripts that read this
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/perf-relax

say() { echo "$self: $*"; }
fail() {
	echo "$self: $*" >&2
	exit 1
}

# configure and make refuse names with blanks, quotes, $, &, # and the like.
safe_name() {
	case $1 in
	*[!A-Za-z0-9/._+,:@%=-]*) return 1 ;;
	esac
}

# A folder for temporary files that autotools accept, whatever TMPDIR is.
safe_temp() {
	local base=${TMPDIR:-/tmp}
	safe_name "$base" || base=/tmp
	mktemp -d "$base/perf-relax-$self.XXXXXX"
}

# source_for DIR: the source tree by a name that is safe: itself, or a symbolic link to it in DIR.
source_for() {
	if safe_name "$top"; then
		printf '%s\n' "$top"
	else
		ln -sfn "$top" "$1/source"
		printf '%s\n' "$1/source"
	fi
}

# Make configure where it is missing or older than what it is made from. Runs in the tree itself: autotools see only relative names.
make_configure() {
	local newer
	if [ -x "$top/configure" ] && [ -f "$top/Makefile.in" ]; then
		newer=$(find "$top/configure.ac" "$top/Makefile.am" "$top/m4" -newer "$top/Makefile.in" -print -quit)
		[ -n "$newer" ] || return 0
	fi
	(cd "$top" && autoreconf -i)
}

jobs_here() {
	nproc 2>/dev/null || echo 1
}
