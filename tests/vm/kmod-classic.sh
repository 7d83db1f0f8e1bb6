# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# classic=1: init refuses to stay, as in 2009, and the log has eight blocks of five lines, in that order and layout.
set -e
ko=/lib/modules/perf_relax.ko
fail() { echo "FAIL: $*"; exit 1; }

# busybox's insmod tries a second time with another call when the first one fails, so the output may come twice: look at the last set.
insmod $ko classic=1 2>/tmp/err && fail "the module stayed"
grep -q 'Resource temporarily unavailable' /tmp/err || fail "insmod said: $(cat /tmp/err)"
grep -q '^perf_relax ' /proc/modules && fail "still loaded"
dmesg | sed 's/^\[[^]]*\] //' | awk '/^test init$/ { n = 0 } { line[n++] = $0 } END { for (i = 0; i < n; i++) print line[i] }' >/tmp/log
cat /tmp/log
[ "$(head -n1 /tmp/log)" = "test init" ] || fail "begins with $(head -n1 /tmp/log)"
for name in "baseline" "locked cmpxchg" "non locked cmpxchg" "locked add return" "non locked add return" "enabling interrupts (STI)" \
	"disabling interrupts (CLI)" "disabling/enabling interrupts (STI/CLI)"; do
	grep -qxF "test results: time for $name" /tmp/log || fail "no block for $name"
done
[ "$(grep -c '^number of loops: 20000$' /tmp/log)" = 8 ] || fail "loops"
[ "$(grep -c '^total time: [0-9][0-9]*$' /tmp/log)" = 8 ] || fail "totals"
[ "$(grep -c '^-> .* takes [0-9][0-9]* cycles$' /tmp/log)" = 8 ] || fail "results"
[ "$(grep -c '^test end$' /tmp/log)" = 8 ] || fail "ends"
grep -qxE -e '-> enabling/disabling interrupts \(STI/CLI\) takes [0-9]+ cycles' /tmp/log || fail "the pair's line"

insmod $ko classic=1 loops=800 2>/dev/null && fail "stayed"
dmesg | grep -q 'number of loops: 800$' || fail "loops=800"
for bad in 0 10000001; do
	insmod $ko classic=1 loops=$bad 2>/tmp/err && fail "loops=$bad is accepted"
	grep -qi 'invalid' /tmp/err || fail "loops=$bad: $(cat /tmp/err)"
done
echo finished
