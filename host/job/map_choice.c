#include "host/job/map_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/computer/input_file.h"
#include "host/console/choice.h"
#include "network/embedding_text.h"

enum { FILE_BYTES_MAX = 1 << 20 };

/* The embedding that a word names; EMBEDDINGS: none, it is a file. */
static enum embedding find_embedding(const char *word)
{
    unsigned i = 0;

    while (i < EMBEDDINGS && strcmp(embedding_name(i), word) != 0) {
        i++;
    }
    return (enum embedding)i;
}

bool map_is_file(const struct map_wanted *wanted)
{
    return wanted->map && find_embedding(wanted->map) == EMBEDDINGS;
}

/* What suits two networks when nobody says. */
static enum embedding usual(const struct network *host, const struct network *guest)
{
    return embedding_is_cube(host)    ? EMBEDDING_GRAY
           : embedding_is_line(guest) ? EMBEDDING_CYCLE
                                      : EMBEDDING_ROWS;
}

static char *read_text(const char *path, struct message *message)
{
    FILE *file = input_file_open(path, "map", message);
    char *text = file ? malloc(FILE_BYTES_MAX + 1) : NULL;

    if (!text) {
        if (file) {
            input_file_close(file);
            message_set(message, "out of memory");
        }
        return NULL;
    }
    size_t bytes = fread(text, 1, FILE_BYTES_MAX + 1, file);
    bool whole = !ferror(file) && bytes <= FILE_BYTES_MAX && !memchr(text, '\0', bytes);
    input_file_close(file);
    if (!whole) {
        free(text);
        message_set(message, "%.200s is no map: a map is text, the node of each rank", path);
        return NULL;
    }
    text[bytes] = '\0';
    return text;
}

static int read_file(struct map_choice *choice, const char *path, const struct network *network,
                     bool as, struct message *message)
{
    struct choice words;
    struct network said = choice->map.guest;
    struct message why;
    char *text = read_text(path, &why);

    if (!text) {
        choice_begin(&words, path);
        for (unsigned i = 0; i < EMBEDDINGS; i++) {
            choice_offer(&words, embedding_name(i));
        }
        return words.near
                   ? message_set(message, "--map %.60s: did you mean %s?", path, words.near)
                   : message_set(message, "--map %.60s: use gray, cycle, rows, tree or a file: %s",
                                 path, why.text);
    }
    bool read =
        embedding_read(text, path, network, choice->node_of, choice->rank_of, &said, message->text);
    free(text);
    if (!as) {
        choice->map.guest = said;
    }
    return read ? 0 : -1;
}

static int find_guest(struct network *guest, const char *text, struct message *message)
{
    static const struct network_limits limits = {.nodes = NETWORK_NODES_MAX, .place = "here"};

    return network_parse(guest, text, &limits, message->text) ? 0 : -1;
}

/* As many ranks as nodes, whatever the embedding. */
static int check_size(const struct network *network, const struct network *guest,
                      struct message *message)
{
    uint32_t none;

    return guest->nodes == network->nodes
               ? 0
               : (embedding_find(EMBEDDING_ROWS, network, guest, &none, message->text), -1);
}

static bool keeps_neighbours(const struct network *network, const struct network *guest,
                             const uint32_t *node_of)
{
    bool keeps = true;

    for (uint32_t rank = 0; rank < guest->nodes; rank++) {
        for (unsigned port = 0; port < guest->ports; port++) {
            uint32_t other = network_neighbour(guest, rank, port);
            keeps = keeps && (other == NETWORK_NO_NODE ||
                              network_distance(network, node_of[rank], node_of[other]) == 1);
        }
    }
    return keeps;
}

int map_choose(struct map_choice *choice, const struct map_wanted *wanted,
               const struct network *network, struct message *message)
{
    enum embedding embedding = wanted->map ? find_embedding(wanted->map) : EMBEDDINGS;
    struct network *guest = &choice->map.guest;

    *choice = (struct map_choice){.node_of = calloc(network->nodes, sizeof *choice->node_of),
                                  .rank_of = calloc(network->nodes, sizeof *choice->rank_of)};
    if (!choice->node_of || !choice->rank_of) {
        map_choice_free(choice);
        return message_set(message, "out of memory");
    }
    *guest = embedding < EMBEDDINGS ? embedding_guest(embedding, network) : *network;
    guest->map = NULL;
    guest->host_links = 0;
    int status = wanted->as ? find_guest(guest, wanted->as, message) : 0;
    if (!wanted->map) {
        embedding = usual(network, guest);
    }
    if (embedding == EMBEDDINGS) {
        choice->file = strdup(wanted->map);
    }
    choice->map.name = embedding < EMBEDDINGS ? embedding_name(embedding) : choice->file;
    if (status == 0 && embedding < EMBEDDINGS) {
        status = embedding_find(embedding, network, guest, choice->node_of, message->text) ? 0 : -1;
        embedding_invert(network->nodes, choice->node_of, choice->rank_of);
    } else if (status == 0) {
        status = read_file(choice, wanted->map, network, wanted->as, message);
        status = status == 0 ? check_size(network, guest, message) : status;
    }
    if (status != 0) {
        map_choice_free(choice);
        return -1;
    }
    choice->map.node_of = choice->node_of;
    choice->map.rank_of = choice->rank_of;
    choice->map.keeps_neighbours = keeps_neighbours(network, guest, choice->node_of);
    return 0;
}

void map_choice_free(struct map_choice *choice)
{
    free(choice->node_of);
    free(choice->rank_of);
    free(choice->file);
    *choice = (struct map_choice){0};
}

int map_add(struct job_map **map, const struct map_wanted *wanted, const struct network *network,
            struct message *message)
{
    *map = calloc(1, sizeof **map);
    if (!*map) {
        return message_set(message, "out of memory");
    }
    if (map_choose(&(*map)->choice, wanted, network, message) != 0) {
        free(*map);
        *map = NULL;
        return -1;
    }
    (*map)->network = *network;
    (*map)->network.map = &(*map)->choice.map;
    return 0;
}

void map_free(struct job_map *map)
{
    if (map) {
        plan_cache_free(map->cache);
        map_choice_free(&map->choice);
        free(map);
    }
}

json_t *map_describe(const struct network *network)
{
    char as[NETWORK_NAME_MAX];
    json_t *list, *name;

    if (!network->map) {
        return json_null();
    }
    list = json_array();
    name = json_string(network->map->name);
    network_name(&network->map->guest, as);
    for (uint32_t rank = 0; rank < network->nodes; rank++) {
        json_array_append_new(list, json_integer(network_node(network, rank)));
    }
    return json_pack("{s:o, s:s, s:o}", "map", name ? name : json_null(), "as", as, "node_of_rank",
                     list);
}
