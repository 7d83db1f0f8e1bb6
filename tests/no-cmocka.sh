#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# Stands in the list of tests for the unit tests where configure found no cmocka.
echo "SKIP: unit tests: cmocka is missing (Debian/Ubuntu libcmocka-dev, Fedora and openSUSE libcmocka-devel, Arch cmocka)"
exit 77
