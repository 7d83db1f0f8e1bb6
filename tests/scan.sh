#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax scan: samples of many machines, names, trees, forms of output, damaged files, exit codes.
. "$(dirname "$0")/lib.sh"

samples=$srcdir/tests/scan/samples
[ -d "$samples" ] || broken "no $samples"

# sample FILE STATUS COUNT REGEX: what one sample gives; COUNT hints.
sample() {
	relax scan -x '|' -- "$samples/$1"
	local n
	n=$(grep -c '|' <<<"$out")
	is "$1: status" "$2" "${@:4}"
	check "$1: $3 hints" test $((n - 1)) -eq "$3"
}
sample aarch64_yield_nop_wfe_isb_sb_wfet.elf 0 3 out '\|0x400078\|.*\|3f2003d5\|yield\|' out '\|wfe\|' out '\|wfet\|' noout '\|(isb|sb|dmb)\|'
sample aarch64_be_data_code_le.elf 0 3 out 'aarch64_be.*\|yield\|'
sample i386_pause.elf 0 3 out '\|i386\|.*\|0x400055\|.*\|f390\|pause\|.*segment sweep'
sample ppc64le_or_hints.elf 0 5 out '\|or-31\|' out '\|or-27\|' out '\|or-1\|' out '\|or-2\|' out '\|or-29\|'
sample riscv64_pause_fence_fencei.elf 0 1 out '\|0x400078\|.*\|0f000001\|pause\|'
sample s390x_big_endian_unknown_hint.elf 0 0
sample x86_64_no_sections_3_pause.elf 0 3 out '\|0x400079\|' out '\|0x40007b\|' out '\|0x40007d\|'
sample x86_64_eidata_flipped_to_msb_runs.elf 0 3 err 'big-endian' out '\|x86-64\|'
sample x86_64_phoff_past_eof.elf 4 0 err 'truncated: the program headers'
sample x86_64_truncated_header.elf 4 0 err 'truncated: 40 bytes'
sample x86_64_truncated_segment.elf 4 3 err 'truncated: an executable segment ends at byte 4224 of a file of 140'
sample empty_file 4 0 err 'empty file'
sample not_elf_but_named.so 4 0 err 'not an ELF file'

# One bad file does not stop the rest.
relax scan "$samples/x86_64_truncated_header.elf" "$samples/i386_pause.elf"
is "a bad file, then a good one" 4 out '3 hints in 1 of 1 file' err 'truncated: 40 bytes'
# In a directory, what is not ELF is left out; what is damaged still counts.
relax scan "$samples"
is "a directory" 4 out '2[0-9] hints in 8 of 9 files' out 'left out: 2 not ELF; 2 that could not be scanned'

# ppc64 big-endian: the little-endian sample, turned around.
if have python3; then
	cat >"$tmp/turn.py" <<-'END'
		import struct, sys
		code = b''.join(struct.pack('>I', w) for w in (0x7ffffb78, 0x7f7bdb78, 0x7c210b78, 0x60000000, 0x4e800020))
		size = 120 + len(code)
		open(sys.argv[1], 'wb').write(b'\x7fELF\x02\x02\x01' + bytes(9)
			+ struct.pack('>HHIQQQIHHHHHH', 2, 21, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
			+ struct.pack('>IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, size, size, 4096) + code)
	END
	python3 "$tmp/turn.py" "$tmp/ppc64be.elf"
	relax scan "$tmp/ppc64be.elf"
	is "ppc64 big-endian" 0 out '\(ppc64\)' out '^3 hints' out 'or-31' out 'or-27' out 'or-1 '
fi

# Every prefix of a valid file, and of one with sections: a reason or a result, never a crash or a hang.
prefixes() {
	local f=$1 n=$2 step=$3 i bad=0
	for ((i = 0; i < n; i += step)); do
		head -c "$i" "$f" >"$tmp/prefix"
		relax scan -q "$tmp/prefix"
		case $status in
		0 | 4) ;;
		*)
			echo "prefix of $i bytes: status $status: $err"
			bad=1
			;;
		esac
	done
	return $bad
}
check "every prefix of a small file" prefixes "$samples/x86_64_no_sections_3_pause.elf" 128 1
check "prefixes of a real one" prefixes "$PERF_RELAX" 201 3

# Truths that byte searches miss.
if ! have gcc && ! have cc; then
	skip cc "code between data" "no C compiler"
elif ! ${CC:-cc} -c "$srcdir/tests/scan/tricky.S" -o "$tmp/tricky.o" 2>"$tmp/cc.err" || ! [[ $(uname -m) == x86_64 ]]; then
	skip x86 "code between data" "the sample is x86-64 assembly"
else
	# FUNCTION HINT IN_LOOP SPIN_WAIT, one line for each hint that is there
	cat >"$tmp/expected" <<-END
		data_between pause false
		swt pause false
		swt rep-pause false
		overlap pause false
		cold_jump pause false
		delay pause true yes
		spin pause true yes
		callspin pause true unknown
		prefixed prefixed-pause false
		prefixed prefixed-pause false
		prefixed prefixed-pause false
		prefixed prefixed-pause false
		prefixed prefixed-pause false
		prefixed prefixed-pause false
		prefixed tpause false
		prefixed umwait false
		prefixed umonitor false
		prefixed monitorx false
		prefixed mwaitx false
		prefixed serialize true yes
	END
	found() { awk -F'|' 'NR > 1 { print $5, $12, $14 ($18 == "" ? "" : " " $18) }' <<<"$out"; }
	relax scan -x '|' "$tmp/tricky.o"
	check "hints between data, inside other instructions, in switches, with prefixes" diff "$tmp/expected" <(found)
	if ${CC:-cc} -nostdlib -shared -Wl,--build-id=none "$tmp/tricky.o" -o "$tmp/tricky.so" 2>>"$tmp/cc.err" && have strip; then
		relax scan -x '|' "$tmp/tricky.so"
		check "the same, linked" diff "$tmp/expected" <(found)
		strip -s "$tmp/tricky.so" -o "$tmp/stripped.so"
		relax scan -x '|' "$tmp/stripped.so"
		check "the same, stripped" diff "$tmp/expected" <(found)
		is "names from .dynsym" 0 out '\|spin\|dynsym\|'
	else
		fail "the sample is linked" "$(cat "$tmp/cc.err")"
	fi
	printf '\t.text\n\t.globl f\n\t.type f,@function\nf:\tcli\n\tsti\n\tret\n\t.size f,.-f\n' >"$tmp/cli.S"
	${CC:-cc} -c "$tmp/cli.S" -o "$tmp/cli.o"
	relax scan "$tmp/cli.o"
	is "cli and sti: not looked for in programs" 0 out '^0 hints'
	relax scan --privileged "$tmp/cli.o"
	is "cli and sti: --privileged" 0 out ' cli ' out ' sti ' out '^2 hints'
	printf '\t.section .modinfo,"a"\n\t.asciz "license=GPL"\n' >>"$tmp/cli.S"
	${CC:-cc} -c "$tmp/cli.S" -o "$tmp/cli.ko"
	relax scan "$tmp/cli.ko"
	is "cli and sti: in kernel modules" 0 out '^2 hints'
	# A hint in a library that a program needs: by $ORIGIN, once, and told when it is missing.
	mkdir -p "$tmp/app/lib"
	printf 'int spin(int *p);\nint main(void) { int x = 0; return spin(&x); }\n' >"$tmp/app/main.c"
	if ${CC:-cc} -shared -nostdlib -Wl,-soname,libhint.so "$tmp/tricky.o" -o "$tmp/app/lib/libhint.so" 2>/dev/null &&
		${CC:-cc} "$tmp/app/main.c" -o "$tmp/app/main" -L"$tmp/app/lib" -lhint "-Wl,-rpath,\$ORIGIN/lib" 2>"$tmp/cc.err"; then
		relax scan "$tmp/app/main"
		is "a program without hints names its libraries" 0 out '^0 hints' out 'No hints in this file, but it uses [0-9]+ libraries: libhint\.so'
		relax scan --needed "$tmp/app/main"
		is "--needed" 0 out '/app/lib/libhint\.so' out '^0 hints in the named file; [0-9]+ in [0-9]+ libraries that it needs'
		relax scan --needed -x '|' "$tmp/app/main" "$tmp/app/main"
		check "--needed: each library once" test "$(grep -c 'libhint.*|callspin|' <<<"$out")" -eq 1
		mv "$tmp/app/lib/libhint.so" "$tmp/app/lib/gone.so"
		relax scan --needed "$tmp/app/main"
		is "--needed: a library that is missing" 4 err 'libhint\.so: needed by .*main, but not found'
	else
		fail "a program with a library" "$(cat "$tmp/cc.err")"
	fi
	if have ar; then
		ar rc "$tmp/lib.a" "$tmp/tricky.o" "$tmp/cli.o"
		relax scan -j "$tmp/lib.a"
		is "members of an archive" 0 out '"member":"tricky.o"'
		check "an archive has its members' hints" test "$(grep -c . <<<"$out")" -eq 20
		head -c 700 "$tmp/lib.a" >"$tmp/cut.a"
		relax scan "$tmp/cut.a"
		is "an archive that is cut off" 4 err 'cut\.a: '
	fi
fi

# Other kinds of file.
printf '\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x04\0\x3e\0\x01\0\0\0%040d' 0 >"$tmp/core"
relax scan "$tmp/core"
is "a core file is refused by name" 4 err 'core file'
printf '\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x2a\0\x01\0\0\0%028d' 0 >"$tmp/sh4"
relax scan "$tmp/sh4"
is "a machine without a table" 4 err 'no table for EM_SH'
mkdir "$tmp/sh"
cp "$tmp/sh4" "$tmp/sh/"
relax scan "$tmp/sh"
is "a machine without a table, in a directory" 0 out '1 of machines without a table' noerr .
relax scan "$tmp/absent"
is "a file that is not there" 4 err 'absent: No such file'
relax scan
is "nothing to scan" 2 err 'nothing to scan'
relax scan -J 0 "$samples"
is "-J 0" 2 err '-J'
relax scan -x '' "$samples"
is "-x without a separator" 2 err 'separator'
relax scan --summary -0 "$samples"
is "--summary and -0" 2 err 'exclude'
relax scan --hints
is "the table of hints" 0 out 'x86 +pause +f3 90' out 'riscv +pause +0100000f' out 'aarch64 +isb .*in a loop' out 'ppc +or-27' out 'mips +pause'

# Names.
mkdir "$tmp/names"
good=$samples/i386_pause.elf
odd=$tmp/names/$'name with space\nand newline "q",comma.elf'
bad=$tmp/names/$'bad_\xff\xfe\xc3.elf'
esc=$tmp/names/$'esc\e[31m\xe2\x80\xae.elf'
dash=$tmp/names/-x.elf
cp "$good" "$odd"
cp "$good" "$bad"
cp "$good" "$esc"
cp "$good" "$dash"
relax scan "$tmp/names"
is "text: names are escaped" 0 out 'space\\nand newline "q",comma' out 'bad_\\xff\\xfe\\xc3\.elf' out 'esc\\x1b\[31m\\xe2\\x80\\xae' out '/-x\.elf'
check "text: one line for each name" test "$(grep -c '(i386)$' <<<"$out")" -eq 4
relax scan -j "$tmp/names"
cp "$tmp/out" "$tmp/json"
if have python3; then
	cat >"$tmp/lines.py" <<-'END'
		import json, sys
		names = set()
		for line in open(sys.argv[1], 'rb'):
		    o = json.loads(line.decode())		# UTF-8 and JSON, or this fails
		    names.add(bytes.fromhex(o['file_hex']) if 'file_hex' in o else o['file'].encode())
		    assert o['hint'] == 'pause' and o['bytes'] == 'f390' and o['confidence'] == 'segment sweep' and o['in_loop'] is False
		    assert o['loop_bytes'] is None and o['why'] and o['source'] is None and o['source_why']
		want = {a.encode(errors='surrogateescape') for a in sys.argv[2:]}
		assert names == want, (names, want)
	END
	check "JSON: exact names, valid lines" env PYTHONUTF8=1 python3 "$tmp/lines.py" "$tmp/json" "$odd" "$bad" "$esc" "$dash"
	relax scan -x , "$tmp/names"
	cp "$tmp/out" "$tmp/csv"
	cat >"$tmp/rows.py" <<-'END'
		import csv, sys
		rows = list(csv.DictReader(open(sys.argv[1], newline='', encoding='utf-8')))
		assert len(rows) == 12, len(rows)
		assert {r['hint'] for r in rows} == {'pause'}
		assert sys.argv[2] in {r['file'] for r in rows}, rows
		assert all(None not in r and None not in r.values() for r in rows)
	END
	check "CSV: names are quoted" env PYTHONUTF8=1 python3 "$tmp/rows.py" "$tmp/csv" "$odd"
else
	skip python3 "JSON and CSV are what they claim" "python3 is missing"
fi
relax scan -0 "$tmp/names"
printf '%s\0' "$dash" "$bad" "$esc" "$odd" | sort -z >"$tmp/want0"
check "-0: exact names" cmp "$tmp/want0" <(sort -z "$tmp/out")
(cd "$tmp/names" && run "$PERF_RELAX" scan -- -x.elf && [ "$status" -eq 0 ] && grep -q '^3 hints' <<<"$out")
check "a name that begins with a dash, behind --" test $? -eq 0
printf '%s\0' "$odd" "$bad" >"$tmp/list0"
run sh -c '"$1" scan --stdin0 <"$2"' sh "$PERF_RELAX" "$tmp/list0"
is "--stdin0" 0 out '^6 hints in 2 of 2 files'
printf '%s\0' "$samples/not_elf_but_named.so" "$good" >"$tmp/list0"
run sh -c '"$1" scan --stdin0 <"$2"' sh "$PERF_RELAX" "$tmp/list0"
is "--stdin0: what is not ELF is left out" 0 out '^3 hints in 1 of 1 file' out '1 not ELF' noerr .
printf '%s\0' "$tmp/absent" "$good" >"$tmp/list0"
run sh -c '"$1" scan --stdin0 <"$2"' sh "$PERF_RELAX" "$tmp/list0"
is "--stdin0: what is missing is told" 4 out '^3 hints' err 'absent'

# Trees: links, loops, FIFOs, sockets, unreadable files.
mkdir -p "$tmp/tree/a/b"
cp "$good" "$tmp/tree/a/b/one.elf"
ln -s .. "$tmp/tree/a/b/up"
ln -s one.elf "$tmp/tree/a/b/link.elf"
ln -s nowhere "$tmp/tree/dangling"
mkfifo "$tmp/tree/fifo.so"
if have python3; then
	(cd "$tmp/tree" && python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind("s.so")')
else
	mkfifo "$tmp/tree/s.so"
fi
relax scan -r "$tmp/tree"
is "a tree with links, loops and FIFOs" 0 out '^3 hints in 1 of 1 file' out 'left out: 3 symbolic links, 2 FIFOs'
relax scan "$tmp/tree"
is "without -r only the directory itself" 0 out '^0 hints in 0 of 0 files'
relax scan "$tmp/tree/a/b/link.elf" "$tmp/tree/fifo.so" "$tmp/tree/dangling"
is "named links are followed, named FIFOs refused" 4 out '^3 hints in 1 of 1 file' err 'fifo\.so: a FIFO' err 'dangling: '
relax scan -r /proc/self /proc
is "/proc is left alone" 0 out '^0 hints in 0' out 'kernel file systems'
if [ "$(id -u)" -ne 0 ]; then
	cp "$good" "$tmp/tree/secret.elf"
	chmod 000 "$tmp/tree/secret.elf"
	relax scan -r "$tmp/tree"
	is "an unreadable file is told, the rest scanned" 4 err 'secret\.elf: cannot open: Permission' out '^3 hints'
	rm -f "$tmp/tree/secret.elf"
elif have setpriv && for_everyone && chmod -R go+rX "$tmp" && setpriv --reuid=65534 --clear-groups "$for_everyone" --version >/dev/null 2>&1; then
	cp "$good" "$tmp/tree/secret.elf"
	chmod 000 "$tmp/tree/secret.elf"
	run setpriv --reuid=65534 --clear-groups "$for_everyone" scan -r "$tmp/tree"
	is "an unreadable file is told, the rest scanned" 4 err 'secret\.elf: cannot open: Permission' out '^3 hints'
	run setpriv --reuid=65534 --clear-groups "$for_everyone" scan -p 1
	is "another user's process: 3" 3 err 'CAP_SYS_PTRACE'
	rm -f "$tmp/tree/secret.elf"
else
	skip user "unreadable files" "root reads everything, and setpriv cannot change that here"
fi

# Many files: order is that of the names whatever the threads do; the file descriptors suffice.
mkdir "$tmp/many"
for i in {100..399}; do cp "$good" "$tmp/many/f$i"; done
relax scan -J 1 -x '|' -r "$tmp/many"
cp "$tmp/out" "$tmp/one"
run bash -c 'ulimit -n 32; "$1" scan -J 7 -x "|" -r "$2"' bash "$PERF_RELAX" "$tmp/many"
check "the order does not depend on threads" cmp "$tmp/one" "$tmp/out"
check "all files were scanned" test "$(grep -c '|pause|' "$tmp/one")" -eq 900
relax scan --summary "$tmp/many/f100" "$good"
is "--summary" 0 out ' 3 +0 +0 +i386 +pause 3' out '6 hints in 2 of 2 files'
relax scan --summary -j "$good"
is "--summary -j" 0 out '^\{"file":.*"hints":3,"in_loop":0,"spin_waits":0,"by_hint":\{"pause":3\}\}$'

# Packages, where the package manager knows the C library.
libc=$(ldd "$PERF_RELAX" 2>/dev/null | awk '/libc\.so/ { print $3 }')
if [ -n "$libc" ] && have dpkg-query && dpkg-query -S "$libc" >/dev/null 2>&1; then
	relax scan --summary "$libc"
	if grep -q '^0 hints' <<<"$out"; then
		skip hints "packages" "this C library has no hints"
	else
		is "--summary: packages" 0 out ' libc6[^ ]* ' out 'By package:'
	fi
else
	skip dpkg "packages" "dpkg does not know the C library here"
fi

# Interrupted: what was found is printed, and called partial.
mkfifo "$tmp/names0"
{ printf '%s\0' "$good"; sleep 30; } >"$tmp/names0" &
writer=$!
"$PERF_RELAX" scan --stdin0 <"$tmp/names0" >"$tmp/interrupted" 2>"$tmp/interrupted.err" &
scanner=$!
sleep 2
kill -TERM $scanner
wait $scanner
status=$?
kill $writer 2>/dev/null
ran="perf-relax scan --stdin0, interrupted" out=$(cat "$tmp/interrupted") err=$(cat "$tmp/interrupted.err")
is "interrupted" 4 out '^3 hints in 1 of 1 file.*partial: interrupted' noerr .

# On a terminal: progress, taken back at the end; names cannot move the cursor.
if have script; then
	run script -qec "'$PERF_RELAX' scan -r '$tmp/many' '$tmp/names' 2>&1 >/dev/null" /dev/null
	check "progress ends with an empty line, or was never needed" test -z "$(tr '\r' '\n' <"$tmp/out" | tail -n 1 | sed 's/\x1b\[K//g' | tr -d '[:space:]')"
fi

# A huge sparse file is not read through.
if instrumented; then
	skip uninstrumented "a terabyte of nothing" "the sanitizer leaves no room to map it"
elif truncate -s 1T "$tmp/huge.elf" 2>/dev/null; then
	dd if="$good" of="$tmp/huge.elf" conv=notrunc status=none
	relax scan "$tmp/huge.elf"
	is "a terabyte of nothing" 0 out '^3 hints'
	if have python3; then
		python3 - "$tmp/huge.elf" <<-'END'
			import struct, sys
			f = open(sys.argv[1], 'r+b')
			n = 1 << 40
			f.write(b'\x7fELF\x02\x01\x01' + bytes(9) + struct.pack('<HHIQQQIHHHHHH', 2, 62, 1, 0x400078, 64, 0, 0, 64, 56, 1, 64, 0, 0)
				+ struct.pack('<IIQQQQQQ', 1, 5, 0, 0x400000, 0x400000, n, n, 4096) + b'\xf3\x90\xc3')
			f.seek(n - 4096)
			f.write(b'\xf3\x90\xc3')
		END
		relax scan "$tmp/huge.elf"
		is "code at both ends of a terabyte" 0 out '^2 hints'
	fi
	rm -f "$tmp/huge.elf"
fi

# Processes: this shell's own, with its libraries and vDSO.
if [ -z "${PERF_RELAX_RUNNER:-}" ]; then
	relax scan -j -p $$
	is "a process" 0 noerr .
	relax scan -p 2147483647
	is "a process that is not there" 4 err 'no process 2147483647'
	relax scan -p 0
	is "-p 0" 2 err '-p'
	relax scan --needed /bin/sh
	is "a program and its libraries" 0 out 'hints? in the named file; [0-9]+ in [1-9][0-9]* librar'
	relax scan /bin/sh
	is "a program without hints names its libraries" 0 out 'No hints in this file, but it uses [0-9]+ librar.*--needed'
fi
# The program and its libraries, after the file is gone or replaced.
if [ -z "${PERF_RELAX_RUNNER:-}" ] && cp "$(command -v sleep)" "$tmp/sleeper" 2>/dev/null && "$tmp/sleeper" 0; then
	for what in deleted replaced; do
		cp "$(command -v sleep)" "$tmp/sleeper"
		"$tmp/sleeper" 60 &
		sleeper=$!
		for _ in {1..50}; do
			grep -qs "$tmp/sleeper" "/proc/$sleeper/maps" && break
			sleep 0.1
		done
		rm "$tmp/sleeper"
		[ $what = deleted ] || cp "$good" "$tmp/sleeper"
		relax scan -p $sleeper
		kill $sleeper
		wait $sleeper 2>/dev/null
		if [ "$status" -eq 4 ]; then	# without the right to reach it, it is named, and no other file is taken for it
			is "a process whose file was $what" 4 err 'sleeper.*: mapped, but' noout 'i386'
		else
			is "a process whose file was $what" 0 noout 'i386'
		fi
		rm -f "$tmp/sleeper"
	done
fi
relax scan --kernel
case $status in
0) is "the running kernel" 0 out '\[kernel.kallsyms\]' ;;
*) is "the running kernel cannot be read here: 3, with the reason" 3 err '/proc/(kcore|kallsyms)' ;;
esac

# Output that cannot be written is an error.
if [ -w /dev/full ]; then
	run sh -c '"$1" scan "$2" >/dev/full' sh "$PERF_RELAX" "$good"
	is "a full disk" 4 err 'cannot write'
fi
finish
