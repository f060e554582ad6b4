/*
 * The prover: takes what the generator builds, and rejects tables with one thing wrong, each for
 * its reason.
 */
#include "tests/unit/testing.h"

#include <stddef.h>
#include <string.h>

#include "collectives/gen/build.h"
#include "collectives/gen/prove.h"
#include "collectives/walker.h"
#include "include/ecube/abi.h"

enum { DIMS = 10 };

static struct schedule_row rows[ROWS_MAX + 1];

static struct schedule_table build(uint32_t operation)
{
    return table_build(operation, DIMS, rows);
}

/* The row with this mask; NULL when there is none. */
static struct schedule_row *row_with_mask(const struct schedule_table *table, uint32_t mask)
{
    for (uint32_t i = 0; i < table->row_count; i++) {
        if (rows[i].mask == mask) {
            return &rows[i];
        }
    }
    return NULL;
}

static void rejected_on(uint32_t dims, const struct schedule_table *table, uint32_t operation,
                        const char *reason)
{
    struct proof proof;
    assert_false(schedule_prove(table, operation, dims, 0, &proof));
    if (!strstr(proof.fault, reason)) {
        assert_string_equal(proof.fault, reason);
    }
}

static void rejected(const struct schedule_table *table, uint32_t operation, const char *reason)
{
    rejected_on(4, table, operation, reason);
}

static void a_path_that_no_open_can_say_is_named(void **state)
{
    (void)state;
    assert_null(schedule_path_fault(127, 65535));
    assert_non_null(strstr(schedule_path_fault(128, 0), "more hops"));
    assert_non_null(strstr(schedule_path_fault(1, 65536), "more circuits"));
}

static void every_table_is_proved(void **state)
{
    (void)state;
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        struct schedule_table table = build(operation);
        struct proof proof;
        for (uint32_t dims = 0; dims <= 6; dims++) {
            for (uint32_t root = 0; root < 1u << dims; root++) {
                assert_true(schedule_prove(&table, operation, dims, root, &proof));
                assert_int_equal(proof.steps, walk_steps(operation, dims));
            }
        }
    }
}

static void built_tables_are_those_that_were_printed(void **state)
{
    (void)state;
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        const struct schedule_table *printed = &schedule_tables[operation];
        assert_int_equal(printed->dims, operation == ECUBE_EXCHANGE ? 12 : 16);
        struct schedule_table table = table_build(operation, printed->dims, rows);
        assert_int_equal(table.row_count, printed->row_count);
        assert_memory_equal(rows, printed->rows, table.row_count * sizeof rows[0]);
    }
}

static void an_exchange_of_more_dimensions_holds_that_of_fewer(void **state)
{
    (void)state;
    const struct schedule_table *large = &schedule_tables[ECUBE_EXCHANGE];
    struct schedule_table table = build(ECUBE_EXCHANGE);
    uint32_t row = 0;
    for (uint32_t i = 0; i < large->row_count; i++) {
        if (large->rows[i].mask < 1u << DIMS) {
            assert_memory_equal(&large->rows[i], &rows[row++],
                                offsetof(struct schedule_row, lower));
        }
    }
    assert_int_equal(row, table.row_count);
}

/* The prover lets other orders pass that take the same time; the paper's is the one that is built.
 */
static void the_exchange_goes_from_large_subcubes_to_small_in_lexicographic_order(void **state)
{
    (void)state;
    const struct schedule_table *table = &schedule_tables[ECUBE_EXCHANGE];
    for (uint32_t i = 1; i < table->row_count; i++) {
        uint32_t before = table->rows[i - 1].mask;
        uint32_t mask = table->rows[i].mask;
        uint32_t lowest = (before ^ mask) & (~(before ^ mask) + 1);
        int smaller = __builtin_popcount(before) - __builtin_popcount(mask);
        assert_true(smaller == 1 || (smaller == 0 && (before & lowest)));
    }
}

static void large_trees_and_the_barrier_are_proved(void **state)
{
    (void)state;
    for (uint32_t operation = 0; operation < ECUBE_EXCHANGE; operation++) {
        uint32_t root = operation == ECUBE_BARRIER ? 0 : 0x1234;
        struct proof proof;
        assert_true(schedule_prove(&schedule_tables[operation], operation, 13, root, &proof));
        assert_int_equal(proof.steps, 13);
    }
}

static void a_send_that_nobody_receives_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_BROADCAST);
    row_with_mask(&table, 4)->receive_value = 8;
    rejected(&table, ECUBE_BROADCAST, "which does not receive them");
}

static void a_receive_that_nobody_sends_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_GATHER);
    row_with_mask(&table, 2)->send_value = 0x3ff;
    rejected(&table, ECUBE_GATHER, "which does not send");
}

static void an_exchange_with_the_same_subcube_twice_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_EXCHANGE);
    row_with_mask(&table, 3)->mask = 5;
    rejected(&table, ECUBE_EXCHANGE, "gets block");
}

static void an_exchange_without_one_subcube_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_EXCHANGE);
    struct schedule_row *row = row_with_mask(&table, 6);
    row->mask = 0x3ff;
    row->lower = (uint16_t)(row - rows + 1);
    rejected(&table, ECUBE_EXCHANGE, "does not hold what it should");
}

static void an_exchange_that_jumps_over_a_row_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_EXCHANGE);
    uint16_t jumped = (uint16_t)(row_with_mask(&table, 6) - rows);
    for (uint32_t i = 0; i < jumped; i++) {
        rows[i].lower = (uint16_t)(rows[i].lower + (rows[i].lower == jumped));
    }
    rejected(&table, ECUBE_EXCHANGE, "does not hold what it should");
}

static void a_scatter_in_the_wrong_order_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_SCATTER);
    struct schedule_row *first = row_with_mask(&table, 8);
    struct schedule_row *second = row_with_mask(&table, 4);
    struct schedule_row keep = *first;
    *first = *second;
    *second = keep;
    rejected(&table, ECUBE_SCATTER, "before it has it");
}

static void a_broadcast_that_repeats_a_step_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_BROADCAST);
    rows[table.row_count++] = *row_with_mask(&table, 2);
    rejected(&table, ECUBE_BROADCAST, "turn 0");
}

static void a_barrier_without_one_dimension_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_BARRIER);
    row_with_mask(&table, 2)->mask = 1;
    rejected(&table, ECUBE_BARRIER, "does not hold what it should");
}

static void a_barrier_with_a_step_too_many_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_BARRIER);
    rows[table.row_count++] = *row_with_mask(&table, 2);
    rejected(&table, ECUBE_BARRIER, "not those of the closed form");
}

static void a_message_with_the_wrong_blocks_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = build(ECUBE_SCATTER);
    row_with_mask(&table, 4)->level = 1;
    rejected(&table, ECUBE_SCATTER, "");
}

static void a_large_exchange_with_the_same_subcube_twice_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_EXCHANGE, 12, rows);
    rows[2].mask = rows[1].mask;
    rejected_on(12, &table, ECUBE_EXCHANGE, "step 2: node 2047 gets block 0 twice");
}

static void a_large_exchange_without_one_subcube_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_EXCHANGE, 11, rows);
    rows[0].mask = 0x800;
    rejected_on(11, &table, ECUBE_EXCHANGE, "does not hold what it should");
}

static void a_large_exchange_with_a_row_that_nobody_receives_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_EXCHANGE, 12, rows);
    rows[3].receive_value = 1;
    rejected_on(12, &table, ECUBE_EXCHANGE, "which does not receive them");
}

static void a_large_scatter_in_the_wrong_order_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_SCATTER, 12, rows);
    struct schedule_row keep = rows[0];
    rows[0] = rows[1];
    rows[1] = keep;
    rejected_on(12, &table, ECUBE_SCATTER, "before it has it");
}

static void a_large_broadcast_to_the_wrong_nodes_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_BROADCAST, 16, rows);
    row_with_mask(&table, 0x4000)->receive_value = 0x8000;
    rejected_on(16, &table, ECUBE_BROADCAST, "which does not receive them");
}

static void a_large_barrier_without_one_dimension_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_BARRIER, 12, rows);
    row_with_mask(&table, 0x800)->mask = 0x400;
    rejected_on(12, &table, ECUBE_BARRIER, "does not hold what it should");
}

static void a_large_barrier_in_which_half_the_nodes_send_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_BARRIER, 11, rows);
    *row_with_mask(&table, 4) =
        (struct schedule_row){.mask = 4, .care = 4, .send_value = 0, .receive_value = 4};
    rejected_on(11, &table, ECUBE_BARRIER, "does not do as node 0");
}

static void an_exchange_that_ends_with_circuits_of_many_hops_is_rejected(void **state)
{
    (void)state;
    struct schedule_table table = table_build(ECUBE_EXCHANGE, 4, rows);
    for (uint32_t i = 0; i < table.row_count / 2U; i++) {
        struct schedule_row row = rows[i];
        rows[i] = rows[table.row_count - 1 - i];
        rows[table.row_count - 1 - i] = row;
    }
    rejected(&table, ECUBE_EXCHANGE, "is not its own");
}

static void a_table_is_proved_up_to_its_first_fault(void **state)
{
    (void)state;
    static struct proof proofs[CUBE_DIMS_MAX + 1];
    struct schedule_table table = table_build(ECUBE_GATHER, 11, rows);
    assert_int_equal(schedule_prove_all(&table, ECUBE_GATHER, proofs), 12);
    row_with_mask(&table, 0x400)->level = 9;
    assert_int_equal(schedule_prove_all(&table, ECUBE_GATHER, proofs), 11);
    assert_non_null(strstr(proofs[11].fault, "(11 dimensions, root 0)"));
}

TEST_MAIN(cmocka_unit_test(a_path_that_no_open_can_say_is_named),
          cmocka_unit_test(every_table_is_proved),
          cmocka_unit_test(built_tables_are_those_that_were_printed),
          cmocka_unit_test(an_exchange_of_more_dimensions_holds_that_of_fewer),
          cmocka_unit_test(the_exchange_goes_from_large_subcubes_to_small_in_lexicographic_order),
          cmocka_unit_test(large_trees_and_the_barrier_are_proved),
          cmocka_unit_test(a_send_that_nobody_receives_is_rejected),
          cmocka_unit_test(a_receive_that_nobody_sends_is_rejected),
          cmocka_unit_test(an_exchange_with_the_same_subcube_twice_is_rejected),
          cmocka_unit_test(an_exchange_without_one_subcube_is_rejected),
          cmocka_unit_test(an_exchange_that_jumps_over_a_row_is_rejected),
          cmocka_unit_test(a_scatter_in_the_wrong_order_is_rejected),
          cmocka_unit_test(a_broadcast_that_repeats_a_step_is_rejected),
          cmocka_unit_test(a_barrier_without_one_dimension_is_rejected),
          cmocka_unit_test(a_barrier_with_a_step_too_many_is_rejected),
          cmocka_unit_test(a_message_with_the_wrong_blocks_is_rejected),
          cmocka_unit_test(a_large_exchange_with_the_same_subcube_twice_is_rejected),
          cmocka_unit_test(a_large_exchange_without_one_subcube_is_rejected),
          cmocka_unit_test(a_large_exchange_with_a_row_that_nobody_receives_is_rejected),
          cmocka_unit_test(a_large_scatter_in_the_wrong_order_is_rejected),
          cmocka_unit_test(a_large_broadcast_to_the_wrong_nodes_is_rejected),
          cmocka_unit_test(a_large_barrier_without_one_dimension_is_rejected),
          cmocka_unit_test(a_large_barrier_in_which_half_the_nodes_send_is_rejected),
          cmocka_unit_test(an_exchange_that_ends_with_circuits_of_many_hops_is_rejected),
          cmocka_unit_test(a_table_is_proved_up_to_its_first_fault))
