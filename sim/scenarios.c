/*
 * scenarios.c - what the programs of each scenario do.
 *
 * All begin a measurement with a barrier, which brings every node's clock to the same time; the
 * time is that of the node that ends last. Bytes are a function of who sends what to whom.
 */
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "include/ecube/predict.h"
#include "sim/program.h"
#include "sim/random.h"

enum pc { PC_START, PC_GO, PC_MESSAGES, PC_DONE };

static uint32_t count_of(const struct sim_options *options)
{
    return UINT32_C(1) << options->dims;
}

/* The blocks of a node's subtree in the binomial tree with root 0. */
static uint32_t subtree(const struct sim_options *options, uint32_t rank)
{
    return rank ? rank & (~rank + 1) : count_of(options);
}

static uint32_t size_max(const struct sim_options *options)
{
    uint32_t size = 0;

    for (unsigned i = 0; i < options->size_count; i++)
        if (options->sizes[i] > size)
            size = options->sizes[i];
    return size;
}

static bool sends_messages(enum sim_scenario scenario)
{
    return scenario >= SIM_RANDOM;
}

uint64_t scenario_bytes(const struct sim_options *options, uint32_t rank)
{
    uint64_t size = size_max(options);

    switch (options->scenario) {
    case SIM_EXCHANGE: return 2 * size * count_of(options);
    case SIM_BROADCAST: return size;
    case SIM_SCATTER:
    case SIM_GATHER: return size * subtree(options, rank);
    case SIM_BARRIER:
    case SIM_LOAD: return 0;
    default: return (SENDS_OPEN + RECEIVES_OPEN) * ((size + 15) & ~UINT64_C(15));
    }
}

static uint32_t operation_of(enum sim_scenario scenario)
{
    switch (scenario) {
    case SIM_EXCHANGE: return ECUBE_EXCHANGE;
    case SIM_BROADCAST: return ECUBE_BROADCAST;
    case SIM_SCATTER: return ECUBE_SCATTER;
    case SIM_GATHER: return ECUBE_GATHER;
    default: return ECUBE_BARRIER;
    }
}

static uint64_t pattern(const struct sim *sim, uint32_t from, uint32_t to, uint32_t number)
{
    return random_mix(sim->options.seed ^ (uint64_t)from << 40 ^ (uint64_t)to << 20 ^ number);
}

static void fill(uint8_t *data, uint32_t bytes, uint64_t word)
{
    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof word) {
        uint32_t left = bytes - at;
        word = random_mix(word);
        memcpy(data + at, &word, left < sizeof word ? left : sizeof word);
    }
}

static uint64_t count_wrong(const uint8_t *data, uint32_t bytes, uint64_t word)
{
    uint64_t wrong = 0;

    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof word) {
        uint32_t left = bytes - at < sizeof word ? bytes - at : (uint32_t)sizeof word;
        word = random_mix(word);
        if (memcmp(data + at, &word, left) != 0)
            for (uint32_t i = 0; i < left; i++)
                wrong += data[at + i] != (uint8_t)(word >> 8 * i);
    }
    return wrong;
}

static uint32_t size_of(const struct sim *sim, const struct task *task)
{
    return sim->options.sizes[task->size];
}

static void prepare_blocks(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = size_of(sim, task), n = sim->count, number = task->size;

    switch (sim->options.scenario) {
    case SIM_EXCHANGE:
        for (uint32_t to = 0; to < n; to++)
            fill(task->data + (size_t)to * k, k, pattern(sim, rank, to, number));
        memset(task->data + (size_t)n * k, 0, (size_t)n * k);
        break;
    case SIM_BROADCAST:
        memset(task->data, 0, k);
        if (rank == 0)
            fill(task->data, k, pattern(sim, 0, 0, number));
        break;
    case SIM_SCATTER:
        memset(task->data, 0, (size_t)subtree(&sim->options, rank) * k);
        for (uint32_t to = 0; to < n && rank == 0; to++)
            fill(task->data + (size_t)to * k, k, pattern(sim, 0, to, number));
        break;
    case SIM_GATHER:
        memset(task->data, 0, (size_t)subtree(&sim->options, rank) * k);
        fill(task->data, k, pattern(sim, rank, 0, number));
        break;
    default: break;
    }
}

/* A node's own block is the first of its subtree. */
static uint64_t check_blocks(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = size_of(sim, task), n = sim->count, number = task->size;
    uint64_t wrong = 0;

    switch (sim->options.scenario) {
    case SIM_EXCHANGE:
        for (uint32_t from = 0; from < n; from++)
            if (from != rank)
                wrong += count_wrong(task->data + (size_t)(n + from) * k, k,
                                     pattern(sim, from, rank, number));
        return wrong;
    case SIM_BROADCAST: return count_wrong(task->data, k, pattern(sim, 0, 0, number));
    case SIM_SCATTER: return count_wrong(task->data, k, pattern(sim, 0, rank, number));
    case SIM_GATHER:
        for (uint32_t from = 0; from < n && rank == 0; from++)
            wrong += count_wrong(task->data + (size_t)from * k, k, pattern(sim, from, 0, number));
        return wrong;
    default: return 0;
    }
}

static struct next wait_for(struct task *task, int32_t request, enum pc then)
{
    task->pc = (uint8_t)then;
    task->request = request;
    if (request >= 0)
        return (struct next){.kind = NEXT_WAIT};
    task->status = request;
    return (struct next){.kind = NEXT_EXIT};
}

static struct next end_with(struct task *task, int32_t status)
{
    task->status = status;
    return (struct next){.kind = NEXT_EXIT};
}

static void measured(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct sim_line *line = &sim->result.lines[task->size];
    uint64_t model_ns = program_clock(sim, rank) - task->start_ns;

    if (sim->result.line_count <= task->size)
        sim->result.line_count = task->size + 1u;
    line->bytes = size_of(sim, task);
    sim->pause |= ++line->nodes == sim->count;
    line->model_ns = clock_max(line->model_ns, model_ns);
    if (!sends_messages(sim->options.scenario)) {
        const struct ecube_abi_result *result = program_result(sim, rank);
        line->steps = result->steps > line->steps ? result->steps : line->steps;
        if (sim->layout.checked)
            line->wrong += check_blocks(sim, rank);
    }
    line->wrong += task->wrong;
    task->wrong = 0;
    scenario_predict(&sim->options, line);
}

void scenario_predict(const struct sim_options *options, struct sim_line *line)
{
    const struct profile *profile = &options->profile;
    struct ecube_profile machine = {.xi_ns = profile->xi_ns,
                                    .tau_ns = profile->tau_ns,
                                    .element_ns = profile->element_ns};
    uint32_t operation = operation_of(options->scenario);

    if (options->scenario >= SIM_LOAD)
        return;
    line->predicted_ns = ecube_predict_ns(operation, options->dims, line->bytes, &machine);
    line->bound_ns = ecube_bound_ns(operation, options->dims, line->bytes, &machine);
}

/* Messages -------------------------------------------------------------------------------- */

static uint32_t reversed(uint32_t rank, unsigned dims)
{
    uint32_t result = 0;

    for (unsigned i = 0; i < dims; i++)
        result |= (rank >> i & 1) << (dims - 1 - i);
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

static uint32_t destination(const struct sim_options *options, uint32_t rank, uint32_t number)
{
    switch (options->scenario) {
    case SIM_TRANSPOSE: return transposed(rank, options->dims);
    case SIM_BITREVERSAL: return reversed(rank, options->dims);
    case SIM_HOTSPOT: return 0;
    default: {
        uint64_t draw = random_mix(options->seed ^ (uint64_t)rank << 32 ^ number) >> 32;
        return (uint32_t)(rank + 1 + draw % (count_of(options) - 1)) % count_of(options);
    }
    }
}

/* A node that is its own destination sends nothing. */
static bool sends_number(const struct sim_options *options, uint32_t rank, uint32_t number)
{
    return count_of(options) > 1 && destination(options, rank, number) != rank;
}

static uint32_t message_bytes(const struct sim *sim, uint32_t size, uint32_t rank, uint32_t number)
{
    uint64_t draw = random_mix(sim->options.seed ^ UINT64_C(0x5151) << 48 ^ (uint64_t)rank << 32 ^
                               number) >>
                    32;

    return sim->options.scenario == SIM_RANDOM && size ? 1 + (uint32_t)(draw * size >> 32) : size;
}

void scenario_prepare(struct sim *sim)
{
    const struct sim_options *options = &sim->options;

    if (!sends_messages(options->scenario))
        return;
    for (uint32_t rank = 0; rank < sim->count; rank++)
        for (uint32_t i = 0; i < options->messages; i++)
            if (sends_number(options, rank, i))
                sim->expected[destination(options, rank, i)]++;
}

static uint32_t slot_offset(const struct sim *sim, unsigned slot)
{
    return slot * ((size_max(&sim->options) + 15) & ~15u);
}

static void begin_messages(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    task->sends = task->sent = task->receives = task->received = 0;
    memset(task->sending, REQUEST_NONE, sizeof task->sending);
    memset(task->receiving, REQUEST_NONE, sizeof task->receiving);
}

static int32_t post_receive(struct sim *sim, uint32_t rank, unsigned slot)
{
    struct task *task = &sim->tasks[rank];
    int32_t request = program_message(sim, rank, ECUBE_CALL_RECEIVE, ECUBE_ANY, ECUBE_ANY,
                                      task->data_address + slot_offset(sim, SENDS_OPEN + slot),
                                      size_max(&sim->options));

    task->receiving[slot] = (int8_t)request;
    task->receives++;
    return request;
}

static int32_t begin_send(struct sim *sim, uint32_t rank, unsigned slot)
{
    struct task *task = &sim->tasks[rank];
    uint32_t number = task->sends++, size = size_of(sim, task);
    uint32_t to = destination(&sim->options, rank, number);
    uint32_t bytes = message_bytes(sim, size, rank, number);

    if (sim->layout.checked)
        fill(task->data + slot_offset(sim, slot), bytes, pattern(sim, rank, to, number));
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
    uint32_t bytes = message_bytes(sim, size_of(sim, task), from, number);

    if (bytes != result->bytes || destination(&sim->options, from, number) != rank)
        return bytes > result->bytes ? bytes : result->bytes;
    return sim->layout.checked ? count_wrong(task->data + slot_offset(sim, SENDS_OPEN + slot),
                                             bytes, pattern(sim, from, rank, number))
                               : 0;
}

/* Ends a request whose model time has come: 1 ended, 0 not yet, negative: its error. *wake_ns
 * becomes the time at which it may be asked for again, if it is done. */
static int32_t test(struct sim *sim, uint32_t rank, int8_t *request, uint64_t *wake_ns)
{
    const struct request *r = &sim_node(sim, rank)->requests[*request];

    if (r->state != STATE_DONE)
        return 0;
    if (r->done_ns > sim->now_ns) {
        *wake_ns = r->done_ns < *wake_ns ? r->done_ns : *wake_ns;
        return 0;
    }
    int32_t number = *request, result;
    *request = REQUEST_NONE;
    sim->progress_ns = sim->wall_ns;
    result = program_test(sim, rank, number);
    return result < 0 ? result : program_result(sim, rank)->status < 0
                                     ? program_result(sim, rank)->status
                                     : result;
}

static int32_t test_all(struct sim *sim, uint32_t rank, uint64_t *wake_ns)
{
    struct task *task = &sim->tasks[rank];

    for (unsigned i = 0; i < SENDS_OPEN; i++) {
        int32_t ended = task->sending[i] >= 0 ? test(sim, rank, &task->sending[i], wake_ns) : 0;
        if (ended < 0)
            return ended;
        task->sent += (uint32_t)ended;
    }
    for (unsigned i = 0; i < RECEIVES_OPEN; i++) {
        int32_t ended = task->receiving[i] >= 0 ? test(sim, rank, &task->receiving[i], wake_ns) : 0;
        if (ended < 0)
            return ended;
        task->received += (uint32_t)ended;
        if (ended)
            task->wrong += check_message(sim, rank, i, program_result(sim, rank));
    }
    return E_OK;
}

static int32_t post_all(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    for (unsigned i = 0; i < RECEIVES_OPEN; i++)
        if (task->receiving[i] < 0 && task->receives < sim->expected[rank]) {
            int32_t request = post_receive(sim, rank, i);
            if (request < 0)
                return request;
        }
    return E_OK;
}

/* Passes over messages to itself, which are not sent. */
static bool has_send(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    while (task->sends < sim->options.messages &&
           !sends_number(&sim->options, rank, task->sends)) {
        task->sends++;
        task->sent++;
    }
    return task->sends < sim->options.messages;
}

static unsigned free_send(const struct task *task)
{
    unsigned slot = 0;

    while (slot < SENDS_OPEN && task->sending[slot] >= 0)
        slot++;
    return slot;
}

static struct next messages_next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint64_t wake_ns = UINT64_MAX;
    int32_t status = test_all(sim, rank, &wake_ns);

    if (status == E_OK)
        status = post_all(sim, rank);
    if (status < 0)
        return end_with(task, status);
    if (has_send(sim, rank) && free_send(task) < SENDS_OPEN) {
        uint64_t starts_ns = program_clock(sim, rank) + sim->options.profile.xi_ns;
        if (sim->now_ns >= starts_ns) {
            int32_t request = begin_send(sim, rank, free_send(task));
            if (request < 0)
                return end_with(task, request);
            wake_ns = sim->now_ns;
        } else if (starts_ns < wake_ns) {
            wake_ns = starts_ns;
        }
    }
    if (task->sent == sim->options.messages && task->received == sim->expected[rank]) {
        task->pc = PC_DONE;
        wake_ns = program_clock(sim, rank);
    }
    return (struct next){.kind = NEXT_POLL, .until_ns = wake_ns};
}

/* Programs --------------------------------------------------------------------------------- */

static struct next begin_operation(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = size_of(sim, task), send = task->data_address, receive = send;

    if (sim->options.scenario == SIM_EXCHANGE)
        receive += sim->count * k;
    return wait_for(task,
                    program_collective(sim, rank, operation_of(sim->options.scenario), send,
                                       receive, k),
                    PC_DONE);
}

static struct next begin_barrier(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    if (task->size == sim->options.size_count)
        return end_with(task, E_OK);
    if (sim->layout.checked)
        prepare_blocks(sim, rank);
    return wait_for(task, program_collective(sim, rank, ECUBE_BARRIER, 0, 0, 0), PC_GO);
}

struct next scenario_next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    if (task->result < 0)
        return end_with(task, task->result);
    switch ((enum pc)task->pc) {
    case PC_START: return begin_barrier(sim, rank);
    case PC_GO:
        task->start_ns = program_clock(sim, rank);
        if (!sends_messages(sim->options.scenario))
            return begin_operation(sim, rank);
        begin_messages(sim, rank);
        task->pc = PC_MESSAGES;
        return messages_next(sim, rank);
    case PC_MESSAGES: return messages_next(sim, rank);
    default:
        measured(sim, rank);
        task->size++;
        return begin_barrier(sim, rank);
    }
}

/* Names ------------------------------------------------------------------------------------ */

static const struct {
    const char *name, *title;
} scenarios[SIM_SCENARIOS] = {
    [SIM_EXCHANGE] = {"exchange", "complete exchange"},
    [SIM_BROADCAST] = {"broadcast", "broadcast"},
    [SIM_SCATTER] = {"scatter", "scatter"},
    [SIM_GATHER] = {"gather", "gather"},
    [SIM_BARRIER] = {"barrier", "barrier"},
    [SIM_LOAD] = {"download", "download"},
    [SIM_RANDOM] = {"random", "random messages"},
    [SIM_TRANSPOSE] = {"transpose", "transpose"},
    [SIM_BITREVERSAL] = {"bitreversal", "bit reversal"},
    [SIM_HOTSPOT] = {"hotspot", "hot spot"},
};

const char *sim_scenario_name(enum sim_scenario scenario)
{
    return scenarios[scenario].name;
}

const char *sim_scenario_title(enum sim_scenario scenario)
{
    return scenarios[scenario].title;
}

enum sim_scenario sim_scenario_named(const char *name)
{
    unsigned i = 0;

    while (i < SIM_SCENARIOS && strcmp(name, scenarios[i].name) != 0)
        i++;
    return (enum sim_scenario)i;
}

unsigned sim_scenario_dims(enum sim_scenario scenario)
{
    return scenario == SIM_LOAD ? (unsigned)SIM_DIMS_MAX : (unsigned)CUBE_DIMS_MAX;
}
