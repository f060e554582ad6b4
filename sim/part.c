#include "sim/part.h"

#include <stdlib.h>
#include <string.h>

#include "node/node.h"
#include "node/state.h"
#include "sim/actor.h"
#include "sim/ahead.h"
#include "sim/fault.h"
#include "sim/loop.h"
#include "sim/program.h"
#include "sim/random.h"
#include "sim/state.h"

enum {
    NODES_MIN = 2,  /* of a part */
    NODES_MANY = 64 /* they fill a large page with short chunks */
};

/* Where the order of things counts, they happen one after another. */
static bool in_order(const struct sim_options *options)
{
    const struct sim_faults *faults = &options->faults;

    return sim_faults_damage(faults) || faults->fail_event || faults->jitter_ns || faults->count ||
           options->traced || options->history || options->shuffle || options->stop_at;
}

unsigned parts_count(const struct sim_options *options)
{
    unsigned count = options->threads < PARTS_MAX ? options->threads : (unsigned)PARTS_MAX;
    unsigned most = options->network.nodes / NODES_MIN;

    count = count < most ? count : most;
    return in_order(options) || count == 0 ? 1 : count;
}

/* The first node of a part. */
static uint32_t first_node(const struct sim *sim, unsigned part)
{
    return (uint32_t)((uint64_t)sim->count * part / sim->part_count);
}

bool parts_make(struct sim *sim)
{
    size_t bytes = sim->part_count * sizeof *sim->parts;

    sim->parts = aligned_alloc(_Alignof(struct part), bytes);
    if (!sim->parts)
        return false;
    memset(sim->parts, 0, bytes);
    for (unsigned i = 0; i < sim->part_count; i++) {
        struct part *part = &sim->parts[i];
        uint32_t first = first_node(sim, i), end = first_node(sim, i + 1);
        part->sim = sim;
        part->first = first;
        part->end = end;
        part->ready = sim->ready + first;
        part->stepped = sim->ready + sim->count + first;
        part->pool.number = (uint8_t)i;
        part->pool.scrub = sim->options.scrub;
        part->pool.busy = end - first >= NODES_MANY;
        for (uint32_t rank = first; rank < end; rank++)
            sim->actors[rank].part = (uint8_t)i;
    }
    return true;
}

void parts_free(struct sim *sim)
{
    for (unsigned i = 0; sim->parts && i < sim->part_count; i++) {
        struct part *part = &sim->parts[i];
        queue_free(&part->model);
        queue_free(&part->wall);
        batch_free(&part->due);
        pool_free(&part->pool);
        for (unsigned to = 0; to <= sim->part_count; to++)
            outbox_free(&part->out[to]);
    }
    free(sim->parts);
}

/* A product of 128 bits, folded. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    unsigned __int128 product = (unsigned __int128)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void part_digest(struct part *part, const uint64_t words[4])
{
    uint64_t one =
        fold(words[0] ^ UINT64_C(0x9fb21c651e98df25), words[1] ^ UINT64_C(0xd6e8feb86659fd93));
    uint64_t two =
        fold(words[2] ^ UINT64_C(0xa0761d6478bd642f), words[3] ^ UINT64_C(0xe7037ed1a0b428db));

    part->digest[0] += fold(one ^ UINT64_C(0x8ebc6af09c88c6e3), two);
    part->digest[1] += fold(one, two ^ UINT64_C(0x589965cc75374cc3));
}

static uint64_t next_order(struct part *part)
{
    struct sim *sim = part->sim;
    uint64_t number = part->order++;

    return sim->options.shuffle ? random_next(&sim->shuffle) << 40 | (number & 0xffffffffff)
                                : number;
}

void part_at_model(struct part *part, uint64_t time_ns, enum event_kind kind, uint32_t index)
{
    part->no_memory |=
        !queue_add(&part->model, (struct event){time_ns, next_order(part), kind, index});
}

void part_at_wall(struct part *part, uint64_t time_ns, enum event_kind kind, uint32_t index)
{
    part->no_memory |=
        !queue_add(&part->wall, (struct event){time_ns, next_order(part), kind, index});
}

void part_arm(struct part *part, uint32_t actor, uint64_t deadline_us)
{
    const struct sim *sim = part->sim;
    struct actor *a = &sim->actors[actor];

    a->wanted_ns = deadline_us > UINT64_MAX / 1000 ? UINT64_MAX : deadline_us * 1000;
    if (a->wanted_ns < a->armed_ns) {
        a->armed_ns = a->wanted_ns > sim->wall_ns ? a->wanted_ns : sim->wall_ns;
        part_at_wall(part, a->armed_ns, EVENT_TIMER, actor);
    }
}

/* All of a node's step in one function: 8 % fewer instructions. */
static __attribute__((flatten, noinline)) bool step_node(struct node *node, uint64_t now_us)
{
    return node_step(node, now_us);
}

static void step(struct part *part, uint32_t rank)
{
    struct sim *sim = part->sim;
    struct actor *actor = &sim->actors[rank];

    actor->queued = false;
    if (actor->dead)
        return;
    part->steps++;
    struct node *node = sim_node(sim, rank);
    bool more = step_node(node, sim->wall_ns / 1000);
    if (node_program_moves(node) || actor->polls)
        more |= program_look(sim, rank);
    part_arm(part, rank, node_deadline(node));
    if (more)
        sim_wake(sim, rank);
}

static void timer(struct part *part, uint32_t actor, uint64_t time_ns)
{
    struct sim *sim = part->sim;
    struct actor *a = &sim->actors[actor];

    if (a->armed_ns != time_ns || a->dead)
        return; /* an earlier one has taken its place */
    a->armed_ns = UINT64_MAX;
    if (a->wanted_ns <= sim->wall_ns) {
        sim_wake(sim, actor);
    } else if (a->wanted_ns != UINT64_MAX) {
        a->armed_ns = a->wanted_ns;
        part_at_wall(part, a->armed_ns, EVENT_TIMER, actor);
    }
}

static void dispatch(struct part *part, const struct event *event)
{
    struct sim *sim = part->sim;

    switch (event->kind) {
    case EVENT_HELD:
    case EVENT_HELD1: part->withheld[event->kind == EVENT_HELD1]--; /* fallthrough */
    case EVENT_LINK: sim_end_due(&sim->ends[event->index]); return;
    case EVENT_TIMER:
        part->events++;
        timer(part, event->index, event->time_ns);
        return;
    case EVENT_LOOK:
        part->events++;
        sim_look(sim, event->index);
        return;
    case EVENT_PROGRAM:
        part->events++;
        if (program_wake(sim, event->index, event->time_ns))
            sim_wake(sim, event->index);
        return;
    default:
        part->events++;
        fault_apply(sim, &sim->options.faults.list[event->index]);
        return;
    }
}

/* Takes the events that are due off their queues; where their order is drawn, one of them. */
static void find_due(struct part *part)
{
    const struct sim *sim = part->sim;
    bool wall = queue_time(&part->wall) <= sim->wall_ns;
    bool model = queue_time(&part->model) <= sim->now_ns;

    part->due.count = 0;
    if (!sim->options.shuffle)
        part->no_memory |= !queue_take_due(&part->wall, sim->wall_ns, &part->due) ||
                           !queue_take_due(&part->model, sim->now_ns, &part->due);
    else if (wall || model)
        part->no_memory |= !batch_add(&part->due, queue_take(wall ? &part->wall : &part->model));
}

/* Takes the events of this time, also those that others of them add; where their order is drawn,
 * some may wait for the next round. */
static void take_events(struct part *part)
{
    struct sim *sim = part->sim;

    do {
        find_due(part);
        for (uint32_t i = 0; i < part->due.count; i++)
            dispatch(part, &part->due.events[i]);
    } while (part->due.count && (!sim->options.shuffle || random_below(&sim->shuffle, 4)));
}

/* Steps the nodes that were ready before; where their order is drawn, some of them in the next
 * round. */
static void step_ready(struct part *part)
{
    struct sim *sim = part->sim;
    bool shuffled = sim->options.shuffle != 0;
    uint32_t *ready = part->ready;

    part->ready = part->stepped;
    part->stepped = ready;
    part->stepped_count = part->ready_count;
    part->ready_count = 0;
    ahead_begin(part);
    for (uint32_t i = 0; i < part->stepped_count; i++) {
        ahead_step(part, i);
        uint32_t rank = ready[i];
        if (shuffled && random_below(&sim->shuffle, 2))
            part_make_ready(part, rank);
        else
            step(part, rank);
    }
}

static void take(struct outbox *out)
{
    for (uint32_t i = 0; i < out->count; i++) {
        ahead_take(out, i);
        sim_end_take(out->sendings[i].to, out->sendings[i].first);
    }
    out->count = 0;
}

static void tell_times(struct part *part)
{
    part->model_ns = queue_time(&part->model);
    part->wall_ns = queue_time(&part->wall);
}

void part_tell(struct part *part)
{
    uint32_t sent = 0;

    for (unsigned to = 0; to <= part->sim->part_count; to++)
        sent |= part->out[to].count;
    part->sent = sent != 0;
    tell_times(part);
}

void part_act(struct part *part)
{
    take_events(part);
    step_ready(part);
    part->acted = part->events;
    take(&part->out[part->pool.number]);
    part_tell(part);
}

void part_meet(struct part *part)
{
    struct sim *sim = part->sim;

    for (unsigned from = 0; from < sim->part_count; from++) {
        struct part *other = &sim->parts[from];
        take(&other->out[part->pool.number]); /* its own: from the host */
        if (part->pool.number == 0)
            take(&other->out[sim->part_count]);
        pool_collect(&part->pool, &other->pool);
    }
    part->sent = false; /* others empty its outboxes at this moment */
    tell_times(part);
}
