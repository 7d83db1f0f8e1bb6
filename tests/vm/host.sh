# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=bash
# What tests/vm-*.sh share: build what runs in a guest, boot it, and turn its summary into results.
# shellcheck source=../lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib.sh"

vm=$srcdir/scripts/vm
warnings="-std=gnu11 -O2 -g -Wall -Wextra -Wmissing-prototypes -Wshadow -Wconversion -Werror -D_GNU_SOURCE"

# static COMPILER NAME SOURCE...: a static program of the guest, $tmp/guest/NAME.
static() {
	local compiler=$1 name=$2
	shift 2
	mkdir -p "$tmp/guest"
	# shellcheck disable=SC2086 # a list of flags
	"$compiler" $warnings -I"$srcdir/src" -I"$srcdir/probes" -static -pthread -o "$tmp/guest/$name" "$@" || broken "$name does not compile for the guest"
}

# cannot_run NEED REASON: skip the whole script, under each of the names that may require it.
cannot_run() {
	if required vm; then skip_all vm "$2"; fi
	skip_all "$1" "$2"
}

# guest LABEL NEED ARG...: boot, and one result for each test of it.
guest() {
	local label=$1 need=$2 line status out=$tmp/out-$1
	shift 2
	rm -rf "$out"
	bash "$vm" --out "$out" "$@" >"$tmp/vm.log" 2>&1
	status=$?
	if [ $status = 77 ]; then
		skip "$need" "$label" "$(grep '^vm' "$tmp/vm.log" | head -n 1)"
		return 1
	fi
	if ! [ -s "$out/summary" ]; then
		fail "$label" "$(tail -n 20 "$tmp/vm.log")"
		return 1
	fi
	while IFS= read -r line; do
		case $line in
		"pass "*) pass "$label: ${line#pass }" ;;
		"skip "*) skip "$need" "$label: ${line#skip }" "see above" ;;
		*) fail "$label: ${line#FAIL }" ;;
		esac
	done <"$out/summary"
	[ $status = 0 ] || sed 's/^/    /' "$tmp/vm.log" | tail -n 150
	return $status
}

# module LABEL NEED ARCH OUT [ARG...]: the companion module for a guest's kernel.
module() {
	local label=$1 need=$2 status
	shift 2
	bash "$srcdir/scripts/vm-module.sh" "$@" >"$tmp/module.log" 2>&1
	status=$?
	case $status in
	0) pass "$label: the module builds" ;;
	77) skip "$need" "$label: the module builds" "$(tail -n 1 "$tmp/module.log")" ;;
	*) fail "$label: the module builds" "$(tail -n 5 "$tmp/module.log")" ;;
	esac
	return $status
}
