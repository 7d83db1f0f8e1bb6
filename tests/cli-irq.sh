#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# perf relax irq where nothing can be loaded: refusals that say what to do, and never cli or sti in user space (that would be SIGSEGV: 139).
. "$(dirname "$0")/lib.sh"

relax irq --loops 1000000000
is "loops beyond what any block can hold" 2 err '--loops: 1000000000 is outside 1 to 16777216'
relax irq --loops 0
is "no loops" 2 err '--loops'
relax irq --nonsense
is "unknown option" 2

if [ -e /sys/module/perf_relax ]; then
	skip module "irq without the module" "the module is loaded here"
else
	export PERF_RELAX_CACHE=$tmp/cache
	relax irq
	is "irq without the module" 3 err '(root|built|CAP_SYS_MODULE|modules)'
	check "it says what to do" grep -qE 'sudo|run it|build|boot|install' "$tmp/err"
	relax irq cli sti
	is "cases that are named" 3 noerr 'Segmentation'
	relax irq --classic
	is "--classic" 3
	relax irq --list
	is "--list" 3
	relax irq --module "$tmp/none.ko"
	is "a module file that is not there" 3
	if [ "$(id -u)" = 0 ] && have setpriv && [ -e /proc/sys/kernel/modules_disabled ]; then
		for_everyone
		run setpriv --reuid=65534 --regid=65534 --clear-groups "$for_everyone" irq
		is "as a user" 3 err 'sudo'
	fi
fi
finish
