/*
 * host.c - the owner of the controller in a simulation: its time, its programs, its user.
 *
 * Events are taken as the tool takes them. What they say of a failure becomes troubles of the
 * result; a machine that is broken is told to stop, and programs that STOP does not reach in
 * GIVE_UP_MS have lost their way to the host.
 *
 * The controller is told that time has passed only when nothing has moved for QUIET_MS: a run
 * without faults has no event more for it.
 */
#include "sim/core/host.h"

#include <nettle/sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/cables.h"
#include "controller/words.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "sim/core/actor.h"
#include "sim/core/fault.h"
#include "sim/core/loop.h"
#include "sim/core/memory.h"
#include "sim/observe/trace.h"
#include "sim/core/partition.h"
#include "sim/programs/native.h"
#include "sim/programs/program.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/random.h"
#include "sim/core/several.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"
#include "sim/observe/waits.h"
#include "wire/load.h"
#include "wire/gather.h"
#include "wire/run.h"

enum {
    PATIENCE_MS = 15000, /* of the controller, as the tool's */
    QUIET_MS = 1000,     /* without progress, after which time is counted, */
    PASS_MS = 100,       /* and how often */
    ASK_MS = 5000, /* of time that is counted, before nodes are asked: no circuit takes longer */
    GIVE_UP_MS = 20000,  /* from STOP until programs that cannot be reached are given up */
    NEXT_HOST_MS = 1000, /* from a host's death until the next one begins */
    CABLES_TOLD_MAX = 16,
    TOLD_LATE_MAX =
        CONSOLE_WINDOW / 4 /* bytes of text that were read and a node does not know of */
};

static const uint64_t ms_ns = 1000 * 1000;

static uint64_t now_us(const struct sim *sim)
{
    return sim->wall_ns / 1000;
}

/* Begins the boot; the host is another incarnation than the one before. */
static void begin_boot(struct sim *sim)
{
    struct host *host = &sim->host;
    struct controller_config config = {.links = host->links,
                                       .network = sim_network(sim),
                                       .profile = sim->options.profile,
                                       .paths = sim->options.paths,
                                       .payload_checked = sim->options.payload_checked,
                                       .incarnation = host->incarnation,
                                       .cache = sim->options.cache,
                                       .patience_us = PATIENCE_MS * UINT64_C(1000),
                                       .quiet_us = ASK_MS * UINT64_C(1000),
                                       .memory = host->memory};

    host->passed_ns = host->active_ns = sim->wall_ns;
    controller_init(&host->controller, &config, now_us(sim));
    trace_begin_host(sim);
}

static void fill_program(struct sim *sim)
{
    struct host *host = &sim->host;
    uint64_t seed = 1;

    for (uint32_t rank = 0; rank < sim->count; rank++) {
        block_pack(host->blocks + (size_t)rank * BLOCK_BYTES,
                   &(struct block_header){.rank = rank, .size = sim->count});
    }
    for (uint32_t i = 0; i < sim->layout.image_room; i++) {
        host->image[i] = (uint8_t)random_next(&seed);
    }
    if (host->map) {
        download_write_map(host->map, sim_network(sim));
    }
}

bool host_init(struct sim *sim)
{
    struct host *host = &sim->host;
    bool mapped = sim_network(sim)->map && !sim->options.native;

    host->blocks = calloc(sim->count, BLOCK_BYTES);
    host->texts = calloc(sim->count, sizeof *host->texts);
    host->image = malloc(sim->layout.image_room);
    host->digests = malloc((size_t)sim->count * DIGEST_BYTES);
    host->map = mapped ? calloc(1, load_map_bytes(sim->count)) : NULL;
    if (!host->blocks || !host->texts || !host->image || !host->digests || (mapped && !host->map)) {
        return false;
    }
    for (unsigned i = 0; i < network_host_links(sim_network(sim)); i++) {
        host->links[i] = &sim_host_end(sim, i)->link;
    }
    fill_program(sim);
    host->give_up_ns = UINT64_MAX;
    begin_boot(sim);
    return true;
}

uint64_t host_bytes(const struct sim *sim)
{
    return sim->layout.controller_bytes + sim->layout.image_room +
           sim->count * (uint64_t)(BLOCK_BYTES + sizeof *sim->host.texts + DIGEST_BYTES);
}

static void free_outputs(struct sim *sim)
{
    struct host *host = &sim->host;

    free(host->outputs.table);
    free(host->outputs.data);
    free(host->outputs.scratch);
    host->outputs = (struct controller_outputs){0};
}

void host_free(struct sim *sim)
{
    free(sim->host.blocks);
    free(sim->host.texts);
    free(sim->host.image);
    free(sim->host.map);
    free(sim->host.digests);
    free_outputs(sim);
}

static void enter(struct sim *sim, enum sim_phase phase)
{
    sim->phase = (uint8_t)phase;
    trace_phase(sim);
    sim->progress_ns = sim->got_on_ns = sim->wall_ns;
    if (phase <= sim->phase_latest) {
        return; /* that of a program that is loaded again */
    }
    sim->phase_latest = (uint8_t)phase;
    fault_phase(sim);
}

static void digest_of(const uint8_t *data, uint32_t bytes, uint8_t digest[DIGEST_BYTES])
{
    struct sha256_ctx sha;

    sha256_init(&sha);
    sha256_update(&sha, bytes, data);
    sha256_digest(&sha, DIGEST_BYTES, digest);
}

/* What nodes must answer, those of other processes too: the digests of their blocks. */
static void expect(void *context, unsigned share)
{
    const struct sim *sim = context;
    uint32_t first = (uint32_t)((uint64_t)sim->count * share / sim->own_count);
    uint32_t end = (uint32_t)((uint64_t)sim->count * (share + 1) / sim->own_count);

    for (uint32_t rank = first; rank < end; rank++) {
        digest_of(sim->host.blocks + (size_t)rank * BLOCK_BYTES, BLOCK_BYTES,
                  sim->host.digests[rank]);
    }
}

/* Half of the image is code, the rest constants, as far as that goes by pages; of a small one
 * nothing is protected. */
static void protect(struct load_program *program, uint32_t base, uint32_t bytes)
{
    const uint32_t pages = ~(uint32_t)(PROTECTED_PAGE_BYTES - 1);

    program->code_end = (base + bytes / 2) & pages;
    program->constants_end = (base + bytes) & pages;
    if (program->code_end <= base) {
        program->code_end = program->constants_end = base;
    }
}

/* Bytes of the list of a scenario's load. */
static uint32_t list_bytes(const struct sim *sim)
{
    return load_list_bytes(SCENARIO_PROGRAMS, scenario_segments(&sim->options.network));
}

/* The list of a scenario's load: an image for all, the private blocks, a map if there is one. */
static void fill_list(struct sim *sim, uint32_t bytes)
{
    const struct layout *layout = &sim->layout;
    struct load_program program = {.count = sim->count,
                                   .entry = layout->image_address,
                                   .bss_end = layout->image_address + bytes,
                                   .data_start = layout->top,
                                   .data_end = layout->top,
                                   .top = layout->top};
    struct load_segment image = {
        .count = sim->count, .address = layout->image_address, .bytes = bytes};
    struct load_segment block = {.count = sim->count,
                                 .address = layout->block_address,
                                 .bytes = BLOCK_BYTES,
                                 .step = BLOCK_BYTES,
                                 .flags = LOAD_BLOCK};
    struct load_segment map = {.count = sim->count,
                               .address = layout->map_address,
                               .bytes = load_map_bytes(sim->count),
                               .flags = LOAD_MAP};
    struct host *host = &sim->host;

    protect(&program, layout->image_address, bytes);
    load_list_pack(host->list, sim->count, SCENARIO_PROGRAMS,
                   scenario_segments(&sim->options.network));
    load_program_pack(host->list, 0, &program);
    load_segment_pack(host->list, SCENARIO_IMAGE, &image);
    load_segment_pack(host->list, SCENARIO_BLOCKS, &block);
    if (host->map) {
        load_segment_pack(host->list, SCENARIO_MAP, &map);
    }
    digest_of(host->list, list_bytes(sim), host->list_digest);
}

/* The program of a scenario: bytes that nobody executes. */
static void make_up(struct sim *sim, uint32_t bytes)
{
    struct host *host = &sim->host;

    fill_list(sim, bytes);
    host->strings[SCENARIO_IMAGE] = host->image;
    host->strings[SCENARIO_BLOCKS] = host->blocks;
    host->strings[SCENARIO_MAP] = host->map;
    host->segment_digests[SCENARIO_IMAGE] = (const uint8_t(*)[DIGEST_BYTES])host->image_digest;
    host->segment_digests[SCENARIO_BLOCKS] = (const uint8_t(*)[DIGEST_BYTES])host->digests;
    host->segment_digests[SCENARIO_MAP] = (const uint8_t(*)[DIGEST_BYTES])host->map_digest;
    host->load = (struct controller_load){
        .list = host->list,
        .list_bytes = list_bytes(sim),
        .list_digest = host->list_digest,
        .strings = host->strings,
        .digests = host->segment_digests,
        .messages = host->messages,
        .count = download_decremental(sim_network(sim), sim->options.download_x, host->messages)};
    sim->crowded = true;
    digest_of(host->image, bytes, host->image_digest[0]);
    if (host->map) {
        digest_of(host->map, load_map_bytes(sim->count), host->map_digest[0]);
    }
    sim_all_partitions(sim, expect);
}

/* False: the controller takes no program now. */
static bool load(struct sim *sim, uint32_t bytes)
{
    struct host *host = &sim->host;

    if (!sim->native) {
        make_up(sim, bytes);
    } else if (native_unload(sim)) {
        host->load = sim->options.native->download;
    } else {
        return false;
    }
    if (controller_load(&host->controller, &host->load, now_us(sim)) != CONTROLLER_OK) {
        return false;
    }
    memset(host->texts, 0, sim->count * sizeof *host->texts);
    host->receipts = 0;
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        sim->actors[rank].receipted = false;
    }
    return true;
}

/* The bytes of the image that is loaded next. */
static uint32_t next_bytes(const struct sim *sim)
{
    const struct sim_options *options = &sim->options;

    return options->scenario == SIM_LOAD ? options->sizes[sim->result.line_count]
                                         : options->image_bytes;
}

static void begin_download(struct sim *sim)
{
    enter(sim, SIM_DOWNLOAD);
    CHECK(load(sim, next_bytes(sim)));
}

/* Programs begin, also those whose nodes have had one before. */
static void begin_tasks(struct sim *sim)
{
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        const struct task *before = &sim->tasks[rank];
        if (sim->actors[rank].dead) {
            continue;
        }
        sim->tasks[rank] = (struct task){.data = before->data,
                                         .data_address = before->data_address,
                                         .data_bytes = before->data_bytes,
                                         .wake_ns = UINT64_MAX};
        sim->actors[rank].polls = false;
    }
    for (unsigned i = 0; i < sim->partition_count; i++) {
        memset(sim->partitions[i].lines, 0, sizeof sim->partitions[i].lines);
    }
    memset(sim->result.lines, 0, sizeof sim->result.lines);
    memset(sim->expected, 0, sim->count * sizeof *sim->expected);
    sim->result.line_count = 0;
    sim->running = sim->count - sim->deaths;
}

static void begin_run(struct sim *sim)
{
    struct host *host = &sim->host;

    if (host->again == AGAIN_LOADED) {
        begin_tasks(sim);
    }
    sim->result.clock_base_ns = host->end_ns;
    if (scenario_sends(sim->options.scenario)) {
        messages_prepare(sim);
    }
    sim->pause = true;
    enter(sim, SIM_RUN);
    controller_run(&host->controller, now_us(sim));
}

static void add_download_line(struct sim *sim)
{
    const struct host *host = &sim->host;
    uint32_t bytes = next_bytes(sim);
    struct sim_line *line = &sim->result.lines[sim->result.line_count++];

    *line = (struct sim_line){.bytes = bytes,
                              .steps = network_halvings(sim_network(sim)),
                              .nodes = sim->count,
                              .start_ns = host->base_ns,
                              .model_ns = host->end_ns - host->base_ns};
    trace_measured(sim, sim->result.line_count - 1);
}

/* Of a size: the next one follows. */
static void measure_download(struct sim *sim)
{
    add_download_line(sim);
    sim->pause = true;
    if (sim->result.line_count == sim->options.size_count) {
        sim_end(sim, sim->result.trouble_count ? SIM_ERROR : SIM_GOOD);
    } else {
        CHECK(load(sim, next_bytes(sim)));
    }
}

/* Loads the program that was stopped, when it may. */
static void load_again(struct sim *sim)
{
    struct host *host = &sim->host;

    if (host->again != AGAIN_WANTED || !load(sim, next_bytes(sim))) {
        return;
    }
    host->again = AGAIN_LOADED;
    enter(sim, SIM_DOWNLOAD);
}

/* All nodes have what they were sent. */
static void take_loaded(struct sim *sim, const struct controller_event *event)
{
    struct host *host = &sim->host;
    struct sim_result *result = &sim->result;

    host->base_ns = event->base_ns;
    host->end_ns = event->model_ns;
    if (host->again == AGAIN_WANTED) {
        controller_stop(&host->controller, now_us(sim));
        load_again(sim);
        return;
    }
    result->download_ns = host->end_ns - host->base_ns;
    result->download_bytes = host->controller.given_bytes;
    result->download_sends = host->load.count;
    result->repaired = event->repaired;
    result->receipts = host->receipts;
    if (sim->options.scenario == SIM_LOAD) {
        measure_download(sim);
    } else {
        begin_run(sim);
    }
}

/* What a fault of a cable is called, and about whom. */
static struct sim_about about_cable(const struct cable_fault *fault)
{
    if (fault->kind == CABLE_NODE_SILENT) {
        return about_node(SIM_TROUBLE_NODE_SILENT, fault->node);
    }
    if (fault->kind == CABLE_HOST_MISSING) {
        return about_node(SIM_TROUBLE_LINK_MISSING, fault->node);
    }
    return about_link(SIM_TROUBLE_LINK_MISSING, fault->node, fault->peer);
}

static void tell_event(struct sim *sim, struct sim_about about,
                       const struct controller_event *event)
{
    char text[WORDS_MAX];

    if (words_of_event(&sim->host.controller, event, text)) {
        sim_trouble(sim, about, "%s", text);
    }
}

static void tell_boot(struct sim *sim, const struct controller_event *event)
{
    struct cable_fault faults[CABLES_TOLD_MAX];
    unsigned count = cables_find(&sim->host.controller, faults, CABLES_TOLD_MAX);
    char text[WORDS_MAX];

    for (unsigned i = 0; i < count && i < CABLES_TOLD_MAX; i++) {
        words_of_cable(&faults[i], text);
        sim_trouble(sim, about_cable(&faults[i]), "%s", text);
    }
    tell_event(sim, about(SIM_TROUBLE_BOOT_FAILED), event);
}

static void tell_load(struct sim *sim, const struct controller_event *event)
{
    static const uint8_t kinds[] = {[LOAD_SILENT] = SIM_TROUBLE_NODE_SILENT,
                                    [LOAD_REFUSED] = SIM_TROUBLE_DOWNLOAD_REFUSED,
                                    [LOAD_ERROR] = SIM_TROUBLE_DOWNLOAD_FAILED,
                                    [LOAD_WRONG] = SIM_TROUBLE_DOWNLOAD_WRONG};

    tell_event(sim,
               about_error((enum sim_trouble_kind)kinds[event->reason], event->rank, event->status),
               event);
    if (event->reason == LOAD_WRONG) {
        sim_end(sim, SIM_WRONG);
    }
}

static void tell_link(struct sim *sim, const struct controller_event *event)
{
    struct sim_about about = about_link(SIM_TROUBLE_LINK_DIED, event->rank, event->peer);

    if (event->peer == ID_HOST) {
        about = about_node(SIM_TROUBLE_HOST_LINK_DIED, event->rank);
    } else if (event->peer >= sim->count) {
        about = about_node(SIM_TROUBLE_LINK_DIED, event->rank);
    }
    tell_event(sim, about, event);
}

/* Of two nodes, or of one that could not go on. */
static void tell_disagreement(struct sim *sim, const struct controller_event *event)
{
    tell_event(sim,
               event->status == E_MISMATCH
                   ? about_link(SIM_TROUBLE_DISAGREE, event->rank, event->peer)
                   : about_error(SIM_TROUBLE_COLLECTIVE_FAILED, event->rank, event->status),
               event);
}

void host_tell_links(struct sim *sim)
{
    const struct controller *controller = &sim->host.controller;

    for (unsigned i = controller->dead_links_reported; i < controller->dead_link_count; i++) {
        const struct controller_dead_link *link = &controller->dead_links[i];
        tell_link(sim, &(struct controller_event){.kind = EVENT_LINK_DIED,
                                                  .phase = controller->phase,
                                                  .rank = link->node,
                                                  .peer = link->peer,
                                                  .reason = link->reason});
    }
}

void host_ask(struct sim *sim)
{
    controller_ask(&sim->host.controller, now_us(sim));
    sim_wake(sim, sim->count);
}

void host_tell_stands(struct sim *sim)
{
    tell_event(sim, about(SIM_TROUBLE_NO_PROGRESS),
               &(struct controller_event){.kind = EVENT_ENDED,
                                          .reason = ENDED_STANDS,
                                          .done = sim->host.controller.ended});
    sim_tell_waits(sim);
}

static void name_failures(struct sim *sim)
{
    for (uint32_t rank = 0; rank < sim->count && !sim->native; rank++) {
        const struct task *task = &sim->tasks[rank];
        if (task->status < 0 && task->status != E_CANCELLED && !sim->actors[rank].dead) {
            sim_trouble(sim, about_error(SIM_TROUBLE_PROGRAM_FAILED, rank, task->status),
                        "node %u: %s", rank, status_text(task->status));
        }
    }
}

/* A scenario has none that it could do anything about; people's programs may be given an error and
 * end well. */
static bool is_failed(const struct sim *sim)
{
    return sim->deaths ||
           (sim->native ? sim->host.controller.broken : sim->result.trouble_count > 0);
}

/* The run is over, but for what its programs have left. */
static void end(struct sim *sim, enum sim_verdict verdict)
{
    struct host *host = &sim->host;

    host->stopping = false;
    host->give_up_ns = UINT64_MAX;
    if (!sim->options.outputs || host->gathers ||
        controller_gather(&host->controller, now_us(sim)) != CONTROLLER_OK) {
        sim_end(sim, verdict);
        return;
    }
    host->gathers = true;
    host->verdict = (uint8_t)verdict;
    sim_wake(sim, sim->count);
}

/* All that nodes have to send has memory; or none of it. */
static void take_measured(struct sim *sim, const struct controller_event *event)
{
    struct host *host = &sim->host;
    uint64_t bytes = event->gather.bytes;

    free_outputs(sim);
    host->outputs =
        (struct controller_outputs){.table = calloc(sim->count, OUTPUT_ROW_BYTES),
                                    .data = bytes < SIZE_MAX ? malloc((size_t)bytes + 1) : NULL,
                                    .scratch = malloc(gather_scratch_bytes(sim_network(sim)))};
    if (host->outputs.table && host->outputs.data && host->outputs.scratch) {
        controller_collect(&host->controller, &host->outputs, now_us(sim));
    } else {
        controller_stop(&host->controller, now_us(sim));
    }
    sim_wake(sim, sim->count);
}

static void take_gathered(struct sim *sim, const struct controller_event *event)
{
    struct host *host = &sim->host;

    host->left = (struct sim_outputs){.here = true,
                                      .bytes = event->gather.bytes,
                                      .table = host->outputs.table,
                                      .data = host->outputs.data,
                                      .model_ns = event->model_ns - event->base_ns,
                                      .predicted_ns = event->gather.predicted_ns};
    sim_end(sim, (enum sim_verdict)host->verdict);
}

/* The programs have ended: says what is wrong with them. */
static void finish(struct sim *sim)
{
    uint64_t wrong = 0;

    for (unsigned i = 0; i < sim->result.line_count; i++) {
        wrong += sim->result.lines[i].wrong;
    }
    name_failures(sim);
    end(sim, sim->host.stands ? SIM_STUCK
             : wrong          ? SIM_WRONG
             : is_failed(sim) ? SIM_ERROR
                              : SIM_GOOD);
}

/* Nodes that STOP does not reach have lost their way to the host. */
static void give_up(struct sim *sim)
{
    if (sim->options.ranks) {
        several_give_up(sim);
    }
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        if (sim->tasks[rank].state == TASK_ENDED) {
            continue;
        }
        sim_trouble(sim, about_node(SIM_TROUBLE_NODE_UNREACHABLE, rank),
                    "node %u waits, and the host cannot reach it", rank);
        sim->actors[rank].given_up = true;
        if (sim_is_far(sim, rank)) { /* its own process counts it */
            sim->tasks[rank].state = TASK_ENDED;
            sim->tasks[rank].status = E_LINK_DEAD;
        } else {
            program_over(sim, rank, E_LINK_DEAD);
        }
    }
}

/* The programs are told to stop: the run is over when all have, or are given up. */
static void begin_stopping(struct sim *sim)
{
    sim->host.stopping = true;
    sim->host.give_up_ns = sim->wall_ns + GIVE_UP_MS * ms_ns;
}

/* A phase is over because the machine is broken. */
static void take_broken(struct sim *sim, const struct controller_event *event)
{
    struct host *host = &sim->host;

    if (host->stopping) {
        return; /* more has died */
    }
    if (event->phase != PHASE_RUN) {
        sim_end(sim, SIM_ERROR);
        return;
    }
    trace_close(sim);
    controller_stop(&host->controller, now_us(sim));
    begin_stopping(sim);
}

static void take_ended(struct sim *sim, const struct controller_event *event)
{
    if (event->reason != ENDED_BY_ITSELF) {
        trace_close(sim);
    }
    switch (event->reason) {
    case ENDED_BY_ITSELF: finish(sim); break;
    case ENDED_STANDS:
        host_tell_stands(sim);
        if (sim->options.outputs) { /* the controller tells those that wait to stop */
            sim->host.stands = true;
            begin_stopping(sim);
        } else {
            sim_end(sim, SIM_STUCK);
        }
        break;
    case ENDED_ABORTED: /* the controller tells the others to stop */
        tell_event(sim, about_node(SIM_TROUBLE_ABORTED, event->rank), event);
        begin_stopping(sim);
        break;
    default: load_again(sim); break;
    }
}

static void moved(struct sim *sim, uint32_t *counted, uint32_t count)
{
    *counted = count;
    sim->progress_ns = sim->got_on_ns = sim->wall_ns;
}

/* Text is read as soon as it comes. A node is told in larger pieces: every note is a packet. */
static void take_text(struct sim *sim, const struct controller_event *event)
{
    struct host_text *text = &sim->host.texts[event->rank];

    text->taken += event->bytes;
    if (text->taken - text->told >= TOLD_LATE_MAX) {
        text->told = text->taken;
        controller_taken(&sim->host.controller, event->rank, text->taken);
        sim_wake(sim, sim->count);
    }
}

static void listen(const struct sim *sim, const struct controller_event *event)
{
    const struct sim_listener *listener = &sim->options.listener;

    if (listener->event) {
        listener->event(listener->context, &sim->host.controller, event);
    }
}

static void take_event(struct sim *sim, const struct controller_event *event)
{
    struct host *host = &sim->host;

    switch (event->kind) {
    case EVENT_BOOT_PROGRESS: moved(sim, &host->links_reported, event->done); break;
    case EVENT_BOOTED: begin_download(sim); break;
    case EVENT_BOOT_FAILED: tell_boot(sim, event); break;
    case EVENT_RECEIPT:
        sim->actors[event->rank].receipted = true;
        moved(sim, &host->receipts, event->done);
        break;
    case EVENT_LOADED: take_loaded(sim, event); break;
    case EVENT_LOAD_FAILED: tell_load(sim, event); break;
    case EVENT_DISAGREE: tell_disagreement(sim, event); break;
    case EVENT_NO_PLAN:
        tell_event(sim, about_error(SIM_TROUBLE_NO_PLAN, event->rank, event->status), event);
        break;
    case EVENT_ENDED: take_ended(sim, event); break;
    case EVENT_MEASURED: take_measured(sim, event); break;
    case EVENT_GATHER_PROGRESS: moved(sim, &host->outputs_here, event->done); break;
    case EVENT_GATHERED: take_gathered(sim, event); break;
    case EVENT_GATHER_FAILED:
        tell_event(sim, about_error(SIM_TROUBLE_OUTPUTS_FAILED, event->rank, event->status), event);
        if (event->phase == PHASE_READY) { /* else EVENT_BROKEN follows */
            sim_end(sim, SIM_ERROR);
        }
        break;
    case EVENT_STATE: sim->result.questions++; break;
    case EVENT_LINK_DIED: tell_link(sim, event); break;
    case EVENT_BROKEN: take_broken(sim, event); break;
    case EVENT_TEXT: take_text(sim, event); break;
    default: break; /* what the tool's user is shown */
    }
}

/* When the controller is told that time has passed, if nothing moves until then. */
static uint64_t pass_ns(const struct sim *sim)
{
    uint64_t quiet_ns = sim->progress_ns + QUIET_MS * ms_ns;

    return clock_max(quiet_ns, sim->host.passed_ns + PASS_MS * ms_ns);
}

/* Tells what the controller cannot see: that programs have moved, or that nothing has. */
static void pass_time(struct sim *sim)
{
    struct host *host = &sim->host;

    if (sim->progress_ns != host->active_ns) {
        host->active_ns = sim->progress_ns;
        controller_active(&host->controller);
    }
    if (sim->wall_ns < pass_ns(sim)) {
        return;
    }
    uint64_t since_ns = clock_max(sim->progress_ns, host->passed_ns);
    host->passed_ns = sim->wall_ns;
    controller_pass(&host->controller, (sim->wall_ns - since_ns) / 1000, now_us(sim));
}

/* The host is there again, or the next one is. */
static void come_back(struct sim *sim)
{
    struct host *host = &sim->host;

    host->away_ns = 0;
    host->passed_ns = sim->wall_ns;
    if (!host->dead) {
        controller_forgive(&host->controller, now_us(sim));
        return;
    }
    host->dead = host->gathers = host->stands = false;
    free_outputs(sim);
    host->incarnation++;
    for (unsigned i = 0; i < network_host_links(sim_network(sim)); i++) {
        sim_end_restart(sim_host_end(sim, i));
    }
    begin_boot(sim);
}

bool sim_time_out(struct sim *sim)
{
    struct host *host = &sim->host;

    if (host->dead || host->controller.phase != PHASE_RUN) {
        return false;
    }
    controller_time_out(&host->controller, now_us(sim));
    if (sim->options.ranks) {
        sim->host_due = true; /* the others must know of it before clocks move */
    } else {
        sim_wake(sim, sim->count);
    }
    return true;
}

/* The user tries to load a second program, which is refused, stops the first, and wants it again.
 */
static void cancel(struct sim *sim)
{
    struct host *host = &sim->host;
    struct controller_load other = host->load;
    bool boots = host->controller.phase == PHASE_BOOT;

    host->cancelled = false;
    if (host->stopping) {
        return;
    }
    enum controller_refusal refusal = controller_load(&host->controller, &other, now_us(sim));
    if (!host->controller.broken && refusal != (boots ? CONTROLLER_BOOTS : CONTROLLER_BUSY)) {
        sim_trouble(sim, about(SIM_TROUBLE_DOWNLOAD_FAILED),
                    "a second program was not refused as it should be (%d)", (int)refusal);
    }
    if (boots || host->controller.broken) {
        return;
    }
    host->again = AGAIN_WANTED;
    controller_stop(&host->controller, now_us(sim));
}

bool host_step(struct sim *sim)
{
    struct host *host = &sim->host;
    const struct controller_event *event;

    if (sim->wall_ns < host->away_ns) {
        return false;
    }
    if (host->away_ns) {
        come_back(sim);
    }
    if (host->cancelled) {
        cancel(sim);
    }
    pass_time(sim);
    bool more = controller_step(&host->controller, now_us(sim));
    while (!host->away_ns && (event = controller_event(&host->controller))) {
        if (sim->verdict == SIM_RUNS) { /* what is told later is too late */
            take_event(sim, event);
            listen(sim, event);
        }
    }
    trace_host(sim);
    if (host->controller.broken) {
        sim_note_trouble(sim);
    }
    if (sim->wall_ns >= host->give_up_ns) {
        give_up(sim);
    }
    if (host->stopping && sim->running == 0) {
        finish(sim);
    }
    return more;
}

struct sim_outputs sim_outputs(const struct sim *sim)
{
    return sim->host.left;
}

uint64_t host_deadline(const struct sim *sim)
{
    const struct host *host = &sim->host;
    uint64_t own_ns = pass_ns(sim);

    if (host->away_ns) {
        return (host->away_ns + 999) / 1000;
    }
    if (host->stopping) {
        own_ns = host->give_up_ns;
    }
    uint64_t own_us = (own_ns + 999) / 1000, deadline_us = controller_deadline(&host->controller);
    return own_us < deadline_us ? own_us : deadline_us;
}

void host_stop(struct sim *sim, uint64_t length_ns)
{
    struct host *host = &sim->host;

    if (!host->dead) {
        host->away_ns = clock_max(host->away_ns, sim->wall_ns + length_ns);
    }
    sim_wake(sim, sim->count);
}

void host_die(struct sim *sim, bool carrier_lost)
{
    struct host *host = &sim->host;

    if (host->dead) {
        return;
    }
    host->dead = true;
    host->away_ns = sim->wall_ns + NEXT_HOST_MS * ms_ns;
    for (unsigned i = 0; carrier_lost && i < network_host_links(sim_network(sim)); i++) {
        sim_end_cut(sim_host_end(sim, i));
    }
    sim_trouble(sim, about(SIM_TROUBLE_HOST_DIED), "the host died");
    sim_wake(sim, sim->count);
}

void host_cancel(struct sim *sim)
{
    sim->host.cancelled = true;
    sim_wake(sim, sim->count);
}
