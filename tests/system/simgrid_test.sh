# simgrid_test.sh BUILD - the programs of bench/mpi say as native programs what they say on SimGrid 3.32: results, and of a ring
# the model time, to the nanosecond. Where smpirun is installed, it is asked as well.
# class: waits
. tests/system/testing.sh
needs_native

# native PROGRAM DIMS [ARGUMENT...] - runs it natively on a cube; the line it prints, without its rank, is in `line`.
native() {
    program=$1 dims=$2
    shift 2
    [ -e "$program.so" ] ||
        "$build/ecube-cc" --native -Wall -Werror -iquote "$source_tree" "$source_tree/bench/mpi/$program.c" -o "$program.so" ||
        fail "$program does not compile"
    tool_succeeds sim -q --network "cube:$dims" "./$program.so" "$@"
    sed 's/^\[ *0\] //' out >line
}

# said LINE PROGRAM DIMS [ARGUMENT...] - it prints that line, or one that begins so.
said() {
    wanted=$1
    shift
    native "$@"
    grep -qxF "$wanted" line || grep -q "^$wanted time " line || { cat line; fail "$*: not '$wanted'"; }
}

native_says_what_simgrid_said() {
    said 'token 2016 time 5528.800 us' ring 6
    said 'token 20160 time 55288.000 us' ring 6 10
    said 'token 32640 time 22175.200 us' ring 8
    said 'ranks 64 time 0.000 us' nothing 6
    said 'sum 18336 of 64' allreduce 6
    said 'sum 2080.000000' stencil 6 20
}

# The platform of bench/simgrid_run.h for 2^3 nodes.
simgrid_says_the_same() {
    command -v smpicc smpirun >/dev/null || { echo "SimGrid is not installed"; return 0; }
    cat >cube.xml <<'END'
<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="cube" prefix="node" suffix="" radical="0-7" speed="1Gf" bw="2352941.1764705881Bps" lat="10000ns"
           sharing_policy="SPLITDUPLEX" loopback_bw="1e15Bps" loopback_lat="0s" topology="TORUS" topo_parameters="2,2,2"/>
</platform>
END
    seq -f 'node%g' 0 7 >cube.hosts
    for program in ring nothing allreduce stencil; do
        smpicc -std=c11 -O2 -I"$source_tree" "$source_tree/bench/mpi/$program.c" -o "smpi-$program.so" || fail "smpicc $program"
        timeout 60 smpirun -platform cube.xml -hostfile cube.hosts --cfg=network/model:CM02 --cfg=network/crosstraffic:0 \
            --cfg=smpi/simulate-computation:no --cfg=smpi/wtime:0 --cfg=smpi/ois:0:58200e-9:0 --cfg=smpi/os:0:58200e-9:0 \
            --log=root.thres:warning "./smpi-$program.so" 5 >simgrid 2>err || { cat simgrid err; fail "smpirun $program"; }
        native $program 3 5
        case $program in
        ring | nothing) ;;
        *) sed -i 's/ time .*//' simgrid line ;; # messages meet, or the algorithm is another
        esac
        cmp -s simgrid line || { cat simgrid line; fail "$program"; }
    done
}

check "programs of MPI's calls say natively what they say on SimGrid" native_says_what_simgrid_said
check "... and SimGrid, where it is installed, says so" simgrid_says_the_same
cases_done
