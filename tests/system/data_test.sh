# Data that goes with a program: every node has its own, whatever the strategy; what is wrong with it is told before anything starts.
# class: waits
. tests/system/testing.sh
with_sanitizers

data=$programs/data.elf
arguments=$programs/arguments.elf

# pseudo_random BYTES - that many, always the same.
pseudo_random() {
    awk -v n="$1" 'BEGIN { s = 7; for (i = 0; i < n; i++) { s = (s * 16807) % 2147483647; printf "%c", 32 + s % 95 } }'
}

# sum FILE FROM BYTES - "BYTES CRC" of a piece, as data.elf prints it.
sum() {
    tail -c "+$(($2 + 1))" "$1" | head -c "$3" | cksum | awk '{ print $2, $1 }'
}

# has RANK LINE - what a node has printed.
has() {
    grep -qxF "[$1] $2" out || { cat out err; fail "node $1 has not printed: $2"; }
}

# time_is_predicted - the last run's download took what was predicted, to the nanosecond.
time_is_predicted() {
    model=$("$json_get" result.json download model_us)
    predicted=$("$json_get" result.json download predicted_us)
    [ -n "$model" ] && [ "$model" = "$predicted" ] || fail "model $model us, predicted $predicted us"
}

windows_overlap() {
    pseudo_random 5000 >in
    tool_succeeds run -m cube:3 --json result.json --input in --window 1500 --stride 500 "$data"
    for rank in 0 1 2 3 4 5 6 7; do
        has $rank "1 in $(sum in $((rank * 500)) 1500)"
    done
    [ ! -s err ] || ! grep -q 'no node' err || fail "all bytes are in a window"
    time_is_predicted
}

equal_parts() {
    pseudo_random 700 >in
    tool_succeeds run -m ring:7 --input in "$data"
    for rank in 0 3 6; do
        has $rank "1 in $(sum in $((rank * 100)) 100)"
    done
    tool_fails 2 '--input in: 700 bytes are no equal parts for 8 nodes: give --window, or --pad for zeros at the end' \
        run -m cube:3 --input in "$data"
}

windows_end_in_zeros() {
    pseudo_random 950 >in
    { cat in; head -c 100 /dev/zero; } >padded
    tool_fails 2 '--input in has 950 bytes, and the window of node 9 ends at 1000: --pad goes on with zeros' \
        run -m ring:10 --input in --window 100 "$data"
    tool_succeeds run -m ring:10 --input in --window 100 --pad "$data"
    has 0 "1 in $(sum padded 0 100)"
    has 9 "1 in $(sum padded 900 100)"
}

windows_with_gaps() {
    pseudo_random 1000 >in
    tool_succeeds run -m cube:2 --json result.json --input in --window 100 --stride 250 "$data"
    for rank in 0 1 2 3; do
        has $rank "1 in $(sum in $((rank * 250)) 100)"
    done
    grep -qxF "ecube: --input in: 600 of its 1000 bytes are in no node's window" err || { cat err; fail "nothing on the gaps"; }
    [ "$("$json_get" result.json troubles 0 kind)" = data-unused ] || fail "kind"
    [ "$("$json_get" result.json troubles 0 bytes)" = 600 ] || fail "bytes"
}


all_kinds() {
    pseudo_random 300000 >common
    pseudo_random 6800 >in
    echo "a,b" >table.csv
    for rank in 0 1 2 3 4 5 6 7; do
        pseudo_random $((1000 + rank / 3 * 77)) >part$rank.bin
    done
    machine_begins cube:3
    for strategy in decremental scatter sequential sequential-scatter pipelined auto; do
        tool_succeeds load --name shared --strategy $strategy --json result.json --common common \
            --input in --window 1200 --stride 800 --private part%r.bin --file data/t.csv=table.csv "$data"
        for rank in 0 1 2 3 4 5 6 7; do
            has $rank "2 common $(sum common 0 300000)"
            has $rank "1 in $(sum in $((rank * 800)) 1200)"
            has $rank "3 part%r.bin $(sum part$rank.bin 0 10000)"
            has $rank "4 data/t.csv $(sum table.csv 0 4)"
        done
        time_is_predicted
    done
    machine_ends
    [ "$("$json_get" result.json data 3 name)" = data/t.csv ] || fail "the name in JSON"
}

# A host that starts faster than a node: then an earlier subcube ends last.
below_sigma_1() {
    pseudo_random 40000 >in
    for network in cube:4 ring:7 mesh:3x3; do
        machine_begins $network --sigma 0.1
        for x in 0 1; do
            tool_succeeds load --name shared --x $x --json result.json --input in --pad "$data"
            time_is_predicted
        done
        machine_ends
    done
}

read_only_data() {
    pseudo_random 1000 >common
    tool run -m cube:0 --common common "$data" write
    [ "$status" -eq 139 ] || fail "status $status"
    words | grep -q 'wrote to data that may only be read, at 0x' || { words; fail "no word on it"; }
    cp common part0
    tool_succeeds run -m cube:0 --private part%r "$data" write
}

programs_by_node() {
    pseudo_random 2000 >common
    tool_succeeds run -m cube:3 --json result.json --common common --node 3,5-6 "$arguments" "$data"
    for rank in 0 1 2 4 7; do
        has $rank "2 common $(sum common 0 2000)"
    done
    for rank in 3 5 6; do
        has $rank "node $rank of 8:"
    done
    time_is_predicted
    [ "$("$json_get" result.json programs 0 nodes)" = 3,5-6 ] || fail "nodes in JSON"
    tool_succeeds run -m cube:1 --node 0 "$arguments" --node 1 "$arguments" -- a b
    has 1 "node 1 of 2: [a] [b]"
    cp "$programs/misbehave.elf" other.elf
    tool run -m cube:1 --node 1 other.elf "$arguments" null 1
    [ "$status" -eq 139 ] || fail "status $status"
    words | grep -q 'node 1 (rank 1): .* in .*misbehave.c' || { words; fail "a place of the wrong program"; }
}

on_a_machine() {
    pseudo_random 4000 >in
    cp "$data" program.elf
    tool_succeeds up --network cube:2 --name data
    for i in 0 1 2 3; do
        pseudo_random $((i + 5)) >p$i
    done
    tool_succeeds load --name data --explain --input in --window 1000 --private p%r --file x=in program.elf
    for rank in 0 1 2 3; do
        has $rank "1 in $(sum in $((rank * 1000)) 1000)"
        has $rank "3 p%r $(sum p$rank 0 100)"
        has $rank "4 x $(sum in 0 4000)"
    done
    grep -Eq '^decremental .* (yes|no)' err || { cat err; fail "no table"; }
    tool_fails 2 'cannot read .*/no-such: No such file' load --name data --common no-such program.elf
    tool_fails 2 '--node 4: cube:2 has nodes 0 to 3' load --name data --node 4 program.elf program.elf
    tool_succeeds load --name data --node 2 program.elf "$arguments"
    has 3 "node 3 of 4:"
    tool_succeeds down --name data
}

# Each strategy stands once, one is chosen, and it is the fastest that fits.
explained() {
    pseudo_random 10000 >in
    tool_succeeds run -m cube:3 --strategy auto --explain --json result.json --input in "$data"
    [ "$(grep -Ec '^(decremental|scatter|sequential|sequential-scatter|pipelined) ' err)" -eq 5 ] || { cat err; fail "no table of five"; }
    [ "$(grep -c 'yes, chosen$' err)" -eq 1 ] || { cat err; fail "not one is chosen"; }
    chosen=$("$json_get" result.json download predicted_us)
    for i in 0 1 2 3 4; do
        time=$("$json_get" result.json download strategies $i predicted_us)
        awk -v a="$chosen" -v b="$time" 'BEGIN { exit !(a <= b) }' || fail "strategy $i would take $time us, and $chosen us was chosen"
    done
    [ "$("$json_get" result.json download auto)" = true ] || fail "auto in JSON"
}

# What a root cannot hold: 16 nodes of 8 MB each are more than a node has.
too_much_for_a_root() {
    head -c 8000000 /dev/zero >part
    for rank in 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
        ln part part$rank
    done
    tool_fails 2 '--strategy scatter: node 0 would hold 114\.4 MiB for others, it has room for [0-9.]+ MiB: use sequential or auto' \
        run -m cube:4 --strategy scatter --private part%r "$data"
}

in_simulation() {
    pseudo_random 9000 >in
    for rank in 0 1 2 3 4 5 6 7; do
        pseudo_random $((500 + rank % 2 * 200)) >part$rank
    done
    tool_succeeds run -m cube:3 --input in --window 2000 --stride 1000 --private part%r --common in "$data"
    sort out >run.out
    tool_succeeds sim -m cube:3 --json result.json --input in --window 2000 --stride 1000 --private part%r --common in \
        "$programs/data.so"
    sort out | cmp - run.out || fail "the simulated nodes have other data"
    time_is_predicted
    for quiet in '' -q; do
        # shellcheck disable=SC2086
        tool_succeeds sim $quiet -m cube:2 --input in --window 100 --stride 100 "$programs/data.so"
        grep -qxF "ecube: --input in: 8600 of its 9000 bytes are in no node's window" err ||
            { cat err; fail "nothing on the bytes that nobody gets, with '$quiet'"; }
    done
    tool_fails 2 '--common, --input, --private or --file is for programs' sim -m cube:3 --common in exchange
}

# refused PATTERN OPTION... - one line, and nothing was started.
refused() {
    pattern=$1
    shift
    tool_fails 2 "$pattern" run -m cube:3 "$@" "$data"
    ! grep -q 'boot' err || fail "nodes were started"
}

bad_input() {
    pseudo_random 800 >in
    : >empty
    mkdir folder
    mkfifo pipe
    head -c 70000000 /dev/zero >large
    cp in part0
    refused 'cannot read none: No such file' --common none
    refused 'folder is a directory' --common folder
    refused '/dev/zero is no regular file' --input /dev/zero
    refused 'pipe is no regular file' --file pipe
    refused 'empty is empty' --common empty
    refused 'empty is empty' --file x=empty
    refused 'node 5 ends at 850: --pad' --input in --window 100 --stride 150
    refused 'node 0 ends at 801: --pad' --input in --window 801
    refused 'the data has no room beside .*data.elf: together 6[6-9]\.[0-9] MiB, and a node has 5[0-9]\.[0-9] MiB' --common large
    refused 'cannot read part1: No such file' --private part%r
    refused '%r must stand in it' --private part0
    refused 'use %r for the rank, %% for %' --private part%d
    refused "'//' in it: --file NAME=in$" --file ../x=in
    refused "'//' in it: --file NAME=in$" --file a/..=in
    refused "'//' in it: --file NAME=./in$" --file ./in
    refused "'//' in it: --file NAME=$PWD/in$" --file "$PWD/in"
    refused "'//' in it: --file NAME=in$" --file a//b=in
    refused 'there are two files of this name' --file a=in --file a=large
    refused 'needs the name of a file' --common ''
    refused '--window stands behind the --input' --window 10
    refused '--pad stands behind the --input' --common in --pad
    refused 'use a number from 1 to' --input in --window 0
    refused '--node 8: cube:3 has nodes 0 to 7' --node 8 "$arguments"
    refused 'use numbers and ranges' --node 3- "$arguments"
    refused 'use numbers and ranges' --node 5-3 "$arguments"
    refused 'use numbers and ranges' --node 1,,2 "$arguments"
    refused 'the node has a program already, .*arguments.elf' --node 3 "$arguments" --node 2-4 "$arguments"
    refused 'no node is left for .*data.elf: --node names all' --node 0-7 "$arguments"
    refused 'name the program for these nodes' --node 3 --node 4 "$arguments"
    tool_fails 2 'node 1 has no program: name one without --node' run -m cube:1 --node 0 "$data"
    tool_fails 2 'name the program for these nodes' run -m cube:1 --node 0
}

# ps_answers - at once, also while data are read and hashed, or sent.
ps_answers() {
    timeout 5 "$ecube" ps --name filled >out 2>ps.err || fail "ps waits for the data: $(cat ps.err)"
}

# begin ARGUMENT... - the tool beside this script, bounded in time; its words go to err.
begin() {
    : >err
    timeout -s KILL 100 "$ecube" "$@" >begun.out 2>err &
    begun=$!
}

# ended STATUS [SIGNAL] - what was begun has ended with that, after the signal.
ended() {
    [ -z "${2-}" ] || kill -"$2" "$(pgrep -P $begun)" || fail "it was over before"
    status=0 && wait $begun || status=$?
    [ "$status" -eq "$1" ] || { words; fail "status $status, not $1"; }
}

data_hold_nothing_up() {
    for rank in 0 1 2 3 4 5 6 7; do
        truncate -s 48M large$rank
    done
    set -- --strategy sequential --private large%r "$data"
    tool_succeeds up --name filled --network cube:3
    begin load --name filled "$@"
    sleep 0.2
    ps_answers
    ended 143 TERM
    may_time_out=yes tool_fails 124 'the run did not end within 0.2 s' load --name filled --timeout 0.2s "$@"
    begin load --name filled "$@"
    sleep 0.2
    timeout 100 "$ecube" down --name filled || fail "down"
    ended 3
    begin run --network cube:3 "$@"
    wait_until grep -q 'boot: 8 of 8' err || fail "no boot"
    ended 130 INT
    wait_until no_processes || fail "processes outlive the tool"
}

check "each node gets its window of an input, also where windows overlap" windows_overlap
check "without --window each node gets an equal part" equal_parts
check "--pad goes on with zeros behind the file's end" windows_end_in_zeros
check "what lies between windows is nobody's, and that is told" windows_with_gaps
check "every node has all its data, whatever the strategy, in the time that was predicted" all_kinds
check "below sigma 1 the prediction is right, too" below_sigma_1
check "only private data can be written" read_only_data
check "nodes have programs of their own, and crashes are looked up in the right one" programs_by_node
check "a machine that is up loads data and several programs" on_a_machine
check "--explain says what each strategy would take, and auto takes the fastest" explained
check "what a root cannot hold for others is refused with both sizes" too_much_for_a_root
check_native "simulated nodes have the same data" in_simulation
check "what is wrong with data or nodes is told before anything starts" bad_input
check "data that are read hold up neither ps nor Ctrl-C, --timeout or the end" data_hold_nothing_up
cases_done
