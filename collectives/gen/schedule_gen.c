/*
 * schedule_gen.c - prints the schedule tables as C, after proving every one.
 *
 * Output goes to standard output; the same source always prints the same bytes. When a proof fails
 * nothing is printed but one line on standard error, and the exit status is 1, so that the build
 * stops.
 */
#include <stdio.h>
#include <stdlib.h>

#include "collectives/gen/build.h"
#include "collectives/gen/prove.h"
#include "drivers/check.h"
#include "include/ecube/predict.h"

void check_failed(const char *file, int line, const char *what)
{
    fprintf(stderr, "schedule_gen: %s:%d: %s\n", file, line, what);
    abort();
}

/* Steps, hops and bound of every cube, from the replay; the comment above each table. */
static void print_costs(const struct schedule_table *table, uint32_t operation)
{
    const struct ecube_profile element_only = {.element_ns = 1};
    printf("/*\n * %s: %s.\n *\n", rows_name(operation), rows_source(operation));
    printf(" * time = steps * xi + hops * tau + (hops - steps + blocks * k) * element; bound * k * "
           "element is the\n");
    printf(" * least that one node must send or receive (Boppana & Raghavendra, table 1)\n *\n");
    printf(" * dims  steps  hops  blocks  bound  circuits   link uses\n");
    for (uint32_t dims = 1; dims <= CUBE_DIMS_MAX; dims++) {
        struct proof proof;
        CHECK(schedule_prove(table, operation, dims, 0, &proof));
        uint64_t bound = ecube_bound_ns(operation, dims, 1, &element_only);
        printf(" * %4u  %5u %5u  %6u  %5llu  %8llu  %10llu\n", dims, proof.steps, proof.hops,
               proof.blocks, (unsigned long long)bound, (unsigned long long)proof.circuits,
               (unsigned long long)proof.links);
    }
    printf(" */\n");
}

static void print_rows(const struct schedule_table *table, uint32_t operation)
{
    printf("static const struct schedule_row %s_rows[] = {\n", rows_name(operation));
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct schedule_row *row = &table->rows[i];
        printf("    {0x%03x, 0x%03x, 0x%03x, 0x%03x, %u, %u},\n", row->mask, row->care,
               row->send_value, row->receive_value, row->select, row->level);
    }
    printf("};\n\n");
}

int main(void)
{
    static struct schedule_row rows[SCHEDULE_OPERATIONS][ROWS_MAX];
    struct schedule_table tables[SCHEDULE_OPERATIONS];
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        tables[operation].row_count = rows_build(operation, rows[operation]);
        tables[operation].rows = rows[operation];
        struct proof proof;
        if (!schedule_prove_all(&tables[operation], operation, &proof)) {
            fprintf(stderr, "schedule_gen: %s is not proved: %s\n", rows_name(operation),
                    proof.fault);
            return 1;
        }
    }
    printf("/*\n * schedule_tables.c - printed by schedule_gen, which has proved every table; do "
           "not edit.\n */\n");
    printf("#include \"collectives/row.h\"\n\n");
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        print_costs(&tables[operation], operation);
        print_rows(&tables[operation], operation);
    }
    printf("const struct schedule_table schedule_tables[SCHEDULE_OPERATIONS] = {\n");
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        printf("    {%s_rows, %u},\n", rows_name(operation), tables[operation].row_count);
    }
    printf("};\n");
    return 0;
}
