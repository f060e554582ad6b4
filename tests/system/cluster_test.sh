#!/bin/sh
# cluster_test.sh BUILD - agents under mpirun, on one computer, where PMIx tells them of each other; and by hand on two
# computers, which are network namespaces with a cable between.
# tier: long
# class: waits

# Without root as that of a user namespace, where one may be made.
[ "$(id -u)" -eq 0 ] || ! unshare -r true 2>/dev/null || exec unshare -r sh "$0" "$@"
. tests/system/testing.sh
. tests/system/agents.sh

exchange=$examples/complete_exchange.elf
slow_cable=$build/tests/slow_cable
root_at=10.77.0.1:7000 # where rank 0 listens

# mpi SIZE ARGUMENT... - `ecube agent` so many times; leaves out, err and status.
mpi() {
    size=$1
    shift
    as_root=
    [ "$(id -u)" -ne 0 ] || as_root=--allow-run-as-root
    timeout -k 5 "$limit_seconds" mpirun $as_root --oversubscribe -n "$size" "$ecube" agent "$@" >out 2>err
    status=$?
}

same_times() {
    mpi 4 --network cube:4 --stdin none --json many "$exchange" 16 1000 # mpirun's standard input is a pipe
    [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
    times_are_those_of_one cube:4 16 1000
}

status_passes() {
    mpi 2 --network cube:2 "$programs/misbehave.elf" exit 3 7
    [ "$status" -eq 7 ] || { cat err; fail "status $status"; }
}

# What is wrong is said once, before mpirun's own words.
bad_input() {
    mpi 4 --network cube:3 no.elf
    [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
    [ "$(grep -c '^ecube' err)" -eq 1 ] || { cat err; fail "not one line"; }
    for option in --nonsense --blank; do
        mpi 4 --network cube:3 $option
        [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
        [ "$(grep -c '^ecube' err)" -eq 1 ] || { cat err; fail "not one line"; }
    done
    grep -q '^ecube: --blank: not over several computers' err || { cat err; fail "other words"; }
}

start_sleepers() {
    : >err
    mpi 3 --network cube:3 "$programs/sleeper.elf" 0 &
    started=$!
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err; fail "it does not run"; }
}

killed_mpirun() {
    start_sleepers
    for pid in $(processes mpirun orterun prterun | cut -d ' ' -f 1); do
        kill -9 "$pid"
    done
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
    rm -rf "$TMPDIR"/ompi.* # mpirun's own
}

killed_agent() {
    start_sleepers
    kill -9 "$(process_of_pmix "$1")"
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
}

process_of_pmix() {
    for pid in $(processes ecube-agent | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q "^PMIX_RANK=$1\$" || echo "$pid"
    done
}

# make_computers [DELAY_MS KBIT_S] - oak and elm, with a cable between, a slow one if that is said; `on_0` and `on_1` enter them.
make_computers() {
    holders=
    for number in 0 1; do
        name=$(echo oak elm | cut -d ' ' -f $((number + 1)))
        cat /proc/sys/kernel/random/uuid >"$name.boot"
        unshare -nmu sh -c 'hostname "$1" && mount --bind "$1.boot" /proc/sys/kernel/random/boot_id && exec sleep "$2"' - \
            "$name" "$limit_seconds" &
        holders="$holders $!"
        eval "on_$number='nsenter -t $! -n -m -u --wd=.'"
    done
    wait_until apart || fail "no namespaces"
    # shellcheck disable=SC2086 -- two words
    lay_cable $holders "$@"
    for number in 0 1; do
        eval "on=\$on_$number"
        $on ip addr add 10.77.0.$((number + 1))/24 dev cable
        $on ip link set cable up
        $on ip link set lo up
    done
}

apart() {
    for holder in $holders; do
        [ "$(cat "/proc/$holder/comm")" = sleep ] || return 1
    done
}

# lay_cable COMPUTER COMPUTER [DELAY_MS KBIT_S]
lay_cable() {
    if [ $# -eq 2 ]; then
        $on_0 ip link add cable type veth peer name cable netns "$2"
    else
        : >cable.said
        "$slow_cable" "$@" >cable.said 2>&1 &
        wait_until grep -q . cable.said
        [ "$(cat cable.said)" = ready ] || { cat cable.said; fail "no slow cable"; }
    fi
}

# start_on COMPUTER RANK SIZE ARGUMENT... - as start_agent; the commands that enter the computer are one word.
start_on() {
    on=$1
    shift
    start_agent "$@"
}

# on_computers ARGUMENT... - an agent on each.
on_computers() {
    start_on "$on_1" 1 2 "$@"
    others=$started
    start_on "$on_0" 0 2 "$@"
}

# end_computers - when the run is over; leaves how many bytes the cable has carried, one way, in $carried.
end_computers() {
    wait "$started"
    status=$?
    await_others
    carried=$(for on in "$on_0" "$on_1"; do $on awk '$1 == "cable:" { print $2 }' /proc/net/dev; done | sort -n | tail -n 1)
    # shellcheck disable=SC2086 -- a list
    kill $holders
}

# expect_good BYTES... - nothing is told, and all times are those of one computer.
expect_good() {
    [ "$status $ended" = '0 0' ] || { cat err said.1; fail "statuses $status and $ended"; }
    words | grep -v '^agent \|^links ' >told
    [ ! -s told ] || { cat told; fail "something is told"; }
    times_are_those_of_one cube:3 "$@"
}

two_computers() {
    make_computers
    on_computers --network cube:3 --json many "$exchange" 1000
    end_computers
    expect_good 1000
}

# slow_network DELAY_MS KBIT_S BYTES... - a run over it, which has shown that it is as slow.
slow_network() {
    delay_ms=$1 kbit_s=$2
    shift 2
    began_ms=$(date +%s%3N)
    make_computers "$delay_ms" "$kbit_s"
    on_computers --network cube:3 --patience 60s --json many "$exchange" "$@"
    wait_until round_trips || { cat err said.1; fail "no connection"; }
    awk -v least=$((2 * delay_ms)) '$1 < least { exit 1 }' trips || { cat trips; fail "less than twice $delay_ms ms"; }
    end_computers
    took_ms=$(($(date +%s%3N) - began_ms))
    echo "$carried bytes in $took_ms ms; round trips: $(paste -sd ' ' trips)"
    [ $((carried * 8)) -le $((kbit_s * took_ms)) ] || fail "$carried bytes in $took_ms ms"
    expect_good "$@"
}

# The least of each connection with rank 0, as the system has measured it.
round_trips() {
    $on_1 ss -tinH dst 10.77.0.1 | grep -o 'minrtt:[0-9.]*' | cut -d : -f 2 >trips
    [ -s trips ]
}

# One that is too slow for the patience that was asked for.
too_slow() {
    make_computers 1 1000
    on_computers --network cube:4 --patience 4s --json result "$exchange" 65536
    end_computers
    [ "$status" -eq 3 ] || { cat err said.1; fail "status $status"; }
    words | grep -v '^agent \|^links ' >told
    [ -s told ] || { cat err; fail "nothing is named"; }
    ! grep -Ev '^ecube: (link [0-7]-([89]|1[0-5]) .* died during run: no acknowledgement through all retries|computer elm, nodes 8-15: no answer)' told ||
        fail "something else is named"
}

# one_line PATTERN - rank 0 tells nothing else.
one_line() {
    words | grep -v '^agent \|^links ' >told
    grep -Eq "$1" told || { cat told; fail "no line like '$1'"; }
    [ "$(wc -l <told)" -eq 1 ] || { cat told; fail "more than one line"; }
}

# Within the link timeout and 5 s.
network_down() {
    make_computers
    on_computers --network cube:3 --patience 3s --json result "$programs/sleeper.elf" 0
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err said.1; fail "it does not run"; }
    $on_0 ip link set cable down
    down=$(date +%s)
    end_computers
    [ $(($(date +%s) - down)) -le 9 ] || fail "it took $(($(date +%s) - down)) s"
    [ "$status $ended" = '3 3' ] || { cat err said.1; fail "statuses $status and $ended"; }
    one_line '^ecube: computer elm, nodes 4-7: no answer for 3 s, during run$'
    [ "$("$json_get" result troubles length)" -eq 1 ] || { cat result; fail "not one trouble"; }
}

# cannot_come WHY - the agent on elm; as nobody knows at rank 0 where it is, both say so.
cannot_come() {
    on_computers --network cube:3 --patience 3s "$exchange" 1000
    end_computers
    expect_refused '^ecube: the agent of rank 1 has not come in 3 s$'
    [ "$(cat said.1)" = "ecube: computer elm (rank 1): rank 0 does not answer at 10.77.0.1, port 7000: $1" ] ||
        { cat said.1; fail "other words on elm"; }
}

# As a firewall does: what comes to oak at these ports is not answered.
close_ports() {
    $on_0 ip rule add to 10.77.0.2 ipproto tcp "$@" blackhole
}

closed_port() {
    make_computers
    close_ports sport 7000
    cannot_come 'Connection timed out'
}

unreachable() {
    make_computers
    $on_1 ip link set cable down
    cannot_come 'Network is unreachable'
}

unknown_host() {
    make_computers
    root_at=rank-0.invalid:7000
    on_computers --network cube:3 --patience 3s "$exchange" 1000
    end_computers
    expect_refused '^ecube: cannot listen at rank-0\.invalid:7000: unknown host$'
    grep -q '^ecube: computer elm (rank 1): rank 0 does not answer at rank-0\.invalid, port 7000: unknown host$' said.1 ||
        { cat said.1; fail "other words on elm"; }
}

# Ranks 0 and 1 are on oak, where rank 1's port for cables is closed to elm.
closed_cables() {
    make_computers
    close_ports sport 32768-60999
    start_on "$on_1" 2 3 --network cube:3 "$exchange" 1000
    others=$started
    start_on "$on_0" 1 3 --network cube:3 "$exchange" 1000
    others="$others $started"
    start_on "$on_0" 0 3 --network cube:3 "$exchange" 1000
    end_computers
    expect_refused '^ecube: computer elm \(rank 2\): cannot reach computer oak at 10\.77\.0\.1, port [0-9]+: Connection timed out$'
}

little_memory() {
    make_computers
    awk '/^MemAvailable/ { $2 = 17 * 1024 } { print }' /proc/meminfo >little
    $on_1 mount --bind little /proc/meminfo
    on_computers --network cube:3 "$exchange" 1000
    end_computers
    expect_refused 'no room for 8 nodes, which take at least 18 MiB each: there is on oak for .*, elm for 0 \(17 MiB free\)$'
}

no_qemu() {
    make_computers
    start_on "$on_1 env PATH=/nowhere" 1 2 --network cube:3 "$exchange" 1000
    others=$started
    start_on "$on_0" 0 2 --network cube:3 "$exchange" 1000
    end_computers
    expect_refused '^ecube: computer elm \(rank 1\): qemu-system-[a-z]* is not in PATH'
}

# Of the agents that MPICH's mpirun would start, or srun without --mpi=pmix, one says it.
no_pmix() {
    for variable in PMI_RANK SLURM_PROCID; do
        : >err
        for rank in 0 1 2; do
            env "$variable=$rank" "$ecube" agent --network cube:3 "$exchange" 1000 >>out 2>>err
            status=$?
            [ "$status" -eq 2 ] || fail "status $status"
        done
        [ "$(cat err)" = "ecube: computer $(hostname): its launcher has no PMIx: use Open MPI's mpirun, or srun --mpi=pmix" ] ||
            { cat err; fail "other words"; }
    done
}

# hosts_on_computers ARGUMENT... - `ecube run --hosts` on oak, which enters elm in place of ssh.
hosts_on_computers() {
    printf 'oak\nelm\n' >hosts
    mkdir elm
    printf '#!/bin/sh\nshift\nTMPDIR=%s/elm exec %s sh -c "$*"\n' "$PWD" "$on_1" >launch
    chmod +x launch
    # shellcheck disable=SC2086 -- words
    ECUBE_LAUNCH=$PWD/launch timeout -k 5 "$limit_seconds" $on_0 "$ecube" run --hosts hosts --network cube:3 "$@" >out 2>err &
    started=$! others=
}

hosts_refuse() {
    hosts_on_computers "$exchange" 1000
    end_computers
    await_end
    expect_refused "$1"
}

# Its daemon on elm does not come to mpirun. The system gives up after two minutes, here sooner.
hosts_closed() {
    make_computers
    close_ports
    # shellcheck disable=SC2016 -- there
    $on_1 sh -c 'echo 1 >/proc/sys/net/ipv4/tcp_syn_retries'
    hosts_refuse '^ecube: computer elm: no agent can be started there: .*TCP connection.* \(.*launch, status 1\)$'
}

# It does, but the agent there does not come to rank 0.
hosts_closed_to_agents() {
    make_computers
    close_ports sport 32768-60999
    export OMPI_MCA_oob_tcp_dynamic_ipv4_ports=20000-20100
    hosts_refuse '^ecube: computer elm \(rank 1\): rank 0 does not answer at 10\.77\.0\.1,.*: Connection timed out$'
}

hosts_network_down() {
    make_computers
    hosts_on_computers --patience 3s --json result "$programs/sleeper.elf" 0
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err; fail "it does not run"; }
    $on_0 ip link set cable down
    down=$(date +%s)
    end_computers
    [ $(($(date +%s) - down)) -le 9 ] || fail "it took $(($(date +%s) - down)) s"
    [ "$status" -eq 3 ] || { cat err; fail "status $status"; }
    one_line '^ecube: computer elm, nodes 4-7: no answer for 3 s, during run$'
    wait_until no_processes || { left_running; fail "processes stay"; }
    for pid in $(processes orted prted | cut -d ' ' -f 1); do # it waits for mpirun as long as the system does
        kill "$pid"
    done
    await_end
}

# on_two SENTENCE FUNCTION - where this user may make network namespaces.
on_two() {
    if unshare -nmu ip link add cable type veth peer name rope 2>/dev/null; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP no network namespaces here"
    fi
}

on_slow() {
    if unshare -n ip tuntap add mode tap name cable 2>/dev/null; then
        on_two "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP no network devices of a program (TUN) here"
    fi
}

on_hosts() {
    if command -v mpirun >/dev/null; then
        on_two "$@"
    else
        under_mpirun "$@"
    fi
}

under_mpirun() {
    if command -v mpirun >/dev/null; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP mpirun is not installed (packages-cluster.txt)"
    fi
}

on_two "two computers run a program" two_computers
on_two "a network that goes down between two computers is one trouble" network_down
on_slow "a run over a network with 50 ms of delay is right" slow_network 50 100000 16 1000
on_slow "a run over a network of 10 Mbit/s is right" slow_network 1 10000 1000 65536 65536 65536
on_slow "a run over a network of 1 Mbit/s is right" slow_network 1 1000 1000 65536
on_slow "a network that is too slow for the patience is named" too_slow
on_two "a port of rank 0 that is closed is named" closed_port
on_two "a rank 0 that cannot be reached is named" unreachable
on_two "an unknown host as rank 0 is named" unknown_host
on_two "a port for cables that is closed is refused, with both computers' names" closed_cables
on_two "a computer with too little memory is refused, and named" little_memory
on_two "a computer without QEMU is refused, and named" no_qemu
check "an MPI without PMIx is one line with the computer's name" no_pmix
on_hosts "run --hosts names a computer whose network is closed" hosts_closed
on_hosts "run --hosts names a computer from which rank 0's port is closed" hosts_closed_to_agents
on_hosts "a network that goes down under run --hosts is one trouble" hosts_network_down
under_mpirun "agents under mpirun run a program with the model times of one computer" same_times
under_mpirun "mpirun passes rank 0's status on" status_passes
under_mpirun "under mpirun bad input is one line" bad_input
under_mpirun "kill -9 of mpirun leaves nothing" killed_mpirun
under_mpirun "kill -9 of an agent under mpirun leaves nothing" killed_agent 2
under_mpirun "kill -9 of rank 0 under mpirun leaves nothing" killed_agent 0
cases_done
