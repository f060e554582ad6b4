/*
 * failure.c - dead nodes, dead links, nodes that were reset.
 *
 *   first sign     the machine is broken: nothing can be loaded, nobody waits for silent nodes
 *                  a dead node is told at once, for nothing explains it
 *   + 300 ms       told: that nodes were reset; each dead link that neither a dead nor a reset node
 *                  explains; then EVENT_BROKEN, and the phase is over
 *   later signs    the same once more, from READY
 *
 * A dead link is told late, because its two ends hear of it at different times, and because that of
 * a dead node is told by its neighbours before the owner knows that the node's process has ended.
 *
 * A node that starts anew knows nothing of what it had agreed on with its neighbours: so it breaks
 * the machine, unless that boots and nobody knew it. When every node has been reset since the boot
 * began, the machine starts from the beginning (EVENT_RESTART). A dead node or a cut cable is not
 * mended by that.
 *
 * Units    us of wall time
 */
#include "controller/internal.h"
#include "router/router.h"

/* The first sign begins the time in which others are collected. What comes while the failure is
 * reported is reported with it. */
void failure_break(struct controller *controller)
{
    controller->broken = true;
    controller->offers_us = controller->crossed_us = controller->gather.again_us = UINT64_MAX;
    if (controller->failure_us == UINT64_MAX && !controller->failing) {
        controller->failure_us = controller->now_us + FAILURE_COLLECT_MS * UINT64_C(1000);
    }
}

bool controller_link_is_dead(const struct controller *controller, uint32_t a, uint32_t b)
{
    for (unsigned i = 0; i < controller->dead_link_count; i++) {
        const struct controller_dead_link *link = &controller->dead_links[i];

        if ((link->node == a && link->peer == b) || (link->node == b && link->peer == a)) {
            return true;
        }
    }
    return false;
}

/* Both ends tell of a dead link, and are one. What finds no place in the table breaks the machine
 * as the others do; nobody reads of more than 64. */
void failure_link(struct controller *controller, uint32_t node, uint32_t peer, uint8_t reason)
{
    if (controller->restarts || controller_link_is_dead(controller, node, peer)) {
        return;
    }
    controller->cuts += reason == DEAD_CARRIER;
    if (controller->dead_link_count < CONTROLLER_DEAD_LINKS_MAX) {
        controller->dead_links[controller->dead_link_count++] =
            (struct controller_dead_link){.node = node, .peer = peer, .reason = reason};
    }
    failure_break(controller);
}

/* The host's own link to it: its carrier may be seen to be lost much later, or never. */
static void kill_host_link(struct controller *controller, uint32_t rank)
{
    for (unsigned i = 0; i < controller->router.port_count; i++) {
        if (controller->peers[i] == rank) {
            router_kill_port(&controller->router, i, DEAD_CARRIER);
        }
    }
}

/* Its death is told by the next event. A node stands in one list at a time: one that is dead is not
 * waited for in a download. So both lists may use the same member. */
static void note_death(struct controller *controller, uint32_t rank)
{
    controller->nodes[rank].newer = CONTROLLER_NO_NODE;
    if (controller->death_first == CONTROLLER_NO_NODE) {
        controller->death_first = rank;
    } else {
        controller->nodes[controller->death_last].newer = rank;
    }
    controller->death_last = rank;
}

void controller_node_died(struct controller *controller, uint32_t rank, uint64_t now_us)
{
    struct controller_node *node = &controller->nodes[rank];

    controller->now_us = now_us;
    if (controller_has(controller, rank, NODE_DEAD)) {
        return;
    }
    /* Nobody waits for it: a question may be over by that, a download has failed. */
    query_leave(controller, rank);
    silence_forget(controller, rank);
    controller->halted -= controller_has(controller, rank, NODE_HALTED);
    node->flags |= NODE_DEAD;
    controller->deaths++;
    note_death(controller, rank);
    kill_host_link(controller, rank);
    failure_break(controller);
}

bool failure_tell_death(struct controller *controller)
{
    uint32_t rank = controller->death_first;

    /* It may be the last one: the list is empty again, and its end forgotten. */
    if (rank == CONTROLLER_NO_NODE) {
        return false;
    }
    controller->death_first = controller->nodes[rank].newer;
    controller_tell(controller, EVENT_NODE_DIED)->rank = rank;
    return true;
}

/* Whether the end of a link explains that it is dead, and is told itself. A reset leaves the
 * carrier. */
static bool explains(const struct controller *controller, uint32_t rank, uint8_t reason)
{
    return rank < controller->config.network->nodes &&
           (controller_has(controller, rank, NODE_DEAD) ||
            (controller_has(controller, rank, NODE_RESET) && reason != DEAD_CARRIER));
}

bool controller_reports_link(const struct controller *controller,
                             const struct controller_dead_link *link)
{
    return !explains(controller, link->node, link->reason) &&
           !explains(controller, link->peer, link->reason);
}

static void tell_link(struct controller *controller, const struct controller_dead_link *link)
{
    if (controller_reports_link(controller, link)) {
        struct controller_event *event = controller_tell(controller, EVENT_LINK_DIED);

        event->rank = link->node;
        event->peer = link->peer;
        event->reason = link->reason;
    }
}

/* One at a time: there may be more links than places for events. */
void failure_tell(struct controller *controller)
{
    /* Who was reset in the boot and has told its links since is not counted any more. */
    if (controller->resets_due && controller->resets > 0) {
        controller_tell(controller, EVENT_RESET);
        controller->resets_due = false;
    } else if (controller->dead_links_reported < controller->dead_link_count) {
        tell_link(controller, &controller->dead_links[controller->dead_links_reported++]);
    } else {
        controller->failing = false;
        controller_tell(controller, EVENT_BROKEN);
        controller->phase = PHASE_READY;
        controller->timing_out = false;
    }
}

/* Counted as they come: a link without a carrier is a cable, or a device that is gone. */
bool controller_reset_mends(const struct controller *controller)
{
    return controller->deaths == 0 && controller->cuts == 0;
}

/* Nothing goes on that was: the owner makes the links anew. */
static void restart(struct controller *controller)
{
    controller_tell(controller, EVENT_RESTART);
    controller->phase = PHASE_READY;
    controller->broken = controller->restarts = true;
    controller->failing = controller->timing_out = false;
    controller->failure_us = controller->offers_us = controller->crossed_us = UINT64_MAX;
    controller->gather.again_us = UINT64_MAX;
}

void controller_was_reset(struct controller *controller, uint32_t rank, uint64_t now_us)
{
    struct controller_node *node = &controller->nodes[rank];

    controller->now_us = now_us;
    if (controller->restarts) {
        return;
    }
    /* Reset twice is reset. That it was so is told again, for it may be another debugger's work. */
    controller->resets += !controller_has(controller, rank, NODE_RESET);
    controller->resets_due = true;
    node->flags |= NODE_RESET;
    if (controller->resets == controller->config.network->nodes &&
        controller_reset_mends(controller)) {
        restart(controller);
    } else if (controller->phase == PHASE_BOOT) {
        boot_forget(controller, rank);
    } else {
        failure_break(controller);
    }
}
