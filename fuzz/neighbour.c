#include "fuzz/neighbour.h"

#include <string.h>

#include "drivers/check.h"
#include "router/channel_state.h"
#include "wire/crc.h"
#include "wire/frame.h"
#include "wire/packet.h"

static bool numbered(uint8_t type)
{
    return type == FRAME_PACKET || type == FRAME_DATA;
}

struct lie lie_read(struct input *input, uint8_t what)
{
    struct lie lie = {0};

    if (what & 1) {
        lie.seq = (int8_t)input_u8(input);
    }
    if (what & 2) {
        lie.ack = (int16_t)input_u16(input);
    }
    if (what & 4) {
        lie.control_credit = (int16_t)input_u16(input);
    }
    if (what & 8) {
        lie.data_credit = (int32_t)input_u32(input);
    }
    if (what & 16) {
        lie.flip = input_u8(input);
    }
    lie.for_other = what & LIE_FOR_OTHER;
    lie.for_none = what & LIE_FOR_NONE;
    return lie;
}

static void push_frame(struct neighbour *neighbour, uint8_t type, uint8_t flags,
                       const void *payload, uint32_t bytes, const struct lie *lie,
                       uint16_t incarnation)
{
    static uint8_t memory[PIPE_FRAME_MAX];
    const struct channel *channel = neighbour->channel;
    uint32_t total = FRAME_HEADER_BYTES + bytes;

    CHECK(bytes <= FRAME_DATA_MAX);
    if (pipe_waiting(neighbour->pipe) == 0 && channel->payload_left == 0 &&
        channel->crc_left == 0) {
        neighbour->seq = channel->seq_expected; /* nothing is under way: what it expects is known */
    }
    uint16_t own = type == FRAME_HELLO ? neighbour->incarnation : neighbour->seq;
    struct frame frame = {.type = type,
                          .flags = flags,
                          .length = bytes,
                          .seq = (uint16_t)(own + lie->seq),
                          .incarnation = incarnation,
                          .ack = (uint16_t)(channel->seq_next + lie->ack),
                          .control_credit = (uint16_t)(channel->control_sent + lie->control_credit),
                          .data_credit = channel->data_sent + (uint32_t)lie->data_credit};
    frame_pack(memory, &frame);
    if (bytes > 0) {
        memcpy(memory + FRAME_HEADER_BYTES, payload, bytes);
    }
    if (flags & FLAG_CHECKED) {
        frame_put_check(memory + total, crc32_add(frame_payload_start(frame.seq),
                                                  memory + FRAME_HEADER_BYTES, bytes));
        total += FRAME_CHECK_BYTES;
    }
    if (lie->flip) {
        memory[total - 1 - (lie->flip - 1u) % total] ^= 1;
    }
    pipe_push(neighbour->pipe, memory, total);
    neighbour->seq = (uint16_t)(neighbour->seq + (numbered(type) && !lie->flip && !lie->seq));
}

void neighbour_frame(struct neighbour *neighbour, uint8_t type, uint8_t flags, const void *payload,
                     uint32_t bytes, const struct lie *lie)
{
    push_frame(neighbour, type, flags, payload, bytes, lie,
               lie->for_none ? 0 : (uint16_t)(neighbour->channel->incarnation - lie->for_other));
}

static void push_hello(struct neighbour *neighbour, const struct hello *hello, uint16_t incarnation)
{
    uint8_t payload[HELLO_BYTES];
    const struct lie truth = {0};

    hello_pack(payload, hello);
    push_frame(neighbour, FRAME_HELLO, FLAG_CHECKED, payload, sizeof payload, &truth, incarnation);
}

void neighbour_hello(struct neighbour *neighbour, const struct hello *hello)
{
    push_hello(neighbour, hello, neighbour->channel->incarnation);
}

void neighbour_first_hello(struct neighbour *neighbour, const struct hello *hello)
{
    push_hello(neighbour, hello, 0);
}

void neighbour_packet(struct neighbour *neighbour, uint8_t kind, uint32_t src, uint32_t dst,
                      const void *body, uint32_t bytes, const struct lie *lie)
{
    uint8_t packet[FRAME_CONTROL_MAX];

    CHECK(bytes <= PACKET_BODY_MAX);
    packet_pack(packet, kind, bytes, src, dst);
    if (bytes > 0) {
        memcpy(packet + PACKET_HEADER_BYTES, body, bytes);
    }
    neighbour_frame(neighbour, FRAME_PACKET, FLAG_CHECKED, packet, PACKET_HEADER_BYTES + bytes,
                    lie);
}
