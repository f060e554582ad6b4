/*
 * The nodes of a machine on several computers: each node on one, in order, as far as there is room.
 */
#include "tests/testing.h"

#include <stdlib.h>
#include <string.h>

#include "host/cluster/division.h"

enum { CASES = 20000, COMPUTERS = 9, NODES_MAX = 128, NODE_BYTES = 1 << 20 };

struct drawn {
    uint32_t nodes, room;
    unsigned count, empty;
    struct division_computer computers[COMPUTERS];
};

static uint32_t room_of(const struct division_computer *computer)
{
    uint64_t room = computer->memory_bytes / NODE_BYTES;

    return room < NODES_MAX ? (uint32_t)room : NODES_MAX;
}

static struct drawn draw(unsigned seed)
{
    struct drawn drawn = {0};

    srandom(seed);
    drawn.nodes = 1 + (uint32_t)random() % 512;
    drawn.count = 1 + (unsigned)random() % COMPUTERS;
    for (unsigned i = 0; i < drawn.count; i++) {
        uint64_t scale = (uint64_t)NODE_BYTES << (random() % 9);
        drawn.computers[i] = (struct division_computer){"c", (uint64_t)random() % (scale + 1)};
        drawn.room += room_of(&drawn.computers[i]);
        drawn.empty += room_of(&drawn.computers[i]) == 0;
    }
    return drawn;
}

TEST(a_machine_is_divided_exactly_when_there_is_room)
{
    unsigned divided = 0, refused = 0;

    for (unsigned seed = 0; seed < CASES; seed++) {
        struct drawn drawn = draw(seed);
        struct node_range ranges[COMPUTERS];
        struct message message = {""};
        int status = division_make(drawn.nodes, NODES_MAX, NODE_BYTES, drawn.computers, drawn.count,
                                   ranges, &message);
        bool possible = drawn.count <= drawn.nodes && drawn.empty == 0 && drawn.room >= drawn.nodes;
        uint32_t next = 0;

        assert_int_equal(status, possible ? 0 : -1);
        assert_int_equal(message.text[0] == '\0', possible);
        for (unsigned i = 0; possible && i < drawn.count; i++) {
            assert_int_equal(ranges[i].first, next);
            assert_in_range(ranges[i].count, 1, room_of(&drawn.computers[i]));
            next += ranges[i].count;
        }
        assert_true(!possible || next == drawn.nodes);
        divided += possible;
        refused += !possible;
    }
    assert_true(divided > CASES / 20 && refused > CASES / 20);
}

static void expect(const uint64_t *gigabytes, unsigned count, uint32_t nodes,
                   const uint32_t *counts)
{
    struct division_computer computers[COMPUTERS] = {0};
    struct node_range ranges[COMPUTERS];
    struct message message;

    for (unsigned i = 0; i < count; i++) {
        computers[i] = (struct division_computer){"c", gigabytes[i] << 30};
    }
    assert_int_equal(
        division_make(nodes, NODES_MAX, NODE_BYTES, computers, count, ranges, &message), 0);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(ranges[i].count, counts[i]);
    }
}

TEST(equal_computers_get_equal_parts_and_others_parts_by_their_memory)
{
    expect((const uint64_t[]){8, 8}, 2, 8, (const uint32_t[]){4, 4});
    expect((const uint64_t[]){64, 62, 63, 64}, 4, 256, (const uint32_t[]){64, 64, 64, 64});
    expect((const uint64_t[]){8, 8, 16}, 3, 256, (const uint32_t[]){64, 64, 128});
    expect((const uint64_t[]){4, 16}, 2, 100, (const uint32_t[]){20, 80});
    expect((const uint64_t[]){1, 16}, 2, 150, (const uint32_t[]){22, 128}); /* what is full */
    expect((const uint64_t[]){8}, 1, 128, (const uint32_t[]){128});
}

TEST(a_refusal_names_each_computer_and_its_room)
{
    const struct division_computer computers[] = {{"oak", 10 << 20}, {"elm", 5 << 20}};
    struct node_range ranges[2];
    struct message message;

    assert_int_equal(division_make(16, NODES_MAX, NODE_BYTES, computers, 2, ranges, &message), -1);
    assert_string_equal(message.text,
                        "no room for 16 nodes, which take at least 1 MiB each: there is on oak for "
                        "10 (10 MiB free), elm for 5 (5 MiB free)");
    assert_int_equal(division_make(1, NODES_MAX, NODE_BYTES, computers, 2, ranges, &message), -1);
    assert_string_equal(message.text, "2 agents for 1 nodes: start at most 1");
}
