#!/bin/sh
# files_test.sh BUILD - programs use files, standard input and data as anywhere; what they write comes back.
# class: waits
. tests/system/testing.sh

# given - a file for all nodes, private files, common data, and what is sent to standard input.
given() {
    printf 'alpha\nbeta\ngamma' >text
    printf 'one\ntwo\n' >lines
    printf 'common;' >table
    for rank in 0 1 2 3 4 5 6 7; do printf 'own %s;' $rank >own$rank; done
    data='--file given/text=text --common table --private own%r'
}

# filed ENDING VERB NETWORK [OPTION...] - the program has run; its files are in files.VERB, its output in output.VERB.
filed() {
    ending=$1 verb=$2 network=$3
    shift 3
    # shellcheck disable=SC2086
    tool_succeeds "$verb" --network "$network" $data "$@" --files-to files."$verb" --output output."$verb" "$programs/filer.$ending" \
        <lines
}

# wrote VERB RANK - what a rank must have written; rank 0 alone reads standard input.
wrote() {
    printf '1 alpha\n2 beta\n3 gammaof rank %s\n' "$2" | cmp - files."$1"/"$2"/out/numbered || fail "numbered of $2"
    printf 'of rank %s\n' "$2" | cmp - files."$1"/"$2"/named || fail "named of $2"
    printf 'alpha\nbeta\ngammathe end\n' | cmp - files."$1"/"$2"/given/text || fail "given/text of $2"
    [ "$(cd files."$1"/"$2" && find . -type f | sort | tr '\n' ' ')" = "./given/text ./input ./named ./out/numbered " ] ||
        { find files."$1"/"$2"; fail "files of $2"; }
}

all_wrote() {
    for rank in $(seq 0 "$(($2 - 1))"); do wrote "$1" "$rank"; done
    printf '1 one\n2 two\n' | cmp - files."$1"/0/input || fail "standard input of rank 0"
    [ ! -s files."$1"/1/input ] || fail "rank 1 has read standard input"
    for rank in $(seq 0 "$(($2 - 1))"); do printf 'common;*wn %s;' "$rank"; done | cmp - output."$1" || fail "output"
}

on_nodes() {
    given
    filed elf run torus:2x3
    all_wrote run 6
}

in_simulation() {
    given
    filed so sim cube:3
    all_wrote sim 8
}

stdin_for_all() {
    given
    filed elf run ring:3 --stdin all
    for rank in 0 1 2; do printf '1 one\n2 two\n' | cmp - files.run/$rank/input || fail "rank $rank"; done
    rm -r files.run
    tool_succeeds run --network cube:1 --file given/text=text --stdin none --files-to files.run "$programs/filer.elf" <lines
    [ ! -s files.run/0/input ] || fail "--stdin none reads it"
}

# A pipe in which nothing comes holds nobody up.
silent_pipe() {
    given
    mkfifo silent
    sleep 1000 >silent & # longer than the tool may take
    sleeper=$!
    tool_succeeds run --network cube:1 --file given/text=text "$programs/filer.elf" <silent
    kill $sleeper
}

after_abort() {
    given
    tool run --network cube:2 --file given/text=text --files-to files.run --output output.run "$programs/filer.elf" abort <lines
    [ "$status" -eq 5 ] || { cat out err; fail "status $status"; }
    for rank in 0 1 2 3; do
        printf 'of rank %s\n' $rank | cmp - files.run/$rank/named || fail "named of $rank"
    done
    printf 'not yet written\n' | cmp - files.run/1/open || fail "what rank 1 had not written"
    [ ! -e output.run ] || fail "there is an output"
}

many_files_through_one_machine() {
    given
    tool_succeeds up --network cube:2
    for word in first second; do
        printf '%s;' $word >table
        # shellcheck disable=SC2086
        tool_succeeds load $data --output output "$programs/filer.elf"
        for rank in 0 1 2 3; do printf '%s;*wn %s;' $word $rank; done | cmp - output || fail "$word"
    done
    tool_succeeds down
}

# What is wrong elsewhere is told while standard input goes on, and before any of it is read.
read_last() {
    mkfifo endless
    exec 3<>endless
    echo line >&3
    for words in "--x 9" "--common none" "--plan none" "--json no/where"; do
        for way in "run $programs/filer.elf" "sim $programs/filer.so"; do
            # shellcheck disable=SC2086
            has_native || [ "${way%% *}" = run ] || continue
            # shellcheck disable=SC2086
            tool_fails 2 "${words##* }" ${way% *} --network cube:1 $words "${way#* }" <endless
        done
    done
    read -r line <&3
    [ "$line" = line ] || fail "what was sent is gone"
}

# A loop that reads its list while it runs the tool.
in_a_loop() {
    printf 'a\nb\nc\n' >list
    while read -r word; do
        printf '%s\n' "$word" >>seen
        tool_succeeds run --network cube:0 --stdin none "$programs/arguments.elf" "$word"
    done <list
    cmp list seen || fail "the tool has read the list"
}

words_are_checked() {
    tool_fails 2 "stdin 3: 0 .rank 0., all or none" run --stdin 3 "$programs/filer.elf"
}

check "files, standard input and data come and go, on nodes" on_nodes
check_native "... and in the simulator" in_simulation
check "--stdin says who reads standard input" stdin_for_all
check "a pipe in which nothing comes is not waited for" silent_pipe
check "standard input is read when all else is right" read_last
check "--stdin none leaves it to a loop of the shell" in_a_loop
check "after an abort files come back, with what was not yet written" after_abort
check "a machine that is up works through many files" many_files_through_one_machine
check "another word for --stdin is refused" words_are_checked
cases_done
