#!/bin/sh
# sim_program_test.sh BUILD - programs of one's own in the simulator: what they print, how they end, and what is said of it, as on
# nodes. What they do wrong: native_check_test.sh, native_errors_test.sh, native_fault_test.sh.
# class: busy
. tests/system/testing.sh
. tests/system/page.sh

needs_native

# sim OPTION... - a program, quietly.
sim() {
    tool sim -q "$@"
}

# The simulator prints what the nodes print, with the same model times.
example_prints_what_is_said() {
    commands "$1" >commands
    [ -s commands ] || fail "output.md has no command for $1"
    while read -r command; do
        said "$command" >wanted
        # shellcheck disable=SC2046
        tool $(echo "${command#build/ecube }" | sed "s,^run ,sim ,; s,build/examples,$examples,; s,\.elf,.so,") </dev/null
        [ "$status" -eq "$(ends_with "$command")" ] || { cat out err; fail "status $status"; }
        sed 's/^\[ *[0-9]*\] //' out err >lines
        while IFS= read -r line; do
            case $line in
            boot* | download* | *receipts*) continue ;;
            *" ...") line=${line%...} && cut -c "1-${#line}" lines >begun ;;
            *) cp lines begun ;;
            esac
            grep -qxF -- "$line" begun || { cat out err; fail "'$command' does not print '$line'"; }
        done <wanted
    done <commands
}

# Byte for byte, on one thread and on two.
output_is_the_same() {
    for threads in 1 2 2; do
        tool sim --network cube:8 --threads $threads --json result$threads.json "$examples/hello.so" first second
        [ "$status" -eq 0 ] || fail "status $status"
        cp out out$threads
        "$json_get" result$threads.json sim digest >digest$threads
    done
    cmp out1 out2 || fail "other lines on another number of threads"
    cmp digest1 digest2 || fail "another digest on another number of threads"
    [ "$(grep -c '^\[...\] argument 2: second$' out1)" -eq 256 ] || { cat out1; fail "not all ranks have both arguments"; }
}

thousands_of_ranks() {
    sim --network cube:10 "$examples/ring.so"
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
    grep -q 'token 523776, expected 523776, 1024 messages' out || { cat out; fail "another token"; }
}

# As on nodes, the same table; and only the programs' lines on standard output.
table_and_json() {
    tool sim --network cube:3 --json result.json "$examples/complete_exchange.so" 16 1000
    [ "$status" -eq 0 ] || fail "status $status"
    [ ! -s out ] || { cat out; fail "the table is on standard output"; }
    grep -q '^ *1000 .* 0$' err || { cat err; fail "no table"; }
    grep -q '^sim  *cube:3, 8 nodes' err || { cat err; fail "no summary"; }
    [ "$("$json_get" result.json exits length)" = 8 ] || { cat result.json; fail "other exits"; }
    [ "$("$json_get" result.json exits 7)" = 0 ] || { cat result.json; fail "another exit"; }
    [ "$("$json_get" result.json reports length)" = 2 ] || { cat result.json; fail "other reports"; }
    [ "$("$json_get" result.json reports 1 wrong)" = 0 ] || { cat result.json; fail "wrong bytes"; }
    [ "$("$json_get" result.json arguments 1)" = 1000 ] || { cat result.json; fail "another argument"; }
    [ "$("$json_get" result.json download receipts)" = 8 ] || { cat result.json; fail "other receipts"; }
    [ "$("$json_get" result.json plans 0 operation)" = alltoall ] || { cat result.json; fail "other plans"; }
    "$json_get" result.json sim seed >/dev/null || { cat result.json; fail "nothing of the simulator"; }
    sim --network cube:3 "$examples/complete_exchange.so" 16
    [ ! -s out ] && [ ! -s err ] || { cat out err; fail "-q shows more than what programs print"; }
}

registers() {
    tool sim -q -v --network cube:1 "$programs/misbehave.so" null 1
    grep -Eq '^  node 1: rsp 0x[0-9a-f]{8} rip 0x[0-9a-f]{8}$' err || grep -Eq 'rsp 0x[0-9a-f]{8}' err || { cat err; fail "no registers"; }
}

crash_beside_others() {
    sim --network cube:6 --json result.json "$programs/misbehave.so" null 2
    [ "$status" -eq 139 ] || { words; fail "status $status"; }
    [ "$("$json_get" result.json exits 2)" = 139 ] || { cat result.json; fail "another exit of rank 2"; }
    [ "$("$json_get" result.json exits 3)" = 0 ] || { cat result.json; fail "another exit of rank 3"; }
    [ "$("$json_get" result.json troubles 0 kind)" = fault ] || { cat result.json; fail "another trouble"; }
    grep -q "link the program with 'ecube-cc --native --check'\$" err || { cat err; fail "no advice"; }
}

# Any thread may run a rank: of the nodes of the second partition the second one mostly does.
crash_on_any_thread() {
    for rank in 0 60 130 255; do
        sim --network cube:8 --threads 2 "$programs/misbehave.so" null $rank
        [ "$status" -eq 139 ] || { cat err; fail "rank $rank: status $status"; }
        words | grep -q "^ecube: node $rank (rank $rank): data abort at address 0x00000000" || { words; fail "rank $rank is not told"; }
    done
}

aborts() {
    sim --network ring:6 --json result.json "$programs/aborter.so" 4 9
    [ "$status" -eq 9 ] || { cat out err; fail "status $status"; }
    [ "$("$json_get" result.json troubles 0 kind)" = aborted ] || { cat result.json; fail "another trouble"; }
    grep -q '^\[4\] half a line$' out || { cat out; fail "what had no end is lost"; }
}

# One that computes and never calls is left where it is, and the others come to where they wait.
interrupted() {
    "$ecube" sim -q --network cube:2 "$programs/misbehave.so" hold 2 2>err &
    pid=$!
    sleep 0.5
    kill -INT $pid
    wait $pid
    [ $? -eq 130 ] || fail "status $? of what was interrupted"
    words | grep -q '^ecube: interrupted: 0 of 4 programs have ended$' || { words; fail "other words of an interrupt"; }
    words | grep -q 'node 2 (rank 2) computes in never_return (misbehave.c:[0-9]*)' || { words; fail "nobody says where it computes"; }
    [ "$(words | grep -c ' waits in barrier for rank [0-3] to enter$')" -eq 3 ] || { words; fail "nobody says who waits for it"; }
}

# More than can be interrupted one by one in the time that there is for that.
all_compute() {
    may_time_out=1
    sim --network cube:8 --timeout 2 "$programs/misbehave.so" hold -1
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    [ "$(words | grep -c ' computes in never_return (misbehave.c:[0-9]*)')" -eq 16 ] || { words; fail "not the first ones' places"; }
    words | grep -q '^ecube: and 240 more nodes that still run$' || { words; fail "not all compute"; }
}

output_is_long() {
    sim --network cube:2 "$programs/talker.so" lines 500 200
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
}

reader_is_gone() {
    { "$ecube" sim -q --network cube:6 "$programs/talker.so" lines 200 200; echo $? >gone; } 2>/dev/null | head -n 1 >/dev/null
    [ "$(cat gone)" -eq 141 ] || fail "status $(cat gone)"
}

dead_node() {
    sim --network cube:4 --kill 7@20us "$examples/complete_exchange.so" 65536
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -q '^ecube: node 7 was killed$' || { words; fail "nobody names the dead node"; }
    ! words | grep ecube_wait || fail "what follows from it is told, too"
    sim --network cube:4 --cut 0-1@20us "$examples/complete_exchange.so" 65536
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -Eq '^ecube: link (0-1|1-0)' || { words; fail "nobody names the link"; }
}

faults_are_mended() {
    sim --network torus:4x4 --seed 7 --drop 1e-3 --flip 1e-6 --duplicate 1e-3 "$examples/complete_exchange.so" 1000 4000
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
    sim --network torus:4x4 --seed 7 --drop 1e-3 --flip 1e-6 --duplicate 1e-3 "$examples/sample_sort.so"
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
}

plans_and_algorithms() {
    tool sim --network cube:4 --algorithm AAP --json result.json -q "$examples/complete_exchange.so" 100
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
    [ "$("$json_get" result.json plans 0 algorithm)" = AAP ] || { cat result.json; fail "another algorithm"; }
    tool_succeeds plan export broadcast --network ring:6 --bytes 1000 --json plan.json
    sim --network ring:6 --plan plan.json "$examples/hello.so"
    words | grep -q '^ecube: --plan plan.json was not used: no broadcast .* was called for$' || { words; fail "nobody says that it was not used"; }
    sim --network ring:6 --plan plan.json "$examples/trees.so" 1000
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
    ! words | grep -q 'was not used' || { words; fail "the plan was not used"; }
}

trace() {
    sim --network cube:3 --trace timeline.json "$examples/ring.so"
    [ "$status" -eq 0 ] || { words; fail "status $status"; }
    tail -c 3 timeline.json | grep -q ']' || fail "the timeline is not whole"
}

# refused PATTERN WORD... - one line, and status 2.
refused() {
    pattern=$1
    shift
    tool_fails 2 "$pattern" sim --network cube:2 "$@"
}

bad_input() {
    hello=$examples/hello.so
    refused "for the nodes of 'ecube run': compile it with ecube-cc --native" "$examples/hello.elf"
    tool_fails 2 "is for 'ecube sim': compile it without --native" run --network cube:1 "$hello"
    refused 'no-such\.so: No such file' ./no-such.so
    refused 'is no scenario .* no such file' nothing
    refused 'did you mean exchange' exchnge
    refused 'is not a file' /tmp
    head -c 3000 "$hello" >short.so
    refused 'short\.so is truncated' short.so
    : >empty.so
    refused 'empty\.so is not an ELF program \(it is empty\)' empty.so
    echo 'int f(void) { return 0; }' >f.c
    gcc -shared -fPIC f.c -o f.so || fail "no shared object"
    refused 'f\.so was not compiled and linked by ecube-cc --native' f.so
    cp "$hello" plain
    sim --network cube:1 plain
    [ "$status" -eq 0 ] || { words; fail "a file in this directory is no program"; }
    for option in '--bytes 3' '--messages 3' '--parameter 1' '--type int8' '--contents shared' '--image 100'; do
        # shellcheck disable=SC2086
        refused 'is for scenarios: .* is a program' $option "$hello"
    done
    tool_fails 2 'strategy scatter: .* scenario' sim --strategy scatter exchange
    refused 'unknown strategy' --strategy best "$hello"
    refused "unknown algorithm 'best'" --algorithm best "$hello"
    tool_fails 2 'memory mappings' sim --network cube:14 "$hello"
    tool_fails 2 'simulated on up to' sim --network cube:16 "$hello"
    (ulimit -v 8000000 && refused 'GiB of addresses' "$hello") || fail "a limit on addresses is not told"
}

# 64 ranks of 40 MiB: the run ends before they have taken what there is, and says so.
memory_is_taken() {
    tool_fails 2 'out of memory: nodes and programs have taken nearly all of 0.6 GB' sim -q --network cube:6 --memory 600 \
        "$programs/taker.so" 40
    ! grep -q bytes out || fail "a rank has come further"
    tool_fails 2 'needs 0.0[0-9] GB for this program, and 0.00 GB is what --memory says' sim -q --network cube:6 --memory 1 \
        "$programs/taker.so"
    tool sim --network cube:2 "$programs/taker.so" 60
    [ "$status" -eq 1 ] && [ "$(grep -c 'there is none' out)" -eq 4 ] || fail "more memory than a node has"
    tool_fails 2 'memory is for programs' sim --memory 100 exchange
}

# N nodes, M elements: from one an element of a node on, and from cubes of four nodes on, which have no free step. With one at each
# node of a 3-cube an exchange takes three steps.
# descends_take_what_hu_says DIMENSIONS...
descends_take_what_hu_says() {
    for dims in "$@"; do
        for count in 1 2 8 64; do
            [ $count -gt 1 ] || [ $dims -gt 2 ] || continue
            each=4
            [ $count -gt 1 ] || [ $dims -ne 3 ] || each=3
            log=$dims
            for power in 2 4 8 16 32 64; do
                [ $count -lt $power ] || log=$((log + 1))
            done
            for program in "prefix.so $count" "rotate.so 5 $count"; do
                # shellcheck disable=SC2086 -- words
                tool_succeeds sim -q --network cube:$dims --ports all "$examples"/$program
                grep -q "^\[ *0\] $((each * (log + count - 1))) steps, " out || { cat out; fail "$program on cube:$dims"; }
            done
        done
    done
}

# What such a computation cannot be is one line of rank 0, and the status is 2.
one_rank_says_what_is_wrong() {
    for case in 'prefix 3' 'prefix 8x' 'merge_sort 0' 'merge_sort 8x' 'rotate x' 'rotate 1 6' 'rotate 1 8x' 'tridiagonal 8x' \
        'tridiagonal 8 regular' 'tridiagonal 8 singular'; do
        # shellcheck disable=SC2086 -- words
        set -- $case
        name=$1
        shift
        tool sim -q --network cube:2 "$examples/$name.so" "$@"
        [ "$status" -eq 2 ] || { cat out err; fail "$case: status $status"; }
        cat out err | grep '^\[ *[0-9]*\] ' >said
        [ "$(wc -l <said)" -eq 1 ] && grep -q "^\[ *0\] $name: " said || { cat out err; fail "$case: not one line of rank 0"; }
    done
}

check "complete_exchange prints what it prints on nodes" example_prints_what_is_said complete_exchange
for example in algorithms farm hello merge_sort mirror nbody pagerank power prefix primes ring rotate sample_sort transpose trees tridiagonal; do
    check "$example prints what it prints on nodes" example_prints_what_is_said "$example"
done
check "Descends and ascends take 4 (log M + M / N - 1) steps on cubes with all ports, or 3 for 4" descends_take_what_hu_says 2 3 4
check_long "So they do on 32 and 64 nodes" descends_take_what_hu_says 5 6
check "What a computation by powers of two cannot be is one line of rank 0" one_rank_says_what_is_wrong
check "What programs print is the same in every run" output_is_the_same
check "A thousand ranks pass a token round" thousands_of_ranks
check "Tables go to standard error, and JSON has what run and sim have" table_and_json
check "-v shows what is known of the registers" registers
check "A rank that crashes leaves the others alone" crash_beside_others
check "A rank may crash on any thread" crash_on_any_thread
check "ecube_abort ends all ranks" aborts
check "Ctrl-C ends a rank that computes for ever" interrupted
check "So it ends any number of them, and the first are told with their places" all_compute
check "Programs print as much as they like" output_is_long
check "A run without a reader ends" reader_is_gone
check "A dead node and a cut link are named" dead_node
check "Programs do not see frames that are lost, damaged or doubled" faults_are_mended
check "--algorithm and --plan choose plans of programs" plans_and_algorithms
check "--trace writes a timeline of a program" trace
check "Programs that take all memory end, and not the computer" memory_is_taken
check "Bad input is one line, and status 2" bad_input
cases_done
