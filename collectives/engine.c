#include "collectives/engine.h"

#include "collectives/engine_check.h"
#include "collectives/engine_copy.h"
#include "collectives/engine_receive.h"
#include "collectives/engine_record.h"
#include "collectives/engine_row.h"
#include "collectives/engine_send.h"
#include "drivers/check.h"
#include "drivers/status.h"
#include "network/network.h"
#include "router/notice.h"
#include "router/router.h"

void engine_init(struct engine *e, uint8_t *memory, uint32_t token)
{
    e->memory = memory;
    e->token = token;
    entry_reset(&e->entering, 0);
}

void engine_reset(struct engine *e, uint8_t generation)
{
    CHECK(!engine_is_active(e));
    e->epoch = 0;
    e->clock_ns = 0;
    e->closed = E_OK;
    entry_reset(&e->entering, generation);
    store_reset(&e->store);
}

/* Whether the collective that is under way still has its second entry to come. */
static bool has_second_entry(const struct engine *e)
{
    return e->stage >= ENGINE_PLAN && e->stage <= ENGINE_STEPS && e->operation &&
           e->operation->sized && !e->agreeing;
}

uint16_t engine_entered(const struct engine *e)
{
    return (uint16_t)(e->epoch + has_second_entry(e));
}

void engine_close(struct engine *e, const struct router *router, int why)
{
    e->closed = (int16_t)why;
    entry_close(&e->entering, router, engine_entered(e), why);
    e->look_due = true;
}

bool engine_is_quiet(const struct engine *e)
{
    return !engine_is_active(e) && !entry_is_due(&e->entering);
}

uint64_t engine_deadline(const struct engine *e)
{
    return e->look_due ? store_deadline(&e->store) : UINT64_MAX;
}

uint32_t engine_step(const struct engine *e)
{
    return e->stage == ENGINE_STEPS && e->head.bytes ? e->head.step + 1u : 0;
}

uint32_t engine_awaits(const struct engine *e, const struct router *router)
{
    switch (e->stage) {
    case ENGINE_PLAN: return ID_HOST;
    case ENGINE_STEPS: return e->step_waits & STEP_SENDS ? e->head.to : e->head.from;
    default: return entry_awaits(&e->entering, router);
    }
}

/* Its clock begins when both it and the one before it were ready. */
void engine_begin(struct engine *e, const struct engine_call *call)
{
    CHECK(e->stage == ENGINE_IDLE);
    e->call = *call;
    e->operation = operation_of(call->operation);
    e->stage = ENGINE_PLAN;
    e->look_due = true;
    e->epoch++;
    e->part = e->row = NULL;
    e->row_open = false;
    e->receives_pending = e->sends_pending = 0;
    e->begun_ns = e->clock_ns = e->flow_ns = clock_max(call->issue_ns, e->clock_ns);
    e->result = (struct engine_result){.status = E_OK};
    e->agreeing = false;
    e->dissent = (struct engine_dissent){.status = E_OK};
}

/* If the program has ended meanwhile, nothing behind this epoch takes place: of a collective that
 * failed before its second entry, not even that. */
static void over(struct engine *e, struct router *router, int status)
{
    e->result.status = status;
    e->result.done_ns = e->clock_ns;
    e->stage = ENGINE_OVER;
    if (router->recorder) {
        engine_record_over(e, router->recorder);
    }
    store_use(&e->store, NULL);
    if (e->closed) {
        entry_close(&e->entering, router, e->epoch, status == E_LINK_DEAD ? status : e->closed);
        entry_pump(&e->entering, router);
        e->look_due = true;
    }
}

struct engine_result engine_end(struct engine *e)
{
    CHECK(e->stage == ENGINE_OVER);
    e->stage = ENGINE_IDLE;
    return e->result;
}

/* Finds the part, or what keeps this node from taking part; false while the host is being asked. */
static bool find_part(struct engine *e, const struct router *router, uint64_t now_us)
{
    struct engine_call *call = &e->call;
    struct plan_need need = {.operation = (uint8_t)call->operation,
                             .type = call->type,
                             .root = call->root,
                             .bytes = call->bytes,
                             .choice = call->choice};

    if (call->status == E_OK) {
        call->status = engine_check_call(e, router);
    }
    if (call->status != E_OK || !e->operation->planned) {
        return true;
    }
    e->part = store_find(&e->store, &need, router->id);
    if (e->part) {
        store_use(&e->store, e->part);
        call->status = engine_check_part(e, router);
        return true;
    }
    if (store_failed(&e->store, &need, &call->status)) {
        return true;
    }
    call->status = E_OK;
    store_want(&e->store, &need, now_us);
    return false;
}

static void pump_plan(struct engine *e, struct router *router, uint64_t now_us)
{
    if (!find_part(e, router, now_us)) {
        store_pump(&e->store, router, now_us);
        return;
    }
    struct entry mine = {.operation = (uint8_t)e->call.operation,
                         .type = e->call.type,
                         .operator_ = e->call.operator_,
                         .bytes = e->call.bytes,
                         .root = e->call.root,
                         .digest = e->part ? plan_digest(e->part) : 0,
                         .choice = e->call.choice};
    entry_begin(&e->entering, router, &mine, e->call.status, e->clock_ns);
    e->rank = router->id;
    e->stage = ENGINE_ENTRY;
    entry_pump(&e->entering, router);
}

/* The host may have told this node another number or network since the program asked: the plan is
 * for the one that it had. */
static void begin_steps(struct engine *e, struct router *router)
{
    uint16_t carries[PLAN_PORTS_MAX] = {0};

    if (e->rank != router->id) {
        over(e, router, E_NETWORK);
        return;
    }
    if (!e->part) { /* the entry was all */
        e->clock_ns = e->entering.clock_ns;
    }
    for (unsigned port = 0; e->part && port < PLAN_PORTS_MAX; port++) {
        carries[port] = plan_carries(e->part, port);
    }
    router_schedule_begin(router, e->epoch, carries);
    e->result.steps = e->part ? plan_steps(e->part) : 0;
    e->row = e->part ? plan_first(e->part) : NULL;
    e->head = (struct plan_row){0};
    e->row_number = 0;
    e->step_clock_ns = e->clock_ns;
    e->step_flow_ns = e->flow_ns;
    e->stage = ENGINE_STEPS;
}

/* The steps are over: all nodes enter once more, and say whether the sizes of their blocks agreed.
 * This takes no model time, and for the router it is a schedule without circuits. */
static void begin_agreement(struct engine *e, struct router *router)
{
    const struct engine_dissent *dissent = &e->dissent;
    struct entry mine = {
        .operation = (uint8_t)e->call.operation, .type = SIZES_AGREE, .choice = e->call.choice};

    if (dissent->status == E_MISMATCH) {
        mine.type = SIZES_DIFFER;
        mine.bytes = dissent->here;
        mine.root = dissent->peer;
        mine.digest = dissent->there;
    }
    e->agreeing = true;
    e->epoch++;
    entry_begin(&e->entering, router, &mine, dissent->status == E_MISMATCH ? E_OK : dissent->status,
                e->clock_ns);
    e->stage = ENGINE_ENTRY;
    e->look_due = true;
}

static void end_agreement(struct engine *e, struct router *router)
{
    const uint16_t carries[PLAN_PORTS_MAX] = {0};

    router_schedule_begin(router, e->epoch, carries);
    router_schedule_done(router, e->epoch);
    over(e, router, E_OK);
}

/* What a failed entry is to this node: that entries differ, or that one is missing, is so for all;
 * what one node could not do is another error to the others. */
static int failure_here(const struct engine *e, int status)
{
    int own = e->agreeing ? e->dissent.status : e->call.status;

    if (status == E_MISMATCH || entry_is_closure(status)) {
        return status;
    }
    return own != E_OK ? own : E_ELSEWHERE;
}

static void pump_entry(struct engine *e, struct router *router)
{
    int status;

    if (!entry_is_over(&e->entering, e->epoch, &status)) {
        return;
    }
    if (status != E_OK) {
        over(e, router, failure_here(e, status));
    } else if (e->agreeing) {
        end_agreement(e, router);
    } else {
        begin_steps(e, router);
    }
}

/* Ends the present row when its circuits have been answered; false when it must still wait. After
 * an error nothing is waited for: the answer may never come. */
static bool end_row(struct engine *e, struct router *router)
{
    if (e->result.status == E_OK && e->step_waits) {
        return false;
    }
    if (router->recorder) {
        engine_record_row(e, router->recorder);
    }
    e->clock_ns = e->done_ns;
    e->flow_ns = e->began_ns;
    e->row_open = false;
    e->row = plan_next(e->part, e->row);
    return true;
}

/* Begins the next row, or ends the collective; false when it must wait for bytes. They are in use
 * until all have moved, in both directions: only then the buffers are the program's again. */
static bool begin_row(struct engine *e, struct router *router)
{
    if (e->result.status != E_OK) {
        over(e, router, e->result.status);
        return true;
    }
    if (!e->row) {
        if (e->receives_pending || e->sends_pending) {
            return false;
        }
        /* Only one that went through its steps counts as completed for the router, which then lets
         * messages from behind it pass (rule 5): of one that failed the links may never be done. */
        router_schedule_done(router, e->epoch);
        if (has_second_entry(e)) {
            begin_agreement(e, router);
        } else {
            over(e, router, E_OK);
        }
        return true;
    }
    struct plan_row row = plan_row_at(e->row);
    if (!engine_may_begin(e, &row)) {
        return false;
    }
    engine_open_row(e, router, &row);
    return true;
}

/* Each turn either begins a row or ends one, so it ends with the plan at the latest. */
static enum engine_verdict pump_steps(struct engine *e, struct router *router)
{
    while (e->stage == ENGINE_STEPS) {
        if (!e->row_open) {
            if (!begin_row(e, router)) {
                return ENGINE_WAITS;
            }
            continue;
        }
        if (e->head.flags & ROW_COPIES && !engine_copy_some(e, router)) {
            return ENGINE_HAS_MORE;
        }
        if (e->step_waits & STEP_SEND) {
            engine_open_send(e, router);
        }
        if (e->step_waits & STEP_RECEIVE) {
            engine_accept_receive(e, router);
        }
        if (!end_row(e, router)) {
            return ENGINE_WAITS;
        }
    }
    return e->stage == ENGINE_ENTRY ? ENGINE_HAS_MORE : ENGINE_WAITS;
}

/* Whether the entry or the store has something to do. */
static bool has_business(const struct engine *e)
{
    return e->stage == ENGINE_PLAN || e->stage == ENGINE_ENTRY || e->store.asking ||
           entry_has_business(&e->entering);
}

/* Most steps of a node are those of a link or of a row. */
static void attend(struct engine *e, struct router *router, uint64_t now_us)
{
    store_pump(&e->store, router, now_us);
    entry_pump(&e->entering, router);
    if (e->stage == ENGINE_PLAN) {
        pump_plan(e, router, now_us);
    }
    if (e->stage == ENGINE_ENTRY) {
        pump_entry(e, router);
    }
    e->look_due = has_business(e);
}

enum engine_verdict engine_pump(struct engine *e, struct router *router, uint64_t now_us)
{
    if (e->look_due) {
        attend(e, router, now_us);
    }
    return e->stage == ENGINE_STEPS ? pump_steps(e, router) : ENGINE_WAITS;
}

void engine_packet(struct engine *e, const struct router *router, const struct notice *notice,
                   uint64_t now_us)
{
    e->look_due = true;
    if (notice->packet_kind == PACKET_ENTER || notice->packet_kind == PACKET_ENTERED) {
        entry_packet(&e->entering, router, notice);
    } else {
        store_packet(&e->store, router, notice, now_us);
    }
}

/* Whether word of a circuit's end says no more than that its two ends differed, which is known. */
static bool is_dissent(const struct engine *e, const struct notice *notice)
{
    return notice->status == E_TRUNCATED && e->operation->sized;
}

/* A collective that ended in error leaves circuits behind, whose word comes later: their tokens
 * carry its epoch, and it is not taken for the next one's. */
void engine_notice(struct engine *e, struct router *router, const struct notice *notice)
{
    bool present = e->stage == ENGINE_STEPS && (notice->token >> 16 & 0xff) == (e->epoch & 0xff);

    switch (notice->kind) {
    case NOTICE_FEED: engine_feed(e, router, notice, present); return;
    case NOTICE_FILLED: engine_fill(e, router, notice, present); return;
    case NOTICE_ACCEPTED:
        if (present) {
            engine_stands(e, router, e->send_hops, e->send_bytes, notice->done_ns);
            if (notice->other_length && !e->operation->sized) { /* else its receiver says so */
                e->result.status = E_MISMATCH;
            }
            e->step_waits &= (uint8_t)~STEP_ANSWER;
        }
        break;
    case NOTICE_REFUSED:
    case NOTICE_SENT: engine_sent(e, notice, present); break;
    default: engine_received(e, router, notice, present); break;
    }
    /* of a block that is longer than its receiver wants, what does not fit is lost */
    if (present && notice->status != E_OK && !is_dissent(e, notice)) {
        e->result.status = notice->status;
    }
}
