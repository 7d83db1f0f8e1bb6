#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# bash completion, driven as readline drives it, for perf-relax and, where perf's completion is installed, for `perf relax`.
. "$(dirname "$0")/lib.sh"

[ -x "$PERF_RELAX" ] || broken "no program '$PERF_RELAX'"
[ -z "${PERF_RELAX_RUNNER:-}" ] || skip_all native "completion runs the program itself, not under an emulator"
mkdir "$tmp/bin"
ln -s "$PERF_RELAX" "$tmp/bin/perf-relax"
export PATH=$tmp/bin:$PATH
script=${1:-$srcdir/scripts/completion.bash}

# complete_line LOADER WORD...: print what completing the last word of the command line gives. LOADER: source it itself, or through the hook.
complete_line() {
	local loader=$1
	shift
	timeout 60 bash --norc -c '
		loader=$1 script=$2 hook=$3
		shift 3
		[ ! -r /usr/share/bash-completion/bash_completion ] || . /usr/share/bash-completion/bash_completion
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=${#COMP_LINE} COMPREPLY=() COMP_TYPE=9 COMP_KEY=9
		if [ "$loader" = hook ]; then
			_completion_loader() { if [ "$1" = perf-relax ]; then . "$script"; else __load_completion "$1"; fi; }
			. "$hook"
		else
			. "$script"
		fi
		name=$(complete -p "${1##*/}" | sed -n "s/.* -F \([^ ]*\) .*/\1/p")
		"$name" "$1" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$loader" "$script" "$srcdir/scripts/completion-hook.bash" "$@"
}

# completes NAME LOADER "WANT..." WORD...: all of WANT are offered; a word !X must not be.
completes() {
	local name=$1 loader=$2 want=$3 word
	shift 3
	local got
	got=$(complete_line "$loader" "$@" 2>&1)
	for word in $want; do
		case $word in
		!*)
			if grep -Fqx -e "${word#!}" <<<"$got"; then
				fail "$name" "'${word#!}' is offered for: $*" "$got"
				return
			fi
			;;
		*)
			if ! grep -Fqx -e "$word" <<<"$got"; then
				fail "$name" "'$word' is not offered for: $*" "offered: ${got//$'\n'/ }"
				return
			fi
			;;
		esac
	done
	pass "$name"
}

commands=$("$PERF_RELAX" --list-cmds | tr '\n' ' ')
completes "commands" direct "$commands help" perf-relax ""
completes "commands by their first letters" direct "stat !list" perf-relax st
completes "help takes a command" direct "$commands" perf-relax help ""
for command in $commands; do
	completes "options of $command" direct "$("$PERF_RELAX" --list-opts "$command" | tr '\n' ' ')" perf-relax "$command" --
done
completes "probes" direct "chain-add !--output" perf-relax stat chain-
completes "sections of list" direct "hints events" perf-relax list ""
completes "nothing after help CMD" direct "!stat" perf-relax help stat ""

if [ -r /usr/share/bash-completion/completions/perf ] && [ -r /usr/share/bash-completion/bash_completion ] && have perf; then
	for loader in direct hook; do
		completes "perf relax, $loader: commands" $loader "$commands" perf relax ""
		completes "perf relax, $loader: options" $loader "$("$PERF_RELAX" --list-opts stat | tr '\n' ' ')" perf relax stat --
		completes "perf itself, $loader: still completes" $loader "record report !relax-none" perf re
	done
else
	skip perf "perf relax" "no perf with its bash completion (linux-perf, bash-completion)"
fi

finish
