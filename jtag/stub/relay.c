/*
 * relay.c - reads what passes between a GDB and a stub, and changes as little of it as it can.
 *
 * Packets that let the node run, step, reset or leave it are known by their beginning (classify);
 * all others pass as they are. Answered here instead of by the stub: packets while the node runs,
 * those of a GDB that is refused, and those that would run where no memory is.
 */
#include "jtag/stub/relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jtag/stub/stub.h"

enum { PC_NUMBER = 15, MMU_ON = 1, WORD_DIGITS = 8 };

static const char stopped_by_user[] = "T02thread:01;";

void relay_init(struct relay *relay, const struct relay_owner *owner)
{
    memset(relay, 0, sizeof *relay);
    relay->owner = *owner;
}

void relay_attach(struct relay *relay, const struct relay_guard *guard)
{
    relay->guard = *guard;
    relay->state = RELAY_HALTED;
}

void relay_refuse(struct relay *relay, const char *words)
{
    snprintf(relay->words, sizeof relay->words, "%s", words);
    relay->state = RELAY_REFUSED;
}

bool relay_waits(const struct relay *relay)
{
    return relay->state == RELAY_ASKED || relay->state == RELAY_LOOKING;
}

static void say(struct relay *relay, const char *bytes, size_t count)
{
    relay->owner.say(relay->owner.context, bytes, count);
}

static void reply(struct relay *relay, const char *packet, size_t bytes)
{
    relay->last_bytes = rsp_frame(relay->last, packet, bytes);
    say(relay, relay->last, relay->last_bytes);
}

static void reply_text(struct relay *relay, const char *text)
{
    reply(relay, text, strlen(text));
}

static void ask(struct relay *relay, const char *packet, size_t bytes)
{
    relay->owner.ask(relay->owner.context, packet, bytes);
}

/* From GDB ------------------------------------------------------------------------------------ */

static bool begins(const char *packet, const char *with)
{
    return strncmp(packet, with, strlen(with)) == 0;
}

static enum relay_kind classify(const char *packet)
{
    static const char reset[] = "qRcmd,73797374656d5f7265736574"; /* system_reset */

    if (begins(packet, "vCont;")) {
        return packet[6] == 's' || packet[6] == 'S' ? RELAY_STEP : RELAY_RUN;
    }
    switch (packet[0]) {
    case 'c':
    case 'C': return RELAY_RUN;
    case 's':
    case 'S': return RELAY_STEP;
    case 'D': return RELAY_DETACH;
    case '?': return RELAY_QUESTION;
    default: break;
    }
    if (begins(packet, "vAttach") || begins(packet, "vRun")) {
        return RELAY_QUESTION;
    }
    return strcmp(packet, reset) == 0 ? RELAY_RESET : RELAY_REQUEST;
}

static bool runs(enum relay_kind kind)
{
    return kind == RELAY_RUN || kind == RELAY_STEP || kind == RELAY_DETACH;
}

static void pass(struct relay *relay, const char *packet, size_t bytes)
{
    bool goes_on = relay->kind == RELAY_RUN || relay->kind == RELAY_STEP;

    relay->state = goes_on ? RELAY_RUNNING : RELAY_ASKED;
    ask(relay, packet, bytes);
}

static void look(struct relay *relay, unsigned number)
{
    char text[16];
    int bytes = snprintf(text, sizeof text, "p%x", number);

    relay->state = RELAY_LOOKING;
    ask(relay, text, (size_t)bytes);
}

static void take_request(struct relay *relay)
{
    const struct rsp_reader *reader = &relay->reader;

    relay->kind = classify(reader->packet);
    if (relay->guard.guarded && runs(relay->kind)) {
        memcpy(relay->kept, reader->packet, reader->bytes);
        relay->kept_bytes = reader->bytes;
        relay->knows_place = false;
        look(relay, PC_NUMBER);
        return;
    }
    pass(relay, reader->packet, reader->bytes);
}

/* Of a failed qSupported GDB only warns; the second packet's failure it shows, and gives up. */
static void take_refused(struct relay *relay)
{
    const char *packet = relay->reader.packet;
    char text[RELAY_WORDS_MAX + 2];

    snprintf(text, sizeof text, "%s%s", begins(packet, "vMustReplyEmpty") ? "" : "E.",
             relay->words);
    reply_text(relay, begins(packet, "qSupported") ? "" : text);
}

/* GDB believes that the node runs. */
static void take_lost(struct relay *relay)
{
    bool detaches = classify(relay->reader.packet) == RELAY_DETACH;

    reply_text(relay, detaches ? "OK" : "E01");
    relay->state = detaches ? RELAY_OVER : RELAY_LOST;
}

static void take_packet(struct relay *relay)
{
    say(relay, "+", 1);
    switch (relay->state) {
    case RELAY_HALTED: take_request(relay); break;
    case RELAY_REFUSED: take_refused(relay); break;
    case RELAY_LOST: take_lost(relay); break;
    default: reply_text(relay, "E01"); break;
    }
}

static void take_break(struct relay *relay)
{
    if (relay->state == RELAY_RUNNING) {
        relay->owner.interrupt(relay->owner.context);
    } else if (relay->state == RELAY_LOST) {
        relay->lost = false;
        reply_text(relay, stopped_by_user);
        relay->state = RELAY_HALTED;
    }
}

static bool listens(const struct relay *relay)
{
    return relay->state != RELAY_WAITING && !relay_waits(relay);
}

size_t relay_feed(struct relay *relay, const char *bytes, size_t count)
{
    size_t used = 0;

    while (used < count && listens(relay)) {
        switch (rsp_feed(&relay->reader, (uint8_t)bytes[used++])) {
        case RSP_PACKET: take_packet(relay); break;
        case RSP_DAMAGED: say(relay, "-", 1); break;
        case RSP_NAK: say(relay, relay->last, relay->last_bytes); break;
        case RSP_BREAK: take_break(relay); break;
        default: break;
        }
    }
    return used;
}

/* From the stub ------------------------------------------------------------------------------- */

static bool lies_in_memory(const struct relay *relay)
{
    return relay->place - relay->guard.ram_base < relay->guard.ram_bytes;
}

/* The node is told to run where nothing is. */
static void lose(struct relay *relay)
{
    relay->lost = true;
    relay->state = RELAY_LOST;
    if (relay->kind == RELAY_DETACH) {
        reply_text(relay, "OK");
        relay->state = RELAY_OVER;
    }
}

static void take_look(struct relay *relay, const char *packet, size_t bytes)
{
    uint32_t value = 0;
    bool known = bytes == WORD_DIGITS && rsp_from_hex(&value, sizeof value, packet);

    if (!relay->knows_place) {
        relay->knows_place = true;
        relay->place = value;
        if (!known || !lies_in_memory(relay)) {
            look(relay, relay->guard.control_register);
            return;
        }
    } else if (!known || !(value & MMU_ON)) {
        lose(relay);
        return;
    }
    pass(relay, relay->kept, relay->kept_bytes);
}

static bool is_words(const char *packet)
{
    return packet[0] == 'O' && packet[1] != 'K';
}

static void take_answer(struct relay *relay, const char *packet, size_t bytes)
{
    bool ok = strcmp(packet, "OK") == 0;

    if (relay->kind != RELAY_QUESTION && stub_is_stop(packet) && packet[0] != 'W') {
        return; /* late news of a stop that is known */
    }
    reply(relay, packet, bytes);
    if (is_words(packet)) {
        return;
    }
    if (relay->kind == RELAY_RESET && ok) {
        relay->owner.was_reset(relay->owner.context);
    }
    relay->state = relay->kind == RELAY_DETACH && ok ? RELAY_OVER : RELAY_HALTED;
}

static void take_news(struct relay *relay, const char *packet, size_t bytes)
{
    reply(relay, packet, bytes);
    if (!is_words(packet)) {
        relay->state = RELAY_HALTED;
    }
}

void relay_answer(struct relay *relay, const char *packet, size_t bytes)
{
    switch (relay->state) {
    case RELAY_LOOKING: take_look(relay, packet, bytes); break;
    case RELAY_ASKED: take_answer(relay, packet, bytes); break;
    case RELAY_RUNNING: take_news(relay, packet, bytes); break;
    default: break; /* late news of a stop */
    }
}
