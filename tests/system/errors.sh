# errors.sh - sourced by errors_test.sh and native_errors_test.sh: errors of calls, at which no program here looks: each ends its
# program, and the run; one line names ranks, call, place and reason, one above it the cause where that is another; what follows
# from it adds nothing.
. tests/system/kinds.sh

wrong=$programs/mistakes.$kind

# lines_are PATTERN... - what the tool has said is so many lines, and each matches its pattern.
lines_are() {
    [ "$(words | wc -l)" -eq $# ] || { words; fail "not $# lines"; }
    line=0
    for pattern in "$@"; do
        line=$((line + 1))
        words | sed -n "${line}p" | grep -Eq -- "$pattern" || { words; fail "line $line is not '$pattern'"; }
    done
}

# fails STATUS "NAME [RANK]" PATTERN... - the mistake ends the run with this status, and these lines.
fails() {
    wanted=$1 mistake=$2
    shift 2
    # shellcheck disable=SC2086 # two words
    run -q --network ring:4 --json result.json "$wrong" $mistake
    [ "$status" -eq "$wanted" ] || { words; fail "status $status, not $wanted"; }
    lines_are "$@"
}

in_json() {
    fails 159 'missing 1' 'ended without' 'ranks 0, 2, 3'
    [ "$("$json_get" result.json troubles 0 kind)" = ended-early ] || fail "another kind of cause"
    [ "$("$json_get" result.json troubles 0 nodes 0)" = 1 ] || fail "another cause"
    [ "$("$json_get" result.json troubles 1 kind)" = call-failed ] || fail "another kind of error"
    [ "$("$json_get" result.json troubles 1 call)" = ecube_barrier ] || fail "another call"
    [ "$("$json_get" result.json troubles 1 error)" = -6 ] || fail "another error"
    [ "$("$json_get" result.json troubles 1 status)" = 159 ] || fail "another status"
    [ "$("$json_get" result.json troubles 1 nodes length)" = 3 ] || fail "other nodes"
    [ "$("$json_get" result.json status)" = 159 ] || fail "the run has another status"
    [ "$("$json_get" result.json exits 0)" = 159 ] || fail "the program has another status"
}

succeeds() {
    run -q --network ring:4 "$wrong" "$1"
    [ "$status" -eq 0 ] && [ ! -s err ] || { cat err; fail "status $status"; }
}

asked_for() {
    run -q --network ring:4 "$wrong" asks
    [ "$status" -eq 159 ] || fail "status $status"
    [ "$(grep -c '\] 0 wrong$' out)" -eq 4 ] || { cat out; fail "another error than was made, or none"; }
    lines_are '^ecube: ranks 0-3: ecube_wait for ecube_broadcast_start: root 4 of 4, in asks \(mistakes\.c:[0-9]+\),'
}

# A program's own text comes before: the error is told at the wait, not at the begin.
at_the_wait() {
    fails 159 bad-root '^ecube: ranks 0-3: ecube_wait for ecube_broadcast_start: root -1 of 4, in bad_root \(mistakes\.c:[0-9]+\), '
    grep -q '^\[0\] begun$' out || { cat out; fail "it ended where it was begun"; }
}

many_ranks() {
    run -q --network cube:5 "$wrong" missing 17
    [ "$status" -eq 159 ] || { words; fail "status $status"; }
    lines_are '^ecube: rank 17 ended without ecube_barrier' '^ecube: ranks 0-16, 18-31: ecube_barrier in missing \(mistakes\.c:[0-9]+\), called from main'
}

place='in [a-z_]+ \(mistakes\.c:[0-9]+\), called from main \(mistakes\.c:[0-9]+\)$'
check "a rank that there is not is named" fails 159 bad-peer "^ecube: ranks 0-3: ecube_send: rank 4 of 4, $place"
check "who hears of such a one in a barrier adds nothing" fails 159 'bad-peer 2' "^ecube: rank 2: ecube_send: rank 4 of 4, $place"
check "so is a tag, of a call that sends and receives" fails 159 bad-tag "^ecube: ranks 0-3: ecube_send_receive: tag -5 is below 0, $place"
check "so is a pointer, and who could not go on without" fails 159 'bad-pointer 2' \
    "^ecube: rank 2: ecube_gather: receive of 16 bytes at 0x00000004 lies outside the program's memory, $place" \
    "^ecube: ranks 0, 1, 3: ecube_gather: rank 2 could not enter it, $place"
check "so are buffers that overlap, from where to where" fails 159 overlap "^ecube: ranks 0-3: ecube_allreduce: send and receive overlap from 0x[0-9a-f]{7}[048c] to 0x[0-9a-f]{7}[37bf], $place"
check "so is an operator that does not go with its type" fails 159 bad-operator "^ecube: ranks 0-3: ecube_reduce: bitwise-xor is not for elements of type double, $place"
check "so is output that is no memory of the program" fails 159 bad-output "^ecube: ranks 0-3: ecube_output: output of 8 bytes at 0x00000004 lies outside the program's memory, $place"
check "so is a region that is none" fails 159 bad-region "^ecube: ranks 0-3: ecube_region: region of 8 bytes at 0x00000004 lies outside the program's memory, $place"
check "so is one that there is not" fails 159 no-region "^ecube: ranks 0-3: ecube_region_wait: there is no region 'out', $place"
check "what a call with _start begins fails at its wait" at_the_wait
check "a message that is cut says its size and the buffer's" fails 159 cut "^ecube: rank 1: ecube_receive: message of 100 bytes from rank 0 \(tag 7\), the buffer has 10, $place"
check "so does one of several that are waited for" fails 159 cut-later "^ecube: rank 1: ecube_wait_some for ecube_receive_start: message of 2000 bytes from rank 0 \(tag 7\), the buffer has 10, $place"
check "to wait twice is an error" fails 159 twice "^ecube: ranks 0-3: ecube_wait: the request is not open, $place"
check "so are more requests than there can be" fails 159 too-many "^ecube: ranks 0-3: ecube_receive_start: 64 transfers are open, $place"
check "who ends without a collective is named" fails 159 'missing 1' '^ecube: rank 1 ended without ecube_barrier, which the others have called$' "^ecube: ranks 0, 2, 3: ecube_barrier $place"
check "so is who ends behind another, before one that is tested" fails 159 'missing-later 3' '^ecube: rank 3 ended without ecube_exchange, which the others have called$' "^ecube: ranks 0-2: ecube_test for ecube_exchange_start $place"
check "who is sent a message and has ended is named" fails 159 'gone 1' "^ecube: ranks 0, 2, 3: ecube_send: the program of rank 1 has ended, $place"
check "a crash is one line, and its status the run's" fails 139 'crash 1' '^ecube: node 1 \(rank 1\): data abort at address 0x00000000'
check "so is an exit with a status" fails 5 'leave 1' '^ecube: node 1 \(rank 1\): the program exited with status 5$'
check "so is an end of all" fails 1 'give-up 1' '^ecube: node 1 \(rank 1\) aborted the run with status 0'
check "a disagreement is told with the places of both" fails 159 'differ 2' '^ecube: node 0 \(rank 0\) and node 2 \(rank 2\) disagree' \
    "^ecube: ranks 0, 1, 3: ecube_broadcast $place" "^ecube: rank 2: ecube_barrier $place"
check "what --json writes has cause, ranks, call and error" in_json
check "what is no error returns" succeeds right
check "errors that were asked for return, until they are not" asked_for
check "of 32 programs one line is told" many_ranks
