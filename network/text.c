#include "network/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    DIGITS_MAX = 9,
    SHOWN = 40 /* characters of what the user wrote */
};

static const char usage[] = "use cube:D, ring:N, mesh:AxB or torus:AxB (or AxBxC...), "
                            "for example cube:4";

static const struct form {
    const char *prefix;
    const char *name;
    enum network_kind kind;
    const char *example;
    const char *alone; /* what has one size, in words; NULL: it has several */
} forms[] = {
    {"cube:", "cube", NETWORK_CUBE, "cube:4", NULL},
    {"ring:", "ring", NETWORK_RING, "ring:6", "a ring"},
    {"mesh:", "mesh", NETWORK_MESH, "mesh:3x4", NULL},
    {"torus:", "torus", NETWORK_TORUS, "torus:4x4x2", NULL},
};

bool network_complain(char error[NETWORK_ERROR_MAX], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(error, NETWORK_ERROR_MAX, format, arguments);
    va_end(arguments);
    return false;
}

/* Reads the digits at the start of a text; returns what follows, or NULL when there are none, or
 * more than any number here has. */
static const char *read_number(const char *text, uint32_t *value)
{
    const char *p = text;

    for (*value = 0; *p >= '0' && *p <= '9' && p - text < DIGITS_MAX; p++) {
        *value = *value * 10 + (uint32_t)(*p - '0');
    }
    return p == text || (*p >= '0' && *p <= '9') ? NULL : p;
}

static bool parse_cube(struct network *network, const char *text, const char *digits,
                       const struct network_limits *limits, char error[NETWORK_ERROR_MAX])
{
    uint32_t dims;
    const char *rest = read_number(digits, &dims);
    unsigned most = 31 - (unsigned)__builtin_clz(limits->nodes);

    if (!rest || *rest || dims > most) {
        return network_complain(
            error,
            "'%.*s': the dimension of a cube is a number from 0 to %u %s, for example "
            "cube:4",
            SHOWN, text, most, limits->place);
    }
    return network_make(network, NETWORK_CUBE, NULL, dims);
}

/* Reads numbers joined by x; how many there are, or -1. */
static int read_sizes(const char *text, uint32_t sizes[NETWORK_SIZES_MAX])
{
    for (int count = 0; count < NETWORK_SIZES_MAX; text++) {
        text = read_number(text, &sizes[count]);
        if (!text || sizes[count++] == 0 || (*text && *text != 'x')) {
            return -1;
        }
        if (!*text) {
            return count;
        }
    }
    return -1;
}

static bool check_limits(const uint32_t *sizes, int count, const char *text,
                         const struct network_limits *limits, char error[NETWORK_ERROR_MAX])
{
    uint64_t nodes = 1;

    for (int i = 0; i < count && nodes <= UINT32_MAX; i++) {
        nodes *= sizes[i];
    }
    if (nodes <= limits->nodes) {
        return true;
    }
    return network_complain(error, "'%.*s' has %s%llu nodes: at most %u are possible %s", SHOWN,
                            text, nodes > UINT32_MAX ? "more than " : "",
                            (unsigned long long)(nodes > UINT32_MAX ? UINT32_MAX : nodes),
                            (unsigned)limits->nodes, limits->place);
}

static bool parse_sizes(struct network *network, const char *text, const struct form *form,
                        const struct network_limits *limits, char error[NETWORK_ERROR_MAX])
{
    uint32_t sizes[NETWORK_SIZES_MAX], reversed[NETWORK_SIZES_MAX];
    const char *numbers = text + strlen(form->prefix);
    int count = read_sizes(numbers, sizes);

    if (form->alone && count != 1) {
        return network_complain(error,
                                "'%.*s': %s has one size, a number from 1 to %u, for example %s",
                                SHOWN, text, form->alone, (unsigned)limits->nodes, form->example);
    }
    if (count < 0) {
        return network_complain(
            error,
            "'%.*s': sizes are 2 to 8 numbers joined by x, each from 1 to %u, for "
            "example %s",
            SHOWN, text, (unsigned)limits->nodes, form->example);
    }
    if (!form->alone && count == 1) {
        return network_complain(error, "'%.*s' has one size: is ring:%u or %s1x%u meant?", SHOWN,
                                text, (unsigned)sizes[0], form->prefix, (unsigned)sizes[0]);
    }
    for (int i = 0; i < count; i++) {
        reversed[i] = sizes[count - 1 - i];
    }
    return check_limits(sizes, count, text, limits, error) &&
           network_make(network, form->kind, reversed, (unsigned)count);
}

bool network_parse(struct network *network, const char *text, const struct network_limits *limits,
                   char error[NETWORK_ERROR_MAX])
{
    for (unsigned i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        size_t length = strlen(forms[i].prefix);
        if (strncmp(text, forms[i].prefix, length) != 0) {
            continue;
        }
        return forms[i].kind == NETWORK_CUBE
                   ? parse_cube(network, text, text + length, limits, error)
                   : parse_sizes(network, text, &forms[i], limits, error);
    }
    return network_complain(error, "unknown network '%.*s': %s", SHOWN, text, usage);
}

const char *network_kind_name(unsigned index)
{
    return index < sizeof forms / sizeof forms[0] ? forms[index].name : NULL;
}

void network_name(const struct network *network, char name[NETWORK_NAME_MAX])
{
    const struct form *form = &forms[network->kind - NETWORK_CUBE];
    int used = snprintf(name, NETWORK_NAME_MAX, "%s", form->prefix);

    if (network->kind == NETWORK_CUBE) {
        used += snprintf(name + used, NETWORK_NAME_MAX - (size_t)used, "%u", network->dims);
    }
    for (unsigned k = network->dims; network->kind != NETWORK_CUBE && k-- > 0;) {
        used += snprintf(name + used, NETWORK_NAME_MAX - (size_t)used, "%u%s",
                         (unsigned)network->dim[k].size, k ? "x" : "");
    }
}

/* The most ranges that halving makes of a network. */
static unsigned most_host_links(const struct network *network)
{
    struct network cut = *network;
    unsigned most = 1;

    while (network_set_host_links(&cut, 2 * most)) {
        most *= 2;
    }
    return most;
}

bool network_parse_host_links(struct network *network, unsigned links,
                              char error[NETWORK_ERROR_MAX])
{
    char name[NETWORK_NAME_MAX];

    if (links == 0 || (links & (links - 1)) != 0) {
        return network_complain(error, "--host-links %u: use a power of two, from 1 to %d", links,
                                NETWORK_HOST_LINKS_MAX);
    }
    if (links > NETWORK_HOST_LINKS_MAX) {
        return network_complain(error, "--host-links %u: the host has at most %d", links,
                                NETWORK_HOST_LINKS_MAX);
    }
    if (!network_set_host_links(network, links)) {
        network_name(network, name);
        return network_complain(error, "--host-links %u: halving makes at most %u ranges of %s",
                                links, most_host_links(network), name);
    }
    return true;
}

bool network_parse_node(const struct network *network, const char *text, uint32_t *node,
                        char error[NETWORK_ERROR_MAX])
{
    const char *rest = read_number(text, node);
    char name[NETWORK_NAME_MAX];

    if (rest && !*rest && *node < network->nodes) {
        return true;
    }
    network_name(network, name);
    return network_complain(error, "'%.*s' is no node of %s: nodes are 0 to %u", SHOWN, text, name,
                            (unsigned)network->nodes - 1);
}

bool network_parse_link(const struct network *network, const char *text, uint32_t ends[2],
                        char error[NETWORK_ERROR_MAX])
{
    const char *rest = read_number(text, &ends[0]);
    char name[NETWORK_NAME_MAX], example[64] = "";

    rest = rest && *rest == '-' ? read_number(rest + 1, &ends[1]) : NULL;
    if (rest && !*rest && ends[0] < network->nodes && ends[1] < network->nodes &&
        network_port_to(network, ends[0], ends[1]) != NETWORK_NO_PORT) {
        return true;
    }
    network_name(network, name);
    if (network->nodes == 1) {
        return network_complain(error, "'%.*s' is no link of %s: it has none", SHOWN, text, name);
    }
    for (unsigned port = network->ports; port-- > 0;) {
        uint32_t peer = network_neighbour(network, 0, port);
        if (peer != NETWORK_NO_NODE) {
            snprintf(example, sizeof example, "0-%u", (unsigned)peer);
        }
    }
    return network_complain(error,
                            "'%.*s' is no link of %s: name two nodes that are neighbours, as %s",
                            SHOWN, text, name, example);
}

static bool check_host_link(const struct network *network, uint32_t node,
                            char error[NETWORK_ERROR_MAX])
{
    if (network_host_link_of(network, node) >= 0) {
        return true;
    }
    if (network->host_links == 0) {
        return network_complain(error, "node %u has no host link: node 0 and its neighbours have",
                                (unsigned)node);
    }
    return network_complain(error, "node %u has no host link: node %u has that of its range",
                            (unsigned)node, (unsigned)network_host_root(network, node));
}

bool network_parse_cable(const struct network *network, const char *text, uint32_t ends[2],
                         char error[NETWORK_ERROR_MAX])
{
    const char *dash = strchr(text, '-');
    char first[SHOWN];

    if (strncmp(text, "host-", 5) == 0) {
        ends[0] = NETWORK_NO_NODE;
        return network_parse_node(network, text + 5, &ends[1], error) &&
               check_host_link(network, ends[1], error);
    }
    if (dash && strcmp(dash, "-host") == 0) {
        snprintf(first, sizeof first, "%.*s", (int)(dash - text), text);
        ends[1] = NETWORK_NO_NODE;
        return network_parse_node(network, first, &ends[0], error) &&
               check_host_link(network, ends[0], error);
    }
    return network_parse_link(network, text, ends, error);
}
