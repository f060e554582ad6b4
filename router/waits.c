#include "router/waits.h"

#include <stddef.h>

#include "drivers/status.h"
#include "router/port.h"
#include "router/setup.h"
#include "wire/circuit.h"
#include "wire/frame.h"

static const struct source *own_in(const struct router *router, enum source_state state)
{
    for (unsigned i = 0; i < router->opening_count; i++) {
        const struct source *source = &router->sources[router->opening[i]];
        if (source->state == state) {
            return source;
        }
    }
    return NULL;
}

const uint8_t *router_own(const struct router *router, enum source_state state)
{
    const struct source *source = own_in(router, state);

    return source ? source->open + FRAME_HEADER_BYTES : NULL;
}

/* What the rules of setup.c say, in words for who looks. */
static enum router_wait_kind kind_of(const struct router *router, unsigned in,
                                     const struct waiting *waiting)
{
    if (waiting->out >= router->port_count) {
        return ROUTER_WAITS_MISSING;
    }
    switch (setup_verdict(router, in, waiting)) {
    case E_LINK_DEAD: return ROUTER_WAITS_DEAD;
    case SETUP_NO_TURN: return ROUTER_WAITS_TURN;
    case SETUP_BUSY: return ROUTER_WAITS_SETUP;
    case SETUP_NO_PLACE: return ROUTER_WAITS_PLACE;
    default: return ROUTER_WAITS_ROOM;
    }
}

static struct router_wait own_waits(const struct router *router)
{
    const struct source *opened = own_in(router, SOURCE_OPENED);
    struct waiting waiting;

    if (opened) {
        return (struct router_wait){ROUTER_WAITS_ANSWER, opened->out,
                                    opened->open + FRAME_HEADER_BYTES};
    }
    if (!own_in(router, SOURCE_WAITING) || !setup_waiting_at(router, PORT_LOCAL, &waiting)) {
        return (struct router_wait){.kind = ROUTER_WAITS_NOT};
    }
    return (struct router_wait){(uint8_t)kind_of(router, PORT_LOCAL, &waiting),
                                (uint8_t)waiting.out, waiting.packet};
}

struct router_wait router_waits(const struct router *router, unsigned in)
{
    struct waiting waiting;

    if (in == PORT_LOCAL) {
        return own_waits(router);
    }
    const struct circuit *held = circuit_held(&router->ports[in]);
    if (!held || !held->open.packet || !setup_waiting_at(router, in, &waiting)) {
        return (struct router_wait){.kind = ROUTER_WAITS_NOT};
    }
    enum router_wait_kind kind =
        held->out == PORT_LOCAL ? ROUTER_WAITS_OWNER : kind_of(router, in, &waiting);
    return (struct router_wait){(uint8_t)kind, held->out, held->open.packet};
}

unsigned router_holder(const struct router *router, unsigned port)
{
    return router->ports[port].setup_count ? router->ports[port].setup_holder : PORT_NONE;
}

unsigned router_onward(const struct router *router, unsigned in)
{
    for (unsigned port = 0; port < router->port_count; port++) {
        if (router_holder(router, port) == in) {
            return port;
        }
    }
    return PORT_NONE;
}

unsigned router_turn(const struct router *router, unsigned port, uint16_t epoch)
{
    const struct port *out = &router->ports[port];

    return epoch == out->turn_epoch ? out->turn_count : 0;
}
