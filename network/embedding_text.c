#include "network/embedding_text.h"

#include <stdio.h>
#include <string.h>

#include "network/hamilton.h"

enum { SHOWN = 40, DIGITS_MAX = 9 };

static const char *const names[] = {"gray", "cycle", "rows", "tree"};

const char *embedding_name(unsigned embedding)
{
    return embedding < EMBEDDINGS ? names[embedding] : NULL;
}

struct network embedding_guest(enum embedding embedding, const struct network *host)
{
    struct network guest = *host;
    uint32_t line[] = {host->nodes, 1};

    if (embedding == EMBEDDING_CYCLE && !hamilton_has_cycle(host)) {
        network_make(&guest, NETWORK_MESH, line, 2);
    } else if (embedding < EMBEDDING_ROWS) {
        network_make(&guest, NETWORK_RING, line, 1);
    }
    return guest;
}

static bool refuse_size(const struct network *host, const char *host_name,
                        const struct network *guest, const char *name,
                        char error[NETWORK_ERROR_MAX])
{
    unsigned nodes = (unsigned)host->nodes;

    if (embedding_is_ring(guest) && guest->nodes % 2 && embedding_is_cube(host) && nodes > 2) {
        return network_complain(
            error,
            "%s does not lie in %s: a cube has cycles of even lengths alone, here from "
            "4 to %u; with a rank at each node it is ring:%u",
            name, host_name, nodes, nodes);
    }
    return network_complain(error,
                            "%s has %u ranks and %s %u nodes: a program has a rank at each node",
                            name, (unsigned)guest->nodes, host_name, nodes);
}

static bool refuse_cycle(const struct network *host, const char *host_name,
                         const struct network *guest, const char *name,
                         char error[NETWORK_ERROR_MAX])
{
    unsigned nodes = (unsigned)host->nodes;

    if (!embedding_is_line(guest)) {
        return network_complain(
            error, "--map cycle lays a ring or a line, and %s is neither: use --as %s%u", name,
            hamilton_has_cycle(host) ? "ring:" : "mesh:1x", nodes);
    }
    if (embedding_is_line(host)) {
        return network_complain(
            error,
            "%s is a line, and has no Hamiltonian cycle: --as mesh:1x%u is a line "
            "along its Hamiltonian path",
            host_name, nodes);
    }
    return network_complain(
        error,
        "%s has no Hamiltonian cycle, for %u nodes that do not wrap are odd in number: "
        "--as mesh:1x%u is a line along its Hamiltonian path",
        host_name, nodes, nodes);
}

bool embedding_find(enum embedding embedding, const struct network *host,
                    const struct network *guest, uint32_t *node_of, char error[NETWORK_ERROR_MAX])
{
    char name[NETWORK_NAME_MAX], host_name[NETWORK_NAME_MAX];

    if (embedding_make(embedding, host, guest, node_of)) {
        return true;
    }
    network_name(guest, name);
    network_name(host, host_name);
    if (guest->nodes != host->nodes) {
        return refuse_size(host, host_name, guest, name, error);
    }
    if (embedding == EMBEDDING_CYCLE) {
        return refuse_cycle(host, host_name, guest, name, error);
    }
    return network_complain(error,
                            "--map %s is for cubes, and %s is none: --map cycle lays a ring there, "
                            "--map rows any network of %u nodes",
                            names[embedding], host_name, (unsigned)host->nodes);
}

/* Words of a file, with the line of each. */
struct words {
    const char *at;
    unsigned line;
    char word[NETWORK_NAME_MAX];
};

static bool next_word(struct words *words)
{
    size_t length = 0;

    for (;; words->at++) {
        if (*words->at == '#') {
            words->at += strcspn(words->at, "\n");
        }
        if (*words->at == '\n') {
            words->line++;
        } else if (!strchr(" \t\r,", *words->at) || !*words->at) {
            break;
        }
    }
    while (!strchr(" \t\r\n,#", *words->at)) { /* the ending zero is found, too */
        if (length + 1 < sizeof words->word) {
            words->word[length++] = *words->at;
        }
        words->at++;
    }
    words->word[length] = '\0';
    return length > 0;
}

/* The network behind "network" or "as". */
static bool read_network(struct words *words, const char *file, const struct network *host,
                         const char *what, struct network *network, char error[NETWORK_ERROR_MAX])
{
    const struct network_limits limits = {NETWORK_NODES_MAX, "here"};
    char wrong[NETWORK_ERROR_MAX], name[NETWORK_NAME_MAX];

    if (!next_word(words)) {
        return network_complain(error,
                                "%.60s, line %u: a network stands behind '%s', for example '%s "
                                "cube:4'",
                                file, words->line, what, what);
    }
    if (!network_parse(network, words->word, &limits, wrong)) {
        return network_complain(error, "%.60s, line %u: %.150s", file, words->line, wrong);
    }
    if (strcmp(what, "network") == 0 && network_digest(network) != network_digest(host)) {
        network_name(host, name);
        return network_complain(error, "%.60s is a map for %.40s, and this is %.40s", file,
                                words->word, name);
    }
    return true;
}

static bool read_node(const char *word, uint32_t *node)
{
    size_t digits = strspn(word, "0123456789");

    *node = 0;
    for (size_t i = 0; i < digits && digits <= DIGITS_MAX; i++) {
        *node = *node * 10 + (uint32_t)(word[i] - '0');
    }
    return digits > 0 && digits <= DIGITS_MAX && word[digits] == '\0';
}

static bool check_permutation(const char *file, const struct network *host, uint32_t count,
                              const uint32_t *node_of, uint32_t *rank_of,
                              char error[NETWORK_ERROR_MAX])
{
    char name[NETWORK_NAME_MAX];

    network_name(host, name);
    if (count != host->nodes) {
        return network_complain(error, "%.60s has the nodes of %u ranks, and %s has %u nodes", file,
                                (unsigned)count, name, (unsigned)host->nodes);
    }
    if (embedding_invert(count, node_of, rank_of)) {
        return true;
    }
    for (uint32_t rank = 1;; rank++) { /* there are two at one node */
        for (uint32_t other = 0; other < rank; other++) {
            if (node_of[other] == node_of[rank]) {
                return network_complain(
                    error, "%.60s has ranks %u and %u at node %u: each node has one", file,
                    (unsigned)other, (unsigned)rank, (unsigned)node_of[rank]);
            }
        }
    }
}

bool embedding_read(const char *text, const char *name, const struct network *host,
                    uint32_t *node_of, uint32_t *rank_of, struct network *guest,
                    char error[NETWORK_ERROR_MAX])
{
    struct words words = {.at = text, .line = 1};
    struct network named;
    char host_name[NETWORK_NAME_MAX];
    uint32_t count = 0, node;

    network_name(host, host_name);
    while (next_word(&words)) {
        if (strcmp(words.word, "network") == 0 || strcmp(words.word, "as") == 0) {
            bool as = words.word[0] == 'a';
            if (!read_network(&words, name, host, as ? "as" : "network", as ? guest : &named,
                              error)) {
                return false;
            }
            continue;
        }
        if (!read_node(words.word, &node) || node >= host->nodes) {
            return network_complain(
                error, "%.60s, line %u: '%.*s' is no node of %s: nodes are 0 to %u", name,
                words.line, SHOWN, words.word, host_name, (unsigned)host->nodes - 1);
        }
        if (count < host->nodes) {
            node_of[count] = node;
        }
        count++;
    }
    return check_permutation(name, host, count, node_of, rank_of, error);
}
