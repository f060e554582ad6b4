#!/bin/sh
# --trace of run and load: what a timeline of QEMU nodes has, and that it is the simulator's.
# class: busy
. tests/system/testing.sh
trace_events=$build/tests/trace_events

# traced NETWORK PROGRAM ARGUMENT... - a run on QEMU nodes, and one in the simulator: their work in qemu and sim.
traced() {
    network=$1 program=$2
    shift 2
    tool_succeeds run --network "$network" --trace qemu.json --json result.json "$program.elf" "$@"
    tool_succeeds sim --network "$network" --trace sim.json "$program.so" "$@"
    "$trace_events" qemu.json | LC_ALL=C sort >qemu || fail "no timeline of the run"
    "$trace_events" sim.json | LC_ALL=C sort >sim || fail "no timeline of the simulation"
    [ "$(wc -l <qemu)" -gt "$1" ] || { wc -l qemu; fail "nearly nothing in the timeline"; }
    cmp qemu sim || { diff qemu sim | head -n 20; fail "$network: the run's timeline is not the simulator's"; }
}

# put_load - as many processes that compute as there are processors, until this case ends, however it does; without it
# they end, too.
put_load() {
    load=
    trap 'kill $load; wait' EXIT
    trap 'exit 130' INT TERM
    for i in $(seq "$(nproc)"); do
        timeout "$limit_seconds" sh -c 'while :; do :; done' &
        load="$load $!"
    done
}

same_as_the_simulator() {
    put_load
    for network in cube:3 ring:6 mesh:3x4 torus:3x3; do
        traced "$network" "$examples/complete_exchange" 100
    done
    traced mesh:3x4 "$examples/trees" 100
    for process in $load; do
        kill -0 "$process" || fail "the load has ended before the runs"
    done
}

times_are_those_without() {
    tool_succeeds run --network cube:3 --json plain.json "$examples/complete_exchange.elf" 100 1000
    tool_succeeds run --network cube:3 --trace trace.json --json traced.json "$examples/complete_exchange.elf" 100 1000
    for i in 0 1; do
        for key in model_us steps wrong; do
            [ "$("$json_get" plain.json reports $i "$key")" = "$("$json_get" traced.json reports $i "$key")" ] ||
                fail "report $i: another $key"
        done
    done
    [ "$("$json_get" traced.json trace lost)" = 0 ] || fail "records are lost"
    [ "$("$json_get" traced.json trace missing length)" = 0 ] || fail "records are missing"
    [ "$("$json_get" traced.json trace sha256)" = "$(sha256sum <trace.json | cut -d ' ' -f 1)" ] || fail "digest"
}

marks() {
    tool_succeeds run --network torus:3x3 --trace trace.json "$examples/stencil.elf" 8 3
    [ "$("$trace_events" trace.json program | grep -c ' step [0-9]* 0 i mark ')" = 27 ] || {
        "$trace_events" trace.json program | grep mark
        fail "other marks"
    }
}

# On a machine that is up each load has its own, or none.
loads() {
    tool_succeeds up --name traced --network ring:4
    tool_succeeds load --name traced "$examples/trees.elf" 100
    tool_succeeds load --name traced --trace one.json "$examples/trees.elf" 100
    tool_succeeds load --name traced --trace two.json "$examples/trees.elf" 100
    tool_succeeds down --name traced
    "$trace_events" one.json | LC_ALL=C sort >one
    "$trace_events" two.json | LC_ALL=C sort >two
    [ -s one ] && cmp one two || fail "another timeline of the second load"
}

# What waits for ever when a run ends is in both timelines, from its begin to their end.
waits() {
    may_time_out=yes
    for network in ring:4 cube:3; do
        tool run --network "$network" --trace qemu.json "$examples/circle.elf" receive
        [ "$status" -eq 124 ] || { cat err; fail "status $status of programs that stand"; }
        tool sim --network "$network" --trace sim.json "$examples/circle.so" receive
        "$trace_events" qemu.json | LC_ALL=C sort >qemu || fail "no timeline of the run"
        "$trace_events" sim.json | LC_ALL=C sort >sim || fail "no timeline of the simulation"
        cmp qemu sim || { diff qemu sim | head -n 20; fail "$network: other things wait in the simulation"; }
        grep -q '^node 1 program 0 from 2 message, waits: sender 0 b waiting ' qemu || { cat qemu; fail "no receive that waits"; }
        grep -q '^node 1 program 0 waits: receive from 2 [1-9][0-9]* X waiting ' qemu || { cat qemu; fail "no program that waits"; }
    done
}

# However a run ends, what the nodes have noted is shown.
failed_runs() {
    status=0
    "$ecube" run --network ring:4 --trace trace.json "$examples/circle.elf" receive >out 2>err || status=$?
    [ "$status" -eq 124 ] || { cat err; fail "status $status of programs that stand"; }
    "$trace_events" trace.json >/dev/null || fail "no timeline of programs that stand"
    sizes="100 $(yes 65536 | head -n 60 | tr '\n' ' ')"
    # When something has been noted, which takes longer on a loaded computer.
    for kill in 300ms 1s 4s 15s; do
        # shellcheck disable=SC2086
        tool run --network cube:3 --kill 5@run+$kill --trace trace.json --json result.json "$examples/complete_exchange.elf" $sizes
        [ "$status" -eq 3 ] || { cat err; fail "status $status with a dead node"; }
        "$trace_events" trace.json >work || fail "no timeline of the others"
        [ ! -s work ] || break
    done
    [ -s work ] || fail "nothing in the timeline of the others"
    words | grep -q 'no, or not all, records of rank 5: the node is dead' || { cat err; fail "the dead node is not told"; }
    [ "$("$json_get" result.json trace missing 0)" = 5 ] || { cat result.json; fail "another node is missing"; }
    grep -q '"name":"no records of rank 5"' trace.json || fail "no mark in the timeline"
}

# A node that no link leads to any more: its debugger reads its memory. Links that died are on the track of faults.
cut_off() {
    sizes="100 $(yes 65536 | head -n 60 | tr '\n' ' ')"
    for cut in 300ms 1s 4s 15s; do
        # shellcheck disable=SC2086
        tool run --network ring:4 --cut 1-2@run+$cut --cut 2-3@run+$cut --trace trace.json --json result.json \
            "$examples/complete_exchange.elf" $sizes
        [ "$status" -eq 3 ] || { cat err; fail "status $status with a node that is cut off"; }
        "$trace_events" trace.json >work || fail "no timeline"
        ! grep -q '^node 2 ' work || break
    done
    grep -q '^node 2 steps .* step [0-9]' work || { cat err; fail "nothing of the node that is cut off"; }
    words | grep -q 'the records of rank 2 are out of its memory' || { cat err; fail "not told"; }
    [ "$("$json_get" result.json trace missing length)" = 0 ] || { cat result.json; fail "a node is missing"; }
    grep -Eq '"name":"link (1-2|2-1|2-3|3-2) died","cat":"fault"' trace.json || fail "no fault in the timeline"
}

bad_files() {
    tool_fails 2 'cannot write the trace /no-such-directory/t.json' run --network cube:1 --trace /no-such-directory/t.json "$examples/hello.elf"
    tool_fails 2 'cannot write the trace /dev/full: No space left' run -q --network cube:1 --trace /dev/full "$examples/hello.elf"
    tool_fails 2 'a file for each' run --network cube:1 --trace same.json --json same.json "$examples/hello.elf"
    tool_fails 2 'No such file' run --network cube:1 --trace gone.json no-such-program.elf
    [ ! -e gone.json ] || fail "a timeline of a run that there was not"
}

check "a run on QEMU nodes has the simulator's timeline, with load on the computer, too" same_as_the_simulator
check "model times are those without --trace" times_are_those_without
check "marks of a program are in the timeline" marks
check "each load has a timeline of its own" loads
check "what waits when a run ends is in both timelines" waits
check "a run that fails has one, and says whose records are missing" failed_runs
check "a node that no link leads to is read by its debugger" cut_off
check "a file that cannot be written is told" bad_files
cases_done
