#!/bin/sh
# errors_test.sh BUILD - errors of calls on nodes: errors.sh's cases, and those of who is killed, cut off or stopped.
# class: waits
. tests/system/testing.sh
kind=elf
. tests/system/errors.sh

killed() {
    tool run -q --network cube:3 --kill 5@run+300ms "$programs/leaver.elf" never
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    lines_are '^ecube: node 5 \(rank 5\) died during run: '
}

cut_off() {
    tool run -q --network ring:4 --cut 1-2@run+300ms "$programs/leaver.elf" never
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    lines_are '^ecube: link 1-2 .* died during run: '
}

# Whoever is stopped in a collective just ends.
stopped() {
    may_time_out=1
    tool run -q --network cube:3 --timeout 3 "$programs/leaver.elf" never
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    words | grep -q 'ecube_exchange' && { words; fail "an error of a program that was stopped"; }
    words | grep -q 'did not end within 3 s' || { words; fail "no line on the timeout"; }
}

check "programs that hear of a killed node add nothing" killed
check "nor do those behind a cut link" cut_off
check "nor do those that are stopped" stopped
cases_done
