/*
 * scenarios.c - what the programs of each scenario do.
 *
 * All begin a measurement with a barrier, which brings every node's clock to the same time; the
 * time is that of the node that ends last. Bytes are a function of who sends what to whom.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "include/ecube/predict.h"
#include "network/network.h"
#include "sim/parallel/partition.h"
#include "sim/program.h"
#include "sim/random.h"
#include "sim/state.h"
#include "sim/task.h"

/* The blocks of a node's subtree in the binomial tree with root 0. */
static uint32_t subtree(const struct sim_options *options, uint32_t rank)
{
    return rank ? rank & (~rank + 1) : scenario_nodes(options);
}

uint32_t scenario_size_max(const struct sim_options *options)
{
    uint32_t size = 0;

    for (unsigned i = 0; i < options->size_count; i++)
        if (options->sizes[i] > size)
            size = options->sizes[i];
    return size;
}

uint64_t scenario_bytes(const struct sim_options *options, uint32_t rank)
{
    uint64_t size = scenario_size_max(options);

    switch (options->scenario) {
    case SIM_EXCHANGE: return 2 * size * scenario_nodes(options);
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

uint64_t pattern_seed(const struct sim *sim, uint32_t from, uint32_t to, uint32_t number)
{
    return random_mix(sim->options.seed ^ (uint64_t)from << 40 ^ (uint64_t)to << 20 ^ number);
}

void pattern_fill(uint8_t *data, uint32_t bytes, uint64_t word)
{
    for (uint32_t at = 0; at < bytes; at += (uint32_t)sizeof word) {
        uint32_t left = bytes - at;
        word = random_mix(word);
        memcpy(data + at, &word, left < sizeof word ? left : sizeof word);
    }
}

uint64_t pattern_wrong(const uint8_t *data, uint32_t bytes, uint64_t word)
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

static void prepare_blocks(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = program_size(sim, task), n = sim->count, number = task->size;

    switch (sim->options.scenario) {
    case SIM_EXCHANGE:
        for (uint32_t to = 0; to < n; to++)
            pattern_fill(task->data + (size_t)to * k, k, pattern_seed(sim, rank, to, number));
        memset(task->data + (size_t)n * k, 0, (size_t)n * k);
        break;
    case SIM_BROADCAST:
        memset(task->data, 0, k);
        if (rank == 0)
            pattern_fill(task->data, k, pattern_seed(sim, 0, 0, number));
        break;
    case SIM_SCATTER:
        memset(task->data, 0, (size_t)subtree(&sim->options, rank) * k);
        for (uint32_t to = 0; to < n && rank == 0; to++)
            pattern_fill(task->data + (size_t)to * k, k, pattern_seed(sim, 0, to, number));
        break;
    case SIM_GATHER:
        memset(task->data, 0, (size_t)subtree(&sim->options, rank) * k);
        pattern_fill(task->data, k, pattern_seed(sim, rank, 0, number));
        break;
    default: break;
    }
}

/* A node's own block is the first of its subtree. */
static uint64_t check_blocks(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = program_size(sim, task), n = sim->count, number = task->size;
    uint64_t wrong = 0;

    switch (sim->options.scenario) {
    case SIM_EXCHANGE:
        for (uint32_t from = 0; from < n; from++)
            if (from != rank)
                wrong += pattern_wrong(task->data + (size_t)(n + from) * k, k,
                                       pattern_seed(sim, from, rank, number));
        return wrong;
    case SIM_BROADCAST: return pattern_wrong(task->data, k, pattern_seed(sim, 0, 0, number));
    case SIM_SCATTER: return pattern_wrong(task->data, k, pattern_seed(sim, 0, rank, number));
    case SIM_GATHER:
        for (uint32_t from = 0; from < n && rank == 0; from++)
            wrong +=
                pattern_wrong(task->data + (size_t)from * k, k, pattern_seed(sim, from, 0, number));
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

/* Adds to the line of the node's partition; merged when the round is over. */
static void measured(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct partition *partition = sim_partition(sim, rank);
    struct sim_line *line = &partition->lines[task->size];

    partition->measured = true;
    line->nodes++;
    line->bytes = program_size(sim, task);
    line->start_ns = clock_max(line->start_ns, task->start_ns);
    line->model_ns = clock_max(line->model_ns, program_clock(sim, rank) - task->start_ns);
    if (!scenario_sends(sim->options.scenario)) {
        const struct ecube_abi_result *result = program_result(sim, rank);
        line->steps = result->steps > line->steps ? result->steps : line->steps;
        if (sim->layout.checked)
            line->wrong += check_blocks(sim, rank);
    }
    line->wrong += task->wrong;
    task->wrong = 0;
}

void scenario_predict(const struct sim_options *options, struct sim_line *line)
{
    const struct profile *profile = &options->profile;
    struct ecube_profile machine = {
        .xi_ns = profile->xi_ns, .tau_ns = profile->tau_ns, .element_ns = profile->element_ns};
    uint32_t operation = operation_of(options->scenario);

    if (options->scenario >= SIM_LOAD)
        return;
    line->predicted_ns = ecube_predict_ns(operation, options->network.dims, line->bytes, &machine);
    line->bound_ns = ecube_bound_ns(operation, options->network.dims, line->bytes, &machine);
}

static struct next begin_operation(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    uint32_t k = program_size(sim, task), send = task->data_address, receive = send;

    if (sim->options.scenario == SIM_EXCHANGE)
        receive += sim->count * k;
    return wait_for(
        task, program_collective(sim, rank, operation_of(sim->options.scenario), send, receive, k),
        PC_DONE);
}

static struct next begin_messages(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    task->start_ns = program_clock(sim, rank);
    messages_begin(sim, rank);
    task->pc = PC_MESSAGES;
    return messages_next(sim, rank);
}

static struct next begin_barrier(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    if (task->size == sim->options.size_count)
        return program_end_with(task, E_OK);
    if (sim->layout.checked)
        prepare_blocks(sim, rank);
    if (sim_network(sim)->kind != NETWORK_CUBE) {
        /* no barrier there: all begin at the time of START */
        return begin_messages(sim, rank);
    }
    return wait_for(task, program_collective(sim, rank, ECUBE_BARRIER, 0, 0, 0), PC_GO);
}

struct next scenario_next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    if (task->result < 0)
        return program_end_with(task, task->result);
    switch ((enum pc)task->pc) {
    case PC_START: return begin_barrier(sim, rank);
    case PC_GO:
        task->start_ns = program_clock(sim, rank);
        if (!scenario_sends(sim->options.scenario))
            return begin_operation(sim, rank);
        return begin_messages(sim, rank);
    case PC_MESSAGES: return messages_next(sim, rank);
    default:
        measured(sim, rank);
        task->size++;
        return begin_barrier(sim, rank);
    }
}

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
    [SIM_CIRCLE] = {"circle", "circle"},
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

bool sim_scenario_fits(enum sim_scenario scenario, const struct network *network,
                       char why[SIM_WHY_MAX])
{
    bool cube = network->kind == NETWORK_CUBE;
    unsigned dims = schedule_tables[operation_of(scenario)].dims;

    why[0] = '\0';
    if (scenario < SIM_LOAD && !cube)
        snprintf(why, SIM_WHY_MAX, "collectives have schedules for cubes only");
    else if (cube && scenario != SIM_LOAD && network->dims > dims)
        snprintf(why, SIM_WHY_MAX,
                 "its schedule is proved up to cube:%u, and each dimension more has four times the "
                 "circuits: simulate at most cube:%u",
                 dims, dims);
    else if (scenario == SIM_BITREVERSAL && !cube)
        snprintf(why, SIM_WHY_MAX, "only numbers of a cube's nodes are read backwards");
    else if (scenario == SIM_TRANSPOSE && !cube && network->dims != 2)
        snprintf(why, SIM_WHY_MAX,
                 "its nodes form no rows and columns: use a cube, or a mesh or torus of two sizes");
    return !why[0];
}
