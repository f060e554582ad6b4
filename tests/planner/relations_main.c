/*
 * relations_main.c - draws relations between plans and prints those that do not hold.
 *
 *     build/relations [COUNT]
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/operation.h"
#include "tests/planner/relations.h"

enum { USUAL = 100 };

int main(int argc, char **argv)
{
    unsigned draws = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : USUAL, open = 0, steep = 0;

    for (unsigned seed = 1; seed <= draws; seed++) {
        struct relation r = relation_draw(seed);
        if (r.permille > 1000) {
            open++;
            steep += r.permille > 1100;
            printf("%5u %-40s %-14s %s %s %7u bytes root %u: %llu of %llu by %s\n", r.permille,
                   r.name, operation_name(r.operation), r.network, r.other, r.bytes, r.root,
                   (unsigned long long)r.takes_ns, (unsigned long long)r.limit_ns, r.algorithm);
        }
    }
    printf("%u of %u open, %u above 1.1\n", open, draws, steep);
    return 0;
}
