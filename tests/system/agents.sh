# agents.sh - sourced by the tests of machines over several agents, which run on this computer, started by hand.

agent=$build/ecube-agent
[ -x "$agent" ] || {
    echo "1..0 # SKIP ecube-agent is not built (make cluster)"
    exit 0
}

# make_key FILE
make_key() {
    od -An -N32 -tx1 /dev/urandom | tr -d ' \n' >"$1"
    chmod 600 "$1"
}

# A port that nobody else has: below those that the system gives, and other tests have other numbers.
root_port() {
    echo $((10000 + ($$ * 41 + case_number * 7) % 20000))
}

# start_agent RANK SIZE ARGUMENT... - in the background, its words in said.RANK (rank 0: out, err); leaves its process in $started.
# With $on and $root_at elsewhere, and rank 0 there.
start_agent() {
    rank=$1 size=$2
    shift 2
    [ -e key ] || make_key key
    case $rank in
    0) out=out err=err ;;
    *) out=said.$rank err=said.$rank ;;
    esac
    # shellcheck disable=SC2086 -- words
    ECUBE_RANK=$rank ECUBE_SIZE=$size ECUBE_ROOT=${root_at-127.0.0.1:$(root_port)} \
        timeout -k 5 "$limit_seconds" ${on-} "$agent" --key-file "${key-key}" "$@" >"$out" 2>"$err" &
    started=$!
}

# start_others SIZE ARGUMENT... - all but rank 0.
start_others() {
    others=
    for number in $(seq $(($1 - 1))); do
        start_agent "$number" "$@"
        others="$others $started"
    done
}

# await_others - until they have ended; their statuses are in $ended.
await_others() {
    ended=
    for pid in $others; do
        wait "$pid"
        ended="$ended $?"
    done
    ended=${ended# }
}

# agents SIZE ARGUMENT... - a machine over so many, from begin to end: $status is rank 0's, $ended are the others'.
agents() {
    start_others "$@"
    start_agent 0 "$@"
    wait "$started"
    status=$?
    await_others
}

# agents_succeed SIZE ARGUMENT...
agents_succeed() {
    agents "$@"
    [ "$status" -eq 0 ] || { tail -n 20 out err said.*; fail "status $status of rank 0"; }
    [ -z "$(echo "$ended" | tr -d '0 ')" ] || { tail -n 20 said.*; fail "statuses of the others: $ended"; }
}

# agents_refuse PATTERN SIZE ARGUMENT... - rank 0 says one line like this, and all end with 2.
agents_refuse() {
    pattern=$1
    shift
    agents "$@"
    expect_refused "$pattern"
}

expect_refused() {
    [ "$status" -eq 2 ] || { cat err said.*; fail "status $status of rank 0, not 2"; }
    [ -z "$(echo "$ended" | tr -d '2 ')" ] || { cat err said.*; fail "statuses of the others: $ended"; }
    words >told
    grep -Eq -- "$1" told || { cat told; fail "no line like '$1'"; }
    [ "$(wc -l <told)" -eq 1 ] || { cat told; fail "more than one line"; }
}

# process_of RANK - of an agent that this case has started: below `timeout`.
process_of() {
    for pid in $(processes ecube-agent | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q "^ECUBE_RANK=$1\$" || echo "$pid"
    done
}

# running - what this case has started, and mpirun for it.
running() {
    left_running
    processes mpirun orterun prterun orted prted
}

nothing_runs() {
    [ -z "$(running)" ]
}

await_end() {
    wait_until nothing_runs || { running; cat err; fail "processes stay"; }
}

# What of a run model time decides: the program's table without its wall time, and the download.
told_times() {
    grep -E '^ +[0-9]+ +[0-9]+ +[0-9.]+ ' "$1" | awk '{ print $1, $2, $3, $4, $5, $NF }'
    "$json_get" "$2" download model_us
    "$json_get" "$2" download predicted_us
}

# times_are_those_of_one NETWORK BYTES... - what `err` and the JSON file `many` have of a run of the complete exchange, on all
# nodes, is what one computer tells.
times_are_those_of_one() {
    network=$1
    shift
    told_times err many >many.times
    tool_succeeds run --network "$network" --json one "$exchange" "$@"
    told_times err one >one.times
    [ "$(wc -l <one.times)" -eq $(($# + 2)) ] || { cat one.times; fail "not all times are there"; }
    cmp one.times many.times || { cat one.times many.times; fail "other times"; }
    [ "$("$json_get" many exits length)" -eq "$("$json_get" one exits length)" ] || fail "--json has not all nodes"
}
