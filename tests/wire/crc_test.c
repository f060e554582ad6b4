/* The CRC of frames against its published check value, in pieces, and against every single damaged
 * bit. */
#include "tests/testing.h"

#include "wire/crc.h"

TEST(crc_of_the_digits_1_to_9_is_the_published_one)
{
    assert_int_equal(crc32_add(0, "123456789", 9), 0xe3069283);
}

TEST(crc_of_nothing_is_zero)
{
    assert_int_equal(crc32_add(0, "", 0), 0);
}

TEST(crc_of_two_pieces_is_the_crc_of_the_whole)
{
    const char *text = "decremental scattering";
    const uint32_t bytes = 22;
    const uint32_t whole = crc32_add(0, text, bytes);
    for (uint32_t cut = 0; cut <= bytes; cut++) {
        uint32_t joined = crc32_add(crc32_add(0, text, cut), text + cut, bytes - cut);
        assert_int_equal(joined, whole);
    }
}

TEST(every_flipped_bit_changes_the_crc)
{
    uint8_t data[64];
    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = (uint8_t)(i * 37);
    }
    const uint32_t good = crc32_add(0, data, sizeof data);
    for (uint32_t bit = 0; bit < 8 * sizeof data; bit++) {
        data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1u << bit % 8);
        assert_int_not_equal(crc32_add(0, data, sizeof data), good);
        data[bit / 8] = (uint8_t)(data[bit / 8] ^ 1u << bit % 8);
    }
}
