# fault.sh - sourced by fault_test.sh and native_fault_test.sh: programs that go wrong: one line naming node, rank and reason, a
# status that is not 0, a bounded time. Who sources it says
#
#   surely        in seconds, when a program surely runs
#   overwritten   what a return to "AAAA..." is, up to the function that returned
. tests/system/kinds.sh

misbehave=$programs/misbehave.$kind
place='\(misbehave\.c:[0-9]+\)'
callers="(, called from alone $place)?(, called from main $place)?\$" # those that jump there are no more

faults() {
    run_fails "$1" "node 2 \(rank 2\).*$2" --network ring:3 "$misbehave" "$3" 2 7
}

# Ended when it surely runs.
never_returns() {
    may_time_out=1
    run --network cube:2 --timeout $surely "$misbehave" spin 2
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q "did not end within $surely s: [0-3] of 4 programs have ended" || { words; fail "nobody says so"; }
    words | grep -Eq 'node 2 \(rank 2\) computes in never_return \(misbehave\.c:[0-9]+\)' || { words; fail "nor where it is"; }
}

# any_unit TIME SECONDS - the form that all options with a time take; it may be over wherever the run is then.
any_unit() {
    may_time_out=1
    run --network cube:0 --timeout "$1" "$misbehave" spin 0
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q "^ecube: the run did not end within $2 s: " || { words; fail "other words"; }
}

# cut_words PATTERN... - a line for each is told when time is over, and no other.
cut_words() {
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    [ "$(kinds)" = 'timeout waits ' ] || { cat result.json; fail "other kinds: $(kinds)"; }
    words | grep -v '^ecube: seed ' >lines
    [ "$(wc -l <lines)" -eq $# ] || { cat lines; fail "not $# lines"; }
    line=0
    for pattern in "$@"; do
        line=$((line + 1))
        sed -n "${line}p" lines | grep -Eqx -- "ecube: $pattern" || { cat lines; fail "line $line is not '$pattern'"; }
    done
}

# run_until_waits N PATTERN OPTION... - ended once N lines say PATTERN; on a loaded computer it takes longer until programs wait.
run_until_waits() {
    wanted=$1 pattern=$2
    shift 2
    for limit in "$surely" 30 120; do
        may_time_out=1
        run --timeout "$limit" "$@"
        [ "$(words | grep -c "$pattern")" -lt "$wanted" ] || break
    done
}

# The others have come to where they wait, also in the simulator, which one that computes holds up.
held_up() {
    run_until_waits 3 'waits in barrier' --network cube:2 --json result.json "$misbehave" hold 2
    cut_words "the run did not end within $limit s: 0 of 4 programs have ended \\(--timeout sets it\\)" \
        'node 0 \(rank 0\) waits in barrier for rank 2 to enter' \
        'node 1 \(rank 1\) waits in barrier for rank 2 to enter' \
        "node 2 \\(rank 2\\) computes in never_return $place(, called from [a-z_]+ $place)*" \
        'node 3 \(rank 3\) waits in barrier for rank 2 to enter'
    [ "$("$json_get" result.json troubles 2 wait kind)" = collective ] || { cat result.json; fail "JSON says another wait"; }
    [ "$("$json_get" result.json troubles 3 wait)" = null ] || { cat result.json; fail "JSON says a wait of who computes"; }
}

# Who sleeps goes on, so nobody says by himself that the others wait for ever.
sleeps_beside() {
    run_until_waits 3 'waits to receive' --network cube:3 --json result.json "$misbehave" beside 3
    cut_words "the run did not end within $limit s: 4 of 8 programs have ended \\(--timeout sets it\\)" \
        'node 0 \(rank 0\) waits to receive from rank 1, tag 5' \
        'node 1 \(rank 1\) waits to receive from rank 2, tag 5' \
        'node 2 \(rank 2\) waits to receive from rank 0, tag 5' \
        'node 3 \(rank 3\) sleeps for [01]\.[0-9] s more'
}

# Nothing moves any more: that is found without --timeout, and says who waits for whom.
waits_for_ended() {
    may_time_out=1
    run --network cube:2 "$misbehave" wait 2
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q 'wait for ever: 3 of 4 have ended' || { words; fail "nobody says so"; }
    words | grep -q 'node 2 (rank 2) waits to receive from rank 1, tag 77, whose program has ended' || { words; fail "nobody says for whom"; }
    # The simulator also says how to see it again.
    [ "$(words | grep -vc '^ecube: seed ')" -eq 2 ] || { words; fail "more than two lines"; }
}

# kinds - those of the troubles in result.json, each once, in their order.
kinds() {
    for index in $(seq 0 $(($("$json_get" result.json troubles length) - 1))); do
        "$json_get" result.json troubles "$index" kind || fail "a trouble without a kind"
        "$json_get" result.json troubles "$index" nodes >nodes || fail "a trouble without nodes"
        "$json_get" result.json troubles "$index" text >text || fail "a trouble without words"
    done | uniq | tr '\n' ' '
}

waits_in_circle() {
    may_time_out=1
    run --network cube:3 --json result.json "$misbehave" circle 3
    [ "$(kinds)" = 'no-progress waits circle ' ] || { cat result.json; fail "other kinds: $(kinds)"; }
    last=$(($("$json_get" result.json troubles length) - 1))
    [ "$("$json_get" result.json troubles $last nodes length)" = 3 ] || { cat result.json; fail "another circle"; }
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q 'wait for ever: 5 of 8 have ended' || { words; fail "nobody says so"; }
    words | grep -q 'node 1 (rank 1) waits to receive from rank 2, tag 5$' || { words; fail "nobody says for whom"; }
    words | grep -Eq 'in a circle: rank (0 for 1 for 2 for 0|1 for 2 for 0 for 1|2 for 0 for 1 for 2)$' || { words; fail "no circle"; }
}

# The 65th message has no place: its sender waits, and never comes to the one that is asked for.
floods() {
    may_time_out=1
    run --network cube:2 --json result.json "$misbehave" flood 0
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q 'node 0 (rank 0) waits to receive from rank 1, tag 1000 (64 messages not received)$' || { words; fail "nobody says what has come"; }
    words | grep -q 'node 1 (rank 1) waits to send 1 bytes to rank 0, tag 64, whose 64 places for messages are full$' || { words; fail "nobody says why it waits"; }
    words | grep -q 'in a circle: rank 0 for 1 for 0$' || { words; fail "no circle"; }
    [ "$("$json_get" result.json troubles 2 wait stage)" = full ] || { cat result.json; fail "JSON says another stage"; }
    [ "$("$json_get" result.json troubles 1 wait tag)" = 1000 ] || { cat result.json; fail "JSON says another tag"; }
}

disagrees() {
    run --network cube:2 --json result.json "$misbehave" disagree 2
    kinds | grep -q collectives-disagree || { cat result.json; fail "other kinds"; }
    [ "$status" -ne 0 ] || { cat out err; fail "status 0"; }
    grep -q 'disagree' out || words | grep -Eq 'disagree|mismatch' || { cat out; words; fail "nobody says why"; }
}

absent() {
    run --network cube:2 --timeout 30 "$misbehave" absent 2
    [ "$status" -ne 0 ] || fail "status 0"
    [ "$status" -ne 124 ] || fail "the others wait for a node that has ended"
}

crash_beside_traffic() {
    for crasher in 0 3; do
        run --network cube:2 "$programs/traffic.$kind" 200 $crasher
        [ "$status" -eq 139 ] || { words; fail "status $status"; }
        [ "$(grep -c ' 200 rounds, 0 wrong' out)" -eq 2 ] || { cat out; words; fail "traffic was disturbed"; }
        words | grep -Eq "node $crasher .*null" || fail "no line about the crash"
    done
}

function_and_line() {
    run --network cube:1 "$misbehave" null 1
    words | grep -Eq 'dereference_null.*misbehave\.c:[0-9]+' || { words; fail "neither function nor line"; }
}

fails_assertion() {
    faults 134 "the program aborted in fail_assertion $place$callers" assert
    grep -q '^\[2\] assertion "zero == 7" failed: file ".*misbehave.c", line [0-9]*, function: fail_assertion$' err ||
        { cat out; fail "its text is missing"; }
}

without_optimization() {
    link -O0 -iquote "$source_tree/board/$board" "$source_tree/tests/system/programs/misbehave.c" -o plain.$kind || fail "not compiled"
    misbehave=plain.$kind
    faults 139 "null pointer\\) in strlen, called from length_of_null $place, called from alone $place, called from main $place\$" length
    faults 139 "null pointer\\) in memcpy, called from copy_of_null $place, called from alone $place, called from main $place\$" copy
    faults 134 "the program aborted in give_up $place, called from alone $place, called from main $place\$" abort
}

behind_text() {
    run --network cube:2 "$misbehave" talk 2
    [ "$status" -eq 139 ] || { words; fail "status $status"; }
    [ "$(grep -c '^\[2\] line ' out)" -eq 26 ] || { cat out; fail "not all lines"; }
    words | grep -Eq 'node 2 \(rank 2\): .*null pointer' || { words; fail "no line about the crash"; }
}

in_json() {
    run --network cube:1 --json result.json "$misbehave" null 1
    [ "$("$json_get" result.json troubles 0 kind)" = fault ] || { cat result.json; fail "of no kind"; }
    [ "$("$json_get" result.json troubles 0 nodes)" = '[1]' ] || { cat result.json; fail "of another node"; }
    [ "$("$json_get" result.json troubles 0 status)" = 139 ] || { cat result.json; fail "another status"; }
    told=$("$json_get" result.json troubles 0 text) || fail "no trouble in the JSON file"
    [ "$told" = "$(words | sed 's/^ecube: //')" ] || { words; fail "not what is told: $told"; }
}

by_minus_one() {
    run_succeeds --network cube:1 "$misbehave" smallest 1 1
    sed 's/^\[1\] //' out >divided
    printf '%s\n' '-2147483648 0' '-9223372036854775808 0' | diff - divided || fail "another quotient, or rest"
}

warned_of() {
    cat >nested.c <<'END'
int apply(int (*function)(int));
int nested(int value)
{
    int add(int more) { return value + more; }
    return apply(add);
}
END
    LC_ALL=C link -c nested.c 2>warning || { cat warning; fail "not compiled"; }
    grep -q "nested.c:4:.*warning: trampoline generated for nested function 'add'" warning || { cat warning; fail "no warning"; }
}

no_kernel_fails() {
    run --network cube:2 "$misbehave" receive 2
    cat out err >all
    ! grep -i 'kernel' all || fail "the kernel wrote there"
    grep -q "64 bytes at 0x[0-9a-f]* lies in the program's constants" all || { cat all; fail "nobody says so"; }
    [ "$status" -eq 159 ] || fail "status $status"
}

check "a null pointer is told with node, rank and address" faults 139 'null pointer' null
check "a division by zero is told" faults 136 'division by zero' divide
check "a division of one by zero is told, which a compiler may turn into comparisons" \
    faults 136 'division by zero' reciprocal
check "the smallest integer by -1 stays what it is, and nothing remains" by_minus_one
check "a write to the kernel's memory is told and stopped" faults 139 'kernel memory' kernel
check "a write to a device is told and stopped" faults 139 'data abort' device
check "a jump into nowhere is told" faults 139 'jump|null' jump
check "a stack that overflows is told as that" faults 139 'stack overflow' overflow
check "a write to constants is told and stopped" \
    faults 139 "wrote to constants at 0x$image_digits[0-9a-f]+ in write_memory $place, called from change_memory $place" constant
check "a write to code likewise" \
    faults 139 "wrote to code at 0x$image_digits[0-9a-f]+ in write_memory $place, called from change_memory $place" code
check "a call of what lies on the heap is told with the place of the call" \
    faults 139 "jumped into data at 0x$image_digits[0-9a-f]+, called from call_data $place$callers" heap
check "a call of data likewise" faults 139 "jumped into data at 0x$image_digits[0-9a-f]+, called from call_data $place$callers" data
check "a return to an address that was overwritten is told with the function that returned" \
    faults 139 "$overwritten overwrite_return $place\$" return
check "a nested function's trampoline is data, and is told" faults 139 \
    "executes data at 0x$stack_digits[0-9a-f]+: a nested function's trampoline\?, called from apply $place, called from apply_nested $place$callers" nested
check "ecube-cc warns of it" warned_of
check "what the kernel would write into constants is refused" no_kernel_fails
check "a function that calls itself too often is told once" \
    faults 139 'stack overflow .* in dig \(misbehave\.c:[0-9]+\)$' dig
check "a frame that reaches over the guard is told as a stack overflow" \
    faults 139 'stack overflow .* in large_frame \(misbehave\.c:[0-9]+\)(, called from (alone|main) \(misbehave\.c:[0-9]+\))*$' frame
check "a call of a null pointer is told with the place of the call" \
    faults 139 "jump to address 0x00000000 \\(null pointer\\), called from call_null $place$callers" call
check "a fault in the C library is told with the places that called it" \
    faults 139 "null pointer\\) in strlen, called from length_of_null $place$callers" length
check "a fault in memcpy, which is ARM code, likewise" \
    faults 139 "null pointer\\) in memcpy, called from copy_of_null $place$callers" copy
check "a fault deep in printf likewise, of the library what was called" \
    faults 139 "address 0x00000008 \\(null pointer\\) in strlen, called from printf, called from print_nothing $place$callers" print
check "a breakpoint instruction is told as that, with its place" \
    faults 133 "breakpoint instruction in (alone $place, called from )?main $place\$" breakpoint
check "an exit with a status is told" faults 7 '7' exit
check "an abort is told with its place and the status that it has in a shell" \
    faults 134 "the program aborted in give_up $place$callers" abort
check "a failed assertion likewise, behind its text" fails_assertion
check "what a program has compiled into its callers is named as if it had been called" \
    faults 139 "null pointer\\) in read_inlined $place, called from call_inlined $place$callers" inlined
check "a program built without optimization tells the same" without_optimization
check "a program that never returns is ended by --timeout, and told with its place" never_returns
check "who waits for one that computes for ever is told, too" held_up
check "so is who waits in a circle, beside one that sleeps" sleeps_beside
check "--timeout takes a unit" any_unit 1500ms 1.5
check "without one it is seconds" any_unit 1 1
check "a program that waits for one that has ended is told" waits_for_ended
check "programs that wait for each other are told as a circle" waits_in_circle
check "a send that waits because its receiver keeps 64 messages already says so" floods
check "nodes that disagree on a collective are told" disagrees
check "a node that ends without its collective does not hang the others" absent
check "a crash does not disturb circuits that pass through its node" crash_beside_traffic
check "a fault names function and source line" function_and_line
check "a fault right behind much text is told, and the text too" behind_text
check "what went wrong is in the JSON file, too" in_json
