#!/bin/sh
# debug.sh BUILD NETWORK [GDB'S OWN ARGUMENTS] - GDB at every node of a machine, on which the complete exchange stops at main.
#
# GDB is at the nodes before the program comes, and lets them go on. The machine ends with GDB.
set -eu
build=$1 network=$2
shift 2
name=debug-$$
program=$build/examples/complete_exchange.elf

"$build/ecube" up --network "$network" --name "$name" --patience 1h
trap 'status=$?; trap - EXIT; "$build/ecube" down --name "$name"; exit $status' EXIT
trap : INT
"$build/ecube" debug --name "$name" "$program" -- -ex 'break main' -ex 'all continue &' \
    -ex "shell '$build/ecube' load --name $name --quiet '$program' &" "$@"
