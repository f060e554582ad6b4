#!/bin/sh
# circuits_test.sh BUILD - checks the model of circuits, CTS and turns with Spin: with all rules it must be free of
# deadlock and deliver everything, without a rule the checker must find what the rule is there for.
#
# Speaks TAP. The line under a result says how much was searched; a trail that was found is printed in words.
# CHECKS, an extended regular expression, picks checks by their sentence. With LONG=1 those of several minutes run too.
set -u
build=$1
cd "$(dirname "$0")/../.." || exit 1
root=$PWD
case $build in /*) ;; *) build=$root/$build ;; esac
scratch=$build/models/circuits
count=0
tier=${ECUBE_TESTS:-short}
limit=${LONG:+1500}
limit=${limit:-170}
rm -rf "$scratch"
mkdir -p "$scratch"
export LC_ALL=C

for dims in 2 3; do
    mkdir "$scratch/cube$dims"
    cp models/*.pml "$scratch/cube$dims/"
    "$build/schedule_pml" "$dims" >"$scratch/cube$dims/schedule.pml" || { echo "Bail out! no schedule"; exit 1; }
done

# outcome LOG: delivered, deadlock, order, another assertion, or why the search says nothing.
outcome() {
    if grep -q '^pan:1: invalid end state' "$1"; then
        echo deadlock
    elif grep -q '^pan:1: assertion violated (newest' "$1"; then
        echo order
    elif grep -q '^pan:1: assertion violated .*behind\[.*turn\[' "$1"; then
        echo ahead
    elif grep -q '^pan:1: assertion violated .*behind\[.*step\[' "$1"; then
        echo "ahead at its end"
    elif grep -q '^pan:1: assertion violated' "$1"; then
        echo assertion
    elif ! grep -q 'errors: 0$' "$1"; then
        echo "no result"
    elif grep -q -e 'not completed' -e 'max search depth too small' -e 'MEMLIM' "$1"; then
        echo "search not completed"
    elif ! sed -n '/^unreached in proctype judge/,/states)/p' "$1" | grep -q '(0 of 2 states)'; then
        echo "nothing was ever delivered"
    else
        echo delivered
    fi
}

# check DIMS OUTCOME SENTENCE "SPIN FLAGS" ["COMPILER FLAGS" ["PAN FLAGS"]]
check() {
    [ "$tier" = long ] || search "$@"
}

# check_long - the same, of what `make test` leaves to `make test-all`.
check_long() {
    [ "$tier" = short ] || search "$@"
}

search() {
    echo "$3" | grep -Eq -- "${CHECKS:-.}" || return 0
    count=$((count + 1))
    log=$scratch/$count.log
    cd "$scratch/cube$1" || exit 1
    rm -f pan circuits.pml.trail
    # Who compiles for a short search takes longer than the search: clang is done soonest, what gcc makes is faster.
    compiler=${5:+gcc}
    # shellcheck disable=SC2086 -- flags are meant to split
    {
        spin $4 -a circuits.pml &&
            ${compiler:-clang} -w -DSAFETY ${5:--O0 -DCOLLAPSE} -DVECTORSZ=2048 -DMEMLIM=2000 -o pan pan.c &&
            timeout -k 5 "$limit" ./pan -m20000 ${6-}
    } >"$log" 2>&1
    found=$(outcome "$log")
    if [ "$found" = "$2" ] && { [ "$found" = delivered ] || [ -s circuits.pml.trail ]; }; then
        echo "ok $count - $3"
    else
        echo "not ok $count - $3"
        echo "# expected $2, found $found; see $log"
        grep -v -e '^$' -e unreached "$log" | head -n 30 | sed 's/^/# /'
    fi
    awk '/^State-vector/ { depth = $6 + 0 } / states, stored/ { states = $1 } /total actual memory/ { memory = $1 }
        /elapsed time/ { time = $4 }
        END { printf "# %d states, depth %d, %.0f MB, %.1f s\n", states, depth, memory, time }' "$log"
    if [ -s circuits.pml.trail ]; then
        # shellcheck disable=SC2086
        timeout -k 5 60 spin $4 -t circuits.pml 2>/dev/null |
            sed -n -e 's/^ *\(circuit\|node\|OPEN\|answer\|message\)/\1/p' | grep -v '\[' >"$scratch/$count.trail"
    fi
    cd "$root" || exit 1
}

# What holds ---------------------------------------------------------------------------------------------------------

check 2 delivered "4 nodes: any one message arrives, every action interleaved" "-DMIX=2 -DCOLLECTIVE=0"
check 2 delivered "4 nodes: two short messages and a pool of one, every action interleaved" "-DMIX=10 -DCOLLECTIVE=0"
check 2 delivered "4 nodes: a message across one whose receive is late, every action interleaved" \
    "-DMIX=7 -DCOLLECTIVE=0"
check 2 delivered "4 nodes: one circuit per link and data in three pieces, every action interleaved" \
    "-DMIX=7 -DCOLLECTIVE=0 -DSLOTS=1 -DTOKENS=3"
check 2 delivered "4 nodes: the complete exchange ends" "-DMIX=1 -DEAGER=1"
check 2 delivered "4 nodes: the exchange beside two short messages and a pool of one" "-DMIX=10 -DEAGER=1"
check_long 2 delivered "4 nodes: the exchange beside any long message" "-DMIX=2 -DEAGER=1" "-O1 -DCOLLAPSE"
check_long 2 delivered "4 nodes: the exchange beside any two long messages" "-DMIX=4 -DEAGER=2" "-O1 -DCOLLAPSE"
check 2 delivered "4 nodes: the exchange beside any long message and any short one" "-DMIX=5 -DEAGER=2"
check 2 delivered "4 nodes: the exchange beside any long message, announced by RTS" "-DMIX=2 -DEAGER=2 -DJOINED=0"
check_long 2 delivered "4 nodes: the exchange beside any two long messages, announced by RTS" \
    "-DMIX=4 -DEAGER=2 -DJOINED=0" "-O1 -DCOLLAPSE"
check 3 delivered "8 nodes: the exchange beside any long message" "-DMIX=2 -DEAGER=2"
check 3 delivered "8 nodes: the exchange beside any short message" "-DMIX=3 -DEAGER=2"
check 3 delivered "8 nodes: a message that tries again three times in vain does no harm" "-DMIX=2 -DEAGER=2 -DRETRIES=3"
check_long 3 delivered "8 nodes: one circuit per link and data in three pieces do no harm" \
    "-DMIX=2 -DEAGER=2 -DSLOTS=1 -DTOKENS=3"

# The same with set-ups that follow each other: up to four unanswered OPENs of one in-port and destination a link -----

check 2 assertion "two OPENs from one node to another do share links when they may" \
    "-DMIX=8 -DEAGER=2 -DPIPELINED=1 -DWITNESS=1"
check 2 delivered "4 nodes, pipelined: two messages after each other and any third arrive, every set-up interleaved" \
    "-DMIX=8 -DEAGER=1 -DPIPELINED=1 -DCOLLECTIVE=0"
check_long 2 delivered "4 nodes, pipelined: the exchange beside two after each other and any third" \
    "-DMIX=8 -DEAGER=2 -DPIPELINED=1" "-O1 -DCOLLAPSE"
check_long 2 delivered "4 nodes, pipelined: the exchange beside any two" "-DMIX=4 -DEAGER=2 -DPIPELINED=1" "-O1 -DCOLLAPSE"
check 3 delivered "8 nodes, pipelined: the exchange beside two after each other" "-DMIX=12 -DEAGER=2 -DPIPELINED=1"
check 3 delivered "8 nodes, pipelined: two messages after each other and any third arrive" \
    "-DMIX=8 -DEAGER=2 -DPIPELINED=1 -DCOLLECTIVE=0"

if [ -n "${LONG-}" ]; then
    check 2 delivered "4 nodes: the complete exchange ends, every action interleaved" "-DMIX=1" "-O2 -DHC4"
    check 3 delivered "8 nodes: the exchange beside any two long messages" "-DMIX=4 -DEAGER=2 -DJOINED=0" "-O2 -DHC4"
    check 3 delivered "8 nodes, pipelined: the exchange beside one over all dimensions and any other" \
        "-DMIX=11 -DEAGER=2 -DPIPELINED=1 -DJOINED=0" "-O2 -DHC4"
fi

# What each rule is for ----------------------------------------------------------------------------------------------

check 2 deadlock "without CTS (rule 1) two messages deadlock" "-DMIX=7 -DCOLLECTIVE=0 -DRULE1=0"
check 2 deadlock "where requests wait at their receiver (rule 1) two messages deadlock" \
    "-DMIX=7 -DCOLLECTIVE=0 -DANSWERED=0"
check 2 assertion "requests that do not say what they come behind overtake it" \
    "-DMIX=12 -DEAGER=2 -DPIPELINED=1 -DNAMED_BEFORE=0"
check 2 delivered "four messages around a ring arrive in dimension order" "-DMIX=6 -DCOLLECTIVE=0 -DEAGER=2"
check 2 deadlock "against dimension order (rule 2) four messages around a ring deadlock" \
    "-DMIX=6 -DCOLLECTIVE=0 -DRULE2_ORDER=0 -DEAGER=2"
check 3 deadlock "a message that waits for a schedule at its first link (rule 2) deadlocks" \
    "-DMIX=2 -DEAGER=2 -DRULE2_SOURCE=0"
check 3 deadlock "a message that holds links and waits for a schedule (rule 2) deadlocks" \
    "-DMIX=4 -DEAGER=2 -DRULE2_REFUSE=0" "-O1 -DHC4"
check 2 deadlock "when control waits for data (rule 3) the exchange deadlocks" "-DMIX=1 -DRULE3=0"
check 3 order "without turns (rule 4) a link carries circuits in another order" "-DMIX=1 -DEAGER=1 -DRULE4=0" "-O0 -DCOLLAPSE" -E
check 3 deadlock "without turns (rule 4) the exchange deadlocks" "-DMIX=1 -DEAGER=1 -DRULE4=0"
check 3 ahead "where no hop refuses (rule 5) a message is ahead of the schedule on a link" \
    "-DMIX=2 -DEAGER=2 -DRULE5_HOP=0"
check 2 "ahead at its end" "where the receiver does not refuse (rule 5) a message comes to it ahead of the schedule" \
    "-DMIX=3 -DEAGER=1 -DRULE5_END=0"
check 3 assertion "a message that follows one from before the collective (rule 5) takes its answer" \
    "-DMIX=12 -DEAGER=2 -DPIPELINED=1 -DRULE5_ALIKE=0"
check 2 delivered "a message that both ends need before the exchange arrives" "-DMIX=9 -DEAGER=1"
check 2 deadlock "without the entry exchange it deadlocks with the schedule" "-DMIX=9 -DEAGER=1 -DENTRY=0"

echo "1..$count"
