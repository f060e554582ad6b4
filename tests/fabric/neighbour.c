#include "tests/fabric/neighbour.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"
#include "router/state.h"
#include "router/due.h"
#include "tests/testing.h"
#include "wire/circuit.h"

enum { ROUNDS = 40, PLAN_TURNS = 100, US_PER_MS = 1000, PLACE_BYTES = 8 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

static void note(struct neighbours *all, struct heard what)
{
    assert_true(all->heard_count < HEARD_MAX);
    all->heard[all->heard_count++] = what;
}

static struct router *router_of(struct neighbours *all, unsigned rank)
{
    return &all->fabric->nodes[rank].node->router;
}

static void hear_open(struct neighbours *all, unsigned rank, unsigned port)
{
    struct router *router = router_of(all, rank);
    const uint8_t *open = router_open_at(router, port);
    uint32_t match = open_match(open);
    struct circuit_sink sink = {.data = fabric_at(all->fabric, rank, FABRIC_DATA),
                                .room = open_flags(open) & OPEN_SCHEDULE ? open_length(open)
                                                                         : NEIGHBOUR_ROOM};

    bool request = open_flags(open) & OPEN_REQUEST;

    if (request && all->full) {
        router_refuse(router, port, E_FULL);
        return;
    }
    note(all, (struct heard){.kind = PACKET_OPEN,
                             .rank = rank,
                             .match = request ? 0 : match,
                             .name = request ? open_name(open) : 0,
                             .behind = request ? open_behind(open) : 0,
                             .flags = open_flags(open)});
    if (all->holds) {
        return;
    }
    if (all->refusal != E_OK) {
        router_refuse(router, port, all->refusal);
    } else {
        router_accept(router, port, &sink);
    }
    all->refusal = E_OK;
}

static void hear_packet(struct neighbours *all, unsigned rank, const struct notice *notice)
{
    struct heard what = {.rank = rank, .kind = notice->packet_kind};
    struct rts_body rts = {0};
    struct cts_body cts = {0};
    struct rts_reply_body word = {0};

    switch (notice->packet_kind) {
    case PACKET_RTS:
        assert_true(rts_unpack(notice->body, notice->bytes, &rts));
        what.name = rts.name;
        what.behind = rts.behind;
        break;
    case PACKET_CTS:
        assert_true(cts_unpack(notice->body, notice->bytes, &cts));
        what.name = cts.name;
        what.match = cts.match;
        break;
    case PACKET_ENTER:
        assert_true(enter_unpack(notice->body, notice->bytes, &what.enter));
        what.status = what.enter.status;
        break;
    case PACKET_ENTERED:
        assert_true(entered_unpack(notice->body, notice->bytes, &what.entered));
        what.status = what.entered.status;
        break;
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CANCEL:
        assert_true(rts_reply_unpack(notice->body, notice->bytes, &word));
        what.name = word.name;
        break;
    default: break;
    }
    note(all, what);
}

static void hear(struct neighbours *all, unsigned rank, const struct notice *notice)
{
    struct heard what = {.rank = rank, .status = notice->status};

    if (notice->kind == NOTICE_OPEN) {
        hear_open(all, rank, notice->port);
    } else if (notice->kind == NOTICE_ACCEPTED || notice->kind == NOTICE_REFUSED) {
        what.kind = notice->kind == NOTICE_ACCEPTED ? PACKET_ACCEPT : PACKET_REFUSE;
        note(all, what);
    } else if (notice->kind == NOTICE_RECEIVED) {
        all->received++;
        all->received_status = notice->status;
    } else if (notice->kind == NOTICE_PACKET && notice->bytes >= 4) {
        hear_packet(all, rank, notice);
    }
}

int neighbours_begin(void **state)
{
    struct neighbours *all = calloc(1, sizeof *all);

    if (!all) {
        return -1;
    }
    all->fabric = fabric_make(2, 1 << 20, 3, no_fault, ipsc860);
    all->node = all->fabric->nodes[0].node;
    *state = all;
    return fabric_start(all->fabric) ? 0 : -1;
}

int neighbours_end(void **state)
{
    struct neighbours *all = *state;

    fabric_free(all->fabric);
    free(all);
    return 0;
}

void neighbours_step(struct neighbours *all, unsigned rank)
{
    const struct notice *notice;

    if (rank == 0) {
        node_step(all->node, all->fabric->now_us);
        return;
    }
    router_step(router_of(all, rank), all->fabric->now_us);
    while ((notice = router_notice(router_of(all, rank)))) {
        hear(all, rank, notice);
    }
}

void neighbours_turn(struct neighbours *all)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        all->fabric->now_us++;
        for (unsigned rank = 0; rank < 3; rank++) {
            neighbours_step(all, rank);
        }
    }
}

void neighbours_pass_ms(struct neighbours *all, unsigned ms)
{
    all->fabric->now_us += (uint64_t)ms * US_PER_MS;
    neighbours_turn(all);
}

const struct heard *neighbours_expect(struct neighbours *all, uint8_t kind, unsigned rank)
{
    assert_true(all->taken < all->heard_count);
    const struct heard *what = &all->heard[all->taken++];
    assert_int_equal(what->kind, kind);
    assert_int_equal(what->rank, rank);
    return what;
}

void neighbours_expect_no_more(const struct neighbours *all)
{
    assert_int_equal(all->heard_count, all->taken);
}

static void say(struct neighbours *all, unsigned rank, uint8_t kind, const uint8_t *body,
                uint32_t bytes)
{
    assert_int_equal(router_send(router_of(all, rank), kind, 0, body, bytes), E_OK);
}

void neighbour_answers(struct neighbours *all, unsigned rank, uint8_t kind, uint32_t name,
                       uint32_t match)
{
    uint8_t body[CTS_BYTES];

    if (kind == PACKET_CTS) {
        cts_pack(body, &(struct cts_body){name, match, NEIGHBOUR_ROOM});
    } else {
        rts_reply_pack(body, &(struct rts_reply_body){name});
    }
    say(all, rank, kind, body, kind == PACKET_CTS ? CTS_BYTES : RTS_REPLY_BYTES);
}

void neighbour_announces(struct neighbours *all, unsigned rank, uint32_t name, uint32_t behind)
{
    struct rts_body told = {.name = name,
                            .tag = NEIGHBOUR_TAG,
                            .length = NEIGHBOUR_ROOM,
                            .behind = behind,
                            .generation = all->fabric->runs};
    uint8_t body[RTS_BYTES];

    rts_pack(body, &told);
    say(all, rank, PACKET_RTS, body, sizeof body);
}

static const struct heard *announced(struct neighbours *all, unsigned rank, uint32_t name,
                                     uint8_t kind)
{
    neighbour_announces(all, rank, name, 0);
    neighbours_turn(all);
    const struct heard *heard = neighbours_expect(all, kind, rank);
    assert_int_equal(heard->name, name);
    return heard;
}

uint32_t neighbour_is_taken(struct neighbours *all, unsigned rank, uint32_t name)
{
    return announced(all, rank, name, PACKET_CTS)->match;
}

void neighbour_is_queued(struct neighbours *all, unsigned rank, uint32_t name)
{
    announced(all, rank, name, PACKET_QUEUED);
}

static void say_enter(struct neighbours *all, unsigned rank, const struct enter_body *enter,
                      uint32_t bytes)
{
    struct enter_body told = *enter;
    uint8_t body[ENTER_BYTES];

    told.generation = all->fabric->runs;
    enter_pack(body, &told);
    say(all, rank, PACKET_ENTER, body, bytes);
}

void neighbour_enters(struct neighbours *all, unsigned rank, const struct enter_body *enter)
{
    say_enter(all, rank, enter, ENTER_BYTES);
}

void neighbour_enters_in_part(struct neighbours *all, unsigned rank, const struct enter_body *enter)
{
    say_enter(all, rank, enter, ENTER_BYTES - 1);
}

struct enter_body neighbour_same(const struct neighbours *all, unsigned rank)
{
    struct enter_body enter = all->node->engine.entering.sum;

    enter.epoch = all->node->engine.epoch;
    enter.first_rank = rank;
    return enter;
}

void neighbours_enter(struct neighbours *all)
{
    for (unsigned rank = 1; rank <= 2; rank++) {
        struct enter_body enter = neighbour_same(all, rank);
        neighbour_enters(all, rank, &enter);
    }
}

int32_t node_enters(struct neighbours *all, const struct ecube_abi_collective *arguments)
{
    int32_t request = fabric_collective(all->fabric, 0, arguments);

    assert_true(request >= 0);
    for (unsigned turn = 0; turn < PLAN_TURNS && node_state(all).partner == ID_HOST; turn++) {
        fabric_step_host(all->fabric);
        neighbours_turn(all);
    }
    return request;
}

void neighbour_refuses(struct neighbours *all, unsigned rank, int reason)
{
    struct router *router = router_of(all, rank);

    assert_int_equal(__builtin_popcount(router_opens(router)), 1);
    router_refuse(router, (unsigned)__builtin_ctz(router_opens(router)), reason);
}

void neighbour_opens(struct neighbours *all, unsigned rank, uint32_t match, uint8_t flags,
                     uint32_t bytes)
{
    neighbour_opens_at(all, rank, match, NEIGHBOUR_TAG, flags, bytes);
}

void neighbour_opens_at(struct neighbours *all, unsigned rank, uint32_t match, uint32_t tag,
                        uint8_t flags, uint32_t bytes)
{
    struct circuit_source source = {.dst = 0,
                                    .match = match,
                                    .tag = tag,
                                    .flags = flags,
                                    .generation = all->fabric->runs,
                                    .data = {fabric_at(all->fabric, rank, FABRIC_DATA)},
                                    .bytes = {bytes},
                                    .token = token_make(TOKEN_REQUEST, 0, 0)};

    assert_int_equal(router_open(router_of(all, rank), &source), E_OK);
}

int32_t node_sends(struct neighbours *all, int32_t peer)
{
    int32_t request = fabric_message(all->fabric, 0, ECUBE_CALL_SEND, peer, NEIGHBOUR_TAG,
                                     FABRIC_DATA, NEIGHBOUR_ROOM);

    assert_true(request >= 0);
    return request;
}

int32_t node_receives(struct neighbours *all, int32_t peer, uint32_t address)
{
    int32_t request = fabric_message(all->fabric, 0, ECUBE_CALL_RECEIVE, peer, NEIGHBOUR_TAG,
                                     address, NEIGHBOUR_ROOM);

    assert_true(request >= 0);
    return request;
}

const struct request *node_request(const struct neighbours *all, int32_t number)
{
    return &all->node->requests[number];
}

void node_is_done_with(const struct neighbours *all, int32_t number, int status)
{
    assert_int_equal(node_request(all, number)->state, STATE_DONE);
    assert_int_equal(node_request(all, number)->status, status);
}

uint8_t node_link(const struct neighbours *all, unsigned port)
{
    uint32_t peer;
    uint8_t peer_port;

    return router_port_state(&all->node->router, port, &peer, &peer_port);
}

const struct memory_said *node_said(const struct neighbours *all, unsigned port)
{
    return &all->fabric->nodes[0].ends[port].said;
}

struct state_body node_state(struct neighbours *all)
{
    struct fabric *fabric = all->fabric;

    fabric->event_count = 0;
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, 0, NULL, 0), E_OK);
    for (unsigned round = 0; round < ROUNDS; round++) {
        fabric_step_host(fabric);
        neighbours_step(all, 0);
    }
    return fabric_heard_state(fabric);
}

void node_takes_places(struct neighbours *all, unsigned rank, unsigned count)
{
    struct circuit_source source = {.dst = rank,
                                    .data = {fabric_at(all->fabric, 0, FABRIC_DATA)},
                                    .bytes = {PLACE_BYTES},
                                    .token = token_make(TOKEN_REQUEST, 0, 1)};

    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(router_open(&all->node->router, &source), E_OK);
    }
    neighbours_step(all, 0);
    for (unsigned i = 0; i <= count;
         i++) { /* one OPEN is told of in a step; its answer goes in the next */
        neighbours_step(all, rank);
    }
    neighbours_step(all, 0);
    for (unsigned i = 0; i < count; i++) {
        neighbours_expect(all, PACKET_OPEN, rank);
    }
}

/* The channel's own count, for a neighbour that reads nothing and yet answers: whoever plays one
 * with a router reads what comes. */
void hold_bytes(struct neighbours *all, unsigned rank, unsigned port, bool hold)
{
    struct router *router = router_of(all, rank);
    struct channel *channel = &router->ports[port].channel;

    channel->data_sent += hold ? DATA_WINDOW : 0 - (uint32_t)DATA_WINDOW;
    due_bytes_for(router, port);
}

void neighbours_turn_without_2(struct neighbours *all)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        neighbours_step(all, 0);
        neighbours_step(all, 1);
    }
}

/* Packets to node 2, which takes none, have all slots. */
void node_fills_slots(struct neighbours *all)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        while (router_send(&all->node->router, PACKET_CONSOLE, 2, "", 0) == E_OK) {
        }
        neighbours_step(all, 0);
    }
    assert_int_equal(router_slots_free(&all->node->router), 0);
}
