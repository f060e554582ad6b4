#!/bin/sh
# region_test.sh BUILD - memory of programs that run is filled and fetched while they wait; whatever goes wrong, they wait on.
# class: waits
. tests/system/testing.sh
with_sanitizers

regions=$programs/regions.elf

# text BYTES [SEED] - that many small letters, always the same.
text() {
    awk -v n="$1" -v s="${2:-7}" 'BEGIN { for (i = 0; i < n; i++) { s = (s * 16807) % 2147483647; printf "%c", 97 + s % 26 } }'
}

# capitals FILE
capitals() { tr a-z A-Z <"$1"; }

# machine NETWORK - one that is up, and ends with the case.
machine() {
    tool_succeeds up --name meets --network "$1"
}

# loaded WORD... - programs run, beside the case.
loaded() {
    : >load.err
    timeout -s KILL 100 "$ecube" load --name meets "$regions" "$@" >load.out 2>load.err &
    loader=$!
    wait_until grep -q 'run: 0 of' load.err || { cat load.err; fail "the programs do not run"; }
}

# over STATUS - so the load ends.
over() {
    wait $loader
    status=$?
    [ "$status" -eq "$1" ] || { cat load.out load.err; fail "the load has ended with $status, not $1"; }
}

# goodbye STATUS - one byte ends the programs.
goodbye() {
    printf x >end
    tool_succeeds scatter data --name meets --common end
    over 0
}

# time_is_predicted - to the nanosecond.
time_is_predicted() {
    model=$("$json_get" result.json model_us) predicted=$("$json_get" result.json predicted_us)
    [ -n "$model" ] && [ "$model" != 0 ] && [ "$model" = "$predicted" ] || fail "model $model us, predicted $predicted us"
}

scatter() { tool_succeeds scatter data --name meets --json result.json "$@" && time_is_predicted; }
gather() { tool_succeeds gather data --name meets --json result.json --output made && time_is_predicted; }

rounds() {
    machine "$1"
    loaded 5000
    for round in 1 2 3; do
        text 8000 $round >in
        scatter --input in
        gather
        for rank in 0 1 2 3 4 5 6 7; do
            tail -c +$((rank * 5000 + 1)) made | head -c 1000
        done >parts
        capitals in | cmp - parts || fail "other bytes in round $round"
        [ "$(wc -c <made)" -eq 40000 ] || fail "not all of the regions"
    done
    goodbye
    [ "$(grep -c 'scattered 3, gathered 3' load.out)" -eq 8 ] || { cat load.out; fail "rounds"; }
    tool_succeeds down --name meets
}

windows_common_and_private() {
    machine ring:3
    loaded 100
    text 260 >in
    scatter --input in --window 100 --stride 80
    gather
    for rank in 0 1 2; do
        capitals in | tail -c +$((rank * 80 + 1)) | head -c 100
    done | cmp - made || fail "windows"
    text 100 9 >table
    scatter --common table
    gather
    { capitals table; capitals table; capitals table; } | cmp - made || fail "common data"
    text 100 1 >p0; text 40 2 >p1; text 2 3 >p2
    scatter --private p%r
    gather
    { capitals p0; capitals p1; capitals table | tail -c +41; capitals p2; capitals table | tail -c +3; } | cmp - made ||
        fail "private data"
    goodbye
    tool_succeeds down --name meets
}

# What cannot be is one line, and the programs wait on.
refusals() {
    text 300 >in
    text 301 >large
    tool_fails 2 "no machine named 'meets' is up" scatter data --name meets --common in
    machine cube:1
    tool_fails 2 "no program runs on this machine: start one with 'ecube load'" scatter data --name meets --common in
    tool_fails 2 "name the region, as in" scatter --name meets --common in
    tool_fails 2 "'a/b' is no region's name" scatter a/b --name meets --common in
    tool_fails 2 "'a234567890123456789012345' is no region's name: it has 1 to 23 characters" \
        scatter a234567890123456789012345 --name meets --common in
    tool_fails 2 "scatter data: name what nodes get, by one of" scatter data --name meets
    tool_fails 2 "scatter data: name what nodes get, by one of" scatter data --name meets --common in --input in
    tool_fails 2 "gather data: name the file to write" gather data --name meets
    tool_fails 2 "cannot write --output none/made" gather data --name meets --output none/made
    loaded 300
    tool_fails 2 'scatter of region dta: node [01] \(rank [01]\) has no region of this name: it has data, spare' \
        scatter dta --name meets --common in
    tool_fails 2 '301 bytes have no room in region data of node 0 \(rank 0\), which has 300' \
        scatter data --name meets --common large
    tool_fails 2 'cannot read .*/nothing: No such file' scatter data --name meets --common nothing
    tool_fails 2 '301 bytes are no equal parts for 2 nodes' scatter data --name meets --input large
    tool_fails 2 'cannot write /dev/full: No space left' gather data --name meets --output /dev/full
    scatter --common in
    gather
    { capitals in; capitals in; } | cmp - made || fail "other bytes"
    goodbye
    tool_succeeds down --name meets
}

# late - rank 1 comes after two seconds, and who asks before waits for it.
who_does_not_come_is_named() {
    text 100 >in
    machine cube:2
    loaded 100 late 2
    may_time_out=1
    tool_fails 124 '^ecube: scatter does not come about within --timeout: rank 1 does not wait at region data: rank 1 sleeps for' \
        scatter data --name meets --common in --timeout 500ms
    wait_until shown || { cat out; fail "ps does not say where programs wait"; }
    "$ecube" scatter data --name meets --common in --quiet >first 2>&1 &
    first=$!
    sleep 0.2
    tool_fails 2 'the machine is busy: another scatter or gather goes on' scatter data --name meets --common in
    wait $first || { cat first; fail "it has not waited"; }
    [ ! -s first ] || { cat first; fail "--quiet is not"; }
    gather
    { capitals in; capitals in; capitals in; capitals in; } | cmp - made || fail "other bytes"
    goodbye
    tool_succeeds down --name meets
}

shown() {
    "$ecube" ps --name meets --json ps.json >out
    grep -q "waits at region data (100 bytes) for 'ecube scatter' or 'gather'" out &&
        [ "$("$json_get" ps.json nodes 2 wait kind)" = region ] && [ "$("$json_get" ps.json nodes 2 wait region)" = data ] &&
        [ "$("$json_get" ps.json nodes 2 wait bytes)" = 100 ]
}

# The load says that it is a person's turn. Programs of which one never comes there wait for ever.
a_load_says_what_it_waits_for() {
    machine cube:1
    loaded 100
    wait_until grep -q "2 programs wait at region data, for 'ecube scatter data' or 'ecube gather data'" load.err ||
        { cat load.err; fail "nothing is said"; }
    goodbye
    may_time_out=1
    tool load --name meets "$regions" 100 circle 0
    [ "$status" -eq 124 ] || fail "status $status"
    grep -q "node 0 (rank 0) waits at region data" err || { cat err; fail "region"; }
    grep -q "node 1 (rank 1) waits to receive from rank 0, tag 5" err || { cat err; fail "message"; }
    tool_succeeds down --name meets
}

# an_end HOW STATUS WORDS - amid it a program ends: it is named, and the machine takes the next program.
an_end() {
    loaded 100 "$1"
    tool_fails 3 "$3" scatter data --name meets --common in
    over "$2"
    loaded 100
    scatter --common in
    goodbye
}

# programs_end HOW STATUS
programs_end() {
    text 100 >in
    machine cube:2
    an_end "$1" "$2" 'scatter of region data: the program of node 1 \(rank 1\) has ended'
    tool_succeeds down --name meets
}

who_had_ended() {
    text 100 >in
    machine cube:2
    loaded 100 ends 0
    wait_until ended || fail "it does not end"
    tool_fails 2 'the program of node 1 \(rank 1\) has ended|no program runs' scatter data --name meets --common in
    over 124
    grep -q 'the programs that still run wait for ever: 1 of 4 have ended' load.err || { cat load.err; fail "words"; }
    tool_succeeds down --name meets
}

ended() { "$ecube" ps --name meets | grep -Eq '^ *1 .*exited'; }

# held VERB WORD... - a scatter or gather that cannot go on, for node 2 stands still (in $stopped).
held() {
    stopped=$(node_process 2)
    kill -STOP "$stopped"
    : >verb.err
    timeout -s KILL 60 "$ecube" "$@" --name meets >verb.out 2>verb.err &
    verb=$!
    sleep 0.3
    kill -0 $verb || { cat verb.err; fail "it was over before"; }
}

# Whoever is interrupted amid it leaves programs that wait, all of them, and no file.
interrupted() {
    machine cube:2
    loaded 1000000
    text 1000000 1 >in
    text 500 2 >other
    for signal in TERM KILL; do
        held scatter data --common in
        kill -$signal "$(pgrep -P $verb)"
        wait $verb
        kill -CONT "$stopped"
        scatter --common other
        held gather data --output named
        kill -$signal "$(pgrep -P $verb)"
        wait $verb
        kill -CONT "$stopped"
        [ ! -e named ] || fail "a partial output"
        gather
        for rank in 0 1 2 3; do
            tail -c +$((rank * 1000000 + 1)) made | head -c 500 | cmp - "$(capitals other >upper; echo upper)" || fail "other bytes"
        done
    done
    goodbye
    nothing_beside
    tool_succeeds down --name meets
}

# node_killed VERB WORD...
node_killed() {
    text 1000000 >in
    machine cube:2
    loaded 1000000
    held "$@"
    tool_succeeds kill 2 --name meets
    wait $verb
    status=$?
    [ "$status" -eq 3 ] || { cat verb.err; fail "status $status"; }
    grep -q 'the machine is broken, dead: node 2' verb.err || { cat verb.err; fail "it is not named"; }
    [ ! -e named ] || fail "a partial output"
    over 3
    grep -q 'node 2 (rank 2) died during run' load.err || { cat load.err; fail "the load does not name it"; }
    tool_succeeds down --name meets
    nothing_beside
}

# samples FILE - as numbers; smoothed FILE - what the example makes of it.
samples() { od -An -v -td2 -w2 "$1" | awk '{ print $1 }'; }
smoothed() {
    samples "$1" | awk '{ x[n++] = $1 } END { for (i = 0; i < n; i++) { s = 0; for (k = 0; k < 8; k++) s += x[i + k]; print int(s / 8) } }'
}

an_example() {
    text 3000 1 >one.raw
    { text 7776 2; printf '\377\377\001\200'; } >two.raw
    BUILD=$build timeout 60 "$source_tree/examples/smooth.sh" ring:3 one.raw two.raw >out 2>err || { cat out err; fail "status $?"; }
    for file in one.raw two.raw; do
        smoothed $file >wanted
        samples $file.smooth | cmp wanted - || fail "not what it should be: $file"
    done
    grep -q '2 blocks' out || { cat out; fail "not two blocks"; }
}

# There is no second terminal for these.
unattended() {
    tool_fails 159 "^ecube: ranks 0, 1: ecube_region_wait: no 'ecube scatter' or 'ecube gather' reaches this run, in main \(regions.c:[0-9]+\)" \
        run --network cube:1 "$regions"
}

unattended_simulation() {
    tool sim --network cube:1 "$programs/regions.so"
    [ "$status" -eq 159 ] || fail "status $status"
    grep -q "^ecube: ranks 0, 1: ecube_region_wait: no 'ecube scatter' or 'ecube gather' reaches this run" err || { cat err; fail "words"; }
}

check "blocks are filled and fetched while programs wait, round after round, in the time that is predicted" rounds cube:3
check_long "so they are on a mesh" rounds mesh:2x4
check_long "and on a ring" rounds ring:8
check "each node gets its window, what all have, or its own file" windows_common_and_private
check "what cannot be is one line, and the programs wait on" refusals
check "who does not come is named, who comes late is waited for, and ps shows where programs wait" who_does_not_come_is_named
check "a load says that its programs wait for a person" a_load_says_what_it_waits_for
check "a program that crashes amid it is named" programs_end crashes 139
check_long "so is one that ends" programs_end ends 124
check_long "or ends all" programs_end aborts 7
check_long "who had ended before is named, too" who_had_ended
check "whoever is interrupted amid it leaves a machine that works, and no partial file" interrupted
check "a node that dies amid a gather is named" node_killed gather data --output named
check_long "so is one amid a scatter" node_killed scatter data --common in
check "the example smooths one recording after the other" an_example
check "in a run nobody can scatter, and the program ends with that" unattended
check_native "nor in a simulation" unattended_simulation
cases_done
