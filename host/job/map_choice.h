/*
 * map_choice.h - which rank is at which node, and what the ranks form, as users ask for it by --map
 * and --as: of a machine, or of a load alone.
 *
 * Errors   -1 and one line
 * Context  the tool
 */
#pragma once

#include <jansson.h>

#include "host/console/message.h"
#include "network/network.h"
#include "planner/planner.h"

/* NULL: not given */
struct map_wanted {
    const char *map; /* gray, cycle, rows, tree or a file */
    const char *as;
};

/* A map with its tables. */
struct map_choice {
    struct network_map map;
    uint32_t *node_of, *rank_of;
    char *file; /* its name, if it is one */
};

/* Of a load that has one of its own: the machine's network with it, and the plans for that. */
struct job_map {
    struct network network;
    struct map_choice choice;
    struct plan_cache *cache; /* NULL: nobody has made it */
};

/* Finds the map of a network. Without --map it is gray, where that can be, else cycle for rings,
 * else rows: `ecube map` alone needs neither. */
int map_choose(struct map_choice *choice, const struct map_wanted *wanted,
               const struct network *network, struct message *message);
void map_choice_free(struct map_choice *choice);

/* Whether it is the name of a file, not of an embedding. */
bool map_is_file(const struct map_wanted *wanted);

int map_add(struct job_map **map, const struct map_wanted *wanted, const struct network *network,
            struct message *message);
void map_free(struct job_map *map); /* NULL: there is none */

/* The member "map" of --json: null, or the embedding's name or file, what the ranks form, and the
 * node of each. */
json_t *map_describe(const struct network *network);
