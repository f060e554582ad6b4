/*
 * call.c - the system calls of a program.
 *
 *     node_call --> serve --+--> NODE_RESUME   complete: *result is its value
 *                     ^     +--> NODE_BLOCK    call_open; node_step moves what it waits for
 *                     |               |
 *                     +- node_resume -+        the same call again, with the same arguments
 *     NODE_END: the call was EXIT or ABORT, or the program has ended meanwhile
 *
 * What a call may wait for (report.c tells the host which of these it is):
 *
 *     WRITE    a packet slot, or its reader, who is CONSOLE_WINDOW bytes behind
 *     REPORT   a packet slot
 *     WAIT, TEST, WAIT_ANY, PROBE: see wait.c
 *     SLEEP    its time
 *     PLAN     its part, from the host at first use
 *     PREDICT  the host's answer
 *     REGION   a scatter or gather of the host
 *     others   nothing
 *
 * Invariants
 * - A call that blocks has changed nothing: it is served from the beginning until it is complete.
 * - Every address that a program gives is data from outside. It is used only after program_memory
 *   or program_structure has found all its bytes inside the program's memory, and written only
 *   after program_writable or program_answer has found nothing read-only among them: E_FAULT
 *   otherwise. The kernel may no more write code, constants and read-only data than the program,
 *   and would fail.
 * - A program's text and reports never take the last REPLY_SLOTS slots: a program that prints must
 *   not keep its node from answering others.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/due.h"
#include "node/state.h"
#include "router/router.h"
#include "router/state.h"

/* Nothing overflows: an address below the program's memory becomes a very large offset. */
uint32_t program_room(const struct node *node, uint32_t address)
{
    uint32_t offset = address - node->config.program_address;

    return offset < node->config.program_bytes ? node->config.program_bytes - offset : 0;
}

/* What lies before a part that is read-only may be written as far as it begins. */
static uint32_t before(uint32_t room, uint32_t address, uint32_t start, uint32_t end)
{
    if (start >= end || address >= end) {
        return room;
    }
    uint32_t left = address < start ? start - address : 0;
    return left < room ? left : room;
}

uint32_t program_writable_room(const struct node *node, uint32_t address)
{
    const struct load *load = &node->load;
    uint32_t room = program_room(node, address);

    room = before(room, address, node->config.image_address, load->constants_end);
    return before(room, address, load->data_start, load->data_end);
}

/* No bytes, too, must lie inside. */
static uint8_t *inside(const struct node *node, uint32_t address, uint32_t bytes, uint32_t room)
{
    return room && bytes <= room ? node->config.program + (address - node->config.program_address)
                                 : NULL;
}

uint8_t *program_memory(const struct node *node, uint32_t address, uint32_t bytes)
{
    return inside(node, address, bytes, program_room(node, address));
}

uint8_t *program_writable(const struct node *node, uint32_t address, uint32_t bytes)
{
    return inside(node, address, bytes, program_writable_room(node, address));
}

void *program_structure(const struct node *node, uint32_t address, uint32_t bytes)
{
    return address % 4 ? NULL : program_memory(node, address, bytes);
}

void *program_answer(const struct node *node, uint32_t address, uint32_t bytes)
{
    return address % 4 ? NULL : program_writable(node, address, bytes);
}

/* Whether the program may send a packet. What it says leaves REPLY_SLOTS slots free for answers,
 * and both of the large ones, which router_slots_free does not count: FAULT, and LINKS of many
 * ports, need them. */
static bool has_slot(const struct node *node)
{
    return router_slots_free(&node->router) > REPLY_SLOTS;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Cuts text into packets that fit small slots, as many as there are, and tells how much it has
 * taken: the program asks again for the rest. It blocks only when not one byte could go. The kernel
 * reads the text at once, so the program may change it after the call. */
static int call_write(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    uint32_t bytes = arguments[1], done = 0;
    /* No bytes need no address: the kernel's pointer must only be some pointer that is not NULL. */
    const uint8_t *text = bytes ? program_memory(node, arguments[0], bytes) : node->config.program;
    bool error = arguments[2] == ECUBE_STREAM_ERROR;
    struct console_body console = {.stream = error ? ECUBE_STREAM_ERROR : ECUBE_STREAM_OUTPUT};
    uint8_t body[SLOT_BODY_MAX];

    if (!text) {
        return E_FAULT;
    }
    while (done < bytes && has_slot(node) && console_room(node) > 0) {
        console.text = text + done;
        console.text_bytes =
            min32(min32(bytes - done, console_room(node)), sizeof body - CONSOLE_HEADER_BYTES);
        if (router_send(&node->router, PACKET_CONSOLE, ID_HOST, body,
                        console_pack(body, &console)) != E_OK) {
            break;
        }
        node->console_sent += console.text_bytes;
        done += console.text_bytes;
    }
    *blocked = bytes > 0 && done == 0;
    return (int)done;
}

/* E_FULL: no slot now; nothing has been sent. */
static int send_report(struct node *node, const struct ecube_abi_report *report)
{
    struct report_body fields = {.bytes = report->bytes,
                                 .steps = report->steps,
                                 .model_ns = report->model_ns,
                                 .predicted_ns = report->predicted_ns,
                                 .bound_ns = report->bound_ns,
                                 .wall_ns = report->wall_ns,
                                 .wrong = report->wrong};
    uint8_t body[REPORT_BYTES];

    memcpy(fields.name, report->name, sizeof fields.name);
    report_pack(body, &fields);
    return router_send(&node->router, PACKET_REPORT, ID_HOST, body, sizeof body);
}

static int call_report(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct ecube_abi_report report;
    const void *at = program_structure(node, arguments[0], sizeof report);

    if (!at) {
        return E_FAULT;
    }
    /* A copy, because a program may name any word and the numbers are longer than a word: in place
     * that is undefined. */
    memcpy(&report, at, sizeof report);
    *blocked = !has_slot(node) || send_report(node, &report) != E_OK;
    return E_OK;
}

/* Rank and network are as the host has told them last, or as the load's map says. */
static int call_info(struct node *node, const uint32_t arguments[4])
{
    const struct router *router = &node->router;
    const struct network *guest = network_guest(&router->network);
    struct ecube_abi_info *info = program_answer(node, arguments[0], sizeof *info);

    if (!info) {
        return E_FAULT;
    }
    _Static_assert((int)ECUBE_DIMENSIONS_MAX == NETWORK_DIMS_MAX, "a size for each dimension");
    *info = (struct ecube_abi_info){
        .rank = map_rank(node, router->id),
        .size = guest->nodes,
        .dims = guest->kind == NETWORK_CUBE ? guest->dims : (uint32_t)E_NETWORK,
        .heap_start = node->load.top,
        .heap_end = node->config.program_address + node->config.program_bytes,
        .xi_ns = router->profile.xi_ns,
        .tau_ns = router->profile.tau_ns,
        .element_ns = router->profile.element_ns,
        .sigma_permille = router->profile.sigma_permille,
        .ports =
            clock_all_ports(&router->profile) ? ECUBE_PORTS_ALL : clock_ports(&router->profile),
        .element_bytes = clock_element_bytes(&router->profile),
        .dimensions = guest->dims,
        .wraps = guest->kind != NETWORK_MESH,
        .records = router->recorder != NULL};
    for (unsigned i = 0; i < guest->dims; i++) {
        info->sizes[i] = guest->dim[i].size;
    }
    return E_OK;
}

/* Both clocks at once. The wall clock must be exact here: node_call_needs_time says so, and the
 * caller reads it anew. */
static int call_clock(struct node *node, const uint32_t arguments[4])
{
    struct ecube_abi_clock clock = {node->clock_ns, node->now_us * 1000};
    void *at = program_answer(node, arguments[0], sizeof clock);

    if (!at) {
        return E_FAULT;
    }
    memcpy(at, &clock, sizeof clock);
    return E_OK;
}

/* The program has computed for so long, in model time. Refused is what would take the clock past
 * half of its range: the other half is left to what communication adds, so that the clock never
 * wraps. */
static int call_advance(struct node *node, const uint32_t arguments[4])
{
    uint64_t ns = arguments[0] | (uint64_t)arguments[1] << 32;

    if (node->clock_ns > INT64_MAX || ns > INT64_MAX - node->clock_ns) {
        return E_ARGUMENT;
    }
    node->clock_ns += ns;
    record_activity(node, ACTIVITY_COMPUTES, node->clock_ns - ns);
    return E_OK;
}

static int call_message(struct node *node, const uint32_t arguments[4], bool send)
{
    const struct ecube_abi_message *at = program_structure(node, arguments[0], sizeof *at);

    if (!at) {
        return E_FAULT;
    }
    struct ecube_abi_message message = *at;
    return send ? message_send(node, &message) : message_receive(node, &message);
}

static int call_collective(struct node *node, const uint32_t arguments[4])
{
    const struct ecube_abi_collective *at = program_structure(node, arguments[0], sizeof *at);

    if (!at) {
        return E_FAULT;
    }
    struct ecube_abi_collective copy = *at;
    return collective_start(node, &copy);
}

/* An answer is put together in a copy, for its numbers are longer than a word. */
static int call_plan(struct node *node, const uint32_t arguments[4], bool *blocked)
{
    struct ecube_abi_plan plan;
    void *at = program_answer(node, arguments[0], sizeof plan);

    if (!at) {
        return E_FAULT;
    }
    memcpy(&plan, at, sizeof plan);
    int status = node->call_number == ECUBE_CALL_PLAN ? collective_plan(node, &plan, blocked)
                                                      : collective_predict(node, &plan, blocked);
    if (!*blocked) {
        memcpy(at, &plan, sizeof plan);
    }
    return status;
}

/* The wall clock's time until which the program that has called sleeps. */
static uint64_t sleep_end_ns(const struct node *node)
{
    return node->call_arguments[0] | (uint64_t)node->call_arguments[1] << 32;
}

/* Rounded up: a sleep must not end before its time. */
uint64_t node_wake_us(const struct node *node)
{
    if (!node->call_open) {
        return UINT64_MAX;
    }
    if (node->rest_us) {
        return node->rest_us;
    }
    if (node->call_number != ECUBE_CALL_SLEEP) {
        return UINT64_MAX;
    }
    uint64_t ns = sleep_end_ns(node);
    return ns / 1000 + (ns % 1000 != 0);
}

/* The node goes on with its links meanwhile; only the program stands, and so does its model
 * clock. */
static int call_sleep(const struct node *node, bool *blocked)
{
    *blocked = node->now_us < node_wake_us(node);
    return E_OK;
}

/* Serves the open call once. A number that is no call's is E_SYSCALL. */
static int serve(struct node *node, bool *blocked)
{
    const uint32_t *arguments = node->call_arguments;

    switch (node->call_number) {
    case ECUBE_CALL_WRITE: return call_write(node, arguments, blocked);
    case ECUBE_CALL_INFO: return call_info(node, arguments);
    case ECUBE_CALL_SEND: return call_message(node, arguments, true);
    case ECUBE_CALL_RECEIVE: return call_message(node, arguments, false);
    case ECUBE_CALL_COLLECTIVE: return call_collective(node, arguments);
    case ECUBE_CALL_WAIT: return wait_one(node, arguments, blocked);
    case ECUBE_CALL_TEST: return wait_test(node, arguments, blocked);
    case ECUBE_CALL_CLOCK: return call_clock(node, arguments);
    case ECUBE_CALL_ADVANCE: return call_advance(node, arguments);
    case ECUBE_CALL_REPORT: return call_report(node, arguments, blocked);
    case ECUBE_CALL_SLEEP: return call_sleep(node, blocked);
    case ECUBE_CALL_PLAN:
    case ECUBE_CALL_PREDICT: return call_plan(node, arguments, blocked);
    case ECUBE_CALL_WAIT_ANY: return wait_any(node, arguments, blocked);
    case ECUBE_CALL_PROBE: return wait_probe(node, arguments, blocked);
    case ECUBE_CALL_CANCEL: return wait_cancel(node, arguments);
    case ECUBE_CALL_OUTPUT: return gather_name_output(node, arguments[0], arguments[1]);
    case ECUBE_CALL_REGION: return region_wait(node, blocked);
    case ECUBE_CALL_HOPS: return map_hops(node, arguments[0]);
    case ECUBE_CALL_MARK: return record_mark(node, arguments[0], arguments[1]);
    default: return E_SYSCALL;
    }
}

/* Whether a call gives the node something to do for others. That is done before the program goes
 * on: what it sends must be on its way while it computes. */
static bool gives_work(uint32_t number)
{
    switch (number) {
    case ECUBE_CALL_WRITE:
    case ECUBE_CALL_SEND:
    case ECUBE_CALL_RECEIVE:
    case ECUBE_CALL_COLLECTIVE:
    case ECUBE_CALL_CANCEL: return true;
    default: return false;
    }
}

/* A look at the clock is expensive under emulation, so other calls do with the time of the last
 * one. A test or probe needs it to see how soon it follows the one before. */
bool node_call_needs_time(uint32_t number)
{
    return number == ECUBE_CALL_CLOCK || number == ECUBE_CALL_TEST || number == ECUBE_CALL_PROBE;
}

/* A call that blocks is asked once more after the node has worked: the work may have freed the slot
 * or brought the message that it waits for, and the program need not sleep. */
enum node_verdict node_call(struct node *node, uint64_t now_us, uint32_t number,
                            const uint32_t arguments[4], int32_t *result)
{
    /* Nothing is sent here: boot/ has no program any more and goes on stepping, which sends it. */
    node->now_us = now_us;
    if (number == ECUBE_CALL_EXIT || number == ECUBE_CALL_ABORT) {
        program_end(node, PROGRAM_EXITED, (int32_t)arguments[0]);
        node->aborted = number == ECUBE_CALL_ABORT;
        return NODE_END;
    }
    node->call_number = number;
    memcpy(node->call_arguments, arguments, sizeof node->call_arguments);
    node_due_call(node, true);
    node->rest_us = 0;
    /* A test or probe in vain is no progress, or a machine of programs that only test would never
     * be found to stand still. wait.c counts one that finds something. Nor is a mark. */
    node->progress +=
        number != ECUBE_CALL_TEST && number != ECUBE_CALL_PROBE && number != ECUBE_CALL_MARK;
    enum node_verdict verdict = node_resume(node, now_us, result);
    if (verdict == NODE_BLOCK || gives_work(number)) {
        node_work(node);
        if (verdict == NODE_BLOCK) {
            verdict = node_resume(node, now_us, result);
        }
    }
    return verdict;
}

/* A program that has ended while it waited, by STOP or because its kernel failed, never goes on. */
enum node_verdict node_resume(struct node *node, uint64_t now_us, int32_t *result)
{
    bool blocked = false;

    node->now_us = now_us;
    if (node->program != PROGRAM_RUNNING) {
        return NODE_END;
    }
    *result = serve(node, &blocked);
    if (blocked) {
        return NODE_BLOCK;
    }
    node_due_call(node, false);
    return NODE_RESUME;
}
