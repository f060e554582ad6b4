#!/bin/sh
# scale_out.sh - what a machine, or a simulation, past one computer would take: constants measured here, and formulae over them.
#
#   scale_out.sh measure BUILD [FIRST-LAST]   the constants, as lines "NAME VALUE"; a simulation for every second cube
#   scale_out.sh table FILE                   from such lines: the constants, and what follows from them
#   scale_out.sh write FILE DOC               puts that between the two markers of DOC
#
# A constant is a slope between two sizes, so that what is there once does not count: of nodes, of agents, of cables, of
# dimensions. Processor times are read from the processes after the boot, and say more on a loaded computer than wall times, of
# which the median of ROUNDS counts.
#
# Units   MiB and KiB: PSS, in which shared memory counts once, where nothing else is said; s of a processor (core_s), us and s of wall time
# Source  proc(5): smaps_rollup; task/*/schedstat, ns on a processor
set -eu

usage() {
    echo "usage: scale_out.sh measure BUILD [FIRST-LAST] | table FILE | write FILE DOC" >&2
    exit 2
}

give_up() {
    echo "scale_out: $*" >&2
    exit 1
}

rounds=${ROUNDS:-5}
small=16 large=32 # nodes of the two machines on one computer: cube:4 and cube:5
few=2 many=16     # agents
mark=ECUBE_SCALE_OUT=$$

# Processes --------------------------------------------------------------------------------------------------------------

# members qemu|others - the processes of the machine that is up.
members() {
    grep -lsz "^$mark\$" /proc/[0-9]*/environ | while read -r environment; do
        directory=${environment%/environ}
        read -r name 2>/dev/null <"$directory/comm" || continue
        case $1,$name in
        qemu,qemu-* | others,ecube*) echo "$directory" ;;
        esac
    done
}

# sum COMMAND - of one number for each directory that is read.
sum() {
    while read -r directory; do
        "$1" "$directory"
    done | awk '{ sum += $1 } END { printf "%.6f\n", sum }'
}

pss_kib() {
    awk '$1 == "Pss:" { print $2 }' "$1/smaps_rollup"
}

rss_kib() {
    awk '$1 == "Rss:" { print $2 }' "$1/smaps_rollup"
}

processor_s() {
    cat "$1"/task/*/schedstat | awk '{ ns += $1 } END { printf "%.9f\n", ns / 1e9 }'
}

descriptors() {
    find "$1/fd" -type l | wc -l
}

# look NAME - at the machine that is up, in files NAME.WHAT.
look() {
    for kind in qemu others; do
        members $kind >"$made/$kind"
        wc -l <"$made/$kind" >"$made/$1.$kind"
        sum pss_kib <"$made/$kind" >"$made/$1.$kind.kib"
        sum rss_kib <"$made/$kind" >"$made/$1.$kind.rss_kib"
        sum processor_s <"$made/$kind" >"$made/$1.$kind.core_s"
    done
}

# boot_ms FILE - what the tool has said of a machine that is up.
boot_ms() {
    sed -n 's/.* is up: .* boot \([0-9.]*\) ms.*/\1/p' "$1"
}

# Machines ---------------------------------------------------------------------------------------------------------------

tool() {
    timeout 120 "$build/ecube" "$@" || give_up "failed: ecube $*"
}

# agents SIZE ARGUMENT... - starts them; rank 0's process is $root, its words are in $made/out and $made/err.
agents() {
    size=$1
    shift
    ranks=
    for rank in $(seq $((size - 1)) -1 0); do
        case $rank in
        0) out=out err=err ;;
        *) out=said.$rank err=said.$rank ;;
        esac
        env "$mark" ECUBE_RANK="$rank" ECUBE_SIZE="$size" ECUBE_ROOT="127.0.0.1:$port" \
            timeout 120 "$build/ecube-agent" --key-file "$made/key" "$@" >"$made/$out" 2>"$made/$err" &
        root=$!
        ranks="$ranks $root"
    done
}

await_agents() {
    wait "$root" || { cat "$made/err" >&2; give_up "an agent failed"; }
    for rank in $ranks; do
        wait "$rank" || give_up "an agent failed: $(cat "$made"/said.*)"
    done
    ranks=
}

# up_with SIZE NETWORK - a machine over so many agents, which stays.
up_with() {
    agents "$1" --network "$2" --name "$machine"
    tries=1200
    until grep -q ' is up: ' "$made/out"; do
        kill -0 "$root" 2>/dev/null || { cat "$made/err" >&2; give_up "the agents did not start"; }
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || give_up "the machine over $1 agents is not up"
        sleep 0.1
    done
}

down() {
    tool down --name "$machine"
    [ -z "$ranks" ] || await_agents
}

# Arithmetic -------------------------------------------------------------------------------------------------------------

now_s() {
    date +%s.%N
}

median() {
    sort -g | awk '{ value[NR] = $1 } END { printf "%.6f\n", (value[int((NR + 1) / 2)] + value[int(NR / 2) + 1]) / 2 }'
}

# constant NAME FORMAT EXPRESSION [VARIABLE=VALUE]... - a line of the result.
constant() {
    constant_name=$1 constant_format=$2 constant_expression=$3
    shift 3
    for word in "$@"; do
        shift
        set -- "$@" -v "$word"
    done
    awk "$@" "BEGIN { printf \"%s $constant_format\\n\", \"$constant_name\", $constant_expression }"
}

of() {
    cat "$made/$1"
}

# What is measured -------------------------------------------------------------------------------------------------------

on_one_computer() {
    for dims in 4 5; do
        env "$mark" "$build/ecube" up --network cube:$dims --name "$machine" >"$made/out" 2>"$made/err" || give_up "cube:$dims is not up"
        look cube$dims
        boot_ms "$made/out" >"$made/cube$dims.boot_ms"
        down
    done
    constant node_mib %.2f '(b - a) / n / 1024' a="$(of cube4.qemu.kib)" b="$(of cube5.qemu.kib)" n=$((large - small))
    constant node_tool_kib %.1f '(b - a) / n' a="$(of cube4.others.kib)" b="$(of cube5.others.kib)" n=$((large - small))
    constant node_processes %.2f '(b - a) / n' a="$(of cube4.qemu)" b="$(of cube5.qemu)" n=$((large - small))
    constant node_boot_core_s %.4f 'b / n' b="$(of cube5.qemu.core_s)" n=$large
    constant node_tool_boot_core_s %.5f '(b - a) / n' a="$(of cube4.others.core_s)" b="$(of cube5.others.core_s)" n=$((large - small))
    constant boot_s_32_nodes %.2f 'b / 1e3' b="$(of cube5.boot_ms)"
}

# dry_run_s AGENTS - from the first agent's start until all know their nodes.
dry_run_s() {
    seq "$rounds" | while read -r _; do
        start=$(now_s)
        agents "$1" --network cube:4 --dry-run
        await_agents
        echo "$start $(now_s)"
    done | awk '{ printf "%.6f\n", $2 - $1 }' | median
}

over_agents() {
    constant agent_wire_up_s %.4f '(b - a) / n' a="$(dry_run_s $few)" b="$(dry_run_s $many)" n=$((many - few))
    up_with $few cube:4
    look few
    down
    up_with $many ring:16
    look ring
    down
    up_with $many cube:4
    look many
    down
    # Agents on one computer share pages, an agent alone on one has them all: resident memory, not PSS.
    constant agent_mib %.1f '(b - a) / n / 1024' a="$(of few.others.rss_kib)" b="$(of many.others.rss_kib)" n=$((many - few))
    constant agent_processes %.2f '(b - a) / n' a="$(of few.others)" b="$(of many.others)" n=$((many - few))
    constant root_processes %.2f 'a - 2 * (b - a) / n' a="$(of few.others)" b="$(of many.others)" n=$((many - few))
    # A node on each: a ring of them has 16 cables, a cube 32.
    constant cable_core_s %.4f '(b + d - a - c) / n' a="$(of ring.qemu.core_s)" b="$(of many.qemu.core_s)" \
        c="$(of ring.others.core_s)" d="$(of many.others.core_s)" n=16
    # Rank 0 has four nodes of its own and two cables in both rings, and 4 and 12 nodes elsewhere, of one agent and of three.
    for size in 2 4; do
        up_with $size ring:$((4 * size))
        members others | while read -r directory; do
            tr '\0' '\n' <"$directory/environ" | grep -q '^ECUBE_RANK=0$' || continue
            [ "$(cat "$directory/comm")" != ecube-agent ] || echo "$directory"
        done >"$made/root"
        [ "$(wc -l <"$made/root")" -eq 1 ] || give_up "rank 0 is not found"
        sum descriptors <"$made/root" >"$made/root$size.descriptors"
        down
    done
    constant far_node_descriptors %.2f '(b - a - 2) / n' a="$(of root2.descriptors)" b="$(of root4.descriptors)" n=8
}

# report ROW - the wall time of a step, us, of the run that is over.
report() {
    "$build/tests/json_get" "$made/result" reports "$1" wall_us >"$made/wall"
    "$build/tests/json_get" "$made/result" reports "$1" steps >"$made/steps"
    awk -v wall="$(of wall)" -v steps="$(of steps)" 'BEGIN { printf "%.1f\n", wall / steps }'
}

# Of two nodes an exchange is one step: a message each way. On cube:4 all nodes send in each of them.
steps() {
    for links in shared serial cable; do
        for dims in 1 4; do
            set -- --network cube:$dims --json "$made/result" "$build/examples/collectives.elf" --iterations 51 exchange 16 65536
            [ $dims -eq 1 ] || set -- --network cube:4 --json "$made/result" "$build/examples/collectives.elf" --iterations 21 exchange 16
            rm -f "$made/result"
            if [ $links = cable ]; then
                agents $((1 << dims)) "$@"
                await_agents
            else
                tool run -q --links $links "$@" >"$made/out"
            fi
            case $dims in
            1)
                constant step_${links}_us %.0f w w="$(report 0)"
                constant step_${links}_64kib_us %.0f w w="$(report 1)"
                ;;
            *) constant node_step_${links}_core_us %.1f 'w * cores / n' w="$(report 0)" cores="$cores" n=$small ;;
            esac
        done
    done
}

simulated() {
    for dims in $(seq "$first" 2 "$last"); do
        ECUBE_CACHE=off tool sim --network cube:"$dims" --contents shared --bytes 1000 --json "$made/result" download >"$made/out"
        constant "sim_${dims}_node_bytes" %d b b="$("$build/tests/json_get" "$made/result" sim node_bytes)"
        constant "sim_${dims}_node_resident_bytes" %d 'mb * 1024 * 1000 / 2 ^ d' d="$dims" \
            mb="$(sed -n 's/.* per node, \([0-9]*\) MB resident.*/\1/p' "$made/out")"
        constant "sim_${dims}_node_events" %.2f 'e / 2 ^ d' d="$dims" e="$("$build/tests/json_get" "$made/result" sim events)"
    done
    constant sim_events_per_s %.0f r r="$("$build/tests/json_get" "$made/result" sim events_per_s)"
    for dims in 8 10; do
        tool sim --network cube:$dims --contents shared --bytes 1000 --algorithm AAP --json "$made/result" exchange >"$made/out"
        constant sim_${dims}_pair_events %.3f 'e / 4 ^ d' d="$dims" e="$("$build/tests/json_get" "$made/result" sim events)"
    done
    constant sim_exchange_events_per_s %.0f r r="$("$build/tests/json_get" "$made/result" sim events_per_s)"
    # A plan of the machine of the first table, by the nodes' own code.
    tool sim --network torus:100x100 --bytes 16 --json "$made/result" barrier >"$made/out"
    constant barrier_steps %d s s="$("$build/tests/json_get" "$made/result" reports 0 steps)"
}

clean() {
    status=$?
    trap - EXIT
    # shellcheck disable=SC2086
    [ -z "$ranks" ] || kill $ranks 2>/dev/null || :
    [ ! -e "$made/out" ] || "$build/ecube" down --name "$machine" >"$made/ended" 2>&1 || :
    rm -rf "$made"
    exit $status
}

measure() {
    build=$1 first=${2%-*} last=${2#*-}
    for program in ecube ecube-agent tests/json_get examples/collectives.elf; do
        [ -e "$build/$program" ] || give_up "there is no $build/$program (make scale-out makes it)"
    done
    cores=$(nproc) machine=scale-out-$$ port=$((10000 + $$ % 20000)) ranks=''
    made=$(mktemp -d)
    trap clean EXIT
    trap 'exit 130' INT TERM
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$made/key"
    chmod 600 "$made/key"
    constant cores %d n n="$cores"
    # shellcheck disable=SC3045
    constant open_files_limit %d n n="$(ulimit -H -n | sed 's/unlimited/1048576/')"
    on_one_computer
    over_agents
    steps
    simulated
}

# What follows -----------------------------------------------------------------------------------------------------------

table() {
    awk '
    function show(name, text) {
        if (!(name in value)) {
            print "scale_out: there is no " name > "/dev/stderr"
            failed = 1
        }
        printf "    %-28s %10s  %s\n", name, value[name], text
    }
    function line(text, format, number) {
        printf "    %-58s " format "\n", text, number
    }
    function fits(bytes, gib) {
        return bytes <= gib * 2 ^ 30 ? "fits" : "does not fit"
    }
    # The line through the points (dims, value of WHAT): at 0, and a dimension.
    function fit(what,    d, n, x, y, xx, xy, name) {
        for (d = 1; d <= 20; d++) {
            name = "sim_" d "_" what
            if (name in value) {
                n++; x += d; y += value[name]; xx += d * d; xy += d * value[name]
            }
        }
        if (n < 2) {
            print "scale_out: a line needs two cubes" > "/dev/stderr"
            exit failed = 1
        }
        slope[what] = (n * xy - x * y) / (n * xx - x * x)
        start[what] = (y - slope[what] * x) / n
        off[what] = 0
        for (d = 1; d <= 20; d++) {
            name = "sim_" d "_" what
            if (name in value) {
                x = at(what, d) / value[name] - 1
                off[what] = x * x > off[what] * off[what] ? x : off[what]
            }
        }
        off[what] = 100 * (off[what] < 0 ? -off[what] : off[what])
    }
    function at(what, d) {
        return start[what] + slope[what] * d
    }
    function largest(share, gib,    d) {
        for (d = 1; d < 32 && share * at("node_bytes", d + 1) * 2 ^ (d + 1) <= gib * 2 ^ 30; d++) {
        }
        return d
    }
    # What of a node is resident, the largest part on any cube: a busy computer takes pages away.
    function resident_part(    d, part, most) {
        for (d = 1; d <= 20; d++) {
            if ("sim_" d "_node_bytes" in value) {
                part = value["sim_" d "_node_resident_bytes"] / value["sim_" d "_node_bytes"]
                most = part > most ? part : most
            }
        }
        return most
    }
    # Lines of constants, also as they stand in the manual, where a reader finds other things as well.
    $1 ~ /^[a-z][a-z0-9_]*$/ && $2 ~ /^-?[0-9.]+$/ && !($1 in value) { value[$1] = $2 }
    END {
        print "Measured:\n"
        show("cores", "processors of this computer, on which all was")
        show("open_files_limit", "open files that a process may have (`ulimit -Hn`)")
        show("node_mib", "memory of a node after its boot, MiB")
        show("node_tool_kib", "of the tool and ecube-jtag for a node, KiB")
        show("agent_mib", "of an agent and what it starts beside nodes, MiB")
        show("far_node_descriptors", "open files of rank 0 for a node elsewhere")
        show("node_processes", "processes of a node")
        show("agent_processes", "of an agent, beside its nodes")
        show("root_processes", "of rank 0 more than of another agent")
        show("agent_wire_up_s", "wall time until an agent more has its nodes, s")
        show("cable_core_s", "processor time of a cable in the boot, s")
        show("node_boot_core_s", "processor time of a node'\''s boot, s")
        show("node_tool_boot_core_s", "of the tool for a node'\''s boot, s")
        show("boot_s_32_nodes", "wall time of a boot of 32 nodes here, s")
        n = split("shared serial cable", kinds, " ")
        split("in shared memory;over serial lines;between computers", texts, ";")
        for (i = 1; i <= n; i++) {
            show("step_" kinds[i] "_us", "step of 2 nodes, 16 bytes, " texts[i] ", us")
            show("step_" kinds[i] "_64kib_us", "of 64 KiB, us")
            show("node_step_" kinds[i] "_core_us", "of 16 nodes, for a node, us of a processor")
        }
        show("barrier_steps", "steps of a barrier on torus:100x100 (simulated)")
        for (d = 1; d <= 20; d++) {
            if ("sim_" d "_node_bytes" in value) {
                show("sim_" d "_node_bytes", "memory a node, a download on cube:" d ", bytes")
                show("sim_" d "_node_resident_bytes", "of it resident, bytes")
                show("sim_" d "_node_events", "events a node")
            }
        }
        show("sim_events_per_s", "events a second, the largest cube")
        for (d = 1; d <= 20; d++) {
            if ("sim_" d "_pair_events" in value) {
                show("sim_" d "_pair_events", "events a pair, an exchange on cube:" d)
            }
        }
        show("sim_exchange_events_per_s", "events a second")
        fit("node_bytes"); fit("node_events"); fit("pair_events")

        nodes = 10000; computers = 100; each = nodes / computers; far = nodes - each
        cables = nodes # torus:100x100, a row to a computer: each node has one cable down
        cores = value["cores"]
        agents_s = computers * value["agent_wire_up_s"]
        cables_s = cables * value["cable_core_s"] / cores / computers
        cables_s = cables_s > 0 ? cables_s : 0 # less than other load hides
        nodes_s = each * value["node_boot_core_s"] / cores
        tool_s = nodes * value["node_tool_boot_core_s"]
        acts_us = each * value["node_step_cable_core_us"] / cores
        print "\n10,000 nodes on 100 computers like this one, `torus:100x100`, a row on each:\n"
        line("memory on a computer, GiB", "%10.2f", (each * value["node_mib"] + value["agent_mib"]) / 1024)
        line("more on that of rank 0, GiB", "%10.2f", nodes * value["node_tool_kib"] / 1024 / 1024)
        line("open files of rank 0 for nodes elsewhere", "%10.0f", far * value["far_node_descriptors"])
        line("nodes elsewhere that the limit here allows rank 0", "%10.0f", int(value["open_files_limit"] / value["far_node_descriptors"]))
        line("processes on a computer", "%10.0f", each * value["node_processes"] + value["agent_processes"])
        line("processes", "%10.0f", nodes * value["node_processes"] + computers * value["agent_processes"] + value["root_processes"])
        line("cables between computers", "%10d", cables)
        line("wire-up of the agents, one after the other, s", "%10.1f", agents_s)
        line("wire-up of the cables, s", "%10.1f", cables_s)
        line("boot of the nodes, s", "%10.1f", nodes_s)
        line("boot, the tool'\''s part, one node after the other, s", "%10.1f", tool_s)
        line("from start until all is up, s", "%10.1f", agents_s + cables_s + nodes_s + tool_s)
        line("(of the boot of 32 nodes here the formula explains)", "%10.2f", (large * value["node_boot_core_s"] / cores + large * value["node_tool_boot_core_s"]) / value["boot_s_32_nodes"])
        line("step between computers, 16 bytes, us", "%10d", value["step_cable_us"])
        line("step between computers, 64 KiB, us", "%10d", value["step_cable_64kib_us"])
        line("step in which all nodes send 16 bytes, ms", "%10.2f", acts_us / 1e3)
        line("barrier, at least (few nodes act in a step), ms", "%10.1f", value["barrier_steps"] * value["step_cable_us"] / 1e3)
        line("barrier, at most (all do), ms", "%10.1f", value["barrier_steps"] * (acts_us > value["step_cable_us"] ? acts_us : value["step_cable_us"]) / 1e3)

        total = at("node_bytes", 20) * 2 ^ 20; part = resident_part(); resident = part * total; events = at("node_events", 20) * 2 ^ 20
        print "\n`cube:20` simulated, 1,048,576 nodes, a download of 1,000 bytes each:\n"
        line("bytes a node, by the line", "%10.0f", at("node_bytes", 20))
        line("resident, by the largest part on any cube", "%10.0f", part * at("node_bytes", 20))
        line("farthest a cube lies from the lines, % (bytes)", "%10.1f", off["node_bytes"])
        line("(events)", "%10.1f", off["node_events"])
        line("memory, GiB", "%10.1f", total / 2 ^ 30)
        line("resident, GiB", "%10.1f", resident / 2 ^ 30)
        line("resident in 24 GiB", "%s", fits(resident, 24))
        line("all of it in 1 TiB", "%s", fits(total, 1024))
        line("largest cube that is resident in 24 GiB", "    cube:%d", largest(part, 24))
        line("largest cube, all of it, in 1 TiB", "    cube:%d", largest(1, 1024))
        line("processes of 24 GiB each (`ecube-sim-mpi`), at least", "%10d", int(resident / 2 ^ 30 / 24) + 1)
        line("million events", "%10.0f", events / 1e6)
        line("minutes, at these events a second", "%10.1f", events / value["sim_events_per_s"] / 60)
        line("events of an exchange instead, 10^12", "%10.1f", at("pair_events", 20) * 4 ^ 20 / 1e12)
        line("days", "%10.0f", at("pair_events", 20) * 4 ^ 20 / value["sim_exchange_events_per_s"] / 86400)
        exit failed
    }' large="$large" "$1"
}

# write FILE DOC
write() {
    table "$1" >"$2.new" || { rm -f "$2.new"; exit 1; }
    awk -v made="$2.new" '
    /^<!-- scale-out ends -->$/ { inside = 0; ends++ }
    !inside { print }
    /^<!-- scale-out begins/ {
        inside = 1
        print ""
        while ((getline text < made) > 0) {
            print text
        }
        print ""
    }
    END { exit ends != 1 }' "$2" >"$2.whole" || { rm -f "$2.new" "$2.whole"; give_up "$2 has not both markers"; }
    rm -f "$2.new"
    mv "$2.whole" "$2"
}

case ${1-},$# in
measure,2 | measure,3)
    range=${3-10-16}
    case $range in
    [8-9]-[1-9][0-9] | [1-9][0-9]-[1-9][0-9]) ;;
    *) usage ;;
    esac
    { [ "${range%-*}" -le $((${range#*-} - 2)) ] && [ "${range#*-}" -le 16 ]; } || usage
    measure "$2" "$range"
    ;;
table,2) table "$2" ;;
write,3) write "$2" "$3" ;;
*) usage ;;
esac
