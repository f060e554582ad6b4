#!/bin/sh
# output_test.sh BUILD - what programs leave comes back: --output and --files-to of run, load and sim.
# class: waits
. tests/system/testing.sh

needs_native

leaves=$programs/leaves

# wanted NODES BYTES - the file of --output.
wanted() {
    awk -v nodes="$1" -v bytes="$2" 'BEGIN {
        for (r = 0; r < nodes; r++)
            for (i = 0; i < (r + 1) * bytes; i++) printf "%c", 65 + (r + i) % 26
    }'
}

# has_files DIRECTORY RANK COUNT - the files of a rank are there, as it has written them.
has_files() {
    for number in $(seq 0 $(($3 - 1))); do
        file=$1/$2/file-$number
        lines=$(($2 + number))
        [ -f "$file" ] || fail "$file is missing"
        [ "$(grep -cx "rank $2 file $number" "$file")" -eq $lines ] || { cat "$file"; fail "$file is wrong"; }
        [ "$(wc -l <"$file")" -eq $lines ] || fail "$file has other lines, too"
    done
    [ "$(find "$1/$2" -type f | wc -l)" -eq "$3" ] || fail "rank $2 has other files, too"
}

# came_back WAY NETWORK NODES BYTES FILES - all of it, with the right bytes; leaves its JSON in result.
came_back() {
    rm -rf files
    tool "$1" --network "$2" --output named --files-to files --json result "$leaves$(suffix "$1")" "$4" "$5" end
    [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
    wanted "$3" "$4" | cmp - named || fail "other bytes"
    [ "$5" -eq 0 ] || for rank in $(seq 0 $(($3 - 1))); do
        has_files files "$rank" "$5"
    done
    "$json_get" result outputs model_us >"model.$1"
    "$json_get" result outputs predicted_us | cmp - "model.$1" || fail "the time is not that of the replay"
    nothing_beside
}

suffix() {
    [ "$1" = sim ] && echo .so || echo .elf
}

# The same bytes and the same model time.
both_ways() {
    for size in "10 2" "0 1" "3000 0" "100000 3"; do
        # shellcheck disable=SC2086
        came_back run "$1" "$2" $size
        # shellcheck disable=SC2086
        came_back sim "$1" "$2" $size
        cmp model.run model.sim || { cat model.run model.sim; fail "other model times: $size"; }
    done
}

many_ranks() {
    came_back sim cube:8 256 40 1
    came_back sim mesh:5x7 35 1000 1
    came_back sim torus:3x4x5 60 77 0
}

# Of a machine that stays, with a relative path, twice.
loaded() {
    tool_succeeds up --network cube:2
    for size in 10 20; do
        tool load --output named --files-to files "$leaves.elf" $size 2 end
        [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
        wanted 4 $size | cmp - named || fail "other bytes"
        has_files files 3 2
    done
    tool load "$leaves.elf" 10 2 end
    [ "$status" -eq 0 ] || fail "status $status without outputs"
    "$ecube" load --output /dev/stdout "$leaves.elf" 10 2 end 2>err | cat >out
    words | grep -q "^ecube: --output /dev/stdout: the machine's process has not got this pipe" || { words; fail "a pipe without a name"; }
    tool_succeeds down
}

# ends WAY END STATUS - the files come back, the output does not, and is said not to.
ends() {
    may_time_out=1
    rm -rf files named
    tool "$1" --network cube:2 ${4-} --output named --files-to files "$leaves$(suffix "$1")" 10 2 "$2"
    [ "$status" -eq "$3" ] || { words; fail "status $status after $2"; }
    [ ! -e named ] || fail "named is there after $2"
    words | grep -q 'named was not written: not all programs have ended by themselves$' || { words; fail "nothing is said of $2"; }
    for rank in 0 1 2 3; do
        has_files files $rank 2
    done
    nothing_beside
}

ends_badly() {
    for way in run sim; do
        ends $way abort 5
        ends $way fault 132
        ends $way wait 124
        ends $way stall 124
    done
    ends run spin 124 "--timeout 10s"
}

# A status of its own is no bad end.
exits_with_a_status() {
    for way in run sim; do
        tool $way --network cube:2 --output named "$leaves$(suffix $way)" 10 0 exit
        [ "$status" -eq 7 ] || fail "status $status"
        wanted 4 10 | cmp - named || fail "other bytes"
    done
}

cannot_be_read() {
    for way in run sim; do
        rm -rf files
        tool $way --network cube:2 --output named --files-to files "$leaves$(suffix $way)" 10 2 spoil
        [ "$status" -eq 1 ] || { words; fail "status $status"; }
        words | grep -q 'node 1 (rank 1) has left an output that cannot be read' || { words; fail "node 1 is not named"; }
        words | grep -q 'named was not written: an output is missing$' || { words; fail "no word of the file"; }
        [ ! -e named ] || fail "named is there"
        has_files files 0 2
        has_files files 3 2
        [ ! -e files/1 ] || fail "files of rank 1"
    done
}

nothing_left() {
    tool_fails 1 'named was not written: no program has left anything$' sim -q --network cube:2 --output named "$leaves.so"
    [ ! -e named ] || fail "named is there"
}

# Names come from programs.
names_are_looked_at() {
    for name in ../up /etc/above a/../../up . a//b ''; do
        tool sim --network cube:1 --files-to files "$leaves.so" 10 2 end "$name"
        [ "$status" -eq 1 ] || { words; fail "status $status for '$name'"; }
        words | grep -qF "is not written: '$name' leads out of its folder" || { words; fail "no word of '$name'"; }
        [ ! -e up ] && [ ! -e files/up ] && [ ! -e /etc/above ] || fail "'$name' was written"
    done
    tool_succeeds sim --network cube:1 --files-to files "$leaves.so" 10 2 end some/where/below
    [ "$(wc -l <files/1/some/where/below)" -eq 1 ] || fail "no file in a folder"
    [ -f files/1/some/where/below-1 ] || fail "no second file"
}

# Before anything starts.
places_are_looked_at() {
    mkdir folder
    : >file
    for way in run sim; do
        program=$leaves$(suffix $way)
        tool_fails 2 'cannot write --output nowhere/named: No such file or directory$' $way --output nowhere/named "$program"
        tool_fails 2 'cannot write --output folder: Is a directory$' $way --output folder "$program"
        tool_fails 2 'cannot write --files-to file: Not a directory$' $way --files-to file "$program"
        tool_fails 2 'cannot write --files-to nowhere/files: No such file or directory$' $way --files-to nowhere/files "$program"
        tool_fails 2 'cannot write --output : ' $way --output '' "$program"
        tool_fails 2 '--output -: name a file, for standard output has what programs print$' $way --output - "$program"
    done
    tool_fails 2 '--output is for programs' sim --output named exchange
    [ "$(id -u)" -eq 0 ] && return 0 # who may write everywhere
    chmod a-w folder
    tool_fails 2 'cannot write --output folder/named: Permission denied$' sim --output folder/named "$leaves.so"
}

# What was there before stays, and nothing that looks whole is there.
no_room_on_the_disk() {
    tool sim -q --network cube:2 --output /dev/full "$leaves.so" 10 0 end
    [ "$status" -eq 2 ] || fail "status $status"
    grep -q 'cannot write /dev/full: No space left on device' err || { cat err; fail "no word"; }
    [ -c /dev/full ] || fail "/dev/full was replaced"
    echo before >named
    (
        ulimit -f 1
        trap '' XFSZ
        tool sim -q --network cube:2 --output named --files-to files "$leaves.so" 100000 1 end
        [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
        grep -q 'cannot write named: File too large' err || { cat err; fail "no word"; }
    ) || exit 1
    echo before | cmp - named || fail "the file from before is gone"
    nothing_beside
}

# What comes out of a pipe is what was left; without a reader there is nobody to wait for.
through_a_pipe() {
    mkfifo pipe
    for way in run sim; do
        tool_fails 2 'cannot write pipe: nobody reads from it$' $way -q --network cube:2 --output pipe "$leaves$(suffix $way)" 10 0 end
        cat pipe >got &
        reader=$!
        tool_succeeds $way -q --network cube:2 --output pipe "$leaves$(suffix $way)" 100000 0 end
        wait $reader
        wanted 4 100000 | cmp - got || fail "other bytes from $way"
    done
    [ -p pipe ] || fail "the pipe was replaced"
}

# The output of four ranks is more than a pipe holds.
nobody_takes_it() {
    mkfifo pipe
    exec 3<>pipe
    tool_succeeds up --network cube:2 --name slow
    timeout -s KILL 100 "$ecube" load --name slow --output pipe "$leaves.elf" 100000 0 end >load.out 2>load.err &
    load=$!
    wait_until grep -q 'gather: 4 of 4' load.err || { cat load.err; fail "nothing has come"; }
    timeout 20 "$ecube" ps --name slow >out || fail "ps waits for the pipe"
    tool_fails 2 'the machine is busy' load --name slow "$leaves.elf" 10 0 end
    kill -INT "$(pgrep -P $load)"
    wait $load
    may_time_out=1
    tool load --name slow --timeout 2s --output pipe "$leaves.elf" 100000 0 end
    [ "$status" -eq 124 ] || { words; fail "status $status after a timeout"; }
    words | grep -q 'cannot write .*pipe: the run was ended before$' || { words; fail "no word of the pipe"; }
    tool_succeeds load --name slow --output named "$leaves.elf" 10 0 end
    wanted 4 10 | cmp - named || fail "other bytes"
    tool_succeeds down --name slow
    for way in run sim; do
        tool $way --network cube:2 --timeout 5s --output pipe "$leaves$(suffix $way)" 100000 0 end
        [ "$status" -eq 124 ] || { words; fail "status $status of $way"; }
        words | grep -q 'cannot write pipe: the run was ended before$' || { words; fail "no word of the pipe"; }
    done
}

node_dies() {
    tool run --network cube:3 --kill 5@gather --output named --files-to files "$leaves.elf" 500000 2 end
    [ "$status" -eq 3 ] || { words; fail "status $status"; }
    words | grep -q 'node 5 (rank 5) died during gather' || { words; fail "no line about node 5"; }
    words | grep -q 'named was not written: the outputs did not come$' || { words; fail "no word of the output"; }
    words | grep -q 'no files were written to files: the outputs did not come$' || { words; fail "no word of the files"; }
    [ ! -e named ] && [ ! -e files ] || fail "something was written"
}

# lost LIMIT OPTION... - a load that --timeout ends before its programs start: that is why there is no output.
lost() {
    limit=$1
    shift
    may_time_out=1
    tool load --name early --timeout "$limit" --json result --output named --files-to files "$@" "$leaves.elf"
    [ "$status" -eq 124 ] || { words; fail "status $status"; }
    words | grep -q 'named was not written: the programs were not started$' || { words; fail "no word of the output"; }
    words | grep -q 'no files were written to .*files: the programs were not started$' || { words; fail "no word of the files"; }
    [ "$("$json_get" result outputs output)" = null ] || fail "outputs in JSON"
    [ ! -e named ] && [ ! -e files ] || fail "something was written"
}

before_the_run() {
    for rank in 0 1 2 3; do
        truncate -s 48M large$rank
    done
    tool_succeeds up --name early --network cube:2
    lost 0.2s --strategy sequential --private large%r # they are being hashed
    stopped=$(node_process 3)
    kill -STOP "$stopped"
    lost 2s # it is being downloaded
    kill -CONT "$stopped"
    tool_succeeds load --name early --output named "$leaves.elf" 10 0 end
    tool_succeeds down --name early
}

told_as_json() {
    tool_succeeds sim -q --network cube:1 --json result --output named --files-to files "$leaves.so" 10 2 end
    [ "$("$json_get" result outputs output)" = named ] || fail "output"
    [ "$("$json_get" result outputs files_to)" = files ] || fail "files_to"
    [ "$("$json_get" result outputs files)" -eq 4 ] || fail "files"
    tool_succeeds sim -q --network cube:1 --json result "$leaves.so"
    [ "$("$json_get" result outputs)" = null ] || fail "outputs without an option"
    for count in 1 2; do
        tool_succeeds sim --network cube:0 --files-to files "$leaves.so" 10 $count end
        grep -q ", $count file$([ $count = 1 ] || echo s) to files\$" err || { cat err; fail "the number of $count"; }
    done
}

check "what programs leave comes back, on nodes and in the simulator: cube:3" both_ways cube:3 8
check "... mesh:2x3" both_ways mesh:2x3 6
check_long "... ring:5" both_ways ring:5 5 # the replay of other networks: fabric/gather
check_long "... torus:3x3" both_ways torus:3x3 9
check "of hundreds of ranks, too" many_ranks
check "from a machine that stays" loaded
check "after a crash, an abort or a timeout files come back, and the output does not" ends_badly
check "a program may end with a status of its own" exits_with_a_status
check "an output that cannot be read is named, and nothing is made of it" cannot_be_read
check "programs that leave nothing make no file" nothing_left
check "no name leads out of the folder of its rank" names_are_looked_at
check "a place where nothing can be written is told before anything starts" places_are_looked_at
check "a disk that is full leaves no file that looks whole" no_room_on_the_disk
check "a pipe gets the output, if somebody reads from it" through_a_pipe
check "... one from which nobody takes anything holds up neither ps nor --timeout" nobody_takes_it
check "a node that dies amid it is named" node_dies # whenever it dies: sim/data
check "a run that ends before its programs start says that there is no output" before_the_run
check "--json says what came" told_as_json
cases_done
