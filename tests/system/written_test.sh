# Plans that people write: proved, refused with their place, run on nodes and in the simulator.
# class: waits
. tests/system/testing.sh
unset COLUMNS

plans=$source_tree/tests/golden/plans

hand_written_plans_are_right() {
    for plan in alltoall_mesh1x3 allreduce_cube2 broadcast_cube2 broadcast_ring4 reduce_mesh1x4 scan_mesh1x4; do
        tool_succeeds plan verify "$plans/$plan.json"
        grep -q " is right: " out || fail "$plan: $(cat out)"
        grep -Eq "^algorithm +of the file .*$plan.json" out || fail "whose is it? $(cat out)"
        ! grep -Eq '.{101}' out || [ "$(grep -Ec '.{101}' out)" -le 2 ] || fail "too wide"
    done
    tool_succeeds plan verify "$plans/allreduce_cube2.json"
    grep -Eq '^model time +1000\.000 us' out || fail "time: $(cat out)"
    tool_succeeds plan show allreduce --network cube:2 --algorithm 'reduce and broadcast'
    grep -Eq '^model time +2000\.000 us' out || fail "the tree takes another time: $(grep time out)"
}

the_example_of_the_manual_is_right() {
    sed -n '/^<!-- example -->$/,/^```$/p' "$source_tree/doc/plans.md" | grep -v '^<!--\|^```' >plan.json
    [ -s plan.json ] || fail "there is no example"
    tool_succeeds plan verify plan.json
    ! grep -q '^odd:' out || fail "nothing is odd here: $(cat out)"
    tool_succeeds sim --network ring:4 --plan plan.json broadcast
    sed 's/\(.*"from": 1, "to": 2.*\)/\1, {"step": 2, "from": 2, "to": 3, "blocks": ["0"]}/' plan.json >twice.json
    tool_succeeds plan verify twice.json
    grep -q '^odd: .*step 2, 2 to 3: node 3 has block 0 already' out || fail "no remark: $(cat out)"
}

# is_itself NETWORK OPERATION OPTION... - an export is read back as what `plan show` shows: by its name, with its time.
is_itself() {
    network=$1 operation=$2
    shift 2
    tool_succeeds plan show "$operation" --network "$network" --bytes 960 "$@"
    grep -E '^(algorithm|source|segments|steps|circuits|model time) ' out >shown
    tool_succeeds plan export "$operation" --network "$network" --bytes 960 --json plan.json "$@"
    tool_succeeds plan verify plan.json
    sed '1,/^$/d' out | grep -E '^(algorithm|source|segments|steps|circuits|model time) ' >verified
    cmp shown verified || fail "$operation on $network $*: $(cat shown verified)"
}

exports_come_back() {
    for network in cube:4 torus:3x4 mesh:1x7; do
        for operation in barrier broadcast reduce allreduce reduce_scatter scan scatter gather allgather alltoall alltoallv shift reverse all_to_some; do
            is_itself "$network" "$operation"
        done
    done
    is_itself ring:8 broadcast --algorithm 'chain 4 segments' --root 3
    is_itself cube:4 alltoall --algorithm 'multiphase 2+2'
    is_itself cube:3 shift --parameter 5
    is_itself torus:3x4 reverse --parameter 2
    is_itself torus:3x4 shift --parameter 5 --algorithm 'parts 8, 1 at once' --ports all
    for operation in allgather reduce_scatter; do
        is_itself torus:3x4 "$operation" --algorithm 'rotated neighbours, blocks cut' --ports all
    done
}

# What its file calls it is a claim.
other_plans_have_no_name() {
    tool_succeeds plan export broadcast --network ring:8 --algorithm 'chain 4 segments' --json plan.json
    for change in 's/chain 4 segments/chain 8 segments/' 's/chain 4 segments/mine/' '0,/"ahead":true/s//"ahead":false/'; do
        sed "$change" plan.json >other.json
        ! cmp -s plan.json other.json || fail "$change changes nothing"
        sed -i 's/"predicted_us":[0-9.]*,//' other.json
        tool_succeeds plan verify other.json
        grep -Eq '^algorithm +of the file other.json' out || fail "$change: $(grep ^algorithm out)"
        grep -Eq '^source +its file calls it ' out || fail "$change: $(grep ^source out)"
    done
}

wrong_plans_are_refused() {
    tool_succeeds plan export alltoall --network cube:3 --algorithm AAP --json plan.json
    sed 's/"blocks":\["0.7"\]/"blocks":["1.7"]/' plan.json >wrong.json
    tool_fails 2 '^ecube: wrong.json, line [0-9]+, circuit [0-9]+: step 0, 0 to 7: node 0 has not got block 1.7 by then' \
        plan verify wrong.json
    sed '/"from":0,"to":7/d' plan.json >wrong.json
    tool_fails 2 '^ecube: wrong.json: node 7 has not got block 0.7 at the end' plan verify wrong.json
    head -c 3000 plan.json >wrong.json
    tool_fails 2 "^ecube: wrong.json, line $(wc -l <wrong.json | awk '{ print $1 + 1 }'): the file is cut off" \
        plan verify wrong.json
    sed 's/"predicted_us":/&1/' plan.json >wrong.json
    tool_fails 2 'it takes [0-9.]* us, not 1' plan verify wrong.json
    tool_fails 2 'circle of waits: order 2 .*waits at link 0-1 for order 0 .*waits at node 0 for order 2' \
        plan verify "$plans/circle_ring4.json"
    tool_fails 2 'cannot read the plan no/such' plan verify no/such
    tool_fails 2 'a zero byte' plan verify /dev/zero
    mkfifo pipe
    tool_fails 2 'cannot read the plan pipe: nobody writes to it' plan verify pipe
    cat plan.json >pipe &
    tool_succeeds plan verify pipe
    printf '{"operation": "all\\u001b[31m\\n\303\377"}' >wrong.json
    tool_fails 2 '"all.\[31m\?\?\?"' plan verify wrong.json
    ! LC_ALL=C grep -q '[^ -~]' err || fail "a name goes to the terminal as it is"
    tool_fails 2 'name a file' plan verify
    tool_fails 2 'another profile' plan verify plan.json --profile unit
    tool_fails 2 'plan for cube:3, and the machine is cube:2' plan verify plan.json --network cube:2
}

simulated_nodes_take_the_predicted_time() {
    for network in ring:8 mesh:3x4 torus:4x4; do
        for operation in broadcast scan alltoall; do
            tool_succeeds plan export "$operation" --network "$network" --bytes 600 --json plan.json
            tool_succeeds sim --network "$network" --plan plan.json $operation --json result.json
            measured=$("$json_get" result.json reports 0 model_us) predicted=$("$json_get" plan.json predicted_us)
            [ "$measured" = "$predicted" ] || fail "$operation on $network: $measured us, not $predicted"
        done
    done
    tool_succeeds sim --network cube:2 --plan "$plans/allreduce_cube2.json" allreduce --bytes 16,1000 --json result.json
    [ "$("$json_get" result.json reports 1 model_us)" = 1000.0 ] || fail "the plan was not used: $(cat out)"
    [ "$("$json_get" result.json reports 1 wrong)" = 0 ] || fail "wrong bytes"
    [ "$("$json_get" result.json reports 0 model_us)" = "$("$json_get" result.json reports 0 predicted_us)" ] ||
        fail "the size without a plan"
}

what_does_not_fit_starts_nothing() {
    plan=$plans/broadcast_ring4.json
    tool_fails 2 'plan for ring:4, and the machine is ring:5' sim --network ring:5 --plan "$plan" broadcast
    tool_fails 2 'another profile' sim --network ring:4 --profile unit --plan "$plan" broadcast
    tool_fails 2 'and the scenario is gather' sim --network ring:4 --plan "$plan" gather
    tool_fails 2 'add --bytes 1000' sim --network ring:4 --plan "$plan" broadcast --bytes 16
    tool_fails 2 'are both plans of broadcast' sim --network ring:4 --plan "$plan" --plan "$plan" broadcast
    tool_fails 2 'circle of waits' sim --network ring:4 --plan "$plans/circle_ring4.json" broadcast
    tool_fails 2 'plan for ring:4, and the machine is cube:2' run --network cube:2 --plan "$plan" "$examples/trees.elf"
    tool_fails 2 'circle of waits' run --network ring:4 --plan "$plans/circle_ring4.json" "$examples/trees.elf"
}

# Another plan than the planner's: what is measured is its time.
nodes_run_with_it() {
    tool_succeeds plan export alltoall --network cube:2 --bytes 100 --algorithm neighbours --json plan.json
    predicted=$("$json_get" plan.json predicted_us)
    tool_succeeds run --network cube:2 --plan plan.json --json result.json "$examples/complete_exchange.elf" 16 100
    [ "$("$json_get" result.json reports 1 model_us)" = "$predicted" ] || fail "not $predicted us: $(cat err)"
    [ "$("$json_get" result.json reports 1 predicted_us)" = "$predicted" ] || fail "the node was told of another plan"
    [ "$("$json_get" result.json plans 0 algorithm)" = 'of the file plan.json' ] || { cat result.json; fail "whose is it?"; }
    ! grep -q 'was not used' err || fail "it was used"
    tool_succeeds run --network cube:2 --plan plan.json "$examples/complete_exchange.elf" 16
    grep -q 'plan.json was not used: no exchange of blocks of 100 bytes was called for' err || fail "nobody said so: $(cat err)"
}

with_sanitizers
check "plans written by hand are proved, and one beats a tree" hand_written_plans_are_right
check "the example of doc/plans.md is right" the_example_of_the_manual_is_right
check "what is exported is read back as what it is" exports_come_back
check "a plan that is another than its file calls it goes by its file" other_plans_have_no_name
check "a wrong, cut off, circular or foreign plan is one line with its place" wrong_plans_are_refused
check "simulated nodes take the time that is predicted of a written plan" simulated_nodes_take_the_predicted_time
check "a plan that does not fit starts nothing" what_does_not_fit_starts_nothing
check "nodes in QEMU take the time that is predicted of a written plan" nodes_run_with_it
cases_done
