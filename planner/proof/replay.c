/*
 * replay.c - the model time of a plan, by the rule of router/clock.h, circuit by circuit in the
 * plan's order.
 *
 * That order is the one in which every link and every port serves circuits, so all that a circuit
 * waits for is known when it comes. Of an invariant plan node 0 stands for all: what is true of its
 * port is true of every node's.
 */
#include <stdlib.h>

#include "planner/proof/bound.h"
#include "planner/build.h"
#include "planner/proof/replay.h"
#include "drivers/check.h"

/* A node's clock: up to the step before, and in the step that it is in. */
struct clock {
    uint32_t step; /* 1 + the step */
    uint64_t begun, ended, begun_now, ended_now;
    uint64_t send_free, receive_free;
};

struct replay {
    const struct plan *plan;
    const struct profile *profile;
    uint64_t scale; /* all times are so many times as long */
    struct clock *clocks;
    uint64_t *links; /* free from when on */
};

static struct clock *clock_of(struct replay *replay, uint32_t node, uint32_t step)
{
    struct clock *clock = &replay->clocks[replay->plan->invariant ? 0 : node];

    if (clock->step != step + 1) {
        clock->step = step + 1;
        clock->begun = clock->begun_now;
        clock->ended = clock->ended_now;
    }
    return clock;
}

static uint64_t issue_of(const struct clock *clock, const struct plan_circuit *circuit)
{
    return circuit->flags & ROW_AHEAD ? clock->begun : clock->ended;
}

static uint64_t *link_at(struct replay *replay, uint32_t node, unsigned port)
{
    uint64_t at = replay->plan->invariant ? 0 : node;

    return &replay->links[at * replay->plan->network.ports + port];
}

/* When the path of a circuit that starts at t_ns stands. */
static uint64_t set_up(struct replay *replay, const struct plan_circuit *circuit, uint64_t t_ns)
{
    const struct plan *plan = replay->plan;
    uint32_t at = circuit->from;

    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(plan, circuit, at, hop);
        t_ns =
            clock_max(t_ns, *link_at(replay, at, port)) + replay->scale * replay->profile->tau_ns;
        at = network_neighbour(&plan->network, at, port);
    }
    return t_ns;
}

static void hold_links(struct replay *replay, const struct plan_circuit *circuit, uint64_t done_ns)
{
    uint32_t at = circuit->from;

    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(replay->plan, circuit, at, hop);
        *link_at(replay, at, port) = done_ns;
        at = network_neighbour(&replay->plan->network, at, port);
    }
}

static void take_part(struct clock *clock, struct plan_moment moment)
{
    clock->begun_now = clock_max(clock->begun_now, moment.begin_ns);
    clock->ended_now = clock_max(clock->ended_now, moment.done_ns);
}

/* `bytes` are `scale` times as many as it carries. */
static struct plan_moment pass(struct replay *replay, const struct plan_circuit *circuit,
                               uint64_t bytes)
{
    struct clock *from = clock_of(replay, circuit->from, circuit->step);
    struct clock *to = clock_of(replay, circuit->to, circuit->step);
    const struct profile *profile = replay->profile;
    uint64_t t = set_up(replay, circuit, issue_of(from, circuit) + replay->scale * profile->xi_ns);
    uint64_t hops = replay->scale * circuit->hops;

    t = clock_max(t, issue_of(to, circuit));
    if (!profile->all_port) {
        t = clock_max(t, clock_max(from->send_free, to->receive_free));
    }
    struct plan_moment moment = {t, t + (hops + bytes ? hops + bytes - replay->scale : 0) *
                                            profile->element_ns};
    hold_links(replay, circuit, moment.done_ns);
    from->send_free = to->receive_free = moment.done_ns;
    take_part(from, moment);
    take_part(to, moment);
    return moment;
}

uint64_t plan_circuit_bytes(const struct plan *plan, const struct plan_circuit *circuit,
                            uint32_t bytes, uint32_t element_bytes)
{
    const struct operation *operation = operation_of(plan->operation);
    struct slot_ranges ranges = ranges_of(plan, sent_slots(circuit), 0);
    struct slot_range range;
    uint64_t sum = 0;

    if (!operation->vector) {
        return (uint64_t)circuit->blocks * bytes;
    }
    if (!operation->reduces) {
        element_bytes = 1;
    }
    while (ranges_next(&ranges, &range)) {
        sum += operation_slot_at(operation, (uint64_t)range.first + range.count, bytes,
                                 element_bytes, plan->segments) -
               operation_slot_at(operation, range.first, bytes, element_bytes, plan->segments);
    }
    return sum;
}

/* A circuit's bytes, so many times as many as the plan has segments, were they divided without a
 * rest, and `slack` of an element more or less for each piece that is no multiple of the vector. */
static uint64_t share(const struct plan *plan, const struct plan_circuit *circuit, uint32_t bytes,
                      uint32_t element_bytes, enum replay_side side)
{
    uint64_t slack = 0, m = plan->segments;
    struct slot_ranges ranges = ranges_of(plan, sent_slots(circuit), 0);
    struct slot_range range;

    if (m == 1) {
        return plan_circuit_bytes(plan, circuit, bytes, element_bytes);
    }
    while (ranges_next(&ranges, &range)) {
        if (range.first % m || range.count % m) {
            slack += (m - 1) * element_bytes;
        }
    }
    uint64_t all = (uint64_t)circuit->blocks * bytes;
    return side == REPLAY_MOST ? all + slack : all > slack ? all - slack : 0;
}

static void begin(struct replay *replay)
{
    uint64_t nodes = replay->plan->invariant ? 1 : replay->plan->network.nodes;

    replay->clocks = planner_memory(nodes, sizeof *replay->clocks);
    replay->links = planner_memory(nodes * replay->plan->network.ports, sizeof *replay->links);
}

static void end(struct replay *replay)
{
    free(replay->clocks);
    free(replay->links);
}

uint64_t replay_limit(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                      const struct profile *profile, enum replay_side side)
{
    struct replay replay = {.plan = plan, .profile = profile, .scale = plan->segments};
    uint64_t done_ns = 0;

    begin(&replay);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        uint64_t moved = share(plan, circuit, bytes, element_bytes ? element_bytes : 1, side);
        done_ns = clock_max(done_ns, pass(&replay, circuit, moved).done_ns);
    }
    end(&replay);
    return done_ns;
}

struct plan_time plan_replay(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                             const struct profile *profile, struct plan_moment *moments)
{
    struct replay replay = {.plan = plan, .profile = profile, .scale = 1};
    struct plan_time time = {.bound_ns = plan_bound_ns(plan, bytes, profile)};

    begin(&replay);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        struct plan_moment moment = {0, 0};
        if (is_copy(circuit)) {
            const struct clock *clock = clock_of(&replay, circuit->from, circuit->step);
            moment.begin_ns = moment.done_ns = clock->ended_now;
        } else {
            moment =
                pass(&replay, circuit, plan_circuit_bytes(plan, circuit, bytes, element_bytes));
        }
        time.model_ns = clock_max(time.model_ns, moment.done_ns);
        if (moments) {
            moments[i] = moment;
        }
    }
    end(&replay);
    return time;
}

/* The elements that one node must send, or receive, one after the other; with all ports the longest
 * block. */
static uint64_t sized_bound(const struct plan *plan, const uint32_t *bytes, bool all_port)
{
    uint32_t nodes = plan->network.nodes;
    uint64_t most = 0;

    for (uint32_t node = 0; node < nodes; node++) {
        uint64_t sent = 0, received = 0;
        for (uint32_t other = 0; other < nodes; other++) {
            uint64_t out = bytes[(size_t)node * nodes + other];
            uint64_t in = bytes[(size_t)other * nodes + node];
            if (other == node) {
                continue;
            }
            sent = all_port ? clock_max(sent, out) : sent + out;
            received = all_port ? clock_max(received, in) : received + in;
        }
        most = clock_max(most, clock_max(sent, received));
    }
    return most;
}

struct plan_time plan_time_sized(const struct plan *plan, const uint32_t *bytes,
                                 const struct profile *profile)
{
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct replay replay = {.plan = all ? all : plan, .profile = profile, .scale = 1};
    struct plan_time time = {.bound_ns =
                                 sized_bound(plan, bytes, profile->all_port) * profile->element_ns};

    CHECK(operation_of(plan->operation)->sized);
    begin(&replay);
    for (uint32_t i = 0; i < replay.plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &replay.plan->circuits[i];
        size_t pair = (size_t)circuit->from * plan->network.nodes + circuit->to;
        if (!is_copy(circuit)) {
            time.model_ns = clock_max(time.model_ns, pass(&replay, circuit, bytes[pair]).done_ns);
        }
    }
    end(&replay);
    plan_free(all);
    return time;
}

struct plan_time plan_time(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                           const struct profile *profile)
{
    return plan_replay(plan, bytes, element_bytes, profile, NULL);
}
