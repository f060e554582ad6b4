/*
 * memory.c - where everything lies: one mapping, zeroed by the system, so that what is never
 * touched costs nothing.
 *
 *   nodes | ends | actors | tasks | controller | counts | counters of links, if wanted | pools |
 *   arguments 0, table 0, image 0, block 0, map 0, passed on 0, data 0 | arguments 1, ... |
 *   window of each partition
 *
 * A node's free memory begins behind its map. There a download leaves the list and the blocks of
 * the nodes that this one serves: those of all nodes at node 0, none at nodes that serve nobody. So
 * nodes have areas of different sizes. When contents are not kept, data lies in a window that all
 * nodes of a partition share: programs move bytes, nobody looks at them. All of a window is the
 * same small piece of memory, seen again and again, so it stays in the cache.
 */
#include "sim/core/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "controller/controller.h"
#include "drivers/check.h"
#include "network/network.h"
#include "node/node.h"
#include "node/state.h"
#include "router/link_counters.h"
#include "sim/core/actor.h"
#include "sim/core/partition.h"
#include "sim/observe/trace.h"
#include "sim/programs/native.h"
#include "sim/programs/plans.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"
#include "wire/load.h"
#include "wire/run.h"

/* Up to so many nodes large pages are worth more than the untouched memory in them. */
enum { HUGE_PAGES_NODES = 4096 };

enum {
    FOLD_BYTES = 16 * 1024, /* of a window, at least: the memory that it is */
    FOLDS_MAX = 256         /* the system does not take any number of mappings */
};

static const uint64_t windows_max = UINT64_C(3000000000);

/* To a cache line. */
static uint64_t align(uint64_t bytes)
{
    return (bytes + 63) & ~UINT64_C(63);
}

static uint64_t align_to(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

static uint32_t image_max(const struct sim_options *options)
{
    uint32_t bytes = options->image_bytes;

    if (options->scenario == SIM_LOAD) {
        for (unsigned i = 0; i < options->size_count; i++) {
            if (options->sizes[i] > bytes) {
                bytes = options->sizes[i];
            }
        }
    }
    return bytes;
}

/* Room for the list of a load, and for the private blocks of the nodes that are served through a
 * node. */
static uint64_t passed_on_bytes(const struct network *network, uint32_t rank)
{
    return align(load_list_bytes(SCENARIO_PROGRAMS, scenario_segments(network)) +
                 BLOCK_BYTES * (uint64_t)(network_block_of(network, rank) - 1));
}

/* Where a scenario's program lies: its memory is no larger than it must be, so what ends on a page
 * is its end. */
static void place_addresses(struct layout *layout, const struct sim_options *options)
{
    uint64_t map = options->network.map ? align(load_map_bytes(options->network.nodes)) : 0;
    uint64_t image = layout->image_room + align(BLOCK_BYTES) + map;
    uint64_t before = ARGUMENTS_BYTES + align(scenario_table_bytes(options));

    layout->top =
        (uint32_t)align_to(PROGRAM_ADDRESS + before + image, (uint64_t)PROTECTED_PAGE_BYTES);
    layout->map_address = layout->top - (uint32_t)map;
    layout->block_address = layout->map_address - (uint32_t)align(BLOCK_BYTES);
    layout->image_address = layout->top - (uint32_t)image;
    layout->program_address = layout->image_address - (uint32_t)before;
}

static uint64_t area_bytes(const struct layout *layout, const struct sim_options *options,
                           uint32_t rank)
{
    uint64_t data = layout->checked ? scenario_bytes(options, rank) : 0;

    if (options->native) {
        return 0; /* it has a window */
    }
    return layout->top - layout->program_address + passed_on_bytes(&options->network, rank) +
           align(data);
}

static uint64_t fixed_bytes(const struct layout *layout, uint32_t count)
{
    uint64_t each = layout->node_bytes + node_pool_bytes() + sizeof(struct actor) +
                    sizeof(struct task) + 3 * sizeof(uint32_t);

    return count * each + layout->ends_bytes + layout->controller_bytes + layout->counters_bytes;
}

/* All windows must lie within the reach of a node's addresses. */
static unsigned partitions_fitting(const struct sim_options *options, const struct layout *layout)
{
    unsigned partitions = partitions_count(options);

    while (partitions > 1 &&
           layout->program_bytes + partitions * layout->window_bytes > windows_max) {
        partitions--;
    }
    return partitions;
}

struct layout layout_make(const struct sim_options *options, bool checked)
{
    const struct network *network = &options->network;
    uint32_t count = network->nodes;
    size_t ports = network->ports, links = ports + 1;
    struct layout layout = {.checked = checked};

    if (!options->native) {
        layout.image_room = (uint32_t)align(image_max(options));
        place_addresses(&layout, options);
    }
    layout.memory_bytes =
        align(node_memory_bytes((unsigned)links, RING_PLACES) - node_pool_bytes());
    layout.ports_at = align(node_bytes()) + align(links * sizeof(void *));
    layout.node_bytes = layout.ports_at + layout.memory_bytes;
    layout.controller_bytes = align(controller_memory_bytes(network));
    layout.counters_bytes = options->links ? count * links * sizeof(struct link_counters) : 0;
    layout.ends_bytes = (count * ports + 2 * network_host_links(network)) * sizeof(struct sim_end);
    for (uint32_t rank = 0; rank < count; rank++) {
        layout.program_bytes += area_bytes(&layout, options, rank);
        if (!checked && scenario_bytes(options, rank) > layout.window_bytes) {
            layout.window_bytes = align_to(scenario_bytes(options, rank), FOLD_BYTES);
        }
    }
    layout.partitions = partitions_fitting(options, &layout);
    layout.total_bytes = fixed_bytes(&layout, count) + layout.program_bytes +
                         layout.partitions * layout.window_bytes;
    return layout;
}

uint64_t sim_data_bytes(const struct sim_options *options)
{
    uint64_t most = 0;

    for (uint32_t rank = 0; rank < options->network.nodes; rank++) {
        uint64_t bytes = scenario_bytes(options, rank);
        most = bytes > most ? bytes : most;
    }
    return most;
}

uint64_t sim_need(const struct sim_options *options, enum sim_contents contents)
{
    return layout_make(options, contents == SIM_CHECKED).total_bytes;
}

static void *take(uint8_t **at, uint64_t bytes)
{
    void *taken = *at;

    *at += align(bytes);
    return taken;
}

/* The memory of a scenario's program. */
static void place_program(struct sim *sim, uint32_t rank, uint8_t *area, uint8_t *window,
                          struct node_config *config)
{
    const struct layout *layout = &sim->layout;
    uint64_t data = scenario_bytes(&sim->options, rank);
    uint64_t own = area_bytes(layout, &sim->options, rank) - (layout->checked ? align(data) : 0);
    struct task *task = &sim->tasks[rank];

    task->data = layout->checked ? area + own : window;
    uint64_t data_offset = (uint64_t)(task->data - area);
    CHECK(data_offset + data < UINT32_MAX - layout->program_address);
    task->data_bytes = (uint32_t)data;
    task->data_address = layout->program_address + (uint32_t)data_offset;
    config->program = area;
    config->program_address = config->stack_top = layout->program_address;
    config->program_bytes = (uint32_t)(data_offset + data);
    config->image_address = layout->image_address;
    config->preload = &sim->options.plans->preload;
}

static void place_node(struct sim *sim, uint32_t rank, uint8_t *area, uint8_t *window)
{
    struct node *node = sim_node(sim, rank);
    uint8_t *rest = (uint8_t *)node + align(node_bytes());
    const struct network *network = sim_network(sim);
    unsigned links = network->ports + (network_host_link_of(network, rank) >= 0 ? 1u : 0u);
    struct link **list = take(&rest, (network->ports + 1u) * sizeof *list);

    for (unsigned p = 0; p < links; p++) {
        list[p] = &sim_end_at(sim, rank, p)->link;
    }
    struct node_config config = {.links = list,
                                 .link_count = links,
                                 .memory = rest,
                                 .pool = sim->pools + rank * node_pool_bytes(),
                                 .ring = RING_PLACES,
                                 .links_due = &sim->actors[rank].links_due,
                                 .payload_checked = sim->options.payload_checked};
    if (sim->link_counters) {
        config.link_counters = &sim->link_counters[rank * (network->ports + 1u)];
    }
    if (sim->native) {
        native_place(sim, rank, &config);
    } else {
        place_program(sim, rank, area, window, &config);
    }
    trace_place(sim, rank, &config);
    node_init(node, &config);
    trace_begin_node(sim, rank);
    CHECK(node->router.ports == sim_ports(sim, rank));
}

/* The areas of the nodes, and behind them the windows. */
static uint8_t *areas(const struct sim *sim)
{
    uint8_t *at = sim->pools + sim->count * node_pool_bytes();

    return (uint8_t *)(uintptr_t)align((uintptr_t)at);
}

static uint8_t *window_of(const struct sim *sim, unsigned partition)
{
    uintptr_t first = align_to((uintptr_t)areas(sim) + sim->layout.program_bytes, FOLD_BYTES);

    return (uint8_t *)first + partition * sim->layout.window_bytes;
}

/* Makes all of a window the same memory; false when the system does not do it. */
static bool fold(uint8_t *window, uint64_t bytes)
{
    uint64_t piece = align_to((bytes + FOLDS_MAX - 1) / FOLDS_MAX, FOLD_BYTES);
    int file = memfd_create("ecube-window", MFD_CLOEXEC);
    bool good = file >= 0 && ftruncate(file, (off_t)piece) == 0;

    for (uint64_t at = 0; good && at < bytes; at += piece) {
        uint64_t left = bytes - at < piece ? bytes - at : piece;
        good = mmap(window + at, left, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) !=
               MAP_FAILED;
    }
    if (file >= 0) {
        close(file);
    }
    return good;
}

/* Where frames are checked, what is in them counts. */
static void note_unseen(struct sim *sim)
{
    if (sim->options.payload_checked) {
        return;
    }
    sim->unseen = window_of(sim, 0);
    sim->unseen_bytes = sim->layout.partitions * sim->layout.window_bytes;
}

bool memory_map(struct sim *sim)
{
    const struct layout *layout = &sim->layout;
    uint32_t count = sim->count;

    sim->map_bytes = layout->total_bytes + 4096 + FOLD_BYTES;
    sim->map = mmap(NULL, sim->map_bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (sim->map == MAP_FAILED) {
        return false;
    }
    uint8_t *at = sim->map;
    sim->nodes = take(&at, count * layout->node_bytes);
    sim->ends = take(&at, layout->ends_bytes);
    sim->actors = take(&at, (count + 1) * sizeof *sim->actors);
    sim->tasks = take(&at, count * sizeof *sim->tasks);
    sim->host.memory = take(&at, layout->controller_bytes);
    sim->expected = take(&at, count * sizeof *sim->expected);
    sim->ready = take(&at, 2 * count * sizeof *sim->ready);
    sim->link_counters = layout->counters_bytes ? take(&at, layout->counters_bytes) : NULL;
    sim->pools = at; /* not in large pages: few nodes use them */
    if (sim->count <= HUGE_PAGES_NODES) {
        madvise(sim->map, (size_t)(at - (uint8_t *)sim->map), MADV_HUGEPAGE);
    }
    for (unsigned partition = 0; partition < layout->partitions && layout->window_bytes;
         partition++) {
        if (!fold(window_of(sim, partition), layout->window_bytes)) {
            memory_unmap(sim);
            return false;
        }
    }
    note_unseen(sim);
    return true;
}

void memory_place(struct sim *sim, unsigned partition)
{
    const struct layout *layout = &sim->layout;
    uint8_t *area = areas(sim), *window = window_of(sim, partition - sim->own_first);

    for (uint32_t rank = 0; rank < sim->partitions[partition].end; rank++) {
        uint64_t bytes = area_bytes(layout, &sim->options, rank);
        if (rank >= sim->partitions[partition].first) {
            place_node(sim, rank, area, window);
        }
        area += bytes;
    }
}

void memory_unmap(struct sim *sim)
{
    munmap(sim->map, sim->map_bytes);
}
