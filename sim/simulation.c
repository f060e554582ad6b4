#include "sim/simulation.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "sim/core/actor.h"
#include "sim/core/fault.h"
#include "sim/core/host.h"
#include "sim/core/limit.h"
#include "sim/core/link.h"
#include "sim/core/loop.h"
#include "sim/core/memory.h"
#include "sim/core/partition.h"
#include "sim/parallel/ranks.h"
#include "sim/parallel/worker_pool.h"
#include "sim/programs/native.h"
#include "sim/programs/plans.h"
#include "sim/programs/program.h"
#include "sim/core/random.h"
#include "sim/core/several.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

static const uint64_t wall_start_ns = UINT64_C(1000000000); /* a node's clock is never 0 */

static void wire_host(struct sim *sim)
{
    const struct network *network = sim_network(sim);

    for (unsigned i = 0; i < network_host_links(network); i++) {
        uint32_t rank = network_host_node(network, i);
        struct sim_end *there = sim_end_at(sim, rank, network->ports);
        sim_end_init(sim, there, sim_host_end(sim, i), rank, sim->count, network->ports);
        sim_end_init(sim, sim_host_end(sim, i), there, sim->count, rank, i);
    }
}

/* Makes the nodes of a partition: its thread is the first to touch their memory. */
static void make_nodes(void *context, unsigned share)
{
    struct sim *sim = context;
    const struct network *network = sim_network(sim);
    const struct partition *partition = sim_own(sim, share);

    for (uint32_t rank = partition->first; rank < partition->end; rank++) {
        sim->tasks[rank].wake_ns = UINT64_MAX;
        for (unsigned p = 0; p < network->ports; p++) {
            uint32_t peer = network_neighbour(network, rank, p);
            struct sim_end *end = sim_end_at(sim, rank, p);
            if (peer == NETWORK_NO_NODE) {
                sim_end_absent(end);
            } else {
                sim_end_init(sim, end, sim_end_at(sim, peer, network_far_port(network, p)), rank,
                             peer, p);
            }
        }
    }
    memory_place(sim, partition->number);
}

static void init_actors(struct sim *sim)
{
    for (uint32_t i = 0; i <= sim->count; i++) {
        sim->actors[i] = (struct actor){.armed_ns = UINT64_MAX, .wanted_ns = UINT64_MAX};
    }
}

static bool is_plain(const struct sim *sim)
{
    const struct sim_options *options = &sim->options;
    const struct sim_faults *faults = &options->faults;

    return !sim->damages && !options->traced && !options->scrub && !options->payload_checked &&
           !faults->rate && !faults->jitter_ns && !faults->delay_ns;
}

struct sim *sim_make(const struct sim_options *options)
{
    struct sim *sim = aligned_alloc(_Alignof(struct sim), sizeof *sim);

    if (!sim) {
        return NULL;
    }
    memset(sim, 0, sizeof *sim);
    CHECK(options->network.nodes > 0 && options->size_count <= SIM_SIZES_MAX);
    sim->options = *options;
    if (!options->plans) {
        char why[SIM_WHY_MAX];
        sim->options.plans = sim->own_plans = sim_plans_make(options, why);
    }
    if (!sim->options.plans) {
        free(sim);
        return NULL;
    }
    sim->damages = sim_faults_damage(&options->faults) || options->faults.fail_event;
    sim->options.payload_checked |= sim_faults_damage(&options->faults);
    sim->plain = is_plain(sim);
    sim->source = options->native ? &native_source : &scenario_source;
    sim->count = sim->running = options->network.nodes;
    sim->seed = random_mix(options->seed);
    sim->shuffle = options->shuffle;
    sim->wall_ns = sim->progress_ns = sim->got_on_ns = wall_start_ns;
    sim->limit = limit_of(sim);
    sim->layout = layout_make(&sim->options, options->contents == SIM_CHECKED);
    sim->own_count = sim->layout.partitions;
    sim->own_first = options->ranks ? options->ranks->own * sim->own_count : 0;
    sim->partition_count = sim->own_count * (options->ranks ? options->ranks->count : 1);
    if (sim->own_count > 1) {
        sim->workers = worker_pool_make(sim->own_count); /* without it one thread does all */
    }
    sim->crowded = true;
    if (!memory_map(sim)) {
        worker_pool_free(sim->workers);
        sim_plans_free(sim->own_plans);
        free(sim);
        return NULL;
    }
    init_actors(sim);
    if (!partitions_make(sim) || (options->native && !native_make(sim)) ||
        (options->ranks && !several_make(sim))) {
        sim_free(sim);
        return NULL;
    }
    wire_host(sim);
    sim->trace = options->traced ? trace_make(sim) : NULL;
    sim_all_partitions(sim, make_nodes);
    if ((options->traced && !sim->trace) || (sim->own_first == 0 && !host_init(sim))) {
        sim_free(sim);
        return NULL;
    }
    fault_phase(sim);
    if (sim->own_first == 0) {
        sim_wake(sim, sim->count);
    }
    for (unsigned i = 0; i < sim->own_count; i++) {
        partition_tell(sim_own(sim, i));
    }
    sim->unsure = options->ranks != NULL; /* what the others have to do is not known yet */
    return sim;
}

void sim_free(struct sim *sim)
{
    if (!sim) {
        return;
    }
    if (sim->trace) {
        sim_trace_end(sim);
    }
    host_free(sim);
    several_free(sim);
    worker_pool_free(sim->workers);
    partitions_free(sim);
    memory_unmap(sim);
    native_free(sim);
    sim_plans_free(sim->own_plans);
    free(sim);
}

/* Adds up what the partitions have counted. */
static void add_partition(struct sim_result *result, const struct partition *partition)
{
    result->events += partition->events;
    result->link_events += partition->link_events;
    result->steps += partition->steps;
    result->requests += partition->requests;
    result->late += partition->late;
    result->digest[0] += partition->digest[0];
    result->digest[1] += partition->digest[1];
}

void sim_result(const struct sim *sim, struct sim_result *result)
{
    uint64_t bytes = sim->layout.total_bytes;

    *result = sim->result;
    for (unsigned i = 0; i < sim->partition_count; i++) {
        const struct partition *partition = &sim->partitions[i];
        add_partition(result, partition);
        bytes += partition->pool.bytes +
                 (uint64_t)(partition->model.room + partition->wall.room) * sizeof(struct event);
    }
    result->verdict = (enum sim_verdict)sim->verdict;
    result->model_ns = sim->now_ns;
    result->wall_ns = sim->wall_ns - wall_start_ns;
    result->checked = sim->layout.checked;
    result->threads = sim->workers || sim->options.ranks ? sim->partition_count : 1;
    result->node_bytes = (bytes + sim->options.plans->bytes) / sim->count;
}

struct trace_result sim_trace_end(struct sim *sim)
{
    struct trace_result result = trace_end(sim);

    trace_free(sim->trace);
    sim->trace = NULL;
    return result;
}

void sim_trace_abandon(const struct sim *sim)
{
    if (sim->trace) {
        trace_abandon(sim->trace);
    }
}

uint64_t sim_events(const struct sim *sim)
{
    uint64_t events = 0;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        events += sim->partitions[i].events;
    }
    return events;
}

void sim_leave(struct sim *sim)
{
    if (sim->options.ranks && !sim->left) {
        several_leave(sim);
    }
}

const struct sim_rank *sim_ranks(const struct sim *sim, unsigned *count)
{
    *count = sim->options.ranks ? sim->options.ranks->count : 0;
    return sim->ended;
}

int sim_node_status(const struct sim *sim, uint32_t rank)
{
    const struct task *task = &sim->tasks[rank];

    return task->state == TASK_ENDED ? task->status : E_TIMEOUT;
}

bool sim_node_dead(const struct sim *sim, uint32_t rank)
{
    return sim->actors[rank].dead;
}

struct traffic_port sim_traffic(const struct sim *sim, uint32_t rank, unsigned port)
{
    if (sim_is_far(sim, rank)) {
        return sim->far_links[rank * (sim_network(sim)->ports + 1u) + port];
    }
    return report_port(sim_node(sim, rank), port);
}

unsigned sim_node_ports(const struct sim *sim, uint32_t rank)
{
    if (sim_is_far(sim, rank)) {
        const struct network *network = sim_network(sim);
        return network->ports + (network_host_link_of(network, rank) >= 0 ? 1u : 0u);
    }
    return sim_node(sim, rank)->router.port_count;
}

uint64_t sim_node_clock_ns(const struct sim *sim, uint32_t rank)
{
    if (sim_is_far(sim, rank)) {
        return sim->far_clocks[rank];
    }
    return sim_node(sim, rank)->clock_ns;
}

bool sim_node_given_up(const struct sim *sim, uint32_t rank)
{
    return sim->actors[rank].given_up;
}

enum sim_phase sim_phase(const struct sim *sim)
{
    return (enum sim_phase)sim->phase;
}

uint64_t sim_quiet_ns(const struct sim *sim)
{
    return sim->wall_ns - sim->progress_ns;
}

const char *sim_progress(const struct sim *sim, uint32_t *done, uint32_t *total)
{
    static const char *const names[] = {"boot", "download", "run"};

    *total = sim->count;
    *done = sim->phase == SIM_BOOT       ? sim->host.links_reported
            : sim->phase == SIM_DOWNLOAD ? sim->host.receipts
                                         : sim->count - sim->running;
    return names[sim->phase];
}
