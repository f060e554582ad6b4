# traffic_test.sh BUILD - what links have carried: ecube ps --links, ecube top, ecube sim --links.
# class: waits
. tests/system/testing.sh
unset COLUMNS
export TERM=xterm
screen=$build/tests/screen

# links FILE - a line for each directed link of a table: node, port, to, load, busy, waited, circuits, bytes.
links() {
    awk 'NF == 13 && $1 ~ /^[0-9]+$/ { print $1, $2, $3, $4, $5, $6, $7, $8 }' "$1" | sort -n -k 1,1 -k 2,2
}

# same OPERATION SIZE... - on the machine that is up, and simulated, links have carried the same, the host's too, and at the
# same time.
same() {
    tool_succeeds load "$examples/collectives.elf" "$@"
    tool_succeeds ps --links
    links out >nodes
    tool_succeeds sim --network "$network" --links "$examples/collectives.so" "$@"
    links err >simulated
    cmp -s nodes simulated || { diff nodes simulated; fail "$* on $network"; }
    awk '$5 > 0 && $7 > 0 && $8 > 0 { busy++ } $6 > 0 { waited = 1 } END { print busy + 0, waited + 0 }' nodes >sums
    read -r busy waited <sums
    [ "$busy" -gt 4 ] || { cat nodes; fail "few links have carried anything"; }
}

nodes_are_as_simulated() {
    network=$1
    shift
    tool_succeeds up --network "$network"
    for operation; do
        same "$operation" 4 100 1000 5000
        ! [ "$waited" = 1 ] || any_waited=1
    done
    [ "${any_waited:-}" ] || fail "no circuit has waited for a link: nothing on waits was compared"
    tool_succeeds down
}

# rows_of_links FILE - how many the table has.
rows_of_links() {
    links "$1" | wc -l
}

# What may happen to a machine: its programs run, wait for each other, and a node dies.
every_phase_answers() {
    tool_succeeds up --name lab --network cube:3
    tool_succeeds ps --links --json before.json
    [ "$(rows_of_links out)" -eq 28 ] || { cat out; fail "not 24 links and 4 of the host"; }
    [ "$("$json_get" before.json traffic links length)" -eq 28 ] || fail "another number in --json"
    [ "$("$json_get" before.json traffic run_us)" = null ] || fail "a model time without a run"
    "$ecube" load --name lab "$programs/waiter.elf" >load.out 2>load.err &
    loader=$!
    wait_until eval 'tool ps --name lab && grep -q "waits in broadcast" out' || fail "the programs do not wait"
    tool_succeeds ps --links --json running.json
    [ "$(rows_of_links out)" -eq 28 ] || { cat out; fail "not all links of programs that run"; }
    ! grep -E '.{101}' out || fail "lines of more than 100 columns"
    [ "$("$json_get" running.json traffic answers_cut)" -eq 0 ] || fail "answers were cut off"
    tool_succeeds kill 3
    wait_until eval 'tool ps --links && grep -q "dead: node 3" out' || { cat out; fail "the death is not told"; }
    [ "$(rows_of_links out)" -gt 14 ] && ! links out | grep -q '^3 ' || { cat out; fail "other nodes' links are not told"; }
    tool_succeeds top --count 1
    grep -q "dead: node 3" out || { cat out; fail "top does not tell of it"; }
    tool_succeeds down
    wait $loader
    [ $? -eq 3 ] || { cat load.err; fail "the death of a node is not the status of load"; }
}

top_is_the_same_redrawn() {
    tool_succeeds up --name lab --network cube:3
    tool_succeeds top --count 3 --interval 100ms
    [ "$(grep -c 'node port' out)" -eq 3 ] && [ "$(grep -c 'B/s$' out)" -eq 2 ] && [ "$(rows_of_links out)" -eq 84 ] ||
        { cat out; fail "not three tables"; }
    ! grep -q "$(printf '\033')" out || fail "escape codes where there is no terminal"
    timeout -k 5 $limit_seconds "$screen" -c 80 -- "$ecube" top --count 3 --interval 100ms >out 2>err </dev/null || { cat err; fail "no terminal"; }
    [ "$(grep -c 'node port' out)" -eq 1 ] && grep -q 'B/s$' out || { cat out; fail "it is not drawn anew"; }
    ! grep -E '\\$' out || fail "lines are wider than the terminal"
    "$ecube" top --interval 200ms >top.out 2>top.err &
    top=$!
    wait_until eval '[ "$(grep -c "node port" top.out)" -ge 2 ]' || fail "it shows nothing"
    tool_succeeds down
    wait $top || { cat top.err; fail "its machine's end is an error"; }
    tool top
    [ "$status" -eq 2 ] && grep -q 'no machine is up' err || { cat err; fail "top without a machine"; }
}

wrong_words_are_refused() {
    export COLUMNS=10000
    for words in '--interval 1ms' '--interval foo' '--interval 2h' '--count 0' '--count foo' 'foo'; do
        # shellcheck disable=SC2086
        tool top $words
        [ "$status" -eq 2 ] && [ "$(wc -l <err)" -eq 1 ] || { cat err; fail "status $status of top $words"; }
    done
}

if has_native; then
    check "links carry the same on nodes and simulated: a cube" nodes_are_as_simulated cube:3 exchange allreduce gather
    check "... and a torus" nodes_are_as_simulated torus:3x3 exchange broadcast allgather
fi
check "links are told in every phase" every_phase_answers
check "top shows links again and again" top_is_the_same_redrawn
check "what top cannot take is refused in one line" wrong_words_are_refused
cases_done
