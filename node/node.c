#include "node/node.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/state.h"
#include "router/notice.h"
#include "router/router.h"

enum { ROUNDS_MAX = 8 }; /* of notices and pumps in one step */

size_t node_bytes(void)
{
    return sizeof(struct node);
}

size_t node_memory_bytes(unsigned link_count, unsigned ring)
{
    return router_memory_bytes(link_count, ring) + node_pool_bytes();
}

size_t node_pool_bytes(void)
{
    return (size_t)POOL_MAX * POOL_BYTES;
}

void node_init(struct node *node, const struct node_config *config)
{
    memset(node, 0, sizeof *node);
    node->config = *config;
    struct router_config router = {.id = ID_UNKNOWN,
                                   .links = config->links,
                                   .link_count = config->link_count,
                                   .incarnation = config->incarnation,
                                   .payload_checked = config->payload_checked,
                                   .attention = config->attention,
                                   .ring = config->ring,
                                   .memory = config->memory};
    router_init(&node->router, &router);
    uint8_t *behind =
        (uint8_t *)config->memory + router_memory_bytes(config->link_count, config->ring);
    node->pool = config->pool ? config->pool : (void *)behind;
    node->collective.request = ECUBE_REQUESTS_MAX;
    node->finished = 1;
    match_reset(node);
}

uint32_t node_id(const struct node *node)
{
    return node->router.id;
}

/* Offers a circuit that is held at a port to whom it is for; it may stay held until its time has
 * come. */
static void take_open(struct node *node, unsigned port)
{
    const uint8_t *packet = router_open_at(&node->router, port);

    if (!packet)
        return;
    if (open_flags(packet) & OPEN_SCHEDULE) {
        /* No circuit of a collective is opened before all nodes have begun it. */
        if (node->program != PROGRAM_RUNNING && !collective_active(node))
            router_refuse(&node->router, port, E_PEER_GONE);
    } else if (open_flags(packet) & OPEN_IMAGE) {
        load_open(node, port, packet);
    } else {
        match_open(node, port, packet);
    }
}

void program_end(struct node *node, enum program_state state, int32_t status)
{
    node->program = (uint8_t)state;
    node->program_moves = true;
    node->start_due = false;
    node->exit_status = status;
    node->owed |= state == PROGRAM_EXITED ? OWED_EXIT : 0;
    node->call_open = false;
    message_end(node);
    collective_gone(node);
    for (unsigned p = 0; p < node->router.port_count; p++)
        take_open(node, p);
}

/* What the host says that it has taken lies between what it has said before and what was sent. */
static void take_taken(struct node *node, const struct notice *notice)
{
    struct taken_body taken;

    if (!taken_unpack(notice->body, notice->bytes, &taken) ||
        taken.generation != node->load.generation)
        return;
    if (taken.bytes - node->console_taken <= node->console_sent - node->console_taken) {
        node->console_taken = taken.bytes;
        node->program_moves = true;
    }
}

static void take_start(struct node *node, const struct notice *notice)
{
    struct start_body start;

    if (node->program != PROGRAM_LOADED || !start_unpack(notice->body, notice->bytes, &start))
        return;
    node->start_due = node->program_moves = true;
    node->clock_ns = start.model_ns;
}

static void take_answer(struct node *node, const struct notice *notice)
{
    struct answer answer = {.kind = notice->packet_kind, .src = notice->src};
    struct cts_body cts;
    struct rts_reply_body reply;

    if (notice->packet_kind == PACKET_CTS) {
        if (!cts_unpack(notice->body, notice->bytes, &cts))
            return;
        answer.name = cts.name;
        answer.match = cts.match;
    } else {
        if (!rts_reply_unpack(notice->body, notice->bytes, &reply))
            return;
        answer.name = reply.name;
    }
    load_answer(node, &answer);
    message_answer(node, &answer);
}

static void take_packet(struct node *node, const struct notice *notice)
{
    switch (notice->packet_kind) {
    case PACKET_CTS:
    case PACKET_QUEUED:
    case PACKET_RETRY:
    case PACKET_CANCEL: take_answer(node, notice); break;
    case PACKET_RTS: match_rts(node, notice); break;
    case PACKET_ENTER: collective_packet(node, notice); break;
    case PACKET_OFFER: load_offer(node, notice); break;
    case PACKET_START: take_start(node, notice); break;
    case PACKET_STOP:
        if (node->program == PROGRAM_RUNNING || node->start_due)
            program_end(node, PROGRAM_EXITED, E_CANCELLED);
        break;
    case PACKET_QUERY: node->owed |= OWED_STATE; break;
    case PACKET_TAKEN: take_taken(node, notice); break;
    default: break;
    }
}

static void take_notice(struct node *node, const struct notice *notice, uint64_t now_us)
{
    switch (notice->kind) {
    case NOTICE_PACKET: take_packet(node, notice); break;
    case NOTICE_OPEN: take_open(node, notice->port); break;
    case NOTICE_ACCEPTED:
    case NOTICE_REFUSED:
    case NOTICE_SENT:
    case NOTICE_RECEIVED:
        if (notice->token >> 24 == TOKEN_REQUEST)
            message_notice(node, notice);
        else if (notice->token >> 24 == TOKEN_STEP)
            collective_notice(node, notice);
        else
            load_notice(node, notice);
        break;
    default: report_notice(node, notice, now_us); break;
    }
}

bool node_work(struct node *node, uint64_t now_us)
{
    bool more = false;

    for (unsigned round = 0; round < ROUNDS_MAX; round++) {
        const struct notice *notice;
        uint32_t slots;
        while (router_noticed(&node->router) && (notice = router_notice(&node->router)))
            take_notice(node, notice, now_us);
        collective_pump(node);
        message_pump(node, now_us);
        more = node->load_due && load_pump(node, now_us);
        report_pump(node, now_us);
        slots = node->router.slots_free;
        router_move(&node->router, now_us);
        /* Packets that a dead link has dropped leave slots for what is owed. */
        if (node->router.notice_count == 0 && !(node->router.slots_free & ~slots))
            break;
    }
    router_flush(&node->router);
    return more || node->router.notice_count > 0;
}

bool node_step(struct node *node, uint64_t now_us)
{
    bool more = router_take(&node->router, now_us);

    return node_work(node, now_us) || more;
}

uint64_t node_deadline(const struct node *node)
{
    uint64_t deadline = router_deadline(&node->router);
    uint64_t others[] = {message_deadline(node), load_deadline(node), report_deadline(node)};

    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i] < deadline)
            deadline = others[i];
    return deadline;
}

bool node_takes_memory(struct node *node)
{
    bool takes = node->memory_new;

    node->memory_new = false;
    return takes;
}

bool node_take_start(struct node *node, struct node_start *start)
{
    const struct load *load = &node->load;

    if (!node->start_due)
        return false;
    node->start_due = false;
    node->program = PROGRAM_RUNNING;
    node->program_pc = node->program_lr = 0;
    *start =
        (struct node_start){.entry = load->entry,
                            .stack_top = node->config.blocks_address,
                            .block = node->config.image_address - (load->block_bytes * load->count),
                            .block_bytes = load->block_bytes};
    return true;
}

bool node_program_moves(struct node *node)
{
    bool moves = node->program_moves;

    node->program_moves = false;
    return moves;
}

bool node_program_runs(const struct node *node)
{
    return node->program == PROGRAM_RUNNING;
}

void node_fault(struct node *node, uint64_t now_us, const struct fault *fault)
{
    node->fault = *fault;
    node->owed |= OWED_FAULT;
    /* Before all else that the end brings about: a kernel that has failed may not come that far. */
    report_pump(node, now_us);
    if (!(node->owed & OWED_EXIT)) /* else the program had ended before its kernel failed */
        program_end(node, PROGRAM_FAULTED, 0);
    node_work(node, now_us);
}
