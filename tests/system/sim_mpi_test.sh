#!/bin/sh
# sim_mpi_test.sh BUILD - a simulation over several processes is the one of a single process: output, results, status and what is
# said of failures, byte for byte.
# tier: long
# class: busy
. tests/system/testing.sh

sim_mpi=$build/ecube-sim-mpi
{ [ -x "$sim_mpi" ] && command -v mpirun >/dev/null; } || {
    echo "1..0 # SKIP there is no mpirun, or no build/ecube-sim-mpi: make mpi"
    exit 0
}

# ranks N ARGUMENT... - the same command line over N processes; output in mpi.out and mpi.err. Standard input is the same pipe that
# `one` has: mpirun gives its first process one.
ranks() {
    count=$1
    shift
    : | OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout -k 5 "$limit_seconds" \
        mpirun --quiet --oversubscribe -n "$count" "$sim_mpi" "$@" >mpi.out 2>mpi.err
    mpi_status=$?
}

# one ARGUMENT... - in one process; output in out and err.
one() {
    : | ECUBE_CACHE=off timeout -k 5 "$limit_seconds" "$ecube" sim "$@" >out 2>err
    status=$?
}

# facts FILE - the results of a run, but for what tells of the computer: times by the clock, memory, threads.
facts() {
    grep -vE '"(wall_us|wall_ms|seconds|events_per_s|node_bytes|threads)":' "$1"
}

# same COUNTS ARGUMENT... - with each number of processes as in one.
same() {
    counts=$1
    shift
    one -q --json one.json "$@"
    facts one.json >one.facts
    [ -s one.facts ] || { cat err; fail "no results of $*"; }
    for count in $counts; do
        ranks "$count" -q --json mpi.json "$@"
        [ "$mpi_status" -eq "$status" ] || { cat mpi.err; fail "$count ranks, $*: status $mpi_status, not $status"; }
        cmp out mpi.out || fail "$count ranks, $*: other output"
        diff err mpi.err || fail "$count ranks, $*: other troubles"
        facts mpi.json | diff one.facts - || fail "$count ranks, $*: other results"
    done
}

networks_and_operations() {
    same '1 2 3 4' --network cube:5 exchange
    same '2 4' --network torus:4x5 exchange --bytes 100
    same 3 --network ring:12 broadcast --bytes 5000
    same 3 --network mesh:3x7 allreduce
    same 2 --network cube:6 --host-links 3 download --bytes 5000
    same 3 --network cube:5 --contents shared gather --bytes 3000
}

messages_that_meet() {
    same '2 3' --network cube:5 --messages 8 random
    same 4 --network torus:4x4 --delay 3us --rate 2.8M hotspot --bytes 500
}

threads_in_each_process() {
    same 2 --network cube:6 --threads 3 exchange --bytes 100
}

links_are_counted() {
    same 3 --network mesh:3x4 --links random
}

deadlocks_are_explained() {
    same '2 3' --network cube:5 circle
    [ "$status" -eq 124 ] || fail "status $status"
    grep -q 'deadlock, each waits for the next' mpi.err || { cat mpi.err; fail "nobody says who waits for whom"; }
}

programs_are_the_same() {
    has_native || return 0
    same '2 4' --network cube:4 "$examples/hello.so" 1 2
    same 3 --network cube:4 "$examples/merge_sort.so"
    same 3 --network torus:4x4 "$programs/collectives.so"
}

failures_are_the_same() {
    has_native || return 0
    same 3 --network cube:3 "$programs/misbehave.so" exit 6 3
    [ "$mpi_status" -eq 3 ] || fail "status $mpi_status"
    same 3 --network cube:3 "$programs/misbehave.so" null 5 # where it was says the process that it ran in
    grep -q 'misbehave\.c:' mpi.err || { cat mpi.err; fail "no place"; }
    same 3 --network cube:3 "$programs/misbehave.so" circle
    same 2 --network cube:3 "$programs/misbehave.so" absent 5
    same 2 --network cube:3 "$programs/misbehave.so" abort 6
}

# time_is_over - in a rank of another process than the first.
time_is_over() {
    has_native || return 0
    ranks 2 -q --network cube:3 --timeout 2s "$programs/misbehave.so" spin 6
    [ "$mpi_status" -eq 124 ] || { cat mpi.err; fail "status $mpi_status"; }
    grep -q 'node 6 (rank 6).* in .*misbehave\.c:' mpi.err || { cat mpi.err; fail "nobody says where it computes"; }
}

# refused COUNT PATTERN ARGUMENT... - one line, status 2.
refused() {
    count=$1 pattern=$2
    shift 2
    COLUMNS=10000 ranks "$count" "$@"
    [ "$mpi_status" -eq 2 ] || { cat mpi.err; fail "$*: status $mpi_status"; }
    [ "$(grep -c . mpi.err)" -eq 1 ] && grep -q "$pattern" mpi.err && [ ! -s mpi.out ] || {
        cat mpi.out mpi.err
        fail "$*: not the one line"
    }
}

bad_input_is_one_line() {
    refused 3 "^ecube: unknown option '--no-such'" --no-such
    refused 2 '^ecube: 2 ranks: cube:1 has 2 nodes, .*: use mpirun -n 1' --network cube:1 exchange
    refused 3 '^ecube: 3 ranks: cube:2 has 4 nodes, .*: use mpirun -n 2' --network cube:2 exchange
    refused 33 '^ecube: 33 ranks: use mpirun -n 32 at most, and --threads in each' --network cube:9 exchange
    "$sim_mpi" --help | tr -s ' \n' ' ' | grep -q 'Up to 32 processes, .* two nodes .* 64 ranges' || fail "no limits in the help"
    refused 2 "^ecube: 'no_such' is no scenario" --network cube:2 no_such
    refused 2 '^ecube: ' --network cube:2 ./none.so
}

# sample OPTION - a command line that has it, and in which it does something.
sample() {
    case $1 in
    algorithm) echo --algorithm direct exchange ;;
    as) echo --network cube:4 --map gray --as mesh:4x4 allgather ;;
    bytes) echo --bytes 20,3000 exchange ;;
    contents) echo --contents shared exchange ;;
    host-links) echo --network cube:5 --host-links 4 download ;;
    image) echo --image 5000 barrier ;;
    json) echo --json out.json exchange ;;
    links) echo --links random ;;
    map) echo --map tree scatter ;;
    mesh | network) echo "--$1" mesh:3x5 allreduce ;;
    messages) echo --messages 3 random ;;
    operator) echo --operator max reduce ;;
    parameter) echo --parameter 3 shift ;;
    paths) echo --paths 3 --ports all transpose ;;
    plan) echo --network ring:4 --plan ../plan.json broadcast ;;
    ports) echo --ports all exchange ;;
    profile) echo --profile t800 gather ;;
    quiet) echo --quiet exchange ;;
    scrub) echo --scrub exchange ;;
    seed) echo --seed 7 random ;;
    sigma) echo --sigma 3 download ;;
    threads) echo --network cube:6 --threads 3 exchange ;;
    timeout) echo --timeout 10m exchange ;;
    type) echo --type double scan ;;
    verbose) echo --verbose hotspot ;;
    x) echo --network cube:5 --x 2 download ;;
    delay) echo --delay 3us random ;;
    rate) echo --rate 2.8M random ;;
    abort) echo --abort 3@1us exchange ;;
    cut) echo --cut 2-3@1us exchange ;;
    drop | duplicate) echo "--$1" 1e-3 exchange ;;
    fail) echo --fail 300:drop exchange ;;
    flip) echo --flip 1e-6 exchange ;;
    host-stop) echo --host-stop 1ms exchange ;;
    jitter) echo --jitter 1us exchange ;;
    kill) echo --kill 3@1us exchange ;;
    oneway) echo --oneway 2-3@1us exchange ;;
    replay | shuffle | stop-at) echo "--$1" 100 exchange ;;
    report) echo --report page.html exchange ;;
    slow) echo --slow 3@20us exchange ;;
    trace) echo --trace trace.json exchange ;;
    check) echo --check "$programs/misbehave.so" none ;; # which is not linked with the checks: refused by both
    common | input) echo "--$1" ../data "$programs/data.so" ;;
    explain) echo --explain --common ../data "$programs/data.so" ;;
    file) echo --file given/text=../data "$programs/filer.so" ;;
    files-to) echo --file given/text=../data --files-to files "$programs/filer.so" ;;
    output) echo --file given/text=../data --common ../data --output whole "$programs/filer.so" ;;
    memory) echo --memory 2000 "$examples/hello.so" ;;
    pad) echo --input ../data --pad "$programs/data.so" ;;
    private) echo --private ../part%r "$programs/data.so" ;;
    stdin) echo --stdin all --file given/text=../data "$programs/filer.so" ;;
    strategy) echo --strategy pipelined --common ../data "$programs/data.so" ;;
    stride) echo --input ../data --window 100 --stride 50 "$programs/data.so" ;;
    window) echo --input ../data --window 100 "$programs/data.so" ;;
    *) fail "--$1 is new: what does it do over several processes?" ;;
    esac
}

# Of what runs have left.
without_clocks() {
    for file in one/*.json many/*.json; do
        [ ! -f "$file" ] || { facts "$file" >kept && mv kept "$file"; }
    done
}

# Each that ecube sim --help has: the same output and files, or refused by its name. Which are refused the help tells.
every_option() {
    seq 2000 | head -c 6400 >data
    for rank in $(seq 0 15); do head -c $((100 + rank)) data >"part$rank"; done
    tool_succeeds plan export broadcast --network ring:4 --bytes 100 --json plan.json
    "$ecube" sim --help | sed -n 's/^ *\(-., \)\{0,1\}--\([a-z]\)/--\2/p' | grep -oE '^--[^ ]*( --[a-z]+)?' | grep -oE -- '--[a-z-]+' |
        sed 's/^--//' | sort -u >options
    [ "$(wc -l <options)" -gt 50 ] || { cat options; fail "where are the options?"; }
    : >refused
    for option in $(grep -vx help options); do
        # shellcheck disable=SC2046
        set -- $(sample "$option")
        [ $# -gt 0 ] || { sample "$option"; exit 1; }
        case $* in *.so*) has_native || continue ;; esac
        mkdir one many
        (cd one && one "$@" && mv out err .. && echo "$status" >../status)
        status=$(cat status)
        (cd many && COLUMNS=10000 ranks 2 "$@" && mv mpi.out mpi.err .. && echo "$mpi_status" >../status)
        mpi_status=$(cat status)
        without_clocks
        if grep -q "^ecube: --$option: the order of all events counts" mpi.err; then
            [ "$mpi_status" -eq 2 ] && [ "$(wc -l <mpi.err)" -eq 1 ] && [ -z "$(ls many)" ] || { ls many; cat mpi.err; fail "--$option: status $mpi_status"; }
            echo "$option" >>refused
        else
            [ "$mpi_status" -eq "$status" ] && { [ "$status" -eq 0 ] || [ "$option" = check ]; } || { cat err mpi.err; fail "$*: status $mpi_status, not $status"; }
            results out >out.results && results mpi.out | diff out.results - || fail "$*: other output"
            results err >err.results && results mpi.err | diff err.results - || fail "$*: other words"
            diff -r one many || fail "$*: other files"
        fi
        rm -rf one many
    done
    "$sim_mpi" --help | tr -s ' \n' ' ' | sed 's/.*What wants the events//; s/A collective is.*//' >said
    tr '\n' ' ' <refused
    for option in abort cut drop duplicate fail flip host-stop jitter kill oneway replay report shuffle slow stop-at trace; do echo "$option"; done |
        diff refused - || fail "others are refused"
}

# results FILE - of a run that is not quiet: without its own times by the clock, memory, threads and processes.
results() {
    sed -E -e '/^ranks /,$d' -e '/million a second|bytes of memory per node/d' "$1" | awk '
        /wall ms +wrong$/ { timed = 1 }
        !NF { timed = 0 }
        timed && /^ *[0-9]/ { $(NF - 1) = "" }
        { print }'
}

# draw SEED - a command line.
draw() {
    awk -v seed="$1" -v native="$(has_native && echo 1)" -v examples="$examples" '
        function below(n) { return int(rand() * n) }
        function pick(words,    list) { return list[1 + below(split(words, list, " "))] }
        function maybe(chance, words) { if (rand() < chance) line = line " " words }
        BEGIN {
            srand(seed)
            for (i = 0; i < 5; i++) rand() # the first of near seeds are near
            kind = pick("cube ring mesh torus torus3")
            a = 3 + below(5)
            b = 3 + below(4)
            if (kind == "cube") network = "cube:" 3 + below(4)
            else if (kind == "ring") network = "ring:" 8 + below(33)
            else if (kind == "torus3") network = "torus:" 2 + below(2) "x" 2 + below(3) "x" 2 + below(3)
            else network = kind ":" a "x" b
            line = "--network " network
            maybe(0.3, "--ports " pick("all 2"))
            maybe(0.3, "--profile " pick("t800 delta unit ipsc2"))
            maybe(0.3, "--threads " 1 + below(4))
            maybe(0.2, "--delay " 1 + below(20) "us")
            maybe(0.2, "--rate " 1 + below(9) "M")
            maybe(0.2, "--host-links " pick("2 4"))
            maybe(0.2, "--map " pick("gray cycle rows tree"))
            maybe(0.2, "--links")
            maybe(0.1, "--scrub")
            maybe(0.3, "--seed " below(1000))
            if (native && rand() < 0.3) {
                line = line " " examples "/" pick("hello merge_sort ring prefix primes sample_sort trees farm circle stencil paths collectives") ".so"
            } else {
                maybe(0.2, "--contents shared")
                maybe(0.8, "--bytes " 16 + 16 * int(exp(rand() * 6)))
                maybe(0.3, "--messages " 1 + below(12))
                line = line " " pick("barrier broadcast scatter gather exchange allgather reduce allreduce reduce_scatter scan shift reverse exchangev all_to_some download random random transpose hotspot bitreversal circle")
            }
            print line
        }'
}

# What is drawn by chance; ECUBE_SEED and ECUBE_DRAWS draw the same again, and more.
drawn_runs() {
    seed=${ECUBE_SEED:-$(date +%s)} draws=${ECUBE_DRAWS:-10} refusals=0
    for number in $(seq "$seed" $((seed + draws - 1))); do
        line=$(draw "$number")
        echo "ECUBE_SEED=$number ECUBE_DRAWS=1: $line"
        # shellcheck disable=SC2086
        one -q $line
        if [ "$status" -eq 2 ]; then # not on this network
            # shellcheck disable=SC2086
            ranks 3 -q $line
            [ "$mpi_status" -eq 2 ] && diff err mpi.err || fail "not refused alike"
            refusals=$((refusals + 1))
        else
            # shellcheck disable=SC2086
            same '2 3 4' $line
        fi
    done
    [ "$draws" -lt 10 ] || [ $((3 * refusals)) -lt "$draws" ] || fail "$refusals of $draws are refused"
}

# rank_process N - the process that is rank N.
rank_process() {
    for pid in $(processes ecube-sim-mpi | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -qx "OMPI_COMM_WORLD_RANK=$1" || echo "$pid"
    done
}

# It waits for signals in a thread of its own, so its others take none.
all_watch() {
    [ "$(for pid in $(processes ecube-sim-mpi | cut -d ' ' -f 1); do
        grep '^SigBlk:.*6003$' "/proc/$pid/status"
    done | wc -l)" -eq 3 ]
}

# goes_on - three ranks of a long run; mpirun is $job.
goes_on() {
    : | OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 mpirun --quiet --oversubscribe -n 3 "$sim_mpi" --network cube:8 \
        --json result.json "$@" random --messages 100000 >mpi.out 2>mpi.err &
    job=$!
    wait_until all_watch || { kill "$job"; cat mpi.err; fail "it does not run"; }
    jobs=$(tr '\0' '\n' <"/proc/$(rank_process 1)/environ" | sed -n 's/^PMIX_NAMESPACE=//p')
}

is_over() {
    ! kill -0 "$job" 2>/dev/null && no_processes
}

# ends STATUS PATTERN - within a minute, with one line, and leaves nothing.
ends() {
    wait_until is_over || { kill -9 "$job"; fail "it goes on"; }
    wait "$job"
    mpi_status=$?
    [ "$mpi_status" -eq "$1" ] || { cat mpi.err; fail "status $mpi_status"; }
    [ "$(wc -l <mpi.err)" -eq 1 ] && grep -q "$2" mpi.err || { cat mpi.err; fail "not the one line"; }
    [ -z "$(find /dev/shm -name "*.$(printf %x "$jobs").*")" ] || fail "shared memory stays"
}

a_lost_rank_is_told() {
    for rank in 2 1; do
        goes_on
        kill -9 "$(rank_process $rank)"
        ends 137 "^ecube: rank $rank has failed or was killed, so the simulation ends\$"
        [ ! -e result.json ] || fail "a file that says nothing"
    done
    goes_on
    kill -9 "$(rank_process 0)" # nobody is left to remove its file
    ends 137 '^ecube: rank 0 has failed or was killed, so the simulation ends$'
}

# Of mpirun, which passes it on as SIGTERM, and ends with 1 whatever its processes end with.
signals_end_it() {
    for signal in INT TERM; do
        goes_on
        kill -"$signal" "$job"
        ends 1 '^ecube: seed 1, interrupted at event [0-9]*$'
        grep -q 'digest' mpi.out || { cat mpi.out; fail "nothing of what it has come to"; }
        rm -f result.json
    done
}

# Address space is bounded so that MPI begins, and plans do not fit.
no_memory_is_told() {
    printf '#!/bin/sh\n[ "$OMPI_COMM_WORLD_RANK" != %s ] || ulimit -v 200000\nexec "%s" "$@"\n' 1 "$sim_mpi" >limited
    chmod +x limited
    (sim_mpi=./limited && refused 2 '^ecube: rank 1: out of memory: ' --network cube:10 exchange --json result.json) || exit 1
    [ ! -e result.json ] || fail "a file that says nothing"
}

# With all options, and without mpirun.
one_process_is_ecube_sim() {
    one -q --json one.json --network cube:5 --drop 1e-3 --kill 3@300us random
    "$sim_mpi" -q --json mpi.json --network cube:5 --drop 1e-3 --kill 3@300us random >mpi.out 2>mpi.err </dev/null
    [ $? -eq "$status" ] && [ "$status" -eq 3 ] || { cat mpi.err; fail "status $status"; }
    wait_until [ ! -e "$TMPDIR"/ompi.* ] # what MPI starts for a process alone ends after it
    cmp err mpi.err && facts one.json >one.facts && facts mpi.json | diff one.facts - || fail "other results"
}

check "over networks, operations and one to four processes" networks_and_operations
check "whatever is drawn" drawn_runs
check "where messages meet" messages_that_meet
check "with threads in each process" threads_in_each_process
check "what links have carried is the same" links_are_counted
check "rank 0 says who waits for whom, wherever the nodes are" deadlocks_are_explained
check "programs of one's own print and report the same" programs_are_the_same
check "what they do wrong is told in the same words" failures_are_the_same
check "a program that never calls is ended, and where it computes is told" time_is_over
check "each option of ecube sim gives the same, or is refused by name" every_option
check "what is wrong with a command line is told in one line" bad_input_is_one_line
check "one process alone is ecube sim" one_process_is_ecube_sim
check "a rank that is killed ends the run, is named, and leaves nothing" a_lost_rank_is_told
check "SIGINT and SIGTERM end it, and what it has come to is shown" signals_end_it
check "a rank without memory is named" no_memory_is_told
cases_done
