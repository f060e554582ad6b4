# kinds.sh - sourced by tests whose cases hold for programs of both kinds: kind is elf, for nodes, or so, for the simulator.
#
#   way       the words of a run
#   native    ecube-cc's option for it, or nothing
#   tools     what the names of strip and nm begin with
case $kind in
elf) way='run' native='' tools=arm-none-eabi- ;;
so) way='sim -q' native='--native ' tools='' ;;
esac

# link OPTION... - ecube-cc for this kind.
link() {
    # shellcheck disable=SC2086 -- an option or none
    "${wrapper:-$build/ecube-cc}" $native "$@"
}

# runs_on NETWORK - the runs behind it are on this network, on nodes until runs_end on one machine.
runs_on() {
    network=$1
    case $kind in
    elf) machine_begins "$network" && way='load --name shared' ;;
    so) way="sim -q --network $network" ;;
    esac
}

runs_end() {
    [ $kind = so ] || machine_ends
}

# run ARGUMENT... - runs a program of this kind.
run() {
    # shellcheck disable=SC2086 -- words
    tool $way "$@"
}

run_succeeds() {
    # shellcheck disable=SC2086 -- words
    tool_succeeds $way "$@"
}

run_fails() {
    wanted=$1 pattern=$2
    shift 2
    # shellcheck disable=SC2086 -- words
    tool_fails "$wanted" "$pattern" $way "$@"
}
