/*
 * mutants_main.c - executes as many changed plans as there is time for without sanitizers, in TAP.
 *
 * Arguments, both optional: the first number, and how many are to be accepted. `build/mutants 3136
 * 1` is one mutant, if it is accepted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/mutants.h"

enum { ACCEPTED = 2000 };

int main(int argc, char **argv)
{
    uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    uint64_t accepted = argc > 2 ? strtoull(argv[2], NULL, 10) : ACCEPTED;
    struct mutants_tally tally = mutants_run(first, accepted);

    printf("%sok 1 - %" PRIu64 " accepted plans of %" PRIu64
           " changed ones are executed as predicted\n1..1\n",
           tally.failed ? "not " : "", tally.accepted, tally.drawn);
    return tally.failed != 0;
}
