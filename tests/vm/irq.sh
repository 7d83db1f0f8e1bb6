# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# perf relax irq from end to end: load, measure, table, unload; its refusals; what a kill leaves.
fail() { echo "FAIL: $*"; exit 1; }
loaded() { grep -q '^perf_relax ' /proc/modules; }
ko=/lib/modules/perf_relax.ko
release=$(uname -r)

# Nothing built: says so and what to do; the headers are not here either.
perf-relax irq >/tmp/out 2>/tmp/err
[ $? = 3 ] || fail "no module: status"
grep -q 'no module was built' /tmp/err && grep -q 'headers' /tmp/err || fail "no module: $(cat /tmp/err)"

# Found where depmod has it.
mkdir -p "/lib/modules/$release/updates/dkms"
cp $ko "/lib/modules/$release/updates/dkms/"
echo "updates/dkms/perf_relax.ko:" >"/lib/modules/$release/modules.dep"
perf-relax irq --list >/tmp/out 2>/tmp/err || fail "--list: $(cat /tmp/err)"
grep -q '^cli ' /tmp/out && grep -q '^cmpxchg-local ' /tmp/out || fail "--list: $(cat /tmp/out)"
loaded && fail "left loaded by --list"
cat /tmp/out

perf-relax irq -r 12 -o /tmp/result.json >/tmp/out 2>/tmp/err
status=$?
cat /tmp/out /tmp/err
[ $status = 0 ] || fail "status $status"
loaded && fail "left loaded"
for name in empty cli sti cli-sti irq-save irq-restore irq-save-restore cmpxchg cmpxchg-local add-return add-return-local this-cpu-add this-cpu-cmpxchg \
	preempt-off-on bh-off-on spin-lock spin-lock-irqsave rcu-read-lock nop none; do
	grep -qE "^ *$name " /tmp/out || fail "no row for $name"
done
grep -q 'speed-up (cli + sti) / local cmpxchg' /tmp/out || fail "no table"
grep -qE '[0-9]+\.[0-9]+ \[[0-9.]+, [0-9.]+\]' /tmp/out || fail "no interval of the speed-up"
[ -s /tmp/result.json ] || fail "no result file"
grep -q '"irq_instructions"' /tmp/result.json || fail "the result does not say what interrupts are switched by"

# The stored result says the same, also beside another.
perf-relax report /tmp/result.json >/tmp/out 2>/tmp/err || fail "report: $(cat /tmp/err)"
grep -q 'speed-up (cli + sti) / local cmpxchg' /tmp/out || fail "report has no table: $(cat /tmp/out)"
perf-relax report /tmp/result.json /tmp/result.json >/tmp/out 2>/tmp/err || fail "report of two: $(cat /tmp/err)"
grep -q 'speed-up (cli + sti) / local cmpxchg' /tmp/out || fail "report of two has no table: $(cat /tmp/out)"

# Named cases, aliases; the first is the reference.
perf-relax irq -q -r 6 cmpxchg-local cli+sti irq-off >/tmp/out 2>/tmp/err || fail "named: $(cat /tmp/err)"
grep -qE '^ *cmpxchg-local .*reference' /tmp/out || fail "reference: $(cat /tmp/out)"
perf-relax irq -q -r 6 -x , cli sti >/tmp/out 2>/tmp/err || fail "-x: $(cat /tmp/err)"
grep -q 'cli/ns/' /tmp/out || fail "-x: $(cat /tmp/out)"

# Refusals.
perf-relax irq nonsense >/tmp/out 2>/tmp/err
[ $? = 2 ] && grep -q "not a case" /tmp/err || fail "unknown case: $(cat /tmp/err)"
perf-relax irq --loops 16777216 cli-sti >/tmp/out 2>/tmp/err
[ $? = 2 ] && grep -q 'at most' /tmp/err || fail "--loops: $(cat /tmp/err)"
loaded && fail "left loaded by a refusal"
perf-relax irq --module /etc/passwd >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'ENOEXEC' /tmp/err || fail "no module file: $(cat /tmp/err)"
# With symbol versions the kernel looks at the options of vermagic only, not at the release; change both.
sed "s/vermagic=[0-9]*\\.\\([^ ]*\\) SMP /vermagic=4.\\1 UMP /" $ko >/tmp/other.ko
cmp -s $ko /tmp/other.ko && fail "the changed module is not changed"
perf-relax irq --module /tmp/other.ko >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'was built for kernel' /tmp/err || fail "another kernel's: $(cat /tmp/err)"
su user -c 'perf-relax irq' >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'takes root' /tmp/err || fail "not root: $(cat /tmp/err)"
without-cap 16 perf-relax irq >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'CAP_SYS_MODULE' /tmp/err || fail "no CAP_SYS_MODULE: $(cat /tmp/err)"

# Compressed, as some distributions install it; the kernel here unpacks .xz itself or leaves it to us.
gzip -c $ko >/tmp/perf_relax.ko.gz
perf-relax irq --list --module /tmp/perf_relax.ko.gz >/tmp/out 2>/tmp/err || fail ".ko.gz: $(cat /tmp/err)"
loaded && fail "left loaded"

# Loaded before: used and left.
insmod $ko
perf-relax irq -q -r 3 cli sti >/tmp/out 2>/tmp/err || fail "loaded before: $(cat /tmp/err)"
loaded || fail "a module that was there was unloaded"
su user -c 'perf-relax irq' >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'root' /tmp/err || fail "loaded, not root: $(cat /tmp/err)"
rmmod perf_relax

# Signals: what was measured is printed and marked, the module goes; also after kill -9.
perf-relax irq -q --time 60 cli sti cli-sti >/tmp/out 2>/tmp/err &
pid=$!
i=0
while ! loaded && [ $i -lt 100 ]; do usleep 50000; i=$((i + 1)); done
sleep 2
kill -TERM $pid
wait $pid
status=$?
[ $status = 4 ] || fail "SIGTERM: status $status $(cat /tmp/err)"
grep -qi partial /tmp/out /tmp/err || fail "SIGTERM: not marked partial: $(cat /tmp/out /tmp/err)"
loaded && fail "left loaded after SIGTERM"
perf-relax irq -q --time 60 cli sti >/tmp/out 2>/tmp/err &
pid=$!
i=0
while ! loaded && [ $i -lt 100 ]; do usleep 50000; i=$((i + 1)); done
sleep 1
kill -9 $pid
wait $pid
i=0
while loaded && [ $i -lt 100 ]; do usleep 100000; i=$((i + 1)); done
loaded && fail "left loaded after kill -9"

# classic: EAGAIN with results is success.
perf-relax irq --classic >/tmp/out 2>/tmp/err || fail "--classic: $(cat /tmp/err)"
[ "$(grep -c '^test end$' /tmp/out)" -ge 8 ] || fail "--classic: $(cat /tmp/out)"
loaded && fail "left loaded after --classic"

# Last, since it cannot be undone: modules switched off.
echo 1 >/proc/sys/kernel/modules_disabled
perf-relax irq >/tmp/out 2>/tmp/err
[ $? = 3 ] && grep -q 'modules_disabled' /tmp/err || fail "modules_disabled: $(cat /tmp/err)"
echo finished
