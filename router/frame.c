#include "router/frame.h"

#include "router/crc.h"

/* The CRC of a header's first 20 bytes, as numbers: what has just been written in smaller pieces is
 * slow to read back. */
static inline uint32_t check_of(uint64_t first, uint64_t second, uint32_t third)
{
    uint32_t crc = crc32_words(crc32_words(UINT32_MAX, first), second);

    return ~crc32_word(crc, third);
}

void frame_pack(uint8_t *bytes, const struct frame *frame)
{
    uint64_t first = FRAME_SYNC | (uint64_t)frame->type << 16 | (uint64_t)frame->flags << 24 |
                     (uint64_t)frame->length << 32;
    uint64_t second =
        frame->seq | (uint64_t)frame->ack << 16 | (uint64_t)frame->control_credit << 32;

    put64(bytes, first);
    put64(bytes + 8, second);
    put32(bytes + 16, frame->data_credit);
    put32(bytes + 20, check_of(first, second, frame->data_credit));
}

bool frame_unpack(const uint8_t *bytes, struct frame *frame)
{
    uint64_t first = get64(bytes), second = get64(bytes + 8);
    uint32_t third = get32(bytes + 16);

    if ((first & 0xffff) != FRAME_SYNC || get32(bytes + 20) != check_of(first, second, third))
        return false;
    frame->type = (uint8_t)(first >> 16);
    frame->flags = (uint8_t)(first >> 24);
    frame->length = (uint32_t)(first >> 32);
    frame->seq = (uint16_t)second;
    frame->ack = (uint16_t)(second >> 16);
    frame->control_credit = (uint16_t)(second >> 32);
    frame->data_credit = third;
    return true;
}

void hello_pack(uint8_t *bytes, const struct hello *hello)
{
    put16(bytes, hello->version);
    bytes[2] = hello->role;
    bytes[3] = hello->port;
    put32(bytes + 4, hello->id);
    bytes[8] = hello->network;
    bytes[9] = hello->dims;
    bytes[10] = hello->heard;
    bytes[11] = hello->all_port;
    put32(bytes + 12, hello->data_window);
    put16(bytes + 16, hello->control_window);
    put16(bytes + 18, hello->sigma_permille);
    put32(bytes + 20, hello->xi_ns);
    put32(bytes + 24, hello->tau_ns);
    put32(bytes + 28, hello->element_ns);
    put32(bytes + 32, hello->peer_id);
    put32(bytes + 36, hello->dead_after_ms);
}

void hello_unpack(const uint8_t *bytes, struct hello *hello)
{
    hello->version = get16(bytes);
    hello->role = bytes[2];
    hello->port = bytes[3];
    hello->id = get32(bytes + 4);
    hello->network = bytes[8];
    hello->dims = bytes[9];
    hello->heard = bytes[10];
    hello->all_port = bytes[11];
    hello->data_window = get32(bytes + 12);
    hello->control_window = get16(bytes + 16);
    hello->sigma_permille = get16(bytes + 18);
    hello->xi_ns = get32(bytes + 20);
    hello->tau_ns = get32(bytes + 24);
    hello->element_ns = get32(bytes + 28);
    hello->peer_id = get32(bytes + 32);
    hello->dead_after_ms = get32(bytes + 36);
}
