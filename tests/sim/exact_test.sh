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
            for parameter in "$@"; do
                simulated $operation "$network" "$name" --parameter "$parameter"
            done
        done <names
    done
}

for network in ring:21 mesh:4x5 torus:4x3x2 cube:5; do
    check "every algorithm is exact on $network" simulator_is_exact $network
done
for network in ring:100 mesh:10x13 torus:8x8x4 cube:8; do # what only hundreds of nodes have: long paths, many phases
    check_long "every algorithm is exact on $network" simulator_is_exact $network
done
check "its variants are exact on torus:5x7x3, and on links that are late" late_links_are_exact torus:5x7x3
check "shifts by any distance, and reversals in any dimensions" ways_are_exact torus:8x8x4 0 1 2 3 4 5 6 7
cases_done
