# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# bash completion of perf-relax, and of `perf relax` where perf's own completion is loaded. Knows nothing itself: commands, options, probes and
# events are asked of the program, which has them from its tables.

# _perf_relax_words PROGRAM... : candidates for the words after the program, $cur and $prev being the last two.
_perf_relax_candidates()
{
	local cur=$1 prev=$2 command=$3 program=$4

	if [[ -z $command ]]; then
		if [[ $cur == -* ]]; then
			printf '%s\n' --help --version --list-cmds --list-opts
		else
			"$program" --list-cmds
			printf '%s\n' help
		fi
		return
	fi
	case $command:$prev in
	help:help | --list-opts:--list-opts)
		"$program" --list-cmds
		return
		;;
	help:* | --list-opts:*) return ;;
	*:-e | *:--event)
		"$program" list events | awk '/^  / { print $1 }'
		return
		;;
	esac
	if [[ $cur == -* ]]; then
		"$program" --list-opts "$command"
		return
	fi
	case $command in
	# Sections stand in the usage line between brackets.
	list) "$program" list --help | sed -n '1,3s/.*\[\([a-z|]*\)\.\.\.\].*/\1/p' | tr '|' '\n' ;;
	stat) "$program" list hints atomics barriers counters calls chains | awk '/^  [a-z]/ && !/<not supported>/ { print $1 }' ;;
	esac
}

_perf_relax()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} first=1 command=''

	# `perf relax COMMAND`: one word more.
	[[ ${COMP_WORDS[0]} == *perf-relax ]] || first=2
	[[ $COMP_CWORD -le $first ]] || command=${COMP_WORDS[first]}
	local program=${COMP_WORDS[0]}
	[[ $first -eq 1 ]] || program=perf-relax
	type -P -- "$program" >/dev/null || return 0

	case $prev in
	-o | --output)
		COMPREPLY=()
		return 0	# readline completes file names
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$(_perf_relax_candidates "$cur" "$prev" "$command" "$program" 2>/dev/null)" -- "$cur")
}
complete -o bashdefault -o default -F _perf_relax perf-relax

# perf's completion knows only perf's own commands: stand before it.
_perf_relax_before_perf()
{
	if [[ ${COMP_WORDS[1]-} == relax && $COMP_CWORD -ge 2 ]]; then
		_perf_relax
	elif declare -F _perf >/dev/null; then
		_perf "$@"
	fi
}
_perf_relax_hook()
{
	if ! declare -F _perf >/dev/null && declare -F _completion_loader >/dev/null; then
		complete -r perf 2>/dev/null
		_completion_loader perf
	fi
	complete -o bashdefault -o default -o nospace -F _perf_relax_before_perf perf
}
_perf_relax_hook
