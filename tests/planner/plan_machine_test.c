/*
 * The machine that executes parts: with one thing wrong in one of them it does not end right, and
 * says where. The check sum is put right, so that the nodes' own check has nothing to say.
 */
#include "tests/testing.h"

#include <string.h>

#include "collectives/plan.h"
#include "tests/networks.h"
#include "tests/planner/plan_machine.h"
#include "wire/circuit.h"

/* The parts of a plan for ring:6, and a row of one of them that may be changed. */
struct tried {
    struct plan *plan;
    uint8_t **parts, *row;
    unsigned rank;
};

/* The first row of a node with these flags. */
static struct tried prepare(uint32_t operation, const char *algorithm, unsigned rank, uint8_t flags)
{
    const struct network network = network_of("ring:6");
    const struct plan_request request = {.operation = operation,
                                         .type = operation == ECUBE_REDUCE ? ECUBE_INT32 : 0,
                                         .algorithm = algorithm};
    struct plan_fault fault;
    struct tried tried = {.plan = plan_make(&network, &request, &fault), .rank = rank};

    assert_non_null(tried.plan);
    tried.parts = machine_parts(tried.plan);
    tried.row = tried.parts[rank] + PLAN_HEADER_BYTES;
    while ((plan_row_at(tried.row).flags & flags) != flags) {
        tried.row += plan_row_bytes(tried.row);
    }
    return tried;
}

/* Nodes take the part, and what becomes of it is this; NULL: what was promised. */
static void ends(struct tried *tried, const char *words)
{
    uint8_t *part = tried->parts[tried->rank];
    struct machine_run run = {.bytes = 40, .rule = {1000, 1000, 1000, 1, false}};

    plan_set_check(part, plan_sum(part, plan_bytes(part)));
    assert_int_equal(plan_check(part, plan_bytes(part), &tried->plan->network, tried->rank), 0);
    for (unsigned way = 0; way < 2; way++) {
        run.late = way == 1;
        machine_run("ring:6", tried->parts, &run);
        if (!words || !strstr(run.fault, words)) {
            assert_string_equal(run.fault, words ? words : "");
        }
    }
    machine_parts_free(tried->plan, tried->parts);
    plan_free(tried->plan);
}

TEST(what_is_not_changed_ends_right)
{
    struct tried tried = prepare(ECUBE_REDUCE, "halving tree", 0, ROW_COMBINES);

    ends(&tried, NULL);
}

TEST(a_circuit_with_another_receiver_is_waited_for)
{
    struct tried tried = prepare(ECUBE_GATHER, "halving tree", 0, ROW_RECEIVES);
    struct plan_row row = plan_row_at(tried.row);

    row.from = row.from % 5 + 1; /* another one, not node 0 itself */
    plan_row_pack(tried.row, &row);
    ends(&tried, "waits for ever");
}

TEST(a_circuit_with_another_turn_waits_for_ever)
{
    struct tried tried = prepare(ECUBE_GATHER, "halving tree", 1, ROW_SENDS);
    uint8_t *list = tried.row + (plan_row_hops(tried.row) - tried.row);
    struct open_hop hop = hop_list_at(list, 0);

    assert_int_equal(hop_list_count(list), 1);
    hop.turn++;
    hop_list_pack(list, &hop, 1);
    ends(&tried, "waits for ever");
}

TEST(what_is_not_combined_is_missed_in_the_result)
{
    struct tried tried = prepare(ECUBE_REDUCE, "halving tree", 0, ROW_COMBINES);
    struct plan_row row = plan_row_at(tried.row);

    row.flags &= (uint8_t)~ROW_COMBINES;
    plan_row_pack(tried.row, &row);
    ends(&tried, "does not hold what is promised");
}

TEST(what_is_combined_with_what_nobody_has_written_is_seen)
{
    struct tried tried = prepare(ECUBE_BROADCAST, "halving tree", 1, ROW_RECEIVES);
    struct plan_row row = plan_row_at(tried.row);

    row.flags |= ROW_COMBINES;
    plan_row_pack(tried.row, &row);
    ends(&tried, "does not hold what is promised");
}

TEST(a_link_that_carries_more_than_a_part_says_is_seen)
{
    struct tried tried = prepare(ECUBE_GATHER, "halving tree", 1, ROW_SENDS);
    struct plan_header header;
    uint8_t *part = tried.parts[1];

    assert_true(plan_header_unpack(part, plan_bytes(part), &header));
    header.carries[0]++;
    plan_header_pack(part, &header);
    ends(&tried, "carries other circuits");
}
