/*
 * map.c - ecube map: how one network lies in another: which rank is at which node, how far its
 * neighbours are apart there, and how many of their ways share a link.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/command/command_line.h"
#include "host/command/map_option.h"
#include "host/command/options.h"
#include "host/command/output.h"
#include "host/command/verbs.h"
#include "network/embedding_text.h"
#include "network/text.h"

enum { ROWS_SHOWN = 256 };

struct map_verb {
    const char *network, *json;
    struct map_wanted map;
    bool quiet;
};

static const struct option_row option_rows[] = {
    {"network", "NETWORK",
     "where the ranks are: cube:D, ring:N, mesh:AxB[x...] or torus:AxB[x...] (the default is "
     "cube:4)",
     option_text, OPTION_AT(struct map_verb, network), .letter = 'm'},
    {"mesh", .help = NULL},
    {.more = options_map, OPTION_AT(struct map_verb, map)},
    {"json", "FILE",
     "write it to FILE as JSON (-: standard output, and the table to standard error)", option_text,
     OPTION_AT(struct map_verb, json)},
    {"quiet", NULL, "no table of ranks and nodes", option_flag, OPTION_AT(struct map_verb, quiet),
     .letter = 'q'},
    {0},
};

static const struct command_line command_line = {
    option_rows,
    .text = "Shows how the network of --as, the guest, lies in that of --network: the node of each "
            "rank; the dilation, the longest way between two ranks that are neighbours in the "
            "guest; and the congestion, the most ways of such neighbours over one directed link. "
            "Without --map it is gray in cubes, else cycle for rings, else rows. The same options "
            "of run, up and sim run a program on it."
            "\vA FILE has the nodes of ranks 0, 1, 2, ..., with blanks, commas or lines between "
            "them; a line 'as torus:4x4' in it does what --as does, a line 'network cube:4' "
            "refuses all others, and # begins a remark.\n\n"
            "Examples: ecube map --network cube:4 --as torus:4x4\n"
            "          ecube map --network torus:3x5 --map cycle --as ring:15\n"
            "          ecube map --network mesh:4x4 --as mesh:2x8 --map rows --json -\n\n"
            "Exit status: 0, or 2 for bad input.",
};

/* As many columns of "rank node" as fit into lines of 96 characters, in rows. */
static void print_table(const struct map_choice *choice, uint32_t nodes)
{
    uint32_t shown = nodes < ROWS_SHOWN ? nodes : ROWS_SHOWN, columns = shown < 8 ? shown : 8;

    for (uint32_t i = 0; i < columns; i++) {
        printf("%s", i ? "  rank  node" : "rank  node");
    }
    putchar('\n');
    for (uint32_t rank = 0; rank < shown; rank++) {
        bool last = rank + 1 == shown || rank % columns == columns - 1;
        printf("%s%*u %5u%s", rank % columns ? " " : "", rank % columns ? 5 : 4, (unsigned)rank,
               (unsigned)choice->node_of[rank], last ? "\n" : "");
    }
    if (shown < nodes) {
        printf("... and %u more (--json has all)\n", (unsigned)(nodes - shown));
    }
}

static json_t *describe(const struct map_choice *choice, const char *network, const char *as,
                        uint32_t nodes, const struct embedding_cost *cost)
{
    json_t *list = json_array(), *name = json_string(choice->map.name);

    for (uint32_t rank = 0; rank < nodes; rank++) {
        json_array_append_new(list, json_integer(choice->node_of[rank]));
    }
    return json_pack("{s:s, s:s, s:o, s:i, s:o, s:i, s:f, s:i}", "network", network, "as", as,
                     "map", name ? name : json_null(), "nodes", (int)nodes, "node_of_rank", list,
                     "dilation", (int)cost->dilation, "mean_dilation",
                     cost->links ? (double)cost->hops / cost->links : 0.0, "congestion",
                     (int)cost->congestion);
}

/* Here --as goes without --map. */
static int check_guest(const struct map_wanted *wanted, struct message *message)
{
    return map_check(&(struct map_wanted){wanted->map ? wanted->map : "", wanted->as}, message);
}

int verb_map(int argc, char **argv)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};
    static struct map_verb verb = {.network = "cube:4"};
    char name[NETWORK_NAME_MAX], as[NETWORK_NAME_MAX];
    struct network network;
    struct map_choice choice;
    struct output output;
    struct message message;
    int status = 0;

    command_line_parse(&command_line, argc, argv, &verb);
    if (options_find_network(verb.network, &limits, &network, &message) != 0 ||
        check_guest(&verb.map, &message) != 0 ||
        map_choose(&choice, &verb.map, &network, &message) != 0) {
        return message_print(&message);
    }
    if (output_open(&output, verb.json, &message) != 0) {
        map_choice_free(&choice);
        return message_print(&message);
    }
    uint32_t *load = calloc((size_t)network.nodes * network.ports + 1, sizeof *load);
    if (!load) {
        map_choice_free(&choice);
        output_drop(&output);
        message_set(&message, "out of memory");
        return message_print(&message);
    }
    bool tree = strcmp(choice.map.name, embedding_name(EMBEDDING_TREE)) == 0;
    struct embedding_cost cost =
        tree ? embedding_measure_tree(&network, choice.node_of, load)
             : embedding_measure(&network, &choice.map.guest, choice.node_of, load);
    network_name(&network, name);
    network_name(&choice.map.guest, as);
    if (!verb.quiet) {
        print_table(&choice, network.nodes);
    }
    printf("%s in %s by %s: dilation %u (mean %.3f), congestion %u\n", tree ? "a tree" : as, name,
           choice.map.name, cost.dilation, cost.links ? (double)cost.hops / cost.links : 0.0,
           (unsigned)cost.congestion);
    json_t *object = describe(&choice, name, as, network.nodes, &cost);
    if (output_write(&output, object, &message) != 0) {
        status = message_print(&message);
    }
    json_decref(object);
    free(load);
    map_choice_free(&choice);
    return status;
}
