/*
 * identity.c - who am I: ids spread from the host through HELLOs.
 *
 * The host tells each node with a host link its number, the network, the costs of its machine, and
 * after which silence a link is dead. A node that knows its number says all that in its HELLOs, and
 * the network says who its neighbour is at each port, and at which port the cable must end there.
 */
#include "router/identity.h"

#include "network/network.h"
#include "router/channel.h"
#include "router/channel_state.h"
#include "router/notice.h"
#include "router/state.h"
#include "router/due.h"
#include "wire/circuit.h"

enum {
    /* of hops_max: a circuit may be given a way of so many hops in a small network too */
    HOPS_LEAST = OPEN_HOPS_MAX + 1
};

void identity_set_network(struct router *router, const struct network *network)
{
    uint32_t hops = 2 * network_diameter(network);

    router->network = *network;
    router->hops_max = hops < HOPS_LEAST ? HOPS_LEAST : hops < UINT16_MAX ? hops : UINT16_MAX;
    for (unsigned p = 0; p < router->port_count; p++) {
        router->ports[p].channel.in_ring = network_stays_in_ring(network, p, p);
    }
}

/* Of a start-up, or a hop, of messages between the host and a node. */
static uint64_t host_ns(const struct router *router, uint64_t ns)
{
    return ns * router->profile.sigma_permille / 1000;
}

uint64_t identity_xi(const struct router *router, uint32_t dst)
{
    uint64_t xi = router->profile.xi_ns;

    return router->role == ROLE_HOST || dst == ID_HOST ? host_ns(router, xi) : xi;
}

uint64_t identity_tau(const struct router *router, unsigned port)
{
    uint64_t tau = router->profile.tau_ns;
    bool host = router->role == ROLE_HOST || port >= router->network.ports;

    return host ? host_ns(router, tau) : tau;
}

unsigned identity_port(const struct router *router, enum circuit_port port)
{
    bool apart = router->role == ROLE_HOST && router->network.host_links > 0;

    if (apart || port == PORT_UNTIMED ||
        (port == PORT_FIRST && clock_all_ports(&router->profile))) {
        return CLOCK_PORTS_MAX;
    }
    return port == PORT_FIRST ? 0 : port - PORT_NAMED;
}

/* The network that a HELLO names; false: there is no such network. */
static bool network_of(const struct hello *hello, struct network *network)
{
    uint32_t sizes[HELLO_SIZES_MAX];

    for (unsigned k = 0; k < HELLO_SIZES_MAX; k++) {
        sizes[k] = hello->last[k] + 1u;
    }
    return network_make(network, (enum network_kind)hello->network, sizes, hello->dims) &&
           network_set_host_links(network, hello->host_links);
}

/* This node has a number. All its links say so: that is how numbers spread. */
static void learn(struct router *router, const struct hello *hello, const struct network *network,
                  uint32_t id)
{
    if (id >= network->nodes || hello->dead_after_ms < DEAD_AFTER_MS_MIN) {
        return;
    }
    router->id = id;
    identity_set_network(router, network);
    router->profile = (struct profile){.xi_ns = hello->xi_ns,
                                       .tau_ns = hello->tau_ns,
                                       .element_ns = hello->element_ns,
                                       .element_bytes = hello->element_bytes,
                                       .sigma_permille = hello->sigma_permille,
                                       .ports = hello->ports};
    router->dead_after_ms = hello->dead_after_ms;
    for (unsigned p = 0; p < router->port_count; p++) {
        struct channel *channel = &router->ports[p].channel;
        channel->dead_after_ms = hello->dead_after_ms;
        channel_greet_soon(channel, &router->due);
    }
    *notice_add(router) = (struct notice){.kind = NOTICE_IDENTITY};
}

/* What the other end's number makes of ours; ID_UNKNOWN when the cable is not where it belongs. */
static uint32_t implied_id(const struct network *network, unsigned port, const struct hello *hello)
{
    if (hello->role == ROLE_HOST) {
        return hello->peer_id;
    }
    if (hello->id >= network->nodes || hello->port >= network->ports ||
        network_far_port(network, hello->port) != port) {
        return ID_UNKNOWN;
    }
    uint32_t id = network_neighbour(network, hello->id, hello->port);
    return id == NETWORK_NO_NODE ? ID_UNKNOWN : id;
}

/* Whether a neighbour may have given us that number: the host link shows which are not ours, should
 * the cable be crossed. */
static bool fits(const struct router *router, const struct network *network, uint32_t id)
{
    return (router->port_count > network->ports) == (network_host_link_of(network, id) >= 0);
}

/* The cable leads to a wrong place. The owner is told when the channel is looked at. */
static void cross(struct router *router, struct channel *channel)
{
    channel->state = LINK_CROSSED;
    due_link_changed(router);
}

/* A link whose other end says what cannot be so is not used. */
static void judge(struct router *router, unsigned port)
{
    struct channel *channel = &router->ports[port].channel;
    const struct hello *hello = &channel->peer;

    if (channel->state != LINK_HEARD && channel->state != LINK_UP) {
        return;
    }
    if (hello->role == ROLE_NODE && hello->id == ID_UNKNOWN) {
        return;
    }
    if (implied_id(&router->network, port, hello) != router->id) {
        cross(router, channel);
    }
}

/* The host knows who is at its links; what a neighbour makes of its own number is believed until
 * the host speaks. From the first download on the number stays. */
void identity_take(struct router *router, unsigned port)
{
    struct channel *channel = &router->ports[port].channel;
    const struct hello *hello = &channel->peer;

    if (!channel->hello_new || channel->state == LINK_DEAD) {
        return;
    }
    channel->hello_new = false;
    if (router->role == ROLE_HOST) {
        if (hello->id != ID_UNKNOWN && hello->id != router->peers[port]) {
            cross(router, channel);
        }
        return;
    }
    bool taught = hello->role == ROLE_HOST || (hello->id != ID_UNKNOWN && router->id == ID_UNKNOWN);
    struct network network;
    if (taught && !router->identity_kept && network_of(hello, &network)) {
        uint32_t id = implied_id(&network, port, hello);
        if (id != ID_UNKNOWN && id != router->id &&
            (hello->role == ROLE_HOST || fits(router, &network, id))) {
            learn(router, hello, &network, id);
        }
    }
    for (unsigned p = 0; p < router->port_count && router->id != ID_UNKNOWN; p++) {
        judge(router, p);
    }
}

void identity_hello(const struct router *router, unsigned port, struct hello *hello)
{
    const struct channel *channel = &router->ports[port].channel;

    *hello = (struct hello){.version = PROTOCOL_VERSION,
                            .role = router->role,
                            .port = (uint8_t)port,
                            .id = router->id,
                            .network = router->network.kind,
                            .host_links = router->network.host_links,
                            .dims = router->network.dims,
                            .heard = channel_heard(channel),
                            .ports = router->profile.ports,
                            .data_window = channel->data_window,
                            .control_window = CONTROL_WINDOW,
                            .sigma_permille = router->profile.sigma_permille,
                            .xi_ns = router->profile.xi_ns,
                            .tau_ns = router->profile.tau_ns,
                            .element_ns = router->profile.element_ns,
                            .element_bytes = router->profile.element_bytes,
                            .peer_id = router->peers ? router->peers[port] : ID_UNKNOWN,
                            .dead_after_ms = router->dead_after_ms};
    for (unsigned k = 0; k < HELLO_SIZES_MAX && k < router->network.dims; k++) {
        hello->last[k] = (uint16_t)(router->network.dim[k].size - 1);
    }
}
