#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# scripts/vm itself: guests that pass, fail, skip, warn, hang, panic, and that cannot be had. A test that cannot fail proves nothing.
# shellcheck disable=SC2154 # srcdir comes from lib.sh
. "$(dirname "$0")/vm/host.sh"

# What is refused before anything is fetched.
run bash "$vm" --nonsense
is "unknown option" 2
run bash "$vm" --arch pdp11 --fetch
is "unknown architecture" 2 err "no guest for architecture 'pdp11'"
run bash "$vm" --timeout soon --run x --out "$tmp/x"
is "a limit that is no number" 2

# A mirror that is not there: a skip with its reason, or a failure where guests are demanded.
unreachable() {
	PERF_RELAX_TEST_REQUIRE=$1 PERF_RELAX_CACHE=$tmp/cache PERF_RELAX_DEBIAN_MIRROR=http://127.0.0.1:9/debian \
		run bash "$vm" --arch aarch64 --run "$tmp/pass.sh" --out "$tmp/guest-out"
}
unreachable ''
is "no download" 77 err 'could not be fetched from http://127.0.0.1:9/debian'
unreachable 'root vm-arm64'
is "no download, but required (vm-arm64)" 1
unreachable 'vm'
is "no download, but required (vm)" 1

have qemu-system-aarch64 || cannot_run vm-arm64 "no qemu-system-aarch64 (package qemu-system-arm)"
bash "$vm" --arch aarch64 --fetch >/dev/null 2>"$tmp/fetch" || cannot_run vm-arm64 "$(tail -n 1 "$tmp/fetch")"

script() { printf '%s\n' "$2" >"$tmp/$1.sh"; }
script pass 'echo "this is $WORD on $(uname -m)"'
script fails 'echo reason; exit 3'
script skips 'echo "nothing to do"; exit 77'
script warns 'echo "WARNING: something" >/dev/kmsg'
script allowed '# klog-allow: WARNING: som.*
echo "WARNING: something" >/dev/kmsg'
script hangs 'echo before; sleep 1000'
script panics 'echo c >/proc/sysrq-trigger'

# boot ARG...: $status, $out, and the folder $tmp/guest-out. Skips are judged as where nothing is demanded.
boot() {
	PERF_RELAX_TEST_REQUIRE='' run bash "$vm" --arch aarch64 --out "$tmp/guest-out" "$@"
}
boot --param WORD='a b' --run "$tmp/pass.sh" --run "$tmp/fails.sh" --run "$tmp/skips.sh" --run "$tmp/warns.sh" --run "$tmp/allowed.sh" --run "$tmp/hangs.sh" \
	--test-timeout 2
is "one guest with all kinds of tests fails" 1 out '^pass pass$' out '^FAIL fails: status 3, reason$' out '^skip skips: status 77, nothing to do$' \
	out '^FAIL warns: status 0, kernel log: .*WARNING: something' out '^pass allowed$' out '^FAIL hangs: status'
check "output comes back" grep -qx 'this is a b on aarch64' "$tmp/guest-out/pass.out"
own=$(grep -c 'WARNING: something' "$tmp/guest-out/warns.kmsg")
others=$(grep -c WARNING "$tmp/guest-out/skips.kmsg")
check "the kernel log of one test is its own" test "$own" -eq 1 -a "$others" -eq 0
boot --run "$tmp/pass.sh"
is "a guest whose tests pass" 0
PERF_RELAX_TEST_REQUIRE=vm run bash "$vm" --arch aarch64 --out "$tmp/guest-out" --run "$tmp/skips.sh"
is "a skip where guests are demanded" 1 out '^FAIL skips'
boot --run "$tmp/pass.sh" --run "$tmp/panics.sh"
is "a kernel panic" 1 out 'FAIL guest: kernel panic .*VM-TEST panics.*sysrq triggered crash' out '^FAIL panics: not run to its end'
boot --run "$tmp/hangs.sh" --timeout 12
is "a guest that does not end" 1 out 'FAIL guest: no end within 12 s .*VM-TEST hangs'
boot --run "$tmp/pass.sh" --append 'init=/nonexistent rdinit=/nonexistent'
is "a guest that does not start" 1 out 'FAIL guest'
check "nothing is left behind" test -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'perf-relax-vm.*' -newer "$tmp/pass.sh" -user "$(id -u)")"
finish
