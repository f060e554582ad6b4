/*
 * schedule_gen.c - prints the schedule tables as C, after proving every one.
 *
 *   schedule_gen EXCHANGE_DIMS TREE_DIMS
 *
 * The exchange has 2^dims - 1 rows and is proved in a time that grows by four with each dimension;
 * the trees and the barrier have as many rows as dimensions. So each has its own largest cube.
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
static void print_costs(const struct schedule_table *table, uint32_t operation,
                        const struct proof proofs[])
{
    const struct ecube_profile element_only = {.element_ns = 1};
    printf("/*\n * %s: %s.\n *\n", rows_name(operation), rows_source(operation));
    printf(" * time = steps * xi + hops * tau + (hops - steps + blocks * k) * element; bound * k * "
           "element is the\n");
    printf(" * least that one node must send or receive (Boppana & Raghavendra, table 1)\n *\n");
    printf(" * dims  steps  hops  blocks  bound  circuits   link uses\n");
    for (uint32_t dims = 1; dims <= table->dims; dims++) {
        const struct proof *proof = &proofs[dims];
        uint64_t bound = ecube_bound_ns(operation, dims, 1, &element_only);
        printf(" * %4u  %5u %5u  %6u  %5llu  %8llu  %10llu\n", dims, proof->steps, proof->hops,
               proof->blocks, (unsigned long long)bound, (unsigned long long)proof->circuits,
               (unsigned long long)proof->links);
    }
    printf(" */\n");
}

static void print_rows(const struct schedule_table *table, uint32_t operation)
{
    printf("static const struct schedule_row %s_rows[] = {\n", rows_name(operation));
    for (uint32_t i = 0; i < table->row_count; i++) {
        const struct schedule_row *row = &table->rows[i];
        printf("    {0x%04x, 0x%04x, 0x%04x, 0x%04x, %u, %u, %u},\n", row->mask, row->care,
               row->send_value, row->receive_value, row->select, row->level, row->lower);
    }
    printf("};\n\n");
}

static void print_tables(const struct schedule_table tables[],
                         struct proof proofs[][CUBE_DIMS_MAX + 1])
{
    printf("/*\n * Printed by schedule_gen, which has proved every table; do not edit.\n *\n");
    printf(
        " * Of every cube listed below, all nodes were replayed in step with the walker: sends and "
        "receives meet,\n * no directed link carries two circuits in a step, turns are exact at "
        "every hop, and every node ends\n * with what the operation promises. Trees: from every "
        "root up to 6 dimensions, from five above.\n * Barriers above 10 dimensions: the "
        "arrivals of 64 nodes, and that all nodes do as node 0, XOR-translated.\n */\n");
    printf("#include \"collectives/row.h\"\n\n");
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        print_costs(&tables[operation], operation, proofs[operation]);
        print_rows(&tables[operation], operation);
    }
    printf("const struct schedule_table schedule_tables[SCHEDULE_OPERATIONS] = {\n");
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        printf("    {%s_rows, %u, %u},\n", rows_name(operation), tables[operation].row_count,
               tables[operation].dims);
    }
    printf("};\n");
}

/* The number of dimensions that an argument says; exits when it says none that a table may hold. */
static uint32_t dims_argument(int count, char **arguments, int index)
{
    char *end = NULL;
    unsigned long dims = count == 3 ? strtoul(arguments[index], &end, 10) : 0;
    if (!end || *end || dims < 1 || dims > CUBE_DIMS_MAX) {
        fprintf(stderr, "usage: schedule_gen EXCHANGE_DIMS TREE_DIMS, each from 1 to %d\n",
                CUBE_DIMS_MAX);
        exit(2);
    }
    return (uint32_t)dims;
}

int main(int count, char **arguments)
{
    static struct schedule_row rows[SCHEDULE_OPERATIONS][ROWS_MAX];
    static struct proof proofs[SCHEDULE_OPERATIONS][CUBE_DIMS_MAX + 1];
    struct schedule_table tables[SCHEDULE_OPERATIONS];
    uint32_t exchange_dims = dims_argument(count, arguments, 1);
    uint32_t tree_dims = dims_argument(count, arguments, 2);
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        uint32_t dims = operation == ECUBE_EXCHANGE ? exchange_dims : tree_dims;
        tables[operation] = table_build(operation, dims, rows[operation]);
        uint32_t proved = schedule_prove_all(&tables[operation], operation, proofs[operation]);
        if (proved <= dims) {
            fprintf(stderr, "schedule_gen: %s is not proved: %s\n", rows_name(operation),
                    proofs[operation][proved].fault);
            return 1;
        }
    }
    print_tables(tables, proofs);
    return 0;
}
