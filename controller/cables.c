/*
 * cables.c - the network that was found, against the one that was built.
 *
 * What is known: of each node that has told, the ports that are not right (findings); of all its
 * others the network says where they lead. So each port makes a claim, that it leads to port q of
 * node n.
 *
 *   1. Names. A silent node may use another's number: its neighbours then make claims that the
 *      number's owner denies, for it tells something else of that port. Noted at the number (mark)
 *      is the silent node, at that node the number (mark_entry).
 *   2. Leads. A claim that is denied is meant for the silent node of that name. Of a silent node's
 *      own ports nothing is told; they lead to whoever claims to lead there.
 *   3. Faults. A link of which a lead goes elsewhere is crossed. What else is not right at an end
 *      is missing, one-way or, without a lead, crossed as that end says; but nothing is when
 *      crossed cables explain it.
 *
 * Example  cube:3, 1-3 and 5-7 crossed. 7 has its number from node 1, and calls itself 3. Nodes 1
 *          and 6 claim ports of a node 3, which denies them, so they are meant for the silent 7:
 *          1 leads to 7, where it should lead to 3. And 3 and 5 find each other
 *
 * Units    ranks, ports
 * Context  looks only, but for the marks in the nodes' entries, which are scratch. Time: links, and
 *          findings for each link of a silent node
 */
#include "controller/cables.h"

#include <stddef.h>

#include "controller/internal.h"

/* Where the cable of a port leads, and whether anybody knows. */
struct cable_lead {
    bool known;
    uint8_t port;
    uint32_t node;
};

/* A link of the network, by its two ends. */
struct wanted_link {
    uint32_t node, peer;
    unsigned port, far; /* of node, of peer */
};

/* The faults that have been found: how many, and the first of them. */
struct fault_list {
    struct cable_fault *faults;
    unsigned room, count;
    bool crossed; /* a cable leads elsewhere: that may explain others */
    bool unsure;  /* one of them leads to where a right cable is */
};

/* Whether anything is known of a node's ports. */
static bool has_reported(const struct controller *controller, uint32_t node)
{
    return controller_has(controller, node, NODE_REPORTED);
}

/* What is not right at a port; NULL: nothing, as far as the node has reported. */
static const struct controller_finding *finding_at(const struct controller *controller,
                                                   uint32_t node, unsigned port)
{
    /* A handful: the ports of one node. */
    for (uint16_t i = controller->nodes[node].finding; i; i = controller->findings[i - 1].next) {
        if (controller->findings[i - 1].port == port) {
            return &controller->findings[i - 1];
        }
    }
    return NULL;
}

/* Only an end that is up or crossed has said who it is. The host, a node without a number and ports
 * that cannot be are no claims: nothing of the network leads there. */
static struct cable_lead claim_of(const struct network *network,
                                  const struct controller_finding *finding)
{
    return (struct cable_lead){
        .known = (finding->state == LINK_UP || finding->state == LINK_CROSSED) &&
                 finding->peer < network->nodes && finding->peer_port < network->ports,
        .port = finding->peer_port,
        .node = finding->peer};
}

/* What the node says of a port between nodes. */
static struct cable_lead claim(const struct controller *controller, uint32_t node, unsigned port)
{
    const struct network *network = controller->config.network;
    const struct controller_finding *finding = finding_at(controller, node, port);
    uint32_t peer;

    if (finding) {
        return claim_of(network, finding);
    }
    peer = network_neighbour(network, node, port);
    /* No finding: it is right, and the network knows it. */
    return (struct cable_lead){.known = has_reported(controller, node) && peer != NETWORK_NO_NODE,
                               .port = (uint8_t)network_far_port(network, port),
                               .node = peer};
}

/* Both must be known for a difference to mean anything. */
static bool leads_to(const struct cable_lead *lead, uint32_t node, unsigned port)
{
    return lead->known && lead->node == node && lead->port == port;
}

/* Whether what a port is said to lead to tells something else of itself. */
static bool is_denied(const struct controller *controller, const struct cable_lead *lead,
                      uint32_t node, unsigned port)
{
    struct cable_lead back = claim(controller, lead->node, lead->port);
    /* A port without a link has a finding, or nothing is plugged in. */
    bool bare = !back.known && has_reported(controller, lead->node) &&
                !boot_has_link(controller->config.network, lead->node, lead->port);

    return leads_to(lead, node, port) || bare || (back.known && !leads_to(&back, node, port));
}

/* The number that a silent node has been given: that which its neighbours find in its place. */
static uint32_t other_name(const struct controller *controller, uint32_t silent)
{
    const struct network *network = controller->config.network;

    for (unsigned p = 0; p < network->ports; p++) {
        uint32_t neighbour = network_neighbour(network, silent, p);
        unsigned far = network_far_port(network, p);

        if (neighbour == NETWORK_NO_NODE) {
            continue;
        }
        struct cable_lead lead = claim(controller, neighbour, far);
        /* What should lead to the silent node leads to a number that somebody else has: the silent
         * one is there, under that name. */
        if (lead.known && lead.node != silent && lead.port == p &&
            is_denied(controller, &lead, neighbour, far)) {
            return lead.node;
        }
    }
    return CONTROLLER_NO_NODE;
}

/* Notes, at each number, the silent node that uses it too (mark), and there the number that it uses
 * (mark_entry). */
static void find_names(const struct controller *controller)
{
    uint32_t nodes = controller->config.network->nodes;

    for (uint32_t node = 0; node < nodes; node++) {
        controller->nodes[node].mark = CONTROLLER_NO_NODE;
    }
    for (uint32_t node = 0; node < nodes; node++) {
        uint32_t name =
            has_reported(controller, node) ? CONTROLLER_NO_NODE : other_name(controller, node);

        controller->nodes[node].mark_entry = name;
        /* Two silent nodes of one name cannot be told apart; the last is taken. */
        if (name != CONTROLLER_NO_NODE) {
            controller->nodes[name].mark = node;
        }
    }
}

/* What a node says of a port, when names that two nodes use are told apart. */
static struct cable_lead resolved(const struct controller *controller, uint32_t node, unsigned port)
{
    struct cable_lead lead = claim(controller, node, port);

    if (lead.known && controller->nodes[lead.node].mark != CONTROLLER_NO_NODE &&
        is_denied(controller, &lead, node, port)) {
        lead.node = controller->nodes[lead.node].mark;
    }
    return lead;
}

/* A node whose cable is not where it belongs, and leads to a port of a silent node. */
static struct cable_lead found_elsewhere(const struct controller *controller, uint32_t silent,
                                         unsigned port)
{
    for (unsigned i = 0; i < controller->finding_end; i++) {
        const struct controller_finding *finding = &controller->findings[i];

        /* The host's ports are not of the network. */
        if (finding->node == CONTROLLER_NO_NODE || finding->peer_port != port ||
            finding->port >= controller->config.network->ports) {
            continue;
        }
        struct cable_lead lead = resolved(controller, finding->node, finding->port);
        if (leads_to(&lead, silent, port)) {
            return (struct cable_lead){.known = true, .port = finding->port, .node = finding->node};
        }
    }
    return (struct cable_lead){0};
}

/* The neighbour that belongs at this port of node `place`, if the neighbour's cable leads to this
 * port of `node` instead. */
static struct cable_lead found_beside(const struct controller *controller, uint32_t place,
                                      uint32_t node, unsigned port)
{
    const struct network *network = controller->config.network;
    uint32_t peer = network_neighbour(network, place, port);
    unsigned far = network_far_port(network, port);

    if (peer != NETWORK_NO_NODE) {
        struct cable_lead back = resolved(controller, peer, far);

        if (leads_to(&back, node, port)) {
            return (struct cable_lead){.known = true, .port = (uint8_t)far, .node = peer};
        }
    }
    return (struct cable_lead){0};
}

/* Where the cable of a port leads. A node that has reported knows. Of a silent one three others
 * may know: the neighbour that belongs at this port; the neighbour that belongs at this port of the
 * node whose number the silent one uses; and any node that reports a cable to it in a wrong place.
 */
static struct cable_lead lead_of(const struct controller *controller, uint32_t node, unsigned port)
{
    uint32_t name = controller->nodes[node].mark_entry;
    struct cable_lead lead;

    if (has_reported(controller, node)) {
        return resolved(controller, node, port);
    }
    /* Most often the cable is right: the node is silent for another cause. */
    lead = found_beside(controller, node, node, port);
    if (!lead.known && name != CONTROLLER_NO_NODE) {
        lead = found_beside(controller, name, node, port);
    }
    return lead.known ? lead : found_elsewhere(controller, node, port);
}

/* A link as it was built, from the end by which it is counted. */
static struct wanted_link wanted_link(const struct controller *controller, uint32_t node,
                                      unsigned port)
{
    const struct network *network = controller->config.network;

    return (struct wanted_link){.node = node,
                                .peer = network_neighbour(network, node, port),
                                .port = port,
                                .far = network_far_port(network, port)};
}

/* What a node finds at a port, host link included. */
static struct cable_end end_of(const struct controller *controller, uint32_t node, unsigned port)
{
    const struct controller_finding *finding = finding_at(controller, node, port);
    struct cable_end end = {.finding = FINDS_RIGHT};

    if (!has_reported(controller, node)) {
        end.finding = FINDS_UNREPORTED;
        /* Who is there counts only of an end that is up or crossed: else it may be old. */
    } else if (finding) {
        bool known = finding->state == LINK_UP || finding->state == LINK_CROSSED;

        end.peer = finding->peer;
        end.port = finding->peer_port;
        end.finding = finding->state == LINK_HEARD  ? FINDS_ONE_WAY
                      : finding->state == LINK_DEAD ? FINDS_LOST
                      : !known                      ? FINDS_NOTHING
                      : finding->peer == ID_HOST    ? FINDS_HOST
                      : finding->peer == ID_UNKNOWN ? FINDS_NAMELESS
                                                    : FINDS_OTHER;
    }
    return end;
}

/* The state of a port as reported; one of a node that has reported nothing is silent. */
static uint8_t state_of(const struct controller *controller, uint32_t node, unsigned port)
{
    const struct controller_finding *finding = finding_at(controller, node, port);

    return finding ? finding->state : has_reported(controller, node) ? LINK_UP : LINK_SILENT;
}

/* More than there is room for are counted: the caller says how many it does not name. */
static void add_fault(struct fault_list *list, const struct cable_fault *fault)
{
    if (list->count < list->room) {
        list->faults[list->count] = *fault;
    }
    list->count++;
}

/* What both ends find, whatever the fault will be called. */
static struct cable_fault link_fault(const struct controller *controller,
                                     const struct wanted_link *link)
{
    return (struct cable_fault){.node = link->node,
                                .peer = link->peer,
                                .dimension =
                                    network_port_dimension(controller->config.network, link->port),
                                .end = {end_of(controller, link->node, link->port),
                                        end_of(controller, link->peer, link->far)}};
}

/* Where the cable really leads, as far as that end or others know. */
static void set_lead(struct cable_end *end, const struct cable_lead *lead)
{
    end->known = lead->known;
    end->really = lead->known ? lead->node : CONTROLLER_NO_NODE;
    end->really_port = lead->port;
}

/* Whether nothing is known of a link but that it is right. Of most links of a machine nothing else
 * is asked. */
static bool is_right(const struct controller *controller, const struct wanted_link *link)
{
    return has_reported(controller, link->node) && has_reported(controller, link->peer) &&
           controller->nodes[link->node].finding == 0 && controller->nodes[link->peer].finding == 0;
}

/* Whether a link is known to lead elsewhere, and where it leads. */
static bool is_crossed(const struct controller *controller, const struct wanted_link *link,
                       struct cable_lead *here, struct cable_lead *there)
{
    if (is_right(controller, link)) {
        return false;
    }
    *here = lead_of(controller, link->node, link->port);
    *there = lead_of(controller, link->peer, link->far);
    /* One end is enough: the other may be silent, or have nothing plugged in. */
    return (here->known && !leads_to(here, link->peer, link->far)) ||
           (there->known && !leads_to(there, link->node, link->port));
}

/* Whether a crossed cable is said to lead where the right one is: the place of another that is
 * crossed, or a port without a link that says so too, is where it can be. */
static bool is_taken(const struct controller *controller, const struct cable_lead *lead)
{
    struct cable_lead here = {0}, there = {0};

    if (!lead->known) {
        return false;
    }
    struct wanted_link link = wanted_link(controller, lead->node, lead->port);
    if (link.peer == NETWORK_NO_NODE) {
        return !claim(controller, lead->node, lead->port).known;
    }
    return !is_crossed(controller, &link, &here, &there);
}

/* Adds a link that is known to lead elsewhere. */
static void add_crossed(const struct controller *controller, struct fault_list *list,
                        const struct wanted_link *link)
{
    struct cable_lead here = {0}, there = {0};

    if (!is_crossed(controller, link, &here, &there)) {
        return;
    }
    struct cable_fault fault = link_fault(controller, link);
    fault.kind = CABLE_CROSSED;
    set_lead(&fault.end[0], &here);
    set_lead(&fault.end[1], &there);
    add_fault(list, &fault);
    list->unsure |= is_taken(controller, &here) || is_taken(controller, &there);
}

/* What the fault is, by the states of both ends, when nobody knows where the cable leads. An end
 * that hears something, or is up, has a cable that carries at least one way. */
static enum cable_fault_kind kind_of(uint8_t a, uint8_t b)
{
    if (a == LINK_CROSSED || b == LINK_CROSSED) {
        return CABLE_CROSSED;
    }
    return a == LINK_HEARD || b == LINK_HEARD || a == LINK_UP || b == LINK_UP ? CABLE_ONE_WAY
                                                                              : CABLE_MISSING;
}

/* A cable that is not as it should be, and is not known to lead elsewhere. Of a node that tells
 * nothing only the other ends are heard. */
static void add_cable(const struct controller *controller, struct fault_list *list,
                      const struct wanted_link *link)
{
    struct cable_lead lead_here = {0}, lead_there = {0};

    if (is_right(controller, link)) {
        return;
    }
    struct cable_fault fault = link_fault(controller, link);
    bool here = fault.end[0].finding != FINDS_RIGHT && fault.end[0].finding != FINDS_UNREPORTED;
    bool there = fault.end[1].finding != FINDS_RIGHT && fault.end[1].finding != FINDS_UNREPORTED;

    /* Neither end has reported a fault, or it has been listed. */
    if ((!here && !there) || is_crossed(controller, link, &lead_here, &lead_there)) {
        return;
    }
    if (list->crossed && (lead_here.known || lead_there.known)) {
        return; /* one of the two has, or had, another's number */
    }
    fault.kind = kind_of(state_of(controller, link->node, link->port),
                         state_of(controller, link->peer, link->far));
    add_fault(list, &fault);
}

/* A node is silent when it does not run, or when its way to the host is not there. Crossed cables
 * explain it too, or it was not waited for. */
static void add_node(const struct controller *controller, struct fault_list *list, uint32_t node)
{
    const struct network *network = controller->config.network;
    struct cable_fault fault = {.node = node, .peer = node};

    fault.end[0] = end_of(controller, node, network->ports);
    if (!has_reported(controller, node) && !list->crossed) {
        fault.kind = CABLE_NODE_SILENT;
        add_fault(list, &fault);
    } else if (has_reported(controller, node) && fault.end[0].finding != FINDS_RIGHT &&
               network_host_link_of(network, node) >= 0) {
        fault.kind = CABLE_HOST_MISSING;
        add_fault(list, &fault);
    }
}

/* Crossed cables come first: they may explain the others. */
static void find_crossed(const struct controller *controller, struct fault_list *list)
{
    const struct network *network = controller->config.network;

    find_names(controller);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            if (network_owns_link(network, node, p)) {
                struct wanted_link link = wanted_link(controller, node, p);
                add_crossed(controller, list, &link);
            }
        }
    }
    list->crossed = list->count > 0;
    for (unsigned i = 0; i < list->count && i < list->room; i++) {
        list->faults[i].unsure = list->unsure;
    }
}

uint32_t cables_crossed(const struct controller *controller, bool *unsure)
{
    struct fault_list list = {0};

    find_crossed(controller, &list);
    *unsure = list.unsure;
    return list.count;
}

unsigned cables_find(const struct controller *controller, struct cable_fault *faults, unsigned room)
{
    const struct network *network = controller->config.network;
    struct fault_list list = {.faults = faults, .room = room};

    find_crossed(controller, &list);
    for (uint32_t node = 0; node < network->nodes; node++) {
        for (unsigned p = 0; p < network->ports; p++) {
            if (network_owns_link(network, node, p)) {
                struct wanted_link link = wanted_link(controller, node, p);
                add_cable(controller, &list, &link);
            }
        }
        add_node(controller, &list, node);
    }
    return list.count;
}

uint32_t cables_reported(const struct controller *controller)
{
    return controller->reported_count;
}
