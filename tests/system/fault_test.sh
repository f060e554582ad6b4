#!/bin/sh
# fault_test.sh BUILD - programs that go wrong on nodes: fault.sh's cases, and what the others and the next program have of it.
# class: waits
. tests/system/testing.sh
kind=elf
surely=6
overwritten='jumped into data at 0x41414140, called from'
. tests/system/fault.sh
# What the next program finds as it should be.
collectives='barrier: broadcast: gather: exchange: allreduce:'

circle_at_timeout() {
    may_time_out=1
    # Time shall be over when all wait, and before the tool says by itself that they wait for ever.
    for limit in 1200ms 1600ms 2s 2500ms 3s 4s 5s 7s 10s; do
        tool run --network cube:3 --timeout $limit --json result.json "$misbehave" circle 3
        [ "$(kinds)" != 'timeout waits circle ' ] || break
    done
    [ "$(kinds)" = 'timeout waits circle ' ] || { cat result.json; fail "other kinds: $(kinds)"; }
    [ "$("$json_get" result.json troubles 0 ended)" = 5 ] || { cat result.json; fail "another number has ended"; }
    [ "$status" -eq 124 ] || fail "status $status"
    words | grep -q 'did not end within ' || { words; fail "nobody says so"; }
    words | grep -q 'in a circle: rank' || { words; fail "no circle"; }
    for try in 1 2 3; do
        tool run --network cube:3 --timeout 1 "$misbehave" ring 8
        [ "$status" -eq 124 ] || fail "status $status of a message that goes round"
        ! words | grep 'in a circle' || fail "a circle in which messages are under way"
    done
}

# What may depend on the moment is tried so often.
[ "$tier" = short ] && tries='1 2' || tries='1 2 3 4 5 6'

# leavers STATUS TEXT HOW - two programs end in a collective of the others, who all hear TEXT, time and again.
leavers() {
    tool_succeeds up --name leaving --network cube:3
    for try in $tries; do
        tool load --name leaving --timeout 30 "$programs/leaver.elf" "$3"
        [ "$status" -eq "$1" ] || { cat out; words; fail "status $status"; }
        [ "$(grep -c "heard .*$2" out)" -eq 6 ] || { cat out; fail "not all have heard the same"; }
    done
    tool_succeeds load --name leaving "$programs/collectives.elf" 100 cube:3 2 $collectives
    tool_succeeds down --name leaving
}

stopped_in_exchanges() {
    may_time_out=1
    tool_succeeds up --name stopping --network cube:3
    for try in $tries; do
        tool load --name stopping --timeout 1 "$programs/leaver.elf" never
        [ "$status" -eq 124 ] || { words; fail "status $status"; }
        tool load --name stopping --timeout 60 "$programs/arguments.elf" next
        [ "$status" -eq 0 ] || { words; fail "status $status of the next program"; }
        [ "$(grep -c 'next' out)" -eq 8 ] || { cat out; fail "not all run the next program"; }
    done
    tool_succeeds down --name stopping
}

# misbehave linked as before code was protected: one segment for all, written and executed.
unprotected() {
    mkdir -p "old/$board/lib"
    ln -s "$source_tree/include" include
    cp "$build/ecube-cc" old
    cp "$nodes/lib/crt0.o" "$nodes/lib/libecube.a" "$nodes/lib/compiler" "old/$board/lib"
    sed -e '/ code PT_LOAD/d' -e '/ constants PT_LOAD/d' -e 's/ data PT_LOAD FLAGS(6)/ data PT_LOAD FLAGS(7)/' \
        -e 's/:code$/:data/' -e 's/:constants$/:data/' "$nodes/lib/program.ld" >"old/$board/lib/program.ld"
    old/ecube-cc -iquote "$source_tree/board/$board" -Wl,--no-warn-rwx-segments "$source_tree/tests/system/programs/misbehave.c" -o old.elf 2>/dev/null ||
        fail "not linked"
    arm-none-eabi-readelf -lW old.elf | grep -q 'LOAD.* RWE ' || fail "not one segment for all"
    for what in constant code nested; do
        tool run --network cube:2 old.elf $what 2 0
        [ "$status" -eq 0 ] || { words; fail "$what: status $status"; }
    done
}

# The program that is loaded next lies where the last one was protected.
loaded_over() {
    tool_succeeds up --name again --network cube:2
    for try in 1 2; do
        tool load --name again "$misbehave" constant 2
        [ "$status" -eq 139 ] || { words; fail "status $status"; }
        tool_succeeds load --name again "$programs/collectives.elf" 100 cube:2 2 $collectives
        tool_succeeds load --name again "$examples/hello.elf"
    done
    unprotected
    tool_succeeds load --name again old.elf nested 2 0
    tool load --name again "$misbehave" heap 2
    [ "$status" -eq 139 ] || { words; fail "status $status behind a program that protects nothing"; }
    tool_succeeds down --name again
}

check "a program of one segment for all may do what it could" unprotected
check "a program is loaded over one that was protected" loaded_over
check "programs that wait for each other when time is up are told as a circle, none that only pass messages on" circle_at_timeout
check "what a program had begun when it ended the others complete" leavers 0 "no error" begun
check "so they do when it crashed" leavers 139 "no error" crash
check "of what it had not begun they all hear that it has ended" leavers 0 "the peer's program has ended" absent
check "after programs that were stopped in exchanges the next one runs" stopped_in_exchanges
cases_done
