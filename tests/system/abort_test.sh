# ecube_abort on emulated nodes: whatever the others do, the run ends, the tool says who it was and exits with the status.
# class: waits
. tests/system/testing.sh

aborter=$programs/aborter.elf

# aborts RANK STATUS EXIT NETWORK [now] - the line, the exit status, and with a barrier before all output until then.
aborts() {
    rank=$1 given=$2 wanted=$3 network=$4
    tool run --network "$network" --json result.json "$aborter" "$rank" "$given" ${5+"$5"}
    [ "$status" -eq "$wanted" ] || { words; fail "status $status, not $wanted"; }
    words | grep -Eq "^ecube: node $rank \(rank $rank\) aborted the run with status $given: [0-9]+ of [0-9]+ programs had ended$" ||
        { words; fail "nobody says who aborted"; }
    [ "$(words | wc -l)" -eq 1 ] || { words; fail "more than one line"; }
    grep -qx "\[ *$rank\] half a line" out || { cat out; fail "what it printed last is lost"; }
    grep -qx "\[ *$rank\] node $rank aborts" out || { cat out; fail "what it printed is lost"; }
    [ "$("$json_get" result.json troubles length)" = 1 ] || { cat result.json; fail "other troubles"; }
    [ "$("$json_get" result.json troubles 0 kind) $("$json_get" result.json troubles 0 nodes)" = "aborted [$rank]" ] ||
        { cat result.json; fail "another trouble"; }
    [ "$("$json_get" result.json status)" = "$wanted" ] || { cat result.json; fail "another status in the JSON file"; }
}

# All nodes have printed before the barrier, and nobody has ended.
others_are_stopped() {
    aborts "$@"
    words | grep -q ': 0 of ' || { words; fail "others had ended"; }
    nodes=$("$json_get" result.json nodes)
    [ "$(grep -c ' waits$' out)" -eq $((nodes - 1)) ] || { cat out; fail "not all have come to their wait"; }
}

status_of() {
    aborts 1 7 7 cube:2
    aborts 0 0 1 ring:3
    aborts 2 256 1 ring:3
    aborts 3 -1 255 mesh:2x2
    aborts 0 1000 $((1000 % 256)) cube:0
}

# aborts of a program in a machine that goes on; `others` counts the processes of QEMU before and after.
machine_goes_on() {
    tool_succeeds up --name abort --network cube:3
    running=$(process_count qemu-system)
    for rank in 6 0 5 3; do
        tool load --name abort "$aborter" $rank 9
        [ "$status" -eq 9 ] || { words; fail "status $status"; }
        words | grep -q "node $rank (rank $rank) aborted the run with status 9: 0 of 8" || { words; fail "nobody says so"; }
        [ "$(process_count qemu-system)" -eq "$running" ] || fail "nodes are gone"
        tool_succeeds load --name abort "$programs/collectives.elf" 100
        tool_succeeds load --name abort "$programs/messages.elf" 3000
    done
    tool_succeeds down --name abort
    wait_until no_processes || fail "processes outlive ecube down"
}

# all_at_once - several abort; one of them is told.
all_at_once() {
    cat >all.c <<'END'
#include <ecube.h>
int main(void)
{
    ecube_barrier();
    ecube_abort(20 + ecube_rank());
}
END
    "$build/ecube-cc" all.c -o all.elf || fail "ecube-cc fails"
    for try in 1 2 3; do
        tool run --network cube:3 all.elf
        rank=$((status - 20))
        [ "$rank" -ge 0 ] && [ "$rank" -lt 8 ] || { words; fail "status $status"; }
        words | grep -q "node $rank (rank $rank) aborted the run with status $status: " || { words; fail "another one is told"; }
        [ "$(words | wc -l)" -eq 1 ] || { words; fail "more than one line"; }
    done
}

# picture NETWORK - what the farm draws, without who has drawn it.
picture() {
    tool_succeeds run --network "$1" "$examples/farm.elf" 16 300
    grep -v 'worker' out | sed -n 's/^\[0\] //p' | head -n 16
}

farm_draws_the_same() {
    picture cube:0 >alone
    [ "$(wc -l <alone)" -eq 16 ] && [ "$(grep -c '####' alone)" -ge 8 ] || { cat alone; fail "no picture"; }
    for network in cube:1 cube:3 ring:5 torus:3x3; do
        picture "$network" >drawn
        cmp alone drawn || { cat out; fail "another picture on $network"; }
        [ "$(sed -n 's/.*row \([0-9]*\) lie in the set$/\1/p' out | sort | uniq -d | wc -l)" -eq 0 ] || { cat out; fail "news twice"; }
        rows=$(awk '$1 == "[0]" && NF == 4 && $2 ~ /^[0-9]+$/ { rows += $3; all += $4 } END { print rows, all }' out)
        told=$(sed -n 's/^\[0\] \([0-9]*\) rows, \([0-9]*\) iterations by.*/\1 \2/p' out)
        [ -n "$told" ] && [ "$rows" = "$told" ] || { cat out; fail "workers drew $rows, and the sum says $told"; }
    done
}

# Rank 0 says so for all of them.
farm_refuses_bad_arguments() {
    for rows in 0 -3 201 many; do
        tool run --network cube:3 "$examples/farm.elf" $rows
        [ "$status" -eq 2 ] || { words; fail "status $status"; }
        grep -qx "\[0\] farm: '$rows' is no number from 1 to 200" err || { cat err; fail "nobody says why"; }
    done
}

for rank in 0 5 13; do
    check "whatever others are at, the abort of node $rank ends the run: in collectives, receives, wait_any, wait_some, probes, sleep, computing" \
        others_are_stopped $rank 42 42 mesh:2x7
done
check "so it does on a cube" others_are_stopped 3 5 5 cube:3
check "an abort that waits for nobody ends the run" aborts 4 3 3 ring:7 now
check "its lowest 8 bits are the tool's exit status, 1 for 0" status_of
check "a machine that is up goes on with the next program" machine_goes_on
check "of several that abort at the same time one is told" all_at_once
check "the farm draws the same picture on every network" farm_draws_the_same
check "the farm refuses what it cannot draw" farm_refuses_bad_arguments
cases_done
