/*
 * plan_test.c - what a node finds in a part before it executes it: what the planner writes passes,
 * each single fault is found, and whatever passes can be read to its end.
 */
#include "tests/testing.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/plan.h"
#include "planner/planner.h"
#include "drivers/status.h"
#include "tests/networks.h"
#include "wire/circuit.h"

enum {
    MACHINE_AT = 16,
    NODES_AT = 20,
    RANK_AT = 24,
    ROOT_AT = 28,
    OPERATION_AT = 32,
    SEGMENTS_AT = 34,
    SCRATCH_AT = 36,
    ROWS_AT = 40,
    PART_MAX = 4096,
    CHANGES = 100 * 1000
};

/* A part and the node that it is for. */
struct sample {
    struct network network;
    uint32_t rank, bytes;
    uint8_t part[PART_MAX];
};

static struct plan *planned(const struct network *network, uint32_t operation, uint32_t root,
                            const char *algorithm)
{
    const struct plan_request request = {
        .operation = operation, .root = root, .type = ECUBE_INT32, .algorithm = algorithm};
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(network, &request, &fault);

    if (!plan) {
        assert_string_equal(fault.words, "");
    }
    return plan;
}

static struct sample sample_of(const char *name, uint32_t operation, uint32_t root, uint32_t rank)
{
    struct sample sample = {.network = network_of(name), .rank = rank};
    struct plan *plan = planned(&sample.network, operation, root, NULL);

    sample.bytes = plan_part(plan, rank, NULL);
    assert_true(sample.bytes <= PART_MAX);
    plan_part(plan, rank, sample.part);
    plan_free(plan);
    return sample;
}

/* The part is not damaged, but wrong. */
static void seal(uint8_t *part, uint32_t bytes)
{
    plan_set_check(part, plan_sum(part, bytes));
}

/* Bytes that end where the part ends, so that a sanitizer sees each read behind it. */
static int check(const struct sample *sample)
{
    uint8_t *part = malloc(sample->bytes);

    memcpy(part, sample->part, sample->bytes);
    int status = plan_check(part, sample->bytes, &sample->network, sample->rank);
    free(part);
    return status;
}

static void found(struct sample sample, int status)
{
    seal(sample.part, sample.bytes);
    assert_int_equal(check(&sample), status);
}

/* With a number of 1, 2 or 4 bytes put in a place. */
static struct sample with(struct sample sample, uint32_t at, unsigned size, uint32_t number)
{
    for (unsigned i = 0; i < size; i++) {
        sample.part[at + i] = (uint8_t)(number >> 8 * i);
    }
    return sample;
}

/* The offset of the first row that has these flags. */
static uint32_t row_with(const struct sample *sample, uint8_t flags)
{
    const uint8_t *row = plan_first(sample->part);

    while (row && (plan_row_at(row).flags & flags) != flags) {
        row = plan_next(sample->part, row);
    }
    assert_non_null(row);
    return (uint32_t)(row - sample->part);
}

/* Reading ------------------------------------------------------------------------------------- */

/* The slots that a row names lie in their spaces; how many they are. */
static uint64_t read_slots(const uint8_t *part, const uint8_t *row, const struct network *network,
                           uint32_t rank, bool received)
{
    const struct operation *operation = operation_of(plan_operation(part));
    struct plan_slots slots;
    struct slot_range range;
    uint64_t count = 0;

    plan_slots_begin(&slots, part, row, plan_is_invariant(part) ? rank : 0, received);
    while (plan_slots_next(&slots, network, &range)) {
        assert_true(range.count > 0 && range.space < SPACES);
        uint32_t room = range.space == SPACE_SCRATCH
                            ? plan_scratch(part)
                            : operation_slots(operation, (enum space)range.space, network->nodes,
                                              rank, plan_root(part), plan_segments(part));
        assert_true((uint64_t)range.first + range.count <= room);
        count += range.count;
    }
    return count;
}

static void read_row(const uint8_t *part, const uint8_t *row, const struct network *network,
                     uint32_t rank)
{
    struct plan_row head = plan_row_at(row);
    const uint8_t *end = row + head.bytes;

    assert_true(end <= part + plan_bytes(part));
    uint64_t sent = read_slots(part, row, network, rank, false);
    uint64_t received = read_slots(part, row, network, rank, true);
    if (head.flags & ROW_COPIES) {
        assert_int_equal(sent, received);
    }
    if (head.flags & ROW_RECEIVES) {
        assert_true(plan_peer(part, head.from, network, rank) < network->nodes);
    }
    if (head.flags & ROW_SENDS) {
        const uint8_t *hops = plan_row_hops(row);
        assert_true(plan_peer(part, head.to, network, rank) < network->nodes);
        assert_true(hops + hop_list_bytes(hops) <= end);
    }
}

static void read_to_the_end(const uint8_t *part, const struct network *network, uint32_t rank)
{
    uint32_t rows = 0;

    for (const uint8_t *row = plan_first(part); row; row = plan_next(part, row), rows++) {
        read_row(part, row, network, rank);
    }
    assert_int_equal(rows, plan_rows(part));
}

/* What the planner writes --------------------------------------------------------------------- */

static void parts_pass(const struct network *network, const struct plan *plan)
{
    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        uint32_t bytes = plan_part(plan, rank, NULL);
        uint8_t *part = malloc(bytes);
        plan_part(plan, rank, part);
        assert_int_equal(plan_check(part, bytes, network, rank), E_OK);
        read_to_the_end(part, network, rank);
        free(part);
    }
}

TEST(what_the_planner_writes_passes)
{
    static const char *const names[] = {"cube:0",     "cube:1",    "cube:4",     "ring:3",
                                        "ring:5",     "ring:16",   "mesh:1x7",   "mesh:3x4",
                                        "mesh:2x3x2", "torus:3x3", "torus:3x4x2"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct network network = network_of(names[i]);
        for (uint32_t operation = 0; operation < OPERATIONS; operation++) {
            const struct operation *row = operation_of(operation);
            for (uint32_t root = 0; row && row->planned && root < operation_roots(row, &network);
                 root++) {
                struct plan *plan = planned(&network, operation, root, NULL);
                parts_pass(&network, plan);
                plan_free(plan);
            }
        }
        struct plan *plan = planned(&network, ECUBE_EXCHANGE, 0, "neighbours");
        parts_pass(&network, plan);
        plan_free(plan);
    }
}

/* Single faults ------------------------------------------------------------------------------- */

TEST(every_damaged_byte_is_found)
{
    struct sample good = sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2);

    assert_int_equal(check(&good), E_OK);
    for (uint32_t at = 0; at < good.bytes; at++) {
        struct sample bad = good;
        bad.part[at] ^= (uint8_t)(1u << at % 8);
        assert_int_equal(check(&bad), E_FORMAT);
    }
    for (good.bytes--; good.bytes; good.bytes--) {
        assert_int_equal(check(&good), E_FORMAT);
    }
}

TEST(parts_of_other_machines_and_nodes_are_found)
{
    const struct sample good = sample_of("mesh:2x3", ECUBE_SCATTER, 1, 0);
    const struct sample ring = sample_of("ring:5", ECUBE_ALLGATHER, 0, 3);
    const struct sample alone = sample_of("ring:1", ECUBE_BARRIER, 0, 0);
    struct sample other = good;

    found(good, E_OK);
    found(ring, E_OK);
    assert_true(plan_is_invariant(ring.part) && !plan_is_invariant(good.part));
    other.rank = 1;
    found(other, E_NETWORK);
    other = good;
    other.network = network_of("mesh:3x2");
    found(other, E_NETWORK);
    found(with(good, 0, 2, PLAN_FORM + 1), E_FORMAT);
    found(with(good, 2, 2, PLAN_INVARIANT), E_NETWORK); /* a mesh looks different from each node */
    found(with(good, MACHINE_AT, 1, good.part[MACHINE_AT] ^ 1u), E_NETWORK);
    found(with(good, NODES_AT, 4, 7), E_NETWORK);
    found(with(good, RANK_AT, 4, 1), E_NETWORK);
    found(with(ring, RANK_AT, 4, 3), E_NETWORK);
    found(with(good, ROOT_AT, 4, 6), E_FORMAT);
    found(with(good, OPERATION_AT, 1, OPERATIONS), E_FORMAT);
    found(alone, E_OK);
    found(with(alone, OPERATION_AT, 1, ECUBE_ALIGN), E_FORMAT); /* it has no plan */
    found(with(good, SEGMENTS_AT, 2, 0), E_FORMAT);
    found(with(good, SCRATCH_AT, 4, PLAN_SCRATCH_MAX), E_OK);
    found(with(good, SCRATCH_AT, 4, PLAN_SCRATCH_MAX + 1), E_FORMAT);
}

TEST(blocks_are_cut_where_a_part_is_one_node_s_and_says_of_whom_they_are)
{
    const struct sample own = sample_of("mesh:2x3", ECUBE_ALLGATHER, 0, 2);
    const struct sample ring = sample_of("ring:5", ECUBE_ALLGATHER, 0, 2);

    assert_true(plan_is_invariant(ring.part));
    found(with(own, SEGMENTS_AT, 2, 3), E_OK);
    found(with(ring, SEGMENTS_AT, 2, 3), E_FORMAT);
    found(with(sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2), SEGMENTS_AT, 2, 3), E_FORMAT);
    found(with(sample_of("mesh:2x3", ECUBE_EXCHANGEV, 0, 2), SEGMENTS_AT, 2, 3), E_FORMAT);
}

/* A block that has a size of its own goes by itself: what a node could not know is no plan. */
TEST(blocks_of_their_own_size_go_one_by_one)
{
    const struct sample direct = sample_of("mesh:2x3", ECUBE_EXCHANGEV, 0, 2);
    const struct sample neighbours = sample_of("cube:3", ECUBE_EXCHANGE, 0, 2);

    found(direct, E_OK);
    found(neighbours, E_OK);
    found(with(direct, PLAN_HEADER_BYTES + PLAN_ROW_BYTES + 4, 4, 2), E_FORMAT);
    found(with(direct, PLAN_HEADER_BYTES + PLAN_ROW_BYTES + 3, 1, SPACE_RECEIVE << 6), E_FORMAT);
}

TEST(rows_out_of_place_are_found)
{
    const struct sample good = sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2);
    uint32_t first = row_with(&good, ROW_SENDS), second = first + plan_row_bytes(good.part + first);
    uint32_t step = plan_row_at(good.part + second).step, rows = plan_rows(good.part);
    struct sample longer = good, shorter = good;

    found(with(good, first + 2, 2, step), E_OK);
    found(with(good, first + 2, 2, step + 1), E_FORMAT);
    found(with(good, ROWS_AT, 4, rows + 1), E_FORMAT);
    found(with(good, ROWS_AT, 4, rows - 1), E_FORMAT);
    found(with(good, first, 2, plan_row_bytes(good.part + first) - 2), E_FORMAT);
    found(with(good, first, 2, 0), E_FORMAT);
    found(with(good, first, 2, 0xfffc), E_FORMAT);
    found(with(good, first + 6, 1, 0xff), E_FORMAT);
    found(with(good, first + 7, 1, 0xff), E_FORMAT);
    longer.bytes += 4;
    plan_mark(longer.part, PLAN_FORM, longer.bytes);
    found(longer, E_FORMAT);
    shorter.bytes -= 4;
    plan_mark(shorter.part, PLAN_FORM, shorter.bytes);
    found(shorter, E_FORMAT);
    for (uint32_t at = first; at < good.bytes; at += plan_row_bytes(good.part + at)) {
        second = at;
    }
    found(with(good, second + 2, 2, PLAN_STEPS_MAX - 1), E_OK);
    found(with(good, second + 2, 2, PLAN_STEPS_MAX), E_FORMAT);
}

/* The first extent of a row that sends one of six blocks. */
TEST(slots_outside_their_space_are_found)
{
    const struct sample good = sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2);
    uint32_t at = row_with(&good, ROW_SENDS) + PLAN_ROW_BYTES;
    const struct sample two = with(with(with(good, at, 4, 0), at + 4, 4, 2), at + 12, 4, 2);

    found(with(good, at, 4, 5), E_OK);
    found(with(good, at, 4, 6), E_FORMAT);
    found(with(good, at, 4, 0x3fffffff), E_FORMAT);
    found(with(good, at, 4, (uint32_t)SPACE_RECEIVE << 30), E_OK);
    found(with(good, at, 4, (uint32_t)SPACE_SCRATCH << 30), E_FORMAT); /* it has none */
    found(with(good, at, 4, (uint32_t)SPACES << 30), E_FORMAT);
    found(with(good, at + 4, 4, 0), E_FORMAT);
    found(with(good, at + 4, 4, 0xffffffff), E_FORMAT);
    found(with(good, at + 12, 4, 0), E_FORMAT);
    found(with(with(good, at + 8, 4, 0xffffffff), at + 12, 4, 0xffffffff), E_FORMAT);
    found(with(two, at + 8, 4, 1), E_FORMAT);
    found(with(two, at + 8, 4, 2), E_OK);
    found(with(two, at + 8, 4, 4), E_OK);
    found(with(two, at + 8, 4, 5), E_FORMAT);
}

/* It may be constants, which nobody can write. */
TEST(what_is_put_where_a_program_sends_from_is_found)
{
    const struct sample good = sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2);
    uint32_t row = row_with(&good, ROW_SENDS | ROW_RECEIVES), copy = row_with(&good, ROW_COPIES);
    uint32_t behind = PLAN_ROW_BYTES + PLAN_EXTENT_BYTES;

    found(with(good, row + behind, 4, (uint32_t)SPACE_RECEIVE << 30), E_OK);
    found(with(good, row + behind, 4, (uint32_t)SPACE_SEND << 30), E_FORMAT);
    found(with(good, copy + behind, 4, (uint32_t)SPACE_SEND << 30), E_FORMAT);
}

TEST(wrong_peers_and_copies_are_found)
{
    const struct sample good = sample_of("mesh:2x3", ECUBE_EXCHANGE, 0, 2);
    uint32_t row = row_with(&good, ROW_SENDS | ROW_RECEIVES), copy = row_with(&good, ROW_COPIES);
    struct plan_row head = plan_row_at(good.part + row);

    assert_int_equal(head.send_extents, 1);
    found(with(good, row + 8, 4, 6), E_FORMAT);
    found(with(good, row + 8, 4, 2), E_FORMAT);
    found(with(good, row + 8, 4, head.to ? 0 : 1), E_FORMAT); /* the path leads elsewhere */
    found(with(good, row + 12, 4, head.from ? 0 : 1), E_OK);
    found(with(good, row + 12, 4, 6), E_FORMAT);
    found(with(good, row + 12, 4, 2), E_FORMAT);
    found(with(good, row + 4, 1, 0), E_FORMAT);
    found(with(good, row + 4, 1, ROW_SENDS), E_FORMAT); /* with what is received named */
    found(with(good, row + 4, 1, ROW_RECEIVES), E_FORMAT);
    found(with(good, copy + 4, 1, ROW_COPIES | ROW_RECEIVES), E_FORMAT);
    found(with(with(good, copy + PLAN_ROW_BYTES, 4, 0), copy + PLAN_ROW_BYTES + 4, 4, 2), E_FORMAT);
}

/* A node sends to a peer over a list of ports, all in a row that has room. */
static struct sample way_over(const char *name, uint32_t from, uint32_t to, const uint8_t *ports,
                              unsigned count)
{
    struct sample line = {.network = network_of(name), .rank = from};
    struct plan_row row = {.flags = ROW_SENDS, .send_extents = 1, .to = to};
    const struct plan_extent extent = {.space = SPACE_RECEIVE, .length = 1, .times = 1};
    uint8_t *at = line.part + PLAN_HEADER_BYTES;
    uint8_t *list = at + PLAN_ROW_BYTES + PLAN_EXTENT_BYTES;

    row.bytes = (uint16_t)(PLAN_ROW_BYTES + PLAN_EXTENT_BYTES + HOP_LIST_BYTES + HOP_BYTES * count);
    row.bytes = (uint16_t)((row.bytes + 3) & ~3);
    line.bytes = PLAN_HEADER_BYTES + row.bytes;
    const struct plan_header header = {.bytes = line.bytes,
                                       .machine = network_digest(&line.network),
                                       .nodes = line.network.nodes,
                                       .rank = from,
                                       .operation = ECUBE_BROADCAST,
                                       .segments = 1,
                                       .rows = 1,
                                       .steps = 1,
                                       .ports = 1};
    plan_header_pack(line.part, &header);
    plan_row_pack(at, &row);
    plan_extent_pack(at + PLAN_ROW_BYTES, &extent);
    list[0] = (uint8_t)count;
    for (unsigned i = 0; i < count; i++) {
        list[HOP_LIST_BYTES + HOP_BYTES * i] = ports[i];
    }
    return line;
}

/* Node 0 of a line of three. */
static struct sample line_over(uint32_t to, const uint8_t *ports, unsigned count)
{
    return way_over("mesh:1x3", 0, to, ports, count);
}

/* Its row ends with so many bytes more. */
static struct sample with_spare(struct sample line, uint32_t bytes)
{
    line.bytes += bytes;
    plan_mark(line.part, PLAN_FORM, line.bytes);
    return with(line, PLAN_HEADER_BYTES, 2, plan_row_bytes(line.part + PLAN_HEADER_BYTES) + bytes);
}

TEST(paths_that_lead_elsewhere_are_found)
{
    struct network line = network_of("mesh:1x3");
    uint8_t up = (uint8_t)network_port_to(&line, 0, 1),
            down = (uint8_t)network_port_to(&line, 1, 0);
    const uint8_t way[] = {up, up}, back[] = {up, down}, off[] = {down}, far[] = {up, up, up};
    const uint8_t none[] = {(uint8_t)line.ports},
                  named[] = {HOP_DIMENSION_ORDER, HOP_DIMENSION_ORDER};
    const uint8_t no_port[] = {HOP_DIMENSION_ORDER - 1}, back_again[] = {down, up, up};
    uint8_t long_way[OPEN_HOPS_MAX + 1];

    found(line_over(2, way, 2), E_OK);
    found(line_over(2, named, 2), E_OK);
    found(line_over(1, way, 1), E_OK);
    found(line_over(1, way, 2), E_FORMAT);
    found(line_over(2, way, 1), E_FORMAT);
    found(line_over(1, named, 2), E_FORMAT); /* behind its end */
    found(line_over(0, back, 2), E_FORMAT);  /* to itself */
    found(line_over(1, off, 1), E_FORMAT);   /* over the end of the line */
    found(line_over(2, far, 3), E_FORMAT);
    found(line_over(1, none, 1), E_FORMAT);
    found(line_over(1, no_port, 1), E_FORMAT);
    found(line_over(1, back_again, 3), E_FORMAT);
    found(line_over(1, way, 0), E_FORMAT);
    memset(long_way, up, sizeof long_way);
    found(way_over("mesh:1x200", 0, OPEN_HOPS_MAX, long_way, OPEN_HOPS_MAX), E_OK);
    found(way_over("mesh:1x200", 0, OPEN_HOPS_MAX + 1, long_way, OPEN_HOPS_MAX + 1), E_FORMAT);
    found(with_spare(line_over(2, way, 2), 4), E_OK);
    found(with_spare(line_over(2, way, 2), 2), E_FORMAT); /* no multiple of 4 */
    struct sample cut = line_over(2, way, 2);
    found(with(cut, PLAN_HEADER_BYTES + PLAN_ROW_BYTES + PLAN_EXTENT_BYTES, 1, 5), E_FORMAT);
}

/* A circuit would end where it first comes to its receiver. */
TEST(paths_that_come_to_a_node_twice_are_found)
{
    const uint8_t over[] = {2, 0, 1, 0, 1}, round[] = {0, 1, 0, 1, 2},
                  middle[] = {0, 1, 2, 1, 2, 3}, open[] = {0, 1, 2, 0, 3};
    uint8_t rows[17], far[] = {0, 0, 0};

    found(way_over("cube:4", 4, 0, over, 1), E_OK);
    found(way_over("cube:4", 4, 0, over, 5), E_FORMAT);   /* 0 1 3 2 0: the receiver */
    found(way_over("cube:4", 0, 4, round, 5), E_FORMAT);  /* 0 1 3 2 0: the sender */
    found(way_over("cube:4", 0, 9, middle, 6), E_FORMAT); /* 0 1 3 7 5 1 9 */
    found(way_over("cube:4", 0, 14, open, 5), E_OK);      /* 0 1 3 7 6 14 */
    struct network mesh = network_of("mesh:20x256");
    memset(rows, (int)network_port_to(&mesh, 0, 256), sizeof rows); /* numbers alike in 8 bits */
    found(way_over("mesh:20x256", 0, 17 * 256, rows, 17), E_OK);
    far[0] = rows[0];
    far[1] = (uint8_t)network_port_to(&mesh, 256, 0);
    far[2] = (uint8_t)network_port_to(&mesh, 0, 1);
    found(way_over("mesh:20x256", 0, 1, far, 3), E_FORMAT);
}

/* Random changes ------------------------------------------------------------------------------ */

static uint32_t random_below(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

/* Most numbers are small. */
static uint8_t random_byte(uint64_t *seed, uint8_t old)
{
    switch (random_below(seed, 4)) {
    case 0: return (uint8_t)random_below(seed, 256);
    case 1: return (uint8_t)(old ^ 1u << random_below(seed, 8));
    case 2: return (uint8_t)(old + 1);
    default: return (uint8_t)random_below(seed, 4);
    }
}

/* Whether a changed part passes; then it is read. */
static bool passes(struct sample *bad)
{
    uint8_t *part = malloc(bad->bytes);

    seal(bad->part, bad->bytes);
    memcpy(part, bad->part, bad->bytes);
    bool ok = plan_check(part, bad->bytes, &bad->network, bad->rank) == E_OK;
    if (ok) {
        read_to_the_end(part, &bad->network, bad->rank);
    }
    free(part);
    return ok;
}

TEST(what_passes_can_be_read_to_its_end)
{
    const struct sample samples[] = {
        sample_of("cube:3", ECUBE_EXCHANGE, 0, 5),    sample_of("cube:3", ECUBE_ALLGATHER, 0, 6),
        sample_of("ring:5", ECUBE_EXCHANGE, 0, 3),    sample_of("ring:5", ECUBE_ALLGATHER, 0, 4),
        sample_of("mesh:3x4", ECUBE_SCATTER, 5, 5),   sample_of("mesh:3x4", ECUBE_GATHER, 0, 4),
        sample_of("mesh:3x4", ECUBE_REDUCE, 7, 6),    sample_of("mesh:1x7", ECUBE_BARRIER, 0, 3),
        sample_of("torus:3x3", ECUBE_EXCHANGE, 0, 8), sample_of("ring:16", ECUBE_BROADCAST, 0, 8)};
    enum { SAMPLES = sizeof samples / sizeof samples[0] };
    uint64_t seed = 1;
    unsigned passed = 0;

    for (unsigned i = 0; i < CHANGES; i++) {
        struct sample bad = samples[i % SAMPLES];
        for (uint32_t changes = 1 + random_below(&seed, 3); changes > 0; changes--) {
            uint32_t at = random_below(&seed, bad.bytes);
            bad.part[at] = random_byte(&seed, bad.part[at]);
        }
        passed += passes(&bad);
    }
    assert_in_range(passed, CHANGES / 100, CHANGES * 9 / 10);
}
