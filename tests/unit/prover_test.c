/*
 * The prover: takes what the generator builds, and rejects tables with one thing wrong, each for
 * its reason.
 */
#include "tests/unit/testing.h"

#include <string.h>

#include "collectives/gen/build.h"
#include "collectives/gen/prove.h"
#include "collectives/walker.h"
#include "include/ecube/abi.h"

static struct schedule_row rows[ROWS_MAX + 1];

static struct schedule_table build(uint32_t operation)
{
    return (struct schedule_table){.rows = rows, .row_count = rows_build(operation, rows)};
}

/* A row of the table that is part of a cube of 4 dimensions. */
static struct schedule_row *row_with_mask(const struct schedule_table *table, uint32_t mask)
{
    for (uint32_t i = 0; i < table->row_count; i++) {
        if (rows[i].mask == mask) {
            return &rows[i];
        }
    }
    return NULL;
}

static void rejected(const struct schedule_table *table, uint32_t operation, const char *reason)
{
    struct proof proof;
    assert_false(schedule_prove(table, operation, 4, 0, &proof));
    if (!strstr(proof.fault, reason)) {
        assert_string_equal(proof.fault, reason);
    }
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

static void built_tables_are_the_firmwares(void **state)
{
    (void)state;
    for (uint32_t operation = 0; operation < SCHEDULE_OPERATIONS; operation++) {
        struct schedule_table table = build(operation);
        assert_int_equal(table.row_count, schedule_tables[operation].row_count);
        assert_memory_equal(rows, schedule_tables[operation].rows,
                            table.row_count * sizeof rows[0]);
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
    row_with_mask(&table, 6)->mask = 0x3ff;
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

TEST_MAIN(cmocka_unit_test(every_table_is_proved), cmocka_unit_test(built_tables_are_the_firmwares),
          cmocka_unit_test(a_send_that_nobody_receives_is_rejected),
          cmocka_unit_test(a_receive_that_nobody_sends_is_rejected),
          cmocka_unit_test(an_exchange_with_the_same_subcube_twice_is_rejected),
          cmocka_unit_test(an_exchange_without_one_subcube_is_rejected),
          cmocka_unit_test(a_scatter_in_the_wrong_order_is_rejected),
          cmocka_unit_test(a_broadcast_that_repeats_a_step_is_rejected),
          cmocka_unit_test(a_barrier_without_one_dimension_is_rejected),
          cmocka_unit_test(a_barrier_with_a_step_too_many_is_rejected),
          cmocka_unit_test(a_message_with_the_wrong_blocks_is_rejected))
