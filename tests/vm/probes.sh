# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
# Every probe of this architecture under its own kernel, and events that need no hardware.
uname -srm
test-probes || exit 1
soft-test
