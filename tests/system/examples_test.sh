#!/bin/sh
# examples_test.sh BUILD - the examples print what examples/output.md says, and find nothing wrong on networks of every kind.
# class: waits
. tests/system/testing.sh
. tests/system/page.sh

readme=$source_tree/examples/README.md

# machine_of - of each command, what boots its machine: network, ports, and the algorithm if all plans are by one.
machine_of() {
    sed -e 's/ build\/examples.*//' -e 's/ --map [^ ]*//' -e 's/ --as [^ ]*//' -e 's/^build\/ecube run --network //'
}

# prints_what_is_said MACHINE - of all commands that run there. Each line of the page is one that some node printed, or one of the table of results, or, with ... at its end, the
# beginning of one.
prints_what_is_said() {
    # shellcheck disable=SC2086 -- words
    machine_begins $1
    commands '[a-z_]*' >all
    machine_of <all | paste -d '|' - all | grep -F "$1|" | sed 's/^[^|]*|//' >commands
    [ -s commands ] || fail "output.md has no command on $1"
    while read -r command; do
        said "$command" >wanted
        words=$(echo "$command" | sed -e "s,build/ecube run --network $1,load --name shared," -e "s,build/examples,$examples,")
        # shellcheck disable=SC2086
        may_time_out=$(ends_with "$command" | grep -x 124) tool $words </dev/null
        [ "$status" -eq "$(ends_with "$command")" ] || { cat out err; fail "'$command' ends with status $status"; }
        sed 's/^\[ *[0-9]*\] //' out err >lines
        while IFS= read -r line; do
            case $line in
            *" ...") line=${line%...} && cut -c "1-${#line}" lines >begun ;;
            *) cp lines begun ;;
            esac
            grep -qxF -- "$line" begun || { cat out; fail "'$command' does not print '$line'"; }
        done <wanted
        ! grep -Eq '.{101}' out || fail "'$command' prints lines of more than 100 columns"
    done <commands
    machine_ends
}

every_example_is_told_of() {
    for example in "$examples"/*.elf; do
        name=$(basename "$example" .elf)
        [ -n "$(commands "$name")" ] || fail "output.md has no command for $name"
        grep -q "^|.*\`$name\`" "$readme" || fail "the README's table has not got $name"
    done
}

# The table at the beginning of the project's README, without its wall time.
the_first_table_is_true() {
    tool_succeeds run --network cube:4 "$examples/complete_exchange.elf"
    sed -n '/^    complete exchange$/,/^$/p' "$source_tree/README.md" | awk '$1 ~ /^[0-9]+$/ { print $1, $2, $3, $4, $5, $6 }' >wanted
    [ "$(wc -l <wanted)" -eq 5 ] || { cat wanted; fail "no table in the README"; }
    awk '$1 ~ /^[0-9]+$/ { print $1, $2, $3, $4, $5, $6 }' err | cmp wanted - || { cat err; fail "not the README's table"; }
}

# right_on NETWORK... - all examples, each with status 0.
right_on() {
    for network in "$@"; do
        machine_begins "$network"
        for example in "$examples"/*.elf; do
            ! left_out "$example" || continue
            case $(basename "$example") in
            complete_exchange.elf) set -- 16 1000 ;;
            *) set -- ;;
            esac
            tool_succeeds load --name shared "$example" "$@"
            ! grep -Eq '.{101}' out || fail "$example prints lines of more than 100 columns on $network"
        done
        machine_ends
    done
}

# same_on NETWORK... - sums of integers and of doubles in one order: what is found does not depend on where it is worked out.
same_on() {
    for network in "$@"; do
        machine_begins "$network"
        tool_succeeds load --name shared "$examples/pagerank.elf"
        grep '^\[ *0\] [1-5]\. page ' out | sed 's/^\[ *0\]//' >"pages.$network"
        [ "$(wc -l <"pages.$network")" -eq 5 ] || { cat out; fail "not five pages"; }
        cmp "pages.$1" "pages.$network" || fail "other pages on $network"
        tool_succeeds load --name shared "$examples/nbody.elf"
        grep -o '60 bodies, 20 steps: the energy was .*' out >"energy.$network"
        [ -s "energy.$network" ] && cmp "energy.$1" "energy.$network" || fail "another energy on $network"
        machine_ends
    done
}

wrong_arguments_are_refused() {
    machine_begins ring:2
    for case in 'nbody 1' 'nbody 60 0' 'nbody 1e3' 'pagerank 0' 'farm 0' 'farm 10 x' 'complete_exchange 1x' 'algorithms nobody' \
        'circle round' 'collectives nothing' 'collectives shift 1x' 'collectives scan 7' 'collectives --iterations 0' \
        'collectives --sends' 'collectives --once' 'paths 0' 'cannon 0' 'prefix 3' 'primes x' 'primes 99999999999' 'ring -1' \
        'sample_sort 0' 'stencil 32 0' 'power 4x' 'transpose 0' 'trees -1' 'smooth 0' 'merge_sort 0' 'merge_sort 8 8' \
        'rotate 1 6' 'rotate x' 'tridiagonal 8 regular' 'tridiagonal 8 singular' 'vectors x' 'qr 0'; do
        # shellcheck disable=SC2086
        set -- $case
        name=$1
        shift
        tool load --name shared "$examples/$name.elf" "$@"
        [ "$status" -eq 2 ] || { cat out; fail "$case: status $status"; }
        [ "$(grep -c "^\[ *[01]\] $name: " err)" -eq 1 ] || { cat err; fail "$case: not one line of $name"; }
    done
    machine_ends
}

commands '[a-z_]*' | machine_of | sort -u >"$scratch/machines"
while read -r machine; do
    check "examples on $machine print what their pages say" prints_what_is_said "$machine"
done <"$scratch/machines"
check "the README tells of every example" every_example_is_told_of
check "the project's README shows a table that is true" the_first_table_is_true
for network in ring:5; do # check_test and run_test run them on cubes
    check "every example is right on $network" right_on $network
done
for network in mesh:3x4 ring:1 torus:3x3x2 mesh:1x7; do # the other kinds, and a network of one node
    check_long "every example is right on $network" right_on $network
done
check "results do not depend on the network" same_on ring:1 mesh:1x7 torus:3x3
check_long "nor on whether it has 18 nodes" same_on ring:1 torus:3x3x2
check "wrong arguments are refused in words" wrong_arguments_are_refused
cases_done
