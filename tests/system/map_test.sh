#!/bin/sh
# map_test.sh BUILD - programs for one network on another: ranks are where the map says, neighbours are as near as on their own
# network, data and outputs are in the order of ranks, and what cannot be is refused in one line.
# class: waits
. tests/system/testing.sh

gray="--network cube:4 --map gray --as torus:4x4"

# refused WORDS ARGUMENT... - status 2, and one line that begins with the words.
refused() {
    words=$1
    shift
    tool "$@"
    [ "$status" -eq 2 ] || fail "'$*' ends with status $status"
    [ "$(wc -l <err)" -eq 1 ] && grep -qF -- "ecube: $words" err || { cat err; fail "'$*' does not say: $words"; }
}

a_map_is_shown() {
    tool_succeeds map --network cube:4 --as torus:4x4
    grep -q "^torus:4x4 in cube:4 by gray: dilation 1 (mean 1.000), congestion 1" out || { cat out; fail "not told"; }
    tool_succeeds map --network mesh:4x4 --as mesh:2x8 --map rows --json map.json
    grep -q '"dilation": 4' map.json || { cat map.json; fail "no dilation"; }
    [ "$(grep -o '"node_of_rank": \[' map.json | wc -l)" -eq 1 ] || fail "no map"
}

what_cannot_be_is_refused() {
    refused "ring:5 does not lie in cube:4: a cube has cycles of even lengths alone" map --network cube:4 --as ring:5
    refused "mesh:3x3 has no Hamiltonian cycle" map --network mesh:3x3 --map cycle --as ring:9
    refused "--map gray is for cubes" run --network ring:6 --map gray "$examples/hello.elf"
    refused "--map grey: did you mean gray?" run --network cube:3 --map grey "$examples/hello.elf"
    refused "--as ring:8: say with --map" run --network cube:3 --as ring:8 "$examples/hello.elf"
    refused "torus:3x3 has 9 ranks and cube:3 8 nodes" run --network cube:3 --map rows --as torus:3x3 "$examples/hello.elf"
    echo "0 1 2 3 4 5 6 6" >twice
    refused "twice has ranks 6 and 7 at node 6" run --network cube:3 --map twice "$examples/hello.elf"
    echo "network ring:8 0 1 2 3 4 5 6 7" >ring
    refused "ring is a map for ring:8, and this is cube:3" sim --network cube:3 --map ring "$examples/hello.so"
    tool_succeeds plan export scan --network cube:3 --type int32 --json plan.json
    refused "plan.json counts nodes, and is no scan of the ranks of this map: " sim --network cube:3 --map gray --plan plan.json "$examples/hello.so"
    tool_succeeds plan export shift --network cube:3 --json plan.json
    refused "plan.json counts nodes, and is no shift of the ranks of this map: " run --network cube:3 --map gray --plan plan.json "$examples/hello.elf"
    tool_succeeds run --network cube:3 --map rows --plan plan.json "$examples/collectives.elf" shift 100
    refused "download on cube:3: no program runs, so there are no ranks that --map could place" sim --network cube:3 --map gray download
}

# Each rank has its parent and children where the tree says: one hop, or two.
a_tree_lies_in_a_cube() {
    tool_succeeds map --network cube:5 --map tree
    grep -q "^a tree in cube:5 by tree: dilation 2 (mean 1.033)" out || { cat out; fail "not told"; }
    tool_succeeds sim --network cube:3 --map tree "$examples/collectives.so" gather 100
}

# Elsewhere a quarter of a side near the root, and next to each other below.
a_tree_lies_in_a_mesh() {
    tool_succeeds map --network mesh:16x16 --map tree
    grep -q "^a tree in mesh:16x16 by tree: dilation 6 (mean 1.714), congestion 4" out || { cat out; fail "not told"; }
    tool_succeeds sim --network mesh:3x5 --map tree "$examples/collectives.so" gather 100
    tool_succeeds sim --network torus:3x3 --map tree exchange --bytes 100
}

# times_of COMMAND... - the model times of the stencil's line.
times_of() {
    tool_succeeds "$@"
    sed -n 's/.*numbers: \([0-9.]*\) us.*/\1/p' out
}

neighbours_are_as_near_as_on_their_own_network() {
    there=$(times_of sim --network torus:4x4 "$examples/stencil.so")
    # shellcheck disable=SC2086
    here=$(times_of sim $gray "$examples/stencil.so")
    [ -n "$there" ] && [ "$here" = "$there" ] || fail "$here us on the cube, $there us on the torus"
    # Its skew goes in steps of one hop: on a torus, and where neighbours are, no step is longer.
    tool_succeeds sim --network torus:4x4 "$examples/cannon.so"
    mv out there
    # shellcheck disable=SC2086
    tool_succeeds sim $gray "$examples/cannon.so"
    grep -q ' 0 wrong' out && cmp out there || { cat out there; fail "cannon takes another time"; }
    tool_succeeds sim --network cube:4 --map rows --as torus:4x4 "$examples/cannon.so"
    ! cmp -s out there || fail "cannon takes no longer where neighbours are apart"
    elsewhere=$(times_of sim --network cube:4 --map rows --as torus:4x4 "$examples/stencil.so")
    [ "$elsewhere" != "$there" ] || fail "rows are as near"
}

a_machine_has_the_same_times_as_the_simulator() {
    # shellcheck disable=SC2086
    simulated=$(times_of sim $gray "$examples/stencil.so")
    # shellcheck disable=SC2086
    [ "$(times_of run $gray "$examples/stencil.elf")" = "$simulated" ] || { cat out; fail "not $simulated us"; }
    # shellcheck disable=SC2086
    tool_succeeds run $gray "$programs/places.elf"
}

# A written plan counts nodes; nodes get its blocks by rank.
written_plans_are_of_nodes() {
    echo "5 2 7 0 3 1 6 4" >drawn
    while IFS=: read -r operation algorithm type; do
        # shellcheck disable=SC2086
        tool_succeeds plan export "$operation" --network cube:3 --bytes 100 --algorithm "$algorithm" $type --json "$operation.json"
        tool_succeeds sim --network cube:3 --map drawn --as mesh:2x4 --plan "$operation.json" --json result.json "$examples/collectives.so" "$operation" 100
        ! grep -q 'was not used' err || fail "$operation: not used"
        grep -q "of the file $operation.json" result.json || { cat result.json; fail "$operation: another plan"; }
    done <<-END
	exchange:direct:
	allgather:ring of neighbours:
	gather:halving tree:
	reduce_scatter:cycle:--type int32
	END
    tool_succeeds run --network cube:3 --map drawn --plan exchange.json "$examples/collectives.elf" exchange 100
    ! grep -q 'was not used' err || fail "not used"
}

# A machine stays, and each load has ranks where it says: none, where the machine says.
a_load_has_a_map_of_its_own() {
    # shellcheck disable=SC2086
    mapped=$(times_of sim $gray "$examples/stencil.so")
    plain=$(times_of sim --network cube:4 "$examples/stencil.so")
    tool_succeeds up --network cube:4 --name lab
    for turn in 1 2; do
        [ "$(times_of load --name lab --map gray --as torus:4x4 "$examples/stencil.elf")" = "$mapped" ] || { cat out; fail "$turn: not $mapped us"; }
        [ "$(times_of load --name lab "$examples/stencil.elf")" = "$plain" ] || { cat out; fail "$turn: not $plain us"; }
    done
    echo "5 2 7 0 3 1 6 4 15 12 9 8 10 11 13 14" >drawn
    tool_succeeds load --name lab --map gray --as torus:4x4 "$programs/places.elf"
    tool_succeeds load --name lab --map drawn --as torus:4x4 --json map.json "$examples/hello.elf"
    [ "$("$json_get" map.json map as)" = torus:4x4 ] && [ "$("$json_get" map.json map node_of_rank 2)" = 7 ] || fail "no map in JSON"
    for operation in gather scan exchange; do
        tool_succeeds load --name lab --map drawn "$examples/collectives.elf" $operation 100
        tool_succeeds load --name lab --map cycle "$examples/collectives.elf" $operation 100
        tool_succeeds load --name lab --json map.json "$examples/collectives.elf" $operation 100
    done
    ! "$json_get" map.json map as 2>/dev/null || fail "a map where there is none"
    refused "--map grey: did you mean gray?" load --name lab --map grey "$examples/hello.elf"
    refused "--as ring:8: say with --map" load --name lab --as ring:8 "$examples/hello.elf"
    refused "unknown network 'tours:4x4': did you mean torus:4x4?" load --name lab --map gray --as tours:4x4 "$examples/hello.elf"
    refused "torus:3x3 has 9 ranks and cube:4 16 nodes" load --name lab --map rows --as torus:3x3 "$examples/hello.elf"
    tool_succeeds load --name lab "$examples/hello.elf"
    tool_succeeds down --name lab
    tool_succeeds up --network cube:4 --map gray --as torus:4x4 --name lab
    [ "$(times_of load --name lab "$examples/stencil.elf")" = "$mapped" ] || { cat out; fail "up: not $mapped us"; }
    [ "$(times_of load --name lab --map rows "$examples/stencil.elf")" = "$plain" ] || { cat out; fail "rows: not $plain us"; }
    [ "$(times_of load --name lab "$examples/stencil.elf")" = "$mapped" ] || { cat out; fail "again: not $mapped us"; }
    tool_succeeds down --name lab
}

collectives_are_of_ranks() {
    echo "5 2 7 0 3 1 6 4" >drawn
    for operation in barrier broadcast scatter gather exchange allgather reduce allreduce reduce_scatter scan shift reverse \
        exchangev all_to_some; do
        tool_succeeds sim --network cube:3 --map drawn --as mesh:2x4 --json result.json "$examples/collectives.so" $operation 16 1000
        tool_succeeds sim --network torus:3x5 --map cycle "$examples/collectives.so" $operation 100
    done
    tool_succeeds run --network cube:3 --map drawn --as mesh:2x4 "$examples/collectives.elf" exchange 100
    tool_succeeds run --network cube:3 --map drawn --as mesh:2x4 "$examples/collectives.elf" scan 100
    tool_succeeds run --network cube:3 --map drawn "$examples/collectives.elf" scatter 100
}

# What a scenario does its ranks do: in the time of a program that does the same, and with right bytes.
scenarios_are_of_ranks() {
    echo "5 2 7 0 3 1 6 4" >drawn
    for operation in barrier broadcast scatter gather exchange allgather reduce allreduce reduce_scatter scan reverse exchangev all_to_some; do
        tool_succeeds sim --network cube:3 --map drawn --as mesh:2x4 --json scenario.json $operation --bytes 96
        tool_succeeds sim --network cube:3 --map drawn --as mesh:2x4 --json program.json "$examples/collectives.so" $operation 96
        [ "$("$json_get" scenario.json reports 0 wrong)" = 0 ] || fail "$operation: wrong bytes"
        time=$("$json_get" scenario.json reports 0 model_us)
        [ "$time" = "$("$json_get" scenario.json reports 0 predicted_us)" ] || fail "$operation takes $time us"
        [ "$time" = "$("$json_get" program.json reports 0 model_us)" ] || fail "$operation takes $time us, and a program another time"
    done
    # Neighbours are so on the cube, too; a transposition has the rows and columns of the ranks.
    tool_succeeds sim --network torus:4x4 --json guest.json shift --parameter 4 --bytes 96
    # shellcheck disable=SC2086
    tool_succeeds sim $gray --json host.json shift --parameter 4 --bytes 96
    [ "$("$json_get" guest.json reports 0 model_us)" = "$("$json_get" host.json reports 0 model_us)" ] || fail "a shift by a row takes another time"
    for scenario in random transpose hotspot; do
        # shellcheck disable=SC2086
        tool_succeeds sim $gray --json host.json $scenario --bytes 96
        [ "$("$json_get" host.json reports 0 wrong)" = 0 ] || fail "$scenario: wrong bytes"
    done
    tool_succeeds sim --network torus:4x4 --map rows --as cube:4 bitreversal --bytes 96
    refused "bitreversal on cube:4: only numbers of a cube's ranks" sim --network cube:4 --map gray --as torus:4x4 bitreversal
    "$ecube" sim --network cube:3 --map drawn circle >out 2>err # ends as what stands does
    [ "$?" -eq 124 ] && grep -q '^ecube: node 1 (rank 5) waits for messages' err || { cat err; fail "a circle without ranks"; }
    # Plans of a file are of nodes; the parameter and the usual one are held against the file's.
    tool_succeeds plan export shift --network cube:3 --bytes 96 --json plan.json
    tool_succeeds sim --network cube:3 --plan plan.json shift
    tool_succeeds plan export exchange --network cube:3 --bytes 96 --json plan.json
    tool_succeeds sim --network cube:3 --map drawn --plan plan.json exchange
    # The download carries the map.
    tool_succeeds sim --network cube:3 --map drawn --host-links 2 --json host.json barrier
    [ "$("$json_get" host.json download model_us)" = "$("$json_get" host.json download predicted_us)" ] || fail "another download than predicted"
}

# A copy of each rank's part, and a letter that says whose it is.
data_and_outputs_are_in_the_order_of_ranks() {
    cat >copy.c <<-'END'
	#include <ecube.h>
	#include <stdlib.h>
	#include <string.h>
	int main(void)
	{
	    size_t bytes;
	    const char *in = ecube_input(&bytes);
	    char *out = malloc(bytes + 1);
	    memcpy(out, in, bytes);
	    out[bytes] = (char)('a' + ecube_rank());
	    ecube_output(out, bytes + 1);
	    return 0;
	}
	END
    "$build/ecube-cc" --native copy.c -o copy.so || fail "no program"
    echo "5 2 7 0 3 1 6 4" >drawn
    printf 'AABBCCDDEEFFGGHH' >in
    for map in gray drawn; do
        tool_succeeds sim --network cube:3 --map $map --input in --output all ./copy.so
        [ "$(cat all)" = AAaBBbCCcDDdEEeFFfGGgHHh ] || fail "$map: parts are $(cat all)"
        tool_succeeds sim --network cube:3 --map $map --input in --window 4 --stride 1 --output all ./copy.so
        [ "$(cat all)" = AABBaABBCbBBCCcBCCDdCCDDeCDDEfDDEEgDEEFh ] || fail "$map: windows are $(cat all)"
    done
}

check "ecube map shows ranks, nodes, dilation and congestion" a_map_is_shown
check "a binary tree lies in a cube" a_tree_lies_in_a_cube
check "a binary tree lies in a mesh, and in a torus" a_tree_lies_in_a_mesh
check "maps that are none, and embeddings that there are not, are refused" what_cannot_be_is_refused
check "neighbours are as near as on their own network" neighbours_are_as_near_as_on_their_own_network
check "a machine has the same times as the simulator" a_machine_has_the_same_times_as_the_simulator
check "written plans are of nodes, and programs have ranks" written_plans_are_of_nodes
check "a load has a map of its own, or the machine's" a_load_has_a_map_of_its_own
check "collectives are of ranks, whatever the map" collectives_are_of_ranks
check "scenarios are of ranks, and take the time of programs" scenarios_are_of_ranks
check "data and outputs are in the order of ranks" data_and_outputs_are_in_the_order_of_ranks
cases_done
