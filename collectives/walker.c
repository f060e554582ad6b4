/*
 * walker.c - see walker.h.
 */
#include "collectives/walker.h"

#include "drivers/check.h"
#include "include/ecube/abi.h"

static uint32_t node_count(uint32_t dims)
{
    return UINT32_C(1) << dims;
}

bool walk_possible_table(const struct schedule_table *table, uint32_t operation, uint32_t dims,
                         uint32_t root, uint32_t block_bytes)
{
    if (operation >= SCHEDULE_OPERATIONS || dims > table->dims || root >= node_count(dims)) {
        return false;
    }
    bool one_buffer = operation == ECUBE_BARRIER || operation == ECUBE_BROADCAST;
    uint64_t blocks = one_buffer ? 1 : node_count(dims);
    return blocks * block_bytes <= UINT32_MAX;
}

void walk_begin_table(struct walk *walk, const struct schedule_table *table, uint32_t operation,
                      uint32_t dims, uint32_t rank, uint32_t root, uint32_t block_bytes)
{
    CHECK(walk_possible_table(table, operation, dims, root, block_bytes));
    CHECK(rank < node_count(dims));
    *walk = (struct walk){
        .table = table,
        .rank = rank,
        .root = root,
        .block_bytes = block_bytes,
        .operation = (uint8_t)operation,
        .dims = (uint8_t)dims,
    };
}

/*
 * The height of the node's subtree: trailing zeros of its relative rank, all dimensions at the
 * root.
 */
static uint32_t subtree_height(const struct walk *walk)
{
    uint32_t relative = walk->rank ^ walk->root;
    uint32_t height = 0;
    while (height < walk->dims && ((relative >> height) & 1) == 0) {
        height++;
    }
    return height;
}

static uint32_t aligned_down(uint32_t rank, uint32_t height)
{
    return rank & ~(node_count(height) - 1);
}

static void select_blocks(const struct walk *walk, const struct schedule_row *row,
                          struct walk_step *step)
{
    uint32_t block = walk->block_bytes;
    switch (row->select) {
    case SELECT_PEER:
        step->send_offset = step->peer * block;
        step->receive_offset = step->peer * block;
        step->send_bytes = block;
        step->receive_bytes = block;
        break;
    case SELECT_WHOLE:
        step->send_bytes = block;
        step->receive_bytes = block;
        break;
    case SELECT_SUBTREE: {
        /*
         * The farther node of a tree edge is the one whose relative rank has the row's dimension
         * set.
         */
        bool peer_is_far = ((walk->rank ^ walk->root) & row->mask) == 0;
        uint32_t far = peer_is_far ? step->peer : walk->rank;
        uint32_t first =
            aligned_down(far, row->level) - aligned_down(walk->rank, subtree_height(walk));
        step->send_offset = first * block;
        step->receive_offset = first * block;
        step->send_bytes = block << row->level;
        step->receive_bytes = block << row->level;
        break;
    }
    default: break;
    }
}

static void fill_step(const struct walk *walk, const struct schedule_row *row,
                      struct walk_step *step)
{
    uint32_t part = (walk->rank ^ walk->root) & row->care;
    *step = (struct walk_step){
        .sends = part == row->send_value,
        .receives = part == row->receive_value,
        .peer = walk->rank ^ row->mask,
        .step = walk->step,
    };
    if (!step->sends && !step->receives) {
        return;
    }
    select_blocks(walk, row, step);
    if (!step->sends) {
        step->send_offset = 0;
        step->send_bytes = 0;
    }
    if (!step->receives) {
        step->receive_offset = 0;
        step->receive_bytes = 0;
    }
    for (uint32_t dim = 0; dim < walk->dims; dim++) {
        if ((row->mask >> dim) & 1) {
            step->turns[dim] = walk->carried[dim];
        }
    }
}

/*
 * A row with care 0 uses every link of its dimensions; a tree row uses links that no other row of
 * its table uses.
 */
static void pass_row(struct walk *walk, const struct schedule_row *row)
{
    walk->step++;
    for (uint32_t dim = 0; row->care == 0 && dim < walk->dims; dim++) {
        walk->carried[dim] = (uint16_t)(walk->carried[dim] + ((row->mask >> dim) & 1));
    }
}

uint32_t walk_row(const struct schedule_table *table, uint32_t dims, uint32_t row)
{
    while (row < table->row_count && table->rows[row].mask >= node_count(dims)) {
        row = table->rows[row].lower;
    }
    return row;
}

bool walk_next(struct walk *walk, struct walk_step *step)
{
    const struct schedule_table *table = walk->table;

    for (;;) {
        uint32_t index = walk_row(table, walk->dims, walk->row);
        if (index >= table->row_count) {
            walk->row = table->row_count;
            return false;
        }
        walk->row = (uint16_t)(index + 1);
        fill_step(walk, &table->rows[index], step);
        pass_row(walk, &table->rows[index]);
        if (step->sends || step->receives) {
            return true;
        }
    }
}

struct walk_span walk_span(const struct walk *walk)
{
    uint64_t block = walk->block_bytes;
    uint64_t bytes = 0;
    switch (walk->operation) {
    case ECUBE_BROADCAST: bytes = block; break;
    case ECUBE_SCATTER:
    case ECUBE_GATHER: bytes = block << subtree_height(walk); break;
    case ECUBE_EXCHANGE: bytes = block << walk->dims; break;
    default: break;
    }
    return (struct walk_span){.send_bytes = bytes, .receive_bytes = bytes};
}
