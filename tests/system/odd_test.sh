# Odd circumstances: few open files, no room, closed streams, strange paths, long arguments, signals, two users of a machine.
# class: waits
. tests/system/testing.sh
with_sanitizers

arguments=$programs/arguments.elf
misbehave=$programs/misbehave.elf

# tool_within LIMIT ARGUMENT... - the tool with so many open files; as `tool`.
tool_within() {
    limit=$1
    shift
    (ulimit -n "$limit" && exec timeout -k 5 "$limit_seconds" "$ecube" "$@") >out 2>err
    status=$?
}

few_open_files() {
    tool_within 64 run --network cube:6 "$arguments"
    [ "$status" -eq 2 ] || fail "status $status"
    words | grep -Eq 'cube:6 needs [0-9]+ open files, and the limit is 64: .*ulimit -n' || { words; fail "no line on the limit"; }
    [ "$(wc -l <err)" -eq 1 ] || { cat err; fail "more than one line"; }
    tool_within 9 up --network cube:2
    [ "$status" -eq 2 ] || fail "status $status from up"
    words | grep -q 'cube:2 needs' || { words; fail "no line on the limit of up"; }
}

no_directory() {
    tool_succeeds run --network cube:0 "$arguments"
    XDG_RUNTIME_DIR=/nowhere
    TMPDIR=/nowhere
    tool_succeeds run --network cube:0 "$arguments"
}

closed_streams() {
    "$ecube" run --network cube:1 "$arguments" >/dev/full 2>err
    [ $? -eq 2 ] || fail "status with a full device"
    words | grep -q 'cannot write to standard output' || { words; fail "no line on the full device"; }
    "$ecube" run --network cube:1 "$arguments" 2>err >&-
    [ $? -eq 2 ] || fail "status with a closed output"
    "$ecube" sim --network cube:1 barrier >/dev/full 2>err
    [ $? -eq 2 ] || fail "status of sim with a full device"
    "$ecube" run --network cube:1 "$arguments" <&- >&- 2>&-
    [ $? -eq 2 ] || fail "status with all streams closed"
    "$ecube" run --network cube:1 "$arguments" some <&- >out 2>&- || fail "status with input and errors closed"
    grep -qF '[1] node 1 of 2: [some]' out || { cat out; fail "output with input and errors closed"; }
}

reader_gone() {
    "$ecube" run --network cube:2 "$arguments" 2>err | head -n 1 >out
    wait_until no_processes || fail "processes outlive the reader"
    wait_until eval '[ -z "$(ls -A "$XDG_RUNTIME_DIR")" ]' || fail "files outlive the reader"
    [ "$(words | wc -l)" -eq 0 ] || { words; fail "words of complaint"; }
}

strange_paths() {
    strange="a b'c\"d"
    mkdir "$strange"
    cp "$arguments" "$strange/e f'g.elf"
    tool_succeeds run --network cube:0 "$strange/e f'g.elf" 'x y'
    grep -qF '[0] node 0 of 1: [x y]' out || { cat out; fail "output"; }
    deep=.
    for i in 1 2 3 4 5 6 7 8 9 10; do deep=$deep/$(printf 'long%.0s' $(seq 50)); done
    mkdir -p "$deep"
    cp "$arguments" "$deep/program.elf"
    tool_succeeds run --network cube:0 "$deep/program.elf"
    tool_fails 2 'File name too long' run --network cube:0 "$deep/$deep/$deep/program.elf"
}

many_arguments() {
    # shellcheck disable=SC2046 -- five thousand arguments
    tool_succeeds run --network cube:0 "$arguments" $(seq 5000)
    grep -qF '[4999] [5000]' out || fail "the last arguments"
    long=$(printf 'x%.0s' $(seq 100000))
    tool_succeeds run --network cube:5 "$arguments" "$long"
    set -- "$long" "$long" "$long" "$long"
    tool run --network cube:1 "$arguments" "$@" "$@" "$@"
    [ "$status" -eq 2 ] || fail "status $status"
    [ "$(cat out err | wc -l)" -eq 1 ] || { cut -c1-200 out err; fail "more than one line: the machine was booted"; }
    grep -q 'the arguments are too long: .* has room for' err || fail "no line on the arguments"
}

# A machine with one program that runs, in $loader.
start_loaded_machine() {
    tool_succeeds up --name shared --network cube:1
    "$ecube" load --name shared "$misbehave" spin 0 >load.out 2>load.err &
    loader=$!
    wait_until grep -q 'run: 0 of 2' load.err || fail "the program does not start"
}

end_loaded_machine() {
    tool_succeeds down --name shared
    wait_until no_processes || fail "processes outlive ecube down"
}

two_loads() {
    start_loaded_machine
    tool_fails 2 'the machine is busy: another program is running' load --name shared "$arguments"
    end_loaded_machine
    wait $loader
    [ $? -eq 3 ] || fail "status of the load whose machine went down"
    grep -q '^ecube: the machine has ended$' load.err || { cat load.err; fail "no line on the end of the machine"; }
}

load_ended_by() {
    start_loaded_machine
    kill "-$1" $loader
    wait $loader
    [ $? -eq "$2" ] || fail "status"
    wait_until "$ecube" load --name shared "$arguments" again >out 2>err || { cat err; fail "the machine takes no program any more"; }
    end_loaded_machine
}

# Whoever asks while the nodes answer another gets whole answers, too.
many_ask() {
    tool_succeeds up --name asked --network cube:4
    askers=
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        "$ecube" ps --name asked >"ps.$i" 2>&1 &
        askers="$askers $!"
    done
    for asker in $askers; do wait "$asker" || fail "a ps fails"; done
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
        [ "$(grep -c ' empty ' "ps.$i")" -eq 16 ] || { cat "ps.$i"; fail "ps $i of 12"; }
    done
    tool_succeeds down --name asked
    wait_until no_processes || fail "processes outlive ecube down"
}

# More than the machine has room for are refused; none waits for ever, or runs and is told nothing.
too_many_listen() {
    tool_succeeds up --name heard --network cube:0
    for i in $(seq 40); do
        "$ecube" console --name heard >/dev/null 2>"listener.$i" &
    done
    wait_until eval '[ "$(cat listener.* | grep -c "too many tools")" -eq 8 ]' || fail "not 8 of 40 are refused"
    tool_fails 2 'too many tools are connected' ps --name heard
    tool_fails 2 'too many tools are connected' load --name heard "$arguments"
    tool_succeeds down --name heard
    wait_until no_processes || fail "processes outlive ecube down"
}

# A machine whose boot nobody waits for any more ends.
up_ended_by() {
    "$ecube" up --name doomed --network cube:4 >out 2>err &
    starter=$!
    wait_until grep -q 'boot: 0 of' err || fail "no boot"
    kill "-$1" $starter
    wait $starter
    wait_until no_processes || fail "the machine outlives ecube up"
}

no_text() {
    tool_succeeds up --name text --network cube:0
    tool_fails 2 'must be UTF-8' load --name text "$arguments" "$(printf '\377')"
    tool_succeeds down --name text
    wait_until no_processes || fail "processes outlive ecube down"
}

installs_with_spaces() {
    (cd "$source_tree" && sh scripts/install.sh "$build" "$board" "$case_directory/work/de st/pre fix") >out 2>err || { cat err; fail "install"; }
    "de st/pre fix/bin/ecube-cc" "$source_tree/tests/system/programs/arguments.c" -o own.elf || fail "ecube-cc"
    timeout 60 "de st/pre fix/bin/ecube" run --network cube:0 own.elf one >out 2>err || { words; fail "run"; }
    grep -qF '[one]' out || fail "output"
    (cd "$source_tree" && sh scripts/install.sh --remove "$case_directory/work/de st/pre fix") || fail "uninstall"
    [ ! -e 'de st' ] || fail "something stays"
}

check "too few open files are told before anything starts" few_open_files
check "directories that do not exist are not used" no_directory
check "output that cannot be written is an error, and never goes to a link" closed_streams
check "a reader that goes away ends the run without a word" reader_gone
check "paths with spaces and quotes, and long ones, work" strange_paths
check "thousands of arguments arrive, and too many bytes are refused before the boot" many_arguments
check "a second program is refused while one runs, and down ends it" two_loads
check "many who ask for the nodes at once all hear of all of them" many_ask
check "one tool too many is refused" too_many_listen
check "a load that is terminated leaves the machine to the next" load_ended_by TERM 143
check "a load that is killed leaves the machine to the next" load_ended_by KILL 137
check "an up that is terminated takes its machine along" up_ended_by TERM
check "an up that is killed takes its machine along" up_ended_by KILL
check "arguments that are no text are refused by load" no_text
check "it installs into a directory with spaces" installs_with_spaces
cases_done
