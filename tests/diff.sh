#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax diff: the published results, conditions that differ, what is refused, what fails, odd values.
. "$(dirname "$0")/lib.sh"
have python3 || skip_all python3 "python3 is missing: it writes the results that are compared here"
cd "$tmp" || exit 99

# make FILE [python]: a result of 30 values each in d; the code may change d before it is written.
make() {
	python3 - "$1" "${2:-}" <<'END'
import json, random, sys

def values(center, spread=0.002, n=30, seed=1):
    r = random.Random(f'{center} {seed}')
    return [center * (1 + spread * (r.random() + r.random() + r.random() - 1.5)) for _ in range(n)]

def arm(d, name):
    return next(a for a in d["arms"] if a["name"] == name)

def metric(d, name, metric="ns"):
    return next(a for a in d["conditions"][0]["arms"] if a["arm"] == name)["metrics"][metric]

d = {"format": "perf-relax", "version": 1, "command": "stat", "interleaved": True, "seed": 1,
     "env": {"arch": "x86_64", "cpu_model": "Model A", "kernel": "6.1.0", "clocksource": "tsc", "ticks": "tsc", "ticks_mhz": "2000.1"},
     "metrics": [{"name": "ns", "unit": "ns/op", "better": "lower", "headline": True}, {"name": "ticks", "unit": "ticks/op", "better": "lower"}],
     "arms": [{"name": "pause", "bytes": "f3 90"}, {"name": "nop", "bytes": "90"}],
     "conditions": [{"name": "", "arms": [
         {"arm": "pause", "metrics": {"ns": {"values": values(17.7)}, "ticks": {"values": values(35.4)}}},
         {"arm": "nop", "metrics": {"ns": {"values": values(0.3)}, "ticks": {"values": values(0.6)}}}]}]}
exec(sys.argv[2])
json.dump(d, open(sys.argv[1], "w"))
END
}

# summary FILE NAME:N:MEAN:SD...: conditions NAME with a summary each; SD "-" is not known.
summary() {
	python3 - "$@" <<'END'
import json, sys
conditions = []
for text in sys.argv[2:]:
    name, n, mean, sd = text.split(":")
    s = {"n": int(n), "mean": float(mean)}
    if sd != "-":
        s["sd"] = float(sd)
    conditions.append({"name": name, "arms": [{"arm": "it", "metrics": {"t": {"summary": s}}}]})
json.dump({"format": "perf-relax", "version": 1, "metrics": [{"name": "t", "unit": "us", "better": "lower"}], "arms": [{"name": "it"}],
           "conditions": conditions}, open(sys.argv[1], "w"))
END
}

# The three published results. Context switches of 2008: mean and deviation of 1000 runs; tiotest of 2010: means of five runs.
summary plain.json x86_32:1000:1.335:0.107 x86_64:1000:1.423:0.0745
summary patch.json x86_32:1000:1.319:0.081 x86_64:1000:1.417:0.0716
relax diff plain.json patch.json
is "published: 32-bit switch is faster by 1.20 % [-1.82, -0.57], 64-bit is the same" 1 \
	out 'x86_32.*-1\.20 % \[-1\.82, -0\.57\] +faster' out 'x86_64.*-0\.42 % \[-0\.87, \+0\.03\] +same' out 'not interleaved'
summary tio-pause.json write:5:1.14:- random-write:5:3.7:-
summary tio-reppause.json write:5:1.12:- random-write:5:3.46:-
relax diff tio-pause.json tio-reppause.json
is "published: five means without spread cannot tell" 0 out 'write +it.*cannot tell' noout '(faster|slower)( !)?$' out 'standard deviation'
relax diff tio-pause.json tio-reppause.json -j
is "... in JSON too, with null and why" 0 out '"effect_low": null, "effect_low_why"' noout 'NaN|Infinity'

make a.json
make b.json 'pass'
relax diff a.json b.json
is "equal results are the same" 0 out 'no difference in anything' out 'pause.*same' noout 'faster|slower'

make slow.json 'metric(d, "pause")["values"] = values(18.9)'
relax diff a.json slow.json
is "a slower arm: exit 1" 1 out 'pause +ns.*\+6\.[0-9]+ % .*slower !' out 'exit status 1' out 'lower'
relax diff slow.json a.json
is "a faster one too" 1 out 'pause +ns.*faster !'
for rule in slower:0 slower:5 slower any any:6 faster,slower; do
	relax diff --fail-on $rule a.json slow.json
	is "--fail-on $rule" 1
done
for rule in slower:8 faster none change faster:1,slower:7.5; do
	relax diff --fail-on $rule a.json slow.json
	is "--fail-on $rule passes" 0 out 'slower'
done
for rule in slow slower:x slower:-1 slower:1e9 "" ,quick; do
	relax diff --fail-on "$rule" a.json slow.json
	is "--fail-on '$rule' is wrong usage" 2 err '--fail-on'
done
relax diff --margin 10 a.json slow.json
is "within a margin of 10 % it is the same" 0 out 'pause +ns.*same'
for option in "--margin -1" "--margin x" "--confidence 30" "--confidence 100" "--format html" "--no-such-option"; do
	# shellcheck disable=SC2086
	relax diff $option a.json slow.json
	is "diff $option is wrong usage" 2 err '.'
done
relax diff a.json
is "one file is not enough" 2
relax diff a.json b.json slow.json
is "three are too many" 2
relax diff a.json missing.json
is "a missing file" 4 err 'cannot read missing.json'
relax diff --metric cylces a.json b.json
is "an unknown metric" 2 err 'cylces'
relax diff --metric ticks a.json slow.json
is "--metric: only that one" 0 out 'ticks' noout ' ns '

# Direction belongs to the metric.
make high.json 'd["metrics"][0].update(better="higher")'
make high-more.json 'd["metrics"][0].update(better="higher"); metric(d, "pause")["values"] = values(18.9)'
relax diff high.json high-more.json
is "more is faster where higher is better" 1 out 'higher.*faster'
make none.json 'd["metrics"][0].update(better="none")'
make none-more.json 'd["metrics"][0].update(better="none"); metric(d, "pause")["values"] = values(18.9)'
relax diff none.json none-more.json
is "without a direction it goes up, which is no failure" 0 out 'none.* up' noout 'faster|slower'
relax diff --fail-on change none.json none-more.json
is "... unless --fail-on change" 1

make detail.json 'd["metrics"][1]["detail"] = True'
relax diff detail.json detail.json
is "details are not compared" 0 out ' ns ' noout ' ticks '
relax diff --metric ticks detail.json detail.json
is "... unless named" 0 out ' ticks '

# Conditions that differ come before any verdict.
make other.json 'd["env"].update(cpu_model="Model B", kernel="6.6.0", ticks_mhz="2000.2")
arm(d, "pause")["bytes"] = "f3 f3 90"
metric(d, "pause")["values"] = values(50)'
relax diff a.json other.json
is "what differs is named" 1 out 'cpu_model: Model A -> Model B' out 'kernel: 6.1.0 -> 6.6.0' out 'bytes of pause: f3 90 -> f3 f3 90' noout 'ticks_mhz'
check "... before the verdicts" test "$(grep -n 'cpu_model' <<<"$out" | head -n 1 | cut -d: -f1)" -lt "$(grep -n 'slower' <<<"$out" | head -n 1 | cut -d: -f1)"
make sizes.json 'd["conditions"][0]["settings"] = {"size": "4096"}'
make sizes2.json 'd["conditions"][0]["settings"] = {"size": "8192"}'
relax diff sizes.json sizes2.json
is "sizes that differ are named" 0 out 'size: 4096 -> 8192'

# What would be meaningless is refused by name.
make cycles.json 'd["metrics"][1].update(unit="cycles/op")'
relax diff a.json cycles.json
is "ticks are not cycles, by the unit" 0 out 'refused: ticks: its unit is ticks/op .* cycles/op' out 'pause +ns'
make renamed.json 'd["metrics"][1].update(name="cycles", unit="cycles/op")
for a in d["conditions"][0]["arms"]: a["metrics"]["cycles"] = a["metrics"].pop("ticks")'
relax diff a.json renamed.json
is "ticks are not cycles, by the name" 0 out 'refused: ticks against cycles' out 'pause +ns'
make estimated.json 'd["metrics"][1].update(name="cycles", unit="cycles/op", estimated=True)
for a in d["conditions"][0]["arms"]: a["metrics"]["cycles"] = a["metrics"].pop("ticks")'
relax diff renamed.json estimated.json
is "counted cycles are not estimated ones" 0 out 'refused: cycles: counted in the old result and estimated'
make user.json 'd["metrics"][1].update(name="cycles:u", unit="cycles/op")
for a in d["conditions"][0]["arms"]: a["metrics"]["cycles:u"] = a["metrics"].pop("ticks")'
relax diff renamed.json user.json
is "cycles are not cycles:u" 0 out 'refused: cycles against cycles:u'
make rate.json 'd["env"]["ticks_mhz"] = "24"'
relax diff a.json rate.json
is "ticks of another rate" 0 out 'refused: ticks: a tick is not the same.*ticks_mhz' out 'pause +ns'
make us.json 'd["metrics"][0].update(unit="us/op")'
relax diff --metric ns a.json us.json
is "other units: nothing is left to compare" 4 out 'refused: ns' out 'Nothing is left'

# Partial and failed are out, by name.
make partial.json 'd["partial"] = True; metric(d, "pause")["values"] = values(18.9)'
relax diff a.json partial.json
is "a partial result is excluded" 4 out 'excluded: all of partial.json: it is partial'
relax diff --partial a.json partial.json
is "... unless asked for" 1 out 'slower'
make failed.json 'metric(d, "pause").update(values=[None] * 30, why="it crashed")
d["conditions"][0]["arms"][0]["trials"] = {"failed": list(range(30))}'
relax diff a.json failed.json
is "an arm that failed is excluded by name" 0 out 'excluded: ns of pause: .*it crashed' out 'nop +ns'
make absent.json 'arm(d, "nop")["absent"] = "this CPU lacks it"'
relax diff a.json absent.json
is "an arm that was not measured" 0 out 'excluded: nop: not measured in the new result: this CPU lacks it'
make fewer.json 'd["arms"].pop(); d["conditions"][0]["arms"].pop()'
relax diff a.json fewer.json
is "an arm of one side only" 0 out 'excluded: nop: only in the old result'
relax diff fewer.json a.json
is "... and of the other" 0 out 'excluded: nop: only in the new result'

# Odd values: a verdict, or cannot tell; never NaN, never a hang.
odd() {	# NAME STATUS OLD NEW REGEX
	make old.json "metric(d, 'pause')['values'] = $3"
	make new.json "metric(d, 'pause')['values'] = $4"
	relax diff --metric ns old.json new.json
	is "$1" "$2" out "pause +ns.*$5|excluded: ns of pause.*$5" noout '(^|[^a-z])nan|NaN'
	relax diff --metric ns -j old.json new.json
	check "$1: strict JSON" python3 -c 'import json,sys; json.load(open(sys.argv[1]), parse_constant=lambda x: sys.exit("constant " + x))' "$tmp/out"
}
odd "five equal values against five other equal ones" 1 '[1.0] * 5' '[2.0] * 5' 'slower'
odd "three against three are too few" 0 '[1.0] * 3' '[2.0] * 3' '(cannot tell)'
odd "equal values on both sides" 0 '[3.0] * 20' '[3.0] * 20' 'same'
odd "one value each" 0 '[1.0]' '[2.0]' 'cannot tell'
odd "two values each" 0 '[1.0, 1.1]' '[2.0, 2.1]' 'cannot tell'
odd "no values" 0 '[]' '[]' 'no values'
odd "values of 1e-12" 1 'values(1e-12)' 'values(1.1e-12, seed=2)' 'slower'
odd "values of 1e18" 1 'values(1e18)' 'values(1.1e18, seed=2)' 'slower'
odd "a baseline around zero" 1 'values(1e-9)' 'values(5.0)' 'slower'
odd "a negative baseline" 1 '[-x for x in values(5.0)]' 'values(5.0)' 'slower'

# Two modes are shown as two.
make modes.json 'metric(d, "pause")["values"] = [v for pair in zip(values(11.0), values(765.0)) for v in pair]'
relax diff --metric ns a.json modes.json
is "two modes are shown" "$status" out 'two modes: modes.json, ns of pause: 1[01]\..* and 76'

# Other forms of the output.
relax diff a.json slow.json -x ';'
is "CSV" 1 out '^kind;condition;arm' out '^verdict;;pause;ns;ns/op;lower;' noout '[^;]nan'
relax diff a.json other.json --format markdown
is "Markdown" 1 out '^\| condition \| old \| new \|' out '^\| --- '
relax diff a.json other.json --format json
is "JSON" 1 out '"what": "cpu_model", "old": "Model A", "new": "Model B"'
relax diff --ascii tio-pause.json tio-reppause.json
check "--ascii: no other characters" bash -c '! LC_ALL=C grep -q "[^ -~]" "$0"' "$tmp/out"
run bash -c '"$0" diff - b.json <a.json' "$PERF_RELAX"
[ -n "${PERF_RELAX_RUNNER:-}" ] || is "standard input" 0 out 'same'
finish
