# What is up, and debugging it: ecube list, debug, core, openocd.
# class: waits
. tests/system/testing.sh
with_sanitizers

# listed NAME NETWORK NODES STATE - is a line of the last list.
listed() {
    grep -Eq "^$1 +$2 +$3 +$4 .* $XDG_RUNTIME_DIR/ecube-[0-9]+-$1\$" out || { cat out err; fail "$1 is not listed so"; }
}

nothing_up() {
    tool_succeeds list
    grep -qx "no machine is up: start one with 'ecube up'" out || { cat out; fail "other words"; }
    tool_succeeds list --json list.json
    [ "$("$json_get" list.json machines)" = '[]' ] || { cat list.json; fail "machines"; }
}

two_machines() {
    tool_succeeds up --network cube:1 --name lab
    tool_succeeds up --network cube:2 --name cache
    tool_succeeds kill --name cache 3
    wait_until eval 'tool list; grep -q broken out'
    tool_succeeds list --json list.json
    listed lab cube:1 2 whole
    listed cache cube:2 4 broken
    [ "$("$json_get" list.json machines 0 name)" = cache ] || { cat list.json; fail "not in order"; }
    [ "$("$json_get" list.json machines 1 nodes)" = 2 ] || { cat list.json; fail "nodes"; }
    tool_succeeds down --name lab
    tool_succeeds list
    ! grep -q '^lab' out || fail "it is down, and listed"
    tool_succeeds down --name cache
}

silent_machine() {
    tool_succeeds up --network cube:0 --name lab
    holder=$(processes ecube | grep -v -e cleanup -e jtag | cut -d' ' -f1)
    kill -STOP "$holder"
    tool list
    kill -CONT "$holder"
    listed lab - - silent
    tool_succeeds down --name lab
}

booting_machine() {
    printf '#!/bin/sh\ncase "$*" in */n1.*) while [ ! -e %s/go ]; do sleep 0.1; done ;; esac\nexec qemu-system-arm "$@"\n' "$PWD" >wrapper
    chmod +x wrapper
    "$ecube" up --network cube:1 --name lab --qemu ./wrapper >up.out 2>&1 &
    starter=$!
    wait_until eval 'tool list; grep -q booting out' || { cat up.out; fail "never listed as booting"; }
    listed lab cube:1 2 booting
    : >go
    wait "$starter" || { cat up.out; fail "up failed"; }
    tool_succeeds down --name lab
}

misbehave=$programs/misbehave.elf

# machine_up [ARGUMENT...] - a machine of two, on which misbehave.elf spins if the first word is `spinning`.
machine_up() {
    loader=
    spins=$1
    shift
    tool_succeeds up --network cube:1 --name lab "$@"
    [ "$spins" = spinning ] || return 0
    "$ecube" load --name lab "$misbehave" spin 1 7 >load.out 2>load.err &
    loader=$!
    wait_until eval 'tool ps --name lab; grep -q "computes in never_return" out' || { cat out load.err; fail "it does not spin"; }
}

machine_down() {
    tool_succeeds down --name lab
    [ -z "$loader" ] || wait "$loader"
    wait_until no_processes || fail "processes outlive ecube down"
}

# gdb_says PATTERN... - each is in what GDB said, in `out` or `gdb`.
gdb_says() {
    for pattern in "$@"; do
        grep -Eq -- "$pattern" gdb || { cat gdb; fail "GDB did not say '$pattern'"; }
    done
}

# debugged_once ARGUMENT... - ecube debug, whose words are in `gdb`.
debugged_once() {
    timeout -k 5 "$limit_seconds" "$ecube" debug --name lab "$@" >gdb 2>&1 </dev/null || { cat gdb; fail "ecube debug failed"; }
}

# debugged ARGUMENT... - a node that is halted on a vector of exceptions has no program's stack in sight: then it is halted once
# more, elsewhere, for ecube debug has let it go on.
debugged() {
    for _ in 1 2 3; do
        debugged_once "$@"
        grep -q '^#0 .* kernel_text_start ()' gdb || return 0
    done
}

one_node() {
    machine_up spinning
    debugged 1 "$misbehave" -- -batch -ex backtrace -ex 'info symbol trap_call'
    gdb_says '^#[0-9]+ .*never_return' '^#[0-9]+ .* alone \(' 'trap_call in section'
    debugged 1 -- -batch -ex backtrace
    gdb_says '^#[0-9]+ .*never_return'
    tool_succeeds ps --name lab
    grep -q 'computes in never_return' out || { cat out; fail "the node does not go on"; }
    machine_down
}

# Each breaks where its program begins, and the others go on.
all_nodes() {
    machine_up empty
    mkfifo commands
    timeout -k 5 "$limit_seconds" "$ecube" debug --name lab "$misbehave" -- -nx <commands >gdb 2>&1 &
    gdb_pid=$!
    exec 3>commands
    printf 'set confirm off\nset width 0\nbreak alone\nall continue &\necho both go on\\n\n' >&3
    wait_until grep -q '^.*both go on' gdb || { cat gdb; fail "they do not go on"; }
    "$ecube" load --name lab "$misbehave" exit 1 7 >load.out 2>load.err &
    loader=$!
    wait_until grep -q 'hit Breakpoint 1' gdb || { cat gdb load.err; fail "no breakpoint"; }
    wait_until eval 'tool ps --name lab; grep -q "^ *1 halted .* halted by gdb-multiarch" out' || { cat out; fail "not halted"; }
    grep -Eq '^ *0 (running|exited)' out || { cat out; fail "the other one does not go on"; }
    printf 'backtrace\nall continue &\n' >&3
    wait "$loader"
    printf 'stop\nshell sleep 1\nquit\n' >&3
    exec 3>&-
    wait "$gdb_pid"
    gdb_says 'Thread 2\.1 .*hit Breakpoint 1' '^(\(gdb\) )*#0 +alone'
    loader=
    machine_down
}

gdb_is_content() {
    ! grep -Ei 'cannot|exception|error' gdb || { cat gdb; fail "GDB was not content"; }
}

# GDB is left at the end of its input, while both go on.
left_going() {
    machine_up empty
    printf 'all continue &\n' | timeout -k 5 "$limit_seconds" "$ecube" debug --name lab -- -nx >gdb 2>&1 || { cat gdb; fail "GDB failed"; }
    gdb_is_content
    wait_until eval 'tool ps --name lab; ! grep -q halted out' || { cat out; fail "a node does not go on"; }
    debugged 1 -- -nx -batch -ex 'info registers'
    machine_down
}

# fields FILE - registers that GDB has shown, as "name value" lines.
fields() {
    sed -n 's/^\(r[0-9]*\|sp\|lr\|pc\|cpsr\|fpscr\) *\(0x[0-9a-f]*\).*/\1 \2/p' "$1"
}

core_of_spinning_node() {
    machine_up spinning
    # In user mode GDB at the live node reads what the program may read; the core has the kernel's memory, too.
    looks="-ex 'info registers' -ex 'info registers fpscr' -ex 'echo looks\\n' -ex backtrace -ex 'x/2xw \$sp' -ex 'x/16xw $(board_number IMAGE_BASE)' -ex 'x/4i \$pc'"
    # One that is halted stays so; then both see the same.
    mkfifo commands
    gdb-multiarch -nx -q -ex "target remote $XDG_RUNTIME_DIR/ecube-$(id -u)-lab/n1.gdb" <commands >/dev/null 2>&1 &
    gdb_pid=$!
    exec 3>commands
    wait_until eval 'tool ps --name lab; grep -q "halted by gdb-multiarch" out' || { cat out; fail "not halted"; }
    kill -9 "$gdb_pid"
    wait "$gdb_pid"
    exec 3>&-
    wait_until eval 'tool ps --name lab; grep -q "nobody debugs it" out' || { cat out; fail "held by a dead GDB"; }
    tool_succeeds core --name lab 1
    [ -s core.1 ] || fail "no core.1"
    arm-none-eabi-readelf -lW core.1 | sed -n 's/^  LOAD .* 0x'$image_digits'[0-9a-f]*\( 0x[0-9a-f]*\)\{3\} \(...\) .*/\2/p' |
        head -n 3 | tr '\n' ',' >rights
    [ "$(cat rights)" = 'R E,R  ,RW ,' ] || { cat rights; fail "the core has other rights"; }
    tool_succeeds ps --name lab
    grep -q '^ *1 halted' out || { cat out; fail "it was halted, and is not any more"; }
    eval debugged_once 1 "$misbehave" -- -nx -batch "$looks"
    # It may have been halted in the kernel, which serves its links.
    eval gdb-multiarch -nx -batch -ex "'add-symbol-file $kernel'" "$looks" "$misbehave" core.1 >core.gdb 2>&1
    fields gdb >live && fields core.gdb >dead
    [ "$(wc -l <dead)" -ge 17 ] && cmp live dead || { cat gdb core.gdb; fail "other registers"; }
    sed -e '1,/^looks/d' -e '/^\[Inferior/d' gdb >live
    sed '1,/^looks/d' core.gdb >dead
    if grep -q '^#0 .* kernel_text_start ()' dead && [ "${vectors:-0}" -lt 3 ]; then
        vectors=$((${vectors:-0} + 1)) # halted on a vector, where the program's stack is not in sight: another try
        machine_down
        rm core.1 commands
        core_of_spinning_node
        return
    fi
    grep -q '^#[0-9]* .* alone (' dead && cmp live dead || { diff live dead; cat dead; fail "other memory or backtrace"; }
    machine_down
}

core_of_running_node() {
    machine_up empty
    # A GDB that was there before has changed how QEMU's stub wants to be left.
    debugged 1 -- -nx -batch -ex 'info registers'
    tool_succeeds core --name lab 1
    tool_succeeds core --name lab 0
    [ -s core.1 ] && [ -s core.0 ] || fail "no cores"
    tool_succeeds ps --name lab
    ! grep halted out || { cat out; fail "it ran, and does not any more"; }
    machine_down
}

core_bad_input() {
    machine_up empty
    tool_fails 2 "'2' is no node of cube:1" core --name lab 2
    tool_fails 2 'name the node' core --name lab
    tool_fails 2 'cannot write \.: it is not a file' core --name lab 0 -o .
    tool_fails 2 'cannot write nowhere/core: No such file' core --name lab 0 -o nowhere/core
    tool_fails 2 "'2' is no node of cube:1" debug --name lab 2
    tool_fails 2 'cannot read no\.elf: No such file' debug --name lab 1 no.elf
    tool_fails 2 'has no JTAG chain' debug --name lab --openocd 1
    tool_fails 2 'has no JTAG chain' openocd --name lab
    tool_fails 2 "name the node, as in 'ecube debug --openocd 3'" debug --name lab --openocd
    PATH=$PWD tool_without_gdb
    [ -z "$(find . -name 'core*')" ] || fail "a file is left"
    machine_down
}

tool_without_gdb() {
    "$ecube" debug --name lab 1 2>err >out
    status=$?
    PATH=/usr/bin:/bin
    [ "$status" -eq 2 ] && grep -q 'gdb-multiarch is not in PATH' err || { cat err; fail "status $status"; }
}

held_node() {
    machine_up empty
    timeout -k 5 "$limit_seconds" "$ecube" debug --name lab 1 -- -nx -batch -ex 'shell touch held; while [ ! -e go ]; do sleep 0.1; done' >gdb 2>&1 </dev/null &
    gdb_pid=$!
    wait_until test -e held || { cat gdb; fail "GDB does not come so far"; }
    tool_fails 2 'node 1 is held by gdb-multiarch \(process [0-9]+\)' debug --name lab 1
    tool_fails 2 'node 1 is held by gdb-multiarch \(process [0-9]+\)' debug --name lab
    tool_fails 2 'node 1 is held by gdb-multiarch \(process [0-9]+\)' core --name lab 1
    tool_succeeds core --name lab 0 -o other
    tool_succeeds ps --name lab --json ps.json
    [ "$("$json_get" ps.json nodes 1 debugger state)" = halted ] || { cat ps.json; fail "not halted"; }
    : >go
    wait "$gdb_pid" || { cat gdb; fail "GDB failed"; }
    loader=
    machine_down
}

# A node may stand for longer than --patience and --timeout while nobody waits for it.
clocks_stand() {
    machine_up empty --patience 5s
    timeout -k 5 "$limit_seconds" "$ecube" debug --name lab 1 "$misbehave" -- -nx -batch -ex 'break alone' -ex continue \
        -ex 'shell touch held; while [ ! -e go ]; do sleep 0.1; done' >gdb 2>&1 </dev/null &
    gdb_pid=$!
    wait_until grep -q '^Breakpoint 1' gdb || { cat gdb; fail "no breakpoint"; }
    "$ecube" load --name lab --timeout 6s "$misbehave" exit 1 7 >load.out 2>load.err &
    loader=$!
    wait_until test -e held || { cat gdb load.err; fail "it does not stop"; }
    sleep 8
    : >go
    wait "$loader"
    [ $? -eq 7 ] || { cat load.err; fail "the run ended otherwise"; }
    wait "$gdb_pid"
    loader=
    machine_down
}

server_ends() {
    machine_up empty
    "$ecube" console --name lab >console.out 2>&1 &
    console=$!
    sleep 0.5
    kill -9 "$(processes ecube-jtag | cut -d' ' -f1)"
    wait_until grep -q 'no node can be debugged any more' console.out || { cat console.out; fail "nobody is told"; }
    tool load --name lab "$misbehave" exit 1 7
    [ "$status" -eq 7 ] || fail "status $status: the machine does not live on"
    machine_down
    wait "$console"
}

through_openocd() {
    machine_up spinning --jtag
    debugged --openocd 1 "$misbehave" -- -nx -batch -ex backtrace -ex 'info symbol trap_call' -ex stepi -ex 'print $sp != 0'
    gdb_says '^#[0-9]+ .*never_return' '^#[0-9]+ .* alone \(' 'trap_call in section' '^\$1 = 1$'
    tool_succeeds ps --name lab
    grep -q 'computes in never_return' out || { cat out; fail "the node does not go on"; }
    printf 'backtrace\nstepi\ndetach\nquit\n' | timeout -k 5 "$limit_seconds" "$ecube" debug --name lab --openocd 1 -- -nx >gdb 2>&1 ||
        { cat gdb; fail "GDB failed"; }
    gdb_says '#[0-9]+ .*never_return'
    ! grep -i 'error\|warning' gdb || { cat gdb; fail "GDB was not content"; }
    tool_succeeds ps --name lab
    grep -q 'computes in never_return' out || { cat out; fail "the node does not go on"; }
    machine_down
}

# GDB asks once, or it would take the second answer for that of its next question.
slow_openocd() {
    machine_up spinning --jtag
    mkdir bin
    printf '#!/bin/sh\nsleep 7\nexec %s "$@"\n' "$(command -v openocd)" >bin/openocd
    chmod +x bin/openocd
    (PATH=$PWD/bin:$PATH debugged --openocd 1 -- -nx -batch -ex backtrace -ex 'show remotetimeout') || exit 1
    gdb_says '^#[0-9]+ .*never_return'
    ! grep -i 'error\|unexpectedly\|timed out' gdb || { cat gdb; fail "GDB was not content"; }
    machine_down
}

make_debug() {
    timeout -k 5 "$limit_seconds" env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -s -C "$source_tree" B="${build#"$source_tree"/}" NETWORK=cube:1 debug "$@"
}

# At its end GDB leaves, and the machine ends; what runs is told so.
debug_target() {
    make_debug </dev/null >gdb 2>&1 || { cat gdb; fail "make debug failed"; }
    gdb_says '^debug-[0-9]+ is up: cube:1' 'Breakpoint 1 at'
    gdb_is_content
    wait_until no_processes || fail "processes outlive make debug"
    mkfifo commands
    make_debug GDB_ARGS=-nx <commands >gdb 2>&1 &
    gdb_pid=$!
    exec 3>commands
    wait_until grep -q 'Thread 1.1 hit Breakpoint 1' gdb && wait_until grep -q 'Thread 2.1 hit Breakpoint 1' gdb || { cat gdb; fail "no breakpoint"; }
    printf 'node 1\nbacktrace\nclear main\nall continue &\n' >&3
    wait_until eval 'tool ps; [ "$(grep -c exited out)" -eq 2 ]' || { cat gdb out; fail "the program does not go on"; }
    printf 'quit\n' >&3
    exec 3>&-
    wait "$gdb_pid" || { cat gdb; fail "make debug failed"; }
    gdb_says '^(\(gdb\) )*#0 +main \('
    gdb_is_content
    wait_until no_processes || fail "processes outlive make debug"
}

check "list says that nothing is up" nothing_up
check "list shows every machine that is up, and which is broken" two_machines
check "list shows a machine that does not answer as silent" silent_machine
check "list shows a machine while it boots" booting_machine
check "debug opens GDB at a node with symbols of kernel and program, and lets it go on" one_node
check "all nodes in one GDB: one stops at a breakpoint and the others go on" all_nodes
check "a GDB of all nodes that is left while they go on leaves them so without a complaint" left_going
check "a core has the registers, memory and backtrace of the node, which stays halted" core_of_spinning_node
check "a node of which a core was taken runs on" core_of_running_node
check "debug, core and openocd refuse in one line what they cannot do" core_bad_input
check "a node that a debugger has is held, and others are told by whom" held_node
check "the clocks of the tool stand still while a node is halted" clocks_stand
check "a machine whose server of debuggers is killed says so, and lives on" server_ends
check "debug opens GDB at a node through OpenOCD, with commands on its line or its input, and lets it go on" through_openocd
check "an OpenOCD that is slow to start confuses no GDB" slow_openocd
check "make debug needs no terminal, and ends with its commands" debug_target
cases_done
