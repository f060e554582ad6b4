#include "host/topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A decimal number that fills the text up to `end`; -1 when it is none. */
static long parse_number(const char *text, char end, const char **rest)
{
    long value = 0;
    const char *p = text;

    while (*p >= '0' && *p <= '9' && p - text < 7) {
        value = value * 10 + (*p++ - '0');
    }
    if (p == text || *p != end) {
        return -1;
    }
    *rest = end ? p + 1 : p;
    return value;
}

int topology_parse_cube(struct topology *topology, const char *text, unsigned dims_max,
                        struct message *message)
{
    const char *rest;
    long dims;

    if (strncmp(text, "cube:", 5) != 0) {
        return message_set(
            message, "unknown network '%.40s': use cube:D with D from 0 to %u, for example cube:4",
            text, dims_max);
    }
    dims = parse_number(text + 5, '\0', &rest);
    if (dims < 0 || dims > (long)dims_max) {
        return message_set(message,
                           "'%.40s': the dimension of a cube is a number from 0 to %u, for example "
                           "cube:4",
                           text, dims_max);
    }
    topology->dims = (unsigned)dims;
    topology->nodes = UINT32_C(1) << dims;
    snprintf(topology->name, sizeof topology->name, "cube:%u", topology->dims);
    return 0;
}

int topology_parse(struct topology *topology, const char *text, struct message *message)
{
    return topology_parse_cube(topology, text, TOPOLOGY_DIMS_MAX, message);
}

bool topology_has_host_link(uint32_t node)
{
    return (node & (node - 1)) == 0;
}

unsigned topology_ports(const struct topology *topology, uint32_t node)
{
    return topology->dims + (topology_has_host_link(node) ? 1 : 0);
}

uint32_t topology_host_peer(unsigned index)
{
    return index == 0 ? 0 : UINT32_C(1) << (index - 1);
}

int topology_dimension(const struct topology *topology, uint32_t a, uint32_t b)
{
    for (unsigned p = 0; p < topology->dims; p++) {
        if ((a ^ b) == UINT32_C(1) << p) {
            return (int)p;
        }
    }
    return -1;
}

int topology_parse_cable(const struct topology *topology, const char *text, uint32_t ends[2],
                         struct message *message)
{
    const char *second, *rest;
    long a = parse_number(text, '-', &second);
    long b = a < 0 ? -1 : parse_number(second, '\0', &rest);

    if (a < 0 || b < 0 || a >= (long)topology->nodes || b >= (long)topology->nodes ||
        topology_dimension(topology, (uint32_t)a, (uint32_t)b) < 0) {
        return message_set(
            message,
            "'%.40s' is no link of %s: name two nodes whose numbers differ in one bit, as 0-1",
            text, topology->name);
    }
    ends[0] = (uint32_t)a;
    ends[1] = (uint32_t)b;
    return 0;
}

int topology_parse_node(const struct topology *topology, const char *text, uint32_t *node,
                        struct message *message)
{
    const char *rest;
    long value = parse_number(text, '\0', &rest);

    if (value < 0 || value >= (long)topology->nodes) {
        return message_set(message, "'%.40s' is no node of %s: nodes are 0 to %u", text,
                           topology->name, (unsigned)topology->nodes - 1);
    }
    *node = (uint32_t)value;
    return 0;
}
