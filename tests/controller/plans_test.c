/*
 * The controller as the one who is asked for plans: nodes played by the test ask, and the answers
 * are read from the cable. Its cache is the test's own.
 */
#include <stdlib.h>
#include <string.h>

#include "controller/internal.h"
#include "drivers/status.h"
#include "tests/controller/fake_cache.h"
#include "tests/controller/fake_nodes.h"
#include "tests/testing.h"
#include "wire/plan.h"

/* What a test plays on. */
struct cache_nodes {
    struct fake_nodes *all;
    struct plan_cache *cache;
};

static struct cache_nodes running(const char *network, uint32_t part_bytes)
{
    struct cache_nodes nodes = {fake_running(network), fake_cache_make()};

    nodes.cache->part_bytes = part_bytes;
    nodes.all->controller.config.cache = nodes.cache;
    return nodes;
}

static void release(struct cache_nodes *nodes)
{
    fake_free(nodes->all);
    free(nodes->cache);
}

static void ask(struct cache_nodes *nodes, uint32_t rank, uint8_t kind, struct plan_ask_body what)
{
    uint8_t body[PLAN_ASK_BYTES];

    plan_ask_pack(body, &what);
    fake_say(nodes->all, rank, kind, body, sizeof body);
}

/* The last part that was sent, of which the first bytes are seen. */
static struct plan_part_body part_sent(const struct cache_nodes *nodes, uint32_t *dst)
{
    const struct fake_packet *packet = fake_last(nodes->all, PACKET_PLAN_PART);
    struct plan_part_body part;

    assert_true(plan_part_unpack(packet->body, packet->bytes, &part));
    *dst = packet->dst;
    return part;
}

static struct predicted_body predicted_sent(const struct cache_nodes *nodes)
{
    const struct fake_packet *packet = fake_last(nodes->all, PACKET_PREDICTED);
    struct predicted_body predicted;

    assert_true(predicted_unpack(packet->body, packet->bytes, &predicted));
    return predicted;
}

static const struct plan_ask_body broadcast = {
    .question = 9, .operation = ECUBE_BROADCAST, .root = 2, .bytes = 100};

TEST(a_node_gets_its_part_from_the_offset_that_it_asks_for)
{
    static const struct {
        uint32_t offset, bytes;
    } cases[] = {{0, 1024}, {1024, 1024}, {2048, 452}, {2499, 1}, {2500, 0}, {UINT32_MAX, 0}};
    struct cache_nodes nodes = running("cube:2", 2500);

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plan_ask_body what = broadcast;
        uint32_t dst;

        what.question = i;
        what.offset = cases[i].offset;
        ask(&nodes, 3, PACKET_PLAN_ASK, what);
        struct plan_part_body part = part_sent(&nodes, &dst);
        assert_int_equal(dst, 3);
        assert_int_equal(part.question, i);
        assert_int_equal(part.offset, cases[i].offset);
        assert_int_equal(part.total, 2500);
        assert_int_equal(part.status, E_OK);
        assert_int_equal(part.bytes, cases[i].bytes);
        for (uint32_t at = 0; at < part.bytes && at < FAKE_BODY - PLAN_PART_BYTES; at++) {
            assert_int_equal(part.data[at], fake_cache_byte(3, cases[i].offset + at));
        }
    }
    assert_int_equal(nodes.cache->request.operation, ECUBE_BROADCAST);
    assert_int_equal(nodes.cache->request.root, 2);
    assert_int_equal(nodes.cache->request.bytes, 100);
    assert_int_equal(nodes.cache->request.type, 0);
    release(&nodes);
}

/* Nobody takes what the controller sends: its few places are full at once. */
TEST(all_nodes_may_ask_at_once_and_each_is_answered_once)
{
    struct cache_nodes nodes = running("mesh:16x16", 3000);
    uint32_t count = nodes.all->network.nodes;

    nodes.all->deaf = true;
    for (uint32_t rank = 0; rank < count; rank++) {
        struct plan_ask_body what = broadcast;

        what.question = 1000 + rank;
        plan_ask_pack(nodes.all->sink, &what);
        struct notice notice = {.kind = NOTICE_PACKET,
                                .packet_kind = PACKET_PLAN_ASK,
                                .src = rank,
                                .body = nodes.all->sink,
                                .bytes = PLAN_ASK_BYTES};
        run_packet(&nodes.all->controller, &notice);
    }
    fake_settle(nodes.all);
    assert_true(fake_sent(nodes.all, PACKET_PLAN_PART) < count);
    nodes.all->deaf = false;
    /* Acknowledgements take their time. */
    for (unsigned i = 0; i < 10000 && fake_sent(nodes.all, PACKET_PLAN_PART) < count; i++) {
        fake_wait_ms(nodes.all, 1);
    }
    assert_int_equal(fake_sent(nodes.all, PACKET_PLAN_PART), count);
    for (unsigned i = 0; i < nodes.all->packet_count; i++) {
        const struct fake_packet *packet = &nodes.all->packets[i];
        struct plan_part_body part;

        if (packet->kind == PACKET_PLAN_PART) {
            assert_true(plan_part_unpack(packet->body, packet->bytes, &part));
            assert_int_equal(part.question, 1000 + packet->dst);
            assert_int_equal(part.data[0], fake_cache_byte(packet->dst, 0));
            assert_int_equal(fake_sent_to(nodes.all, PACKET_PLAN_PART, packet->dst), 1);
        }
    }
    release(&nodes);
}

TEST(a_node_takes_at_most_128_bytes)
{
    assert_true(sizeof(struct controller_node) <= 128);
    assert_int_equal(CONTROLLER_NODE_BYTES, 128);
}

static void note(struct cache_nodes *nodes, uint32_t rank, uint8_t kind, uint32_t question)
{
    struct plan_ask_body what = broadcast;

    what.question = question;
    plan_ask_pack(nodes->all->sink, &what);
    run_packet(&nodes->all->controller, &(struct notice){.kind = NOTICE_PACKET,
                                                         .packet_kind = kind,
                                                         .src = rank,
                                                         .body = nodes->all->sink,
                                                         .bytes = PLAN_ASK_BYTES});
}

TEST(a_new_question_takes_the_place_of_one_without_an_answer)
{
    struct cache_nodes nodes = running("cube:2", 10);
    uint32_t dst;

    note(&nodes, 1, PACKET_PLAN_ASK, 1);
    note(&nodes, 1, PACKET_PREDICT, 2);
    note(&nodes, 2, PACKET_PREDICT, 3);
    note(&nodes, 2, PACKET_PLAN_ASK, 4);
    fake_settle(nodes.all);
    assert_int_equal(fake_sent(nodes.all, PACKET_PREDICTED), 1);
    assert_int_equal(predicted_sent(&nodes).question, 2);
    assert_int_equal(fake_sent(nodes.all, PACKET_PLAN_PART), 1);
    assert_int_equal(part_sent(&nodes, &dst).question, 4);
    assert_int_equal(dst, 2);
    release(&nodes);
}

TEST(a_million_questions_are_one_answer_for_each_who_asks)
{
    struct cache_nodes nodes = running("cube:2", 10);

    for (uint32_t i = 1; i <= 1000000; i++) {
        note(&nodes, i & 3, PACKET_PLAN_ASK, i);
    }
    for (unsigned i = 0; i < 100; i++) {
        fake_wait_ms(nodes.all, 1); /* acknowledgements take their time */
    }
    for (uint32_t rank = 0; rank < 4; rank++) {
        assert_int_equal(fake_sent_to(nodes.all, PACKET_PLAN_PART, rank), 1);
    }
    release(&nodes);
}

TEST(a_prediction_is_the_caches)
{
    struct cache_nodes nodes = running("cube:2", 10);
    struct plan_ask_body what = {
        .question = 77, .operation = ECUBE_REDUCE, .type = ECUBE_DOUBLE, .root = 3, .bytes = 16};

    ask(&nodes, 2, PACKET_PREDICT, what);
    struct predicted_body told = predicted_sent(&nodes);
    assert_int_equal(told.question, 77);
    assert_int_equal(told.status, E_OK);
    assert_true(told.model_ns == UINT64_C(80000000000));
    assert_true(told.bound_ns == 7);
    assert_int_equal(told.steps, ECUBE_REDUCE);
    assert_int_equal(nodes.cache->request.type, ECUBE_DOUBLE);
    nodes.cache->status = E_NETWORK;
    ask(&nodes, 2, PACKET_PREDICT, what);
    assert_int_equal(predicted_sent(&nodes).status, E_NETWORK);
    assert_true(predicted_sent(&nodes).model_ns == 0);
    release(&nodes);
}

TEST(a_plan_that_cannot_be_made_is_told_once_in_a_run)
{
    struct cache_nodes nodes = running("cube:2", 10);
    char text[WORDS_MAX];
    uint32_t dst;

    nodes.cache->status = E_NETWORK;
    for (uint32_t rank = 0; rank < 4; rank++) {
        ask(&nodes, rank, PACKET_PLAN_ASK, broadcast);
        assert_int_equal(part_sent(&nodes, &dst).status, E_NETWORK);
        assert_int_equal(part_sent(&nodes, &dst).total, 0);
        assert_int_equal(part_sent(&nodes, &dst).bytes, 0);
    }
    assert_int_equal(fake_sent(nodes.all, PACKET_PLAN_PART), 4);
    assert_int_equal(fake_told(nodes.all, EVENT_NO_PLAN), 1);
    assert_int_equal(fake_event(nodes.all, EVENT_NO_PLAN)->rank, 0);
    assert_true(words_of_event(&nodes.all->controller, fake_event(nodes.all, EVENT_NO_PLAN), text));
    assert_string_equal(text,
                        "there is no plan for broadcast of 100 bytes with root 2: a test has none");
    ask(&nodes, 1, PACKET_PLAN_ASK, (struct plan_ask_body){.operation = ECUBE_BARRIER});
    assert_int_equal(fake_told(nodes.all, EVENT_NO_PLAN), 2);
    controller_stop(&nodes.all->controller, nodes.all->now_us);
    fake_load_whole(nodes.all);
    controller_run(&nodes.all->controller, nodes.all->now_us);
    fake_settle(nodes.all);
    ask(&nodes, 1, PACKET_PLAN_ASK, broadcast);
    assert_int_equal(fake_told(nodes.all, EVENT_NO_PLAN), 3);
    release(&nodes);
}

/* Of two that are noted before either is answered each has its own words. */
TEST(the_words_of_a_refusal_stay_until_they_are_taken)
{
    struct cache_nodes nodes = running("cube:2", 10);
    struct controller *controller = &nodes.all->controller;
    const struct controller_event *event;

    nodes.cache->status = E_NETWORK;
    nodes.cache->words = NULL;
    note(&nodes, 1, PACKET_PLAN_ASK, 1);
    plans_ask(controller, 2, PACKET_DUE_PLAN, &(struct plan_ask_body){.operation = ECUBE_GATHER});
    controller_step(controller, nodes.all->now_us);
    event = controller_event(controller);
    assert_non_null(event);
    assert_int_equal(event->kind, EVENT_NO_PLAN);
    assert_string_equal((const char *)event->body, "broadcast");
    event = controller_event(controller);
    assert_non_null(event);
    assert_string_equal((const char *)event->body, "gather");
    release(&nodes);
}

TEST(what_no_collective_is_called_with_gets_an_error_and_no_cache_is_asked)
{
    static const struct plan_ask_body wrong[] = {
        {.operation = ECUBE_ALIGN},
        {.operation = ECUBE_OPERATIONS},
        {.operation = 255},
        {.operation = ECUBE_BROADCAST, .root = 4},
        {.operation = ECUBE_BROADCAST, .root = UINT32_MAX},
        {.operation = ECUBE_BROADCAST, .type = ECUBE_INT32},
        {.operation = ECUBE_EXCHANGE, .root = 1},
        {.operation = ECUBE_REDUCE},
        {.operation = ECUBE_REDUCE, .type = 77, .bytes = 8},
        {.operation = ECUBE_REDUCE, .type = ECUBE_DOUBLE, .bytes = 12},
    };
    struct cache_nodes nodes = running("cube:2", 10);
    uint32_t dst;

    for (unsigned i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ask(&nodes, i & 3, PACKET_PLAN_ASK, wrong[i]);
        assert_int_equal(part_sent(&nodes, &dst).status, E_ARGUMENT);
        ask(&nodes, i & 3, PACKET_PREDICT, wrong[i]);
        assert_int_equal(predicted_sent(&nodes).status, E_ARGUMENT);
    }
    assert_int_equal(nodes.cache->asked, 0);
    assert_int_equal(fake_told(nodes.all, EVENT_NO_PLAN), 0);
    release(&nodes);
}

TEST(without_a_cache_there_are_no_plans)
{
    struct cache_nodes nodes = running("cube:2", 10);
    uint32_t dst;

    nodes.all->controller.config.cache = NULL;
    ask(&nodes, 1, PACKET_PLAN_ASK, broadcast);
    assert_int_equal(part_sent(&nodes, &dst).status, E_NETWORK);
    ask(&nodes, 1, PACKET_PREDICT, broadcast);
    assert_int_equal(predicted_sent(&nodes).status, E_NETWORK);
    release(&nodes);
}

TEST(a_question_that_is_cut_short_is_none)
{
    struct cache_nodes nodes = running("cube:2", 10);
    uint8_t body[PLAN_ASK_BYTES];

    plan_ask_pack(body, &broadcast);
    for (uint32_t bytes = 0; bytes < PLAN_ASK_BYTES; bytes++) {
        fake_say(nodes.all, 1, PACKET_PLAN_ASK, body, bytes);
        fake_say(nodes.all, 1, PACKET_PREDICT, body, bytes);
    }
    assert_int_equal(fake_sent(nodes.all, PACKET_PLAN_PART), 0);
    assert_int_equal(fake_sent(nodes.all, PACKET_PREDICTED), 0);
    release(&nodes);
}

/* Its kernel goes on with what the program had begun. */
TEST(a_node_whose_program_has_ended_is_answered)
{
    struct cache_nodes nodes = running("cube:2", 10);

    fake_exit(nodes.all, 1, 0);
    ask(&nodes, 1, PACKET_PLAN_ASK, broadcast);
    assert_int_equal(fake_sent_to(nodes.all, PACKET_PLAN_PART, 1), 1);
    release(&nodes);
}
