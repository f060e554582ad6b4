/*
 * program.c - lets simulated programs go on: when a request is over, or model time has come.
 *
 * A task that waits is in a system call of its node (TASK_WAITS), as a real one is. One that waits
 * for any of several messages is in none (TASK_POLLS): it looks again after each step of its node,
 * which says of it that it computes.
 */
#include "sim/programs/program.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "node/node.h"
#include "sim/core/loop.h"
#include "sim/core/memory.h"
#include "sim/observe/trace.h"
#include "sim/core/partition.h"

enum { RESULT_AT = 64 }; /* in the arguments */

uint32_t program_arguments_address(const struct sim *sim)
{
    return PROGRAM_ADDRESS + sim->layout.blocks_bytes + sim->layout.image_room;
}

void *program_arguments(struct sim *sim, uint32_t rank)
{
    return sim_node(sim, rank)->config.program + sim->layout.blocks_bytes + sim->layout.image_room;
}

const struct ecube_abi_result *program_result(struct sim *sim, uint32_t rank)
{
    return (const void *)((uint8_t *)program_arguments(sim, rank) + RESULT_AT);
}

int32_t program_call(struct sim *sim, uint32_t rank, uint32_t number, uint32_t argument,
                     uint32_t other)
{
    uint32_t arguments[4] = {argument, other};
    int32_t result = E_CANCELLED;

    sim_partition(sim, rank)->calls++;
    if (node_call(sim_node(sim, rank), sim->wall_ns / 1000, number, arguments, &result) !=
        NODE_BLOCK) {
        return result;
    }
    CHECK(number == ECUBE_CALL_TEST); /* it rests; what polls here looks when something has come */
    return 0;
}

int32_t program_collective(struct sim *sim, uint32_t rank, const struct ecube_abi_collective *call)
{
    trace_collective(sim, rank, call->operation, call->block_bytes);
    memcpy(program_arguments(sim, rank), call, sizeof *call);
    return program_call(sim, rank, ECUBE_CALL_COLLECTIVE, program_arguments_address(sim), 0);
}

int32_t program_message(struct sim *sim, uint32_t rank, uint32_t call, int32_t peer, int32_t tag,
                        uint32_t data, uint32_t bytes)
{
    struct ecube_abi_message message = {data, bytes, peer, tag};

    memcpy(program_arguments(sim, rank), &message, sizeof message);
    return program_call(sim, rank, call, program_arguments_address(sim), 0);
}

int32_t program_test(struct sim *sim, uint32_t rank, int32_t request)
{
    return program_call(sim, rank, ECUBE_CALL_TEST, (uint32_t)request,
                        program_arguments_address(sim) + RESULT_AT);
}

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
}

static void abort_run(struct sim *sim, uint32_t rank)
{
    uint32_t arguments[4] = {SIM_ABORT_STATUS};
    int32_t result;

    sim->actors[rank].aborts = false;
    sim_partition(sim, rank)->calls++;
    CHECK(node_call(sim_node(sim, rank), sim->wall_ns / 1000, ECUBE_CALL_ABORT, arguments,
                    &result) == NODE_END);
    program_over(sim, rank, SIM_ABORT_STATUS);
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

/* Asks for the request that the program waits for. */
static enum node_verdict ask(struct sim *sim, uint32_t rank, bool again)
{
    struct task *task = &sim->tasks[rank];
    uint32_t arguments[4] = {(uint32_t)task->request, program_arguments_address(sim) + RESULT_AT};
    int32_t result = E_CANCELLED;

    sim_partition(sim, rank)->calls += !again;
    enum node_verdict verdict = again
                                    ? node_resume(sim_node(sim, rank), sim->wall_ns / 1000, &result)
                                    : node_call(sim_node(sim, rank), sim->wall_ns / 1000,
                                                ECUBE_CALL_WAIT, arguments, &result);

    if (task->state == TASK_ENDED) {
        return NODE_END; /* what the node sent has killed it */
    }
    if (verdict == NODE_RESUME) {
        task->result = result < 0 ? result : program_result(sim, rank)->status;
        task->state = TASK_READY;
        sim_partition(sim, rank)->got_on = true;
        trace_resumed(sim, rank, task->result);
    } else if (verdict == NODE_BLOCK) {
        task->state = TASK_WAITS;
    }
    return verdict;
}

/* Lets the program go on until it waits. */
static void go_on(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];

    sim->actors[rank].polls = false;
    while (task->state == TASK_READY || task->state == TASK_POLLS) {
        uint64_t clock_ns = program_clock(sim, rank);
        if (clock_ns > sim->now_ns) {
            task->state = TASK_SLEEPS;
            sleep_until(sim, rank, clock_ns);
            return;
        }
        struct next next = scenario_next(sim, rank);
        if (task->state == TASK_ENDED) {
            return;
        }
        switch (next.kind) {
        case NEXT_WAIT: ask(sim, rank, false); break;
        case NEXT_SLEEP:
            task->state = TASK_SLEEPS;
            sleep_until(sim, rank, next.until_ns);
            return;
        case NEXT_POLL:
            task->state = TASK_POLLS;
            sim->actors[rank].polls = true;
            if (next.until_ns != UINT64_MAX) {
                sleep_until(sim, rank, next.until_ns);
            }
            return;
        default: {
            uint32_t arguments[4] = {(uint32_t)task->status};
            int32_t result;
            sim_partition(sim, rank)->calls++;
            if (node_program_runs(sim_node(sim, rank))) {
                node_call(sim_node(sim, rank), sim->wall_ns / 1000, ECUBE_CALL_EXIT, arguments,
                          &result);
            }
            program_over(sim, rank, task->status);
            return;
        }
        }
    }
}

bool program_look(struct sim *sim, uint32_t rank)
{
    struct task *task = &sim->tasks[rank];
    struct node *node = sim_node(sim, rank);
    struct partition *partition = sim_partition(sim, rank);
    uint64_t calls = partition->calls;
    struct node_start start;

    if (task->state == TASK_ENDED) {
        return false;
    }
    if (task->state == TASK_NONE) {
        /* stopped before its start, or STOP came and no START had */
        if (node->program == PROGRAM_EXITED) {
            program_over(sim, rank, node->exit_status);
        } else if (node->program == PROGRAM_NONE && sim->phase == SIM_RUN) {
            program_over(sim, rank, E_CANCELLED);
        }
        if (!node_take_start(node, &start)) {
            return false;
        }
        task->state = TASK_READY;
        partition->got_on = true;
        if (sim->actors[rank].aborts) {
            abort_run(sim, rank);
            return true;
        }
    } else if (!node_program_runs(node)) {
        program_over(sim, rank, node->exit_status);
        return true;
    } else if (task->state == TASK_WAITS &&
               (node->requests[task->request].state != STATE_DONE || /* costs no call */
                ask(sim, rank, true) == NODE_BLOCK)) {
        return false;
    }
    go_on(sim, rank);
    return partition->calls != calls;
}

bool program_wake(struct sim *sim, uint32_t rank, uint64_t time_ns)
{
    struct task *task = &sim->tasks[rank];

    if (task->wake_ns != time_ns || (task->state != TASK_SLEEPS && task->state != TASK_POLLS)) {
        return false;
    }
    task->wake_ns = UINT64_MAX;
    if (task->state == TASK_SLEEPS) {
        task->state = TASK_READY;
    }
    go_on(sim, rank);
    return true;
}
