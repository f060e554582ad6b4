#include "fuzz/reference.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "router/channel_state.h"
#include "wire/crc.h"
#include "wire/frame.h"
#include "wire/packet.h"

enum { WINDOW_BELIEVED = 1024 * 1024, CONTROL_BELIEVED = CONTROL_WINDOW * 64 };

void reference_init(struct reference *r, const uint8_t *string, bool checked, uint16_t incarnation)
{
    memset(r, 0, offsetof(struct reference, packets));
    r->string = string;
    r->checked = checked;
    r->incarnation = incarnation;
}

/* The length of a frame that can be; 0: the header is impossible. */
static uint32_t possible_bytes(const struct reference *r, const struct frame *frame)
{
    bool check = frame->flags & FLAG_CHECKED;
    uint32_t total = FRAME_HEADER_BYTES + frame->length + (check ? FRAME_CHECK_BYTES : 0);

    switch (frame->type) {
    case FRAME_HELLO: return check && frame->length == HELLO_BYTES ? total : 0;
    case FRAME_ACK:
    case FRAME_NAK: return !check && frame->length == 0 ? total : 0;
    case FRAME_PACKET:
        return frame->length >= PACKET_HEADER_BYTES && frame->length <= FRAME_CONTROL_MAX &&
                       (check || !r->checked)
                   ? total
                   : 0;
    case FRAME_DATA:
        return frame->length > 0 && frame->length <= FRAME_DATA_MAX && (check || !r->checked)
                   ? total
                   : 0;
    default: return 0;
    }
}

static bool check_good(const struct reference *r, uint32_t at, const struct frame *frame)
{
    const uint8_t *payload = r->string + at;

    return !(frame->flags & FLAG_CHECKED) ||
           frame_payload_check(payload + frame->length) ==
               crc32_add(frame_payload_start(frame->seq), payload, frame->length);
}

static bool in_order(struct reference *r, uint16_t seq)
{
    r->is_up |= r->heard;
    if (r->heard && (int16_t)(seq - r->seq_expected) > 0) {
        r->gaps++;
    }
    return r->heard && seq == r->seq_expected;
}

static void accept(struct reference *r)
{
    r->seq_expected++;
    r->frames++;
}

static void add(struct reference_item *items, uint32_t *count, uint32_t at, uint32_t bytes,
                uint8_t flags)
{
    CHECK(*count < REFERENCE_ITEMS);
    items[(*count)++] = (struct reference_item){at, bytes, flags};
}

/* Whether it is for this end, whose number only who greets may not know. */
static bool is_ours(const struct reference *r, const struct frame *frame)
{
    return !r->incarnation || frame->incarnation == r->incarnation ||
           (!frame->incarnation && frame->type == FRAME_HELLO);
}

static void read_hello(struct reference *r, const struct frame *frame, const uint8_t *payload)
{
    bool is_other = r->incarnation && frame->seq != r->peer_incarnation;
    bool knows_us = frame->incarnation == r->incarnation || !r->incarnation;
    struct hello hello;

    CHECK(hello_unpack(payload, HELLO_BYTES, &hello));
    if (hello.version != PROTOCOL_VERSION) {
        r->dead_reason = DEAD_VERSION;
    } else if (hello.data_window > WINDOW_BELIEVED || hello.control_window > CONTROL_BELIEVED) {
        r->dead_reason = DEAD_PROTOCOL;
    } else if (is_other && r->is_up && (r->sent || r->frames)) {
        r->dead_reason = DEAD_RESTARTED;
    }
    r->is_up = (r->is_up && !is_other) || (hello.heard != HEARD_NOTHING && knows_us);
    r->peer_incarnation = frame->seq;
    r->heard = true;
}

static void begin_data(struct reference *r, const struct frame *frame)
{
    r->at += FRAME_HEADER_BYTES;
    r->in_payload = true;
    r->skip = !in_order(r, frame->seq);
    r->data_frame = *frame;
    if (!r->skip && !(frame->flags & FLAG_CHECKED)) { /* its bytes may be passed on at once */
        add(r->data, &r->data_count, r->at, frame->length, frame->flags);
    }
}

/* False when the payload is not all there. */
static bool end_data(struct reference *r, uint32_t limit)
{
    const struct frame *frame = &r->data_frame;
    bool checked = frame->flags & FLAG_CHECKED;
    uint32_t end = r->at + frame->length + (checked ? FRAME_CHECK_BYTES : 0);

    if (end > limit) {
        return false;
    }
    bool good = check_good(r, r->at, frame);
    if (!r->skip && good) {
        if (checked) {
            add(r->data, &r->data_count, r->at, frame->length, frame->flags);
        }
        accept(r);
    } else if (!r->skip) {
        r->damaged++;
    }
    r->in_payload = false;
    r->at = end;
    return true;
}

static void read_control(struct reference *r, const struct frame *frame, uint32_t total)
{
    uint32_t payload = r->at + FRAME_HEADER_BYTES;

    r->at += total;
    if (!check_good(r, payload, frame)) {
        r->damaged++;
    } else if (frame->type == FRAME_HELLO) {
        read_hello(r, frame, r->string + payload);
    } else if (frame->type == FRAME_PACKET && in_order(r, frame->seq)) {
        add(r->packets, &r->packet_count, payload, frame->length, frame->flags);
        accept(r);
    }
}

/* Reads what begins at `at`; false when it has not all been consumed. */
static bool read_one(struct reference *r, uint32_t limit)
{
    struct frame frame;
    uint32_t total = 0;

    if (r->in_payload) {
        return end_data(r, limit);
    }
    if (r->at >= limit) {
        return false;
    }
    if (r->bytes - r->at >= FRAME_HEADER_BYTES && frame_unpack(r->string + r->at, &frame)) {
        if (!is_ours(r, &frame)) {
            r->strays++;
            r->hunting = true;
            r->at += FRAME_HEADER_BYTES;
            return true;
        }
        total = possible_bytes(r, &frame);
    }
    if (total == 0) {
        r->damaged += !r->hunting && (!r->incarnation || r->is_up);
        r->hunting = true;
        r->at++;
        return true;
    }
    r->hunting = false;
    if (frame.type == FRAME_DATA) {
        begin_data(r, &frame);
    } else {
        read_control(r, &frame, total);
    }
    return true;
}

/* A header that is given up is junk like any other: not even its first byte stays. */
void reference_give_up(struct reference *r, uint32_t at)
{
    bool counts = r->in_payload || (!r->hunting && (!r->incarnation || r->is_up));

    r->damaged += counts;
    r->in_payload = false;
    r->hunting = true;
    r->at = at;
}

void reference_read(struct reference *r, uint32_t bytes, uint32_t limit)
{
    r->bytes = bytes;
    while (!r->dead_reason && read_one(r, limit)) {
    }
}
