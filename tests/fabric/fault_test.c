/*
 * fault_test.c - the report of a program's fault: what its stack held from its stack pointer on, or
 * around it, as much as fits, and never a byte that is not the program's.
 */
#include <string.h>

#include "node/node.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

enum { ROOM = PACKET_BODY_MAX - FAULT_BYTES, SP = 13 };

/* The piece that is told for a stack pointer: where it begins, how many bytes it has. */
static void expect_piece_of(uint32_t kind, uint32_t sp, uint32_t start, uint32_t bytes)
{
    struct neighbours *all;
    const struct fabric_event *told = NULL;
    struct fault fault = {.kind = kind, .registers = {[SP] = sp}};

    assert_int_equal(neighbours_begin((void **)&all), 0);
    const struct node_config *config = &all->node->config;
    for (uint32_t i = 0; i < config->program_bytes; i++) {
        config->program[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    node_fault(all->node, all->fabric->now_us, &fault);
    fabric_settle(all->fabric);
    for (unsigned i = 0; i < all->fabric->event_count; i++) {
        if (all->fabric->events[i].kind == PACKET_FAULT) {
            told = &all->fabric->events[i];
        }
    }
    assert_non_null(told);
    assert_int_equal(told->bytes, FAULT_BYTES + bytes);
    struct fault_body report;
    assert_true(fault_unpack(told->body, told->bytes, &report));
    assert_int_equal(report.registers[SP], sp);
    if (bytes > 0) {
        assert_int_equal(report.line, start);
        assert_memory_equal(report.tail, config->program + (start - config->program_address),
                            bytes);
    }
    neighbours_end((void **)&all);
}

static void expect_piece(uint32_t sp, uint32_t start, uint32_t bytes)
{
    expect_piece_of(FAULT_DATA, sp, start, bytes);
}

static uint32_t memory_start(void)
{
    struct neighbours *all;

    assert_int_equal(neighbours_begin((void **)&all), 0);
    uint32_t start = all->node->config.program_address;
    neighbours_end((void **)&all);
    return start;
}

static uint32_t memory_end(void)
{
    struct neighbours *all;

    assert_int_equal(neighbours_begin((void **)&all), 0);
    uint32_t end = all->node->config.program_address + all->node->config.program_bytes;
    neighbours_end((void **)&all);
    return end;
}

TEST(the_stack_is_told_from_its_pointer_on)
{
    expect_piece(FABRIC_DATA, FABRIC_DATA, ROOM);
    expect_piece(FABRIC_DATA + 2, FABRIC_DATA, ROOM);
}

TEST(it_ends_where_the_programs_memory_ends)
{
    uint32_t end = memory_end();

    expect_piece(end - ROOM, end - ROOM, ROOM);
    expect_piece(end - 8, end - 8, 8);
    expect_piece(end, 0, 0);
    expect_piece(UINT32_MAX, 0, 0);
}

TEST(of_a_stack_that_has_run_over_its_end_it_begins_there)
{
    uint32_t start = memory_start();

    expect_piece(start - 300, start, ROOM);
    expect_piece(0, start, ROOM);
}

TEST(of_a_jump_to_where_no_code_is_half_of_it_lies_below_the_pointer)
{
    enum { BELOW = ROOM / 2 & ~3 };
    uint32_t start = memory_start(), end = memory_end();

    expect_piece_of(FAULT_PREFETCH, FABRIC_DATA, FABRIC_DATA - BELOW, ROOM);
    expect_piece_of(FAULT_PREFETCH, end, end - BELOW, BELOW);
    expect_piece_of(FAULT_PREFETCH, end + BELOW, 0, 0);
    expect_piece_of(FAULT_PREFETCH, start + 8, start, ROOM);
    expect_piece_of(FAULT_PREFETCH, 0, start, ROOM);
}
