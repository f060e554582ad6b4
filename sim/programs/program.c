/*
 * program.c - lets simulated programs go on: when a call is complete, or model time has come.
 *
 * A task that waits is in a system call of its node (TASK_WAITS), as a real one is. What must be
 * asked for again after each step of a node is on `polls` of its actor; a wait for one request is
 * not, because its node tells when that is over.
 *
 *     scenario_source --+   next: a call, a pause, a look       node_call, node_resume
 *                       +--> pump (program.c) ----------------> the real node
 *     native_source ----+   <---------------------------------- result; blocked: asked again
 *        a fiber for each rank                                    after each step of the node
 *
 * The pump knows no scenario and no fiber. It makes a call when model time has come to the
 * program's clock, and a send when model time has come to the end of its start-up. Of several
 * requests it takes the one that ends first, when model time has come to that end. A program that
 * computes or sleeps is no program that stands still.
 *
 * What native programs have left is fetched as from nodes (`sim_options.outputs`), after their run
 * and before it is over: links and nodes work, no program does.
 *
 * A native rank has a window of 4 GiB, in which its memory lies at a board's addresses
 * (`include/ecube/gate.h`): what the kernel calls an address is the lower half of a pointer, and
 * `node/call.c` needs to know nothing of it. A rank that faults is left where it is, and its node
 * reports the fault as on a board.
 */
#include "sim/programs/program.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/node.h"
#include "sim/core/loop.h"
#include "sim/core/partition.h"
#include "sim/core/several.h"
#include "sim/observe/trace.h"

void program_over(struct sim *sim, uint32_t rank, int32_t status)
{
    struct task *task = &sim->tasks[rank];

    if (task->state == TASK_ENDED) {
        return;
    }
    task->state = TASK_ENDED;
    task->status = status;
    sim_partition(sim, rank)->got_on = true;
    sim_partition(sim, rank)->ended++;
    several_ended(sim_partition(sim, rank), rank, status);
}

/* EXIT or ABORT. A program that STOP has ended makes no call any more. */
static void end(struct sim *sim, uint32_t rank, uint32_t number, int32_t status)
{
    uint32_t arguments[4] = {(uint32_t)status};
    int32_t result;

    sim_partition(sim, rank)->calls++;
    if (node_program_runs(sim_node(sim, rank))) {
        CHECK(node_call(sim_node(sim, rank), sim->wall_ns / 1000, number, arguments, &result) ==
              NODE_END);
    }
    program_over(sim, rank, status);
}

static void abort_run(struct sim *sim, uint32_t rank)
{
    sim->actors[rank].aborts = false;
    end(sim, rank, ECUBE_CALL_ABORT, SIM_ABORT_STATUS);
}

/* What it has begun its node goes on with. A call that it waits in ends with it. */
bool program_abort(struct sim *sim, uint32_t rank)
{
    const struct task *task = &sim->tasks[rank];

    if (sim->actors[rank].dead || task->state == TASK_ENDED) {
        return false;
    }
    if (task->state == TASK_NONE) {
        sim->actors[rank].aborts = true;
        return true;
    }
    if (!node_program_runs(sim_node(sim, rank))) {
        return false; /* STOP has come */
    }
    abort_run(sim, rank);
    sim_wake(sim, rank);
    return true;
}

static void sleep_until(struct sim *sim, uint32_t rank, uint64_t until_ns)
{
    struct task *task = &sim->tasks[rank];

    if (task->wake_ns != until_ns) {
        task->wake_ns = until_ns;
        partition_at_model(sim_partition(sim, rank), until_ns, DUE_PROGRAM, rank);
    }
}

/* Model time at which the first of the requests that a WAIT_ANY names has ended, 0: none has. One
 * that has ended on its links may still be behind another in model time. */
static uint64_t first_end(const struct node *node, const struct program_step *step)
{
    const struct ecube_abi_set *set =
        program_structure(node, step->arguments[0], sizeof(struct ecube_abi_set));
    const int32_t *numbers =
        set && !set->poll && set->count <= ECUBE_REQUESTS_MAX
            ? program_structure(node, set->requests, set->count * (uint32_t)sizeof *numbers)
            : NULL;
    uint64_t first_ns = UINT64_MAX;

    for (uint32_t i = 0; numbers && i < set->count; i++) {
        const struct request *request = &node->requests[(uint32_t)numbers[i] % ECUBE_REQUESTS_MAX];
        if (request->state == STATE_DONE && request->done_ns < first_ns) {
            first_ns = request->done_ns;
        }
    }
    return first_ns == UINT64_MAX ? 0 : first_ns;
}

/* Model time at which a program makes the call that it is at. A message asks for its first link
 * when its start-up is over; until then the program takes no other end, which would move its clock.
 * Of several requests the first to end is taken when model time has come to its end. */
static uint64_t call_ns(const struct sim *sim, uint32_t rank)
{
    const struct program_step *step = &sim->tasks[rank].step;
    uint64_t clock_ns = program_clock(sim, rank);

    switch (step->number) {
    case ECUBE_CALL_SEND: return clock_ns + sim->options.profile.xi_ns;
    case ECUBE_CALL_WAIT_ANY: return clock_max(clock_ns, first_end(sim_node(sim, rank), step));
    default: return clock_ns;
    }
}

static void called(struct sim *sim, uint32_t rank, int32_t result)
{
    struct task *task = &sim->tasks[rank];

    task->result = result;
    task->state = TASK_READY;
}

/* Makes the call that the program is at, or asks for it again; false: it is not complete. */
static bool call(struct sim *sim, uint32_t rank, bool again)
{
    struct task *task = &sim->tasks[rank];
    struct node *node = sim_node(sim, rank);
    const struct program_step *step = &task->step;
    uint64_t now_us = sim->wall_ns / 1000, progress = node->progress;
    int32_t result = E_CANCELLED;

    sim_partition(sim, rank)->calls += !again;
    enum node_verdict verdict =
        again ? node_resume(node, now_us, &result)
              : node_call(node, now_us, step->number, step->arguments, &result);
    if (sim->trace) {
        trace_node(sim, rank);
    }
    if (task->state == TASK_ENDED) {
        return false; /* what the node sent has killed it */
    }
    if (verdict == NODE_RESUME) {
        called(sim, rank, result);
    } else if (verdict == NODE_BLOCK) {
        task->state = TASK_WAITS;
        sim->actors[rank].polls = step->number != ECUBE_CALL_WAIT;
    }
    sim_partition(sim, rank)->got_on |= node->progress != progress;
    return verdict == NODE_RESUME;
}

static void fault(struct sim *sim, uint32_t rank)
{
    struct fault fault = sim->source->fault(sim, rank);

    sim_partition(sim, rank)->calls++;
    if (node_program_runs(sim_node(sim, rank))) {
        node_fault(sim_node(sim, rank), sim->wall_ns / 1000, &fault);
    }
    several_stopped_at(sim_partition(sim, rank), rank);
    program_over(sim, rank, sim_node(sim, rank)->exit_status);
}

/* The program goes on at a model time. One that waits for several requests looks anew after each
 * step of its node: another may end before. */
static void wait_until(struct sim *sim, uint32_t rank, uint64_t at_ns)
{
    struct task *task = &sim->tasks[rank];
    bool looks = task->asked && task->step.number == ECUBE_CALL_WAIT_ANY;

    task->state = looks ? TASK_POLLS : TASK_SLEEPS;
    sim->actors[rank].polls = looks;
    sleep_until(sim, rank, at_ns);
}

/* Takes the step that the source has said; false: the program waits, or has ended. */
static bool take_step(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    const struct program_step *step = &task->step;
    bool first = !task->asked;

    task->asked = false;
    task->state = TASK_READY;
    switch ((enum program_step_kind)step->kind) {
    case STEP_CALL:
        if (step->number == ECUBE_CALL_EXIT || step->number == ECUBE_CALL_ABORT) {
            end(sim, rank, step->number, (int32_t)step->arguments[0]);
            return false;
        }
        if (first && (step->number == ECUBE_CALL_SEND || call_ns(sim, rank) > sim->now_ns)) {
            task->asked = true;
            wait_until(sim, rank, call_ns(sim, rank));
            return false;
        }
        return call(sim, rank, false);
    case STEP_PAUSE: wait_until(sim, rank, step->until_ns); return false;
    case STEP_POLL:
        task->state = TASK_POLLS;
        sim->actors[rank].polls = true;
        if (step->until_ns != UINT64_MAX) {
            sleep_until(sim, rank, step->until_ns);
        }
        return false;
    default: fault(sim, rank); return false;
    }
}

/* Lets the program go on until it waits. */
static void go_on(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    bool goes_on = task->state == TASK_READY || task->state == TASK_POLLS;

    sim->actors[rank].polls = false;
    while (goes_on) {
        uint64_t at_ns = task->asked ? call_ns(sim, rank) : program_clock(sim, rank);
        if (at_ns > sim->now_ns) {
            wait_until(sim, rank, at_ns);
            return;
        }
        if (!task->asked) {
            task->step = sim->source->next(sim, rank);
            if (task->state == TASK_ENDED) {
                return;
            }
        }
        goes_on = take_step(sim, rank);
    }
}

/* Whether the open call is to be asked for again: a wait for one request costs nothing until that
 * is over. */
static bool may_resume(struct sim *sim, uint32_t rank)
{
    const struct program_step *step = &sim->tasks[rank].step;
    const struct node *node = sim_node(sim, rank);

    if (step->number == ECUBE_CALL_WAIT) {
        return node->requests[step->arguments[0]].state == STATE_DONE;
    }
    uint64_t at_ns = step->number == ECUBE_CALL_WAIT_ANY ? first_end(node, step) : 0;
    if (at_ns > sim->now_ns) {
        sleep_until(sim, rank, at_ns);
    }
    return at_ns <= sim->now_ns;
}

/* Lets the program go on whose call is open, if that is complete. */
static bool resume(struct sim *sim, uint32_t rank)
{
    if (!may_resume(sim, rank) || !call(sim, rank, true)) {
        return false;
    }
    go_on(sim, rank);
    return true;
}

/* Its start has come, or is not to come; true: it is started. */
static bool start(struct sim *sim, uint32_t rank)
{
    struct node *node = sim_node(sim, rank);
    struct node_start start;

    /* stopped before its start, or STOP came and no START had; or its map is none */
    if (node->program == PROGRAM_EXITED || node->program == PROGRAM_FAULTED) {
        program_over(sim, rank, node->exit_status);
    } else if (node->program == PROGRAM_NONE && sim->phase == SIM_RUN) {
        program_over(sim, rank, E_CANCELLED);
    }
    if (!node_take_start(node, &start)) {
        return false;
    }
    sim->tasks[rank].state = TASK_READY;
    sim_partition(sim, rank)->got_on = true;
    sim->source->begin(sim, rank, &start);
    return true;
}

bool program_look(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct node *node = sim_node(sim, rank);
    struct partition *partition = sim_partition(sim, rank);
    uint64_t calls = partition->calls;

    switch ((enum task_state)task->state) {
    case TASK_ENDED: return false;
    case TASK_NONE:
        if (!start(sim, rank)) {
            return false;
        }
        if (sim->actors[rank].aborts) {
            abort_run(sim, rank);
            return true;
        }
        go_on(sim, rank);
        break;
    default:
        if (!node_program_runs(node)) {
            program_over(sim, rank, node->exit_status);
            return true;
        }
        if (task->state == TASK_WAITS) {
            resume(sim, rank);
        } else {
            go_on(sim, rank);
        }
        break;
    }
    return partition->calls != calls;
}

bool program_wake(struct sim *sim, uint32_t rank, uint64_t time_ns)
{
    struct task *task = &sim->tasks[rank];

    if (task->wake_ns != time_ns) {
        return false;
    }
    switch ((enum task_state)task->state) {
    case TASK_SLEEPS: task->state = TASK_READY; break;
    case TASK_POLLS:
    case TASK_WAITS: break;
    default: return false;
    }
    task->wake_ns = UINT64_MAX;
    if (task->state == TASK_WAITS) {
        return resume(sim, rank);
    }
    go_on(sim, rank);
    return true;
}

bool program_sleeps(const struct sim *sim, uint32_t rank)
{
    const struct task *task = &sim->tasks[rank];

    return task->state == TASK_SLEEPS ||
           (task->state == TASK_WAITS && task->step.number == ECUBE_CALL_SLEEP);
}
