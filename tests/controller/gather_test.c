/*
 * The controller asks what programs have left, with nodes that a test plays: what they say twice,
 * cut short, wrong or never.
 */
#include "tests/testing.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"
#include "tests/controller/fake_nodes.h"
#include "wire/gather.h"

enum { PATIENCE_MS = FAKE_PATIENCE_US / 1000, AHEAD = 32, NODE_ROOM = 1000000, LEFT_BYTES = 10 };

/* What nodes send, and where it comes to. */
static uint8_t message[4096], table[64 * OUTPUT_ROW_BYTES], data[64 * LEFT_BYTES];
static _Alignas(8) uint8_t scratch[64 * 1024];

/* All programs have ended, and the gather has begun. */
static struct fake_nodes *begin(const char *network)
{
    struct fake_nodes *all = fake_running(network);

    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        fake_exit(all, rank, 0);
    }
    assert_int_equal(all->controller.phase, PHASE_READY);
    fake_forget(all);
    assert_int_equal(controller_gather(&all->controller, all->now_us), CONTROLLER_OK);
    fake_settle(all);
    return all;
}

static void say_measured(struct fake_nodes *all, uint32_t rank, int32_t status, uint32_t room)
{
    struct measured_body measured = {.name = all->controller.gather.name,
                                     .status = status,
                                     .bytes = LEFT_BYTES,
                                     .room = room,
                                     .model_ns = 1000000 + rank};
    uint8_t body[MEASURED_BYTES];

    measured_pack(body, &measured);
    fake_say(all, rank, PACKET_MEASURED, body, sizeof body);
}

/* All have said how much there is, and the owner has given memory. */
static struct fake_nodes *collecting(const char *network, uint32_t room)
{
    struct fake_nodes *all = begin(network);
    struct controller_outputs outputs = {table, data, scratch};

    assert_true(gather_scratch_bytes(&all->network) <= sizeof scratch);
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        say_measured(all, rank, E_OK, room);
    }
    fake_forget(all);
    controller_collect(&all->controller, &outputs, all->now_us);
    fake_settle(all);
    return all;
}

static struct collect_body last_collect(const struct fake_nodes *all)
{
    const struct fake_packet *packet = fake_last(all, PACKET_COLLECT);
    struct collect_body collect;

    assert_true(collect_unpack(packet->body, packet->bytes, &collect));
    return collect;
}

/* The circuit of a range, whose table says of its nodes what they have said themselves, but for one
 * rank. */
static void send_range(struct fake_nodes *all, uint32_t rank, uint32_t count, uint32_t bytes,
                       uint32_t wrong)
{
    uint32_t root = network_host_root(&all->network, rank), rows = count * OUTPUT_ROW_BYTES;
    struct router *router = &all->routers[network_host_link_of(&all->network, root)];
    uint32_t own = router->id;
    struct circuit_source source = {.dst = ID_HOST,
                                    .match = all->controller.gather.name,
                                    .tag = rows,
                                    .flags = OPEN_IMAGE | OPEN_OUTPUT,
                                    .issue_ns = 1000000,
                                    .data = {message},
                                    .bytes = {rows + bytes}};

    memset(message, 0, sizeof message);
    for (uint32_t i = 0; i < count; i++) {
        struct output_row row = {.rank = rank + i,
                                 .bytes = LEFT_BYTES + (rank + i == wrong ? 1u : 0u)};
        output_row_pack(message + i * OUTPUT_ROW_BYTES, &row);
    }
    router->id = rank;
    assert_int_equal(router_open(router, &source), E_OK);
    fake_settle(all);
    router->id = own;
    fake_settle(all);
}

static void expect_failure(struct fake_nodes *all, enum gather_failure reason, uint32_t rank,
                           const char *words)
{
    const struct controller_event *event = fake_event(all, EVENT_GATHER_FAILED);
    bool breaks = reason == GATHER_SILENT;
    char text[WORDS_MAX];

    assert_int_equal(fake_told(all, EVENT_GATHER_FAILED), 1);
    assert_int_equal(event->reason, reason);
    assert_int_equal(event->rank, rank);
    assert_int_equal(event->phase, breaks ? PHASE_GATHER : PHASE_READY);
    assert_true(words_of_event(&all->controller, event, text));
    assert_string_equal(text, words);
    assert_int_equal(all->controller.phase, PHASE_READY);
    assert_int_equal(fake_told(all, EVENT_BROKEN), breaks);
    assert_int_equal(all->controller.broken, breaks);
    fake_free(all);
}

TEST(each_node_is_asked_once_and_all_have_to_answer)
{
    struct fake_nodes *all = begin("cube:2");

    assert_int_equal(fake_sent(all, PACKET_MEASURE), 4);
    say_measured(all, 3, E_OK, 0);
    say_measured(all, 3, E_OK, 0);    /* once more is not another node */
    say_measured(all, 0, E_FAULT, 0); /* of a piece that is none: that counts nothing there */
    fake_say(all, 1, PACKET_MEASURED, message, MEASURED_BYTES - 1);
    fake_say(all, 1, PACKET_MEASURED, message, MEASURED_BYTES); /* of no gather that there is */
    say_measured(all, 1, E_OK, 0);
    assert_int_equal(fake_told(all, EVENT_MEASURED), 0);
    say_measured(all, 2, E_OK, 0);
    assert_int_equal(fake_told(all, EVENT_MEASURED), 1);
    assert_int_equal(fake_event(all, EVENT_MEASURED)->gather.bytes, 4 * LEFT_BYTES);
    assert_int_equal(fake_event(all, EVENT_MEASURED)->base_ns, 1000003);
    fake_wait_ms(all, 1000);
    assert_int_equal(fake_sent(all, PACKET_MEASURE), 4);
    fake_free(all);
}

TEST(a_gather_is_refused_while_it_cannot_be)
{
    struct fake_nodes *all = fake_make("ring:3");

    assert_int_equal(controller_gather(&all->controller, all->now_us), CONTROLLER_BOOTS);
    fake_free(all);
    all = fake_running("ring:3");
    assert_int_equal(controller_gather(&all->controller, all->now_us), CONTROLLER_BUSY);
    fake_free(all);
    all = begin("ring:3");
    assert_int_equal(controller_gather(&all->controller, all->now_us), CONTROLLER_BUSY);
    assert_int_equal(fake_load(all, false), CONTROLLER_BUSY);
    fake_link_dead(all, 0, 0, DEAD_TIMEOUT);
    fake_wait_ms(all, FAILURE_COLLECT_MS + 1);
    assert_int_equal(fake_event(all, EVENT_BROKEN)->phase, PHASE_GATHER);
    assert_int_equal(controller_gather(&all->controller, all->now_us), CONTROLLER_BROKEN);
    fake_free(all);
}

TEST(a_collect_without_an_answer_is_repeated)
{
    struct fake_nodes *all = collecting("cube:1", 0); /* each by itself */
    uint32_t name = all->controller.gather.name;

    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 0), 1);
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 1), 1);
    fake_wait_ms(all, 300);
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 1), 2);
    fake_reply(all, 1, PACKET_QUEUED, name);
    fake_reply(all, 0, PACKET_QUEUED, name);
    fake_wait_ms(all, 300); /* a grant is answered by the circuit */
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 1), 2);
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 0), 3);
    fake_reply(all, 1, PACKET_RETRY, name);
    fake_wait_ms(all, 20);
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 1), 3);
    assert_int_equal(last_collect(all).stage, COLLECT_BEGIN);
    send_range(all, 0, 1, LEFT_BYTES, 99);
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, 1), 4);
    assert_int_equal(last_collect(all).stage, COLLECT_GRANT);
    send_range(all, 1, 1, LEFT_BYTES, 99);
    assert_int_equal(fake_told(all, EVENT_GATHERED), 1);
    assert_int_equal(fake_told(all, EVENT_GATHER_PROGRESS), 2);
    fake_free(all);
}

TEST(no_more_ranges_collect_than_a_window)
{
    struct fake_nodes *all = collecting("cube:6", 0);

    assert_int_equal(fake_sent(all, PACKET_COLLECT), AHEAD);
    send_range(all, 0, 1, LEFT_BYTES, 99);
    assert_int_equal(fake_sent(all, PACKET_COLLECT), AHEAD + 2); /* and a grant */
    assert_int_equal(fake_sent_to(all, PACKET_COLLECT, AHEAD), 1);
    fake_free(all);
}

TEST(a_circuit_whose_turn_it_is_not_is_refused)
{
    struct fake_nodes *all = collecting("cube:1", 0);

    send_range(all, 1, 1, LEFT_BYTES, 99);
    assert_int_equal(fake_told(all, EVENT_GATHER_FAILED), 0);
    assert_false(all->controller.gather.lanes[0].receiving);
    send_range(all, 0, 1, LEFT_BYTES, 99);
    assert_int_equal(all->controller.gather.lanes[0].rank, 1);
    fake_free(all);
}

TEST(a_range_of_another_length_ends_it_with_the_name_of_its_root)
{
    struct fake_nodes *all = collecting("cube:1", 0);

    send_range(all, 0, 1, LEFT_BYTES + 1, 99);
    expect_failure(all, GATHER_WRONG, 0,
                   "the output of node 0 (rank 0) is another than it has said that it has");
}

TEST(a_row_that_says_another_length_ends_it_with_the_name_of_its_node)
{
    struct fake_nodes *all = collecting("cube:2", NODE_ROOM);
    uint32_t at = 0, count;

    while ((count = gather_range(&all->network, &all->controller.gather.plan, at)) == 1) {
        send_range(all, at, 1, LEFT_BYTES, 99);
        at++;
    }
    send_range(all, at, count, count * LEFT_BYTES, at + 1);
    char words[WORDS_MAX];
    snprintf(words, sizeof words,
             "the output of node %u (rank %u) is another than it has said that it has", at + 1,
             at + 1);
    expect_failure(all, GATHER_WRONG, at + 1, words);
}

TEST(a_node_that_cannot_collect_ends_it_with_its_name)
{
    struct fake_nodes *all = collecting("cube:1", 0);

    say_measured(all, 1, E_NO_ROOM, 0);
    expect_failure(all, GATHER_ERROR, 1,
                   "the outputs did not come: node 1 (rank 1): does not fit the program region");
    all = collecting("cube:1", 0);
    fake_reply(all, 1, PACKET_CANCEL, all->controller.gather.name);
    expect_failure(all, GATHER_REFUSED, 1, "node 1 (rank 1) refused to collect outputs");
}

TEST(a_node_that_is_silent_in_a_gather_breaks_the_machine)
{
    struct fake_nodes *all = begin("ring:3");

    say_measured(all, 0, E_OK, 0);
    say_measured(all, 2, E_OK, 0);
    fake_pass_ms(all, 2000);
    assert_int_equal(fake_sent_to(all, PACKET_QUERY, 1), 1);
    fake_pass_ms(all, PATIENCE_MS * 3 / 2);
    expect_failure(all, GATHER_SILENT, 1,
                   "the outputs did not come: node 1 (rank 1) has not answered for 15 s "
                   "(--patience), 0 of 3 outputs");
}

TEST(a_gather_that_is_given_up_says_how_far_it_came)
{
    struct fake_nodes *all = collecting("cube:1", 0);

    send_range(all, 0, 1, LEFT_BYTES, 99);
    controller_time_out(&all->controller, all->now_us);
    fake_settle(all);
    expect_failure(all, GATHER_STOPPED, 1, "the outputs were given up: 1 of 2 had come");
}
