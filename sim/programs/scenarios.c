/*
 * scenarios.c - what the programs of each scenario do.
 *
 * All begin a measurement with an align, which brings every node's clock to the same time; the time
 * is that of the node that ends last. Bytes are a function of who sends what to whom.
 */
#include <stdio.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "sim/core/partition.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

uint32_t scenario_size_max(const struct sim_options *options)
{
    uint32_t size = 0;

    for (unsigned i = 0; i < options->size_count; i++) {
        if (options->sizes[i] > size) {
            size = options->sizes[i];
        }
    }
    return size;
}

/* The most that any of its sizes needs. */
static uint64_t collective_bytes(const struct sim_options *options, uint32_t rank)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < options->size_count; i++) {
        uint64_t bytes = scenario_spaces(options, i, rank).end;
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t scenario_bytes(const struct sim_options *options, uint32_t rank)
{
    uint64_t size = scenario_size_max(options);

    if (scenario_is_collective(options->scenario)) {
        return collective_bytes(options, rank);
    }
    return scenario_sends(options->scenario)
               ? (SENDS_OPEN + RECEIVES_OPEN) * ((size + 15) & ~UINT64_C(15))
               : 0;
}

/* A collective, then the wait for it, and then what is done at `then`. */
static struct program_step enter(struct sim *sim, uint32_t rank,
                                 const struct ecube_abi_collective *call, enum pc then)
{
    struct task *task = &sim->tasks[rank];

    memcpy(program_arguments(sim, rank), call, sizeof *call);
    task->pc = PC_BEGUN;
    task->then = (uint8_t)then;
    return program_step_call(ECUBE_CALL_COLLECTIVE, program_arguments_address(sim), 0);
}

static struct program_step wait_for(const struct sim *sim, struct task *task)
{
    task->pc = task->then;
    return program_step_call(ECUBE_CALL_WAIT, (uint32_t)task->result,
                             program_arguments_address(sim) + RESULT_AT);
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
        if (sim->layout.checked) {
            line->wrong += contents_wrong(sim, rank);
        }
    }
    line->wrong += task->wrong;
    task->wrong = 0;
}

void scenario_predict(const struct sim_options *options, unsigned size, struct sim_line *line)
{
    if (!scenario_is_collective(options->scenario)) {
        return;
    }
    line->predicted_ns = options->plans->times[size].model_ns;
    line->bound_ns = options->plans->times[size].bound_ns;
}

/* The address of a space, 0 where it has none. */
static uint32_t address_of(const struct task *task, const struct spaces *spaces, enum space space)
{
    return spaces->bytes[space] ? task->data_address + (uint32_t)spaces->at[space] : 0;
}

static struct program_step begin_operation(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct spaces spaces = scenario_spaces(&sim->options, task->size, rank);
    uint32_t table = contents_write_table(sim, rank);
    struct ecube_abi_collective call = {
        .operation = (uint32_t)sim->options.scenario,
        .root = scenario_root(&sim->options),
        .block_bytes = program_size(sim, task),
        .send = address_of(task, &spaces, SPACE_SEND),
        .receive = address_of(task, &spaces, SPACE_RECEIVE),
        .scratch = address_of(task, &spaces, SPACE_SCRATCH),
        .scratch_bytes = (uint32_t)spaces.bytes[SPACE_SCRATCH],
        .type = (uint8_t)scenario_type(&sim->options),
        .operator_ = (uint8_t)scenario_operator(&sim->options),
        .send_blocks = table,
        .receive_blocks = table,
    };

    return enter(sim, rank, &call, PC_DONE);
}

static struct program_step begin_messages(struct sim *sim, uint32_t rank)
{
    messages_begin(sim, rank);
    sim->tasks[rank].pc = PC_MESSAGES;
    return messages_next(sim, rank);
}

static struct program_step begin_size(struct sim *sim, uint32_t rank)
{
    static const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    struct task *task = &sim->tasks[rank];

    if (task->size == sim->options.size_count) {
        return program_step_exit(E_OK);
    }
    if (sim->layout.checked && scenario_is_collective(sim->options.scenario)) {
        contents_prepare(sim, rank);
    }
    return enter(sim, rank, &align, PC_GO);
}

static void begin(struct sim *sim, uint32_t rank, const struct node_start *start)
{
    (void)start;
    sim->tasks[rank].pc = PC_START;
}

/* How its last call, or the collective that it has waited for, has ended. */
static int32_t status_of(struct sim *sim, uint32_t rank)
{
    const struct task *task = &sim->tasks[rank];
    bool waited = task->pc == PC_GO || (task->pc == PC_DONE && task->then == PC_DONE);

    return task->result < 0 || !waited ? task->result : program_result(sim, rank)->status;
}

static struct program_step next(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    int32_t status = status_of(sim, rank);

    if (status < 0) {
        return program_step_exit(status);
    }
    switch ((enum pc)task->pc) {
    case PC_START: return begin_size(sim, rank);
    case PC_BEGUN: return wait_for(sim, task);
    case PC_GO:
        task->start_ns = program_clock(sim, rank);
        if (!scenario_sends(sim->options.scenario)) {
            return begin_operation(sim, rank);
        }
        return begin_messages(sim, rank);
    case PC_MESSAGES: return messages_next(sim, rank);
    default:
        measured(sim, rank);
        task->size++;
        return begin_size(sim, rank);
    }
}

/* It has none of its own. */
static struct fault no_fault(struct sim *sim, uint32_t rank)
{
    (void)sim;
    (void)rank;
    return (struct fault){.kind = FAULT_CHECK};
}

const struct program_source scenario_source = {.begin = begin, .next = next, .fault = no_fault};

/* Those that are no collectives. */
static const struct {
    const char *name, *title;
} scenarios[SIM_NATIVE + 1] = {
    [SIM_LOAD] = {"download", "download"},
    [SIM_RANDOM] = {"random", "random messages"},
    [SIM_TRANSPOSE] = {"transpose", "transpose"},
    [SIM_BITREVERSAL] = {"bitreversal", "bit reversal"},
    [SIM_HOTSPOT] = {"hotspot", "hot spot"},
    [SIM_CIRCLE] = {"circle", "circle"},
    [SIM_NATIVE] = {"program", "program"},
};

const char *sim_scenario_name(enum sim_scenario scenario)
{
    return scenario_is_collective(scenario) ? operation_name((uint32_t)scenario)
                                            : scenarios[scenario].name;
}

const char *sim_scenario_title(enum sim_scenario scenario)
{
    return scenario_is_collective(scenario) ? operation_name((uint32_t)scenario)
                                            : scenarios[scenario].title;
}

enum sim_scenario sim_scenario_named(const char *name)
{
    uint32_t operation = operation_named(name);
    unsigned i = SIM_LOAD;

    if (operation < OPERATIONS && operation_of(operation)->planned) {
        return (enum sim_scenario)operation;
    }
    while (i < SIM_SCENARIOS && strcmp(name, scenarios[i].name) != 0) {
        i++;
    }
    return (enum sim_scenario)i;
}

bool sim_scenario_fits(enum sim_scenario scenario, const struct network *network,
                       char why[SIM_WHY_MAX])
{
    const struct network *guest = network_guest(network);
    bool cube = guest->kind == NETWORK_CUBE, collective = scenario_is_collective(scenario);
    const struct operation *operation = collective ? operation_of((uint32_t)scenario) : NULL;

    why[0] = '\0';
    if (collective && (!operation || !operation->planned)) {
        snprintf(why, SIM_WHY_MAX, "it moves nothing");
    } else if (scenario == SIM_LOAD && network->map) {
        snprintf(why, SIM_WHY_MAX, "no program runs, so there are no ranks that --map could place");
    } else if (scenario == SIM_BITREVERSAL && !cube) {
        snprintf(why, SIM_WHY_MAX, "only numbers of a cube's %s are read backwards",
                 network->map ? "ranks" : "nodes");
    } else if (scenario == SIM_TRANSPOSE && !cube && guest->dims != 2) {
        snprintf(why, SIM_WHY_MAX,
                 "its nodes form no rows and columns: use a cube, or a mesh or torus of two sizes");
    }
    return !why[0];
}
