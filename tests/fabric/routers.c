#include "tests/fabric/routers.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "network/text.h"

enum { PATIENCE_US = 120 * 1000 * 1000, QUIET_ROUNDS = 12 };

static void wire(struct routers *all)
{
    const struct network *network = &all->network;

    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);
            struct memory_end *end = &all->nodes[rank].ends[p];
            all->nodes[rank].links[p] = &end->link;
            if (peer == NETWORK_NO_NODE) {
                memory_link_absent(end);
            } else if (network_owns_link(network, rank, p)) {
                memory_link_init(end, &all->nodes[peer].ends[network_far_port(network, p)],
                                 &all->seed, &all->fault);
            }
        }
    }
}

struct routers *routers_make(const char *network, uint64_t seed, struct memory_fault fault,
                             struct profile profile)
{
    static const struct network_limits limits = {.nodes = 1024, .place = "in a test"};
    struct routers *all = calloc(1, sizeof *all);
    char error[NETWORK_ERROR_MAX];

    CHECK(all && network_parse(&all->network, network, &limits, error));
    all->seed = seed;
    all->fault = fault;
    all->nodes = calloc(all->network.nodes, sizeof *all->nodes);
    CHECK(all->nodes);
    wire(all);
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        struct routers_node *node = &all->nodes[rank];
        node->memory = malloc(router_memory_bytes(all->network.ports, 0));
        CHECK(node->memory);
        struct router_config config = {.id = rank,
                                       .links = node->links,
                                       .link_count = all->network.ports,
                                       .payload_checked =
                                           fault.flip_per_million || fault.drop_per_million,
                                       .memory = node->memory,
                                       .network = &all->network,
                                       .profile = profile};
        router_init(&node->router, &config);
    }
    routers_settle(all);
    return all;
}

void routers_free(struct routers *all)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        struct routers_node *node = &all->nodes[rank];
        for (unsigned p = 0; p < all->network.ports; p++) {
            if (node->ends[p].peer && network_owns_link(&all->network, rank, p)) {
                memory_link_free(&node->ends[p], node->ends[p].peer);
            }
        }
        free(node->memory);
    }
    free(all->nodes);
    free(all);
}

static bool on_the_way(const struct routers *all)
{
    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        for (unsigned p = 0; p < all->network.ports; p++) {
            const struct memory_end *end = &all->nodes[rank].ends[p];
            if (end->peer && end->link.carrier == CARRIER_UP && end->first != end->kicked) {
                return true;
            }
        }
    }
    return false;
}

static bool step(struct routers *all, uint32_t rank)
{
    struct router *router = &all->nodes[rank].router;
    bool more = router_step(router, all->now_us);
    const struct notice *notice;

    while ((notice = router_notice(router))) {
        if (all->take) {
            all->take(all, rank, notice);
        }
    }
    return more;
}

bool routers_round(struct routers *all)
{
    uint32_t count = all->network.nodes, start = memory_random(&all->seed) % count;
    bool more = false;

    all->now_us++;
    for (uint32_t i = 0; i < count; i++) {
        if (memory_random(&all->seed) % 4) {
            more |= step(all, (start + i) % count);
        }
    }
    return more || on_the_way(all);
}

void routers_settle(struct routers *all)
{
    for (unsigned quiet = 0, rounds = 0; quiet < QUIET_ROUNDS && rounds < 100000; rounds++) {
        quiet = routers_round(all) ? 0 : quiet + 1;
    }
}

static uint64_t next_deadline(const struct routers *all)
{
    uint64_t deadline = UINT64_MAX;

    for (uint32_t rank = 0; rank < all->network.nodes; rank++) {
        uint64_t wake = router_deadline(&all->nodes[rank].router);
        if (wake < deadline) {
            deadline = wake;
        }
    }
    return deadline;
}

bool routers_run(struct routers *all, bool (*done)(struct routers *all))
{
    uint64_t limit = all->now_us + PATIENCE_US;

    while (!done(all) && all->now_us < limit) {
        routers_settle(all);
        uint64_t deadline = next_deadline(all);
        if (deadline > all->now_us) {
            all->now_us = deadline < limit ? deadline : limit;
        }
    }
    return done(all);
}

unsigned routers_port(const struct routers *all, uint32_t from, uint32_t to)
{
    unsigned port = 0;

    while (network_neighbour(&all->network, from, port) != to) {
        CHECK(++port < all->network.ports);
    }
    return port;
}

void routers_cut(struct routers *all, uint32_t from, uint32_t to)
{
    memory_link_cut(&all->nodes[from].ends[routers_port(all, from, to)]);
}
