#!/bin/sh
# hosts_test.sh BUILD - `ecube run --hosts FILE`: agents started by mpirun on "computers" that are this one, by a launch agent of
# the test's own in place of ssh.
# class: waits
. tests/system/testing.sh
. tests/system/agents.sh

exchange=$examples/complete_exchange.elf

command -v mpirun >/dev/null || {
    echo "1..0 # SKIP mpirun is not installed (packages-cluster.txt)"
    exit 0
}

# computers NAME... - the file `hosts`, and a launch agent for them: to `nowhere` there is no way.
computers() {
    printf '# those of this case\n' >hosts
    printf ' %s # a computer\n' "$@" >>hosts
    cat >launch <<'END'
#!/bin/sh
name=$1
shift
[ "$name" != nowhere ] || {
    echo "no route to $name" >&2
    exit 255
}
mkdir -p "$CASE_WORK/$name"
TMPDIR=$CASE_WORK/$name exec sh -c "$*"
END
    chmod +x launch
    export ECUBE_LAUNCH="$PWD/launch" CASE_WORK="$PWD" # as computers do, each has a directory of its own
}

# Nothing is told but what an agent tells.
no_word_of_mpirun() {
    words | grep -v '^agent \|^links ' >told
    [ ! -s told ] || { cat told; fail "something is told"; }
}

same_times() {
    computers oak elm
    tool_succeeds run --hosts hosts --network cube:3 --json many "$exchange" 16 1000
    no_word_of_mpirun
    grep -q '^links 0-1  4$' err || { cat err; fail "it is not divided"; }
    times_are_those_of_one cube:3 16 1000
}

on_localhost() {
    echo localhost >hosts
    tool_succeeds run --hosts=hosts --network cube:2 "$examples/hello.elf"
    no_word_of_mpirun
    [ "$(grep -c '^\[ *[0-9]*\] hello from node' out)" -eq 4 ] || { cat out; fail "not all nodes said hello"; }
}

# What is told of rank 0's end is what an agent tells; the words behind PROGRAM are the program's, also one like an option.
status_passes() {
    computers oak elm
    tool run --hosts hosts --network cube:2 "$programs/misbehave.elf" exit 3 7
    [ "$status" -eq 7 ] || { cat err; fail "status $status"; }
    words | grep -v '^agent \|^links ' >told
    [ "$(cat told)" = 'ecube: node 3 (rank 3): the program exited with status 7' ] || { cat told; fail "other words"; }
    tool_fails 2 'cannot read the program no\.elf' run --hosts hosts --network cube:3 no.elf
    tool_succeeds run --hosts hosts --quiet --network cube:2 "$programs/arguments.elf" --hosts hosts
    grep -q -- '--hosts' out || { cat out; fail "the program's own words are gone"; }
}

# --stdin is what the tool has, not mpirun's pipe.
input_passes() {
    computers oak elm
    printf 'three words here\n' >words
    timeout -k 5 "$limit_seconds" "$ecube" run --hosts hosts --network cube:2 --json result "$examples/hello.elf" <words >out 2>err ||
        { cat err; fail "it failed"; }
    [ "$("$json_get" result data 0 kind)" = stdin ] || { cat result; fail "standard input did not come"; }
    tool_succeeds run --hosts hosts --network cube:2 --json result "$examples/hello.elf" </dev/null
    ! grep -q '"stdin"' result || { cat result; fail "there is standard input"; }
}

refusals() {
    computers oak elm
    refuse 'cannot read the file of hosts none: No such file' none
    for text in '' '# none\n\n'; do
        # shellcheck disable=SC2059 -- a format
        printf "$text" >file
        refuse '--hosts file: no computer is named there' file
    done
    printf 'oak\nelm\noak\n' >file
    refuse '--hosts file: two agents on computer oak where one was asked for' file
    printf 'localhost\n%s\n' "$(hostname)" >file
    refuse "--hosts file: two agents on computer $(hostname) where one was asked for" file
    printf 'oak slots=4\n' >file
    refuse '--hosts file: "oak slots=4" is no name of a computer' file
    seq -f 'c%g' 65 >file
    refuse '--hosts file: at most 64 computers' file
    refuse '--cross: not over several computers' hosts --cross 0-1,2-3
    tool_fails 2 '--key-file and --dry-run are of a run with --hosts' run --dry-run --network cube:2 "$exchange"
    printf '#!/bin/sh\nPATH=/nowhere exec %s "$@"\n' "$ecube" >bare
    chmod +x bare
    ecube=$PWD/bare
    refuse "mpirun is not in PATH: install Debian's package openmpi-bin" hosts
}

refuse() {
    pattern=$1 file=$2
    shift 2
    tool_fails 2 "$pattern" run --hosts "$file" --network cube:2 "$@" "$exchange" 100
}

unreachable() {
    computers oak nowhere
    refuse '^ecube: computer nowhere: no agent can be started there: no route to nowhere \(.*launch, status 255\)$' hosts
    ECUBE_LAUNCH=/no/ssh refuse '^ecube: computer oak|^ecube: computer nowhere' hosts
    grep -q 'cannot run /no/ssh: No such file' err || { cat err; fail "no reason"; }
}

# Words of mpirun are shown when it fails itself.
mpirun_fails() {
    computers oak elm
    mkdir bin
    printf '#!/bin/sh\necho "slots are short" >&2\nexit 3\n' >bin/mpirun
    chmod +x bin/mpirun
    PATH=$PWD/bin:$PATH tool run --hosts hosts --network cube:2 "$exchange" 100
    [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
    printf '%s\n' 'slots are short' 'ecube: mpirun could not start the agents (its exit status is 3)' | cmp - err ||
        { cat err; fail "other words"; }
}

start_sleepers() {
    computers oak elm
    "$ecube" run --hosts hosts --network cube:2 --json result "$programs/sleeper.elf" 0 >out 2>err &
    started=$!
    wait_until grep -q '^ecube: run: 0 of 4' err || { cat err; fail "it does not run"; }
}

# stopped SIGNAL STATUS - in a session of its own, since a shell's background has no SIGINT.
stopped() {
    computers oak elm
    sh -c 'trap - INT; exec "$@"' - setsid -w "$ecube" run --hosts hosts --network cube:2 "$programs/sleeper.elf" 0 >out 2>err &
    wait_until grep -q '^ecube: run: 0 of 4' err || { cat err; fail "it does not run"; }
    for pid in $(processes ecube | awk '$2 == "ecube" { print $1 }'); do
        ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q ' --hosts ' || victim=$pid
    done
    kill "-$1" "$victim"
    wait $!
    status=$?
    await_end
    [ "$status" -eq "$2" ] || { cat err; fail "status $status"; }
    rm -rf "$TMPDIR"/ompi.* # mpirun's own, which has had no time
}

lost_agent() {
    start_sleepers
    for pid in $(processes ecube-agent | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q '^PMIX_RANK=1$' || victim=$pid
    done
    kill -9 "$victim"
    wait "$started"
    status=$?
    await_end
    [ "$status" -eq 3 ] || { cat err; fail "status $status"; }
    [ "$(words | grep -c '^ecube: computer .*, nodes 2-3: its agent has ended, during run$')" -eq 1 ] || { cat err; fail "other words"; }
    ! words | grep -q 'mpirun\|^---\|^Primary' || { cat err; fail "words of mpirun"; }
    rm -rf "$TMPDIR"/ompi.*
}

# The most that one command starts here: the main job on 200 nodes of three computers.
two_hundred() {
    limit_seconds=400
    computers oak elm ash
    tool_succeeds run --hosts hosts --network mesh:10x20 --json many "$exchange" 16
    no_word_of_mpirun
    [ "$("$json_get" many exits length)" -eq 200 ] || fail "--json has not all nodes"
    grep -Eq '^ +16 +[0-9]+ +[0-9.]+ .* 0$' err || { cat err; fail "no good row"; }
}

check "run --hosts divides a machine among computers, with the model times of one" same_times
check "run --hosts with localhost alone is a run on this computer" on_localhost
check "run --hosts ends with rank 0's status, and says nothing of mpirun's" status_passes
check "run --hosts takes the tool's standard input" input_passes
check "run --hosts refuses a wrong file, and what is not for several computers" refusals
check "run --hosts names a computer that cannot be reached" unreachable
check "run --hosts shows mpirun's words when mpirun fails" mpirun_fails
check "Ctrl-C at run --hosts ends all, and leaves nothing" stopped INT 130
check "kill -9 of run --hosts leaves nothing" stopped KILL 137
check "an agent that is killed under run --hosts is one trouble" lost_agent
check_long "200 nodes on three computers exchange" two_hundred
cases_done
