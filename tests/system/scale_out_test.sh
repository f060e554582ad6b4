# bench/scale_out.sh and doc/scale.md: the formulae, the manual's tables and limits, bad input; the measurement itself is long.
# class: busy
. tests/system/testing.sh

scale_out=$source_tree/bench/scale_out.sh
manual=$source_tree/doc/scale.md

# value_of LABEL FILE - the last word of the line that has it.
value_of() {
    awk -v label="$1" '{ text = substr($0, 5, 58); sub(/ +$/, "", text) }
        text == label { print $NF; found++ } END { exit found != 1 }' "$2" || fail "no line '$1'"
}

expect() {
    found=$(value_of "$1" out)
    [ "$found" = "$2" ] || fail "'$1': $found, not $2"
}

# Constants with which each formula can be followed by hand.
formulae() {
    cat >constants <<'END_OF_CONSTANTS'
cores 4
open_files_limit 6000
node_mib 20.48
node_tool_kib 104.8576
agent_mib 0
far_node_descriptors 3
node_processes 1
agent_processes 2
root_processes 1
agent_wire_up_s 0.02
cable_core_s 0.01
node_boot_core_s 0.1
node_tool_boot_core_s 0.0005
boot_s_32_nodes 1.632
step_shared_us 10
step_shared_64kib_us 20
node_step_shared_core_us 30
step_serial_us 40
step_serial_64kib_us 50
node_step_serial_core_us 60
step_cable_us 70
step_cable_64kib_us 80
node_step_cable_core_us 90
barrier_steps 10
sim_10_node_bytes 100000
sim_10_node_resident_bytes 50000
sim_10_node_events 40
sim_14_node_bytes 140000
sim_14_node_resident_bytes 84000
sim_14_node_events 60
sim_events_per_s 1000000
sim_8_pair_events 8
sim_10_pair_events 10
sim_exchange_events_per_s 10000000
END_OF_CONSTANTS
    sh "$scale_out" table constants >out 2>err || fail "no table: $(cat err)"
    expect 'memory on a computer, GiB' 2.00
    expect 'more on that of rank 0, GiB' 1.00
    expect 'open files of rank 0 for nodes elsewhere' 29700
    expect 'nodes elsewhere that the limit here allows rank 0' 2000
    expect 'processes on a computer' 102
    expect 'processes' 10201
    expect 'wire-up of the agents, one after the other, s' 2.0
    expect 'wire-up of the cables, s' 0.2      # 100 cables a computer, 0.01 s on four processors
    expect 'boot of the nodes, s' 2.5          # 100 a computer, 0.1 s on four processors
    expect "boot, the tool's part, one node after the other, s" 5.0
    expect 'from start until all is up, s' 9.8 # 2 + 0.25 + 2.5 + 5
    expect '(of the boot of 32 nodes here the formula explains)' 0.50
    expect 'step in which all nodes send 16 bytes, ms' 2.25
    expect 'barrier, at least (few nodes act in a step), ms' 0.7
    expect 'barrier, at most (all do), ms' 22.5
    expect 'bytes a node, by the line' 200000
    expect 'resident, by the largest part on any cube' 120000 # 0.6 on cube:14, 0.5 on cube:10
    expect 'memory, GiB' 195.3                 # 200,000 times 2^20
    expect 'resident, GiB' 117.2
    expect 'largest cube that is resident in 24 GiB' cube:17 # 102,000 a node; cube:18 has 26.4 GiB
    expect 'largest cube, all of it, in 1 TiB' cube:22
    # shellcheck disable=SC2016
    expect 'processes of 24 GiB each (`ecube-sim-mpi`), at least' 5
    expect 'million events' 94                 # 90 a node
    expect 'minutes, at these events a second' 1.6
    expect 'events of an exchange instead, 10^12' 22.0
    expect 'days' 25
    expect 'farthest a cube lies from the lines, % (bytes)' 0.0
    sh "$scale_out" table out | cmp - out || fail "the table of the table is another"
    grep -v '^cable_core_s ' constants >fewer
    ! sh "$scale_out" table fewer >out 2>err || fail "a constant that is not there is not missed"
    grep -q 'there is no cable_core_s' err || { cat err; fail "it is not named"; }
}

# The manual's tables are what its own constants come to; nobody edits a figure by hand.
manual_follows() {
    sh "$scale_out" table "$manual" >table || fail "the manual has not all constants"
    awk '/^<!-- scale-out ends/ { exit } inside { print } /^<!-- scale-out begins/ { inside = 1 }' "$manual" | sed '1d;$d' >shown
    cmp shown table || { diff shown table; fail "its tables do not follow from its constants"; }
    cp "$manual" copy.md
    sh "$scale_out" write "$manual" copy.md || fail "it is not written"
    cmp copy.md "$manual" || fail "written anew it is another"
    echo 'no marker' >copy.md
    ! sh "$scale_out" write "$manual" copy.md 2>err || fail "a manual without markers is written"
    [ "$(cat copy.md)" = 'no marker' ] || fail "it has been changed"
}

# Each row of its limits names a constant of the source, with its value.
manual_limits() {
    sed -n 's/^| `\([A-Z_]*\)` | \([0-9]*\) | `\([^`]*\)` .*/\1 \2 \3/p' "$manual" >limits
    [ "$(wc -l <limits)" -ge 10 ] || { cat limits; fail "rows are missing"; }
    while read -r name value file; do
        grep -Eq "[ {]$name = $value\b" "$source_tree/$file" || fail "$file has no $name = $value"
    done <limits
}

bad_input() {
    for words in '' measure 'measure build 4' 'measure build 8-9' 'measure build 6-12' 'measure build 16-10' 'measure build 10-17' \
        'measure build 10-12-14' 'measure build x' 'measure build 10-12 3' table 'write constants' other; do
        status=0
        # shellcheck disable=SC2086 -- the words are arguments
        sh "$scale_out" $words >out 2>err || status=$?
        [ "$status" -eq 2 ] || fail "status $status for '$words'"
        [ "$(wc -l <err)" -eq 1 ] || { cat err; fail "not one line for '$words'"; }
    done
}

# All constants, by small runs; what is slow in them are two dozen boots.
measures() {
    limit_seconds=600
    cd "$source_tree" || exit
    ROUNDS=1 timeout -k 5 "$limit_seconds" sh "$scale_out" measure "$build" 8-10 >"$OLDPWD/constants" 2>"$OLDPWD/err" ||
        { cat "$OLDPWD/err"; fail "it does not measure"; }
    cd "$OLDPWD" || exit
    sh "$scale_out" table constants >out || fail "not all constants are measured"
    # What a node is, and what rank 0 has for one elsewhere: numbers that no load changes.
    expect_constant node_processes 1.00
    expect_constant agent_processes 2.00
    expect_constant far_node_descriptors 3.00
    expect_constant barrier_steps 28
    awk '$1 == "node_mib" { exit !($2 > 10 && $2 < 30) }' constants || fail "memory of a node: $(grep node_mib constants)"
}

expect_constant() {
    grep -qx "$1 $2" constants || fail "not $2: $(grep "^$1 " constants)"
}

check "scale_out's formulae give what a reader computes" formulae
check "the tables of doc/scale.md follow from its constants" manual_follows
check "the limits in doc/scale.md are those of the source" manual_limits
check "scale_out refuses bad input" bad_input
if [ -x "$build/ecube-agent" ]; then
    # Half a minute alone, for it boots machines of up to 32 nodes, on one computer and over agents; minutes beside others.
    check_long "scale_out measures all constants" measures
fi
cases_done
