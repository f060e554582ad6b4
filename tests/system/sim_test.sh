# ecube sim as a user drives it: the table, the JSON file, bad input, faults that are named, replay.
# class: waits
. tests/system/testing.sh

shows_the_exact_table() {
    tool_succeeds sim --network cube:4 --profile ipsc860 exchange --algorithm AAP --bytes 16,100 --bytes 65536 --json result.json
    grep -Eq '^ +16 +15 +1397\.000 +1397\.000 .* 0$' out || fail "no line for 16 bytes: $(cat out)"
    grep -Eq '^ +65536 +15 +419087\.000 +419087\.000 .* 0$' out || fail "no line for 65536 bytes"
    [ "$("$json_get" result.json nodes)" = 16 ] || fail "nodes"
    [ "$("$json_get" result.json reports 1 model_us)" = "$("$json_get" result.json reports 1 predicted_us)" ] ||
        fail "model time in the JSON file"
    [ "$("$json_get" result.json download receipts)" = 16 ] || fail "receipts"
    [ "$("$json_get" result.json sim seed)" = 1 ] || fail "seed"
    "$json_get" result.json plans >plans
    [ "$(grep -o '"algorithm":"AAP"' plans | wc -l)" -eq 3 ] || { cat plans; fail "the plans of three sizes"; }
}

messages_have_no_steps() {
    tool_succeeds sim --network cube:3 transpose --bytes 16 --json result.json
    grep -Eq '^ +16 +- +[0-9]+\.[0-9]+ +- ' out || { cat out; fail "another table"; }
    [ "$("$json_get" result.json reports 0 steps)" = null ] || fail "steps in the JSON file"
}

# value KEY... - in the last result.json.
value() {
    "$json_get" result.json "$@" || fail "no $* in the JSON file"
}

the_download_is_one_download() {
    tool_succeeds sim --network cube:2 download --bytes 100,3000 --json result.json
    [ "$(value download model_us)" = "$(value reports 1 model_us)" ] || { cat result.json; fail "of another image"; }
    [ "$(value download predicted_us)" = "$(value reports 1 predicted_us)" ] || { cat result.json; fail "two mixed"; }
    [ "$(value download bytes)" -ge 3000 ] || { cat result.json; fail "bytes of another image"; }
    [ "$(value download contends)" = false ] || { cat result.json; fail "it contends"; }
    tool sim --network cube:2 exchange --kill 1@boot --json result.json
    [ "$(value download)" = null ] || { cat result.json; fail "a download that was none"; }
    [ "$(value troubles 0 kind) $(value troubles 0 nodes)" = 'node-died [1]' ] || { cat result.json; fail "its trouble"; }
}

standard_output_is_json_alone() {
    tool_succeeds sim --network cube:2 exchange --bytes 16 --json result.json
    cp out table
    tool_succeeds sim --network cube:2 exchange --bytes 16 --json -
    cp out piped.json
    [ "$("$json_get" piped.json sim digest)" = "$(value sim digest)" ] || { cat out; fail "another object"; }
    grep -q '^exchange' err || { cat err; fail "no table on standard error"; }
    [ "$(grep -c . table)" -eq "$(grep -c . err)" ] || { cat err; fail "another table"; }
    [ ! -e ./- ] || fail "a file called -"
    echo first >both
    timeout 60 "$ecube" sim --network cube:1 barrier --json - >>both 2>err || fail "status $?"
    [ "$(head -n 1 both)" = first ] || fail "what stood in the file is gone"
}

messages_take_the_time_of_real_nodes() {
    tool_succeeds sim --network cube:1 hotspot --messages 16 --bytes 16,400,2000,9000
    sed -n 's/^ *\([0-9]*\)  *- *\([0-9]*\.[0-9]*\)  *- .*/\1 bytes: \2 us/p' out >simulated
    tool_succeeds run --network cube:1 "$programs/window.elf" 16 400 2000 9000
    sed -n 's/^\[0\] //p' out >measured
    grep -q '^16 bytes: 376.325 us$' measured || fail "16 bytes: $(cat measured)"
    cmp simulated measured || fail "simulated: $(cat simulated); measured: $(cat measured)"
}

every_scenario_ends_well() {
    for scenario in exchange exchangev broadcast scatter gather allgather reduce allreduce reduce_scatter scan shift reverse all_to_some barrier download random transpose bitreversal hotspot; do
        tool_succeeds sim --network cube:3 --bytes 500 "$scenario"
    done
}

# Names of types and operators are the same on the command line, in messages and in JSON.
types_and_operators() {
    tool_succeeds sim --network ring:5 allreduce --type double --operator max --bytes 800 --json result.json
    [ "$(value sim type) $(value sim operator)" = 'double max' ] || { cat result.json; fail "not what was asked for"; }
    tool_succeeds sim --network cube:3 scan --type int16 --operator bitwise-xor --json result.json
    [ "$(value sim type) $(value sim operator)" = 'int16 bitwise-xor' ] || { cat result.json; fail "not what was asked for"; }
    tool_succeeds sim --network cube:3 reduce_scatter --type double+int32 --operator minloc --json result.json
    [ "$(value reports 1 bytes)" = 112 ] || { cat result.json; fail "no whole elements"; }
    tool_succeeds sim --network cube:3 reduce --json result.json
    [ "$(value sim type) $(value sim operator)" = 'int32 sum' ] || { cat result.json; fail "another default"; }
    tool_succeeds sim --network cube:3 exchange --json result.json
    [ "$(value sim type) $(value sim operator)" = 'null null' ] || { cat result.json; fail "an exchange combines"; }
    tool_succeeds sim --help
    for word in int8 uint64 'double)+int32' minloc logical-xor bitwise-and; do
        grep -qF "$word" out || { cat out; fail "help does not know $word"; }
    done
}

bad_types() {
    refuses "unknown type 'real': use int32, double, .*, double.int32" reduce --type real
    refuses "unknown operator 'average': use sum, max, .*, bitwise-xor, minloc, maxloc" scan --operator average
    refuses "unknown operator ''" scan --operator ''
    refuses "[-]-type double.int32: sum is not for it: use --operator minloc, maxloc$" reduce --type double+int32
    refuses "[-]-type float: bitwise-xor is not for it: use --operator sum, max, product, min$" reduce --type float --operator bitwise-xor
    refuses "[-]-operator maxloc: it is not for int32: use --type int32.int32, int64.int32, float.int32, double.int32$" reduce --operator maxloc
    refuses '[-]-type int8: exchange combines nothing' exchange --type int8
    refuses '[-]-operator sum: random combines nothing' random --operator sum
    refuses '[-]-bytes 12: reduce of int64 combines elements of 8 bytes' reduce --type int64 --bytes 12
}

# aborted N OF OPTION... - status 3, and the line that nodes' runs have.
aborted() {
    node=$1
    shift
    fault "^ecube: node $node \(rank $node\) aborted the run with status 1: [0-9]+ of 16 programs had ended$" "$@" --json result.json
    [ "$(value troubles 0 kind) $(value troubles 0 nodes) $(value troubles 0 status)" = "aborted [$node] 1" ] ||
        { cat result.json; fail "another trouble"; }
}

aborts_are_told() {
    aborted 5 --abort 5
    aborted 0 --abort 0@1ms
    aborted 15 --abort node:15@run+2ms --drop 1e-3
    aborted 7 --abort 7@300us --shuffle 5
    grep -q 'abort 7' trace.json 2>/dev/null && fail "a trace that nobody wanted"
    aborted 7 --abort 7@300us --trace trace.json
    grep -q '"abort 7"' trace.json || fail "no mark in the trace"
    tool_succeeds sim --network cube:4 exchange --bytes 1000 --host-stop 1s@1ms --trace trace.json
    grep -q '"host-stop host"' trace.json || fail "no mark of a host that is stopped"
    tool_succeeds sim --network cube:2 exchange --bytes 16 --abort 1@1s
    grep -q '^ecube: 1 of 1 faults did not happen' err || { cat err; fail "it has not happened"; }
    rm result.json
    refuses 'abort 5@boot: no program runs in that phase' exchange --abort 5@boot
    refuses 'abort 5@download.1ms: no program runs in that phase' exchange --abort 5@download+1ms
    refuses "'host' is no node" exchange --abort host
    refuses "'16' is no node" exchange --abort 16@1ms
    refuses 'say when' exchange --abort 3@soon
}

digest() {
    tool_succeeds sim --network cube:5 random --bytes 1500 --drop 1e-3 --jitter 20us "$@"
    sed -n 's/.*digest //p' out
}

the_digest_is_the_seeds() {
    first=$(digest --seed 7)
    [ -n "$first" ] || fail "no digest"
    [ "$first" = "$(digest --seed 7)" ] || fail "two digests for one seed"
    [ "$first" != "$(digest --seed 8)" ] || fail "one digest for two seeds"
}

threads_change_nothing() {
    for threads in 1 3; do
        tool_succeeds sim --network cube:6 random --threads $threads
        grep -q "on $threads thread" out || fail "it was not $threads threads"
        sed -e 's/, [0-9.]* million.*//' -e '/memory per node/d' -e 's/  *[0-9.]*  *[0-9-]*$//' out \
            >out.$threads
    done
    cmp out.1 out.3 || fail "another result on three threads"
}

refuses() {
    pattern=$1
    shift
    tool_fails 2 "$pattern" sim "$@" --json result.json
    [ ! -e result.json ] || fail "a JSON file was left"
}

bad_networks() {
    refuses "unknown network ''" --network '' exchange
    refuses 'cube is a number from 0 to 16' --network cube:-1 exchange
    refuses 'cube is a number from 0 to 16' --network cube:17 exchange
    refuses 'more than a node.s 32-bit addresses' --network cube:10 exchange --algorithm AAP --bytes 4000000
}

bad_scenarios() {
    refuses 'name a scenario' --network cube:2
    refuses "unknown scenario 'exchang'" exchang
    refuses 'one word too many' exchange random
    refuses '[-]-bytes many' exchange --bytes many
    refuses '[-]-bytes -1' exchange --bytes=-1
    refuses '[-]-bytes 16777217' exchange --bytes 16777217
    refuses '[-]-bytes : use a number' exchange --bytes ''
    refuses '[-]-bytes : use a number' exchange --bytes 16,,100
    refuses '[-]-bytes: at most 32 sizes' exchange --bytes "$(seq -s , 33)"
    refuses '[-]-bytes 3: an image has' download --bytes 3
    refuses '[-]-image 100: .*[-]-bytes' download --image 100
    refuses '[-]-messages 0' random --messages 0
    refuses '[-]-threads 0' random --threads 0
    refuses '[-]-seed 18446744073709551615: use a number' random --seed 18446744073709551615
    refuses '[-]-messages 1048577' random --messages 1048577
    refuses "unknown --contents 'some': use auto" random --contents some
    refuses 'unknown profile' random --profile cray
    refuses 'x is from 0 to 2' --network cube:2 --x 3 random
    refuses '[-]-x -1' random --x=-1
}

bad_numbers() {
    for option in seed shuffle stop-at replay; do
        refuses "[-]-$option -1: use a number" random "--$option=-1"
        refuses "[-]-$option some: use a number" random "--$option" some
        refuses "[-]-$option : use a number" random "--$option" ''
        refuses "[-]-$option 18446744073709551616: use a number" random "--$option" 18446744073709551616
    done
    for option in shuffle stop-at replay; do
        refuses "[-]-$option 0: use a number from 1" random "--$option" 0
    done
    refuses '[-]-image 15: use a number from 16' random --image 15
    refuses '[-]-image 16777217: use a number' random --image 16777217
}

bad_rates() {
    refuses '[-]-drop -1' exchange --drop=-1
    refuses '[-]-drop 2' exchange --drop 2
    refuses '[-]-flip often' exchange --flip often
    refuses '[-]-duplicate nan' exchange --duplicate nan
    refuses '[-]-rate 0' exchange --rate 0
    refuses '[-]-rate 5X' exchange --rate 5X
    refuses '[-]-sigma 6{40}: use a number from 0 to 60' exchange --sigma "$(printf '6%.0s' $(seq 60))"
    refuses '[-]-delay 5' exchange --delay 5
    refuses '[-]-delay -5us' exchange --delay=-5us
    refuses '[-]-delay 5us5' exchange --delay 5us5
    refuses '[-]-jitter 1000s' exchange --jitter 1000s
    refuses '[-]-jitter nanus' exchange --jitter nanus
    refuses '[-]-rate 1e13' exchange --rate 1e13
    refuses '[-]-rate nan' exchange --rate nan
    refuses '[-]-drop 1:' exchange --drop 1
    refuses '[-]-drop :' exchange --drop ''
}

bad_faults() {
    refuses "'17' is no node of cube:4" exchange --kill node:17@300us
    refuses "'3-4' is no link" exchange --cut 3-4@1ms
    refuses "'3' is no link" exchange --oneway 3
    refuses 'no host link' exchange --cut 3-host
    refuses 'node 3 has no host link' exchange --oneway host-3
    refuses "'16' is no node" exchange --oneway host-16
    refuses "'host' is no node" exchange --oneway host-host
    refuses "'' is no node" exchange --cut host-@1ms
    refuses 'say when' exchange --kill 3@soon
    refuses 'say when' exchange --cut 3-7@1
    refuses 'say when' exchange --oneway 3-7@boot+
    refuses "'' is no node" exchange --kill @5us
    refuses "'0x5' is no node" exchange --kill 0x5
    refuses "'3-7-' is no link" exchange --cut 3-7-
    refuses "'3-3' is no link" exchange --oneway 3-3
    refuses 'say how slow' exchange --slow 3
    refuses 'say how slow' exchange --slow 3@2s
    refuses "'16' is no node" exchange --slow 16@5us
    refuses 'no algorithm .best.; there are .AAP' exchange --algorithm best
    refuses 'by AAP wants a cube' --network ring:5 exchange --algorithm AAP
    refuses '[-]-algorithm AAP: random is no collective' random --algorithm AAP
    # shellcheck disable=SC2046 -- 65 options
    refuses 'at most 64 faults' exchange $(seq -f '--kill=1@%gs' 65)
}

bad_events() {
    for value in 17 0:drop -1:drop :drop x:drop 17: 17:explode 17:drop:kill 18446744073709551616:drop; do
        refuses "[-]-fail $value: use the number of a link event" exchange "--fail=$value"
    done
    refuses '[-]-fail 18:flip: one event at a time' exchange --fail 17:drop --fail 18:flip
}

too_little_memory() {
    refuses 'needs .* GB, and .* GB are available.*--contents shared' \
        --network cube:10 exchange --algorithm AAP --bytes 1600000 --contents checked
}

# Under every limit a run is refused, or ends in one line when its frames need more than was left, or ends well.
memory_that_runs_out() {
    limit=16000 refused=0 ended=0
    until (ulimit -v $limit && "$ecube" --version >out 2>err); do limit=$((limit + 2000)); done
    while :; do
        (ulimit -v $limit && exec timeout -k 5 60 "$ecube" sim --network cube:7 exchange --bytes 65536 --contents shared) >out 2>err
        status=$?
        [ "$status" -ne 0 ] || break
        [ "$status" -eq 2 ] || fail "status $status with $limit KiB: $(cat err)"
        [ "$(wc -l <err)" -eq 1 ] || fail "more than one line with $limit KiB: $(cat err)"
        if grep -q 'needs .* and .* are available' err; then refused=$((refused + 1)); fi
        if grep -q 'out of memory: .* MB are taken' err; then ended=$((ended + 1)); fi
        limit=$((limit + 4000))
    done
    [ "$refused" -gt 0 ] || fail "no limit was refused before the run"
    [ "$ended" -gt 0 ] || fail "no run ran out of memory"
}

unwritable_json() {
    tool_fails 2 'cannot write the JSON file' sim --network cube:2 exchange --json /no-such-directory/result.json
}

unwritable_trace() {
    tool_fails 2 'cannot write the trace' sim --network cube:2 exchange --trace /no-such-directory/trace.json --json result.json
    [ ! -e result.json ] || fail "a JSON file was left"
    tool_fails 2 'cannot write the trace' sim --network cube:2 exchange --trace /dev/full
    tool_fails 2 'a file for each' sim --network cube:2 exchange --trace same.json --json same.json
}

a_trace_is_the_seeds() {
    tool_succeeds sim --network cube:3 random --drop 1e-2 --seed 5 --trace one.json --json result.json
    tool_succeeds sim --network cube:3 random --drop 1e-2 --seed 5 --trace two.json
    cmp one.json two.json || fail "two traces for one seed"
    [ "$("$json_get" one.json displayTimeUnit)" = ns ] || fail "no JSON object"
    [ "$("$json_get" one.json traceEvents 0 args name)" = machine ] || fail "no process"
    [ "$("$json_get" result.json sim trace sha256)" = "$(sha256sum <one.json | cut -d ' ' -f 1)" ] || fail "digest"
    grep -q "$(sha256sum <two.json | cut -d ' ' -f 1)" out || fail "no digest is printed: $(cat out)"
}

# fault PATTERN OPTION... - status 3, a line that matches, and the event at which it ended.
fault() {
    pattern=$1
    shift
    tool sim --network cube:4 exchange --bytes 1000 "$@"
    [ "$status" -eq 3 ] || fail "status $status, not 3: $*"
    grep -Eq -- "$pattern" err || fail "no line like '$pattern': $(cat err)"
    grep -Eq 'seed 1, ended at event [0-9]+, first trouble at event [0-9]+' err || fail "no seed and event: $(cat err)"
}

faults_are_named() {
    fault 'node 5 was killed' --kill node:5@300us
    fault 'link 3-7 \(dimension 2\) died during run: carrier lost' --cut 3-7@1ms
    fault 'one-way: link 2-3 \(dimension 0\): node 2 hears the other end but is not heard' --oneway 2-3
    fault 'the host link of node 4 \(rank 4\) died during download' --cut 4-host@download
    fault 'the host link of node 4 \(rank 4\) died during download' --cut host-4@download
    fault 'missing: node 4 \(rank 4\) tells nothing' --oneway 4-host
    fault 'missing: node 4 \(rank 4\) tells nothing' --oneway host-4
    fault 'the host died' --kill host@300us
    fault 'boot failed: 0 of 16 nodes answered' --fail 900:host-restart
}

a_failure_is_replayed() {
    fault 'node 5 was killed' --kill 5@300us
    event=$(sed -n 's/.*--replay \([0-9]*\) .*/\1/p' err)
    tool sim --network cube:4 exchange --bytes 1000 --kill 5@300us --replay "$event"
    grep -q 'node 5 was killed' err || fail "the replay differs: $(cat err)"
    grep -Eq "^event $((event - 1)), .*: node [0-9]+ to (node|host)" err || fail "no words on what came before $event: $(cat err)"
}

# What the host is told of an event it says in a later round.
a_replay_comes_to_its_trouble() {
    fault 'link 3-7 \(dimension 2\) died during run: carrier lost' --cut 3-7@1ms
    event=$(sed -n 's/.*--replay \([0-9]*\) .*/\1/p' err)
    tool sim --network cube:4 exchange --bytes 1000 --cut 3-7@1ms --replay "$event"
    [ "$status" -eq 3 ] || fail "status $status, not 3"
    grep -q 'link 3-7 (dimension 2) died during run: carrier lost' err || fail "the replay differs: $(cat err)"
}

# A node that is dead from the beginning is so before the first event.
a_death_before_all_events_is_replayed() {
    fault 'first trouble at event 0: --replay [1-9][0-9]* ' --kill 5
    event=$(sed -n 's/.*--replay \([0-9]*\) .*/\1/p' err)
    fault 'node 5 was killed' --kill 5 --replay "$event"
    grep -q '^event [0-9]*, .*: node 4 to host: LINK_DEAD' err || { cat err; fail "no words on what came after"; }
}

# With a faster host a subcube before the last may end last: the sum of formula (9) does not know of that.
a_download_takes_what_is_predicted() {
    for sigma in 0 0.3 1 1.5; do
        for network in cube:4 ring:11 torus:3x5; do
            tool_succeeds sim --network $network --sigma $sigma --x 0 --image 64 barrier
            grep -Eq ', sends [0-9]+, .* model ([0-9.]+) us, predicted \1 us' out || { cat out; fail "$network, sigma $sigma"; }
        done
    done
}

a_stop_is_told() {
    tool_succeeds sim --network cube:3 exchange --stop-at 300
    grep -Eqx 'ecube: stopped at event 3[0-9]+, before the run was over' err || { cat err; fail "nobody says so"; }
    tool_succeeds sim --network cube:3 exchange --stop-at 1000000
    grep -Eqx 'ecube: event 1000000 did not happen: the run had [0-9]+' err || { cat err; fail "nobody says so"; }
}

circle_of_programs() {
    may_time_out=1
    tool sim --network cube:2 circle --json result.json
    [ "$status" -eq 124 ] || fail "status $status, not 124"
    grep -A 6 'the programs that still run wait for ever' err | sed 's/^ecube: //' >said
    cat >wanted <<'END'
the programs that still run wait for ever: 0 of 4 have ended
deadlock, each waits for the next:
  node 0 waits to receive from rank 1
  node 1 waits to receive from rank 2
  node 2 waits to receive from rank 3
  node 3 waits to receive from rank 0
  and so round
END
    cmp said wanted || { cat err; fail "no circle"; }
    [ "$("$json_get" result.json status)" = 124 ] || fail "status in the JSON file"
}

interrupted() {
    "$ecube" sim --network cube:10 exchange --bytes 1000 --contents shared --trace trace.json >out 2>err &
    pid=$!
    wait_until test -s trace.json || fail "no trace"
    kill -TERM "$pid"
    wait "$pid"
    ended=$?
    [ "$ended" -eq 143 ] || fail "status $ended"
    grep -q 'cube:10, 1024 nodes' out || fail "no summary: $(cat out err)"
    grep -Eqx 'ecube: seed 1, interrupted at event [0-9]+' err || { cat err; fail "nobody says so"; }
    [ "$(tail -n 1 trace.json)" = ']}' ] || fail "the trace is not whole"
    rm trace.json
}

faults_too_late() {
    tool_succeeds sim --network cube:3 exchange --bytes 16 --kill 5@1s --slow 3@5us --cut 0-1@2s
    grep -q '^ecube: 2 of 3 faults did not happen: the run was over at [0-9.]* us' err || { cat err; fail "no line"; }
    tool_succeeds sim --network cube:3 exchange --bytes 16 --fail 99999:drop
    grep -q '^ecube: --fail did not happen: the run had [0-9]* link events$' err || { cat err; fail "no line"; }
    tool_succeeds sim --network cube:3 exchange --bytes 16 --fail 100:drop --slow 3@5us
    [ ! -s err ] || { cat err; fail "a line for faults that happened"; }
}

check "sim prints the table of the emulated machine, exact to the tick" shows_the_exact_table
check "messages have no steps and no closed form" messages_have_no_steps
check "the JSON of downloads tells of one of them" the_download_is_one_download
check "--json - leaves standard output to the JSON" standard_output_is_json_alone
check "messages take the model time that they take on nodes" messages_take_the_time_of_real_nodes
check "every scenario ends well" every_scenario_ends_well
check "reductions of any type by any operator are right, and said in the JSON file" types_and_operators
check "types and operators that there are not, or do not go together, are refused" bad_types
check "a program that aborts is told, and ends the run" aborts_are_told
check "the digest is the seed's" the_digest_is_the_seeds
check "threads change nothing" threads_change_nothing
check "impossible networks are refused" bad_networks
check "bad scenarios, sizes and profiles are refused" bad_scenarios
check "negative and absurd rates are refused" bad_rates
check "numbers that are none, or too large, are refused" bad_numbers
check "a link event that is none, or an unknown action, is refused" bad_events
check "faults of unknown nodes and links are refused" bad_faults
check "more nodes than memory are refused" too_little_memory
check "a run that outgrows its memory ends in one line" memory_that_runs_out
check "a JSON file that cannot be written is refused" unwritable_json
check "a trace that cannot be written is refused" unwritable_trace
check "a trace is a function of the seed" a_trace_is_the_seeds
check "faults are named" faults_are_named
check "faults that the run was too short for are told" faults_too_late
check "a failure is replayed" a_failure_is_replayed
check "a download takes what is predicted, for every sigma" a_download_takes_what_is_predicted
check "a replay comes to its trouble" a_replay_comes_to_its_trouble
check "a failure before the first event is replayed to the end" a_death_before_all_events_is_replayed
check "a run that stops at its event, or ends before, says so" a_stop_is_told
check "programs that wait for each other are printed as a circle" circle_of_programs
check "an interrupt ends it" interrupted
cases_done
