# profile_test.sh BUILD - machines that people describe: what ecube profile lists, shows and finds, and that nodes in QEMU and
# in the simulator take the time of any profile to the nanosecond.
# class: waits
. tests/system/testing.sh

# Numbers that divide nothing, and elements that sizes do not fill.
odd() {
    cat >odd.json <<'EOF'
{"name": "odd", "xi_ns": 7919, "tau_ns": 613, "element_ns": 37, "element_bytes": 3, "sigma": 1.237, "ports": 1}
EOF
}

built_in='ipsc860 ipsc2 delta t800 unit'

list_names_all_with_their_sources() {
    tool_succeeds profile list
    [ "$(sed -n 's/^\([a-z0-9]*\).*/\1/p' out | grep . | tr '\n' ' ')" = "$built_in " ] || { cat out; fail "names"; }
    [ "$(grep -c '^ *from ' out)" -eq 5 ] || fail "sources"
    grep -q '^ipsc860 (default)$' out || fail "default"
    grep -q 'links are not shared here' out || fail "the delta says nothing of its links"
    tool_succeeds profile list --json -
    for i in 0 1 2 3 4; do "$json_get" out $i name; done | tr '\n' ' ' >names
    [ "$(cat names)" = "$built_in " ] || fail "as JSON: $(cat names)"
}

help_has_examples() {
    for words in '' list show fit; do
        tool_succeeds profile $words --help
        grep -q 'ecube profile fit measured.csv' out && grep -q 'ecube profile show ipsc860' out &&
            grep -q 'ecube profile list' out || fail "profile $words --help"
    done
}

# What is shown, as a file, is the same machine.
shown_is_taken_back() {
    for name in $built_in; do
        tool_succeeds profile show $name
        mv out $name.json
        tool_succeeds profile show ./$name.json --json again.json
        cmp -s $name.json again.json || fail "$name is shown otherwise when it is a file"
        for words in "plan show exchange --network cube:3" "plan explain allreduce --network mesh:3x4 --bytes 4000"; do
            tool_succeeds $words --profile $name
            mv out by_name
            tool_succeeds $words --profile ./$name.json
            cmp -s out by_name || { diff out by_name; fail "$words with $name as a file"; }
        done
    done
    tool_succeeds profile show - <unit.json
    cmp -s out unit.json || fail "standard input"
}

# measured_is_predicted - of all that is in result.json: reports and the download.
measured_is_predicted() {
    reports=$("$json_get" result.json reports | tr ',' '\n' | grep -c '"model_us"')
    [ "$reports" -ge "$1" ] || fail "$reports results"
    for index in $(seq 0 $((reports - 1))); do
        model=$("$json_get" result.json reports $index model_us)
        [ "$model" = "$("$json_get" result.json reports $index predicted_us)" ] ||
            fail "result $index: $model us, predicted $("$json_get" result.json reports $index predicted_us)"
    done
    [ "$("$json_get" result.json download model_us)" = "$("$json_get" result.json download predicted_us)" ] ||
        fail "download: $("$json_get" result.json download model_us) us, predicted $("$json_get" result.json download predicted_us)"
    [ "$("$json_get" result.json profile name)" = odd ] || fail "name"
    [ "$("$json_get" result.json profile element_bytes)" = 3 ] || fail "element_bytes"
    [ "$("$json_get" result.json profile sigma)" = 1.237 ] || fail "sigma"
}

model_times() {
    for index in 0 1 2 3; do "$json_get" result.json reports $index model_us; done
}

# The exchange by AAP has a closed form: N - 1 circuits one after the other, d N / 2 hops.
nodes_in_qemu_take_its_time() {
    odd
    sizes='1 16 100 1000'
    tool_succeeds run --profile odd.json --network cube:3 --algorithm AAP --json result.json "$examples/complete_exchange.elf" $sizes
    measured_is_predicted 4
    index=0
    for bytes in $sizes; do
        closed=$(awk -v k="$bytes" 'BEGIN { printf "%.3f", (7 * 7919 + 12 * 613 + (5 + 7 * int((k + 2) / 3)) * 37) / 1000 }')
        [ "$(printf '%.3f' "$("$json_get" result.json reports $index model_us)")" = "$closed" ] || fail "$bytes bytes: not $closed us"
        index=$((index + 1))
    done
    tool_succeeds run --profile odd.json --network mesh:2x3 --strategy pipelined --json result.json "$examples/complete_exchange.elf" $sizes
    measured_is_predicted 4
    model_times >on_nodes
    tool_succeeds sim --profile odd.json --network mesh:2x3 exchange $(for bytes in $sizes; do echo --bytes $bytes; done) --json result.json
    model_times >simulated
    cmp -s on_nodes simulated || { diff on_nodes simulated; fail "the simulator has other times"; }
}

# A machine that is up keeps its profile, and --sigma goes before the file's.
a_machine_that_is_up_keeps_it() {
    odd
    tool_succeeds up --profile odd.json --network ring:3 --name odd
    rm odd.json
    for strategy in decremental sequential; do
        tool_succeeds load --name odd --strategy $strategy --json result.json "$examples/complete_exchange.elf" 7 700
        measured_is_predicted 2
    done
    tool_succeeds down --name odd
    odd
    tool_succeeds sim --profile odd.json --sigma 2 --network ring:3 download --json result.json
    [ "$("$json_get" result.json profile sigma)" = 2.0 ] || [ "$("$json_get" result.json profile sigma)" = 2 ] || fail "--sigma"
}

every_operation_takes_its_time() {
    odd
    for network in cube:3 ring:6 mesh:3x4 torus:3x3x2; do
        for operation in barrier broadcast reduce allreduce reduce_scatter scan scatter gather allgather exchange shift reverse all_to_some; do
            tool_succeeds sim --profile odd.json --network $network $operation --bytes 4 --bytes 1000 --bytes 40000 --json result.json
            for index in 0 1 2; do
                model=$("$json_get" result.json reports $index model_us)
                [ "$model" = "$("$json_get" result.json reports $index predicted_us)" ] || fail "$operation on $network: $model us"
                [ $operation != barrier ] || break
            done
            tool_succeeds plan export $operation --profile odd.json --network $network --bytes 1000 --json plan.json
            timeout 60 "$build/tests/plan_replay" plan.json >said || fail "$operation on $network: $(cat said)"
        done
    done
}

written_plans_carry_its_elements() {
    odd
    tool_succeeds plan export broadcast --profile odd.json --network ring:4 --bytes 1000 --json plan.json
    tool_succeeds plan verify plan.json
    tool_succeeds sim --profile odd.json --network ring:4 --plan plan.json broadcast --bytes 1000
    sed 's/"element_bytes": 3/"element_bytes": 4/' odd.json >other.json
    tool_fails 2 'plan\.json is a plan for another profile: its elements have 3 bytes, and the machine.s 4' \
        sim --profile other.json --network ring:4 --plan plan.json broadcast --bytes 1000
    sed 's/"element_bytes":3/"element_bytes":4/' plan.json >wrong.json
    tool_fails 2 'wrong\.json: it takes .* us, not ' plan verify wrong.json
}

# Messages of node 0 to each other node of a ring, which are up to 4 hops away, are what the profile is found from.
measured_messages_give_it_back() {
    odd
    echo 'bytes,hops,ns' >table.csv
    for bytes in 1 300 3000; do
        tool_succeeds "$@" "$bytes"
        sed -n 's/^\[\([0-9]*\)\] took \([0-9]*\)$/\1 \2/p' out |
            awk -v bytes=$bytes '{ print bytes "," ($1 > 4 ? 8 - $1 : $1) "," $2 }' >>table.csv
    done
    [ "$(wc -l <table.csv)" -eq 22 ] || { cat out; fail "rows: $(cat table.csv)"; }
    tool_succeeds profile fit table.csv --name odd --element-bytes 3 --sigma 1.237
    grep -q 'root mean square 0.000 us' err || { cat err; fail "errors"; }
    mv out found.json
    for key in xi_ns tau_ns element_ns element_bytes sigma; do
        [ "$("$json_get" found.json $key)" = "$("$json_get" odd.json $key)" ] || fail "$key: $("$json_get" found.json $key)"
    done
    tool_succeeds plan show exchange --profile found.json
}

found_on_simulated_nodes() {
    measured_messages_give_it_back sim --profile odd.json --network ring:8 "$programs/hops.so"
}

found_on_nodes_in_qemu() {
    measured_messages_give_it_back run -q --profile odd.json --network ring:8 "$programs/hops.elf"
}

# The built in delta is what its source says.
the_delta_is_found_from_its_table() {
    {
        echo 'bytes hops ms'
        printf '%s 1 %s\n' 256 0.2666666667 1024 0.5333333333 4096 1.5333333333 8192 2.2666666667 16384 4.2666666667
    } >table2
    tool_succeeds profile fit --tau-ns 0 --name delta table2 --quiet --json fitted.json
    [ ! -s out ] && [ ! -s err ] || fail "something is printed"
    tool_succeeds profile show delta --json delta.json
    for key in xi_ns tau_ns element_ns; do
        [ "$("$json_get" fitted.json $key)" = "$("$json_get" delta.json $key)" ] || fail "$key: $("$json_get" fitted.json $key)"
    done
}

# wrong PATTERN TEXT - a profile with this text is refused, also where a machine would start.
wrong() {
    printf '%s' "$2" >bad.json
    tool_fails 2 "^ecube: bad\.json$1" profile show bad.json
    tool_fails 2 "^ecube: bad\.json$1" run --profile bad.json "$examples/hello.elf"
}

bad_profiles() {
    odd
    wrong ': xi_ns is missing$' '{"name":"a"}'
    wrong ': tau_ns: -3: use a whole number from 0 to 1000000000 \(ns\)$' "$(sed 's/613/-3/' odd.json)"
    wrong ': xi_ns: 5000000000: use a whole number from 0 to 1000000000 \(ns\)$' "$(sed 's/7919/5000000000/' odd.json)"
    wrong ": unknown key 'tau_us': did you mean tau_ns\?$" "$(sed 's/tau_ns/tau_us/' odd.json)"
    wrong ': ports: 17: use a whole number from 1 to 16, or "all"$' "$(sed 's/"ports": 1/"ports": 17/' odd.json)"
    wrong ': ports: "some": use a whole number from 1 to 16, or "all"$' "$(sed 's/"ports": 1/"ports": "some"/' odd.json)"
    wrong ', line 1: this is no JSON: ' 'xi_ns = 7'
    wrong ' is no profile: it is no JSON object$' '[]'
    for words in "run --profile . $examples/hello.elf" 'sim --profile . exchange' 'plan show exchange --profile .' 'up --profile .' \
        'plan explain scan --profile .' 'plan export gather --profile .' 'profile show .'; do
        tool_fails 2 'cannot read the profile \.: Is a directory$' $words
    done
    tool_fails 2 'cannot read the profile no/such\.json: No such file or directory$' sim --profile no/such.json exchange
    tool_fails 2 "unknown profile 'ipsc86': did you mean ipsc860\?" profile show ipsc86
    tool_fails 2 '/dev/zero is no profile: it has more than 65536 bytes$' profile show /dev/zero
    cp odd.json closed.json
    chmod 0 closed.json
    [ -r closed.json ] || tool_fails 2 'cannot read the profile closed\.json: Permission denied$' profile show closed.json
}

bad_words() {
    tool_fails 2 'say what to do: ecube profile list, show PROFILE' profile
    tool_fails 2 "'shwo': did you mean ecube profile show\?" profile shwo
    tool_fails 2 "'7': use list, show or fit" profile 7
    tool_fails 2 'name a profile or its file' profile show
    tool_fails 2 'name a table of times' profile fit
    tool_fails 2 "unit" profile list unit
    tool_fails 2 '[-]-tau-ns is for ecube profile fit' profile show unit --tau-ns 3
    tool_fails 2 '[-]-element-bytes' profile fit --element-bytes 257 table
    tool_fails 2 '[-]-name a b: use 1 to 63 letters' profile fit --name 'a b' table
    tool_fails 2 'cannot read the table none\.csv: No such file or directory$' profile fit none.csv
    printf '8,1,3\n9,1\n' >short.csv
    tool_fails 2 'short\.csv, line 2: a row has three columns' profile fit short.csv
    printf '8,1,3\n90,1,4\n900,1,40\n' >one.csv
    tool_fails 2 'one\.csv: all rows go over 1 hop: measure another number of hops' profile fit one.csv
    tool_fails 2 '/dev/zero, line 1: it is no text$' profile fit /dev/zero
    tool_fails 2 'cannot write the JSON file no/such\.json' profile show unit --json no/such.json
}

check "list names what is built in, with sources; as JSON, too" list_names_all_with_their_sources
check "help has an example of each" help_has_examples
check "what show prints is a file that --profile takes back" shown_is_taken_back
check "nodes in QEMU take the time of a profile of odd numbers to the nanosecond" nodes_in_qemu_take_its_time
check "a machine that is up keeps its profile" a_machine_that_is_up_keeps_it
check "every operation takes its time in the simulator, and in exports" every_operation_takes_its_time
check "written plans carry the bytes of an element" written_plans_carry_its_elements
check_native "messages that are measured on simulated nodes give the profile back" found_on_simulated_nodes
check "messages that are measured on nodes in QEMU give the profile back" found_on_nodes_in_qemu
check "the built in delta is found from its source's table" the_delta_is_found_from_its_table
check "profiles that are wrong are refused with file and key" bad_profiles
check "words and tables that are wrong are refused" bad_words
cases_done
