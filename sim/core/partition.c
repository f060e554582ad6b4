/*
 * partition.c - one partition's half rounds: events, steps, then what others have sent.
 *
 * partition_act takes the events of this moment and steps the nodes that are ready; partition_meet
 * takes what has come for its nodes. Both touch only the partition's own nodes and the outboxes.
 * Where the order of things counts (faults, shuffling, timelines) there is one partition
 * (in_order).
 */
#include "sim/core/partition.h"

#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "node/state.h"
#include "sim/core/actor.h"
#include "sim/core/fault.h"
#include "sim/core/loop.h"
#include "sim/core/prefetch.h"
#include "sim/core/several.h"
#include "sim/parallel/ranks.h"
#include "sim/observe/trace.h"
#include "sim/programs/program.h"
#include "sim/core/random.h"
#include "sim/core/state.h"

enum {
    NODES_MIN = 2,  /* of a partition */
    NODES_MANY = 64 /* they fill a large page with short chunks */
};

/* Where the order of things counts, they happen one after another. */
static bool in_order(const struct sim_options *options)
{
    const struct sim_faults *faults = &options->faults;

    return sim_faults_damage(faults) || faults->fail_event || faults->jitter_ns || faults->count ||
           options->traced || options->history || options->shuffle || options->stop_at;
}

unsigned partitions_count(const struct sim_options *options)
{
    unsigned ranks = options->ranks ? options->ranks->count : 1;
    unsigned all = PARTITIONS_MAX / ranks;
    unsigned own_max = all < PARTITIONS_OWN_MAX ? all : (unsigned)PARTITIONS_OWN_MAX;
    unsigned count = options->threads < own_max ? options->threads : own_max;
    unsigned most = options->network.nodes / ranks / NODES_MIN;

    count = count < most ? count : most;
    return in_order(options) || count == 0 ? 1 : count;
}

/* The first node of a partition. */
static uint32_t first_node(const struct sim *sim, unsigned partition)
{
    return (uint32_t)((uint64_t)sim->count * partition / sim->partition_count);
}

bool partitions_make(struct sim *sim)
{
    size_t bytes = sim->partition_count * sizeof *sim->partitions;

    sim->partitions = aligned_alloc(_Alignof(struct partition), bytes);
    if (!sim->partitions) {
        return false;
    }
    memset(sim->partitions, 0, bytes);
    for (unsigned i = 0; i < sim->partition_count; i++) {
        struct partition *partition = &sim->partitions[i];
        uint32_t first = first_node(sim, i), end = first_node(sim, i + 1);
        partition->sim = sim;
        partition->first = first;
        partition->end = end;
        partition->model_ns = partition->wall_ns = UINT64_MAX;
        partition->ready = sim->ready + first;
        partition->stepped = sim->ready + sim->count + first;
        partition->number = (uint8_t)i;
        partition->pool.scrub = sim->options.scrub;
        partition->pool.busy = end - first >= NODES_MANY;
        for (uint32_t rank = first; rank < end; rank++) {
            sim->actors[rank].partition = (uint8_t)i;
        }
    }
    return true;
}

void partitions_free(struct sim *sim)
{
    for (unsigned i = 0; sim->partitions && i < sim->partition_count; i++) {
        struct partition *partition = &sim->partitions[i];
        queue_free(&partition->model);
        queue_free(&partition->wall);
        batch_free(&partition->due);
        pool_free(&partition->pool);
        outbox_free(&partition->own);
        mailbag_free(&partition->news);
        for (unsigned to = 0; to <= sim->partition_count; to++) {
            mailbag_free(&partition->out[to]);
        }
    }
    free(sim->partitions);
}

/* A product of 128 bits, folded. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void partition_digest(struct partition *partition, const uint64_t words[4])
{
    uint64_t one =
        fold(words[0] ^ UINT64_C(0x9fb21c651e98df25), words[1] ^ UINT64_C(0xd6e8feb86659fd93));
    uint64_t two =
        fold(words[2] ^ UINT64_C(0xa0761d6478bd642f), words[3] ^ UINT64_C(0xe7037ed1a0b428db));

    partition->digest[0] += fold(one ^ UINT64_C(0x8ebc6af09c88c6e3), two);
    partition->digest[1] += fold(one, two ^ UINT64_C(0x589965cc75374cc3));
}

static uint64_t next_order(struct partition *partition)
{
    struct sim *sim = partition->sim;
    uint64_t number = partition->order++;

    return sim->options.shuffle ? random_next(&sim->shuffle) << 40 | (number & 0xffffffffff)
                                : number;
}

void partition_at_model(struct partition *partition, uint64_t time_ns, enum due_kind kind,
                        uint32_t index)
{
    partition->no_memory |=
        !queue_add(&partition->model, (struct event){time_ns, next_order(partition), kind, index});
}

void partition_at_wall(struct partition *partition, uint64_t time_ns, enum due_kind kind,
                       uint32_t index)
{
    partition->no_memory |=
        !queue_add(&partition->wall, (struct event){time_ns, next_order(partition), kind, index});
}

void partition_arm(struct partition *partition, uint32_t actor, uint64_t deadline_us)
{
    const struct sim *sim = partition->sim;
    struct actor *a = &sim->actors[actor];

    a->wanted_ns = deadline_us > UINT64_MAX / 1000 ? UINT64_MAX : deadline_us * 1000;
    if (a->wanted_ns < a->armed_ns) {
        a->armed_ns = a->wanted_ns > sim->wall_ns ? a->wanted_ns : sim->wall_ns;
        partition_at_wall(partition, a->armed_ns, DUE_TIMER, actor);
    }
}

static void step(struct partition *partition, uint32_t rank)
{
    struct sim *sim = partition->sim;
    struct actor *actor = &sim->actors[rank];

    actor->queued = false;
    if (actor->dead) {
        return;
    }
    partition->steps++;
    struct node *node = sim_node(sim, rank);
    bool more = node_step(node, sim->wall_ns / 1000);
    if (sim->trace) {
        trace_node(sim, rank);
    }
    if (node_program_moves(node) || actor->polls) {
        more |= program_look(sim, rank);
    }
    uint64_t deadline_us = node_deadline(node), wake_us = node_wake_us(node);
    partition_arm(partition, rank, wake_us < deadline_us ? wake_us : deadline_us);
    if (more) {
        sim_wake(sim, rank);
    }
}

static void timer(struct partition *partition, uint32_t actor, uint64_t time_ns)
{
    struct sim *sim = partition->sim;
    struct actor *a = &sim->actors[actor];

    if (a->armed_ns != time_ns || a->dead) {
        return; /* an earlier one has taken its place */
    }
    a->armed_ns = UINT64_MAX;
    if (a->wanted_ns <= sim->wall_ns) {
        sim_wake(sim, actor);
    } else if (a->wanted_ns != UINT64_MAX) {
        a->armed_ns = a->wanted_ns;
        partition_at_wall(partition, a->armed_ns, DUE_TIMER, actor);
    }
}

static void dispatch(struct partition *partition, const struct event *event)
{
    struct sim *sim = partition->sim;

    switch (event->kind) {
    case DUE_HELD:
    case DUE_HELD1: partition->withheld[event->kind == DUE_HELD1]--; /* fallthrough */
    case DUE_LINK: sim_end_due(&sim->ends[event->index]); return;
    case DUE_TIMER:
        partition->events++;
        timer(partition, event->index, event->time_ns);
        return;
    case DUE_LOOK:
        partition->events++;
        sim_look(sim, event->index);
        return;
    case DUE_PROGRAM:
        partition->events++;
        if (program_wake(sim, event->index, event->time_ns)) {
            sim_wake(sim, event->index);
        }
        return;
    default:
        partition->events++;
        fault_apply(sim, &sim->options.faults.list[event->index]);
        return;
    }
}

/* Takes the events that are due off their queues; where their order is drawn, one of them. */
static void find_due(struct partition *partition)
{
    const struct sim *sim = partition->sim;
    bool wall = queue_time(&partition->wall) <= sim->wall_ns;
    bool model = queue_time(&partition->model) <= sim->now_ns;

    partition->due.count = 0;
    if (!sim->options.shuffle) {
        partition->no_memory |= !queue_take_due(&partition->wall, sim->wall_ns, &partition->due) ||
                                !queue_take_due(&partition->model, sim->now_ns, &partition->due);
    } else if (wall || model) {
        partition->no_memory |=
            !batch_add(&partition->due, queue_take(wall ? &partition->wall : &partition->model));
    }
}

/* Takes the events of this time, also those that others of them add; where their order is drawn,
 * some may wait for the next round. */
static void take_events(struct partition *partition)
{
    struct sim *sim = partition->sim;

    do {
        find_due(partition);
        for (uint32_t i = 0; i < partition->due.count; i++) {
            dispatch(partition, &partition->due.events[i]);
        }
    } while (partition->due.count && (!sim->options.shuffle || random_below(&sim->shuffle, 4)));
}

/* Steps the nodes that were ready before; where their order is drawn, some of them in the next
 * round. */
static void step_ready(struct partition *partition)
{
    struct sim *sim = partition->sim;
    bool shuffled = sim->options.shuffle != 0;
    uint32_t *ready = partition->ready;

    partition->ready = partition->stepped;
    partition->stepped = ready;
    partition->stepped_count = partition->ready_count;
    partition->ready_count = 0;
    prefetch_begin(partition);
    for (uint32_t i = 0; i < partition->stepped_count; i++) {
        prefetch_step(partition, i);
        uint32_t rank = ready[i];
        if (shuffled && random_below(&sim->shuffle, 2)) {
            partition_make_ready(partition, rank);
        } else {
            step(partition, rank);
        }
    }
}

static void take_own(struct outbox *out)
{
    for (uint32_t i = 0; i < out->count; i++) {
        prefetch_take(out, i);
        sim_end_take(out->sendings[i].to, out->sendings[i].first);
    }
    out->count = 0;
}

void partition_take(struct partition *partition, const uint8_t *records, size_t bytes)
{
    for (size_t at = 0; at < bytes;) {
        at += sim_take_record(partition, records + at);
    }
}

static void take_mail(struct partition *partition, struct mailbag *bag)
{
    partition_take(partition, bag->records, bag->bytes);
    bag->bytes = 0;
}

static void tell_times(struct partition *partition)
{
    partition->model_ns = queue_time(&partition->model);
    partition->wall_ns = queue_time(&partition->wall);
}

void partition_tell(struct partition *partition)
{
    size_t sent = partition->own.count;

    for (unsigned to = 0; to <= partition->sim->partition_count; to++) {
        sent |= partition->out[to].bytes;
    }
    partition->sent = sent != 0;
    tell_times(partition);
}

void partition_act(struct partition *partition)
{
    take_events(partition);
    step_ready(partition);
    partition->acted = partition->events;
    take_own(&partition->own);
    partition_tell(partition);
}

void partition_meet(struct partition *partition)
{
    struct sim *sim = partition->sim;

    take_own(&partition->own); /* from the host */
    for (unsigned from = sim->own_first; from < sim->own_first + sim->own_count; from++) {
        struct partition *other = &sim->partitions[from];
        take_mail(partition, &other->out[partition->number]);
        if (partition->number == 0) {
            take_mail(partition, &other->out[sim->partition_count]);
        }
    }
    if (sim->options.ranks) {
        several_meet(partition);
    }
    partition->sent = false; /* others empty its mailbags at this moment */
    tell_times(partition);
}
