/*
 * messages.c - message scenarios: every rank sends and receives a few messages at a time.
 *
 * Who sends what to whom is a function of the seed, so that a receiver knows how many messages will
 * come and what is in each. A send's number is its tag. A program takes the result of a request
 * when model time has come to it, as a program that looks at the right moment would.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/random.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

static uint32_t reversed(uint32_t rank, unsigned dims)
{
    uint32_t result = 0;

    for (unsigned i = 0; i < dims; i++) {
        result |= (rank >> i & 1) << (dims - 1 - i);
    }
    return result;
}

/* The halves of a number change places; with an odd number of bits the middle one stays. */
static uint32_t transposed(uint32_t rank, unsigned dims)
{
    unsigned half = dims / 2, up = dims - half;
    uint32_t mask = (UINT32_C(1) << half) - 1;
    uint32_t middle = rank & ~(mask | mask << up);

    return (rank & mask) << up | (rank >> up & mask) | middle;
}

/* Where the node of a row and a column goes in the transposed matrix. */
static uint32_t moved(const struct network *network, uint32_t rank)
{
    uint32_t columns = network->dim[0].size, rows = network->dim[1].size;

    return rank % columns * rows + rank / columns;
}

static uint32_t destination(const struct sim_options *options, uint32_t rank, uint32_t number)
{
    const struct network *guest = network_guest(&options->network);

    switch (options->scenario) {
    case SIM_TRANSPOSE:
        return guest->kind == NETWORK_CUBE ? transposed(rank, guest->dims) : moved(guest, rank);
    case SIM_BITREVERSAL: return reversed(rank, guest->dims);
    case SIM_HOTSPOT: return 0;
    case SIM_CIRCLE: return (rank + scenario_nodes(options) - 1) % scenario_nodes(options);
    default: {
        uint64_t draw = random_mix(options->seed ^ (uint64_t)rank << 32 ^ number) >> 32;
        return (uint32_t)(rank + 1 + draw % (scenario_nodes(options) - 1)) %
               scenario_nodes(options);
    }
    }
}

/* A node that is its own destination sends nothing. */
static bool sends_number(const struct sim_options *options, uint32_t rank, uint32_t number)
{
    return scenario_nodes(options) > 1 && destination(options, rank, number) != rank;
}

static uint32_t message_bytes(const struct sim *sim, uint32_t size, uint32_t rank, uint32_t number)
{
    uint64_t draw =
        random_mix(sim->options.seed ^ UINT64_C(0x5151) << 48 ^ (uint64_t)rank << 32 ^ number) >>
        32;

    return sim->options.scenario == SIM_RANDOM && size ? 1 + (uint32_t)(draw * size >> 32) : size;
}

void messages_prepare(struct sim *sim)
{
    const struct sim_options *options = &sim->options;

    for (uint32_t rank = 0; rank < sim->count; rank++) {
        for (uint32_t i = 0; i < options->messages; i++) {
            if (sends_number(options, rank, i)) {
                sim->expected[network_node(&options->network, destination(options, rank, i))]++;
            }
        }
    }
}

static uint32_t slot_offset(const struct sim *sim, unsigned slot)
{
    return slot * ((scenario_size_max(&sim->options) + 15) & ~15u);
}

void messages_begin(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    task->sends = task->sent = task->receives = task->received = 0;
    memset(task->sending, REQUEST_NONE, sizeof task->sending);
    memset(task->receiving, REQUEST_NONE, sizeof task->receiving);
    task->begins = task->ends = NULL;
}

/* A message's call; its result is the request in `request`. */
static struct program_step call_message(struct sim *sim, uint32_t rank, uint32_t number,
                                        const struct ecube_abi_message *message, int8_t *request)
{
    struct task *task = &sim->tasks[rank];

    memcpy(program_arguments(sim, rank), message, sizeof *message);
    task->begins = request;
    return program_step_call(number, program_arguments_address(sim), 0);
}

static struct program_step post_receive(struct sim *sim, uint32_t node, unsigned slot)
{
    struct task *task = &sim->tasks[node];
    uint32_t rank = scenario_rank(&sim->options, node);
    bool circle = sim->options.scenario == SIM_CIRCLE;
    struct ecube_abi_message message = {
        .data = task->data_address + slot_offset(sim, SENDS_OPEN + slot),
        .bytes = scenario_size_max(&sim->options),
        .peer = circle ? (int32_t)((rank + 1) % sim->count) : ECUBE_ANY,
        .tag = ECUBE_ANY};

    task->receives++;
    return call_message(sim, node, ECUBE_CALL_RECEIVE, &message, &task->receiving[slot]);
}

static struct program_step begin_send(struct sim *sim, uint32_t node, unsigned slot)
{
    struct task *task = &sim->tasks[node];
    uint32_t rank = scenario_rank(&sim->options, node);
    uint32_t number = task->sends++, size = program_size(sim, task);
    uint32_t to = destination(&sim->options, rank, number);
    uint32_t bytes = message_bytes(sim, size, rank, number);
    struct ecube_abi_message message = {.data = task->data_address + slot_offset(sim, slot),
                                        .bytes = bytes,
                                        .peer = (int32_t)to,
                                        .tag = (int32_t)number};

    if (sim->layout.checked) {
        pattern_fill(task->data + slot_offset(sim, slot), bytes,
                     pattern_seed(sim, rank, to, number));
    }
    return call_message(sim, node, ECUBE_CALL_SEND, &message, &task->sending[slot]);
}

static uint64_t check_message(struct sim *sim, uint32_t node, unsigned slot,
                              const struct ecube_abi_result *result)
{
    const struct task *task = &sim->tasks[node];
    uint32_t rank = scenario_rank(&sim->options, node);
    uint32_t from = (uint32_t)result->peer, number = (uint32_t)result->tag;
    uint32_t bytes = message_bytes(sim, program_size(sim, task), from, number);

    if (bytes != result->bytes || destination(&sim->options, from, number) != rank) {
        return bytes > result->bytes ? bytes : result->bytes;
    }
    return sim->layout.checked ? pattern_wrong(task->data + slot_offset(sim, SENDS_OPEN + slot),
                                               bytes, pattern_seed(sim, from, rank, number))
                               : 0;
}

/* The requests that a program has open, sends first. */
static int8_t *open_request(struct task *task, unsigned index)
{
    return index < SENDS_OPEN ? &task->sending[index] : &task->receiving[index - SENDS_OPEN];
}

/* The open request that ends first in model time; NULL when none has ended on the wire. */
static int8_t *first_ended(struct sim *sim, uint32_t rank, uint64_t *done_ns)
{
    int8_t *first = NULL;

    for (unsigned i = 0; i < SENDS_OPEN + RECEIVES_OPEN; i++) {
        int8_t *number = open_request(&sim->tasks[rank], i);
        if (*number < 0) {
            continue;
        }
        const struct request *request = &sim_node(sim, rank)->requests[*number];
        if (request->state == STATE_DONE && (!first || request->done_ns < *done_ns)) {
            first = number;
            *done_ns = request->done_ns;
        }
    }
    return first;
}

static struct program_step take_end(struct sim *sim, uint32_t rank, int8_t *request)
{
    sim->tasks[rank].ends = request;
    return program_step_call(ECUBE_CALL_TEST, (uint32_t)*request,
                             program_arguments_address(sim) + RESULT_AT);
}

/* The end of a request has been taken; negative: its error. */
static int32_t ended(struct sim *sim, uint32_t rank, int8_t *request)
{
    struct task *task = &sim->tasks[rank];
    unsigned receive = (unsigned)(request - task->receiving);
    const struct ecube_abi_result *end = program_result(sim, rank);

    *request = REQUEST_NONE;
    sim_partition(sim, rank)->got_on = true;
    if (end->status < 0) {
        return end->status;
    }
    if (request < task->receiving || request >= task->receiving + RECEIVES_OPEN) {
        task->sent++;
    } else {
        task->received++;
        task->wrong += check_message(sim, rank, receive, end);
    }
    return E_OK;
}

/* What the last call has come to; negative: an error. */
static int32_t take_result(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    int8_t *begins = task->begins, *ends = task->ends;

    task->begins = task->ends = NULL;
    if (begins) {
        *begins = (int8_t)task->result;
    }
    return ends ? ended(sim, rank, ends) : E_OK;
}

static unsigned free_receive(const struct sim *sim, uint32_t rank)
{
    const struct task *task = &sim->tasks[rank];
    unsigned slot = task->receives < sim->expected[rank] ? 0 : RECEIVES_OPEN;

    while (slot < RECEIVES_OPEN && task->receiving[slot] >= 0) {
        slot++;
    }
    return slot;
}

static unsigned free_send(const struct task *task)
{
    unsigned slot = 0;

    while (slot < SENDS_OPEN && task->sending[slot] >= 0) {
        slot++;
    }
    return slot;
}

/* Whether the next message may go: in a circle each is the answer to one that has come. */
static bool may_send(const struct sim *sim, const struct task *task)
{
    return free_send(task) < SENDS_OPEN &&
           (sim->options.scenario != SIM_CIRCLE || task->received > task->sends);
}

/* Passes over messages to itself, which are not sent. */
static bool has_send(struct sim *sim, uint32_t node)
{
    struct task *task = &sim->tasks[node];
    uint32_t rank = scenario_rank(&sim->options, node);

    while (task->sends < sim->options.messages && !sends_number(&sim->options, rank, task->sends)) {
        task->sends++;
        task->sent++;
    }
    return task->sends < sim->options.messages;
}

/* As a program that sends and receives whenever it may, and else waits for any of its requests: it
 * takes their ends one by one, in the order of model time. */
struct program_step messages_next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint64_t done_ns = UINT64_MAX;
    int32_t status = take_result(sim, rank);

    if (status < 0) {
        return program_step_exit(status);
    }
    unsigned receive = free_receive(sim, rank);
    if (receive < RECEIVES_OPEN) {
        return post_receive(sim, rank, receive);
    }
    if (has_send(sim, rank) && may_send(sim, task)) {
        return begin_send(sim, rank, free_send(task));
    }
    int8_t *first = first_ended(sim, rank, &done_ns);
    if (first && done_ns <= sim->now_ns) {
        return take_end(sim, rank, first);
    }
    if (task->sent == sim->options.messages && task->received == sim->expected[rank]) {
        task->pc = PC_DONE;
        return (struct program_step){.kind = STEP_POLL, .until_ns = program_clock(sim, rank)};
    }
    return (struct program_step){.kind = STEP_POLL, .until_ns = first ? done_ns : UINT64_MAX};
}
