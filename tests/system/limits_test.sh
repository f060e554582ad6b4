# Time limits mean what they say: --timeout from the first moment to the last, --patience for what is silent.
# class: busy
. tests/system/testing.sh

arguments=$programs/arguments.elf

# wrapper LINE... - a script, ./wrapper, in QEMU's place.
wrapper() {
    printf '#!/bin/sh\n%s\n' "$*" >wrapper
    chmod +x wrapper
}

# idle_qemu - one that does nothing as a node.
idle_qemu() {
    wrapper 'case "$*" in *-kernel*) sleep 600 ;; *) exec qemu-system-arm "$@" ;; esac'
}

# tool_says STATUS PATTERN ARGUMENT... - that status, and such a line among others.
tool_says() {
    wanted=$1 pattern=$2
    shift 2
    may_time_out=yes tool "$@"
    [ "$status" -eq "$wanted" ] || { words; fail "status $status, not $wanted"; }
    words | grep -Eq -- "$pattern" || { words; fail "no line like '$pattern'"; }
    no_processes || fail "left running: $(processes qemu-system) $(processes ecube)"
}

idle_times_out() {
    idle_qemu
    tool_says 124 '^ecube: the run did not end within 0.5 s: boot, 0 of 2 nodes have all links' \
        run --network cube:1 --timeout 500ms --qemu ./wrapper "$arguments"
}

idle_fails() {
    idle_qemu
    tool_says 3 'nothing new for 1 s \(--patience\)' "$@" --network cube:1 --patience 1s --qemu ./wrapper ${program-}
    words | grep -q 'node 1 .rank 1. tells nothing' || { words; fail "nobody is named"; }
}

# Stopped before it has said anything, as by kill -STOP.
stopped_in_boot() {
    wrapper 'case "$*" in */n3.gdb*) kill -STOP $$ ;; esac; exec qemu-system-arm "$@"'
    tool_says 3 'nothing new for 1 s \(--patience\)' run --network cube:2 --patience 1s --qemu ./wrapper "$arguments"
    words | grep -q 'node 3 .rank 3. tells nothing' || { words; fail "node 3 is not named"; }
}

# stop NODE - of the machine that is up.
stop() {
    stopped=$(node_process "$1")
    kill -STOP "$stopped" || fail "no node $1"
}

# The load that comes then waits until the machine has what was under way.
download_times_out() {
    tool_succeeds up --name slow --network cube:2 --patience 1h
    stop 3
    may_time_out=yes tool load --name slow --timeout 500ms "$arguments"
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    words | grep -qx 'ecube: the run did not end within 0.5 s: download, [0-3] of 4 receipts (--timeout sets it)' ||
        { words; fail "no line about it"; }
    may_time_out=yes tool load --name slow --timeout 500ms "$arguments"
    [ "$status" -eq 124 ] || { words; fail "status $status of the second"; }
    words | grep -q 'did not begin within --timeout' || { words; fail "no line about the second"; }
    timeout 60 "$ecube" load --name slow "$arguments" after >load.out 2>load.err &
    loader=$!
    kill -CONT "$stopped"
    wait $loader || { cat load.err; fail "status of the third"; }
    grep -qF '[3] node 3 of 4: [after]' load.out || { cat load.out; fail "node 3 says nothing"; }
    tool_succeeds down --name slow
}

# The machine finds the request of one that is gone already before that of one that waits.
gone_before_it_is_heard() {
    tool_succeeds up --name deaf --network cube:1
    server=$(processes ecube | grep -v cleanup | cut -d ' ' -f 1)
    kill -STOP "$server"
    for i in 1 2 3; do
        "$ecube" load --name deaf "$programs/misbehave.elf" spin 0 >/dev/null 2>&1 &
        loader=$!
        sleep 0.3
        kill -KILL $loader
        wait $loader
    done 2>/dev/null
    timeout 60 "$ecube" load --name deaf "$arguments" heard >load.out 2>load.err &
    loader=$!
    sleep 0.3
    kill -CONT "$server"
    wait $loader || { cat load.err; fail "status of the load"; }
    grep -qF '[1] node 1 of 2: [heard]' load.out || { cat load.out; fail "node 1 says nothing"; }
    tool_succeeds down --name deaf
}

ended_early_again_and_again() {
    tool_succeeds up --name storm --network cube:3
    for i in 1 2 3 4 5 6 7 8 9 10; do
        "$ecube" load --name storm "$examples/complete_exchange.elf" >/dev/null 2>&1 &
        loader=$!
        sleep "0.0$i"
        kill -TERM $loader
        wait $loader
        tool_succeeds load --name storm "$arguments" next
        grep -qF '[7] node 7 of 8: [next]' out || { cat out; fail "node 7 says nothing"; }
    done 2>/dev/null
    tool_succeeds down --name storm
}

check "--timeout ends a boot in which nothing happens, with 124" idle_times_out
program=$arguments; check "--patience ends it with 3" idle_fails run; program=
check "and that of a machine that is to stay" idle_fails up
check "--patience names a QEMU that is stopped in the boot" stopped_in_boot
check "--timeout ends a download, and the next load waits for it" download_times_out
check "a load that was gone before the machine heard it does not make the next one busy" gone_before_it_is_heard
check "nor does one that is ended at any moment" ended_early_again_and_again
cases_done
