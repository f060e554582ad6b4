/*
 * message.c - send, receive, wait, test, probe and cancel.
 */
#include <stdlib.h>

#include "include/ecube/ecube.h"
#include "lib/call.h"

/*
 * What the kernel said at the start of a transfer: a request number, or an error that leaves no
 * request.
 */
static int request_begin(struct ecube_request *request, int32_t number)
{
    *request = (struct ecube_request){.number = number};
    return number < 0 ? number : ECUBE_OK;
}

int ecube_send_start(const void *data, uint32_t bytes, int destination, int tag,
                     struct ecube_request *request)
{
    struct ecube_abi_message message = {
        .data = (uint32_t)(uintptr_t)data, .bytes = bytes, .peer = destination, .tag = tag};
    return request_begin(request, ecube_call(ECUBE_CALL_SEND, (uintptr_t)&message, 0));
}

int ecube_receive_start(void *data, uint32_t bytes, int source, int tag,
                        struct ecube_request *request)
{
    struct ecube_abi_message message = {
        .data = (uint32_t)(uintptr_t)data, .bytes = bytes, .peer = source, .tag = tag};
    return request_begin(request, ecube_call(ECUBE_CALL_RECEIVE, (uintptr_t)&message, 0));
}

/* The kernel knows no such request: what else stands in it, a buffer to free, is not ours. */
static int request_unknown(struct ecube_request *request, int32_t error)
{
    *request = (struct ecube_request){.number = ECUBE_E_ARGUMENT};
    return error;
}

/* Ends a complete request: its working memory goes back to the heap. */
static int request_end(struct ecube_request *request, const struct ecube_abi_result *result,
                       struct ecube_status *status)
{
    free(request->scratch);
    *request = (struct ecube_request){.number = ECUBE_E_ARGUMENT};
    if (status) {
        *status = (struct ecube_status){
            .source = result->peer,
            .tag = result->tag,
            .bytes = result->bytes,
            .steps = result->steps,
            .done_ns = result->done_ns,
            .error = result->status,
        };
    }
    return result->status;
}

int ecube_wait(struct ecube_request *request, struct ecube_status *status)
{
    struct ecube_abi_result result = {0};
    if (request->number < 0) {
        return ECUBE_E_ARGUMENT;
    }
    int32_t called = ecube_call(ECUBE_CALL_WAIT, (uint32_t)request->number, (uintptr_t)&result);
    if (called < 0) {
        return request_unknown(request, called);
    }
    int ended = request_end(request, &result, status);
    return ended < 0 ? ended : (int)result.bytes;
}

int ecube_test(struct ecube_request *request, struct ecube_status *status)
{
    struct ecube_abi_result result = {0};
    if (request->number < 0) {
        return ECUBE_E_ARGUMENT;
    }
    int32_t called = ecube_call(ECUBE_CALL_TEST, (uint32_t)request->number, (uintptr_t)&result);
    if (called == 0) {
        return 0;
    }
    if (called < 0) {
        return request_unknown(request, called);
    }
    int ended = request_end(request, &result, status);
    return ended < 0 ? ended : 1;
}

int ecube_wait_all(struct ecube_request *requests, unsigned count, struct ecube_status *statuses)
{
    int first_error = ECUBE_OK;
    for (unsigned i = 0; i < count; i++) {
        int ended = ecube_wait(&requests[i], statuses ? &statuses[i] : NULL);
        if (ended < 0 && first_error == ECUBE_OK) {
            first_error = ended;
        }
    }
    return first_error;
}

/* Those of an array that are open, as the kernel is asked for them. */
struct open {
    int32_t numbers[ECUBE_REQUESTS_MAX];
    unsigned at[ECUBE_REQUESTS_MAX]; /* their places in the array */
    struct ecube_abi_set set;
};

/* False: none is open, or more than there can be, for the same request stands in it twice. */
static int find_open(struct open *open, const struct ecube_request *requests, unsigned count)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        if (requests[i].number < 0) {
            continue;
        }
        if (found == ECUBE_REQUESTS_MAX) {
            return 0;
        }
        open->numbers[found] = requests[i].number;
        open->at[found++] = i;
    }
    open->set =
        (struct ecube_abi_set){.requests = (uint32_t)(uintptr_t)open->numbers, .count = found};
    return found > 0;
}

/* Takes the one that ends first out of those that are open: 1, with its place and how it ended. 0:
 * none has ended by now. */
static int take_first(struct ecube_request *requests, unsigned count, int poll, unsigned *index,
                      struct ecube_status *status)
{
    struct open open;
    *index = count;
    if (!find_open(&open, requests, count)) {
        return poll ? 0 : ECUBE_E_ARGUMENT;
    }
    open.set.poll = (uint32_t)poll;
    int32_t called = ecube_call(ECUBE_CALL_WAIT_ANY, (uintptr_t)&open.set, 0);
    if (called == 0) {
        return 0;
    }
    *index = open.at[open.set.index];
    if (called < 0) {
        return request_unknown(&requests[*index], called);
    }
    request_end(&requests[*index], &open.set.result, status);
    return 1;
}

int ecube_wait_any(struct ecube_request *requests, unsigned count, unsigned *index,
                   struct ecube_status *status)
{
    struct ecube_status ended;
    int taken = take_first(requests, count, 0, index, &ended);
    if (taken < 0) {
        return taken;
    }
    if (status) {
        *status = ended;
    }
    return ended.error < 0 ? ended.error : (int)ended.bytes;
}

int ecube_wait_some(struct ecube_request *requests, unsigned count, unsigned *indices,
                    struct ecube_status *statuses)
{
    unsigned found = 0;
    int taken = take_first(requests, count, 0, &indices[0], &statuses[0]);
    if (taken < 0) {
        return taken;
    }
    while (taken > 0 && ++found < count) {
        taken = take_first(requests, count, 1, &indices[found], &statuses[found]);
    }
    return (int)found;
}

int ecube_cancel(struct ecube_request *request)
{
    if (request->number < 0) {
        return ECUBE_E_ARGUMENT;
    }
    return ecube_call(ECUBE_CALL_CANCEL, (uint32_t)request->number, 0);
}

static int probe(int source, int tag, int poll, struct ecube_status *status)
{
    struct ecube_abi_probe asked = {.peer = source, .tag = tag, .poll = (uint32_t)poll};
    int32_t called = ecube_call(ECUBE_CALL_PROBE, (uintptr_t)&asked, 0);
    if (called > 0) {
        *status = (struct ecube_status){.source = asked.result.peer,
                                        .tag = asked.result.tag,
                                        .bytes = asked.result.bytes,
                                        .done_ns = asked.result.done_ns};
    }
    return called;
}

int ecube_probe(int source, int tag, struct ecube_status *status)
{
    int called = probe(source, tag, 0, status);
    return called < 0 ? called : (int)status->bytes;
}

int ecube_iprobe(int source, int tag, struct ecube_status *status)
{
    return probe(source, tag, 1, status);
}

int ecube_send(const void *data, uint32_t bytes, int destination, int tag)
{
    struct ecube_request request;
    int started = ecube_send_start(data, bytes, destination, tag, &request);
    int ended = started < 0 ? started : ecube_wait(&request, NULL);
    return ended < 0 ? ended : ECUBE_OK;
}

int ecube_receive(void *data, uint32_t bytes, int source, int tag, struct ecube_status *status)
{
    struct ecube_request request;
    int started = ecube_receive_start(data, bytes, source, tag, &request);
    return started < 0 ? started : ecube_wait(&request, status);
}

int ecube_send_receive(const void *send, uint32_t send_bytes, int destination, int send_tag,
                       void *receive, uint32_t receive_bytes, int source, int receive_tag,
                       struct ecube_status *status)
{
    struct ecube_request going;
    int started = ecube_send_start(send, send_bytes, destination, send_tag, &going);
    if (started < 0) {
        return started;
    }
    int came = ecube_receive(receive, receive_bytes, source, receive_tag, status);
    int sent = ecube_wait(&going, NULL);
    return came < 0 ? came : sent < 0 ? sent : came;
}
