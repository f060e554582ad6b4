#!/bin/sh
# data_test.sh BUILD - data goes to simulated nodes and comes back, whatever links lose or damage; what dies amid it is named.
#
# A node leaves what it was given, so one comparison finds a byte that was wrong on either way. The tool is the one without
# sanitizers: 0.1 s a run of 64 nodes. tests/fabric/load_test.c and gather_test.c run the same nodes with them.
. tests/system/testing.sh

needs_native

mirrors=$programs/mirrors.so
strategy=decremental

# piped TEST... - the same with a download in parcels.
piped() {
    strategy=pipelined
    "$@"
    strategy=decremental
}

# cat_windows NODES - what comes back: windows of `in`, each with the node's private data and the common ones behind it.
cat_windows() {
    bytes=$(($(wc -c <in) / $1))
    for rank in $(seq 0 $(($1 - 1))); do
        tail -c "+$((rank * bytes + 1))" in | head -c $bytes
        cat "part$rank" common
    done
}

# make_data NODES WINDOW PRIVATE COMMON - so many bytes of each kind, other ones for each node; what comes back is `wanted`.
make_data() {
    awk -v n=$(($1 * $2 + $1 * $3 + $4)) 'BEGIN { for (s = 7; n > 0; n--) { s = (s * 16807) % 2147483647; printf "%c", 33 + s % 94 } }' >all
    head -c $(($1 * $2)) all >in
    tail -c "$4" all >common
    for rank in $(seq 0 $(($1 - 1))); do
        tail -c "+$(($1 * $2 + rank * $3 + 1))" all | head -c "$3" >"part$rank"
    done
    cat_windows "$1" >wanted
}

# there_and_back OPTION... - a run of it all; the names of what is printed are those of tool.
there_and_back() {
    rm -f named
    tool sim -q "$@" --strategy $strategy --input in --private part%r --common common --output named "$mirrors"
}

all_is_right() {
    [ "$status" -eq 0 ] || { words; fail "status $status: $1"; }
    cmp wanted named || fail "other bytes: $1"
}

# lossy SEEDS - on 64 nodes, 32 KiB for each.
lossy() {
    make_data 64 20000 12768 5000
    damaged=0
    for seed in $(seq 1 "$1"); do
        there_and_back --network cube:6 --drop 1e-2 --flip 1e-6 --seed "$seed" --shuffle "$seed" --json result
        all_is_right "seed $seed"
        [ "$("$json_get" result download receipts)" -eq 64 ] || fail "seed $seed: not all receipts"
        damaged=$((damaged + $("$json_get" result sim damaged)))
    done
    [ $damaged -gt $((20 * $1)) ] || fail "only $damaged frames were damaged"
}

# Whether words name what died: with a node only links of its own, with a link only that one; and the output is not there.
names_the_dead() {
    [ ! -e named ] || fail "something was written: $1"
    words | awk '
        /^ecube: node [0-9]+ was killed$/ { killed = $3; next }
        /^ecube: link [0-9]+-[0-9]+ / { split($3, ends, "-"); from = ends[1]; to = ends[2]; lines++ }
        /^ecube: the host link of node [0-9]+ / { from = "host"; to = $7; lines++ }
        /^ecube: missing: node [0-9]+ / { from = to = $4; silent++ }
        { if (from == "") next
          if (killed == "" && lines == 1) { first = from; second = to }
          all[++count, 0] = from; all[count, 1] = to; from = "" }
        END {
            if (count == 0) exit 1
            for (i = 1; i <= count; i++)
                if (killed != "" ? all[i, 0] != killed && all[i, 1] != killed : all[i, 0] != all[1, 0] || all[i, 1] != all[1, 1]) exit 1
        }' || { words; fail "what died is not named: $1"; }
}

# named_or_right WHERE - who died is named, and counted; or it had said its last word, and all is right.
named_or_right() {
    case $status in
    0) all_is_right "$1" ;;
    3) names_the_dead "$1" && died=$((died + 1)) ;;
    *) words && fail "status $status: $1" ;;
    esac
}

# Link events of boot, download and run, and of all.
count_events() {
    tool_succeeds sim -q --network cube:4 --strategy $strategy --json result --input in --private part%r --common common "$mirrors"
    events_before=$("$json_get" result sim link_events)
    there_and_back --network cube:4 --json result
    all_is_right "without faults"
    events=$("$json_get" result sim link_events)
    [ "$events" -gt $((events_before + 100)) ] || fail "the gather takes $((events - events_before)) events"
}

# dies ACTION STRIDE - 16 nodes: at each so manyth event from the first frame of all to the last.
dies() {
    make_data 16 7000 1000 3000
    count_events
    died=0
    for event in $(seq 1 "$2" "$events"); do
        there_and_back --network cube:4 --fail "$event:$1"
        ! grep -q 'did not happen' err || fail "nothing happened: event $event"
        named_or_right "event $event"
    done
    [ $((died * $2)) -gt $((events * 9 / 10)) ] || fail "only $died died"
}

# repaired ACTION STRIDE - the same events: all is right after one frame that was lost, damaged or doubled.
repaired() {
    make_data 16 7000 1000 3000
    count_events
    for event in $(seq 1 "$2" "$events"); do
        there_and_back --network cube:4 --fail "$event:$1"
        ! grep -q 'did not happen' err || fail "nothing happened: event $event"
        all_is_right "event $event"
    done
}

# falls_silent LEAST MOMENT... - each link of 16 nodes, in one direction and in the other: its other end hears no more. So many
# die at least; the others carry nothing more.
falls_silent() {
    least=$1
    shift
    make_data 16 7000 1000 3000
    died=0
    for moment in "$@"; do
        for link in $(awk 'BEGIN { for (a = 0; a < 16; a++) for (d = 1; d < 16; d *= 2) print a "-" (int(a / d) % 2 ? a - d : a + d) }') host-0 0-host; do
            there_and_back --network cube:4 --oneway "$link@$moment"
            named_or_right "$link at $moment"
        done
    done
    [ $died -ge "$least" ] || fail "only $died have died"
}

check "what links lose or damage is sent again: 64 nodes, 32 KiB each, 3 seeds" lossy 3
check_long "... 100 seeds" lossy 100 # a rare pair of losses
check "... in parcels, 3 seeds" piped lossy 3
check_long "... in parcels, 100 seeds" piped lossy 100
for action in kill cut; do
    check "who dies amid a download or a gather is named: $action, events all over" dies $action 59
    check_long "... at every event" dies $action 1 # one frame of a thousand
    check "... amid parcels: $action" piped dies $action 127
    check_long "... amid parcels, at every event" piped dies $action 1
done
check "a link that falls silent amid a gather is named" falls_silent 8 run+2ms
check_long "... amid a download, and at other times" falls_silent 97 download download+50ms run run+2ms run+5ms
check "... amid a download in parcels" piped falls_silent 8 download+2ms
for action in drop flip duplicate; do
    check "a frame is repaired: $action, events all over" repaired $action 199
    check_long "... each one" repaired $action 1
    check "... amid parcels: $action" piped repaired $action 397
    check_long "... amid parcels, each one" piped repaired $action 1
done
cases_done
