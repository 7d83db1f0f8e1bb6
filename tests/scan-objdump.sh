#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax scan against objdump: lengths and hints of every instruction, and the hints that are shown, for libc and, with
# PERF_RELAX_SCAN_LIBRARIES=N (make check-full), for the N largest libraries of this machine.
. "$(dirname "$0")/lib.sh"

case $(uname -m) in x86_64 | i?86) ;; *) skip_all x86 "lengths are compared on x86 hosts" ;; esac
have objdump || skip_all binutils "objdump is missing (package binutils)"
lengths=$builddir/tests/scan/objdump-lengths
[ -x "$lengths" ] || skip_all build "$lengths was not built"
# Disassembling a library of 100 MB takes half a minute and more.
TEST_TIMEOUT=900

# Files whose data in code objdump cannot tell from instructions: hints that it shows there and that are none. FILE-PATTERN REASON
explained() {
	case $1 in
	*libcrypto*) echo "tables of constants between its hand-written functions" ;;
	esac
}

compare() {
	local file=$1 name
	name=$(basename "$file")
	run bash -c 'objdump -d --insn-width=15 "$1" | tee "$2" | "$3" "$4"' bash "$file" "$tmp/dis" "$lengths" "$(uname -m)"
	is "$name: lengths and hints of all instructions" 0 out ' 0 differences'
	grep -P '\t((repz|repnz|data16|addr32|[c-g]s|rex[.A-Z]*) +)*(pause|tpause|umwait|umonitor|mwaitx|monitorx)( |$)' "$tmp/dis" |
		sed -E 's/^ *([0-9a-f]+):.*/\1/' | sort >"$tmp/theirs"
	relax scan -q --no-source -x '|' "$file"
	awk -F'|' 'NR > 1 && $12 != "serialize" { sub(/^0x/, "", $8); print $8 }' <<<"$out" | sort >"$tmp/ours"
	if cmp -s "$tmp/theirs" "$tmp/ours"; then
		pass "$name: the same $(wc -l <"$tmp/ours") hints"
	elif [ -n "$(explained "$name")" ] && [ -z "$(comm -13 "$tmp/theirs" "$tmp/ours")" ]; then
		pass "$name: $(comm -23 "$tmp/theirs" "$tmp/ours" | wc -l) that objdump shows are none: $(explained "$name")"
	else
		fail "$name: the same hints" "only objdump: $(comm -23 "$tmp/theirs" "$tmp/ours" | head -n 8 | tr '\n' ' ')" \
			"only scan: $(comm -13 "$tmp/theirs" "$tmp/ours" | head -n 8 | tr '\n' ' ')"
	fi
}

libc=
for libc in $(ldd "$PERF_RELAX" 2>/dev/null | awk '/libc\.so/ { print $3 }') /lib64/libc.so.6 /lib/libc.so.6; do
	[ -e "$libc" ] && break
done
if [ -e "$libc" ]; then compare "$libc"; else skip libc "libc" "no libc.so.6 found"; fi
compare "$PERF_RELAX"
if [ "${PERF_RELAX_SCAN_LIBRARIES:-0}" -gt 0 ]; then
	while read -r _ file; do
		compare "$file"
	done < <(find /usr/lib /usr/lib64 -xdev -type f -name '*.so*' -size +100k -exec sh -c \
		'for f do head -c 20 "$f" | od -An -tx1 -w20 | grep -q "7f 45 4c 46 02 01 .* 3e 00" && stat -c "%s %n" "$f"; done' sh {} + 2>/dev/null |
		sort -rn | head -n "$PERF_RELAX_SCAN_LIBRARIES")
fi
finish
