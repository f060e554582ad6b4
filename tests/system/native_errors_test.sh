#!/bin/sh
# native_errors_test.sh BUILD - errors of calls of native programs, in the words in which those of nodes are told.
# class: waits
. tests/system/testing.sh

needs_native
kind=so
. tests/system/errors.sh
cases_done
