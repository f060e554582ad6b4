# GDB at a node of a machine that is up: stops, looks, changes, goes on; what it shows of program and kernel.
# class: waits
. tests/system/testing.sh

misbehave=$programs/misbehave.elf

# debug WHAT COMMAND... - node 1 of a machine of two does WHAT (misbehave.c) under GDB, which is attached before the program comes.
# What GDB said is in `gdb`, what load said beside progress in `said`; $ended is load's status.
debug() {
    what=$1
    shift
    {
        printf 'set confirm off\nset width 0\nadd-symbol-file %s\n' "$kernel"
        printf 'target remote %s\n' "$XDG_RUNTIME_DIR/ecube-$(id -u)-lab/n1.gdb"
        printf '%s\n' "$@" detach
    } >commands
    tool_succeeds up --network cube:1 --name lab --patience 1h
    timeout -k 5 "$limit_seconds" gdb-multiarch -nx -batch -x commands "$misbehave" >gdb 2>&1 &
    gdb_pid=$!
    wait_until grep -q '^Breakpoint 1 at' gdb || { cat gdb; fail "no breakpoint"; }
    tool load --name lab "$misbehave" "$what" 1 7
    ended=$status
    words >said
    wait "$gdb_pid" || { cat gdb; fail "GDB failed"; }
    tool_succeeds down --name lab
}

# shows LINE... - each is in what GDB said, in this order.
shows() {
    last=0
    for line in "$@"; do
        at=$(grep -nE -- "$line" gdb | cut -d: -f1 | awk -v last="$last" '$1 > last { print; exit }')
        [ -n "$at" ] || { cat gdb; fail "GDB did not say '$line'"; }
        last=$at
    done
    ! grep 'corrupt stack' gdb || fail "a backtrace has no end"
}

one_main() {
    debug exit 'break main' continue backtrace
    shows '^Breakpoint [0-9]+ at 0x[0-9a-f]+: file .*misbehave\.c, line [0-9]+\.$' '^#0 +main \(argc=4'
    ! grep -E '[0-9] locations' gdb || fail "there are several of it"
}

program_stops() {
    debug exit 'break alone' continue backtrace 'print value' 'set var value = 8' 'break exit' continue
    shows '^#0 +alone \(.*value=7.*"exit".*\) at .*misbehave\.c' '^#1 +.* main \(argc=4' '= 7$' 'exit \(.*8\)'
    [ "$ended" -eq 8 ] || fail "status $ended, not 8, which GDB has set"
}

backtrace_of_call() {
    debug exit 'break alone' continue 'break trap_call' continue backtrace
    shows '^#0 +trap_call' '^#1 +<signal handler called>' '^#2 .*ecube_call(_three)? \(\)' ' exit \(' ' main \('
}

backtrace_of_interrupt() {
    debug spin 'break never_return' continue 'break trap_interrupt' continue backtrace \
        'delete 2' 'up 2' 'tbreak *$pc' continue 'return 5'
    shows '^#0 +trap_interrupt' '^#1 +<signal handler called>' '^#2 .*never_return \(\)' '^#3 .*alone \('
    [ "$ended" -eq 5 ] || fail "status $ended, not 5, with which GDB has ended the loop"
}

backtrace_of_fault() {
    debug null 'break trap_fault' continue backtrace
    shows '^#0 +trap_fault' '^#1 +<signal handler called>' '^#2 .*dereference_null \(\)' '^#3 .*alone \('
    [ "$ended" -eq 139 ] || fail "status $ended, not 139"
}

stopped_before_download() {
    debug exit 'break alone' 'shell for i in $(seq 600); do grep -q "is halted by" err && break; sleep 0.1; done' continue
    grep -Eqx 'ecube: the download waits: node 1 \(rank 1\) is halted by gdb-multiarch \(process [0-9]+\)' said ||
        { cat said; fail "nobody says so"; }
    [ "$ended" -eq 7 ] || fail "status $ended, not 7"
}

check "a download that waits for a node in GDB says so, and goes on when the node does" stopped_before_download
check "a program stops in GDB at a breakpoint set before it came, and goes on with what GDB wrote" program_stops
check "a breakpoint at main is in the program alone" one_main
check "GDB's backtrace goes from a system call of the kernel on to the program" backtrace_of_call
check "GDB's backtrace goes from an interrupt on to the program" backtrace_of_interrupt
check "GDB's backtrace goes from a fault on to the line of the program" backtrace_of_fault
cases_done
