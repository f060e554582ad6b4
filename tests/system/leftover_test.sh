# Nothing is left behind: QEMUs that a script in QEMU's place has started, a killed cleanup process, a directory that is removed.
# class: waits
. tests/system/testing.sh
with_sanitizers

arguments=$programs/arguments.elf
misbehave=$programs/misbehave.elf

# wrapper LINE... - a script, ./wrapper, that runs QEMU in that way; sh -c gets QEMU's arguments.
wrapper() {
    printf '#!/bin/sh\n%s\n' "$*" >wrapper
    chmod +x wrapper
}

nothing_left() {
    wait_until no_processes || fail "left running: $(processes qemu-system) $(processes ecube)"
    wait_until eval '[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]' || fail "left lying: $(ls -A "$XDG_RUNTIME_DIR")"
}

# The processes that hold a machine, or its cleanup process.
servers() {
    processes ecube | grep -v cleanup | cut -d ' ' -f 1
}

cleanup_process() {
    processes ecube-cleanup | cut -d ' ' -f 1
}

# Starts a run that does not end by itself, in the background; its pid in $runner.
start_spinning() {
    "$ecube" run --network cube:1 "$@" "$misbehave" spin 0 >out 2>err &
    runner=$!
    wait_until grep -q 'run: 0 of 2' err || { cat err; fail "the program does not start"; }
}

wrapped() {
    wrapper "$1"
    tool_succeeds run --network cube:1 --qemu ./wrapper "$arguments" some
    no_processes || fail "left running: $(processes qemu-system)"
    start_spinning --qemu ./wrapper
    kill -9 $runner
    wait $runner 2>/dev/null
    nothing_left
}

wrapped_node_dies() {
    wrapper 'qemu-system-arm "$@"; exit'
    tool_succeeds up --name wrapped --network cube:1 --qemu ./wrapper
    tool_succeeds kill --name wrapped 1
    wait_until eval '[ "$(process_count qemu-system)" -eq 1 ]' || fail "the QEMU of the node that was killed lives"
    tool_succeeds down --name wrapped
    no_processes || fail "left running: $(processes qemu-system)"
}

cleanup_killed() {
    start_spinning
    first=$(cleanup_process)
    kill -9 "$first" || fail "no cleanup process"
    wait_until eval '[ -n "$(cleanup_process)" ] && [ "$(cleanup_process)" != "$first" ]' || fail "no other cleanup process"
    kill "-$1" $runner
    wait $runner 2>/dev/null
    nothing_left
}

cleanup_stopped() {
    start_spinning
    kill -STOP "$(cleanup_process)" || fail "no cleanup process"
    kill -TERM $runner
    wait $runner
    nothing_left
}

# No verb needs to be told what lies about.
both_killed() {
    wrapper 'qemu-system-arm "$@"; exit'
    tool_succeeds up --name doomed --network cube:1 --qemu ./wrapper
    # shellcheck disable=SC2046 -- one or two of them
    kill -9 $(cleanup_process) $(servers) || fail "no processes"
    wait_until eval '[ "$(process_count ecube)" -eq 0 ]' || fail "they live"
    tool_fails 2 "no machine named 'doomed' is up" ps --name doomed
    nothing_left
}

directory_removed() {
    tool_succeeds up --name lost --network cube:1
    timeout 60 "$ecube" load --name lost "$misbehave" spin 0 >load.out 2>load.err &
    loader=$!
    wait_until grep -q 'run: 0 of 2' load.err || fail "the program does not start"
    "$@"
    wait $loader
    code=$?
    [ "$code" -eq 3 ] || fail "status $code of the load"
    grep -qx 'ecube: the machine ends: its directory was removed' load.err || { cat load.err; fail "no line about it"; }
    wait_until no_processes || fail "the machine outlives its directory"
    tool_succeeds up --name lost --network cube:0
    tool_succeeds load --name lost "$arguments" again
    tool_succeeds down --name lost
    nothing_left
}

remove_all() { rm -rf "$XDG_RUNTIME_DIR"/ecube-*-lost; }
remove_lock() { rm "$XDG_RUNTIME_DIR"/ecube-*-lost/lock; }
remove_socket() { rm "$XDG_RUNTIME_DIR"/ecube-*-lost/control; }

# The old one does not take the directory of the new one along.
name_taken_at_once() {
    tool_succeeds up --name lost --network cube:1
    remove_all
    tool_succeeds up --name lost --network cube:0
    wait_until eval '[ "$(process_count qemu-system)" -eq 1 ]' || fail "the machine outlives its directory"
    tool_succeeds load --name lost "$arguments" again
    tool_succeeds down --name lost
    nothing_left
}

check "a script that has QEMU as its child leaves none" wrapped 'qemu-system-arm "$@"; exit'
check "nor one that has it in a pipe, a group and a session of its own" wrapped 'setsid timeout 100 qemu-system-arm "$@" | cat'
check "a node that is killed takes along what its script has started" wrapped_node_dies
check "a cleanup process that was killed is replaced, and the tool ended" cleanup_killed TERM
check "a cleanup process that was killed is replaced, and the tool killed" cleanup_killed KILL
check "a cleanup process that is stopped does its work in the end" cleanup_stopped
check "what tool and cleanup process could not end, the next verb does" both_killed
check "a machine whose directory is removed ends and says so" directory_removed remove_all
check "a machine whose lock is removed ends and says so" directory_removed remove_lock
check "a machine whose socket is removed ends and says so" directory_removed remove_socket
check "a name whose directory was removed can be up again at once" name_taken_at_once
cases_done
