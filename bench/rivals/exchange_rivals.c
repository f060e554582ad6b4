/*
 * exchange_rivals.c - alltoall and allgather as the libraries do them.
 */
#include "bench/rivals/parts.h"
#include "bench/rivals/rivals.h"

static struct slots block(struct draft *draft, enum space space, uint32_t rank)
{
    return slots_of(draft->plan, space, rank, 1);
}

/* Alltoall: every block on its own ---------------------------------------------------------- */

enum { AT_A_TIME = 4 };

/* To whom a node sends in a step, and whether without waiting for the step before. */
static uint32_t partner(int how, uint32_t node, uint32_t step, uint32_t nodes)
{
    switch (how) {
    case ALLTOALL_PAIRS: return node ^ step;
    case ALLTOALL_SHIFTS: return (node + step) % nodes;
    default: return (node + nodes - step) % nodes;
    }
}

static bool waits(int how, uint32_t step)
{
    return how == ALLTOALL_PAIRS || how == ALLTOALL_SHIFTS ||
           (how == ALLTOALL_FOUR_AT_A_TIME && step % AT_A_TIME == 0);
}

struct plan *rival_alltoall(const struct network *network, const struct plan_request *request,
                            int how)
{
    struct draft draft = draft_begin(network, request, SPACE_RECEIVE, network->nodes, 0);

    for (uint32_t node = 0; node < draft.nodes; node++) {
        draft_copy(&draft, 0, node, block(&draft, SPACE_SEND, node),
                   block(&draft, SPACE_RECEIVE, node));
    }
    for (uint32_t step = 1; step < draft.nodes; step++) {
        for (uint32_t node = 0; node < draft.nodes; node++) {
            uint32_t to = partner(how, node, step, draft.nodes);
            struct slots send = block(&draft, SPACE_SEND, to);
            draft_circuit(&draft, step - 1, node, to, send, block(&draft, SPACE_RECEIVE, node),
                          waits(how, step) ? 0 : ROW_AHEAD);
        }
    }
    return draft_end(&draft);
}

/* Alltoall: blocks in bundles ---------------------------------------------------------------- */

/* Slots of scratch whose number has a bit. */
static struct slots with_bit(struct draft *draft, uint32_t base, uint32_t bit)
{
    struct slots slots = slots_begin(draft->plan);

    for (uint32_t at = bit; at < draft->nodes; at += 2 * bit) {
        slots_add(draft->plan, &slots, SPACE_SCRATCH, base + at, bit);
    }
    return slots;
}

/* Slot i of scratch has the block for the rank i places on; behind these lands what comes. */
struct plan *rival_alltoall_bruck(const struct network *network, const struct plan_request *request,
                                  int how)
{
    uint32_t n = network->nodes, step = 0;
    struct draft draft = draft_begin(network, request, SPACE_SCRATCH, n, 2 * n);

    (void)how;
    for (uint32_t node = 0; node < n; node++) {
        struct slots rotated = slots_begin(draft.plan);
        slots_add(draft.plan, &rotated, SPACE_SEND, node, n - node);
        slots_add(draft.plan, &rotated, SPACE_SEND, 0, node);
        draft_copy(&draft, 0, node, rotated, draft_work(&draft, 0, n));
    }
    for (uint32_t bit = 1; bit < n; bit *= 2, step++) {
        for (uint32_t node = 0; node < n; node++) {
            struct slots send = with_bit(&draft, 0, bit), landing = with_bit(&draft, n, bit);
            draft_circuit(&draft, step, node, (node + bit) % n, send, landing, 0);
            draft_copy(&draft, step + 1, node, landing, send);
        }
    }
    for (uint32_t node = 0; node < n; node++) {
        struct slots place = slots_begin(draft.plan);
        for (uint32_t i = 0; i < n; i++) {
            slots_add(draft.plan, &place, SPACE_RECEIVE, (node + n - i) % n, 1);
        }
        draft_copy(&draft, step, node, draft_work(&draft, 0, n), place);
    }
    return draft_end(&draft);
}

/* All that the nodes of a subcube send goes to each of them: slot s N + t has what s has for t. */
struct plan *rival_alltoall_doubling(const struct network *network,
                                     const struct plan_request *request, int how)
{
    uint32_t n = network->nodes;
    struct draft draft = draft_begin(network, request, SPACE_SCRATCH, n * n, n * n);

    (void)how;
    for (uint32_t node = 0; node < n; node++) {
        draft_copy(&draft, 0, node, slots_of(draft.plan, SPACE_SEND, 0, n),
                   draft_work(&draft, node * n, n));
    }
    for (uint32_t bit = 1; bit < n; bit *= 2) {
        uint32_t step = draft_step(&draft);
        for (uint32_t node = 0; node < n; node++) {
            draft_pass(&draft, step, node, node ^ bit, (node & ~(bit - 1)) * n, bit * n);
        }
    }
    for (uint32_t node = 0; node < n; node++) {
        struct slots wanted = slots_begin(draft.plan);
        for (uint32_t from = 0; from < n; from++) {
            slots_add(draft.plan, &wanted, SPACE_SCRATCH, from * n + node, 1);
        }
        draft_copy(&draft, draft_step(&draft), node, wanted,
                   slots_of(draft.plan, SPACE_RECEIVE, 0, n));
    }
    return draft_end(&draft);
}

/* Allgather ---------------------------------------------------------------------------------- */

/* Each node's own block to all others, one by one. */
static void gather_by_shifts(struct draft *draft)
{
    for (uint32_t shift = 1; shift < draft->nodes; shift++) {
        for (uint32_t node = 0; node < draft->nodes; node++) {
            draft_pass(draft, shift - 1, node, (node + shift) % draft->nodes, node, 1);
        }
    }
}

/* A node has the blocks of the ranks behind it, and sends all of them backwards. */
static void gather_by_bruck(struct draft *draft)
{
    for (uint32_t distance = 1; distance < draft->nodes; distance *= 2) {
        uint32_t step = draft_step(draft);
        for (uint32_t node = 0; node < draft->nodes; node++) {
            draft_pass(draft, step, node, (node + draft->nodes - distance) % draft->nodes, node,
                       distance);
        }
    }
}

/* Pairs 0 1, 2 3, ... and 1 2, 3 4, ... in turn, two blocks at a time: those of the pair whose
 * blocks came last. An even rank's first partner is the next one, an odd rank's the one before. */
static void gather_by_neighbours(struct draft *draft)
{
    uint32_t n = draft->nodes;

    for (uint32_t node = 0; node < n; node++) {
        draft_pass(draft, 0, node, node ^ 1, node, 1);
    }
    for (uint32_t step = 1; step < n / 2; step++) {
        for (uint32_t node = 0; node < n; node++) {
            uint32_t away = step / 2 * 2; /* of the pair whose blocks go on, from the node's own */
            bool up = (node + step) % 2 == 0;
            uint32_t low = (node & ~UINT32_C(1)) + (up ? n - away : away);
            draft_pass(draft, step, node, (node + (up ? 1 : n - 1)) % n, low, 2);
        }
    }
}

static struct draft allgather_begin(const struct network *network,
                                    const struct plan_request *request)
{
    struct draft draft = draft_begin(network, request, SPACE_RECEIVE, network->nodes, 0);

    for (uint32_t node = 0; node < draft.nodes; node++) {
        draft_copy(&draft, 0, node, block(&draft, SPACE_SEND, 0),
                   block(&draft, SPACE_RECEIVE, node));
    }
    return draft;
}

struct plan *rival_allgather(const struct network *network, const struct plan_request *request,
                             int how)
{
    struct draft draft = allgather_begin(network, request);

    switch (how) {
    case ALLGATHER_NEIGHBOURS: gather_by_neighbours(&draft); break;
    case ALLGATHER_BRUCK: gather_by_bruck(&draft); break;
    case ALLGATHER_RING: gather_by_shifts(&draft); break;
    default: part_grow(&draft, FAR_FIRST); break;
    }
    return draft_end(&draft);
}

struct plan *rival_gather_spread(const struct network *network, const struct plan_request *request,
                                 int how)
{
    struct draft draft = allgather_begin(network, request);

    part_gather(&draft, how & GATHER_BY_TREE);
    part_spread(&draft, (enum spreading)(how & ~GATHER_BY_TREE), draft.slots);
    return draft_end(&draft);
}
