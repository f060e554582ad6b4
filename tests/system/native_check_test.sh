#!/bin/sh
# native_check_test.sh BUILD - programs linked by ecube-cc --native --check in the simulator: check.sh's cases, and what they have
# for themselves.
# class: waits
. tests/system/testing.sh

needs_native
kind=so
. tests/system/check.sh

scenarios_have_none() {
    tool_fails 2 '^ecube: --check is for programs: exchange is a scenario' sim --check --network cube:2 exchange
}

check "--check is refused with a scenario" scenarios_have_none
check "examples run with checks as without on mesh:3x4" examples_are_right mesh:3x4
cases_done
