/*
 * engine_row.h - the present row: when it may begin, its peers, its bytes, and its times.
 *
 * Units    bytes; model time in ns
 * Context  the node's step
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "collectives/engine.h"
#include "router/clock.h"
#include "wire/circuit.h"

/* Whether the row that comes next may begin while bytes of earlier ones move. */
bool engine_may_begin(const struct engine *e, const struct plan_row *row);

/* Makes it the present row. */
void engine_open_row(struct engine *e, const struct router *router, const struct plan_row *row);

/* The row's circuit brings another number of bytes than this node expects. Where blocks have sizes
 * of their own the first difference is kept until all nodes have said whether theirs agreed. */
void engine_differ(struct engine *e, uint32_t bytes);

/* A circuit of the row is accepted: it flows from `done` less its transfer on. */
void engine_stands(struct engine *e, const struct router *router, uint32_t hops, uint32_t bytes,
                   uint64_t done_ns);

/* When the row's circuits are issued, and ready to be received. */
static inline uint64_t engine_issue_ns(const struct engine *e)
{
    return e->head.flags & ROW_AHEAD ? e->step_flow_ns : e->step_clock_ns;
}

/* What notices of the row's circuits carry: the owner's bits, the epoch's low byte, the row. */
static inline uint32_t engine_token(const struct engine *e)
{
    return e->token | (uint32_t)(e->epoch & 0xff) << 16 | e->row_number;
}

/* How a row's circuits are told from others of the plan between the same nodes. */
static inline uint32_t engine_match(const struct engine *e)
{
    return open_match_of(e->head.step, e->head.port);
}

/* The port of the row's circuits, for the model clock. */
static inline uint8_t engine_port(const struct engine *e)
{
    return plan_ports(e->part) == PORTS_ALL ? PORT_UNTIMED : (uint8_t)(PORT_NAMED + e->head.port);
}
