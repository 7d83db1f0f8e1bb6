#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# The guest's first process: mount what tests need, run the tests in /tests in order, send /results over the console, power off.
# Everything here is busybox. The console may turn LF into CR LF, and the kernel may write between lines: the host's side checks a sum.
/bin/busybox mount -t devtmpfs dev /dev
exec </dev/console >/dev/console 2>&1
/bin/busybox --install -s /bin
export PATH=/bin HOME=/root TERM=dumb LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /tmp
chmod 1777 /tmp
mkdir -p /dev/shm /dev/pts /sbin /usr
[ -e /usr/bin ] || ln -s /bin /usr/bin
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
mount -t tracefs tracefs /sys/kernel/tracing
mount -t debugfs debugfs /sys/kernel/debug 2>/dev/null
mount -t securityfs securityfs /sys/kernel/security 2>/dev/null
hostname guest
printf 'root:x:0:0:root:/root:/bin/sh\nuser:x:1000:1000:user:/home/user:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n' >/etc/passwd
printf 'root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n' >/etc/group
chown -R 1000:1000 /home/user
. /etc/vm.conf
ulimit -c 0
# Tests change these; every test starts from the same state.
paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)

# busybox before 1.31 has no -k
limit='timeout -k 5'
$limit 5 true 2>/dev/null || limit=timeout

echo "VM-START $(uname -r) $(uname -m)"
for test in /tests/*; do
	name=${test##*/}
	name=${name#*-}
	echo "$paranoid" >/proc/sys/kernel/perf_event_paranoid
	echo "VM-TEST $name" >/dev/kmsg
	echo "VM-TEST $name"
	cd /tmp || exit
	$limit "$VM_TEST_TIMEOUT" sh "$test" >/results/"$name".out 2>&1 </dev/null
	status=$?
	echo "$status" >/results/"$name".status
	# What a test provokes on purpose, it names: "# klog-allow: REGEX".
	sed -n 's/^# klog-allow: //p' "$test" >/results/"$name".allow
	# The part of the kernel's log that belongs to this test.
	dmesg | awk -v mark="VM-TEST $name" 'index($0, mark) { n = 0 } { line[n++] = $0 }
		END { for (i = 0; i < n; i++) print line[i] }' >/results/"$name".kmsg
	echo "VM-DONE $name $status"
done
cd /
tar -czf /tmp/results.tar.gz -C /results .
echo "VM-SUM $(sha256sum /tmp/results.tar.gz | cut -d' ' -f1)"
echo VM-BEGIN
if command -v base64 >/dev/null; then
	base64 /tmp/results.tar.gz
else	# busybox before 1.32
	uuencode -m results </tmp/results.tar.gz | sed '1d;$d'
fi
echo VM-END
sync
poweroff -f
