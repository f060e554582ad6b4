# collectives_test.sh BUILD - a collective takes the same steps and model time as a program, native or on nodes, and as the
# scenario of its name.
# class: waits
. tests/system/testing.sh
needs_native

operations='barrier broadcast scatter gather exchange allgather reduce allreduce reduce_scatter scan shift reverse exchangev all_to_some'

# rows - of the table of results, which a scenario has in `out` and a program in `err`: bytes, steps, model time, prediction, bound, wrong bytes.
rows() {
    awk 'NF == 8 && /^[ 0-9.-]+$/ { print $1, $2, $3, $4, $5, $8 }' out err
}

# sizes OPERATION - what it is run with. A barrier has none; a program's exchangev goes by the plan for blocks of 1,000.
sizes() {
    case $1 in
    barrier) echo 0 ;;
    exchangev) echo 1000 4000 ;;
    *) echo 4 100 1000 5000 ;;
    esac
}

# simulated NETWORK OPERATION - its rows as a native program, in `program`.
simulated() {
    # shellcheck disable=SC2046 -- sizes are words
    tool_succeeds sim --network "$1" "$examples/collectives.so" "$2" $(sizes "$2")
    rows >program
    [ "$(wc -l <program)" -eq "$(sizes "$2" | wc -w)" ] || { cat err; fail "not a row for each size of $2"; }
}

native_is_the_scenario() {
    for operation in $operations; do
        simulated "$1" "$operation"
        tool_succeeds sim --network "$1" --bytes "$(sizes "$operation" | tr ' ' ,)" "$operation"
        rows >scenario
        cmp -s program scenario || { diff program scenario; fail "$operation on $1"; }
        awk '$3 != $4 || $6 != 0 { exit 1 }' program || { cat program; fail "$operation on $1 is not as predicted"; }
    done
}

nodes_are_the_same() {
    tool_succeeds up --network "$1"
    for operation in $operations; do
        simulated "$1" "$operation"
        # shellcheck disable=SC2046
        tool_succeeds load "$examples/collectives.elf" "$operation" $(sizes "$operation")
        rows >nodes
        cmp -s program nodes || { diff program nodes; fail "$operation on $1"; }
    done
    tool_succeeds down
}

# short_blocks NODES VERB ... - every node's lines of the program of that name, run so.
short_blocks() {
    nodes=$1
    shift
    tool_succeeds "$@"
    for rank in $(seq 0 $((nodes - 1))); do
        case $rank in
        2) other='nodes disagree on the collective' long='impossible argument' ;;
        *) other=ok long='the collective failed at another node' ;;
        esac
        printf "[$rank] %s\n" 'ok, 0 wrong, as an exchange: yes' "another length: $other, 0 wrong" "too long: $long" \
            'no memory: no room now' 'after: ok, 0 wrong'
    done | sort >expected
    sed 's,^\[ *,[,' out | sort >printed
    cmp -s expected printed || { diff expected printed; fail "$*"; }
}

short_blocks_go_as_an_exchange() {
    short_blocks 6 sim --network torus:2x3 "$build/tests/programs/short_blocks.so"
    short_blocks 23 sim --network ring:23 "$build/tests/programs/short_blocks.so"
    short_blocks 6 run --network mesh:2x3 "$build/tests/programs/short_blocks.elf"
}

for network in cube:4 mesh:3x5; do
    check "every collective is as a program what it is as a scenario: $network" native_is_the_scenario $network
done
check_long "... torus:8x8, whose plans have more steps" native_is_the_scenario torus:8x8
check "every collective takes the same on nodes" nodes_are_the_same mesh:2x3
check "blocks with sizes, none long, go as an exchange does" short_blocks_go_as_an_exchange
cases_done
