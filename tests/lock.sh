#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax lock: what it measures, refuses and labels; that its wait loops hold nothing of ours; that nothing makes it
# hang.
. "$(dirname "$0")/lib.sh"

have python3 || skip_all python3 "results are read with python3"
last_cpu=$(sed 's/.*[,-]//' /sys/devices/system/cpu/online 2>/dev/null)
cpus=$(nproc)
hints=none,nop
twins=
if [ "$(uname -m)" = x86_64 ] && [ -z "${PERF_RELAX_RUNNER:-}" ]; then
	hints=pause,rep-nop,rep-pause,none
	twins=1
fi

# json EXPRESSION: with r the result, c(i) its conditions, m(c, arm, metric) the values of a series.
json() {
	python3 - "$tmp/r.json" "$1" <<'END'
import json, sys
r = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit("constant " + c))
def c(i): return r["conditions"][i]
def m(i, arm, metric): return c(i)["arms"][arm]["metrics"][metric].get("values", [])
def why(i, arm, metric): return c(i)["arms"][arm]["metrics"][metric].get("why")
def names(): return [a["name"] for a in r["arms"]]
def pairs(i): return {k: v for k, v in c(i).items()}
ok = eval("(" + sys.argv[2] + ")")
print(repr(ok)[:1500])
sys.exit(0 if ok else 1)
END
}

# Three locks, one to four threads: all metrics, per thread too.
relax lock -q --hint $hints --lock ttas,ticket,mcs -t 1,2,4 -r 2 --window 5 -o "$tmp/r.json"
is "three locks with 1, 2 and 4 threads" 0 out 'ttas threads=1' out 'mcs threads=4'
check "nine conditions" json 'len(r["conditions"]) == 9'
check "acquisitions in every trial" json '
	all(v is not None and v >= 0 for i in range(9) for a in range(len(r["arms"]))
		for v in m(i, a, "acquisitions")) and
	any(v > 0 for v in m(0, 0, "acquisitions"))'
check "a count for each thread, and none for more" json '
	all(len(m(i, 0, "acquired.thread%d" % t)) == 2 for i in (2, 5, 8) for t in range(4)) and
	not [v for v in m(0, 0, "acquired.thread1") if v is not None] and
	"no such thread" in why(0, 0, "acquired.thread1")'
check "Jain's index and the shares follow from the counts" json 'all(
	abs(j - sum(x) ** 2 / (4 * sum(v * v for v in x))) < 1e-6 and abs(lo - min(x) / sum(x)) < 1e-6 and
	abs(hi - max(x) / sum(x)) < 1e-6
	for i in (2, 5, 8) for a in range(len(r["arms"])) for k in (0, 1)
	for x in [[m(i, a, "acquired.thread%d" % t)[k] for t in range(4)]] if sum(x)
	for j, lo, hi in [(m(i, a, "jain")[k], m(i, a, "min_share")[k], m(i, a, "max_share")[k])])'
check "one thread alone: never spins, never hands over, is fair" json '
	set(m(0, 0, "spins")) <= {0, None} and set(m(0, 0, "jain")) <= {1, None} and set(m(0, 0, "handoff_p50")) <= {None} and
	why(0, 0, "handoff_p50")'
check "quantiles are in order" json 'all(x[0] <= x[1] <= x[2] <= x[3] for i in range(9) for a in range(len(r["arms"]))
	for x in zip(m(i, a, "acquire_p50"), m(i, a, "acquire_p99"), m(i, a, "acquire_p99.9"), m(i, a, "acquire_max"))
	if None not in x)'
check "the window is a share of the whole" json 'all(0 < v <= 1 for i in range(9) for v in m(i, 0, "overlap"))'
check "counters: a number for each acquisition, or a reason" json '
	all(why(1, 0, e) or all(v > 0 for v in m(1, 0, e)) for e in ("instructions", "cycles", "energy"))'
if [ -n "$twins" ]; then
	check "pause and rep-nop have the same loop and are each other's null control" json '
		r["arms"][0]["bytes"] == r["arms"][1]["bytes"] and r["arms"][2]["bytes"] != r["arms"][0]["bytes"] and
		"rep-nop" in names() and "pause#2" not in names()'
fi
if grep -q '"loop\.' "$tmp/r.json"; then
	check "each condition records its own lock's wait loops" json '
		all(c(i)["settings"]["loop." + n] for i in range(9) for n in names() if "#" not in n) and
		c(0)["settings"]["loop.none"] == c(1)["settings"]["loop.none"] != c(3)["settings"]["loop.none"]'
fi
check "more threads than CPUs is labelled" json \
	"all(('oversubscribed' in json.dumps(c(i))) == (t > $cpus) for i, t in enumerate([1, 2, 4] * 3))"
if [ "$cpus" -lt 4 ]; then
	relax lock --hint none -t 4 -r 1 --window 2
	is "and warned of" 0 out 'oversubscribed'
fi

# Counters of all threads: with task-clock in their place, an acquisition takes some of both, whoever did it.
shim=$tmp/perf-shim.so
if [ -z "${PERF_RELAX_RUNNER:-}" ] &&
	${CC:-cc} -shared -fPIC -O1 -D_GNU_SOURCE -o "$shim" "$srcdir/tests/shim/perf-shim.c" -ldl 2>"$tmp/cc"; then
	run env PERF_SHIM=fake LD_PRELOAD="$shim" "$PERF_RELAX" lock -q --hint none -t 1,3 -r 2 --window 20 -o "$tmp/r.json"
	if [ "$status" -ne 0 ]; then
		skip shim "counters of all threads" "the program does not run with a preloaded library: ${err:0:100}"
	else
		check "counters of all threads" json 'all(v > 0 for i in (0, 1) for a in (0, 1) for e in ("instructions", "cycles")
			for v in m(i, a, e) if v is not None) and any(v for v in m(0, 0, "instructions"))'
		# The same clock twice, read one after the other.
		check "are divided by the same acquisitions" json 'all(0.5 < x / y < 2 for i in (0, 1)
			for x, y in zip(m(i, 0, "instructions"), m(i, 0, "cycles")) if x and y)'
	fi
else
	skip cc "counters of all threads" "no shared object can be built or preloaded here"
fi

# Arms without a twin get one.
relax lock -q --hint none -r 2 --window 2 -o "$tmp/r.json"
is "one hint: it runs twice" 0 out 'none#2'
all=tas,ttas,ttas-backoff,ticket,ticket-backoff,mcs,clh,qspin,spin-park,pthread-spin,pthread-mutex,pthread-adaptive
relax lock -q --lock $all --hint none -r 1 --window 2
is "all locks as arms" 0 out 'pthread-adaptive' out 'ticket-backoff'

# The wait loop holds the hint and the lock's own look, nothing else: one hint's loop is the empty hint's and the hint.
loops() {	# LOCK HINT: bytes, then text
	awk -v lock="$1" -v hint="$2" '
		/^  [a-z]/ { in_lock = $1 == lock }
		in_lock && /^    [a-z]/ { want = $1 == hint; if (want) { $1 = ""; print substr($0, 2) } next }
		in_lock && want && /^          / { sub(/^ */, ""); print; want = 0 }' "$tmp/list"
}
relax list locks -v
cp "$tmp/out" "$tmp/list"
is "list locks -v shows wait loops" 0 out 'ttas'
count_instructions() { awk -F'; ' '{ print NF }' <<<"$1"; }
if grep -aqE '__(asan|tsan|ubsan)_' "$PERF_RELAX"; then
	skip plain "the wait loops by disassembly" "this is a build with sanitizers, which look at memory too"
elif [ -z "$(loops ttas none)" ]; then
	skip disasm "the wait loops by disassembly" "instructions of this machine are not decoded here"
else
	for lock in tas ttas ttas-backoff ticket ticket-backoff mcs clh qspin spin-park; do
		mapfile -t empty < <(loops $lock none)
		mapfile -t nop < <(loops $lock nop)
		bytes_empty=$(wc -w <<<"${empty[0]}") bytes_nop=$(wc -w <<<"${nop[0]}")
		nop_bytes=$((bytes_nop - bytes_empty))
		more=$(($(count_instructions "${nop[1]}") - $(count_instructions "${empty[1]}")))
		check "$lock: one instruction more with nop than with none" test $more -eq 1
		check "$lock: and its bytes" test "$nop_bytes" -ge 1 -a "$nop_bytes" -le 4
	done
	if [ -n "$twins" ]; then
		reg='%[a-z0-9]+' mem='(0x[0-9a-f]+|[0-9]*)\(%[a-z0-9]+\)' branch='jn?e [0-9a-fx]+$'
		for hint in pause rep-nop; do
			for lock in ttas mcs clh; do
				check "$lock $hint: hint, load, test, branch" \
					grep -qE "^pause; movl $mem, $reg; testl $reg, $reg; $branch" <<<"$(loops $lock $hint | tail -n 1)"
			done
			check "ticket $hint: hint, load, compare, branch" \
				grep -qE "^pause; movl $mem, $reg; cmpl $reg, $reg; $branch" <<<"$(loops ticket $hint | tail -n 1)"
			check "tas $hint: hint, swap, test, branch" \
				grep -qE "^pause; movl $reg, $reg; xchgl $reg, $mem; testl $reg, $reg; $branch" \
				<<<"$(loops tas $hint | tail -n 1)"
		done
	fi
fi

# Work inside and outside is measured, and the same for every lock.
relax lock -q --hint none,nop --lock ttas,mcs --cs 300ns --think 200ns --cs-lines 2 -r 1 --window 5 -o "$tmp/r.json"
is "--cs and --think in ns" 0
check "measured by itself and in place" json '
	all(float(c(i)["settings"][k]) > 0 for i in (0, 1) for k in ("cs_measured_ns", "think_measured_ns")) and
	all((m(i, 0, "held_p50") and m(i, 0, "held_p50")[0] > 0) or why(i, 0, "held_p50") for i in (0, 1))'
check "the same number of iterations for both locks" json 'len({json.dumps({k: v for k, v in c(i)["settings"].items()
	if k.endswith("_iters")}) for i in (0, 1)}) == 1'
relax lock -q --hint none --cs 1000000 -r 1 --window 5 -t 4 --lock ticket
is "a critical section longer than the window" 0

# Many threads: each trial ends, by itself or by the watchdog.
for lock in ticket mcs pthread-mutex ttas; do
	relax lock -q --hint none,nop --lock $lock -t 64 -r 1 --window 10 2>&1
	case $lock in
	pthread-mutex) is "$lock alone has no hints to compare" 2 err 'C library' ;;
	*) is "$lock, 64 threads" 0 out 'threads=64' ;;
	esac
done
relax lock -q --hint none --lock clh,pthread-mutex,qspin -t 256 -r 1 --window 5
is "256 threads, three locks" 0 out 'threads=256'

# Places.
relax lock -q --hint none -r 1 --window 2 --place "$last_cpu" -t 2
is "a list of CPUs as a place; two threads on one CPU" 0 out "place=$last_cpu"
for place in 5-2 ',' 0,0 '' 0- any,any nowhere any,0 -1; do
	relax lock --hint none --place "$place"
	is "--place '$place' is refused" 2 err '.' noout .
done
relax lock --hint none --place 0-99999
is "CPUs that are not there are named" 2 err '99999' noout .
relax lock --hint none --place 0-4095
is "a list that exceeds the machine is not cut" 3 err 'not online' noout .
if [ "$(cat /sys/devices/system/cpu/smt/active 2>/dev/null)" != 1 ]; then
	relax lock --hint none --place smt
	is "--place smt without SMT" 3 err 'SMT' noout .
	relax lock --victim --hint none
	is "--victim without SMT" 3 err 'not supported: no SMT sibling|which CPUs share a core' noout .
else
	relax lock -q --victim --hint none,nop -r 1 --window 5
	is "--victim" 0 out 'alu_left'
fi
if [ "$cpus" -ge 2 ]; then
	relax lock -q --victim-cpu "$last_cpu" --hint none,nop -r 2 --window 5 -o "$tmp/r.json"
	is "--victim-cpu" 0 out "victim=$last_cpu" out 'alu_left'
	# 0 only if the machine gave them no time, and not always.
	check "both victims, alone and beside the spinner" json '
		all(v >= 0 for k in ("alu", "alu_alone", "memory", "memory_alone") for a in range(len(r["arms"]))
			for v in m(0, a, k)) and
		all(any(v > 0 for a in range(len(r["arms"])) for v in m(0, a, k))
			for k in ("alu", "alu_alone", "memory", "memory_alone"))'
	check "what is left is one over the other" json '
		all(abs(x - y / z) < 1e-6 * x for a in range(len(r["arms"])) for v in ("alu", "memory")
		for x, y, z in zip(m(0, a, v + "_left"), m(0, a, v), m(0, a, v + "_alone")) if z and x)'
	relax lock -q --matrix --hint none,nop -r 2 --window 5 -o "$tmp/r.json" -C "0,$last_cpu"
	is "--matrix" 0 out "cpus=0,$last_cpu \\((smt|llc|node|socket|machine|unknown)\\)" out 'handoff'
	check "a hand-over takes a time, or there was none" json '
		all(v > 0 if v is not None else "turn never changed" in why(0, a, "handoff")
		for a in range(len(r["arms"])) for v in m(0, a, "handoff"))'
	relax lock --matrix -C "$last_cpu"
	is "--matrix with one CPU" 3 err 'two CPUs' noout .
	relax lock --victim-cpu "$last_cpu" -C "$last_cpu"
	is "--victim-cpu without a second CPU" 3 err 'second CPU' noout .
else
	skip cpus "--victim-cpu and --matrix" "there is one CPU"
fi
for wrong in '--matrix --victim' '--matrix -t 2' '--matrix --lock ttas' '--victim --place any' '--victim --cs 5' \
	'--matrix --place any'; do
	# shellcheck disable=SC2086 # words
	relax lock $wrong
	is "$wrong is refused" 2 err 'does not go|cannot be combined' noout .
done

# Names and numbers.
relax lock --lock tta
is "a misspelt lock: the nearest" 2 err 'ttas' noout .
relax lock --hint no-such
is "an unknown hint" 2 err 'no-such' noout .
relax lock --hint none,none
is "a hint twice" 2 err 'twice' noout .
for pair in '-t 0' '-t 1025' '-t x' '-t 1,,2' '--cs -1' '--cs 5us' '--cs 99999999999' '--think x' \
	'--cs-lines 65' '--window 0' '--window nan' '--victim-cpu x' '--victim-cpu -1'; do
	relax lock --hint none ${pair% *} "${pair#* }"
	is "$pair is refused and the option named" 2 err "${pair% *}" noout .
done

# --fifo never takes all CPUs.
relax lock --fifo --hint none -t "$cpus"
is "--fifo on every CPU is refused" 3 err 'every one' noout .
relax lock --fifo --hint none -t 1 -C "$last_cpu"
is "--fifo on the one CPU of -C is refused" 3 err 'every one' noout .
if [ "$cpus" -ge 2 ]; then
	relax lock -q --fifo --hint none -t 1 -r 1 --window 2
	if [ "$status" -eq 4 ] && grep -q 'SCHED_FIFO' <<<"$err"; then
		skip fifo "--fifo on one CPU of several" "not permitted here, and said so"
	else
		is "--fifo on one CPU of several" 0 out 'acquisitions'
	fi
fi

# A thread that cannot be made ends the run with the reason.
limited=(prlimit --nproc=1)
for_everyone
[ "$(id -u)" != 0 ] || limited=(setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=20)
if ! have prlimit || ! have setpriv; then
	skip util-linux "a thread that cannot be made" "no prlimit or setpriv"
elif [ -n "${PERF_RELAX_RUNNER:-}" ] || ! "${limited[@]}" "$for_everyone" --version >/dev/null 2>&1; then
	skip nproc "a thread that cannot be made" "the program cannot be started under a limit of processes here"
else
	run "${limited[@]}" "$for_everyone" lock --hint none -t 64 -r 1 --window 2
	is "a thread that cannot be made: error, status, reason" 4 err 'cannot make thread [0-9]+ of 64: .*ulimit -u'
fi

# A signal in a long window: the run ends at once, what there is stays.
pid=
cleanup() {
	[ -z "$pid" ] || kill -KILL "$pid" 2>/dev/null
}
if [ -n "${PERF_RELAX_RUNNER:-}" ]; then
	skip native "SIGTERM in a long window" "the emulator's own threads are in the way"
else
	"$PERF_RELAX" lock --hint none -r 5 --window 9000 >"$tmp/out" 2>"$tmp/err" &
	pid=$!
	# When its threads are there it is in the window.
	for _ in $(seq 300); do
		[ "$(find "/proc/$pid/task" -mindepth 1 -maxdepth 1 2>/dev/null | wc -l)" -lt 3 ] || break
		sleep 0.1
	done
	kill -TERM $pid
	began=$SECONDS
	wait $pid
	got=$?
	pid=
	check "SIGTERM in a long window: partial, not after the window" test $got -eq 4 -a $((SECONDS - began)) -lt 8
fi

finish
