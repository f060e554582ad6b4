#!/bin/sh
# ring_test.sh BUILD - checks the models of packets and circuits on a ring with Spin: with the rules nothing deadlocks,
# without a rule the checker must find the deadlock.
#
# Speaks TAP. The line under a result says how much was searched.
set -u
build=$1
cd "$(dirname "$0")/../.." || exit 1
case $build in /*) ;; *) build=$PWD/$build ;; esac
scratch=$build/models/ring
count=0
rm -rf "$scratch"
mkdir -p "$scratch"
cp models/ring_*.pml "$scratch/"
cd "$scratch" || exit 1
export LC_ALL=C

# outcome LOG: delivered, deadlock, or why the search says nothing.
outcome() {
    if grep -q '^pan:1: invalid end state' "$1"; then
        echo deadlock
    elif grep -q -e 'not completed' -e 'max search depth too small' -e 'MEMLIM' "$1"; then
        echo "search not completed"
    elif grep -q 'errors: 0$' "$1"; then
        echo delivered
    else
        echo "no result"
    fi
}

# check MODEL OUTCOME SENTENCE FLAGS...
check() {
    model=$1 expected=$2 sentence=$3
    shift 3
    count=$((count + 1))
    rm -f pan
    {
        spin "$@" -a "$model.pml" && gcc -w -DSAFETY -DCOLLAPSE -O1 -DMEMLIM=2000 -o pan pan.c &&
            timeout -k 5 170 ./pan -m2000000
    } >"$count.log" 2>&1
    found=$(outcome "$count.log")
    if [ "$found" = "$expected" ]; then
        echo "ok $count - $sentence"
    else
        echo "not ok $count - $sentence"
        echo "# expected $expected, found $found; see $scratch/$count.log"
        head -n 30 "$count.log" | sed 's/^/# /'
    fi
    awk '/^State-vector/ { depth = $6 + 0 } / states, stored/ { states = $1 }
        END { printf "# %d states, depth %d\n", states, depth }' "$count.log"
}

check ring_packets delivered "packets that leave a free place when they enter a ring arrive" -DSENDS=4
check ring_packets delivered "so they do on ways of more hops" -DN=3 -DHOPS=3 -DSENDS=4
check ring_packets deadlock "packets that enter a ring as they go on fill it" -DSENDS=4 -DBUBBLE=0
check ring_packets deadlock "a free place that nobody is told of is none" -DN=3 -DHOPS=3 -DSENDS=4 -DTELL=0
check ring_circuits delivered "messages that release what they hold find their links"
check ring_circuits delivered "so they do on a ring of five" -DN=5
check ring_circuits delivered "so they do over three links" -DN=6 -DHOPS=3 -DCIRCUITS=1
check ring_circuits deadlock "messages that wait in a ring wait for each other" -DRELEASE=0
check ring_circuits delivered "circuits of a schedule wait in a ring, in their order" -DSCHEDULE=1
check ring_circuits delivered "so they do over three links, two steps" -DSCHEDULE=1 -DN=6 -DHOPS=3
check ring_circuits deadlock "circuits of a schedule without turns wait for each other" -DSCHEDULE=1 -DTURNS=0

echo "1..$count"
