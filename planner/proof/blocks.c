/*
 * blocks.c - the part of the proof that moves blocks by name and looks where they end.
 *
 * The name of a block:
 *
 *     SEND has a slot for every node             its destination is part of the name
 *     RECEIVE has a slot for every node          its source is part of the name
 *     an operation with operation_target         its source, and the movement if there are several
 *     a vector                                   the number of the segment
 *
 * Where contributions are combined, a slot also holds whose they are. Up to 64 nodes that is a set,
 * so a contribution that comes twice is seen. Above it is a sum of random 128-bit names: a wrong
 * sum is right by accident once in 2^128. The result wants the contributions of all nodes, or of a
 * prefix those of the ranks up to the node's own.
 *
 * Of an invariant plan only node 0 is followed. At each step every node's slots hold what node 0's
 * hold, translated to that node (by induction over the steps). So what comes to node 0 is what node
 * 0 itself sends in that step, translated to the sender.
 *
 *     exchange on cube:2, 0 -> 3    node 3 sends what it has for node 0: node 0's block for 3,
 *                                   (0, 3), moved by 3: (3, 0). It is wanted in slot 3.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/proof/contents.h"
#include "planner/proof/prove.h"

enum { SET_NODES = 64 };

/* A circuit (0: none) that a node has in a step. */
struct seen {
    uint32_t step, sends, receives;
    uint32_t solid;          /* 1 + its last step of circuits not issued ahead */
    uint32_t sent, received; /* 1 + its last step before this one with a circuit out, or in */
};

struct blocks {
    const struct plan *plan;
    const struct operation *operation;
    uint32_t nodes; /* that are followed */
    struct contents *spaces;
    struct seen *seen; /* of each node */
    bool ahead;    /* some circuit is, or uses a second port: steps of writing and sending count */
    bool ports;    /* some circuit uses a second port */
    bool one_port; /* what was found holds only where a port serves one circuit at a time */
    uint64_t wanted[2]; /* contributions to the result of the node that is looked at */
    struct contents cargo, put;
    struct plan_fault *fault;
    const struct plan_circuit *circuit;
    uint32_t node; /* that is looked at */
};

static const char *const space_names[SPACES] = {"send", "receive", "scratch"};

static struct contents *space_of(const struct blocks *b, uint32_t node, unsigned space)
{
    return &b->spaces[(uint64_t)node * SPACES + space];
}

/* Splitmix64: a number that looks random. */
static uint64_t mixed(uint64_t x)
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void name_of(const struct blocks *b, uint32_t node, uint64_t name[2])
{
    bool set = b->plan->network.nodes <= SET_NODES;

    name[0] = set ? UINT64_C(1) << node : mixed(2 * (uint64_t)node);
    name[1] = set ? 0 : mixed(2 * (uint64_t)node + 1);
}

static void add_names(uint64_t sum[2], const uint64_t more[2])
{
    sum[0] += more[0];
    sum[1] += more[1] + (sum[0] < more[0]);
}

/* A node's contribution is wanted in the results that are looked at from now on. */
static void want(struct blocks *b, uint32_t node)
{
    uint64_t name[2];

    name_of(b, node, name);
    add_names(b->wanted, name);
}

static bool spans_nodes(const struct blocks *b, enum space space)
{
    return b->operation->span[space] == SPAN_NODES || b->operation->span[space] == SPAN_NODES_ROOT;
}

/* The block of a movement: whose, and which. */
static uint64_t movement_block(const struct blocks *b, enum space space, uint32_t node,
                               uint32_t slot)
{
    const struct network *network = &b->plan->network;
    uint64_t source = node;

    if (space == SPACE_RECEIVE) {
        source = operation_source(b->operation, network, b->plan->root, node, slot);
    }
    return source * MOVEMENTS_MAX + movement_of(network->nodes, b->plan->root, slot);
}

/* The block that belongs into a slot of SEND at first, or of RECEIVE at last. Where blocks are cut,
 * their segments are counted where the blocks are: of the sources, or of the destinations. */
static uint64_t block_of(const struct blocks *b, enum space space, uint32_t node, uint32_t slot)
{
    uint64_t source = 0, destination = 0, m = b->plan->segments;
    bool by_destination = spans_nodes(b, SPACE_SEND);
    uint64_t segment = m > 1 ? slot % m : 0, of_source = by_destination ? 0 : segment;

    if (b->operation->vector) {
        return slot;
    }
    if (operation_has_movements(b->operation)) {
        return movement_block(b, space, node, slot);
    }
    if (by_destination) {
        destination = space == SPACE_SEND ? slot : node * m + segment;
    }
    if (spans_nodes(b, SPACE_RECEIVE)) {
        source = space == SPACE_RECEIVE ? slot : node * m + of_source;
    } else if (b->operation->parameter && space == SPACE_RECEIVE) {
        source =
            operation_source(b->operation, &b->plan->network, b->plan->root, node, 0) * m + segment;
    } else if (!b->operation->rooted && !b->operation->reduces) {
        source = node * m + of_source;
    }
    return source * (b->plan->network.nodes * m) + destination;
}

uint64_t plan_block_of(const struct plan *plan, enum space space, uint32_t node, uint32_t slot)
{
    const struct blocks b = {.plan = plan, .operation = operation_of(plan->operation)};

    return block_of(&b, space, node, slot);
}

/* The block of node 0's name, at the node to which it is moved. */
static uint64_t moved_block(const struct blocks *b, uint64_t block, uint32_t by)
{
    const struct network *network = &b->plan->network;
    uint32_t source = (uint32_t)(block / network->nodes);
    uint32_t destination = (uint32_t)(block % network->nodes);

    if (b->operation->vector) {
        return block;
    }
    if (spans_nodes(b, SPACE_RECEIVE)) {
        source = network_translate(network, source, by);
    }
    if (spans_nodes(b, SPACE_SEND)) {
        destination = network_translate(network, destination, by);
    }
    return (uint64_t)source * network->nodes + destination;
}

/* What is to be in a space from a slot on: all its slots in order, or one of a movement. */
static struct content promised(const struct blocks *b, enum space space, uint32_t node,
                               uint32_t slot)
{
    struct content content = {.slot = slot, .count = plan_slots_at(b->plan, space, node) - slot};

    if (content.count == 0) {
        return content;
    }
    content.block = block_of(b, space, node, slot);
    if (operation_has_movements(b->operation)) {
        content.count = 1;
    } else {
        content.delta = block_of(b, space, node, slot + 1) - content.block;
    }
    return content;
}

/* What a program has before the operation: what it sends, or the root's one buffer. */
static void fill(struct blocks *b, uint32_t node)
{
    bool one_buffer = b->operation->span[SPACE_SEND] == SPAN_NONE;
    enum space space = one_buffer ? SPACE_RECEIVE : SPACE_SEND;

    if (one_buffer && node != b->plan->root) {
        return;
    }
    for (uint32_t slot = 0, end = plan_slots_at(b->plan, space, node); slot < end;) {
        struct content content = promised(b, space, node, slot);
        if (b->operation->reduces) {
            name_of(b, node, content.whose);
        }
        contents_append(space_of(b, node, space), &content);
        slot += content.count;
    }
}

/* What is wrong with a slot of the node that is looked at. */
static bool fails(struct blocks *b, struct slot_range range, uint32_t slot, const char *words)
{
    (void)plan_fails(b->fault, b->circuit, slot, "%s slot %u %s", space_names[range.space], slot,
                     words);
    b->fault->node = b->node;
    b->fault->space = range.space;
    b->fault->why_at = (uint32_t)(strlen(b->fault->words) - strlen(words));
    return false;
}

/* Whether something was done in the steps that a circuit overlaps: from the last one that was not
 * issued ahead on. */
static bool in_use(uint32_t done, uint32_t solid)
{
    return done > 0 && done >= solid;
}

/* Whether a circuit issued ahead may touch what a range holds. What is in use in the steps that it
 * overlaps may be through all the same where a node has one port:
 * - a receive behind the one that wrote the range has begun before the circuit is issued, and a
 *   port
 *   begins to receive when it has received what came before; so has a send behind that of the range
 * - what comes into a range that was received begins to come when that has been received.
 * Of a plan for several ports nothing is said of those. */
static bool may_overlap(struct blocks *b, uint32_t node, const struct content *content,
                        bool overwrites)
{
    const struct seen *seen = &b->seen[node];
    bool written = in_use(content->written, seen->solid);
    bool sent = overwrites && in_use(content->sent, seen->solid);

    if (b->ports) {
        return !written && !sent;
    }
    b->one_port = b->one_port || written || sent;
    return (!written || overwrites || seen->received > content->written) &&
           (!sent || seen->sent > content->sent);
}

/* Whether what a range holds may be read, or written over, by the circuit at hand. */
static bool may_touch(struct blocks *b, uint32_t node, struct slot_range range,
                      const struct content *content, bool overwrites)
{
    uint8_t flags = b->circuit->flags;

    if (content->received && !(flags & ROW_AFTER_RECEIVED)) {
        return fails(b, range, content->slot, "may still be arriving");
    }
    if (overwrites && content->sent && !(flags & ROW_AFTER_SENT)) {
        return fails(b, range, content->slot, "may still be on its way out");
    }
    if (b->ports && !is_copy(b->circuit) && !(overwrites && (flags & ROW_COMBINES)) &&
        content->received && content->written == b->circuit->step + 1) {
        return fails(b, range, content->slot, "is received in this step by another port");
    }
    if (b->ports && !is_copy(b->circuit) && overwrites && content->sent == b->circuit->step + 1) {
        return fails(b, range, content->slot, "is sent in this step by another port");
    }
    if ((flags & ROW_AHEAD) && !may_overlap(b, node, content, overwrites)) {
        return fails(b, range, content->slot, "is in use by the step that is overlapped");
    }
    return true;
}

/* Loads what lies in some slots of a node. */
static bool load(struct blocks *b, uint32_t node, struct slot_range range)
{
    const struct contents *space = space_of(b, node, range.space);
    uint32_t at = range.first, end = range.first + range.count;

    b->node = node;
    for (uint32_t i = contents_find(space, at); at < end; i++) {
        struct content part = {0};
        if (i < space->count) {
            part = content_part(&space->list[i], at, end - at);
        }
        if (part.count == 0 || part.slot != at) {
            return fails(b, range, at, "is sent before anything is there");
        }
        if (!may_touch(b, node, range, &part, false)) {
            return false;
        }
        at += part.count;
        const struct contents *cargo = &b->cargo;
        part.slot = cargo->count
                        ? cargo->list[cargo->count - 1].slot + cargo->list[cargo->count - 1].count
                        : 0;
        part.written = is_copy(b->circuit) ? part.written : 0;
        part.sent = 0;
        part.received = false;
        contents_append(&b->cargo, &part);
    }
    return true;
}

/* The same from a node that does as node 0 does: slot by slot, back to node 0 and forth. */
static bool load_moved(struct blocks *b, struct slot_range range, uint32_t by)
{
    bool translated = space_is_translated(b->plan, range.space);
    struct contents whole = b->cargo;

    for (uint32_t i = 0; i < range.count; i++) {
        uint32_t slot = range.first + i;
        if (translated) {
            slot = network_difference(&b->plan->network, slot, by);
        }
        b->cargo = (struct contents){0};
        bool holds = load(b, 0, (struct slot_range){range.space, slot, 1});
        struct content one = holds ? b->cargo.list[0] : (struct content){0};
        contents_free(&b->cargo);
        b->cargo = whole;
        if (!holds) {
            return false;
        }
        one.block = moved_block(b, one.block, by);
        one.slot =
            whole.count ? whole.list[whole.count - 1].slot + whole.list[whole.count - 1].count : 0;
        contents_append(&b->cargo, &one);
        whole = b->cargo;
    }
    return true;
}

/* Notes that some slots of a node have been sent; what a program sends from is never written. */
static void mark_sent(struct blocks *b, uint32_t node, struct slot_range range)
{
    struct contents *space = space_of(b, node, range.space);
    uint32_t end = range.first + range.count;

    if (range.space == SPACE_SEND) {
        return;
    }
    b->put.count = 0;
    for (uint32_t i = contents_find(space, range.first);
         i < space->count && space->list[i].slot < end; i++) {
        struct content part = content_part(&space->list[i], range.first, range.count);
        part.sent = b->ahead ? b->circuit->step + 1 : 1;
        contents_append(&b->put, &part);
    }
    contents_put(space, &b->put);
}

/* Combines a block with what is there. */
static bool combine(struct blocks *b, struct slot_range range, struct content *part,
                    const struct content *there)
{
    bool set = b->plan->network.nodes <= SET_NODES;

    if (there->count != part->count || there->slot != part->slot || there->block != part->block ||
        (part->count > 1 && there->delta != part->delta)) {
        return fails(b, range, part->slot, "holds nothing that it could be combined with");
    }
    if (set && (part->whose[0] & there->whose[0])) {
        return fails(b, range, part->slot, "gets a contribution twice");
    }
    add_names(part->whose, there->whose);
    return true;
}

/* A copy takes no time: what it makes is there when what it was made of is, or when that has left
 * which it overwrites. */
static uint32_t written_over(const struct blocks *b, uint32_t written, const struct content *there)
{
    bool combines = b->circuit->flags & ROW_COMBINES;

    if (there->sent) {
        return b->circuit->step + 1;
    }
    return combines && there->written > written ? there->written : written;
}

/* Looks at what lies where a part of the cargo goes, and combines with it if it is to. The part
 * must not lie over more than one range then: it is made shorter. */
static bool meet(struct blocks *b, uint32_t node, struct slot_range range, struct content *part)
{
    const struct contents *space = space_of(b, node, range.space);
    uint32_t end = part->slot + part->count;
    bool combines = b->circuit->flags & ROW_COMBINES;
    struct content there = {0};

    for (uint32_t i = contents_find(space, part->slot);
         i < space->count && space->list[i].slot < end; i++) {
        there = content_part(&space->list[i], part->slot, part->count);
        if (!may_touch(b, node, range, &there, true)) {
            return false;
        }
        part->written = written_over(b, part->written, &there);
        if (combines) {
            break;
        }
    }
    if (!combines) {
        return true;
    }
    if (there.count < part->count) {
        part->count = there.count ? there.count : part->count;
    }
    return combine(b, range, part, &there);
}

/* A segment has its own size, so it lies only where such a one does. */
static bool size_fits(const struct blocks *b, const struct content *part)
{
    uint32_t m = b->plan->segments;
    bool of_sources = !b->operation->vector && !spans_nodes(b, SPACE_SEND);
    uint64_t unit = of_sources ? (uint64_t)b->plan->network.nodes * m : 1;

    if (m == 1) {
        return true;
    }
    int64_t further = (int64_t)part->delta / (int64_t)unit % (int64_t)m;
    return part->slot % m == part->block / unit % m &&
           (part->count == 1 || further == 1 || further == 1 - (int64_t)m);
}

/* Unloads into some slots what of the cargo begins at block `at`. */
static bool unload(struct blocks *b, uint32_t node, struct slot_range range, uint32_t at)
{
    uint32_t done = 0;

    b->node = node;
    if (range.space == SPACE_SEND) {
        return fails(b, range, range.first, "is the program's, which must not be written");
    }
    b->put.count = 0;
    for (uint32_t i = contents_find(&b->cargo, at); done < range.count;) {
        struct content part = content_part(&b->cargo.list[i], at + done, range.count - done);
        part.slot = range.first + done;
        if (!meet(b, node, range, &part)) {
            return false;
        }
        if (!size_fits(b, &part)) {
            return fails(b, range, part.slot, "is not of this segment's size");
        }
        if (!is_copy(b->circuit)) {
            part.written = b->circuit->step + 1;
        }
        part.written = b->ahead ? part.written : 0;
        part.received = !is_copy(b->circuit);
        contents_append(&b->put, &part);
        done += part.count;
        i = contents_find(&b->cargo, at + done);
    }
    contents_put(space_of(b, node, range.space), &b->put);
    return true;
}

/* Whether two lists of slots of one node have one in common. */
static bool overlap(const struct plan *plan, struct slots a, uint32_t a_by, struct slots b,
                    uint32_t b_by)
{
    struct slot_ranges left = ranges_of(plan, a, a_by);
    struct slot_range x, y;

    while (ranges_next(&left, &x)) {
        struct slot_ranges right = ranges_of(plan, b, b_by);
        while (ranges_next(&right, &y)) {
            if (x.space == y.space && x.first < y.first + y.count && y.first < x.first + x.count) {
                return true;
            }
        }
    }
    return false;
}

static struct seen *seen_now(struct blocks *b, uint32_t node)
{
    struct seen *seen = &b->seen[node];

    if (seen->step != b->circuit->step + 1) {
        seen->sent = seen->sends ? seen->step : seen->sent;
        seen->received = seen->receives ? seen->step : seen->received;
        seen->step = b->circuit->step + 1;
        seen->sends = seen->receives = 0;
    }
    if (!(b->circuit->flags & ROW_AHEAD)) {
        seen->solid = seen->step;
    }
    return seen;
}

/* What a node sends in a step must not be what it receives into in the same. */
static bool apart(struct blocks *b, uint32_t index, uint32_t by)
{
    const struct plan *plan = b->plan;
    const struct plan_circuit *circuits = plan->circuits, *circuit = b->circuit;
    uint32_t to = plan->invariant ? 0 : circuit->to;

    struct seen *seen = seen_now(b, circuit->from);
    seen->sends = index + 1;
    if (seen->receives &&
        overlap(plan, sent_slots(circuit), 0, received_slots(&circuits[seen->receives - 1]), by)) {
        return plan_fails(b->fault, circuit, UINT32_MAX, "the sender receives into what it sends");
    }
    seen = seen_now(b, to);
    seen->receives = index + 1;
    if (seen->sends &&
        overlap(plan, sent_slots(&circuits[seen->sends - 1]), 0, received_slots(circuit), by)) {
        return plan_fails(b->fault, circuit, UINT32_MAX,
                          "the receiver sends what it receives into");
    }
    return true;
}

static bool load_all(struct blocks *b, uint32_t by)
{
    struct slot_ranges ranges = ranges_of(b->plan, sent_slots(b->circuit), by);
    struct slot_range range;

    b->cargo.count = 0;
    while (ranges_next(&ranges, &range)) {
        if (!(by ? load_moved(b, range, by) : load(b, b->circuit->from, range))) {
            return false;
        }
    }
    return true;
}

static bool unload_all(struct blocks *b, uint32_t to, uint32_t by)
{
    struct slot_ranges ranges = ranges_of(b->plan, received_slots(b->circuit), by);
    struct slot_range range;
    uint32_t at = 0;

    while (ranges_next(&ranges, &range)) {
        if (!unload(b, to, range, at)) {
            return false;
        }
        at += range.count;
    }
    return true;
}

/* One circuit or copy. `by` is whose circuit comes to node 0, where that stands for all. */
static bool move(struct blocks *b, uint32_t index)
{
    const struct plan_circuit *circuit = b->circuit = &b->plan->circuits[index];
    uint32_t by = b->plan->invariant ? sender_to_zero(b->plan, circuit) : 0;
    uint32_t to = b->plan->invariant ? 0 : circuit->to;

    if (is_copy(circuit)) {
        if (overlap(b->plan, sent_slots(circuit), 0, received_slots(circuit), 0)) {
            return plan_fails(b->fault, circuit, UINT32_MAX, "it copies into what it reads");
        }
        return load_all(b, 0) && unload_all(b, to, 0);
    }
    if (!apart(b, index, by) || !load_all(b, by)) {
        return false;
    }
    struct slot_ranges ranges = ranges_of(b->plan, sent_slots(circuit), 0);
    struct slot_range range;
    while (ranges_next(&ranges, &range)) {
        mark_sent(b, circuit->from, range);
    }
    return unload_all(b, to, by);
}

/* The sum in a slot is not what is promised; of a few nodes it is said whose contributions are
 * missing. */
static bool lacks(struct blocks *b, struct slot_range range, uint32_t slot,
                  const struct content *content)
{
    uint64_t missing = b->wanted[0] & ~content->whose[0];
    char words[PLAN_WORDS_MAX / 4];
    size_t used =
        (size_t)snprintf(words, sizeof words, "%s",
                         b->operation->prefix ? "is not of the ranks up to its own at the end"
                                              : "lacks contributions at the end");

    for (uint32_t rank = 0; rank < SET_NODES && b->plan->network.nodes <= SET_NODES; rank++) {
        uint32_t end = rank;
        while (end < SET_NODES && missing >> end & 1) {
            end++;
        }
        if (end > rank && used + 16 < sizeof words) {
            used += (size_t)snprintf(words + used, sizeof words - used, "%s%u",
                                     strchr(words, ':') ? " " : ": those of ", rank);
        }
        if (end > rank + 1 && used + 16 < sizeof words) {
            used += (size_t)snprintf(words + used, sizeof words - used, "-%u", end - 1);
        }
        rank = end > rank ? end : rank;
    }
    return fails(b, range, slot, words);
}

/* Whether a node has at last what the operation promises. */
static bool kept(struct blocks *b, uint32_t node)
{
    const struct contents *space = space_of(b, node, SPACE_RECEIVE);
    struct slot_range range = {SPACE_RECEIVE, 0, 0};
    uint32_t at = 0, end = plan_slots_at(b->plan, SPACE_RECEIVE, node);

    b->circuit = NULL;
    b->node = node;
    while (at < end) {
        struct content want = promised(b, SPACE_RECEIVE, node, at), content = {0};
        uint32_t i = contents_find(space, at);
        if (i < space->count) {
            content = content_part(&space->list[i], at, want.count);
        }
        if (content.count == 0 || content.slot != at) {
            return fails(b, range, at, "is empty at the end");
        }
        if (content.block != want.block || (content.count > 1 && content.delta != want.delta)) {
            return fails(b, range, at, "holds another block at the end");
        }
        if (b->operation->reduces &&
            (content.whose[0] != b->wanted[0] || content.whose[1] != b->wanted[1])) {
            return lacks(b, range, at, &content);
        }
        at += content.count;
    }
    return true;
}

static void begin(struct blocks *b)
{
    b->spaces = planner_memory((uint64_t)b->nodes * SPACES, sizeof *b->spaces);
    b->seen = planner_memory(b->nodes, sizeof *b->seen);
    for (uint32_t node = 0; node < b->nodes; node++) {
        fill(b, node);
    }
    for (uint32_t node = 0; node < b->plan->network.nodes && !b->operation->prefix; node++) {
        want(b, node);
    }
    for (uint32_t i = 0; i < b->plan->circuit_count; i++) {
        b->ports = b->ports || b->plan->circuits[i].port > 0;
        b->ahead = b->ahead || b->ports || (b->plan->circuits[i].flags & ROW_AHEAD);
    }
}

static void end(struct blocks *b)
{
    for (uint64_t i = 0; i < (uint64_t)b->nodes * SPACES; i++) {
        contents_free(&b->spaces[i]);
    }
    contents_free(&b->cargo);
    contents_free(&b->put);
    free(b->spaces);
    free(b->seen);
}

bool prove_blocks(struct plan *plan, struct plan_fault *fault)
{
    struct blocks b = {.plan = plan,
                       .operation = operation_of(plan->operation),
                       .nodes = plan->invariant ? 1 : plan->network.nodes,
                       .fault = fault};
    bool holds = true;

    begin(&b);
    for (uint32_t i = 0; i < plan->circuit_count && holds; i++) {
        holds = move(&b, i);
    }
    for (uint32_t node = 0; node < b.nodes && holds; node++) {
        if (b.operation->prefix) {
            want(&b, node);
        }
        holds = kept(&b, node);
        if (!holds) {
            fault->to = node;
        }
    }
    plan->one_port = b.one_port;
    end(&b);
    return holds;
}
