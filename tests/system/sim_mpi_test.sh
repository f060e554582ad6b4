#!/bin/sh
# sim_mpi_test.sh BUILD - a simulation over several processes is the one of a single process: output, results, status and what is
# said of failures, byte for byte.
# tier: long
# class: busy
. tests/system/testing.sh

sim_mpi=$build/ecube-sim-mpi
{ [ -x "$sim_mpi" ] && command -v mpirun >/dev/null; } || {
    echo "1..0 # SKIP there is no mpirun, or no build/ecube-sim-mpi: make mpi"
    exit 0
}

# ranks N ARGUMENT... - the same command line over N processes; output in mpi.out and mpi.err. Standard input is the same pipe that
# `one` has: mpirun gives its first process one.
ranks() {
    count=$1
    shift
    : | OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 "$limit_seconds" \
        mpirun --quiet --oversubscribe -n "$count" "$sim_mpi" "$@" >mpi.out 2>mpi.err
    mpi_status=$?
}

# one ARGUMENT... - in one process; output in out and err.
one() {
    : | ECUBE_CACHE=off timeout -k 5 "$limit_seconds" "$ecube" sim "$@" >out 2>err
    status=$?
}

# facts FILE - the results of a run, but for what tells of the computer: times by the clock, memory, threads.
facts() {
    grep -vE '"(wall_us|wall_ms|seconds|events_per_s|node_bytes|threads)":' "$1"
}

# same COUNTS ARGUMENT... - with each number of processes as in one.
same() {
    counts=$1
    shift
    one -q --json one.json "$@"
    facts one.json >one.facts
    [ -s one.facts ] || { cat err; fail "no results of $*"; }
    for count in $counts; do
        ranks "$count" -q --json mpi.json "$@"
        [ "$mpi_status" -eq "$status" ] || { cat mpi.err; fail "$count ranks, $*: status $mpi_status, not $status"; }
        cmp out mpi.out || fail "$count ranks, $*: other output"
        diff err mpi.err || fail "$count ranks, $*: other troubles"
        facts mpi.json | diff one.facts - || fail "$count ranks, $*: other results"
    done
}

networks_and_operations() {
    same '1 2 3 4' --network cube:5 exchange
    same '2 4' --network torus:4x5 exchange --bytes 100
    same 3 --network ring:12 broadcast --bytes 5000
    same 3 --network mesh:3x7 allreduce
    same 2 --network cube:6 --host-links 3 download --bytes 5000
    same 3 --network cube:5 --contents shared gather --bytes 3000
}

messages_that_meet() {
    same '2 3' --network cube:5 --messages 8 random
    same 4 --network torus:4x4 --delay 3us --rate 2.8M hotspot --bytes 500
}

threads_in_each_process() {
    same 2 --network cube:6 --threads 3 exchange --bytes 100
}

links_are_counted() {
    same 3 --network mesh:3x4 --links random
}

deadlocks_are_explained() {
    same '2 3' --network cube:5 circle
    [ "$status" -eq 124 ] || fail "status $status"
    grep -q 'deadlock, each waits for the next' mpi.err || { cat mpi.err; fail "nobody says who waits for whom"; }
}

programs_are_the_same() {
    has_native || return 0
    same '2 4' --network cube:4 "$examples/hello.so" 1 2
    same 3 --network cube:4 "$examples/merge_sort.so"
    same 3 --network torus:4x4 "$programs/collectives.so"
}

failures_are_the_same() {
    has_native || return 0
    same 3 --network cube:3 "$programs/misbehave.so" exit 6 3
    [ "$mpi_status" -eq 3 ] || fail "status $mpi_status"
    same 3 --network cube:3 "$programs/misbehave.so" null 5 # where it was says the process that it ran in
    grep -q 'misbehave\.c:' mpi.err || { cat mpi.err; fail "no place"; }
    same 3 --network cube:3 "$programs/misbehave.so" circle
    same 2 --network cube:3 "$programs/misbehave.so" absent 5
    same 2 --network cube:3 "$programs/misbehave.so" abort 6
}

# time_is_over - in a rank of another process than the first.
time_is_over() {
    has_native || return 0
    ranks 2 -q --network cube:3 --timeout 2s "$programs/misbehave.so" spin 6
    [ "$mpi_status" -eq 124 ] || { cat mpi.err; fail "status $mpi_status"; }
    grep -q 'node 6 (rank 6).* in .*misbehave\.c:' mpi.err || { cat mpi.err; fail "nobody says where it computes"; }
}

# refused COUNT PATTERN ARGUMENT... - one line, status 2.
refused() {
    count=$1 pattern=$2
    shift 2
    COLUMNS=10000 ranks "$count" "$@"
    [ "$mpi_status" -eq 2 ] || { cat mpi.err; fail "$*: status $mpi_status"; }
    [ "$(grep -c . mpi.err)" -eq 1 ] && grep -q "$pattern" mpi.err && [ ! -s mpi.out ] || {
        cat mpi.out mpi.err
        fail "$*: not the one line"
    }
}

what_needs_one_order_is_refused() {
    for option in '--drop 1e-3' '--jitter 1us' '--trace t.json' '--replay 100' '--shuffle 3' '--kill 3@1us' '--fail 3:drop' '--report r.html'; do
        # shellcheck disable=SC2086
        refused 2 "^ecube: ${option%% *}: the order of all events counts" --network cube:3 $option exchange
    done
    refused 3 '^ecube: 3 ranks: cube:2 has 4 nodes' --network cube:2 exchange
    refused 2 "^ecube: 'no_such' is no scenario" --network cube:2 no_such
    refused 2 '^ecube: ' --network cube:2 ./none.so
}

check "over networks, operations and one to four processes" networks_and_operations
check "where messages meet" messages_that_meet
check "with threads in each process" threads_in_each_process
check "what links have carried is the same" links_are_counted
check "rank 0 says who waits for whom, wherever the nodes are" deadlocks_are_explained
check "programs of one's own print and report the same" programs_are_the_same
check "what they do wrong is told in the same words" failures_are_the_same
check "a program that never calls is ended, and where it computes is told" time_is_over
check "what needs the events in one order is refused by name, in one line" what_needs_one_order_is_refused
cases_done
