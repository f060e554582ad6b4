#include "jtag/stub/rsp.h"

#include <string.h>

enum { ESCAPE = '}', ESCAPE_FLIP = 0x20, REPEAT = '*', REPEAT_BIAS = 29, REPEAT_MIN = 3 };

static const char digits[] = "0123456789abcdef";

int rsp_digit(char digit)
{
    if (digit >= '0' && digit <= '9') {
        return digit - '0';
    }
    if (digit >= 'a' && digit <= 'f') {
        return digit - 'a' + 10;
    }
    return digit >= 'A' && digit <= 'F' ? digit - 'A' + 10 : -1;
}

bool rsp_from_hex(void *bytes, size_t count, const char *text)
{
    uint8_t *out = bytes;

    for (size_t i = 0; i < count; i++) {
        int high = rsp_digit(text[2 * i]);
        int low = high < 0 ? -1 : rsp_digit(text[2 * i + 1]);

        if (low < 0) {
            return false;
        }
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

void rsp_to_hex(char *text, const void *bytes, size_t count)
{
    const uint8_t *in = bytes;

    for (size_t i = 0; i < count; i++) {
        text[2 * i] = digits[in[i] >> 4];
        text[2 * i + 1] = digits[in[i] & 15];
    }
    text[2 * count] = '\0';
}

static enum rsp_event begin(struct rsp_reader *reader)
{
    reader->state = RSP_INSIDE;
    reader->sum = 0;
    reader->bytes = 0;
    reader->damaged = false;
    return RSP_NOTHING;
}

static enum rsp_event take_between(struct rsp_reader *reader, uint8_t byte)
{
    switch (byte) {
    case '$': return begin(reader);
    case '+': return RSP_ACK;
    case '-': return RSP_NAK;
    case RSP_BREAK_BYTE: return RSP_BREAK;
    default: return RSP_NOTHING;
    }
}

static void take_inside(struct rsp_reader *reader, uint8_t byte)
{
    if (byte == '$') { /* the rest of a packet that was cut off stands before it */
        begin(reader);
    } else if (byte == '#') {
        reader->state = RSP_FIRST_DIGIT;
    } else {
        reader->sum = (uint8_t)(reader->sum + byte);
        reader->damaged = reader->damaged || reader->bytes == RSP_PACKET_MAX;
        if (!reader->damaged) {
            reader->packet[reader->bytes++] = (char)byte;
        }
    }
}

static enum rsp_event take_digit(struct rsp_reader *reader, uint8_t byte)
{
    int value = rsp_digit((char)byte);
    bool first = reader->state == RSP_FIRST_DIGIT;

    reader->damaged = reader->damaged || value < 0;
    reader->said = (uint8_t)((first ? 0 : reader->said << 4) | (value & 15));
    reader->state = first ? RSP_SECOND_DIGIT : RSP_BETWEEN;
    if (first) {
        return RSP_NOTHING;
    }
    reader->packet[reader->bytes] = '\0';
    return reader->damaged || reader->said != reader->sum ? RSP_DAMAGED : RSP_PACKET;
}

enum rsp_event rsp_feed(struct rsp_reader *reader, uint8_t byte)
{
    switch (reader->state) {
    case RSP_BETWEEN: return take_between(reader, byte);
    case RSP_INSIDE: take_inside(reader, byte); return RSP_NOTHING;
    default: return take_digit(reader, byte);
    }
}

int rsp_expand(const char *packet, size_t bytes, char *data, size_t room)
{
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++) {
        bool repeats = packet[i] == REPEAT, escaped = packet[i] == ESCAPE;
        size_t times = 1;
        char byte = packet[i];

        if (repeats || escaped) {
            if (++i == bytes || (repeats && (count == 0 || packet[i] < REPEAT_BIAS + REPEAT_MIN))) {
                return -1;
            }
            byte = repeats ? data[count - 1] : (char)(packet[i] ^ ESCAPE_FLIP);
            times = repeats ? (size_t)(packet[i] - REPEAT_BIAS) : 1;
        }
        if (times > room - count) {
            return -1;
        }
        memset(data + count, byte, times);
        count += times;
    }
    return (int)count;
}

size_t rsp_frame(char *out, const char *packet, size_t bytes)
{
    uint8_t sum = 0;

    out[0] = '$';
    memmove(out + 1, packet, bytes);
    for (size_t i = 0; i < bytes; i++) {
        sum = (uint8_t)(sum + (uint8_t)packet[i]);
    }
    out[bytes + 1] = '#';
    out[bytes + 2] = digits[sum >> 4];
    out[bytes + 3] = digits[sum & 15];
    return bytes + RSP_FRAME_BYTES;
}

size_t rsp_make(char *out, const void *data, size_t bytes)
{
    const char *in = data;
    size_t count = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (in[i] != '\0' && strchr("$#}*", in[i])) {
            out[1 + count++] = ESCAPE;
            out[1 + count++] = (char)(in[i] ^ ESCAPE_FLIP);
        } else {
            out[1 + count++] = in[i];
        }
    }
    return rsp_frame(out, out + 1, count);
}
