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

start_loader() {
    : >load.err
    timeout -s KILL 100 "$ecube" load --name doomed --input in --output "$1" "$mirrors" ${2-} >load.out 2>load.err &
    loader=$!
}

wait_word() {
    wait_until grep -q "$1" load.err || { cat load.err; fail "it never says $1"; }
}

node_5_has_exited() { "$ecube" ps --name doomed | grep -Eq '^ *5 .*exited'; }

# held OUTPUT PHASE+MS - a load that has come to a phase, so long ago: it cannot get further, for node 5 stands still (in
# $stopped), or the program of rank 0 sleeps.
held() {
    phase=${2%+*} stopped=$(node_process 5)
    case $phase in
    start | download)
        kill -STOP "$stopped"
        start_loader "$1"
        [ "$phase" = start ] || wait_word 'download: 0'
        ;;
    run)
        start_loader "$1" 60
        wait_word 'run: 0'
        ;;
    gather)
        start_loader "$1" 3
        wait_word 'run: 0'
        wait_until node_5_has_exited || fail "node 5 does not end"
        kill -STOP "$stopped"
        wait_word 'gather: 0'
        ;;
    esac
    sleep "$(awk "BEGIN { print ${2#*+} / 1000 }")"
}

# The process of `ecube load` itself; and that which holds a machine, while there is no loader.
loader_process() { pgrep -P $loader; }
server_process() { processes ecube | grep -v -e cleanup -e jtag | cut -d ' ' -f 1; }

# loader_killed MOMENT... - as of `held`.
loader_killed() {
    make_data 8 1
    tool_succeeds up --name doomed --network cube:3
    for moment in "$@"; do
        held other "$moment"
        kill -9 "$(loader_process)" || { cat load.err; fail "it was over before $moment"; }
        wait $loader
        kill -CONT "$stopped"
        rm -f named
        tool load --name doomed --input in --output named "$mirrors"
        [ "$status" -eq 0 ] || { words; fail "status $status after $moment"; }
        cmp in named || fail "other bytes after $moment"
        [ ! -e other ] || fail "an output that had not come is there after $moment"
    done
    tool_succeeds down --name doomed
}

# Who has asked it for something is told, if it had come so far, and nothing of an output stays.
server_killed() {
    make_data 8 1
    for moment in "$@"; do
        rm -f named
        tool_succeeds up --name doomed --network cube:3
        server=$(server_process)
        held named "$moment"
        kill -9 "$server" || fail "no process"
        wait $loader
        case $?$moment in
        3*) ;;
        2start*) grep -q "^ecube: no machine named 'doomed' is up" load.err || { cat load.err; fail "status 2 after $moment"; } ;;
        *) cat load.err; fail "another status after $moment" ;;
        esac
        [ ! -e named ] || fail "an output that had not come is there after $moment"
        wait_until no_processes || fail "left running: $(left_running)"
    done
}

# cannot_write WHY FILE COMMAND... - one line and status 2; FILE is as it was before, and no draft is left.
cannot_write() {
    why=$1 file=$2
    shift 2
    tool "$@"
    [ "$status" -eq 2 ] || { words; fail "status $status from $1"; }
    [ "$(words | grep -vc '^ecube: seed ')" -eq 1 ] || { words; fail "not one line from $1"; }
    words | grep -q "cannot write .*$file: $why\$" || { words; fail "no word of it from $1"; }
    nothing_beside
}

# A link's memory needs files of 1 MiB, an output here has 4.
no_room() {
    make_data 4 1
    echo before >named
    tool_succeeds up --name small --network cube:2
    (
        ulimit -f 4096 # blocks of 512 bytes
        cannot_write 'File too large' named run -q --network cube:2 --input in --output named "$mirrors"
        [ "$(uname -m)" != x86_64 ] || cannot_write 'File too large' named sim -q --network cube:2 --input in --output named "${mirrors%.elf}.so"
        tool_succeeds up --name limited --network cube:2
    ) || exit 1
    for full in limited small; do
        file=named
        [ $full = limited ] || file=/dev/full why='No space left on device'
        cannot_write "${why-File too large}" $file load -q --name $full --input in --output $file "$mirrors"
    done
    echo before | cmp - named || fail "the file from before is gone"
    tool_succeeds load -q --name small --input in --output named "$mirrors"
    cmp in named || fail "other bytes"
    for name in limited small; do
        tool_succeeds down --name $name
    done
}

# It was good when the run began.
place_goes() {
    make_data 4 4
    mkdir place
    tool_succeeds up --name doomed --network cube:2
    start_loader place/named
    wait_word 'download: 0' 0
    "$@"
    wait $loader
    code=$?
    cp load.err err
    [ $code -eq 2 ] || { words; fail "status $code"; }
    words | grep -Eq 'cannot write .*place/named: (Is a directory|No such file or directory)$' || { words; fail "no word of it"; }
    [ ! -f place/named ] && [ -z "$(find . -name 'named.*')" ] || fail "a file is left"
    tool_succeeds load -q --name doomed --input in --output named "$mirrors"
    cmp in named || fail "other bytes"
    tool_succeeds down --name doomed
}

# It loses its last byte again and again, and gets it back.
input_changes() {
    make_data 4 1
    cp in restless
    while :; do truncate -s 3999999 restless; truncate -s 4000000 restless; done &
    changer=$!
    refused=0
    tool_succeeds up --name doomed --network cube:2
    for turn in 1 2 3 4 5 6 7 8; do
        rm -f named
        tool load -q --name doomed --input restless --window 999999 --output named "$mirrors"
        if [ "$status" -eq 2 ]; then
            [ "$(words | wc -l)" -eq 1 ] || { words; fail "more than one line"; }
            words | grep -Eq 'has changed while it was read: try again$' || { words; fail "another line"; }
            [ ! -e named ] || fail "something was written"
            refused=$((refused + 1))
        else
            [ "$status" -eq 0 ] || { words; fail "status $status in turn $turn"; }
        fi
    done
    kill $changer
    wait $changer 2>/dev/null
    [ $refused -ge 1 ] || fail "it was never refused"
    tool_succeeds load -q --name doomed --input in --output named "$mirrors"
    cmp in named || fail "other bytes"
    tool_succeeds down --name doomed
}

check "a load that is killed leaves a machine for the next one" loader_killed start+0 download+0 gather+0
check "a disk that is full, or a limit of files, is told in a line" no_room
check "... a place that becomes a directory" place_goes mkdir place/named
check_long "... one that goes" place_goes rmdir place # as above, by another error
# Moments of wall time: the simulator tries every frame (sim/data), output_test.sh one.
check_long "a node or a link that dies amid a download or a gather of 16 nodes is named" die_amid \
    download download+30ms download+60ms download+90ms download+150ms download+250ms gather gather+15ms gather+30ms gather+60ms gather+100ms
check_long "a load may be killed at any moment" loader_killed start+5 start+10 start+20 start+40 start+80 download+5 download+20 \
    download+50 download+100 run+0 run+3 run+100 gather+5 gather+20 gather+50 gather+100
check_long "the process of a machine that is killed takes all along" server_killed start+0 start+20 download+0 download+20 \
    download+100 run+0 gather+0 gather+10 gather+50
check_long "an input that changes while it is read is refused" input_changes # host/data has each kind
cases_done
