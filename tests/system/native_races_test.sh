#!/bin/sh
# native_races_test.sh BUILD - ranks may go on in any thread of the simulator: a thread sanitizer, which knows of their
# stacks, finds nothing that threads share by mistake, and a run is the same for any number of them.
# class: busy
. tests/system/testing.sh
needs_native
ecube=$build/ecube-raced
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

# digest - what the simulator says of all that has happened.
digest() {
    grep -o 'digest [0-9a-f]*' err
}

# same_on_any_threads STATUS NETWORK PROGRAM [ARGUMENT...]
same_on_any_threads() {
    wanted=$1 network=$2
    shift 2
    for threads in 1 2 5; do
        tool sim --network "$network" --threads "$threads" "$@"
        [ "$status" -eq "$wanted" ] || { cat err; fail "status $status"; }
        digest >"digest.$threads"
        cp out "out.$threads"
        cmp digest.1 "digest.$threads" && cmp out.1 "out.$threads" || fail "other on $threads threads"
    done
    [ -s digest.1 ] || fail "no digest"
}

check "messages and collectives of 16 ranks" same_on_any_threads 0 cube:4 "$examples/nbody.so" 32 3
check "text, and receives from anyone" same_on_any_threads 0 mesh:4x5 "$examples/farm.so"
check "ranks that end with errors of calls" same_on_any_threads 1 cube:4 "$programs/sizes.so"
cases_done
