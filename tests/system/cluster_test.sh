#!/bin/sh
# cluster_test.sh BUILD - agents under mpirun, on one computer, where PMIx tells them of each other; and by hand on two
# computers, which are network namespaces with a cable between.
# tier: long
# class: waits
. tests/system/testing.sh
. tests/system/agents.sh

exchange=$examples/complete_exchange.elf

# mpi SIZE ARGUMENT... - `ecube agent` so many times; leaves out, err and status.
mpi() {
    size=$1
    shift
    as_root=
    [ "$(id -u)" -ne 0 ] || as_root=--allow-run-as-root
    timeout -k 5 "$limit_seconds" mpirun $as_root --oversubscribe -n "$size" "$ecube" agent "$@" >out 2>err
    status=$?
}

same_times() {
    mpi 4 --network cube:4 --stdin none --json many "$exchange" 16 1000 # mpirun's standard input is a pipe
    [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
    download_is_that_of_one cube:4 16
}

status_passes() {
    mpi 2 --network cube:2 "$programs/misbehave.elf" exit 3 7
    [ "$status" -eq 7 ] || { cat err; fail "status $status"; }
}

# What is wrong is said once, before mpirun's own words.
bad_input() {
    mpi 4 --network cube:3 no.elf
    [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
    [ "$(grep -c '^ecube' err)" -eq 1 ] || { cat err; fail "not one line"; }
    mpi 4 --network cube:3 --nonsense
    [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
    [ "$(grep -c '^ecube' err)" -eq 1 ] || { cat err; fail "not one line"; }
}

start_sleepers() {
    : >err
    mpi 3 --network cube:3 "$programs/sleeper.elf" 0 &
    started=$!
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err; fail "it does not run"; }
}

killed_mpirun() {
    start_sleepers
    for pid in $(processes mpirun orterun prterun | cut -d ' ' -f 1); do
        kill -9 "$pid"
    done
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
    rm -rf "$TMPDIR"/ompi.* # mpirun's own
}

killed_agent() {
    start_sleepers
    kill -9 "$(process_of_pmix "$1")"
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
}

process_of_pmix() {
    for pid in $(processes ecube-agent | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q "^PMIX_RANK=$1\$" || echo "$pid"
    done
}

# make_computers - two, each with its end of a cable; `on_0` and `on_1` enter them.
make_computers() {
    for number in 0 1; do
        unshare -n sleep "$limit_seconds" &
        eval "computer_$number=$!"
    done
    holders="$computer_0 $computer_1"
    wait_until apart || fail "no namespaces"
    on_0="nsenter -t $computer_0 -n" on_1="nsenter -t $computer_1 -n"
    ip link add cable netns "$computer_0" type veth peer name cable netns "$computer_1"
    for number in 0 1; do
        eval "on=\$on_$number"
        $on ip addr add 10.77.0.$((number + 1))/24 dev cable
        $on ip link set cable up
        $on ip link set lo up
    done
}

apart() {
    for holder in $holders; do
        [ "$(readlink "/proc/$holder/ns/net")" != "$(readlink /proc/self/ns/net)" ] || return 1
    done
}

# on_computers ARGUMENT... - an agent on each; leaves out, err, status of rank 0 and $ended of the other.
on_computers() {
    make_key key
    ECUBE_RANK=1 ECUBE_SIZE=2 ECUBE_ROOT=10.77.0.1:7000 timeout -k 5 "$limit_seconds" $on_1 "$agent" --key-file key >said.1 2>&1 &
    others=$!
    ECUBE_RANK=0 ECUBE_SIZE=2 ECUBE_ROOT=10.77.0.1:7000 timeout -k 5 "$limit_seconds" $on_0 "$agent" --key-file key "$@" >out 2>err &
    started=$!
}

end_computers() {
    wait "$started"
    status=$?
    await_others
    # shellcheck disable=SC2086 -- a list
    kill $holders
}

expect_good() {
    end_computers
    [ "$status $ended" = '0 0' ] || { cat err said.1; fail "statuses $status and $ended"; }
    grep -Eq '^ +1000 +[0-9]+ +[0-9.]+ .* 0$' err || { cat err; fail "no good row"; }
    words | grep -v '^agent \|^links ' >told
    [ ! -s told ] || { cat told; fail "something is told"; }
}

two_computers() {
    make_computers
    on_computers --network cube:3 "$exchange" 1000
    expect_good
}

# A network with a delay, or a slow one.
slow_network() {
    make_computers
    # shellcheck disable=SC2086 -- words
    $on_0 tc qdisc add dev cable root netem $1
    on_computers --network cube:3 "$exchange" 1000
    expect_good
}

# Within the link timeout and 5 s.
network_down() {
    make_computers
    on_computers --network cube:3 --patience 3s --json result "$programs/sleeper.elf" 0
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err said.1; fail "it does not run"; }
    $on_0 ip link set cable down
    down=$(date +%s)
    end_computers
    [ $(($(date +%s) - down)) -le 9 ] || fail "it took $(($(date +%s) - down)) s"
    [ "$status $ended" = '3 3' ] || { cat err said.1; fail "statuses $status and $ended"; }
    words | grep -v '^agent \|^links ' >told
    grep -Eq '^ecube: computer [^ ]+, nodes 4-7: no answer for 3 s, during run$' told || { cat told; fail "other words"; }
    [ "$(wc -l <told)" -eq 1 ] || { cat told; fail "more than one line"; }
    [ "$("$json_get" result troubles length)" -eq 1 ] || { cat result; fail "not one trouble"; }
}

# on_two SENTENCE FUNCTION - where this user may make network namespaces.
on_two() {
    if unshare -n ip link add cable type veth peer name rope 2>/dev/null; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP no network namespaces here"
    fi
}

on_slow() {
    if unshare -n tc qdisc add dev lo root netem delay 1ms 2>/dev/null; then
        on_two "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP this kernel has no netem"
    fi
}

under_mpirun() {
    if command -v mpirun >/dev/null; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP mpirun is not installed (packages-cluster.txt)"
    fi
}

on_two "two computers run a program" two_computers
on_two "a network that goes down between two computers is one trouble" network_down
on_slow "a run over a network with 50 ms of delay is right" slow_network 'delay 50ms'
on_slow "a run over a network of 10 Mbit/s is right" slow_network 'rate 10mbit'
under_mpirun "agents under mpirun run a program with the model times of one computer" same_times
under_mpirun "mpirun passes rank 0's status on" status_passes
under_mpirun "under mpirun bad input is one line" bad_input
under_mpirun "kill -9 of mpirun leaves nothing" killed_mpirun
under_mpirun "kill -9 of an agent under mpirun leaves nothing" killed_agent 2
under_mpirun "kill -9 of rank 0 under mpirun leaves nothing" killed_agent 0
cases_done
