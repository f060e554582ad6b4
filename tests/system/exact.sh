# exact.sh - sourced by the tests that run every algorithm of every operation: which ones a network can have.
share_plans
operations='barrier broadcast scatter gather exchange exchangev allgather reduce allreduce reduce_scatter scan shift reverse all_to_some'

# listed OPERATION - the names of its algorithms, one a line.
listed() {
    tool_succeeds plan list "$1"
    sed -n 's/^  \([^ ].*\)/\1/p' out
}

reduces() {
    case $1 in
    *reduce* | scan) return 0 ;;
    esac
    return 1
}

# is_possible OPERATION NETWORK NAME - whether the network can have it: then the plan is in out, else one line says what it wants.
is_possible() {
    if reduces "$1"; then
        tool plan show "$1" --network "$2" --algorithm "$3" --bytes 1000 --type double
    else
        tool plan show "$1" --network "$2" --algorithm "$3" --bytes 1000
    fi
    [ "$status" -ne 0 ] || return 0
    { [ "$status" -eq 2 ] && [ "$(grep -c . err)" -eq 1 ] && grep -q ' wants ' err; } ||
        fail "$1 by $3 on $2: status $status: $(cat err)"
    return 1
}

# ported - the algorithms that are made for several ports, one a line: of each family and operation one.
ported() {
    cat <<-END
	broadcast:threes
	broadcast:disjoint trees
	reduce:threes
	reduce:disjoint trees
	scatter:branches
	gather:branches
	allgather:rotated
	allgather:table
	allgather:rarest first
	allgather:necklaces
	reduce_scatter:rotated
	reduce_scatter:table
	reduce_scatter:rarest first
	reduce_scatter:necklaces
	allreduce:rotated
	allreduce:rotated whole
	allreduce:table
	scan:digits
	exchange:table
	exchange:AAP pairs
	exchange:rounds of ports
	exchange:relayed
	END
}

# state_order - of the plan in out, that of the first segment: stated is "=SEGMENTS/ORDER".
state_order() {
    tr -s '\n ' ' ' <out >line
    segments=$(sed -n 's/.* segments \([0-9]*\) .*/\1/p' line)
    order=$(sed -n 's/.* order \([0-9( )]*\) at node .*/\1/p' line)
    [ -n "$order" ] || fail "no order: $(cat out)"
    stated="=${segments:-1}/$order"
}

# list_cases NETWORK - all algorithms, one a line, as programs/collectives.c takes them, into the file cases.
list_cases() {
    : >cases
    for operation in $operations; do
        listed "$operation" >names
        [ -s names ] || fail "no algorithm of $operation"
        while read -r name; do
            stated=
            if ! is_possible "$operation" "$1" "$name"; then
                echo "-$operation:$name"
                continue
            fi >>cases
            ! reduces "$operation" || state_order
            echo "$operation:$name$stated" >>cases
        done <names
    done
}

# explained OPERATION NETWORK BYTES - its algorithms with their variants that are the best for this size, one a line.
explained() {
    tool_succeeds plan explain "$1" --network "$2" --bytes "$3"
    explained_rows | sed -n 's/^[*.] [^ ]* //p'
}

# nodes_run NETWORK BYTES[,BYTES...] ROOTS[,LAST] FILE [PORTS] - nodes in QEMU run the cases in the file; what fails is counted by
# algorithm, and the first of it shown.
nodes_run() {
    network=$1 sizes=$2 roots=$3 file=$4 ports=${5-1}
    set --
    while read -r words; do
        set -- "$@" "$words"
    done <"$file"
    tool run --network "$network" --ports "$ports" --timeout 10m "$programs/collectives.elf" "$sizes" "$network" "$roots" "$@"
    [ "$status" -eq 0 ] || {
        grep ' by ' out | sed 's/^\[ *[0-9]*\] //; s/,.*//' | sort | uniq -c | head -n 15
        grep '^\[' out | head -n 15
        words
        fail "status $status on $network with $ports ports"
    }
    grep -q "^\[ *0\] $# cases, " out || fail "not $# cases: $(cat out)"
    grep '^\[ *0\] ' out
}

# machine_is_exact NETWORK BYTES[,BYTES...] ROOTS - all that the network can have, with so many roots; it refuses the rest.
machine_is_exact() {
    list_cases "$1"
    nodes_run "$1" "$2" "$3" cases
}

# variants_are_exact NETWORK - those that are the best of their algorithm for 16 bytes, and for 1,000 or so.
variants_are_exact() {
    for bytes in 16 1000; do
        for operation in $operations; do
            explained "$operation" "$1" $bytes >names
            [ -s names ] || fail "nothing explained of $operation: $(cat out)"
            sed "s/^/$operation:/" names
        done >variants
        nodes_run "$1" $((bytes + 1)),$((4 * bytes)) 2 variants
    done
}

# list_ported NETWORK PORTS - what is chosen for each operation, and what is made for several ports, as far as nodes can have it, into
# the file cases.
list_ported() {
    printf '%s:\n' $operations exchangev >cases
    ported >names
    while IFS=: read -r operation name; do
        tool plan show --network "$1" --ports "$2" --algorithm "$name" "$operation"
        refused=
        [ "$status" -eq 0 ] || refused=-
        echo "$refused$operation:$name" >>cases
    done <names
}

# all_ports_are_exact NETWORK FAR BYTES[,BYTES...] - with one port, two and all, from rank 0 and from FAR.
all_ports_are_exact() {
    for ports in 1 2 all; do
        list_ported "$1" $ports
        nodes_run "$1" "$3" "2,$2" cases $ports
    done
}
