# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# arm64 with -icount shift=3: eight cycles an instruction, by the machine and by the tool.
fail() { echo "FAIL: $*"; exit 1; }
pmu-test all "$ICOUNT" || fail "the machine itself"
perf-relax stat -q -r 7 -x , -e '{cycles:u,instructions:u}' nop wfe >/tmp/out 2>/tmp/err || fail "stat: $(cat /tmp/err)"
cat /tmp/out
# A block holds few instructions here, so that a handful beside the loop weigh 1 %; the ratio is exact all the same.
for want in nop:1 wfe:2; do
	awk -F, -v probe="${want%:*}" -v want="${want#*:}" '$3 == probe "/cycles:u/" { c = $1 } $3 == probe "/instructions:u/" { i = $1 }
		END { d = i / want - 1; r = c / i - 8; exit !(i > 0 && d < 0.02 && d > -0.02 && r < 1e-4 && r > -1e-4) }' /tmp/out ||
		fail "stat: ${want%:*} is not ${want#*:} instructions of 8 cycles"
done
insmod /lib/modules/perf_relax.ko
kmod-test exact "$ICOUNT" || fail "the module's cycles"
rmmod perf_relax
