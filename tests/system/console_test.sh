# What programs print, on its way to a reader who takes his time.
# class: waits
. tests/system/testing.sh
with_sanitizers

talker=$programs/talker.elf

start_machine() {
    tool_succeeds up --name talk --network "$1" --patience 5s
}

end_machine() {
    tool_succeeds down --name talk
    wait_until no_processes || fail "processes outlive ecube down"
}

# talk PATTERN... - the tool, bounded, with its status in the file `status`.
talk() {
    timeout -k 5 "$limit_seconds" "$ecube" "$@"
    echo $? >status
}

ended_with() {
    wait_until [ -s status ] || fail "it does not end"
    [ "$(cat status)" -eq "$1" ] || { cat err; fail "status $(cat status), not $1"; }
}

# Reads a little, nothing for longer than --patience, then the rest.
read_late() {
    head -c 1000
    sleep 7
    cat
}

# all_lines COUNT - of two ranks, each whole and in order.
all_lines() {
    for rank in 0 1; do
        grep "^\[$rank\] " out >"lines.$rank"
        awk -v bytes="$2" '$2 != NR - 1 || length($0) != bytes + 3 { exit 1 }' "lines.$rank" || fail "lines of rank $rank"
        [ "$(wc -l <"lines.$rank")" -eq "$1" ] || fail "$(wc -l <"lines.$rank") lines of rank $rank"
    done
}

run_read_late() {
    talk run --network cube:1 --patience 5s "$talker" lines 1500 113 2>err | read_late >out
    ended_with 0
    all_lines 1500 113
}

load_read_late() {
    start_machine cube:1
    talk load --name talk "$talker" lines 4000 113 2>err | read_late >out &
    wait_until eval '"$ecube" ps --name talk | grep -q "waits for the reader of its output"' || fail "ps does not say why"
    wait
    ended_with 0
    all_lines 4000 113
    end_machine
}

# A client that reads nothing, and then is gone.
load_without_a_reader() {
    start_machine cube:1
    talk load --name talk "$talker" lines 100000 100 2>err | sleep 3
    ended_with 141
    wait_until "$ecube" load --name talk "$talker" lines 10 100 >out 2>err || { cat err; fail "the machine takes no program any more"; }
    all_lines 10 100
    end_machine
}

# Whoever looks on and does not read holds nobody up.
slow_console() {
    start_machine cube:1
    { "$ecube" console --name talk || true; } 2>console.err | { until [ -e go ]; do sleep 0.1; done; cat >console.out; } &
    wait_until eval '[ "$(process_count ecube-checked)" -ge 2 ]' || fail "no console"
    sleep 0.5
    tool_succeeds load --name talk "$talker" lines 12000 113
    all_lines 12000 113
    : >go
    wait_until grep -q 'lines were left out here' console.err || fail "the console does not say that it has missed lines"
    end_machine
    wait
}

without_end() {
    talk run --network cube:1 --timeout 6 "$talker" lines 100000 100 2>err | sleep 60 &
    reader=$!
    ended_with 124
    kill $reader
    sh -c 'echo $$ >pid; exec "$0" run --network cube:1 "$1" lines 100000 100' "$ecube" "$talker" 2>err.2 | sleep 100 &
    reader=$!
    wait_until grep -q 'run: 0 of 2' err.2 || fail "no run"
    sleep 0.5
    kill -INT "$(cat pid)"
    wait_until eval '! kill -0 "$(cat pid)" 2>/dev/null' || fail "a signal does not end it"
    kill $reader
    wait_until no_processes || fail "processes outlive it"
}

end_behind_its_text() {
    { talk run --network cube:1 --patience 5s "$talker" lines 1500 113 3 2>&1 | read_late >out; }
    ended_with 3
    [ "$(grep -c 'the program exited with status 3' out)" -eq 2 ] || fail "no line on the exits"
    for rank in 0 1; do
        awk -v rank=$rank '$1 == "[" rank "]" && told { exit 1 } /node '$rank' .*exited with/ { told = 1 }' out || fail "text behind the exit of rank $rank"
    done
}

long_lines() {
    tool_succeeds run --network cube:1 "$talker" lines 3 5000
    all_lines 3 5000
    tool_succeeds run --network cube:1 "$talker" lines 2 200000
    all_lines 2 200000
}

# The bytes of all values twice, as the tool shows them of rank 0.
make_bytes() {
    i=0
    while [ $i -lt 512 ]; do
        # shellcheck disable=SC2059 -- the format is the byte
        [ $i -ne 266 ] && [ $i -ne 10 ] && printf "\\$(printf %o $((i % 256)))" || printf '\n[0] '
        i=$((i + 1))
    done
}

bytes_stay() {
    { printf '[0] '; make_bytes; printf '\n'; } >wanted
    tool_succeeds run --network cube:0 "$talker" bytes 2
    cmp out wanted || fail "bytes of run"
    start_machine cube:0
    tool_succeeds load --name talk "$talker" bytes 2
    cmp out wanted || fail "bytes of load"
    end_machine
}

streams_apart() {
    tool_succeeds run --quiet --network cube:0 "$talker" both 50
    [ "$(grep -c '^\[0\] out ' out)" -eq 50 ] || fail "standard output"
    [ "$(wc -l <out)" -eq 50 ] || { cat out; fail "more than the program's own output"; }
    [ "$(grep -c '^\[0\] error ' err)" -eq 50 ] || fail "standard error"
    [ "$(wc -l <err)" -eq 50 ] || { cat err; fail "more on standard error"; }
    start_machine cube:0
    tool_succeeds load --name talk --quiet "$talker" both 50
    [ "$(wc -l <out)" -eq 50 ] || { cat out; fail "output of load"; }
    [ "$(wc -l <err)" -eq 50 ] || { cat err; fail "errors of load"; }
    "$ecube" load --name talk --quiet "$talker" both 50 >out 2>&1 || fail "load into one file"
    awk '$2 != (NR % 2 ? "out" : "error") || $3 != int((NR - 1) / 2) { exit 1 }' out || { cat out; fail "order"; }
    end_machine
    tool_succeeds run --network cube:0 "$examples/complete_exchange.elf" 16
    grep -q '^download ' err || fail "no times on standard error"
    ! grep -q 'model us' out || fail "the table is on standard output"
}

check "a reader of run who pauses longer than --patience gets every line" run_read_late
check "a reader of load who pauses gets every line, and ps says what nodes wait for" load_read_late
check "a load that nobody reads leaves the machine to the next" load_without_a_reader
check "a console that does not read holds nobody up, and says what it has missed" slow_console
check "--timeout and signals end a run that nobody reads" without_end
check "an exit is told behind the text of its node" end_behind_its_text
check "long lines are whole, with one rank in front" long_lines
check "bytes that are no text stay as they are" bytes_stay
check "standard error stays apart and in order, and --quiet leaves the programs' output alone" streams_apart
cases_done
