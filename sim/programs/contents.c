/*
 * contents.c - the bytes of a collective: what every node sends, and what must come to it.
 *
 * Block i of what a rank sends is a sequence of its own, made from the rank, i and the size's
 * number. What must come is read off the table of operations:
 *
 *   a block for every rank is received   it is the one that this rank has sent
 *   one block is received                it is one of the root's; of a shift or reversal that of
 *                                        the node which has it for this one
 *   a block for every rank is sent       the node gets those with its own number
 *   nothing is sent (broadcast)          the root's buffer begins with it
 *   it reduces                           all ranks' blocks, combined; of a prefix those of the
 *                                        ranks up to the node's own
 *
 * A reduction's elements are made from that sequence such that its result does not depend on the
 * order of operands, which is the plan's, and that an operand which is missing shows:
 *
 *   float, double          small whole numbers, of a product powers of two: all results are exact
 *   product of integers    odd numbers: none makes it 0
 *   and, or                elements that decide nothing, but for one rank's here and there
 *   logical xor            half of them 0
 *
 * Contents are kept when they fit half of the memory, else the nodes of a partition share one
 * window of 16 KiB, mapped again and again, so that blocks do not push nodes out of the cache.
 *
 * Units    bytes
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "network/network.h"
#include "sim/core/memory.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/random.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

enum { SPACE_ALIGN = 64 };

uint64_t pattern_seed(const struct sim *sim, uint32_t from, uint32_t to, uint32_t number)
{
    return random_mix(sim->options.seed ^ (uint64_t)from << 40 ^ (uint64_t)to << 20 ^ number);
}

void pattern_fill(uint8_t *data, uint32_t bytes, uint64_t word)
{
    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof word) {
        uint32_t left = bytes - at;
        word = random_mix(word);
        memcpy(data + at, &word, left < sizeof word ? left : sizeof word);
    }
}

uint64_t pattern_wrong(const uint8_t *data, uint32_t bytes, uint64_t word)
{
    uint64_t wrong = 0;

    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof word) {
        uint32_t left = bytes - at < sizeof word ? bytes - at : (uint32_t)sizeof word;
        word = random_mix(word);
        if (memcmp(data + at, &word, left) != 0) {
            for (uint32_t i = 0; i < left; i++) {
                wrong += data[at + i] != (uint8_t)(word >> 8 * i);
            }
        }
    }
    return wrong;
}

/* Blocks of a space at a rank; a vector is one. */
static uint32_t blocks_of(const struct sim_options *options, enum space space, uint32_t rank)
{
    return operation_slots(operation_of((uint32_t)options->scenario), space, options->network.nodes,
                           rank, scenario_root(options), 1);
}

struct spaces scenario_spaces(const struct sim_options *options, unsigned size, uint32_t node)
{
    struct spaces spaces = {.end = 0};
    uint32_t rank = scenario_rank(options, node);

    for (unsigned space = 0; space < SPACES; space++) {
        spaces.at[space] = spaces.end;
        spaces.bytes[space] =
            space == SPACE_SCRATCH
                ? sim_plans_scratch(options, options->plans, size, node)
                : (uint64_t)blocks_of(options, (enum space)space, rank) * options->sizes[size];
        spaces.end += (spaces.bytes[space] + SPACE_ALIGN - 1) / SPACE_ALIGN * SPACE_ALIGN;
    }
    return spaces;
}

uint32_t contents_write_table(struct sim *sim, uint32_t rank)
{
    uint32_t bytes = program_size(sim, &sim->tasks[rank]);
    uint8_t *table = (uint8_t *)program_arguments(sim, rank) + ARGUMENTS_BYTES;
    uint64_t table_bytes = scenario_table_bytes(&sim->options);

    for (uint32_t i = 0; i < table_bytes / sizeof(struct ecube_block); i++) {
        struct ecube_block block = {i * bytes, bytes};
        memcpy(table + i * sizeof block, &block, sizeof block);
    }
    return table_bytes ? program_arguments_address(sim) + ARGUMENTS_BYTES : 0;
}

/* Bytes of a pair's value, or of a number; whether it is a floating one. */
static uint32_t value_bytes(uint32_t type)
{
    return reduction_element_bytes(type) / (type >= ECUBE_INT32_INT32 ? 2 : 1);
}

static bool is_floating(uint32_t type)
{
    return type == ECUBE_FLOAT || type == ECUBE_DOUBLE || type == ECUBE_FLOAT_INT32 ||
           type == ECUBE_DOUBLE_INT32;
}

static void put_floating(uint8_t *at, uint32_t type, double value)
{
    float narrow = (float)value;

    if (value_bytes(type) == sizeof value) {
        memcpy(at, &value, sizeof value);
    } else {
        memcpy(at, &narrow, sizeof narrow);
    }
}

/* Small numbers add up to less than 2^24, which a float holds. Of a product all are 1 or -1, but
 * for those of as many ranks as a float has room for. */
static void shape_floating(const struct sim *sim, uint8_t *at, uint32_t rank)
{
    enum { HALVES_AND_DOUBLES = 64 };
    uint32_t type = scenario_type(&sim->options);
    double sign = at[0] & 1 ? -1 : 1;
    double size = rank >= HALVES_AND_DOUBLES ? 1 : at[0] & 2 ? 2 : 0.5;

    put_floating(at, type,
                 scenario_operator(&sim->options) == ECUBE_PRODUCT ? sign * size : (int8_t)at[0]);
}

/* Of an and or an or the element that decides is that of one rank, or of none. */
static void shape_deciding(const struct sim *sim, uint8_t *at, uint32_t rank, uint64_t place)
{
    uint32_t operator_ = scenario_operator(&sim->options);
    uint32_t bytes = reduction_element_bytes(scenario_type(&sim->options));
    bool decides = random_mix(sim->options.seed ^ place) % (2 * (uint64_t)sim->count) == rank;
    bool all_ones = operator_ == ECUBE_LOGICAL_AND || operator_ == ECUBE_BITWISE_AND;

    if (!decides) {
        memset(at, all_ones ? 0xff : 0, bytes);
    } else if (operator_ == ECUBE_LOGICAL_AND) {
        memset(at, 0, bytes);
    }
}

/* Makes an element of random bytes one that suits the reduction; `place` is the same at all ranks.
 */
static void shape(const struct sim *sim, uint8_t *at, uint32_t rank, uint64_t place)
{
    uint32_t type = scenario_type(&sim->options);

    if (is_floating(type)) {
        shape_floating(sim, at, rank);
        return;
    }
    switch (scenario_operator(&sim->options)) {
    case ECUBE_PRODUCT: at[0] |= 1; break;
    case ECUBE_LOGICAL_AND:
    case ECUBE_LOGICAL_OR:
    case ECUBE_BITWISE_AND:
    case ECUBE_BITWISE_OR: shape_deciding(sim, at, rank, place); break;
    case ECUBE_LOGICAL_XOR:
        if (at[0] & 1) {
            memset(at, 0, reduction_element_bytes(type));
        }
        break;
    default: break;
    }
}

/* Block `index` of what a rank sends. */
static void fill(struct sim *sim, uint8_t *data, uint32_t rank, uint32_t index, unsigned size)
{
    uint32_t bytes = sim->options.sizes[size], step = scenario_element_bytes(&sim->options);

    pattern_fill(data, bytes, pattern_seed(sim, rank, index, size));
    for (uint32_t at = 0; scenario_type(&sim->options) && at < bytes; at += step) {
        shape(sim, data + at, rank, (uint64_t)index << 32 | at);
    }
}

void contents_prepare(struct sim *sim, uint32_t node)
{
    const struct task *task = &sim->tasks[node];
    const struct sim_options *options = &sim->options;
    uint32_t rank = scenario_rank(options, node);
    struct spaces spaces = scenario_spaces(options, task->size, node);
    uint8_t *receive = task->data + spaces.at[SPACE_RECEIVE];
    uint32_t sent = blocks_of(options, SPACE_SEND, rank), bytes = options->sizes[task->size];

    for (uint32_t i = 0; i < sent; i++) {
        fill(sim, task->data + spaces.at[SPACE_SEND] + (size_t)i * bytes, rank, i, task->size);
    }
    memset(receive, 0, spaces.bytes[SPACE_RECEIVE]);
    if (operation_of((uint32_t)options->scenario)->span[SPACE_SEND] == SPAN_NONE &&
        rank == scenario_root(options) && spaces.bytes[SPACE_RECEIVE] > 0) {
        fill(sim, receive, rank, 0, task->size);
    }
}

/* Whether a space has a block for every rank. */
static bool is_for_all(uint8_t span)
{
    return span == SPAN_NODES || span == SPAN_NODES_ROOT;
}

/* What a node must get where the blocks of so many ranks are combined; the caller frees it. */
static uint8_t *combined(struct sim *sim, uint32_t ranks, uint32_t index, unsigned size)
{
    uint32_t bytes = sim->options.sizes[size];
    uint32_t count = bytes / scenario_element_bytes(&sim->options);
    uint8_t *sum = malloc(2 * (size_t)bytes + 1), *next = sum + bytes;

    CHECK(sum);
    fill(sim, sum, 0, index, size);
    for (uint32_t from = 1; from < ranks; from++) {
        fill(sim, next, from, index, size);
        reduction_combine(scenario_type(&sim->options), scenario_operator(&sim->options), sum, next,
                          count);
    }
    return sum;
}

static uint64_t combined_wrong(struct sim *sim, const uint8_t *data, uint32_t ranks, uint32_t index,
                               unsigned size)
{
    uint8_t *sum = combined(sim, ranks, index, size);
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < sim->options.sizes[size]; i++) {
        wrong += data[i] != sum[i];
    }
    free(sum);
    return wrong;
}

/* The rank whose block it is where a node receives one, or one in a slot. */
static uint32_t single_source(const struct sim *sim, uint32_t node, uint32_t slot)
{
    const struct network *network = &sim->options.network;
    const struct operation *operation = operation_of((uint32_t)sim->options.scenario);
    uint32_t root = scenario_root(&sim->options);

    return operation->parameter
               ? network_rank(network, operation_source(operation, network, root, node, slot))
               : root;
}

uint64_t contents_wrong(struct sim *sim, uint32_t node)
{
    const struct task *task = &sim->tasks[node];
    uint32_t rank = scenario_rank(&sim->options, node);
    const struct operation *operation = operation_of((uint32_t)sim->options.scenario);
    uint32_t bytes = sim->options.sizes[task->size];
    uint32_t count = blocks_of(&sim->options, SPACE_RECEIVE, rank);
    uint32_t index = is_for_all(operation->span[SPACE_SEND]) ? rank : 0;
    const uint8_t *data =
        task->data + scenario_spaces(&sim->options, task->size, node).at[SPACE_RECEIVE];
    uint64_t wrong = 0;

    for (uint32_t i = 0; i < count; i++, data += bytes) {
        uint32_t from =
            is_for_all(operation->span[SPACE_RECEIVE]) ? i : single_source(sim, node, i);
        index = operation_has_movements(operation) ? i : index;

        wrong += operation->reduces
                     ? combined_wrong(sim, data, operation->prefix ? rank + 1 : sim->count, index,
                                      task->size)
                     : pattern_wrong(data, bytes, pattern_seed(sim, from, index, task->size));
    }
    return wrong;
}
