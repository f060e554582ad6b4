/*
 * The part of a machine that a launcher has.
 */
#include "tests/testing.h"

#include <stdlib.h>

#include "host/machine/launcher.h"
#include "tests/networks.h"

enum { DRAWS = 500, PARTS_MAX = 5 };

/* Of the parts of a machine no two have a link, and what none has leads from one to another. */
static void expect_links_divided(const struct network *network, const uint32_t *firsts,
                                 unsigned parts)
{
    uint32_t within = 0, between = 0;

    for (unsigned i = 0; i < parts; i++) {
        within += launcher_links_within(
            network,
            &(struct launcher_place){.first = firsts[i], .count = firsts[i + 1] - firsts[i]});
        for (uint32_t node = firsts[i]; node < firsts[i + 1]; node++) {
            for (unsigned p = 0; p < network->ports; p++) {
                uint32_t peer = network_neighbour(network, node, p);

                between += network_owns_link(network, node, p) &&
                           (peer < firsts[i] || peer >= firsts[i + 1]);
            }
        }
    }
    assert_int_equal(within + between, network_link_count(network));
}

TEST(each_link_is_within_one_part_of_a_machine_or_between_two)
{
    static const char *const names[] = {"cube:0",     "cube:5",   "ring:2",       "ring:17",
                                        "mesh:1x7",   "mesh:5x3", "torus:2x3x4",  "torus:5x5",
                                        "mesh:2x2x3", "cube:9",   "torus:16x2x2", "ring:1"};

    srand(1);
    for (unsigned draw = 0; draw < DRAWS; draw++) {
        struct network network =
            network_of(names[(unsigned)rand() % (sizeof names / sizeof names[0])]);
        unsigned parts = 1 + (unsigned)rand() % PARTS_MAX;
        uint32_t firsts[PARTS_MAX + 1] = {0};

        for (unsigned i = 1; i < parts; i++) {
            firsts[i] = firsts[i - 1] + (uint32_t)rand() % (network.nodes - firsts[i - 1] + 1);
        }
        firsts[parts] = network.nodes;
        expect_links_divided(&network, firsts, parts);
    }
}

TEST(a_machine_that_is_here_as_a_whole_has_all_links)
{
    struct network network = network_of("torus:4x4");
    struct launcher_place whole = launcher_whole(&network);

    assert_true(whole.host);
    assert_int_equal(launcher_links_within(&network, &whole), network_link_count(&network));
}
