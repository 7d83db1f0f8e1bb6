#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf-relax on recorded machines (tests/sysroot/*.tree): what it says of each, and that the manifests can be made and read.
. "$(dirname "$0")/lib.sh"
trees=$srcdir/tests/sysroot

# shellcheck disable=SC2317 # called through check
# expected MANIFEST: is what the manifest expects in $out, the answer of `check -v --sysroot`?
expected() {
	local line key text shown differs=0
	while IFS= read -r line; do
		case $line in
		'expect '* | 'expect-why '*) ;;
		*) continue ;;
		esac
		key=${line#* }
		text=${key#* = }
		key=${key%% = *}
		shown=$(grep -E "^  $key +" <<<"$out")
		case $line in
		'expect '*)
			[[ $shown =~ ^\ \ $key\ +(.*)$ ]] && [ "${BASH_REMATCH[1]}" = "$text" ] && continue
			;;
		*)
			[[ $shown == *'<not known>'*"$text"* ]] && continue
			;;
		esac
		echo "$key: not \"$text\" but \"$shown\""
		differs=1
	done <"$1"
	return "$differs"
}

for manifest in "$trees"/*.tree; do
	name=$(basename "$manifest" .tree)
	bash "$trees/unpack" "$manifest" "$tmp/tree of $name" || broken "cannot unpack $manifest"
	relax check -v --sysroot "$tmp/tree of $name"
	is "$name: described without an error" 0 noerr 'ERROR|runtime error|Sanitizer'
	check "$name: as its manifest expects" expected "$manifest"
done

# Nothing of the machine at hand may leak into the description of another one.
relax check -v --sysroot "$tmp/tree of nothing"
is "an empty tree: nothing of this machine" 0 noout "$(uname -r)|$(uname -n)"

relax check --sysroot "$tmp/does not exist"
is "no such directory" 2 err 'does not exist: No such file or directory'

# A recording of this machine is a manifest, and the tree made of it describes the same machine.
if sh "$trees/record" >"$tmp/this.tree" 2>"$tmp/record.err"; then
	check "record says nothing on stderr" test ! -s "$tmp/record.err"
	check "a recording unpacks" bash "$trees/unpack" "$tmp/this.tree" "$tmp/this"
	relax check -v --sysroot "$tmp/this"
	is "a recording is described" 0 out "kernel +$(uname -r | sed 's/[.+]/\\&/g')"
else
	skip record "record" "it failed: $(head -n 1 "$tmp/record.err")"
fi

# shellcheck disable=SC2317 # called through check
refused() {
	printf '%s\n' "$1" >"$tmp/bad.tree"
	! bash "$trees/unpack" "$tmp/bad.tree" "$tmp/bad" 2>"$tmp/bad.err" && grep -q "bad.tree:1: $2" "$tmp/bad.err"
}
check "unpack refuses a line that is nothing" refused 'proc/x = 1' 'neither a path nor a comment'
check "unpack refuses an unknown kind" refused '/proc/x wrong = 1' "unknown kind 'wrong'"
check "unpack refuses a path without a text" refused '/proc/x' "no ' ='"

finish
