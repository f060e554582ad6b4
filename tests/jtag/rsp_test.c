/*
 * Packets of the GDB remote serial protocol.
 */
#include "tests/testing.h"

#include <string.h>

#include "jtag/stub/rsp.h"

static struct rsp_reader reader;

/* The last event that the text gives, and how many there were. */
static enum rsp_event feed(const char *text, size_t bytes, unsigned *events)
{
    enum rsp_event last = RSP_NOTHING;

    *events = 0;
    for (size_t i = 0; i < bytes; i++) {
        enum rsp_event event = rsp_feed(&reader, (uint8_t)text[i]);

        if (event != RSP_NOTHING) {
            last = event;
            ++*events;
        }
    }
    return last;
}

static enum rsp_event only(const char *text)
{
    unsigned events;
    enum rsp_event event = feed(text, strlen(text), &events);

    assert_int_equal(events, event == RSP_NOTHING ? 0 : 1);
    return event;
}

TEST(packets_acknowledgements_and_breaks_are_told_apart)
{
    memset(&reader, 0, sizeof reader);
    assert_int_equal(only("+"), RSP_ACK);
    assert_int_equal(only("-"), RSP_NAK);
    assert_int_equal(only("\x03"), RSP_BREAK);
    assert_int_equal(only("noise"), RSP_NOTHING);
    assert_int_equal(only("$OK#9a"), RSP_PACKET);
    assert_string_equal(reader.packet, "OK");
    assert_int_equal(only("$#00"), RSP_PACKET);
    assert_int_equal(reader.bytes, 0);
    assert_int_equal(only("$a\x03-+#c2"), RSP_DAMAGED);
    assert_int_equal(only("$a\x03-+#bC"), RSP_PACKET);
    assert_int_equal(reader.bytes, 4);
}

TEST(damaged_packets_are_known)
{
    static char large[RSP_PACKET_MAX + 3];
    unsigned events;

    memset(&reader, 0, sizeof reader);
    assert_int_equal(only("$OK#9b"), RSP_DAMAGED);
    assert_int_equal(only("$OK#g0"), RSP_DAMAGED);
    assert_int_equal(only("$OK#9"), RSP_NOTHING);
    assert_int_equal(only("a"), RSP_PACKET);
    assert_int_equal(only("$cut o$OK#9a"), RSP_PACKET);
    assert_string_equal(reader.packet, "OK");
    for (size_t bytes = RSP_PACKET_MAX; bytes <= RSP_PACKET_MAX + 1; bytes++) {
        char end[8];
        uint8_t sum = (uint8_t)(bytes * 'x');

        memset(large, 'x', sizeof large);
        large[0] = '$';
        assert_int_equal(feed(large, bytes + 1, &events), RSP_NOTHING);
        rsp_to_hex(end + 1, &sum, 1);
        end[0] = '#';
        assert_int_equal(only(end), bytes == RSP_PACKET_MAX ? RSP_PACKET : RSP_DAMAGED);
    }
    assert_int_equal(only("$OK#9a"), RSP_PACKET);
}

TEST(any_bytes_come_out_of_a_packet_as_they_went_in)
{
    char bytes[256], framed[2 * sizeof bytes + RSP_FRAME_BYTES], back[sizeof bytes];
    unsigned events;

    memset(&reader, 0, sizeof reader);
    for (unsigned i = 0; i < sizeof bytes; i++) {
        bytes[i] = (char)i;
    }
    size_t count = rsp_make(framed, bytes, sizeof bytes);
    assert_int_equal(count, sizeof bytes + 4 + RSP_FRAME_BYTES);
    assert_int_equal(feed(framed, count, &events), RSP_PACKET);
    assert_int_equal(events, 1);
    assert_int_equal(rsp_expand(reader.packet, reader.bytes, back, sizeof back), sizeof back);
    assert_memory_equal(back, bytes, sizeof bytes);
    assert_int_equal(rsp_expand(reader.packet, reader.bytes, back, sizeof back - 1), -1);
}

TEST(repetitions_are_written_out)
{
    char back[16];

    assert_int_equal(rsp_expand("0* 1", 4, back, sizeof back), 5);
    assert_memory_equal(back, "00001", 5);
    assert_int_equal(rsp_expand("}]* ", 4, back, sizeof back), 4);
    assert_memory_equal(back, "}}}}", 4);
    assert_int_equal(rsp_expand("* ", 2, back, sizeof back), -1);
    assert_int_equal(rsp_expand("0*", 2, back, sizeof back), -1);
    assert_int_equal(rsp_expand("0}", 2, back, sizeof back), -1);
    assert_int_equal(rsp_expand("0*\x1f", 3, back, sizeof back), -1);
    assert_int_equal(rsp_expand("0*~", 3, back, sizeof back), -1);
    assert_int_equal(rsp_expand("0*\xff", 3, back, sizeof back), -1);
}

TEST(digits_are_hexadecimal)
{
    uint32_t value = 0;
    char text[9];

    assert_true(rsp_from_hex(&value, sizeof value, "78563412"));
    assert_int_equal(value, 0x12345678);
    rsp_to_hex(text, &value, sizeof value);
    assert_string_equal(text, "78563412");
    assert_true(rsp_from_hex(&value, 2, "aAfF"));
    assert_false(rsp_from_hex(&value, sizeof value, "7856341"));
    assert_false(rsp_from_hex(&value, sizeof value, ""));
    assert_false(rsp_from_hex(&value, 1, "x0"));
}
