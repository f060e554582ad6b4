/*
 * packet.c - packets, store and forward: those of others wait at their in-port, this node's own in
 * slots, until their link has credit.
 *
 * A packet is short and never waits for anything but credit, so no answer of its own is needed: the
 * credit of a link says that the far end has a place for it, and a place is free again when the
 * packet has gone on or has been read. On a path or a cube dimension order keeps waiting packets
 * from forming a circle. On a ring it does not, and rule 6 does:
 *
 * A packet that enters a ring, from its own node or from another dimension, needs two free places
 * at the far end of its link; one that goes on in the ring needs one. So the places of a ring are
 * never all taken: somewhere a packet can move on, and what it frees lets the one behind move. A
 * free place counts only when the sender knows of it, so in a ring the receiver tells at once when
 * by what the sender knows fewer than two are free (control_owed in channel_receive.c). Between
 * dimensions packets go in their order, so no circle leads through several rings.
 *
 * Source  bubble flow control: Carrion, Beivide, Gregorio & Vallejo 1997; checked in
 *         models/ring_packets.pml
 */
#include "router/packet.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/channel_receive.h"
#include "router/channel_send.h"
#include "router/channel_state.h"
#include "router/notice.h"
#include "router/port.h"
#include "router/router.h"
#include "router/segment.h"
#include "router/state.h"
#include "router/due.h"
#include "wire/crc.h"
#include "wire/packet.h"

/* Whether packets go over a port. One that is not up yet will be, or will be dead: packets wait. */
static bool alive(const struct router *router, unsigned port)
{
    uint8_t state = port < router->port_count ? router->ports[port].channel.state : LINK_DEAD;

    return state != LINK_DEAD && state != LINK_CROSSED;
}

/* The port whose neighbour is `peer`; PORT_NONE when there is none. */
static unsigned port_to(const struct router *router, uint32_t peer)
{
    for (unsigned p = 0; p < router->port_count; p++) {
        const struct channel *channel = &router->ports[p].channel;
        uint32_t there = router->role == ROLE_HOST ? router->peers[p] : channel->peer.id;
        if (channel->state != LINK_SILENT && there == peer) {
            return p;
        }
    }
    return PORT_NONE;
}

/*
 * Towards the host: to the node whose host link serves this one, over the first live link that
 * leads there. When none does, over a higher dimension than the first that is wrong, whose node
 * does not send it back: it too corrects the lowest dimension first.
 */
static unsigned hop_to_host(const struct router *router)
{
    if (router->id >= ID_UNKNOWN) {
        return PORT_NONE;
    }
    const struct network *network = &router->network;
    uint32_t root = network_host_root(network, router->id);
    if (root == router->id) {
        unsigned known = port_to(router, ID_HOST);
        /* The host may not have said HELLO yet: its link is the one after the network's. */
        return known != PORT_NONE || network->ports >= router->port_count ? known : network->ports;
    }
    for (unsigned k = 0; k < network->dims; k++) {
        unsigned port = network_port_toward(network, router->id, root, k);
        if (port != NETWORK_NO_PORT && alive(router, port)) {
            return port;
        }
    }
    unsigned wrong = network_next_hop(network, router->id, root);
    const struct network_dimension *first = &network->dim[network_port_dimension(network, wrong)];
    for (unsigned p = (unsigned)first->port + first->ports; p < network->ports; p++) {
        if (router_has_link(router, p) && alive(router, p)) {
            return p;
        }
    }
    return PORT_NONE;
}

unsigned router_next_hop(const struct router *router, uint32_t dst)
{
    if (dst == router->id) {
        return PORT_LOCAL;
    }
    if (router->role == ROLE_HOST) {
        return dst < router->network.nodes
                   ? port_to(router, network_host_root(&router->network, dst))
                   : PORT_NONE;
    }
    if (dst == ID_HOST) {
        return hop_to_host(router);
    }
    if (router->id >= ID_UNKNOWN || dst >= router->network.nodes) {
        return PORT_NONE;
    }
    return network_next_hop(&router->network, router->id, dst);
}

/* `flags` is FLAG_ASK or 0. */
static struct segment *queue(struct router *router, unsigned port, uint8_t *frame,
                             uint32_t packet_bytes, uint8_t flags)
{
    struct channel *channel = &router->ports[port].channel;
    struct segment *segment = channel_place(channel, 0);
    uint8_t *packet = frame + FRAME_HEADER_BYTES;

    *segment = (struct segment){.data = frame, .bytes = FRAME_HEADER_BYTES + packet_bytes};
    if (router->payload_checked) {
        frame_put_check(packet + packet_bytes,
                        crc32_add(frame_payload_start(channel->seq_next), packet, packet_bytes));
        segment->bytes += FRAME_CHECK_BYTES;
        flags |= FLAG_CHECKED;
    }
    channel_queue(channel, &router->due, FRAME_PACKET, flags, packet_bytes, 1);
    return segment;
}

struct segment *packet_queue(struct router *router, unsigned port, uint8_t *frame,
                             uint32_t packet_bytes)
{
    return queue(router, port, frame, packet_bytes, 0);
}

/* Sends a packet on, by reference: the frame header goes where the old one was. Its place at the
 * in-port is free again when the next node has acknowledged it. When half of the places are taken,
 * that is asked for at once: else a stream of packets through here would stop for 40 ms each time
 * the window is full, unless the next nodes have something to say. */
static void forward(struct router *router, unsigned in, unsigned out, const struct arrival *arrival)
{
    bool crowded = channel_control_held(&router->ports[in].channel) >= CONTROL_WINDOW / 2;

    packet_set_hops(arrival->packet, packet_hops(arrival->packet) + 1);
    struct segment *segment = queue(router, out, arrival->packet - FRAME_HEADER_BYTES,
                                    arrival->bytes, crowded ? FLAG_ASK : 0);
    segment->owner = OWNER_BUFFER;
    segment->port = (uint8_t)in;
    segment->number = arrival->buffer;
    segment->credit = CREDIT_CONTROL;
    channel_use_credit(&router->ports[out].channel);
    router->packets_forwarded++;
}

void packet_take(struct router *router, unsigned port, const struct arrival *arrival)
{
    struct port *in = &router->ports[port];
    const uint8_t *packet = arrival->packet;
    unsigned out = router_next_hop(router, packet_dst(packet));

    if (packet_body_bytes(packet) != arrival->bytes - PACKET_HEADER_BYTES || out == PORT_NONE ||
        out == port || packet_hops(packet) >= router->hops_max) {
        router->packets_dropped++;
        channel_release(&in->channel, &router->due, arrival->buffer, CREDIT_CONTROL, 0);
    } else if (out == PORT_LOCAL) {
        *notice_add(router) = (struct notice){.kind = NOTICE_PACKET,
                                              .port = port,
                                              .bytes = arrival->bytes - PACKET_HEADER_BYTES,
                                              .packet_kind = packet_kind(packet),
                                              .src = packet_src(packet),
                                              .body = packet_body(packet),
                                              .buffer = arrival->buffer};
    } else {
        CHECK(in->routed_count < CONTROL_WINDOW);
        in->routed[(in->routed_first + in->routed_count++) % CONTROL_WINDOW] = *arrival;
        due_routed(router, port);
    }
}

/* Whether a packet may go on over a link. One that enters a ring leaves a place free there, so that
 * those in the ring can go on: rule 6. */
static bool can_send(struct router *router, unsigned in, unsigned port)
{
    struct channel *channel = &router->ports[port].channel;
    bool enters = channel->in_ring && !network_stays_in_ring(&router->network, in, port);

    if (channel_control_credit(channel) < (enters ? 2u : 1u)) {
        channel_short(channel, &router->due);
        return false;
    }
    return channel_room(channel, 1);
}

/* Sends what lies at an in-port on, oldest first. The first that must wait keeps those behind it,
 * whatever their way: packets from one node to another arrive in the order they were sent in. */
static void pump_routed(struct router *router, unsigned port)
{
    struct port *in = &router->ports[port];

    while (in->routed_count) {
        const struct arrival *arrival = &in->routed[in->routed_first];
        unsigned out = router_next_hop(router, packet_dst(arrival->packet));

        if (!alive(router, out)) {
            router->packets_dropped++;
            channel_release(&in->channel, &router->due, arrival->buffer, CREDIT_CONTROL, 0);
        } else if (can_send(router, port, out)) {
            forward(router, port, out, arrival);
        } else {
            return;
        }
        in->routed_first = (uint8_t)((in->routed_first + 1) % CONTROL_WINDOW);
        in->routed_count--;
    }
    due_routed_gone(router, port);
}

/* Puts a packet of this node's own on its channel, or throws it away when the way is dead; false:
 * not now. Each link may leave a few packets unacknowledged for 40 ms; with many links that would
 * be all slots, and this node could say nothing meanwhile. */
static bool send_slot(struct router *router, unsigned number, unsigned out)
{
    struct slot *slot = &router->slots[number];
    bool large = slot->body_max > SLOT_BODY_MAX; /* there are few of these */
    uint8_t flags = large || packet_slots_free(router) < SLOTS_LOW ? FLAG_ASK : 0;

    if (!alive(router, out)) {
        router->packets_dropped++;
        router->slots_free |= 1u << number;
        return true;
    }
    if (!can_send(router, PORT_LOCAL, out)) {
        return false;
    }
    struct segment *segment = queue(router, out, slot->bytes, slot->packet_bytes, flags);
    segment->owner = OWNER_SLOT;
    segment->number = (uint16_t)number;
    channel_use_credit(&router->ports[out].channel);
    return true;
}

/* This node's own packets, oldest first, so that those to one node arrive in the order they were
 * sent in. */
static void pump_slots(struct router *router)
{
    uint32_t blocked = 0; /* ports that have refused one */
    unsigned kept = 0, count = router->slots_queued;

    for (unsigned i = 0; i < count; i++) {
        unsigned number = router->slot_order[i];
        const uint8_t *packet = router->slots[number].bytes + FRAME_HEADER_BYTES;
        unsigned out = router_next_hop(router, packet_dst(packet));
        if (blocked >> out & 1 || !send_slot(router, number, out)) {
            blocked |= 1u << out;
            router->slot_order[kept++] = (uint8_t)number;
        }
    }
    router->slots_queued = (uint8_t)kept;
}

void packet_pump(struct router *router)
{
    for (uint32_t left = router->routed_due; left;) {
        pump_routed(router, due_next(&left));
    }
    if (router->slots_queued) {
        pump_slots(router);
    }
}

int packet_send(struct router *router, uint8_t kind, uint32_t dst, const void *body, uint32_t bytes)
{
    const uint32_t small = (1u << SLOTS_MAX) - 1;
    uint32_t fitting = router->slots_free & (bytes <= SLOT_BODY_MAX ? UINT32_MAX : ~small);

    CHECK(bytes <= PACKET_BODY_MAX && kind >= PACKET_ROUTED);
    /* the lowest number that fits: a large slot is taken by a short packet only at last */
    if (!fitting) {
        return E_FULL;
    }
    unsigned number = (unsigned)__builtin_ctz(fitting);
    struct slot *slot = &router->slots[number];
    uint8_t *packet = slot->bytes + FRAME_HEADER_BYTES;
    packet_pack(packet, kind, bytes, router->id, dst);
    if (bytes > 0) {
        memcpy(packet + PACKET_HEADER_BYTES, body, bytes);
    }
    slot->packet_bytes = (uint16_t)(PACKET_HEADER_BYTES + bytes);
    router->slots_free &= ~(1u << number);
    router->slot_order[router->slots_queued++] = (uint8_t)number;
    return E_OK;
}

unsigned packet_slots_free(const struct router *router)
{
    return (unsigned)__builtin_popcount(router->slots_free & ((1u << SLOTS_MAX) - 1));
}
