/*
 * messages.c - message scenarios: every node sends and receives a few messages at a time.
 *
 * Who sends what to whom is a function of the seed, so that a receiver knows how many messages will
 * come and what is in each. A send's number is its tag. A program takes the result of a request
 * when model time has come to it, as a program that looks at the right moment would.
 */
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/state.h"
#include "sim/programs/program.h"
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
    switch (options->scenario) {
    case SIM_TRANSPOSE:
        return options->network.kind == NETWORK_CUBE ? transposed(rank, options->network.dims)
                                                     : moved(&options->network, rank);
    case SIM_BITREVERSAL: return reversed(rank, options->network.dims);
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
                sim->expected[destination(options, rank, i)]++;
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
}

static int32_t post_receive(struct sim *sim, uint32_t rank, unsigned slot)
{
    struct task *task = &sim->tasks[rank];
    bool circle = sim->options.scenario == SIM_CIRCLE;
    int32_t from = circle ? (int32_t)((rank + 1) % sim->count) : ECUBE_ANY;
    int32_t request = program_message(sim, rank, ECUBE_CALL_RECEIVE, from, ECUBE_ANY,
                                      task->data_address + slot_offset(sim, SENDS_OPEN + slot),
                                      scenario_size_max(&sim->options));

    task->receiving[slot] = (int8_t)request;
    task->receives++;
    return request;
}

static int32_t begin_send(struct sim *sim, uint32_t rank, unsigned slot)
{
    struct task *task = &sim->tasks[rank];
    uint32_t number = task->sends++, size = program_size(sim, task);
    uint32_t to = destination(&sim->options, rank, number);
    uint32_t bytes = message_bytes(sim, size, rank, number);

    if (sim->layout.checked) {
        pattern_fill(task->data + slot_offset(sim, slot), bytes,
                     pattern_seed(sim, rank, to, number));
    }
    int32_t request = program_message(sim, rank, ECUBE_CALL_SEND, (int32_t)to, (int32_t)number,
                                      task->data_address + slot_offset(sim, slot), bytes);
    task->sending[slot] = (int8_t)request;
    return request;
}

static uint64_t check_message(struct sim *sim, uint32_t rank, unsigned slot,
                              const struct ecube_abi_result *result)
{
    const struct task *task = &sim->tasks[rank];
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

/* Takes the end of a request; negative: its error. */
static int32_t take_end(struct sim *sim, uint32_t rank, int8_t *request)
{
    struct task *task = &sim->tasks[rank];
    unsigned receive = (unsigned)(request - task->receiving);
    int32_t result = program_test(sim, rank, *request);
    const struct ecube_abi_result *end = program_result(sim, rank);

    *request = REQUEST_NONE;
    sim_partition(sim, rank)->got_on = true;
    if (result < 0 || end->status < 0) {
        return result < 0 ? result : end->status;
    }
    if (request < task->receiving || request >= task->receiving + RECEIVES_OPEN) {
        task->sent++;
    } else {
        task->received++;
        task->wrong += check_message(sim, rank, receive, end);
    }
    return E_OK;
}

static int32_t post_all(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    for (unsigned i = 0; i < RECEIVES_OPEN; i++) {
        if (task->receiving[i] < 0 && task->receives < sim->expected[rank]) {
            int32_t request = post_receive(sim, rank, i);
            if (request < 0) {
                return request;
            }
        }
    }
    return E_OK;
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
static bool has_send(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    while (task->sends < sim->options.messages && !sends_number(&sim->options, rank, task->sends)) {
        task->sends++;
        task->sent++;
    }
    return task->sends < sim->options.messages;
}

/* A message asks for its first link when its start-up is over. Until then the program takes no
 * other end, which would move its clock, from which the start-up counts. */
static int32_t end_start_up(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    if (!task->starting) {
        return E_OK;
    }
    task->starting = false;
    return begin_send(sim, rank, free_send(task));
}

/* As a program that sends and receives whenever it may, and else waits for any of its requests: it
 * takes their ends one by one, in the order of model time. */
struct next messages_next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint64_t done_ns = UINT64_MAX;
    int32_t status = end_start_up(sim, rank);
    int8_t *ended;

    for (;;) {
        if (status >= 0) {
            status = post_all(sim, rank);
        }
        if (status < 0) {
            return program_end_with(task, status);
        }
        if (has_send(sim, rank) && may_send(sim, task)) {
            task->starting = true;
            return (struct next){.kind = NEXT_SLEEP,
                                 .until_ns = program_clock(sim, rank) + sim->options.profile.xi_ns};
        }
        ended = first_ended(sim, rank, &done_ns);
        if (!ended || done_ns > sim->now_ns) {
            break;
        }
        status = take_end(sim, rank, ended);
    }
    if (task->sent == sim->options.messages && task->received == sim->expected[rank]) {
        task->pc = PC_DONE;
        return (struct next){.kind = NEXT_POLL, .until_ns = program_clock(sim, rank)};
    }
    return (struct next){.kind = NEXT_POLL, .until_ns = ended ? done_ns : UINT64_MAX};
}
