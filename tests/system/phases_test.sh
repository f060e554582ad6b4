# Every verb in every phase of a machine gets an answer: while it boots, is idle, is being loaded, runs, ends, or is held
# still. Nothing here depends on when it happens: each phase is held until the test lets it go.
# class: waits
. tests/system/testing.sh
with_sanitizers

misbehave=$programs/misbehave.elf
loader=

# The process that holds the machine.
server() {
    processes ecube | awk '$2 !~ /cleanup|jtag/ { print $1; exit }'
}

machine_up() {
    tool_succeeds up --network cube:2 --jtag --patience 1h --name lab "$@"
}

# answers STATUS PATTERN VERB ARGUMENT... - the verb ends with that status, and says so on standard output or error. It
# has far more time than it takes: what never answers fails.
answers() {
    wanted=$1 pattern=$2
    shift 2
    tool "$@"
    [ "$status" -eq "$wanted" ] || { cat out err; fail "status $status, not $wanted, from ecube $1"; }
    cat out err | grep -Eq -- "$pattern" || { cat out err; fail "nothing like '$pattern' from ecube $1"; }
}

# all_answer STATUS PATTERN WORDS... - so do verbs with their arguments, asked all at once, each in one line.
all_answer() {
    wanted=$1 pattern=$2 asked=
    shift 2
    for words in "$@"; do
        mkdir "${words%% *}"
        (
            cd "${words%% *}" || exit 1
            answers "$wanted" "$pattern" ${words%% *} --name lab $(echo "$words" | sed -n 's/^[a-z]* //p')
            [ "$(words | wc -l)" -eq 1 ] || { cat err; fail "more than one line"; }
        ) &
        asked="$asked $!"
    done
    for pid in $asked; do
        wait "$pid" || exit 1
    done
}

# listens - a console, which ends with the machine; its pid in $listener.
listens() {
    "$ecube" console --name lab >console.out 2>&1 &
    listener=$!
}

listener_ends() {
    wait "$listener" || { cat console.out; fail "the console failed"; }
}

ends() {
    tool_succeeds down --name lab
    wait_until no_processes || fail "processes outlive ecube down"
}

# What only looks, or debugs, in a machine whose node 0 lives.
looks() {
    answers 0 "^lab +cube:2 +4 +$1 " list
    answers 2 "a machine named 'lab' is up" up --network cube:1 --name lab
    answers 0 'core.0: node 0' core --name lab 0
    rm -f core.0
    answers 0 '#0 ' debug --name lab 0 -- -batch -ex backtrace
    answers 0 'shutdown command invoked' openocd --name lab -- -c 'init; shutdown'
}

# begins_to_boot - node 1 never comes, which a QEMU does that waits first; the pid of `up` in $starter.
begins_to_boot() {
    printf '#!/bin/sh\ncase "$*" in */n1.*) while :; do sleep 0.1; done ;; esac\nexec qemu-system-arm "$@"\n' >wrapper
    chmod +x wrapper
    "$ecube" up --network cube:2 --jtag --patience 1h --name lab --qemu ./wrapper >up.out 2>&1 &
    starter=$!
    wait_until eval '[ -n "$(node_process 0)" ] && tool list && grep -q booting out' || { cat up.out; fail "it does not boot"; }
}

booting() {
    begins_to_boot
    looks booting
    for words in ps 'ps --links' top console "load $programs/arguments.elf" 'cut 0-1' 'kill 3'; do
        answers 2 'still booting' ${words%% *} --name lab $(echo "$words" | sed -n 's/^[a-z]* //p')
    done
    ends
    wait "$starter"
    [ $? -eq 3 ] || { cat up.out; fail "the status of 'up' is another"; }
    grep -q "^ecube: the machine was ended by 'ecube down' before it was up" up.out || { cat up.out; fail "'up' says nothing of it"; }
}

# A QEMU that its computer has not got to yet has no sockets: who wants the node waits for them, and is not refused.
starting() {
    printf '#!/bin/sh\ncase "$*" in */n0.*) sleep 1 ;; esac\nexec qemu-system-arm "$@"\n' >wrapper
    chmod +x wrapper
    "$ecube" up --network cube:1 --jtag --patience 1h --name lab --qemu ./wrapper >up.out 2>&1 &
    starter=$!
    wait_until eval 'tool list && grep -q booting out' || { cat up.out; fail "it does not boot"; }
    answers 0 'core.0: node 0' core --name lab 0
    wait "$starter" || { cat up.out; fail "it does not come up"; }
    ends
}

interrupted_boot() {
    begins_to_boot
    kill -9 "$starter"
    wait "$starter"
    wait_until no_processes || fail "the machine boots on"
}

idle() {
    machine_up
    looks whole
    answers 0 'cube:2, whole' ps --name lab
    listens
    answers 0 'node 3 of 4: \[word\]' load --name lab "$programs/arguments.elf" word
    tool_succeeds cut --name lab 0-1
    tool_succeeds kill --name lab 3
    wait_until eval 'tool list; grep -q broken out' || fail "it is not broken"
    answers 2 'is broken' load --name lab "$programs/arguments.elf"
    answers 2 'dead already' kill --name lab 3
    ends
    listener_ends
}

# What can be asked while a load goes on, which `down` ends.
busy() {
    looks whole
    answers 0 'cube:2, whole' ps --name lab
    listens
    answers 2 'the machine is busy' load --name lab "$programs/arguments.elf"
    tool_succeeds cut --name lab 0-1
    tool_succeeds kill --name lab 2
    answers 0 'cube:2, ' ps --name lab
    ends
    listener_ends
    wait "$loader"
    [ $? -eq 3 ] || { cat load.out; fail "the load has another status"; }
}

loading() {
    machine_up
    kill -STOP "$(node_process 3)" || fail "no node 3"
    "$ecube" load --name lab "$programs/arguments.elf" >load.out 2>&1 &
    loader=$!
    wait_until grep -q '^ecube: download: ' load.out || { cat load.out; fail "it does not load"; }
    busy
}

running() {
    machine_up
    "$ecube" load --name lab "$misbehave" spin 0 7 >load.out 2>&1 &
    loader=$!
    wait_until grep -q '^ecube: run: ' load.out || { cat load.out; fail "it does not run"; }
    busy
}

# The cleanup process ends a machine when nobody has the other end of its pipe any more: here the test has it, too.
hold_end() {
    cleanup=$(processes ecube-cleanup | cut -d ' ' -f 1)
    pipe=$(readlink "/proc/$cleanup/fd/3")
    for end in "/proc/$1/fd"/*; do
        [ "$(readlink "$end")" = "$pipe" ] && break
    done
    exec 7>"$end"
}

ending() {
    machine_up
    hold_end "$(server)"
    "$ecube" down --name lab >down.out 2>&1 7>&- &
    ender=$!
    control=$(find "$XDG_RUNTIME_DIR" -name control)
    wait_until [ ! -e "$control" ] || fail "it does not end"
    answers 0 'no machine is up' list
    answers 2 "a machine named 'lab' is just starting or ending" up --network cube:1 --name lab
    for words in ps 'ps --links' top console down "load $programs/arguments.elf" 'cut 0-1' 'kill 3' 'debug 0' 'core 0' openocd; do
        answers 2 'takes no requests: it is just starting or ending' ${words%% *} --name lab $(echo "$words" | sed -n 's/^[a-z]* //p')
    done
    answers 2 'no machine is up' ps
    exec 7>&-
    wait "$ender" || { cat down.out; fail "'down' failed"; }
}

# A process that holds a machine and is stopped takes connections, and answers nobody.
stopped() {
    machine_up
    holder=$(server)
    kill -STOP "$holder"
    wait_until grep -q ') T' "/proc/$holder/stat"
    answers 0 '^lab .* silent ' list
    all_answer 3 "the machine does not answer: its process $holder is stopped" \
        ps top console down "load $programs/arguments.elf" 'cut 0-1' 'kill 3' 'debug 0' 'core 0' openocd
    kill -CONT "$holder"
    # What was given up is not done.
    answers 0 'cube:2, whole$' ps --name lab
    ends
}

stopped_amid_a_load() {
    machine_up
    "$ecube" load --name lab "$misbehave" spin 0 7 >load.out 2>&1 &
    loader=$!
    wait_until grep -q '^ecube: run: ' load.out || { cat load.out; fail "it does not run"; }
    holder=$(server)
    kill -STOP "$holder"
    wait "$loader"
    [ $? -eq 3 ] || { cat load.out; fail "the load has another status"; }
    grep -q "^ecube: the machine does not answer: its process $holder is stopped" load.out || { cat load.out; fail "nothing is said of it"; }
    kill -CONT "$holder"
    ends
}

# More than the machine's socket takes wait for it.
crowded() {
    machine_up
    holder=$(server)
    kill -STOP "$holder"
    "$build/tests/intruder" "$(find "$XDG_RUNTIME_DIR" -name control)" crowd 100 >crowd.out 2>&1 </dev/zero &
    crowd=$!
    answers 3 'takes no more connections|is stopped' ps --name lab
    answers 0 '^lab .* silent ' list
    kill "$crowd"
    wait "$crowd"
    kill -CONT "$holder"
    ends
}

# link_in_place - `up` and whatever looks for a machine say the same of what is none.
link_in_place() {
    directory=$XDG_RUNTIME_DIR/ecube-$(id -u)-lab
    mkdir target
    ln -s "$PWD/target" "$directory"
    for words in 'up --network cube:0' down ps 'kill 0'; do
        answers 2 "$directory is a symbolic link, not a machine's directory: remove it" ${words%% *} --name lab $(echo "$words" | sed -n 's/^[a-z]* //p')
    done
    answers 2 'no machine is up' down
    answers 0 'no machine is up' list
    rm "$directory"
    : >"$directory"
    answers 2 "$directory is not a directory: remove it" up --network cube:0 --name lab
    rm "$directory"
}

# In JSON a control character takes six; what is too long for any program is not sent.
long_requests() {
    machine_up
    word=$(head -c 110000 /dev/zero | tr '\0' '\001')
    tool_succeeds load --name lab "$examples/hello.elf" "$word" "$word"
    set -- "$word" "$word" "$word" "$word" "$word"
    answers 2 'the arguments are too long: 1100[0-9]* bytes, a program has room for 1048576' load --name lab "$examples/hello.elf" "$@" "$@"
    ends
}

check "while a machine boots every verb gets an answer, and 'down' ends it" booting
check "a node whose emulator is just starting is waited for" starting
check "a boot ends with the tool that has begun it" interrupted_boot
check "while a machine is idle every verb gets an answer" idle
check "while a program is loaded every verb gets an answer, and 'down' ends it" loading
check "while a program runs every verb gets an answer, and 'down' ends it" running
check "while a machine ends every verb is told so" ending
check "verbs give up a machine whose process is stopped, and what they wanted is not done" stopped
check "a load gives up a machine whose process is stopped meanwhile" stopped_amid_a_load
check "a machine that takes no more connections is given up, too" crowded
check "arguments reach the machine if a program has room for them, else they are refused" long_requests
check "'up' and 'down' agree on a symbolic link in the place of a machine's directory" link_in_place
cases_done
