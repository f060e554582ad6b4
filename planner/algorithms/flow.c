#include "planner/algorithms/flow.h"

#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"

void flow_move(struct flow *flow, uint32_t step, uint32_t from, uint32_t to, uint32_t via)
{
    CHECK(flow->count == 0 || step >= flow->moves[flow->count - 1].step);
    flow->moves = planner_grow(flow->moves, flow->count, sizeof *flow->moves);
    flow->moves[flow->count++] = (struct flow_move){
        .step = step, .from = from, .to = to, .via = via, .range_at = flow->range_total};
    flow->steps = step + 1;
}

void flow_add(struct flow *flow, uint32_t first, uint32_t count)
{
    struct flow_move *move = &flow->moves[flow->count - 1];
    struct flow_range *last = move->range_count ? &flow->ranges[flow->range_total - 1] : NULL;

    if (count == 0) {
        return;
    }
    if (last && last->first + last->count == first) {
        last->count += count;
        return;
    }
    flow->ranges = planner_grow(flow->ranges, flow->range_total, sizeof *flow->ranges);
    flow->ranges[flow->range_total++] = (struct flow_range){first, count};
    move->range_count++;
}

/* In a step a node has the circuits of its first port first. */
static void flow_sort(struct flow *flow)
{
    uint32_t end;

    for (uint32_t first = 0; first < flow->count; first = end) {
        struct flow_move *moves = flow->moves + first, *sorted;
        uint32_t count = 0;
        for (end = first; end < flow->count && flow->moves[end].step == moves->step;) {
            end++;
        }
        sorted = planner_memory(end - first, sizeof *sorted);
        for (unsigned port = 0; port < CLOCK_PORTS_MAX; port++) {
            for (uint32_t i = 0; i < end - first; i++) {
                if (moves[i].port == port) {
                    sorted[count++] = moves[i];
                }
            }
        }
        memcpy(moves, sorted, count * sizeof *moves);
        free(sorted);
    }
}

void flow_reverse(struct flow *flow)
{
    for (uint32_t i = 0; i < flow->count; i++) {
        struct flow_move *move = &flow->moves[i];
        uint32_t from = move->from;
        move->step = flow->steps - 1 - move->step;
        move->from = move->to;
        move->to = from;
    }
    for (uint32_t i = 0; i < flow->count / 2; i++) {
        struct flow_move move = flow->moves[i];
        flow->moves[i] = flow->moves[flow->count - 1 - i];
        flow->moves[flow->count - 1 - i] = move;
    }
    if (flow->several) {
        flow_sort(flow);
    }
}

void flow_free(struct flow *flow)
{
    free(flow->moves);
    free(flow->ranges);
    *flow = (struct flow){0};
}

static struct flow_site *site_of(const struct layer *layer, uint32_t node, uint32_t block)
{
    return &layer->sites[(uint64_t)node * layer->blocks + block];
}

/* Calls `look` with every block of a move. */
static void each_block(struct layer *layer, const struct flow *flow, const struct flow_move *move,
                       void (*look)(struct layer *, const struct flow_move *, uint32_t block))
{
    for (uint32_t i = 0; i < move->range_count; i++) {
        const struct flow_range *range = &flow->ranges[move->range_at + i];
        for (uint32_t k = 0; k < range->count; k++) {
            look(layer, move, range->first + k);
        }
    }
}

/* Where blocks lie ---------------------------------------------------------------------------- */

/* Whose block a node wants that wants one: its own, or its that has one for this node. */
static uint32_t one_wanted(const struct plan *plan, uint32_t node)
{
    const struct operation *operation = operation_of(plan->operation);

    return operation->parameter ? operation_source(operation, &plan->network, plan->root, node, 0)
                                : node;
}

/* The slot of RECEIVE in which a node wants a block at last; false: it does not want it. */
static bool wanted(const struct plan *plan, uint32_t node, uint32_t block, uint32_t *slot)
{
    switch ((enum span)operation_of(plan->operation)->span[SPACE_RECEIVE]) {
    case SPAN_ONE_ROOT:
    case SPAN_NODES_ROOT: *slot = block; return node == plan->root;
    case SPAN_ONE:
        *slot = block % plan->segments;
        return operation_of(plan->operation)->vector ||
               block / plan->segments == one_wanted(plan, node);
    default: *slot = block; return true;
    }
}

/* The slot of SEND in which a node gives a block; false: it does not give it. */
static bool given(const struct plan *plan, uint32_t node, uint32_t block, uint32_t *slot)
{
    *slot = block;
    switch ((enum span)operation_of(plan->operation)->span[SPACE_SEND]) {
    case SPAN_NONE: return false;
    case SPAN_NODES_ROOT: return node == plan->root;
    case SPAN_NODES: return true;
    default:
        *slot = block % plan->segments;
        return operation_of(plan->operation)->vector || block / plan->segments == node;
    }
}

static void note_comes(struct layer *layer, const struct flow_move *move, uint32_t block)
{
    site_of(layer, move->to, block)->arrived = true;
}

/* The slot of scratch for the next block that a node keeps for others. */
static uint32_t scratch_for(struct layer *layer, uint32_t node, uint32_t block)
{
    struct plan *plan = layer->plan;

    if (!operation_of(plan->operation)->vector) {
        uint32_t m = plan->segments, next = plan->scratch[node];
        uint32_t slot = next + (block % m + m - next % m) % m; /* the next one of its size */
        plan->scratch[node] = slot + 1;
        return slot;
    }
    plan->scratch[node] = layer->blocks;
    return block;
}

/* What a node copies at first, a range at a time. */
struct copying {
    struct layer *layer;
    uint32_t node;
    struct flow_range from, to; /* the range that is still growing */
    uint8_t space;
};

static void copy_now(struct copying *c)
{
    struct plan *plan = c->layer->plan;

    if (c->from.count == 0) {
        return;
    }
    struct slots from = slots_of(plan, SPACE_SEND, c->from.first, c->from.count);
    build_copy(plan, 0, c->node, from,
               slots_of(plan, (enum space)c->space, c->to.first, c->to.count), 0);
    c->from.count = 0;
}

static void copy_slot(struct copying *c, uint32_t from, uint8_t space, uint32_t to)
{
    bool goes_on = c->from.count && c->space == space && from == c->from.first + c->from.count &&
                   to == c->to.first + c->to.count;

    if (!goes_on) {
        copy_now(c);
        c->from = (struct flow_range){from, 0};
        c->to = (struct flow_range){to, 0};
        c->space = space;
    }
    c->from.count++;
    c->to.count++;
}

/* Settles where a node has its blocks. What it gives stays where the program has it, unless it
 * wants it elsewhere or adds to it. */
static void settle(struct layer *layer, uint32_t node)
{
    struct plan *plan = layer->plan;
    struct copying copying = {.layer = layer, .node = node};
    bool reduces = operation_of(plan->operation)->reduces;

    for (uint32_t block = 0; block < layer->blocks; block++) {
        struct flow_site *site = site_of(layer, node, block);
        uint32_t slot, place;
        bool gives = given(plan, node, block, &slot), wants = wanted(plan, node, block, &place);
        bool comes = site->arrived;

        site->arrived = false;
        site->space = SPACE_SEND;
        site->slot = slot;
        if (wants || (comes && (reduces || !gives))) {
            site->space = wants ? SPACE_RECEIVE : SPACE_SCRATCH;
            site->slot = wants ? place : scratch_for(layer, node, block);
            if (gives) {
                copy_slot(&copying, slot, site->space, site->slot);
            }
        }
    }
    copy_now(&copying);
}

static void note_leaves(struct layer *layer, const struct flow_move *move, uint32_t block)
{
    site_of(layer, move->from, block)->leaves = 1 + move->step;
}

/* The lowest slot of a block's size whose block has gone on in an earlier step. `last` has the
 * blocks that slots were given to last, 1 more each. */
static uint32_t free_slot(struct layer *layer, const struct flow_move *move, uint32_t block,
                          const uint32_t *last)
{
    uint32_t slot = block % layer->plan->segments;

    while (last[slot] && site_of(layer, move->to, last[slot] - 1)->leaves > move->step) {
        slot += layer->plan->segments;
    }
    return slot;
}

/* Of blocks that pass a node, each gets a slot that is free when it comes. */
static void share_scratch(struct layer *layer, const struct flow *flow)
{
    struct plan *plan = layer->plan;
    uint64_t nodes = plan->network.nodes;
    uint32_t *last = planner_memory(nodes * layer->blocks, sizeof *last);

    memset(plan->scratch, 0, nodes * sizeof *plan->scratch);
    for (uint32_t i = 0; i < flow->count; i++) {
        each_block(layer, flow, &flow->moves[i], note_leaves);
    }
    for (uint32_t i = 0; i < flow->count; i++) {
        const struct flow_move *move = &flow->moves[i];
        uint32_t *here = last + (uint64_t)move->to * layer->blocks, *scratch;
        for (uint32_t k = 0; k < move->range_count; k++) {
            const struct flow_range *range = &flow->ranges[move->range_at + k];
            for (uint32_t b = range->first; b < range->first + range->count; b++) {
                struct flow_site *site = site_of(layer, move->to, b);
                if (site->space != SPACE_SCRATCH) {
                    continue;
                }
                uint32_t slot = free_slot(layer, move, b, here);
                if (here[slot]) {
                    site_of(layer, move->to, here[slot] - 1)->next = 1 + b;
                }
                here[slot] = 1 + b;
                site->slot = slot;
                scratch = &plan->scratch[move->to];
                *scratch = *scratch > slot ? *scratch : slot + 1;
            }
        }
    }
    free(last);
}

struct layer layer_begin(struct plan *plan, uint32_t blocks, const struct flow *first)
{
    uint32_t nodes = plan->network.nodes;
    struct layer layer = {.plan = plan, .blocks = blocks, .several = first->several};

    layer.sites = planner_memory((uint64_t)nodes * blocks, sizeof *layer.sites);
    layer.doing = planner_memory(nodes, sizeof *layer.doing);
    layer.group = planner_memory(nodes, sizeof *layer.group);
    layer.solid = planner_memory(nodes, sizeof *layer.solid);
    for (uint32_t i = 0; i < first->count; i++) {
        each_block(&layer, first, &first->moves[i], note_comes);
    }
    for (uint32_t node = 0; node < nodes; node++) {
        settle(&layer, node);
    }
    if (operation_of(plan->operation)->parameter) {
        share_scratch(&layer, first);
    }
    return layer;
}

void layer_end(struct layer *layer)
{
    free(layer->sites);
    free(layer->doing);
    free(layer->group);
    free(layer->solid);
}

/* What may be issued ahead -------------------------------------------------------------------- */

/* The way there becomes half as long: round a cycle it is one of all nodes. */
static uint32_t group_of(struct layer *layer, uint32_t node)
{
    while (layer->group[node] != node) {
        layer->group[node] = layer->group[layer->group[node]];
        node = layer->group[node];
    }
    return node;
}

static struct flow_doing *doing_in(struct layer *layer, uint32_t node, uint32_t step)
{
    struct flow_doing *doing = &layer->doing[node];

    if (doing->step != step + 1) {
        doing->sent = doing->sends ? doing->step : doing->sent;
        doing->received = doing->receives ? doing->step : doing->received;
        doing->sends = doing->receives = false;
        doing->step = step + 1;
        layer->group[node] = node;
        layer->solid[node] = false;
    }
    return doing;
}

static void join(struct layer *layer, const struct flow_move *move, uint32_t step)
{
    doing_in(layer, move->from, step);
    doing_in(layer, move->to, step);
    uint32_t from = group_of(layer, move->from), to = group_of(layer, move->to);
    layer->group[from] = to;
    layer->solid[to] = layer->solid[to] || layer->solid[from];
}

/* The prover's rule. Of one port: what is sent came before another receive, what is overwritten
 * left before another send. Of several: both were through before the steps that are overlapped, and
 * one circuit alone adds to a slot. */
static void look_ahead(struct layer *layer, const struct flow_move *move, uint32_t block)
{
    const struct flow_doing *from = &layer->doing[move->from], *to = &layer->doing[move->to];
    const struct flow_site *sent = site_of(layer, move->from, block);
    struct flow_site *place = site_of(layer, move->to, block);
    bool arriving =
        sent->written && sent->written >= from->solid && from->received <= sent->written;
    bool leaving = place->sent && place->sent >= to->solid && to->sent <= place->sent;

    if (layer->several) {
        arriving = (sent->written && sent->written >= from->solid) ||
                   (place->written && place->written >= to->solid) || place->added == to->step;
        place->added = to->step;
        leaving = place->sent && place->sent >= to->solid;
    }
    if (arriving || leaving) {
        layer->solid[group_of(layer, move->from)] = true;
    }
}

/* Laying down --------------------------------------------------------------------------------- */

/* The slots of a move's blocks at one of its ends. */
static struct slots slots_at(struct layer *layer, const struct flow *flow,
                             const struct flow_move *move, uint32_t node)
{
    struct slots slots = slots_begin(layer->plan);

    for (uint32_t i = 0; i < move->range_count; i++) {
        const struct flow_range *range = &flow->ranges[move->range_at + i];
        for (uint32_t k = 0; k < range->count; k++) {
            const struct flow_site *site = site_of(layer, node, range->first + k);
            slots_add(layer->plan, &slots, (enum space)site->space, site->slot, 1);
        }
    }
    return slots;
}

static uint8_t waits_of(struct layer *layer, const struct flow *flow, const struct flow_move *move)
{
    uint8_t flags = 0;

    for (uint32_t i = 0; i < move->range_count; i++) {
        const struct flow_range *range = &flow->ranges[move->range_at + i];
        for (uint32_t k = 0; k < range->count; k++) {
            const struct flow_site *place = site_of(layer, move->to, range->first + k);
            if (site_of(layer, move->from, range->first + k)->arrived || place->arrived) {
                flags |= ROW_AFTER_RECEIVED;
            }
            if (place->sent) {
                flags |= ROW_AFTER_SENT;
            }
        }
    }
    return flags;
}

static void note_sent(struct layer *layer, const struct flow_move *move, uint32_t block)
{
    struct flow_site *site = site_of(layer, move->from, block);

    if (site->space != SPACE_SEND) {
        site->sent = layer->doing[move->from].step;
    }
    if (site->next) {
        struct flow_site *next = site_of(layer, move->from, site->next - 1);
        next->sent = site->sent;
        next->arrived = true;
    }
}

static void note_received(struct layer *layer, const struct flow_move *move, uint32_t block)
{
    struct flow_site *site = site_of(layer, move->to, block);

    site->written = layer->doing[move->to].step;
    site->sent = 0;
    site->arrived = true;
}

static void lay_circuit(struct layer *layer, const struct flow_move *move, uint32_t step,
                        struct slots send, struct slots receive, uint8_t flags)
{
    const struct network *network = &layer->plan->network;

    if (move->via == FLOW_DIRECT) {
        build_circuit(layer->plan, step, move->from, move->to, send, receive, flags);
        return;
    }
    const uint8_t ports[] = {(uint8_t)network_port_to(network, move->from, move->via),
                             (uint8_t)network_port_to(network, move->via, move->to)};
    build_routed(layer->plan, step, move->from, move->to, send, receive, flags, ports, 2);
}

static void lay_move(struct layer *layer, const struct flow *flow, const struct flow_move *move,
                     uint32_t step)
{
    struct flow_doing *from = &layer->doing[move->from], *to = &layer->doing[move->to];
    bool ahead = !layer->solid[group_of(layer, move->from)];
    uint8_t flags = waits_of(layer, flow, move);
    struct slots send = slots_at(layer, flow, move, move->from);

    flags |= (uint8_t)((layer->adds ? ROW_COMBINES : 0) | (ahead ? ROW_AHEAD : 0));
    layer->plan->port = move->port;
    lay_circuit(layer, move, step, send, slots_at(layer, flow, move, move->to), flags);
    each_block(layer, flow, move, note_comes); /* another port may add to the same */
    from->sends = to->receives = true;
    if (!ahead) {
        from->solid = to->solid = step + 1;
    }
}

/* What is sent in a step is what was there before it, so notes are taken when all is laid down. */
static void lay_step(struct layer *layer, const struct flow *flow, uint32_t first, uint32_t end)
{
    uint32_t step = layer->step + flow->moves[first].step;

    for (uint32_t i = first; i < end; i++) {
        join(layer, &flow->moves[i], step);
    }
    for (uint32_t i = first; i < end; i++) {
        each_block(layer, flow, &flow->moves[i], look_ahead);
    }
    for (uint32_t i = first; i < end; i++) {
        lay_move(layer, flow, &flow->moves[i], step);
    }
    for (uint32_t i = first; i < end; i++) {
        each_block(layer, flow, &flow->moves[i], note_sent);
    }
    for (uint32_t i = first; i < end; i++) {
        each_block(layer, flow, &flow->moves[i], note_received);
    }
}

void layer_flow(struct layer *layer, const struct flow *flow, bool adds)
{
    uint32_t first = 0;

    layer->adds = adds;
    while (first < flow->count && !layer->plan->refused) {
        uint32_t end = first;
        while (end < flow->count && flow->moves[end].step == flow->moves[first].step) {
            end++;
        }
        lay_step(layer, flow, first, end);
        first = end;
    }
    layer->step += flow->steps;
}

/* Pairs --------------------------------------------------------------------------------------- */

/* What comes may not be written over what goes out in the same step: it is combined behind it. */
static void take_in(struct layer *layer, uint32_t node, uint32_t step,
                    const struct flow_range *blocks)
{
    struct plan *plan = layer->plan;
    struct slots came = slots_of(plan, SPACE_SCRATCH, blocks->first, blocks->count);

    build_copy(plan, step, node, came, slots_of(plan, SPACE_RECEIVE, blocks->first, blocks->count),
               ROW_COMBINES | ROW_AFTER_RECEIVED | ROW_AFTER_SENT);
    for (uint32_t k = 0; k < blocks->count; k++) {
        struct flow_site *site = site_of(layer, node, blocks->first + k);
        site->written = step + 1;
        site->sent = 0;
        site->arrived = false;
    }
}

void layer_pairs(struct layer *layer, const struct flow_pair *pairs, uint32_t count)
{
    struct plan *plan = layer->plan;
    uint32_t step = layer->step++;

    for (uint32_t i = 0; i < count; i++) {
        const struct flow_pair *pair = &pairs[i];
        struct flow_doing *doing = doing_in(layer, pair->node, step);
        doing->sends = doing->receives = true;
        doing->solid = step + 1;
        plan->scratch[pair->node] = layer->blocks;
        struct slots own = slots_of(plan, SPACE_RECEIVE, pair->blocks.first, pair->blocks.count);
        build_circuit(plan, step, pair->node, pair->partner, own,
                      slots_of(plan, SPACE_SCRATCH, pair->blocks.first, pair->blocks.count),
                      ROW_AFTER_RECEIVED);
    }
    for (uint32_t i = 0; i < count; i++) {
        take_in(layer, pairs[i].node, step, &pairs[i].blocks);
    }
}

struct plan *flow_plan(const struct network *network, const struct plan_request *request,
                       struct flow *flow, uint32_t blocks)
{
    return flow_plan_cut(network, request, flow, blocks, 1);
}

struct plan *flow_plan_cut(const struct network *network, const struct plan_request *request,
                           struct flow *flow, uint32_t blocks, uint32_t segments)
{
    const struct operation *operation = operation_of(request->operation);
    struct plan *plan = build_begin(network, request, false);
    bool to_one = operation->span[SPACE_SEND] != SPAN_NONE &&
                  operation->span[SPACE_SEND] != SPAN_NODES_ROOT &&
                  operation->span[SPACE_RECEIVE] != SPAN_NODES && !operation->parameter;
    bool back = operation->reduces && request->operation == ECUBE_ALLREDUCE;

    blocks *= segments;
    plan->segments = operation->vector ? blocks : segments;
    if (to_one) {
        flow_reverse(flow);
    }
    struct layer layer = layer_begin(plan, blocks, flow);
    layer_flow(&layer, flow, operation->reduces);
    if (back) {
        flow_reverse(flow);
        layer_flow(&layer, flow, false);
    }
    layer_end(&layer);
    flow_free(flow);
    return plan;
}
