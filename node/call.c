/*
 * call.c - the system calls of a program.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "router/router.h"
#include "router/state.h"

uint8_t *program_memory(const struct node *node, uint32_t address, uint32_t bytes)
{
    uint32_t offset = address - node->config.program_address;

    if (offset >= node->config.program_bytes || bytes > node->config.program_bytes - offset)
        return NULL;
    return node->config.program + offset;
}

/* A structure that a program names; NULL unless it is all the program's, and aligned. */
static void *structure(const struct node *node, uint32_t address, uint32_t bytes)
{
    return address % 4 ? NULL : program_memory(node, address, bytes);
}

/* Whether the program may send a packet: what it says leaves slots for answers. */
static bool has_slot(const struct node *node)
{
    return router_slots_free(&node->router) > REPLY_SLOTS;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cuts text into packets that fit small slots, as many as there are. */
static int call_write(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    uint32_t bytes = arguments[1], done = 0;
    const uint8_t *text = bytes ? program_memory(node, arguments[0], bytes) : node->config.program;
    bool error = arguments[2] == ECUBE_STREAM_ERROR;
    struct console_body console = {.stream = error ? ECUBE_STREAM_ERROR : ECUBE_STREAM_OUTPUT};
    uint8_t body[SLOT_BODY_MAX];

    if (!text)
        return E_FAULT;
    while (done < bytes && has_slot(node) && console_room(node) > 0) {
        console.text = text + done;
        console.text_bytes =
            min32(min32(bytes - done, console_room(node)), sizeof body - CONSOLE_HEADER_BYTES);
        if (router_send(&node->router, PACKET_CONSOLE, ID_HOST, body,
                        console_pack(body, &console)) != E_OK)
            break;
        node->console_sent += console.text_bytes;
        done += console.text_bytes;
    }
    *blocked = bytes > 0 && done == 0;
    return (int)done;
}

static int send_report(struct node *node, const struct ecube_abi_report *report)
{
    struct report_body told = {.bytes = report->bytes,
                               .steps = report->steps,
                               .model_ns = report->model_ns,
                               .predicted_ns = report->predicted_ns,
                               .bound_ns = report->bound_ns,
                               .wall_ns = report->wall_ns,
                               .wrong = report->wrong};
    uint8_t body[REPORT_BYTES];

    memcpy(told.name, report->name, sizeof told.name);
    report_pack(body, &told);
    return router_send(&node->router, PACKET_REPORT, ID_HOST, body, sizeof body);
}

static int call_report(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct ecube_abi_report report;
    const void *at = structure(node, arguments[0], sizeof report);

    if (!at)
        return E_FAULT;
    memcpy(&report, at, sizeof report); /* its numbers need more than a word's alignment */
    *blocked = !has_slot(node) || send_report(node, &report) != E_OK;
    return E_OK;
}

static int call_info(struct node *node, const uint32_t arguments[4])
{
    const struct router *router = &node->router;
    struct ecube_abi_info *info = structure(node, arguments[0], sizeof *info);

    if (!info)
        return E_FAULT;
    *info = (struct ecube_abi_info){
        .rank = router->id,
        .size = router->network.nodes,
        .dims = router->network.kind == NETWORK_CUBE ? router->network.dims : (uint32_t)E_NETWORK,
        .heap_start = (node->load.bss_end + 15u) & ~15u,
        .heap_end = node->config.program_address + node->config.program_bytes,
        .xi_ns = router->profile.xi_ns,
        .tau_ns = router->profile.tau_ns,
        .element_ns = router->profile.element_ns,
        .sigma_permille = router->profile.sigma_permille,
        .all_port = router->profile.all_port};
    return E_OK;
}

static int call_clock(struct node *node, uint64_t now_us, const uint32_t arguments[4])
{
    struct ecube_abi_clock clock = {node->clock_ns, now_us * 1000};
    void *at = structure(node, arguments[0], sizeof clock);

    if (!at)
        return E_FAULT;
    memcpy(at, &clock, sizeof clock);
    return E_OK;
}

/* Half of what the clock holds is left to what communication adds, so that it never wraps. */
static int call_advance(struct node *node, const uint32_t arguments[4])
{
    uint64_t ns = arguments[0] | (uint64_t)arguments[1] << 32;

    if (node->clock_ns > INT64_MAX || ns > INT64_MAX - node->clock_ns)
        return E_ARGUMENT;
    node->clock_ns += ns;
    return E_OK;
}

/* The result of a request that is done; the request is free again, and the program's clock has
 * waited for it. */
static int take_result(struct node *node, struct request *request, uint32_t address)
{
    struct ecube_abi_result result = {.status = request->status,
                                      .peer = request->result_peer,
                                      .tag = request->result_tag,
                                      .bytes = request->result_bytes,
                                      .steps = request->result_steps,
                                      .done_ns = request->done_ns};
    void *at = structure(node, address, sizeof result);

    if (!at)
        return E_FAULT;
    if (request->kind == REQUEST_SEND) {
        result.peer = request->peer;
        result.tag = request->tag;
        result.bytes = request->bytes;
    } else if (request->kind == REQUEST_COLLECTIVE) {
        result.peer = result.tag = ECUBE_ANY;
    }
    memcpy(at, &result, sizeof result);
    node->progress++;
    node->clock_ns = clock_max(node->clock_ns, request->done_ns);
    request_free(node, request);
    return E_OK;
}

/* The request that a wait or a test names; NULL when there is none. */
static struct request *named_request(struct node *node, const uint32_t arguments[4])
{
    struct request *request =
        arguments[0] < ECUBE_REQUESTS_MAX ? &node->requests[arguments[0]] : NULL;

    return request && request->kind != REQUEST_FREE ? request : NULL;
}

static int call_wait(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct request *request = named_request(node, arguments);

    if (!request)
        return E_ARGUMENT;
    *blocked = request->state != STATE_DONE;
    return *blocked ? 0 : take_result(node, request, arguments[1]);
}

/* Whether a test only repeats what was asked just now: the program has done nothing since, and
 * nothing that it waits for has come. */
static bool tests_again(const struct node *node, const struct request *request, uint64_t now_us)
{
    return request->tested == node->finished && now_us - node->tested_us < TEST_SOON_US;
}

/* A program that tests again and again would keep its node, and the machine that emulates it, from
 * the work that it waits for: such a test rests. */
static int call_test(struct node *node, uint64_t now_us, const uint32_t arguments[4], bool *blocked)
{
    struct request *request = named_request(node, arguments);

    if (!request)
        return E_ARGUMENT;
    if (request->state == STATE_DONE) {
        int status = take_result(node, request, arguments[1]);
        return status == E_OK ? 1 : status;
    }
    if (node->rest_us == 0)
        node->rest_us = tests_again(node, request, now_us) ? now_us + REST_US : now_us;
    *blocked = now_us < node->rest_us && request->tested == node->finished;
    if (!*blocked) {
        request->tested = node->finished;
        node->tested_us = now_us;
    }
    return 0;
}

static int call_message(struct node *node, const uint32_t arguments[4], bool send)
{
    const struct ecube_abi_message *at = structure(node, arguments[0], sizeof *at);

    if (!at)
        return E_FAULT;
    struct ecube_abi_message message = *at;
    return send ? message_send(node, &message) : message_receive(node, &message);
}

static int call_collective(struct node *node, const uint32_t arguments[4])
{
    const struct ecube_abi_collective *at = structure(node, arguments[0], sizeof *at);

    if (!at)
        return E_FAULT;
    struct ecube_abi_collective copy = *at;
    return collective_start(node, &copy);
}

/* The wall clock's time until which the program that has called sleeps. */
static uint64_t sleep_end_ns(const struct node *node)
{
    return node->call_arguments[0] | (uint64_t)node->call_arguments[1] << 32;
}

uint64_t node_wake_us(const struct node *node)
{
    if (!node->call_open)
        return UINT64_MAX;
    if (node->call_number == ECUBE_CALL_TEST)
        return node->rest_us;
    if (node->call_number != ECUBE_CALL_SLEEP)
        return UINT64_MAX;
    uint64_t ns = sleep_end_ns(node);
    return ns / 1000 + (ns % 1000 != 0);
}

static int call_sleep(const struct node *node, uint64_t now_us, bool *blocked)
{
    *blocked = now_us < node_wake_us(node);
    return E_OK;
}

static int serve(struct node *node, uint64_t now_us, bool *blocked)
{
    const uint32_t *arguments = node->call_arguments;

    switch (node->call_number) {
    case ECUBE_CALL_WRITE: return call_write(node, arguments, blocked);
    case ECUBE_CALL_INFO: return call_info(node, arguments);
    case ECUBE_CALL_SEND: return call_message(node, arguments, true);
    case ECUBE_CALL_RECEIVE: return call_message(node, arguments, false);
    case ECUBE_CALL_COLLECTIVE: return call_collective(node, arguments);
    case ECUBE_CALL_WAIT: return call_wait(node, arguments, blocked);
    case ECUBE_CALL_TEST: return call_test(node, now_us, arguments, blocked);
    case ECUBE_CALL_CLOCK: return call_clock(node, now_us, arguments);
    case ECUBE_CALL_ADVANCE: return call_advance(node, arguments);
    case ECUBE_CALL_REPORT: return call_report(node, arguments, blocked);
    case ECUBE_CALL_SLEEP: return call_sleep(node, now_us, blocked);
    default: return E_SYSCALL;
    }
}

/* Whether a call gives the node something to do for others, which then is done at once. */
static bool gives_work(uint32_t number)
{
    switch (number) {
    case ECUBE_CALL_WRITE:
    case ECUBE_CALL_SEND:
    case ECUBE_CALL_RECEIVE:
    case ECUBE_CALL_COLLECTIVE: return true;
    default: return false;
    }
}

bool node_call_needs_time(uint32_t number)
{
    return number == ECUBE_CALL_CLOCK || number == ECUBE_CALL_TEST;
}

enum node_verdict node_call(struct node *node, uint64_t now_us, uint32_t number,
                            const uint32_t arguments[4], int32_t *result)
{
    if (number == ECUBE_CALL_EXIT) {
        program_end(node, PROGRAM_EXITED, (int32_t)arguments[0]);
        return NODE_END;
    }
    node->call_number = number;
    memcpy(node->call_arguments, arguments, sizeof node->call_arguments);
    node->call_open = true;
    node->rest_us = 0;
    node->progress += number != ECUBE_CALL_TEST; /* one that finds something counts it */
    enum node_verdict verdict = node_resume(node, now_us, result);
    if (verdict == NODE_BLOCK || gives_work(number)) {
        node_work(node, now_us);
        if (verdict == NODE_BLOCK)
            verdict = node_resume(node, now_us, result);
    }
    return verdict;
}

enum node_verdict node_resume(struct node *node, uint64_t now_us, int32_t *result)
{
    bool blocked = false;

    if (node->program != PROGRAM_RUNNING)
        return NODE_END;
    *result = serve(node, now_us, &blocked);
    if (blocked)
        return NODE_BLOCK;
    node->call_open = false;
    return NODE_RESUME;
}
