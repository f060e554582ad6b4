/*
 * vector_rivals.c - broadcast, allreduce and reduce_scatter as the libraries do them.
 */
#include "bench/rivals/parts.h"
#include "bench/rivals/rivals.h"

enum {
    SPREAD_PIECE_BYTES = 8192, /* of the binary tree and the chain */
    REDUCE_PIECE_BYTES = 1024, /* of the binomial tree */
    REDUCE_WHOLE_BYTES = 2048  /* shorter vectors go up it whole */
};

static uint32_t pieces_in(uint32_t bytes, uint32_t piece_bytes)
{
    return bytes > piece_bytes ? (bytes + piece_bytes - 1) / piece_bytes : 1;
}

/* Pieces go where there is a pipeline, a slot per node where nodes share the work. */
static uint32_t slots_for(const struct network *network, const struct plan_request *request,
                          int how)
{
    switch (how) {
    case BINARY:
    case CHAIN: return pieces_in(request->bytes, SPREAD_PIECE_BYTES);
    case SCATTER_DOUBLING:
    case SCATTER_RING: return network->nodes;
    default: return 1;
    }
}

struct plan *rival_broadcast(const struct network *network, const struct plan_request *request,
                             int how)
{
    struct draft draft =
        draft_begin(network, request, SPACE_RECEIVE, slots_for(network, request, how), 0);

    part_spread(&draft, (enum spreading)how, 1);
    return draft_end(&draft);
}

/* Every node begins with its own vector where the result is wanted. */
static struct draft allreduce_begin(const struct network *network,
                                    const struct plan_request *request, uint32_t slots)
{
    struct draft draft = draft_begin(network, request, SPACE_RECEIVE, slots, slots);

    for (uint32_t node = 0; node < draft.nodes; node++) {
        draft_copy(&draft, 0, node, slots_of(draft.plan, SPACE_SEND, 0, slots),
                   draft_work(&draft, 0, slots));
    }
    return draft;
}

struct plan *rival_allreduce(const struct network *network, const struct plan_request *request,
                             int how)
{
    struct draft draft =
        allreduce_begin(network, request, how == ALLREDUCE_DOUBLING ? 1 : network->nodes);

    switch (how) {
    case ALLREDUCE_RABENSEIFNER:
        part_halve(&draft, NEAR_FIRST);
        part_grow(&draft, NEAR_FIRST);
        break;
    case ALLREDUCE_HALVING_DOUBLING:
        part_halve(&draft, FAR_FIRST);
        part_grow(&draft, FAR_FIRST);
        break;
    case ALLREDUCE_HALVING_GATHER:
        part_halve(&draft, FAR_FIRST);
        part_gather(&draft, false);
        part_spread(&draft, SCATTER_DOUBLING, 0);
        break;
    case ALLREDUCE_RING:
        part_ring_combine(&draft);
        part_ring_gather(&draft);
        break;
    default: part_exchange_all(&draft); break;
    }
    return draft_end(&draft);
}

struct plan *rival_reduce_spread(const struct network *network, const struct plan_request *request,
                                 int how)
{
    uint32_t pieces =
        request->bytes < REDUCE_WHOLE_BYTES ? 1 : pieces_in(request->bytes, REDUCE_PIECE_BYTES);
    struct draft draft = allreduce_begin(network, request, pieces);

    part_reduce(&draft);
    part_spread(&draft, (enum spreading)how, SPREAD_PIECE_BYTES / REDUCE_PIECE_BYTES);
    return draft_end(&draft);
}

/* Reduce-scatter ------------------------------------------------------------------------------ */

/* Blocks from whom they come to whom they are for, combined where they are wanted. */
static void add_by_shifts(struct draft *draft)
{
    struct slots result = slots_of(draft->plan, SPACE_RECEIVE, 0, 1);

    for (uint32_t node = 0; node < draft->nodes; node++) {
        draft_copy(draft, 0, node, slots_of(draft->plan, SPACE_SEND, node, 1), result);
    }
    for (uint32_t shift = 1; shift < draft->nodes; shift++) {
        for (uint32_t node = 0; node < draft->nodes; node++) {
            uint32_t to = (node + shift) % draft->nodes;
            draft_circuit(draft, shift - 1, node, to, slots_of(draft->plan, SPACE_SEND, to, 1),
                          result, ROW_COMBINES);
        }
    }
}

/* A node sends all but the blocks of its own subcube, which are sums over that subcube. */
static void add_by_doubling(struct draft *draft)
{
    uint32_t n = draft->nodes;

    for (uint32_t bit = 1; bit < n; bit *= 2) {
        uint32_t step = draft_step(draft);
        for (uint32_t node = 0; node < n; node++) {
            uint32_t low = node & ~(bit - 1);
            draft_combine(draft, step, node, node ^ bit, low + bit, n - bit);
        }
    }
}

/* All vectors to the root, one by one; the root's blocks to all, likewise. */
static void add_at_root(struct draft *draft)
{
    uint32_t n = draft->nodes;

    for (uint32_t node = 1; node < n; node++) {
        draft_combine(draft, node - 1, node, 0, 0, n);
    }
    for (uint32_t node = 1; node < n; node++) {
        draft_pass(draft, n - 2 + node, 0, node, node, 1);
    }
}

/* From where it was combined to where it is wanted. */
static void mirror(struct draft *draft)
{
    uint32_t step = draft_step(draft);

    for (uint32_t node = 0; node < draft->nodes; node++) {
        uint32_t to = part_low(draft, node, draft->dims, NEAR_FIRST);
        if (to != node) {
            draft_pass(draft, step, node, to, to, 1);
        }
    }
}

static void add_by_parts(struct draft *draft, int how)
{
    uint32_t n = draft->nodes;

    for (uint32_t node = 0; node < n; node++) {
        draft_copy(draft, 0, node, slots_of(draft->plan, SPACE_SEND, 0, n),
                   draft_work(draft, 0, n));
    }
    switch (how) {
    case REDUCE_SCATTER_BUTTERFLY:
        part_halve(draft, NEAR_FIRST);
        mirror(draft);
        break;
    case REDUCE_SCATTER_DOUBLING: add_by_doubling(draft); break;
    case REDUCE_SCATTER_RING: part_ring_combine(draft); break;
    case REDUCE_SCATTER_LINEAR: add_at_root(draft); break;
    default: part_halve(draft, FAR_FIRST); break;
    }
    uint32_t last = draft_step(draft);
    for (uint32_t node = 0; node < n; node++) {
        draft_copy(draft, last, node, draft_work(draft, node, 1),
                   slots_of(draft->plan, SPACE_RECEIVE, 0, 1));
    }
}

struct plan *rival_reduce_scatter(const struct network *network, const struct plan_request *request,
                                  int how)
{
    uint32_t n = network->nodes;
    struct draft draft =
        draft_begin(network, request, SPACE_SCRATCH, n, how == REDUCE_SCATTER_PAIRS ? 0 : 2 * n);

    draft.landing = n;
    if (how == REDUCE_SCATTER_PAIRS) {
        add_by_shifts(&draft);
    } else {
        add_by_parts(&draft, how);
    }
    return draft_end(&draft);
}
