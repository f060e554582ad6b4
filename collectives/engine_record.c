#include "collectives/engine_record.h"

#include "collectives/engine_row.h"
#include "router/recorder.h"
#include "router/state.h"
#include "wire/frame.h"

static struct node_record record_of_row(const struct engine *e)
{
    bool sends = e->head.flags & ROW_SENDS, receives = e->head.flags & ROW_RECEIVES;

    return (struct node_record){.kind = RECORD_STEP,
                                .about = (uint8_t)e->call.operation,
                                .epoch = e->epoch,
                                .peer = sends ? e->head.to : ID_UNKNOWN,
                                .begin_ns = engine_issue_ns(e),
                                .flow_ns = e->began_ns,
                                .end_ns = e->done_ns,
                                .other = receives ? e->head.from : ID_UNKNOWN,
                                .bytes = sends ? e->send_bytes : 0,
                                .tag = e->head.step};
}

void engine_record_row(const struct engine *e, struct recorder *recorder)
{
    struct node_record row = record_of_row(e);

    if (e->head.flags & (ROW_SENDS | ROW_RECEIVES)) { /* copies take no model time */
        recorder_row(recorder, &row);
    }
}

static struct node_record record_of_collective(const struct engine *e)
{
    return (struct node_record){.kind = RECORD_COLLECTIVE,
                                .about = (uint8_t)e->call.operation,
                                .status = (uint8_t)-e->result.status,
                                .epoch = e->epoch,
                                .hops = (uint16_t)e->result.steps,
                                .begin_ns = e->begun_ns,
                                .flow_ns = e->begun_ns,
                                .end_ns = e->clock_ns,
                                .other = e->call.root,
                                .bytes = e->call.bytes,
                                .tag = e->part ? plan_digest(e->part) : 0,
                                .detail = e->call.choice};
}

void engine_record_over(const struct engine *e, struct recorder *recorder)
{
    struct node_record record = record_of_collective(e);

    recorder_step_over(recorder);
    recorder_write(recorder, &record);
}

static enum record_wait wait_of(const struct engine *e)
{
    switch (e->stage) {
    case ENGINE_PLAN: return WAITED_PLAN;
    case ENGINE_ENTRY: return WAITED_NODE;
    default: break;
    }
    if (!e->row_open || !e->step_waits) {
        return WAITED_BYTES;
    }
    return e->step_waits & STEP_SEND     ? WAITED_PORT
           : e->step_waits & STEP_ANSWER ? WAITED_ANSWER
                                         : WAITED_SENDER;
}

/* Rows of its step that are over are a record of their own. */
void engine_record_open(const struct engine *e, const struct router *router)
{
    struct node_record record;

    if (!engine_is_active(e) || e->stage == ENGINE_OVER) {
        return;
    }
    recorder_step_over(router->recorder);
    if (e->stage == ENGINE_STEPS && e->row_open && e->step_waits) {
        record = record_of_row(e);
        record.waits = (uint8_t)wait_of(e);
        recorder_write(router->recorder, &record);
    }
    record = record_of_collective(e);
    record.waits = (uint8_t)wait_of(e);
    record.peer = engine_awaits(e, router);
    recorder_write(router->recorder, &record);
}
