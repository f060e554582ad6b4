#!/bin/sh
# slurm_test.sh BUILD - agents and a simulation over several processes under srun. The test starts a Slurm of its own, whose
# three computers are this one; it is never installed by a test (slurm-wlm, munge).
# tier: long
# class: waits
. tests/system/testing.sh
. tests/system/agents.sh

exchange=$examples/complete_exchange.elf
sim_mpi=$build/ecube-sim-mpi

PATH=$PATH:/usr/sbin:/sbin
for program in munged slurmctld slurmd srun scancel; do
    command -v "$program" >/dev/null || {
        echo "1..0 # SKIP Slurm is not installed (slurm-wlm, munge)"
        exit 0
    }
done
slurm=$scratch/slurm
export SLURM_CONF="$slurm/slurm.conf"
daemons=

# daemon COMMAND... - in the foreground of its own, until the script ends.
daemon() {
    "$@" >>"$slurm/said" 2>&1 </dev/null &
    daemons="$daemons $!"
}

end_slurm() {
    for pid in $daemons; do
        kill "$pid" 2>/dev/null
    done
    # shellcheck disable=SC2086 -- a list
    wait $daemons 2>/dev/null
    daemons=
}

begin_slurm() {
    me=$(id -un) port=$((10000 + $$ * 37 % 20000))
    mkdir -m 700 "$slurm"
    mkdir "$slurm/state" "$slurm/0" "$slurm/1" "$slurm/2"
    (umask 077 && head -c 128 /dev/urandom >"$slurm/key")
    cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmUser=$me
SlurmdUser=$me
AuthInfo=socket=$slurm/munge
SlurmctldPort=$port
SlurmctldPidFile=$slurm/controller.pid
SlurmdPidFile=$slurm/%n/pid
SlurmdSpoolDir=$slurm/%n/spool
TmpFS=$slurm/%n
StateSaveLocation=$slurm/state
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/builtin
KillWait=5
NodeName=[0-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 3))] CPUs=1
PartitionName=all Nodes=ALL Default=YES
END
    daemon munged --foreground --force --socket="$slurm/munge" --key-file="$slurm/key" --pid-file="$slurm/munge.pid" \
        --seed-file="$slurm/munge.seed" --log-file="$slurm/munge.log"
    wait_until test -S "$slurm/munge" || return 1
    daemon slurmctld -D -c
    for number in 0 1 2; do
        daemon slurmd -D -N "$number"
    done
    wait_until eval '[ "$(sinfo --noheader --format %D:%t 2>/dev/null)" = 3:idle ]'
}

# job TASKS COMMAND... - each task on a computer of its own; leaves out, err and status.
job() {
    tasks=$1
    shift
    timeout -k 5 "$limit_seconds" srun --quiet --mpi=pmix -N "$tasks" -n "$tasks" "$@" >out 2>err </dev/null
    status=$?
}

same_times() {
    job 3 "$ecube" agent --network cube:4 --stdin none --json many "$exchange" 16 1000 # the standard input of a task is a pipe
    [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
    [ "$(grep -c '^agent [0-2]  ' err)" -eq 3 ] || { cat err; fail "not three agents"; }
    times_are_those_of_one cube:4 16 1000
}

status_passes() {
    job 2 "$ecube" agent --network cube:2 "$programs/misbehave.elf" exit 3 7
    [ "$status" -eq 7 ] || { cat err; fail "status $status"; }
}

said_once() {
    [ "$status" -eq 2 ] || { cat err; fail "status $status"; }
    [ "$(grep -c '^ecube' err)" -eq 1 ] || { cat err; fail "not one line"; }
    grep -q "$1" err || { cat err; fail "other words"; }
}

bad_input() {
    job 3 "$ecube" agent --network cube:3 no.elf
    said_once '^ecube: cannot read the program no\.elf'
}

simulation_bad_input() {
    job 3 "$sim_mpi" --network cube:99 exchange
    said_once '^ecube'
}

without_pmix() {
    for kind in none pmi2; do
        timeout -k 5 "$limit_seconds" srun --quiet --mpi=$kind -N 3 -n 3 "$ecube" agent --network cube:3 "$exchange" 100 >out 2>err </dev/null
        status=$?
        said_once "^ecube: computer $(hostname): its launcher has no PMIx: use .*srun --mpi=pmix"
    done
}

start_sleepers() {
    : >err
    job 3 "$ecube" agent --network cube:3 "$programs/sleeper.elf" 0 &
    started=$!
    wait_until grep -q '^ecube: run: 0 of 8' err || { cat err; fail "it does not run"; }
}

cancelled() {
    start_sleepers
    scancel --me || fail "scancel failed"
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
}

killed_agent() {
    start_sleepers
    for pid in $(processes ecube-agent | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q '^PMIX_RANK=1$' || kill -9 "$pid"
    done
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
}

simulation() {
    tool_succeeds sim -q --network cube:6 exchange --bytes 100
    cp out one
    job 3 "$sim_mpi" -q --network cube:6 exchange --bytes 100
    [ "$status" -eq 0 ] || { cat err; fail "status $status"; }
    cmp one out || { cat one out; fail "other output"; }
}

# Slurm ends the others only when it is asked to.
killed_rank() {
    job 3 -K "$sim_mpi" -q --network cube:11 exchange --bytes 1000 &
    started=$!
    wait_until eval '[ "$(process_count ecube-sim-mpi)" -eq 3 ]' || { cat err; fail "it does not run"; }
    for pid in $(processes ecube-sim-mpi | cut -d ' ' -f 1); do
        ! tr '\0' '\n' <"/proc/$pid/environ" | grep -q '^PMIX_RANK=1$' || kill -9 "$pid"
    done
    wait "$started"
    wait_until no_processes || { left_running; fail "processes stay"; }
}

simulates() {
    if [ -x "$sim_mpi" ]; then
        check "$@"
    else
        case_number=$((case_number + 1))
        echo "ok $case_number - $1 # SKIP there is no build/ecube-sim-mpi: make mpi"
    fi
}

trap 'end_slurm; rm -rf "$scratch"' EXIT
begin_slurm || {
    tail -n 20 "$slurm/said" | sed 's/^/# /'
    echo "1..0 # SKIP Slurm does not start here"
    exit 0
}
srun --mpi=list 2>&1 | grep -q pmix || {
    echo "1..0 # SKIP this Slurm has no PMIx"
    exit 0
}
check "agents under srun run a program with the model times of one computer" same_times
check "srun passes rank 0's status on" status_passes
check "under srun bad input is one line" bad_input
check "an srun without PMIx is told what to use" without_pmix
check "a job that is cancelled leaves nothing" cancelled
check "kill -9 of an agent under srun leaves nothing" killed_agent
simulates "a simulation over three processes of srun prints what one does" simulation
simulates "a simulation over processes of srun says once what is wrong with its command line" simulation_bad_input
simulates "a simulation of which a process is killed ends under srun -K" killed_rank
cases_done
