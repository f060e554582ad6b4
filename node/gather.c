/*
 * gather.c - what programs have left: take in what the other nodes of a range have, hash the own,
 * and send all of it on, towards the host.
 *
 * It is a download backwards (load.c). The last child of a download has the smallest range and is
 * the first here, so that ranges come in the order of ranks. Their messages go to free memory,
 * behind all that this node's own output occupies; that stays where it is.
 *
 *     cube:3, node 0: takes {1} from 1, {2,3} from 2, {4..7} from 4; sends {0..7} to the host
 *
 *     program memory   ... | own pieces ... | message of 1 | of 2 | of 4 | free
 *     its own message  row 0 | rows of 1, 2, 4 | own pieces | outputs of 1, 2, 4
 *
 * States (enum gather_state):
 *
 *     IDLE --COLLECT--> COLLECTING --all there, hashed, granted--> OPENING --ACCEPT--> SENDING
 *                           ^                                         |                   |
 *                           +-- REFUSED by a hop that is busy --------+     all sent      v
 *     DONE <--- an error, which the host is told (MEASURED) --- any      ---------------> DONE
 *
 * What waits for what
 * - COLLECTING sends BEGIN to all children, so that they collect and hash at the same time, and
 *   GRANT to one of them at a time: whose circuit has a place here. Each is repeated, BEGIN until
 *   the child has said that it collects, GRANT until its circuit comes.
 * - Its own GRANT may come at any time, and is kept.
 * - A circuit that was refused by a hop waits for ANSWER_RETRY_US. SENDING waits for the links
 *   only: whoever has granted it takes all of it.
 * - MEASURED is owed until the last program is over: told, its collective through, and no circuit
 *   of it left. From then on nothing that takes model time begins here but the gather.
 * - COLLECT is put off (RETRY) for the same, and as long as circuits of an earlier gather go on.
 * - A gather that the host has given up waits for nothing but GRANTs, and no timer goes. The OFFER
 *   of the next download ends it.
 *
 * A node says how much it has when nothing more of a program can move there (`node_is_over`): its
 * collective is through, its end told, no circuit left. So when all have said so, no port or link
 * is busy after the time that the host takes for its base, and what the host plans by replay is
 * exact.
 *
 * A circuit of a gather has a flag of its own beside the download's (OPEN_OUTPUT): a node that
 * takes either knows from the flag whose it is, whatever state it is in.
 *
 * Source  Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *         nodes, section III, backwards
 */
#include <stddef.h>
#include <string.h>

#include "drivers/status.h"
#include "network/network.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/clock.h"
#include "router/notice.h"
#include "router/router.h"
#include "router/state.h"

enum {
    OWN = 0xff,   /* in a token: this node's own circuit; below: that of a child */
    GAP_BYTES = 8 /* free memory begins at a multiple of this */
};

/* The output ---------------------------------------------------------------------------------- */

int gather_name_output(struct node *node, uint32_t address, uint32_t count)
{
    if (count > ECUBE_PIECES_MAX) {
        return E_ARGUMENT;
    }
    if (count > 0 &&
        !program_structure(node, address, count * (uint32_t)sizeof(struct ecube_abi_piece))) {
        return E_FAULT;
    }
    node->output_address = address;
    node->output_count = count;
    return E_OK;
}

/* How many pieces there are of what is gathered. */
static uint32_t pieces_of(const struct node *node)
{
    return node->gather.region ? 1 : node->output_count;
}

/* The table is the program's, which may have changed it since: whatever stands there now is looked
 * at again. NULL, and no bytes: nothing, or a piece that is not all the program's. */
static const uint8_t *piece_at(const struct node *node, uint32_t index,
                               struct ecube_abi_piece *piece)
{
    if (node->gather.region) {
        *piece = (struct ecube_abi_piece){0};
        return region_memory(node, node->gather.name, piece);
    }
    const uint8_t *table = program_structure(
        node, node->output_address, node->output_count * (uint32_t)sizeof(struct ecube_abi_piece));

    memcpy(piece, table + index * sizeof *piece, sizeof *piece);
    return piece->bytes > 0 ? program_memory(node, piece->address, piece->bytes) : NULL;
}

/* What the pieces of a program come to. */
struct extent {
    uint64_t bytes;
    uint32_t end; /* of the memory that they and their table occupy, and the program's image */
    int status;   /* E_FAULT: a piece is not all the program's, and counts nothing */
};

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Below the heap nothing is free: there lie pages that nobody may write. */
static struct extent measure(const struct node *node)
{
    struct extent extent = {.end = later(node->load.top, node->config.image_address)};
    struct ecube_abi_piece piece;

    if (node->output_count > 0) {
        extent.end =
            later(extent.end, node->output_address + node->output_count * (uint32_t)sizeof piece);
    }
    for (uint32_t i = 0; i < node->output_count; i++) {
        if (piece_at(node, i, &piece)) {
            extent.bytes += piece.bytes;
            extent.end = later(extent.end, piece.address + piece.bytes);
        } else if (piece.bytes > 0) {
            extent.status = E_FAULT;
        }
    }
    if (extent.bytes > INT32_MAX) { /* pieces may overlap */
        extent.bytes = 0;
        extent.status = E_NO_ROOM;
    }
    extent.end = (extent.end + GAP_BYTES - 1u) & ~(GAP_BYTES - 1u);
    return extent;
}

/* The range ----------------------------------------------------------------------------------- */

/* Child `index`, the nearest first: its number; *count is that of its range. */
static uint32_t child_at(const struct node *node, unsigned index, uint32_t *count)
{
    return node->router.id + network_part(&node->router.network, node->gather.count, index, count);
}

/* The child of that number; `children` when it is none. */
static unsigned child_of(const struct node *node, uint32_t rank)
{
    unsigned index = 0;
    uint32_t count;

    while (index < node->gather.children && child_at(node, index, &count) != rank) {
        index++;
    }
    return index;
}

static uint32_t table_bytes(uint32_t count)
{
    return count * (uint32_t)OUTPUT_ROW_BYTES;
}

/* State --------------------------------------------------------------------------------------- */

static void enter(struct node *node, enum gather_state state)
{
    node->gather.state = (uint8_t)state;
    node_due_gather(node);
}

/* The host is to be told; what is under way ends as it can. */
static void fail(struct node *node, int status)
{
    if (node->gather.state != GATHER_IDLE && node->gather.state != GATHER_DONE) {
        node->gather.status = status;
        enter(node, GATHER_DONE);
    }
}

/* Nothing takes model time any more, and none is about to begin. */
static bool is_quiet(const struct node *node)
{
    return node_is_over(node) && !node->start_due;
}

void gather_drop(struct node *node)
{
    node->gather.state = GATHER_IDLE;
    node->gather.measure_due = false;
    node->gather.status = E_OK;
    node_due_gather(node);
}

void gather_drop_region(struct node *node)
{
    if (node->gather.region) {
        gather_drop(node);
        node->gather.region = false;
    }
}

void gather_reset(struct node *node)
{
    gather_drop(node);
    node->output_address = node->output_count = 0;
}

/* What the host asks -------------------------------------------------------------------------- */

void gather_measure(struct node *node, const struct notice *notice)
{
    struct measure_body body;

    if (measure_unpack(notice->body, notice->bytes, &body) &&
        body.generation == node->load.generation) {
        node->gather.measure_name = body.name;
        node->gather.measure_due = true;
        node_due_gather(node);
    }
}

static bool say(struct node *node, const struct measured_body *measured)
{
    uint8_t body[MEASURED_BYTES];

    measured_pack(body, measured);
    return router_send(&node->router, PACKET_MEASURED, ID_HOST, body, sizeof body) == E_OK;
}

uint64_t node_busy_until(const struct node *node)
{
    const struct router *router = &node->router;
    uint64_t until_ns = node->clock_ns;

    for (unsigned i = 0; i < CLOCK_PORTS_MAX; i++) {
        until_ns =
            clock_max(until_ns, clock_max(router->send_free_ns[i], router->receive_free_ns[i]));
    }
    return until_ns;
}

static void say_measured(struct node *node)
{
    struct extent extent;

    if (!is_quiet(node)) {
        return;
    }
    extent = measure(node);
    if (say(node, &(struct measured_body){.name = node->gather.measure_name,
                                          .status = extent.status,
                                          .bytes = (uint32_t)extent.bytes,
                                          .room = program_room(node, extent.end),
                                          .model_ns = node_busy_until(node)})) {
        node->gather.measure_due = false;
    }
}

/* COLLECT ------------------------------------------------------------------------------------- */

static void begin(struct node *node, const struct collect_body *collect, uint32_t from)
{
    struct gather *gather = &node->gather;
    struct ecube_abi_piece piece = {0};
    bool region = region_memory(node, collect->name, &piece) != NULL;
    struct extent extent = {.bytes = piece.bytes};

    if (!region) {
        extent = measure(node);
    }

    *gather =
        (struct gather){.number = (uint8_t)(gather->number + 1),
                        .measure_due = gather->measure_due,
                        .measure_name = gather->measure_name,
                        .region = region,
                        .name = collect->name,
                        .from = from,
                        .count = collect->count,
                        .children = (uint8_t)network_parts(&node->router.network, collect->count),
                        .bytes = (uint32_t)extent.bytes,
                        .hash_piece = extent.bytes || region ? 0 : node->output_count,
                        .base_ns = collect->base_ns,
                        .clock_ns = collect->base_ns};
    gather->placed[0] = extent.end;
    sha256_begin(&gather->sha);
    enter(node, GATHER_COLLECTING);
}

/* Whether a COLLECT may be met now: what is fetched lies still. */
static bool is_there(const struct node *node, const struct collect_body *collect)
{
    struct ecube_abi_piece piece;

    return is_quiet(node) || (collect->count == 1 && node->region.state == REGION_ATTENDING &&
                              region_memory(node, collect->name, &piece));
}

/* Whether it is of the gather that goes on, or is done: it may come any number of times. */
static bool is_known(const struct node *node, const struct collect_body *collect, uint32_t from)
{
    const struct gather *gather = &node->gather;

    return gather->state != GATHER_IDLE && gather->name == collect->name && gather->from == from &&
           gather->count == collect->count;
}

void gather_collect(struct node *node, const struct notice *notice)
{
    struct collect_body collect;

    if (!collect_unpack(notice->body, notice->bytes, &collect) ||
        collect.generation != node->load.generation) {
        return;
    }
    /* No slot for its answer: forgotten, for it is repeated. */
    if (router_slots_free(&node->router) < REPLY_SLOTS) {
        node->dropped_requests++;
        return;
    }
    if (!is_known(node, &collect, notice->src)) {
        if (!is_there(node, &collect)) {
            node_answer(node, PACKET_RETRY, notice->src, collect.name);
            return;
        }
        if (!network_is_block(&node->router.network, node->router.id, collect.count)) {
            node_answer(node, PACKET_CANCEL, notice->src, collect.name);
            return;
        }
        begin(node, &collect, notice->src);
    }
    node->gather.granted |= collect.stage == COLLECT_GRANT;
    node_answer(node, PACKET_QUEUED, notice->src, collect.name);
}

/* True: there was a slot for it. */
static bool ask_child(struct node *node, unsigned index, enum collect_stage stage)
{
    struct collect_body collect = {.name = node->gather.name,
                                   .stage = (uint8_t)stage,
                                   .generation = node->load.generation,
                                   .base_ns = node->gather.base_ns};
    uint32_t child = child_at(node, index, &collect.count);
    uint8_t body[COLLECT_BYTES];

    collect_pack(body, &collect);
    return router_slots_free(&node->router) >= REPLY_SLOTS &&
           router_send(&node->router, PACKET_COLLECT, child, body, sizeof body) == E_OK;
}

/* Whether a child is still to be asked for something: to begin, or for its circuit. */
static bool asks(const struct gather *gather, unsigned index)
{
    bool granted = index == gather->next && !gather->receiving;

    return index >= gather->next && (granted || !(gather->begun >> index & 1));
}

static bool asks_any(const struct gather *gather)
{
    bool any = false;

    for (unsigned i = gather->next; i < gather->children; i++) {
        any |= asks(gather, i);
    }
    return any;
}

/* GRANT says BEGIN, too. */
static void ask_children(struct node *node)
{
    struct gather *gather = &node->gather;

    gather->again_us = node->now_us + ASK_AGAIN_US;
    for (unsigned i = gather->next; i < gather->children; i++) {
        bool grant = i == gather->next && !gather->receiving;
        if (asks(gather, i) && !ask_child(node, i, grant ? COLLECT_GRANT : COLLECT_BEGIN)) {
            gather->again_us = node->now_us + ANSWER_RETRY_US;
            return;
        }
    }
}

bool gather_answer(struct node *node, const struct answer *answer)
{
    struct gather *gather = &node->gather;
    unsigned child;

    if (gather->state == GATHER_IDLE || answer->name != gather->name) {
        return false;
    }
    child = child_of(node, answer->src);
    if (gather->state != GATHER_COLLECTING || child == gather->children) {
        return true;
    }
    if (answer->kind == PACKET_QUEUED) {
        gather->begun |= UINT32_C(1) << child;
    } else if (answer->kind == PACKET_RETRY) {
        gather->again_us = node->now_us + ANSWER_RETRY_US;
    } else {
        fail(node, E_REFUSED);
    }
    return true;
}

/* The circuit of a child ---------------------------------------------------------------------- */

/* Nobody opens one here but the child that has been told so; and it fits, for the host has seen to
 * that. E_CANCELLED ends the sender's gather: it would try for ever. */
void gather_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct gather *gather = &node->gather;
    uint32_t length = open_length(packet), at = gather->placed[gather->next], count = 0;

    if (gather->state != GATHER_COLLECTING || open_match(packet) != gather->name) {
        router_refuse(&node->router, port, E_CANCELLED);
        return;
    }
    if (gather->next == gather->children || gather->receiving ||
        packet_src(packet) != child_at(node, gather->next, &count) ||
        open_flags(packet) & OPEN_INLINE || open_tag(packet) != table_bytes(count) ||
        length < table_bytes(count)) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    if (length > program_room(node, at)) {
        router_refuse(&node->router, port, E_NO_ROOM);
        fail(node, E_NO_ROOM);
        return;
    }
    struct circuit_sink sink = {.data = program_memory(node, at, length),
                                .room = length,
                                .token = token_make(TOKEN_OUTPUT, gather->number, gather->next)};
    gather->receiving = true;
    gather->placed[gather->next + 1] = at + length;
    gather->clock_ns = clock_max(gather->clock_ns, router_accept(&node->router, port, &sink));
}

static void take_received(struct node *node, const struct notice *notice)
{
    struct gather *gather = &node->gather;

    if (notice->status != E_OK) {
        fail(node, notice->status);
        return;
    }
    gather->receiving = false;
    gather->next++;
    gather->again_us = 0;
}

/* The own circuit ----------------------------------------------------------------------------- */

/* The rest of a child's message, or its table. */
static const uint8_t *of_child(const struct node *node, unsigned index, bool table, uint32_t *bytes)
{
    const struct gather *gather = &node->gather;
    uint32_t at = gather->placed[index], end = gather->placed[index + 1], count;

    child_at(node, index, &count);
    if (table) {
        end = at + table_bytes(count);
    } else {
        at += table_bytes(count);
    }
    *bytes = end - at;
    return program_memory(node, at, *bytes);
}

/* Portion `index` of the message: the own row; the tables of children; the own pieces; the outputs
 * of children. No bytes: there is nothing of it. */
static const uint8_t *portion(const struct node *node, uint32_t index, uint32_t *bytes)
{
    uint32_t children = node->gather.children;
    struct ecube_abi_piece piece;
    const uint8_t *at;

    if (index-- == 0) {
        *bytes = OUTPUT_ROW_BYTES;
        return node->gather.row;
    }
    if (index < children) {
        return of_child(node, index, true, bytes);
    }
    index -= children;
    if (index < pieces_of(node)) {
        at = piece_at(node, index, &piece);
        *bytes = at ? piece.bytes : 0;
        return at;
    }
    return of_child(node, index - pieces_of(node), false, bytes);
}

static uint32_t portions(const struct node *node)
{
    return 1 + 2 * (uint32_t)node->gather.children + pieces_of(node);
}

/* There is one more, unless a debugger has changed the program's table since: then the receiver
 * hears that the rest will not come. */
static void feed(struct node *node, uint32_t token)
{
    struct gather *gather = &node->gather;
    const uint8_t *at = NULL;
    uint32_t bytes = 0;

    while (gather->state == GATHER_SENDING && bytes == 0 && gather->portion < portions(node)) {
        at = portion(node, gather->portion++, &bytes);
    }
    bool good = bytes > 0 && bytes <= gather->left;
    gather->left -= good ? bytes : 0;
    (void)router_feed(&node->router, token, good ? at : NULL, bytes);
}

/* E_FULL: another circuit of this node is being set up, and the next step tries again. */
static void open_own(struct node *node)
{
    struct gather *gather = &node->gather;
    uint64_t rest = (uint64_t)gather->bytes + (gather->placed[gather->next] - gather->placed[0]);
    struct circuit_source source = {.dst = gather->from,
                                    .match = gather->name,
                                    .tag = table_bytes(gather->count),
                                    .flags = OPEN_IMAGE | OPEN_OUTPUT,
                                    .generation = node->load.generation,
                                    .issue_ns = gather->clock_ns,
                                    .data = {gather->row},
                                    .bytes = {OUTPUT_ROW_BYTES},
                                    .more = (uint32_t)rest,
                                    .token = token_make(TOKEN_OUTPUT, gather->number, OWN)};
    int status =
        rest < UINT32_MAX - OUTPUT_ROW_BYTES ? router_open(&node->router, &source) : E_NO_ROOM;

    if (status == E_OK) {
        gather->portion = 1;
        gather->left = (uint32_t)rest;
        enter(node, GATHER_OPENING);
    } else if (status != E_FULL) {
        fail(node, status);
    }
}

static void take_refused(struct node *node, int status)
{
    if (status != E_REFUSED && status != E_BUSY) {
        fail(node, status);
        return;
    }
    node->gather.again_us = node->now_us + ANSWER_RETRY_US;
    enter(node, GATHER_COLLECTING);
}

/* Word of the own circuit. */
static void take_own(struct node *node, const struct notice *notice)
{
    switch (notice->kind) {
    case NOTICE_ACCEPTED:
        enter(node, GATHER_SENDING);
        region_moved(node, node->gather.name, notice->done_ns);
        break;
    case NOTICE_REFUSED: take_refused(node, notice->status); break;
    case NOTICE_SENT:
        if (notice->status == E_OK) {
            enter(node, GATHER_DONE);
        } else {
            fail(node, notice->status);
        }
        break;
    default: break;
    }
}

/* What is of an earlier gather, or of one that has failed, ends: its receiver is told so. */
void gather_notice(struct node *node, const struct notice *notice)
{
    const struct gather *gather = &node->gather;
    bool present = (notice->token >> 8 & 0xff) == gather->number && gather->state != GATHER_IDLE &&
                   gather->state != GATHER_DONE;

    if (notice->kind == NOTICE_FEED) {
        if (present) {
            feed(node, notice->token);
        } else {
            (void)router_feed(&node->router, notice->token, NULL, 0);
        }
    } else if (present && (notice->token & 0xff) == OWN) {
        take_own(node, notice);
    } else if (present && notice->kind == NOTICE_RECEIVED) {
        take_received(node, notice);
    }
}

/* What is due --------------------------------------------------------------------------------- */

/* Hashes a slice of the own output, which lies where the program has left it: what is hashed is
 * what is sent. */
static void hash_slice(struct node *node)
{
    struct gather *gather = &node->gather;
    struct output_row row = {.rank = node->router.id, .bytes = gather->bytes};
    uint32_t left = HASH_SLICE_BYTES;
    struct ecube_abi_piece piece;

    while (left > 0 && gather->hash_piece < pieces_of(node)) {
        const uint8_t *at = piece_at(node, gather->hash_piece, &piece);
        uint32_t rest = at ? piece.bytes - gather->hash_at : 0;
        uint32_t bytes = rest < left ? rest : left;
        if (bytes > 0) {
            sha256_add(&gather->sha, at + gather->hash_at, bytes);
        }
        left -= bytes;
        gather->hash_at += bytes;
        if (bytes == rest) {
            gather->hash_piece++;
            gather->hash_at = 0;
        }
    }
    if (gather->hash_piece == pieces_of(node)) {
        sha256_end(&gather->sha, row.digest);
        output_row_pack(gather->row, &row);
        gather->hashed = true;
    }
}

/* Asks children, hashes, and opens the own circuit when all is there; true: there is more to
 * hash. */
static bool collect(struct node *node)
{
    struct gather *gather = &node->gather;
    bool due = node->now_us >= gather->again_us;

    if (due && asks_any(gather)) {
        ask_children(node);
    }
    if (!gather->hashed) {
        hash_slice(node);
    }
    if (gather->hashed && gather->granted && gather->next == gather->children && due) {
        open_own(node);
    }
    return !gather->hashed;
}

bool gather_pump(struct node *node)
{
    struct gather *gather = &node->gather;
    bool more = false;

    if (gather->measure_due) {
        say_measured(node);
    }
    if (gather->state == GATHER_COLLECTING) {
        more = collect(node);
    }
    if (gather->status != E_OK &&
        say(node, &(struct measured_body){.name = gather->name, .status = gather->status})) {
        gather->status = E_OK;
    }
    node_due_gather(node);
    return more;
}

/* When children are to be asked again, or the own circuit is tried again. */
uint64_t gather_deadline(const struct node *node)
{
    const struct gather *gather = &node->gather;
    bool waits = gather->state == GATHER_COLLECTING && gather->again_us > node->now_us &&
                 (asks_any(gather) || (gather->granted && gather->next == gather->children));

    return waits ? gather->again_us : UINT64_MAX;
}
