/*
 * input.h - the bytes of one fuzzing input, taken from the front.
 *
 * Past the end everything reads as zero, so that every byte string is a whole input and a cut one
 * means what its beginning meant.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct input {
    const uint8_t *data;
    size_t left;
};

static inline uint8_t input_u8(struct input *input)
{
    if (input->left == 0) {
        return 0;
    }
    input->left--;
    return *input->data++;
}

static inline uint16_t input_u16(struct input *input)
{
    uint8_t low = input_u8(input);

    return (uint16_t)(low | input_u8(input) << 8);
}

static inline uint32_t input_u32(struct input *input)
{
    uint16_t low = input_u16(input);

    return low | (uint32_t)input_u16(input) << 16;
}

/* At most `wanted` bytes, as they lie; *got says how many there were. */
static inline const uint8_t *input_bytes(struct input *input, size_t wanted, uint32_t *got)
{
    const uint8_t *bytes = input->data;

    if (wanted > input->left) {
        wanted = input->left;
    }
    input->data += wanted;
    input->left -= wanted;
    *got = (uint32_t)wanted;
    return bytes;
}
