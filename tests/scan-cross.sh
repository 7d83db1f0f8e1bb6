#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax scan on programs that the distribution's cross compilers make for eight architectures and more: known counts, loops, memory reads,
# hints' bytes as data; and every hint that their disassembler shows is found.
. "$(dirname "$0")/lib.sh"

source=$srcdir/tests/scan/hints.c
tested=0

# expect FUNCTION HINT IN_LOOP SPIN_WAIT
expect() { printf '%s\n' "$*" >>"$tmp/expected"; }

# compare NAME FILE: functions, hints, loops of the program against what is expected.
compare() {
	relax scan -q -x '|' "$2"
	awk -F'|' 'NR > 1 { print $5, $12, $14, ($18 == "" ? "-" : $18) }' <<<"$out" | sort >"$tmp/found"
	# The compiler may make two of one loop.
	check "$1" diff <(sort -u "$tmp/expected") <(uniq "$tmp/found")
}

# machine TRIPLET OPTIONS HINT OBJDUMP-REGEX: compile and check; further expectations are in the function more().
machine() {
	local triplet=$1 options=$2 hint=$3 regex=$4 cc level file
	cc=$triplet-gcc
	if ! have "$cc"; then
		skip cross "$triplet" "$cc is missing (package gcc-$triplet)"
		return
	fi
	tested=$((tested + 1))
	for level in O1 O2 Os; do
		file=$tmp/$triplet-$level
		# shellcheck disable=SC2086 # options
		if ! "$cc" $options -$level -g -fno-pie -no-pie -static -nostdlib -ffreestanding -fno-unroll-loops -Wl,--build-id=none \
			"$source" -o "$file" 2>"$tmp/cc.err"; then
			fail "$triplet -$level: compile" "$(head -n 5 "$tmp/cc.err")"
			return
		fi
		: >"$tmp/expected"
		expect once_hint "$hint" false -
		expect spin "$hint" true yes
		expect delay "$hint" true no
		more
		compare "$triplet -$level: hints, loops and reads" "$file"
		relax scan -j "$file"
		is "$triplet -$level: source lines" 0 out '"function":"spin".*"source":"[^"]*hints\.c","line":[1-9]'
		# Without names: the addresses are the same.
		if have "$triplet-objcopy"; then
			"$triplet-objcopy" --strip-all "$file" "$file.stripped"
			relax scan -q -x '|' "$file"
			cut -d'|' -f8,11,12 <<<"$out" >"$tmp/addresses"
			relax scan -q -x '|' "$file.stripped"
			# What is data is no longer said by symbols; every real hint must be there.
			check "$triplet -$level: stripped" test -z "$(cut -d'|' -f8,11,12 <<<"$out" | sort | comm -13 - <(sort "$tmp/addresses"))"
		fi
	done
	# The disassembler's view, instruction by instruction.
	if have "$triplet-objdump"; then
		relax scan -q -x '|' "$file"
		# Those that are hints without doubt; old binutils have other names for some.
		awk -F'|' 'NR > 1 && $13 == "true" { sub(/^0x/, "", $8); print $8 }' <<<"$out" | sort >"$tmp/ours"
		"$triplet-objdump" -d "$file" |
			grep -E "	($regex)\$" | sed -E 's/^ *([0-9a-f]+):.*/\1/' | sort >"$tmp/theirs"
		check "$triplet: what objdump shows" diff "$tmp/theirs" "$tmp/ours"
	fi
}

more() {
	expect once_rep_pause rep-pause false -
	expect loop_rep_pause rep-pause true yes
	expect once_tpause tpause false -
	expect loop_tpause tpause true yes
}
machine x86_64-linux-gnu "" pause '(repz )?pause *|tpause .*'
machine i686-linux-gnu "" pause '(repz )?pause *|tpause .*'

more() {
	expect once_wfe wfe false -
	expect loop_wfe wfe true yes
	expect loop_isb isb true yes	# not once_isb: outside of a loop it is a barrier
}
machine aarch64-linux-gnu "" yield 'yield|wfe'
more() {
	expect once_wfe wfe false -
	expect loop_wfe wfe true yes
}
machine arm-linux-gnueabihf "-marm" yield 'yield|wfe|yield *@.*|wfe *@.*|nop *@ yield'
machine arm-linux-gnueabihf "-mthumb" yield 'yield|wfe'
more() {
	expect once_or_1 or-1 false -
	expect loop_or_1 or-1 true yes
	expect once_or_31 or-31 false -
	expect loop_or_31 or-31 true yes
}
machine powerpc64le-linux-gnu "" or-27 'yield|mr +r1,r1|mr +r31,r31|or +(1,1,1|31,31,31)'
machine powerpc64-linux-gnu "" or-27 'yield|mr +r1,r1|mr +r31,r31|or +(1,1,1|31,31,31)'
more() { :; }
machine riscv64-linux-gnu "" pause 'pause|fence	w,unknown'
machine riscv64-linux-gnu "-march=rv64g" pause 'pause|fence	w,unknown'
more() { expect loop_nopr nopr true yes; }
machine s390x-linux-gnu "" diag-44 'diag.*'
more() { :; }
machine mips64el-linux-gnuabi64 "-mips64r2 -mabi=64" pause 'pause|fence	w,unknown'
more() { expect loop_rd_ccr rd-ccr true yes; }
machine sparc64-linux-gnu "-mcpu=v9" pause 'wr .*%pause|wr .*%asr27'

[ $tested -gt 0 ] || skip_all cross "no cross compiler is installed (packages gcc-aarch64-linux-gnu, gcc-riscv64-linux-gnu, ...)"
finish
