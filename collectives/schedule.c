/*
 * schedule.c - the part of walker.h that reads the tables which gen/ has proved.
 *
 * It is apart from walker.c so that the generator can link the walker before there are tables.
 */
#include "collectives/walker.h"
#include "drivers/check.h"

bool walk_possible(uint32_t operation, uint32_t dims, uint32_t root, uint32_t block_bytes)
{
    return operation < SCHEDULE_OPERATIONS &&
           walk_possible_table(&schedule_tables[operation], operation, dims, root, block_bytes);
}

void walk_begin(struct walk *walk, uint32_t operation, uint32_t dims, uint32_t rank, uint32_t root,
                uint32_t block_bytes)
{
    CHECK(operation < SCHEDULE_OPERATIONS);
    walk_begin_table(walk, &schedule_tables[operation], operation, dims, rank, root, block_bytes);
}

uint32_t walk_steps(uint32_t operation, uint32_t dims)
{
    CHECK(operation < SCHEDULE_OPERATIONS);
    const struct schedule_table *table = &schedule_tables[operation];
    CHECK(dims <= table->dims);
    uint32_t steps = 0, row = walk_row(table, dims, 0);
    while (row < table->row_count) {
        steps++;
        row = walk_row(table, dims, row + 1);
    }
    return steps;
}
