/* The clock's scale: exact at any counter value, whatever was asked before. */
#include "tests/testing.h"

#include "drivers/timer/generic_timer.h"

enum { FREQUENCY_QEMU_HZ = 62500000 };

TEST(the_terms_are_the_lowest)
{
    struct generic_timer timer;
    generic_timer_scale(&timer, FREQUENCY_QEMU_HZ);
    assert_int_equal(timer.up, 2);
    assert_int_equal(timer.down, 125);
    generic_timer_scale(&timer, 24000000);
    assert_int_equal(timer.up, 1);
    assert_int_equal(timer.down, 24);
}

TEST(a_thousand_ticks_of_qemu_are_16_us)
{
    struct generic_timer timer;
    generic_timer_scale(&timer, FREQUENCY_QEMU_HZ);
    assert_int_equal(generic_timer_us(&timer, 1000), 16);
}

/* Steps of all sizes, so that both the short and the long way are taken. */
TEST(every_answer_is_the_exact_quotient)
{
    static const uint32_t frequencies_hz[] = {1000000,           19200000,   24000000,
                                              FREQUENCY_QEMU_HZ, 1000000000, 62498765};
    for (unsigned f = 0; f < sizeof(frequencies_hz) / sizeof(frequencies_hz[0]); f++) {
        struct generic_timer timer;
        generic_timer_scale(&timer, frequencies_hz[f]);
        uint64_t ticks = 0;
        uint32_t random = 1;
        for (unsigned i = 0; i < 20000; i++) {
            random = random * 1664525 + 1013904223;
            ticks += (random >> 4) >> (random & 31);
            uint64_t seconds = ticks / frequencies_hz[f];
            uint64_t rest = ticks % frequencies_hz[f];
            uint64_t expected_us = seconds * 1000000 + rest * 1000000 / frequencies_hz[f];
            assert_int_equal(generic_timer_us(&timer, ticks), expected_us);
        }
    }
}
