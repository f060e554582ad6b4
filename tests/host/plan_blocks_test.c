/* Names of blocks by replay, in plans of two nodes laid down by hand. */
#include "tests/testing.h"

#include "host/plan/plan_blocks.h"

enum { CIRCUITS_MAX = 8 };

/* A plan of cube:1. Circuit i sends extent 2i and receives into extent 2i + 1. */
struct small {
    struct plan plan;
    struct plan_circuit circuits[CIRCUITS_MAX];
    struct plan_extent extents[2 * CIRCUITS_MAX];
    uint32_t scratch[2];
};

static void begin(struct small *small, uint32_t operation, uint32_t segments)
{
    *small = (struct small){.plan = {.operation = operation, .segments = segments},
                            .scratch = {segments, segments}};
    assert_true(network_make(&small->plan.network, NETWORK_CUBE, NULL, 1));
    small->plan.circuits = small->circuits;
    small->plan.extents = small->extents;
    small->plan.scratch = small->scratch;
}

static void add(struct small *small, uint32_t step, uint32_t from, uint32_t to,
                struct plan_extent sent, struct plan_extent received)
{
    uint32_t i = small->plan.circuit_count++;

    sent.times = received.times = 1;
    small->extents[2 * i] = sent;
    small->extents[2 * i + 1] = received;
    small->circuits[i] = (struct plan_circuit){.step = step,
                                               .from = from,
                                               .to = to,
                                               .send_at = 2 * i,
                                               .receive_at = 2 * i + 1,
                                               .send_count = 1,
                                               .receive_count = 1,
                                               .blocks = sent.length};
}

/* What the next circuit moves: one block. */
static uint32_t next(struct plan_blocks *blocks)
{
    const uint32_t *names;
    const struct plan_circuit *circuit = plan_blocks_next(blocks, &names);

    assert_non_null(circuit);
    assert_int_equal(circuit->blocks, 1);
    return names[0];
}

static const struct plan_extent sent = {.space = SPACE_SEND, .length = 1},
                                scratch = {.space = SPACE_SCRATCH, .length = 1};

TEST(circuits_of_a_step_read_before_any_writes)
{
    struct small small;
    struct plan_blocks blocks;

    begin(&small, ECUBE_ALLGATHER, 1);
    add(&small, 0, 0, 0, sent, scratch);
    add(&small, 0, 1, 1, sent, scratch);
    for (uint32_t step = 0; step < 2; step++) {
        add(&small, step, 0, 1, scratch, scratch);
        add(&small, step, 1, 0, scratch, scratch);
    }
    plan_blocks_begin(&blocks, &small.plan);
    static const uint32_t names[] = {0, 1, 0, 1, 1, 0};
    for (unsigned i = 0; i < 6; i++) {
        assert_int_equal(next(&blocks), names[i]);
    }
    const uint32_t *none;
    assert_null(plan_blocks_next(&blocks, &none));
    plan_blocks_end(&blocks);
}

TEST(a_copy_behind_circuits_reads_what_they_brought)
{
    struct small small;
    struct plan_blocks blocks;
    const struct plan_extent last = {.space = SPACE_RECEIVE, .first = 1, .length = 1};

    begin(&small, ECUBE_ALLGATHER, 1);
    add(&small, 0, 1, 0, sent, scratch);
    add(&small, 0, 0, 0, scratch, last);
    add(&small, 1, 0, 1, last, scratch);
    plan_blocks_begin(&blocks, &small.plan);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(next(&blocks), 1);
    }
    plan_blocks_end(&blocks);
}

TEST(what_is_sent_is_named_as_the_spaces_say)
{
    static const struct {
        uint32_t operation, name; /* of slot 1 that node 1 sends */
    } wanted[] = {{ECUBE_EXCHANGE, 1 * 2 + 1},
                  {ECUBE_SCATTER, 1},
                  {ECUBE_REDUCE, 1},
                  {ECUBE_GATHER, 1 * 2 + 1}};
    const struct plan_extent second = {.space = SPACE_SEND, .first = 1, .length = 1};

    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        struct small small;
        struct plan_blocks blocks;
        bool cut = wanted[i].operation == ECUBE_REDUCE || wanted[i].operation == ECUBE_GATHER;
        begin(&small, wanted[i].operation, cut ? 2 : 1);
        small.plan.root = operation_of(wanted[i].operation)->rooted;
        add(&small, 0, 1, 0, second, scratch);
        plan_blocks_begin(&blocks, &small.plan);
        assert_int_equal(next(&blocks), wanted[i].name);
        plan_blocks_end(&blocks);
    }
}

TEST(a_root_that_sends_nothing_else_has_its_segments_at_once)
{
    struct small small;
    struct plan_blocks blocks;
    const struct plan_extent all = {.space = SPACE_RECEIVE, .length = 3};
    const uint32_t *names;

    begin(&small, ECUBE_BROADCAST, 3);
    small.plan.root = 1;
    add(&small, 0, 1, 0, all, all);
    plan_blocks_begin(&blocks, &small.plan);
    assert_non_null(plan_blocks_next(&blocks, &names));
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(names[i], i);
    }
    plan_blocks_end(&blocks);
}
