/*
 * request.c - what a program has asked for and not yet waited for.
 *
 *     request_make --> in use --> request_finish: STATE_DONE --> wait or test: request_free
 *
 * Invariants
 * - request_order holds the requests in use, oldest first. Whoever looks for the oldest that fits
 *   looks at those in use only, and takes the first.
 * - A name is an entry and its generation. It travels in packets and circuit tokens and may come
 *   back late; it finds a request only while that same use of the entry goes on.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"

/* NULL when all entries are in use: the call that asked says E_FULL, and the program has to wait
 * for one of its requests first. The generation outlives the entry's use, so that the next use has
 * another name. */
struct request *request_make(struct node *node, enum request_kind kind)
{
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        struct request *request = &node->requests[i];
        if (request->kind != REQUEST_FREE) {
            continue;
        }
        uint8_t generation = (uint8_t)(request->generation + 1);
        *request = (struct request){.kind = (uint8_t)kind,
                                    .generation = generation,
                                    .stamp = node->stamp++,
                                    .issue_ns = node->clock_ns};
        node->request_order[node->request_count++] = (uint8_t)i;
        return request;
    }
    return NULL;
}

/* The generation stays as it is; request_make counts it on. */
void request_free(struct node *node, struct request *request)
{
    unsigned at = 0;

    while (request_at(node, at) != request) {
        at++;
    }
    node->request_count--;
    for (; at < node->request_count; at++) {
        node->request_order[at] = node->request_order[at + 1];
    }
    request->kind = REQUEST_FREE;
}

/* A name comes from outside and can be any number, so its index is checked like its generation. A
 * request that is done is no longer found: nothing that arrives now may change its result. */
struct request *request_named(struct node *node, uint32_t name)
{
    struct request *request = &node->requests[name & 0xff & (ECUBE_REQUESTS_MAX - 1)];

    return (name & 0xff) < ECUBE_REQUESTS_MAX && request->kind != REQUEST_FREE &&
                   request->state != STATE_DONE && request->generation == (name >> 8 & 0xff)
               ? request
               : NULL;
}

uint32_t request_name(const struct node *node, const struct request *request)
{
    /* 0 says that a message has no name yet */
    return (uint32_t)NAME_BIT | (uint32_t)request->generation << 8 |
           (uint32_t)(request - node->requests);
}

/* `completions` counts so that a test after it finds its request untested, and does not rest. */
void request_finish(struct node *node, struct request *request, int status, uint64_t done_ns)
{
    node_due_program(node);
    node->progress++;
    node->completions++;
    request->state = STATE_DONE;
    request->status = status;
    request->done_ns = done_ns;
    node->cut |= status == E_LINK_DEAD;
    if (node->router.recorder && request->kind != REQUEST_COLLECTIVE) {
        record_message(node, request);
    }
}
