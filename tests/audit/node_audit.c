/*
 * node_audit.c - every rule of node/due.h the other way round: from the states to the flags that
 * must be set.
 */
#include "tests/audit/node_audit.h"

#include <stdint.h>

#include "drivers/check.h"
#include "node/state.h"
#include "router/router.h"
#include "tests/audit/router_audit.h"

static void need(const struct node *node, bool flag, const char *name, const char *why)
{
    if (!flag) {
        audit_missing(node->router.id, name, why, UINT32_MAX, UINT32_MAX);
    }
}

static bool fits(const struct request *request, const struct unexpected *message)
{
    return (request->peer == ECUBE_ANY || (uint32_t)request->peer == message->src) &&
           (request->tag == ECUBE_ANY || (uint32_t)request->tag == message->tag);
}

static bool has_message(const struct node *node, const struct request *request)
{
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        if (fits(request, &node->unexpected[i])) {
            return true;
        }
    }
    return false;
}

static void audit_request(const struct node *node, const struct request *request)
{
    bool sends = request->kind == REQUEST_SEND && request->state <= STATE_READY &&
                 request->state != STATE_STORED;
    bool waits = request->kind == REQUEST_RECEIVE && request->state == STATE_QUEUED;

    if (sends) {
        need(node, node->messages_move, "messages_move", "a send may go on");
    }
    if (waits && has_message(node, request)) {
        need(node, node->messages_move, "messages_move", "a message waits for its receive");
    }
}

static void audit_requests(const struct node *node)
{
    unsigned queued = 0;

    for (unsigned i = 0; i < node->request_count; i++) {
        const struct request *request = &node->requests[node->request_order[i]];
        audit_request(node, request);
        queued += request->kind == REQUEST_COLLECTIVE && request->state == STATE_QUEUED;
    }
    need(node, node->collectives_queued == queued, "collectives_queued", "it counts wrong");
    if (node->cancel_count) {
        need(node, node->messages_move, "messages_move", "a CANCEL is owed");
    }
}

/* Whether the call that waits would return. */
static bool is_ready(const struct node *node)
{
    uint8_t numbers[ECUBE_REQUESTS_MAX];
    struct ecube_abi_probe probe;
    bool done = false;

    if (!node->call_open || node->program != PROGRAM_RUNNING) {
        return false;
    }
    for (unsigned i = 0, count = wait_requests(node, numbers); i < count; i++) {
        done |= node->requests[numbers[i]].state == STATE_DONE;
    }
    done |= node->call_number == ECUBE_CALL_REGION && node->region.left != 0;
    return done || (wait_probed(node, &probe) && match_probe(node, probe.peer, probe.tag));
}

struct audit_before audit_before_step(const struct node *node)
{
    return (struct audit_before){.ready = is_ready(node),
                                 .running = node->program == PROGRAM_RUNNING,
                                 .start_due = node->start_due};
}

static bool collective_may_move(const struct engine *engine)
{
    return engine->stage == ENGINE_PLAN || engine->stage == ENGINE_ENTRY || engine->store.asking ||
           entry_has_business(&engine->entering);
}

void audit_node(const struct node *node, const struct audit_before *before)
{
    audit_requests(node);
    need(node, node->load_due || node->load.state <= LOAD_RECEIVING, "load_due",
         "a download goes on");
    need(node, node->gather_due || node->gather.state != GATHER_COLLECTING, "gather_due",
         "a gather goes on");
    need(node, node->gather_due || (!node->gather.measure_due && node->gather.status == E_OK),
         "gather_due", "the host is to be told");
    need(node,
         node->region_due ||
             (node->region.state != REGION_ASKED && node->region.state != REGION_HASHING),
         "region_due", "a region is waited for, or hashed");
    need(node, !node->call_open || node->program == PROGRAM_RUNNING, "an end of the call",
         "its program is over");
    /* of a program that has just exited nothing has been said yet; and a link that has died at the
     * end of the step has given slots back, for which the node comes again: a notice waits */
    need(node,
         !entry_is_due(&node->engine.entering) || router_slots_free(&node->router) == 0 ||
             node->due & REPORT_DUE_EXIT || router_noticed(&node->router),
         "an ENTER or ENTERED", "it is owed, and there are slots");
    need(node, node->engine.look_due || !collective_may_move(&node->engine), "look_due",
         "the entry or the store has something to do");
    if ((is_ready(node) && !before->ready) ||
        (before->running && node->program != PROGRAM_RUNNING) ||
        (node->start_due && !before->start_due)) {
        need(node, node->program_moves, "program_moves", "the program may go on, or is over");
    }
}
