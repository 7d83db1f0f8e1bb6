# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 with -icount shift=3: eight cycles an instruction, by the machine and by the tool.
fail() { echo "FAIL: $*"; exit 1; }
pmu-test all "$ICOUNT" || fail "the machine itself"
perf-relax stat -q -r 7 -x , nop wfe >/tmp/out 2>/tmp/err || fail "stat: $(cat /tmp/err)"
cat /tmp/out
for want in nop:8 wfe:16; do
	awk -F, -v probe="${want%:*}" -v want="${want#*:}" '$3 == probe "/cycles/" && $2 == "cycles/op" { seen = 1; d = $1 - want; if (d > 1e-2 || d < -1e-2) bad = 1 }
		END { exit bad || !seen }' /tmp/out || fail "stat: ${want%:*} is not ${want#*:} cycles"
done
insmod /lib/modules/perf_relax.ko
kmod-test exact "$ICOUNT" || fail "the module's cycles"
rmmod perf_relax
