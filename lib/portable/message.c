/*
 * message.c - send, receive, wait, test, probe and cancel.
 *
 * What a program calls begins with a struct ecube_called, in which an error finds what was called,
 * and ends with ecube_returns. What lies between calls no function of ecube.h, so that one error
 * is one.
 */
#include <stdbool.h>
#include <stdlib.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

static struct ecube_abi_message message_of(const void *data, uint32_t bytes, int peer, int tag)
{
    return (struct ecube_abi_message){
        .data = ecube_address(data), .bytes = bytes, .peer = peer, .tag = tag};
}

/* The kernel begins the transfer, as one of `began`; an error leaves no request. */
static int message_begin(struct ecube_called *called, enum ecube_called_number began,
                         const struct ecube_abi_message *message, struct ecube_request *request)
{
    bool sends = began != ECUBE_CALLED_RECEIVE && began != ECUBE_CALLED_RECEIVE_START;
    int32_t number =
        ecube_call(sends ? ECUBE_CALL_SEND : ECUBE_CALL_RECEIVE, ecube_address(message), 0);
    called->began = began;
    *request = (struct ecube_request){.number = number, .began = began};
    return number < 0 ? number : ECUBE_OK;
}

/* The kernel knows no such request: what else stands in it, a buffer to free, is not ours. */
static int request_unknown(struct ecube_request *request, int32_t error)
{
    *request = (struct ecube_request){.number = ECUBE_E_ARGUMENT};
    return error;
}

/* Ends a complete request: its working memory goes back to the heap. */
static int request_end(struct ecube_called *called, struct ecube_request *request,
                       struct ecube_status *status)
{
    const struct ecube_abi_result *result = &called->result;
    called->began = request->began;
    if (request->began >= ECUBE_CALLED_COLLECTIVE) {
        called->collective = request->collective;
    }
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

int ecube_request_wait(struct ecube_called *called, struct ecube_request *request,
                       struct ecube_status *status)
{
    if (request->number < 0) {
        return ECUBE_E_ARGUMENT;
    }
    int32_t answer =
        ecube_call(ECUBE_CALL_WAIT, (uint32_t)request->number, ecube_address(&called->result));
    return answer < 0 ? request_unknown(request, answer) : request_end(called, request, status);
}

/* The bytes that came, or the error. */
static int bytes_or(const struct ecube_called *called, int status)
{
    return status < 0 ? status : (int)called->result.bytes;
}

static struct ecube_called called_message(enum ecube_called_number number, const void *data,
                                          uint32_t bytes, int peer, int tag)
{
    return (struct ecube_called){.number = number, .message = {message_of(data, bytes, peer, tag)}};
}

static struct ecube_called called_wait(enum ecube_called_number number,
                                       const struct ecube_request *requests, unsigned count)
{
    return (struct ecube_called){.number = number,
                                 .wait = {.requests = ecube_address(requests), .count = count}};
}

int ecube_send_start(const void *data, uint32_t bytes, int destination, int tag,
                     struct ecube_request *request)
{
    struct ecube_called called =
        called_message(ECUBE_CALLED_SEND_START, data, bytes, destination, tag);
    return ecube_returns(&called, message_begin(&called, called.number, called.message, request));
}

int ecube_send_parallel_start(const void *data, uint32_t bytes, int destination, int tag,
                              struct ecube_request *request)
{
    struct ecube_called called =
        called_message(ECUBE_CALLED_SEND_PARALLEL_START, data, bytes, destination, tag);
    called.message[0].paths = ECUBE_PATHS_MAX;
    return ecube_returns(&called, message_begin(&called, called.number, called.message, request));
}

int ecube_receive_start(void *data, uint32_t bytes, int source, int tag,
                        struct ecube_request *request)
{
    struct ecube_called called =
        called_message(ECUBE_CALLED_RECEIVE_START, data, bytes, source, tag);
    return ecube_returns(&called, message_begin(&called, called.number, called.message, request));
}

int ecube_wait(struct ecube_request *request, struct ecube_status *status)
{
    struct ecube_called called = called_wait(ECUBE_CALLED_WAIT, request, 1);
    int ended = ecube_request_wait(&called, request, status);
    return ecube_returns(&called, bytes_or(&called, ended));
}

static int test(struct ecube_called *called, struct ecube_request *request,
                struct ecube_status *status)
{
    if (request->number < 0) {
        return ECUBE_E_ARGUMENT;
    }
    int32_t answer =
        ecube_call(ECUBE_CALL_TEST, (uint32_t)request->number, ecube_address(&called->result));
    if (answer <= 0) {
        return answer < 0 ? request_unknown(request, answer) : 0;
    }
    int ended = request_end(called, request, status);
    return ended < 0 ? ended : 1;
}

int ecube_test(struct ecube_request *request, struct ecube_status *status)
{
    struct ecube_called called = called_wait(ECUBE_CALLED_TEST, request, 1);
    return ecube_returns(&called, test(&called, request, status));
}

int ecube_wait_all(struct ecube_request *requests, unsigned count, struct ecube_status *statuses)
{
    int first_error = ECUBE_OK;
    for (unsigned i = 0; i < count; i++) {
        struct ecube_called called = called_wait(ECUBE_CALLED_WAIT_ALL, requests, count);
        called.wait.index = i;
        int ended = ecube_request_wait(&called, &requests[i], statuses ? &statuses[i] : NULL);
        if (ecube_returns(&called, ended) < 0 && first_error == ECUBE_OK) {
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

/* How many are open. More than there can be, for the same request stands in it twice: E_ARGUMENT,
 * and the place of the first that is too many. */
static int find_open(struct open *open, const struct ecube_request *requests, unsigned count,
                     unsigned *index)
{
    unsigned found = 0;
    for (unsigned i = 0; i < count; i++) {
        if (requests[i].number < 0) {
            continue;
        }
        if (found == ECUBE_REQUESTS_MAX) {
            *index = i;
            return ECUBE_E_ARGUMENT;
        }
        open->numbers[found] = requests[i].number;
        open->at[found++] = i;
    }
    open->set = (struct ecube_abi_set){.requests = ecube_address(open->numbers), .count = found};
    return (int)found;
}

/* Takes the one that ends first out of those that are open: 1, with its place and how it ended. 0:
 * none has ended by now. E_ARGUMENT with *index == count: none is open. */
static int take_first(struct ecube_called *called, struct ecube_request *requests, unsigned count,
                      int poll, unsigned *index, struct ecube_status *status)
{
    struct open open;
    *index = count;
    int found = find_open(&open, requests, count, index);
    if (found <= 0) {
        return found < 0 || !poll ? ECUBE_E_ARGUMENT : 0;
    }
    open.set.poll = (uint32_t)poll;
    int32_t answer = ecube_call(ECUBE_CALL_WAIT_ANY, ecube_address(&open.set), 0);
    if (answer == 0) {
        return 0;
    }
    *index = open.at[open.set.index];
    called->wait.index = *index;
    called->result = open.set.result;
    if (answer < 0) {
        return request_unknown(&requests[*index], answer);
    }
    request_end(called, &requests[*index], status);
    return 1;
}

int ecube_wait_any(struct ecube_request *requests, unsigned count, unsigned *index,
                   struct ecube_status *status)
{
    struct ecube_called called = called_wait(ECUBE_CALLED_WAIT_ANY, requests, count);
    struct ecube_status ended;
    int taken = take_first(&called, requests, count, 0, index, &ended);
    if (taken < 0) {
        return *index == count ? taken : ecube_returns(&called, taken);
    }
    if (status) {
        *status = ended;
    }
    return ecube_returns(&called, bytes_or(&called, ended.error));
}

int ecube_wait_some(struct ecube_request *requests, unsigned count, unsigned *indices,
                    struct ecube_status *statuses)
{
    struct ecube_called called = called_wait(ECUBE_CALLED_WAIT_SOME, requests, count);
    unsigned found = 0;
    int taken = take_first(&called, requests, count, 0, &indices[0], &statuses[0]);
    if (taken < 0) {
        return indices[0] == count ? taken : ecube_returns(&called, taken);
    }
    while (taken > 0) {
        ecube_returns(&called, statuses[found].error); /* one that returns is in its status */
        taken = ++found < count
                    ? take_first(&called, requests, count, 1, &indices[found], &statuses[found])
                    : 0;
    }
    return (int)found;
}

int ecube_cancel(struct ecube_request *request)
{
    struct ecube_called called = called_wait(ECUBE_CALLED_CANCEL, request, 1);
    called.began = request->number < 0 ? 0 : request->began;
    return ecube_returns(
        &called, request->number < 0 ? ECUBE_E_ARGUMENT
                                     : ecube_call(ECUBE_CALL_CANCEL, (uint32_t)request->number, 0));
}

static int probe(enum ecube_called_number number, int source, int tag, int poll,
                 struct ecube_status *status)
{
    struct ecube_called called = called_message(number, NULL, 0, source, tag);
    struct ecube_abi_probe asked = {.peer = source, .tag = tag, .poll = (uint32_t)poll};
    int32_t answer = ecube_call(ECUBE_CALL_PROBE, ecube_address(&asked), 0);
    if (answer > 0) {
        *status = (struct ecube_status){.source = asked.result.peer,
                                        .tag = asked.result.tag,
                                        .bytes = asked.result.bytes,
                                        .done_ns = asked.result.done_ns};
    }
    return ecube_returns(&called, answer);
}

int ecube_probe(int source, int tag, struct ecube_status *status)
{
    int answer = probe(ECUBE_CALLED_PROBE, source, tag, 0, status);
    return answer < 0 ? answer : (int)status->bytes;
}

int ecube_iprobe(int source, int tag, struct ecube_status *status)
{
    return probe(ECUBE_CALLED_IPROBE, source, tag, 1, status);
}

/* The blocking forms: begun, then waited for. */
static int run(struct ecube_called *called, struct ecube_status *status)
{
    struct ecube_request request;
    int begun = message_begin(called, called->number, called->message, &request);
    return begun < 0 ? begun : ecube_request_wait(called, &request, status);
}

int ecube_send(const void *data, uint32_t bytes, int destination, int tag)
{
    struct ecube_called called = called_message(ECUBE_CALLED_SEND, data, bytes, destination, tag);
    return ecube_returns(&called, run(&called, NULL));
}

int ecube_send_parallel(const void *data, uint32_t bytes, int destination, int tag)
{
    struct ecube_called called =
        called_message(ECUBE_CALLED_SEND_PARALLEL, data, bytes, destination, tag);
    called.message[0].paths = ECUBE_PATHS_MAX;
    return ecube_returns(&called, run(&called, NULL));
}

int ecube_receive(void *data, uint32_t bytes, int source, int tag, struct ecube_status *status)
{
    struct ecube_called called = called_message(ECUBE_CALLED_RECEIVE, data, bytes, source, tag);
    return ecube_returns(&called, bytes_or(&called, run(&called, status)));
}

/* A receive that fails ends the program at once, for its send may wait for ever; where errors are
 * returned both are ended first. */
static int send_receive(struct ecube_called *called, struct ecube_status *status)
{
    struct ecube_called sending = *called;
    struct ecube_request going, coming;
    int begun = message_begin(&sending, ECUBE_CALLED_SEND, &called->message[0], &going);
    if (begun < 0) {
        return ecube_returns(&sending, begun);
    }
    int came = message_begin(called, ECUBE_CALLED_RECEIVE, &called->message[1], &coming);
    came = came < 0 ? came : ecube_request_wait(called, &coming, status);
    came = ecube_returns(called, bytes_or(called, came));
    int sent = ecube_returns(&sending, ecube_request_wait(&sending, &going, NULL));
    return came < 0 || sent >= 0 ? came : sent;
}

int ecube_send_receive(const void *send, uint32_t send_bytes, int destination, int send_tag,
                       void *receive, uint32_t receive_bytes, int source, int receive_tag,
                       struct ecube_status *status)
{
    struct ecube_called called = {
        .number = ECUBE_CALLED_SEND_RECEIVE,
        .message = {message_of(send, send_bytes, destination, send_tag),
                    message_of(receive, receive_bytes, source, receive_tag)}};
    return send_receive(&called, status);
}
