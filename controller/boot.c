/*
 * boot.c - the boot: it is over when all nodes have told of their links and all are as they should
 * be.
 *
 *   node   numbers spread from the host through HELLOs; a node that knows its own and whose links
 *          have settled, or that has waited long enough, tells LINKS
 *   here   LINKS of each node: right, or findings (ports that are not right)
 *          all right                            EVENT_BOOTED, unless the owner holds the boot
 *          crossed, all have told               failed at once: waiting mends no cable
 *          crossed, some are silent             failed after CROSSED_GRACE_US: their words may come
 *          nothing new for the owner's patience failed
 *
 * New is a sign that was not there before: a link that is heard or up, at the host or as a node
 * tells, and a node that tells for the first time. There is only so much to show, and links that
 * come and go count once, so a boot ends; but a slow machine that shows more and more has its time.
 *
 * Of a node that is right nothing is kept: the network says where its links lead. So a machine of
 * 65,536 nodes with a few wrong cables needs places for a few findings.
 *
 * Units    us of passed time, but for the grace, which is of the wall
 */
#include <string.h>

#include "controller/internal.h"
#include "router/router.h"

enum { CROSSED_GRACE_US = 1000 * 1000 /* only more words are waited for */ };

/* The host's port is the one behind the network's, at the nodes that the host has a link to. */
bool boot_has_link(const struct network *network, uint32_t rank, unsigned port)
{
    return port == network->ports ? network_host_link_of(network, rank) >= 0
                                  : network_neighbour(network, rank, port) != NETWORK_NO_NODE;
}

unsigned boot_ports(const struct network *network, uint32_t rank)
{
    unsigned ports = network->ports + 1u;

    while (ports > 0 && !boot_has_link(network, rank, ports - 1)) {
        ports--;
    }
    return ports;
}

/* Nodes may have told before, in an earlier boot that a reset has ended; their entries are new. */
void boot_begin(struct controller *controller)
{
    controller->phase = PHASE_BOOT;
    controller->signs_seen = 0;
    controller->quiet_us = 0;
    controller->crossed = false;
    controller->crossed_us = UINT64_MAX;
}

/* The boot has failed, for good. The machine is broken by it: who is not reached cannot be loaded,
 * and a crossed cable would take the program elsewhere. */
static void fail(struct controller *controller, enum boot_failure reason, uint32_t crossed)
{
    struct controller_event *event = controller_tell(controller, EVENT_BOOT_FAILED);

    event->reason = (uint8_t)reason;
    event->done = controller->right_count;
    event->peer = controller->reported_count;
    event->status = (int32_t)crossed;
    failure_break(controller);
}

void boot_give_up(struct controller *controller)
{
    /* It may come late: the last node has told meanwhile, or the machine has broken otherwise. */
    controller->crossed_us = UINT64_MAX;
    if (controller->phase != PHASE_BOOT || controller->broken) {
        return;
    }
    if (controller->right_count == controller->config.network->nodes) {
        /* Nothing is wrong but that the owner was not ready: it says why. */
        fail(controller, BOOT_HELD, 0);
    } else {
        bool unsure;
        uint32_t crossed = cables_crossed(controller, &unsure);
        fail(controller, unsure ? BOOT_UNSURE : crossed ? BOOT_CROSSED : BOOT_SILENT, crossed);
    }
}

/* Called when the last thing may have become right: by LINKS, or by the owner. */
void boot_check(struct controller *controller)
{
    if (controller->phase == PHASE_BOOT && !controller->broken && !controller->config.boot_held &&
        controller->right_count == controller->config.network->nodes) {
        controller->crossed_us = UINT64_MAX;
        controller_tell(controller, EVENT_BOOTED)->done = controller->right_count;
        controller->phase = PHASE_READY;
    }
}

void controller_release_boot(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    controller->config.boot_held = false;
    boot_check(controller);
}

/* A link that is up shows more than one that is heard, or that was up and is dead. */
static unsigned sign(uint8_t state)
{
    return state == LINK_SILENT ? 0 : state == LINK_UP ? 2 : 1;
}

/* What the ends of the host's own links show. */
static uint32_t host_signs(const struct controller *controller)
{
    uint32_t signs = 0, peer;
    uint8_t peer_port;

    for (unsigned i = 0; i < controller->router.port_count; i++) {
        signs += sign(router_port_state(&controller->router, i, &peer, &peer_port));
    }
    return signs;
}

/* The most that was ever shown is what counts: a node that is reset takes its signs away, and
 * showing them again is nothing new. */
void boot_pass(struct controller *controller, uint64_t passed_us)
{
    uint32_t signs = controller->signs + host_signs(controller);

    if (signs > controller->signs_seen) {
        controller->signs_seen = signs;
        controller->quiet_us = 0;
    } else {
        controller->quiet_us += passed_us;
    }
    if (controller->quiet_us >= controller->config.patience_us) {
        boot_give_up(controller);
    }
}

/* Its places are free again. */
static void forget_findings(struct controller *controller, struct controller_node *node)
{
    while (node->finding) {
        struct controller_finding *finding = &controller->findings[node->finding - 1];
        uint16_t next = finding->next;

        finding->node = CONTROLLER_NO_NODE;
        finding->next = controller->finding_free;
        controller->finding_free = node->finding;
        node->finding = next;
    }
}

void boot_forget(struct controller *controller, uint32_t rank)
{
    struct controller_node *node = &controller->nodes[rank];

    controller->reported_count -= controller_has(controller, rank, NODE_REPORTED);
    controller->right_count -= controller_has(controller, rank, NODE_RIGHT);
    controller->signs -= node->signs;
    node->signs = 0;
    node->flags &= (uint16_t) ~(NODE_REPORTED | NODE_RIGHT);
    forget_findings(controller, node);
}

/* Up, and the far end is who belongs there, at the port where the cable belongs. The host's ports
 * are known to the host alone. */
static bool port_is_right(const struct network *network, uint32_t rank, unsigned port,
                          const struct links_port *found)
{
    if (port == network->ports) {
        return found->state == LINK_UP && found->peer == ID_HOST;
    }
    return found->state == LINK_UP && found->peer == network_neighbour(network, rank, port) &&
           found->peer_port == network_far_port(network, port);
}

/* More than have places are not kept, so the diagnosis of a machine in which nothing is right is
 * not whole. That it is not right is known all the same. */
static void add_finding(struct controller *controller, uint32_t rank, unsigned port,
                        const struct links_port *found)
{
    struct controller_node *node = &controller->nodes[rank];
    uint16_t number = controller->finding_free;
    struct controller_finding *finding;

    if (number == 0) {
        return;
    }
    finding = &controller->findings[number - 1];
    controller->finding_free = finding->next;
    controller->finding_end = number > controller->finding_end ? number : controller->finding_end;
    *finding = (struct controller_finding){.node = rank,
                                           .peer = found->peer,
                                           .next = node->finding,
                                           .port = (uint8_t)port,
                                           .peer_port = found->peer_port,
                                           .state = found->state};
    node->finding = number;
}

/* Notes what is not as it should be; true: nothing is. A port without a link may be led to by a
 * cable that belongs elsewhere. */
static bool take_ports(struct controller *controller, uint32_t rank, const struct links_body *links)
{
    const struct network *network = controller->config.network;
    struct controller_node *node = &controller->nodes[rank];
    unsigned signs = 1;
    bool right = true;

    for (unsigned p = 0; p < boot_ports(network, rank); p++) {
        const struct links_port *found = &links->ports[p];
        bool has_link = boot_has_link(network, rank, p);

        signs += sign(found->state);
        if (has_link ? !port_is_right(network, rank, p, found) : found->state != LINK_SILENT) {
            add_finding(controller, rank, p, found);
            right &= !has_link;
        }
    }
    node->signs = (uint16_t)signs;
    return right;
}

static bool finds_crossed(const struct controller *controller, uint32_t rank)
{
    uint16_t number = controller->nodes[rank].finding;

    while (number && controller->findings[number - 1].state != LINK_CROSSED) {
        number = controller->findings[number - 1].next;
    }
    return number != 0;
}

/* A node tells again when a link has come up late, and in the boot when it was reset: then nobody
 * speaks to who it was. */
void boot_links(struct controller *controller, uint32_t rank, const struct links_body *links)
{
    struct controller_node *node = &controller->nodes[rank];
    uint32_t nodes = controller->config.network->nodes;
    struct controller_event *event;

    /* A node that counts other ports than it must have is none of this network. */
    if (links->port_count < boot_ports(controller->config.network, rank)) {
        return;
    }
    /* What it told before is replaced as a whole: links come up in any order. */
    boot_forget(controller, rank);
    bool right = take_ports(controller, rank, links);
    node->flags |= (uint16_t)(NODE_REPORTED | (right ? NODE_RIGHT : 0));
    controller->reported_count++;
    controller->right_count += right;
    controller->signs += node->signs;
    /* Later it is only noted: a link that came up after the node's report. */
    if (controller->phase != PHASE_BOOT || controller->broken) {
        return;
    }
    /* A node that was reset before it told was known to nobody, and breaks nothing. */
    controller->resets -= controller_has(controller, rank, NODE_RESET);
    node->flags &= (uint16_t)~NODE_RESET;
    event = controller_tell(controller, EVENT_BOOT_PROGRESS);
    event->rank = rank;
    event->done = controller->right_count;
    boot_check(controller);
    /* Once a cable is known to be crossed every further word moves the end: the time of grace
     * begins anew, or is over with the last node. */
    controller->crossed |= finds_crossed(controller, rank);
    if (controller->phase == PHASE_BOOT && controller->crossed && controller->right_count < nodes) {
        controller->crossed_us =
            controller->now_us + (controller->reported_count < nodes ? CROSSED_GRACE_US : 0);
    }
}
