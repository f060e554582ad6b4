/*
 * relay_fuzz.c - a GDB's socket: its bytes go to a node's stub, for which the fuzzer answers.
 *
 * Whatever comes in: the stub gets one packet at a time; GDB gets acknowledgements and whole
 * packets; a guarded node is never told to run before it was looked at; and the relay waits only
 * for answers.
 */
#include <string.h>

#include "drivers/check.h"
#include "fuzz/fuzz.h"
#include "jtag/stub/relay.h"

enum { ANSWER = 0xff, CHUNK_MAX = 255, SCTLR = 0xb5 };

static struct relay relay;
static struct rsp_reader judge;
static bool asked, interrupted;

static void on_say(void *context, const char *bytes, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++) {
        enum rsp_event event = rsp_feed(&judge, (uint8_t)bytes[i]);

        CHECK(event != RSP_DAMAGED && event != RSP_BREAK);
    }
    CHECK(judge.state == RSP_BETWEEN);
}

static bool runs(const char *packet)
{
    return strchr("cCsSD", packet[0]) != NULL || strncmp(packet, "vCont;", 6) == 0;
}

static void on_ask(void *context, const char *packet, size_t bytes)
{
    (void)context;
    CHECK(!asked && bytes <= RSP_PACKET_MAX);
    asked = true;
    if (bytes > 0 && packet[0] != '\0' && runs(packet)) {
        CHECK(!relay.guard.guarded || relay.knows_place);
    }
}

static void on_interrupt(void *context)
{
    (void)context;
    CHECK(relay.state == RELAY_RUNNING);
    interrupted = true;
}

static void on_reset(void *context)
{
    (void)context;
}

/* The stub says something: what a packet can hold, up to a zero or what would end it. */
static void answer(const uint8_t *data, size_t size)
{
    char text[CHUNK_MAX + 1];

    memcpy(text, data, size);
    text[size] = '\0';
    text[strcspn(text, "$#")] = '\0';
    asked = false;
    relay_answer(&relay, text, strlen(text));
}

static void settle(void)
{
    for (unsigned i = 0; i < 4 && relay_waits(&relay); i++) {
        answer((const uint8_t *)"E01", 3);
    }
    CHECK(!relay_waits(&relay));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct relay_owner owner = {
        .say = on_say, .ask = on_ask, .interrupt = on_interrupt, .was_reset = on_reset};
    struct relay_guard guard = {.guarded = size > 0 && data[0] & 1,
                                .ram_base = 0x40000000,
                                .ram_bytes = 0x1000,
                                .control_register = SCTLR};

    if (size > FUZZ_INPUT_MAX) {
        return 0;
    }
    relay_init(&relay, &owner);
    memset(&judge, 0, sizeof judge);
    asked = interrupted = false;
    if (size > 0 && data[0] & 2) {
        relay_refuse(&relay, "node 5 is held by another");
    } else {
        relay_attach(&relay, &guard);
    }
    for (size_t at = 1; at < size;) {
        size_t bytes = data[at] == ANSWER && at + 1 < size ? data[at + 1] : 0;

        if (data[at] == ANSWER) {
            at += 2;
            bytes = at > size ? 0 : bytes > size - at ? size - at : bytes;
            answer(data + at, bytes);
            at += bytes;
        } else {
            if (relay_waits(&relay)) {
                settle();
            }
            asked = false;
            CHECK(relay_feed(&relay, (const char *)data + at, 1) == 1);
            at++;
        }
    }
    settle();
    return 0;
}
