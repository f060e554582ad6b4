/*
 * meshes.c - the complete exchanges for meshes, pair by pair: who sends to whom in which step, and
 * how many messages then want one link. Rows are numbered first: node = row * c + column, and a
 * message goes along its row first.
 *
 *     contention('PEX', 'mesh:4x5', i)    the most messages on a directed link in step i
 *     partner('PEX', p, x, i)             whom node x of p sends to in step i; -1: to nobody
 *
 * Source   Thakur, Choudhary & Fox, "Complete exchange on a wormhole routed mesh" (1993), 3, 4
 */
#include <stdlib.h>
#include <string.h>

#include "papers/functions.h"

/* The least power of two that is no less than p. */
static int32_t power_from(int32_t p)
{
    int32_t q = 1;

    while (q < p) {
        q *= 2;
    }
    return q;
}

/* Figure 4, the modulus of its third line being p as printed, or q. */
static int32_t shifted(int32_t p, int32_t x, int32_t i, bool printed)
{
    int32_t q = power_from(p), shift = (q - p) / 2;
    int32_t to = ((x + shift) % (printed ? p : q) ^ i) - shift;

    to = to < 0 ? to + q : to;
    return to < p ? to : -1;
}

static int32_t partner(const char *algorithm, int32_t p, int32_t x, int32_t i)
{
    if (strcmp(algorithm, "GEN") == 0) {
        return (x + i) % p;
    }
    if (strcmp(algorithm, "PEX-GEN-SHIFT") == 0) {
        return shifted(p, x, i, false);
    }
    if (strcmp(algorithm, "PEX-GEN-SHIFT as printed") == 0) {
        return shifted(p, x, i, true);
    }
    if (strcmp(algorithm, "PEX") != 0 && strcmp(algorithm, "PEX-GEN") != 0) {
        papers_refuse("there is no such exchange", algorithm);
    }
    return (x ^ i) < p ? x ^ i : -1;
}

static double call_partner(const struct formula_value *a, unsigned count)
{
    (void)count;
    return partner(a[0].text ? a[0].text : "", (int32_t)a[1].number, (int32_t)a[2].number,
                   (int32_t)a[3].number);
}

static double call_contention(const struct formula_value *a, unsigned count)
{
    const struct network *network = papers_network(a + 1);
    int32_t step = (int32_t)a[2].number;
    uint32_t *load = calloc((size_t)network->nodes * network->ports + 1, sizeof *load), most = 0;

    (void)count;
    for (uint32_t from = 0; load && from < network->nodes; from++) {
        int32_t to =
            partner(a[0].text ? a[0].text : "", (int32_t)network->nodes, (int32_t)from, step);
        for (uint32_t at = from; to >= 0 && at != (uint32_t)to;) {
            unsigned port = network_next_hop(network, at, (uint32_t)to);
            uint32_t *link = &load[at * network->ports + port];
            most = ++*link > most ? *link : most;
            at = network_neighbour(network, at, port);
        }
    }
    free(load);
    return most;
}

const struct formula_function mesh_functions[] = {
    {"contention", 3, 3, call_contention}, {"partner", 4, 4, call_partner}, {0}};
