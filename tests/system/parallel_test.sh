#!/bin/sh
# parallel_test.sh BUILD - messages over several paths at once on nodes in QEMU: right bytes, and the closed form's model
# time to the nanosecond.
# class: waits
. tests/system/testing.sh

parallel=$programs/parallel

# lengths NETWORK - hops to a rank, then those of the paths, as tests/golden/disjoint_paths.txt and Ozveren have them.
lengths() {
    case $1 in
    cube:3) printf '1 1 3 3\n2 2 2 4\n3 3 3 3\n' ;;
    ring:6) printf '1 1 5\n2 2 4\n3 3 3\n' ;;
    torus:3x3) printf '1 1 2 3 3\n2 2 2 3 3\n' ;;
    esac
}

# expected NETWORK BYTES PATHS - for each distance the least time in which as many of the shortest paths carry all bytes on
# an iPSC/860: xi 65425, tau 9575, element 425 ns.
expected() {
    lengths "$1" | awk -v bytes="$2" -v paths="$3" '
        function begin(i) { return 65425 + i * 9575 + (i - 1) * 425 }
        function carried(t,    p, all, start) {
            for (p = 2; p <= NF && p <= paths + 1; p++) {
                start = begin($p)
                all += t < start ? 0 : int((t - start) / 425)
            }
            return all
        }
        {
            low = begin($2); high = low + bytes * 425
            while (low < high) {
                middle = int((low + high) / 2)
                if (carried(middle) >= bytes) high = middle; else low = middle + 1
            }
            print $1, high
        }'
}

# takes NETWORK BYTES PATHS OPTION... [-- WAY] - every rank gets its bytes from rank 0 in the time that is expected.
takes() {
    network=$1 bytes=$2 paths=$3 way=parallel
    shift 3
    expected "$network" "$bytes" "$paths" >times
    for tool in run sim; do
        suffix=.elf
        [ $tool = run ] || suffix=.so
        [ $tool = run ] || has_native || continue
        tool_succeeds $tool -q --network "$network" "$@" "$parallel$suffix" "$bytes" "$sent"
        sed 's/^\[[0-9]*\] //' out | awk '
            NR == FNR { time[$1] = $2; next }
            $3 != time[$2] || $4 != 0 { print "rank " $1 ", " $2 " hops: " $3 " ns, not " time[$2] ", " $4 " wrong"; bad = 1 }
            { ranks++ }
            END { exit bad || ranks < 5 }' times - >differs || { cat differs out; fail "$tool on $network"; }
    done
}

sent=parallel
on_a_cube() { takes cube:3 10000 3 --ports all; }
on_a_ring() { takes ring:6 30001 2 --ports all; }
on_a_torus() { takes torus:3x3 20000 4 --ports all; }
over_two_ports() { takes cube:3 10000 2 --ports 2; }
over_one_port() { takes cube:3 10000 1; }
started() {
    sent=started
    takes cube:3 100003 3 --ports 3
}

# All long messages of a program that knows nothing of paths.
as_the_run_says() {
    sent=plain
    takes cube:3 10000 1 --ports all
    takes cube:3 10000 2 --ports all --paths 2
    takes torus:3x3 10000 4 --ports all --paths 16
    takes cube:3 1024 1 --ports all --paths 16
    sent=parallel
    takes cube:3 10000 1 --ports all --paths 1
}

# The machine that stays keeps the setting.
as_up_says() {
    tool_succeeds up --network cube:3 --ports all --paths 3 --name many
    tool_succeeds load -q --name many "$parallel.elf" 10000 plain
    expected cube:3 10000 3 >times
    sed 's/^\[[0-9]*\] //' out | awk 'NR == FNR { time[$1] = $2; next } $3 != time[$2] { exit 1 }' times - ||
        { cat out times; fail "other times"; }
    tool_succeeds down --name many
}

too_few_ports() {
    tool_fails 2 '--paths 3: ipsc860 has one port, and each path leaves by a port of its own' run --network cube:3 --paths 3 "$parallel.elf"
    tool_fails 2 '--paths 3: ipsc860 has one port' sim --network cube:3 --paths 3 random
    tool_fails 2 '--paths 3: ipsc860 has one port' up --network cube:3 --ports 1 --paths 3
    tool_fails 2 '--paths 0: use a number from 1 to 16' run --network cube:3 --ports all --paths 0 "$parallel.elf"
    tool_fails 2 '--paths 17: use a number from 1 to 16' run --network cube:3 --ports all --paths 17 "$parallel.elf"
}

# A link that only a source route goes over, 3 hops off dimension order: 0>4>5>1 is a path to 1.
a_path_dies() {
    tool_fails 3 'link 4-5' run --network cube:3 --ports all --cut 4-5@run+20ms "$parallel.elf" 1000000 parallel 300
    tool_fails 3 'link 4-5' run --network cube:3 --ports all --links serial --cut 4-5@run+20ms "$parallel.elf" 1000000 parallel 300
    has_native || return 0
    tool sim --network cube:3 --ports all --cut 4-5@100us "$parallel.so" 1000000 parallel
    [ "$status" -eq 3 ] || fail "sim ends with status $status"
    grep -q 'link 4-5 .* died' err || { cat err; fail "sim does not name the link"; }
}

check "over all ports of a cube" on_a_cube
check "both ways round a ring" on_a_ring
check "over the four paths of a torus" on_a_torus
check "over as many paths as there are ports" over_two_ports
check "over one port it is any message" over_one_port
check "with the form that is waited for" started
check "all long messages, with --paths" as_the_run_says
check "so they go on a machine that stays" as_up_says
check "too few ports, or an odd number of paths, is one clear line" too_few_ports
check "a path that dies is named" a_path_dies
cases_done
