/*
 * Who gets the nodes of a machine, by what agents have said of their computers, and when it may
 * begin: those on one share its memory, and each must have its cables.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/cluster/root.h"
#include "tests/networks.h"

enum { CASES = 2000, AGENTS = 4, NODE_MIB = 18, MEMORY_MIB_MAX = 200, NODES = 16 };

/* Agents on one or two computers. Returns for how many nodes there is room, 0: one has none. */
static unsigned draw(struct root *root, struct peers *peers)
{
    unsigned memory_mib[2], sharers[2] = {0}, room = 0;

    *peers = (struct peers){.size = 1 + (unsigned)random() % AGENTS};
    *root = (struct root){.peers = peers};
    for (unsigned i = 0; i < 2; i++) {
        memory_mib[i] = (unsigned)random() % MEMORY_MIB_MAX;
    }
    for (unsigned i = 0; i < peers->size; i++) {
        struct introduction *self = &root->members[i].self;
        unsigned computer = (unsigned)random() % 2;

        self->rank = i;
        self->memory_bytes = (uint64_t)memory_mib[computer] << 20;
        snprintf(self->boot, sizeof self->boot, "%u", computer);
        sharers[computer]++;
    }
    for (unsigned i = 0; i < 2; i++) {
        unsigned each = sharers[i] > 0 ? memory_mib[i] / sharers[i] / NODE_MIB : 0;

        if (sharers[i] > 0 && each == 0) {
            return 0;
        }
        room += sharers[i] * each;
    }
    return room;
}

TEST(agents_on_one_computer_share_its_memory)
{
    unsigned divided = 0;

    srandom(1);
    for (unsigned i = 0; i < CASES; i++) {
        const struct network network = network_of("cube:4");
        struct message message = {""};
        static struct root root;
        struct peers peers;
        bool fits = draw(&root, &peers) >= NODES;

        assert_int_equal(root_divide(&root, &network, &message), fits ? 0 : -1);
        assert_int_equal(message.text[0] == '\0', fits);
        free(root.nodes);
        divided += fits;
    }
    assert_in_range(divided, CASES / 20, CASES - CASES / 20);
}

TEST(no_machine_begins_before_each_agent_has_its_cables)
{
    const struct root_start start = {.name = "lab"};
    const struct network network = network_of("cube:1");

    for (enum member_state at = MEMBER_PRESENT; at <= MEMBER_CHECKED; at++) {
        struct peers peers = {.size = 2, .listener = -1};
        struct message message = {""};
        static struct root root;

        root = (struct root){.peers = &peers}; /* no patience: nobody is waited for */
        assert_int_equal(uv_loop_init(&root.loop), 0);
        for (unsigned i = 0; i < peers.size; i++) {
            root.members[i].self = (struct introduction){
                .rank = i, .computer = "oak", .memory_bytes = (uint64_t)MEMORY_MIB_MAX << 20};
        }
        root.members[1].state = at;
        assert_int_equal(root_divide(&root, &network, &message), 0);
        if (at == MEMBER_CHECKED) {
            assert_int_equal(root_place(&root, &start, &message), 0);
        } else {
            assert_int_equal(root_place(&root, &start, &message), -1);
            assert_string_equal(message.text, "computer oak (rank 1): no answer for 0 s");
        }
        far_cables_close(&root.cables);
        free(root.nodes);
        assert_int_equal(uv_loop_close(&root.loop), 0);
    }
}
