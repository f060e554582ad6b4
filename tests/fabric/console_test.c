/*
 * console_test.c - console text and its reader, on cube:1: a node holds its program back when
 * CONSOLE_WINDOW bytes are not taken, and says what it waits for; what is written arrives whole, in
 * order, each byte on its stream.
 */
#include <string.h>

#include "drivers/status.h"
#include "router/router.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

enum { BYTES = 40000 };

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct memory_fault no_fault;

/* What the host has heard of node 1's text. */
struct heard {
    uint32_t bytes[3]; /* by stream */
    uint8_t text[2 * BYTES];
};

static struct fabric *started(uint64_t seed)
{
    struct fabric *fabric = fabric_make(1, BYTES, seed, no_fault, ipsc860);
    uint8_t *data = fabric_at(fabric, 1, FABRIC_DATA);

    assert_true(fabric_start(fabric));
    for (unsigned i = 0; i < BYTES; i++) {
        data[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    return fabric;
}

static enum node_verdict write_text(struct fabric *fabric, uint32_t at, uint32_t bytes,
                                    uint32_t stream, int32_t *result)
{
    uint32_t arguments[4] = {FABRIC_DATA + at, bytes, stream};

    return node_call(fabric->nodes[1].node, fabric->now_us, ECUBE_CALL_WRITE, arguments, result);
}

/* Takes what has come out of the host's events. */
static void listen(struct fabric *fabric, struct heard *heard)
{
    uint32_t all = heard->bytes[1] + heard->bytes[2];

    fabric_settle(fabric);
    for (unsigned i = 0; i < fabric->event_count; i++) {
        const struct fabric_event *event = &fabric->events[i];
        if (event->kind != PACKET_CONSOLE) {
            continue;
        }
        assert_true(event->bytes > 1 && event->bytes <= SLOT_BODY_MAX);
        struct console_body console;
        assert_true(console_unpack(event->body, event->bytes, &console));
        assert_true(console.stream == ECUBE_STREAM_OUTPUT || console.stream == ECUBE_STREAM_ERROR);
        memcpy(heard->text + all, console.text, console.text_bytes);
        heard->bytes[console.stream] += console.text_bytes;
        all += console.text_bytes;
    }
    fabric->event_count = 0;
}

static void take(struct fabric *fabric, uint32_t bytes, unsigned run)
{
    uint8_t body[TAKEN_BYTES];

    taken_pack(body, &(struct taken_body){bytes, (uint8_t)run});
    assert_int_equal(router_send(&fabric->controller.router, PACKET_TAKEN, 1, body, sizeof body),
                     E_OK);
    fabric_settle(fabric);
}

/* Writes as far as the node takes it; true: all. */
static bool write_all(struct fabric *fabric, struct heard *heard, uint32_t *done, uint32_t bytes)
{
    while (*done < bytes) {
        int32_t taken;
        enum node_verdict verdict =
            write_text(fabric, *done, bytes - *done, ECUBE_STREAM_OUTPUT, &taken);
        listen(fabric, heard);
        if (verdict == NODE_BLOCK) {
            verdict = node_resume(fabric->nodes[1].node, fabric->now_us, &taken);
        }
        if (verdict == NODE_BLOCK) {
            return false;
        }
        assert_true(taken > 0);
        *done += (uint32_t)taken;
        assert_true(router_slots_free(&fabric->nodes[1].node->router) >= REPLY_SLOTS);
        listen(fabric, heard);
    }
    return true;
}

static uint8_t wait_of(struct fabric *fabric)
{
    assert_int_equal(router_send(&fabric->controller.router, PACKET_QUERY, 1, NULL, 0), E_OK);
    fabric_settle(fabric);
    uint8_t wait = fabric_heard_state(fabric).wait;
    fabric->event_count = 0;
    return wait;
}

TEST(text_ahead_of_its_reader_holds_the_program_back)
{
    struct fabric *fabric = started(1);
    struct heard heard = {0};
    uint32_t done = 0, taken = 0;

    while (!write_all(fabric, &heard, &done, BYTES)) {
        assert_int_equal(done, taken + CONSOLE_WINDOW);
        assert_int_equal(heard.bytes[1], done);
        assert_int_equal(wait_of(fabric), WAIT_READER);
        taken += 5000;
        take(fabric, taken, fabric->runs);
    }
    assert_true(taken >= BYTES - CONSOLE_WINDOW); /* it was held back that often */
    assert_int_equal(heard.bytes[1], BYTES);
    assert_memory_equal(heard.text, fabric_at(fabric, 1, FABRIC_DATA), BYTES);
    assert_int_equal(wait_of(fabric), WAIT_NOTHING);
    fabric_free(fabric);
}

TEST(each_stream_keeps_its_name)
{
    struct fabric *fabric = started(2);
    struct heard heard = {0};
    int32_t taken;

    assert_int_equal(write_text(fabric, 0, 10, ECUBE_STREAM_ERROR, &taken), NODE_RESUME);
    assert_int_equal(taken, 10);
    assert_int_equal(write_text(fabric, 10, 300, ECUBE_STREAM_OUTPUT, &taken), NODE_RESUME);
    assert_int_equal(taken, 300);
    listen(fabric, &heard);
    assert_int_equal(heard.bytes[2], 10);
    assert_int_equal(heard.bytes[1], 300);
    assert_memory_equal(heard.text, fabric_at(fabric, 1, FABRIC_DATA), 310);
    fabric_free(fabric);
}

TEST(what_was_not_sent_cannot_be_taken)
{
    struct fabric *fabric = started(3);
    struct heard heard = {0};
    uint32_t done = 0;

    assert_true(write_all(fabric, &heard, &done, 100));
    take(fabric, 101, fabric->runs);
    assert_int_equal(fabric->nodes[1].node->console_taken, 0);
    take(fabric, 60, fabric->runs + 1u);
    assert_int_equal(fabric->nodes[1].node->console_taken, 0);
    take(fabric, 60, fabric->runs);
    take(fabric, 50, fabric->runs);
    assert_int_equal(fabric->nodes[1].node->console_taken, 60);
    fabric_free(fabric);
}

TEST(a_new_program_finds_a_full_window)
{
    struct fabric *fabric = started(4);
    struct heard heard = {0};
    uint32_t done = 0, arguments[4] = {0};
    int32_t result;

    assert_false(write_all(fabric, &heard, &done, BYTES));
    for (unsigned rank = 0; rank < 2; rank++) {
        node_call(fabric->nodes[rank].node, fabric->now_us, ECUBE_CALL_EXIT, arguments, &result);
    }
    fabric_settle(fabric);
    assert_true(fabric_load(fabric));
    take(fabric, 10000, fabric->runs - 1u); /* of the program before */
    done = 0;
    heard = (struct heard){0};
    fabric->event_count = 0;
    assert_false(write_all(fabric, &heard, &done, BYTES));
    assert_int_equal(done, CONSOLE_WINDOW);
    fabric_free(fabric);
}
