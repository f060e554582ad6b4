#!/bin/sh
# agent_test.sh BUILD - a machine over several agents, started by hand on one computer: the same times, verbs and ends as on one,
# and what is refused.
# class: waits
. tests/system/testing.sh
. tests/system/agents.sh

with_sanitizers
whole=$build/ecube
agent=$build/ecube-agent-checked
exchange=$examples/complete_exchange.elf

# same_times OPTION... - of two agents; the second message is as long as one can be.
same_times() {
    agents_succeed 2 "$@" --json many "$exchange" 16 65536
    told_times err many >many.times
    "$whole" run "$@" --json one "$exchange" 16 65536 2>err || { cat err; fail "the whole machine"; }
    told_times err one >one.times
    [ "$(wc -l <one.times)" -eq 4 ] || { cat one.times; fail "not all times are there"; }
    cmp one.times many.times || { cat one.times many.times; fail "other times"; }
    [ "$("$json_get" many exits length)" -eq "$("$json_get" one exits length)" ] || fail "--json has not all nodes"
}

# ends_at SIZE NETWORK FAULT WORDS - a run of so many agents with a fault amid it ends with one line of these words.
ends_at() {
    agents "$1" -q --network "$2" "$3@run" "$exchange" 65536 65536 65536 65536 65536 65536
    [ "$status ${ended% 0}" = '3 0' ] || { cat err said.*; fail "statuses $status and $ended"; }
    words >told
    grep -Eq "$4" told || { cat told; fail "no line with '$4'"; }
    [ "$(wc -l <told)" -eq 1 ] || { cat told; fail "too many lines"; }
}

# Cables between all three, and host links into each.
three_agents() {
    agents_succeed 3 --network torus:3x4 --host-links 4 --json many "$examples/hello.elf"
    [ "$(grep -c '^\[ *[0-9]*\] hello from node' out)" -eq 12 ] || { cat out; fail "not all nodes said hello"; }
    grep -q '^links 0-2  ' err || { cat err; fail "the links between are not told"; }
    tool_succeeds run --network torus:3x4 --host-links 4 --json one "$examples/hello.elf"
    for key in model_us predicted_us; do
        "$json_get" one download $key >one.$key
        "$json_get" many download $key | cmp - one.$key || fail "the download's $key differs"
    done
}

status_of_programs() {
    agents 2 --network cube:2 "$programs/misbehave.elf" exit 3 7
    [ "$status" -eq 7 ] || { cat err; fail "status $status"; }
    [ "$ended" = 0 ] || { cat said.*; fail "the other ended with $ended"; }
    agents 2 --network cube:2 --timeout 5s "$programs/misbehave.elf" spin 3
    [ "$status" -eq 124 ] || { cat err; fail "status $status"; }
    [ "$ended" = 0 ] || { cat said.*; fail "the other ended with $ended"; }
}

# no_defunct - rank 0 has reaped what has ended of its processes.
no_defunct() {
    for parent in $(process_of 0); do
        ! cat /proc/[0-9]*/status 2>/dev/null |
            awk -v parent="$parent" '/^State:/ { state = $2 } /^PPid:/ && $2 == parent && state == "Z" { found = 1 } END { exit !found }' ||
            return 1
    done
}

boots() {
    [ -S "$(echo "$XDG_RUNTIME_DIR"/ecube-*-lab/control)" ]
}

# While `down` is told that a machine boots, whoever shows its boot hears that it ends, and rank 0 waits for nobody.
ends_in_boot() {
    start_others 3 --network cube:3 --name lab
    start_agent 0 3 --network cube:3 --name lab
    wait_until boots || { cat err; fail "it does not boot"; }
    tool_succeeds down --name lab
    wait "$started"
    status=$?
    await_others
    [ "$status $ended" = '0 0 0' ] || { cat said.*; fail "statuses $status and $ended"; }
}

# Two machines of one name: the second is told so, and its agents end.
name_is_taken() {
    start_others 2 --network cube:2 --name lab
    holders=$others
    start_agent 0 2 --network cube:2 --name lab
    holder=$started
    wait_until grep -q '^lab is up' out || { cat out err; fail "it is not up"; }
    case_number=$((case_number + 1000)) # another port
    agents 2 -q --network cube:2 --name lab
    expect_refused "a machine named 'lab' is up"
    tool_succeeds down --name lab
    wait "$holder"
    others=$holders
    await_others
    [ "$ended" = 0 ] || { cat said.*; fail "statuses $ended"; }
}

dead_is() {
    "$ecube" ps --name lab >out 2>err && grep -q "^cube:3, broken, dead: $1" out
}

stays() {
    start_others 2 --network cube:3 --name lab
    start_agent 0 2 --network cube:3 --name lab
    wait_until grep -q '^lab is up: cube:3, 8 nodes' out || { cat out err; fail "it is not up"; }
    wait_until no_defunct || { ps -ef; fail "a defunct process is left while the machine is up"; }
    tool_succeeds load --name lab --json first "$exchange" 100
    tool_succeeds load --name lab --json second "$exchange" 100
    for key in model_us predicted_us; do
        "$json_get" first download $key >first.$key
        "$json_get" second download $key | cmp - first.$key || fail "the second download's $key is another"
    done
    tool_succeeds ps --name lab
    [ "$(grep -c '^ *[0-7] exited' out)" -eq 8 ] || { cat out; fail "ps does not show all"; }
    # a node of each agent, through the sockets at rank 0
    for node in 1 6; do
        timeout -k 5 "$limit_seconds" "$ecube" debug --name lab $node -- -nx -batch -ex 'info registers pc' >gdb 2>&1 ||
            { cat gdb; fail "GDB failed at node $node"; }
        grep -q '^pc  *0x' gdb || { cat gdb; fail "GDB does not see node $node"; }
        tool_succeeds core --name lab $node
    done
    "$ecube" console --name lab >heard 2>&1 &
    console=$!
    tool_succeeds cut --name lab 1-5
    wait_until dead_is 'link 1-5' || { cat out; fail "the cut does not show"; }
    tool_fails 2 'link 1-5 is dead already' cut --name lab 1-5
    tool_succeeds kill --name lab 6
    tool_fails 2 'node 6 is dead already' kill --name lab 6
    wait_until grep -q 'node 6 (rank 6) died during idle: its QEMU was killed by signal 9' heard || { cat heard; fail "the death is not told"; }
    tool_fails 2 'dead: .*node 6' load --name lab "$exchange" 100
    tool_succeeds down --name lab
    wait "$console"
    wait "$started"
    status=$?
    await_others
    [ "$status $ended" = '0 0' ] || { cat err said.*; fail "statuses $status and $ended"; }
}

# lose RANK SIGNAL - sends it to an agent when programs run; 0 alone is waited for.
lose() {
    start_others 3 --network cube:3 --patience 5s --json result "$programs/sleeper.elf" 0
    start_agent 0 3 --network cube:3 --patience 5s --json result "$programs/sleeper.elf" 0
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err said.*; fail "it does not run"; }
    victim=$(process_of "$1")
    kill "-$2" "$victim"
    wait "$started"
    status=$?
}

# The cleanup process of an agent that was killed ends its nodes a moment later.
nothing_left() {
    wait_until no_processes || { left_running; fail "processes outlive the agents"; }
}

lost_agent() {
    lose 2 KILL
    await_others
    nothing_left
    one_trouble 'computer .*, nodes 6-7: its agent has ended, during run'
    [ "$ended" = '0 137' ] || { cat said.*; fail "statuses of the others: $ended"; }
}

one_trouble() {
    [ "$status" -eq 3 ] || { cat err; fail "status $status"; }
    [ "$("$json_get" result troubles length)" -eq 1 ] || { cat result; fail "not one trouble"; }
    [ "$("$json_get" result troubles 0 kind)" = computer-lost ] || { cat result; fail "another trouble"; }
    words >told
    grep -Eq "^ecube: $1" told || { cat told; fail "no line like '$1'"; }
    [ "$(grep -c '^ecube: ' told)" -eq 1 ] || { cat told; fail "more than one line"; }
}

silent_agent() {
    lose 2 STOP
    kill -CONT "$victim"
    await_others
    one_trouble 'computer .*, nodes 6-7: no answer for 5 s, during run'
}

# On a computer of one's own: another directory of run directories.
elsewhere() {
    mkdir -m 700 "$case_directory/run/b"
    start_agent 0 2 --network cube:2 --name lab
    root=$started
    export XDG_RUNTIME_DIR="$case_directory/run/b"
    start_others 2 --network cube:2 --name lab
    wait_until grep -q '^lab is up' out || { cat out err; fail "it is not up"; }
    cp out shown
    for choice in '' '--name lab'; do
        # shellcheck disable=SC2086 -- the words are meant to split
        tool_fails 2 "the machine named 'lab' is used on computer [^ ]+, where its rank 0 is" ps $choice
    done
    tool_fails 2 "no machine named 'other' is up" ps --name other
    export XDG_RUNTIME_DIR="$case_directory/run"
    tool_succeeds down --name lab
    wait "$root"
    await_others
    [ "$ended" = 0 ] || { cat said.*; fail "the other ended with $ended"; }
    rmdir "$case_directory/run/b"
}

lost_root() {
    lose 0 KILL
    await_others
    nothing_left
    [ "$ended" = '3 3' ] || { cat said.*; fail "statuses of the others: $ended"; }
    grep -q '^ecube: rank 0 is gone: nodes 3-5 have ended' said.1 || { cat said.1; fail "other words"; }
}

# Rank 0 is there and says nothing: the others end their nodes after the link timeout, and it is told when it goes on.
silent_root() {
    start_others 2 --network cube:2 --patience 5s "$programs/sleeper.elf" 0
    start_agent 0 2 --network cube:2 --patience 5s --json result "$programs/sleeper.elf" 0
    wait_until grep -q '^ecube: run: 0 of 4' err || { cat err said.*; fail "it does not run"; }
    victim=$(process_of 0)
    kill -STOP "$victim"
    await_others
    kill -CONT "$victim"
    wait "$started"
    status=$?
    [ "$ended" = 3 ] || { cat said.*; fail "statuses of the others: $ended"; }
    grep -q '^ecube: rank 0 does not answer for 5 s: nodes 2-3 have ended$' said.1 || { cat said.1; fail "other words"; }
    one_trouble 'computer .*, nodes 2-3: its agent has ended, during run'
}

# What an agent alone can know comes by rank 0's word, and by no other.
refused_elsewhere() {
    printf '#!/bin/sh\nulimit -n 60\nexec %s "$@"\n' "$agent" >limited
    chmod +x limited
    original=$agent agent=$PWD/limited
    start_others 2 --network cube:3 "$exchange" 100
    agent=$original
    start_agent 0 2 -q --network cube:3 "$exchange" 100
    wait "$started"
    status=$?
    await_others
    expect_refused '^ecube: computer .* \(rank 1\): cube:3 needs [0-9]+ open files, and the limit is 60'
    [ ! -s said.1 ] || { cat said.1; fail "the agent has said something, too"; }
}

other_key() {
    make_key other
    key=other start_agent 1 2 --network cube:3 "$exchange" 100
    others=$started
    start_agent 0 2 --network cube:3 "$exchange" 100
    wait "$started"
    status=$?
    await_others
    expect_refused 'an agent at 127\.0\.0\.1 has another key'
    grep -q "does not take this agent's key" said.1 || { cat said.1; fail "the other does not say so"; }
}

other_version() {
    cp "$agent" changed
    echo >>changed
    original=$agent agent=$PWD/changed
    start_others 2 --kernel "$kernel" --network cube:3 "$exchange" 100
    agent=$original
    start_agent 0 2 --kernel "$kernel" --network cube:3 "$exchange" 100
    wait "$started"
    status=$?
    await_others
    expect_refused 'computer .* \(rank 1\) has another build of the tool than'
}

dry_run() {
    agents_succeed 3 --network cube:3 --dry-run
    grep -Eq '^agent 1  .*: nodes 3-5, [0-9]+ MiB free, 7 links to others$' out || { cat out; fail "no such agent"; }
    [ "$(grep '^links' out | tr -s ' ' | paste -sd ,)" = 'links 0-1 4,links 0-2 1,links 1-2 3' ] || { cat out; fail "other links"; }
}

refusals() {
    agents_refuse '--jtag: not over several computers' 2 --jtag --network cube:3
    agents_refuse '--cross: not over several computers' 2 --network cube:3 --cross 0-1,2-3 "$exchange"
    agents_refuse '3 agents for 2 nodes: start at most 2' 3 --network cube:1 "$exchange"
    agents_refuse 'cannot read the program no\.elf' 2 --network cube:3 no.elf
    agents_refuse '--json: name the program to run' 2 --network cube:3 --json result
    agents_refuse 'computer .*qemu|cannot run /nowhere' 2 --qemu /nowhere --network cube:3 "$exchange"
    chmod 644 key
    agents_refuse '--key-file key: others may read it' 1 --network cube:3 "$exchange"
    mkfifo -m 600 pipe
    key=pipe
    agents_refuse 'cannot read --key-file pipe: it is no file' 1 --network cube:3 "$exchange"
    unset key
    env -u PMIX_RANK -u PMIX_NAMESPACE "$agent" --network cube:3 2>err
    [ $? -eq 2 ] || fail "without a launcher it does not end with 2"
    grep -q 'agents are started by mpirun' err || { cat err; fail "other words"; }
}

check "two agents run a program with the model times of one computer" same_times --network cube:3
check "so with two host links and serial lines" same_times --network mesh:2x3 --host-links 2 --links serial
check "three agents share a torus with four host links" three_agents
check "rank 0 ends with the programs' status, the others with 0" status_of_programs
check "a machine over two agents stays: load, ps, debug, core, console, cut, kill, down" stays
check "a machine that boots ends by ecube down" ends_in_boot
check "a machine whose name is taken is refused, and its agents end" name_is_taken
check "a link between two agents is cut" ends_at 2 cube:2 --cut=1-3 'link 1-3 .* died during run'
check "a link between two others is cut" ends_at 3 cube:3 --cut=4-6 'link 4-6 .* died during run'
check "a link of another agent is cut there" ends_at 2 cube:2 --cut=2-3 'link 2-3 .* died during run'
check "a node of rank 0 dies" ends_at 2 cube:2 --kill=1 'node 1 .* died during run: .*signal 9'
check "a node of another agent dies" ends_at 2 cube:2 --kill=2 'node 2 .* died during run: .*signal 9'
check "an agent that is killed is one trouble, and nothing is left" lost_agent
check "an agent that is silent for the link timeout is one trouble" silent_agent
check "when rank 0 is killed the other agents end their nodes" lost_root
check "when rank 0 is silent for the link timeout the other agents end their nodes" silent_root
check "verbs on another computer name that of rank 0" elsewhere
check "an agent with another key is refused" other_key
check "an agent of another build is refused, and named" other_version
check "what an agent alone can refuse is told by rank 0 alone" refused_elsewhere
check "--dry-run shows who gets which nodes, and the links between" dry_run
check "what is not for several computers is refused, as is bad input" refusals
cases_done
