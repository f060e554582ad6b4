/* The best split of a message over paths, against all splits of small ones. */
#include "router/shares.h"

#include "network/text.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {.xi_ns = 65425, .tau_ns = 9575, .element_ns = 425};

/* What so many elements over so many hops take. */
static uint64_t time_of(const struct profile *profile, uint32_t hops, uint64_t elements)
{
    return profile->xi_ns + (uint64_t)hops * profile->tau_ns +
           (hops + elements - 1) * profile->element_ns;
}

/* The least time of all splits of so many elements over the paths from `index` on. */
static uint64_t search(const struct profile *profile, const uint32_t *hops, unsigned count,
                       unsigned index, uint64_t elements)
{
    uint64_t best = UINT64_MAX;

    if (index + 1 == count) {
        return elements ? time_of(profile, hops[index], elements) : 0;
    }
    for (uint64_t mine = 0; mine <= elements; mine++) {
        uint64_t rest = search(profile, hops, count, index + 1, elements - mine);
        uint64_t own = mine ? time_of(profile, hops[index], mine) : 0;
        uint64_t both = own > rest ? own : rest;
        best = both < best ? both : best;
    }
    return best;
}

static void check_split(const struct profile *profile, const uint32_t *hops, unsigned count,
                        uint32_t bytes)
{
    uint32_t share[NETWORK_PATHS_MAX], all = 0, size = clock_element_bytes(profile);
    uint64_t time_ns, longest = 0;
    unsigned used = shares_split(profile, hops, count, bytes, share, &time_ns);

    assert_in_range(used, 1, count);
    for (unsigned i = 0; i < used; i++) {
        uint64_t elements = clock_elements(profile->element_bytes, share[i]);
        uint64_t own = time_of(profile, hops[i], elements);
        assert_int_not_equal(share[i], 0);
        assert_true(i + 1 == used || share[i] % size == 0);
        longest = own > longest ? own : longest;
        all += share[i];
    }
    assert_int_equal(all, bytes);
    assert_int_equal(longest, time_ns);
    assert_int_equal(
        time_ns, search(profile, hops, count, 0, clock_elements(profile->element_bytes, bytes)));
}

TEST(no_split_of_small_messages_is_faster)
{
    static const struct profile profiles[] = {
        {.xi_ns = 20, .tau_ns = 3, .element_ns = 2},
        {.xi_ns = 7, .tau_ns = 5, .element_ns = 3, .element_bytes = 4},
        {.xi_ns = 0, .tau_ns = 0, .element_ns = 1},
        {.xi_ns = 1, .tau_ns = 1, .element_ns = 7, .element_bytes = 2}};

    for (unsigned p = 0; p < sizeof profiles / sizeof profiles[0]; p++) {
        for (uint32_t a = 1; a <= 3; a++) {
            for (uint32_t b = a; b <= 6; b++) {
                for (uint32_t c = b; c <= 8; c++) {
                    uint32_t hops[] = {a, b, c};
                    for (uint32_t bytes = 1; bytes <= 40; bytes++) {
                        check_split(&profiles[p], hops, 1 + bytes % 3, bytes);
                        check_split(&profiles[p], hops, 3, bytes);
                    }
                }
            }
        }
    }
}

TEST(a_path_that_would_carry_nothing_is_left_out)
{
    uint32_t hops[] = {1, 9}, share[2];
    uint64_t time_ns;

    assert_int_equal(shares_split(&ipsc860, hops, 2, 188, share, &time_ns), 1);
    assert_int_equal(share[0], 188);
    assert_int_equal(shares_split(&ipsc860, hops, 2, 190, share, &time_ns), 2);
    assert_int_equal(share[0], 189);
    assert_int_equal(share[1], 1);
}

TEST(shares_of_the_largest_message_add_up)
{
    uint32_t hops[NETWORK_PATHS_MAX], share[NETWORK_PATHS_MAX];
    uint64_t time_ns, all = 0;

    for (unsigned i = 0; i < NETWORK_PATHS_MAX; i++) {
        hops[i] = i + 1;
    }
    unsigned used = shares_split(&ipsc860, hops, NETWORK_PATHS_MAX, UINT32_MAX, share, &time_ns);
    assert_int_equal(used, NETWORK_PATHS_MAX);
    for (unsigned i = 0; i < used; i++) {
        all += share[i];
    }
    assert_int_equal(all, UINT32_MAX);
    assert_true(time_ns < UINT64_C(425) * UINT32_MAX / 16 + 1000000);
    struct profile no_time = {.xi_ns = 1};
    assert_int_equal(shares_split(&no_time, hops, 4, 1000, share, &time_ns), 1);
    assert_int_equal(time_ns, 1);
    assert_int_equal(shares_split(&ipsc860, hops, 4, 0, share, &time_ns), 1);
    assert_int_equal(time_ns, 65425 + 9575);
}

/* The header's example; a ring, where a path of 2 hops stands against one of 4; and a torus, where
 * over all ports the short ones are faster too, by a quarter of the hops that they have less. */
TEST(messages_take_the_fastest_paths_of_their_network)
{
    const struct network_limits limits = {.nodes = 128, .place = "here"};
    char error[NETWORK_ERROR_MAX];
    struct network network;
    struct shares shares;

    assert_true(network_parse(&network, "cube:4", &limits, error));
    shares_make(&network, &ipsc860, 0, 1, 10000, 16, &shares);
    assert_int_equal(shares.count, 4);
    assert_int_equal(shares.bytes[0], 2536);
    assert_int_equal(shares.bytes[1], 2488);
    assert_int_equal(shares.time_ns, 1152800);
    shares_make(&network, &ipsc860, 0, 1, 10000, 2, &shares);
    assert_int_equal(shares.count, 2);
    assert_true(network_parse(&network, "ring:6", &limits, error));
    shares_make(&network, &ipsc860, 1, 3, 10000, 16, &shares);
    assert_int_equal(shares.count, 2);
    assert_int_equal(shares.path[0].hops, 2);
    assert_int_equal(shares.path[1].hops, 4);
    assert_int_equal(shares.bytes[0] + shares.bytes[1], 10000);
    shares_make(&network, &ipsc860, 3, 3, 10000, 16, &shares);
    assert_int_equal(shares.count, 0);
    assert_true(network_parse(&network, "torus:5x5", &limits, error));
    shares_make(&network, &ipsc860, 0, 6, 9000, 2, &shares);
    assert_int_equal(shares.path[1].hops, 2);
    shares_make(&network, &ipsc860, 0, 6, 9000, 16, &shares);
    assert_int_equal(shares.count, 4);
    assert_int_equal(shares.path[3].hops, 5);
    /* the short ones have 3, 3, 3 and 10 hops, the even ones 3, 3, 5 and 5 */
    assert_true(network_parse(&network, "torus:9x4", &limits, error));
    shares_make(&network, &ipsc860, 0, 6, 9000, 16, &shares);
    assert_int_equal(shares.count, 4);
    assert_int_equal(shares.path[3].hops, 5);
    /* round a ring of 128 the other way takes as many hops as an OPEN may have */
    assert_true(network_parse(&network, "ring:128", &limits, error));
    shares_make(&network, &ipsc860, 0, 1, 1000000, 16, &shares);
    assert_int_equal(shares.count, 2);
    assert_int_equal(shares.path[1].hops, 127);
}
