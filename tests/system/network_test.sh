#!/bin/sh
# network_test.sh BUILD - rings, meshes and tori as a user drives them: they boot, load and exchange messages in the model
# time of their hops, and every verb knows their nodes and links.
# class: waits
. tests/system/testing.sh

# check_times NETWORK BYTES - each "[rank] took NS" in out is the time of its h hops from node 0: 65 + 10 h + 0.425 k us, on the
# iPSC/860.
check_times() {
    awk -v network="$1" -v bytes="$2" '
        function hops(rank,    i, at, sum) {
            if (kind == "cube") {
                for (; rank > 0; rank = int(rank / 2)) sum += rank % 2
                return sum
            }
            for (i = count; i > 0; i--) {
                at = rank % size[i]
                rank = int(rank / size[i])
                sum += kind != "mesh" && at > size[i] / 2 ? size[i] - at : at
            }
            return sum
        }
        BEGIN {
            kind = substr(network, 1, index(network, ":") - 1)
            count = split(substr(network, index(network, ":") + 1), size, "x")
            for (nodes = i = 1; i <= count; i++) nodes *= size[i]
            if (kind == "cube") nodes = 2 ^ size[1]
        }
        / took / {
            rank = substr($0, 2) + 0
            h = hops(rank)
            expected = 65000 + h * 10000 + bytes * 425
            if ($NF != expected) { print "node " rank " of " network ": " $NF " is not " expected; bad = 1 }
            told++
        }
        END {
            if (told != nodes - 1) { print network ": " told + 0 " of " nodes - 1 " nodes told"; bad = 1 }
            exit bad
        }' out >wrong || { cat wrong; fail "model times of $1"; }
}

exchanges_messages() {
    for network in "$@"; do
        tool_succeeds run --network "$network" "$programs/hops.elf" 3000
        check_times "$network" 3000
    done
}

paths_and_rings() { exchanges_messages ring:1 ring:2 ring:5 mesh:1x7 mesh:3x4 cube:3; }
products() { exchanges_messages mesh:5x1x3 torus:2x2 torus:4x4; }
ring_of_16() { exchanges_messages ring:16; }

# Each node holds what the calls say of places against the hops that messages have gone, and exits with 1 if they differ.
ranks_know_their_places() {
    for network in ring:1 ring:2 ring:5 mesh:1x4 mesh:4x2x3 torus:2x4 torus:3x5 torus:2x2x3 cube:4; do
        tool_succeeds sim --network $network "$programs/places.so"
    done
    tool_succeeds run --network mesh:2x3 "$programs/places.elf"
    sed 's/^\[ *\([0-9]*\)\] at/\1/; s/, neighbours/,/; s/ -[0-9][0-9]*/ -/g' out | sort >places
    cat >expected <<-'END'
	0 0 0, 0 hops, - 1 - 3, 0 wrong
	1 0 1, 1 hops, 0 2 - 4, 0 wrong
	2 0 2, 2 hops, 1 - - 5, 0 wrong
	3 1 0, 1 hops, - 4 0 -, 0 wrong
	4 1 1, 2 hops, 3 5 1 -, 0 wrong
	5 1 2, 3 hops, 4 - 2 -, 0 wrong
	END
    cmp -s expected places || { diff expected places; fail "places on mesh:2x3"; }
}

ring_of_128() {
    tool_succeeds run --network ring:128 --patience 60s "$examples/hello.elf"
    [ "$(grep -c 'hello from node' out)" -eq 128 ] || fail "not all nodes said hello"
}

every_strategy() {
    machine_begins mesh:3x3 --sigma 1.5
    for strategy in decremental sequential scatter sequential-scatter pipelined; do
        tool_succeeds load --name shared --strategy $strategy --json result.json "$examples/hello.elf"
        [ "$("$json_get" result.json download model_us)" = "$("$json_get" result.json download predicted_us)" ] ||
            fail "$strategy: the download did not take the predicted time"
    done
    machine_ends
}

# collectives_are_right_on BYTES NETWORK... - the program checks bytes, and model time against what was predicted, to the
# nanosecond.
collectives_are_right_on() {
    bytes=$1
    shift
    for network in "$@"; do
        tool_succeeds run --network "$network" "$programs/collectives.elf" "$bytes"
    done
}

collectives_are_right() {
    collectives_are_right_on 100 ring:5 cube:3
    collectives_are_right_on 1 mesh:2x3
    collectives_are_right_on 0 mesh:1x7
}

# As run_test's on cubes.
longer_blocks_come() {
    collectives_are_right_on 5000 mesh:1x7
    collectives_are_right_on 100 torus:3x3 mesh:3x4 torus:3x4x2
}

# A scan and reductions of pairs give the same everywhere; numbers are sorted, with a size for every pair of nodes.
primes_and_numbers_in_order() {
    for network in "$@"; do
        machine_begins "$network"
        tool_succeeds load --name shared "$examples/primes.elf"
        grep -q '1229 primes below 10000; the largest gap is 36, from 9551' out || fail "$network: not so many"
        grep -q 'prime number 1000 is 7919' out || fail "$network: not the thousandth"
        tool_succeeds load --name shared "$examples/sample_sort.elf" 500
        grep -q 'nodes are sorted; the fullest node has' out || fail "$network: not sorted"
        machine_ends
    done
}

# All hear that two differ; the tool says whose sizes they are, and what they are.
sizes_that_differ_are_told() {
    tool run --network ring:5 "$programs/sizes.elf"
    [ "$status" -ne 0 ] || fail "status 0"
    words | grep -q 'node 1 (rank 1) and node 2 (rank 2) disagree on the size of a block of exchangev: rank 1 sends 201 bytes, rank 2 expects 202$' ||
        { cat err; fail "it is not told whose sizes differ"; }
    [ "$(grep -c '\] first: .*disagree' out)" -eq 5 ] || { cat out; fail "not all have heard it"; }
    [ "$(grep -c 'second: .*, 0 wrong' out)" -eq 5 ] || { cat out; fail "the next one is wrong"; }
}

# What the simulator says of a network and what the machine does is one.
the_exchange_is_the_simulators() {
    for network in ring:6 torus:3x3; do
        tool_succeeds run --network "$network" --json machine.json "$examples/complete_exchange.elf" 16 1000
        tool_succeeds sim --network "$network" --json sim.json exchange --bytes 16,1000
        for index in 0 1; do
            for key in model_us predicted_us bound_us steps wrong; do
                [ "$("$json_get" machine.json reports $index $key)" = "$("$json_get" sim.json reports $index $key)" ] ||
                    fail "$network: another $key in the simulator"
            done
        done
    done
}

crossed_cables_are_named() {
    tool run --network mesh:3x4 --cross 1-5,6-10 "$examples/hello.elf"
    [ "$status" -eq 3 ] || fail "status $status, not 3"
    words | grep -q 'crossed: link 1-5 (dimension 1) leads from node 1 to node 10, port 3, and from node 5 to node 6, port 2' ||
        { cat err; fail "the crossed cable is not named"; }
    tool run --network ring:6 --cross 0-1,3-4 "$examples/hello.elf"
    [ "$status" -eq 3 ] || fail "status $status, not 3"
    words | grep -q 'crossed: link 0-1 (dimension 0)' || { cat err; fail "the crossed cable is not named"; }
}

# A cable that is cut as the boot begins is found dead, or never seen, whichever end looks first.
missing_cables_are_named() {
    for case in "mesh:3x4 1-2 2-1 0" "torus:3x4 0-8 8-0 1" "ring:6 0-5 5-0 0"; do
        # shellcheck disable=SC2086
        set -- $case # network, link, the same from its other end, dimension
        tool run --network "$1" --cut "$2@boot" --patience 5s "$examples/hello.elf"
        [ "$status" -eq 3 ] || fail "$1: status $status, not 3"
        words | grep -Eq "(link $2 \(dimension $4\) died during boot|missing: link ($2|$3) \(dimension $4\))" ||
            { cat err; fail "$1: the missing cable $2 is not named"; }
    done
}

failures_are_named() {
    tool run --network ring:6 --cut 1-2@run "$programs/hops.elf" 60000
    [ "$status" -eq 3 ] || fail "status $status, not 3"
    words | grep -q 'link 1-2 (dimension 0) died during run' || { cat err; fail "the cut cable is not named"; }
    tool run --network ring:2 --cut 0-1@run "$programs/hops.elf" 60000
    words | grep -q 'link 0-1 (dimension 0) died during run' || { cat err; fail "the cut cable is not named"; }
    tool run --network mesh:3x4 --kill 7@run "$programs/hops.elf" 60000
    [ "$status" -eq 3 ] || fail "status $status, not 3"
    words | grep -q 'node 7 (rank 7) died during run' || { cat err; fail "the dead node is not named"; }
    tool_fails 2 "'0-2' is no link of ring:6: name two nodes that are neighbours, as 0-1" \
        run --network ring:6 --cut 0-2@run "$examples/hello.elf"
    tool_fails 2 "'12' is no node of mesh:3x4: nodes are 0 to 11" run --network mesh:3x4 --kill 12@run "$examples/hello.elf"
}

is_told_dead() {
    tool ps --name grid
    grep -Eq '^ *5 .*dead' out
}

machine_that_is_up() {
    tool_succeeds up --name grid --network torus:3x4
    tool_succeeds load --name grid "$programs/hops.elf" 100
    check_times torus:3x4 100
    tool_succeeds ps --name grid
    grep -q 'torus:3x4' out || { cat out; fail "ps does not name the network"; }
    tool_succeeds list
    grep -q 'torus:3x4' out || { cat out; fail "list does not name the network"; }
    tool_succeeds kill --name grid 5
    wait_until is_told_dead || fail "nobody says that node 5 is dead"
    tool_succeeds down --name grid
    wait_until no_processes || fail "processes outlive ecube down"
}

waiting_programs_are_named() {
    may_time_out=1
    tool sim --network ring:6 circle
    [ "$status" -eq 124 ] || fail "status $status, not 124"
    grep -q 'node 5 waits to receive from rank 0' err || { cat err; fail "no circle"; }
}

simulated_on() {
    for network in "$@"; do
        tool_succeeds sim --network "$network" random --bytes 100
        grep -q 'repeatable from the seed' err out || fail "$network"
    done
}

simulated() {
    simulated_on ring:5 mesh:3x4 torus:4x4x2 ring:300 mesh:20x25 torus:8x8x8
    tool_succeeds sim --network torus:6x6 transpose --bytes 1000
    tool_succeeds sim --mesh mesh:2x3 random --bytes 100 # another name of --network
    tool_fails 2 'is ring:3 or mesh:1x3 meant' sim --network mesh:3 random
    tool_succeeds sim --network ring:6 random --bytes 1,2
    for scenario in exchange exchangev broadcast scatter gather allgather reduce allreduce reduce_scatter scan shift reverse all_to_some barrier; do
        tool_succeeds sim --network torus:5x3 $scenario --bytes 100,1000 --json result.json
        for index in 0 1; do
            [ "$("$json_get" result.json reports $index model_us)" = "$("$json_get" result.json reports $index predicted_us)" ] ||
                fail "$scenario: another time than predicted"
        done
    done
    tool_fails 2 'reduce of int32 combines elements of 4 bytes: use a multiple' sim --network ring:6 reduce --bytes 10
    tool_fails 2 'bitreversal on ring:6' sim --network ring:6 bitreversal
}

wrong_names() {
    tool_fails 2 "'torus:0x3': sizes are 2 to 8 numbers joined by x, each from 1 to 128, for example torus:4x4x2" \
        run --network torus:0x3 "$examples/hello.elf"
    tool_fails 2 "'mesh:3' has one size: is ring:3 or mesh:1x3 meant\?" run --network mesh:3 "$examples/hello.elf"
    tool_fails 2 "'ring:x': a ring has one size" run --network ring:x "$examples/hello.elf"
    tool_fails 2 "'mesh:3x-1': sizes are" run --network mesh:3x-1 "$examples/hello.elf"
    tool_fails 2 "'mesh:3x4x': sizes are" run --network mesh:3x4x "$examples/hello.elf"
    tool_fails 2 "'mesh:3X4': sizes are" run --network mesh:3X4 "$examples/hello.elf"
    tool_fails 2 "'torus:400x400' has 160000 nodes: at most 128 are possible on QEMU on one computer .'ecube agent' takes several." run --network torus:400x400 "$examples/hello.elf"
    tool_fails 2 "'cube:17': the dimension of a cube is a number from 0 to 7 on QEMU" run --network cube:17 "$examples/hello.elf"
    tool_fails 2 "'cube:4z': the dimension of a cube" run --network cube:4z "$examples/hello.elf"
}

check "messages take the time of their hops on paths and rings" paths_and_rings
check "so they do on products of them" products
check_long "so they do in three dimensions on tori" exchanges_messages torus:3x4x2
check "so they do on a ring of 16" ring_of_16
# as many QEMUs as the board has addresses for
check "every rank knows its place, its neighbours, and how far it is to others" ranks_know_their_places
check_long "a ring of 128 nodes boots and loads" ring_of_128
check "every strategy downloads in the predicted time" every_strategy
check "programs that know no network use all collectives, in the predicted time" collectives_are_right
check_long "so they do with longer blocks, and on networks of 9 to 24 nodes" longer_blocks_come
check "a scan, reductions of pairs and a sort give the same on networks of each kind" \
    primes_and_numbers_in_order ring:5 mesh:3x4 cube:3 ring:1
check_long "so they do on a torus of 18 nodes" primes_and_numbers_in_order torus:3x3x2
check "sizes that differ are told to all, and whose they are" sizes_that_differ_are_told
check "an exchange takes the simulator's time" the_exchange_is_the_simulators
check "crossed cables are named by their ends" crossed_cables_are_named
check "missing cables are named by their ends, on any network" missing_cables_are_named
check "dead links and nodes are named" failures_are_named
check "a machine that is up tells its network" machine_that_is_up
check "programs that wait for each other are named" waiting_programs_are_named
check "the simulator runs them" simulated
check_long "it runs thousands of nodes of them" simulated_on mesh:40x50 torus:16x16x16
check "wrong names are refused, and what is allowed is said" wrong_names
cases_done
