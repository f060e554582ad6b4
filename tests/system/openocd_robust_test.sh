# What may happen to OpenOCD at a machine: rounds of resets, death on either side, garbage, several clients, nodes in any state.
# class: waits
. tests/system/testing.sh
. tests/system/openocd.sh
with_sanitizers

misbehave=$programs/misbehave.elf
chain=ecube-$(id -u)-lab/chain

# Tcl: every node is in this state.
all_are='proc all_are {state} {
    foreach node [nodes] { if {[$node curstate] ne $state} { error "$node is [$node curstate], not $state" } } }'

# ps_says PATTERN - of the machine `lab`, at once or soon.
ps_says() {
    wait_until ps_shows "$1" || { cat out err; fail "ps does not say '$1'"; }
}

ps_shows() {
    tool ps --name lab
    grep -Eq -- "$1" out
}

rounds="$all_are
    proc round {} {
        reset halt; all_are halted
        foreach node [nodes] { if {[dict get [\$node get_reg pc] pc] == 0} { error \"\$node is nowhere\" } }
        reset run; all_are running
        all halt; all_are halted
    }"

# rounds_of_resets OF_ONE OTHERS - so many in one OpenOCD, then in one each.
rounds_of_resets() {
    tool_succeeds up --network cube:2 --blank --jtag --name lab
    openocd_says lab "$rounds; program_all $kernel; for {set i 0} {\$i < $1} {incr i} { round }; all resume"
    no_errors said
    for i in $(seq "$2"); do
        openocd_says lab "$rounds; init; round; all resume"
        no_errors said
    done
    tool_succeeds down --name lab
}

node_dies() {
    tool_succeeds up --network cube:2 --jtag --name lab
    openocd_stays lab "targets n0; halt; touch polls; await killed; sleep 500
        targets n1; halt; echo \"at [dict get [n1 get_reg pc] pc]\"; echo \"memory [n1.bus read_memory $(board_number KERNEL_BASE) 32 1]\"
        if {![catch {n3.bus read_memory $(board_number KERNEL_BASE) 32 1}]} { error {the memory of a dead node} }
        targets n3; if {![catch {halt 1000}]} { error {a dead node halts} }
        targets n0; step; resume; targets n1; resume; touch done; await over"
    comes polls
    ps_says '^ *0 halted .* halted by openocd'
    tool_succeeds kill --name lab 3
    : >killed
    comes done
    tool_succeeds ps --name lab
    grep -q 'broken, dead: node 3' out || { cat out; fail "ps does not name the dead node"; }
    tool_succeeds list
    grep -q '^lab .* broken' out || { cat out; fail "list does not show it"; }
    tool_succeeds core --name lab 1
    tool_fails any '.' core --name lab 3
    : >over
    openocd_ends
    has_stayed_saying "^at 0x$(board_number RAM_BASE | cut -c 3-4)"
    has_stayed_saying '^memory 0x'
    tool_succeeds down --name lab
}

# At a breakpoint that it has planted, in the middle of many scans.
openocd_dies() {
    at=$(symbol "$counter" count)
    tool_succeeds up --network cube:1 --jtag --name lab
    openocd_stays lab "targets n1; bp $at 2 hw; touch waits; wait_halt 60000; rbp $at; echo \"code [n1.bus read_memory $at 32 2]\"
        bp $at 2; bp [expr {$at + 4}] 4 hw; resume; wait_halt 60000; rbp [expr {$at + 4}]; resume; wait_halt 60000
        n1 set_reg {r0 77}; touch halted; while 1 { dump_image /dev/null $(board_number KERNEL_BASE) 0x8000 }"
    comes waits
    start_load "$counter" 20
    comes halted
    kill -9 "$openocd"
    wait "$openocd"
    ps_says '^ *1 halted .* nobody debugs it'
    code=$(sed -n 's/^code //p' stays)
    openocd_says lab "init; targets; targets n1; echo \"at [dict get [n1 get_reg pc] pc]\"
        echo \"code [n1.bus read_memory $at 32 2]\"; resume; targets"
    no_errors said
    said 'n1 +cortex_a .* halted'
    said "^at $(printf '0x%08x' "$at")"
    [ "$(sed -n 's/^code //p' said)" = "$code" ] || { cat said stays; fail "there is something else in the program's memory"; }
    load_ends 0
    printed_sums 2 20
    tool_succeeds down --name lab
}

# Again and again, wherever it is just then: the next one works at once.
openocd_dies_often() {
    tool_succeeds up --network cube:2 --jtag --name lab
    for i in 1 2 3 4 5 6; do
        openocd_stays lab "all halt; touch begins.$i; while 1 { foreach node [nodes] {
            targets \$node; load_image $kernel; step; mdw $(board_number KERNEL_BASE) 16 } }"
        comes begins.$i
        sleep "0.0$((i * 15 % 10))"
        kill -9 "$openocd"
        wait "$openocd"
        openocd_says lab "$all_are; init; all_are halted; all resume; all_are running"
        no_errors said
    done
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

intruder() {
    "$build/tests/intruder" "$XDG_RUNTIME_DIR/$chain" "$@"
}

# Its neighbours are quiet clients, and a program.
garbage_on_the_chain() {
    tool_succeeds up --network cube:1 --jtag --name lab
    start_load "$counter" 200
    for i in 1 2 3 4; do
        intruder half || fail "no connection"
    done
    mkfifo deaf crowd
    intruder deaf <deaf >deaf.out &
    deaf=$!
    exec 3>deaf
    intruder crowd 20 <crowd >crowd.out &
    crowd=$!
    exec 4>crowd
    wait_until grep -q ready deaf.out && wait_until grep -q ready crowd.out || fail "no connections"
    timeout -k 5 60 "$ecube" openocd --name lab -- -c 'init; shutdown' >said 2>&1 && { cat said; fail "one client too many"; }
    exec 4>&-
    wait "$crowd"
    wait_until openocd_works || { cat said; fail "OpenOCD has no place"; }
    exec 3>&-
    wait "$deaf"
    load_ends 0
    printed_sums 2 200
    tool_succeeds down --name lab
}

openocd_works() {
    timeout -k 5 60 "$ecube" openocd --name lab -- -c 'init; targets n1; halt; resume; shutdown' >said 2>&1
}

# It may well reset nodes.
noise_on_the_chain() {
    tool_succeeds up --network cube:1 --blank --jtag --name lab
    intruder every || fail "no connection"
    for seed in 1 2 3; do
        intruder noise $seed || fail "no connection"
    done
    [ "$(process_count ecube-jtag)" -eq 1 ] || fail "it has ended"
    openocd_says lab "program_all $kernel verify"
    no_errors said
    wait_until "$ecube" load -q --name lab "$counter" 10 >printed 2>load_err || { cat load_err; fail "no load"; }
    printed_sums 2 10
    tool_succeeds down --name lab
}

check "rounds of reset halt, reset run and all halt fail in no way, in one OpenOCD and in several" rounds_of_resets 2 2
check_long "nor do ten and three" rounds_of_resets 10 3
check "a node that is killed gives errors, and OpenOCD and the tool go on with the others" node_dies
check "an OpenOCD that is killed leaves a node halted with nothing planted, and the next one lets it go on" openocd_dies
check "an OpenOCD that is killed anywhere does not disturb the next one" openocd_dies_often
check "half scans, clients that do not read, and too many of them disturb nobody" garbage_on_the_chain
check "noise on the chain does it no harm" noise_on_the_chain
cases_done
