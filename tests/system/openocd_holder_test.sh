# Who has a node: two OpenOCDs at one machine and at two, OpenOCD against GDB.
# class: waits
. tests/system/testing.sh
. tests/system/openocd.sh
with_sanitizers

# refused HOLDER NODE COMMANDS - OpenOCD at `lab` ends with status 1, and one line says who has the node.
refused() {
    timeout -k 5 "$limit_seconds" "$ecube" openocd --name lab -- -c "init; $3; shutdown" >said 2>&1
    [ $? -eq 1 ] || { cat said; fail "another status than 1"; }
    count_of "^node $2 is held by $1 \\(process [0-9]+\\): it can have one debugger\$" 1
    no_errors said
}

# gdb_refused NODE - through its socket, and by the tool.
gdb_refused() {
    gdb-multiarch -nx -batch -ex "target remote $XDG_RUNTIME_DIR/ecube-$(id -u)-lab/n$1.gdb" >gdb 2>&1 && fail "GDB was let in"
    grep -q "node $1 is held by openocd (process [0-9]*)\$" gdb || { cat gdb; fail "GDB was not told who has the node"; }
    tool_fails 2 "^ecube: node $1 is held by openocd \\(process [0-9]+\\): it can have one debugger\$" debug --name lab "$1"
    tool_fails 2 "^ecube: node $1 is held by openocd \\(process [0-9]+\\): it can have one debugger\$" debug --name lab --openocd "$1"
    tool_fails 2 "node $1 is held by openocd" core --name lab "$1"
}

second_openocd() {
    tool_succeeds up --network cube:2 --jtag --name lab
    openocd_stays lab "targets n1; halt; n1 set_reg {r1 0x1234}; step; touch held; await go; echo \"kept [n1 get_reg -force r1]\"; resume
        targets n3; halt"
    comes held
    refused openocd 1 'targets n1; halt'
    refused openocd 1 'node_reset n1 halt'
    refused openocd 1 'reset halt'
    refused openocd 1 "targets n1; bp $(board_number KERNEL_BASE) 4 hw"
    openocd_says lab "init; targets n1; resume; targets n2; halt; targets; resume; n1.bus read_memory $(board_number KERNEL_BASE) 32 1"
    said 'n1 +cortex_a .* running'
    said 'n2 +cortex_a .* halted'
    gdb_refused 1
    : >go
    openocd_ends
    has_stayed_saying '^kept r1 0x00001234'
    no_errors stays
    # It has left node 3 halted, and nobody has it.
    openocd_says lab 'init; targets n3; echo "was [n3 curstate]"; all halt; targets; all resume'
    no_errors said
    said '^was halted'
    count_of 'n[0-3] +cortex_a .* halted' 4
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

openocd_and_gdb() {
    tool_succeeds up --network cube:0 --jtag --name lab
    mkfifo commands
    "$ecube" debug --name lab 0 -- -nx <commands >gdb.stays 2>&1 &
    gdb=$!
    exec 3>commands
    wait_until eval 'tool ps --name lab; grep -q "halted by gdb-multiarch" out' || { cat gdb.stays; fail "GDB does not come"; }
    refused gdb-multiarch 0 'halt'
    refused gdb-multiarch 0 'reset halt'
    refused gdb-multiarch 0 "program $kernel"
    echo 'detach' >&3
    exec 3>&-
    wait "$gdb" || { cat gdb.stays; fail "GDB failed"; }
    openocd_says lab 'init; halt; resume'
    no_errors said
    tool_succeeds load -q --name lab "$counter" 10
    tool_succeeds down --name lab
}

# Each has its ports and its chain; both are in the middle of something.
two_machines() {
    tool_succeeds up --network cube:1 --jtag --name lab
    tool_succeeds up --network cube:0 --jtag --name cache
    openocd_stays lab "all halt; touch lab; await go; for {set i 0} {\$i < 20} {incr i} { all step }; all resume"
    lab=$openocd
    comes lab
    mv stays stays.lab
    openocd_stays cache "halt; touch cache; await go; for {set i 0} {\$i < 20} {incr i} { step }; targets; resume"
    comes cache
    tool_succeeds ps --name cache
    grep -q "halted by openocd (process $openocd)" out || { cat out; fail "ps names another one"; }
    tool_succeeds ps --name lab
    [ "$(grep -c "halted by openocd (process $lab)" out)" -eq 2 ] || { cat out; fail "ps names another one"; }
    : >go
    openocd_ends
    [ "$(grep -c 'cortex_a .* halted' stays)" -eq 1 ] || { cat stays; fail "another number of nodes"; }
    no_errors stays
    wait "$lab" || { cat stays.lab; fail "OpenOCD failed"; }
    no_errors stays.lab
    for name in lab cache; do
        tool_succeeds load -q --name $name "$counter" 10
        tool_succeeds down --name $name
    done
}

check "a second OpenOCD, GDB and the tool are told who has a node, and take it over afterwards" second_openocd
check "OpenOCD is told when GDB has a node, and takes it over afterwards" openocd_and_gdb
check "two OpenOCDs at two machines know nothing of each other" two_machines
cases_done
