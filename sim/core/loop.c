/*
 * loop.c - rounds, and the clocks between them.
 *
 * Two clocks run. Model time is how far the machine of the papers has come; a frame with an OPEN is
 * shown, and a program goes on, when it has come to theirs. Wall time is what the nodes' clocks
 * show; frames take some of it when links have delay, and protocol timers wait for it. They move
 * together, but for two cases: when nothing is left but wall events, model time stands still; and
 * while a frame is withheld for model time, at most two epochs of wall time pass, for its sender
 * counts the time until it is acknowledged. Clocks move when a round has left nothing to do at its
 * time.
 */
#include "sim/core/loop.h"

#include <stdarg.h>
#include <stdio.h>

#include "drivers/check.h"
#include "sim/core/actor.h"
#include "sim/core/host.h"
#include "sim/observe/trace.h"
#include "sim/core/partition.h"
#include "sim/core/several.h"
#include "sim/parallel/worker_pool.h"
#include "sim/programs/native.h"
#include "sim/programs/program.h"
#include "sim/programs/scenario_program.h"
#include "sim/core/state.h"
#include "sim/observe/waits.h"

enum { CROWD = 32 /* nodes and events of a round, from which on threads are worth it */ };

static const uint64_t answers_ns = UINT64_C(2000000000); /* in which nodes answer the host */

void sim_end(struct sim *sim, enum sim_verdict verdict)
{
    if (sim->verdict == SIM_RUNS) {
        sim->verdict = (uint8_t)verdict;
    }
}

/* Events before those of what was sent in this round. */
static uint64_t events_acted(const struct sim *sim)
{
    uint64_t events = 0;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        events += sim->partitions[i].acted;
    }
    return events;
}

const char *sim_trouble_name(enum sim_trouble_kind kind)
{
    static const char *const names[SIM_TROUBLE_KINDS] = {
        [SIM_TROUBLE_NODE_DIED] = "node-died",
        [SIM_TROUBLE_NODE_SILENT] = "node-silent",
        [SIM_TROUBLE_NODE_UNREACHABLE] = "node-unreachable",
        [SIM_TROUBLE_LINK_MISSING] = "link-missing",
        [SIM_TROUBLE_LINK_DIED] = "link-died",
        [SIM_TROUBLE_HOST_LINK_DIED] = "host-link-died",
        [SIM_TROUBLE_DOWNLOAD_FAILED] = "download-failed",
        [SIM_TROUBLE_DOWNLOAD_WRONG] = "download-wrong",
        [SIM_TROUBLE_DOWNLOAD_REFUSED] = "download-refused",
        [SIM_TROUBLE_DISAGREE] = "collectives-disagree",
        [SIM_TROUBLE_COLLECTIVE_FAILED] = "collective-failed",
        [SIM_TROUBLE_NO_PLAN] = "no-plan",
        [SIM_TROUBLE_PROGRAM_FAILED] = "program-failed",
        [SIM_TROUBLE_ABORTED] = "aborted",
        [SIM_TROUBLE_BOOT_FAILED] = "boot-failed",
        [SIM_TROUBLE_HOST_DIED] = "host-died",
        [SIM_TROUBLE_NO_PROGRESS] = "no-progress",
        [SIM_TROUBLE_WAITS] = "waits",
        [SIM_TROUBLE_NO_MEMORY] = "out-of-memory",
        [SIM_TROUBLE_OUTPUTS_FAILED] = "outputs-failed"};

    return names[kind];
}

void sim_note_trouble(struct sim *sim)
{
    if (!sim->result.trouble_event && !sim->result.trouble_count) {
        sim->result.trouble_event = sim->host_acts ? events_acted(sim) : sim_events(sim);
    }
}

void sim_trouble(struct sim *sim, struct sim_about about, const char *format, ...)
{
    struct sim_result *result = &sim->result;
    va_list arguments;

    sim_note_trouble(sim);
    if (result->trouble_count++ >= SIM_TROUBLES_MAX) {
        return;
    }
    result->abouts[result->trouble_count - 1] = about;
    va_start(arguments, format);
    vsnprintf(result->troubles[result->trouble_count - 1], SIM_TEXT_MAX, format, arguments);
    va_end(arguments);
}

/* What could not be kept is lost, so the run ends here. */
static void no_memory(struct sim *sim)
{
    uint64_t bytes = sim->layout.total_bytes;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        bytes += sim->partitions[i].pool.bytes;
    }

    if (sim->verdict == SIM_RUNS && sim->native) {
        sim_trouble(sim, about(SIM_TROUBLE_NO_MEMORY),
                    "out of memory: nodes and programs have taken nearly all of %.1f GB: simulate "
                    "fewer nodes, or let programs take less",
                    (double)sim->options.native->memory_max / 1e9);
    } else if (sim->verdict == SIM_RUNS) {
        sim_trouble(sim, about(SIM_TROUBLE_NO_MEMORY),
                    "out of memory: %.0f MB are taken, and more frames are under way: simulate a "
                    "smaller cube, or fewer bytes",
                    (double)bytes / 1e6);
    }
    sim_end(sim, SIM_NO_MEMORY);
}

void sim_look(struct sim *sim, uint32_t actor)
{
    if (actor == sim->count) {
        sim->host_ready = true;
    } else {
        partition_make_ready(sim_partition(sim, actor), actor);
    }
}

void sim_wake(struct sim *sim, uint32_t actor)
{
    struct actor *a = &sim->actors[actor];

    if (a->queued || a->dead) {
        return;
    }
    a->queued = true;
    if (a->slow_ns) {
        partition_at_wall(sim_partition(sim, actor), sim->wall_ns + a->slow_ns, DUE_LOOK, actor);
    } else {
        sim_look(sim, actor);
    }
}

/* What the nodes of all partitions have measured of one size. */
static void merge_line(struct sim *sim, unsigned size)
{
    struct sim_line *line = &sim->result.lines[size];
    bool complete = line->nodes == sim->count;

    *line = (struct sim_line){0};
    for (unsigned i = 0; i < sim->partition_count; i++) {
        const struct sim_line *partition = &sim->partitions[i].lines[size];
        line->bytes = partition->nodes ? partition->bytes : line->bytes;
        line->steps = partition->steps > line->steps ? partition->steps : line->steps;
        line->start_ns = clock_max(line->start_ns, partition->start_ns);
        line->model_ns = clock_max(line->model_ns, partition->model_ns);
        line->wrong += partition->wrong;
        line->nodes += partition->nodes;
    }
    scenario_predict(&sim->options, size, line);
    if (line->nodes && sim->result.line_count <= size) {
        sim->result.line_count = size + 1;
    }
    if (line->nodes == sim->count && !complete) {
        sim->pause = true;
        trace_measured(sim, size);
    }
}

/* What the partitions have done is known to all. */
static void merge(struct sim *sim)
{
    uint32_t ended = 0;
    bool measured = false;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        struct partition *partition = &sim->partitions[i];
        if (partition->got_on) {
            sim->got_on_ns = sim->wall_ns;
            sim->asked = false;
        }
        if (partition->moved || partition->got_on) {
            sim->progress_ns = sim->wall_ns;
        }
        if (partition->no_memory) {
            no_memory(sim);
        }
        measured |= partition->measured;
        ended += partition->ended;
        if (partition->moved || partition->got_on || partition->measured ||
            partition->ended) { /* else the line stays as it is */
            partition->moved = partition->got_on = partition->measured = false;
            partition->ended = 0;
        }
    }
    for (unsigned size = 0; measured && size < sim->options.size_count; size++) {
        merge_line(sim, size);
    }
    sim->running -= ended;
    if (ended && sim->running == 0) {
        sim_wake(sim, sim->count);
    }
}

/* The halves of a round, as a worker pool does them. */
static void act(void *context, unsigned share)
{
    partition_act(sim_own(context, share));
}

static void meet(void *context, unsigned share)
{
    partition_meet(sim_own(context, share));
}

void sim_all_partitions(struct sim *sim, worker_pool_work *work)
{
    if (sim->workers && sim->crowded) {
        worker_pool_run(sim->workers, work, sim);
        return;
    }
    for (unsigned i = 0; i < sim->own_count; i++) {
        work(sim, i);
    }
}

static void step_host(struct sim *sim)
{
    struct actor *host = &sim->actors[sim->count];

    if (!sim->host_ready) {
        return;
    }
    sim->host_ready = host->queued = false;
    if (sim->own_first > 0) { /* it is rank 0's */
        several_hear(sim);
        return;
    }
    sim->host_acts = true;
    sim->partitions[0].steps++;
    bool more = host_step(sim);
    sim->host_acts = false;
    partition_arm(&sim->partitions[0], sim->count, host_deadline(sim));
    if (more) {
        sim_wake(sim, sim->count);
    }
    if (sim->options.ranks) {
        several_tell(sim);
    }
    for (unsigned i = 0; i < sim->own_count; i++) {
        partition_tell(sim_own(sim, i));
    }
}

static uint32_t ready_count(const struct sim *sim)
{
    uint32_t count = sim->host_ready;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        count += sim->partitions[i].ready_count;
    }
    return count;
}

/* The times of the next events of all partitions; UINT64_MAX: there is none. */
static void next_times(const struct sim *sim, uint64_t *model_ns, uint64_t *wall_ns)
{
    *model_ns = *wall_ns = UINT64_MAX;
    for (unsigned i = 0; i < sim->partition_count; i++) {
        const struct partition *partition = &sim->partitions[i];
        *model_ns = partition->model_ns < *model_ns ? partition->model_ns : *model_ns;
        *wall_ns = partition->wall_ns < *wall_ns ? partition->wall_ns : *wall_ns;
    }
}

static uint32_t withheld(const struct sim *sim, uint64_t odd)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        count += sim->partitions[i].withheld[odd];
    }
    return count;
}

/* How far wall time may go while frames are withheld. */
static uint64_t wall_limit(const struct sim *sim)
{
    uint64_t epoch = sim->wall_ns / HOLD_EPOCH_NS;

    if (withheld(sim, ~epoch & 1)) {
        return (epoch + 1) * HOLD_EPOCH_NS - 1;
    }
    if (withheld(sim, epoch & 1)) {
        return (epoch + 2) * HOLD_EPOCH_NS - 1;
    }
    return UINT64_MAX;
}

/* The controller finds that programs stand when their nodes say that they wait. Of others the
 * clock decides: a simulated program that waits for any of its messages is in no system call, so
 * its node says that it computes; and nodes that lie may be busy for ever. */
static void stand(struct sim *sim)
{
    if (sim->own_first > 0) { /* rank 0 tells */
        several_hear(sim);
    } else if (sim->phase == SIM_RUN) {
        host_tell_stands(sim);
    } else {
        sim_trouble(sim, about(SIM_TROUBLE_NO_PROGRESS), "no progress");
        sim_tell_waits(sim);
    }
    sim_end(sim, SIM_STUCK);
    if (sim->options.ranks && sim->own_first == 0) {
        several_tell(sim);
    }
}

/* Whether a program that computes, or sleeps, will go on by itself: that may take any time. A
 * scenario's does neither for long. */
static bool some_sleep(const struct sim *sim)
{
    uint32_t rank = 0;

    while (sim->native && rank < sim->count && !program_sleeps(sim, rank)) {
        rank++;
    }
    bool some = sim->native && rank < sim->count;
    return sim->options.ranks ? several_any(sim, some) : some;
}

/* Programs have not got on for longer than any step of theirs takes. The nodes are asked first what
 * they wait for. */
static void look_at_limit(struct sim *sim)
{
    if (some_sleep(sim)) {
        sim->got_on_ns = sim->wall_ns;
    }
    uint64_t idle_ns = sim->wall_ns - sim->got_on_ns;
    uint64_t most_ns = limit_ns(&sim->limit, sim->result.damaged);

    if (idle_ns > most_ns && !sim->asked) {
        sim->asked = true;
        if (sim->own_first == 0) {
            host_ask(sim);
        }
    } else if (idle_ns > most_ns + answers_ns) {
        if (sim->progress_ns > sim->got_on_ns) {
            sim_trouble(sim, about(SIM_TROUBLE_NO_PROGRESS),
                        "links are busy, and no program has got on for %.1f s",
                        (double)idle_ns / 1e9);
        }
        stand(sim);
    }
}

/* Nothing is left to do at this time: moves the clocks to the next event, of which there is one. */
static void move_clocks(struct sim *sim, uint64_t model_ns, uint64_t wall_ns)
{
    if (model_ns == UINT64_MAX) {
        sim->wall_ns = clock_max(sim->wall_ns, wall_ns);
        return;
    }
    uint64_t gap_ns = model_ns > sim->now_ns ? model_ns - sim->now_ns : 0;
    uint64_t room_ns = wall_limit(sim) - sim->wall_ns;
    uint64_t shared_ns = gap_ns < room_ns ? gap_ns : room_ns;
    if (wall_ns <= sim->wall_ns + shared_ns) {
        uint64_t moved_ns = wall_ns > sim->wall_ns ? wall_ns - sim->wall_ns : 0;
        sim->wall_ns += moved_ns;
        sim->now_ns += moved_ns;
    } else {
        sim->wall_ns += shared_ns;
        sim->now_ns += gap_ns;
    }
}

/* Before a round: there is something to do at its time, or the run stands. */
static void find_work(struct sim *sim)
{
    uint64_t model_ns, wall_ns;
    uint32_t ready = ready_count(sim);

    next_times(sim, &model_ns, &wall_ns);
    bool due = model_ns <= sim->now_ns || wall_ns <= sim->wall_ns || sim->unsure;
    sim->crowded = ready >= CROWD;
    if (ready || due) {
        return;
    }
    if (model_ns == UINT64_MAX && wall_ns == UINT64_MAX) {
        stand(sim);
        return;
    }
    sim->rounds = 0;
    move_clocks(sim, model_ns, wall_ns);
    /* how many events are due only their queues know; a moment is mostly as busy as the last */
    sim->crowded = sim->busy >= CROWD;
    if (sim->wall_ns > sim->got_on_ns + sim->limit.ns) {
        look_at_limit(sim);
    }
}

/* Whether partitions have something for each other, or for the host. */
static bool meeting_due(const struct sim *sim)
{
    bool due = false;

    for (unsigned i = 0; i < sim->partition_count; i++) {
        due |= sim->partitions[i].sent;
    }
    return due;
}

/* The same over several processes: what they do in the second half is told in the next round. */
static void several_round(struct sim *sim)
{
    several_begin(sim);
    sim_all_partitions(sim, act);
    if (!several_exchange(sim)) {
        sim_end(sim, SIM_STOPPED);
        return;
    }
    merge(sim);
    step_host(sim);
    if (sim->unsure) {
        sim_all_partitions(sim, meet);
    }
    sim->rounds -= sim->idle;
}

static void round_of(struct sim *sim)
{
    uint64_t before = sim_events(sim);
    uint32_t ready = ready_count(sim);

    if (sim->options.ranks) {
        several_round(sim);
    } else {
        sim_all_partitions(sim, act);
        merge(sim);
        step_host(sim);
        if (meeting_due(sim)) {
            sim_all_partitions(sim, meet);
        }
        merge(sim);
    }
    if (ready == 0) {
        sim->busy = sim_events(sim) - before;
    }
}

/* The event with whose round the run is to stop. A replay goes on to the next one: what the host
 * says of an event it says in a later round. */
static uint64_t last_event(const struct sim *sim)
{
    uint64_t stop_at = sim->options.stop_at;

    if (stop_at == 0 || stop_at == UINT64_MAX) {
        return UINT64_MAX;
    }
    return sim->options.history ? stop_at + 1 : stop_at;
}

bool sim_advance(struct sim *sim, uint64_t events)
{
    uint64_t end = sim_events(sim) + events, last = last_event(sim);

    end = last < end ? last : end;
    sim->pause = false;
    while (sim->verdict == SIM_RUNS && sim_events(sim) < end && !sim->pause) {
        find_work(sim);
        if (sim->verdict != SIM_RUNS) {
            break;
        }
        round_of(sim);
        if (++sim->rounds > sim->limit.rounds) {
            sim_trouble(sim, about(SIM_TROUBLE_NO_PROGRESS),
                        "nodes are stepped for ever, and no time passes");
            stand(sim);
        }
    }
    if (sim->verdict == SIM_RUNS && sim_events(sim) >= last) {
        host_tell_links(sim);
        sim_end(sim, SIM_STOPPED);
    }
    return sim->verdict == SIM_RUNS;
}
