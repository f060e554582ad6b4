# exact_test.sh BUILD - every algorithm of every operation on up to hundreds of simulated nodes: right bytes, and the predicted model
# time to the nanosecond, whatever the links do.
. tests/system/testing.sh
. tests/system/exact.sh

# is_exact - in result.json there are reports, all bytes are right, and each time, the download's too, is the predicted one.
is_exact() {
    awk -F '[:,] *' '
        $1 ~ /"model_us"/ { model = $2 }
        $1 ~ /"predicted_us"/ { if ($2 != model) bad = 1 }
        $1 ~ /"wrong"/ { reports++; if ($2 != 0) bad = 1 }
        END { exit bad || reports != wanted }' wanted="$1" result.json
}

# simulated OPERATION NETWORK NAME [OPTION...]
simulated() {
    operation=$1 network=$2 name=$3
    shift 3
    tool sim --network "$network" --bytes 4,100,1000 --contents checked --threads 1 --json result.json --algorithm "$name" "$@" "$operation"
    { [ "$status" -eq 0 ] && is_exact 3; } ||
        fail "$operation by $name on $network $*: status $status: $(cat out err)"
}

# simulator_is_exact NETWORK - all that the network can have; what it cannot, no simulation can either.
simulator_is_exact() {
    for operation in $operations; do
        listed "$operation" >names
        while read -r name; do
            if is_possible "$operation" "$1" "$name"; then
                simulated "$operation" "$1" "$name"
            else
                tool_fails 2 ' wants ' sim --network "$1" --algorithm "$name" "$operation"
            fi
        done <names
    done
}

# late_links_are_exact NETWORK - variants too, on links that lose frames and are late, events of one time in any order.
late_links_are_exact() {
    for operation in $operations; do
        explained "$operation" "$1" 1000 >names
        [ -s names ] || fail "nothing explained of $operation: $(cat out)"
        while read -r name; do
            simulated "$operation" "$1" "$name" --jitter 200us --drop 1e-4 --shuffle 7
        done <names
    done
}

# ways_are_exact NETWORK PARAMETER... - other distances, and masks of dimensions.
ways_are_exact() {
    network=$1
    shift
    for operation in shift reverse; do
        listed $operation >names
        while read -r name; do
            is_possible "$operation" "$network" "$name" || continue
            for parameter in "$@"; do
                simulated $operation "$network" "$name" --parameter "$parameter"
            done
        done <names
    done
    listed all_to_some >names
    while read -r name; do
        is_possible all_to_some "$network" "$name" || continue
        for parameter in 1 2 3; do
            simulated all_to_some "$network" "$name" --parameter $parameter
        done
    done <names
}

# ports_are_exact NETWORK - what is made for several ports, where nodes have two, and all.
ports_are_exact() {
    ported >algorithms
    while IFS=: read -r operation name; do
        for ports in 2 all; do
            tool plan show --network "$1" --ports $ports --algorithm "$name" "$operation"
            if [ "$status" -eq 0 ]; then
                simulated "$operation" "$1" "$name" --ports $ports
            else
                grep -q ' wants ' err || fail "$operation by $name on $1: $(cat err)"
            fi
        done
        tool_fails 2 'several ports' sim --network "$1" --algorithm "$name" "$operation"
    done <algorithms
}

# is_chosen_exact OPERATION ARGUMENT... - its cheapest plans of short blocks and of long ones.
is_chosen_exact() {
    tool sim --bytes 8,1000 --contents checked --threads 1 --json result.json "$@"
    { [ "$status" -eq 0 ] && is_exact 2; } || fail "$*: status $status: $(cat out err)"
}

# chosen_are_exact NETWORK NODES FAR - with one port, two and all; from root 0, and from the node that is farthest from it: rank 0
# is there by a map, and the rank of that node at node 0.
chosen_are_exact() {
    awk -v nodes="$2" -v far="$3" 'BEGIN { for (i = 0; i < nodes; i++) print i == 0 ? far : i == far ? 0 : i }' >far
    for ports in 1 2 all; do
        for operation in $operations; do
            is_chosen_exact "$operation" --network "$1" --ports $ports
            case $operation in
            broadcast | scatter | gather | reduce) is_chosen_exact "$operation" --network "$1" --ports $ports --map far ;;
            esac
        done
    done
}

for network in ring:21 mesh:4x5 torus:4x3x2 cube:5; do
    check "every algorithm is exact on $network" simulator_is_exact $network
done
for network in ring:100 mesh:10x13 torus:8x8x4 cube:8; do # what only hundreds of nodes have: long paths, many phases
    check_long "every algorithm is exact on $network" simulator_is_exact $network
done
check "what is made for several ports is exact on torus:3x3x2" ports_are_exact torus:3x3x2
for network in cube:3 ring:6 mesh:3x4; do
    check_long "what is made for several ports is exact on $network" ports_are_exact $network
done
for network in "cube:8 256 255" "ring:64 64 32" "torus:8x8x4 256 146"; do
    check_long "what is made for several ports is exact on ${network%% *}" ports_are_exact "${network%% *}"
    # its nodes, and the one that is farthest from node 0
    # shellcheck disable=SC2086
    check_long "what is chosen is exact on ${network%% *}, with one port, two and all" chosen_are_exact $network
done
check "its variants are exact on torus:3x3x2, and on links that are late" late_links_are_exact torus:3x3x2
check_long "so they are on torus:5x7x3" late_links_are_exact torus:5x7x3
check "shifts by any distance, and reversals in any dimensions" ways_are_exact torus:4x3x2 0 1 2 3 4 5 6 7
check_long "so they are on hundreds of nodes" ways_are_exact torus:8x8x4 0 1 2 3 4 5 6 7
cases_done
