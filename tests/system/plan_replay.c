/*
 * plan_replay.c - plan_replay FILE: replays an exported plan, and fails with 1 and a line where it
 * does not do what it says.
 *
 * It knows the form of the file (doc/json.md), how the nodes of a network are numbered and joined,
 * what operations promise, and this rule of time; nothing of the planner.
 *
 *     t = issue + xi; per hop t = max(t, link free) + tau; begin = max(t, send port free, receiver
 *     ready, receive port free); done = begin + (hops + bytes - 1) elements
 *
 * Issue and ready are when the node's circuits of earlier steps are done, or, ahead, have begun. In
 * a step all circuits read before any of them writes.
 *
 * Units    ns
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIMS_MAX = 16, SETS_MAX = 1 << 28 };

/* Sizes by dimension, the first the one that varies fastest with a node's number. */
struct shape {
    unsigned dims, nodes, size[DIMS_MAX];
    bool wraps;
};

/* A node: what it does in the present step, and when it was through with those before. */
struct node {
    long step, before; /* the last in which it had a circuit, and the one before that */
    unsigned sends, receives;
    uint64_t begun, ended, begun_now, ended_now, send_free, receive_free;
};

struct circuit {
    unsigned step, from, to, hops, *path, count, *blocks;
    bool combine, ahead;
    uint64_t bytes;
};

static struct shape shape;
static struct node *nodes;
static uint64_t *link_free; /* by its two ends */
static uint64_t xi, tau, element, model;
static const char *operation;
static unsigned root, segments, blocks_max;
static uint64_t block_bytes;

/* What nodes have: of a block 0, not at all; 1, from the beginning; s + 2, behind step s. */
static unsigned *has;
/* Of what is combined, and of what nodes have heard: whose part is in it. As it is, and as it was
 * before the present step. */
static bool *part, *part_before;
static size_t part_count;

_Noreturn __attribute__((format(printf, 1, 2))) static void fail(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    putchar('\n');
    exit(1);
}

static const json_t *member(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);

    if (!value) {
        fail("there is no \"%s\"", name);
    }
    return value;
}

static uint64_t whole(const json_t *value, const char *name)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        fail("\"%s\" is no whole number", name);
    }
    return (uint64_t)json_integer_value(value);
}

static uint64_t number(const json_t *object, const char *name)
{
    return whole(member(object, name), name);
}

/* A time in us as ns, exactly. */
static uint64_t time_of(const json_t *object, const char *name)
{
    const json_t *value = member(object, name);

    if (!json_is_number(value)) {
        fail("\"%s\" is no number", name);
    }
    return (uint64_t)(json_number_value(value) * 1000 + 0.5);
}

static bool truth(const json_t *object, const char *name)
{
    const json_t *value = member(object, name);

    if (!json_is_boolean(value)) {
        fail("\"%s\" is neither true nor false", name);
    }
    return json_is_true(value);
}

static const char *text(const json_t *object, const char *name)
{
    const char *value = json_string_value(member(object, name));

    if (!value) {
        fail("\"%s\" is no text", name);
    }
    return value;
}

static void *room(size_t count, size_t bytes)
{
    void *memory = count <= SETS_MAX ? calloc(count + 1, bytes) : NULL;

    if (!memory) {
        fail("there is no memory for it");
    }
    return memory;
}

/* cube:D, ring:N, mesh:AxB, torus:AxBxC: the last number is dimension 0. */
static void read_shape(const char *name)
{
    char *at = strchr(name, ':');
    unsigned sizes[DIMS_MAX];

    shape = (struct shape){.nodes = 1, .wraps = name[0] == 'r' || name[0] == 't'};
    if (!at) {
        fail("'%s' is no network", name);
    }
    do {
        sizes[shape.dims++] = (unsigned)strtoul(at + 1, &at, 10);
    } while (*at == 'x' && shape.dims < DIMS_MAX);
    if (name[0] == 'c') {
        shape.dims = sizes[0];
        for (unsigned i = 0; i < shape.dims; i++) {
            sizes[i] = 2;
        }
    }
    for (unsigned i = 0; i < shape.dims; i++) {
        shape.size[i] = sizes[shape.dims - 1 - i];
        shape.nodes *= shape.size[i];
    }
}

/* Whether a link joins two nodes: they differ by one in one dimension, or are a ring's ends. */
static bool joined(unsigned a, unsigned b)
{
    unsigned differ = 0, apart = 0, size = 0;

    for (unsigned i = 0; i < shape.dims; i++) {
        unsigned x = a % shape.size[i], y = b % shape.size[i];
        if (x != y) {
            differ++;
            apart = x > y ? x - y : y - x;
            size = shape.size[i];
        }
        a /= shape.size[i];
        b /= shape.size[i];
    }
    return differ == 1 && (apart == 1 || (shape.wraps && apart == size - 1));
}

static bool is(const char *name)
{
    return strcmp(operation, name) == 0;
}

/* Blocks are pairs of nodes. */
static bool is_exchange(void)
{
    return is("alltoall") || is("alltoallv");
}

static bool is_combined(void)
{
    return is("reduce") || is("allreduce") || is("reduce_scatter") || is("scan");
}

/* The number of a block: "s.d" of alltoall, else one number. */
static unsigned block_of(const char *name)
{
    char *end;
    unsigned long first = strtoul(name, &end, 10), second = 0;
    bool pair = is_exchange();

    if (pair && *end == '.') {
        second = strtoul(end + 1, &end, 10);
    } else if (pair) {
        fail("block '%s' is no pair", name);
    }
    if (*end || first >= (pair ? shape.nodes : blocks_max) || second >= shape.nodes) {
        fail("there is no block '%s'", name);
    }
    return (unsigned)(pair ? first * shape.nodes + second : first);
}

static struct circuit read_circuit(const json_t *object)
{
    const json_t *path = member(object, "path"), *blocks = member(object, "blocks");
    const json_t *bytes = member(object, "bytes");
    struct circuit circuit = {.step = (unsigned)number(object, "step"),
                              .from = (unsigned)number(object, "from"),
                              .to = (unsigned)number(object, "to"),
                              .hops = (unsigned)json_array_size(path) - 1,
                              .count = (unsigned)json_array_size(blocks),
                              .combine = truth(object, "combine"),
                              .ahead = truth(object, "ahead")};

    circuit.path = room(json_array_size(path), sizeof *circuit.path);
    for (unsigned i = 0; i < json_array_size(path); i++) {
        circuit.path[i] = (unsigned)whole(json_array_get(path, i), "path");
        if (circuit.path[i] >= shape.nodes) {
            fail("there is no node %u", circuit.path[i]);
        }
    }
    circuit.blocks = room(circuit.count, sizeof *circuit.blocks);
    for (unsigned i = 0; i < circuit.count; i++) {
        circuit.blocks[i] = block_of(json_string_value(json_array_get(blocks, i)));
    }
    circuit.bytes = json_is_null(bytes) ? circuit.count * block_bytes : whole(bytes, "bytes");
    return circuit;
}

static void check_path(const struct circuit *circuit)
{
    if (circuit->hops + 1 < 2 || circuit->path[0] != circuit->from ||
        circuit->path[circuit->hops] != circuit->to) {
        fail("the path from %u to %u does not lead there", circuit->from, circuit->to);
    }
    for (unsigned i = 0; i < circuit->hops; i++) {
        if (!joined(circuit->path[i], circuit->path[i + 1])) {
            fail("no link joins %u and %u", circuit->path[i], circuit->path[i + 1]);
        }
    }
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The node, in this step. */
static struct node *enter(unsigned number, unsigned step)
{
    struct node *node = &nodes[number];

    if (node->step != (long)step) {
        node->before = node->step;
        node->step = step;
        node->sends = node->receives = 0;
        node->begun = node->begun_now;
        node->ended = node->ended_now;
    }
    return node;
}

static uint64_t *link_of(const struct circuit *circuit, unsigned hop)
{
    return &link_free[(size_t)circuit->path[hop] * shape.nodes + circuit->path[hop + 1]];
}

static void pass_time(const struct circuit *circuit, struct node *from, struct node *to)
{
    uint64_t t = (circuit->ahead ? from->begun : from->ended) + xi;

    for (unsigned i = 0; i < circuit->hops; i++) {
        t = later(t, *link_of(circuit, i)) + tau;
    }
    t = later(t, circuit->ahead ? to->begun : to->ended);
    t = later(t, later(from->send_free, to->receive_free));
    uint64_t done = t + (circuit->hops + circuit->bytes - 1) * element;
    for (unsigned i = 0; i < circuit->hops; i++) {
        *link_of(circuit, i) = done;
    }
    from->send_free = to->receive_free = done;
    from->begun_now = later(from->begun_now, t);
    to->begun_now = later(to->begun_now, t);
    from->ended_now = later(from->ended_now, done);
    to->ended_now = later(to->ended_now, done);
    model = later(model, done);
}

static unsigned *has_of(unsigned node, unsigned block)
{
    return &has[(size_t)node * blocks_max + block];
}

static bool *part_of(bool *parts, unsigned node, unsigned block, unsigned whose)
{
    return &parts[((size_t)node * blocks_max + block) * shape.nodes + whose];
}

/* What the sender had before the step, or, ahead, before its last one, comes to the receiver. */
static void move_block(const struct circuit *circuit, const struct node *from, unsigned block)
{
    long by = circuit->ahead ? from->before : (long)circuit->step;
    unsigned since = *has_of(circuit->from, block);
    unsigned *there = has_of(circuit->to, block);

    if (since == 0 || (since > 1 && (long)since - 1 > by)) {
        fail("step %u: %u has not yet what it sends to %u (block %u)", circuit->step, circuit->from,
             circuit->to, block);
    }
    if (*there == 0) {
        *there = circuit->step + 2;
    }
}

/* The sender's parts are added to the receiver's, none twice, or stand in their place. */
static void combine(const struct circuit *circuit, unsigned block, bool once)
{
    for (unsigned whose = 0; whose < shape.nodes; whose++) {
        bool sent = *part_of(part_before, circuit->from, block, whose);
        bool *there = part_of(part, circuit->to, block, whose);
        if (once && sent && *there) {
            fail("step %u: the part of %u comes to %u twice", circuit->step, whose, circuit->to);
        }
        *there = sent || *there;
    }
}

static void replace(const struct circuit *circuit, unsigned block)
{
    for (unsigned whose = 0; whose < shape.nodes; whose++) {
        *part_of(part, circuit->to, block, whose) =
            *part_of(part_before, circuit->from, block, whose);
    }
}

static void move_blocks(const struct circuit *circuit, const struct node *from)
{
    if (circuit->combine && !is_combined()) {
        fail("step %u: %s combines nothing", circuit->step, operation);
    }
    if (is("barrier")) {
        combine(circuit, 0, false);
    }
    for (unsigned i = 0; i < circuit->count; i++) {
        move_block(circuit, from, circuit->blocks[i]);
        if (is("scan")) { /* its prefix, and what it keeps for others: all that it has heard */
            combine(circuit, circuit->blocks[i], false);
        } else if (is_combined() && circuit->combine) {
            combine(circuit, circuit->blocks[i], true);
        } else if (is_combined()) {
            replace(circuit, circuit->blocks[i]);
        }
    }
}

static void replay(const json_t *circuits)
{
    unsigned step = 0;

    for (unsigned i = 0; i < json_array_size(circuits); i++) {
        const json_t *object = json_array_get(circuits, i);
        struct circuit circuit = read_circuit(object);
        if (number(object, "order") != i || circuit.step < step) {
            fail("circuit %u is out of order", i);
        }
        check_path(&circuit);
        if (circuit.step != step) {
            memcpy(part_before, part, part_count);
        }
        step = circuit.step;
        struct node *from = enter(circuit.from, step), *to = enter(circuit.to, step);
        if (from->sends++ || to->receives++) {
            fail("step %u: %u sends twice, or %u receives twice", step, circuit.from, circuit.to);
        }
        pass_time(&circuit, from, to);
        move_blocks(&circuit, from);
        free(circuit.path);
        free(circuit.blocks);
    }
}

/* Whether a node has a block at first, or must have it at last. */
static bool given(unsigned node, unsigned block)
{
    return is_exchange()                      ? block / shape.nodes == node
           : is("shift") || is("reverse")     ? block == node
           : is("allgather") || is("gather")  ? block == node
           : is("scatter") || is("broadcast") ? node == root
                                              : is_combined();
}

/* The node whose coordinates in the dimensions of the mask `root`, in all by 0, are this one's
 * counted from the other end. */
static unsigned backwards(unsigned node)
{
    unsigned other = 0, stride = 1;

    for (unsigned i = 0; i < shape.dims; i++) {
        unsigned at = node / stride % shape.size[i];
        other += stride * (root == 0 || root >> i & 1 ? shape.size[i] - 1 - at : at);
        stride *= shape.size[i];
    }
    return other;
}

static bool promised(unsigned node, unsigned block)
{
    return is_exchange()                           ? block % shape.nodes == node
           : is("gather") || is("reduce")          ? node == root
           : is("scatter") || is("reduce_scatter") ? block == node
           : is("shift")                           ? (block + root) % shape.nodes == node
           : is("reverse")                         ? backwards(block) == node
           : is("barrier")                         ? false
                                                   : true;
}

static void begin(void)
{
    static const char *const known[] = {
        "barrier", "broadcast", "reduce",   "allreduce", "reduce_scatter", "scan",   "scatter",
        "gather",  "allgather", "alltoall", "alltoallv", "shift",          "reverse"};
    bool found = false;

    for (unsigned i = 0; i < sizeof known / sizeof known[0]; i++) {
        found = found || is(known[i]);
    }
    if (!found) {
        fail("what %s promises is not known here", operation);
    }
    bool vector = is("broadcast") || (is_combined() && !is("reduce_scatter"));
    blocks_max = is_exchange() ? shape.nodes * shape.nodes : vector ? segments : shape.nodes;
    has = room((size_t)shape.nodes * blocks_max, sizeof *has);
    part_count =
        is_combined() || is("barrier") ? (size_t)shape.nodes * blocks_max * shape.nodes : 0;
    part = room(part_count, 1);
    part_before = room(part_count, 1);
    for (unsigned node = 0; node < shape.nodes; node++) {
        nodes[node].step = nodes[node].before = -1;
        for (unsigned block = 0; block < blocks_max; block++) {
            *has_of(node, block) = given(node, block);
            if (part_count) {
                *part_of(part, node, block, node) = *part_of(part_before, node, block, node) = true;
            }
        }
    }
}

/* Of a prefix those of the ranks up to the node's. */
static void check_parts(unsigned node, unsigned block)
{
    unsigned count = is("scan") ? node + 1 : shape.nodes;

    for (unsigned whose = 0; whose < count; whose++) {
        if (!*part_of(part, node, block, whose)) {
            fail("at the end %u has not the part of %u (block %u)", node, whose, block);
        }
    }
}

static void check_end(void)
{
    for (unsigned node = 0; node < shape.nodes; node++) {
        if (is("barrier")) {
            check_parts(node, 0);
        }
        for (unsigned block = 0; block < blocks_max; block++) {
            if (promised(node, block) && !*has_of(node, block)) {
                fail("at the end %u has not block %u", node, block);
            }
            if (promised(node, block) && is_combined()) {
                check_parts(node, block);
            }
        }
    }
}

static void read_head(const json_t *plan)
{
    const json_t *profile = member(plan, "profile");

    read_shape(text(plan, "network"));
    operation = text(plan, "operation");
    root = (unsigned)number(plan, "root");
    segments = (unsigned)number(plan, "segments");
    block_bytes = number(plan, "bytes");
    xi = number(profile, "xi_ns");
    tau = number(profile, "tau_ns");
    element = number(profile, "element_ns");
    if (number(plan, "nodes") != shape.nodes || number(plan, "ports") != 1 || root >= shape.nodes ||
        text(plan, "algorithm")[0] == '\0') {
        fail("the plan's head is wrong");
    }
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *plan = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;

    if (!plan) {
        fail("plan_replay: %s", argc > 1 ? error.text : "usage: plan_replay FILE");
    }
    read_head(plan);
    nodes = room(shape.nodes, sizeof *nodes);
    link_free = room((size_t)shape.nodes * shape.nodes, sizeof *link_free);
    begin();
    replay(member(plan, "circuits"));
    check_end();
    if (model != time_of(plan, "predicted_us")) {
        fail("it takes %" PRIu64 " ns, predicted are %" PRIu64, model,
             time_of(plan, "predicted_us"));
    }
    if (time_of(plan, "bound_us") > model) {
        fail("the bound is above the time");
    }
    json_decref(plan);
    return 0;
}
