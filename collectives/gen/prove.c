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

enum { ROOTS_ALL_DIMS = 6 };

/*
 * One node of the replay. A block is one token, a number that names its source and destination; 0:
 * nothing there.
 */
struct place {
    struct walk walk;
    struct walk_step step; /* the next one this node takes part in */
    bool live;             /* step is valid */
    uint32_t *send;
    uint32_t *receive;               /* equal to send when the operation has one buffer */
    uint8_t *heard;                  /* barrier: 1 for every node whose arrival this one knows of */
    uint32_t carried[CUBE_DIMS_MAX]; /* circuits that left through each dimension so far */
    uint32_t used[CUBE_DIMS_MAX];    /* 1 + the last step in which one did */
};

struct replay {
    uint32_t operation;
    uint32_t dims;
    uint32_t root;
    uint32_t node_count;
    uint32_t step;
    struct place *places;
    uint32_t *tokens;
    uint8_t *heard;
    uint8_t *heard_before; /* at the start of the step */
    struct proof *proof;
};

#define FAIL(replay, ...)                                                                          \
    (snprintf((replay)->proof->fault, sizeof(replay)->proof->fault, __VA_ARGS__), false)

static uint32_t token(const struct replay *replay, uint32_t source, uint32_t destination)
{
    return source * replay->node_count + destination + 1;
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
    uint32_t count = replay->node_count;
    switch (replay->operation) {
    case ECUBE_EXCHANGE:
        for (uint32_t other = 0; other < count; other++) {
            place->send[other] = token(replay, rank, other);
        }
        place->receive[rank] = token(replay, rank, rank);
        break;
    case ECUBE_BROADCAST: place->send[0] = rank == replay->root ? token(replay, rank, 0) : 0; break;
    case ECUBE_SCATTER:
        for (uint32_t other = 0; other < count && rank == replay->root; other++) {
            place->send[other] = token(replay, rank, other);
        }
        break;
    case ECUBE_GATHER:
        place->send[own_block(replay, rank)] = token(replay, rank, replay->root);
        break;
    default: place->heard[rank] = 1; break;
    }
}

static bool place_is_done(const struct replay *replay, uint32_t rank)
{
    const struct place *place = &replay->places[rank];
    bool done = true;
    switch (replay->operation) {
    case ECUBE_EXCHANGE:
        for (uint32_t other = 0; other < replay->node_count; other++) {
            done = done && place->receive[other] == token(replay, other, rank);
        }
        break;
    case ECUBE_BROADCAST: done = place->receive[0] == token(replay, replay->root, 0); break;
    case ECUBE_SCATTER:
        done = place->receive[own_block(replay, rank)] == token(replay, replay->root, rank);
        break;
    case ECUBE_GATHER:
        for (uint32_t other = 0; other < replay->node_count && rank == replay->root; other++) {
            done = done && place->receive[other] == token(replay, other, rank);
        }
        break;
    default:
        for (uint32_t other = 0; other < replay->node_count; other++) {
            done = done && place->heard[other];
        }
        break;
    }
    return done;
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
        struct place *hop = &replay->places[node];
        if (hop->used[dim] == replay->step + 1) {
            return FAIL(replay, "step %u: two circuits leave node %u in dimension %u", replay->step,
                        node, dim);
        }
        if (step->turns[dim] != hop->carried[dim]) {
            return FAIL(replay, "step %u: node %u says turn %u at node %u dimension %u, it is %u",
                        replay->step, source, step->turns[dim], node, dim, hop->carried[dim]);
        }
        hop->used[dim] = replay->step + 1;
        hop->carried[dim]++;
        node ^= UINT32_C(1) << dim;
        (*hops)++;
    }
    CHECK(node == step->peer);
    return true;
}

/*
 * Moves the blocks of one circuit. Reading what the same step writes cannot happen: see
 * circuit_meets.
 */
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
    for (uint32_t i = 0; i < step->send_bytes; i++) {
        uint32_t block = from->send[step->send_offset + i];
        uint32_t *into = &to->receive[to->step.receive_offset + i];
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
    for (uint32_t i = 0; replay->operation == ECUBE_BARRIER && i < replay->node_count; i++) {
        to->heard[i] |= replay->heard_before[(size_t)source * replay->node_count + i];
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
    if (place->send == place->receive && step->sends && step->receives && step->send_bytes > 0) {
        return FAIL(replay, "step %u: node %u sends and receives in one buffer", replay->step,
                    rank);
    }
    return true;
}

static bool step_replay(struct replay *replay)
{
    uint32_t hops_max = 0;
    uint32_t blocks_max = 0;
    size_t heard_bytes = (size_t)replay->node_count * replay->node_count;
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

static void replay_begin(struct replay *replay, const struct schedule_table *table)
{
    uint32_t count = replay->node_count;
    size_t square = (size_t)count * count;
    bool one_buffer = replay->operation != ECUBE_EXCHANGE;
    replay->places = calloc(count, sizeof *replay->places);
    replay->tokens = calloc(2 * square, sizeof *replay->tokens);
    replay->heard = calloc(2 * square, 1);
    CHECK(replay->places && replay->tokens && replay->heard);
    replay->heard_before = replay->heard + square;
    for (uint32_t rank = 0; rank < count; rank++) {
        struct place *place = &replay->places[rank];
        place->send = replay->tokens + (size_t)rank * count;
        place->receive = one_buffer ? place->send : place->send + square;
        place->heard = replay->heard + (size_t)rank * count;
        place_start(replay, rank);
        walk_begin_table(&place->walk, table, replay->operation, replay->dims, rank, replay->root,
                         1);
        place->live = walk_next(&place->walk, &place->step);
    }
}

static void replay_end(struct replay *replay)
{
    free(replay->places);
    free(replay->tokens);
    free(replay->heard);
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
    return true;
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

bool schedule_prove_all(const struct schedule_table *table, uint32_t operation, struct proof *proof)
{
    for (uint32_t dims = 0; dims <= CUBE_DIMS_MAX; dims++) {
        uint32_t node_count = UINT32_C(1) << dims;
        bool rooted = operation != ECUBE_BARRIER && operation != ECUBE_EXCHANGE;
        uint32_t stride = !rooted ? node_count : dims <= ROOTS_ALL_DIMS ? 1 : node_count / 4 - 1;
        for (uint32_t root = 0; root < node_count; root += stride) {
            if (!schedule_prove(table, operation, dims, root, proof)) {
                size_t used = strlen(proof->fault);
                snprintf(proof->fault + used, sizeof proof->fault - used,
                         " (%u dimensions, root %u)", dims, root);
                return false;
            }
        }
    }
    return true;
}
