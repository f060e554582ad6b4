/*
 * named_sort.c - the order of a written plan's circuits, and the circle that there is when links
 * and nodes do not agree.
 *
 *     order 1: step 0, 0 to 1      node 0 does step 0 first, its link to 1 serves order 0 first:
 *     order 0: step 1, 0 to 1      each of the two waits for the other
 *
 * Most plans are in order: on every link the steps ascend. Only where they do not the waits are
 * followed one by one.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/written/named.h"

enum { CIRCLE_SHOWN_MAX = 5 };

bool named_fails(struct named_fault *fault, uint32_t circuit, const char *format, ...)
{
    va_list arguments;

    fault->circuit = circuit;
    va_start(arguments, format);
    vsnprintf(fault->words, sizeof fault->words, format, arguments);
    va_end(arguments);
    return false;
}

/* A circuit on a link, or at a node: by which it waits. */
struct stop {
    uint64_t place;  /* of the link or node */
    uint32_t number; /* order or step */
    uint32_t circuit;
};

struct waits {
    const struct named_plan *named;
    struct stop *links, *nodes; /* by place and number */
    uint64_t link_count, node_count;
};

static uint32_t order_of(const struct named_plan *named, uint32_t circuit)
{
    uint32_t order = named->circuits[circuit].order;

    return order == NAMED_NONE ? circuit : order;
}

static int compare_stops(const void *a, const void *b)
{
    const struct stop *x = a, *y = b;

    if (x->place != y->place) {
        return x->place < y->place ? -1 : 1;
    }
    if (x->number != y->number) {
        return x->number < y->number ? -1 : 1;
    }
    return x->circuit < y->circuit ? -1 : x->circuit > y->circuit;
}

static uint64_t hops_of(const struct named_plan *named, const struct named_circuit *circuit)
{
    if (circuit->port_at != PLAN_DIMENSION_ORDER) {
        return circuit->port_count;
    }
    return network_distance(&named->network, circuit->from, circuit->to);
}

/* A node's circuits wait for those of earlier steps, and of earlier ports in the same. */
static uint32_t moment_of(const struct named_circuit *circuit)
{
    return circuit->step * CLOCK_PORTS_MAX + circuit->port;
}

/* Notes the links of a circuit's path, as far as it leads. */
static void add_links(struct waits *waits, uint32_t index)
{
    const struct named_plan *named = waits->named;
    const struct named_circuit *circuit = &named->circuits[index];
    uint64_t hops = hops_of(named, circuit);
    uint32_t at = circuit->from;

    for (uint64_t hop = 0; hop < hops && at != NETWORK_NO_NODE; hop++) {
        unsigned port = circuit->port_at == PLAN_DIMENSION_ORDER
                            ? network_next_hop(&named->network, at, circuit->to)
                            : named->ports[circuit->port_at + hop];
        waits->links[waits->link_count++] = (struct stop){
            at * (uint64_t)named->network.ports + port, order_of(named, index), index};
        at = network_neighbour(&named->network, at, port);
    }
}

static struct waits waits_make(const struct named_plan *named)
{
    struct waits waits = {.named = named};
    uint64_t hops = 0;

    for (uint32_t i = 0; i < named->circuit_count; i++) {
        hops += hops_of(named, &named->circuits[i]);
    }
    waits.links = planner_memory(hops, sizeof *waits.links);
    waits.nodes = planner_memory(2 * (uint64_t)named->circuit_count, sizeof *waits.nodes);
    for (uint32_t i = 0; i < named->circuit_count; i++) {
        const struct named_circuit *circuit = &named->circuits[i];
        add_links(&waits, i);
        waits.nodes[waits.node_count++] = (struct stop){circuit->from, moment_of(circuit), i};
        waits.nodes[waits.node_count++] = (struct stop){circuit->to, moment_of(circuit), i};
    }
    qsort(waits.links, waits.link_count, sizeof *waits.links, compare_stops);
    qsort(waits.nodes, waits.node_count, sizeof *waits.nodes, compare_stops);
    return waits;
}

static void waits_free(struct waits *waits)
{
    free(waits->links);
    free(waits->nodes);
}

/* The first stop of a place whose number is not below `number`. */
static uint64_t find_stop(const struct stop *stops, uint64_t count, uint64_t place, uint32_t number)
{
    const struct stop wanted = {place, number, 0};
    uint64_t low = 0, high = count;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        if (compare_stops(&stops[middle], &wanted) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* A link that serves a later step first; UINT64_MAX: none does. */
static uint64_t find_disorder(const struct waits *waits)
{
    const struct named_circuit *circuits = waits->named->circuits;

    for (uint64_t i = 1; i < waits->link_count; i++) {
        if (waits->links[i].place == waits->links[i - 1].place &&
            circuits[waits->links[i].circuit].step < circuits[waits->links[i - 1].circuit].step) {
            return i;
        }
    }
    return UINT64_MAX;
}

/* What a circuit waits for, one after the other. */
struct search {
    uint32_t circuit;
    uint64_t at;   /* how many of these have been followed */
    uint32_t port; /* of the link that it waits for; NAMED_NONE: a node */
    uint32_t node;
};

/* The circuit before it on the hop of its path. */
static uint32_t link_before(const struct waits *waits, struct search *search, uint64_t hop)
{
    const struct named_plan *named = waits->named;
    const struct named_circuit *circuit = &named->circuits[search->circuit];
    uint32_t at = circuit->from;
    unsigned port = 0;

    for (uint64_t i = 0; i <= hop; i++) {
        if (i > 0) {
            at = network_neighbour(&named->network, at, port);
        }
        if (at == NETWORK_NO_NODE) {
            return NAMED_NONE;
        }
        port = circuit->port_at == PLAN_DIMENSION_ORDER
                   ? network_next_hop(&named->network, at, circuit->to)
                   : named->ports[circuit->port_at + i];
    }
    uint64_t place = at * (uint64_t)named->network.ports + port;
    uint64_t i =
        find_stop(waits->links, waits->link_count, place, order_of(named, search->circuit));
    search->node = at;
    search->port = port;
    return i > 0 && waits->links[i - 1].place == place ? waits->links[i - 1].circuit : NAMED_NONE;
}

/* The `number`th circuit of the last step before it that one of its ends has. */
static uint32_t node_before(const struct waits *waits, struct search *search, uint32_t node,
                            unsigned number)
{
    uint64_t i = find_stop(waits->nodes, waits->node_count, node,
                           waits->named->circuits[search->circuit].step);

    search->node = node;
    search->port = NAMED_NONE;
    if (i <= number || waits->nodes[i - 1].place != node ||
        waits->nodes[i - 1 - number].place != node ||
        waits->nodes[i - 1 - number].number != waits->nodes[i - 1].number) {
        return NAMED_NONE;
    }
    return waits->nodes[i - 1 - number].circuit;
}

/* The next circuit that it waits for; NAMED_NONE: there are no more. */
static uint32_t next_wait(const struct waits *waits, struct search *search)
{
    const struct named_circuit *circuit = &waits->named->circuits[search->circuit];
    uint64_t hops = hops_of(waits->named, circuit), most = hops + 4;

    while (search->at < most) {
        uint64_t at = search->at++;
        uint32_t found =
            at < hops ? link_before(waits, search, at)
                      : node_before(waits, search, at - hops < 2 ? circuit->from : circuit->to,
                                    (at - hops) % 2);
        if (found != NAMED_NONE) {
            return found;
        }
    }
    return NAMED_NONE;
}

/* Follows the waits until one comes back to where it is; the path to it lies in `path`, its length
 * is returned. 0: nothing does. */
static uint32_t follow(const struct waits *waits, struct search *path, uint32_t *first)
{
    enum { NEW, OPEN, DONE };
    uint32_t count = waits->named->circuit_count;
    uint8_t *state = planner_memory(count, 1);
    uint32_t depth = 0;

    for (uint32_t begin = 0; begin < count && depth == 0; begin++) {
        if (state[begin] != NEW) {
            continue;
        }
        state[begin] = OPEN;
        path[depth++] = (struct search){.circuit = begin};
        while (depth > 0) {
            uint32_t next = next_wait(waits, &path[depth - 1]);
            if (next != NAMED_NONE && state[next] == OPEN) {
                for (*first = 0; path[*first].circuit != next; ++*first) {
                    ;
                }
                break;
            }
            if (next == NAMED_NONE) {
                state[path[--depth].circuit] = DONE;
            } else if (state[next] == NEW) {
                state[next] = OPEN;
                path[depth++] = (struct search){.circuit = next};
            }
        }
    }
    free(state);
    return depth;
}

/* The shortest circle through a circuit: level by level over what is waited for. Fills `path` with
 * it, and returns its length. */
static uint32_t shorten(const struct waits *waits, uint32_t circuit, struct search *path)
{
    uint32_t count = waits->named->circuit_count, head = 0, tail = 0, length = 0;
    struct search *from = planner_memory(count, sizeof *from); /* who waits for it, and where */
    uint32_t *queue = planner_memory(count + UINT64_C(1), sizeof *queue); /* it comes twice */
    uint8_t *seen = planner_memory(count, 1);

    queue[tail++] = circuit;
    while (head < tail && length == 0) {
        struct search search = {.circuit = queue[head++]};
        for (uint32_t next; length == 0 && (next = next_wait(waits, &search)) != NAMED_NONE;) {
            if (seen[next]) {
                continue;
            }
            seen[next] = 1;
            from[next] = search;
            queue[tail++] = next;
            length = next == circuit;
        }
    }
    /* Backwards from the circuit to itself. */
    uint32_t at = circuit;
    length = 0;
    do {
        path[length++] = from[at];
        at = from[at].circuit;
    } while (at != circuit);
    for (uint32_t i = 0; i < length / 2; i++) {
        struct search other = path[i];
        path[i] = path[length - 1 - i];
        path[length - 1 - i] = other;
    }
    free(from);
    free(queue);
    free(seen);
    return length;
}

static void say_circuit(char *words, size_t room, const struct named_plan *named, uint32_t circuit)
{
    const struct named_circuit *c = &named->circuits[circuit];

    snprintf(words, room, "order %u (step %u, %u to %u)", order_of(named, circuit), c->step,
             c->from, c->to);
}

/* "order 1 (step 0, 0 to 1) waits at the link 0 to 1 for order 0 (...), waits at node 0 for ..." */
static bool tell_circle(const struct waits *waits, const struct search *path, uint32_t length,
                        struct named_fault *fault)
{
    const struct named_plan *named = waits->named;
    char *words = fault->words;
    size_t room = sizeof fault->words;
    int used = snprintf(words, room, "a circle of waits: ");

    for (uint32_t i = 0; i <= length && (size_t)used < room; i++) {
        const struct search *wait = &path[i % length];
        char circuit[60];
        if (i == CIRCLE_SHOWN_MAX && length > i + 1) {
            used += snprintf(words + used, room - (size_t)used, "... (%u more) ... waits for ",
                             length - i);
            i = length;
            wait = &path[0];
        }
        say_circuit(circuit, sizeof circuit, named, wait->circuit);
        used += snprintf(words + used, room - (size_t)used, "%s", circuit);
        if (i == length || (size_t)used >= room) {
            break;
        }
        used +=
            wait->port == NAMED_NONE
                ? snprintf(words + used, room - (size_t)used, " waits at node %u for ", wait->node)
                : snprintf(words + used, room - (size_t)used, " waits at link %u-%u for ",
                           wait->node, network_neighbour(&named->network, wait->node, wait->port));
    }
    fault->circuit = path[0].circuit;
    return false;
}

/* Some link serves a later step first. Then there is a circle, or the steps are numbered in a way
 * that rows cannot have. */
static bool judge_disorder(const struct waits *waits, uint64_t at, struct named_fault *fault)
{
    const struct named_plan *named = waits->named;
    struct search *path = planner_memory(named->circuit_count + UINT64_C(1), sizeof *path);
    uint32_t first = 0, depth = follow(waits, path, &first);
    bool holds = false;

    if (depth) {
        uint32_t length = shorten(waits, path[first].circuit, path);
        holds = tell_circle(waits, path, length, fault);
    } else {
        char before[60], behind[60];
        say_circuit(before, sizeof before, named, waits->links[at - 1].circuit);
        say_circuit(behind, sizeof behind, named, waits->links[at].circuit);
        holds = named_fails(fault, waits->links[at].circuit,
                            "a link serves %s before %s: number steps so that they ascend on "
                            "every link",
                            before, behind);
    }
    free(path);
    return holds;
}

/* What qsort's comparison needs beside two circuits. */
struct key {
    uint32_t step, order, circuit;
};

static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->step != y->step) {
        return x->step < y->step ? -1 : 1;
    }
    return x->order < y->order ? -1 : x->order > y->order;
}

static int compare_orders(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->order != y->order) {
        return x->order < y->order ? -1 : 1;
    }
    return x->circuit < y->circuit ? -1 : x->circuit > y->circuit;
}

static bool orders_differ(const struct named_plan *named, struct key *keys,
                          struct named_fault *fault)
{
    for (uint32_t i = 0; i < named->circuit_count; i++) {
        if ((named->circuits[i].order == NAMED_NONE) != (named->circuits[0].order == NAMED_NONE)) {
            return named_fails(
                fault, i,
                "step %u, %u to %u: an order is said of some circuits, and not of this one "
                "or the first: say it of all or of none",
                named->circuits[i].step, named->circuits[i].from, named->circuits[i].to);
        }
    }
    qsort(keys, named->circuit_count, sizeof *keys, compare_orders);
    for (uint32_t i = 1; i < named->circuit_count; i++) {
        if (keys[i].order == keys[i - 1].order) {
            const struct named_circuit *one = &named->circuits[keys[i].circuit];
            return named_fails(fault, keys[i].circuit,
                               "step %u, %u to %u: another circuit has order %u, too", one->step,
                               one->from, one->to, keys[i].order);
        }
    }
    return true;
}

bool named_sort(const struct named_plan *named, uint32_t *sorted, struct named_fault *fault)
{
    struct key *keys = planner_memory(named->circuit_count, sizeof *keys);
    bool holds;

    for (uint32_t i = 0; i < named->circuit_count; i++) {
        keys[i] = (struct key){named->circuits[i].step, order_of(named, i), i};
    }
    holds = orders_differ(named, keys, fault);
    qsort(keys, named->circuit_count, sizeof *keys, compare_keys);
    for (uint32_t i = 0; i < named->circuit_count; i++) {
        sorted[i] = keys[i].circuit;
    }
    free(keys);
    if (holds && named->circuit_count && named->circuits[0].order != NAMED_NONE) {
        struct waits waits = waits_make(named);
        uint64_t at = find_disorder(&waits);
        holds = at == UINT64_MAX || judge_disorder(&waits, at, fault);
        waits_free(&waits);
    }
    return holds;
}
