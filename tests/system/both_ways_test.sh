#!/bin/sh
# both_ways_test.sh BUILD - a program on the nodes and the same source as a native program in the simulator say the same,
# model times to the nanosecond.
# class: waits
. tests/system/testing.sh

needs_native

# Where ranks take messages from anyone, or look whether one has come, their order is one of wall time on the nodes: farm says
# the same but for who did which part, and when, and jacobi but for how often each rank swept, and when.
by_whom='of model time|^\[ *0\] *[0-9]+ +[0-9]+ +[0-9]+$|borders sent'

# said - what a run printed: its lines, in the order of ranks, and the rows of its tables without the wall time.
said() {
    sort out
    grep -E '^ *[0-9.-]+( +[0-9.-]+){7}$' err | awk '{ $(NF - 1) = ""; print }'
}

# ran - all nodes have got the program.
ran() {
    grep -Eq 'receipts ([0-9]+) of \1(;|$)' err || { cat err; fail "$name did not run"; }
}

# same_both_ways NETWORK DIRECTORY - all of its programs that there are for both; they end with the same status, too.
same_both_ways() {
    compared=0
    tool_succeeds up --network "$1"
    for program in "$2"/*.so; do
        name=$(basename "$program" .so)
        [ -f "$2/$name.elf" ] && [ "$name" != regions ] || continue # where a person could come, it waits for one
        tool load "$2/$name.elf"
        ended=$status
        ran
        said >nodes
        tool sim --network "$1" "$program"
        ran
        said >simulated
        [ "$status" -eq "$ended" ] || { cat err; fail "$name: status $ended on nodes, $status in the simulator"; }
        case $name in farm | jacobi) for file in nodes simulated; do
            grep -Ev "$by_whom" $file | sed 's/worker [0-9]*:/worker:/' | sort >rest && mv rest $file
        done ;; esac
        # Messages over several hops may meet; which of them is first is a matter of wall time, and their time is not predicted.
        # So it is with the blocks that go from one end of a line to the other.
        case $name@$1 in cannon@mesh* | cannon@ring*) for file in nodes simulated; do
            sed 's/[0-9.]* us model time/model time/' $file >rest && mv rest $file
        done ;; esac
        ! is_linear "$name" || for file in nodes simulated; do
            awk '$4 == "-" { $3 = "" } { print }' $file >rest && mv rest $file
        done
        cmp -s nodes simulated || { diff nodes simulated; fail "$name on $1"; }
        compared=$((compared + 1))
    done
    [ $compared -ge 13 ] || fail "only $compared programs"
    tool_succeeds down
}

for network in cube:2 torus:3x3; do
    check "every example says the same on nodes and in the simulator: $network" same_both_ways $network "$examples"
done
check "so does every program of these tests that is for any processor" same_both_ways cube:2 "$programs"
for network in mesh:2x3 ring:5 cube:3; do # the other kinds; the two above find what differs by the library
    check_long "every example says the same on nodes and in the simulator: $network" same_both_ways $network "$examples"
done
cases_done
