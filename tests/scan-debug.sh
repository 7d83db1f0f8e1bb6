#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax scan: names and source lines from debug information of every kind, also when it is compressed, split, elsewhere, wrong or gone.
. "$(dirname "$0")/lib.sh"

have gcc || skip_all cc "gcc is missing"
have objcopy || skip_all binutils "objcopy is missing (package binutils)"

cd "$tmp" || broken "no $tmp"
cat >spin.c <<'END'
#if defined(__x86_64__) || defined(__i386__)
#define HINT "pause"
#elif defined(__aarch64__) || defined(__arm__)
#define HINT "yield"
#elif defined(__powerpc__)
#define HINT "or 27,27,27"
#elif defined(__riscv)
#define HINT ".word 0x0100000f"
#else
#error "no hint"
#endif
static __attribute__((noinline)) void inner(volatile int *p)
{
	while (*p)
		__asm__ volatile(HINT);	/* line 15 */
}

int main(int argc, char **argv)
{
	volatile int x = argc - 1;

	(void)argv;
	inner(&x);
	return 0;
}
END
gcc -O1 -g spin.c -o plain 2>cc.err || skip_all cc "gcc cannot make a program with a hint here: $(head -n 1 cc.err)"

# shows NAME FILE REGEX...: the hint of FILE, in JSON, without a word on stderr.
shows() {
	local name=$1 file=$2 regex
	local -a wanted=()
	shift 2
	for regex in "$@"; do wanted+=(out "$regex"); done
	relax scan -j "$file"
	is "$name" 0 noerr . "${wanted[@]}"
}
line='"source":"[^"]*spin\.c","line":1[0-9]'
inner='"function":"inner","function_from":"symtab"'

shows "DWARF" plain "$inner" "$line"
shows "DWARF, not looked at" plain "$inner"
relax scan -j --no-source plain
is "--no-source" 0 out "$inner" out '"source":null,"line":null,"source_why"'
for version in 2 3 4 5; do
	gcc -O1 -gdwarf-$version spin.c -o dwarf$version && shows "DWARF $version" dwarf$version "$inner" "$line"
done
# Compressed: zlib and the old .zdebug are libelf's own; for others no line, and never garbage.
for kind in zlib zlib-gnu zstd; do
	if gcc -O1 -g -gz=$kind spin.c -o gz-$kind 2>/dev/null; then
		relax scan -j gz-$kind
		is "debug sections compressed with $kind" 0 noerr . out "$inner" out "$line|\"source\":null"
	else
		skip compression "debug sections compressed with $kind" "this gcc or linker cannot"
	fi
done
relax scan -j gz-zlib
[ ! -e gz-zlib ] || is "lines out of zlib" 0 out "$line"
if have eu-elfcompress; then
	eu-elfcompress --force --name=.symtab --name=.strtab -o symtab-zlib plain
	shows "a compressed symbol table" symtab-zlib "$inner"
	# A size that no compression reaches, in the header of the compressed section.
	if have python3; then
		python3 - symtab-zlib bomb <<-'END'
			import struct, sys
			b = bytearray(open(sys.argv[1], 'rb').read())
			shoff, = struct.unpack_from('<Q', b, 40)
			size, n = struct.unpack_from('<HH', b, 58)
			for i in range(n):
			    kind, flags, _, off = struct.unpack_from('<IQQQ', b, shoff + i * size + 4)
			    if kind == 2 and flags & 0x800:
			        struct.pack_into('<Q', b, off + 8, 1 << 40)
			open(sys.argv[2], 'wb').write(b)
		END
		relax scan -j bomb
		is "a compressed symbol table that claims a terabyte" 0 out '"hint"'
	fi
else
	skip elfutils "compressed symbol tables" "eu-elfcompress is missing (package elfutils)"
fi

# Split.
mkdir split
(cd split && gcc -O1 -g -gsplit-dwarf ../spin.c -o split)
shows "split DWARF" split/split "$inner"
(cd split && rm -f -- *.dwo)
shows "split DWARF whose .dwo is gone" split/split "$inner"
if have dwp && (cd split && gcc -O1 -g -gsplit-dwarf ../spin.c -o packed && dwp -e packed -o packed.dwp && rm -f -- *.dwo) 2>/dev/null; then
	shows "a packed .dwp" split/packed "$inner"
fi

# Elsewhere: by debuglink (CRC) and by build-id.
nobuildid=-Wl,--build-id=none
gcc -O1 -g $nobuildid spin.c -o whole
separate() {	# NAME: a stripped program without a link, and NAME.debug
	objcopy --only-keep-debug whole "$1.debug"
	strip -s whole -o "$1"
}
separate linked
objcopy --add-gnu-debuglink=linked.debug linked
shows "debuglink, right CRC" linked '"function":"inner"' "$line"
rm linked.debug
shows "debuglink to a file that is gone" linked '"source":null' '"function":'
relax scan -j linked
is "nothing is made up for it" 0 noout inner
# With a build-id in the program that is what counts: a debug file of another build is refused, whatever its CRC.
gcc -O1 -g -Wl,--build-id=0x0102030405060708 spin.c -o ida && gcc -O1 -g -Wl,--build-id=0x0908070605040302 spin.c -o idb
objcopy --only-keep-debug ida ida.debug
objcopy --only-keep-debug idb other.debug
strip -s ida -o ida.own && objcopy --add-gnu-debuglink=ida.debug ida.own
shows "debuglink, right build-id" ida.own "$line"
strip -s ida -o ida.other && objcopy --add-gnu-debuglink=other.debug ida.other
shows "debuglink, wrong build-id" ida.other '"source":null'
separate wrong
objcopy --add-gnu-debuglink=wrong.debug wrong
printf 'x' >>wrong.debug
shows "debuglink, wrong CRC" wrong '"source":null'
relax scan -j wrong
is "nothing is taken from it" 0 noout inner
strip -s whole -o self
cp self self.orig
objcopy --add-gnu-debuglink=self.orig self
mv self self.tmp && cp self.tmp self.orig && mv self.tmp self
shows "debuglink to a stripped file" self '"source":null'
strip -s whole -o own
: >own.self && objcopy --add-gnu-debuglink=own.self own
LC_ALL=C sed 's/own\.self/own\x00\x00\x00\x00\x00/' own >own.new 2>/dev/null && chmod +x own.new && mv own.new own
shows "debuglink to the program itself" own '"source":null'
# A path in the link must not be followed: put the right debug file where it leads.
mkdir -p deep/bin
separate deep/bin/climb
mv deep/bin/climb.debug deep/dbg
ln -s ../dbg deep/bin/0123dbg
objcopy --add-gnu-debuglink=deep/bin/0123dbg deep/bin/climb
shows "a link that names a base name works" deep/bin/climb "$line"
LC_ALL=C sed 's/0123dbg/\.\.\/\/dbg/' deep/bin/climb >deep/bin/climb2
check "the link was changed" grep -q '\.\.//dbg' deep/bin/climb2
shows "a link with a path in it is not followed" deep/bin/climb2 '"source":null'
if have strace; then
	strace -f -e trace=openat,open -o trace "$PERF_RELAX" scan -j deep/bin/climb2 >/dev/null 2>&1
	check "and nothing outside is opened for it" test -z "$(grep -F '..//dbg' trace)"
fi

# Network: never, unless asked.
if have python3; then
	cat >server.py <<-'END'
		import socket, sys
		s = socket.socket()
		s.bind(('127.0.0.1', 0))
		s.listen(8)
		open(sys.argv[1] + '.new', 'w').write(str(s.getsockname()[1]))
		import os
		os.rename(sys.argv[1] + '.new', sys.argv[1])
		s.settimeout(60)
		while True:
		    c, _ = s.accept()
		    open(sys.argv[2], 'a').write('asked\n')
		    c.recv(4096)
		    c.sendall(b'HTTP/1.0 404 no\r\nContent-Length: 0\r\n\r\n')
		    c.close()
	END
	python3 server.py port asked 2>/dev/null &
	server=$!
	cleanup() { kill "$server" 2>/dev/null; }
	for _ in {1..50}; do [ -s port ] && break; sleep 0.1; done
	gcc -O1 -g -Wl,--build-id=sha1 spin.c -o withid && strip -s withid
	port=$(cat port)
	export DEBUGINFOD_URLS="http://127.0.0.1:$port" DEBUGINFOD_CACHE_PATH="$tmp/cache" DEBUGINFOD_TIMEOUT=5
	shows "a stripped program, servers in the environment" withid '"source":null'
	check "no server was asked" test ! -e asked
	relax scan -j --debuginfod withid
	is "--debuginfod" 0 out '"source":null'
	if [ -e asked ]; then
		pass "--debuginfod asks the server"
	else
		skip debuginfod "--debuginfod asks the server" "libdw cannot load libdebuginfod here (package libdebuginfod1)"
	fi
	unset DEBUGINFOD_URLS
fi

# eu-strip's debug files: code sections without bytes, segments past the end of the file.
if have eu-strip; then
	cp whole stripped && eu-strip -f stripped.debug stripped
	relax scan stripped.debug
	is "a debug file has no code" 0 err 'debug file' out '^0 hints'
	shows "its program has" stripped '"hint"'
	mkdir debugs && cp stripped.debug debugs/
	relax scan debugs
	is "a debug file in a directory" 0 noerr . out '1 debug files without code'
	for n in 100 1000 3000; do
		head -c $n stripped.debug >cut.debug
		relax scan cut.debug
		case $status in
		0 | 4) pass "a debug file cut to $n bytes" ;;
		*) fail "a debug file cut to $n bytes" "status $status" "$err" ;;
		esac
	done
else
	skip elfutils "eu-strip's files" "eu-strip is missing (package elfutils)"
fi
finish
