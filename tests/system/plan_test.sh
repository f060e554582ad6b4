# ecube plan as a user drives it: what is exported does what it says, what is shown fits and is right, bad input.
# class: waits
. tests/system/testing.sh
share_plans
unset COLUMNS

plan_replay=$build/tests/plan_replay
operations='barrier broadcast reduce allreduce reduce_scatter scan scatter gather allgather alltoall alltoallv shift reverse all_to_some'

# exported OPERATION NETWORK BYTES ROOT [OPTION...] - into plan.json; replayed by what knows only the file and the rule of time.
exported() {
    operation=$1 network=$2 bytes=$3 root=$4
    shift 4
    tool_succeeds plan export "$operation" --network "$network" --bytes "$bytes" --root "$root" --json plan.json "$@"
    timeout 60 "$plan_replay" plan.json >said || fail "$operation on $network, $bytes bytes, root $root: $(cat said)"
}

rooted() {
    case $1 in
    barrier | all* | reduce_scatter | scan | shift | reverse) return 1 ;;
    esac
}

exports_are_what_they_say() {
    for network in "$@"; do
        for operation in $operations; do
            exported "$operation" "$network" 1000 0
            exported "$operation" "$network" 16 0 --profile unit
            exported "$operation" "$network" 0 0
            ! rooted "$operation" || exported "$operation" "$network" 1000 4
        done
    done
}

small_and_odd_networks() {
    for network in "$@"; do
        for operation in $operations; do
            exported "$operation" "$network" 100 0
        done
    done
    exported reduce mesh:3x4 1000 7 --type double
}

# Every algorithm that a network can have, also those that are never the cheapest there.
other_algorithms() {
    for network in "$@"; do
        for operation in $operations; do
            tool_succeeds plan list "$operation"
            sed -n 's/^  \([^ ].*\)/\1/p' out >names
            while read -r name; do
                tool plan show "$operation" --network "$network" --algorithm "$name"
                { [ "$status" -eq 2 ] && grep -q ' wants ' err; } ||
                    exported "$operation" "$network" 100 0 --algorithm "$name"
            done <names
        done
        exported shift "$network" 100 0 --algorithm hierarchical --parameter 2
        exported shift "$network" 100 0 --parameter 4
        exported reverse "$network" 100 0 --parameter 1
    done
}

nodes_take_that_time() {
    for network in "$@"; do
        for operation in $operations; do
            tool_succeeds sim --network "$network" $operation --bytes 1000 --json result.json
            exported $operation "$network" 1000 0
            measured=$("$json_get" result.json reports 0 model_us) predicted=$("$json_get" plan.json predicted_us)
            [ "$measured" = "$predicted" ] || fail "$operation on $network: $measured us, not $predicted"
        done
    done
}

# mapped OPERATION NETWORK BYTES ROOT - the cheapest is a plan of another network: its export is right, nodes take its time, and
# it is explained and to be had by its words.
mapped() {
    exported "$1" "$2" "$3" "$4"
    words=$("$json_get" plan.json algorithm) predicted=$("$json_get" plan.json predicted_us)
    case $words in
    *"mapped from "*) ;;
    *) fail "$1 on $2, $3 bytes: by $words" ;;
    esac
    tool_succeeds plan explain "$1" --network "$2" --bytes "$3" --root "$4"
    tr -s ' \n' '  ' <out | grep -qF "* $words" || fail "$1 on $2 is not explained"
    exported "$1" "$2" "$3" "$4" --algorithm "$words"
    [ "$("$json_get" plan.json predicted_us)" = "$predicted" ] || fail "$1 on $2 by $words is another plan"
    tool_succeeds plan verify plan.json
    [ "$4" -gt 0 ] || tool_succeeds sim --network "$2" "$1" --bytes "$3" --json result.json
    [ "$4" -gt 0 ] || [ "$("$json_get" result.json reports 0 model_us)" = "$predicted" ] || fail "$1 on $2: not $predicted us"
}

plans_of_other_networks() {
    mapped broadcast torus:4x4 16000 0
    mapped broadcast torus:4x4 16000 5
    mapped alltoall torus:4x4 4 0
    mapped alltoallv torus:4x2 400 0
    mapped gather cube:4 4 11
    mapped scatter mesh:3x4 64 0
    mapped scan mesh:2x2x2 400 0
    mapped scan torus:3x5 64 0
    mapped allreduce torus:4x4 400 0
    mapped reduce cube:4 4 6
}

# damaged COMMAND - a plan with this change is refused by the replay.
damaged() {
    sed "$1" plan.json >other.json
    ! cmp -s plan.json other.json || fail "nothing is damaged by $1"
    ! timeout 60 "$plan_replay" other.json >said || fail "not seen: $1"
}

damage_is_seen() {
    exported alltoall ring:5 16 0 --algorithm direct
    damaged '/"order":3,/d'
    damaged 's/"predicted_us":\([0-9]*\)\.\([0-9][0-9]\)[0-9]/"predicted_us":\1.\21/'
    damaged 's/"step":2,"order":11,/"step":1,"order":11,/'
    damaged 's/"path":\[0,1\]/"path":[0,4,3,2,1]/'
    damaged 's/"path":\[0,1,2\]/"path":[0,2]/'
    damaged 's/"blocks":\["0.1"\]/"blocks":["2.1"]/'
    damaged 's/"blocks":\["0.1"\]/"blocks":["0.2"]/'
    damaged 's/"bytes":16/"bytes":17/'
    exported reduce mesh:3x4 1000 0 --algorithm "halving tree"
    damaged 's/"combine":true/"combine":false/'
    damaged 's/"to":6,"path":\[7,6\]/"to":3,"path":[7,3]/'
    damaged 's/"order":10,"from":8,/"order":10,"from":12,/'
    exported broadcast cube:4 1000 0 --algorithm "halving tree"
    damaged 's/"order":1,"from":0,/"order":1,"from":9,/'
    exported barrier ring:5 0 0 --algorithm "halving tree"
    damaged 's/"from":1,"to":0,"path":\[1,0\]/"from":0,"to":1,"path":[0,1]/'
}

# The numbers of the paper, worked out elsewhere: n, k, T_aap ns, bound ns.
aap_takes_the_papers_time() {
    sed -n 's/^{\([0-9, ]*\)},.*/\1/p' "$source_tree/tests/golden/aap_times.txt" | tr -d , >golden
    [ "$(wc -l <golden)" -ge 18 ] || fail "where are the golden times?"
    while read -r dims bytes wanted bound; do
        tool_succeeds plan export exchange --network "cube:$dims" --bytes "$bytes" --profile ipsc860 --algorithm AAP \
            --json plan.json
        sed -n 's/.*"predicted_us":\([0-9]*\)\.\([0-9]*\),"bound_us":\([0-9]*\)\.\([0-9]*\),$/\1\2 \3\4/p' plan.json |
            sed 's/^0*\([0-9]\)/\1/' >times
        [ "$(cat times)" = "$wanted $bound" ] || fail "cube:$dims, $bytes bytes: $(cat times), wanted $wanted $bound"
    done <golden
}

# The order of the paper's steps: in each of them node 0 sends to the mask of the subcube, and all others accordingly.
aap_takes_the_papers_steps() {
    for dims in 1 2 3 4; do
        sed -n "s/^{$dims, [0-9]*, [0-9]*, \(0x[0-9a-f]*\)},.*/\1/p" "$source_tree/tests/golden/aap_steps.txt" >masks
        [ "$(wc -l <masks)" -eq $(((1 << dims) - 1)) ] || fail "where are the golden steps?"
        tool_succeeds plan export exchange --network cube:$dims --algorithm AAP --json plan.json
        sed -n 's/^{"step":\([0-9]*\),.*"from":\([0-9]*\),"to":\([0-9]*\),.*/\1 \2 \3/p' plan.json >circuits
        [ "$(wc -l <circuits)" -eq $(((1 << dims) * ((1 << dims) - 1))) ] || fail "circuits: $(wc -l <circuits)"
        while read -r step from to; do
            mask=$(sed -n "$((step + 1))p" masks)
            [ $((from ^ to)) -eq $((mask)) ] || fail "cube:$dims, step $step: $from to $to, wanted $mask"
        done <circuits
    done
}

# What a row of the head says.
the_form_is_that_of_the_issue() {
    tool_succeeds plan export exchange --mesh torus:3x4 --bytes 8 --profile unit --algorithm direct --json plan.json
    for words in network:torus:3x4 operation:alltoall nodes:12 root:0 ports:1 bytes:8 segments:1; do
        [ "$("$json_get" plan.json "${words%%:*}")" = "${words#*:}" ] || fail "not $words"
    done
    [ "$("$json_get" plan.json profile)" = '{"xi_ns":1000,"tau_ns":1000,"element_ns":1000,"element_bytes":1}' ] || fail "profile"
    [ "$("$json_get" plan.json circuits length)" -eq 132 ] || fail "circuits"
    sed -n '/"order":0,/p' plan.json | grep -Eqx '\{"step":0,"order":0,"from":[0-9]+,"to":[0-9]+,"path":\[[0-9,]+\],"blocks":\["[0-9]+\.[0-9]+"\],"combine":false,"bytes":null,"ahead":false\},' ||
        fail "a circuit: $(sed -n '/"order":0,/p' plan.json)"
    tool_succeeds plan export alltoall --network torus:3x4 --bytes 8 --profile unit --algorithm direct --json -
    cmp out plan.json || fail "another file under the operation's other name, or on standard output"
    [ ! -s err ] || fail "words on standard error: $(cat err)"
    tool_succeeds plan export alltoall --network torus:3x4 --bytes 8 --profile unit --algorithm direct
    cmp out plan.json || fail "standard output is the default"
}

# fits - what was printed has no line of more than 100 columns.
fits() {
    ! grep -Eq '.{101}' out || fail "too wide: $(grep -E '.{101}' out | head -n 3)"
}

shows_what_it_takes() {
    tool_succeeds plan show exchange --network cube:3 --bytes 16 --algorithm AAP
    fits
    grep -Eq '^algorithm +AAP$' out || fail "algorithm: $(cat out)"
    grep -Eq '^source +Boppana' out || fail "source"
    grep -Eq '^ +0  0 .* copy$' out || fail "copy"
    grep -Eq '^ +0  0-1-3-7  0 0 0  0\.7 +101\.800$' out || fail "first row: $(cat out)"
    grep -Eq '^ +6  0-4 .* 0\.4 +622\.600$' out || fail "last row"
    grep -Eq '^steps +7$' out || fail "steps"
    grep -Eq '^circuits +56$' out || fail "circuits"
    grep -Eq '^hops +96$' out || fail "hops"
    grep -Eq '^model time +622\.600 us on ipsc860$' out || fail "model time"
    grep -Eq '^bound +47\.600 us: .*bytes.* through its port$' out || fail "bound"
    ! grep -Eq ' more |inside nodes' out || fail "nothing is left out here"
}

shows_what_fits() {
    for network in "$@"; do
        for operation in $operations; do
            tool_succeeds plan show "$operation" --network "$network"
            fits
            [ "$(wc -l <out)" -le 55 ] || fail "$operation on $network has $(wc -l <out) lines"
        done
    done
}

says_how_much_more() {
    tool_succeeds plan show exchange --network cube:7
    grep -q "^and 95 more ('ecube plan export' writes all), and 1 copy inside nodes$" out || fail "how many more: $(cat out)"
    tool_succeeds plan show reduce --network mesh:5x5 --algorithm 'halving tree'
    grep -Eq '^and 1[0-9] copies inside nodes$' out || fail "copies: $(cat out)"
    [ "$(grep -c ' combine$' out)" -eq 24 ] || fail "circuits: $(cat out)"
    tool_succeeds plan show gather --network cube:16 --root 65535
    fits
}

large_exports_are_streamed() {
    (
        ulimit -v 500000
        tool_succeeds plan export exchange --network cube:10 --bytes 1 --algorithm AAP --json plan.json
    ) || exit 1
    [ "$(grep -c '"order"' plan.json)" -eq $((1024 * 1023)) ] || fail "circuits: $(grep -c '"order"' plan.json)"
    [ "$(tail -n 1 plan.json)" = ']}' ] || fail "it has no end"
}

# Every name in the list is one that a plan can be asked for by.
lists_what_there_is() {
    tool_succeeds plan list
    fits
    sed -n '/^[a-z]/p' out >heads
    for operation in $operations; do
        grep -Eq "\<$operation\>" heads || fail "$operation is not listed"
    done
    tool_succeeds plan list alltoall
    [ "$(grep -c '^[a-z]' out)" -eq 1 ] || fail "not one operation: $(cat out)"
    grep -Eq '^ +wants +a cube$' out || fail "no restriction"
    grep -Eq '^ +from +Boppana' out || fail "no source"
    grep -Eq '^ +takes +\(N - 1\) xi' out || fail "no closed form"
    grep -Eq '^ +serves +for comparison' out || fail "nothing is for comparison"
    sed -n 's/^  \([^ ].*\)/\1/p' out >names
    while read -r name; do
        for where in cube:3 'cube:3 --ports all' mesh:4x4 mesh:3x5 'mesh:3x5 --ports all' torus:4x4; do
            # shellcheck disable=SC2086 -- words
            tool plan show exchange --network $where --algorithm "$name"
            [ "$status" -ne 0 ] || break
        done
        [ "$status" -eq 0 ] || fail "no network has $name: $(cat err)"
    done <names
}

# The papers' bound and the one with set-ups; where a plan takes far more it is called open, elsewhere not.
says_what_is_open() {
    tool_succeeds plan explain exchange --network cube:4 --bytes 16
    grep -Eq '^bound +102\.000 us: ' out || fail "the papers' bound: $(cat out)"
    grep -Eq '^with set-up +306\.800 us: ' out || fail "the bound with set-ups: $(cat out)"
    grep -Eq '^open +[0-9.]+ times the bound with set-up: ' out || fail "open: $(cat out)"
    tool_succeeds plan explain exchange --network mesh:1x61 --bytes 1000
    grep -Eq '^bound +395325\.000 us: .*link' out || fail "the links' bound: $(cat out)"
    ! grep -q '^open' out || fail "it is at the bound: $(cat out)"
    tool_fails 2 'at most 127 hops' plan explain exchangev --network mesh:1x60000
    grep -q 'by rounds wants 2 to 1,024 nodes' err || fail "a limit is not named: $(cat err)"
    for verb in 'plan explain' sim; do
        # shellcheck disable=SC2086 -- a verb of two words
        tool_fails 2 'by AAP, AAP ahead want a cube' $verb exchange --network torus:64x64
        grep -q 'network alike$' err || fail "the last limit is cut off: $(cat err)"
    done
}

# The chosen line is a least one of the table; each time is that of the plan that is exported by its name.
explains_the_choice() {
    for words in "$@"; do
        # Split into words.
        # shellcheck disable=SC2086
        set -- $words
        tool_succeeds plan explain "$1" --network "$2" --bytes "$3"
        fits
        explained_rows >rows
        sed 's/^[^ ]* //' rows >times
        [ -s times ] || fail "$words: no times: $(cat out)"
        chosen=$(sed -n 's/^\* \([0-9.]*\) .*/\1/p' rows)
        [ "$(sort -n times | sed -n '1s/ .*//p')" = "$chosen" ] || fail "$words: not the least: $(cat out)"
        tr -s '\n ' ' ' <out | grep -Eq " chosen .*, $chosen us" || fail "$words: no reason"
        grep -Eq '^bound ' out || fail "$words: no bound"
        while read -r predicted name; do
            tool_succeeds plan export "$1" --network "$2" --bytes "$3" --algorithm "$name" --json plan.json
            [ "$(printf %.3f "$("$json_get" plan.json predicted_us)")" = "$predicted" ] || fail "$words: $name does not take $predicted"
        done <times
    done
    tool_succeeds plan explain exchange --network ring:5
    grep -Eq 'AAP +not possible: it wants a cube$' out || fail "AAP on a ring: $(cat out)"
    grep -Eq '^~ neighbours ' out || fail "neighbours are for comparison: $(cat out)"
}

# Each row is that of an export for so many ports, and more ports take no longer here.
explains_several_ports() {
    for words in 'broadcast cube:4 10000' 'exchange ring:6 100' 'allreduce torus:3x3 1000'; do
        # shellcheck disable=SC2086
        set -- $words
        tool_succeeds plan explain "$1" --network "$2" --bytes "$3" --ports 1,2,all
        fits
        sed -n 's/^  \(1\|2\|all\) .*/&/p' out >rows
        [ "$(wc -l <rows)" -eq 3 ] || fail "$words: $(cat out)"
        awk '{ if (NR > 1 && $3 > least) exit 1; least = $3; if ($4 > $3) exit 1 }' rows || fail "$words: $(cat out)"
        while read -r ports steps predicted bound over name; do
            tool_succeeds plan export "$1" --network "$2" --bytes "$3" --ports "$ports" --json plan.json
            [ "$(printf %.3f "$("$json_get" plan.json predicted_us)")" = "$predicted" ] || fail "$words: $ports ports"
            [ "$(printf %.3f "$("$json_get" plan.json bound_us)")" = "$bound" ] || fail "$words: the bound of $ports ports"
            [ "$steps" -gt 0 ] && [ -n "$over$name" ] || fail "$words: $ports ports have no steps"
        done <rows
    done
}

bad_words() {
    tool_fails 2 '--ports 1,x: use a number' plan explain gather --ports 1,x
    tool_fails 2 'nodes of cube:3 have 3 links: use 1 to 3, or all' plan explain gather --network cube:3 --ports 1,4
    tool_fails 2 'ecube plan explain compares several' plan show gather --ports 1,2
    tool_fails 2 'show.*export' plan
    tool_fails 2 "'draw'.*show, export, verify, list, explain or cache" plan draw exchange
    tool_fails 2 "unknown operation 'sort': use barrier" plan list sort
    tool_fails 2 'name an operation: barrier' plan explain
    tool_fails 2 "no algorithm .best." plan explain exchange --algorithm best
    tool_fails 2 'that is for ecube plan export' plan explain gather --json plan.json
    tool_fails 2 'name an operation: barrier, .*exchange \(alltoall\)' plan show
    tool_fails 2 "unknown operation 'sort': use barrier" plan show sort
    tool_fails 2 "unknown operation 'align'" plan export align
    tool_fails 2 "'twice' is one word too many" plan show gather twice
    tool_fails 2 "unknown network 'star:5'" plan show gather --network star:5
    tool_fails 2 "unknown profile 'fast'" plan export gather --profile fast
    tool_fails 2 "'16' is no node" plan show gather --root 16
    tool_fails 2 'barrier has no root' plan show barrier --root 1
    tool_fails 2 "unknown type 'real': use int32, double, int8, .*, double.int32" plan show reduce --type real
    tool_fails 2 'gather combines nothing' plan show gather --type int32
    tool_fails 2 '--bytes 10: an element of int32 has 4 bytes' plan show reduce --bytes 10
    tool_fails 2 '--bytes -1' plan show gather --bytes -1
    tool_fails 2 '--bytes 99999999999' plan show gather --bytes 99999999999
    tool_fails 2 "no algorithm .best.; there are .halving tree" plan show gather --algorithm best
    tool_fails 2 'ring:5: exchange by AAP wants a cube' plan show exchange --network ring:5 --algorithm AAP
    tool_fails 2 'torus:30x30x30: exchange' plan export exchange --network torus:30x30x30
    tool_fails 2 'that is for ecube plan export' plan show gather --json plan.json
}

bad_files() {
    tool_fails 2 'cannot write the JSON file no/such: No such file' plan export gather --json no/such
    tool_fails 2 'cannot write the JSON file /dev/full: No space' plan export gather --json /dev/full
    tool_fails 2 'cannot write the JSON file /dev/full: No space' plan export exchange --network cube:7 --json /dev/full
    echo kept >old.json
    tool_fails 2 'AAP wants a cube' plan export exchange --network ring:5 --algorithm AAP --json old.json
    [ "$(cat old.json)" = kept ] || fail "what was in the file is gone, for no plan"
    tool_fails 2 'AAP wants a cube' plan export exchange --network ring:5 --algorithm AAP --json new.json
    [ ! -e new.json ] || fail "a file without a plan"
}

help_has_examples() {
    export ECUBE_CACHE=$PWD/cache
    tool_succeeds plan --help
    grep -q '^ *ecube plan export\|Examples: ecube plan show' out || fail "no examples"
    tr '\n' ' ' <out >line
    for operation in $operations; do
        grep -Eq "OPERATION is one of [^.]*\<$operation\>" line || fail "$operation is not named"
    done
    sed -n 's/^\(Examples: \|          \)ecube \(plan [^|]*\).*/\2/p' out >examples
    [ "$(wc -l <examples)" -eq 12 ] || fail "examples: $(cat examples)"
    command -v gnuplot >/dev/null || sed -i '/ --svg /d' examples
    while read -r words; do
        # Split into words as they are printed.
        # shellcheck disable=SC2086
        tool_succeeds $words
    done <examples
}

# Each algorithm that has a plan at some size has a line, and so have the choice and the bound.
figure_has_all_algorithms() {
    tool_succeeds plan explain scan --network mesh:3x4 --bytes 4096 --svg scan.svg
    grep -q '</svg>' scan.svg || fail "no figure: $(head -n 3 scan.svg)"
    for name in chosen bound 'halving tree' chain 'exchange, exchange'; do
        grep -q ">$name<" scan.svg || fail "no line for $name"
    done
    ! grep -q '>recursive doubling<' scan.svg || fail "a line for what wants a cube"
}

refuses_figures() {
    tool_fails 2 'for ecube plan explain' plan show scan --svg x.svg
    tool_fails 2 'an axis of sizes' plan explain barrier --svg x.svg
    tool_fails 2 'for one number of ports' plan explain scan --ports 1,2 --svg x.svg
    tool_fails 2 'cannot write the SVG file no/such' plan explain scan --svg no/such
    if env PATH=/nowhere "$ecube" plan explain scan --svg x.svg >out 2>err; then fail "a figure without gnuplot"; fi
    grep -q 'gnuplot' err || { cat err; fail "no gnuplot is not told"; }
    [ ! -e x.svg ] || fail "a file without a figure"
}

with_sanitizers
check "an export replayed by its rule alone keeps every promise to the nanosecond" exports_are_what_they_say mesh:3x4
check "simulated nodes take the time of their plan's export" nodes_take_that_time ring:5
check "a plan of another network is exported, explained and executed as any other" mapped allgather torus:3x5 64 0
check "a damaged export is not what it says" damage_is_seen
check "the file has the form of doc/json.md, on standard output too" the_form_is_that_of_the_issue
check "a plan is shown with its rows, its counts, its time and its bound" shows_what_it_takes
check "what is shown fits 100 columns and a screen" shows_what_fits cube:4
check "and says how much more there is" says_how_much_more
check "the choice is explained by what all take" explains_the_choice 'scan ring:6 96'
check "a bound says whether it counts set-ups, and what is open" says_what_is_open
check "bad words, networks, roots, types and algorithms are one line" bad_words
check "a file that cannot be written is one line, and no plan touches no file" bad_files
check "the examples of the help work" help_has_examples
check "a figure that cannot be is one line" refuses_figures
# Sweeps, with the tool as it is: sanitizers would make a start of it five times as long.
ecube=$build/ecube reports=
check "exports keep every promise on networks of each kind" exports_are_what_they_say ring:5 torus:3x4x2 cube:4
check "so do those of one node, of two, of lines and of odd rings" \
    small_and_odd_networks cube:0 cube:1 ring:2 ring:3 ring:16 mesh:1x7 mesh:2x1x3 torus:5x5
check "nodes take the time of the exports on networks of each kind" nodes_take_that_time mesh:3x4 torus:3x4x2 cube:4
check "plans of other networks serve all operations" plans_of_other_networks
check "AAP takes the time of the paper" aap_takes_the_papers_time
check "AAP takes the steps of the paper in their order" aap_takes_the_papers_steps
check "what is shown of large networks fits, too" shows_what_fits mesh:3x4 torus:3x4x2 cube:7
check_long "so does what is shown of 63 to 256 nodes" shows_what_fits mesh:7x9 cube:8 ring:100
check "every algorithm is listed, under a name by which it can be had" lists_what_there_is
check "the choice is explained on networks of each kind" \
    explains_the_choice 'scan cube:4 4000' 'exchange mesh:3x4 100' 'allgather torus:3x3 8'
check "several numbers of ports are explained side by side" explains_several_ports
if command -v gnuplot >/dev/null; then
    check "a figure has what all algorithms take over the size" figure_has_all_algorithms
else
    case_number=$((case_number + 1))
    echo "ok $case_number - a figure has what all algorithms take over the size # SKIP no gnuplot: make scale installs it"
fi
check "exports of every algorithm keep every promise, the first choice or not" other_algorithms mesh:3x4 cube:3
check_long "so they do on lines, rings, tori and 16 nodes" other_algorithms ring:5 torus:3x4x2 cube:4 mesh:1x7
check "an export of a million circuits needs little memory" large_exports_are_streamed
cases_done
