/*
 * schedule_pml.c - prints the complete exchange of one cube as a Promela include.
 *
 *   schedule_pml DIMS
 *
 * The numbers come from the firmware's own walker and its proved table: every node of the cube is
 * walked, and all must agree on the mask of a step and on its turns, so that one row per step is
 * enough. Exit status 1 when they do not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/walker.h"
#include "drivers/check.h"
#include "include/ecube/abi.h"

enum { DIMS_LIMIT = 3 }; /* circuits are numbered with bytes */

_Noreturn void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "schedule_pml: %s:%d: %s\n", file, line, what);
    exit(1);
}

int main(int count, char **arguments)
{
    int dims_given = count == 2 ? atoi(arguments[1]) : 0;
    if (dims_given < 2 || dims_given > DIMS_LIMIT) {
        fprintf(stderr, "usage: schedule_pml DIMS, 2 or %d\n", DIMS_LIMIT);
        return 2;
    }
    uint32_t dims = (uint32_t)dims_given, steps = walk_steps(ECUBE_EXCHANGE, dims);
    struct walk walks[1 << DIMS_LIMIT];
    for (uint32_t rank = 0; rank < 1u << dims; rank++)
        walk_begin(&walks[rank], ECUBE_EXCHANGE, dims, rank, 0, 1);
    printf("/* printed by schedule_pml; do not edit */\n");
    printf("#define DIMS %u\n#define NODES %u\n#define STEPS %u\n", dims, 1u << dims, steps);
    printf("hidden byte step_mask[STEPS]\nhidden byte step_turns[STEPS * DIMS]\n");
    printf("inline load_schedule() {\n");
    for (uint32_t i = 0; i < steps; i++) {
        struct walk_step first, step;
        for (uint32_t rank = 0; rank < 1u << dims; rank++) {
            CHECK(walk_next(&walks[rank], &step) && step.sends && step.receives && step.step == i);
            if (rank == 0)
                first = step;
            CHECK((step.peer ^ rank) == first.peer &&
                  memcmp(step.turns, first.turns, sizeof step.turns) == 0);
        }
        printf("    step_mask[%u] = %u;", i, first.peer);
        for (uint32_t dim = 0; dim < dims; dim++)
            printf(" step_turns[%u] = %u;", i * dims + dim, first.turns[dim]);
        printf("\n");
    }
    printf("}\n");
    return 0;
}
