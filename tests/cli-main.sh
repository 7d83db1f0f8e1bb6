#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Dispatch, help, version, exit codes, and the manners of a program: closed and full outputs, foreign locales, reached through perf.
. "$(dirname "$0")/lib.sh"

relax
is "no command: usage on stderr, status 2" 2 err '^Usage: ' noout .

for option in -h --help; do
	relax $option
	is "$option" 0 out '^Usage: ' out '^  stat ' noerr .
done
relax --version
is "--version" 0 out "^perf-relax ${PERF_RELAX_VERSION:-[0-9]}" noerr .

relax --list-cmds
is "--list-cmds: names alone" 0 out '^stat$' noout ' ' noerr .
commands=$out

relax help
is "help" 0 out '^Usage: '
relax help nonsense
is "help of no command" 2 err "'nonsense' is not a command"
relax stta
is "a misspelt command names the nearest" 2 err 'stat' noout .
relax --no-such-option
is "an unknown option" 2 err "no-such-option" noout .
relax --list-opts
is "--list-opts without a command" 2 noout .
relax --list-opts nonsense
is "--list-opts of no command" 2 err nonsense noout .

while read -r command; do
	relax help "$command"
	is "help $command, not on a terminal" 0 out '^Usage: '
	relax "$command" --help
	is "$command --help" 0 out '^Usage: perf-relax '"$command" noerr .
	relax "$command" --no-such-option
	is "$command with an unknown option" 2 err "no-such-option" noout .
	relax --list-opts "$command"
	is "--list-opts $command: long options alone" 0 out '^--' noout '[= ]' noerr .
done <<<"$commands"

# runner and program as one command line, for shells
run_by_shell() {
	local quoted
	quoted=$(printf '%q ' $PERF_RELAX_RUNNER_WORDS "$PERF_RELAX")
	run bash -c "${1//PERF_RELAX/$quoted}"
}
PERF_RELAX_RUNNER_WORDS=${PERF_RELAX_RUNNER:-}

for command in --version --help list; do
	run_by_shell "PERF_RELAX $command >/dev/full"
	is "$command to a full disk fails and says so" 4 err 'No space left'
	run_by_shell "PERF_RELAX $command >&-"
	is "$command to a closed stdout does not crash" "$status" noerr 'egmentation|bort'
	check "$command to a closed stdout ends with a status of its own" test "$status" -le 4
	run_by_shell "PERF_RELAX $command 2>&-"
	is "$command with stderr closed" 0 out .
	run_by_shell "set -o pipefail; PERF_RELAX $command | head -c 1 >/dev/null"
	check "$command into a reader that leaves ends by itself" test "$status" -ne 124
done

# Numbers never follow the locale; names of it need not exist for LC_ALL=C.UTF-8 to work.
for locale in de_DE.UTF-8 C.UTF-8 no_SUCH; do
	run env LC_ALL=$locale LANGUAGE=de ${PERF_RELAX_RUNNER_WORDS:+$PERF_RELAX_RUNNER_WORDS} "$PERF_RELAX" --version
	is "locale $locale" 0 out '^perf-relax [0-9]+\.' noerr .
done

if [ -z "${PERF_RELAX_RUNNER:-}" ] && have perf; then
	mkdir "$tmp/bin"
	ln -s "$PERF_RELAX" "$tmp/bin/perf-relax"
	run env PATH="$tmp/bin:$PATH" perf relax --version
	is "perf relax" 0 out '^perf-relax [0-9]'
	run env PATH="$tmp/bin:$PATH" perf relax stta
	is "perf passes the exit status on" 2 err stta
elif [ -n "${PERF_RELAX_RUNNER:-}" ]; then
	skip native "perf relax" "a build for another machine"
else
	skip perf "perf relax" "no perf (package linux-perf)"
fi

finish
