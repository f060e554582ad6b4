# Nodes that die and links that are cut, at every stage; the tool itself killed; nothing stays behind.
# class: waits
. tests/system/testing.sh

node_dies() {
    tool run --network cube:3 --kill "5@$1" "$examples/complete_exchange.elf" 65536 65536 65536 65536 65536 65536
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -Eq 'node 5 \(rank 5\) died during' || { words; fail "no line about node 5"; }
    [ "$(words | wc -l)" -le 3 ] || { words; fail "too many lines"; }
}

link_cut() {
    tool run --network cube:3 --cut "4-5@$1" "$examples/complete_exchange.elf" 65536 65536 65536 65536 65536 65536
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -Eq '(link|missing|one-way).*4-5|node [45]' || { words; fail "no line about the link"; }
}

links_crossed() {
    tool run --network cube:3 --cross 0-1,2-3 "$examples/hello.elf"
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words >said
    cat >wanted <<'END'
ecube: crossed: link 0-1 (dimension 0) leads from node 0 to node 3, port 0, and from node 1 to node 2, port 0
ecube: crossed: link 2-3 (dimension 0) leads from node 2 to node 1, port 0, and from node 3 to node 0, port 0
END
    grep -v 'boot failed: 2 links are crossed' said | cmp -s - wanted || { cat said; fail "other words"; }
}

# Starts a machine that exchanges for long, in the background; its pid in $runner.
start_long_run() {
    "$ecube" run --network cube:3 "$programs/misbehave.elf" spin 2 >out 2>err &
    runner=$!
    wait_until eval '[ "$(process_count qemu-system)" -eq 8 ]' || fail "the machine does not start"
}

# over_serial_lines FUNCTION ARGUMENT... - the function, with other links than those of shared memory.
over_serial_lines() {
    export ECUBE_LINKS=serial
    "$@"
}

killed_hard() {
    start_long_run
    kill -9 $runner
    wait $runner 2>/dev/null
    wait_until no_processes || fail "processes outlive the tool"
    wait_until eval '[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]' || fail "files outlive the tool"
}

ended_by_signal() {
    start_long_run
    kill "-$1" $runner
    wait $runner
    code=$?
    [ "$code" -eq "$2" ] || fail "status $code"
    no_processes || fail "processes outlive the tool"
    [ -z "$(ls -A "$XDG_RUNTIME_DIR")" ] || fail "files outlive the tool"
}

# Every node spins but for one, which waits in the end of its program for nobody.
interrupted() {
    "$ecube" run --network cube:2 "$programs/misbehave.elf" spin 2 >out 2>err &
    runner=$!
    wait_until grep -q 'run: [01] of 4' err || fail "the program does not start"
    kill -INT $runner
    wait $runner
    code=$?
    [ "$code" -eq 130 ] || fail "status $code"
    words | grep -Eq '^ecube: interrupted: [0-3] of 4 programs have ended$' || { words; fail "no line about it"; }
    words | grep -Eq '^ecube: node 2 \(rank 2\) ' || { words; fail "no line about node 2"; }
    no_processes || fail "processes outlive the tool"
}

qemu_killed_from_outside() {
    "$ecube" run --network cube:3 "$programs/misbehave.elf" spin 2 >out 2>err &
    runner=$!
    wait_until grep -q 'run: 0 of 8' err || fail "the program does not start"
    kill -9 "$(processes qemu-system | sed -n '4s/ .*//p')"
    wait $runner
    code=$?
    [ "$code" -eq 3 ] || { words; fail "status $code"; }
    words | grep -Eq 'node [0-7] \(rank [0-7]\) died during run.*Killed' || { words; fail "no line about the node"; }
}

stays_and_goes() {
    tool_succeeds up --name staying --network cube:2
    tool_succeeds load --name staying "$programs/arguments.elf" first
    grep -qF '[3] node 3 of 4: [first]' out || { cat out; fail "first load"; }
    tool_succeeds load --name staying "$programs/messages.elf"
    tool_succeeds ps --name staying --json nodes.json
    [ "$("$json_get" nodes.json nodes 3 counters frames_sent)" -gt 0 ] || fail "no frames were sent"
    [ "$("$json_get" nodes.json nodes 3 counters packets_dropped)" -eq 0 ] || fail "packets were dropped"
    tool load --name staying "$programs/misbehave.elf" null 1
    [ "$status" -eq 139 ] || fail "status $status after a crash"
    tool_succeeds load --name staying "$programs/arguments.elf" again
    tool_succeeds down --name staying
    wait_until no_processes || fail "processes outlive ecube down"
}

one_name_once() {
    tool_succeeds up --name twice --network cube:0
    tool_fails 2 'twice.*up' up --name twice --network cube:0
    tool_succeeds down --name twice
    wait_until no_processes || fail "processes outlive ecube down"
}

nothing_up() {
    tool_fails 2 'machine' down
    tool_fails 2 'machine' load "$programs/arguments.elf"
    tool_fails 2 'machine' ps
}

# stands_still PATIENCE... - node 3 is stopped while a program is loaded into it; the load's pid in $loader.
stands_still() {
    tool_succeeds up --name still --network cube:2 "$@"
    stopped=$(node_process 3)
    kill -STOP "$stopped" || fail "no node 3"
    "$ecube" load --name still "$programs/arguments.elf" after >load.out 2>load.err &
    loader=$!
}

impatient() {
    stands_still --patience 5s
    wait $loader
    code=$?
    [ "$code" -eq 3 ] || { cat load.err; fail "status $code"; }
    grep -Eq 'link [12]-3 .*died during download: no acknowledgement' load.err || { cat load.err; fail "no line about it"; }
    tool_succeeds down --name still
}

patient() {
    stands_still "$@"
    sleep 4
    kill -CONT "$stopped"
    wait $loader
    code=$?
    [ "$code" -eq 0 ] || { cat load.err; fail "status $code"; }
    grep -qF '[3] node 3 of 4: [after]' load.out || { cat load.out; fail "node 3 says nothing"; }
    tool_succeeds down --name still
}

private_directory() {
    tool_succeeds up --name private --network cube:0
    mode=$(stat -c %a "$XDG_RUNTIME_DIR"/ecube-*-private)
    [ "$mode" = 700 ] || fail "mode $mode"
    ls "$XDG_RUNTIME_DIR"/ecube-*-private | grep -q qmp || fail "no QMP socket"
    ls "$XDG_RUNTIME_DIR"/ecube-*-private | grep -q gdb || fail "no GDB socket"
    tool_succeeds down --name private
    wait_until no_processes || fail "processes outlive ecube down"
}


# breaks VERB WHAT DEAD - on a machine that is up: later loads are refused, and name what is dead, as ps and a later console do.
breaks() {
    tool_succeeds up --name breaking --network cube:2
    tool_succeeds "$1" --name breaking "$2"
    sleep 1
    tool load --name breaking "$programs/arguments.elf"
    [ "$status" -ne 0 ] || { cat out; fail "a broken machine takes a program"; }
    words | grep -qx "ecube: the machine is broken, dead: $3: end it with 'ecube down'" || { words; fail "load does not name what is dead"; }
    "$ecube" console --name breaking >console.out 2>console.err &
    reader=$!
    wait_until grep -qx "ecube: the machine is broken, dead: $3" console.err || { cat console.err; fail "console does not name it"; }
    tool_succeeds ps --name breaking --json ps.json
    grep -qx "cube:2, broken, dead: $3" out || { cat out; fail "ps does not name what is dead"; }
    [ "$("$json_get" ps.json dead 0)" = "$3" ] || fail "nor does its JSON"
    tool_succeeds down --name breaking
    wait $reader
    wait_until no_processes || fail "processes outlive ecube down"
}

dead_already() {
    tool_succeeds up --name broken --network cube:2
    tool_succeeds kill --name broken 3
    tool_fails 2 '^ecube: node 3 is dead already$' kill --name broken 3
    tool_succeeds cut --name broken 0-1
    tool_fails 2 '^ecube: link 1-0 is dead already$' cut --name broken 1-0
    wait_until eval '"$ecube" ps --name broken 2>/dev/null | grep -q "dead: node 3, link 0-1"' || fail "ps"
    tool_fails 2 '^ecube: link 3-1 is dead already$' cut --name broken 3-1
    tool_fails 2 '^ecube: node 3 is dead already$' kill --name broken 3
    tool_succeeds down --name broken
    wait_until no_processes || fail "processes outlive ecube down"
}

console_shows() {
    tool_succeeds up --name talking --network cube:1
    "$ecube" console --name talking >console.out 2>&1 &
    sleep 1
    tool_succeeds load --name talking "$programs/arguments.elf" heard
    wait_until grep -qF '[1] node 1 of 2: [heard]' console.out || { cat console.out; fail "nothing on the console"; }
    tool_succeeds down --name talking
    wait_until no_processes || fail "processes outlive ecube down"
}

killed_server() {
    tool_succeeds up --name doomed --network cube:2
    for pid in $(processes ecube | grep -v cleanup | cut -d ' ' -f 1); do kill -9 "$pid"; done
    wait_until no_processes || fail "processes outlive the tool"
    wait_until eval '[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]' || fail "files outlive the tool"
    tool_fails 2 'machine' ps --name doomed
}

failed_json() {
    tool run --network cube:1 --json result.json "$programs/misbehave.elf" exit 1 7
    [ "$("$json_get" result.json status)" = 7 ] || { cat result.json; fail "status in the JSON file"; }
    [ "$("$json_get" result.json exits)" = '[0,7]' ] || { cat result.json; fail "exits in the JSON file"; }
    [ "$("$json_get" result.json troubles 0 kind) $("$json_get" result.json troubles 0 nodes) \
$("$json_get" result.json troubles 0 status)" = 'exit-status [1] 7' ] || { cat result.json; fail "its trouble"; }
    tool run --network cube:1 --json result.json --kill 1@run "$programs/misbehave.elf" spin 1
    [ "$("$json_get" result.json status)" = 3 ] || { cat result.json; fail "status in the JSON file"; }
    tool run --network cube:1 --json - --kill 1@boot "$programs/misbehave.elf" spin 1
    [ "$("$json_get" out status)" = 3 ] || { cat out; fail "status on standard output"; }
    [ "$("$json_get" out boot_ms)" = null ] || { cat out; fail "a time of a boot that failed"; }
    [ "$("$json_get" out download)" = null ] || { cat out; fail "a download that was none"; }
    [ "$("$json_get" out run_ms) $("$json_get" out exits)" = 'null [null,null]' ] || { cat out; fail "a run that was none"; }
    [ "$("$json_get" out troubles 0 kind) $("$json_get" out troubles 0 phase)" = 'node-died boot' ] || { cat out; fail "its trouble"; }
}

for phase in boot run; do
    check "a node killed at $phase is named and ends the run" node_dies $phase
    check "a link cut at $phase is named and ends the run" link_cut $phase
done
for phase in download run+200; do # the simulator's campaigns fail every moment of both
    check_long "a node killed at $phase is named and ends the run" node_dies $phase
    check_long "a link cut at $phase is named and ends the run" link_cut $phase
done
# serial_failure_test.sh has the others.
check "a node killed at run is named and ends the run, over serial lines" over_serial_lines node_dies run
check "a link cut at run is named and ends the run, over serial lines" over_serial_lines link_cut run
check "the delay of a fault takes a unit" node_dies run+0.2s
check "crossed links are named, with where they lead" links_crossed
check "a QEMU killed from outside is told as a dead node" qemu_killed_from_outside
check "kill -9 of the tool leaves no process and no file" killed_hard
check "SIGTERM ends the tool and its machine with 143" ended_by_signal TERM 143
check "SIGINT ends the tool and its machine with 130" ended_by_signal INT 130
check "Ctrl-C says how far a run has come and what its programs do" interrupted
check "a machine that stays takes one program after another, also after a crash" stays_and_goes
check "a name can be up once" one_name_once
check "verbs for a machine that is not up say so" nothing_up
check "a node that is stopped for longer than --patience is dead" impatient
check "one that goes on before 15 s are over is not" patient
check "nor one with a longer --patience" patient --patience 1h
check "the run's directory is private and holds QMP and GDB sockets" private_directory
check "a link cut on a machine that is up is told to the next load" breaks cut 0-1 "link 0-1"
check "a node killed on a machine that is up is told to the next load" breaks kill 3 "node 3"
check "what is dead already is neither killed nor cut" dead_already
check "console shows what programs of a machine print" console_shows
check "kill -9 of a machine that is up leaves no process and no file" killed_server
check "--json tells the status of a run that failed" failed_json
cases_done
