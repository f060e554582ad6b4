# bench_test.sh BUILD - ecube bench: rows as predicted, the same on nodes and simulated, files, comparisons, bad input.
# class: waits
. tests/system/testing.sh
needs_native

collectives='barrier broadcast scatter gather exchange allgather reduce allreduce reduce_scatter scan shift reverse exchangev all_to_some'
patterns='latency bandwidth both_ways message_rate incast'

# bench ARGUMENT... - leaves `out` and `err`.
bench() {
    tool_succeeds bench --bytes 0,4,1000,4096 --iterations 2 "$@"
}

# rows FILE - of the table: operation, bytes, steps, model time, prediction, check.
rows() {
    awk '/^[a-z_]+(:.*)?$/ { sub(":", "", $1); name = $1 } /^ *[0-9]+ +[0-9]+ / { print name, $1, $2, $3, $4, $8 }' "$1"
}

# all_are_as_predicted NETWORK OPTION... - simulated; of an incast no time is known.
all_are_as_predicted() {
    bench --sim --network "$@"
    rows out >rows
    for name in $patterns $collectives; do
        count=$(grep -c "^$name " rows)
        [ "$count" -eq "$([ "$name" = barrier ] && echo 1 || echo 4)" ] || fail "$count rows of $name: $(cat out)"
    done
    awk '$6 != "ok" || ($1 != "incast" && $4 != $5) || ($1 == "incast" && $5 != "-") { exit 1 }' rows ||
        fail "not as predicted: $(cat rows)"
    grep -q '^73 of 73 rows are good$' out || fail "$(tail -n 3 out)"
}

# What is known of one message, and of 16 one behind the other, by hand: xi 65.425 us, tau 9.575, 0.425 a byte.
messages_take_what_their_formula_says() {
    bench --sim --network cube:4 latency bandwidth message_rate
    rows out >rows
    awk 'function near(a, b) { return a - b < 0.0006 && b - a < 0.0006 }
        { hops = $1 == "message_rate" ? 1 : 4; count = $1 == "latency" ? 1 : 16
          if (!near($4, 65.425 + count * (hops * 9.575 + (hops + $2 - 1) * 0.425))) exit 1; n++ }
        END { if (n != 12) exit 1 }' rows || fail "$(cat rows)"
}

nodes_are_as_simulated() {
    bench --sim --network cube:2 --json sim.json
    rows out | grep -v '^incast' >simulated
    bench --network cube:2 --json nodes.json --compare sim.json --csv rows.csv
    rows out | grep -v '^incast' >nodes
    [ -s nodes ] && cmp -s simulated nodes || { diff simulated nodes; fail "nodes differ"; }
    awk '/^(incast|barrier|exchange) /' out | grep -q . || fail "nothing is compared: $(cat out)"
    # Nothing but incasts may have changed.
    [ -z "$(sed -n '/^compared/,$p' out | grep -E ' [+-][0-9.]+ %' | grep -v '^incast')" ] || fail "$(cat out)"
    [ "$("$json_get" nodes.json bench rows length)" = 73 ] || fail "rows in the JSON file"
    [ "$("$json_get" nodes.json bench simulated)" = false ] || fail "simulated, in the JSON file"
    [ "$("$json_get" nodes.json status)" = 0 ] || fail "status in the JSON file"
    [ "$(wc -l <rows.csv)" -eq 74 ] || fail "lines of CSV: $(cat rows.csv)"
    [ "$(awk -F, 'NR > 1 && $9 <= 0' rows.csv)" = '' ] || fail "a row without wall time: $(cat rows.csv)"
    # The names of algorithms on lines of their own are folded, as all words.
    [ -z "$(awk 'length > 100 && /^[a-z_]* *[0-9]+ +[0-9]+ +[0-9.]+ /' out)" ] || fail "a row of more than 100 columns: $(cat out)"
}

changes_are_told() {
    bench --sim --network cube:3 --json before.json exchange scan
    tool_succeeds bench --sim --network cube:3 --compare before.json --bytes 1000,2000 --algorithm AAP exchange
    grep -Eq '^exchange +1000 +[0-9.]+ +[0-9.]+ +\+[0-9.]+ %' out || fail "no change of time: $(cat out)"
    grep -q 'is by AAP$' out || fail "no change of algorithm: $(cat out)"
    grep -Eq '^exchange +2000 not there$' out || fail "a size that is not there: $(cat out)"
    grep -q '^1 of 1 rows have another model time' out || fail "$(cat out)"
    bench --sim --network cube:3 --compare before.json exchange scan
    grep -q '^no change: 8 rows are of the same model time and algorithm$' out || fail "$(cat out)"
    ! grep -q -- '--paths' out || fail "the same paths are told: $(cat out)"
}

# Over how many paths messages go is told where it is another number; --json has it.
paths_are_compared() {
    for was in none 1 4; do
        for now in none 1 4; do
            was_option="--paths $was" now_option="--paths $now"
            [ $was = none ] && was_option=
            [ $now = none ] && now_option=
            # shellcheck disable=SC2086 -- an option, or nothing
            bench --sim --network cube:3 --ports all $was_option --json before.json latency
            [ "$("$json_get" before.json paths)" = "$(echo $was | sed 's/none/0/')" ] || fail "paths in the JSON file"
            # shellcheck disable=SC2086
            bench --sim --network cube:3 --ports all $now_option --compare before.json latency
            sed -n 's/^--paths was //p' out >told
            [ $was = $now ] || echo "$was, is $now" | cmp -s - told || fail "$was, $now: $(cat out)"
            [ $was != $now ] || [ ! -s told ] || fail "the same paths are told: $(cat out)"
        done
    done
}

# The algorithm that is shown is the one that the time is of.
algorithms_are_those_of_the_plans() {
    bench --sim --network cube:3 exchange allreduce --json rows.json
    for row in '1 4' '3 4096'; do
        tool_succeeds plan explain exchange --network cube:3 --bytes "${row#* }"
        chosen=$(sed -n 's/^\* \(.*[^ ]\)  *[0-9].*/\1/p' out | sed 's/  .*//')
        shown=$("$json_get" rows.json bench rows "${row% *}" algorithm)
        [ "$shown" = "$chosen" ] || fail "${row#* } bytes: '$shown', not '$chosen'"
        echo "$shown" >>algorithms
    done
    [ "$(sort -u algorithms | wc -l)" -eq 2 ] || fail "one algorithm alone: $(cat algorithms)"
}

sizes_are_ranges_too() {
    tool_succeeds bench --sim --network cube:1 --bytes 3,1-16,1K-1M*32 --iterations 1 --json rows.json latency
    for size in 3 1 2 4 8 16 1024 32768 1048576; do
        echo "$size"
    done >expected
    rows out | cut -d ' ' -f 2 >sizes
    cmp -s expected sizes || fail "$(cat sizes)"
}

# A long message of one pair over all the paths that help; of other patterns the paths may meet.
several_paths_are_predicted() {
    for network in cube:3 torus:3x4 mesh:3x3; do
        bench --sim --network $network --map cycle --ports all --paths 4 --bytes 1024,1025,4099,65536 --iterations 1 $patterns
        rows out >rows
        awk '$1 != "incast" && ($2 <= 1024 || $1 == "latency" || $1 == "bandwidth") { if ($4 != $5 || $6 != "ok") exit 1; n++; next }
            $5 != "-" { exit 1 } END { if (n != 24) exit 1 }' rows || fail "$network: $(cat rows)"
    done
}

# Beside those of the table: as many messages as are wanted, and programs that ask instead of waiting.
programs_do_it_in_other_ways() {
    for count in 1 17 100; do
        tool_succeeds sim --network ring:4 "$examples/collectives.so" --sends $count --check-once --iterations 2 \
            bandwidth,both_ways,message_rate 0 100 4096
        awk -v count=$count '$1 ~ /^[0-9]+$/ && NF == 8 { if ($8 || $3 != $4 || $2 % count) exit 1; n++ } END { if (n != 9) exit 1 }' err ||
            { cat err; fail "$count messages behind each other"; }
    done
    tool_succeeds run --network cube:2 "$examples/collectives.elf" --poll --iterations 2 exchange,allreduce 16 4096
    awk '$1 ~ /^[0-9]+$/ && NF == 8 { if ($8 || $3 != $4) exit 1; n++ } END { if (n != 4) exit 1 }' err ||
        { cat err; fail "a program that polls"; }
}

one_node_has_collectives() {
    bench --sim --network ring:1
    [ "$(rows out | grep -c ' ok$')" -eq 53 ] || fail "$(cat out)"
}

# Where the root alone has no room the others leave the size out as well.
what_does_not_fit_is_said() {
    bench_fails 2 --network cube:2 --bytes 16,16M --iterations 1 gather latency
    grep -q 'gather: no memory for blocks of 16777216 bytes' err out || fail "$(cat out err)"
    [ "$(rows out | wc -l)" -ge 2 ] || fail "rows that could be had: $(cat out)"
    grep -q 'of 4 rows are good: see' out || fail "$(cat out)"
}

# bench_fails STATUS WORDS... - leaves `out` and `err`.
bench_fails() {
    wanted=$1
    shift
    tool bench "$@"
    [ "$status" -eq "$wanted" ] || fail "status $status, not $wanted, from ecube bench $*: $(cat out err)"
}

# refused WORDS... - bad input: one line, status 2, and nothing begins.
refused() {
    bench_fails 2 "$@"
    [ "$(wc -l <err)" -eq 1 ] && [ ! -s out ] || fail "not one line for '$*': $(cat out err)"
}

bad_input_is_refused() {
    refused brodcast
    refused --bytes x
    refused --bytes 1,,2
    refused --bytes 16-8
    refused --bytes 0-8
    refused --bytes 1-8*1
    refused --bytes 17M
    refused --bytes 1-64K,1-64K,1-64K,1-64K
    refused --bytes 10 reduce
    refused --iterations 0
    refused --network ring:1 latency
    refused --network cube:99
    refused --sim --links serial
    refused --sim --algorithm nothing
    refused --json /nowhere/x.json
    refused --csv /nowhere/x.csv
    refused --profile nothing
    refused --compare /nowhere/x.json
    refused --svg x.svg barrier
    if env PATH=/nowhere "$ecube" bench --sim --svg x.svg latency >out 2>err || [ "$(wc -l <err)" -ne 1 ]; then
        fail "drawn without gnuplot: $(cat out err)"
    fi
    grep -q 'gnuplot draws it, and is not in PATH' err || fail "$(cat err)"
    [ ! -e x.svg ] || fail "a picture is left"
    bench --sim --network cube:2 --json before.json exchange
    refused --compare before.json --network cube:2 scan
    grep -q 'it has no scan, but exchange$' err || fail "$(cat err)"
    refused --compare before.json --network ring:4 exchange
    grep -q 'it is of cube:2, and this is ring:4$' err || fail "$(cat err)"
    refused --compare before.json --network cube:2 --profile ipsc2 exchange
    grep -q 'it is of the profile ipsc860, and this is ipsc2$' err || fail "$(cat err)"
    refused --compare before.json --network cube:2 --ports 2 exchange
    refused --compare before.json --network cube:2 --sigma 2 exchange
    refused --compare before.json --network cube:2 --map cycle exchange
    grep -q 'before.json: it has another --map$' err || fail "$(cat err)"
    tool_succeeds sim --network cube:2 --json other.json exchange
    : >empty.json
    echo '{"bench": {"rows": [1' >cut.json
    echo '{"bench": {"rows": 1}}' >odd.json
    echo '{"bench": {"rows": [1, {}, [], {"operation": 1}]}}' >rows.json
    head -c 1000 "$ecube" >binary.json
    for file in other.json empty.json cut.json odd.json binary.json; do
        refused --compare $file --network cube:2 exchange
        grep -q "$file: that is nothing that ecube bench --json has written\$" err || fail "$(cat err)"
    done
    refused --compare rows.json --network cube:2 exchange
    refused --compare . --network cube:2 exchange
}

# The program's answer is not believed when a time or a byte is another.
wrong_rows_are_marked() {
    mkdir -p tree/examples
    cp "$ecube" tree/ecube
    cp -r "$nodes" tree/
    sed 's/return (unsigned char)(source \* 37/return (unsigned char)((at == 9 \&\& ranks > 0) + source * 37/' \
        "$source_tree/examples/collectives/collectives.c" >collectives.c
    sed 's/prediction->bound_ns =/prediction->model_ns += bytes == 64; prediction->bound_ns =/' \
        "$source_tree/examples/collectives/messages.c" >messages.c
    "$build/ecube-cc" --native -iquote "$source_tree" collectives.c messages.c -o tree/examples/collectives.so || fail "ecube-cc"
    ecube=$PWD/tree/ecube
    bench_fails 1 --sim --network cube:2 --bytes 4,16,64 gather latency
    rows out >rows
    printf '%s\n' 'gather 4 ok' 'gather 16 WRONG' 'gather 64 WRONG' 'latency 4 ok' 'latency 16 WRONG' 'latency 64 WRONG' >expected
    awk '{ print $1, $2, $6 }' rows | cmp -s - expected || fail "$(cat out)"
    sed -i 's/at == 9/at == 9999/' collectives.c
    "$build/ecube-cc" --native -iquote "$source_tree" collectives.c messages.c -o tree/examples/collectives.so || fail "ecube-cc"
    bench_fails 1 --sim --network cube:2 --bytes 16,64 latency
    rows out | awk '{ print $2, $6 }' | tr '\n' ' ' | grep -q '^16 ok 64 TIME $' || fail "$(cat out)"
}

an_installed_tool_finds_what_measures() {
    sh "$source_tree/scripts/install.sh" "$build" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    ecube=$PWD/prefix/bin/ecube
    tool_succeeds bench --network cube:1 --bytes 16 latency
    tool_succeeds bench --sim --network cube:1 --bytes 16 latency
    rm prefix/lib/ecube/examples/collectives.so
    bench_fails 2 --sim latency
    grep -q '^ecube: the program that measures is missing: ' err || fail "$(cat err)"
}

the_figure_is_an_svg() {
    bench --sim --network cube:2 --svg bench.svg
    head -n 3 bench.svg | grep -q '<svg' || fail "no SVG: $(head -n 3 bench.svg)"
    tail -n 2 bench.svg | grep -q '</svg>' || fail "the SVG does not end"
    for name in latency exchange all_to_some; do
        grep -q ">$name<" bench.svg || fail "no panel for $name"
    done
    ! grep -qi warning err || fail "gnuplot complains: $(cat err)"
}

check "all rows of a bench are as predicted: cube:3" all_are_as_predicted cube:3
check "... and where nodes use two ports: mesh:3x3" all_are_as_predicted mesh:3x3 --ports 2
check "... and all, on another map of ranks" all_are_as_predicted torus:2x4 --ports all --map cycle --profile t800
check "messages take what their formula says" messages_take_what_their_formula_says
check "a bench on nodes has the simulator's times" nodes_are_as_simulated
check "a comparison says what has changed" changes_are_told
check "... and whether --paths was another number" paths_are_compared
check "the algorithm of a row is that of the planner" algorithms_are_those_of_the_plans
check "sizes may be ranges" sizes_are_ranges_too
check "messages over several paths take what is predicted" several_paths_are_predicted
check "messages of any number, and programs that poll, take what is predicted" programs_do_it_in_other_ways
check "one node has collectives alone" one_node_has_collectives
check "blocks that do not fit are named, and the others measured" what_does_not_fit_is_said
check "a bench refuses bad input" bad_input_is_refused
check "wrong bytes and wrong times are marked, and the status is 1" wrong_rows_are_marked
check "an installed tool finds the program that measures" an_installed_tool_finds_what_measures
if command -v gnuplot >/dev/null; then
    check "a bench's figure is an SVG" the_figure_is_an_svg
else
    case_number=$((case_number + 1))
    echo "ok $case_number - a bench's figure is an SVG # SKIP no gnuplot: make scale installs it"
fi
cases_done
