# OpenOCD and its GDB server at a machine: one JTAG chain with a TAP per node, from an unmodified OpenOCD.
# class: waits
. tests/system/testing.sh
. tests/system/openocd.sh

lists_nodes() {
    tool_succeeds up --network cube:2 --jtag --name lab
    grep -q 'ecube openocd --name lab' out || { cat out; fail "up does not say how to go on"; }
    openocd_says lab 'init; scan_chain; targets'
    count_of 'n[0-3]\.cpu +Y +0x4ba00477' 4
    count_of 'n[0-3] +cortex_a .* running' 4
    tool_succeeds down --name lab
}

halts_and_resumes() {
    tool_succeeds up --network cube:2 --jtag --name lab
    openocd_says lab 'init; targets n2; halt; echo "at [dict get [n2 get_reg pc] pc]"'
    said "^at 0x$(board_number KERNEL_BASE | cut -c 3-5)"
    tool_succeeds ps --name lab
    grep -Eq '^ +2 .*halted' out || { cat out; fail "ps does not say that node 2 is halted"; }
    openocd_says lab 'init; targets n2; resume; targets'
    count_of 'n[0-3] +cortex_a .* running' 4
    openocd_says lab 'init; all halt; targets; all resume'
    count_of 'n[0-3] +cortex_a .* halted' 4
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

# blank_nodes DIMENSIONS
blank_nodes() {
    node_count=$((1 << $1))
    tool_succeeds up --network "cube:$1" --blank --jtag --name lab
    tool_fails 2 'blank' load --name lab "$counter"
    openocd_says lab 'init; targets n1; halt; resume; sleep 300; targets; halt; echo "at [n1 get_reg pc]"'
    said '^at pc 0x00000000'
    [ "$(process_count qemu-system)" -eq $node_count ] || fail "a blank node that was told to run has ended"
    openocd_says lab "program_all $kernel verify"
    count_of 'programmed kernel.elf' $node_count
    limit_seconds=60
    wait_until "$ecube" load -q --name lab "$counter" 10 >printed 2>load_err || { cat load_err; fail "no load"; }
    printed_sums $node_count 10
    tool_succeeds down --name lab
}

programs_each() {
    tool_succeeds up --network cube:1 --blank --jtag --name lab
    for node in n1 n0; do
        openocd_says lab "targets $node; program $kernel verify reset"
        no_errors said
    done
    wait_until "$ecube" load -q --name lab "$counter" 10 >printed 2>load_err || { cat load_err; fail "no load"; }
    printed_sums 2 10
    tool_succeeds down --name lab
}

# boots_by_openocd DIMENSIONS
boots_by_openocd() {
    tool_succeeds up --network "cube:$1" --program openocd --name lab
    tool_succeeds load --name lab "$examples/complete_exchange.elf" 1000
    tool_succeeds down --name lab
}

# A program under OpenOCD: breakpoints of both kinds, a watchpoint, steps, registers, memory; then it goes on.
debugs_program() {
    at=$(symbol "$counter" count) sum_at=$(symbol "$counter" sum)
    tool_succeeds up --network cube:2 --jtag --name lab
    openocd_stays lab "targets n1; bp $at 2 hw; touch waits; wait_halt 60000; echo \"at [dict get [n1 get_reg pc] pc]\"; reg r0
        rbp $at; step; step; echo \"sum [n1 read_memory $sum_at 32 1]\"; n1 set_reg {r3 7}
        wp $sum_at 4 w; resume; wait_halt 60000; rwp $sum_at
        bp $at 2; resume; wait_halt 60000; echo \"soft at [dict get [n1 get_reg pc] pc]\"
        echo \"memory [n1 read_memory $at 16 1]\"; rbp $at
        echo \"mode [dict get [n1 get_reg cpsr] cpsr] d0 [dict get [n1 get_reg d0] d0] sp [dict get [n1 get_reg sp_svc] sp_svc]\"
        resume"
    comes waits
    start_load "$counter" 30
    openocd_ends
    has_stayed_saying "^at $(printf '0x%08x' "$at")"
    has_stayed_saying "^soft at $(printf '0x%08x' "$at")"
    load_ends 0
    printed_sums 4 30
    tool_succeeds down --name lab
}

# in_count PATTERN - where the first such instruction of counter.elf's `count` lies.
in_count() {
    arm-none-eabi-objdump -d --disassemble=count "$counter" | sed -n "/$1/{s/^ *\([0-9a-f]*\):.*/0x\1/p;q}"
}

# The instruction before is WFI; then steps, and the interrupt that wakes it for them is taken back.
asleep() {
    openocd_says lab "init; targets n1; halt; echo \"before [n1 read_memory [expr {[dict get [n1 get_reg pc] pc] - 2}] 16 1]\"
        step; step; echo \"pending [n1.bus read_memory $(board_at GIC_DISTRIBUTOR 0xf2c) 32 1]\"; resume"
    grep -q '^before 0xbf30' said
}

in_fault_handler() {
    fault=$(symbol "$kernel" trap_fault)
    openocd_stays lab "targets n1; bp $fault 2 hw; touch fault; wait_halt 60000; rbp $fault
        echo \"dfar [format 0x%x [arm mrc 15 0 6 0 0]] at [dict get [n1 get_reg pc] pc] by [dict get [n1 get_reg -force spsr_abt] spsr_abt]\"
        step; step; echo \"abt [n1 get_reg -force lr_abt]\"; resume"
    comes fault
    start_load "$programs/misbehave.elf" kernel 1
    openocd_ends
    no_errors stays
    # By the emulator's abort mode, from there or from user mode.
    has_stayed_saying "^dfar $(board_number KERNEL_BASE) at $(printf '0x%08x' "$fault") by 0x"
    load_ends 139
    grep -q "at address $(board_number KERNEL_BASE) .* in write_memory" load_err || { cat load_err; fail "another fault is told"; }
}

# What the debugger writes into r0 and d6 is what the program counts with; a step of 1 becomes 101, 0.5 * 2 becomes 1000.
in_user_mode() {
    at=$(symbol "$counter" count) sum_at=$(symbol "$counter" sum)
    load_at=$(in_count '	ldr	') store_at=$(in_count '	str	') add_at=$(in_count vadd.f64)
    double=$(arm-none-eabi-objdump -d --disassemble=count "$counter" | sed -n 's/.*vadd.f64.*, \(d[0-9]*\)$/\1/p')
    openocd_stays lab "targets n1; bp $at 2 hw; touch user; wait_halt 60000; rbp $at
        echo \"[n1 get_reg r0] sp [dict get [n1 get_reg -force sp_usr] sp_usr]\"; n1 set_reg {r0 101}
        wp $sum_at 4 r; resume; wait_halt 60000; echo \"read at [n1 get_reg pc]\"; rwp $sum_at; step
        wp $sum_at 4 a; resume; wait_halt 60000; echo \"accessed at [n1 get_reg pc]\"; rwp $sum_at; step
        wp $sum_at 4 a; resume; wait_halt 60000; echo \"accessed again at [n1 get_reg pc]\"; rwp $sum_at
        bp $add_at 2 hw; resume; wait_halt 60000; rbp $add_at; n1 set_reg {$double 0x408f400000000000}; resume"
    comes user
    start_load "$counter" 30
    openocd_ends
    no_errors stays
    count=$(grep -c 'halted in Thumb state due to .*current mode: User' stays)
    [ "$count" -eq 7 ] || { cat stays; fail "$count stops in user mode"; }
    has_stayed_saying "^r0 0x00000001 sp 0x$stack_digits"
    has_stayed_saying "^read at pc $load_at"
    has_stayed_saying "^accessed at pc $store_at"
    has_stayed_saying "^accessed again at pc $load_at"
    load_ends 0
    grep -q '\[0\] sum 465 halves 232\.5$' printed || { cat printed; fail "node 0 has counted wrong"; }
    grep -q '\[1\] sum 565 halves 1281\.5$' printed || { cat printed; fail "node 1 has not what the debugger wrote"; }
}

any_state() {
    tool_succeeds up --network cube:1 --jtag --name lab
    wait_until asleep || { cat said; fail "the node does not go to sleep"; }
    no_errors said
    said '^pending 0x?0*$'
    in_fault_handler
    in_user_mode
    tool_succeeds down --name lab
}

ps_shows() {
    tool_succeeds ps --name lab
    grep -Eq -- "$1" out
}

# Longer than --timeout, before the program comes and while it runs.
long_halt() {
    at=$(symbol "$counter" count)
    tool_succeeds up --network cube:1 --jtag --name lab
    openocd_stays lab "targets n1; halt; touch held; sleep 3000; bp $at 2 hw; resume; wait_halt 60000; touch stands; sleep 8000; rbp $at; resume"
    comes held
    start_load --timeout 5s "$counter" 20
    comes stands
    for i in 1 2 3 4 5 6; do
        ps_shows '^ *1 halted .* halted by openocd \(process [0-9]+\)' || { cat out; fail "ps does not say who has halted it"; }
        ! grep -i 'dead\|broken' out || fail "ps takes a halted node for dead"
        sleep 1
    done
    openocd_ends
    load_ends 0
    printed_sums 2 20
    grep -Eq 'the download waits: node 1 \(rank 1\) is halted by openocd \(process [0-9]+\)' load_err || { cat load_err; fail "load does not say who is waited for"; }
    ! grep -i dead load_err || fail "load takes a halted node for dead"
    tool_succeeds down --name lab
}

# openocd_fails PATTERN COMMANDS - with OpenOCD's own status, and one line that says why.
openocd_fails() {
    timeout -k 5 "$limit_seconds" "$ecube" openocd --name lab -- -c "$2" >said 2>&1
    [ $? -eq 1 ] || { cat said; fail "another status than 1"; }
    count_of "$1" 1
    [ "$(grep -Ec '(^|: )Error' said)" -le 1 ] || { cat said; fail "more than one line"; }
}

bad_input() {
    tool_succeeds up --network cube:1 --jtag --name lab
    echo 'no image' >text
    for command in program program_all; do
        openocd_fails '/bin/true is an image for another processor: a node takes a 32-bit ELF image for ARM$' "$command /bin/true"
        openocd_fails 'text is no ELF image$' "$command text"
        openocd_fails 'cannot read nothing$' "$command nothing"
        openocd_fails "program: 'verfy' is none of verify, reset, exit\$" "$command $kernel verfy"
    done
    openocd_fails 'bin/true is an image for another processor' 'program /bin/true exit'
    openocd_fails 'node_reset n1 go: say halt or run' 'init; node_reset n1 go'
    openocd_stays lab 'touch listens; await over'
    comes listens
    port=$(sed -n 's/.*Listening on port \([0-9]*\) for gdb.*/\1/p' stays | head -n 1)
    # OpenOCD goes on without this port of GDB, and ends without one for telnet.
    openocd_says lab "gdb_port $port; init"
    count_of "couldn't bind gdb to socket on port $port: Address already in use" 1
    openocd_fails "couldn't bind telnet to socket on port $port: Address already in use" "telnet_port $port"
    : >over
    openocd_ends
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

check "OpenOCD finds a TAP and a processor per node" lists_nodes
check "OpenOCD halts one node and all, ps says so, and the machine goes on" halts_and_resumes
check "blank nodes get their kernel over the chain, and one that is told to run before stays" blank_nodes 1
check "each node can be programmed by itself" programs_each
check "OpenOCD boots a whole machine, which then runs the complete exchange" boots_by_openocd 1
check_long "so do four nodes" blank_nodes 2
check_long "so does a machine of four nodes" boots_by_openocd 2
check "a program halts at breakpoints, those in its read-only code too, at watchpoints, and steps, and its result is the same" debugs_program
check "a node stops asleep, in its fault handler and in user mode, at any access, and goes on as registers were written" any_state
check "a program's time stands still while OpenOCD has halted a node for longer than --timeout" long_halt
check "wrong images, words and occupied ports are one line each, and change nothing" bad_input
cases_done
