/*
 * debuggers.c - who has halted or reset which node, as ecube-jtag tells it.
 *
 * Pure bookkeeping. A dead node counts as running: no debugger lets it go on, and clocks that stood
 * still for it would stand for ever.
 */
#include "host/machine/debuggers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 8, NAMES_TEXT_MAX = 100 };

bool debuggers_init(struct debuggers *debuggers, uint32_t count, bool blank)
{
    *debuggers =
        (struct debuggers){.count = count, .nodes = calloc(count, sizeof(struct debugged_node))};
    for (uint32_t rank = 0; blank && debuggers->nodes && rank < count; rank++) {
        debuggers->nodes[rank].blank = true;
        debuggers->nodes[rank].state = JTAG_HALTED;
    }
    return debuggers->nodes != NULL;
}

void debuggers_free(struct debuggers *debuggers)
{
    free(debuggers->nodes);
    *debuggers = (struct debuggers){0};
}

void debuggers_changed(struct debuggers *debuggers, uint32_t rank, enum jtag_state state,
                       const char *holder)
{
    struct debugged_node *node = &debuggers->nodes[rank];

    node->state = state;
    node->blank = node->blank && state != JTAG_RUNNING;
    snprintf(node->holder, sizeof node->holder, "%s", holder);
    if (node->was_reset && !node->resetter[0]) { /* who has it is told behind the reset */
        snprintf(node->resetter, sizeof node->resetter, "%s", holder);
    }
}

void debuggers_was_reset(struct debuggers *debuggers, uint32_t rank)
{
    struct debugged_node *node = &debuggers->nodes[rank];

    node->was_reset = true;
    memcpy(node->resetter, node->holder, sizeof node->resetter);
}

void debuggers_node_died(struct debuggers *debuggers, uint32_t rank)
{
    debuggers->nodes[rank].dead = true;
}

void debuggers_forget_resets(struct debuggers *debuggers)
{
    for (uint32_t rank = 0; rank < debuggers->count; rank++) {
        debuggers->nodes[rank].was_reset = false;
        debuggers->nodes[rank].resetter[0] = '\0';
    }
}

bool debuggers_halt(const struct debuggers *debuggers, uint32_t rank)
{
    const struct debugged_node *node = &debuggers->nodes[rank];

    /* JTAG_LOST, too: the node will not run before its debugger helps it. */
    return !node->dead && node->state != JTAG_RUNNING;
}

bool debuggers_halt_any(const struct debuggers *debuggers)
{
    uint32_t rank = 0;

    while (rank < debuggers->count && !debuggers_halt(debuggers, rank)) {
        rank++;
    }
    return rank < debuggers->count;
}

unsigned debuggers_blank_count(const struct debuggers *debuggers)
{
    unsigned count = 0;

    for (uint32_t rank = 0; rank < debuggers->count; rank++) {
        count += debuggers->nodes[rank].blank;
    }
    return count;
}

const char *debuggers_text(const struct debuggers *debuggers, uint32_t rank,
                           char text[DEBUG_TEXT_MAX])
{
    const struct debugged_node *node = &debuggers->nodes[rank];

    if (node->blank) {
        snprintf(text, DEBUG_TEXT_MAX, "blank: it has no kernel yet%s%s",
                 node->holder[0] ? ", held by " : "", node->holder);
    } else if (node->state == JTAG_LOST) {
        snprintf(text, DEBUG_TEXT_MAX, "told to run where no memory is%s%s",
                 node->holder[0] ? ", by " : "", node->holder);
    } else if (node->state == JTAG_HALTED && node->holder[0]) {
        snprintf(text, DEBUG_TEXT_MAX, "halted by %s", node->holder);
    } else if (node->state == JTAG_HALTED) {
        snprintf(text, DEBUG_TEXT_MAX, "halted; nobody debugs it: 'ecube debug %u' does",
                 (unsigned)rank);
    } else {
        snprintf(text, DEBUG_TEXT_MAX, "running");
    }
    return text;
}

json_t *debuggers_describe(const struct debuggers *debuggers, uint32_t rank)
{
    static const char *const states[] = {
        [JTAG_RUNNING] = "running", [JTAG_HALTED] = "halted", [JTAG_LOST] = "lost"};
    const struct debugged_node *node = &debuggers->nodes[rank];

    if (node->state == JTAG_RUNNING && !node->holder[0]) {
        return json_null();
    }
    return json_pack("{s:s, s:o}", "state", node->blank ? "blank" : states[node->state], "holder",
                     node->holder[0] ? json_string(node->holder) : json_null());
}

json_t *debuggers_reset_nodes(const struct debuggers *debuggers)
{
    json_t *nodes = json_array();

    for (uint32_t rank = 0; rank < debuggers->count; rank++) {
        if (debuggers->nodes[rank].was_reset) {
            json_array_append_new(nodes, json_integer(rank));
        }
    }
    return nodes;
}

/* "node 3 was", "nodes 0, 2 were", "all 4 nodes were" */
static void name_nodes(const struct debuggers *debuggers, const json_t *nodes,
                       char text[NAMES_TEXT_MAX])
{
    size_t count = json_array_size(nodes), at;

    if (count == debuggers->count && count > 1) {
        snprintf(text, NAMES_TEXT_MAX, "all %zu nodes were", count);
        return;
    }
    at = (size_t)snprintf(text, NAMES_TEXT_MAX, "node%s", count > 1 ? "s" : "");
    for (size_t i = 0; i < count && i < NAMES_MAX; i++) {
        at += (size_t)snprintf(text + at, NAMES_TEXT_MAX - at, "%s %d", i ? "," : "",
                               (int)json_integer_value(json_array_get(nodes, i)));
    }
    if (count > NAMES_MAX) {
        at += (size_t)snprintf(text + at, NAMES_TEXT_MAX - at, " and %zu more", count - NAMES_MAX);
    }
    snprintf(text + at, NAMES_TEXT_MAX - at, " %s", count > 1 ? "were" : "was");
}

bool debuggers_reset_text(const struct debuggers *debuggers, char text[RESET_TEXT_MAX])
{
    json_t *nodes = debuggers_reset_nodes(debuggers);
    bool any = json_array_size(nodes) > 0;

    if (any) {
        size_t first = (size_t)json_integer_value(json_array_get(nodes, 0));
        const char *resetter = debuggers->nodes[first].resetter;
        char names[NAMES_TEXT_MAX];

        name_nodes(debuggers, nodes, names);
        snprintf(text, RESET_TEXT_MAX, "%s reset through a debugger%s%s%s", names,
                 resetter[0] ? " (" : "", resetter, resetter[0] ? ")" : "");
    }
    json_decref(nodes);
    return any;
}
