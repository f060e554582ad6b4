# What ecube ps says of the programs of a machine that is up.
# class: waits
. tests/system/testing.sh
unset COLUMNS
with_sanitizers

# says NODE TEXT - in the last ps.
says() {
    grep -Eq "^ +$1 running +[0-9.]+ +([0-9]+ +){4}$2\$" out
}

# waits_are_told - polls until every program has come to what it waits for.
waits_are_told() {
    tool_succeeds ps --name waiting --json ps.json
    ! grep -E '.{101}' out || fail "lines of more than 100 columns"
    awk '/^                    / { sub(/^ +/, " "); words = words $0; next }
        { if (NR > 1) print words; words = $0 } END { print words }' out >joined && mv joined out
    says 0 'waits to send 4000 bytes to rank 7, tag 1, which has not asked for it' &&
        says 1 'waits to receive from any rank, tag 5' &&
        says 2 'waits to receive from rank 3' &&
        says 3 'sleeps for 3[0-9]{3}\.[0-9] s more' &&
        says 4 'waits to receive from rank 0, tag 4 \(one of 3 open requests\)' &&
        says 5 'computes in spin \(waiter\.c:[0-9]+\), called from (with_one_behind|main) \(waiter\.c:[0-9]+\) \(1 open request\)' &&
        says 6 'waits in broadcast of 64 bytes with root 2 for rank 4 to enter' &&
        says 7 'waits in broadcast of 64 bytes with root 2 for rank 4 to enter \(1 message not received\)'
}

# json_says NODE TEXT KEY... - in the last ps --json.
json_says() {
    wanted=$1.$2
    node=$1
    shift 2
    [ "$node.$("$json_get" ps.json nodes "$node" "$@")" = "$wanted" ] || { cat ps.json; fail "node $wanted: $*"; }
}

every_way() {
    tool_succeeds up --name waiting --network cube:3
    "$ecube" load --name waiting "$programs/waiter.elf" >load.out 2>load.err &
    loader=$!
    wait_until waits_are_told || { cat out load.err; fail "other words"; }
    json_says 0 send wait kind
    json_says 0 7 wait peer
    json_says 0 1 wait tag
    json_says 0 4000 wait bytes
    json_says 0 known wait stage
    json_says 1 receive wait kind
    json_says 1 5 wait tag
    json_says 1 open wait stage
    json_says 3 sleep wait kind
    json_says 4 3 requests
    json_says 6 collective wait kind
    json_says 6 broadcast collective operation
    json_says 6 64 collective bytes
    json_says 6 2 collective root
    json_says 6 entry collective stage
    json_says 6 4 collective peer
    tool_succeeds down --name waiting
    wait $loader
    wait_until no_processes || fail "processes outlive ecube down"
}

circle_through_barrier() {
    may_time_out=1
    tool run --network cube:3 "$programs/waiter.elf" cross
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q '^ecube: node 7 (rank 7) waits in barrier for rank 1 to enter$' || { words; fail "nobody says who is missing"; }
    words | grep -Eq 'in a circle: rank (0 for 1 for 0|1 for 0 for 1)$' || { words; fail "no circle"; }
}

check "ps says of every program what it waits for, in words and in JSON" every_way
check "a program that waits for one that has entered a barrier is told as a circle" circle_through_barrier
cases_done
