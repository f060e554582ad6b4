#!/bin/sh
# terminal_test.sh BUILD - what the tool says fits what shows it: files, terminals of 80 and 50 columns.
# class: waits
. tests/system/testing.sh
unset COLUMNS
export TERM=xterm
screen=$build/tests/screen

# Good and bad, each fast.
commands() {
    cat <<END
--help
help up
frobnicate
$(for verb in run up load list ps top console debug core openocd cut kill down sim plan; do echo "$verb --help"; done)
plan list
plan show exchange --network cube:3 --bytes 16
plan show exchange --network ring:12 --bytes 2147483647
plan show allreduce --network cube:16 --bytes 2147483644
plan show scatter --network cube:16 --bytes 2147483647
plan show broadcast --network ring:4096 --bytes 2147483647
plan show scan --network mesh:3x3 --bytes 40
plan explain exchange --network mesh:4x8 --bytes 2147483647
plan explain allreduce --network cube:7 --bytes 100
plan explain broadcast --network torus:4x8 --bytes 100000000
plan verify circle.json
plan verify nosuch.json
plan verify right.json
plan show brodcast
plan shwo broadcast
plan show reduce --type flot
plan show exchange --algorithm foo
plan
sim --network cube:6 exchange --bytes 16,1000
sim --network ring:8 --cut 0-1@300us --cut 2-3@300us --cut 4-5@300us --kill 6@310us exchange
sim --network cube:3 --kill 3@300us exchange
sim --network cube:4 circle
sim --network cube:4 --replay 3000 exchange
sim --network cube:5 hotspot
sim download --network cube:6 --bytes 100000
sim exchange --network cub:3
sim exchange --network mesh:3
sim exchange --algorithm foo
sim exchange --fail 3:foo
sim exchange --abort 3@boot+1us
sim reduce --operator foo
sim reduce --type float+int32
sim foo
sim
run --algorithm foo hello.elf
run --profile foo hello.elf
run --strategy foo hello.elf
run --links foo hello.elf
run --patience foo hello.elf
run --cut foo hello.elf
run --no-such-option
run nosuch.elf
up --blank
down
list
END
}

make_plans() {
    cat >circle.json <<'END'
{"network": "ring:6", "operation": "allgather", "bytes": 100, "circuits": [
 {"step": 0, "order": 1, "from": 0, "to": 1, "path": [0, 1], "blocks": ["0"]},
 {"step": 1, "order": 0, "from": 0, "to": 1, "path": [0, 1], "blocks": ["0"]}]}
END
    "$ecube" plan export broadcast --network ring:4 --json right.json
    cp "$examples/hello.elf" hello.elf
}

# long COLUMNS FILE... - lines that are wider; a path is one word, which stays whole.
long() {
    columns=$1
    shift
    LC_ALL=C.UTF-8 grep -hE "^.{$((columns + 1))}" "$@" | grep -E '^ *[^ ]+ .*[^ ]'
}

no_line_is_wider_in_files() {
    make_plans
    commands >commands
    while read -r command; do
        # shellcheck disable=SC2086
        may_time_out=yes tool $command # as the status of a deadlock is 124
        ! long 100 out err || fail "ecube $command"
        ! grep -q "$(printf '\033')" out err || fail "escape codes from ecube $command"
    done <commands
}

no_line_is_wider_on_a_terminal() {
    make_plans
    commands >commands
    while read -r command; do
        # shellcheck disable=SC2086
        timeout -k 5 $limit_seconds "$screen" -c "$1" -- "$ecube" $command >out 2>err </dev/null
        [ ! -s err ] || { cat err; fail "ecube $command"; }
        ! grep '\\$' out || fail "ecube $command"
    done <commands
}

tables_fit_80_columns() {
    for command in "plan show exchange --network ring:12 --bytes 2147483647" \
        "plan show broadcast --network ring:4096 --bytes 2147483647" \
        "plan explain exchange --network cube:5 --bytes 2147483647" \
        "sim --network cube:10 --contents shared barrier" \
        "sim --network cube:4 --contents shared broadcast --bytes 16777216"; do
        # shellcheck disable=SC2086
        tool_succeeds $command
        # rows: what has numbers in two columns
        ! grep -E '^[* ]*[^:]* [0-9.]+ +[0-9.]+ ' out | grep -Ev '^(sim|download|rows|source|order)|^ {10}' | long 80 - ||
            fail "ecube $command"
    done
}

columns_are_as_asked() {
    COLUMNS=60 tool plan show foo
    ! long 60 err || fail "wider than COLUMNS"
    [ "$(wc -l <err)" -gt 3 ] || fail "not as wide as COLUMNS"
    COLUMNS=1000 tool plan show foo
    [ "$(wc -l <err)" -eq 1 ] || fail "not as wide as COLUMNS"
    COLUMNS=60 "$screen" -c 200 -- "$ecube" plan show foo >out
    ! long 60 out || fail "wider than COLUMNS on a terminal"
    COLUMNS=200 "$screen" -c 60 -- "$ecube" plan show foo >out
    ! grep '\\$' out || fail "wider than the terminal"
}

# progress WORDS OPTION... -- COMMAND... - on a terminal that the options describe: its words are in one row at most, and in
# none at the end.
progress() {
    words=$1
    shift
    timeout -k 5 $limit_seconds "$screen" -w "$words" "$@" >out 2>err </dev/null || {
        cat out err
        fail "status $? from $*"
    }
    grep -q '^rows 1 ' err || { cat err; fail "not one row with '$words'"; }
    ! grep -E '^(boot|download|run|export|sim) +(\[|[0-9]+ of )' out || fail "progress stays"
    ! grep '^[ #]*\] ' out || fail "a part of progress stays"
}

progress_is_one_row() {
    for columns in 80 50 30; do
        progress 'boot  ' -c $columns -- "$ecube" run --network cube:3 "$examples/hello.elf"
        [ "$(grep -c hello out)" -ge 8 ] || fail "programs' lines are lost"
    done
    progress 'boot  ' -c 50 -- "$ecube" up --network cube:2
    progress 'download' -c 50 -- "$ecube" load "$examples/hello.elf"
    "$ecube" down
    progress 'run   ' -c 50 -- "$ecube" sim --network cube:9 exchange --bytes 1000
    progress 'export' -c 30 -- "$ecube" plan export exchange --network cube:10 --algorithm AAP \
        --json plan.json
}

# The tables of a machine that is up, with a name, a network and words that are long.
a_machine_is_shown_in_few_columns() {
    tool_succeeds up --name a-name-of-24-characters- --network torus:2x2x2
    "$ecube" load "$programs/waiter.elf" >load.out 2>load.err &
    loader=$!
    wait_until in_a_collective
    for columns in 80 50; do
        for verb in list ps; do
            "$screen" -c $columns -- "$ecube" $verb >out || fail "$verb failed"
            ! grep -E '[^ ] .*\\$' out || fail "$verb is wider than $columns columns" # a path alone is whole
        done
    done
    tool_succeeds down
    wait $loader
    [ $? -ne 0 ] || fail "the programs have ended"
}

in_a_collective() {
    "$ecube" ps | grep -q 'broadcast of 64 bytes'
}

progress_survives_a_resize() {
    progress 'boot  ' -c 80 -r 50@boot -- "$ecube" run --network cube:3 "$examples/hello.elf"
    progress 'boot  ' -c 80 -r 30@boot -t -- "$ecube" run --network cube:3 "$examples/hello.elf"
    progress 'boot  ' -c 50 -r 80@boot -- "$ecube" run --network cube:3 "$examples/hello.elf"
}

# colours COMMAND... - how often colour was asked for.
colours() {
    timeout -k 5 $limit_seconds "$screen" -w ecube -- "$@" 2>&1 >out </dev/null | sed -n 's/^rows.*colours //p'
}

errors_stand_out() {
    [ "$(colours "$ecube" sim foo)" -eq 2 ] || fail "no colour"
    grep -q '^ecube: .foo. is no scenario' out || fail "words are lost"
    [ "$(colours "$ecube" run --no-such-option)" -ge 2 ] || fail "no colour of an unknown option"
    [ "$(NO_COLOR=1 colours "$ecube" sim foo)" -eq 0 ] || fail "colour in spite of NO_COLOR"
    [ "$(NO_COLOR='' colours "$ecube" sim foo)" -eq 2 ] || fail "an empty NO_COLOR says nothing"
    [ "$(TERM=dumb colours "$ecube" sim foo)" -eq 0 ] || fail "colour on a dumb terminal"
    [ "$(colours "$ecube" plan list)" -eq 0 ] || fail "colour where nothing is wrong"
    TERM=dumb "$screen" -w 'boot:' -- "$ecube" run --network cube:1 "$examples/hello.elf" >out 2>err
    grep -q '^ecube: boot: 2 of 2 ' out || fail "no plain progress on a dumb terminal"
}

# means NAME ARGUMENT... - one line, which asks whether NAME is meant.
means() {
    wanted=$1
    shift
    tool_fails 2 "did you mean (ecube plan |3:)?$wanted\?" "$@"
}

near_names_are_suggested() {
    cp "$examples/hello.elf" hello.elf
    means run rnu
    means run help rnu
    means console consoel
    means show plan shwo exchange
    means broadcast plan show brodcast
    means alltoall plan show alltoal
    means direct plan show exchange --algorithm drect
    means AAP plan explain exchange --algorithm aap
    means direct sim exchange --algorithm drect
    means direct run --algorithm drect hello.elf
    means ipsc860 run --profile ipcs860 hello.elf
    means unit plan show exchange --profile unti
    means scatter run --strategy scater hello.elf
    means shared run --links sharde hello.elf
    ECUBE_LINKS=srial means serial run hello.elf
    means cube:3 run --network cub:3 hello.elf
    means torus:3x3 sim --network tours:3x3 exchange
    means mesh:3x4 plan show exchange --network msh:3x4
    means exchange sim exchnge
    means hotspot sim hotpsot
    means checked sim exchange --contents chekced
    means drop sim exchange --fail 3:drpo
    means run run --kill 3@rnu hello.elf
    means float plan show reduce --type flaot
    means min sim reduce --operator mni
    means --network run --netwrok cube:3 hello.elf
    means --openocd debug --openodc 3
}

# What is near nothing is told with all that there is, or where that is listed.
far_names_are_not() {
    cp "$examples/hello.elf" hello.elf
    tool_fails 2 "unknown verb 'fly': 'ecube help' lists them" fly
    tool_fails 2 "unknown operation 'sort': use barrier, " plan show sort
    tool_fails 2 "unknown profile 'cray': use ipsc860, ipsc2, delta, t800, unit, or a file$" run --profile cray hello.elf
    tool_fails 2 "unknown network 'x:3': use cube:D, " run --network x:3 hello.elf
    tool_fails 2 "unknown option '--fo': 'ecube run --help' lists them" run --fo
    tool_fails 2 '[-]-mesh needs its NETWORK' run --mesh
    tool_fails 2 '[-]m needs its NETWORK' run -m
    tool_fails 2 '[-]-quiet goes without a value' run --quiet=3 hello.elf
    tool_fails 2 "'cube:x': the dimension of a cube" run --network cube:x hello.elf
}

check "no line is wider than 100 columns where there is no terminal, nor has it escape codes" no_line_is_wider_in_files
check_long "no line is wider than a terminal of 80 columns" no_line_is_wider_on_a_terminal 80
check "no line is wider than a terminal of 50 columns" no_line_is_wider_on_a_terminal 50
check "tables fit 80 columns with large values" tables_fit_80_columns
check "COLUMNS says how wide lines are" columns_are_as_asked
check "progress is one row, which goes" progress_is_one_row
check "a machine and its nodes are shown in few columns" a_machine_is_shown_in_few_columns
check "progress leaves nothing when the terminal becomes narrower or wider" progress_survives_a_resize
check "errors stand out on a terminal, and colour is nowhere else" errors_stand_out
check "a word that is near a name is answered with it" near_names_are_suggested
check "one that is near none is not" far_names_are_not
cases_done
