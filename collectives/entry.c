#include "collectives/entry.h"

#include <string.h>

#include "network/network.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/frame.h"
#include "wire/report.h"

static bool is_root(const struct router *router)
{
    return router->id == 0;
}

/* The port that leads to a node's parent; it is not the root. */
static unsigned parent_port(const struct network *network, uint32_t rank)
{
    return network_next_hop(network, rank, 0);
}

/* A network that is not known yet has no ports, and so nobody to wait for or to tell. */
static bool is_child(const struct network *network, uint32_t rank, unsigned port)
{
    uint32_t other = network_neighbour(network, rank, port);

    return other != NETWORK_NO_NODE && other != 0 &&
           network_neighbour(network, other, parent_port(network, other)) == rank;
}

static uint32_t find_children(const struct router *router)
{
    uint32_t ports = 0;

    for (unsigned port = 0; port < router->network.ports; port++) {
        ports |= (uint32_t)is_child(&router->network, router->id, port) << port;
    }
    return ports;
}

/* The ports of the children, found once for this node's number. */
static uint32_t children(struct entering *e, const struct router *router)
{
    if (e->tree_rank != router->id) {
        e->tree_rank = router->id;
        e->children = find_children(router);
    }
    return e->children;
}

static uint32_t parent(const struct router *router)
{
    if (router->network.nodes <= 1 || is_root(router)) {
        return 0;
    }
    return UINT32_C(1) << parent_port(&router->network, router->id);
}

/* After `epoch`, in the circle of 16-bit numbers. */
static bool is_after(uint16_t epoch, uint16_t other)
{
    return (int16_t)(epoch - other) > 0;
}

static void begin_epoch(struct entering *e)
{
    e->entered = e->up_sent = false;
    e->joined = 0;
    e->sum = (struct enter_body){
        .failed = ID_UNKNOWN, .first_rank = ID_UNKNOWN, .other_rank = ID_UNKNOWN};
}

void entry_reset(struct entering *e, uint8_t generation)
{
    memset(e, 0, sizeof *e);
    e->generation = generation;
    e->tree_rank = ID_UNKNOWN;
    begin_epoch(e);
}

static bool same(const struct entry *one, const struct entry *other)
{
    return one->operation == other->operation && one->type == other->type &&
           one->operator_ == other->operator_ && one->bytes == other->bytes &&
           one->root == other->root && one->digest == other->digest && one->choice == other->choice;
}

/* Takes (rank, entry) for the lowest rank that differs from `first`, if it does and is. */
static void differs(struct enter_body *sum, uint32_t rank, const struct entry *entry)
{
    if (rank != ID_UNKNOWN && !same(&sum->first, entry) &&
        (sum->other_rank == ID_UNKNOWN || rank < sum->other_rank)) {
        sum->other_rank = rank;
        sum->other = *entry;
    }
}

/* Joins what two sets of nodes say. Of both together the lowest rank is the lower of the two
 * firsts; the lowest that differs from it is the other set's first, or one of the two that
 * differed before: where a first agrees with the new one, its `other` differs from both. */
static void entry_join(struct enter_body *sum, const struct enter_body *more)
{
    struct enter_body low = *sum, high = *more;

    if (sum->first_rank == ID_UNKNOWN ||
        (more->first_rank != ID_UNKNOWN && more->first_rank < sum->first_rank)) {
        low = *more;
        high = *sum;
    }
    struct enter_body joined = low;
    differs(&joined, high.first_rank, &high.first);
    differs(&joined, high.other_rank, &high.other);
    /* Of one that cannot go on its own entry is told: who else differs is not asked then. */
    const struct enter_body *failed = high.failed < low.failed ? &high : &low;
    if (failed->failed != ID_UNKNOWN) { /* the highest */
        joined.failed = failed->failed;
        joined.status = failed->status;
        joined.other_rank = failed->other_rank;
        joined.other = failed->other;
    }
    joined.clock_ns = clock_max(low.clock_ns, high.clock_ns);
    *sum = joined;
}

void entry_begin(struct entering *e, const struct router *router, const struct entry *mine,
                 int status, uint64_t clock_ns)
{
    struct enter_body own = {.failed = status == E_OK ? ID_UNKNOWN : router->id,
                             .status = (int16_t)status,
                             .clock_ns = clock_ns,
                             .first_rank = router->id,
                             .first = *mine,
                             .other_rank = status == E_OK ? ID_UNKNOWN : router->id,
                             .other = *mine};

    entry_join(&e->sum, &own);
    e->entered = true;
}

/* The result of the next epoch is known. */
static void decide(struct entering *e, uint32_t tell, int status, uint64_t clock_ns)
{
    e->decided++;
    e->status = (int16_t)status;
    e->clock_ns = clock_ns;
    e->down = tell;
    begin_epoch(e);
}

/* Somebody takes no part in what comes from an epoch on; a neighbour at one of `knows` has said so.
 */
static void close_from(struct entering *e, const struct router *router, uint16_t epoch,
                       uint32_t knows, int why)
{
    if (!e->closed || is_after(e->closed_from, epoch)) {
        e->closed = true;
        e->closed_from = epoch;
        e->why = (int16_t)why;
        e->closing = ((e->joined & children(e, router)) | parent(router)) & ~knows;
    } else if (e->closed_from == epoch) {
        e->closing &= ~knows;
    }
}

void entry_close(struct entering *e, const struct router *router, uint16_t begun, int why)
{
    close_from(e, router, (uint16_t)(begun + 1), 0, why);
}

/* The port of the tree at which a neighbour is; none: it is not in the tree. */
static uint32_t port_of(const struct router *router, uint32_t src)
{
    unsigned port = network_port_to(&router->network, router->id, src);

    return port < router->network.ports ? UINT32_C(1) << port : 0;
}

/* Whether a neighbour may speak of this epoch's closure: the one that is entered, or the next,
 * which its node has reached while this one's is under way, or the one behind that, if a collective
 * with two epochs is. */
static bool may_close(const struct entering *e, uint16_t epoch)
{
    uint16_t ahead = (uint16_t)(epoch - e->decided);

    return ahead >= 1 && ahead <= 3;
}

static void take_enter(struct entering *e, const struct router *router,
                       const struct enter_body *enter, uint32_t port)
{
    if (!(children(e, router) & port)) {
        return;
    }
    if (enter->generation != e->generation) {
        /* of the program before: this node's has ended, and its children hear so when they ask */
        if (!entry_is_closure(enter->status)) {
            e->late |= port;
            e->late_epoch = enter->epoch;
            e->late_generation = enter->generation;
        }
        return;
    }
    if (entry_is_closure(enter->status)) {
        if (may_close(e, enter->epoch)) {
            close_from(e, router, enter->epoch, port, enter->status);
        }
    } else if (e->closed && !is_after(e->closed_from, enter->epoch)) {
        e->closing |= port; /* it has not been told before: it had not asked */
    } else if (enter->epoch == (uint16_t)(e->decided + 1) && !(e->joined & port)) {
        e->joined |= port;
        entry_join(&e->sum, enter);
    }
}

static void take_entered(struct entering *e, const struct router *router,
                         const struct entered_body *entered, uint32_t port)
{
    if (!(parent(router) & port) || entered->generation != e->generation) {
        return;
    }
    if (entry_is_closure(entered->status)) {
        if (may_close(e, entered->epoch)) {
            close_from(e, router, entered->epoch, port, entered->status);
        }
    } else if (e->up_sent && entered->epoch == (uint16_t)(e->decided + 1)) {
        decide(e, children(e, router), entered->status, entered->clock_ns);
    }
}

void entry_packet(struct entering *e, const struct router *router, const struct notice *notice)
{
    struct enter_body enter;
    struct entered_body entered;
    uint32_t port = port_of(router, notice->src);

    if (notice->packet_kind == PACKET_ENTER) {
        if (enter_unpack(notice->body, notice->bytes, &enter)) {
            take_enter(e, router, &enter, port);
        }
    } else if (entered_unpack(notice->body, notice->bytes, &entered)) {
        take_entered(e, router, &entered, port);
    }
}

static int send_down(const struct entering *e, struct router *router, unsigned port, uint16_t epoch,
                     uint8_t generation, int status)
{
    struct entered_body entered = {.epoch = epoch,
                                   .generation = generation,
                                   .status = (int16_t)status,
                                   .clock_ns = e->clock_ns};
    uint8_t body[ENTERED_BYTES];

    entered_pack(body, &entered);
    return router_send(router, PACKET_ENTERED,
                       network_neighbour(&router->network, router->id, port), body, sizeof body);
}

static int send_up(struct router *router, const struct enter_body *enter)
{
    unsigned port = parent_port(&router->network, router->id);
    uint8_t body[ENTER_BYTES];

    enter_pack(body, enter);
    return router_send(router, PACKET_ENTER, network_neighbour(&router->network, router->id, port),
                       body, sizeof body);
}

/* Tells the neighbour at a port that no collective from closed_from on takes place. */
static int send_closure(const struct entering *e, struct router *router, unsigned port)
{
    struct enter_body gone = {.epoch = e->closed_from,
                              .generation = e->generation,
                              .status = e->why,
                              .failed = ID_UNKNOWN,
                              .first_rank = ID_UNKNOWN,
                              .other_rank = ID_UNKNOWN};

    if (is_child(&router->network, router->id, port)) {
        return send_down(e, router, port, e->closed_from, e->generation, e->why);
    }
    return send_up(router, &gone);
}

/* Results first: a child must not hear of the closure before the result of the epoch before it. */
static bool pump_down(struct entering *e, struct router *router)
{
    for (uint32_t left = e->down; left; left &= left - 1) {
        if (send_down(e, router, (unsigned)__builtin_ctz(left), e->decided, e->generation,
                      e->status) != E_OK) {
            return false;
        }
        e->down &= e->down - 1;
    }
    for (uint32_t left = e->closing; left; left &= left - 1) {
        if (send_closure(e, router, (unsigned)__builtin_ctz(left)) != E_OK) {
            return false;
        }
        e->closing &= e->closing - 1;
    }
    for (uint32_t left = e->late; left; left &= left - 1) {
        if (send_down(e, router, (unsigned)__builtin_ctz(left), e->late_epoch, e->late_generation,
                      E_PEER_GONE) != E_OK) {
            return false;
        }
        e->late &= e->late - 1;
    }
    return true;
}

/* The host hears why an entry failed: which node could not, or which two differ. */
static bool tell_host(struct entering *e, struct router *router)
{
    const struct enter_body *failed = &e->failed;
    bool differ = failed->failed == ID_UNKNOWN;
    struct disagree_body disagree = {.status = differ ? E_MISMATCH : failed->status,
                                     .first_rank = differ ? failed->first_rank : failed->failed,
                                     .other_rank = differ ? failed->other_rank : ID_UNKNOWN,
                                     .first = differ ? failed->first : failed->other,
                                     .other = failed->other};
    uint8_t body[DISAGREE_BYTES];

    disagree_pack(body, &disagree);
    if (router_send(router, PACKET_DISAGREE, ID_HOST, body, sizeof body) != E_OK) {
        return false;
    }
    e->disagree_due = false;
    return true;
}

/* Node 0 has heard of all. */
static void decide_for_all(struct entering *e, struct router *router)
{
    int status = e->sum.failed != ID_UNKNOWN       ? e->sum.status
                 : e->sum.other_rank != ID_UNKNOWN ? E_MISMATCH
                                                   : E_OK;

    if (status != E_OK) {
        e->failed = e->sum;
        e->disagree_due = true;
    }
    decide(e, children(e, router), status, e->sum.clock_ns);
}

static void pump_up(struct entering *e, struct router *router)
{
    uint16_t next = (uint16_t)(e->decided + 1);

    if (!e->entered || e->up_sent || e->joined != children(e, router) ||
        (e->closed && (e->reached || !is_after(e->closed_from, next)))) {
        return;
    }
    if (is_root(router)) {
        decide_for_all(e, router);
        return;
    }
    e->sum.epoch = next;
    e->sum.generation = e->generation;
    e->up_sent = send_up(router, &e->sum) == E_OK;
}

/* Says what is owed; false when a slot is missing. */
static bool pump_owed(struct entering *e, struct router *router)
{
    return pump_down(e, router) && (!e->disagree_due || tell_host(e, router));
}

/* What is owed for one epoch goes before the next one is decided: there is one place for it. */
void entry_pump(struct entering *e, struct router *router)
{
    if (pump_owed(e, router)) {
        pump_up(e, router);
        pump_owed(e, router);
    }
}

/* A closed epoch is over as soon as somebody asks, once the children have the result before it.
 * `reached` is for epochs so far behind the closure that their numbers have gone round. */
bool entry_is_over(struct entering *e, uint16_t epoch, int *status)
{
    if (e->decided != epoch && !e->down && e->closed &&
        (e->reached || !is_after(e->closed_from, epoch))) {
        e->reached = true;
        decide(e, 0, e->why, e->clock_ns);
    }
    *status = e->status;
    return e->decided == epoch;
}

bool entry_is_due(const struct entering *e)
{
    return e->down || e->closing || e->late || e->disagree_due;
}

bool entry_has_business(const struct entering *e)
{
    return entry_is_due(e) || (e->entered && !e->up_sent);
}

uint32_t entry_awaits(const struct entering *e, const struct router *router)
{
    uint32_t missing = find_children(router) & ~e->joined;

    if (missing) {
        return network_neighbour(&router->network, router->id, (unsigned)__builtin_ctz(missing));
    }
    if (is_root(router) || router->network.nodes <= 1) {
        return router->id;
    }
    return network_neighbour(&router->network, router->id,
                             parent_port(&router->network, router->id));
}
