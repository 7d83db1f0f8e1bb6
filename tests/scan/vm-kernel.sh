# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# In a guest: the hints of the running kernel, and what happens without the rights to read it.
fail() { echo "FAIL: $*"; exit 1; }
perf-relax scan -x '|' --kernel >/tmp/kernel 2>/tmp/err || fail "scan --kernel: $? $(cat /tmp/err)"
for hint in pause cli sti; do
	grep -q "|$hint|" /tmp/kernel || fail "no $hint in the kernel"
done
# A spin-wait that every SMP kernel has: pause in a loop that reads memory.
awk -F'|' '$5 ~ /^(native_queued_spin_lock_slowpath|queued_spin_lock_slowpath|csd_lock_wait|smp_call_function_single|task_rq_lock|__task_rq_lock)/ &&
	$12 == "pause" && $14 == "true" && $18 == "yes" { found = 1 } END { exit !found }' /tmp/kernel || fail "no spin-wait where one is known"
awk -F'|' 'NR > 1 && $5 == "" { bad = 1 } END { exit bad }' /tmp/kernel || fail "a hint without a function"
perf-relax scan --kernel --summary | grep -q 'kernel.kallsyms' || fail "--summary"
su user -c 'perf-relax scan --kernel' >/tmp/out 2>/tmp/err
status=$?
[ $status = 3 ] || fail "a user: status $status"
grep -qE 'kptr_restrict|CAP_SYS_RAWIO|kcore' /tmp/err || fail "a user: $(cat /tmp/err)"
echo 2 >/proc/sys/kernel/kptr_restrict
perf-relax scan --kernel >/tmp/out 2>/tmp/err
status=$?
echo 0 >/proc/sys/kernel/kptr_restrict
[ $status = 3 ] || fail "hidden addresses: status $status"
grep -q 'kptr_restrict' /tmp/err || fail "hidden addresses: $(cat /tmp/err)"
perf-relax scan -p $$ >/tmp/out 2>/tmp/err || fail "the shell: $? $(cat /tmp/err)"
echo finished
