/*
 * silence_test.c - a node that stands still, as in a debugger: for how long its neighbours wait,
 * and that all goes on when it does.
 */
#include "drivers/status.h"
#include "router/channel.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

enum {
    SECOND_US = 1000 * 1000,
    BOOT_US = 120 * SECOND_US,
    HOUR_S = 3600,
    LONG = 50000,
    STOPPED = 3,
    PORTS = 2,
    ROUNDS = 40
};

/* A fabric of four whose host says how long a link may be silent; 0: it says nothing. */
static struct fabric *patient(uint32_t dead_after_ms)
{
    struct fabric *fabric = fabric_make(2, 4 << 20, 5, no_fault, ipsc860);

    if (dead_after_ms) { /* another host, which has said nothing yet either */
        struct controller_config config = {.links = fabric->host_links,
                                           .cache = fabric->cache,
                                           .network = &fabric->network,
                                           .profile = ipsc860,
                                           .dead_after_ms = dead_after_ms,
                                           .patience_us = BOOT_US,
                                           .memory = fabric->host_memory};
        controller_init(&fabric->controller, &config, fabric->now_us);
    }
    assert_true(fabric_start(fabric));
    fabric_settle(fabric);
    return fabric;
}

static void stop(struct fabric *fabric, bool taken[PORTS][LINK_BUFFERS_MAX])
{
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_stop(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
}

static void go_on(struct fabric *fabric, bool taken[PORTS][LINK_BUFFERS_MAX])
{
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_start(&fabric->nodes[STOPPED].ends[p], taken[p]);
    }
}

/* What lies before a node that stands still stays on its way: the fabric does not settle. */
static void turn(struct fabric *fabric)
{
    for (unsigned round = 0; round < ROUNDS; round++) {
        fabric_round(fabric);
    }
}

static void pass_s(struct fabric *fabric, unsigned seconds)
{
    for (uint64_t end_us = fabric->now_us + (uint64_t)seconds * SECOND_US;
         fabric->now_us < end_us;) {
        fabric->now_us += SECOND_US;
        turn(fabric);
    }
}

static unsigned deaths(const struct fabric *fabric)
{
    return fabric_count_events(fabric, PACKET_LINK_DEAD);
}

TEST(a_silent_link_is_dead_when_the_hosts_time_is_over_and_not_before)
{
    static const unsigned patience_s[] = {0, 2, 60, HOUR_S};
    bool taken[PORTS][LINK_BUFFERS_MAX];

    for (unsigned i = 0; i < 4; i++) {
        struct fabric *fabric = patient(patience_s[i] * 1000);
        unsigned dead_after_s = patience_s[i] ? patience_s[i] : DEAD_AFTER_MS / 1000;
        stop(fabric, taken);
        fabric_message(fabric, 1, ECUBE_CALL_SEND, STOPPED, 1, FABRIC_DATA, LONG);
        turn(fabric);
        pass_s(fabric, dead_after_s - 1);
        assert_int_equal(deaths(fabric), 0);
        pass_s(fabric, 2);
        assert_int_equal(deaths(fabric), 1);
        assert_int_equal(fabric->events[fabric->event_count - 1].src, 1);
        struct link_dead_body dead;
        const struct fabric_event *event = &fabric->events[fabric->event_count - 1];
        assert_true(link_dead_unpack(event->body, event->bytes, &dead));
        assert_int_equal(dead.reason, DEAD_TIMEOUT);
        fabric_free(fabric);
    }
}

TEST(a_node_that_stands_still_for_long_takes_part_again)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];
    int32_t sends[3], receives[3], barriers[4];

    struct fabric *fabric = patient(HOUR_S * 1000);
    for (unsigned rank = 0; rank < STOPPED; rank++) {
        receives[rank] = fabric_message(fabric, STOPPED, ECUBE_CALL_RECEIVE, (int32_t)rank, 1,
                                        FABRIC_DATA + rank * LONG, LONG);
    }
    stop(fabric, taken);
    for (unsigned rank = 0; rank < STOPPED; rank++) {
        sends[rank] = fabric_message(fabric, rank, ECUBE_CALL_SEND, STOPPED, 1, FABRIC_DATA, LONG);
    }
    pass_s(fabric, HOUR_S - 60);
    go_on(fabric, taken);
    for (unsigned rank = 0; rank < STOPPED; rank++) {
        assert_int_equal(fabric_wait(fabric, STOPPED, receives[rank]).status, E_OK);
        assert_int_equal(fabric_wait(fabric, rank, sends[rank]).status, E_OK);
    }
    for (unsigned rank = 0; rank < 4; rank++) {
        barriers[rank] = fabric_collective(
            fabric, rank, &(struct ecube_abi_collective){.operation = ECUBE_BARRIER});
    }
    for (unsigned rank = 0; rank < 4; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, barriers[rank]).status, E_OK);
    }
    assert_int_equal(deaths(fabric), 0);
    fabric_free(fabric);
}

/* The host's link to node 0. */
static uint8_t host_link(const struct fabric *fabric)
{
    uint32_t peer;
    uint8_t peer_port;

    return router_port_state(&fabric->controller.router, 0, &peer, &peer_port);
}

TEST(a_silence_that_the_host_forgives_does_not_count)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    struct fabric *fabric = patient(2000);
    for (unsigned p = 0; p < PORTS; p++) {
        memory_link_stop(&fabric->nodes[0].ends[p], taken[p]);
    }
    bool own[LINK_BUFFERS_MAX];
    memory_link_stop(&fabric->nodes[0].ends[2], own);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, 0, NULL, 0), E_OK);
    turn(fabric);
    for (unsigned i = 0; i < 60; i++) {
        pass_s(fabric, 1);
        router_forgive(&fabric->controller.router, fabric->now_us);
    }
    assert_int_not_equal(host_link(fabric), LINK_DEAD);
    pass_s(fabric, 3);
    assert_int_equal(host_link(fabric), LINK_DEAD);
    fabric_free(fabric);
}

/* Its user may have stopped it, as with Ctrl-Z. */
TEST(a_host_that_stands_still_is_waited_for)
{
    bool taken[3][LINK_BUFFERS_MAX];

    struct fabric *fabric = patient(2000);
    unsigned ports = network_host_links(&fabric->network),
             heard = fabric_count_events(fabric, PACKET_CONSOLE);
    for (unsigned p = 0; p < ports; p++) {
        memory_link_stop(&fabric->host_ends[p], taken[p]);
    }
    for (unsigned rank = 0; rank < 4; rank++) {
        assert_int_equal(
            router_send(&fabric->nodes[rank].node->router, PACKET_CONSOLE, ID_HOST, "", 1), E_OK);
    }
    turn(fabric);
    for (unsigned i = 0; i < HOUR_S; i++) {
        pass_s(fabric, 1);
        router_forgive(&fabric->controller.router,
                       fabric->now_us); /* nor does it judge meanwhile */
    }
    assert_int_equal(fabric_count_events(fabric, PACKET_CONSOLE), heard);
    for (unsigned p = 0; p < ports; p++) {
        memory_link_start(&fabric->host_ends[p], taken[p]);
    }
    pass_s(fabric, 1);
    assert_int_equal(fabric_count_events(fabric, PACKET_CONSOLE), heard + 4);
    assert_int_equal(deaths(fabric), 0);
    fabric_free(fabric);
}

static bool node_0_answers(struct fabric *fabric)
{
    for (unsigned i = 0; i < fabric->event_count; i++) {
        if (fabric->events[i].kind == PACKET_STATE && fabric->events[i].src == 0) {
            return true;
        }
    }
    return false;
}

/* Its own packets to the one that stands still have taken all its slots. */
TEST(a_question_that_cannot_be_answered_at_once_is_answered_later)
{
    bool taken[PORTS][LINK_BUFFERS_MAX];

    struct fabric *fabric = patient(HOUR_S * 1000);
    struct router *router = &fabric->nodes[0].node->router;
    stop(fabric, taken);
    for (unsigned round = 0; round < 8; round++) {
        while (router_send(router, PACKET_QUEUED, STOPPED, "", 0) == E_OK) {
        }
        turn(fabric);
    }
    assert_int_equal(router_slots_free(router), 0);
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, 0, "", 0), E_OK);
    turn(fabric);
    assert_false(node_0_answers(fabric));
    go_on(fabric, taken);
    assert_true(fabric_run(fabric, node_0_answers));
    fabric_free(fabric);
}
