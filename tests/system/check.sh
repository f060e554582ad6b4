# check.sh - sourced by check_test.sh and native_check_test.sh: each wrong use is found and told with its line, right programs
# run as without checks.
. tests/system/kinds.sh
sources=$source_tree/tests/system/programs
board_folder=$source_tree/board/$board # some read board.h
place='\(misuse\.c:[0-9]+\)'
allocated="allocated in get $place"
receive="a receive from rank 0, tag 4, begun in begin_receive $place"
main="called from main $place\$"

# compile NAME SOURCE [OPTION...] - NAME with checks, once for all cases.
compile() {
    name=$1 source=$2
    shift 2
    link --check -Wall -Wextra -Werror -iquote "$board_folder" "$@" "$source" -o "$scratch/$name.$kind"
}

# line_of FUNCTION - the first line of misuse.c's function.
line_of() {
    grep -n "^[a-z_()]* *.*[ *]$1(" "$sources/misuse.c" | head -n 1 | cut -d: -f1
}

# finds WHAT PATTERN... - these lines and no more, each of node 0, in this order, and status 135.
finds() {
    run --check --network cube:1 "$programs/misuse.$kind" "$1"
    shift
    [ "$status" -eq 135 ] || { words; fail "status $status"; }
    words >told
    [ "$(wc -l <told)" -eq $# ] || { cat told; fail "not $# lines"; }
    for pattern in "$@"; do
        IFS= read -r line
        echo "$line" | grep -Eq "^ecube: rank 0: $pattern" || fail "'$line' is not like '$pattern'"
    done <told
}

tells_once() {
    run --check --network cube:3 "$programs/misuse.$kind" twice all
    [ "$status" -eq 135 ] || { words; fail "status $status"; }
    words >told
    grep -Eq '^ecube: ranks 0-7: a block of 20 bytes, ' told && [ "$(wc -l <told)" -eq 1 ] || { cat told; fail "not one line"; }
    run --check --network cube:0 "$programs/misuse.$kind" many
    words | grep -Eq "^ecube: rank 0: 16 times: a block of 20 bytes, $allocated, was written past its end" ||
        { words; fail "not counted"; }
    words | grep -q '^ecube: and 24 more findings$' || { words; fail "the others are not counted"; }
}

# Once in a run, and not where there are checks, nor where they would find nothing.
advises() {
    echo '#include <stdlib.h>
int main(int argc, char **argv) { volatile int *at = (int *)4; if (argc > 1) abort(); return argv ? *at : 0; }' >crash.c
    link crash.c -o plain.$kind && link --check crash.c -o checked.$kind || fail "not compiled"
    advice="^ecube: to find wrong uses of memory where they happen, link the program with 'ecube-cc $native--check'\$"
    run --network cube:1 plain.$kind
    [ "$(grep -c "$advice" err)" -eq 1 ] || { cat err; fail "not one line of advice"; }
    run --network cube:1 checked.$kind
    [ "$status" -eq 139 ] || { cat err; fail "status $status"; }
    ! grep "$advice" err || fail "advice to whom has taken it"
    run --network cube:1 plain.$kind abort
    ! grep "$advice" err || fail "advice where the program has ended itself"
}

# The places are those of the calls: the first and the second free of free_twice.
names_lines() {
    run --check --network cube:1 --json result.json "$programs/misuse.$kind" twice
    first=$(($(line_of free_twice) + 4))
    words | grep -q "^ecube: rank 0: .*, first in free_twice (misuse.c:$first), found in free_twice (misuse.c:$((first + 1))), called from main (" ||
        { words; fail "other lines than $first and $((first + 1))"; }
    [ "$("$json_get" result.json troubles 0 kind)" = finding ] || { cat result.json; fail "of no kind"; }
    [ "$("$json_get" result.json troubles 0 finding)" = freed-twice ] || { cat result.json; fail "another finding"; }
    [ "$("$json_get" result.json troubles 0 status)" = 135 ] || { cat result.json; fail "another status"; }
}

# Of a file without symbols the addresses are told.
finds_when_stripped() {
    "${tools}strip" "$programs/misuse.$kind" -o stripped.$kind
    run --check --network cube:1 stripped.$kind open
    [ "$status" -eq 135 ] || { words; fail "status $status"; }
    words | grep -Eq "a receive of 3000 bytes from rank 0, tag 4, begun in 0x$image_digits[0-9a-f]+\$" || { words; fail "no address"; }
}

# Who says that it has failed has left things open; its blocks are looked at all the same.
leaves_failures_alone() {
    run --network cube:1 "$programs/misuse.$kind" open 7
    [ "$status" -eq 7 ] || { words; fail "status $status"; }
    run --network cube:1 "$programs/misuse.$kind" many 7
    [ "$status" -eq 135 ] || { words; fail "status $status"; }
}

refuses() {
    run_fails 2 "arguments.$kind has no checks, link it with them: ecube-cc $native--check arguments.c -o .*arguments.$kind\$" \
        --check --network cube:1 "$programs/arguments.$kind"
    run_succeeds --check --network cube:1 "$scratch/arguments.$kind" one
    run_succeeds --network cube:1 "$scratch/arguments.$kind" one
}

# Without --check the checking library is not needed, and its absence changes no byte.
is_absent() {
    mkdir -p "other/$board" other/native include
    cp -r "$nodes/lib" "other/$board/"
    cp "$build/ecube-cc" other/
    if [ $kind = so ]; then
        cp -r "$build/native/lib" other/native/
        ln -s "$build/native/newlib" other/native/newlib
    fi
    rm other/*/lib/libecube-check.a other/*/lib/check.wrap
    cp -r "$source_tree/include/ecube" include/
    for program in messages heap; do
        link -iquote "$board_folder" "$sources/$program.c" -o with.$kind &&
            wrapper=other/ecube-cc link -iquote "$board_folder" "$sources/$program.c" -o without.$kind ||
            fail "not compiled"
        "${tools}strip" -g with.$kind without.$kind # there stand paths
        cmp with.$kind without.$kind || fail "not the same program"
        ! "${tools}nm" with.$kind | grep -E 'check|blocks|transfer' || fail "checks without --check"
    done
    ! wrapper=other/ecube-cc link --check "$sources/heap.c" -o checked.$kind 2>/dev/null || fail "checks without a library"
    "${tools}nm" "$scratch/heap.$kind" | grep -qi ' t ecube_blocks_take$' || fail "no checks with --check"
}

# same NAME ARGUMENT... - of `folder`, prints the same with checks and without, and reports the same model times.
same() {
    name=$1
    shift
    case $name.$kind.$network in
    cannon.elf.mesh* | qr.elf.mesh* | scattered.elf.mesh*) time='[0-9.]* us' ;; # messages that meet on their way: who comes first?
    *) time= ;;
    esac
    run_succeeds --json plain.json "$folder/$name.$kind" "$@"
    lines_of out >plain.out
    words | grep ^ecube: | sort >plain.words
    run_succeeds --check --json checked.json "$scratch/$name.$kind" "$@"
    words | grep ^ecube: | sort | cmp plain.words - || { words; fail "$name: something else is told"; }
    case $name.$kind in
    farm.elf | jacobi.elf | nbody.elf | pagerank.elf | algorithms.elf) ;; # what they print, or who does what, takes wall time
    *) lines_of out | cmp plain.out - || { diff plain.out out; fail "$name prints other lines"; } ;;
    esac
    for file in plain checked; do
        grep '"reports": ' $file.json >/dev/null || fail "$name: no reports"
        sed -n '/"reports": \[$/,/^ *\]/p' $file.json | grep -v '"wall_us"' >$file.reports
    done
    [ -n "$time" ] || cmp plain.reports checked.reports || { diff plain.reports checked.reports; fail "$name: other times"; }
}

# lines_of FILE - in an order of their own, and without model times that two runs need not share.
lines_of() {
    sed "s/${time:-^$}//" "$1" | sort
}

examples_are_right() {
    folder=$examples
    runs_on "$1"
    for program in "$examples"/*.elf; do
        ! left_out "$program" || continue
        name=$(basename "$program" .elf)
        home=$source_tree/examples/$name
        ! is_linear "$name" || home=$source_tree/examples/linear_algebra
        shared=
        source=$home/$name.c
        case $name in
        collectives) shared=$home/messages.c ;;
        *) ! is_linear "$name" || shared="$home/linear.c $home/grid.c" ;;
        esac
        case $name in
        complete_exchange) set -- 16 1000 ;;
        collectives) set -- allreduce 16 1000 ;;
        *) set -- ;;
        esac
        # shellcheck disable=SC2086 -- words
        compile "$name" "$source" -iquote "$source_tree" $shared || fail "$name is not compiled"
        same "$name" "$@"
    done
    runs_end
}

programs_are_right() {
    folder=$programs
    for name in collectives messages formats thread absorbed window hops traffic counter; do
        compile $name "$sources/$name.c" || fail "$name is not compiled"
    done
    runs_on cube:0
    same formats
    same thread
    runs_end
    runs_on cube:1
    same heap
    [ $kind = so ] || same absorbed 1000 # it measures how fast its processor is, which the simulator does not tell
    same window 16 400 2000 9000
    runs_end
    runs_on cube:2
    same collectives 100
    same messages 300000
    same arguments one 'two words'
    same traffic 50 -1
    same counter 20
    runs_end
    runs_on mesh:2x3
    same hops 3000
    same messages
    runs_end
}

right_on_more_nodes() {
    folder=$programs
    for name in collectives messages hops; do
        compile $name "$sources/$name.c" || fail "$name is not compiled"
    done
    runs_on cube:3
    same collectives 100
    same messages 300000
    runs_end
    runs_on ring:3
    same collectives 2000
    same hops 3000
    runs_end
    runs_on mesh:3x4
    same messages
    runs_end
}

compile heap "$sources/heap.c"
compile arguments "$sources/arguments.c"

check "a block that is freed twice is found, with both places" \
    finds twice "a block of 20 bytes, $allocated, is freed twice, first in free_twice $place, found in free_twice $place, $main"
check "a free inside a block is found" \
    finds inside "free of 0x$image_digits[0-9a-f]+, byte 4 of a block of 20 bytes, $allocated, found in free_inside $place, $main"
check "a free of a variable is found" \
    finds stranger "free of 0x$image_digits[0-9a-f]+, which is no block of malloc, found in free_stranger $place, $main"
check "a write past a block is found when it is freed" \
    finds past-free "a block of 20 bytes, $allocated, was written past its end, at byte 21, found in write_past $place, $main"
check "a write past a block is found in the next call" \
    finds past-call "a block of 20 bytes, $allocated, was written past its end, at byte 21, found in write_past $place, $main"
check "a write past a block is found at the program's end" \
    finds past-end "a block of 20 bytes, $allocated, was written past its end, at byte 21, found at the program's end\$"
check "a write over the next block is found when that is freed, and told of the first" \
    finds far "a block of 20 bytes, $allocated, was written past its end, at byte 20, found in write_far $place, $main"
check "a write before a block is found" \
    finds before "a block of 20 bytes, $allocated, was written 1 byte before its begin, found in write_before $place, $main"
check "a write to a freed block is found, with the place where it was freed" \
    finds freed "a block of 20 bytes, $allocated, was written at byte 7 after it was freed in write_freed $place, found in write_freed $place, $main"
check "a write to where a block was before realloc is found" \
    finds moved "a block of 20 bytes, $allocated, was written at byte 0 after it was freed in write_moved $place, found in write_moved $place, $main"
check "blocks of strdup are checked" \
    finds copy "a block of 13 bytes, allocated in write_copy $place, was written past its end, at byte 13, found in write_copy $place, $main"
check "blocks of aligned_alloc are checked" \
    finds aligned "a block of 256 bytes, allocated in write_aligned $place, was written past its end, at byte 256, found in write_aligned $place, $main"
check "a send that was changed before it is complete is found, with its begin" \
    finds send "what is sent was changed before it was complete: a send to rank 0, tag 4, begun in begin_send $place, found in change_send $place, $main"
check "so is a vector of a collective, when ecube_test completes it" \
    finds vector "what is sent was changed before it was complete: the allreduce begun in change_vector $place, found in change_vector $place, $main"
check "so is a table of ecube_exchangev, when ecube_wait_any completes it" \
    finds table "what is sent was changed before it was complete: the exchangev begun in change_table $place, found in change_table $place, $main"
check "two receives that overlap are found" \
    finds receives "this call shares 1500 bytes at 0x$image_digits[0-9a-f]+, which one of the two receives, with $receive, found in begin_receive $place, called from receive_twice $place, $main"
check "a receive over a send that is open is found" \
    finds over "this call shares 1 byte at 0x$image_digits[0-9a-f]+, which one of the two receives, with a send to rank 0, tag 4, begun in begin_send $place, found in begin_receive $place, called from receive_over_send $place, $main"
check "a free of a block that a receive uses is found" \
    finds gone "a block of 3000 bytes is freed that is still used by $receive, found in free_receive $place, $main"
check "so is its realloc" \
    finds went "a block of 3000 bytes is freed that is still used by $receive, found in move_receive $place, $main"
check "a receive into a variable of a function that has returned is found" \
    finds frame "a function has returned whose variable is used by $receive, found in begin_send $place, called from leave_frame $place, $main"
check "transfers that nobody waited for are found, each with its begin" \
    finds open "never waited for: a receive of 3000 bytes from rank 0, tag 4, begun in begin_receive $place\$" \
    "never waited for: the barrier begun in leave_open $place\$"
check "messages that nobody received are found, with sender, tag and bytes" \
    finds messages "never waited for: a send of 3000 bytes to rank 0, tag 4, begun in begin_send $place\$" \
    "never received: a message from rank 0, tag 4, 20 bytes\$" "never received: a message from rank 0, tag 6, 20 bytes\$" \
    "never received: a message from rank 0, tag 4, 3000 bytes\$"
check "what many ranks have in common is one line, what one has often is counted" tells_once
check "a crash advises checks, once" advises
check "the lines are those of the calls, and a finding is in the JSON file" names_lines
check "of a program without symbols addresses are told" finds_when_stripped
check "a program that fails by its status is told nothing of what it left open" leaves_failures_alone
check "a program without checks is refused, with the command that links them" refuses
check "without --check a program has nothing of it" is_absent
check "right programs run with checks as without, in the same model time" programs_are_right
check_long "so they do on 3 to 12 nodes" right_on_more_nodes
