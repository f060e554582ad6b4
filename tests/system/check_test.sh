#!/bin/sh
# check_test.sh BUILD - programs linked by ecube-cc --check on nodes: check.sh's cases, and what load makes of them.
# class: waits
. tests/system/testing.sh
kind=elf
. tests/system/check.sh

loads() {
    tool_succeeds up --name checks --network cube:1
    tool_fails 2 'arguments.elf has no checks' load --name checks --check "$programs/arguments.elf"
    tool_succeeds load --name checks --check "$scratch/arguments.elf" one
    tool load --name checks --check "$programs/misuse.elf" twice
    [ "$status" -eq 135 ] || { words; fail "status $status of load"; }
    tool_succeeds down --name checks
}

check "load refuses a program without checks, and runs one that has them" loads
check "examples run with checks as without on cube:2" examples_are_right cube:2
# A program's checks know no network.
for network in cube:3 mesh:3x4; do
    check_long "examples run with checks as without on $network" examples_are_right $network
done
cases_done
