#!/bin/sh
# host_links_test.sh BUILD - --host-links N: the host has a link for each of N ranges of nodes, and uses all at once.
# class: waits
. tests/system/testing.sh

leaves=$programs/leaves

suffix() {
    [ "$1" = sim ] && echo .so || echo .elf
}

# takes WAY NETWORK LINKS - programs come, and what they leave goes back, in the time that was worked out before; leaves
# both times in times.WAY.
takes() {
    tool "$1" --network "$2" --host-links "$3" --output "named.$1" --json result "$leaves$(suffix "$1")" 3000 0 end
    [ "$status" -eq 0 ] || { cat err; fail "$1 on $2, $3 links: status $status"; }
    [ "$("$json_get" result host_links)" -eq "$3" ] || fail "result does not say $3 host links"
    grep -Eq "^download .* over $3 host links?, " err || { cat err; fail "the words do not say $3 host links"; }
    for what in download outputs; do
        "$json_get" result $what model_us >model
        "$json_get" result $what predicted_us | cmp - model || fail "$what on $2, $3 links: not as predicted"
        cp model "$what.$1"
    done
}

# Of nodes and of the simulator, whose programs have other sizes: what they leave takes the same time.
both_ways() {
    takes run "$1" "$2"
    has_native || return 0
    takes sim "$1" "$2"
    cmp named.run named.sim || fail "other bytes"
    cmp outputs.run outputs.sim || { cat outputs.run outputs.sim; fail "other times"; }
}

ranges_of_a_cube() {
    for links in 1 2 4 8; do
        both_ways cube:3 $links
        [ $links -eq 1 ] || awk -v last="$(cat before)" '{ exit $1 >= last }' outputs.run ||
            fail "$links links take as long as half as many"
        cp outputs.run before
    done
}

ranges_of_a_mesh() { both_ways mesh:3x3 4; }
ranges_of_a_torus() { both_ways torus:3x4 2; }

# A machine that stays has its links for each load.
stays() {
    tool_succeeds up --network cube:3 --host-links 4 --name four
    tool_succeeds list
    grep -q 'four .*(4 host links)' out || { cat out; fail "list does not say 4 host links"; }
    tool_succeeds list --json listed
    [ "$("$json_get" listed machines 0 host_links)" -eq 4 ] || fail "list --json does not"
    for round in 1 2; do
        tool_succeeds load --name four --json result "$examples/hello.elf"
        [ "$(grep -c 'hello from node' out)" -eq 8 ] || fail "not all nodes said hello in round $round"
        "$json_get" result download predicted_us >predicted
        "$json_get" result download model_us | cmp - predicted || fail "round $round is not as predicted"
    done
    tool cut --name four host-1
    [ "$status" -eq 2 ] || fail "a link that is none is cut: status $status"
    grep -q 'node 1 has no host link: node 0 has that of its range' err || { cat err; fail "other words"; }
    tool_succeeds cut --name four host-4
    wait_until shows_broken || { cat out; fail "ps does not name the host link"; }
    # Nodes of other ranges answer; those behind the link have no way.
    [ "$(grep -c ' silent ' out)" -eq 2 ] || { cat out; fail "others than nodes 4 and 5 are silent"; }
    tool load --name four "$examples/hello.elf"
    [ "$status" -eq 2 ] || fail "a broken machine loads: status $status"
    grep -q 'the machine is broken, dead: host link of node 4' err || { cat err; fail "load says other words"; }
    tool cut --name four host-4
    grep -q 'dead already' err || { cat err; fail "cut twice"; }
    tool_succeeds down --name four
}

shows_broken() {
    tool ps --name four
    grep -q 'broken, dead: host link of node 4' out
}

# named WHEN WORDS
named() {
    tool run --network cube:3 --host-links 4 --cut "host-6@$1" "$examples/complete_exchange.elf" 65536 65536 65536
    [ "$status" -eq 3 ] || { cat err; fail "cut at $1: status $status"; }
    grep -Eq "$2" err || { cat err; fail "cut at $1: the link is not named"; }
}

cut_links() {
    named boot 'the host link of node 6 \(rank 6\) died during boot|missing: host link of node 6'
    named run 'the host link of node 6 \(rank 6\) died during run'
    tool sim --network cube:3 --host-links 4 --cut host-6@download exchange --bytes 1000
    [ "$status" -eq 3 ] || fail "the simulator ends with $status"
    grep -q 'the host link of node 6 (rank 6) died during download' err || { cat err; fail "other words"; }
}

# refuses WORDS NETWORK LINKS
refuses() {
    for verb in run sim; do
        tool $verb --network "$2" --host-links "$3" "$examples/hello.elf"
        [ "$status" -eq 2 ] || fail "$verb --host-links $3 ends with $status"
        [ "$(wc -l <err)" -eq 1 ] || { cat err; fail "more than a line"; }
        grep -q -- "$1" err || { cat err; fail "other words of --host-links $3"; }
    done
}

bad_numbers() {
    refuses '--host-links 3: use a power of two, from 1 to 16' cube:3 3
    refuses '--host-links 0' cube:3 0
    refuses '--host-links many' cube:3 many
    refuses '--host-links 32: the host has at most 16' cube:6 32
    refuses '--host-links 16: halving makes at most 8 ranges of cube:3' cube:3 16
    refuses '--host-links 8: halving makes at most 4 ranges of mesh:3x3' mesh:3x3 8
}

check "downloads and outputs over 1 to 8 host links take the predicted time" ranges_of_a_cube
check "so they do over those of a mesh" ranges_of_a_mesh
check_long "so they do over those of a torus" ranges_of_a_torus
check "a machine that is up keeps its host links, and names the one that is cut" stays
check "a host link that is cut in a run is named" cut_links
check "numbers of host links that cannot be are refused" bad_numbers
cases_done
