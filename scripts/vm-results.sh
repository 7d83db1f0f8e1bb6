#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Take a guest's console log apart: unpack the results, judge each test and its kernel log, write the summary.
# usage: vm-results.sh OUT QEMU-STATUS LIMIT QEMU-LOG ALLOW NAME...
set -u -o pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=$1 status=$2 limit=$3 qemu_log=$4 allow=$5
shift 5
console=$out/console.log
failed=0
say() { echo "$*" | tee -a "$out/summary"; }
: >"$out/summary"
[ -e "$console" ] || : >"$console"
plain=$(tr -d '\r' <"$console")

if ! grep -q '^VM-END$' <<<"$plain"; then
	failed=1
	last=$(grep '^VM-\(TEST\|DONE\)' <<<"$plain" | tail -n1)
	if [ "$status" = 124 ] || [ "$status" = 137 ]; then
		say "FAIL guest: no end within $limit s (last: ${last:-not even started})"
	elif grep -q 'Kernel panic' <<<"$plain"; then
		say "FAIL guest: kernel panic (last: ${last:-before the first test}): $(grep -m1 'Kernel panic' <<<"$plain")"
	else
		say "FAIL guest: ended with status $status without its end marker (last: ${last:-not even started}) $(head -n3 "$qemu_log" | tr '\n' ' ')"
	fi
	tail -n 40 <<<"$plain" | sed 's/^/  console: /'
else
	sed -n '/^VM-BEGIN$/,/^VM-END$/p' <<<"$plain" | sed '1d;$d' | base64 -d -i >"$out/results.tar.gz" 2>/dev/null
	sum=$(sha256sum "$out/results.tar.gz" | cut -d' ' -f1)
	if ! grep -q "^VM-SUM $sum\$" <<<"$plain"; then
		say "FAIL guest: the results were garbled on the console"
		failed=1
	else
		tar -xzf "$out/results.tar.gz" -C "$out" || failed=1
	fi
	rm -f "$out/results.tar.gz"
fi

require=" ${PERF_RELAX_TEST_REQUIRE:-} "
for name; do
	if ! [ -s "$out/$name.status" ]; then
		say "FAIL $name: not run to its end"
		failed=1
		continue
	fi
	code=$(cat "$out/$name.status")
	case $code in
	0) verdict=pass ;;
	77)
		verdict=skip
		# Where guests are demanded, a skip inside one is a hole in the tests.
		case $require in *" vm "* | *" vm-arm64 "* | *" vm-aarch64 "*) verdict=FAIL ;; esac
		;;
	*) verdict=FAIL ;;
	esac
	own=$(cat "$out/$name.allow" 2>/dev/null | tr '\n' '|')
	klog=$("$here/vm-klog.sh" "$out/$name.kmsg" "$allow${allow:+${own:+|}}${own%|}") || verdict=FAIL
	reason=''
	[ "$verdict" = pass ] || reason=": status $code, ${klog:+kernel log: $(head -n1 <<<"$klog"), }$(tail -n1 "$out/$name.out")"
	say "$verdict $name$reason"
	if [ "$verdict" = FAIL ]; then
		failed=1
		sed 's/^/  | /' "$out/$name.out" | tail -n 60
		[ -z "$klog" ] || sed 's/^/  kernel: /' <<<"$klog"
	fi
done
exit $failed
