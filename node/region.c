/*
 * region.c - memory of the running program that the host fills or fetches while the program waits
 * (wire/region.h).
 *
 * States (enum region_state):
 *
 *     IDLE --ATTEND--> ASKED --the program waits there, and all is at rest: ATTENDS--> ATTENDING
 *      ^                 |                                                            |   ^
 *      |                 +-- it waits elsewhere, and has no such region: ATTENDS --> IDLE |
 *      |                                                                              |   |
 *      |     ATTENDING --the host's circuit--> RECEIVING --all there--> HASHING --FILLED--+
 *      +-----LEAVE-----+
 *
 * ATTEND leads to ASKED from every state: the host begins anew. What a circuit of before brings
 * still goes where it went, and the node is not at rest before it has ended.
 *
 * A gather of the region is one of a range of one node (gather.c) whose only piece is the region.
 *
 * What waits for what
 * - ASKED waits for the program, for its circuits and collectives, and for sends whose receivers
 *   have asked for them: then no port or link is busy later than it says, and none will be before
 *   LEAVE but by the host.
 * - ATTENDING waits for the host, without a limit. RECEIVING waits for links only.
 * - ATTENDS and FILLED are owed until there is a slot.
 * - The program's end ends all of it.
 */
#include <string.h>

#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/clock.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/packet.h"
#include "wire/region.h"

/* What the program says ------------------------------------------------------------------------ */

/* The call's structure and its regions, looked at anew each time: they lie in the program's memory.
 * NULL: they do not, or it waits at none. */
static const struct ecube_abi_region *regions_of(const struct node *node,
                                                 struct ecube_abi_rendezvous *call)
{
    const void *at = program_answer(node, node->call_arguments[0], sizeof *call);

    if (!at) {
        return NULL;
    }
    memcpy(call, at, sizeof *call);
    if (call->count > ECUBE_REGIONS_MAX || call->index >= call->count) {
        return NULL;
    }
    return program_structure(node, call->regions,
                             call->count * (uint32_t)sizeof(struct ecube_abi_region));
}

static bool is_named(const struct ecube_abi_region *region)
{
    return memchr(region->name, 0, sizeof region->name) != NULL;
}

/* The region that the program waits at. */
static bool waited_at(const struct node *node, struct ecube_abi_region *region)
{
    struct ecube_abi_rendezvous call;
    const struct ecube_abi_region *all;

    if (!node->call_open || node->call_number != ECUBE_CALL_REGION ||
        !(all = regions_of(node, &call))) {
        return false;
    }
    *region = all[call.index];
    return is_named(region);
}

bool region_waits(const struct node *node, char name[ECUBE_NAME_MAX], uint32_t *bytes)
{
    struct ecube_abi_region region;

    if (!waited_at(node, &region)) {
        return false;
    }
    memcpy(name, region.name, ECUBE_NAME_MAX);
    *bytes = region.bytes;
    return true;
}

static bool attends(const struct region *region)
{
    return region->state >= REGION_ATTENDING;
}

uint8_t *region_memory(const struct node *node, uint32_t name, struct ecube_abi_piece *piece)
{
    struct ecube_abi_region region;

    if (!attends(&node->region) || node->region.name != name || !waited_at(node, &region)) {
        return NULL;
    }
    *piece = (struct ecube_abi_piece){region.address, region.bytes};
    return program_writable(node, region.address, region.bytes);
}

/* State ---------------------------------------------------------------------------------------- */

static void enter(struct node *node, enum region_state state)
{
    node->region.state = (uint8_t)state;
    node_due_region(node);
}

void region_end(struct node *node)
{
    struct region *region = &node->region;

    gather_drop_region(node);
    *region = (struct region){.number = (uint8_t)(region->number + 1)};
    node_due_region(node);
}

/* Nothing of this program moves any more, but what others may still ask for. */
static bool is_at_rest(const struct node *node)
{
    return router_quiet(&node->router) && engine_is_quiet(&node->engine) &&
           router_schedule_carried(&node->router) && message_is_at_rest(node);
}

/* The system call REGION ----------------------------------------------------------------------- */

int region_wait(struct node *node, bool *blocked)
{
    struct region *region = &node->region;
    struct ecube_abi_rendezvous call;
    const struct ecube_abi_region *all = regions_of(node, &call);

    if (!all) {
        return E_FAULT;
    }
    if (!is_named(&all[call.index]) || all[call.index].bytes == 0) {
        return E_ARGUMENT;
    }
    if (!program_writable(node, all[call.index].address, all[call.index].bytes)) {
        return E_FAULT;
    }
    if (!node->attended) {
        return E_UNATTENDED;
    }
    if (!region->left) {
        *blocked = true;
        return E_OK;
    }
    int way = region->left;
    call.moved = region->left_bytes;
    memcpy(program_answer(node, node->call_arguments[0], sizeof call), &call, sizeof call);
    region->left = 0;
    return way;
}

/* What the host says --------------------------------------------------------------------------- */

/* Of a program that is over, or of another, nothing is said: the host knows. One that is about to
 * start will come. */
void region_attend(struct node *node, const struct notice *notice)
{
    struct region *region = &node->region;
    struct attend_body attend;

    if (!attend_unpack(notice->body, notice->bytes, &attend) || notice->src != ID_HOST ||
        attend.generation != node->load.generation || attend.name == 0 ||
        (node->program != PROGRAM_RUNNING && !node->start_due)) {
        return;
    }
    gather_drop_region(node);
    region->number++;
    region->name = attend.name;
    region->done_ns = 0;
    memcpy(region->asked, attend.region, ECUBE_NAME_MAX);
    enter(node, REGION_ASKED);
}

/* The program goes on. What has come late is for no region that it waits at. */
void region_leave(struct node *node, const struct notice *notice)
{
    struct region *region = &node->region;
    struct leave_body leave;

    if (!leave_unpack(notice->body, notice->bytes, &leave) || notice->src != ID_HOST ||
        leave.name != region->name || region->state != REGION_ATTENDING) {
        return;
    }
    gather_drop_region(node);
    node->clock_ns = clock_max(node->clock_ns, clock_max(leave.model_ns, region->done_ns));
    region->left = leave.way;
    region->left_bytes = leave.bytes;
    region->name = 0;
    node->progress++;
    enter(node, REGION_IDLE);
    node_due_program(node);
}

void region_moved(struct node *node, uint32_t name, uint64_t done_ns)
{
    if (node->region.name == name) {
        node->region.done_ns = done_ns;
    }
}

/* The circuit into the region ------------------------------------------------------------------ */

/* E_CANCELLED: the host has begun anew since, or the program is over. */
void region_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct region *region = &node->region;
    uint32_t bytes = open_length(packet);
    struct ecube_abi_piece piece;
    uint8_t *at = region_memory(node, open_match(packet), &piece);

    if (!at || region->state != REGION_ATTENDING || open_flags(packet) & OPEN_INLINE ||
        open_tag(packet) != 0 || bytes > piece.bytes) {
        router_refuse(&node->router, port, E_CANCELLED);
        return;
    }
    struct circuit_sink sink = {
        .data = at, .room = bytes, .token = token_make(TOKEN_REGION, region->number, 0)};
    region->bytes = bytes;
    region->done_ns = router_accept(&node->router, port, &sink);
    enter(node, REGION_RECEIVING);
}

void region_notice(struct node *node, const struct notice *notice)
{
    struct region *region = &node->region;

    if ((notice->token >> 8 & 0xff) != region->number || region->state != REGION_RECEIVING) {
        return; /* of one that was given up */
    }
    region->status = notice->status;
    region->hashed = notice->status == E_OK ? 0 : region->bytes;
    sha256_begin(&region->sha);
    enter(node, REGION_HASHING);
}

/* What is due ---------------------------------------------------------------------------------- */

/* What of the names of a program's regions goes into one packet, each with its end. */
static uint32_t collect_names(const struct ecube_abi_region *all, uint32_t count,
                              char names[ATTENDS_NAMES_MAX])
{
    uint32_t used = 0;

    for (uint32_t i = 0; i < count; i++) {
        const char *end = memchr(all[i].name, 0, ECUBE_NAME_MAX);
        uint32_t length = end ? (uint32_t)(end - all[i].name) + 1 : ECUBE_NAME_MAX;
        if (used + length <= ATTENDS_NAMES_MAX) {
            memcpy(names + used, all[i].name, length - 1);
            names[used + length - 1] = '\0';
            used += length;
        }
    }
    return used;
}

static bool has_region(const struct ecube_abi_region *all, uint32_t count, const char *name)
{
    uint32_t i = 0;

    while (i < count && strncmp(all[i].name, name, ECUBE_NAME_MAX) != 0) {
        i++;
    }
    return i < count;
}

static bool say(struct node *node, const struct attends_body *attends)
{
    uint8_t body[ATTENDS_BYTES + ATTENDS_NAMES_MAX];

    return router_send(&node->router, PACKET_ATTENDS, ID_HOST, body, attends_pack(body, attends)) ==
           E_OK;
}

_Static_assert((int)ATTENDS_BYTES + (int)ATTENDS_NAMES_MAX <= (int)SLOT_BODY_MAX,
               "it takes none of the large slots");

/* The program waits somewhere: there, at another of its regions, or at one of others that are not
 * what the host looks for. */
static void look(struct node *node)
{
    struct region *region = &node->region;
    struct ecube_abi_rendezvous call;
    const struct ecube_abi_region *all = regions_of(node, &call);
    struct attends_body attends = {.name = region->name, .model_ns = node_busy_until(node)};
    char names[ATTENDS_NAMES_MAX];

    if (!all) {
        return; /* the call ends with that */
    }
    if (strncmp(all[call.index].name, region->asked, ECUBE_NAME_MAX) == 0) {
        attends.bytes = all[call.index].bytes;
        if (is_at_rest(node) && say(node, &attends)) {
            enter(node, REGION_ATTENDING);
        }
    } else if (!has_region(all, call.count, region->asked)) {
        attends.status = E_ARGUMENT;
        attends.names = names;
        attends.name_bytes = collect_names(all, call.count, names);
        if (say(node, &attends)) {
            region->name = 0;
            enter(node, REGION_IDLE);
        }
    }
}

static void say_filled(struct node *node, const uint8_t digest[DIGEST_BYTES])
{
    struct region *region = &node->region;
    struct filled_body filled = {.name = region->name,
                                 .status = region->status,
                                 .bytes = region->bytes,
                                 .model_ns = region->done_ns,
                                 .digest = digest};
    uint8_t body[FILLED_BYTES];

    filled_pack(body, &filled);
    if (router_send(&node->router, PACKET_FILLED, ID_HOST, body, sizeof body) == E_OK) {
        enter(node, REGION_ATTENDING);
    }
}

/* Hashes a slice of what lies in the region: the digest is kept until it has been told. */
static bool hash_slice(struct node *node)
{
    struct region *region = &node->region;
    struct ecube_abi_piece piece;
    const uint8_t *at = region_memory(node, region->name, &piece);
    uint32_t left = region->bytes - region->hashed;
    uint32_t bytes = left < HASH_SLICE_BYTES ? left : HASH_SLICE_BYTES;

    if (!at || piece.bytes < region->bytes) {
        region->status = E_FAULT; /* the program's table has changed under it */
        region->hashed = region->bytes;
    } else if (left > 0) {
        sha256_add(&region->sha, at + region->hashed, bytes);
        region->hashed += bytes;
    }
    if (region->hashed == region->bytes) {
        struct sha256 sha = region->sha;
        uint8_t digest[DIGEST_BYTES];

        sha256_end(&sha, digest);
        say_filled(node, digest);
        return false;
    }
    return true;
}

bool region_pump(struct node *node)
{
    const struct region *region = &node->region;
    bool more = false;

    if (region->state == REGION_ASKED && !region->left && node->call_open &&
        node->call_number == ECUBE_CALL_REGION) {
        look(node);
    } else if (region->state == REGION_HASHING) {
        more = hash_slice(node);
    }
    node_due_region(node);
    return more;
}
