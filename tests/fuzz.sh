#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Fuzzes every target in tests/fuzz with libFuzzer, AddressSanitizer and UndefinedBehaviorSanitizer, from its seeds. PERF_RELAX_FUZZ_SECONDS says for how
# long each (default 5; 60 in CI; 660 in `make check-full`). An input that breaks it is kept in the build directory as fuzz-NAME-*.
. "$(dirname "$0")/lib.sh"

seconds=${PERF_RELAX_FUZZ_SECONDS:-5}
clang=
for c in clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14; do
	if have "$c"; then
		clang=$c
		break
	fi
done
[ -n "$clang" ] || skip_all fuzz "clang is missing (packages clang, libclang-rt-dev)"
printf 'int LLVMFuzzerTestOneInput(const char *p, unsigned long n) { return n > 100000 && p[0]; }\n' >"$tmp/try.c"
"$clang" -fsanitize=fuzzer,address,undefined "$tmp/try.c" -o "$tmp/try" 2>"$tmp/err" ||
	skip_all fuzz "$clang cannot build fuzzers (package libclang-rt-dev): $(head -n 1 "$tmp/err")"

# fuzz NAME SOURCES LIBRARIES SEED...: build tests/fuzz/fuzz-NAME.c with these and run it.
fuzz() {
	local name=$1 sources=$2 libraries=$3 status
	shift 3
	# shellcheck disable=SC2086 # lists
	if ! (cd "$srcdir" && "$clang" -std=gnu11 -O1 -g -D_GNU_SOURCE -Isrc -Iprobes -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
		"tests/fuzz/fuzz-$name.c" $sources -o "$tmp/fuzz-$name" $libraries) >"$tmp/build" 2>&1; then
		fail "$name: build" "$(head -n 10 "$tmp/build")"
		return
	fi
	mkdir -p "$tmp/corpus-$name"
	cp "$@" "$tmp/corpus-$name/" 2>/dev/null
	timeout -k 10 $((seconds + 120)) "$tmp/fuzz-$name" -max_total_time="$seconds" -max_len=65536 -timeout=25 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$builddir/fuzz-$name-" "$tmp/corpus-$name" >"$tmp/log-$name" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		pass "$name: $(sed -n 's/^stat::number_of_executed_units: *//p' "$tmp/log-$name") inputs in $seconds s"
	else
		fail "$name" "status $status" "$(grep -E 'ERROR|SUMMARY|runtime error|Test unit written|^    #[0-6] ' "$tmp/log-$name" | head -n 20)"
	fi
}

seeds=("$srcdir"/tests/scan/samples/* "$srcdir"/tests/fuzz/samples/*)
for triplet in x86_64 aarch64 arm powerpc64 riscv64 s390x mips64el sparc64 i686; do
	for cc in /usr/bin/"$triplet"-linux-gnu*-gcc; do
		[ -x "$cc" ] || continue
		"$cc" -O1 -static -nostdlib -ffreestanding -Wl,--build-id=none "$srcdir/tests/scan/hints.c" -o "$tmp/seed-$triplet" 2>/dev/null &&
			seeds+=("$tmp/seed-$triplet")
	done
done
fuzz elfscan "$(cd "$srcdir" && echo src/elfscan*.c src/symbols.c src/util*.c)" "-lelf -ldw -lcapstone -lm -lpthread" "${seeds[@]}"
finish
