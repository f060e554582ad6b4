# The owner of the debug sockets with real emulators and a real GDB, without the tool.
# class: waits
. tests/system/testing.sh

jtag=$build/ecube-jtag-checked
export ASAN_OPTIONS=detect_leaks=0

# What a node is started with, from the board's own file.
read_options() {
    printf 'include board/%s/board.mk\nprint:\n\t@echo $(QEMU_OPTIONS)\n' "$board" | make -s -C "$source_tree" -f - print
}
board_options=$(read_options)
ram=$(board_number RAM_BASE),$(board_number RAM_BYTES)
gic=$(board_number GIC_DISTRIBUTOR)

# node NUMBER OPTION... - one emulator, with its debug sockets in `sockets`; its process is $node.
node() {
    number=$1
    shift
    mkdir -p sockets
    # shellcheck disable=SC2086
    qemu-system-arm $board_options "$@" -gdb "unix:sockets/n$number.stub,server=on,wait=off" \
        -qtest "unix:sockets/n$number.qtest,server=on,wait=off" -qtest-log none >"qemu$number" 2>&1 &
    node=$!
    wait_until test -S "sockets/n$number.qtest" || fail "no node $number"
}

# kernel_node NUMBER - one that runs the kernel, which waits for its neighbours.
kernel_node() {
    node "$1" -kernel "$kernel" -device virtio-serial-device,max_ports=2 -chardev null,id=c0 \
        -device virtserialport,chardev=c0,name=l0,nr=1
}

# serve NODES [OPTION...] - the program under test; what it tells is in `notices`, its process is $served.
serve() {
    mkfifo pipe
    : >notices
    cat pipe >notices &
    "$jtag" --directory sockets --nodes "$@" --ram "$ram" --bus "$ram" \
        --bus "$gic,0x20000" --wake "$gic" --notices 3 3>pipe 2>said &
    served=$!
    wait_until grep -q '^ready$' notices || { cat said; fail "not ready"; }
}

told() {
    wait_until grep -q -- "$1" notices || { cat notices said; fail "nobody told '$1'"; }
}

# gdb_says COMMAND... - one GDB from start to end; what it says is in `gdb`.
gdb_says() {
    for command in "$@"; do printf '%s\n' "$command"; done >commands
    timeout -k 5 "$limit_seconds" gdb-multiarch -nx -batch -ex 'set confirm off' -ex 'set width 0' -x commands >gdb 2>&1
}

# In the background, until it is killed; its process is $gdb.
gdb_stays() {
    for command in "$@"; do printf '%s\n' "$command"; done >stays
    gdb-multiarch -nx -batch -ex 'set confirm off' -x stays >gdb.stays 2>&1 &
    gdb=$!
}

lives() {
    kill -0 "$1" 2>/dev/null
}

# over PID... - ends the program under test and the emulators.
over() {
    kill "$served"
    wait "$served" || { cat said; fail "it ended with $?"; }
    [ ! -s said ] || { cat said; fail "it said something"; }
    for pid in "$@"; do kill "$pid"; wait "$pid"; done
    left=$(find sockets -name '*.gdb')
    [ -z "$left" ] || fail "left: $left"
}

attach_and_detach() {
    kernel_node 0
    serve 1
    gdb_says 'target remote sockets/n0.gdb' 'print/x $sp' 'print $pc != 0' 'x/i $pc' detach || { cat gdb; fail "GDB failed"; }
    grep -q '^\$2 = 1$' gdb || { cat gdb; fail "no program counter"; }
    told 'node 0 halted gdb-multiarch (process [0-9]*)$'
    told 'node 0 running -$'
    ! grep -i 'error\|disconnect' gdb || fail "GDB was not content"
    over "$node"
}

# The instruction before is WFI.
is_asleep() {
    gdb_says 'target remote sockets/n0.gdb' 'print/x *(unsigned short *)($pc - 2)' detach
    grep -q '^\$1 = 0xbf30$' gdb
}

asleep_in_wfi_steps() {
    kernel_node 0
    serve 1 --chain
    wait_until is_asleep || { cat gdb; fail "the node does not go to sleep"; }
    gdb_says 'target remote sockets/n0.gdb' 'set $before = $pc' stepi 'print $pc == $before' stepi stepi detach ||
        { cat gdb; fail "GDB failed"; }
    grep -q '^\$1 = 0$' gdb || { cat gdb; fail "no step"; }
    gdb_says 'target remote sockets/n0.gdb' "print *(unsigned *)$(board_at GIC_DISTRIBUTOR 0xf2c)" detach
    grep -q '^\$1 = 0$' gdb || { cat gdb; fail "an interrupt is left pending"; }
    wait_until is_asleep || { cat gdb; fail "the node does not go to sleep again"; }
    openocd_says 'init; halt; step; step; resume' || { cat openocd; fail "OpenOCD failed"; }
    ! grep '^Error' openocd || fail "OpenOCD was not content"
    over "$node"
}

second_is_refused() {
    kernel_node 0
    serve 1
    gdb_stays 'target remote sockets/n0.gdb' continue
    told "node 0 running gdb-multiarch (process $gdb)"
    gdb_says 'target remote sockets/n0.gdb' && { cat gdb; fail "the second was let in"; }
    grep -q "node 0 is held by gdb-multiarch (process $gdb)\$" gdb || { cat gdb; fail "it was not told who has the node"; }
    [ "$(grep -cv '^warning\|Error in sourced' gdb)" -eq 1 ] || { cat gdb; fail "more than one line"; }
    kill -9 "$gdb"
    told 'node 0 running -$'
    over "$node"
}

killed_gdb_leaves_the_node() {
    kernel_node 0
    serve 1
    gdb_stays 'target remote sockets/n0.gdb' 'set $r0 = 0x1234' 'break *$pc' 'shell sleep 1000'
    told "node 0 halted gdb-multiarch (process $gdb)"
    wait_until grep -q '^Breakpoint 1' gdb.stays || fail "no breakpoint"
    kill -9 "$gdb"
    told 'node 0 halted -$'
    gdb_says 'target remote sockets/n0.gdb' 'print/x $r0' detach
    grep -q '^\$1 = 0x1234$' gdb || { cat gdb; fail "the node is another"; }
    told 'node 0 running -$'
    over "$node"
}

killed_gdb_leaves_no_points() {
    kernel_node 0
    serve 1
    gdb_stays 'target remote sockets/n0.gdb' "break *$(board_at KERNEL_BASE 0x20)" continue
    told "node 0 running gdb-multiarch (process $gdb)"
    kill -9 "$gdb"
    told 'node 0 running -$'
    gdb_says 'target remote sockets/n0.gdb' 'monitor system_reset' "break *$(board_at KERNEL_BASE 0x24)" continue detach
    told '^reset 0$'
    grep -q "^Breakpoint 1, $(board_at KERNEL_BASE 0x24)" gdb || { cat gdb; fail "it stopped elsewhere"; }
    over "$node"
}

blank_node_is_told_to_run() {
    node 0 -S
    serve 1 --blank
    gdb_stays 'target remote sockets/n0.gdb' continue 'print/x $cpsr' stepi 'print/x $pc' detach
    told "node 0 lost gdb-multiarch (process $gdb)"
    kill -INT "$gdb"
    wait_until grep -q '^\$1 = 0x' gdb.stays || { cat gdb.stays; fail "it did not stop"; }
    told "node 0 lost gdb-multiarch (process $gdb)"
    kill -9 "$gdb"
    told 'node 0 lost -$'
    gdb_says 'target remote sockets/n0.gdb' 'print $pc' detach || { cat gdb; fail "GDB failed"; }
    gdb_says 'target remote sockets/n0.gdb' "set *(int *)$(board_number RAM_BASE) = 0xeafffffe" "set \$pc = $(board_number RAM_BASE)" stepi \
        'print/x $pc' detach || { cat gdb; fail "GDB failed"; }
    grep -q "^\\\$1 = $(board_number RAM_BASE)\$" gdb || { cat gdb; fail "it does not run what was loaded"; }
    told 'node 0 running -$'
    lives "$node" || { cat qemu0; fail "the emulator has ended"; }
    over "$node"
}

# OpenOCD's configuration: one node on the chain.
openocd_options() {
    cat >chain.cfg <<EOF
adapter driver remote_bitbang
remote_bitbang host sockets/chain
adapter speed 1000
transport select jtag
gdb_port disabled
telnet_port disabled
tcl_port disabled
reset_config srst_only
jtag newtap n0 cpu -irlen 4 -ircapture 0x1 -irmask 0xf -expected-id 0x4ba00477
dap create n0.dap -chain-position n0.cpu
target create n0 cortex_a -dap n0.dap -ap-num 1 -dbgbase 0x80010000
EOF
}

# openocd_says COMMANDS - from start to end; what it says is in `openocd`.
openocd_says() {
    openocd_options
    timeout -k 5 "$limit_seconds" openocd -f chain.cfg -c "$1; shutdown" >openocd 2>&1
}

# In the background, until it is killed; its process is $openocd.
openocd_stays() {
    openocd_options
    openocd -f chain.cfg -c "$1" >openocd.stays 2>&1 &
    openocd=$!
}

chain_and_gdb_take_turns() {
    kernel_node 0
    serve 1 --chain
    openocd_says 'init; halt; resume' || { cat openocd; fail "OpenOCD failed"; }
    told 'node 0 halted openocd (process [0-9]*)$'
    told 'node 0 running -$'
    gdb_says 'target remote sockets/n0.gdb' 'print $pc != 0' detach || { cat gdb; fail "GDB failed"; }
    openocd_says 'init; halt; resume; sleep 100; halt; resume' || { cat openocd; fail "OpenOCD failed"; }
    ! grep '^Error' openocd || fail "OpenOCD was not content after GDB"
    over "$node"
}

chain_holds_and_is_killed() {
    kernel_node 0
    serve 1 --chain
    openocd_stays 'init; halt'
    told 'node 0 halted openocd (process [0-9]*)$'
    gdb_says 'target remote sockets/n0.gdb' && { cat gdb; fail "GDB was let in"; }
    grep -q "node 0 is held by openocd (process $openocd)\$" gdb || { cat gdb; fail "GDB was not told who has the node"; }
    kill -9 "$openocd"
    told 'node 0 halted -$'
    gdb_says 'target remote sockets/n0.gdb' 'print $pc != 0' detach || { cat gdb; fail "GDB failed"; }
    told 'node 0 running -$'
    openocd_says 'init; halt; resume' || { cat openocd; fail "OpenOCD failed"; }
    ! grep '^Error' openocd || fail "OpenOCD was not content after GDB"
    over "$node"
}

gdb_holds_and_chain_waits() {
    kernel_node 0
    serve 1 --chain
    gdb_stays 'target remote sockets/n0.gdb' 'shell sleep 1000'
    told "node 0 halted gdb-multiarch (process $gdb)"
    openocd_says "init; catch {halt 200}; mdw $(board_number KERNEL_BASE)"
    ! grep -q 'target halted' openocd || { cat openocd; fail "OpenOCD has taken the node"; }
    lives "$served" || { cat said; fail "it has ended"; }
    kill -9 "$gdb"
    told 'node 0 halted -$'
    openocd_says 'init; halt; resume' || { cat openocd; fail "OpenOCD failed"; }
    told 'node 0 running -$'
    over "$node"
}

chain_resets() {
    kernel_node 0
    serve 1 --chain
    openocd_says 'init; reset run; sleep 200; halt; resume' || { cat openocd; fail "OpenOCD failed"; }
    told '^reset 0$'
    told 'node 0 running -$'
    over "$node"
}

emulator_is_killed() {
    kernel_node 0
    serve 1
    gdb_stays 'target remote sockets/n0.gdb' continue
    told "node 0 running gdb-multiarch (process $gdb)"
    kill -9 "$node"
    wait "$node"
    wait "$gdb"
    gdb_says 'target remote sockets/n0.gdb'
    grep -q 'node 0 does not answer$' gdb || { cat gdb; fail "it was not told"; }
    over
}

# ends_with_its_parent [NAME...] - there are no emulators, only files with the names of their sockets.
ends_with_its_parent() {
    mkdir sockets
    for name in "$@"; do : >"sockets/$name"; done
    "$jtag" --directory sockets --nodes 2 --ram 0,1 --notices 1 | grep -q -m 1 '^ready$' || fail "not ready"
    wait_until test ! -e sockets/n0.gdb || fail "it stays"
}

# rejects PATTERN OPTION... - status 2 and one line that matches PATTERN.
rejects() {
    pattern=$1
    shift
    "$jtag" "$@" >out 2>err
    status=$?
    [ "$status" -eq 2 ] || fail "status $status from $*"
    [ "$(cat out err | wc -l)" -eq 1 ] || { cat out err; fail "not one line from $*"; }
    grep -q -- "$pattern" err || { cat err; fail "no '$pattern' from $*"; }
}

bad_options() {
    mkdir sockets
    good="--directory sockets --nodes 1 --ram 0,1"
    # shellcheck disable=SC2086
    {
        rejects 'is no directory' --directory nowhere
        rejects 'path is too long' --directory "$(printf '%091d' 0)"
        rejects '--directory is missing' --nodes 1
        rejects '--nodes is missing' --directory sockets
        rejects '--ram is missing' --directory sockets --nodes 1
        rejects 'from 1 to 512' --nodes 0
        rejects 'from 1 to 512' --nodes 513
        rejects '--nodes 129: a chain has at most 128' --directory sockets --nodes 129 --ram 0,1 --chain
        rejects 'from 1 to 512' --nodes -1
        rejects '0x40000000,0x4000000' --ram 5
        rejects '0x40000000,0x4000000' --bus 0xffffffff,2
        rejects 'unexpected word' $good word
        rejects '--notices 77' $good --notices 77
        touch sockets/n0.gdb
        rejects 'n0.gdb: address already in use' $good
        rm sockets/n0.gdb
    }
    "$jtag" --help | grep -q 'ecube-jtag --directory run' || fail "no example"
}

check "GDB attaches to a node, looks, and detaches" attach_and_detach
check "a node asleep in WFI makes a step, and no interrupt is left" asleep_in_wfi_steps
check "a second GDB is told in one line who has the node" second_is_refused
check "a GDB that is killed leaves the node halted, and the next one finds it so" killed_gdb_leaves_the_node
check "a GDB that is killed while the node runs leaves no breakpoint" killed_gdb_leaves_no_points
check "a blank node that is told to run stands, and its emulator lives" blank_node_is_told_to_run
check "GDB is told when the emulator is dead" emulator_is_killed
check "the chain and GDB have a node in turn" chain_and_gdb_take_turns
check "GDB is told when the chain has a node; a killed OpenOCD leaves it halted, for GDB" chain_holds_and_is_killed
check "the chain does not get a node that GDB has, until GDB is gone" gdb_holds_and_chain_waits
check "the reset line resets nodes, and they run" chain_resets
check "it ends when nobody listens to its notices" ends_with_its_parent n0.stub n0.qtest n1.stub n1.qtest
check_long "so it does when its emulators never come" ends_with_its_parent # half a minute later
check "bad options are one line and status 2" bad_options
cases_done
