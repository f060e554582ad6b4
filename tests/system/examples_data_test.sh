#!/bin/sh
# examples_data_test.sh BUILD - the examples on data bring back what the same computation on this computer gives, and draw it.
# class: waits
. tests/system/testing.sh

data=$source_tree/examples/data.sh

# draws OPTIONS EXAMPLE NETWORK FILE [WORD...] - data.sh succeeds, and there is a picture.
draws() {
    options=$1 example=$2 network=$3 file=$4
    shift 4
    # shellcheck disable=SC2086
    BUILD=$build TMPDIR=$PWD "$data" $options "$example" "$network" "$file" picture.png "$@" >said 2>&1 ||
        { cat said; fail "$example on $network"; }
    grep -q 'as computed here' said || { cat said; fail "$example on $network compares nothing"; }
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ] || fail "$example on $network draws nothing"
    rm picture.png
    ! ls -d ecube-data.* 2>/dev/null || fail "$example on $network leaves its files behind"
}

# Sizes that do not divide by the number of nodes come out as well.
on_nodes() {
    "$build/examples/data" image make a.png
    "$build/examples/data" fir make a.wav
    "$build/examples/data" match make a.txt
    draws "" image torus:3x3 a.png edges
    draws "" fir ring:5 a.wav
    draws "" match cube:3 a.txt node link circuit odelin
}

in_the_simulator() {
    printf 'P5\n# grey\n40 25\n255\n' >small.pgm
    head -c 1000 "$source_tree/LICENSE" >>small.pgm
    draws -s image mesh:2x4 small.pgm blur 3
    draws -s image cube:2 small.pgm sharpen 2
    draws -s match ring:7 "$source_tree/LICENSE" the of
}

# A result that is not what the host computes is told.
a_wrong_result_is_found() {
    printf 'P5 8 8 255\n%064d' 0 >small.pgm
    mkdir work
    "$build/examples/data" image prepare small.pgm 2 work blur 1 >/dev/null
    printf '%064d' 1 >work/output
    ! "$build/examples/data" image finish small.pgm 2 work out.png blur 1 2>said || fail "it says that all is well"
    grep -q 'bytes of picture are wrong' said || { cat said; fail "it says something else"; }
    [ ! -e out.png ] || fail "a wrong picture is drawn"
}

check "pictures, recordings and texts come back right from nodes" on_nodes
check_native "and from the simulator" in_the_simulator
check "a wrong result is found" a_wrong_result_is_found
cases_done
