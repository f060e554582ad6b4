/*
 * plan_replay.c - plan_replay FILE: replays an exported plan, and fails with 1 and a line where it
 * does not do what it says.
 *
 * It knows the form of the file (doc/json.md) and moves blocks by name; the rest is the judge's
 * (tests/judge/). In a step all circuits read before any of them writes.
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

#include "tests/judge/course.h"

enum { SETS_MAX = 1 << 28 };

struct moved { /* by a circuit */
    unsigned count, *blocks;
    bool combine;
    const json_t *of; /* whose parts each block holds; NULL: it is not said */
};

static struct task task;
static struct course course;
static uint64_t block_bytes;

/* What nodes have: of a block 0, not at all; 1, from the beginning; s + 2, behind step s. */
static unsigned *has;
/* Of what is combined: whose part is in it. As it is, and as it was before the present step. */
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

/* The number of a block: "s.d" of pairs, "s.+j" of powers of two, else one number. */
static unsigned block_of(const char *name)
{
    char *end;
    unsigned long number = strtoul(name, &end, 10), second = 0;

    if (task.promise->give == BLOCKS_FROM) {
        if (*end != '.') {
            fail("block '%s' is no pair", name);
        }
        second = strtoul(end + 1, &end, 10);
        number = number * task.shape.nodes + second;
    }
    if (task.promise->give == BLOCKS_GIVEN) {
        unsigned slot = *end == '.' ? task_hop(&task, end + 1) : NOWHERE;
        if (slot == NOWHERE || number >= task.shape.nodes) {
            fail("there is no block '%s'", name);
        }
        return (unsigned)number * HOPS_MAX + slot;
    }
    if (*end || second >= task.shape.nodes || number >= task_blocks(&task)) {
        fail("there is no block '%s'", name);
    }
    return (unsigned)number;
}

static struct moved read_moved(const json_t *object)
{
    const json_t *blocks = member(object, "blocks");
    struct moved moved = {.count = (unsigned)json_array_size(blocks),
                          .combine = truth(object, "combine"),
                          .of = json_object_get(object, "of")};

    moved.blocks = room(moved.count, sizeof *moved.blocks);
    for (unsigned i = 0; i < moved.count; i++) {
        const char *name = json_string_value(json_array_get(blocks, i));
        moved.blocks[i] = block_of(name ? name : "");
    }
    return moved;
}

static unsigned node_of(const json_t *value, const char *name)
{
    uint64_t node = whole(value, name);

    if (node >= task.shape.nodes) {
        fail("there is no node %" PRIu64, node);
    }
    return (unsigned)node;
}

static struct course_circuit read_circuit(const json_t *object)
{
    const json_t *listed = member(object, "path"), *bytes = member(object, "bytes");
    unsigned nodes = (unsigned)json_array_size(listed);
    unsigned *path = room(nodes, sizeof *path);
    bool ahead = truth(object, "ahead");

    for (unsigned i = 0; i < nodes; i++) {
        path[i] = node_of(json_array_get(listed, i), "path");
    }
    return (struct course_circuit){
        .step = (unsigned)number(object, "step"),
        .port = json_object_get(object, "port") ? (unsigned)number(object, "port") : 0,
        .from = node_of(member(object, "from"), "from"),
        .to = node_of(member(object, "to"), "to"),
        .hops = nodes ? nodes - 1 : 0,
        .path = path,
        .ahead_from = ahead,
        .ahead_to = ahead,
        .bytes = json_is_null(bytes) ? json_array_size(member(object, "blocks")) * block_bytes
                                     : whole(bytes, "bytes")};
}

static unsigned *has_of(unsigned node, unsigned block)
{
    return &has[(size_t)node * task_blocks(&task) + block];
}

static bool *part_of(bool *parts, unsigned node, unsigned block, unsigned whose)
{
    return &parts[((size_t)node * task_blocks(&task) + block) * task.shape.nodes + whose];
}

/* What the sender had before the step, or, ahead, before its last one, comes to the receiver. */
static void move_block(const struct course_circuit *circuit, unsigned block)
{
    long by = circuit->ahead_from ? course.nodes[circuit->from].before : (long)circuit->step;
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
static void combine(const struct course_circuit *circuit, unsigned block, bool once)
{
    for (unsigned whose = 0; whose < task.shape.nodes; whose++) {
        bool sent = *part_of(part_before, circuit->from, block, whose);
        bool *there = part_of(part, circuit->to, block, whose);
        if (once && sent && *there) {
            fail("step %u: the part of %u comes to %u twice", circuit->step, whose, circuit->to);
        }
        *there = sent || *there;
    }
}

/* The named parts are kept beside what the receiver has: "0-3 5". */
static void keep(const struct course_circuit *circuit, unsigned block, const char *ranks)
{
    while (ranks && *ranks) {
        char *end;
        unsigned long first = strtoul(ranks, &end, 10), last = first;
        if (*end == '-') {
            last = strtoul(end + 1, &end, 10);
        }
        if (end == ranks || (*end && *end != ' ') || first > last || last >= task.shape.nodes) {
            fail("step %u: '%s' names no ranks", circuit->step, ranks);
        }
        for (unsigned whose = (unsigned)first; whose <= last; whose++) {
            bool *there = part_of(part, circuit->to, block, whose);
            if (!*part_of(part_before, circuit->from, block, whose)) {
                fail("step %u: %u has not the part of %u, which it sends to %u (block %u)",
                     circuit->step, circuit->from, whose, circuit->to, block);
            }
            if (*there) {
                fail("step %u: the part of %u comes to %u twice", circuit->step, whose,
                     circuit->to);
            }
            *there = true;
        }
        ranks = *end ? end + 1 : end;
    }
}

static void replace(const struct course_circuit *circuit, unsigned block)
{
    for (unsigned whose = 0; whose < task.shape.nodes; whose++) {
        *part_of(part, circuit->to, block, whose) =
            *part_of(part_before, circuit->from, block, whose);
    }
}

static void move_blocks(const struct course_circuit *circuit, const struct moved *moved)
{
    if (moved->combine && !task.promise->combines) {
        fail("step %u: %s combines nothing", circuit->step, task.promise->name);
    }
    for (unsigned i = 0; i < moved->count; i++) {
        move_block(circuit, moved->blocks[i]);
        if (task.promise->prefix) { /* its own, and what it keeps for others: all it has heard */
            combine(circuit, moved->blocks[i], false);
        } else if (moved->of && task.promise->combines) {
            keep(circuit, moved->blocks[i], json_string_value(json_array_get(moved->of, i)));
        } else if (moved->combine) {
            combine(circuit, moved->blocks[i], true);
        } else if (task.promise->combines) {
            replace(circuit, moved->blocks[i]);
        }
    }
}

static void replay(const json_t *circuits)
{
    unsigned step = 0;

    for (unsigned i = 0; i < json_array_size(circuits); i++) {
        const json_t *object = json_array_get(circuits, i);
        struct course_circuit circuit = read_circuit(object);
        struct moved moved = read_moved(object);
        if (number(object, "order") != i || circuit.step < step) {
            fail("circuit %u is out of order", i);
        }
        if (circuit.step != step) {
            memcpy(part_before, part, part_count);
        }
        step = circuit.step;
        course_pass(&course, &circuit);
        if (course.fault[0]) {
            fail("%s", course.fault);
        }
        move_blocks(&circuit, &moved);
        free((void *)(uintptr_t)circuit.path);
        free(moved.blocks);
    }
}

static void begin(void)
{
    size_t blocks = task_blocks(&task), nodes = task.shape.nodes;

    has = room(nodes * blocks, sizeof *has);
    part_count = task.promise->combines ? nodes * blocks * nodes : 0;
    part = room(part_count, 1);
    part_before = room(part_count, 1);
    for (unsigned node = 0; node < nodes; node++) {
        for (unsigned slot = 0; slot < task_slots(&task, node, false); slot++) {
            unsigned block = task_block(&task, node, false, slot);
            *has_of(node, block) = 1;
            if (part_count) {
                *part_of(part, node, block, node) = *part_of(part_before, node, block, node) = true;
            }
        }
    }
}

static void check_end(void)
{
    for (unsigned node = 0; node < task.shape.nodes; node++) {
        for (unsigned slot = 0; slot < task_slots(&task, node, true); slot++) {
            unsigned block = task_block(&task, node, true, slot);
            if (!*has_of(node, block)) {
                fail("at the end %u has not block %u", node, block);
            }
            for (unsigned whose = 0; whose < task_givers(&task, node); whose++) {
                if (!*part_of(part, node, block, whose)) {
                    fail("at the end %u has not the part of %u (block %u)", node, whose, block);
                }
            }
        }
    }
    course_end(&course);
    if (course.fault[0]) {
        fail("%s", course.fault);
    }
}

static void read_head(const json_t *plan)
{
    const json_t *profile = member(plan, "profile");

    task.promise = promise_named(text(plan, "operation"));
    task.root = (unsigned)number(plan, "root");
    task.segments = (unsigned)number(plan, "segments");
    block_bytes = number(plan, "bytes");
    if (!task.promise) {
        fail("what %s promises is not known here", text(plan, "operation"));
    }
    if (!shape_read(&task.shape, text(plan, "network")) ||
        number(plan, "nodes") != task.shape.nodes || task.root >= task.shape.nodes ||
        text(plan, "algorithm")[0] == '\0') {
        fail("the plan's head is wrong");
    }
    course_begin(&course, &task,
                 &(struct rule){.xi = number(profile, "xi_ns"),
                                .tau = number(profile, "tau_ns"),
                                .element = number(profile, "element_ns"),
                                .element_bytes = number(profile, "element_bytes"),
                                .all_port = json_is_string(member(plan, "ports"))});
}

int main(int argc, char **argv)
{
    json_error_t error;
    json_t *plan = argc > 1 ? json_load_file(argv[1], JSON_REJECT_DUPLICATES, &error) : NULL;

    if (!plan) {
        fail("plan_replay: %s", argc > 1 ? error.text : "usage: plan_replay FILE");
    }
    read_head(plan);
    begin();
    replay(member(plan, "circuits"));
    check_end();
    if (course.model_ns != time_of(plan, "predicted_us")) {
        fail("it takes %" PRIu64 " ns, predicted are %" PRIu64, course.model_ns,
             time_of(plan, "predicted_us"));
    }
    if (time_of(plan, "bound_us") > course.model_ns) {
        fail("the bound is above the time");
    }
    course_free(&course);
    json_decref(plan);
    return 0;
}
