/*
 * plan_test.c - nodes get plans that are not what they should be: damaged, for others, too large,
 * none at all, or in fragments that are lost and come twice. Every node that takes part gets the
 * same error, the host hears why, and the next collective works.
 *
 * The linker gives this test the cache's parts before they go to nodes, and the packets that bring
 * them (--wrap in the Makefile).
 */
#include <string.h>

#include "collectives/plan.h"
#include "controller/words.h"
#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"
#include "wire/report.h"

enum {
    NODES_MAX = 32,
    BYTES = 200,
    SPACE_AT = NODES_MAX * BYTES,
    DIGEST_AT = 8,
    MACHINE_AT = 16,
    PIECES_MAX = 8
};

/* What becomes of the parts for one node. */
enum change { AS_IS, DAMAGED, OTHER_MACHINE, OTHER_NODE, OTHER_DIGEST, OTHER_OPERATION, NO_PLAN };
/* What becomes of each fragment when it is sent to its node for the first time. */
enum fate { ARRIVES, LOST, TWICE, TOO_EARLY, FOREIGN };

struct tampering {
    enum change change;
    uint32_t rank;
    enum fate fate;
    bool seen[NODES_MAX][PIECES_MAX];
    unsigned begins; /* first fragments that were sent */
    unsigned played; /* fates that befell fragments */
    uint8_t part[FABRIC_PLAN_BYTES];
};

static struct tampering tampering;
static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;

const uint8_t *__real_plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                                      uint32_t rank, uint32_t *bytes, int *status,
                                      const char **words);
const uint8_t *__wrap_plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                                      uint32_t rank, uint32_t *bytes, int *status,
                                      const char **words);
int __real_router_send(struct router *router, uint8_t kind, uint32_t dst, const void *body,
                       uint32_t bytes);
int __wrap_router_send(struct router *router, uint8_t kind, uint32_t dst, const void *body,
                       uint32_t bytes);

/* All but the damaged part have a right check sum. */
static void change_part(uint8_t *part, uint32_t bytes)
{
    switch (tampering.change) {
    case DAMAGED: part[bytes - 1] ^= 1; return;
    case OTHER_MACHINE: part[MACHINE_AT] ^= 1; break;
    case OTHER_DIGEST: part[DIGEST_AT] ^= 1; break;
    default: break;
    }
    plan_set_check(part, plan_sum(part, bytes));
}

const uint8_t *__wrap_plan_cache_part(struct plan_cache *cache, const struct plan_request *request,
                                      uint32_t rank, uint32_t *bytes, int *status,
                                      const char **words)
{
    struct plan_request other = *request;

    if (tampering.change == AS_IS || rank != tampering.rank) {
        return __real_plan_cache_part(cache, request, rank, bytes, status, words);
    }
    if (tampering.change == NO_PLAN) {
        *status = E_NETWORK;
        *words = "a test has none";
        return NULL;
    }
    if (tampering.change == OTHER_NODE) {
        rank++;
    }
    if (tampering.change == OTHER_OPERATION) {
        other.operation = ECUBE_GATHER;
    }
    const uint8_t *part = __real_plan_cache_part(cache, &other, rank, bytes, status, words);
    memcpy(tampering.part, part, *bytes);
    change_part(tampering.part, *bytes);
    return tampering.part;
}

/* A fragment as it would be with another question or offset. There may be no place for it. */
static void send_changed(struct router *router, uint32_t dst, const void *body, uint32_t bytes,
                         uint32_t question_more, uint32_t offset_more)
{
    uint8_t changed[PACKET_BODY_MAX];
    struct plan_part_body fragment;

    memcpy(changed, body, bytes);
    assert_true(plan_part_unpack(changed, bytes, &fragment));
    fragment.question += question_more;
    fragment.offset += offset_more;
    plan_part_pack(changed, &fragment);
    if (question_more) {
        memset(changed + PLAN_PART_BYTES, 0xff, bytes - PLAN_PART_BYTES);
    }
    tampering.played += __real_router_send(router, PACKET_PLAN_PART, dst, changed, bytes) == E_OK;
}

int __wrap_router_send(struct router *router, uint8_t kind, uint32_t dst, const void *body,
                       uint32_t bytes)
{
    struct plan_part_body fragment;

    if (kind != PACKET_PLAN_PART || !plan_part_unpack(body, bytes, &fragment)) {
        return __real_router_send(router, kind, dst, body, bytes);
    }
    bool *seen = &tampering.seen[dst][fragment.offset / PLAN_PART_MAX];
    bool first = !*seen;
    *seen = true;
    if (first && tampering.fate == LOST) {
        tampering.played++;
        return E_OK; /* as if it were on its way */
    }
    if (first && tampering.fate == TOO_EARLY) {
        send_changed(router, dst, body, bytes, 0, PLAN_PART_MAX);
    }
    if (first && tampering.fate == FOREIGN) {
        send_changed(router, dst, body, bytes, 1, 0);
    }
    int status = __real_router_send(router, kind, dst, body, bytes);
    tampering.begins += status == E_OK && fragment.offset == 0;
    if (status == E_OK && first && tampering.fate == TWICE) {
        send_changed(router, dst, body, bytes, 0, 0);
    }
    return status;
}

static struct fabric *started(const char *name)
{
    struct fabric *fabric = fabric_make_named(name, 2 * SPACE_AT, 1, no_fault, ipsc860);

    tampering = (struct tampering){.change = AS_IS};
    assert_true(fabric_start(fabric));
    return fabric;
}

/* What node `only` alone gets is E_ELSEWHERE to the others; NODES_MAX: all get it. */
static void each_gets(struct fabric *fabric, uint32_t operation, uint32_t root, uint32_t only,
                      int status)
{
    struct ecube_abi_collective call = {.operation = operation,
                                        .root = root,
                                        .block_bytes = BYTES,
                                        .send = FABRIC_DATA,
                                        .receive = FABRIC_DATA + SPACE_AT};
    int32_t requests[NODES_MAX];

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, &call);
    }
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        assert_int_equal(fabric_wait(fabric, rank, requests[rank]).status,
                         only == NODES_MAX || rank == only ? status : E_ELSEWHERE);
    }
    fabric_settle(fabric);
}

static void all_get(struct fabric *fabric, uint32_t operation, uint32_t root, int status)
{
    each_gets(fabric, operation, root, NODES_MAX, status);
}

/* Blocks go where they belong. */
static void exchange_works(struct fabric *fabric)
{
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (uint32_t to = 0; to < fabric->count; to++) {
            memset(fabric_at(fabric, rank, FABRIC_DATA + to * BYTES), (int)(rank * 7 + to), BYTES);
        }
    }
    all_get(fabric, ECUBE_EXCHANGE, 0, E_OK);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        for (uint32_t from = 0; from < fabric->count; from++) {
            uint8_t expected[BYTES];
            memset(expected, (int)(from * 7 + rank), BYTES);
            assert_memory_equal(fabric_at(fabric, rank, FABRIC_DATA + SPACE_AT + from * BYTES),
                                expected, BYTES);
        }
    }
}

static void host_has_heard(const struct fabric *fabric, uint32_t rank, uint32_t peer, int status)
{
    const struct controller_event *event = &fabric->last_event;

    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    assert_int_equal(event->kind, EVENT_DISAGREE);
    assert_int_equal(event->rank, rank);
    assert_int_equal(event->peer, peer);
    assert_int_equal(event->status, status);
    assert_int_equal(event->disagree.first.operation, ECUBE_SCATTER);
}

/* A node's part is changed: all get an error. Then others work, and so does this one, when its part
 * is right. */
static void fails_at(const char *name, uint32_t rank, enum change change, int status)
{
    struct fabric *fabric = started(name);
    bool differs = change == OTHER_DIGEST;

    tampering.change = change;
    tampering.rank = rank;
    each_gets(fabric, ECUBE_SCATTER, 2, differs ? NODES_MAX : rank, status);
    host_has_heard(fabric, differs ? 0 : rank, differs ? rank : ID_UNKNOWN, status);
    assert_int_equal(fabric->told[EVENT_NO_PLAN], change == NO_PLAN);
    tampering.change = AS_IS;
    exchange_works(fabric);
    all_get(fabric, ECUBE_SCATTER, 2, differs ? E_MISMATCH : E_OK);
    exchange_works(fabric);
    fabric_free(fabric);
}

static void fails(enum change change, int status)
{
    for (uint32_t rank = 0; rank < 5; rank += 2) {
        fails_at("ring:5", rank, change, status);
    }
    fails_at("mesh:3x4", 7, change, status);
}

TEST(a_damaged_part_fails_at_all_nodes)
{
    fails(DAMAGED, E_FORMAT);
}

TEST(a_part_for_others_fails_at_all_nodes)
{
    fails(OTHER_MACHINE, E_NETWORK);
    fails_at("ring:5", 0, OTHER_NODE, E_NETWORK);
    fails_at("mesh:3x4", 6, OTHER_NODE, E_NETWORK);
    fails(OTHER_OPERATION, E_FORMAT);
}

TEST(what_the_host_has_no_plan_for_fails_at_all_nodes)
{
    fails(NO_PLAN, E_NETWORK);
}

/* A node keeps the part it has, which is a right one: they differ again. */
TEST(nodes_with_other_plans_find_out)
{
    fails_at("ring:5", 3, OTHER_DIGEST, E_MISMATCH);
    fails_at("mesh:3x4", 1, OTHER_DIGEST, E_MISMATCH);
    fails_at("mesh:3x4", 11, OTHER_DIGEST, E_MISMATCH);
}

TEST(the_words_say_that_plans_differ)
{
    struct fabric *fabric = started("ring:5");
    char text[WORDS_MAX];

    tampering.change = OTHER_DIGEST;
    tampering.rank = 3;
    all_get(fabric, ECUBE_SCATTER, 2, E_MISMATCH);
    assert_true(words_of_event(&fabric->controller, &fabric->last_event, text));
    assert_non_null(strstr(text, "node 0 (rank 0) and node 3 (rank 3) disagree"));
    assert_non_null(strstr(text, "by plan"));
    fabric_free(fabric);
}

/* Room ---------------------------------------------------------------------------------------- */

/* By hand: boards give each node the same. */
static void give_room(struct fabric *fabric, uint32_t rank, uint32_t bytes)
{
    fabric->nodes[rank].node->engine.store.size = bytes;
}

TEST(a_part_larger_than_the_store_fails_at_all_nodes)
{
    struct fabric *fabric = started("mesh:3x4");

    give_room(fabric, 5, PLAN_HEADER_BYTES);
    each_gets(fabric, ECUBE_SCATTER, 2, 5, E_NO_ROOM);
    host_has_heard(fabric, 5, ID_UNKNOWN, E_NO_ROOM);
    give_room(fabric, 5, FABRIC_PLAN_BYTES);
    all_get(fabric, ECUBE_SCATTER, 2, E_OK); /* which asks again */
    exchange_works(fabric);
    fabric_free(fabric);
}

/* How many parts were asked for in a round of scatters from all roots. */
static unsigned asked_in_a_round(struct fabric *fabric)
{
    unsigned before = tampering.begins;

    for (uint32_t root = 0; root < fabric->count; root++) {
        all_get(fabric, ECUBE_SCATTER, root, E_OK);
    }
    return tampering.begins - before;
}

TEST(a_full_store_forgets_what_it_does_not_use)
{
    struct fabric *fabric = started("mesh:3x4");

    assert_int_equal(asked_in_a_round(fabric), 12 * 12);
    assert_int_equal(asked_in_a_round(fabric), 0);
    fabric_free(fabric);
    fabric = started("mesh:3x4");
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        give_room(fabric, rank, 1024);
    }
    assert_int_equal(asked_in_a_round(fabric), 12 * 12);
    assert_in_range(asked_in_a_round(fabric), 1, 12 * 12);
    exchange_works(fabric);
    assert_int_equal(fabric->told[EVENT_DISAGREE], 0);
    fabric_free(fabric);
}

/* Pieces -------------------------------------------------------------------------------------- */

/* Parts of an exchange come in several fragments each; more of them are sent when some are lost. */
static void comes_through(enum fate fate)
{
    struct fabric *fabric = started("ring:32");
    uint32_t bytes;
    int status;
    const char *words;
    const struct plan_request request = {.operation = ECUBE_EXCHANGE, .bytes = BYTES};

    plan_cache_force(fabric->cache, ECUBE_EXCHANGE, "neighbours both ways");
    assert_non_null(__real_plan_cache_part(fabric->cache, &request, 0, &bytes, &status, &words));
    assert_in_range(bytes, 2 * PLAN_PART_MAX, 3 * PLAN_PART_MAX);
    tampering.fate = fate;
    exchange_works(fabric);
    assert_true(tampering.played > 0);
    exchange_works(fabric);
    assert_int_equal(fabric->told[EVENT_DISAGREE], 0);
    fabric_free(fabric);
}

TEST(lost_fragments_are_asked_for_again)
{
    comes_through(LOST);
}

TEST(fragments_that_do_not_belong_are_dropped)
{
    comes_through(TWICE);
    comes_through(TOO_EARLY);
    comes_through(FOREIGN);
}
