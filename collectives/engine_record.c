#include "collectives/engine_record.h"

#include "collectives/engine_row.h"
#include "router/recorder.h"
#include "wire/frame.h"

void engine_record_row(const struct engine *e, struct recorder *recorder)
{
    bool sends = e->head.flags & ROW_SENDS, receives = e->head.flags & ROW_RECEIVES;
    struct node_record row = {.kind = RECORD_STEP,
                              .about = (uint8_t)e->call.operation,
                              .epoch = e->epoch,
                              .peer = sends ? e->head.to : ID_UNKNOWN,
                              .begin_ns = engine_issue_ns(e),
                              .flow_ns = e->began_ns,
                              .end_ns = e->done_ns,
                              .other = receives ? e->head.from : ID_UNKNOWN,
                              .bytes = sends ? e->send_bytes : 0,
                              .tag = e->head.step};

    if (sends || receives) { /* copies take no model time */
        recorder_row(recorder, &row);
    }
}

void engine_record_over(const struct engine *e, struct recorder *recorder)
{
    struct node_record record = {.kind = RECORD_COLLECTIVE,
                                 .about = (uint8_t)e->call.operation,
                                 .status = (uint8_t)-e->result.status,
                                 .epoch = e->epoch,
                                 .hops = (uint16_t)e->result.steps,
                                 .begin_ns = e->begun_ns,
                                 .flow_ns = e->begun_ns,
                                 .end_ns = e->result.done_ns,
                                 .other = e->call.root,
                                 .bytes = e->call.bytes,
                                 .tag = e->part ? plan_digest(e->part) : 0,
                                 .detail = e->call.choice};

    recorder_step_over(recorder);
    recorder_write(recorder, &record);
}
