/* parallel_test.c - long messages over several paths at once: bytes, times, order, refusals, links
 * that die, and shares that cannot be. */
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "router/shares.h"
#include "tests/fabric/fabric.h"
#include "tests/fabric/neighbour.h"
#include "tests/testing.h"

static const struct profile all_ports = {65425, 9575, 425, 1500, PORTS_ALL, 1};
static const struct memory_fault no_fault;

enum { DATA_BYTES = 4 << 20, HALF = DATA_BYTES / 2 };

static struct fabric *started(const char *network, uint64_t seed, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make_named(network, DATA_BYTES, seed, fault, all_ports);

    assert_true(fabric_start(fabric));
    fabric->paths = ECUBE_PATHS_MAX;
    return fabric;
}

static int32_t send(struct fabric *fabric, unsigned from, int32_t to, int32_t tag, uint32_t at,
                    uint32_t bytes)
{
    return fabric_message(fabric, from, ECUBE_CALL_SEND, to, tag, FABRIC_DATA + at, bytes);
}

static int32_t receive(struct fabric *fabric, unsigned rank, int32_t from, int32_t tag, uint32_t at,
                       uint32_t bytes)
{
    return fabric_message(fabric, rank, ECUBE_CALL_RECEIVE, from, tag, FABRIC_DATA + at, bytes);
}

static uint8_t byte_of(uint32_t salt, uint32_t i)
{
    return (uint8_t)(salt * 37 + i * 11 + (i >> 8) * 3 + (i >> 16));
}

static void fill(struct fabric *fabric, unsigned rank, uint32_t at, uint32_t bytes, uint32_t salt)
{
    uint8_t *p = fabric_at(fabric, rank, FABRIC_DATA + at);

    for (uint32_t i = 0; i < bytes; i++) {
        p[i] = byte_of(salt, i);
    }
}

static void check(struct fabric *fabric, unsigned rank, uint32_t at, uint32_t bytes, uint32_t salt)
{
    const uint8_t *p = fabric_at(fabric, rank, FABRIC_DATA + at);

    for (uint32_t i = 0; i < bytes; i++) {
        assert_int_equal(p[i], byte_of(salt, i));
    }
}

/* One message from one node to another, alone: what comes, and how long it takes. */
static void check_pair(struct fabric *fabric, unsigned from, unsigned to, uint32_t bytes)
{
    uint64_t at = 0;
    struct shares shares;

    /* behind all that has gone over any link */
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        at = clock_max(at, fabric_clock(fabric, rank));
    }
    assert_int_equal(fabric_advance(fabric, from, at - fabric_clock(fabric, from)), E_OK);
    assert_int_equal(fabric_advance(fabric, to, at - fabric_clock(fabric, to)), E_OK);
    fill(fabric, from, 0, bytes, from + to);
    memset(fabric_at(fabric, to, FABRIC_DATA + HALF), 0, bytes);
    int32_t sent = send(fabric, from, (int32_t)to, 3, 0, bytes);
    int32_t came = receive(fabric, to, (int32_t)from, 3, HALF, bytes + 5);
    struct ecube_abi_result got = fabric_wait(fabric, to, came);
    assert_int_equal(fabric_wait(fabric, from, sent).status, E_OK);
    assert_int_equal(got.status, E_OK);
    assert_int_equal(got.bytes, bytes);
    check(fabric, to, HALF, bytes, from + to);
    shares_make(&fabric->network, &fabric->controller.router.profile, from, to, bytes,
                bytes > OPEN_INLINE_MAX ? fabric->paths : 1, &shares);
    assert_int_equal(fabric_clock(fabric, to) - at, shares.time_ns);
    assert_int_equal(fabric_clock(fabric, from), fabric_clock(fabric, to));
}

TEST(a_message_over_several_paths_takes_the_closed_forms_time)
{
    static const char *const networks[] = {"cube:1",    "cube:3",   "cube:4",     "ring:3",
                                           "ring:6",    "mesh:3x4", "torus:3x3",  "torus:5x5",
                                           "torus:2x4", "ring:2",   "torus:3x3x2"};
    static const uint32_t sizes[] = {1024, 1025, 5000, 100001};

    for (unsigned n = 0; n < sizeof networks / sizeof networks[0]; n++) {
        struct fabric *fabric = started(networks[n], n + 1, no_fault);
        for (unsigned to = 1; to < fabric->count; to++) {
            check_pair(fabric, 0, to, sizes[to % 4]);
        }
        check_pair(fabric, fabric->count - 1, 0, 30000);
        fabric_free(fabric);
    }
}

/* Each share has a send port and a receive port of its own, so there are no more than ports; and
 * what has gone before keeps none of them. */
TEST(a_machine_of_a_few_ports_has_as_many_paths)
{
    for (unsigned ports = 2; ports <= 5; ports++) {
        struct profile some = all_ports;
        some.ports = (uint8_t)ports;
        struct fabric *fabric = fabric_make_named(ports % 2 ? "torus:4x4" : "cube:4", DATA_BYTES,
                                                  ports, no_fault, some);
        assert_true(fabric_start(fabric));
        fabric->paths = ports;
        for (unsigned to = 1; to < fabric->count; to += 2) {
            check_pair(fabric, 0, to, 20000 + to);
        }
        fabric_free(fabric);
    }
}

/* Two at once over the two ports of their sender: the second one's shares wait for both, and no
 * share waits for a port that another has. */
TEST(shares_of_two_messages_follow_each_other_on_their_ports)
{
    struct profile some = all_ports;
    struct shares shares;
    struct fabric *fabric;
    int32_t sent[2], came[2];

    some.ports = 2;
    fabric = fabric_make_named("ring:6", DATA_BYTES, 1, no_fault, some);
    assert_true(fabric_start(fabric));
    fabric->paths = 2;
    uint64_t at = fabric_clock(fabric, 0);
    for (unsigned i = 0; i < 2; i++) {
        sent[i] = send(fabric, 0, 3, 1, 0, 30000);
        came[i] = receive(fabric, 3, 0, 1, HALF + i * 30000, 30000);
    }
    shares_make(&fabric->network, &some, 0, 3, 30000, 2, &shares);
    assert_int_equal(shares.count, 2);
    assert_int_equal(fabric_wait(fabric, 3, came[0]).done_ns - at, shares.time_ns);
    /* behind the first one's last byte: its links' set-ups, then its own bytes */
    assert_int_equal(fabric_wait(fabric, 3, came[1]).done_ns - at,
                     shares.time_ns + 3 * 9575 + (uint64_t)(3 + 15000 - 1) * 425);
    assert_int_equal(fabric_wait(fabric, 0, sent[0]).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 0, sent[1]).status, E_OK);
    fabric_free(fabric);
}

/* The other way round takes more hops than an OPEN copies. */
TEST(a_long_way_round_a_ring_is_a_path_too)
{
    struct fabric *fabric = started("ring:96", 5, no_fault);

    check_pair(fabric, 95, 0, 200000);
    check_pair(fabric, 0, 1, 200000);
    check_pair(fabric, 40, 50, 300000);
    fabric_free(fabric);
    fabric = started("ring:61", 6, no_fault); /* one hop more than an OPEN copies */
    check_pair(fabric, 0, 1, 200000);
    fabric_free(fabric);
}

TEST(shares_arrive_over_links_that_lose_and_damage)
{
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct fabric *fabric =
            started(seed % 2 ? "cube:3" : "torus:3x3", seed, (struct memory_fault){2000, 2000});
        check_pair(fabric, 0, 7, 40000);
        check_pair(fabric, 2, 3, 9000);
        fabric_free(fabric);
    }
}

/* Every node sends to two others at once, long messages and short ones: paths cross everywhere, and
 * shares are refused. Each pair's messages come in their order. */
TEST(messages_over_crossing_paths_all_arrive_in_order)
{
    enum { BYTES = 20000, PLACE = 32 * 1024 };

    for (uint64_t seed = 1; seed <= 40; seed++) {
        static const char *const networks[] = {"cube:3", "torus:3x3", "ring:6", "mesh:3x3"};
        struct fabric *fabric = started(networks[seed % 4], seed, no_fault);
        unsigned count = fabric->count;
        int32_t sent[16][4], came[16][4];
        for (unsigned rank = 0; rank < count; rank++) {
            for (unsigned i = 0; i < 4; i++) {
                unsigned to = (rank + 1 + i / 2 * (count / 2)) % count;
                unsigned from = (rank + 2 * count - 1 - i / 2 * (count / 2)) % count;
                uint32_t bytes = i % 2 ? 100 : BYTES;
                fabric->paths = seed % 3 == 0 && i == 2 ? 0 : ECUBE_PATHS_MAX;
                fill(fabric, rank, i * PLACE, bytes, rank * 4 + i);
                sent[rank][i] = send(fabric, rank, (int32_t)to, 1, i * PLACE, bytes);
                came[rank][i] = receive(fabric, rank, (int32_t)from, 1, HALF + i * PLACE, PLACE);
            }
        }
        for (unsigned rank = 0; rank < count; rank++) {
            for (unsigned i = 0; i < 4; i++) {
                unsigned from = (rank + 2 * count - 1 - i / 2 * (count / 2)) % count;
                struct ecube_abi_result got = fabric_wait(fabric, rank, came[rank][i]);
                assert_int_equal(got.status, E_OK);
                assert_int_equal(got.bytes, i % 2 ? 100 : BYTES);
                check(fabric, rank, HALF + i * PLACE, got.bytes, from * 4 + i);
                assert_int_equal(fabric_wait(fabric, rank, sent[rank][i]).status, E_OK);
            }
        }
        fabric_free(fabric);
    }
}

TEST(what_finds_no_room_is_cut_off_behind_it)
{
    static const uint32_t rooms[] = {0, 1, 3000, 9999};

    for (unsigned i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        struct fabric *fabric = started("cube:3", i + 1, no_fault);
        fill(fabric, 0, 0, 10000, 9);
        memset(fabric_at(fabric, 6, FABRIC_DATA), 0xee, 20000);
        int32_t sent = send(fabric, 0, 6, 1, 0, 10000);
        int32_t came = receive(fabric, 6, 0, 1, 0, rooms[i]);
        struct ecube_abi_result got = fabric_wait(fabric, 6, came);
        assert_int_equal(got.status, E_TRUNCATED);
        assert_int_equal(got.bytes, rooms[i]);
        assert_int_equal(got.detail, 10000);
        assert_int_equal(fabric_wait(fabric, 0, sent).status, E_OK);
        check(fabric, 6, 0, rooms[i], 9);
        const uint8_t *behind = fabric_at(fabric, 6, FABRIC_DATA + rooms[i]);
        for (unsigned b = 0; b < 1000; b++) {
            assert_int_equal(behind[b], 0xee);
        }
        fabric_free(fabric);
    }
}

/* With one port, or one path asked for, it is any message. */
TEST(one_port_has_one_path)
{
    struct profile one_port = all_ports;

    one_port.ports = 1;
    struct fabric *fabric = fabric_make_named("cube:3", DATA_BYTES, 1, no_fault, one_port);
    assert_true(fabric_start(fabric));
    fabric->paths = ECUBE_PATHS_MAX;
    uint64_t before = fabric_clock(fabric, 7);
    int32_t sent = send(fabric, 0, 7, 1, 0, 50000);
    assert_int_equal(fabric_wait(fabric, 7, receive(fabric, 7, 0, 1, HALF, 50000)).status, E_OK);
    assert_int_equal(fabric_wait(fabric, 0, sent).status, E_OK);
    assert_int_equal(fabric_clock(fabric, 7) - before, 65425 + 3 * 9575 + 50002 * 425);
    fabric_free(fabric);
}

static bool is_quiet(struct fabric *fabric)
{
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        if (!router_quiet(&fabric->nodes[rank].node->router)) {
            return false;
        }
    }
    return true;
}

/* Whether both ends have come to an end. */
static int32_t watched[2];
static unsigned watched_rank[2];

static bool both_done(struct fabric *fabric)
{
    return fabric_is_done(fabric, watched_rank[0], watched[0]) &&
           fabric_is_done(fabric, watched_rank[1], watched[1]);
}

/* A link of one path is cut at a random moment. Either end ends with all bytes or with a name, and
 * no circuit of the other paths stays. */
TEST(a_path_that_dies_ends_the_message_and_frees_the_others)
{
    unsigned died = 0;

    for (uint64_t seed = 1; seed <= 120; seed++) {
        struct fabric *fabric = started("cube:3", seed, no_fault);
        fill(fabric, 0, 0, 200000, 1);
        watched[0] = send(fabric, 0, 7, 1, 0, 200000);
        watched[1] = receive(fabric, 7, 0, 1, HALF, 200000);
        watched_rank[0] = 0;
        watched_rank[1] = 7;
        for (uint64_t round = 0; round < seed * 3 / 2; round++) {
            fabric_round(fabric);
        }
        /* neither in the way of the answers, over 7>6>4>0 and 0>1>3>7, but at the path over 2 */
        memory_link_cut(&fabric->nodes[2].ends[seed % 2 ? 1 : 2]);
        assert_true(fabric_run(fabric, both_done));
        int sent = fabric_wait(fabric, 0, watched[0]).status;
        int came = fabric_wait(fabric, 7, watched[1]).status;
        assert_true(sent == E_OK || sent == E_LINK_DEAD || sent == E_PEER_GONE);
        assert_true(came == E_OK || came == E_LINK_DEAD);
        if (came == E_OK) {
            check(fabric, 7, HALF, 200000, 1);
        }
        died += came != E_OK;
        assert_true(fabric_run(fabric, is_quiet));
        fabric_free(fabric);
    }
    assert_in_range(died, 10, 110);
}

/* A path that is dead before the message begins: nothing of it arrives, and both are told. */
TEST(a_path_that_is_dead_ends_the_message_at_both_ends)
{
    struct fabric *fabric = started("cube:3", 3, no_fault);

    memory_link_cut(&fabric->nodes[2].ends[2]);
    fabric_settle(fabric);
    watched[0] = send(fabric, 0, 7, 1, 0, 200000);
    watched[1] = receive(fabric, 7, 0, 1, HALF, 200000);
    watched_rank[0] = 0;
    watched_rank[1] = 7;
    assert_true(fabric_run(fabric, both_done));
    assert_int_equal(fabric_wait(fabric, 0, watched[0]).status, E_LINK_DEAD);
    assert_int_equal(fabric_wait(fabric, 7, watched[1]).status, E_LINK_DEAD);
    assert_true(fabric_run(fabric, is_quiet));
    fabric_free(fabric);
}

/* The sender's program ends while its shares go: what stands drains, and nothing is touched that is
 * no longer its. */
TEST(a_program_that_ends_leaves_no_share_behind)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fabric *fabric = started("cube:3", seed, no_fault);
        (void)send(fabric, 0, 7, 1, 0, 100000);
        (void)receive(fabric, 7, 0, 1, HALF, 100000);
        for (uint64_t round = 0; round < seed * 2; round++) {
            fabric_round(fabric);
        }
        uint32_t arguments[4] = {0};
        int32_t result;
        unsigned which = seed % 2 ? 0 : 7;
        node_call(fabric->nodes[which].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result);
        assert_true(fabric_run(fabric, is_quiet));
        fabric_free(fabric);
    }
}

/* A share of a message that node 1 has announced to node 0, and what it is told. */
static void share_is_answered(struct neighbours *all, uint32_t match, unsigned number,
                              unsigned count, uint32_t at, uint32_t bytes, int status)
{
    neighbour_opens_at(all, 1, open_share_match(match, number, count), at, OPEN_SHARE, bytes);
    neighbours_turn(all);
    const struct heard *heard =
        neighbours_expect(all, status == E_OK ? PACKET_ACCEPT : PACKET_REFUSE, 1);
    assert_int_equal(heard->status, status);
}

TEST_WITH(shares_that_cannot_be_are_refused, neighbours_begin, neighbours_end)
{
    enum { NAME = NAME_BIT | 0x0507, THIRD = 1000 };
    struct neighbours *all = *state;
    int32_t receive = node_receives(all, 1, FABRIC_DATA);
    uint32_t match = neighbour_is_taken(all, 1, NAME);

    share_is_answered(all, match, 0, 0, 0, THIRD, E_FORMAT);
    share_is_answered(all, match, 0, 1, 0, NEIGHBOUR_ROOM, E_FORMAT); /* one is no share */
    share_is_answered(all, match, 0, 17, 0, THIRD, E_FORMAT);
    share_is_answered(all, match, 3, 3, 0, THIRD, E_FORMAT); /* none has this number */
    share_is_answered(all, match, 0, 3, NEIGHBOUR_ROOM - 10, 11, E_FORMAT); /* past the end */
    share_is_answered(all, match, 0, 3, UINT32_MAX, 11, E_FORMAT);
    share_is_answered(all, match, 0, 3, 0, NEIGHBOUR_ROOM, E_FORMAT); /* others have no byte */
    share_is_answered(all, match ^ 0x100, 0, 3, 0, THIRD, E_PEER_GONE);
    assert_false(node_request(all, receive)->accepted);

    share_is_answered(all, match, 1, 3, THIRD, THIRD, E_OK);
    share_is_answered(all, match, 1, 3, THIRD, THIRD, E_FORMAT); /* twice */
    share_is_answered(all, match, 0, 4, 0, THIRD, E_FORMAT);     /* of another number */
    neighbour_opens(all, 1, match, 0, NEIGHBOUR_ROOM);           /* it is no share at all */
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_PEER_GONE);
    share_is_answered(all, match, 0, 3, 0, THIRD, E_OK);
    share_is_answered(all, match, 2, 3, 2 * THIRD, THIRD, E_FORMAT); /* bytes are missing */
    share_is_answered(all, match, 2, 3, 2 * THIRD, NEIGHBOUR_ROOM - 2 * THIRD, E_OK);
    neighbours_turn(all);
    node_is_done_with(all, receive, E_OK);
    assert_int_equal(node_request(all, receive)->result_bytes, NEIGHBOUR_ROOM);
    share_is_answered(all, match, 0, 3, 0, THIRD, E_PEER_GONE); /* it is over */
}

/* A sender gives up what it has begun: the receive ends with the name, and not before the shares
 * that stand have come. One of which nothing has come looks for another message. */
TEST_WITH(a_message_that_is_given_up_ends_its_receive, neighbours_begin, neighbours_end)
{
    enum { NAME = NAME_BIT | 0x0507, OTHER = NAME_BIT | 0x0208 };
    struct neighbours *all = *state;
    int32_t receive = node_receives(all, 1, FABRIC_DATA);
    uint32_t match = neighbour_is_taken(all, 1, NAME);

    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbours_turn(all);
    assert_int_equal(node_request(all, receive)->state, STATE_QUEUED);
    match = neighbour_is_taken(all, 1, OTHER);
    share_is_answered(all, match, 0, 2, 0, 1000, E_OK);
    neighbour_answers(all, 2, PACKET_CANCEL, match, 0); /* it is not this one's to say */
    neighbours_turn(all);
    assert_int_equal(node_request(all, receive)->state, STATE_MOVING);
    neighbour_answers(all, 1, PACKET_CANCEL, match, 0);
    neighbours_turn(all);
    node_is_done_with(all, receive, E_LINK_DEAD);
}
