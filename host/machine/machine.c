/*
 * machine.c - what moves a machine's controller on, and what its events do to the machine.
 *
 * Sockets, ended processes, debuggers and ticks each tell the controller what they know, then
 * pump(): it steps the controller and takes its events until there is nothing to do at once. Events
 * may make requests of the controller, but none pumps again (`pumping`). Words for users are
 * announce.c's.
 *
 * A job is the program that is loaded and its table of results. Its image is read by circuits until
 * the controller is quiet, so a job that has ended is put away, and freed later.
 */
#include "host/machine/machine.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"
#include "drivers/check.h"
#include "host/machine/announce.h"
#include "host/job/troubles.h"
#include "host/machine/describe.h"
#include "router/channel.h"
#include "router/incarnation.h"

enum {
    TICK_MS = 100,
    TICKS_PER_S = 1000 / TICK_MS,
    SHARE_MIN_PERMILLE = 31, /* a dead node is named in 32 times the patience, however busy it is */
    WAIT_TOLD_TICKS = 2 * TICKS_PER_S, /* of a download: whoever steps through a program is not */
    STEPS_PER_PUMP = 256
};

static void pump(struct machine *machine);

static uint64_t now_us(void)
{
    return uv_hrtime() / 1000;
}

static uint32_t nodes_of(const struct machine *machine)
{
    return machine->options.network.nodes;
}

static bool is_in(const struct machine *machine, enum controller_phase phase)
{
    return machine->controller.phase == phase;
}

bool machine_is_booting(const struct machine *machine)
{
    return is_in(machine, PHASE_BOOT);
}

bool machine_is_broken(const struct machine *machine)
{
    return machine->controller.broken;
}

/* Faults for a test --------------------------------------------------------------------------- */

static void on_injection(uv_timer_t *timer)
{
    struct machine *machine = timer->data;
    const struct injection *injection =
        &machine->options.injections[timer - machine->injection_timers];

    if (injection->kill) {
        launcher_kill(&machine->launcher, injection->a);
    } else {
        launcher_cut(&machine->launcher, injection->a, injection->b);
    }
}

static void begin_injections(struct machine *machine, enum controller_phase phase)
{
    for (unsigned i = 0; i < machine->options.injection_count; i++) {
        struct injection *injection = &machine->options.injections[i];

        if (injection->phase == phase && !injection->fired) {
            injection->fired = true;
            uv_timer_start(&machine->injection_timers[i], on_injection, injection->delay_ms, 0);
        }
    }
}

/* Jobs ---------------------------------------------------------------------------------------- */

static bool is_quiet(const struct machine *machine)
{
    return controller_quiet(&machine->controller) && host_links_quiet(&machine->links);
}

/* Ranks are where the job's map says, or the machine's own, and so are the plans. */
static void use_map(struct machine *machine)
{
    const struct job_map *map = machine->job.map;

    machine->options.network.map = map ? &map->choice.map : machine->network.map;
    controller_use_cache(&machine->controller, map ? map->cache : machine->cache);
}

/* That nobody has begun, or whose memory nobody reads. */
static void drop_job(struct machine *machine)
{
    job_free(&machine->job);
    use_map(machine);
}

static void free_job(struct machine *machine)
{
    if (machine->job_held) {
        drop_job(machine);
        machine->job_held = false;
    }
}

static void free_sent(struct machine *machine)
{
    if (machine->sent_held) {
        job_free(&machine->sent);
        machine->sent_held = false;
    }
}

/* Makes room for the next job. This one's memory stays until no circuit reads it any more. False
 * when an earlier one's is still there. */
static bool put_job_away(struct machine *machine)
{
    if (is_quiet(machine)) {
        free_sent(machine);
        free_job(machine);
    } else if (machine->sent_held) {
        return false;
    } else if (machine->job_held) {
        machine->sent = machine->job;
        machine->sent_held = true;
        machine->job_held = false;
    }
    return true;
}

bool machine_frees(const struct machine *machine)
{
    bool sends = machine->sent_held && !is_quiet(machine);
    bool lets_go = machine->aside.active && atomic_load(&machine->aside.stop);

    return is_in(machine, PHASE_READY) ? !machine_is_broken(machine) && (sends || lets_go)
                                       : is_in(machine, PHASE_DOWNLOAD) && machine->job.cancelled;
}

static void unbound(struct machine *machine)
{
    machine->bounded = false;
    uv_timer_stop(&machine->bound_timer);
}

static void tell_result(struct machine *machine, int status)
{
    machine->owner.ended(machine->owner.context, status, describe_result(machine, status));
}

static void end_programs(struct machine *machine)
{
    struct job *job = &machine->job;

    programs_end(&machine->programs);
    if (job->run_start_us && !job->run_us) {
        job->run_us = now_us() - job->run_start_us;
    }
}

/* The job is over; its owner may have been told so before. */
static void end_job(struct machine *machine, int status)
{
    struct job *job = &machine->job;

    end_programs(machine);
    (void)outputs_lost(&job->outputs, &machine->teller, job->run_start_us != 0);
    if (!job->cancelled) {
        unbound(machine);
        job->cancelled = true;
        tell_result(machine, status);
    }
}

/* Its circuits still send what the job holds: the download goes on, and the programs are not
 * started. */
static void end_before_run(struct machine *machine, int status)
{
    (void)outputs_lost(&machine->job.outputs, &machine->teller, false);
    machine->job.cancelled = true;
    unbound(machine);
    tell_result(machine, status);
}

/* The data are still being read: nobody has told the end of the job. */
static bool is_filling(const struct machine *machine)
{
    const struct aside *aside = &machine->aside;

    return aside->active && aside->kind == ASIDE_FILLS && !machine->job.cancelled;
}

/* What programs have left has come, and is being written. */
static bool is_writing(const struct machine *machine)
{
    return machine->aside.active && machine->aside.kind == ASIDE_WRITES;
}

static void do_aside(struct machine *machine, enum aside_kind kind, uv_work_cb work,
                     uv_after_work_cb done)
{
    machine->aside.kind = kind;
    machine->aside.active = true;
    atomic_store(&machine->aside.stop, false);
    machine->aside.work.data = machine;
    CHECK(uv_queue_work(machine->loop, &machine->aside.work, work, done) == 0);
}

static void end_filling(struct machine *machine, int status)
{
    atomic_store(&machine->aside.stop, true);
    end_before_run(machine, status);
}

/* What links have carried ---------------------------------------------------------------------- */

/* A question that is open has answers of the run: the next one is wanted. */
static void ask_traffic(struct machine *machine)
{
    const struct controller_question *question = &machine->controller.question;
    bool open = question->open;
    uint32_t before = question->number;

    controller_ask_traffic(&machine->controller, now_us());
    machine->asked = question->number + (open && question->number == before);
}

/* Behind all that the job has sent. False: it is not wanted, or nothing has run. */
static bool begin_asking(struct machine *machine, int status)
{
    const struct job *job = &machine->job;

    if (!job->counts || job->cancelled || !job->run_start_us) {
        return false;
    }
    end_programs(machine);
    machine->asking = true;
    machine->fetched_status = status;
    ask_traffic(machine);
    return true;
}

/* Nodes that have not answered are not in it. */
static void end_asking(struct machine *machine)
{
    machine->asking = false;
    machine->job.traffic = traffic_describe(&machine->traffic);
    end_job(machine, machine->fetched_status);
}

static void take_answered(struct machine *machine)
{
    const struct controller_question *question = &machine->controller.question;

    if (machine->owner.answered) {
        machine->owner.answered(machine->owner.context);
    }
    if (machine->asking && (question->number > machine->asked ||
                            (question->number == machine->asked && !question->open))) {
        end_asking(machine);
    }
    traffic_forget(&machine->traffic);
    if (machine->asking && !question->open) {
        ask_traffic(machine);
    }
}

/* All that was wanted has come, but what links have carried. */
static void end_work(struct machine *machine, int status)
{
    if (!begin_asking(machine, status)) {
        end_job(machine, status);
    }
}

/* What programs have left ---------------------------------------------------------------------- */

/* The programs have ended, and the outputs are wanted: false when they cannot be had. */
static bool begin_gather(struct machine *machine, int status)
{
    struct job *job = &machine->job;

    if (!outputs_wanted(&job->outputs) ||
        controller_gather(&machine->controller, now_us()) != CONTROLLER_OK) {
        return false;
    }
    end_programs(machine);
    job->end_status = status;
    tell_progress(&machine->teller, "gather", 0, nodes_of(machine));
    begin_injections(machine, PHASE_GATHER);
    return true;
}

static void take_measured(struct machine *machine, const struct controller_event *event)
{
    struct outputs *outputs = &machine->job.outputs;

    if (outputs_give(outputs, &machine->options.network, event->gather.bytes)) {
        controller_collect(&machine->controller, &outputs->memory, now_us());
    } else {
        tell_trouble(&machine->teller, json_pack("{s:s, s:[]}", "kind", "out-of-memory", "nodes"),
                     "there is no memory for the outputs");
        controller_stop(&machine->controller, now_us());
    }
}

/* The status of the run counts, if it is none that is good. */
static void end_gather(struct machine *machine, int status)
{
    end_work(machine, machine->job.end_status ? machine->job.end_status : status);
}

/* On a thread of the loop's. */
static void write_outputs(uv_work_t *work)
{
    struct machine *machine = work->data;
    struct aside *aside = &machine->aside;

    aside->status = outputs_write(&machine->job.outputs, machine->job.whole, &aside->stop);
}

static void on_written(uv_work_t *work, int status)
{
    struct machine *machine = work->data;

    (void)status;
    machine->aside.active = false;
    machine->job_held = true;
    if (machine->handles_open) {
        outputs_tell(&machine->job.outputs, &machine->teller);
        end_gather(machine, machine->cut_status ? machine->cut_status : machine->aside.status);
    }
}

static void take_gathered(struct machine *machine, const struct controller_event *event)
{
    struct job *job = &machine->job;

    outputs_came(&job->outputs, event->model_ns - event->base_ns, event->gather.predicted_ns);
    job->outputs.wall_us = now_us() - job->run_start_us - job->run_us;
    machine->job_held = false;
    do_aside(machine, ASIDE_WRITES, write_outputs, on_written);
}

/* Records come before outputs: these are sent by circuits, which would be noted, too. False: they
 * are not wanted. */
static bool begin_fetch(struct machine *machine, int status, bool gathers)
{
    struct job *job = &machine->job;

    if (!job_trace_wanted(&job->trace) || job->cancelled ||
        !job_trace_begin(&job->trace, &machine->options.network, &machine->options.profile) ||
        controller_fetch(&machine->controller, now_us()) != CONTROLLER_OK) {
        return false;
    }
    end_programs(machine);
    machine->fetching = true;
    machine->gathers = gathers;
    machine->fetched_status = status;
    tell_progress(&machine->teller, "trace", 0, nodes_of(machine));
    return true;
}

/* The records are here, as far as they come: the trace is complete. */
static void end_fetch(struct machine *machine)
{
    struct job *job = &machine->job;
    int status = machine->fetched_status;

    controller_fetch_stop(&machine->controller);
    machine->fetching = false;
    atomic_store(&machine->aside.stop, true); /* memory that is still read is not waited for */
    int written =
        job_trace_end(&job->trace, machine->boot_us, job->wall_us, job->run_us, &machine->teller);
    status = status ? status : written;
    if (!machine->gathers || !begin_gather(machine, status)) {
        end_work(machine, status);
    }
}

/* The run is over, and nodes are asked what they know of it. */
static bool is_following_up(const struct machine *machine)
{
    return machine->fetching || machine->asking;
}

/* What has not come by now is not waited for, and nothing else is asked for. */
static void stop_following_up(struct machine *machine)
{
    machine->gathers = false;
    machine->job.counts = false;
    if (machine->fetching) {
        end_fetch(machine);
    } else {
        end_asking(machine);
    }
}

static void free_memories(struct machine *machine)
{
    for (uint32_t i = 0; i < machine->memory_count; i++) {
        free(machine->memories[i].records);
    }
    free(machine->memories);
    machine->memories = NULL;
    machine->memory_count = 0;
}

/* On a thread of the loop's, which has nothing of the job. What cannot be read stays missing. */
static void read_memories(uv_work_t *work)
{
    struct machine *machine = work->data;
    struct aside *aside = &machine->aside;
    struct message message;

    for (uint32_t i = 0; i < machine->memory_count && !atomic_load(&aside->stop); i++) {
        (void)record_memory_read(&machine->memories[i], machine->rundir,
                                 machine->controller.generation, &aside->stop, &message);
    }
}

static void on_memories_read(uv_work_t *work, int status)
{
    struct machine *machine = work->data;

    (void)status;
    machine->aside.active = false;
    for (uint32_t i = 0; machine->fetching && i < machine->memory_count; i++) {
        const struct record_memory *memory = &machine->memories[i];
        if (memory->records) {
            job_trace_remember(&machine->job.trace, memory->node, memory->records, memory->count,
                               memory->lost);
        }
    }
    free_memories(machine);
    if (machine->fetching && machine->handles_open) {
        end_fetch(machine);
        pump(machine);
    }
}

/* All have been asked: reads the memory of those that live and have not answered. False: there are
 * none. */
static bool begin_reading(struct machine *machine)
{
    uint32_t nodes = nodes_of(machine);

    machine->memories = calloc(nodes, sizeof *machine->memories);
    for (uint32_t node = 0; machine->memories && node < nodes; node++) {
        if (job_trace_lacks(&machine->job.trace, node) && !machine->programs.nodes[node].dead) {
            machine->memories[machine->memory_count++].node = node;
        }
    }
    if (machine->memory_count == 0) {
        free_memories(machine);
        return false;
    }
    do_aside(machine, ASIDE_READS, read_memories, on_memories_read);
    return true;
}

static void take_fetched(struct machine *machine)
{
    if (!begin_reading(machine)) {
        end_fetch(machine);
    }
}

/* Whoever has stopped the programs wants nothing of them any more. */
static void take_ended(struct machine *machine, const struct controller_event *event)
{
    int status = programs_status(&machine->programs, event, machine->cut_status);
    bool stopped = event->reason == ENDED_STOPPED;

    if (!stopped && begin_fetch(machine, status, true)) {
        return;
    }
    if (stopped) {
        end_job(machine, status);
    } else if (!begin_gather(machine, status)) {
        end_work(machine, status);
    }
}

static void begin_run(struct machine *machine)
{
    controller_keep_records(&machine->controller,
                            job_trace_wanted(&machine->job.trace) ? JOB_TRACE_RECORDS : 0);
    controller_run(&machine->controller, now_us());
    machine->job.run_start_us = now_us();
    machine->ticks = 0;
    programs_begin(&machine->programs, machine->job_number);
    begin_injections(machine, PHASE_RUN);
}

static void take_loaded(struct machine *machine)
{
    struct job *job = &machine->job;

    job->wall_us = now_us() - job->start_us;
    /* A download cannot be broken off, so one that nobody wants any more ends here. */
    if (job->cancelled) {
        controller_stop(&machine->controller, now_us());
    } else {
        begin_run(machine);
    }
}

/* A node is told in larger pieces, not of each line: every note is a packet to it. */
static void tell_taken(struct machine *machine, uint32_t rank)
{
    uint32_t taken;

    if (text_lines_due(&machine->programs.nodes[rank].text, &taken)) {
        controller_taken(&machine->controller, rank, taken);
    }
}

/* Boot, failure, reset ------------------------------------------------------------------------ */

static void give_up_boot(struct machine *machine, int status)
{
    controller_time_out(&machine->controller, now_us());
    machine->owner.booted(machine->owner.context, status);
}

static void take_boot(struct machine *machine)
{
    machine->boot_us = now_us() - machine->start_us;
    debuggers_forget_resets(&machine->debuggers); /* of nodes that were not known yet */
    announce_boot(machine);
    machine->owner.booted(machine->owner.context, 0);
}

static void take_broken(struct machine *machine, enum controller_phase phase)
{
    if (phase == PHASE_BOOT) {
        machine->owner.booted(machine->owner.context, STATUS_MACHINE);
    } else if (is_filling(machine)) {
        end_filling(machine, STATUS_MACHINE);
    } else if (phase != PHASE_READY &&
               (phase != PHASE_RUN || !begin_fetch(machine, STATUS_MACHINE, false))) {
        end_work(machine, STATUS_MACHINE);
    }
}

/* What nodes have told of themselves. */
static void forget_nodes(struct machine *machine)
{
    programs_forget(&machine->programs);
    machine->nodes_right = 0;
    json_array_clear(machine->teller.troubles);
}

/* All nodes were reset. The links first: until then they may send what jobs hold. */
static void take_restart(struct machine *machine, enum controller_phase phase)
{
    if (is_filling(machine)) {
        end_filling(machine, STATUS_MACHINE);
    } else if (is_following_up(machine)) {
        stop_following_up(machine);
    } else if (phase != PHASE_BOOT && phase != PHASE_READY) {
        end_job(machine, STATUS_MACHINE);
    }
    host_links_restart(&machine->links);
    machine->incarnation = incarnation_next(machine->incarnation, now_us());
    controller_restart(&machine->controller, machine->incarnation, now_us());
    free_job(machine);
    free_sent(machine);
    forget_nodes(machine);
    debuggers_forget_resets(&machine->debuggers);
    machine->start_us = now_us();
    machine->boot_us = 0;
}

/* Events of the controller -------------------------------------------------------------------- */

static void take_event(struct machine *machine, const struct controller_event *event)
{
    programs_take(&machine->programs, event, now_us());
    traffic_take(&machine->traffic, event);
    announce_event(machine, event);
    job_trace_take(&machine->job.trace, event, now_us());
    switch (event->kind) {
    case EVENT_BOOT_PROGRESS: machine->nodes_right = event->done; break;
    case EVENT_BOOTED: take_boot(machine); break;
    case EVENT_LOADED: take_loaded(machine); break;
    case EVENT_TEXT: tell_taken(machine, event->rank); break;
    case EVENT_ENDED: take_ended(machine, event); break;
    case EVENT_RECORDS_END:
        if (machine->fetching) {
            tell_progress(&machine->teller, "trace", event->done, nodes_of(machine));
        }
        break;
    case EVENT_FETCHED: take_fetched(machine); break;
    case EVENT_MEASURED: take_measured(machine, event); break;
    case EVENT_GATHERED: take_gathered(machine, event); break;
    case EVENT_GATHER_FAILED:
        if (event->phase == PHASE_READY) { /* else EVENT_BROKEN follows */
            end_gather(machine, machine->cut_status ? machine->cut_status : STATUS_MACHINE);
        }
        break;
    case EVENT_ANSWERED: take_answered(machine); break;
    case EVENT_BROKEN: take_broken(machine, event->phase); break;
    case EVENT_RESTART: take_restart(machine, event->phase); break;
    default: break;
    }
    meeting_take(machine, event);
}

static bool take_events(struct machine *machine)
{
    const struct controller_event *event;
    bool any = false;

    while ((event = controller_event(&machine->controller))) {
        take_event(machine, event);
        any = true;
    }
    return any;
}

/* Time ---------------------------------------------------------------------------------------- */

/* Ticks are counted, not the clock: while this process was stopped it has heard nobody. A tick
 * counts by the share of a processor that each process gets, for on a busy machine nodes are on
 * their way and show nothing. */
static void pass(struct machine *machine)
{
    unsigned share = launcher_share_permille(&machine->launcher);
    uint64_t passed_us = TICK_MS * (share > SHARE_MIN_PERMILLE ? share : SHARE_MIN_PERMILLE);

    controller_pass(&machine->controller, passed_us, now_us());
}

/* While a debugger has halted a node nobody is waited for. */
static void stand(struct machine *machine)
{
    controller_forgive(&machine->controller, now_us());
    if (is_in(machine, PHASE_DOWNLOAD) && !machine_is_broken(machine) &&
        ++machine->halt_ticks >= WAIT_TOLD_TICKS) {
        announce_halted(machine);
    }
}

static void on_tick(uv_timer_t *timer)
{
    struct machine *machine = timer->data;

    if (machine->stands) {
        stand(machine);
    } else {
        pass(machine);
    }
    if (is_in(machine, PHASE_DOWNLOAD)) {
        troubles_tell_download(&machine->programs);
    }
    if (is_in(machine, PHASE_RUN) && ++machine->ticks % TICKS_PER_S == 0) {
        troubles_tell_exits(&machine->programs);
    }
    programs_pass(&machine->programs, now_us());
    pump(machine);
}

/* Nothing is measured of a machine that is ready. */
static void update_tick(struct machine *machine)
{
    bool wanted = machine->stands || !is_in(machine, PHASE_READY);
    bool active = uv_is_active((uv_handle_t *)&machine->tick_timer);

    if (wanted && !active) {
        uv_timer_start(&machine->tick_timer, on_tick, TICK_MS, TICK_MS);
    } else if (!wanted && active) {
        uv_timer_stop(&machine->tick_timer);
    }
}

/* What has not come by now does not come, or is not written. */
static void stop_gather(struct machine *machine)
{
    if (is_writing(machine)) {
        atomic_store(&machine->aside.stop, true);
    } else {
        controller_stop(&machine->controller, now_us());
    }
}

/* The run is over before its end, with this status: says how far it has come. Programs are asked
 * before that what they do. */
static void cut_short(struct machine *machine, int status)
{
    enum controller_phase phase = is_filling(machine)   ? PHASE_DOWNLOAD
                                  : is_writing(machine) ? PHASE_GATHER
                                                        : machine->controller.phase;
    bool boots = phase == PHASE_BOOT;
    struct troubles_cut cut = {.phase = phase,
                               .interrupted = status != STATUS_TIMEOUT,
                               .limit_ms =
                                   boots ? machine->options.timeout_ms : machine->job.timeout_ms,
                               .done = boots ? machine->nodes_right : machine->job.receipts};

    machine->cut_status = status;
    machine->programs.interrupted = cut.interrupted;
    switch (phase) {
    case PHASE_BOOT:
        troubles_tell_cut(&machine->programs, &cut);
        give_up_boot(machine, status);
        break;
    case PHASE_DOWNLOAD:
        troubles_tell_cut(&machine->programs, &cut);
        if (is_filling(machine)) {
            end_filling(machine, status);
        } else {
            end_before_run(machine, status);
        }
        break;
    case PHASE_RUN: controller_time_out(&machine->controller, now_us()); break;
    case PHASE_READY:
        if (is_following_up(machine)) {
            machine->fetched_status = machine->fetched_status ? machine->fetched_status : status;
            stop_following_up(machine);
        }
        break;
    case PHASE_GATHER:
        cut.done = machine->controller.gather.done;
        troubles_tell_cut(&machine->programs, &cut);
        stop_gather(machine);
        break;
    default: break;
    }
    pump(machine);
}

static void on_bound(uv_timer_t *timer)
{
    struct machine *machine = timer->data;

    machine->bounded = false;
    if (!machine_is_broken(machine) || is_writing(machine) ||
        is_following_up(machine)) { /* else it is about to end */
        cut_short(machine, STATUS_TIMEOUT);
    }
}

bool machine_interrupt(struct machine *machine, int status)
{
    bool goes_on = is_filling(machine) || is_following_up(machine) || is_in(machine, PHASE_BOOT) ||
                   is_in(machine, PHASE_DOWNLOAD) || is_in(machine, PHASE_RUN) ||
                   is_in(machine, PHASE_GATHER);
    bool ends = machine->cut_status != status && (is_writing(machine) || is_following_up(machine) ||
                                                  (goes_on && !machine_is_broken(machine)));

    if (ends) {
        cut_short(machine, status);
    }
    return ends;
}

static void go_on_bound(struct machine *machine)
{
    if (machine->bounded && !machine->stands) {
        uv_timer_start(&machine->bound_timer, on_bound, machine->bound_left_ms, 0);
    }
}

static void hold_bound(struct machine *machine)
{
    if (uv_is_active((uv_handle_t *)&machine->bound_timer)) {
        machine->bound_left_ms = uv_timer_get_due_in(&machine->bound_timer);
        uv_timer_stop(&machine->bound_timer);
    }
}

static void bound(struct machine *machine, uint32_t timeout_ms)
{
    machine->bounded = true;
    machine->bound_left_ms = timeout_ms;
    go_on_bound(machine);
}

/* The clocks begin to stand still, or go on. */
static void update_clocks(struct machine *machine)
{
    bool stands = debuggers_halt_any(&machine->debuggers), stood = machine->stands;

    machine->stands = stands;
    if (stands && !stood) {
        machine->halt_ticks = 0;
        hold_bound(machine);
    } else if (!stands && stood) {
        go_on_bound(machine);
    }
    update_tick(machine);
}

/* What moves the controller on ---------------------------------------------------------------- */

/* Lets the controller do all that it can now. What it tells may make requests of it, which need
 * not pump again. */
static void pump(struct machine *machine)
{
    bool more = true;

    if (machine->pumping || !machine->handles_open) {
        return;
    }
    machine->pumping = true;
    take_events(machine);
    /* Bounded, for the loop must come to its timers, signals and clients also amid a large
     * download. */
    for (unsigned i = 0; i < STEPS_PER_PUMP && more; i++) {
        host_links_flush(&machine->links);
        more = controller_step(&machine->controller, now_us());
        more |= take_events(machine);
    }
    machine->pumping = false;
    update_tick(machine);
    host_links_wait(&machine->links, more, controller_deadline(&machine->controller));
}

void machine_move_on(struct machine *machine)
{
    pump(machine);
}

static void on_links_ready(void *context)
{
    pump(context);
}

static void on_died(void *context, uint32_t rank)
{
    struct machine *machine = context;

    machine->programs.nodes[rank].dead = true;
    debuggers_node_died(&machine->debuggers, rank);
    controller_node_died(&machine->controller, rank, now_us());
    update_clocks(machine);
}

static void on_news(void *context)
{
    struct machine *machine = context;

    launcher_reap(&machine->launcher, on_died, machine);
    pump(machine);
}

/* One signal may stand for several children, so each is asked. */
static void on_child_signal(uv_signal_t *handle, int number)
{
    struct machine *machine = handle->data;

    (void)number;
    jtag_reap(&machine->jtag);
    on_news(machine);
}

/* Debuggers ----------------------------------------------------------------------------------- */

static void on_debug_ready(void *context)
{
    struct machine *machine = context;

    machine->debug_ready = true;
    if (machine->target.blank && machine->owner.blank) {
        machine->owner.blank(machine->owner.context);
    }
    controller_release_boot(&machine->controller, now_us());
    pump(machine);
}

static void on_debug_changed(void *context, uint32_t rank, enum jtag_state state,
                             const char *holder)
{
    struct machine *machine = context;
    bool stood = machine->stands;

    if (rank >= nodes_of(machine)) {
        return;
    }
    debuggers_changed(&machine->debuggers, rank, state, holder);
    controller_halted(&machine->controller, rank, state != JTAG_RUNNING);
    update_clocks(machine);
    if (stood && !machine->stands && is_in(machine, PHASE_BOOT)) {
        machine->start_us = now_us(); /* the boot of nodes that were blank begins */
    }
    pump(machine);
}

static void on_debug_reset(void *context, uint32_t rank)
{
    struct machine *machine = context;

    /* A blank node has agreed on nothing that a reset could break. */
    if (rank >= nodes_of(machine) || machine->debuggers.nodes[rank].blank) {
        return;
    }
    debuggers_was_reset(&machine->debuggers, rank);
    controller_was_reset(&machine->controller, rank, now_us());
    pump(machine);
}

/* Before debuggers could connect the boot fails by that. */
static void on_debug_ended(void *context, const char *words)
{
    struct machine *machine = context;

    announce_debugging_gone(machine, words);
    if (!machine->debug_ready) {
        give_up_boot(machine, STATUS_MACHINE);
        pump(machine);
    }
}

static int start_debugging(struct machine *machine, const struct rundir *rundir,
                           struct message *message)
{
    struct jtag_owner owner = {.context = machine,
                               .ready = on_debug_ready,
                               .changed = on_debug_changed,
                               .was_reset = on_debug_reset,
                               .ended = on_debug_ended};
    struct jtag_options options = {.nodes = nodes_of(machine), .chain = machine->options.chain};

    if (!machine->target.jtag[0]) { /* QEMU serves debuggers itself, and tells nothing of them */
        machine->debug_ready = true;
        return 0;
    }
    for (uint32_t rank = 0; rank < options.nodes; rank++) {
        if (debuggers_halt(&machine->debuggers, rank)) {
            controller_halted(&machine->controller, rank, true);
        }
    }
    update_clocks(machine);
    return jtag_start(&machine->jtag, machine->loop, &machine->target, &options, rundir, &owner,
                      message);
}

/* Requests ------------------------------------------------------------------------------------ */

static int refuse_broken(const struct machine *machine, struct message *message)
{
    char text[RESET_TEXT_MAX], dead[DEAD_TEXT_MAX];

    if (controller_reset_mends(&machine->controller) &&
        debuggers_reset_text(&machine->debuggers, text)) {
        return message_set(message,
                           "the machine is broken, %s: reset all ('reset run' in OpenOCD), and it "
                           "boots anew, or end it with 'ecube down'",
                           text);
    }
    describe_dead_text(machine, dead);
    return message_set(message, "%s: end it with 'ecube down'", dead);
}

static int check_phase(struct machine *machine, struct message *message)
{
    if (machine_is_broken(machine)) {
        return refuse_broken(machine, message);
    }
    if (is_in(machine, PHASE_BOOT)) {
        return message_set(message, "the machine is still booting");
    }
    if (!is_in(machine, PHASE_READY) || machine->aside.active || is_following_up(machine)) {
        return message_set(message, "the machine is busy: another program is running");
    }
    return 0;
}

static void begin_download(struct machine *machine)
{
    programs_load(&machine->programs);
    machine->job_held = true;
    machine->job_number++;
    machine->wait_told = false;
    machine->halt_ticks = 0;
    machine->job.start_us = now_us();
    job_tell(&machine->job, &machine->teller);
    troubles_tell_download(&machine->programs);
    begin_injections(machine, PHASE_DOWNLOAD);
}

/* On a thread of the loop's. */
static void fill(uv_work_t *work)
{
    struct machine *machine = work->data;
    struct aside *aside = &machine->aside;

    aside->status = job_fill(&machine->job, nodes_of(machine), &aside->stop, &aside->message);
}

static void refuse_load(struct machine *machine, const char *text)
{
    drop_job(machine);
    unbound(machine);
    machine->owner.refused(machine->owner.context, text);
}

/* The data are there. Whoever wants them no more has been told. */
static void on_filled(uv_work_t *work, int status)
{
    struct machine *machine = work->data;

    (void)status;
    machine->aside.active = false;
    if (!machine->handles_open || machine->job.cancelled) {
        drop_job(machine);
        return;
    }
    if (machine->aside.status != 0) {
        refuse_load(machine, machine->aside.message.text);
        return;
    }
    struct controller_load load = job_load(&machine->job);
    if (controller_load(&machine->controller, &load, now_us()) != CONTROLLER_OK) {
        refuse_load(machine, "the machine is busy: another program is running");
        return;
    }
    begin_download(machine);
    pump(machine);
}

static void begin_filling(struct machine *machine)
{
    json_array_clear(machine->teller.troubles);
    machine->cut_status = 0; /* that was of a job before */
    if (!machine->bounded) {
        bound(machine, machine->job.timeout_ms);
    }
    do_aside(machine, ASIDE_FILLS, fill, on_filled);
}

static struct plan_cache *make_cache(const struct machine *machine, const struct network *network)
{
    const struct machine_options *options = &machine->options;

    return programs_make_cache(network, &options->profile, options->plans, options->plan_count,
                               options->algorithms);
}

int machine_load(struct machine *machine, struct job *job, struct message *message)
{
    int status;

    CHECK(machine->teller.telling == 0);
    status = check_phase(machine, message);
    if (status == 0 && !put_job_away(machine)) {
        status =
            message_set(message, "the machine is busy: nodes have not acknowledged the programs "
                                 "before this one: try again, or end it with 'ecube down'");
    }
    if (status != 0) {
        job_free(job);
        return -1;
    }
    machine->job = *job;
    *job = (struct job){0};
    if (machine->job.map) {
        machine->job.map->cache = make_cache(machine, &machine->job.map->network);
    }
    use_map(machine);
    begin_filling(machine);
    return 0;
}

void machine_cancel(struct machine *machine, int status)
{
    if (is_filling(machine)) {
        end_filling(machine, status);
    } else if (is_in(machine, PHASE_RUN)) {
        machine->job.status = status;
        controller_stop(&machine->controller, now_us());
        pump(machine);
    } else if (is_following_up(machine)) {
        machine->fetched_status = status;
        stop_following_up(machine);
    } else if (is_in(machine, PHASE_GATHER) || is_writing(machine)) {
        machine->job.end_status = status;
        stop_gather(machine);
        pump(machine);
    } else if (is_in(machine, PHASE_DOWNLOAD) && !machine->job.cancelled) {
        end_before_run(machine, status);
    }
}

void machine_line_taken(struct machine *machine, const struct line_receipt *receipt)
{
    struct program_node *node = &machine->programs.nodes[receipt->node];

    if (receipt->job == machine->job_number && node->running) { /* else of one that is over */
        text_lines_written(&node->text, receipt->bytes);
        tell_taken(machine, receipt->node);
        pump(machine);
    }
}

void machine_ask(struct machine *machine)
{
    controller_ask(&machine->controller, now_us());
    pump(machine);
}

void machine_ask_traffic(struct machine *machine)
{
    controller_ask_traffic(&machine->controller, now_us());
    pump(machine);
}

_Static_assert((int)HALTED_TEXT_MAX >= (int)DEBUG_TEXT_MAX, "it holds the debugger's name");

/* Of a node that a debugger has halted, by whom; for words. */
static bool is_halted(void *context, uint32_t rank, char text[HALTED_TEXT_MAX])
{
    const struct machine *machine = context;

    return debuggers_halt(&machine->debuggers, rank) &&
           debuggers_text(&machine->debuggers, rank, text);
}

/* Start and end ------------------------------------------------------------------------------- */

static void open_handles(struct machine *machine)
{
    uv_timer_init(machine->loop, &machine->bound_timer);
    machine->bound_timer.data = machine;
    uv_timer_init(machine->loop, &machine->tick_timer);
    machine->tick_timer.data = machine;
    for (unsigned i = 0; i < INJECTIONS_MAX; i++) {
        uv_timer_init(machine->loop, &machine->injection_timers[i]);
        machine->injection_timers[i].data = machine;
    }
    meeting_open(machine);
    uv_signal_init(machine->loop, &machine->child_signal);
    machine->child_signal.data = machine;
    uv_signal_start(&machine->child_signal, on_child_signal, SIGCHLD);
    machine->handles_open = true;
}

static uint64_t patience_us(const struct machine *machine)
{
    uint32_t patience_ms = machine->options.patience_ms;

    return (patience_ms ? patience_ms : (uint32_t)DEAD_AFTER_MS) * UINT64_C(1000);
}

static int start_controller(struct machine *machine, struct message *message)
{
    const struct machine_options *options = &machine->options;
    struct controller_config config = {.links = machine->links.links,
                                       .network = &options->network,
                                       .profile = options->profile,
                                       .paths = options->paths,
                                       .dead_after_ms = options->link_patience_ms
                                                            ? options->link_patience_ms
                                                            : options->patience_ms,
                                       .incarnation = incarnation_next(0, now_us()),
                                       .patience_us = patience_us(machine),
                                       .boot_held = machine->target.jtag[0] != '\0',
                                       .attended = machine->owner.met != NULL};

    machine->cache = make_cache(machine, &machine->network);
    config.cache = machine->cache;
    machine->controller_memory = malloc(controller_memory_bytes(&options->network));
    if (!machine->controller_memory) {
        return message_set(message, "out of memory");
    }
    machine->links.ready = on_links_ready;
    machine->links.context = machine;
    if (host_links_open(&machine->links, machine->loop, machine->launcher.host_fds,
                        network_host_links(&options->network), message) != 0) {
        return -1;
    }
    machine->incarnation = config.incarnation;
    config.memory = machine->controller_memory;
    controller_init(&machine->controller, &config, now_us());
    begin_injections(machine, PHASE_BOOT);
    return 0;
}

int machine_start(struct machine *machine, uv_loop_t *loop, const struct machine_options *options,
                  const struct target *target, const struct rundir *rundir,
                  const struct machine_owner *owner, struct message *message)
{
    *machine = (struct machine){.loop = loop,
                                .options = *options,
                                .owner = *owner,
                                .target = *target,
                                .network = options->network,
                                .start_us = now_us()};
    snprintf(machine->rundir, sizeof machine->rundir, "%s", rundir->path);
    machine->teller = (struct teller){.context = owner->context,
                                      .emit = owner->emit,
                                      .print = owner->print,
                                      .troubles = json_array()};
    machine->programs = (struct programs){.owner = {.context = machine, .halted = is_halted},
                                          .network = &machine->options.network,
                                          .controller = &machine->controller,
                                          .teller = &machine->teller,
                                          .job = &machine->job,
                                          .kernel = machine->target.kernel,
                                          .verbose = options->verbose};
    if (!machine->teller.troubles || !programs_init(&machine->programs) ||
        !traffic_init(&machine->traffic, &machine->options.network) ||
        !debuggers_init(&machine->debuggers, options->network.nodes, target->blank)) {
        return message_set(message, "out of memory");
    }
    open_handles(machine);         /* before the first child: its end must not be missed */
    if (options->timeout_ms > 0) { /* what follows counts, too */
        bound(machine, options->timeout_ms);
    }
    if (options->join &&
        options->join->join(options->join->context, loop, rundir, target, message) != 0) {
        return -1;
    }
    if (launcher_start(&machine->launcher, &options->network, options->crossings,
                       options->crossing_count, target, rundir, options->place, message) != 0 ||
        start_controller(machine, message) != 0 || start_debugging(machine, rundir, message) != 0) {
        return -1;
    }
    launcher_listen(&machine->launcher, on_news, machine);
    tell_progress(&machine->teller, "boot", 0, nodes_of(machine));
    pump(machine);
    return 0;
}

void machine_close(struct machine *machine)
{
    uv_handle_t *handles[] = {(uv_handle_t *)&machine->bound_timer,
                              (uv_handle_t *)&machine->tick_timer,
                              (uv_handle_t *)&machine->child_signal};

    if (!machine->handles_open) {
        return;
    }
    CHECK(machine->teller.telling == 0);
    machine->handles_open = false;
    host_links_close(&machine->links);
    for (unsigned i = 0; i < sizeof handles / sizeof handles[0]; i++) {
        uv_close(handles[i], NULL);
    }
    for (unsigned i = 0; i < INJECTIONS_MAX; i++) {
        uv_close((uv_handle_t *)&machine->injection_timers[i], NULL);
    }
    launcher_stop(&machine->launcher);
    jtag_stop(&machine->jtag);
    atomic_store(&machine->aside.stop, true);
    meeting_close(machine);
    while (machine->aside.active || machine->meeting.works) {
        uv_run(machine->loop, UV_RUN_ONCE); /* for a slice of the data at most */
    }
}

void machine_free(struct machine *machine)
{
    free_job(machine);
    free_sent(machine);
    meeting_free(machine);
    programs_free(&machine->programs);
    traffic_free(&machine->traffic);
    json_decref(machine->teller.troubles);
    host_links_free(&machine->links);
    debuggers_free(&machine->debuggers);
    free(machine->controller_memory);
    machine->controller_memory = NULL;
    plan_cache_free(machine->cache);
    machine->cache = NULL;
}
