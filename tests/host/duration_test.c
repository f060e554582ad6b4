/*
 * Times on the command line.
 */
#include "tests/testing.h"

#include "host/command/duration.h"

static const uint64_t hour_ns = 3600 * UINT64_C(1000000000);

TEST(every_unit_is_known)
{
    static const struct {
        const char *text;
        uint64_t ns;
    } times[] = {
        {"0ns", 0},         {"7ns", 7},           {"5us", 5000},         {"1.5ms", 1500000},
        {".5s", 500000000}, {"20s", 20000000000}, {"10m", 600000000000}, {"1h", 3600000000000},
        {"1e3us", 1000000}, {"0.0004us", 0},      {"0.0006us", 1},
    };
    uint64_t ns;

    for (unsigned i = 0; i < sizeof times / sizeof times[0]; i++) {
        assert_true(duration_parse(times[i].text, DURATION_NEEDS_UNIT, 0, hour_ns, &ns));
        assert_true(ns == times[i].ns);
        assert_true(duration_parse(times[i].text, duration_ms_ns, 0, hour_ns, &ns));
        assert_true(ns == times[i].ns);
    }
}

TEST(a_number_alone_means_what_the_option_says)
{
    uint64_t ns = 0;

    assert_true(duration_parse("3", duration_s_ns, 0, hour_ns, &ns));
    assert_true(ns == 3 * duration_s_ns);
    assert_true(duration_parse("0.25", duration_ms_ns, 0, hour_ns, &ns));
    assert_true(ns == 250 * duration_us_ns);
    assert_false(duration_parse("3", DURATION_NEEDS_UNIT, 0, hour_ns, &ns));
    assert_false(duration_parse("0", DURATION_NEEDS_UNIT, 0, hour_ns, &ns));
}

TEST(what_is_no_time_is_refused)
{
    static const char *const texts[] = {"",     "s",    "soon", "-5us", "+5us",  " 5us", "5 us",
                                        "5us5", "5d",   "5S",   "5min", "inf",   "infs", "nan",
                                        "nans", "1e99", ".s",   "5us ", "1e999h"};
    uint64_t ns = 77;

    for (unsigned i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_false(duration_parse(texts[i], duration_s_ns, 0, UINT64_MAX / 2, &ns));
    }
    assert_true(ns == 77);
}

TEST(bounds_belong_to_what_is_allowed)
{
    uint64_t ns;

    assert_true(duration_parse("1s", duration_s_ns, duration_s_ns, hour_ns, &ns));
    assert_true(duration_parse("60m", duration_s_ns, duration_s_ns, hour_ns, &ns));
    assert_false(duration_parse("0.999s", duration_s_ns, duration_s_ns, hour_ns, &ns));
    assert_false(duration_parse("61m", duration_s_ns, duration_s_ns, hour_ns, &ns));
}
