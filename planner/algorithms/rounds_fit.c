/*
 * rounds_fit.c - many circuits into rounds, each into the first in which all that it needs is free:
 * a port of its sender, of its receiver and all links of one of its ways.
 *
 * Of each of these, bits say in which rounds it is taken. So 64 rounds are looked at in one step
 * for each hop, and what is full at the beginning is left out. Long circuits come first, for short
 * ones fit between them. Of those as long, those with the same way from their sender come
 * together; along a line of them those that lie a multiple of their hops apart, which do not meet.
 * That is one order, others are drawn.
 *
 *     mesh:1x3    0>2 2>0 | 0>1 1>2 | 2>1 1>0 ...
 *
 * Source   first fit, longest first: Graham, SIAM J. Appl. Math. 17(2), 1969, 416-429
 */
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/algorithms/rounds.h"

/* Of a key: the place of a transfer among those as long, and its number. */
enum { BITS = 64, WORDS = 8 /* are looked at together */, NUMBER_BITS = 20, PLACE_BITS = 36 };

/* What can be taken: links, then senders, then receivers. */
struct fit {
    struct search *search;
    uint64_t *taken;             /* [thing * words + round / 64] */
    uint32_t *full;              /* of each thing: so many words from the first on are all taken */
    uint32_t words, links, ends; /* ends: ports of all nodes, where they count */
    uint32_t things[UINT8_MAX + 2], count; /* what the way needs that is looked at */
};

static uint64_t *taken_at(const struct fit *fit, uint32_t thing)
{
    return fit->taken + (uint64_t)thing * fit->words;
}

/* Looks up what a way of a transfer needs. */
static void need(struct fit *fit, const struct transfer *transfer, const struct way *way)
{
    const uint16_t *links = fit->search->links + way->at;

    fit->count = 0;
    for (uint32_t h = 0; h < way->hops; h++) {
        fit->things[fit->count++] = links[h];
    }
    if (fit->ends > 0) {
        uint32_t port = rounds_port(fit->search, transfer) * fit->search->network->nodes;
        fit->things[fit->count++] = fit->links + port + transfer->from;
        fit->things[fit->count++] = fit->links + fit->ends + port + transfer->to;
    }
}

/* In which of the rounds of some words from one on anything of it is taken. */
static void look(const struct fit *fit, uint32_t word, uint64_t taken[WORDS])
{
    memset(taken, 0, WORDS * sizeof *taken);
    for (uint32_t i = 0; i < fit->count; i++) {
        const uint64_t *one = taken_at(fit, fit->things[i]) + word;
        for (unsigned w = 0; w < WORDS; w++) {
            taken[w] |= one[w];
        }
    }
}

/* The first round below `limit` in which nothing of it is taken; else `limit`. */
static uint32_t first_free(const struct fit *fit, uint32_t limit)
{
    uint64_t taken[WORDS];
    uint32_t word = 0;

    for (uint32_t i = 0; i < fit->count; i++) {
        uint32_t full = fit->full[fit->things[i]];
        word = full > word ? full : word;
    }
    for (word -= word % WORDS; word < fit->words && word * BITS < limit; word += WORDS) {
        look(fit, word, taken);
        for (uint32_t w = 0; w < WORDS; w++) {
            if (~taken[w]) {
                uint32_t round = (word + w) * BITS + (uint32_t)__builtin_ctzll(~taken[w]);
                return round < limit ? round : limit;
            }
        }
    }
    return limit;
}

static void take(struct fit *fit, uint32_t round)
{
    for (uint32_t i = 0; i < fit->count; i++) {
        uint32_t thing = fit->things[i];
        const uint64_t *taken = taken_at(fit, thing);
        fit->taken[(uint64_t)thing * fit->words + round / BITS] |= UINT64_C(1) << round % BITS;
        while (fit->full[thing] < fit->words && !~taken[fit->full[thing]]) {
            fit->full[thing]++;
        }
    }
}

/* Twice as many rounds for all. */
static void widen(struct fit *fit, uint32_t things)
{
    uint32_t words = 2 * fit->words;
    uint64_t *wider = planner_memory((uint64_t)things * words, sizeof *wider);

    for (uint32_t thing = 0; thing < things; thing++) {
        memcpy(wider + (uint64_t)thing * words, taken_at(fit, thing), fit->words * sizeof *wider);
    }
    free(fit->taken);
    fit->taken = wider;
    fit->words = words;
}

/* The first free round over any of its ways, of which the first of equals is taken. */
static void place(struct fit *fit, uint32_t number)
{
    struct search *s = fit->search;
    const struct transfer *transfer = &s->transfers[number];
    uint32_t best = fit->words * BITS, way = 0;

    for (unsigned w = 0; w < transfer->ways; w++) {
        need(fit, transfer, &transfer->way[w]);
        uint32_t round = first_free(fit, best);
        if (round < best) {
            best = round;
            way = w;
        }
    }
    if (best == fit->words * BITS) {
        widen(fit, fit->links + 2 * fit->ends);
        place(fit, number);
        return;
    }
    need(fit, transfer, &transfer->way[way]);
    take(fit, best);
    s->round[number] = best;
    s->way[number] = way;
    s->rounds = best + 1 > s->rounds ? best + 1 : s->rounds;
}

/* Where along its way a sender lies, so that those that do not meet have the same number. */
static uint32_t beside(const struct network *network, const struct transfer *transfer)
{
    uint32_t sum = 0;

    for (unsigned k = 0; k < network->dims; k++) {
        const struct network_dimension *dim = &network->dim[k];
        uint32_t a = transfer->from / dim->stride % dim->size;
        uint32_t b = transfer->to / dim->stride % dim->size, apart = a > b ? a - b : b - a;
        uint32_t hops = dim->wraps && apart > dim->size - apart ? dim->size - apart : apart;
        sum += hops ? a % hops : 0;
    }
    return sum;
}

static int by_key(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

    return a < b ? -1 : a > b;
}

/* A number that looks random. */
static uint64_t mixed(uint64_t x)
{
    x *= UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

/* All transfers in the order in which they are placed, as keys that end with their number. Behind
 * the first trial those of one length are mixed. */
static uint64_t *order_of(const struct search *s, unsigned trial)
{
    uint64_t *keys = planner_memory(s->count, sizeof *keys);

    for (uint32_t i = 0; i < s->count; i++) {
        const struct transfer *t = &s->transfers[i];
        uint64_t length = UINT8_MAX - t->way[0].hops;
        uint64_t shift = network_difference(s->network, t->to, t->from);
        uint64_t alike = shift << 16 | beside(s->network, t);
        uint64_t place = trial ? mixed(((uint64_t)trial << 32) + i) : alike;
        keys[i] =
            length << (64 - 8) | (place & ((UINT64_C(1) << PLACE_BITS) - 1)) << NUMBER_BITS | i;
    }
    qsort(keys, s->count, sizeof *keys, by_key);
    return keys;
}

void rounds_fit(struct search *s, unsigned trial)
{
    uint32_t nodes = s->network->nodes, links = nodes * s->network->ports;
    uint32_t ends = s->at_once == PORTS_ALL ? 0 : nodes * s->at_once;
    struct fit fit = {.search = s, .links = links, .words = WORDS, .ends = ends};
    uint64_t *keys = order_of(s, trial);

    fit.taken = planner_memory((uint64_t)(links + 2 * ends) * fit.words, sizeof *fit.taken);
    fit.full = planner_memory(links + UINT64_C(2) * ends, sizeof *fit.full);
    s->rounds = 0;
    for (uint32_t i = 0; i < s->count; i++) {
        place(&fit, (uint32_t)(keys[i] & ((1 << NUMBER_BITS) - 1)));
    }
    free(fit.taken);
    free(fit.full);
    free(keys);
    rounds_keep(s);
}
