#include "tests/judge/promise.h"

#include <stdlib.h>
#include <string.h>

#include "include/ecube/abi.h"

/* Networks ------------------------------------------------------------------------------------ */

static unsigned ports_of(unsigned size)
{
    return size < 2 ? 0 : size == 2 ? 1 : 2;
}

bool shape_read(struct shape *shape, const char *name)
{
    const char *colon = strchr(name, ':');
    unsigned sizes[SHAPE_DIMS_MAX];

    *shape = (struct shape){
        .nodes = 1, .cube = name[0] == 'c', .wraps = name[0] == 'r' || name[0] == 't'};
    if (!colon) {
        return false;
    }
    char *at = (char *)(uintptr_t)colon;
    do {
        sizes[shape->dims++] = (unsigned)strtoul(at + 1, &at, 10);
    } while (*at == 'x' && shape->dims < SHAPE_DIMS_MAX);
    if (shape->cube) {
        shape->dims = sizes[0];
    }
    if (*at || shape->dims > SHAPE_DIMS_MAX) {
        return false;
    }
    for (unsigned k = 0; k < shape->dims; k++) {
        shape->size[k] = shape->cube ? 2 : sizes[shape->dims - 1 - k];
        shape->nodes *= shape->size[k];
        shape->ports += ports_of(shape->size[k]);
    }
    return shape->nodes > 0 && shape->ports <= SHAPE_PORTS_MAX;
}

unsigned shape_next(const struct shape *shape, unsigned node, unsigned port)
{
    unsigned stride = 1, k = 0;

    for (; k < shape->dims && port >= ports_of(shape->size[k]); k++) {
        port -= ports_of(shape->size[k]);
        stride *= shape->size[k];
    }
    if (k == shape->dims) {
        return NOWHERE;
    }
    unsigned size = shape->size[k], at = node / stride % size;
    if (size > 2 && !shape->wraps && at == (port ? 0 : size - 1)) {
        return NOWHERE;
    }
    return node - at * stride + (at + (port ? size - 1 : 1)) % size * stride;
}

unsigned shape_port(const struct shape *shape, unsigned node, unsigned next)
{
    for (unsigned port = 0; port < shape->ports; port++) {
        if (shape_next(shape, node, port) == next) {
            return port;
        }
    }
    return NOWHERE;
}

unsigned shape_toward(const struct shape *shape, unsigned node, unsigned to)
{
    unsigned stride = 1, port = 0, k = 0;

    for (; node / stride % shape->size[k] == to / stride % shape->size[k]; k++) {
        stride *= shape->size[k];
        port += ports_of(shape->size[k]);
    }
    unsigned size = shape->size[k], at = node / stride % size, wanted = to / stride % size;
    bool up = shape->wraps ? (wanted + size - at) % size * 2 <= size : wanted > at;
    return shape_next(shape, node, port + (size > 2 && !up));
}

unsigned shape_moved(const struct shape *shape, unsigned node, unsigned by)
{
    unsigned moved = 0, stride = 1;

    for (unsigned k = 0; k < shape->dims; k++) {
        unsigned size = shape->size[k];
        moved += (node / stride + by / stride) % size * stride;
        stride *= size;
    }
    return moved;
}

/* Promises ------------------------------------------------------------------------------------ */

static const struct promise promises[ECUBE_OPERATIONS] = {
    [ECUBE_BARRIER] = {"barrier", BLOCKS_NONE, BLOCKS_NONE},
    [ECUBE_ALIGN] = {"align", BLOCKS_NONE, BLOCKS_NONE},
    [ECUBE_BROADCAST] = {"broadcast", BLOCKS_SEGMENTS, BLOCKS_SEGMENTS, .root_gives = true,
                         .in_place = true},
    [ECUBE_SCATTER] = {"scatter", BLOCKS_EVERY, BLOCKS_OWN, .root_gives = true},
    [ECUBE_GATHER] = {"gather", BLOCKS_OWN, BLOCKS_EVERY, .root_gets = true},
    [ECUBE_EXCHANGE] = {"alltoall", BLOCKS_FROM, BLOCKS_TO},
    [ECUBE_EXCHANGEV] = {"alltoallv", BLOCKS_FROM, BLOCKS_TO},
    [ECUBE_ALLGATHER] = {"allgather", BLOCKS_OWN, BLOCKS_EVERY},
    [ECUBE_REDUCE] = {"reduce", BLOCKS_SEGMENTS, BLOCKS_SEGMENTS, .root_gets = true,
                      .combines = true},
    [ECUBE_ALLREDUCE] = {"allreduce", BLOCKS_SEGMENTS, BLOCKS_SEGMENTS, .combines = true},
    [ECUBE_REDUCE_SCATTER] = {"reduce_scatter", BLOCKS_EVERY, BLOCKS_OWN, .combines = true},
    [ECUBE_SCAN] = {"scan", BLOCKS_SEGMENTS, BLOCKS_SEGMENTS, .combines = true, .prefix = true},
    [ECUBE_SHIFT] = {"shift", BLOCKS_OWN, BLOCKS_SHIFTED},
    [ECUBE_REVERSE] = {"reverse", BLOCKS_OWN, BLOCKS_REVERSED},
    [ECUBE_ALL_TO_SOME] = {"all_to_some", BLOCKS_GIVEN, BLOCKS_GOTTEN},
};

const struct promise *promise_numbered(unsigned operation)
{
    return operation < ECUBE_OPERATIONS && promises[operation].name ? &promises[operation] : NULL;
}

const struct promise *promise_named(const char *name)
{
    for (unsigned i = 0; i < ECUBE_OPERATIONS; i++) {
        if (promises[i].name && strcmp(promises[i].name, name) == 0) {
            return &promises[i];
        }
    }
    return NULL;
}

/* From all to some ------------------------------------------------------------------------------
 */

/* How far the block of a slot goes: ahead, or behind if negative. All powers of two below the
 * number of nodes, ahead and behind, but half of the nodes once; by a root of 1 also 1 and -1 once
 * more; by one of 2 and more a single one of them. 0: there is no such slot. */
static long hop_of(const struct task *task, unsigned slot)
{
    unsigned nodes = task->shape.nodes, wanted = task->root >= 2 ? task->root - 2 : slot, at = 0;

    if (task->root >= 2 && slot > 0) {
        return 0;
    }
    for (long far = 1; far < (long)nodes; far *= 2) {
        if (at++ == wanted) {
            return far;
        }
        if (2 * far != (long)nodes && at++ == wanted) {
            return -far;
        }
    }
    if (task->root != 1 || nodes < 2 || wanted > at + 1) {
        return 0;
    }
    return wanted == at ? 1 : -1;
}

/* Of a cube the node at a place of its Gray code, by reflection: the second half is the first one
 * backwards, with the highest bit. */
static unsigned at_place(const struct shape *shape, unsigned place)
{
    unsigned node = 0;

    for (unsigned half = shape->nodes / 2; shape->cube && half > 0; half /= 2) {
        if (place >= half) {
            node += half;
            place = 2 * half - 1 - place;
        }
    }
    return shape->cube ? node : place;
}

static unsigned place_of(const struct shape *shape, unsigned node)
{
    unsigned place = 0;

    while (at_place(shape, place) != node) {
        place++;
    }
    return place;
}

/* The node whose block comes over such a hop. */
static unsigned behind_hop(const struct task *task, unsigned node, long hop)
{
    long nodes = (long)task->shape.nodes, place = (long)place_of(&task->shape, node) - hop;

    return at_place(&task->shape, (unsigned)((place + nodes) % nodes));
}

unsigned task_hop(const struct task *task, const char *name)
{
    char sign = name[0];
    bool again = name[0] && name[1] == sign;
    char *end;
    long hop = 1L << strtoul(name + 1 + again, &end, 10) % 32, twice = again ? 1 : 0;

    if ((sign != '+' && sign != '-') || end == name + 1 + again || *end) {
        return NOWHERE;
    }
    for (unsigned slot = 0; hop_of(task, slot) != 0; slot++) {
        if (hop_of(task, slot) == (sign == '+' ? hop : -hop) && twice-- == 0) {
            return slot;
        }
    }
    return NOWHERE;
}

/* Slots and blocks ------------------------------------------------------------------------------
 */

unsigned task_slots(const struct task *task, unsigned node, bool gets)
{
    const struct promise *promise = task->promise;
    unsigned hops = 0;

    if ((gets ? promise->root_gets : promise->root_gives) && node != task->root) {
        return 0;
    }
    switch (gets ? promise->get : promise->give) {
    case BLOCKS_NONE: return 0;
    case BLOCKS_EVERY: return task->shape.nodes * task->segments;
    case BLOCKS_GIVEN:
    case BLOCKS_GOTTEN:
        while (hop_of(task, hops) != 0) {
            hops++;
        }
        return hops;
    case BLOCKS_FROM:
    case BLOCKS_TO: return task->shape.nodes;
    default: return task->segments;
    }
}

/* The node whose coordinates in the dimensions of a mask, in all by 0, are this one's counted from
 * the other end. */
static unsigned backwards(const struct shape *shape, unsigned mask, unsigned node)
{
    unsigned other = 0, stride = 1;

    for (unsigned k = 0; k < shape->dims; k++) {
        unsigned size = shape->size[k], at = node / stride % size;
        other += stride * (mask == 0 || mask >> k & 1 ? size - 1 - at : at);
        stride *= size;
    }
    return other;
}

unsigned task_block(const struct task *task, unsigned node, bool gets, unsigned slot)
{
    unsigned nodes = task->shape.nodes, m = task->segments;

    switch (gets ? task->promise->get : task->promise->give) {
    case BLOCKS_OWN: return node * m + slot;
    case BLOCKS_FROM: return node * nodes + slot;
    case BLOCKS_TO: return slot * nodes + node;
    case BLOCKS_SHIFTED: return (node + nodes - task->root) % nodes * m + slot;
    case BLOCKS_REVERSED: return backwards(&task->shape, task->root, node) * m + slot;
    case BLOCKS_GIVEN: return node * HOPS_MAX + slot;
    case BLOCKS_GOTTEN: return behind_hop(task, node, hop_of(task, slot)) * HOPS_MAX + slot;
    default: return slot;
    }
}

size_t task_blocks(const struct task *task)
{
    size_t nodes = task->shape.nodes;

    return task->promise->give == BLOCKS_FROM       ? nodes * nodes
           : task->promise->give == BLOCKS_GIVEN    ? nodes * HOPS_MAX
           : task->promise->give == BLOCKS_SEGMENTS ? task->segments
                                                    : nodes * task->segments;
}

unsigned task_givers(const struct task *task, unsigned node)
{
    return task->promise->prefix ? node + 1 : task->promise->combines ? task->shape.nodes : 0;
}

/* Where a segment begins. */
static uint64_t segment_at(const struct task *task, uint64_t segment, uint64_t elements)
{
    return segment * elements / task->segments;
}

uint64_t task_slot_bytes(const struct task *task, unsigned slot, uint32_t bytes, uint32_t element)
{
    if (task->promise->give != BLOCKS_SEGMENTS && task->segments == 1) {
        return bytes;
    }
    unsigned segment = slot % task->segments;
    return (segment_at(task, segment + 1u, bytes / element) -
            segment_at(task, segment, bytes / element)) *
           element;
}
