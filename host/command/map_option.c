#include "host/command/map_option.h"

#include "host/command/options.h"

const struct option_row options_map[] = {
    {"map", "gray|cycle|rows|tree|FILE",
     "which rank is at which node: gray (rings, and meshes and tori whose sides are powers of two, "
     "in a cube), cycle (a ring along a Hamiltonian cycle), rows (rank r at node r), tree (a "
     "binary tree: rank r has the children 2 r + 1 and 2 r + 2), or a file of the nodes of ranks "
     "0, 1, ...",
     option_text, OPTION_AT(struct map_wanted, map)},
    {"as", "NETWORK",
     "what the ranks form, for example torus:4x4 (default: with gray and cycle a ring, else the "
     "network itself)",
     option_text, OPTION_AT(struct map_wanted, as)},
    {0},
};

int map_check(const struct map_wanted *wanted, struct message *message)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};
    struct network guest;

    if (!wanted->map && wanted->as) {
        return message_set(message,
                           "--as %.40s: say with --map where its ranks are, for example --map gray",
                           wanted->as);
    }
    return wanted->as ? options_find_network(wanted->as, &limits, &guest, message) : 0;
}

int map_apply(const struct map_wanted *wanted, struct network *network, struct message *message)
{
    static struct map_choice choice;

    if (map_check(wanted, message) != 0) {
        return -1;
    }
    if (!wanted->map) {
        return 0;
    }
    if (map_choose(&choice, wanted, network, message) != 0) {
        return -1;
    }
    network->map = &choice.map;
    return 0;
}
