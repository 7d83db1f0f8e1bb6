# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# Read by bash-completion at start (as PREFIX/etc/bash_completion.d/perf-relax with PREFIX /): the first `perf <TAB>` loads the completion of
# perf-relax, which stands before perf's, so that `perf relax <TAB>` works without `perf-relax <TAB>` having been typed.
_perf_relax_first()
{
	if declare -F _completion_loader >/dev/null; then
		_completion_loader perf-relax
	fi
	if declare -F _perf_relax_before_perf >/dev/null; then
		_perf_relax_before_perf "$@"
	else
		complete -r perf
		return 124	# bash asks again
	fi
}
complete -o bashdefault -o default -o nospace -F _perf_relax_first perf
