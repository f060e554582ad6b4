#include "tests/judge/course.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *memory(size_t count, size_t bytes)
{
    void *zeros = calloc(count, bytes);

    if (!zeros) {
        abort();
    }
    return zeros;
}

void course_begin(struct course *course, const struct task *task, const struct rule *rule)
{
    unsigned nodes = task->shape.nodes;

    *course = (struct course){.task = task, .rule = *rule};
    course->nodes = memory(nodes, sizeof *course->nodes);
    course->link_free = memory((size_t)nodes * SHAPE_PORTS_MAX, sizeof *course->link_free);
    course->link_count = memory((size_t)nodes * SHAPE_PORTS_MAX, sizeof *course->link_count);
    course->heard = memory((size_t)nodes * nodes, sizeof *course->heard);
    for (unsigned i = 0; i < nodes; i++) {
        course->nodes[i].step = course->nodes[i].before = -1;
        course->heard[(size_t)i * nodes + i] = 1;
    }
}

void course_free(struct course *course)
{
    free(course->nodes);
    free(course->link_free);
    free(course->link_count);
    free(course->heard);
}

void course_fails(struct course *course, const char *format, ...)
{
    va_list arguments;

    if (!course->fault[0]) {
        va_start(arguments, format);
        vsnprintf(course->fault, sizeof course->fault, format, arguments);
        va_end(arguments);
    }
}

/* The number of a hop's link; NOWHERE, and it fails: no link joins its ends. */
static unsigned link_of(struct course *course, const struct course_circuit *circuit, unsigned hop)
{
    unsigned at = circuit->path[hop], next = circuit->path[hop + 1];
    unsigned port = shape_port(&course->task->shape, at, next);

    if (port == NOWHERE) {
        course_fails(course, "no link joins %u and %u", at, next);
        return NOWHERE;
    }
    return at * SHAPE_PORTS_MAX + port;
}

bool course_turn(struct course *course, const struct course_circuit *circuit)
{
    for (unsigned i = 0; i < circuit->hops; i++) {
        unsigned link = link_of(course, circuit, i);
        if (link == NOWHERE || (circuit->turns && course->link_count[link] != circuit->turns[i])) {
            return false;
        }
    }
    return true;
}

/* The node, in this step. */
static struct traveller *enter(struct course *course, unsigned number, unsigned step)
{
    struct traveller *node = &course->nodes[number];

    if (node->step != (long)step) {
        node->before = node->step;
        node->step = step;
        node->sent = node->received = 0;
        node->begun = node->begun_now;
        node->ended = node->ended_now;
    }
    return node;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void take_time(struct course *course, const struct course_circuit *circuit,
                      struct traveller *from, struct traveller *to)
{
    const struct rule *rule = &course->rule;
    uint64_t t = (circuit->ahead_from ? from->begun : from->ended) + rule->xi;

    for (unsigned i = 0; i < circuit->hops; i++) {
        t = later(t, course->link_free[link_of(course, circuit, i)]) + rule->tau;
    }
    t = later(t, circuit->ahead_to ? to->begun : to->ended);
    if (!rule->all_port) {
        t = later(t, later(from->send_free[circuit->port], to->receive_free[circuit->port]));
    }
    uint64_t width = rule->element_bytes;
    uint64_t elements = circuit->bytes / width + (circuit->bytes % width > 0);
    uint64_t done = t + (circuit->hops + elements - 1) * rule->element;
    for (unsigned i = 0; i < circuit->hops; i++) {
        course->link_free[link_of(course, circuit, i)] = done;
        course->link_count[link_of(course, circuit, i)]++;
    }
    from->send_free[circuit->port] = to->receive_free[circuit->port] = done;
    from->begun_now = later(from->begun_now, t);
    to->begun_now = later(to->begun_now, t);
    from->ended_now = later(from->ended_now, done);
    to->ended_now = later(to->ended_now, done);
    course->model_ns = later(course->model_ns, done);
}

/* What has been heard before the step is told in it; what is told in a step is not passed on. */
static void tell(struct course *course, const struct course_circuit *circuit)
{
    size_t nodes = course->task->shape.nodes;

    for (size_t i = 0; i < nodes; i++) {
        unsigned known = course->heard[circuit->from * nodes + i];
        unsigned *there = &course->heard[circuit->to * nodes + i];
        if (known && known <= circuit->step + 1 && *there == 0) {
            *there = circuit->step + 2;
        }
    }
}

void course_pass(struct course *course, const struct course_circuit *circuit)
{
    struct traveller *from = enter(course, circuit->from, circuit->step);
    struct traveller *to = enter(course, circuit->to, circuit->step);

    if (circuit->hops == 0 || circuit->path[0] != circuit->from ||
        circuit->path[circuit->hops] != circuit->to) {
        course_fails(course, "the path from %u to %u does not lead there", circuit->from,
                     circuit->to);
    }
    if (!course_turn(course, circuit)) {
        course_fails(course, "step %u: it is not the turn of %u's circuit to %u", circuit->step,
                     circuit->from, circuit->to);
    }
    if ((from->sent | to->received) >> circuit->port & 1) {
        course_fails(course, "step %u: %u sends twice, or %u receives twice", circuit->step,
                     circuit->from, circuit->to);
    }
    if (course->fault[0]) {
        return;
    }
    from->sent |= 1u << circuit->port;
    to->received |= 1u << circuit->port;
    take_time(course, circuit, from, to);
    tell(course, circuit);
    course->hops += circuit->hops;
}

void course_end(struct course *course)
{
    size_t nodes = course->task->shape.nodes;

    for (size_t i = 0; i < nodes * nodes && course->task->promise->get == BLOCKS_NONE; i++) {
        if (!course->heard[i]) {
            course_fails(course, "%zu leaves the barrier before %zu has entered", i / nodes,
                         i % nodes);
        }
    }
}
