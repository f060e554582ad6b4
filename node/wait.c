/*
 * wait.c - the system calls by which a program takes the ends of its requests, looks for messages,
 * and gives up a receive.
 *
 *     WAIT      blocks until its request is complete, and frees it
 *     TEST      the same without blocking; it rests when it only repeats a test in vain
 *     WAIT_ANY  blocks until one of several is complete; takes the one that was first in model time
 *     PROBE     blocks until there is a message that a receive would take; or it does not block,
 *               and rests like a test
 *     CANCEL    never blocks: the receive is complete soon, with its message or with E_CANCELLED
 *
 * Invariants
 * - A request is freed by WAIT, TEST and WAIT_ANY, and nowhere else while its program runs.
 * - What a program names is read and checked anew each time that its call is asked for: while it
 *   blocks, a message may be received over it.
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/clock.h"

/* A result is put together in a copy, for its numbers are longer than a word. */
static int tell(struct node *node, uint32_t address, const struct ecube_abi_result *result)
{
    void *at = program_answer(node, address, sizeof *result);

    if (!at) {
        return E_FAULT;
    }
    memcpy(at, result, sizeof *result);
    return E_OK;
}

/* A message's other end, as the program knows it. */
static int32_t rank_of_peer(const struct node *node, int32_t peer)
{
    return peer < 0 ? peer : (int32_t)map_rank(node, (uint32_t)peer);
}

/* Hands over the result of a request that is done, and frees the request. The program's clock has
 * waited for it in model time. A bad address fails before the request is freed, so that the program
 * can ask again and loses no result. */
static int take_result(struct node *node, struct request *request, uint32_t address)
{
    struct ecube_abi_result result = {.status = request->status,
                                      .peer = rank_of_peer(node, request->result_peer),
                                      .tag = request->result_tag,
                                      .bytes = request->result_bytes,
                                      .steps = request->result_steps,
                                      .detail = request->detail,
                                      .done_ns = request->done_ns};

    /* A send tells what it was asked to send, a collective has no single peer. Only a receive
     * learns these. */
    if (request->kind == REQUEST_SEND) {
        result.peer = rank_of_peer(node, request->peer);
        result.tag = request->tag;
        result.bytes = request->bytes;
    } else if (request->kind == REQUEST_COLLECTIVE) {
        result.peer = result.tag = ECUBE_ANY;
    }
    int status = tell(node, address, &result);
    if (status != E_OK) {
        return status;
    }
    node->progress++;
    uint64_t begin_ns = node->clock_ns;
    node->clock_ns = clock_max(begin_ns, request->done_ns);
    record_activity(node, ACTIVITY_WAITS, begin_ns);
    request_free(node, request);
    return E_OK;
}

/* A program knows its requests by plain numbers; NULL: it is free or too large. */
static struct request *numbered(struct node *node, uint32_t number)
{
    struct request *request = number < ECUBE_REQUESTS_MAX ? &node->requests[number] : NULL;

    return request && request->kind != REQUEST_FREE ? request : NULL;
}

int wait_one(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct request *request = numbered(node, arguments[0]);

    if (!request) {
        return E_ARGUMENT;
    }
    *blocked = request->state != STATE_DONE;
    return *blocked ? 0 : take_result(node, request, arguments[1]);
}

/* A program that asks again and again would keep its node, and the computer that emulates it, from
 * the very work that it waits for. So a question in vain that only repeats one (`asked` is the news
 * that it has seen, and the program has done nothing since) rests for REST_US, or until there is
 * news: then the program may look at all that it waits for, to find out what it was. */
static bool rests(struct node *node, uint8_t *asked)
{
    bool again = *asked == node->completions && node->now_us - node->tested_us < TEST_SOON_US;

    /* Decided once for each call: node_resume comes here again and must not begin the rest anew. */
    if (node->rest_us == 0) {
        node->rest_us = again ? node->now_us + REST_US : node->now_us;
    }
    if (node->now_us < node->rest_us && *asked == node->completions) {
        return true;
    }
    *asked = node->completions;
    node->tested_us = node->now_us;
    return false;
}

int wait_test(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct request *request = numbered(node, arguments[0]);

    if (!request) {
        return E_ARGUMENT;
    }
    if (request->state == STATE_DONE) {
        int status = take_result(node, request, arguments[1]);
        return status == E_OK ? 1 : status;
    }
    *blocked = rests(node, &request->tested);
    return 0;
}

/* The set that a program names, which its answer is written into, and the numbers in it. */
static int read_set(const struct node *node, uint32_t address, struct ecube_abi_set *set,
                    int32_t numbers[ECUBE_REQUESTS_MAX])
{
    const void *at = program_answer(node, address, sizeof *set);

    if (!at) {
        return E_FAULT;
    }
    memcpy(set, at, sizeof *set);
    if (set->count == 0 || set->count > ECUBE_REQUESTS_MAX) {
        return E_ARGUMENT;
    }
    at = program_structure(node, set->requests, set->count * (uint32_t)sizeof numbers[0]);
    if (!at) {
        return E_FAULT;
    }
    memcpy(numbers, at, set->count * sizeof numbers[0]);
    return E_OK;
}

/* The set has been found to be the program's to write. */
static void tell_index(struct node *node, uint32_t address, uint32_t index)
{
    memcpy(program_structure(node, address + (uint32_t)offsetof(struct ecube_abi_set, index),
                             sizeof index),
           &index, sizeof index);
}

/* Of those that are complete it takes the one that was first in model time, for the program's clock
 * goes on to that; of equal ones the first in the set. So none is passed over for ever. */
int wait_any(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct ecube_abi_set set;
    int32_t numbers[ECUBE_REQUESTS_MAX];
    struct request *first = NULL;
    uint32_t index = 0;
    int status = read_set(node, arguments[0], &set, numbers);

    if (status != E_OK) {
        return status;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        struct request *request = numbered(node, (uint32_t)numbers[i]);
        if (!request) {
            tell_index(node, arguments[0], i);
            return E_ARGUMENT;
        }
        if (request->state == STATE_DONE && (!first || request->done_ns < first->done_ns)) {
            first = request;
            index = i;
        }
    }
    if (!first || (set.poll && first->done_ns > node->clock_ns)) {
        *blocked = !set.poll;
        return 0;
    }
    tell_index(node, arguments[0], index);
    status =
        take_result(node, first, arguments[0] + (uint32_t)offsetof(struct ecube_abi_set, result));
    return status == E_OK ? 1 : status;
}

unsigned wait_requests(const struct node *node, uint8_t numbers[ECUBE_REQUESTS_MAX])
{
    struct ecube_abi_set set;
    int32_t named[ECUBE_REQUESTS_MAX];
    uint32_t count = 0;

    if (node->call_number == ECUBE_CALL_WAIT || node->call_number == ECUBE_CALL_TEST) {
        set.count = 1;
        named[0] = (int32_t)node->call_arguments[0];
    } else if (node->call_number != ECUBE_CALL_WAIT_ANY ||
               read_set(node, node->call_arguments[0], &set, named) != E_OK) {
        return 0;
    }
    for (uint32_t i = 0; i < set.count; i++) {
        if ((uint32_t)named[i] < ECUBE_REQUESTS_MAX &&
            node->requests[named[i]].kind != REQUEST_FREE) {
            numbers[count++] = (uint8_t)named[i];
        }
    }
    return count;
}

static bool read_probe(const struct node *node, uint32_t address, struct ecube_abi_probe *probe)
{
    const void *at = program_answer(node, address, sizeof *probe);

    if (at) {
        memcpy(probe, at, sizeof *probe);
    }
    return at != NULL;
}

bool wait_probed(const struct node *node, struct ecube_abi_probe *probe)
{
    return node->call_number == ECUBE_CALL_PROBE &&
           read_probe(node, node->call_arguments[0], probe);
}

/* The message stays where it is. A short one has come at a model time, for which the program's
 * clock waits; of a long one only its sender's question is here, which takes none. */
int wait_probe(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct ecube_abi_probe probe;

    if (!read_probe(node, arguments[0], &probe)) {
        return E_FAULT;
    }
    if (message_peer(node, &probe.peer, probe.tag, true) != E_OK) {
        return E_ARGUMENT;
    }
    const struct unexpected *message = match_probe(node, probe.peer, probe.tag);
    if (!message) {
        *blocked = probe.poll ? rests(node, &node->probed) : true;
        return 0;
    }
    if (message->pool < POOL_MAX) {
        uint64_t begin_ns = node->clock_ns;
        node->clock_ns = clock_max(begin_ns, message->done_ns);
        record_activity(node, ACTIVITY_WAITS, begin_ns);
    }
    node->progress++;
    struct ecube_abi_result result = {.peer = rank_of_peer(node, (int32_t)message->src),
                                      .tag = (int32_t)message->tag,
                                      .bytes = message->bytes,
                                      .done_ns = node->clock_ns};
    tell(node, arguments[0] + (uint32_t)offsetof(struct ecube_abi_probe, result), &result);
    return 1;
}

/* One that is complete stays so. */
int wait_cancel(struct node *node, const uint32_t arguments[4])
{
    struct request *request = numbered(node, arguments[0]);

    if (!request || request->kind != REQUEST_RECEIVE) {
        return E_ARGUMENT;
    }
    if (request->state != STATE_DONE) {
        message_cancel(node, request);
    }
    return E_OK;
}
