/*
 * schedule_test.c - schedules whose circuits share links in a step and go wherever their hop lists
 * say: each waits for its turn while it holds links, nothing stands still, and model times are
 * those of the one total order (step, then place), however late or early nodes are.
 *
 * The test owns all nodes: each sends and receives at most once in a step, and begins the next when
 * both are answered. The reference takes the circuits one by one in their order.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/clock.h"
#include "router/port.h"
#include "tests/fabric/routers.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum {
    NODES_MAX = 16,
    STEPS_MAX = 16,
    CIRCUITS = NODES_MAX * STEPS_MAX,
    BYTES_MAX = 3000,
    NOBODY = 0xffff,
    EPOCH = 1,
    WALK_MAX = 9
};

static const struct memory_fault no_fault,
    faults = {.flip_per_million = 3000, .drop_per_million = 3000};
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

struct planned {
    uint32_t step, from, to, bytes;
    struct open_hop hops[WALK_MAX];
    unsigned hop_count;
    uint64_t expected_ns, sent_ns, received_ns; /* model times of completion */
    uint8_t list[HOP_LIST_BYTES_MAX], data[BYTES_MAX], sink[BYTES_MAX];
    uint32_t given, placed; /* bytes so far, of those that come and go in portions */
    bool hungry, full;      /* its owners have been asked for the next */
    unsigned port;          /* that it comes in by */
    bool arrived;
};

/* A node on its way through the schedule. */
struct player {
    uint32_t step;
    uint16_t send[STEPS_MAX], receive[STEPS_MAX]; /* circuits, or NOBODY */
    bool opened, sent, received;
    uint32_t offers; /* ports where OPENs wait */
    uint64_t clock_ns;
};

static struct planned circuits[CIRCUITS];
static struct player players[NODES_MAX];
static unsigned circuit_count, step_count;
static bool in_portions;

/* Plans ------------------------------------------------------------------------------------- */

static void plan_begin(unsigned steps)
{
    memset(circuits, 0, sizeof circuits);
    memset(players, 0, sizeof players);
    for (unsigned i = 0; i < NODES_MAX; i++) {
        for (unsigned step = 0; step < STEPS_MAX; step++) {
            players[i].send[step] = players[i].receive[step] = NOBODY;
        }
    }
    circuit_count = 0;
    step_count = steps;
    in_portions = false;
}

static struct planned *plan_add(uint32_t step, uint32_t from, uint32_t to, uint32_t bytes)
{
    struct planned *circuit = &circuits[circuit_count];

    *circuit = (struct planned){.step = step, .from = from, .to = to, .bytes = bytes};
    for (uint32_t i = 0; i < bytes; i++) {
        circuit->data[i] = (uint8_t)(i * 7 + circuit_count * 3 + 1);
    }
    players[from].send[step] = players[to].receive[step] = (uint16_t)circuit_count++;
    return circuit;
}

static void add_hop(struct planned *circuit, unsigned port)
{
    assert_true(circuit->hop_count < WALK_MAX);
    circuit->hops[circuit->hop_count++].port = (uint8_t)port;
}

/* The turns, and the model times, of all circuits in their order. */
static void plan_end(const struct routers *all)
{
    uint16_t carried[NODES_MAX][PORTS_MAX] = {0};
    uint64_t link_ns[NODES_MAX][PORTS_MAX] = {0};
    uint64_t send_ns[NODES_MAX] = {0}, receive_ns[NODES_MAX] = {0};
    uint64_t clock_ns[NODES_MAX] = {0}, next_ns[NODES_MAX] = {0};

    for (unsigned i = 0; i < circuit_count; i++) {
        struct planned *c = &circuits[i];
        if (i && c->step != c[-1].step) {
            memcpy(clock_ns, next_ns, sizeof clock_ns);
        }
        uint64_t t_ns = clock_ns[c->from] + ipsc860.xi_ns;
        uint32_t at = c->from;
        for (unsigned hop = 0; hop < c->hop_count; hop++) {
            unsigned port = c->hops[hop].port;
            t_ns = clock_hop(t_ns, link_ns[at][port], ipsc860.tau_ns);
            c->hops[hop].turn = carried[at][port]++;
            at = network_neighbour(&all->network, at, port);
        }
        assert_int_equal(at, c->to);
        t_ns = clock_max(clock_max(t_ns, send_ns[c->from]),
                         clock_max(clock_ns[c->to], receive_ns[c->to]));
        c->expected_ns = t_ns + clock_transfer(&ipsc860, c->hop_count, c->bytes);
        send_ns[c->from] = receive_ns[c->to] = c->expected_ns;
        next_ns[c->from] = clock_max(next_ns[c->from], c->expected_ns);
        next_ns[c->to] = clock_max(next_ns[c->to], c->expected_ns);
        at = c->from;
        for (unsigned hop = 0; hop < c->hop_count; hop++) {
            link_ns[at][c->hops[hop].port] = c->expected_ns;
            at = network_neighbour(&all->network, at, c->hops[hop].port);
        }
        hop_list_pack(c->list, c->hops, c->hop_count);
    }
}

/* Players ----------------------------------------------------------------------------------- */

/* The next portion of so many bytes that are left. */
static uint32_t portion(struct routers *all, uint32_t left)
{
    return left && in_portions ? 1 + memory_random(&all->seed) % left : left;
}

/* Owners give and take the next portion when they come to it. */
static void serve(struct routers *all, uint16_t circuit)
{
    struct planned *c = &circuits[circuit];

    if (c->hungry) {
        uint32_t bytes = portion(all, c->bytes - c->given);
        c->hungry = false;
        assert_int_equal(
            router_feed(&all->nodes[c->from].router, circuit, c->data + c->given, bytes), E_OK);
        c->given += bytes;
    }
    if (c->full) {
        uint32_t room = portion(all, c->bytes - c->placed);
        c->full = false;
        router_sink(&all->nodes[c->to].router, c->port, c->sink + c->placed, room);
        c->placed += room;
    }
}

static void try_send(struct routers *all, uint32_t rank)
{
    struct player *player = &players[rank];
    struct planned *c = &circuits[player->send[player->step]];
    bool is_inline = c->bytes <= 200;
    uint32_t first = is_inline ? c->bytes : portion(all, c->bytes);
    struct circuit_source source = {.dst = c->to,
                                    .match = c->step,
                                    .flags =
                                        (uint8_t)(OPEN_SCHEDULE | (is_inline ? OPEN_INLINE : 0)),
                                    .epoch = EPOCH,
                                    .hops = c->list,
                                    .issue_ns = player->clock_ns,
                                    .data = {c->data},
                                    .bytes = {first},
                                    .more = c->bytes - first,
                                    .token = player->send[player->step]};

    int status = router_open(&all->nodes[rank].router, &source);
    assert_true(status == E_OK || status == E_FULL);
    player->opened = status == E_OK;
    c->given = first;
}

static void try_receive(struct routers *all, uint32_t rank)
{
    struct player *player = &players[rank];
    struct router *router = &all->nodes[rank].router;
    struct planned *c = &circuits[player->receive[player->step]];

    for (unsigned port = 0; port < all->network.ports; port++) {
        const uint8_t *packet = player->offers >> port & 1 ? router_open_at(router, port) : NULL;
        if (!packet || open_match(packet) != player->step) {
            continue;
        }
        c->arrived = open_flags(packet) & OPEN_INLINE;
        c->port = port;
        c->placed = c->arrived ? c->bytes : portion(all, c->bytes);
        assert_int_equal(packet_src(packet), c->from);
        assert_int_equal(packet_hops(packet), c->hop_count);
        c->received_ns =
            router_accept(router, port,
                          &(struct circuit_sink){.data = c->sink,
                                                 .room = c->placed,
                                                 .more = c->bytes - c->placed,
                                                 .token = player->receive[player->step],
                                                 .ready_ns = player->clock_ns});
        player->offers &= ~(UINT32_C(1) << port);
        player->received = true;
        return;
    }
}

/* Goes on in its schedule, or is late. */
static void play(struct routers *all, uint32_t rank)
{
    struct player *player = &players[rank];

    if (player->step == step_count || memory_random(&all->seed) % 8 == 0) {
        return;
    }
    uint16_t send = player->send[player->step], receive = player->receive[player->step];
    if (send != NOBODY && !player->opened) {
        try_send(all, rank);
    }
    if (receive != NOBODY && !player->received) {
        try_receive(all, rank);
    }
    if ((send != NOBODY && !player->sent) || (receive != NOBODY && !player->received)) {
        return;
    }
    if (send != NOBODY) {
        player->clock_ns = clock_max(player->clock_ns, circuits[send].sent_ns);
    }
    if (receive != NOBODY) {
        player->clock_ns = clock_max(player->clock_ns, circuits[receive].received_ns);
    }
    player->opened = player->sent = player->received = false;
    player->step++;
}

static void take(struct routers *all, uint32_t rank, const struct notice *notice)
{
    (void)all;
    switch (notice->kind) {
    case NOTICE_OPEN: players[rank].offers |= UINT32_C(1) << notice->port; break;
    case NOTICE_ACCEPTED:
        circuits[notice->token].sent_ns = notice->done_ns;
        players[rank].sent = true;
        break;
    case NOTICE_REFUSED: fail_msg("node %u: %d", (unsigned)rank, notice->status); break;
    case NOTICE_FEED: circuits[notice->token].hungry = true; break;
    case NOTICE_FILLED: circuits[notice->token].full = true; break;
    case NOTICE_RECEIVED:
        assert_int_equal(notice->status, E_OK);
        circuits[notice->token].arrived = true;
        break;
    default: break;
    }
}

static bool all_played(struct routers *all)
{
    bool played = true;

    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        play(all, rank);
        played &= players[rank].step == step_count && router_quiet(&all->nodes[rank].router);
    }
    return played;
}

/* Plays what has been planned; some nodes begin late. */
static void plays_as_planned(struct routers *all)
{
    bool played = false;

    plan_end(all);
    all->take = take;
    for (unsigned round = 0; round < 200000 && !played; round++) {
        if (!routers_round(all) && round % 50 == 0) {
            all->now_us += 50000; /* acknowledgements, and what was lost */
        }
        played = all_played(all);
        for (uint16_t i = 0; i < circuit_count; i++) {
            if (memory_random(&all->seed) % 16 == 0) {
                serve(all, i);
            }
        }
    }
    assert_true(played);
    for (unsigned i = 0; i < circuit_count; i++) {
        assert_int_equal(circuits[i].sent_ns, circuits[i].expected_ns);
        assert_int_equal(circuits[i].received_ns, circuits[i].expected_ns);
        assert_true(circuits[i].arrived);
        assert_memory_equal(circuits[i].sink, circuits[i].data, circuits[i].bytes);
    }
    routers_free(all);
}

/* Tests ------------------------------------------------------------------------------------- */

/* Shift s in + direction loads each link with s circuits, more than may be on it at once. */
TEST(shifts_of_a_ring_share_links)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct routers *all = routers_make("ring:7", seed, seed % 3 ? no_fault : faults, ipsc860);
        plan_begin(6);
        for (uint32_t step = 0; step < 6; step++) {
            for (uint32_t from = 0; from < 7; from++) {
                struct planned *c = plan_add(step, from, (from + step + 1) % 7, 100 + 300 * step);
                for (uint32_t hop = 0; hop <= step; hop++) {
                    add_hop(c, routers_port(all, (from + hop) % 7, (from + hop + 1) % 7));
                }
            }
        }
        plays_as_planned(all);
    }
}

/* 0 2 4 6 5 3 1: each neighbour in it is two links away at most, and all move at once. */
TEST(a_ring_is_folded_into_a_line)
{
    static const uint32_t order[] = {0, 2, 4, 6, 5, 3, 1};

    for (uint64_t seed = 1; seed <= 4; seed++) {
        struct routers *all = routers_make("mesh:1x7", seed, no_fault, ipsc860);
        plan_begin(6);
        for (uint32_t step = 0; step < 6; step++) {
            for (unsigned i = 0; i < 7; i++) {
                uint32_t at = order[i], to = order[(i + 1) % 7];
                struct planned *c = plan_add(step, at, to, 500);
                for (uint32_t next; at != to; at = next) {
                    next = at < to ? at + 1 : at - 1;
                    add_hop(c, routers_port(all, at, next));
                }
            }
        }
        plays_as_planned(all);
    }
}

/* A way from a circuit's source to its destination that takes no link twice and never turns back;
 * false when it does not get there. */
static bool wander(struct routers *all, struct planned *c)
{
    bool used[NODES_MAX][PORTS_MAX] = {0};
    uint32_t at = c->from;
    unsigned from_port = PORTS_MAX;

    for (c->hop_count = 0; at != c->to;) {
        unsigned port = memory_random(&all->seed) % all->network.ports;
        uint32_t next = network_neighbour(&all->network, at, port);
        if (c->hop_count == WALK_MAX) {
            return false;
        }
        if (next == NETWORK_NO_NODE || port == from_port || used[at][port]) {
            if (memory_random(&all->seed) % 16 == 0) {
                return false;
            }
            continue;
        }
        used[at][port] = true;
        add_hop(c, port);
        from_port = network_far_port(&all->network, port);
        at = next;
    }
    return true;
}

/* In each step all nodes send along some permutation, over hill and dale. */
static void plan_at_random(struct routers *all, unsigned steps)
{
    uint32_t nodes = all->network.nodes, to[NODES_MAX];

    plan_begin(steps);
    for (uint32_t step = 0; step < steps; step++) {
        for (uint32_t i = 0; i < nodes; i++) {
            to[i] = i;
        }
        for (uint32_t i = nodes - 1; i > 0; i--) {
            uint32_t j = memory_random(&all->seed) % (i + 1), kept = to[i];
            to[i] = to[j];
            to[j] = kept;
        }
        for (uint32_t from = 0; from < nodes; from++) {
            if (to[from] == from) {
                continue;
            }
            struct planned *c =
                plan_add(step, from, to[from], 1 + memory_random(&all->seed) % BYTES_MAX);
            while (!wander(all, c)) {
                ;
            }
        }
    }
}

TEST(any_paths_wait_for_their_turns_on_any_network)
{
    static const char *const networks[] = {"mesh:3x4", "torus:3x4", "cube:4", "ring:9", "mesh:1x5"};

    for (unsigned i = 0; i < sizeof networks / sizeof networks[0]; i++) {
        for (uint64_t seed = 1; seed <= 6; seed++) {
            struct routers *all =
                routers_make(networks[i], seed, seed % 3 ? no_fault : faults, ipsc860);
            plan_at_random(all, 8);
            in_portions = seed % 2;
            plays_as_planned(all);
        }
    }
}
