#!/bin/sh
# examples_linear_test.sh BUILD - examples/linear_algebra: what each application communicates takes the steps of its formula, its
# numbers are right on networks of every kind and for equations of the user, what cannot be is refused, and asynchronous
# iterations converge whatever is late, lost or slow. examples_test.sh runs their pages on nodes.
#
# Source: Ozveren, LIDS-P-1721 (1987), section 3, with the corrections of doc/errata.md
# class: waits
. tests/system/testing.sh

needs_native

programs_of_all='banded conjugate_gradient jacobi matrix_matrix matrix_vector points qr scattered vectors'

# A search for a plan is made once in a case, not in each run.
keep_plans() {
    export ECUBE_CACHE="$PWD/plans"
}

# A machine on which a number over a hop takes a step, and nothing else takes time.
steps_machine() {
    keep_plans
    echo '{"name": "steps", "xi_ns": 0, "tau_ns": 0, "element_ns": 1000, "element_bytes": 8, "sigma": 1, "ports": 1}' >steps.json
}

# on NETWORK PORTS PROGRAM ARGUMENT... - runs it; $mapped are more options.
mapped=
on() {
    what="$3 on $1, ports $2 $mapped"
    # shellcheck disable=SC2086 -- words
    tool sim -q --profile steps.json --network "$1" --ports "$2" $mapped --json result.json "$examples/$3.so" $(shift 3 && echo "$@")
    [ "$status" -eq 0 ] || { cat out err; fail "$what: status $status"; }
    count=$("$json_get" result.json reports length) || fail "$what: no results"
    for index in $(seq 0 $((count - 1))); do
        echo "$("$json_get" result.json reports "$index" name):$("$json_get" result.json reports "$index" model_us | sed 's/[.]0*$//')"
    done >results
}

# takes STEPS NAME - of the last run, measured. That it is what is predicted the program sees.
takes() {
    grep -qxF "$2:$1" results || { cat results; fail "$what: $2 does not take $1 steps"; }
}

# 3.1: the accumulation takes the farthest rank's distance, on one port one more where an odd ring has two ends; so does the
# broadcast.
inner_products() {
    steps_machine
    for dims in 1 3 4; do
        for ports in 1 all; do
            on cube:$dims $ports vectors 1 1
            takes $dims 'inner product' && takes $dims termination
        done
    done
    for size in 4 5 8 9; do
        on ring:$size 1 vectors 1 1
        takes $(((size + 1) / 2)) 'inner product' && takes $(((size + 1) / 2)) termination
        on ring:$size all vectors 1 1
        takes $((size / 2)) 'inner product' && takes $((size / 2)) termination
    done
    on torus:4x4 1 vectors 1 1 && takes 4 'inner product'
    on torus:3x3 1 vectors 1 1 && takes 4 'inner product'
    on torus:3x3 all vectors 1 1 && takes 2 'inner product'
}

# 3.1 and appendix A: 1 step for 2^0, 2 for each other 2^k, at most d for any distance; these are the least for 16 ranks.
shifts() {
    steps_machine
    mapped='--map gray'
    distance=0
    for steps in 0 1 2 3 2 3 4 3 2 3 4 3 2 3 2 1; do
        [ $distance -eq 0 ] || {
            on cube:4 1 vectors 1 $distance
            takes $steps "shift by $distance, digits"
            case $distance in 1 | 2 | 4 | 8) takes $steps "shift by $distance" ;; esac
        }
        distance=$((distance + 1))
    done
    for power in 1 2 4 8 16; do
        on cube:5 1 vectors 1 $power
        takes $((power > 1 ? 2 : 1)) "shift by $power"
    done
}

# 3.2, order n: a multinode broadcast takes what n - 1 numbers take over a node's ports, an accumulation the same, n - 1 shifts
# one each where ranks that follow each other are neighbours. What is gathered takes the distances of all on one port, and on
# all ports no less than its links allow.
products() {
    steps_machine
    for case in 'ring:5 2' 'ring:8 2' 'torus:3x3 4' 'torus:4x4 4' 'cube:3 3' 'cube:4 4'; do
        set -- $case
        case $1 in
        ring:*) ranks=${1#ring:} ;;
        torus:*) ranks=$((${1#torus:?x} * ${1#torus:?x})) ;;
        cube:*) ranks=$((1 << ${1#cube:})) ;;
        esac
        on "$1" 1 matrix_vector $ranks
        takes $((ranks - 1)) rows && takes $((ranks - 1)) 'columns, summed'
        on "$1" all matrix_vector $ranks
        takes $(((ranks - 1 + $2 - 1) / $2)) rows && takes $(((ranks - 1 + $2 - 1) / $2)) 'columns, summed'
    done
    for ports in 1 all; do
        on ring:8 $ports matrix_vector 8 && takes 7 diagonals
        mapped='--map gray'
        on cube:4 $ports matrix_vector 16 && takes 15 diagonals
        mapped=
    done
    on ring:5 1 matrix_vector 5 && takes 6 'columns, gathered'
    on ring:5 all matrix_vector 5 && takes 3 'columns, gathered'
}

# On 128 nodes with all ports rows are d times as fast as diagonals.
diagonals_are_slow() {
    steps_machine
    mapped='--map gray'
    on cube:7 all matrix_vector 128
    takes 127 diagonals && takes 19 rows
}

# 3.2: n multinode broadcasts, or n broadcasts of a column from one rank.
matrix_products() {
    steps_machine
    for case in 'ring:5 5 2' 'torus:3x3 9 4' 'cube:3 8 3'; do
        set -- $case
        on "$1" 1 matrix_matrix "$2" && takes $(($2 * ($2 - 1))) 'B by rows'
        on "$1" all matrix_matrix "$2" && takes $(($2 * (($2 - 1 + $3 - 1) / $3))) 'B by rows'
    done
}

# 3.3.1: m r steps on all ports, both ways at once, and twice that on one.
bands() {
    steps_machine
    for case in '4 1' '4 3' '7 2'; do
        set -- $case
        on ring:7 all banded $case 1 && takes $(($1 * $2)) banded
        on ring:7 1 banded $case 1 && takes $((2 * $1 * $2)) banded
        mapped='--map gray'
        on cube:3 all banded $case 1 && takes $(($1 * $2)) banded
        mapped=
    done
}

# 3.3.2, on p1 x p2 points: five points take max(p1, p2) on all ports, 2 (p1 + p2) on one; nine r + 1 and 4 r + 4 on squares.
grids() {
    steps_machine
    for case in '1 1' '4 4' '3 7'; do
        set -- $case
        longest=$(($1 > $2 ? $1 : $2))
        on torus:3x5 all points $case 1 && takes $longest 'five points' && takes $((longest + 1)) 'nine points'
        on torus:3x5 1 points $case 1 && takes $((2 * ($1 + $2))) 'five points' && takes $((2 * ($1 + $2) + 4)) 'nine points'
    done
    mapped='--map gray --as torus:4x4'
    on cube:4 all points 4 4 1 && takes 4 'five points' && takes 5 'nine points'
    on cube:4 1 points 4 4 1 && takes 16 'five points' && takes 20 'nine points'
}

# 3.3.3: as many problems as the greatest common divisor; none communicates where each rank has one.
problems() {
    steps_machine
    on cube:3 1 scattered 24 8 16 && takes 0 scattered && grep -q ' order 24: 8 problems of 3 numbers, 0 wrong' out || fail "8"
    on cube:3 1 scattered 24 4 20 && takes $((3 * 3)) scattered && grep -q ' order 24: 4 problems of 6 ' out || fail "4"
    on cube:3 1 scattered 48 4 10 && grep -q ' order 48: 2 problems of 24 numbers, 0 wrong' out || fail "2"
    takes $((3 * (6 + 12))) scattered
}

# 3.4.1: d steps for the N - t numbers of a row, and its right-hand side, for each column t; a broadcast for each number. With
# one row a rank what is rotated is what is sent, but for right-hand sides: the penalty does not fall with n.
triangles() {
    steps_machine
    for case in '2 4' '2 8' '3 8' '3 16' '4 16'; do
        set -- $case
        for ports in 1 all; do
            on "cube:$1" $ports qr "$2"
            takes $(($1 * ($2 * ($2 + 1) / 2 + $2))) QR && takes $(($1 * $2)) back-substitution
        done
    done
    on cube:4 1 qr 16
    grep -q " rotated $((4 * 16 * 17 / 2)) numbers, or waited" out || { cat out; fail "with one row a rank it rotates something else"; }
}

# 3.4.2: an iteration takes a multinode broadcast of m numbers and two inner products; 8 ranks, m = 1 and 4.
gradients() {
    steps_machine
    # 4 numbers a rank are cut into parts for the three links: 11 steps instead of 4 * 3
    for case in '1 1 7' '1 all 3' '4 1 28' '4 all 11'; do
        set -- $case
        share=$1
        on cube:3 "$2" conjugate_gradient $((8 * share))
        iterations=$(sed -n 's/.*: \([0-9]*\) iterations,.*/\1/p' out)
        [ "${iterations:-0}" -ge "$share" ] || { cat out; fail "no iterations"; }
        takes $((iterations * $3)) 'direction to all' || fail "$3"
        [ "$share" -gt 1 ] || takes $((3 * (2 * iterations + 1))) 'inner products'
    done
}

# right_on "NETWORK [OPTION...]" - all programs: their numbers, and times where they are predicted, else they end with status 1.
right_on() {
    for program in $programs_of_all; do
        # shellcheck disable=SC2086 -- words
        tool sim -q --network $1 "$examples/$program.so"
        [ "$status" -eq 0 ] || { cat out err; fail "$program on $1: status $status"; }
        ! grep -Eq '.{101}' out || fail "$program prints lines of more than 100 columns on $1"
    done
}

right_everywhere() {
    keep_plans
    for network in "$@"; do
        right_on "$network"
    done
}

# double NUMBER... - 0 to 4, as nodes read them.
double() {
    for number in "$@"; do
        case $number in
        0) printf '\000\000\000\000\000\000\000\000' ;;
        1) printf '\000\000\000\000\000\000\360\077' ;;
        2) printf '\000\000\000\000\000\000\000\100' ;;
        3) printf '\000\000\000\000\000\000\010\100' ;;
        4) printf '\000\000\000\000\000\000\020\100' ;;
        esac
    done
}

# The equations of a file: order 2, and order 4 with a row of zeros where elimination needs another row first.
files_are_solved() {
    double 2 1 4 1 3 2 >two
    for program in qr conjugate_gradient; do
        tool_succeeds sim -q --network ring:2 --input two "$examples/$program.so"
        grep -q 'order 2: .*Gaussian elimination' out || { cat out; fail "$program"; }
    done
    double 0 1 0 2 4 1 0 2 0 3 2 0 1 4 0 0 3 0 1 1 >four
    for network in ring:2 cube:2; do
        tool_succeeds sim -q --network $network --input four "$examples/qr.so"
    done
}

# refuses PATTERN ARGUMENT... - in one line of rank 0, and with status 2, whatever the others do.
refuses() {
    pattern=$1
    shift
    tool "$@"
    [ "$status" -eq 2 ] || { cat out err; fail "$*: status $status"; }
    [ "$(grep -c '^\[ *[0-9]*\] ' err)" -eq 1 ] && grep -Eq "^\[ *0\] $pattern\$" err || { cat err; fail "$*: no line $pattern"; }
    [ ! -s out ] || { cat out; fail "$*: it prints something"; }
    [ "$(words | grep -c .)" -eq 1 ] || { words; fail "$*: more is told than who has ended the run"; }
}

bad_input() {
    four="sim -q --network ring:4"
    for program in qr conjugate_gradient matrix_vector matrix_matrix; do
        refuses "$program: a matrix of order 10 does not fit 4 ranks: it wants a multiple of 4" $four "$examples/$program.so" 10
        refuses "$program: 'x' is no number from 1 to [0-9]+" $four "$examples/$program.so" x
    done
    refuses 'banded: a band of 2 blocks either way does not fit 4 ranks: .*' $four "$examples/banded.so" 4 2
    refuses 'scattered: 3 problems of order 4 cannot share 4 ranks evenly' $four "$examples/scattered.so" 12 3
    refuses "scattered: '12' is no number from 1 to 11" $four "$examples/scattered.so" 12 12
    refuses "jacobi: '100' is no number from 0 to 99" $four "$examples/jacobi.so" 4 100
    refuses "points: '0' is no number from 1 to 1024" $four "$examples/points.so" 0
    refuses "vectors: '-1' is no number from 1 to 65536" $four "$examples/vectors.so" -1
    two="sim -q --network ring:2 --input equations"
    double 1 2 3 2 4 1 >equations
    refuses 'qr: the matrix is singular: column 1 depends on those before it' $two "$examples/qr.so"
    refuses 'conjugate_gradient: the matrix is singular' $two "$examples/conjugate_gradient.so"
    double 0 0 0 0 0 0 >equations
    refuses 'qr: the matrix is singular: column 0 depends on those before it' $two "$examples/qr.so"
    double 1 2 3 2 1 1 >equations
    refuses 'conjugate_gradient: the matrix is not positive definite: p A p is -[0-9.e-]+' $two "$examples/conjugate_gradient.so"
    double 1 2 3 1 4 1 >equations
    refuses 'conjugate_gradient: the matrix is not symmetric' $two "$examples/conjugate_gradient.so"
    double 1 2 3 4 >equations
    refuses 'qr: 2 numbers for each of 2 ranks are no equations: .*' $two "$examples/qr.so"
}

# On nodes, too, nobody is left waiting.
nodes_refuse() {
    double 1 2 3 2 4 1 >equations
    refuses 'qr: the matrix is singular: column 1 depends on those before it' \
        run -q --network ring:2 --input equations "$examples/qr.elf"
}

# converges OPTION... -- ARGUMENT... - the asynchronous iteration.
converges() {
    # shellcheck disable=SC2086 -- words
    tool sim -q --network torus:3x3 $1 "$examples/jacobi.so" $2
    [ "$status" -eq 0 ] || { cat out err; fail "jacobi $2 with '$1': status $status"; }
    grep -q ' asynchronous: converged, 0 wrong$' out || { cat out; fail "jacobi $2 with '$1' has no solution"; }
}

# Neighbours whose messages are lost by the program, who compute slowly, whose frames come late, or look at them late.
nobody_is_waited_for() {
    converges '' '4 0 1'
    synchronous=$(sed -n 's/.*synchronous: \([0-9]*\) sweeps.*/\1/p' out)
    converges '' '4 50 1'
    grep -Eq ' [1-9][0-9]* lost' out || fail "nothing is lost"
    [ "$synchronous" = "$(sed -n 's/.* synchronous: \([0-9]*\) sweeps.*/\1/p' out)" ] || fail "synchronous sweeps differ"
    converges '' '4 90 3'
    converges '' '4 99 1'
    grep -Eq ', ([2-9]|[1-9][0-9]+) looks at the residual' out || { cat out; fail "that nobody moves is taken for the end"; }
    converges '' '4 0 20'
    sed -n 's/.*, \([0-9]*\) to \([0-9]*\) sweeps.*/\1 \2/p' out >sweeps
    read -r least most <sweeps
    [ "$most" -gt $((2 * least)) ] || { cat out; fail "others wait for the slow rank"; }
    converges '--jitter 3ms' '3 30 2'
    converges '--slow 4@2ms' '3 0 1'
    converges '--seed 5 --drop 1e-3 --duplicate 1e-3' '2 20 3'
}

check "inner products take the steps of the network" inner_products
check "shifts along a Gray code take at most d steps" shifts
check "matrix times vector by rows, columns and diagonals takes n - 1 steps, or what ports allow" products
check "on 128 nodes diagonals take 127 steps and rows 19" diagonals_are_slow
check "matrix products take n multinode broadcasts" matrix_products
check "banded iterations take m r steps" bands
check "stencils take the points on a side, and one more for corners" grids
check "scattered diagonals fall apart into the problems of the greatest common divisor" problems
check "QR takes d steps for each number of the triangle" triangles
check "conjugate gradients take a multinode broadcast and two inner products" gradients
check "every program is right on networks of every kind" right_everywhere ring:1 mesh:3x4 'torus:3x3x2 --ports all'
check_long "every program is right on more networks" right_everywhere ring:2 ring:5 mesh:1x7 torus:4x4 cube:5 'torus:4x3 --ports all' \
    'cube:4 --map gray --as torus:4x4' 'mesh:2x3 --map cycle' # ends that meet, other shapes, maps
check "equations of a file are solved" files_are_solved
check "what does not fit or has no solution is refused in one line" bad_input
check "so it is on nodes" nodes_refuse
check "an asynchronous iteration waits for nobody" nobody_is_waited_for
cases_done
