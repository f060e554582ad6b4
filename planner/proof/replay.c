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

static const uint64_t LIMIT_NS = UINT64_C(1) << 62;

/* A node's clock: up to the step before, and in the step that it is in. */
struct clock {
    uint32_t step; /* 1 + the step */
    uint64_t begun, ended, begun_now, ended_now;
    uint64_t send_free[CLOCK_PORTS_MAX], receive_free[CLOCK_PORTS_MAX];
    uint32_t next;  /* 1 + the neighbour to which it sent last over one hop, in dimension order, */
    uint64_t *over; /* and the link */
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

/* The link of a circuit to a neighbour, as most of many are. */
static uint64_t *link_to_next(struct replay *replay, const struct plan_circuit *circuit)
{
    struct clock *from = &replay->clocks[replay->plan->invariant ? 0 : circuit->from];

    if (from->next != circuit->to + 1) {
        from->over =
            link_at(replay, circuit->from, circuit_port(replay->plan, circuit, circuit->from, 0));
        from->next = circuit->to + 1;
    }
    return from->over;
}

/* When the path of a circuit that starts at t_ns stands; its links are put down. */
static uint64_t set_up(struct replay *replay, const struct plan_circuit *circuit, uint64_t t_ns,
                       uint64_t *links[])
{
    const struct plan *plan = replay->plan;
    uint32_t at = circuit->from;

    if (circuit->hops == 1 && circuit->ports_at == PLAN_DIMENSION_ORDER) {
        links[0] = link_to_next(replay, circuit);
        return clock_max(t_ns, *links[0]) + replay->scale * replay->profile->tau_ns;
    }
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        unsigned port = circuit_port(plan, circuit, at, hop);
        links[hop] = link_at(replay, at, port);
        t_ns = clock_max(t_ns, *links[hop]) + replay->scale * replay->profile->tau_ns;
        if (hop + 1u < circuit->hops) {
            at = network_neighbour(&plan->network, at, port);
        }
    }
    return t_ns;
}

static void take_part(struct clock *clock, struct plan_moment moment)
{
    clock->begun_now = clock_max(clock->begun_now, moment.begin_ns);
    clock->ended_now = clock_max(clock->ended_now, moment.done_ns);
}

/* `elements` are `scale` times as many as it carries. */
static struct plan_moment pass(struct replay *replay, const struct plan_circuit *circuit,
                               uint64_t elements)
{
    struct clock *from = clock_of(replay, circuit->from, circuit->step);
    struct clock *to = clock_of(replay, circuit->to, circuit->step);
    const struct profile *profile = replay->profile;
    uint64_t *links[UINT8_MAX];
    uint64_t issue = issue_of(from, circuit);
    uint64_t t = set_up(replay, circuit, issue + replay->scale * profile->xi_ns, links);
    uint64_t hops = replay->scale * circuit->hops;

    t = clock_max(t, issue_of(to, circuit));
    if (replay->plan->node_ports != PORTS_ALL) {
        t = clock_max(t,
                      clock_max(from->send_free[circuit->port], to->receive_free[circuit->port]));
    }
    uint64_t flow = (hops + elements ? hops + elements - replay->scale : 0) * profile->element_ns;
    struct plan_moment moment = {issue, t, t + flow};
    for (unsigned hop = 0; hop < circuit->hops; hop++) {
        *links[hop] = moment.done_ns;
    }
    from->send_free[circuit->port] = to->receive_free[circuit->port] = moment.done_ns;
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

    if (!operation->vector && plan->segments == 1) {
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
    uint64_t width = clock_element_bytes(profile), done_ns = 0;
    struct replay replay = {.plan = plan, .profile = profile, .scale = plan->segments * width};
    uint64_t rest = side == REPLAY_MOST ? plan->segments * (width - 1) : 0;

    begin(&replay);
    for (uint32_t i = 0; i < plan->circuit_count && done_ns < LIMIT_NS; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        if (is_copy(circuit)) {
            continue;
        }
        uint64_t moved = share(plan, circuit, bytes, element_bytes ? element_bytes : 1, side);
        done_ns = clock_max(done_ns, pass(&replay, circuit, moved + rest).done_ns);
    }
    end(&replay);
    return done_ns < LIMIT_NS ? done_ns : side == REPLAY_MOST ? UINT64_MAX : 0;
}

static uint64_t replay_all(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                           const struct profile *profile, struct plan_moment *moments)
{
    struct replay replay = {.plan = plan, .profile = profile, .scale = 1};
    uint64_t model_ns = 0;

    begin(&replay);
    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        struct plan_moment moment = {0};
        if (is_copy(circuit)) {
            const struct clock *clock = clock_of(&replay, circuit->from, circuit->step);
            moment.issue_ns = moment.begin_ns = moment.done_ns = clock->ended_now;
        } else {
            uint64_t moved = plan_circuit_bytes(plan, circuit, bytes, element_bytes);
            moment = pass(&replay, circuit, clock_elements(profile->element_bytes, moved));
        }
        model_ns = clock_max(model_ns, moment.done_ns);
        if (moments) {
            moments[i] = moment;
        }
    }
    end(&replay);
    return model_ns;
}

struct plan_time plan_replay(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                             const struct profile *profile, struct plan_moment *moments)
{
    return (struct plan_time){.model_ns = replay_all(plan, bytes, element_bytes, profile, moments),
                              .bound_ns = plan_bound(plan, bytes, profile).ns};
}

struct plan_time plan_time_sized(const struct plan *plan, const uint32_t *bytes,
                                 const struct profile *profile)
{
    struct plan *all = plan->invariant ? plan_expand(plan) : NULL;
    struct replay replay = {.plan = all ? all : plan, .profile = profile, .scale = 1};
    struct plan_time time = {.bound_ns = plan_bound_sized_ns(plan, bytes, profile)};

    CHECK(operation_of(plan->operation)->sized);
    begin(&replay);
    for (uint32_t i = 0; i < replay.plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &replay.plan->circuits[i];
        size_t pair = (size_t)circuit->from * plan->network.nodes + circuit->to;
        if (!is_copy(circuit)) {
            uint64_t elements = clock_elements(profile->element_bytes, bytes[pair]);
            time.model_ns = clock_max(time.model_ns, pass(&replay, circuit, elements).done_ns);
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

uint64_t plan_model_ns(const struct plan *plan, uint32_t bytes, uint32_t element_bytes,
                       const struct profile *profile)
{
    return replay_all(plan, bytes, element_bytes, profile, NULL);
}
