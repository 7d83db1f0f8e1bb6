#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax report and the forms that stat prints, also by perf's own checks where its source is at hand.
. "$(dirname "$0")/lib.sh"
have python3 || skip_all python3 "python3 is missing: it writes and reads the results here"
cd "$tmp" || exit 99

# many FILE ARMS ROUNDS [MACHINE]: a result of so many probes.
many() {
	python3 - "$@" <<'END'
import json, random, sys
r = random.Random(7)
arms, rounds = int(sys.argv[2]), int(sys.argv[3])
machine = sys.argv[4] if len(sys.argv) > 4 else "Model A"
d = {"format": "perf-relax", "version": 1, "command": "stat", "interleaved": True, "seed": 1, "elapsed_s": 1.0,
     "env": {"cpu_model": machine, "kernel": "6.1.0"},
     "metrics": [{"name": "ns", "unit": "ns/op", "better": "lower", "headline": True}],
     "arms": [{"name": f"probe-{i}"} for i in range(arms)],
     "conditions": [{"name": "", "arms": [{"arm": f"probe-{i}", "metrics": {"ns": {"values": [round(10 + i % 7 + r.random() / 50, 4) for _ in range(rounds)]}}}
                                          for i in range(arms)]}]}
json.dump(d, open(sys.argv[1], "w"))
END
}

many a.json 3 12
many b.json 4 12 "Model B"
relax report a.json
is "one file" 0 out 'probe-1 .*slower' out 'lower is better' out 'Model A' noout '[^a-z]nan'
relax report a.json b.json
is "two files: one row a probe, a group of columns each" 0 out 'A: a.json; Model A' out 'B: b.json; Model B' out 'probe-1 .*slower .*slower'
check "... each probe once" test "$(grep -c '^ probe-' <<<"$out")" -eq 4
check "... what is on one side only has an empty place" grep -Eq '^ probe-3 {20,}1' <<<"$out"
relax report a.json a.json a.json a.json a.json a.json b.json
is "seven files are set below one another" 0 out 'probe-1 +A ' out 'probe-1 +G '
for format in csv json markdown text; do
	relax report --format $format a.json b.json
	is "--format $format" 0 out 'probe-3'
	cp out "$format.out"
done
check "JSON is strict and complete" python3 -c '
import json
d = json.load(open("json.out"), parse_constant=lambda x: 1 / 0)
assert d["format"] == "perf-relax-report" and len(d["files"]) == 2 and len(d["rows"]) == 7, d
assert all(r["value"] > 9 and r["low"] <= r["value"] <= r["high"] for r in d["rows"])
assert {r["verdict"] for r in d["rows"] if "verdict" in r} <= {"slower", "faster", "same", "cannot tell"}'
check "CSV has a row for each, all of the same width" python3 -c '
import csv
rows = list(csv.DictReader(open("csv.out")))
assert len(rows) == 7 and all(None not in r and None not in r.values() for r in rows), rows
assert float(rows[0]["value"]) > 9 and rows[1]["verdict"] == "slower", rows'
relax report -x '|' a.json
is "-x is CSV with that separator" 0 out '^file\|condition\|arm\|' out '^a.json\|\|probe-0\|'
relax report -j a.json
is "-j is JSON" 0 out '"perf-relax-report"'
relax report --sort=-ns a.json
check "--sort=-ns: largest first" test "$(grep -oE '^ probe-[0-9]' <<<"$out" | tr -d '\n')" = " probe-2 probe-1 probe-0"
for option in "--sort weight" "--metric cycles" "--format html" "-x ''" "--nonsense"; do
	eval "relax report $option a.json"
	is "report $option is wrong usage" 2 err '.' noout '.'
done
python3 -c 'import json; d = json.load(open("b.json")); d["metrics"][0]["name"] = "time"
for a in d["conditions"][0]["arms"]: a["metrics"]["time"] = a["metrics"].pop("ns")
json.dump(d, open("time.json", "w"))'
relax report --metric time a.json time.json
is "--metric that one of the files has" 0 out '^time in' noout '^ns in'
relax report --sort=-time a.json time.json
is "--sort by a column that one of the files has" 0 out '^time in' out '^ns in'
relax report
is "report without a file is wrong usage" 2 err 'result file'
run env LC_ALL=C.UTF-8 "$PERF_RELAX" report a.json
is "a UTF-8 locale gets its line and sign" 0 out '─' out '±'
relax report a.json
check "another locale gets ASCII" bash -c '! LC_ALL=C grep -q "[^ -~]" out'
check "no colour into a file" bash -c '! grep -q "$(printf "\033")" out'
if have script && [ -z "${PERF_RELAX_RUNNER:-}" ]; then
	run env TERM=xterm script -qec "'$PERF_RELAX' report a.json" /dev/null
	is "colour on a terminal" 0 out "$(printf '\033')\\[31mslower"
	run env TERM=xterm NO_COLOR=1 script -qec "'$PERF_RELAX' report a.json" /dev/null
	is "NO_COLOR" 0 noout "$(printf '\033')"
else
	skip script "colour on a terminal" "script(1) is missing or the program is emulated"
fi
if [ -c /dev/full ]; then
	run bash -c '"$0" report a.json >/dev/full' "$PERF_RELAX"
	is "a full standard output is an error" 4 err 'No space left'
fi

# Memory stays linear and small however large the result is: 100,000 rows in less than 1 kB each (and the bare program).
if [ -z "${PERF_RELAX_RUNNER:-}" ] && ! instrumented; then
	many large.json 100000 6
	for format in text csv; do
		check "100,000 rows as $format" python3 - "$PERF_RELAX" "$format" <<'END'
import resource, subprocess, sys
out = open("large.out", "wb")
subprocess.run([sys.argv[1], "report", "--format", sys.argv[2], "large.json"], stdout=out, check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
rows = sum(b"probe-" in line for line in open("large.out", "rb"))
print(rows, "rows", used // rows, "bytes a row")
sys.exit(rows < 100000 or used > 100000 * 1024 + (16 << 20))
END
	done
else
	skip uninstrumented "memory of 100,000 rows" "the program is emulated or instrumented"
fi

# stat -x and -j as perf's own checks want them: 6 separators, and its linter of JSON.
relax stat -q -r 3 -x, none nop
is "stat -x" 0 out '^[0-9.e-]+,ns/op,none/ns/,[0-9]+,100\.00,,$' out '^<not (supported|counted)>,|^[0-9.e-]+,cycles/op'
# This is perf's commachecker of stat+csv_output.sh, for --event.
commas() {
	local line count
	[ -s out ] || return 1
	while read -r line; do
		count=$(tr -d -c , <<<"$line")
		[ ${#count} -eq 6 ] || { echo "$line" && return 1; }
	done <out
}
check "stat -x: perf's number of fields" commas
relax stat -q -r 3 -j none nop
is "stat -j" 0 out '^\{"counter-value" : '
cp out json.lines
source=$(find /usr/src -maxdepth 2 -name 'linux-source-*.tar.xz' 2>/dev/null | sort -V | tail -n 1)
linter='*/tools/perf/tests/shell/lib/perf_json_output_lint.py'
if [ -n "$source" ] && tar -xJf "$source" --strip-components=1 --wildcards --occurrence=1 "$linter" 2>/dev/null; then
	check "stat -j: there are lines to judge" test -s json.lines
	check "stat -j: perf's own linter accepts it" python3 tools/perf/tests/shell/lib/perf_json_output_lint.py --event <json.lines
else
	skip perf-source "stat -j by perf's own linter" "no kernel source package under /usr/src"
fi
finish
