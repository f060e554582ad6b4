/*
 * collective.c - a program's collectives: what it has called for, one after the other, through the
 * engine.
 *
 *     QUEUED --engine_begin--> MOVING --engine_end--> DONE
 *
 * A program may end meanwhile. It matters only whether its node had begun the collective. If it
 * had, the kernel goes through it to the end, in the program's memory, as if nothing had happened.
 * If it had not, all nodes get E_PEER_GONE (collectives/entry.h). A node takes no download before
 * the collective that it has begun is over. Until then no program of that download is started
 * anywhere, so no ENTER of the program before is under way later.
 *
 * An error in the arguments begins all the same, for the other nodes call the collective too: the
 * engine enters with it, and all nodes get an error.
 *
 * One entry instead of a CTS per circuit. It takes two packets per node and collective, whatever
 * the number of steps, and checks for disagreement at no further cost. A CTS per step alone is not
 * enough: a circuit that waits its turn behind a node which has not entered yet would hold links
 * that a message may need for which this node waits.
 */
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "reduction/reduction.h"
#include "router/router.h"

/* The kernel's pointer to what a program names; how much of its memory lies there. NULL and none
 * when it is not the program's. */
static uint8_t *space_at(const struct node *node, uint32_t address, uint32_t *bytes)
{
    *bytes = program_room(node, address);
    return program_memory(node, address, 0);
}

/* The node of a root. A distance, or a mask of dimensions, counts in ranks, and stays; so does what
 * is no rank, for the error's words. */
static uint32_t root_of(const struct node *node, uint32_t number, uint32_t root)
{
    const struct operation *operation = operation_of(number);

    return operation && operation->rooted && root < node->router.network.nodes
               ? map_node(node, root)
               : root;
}

static struct engine_call call_of(const struct node *node,
                                  const struct ecube_abi_collective *arguments, uint64_t issue_ns)
{
    struct engine_call call = {.operation = arguments->operation,
                               .root = root_of(node, arguments->operation, arguments->root),
                               .bytes = arguments->block_bytes,
                               .type = arguments->type,
                               .operator_ = arguments->operator_,
                               .choice = arguments->choice,
                               .issue_ns = issue_ns};

    call.space[SPACE_SEND] = space_at(node, arguments->send, &call.space_bytes[SPACE_SEND]);
    call.space[SPACE_RECEIVE] =
        space_at(node, arguments->receive, &call.space_bytes[SPACE_RECEIVE]);
    call.space[SPACE_SCRATCH] =
        space_at(node, arguments->scratch, &call.space_bytes[SPACE_SCRATCH]);
    call.writable_bytes[SPACE_RECEIVE] = program_writable_room(node, arguments->receive);
    call.writable_bytes[SPACE_SCRATCH] = program_writable_room(node, arguments->scratch);
    call.blocks[SPACE_SEND] =
        space_at(node, arguments->send_blocks, &call.blocks_bytes[SPACE_SEND]);
    call.blocks[SPACE_RECEIVE] =
        space_at(node, arguments->receive_blocks, &call.blocks_bytes[SPACE_RECEIVE]);
    /* of that the program has no more than it says */
    if (arguments->scratch_bytes < call.space_bytes[SPACE_SCRATCH]) {
        call.space_bytes[SPACE_SCRATCH] = arguments->scratch_bytes;
    }
    return call;
}

/* E_FULL: the program has all its requests in use. */
int collective_start(struct node *node, const struct ecube_abi_collective *arguments)
{
    struct request *request = request_make(node, REQUEST_COLLECTIVE);

    if (!request) {
        return E_FULL;
    }
    node_due_collective(node);
    node->collective_arguments[request - node->requests] = *arguments;
    return (int)(request - node->requests);
}

/* Starts the oldest collective that waits behind others. */
static void begin_next(struct node *node)
{
    struct request *oldest = NULL;

    for (unsigned i = 0; i < node->request_count && !oldest; i++) {
        struct request *request = request_at(node, i);
        if (request->kind == REQUEST_COLLECTIVE && request->state == STATE_QUEUED) {
            oldest = request;
        }
    }
    CHECK(oldest);
    node_due_collective_begun(node);
    oldest->state = STATE_MOVING;
    node->collective_request = (uint8_t)(oldest - node->requests);
    struct engine_call call =
        call_of(node, &node->collective_arguments[node->collective_request], oldest->issue_ns);
    engine_begin(&node->engine, &call);
}

static void finish(struct node *node)
{
    struct request *request = &node->requests[node->collective_request];
    struct engine_result result = engine_end(&node->engine);

    request->result_steps = result.steps;
    request->detail = node->engine.epoch;
    request_finish(node, request, result.status, result.done_ns);
}

/* Moves the collective that is under way, and begins the next one when it is over, until one has to
 * wait. */
bool collective_pump(struct node *node)
{
    enum engine_verdict verdict;

    do {
        if (node->collectives_queued && !engine_is_active(&node->engine)) {
            begin_next(node);
        }
        verdict = engine_pump(&node->engine, &node->router, node->now_us);
        if (node->engine.stage == ENGINE_OVER) {
            finish(node);
        }
    } while (node->collectives_queued && !engine_is_active(&node->engine));
    return verdict == ENGINE_HAS_MORE;
}

/* What a program asks about; false when it cannot be. */
static bool need_of(const struct node *node, const struct ecube_abi_plan *plan,
                    struct plan_need *need)
{
    const struct operation *operation = operation_of(plan->operation);

    uint32_t root = root_of(node, plan->operation, plan->root);

    if (!operation || root >= operation_roots(operation, &node->router.network) ||
        (operation->reduces ? !reduction_element_bytes(plan->type) : plan->type != 0)) {
        return false;
    }
    *need = (struct plan_need){.operation = (uint8_t)plan->operation,
                               .type = (uint8_t)plan->type,
                               .root = root,
                               .bytes = plan->block_bytes,
                               .choice = plan->choice};
    return true;
}

int collective_plan(struct node *node, struct ecube_abi_plan *plan, bool *blocked)
{
    struct plan_need need;
    struct plan_store *store = &node->engine.store;
    const struct operation *operation = operation_of(plan->operation);
    int status;

    if (!need_of(node, plan, &need)) {
        return E_ARGUMENT;
    }
    plan->scratch_bytes = plan->steps = 0;
    if (!operation->planned) {
        return E_OK;
    }
    const uint8_t *part = store_find(store, &need, node->router.id);
    if (part) {
        uint64_t bytes =
            operation_slot_at(operation, plan_scratch(part), plan->block_bytes,
                              reduction_element_bytes(plan->type), plan_segments(part));
        plan->scratch_bytes = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
        plan->steps = plan_steps(part);
        return E_OK;
    }
    if (store_failed(store, &need, &status)) {
        return status;
    }
    store_want(store, &need, node->now_us);
    engine_attend(&node->engine);
    *blocked = true;
    return E_OK;
}

int collective_predict(struct node *node, struct ecube_abi_plan *plan, bool *blocked)
{
    struct plan_need need;
    const struct predicted_body *predicted = &node->engine.store.predicted;

    if (!need_of(node, plan, &need)) {
        return E_ARGUMENT;
    }
    if (!store_predict(&node->engine.store, &need, node->now_us)) {
        engine_attend(&node->engine);
        *blocked = true;
        return E_OK;
    }
    plan->steps = predicted->steps;
    plan->model_ns = predicted->model_ns;
    plan->bound_ns = predicted->bound_ns;
    return predicted->status;
}
