/*
 * pipeline.c - a download in parcels: take them from the node before in the line, give them on to
 * the one behind.
 *
 * A parcel is a part of the message with a circuit of its own (wire/parcel.h). A node takes one
 * after another and gives each on as soon as it has all of it, so the whole line works at the same
 * time; what is the node's own it keeps as well. At most three parcels that have come have not
 * gone: what is for others alone has no more room than that, however much there is of it.
 *
 *     cube:2, parcels 0, 1, 2, ...; node 2 still gives 0, and may take 3 when it has gone
 *
 *         host --3--> 0 --2--> 1 --1--> 2 --0--> 3
 *
 * The nodes of a line are ranks in order. Their circuits, each from one rank to the next, share no
 * link in one direction on any network: where the way to the next rank goes back in a dimension, no
 * other goes back there.
 *
 * Model time is a recurrence. A circuit of k bytes over i hops is issued when its parcel has come
 * and the one before has gone, and waits for its place. With D(r, n) for the time at which node r
 * has its n-th parcel and G(r, n) for that at which it has given it on, D at the next node:
 *
 *     G(r, n) = max( max(D(r, n), G(r, n - 1)) + xi + i tau, P ) + (i + k - 1) element
 *     P       = the time at which the next node's place is empty: G(r + 1, m - 3), when it is that
 *               node's m-th parcel; 0 for the first three
 *
 * Of a parcel that the next node does not need G(r, n) is G(r, n - 1).
 *
 * A parcel's life here (struct pipeline):
 *
 *     take --place empty--> granted --CTS sent, OPEN--> coming --all bytes--> came, not gone
 *     came, not gone --the child's CTS--> giving --ACCEPT, all acknowledged--> gone
 *     came, not gone --the child does not need it--> gone
 *
 * What waits for what
 * - A parcel waits for the one before to come, and for an empty place: the parent has no CTS until
 *   then. The child says CTS in the same way, the last of the line takes all, so every place gets
 *   empty.
 * - A CTS waits for a slot. An OFFER is repeated as in load.c, also for a circuit that a busy hop
 *   has refused: the child answers it with the CTS of the parcel that is next.
 * - A node that fails says no more CTS; the host, which it tells, ends the download for all.
 *
 * Parcels go along a line of ranks, not down the tree. A tree's root, with one port, sends what all
 * have in common to each of its children. Refused: lines along a Gray code, of neighbours only; a
 * message is for a range of ranks (`wire/load.h`), and no two circuits of a line share a link.
 *
 * Each parcel has a CTS, said when its place is empty: no circuit is refused for want of room, and
 * its model time is known where it is accepted.
 */
#include <stddef.h>

#include "drivers/status.h"
#include "node/due.h"
#include "node/state.h"
#include "router/circuit.h"
#include "router/notice.h"
#include "router/router.h"
#include "wire/parcel.h"

static uint64_t *place_of(struct pipeline *pipeline, uint32_t count)
{
    return &pipeline->place_ns[count % PARCELS_HELD];
}

/* The parcel before which `take` stands comes: it is the node's `came`-th. */
static void come(struct node *node, uint64_t done_ns)
{
    struct pipeline *pipeline = &node->load.pipeline;
    struct load_list list = load_list_of(node);
    struct load_cut cut = load_cut_of(node);

    *place_of(pipeline, pipeline->came) = pipeline->came_ns = done_ns;
    pipeline->parcels[pipeline->came % PARCELS_HELD] = pipeline->take.parcel;
    pipeline->coming = true;
    pipeline->granted = pipeline->grant_due = false;
    load_parcel_pass(&list, &cut, &pipeline->take, node->router.id);
    pipeline->take_bytes = load_parcel_find(&list, &cut, &pipeline->take, node->router.id);
}

void pipeline_begin(struct node *node)
{
    struct pipeline *pipeline = &node->load.pipeline;
    struct load_list list = load_list_of(node);
    struct load_cut cut = load_cut_of(node);
    struct load_walk start = load_walk_at(&cut);

    *pipeline = (struct pipeline){.take = start,
                                  .give = start,
                                  .in = parcel_cursor_at(&start, node->router.id, 0),
                                  .gives = node->load.count > 1};
    if (pipeline->gives) {
        pipeline->give_bytes = load_parcel_pass(&list, &cut, &start, load_child(node));
    }
    come(node, node->load.clock_ns);
    load_enter(node, LOAD_PIPING);
}

struct load_run pipeline_room(struct node *node)
{
    return parcel_next_run(node, &node->load.pipeline.in);
}

uint32_t pipeline_first_bytes(const struct node *node)
{
    return node->load.list_bytes + node->load.pipeline.give_bytes;
}

uint32_t pipeline_next_name(const struct node *node)
{
    return node->load.name + node->load.pipeline.given;
}

void pipeline_answer(struct node *node)
{
    struct pipeline *pipeline = &node->load.pipeline;

    pipeline->grant_due = pipeline->granted;
}

/* E_REFUSED: nobody opens one before it has been told so, so this is none of this download. */
void pipeline_open(struct node *node, unsigned port, const uint8_t *packet)
{
    struct load *load = &node->load;
    struct pipeline *pipeline = &load->pipeline;
    uint32_t place = pipeline->came % PARCELS_HELD;

    if (!pipeline->granted || open_match(packet) != load->name + pipeline->came ||
        packet_src(packet) != load->from || open_flags(packet) & OPEN_INLINE ||
        open_length(packet) != pipeline->take_bytes || open_tag(packet) != 0) {
        router_refuse(&node->router, port, E_REFUSED);
        return;
    }
    pipeline->in = parcel_cursor_at(&pipeline->take, node->router.id, place);
    struct load_run run = parcel_next_run(node, &pipeline->in);
    struct circuit_sink sink = {.data = run.at,
                                .room = run.bytes,
                                .more = pipeline->take_bytes - run.bytes,
                                .token = token_make(TOKEN_IMAGE, load->number, 0),
                                .ready_ns = *place_of(pipeline, place)};
    come(node, router_accept(&node->router, port, &sink));
}

void pipeline_received(struct node *node, int status)
{
    struct pipeline *pipeline = &node->load.pipeline;

    if (status != E_OK) {
        load_fail(node, status);
        return;
    }
    pipeline->coming = false;
    pipeline->came++;
}

/* Tells the parent that the next parcel's place is empty. */
static void grant(struct node *node)
{
    struct load *load = &node->load;
    struct pipeline *pipeline = &load->pipeline;

    if (!pipeline->coming && !pipeline->granted && pipeline->take_bytes > 0 &&
        pipeline->came - pipeline->gone < PARCELS_HELD) {
        pipeline->granted = pipeline->grant_due = true;
    }
    if (pipeline->grant_due && load_say_cts(node, load->from, load->name + pipeline->came)) {
        pipeline->grant_due = false;
    }
}

/* Whether the child needs what has come before all else that has not gone. */
static bool is_for_child(const struct node *node)
{
    const struct pipeline *pipeline = &node->load.pipeline;

    return node->load.left > 1 && pipeline->gives &&
           pipeline->give.parcel == pipeline->parcels[pipeline->gone % PARCELS_HELD];
}

/* It keeps no place for a parcel that the child does not need. */
static void pass_over(struct node *node)
{
    struct pipeline *pipeline = &node->load.pipeline;

    while (pipeline->gone < pipeline->came && !is_for_child(node)) {
        *place_of(pipeline, pipeline->gone++) = pipeline->gone_ns;
    }
}

/* Opens the circuit to the child for the parcel that is next; the first one brings the list.
 * E_FULL: another circuit of this node is being set up, and the next step tries again. */
static void give(struct node *node)
{
    struct load *load = &node->load;
    struct pipeline *pipeline = &load->pipeline;
    struct load_list list = load_list_of(node);
    uint32_t place = pipeline->gone % PARCELS_HELD;
    uint32_t list_bytes = pipeline->given == 0 ? load->list_bytes : 0;

    pipeline->out = parcel_cursor_at(&pipeline->give, load_child(node), place);
    struct load_run run = parcel_next_run(node, &pipeline->out);
    struct circuit_source source = {.dst = load_child(node),
                                    .match = load->child_match,
                                    .tag = list_bytes,
                                    .flags = OPEN_IMAGE,
                                    .issue_ns =
                                        clock_max(*place_of(pipeline, place), pipeline->gone_ns),
                                    .data = {list.bytes, run.at},
                                    .bytes = {list_bytes, run.bytes},
                                    .more = pipeline->give_bytes - run.bytes,
                                    .token = token_make(TOKEN_IMAGE, load->number, 1)};
    int status = router_open(&node->router, &source);

    if (status == E_OK) {
        load->child = CHILD_OPENING;
        pipeline->giving = true;
    } else if (status != E_FULL) {
        load_fail(node, status);
    }
}

/* The child has accepted a circuit: what it gets next. */
static void take_accepted(struct node *node, uint64_t done_ns)
{
    struct pipeline *pipeline = &node->load.pipeline;
    struct load_list list = load_list_of(node);
    struct load_cut cut = load_cut_of(node);

    pipeline->gone_ns = done_ns;
    pipeline->given++;
    node->load.child = CHILD_WAITS;
    load_parcel_pass(&list, &cut, &pipeline->give, load_child(node));
    pipeline->give_bytes = load_parcel_find(&list, &cut, &pipeline->give, load_child(node));
    pipeline->gives = pipeline->give_bytes > 0;
}

/* All bytes of a circuit have gone: its place is empty. Over a dead link the child gets no more;
 * the host hears of the link. */
static void take_sent(struct node *node, int status)
{
    struct pipeline *pipeline = &node->load.pipeline;

    pipeline->giving = false;
    if (node->load.state != LOAD_PIPING) {
        return; /* it has failed before */
    }
    if (status != E_OK) {
        node->load.left = 1;
    }
    *place_of(pipeline, pipeline->gone++) = pipeline->gone_ns;
}

void pipeline_notice(struct node *node, const struct notice *notice)
{
    struct load *load = &node->load;
    struct pipeline *pipeline = &load->pipeline;
    bool goes_on = load->state == LOAD_PIPING;
    struct load_run run;

    switch (notice->kind) {
    case NOTICE_FEED:
        run = parcel_next_run(node, &pipeline->out);
        (void)router_feed(&node->router, notice->token, run.at, run.bytes);
        break;
    case NOTICE_ACCEPTED:
        if (goes_on) {
            take_accepted(node, notice->done_ns);
        }
        break;
    case NOTICE_REFUSED:
        pipeline->giving = false;
        if (goes_on) {
            load_refused(node, notice->status);
        }
        break;
    default: take_sent(node, notice->status); break;
    }
}

static bool is_over(const struct pipeline *pipeline)
{
    return pipeline->take_bytes == 0 && !pipeline->coming && pipeline->gone == pipeline->came;
}

void pipeline_pump(struct node *node)
{
    struct load *load = &node->load;
    struct pipeline *pipeline = &load->pipeline;

    if (!pipeline->giving) {
        pass_over(node);
    }
    grant(node);
    if (load->left > 1) {
        load_ask_child(node);
    }
    if (load->child == CHILD_READY && !pipeline->giving && pipeline->gone < pipeline->came) {
        give(node);
    }
    if (load->state == LOAD_PIPING && is_over(pipeline)) {
        load->clock_ns = clock_max(pipeline->came_ns, pipeline->gone_ns);
        receipt_begin(node);
    }
}
