# OpenOCD and its GDB server at a mesh: one JTAG chain with a TAP per node, from an unmodified OpenOCD.
. tests/system/testing.sh
. tests/system/openocd.sh

lists_nodes() {
    tool_succeeds up --mesh cube:2 --jtag --name lab
    grep -q 'ecube openocd --name lab' out || { cat out; fail "up does not say how to go on"; }
    openocd_says lab 'init; scan_chain; targets'
    count_of 'n[0-3]\.cpu +Y +0x4ba00477' 4
    count_of 'n[0-3] +cortex_a .* running' 4
    tool_succeeds down --name lab
}

halts_and_resumes() {
    tool_succeeds up --mesh cube:2 --jtag --name lab
    openocd_says lab 'init; targets n2; halt; echo "at [dict get [n2 get_reg pc] pc]"'
    said '^at 0x401'
    tool_succeeds ps --name lab
    grep -Eq '^ +2 .*halted' out || { cat out; fail "ps does not say that node 2 is halted"; }
    openocd_says lab 'init; targets n2; resume; targets'
    count_of 'n[0-3] +cortex_a .* running' 4
    openocd_says lab 'init; all halt; targets; all resume'
    count_of 'n[0-3] +cortex_a .* halted' 4
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

blank_nodes() {
    tool_succeeds up --mesh cube:2 --blank --jtag --name lab
    tool_fails 2 'blank' load --name lab "$counter"
    openocd_says lab 'init; n1 arp_poll; targets n1; resume; sleep 300; targets'
    [ "$(process_count qemu-system)" -eq 4 ] || fail "a blank node that was told to run has ended"
    openocd_says lab "program_all $kernel verify"
    count_of 'programmed kernel.elf' 4
    limit_seconds=60
    wait_until 60 "$ecube" load -q --name lab "$counter" 10 >printed 2>load_err || { cat load_err; fail "no load"; }
    printed_sums 4 10
    tool_succeeds down --name lab
}

programs_each() {
    tool_succeeds up --mesh cube:1 --blank --jtag --name lab
    for node in n1 n0; do
        openocd_says lab "targets $node; program $kernel verify reset"
        no_errors said
    done
    wait_until 60 "$ecube" load -q --name lab "$counter" 10 >printed 2>load_err || { cat load_err; fail "no load"; }
    printed_sums 2 10
    tool_succeeds down --name lab
}

boots_by_openocd() {
    tool_succeeds up --mesh cube:2 --program openocd --name lab
    tool_succeeds load --name lab "$examples/complete_exchange.elf" 1000
    tool_succeeds down --name lab
}

# A program under OpenOCD: breakpoints of both kinds, a watchpoint, steps, registers, memory; then it goes on.
debugs_program() {
    at=$(symbol "$counter" count) sum_at=$(symbol "$counter" sum)
    tool_succeeds up --mesh cube:2 --jtag --name lab
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
    load_ends 0
    printed_sums 4 30
    tool_succeeds down --name lab
}

check "OpenOCD finds a TAP and a processor per node" lists_nodes
check "OpenOCD halts one node and all, ps says so, and the machine goes on" halts_and_resumes
check "blank nodes get their kernel over the chain, and one that is told to run before stays" blank_nodes
check "each node can be programmed by itself" programs_each
check "OpenOCD boots a whole machine, which then runs the complete exchange" boots_by_openocd
check "a program halts at breakpoints and watchpoints and steps, and its result is the same" debugs_program
cases_done
