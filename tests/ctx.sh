#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax ctx: arms, sizes, limits, lat_ctx's format; tasks that die, parents that are killed; nothing is left.
. "$(dirname "$0")/lib.sh"

[ -z "${PERF_RELAX_RUNNER:-}" ] || skip_all native "an emulator's threads would be counted with the ring's"
parent=
cleanup() {
	[ -z "$parent" ] || kill -KILL "$parent" 2>/dev/null
}

relax ctx -r 2
is "a ring" 0 out 'processes=2 size=0 via=pipe place=same-cpu' out 'us/switch' out 'ring#2 .*\(null\)'
relax ctx -r 1 --threads --via futex -n 3
is "threads" 0 out 'threads=3 size=0 via=futex'
relax ctx -r 1 --via eventfd,socketpair -s 0,16 2 3
is "lists are conditions" 0 out 'processes=2 size=0 via=eventfd' out 'processes=3 size=16KiB via=eventfd' out 'processes=3 size=16KiB via=socketpair'
relax ctx -r 1 --place same-cpu,free
is "placement is always there" 0 out 'place=same-cpu' out 'place=free'

# Sizes (bare numbers: KiB with -s, as lat_ctx has it; bytes with --size), and what they are called.
for size in 64k 64K 64KiB 65536; do
	relax ctx -q -r 1 --size "$size"
	is "--size $size" 0 out 'size=64KiB'
done
relax ctx -q -r 1 -s 64
is "-s 64 is 64 KiB" 0 out 'size=64KiB'
relax ctx -q -r 1 --size 64000
is "--size 64000" 0 out 'size=64000B'
relax ctx -q -r 1 --size 64kB
is "--size 64kB is decimal" 0 out 'size=64000B'
relax ctx -q -r 1 --size 1M,1MiB
is "--size 1M is 1MiB" 0 out 'size=1MiB' noout '1MB'
for size in -1 1e3 '' 5G x 64q; do
	relax ctx -r 1 --size="$size"
	is "--size '$size' is refused" 2 noout . err 'size'
done

# Wrong use.
for args in '-n 1' '-n 0' '-n 5000' '-n x' '--via smoke-signals' '--place moon' '--tsc some' '--abi 16' '--policy idle' '--window 0' '-P 2' '-n 2,2' \
	'--affinity same-cpu --place free' '--lmbench --tsc none,both' '-s 1 --size 1' '-e no-such-event-at-all'; do
	# shellcheck disable=SC2086 # words
	relax ctx -r 1 $args
	is "ctx $args" 2 noout . err 'perf-relax'
done
relax ctx -r 1 -P 1 -W 100 -N 1
is "lat_ctx's options" 0

# Limits: raised or refused, before anything starts.
run bash -c 'ulimit -n 20 && exec "$1" ctx -r 1 -n 96' bash "$PERF_RELAX"
if [ "$status" -eq 0 ]; then
	is "20 descriptors for 96 pipes: raised" 0 out 'processes=96'
else
	is "20 descriptors for 96 pipes: refused" 3 noout . err '96 tasks through pipe need .*ulimit -n'
fi
run bash -c 'ulimit -Sn 30 && exec "$1" ctx -r 1 -n 96' bash "$PERF_RELAX"
is "a soft limit is raised" 0 out 'processes=96'
run bash -c 'ulimit -n 30 && exec "$1" ctx -r 1 -n 96 --via futex' bash "$PERF_RELAX"
is "futexes need no descriptors" 0 out 'processes=96'
# The limit on processes does not bind root.
as=()
for_everyone
if [ "$(id -u)" -eq 0 ] && have setpriv; then
	as=(setpriv --reuid 65534 --regid 65534 --clear-groups)
fi
if [ "$(id -u)" -ne 0 ] || { [ ${#as[@]} -gt 0 ] && "${as[@]}" "$for_everyone" --version >/dev/null 2>&1; }; then
	run ${as[@]+"${as[@]}"} bash -c 'ulimit -u 40 && exec "$1" ctx -r 1 -n 96 --via futex' bash "$for_everyone"
	is "40 processes for 96 tasks: refused" 3 noout . err '96 tasks do not fit: .*40 processes'
else
	skip setpriv "too few processes" "root without setpriv, or a program that others cannot execute"
fi
relax ctx -r 1 -n 1024 -s 4194304
is "more memory than there is" 3 noout . err 'MiB'

# Switches counted by the kernel: per switch, not per round trip; what is off by more than 1 % is warned of.
relax ctx -r 5 -o "$tmp/a.json"
is "-o" 0
python=$(command -v python3) || python=
if [ -n "$python" ]; then
	counted=$("$python" - "$tmp/a.json" <<-'END'
		import json, statistics, sys
		arm = json.load(open(sys.argv[1]))["conditions"][0]["arms"][0]
		print(statistics.median(arm["metrics"]["counted"]["values"]))
	END
	)
	off=$(awk -v x="$counted" 'BEGIN { print (x < 0.99 || x > 1.01) }')
	check "the kernel counted $counted switches for each planned" test "$off" = 0 -o -n "$(grep -e switch-count <<<"$out")"
	check "and not two or none" awk -v x="$counted" 'BEGIN { exit !(x > 0.9 && x < 1.5) }'
else
	skip python3 "switches counted against planned" "no python3"
fi
relax ctx -r 5 --place free -o "$tmp/b.json"
is "free, to a file" 0
relax diff "$tmp/a.json" "$tmp/b.json"
check "diff names the placement (status $status)" grep -q 'place' <<<"$out$err"

# lat_ctx's own format.
relax ctx --lmbench -r 1 -s 0,16 2 3
is "--lmbench" 0 noout . err '^"size=0k ovr=[0-9]+\.[0-9]{2}$' err '^"size=16k ovr=[0-9]+\.[0-9]{2}$' \
	err '^2 -?[0-9]+\.[0-9]{2}$' err '^3 -?[0-9]+\.[0-9]{2}$'
check "--lmbench: 2 headers, 4 rows, 2 empty lines" test "$(grep -c '^"size' <<<"$err")$(grep -Ec '^[23] ' <<<"$err")$(grep -c '^$' "$tmp/err")" = 242

# Arms.
if [ "$(uname -m)" = x86_64 ]; then
	relax ctx -r 2 --tsc=none,both,one
	is "TSC arms" 0 out 'tsc=none .*reference' out 'tsc=both .*\(null\)' out 'tsc=one ' out 'time-stamp counter: (NOT )?enforced'
	case $out in
	*"NOT enforced"*) check "not enforced: a warning" grep -q 'tsc-not-enforced' <<<"$out$err" ;;
	*) check "enforced: no warning" test -z "$(grep tsc-not-enforced <<<"$out$err")" ;;
	esac
	relax ctx -r 1 --place free --tsc=none,both
	is "off one CPU both is no null control" 0 out 'tsc=none#2 .*\(null\)' noout 'tsc=both .*\(null\)'
	relax ctx -r 2 --abi=64,32
	if grep -q 'abi=32 .*<not supported>' <<<"$out"; then
		is "32-bit tasks: not supported, with the reason" 0 out '32-bit'
	else
		is "32-bit tasks" 0 out 'abi=32 +[0-9]'
	fi
else
	relax ctx -r 1 --tsc=none,one
	is "no TSC to forbid: not supported, with the reason" 0 out 'not supported' out 'PR_SET_TSC'
fi
relax ctx -r 1 --policy=other,batch
is "policies" 0 out 'policy=batch +[0-9]'

# children PID: those it has now.
children() {
	cat "/proc/$1/task/$1/children" 2>/dev/null
}

# start ARG...: in the background, until its ring runs; $parent, $tasks.
start() {
	"$PERF_RELAX" ctx --window 10000 -r 3 "$@" >"$tmp/out" 2>"$tmp/err" &
	parent=$!
	for _ in $(seq 100); do
		sleep 0.1
		tasks=$(children $parent)
		[ "$(wc -w <<<"$tasks")" -lt 3 ] || return 0
	done
	return 1
}

# gone PID...: within 5 s; what has ended and waits for init counts as gone.
gone() {
	local pid left
	for _ in $(seq 50); do
		left=
		for pid in "$@"; do
			if grep '^State:' "/proc/$pid/status" 2>/dev/null | grep -qv 'Z'; then left+=" $pid"; fi
		done
		[ -n "$left" ] || return 0
		sleep 0.1
	done
	echo "left:$left"
	return 1
}

if [ -e "/proc/$$/task/$$/children" ]; then
	for via in pipe futex; do
		check "$via: a ring of three runs" start -n 3 --via $via
		kill -KILL "$parent"
		wait "$parent" 2>/dev/null
		# shellcheck disable=SC2086 # a list
		check "$via: kill -9 of the parent leaves no task" gone $tasks

		check "$via: another ring runs" start -n 3 --via $via
		kill -KILL "${tasks%% *}"
		wait "$parent"
		status=$?
		parent=
		out=$(cat "$tmp/out") err=$(cat "$tmp/err") ran="ctx --via $via, with a task killed"
		is "$via: a task that dies ends the run, with its status" 4 err 'killed by signal 9'
		# shellcheck disable=SC2086 # a list
		check "$via: and nothing is left" gone $tasks
	done
	check "a ring to interrupt" start -n 3
	kill -TERM "$parent"
	wait "$parent"
	status=$?
	parent=
	out=$(cat "$tmp/out") err=$(cat "$tmp/err") ran="ctx, interrupted"
	is "SIGTERM: partial, at once" 4
	# shellcheck disable=SC2086 # a list
	check "SIGTERM: nothing is left" gone $tasks
else
	skip children "tasks that die" "this kernel has no /proc/PID/task/TID/children"
fi

finish
