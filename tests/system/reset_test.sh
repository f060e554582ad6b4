# Nodes that OpenOCD resets: a machine of which all are boots anew, one of which some are says which.
# class: waits
. tests/system/testing.sh
. tests/system/openocd.sh

exchange=$examples/complete_exchange.elf

state_is() {
    "$ecube" list | grep -Eq "^lab .* $1 "
}

# exchanges_right BYTES - a complete exchange on the machine; no byte of it is wrong.
exchanges_right() {
    tool_succeeds load -q --json result --name lab "$exchange" "$@"
    [ "$("$json_get" result reports 0 wrong)" = 0 ] || { cat result; fail "the exchange was wrong"; }
}

# Frames that were damaged, lost or sent again, of all nodes.
troubled_frames() {
    tool_succeeds ps --json nodes --name lab
    tr ',{' '\n\n' <nodes | awk -F: '/"(frames_resent|frames_damaged|gaps|naks)"/ { sum += $2 } END { print sum + 0 }'
}

# Starts an exchange that takes long, in the background.
start_traffic() {
    "$ecube" load --json traffic --name lab "$exchange" $(yes 60000 | head -n 1000) >printed 2>load_err &
    loader=$!
    wait_until grep -q 'run: 0 of' load_err || { cat load_err; fail "the exchange does not begin"; }
}

# traffic_ends_with PATTERN - and status 3, with a line about the reset.
traffic_ends_with() {
    wait $loader
    [ $? -eq 3 ] || { cat load_err; fail "another status than 3"; }
    tr -s '\n ' ' ' <load_err | sed 's/ecube: /\n&/g' | grep -Eq "$1" || { cat load_err; fail "no line like $1"; }
}

boots_again() {
    tool_succeeds up --network cube:2 --jtag --name lab
    for round in 1 2 3; do
        exchanges_right 1000
        openocd_says lab 'init; reset run'
        tool_succeeds load -q --name lab "$counter" 10
        grep -q 'sum 55 ' out || { cat out; fail "a program has counted wrong in round $round"; }
        state_is whole || fail "the machine is not whole in round $round"
    done
    tool_succeeds down --name lab
}

halts_at_reset() {
    tool_succeeds up --network cube:2 --jtag --name lab
    "$ecube" console --name lab >shown 2>&1 &
    shower=$!
    openocd_says lab 'init; reset halt'
    state_is booting || { "$ecube" list; fail "the machine does not boot"; }
    openocd_says lab 'init; all resume'
    exchanges_right 1000
    wait_until grep -q 'up again' shown || { cat shown; fail "a console does not hear of the boot"; }
    tool_succeeds down --name lab
    wait $shower
    grep -q 'all 4 nodes were reset' shown || { cat shown; fail "a console does not hear of the reset"; }
}

# resets_under_traffic TIMES - the cables hold halves of frames now and then.
resets_under_traffic() {
    tool_succeeds up --network cube:3 --jtag --name lab
    for round in $(seq "$1"); do
        start_traffic
        openocd_says lab 'init; reset run'
        # On a loaded computer OpenOCD's resets come apart, and the tool tells the first of them.
        traffic_ends_with '(was|were) reset through a debugger.* during run: .*the machine boots anew'
        exchanges_right 20000
        [ "$(troubled_frames)" -eq 0 ] || { cat nodes; fail "frames of before came through in round $round"; }
    done
    tool_succeeds down --name lab
}

resets_one() {
    tool_succeeds up --network cube:2 --jtag --name lab
    start_traffic
    openocd_says lab 'init; node_reset n1 run'
    traffic_ends_with 'node 1 was reset through a debugger \(openocd.*during run: reset all'
    tool_fails 2 'node 1 was reset .*reset run' load --name lab "$counter"
    state_is broken || fail "the machine is not broken"
    "$ecube" ps --name lab | grep -Eq '^ +1 reset .*was reset' || fail "ps does not show the reset"
    openocd_says lab 'init; node_reset n3 run; node_reset n0 run'
    tool_fails 2 'nodes 0, 1, 3 were reset .*reset run' load --name lab "$counter"
    openocd_says lab 'init; node_reset n2 run'
    exchanges_right 1000
    state_is whole || fail "the machine is not whole"
    tool_succeeds down --name lab
}

programs_twice() {
    tool_succeeds up --network cube:2 --blank --jtag --name lab
    for round in 1 2; do
        openocd_says lab "init; program_all $kernel verify"
        wait_until state_is whole || { "$ecube" list; fail "the machine does not boot in round $round"; }
        exchanges_right 1000
    done
    openocd_says lab 'init; reset run'
    exchanges_right 1000
    tool_succeeds down --name lab
}

stays_broken() {
    tool_succeeds up --network cube:2 --jtag --name lab
    tool_succeeds cut --name lab 0-1
    wait_until state_is broken || fail "the machine is not broken"
    openocd_says lab 'init; reset run'
    tool_fails 2 'broken' load --name lab "$counter"
    tool_succeeds down --name lab
}

check "a machine that is reset boots anew, three times, and computes right" boots_again
check "nodes that are halted at their reset boot when they are resumed, and consoles are told" halts_at_reset
check "a reset under traffic ends the run, and nothing of before comes through" resets_under_traffic 3
check_long "nor does it in ten of them" resets_under_traffic 10
check "nodes that were reset alone are named, until all have been" resets_one
check "blank nodes are programmed twice, and reset" programs_twice
check "a reset does not mend a cut cable" stays_broken
cases_done
