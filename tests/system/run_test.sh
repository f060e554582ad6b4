# What a user does: runs examples and own programs on every size of cube, and reads the numbers.
# class: waits
. tests/system/testing.sh

# number FILE KEY... - a value of a JSON file.
number() {
    "$json_get" "$@" || fail "no $* in the JSON file"
}

equal() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a - b < 0.0005 && b - a < 0.0005) }' || fail "$3: $1 is not $2"
}

every_example_runs() {
    machine_begins "cube:$dims"
    for example in "$examples"/*.elf; do
        ! left_out "$example" || continue
        [ "$(basename "$example")" = complete_exchange.elf ] && set -- 16 1000 || set --
        tool_succeeds load --name shared "$example" "$@"
    done
    machine_ends
}

every_collective_is_right() {
    machine_begins "cube:$dims"
    for bytes in 1 100 1024 1025 5000; do
        tool_succeeds load --name shared "$programs/collectives.elf" $bytes
    done
    machine_ends
}

messages_are_right() {
    tool_succeeds run --network "cube:$dims" "$programs/messages.elf" 300000
}

arguments_arrive() {
    tool_succeeds run --help
    grep -q 'Options must stand before PROGRAM' out || fail "help does not say whose they are"
    tool_succeeds run --network cube:3 "$programs/arguments.elf" one '' 'two words' --network
    for rank in 0 1 2 3 4 5 6 7; do
        grep -qF "[$rank] node $rank of 8: [one] [] [two words] [--network]" out || { cat out; fail "node $rank"; }
    done
    [ "$(grep -c "^\[" out)" -eq 8 ] || fail "more lines than nodes"
}

formats_are_known() {
    tool_succeeds run --network cube:0 "$programs/formats.elf"
    for line in 'print 80    ff|7   | -3 1099511627776 100%z 2199023255552 end' 'string 12 2.50 34 %zu' 'scan 2: 56 -78' \
        'list 9 10' 'bytes 2: 254 7 9 9' 'count' 'after 9 5 9' 'cut -3| 255|ab | 2.5 1099511627776 end' \
        'wide grüß| ä€|x  |ä|ab| 12' 'alone x€  é 5' 'hexadecimal 1.500e+00    2.5E+00 % 12 13 end' \
        'reals 2.50|    -0.2|INF|     NAN 2: 1.5 -2000.0 12' 'error 11'; do
        cat out err | grep -qF "[0] $line" || { cat out; fail "no line '$line'"; }
    done
    [ "$(grep -c 'list 9 10' out)" -eq 2 ] || fail "vprintf and vfprintf differ"
}

nothing_is_left_for_the_next() {
    tool_succeeds up --name secret --network cube:1
    tool_succeeds load --name secret "$programs/secret.elf" leave
    tool_succeeds load --name secret "$programs/secret.elf" look
    tool_succeeds down --name secret
    wait_until no_processes || fail "processes outlive ecube down"
}

heap_is_whole() {
    tool_succeeds run --network cube:1 "$programs/heap.elf"
}

thread_has_variables() {
    tool_succeeds run --network cube:0 "$programs/thread.elf"
}

sleeps_are_long_enough() {
    tool_succeeds run --network cube:3 "$programs/sleeper.elf"
}

# The host looks after the others several times before time is up, and never says that they wait for ever.
sleeper_lets_others_go_on() {
    may_time_out=1
    tool run --network cube:3 --timeout 8 "$programs/sleeper.elf" 1
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    words | grep -q 'did not end within 8 s: 7 of 8 programs have ended' || { words; fail "not 7 of 8 have ended"; }
    words | grep -q '^ecube: node 1 (rank 1) sleeps for 3[0-9]*\.[0-9] s more$' || { words; fail "nobody says who sleeps"; }
}

# Longer than a link may be silent: what the node then begins does not count from before.
absorbed_node_keeps_its_links() {
    tool_succeeds run --network cube:1 --patience 5s "$programs/absorbed.elf" 6000
}

own_program() {
    cat >squares.c <<'END'
#include <stdio.h>
#include <math.h>
#include <ecube.h>
int main(void)
{
    int mine = ecube_rank() * ecube_rank(), all[128];
    if (ecube_gather(&mine, all, sizeof mine, 0) < 0) return 1;
    for (int i = 0; ecube_rank() == 0 && i < ecube_size(); i++) printf("%d %.3f\n", all[i], sqrt(all[i]));
    return 0;
}
END
    "$build/ecube-cc" squares.c -o squares.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:3 squares.elf
    grep -qF '[0] 49 7.000' out || { cat out; fail "wrong output"; }
}

worst_status() {
    tool run --network cube:2 "$programs/misbehave.elf" exit 2 7
    [ "$status" -eq 7 ] || { words; fail "status $status"; }
}

# exact PROFILE DIMS BYTES... - measured = predicted = the paper's sum, and nothing is wrong.
exact() {
    profile=$1 d=$2
    shift 2
    tool_succeeds run --profile "$profile" --network "cube:$d" --algorithm AAP --json result.json "$examples/complete_exchange.elf" "$@"
    result_is_exact "$@"
}

# result_is_exact BYTES... - of such a run.
result_is_exact() {
    index=0
    for k in "$@"; do
        closed=$(awk -v d="$d" -v k="$k" -v profile="$profile" 'BEGIN {
            n = 2 ^ d; hops = d * n / 2
            printf "%.3f", profile == "unit" ? (n - 1) * k + 2 * hops : (n - 1) * (65 + 0.425 * k) + 10 * hops
        }')
        equal "$(number result.json reports $index model_us)" "$closed" "measured, $profile cube:$d k=$k"
        equal "$(number result.json reports $index predicted_us)" "$closed" "predicted, $profile cube:$d k=$k"
        equal "$(number result.json reports $index wrong)" 0 "wrong bytes"
        equal "$(number result.json reports $index bytes)" "$k" "bytes"
        equal "$(number result.json reports $index steps)" $(((1 << d) - 1)) "steps"
        index=$((index + 1))
    done
}

exact_at_all_sizes() { exact "$1" "$2" 16 100 1000 10000 65536; }

exact_under_load() {
    busy=
    trap 'kill $busy' EXIT # also when it fails
    for i in 1 2 3 4; do
        while :; do :; done &
        busy="$busy $!"
    done
    exact ipsc860 4 16 100 1000
}

exact_every_time() {
    exact ipsc860 3 100
    machine_begins cube:3 --algorithm AAP
    for i in 1 2 3 4 5 6 7 8; do
        tool_succeeds load --name shared --json result.json "$examples/complete_exchange.elf" 100
        result_is_exact 100
    done
    machine_ends
}

json_fields() {
    tool_succeeds run --network cube:4 --json result.json "$examples/complete_exchange.elf" 100
    [ "$(number result.json network)" = cube:4 ] || fail network
    equal "$(number result.json nodes)" 16 nodes
    equal "$(number result.json status)" 0 status
    [ "$(number result.json download strategy)" = decremental ] || fail strategy
    equal "$(number result.json download receipts)" 16 receipts
    equal "$(number result.json reports length)" 1 reports
    equal "$(number result.json troubles length)" 0 troubles
    "$json_get" result.json plans | tr '}' '\n' | grep '"alltoall"' >plan || { cat result.json; fail "no plan of the exchange"; }
    "$ecube" plan explain alltoall --network cube:4 --bytes 100 | sed -n 's/^chosen *\(.*\), [0-9.]* us.*/"\1"/p' >chosen
    grep -qF "$(cat chosen)" plan || { cat chosen plan; fail "algorithm"; }
    [ "$(number result.json program)" = "$examples/complete_exchange.elf" ] || fail program
    [ "$(number result.json arguments)" = '["100"]' ] || fail arguments
    [ "$(number result.json profile name)" = ipsc860 ] || fail profile
    equal "$(number result.json profile tau_us)" 9.575 tau
    equal "$(number result.json exits length)" 16 exits
    equal "$(number result.json exits 15)" 0 "exit status"
    "$ecube" --version | grep -q " $(number result.json version)\$" || fail version
    for field in boot_ms run_ms 'download x' 'download bytes' 'download model_us' 'download predicted_us' 'download wall_ms' \
        'reports 0 name' 'reports 0 bound_us' 'reports 0 wall_us'; do
        # shellcheck disable=SC2086
        number result.json $field >/dev/null
    done
    equal "$(number result.json reports 0 bound_us)" "$(awk 'BEGIN { print 15 * 100 * 0.425 }')" bound
}

download_as_predicted() {
    machine_begins cube:4
    for strategy in decremental sequential scatter sequential-scatter pipelined; do
        tool_succeeds load --name shared --strategy $strategy --json result.json "$programs/arguments.elf"
        equal "$(number result.json download receipts)" 16 "$strategy: receipts"
        [ "$(number result.json download strategy)" = $strategy ] || fail strategy
    done
    machine_ends
}

two_at_once() {
    "$ecube" run --network cube:2 "$programs/collectives.elf" 2000 >first.out 2>&1 &
    first=$!
    tool_succeeds run --network cube:2 "$programs/messages.elf"
    wait $first || { cat first.out; fail "the first machine fails beside a second"; }
}

from_elsewhere() {
    mkdir -p deep/er
    cd deep/er || exit 1
    tool_succeeds run --network cube:1 "$programs/arguments.elf" x
    "$build/ecube-cc" "$source_tree/examples/hello/hello.c" -o hello.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:1 hello.elf
}

through_a_link() {
    ln -s "$ecube" shortcut
    ecube=$PWD/shortcut
    tool_succeeds run --network cube:0 "$programs/arguments.elf" x
}

installed() {
    sh "$source_tree/scripts/install.sh" "$build" "$board" "$PWD/prefix" >/dev/null || fail "install fails"
    ecube=$PWD/prefix/bin/ecube
    prefix/bin/ecube-cc "$source_tree/examples/hello/hello.c" -o hello.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:1 hello.elf
    sh "$source_tree/scripts/install.sh" --remove "$PWD/prefix"
    [ ! -e prefix ] || fail "left: $(find prefix)"
}

# Only what install has made goes, and not what others have put there.
uninstalls_its_own() {
    mkdir -p old/bin new
    for prefix in old new/usr/local; do
        for _ in 1 2; do
            sh "$source_tree/scripts/install.sh" "$build" "$board" "$PWD/$prefix" >/dev/null || fail "install fails"
        done
    done
    touch new/usr/local/lib/other
    for prefix in old new/usr/local; do
        sh "$source_tree/scripts/install.sh" --remove "$PWD/$prefix" || fail "uninstall fails"
    done
    [ "$(find old new | sort | tr '\n' ' ')" = 'new new/usr new/usr/local new/usr/local/lib new/usr/local/lib/other old old/bin ' ] || fail "left: $(find old new)"
}

# hints WORD... - behind the program's name; the run goes on, and the program has them.
hints() {
    tool_succeeds run --network cube:0 "$programs/arguments.elf" "$@"
    words | grep -qx "ecube: --network after the program's name is the program's argument; put it before" || { words; fail "no hint"; }
    [ "$(words | wc -l)" -eq 1 ] || { words; fail "more than one line"; }
    grep -qF "[$1]" out || { cat out; fail "the program has it not"; }
}

takes_options_for_its_own() {
    hints --network cube:2 --json
    hints --network=cube:2
    for words in '-- --network cube:2' '--networks' '--net x' 'network'; do
        # shellcheck disable=SC2086 -- words are meant to split
        tool_succeeds run --network cube:0 "$programs/arguments.elf" $words
        [ -z "$(words)" ] || { words; fail "a hint at '$words'"; }
    done
    tool_succeeds run --network cube:0 -- "$programs/arguments.elf" --network cube:2
    [ -z "$(words)" ] || { words; fail "a hint behind --"; }
}

large_counts() {
    cat >large.c <<'END'
#include <ecube.h>
int main(void)
{
    struct ecube_report line = {.name = "large", .bytes = UINT64_MAX, .steps = 1ULL << 63, .wrong = UINT64_MAX};
    struct ecube_report next = {.name = "small", .bytes = INT64_MAX, .wrong = 3};
    return ecube_report(&line) < 0 || ecube_report(&next) < 0;
}
END
    "$build/ecube-cc" large.c -o large.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:1 --json result.json large.elf
    grep -Eq '^ *18446744T 9223P .* 18447P$' err || { cat err; fail "large counts"; }
    grep -Eq '^ *9223372T +0 .* 6$' err || { cat err; fail "smaller counts"; }
    [ "$(number result.json reports 0 bytes)" = 1.84467440737096e19 ] || { cat result.json; fail "bytes in the JSON file"; }
    [ "$(number result.json reports 0 wrong)" = 1.84467440737096e19 ] || { cat result.json; fail "wrong bytes of two nodes"; }
    [ "$(number result.json reports 1 bytes)" = 9223372036854775807 ] || { cat result.json; fail "bytes of the second line"; }
}

long_output() {
    cat >talk.c <<'END'
#include <stdio.h>
#include <ecube.h>
int main(void)
{
    for (int i = 0; i < 500; i++) printf("line %d of node %d, which is long enough to matter\n", i, ecube_rank());
    return 0;
}
END
    "$build/ecube-cc" talk.c -o talk.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:3 talk.elf
    [ "$(grep -c 'which is long enough to matter$' out)" -eq 4000 ] || fail "$(wc -l <out) lines"
    for rank in 0 5 7; do
        grep -F "[$rank]" out | awk '{ print $3 }' | awk '$1 != NR - 1 { exit 1 }' || fail "order of node $rank"
    done
}

long_words() {
    cat >words.c <<'END'
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 600; i++) fputs("\xe2\x82\xac", stdout);
    for (int i = 0; i < 600; i++) fputs("\xc3\xa9", stdout);
    puts("\xf0\x9d\x84\x9e");
    puts("a lone \xe2");
    return 0;
}
END
    "$build/ecube-cc" words.c -o words.elf || fail "ecube-cc fails"
    tool_succeeds run --network cube:0 words.elf
    sed -n 's/^\[0\] //p' out >lines
    [ "$(wc -l <lines)" -eq 2 ] || { cat lines; fail "a line is cut"; }
    [ "$(head -n 1 lines | tr -d '\n' | wc -c)" -eq 3004 ] || { cat lines; fail "bytes"; }
    head -n 1 lines | iconv -f UTF-8 -t UTF-16 >words.wide || { cat lines; fail "no UTF-8"; }
    sed -n 2p lines >words.last
    printf 'a lone \342\n' | cmp - words.last || fail "what is no UTF-8"
}

for dims in 0 1 2 3 4; do
    sometimes=check
    # Whatever a cube of these has, one of the others has.
    case $dims in 1 | 2 | 4) sometimes=check_long ;; esac
    # check_test runs them on cube:3
    [ $dims -eq 3 ] && seldom=check_long || seldom=$sometimes
    $seldom "every example runs on cube:$dims" every_example_runs
    # larger ones are network_test's and exact_test's
    [ $dims -gt 1 ] || check "every collective is right from every root on cube:$dims" every_collective_is_right
    [ $dims -ne 2 ] || check_long "every collective is right from every root on cube:$dims" every_collective_is_right
    $sometimes "messages, tags and their errors are right on cube:$dims" messages_are_right
done
check "a program gets its arguments as they were typed" arguments_arrive
check "printf and scanf know C99's length modifiers, printf wide characters, and %a as %e" formats_are_known
check "a program finds nothing of the one before, nor does whom it sends to" nothing_is_left_for_the_next
check "the heap can be used up and given back, and what is impossible is refused" heap_is_whole
check "_Thread_local variables are there" thread_has_variables
check "sleep, usleep and nanosleep take at least as long as they are asked to" sleeps_are_long_enough
check "a node whose program sleeps lets the messages of others through" sleeper_lets_others_go_on
check "a node that computes for long without a call keeps its links" absorbed_node_keeps_its_links
check "a user's own program compiles with ecube-cc and runs" own_program
check "the exit status is that of the worst node" worst_status
for dims in 1 2 3 4 5 6; do
    # 32 and 64 QEMUs; that nothing wears out at so many is network_test's to find as well
    sometimes=check
    [ $dims -lt 5 ] || sometimes=check_long
    $sometimes "AAP on cube:$dims takes the closed form to the tick, iPSC/860" exact_at_all_sizes ipsc860 $dims
    [ $dims -eq 3 ] || sometimes=check_long
    $sometimes "AAP on cube:$dims takes the closed form to the tick, unit profile" exact_at_all_sizes unit $dims
done
check "AAP takes the closed form on a machine under load" exact_under_load
check "AAP takes the closed form every time" exact_every_time
check "--json writes every field" json_fields
check "every download strategy reaches every node" download_as_predicted
check "two machines run at once" two_at_once
check "the tool and ecube-cc work from another directory" from_elsewhere
check "the tool works through a symbolic link" through_a_link
check "one of our options behind the program's name brings a hint, and is the program's" takes_options_for_its_own
check "an installed copy works, and uninstall removes it" installed
check "uninstall leaves no empty folder that install has made, and all others" uninstalls_its_own
check "a report's counts have no sign" large_counts
check "no line of a talkative program is lost or out of order" long_output
check "a long line of UTF-8 arrives whole, and what is no UTF-8 as it is" long_words
cases_done
