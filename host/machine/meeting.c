#include "host/machine/meeting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/words.h"
#include "drivers/check.h"
#include "host/job/doing.h"
#include "host/machine/describe.h"
#include "host/machine/machine.h"
#include "host/program/ranks.h"

enum {
    TICK_MS = 50,
    NOBODY_MS = 3000, /* whoever loads a program beside it is slower by so much at most */
    REPEATS_MAX = 3
};

static uint64_t now_us(void)
{
    return uv_hrtime() / 1000;
}

static const char *verb_of(const struct region_job *job)
{
    return job->way == ECUBE_SCATTERED ? "scatter" : "gather";
}

/* End ----------------------------------------------------------------------------------------- */

/* The memory stays until no circuit uses it. */
static void put_away(struct machine *machine)
{
    struct meeting *meeting = &machine->meeting;

    meeting->state = MEETS_NONE;
    uv_timer_stop(&meeting->timer);
    if (meeting->works) {
        atomic_store(&meeting->stop, true); /* on_worked frees it */
        return;
    }
    if (!meeting->given || controller_quiet(&machine->controller)) {
        region_job_free(&meeting->job);
        return;
    }
    CHECK(!meeting->sent_held); /* else it would not have come so far */
    meeting->sent = meeting->job;
    meeting->sent_held = true;
    meeting->job = (struct region_job){0};
}

static void tell(struct machine *machine, json_t *event)
{
    if (machine->owner.met) {
        machine->owner.met(machine->owner.context, event);
    } else {
        json_decref(event);
    }
}

static void withdraw(struct machine *machine)
{
    controller_withdraw(&machine->controller, now_us());
    put_away(machine);
}

static void fail(struct machine *machine, int status, const char *text)
{
    withdraw(machine);
    tell(machine, json_pack("{s:s, s:s, s:i}", "event", "error", "text", text, "status", status));
}

static void finish(struct machine *machine)
{
    struct region_job *job = &machine->meeting.job;

    job->wall_us = now_us() - machine->meeting.moved_us;
    json_t *result = region_job_describe(job);
    put_away(machine);
    tell(machine, json_pack("{s:s, s:i, s:o}", "event", "end", "status", 0, "result", result));
}

/* Programs that do not come ------------------------------------------------------------------- */

/* "ranks 3, 5-7 do not wait at region in: rank 3 computes in work (fir.c:20)" */
static void tell_missing(struct machine *machine)
{
    const struct region_job *job = &machine->meeting.job;
    struct ranks *missing = ranks_make(job->nodes);
    char names[RANKS_TEXT_MAX], doing[DOING_TEXT_MAX] = "";
    struct message message;

    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        if (!job->parts[rank].attends) {
            missing->rank[missing->count++] = rank;
        }
    }
    if (missing->count > 0) {
        ranks_text(missing, names);
        doing_text(&machine->programs, missing->rank[0], true, doing);
        message_set(&message,
                    "%s does not come about within --timeout: %s %s not wait at region %s: "
                    "rank %u %.200s",
                    verb_of(job), names, missing->count == 1 ? "does" : "do", job->region,
                    (unsigned)missing->rank[0], doing);
    } else {
        message_set(&message, "%s does not come about within --timeout", verb_of(job));
    }
    free(missing);
    fail(machine, STATUS_TIMEOUT, message.text);
}

static void time_out(struct machine *machine)
{
    struct meeting *meeting = &machine->meeting;
    struct message message;

    switch (meeting->state) {
    case MEETS_ATTENDING:
        meeting->state = MEETS_ASKING;
        machine_ask(machine);
        return;
    case MEETS_ASKING:
    case MEETS_LEAVING: return; /* both end by themselves */
    case MEETS_FILLING:
        message_set(&message, "the data of --timeout are not read: nothing was scattered");
        break;
    case MEETS_SEEKING:
        message_set(&message,
                    "%s does not come about within --timeout: the programs do not run yet",
                    verb_of(&meeting->job));
        break;
    default:
        message_set(&message, "%s of region %s is not complete within --timeout: the programs wait",
                    verb_of(&meeting->job), meeting->job.region);
        break;
    }
    fail(machine, STATUS_TIMEOUT, message.text);
}

/* Programs that come -------------------------------------------------------------------------- */

/* What of an earlier one is still held. False: it is still in use. */
static bool frees_sent(struct machine *machine)
{
    struct meeting *meeting = &machine->meeting;

    if (meeting->sent_held && controller_quiet(&machine->controller)) {
        region_job_free(&meeting->sent);
        meeting->sent_held = false;
    }
    return !meeting->sent_held;
}

/* Nothing runs, and nothing is about to. */
static bool is_idle(const struct machine *machine)
{
    return machine->controller.phase == PHASE_READY && !machine->aside.active;
}

static void seek(struct machine *machine)
{
    struct meeting *meeting = &machine->meeting;
    struct controller_rendezvous rendezvous = {meeting->job.region, meeting->job.parts,
                                               meeting->job.scratch};
    char dead[DEAD_TEXT_MAX];

    if (!frees_sent(machine)) {
        return;
    }
    switch (controller_attend(&machine->controller, &rendezvous, now_us())) {
    case CONTROLLER_OK: meeting->state = MEETS_ATTENDING; break;
    case CONTROLLER_BROKEN:
        describe_dead_text(machine, dead);
        fail(machine, STATUS_MACHINE, dead);
        break;
    default:
        if (is_idle(machine) && uv_now(machine->loop) - meeting->begun_ms >= NOBODY_MS) {
            fail(machine, STATUS_BAD_INPUT,
                 "no program runs on this machine: start one with 'ecube load'");
        }
        break;
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct machine *machine = timer->data;
    struct meeting *meeting = &machine->meeting;

    if (uv_now(machine->loop) - meeting->begun_ms >= meeting->job.timeout_ms) {
        time_out(machine);
    } else if (meeting->state == MEETS_SEEKING) {
        seek(machine);
    }
    machine_move_on(machine);
}

/* The thread ---------------------------------------------------------------------------------- */

static void work(uv_work_t *work)
{
    struct machine *machine = work->data;
    struct meeting *meeting = &machine->meeting;
    struct region_job *job = &meeting->job;

    meeting->damaged = 0;
    if (job->way == ECUBE_SCATTERED) {
        meeting->status = region_job_fill(job, &meeting->stop, &meeting->message);
        return;
    }
    meeting->damaged = region_job_compare(job);
    meeting->status = meeting->damaged > 0 || atomic_load(&meeting->stop)
                          ? 0
                          : region_job_write(job, &meeting->stop, &meeting->message);
}

/* Once more for the parts that are wanted, or that is enough. */
static void move_again(struct machine *machine, uint32_t damaged)
{
    struct meeting *meeting = &machine->meeting;
    struct message message;
    uint32_t rank = 0;

    while (!meeting->job.parts[rank].wanted) {
        rank++;
    }
    if (++meeting->repeats > REPEATS_MAX) {
        message_set(&message,
                    meeting->job.way == ECUBE_SCATTERED
                        ? "node %u (rank %u) holds other bytes than were scattered, also when they "
                          "are sent again"
                        : "the part of node %u (rank %u) has come damaged, also when it is sent "
                          "again",
                    (unsigned)rank, (unsigned)network_rank(meeting->job.network, rank));
        fail(machine, STATUS_MACHINE, message.text);
        return;
    }
    if (meeting->repeats == 1) {
        meeting->job.repaired = damaged;
    }
    meeting->state = MEETS_SEEKING;
    seek(machine);
}

static void leave(struct machine *machine)
{
    machine->meeting.state = MEETS_LEAVING;
    controller_leave(&machine->controller, now_us());
}

static void on_worked(uv_work_t *work, int status)
{
    struct machine *machine = work->data;
    struct meeting *meeting = &machine->meeting;

    (void)status;
    meeting->works = false;
    if (meeting->state == MEETS_NONE) {
        put_away(machine);
        return;
    }
    if (meeting->status != 0) {
        fail(machine, STATUS_BAD_INPUT, meeting->message.text);
    } else if (meeting->state == MEETS_FILLING) {
        meeting->state = MEETS_SEEKING;
        seek(machine);
    } else if (meeting->damaged > 0) {
        move_again(machine, meeting->damaged);
    } else {
        leave(machine);
    }
    machine_move_on(machine);
}

static void begin_work(struct machine *machine, enum meeting_state state)
{
    struct meeting *meeting = &machine->meeting;

    meeting->state = (uint8_t)state;
    meeting->works = true;
    atomic_store(&meeting->stop, false);
    meeting->work.data = machine;
    CHECK(uv_queue_work(machine->loop, &meeting->work, work, on_worked) == 0);
}

/* What the controller tells ------------------------------------------------------------------- */

static void tell_moving(struct machine *machine, uint32_t done)
{
    tell(machine, json_pack("{s:s, s:s, s:i, s:i}", "event", "progress", "phase",
                            verb_of(&machine->meeting.job), "done", (int)done, "total",
                            (int)machine->meeting.job.nodes));
}

/* All wait: what is to be moved is known. */
static void take_attended(struct machine *machine)
{
    struct meeting *meeting = &machine->meeting;
    struct region_job *job = &meeting->job;
    struct message message;
    int status = job->way == ECUBE_SCATTERED ? region_job_fits(job, &message)
                                             : region_job_give(job, &message);

    if (status != 0) {
        fail(machine, STATUS_BAD_INPUT, message.text);
        return;
    }
    meeting->state = MEETS_MOVING;
    meeting->given = true;
    if (meeting->repeats == 0) {
        meeting->moved_us = now_us();
        tell_moving(machine, 0);
    }
    controller_move(&machine->controller, job->way, now_us());
}

static uint32_t wanted_of(const struct region_job *job)
{
    uint32_t wanted = 0;

    for (uint32_t rank = 0; rank < job->nodes; rank++) {
        wanted += job->parts[rank].wanted;
    }
    return wanted;
}

static void take_moved(struct machine *machine, const struct controller_event *event)
{
    struct meeting *meeting = &machine->meeting;
    struct region_job *job = &meeting->job;
    uint32_t wanted = wanted_of(job);

    if (meeting->repeats == 0) {
        job->model_ns = event->model_ns - event->base_ns;
        job->predicted_ns = event->gather.predicted_ns;
    }
    if (job->way == ECUBE_GATHERED) {
        begin_work(machine, MEETS_WRITING);
    } else if (wanted > 0) {
        move_again(machine, wanted);
    } else {
        leave(machine);
    }
}

/* Who has ended before it began is no failure of the machine. */
static void take_failed(struct machine *machine, const struct controller_event *event)
{
    bool refused = event->reason == REGION_UNKNOWN || event->reason == REGION_GONE;
    char words[WORDS_MAX];
    struct message message;

    words_of_event(&machine->controller, event, words);
    message_set(&message, "%s of region %s: %s", verb_of(&machine->meeting.job),
                machine->meeting.job.region, words);
    fail(machine, refused ? STATUS_BAD_INPUT : STATUS_MACHINE, message.text);
}

static void take_broken(struct machine *machine)
{
    char dead[DEAD_TEXT_MAX];

    describe_dead_text(machine, dead);
    fail(machine, STATUS_MACHINE, dead);
}

void meeting_take(struct machine *machine, const struct controller_event *event)
{
    struct meeting *meeting = &machine->meeting;

    if (meeting->state == MEETS_NONE) {
        return;
    }
    switch (event->kind) {
    case EVENT_REGION_ATTENDED:
        if (meeting->state == MEETS_ATTENDING || meeting->state == MEETS_ASKING) {
            take_attended(machine);
        }
        break;
    case EVENT_REGION_PROGRESS:
        if (meeting->repeats == 0) {
            tell_moving(machine, event->done);
        }
        break;
    case EVENT_REGION_MOVED: take_moved(machine, event); break;
    case EVENT_REGION_LEFT: finish(machine); break;
    case EVENT_REGION_FAILED: take_failed(machine, event); break;
    case EVENT_ANSWERED:
        if (meeting->state == MEETS_ASKING) {
            tell_missing(machine);
        }
        break;
    case EVENT_ENDED:
        if (meeting->state == MEETS_LEAVING) {
            finish(machine); /* the programs have what they waited for, and have ended since */
        }
        break;
    case EVENT_BROKEN:
    case EVENT_RESTART: take_broken(machine); break;
    default: break;
    }
}

/* Requests ------------------------------------------------------------------------------------ */

int meeting_begin(struct machine *machine, const struct region_request *request,
                  struct message *message)
{
    struct meeting *meeting = &machine->meeting;

    if (meeting->state != MEETS_NONE || meeting->works) {
        return message_set(message, "the machine is busy: another scatter or gather goes on");
    }
    if (region_job_make(&meeting->job, request, &machine->options.network, message) != 0) {
        return -1;
    }
    meeting->given = false;
    meeting->repeats = 0;
    meeting->begun_ms = uv_now(machine->loop);
    meeting->moved_us = now_us();
    uv_timer_start(&meeting->timer, on_tick, TICK_MS, TICK_MS);
    if (request->way == ECUBE_SCATTERED) {
        begin_work(machine, MEETS_FILLING);
    } else {
        meeting->state = MEETS_SEEKING;
        seek(machine);
    }
    machine_move_on(machine);
    return 0;
}

void meeting_cancel(struct machine *machine)
{
    uint8_t state = machine->meeting.state;

    if (state != MEETS_NONE && state != MEETS_LEAVING) {
        withdraw(machine);
        machine_move_on(machine);
    }
}

void meeting_open(struct machine *machine)
{
    uv_timer_init(machine->loop, &machine->meeting.timer);
    machine->meeting.timer.data = machine;
}

void meeting_close(struct machine *machine)
{
    atomic_store(&machine->meeting.stop, true);
    uv_close((uv_handle_t *)&machine->meeting.timer, NULL);
}

void meeting_free(struct machine *machine)
{
    region_job_free(&machine->meeting.job);
    if (machine->meeting.sent_held) {
        region_job_free(&machine->meeting.sent);
        machine->meeting.sent_held = false;
    }
}
