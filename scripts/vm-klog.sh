#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Search a kernel log for what must never appear: warnings, oopses, stalls, lockdep, sleeping in atomic context.
# usage: vm-klog.sh FILE [ALLOW-REGEX]      exit 0 clean, 1 something found (printed), 2 no log
set -u
[ -s "${1:-}" ] || { echo "no kernel log in ${1:-}"; exit 2; }
bad='WARNING:|BUG:|Oops|kernel BUG at|Call Trace:|Call trace:|general protection|Unable to handle|segfault at|nobody cared'
bad="$bad|[Ss]tall|soft lockup|hard LOCKUP|blocked for more than|INFO: task|INFO: lockdep|held lock|still has locks held"
bad="$bad|possible (circular|recursive) locking|inconsistent lock state|suspicious RCU|bad unlock balance"
bad="$bad|scheduling while atomic|sleeping function called|refcount_t:|use-after-free|KASAN|UBSAN|list_(add|del) corruption|usercopy:"
found=$(grep -E "$bad" "$1" | { if [ -n "${2:-}" ]; then grep -vE "$2"; else cat; fi; })
[ -z "$found" ] && exit 0
echo "$found" | head -n 20
exit 1
