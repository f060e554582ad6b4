/*
 * history.c - the last frames that were shown to a receiver, in words.
 */
#include "sim/observe/history.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/core/state.h"
#include "wire/circuit.h"
#include "wire/collective.h"
#include "wire/message.h"
#include "wire/plan.h"
#include "wire/report.h"
#include "wire/run.h"

void history_add(struct sim *sim, const struct sim_end *end, const struct chunk *chunk)
{
    struct history *entry = &sim->history[sim->history_count++ % SIM_HISTORY_MAX];
    uint32_t bytes = chunk->bytes < sizeof entry->head ? chunk->bytes : sizeof entry->head;

    *entry = (struct history){.event = sim_events(sim),
                              .model_ns = sim->now_ns,
                              .from = end->peer->actor,
                              .to = end->actor,
                              .bytes = chunk->bytes};
    memcpy(entry->head, chunk->data, bytes);
}

static void actor_text(const struct sim *sim, uint32_t actor, char text[16])
{
    if (actor == sim->count) {
        snprintf(text, 16, "host");
    } else {
        snprintf(text, 16, "node %u", actor);
    }
}

static const char *packet_name(uint8_t kind)
{
    static const char *const names[] = {[PACKET_OPEN] = "OPEN",
                                        [PACKET_ACCEPT] = "ACCEPT",
                                        [PACKET_REFUSE] = "REFUSE",
                                        [PACKET_RTS] = "RTS",
                                        [PACKET_QUEUED] = "QUEUED",
                                        [PACKET_RETRY] = "RETRY",
                                        [PACKET_CTS] = "CTS",
                                        [PACKET_CANCEL] = "CANCEL",
                                        [PACKET_ENTER] = "ENTER",
                                        [PACKET_OFFER] = "OFFER",
                                        [PACKET_START] = "START",
                                        [PACKET_STOP] = "STOP",
                                        [PACKET_EXIT] = "EXIT",
                                        [PACKET_RECEIPT] = "RECEIPT",
                                        [PACKET_LINKS] = "LINKS",
                                        [PACKET_LINK_DEAD] = "LINK_DEAD",
                                        [PACKET_DISAGREE] = "DISAGREE",
                                        [PACKET_ENTERED] = "ENTERED",
                                        [PACKET_PLAN_PART] = "PLAN_PART",
                                        [PACKET_PREDICTED] = "PREDICTED",
                                        [PACKET_PLAN_ASK] = "PLAN_ASK",
                                        [PACKET_PREDICT] = "PREDICT"};

    return kind < sizeof names / sizeof names[0] && names[kind] ? names[kind] : "packet";
}

/* What is in a frame: its kind, and for a packet whose it is. */
static void frame_text(const struct sim *sim, const struct history *entry, char *text, size_t room)
{
    const uint8_t *head = entry->head, *packet = head + FRAME_HEADER_BYTES;
    unsigned seq = frame_seq(head), ack = frame_ack(head);
    char from[16], to[16];

    if (entry->bytes < FRAME_HEADER_BYTES || !frame_begins(head)) {
        snprintf(text, room, "%u bytes", entry->bytes);
        return;
    }
    switch (frame_type(head)) {
    case FRAME_DATA:
        snprintf(text, room, "DATA, frame %u, %u bytes%s", seq, frame_length(head),
                 frame_flags(head) & FLAG_ABORT  ? ", cut short"
                 : frame_flags(head) & FLAG_LAST ? ", the last"
                                                 : "");
        return;
    case FRAME_HELLO: snprintf(text, room, "HELLO"); return;
    case FRAME_ACK: snprintf(text, room, "ACK up to frame %u", ack); return;
    case FRAME_NAK: snprintf(text, room, "NAK from frame %u", ack); return;
    default: break;
    }
    if (packet_kind(packet) == PACKET_ACCEPT || packet_kind(packet) == PACKET_REFUSE) {
        snprintf(text, room, "%s, frame %u", packet_name(packet_kind(packet)), seq);
        return;
    }
    actor_text(sim, packet_src(packet) == ID_HOST ? sim->count : packet_src(packet), from);
    actor_text(sim, packet_dst(packet) == ID_HOST ? sim->count : packet_dst(packet), to);
    snprintf(text, room, "%s of %s for %s, frame %u", packet_name(packet_kind(packet)), from, to,
             seq);
}

unsigned sim_history(const struct sim *sim, char (*text)[SIM_TEXT_MAX], unsigned lines)
{
    uint64_t count = sim->history_count;
    uint64_t kept = count < SIM_HISTORY_MAX ? count : SIM_HISTORY_MAX;

    if (lines > kept) {
        lines = (unsigned)kept;
    }
    for (unsigned i = 0; i < lines; i++) {
        const struct history *entry = &sim->history[(count - lines + i) % SIM_HISTORY_MAX];
        char from[16], to[16], what[128];
        actor_text(sim, entry->from, from);
        actor_text(sim, entry->to, to);
        frame_text(sim, entry, what, sizeof what);
        snprintf(text[i], SIM_TEXT_MAX, "event %" PRIu64 ", %.3f us: %s to %s: %s", entry->event,
                 (double)entry->model_ns / 1e3, from, to, what);
    }
    return lines;
}
