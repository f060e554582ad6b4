#!/bin/sh
# native_errors_test.sh BUILD - errors of calls of native programs, in the words in which those of nodes are told.
# class: waits
. tests/system/testing.sh

[ "$(uname -m)" = x86_64 ] || {
    echo "1..0"
    exit 0
}
kind=so
. tests/system/errors.sh
cases_done
