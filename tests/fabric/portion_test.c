/*
 * portion_test.c - circuits whose bytes are given, and taken, portion by portion.
 *
 * The test owns both ends of each circuit. A sender has memory for two portions and fills the older
 * with rubbish as soon as it is asked for more; a receiver has memory for one, which it reads and
 * spoils when it is full. So bytes that are read or written too late show as damage.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/port.h"
#include "router/state.h"
#include "tests/fabric/routers.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { FLOWS_MAX = 8, SLICE_MAX = 70000, RUBBISH = 0xee, NOT_TOLD = 1 };

static const struct memory_fault no_fault,
    faults = {.flip_per_million = 5000, .drop_per_million = 5000};
static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};

/* A circuit, and what its owners know of it. */
struct flow {
    uint32_t from, to;
    uint32_t bytes, wanted; /* all; those that the receiver has room for */
    uint32_t first;         /* bytes of the first portion, in two pieces */
    uint32_t portion, room; /* most bytes of the other ones, at either end; 0: of any size */
    uint8_t flags;
    bool withholds, refuses_room; /* the owner is slow to feed; to find room */
    uint32_t feed_after, room_after;

    uint8_t slices[2][SLICE_MAX], sink[SLICE_MAX];
    unsigned slice;         /* that the last portion lies in */
    uint32_t given;         /* bytes */
    uint32_t taken, placed; /* bytes that have been read; that there has been room for */
    bool hungry, full;      /* asked, and not answered */
    unsigned port;          /* that it comes in by */
    unsigned feeds, fills;  /* how often it was asked */
    unsigned accepted, refused, sent, received; /* how often each was told */
    int sent_status, received_status;
};

static struct flow flows[FLOWS_MAX];
static unsigned flow_count;

static uint8_t pattern(const struct flow *flow, uint32_t at)
{
    return (uint8_t)(at * 7 + (at >> 8) * 13 + flow->from + 1);
}

static uint32_t at_most(struct routers *all, uint32_t limit, uint32_t left)
{
    uint32_t most = limit ? limit : SLICE_MAX;

    most = most < left ? most : left;
    return limit || most == 0 ? most : 1 + memory_random(&all->seed) % most;
}

static void fill(struct flow *flow, uint8_t *slice, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++) {
        slice[i] = pattern(flow, flow->given + i);
    }
    flow->given += bytes;
}

static void feed(struct routers *all, struct flow *flow)
{
    uint32_t bytes = at_most(all, flow->portion, flow->bytes - flow->given);

    flow->hungry = false;
    flow->slice ^= 1;
    fill(flow, flow->slices[flow->slice], bytes);
    assert_int_equal(router_feed(&all->nodes[flow->from].router, (uint32_t)(flow - flows),
                                 flow->slices[flow->slice], bytes),
                     E_OK);
}

/* Reads what has come since there was room last. */
static void read_sink(struct flow *flow, uint32_t until)
{
    for (uint32_t i = 0; flow->taken < until; i++, flow->taken++) {
        assert_int_equal(flow->sink[i], pattern(flow, flow->taken));
    }
    memset(flow->sink, RUBBISH, sizeof flow->sink);
}

static void make_room(struct routers *all, struct flow *flow)
{
    uint32_t room = at_most(all, flow->room, flow->wanted - flow->placed);

    flow->full = false;
    flow->placed += room;
    router_sink(&all->nodes[flow->to].router, flow->port, flow->sink, room);
}

static void accept(struct routers *all, uint32_t rank, unsigned port)
{
    struct router *router = &all->nodes[rank].router;
    struct flow *flow = &flows[open_tag(router_open_at(router, port))];

    flow->port = port;
    flow->placed = at_most(all, flow->room, flow->wanted);
    router_accept(router, port,
                  &(struct circuit_sink){.data = flow->sink,
                                         .room = flow->placed,
                                         .more = flow->wanted - flow->placed,
                                         .token = (uint32_t)(flow - flows)});
}

static void take(struct routers *all, uint32_t rank, const struct notice *notice)
{
    struct flow *flow = &flows[notice->token % FLOWS_MAX];

    switch (notice->kind) {
    case NOTICE_OPEN: accept(all, rank, notice->port); break;
    case NOTICE_ACCEPTED: flow->accepted++; break;
    case NOTICE_REFUSED:
        flow->refused++;
        assert_int_equal(router_feed(&all->nodes[rank].router, notice->token, flow->slices[0], 1),
                         E_LINK_DEAD);
        break;
    case NOTICE_SENT:
        flow->sent++;
        flow->sent_status = notice->status;
        break;
    case NOTICE_FEED:
        assert_false(flow->hungry);
        flow->hungry = true;
        flow->feeds++;
        memset(flow->slices[flow->slice ^ 1], RUBBISH, sizeof flow->slices[0]);
        if (!flow->withholds) {
            feed(all, flow);
        }
        break;
    case NOTICE_FILLED:
        assert_false(flow->full);
        flow->full = true;
        flow->fills++;
        assert_int_equal(notice->port, flow->port);
        read_sink(flow, flow->placed);
        if (!flow->refuses_room) {
            make_room(all, flow);
        }
        break;
    case NOTICE_RECEIVED:
        flow->received++;
        flow->received_status = notice->status;
        assert_int_equal(notice->bytes, flow->bytes);
        if (notice->status != E_LINK_DEAD) {
            read_sink(flow, flow->bytes < flow->wanted ? flow->bytes : flow->wanted);
        }
        break;
    default: break;
    }
}

/* The path of a schedule's circuit in which no other one is on its links. */
static const uint8_t *hop_list(const struct routers *all, uint32_t from, uint32_t to)
{
    static uint8_t list[FLOWS_MAX][HOP_LIST_BYTES_MAX];
    struct open_hop hops[OPEN_HOPS_MAX];
    unsigned count = 0;

    for (uint32_t at = from; at != to; count++) {
        hops[count] = (struct open_hop){HOP_DIMENSION_ORDER, 0};
        at = network_neighbour(&all->network, at, network_next_hop(&all->network, at, to));
    }
    hop_list_pack(list[flow_count], hops, count);
    return list[flow_count];
}

/* Begins a circuit whose sizes are given; what is not is at random. */
static struct flow *begin(struct routers *all, struct flow given)
{
    struct flow *flow = &flows[flow_count];
    uint16_t epoch = (uint16_t)(all->nodes[given.from].router.schedules_done + 1);

    *flow = given;
    flow->sent_status = flow->received_status = NOT_TOLD;
    uint32_t piece = flow->first / 3;
    fill(flow, flow->slices[0], flow->first);
    struct circuit_source source = {
        .dst = flow->to,
        .tag = flow_count,
        .flags = flow->flags,
        .epoch = epoch,
        .hops = flow->flags & OPEN_SCHEDULE ? hop_list(all, flow->from, flow->to) : NULL,
        .data = {flow->slices[0], flow->slices[0] + piece},
        .bytes = {piece, flow->first - piece},
        .more = flow->bytes - flow->first,
        .token = flow_count};
    assert_int_equal(router_open(&all->nodes[flow->from].router, &source), E_OK);
    flow_count++;
    return flow;
}

static bool all_ended(struct routers *all)
{
    (void)all;
    for (unsigned i = 0; i < flow_count; i++) {
        if (!(flows[i].refused || flows[i].sent) || !(flows[i].refused || flows[i].received)) {
            return false;
        }
    }
    return true;
}

/* Nothing is told twice, nothing is left. */
static void all_is_over(struct routers *all)
{
    assert_true(routers_run(all, all_ended));
    routers_settle(all);
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        assert_true(router_quiet(&all->nodes[rank].router));
    }
    for (unsigned i = 0; i < flow_count; i++) {
        const struct flow *flow = &flows[i];
        assert_int_equal(flow->accepted + flow->refused, 1);
        assert_int_equal(flow->sent, !flow->refused);
        assert_true(flow->received <= 1);
    }
    flow_count = 0;
}

static struct routers *made(const char *network, uint64_t seed, struct memory_fault fault)
{
    struct routers *all = routers_make(network, seed, fault, ipsc860);

    flow_count = 0;
    all->take = take;
    return all;
}

static void ended_well(const struct flow *flow)
{
    assert_int_equal(flow->sent_status, E_OK);
    assert_int_equal(flow->received_status, E_OK);
    assert_int_equal(flow->taken, flow->bytes);
}

static void arrives_whole(struct routers *all, struct flow given)
{
    struct flow *flow = begin(all, given);

    all_is_over(all);
    ended_well(flow);
}

/* Over one link and over three; a message waits for its answer, a schedule's circuit does not. */
TEST(portions_of_every_size_make_one_message)
{
    static const uint8_t flags[] = {0, OPEN_SCHEDULE};
    uint16_t epoch = 0;

    struct routers *all = made("mesh:2x3", 1, no_fault);
    for (unsigned kind = 0; kind < 4; kind++) {
        for (uint32_t portion = 1; portion <= 12; portion++) {
            for (uint32_t room = 1; room <= 12; room++) {
                arrives_whole(all, (struct flow){.to = kind / 2 ? 5 : 1,
                                                 .bytes = 23,
                                                 .wanted = 23 + room % 2,
                                                 .first = portion % 5,
                                                 .portion = portion,
                                                 .room = room,
                                                 .flags = flags[kind % 2]});
                for (uint32_t rank = 0; kind % 2 && rank < all->network.nodes; rank++) {
                    router_schedule_done(&all->nodes[rank].router, (uint16_t)(epoch + 1));
                }
                epoch = (uint16_t)(epoch + kind % 2);
            }
        }
    }
    assert_int_equal(flows[0].feeds, 2); /* 2, 12, 9: of the last case */
    assert_int_equal(flows[0].fills, 1); /* 12, 11 */
    routers_free(all);
}

TEST(long_portions_of_any_size_survive_damage)
{
    for (uint64_t seed = 1; seed <= 9; seed++) {
        struct routers *all = made("cube:3", seed, seed % 3 ? faults : no_fault);
        for (uint32_t from = 0; from < FLOWS_MAX; from++) {
            begin(all, (struct flow){.from = from,
                                     .to = from ^ 7,
                                     .bytes = 150000,
                                     .wanted = 150000,
                                     .first = memory_random(&all->seed) % SLICE_MAX});
        }
        all_is_over(all);
        for (unsigned i = 0; i < FLOWS_MAX; i++) {
            ended_well(&flows[i]);
        }
        routers_free(all);
    }
}

/* What an end has said of data since this was asked last. */
static unsigned data_frames(struct routers *all, uint32_t from, uint32_t to)
{
    struct memory_said *said = &all->nodes[from].ends[routers_port(all, from, to)].said;
    unsigned frames = said->frames[FRAME_DATA];

    said->frames[FRAME_DATA] = 0;
    return frames;
}

TEST(frames_are_cut_at_the_ends_of_portions_alone)
{
    static const struct {
        uint32_t bytes, first, portion;
        unsigned frames;
    } cases[] = {{65536, 65536, 1, 1},  {65537, 65537, 1, 2},  {65536, 30000, 35536, 2},
                 {9000, 3000, 3000, 3}, {9001, 3000, 3000, 4}, {70000, 0, 70000, 2}};

    struct routers *all = made("mesh:1x3", 1, no_fault);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        arrives_whole(all, (struct flow){.to = 1,
                                         .bytes = cases[i].bytes,
                                         .wanted = cases[i].bytes,
                                         .first = cases[i].first,
                                         .portion = cases[i].portion});
        assert_int_equal(data_frames(all, 0, 1), cases[i].frames);
    }
    routers_free(all);
}

/* A sender waits for the word that its memory is free, so that must not wait for anything. */
TEST(portions_follow_each_other_without_a_delay)
{
    struct routers *all = made("mesh:1x3", 1, no_fault);
    uint64_t begin_us = all->now_us;
    struct flow *flow = begin(all, (struct flow){.to = 2,
                                                 .bytes = 20000,
                                                 .wanted = 20000,
                                                 .first = 100,
                                                 .portion = 100,
                                                 .flags = OPEN_SCHEDULE});
    routers_settle(all);
    assert_int_equal(flow->received, 1);
    assert_int_equal(flow->feeds, 199);
    assert_true(all->now_us - begin_us < 200 * 20);
    all_is_over(all);
    routers_free(all);
}

static bool is_hungry(struct routers *all)
{
    (void)all;
    return flows[0].hungry;
}

static bool is_full(struct routers *all)
{
    (void)all;
    return flows[0].full;
}

/* With two portions under way nothing is asked for before the older one has been acknowledged. */
TEST(memory_is_free_when_it_has_been_acknowledged)
{
    bool taken[LINK_BUFFERS_MAX];

    struct routers *all = made("mesh:1x2", 1, no_fault);
    struct flow *flow = begin(
        all,
        (struct flow){.to = 1, .bytes = 400, .wanted = 400, .portion = 100, .withholds = true});
    struct memory_end *far = &all->nodes[1].ends[routers_port(all, 1, 0)];
    assert_true(routers_run(all, is_hungry));
    memory_link_stop(far, taken);
    flow->withholds = false;
    feed(all, flow);
    routers_settle(all);
    assert_int_equal(flow->feeds, 2);
    memory_link_start(far, taken);
    all_is_over(all);
    ended_well(flow);
    assert_int_equal(flow->feeds, 4);
    routers_free(all);
}

/* What comes behind it on its link waits, but for packets. */
TEST(a_portion_may_come_later)
{
    for (unsigned i = 0; i < 4; i++) {
        struct routers *all = made("mesh:1x3", 1 + i, i / 2 ? faults : no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 5000,
                                                     .wanted = 5000,
                                                     .first = i % 2 ? 1 : 0,
                                                     .portion = 1000,
                                                     .withholds = true});
        struct flow *behind =
            begin(all, (struct flow){.to = 2, .bytes = 10, .wanted = 10, .first = 10});
        for (unsigned k = 0; flow->given < 5000; k++) {
            assert_true(routers_run(all, is_hungry));
            assert_int_equal(flow->feeds, k + 1);
            feed(all, flow);
            routers_settle(all);
            assert_int_equal(behind->received, flow->received);
        }
        all_is_over(all);
        ended_well(flow);
        ended_well(behind);
        routers_free(all);
    }
}

TEST(room_may_come_later)
{
    for (unsigned i = 0; i < 4; i++) {
        struct routers *all = made("mesh:1x3", 1 + i, i / 2 ? faults : no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 5000,
                                                     .wanted = 5000,
                                                     .first = 5000,
                                                     .room = 999,
                                                     .flags = i % 2 ? OPEN_SCHEDULE : 0,
                                                     .refuses_room = true});
        for (unsigned k = 0; flow->placed < 5000; k++) {
            assert_true(routers_run(all, is_full));
            routers_settle(all);
            assert_int_equal(flow->fills, k + 1);
            assert_int_equal(flow->received, 0);
            assert_int_equal(router_send(&all->nodes[1].router, PACKET_ROUTED, 2, NULL, 0), E_OK);
            unsigned packets = all->nodes[2].router.packets_dropped;
            make_room(all, flow);
            routers_settle(all);
            assert_int_equal(all->nodes[2].router.packets_dropped, packets);
        }
        all_is_over(all);
        ended_well(flow);
        routers_free(all);
    }
}

/* However it ends, the path is free for the next one. */
static void the_path_is_free(struct routers *all)
{
    for (unsigned i = 0; i < CIRCUITS_MAX; i++) {
        begin(all, (struct flow){.to = 2, .bytes = 9, .wanted = 9, .first = 4});
    }
    all_is_over(all);
    for (unsigned i = 0; i < CIRCUITS_MAX; i++) {
        ended_well(&flows[i]);
    }
    routers_free(all);
}

TEST(a_sender_may_give_up)
{
    for (unsigned i = 0; i < 8; i++) {
        struct routers *all = made("mesh:1x3", 1 + i, i / 4 ? faults : no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 500,
                                                     .wanted = 500,
                                                     .first = i % 2 ? 100 : 0,
                                                     .flags = i / 2 % 2 ? OPEN_SCHEDULE : 0,
                                                     .withholds = true});
        assert_true(routers_run(all, is_hungry));
        assert_int_equal(router_feed(&all->nodes[0].router, 0, NULL, 0), E_OK);
        all_is_over(all);
        assert_int_equal(flow->sent_status, E_LINK_DEAD);
        assert_int_equal(flow->received_status, E_LINK_DEAD);
        assert_int_equal(router_feed(&all->nodes[0].router, 0, NULL, 0), E_LINK_DEAD);
        the_path_is_free(all);
    }
}

TEST(a_receiver_may_give_up)
{
    for (unsigned i = 0; i < 4; i++) {
        struct routers *all = made("mesh:1x3", 1 + i, i / 2 ? faults : no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 50000,
                                                     .wanted = 50000,
                                                     .first = 100,
                                                     .room = i % 2 ? 100 : 30000,
                                                     .refuses_room = true});
        assert_true(routers_run(all, is_full));
        flow->wanted = flow->placed;
        router_sink(&all->nodes[2].router, flow->port, NULL, 0);
        all_is_over(all);
        assert_int_equal(flow->sent_status, E_OK);
        assert_int_equal(flow->received_status, E_TRUNCATED);
        assert_int_equal(flow->taken, flow->wanted);
        the_path_is_free(all);
    }
}

TEST(what_is_longer_than_all_portions_is_truncated)
{
    for (uint32_t wanted = 95; wanted <= 105; wanted++) {
        struct routers *all = made("mesh:1x3", wanted, no_fault);
        struct flow *flow = begin(
            all,
            (struct flow){
                .to = 2, .bytes = 100, .wanted = wanted, .first = 50, .portion = 30, .room = 40});
        all_is_over(all);
        assert_int_equal(flow->received_status, wanted < 100 ? E_TRUNCATED : E_OK);
        assert_int_equal(flow->taken, wanted < 100 ? wanted : 100);
        the_path_is_free(all);
    }
}

/* While a sender is asked, and when its portion is under way. */
TEST(a_sender_hears_once_that_its_link_is_dead)
{
    for (unsigned i = 0; i < 4; i++) {
        bool taken[LINK_BUFFERS_MAX];
        struct routers *all = made("mesh:1x3", 1 + i, no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 500,
                                                     .wanted = 500,
                                                     .first = 100,
                                                     .portion = 100,
                                                     .flags = i / 2 ? OPEN_SCHEDULE : 0,
                                                     .withholds = true});
        assert_true(routers_run(all, is_hungry));
        if (i % 2) {
            memory_link_stop(&all->nodes[1].ends[routers_port(all, 1, 0)], taken);
            feed(all, flow);
            routers_settle(all);
        }
        routers_cut(all, 0, 1);
        all_is_over(all);
        assert_int_equal(flow->sent_status, E_LINK_DEAD);
        assert_int_equal(flow->received_status, E_LINK_DEAD);
        assert_int_equal(router_feed(&all->nodes[0].router, 0, flow->slices[0], 1), E_LINK_DEAD);
        routers_free(all);
    }
}

/* The owner's answer is for this circuit and no other, so its end waits for it. */
TEST(a_receiver_hears_once_that_its_link_is_dead)
{
    for (unsigned i = 0; i < 4; i++) {
        struct routers *all = made("mesh:1x3", 1 + i, no_fault);
        struct flow *flow = begin(all, (struct flow){.to = 2,
                                                     .bytes = 5000,
                                                     .wanted = 5000,
                                                     .first = 300,
                                                     .portion = 100,
                                                     .room = 200,
                                                     .withholds = true,
                                                     .refuses_room = true});
        assert_true(routers_run(all, is_full));
        routers_cut(all, i % 2, i % 2 + 1);
        routers_settle(all);
        assert_int_equal(flow->received, 0);
        if (i / 2) {
            router_sink(&all->nodes[2].router, flow->port, NULL, 0);
        } else {
            make_room(all, flow);
        }
        routers_settle(all);
        assert_int_equal(flow->received, 1);
        assert_int_equal(flow->received_status, E_LINK_DEAD);
        assert_int_equal(flow->fills, 1);
        assert_true(router_quiet(&all->nodes[2].router));
        routers_free(all);
    }
}

/* What has gone out already is ended on the links that carry it. */
TEST(a_circuit_that_is_refused_asks_for_nothing_more)
{
    for (unsigned i = 0; i < 8; i++) {
        struct routers *all = made("mesh:1x4", 1 + i, i / 4 ? faults : no_fault);
        routers_cut(all, 2, 3);
        routers_settle(all);
        struct flow *flow = begin(all, (struct flow){.to = 3,
                                                     .bytes = 50000,
                                                     .wanted = 50000,
                                                     .first = i % 2 ? 1000 : 0,
                                                     .portion = 1000,
                                                     .flags = OPEN_SCHEDULE,
                                                     .withholds = i / 2 % 2});
        all_is_over(all);
        assert_int_equal(flow->refused, 1);
        assert_int_equal(flow->received, 0);
        assert_int_equal(router_feed(&all->nodes[0].router, 0, flow->slices[0], 1), E_LINK_DEAD);
        the_path_is_free(all);
    }
}

TEST(a_message_in_its_open_fits_the_first_portion)
{
    uint8_t data[100], sink[120];
    struct circuit_source source = {
        .dst = 1, .flags = OPEN_INLINE | OPEN_EAGER, .data = {data}, .bytes = {sizeof data}};

    struct routers *all = made("mesh:1x2", 1, no_fault);
    memset(data, 0x5a, sizeof data);
    all->take = NULL;
    assert_int_equal(router_open(&all->nodes[0].router, &source), E_OK);
    routers_settle(all);
    router_accept(&all->nodes[1].router, 0,
                  &(struct circuit_sink){.data = sink, .room = sizeof data, .more = 20});
    routers_settle(all);
    assert_memory_equal(sink, data, sizeof data);
    assert_true(router_quiet(&all->nodes[0].router) && router_quiet(&all->nodes[1].router));
    routers_free(all);
}

static void fill_notices(struct router *router)
{
    while (notice_room(router)) {
        *notice_add(router) = (struct notice){.kind = NOTICE_UP};
    }
}

TEST(what_there_is_no_room_to_ask_is_asked_later)
{
    struct routers *all = made("mesh:1x2", 1, no_fault);
    struct flow *flow = begin(all, (struct flow){.to = 1,
                                                 .bytes = 600,
                                                 .wanted = 600,
                                                 .first = 100,
                                                 .portion = 100,
                                                 .room = 100,
                                                 .withholds = true,
                                                 .refuses_room = true});
    for (unsigned i = 0; i < 5; i++) {
        assert_true(routers_run(all, is_full) && routers_run(all, is_hungry));
        feed(all, flow);
        make_room(all, flow);
        for (unsigned end = 0; end < 2; end++) {
            struct router *router = &all->nodes[end].router;
            fill_notices(router);
            for (unsigned k = 0; k < 3; k++) {
                router_move(router, all->now_us);
                router_flush(router);
            }
            assert_int_equal(router->notice_count, NOTICES_MAX);
        }
    }
    all_is_over(all);
    ended_well(flow);
    routers_free(all);
}
