/*
 * descend.c - computations that go through the distances 2^b, down or up, in a pipeline of
 * exchanges from all to some.
 *
 * A node at place p has the elements p m to p m + m - 1 of M = N m, m = 2^K. For 2^b >= m the
 * partners of its element l are the elements l of other nodes: movement by 2^(b - K). While one
 * element is in one iteration the next ones are in those before, with other movements: a pipeline
 * in which each exchange serves all of them. Below m the partners are on the node itself, but for
 * the first and the last of a chain, whose partners are on the neighbours: what crosses goes once
 * more by +1 and -1, in the links that an exchange leaves free.
 *
 *     K = 2    elements in the order 0 2 1 3 (bits reversed)
 *              level 1, distance 2: chains {0 2} {1 3};  level 2, distance 1: chain {0 1 2 3}
 *
 * In this order a chain of level k is 2^k elements that follow each other in the pipeline, and is
 * due when both its halves are through. One chain crosses in an exchange, the one of the lowest
 * level that is due. As lower levels are done by the time the pipeline is empty, the last chains
 * follow each other, and all is over after log M + m - 1 exchanges. Ascending is the same
 * backwards.
 *
 *     N = 4, m = 4      exchange    0  1  2  3  4  5  6
 *     elements 0 2 1 3  distance 8  0  2  1  3
 *                       distance 4     0  2  1  3
 *                       chains                02    13 0213: levels 1, 1, 2
 *
 * Source   Hu, Optimal All-to-Some Personalized Communication on Hypercubes, section 4. There the
 *          elements go in their order; then up to log m chains cross at once (doc/errata.md)
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

enum { LEVELS_MAX = 33 };

struct descent {
    const struct ecube_computation *computation;
    uint8_t *elements, *send, *receive, *before; /* before: of a chain, what its elements were */
    uint32_t count, bytes, place, size;
    uint32_t across, inside, first; /* iterations between nodes; levels inside; the first of them */
    uint32_t movements;
    uint8_t *level_at; /* of each exchange: the level of the chain that crosses; 0: none */
    uint32_t exchanges;
    uint32_t next[LEVELS_MAX]; /* of each level: the chain that is next */
    bool up;
};

static uint32_t logarithm(uint32_t count)
{
    uint32_t log = 0;

    while (UINT32_C(1) << log < count && log < 31) {
        log++;
    }
    return log;
}

static uint32_t reversed(uint32_t bits, uint32_t count)
{
    uint32_t other = 0;

    for (uint32_t i = 0; i < count; i++) {
        other |= (bits >> i & 1) << (count - 1 - i);
    }
    return other;
}

/* Schedule ------------------------------------------------------------------------------------- */

/* Elements, or chains of the level before, that are through before an exchange. */
static uint32_t through(const struct descent *d, const uint32_t *done, uint32_t level,
                        uint32_t exchange)
{
    uint32_t passed = exchange >= d->across ? exchange - d->across + 1 : 0;

    if (level > d->first) {
        return done[level - 1];
    }
    if (d->across == 0) {
        return d->count >> (level - 1);
    }
    return passed < d->count ? passed : d->count;
}

/* The level of the chain that crosses in an exchange; 0: none is due. */
static uint32_t due(const struct descent *d, const uint32_t *done, uint32_t exchange)
{
    for (uint32_t level = d->first; level <= d->inside; level++) {
        if (done[level] < d->count >> level &&
            through(d, done, level, exchange) >= 2 * (done[level] + 1)) {
            return level;
        }
    }
    return 0;
}

/* Exchange after exchange, until all is done; how many there are. The levels are noted if there is
 * where to. */
static uint32_t schedule(const struct descent *d, uint8_t *level_at)
{
    uint32_t done[LEVELS_MAX] = {0}, exchange = 0, left = 0;
    uint32_t pipeline = d->across ? d->across + d->count - 1 : 0;

    for (uint32_t level = d->first; level <= d->inside; level++) {
        left += d->count >> level;
    }
    for (; left > 0 || exchange < pipeline; exchange++) {
        uint32_t level = due(d, done, exchange);
        if (level_at) {
            level_at[exchange] = (uint8_t)level;
        }
        if (level) {
            done[level]++;
            left--;
        }
    }
    return exchange;
}

/* Elements ------------------------------------------------------------------------------------- */

static uint8_t *element(const struct descent *d, uint32_t number)
{
    return d->elements + (size_t)number * d->bytes;
}

static uint8_t *block(const struct descent *d, uint8_t *blocks, uint32_t slot)
{
    return blocks + (size_t)slot * d->bytes;
}

static void compute(const struct descent *d, uint32_t exponent, uint32_t number, const void *plus,
                    const void *minus)
{
    const struct ecube_power power = {.exponent = exponent,
                                      .distance = UINT64_C(1) << exponent,
                                      .index = (uint64_t)d->place * d->count + number,
                                      .elements = (uint64_t)d->size * d->count};

    d->computation->compute(d->computation->context, &power, element(d, number), plus, minus);
}

/* The element that is in iteration `iteration` between nodes in an exchange; false: none. */
static bool passes(const struct descent *d, uint32_t exchange, uint32_t iteration, uint32_t *number)
{
    bool is = exchange >= iteration && exchange - iteration < d->count;

    *number = is ? reversed(exchange - iteration, d->inside) : 0;
    return is;
}

/* The slots of what goes by +2^j and -2^j: of half of a power of two they are one. */
static uint32_t slot_back(const struct descent *d, uint32_t j)
{
    return 2 * j + 1 < d->movements ? 2 * j + 1 : 2 * j;
}

static void send_across(const struct descent *d, uint32_t exchange)
{
    uint32_t number;

    for (uint32_t i = 0; i < d->across; i++) {
        uint32_t j = d->across - 1 - i;
        if (passes(d, exchange, i, &number)) {
            memcpy(block(d, d->send, 2 * j), element(d, number), d->bytes);
            memcpy(block(d, d->send, slot_back(d, j)), element(d, number), d->bytes);
        }
    }
}

/* What has come by +2^j is from 2^j below. */
static void compute_across(const struct descent *d, uint32_t exchange)
{
    uint32_t number;

    for (uint32_t i = 0; i < d->across; i++) {
        uint32_t j = d->across - 1 - i;
        if (passes(d, exchange, i, &number)) {
            compute(d, j + d->inside, number, block(d, d->receive, slot_back(d, j)),
                    block(d, d->receive, 2 * j));
        }
    }
}

/* Chains --------------------------------------------------------------------------------------- */

/* The elements of a chain: `first`, and so on, `apart` from each other, `count` of them. */
struct chain {
    uint32_t level, first, apart, count;
};

static struct chain chain_of(struct descent *d, uint32_t level)
{
    uint32_t number = d->up ? --d->next[level] : d->next[level]++;

    return (struct chain){.level = level,
                          .first = reversed(number, d->inside - level),
                          .apart = UINT32_C(1) << (d->inside - level),
                          .count = UINT32_C(1) << level};
}

static uint32_t last_of(const struct chain *chain)
{
    return chain->first + (chain->count - 1) * chain->apart;
}

static void send_chain(const struct descent *d, const struct chain *chain)
{
    memcpy(block(d, d->send, d->movements), element(d, last_of(chain)), d->bytes);
    memcpy(block(d, d->send, d->movements + 1), element(d, chain->first), d->bytes);
}

/* Each element from what all were; those at the ends from what has crossed. */
static void compute_chain(const struct descent *d, const struct chain *chain)
{
    uint32_t last = chain->count - 1;

    for (uint32_t i = 0; i <= last; i++) {
        memcpy(block(d, d->before, i), element(d, chain->first + i * chain->apart), d->bytes);
    }
    const uint8_t *below = block(d, d->before, last), *above = d->before;
    if (d->size > 1) {
        below = block(d, d->receive, d->movements);
        above = block(d, d->receive, d->movements + 1);
    }
    for (uint32_t i = 0; i <= last; i++) {
        compute(d, d->inside - chain->level, chain->first + i * chain->apart,
                i < last ? block(d, d->before, i + 1) : above,
                i > 0 ? block(d, d->before, i - 1) : below);
    }
}

/* The whole ------------------------------------------------------------------------------------ */

static int exchange_all(const struct descent *d, uint32_t *steps)
{
    uint32_t these = 0;
    int status = d->size > 1 ? ecube_call_movements(d->inside ? ECUBE_MOVEMENTS_AGAIN : 0, d->send,
                                                    d->receive, d->bytes, &these)
                             : ECUBE_OK;

    *steps += these;
    return status;
}

static int go(struct descent *d)
{
    uint32_t steps = 0;

    for (uint32_t i = 0; i < d->exchanges; i++) {
        uint32_t exchange = d->up ? d->exchanges - 1 - i : i, level = d->level_at[exchange];
        struct chain chain = level ? chain_of(d, level) : (struct chain){0};
        send_across(d, exchange);
        if (level) {
            send_chain(d, &chain);
        }
        int status = exchange_all(d, &steps);
        if (status < 0) {
            return status;
        }
        compute_across(d, exchange);
        if (level) {
            compute_chain(d, &chain);
        }
    }
    return (int)steps;
}

/* Of a node that has no memory a call that the kernel refuses: the others would wait for it. */
static int begin(struct descent *d)
{
    uint32_t slots = d->movements + 2;

    d->exchanges = schedule(d, NULL);
    d->level_at = malloc(d->exchanges + (size_t)1);
    d->send = calloc(slots, d->bytes);
    d->receive = calloc(slots, d->bytes);
    d->before = calloc(d->count, d->bytes);
    if (!d->level_at || !d->send || !d->receive || !d->before) {
        return ecube_refuse_movements(ECUBE_E_FULL);
    }
    (void)schedule(d, d->level_at);
    for (uint32_t level = 1; level <= d->inside; level++) {
        d->next[level] = d->up ? d->count >> level : 0;
    }
    return ECUBE_OK;
}

static int run(void *elements, uint32_t count, uint32_t bytes, uint32_t iterations,
               const struct ecube_computation *computation, bool up)
{
    struct descent d = {.computation = computation,
                        .elements = elements,
                        .count = count,
                        .bytes = bytes,
                        .place = (uint32_t)ecube_place(ecube_rank()),
                        .size = (uint32_t)ecube_size(),
                        .inside = logarithm(count),
                        .movements = ecube_movements((uint32_t)ecube_size()),
                        .up = up};
    uint32_t most = logarithm(d.size) + d.inside;

    if (count == 0 || (count & (count - 1)) || bytes == 0 || iterations > most) {
        return ecube_refuse_movements(ECUBE_E_ARGUMENT);
    }
    d.across = iterations > d.inside ? iterations - d.inside : 0;
    d.first = iterations < d.inside ? d.inside - iterations + 1 : 1;
    int status = begin(&d);
    status = status < 0 ? status : go(&d);
    free(d.level_at);
    free(d.send);
    free(d.receive);
    free(d.before);
    return status;
}

int ecube_descend(void *elements, uint32_t count, uint32_t element_bytes, uint32_t iterations,
                  const struct ecube_computation *computation)
{
    return run(elements, count, element_bytes, iterations, computation, false);
}

int ecube_ascend(void *elements, uint32_t count, uint32_t element_bytes, uint32_t iterations,
                 const struct ecube_computation *computation)
{
    return run(elements, count, element_bytes, iterations, computation, true);
}

uint32_t ecube_iterations(uint32_t count)
{
    return logarithm((uint32_t)ecube_size()) + logarithm(count);
}
