# testing.sh - sourced by the system tests: runs true sentences, bounds every wait, finds what is left behind.
#
#   check "a sentence that is true" function_that_shows_it
#   check_long "a sentence" function    - one that `make test` leaves to `make test-all`; why stands beside it
#
# The head of each script says its class, by which tests/run decides what runs beside it: "# class: waits", for most of
# its time it waits, and its bounds hold on a loaded computer; "# class: busy", one at a time.
#
# The function runs in a subshell in a scratch directory of its own; it fails with `fail "reason"` or any non-zero
# status. Afterwards no process that it started may live and no file may lie in the directories that the tool uses.
set -u

case $1 in
/*) build=$1 ;;
*) build=$PWD/$1 ;;
esac
source_tree=$PWD
ecube=$build/ecube
# The board that was made, and what its nodes run.
board=$(cat "$build/board")
nodes=$build/$board
kernel=$nodes/kernel.elf
programs=$build/tests/programs
examples=$build/examples
json_get=$build/tests/json_get
limit_seconds=120
tier=${ECUBE_TESTS:-short}
# All of a script that is long as a whole is long.
[ "$tier" != long ] || ! grep -q '^# tier: long' "$0" || tier=all

# Short, because sockets lie below it and their paths are bounded.
scratch=$(mktemp -d /tmp/ecube-test.XXXXXX)
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
case_number=0 cache=off

# A sentence stands on one line; terminal_test looks at lines as users see them.
export COLUMNS=10000
unset NO_COLOR

# with_sanitizers - from here on the tool is the one built with sanitizers; what they find in any of its processes, also in
# one that holds a machine and has no standard error, fails the case.
reports=
with_sanitizers() {
    ecube=$build/ecube-checked
    reports=$scratch/reports
    mkdir "$reports"
    export ASAN_OPTIONS=detect_leaks=0:log_path=$reports/asan UBSAN_OPTIONS=print_stacktrace=1:log_path=$reports/ubsan
}

# share_plans - from here on what one case has searched for serves the others of the script.
share_plans() {
    cache=$scratch/cache
}

# board_number NAME - a number that its board.h gives, as it stands there.
board_number() {
    awk -v name="BOARD_$1" '$2 == name { print $3 }' "$source_tree"/board/"$board"/board.h
}

# What addresses of a program's image and of its stack begin with.
image_digits=$(board_number IMAGE_BASE | cut -c 3-5)
stack_digits=$(board_number STACK_BASE | cut -c 3-5)

# board_at NAME OFFSET - an address, as debuggers print it.
board_at() {
    printf '0x%x' $(($(board_number "$1") + $2))
}

fail() {
    echo "$*"
    exit 1
}

# left_out PROGRAM - an example that loops over all of them leave out: those that say so when they are given no data and end
# with status 1 (examples_data_test.sh runs them), and, of what make test runs, the linear algebra (examples_linear_test.sh).
left_out() {
    name=$(basename "$1" .elf)
    case $name in
    fir | image | match) return 0 ;;
    *) [ "$tier" = short ] && is_linear "$name" ;;
    esac
}

# is_linear NAME - an example of examples/linear_algebra.
is_linear() {
    [ -f "$source_tree/examples/linear_algebra/$1.c" ]
}

has_native() {
    [ "$(uname -m)" = x86_64 ]
}

# needs_native - all that a script tests are native programs: on another processor there is nothing to run.
needs_native() {
    has_native || {
        echo "1..0 # SKIP native programs are for x86-64"
        exit 0
    }
}

# wait_until COMMAND... - polls until the command succeeds; fails after a minute, which is long enough on a loaded computer.
wait_until() {
    tries=1200
    while ! "$@"; do
        tries=$((tries - 1))
        [ "$tries" -gt 0 ] || return 1
        sleep 0.05
    done
}

# Processes of this case (its mark is in their environment) whose name begins with $1, or one of the others, as
# "pid name" lines.
processes() {
    for directory in /proc/[0-9]*; do
        read -r name <"$directory/comm" || continue
        for beginning in "$@"; do
            case $name in
            "$beginning"*) ;;
            *) continue ;;
            esac
            if tr '\0' '\n' <"$directory/environ" | grep -q "^ECUBE_TEST_MARK=$mark\$"; then
                echo "${directory#/proc/} $name"
            fi
        done
    done 2>/dev/null
}

left_running() {
    processes qemu-system ecube openocd gdb-multiarch
}

# nothing_beside - no draft is left of a file that was written, or was not.
nothing_beside() {
    [ -z "$(find . -name '*.??????' ! -name '*.elf' ! -name '*.so')" ] || { ls -R; fail "a draft is left"; }
}

# node_process N - of the QEMU that is node N, in a machine of this case.
node_process() {
    for pid in $(processes qemu-system | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/cmdline" | grep -q "/n$1\.[a-z]*,server" || echo "$pid"
    done
}

process_count() {
    processes "$1" | grep -c .
}

no_processes() {
    [ -z "$(left_running)" ]
}

# check SENTENCE FUNCTION [ARGUMENT...] - one TAP line.
check() {
    [ "$tier" = long ] || run_case "$@"
}

# check_native - as check, for a case with native programs.
check_native() {
    if has_native; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP native programs are for x86-64"
    fi
}

check_long() {
    [ "$tier" = short ] || run_case "$@"
}

run_case() {
    sentence=$1
    shift
    case_number=$((case_number + 1))
    case_directory=$scratch/$case_number
    mkdir -p "$case_directory/work" "$case_directory/tmp"
    mkdir -m 700 "$case_directory/run"
    mark=$$.$case_number
    case_start=$(date +%s)
    (
        export ECUBE_TEST_MARK="$mark" TMPDIR="$case_directory/tmp" XDG_RUNTIME_DIR="$case_directory/run" ECUBE_CACHE="$cache"
        cd "$case_directory/work" || exit 1
        "$@"
    ) >"$case_directory/log" 2>&1 </dev/null
    case_status=$?
    if ! no_processes; then
        case_status=1
        left_running >"$case_directory/left"
        echo "left running: $(cat "$case_directory/left")" >>"$case_directory/log"
        while read -r pid name; do kill -9 "$pid"; done <"$case_directory/left"
    fi
    if [ -n "$reports" ] && [ -n "$(ls "$reports")" ]; then
        case_status=1
        echo "a sanitizer has found something" >>"$case_directory/log"
        cat "$reports"/* >>"$case_directory/log"
        rm -f "$reports"/*
    fi
    left=$(find "$case_directory/tmp" "$case_directory/run" -mindepth 1 | head -n 5)
    if [ -n "$left" ]; then
        case_status=1
        echo "left lying: $left" >>"$case_directory/log"
    fi
    if [ "$case_status" -eq 0 ]; then
        echo "ok $case_number - $sentence ($(($(date +%s) - case_start)) s)"
    else
        echo "not ok $case_number - $sentence"
        tail -n 40 "$case_directory/log" | sed 's/^/#   /'
    fi
    rm -rf "$case_directory"
}

# tool ARGUMENT... - runs ecube bounded in time; leaves its output in `out` and `err` and its exit code in $status.
tool() {
    timeout -k 5 "$limit_seconds" "$ecube" "$@" >out 2>err
    status=$?
    [ "$status" -lt 124 ] || [ "$status" -gt 125 ] || [ -n "${may_time_out-}" ] || {
        tail -n 5 out err
        fail "hung: ecube $*"
    }
}

# What the tool itself said on stderr, without progress, tables, times and advice, each sentence on one line.
words() {
    sed -e ':next' -e '$!N' -e 's/\n       / /' -e 'tnext' -e 'P' -e 'D' err |
        grep -Ev '^ecube: (boot|download|run|gather|scatter|trace): [0-9]+ of [0-9]+ |^$|^\[ *[0-9]+\] |^(boot|download|gather|trace)  |^  |^(bytes/pair|complete exchange)|^ecube: to find wrong uses of memory where they happen, '
}

# explained_rows - the plans in what ecube plan explain has written into `out`: mark (. for none), time and name, one a line.
explained_rows() {
    awk '{ rest = $0 }
        /^[*~ ] [^ ]/ { mark = substr($0, 1, 1); name = ""; rest = substr($0, 3) }
        match(rest, / +[0-9]+ +[0-9]+[.][0-9][0-9][0-9] +[0-9.-]+ +[0-9]+M?( !)?$/) {
            split(substr(rest, RSTART), columns)
            print (mark == " " ? "." : mark), columns[2], name substr(rest, 1, RSTART - 1)
            next
        }
        { name = rest }' out
}

# tool_succeeds ARGUMENT... - status 0, or the case fails and shows both outputs.
tool_succeeds() {
    tool "$@"
    [ "$status" -eq 0 ] || {
        tail -n 20 out err
        fail "status $status from ecube $*"
    }
}

# tool_fails STATUS PATTERN ARGUMENT... - this status (or `any` but 0), and one line on stderr that matches PATTERN.
tool_fails() {
    wanted=$1 pattern=$2
    shift 2
    tool "$@"
    [ "$status" -ne 0 ] || fail "status 0 from ecube $*"
    [ "$wanted" = any ] || [ "$status" -eq "$wanted" ] || {
        words
        fail "status $status, not $wanted, from ecube $*"
    }
    words | grep -Eq -- "$pattern" || {
        words
        fail "no line like '$pattern' from ecube $*"
    }
    [ "$(words | wc -l)" -eq 1 ] || {
        words
        fail "more than one line from ecube $*"
    }
}

# machine_begins NETWORK [OPTION...] - for `load --name shared`: the runs of a case that are not about booting share one.
machine_begins() {
    tool_succeeds up --name shared --network "$@"
}

machine_ends() {
    tool_succeeds down --name shared
    wait_until no_processes || fail "processes outlive ecube down"
}

# cases_done - the TAP plan, at the end.
cases_done() {
    echo "1..$case_number"
}
