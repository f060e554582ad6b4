/*
 * parallel.c - a long message over several paths at once: its shares, at both ends.
 *
 *     sender  RTS ----------------------------> receiver      as for any message (message.c)
 *             <------------------------- CTS
 *             OPEN of share 0, over path 0 ---> accepted, each by itself, in any order
 *             OPEN of share 1, over path 1 --->
 *             ...
 *
 * The paths share no link (network/paths.h), the shares end together (router/shares.h), and all are
 * issued when the message was: so alone on the machine it takes the time that shares_make says.
 *
 * A share of a send (enum share_state):
 *
 *     WAITS --router_open--> OPENING --ACCEPT--> STANDS
 *       ^                       |
 *       +------- REFUSE --------+   again after a moment; from SHARE_TRIES on in dimension order
 *
 * Invariants
 * - Shares hold nothing for each other: each has an answer of its own, and one that stands sends
 *   its bytes whatever becomes of the others. So each drains as a message does, and what a share
 *   waits for ends as it does for any message with a CTS (router/README.md, rules 1 and 2).
 * - A send has come to its end when no share of it waits, is set up, or still reads its bytes; a
 *   receive when all have come whose circuits it has accepted. Until then its memory is not the
 *   program's.
 * - One message at a time has its shares set up. Another waits READY until all of these stand.
 * - When a share cannot go (a link of its path is dead, or of all ways), those that wait are
 *   dropped, the receiver is told CANCEL, and both ends end with that error when the others have
 *   drained.
 * - Of what comes from outside: a share counts once, lies inside the message that the RTS has
 *   announced, and the last one makes up the whole.
 *
 * A message over several paths goes by RTS and CTS, which take no model time: its shares need a
 * receive, and which comes first is nobody's choice. Its shares are set up one message at a time,
 * so a node has room for one message's shares, and of hop lists that an OPEN does not copy for one.
 */
#include "drivers/check.h"
#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"
#include "router/shares.h"

enum { SHARE_TRIES = 6 }; /* over its own path */

_Static_assert(NETWORK_PATHS_MAX <= 16, "shares_come has a bit for each");

/* How many paths of one message the ports of a node allow. */
static unsigned ports(const struct node *node)
{
    unsigned ports = clock_ports(&node->router.profile);

    return ports < NETWORK_PATHS_MAX ? ports : NETWORK_PATHS_MAX;
}

/* The port of a share, at either end: one of its own. */
static uint8_t port_of(const struct node *node, unsigned number)
{
    return clock_all_ports(&node->router.profile) ? (uint8_t)PORT_UNTIMED
                                                  : (uint8_t)(PORT_NAMED + number);
}

static void make(const struct node *node, uint32_t peer, uint32_t bytes, unsigned paths,
                 struct shares *shares)
{
    unsigned most = paths < ports(node) ? paths : ports(node);

    shares_make(&node->router.network, &node->router.profile, node->router.id, peer, bytes, most,
                shares);
}

unsigned parallel_shares(const struct node *node, uint32_t peer, uint32_t bytes, unsigned paths)
{
    struct shares shares;

    if (paths < 2 || ports(node) < 2 || peer == node->router.id) {
        return 0;
    }
    make(node, peer, bytes, paths, &shares);
    return shares.count > 1 ? shares.count : 0;
}

void parallel_reset(struct node *node)
{
    node->parallel.busy = false;
}

/* Takes the place for a message whose receive stands ready. The same paths and shares come out
 * again: `shares` of them are the best of at most so many. */
static void begin(struct node *node, struct request *request, struct shares *shares)
{
    struct parallel *parallel = &node->parallel;
    uint32_t at = 0;

    parallel->busy = true;
    parallel->request = (uint8_t)(request - node->requests);
    parallel->count = (uint8_t)shares->count;
    request->shares = request->unanswered = request->moving = (uint8_t)shares->count;
    request->done_ns = request->issue_ns;
    for (unsigned i = 0; i < shares->count; i++) {
        parallel->share[i] = (struct share){.at = at, .bytes = shares->bytes[i]};
        at += shares->bytes[i];
    }
    CHECK(at == request->bytes);
}

/* The message has no share more that waits or is set up. */
static void end_if_done(struct node *node, struct request *request)
{
    struct parallel *parallel = &node->parallel;

    if (request->unanswered == 0) {
        request->state = STATE_MOVING;
        if (parallel->busy && &node->requests[parallel->request] == request) {
            parallel->busy = false;
        }
        if (request->moving == 0) {
            request_finish(node, request, request->status, request->done_ns);
        }
    }
}

/* A share will never go: those that wait are dropped, and the receiver waits for none of them. */
static void give_up(struct node *node, struct request *request, int status)
{
    struct parallel *parallel = &node->parallel;

    if (request->status == E_OK) {
        request->status = status;
        match_deny(node, (uint32_t)request->peer, request->match);
    }
    for (unsigned i = 0; i < parallel->count; i++) {
        if (parallel->share[i].state == SHARE_WAITS) {
            parallel->share[i].state = SHARE_STANDS;
            request->unanswered--;
            request->moving--;
        }
    }
}

/* The hops of a path, as an OPEN wants them; false: the one place for a long list is taken. */
static bool write_list(struct parallel *parallel, const struct network_path *path, uint32_t token,
                       uint8_t *short_list, const uint8_t **list)
{
    uint32_t bytes = HOP_LIST_BYTES + path->hops * HOP_BYTES;
    bool is_long = bytes > OPEN_COPY_MAX;
    struct open_hop hops[OPEN_HOPS_MAX];

    if (is_long && parallel->listed) {
        return false;
    }
    for (uint32_t hop = 0; hop < path->hops; hop++) {
        hops[hop] = (struct open_hop){.port = (uint8_t)network_path_port(path, hop)};
    }
    *list = is_long ? parallel->list : short_list;
    hop_list_pack(is_long ? parallel->list : short_list, hops, path->hops);
    if (is_long) {
        parallel->listed = true;
        parallel->reader = token;
    }
    return true;
}

/* Opens one share; false: nothing more can be opened now. */
static bool open_share(struct node *node, struct request *request, unsigned number,
                       const struct network_path *path)
{
    struct parallel *parallel = &node->parallel;
    struct share *share = &parallel->share[number];
    uint8_t list[OPEN_COPY_MAX];
    struct circuit_source source = {
        .dst = (uint32_t)request->peer,
        .match = open_share_match(request->match, number, parallel->count),
        .tag = share->at,
        .flags = OPEN_SHARE,
        .generation = node->load.generation,
        .issue_ns = request->issue_ns,
        .port = port_of(node, number),
        .data = {request->data + share->at},
        .bytes = {share->bytes},
        .token = token_share(request->generation, parallel->request, number)};

    if (share->refusals < SHARE_TRIES) {
        source.flags |= OPEN_ROUTE;
        if (!write_list(parallel, path, source.token, list, &source.hops)) {
            return false;
        }
    }
    int status = router_open(&node->router, &source);
    if (status == E_OK) {
        share->state = SHARE_OPENING;
        return true;
    }
    if (parallel->listed && parallel->reader == source.token) {
        parallel->listed = false;
    }
    if (status != E_FULL) {
        give_up(node, request, status);
    }
    return false;
}

/* When the first that waits may be opened; UINT64_MAX: none waits. */
static uint64_t earliest(const struct parallel *parallel)
{
    uint64_t again_us = UINT64_MAX;

    for (unsigned i = 0; i < parallel->count; i++) {
        const struct share *share = &parallel->share[i];
        if (share->state == SHARE_WAITS && share->again_us < again_us) {
            again_us = share->again_us;
        }
    }
    return again_us;
}

/* Each share by itself, as soon as it may. Looks again at the earliest that waits for a moment. */
void parallel_pump(struct node *node, struct request *request)
{
    struct parallel *parallel = &node->parallel;
    struct shares shares;
    uint64_t again_us = earliest(parallel);

    if (parallel->busy && &node->requests[parallel->request] != request) {
        return;
    }
    if (!parallel->busy || again_us <= node->now_us) {
        make(node, (uint32_t)request->peer, request->bytes, request->shares, &shares);
    }
    if (!parallel->busy) {
        begin(node, request, &shares);
        again_us = 0;
    }
    for (unsigned i = 0; i < parallel->count && again_us <= node->now_us; i++) {
        struct share *share = &parallel->share[i];
        if (share->state == SHARE_WAITS && share->again_us <= node->now_us &&
            !open_share(node, request, i, &shares.path[i])) {
            break;
        }
    }
    again_us = earliest(parallel);
    request->again_us = again_us > node->now_us && again_us != UINT64_MAX ? again_us : 0;
    end_if_done(node, request);
}

/* What becomes of a share that has been refused. */
static void refused(struct node *node, struct request *request, unsigned number, int status)
{
    struct share *share = &node->parallel.share[number];

    share->state = SHARE_WAITS;
    request->again_us = 0;
    if (request->status != E_OK || (status != E_REFUSED && status != E_BUSY)) {
        give_up(node, request, status);
        return;
    }
    /* One that a collective is in the way of keeps its path. */
    if (status == E_BUSY) {
        share->again_us = node->now_us + ((uint64_t)SOON_US << share->early);
        share->early = share->early < SOON_DOUBLINGS ? (uint8_t)(share->early + 1) : share->early;
    } else {
        share->again_us = node->now_us + message_spread_us(node, &share->refusals);
    }
}

static void sending_notice(struct node *node, struct request *request, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_ACCEPTED:
        node->parallel.share[token_number(notice->token)].state = SHARE_STANDS;
        request->unanswered--;
        request->done_ns = clock_max(request->done_ns, notice->done_ns);
        request->again_us = 0;
        break;
    case NOTICE_REFUSED: refused(node, request, token_number(notice->token), notice->status); break;
    case NOTICE_SENT:
        request->moving--;
        request->status = request->status == E_OK ? notice->status : request->status;
        break;
    default: break;
    }
    end_if_done(node, request);
}

/* A receive ends when all shares have come, or no more of them will. */
static void receive_if_done(struct node *node, struct request *request)
{
    if (request->moving > 0 || (request->status == E_OK && request->unanswered > 0)) {
        return;
    }
    if (request->status == E_OK) {
        match_finish(node, request, request->done_ns);
    } else {
        request_finish(node, request, request->status, request->done_ns);
    }
}

static void receiving_notice(struct node *node, struct request *request,
                             const struct notice *notice)
{
    if (notice->kind != NOTICE_RECEIVED) {
        return;
    }
    request->moving--;
    if (notice->status != E_OK && notice->status != E_TRUNCATED && request->status == E_OK) {
        request->status = notice->status;
    }
    receive_if_done(node, request);
}

/* The list is free when its OPEN has an answer, whatever has become of the message: the neighbour
 * has read it. */
void parallel_notice(struct node *node, const struct notice *notice)
{
    struct parallel *parallel = &node->parallel;
    struct request *request = request_named(node, notice->token);
    bool answer = notice->kind == NOTICE_ACCEPTED || notice->kind == NOTICE_REFUSED;

    node_due_messages(node);
    if (answer && parallel->listed && parallel->reader == notice->token) {
        parallel->listed = false;
    }
    if (!request || request->shares == 0) {
        return;
    }
    if (request->kind == REQUEST_SEND) {
        sending_notice(node, request, notice);
    } else {
        receiving_notice(node, request, notice);
    }
}

/* Whether a share may be the one that it says it is. */
static bool may_come(const struct request *request, const uint8_t *packet)
{
    unsigned number = open_share_number(packet), count = open_share_count(packet);
    uint64_t end = (uint64_t)open_tag(packet) + open_length(packet);
    uint64_t come = (uint64_t)request->share_bytes + open_length(packet);
    bool last = request->shares > 0 && request->unanswered == 1;

    if (count < 2 || count > NETWORK_PATHS_MAX || number >= count ||
        open_flags(packet) & OPEN_INLINE || end > request->result_bytes) {
        return false;
    }
    if (request->shares == 0) {
        return !request->accepted && come < request->result_bytes;
    }
    return count == request->shares && !(request->shares_come >> number & 1) &&
           (last ? come == request->result_bytes : come < request->result_bytes);
}

void parallel_open(struct node *node, unsigned port, const uint8_t *packet, struct request *request)
{
    uint32_t at = open_tag(packet), length = open_length(packet);
    unsigned number = open_share_number(packet);

    if (request->status != E_OK) {
        router_refuse(&node->router, port, E_PEER_GONE);
        return;
    }
    if (!may_come(request, packet)) {
        router_refuse(&node->router, port, E_FORMAT);
        return;
    }
    if (request->shares == 0) {
        request->shares = request->unanswered = (uint8_t)open_share_count(packet);
        request->accepted = true;
    }
    request->shares_come |= (uint16_t)(1u << number);
    request->share_bytes += length;
    request->unanswered--;
    request->moving++;
    uint32_t room = at < request->bytes ? request->bytes - at : 0;
    struct circuit_sink sink = {
        .data = request->data + (at < request->bytes ? at : 0),
        .room = room < length ? room : length,
        .ready_ns = request->issue_ns,
        .port = port_of(node, number),
        .token = token_share(request->generation, (unsigned)(request - node->requests), number)};
    request->done_ns = clock_max(request->done_ns, router_accept(&node->router, port, &sink));
}

bool parallel_cancel(struct node *node, struct request *request)
{
    if (request->shares == 0 || request->unanswered == 0) {
        return false;
    }
    request->status = request->status == E_OK ? E_LINK_DEAD : request->status;
    receive_if_done(node, request);
    return true;
}
