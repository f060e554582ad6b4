/*
 * query.c - questions to all nodes, and what their answers say together: do the programs stand?
 *
 * The life of a question:
 *
 *   asked      QUERY goes to one node after another; who is dead or halted is not asked, and who
 *              still owes an answer is not asked again, but waited for
 *   answered   STATE comes in any order; each is told, kept in short for words.h and waits.h, and
 *              added to the look
 *   traffic    if somebody wants it: who has answered is asked for its links, as many ports at a
 *              time as fit a packet, until all are told
 *   over       all have answered, or somebody who waits for it has not heard one for ANSWER_US:
 *              EVENT_ANSWERED
 *
 * While one is open, whoever asks has its answers. Its purposes then have their turn: the watch
 * over programs that stand, and the end of a run whose time is over.
 *
 * Programs stand when all wait for each other, all nodes say the same often enough, and whatever
 * was on a link between two answers has come to the next node. What is still on its way, in both
 * directions between any two nodes, has then come to its end, and would show as progress. So a
 * program that computes for an hour, or waits for a reader or a clock, never stands, nor do those
 * that all wait at one region, for a person; and one deadlocked is named seconds after its last
 * word.
 *
 * The watch looks at all programs by a question, and when it does is told by the clock on the wall,
 * for an answer proves that its node runs, however busy the computer is:
 *
 *   1 s without a word          a look
 *   all wait                    the next one, when the last answer is in
 *   they have moved since, or
 *   one computes                the next one after 1 s, then 2, then 4, and so on
 *
 * The watch waits for a late answer: it comes from a node that runs, and shows no movement.
 *
 * Answers are added up as they come: the digest is a sum over nodes, of what shows that a node
 * moves.
 *
 * Answers are added up, not kept: a look at all programs is a sum over nodes of a digest of what
 * each has said. It must be the same 3 + 2 diameters times.
 *
 * A question is over 1.5 s after the last answer to it: a large machine answers for longer. Who
 * owes an answer is not asked again, for questions to a node that stands would hold up others.
 *
 * Units    us of wall time; of passed time where programs test
 * Source   Fowler, Noll & Vo, FNV-1a; Appleby, MurmurHash3, fmix64
 */
#include <string.h>

#include "controller/internal.h"
#include "drivers/status.h"
#include "router/router.h"

enum {
    ANSWER_US = 1500 * 1000, /* without an answer, after which nobody waits but the watch */
    QUIET_US = 1000 * 1000,  /* without a word from any program, unless the owner says another */
    POLLS_US = 60 * 1000 * 1000, /* passed time; programs that only test may give up */
    PAUSE_US = 1000 * 1000,      /* between looks while programs move; doubled each time, up to */
    PAUSE_US_MAX = 4 * PAUSE_US,
    STALL_LOOKS_MIN = 3,
    /* What has been refused, or has found no place, is tried again within 300 ms (node/state.h):
     * the looks that say the same take longer. */
    ROW_US = 600 * 1000
};

static const uint64_t FNV_BASIS = UINT64_C(14695981039346656037);
static const uint64_t FNV_PRIME = UINT64_C(1099511628211);
static const uint64_t MIX_FIRST = UINT64_C(0xff51afd7ed558ccd);
static const uint64_t MIX_SECOND = UINT64_C(0xc4ceb9fe1a85ec53);

/* FNV-1a, 64 bits, and the finalizer of MurmurHash3: what ends a text only moves a few bits of
 * FNV-1a, and in a sum the same bits of two nodes, one set and one cleared, would be nothing. */
static uint64_t hash(uint64_t start, const uint8_t *bytes, unsigned count)
{
    uint64_t hash = start;

    for (unsigned i = 0; i < count; i++) {
        hash = (hash ^ bytes[i]) * FNV_PRIME;
    }
    hash = (hash ^ hash >> 33) * MIX_FIRST;
    hash = (hash ^ hash >> 33) * MIX_SECOND;
    return hash ^ hash >> 33;
}

/* How many nodes can answer. Those that cannot are counted as they die and are halted, so that a
 * question need not look at all to begin. */
static uint32_t answerers(const struct controller *controller)
{
    return controller->config.network->nodes - controller->deaths - controller->halted;
}

static void begin(struct controller *controller)
{
    struct controller_question *question = &controller->question;

    *question =
        (struct controller_question){.open = true,
                                     .purposes = question->open ? question->purposes : 0,
                                     .number = question->number + 1,
                                     .waiting = answerers(controller),
                                     .activity = controller->activity,
                                     .begun_us = controller->now_us,
                                     .until_us = UINT64_MAX,
                                     .look = {.waits = true, .delivered = true, .regions = true}};
    if (controller->phase == PHASE_BOOT || controller->restarts) {
        /* In a boot nodes may not know who they are, and after a reset nobody knows us. */
        question->over = true; /* nobody is there to answer */
    }
}

/* Somebody waits for its end: that is near after each answer, and when another node was asked. */
static void await_answer(struct controller *controller)
{
    controller->question.until_us = controller->now_us + ANSWER_US;
}

static bool is_awaited(const struct controller *controller)
{
    return controller->question.until_us != UINT64_MAX;
}

/* Two who ask at one time have the same answers; but where the watch has waited for a late one, the
 * others are old. */
void query_ask(struct controller *controller, uint8_t purpose)
{
    const struct controller_question *question = &controller->question;
    bool old = !is_awaited(controller) && controller->now_us - question->begun_us >= ANSWER_US;

    if (!question->open || (old && purpose != QUESTION_WATCH)) {
        begin(controller);
    }
    controller->question.purposes |= purpose;
    if (purpose != QUESTION_WATCH && !is_awaited(controller)) {
        await_answer(controller);
    }
}

void controller_ask(struct controller *controller, uint64_t now_us)
{
    controller->now_us = now_us;
    query_ask(controller, 0);
}

/* The question goes on at this node: its links are wanted. */
static void owe_traffic(struct controller *controller, uint32_t rank)
{
    controller->nodes[rank].flags |= NODE_TRAFFIC;
    controller->nodes[rank].traffic_next = 0;
    controller_due(controller, rank, PACKET_DUE_TRAFFIC);
}

/* The open question may be another's, and some may have answered it already. */
void controller_ask_traffic(struct controller *controller, uint64_t now_us)
{
    struct controller_question *question = &controller->question;

    controller->now_us = now_us;
    query_ask(controller, 0);
    if (question->traffic || question->over) {
        return;
    }
    question->traffic = true;
    for (uint32_t rank = 0; rank < controller->config.network->nodes; rank++) {
        if (controller_answered(controller, rank) &&
            !controller_has(controller, rank, NODE_DEAD | NODE_HALTED)) {
            owe_traffic(controller, rank);
            question->waiting++;
        }
    }
}

/* Questions are numbered, so that beginning one need not touch all nodes. */
bool controller_answered(const struct controller *controller, uint32_t rank)
{
    return controller->question.number > 0 &&
           controller->nodes[rank].answered == controller->question.number;
}

/* One that stands still is not asked over and over. */
void query_pump(struct controller *controller)
{
    struct controller_question *question = &controller->question;

    if (!question->open || query_is_over(controller)) {
        return;
    }
    for (; question->next < controller->config.network->nodes; question->next++) {
        struct controller_node *node = &controller->nodes[question->next];

        if (node->flags & (NODE_DEAD | NODE_HALTED | NODE_ASKED)) {
            continue;
        }
        if (router_send(&controller->router, PACKET_QUERY, question->next, NULL, 0) != E_OK) {
            return;
        }
        node->flags |= NODE_ASKED;
        if (is_awaited(controller)) { /* a large machine is asked for longer than that */
            await_answer(controller);
        }
    }
}

/* Whether the present question is still to be answered by a node. */
static bool is_waited_for(const struct controller *controller, uint32_t rank)
{
    return controller->question.open && !query_is_over(controller) &&
           !controller_has(controller, rank, NODE_DEAD | NODE_HALTED) &&
           (!controller_answered(controller, rank) ||
            controller_has(controller, rank, NODE_TRAFFIC));
}

/* It has died, or was halted: the question may be over without it. */
void query_leave(struct controller *controller, uint32_t rank)
{
    controller->question.waiting -= is_waited_for(controller, rank);
}

/* It goes on: the question waits for it again. If the cursor has passed it, it is owed one. */
void query_join(struct controller *controller, uint32_t rank)
{
    if (!is_waited_for(controller, rank)) {
        return;
    }
    controller->question.waiting++;
    if (rank < controller->question.next && !controller_answered(controller, rank) &&
        !controller_has(controller, rank, NODE_ASKED)) {
        controller->nodes[rank].flags |= NODE_ASKED;
        controller_due(controller, rank, PACKET_DUE_QUERY);
    }
}

/* What shows whether a node moves: its progress, and of one whose program runs all that it has said
 * but flags and the other counters. Also one whose program has ended passes on. */
static uint64_t digest_of(const struct controller *controller, uint32_t rank,
                          const struct state_body *state)
{
    struct state_body shown = {0};
    uint8_t bytes[STATE_BYTES];

    if (controller_has(controller, rank, NODE_RUNNING)) {
        shown = *state;
        shown.flags = 0;
        memset(shown.counters, 0, sizeof shown.counters);
    }
    shown.counters[COUNTER_PROGRESS] = state->counters[COUNTER_PROGRESS];
    state_pack(bytes, &shown);
    return hash(FNV_BASIS + rank, bytes, sizeof bytes);
}

/* Not for a slot, a clock or a reader, which come by themselves; and not one that computes. At a
 * region it waits for all others to come there, too. */
static bool waits_for_others(const struct state_body *state)
{
    return state->program == PROGRAM_RUNNING &&
           (state->wait == WAIT_SEND || state->wait == WAIT_RECEIVE ||
            state->wait == WAIT_COLLECTIVE || state->wait == WAIT_SEVERAL ||
            state->wait == WAIT_PROBE || state->wait == WAIT_REGION);
}

/* Whether that is the region of all before. */
static bool is_at(struct controller_look *look, const char *region)
{
    if (look->region[0] == '\0') {
        memcpy(look->region, region, sizeof look->region);
    }
    return memcmp(look->region, region, sizeof look->region) == 0;
}

/* In any order, for a sum has none. What those whose programs have ended say counts too: they pass
 * on. */
static void add_answer(struct controller *controller, uint32_t rank, const struct state_body *state)
{
    struct controller_look *look = &controller->question.look;

    look->digest += digest_of(controller, rank, state);
    look->delivered &= (state->flags & STATE_DELIVERED) != 0;
    if (controller_has(controller, rank, NODE_RUNNING)) {
        look->waits &= waits_for_others(state);
        look->polls |= (state->flags & STATE_POLLS) != 0;
        look->regions &= state->wait == WAIT_REGION && is_at(look, state->region);
    }
}

/* What is kept of an answer: what words and waits need. */
struct node_answer query_answer_of(const struct state_body *state)
{
    uint64_t left_ms = state->left_us / 1000;

    struct node_answer answer = {.program = state->program,
                                 .wait = state->wait,
                                 .transfer = state->transfer,
                                 .requests = state->requests,
                                 .stage = state->stage,
                                 .operation = state->operation,
                                 .flags = state->flags,
                                 .stored = state->stored,
                                 .peer = state->peer,
                                 .tag = state->tag,
                                 .status = state->status,
                                 .bytes = state->bytes,
                                 .collective_bytes = state->collective_bytes,
                                 .root = state->root,
                                 .partner = state->partner,
                                 .step = state->step,
                                 .steps = state->steps,
                                 .left_ms = left_ms < UINT32_MAX ? (uint32_t)left_ms : UINT32_MAX};

    if (state->wait == WAIT_REGION) {
        memcpy(answer.region, state->region, sizeof answer.region);
    }
    return answer;
}

void query_state(struct controller *controller, uint32_t rank, const struct state_body *state)
{
    struct controller_node *node = &controller->nodes[rank];
    struct controller_event *event = controller_tell(controller, EVENT_STATE);
    /* An answer to the one before, which came too late for it, is as good; a second one to this is
     * not added. */
    bool is_new = is_waited_for(controller, rank) && !controller_answered(controller, rank);

    event->rank = rank;
    event->state = *state;
    node->answer = query_answer_of(state);
    node->flags &= (uint16_t)~NODE_ASKED;
    node->answered = controller->question.number;
    controller->reported_ns = clock_max(controller->reported_ns, state->model_ns);
    if (is_new) {
        add_answer(controller, rank, state);
        if (is_awaited(controller)) {
            await_answer(controller);
        }
        if (controller->question.traffic) {
            owe_traffic(controller, rank);
        } else {
            node->flags &= (uint16_t)~NODE_TRAFFIC; /* of a question that is over */
            controller->question.waiting--;
        }
    }
}

/* All of a node's links have been told, or no more of them will be. */
static void end_traffic(struct controller *controller, uint32_t rank)
{
    controller->nodes[rank].flags &= (uint16_t)~NODE_TRAFFIC;
    controller->question.waiting--;
}

/* Whether it can be an answer of a node. One that tells no port of those that are left would be
 * asked for ever. */
static bool is_possible(const struct controller *controller, const struct traffic_header *header)
{
    return header->port_count <= controller->config.network->ports + 1 &&
           (header->told > 0 || header->first == header->port_count);
}

/* An answer that comes behind the end of its question is as good, where it tells what is asked for
 * next. */
void query_traffic(struct controller *controller, const struct notice *notice)
{
    uint32_t rank = notice->src;
    struct controller_node *node = &controller->nodes[rank];
    struct traffic_header header;
    bool asked = is_waited_for(controller, rank) && controller_answered(controller, rank);

    if (!traffic_unpack(notice->body, notice->bytes, &header) ||
        !is_possible(controller, &header)) {
        controller->answers_cut++;
        if (asked) {
            end_traffic(controller, rank);
        }
        return;
    }
    if (!asked || header.first != node->traffic_next) {
        return;
    }
    struct controller_event *event = controller_tell(controller, EVENT_TRAFFIC);
    event->rank = rank;
    event->traffic = header;
    event->body = notice->body;
    event->bytes = notice->bytes;
    await_answer(controller);
    node->traffic_next = ((unsigned)header.first + header.told) & 31u;
    if (node->traffic_next < header.port_count) {
        controller_due(controller, rank, PACKET_DUE_TRAFFIC);
    } else {
        end_traffic(controller, rank);
    }
}

/* All programs are at one region: they wait for nothing but a person. */
static bool awaits_host(const struct controller *controller)
{
    return controller->question.look.regions &&
           controller->running == controller->config.network->nodes;
}

/* Takes note of what all have answered. False when one of them does not wait, has not answered, or
 * has spoken since; else true, and stall_count is how often the same has been seen again. Messages
 * may be on their way through a node that stands still, so all must have answered. */
static bool take_look(struct controller *controller)
{
    const struct controller_question *question = &controller->question;
    const struct controller_look *look = &question->look;

    if (question->waiting > 0) {
        return false; /* whoever asked beside the watch did not wait: the row goes on */
    }
    /* One that is halted may hold what others wait for. */
    if (!look->waits || awaits_host(controller) || controller->halted > 0 ||
        question->activity != controller->activity) {
        controller->stall_count = 0;
        return false;
    }
    /* What is not the same begins the row anew: it is compared with the next. With frames under way
     * the same says nothing new, and takes nothing back: if they move something, it will show. */
    bool same = look->digest == controller->stall_digest;
    controller->stall_count = same ? controller->stall_count + (look->delivered ? 1 : 0) : 0;
    controller->stall_digest = look->digest;
    controller->stall_polls = look->polls;
    return true;
}

/* They wait for a person, who may not know it. */
static void tell_regions(struct controller *controller)
{
    if (controller->region_told || controller->question.waiting > 0 || !awaits_host(controller) ||
        controller->region.stage != MEETING_NOTHING) {
        return;
    }
    struct controller_event *event = controller_tell(controller, EVENT_REGION_WAITS);
    event->body = (const uint8_t *)controller->nodes[0].answer.region;
    event->done = controller->running;
    controller->region_told = true;
}

/* So many times the same: what had been sent has then gone as far as it can, there and back. */
static unsigned stall_looks(const struct controller *controller)
{
    return STALL_LOOKS_MIN + 2 * network_diameter(controller->config.network);
}

/* Programs between which messages are under way may all wait at one moment: they are looked at
 * twice before they are said to wait for each other. */
static void end_for_timeout(struct controller *controller, bool waits, bool second)
{
    if (waits && !second) {
        query_ask(controller, QUESTION_TIMEOUT | QUESTION_SECOND);
    } else {
        run_end(controller,
                waits && controller->stall_count > 0 ? ENDED_TIMEOUT_STANDS : ENDED_TIMEOUT);
    }
}

/* Whether anybody is to be looked at: a run whose time is over is about to end. */
static bool is_watched(const struct controller *controller)
{
    return controller->phase == PHASE_RUN && !controller->broken && !controller->timing_out;
}

/* The next one is planned when this one is over. */
static void look(struct controller *controller)
{
    controller->watch_us = UINT64_MAX;
    query_ask(controller, QUESTION_WATCH);
}

/* When the watch looks again. Two looks tell whether programs that all wait have moved: the second
 * one follows the first, and others those that were the same. */
static void plan_look(struct controller *controller, bool waits)
{
    unsigned looks = stall_looks(controller);
    bool late = controller->question.waiting > 0;
    bool same = controller->stall_count > 0 && controller->stall_count < looks;
    bool first = controller->stall_count == 0 && !controller->watch_follows;
    uint64_t soon_us = controller->question.begun_us + ROW_US / looks;

    controller->watch_follows = late || (waits && (same || first));
    if (!controller->watch_follows) {
        controller->watch_us = controller->now_us + controller->watch_pause_us;
        controller->watch_pause_us *= controller->watch_pause_us < PAUSE_US_MAX ? 2 : 1;
    } else if (controller->now_us >= soon_us) {
        look(controller);
    } else {
        controller->watch_us = soon_us;
    }
}

void query_finish(struct controller *controller)
{
    struct controller_question *question = &controller->question;
    uint8_t purposes = question->purposes;
    bool waits;

    /* Told first: what follows may end the run, or ask again. */
    question->open = false;
    controller_tell(controller, EVENT_ANSWERED);
    /* The run may have ended meanwhile, or broken, which ends it. */
    if (purposes == 0 || controller->phase != PHASE_RUN || controller->broken) {
        return;
    }
    waits = take_look(controller);
    tell_regions(controller);
    if (purposes & QUESTION_TIMEOUT) {
        end_for_timeout(controller, waits, purposes & QUESTION_SECOND);
    } else if (waits && controller->stall_count >= stall_looks(controller) &&
               (!controller->stall_polls || controller->quiet_us >= POLLS_US)) {
        run_end(controller, ENDED_STANDS);
    } else {
        plan_look(controller, waits);
    }
}

void query_watch(struct controller *controller)
{
    uint64_t quiet_us = controller->config.quiet_us ? controller->config.quiet_us : QUIET_US;

    controller->activity_seen = controller->activity;
    controller->quiet_us = 0;
    controller->stall_count = 0;
    controller->watch_follows = false;
    controller->watch_pause_us = PAUSE_US;
    controller->watch_us = controller->now_us + quiet_us;
}

uint64_t query_deadline(const struct controller *controller)
{
    bool follows = controller->watch_follows && is_watched(controller);
    uint64_t watch_us = follows ? controller->watch_us : UINT64_MAX;
    uint64_t until_us = controller->question.open ? controller->question.until_us : UINT64_MAX;

    return watch_us < until_us ? watch_us : until_us;
}

void query_step(struct controller *controller)
{
    controller->question.over |= controller->now_us >= controller->question.until_us;
    if (controller->watch_follows && is_watched(controller) &&
        controller->now_us >= controller->watch_us) {
        look(controller);
    }
}

/* Questions cost the nodes time, so they begin when programs have been quiet; at once when one has
 * failed, for the others then mostly wait for it. */
void query_pass(struct controller *controller, uint64_t passed_us)
{
    bool failed =
        controller->failed && !controller->watch_follows && controller->watch_pause_us == PAUSE_US;

    if (controller->activity != controller->activity_seen) {
        query_watch(controller);
        return;
    }
    controller->quiet_us += passed_us;
    if (is_watched(controller) && controller->watch_us != UINT64_MAX &&
        (controller->now_us >= controller->watch_us || failed)) {
        look(controller);
    }
}
