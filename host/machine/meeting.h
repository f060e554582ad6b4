/*
 * meeting.h - a scatter or a gather of a machine that is up: from the request of a tool to the word
 * that the programs go on.
 *
 *     FILLING      a thread reads the data of a scatter
 *     SEEKING      no program runs, not everywhere yet, or those before still leave
 *     ATTENDING    programs are awaited at the region
 *     ASKING       --timeout is over: they are asked what they do instead
 *     MOVING       parts are under way; what came wrong moves again, REPEATS_MAX times
 *     WRITING      a thread compares what was gathered, and writes the file
 *     LEAVING      programs are told to go on
 *
 * Until LEAVING the programs wait, whatever goes wrong here or is given up. Memory stays while
 * circuits may still use it, so the next one may have to wait a moment.
 *
 * Context  the thread of the loop
 */
#pragma once

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "controller/controller.h"
#include "host/console/message.h"
#include "host/job/region_job.h"

struct machine;

enum meeting_state {
    MEETS_NONE,
    MEETS_FILLING,
    MEETS_SEEKING,
    MEETS_ATTENDING,
    MEETS_ASKING,
    MEETS_MOVING,
    MEETS_WRITING,
    MEETS_LEAVING
};

struct meeting {
    uint8_t state;  /* enum meeting_state */
    bool given;     /* circuits may use the job's memory */
    bool works;     /* the thread has the job */
    bool sent_held; /* an earlier job's memory, which circuits may still use */
    unsigned repeats;
    struct region_job job, sent;
    uv_timer_t timer;
    uv_work_t work;
    atomic_bool stop;
    int status;             /* of the thread */
    uint32_t damaged;       /* likewise */
    struct message message; /* likewise */
    uint64_t begun_ms, moved_us;
};

void meeting_open(struct machine *machine);
/* Closes its timer; the thread may still work. */
void meeting_close(struct machine *machine);
void meeting_free(struct machine *machine);

/* Begins one; -1: the message says why it cannot be. Then owner.met tells how it goes. */
int meeting_begin(struct machine *machine, const struct region_request *request,
                  struct message *message);

/* Nobody wants it any more. */
void meeting_cancel(struct machine *machine);

/* What the controller tells. */
void meeting_take(struct machine *machine, const struct controller_event *event);
