/*
 * map.c - which rank is at which node: of a load that has a map (wire/load.h), else rank r is at
 * node r.
 *
 * Ranks are what programs know, from the system calls upwards; all else in the kernel counts nodes.
 * The table lies in the program's memory, read-only where anything is. Where nothing is protected a
 * program may spoil it: so each number that is read is looked at, and it harms nobody but itself.
 *
 *     map_node     a rank that the program names: its node; NETWORK_NO_NODE: there is none
 *     map_rank     a node that the program is told of: its rank
 */
#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "wire/load.h"

/* The table; NULL: the load has none. */
static const uint8_t *table_of(const struct node *node)
{
    return node->load.map_bytes ? program_memory(node, node->load.map, node->load.map_bytes) : NULL;
}

struct load_map_fault map_take(struct node *node)
{
    struct load_map_fault fault = {LOAD_MAP_RIGHT, 0, 0, 0};
    struct load_map map;
    const uint8_t *table = table_of(node);
    uint32_t nodes = node->router.network.nodes;

    node->router.network.map = NULL;
    if (!node->load.map_bytes) {
        return fault;
    }
    if (!table) {
        return (struct load_map_fault){LOAD_MAP_CUT, 0, nodes, load_map_bytes(nodes)};
    }
    fault = load_map_unpack(table, node->load.map_bytes, nodes, &map);
    if (fault.wrong) {
        return fault;
    }
    if (!network_make(&node->map.guest, (enum network_kind)map.kind, map.sizes, map.dims) ||
        node->map.guest.nodes != nodes) {
        return (struct load_map_fault){LOAD_MAP_GUEST, map.kind, nodes, 0};
    }
    node->router.network.map = &node->map;
    return fault;
}

uint32_t map_node(const struct node *node, uint32_t rank)
{
    const uint8_t *table = table_of(node);
    uint32_t nodes = node->router.network.nodes;

    if (rank >= nodes) {
        return NETWORK_NO_NODE;
    }
    uint32_t at = table ? load_map_node(table, rank) : rank;
    return at < nodes ? at : NETWORK_NO_NODE;
}

uint32_t map_rank(const struct node *node, uint32_t at)
{
    const uint8_t *table = table_of(node);
    uint32_t nodes = node->router.network.nodes;

    return table && at < nodes ? load_map_rank(table, nodes, at) : at;
}

int map_hops(const struct node *node, uint32_t rank)
{
    uint32_t at = map_node(node, rank);

    return at == NETWORK_NO_NODE
               ? E_ARGUMENT
               : (int)network_distance(&node->router.network, node->router.id, at);
}
