/*
 * fault.c - does the damage that sim/core/fault.h describes.
 */
#include "sim/core/fault.h"

#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "sim/core/actor.h"
#include "sim/core/host.h"
#include "sim/core/link.h"
#include "sim/core/loop.h"
#include "sim/observe/trace.h"
#include "sim/core/partition.h"
#include "sim/programs/program.h"
#include "sim/core/random.h"
#include "sim/core/state.h"

static bool chance(struct sim *sim, double probability)
{
    return probability > 0 &&
           (double)(random_next(&sim->seed) >> 11) * (1.0 / 9007199254740992.0) < probability;
}

/* Takes `count` bytes from `first` on out of the frame. */
static void lose_bytes(struct chunk *chunk, uint32_t first, uint32_t count)
{
    for (; chunk && count; chunk = chunk->next) {
        if (first >= chunk->bytes) {
            first -= chunk->bytes;
            continue;
        }
        uint32_t lost = chunk->bytes - first < count ? chunk->bytes - first : count;
        uint8_t *at = chunk->data + first;
        memmove(at, at + lost, chunk->bytes - first - lost);
        chunk->bytes -= lost;
        count -= lost;
        first = 0;
    }
}

/* Removes chunks that have lost all their bytes; false when none is left. */
static bool close_gaps(struct sim *sim)
{
    struct filling *filling = &sim->partitions[0].filling;
    struct chunk **at = &filling->first;

    filling->last = NULL;
    while (*at) {
        struct chunk *chunk = *at;
        if (chunk->bytes) {
            filling->last = chunk;
            at = &chunk->next;
        } else {
            *at = chunk->next;
            pool_give(&sim->partitions[0].pool, chunk);
        }
    }
    return filling->first != NULL;
}

static bool drop(struct sim *sim, bool whole)
{
    uint32_t bytes = sim->partitions[0].filling.bytes;
    uint32_t first = random_below(&sim->seed, bytes);

    if (whole) {
        return false;
    }
    lose_bytes(sim->partitions[0].filling.first, first,
               1 + random_below(&sim->seed, bytes - first));
    return close_gaps(sim);
}

static void flip(struct sim *sim, uint32_t at)
{
    struct chunk *chunk = sim->partitions[0].filling.first;

    while (chunk && at >= chunk->bytes) {
        at -= chunk->bytes;
        chunk = chunk->next;
    }
    if (chunk) {
        chunk->data[at] ^= (uint8_t)(1u << random_below(&sim->seed, 8));
    }
}

/* The frame's bytes from a place on come twice. */
static void duplicate(struct sim *sim, uint32_t first)
{
    struct filling *filling = &sim->partitions[0].filling;
    struct chunk *end = filling->last;

    for (struct chunk *chunk = filling->first;; chunk = chunk->next) {
        if (first < chunk->bytes) {
            struct chunk *copy = pool_take(&sim->partitions[0].pool, (enum chunk_kind)chunk->kind);
            if (!copy) {
                sim->partitions[0].no_memory = true;
                return;
            }
            copy->bytes = chunk->bytes - first;
            memcpy(copy->data, chunk->data + first, copy->bytes);
            filling->last->next = copy;
            filling->last = copy;
            first = 0;
        } else {
            first -= chunk->bytes;
        }
        if (chunk == end) {
            return;
        }
    }
}

/* What was asked for this very event. */
static bool act(struct sim *sim)
{
    struct sim_end *end = sim->partitions[0].filling.end;

    switch (sim->options.faults.action) {
    case SIM_DROP_FRAME: return false;
    case SIM_FLIP_BIT:
        flip(sim, random_below(&sim->seed, sim->partitions[0].filling.bytes));
        return true;
    case SIM_DUPLICATE_FRAME: duplicate(sim, 0); return true;
    case SIM_KILL_SENDER:
        if (end->actor < sim->count) {
            fault_apply(sim, &(struct sim_fault){.kind = SIM_KILL, .a = end->actor});
        } else {
            sim_end_cut(end);
        }
        return false;
    case SIM_CUT_LINK: sim_end_cut(end); return false;
    case SIM_STOP_HOST: host_stop(sim, SIM_STOP_MS * UINT64_C(1000000)); return true;
    case SIM_KILL_HOST: host_die(sim, true); return true;
    case SIM_RESTART_HOST: host_die(sim, false); return true;
    case SIM_CANCEL_PROGRAM: host_cancel(sim); return true;
    default: return true;
    }
}

/* A frame is touched. */
static void note(struct sim *sim, const char *what)
{
    sim->result.damaged++;
    trace_damage(sim, what);
}

static uint32_t name_of(const struct sim *sim, uint32_t actor)
{
    return actor == sim->count ? ID_HOST : actor;
}

bool fault_frame(struct sim *sim)
{
    static const char *const actions[] = {[SIM_NOTHING] = "nothing",
                                          [SIM_DROP_FRAME] = "drop",
                                          [SIM_FLIP_BIT] = "flip",
                                          [SIM_DUPLICATE_FRAME] = "duplicate",
                                          [SIM_KILL_SENDER] = "kill sender",
                                          [SIM_CUT_LINK] = "cut link",
                                          [SIM_STOP_HOST] = "stop host",
                                          [SIM_KILL_HOST] = "kill host",
                                          [SIM_RESTART_HOST] = "restart host",
                                          [SIM_CANCEL_PROGRAM] = "cancel program"};
    const struct sim_faults *faults = &sim->options.faults;

    if (faults->fail_event == sim->partitions[0].link_events) {
        note(sim, actions[faults->action]);
        sim->result.hit_from = name_of(sim, sim->partitions[0].filling.end->actor);
        sim->result.hit_to = name_of(sim, sim->partitions[0].filling.end->peer->actor);
        if (!act(sim)) {
            return false;
        }
    }
    for (uint32_t i = 0; faults->flip > 0 && i < sim->partitions[0].filling.bytes; i++) {
        if (chance(sim, faults->flip)) {
            note(sim, "flip");
            flip(sim, i);
        }
    }
    if (chance(sim, faults->duplicate)) {
        note(sim, "duplicate");
        duplicate(sim, random_below(&sim->seed, 2)
                           ? 0
                           : random_below(&sim->seed, sim->partitions[0].filling.bytes));
    }
    if (chance(sim, faults->drop)) {
        note(sim, "drop");
        return drop(sim, random_below(&sim->seed, 2));
    }
    return true;
}

static void kill_node(struct sim *sim, uint32_t rank)
{
    struct actor *actor = &sim->actors[rank];
    const struct network *network = sim_network(sim);
    unsigned links = network->ports + (network_host_link_of(network, rank) >= 0 ? 1u : 0u);

    if (actor->dead) {
        return;
    }
    actor->dead = true;
    sim->deaths++;
    for (unsigned p = 0; p < links; p++) {
        if (sim_end_at(sim, rank, p)->peer) {
            sim_end_cut(sim_end_at(sim, rank, p));
        }
    }
    program_over(sim, rank, E_CANCELLED);
    sim_trouble(sim, about_node(SIM_TROUBLE_NODE_DIED, rank), "node %u was killed", rank);
}

/* The end at `a` of the link of `a` and `b`; one of them may be the host. */
static struct sim_end *end_at(const struct sim *sim, uint32_t a, uint32_t b)
{
    if (a == ID_HOST) {
        return sim_end_at(sim, b, sim_network(sim)->ports)->peer;
    }
    return sim_end_at(
        sim, a, b == ID_HOST ? sim_network(sim)->ports : network_port_to(sim_network(sim), a, b));
}

const char *sim_fault_name(enum sim_fault_kind kind)
{
    static const char *const names[] = {
        [SIM_KILL] = "kill", [SIM_CUT] = "cut",        [SIM_ONEWAY] = "oneway",
        [SIM_SLOW] = "slow", [SIM_STOP] = "host-stop", [SIM_ABORT] = "abort"};

    return names[kind];
}

void fault_apply(struct sim *sim, const struct sim_fault *fault)
{
    if (fault->kind == SIM_ABORT && !program_abort(sim, fault->a)) {
        return; /* it is over: nothing happens */
    }
    trace_fault(sim, fault);
    sim->result.faults_happened++;
    switch (fault->kind) {
    case SIM_KILL:
        if (fault->a == ID_HOST) {
            host_die(sim, true);
        } else {
            kill_node(sim, fault->a);
        }
        break;
    case SIM_STOP: host_stop(sim, fault->slow_ns); break;
    case SIM_CUT: sim_end_cut(end_at(sim, fault->a, fault->b)); break;
    case SIM_ONEWAY: end_at(sim, fault->a, fault->b)->mute = true; break;
    case SIM_ABORT: break;
    default:
        sim->actors[fault->a == ID_HOST ? sim->count : fault->a].slow_ns = fault->slow_ns;
        break;
    }
}

void fault_phase(struct sim *sim)
{
    const struct sim_faults *faults = &sim->options.faults;
    uint64_t start_ns = sim->phase == SIM_RUN ? sim->result.clock_base_ns : sim->now_ns;

    for (unsigned i = 0; i < faults->count; i++) {
        if (faults->list[i].phase == sim->phase) {
            if (faults->list[i].at_ns == 0) {
                fault_apply(sim, &faults->list[i]);
            } else {
                partition_at_model(&sim->partitions[0], start_ns + faults->list[i].at_ns, DUE_FAULT,
                                   i);
            }
        }
    }
}

void sim_inject(struct sim *sim, const struct sim_fault *fault)
{
    struct sim_faults *faults = &sim->options.faults;

    if (faults->count == SIM_FAULTS_MAX) {
        return;
    }
    faults->list[faults->count] = *fault;
    if (fault->at_ns) {
        partition_at_model(&sim->partitions[0], sim->now_ns + fault->at_ns, DUE_FAULT,
                           faults->count);
    } else {
        fault_apply(sim, fault);
    }
    faults->count++;
}
