# exact_sim_test.sh BUILD - every algorithm of every operation on hundreds of simulated nodes: right bytes, and the predicted model
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

# simulator_is_exact NETWORK [OPTION...] - all that the network can have; what it cannot, no simulation can either.
simulator_is_exact() {
    network=$1
    shift
    for operation in $operations; do
        listed "$operation" >names
        while read -r name; do
            if is_possible "$operation" "$network" "$name"; then
                tool sim --network "$network" --bytes 4,100,1000 --contents checked --json result.json --algorithm "$name" \
                    "$@" "$operation"
                { [ "$status" -eq 0 ] && is_exact 3; } ||
                    fail "$operation by $name on $network: status $status: $(cat out err)"
            else
                tool_fails 2 ' wants ' sim --network "$network" --algorithm "$name" "$operation"
            fi
        done <names
    done
}

check "every algorithm is exact on ring:100" simulator_is_exact ring:100
check "... on mesh:10x13" simulator_is_exact mesh:10x13
check "... on torus:8x8x4" simulator_is_exact torus:8x8x4
check "... on cube:8" simulator_is_exact cube:8
check "... on torus:5x7x3, on links that are slow and late" simulator_is_exact torus:5x7x3 --jitter 200us --shuffle 7
cases_done
