/* The walker: orders, peers, bytes and turns, on every node of small cubes. */
#include "tests/unit/testing.h"

#include "collectives/walker.h"
#include "include/ecube/abi.h"

static const struct {
    uint32_t dims;
    uint32_t phase;
    uint32_t step;
    uint32_t mask;
} golden[] = {
#include "tests/golden/aap_steps.txt"
};

static void the_complete_exchange_follows_the_papers_order(void **state)
{
    (void)state;
    unsigned line = 0;
    for (uint32_t dims = 1; dims <= 4; dims++) {
        unsigned first = line;
        for (uint32_t rank = 0; rank < 1u << dims; rank++) {
            struct walk walk;
            struct walk_step step;
            walk_begin(&walk, ECUBE_EXCHANGE, dims, rank, 0, 10);
            for (line = first; walk_next(&walk, &step); line++) {
                assert_true(line < sizeof golden / sizeof golden[0]);
                assert_int_equal(golden[line].dims, dims);
                assert_int_equal(step.peer ^ rank, golden[line].mask);
                assert_int_equal(step.step, line - first);
                assert_true(step.sends && step.receives);
            }
            assert_int_equal(line - first, walk_steps(ECUBE_EXCHANGE, dims));
        }
    }
    assert_int_equal(line, sizeof golden / sizeof golden[0]);
}

static void check_exchange(uint32_t dims, uint32_t rank)
{
    struct walk walk;
    struct walk_step step;
    uint32_t carried[WALK_TURNS] = {0};
    uint64_t met = UINT64_C(1) << rank;
    walk_begin(&walk, ECUBE_EXCHANGE, dims, rank, 0, 3);
    while (walk_next(&walk, &step)) {
        assert_int_equal(step.send_offset, 3 * step.peer);
        assert_int_equal(step.receive_offset, 3 * step.peer);
        assert_int_equal(step.send_bytes, 3);
        assert_int_equal(step.receive_bytes, 3);
        assert_int_equal(met >> step.peer & 1, 0);
        met |= UINT64_C(1) << step.peer;
        for (uint32_t dim = 0; dim < WALK_TURNS; dim++) {
            bool on_path = (step.peer ^ rank) >> dim & 1;
            assert_int_equal(step.turns[dim], on_path ? carried[dim] : 0);
            carried[dim] += on_path;
        }
    }
    assert_true(met == UINT64_MAX >> (64 - (1 << dims)));
}

static void a_node_meets_every_other_once_and_in_turn(void **state)
{
    (void)state;
    for (uint32_t dims = 0; dims <= 6; dims++) {
        for (uint32_t rank = 0; rank < 1u << dims; rank++) {
            check_exchange(dims, rank);
        }
    }
}

/* One bit per block of the cube that the node holds after its steps of a scatter. */
static uint64_t walk_tree(uint32_t operation, uint32_t dims, uint32_t rank, uint32_t root)
{
    struct walk walk;
    struct walk_step step;
    uint32_t sent = 0;
    uint32_t received = 0;
    uint32_t step_before = 0;
    walk_begin(&walk, operation, dims, rank, root, 5);
    uint64_t span = walk_span(&walk).send_bytes;
    for (bool first = true; walk_next(&walk, &step); first = false) {
        assert_true(first || step.step > step_before);
        assert_true(step.sends != step.receives);
        assert_true((uint64_t)step.send_offset + step.send_bytes <= span);
        assert_true((uint64_t)step.receive_offset + step.receive_bytes <= span);
        step_before = step.step;
        sent += step.send_bytes;
        received += step.receive_bytes;
        for (uint32_t dim = 0; dim < WALK_TURNS; dim++) {
            assert_int_equal(step.turns[dim], 0);
        }
    }
    return (uint64_t)sent << 32 | received;
}

static void tree_nodes_pass_on_all_but_their_own_block(void **state)
{
    (void)state;
    for (uint32_t dims = 0; dims <= 6; dims++) {
        uint32_t node_count = 1u << dims;
        for (uint32_t root = 0; root < node_count; root++) {
            for (uint32_t rank = 0; rank < node_count; rank++) {
                uint32_t relative = rank ^ root;
                uint32_t subtree = relative == 0 ? node_count : relative & (~relative + 1);
                uint64_t down =
                    (uint64_t)(5 * (subtree - 1)) << 32 | (relative == 0 ? 0 : 5 * subtree);
                assert_true(walk_tree(ECUBE_SCATTER, dims, rank, root) == down);
                assert_true(walk_tree(ECUBE_GATHER, dims, rank, root) == (down << 32 | down >> 32));
            }
        }
    }
}

static void a_broadcast_reaches_every_node_once(void **state)
{
    (void)state;
    for (uint32_t dims = 0; dims <= 6; dims++) {
        for (uint32_t root = 0; root < 1u << dims; root++) {
            uint64_t sent = 0;
            for (uint32_t rank = 0; rank < 1u << dims; rank++) {
                uint64_t both = walk_tree(ECUBE_BROADCAST, dims, rank, root);
                assert_int_equal(both & UINT32_MAX, rank == root ? 0 : 5);
                sent += both >> 32;
            }
            assert_int_equal(sent, 5 * ((1u << dims) - 1));
        }
    }
}

static void the_scatter_of_8_nodes_from_node_5_is_the_one_worked_by_hand(void **state)
{
    (void)state;
    static const struct {
        uint32_t rank;
        uint32_t step;
        uint32_t peer;
        uint32_t sends;
        uint32_t offset;
        uint32_t bytes;
    } steps[] = {
        {5, 0, 1, 1, 0, 40},  {5, 1, 7, 1, 60, 20}, {5, 2, 4, 1, 40, 10}, {1, 0, 5, 0, 0, 40},
        {1, 1, 3, 1, 20, 20}, {1, 2, 0, 1, 0, 10},  {7, 1, 5, 0, 0, 20},  {7, 2, 6, 1, 0, 10},
        {4, 2, 5, 0, 0, 10},  {3, 1, 1, 0, 0, 20},  {3, 2, 2, 1, 0, 10},
    };
    struct walk walk = {0};
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        if (i == 0 || steps[i].rank != steps[i - 1].rank) {
            walk_begin(&walk, ECUBE_SCATTER, 3, steps[i].rank, 5, 10);
        }
        struct walk_step step;
        assert_true(walk_next(&walk, &step));
        assert_int_equal(step.step, steps[i].step);
        assert_int_equal(step.peer, steps[i].peer);
        assert_int_equal(step.sends, steps[i].sends);
        assert_int_equal(step.send_offset + step.receive_offset, steps[i].offset);
        assert_int_equal(step.send_bytes + step.receive_bytes, steps[i].bytes);
    }
}

static void impossible_collectives_are_told_from_possible_ones(void **state)
{
    (void)state;
    assert_true(walk_possible(ECUBE_EXCHANGE, 10, 1023, 4000000));
    assert_false(walk_possible(ECUBE_EXCHANGE, 10, 0, 1u << 22));
    assert_true(walk_possible(ECUBE_BROADCAST, 10, 0, UINT32_MAX));
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        uint32_t dims = schedule_tables[operation].dims;
        assert_true(walk_possible(operation, dims, 0, 1));
        assert_false(walk_possible(operation, dims + 1, 0, 1));
    }
    assert_false(walk_possible(ECUBE_BROADCAST, 3, 8, 1));
    assert_false(walk_possible(ECUBE_EXCHANGE + 1, 3, 0, 1));
    assert_false(walk_possible(UINT32_MAX, 3, 0, 1));
}

TEST_MAIN(cmocka_unit_test(the_complete_exchange_follows_the_papers_order),
          cmocka_unit_test(a_node_meets_every_other_once_and_in_turn),
          cmocka_unit_test(tree_nodes_pass_on_all_but_their_own_block),
          cmocka_unit_test(a_broadcast_reaches_every_node_once),
          cmocka_unit_test(the_scatter_of_8_nodes_from_node_5_is_the_one_worked_by_hand),
          cmocka_unit_test(impossible_collectives_are_told_from_possible_ones))
