#!/bin/sh
# mutants_long_test.sh BUILD - 2,000 changed plans that are accepted, executed by simulated nodes.
# tier: long
#
# Without sanitizers; mutants_test.c runs a part of it with them.
exec "$1/mutants" 1001 2000
