/*
 * pagerank.c - which pages of a small web matter most: a matrix that is spread over the nodes by
 * columns is multiplied by a vector, again and again, with one reduce_scatter a round.
 *
 *   pagerank [pages]      default: 240
 *
 * Each node has an equal share of the pages (the last ones may be none), knows their links, and
 * keeps their ranks. A page gives 85 % of its rank to the pages that it links to, so a node knows
 * something to add to pages of every node. The reduce_scatter adds up what all nodes have for a
 * page, at the node that has the page: there the next round needs it. (power.c has its matrix by
 * rows, so that each round must give the whole vector to everybody.)
 *
 * Ranks are counted in parts of 2^40. Sums of integers do not depend on their order, so the result
 * is the same to the bit on every network, and what one node works out alone.
 *
 * Example, 2 nodes with a page each, 0 -> 0 1 1 and 1 -> 0 0 0, of rank 1/2 each: what nodes 0 and
 * 1 have for pages 0 and 1 is (1/3, 2/3) and (3/3, 0) of 0.85 / 2; pages 0 and 1 get 4/3 and 2/3 of
 * it, and 0.15 / 2.
 *
 * Node 0 prints the pages of the highest rank. Exit status 1 when a rank is not what one node works
 * out, or a round takes another model time than predicted.
 *
 * Source   S. Brin and L. Page, Computer Networks and ISDN Systems 30, 1998, 107-117
 */
#include <ecube.h>
#include <stdio.h>
#include <stdlib.h>

#include "examples/words.h"

enum { ROUNDS = 30, LINKS = 3, PAGES_MAX = 100000, SHOWN = 5 };

static const uint64_t whole = UINT64_C(1) << 40;

static void no_memory(void)
{
    fprintf(stderr, "pagerank: there is no memory for it\n");
    exit(1);
}

static uint64_t *make_vector(uint32_t count)
{
    uint64_t *vector = calloc(count, sizeof *vector);

    if (!vector) {
        no_memory();
    }
    return vector;
}

/* Each page links to the one above it, to the next one, and to some other. */
static uint32_t link_of(uint32_t page, int number, uint32_t pages)
{
    switch (number) {
    case 0: return page / 2;
    case 1: return (page + 1) % pages;
    default: return (uint32_t)(((uint64_t)page * page + 1) % pages);
    }
}

/* Pages from `first` on give to what they link to. */
static void give(const uint64_t *ranks, uint32_t first, uint32_t count, uint32_t pages,
                 uint64_t *sums)
{
    for (uint32_t i = 0; i < count && first + i < pages; i++) {
        for (int number = 0; number < LINKS; number++) {
            sums[link_of(first + i, number, pages)] += ranks[i] * 85 / 100 / LINKS;
        }
    }
}

/* What a page has in any case. */
static uint64_t base(uint32_t pages)
{
    return whole * 15 / 100 / pages;
}

static void begin(uint64_t *ranks, uint32_t first, uint32_t count, uint32_t pages)
{
    for (uint32_t i = 0; i < count && first + i < pages; i++) {
        ranks[i] = whole / pages;
    }
}

/* One round. Returns its model time: it is the slowest node's. */
static uint64_t improve(uint64_t *ranks, uint64_t *sums, uint32_t share, uint32_t pages)
{
    uint32_t first = (uint32_t)ecube_rank() * share;

    for (uint32_t i = 0; i < (uint32_t)ecube_size() * share; i++) {
        sums[i] = 0;
    }
    give(ranks, first, share, pages, sums);
    ecube_align();
    uint64_t start_ns = ecube_model_ns();
    ecube_reduce_scatter(sums, ranks, share, ECUBE_UINT64, ECUBE_SUM);
    ecube_align();
    for (uint32_t i = 0; i < share && first + i < pages; i++) {
        ranks[i] += base(pages);
    }
    return ecube_model_ns() - start_ns;
}

/* How many of this node's ranks are not what it works out alone. */
static int count_wrong(const uint64_t *ranks, uint32_t share, uint32_t pages)
{
    uint64_t *all = make_vector(pages), *sums = make_vector(pages);
    uint32_t first = (uint32_t)ecube_rank() * share;
    int wrong = 0;

    begin(all, 0, pages, pages);
    for (int round = 0; round < ROUNDS; round++) {
        for (uint32_t i = 0; i < pages; i++) {
            sums[i] = base(pages);
        }
        give(all, 0, pages, pages, sums);
        uint64_t *old = all;
        all = sums;
        sums = old;
    }
    for (uint32_t i = 0; i < share && first + i < pages; i++) {
        wrong += ranks[i] != all[first + i];
    }
    free(all);
    free(sums);
    return wrong;
}

/* At node 0. */
static void show(uint64_t *all, uint32_t pages)
{
    for (uint32_t place = 1; place <= SHOWN && place <= pages; place++) {
        uint32_t best = 0;
        for (uint32_t page = 0; page < pages; page++) {
            best = all[page] > all[best] ? page : best;
        }
        printf("%lu. page %3lu has %.6f\n", (unsigned long)place, (unsigned long)best,
               (double)all[best] / (double)whole);
        all[best] = 0;
    }
}

int main(int argc, char **argv)
{
    uint32_t pages = (uint32_t)words_number("pagerank", argc, argv, 1, 240, 1, PAGES_MAX);
    uint32_t size = (uint32_t)ecube_size(), share = (pages + size - 1) / size;
    uint64_t model_ns = 0;

    uint64_t *ranks = make_vector(share), *sums = make_vector(size * share);
    begin(ranks, (uint32_t)ecube_rank() * share, share, pages);
    for (int round = 0; round < ROUNDS; round++) {
        model_ns = improve(ranks, sums, share, pages);
    }
    int wrong = count_wrong(ranks, share, pages);

    struct ecube_prediction prediction;
    uint32_t bytes = share * (uint32_t)sizeof *ranks;
    ecube_predict(ECUBE_REDUCE_SCATTER, 0, bytes, ECUBE_UINT64, &prediction);
    ecube_gather(ranks, sums, bytes, 0);
    if (ecube_rank() == 0) {
        printf("a web of %lu pages, %d rounds\n", (unsigned long)pages, ROUNDS);
        show(sums, pages);
        printf("the reduce_scatter of a round: %.3f us of model time, %.3f predicted\n",
               (double)model_ns / 1e3, (double)prediction.model_ns / 1e3);
    }
    if (wrong > 0) {
        printf("%d ranks are wrong\n", wrong);
    }
    free(ranks);
    free(sums);
    return wrong > 0 || model_ns != prediction.model_ns;
}
