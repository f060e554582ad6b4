/*
 * invariants.c - what holds in a node between two steps, whatever its links and its program did.
 */
#include "drivers/check.h"
#include "fuzz/world.h"
#include "router/channel_state.h"
#include "router/link_counters.h"
#include "router/port.h"
#include "router/state.h"

static void check_buffers(const struct channel *channel, const struct pipe *pipe)
{
    for (unsigned i = 0; i < LINK_BUFFERS_MAX; i++) {
        CHECK((channel->refs[i] > 0) == pipe->taken[i]);
    }
}

static void check_port(const struct router *router, unsigned number, const struct pipe *pipe)
{
    const struct port *port = &router->ports[number];
    const struct channel *channel = &port->channel;
    uint16_t left = (uint16_t)(channel->control_received - channel->control_consumed);

    check_buffers(channel, pipe);
    CHECK(channel->state != LINK_DEAD || channel->first == channel->end);
    CHECK(left <= CONTROL_WINDOW && port->routed_count <= left);
    CHECK((uint16_t)(channel->end - channel->first) <= channel->ring);
    CHECK((uint16_t)(channel->next - channel->first) <= (uint16_t)(channel->end - channel->first));
    CHECK((uint16_t)(channel->piece_end - channel->piece_first) <= RING_MAX);
    CHECK(channel->headers_used <= HEADERS_MAX);
    CHECK(port->circuit_count <= CIRCUITS_MAX);
    CHECK(port->order_count + port->draining_count <= CIRCUITS_MAX);
    CHECK(port->setup_holder == PORT_NONE || port->setup_holder == PORT_LOCAL ||
          port->setup_holder < router->port_count);
    CHECK((port->setup_count > 0) == (port->setup_holder != PORT_NONE));
    /* a schedule's bytes may all have gone on before the answer comes */
    CHECK(port->setup_count <= port->order_count || port->setup_flags & OPEN_SCHEDULE);
    CHECK(port->opens_held <= port->circuit_count);
    CHECK(port->setup_count <= CIRCUITS_MAX && router->link_counters[number].first < CIRCUITS_MAX);
    CHECK(port->due_count <= CIRCUITS_MAX && port->replies_sent <= CIRCUITS_MAX);
    CHECK((router->held_ports >> number & 1) == (port->opens_held > 0));
    CHECK(!((router->passing_ports | router->unoffered_ports) & ~router->held_ports));
    CHECK(!(router->passing_ports & router->unoffered_ports));
    CHECK((router->replies_due >> number & 1) >= (port->due_count > 0));
    CHECK((router->routed_due >> number & 1) >= (port->routed_count > 0));
}

static void check_counts(const struct router *router)
{
    uint32_t used = 0;
    unsigned passed = 0;

    for (unsigned i = 0; i < SOURCES_MAX; i++) {
        used |= (uint32_t)(router->sources[i].state != SOURCE_FREE) << i;
    }
    for (unsigned i = 0; i < router->opening_count; i++) {
        bool waits = router->sources[router->opening[i]].state == SOURCE_WAITING;
        CHECK(waits == (i >= router->opening_passed));
        passed += !waits;
    }
    CHECK(used == router->sources_used && passed == router->opening_passed);
    CHECK(router->opening_count <= CIRCUITS_MAX);
    for (unsigned i = 0; i < router->slots_queued; i++) {
        CHECK(!(router->slots_free >> router->slot_order[i] & 1));
    }
    CHECK(router->notice_count == 0);
}

/* Every pool buffer is free or belongs to exactly one stored message. */
static void check_messages(const struct node *node)
{
    bool seen[POOL_MAX] = {0};
    unsigned count = node->pool_free_count;

    CHECK(node->unexpected_count < UNEXPECTED_PLACES && count <= POOL_MAX);
    CHECK(node->cancel_count <= CANCELS_MAX);
    for (unsigned i = 0; i < count; i++) {
        CHECK(node->pool_free[i] < POOL_MAX && !seen[node->pool_free[i]]);
        seen[node->pool_free[i]] = true;
    }
    for (unsigned i = 0; i < node->unexpected_count; i++) {
        uint8_t pool = node->unexpected[i].pool;
        CHECK(pool <= POOL_MAX);
        CHECK(pool == POOL_MAX || !seen[pool]);
        if (pool < POOL_MAX) {
            seen[pool] = true;
            count++;
        }
    }
    CHECK(count == POOL_MAX);
}

static void check_owners(const struct node *node)
{
    const struct engine *e = &node->engine;
    const struct request *moving = &node->requests[node->collective_request];

    CHECK(node->collective_request < ECUBE_REQUESTS_MAX);
    CHECK(!engine_is_active(e) ||
          (moving->kind == REQUEST_COLLECTIVE && moving->state == STATE_MOVING));
    for (unsigned i = 0; i < ECUBE_REQUESTS_MAX; i++) {
        const struct request *request = &node->requests[i];
        CHECK(request->kind != REQUEST_COLLECTIVE || request->state != STATE_MOVING ||
              (engine_is_active(e) && node->collective_request == i));
        CHECK(request->kind == REQUEST_FREE || request->state != STATE_DONE ||
              request->status <= 0);
    }
    CHECK(e->sends_pending <= SOURCES_MAX && e->receives_pending <= WORLD_PORTS * CIRCUITS_MAX);
    CHECK(e->store.used <= e->store.size);
    CHECK(__builtin_popcount(node->load.feeds_used) <=
          __builtin_popcount(node->router.sources_used));
    CHECK(!node->start_due || node->program == PROGRAM_LOADED);
}

void invariants_check(const struct world *world)
{
    const struct router *router = &world->node->router;

    for (unsigned p = 0; p < router->port_count; p++) {
        check_port(router, p, &world->pipes[p]);
    }
    check_counts(router);
    check_messages(world->node);
    check_owners(world->node);
}

void invariants_check_end(const struct world *world)
{
    const struct router *router = &world->node->router;

    for (unsigned p = 0; p < router->port_count; p++) {
        const struct port *port = &router->ports[p];
        CHECK(port->channel.state == LINK_DEAD);
        CHECK(world->pipes[p].taken_count == 0);
        CHECK(port->circuit_count == 0 && port->order_count == 0 && port->routed_count == 0);
        CHECK(port->setup_count == 0 && port->opens_held == 0 && port->due_count == 0);
    }
    CHECK(router->sources_used == 0 && router->opening_count == 0 && router->slots_queued == 0);
    CHECK(router->slots_free == (1u << (SLOTS_MAX + LARGE_SLOTS_MAX)) - 1);
}
