/*
 * traffic_test.c - what nodes count of their links: for collectives what the plan says, circuit by
 * circuit, for messages what the rule of clock.h says, whenever answers come; and how the host asks
 * for it.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/operation.h"
#include "drivers/status.h"
#include "planner/build.h"
#include "router/router.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"
#include "wire/traffic.h"

enum {
    XI = 65425,
    TAU = 9575,
    ELEMENT = 425,
    BLOCK_MAX = 3000,
    SPACE_AT = 16 * BLOCK_MAX,
    LINKS_MAX = 16 * PORTS_MAX
};

static const struct profile ipsc860 = {XI, TAU, ELEMENT, 1500, 0, 1};
static const struct memory_fault no_fault;
static const char *const networks[] = {"cube:3", "ring:6", "mesh:3x4", "torus:3x3", "cube:4"};

static struct link_use *use_at(struct link_use *uses, uint32_t node, unsigned port)
{
    return &uses[node * PORTS_MAX + port];
}

/* What programs have used since `uses` was all zeros, or before. */
static void take_uses(const struct fabric *fabric, struct link_use *uses)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (unsigned port = 0; port < fabric->network.ports; port++) {
            const struct link_use *now =
                &fabric->nodes[rank].link_counters[port].uses[LINK_OF_PROGRAM];
            struct link_use *use = use_at(uses, rank, port);
            *use = (struct link_use){.bytes = now->bytes - use->bytes,
                                     .busy_ns = now->busy_ns - use->busy_ns,
                                     .waited_ns = now->waited_ns - use->waited_ns,
                                     .circuits = now->circuits - use->circuits};
        }
    }
}

/* When a node issues circuits of a step: after what it has taken part in before. */
struct issuer {
    uint32_t step; /* 1 + the step */
    uint64_t begun, ended, begun_now, ended_now;
};

static struct issuer *issuer_at(struct issuer *issuer, uint32_t step)
{
    if (issuer->step != step + 1) {
        *issuer = (struct issuer){step + 1, issuer->begun_now, issuer->ended_now, issuer->begun_now,
                                  issuer->ended_now};
    }
    return issuer;
}

static void take_part(struct issuer *issuer, const struct plan_moment *moment)
{
    issuer->begun_now = clock_max(issuer->begun_now, moment->begin_ns);
    issuer->ended_now = clock_max(issuer->ended_now, moment->done_ns);
}

/* A circuit goes over its links; when it is done the replay has said. */
static void follow(const struct plan *plan, const struct plan_circuit *circuit, uint64_t issue_ns,
                   uint64_t bytes, const struct plan_moment *moment, uint64_t *free_ns,
                   struct link_use *uses)
{
    uint64_t t = issue_ns + XI;
    uint32_t at = circuit->from;

    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(plan, circuit, at, hop);
        struct link_use *use = use_at(uses, at, port);
        uint64_t *free = &free_ns[at * PORTS_MAX + port];
        uint64_t took = clock_max(t, *free);
        use->circuits++;
        use->bytes += bytes;
        use->waited_ns += took - t;
        use->busy_ns += moment->done_ns - took;
        t = took + TAU;
        *free = moment->done_ns;
        at = network_neighbour(&plan->network, at, port);
    }
    assert_int_equal(at, circuit->to);
    assert_true(t <= moment->begin_ns);
}

/* What a plan says of every link. */
static void predict_uses(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                         struct link_use *uses)
{
    struct plan_moment *moments = calloc(plan->circuit_count, sizeof *moments);
    struct issuer issuers[COLLECTIVE_NODES_MAX] = {{0}};
    uint64_t free_ns[LINKS_MAX] = {0};

    assert_non_null(moments);
    plan_replay(plan, bytes, element_bytes, &ipsc860, moments);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        struct issuer *from = issuer_at(&issuers[circuit->from], circuit->step);
        follow(plan, circuit, circuit->flags & ROW_AHEAD ? from->begun : from->ended,
               plan_circuit_bytes(plan, circuit, bytes, element_bytes), &moments[i], free_ns, uses);
        take_part(from, &moments[i]);
        take_part(issuer_at(&issuers[circuit->to], circuit->step), &moments[i]);
    }
    free(moments);
}

/* By the plan that the host would give for it. */
static void collective_uses_links_as_its_plan_says(struct fabric *fabric,
                                                   const struct ecube_abi_collective *call)
{
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    const struct plan_request request = {.operation = call->operation,
                                         .root = call->root,
                                         .bytes = call->block_bytes,
                                         .type = call->type,
                                         .profile = &ipsc860};
    struct link_use predicted[LINKS_MAX] = {{0}}, counted[LINKS_MAX] = {{0}};
    struct plan_fault fault;
    struct plan *plan = plan_make(&fabric->network, &request, &fault);

    assert_non_null(plan);
    plan->bytes_min = 0;
    plan->bytes_max = UINT32_MAX;
    fabric_preload(fabric, plan);
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    predict_uses(all ? all : plan, call->block_bytes, call->type ? 4 : 1, predicted);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        collective_fill(fabric, rank, call);
    }
    collective_all_call(fabric, &align);
    take_uses(fabric, counted);
    collective_all_call(fabric, call);
    /* the difference of now and then */
    take_uses(fabric, counted);
    for (unsigned i = 0; i < LINKS_MAX; i++) {
        if (memcmp(&counted[i], &predicted[i], sizeof counted[i]) != 0) {
            fail_msg("%s, %u bytes, node %u, port %u: %u circuits, %lu bytes, busy %lu, waited "
                     "%lu; by the plan %u, %lu, %lu, %lu",
                     operation_name(call->operation), call->block_bytes, i / PORTS_MAX,
                     i % PORTS_MAX, counted[i].circuits, counted[i].bytes, counted[i].busy_ns,
                     counted[i].waited_ns, predicted[i].circuits, predicted[i].bytes,
                     predicted[i].busy_ns, predicted[i].waited_ns);
        }
    }
    plan_free(all);
    plan_free(plan);
}

TEST(a_collective_uses_every_link_as_its_plan_says)
{
    static const uint32_t operations[] = {ECUBE_EXCHANGE,  ECUBE_BROADCAST, ECUBE_SCATTER,
                                          ECUBE_ALLGATHER, ECUBE_REDUCE,    ECUBE_ALLREDUCE};
    static const unsigned count = sizeof operations / sizeof operations[0];
    uint64_t seed = 36;

    for (unsigned i = 0; i < 3 * sizeof networks / sizeof networks[0]; i++) {
        const char *name = networks[i % (sizeof networks / sizeof networks[0])];
        uint32_t operation = operations[memory_random(&seed) % count];
        bool reduces = operation_of(operation)->reduces;
        struct fabric *fabric = fabric_make_named(name, 2 * SPACE_AT, 1 + i, no_fault, ipsc860);
        struct ecube_abi_collective call = {.operation = operation,
                                            .block_bytes =
                                                memory_random(&seed) % (BLOCK_MAX / 4) * 4,
                                            .send = FABRIC_DATA,
                                            .receive = FABRIC_DATA + SPACE_AT,
                                            .type = reduces ? ECUBE_INT32 : 0,
                                            .operator_ = reduces ? ECUBE_SUM : 0};
        assert_true(fabric_start(fabric));
        collective_uses_links_as_its_plan_says(fabric, &call);
        fabric_free(fabric);
    }
}

/* Messages ------------------------------------------------------------------------------------ */

static uint64_t flow_ns(unsigned hops, uint32_t bytes)
{
    return (uint64_t)(hops + bytes - 1) * ELEMENT;
}

static void is_used(const struct fabric *fabric, uint32_t node, unsigned port,
                    const struct link_use *expected)
{
    const struct link_use *use = &fabric->nodes[node].link_counters[port].uses[LINK_OF_PROGRAM];

    assert_int_equal(use->circuits, expected->circuits);
    assert_int_equal(use->bytes, expected->bytes);
    assert_int_equal(use->busy_ns, expected->busy_ns);
    assert_int_equal(use->waited_ns, expected->waited_ns);
}

static void send(struct fabric *fabric, uint32_t from, uint32_t to, uint32_t bytes,
                 int32_t requests[2])
{
    requests[0] =
        fabric_message(fabric, to, ECUBE_CALL_RECEIVE, (int32_t)from, 1, FABRIC_DATA, bytes);
    requests[1] = fabric_message(fabric, from, ECUBE_CALL_SEND, (int32_t)to, 1, FABRIC_DATA, bytes);
}

static void wait_for(struct fabric *fabric, uint32_t from, uint32_t to, const int32_t requests[2])
{
    assert_int_equal(fabric_wait(fabric, to, requests[0]).status, E_OK);
    assert_int_equal(fabric_wait(fabric, from, requests[1]).status, E_OK);
}

/* 0 to 3 by 0, 1, 3, then 1 to 7 by 1, 3, 7: the second one waits at 1>3. */
TEST(a_link_that_is_held_is_waited_for_and_busy_times_do_not_overlap)
{
    struct fabric *fabric = fabric_make(3, 1 << 20, 7, no_fault, ipsc860);
    const uint64_t first_ns = XI + 2 * TAU + flow_ns(2, 5000);
    const uint64_t second_ns = first_ns + 2 * TAU + flow_ns(2, 700);
    int32_t first[2], second[2];

    assert_true(fabric_start(fabric));
    send(fabric, 0, 3, 5000, first);
    fabric_settle(fabric);
    send(fabric, 1, 7, 700, second);
    fabric_settle(fabric);
    wait_for(fabric, 0, 3, first);
    wait_for(fabric, 1, 7, second);
    is_used(fabric, 0, 0, &(struct link_use){5000, first_ns - XI, 0, 1, 0});
    is_used(fabric, 1, 1, &(struct link_use){5700, second_ns - (XI + TAU), first_ns - XI, 2, 0});
    is_used(fabric, 3, 2, &(struct link_use){700, second_ns - (first_ns + TAU), 0, 1, 0});
    is_used(fabric, 1, 0, &(struct link_use){0, 0, 0, 0, 0});
    fabric_free(fabric);
}

/* Too long to ride in their OPENs: the second one passes a hop before or behind the answer to the
 * first. */
TEST(messages_behind_each_other_use_links_alike_whenever_answers_come)
{
    const uint64_t first_ns = XI + 3 * TAU + flow_ns(3, 2000);
    const uint64_t second_ns = 3 * TAU + flow_ns(3, 1300);

    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct fabric *fabric = fabric_make(3, 1 << 20, seed, no_fault, ipsc860);
        int32_t first[2], second[2];
        assert_true(fabric_start(fabric));
        send(fabric, 0, 7, 2000, first);
        for (uint64_t round = 0; round < seed % 20; round++) {
            fabric_round(fabric);
        }
        send(fabric, 0, 7, 1300, second);
        wait_for(fabric, 0, 7, first);
        wait_for(fabric, 0, 7, second);
        fabric_settle(fabric);
        is_used(fabric, 0, 0,
                &(struct link_use){3300, first_ns - XI + second_ns, first_ns - XI, 2, 0});
        is_used(fabric, 1, 1,
                &(struct link_use){3300, first_ns - XI + second_ns - 2 * TAU, 0, 2, 0});
        is_used(fabric, 3, 2,
                &(struct link_use){3300, first_ns - XI + second_ns - 4 * TAU, 0, 2, 0});
        fabric_free(fabric);
    }
}

TEST(the_links_of_a_new_program_have_carried_nothing_for_it)
{
    struct fabric *fabric = fabric_make(2, 1 << 16, 3, no_fault, ipsc860);
    int32_t message[2];

    assert_true(fabric_start(fabric));
    const struct link_use *host = &fabric->nodes[0].link_counters[0].uses[LINK_OF_HOST];
    uint64_t loaded = host->bytes;
    assert_true(loaded > FABRIC_IMAGE_BYTES);
    send(fabric, 0, 3, 500, message);
    wait_for(fabric, 0, 3, message);
    assert_int_equal(fabric->nodes[0].link_counters[0].uses[LINK_OF_PROGRAM].bytes, 500);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint32_t arguments[4] = {0};
        int32_t result;
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result);
    }
    fabric_settle(fabric);
    assert_true(fabric_load(fabric));
    fabric_settle(fabric);
    is_used(fabric, 0, 0, &(struct link_use){0, 0, 0, 0, 0});
    is_used(fabric, 1, 1, &(struct link_use){0, 0, 0, 0, 0});
    assert_int_equal(host->bytes, 2 * loaded);
    fabric_free(fabric);
}

TEST(a_set_up_that_finds_its_link_dead_is_refused_there)
{
    struct fabric *fabric = fabric_make(2, 1 << 16, 3, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    router_kill_port(&fabric->nodes[0].node->router, 1, DEAD_PROTOCOL);
    int32_t request =
        fabric_message(fabric, 0, ECUBE_CALL_SEND, 2, 1, FABRIC_DATA, 5000); /* over port 1 */
    assert_int_equal(fabric_wait(fabric, 0, request).status, E_LINK_DEAD);
    assert_int_equal(fabric->nodes[0].link_counters[1].uses[LINK_OF_PROGRAM].refused, 1);
    assert_int_equal(fabric->nodes[0].link_counters[0].uses[LINK_OF_PROGRAM].refused, 0);
    fabric_free(fabric);
}

/* The host's question ------------------------------------------------------------------------- */

TEST(the_host_hears_of_every_link_of_every_node)
{
    struct fabric *fabric = fabric_make(3, 1 << 16, 5, no_fault, ipsc860);
    int32_t message[2];

    assert_true(fabric_start(fabric));
    send(fabric, 0, 7, 900, message);
    wait_for(fabric, 0, 7, message);
    controller_ask_traffic(&fabric->controller, fabric->now_us);
    fabric_settle(fabric);
    assert_int_equal(fabric->told[EVENT_TRAFFIC], 8);
    assert_int_equal(fabric->told[EVENT_STATE], 8);
    assert_int_equal(fabric->told[EVENT_ANSWERED], 1);
    controller_ask(&fabric->controller, fabric->now_us);
    fabric_settle(fabric);
    assert_int_equal(fabric->told[EVENT_TRAFFIC], 8);
    assert_int_equal(fabric->told[EVENT_ANSWERED], 2);
    fabric_free(fabric);
}

static const struct fabric_event *answer_from(struct fabric *fabric, uint32_t rank, uint8_t first)
{
    uint8_t body[TRAFFIC_ASK_BYTES];

    traffic_ask_pack(body, first);
    fabric->event_count = 0;
    assert_int_equal(
        router_send(&fabric->controller.router, PACKET_TRAFFIC_ASK, rank, body, sizeof body), E_OK);
    fabric_settle(fabric);
    for (unsigned i = 0; i < fabric->event_count; i++) {
        if (fabric->events[i].kind == PACKET_TRAFFIC) {
            assert_int_equal(fabric->events[i].src, rank);
            return &fabric->events[i];
        }
    }
    return NULL;
}

TEST(a_node_answers_from_the_port_on_that_the_question_names)
{
    struct fabric *fabric = fabric_make(3, 1 << 16, 5, no_fault, ipsc860);
    struct traffic_header header;
    int32_t message[2];

    assert_true(fabric_start(fabric));
    send(fabric, 1, 5, 900, message); /* over port 2 */
    wait_for(fabric, 1, 5, message);
    for (unsigned first = 0; first <= 5; first++) {
        const struct fabric_event *answer = answer_from(fabric, 1, (uint8_t)first);
        assert_non_null(answer);
        assert_true(traffic_unpack(answer->body, answer->bytes, &header));
        /* node 1 has a link to the host, too */
        assert_int_equal(header.port_count, 4);
        assert_int_equal(header.first, first < 4 ? first : 4);
        assert_int_equal(header.first + header.told, 4);
        for (unsigned i = 0; i < header.told; i++) {
            struct traffic_port port = traffic_port_at(answer->body, i);
            assert_int_equal(port.uses[TRAFFIC_PROGRAM].bytes, first + i == 2 ? 900 : 0);
            assert_int_equal(port.uses[TRAFFIC_PROGRAM].busy_ns,
                             first + i == 2 ? TAU + flow_ns(1, 900) : 0);
            assert_true(port.frames > 0 || first + i != 2);
        }
    }
    fabric_free(fabric);
}
