/*
 * source.c - the circuits that begin at this node.
 *
 * A source's OPEN is written when it is asked for, and changes only where it passes the first link.
 * Hop list and short message are copied behind it as far as they fit: one segment costs less than
 * two. What does not fit is sent from where its owner keeps it.
 *
 * A path is a list of hops in the OPEN of a schedule's circuit, or of one with a route of its own:
 * a port, or "as the network goes", and a turn for each, found by the hops that the OPEN has
 * passed. So a link needs no number that all nodes know, and other OPENs are short. Refused: taking
 * entries off at each hop, which would move the message that rides behind them.
 *
 * A message may be given in portions. The next is asked for when all bytes given so far have been
 * handed to the link and all portions but the last have been acknowledged: an owner with memory for
 * two fills one while the other is under way.
 *
 *     given    | 1 | 2 |        | 3 |            memory of 1 is free for 3, of 2 for 4
 *     handed   | 1 |   2 |          | 3 |
 *     acknowledged   | 1     | 2         | 3
 *     asked        ^       ^            ^
 */
#include "router/source.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "router/channel.h"
#include "router/channel_send.h"
#include "router/circuit_state.h"
#include "router/circuit.h"
#include "router/identity.h"
#include "router/notice.h"
#include "router/packet.h"
#include "router/port.h"
#include "router/recorder.h"
#include "router/segment.h"
#include "router/stream.h"
#include "router/due.h"
#include "wire/circuit.h"
#include "wire/crc.h"
#include "wire/packet.h"

/* The only place where a source's state changes. */
static void enter(struct source *source, enum source_state next)
{
    CHECK(source_follows(source->state, next));
    source->state = (uint8_t)next;
}

/* Whether a circuit may be started before those ahead of it are answered. When this node has
 * completed a schedule since, a hop could refuse the later one for it (rule 5) and let the earlier
 * one pass: that answer would be taken for the earlier one's. */
static bool may_open(const struct router *router, const struct circuit_source *circuit)
{
    if (router->opening_count == 0) {
        return true;
    }
    const struct source *first = &router->sources[router->opening[0]];
    return router->opening_count < CIRCUITS_MAX && first->circuit.dst == circuit->dst &&
           circuit_chains(first->circuit.flags) && circuit_chains(circuit->flags) &&
           open_epoch(first->open + FRAME_HEADER_BYTES) == router->schedules_done;
}

/* Over which port a circuit begins: a route of its own comes before the network's way. */
static unsigned first_hop(const struct router *router, const struct circuit_source *circuit)
{
    if (open_has_hops(circuit->flags)) {
        CHECK(circuit->hops && hop_list_count(circuit->hops) > 0);
        unsigned port = hop_list_at(circuit->hops, 0).port;
        if (port != HOP_DIMENSION_ORDER) {
            return port;
        }
    }
    return router_next_hop(router, circuit->dst);
}

/* Writes a source's OPEN, but for what is sent from where it lies. */
static void write_open(const struct router *router, struct source *source)
{
    const struct circuit_source *circuit = &source->circuit;
    uint8_t *packet = source->open + FRAME_HEADER_BYTES;
    uint32_t inlined = circuit->flags & OPEN_INLINE ? source->length : 0;
    unsigned place = identity_port(router, circuit->port);
    struct open_body open = {.length = source->length,
                             .match = circuit->match,
                             .tag = circuit->tag,
                             .epoch = circuit->flags & OPEN_SCHEDULE ? circuit->epoch
                                                                     : router->schedules_done,
                             .flags = circuit->flags,
                             .generation = circuit->generation,
                             .clock_ns = circuit->issue_ns + identity_xi(router, circuit->dst),
                             .free_ns = place < CLOCK_PORTS_MAX ? router->send_free_ns[place] : 0};
    packet_pack(packet, PACKET_OPEN, OPEN_BODY_BYTES + source->list_bytes + inlined, router->id,
                circuit->dst);
    open_pack(packet, &open);
    if (source->list_bytes > OPEN_COPY_MAX) {
        hop_list_pack(packet + OPEN_BYTES, NULL, 0);
    } else if (source->list_bytes > 0) {
        memcpy(packet + OPEN_BYTES, circuit->hops, source->list_bytes);
    }
}

/* A source before any byte of it has moved; its OPEN is not written yet. */
static void begin(struct source *source, const struct circuit_source *circuit, unsigned out,
                  uint32_t stamp)
{
    uint32_t listed = open_has_hops(circuit->flags) ? hop_list_bytes(circuit->hops) : 0;
    uint32_t given = circuit->bytes[0] + circuit->bytes[1];

    enter(source, SOURCE_WAITING);
    *source = (struct source){.state = source->state,
                              .out = (uint8_t)out,
                              .length = given + circuit->more,
                              .given = given,
                              .list_bytes = (uint16_t)listed,
                              .stamp = stamp,
                              .circuit = *circuit,
                              .open = source->open};
    CHECK(listed <= HOP_LIST_BYTES_MAX && source->length >= given);
    CHECK(!(circuit->flags & OPEN_INLINE) ||
          (circuit->more == 0 && given <= open_inline_max(listed)));
}

/* Nothing goes out here: the OPEN waits for its turn among those that other nodes have sent. */
int source_open(struct router *router, const struct circuit_source *circuit)
{
    unsigned out = first_hop(router, circuit);

    if (!may_open(router, circuit)) {
        return E_FULL;
    }
    if (out >= router->port_count) {
        return E_LINK_DEAD;
    }
    unsigned number = (unsigned)__builtin_ctz(~router->sources_used);
    if (number >= SOURCES_MAX) {
        return E_FULL;
    }
    struct source *source = &router->sources[number];
    begin(source, circuit, out, router->stamp++);
    router->opening[router->opening_count++] = (uint8_t)number;
    due_source_taken(router, number);
    due_own_waits(router);
    write_open(router, source);
    return E_OK;
}

/* A piece of an OPEN that lies elsewhere. */
static void add_piece(struct channel *channel, unsigned *count, struct segment segment,
                      const uint8_t *data, uint32_t bytes)
{
    segment.data = data;
    segment.bytes = bytes;
    *channel_place(channel, (*count)++) = segment;
}

/* Queues the OPEN of a source on its link, in as many pieces as it lies in. */
static void queue_open(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];
    const struct circuit_source *circuit = &source->circuit;
    uint8_t *packet = source->open + FRAME_HEADER_BYTES;
    struct channel *channel = &router->ports[source->out].channel;
    struct segment segment = {.owner = OWNER_SOURCE, .number = (uint16_t)number};
    uint32_t listed = source->list_bytes;
    uint32_t inlined = circuit->flags & OPEN_INLINE ? source->length : 0;
    bool list_copied = listed <= OPEN_COPY_MAX, inline_copied = listed + inlined <= OPEN_COPY_MAX;
    uint32_t own = OPEN_BYTES + (list_copied ? listed : 0);
    unsigned count = 0;

    if (inlined && inline_copied) {
        memcpy(packet + own, circuit->data[0], inlined);
    }
    own += inline_copied ? inlined : 0;
    add_piece(channel, &count, segment, source->open, FRAME_HEADER_BYTES + own);
    if (!list_copied) {
        add_piece(channel, &count, segment, circuit->hops, listed);
    }
    if (inlined && !inline_copied) {
        add_piece(channel, &count, segment, circuit->data[0], inlined);
    }
    if (router->payload_checked) {
        uint8_t *check = packet + own + (list_copied ? 0 : HOP_LIST_BYTES);
        uint32_t crc = crc32_add(frame_payload_start(channel->seq_next), packet, own);
        crc = list_copied ? crc : crc32_add(crc, circuit->hops, listed);
        crc = inline_copied ? crc : crc32_add(crc, circuit->data[0], inlined);
        frame_put_check(check, crc);
        add_piece(channel, &count, segment, check, FRAME_CHECK_BYTES);
    }
    source->unacknowledged += count;
    source->portion_segments += count; /* it need not be acknowledged before the second portion */
    channel_queue(channel, &router->due, FRAME_PACKET, router->payload_checked ? FLAG_CHECKED : 0,
                  OPEN_BYTES + listed + inlined, count);
}

/* setup.c has found the link free, and room for all pieces. */
void source_pass(struct router *router)
{
    unsigned number = router->opening[router->opening_passed++];

    enter(&router->sources[number], SOURCE_OPENED);
    queue_open(router, number);
    if (source_is_empty(&router->sources[number])) {
        due_source_done(router, number);
    }
}

/* Whether a source's bytes go over its link, when it is the oldest there. */
static bool flows(const struct source *source)
{
    return source->state == SOURCE_FLOWING ||
           (source->state == SOURCE_OPENED && stream_early(source->circuit.flags));
}

/* One that has been refused is told of as over, so its owner is not asked for more; what has gone
 * out already must be ended all the same. */
bool source_is_cut(const struct source *source)
{
    return source->cut || (source->refused && source->given < source->length);
}

bool source_is_empty(const struct source *source)
{
    return flows(source) && source->moved == source->given && source->given < source->length &&
           !source->asked && !source_is_cut(source) &&
           source->unacknowledged <= source->portion_segments;
}

/* All three: a segment that is not acknowledged is still read when it is sent again, and an answer
 * that is still to come would be taken for the next source's of this number. */
bool source_is_done(const struct router *router, unsigned number)
{
    const struct source *source = &router->sources[number];

    if (source->state != SOURCE_DRAINING || source->unacknowledged) {
        return false;
    }
    for (unsigned i = 0; i < router->opening_count; i++) {
        if (router->opening[i] == number) {
            return false;
        }
    }
    return true;
}

/* Where a source ends: its memory is its owner's again. Of one that was refused nothing remained,
 * which has been told. */
static void source_close(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];
    bool whole = source->moved == source->length || source->circuit.flags & OPEN_INLINE;

    if (!source->refused) {
        *notice_add(router) = (struct notice){.kind = NOTICE_SENT,
                                              .token = source->circuit.token,
                                              .status = whole ? E_OK : E_LINK_DEAD};
    }
    enter(source, SOURCE_FREE);
    due_source_free(router, number);
}

/* Closes a source if it has nothing more under way; without room for the notice it stays due. */
static void close_if_done(struct router *router, unsigned number)
{
    due_source_seen(router, number);
    if (!source_is_done(router, number)) {
        return;
    }
    if (router->sources[number].refused || notice_room(router)) {
        source_close(router, number);
    } else {
        due_source_done(router, number);
    }
}

/* The same of one that may be empty, when its owner can be asked. */
static void ask_if_empty(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];

    if (!source_is_empty(source)) {
        return;
    }
    if (!notice_room(router)) {
        due_source_done(router, number);
        return;
    }
    source->asked = true;
    *notice_add(router) = (struct notice){.kind = NOTICE_FEED, .token = source->circuit.token};
}

/* It has an answer: those behind it move up. */
static void leave_opening(struct router *router, unsigned index)
{
    router->opening_count--;
    if (index < router->opening_passed) {
        router->opening_passed--;
    }
    for (unsigned i = index; i < router->opening_count; i++) {
        router->opening[i] = router->opening[i + 1];
    }
}

/* Whether bytes follow an answer: a schedule's that has been refused on its way has sent some. */
static bool bytes_follow(const struct source *source, int status)
{
    uint8_t flags = source->circuit.flags;

    return status == E_OK ? !(flags & OPEN_INLINE)
                          : stream_early(flags) && source->state != SOURCE_WAITING;
}

/* The owner hears of the answer at once, of the memory when the last segment is acknowledged. One
 * that was refused before it was sent closes here: nothing of it is under way. */
bool source_answer(struct router *router, unsigned index, int status, struct accept_body accept)
{
    unsigned number = router->opening[index];
    struct source *source = &router->sources[number];
    bool follow = bytes_follow(source, status);
    unsigned place = identity_port(router, source->circuit.port);

    leave_opening(router, index);
    if (router->recorder) {
        recorder_source(router, source, status, accept.done_ns);
    }
    if (status == E_OK && place < CLOCK_PORTS_MAX) {
        router->send_free_ns[place] = accept.done_ns;
    }
    *notice_add(router) = (struct notice){.kind = status == E_OK ? NOTICE_ACCEPTED : NOTICE_REFUSED,
                                          .token = source->circuit.token,
                                          .status = status,
                                          .done_ns = accept.done_ns,
                                          .other_length = accept.other_length};
    source->refused = status != E_OK;
    if (source->state != SOURCE_DRAINING) { /* a schedule's may have sent all before its answer */
        enter(source, follow ? SOURCE_FLOWING : SOURCE_DRAINING);
    }
    close_if_done(router, number);
    ask_if_empty(router, number);
    return !follow;
}

/* Bytes go in the order of the OPENs, as they do at every hop behind. */
unsigned source_flowing(const struct router *router, unsigned out)
{
    unsigned best = SOURCES_MAX;

    for (uint32_t left = router->sources_used; left;) {
        unsigned number = due_next(&left);
        const struct source *source = &router->sources[number];
        if (flows(source) && source->out == out &&
            (best == SOURCES_MAX || (int32_t)(source->stamp - router->sources[best].stamp) < 0)) {
            best = number;
        }
    }
    return best;
}

/* Whether a source waits for bytes under this name, which may be that of others that have ended. */
static bool is_hungry(const struct source *source, uint32_t token)
{
    return flows(source) && source->asked && !source->refused && source->circuit.token == token;
}

int source_feed(struct router *router, uint32_t token, const uint8_t *data, uint32_t bytes)
{
    for (uint32_t left = router->sources_used; left;) {
        struct source *source = &router->sources[due_next(&left)];
        if (!is_hungry(source, token)) {
            continue;
        }
        CHECK(!data || (bytes > 0 && bytes <= source->length - source->given));
        source->asked = false;
        source->cut = !data;
        if (data) {
            source->circuit.data[0] = data;
            source->circuit.bytes[0] = bytes;
            source->circuit.bytes[1] = 0;
            source->portion_at = source->given;
            source->portion_segments = 0;
            source->given += bytes;
        }
        due_bytes_for(router, source->out);
        return E_OK;
    }
    return E_LINK_DEAD;
}

struct segment source_take(struct router *router, struct source *source, uint32_t bytes_max)
{
    const struct circuit_source *circuit = &source->circuit;
    uint32_t at = source->moved - source->portion_at;
    bool second = at >= circuit->bytes[0];

    at -= second ? circuit->bytes[0] : 0;
    uint32_t left = circuit->bytes[second] - at;
    struct segment segment = {.data = circuit->data[second] + at,
                              .bytes = left < bytes_max ? left : bytes_max,
                              .owner = OWNER_SOURCE,
                              .number = (uint16_t)(source - router->sources)};
    source->moved += segment.bytes;
    source->unacknowledged++;
    source->portion_segments++;
    return segment;
}

void source_emptied(struct router *router, const struct source *source)
{
    due_source_done(router, (unsigned)(source - router->sources));
}

void source_drain(struct router *router, struct source *source)
{
    enter(source, SOURCE_DRAINING);
    due_source_done(router, (unsigned)(source - router->sources));
}

void source_acknowledged(struct router *router, unsigned number)
{
    struct source *source = &router->sources[number];

    CHECK(source->unacknowledged > 0);
    if (--source->unacknowledged == 0 || source_is_empty(source)) {
        due_source_done(router, number);
    }
}

void source_pump(struct router *router)
{
    for (uint32_t left = router->sources_due; left;) {
        unsigned number = due_next(&left);
        close_if_done(router, number);
        ask_if_empty(router, number);
    }
}

/* Those whose OPEN waits for the dead link are refused by setup.c, those without an answer have
 * been given one by circuit_port_dead. */
void source_port_dead(struct router *router, unsigned port)
{
    unsigned number;

    while ((number = source_flowing(router, port)) != SOURCES_MAX) {
        source_drain(router, &router->sources[number]);
    }
}
