# spin.sh - sourced with BUILD by tests of models that stand alone: checks one model with switches, in TAP.
#
# The line under a result says how much was searched.
set -u
build=$1
cd "$(dirname "$0")/../.." || exit 1
case $build in /*) ;; *) build=$PWD/$build ;; esac
scratch=$build/models/$(basename "$0" _test.sh)
count=0
tier=${ECUBE_TESTS:-short}
rm -rf "$scratch"
mkdir -p "$scratch"
cp models/*.pml "$scratch/"
cd "$scratch" || exit 1
export LC_ALL=C

# outcome LOG: delivered, deadlock, assertion, or why the search says nothing.
outcome() {
    if grep -q '^pan:1: invalid end state' "$1"; then
        echo deadlock
    elif grep -q '^pan:1: assertion violated' "$1"; then
        echo assertion
    elif grep -q -e 'not completed' -e 'max search depth too small' -e 'MEMLIM' "$1"; then
        echo "search not completed"
    elif grep -q 'errors: 0$' "$1"; then
        echo delivered
    else
        echo "no result"
    fi
}

# check MODEL OUTCOME SENTENCE FLAGS... - a search that takes less time than optimizing it would.
check() {
    compiler='clang -O0'
    [ "$tier" = long ] || search "$@"
}

# check_long - the same, of what `make test` leaves to `make test-all`.
check_long() {
    compiler='gcc -O1'
    [ "$tier" = short ] || search "$@"
}

search() {
    model=$1 expected=$2 sentence=$3
    shift 3
    count=$((count + 1))
    rm -f pan
    {
        spin "$@" -a "$model.pml" && $compiler -w -DSAFETY -DCOLLAPSE -DMEMLIM=2000 -o pan pan.c &&
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

# checks_done - the TAP plan, at the end.
checks_done() {
    echo "1..$count"
}
