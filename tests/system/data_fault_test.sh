#!/bin/sh
# data_fault_test.sh BUILD - what becomes of data on its way to the nodes and back when a node, a link or the tool dies, or when
# files change or cannot be written.
# class: waits
. tests/system/testing.sh
with_sanitizers

mirrors=$programs/mirrors.elf

# make_data NODES MEGABYTES - so much of input for each node, of which it leaves a copy: what comes back is `in`.
make_data() {
    awk 'BEGIN { for (s = 7; n < 1000000; n++) { s = (s * 16807) % 2147483647; printf "%c", 33 + s % 94 } }' >million
    for part in $(seq $(($1 * $2))); do
        printf 'part %010d\n' "$part"
        tail -c +17 million
    done >in
}

# amid FAULT WORDS - in a run of 16 nodes: it is named, and there is no output; or it came too late, and all is right.
amid() {
    rm -f named
    tool run --network cube:4 "$1" "$2" --input in --output named "$mirrors"
    [ "$status" -ne 0 ] || { cmp in named || fail "other bytes: $1 $2"; return; }
    [ "$status" -eq 3 ] || { words; fail "status $status: $1 $2"; }
    words | grep -q "$3 died during [dg]" || { words; fail "it is not named: $1 $2"; }
    [ ! -e named ] || fail "something was written: $1 $2"
    died=$((died + 1))
}

node_dies() { amid --kill "$1" "node ${1%@*} (rank ${1%@*})"; }
link_cut() { amid --cut "$1" "link ${1%@*} (dimension 3)"; }

die_amid() {
    make_data 16 1
    died=0
    for moment in "$@"; do
        node_dies "5@$moment"
        link_cut "6-14@$moment"
    done
    [ $died -ge $# ] || fail "only $died of $((2 * $#)) have died"
}

die_once() {
    make_data 16 1
    node_dies 5@download+60ms
    link_cut 6-14@gather
}

# wait_word WORD MS - until the loader has said it, and so long more.
wait_word() {
    [ -z "$1" ] || wait_until 60 grep -q "$1" load.err || { cat load.err; fail "it never says $1"; }
    sleep "$(awk "BEGIN { print $2 / 1000 }")"
}

start_loader() {
    timeout -s KILL 100 "$ecube" load --name doomed --input in --output "$1" "$mirrors" >load.out 2>load.err &
    loader=$!
}

# The process of `ecube load` itself, and that which holds the machine.
loader_process() { pgrep -P $loader; }
server_processes() { processes ecube | grep -v -e cleanup -e "^$(loader_process) " | cut -d ' ' -f 1; }

# loader_killed MOMENT... - the word that it has said, then "+" and ms.
loader_killed() {
    make_data 8 1
    killed=0
    tool_succeeds up --name doomed --network cube:3
    for moment in "$@"; do
        start_loader other
        wait_word "${moment%+*}" "${moment#*+}"
        kill -9 "$(loader_process)" 2>/dev/null && killed=$((killed + 1))
        wait $loader
        rm -f named
        tool load --name doomed --input in --output named "$mirrors"
        [ "$status" -eq 0 ] || { words; fail "status $status after $moment"; }
        cmp in named || fail "other bytes after $moment"
        [ ! -e other ] || cmp in other || fail "a part of an output looks whole after $moment"
        rm -f other
    done
    tool_succeeds down --name doomed
    [ $((3 * killed)) -ge $((2 * $#)) ] || fail "only $killed of $# were killed"
}

# Who has asked it for something is told, and nothing of an output stays, unless all of it had come.
server_killed() {
    make_data 8 1
    told=0
    for moment in "$@"; do
        rm -f named
        tool_succeeds up --name doomed --network cube:3
        start_loader named
        wait_word "${moment%+*}" "${moment#*+}"
        # shellcheck disable=SC2046 -- one
        kill -9 $(server_processes) || fail "no process"
        wait $loader
        code=$?
        case $code in
        0) cmp in named || fail "other bytes after $moment" ;;
        3) told=$((told + 1)) ;;
        *) cat load.err; fail "status $code after $moment" ;;
        esac
        [ $code -eq 0 ] || [ ! -e named ] || cmp in named || fail "a part of an output looks whole after $moment"
        wait_until 20 no_processes || fail "left running: $(left_running)"
    done
    [ $((3 * told)) -ge $((2 * $#)) ] || fail "only $told of $# were killed in time"
}

check "a node or a link that dies amid a download or a gather of 16 nodes is named" die_once
check_long "... at any moment" die_amid download download+30ms download+90ms download+150ms download+250ms \
    gather gather+15ms gather+60ms gather+100ms gather+150ms # 20 runs
check "a load that is killed leaves a machine for the next one" loader_killed +0 'download: 0+0' 'gather: 0+0'
check_long "... at any moment" loader_killed +5 +10 +20 +40 +80 'download: 0+5' 'download: 0+20' 'download: 0+50' 'download: 0+100' \
    'run: 0+0' 'run: 0+3' 'gather: 0+5' 'gather: 0+20' 'gather: 0+50' 'gather: 0+100' 'gather: 8+0' # 16 loads
check "the process of a machine that is killed takes all along" server_killed 'download: 0+20' 'gather: 0+10'
check_long "... at any moment" server_killed +0 +20 'download: 0+0' 'download: 0+100' 'run: 0+0' 'gather: 0+0' 'gather: 0+50' # 7 machines
cases_done
