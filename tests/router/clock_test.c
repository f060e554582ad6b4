/* The model clock: the papers' costs, to the nanosecond. */
#include "tests/testing.h"

#include "router/clock.h"

static const struct profile ipsc860 = {.xi_ns = 65425, .tau_ns = 9575, .element_ns = 425};

static uint64_t uncontended_ns(const struct profile *profile, uint32_t hops, uint32_t bytes)
{
    uint64_t t_ns = profile->xi_ns;
    for (uint32_t hop = 0; hop < hops; hop++) {
        t_ns = clock_hop(t_ns, 0, profile->tau_ns);
    }
    return t_ns + clock_transfer(profile, hops, bytes);
}

TEST(an_ipsc860_circuit_costs_65_us_and_10_per_hop_and_425_ns_per_byte)
{
    for (uint32_t hops = 1; hops <= 10; hops++) {
        for (uint32_t bytes = 0; bytes <= 3000; bytes += 100) {
            uint64_t paper_ns = 65000 + (uint64_t)425 * bytes + (uint64_t)10000 * hops;
            assert_int_equal(uncontended_ns(&ipsc860, hops, bytes), paper_ns);
        }
    }
}

TEST(an_element_that_is_filled_in_part_takes_the_time_of_a_whole_one)
{
    static const struct profile flits = {
        .xi_ns = 7, .tau_ns = 5, .element_ns = 3, .element_bytes = 8};

    assert_int_equal(uncontended_ns(&flits, 1, 0), 12);
    assert_int_equal(uncontended_ns(&flits, 1, 1), 12 + 3);
    assert_int_equal(uncontended_ns(&flits, 1, 8), 12 + 3);
    assert_int_equal(uncontended_ns(&flits, 1, 9), 12 + 2 * 3);
    assert_int_equal(uncontended_ns(&flits, 4, 24), 7 + 4 * 5 + (3 + 3) * 3);
    assert_int_equal(clock_transfer(&flits, 1, UINT32_MAX), (uint64_t)(1 << 29) * 3);
    assert_int_equal(clock_element_bytes(&flits), 8);
    assert_int_equal(clock_element_bytes(&ipsc860), 1);
}

TEST(a_busy_link_delays_a_circuit_by_the_wait)
{
    assert_int_equal(clock_hop(1000, 5000, 10), 5010);
    assert_int_equal(clock_hop(5000, 1000, 10), 5010);
}

TEST(both_ends_know_when_bytes_began_to_flow)
{
    for (uint32_t hops = 1; hops <= 4; hops++) {
        uint64_t begin_ns = 5000 + ipsc860.xi_ns + (uint64_t)hops * ipsc860.tau_ns;
        uint64_t done_ns = 5000 + uncontended_ns(&ipsc860, hops, 100);
        assert_int_equal(clock_begin(&ipsc860, done_ns, hops, 100), begin_ns);
    }
}

TEST(a_message_of_no_bytes_over_no_hop_takes_no_time)
{
    assert_int_equal(clock_transfer(&ipsc860, 0, 0), 0);
}
