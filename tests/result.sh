#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The result file as `stat` writes it: strict JSON, whole or not at all, in every place that users name.
. "$(dirname "$0")/lib.sh"
have python3 || skip_all python3 "python3 is missing: nothing else here reads JSON strictly"

# json FILE EXPR: python expression over the document d; strict: no NaN, no double members.
json() {
	python3 - "$1" "$2" <<'END'
import json, sys

def no_doubles(pairs):
    keys = [k for k, _ in pairs]
    assert len(keys) == len(set(keys)), 'double member in ' + repr(keys)
    return dict(pairs)

def no_constant(x):
    raise ValueError('constant ' + x)

d = json.load(open(sys.argv[1], encoding='utf-8'), object_pairs_hook=no_doubles, parse_constant=no_constant)
value = eval('(' + sys.argv[2] + ')')
print(value)
sys.exit(0 if value else 1)
END
}

# Where a probe takes long under an emulator or a busy neighbour, five rounds are enough: nothing here judges values.
measure() {
	relax stat -q -r 5 --seed 7 "$@"
}

cd "$tmp" || exit 99
measure -o a.json none nop
is "stat -o writes a result" 0
check "it is strict JSON" json a.json 'd["format"] == "perf-relax" and d["version"] == 1'
check "command, seed and time are in it" json a.json 'd["command"] == "stat" and d["seed"] == 7
	and d["start_time"].endswith("Z") and d["elapsed_s"] > 0'
check "the command line is in it" json a.json '"-o a.json none nop" in d["command_line"]'
check "five values a metric" json a.json 'all(len(a["metrics"]["ns"]["values"]) == 5 for a in d["conditions"][0]["arms"])'
check "null has a why" json a.json '(lambda f: f(f, d))(lambda f, x: all(f(f, y) for y in x) if isinstance(x, list) else not isinstance(x, dict) or all(
	f(f, v) and (v is not None or k == "command_line" or k + "_why" in x or "why" in x) for k, v in x.items()))'
check "the environment says what it knows or why not" json a.json 'all(isinstance(v, str) or (v["value"] is None and v["why"]) for v in d["env"].values())'
check "there is a null control" json a.json 'any(m.get("comparison", m.get("twin_comparison", {})).get("null_control")
	for c in d["conditions"] for a in c["arms"] for m in a["metrics"].values())'
check "warnings have advice" json a.json 'all(w["id"] and w["text"] and w["advice"] for w in d["warnings"])'
check "a metric has unit and direction" json a.json 'all(m["unit"] and m["better"] in ("lower", "higher", "none") for m in d["metrics"])'
check "summaries agree with the values" json a.json 'all(s["summary"]["min"] == min(s["values"]) and s["summary"]["n"] == 5
	for a in d["conditions"][0]["arms"] for s in [a["metrics"]["ns"]])'

# "-" is standard output, and then nothing else is there.
measure -o - none nop
printf '%s' "$out" >stdout.json
check "-o - writes the document to standard output" json stdout.json 'd["format"] == "perf-relax"'

# An existing file is replaced as a whole; its mode stays, and nothing else is in the directory.
mkdir only && echo old >only/r.json && chmod 640 only/r.json
measure -o only/r.json none nop
is "an existing file is replaced" 0
check "its mode stays" test "$(stat -c %a only/r.json)" = 640
check "nothing else is left" test "$(ls -A only)" = r.json
check "it is whole" json only/r.json 'd["command"] == "stat"'

# Places that cannot hold it.
if [ -c /dev/full ]; then
	measure -o /dev/full none nop
	is "-o /dev/full" 4 err '/dev/full.*No space left'
fi
measure -o "$tmp/no/such/r.json" none nop
is "a directory that is not there" 4 err 'no/such/r.json.*No such file'
measure -o "$tmp" none nop
is "a directory instead of a file" 4 err 'it is a directory'
mkfifo pipe
measure -o pipe none nop
is "a pipe that nobody reads is no hang" 4 err 'no process reads'
ln -s target.json link.json
measure -o link.json none nop
is "a link to what is not there yet" 0
check "the link stays a link" test -L link.json -a -s target.json
mkdir ro && echo old >ro/r.json && chmod 555 ro
if [ "$(id -u)" -ne 0 ]; then
	measure -o ro/r.json none nop
	is "a directory that cannot be written to" 4 err 'Permission denied.*choose'
elif for_everyone && have setpriv && setpriv --reuid=65534 --regid=65534 --clear-groups "$for_everyone" --version >/dev/null 2>&1; then
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$for_everyone" stat -q -r 3 -o ro/new.json none nop
	is "a directory that cannot be written to" 4 err 'Permission denied.*choose'
	chmod 777 ro && chmod 444 ro/r.json
	run setpriv --reuid=65534 --regid=65534 --clear-groups "$for_everyone" stat -q -r 3 -o ro/r.json none nop
	is "a write-protected file is not replaced" 4 err 'Permission denied'
	check "... and stays as it was" test "$(cat ro/r.json)" = old
else
	skip nonroot "a directory that cannot be written to" "root may write everywhere, and setpriv cannot run the program as nobody"
fi
chmod 755 ro
# A file system that fills up: the old file stays. One page of room, and a result is longer.
if [ "$(id -u)" -eq 0 ] && mkdir small && mount -t tmpfs -o size=4k tmpfs small 2>/dev/null; then
	cleanup() { umount "$tmp/small" 2>/dev/null; }
	echo old >small/r.json
	measure -o small/r.json none nop
	is "a full disk" 4 err 'No space left.*unchanged|unchanged.*No space left'
	check "the old file is as it was" test "$(cat small/r.json)" = old
	check "no temporary file is left" test "$(ls -A small)" = r.json
	umount small
else
	skip mount "a full disk" "no small file system can be mounted here"
fi
run bash -c 'ulimit -f 1; exec "$0" stat -q -r 5 -o limited.json none nop' "$PERF_RELAX"
[ -n "${PERF_RELAX_RUNNER:-}" ] || is "a file size limit is an error, not a death" 4 err 'File too large'

# A signal: what was measured is saved, marked partial.
if [ -z "${PERF_RELAX_RUNNER:-}" ]; then
	for signal in INT TERM HUP; do
		rm -f cut.json
		"$PERF_RELAX" stat -q -r 100000 --time 60 -o cut.json none nop >signal.out 2>&1 &
		pid=$!
		# until it is measuring: signals before that just end it
		for _ in $(seq 100); do grep -q "^SigCgt:.*[1-9a-f]" "/proc/$pid/status" 2>/dev/null && break; sleep 0.1; done
		sleep 2
		kill -s $signal $pid
		wait $pid
		status=$?
		check "SIG$signal: exit status 4" test $status -eq 4
		check "SIG$signal: the result is saved and partial" json cut.json 'd["partial"] and any(w["id"] == "partial" for w in d["warnings"])'
		relax report cut.json
		is "SIG$signal: report says partial" 0 out 'PARTIAL'
	done
	check "nothing is left beside the results" test -z "$(find . -maxdepth 1 -name '.*.json*')"
fi

# Damaged and foreign files.
relax report missing.json
is "a file that is not there" 4 err 'cannot read missing.json: No such file'
head -c 700 a.json >cut.json
relax report cut.json
is "a file that was cut short" 4 err 'cut.json, line [0-9]+, column [0-9]+: .*cut short'
sed 's/"version": 1/"version": 2/' a.json >higher.json
relax report higher.json
is "a higher version is refused by name" 4 err 'version 2 of the result format.*version 1'
echo '{"format": "other"}' >other.json
relax report other.json
is "another format" 4 err 'no perf-relax result'
relax report other.json a.json
is "a bad file does not hide the good one" 4 err 'other.json' out 'none'
python3 -c 'import json; d = json.load(open("a.json")); d["future"] = {"x": [1]}; d["arms"][0]["future"] = 1; json.dump(d, open("future.json", "w"))'
relax report future.json
is "unknown members and another layout are accepted" 0 out 'nop'
relax report - <a.json
run bash -c '"$0" report - <a.json' "$PERF_RELAX"
[ -n "${PERF_RELAX_RUNNER:-}" ] || is "report reads standard input" 0 out 'nop'
finish
