/*
 * prove.c - see prove.h.
 */
#include "collectives/gen/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/walker.h"
#include "drivers/check.h"
#include "include/ecube/abi.h"
#include "include/ecube/predict.h"
#include "wire/circuit.h"

enum {
    ROOTS_ALL_DIMS = 6,
    FOLLOW_ALL_DIMS = 10,
    FOLLOWED = 64 /* nodes whose arrival is followed through the barrier of a larger cube */
};

/*
 * One node of the replay. A block of a tree is one token, a number that names its source and
 * destination; 0: nothing there. An exchange needs none: nothing writes to its send buffer, so what
 * a node sends from the place of block b is its block for node b.
 */
struct place {
    struct walk walk;
    struct walk_step step; /* the next one this node takes part in */
    bool live;             /* step is valid */
    uint64_t *blocks;      /* the one buffer of a tree */
    uint8_t *heard;        /* barrier: 1 for every followed node whose arrival this one knows of */
    uint32_t met_count;    /* exchange: blocks that have come */
};

/* A directed link: circuits so far, 1 + the last step in which it carried one, and whether that one
 * began at the link's own node. */
struct use {
    uint32_t carried;
    uint16_t last;
    bool own;
};

struct replay {
    uint32_t operation;
    uint32_t dims;
    uint32_t root;
    uint32_t node_count;
    uint32_t followed; /* barrier: nodes, each node_count / followed from the next */
    uint32_t step;
    struct place *places;
    struct use
        *uses; /* of the links of dimension 0 that leave each node, then of dimension 1, ... */
    uint64_t *blocks;
    uint8_t *met; /* exchange: [source ^ rank][rank], so that a step stays in one row */
    uint8_t *heard;
    uint8_t *heard_before; /* at the start of the step */
    struct proof *proof;
};

#define FAIL(replay, ...)                                                                          \
    (snprintf((replay)->proof->fault, sizeof(replay)->proof->fault, __VA_ARGS__), false)

static uint64_t token(const struct replay *replay, uint32_t source, uint32_t destination)
{
    return (uint64_t)source * replay->node_count + destination + 1;
}

/* Where a node's own block lies in its subtree's working buffer. */
static uint32_t own_block(const struct replay *replay, uint32_t rank)
{
    uint32_t relative = rank ^ replay->root;
    uint32_t lowest = relative & (~relative + 1);
    return relative == 0 ? rank : rank & (lowest - 1);
}

static void place_start(struct replay *replay, uint32_t rank)
{
    struct place *place = &replay->places[rank];
    uint32_t apart = replay->followed ? replay->node_count / replay->followed : 0;
    switch (replay->operation) {
    case ECUBE_BROADCAST:
        place->blocks[0] = rank == replay->root ? token(replay, rank, 0) : 0;
        break;
    case ECUBE_SCATTER:
        for (uint32_t other = 0; other < replay->node_count && rank == replay->root; other++) {
            place->blocks[other] = token(replay, rank, other);
        }
        break;
    case ECUBE_GATHER:
        place->blocks[own_block(replay, rank)] = token(replay, rank, replay->root);
        break;
    case ECUBE_EXCHANGE: break;
    default:
        if (rank % apart == 0) {
            place->heard[rank / apart] = 1;
        }
        break;
    }
}

static bool place_is_done(const struct replay *replay, uint32_t rank)
{
    const struct place *place = &replay->places[rank];
    bool done = true;
    switch (replay->operation) {
    case ECUBE_BROADCAST: done = place->blocks[0] == token(replay, replay->root, 0); break;
    case ECUBE_SCATTER:
        done = place->blocks[own_block(replay, rank)] == token(replay, replay->root, rank);
        break;
    case ECUBE_GATHER:
        for (uint32_t other = 0; other < replay->node_count && rank == replay->root; other++) {
            done = done && place->blocks[other] == token(replay, other, rank);
        }
        break;
    case ECUBE_EXCHANGE: done = place->met_count == replay->node_count - 1; break;
    default: done = !memchr(place->heard, 0, replay->followed); break;
    }
    return done;
}

const char *schedule_path_fault(uint32_t hops, uint32_t turn)
{
    if (hops > OPEN_HOPS_MAX) {
        return "its path has more hops than an OPEN can list";
    }
    return turn > UINT16_MAX ? "a link of its path has more circuits before it than a turn counts"
                             : NULL;
}

/* Walks the e-cube path of one circuit and counts it on every link. */
static bool circuit_route(struct replay *replay, uint32_t source, const struct walk_step *step,
                          uint32_t *hops)
{
    uint32_t node = source;
    *hops = 0;
    for (uint32_t dim = 0; dim < WALK_TURNS; dim++) {
        if (dim >= replay->dims || (((node ^ step->peer) >> dim) & 1) == 0) {
            if (step->turns[dim] != 0) {
                return FAIL(
                    replay,
                    "step %u: node %u has a turn in dimension %u, which its path does not take",
                    replay->step, source, dim);
            }
            continue;
        }
        struct use *use = &replay->uses[(size_t)dim * replay->node_count + node];
        if (use->last == replay->step + 1) {
            return FAIL(replay, "step %u: two circuits leave node %u in dimension %u", replay->step,
                        node, dim);
        }
        const char *fault = schedule_path_fault(*hops + 1, use->carried);
        if (fault) {
            return FAIL(replay, "step %u: node %u to %u: %s", replay->step, source, step->peer,
                        fault);
        }
        if (step->turns[dim] != use->carried) {
            return FAIL(replay, "step %u: node %u says turn %u at node %u dimension %u, it is %u",
                        replay->step, source, step->turns[dim], node, dim, use->carried);
        }
        use->last = (uint16_t)(replay->step + 1);
        use->own = node == source;
        use->carried++;
        node ^= UINT32_C(1) << dim;
        (*hops)++;
    }
    CHECK(node == step->peer);
    return true;
}

/* An exchange: the circuit carries the source's block for the peer, to where the peer wants it. */
static bool exchange_move(struct replay *replay, uint32_t source, const struct walk_step *step)
{
    struct place *to = &replay->places[step->peer];
    if (step->send_offset != step->peer || to->step.receive_offset != source ||
        step->send_bytes != 1) {
        return FAIL(replay, "step %u: %u sends its block %u to %u, which wants that of %u",
                    replay->step, source, step->send_offset, step->peer, to->step.receive_offset);
    }
    uint8_t *met = &replay->met[(size_t)(source ^ step->peer) * replay->node_count + step->peer];
    if (*met) {
        return FAIL(replay, "step %u: node %u gets block %u twice", replay->step, step->peer,
                    source);
    }
    *met = 1;
    to->met_count++;
    return true;
}

/*
 * A tree: moves tokens. Reading what the same step writes cannot happen: see circuit_meets.
 */
static bool tree_move(struct replay *replay, uint32_t source, const struct walk_step *step)
{
    struct place *from = &replay->places[source];
    struct place *to = &replay->places[step->peer];
    for (uint32_t i = 0; i < step->send_bytes; i++) {
        uint64_t block = from->blocks[step->send_offset + i];
        uint64_t *into = &to->blocks[to->step.receive_offset + i];
        if (block == 0) {
            return FAIL(replay, "step %u: node %u sends block %u before it has it", replay->step,
                        source, step->send_offset + i);
        }
        if (*into != 0) {
            return FAIL(replay, "step %u: node %u gets block %u twice", replay->step, step->peer,
                        to->step.receive_offset + i);
        }
        *into = block;
    }
    return true;
}

/* Moves the blocks of one circuit. */
static bool circuit_move(struct replay *replay, uint32_t source, const struct walk_step *step)
{
    struct place *from = &replay->places[source];
    struct place *to = &replay->places[step->peer];
    uint64_t send_end = (uint64_t)step->send_offset + step->send_bytes;
    uint64_t receive_end = (uint64_t)to->step.receive_offset + to->step.receive_bytes;
    if (send_end > walk_span(&from->walk).send_bytes ||
        receive_end > walk_span(&to->walk).receive_bytes) {
        return FAIL(replay, "step %u: %u to %u leaves a buffer", replay->step, source, step->peer);
    }
    if (replay->operation == ECUBE_EXCHANGE) {
        return exchange_move(replay, source, step);
    }
    if (replay->operation != ECUBE_BARRIER) {
        return tree_move(replay, source, step);
    }
    const uint8_t *told = replay->heard_before + (size_t)source * replay->followed;
    for (uint32_t i = 0; i < replay->followed; i++) {
        to->heard[i] |= told[i];
    }
    return true;
}

/* True when what the node does in this step fits what its peer does in it. */
static bool circuit_meets(struct replay *replay, uint32_t rank)
{
    const struct place *place = &replay->places[rank];
    const struct walk_step *step = &place->step;
    if (step->peer >= replay->node_count || step->peer == rank) {
        return FAIL(replay, "step %u: node %u has no peer %u", replay->step, rank, step->peer);
    }
    const struct place *peer = &replay->places[step->peer];
    bool together = peer->live && peer->step.step == replay->step && peer->step.peer == rank;
    if (step->sends &&
        !(together && peer->step.receives && peer->step.receive_bytes == step->send_bytes)) {
        return FAIL(replay, "step %u: node %u sends %u blocks to %u, which does not receive them",
                    replay->step, rank, step->send_bytes, step->peer);
    }
    if (step->receives && !(together && peer->step.sends)) {
        return FAIL(replay, "step %u: node %u receives from %u, which does not send", replay->step,
                    rank, step->peer);
    }
    if (place->blocks && step->sends && step->receives && step->send_bytes > 0) {
        return FAIL(replay, "step %u: node %u sends and receives in one buffer", replay->step,
                    rank);
    }
    /* What holds for a followed node then holds for all: they are each other's XOR-translates. */
    if (replay->followed > 0 && replay->followed < replay->node_count &&
        !(step->sends && step->receives && (step->peer ^ rank) == replay->places[0].step.peer)) {
        return FAIL(replay, "step %u: node %u does not do as node 0", replay->step, rank);
    }
    return true;
}

static bool step_replay(struct replay *replay)
{
    uint32_t hops_max = 0;
    uint32_t blocks_max = 0;
    size_t heard_bytes = (size_t)replay->node_count * replay->followed;
    if (replay->operation == ECUBE_BARRIER) {
        memcpy(replay->heard_before, replay->heard, heard_bytes);
    }
    for (uint32_t rank = 0; rank < replay->node_count; rank++) {
        const struct walk_step *step = &replay->places[rank].step;
        if (!replay->places[rank].live || step->step != replay->step) {
            continue;
        }
        uint32_t hops = 0;
        if (!circuit_meets(replay, rank)) {
            return false;
        }
        if (!step->sends) {
            continue;
        }
        if (!circuit_route(replay, rank, step, &hops) || !circuit_move(replay, rank, step)) {
            return false;
        }
        replay->proof->circuits++;
        replay->proof->links += hops;
        hops_max = hops > hops_max ? hops : hops_max;
        blocks_max = step->send_bytes > blocks_max ? step->send_bytes : blocks_max;
    }
    replay->proof->steps += hops_max > 0;
    replay->proof->hops += hops_max;
    replay->proof->blocks += blocks_max;
    return true;
}

/*
 * Lets every node that took part in this step look at its next one; false when a walk goes
 * backwards.
 */
static bool step_advance(struct replay *replay, uint32_t *live_count)
{
    *live_count = 0;
    for (uint32_t rank = 0; rank < replay->node_count; rank++) {
        struct place *place = &replay->places[rank];
        if (place->live && place->step.step == replay->step) {
            place->live = walk_next(&place->walk, &place->step);
        }
        if (place->live && place->step.step <= replay->step) {
            return FAIL(replay, "step %u: node %u goes back to step %u", replay->step, rank,
                        place->step.step);
        }
        *live_count += place->live;
    }
    return true;
}

static bool is_tree(uint32_t operation)
{
    return operation != ECUBE_EXCHANGE && operation != ECUBE_BARRIER;
}

static uint32_t followed_count(uint32_t operation, uint32_t dims)
{
    if (operation != ECUBE_BARRIER) {
        return 0;
    }
    return dims <= FOLLOW_ALL_DIMS ? UINT32_C(1) << dims : FOLLOWED;
}

/* Every node's walk, at its first step; returns the blocks of all their buffers. */
static uint64_t replay_walks(struct replay *replay, const struct schedule_table *table)
{
    uint64_t blocks = 0;
    for (uint32_t rank = 0; rank < replay->node_count; rank++) {
        struct place *place = &replay->places[rank];
        walk_begin_table(&place->walk, table, replay->operation, replay->dims, rank, replay->root,
                         1);
        place->live = walk_next(&place->walk, &place->step);
        blocks += walk_span(&place->walk).send_bytes;
    }
    return blocks;
}

/* Zeroed memory; one element too many, so that none is no case of its own. */
static void *zeroed(uint64_t count, size_t bytes)
{
    void *memory = calloc(count + 1, bytes);
    CHECK(memory);
    return memory;
}

static void replay_begin(struct replay *replay, const struct schedule_table *table)
{
    uint64_t count = replay->node_count;
    bool tree = is_tree(replay->operation);
    replay->places = zeroed(count, sizeof *replay->places);
    replay->uses = zeroed(count * CUBE_DIMS_MAX, sizeof *replay->uses);
    uint64_t block_count = replay_walks(replay, table);
    replay->followed = followed_count(replay->operation, replay->dims);
    replay->blocks = zeroed(tree ? block_count : 0, sizeof *replay->blocks);
    replay->met = zeroed(replay->operation == ECUBE_EXCHANGE ? count * count : 0, 1);
    replay->heard = zeroed(2 * count * replay->followed, 1);
    replay->heard_before = replay->heard + count * replay->followed;
    uint64_t *next = replay->blocks;
    for (uint32_t rank = 0; rank < count; rank++) {
        struct place *place = &replay->places[rank];
        place->heard = replay->heard + (size_t)rank * replay->followed;
        if (tree) {
            place->blocks = next;
            next += walk_span(&place->walk).send_bytes;
        }
        place_start(replay, rank);
    }
}

static void replay_end(struct replay *replay)
{
    free(replay->places);
    free(replay->uses);
    free(replay->blocks);
    free(replay->met);
    free(replay->heard);
}

/* A node that has sent all its circuits has carried all of others too, for links keep the order of
 * the schedule: so it knows when its links are free for the messages that come after. */
static bool links_end_own(struct replay *replay)
{
    for (uint32_t dim = 0; dim < replay->dims; dim++) {
        for (uint32_t node = 0; node < replay->node_count; node++) {
            const struct use *use = &replay->uses[(size_t)dim * replay->node_count + node];
            if (use->carried && !use->own) {
                return FAIL(replay, "the last circuit from node %u in dimension %u is not its own",
                            node, dim);
            }
        }
    }
    return true;
}

static bool replay_run(struct replay *replay, uint32_t row_count)
{
    uint32_t live_count = replay->node_count;
    for (replay->step = 0; replay->step < row_count && live_count > 0; replay->step++) {
        if (!step_replay(replay) || !step_advance(replay, &live_count)) {
            return false;
        }
    }
    for (uint32_t rank = 0; rank < replay->node_count; rank++) {
        if (!place_is_done(replay, rank)) {
            return FAIL(replay, "at the end node %u does not hold what it should", rank);
        }
    }
    return links_end_own(replay);
}

/*
 * With xi, tau and element as three unknowns the closed form is right exactly when these three sums
 * are.
 */
static bool cost_is_predicted(struct replay *replay)
{
    const struct proof *proof = replay->proof;
    uint32_t operation = replay->operation;
    uint32_t dims = replay->dims;
    if (proof->steps != ecube_predict_steps(operation, dims) ||
        proof->hops != ecube_predict_hops(operation, dims) ||
        proof->blocks != ecube_predict_blocks(operation, dims)) {
        return FAIL(replay, "%u steps, %u hops, %u blocks are not those of the closed form",
                    proof->steps, proof->hops, proof->blocks);
    }
    struct ecube_profile element_only = {.element_ns = 1};
    if (ecube_bound_ns(operation, dims, 1000, &element_only) >
        ecube_predict_ns(operation, dims, 1000, &element_only)) {
        return FAIL(replay, "the closed form is below the lower bound");
    }
    return true;
}

bool schedule_prove(const struct schedule_table *table, uint32_t operation, uint32_t dims,
                    uint32_t root, struct proof *proof)
{
    *proof = (struct proof){0};
    struct replay replay = {.operation = operation,
                            .dims = dims,
                            .root = root,
                            .node_count = UINT32_C(1) << dims,
                            .proof = proof};
    replay_begin(&replay, table);
    bool proved = replay_run(&replay, table->row_count) && cost_is_predicted(&replay);
    replay_end(&replay);
    return proved;
}

/* From one root up to all: see prove.h. The proof that is left is that of root 0 or of a fault. */
static bool roots_prove(const struct schedule_table *table, uint32_t operation, uint32_t dims,
                        struct proof *proof)
{
    uint32_t node_count = UINT32_C(1) << dims;
    uint32_t stride = !is_tree(operation)      ? node_count
                      : dims <= ROOTS_ALL_DIMS ? 1
                                               : node_count / 4 - 1;
    bool proved = schedule_prove(table, operation, dims, 0, proof);
    uint32_t root = 0;
    while (proved && root + stride < node_count) {
        struct proof other;
        root += stride;
        proved = schedule_prove(table, operation, dims, root, &other);
        if (!proved) {
            *proof = other;
        }
    }
    if (!proved) {
        size_t used = strlen(proof->fault);
        snprintf(proof->fault + used, sizeof proof->fault - used, " (%u dimensions, root %u)", dims,
                 root);
    }
    return proved;
}

uint32_t schedule_prove_all(const struct schedule_table *table, uint32_t operation,
                            struct proof proofs[CUBE_DIMS_MAX + 1])
{
    uint32_t dims = 0;
    while (dims <= table->dims && roots_prove(table, operation, dims, &proofs[dims])) {
        dims++;
    }
    return dims;
}
