/*
 * ending.c - how the host ends a run: with its programs, or after a failure.
 *
 * A link that has died is told by the nodes at its ends; the host then gives the others a moment,
 * sends STOP, and counts programs that it cannot reach as ended.
 */
#include "drivers/status.h"
#include "router/router.h"
#include "sim/fault.h"
#include "sim/host.h"
#include "sim/loop.h"
#include "sim/program.h"
#include "sim/state.h"
#include "sim/task.h"
#include "wire/report.h"
#include "wire/run.h"

enum {
    GIVE_UP_MS = 20000, /* from STOP until programs that cannot be reached are given up */
    QUIET_MS = 5000 /* without progress, after which the nodes are asked; as host/mesh_query.c */
};

static const uint64_t ms_ns = 1000 * 1000;

/* Nodes that STOP does not reach have lost their way to the host. */
static void give_up(struct sim *sim)
{
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        if (sim->tasks[rank].state == TASK_ENDED)
            continue;
        sim_trouble(sim, about_node(SIM_TROUBLE_NODE_UNREACHABLE, rank),
                    "node %u waits, and the host cannot reach it", rank);
        sim->actors[rank].given_up = true;
        program_over(sim, rank, E_LINK_DEAD);
    }
}

static void name_failures(struct sim *sim)
{
    for (uint32_t rank = 0; rank < sim->count; rank++) {
        const struct task *task = &sim->tasks[rank];
        if (task->status != E_OK && task->status != E_CANCELLED && !sim->actors[rank].dead)
            sim_trouble(sim, about_error(SIM_TROUBLE_PROGRAM_FAILED, rank, task->status),
                        "node %u: %s", rank, status_text(task->status));
    }
}

void host_finish(struct sim *sim)
{
    uint64_t wrong = 0;

    for (unsigned i = 0; i < sim->result.line_count; i++)
        wrong += sim->result.lines[i].wrong;
    name_failures(sim);
    if (wrong)
        sim_end(sim, SIM_WRONG);
    sim_end(sim, sim->result.trouble_count || sim->deaths ? SIM_ERROR : SIM_GOOD);
}

void host_pump_failure(struct sim *sim)
{
    struct host *host = &sim->host;

    if (sim->wall_ns < host->stop_ns)
        return;
    if (sim->phase != SIM_RUN) {
        sim_end(sim, SIM_ERROR);
        return;
    }
    while (host->stopped < sim->count &&
           router_send(&host->router, PACKET_STOP, host->stopped, "", 0) == E_OK)
        host->stopped++;
    if (host->give_up_ns == UINT64_MAX)
        host->give_up_ns = sim->wall_ns + GIVE_UP_MS * ms_ns;
    else if (sim->wall_ns >= host->give_up_ns)
        give_up(sim);
}

/* When the nodes are asked what they do, though nobody wants to know: a question that a silent link
 * loses is an acknowledgement that it owes. */
uint64_t host_question_ns(const struct sim *sim)
{
    uint64_t since_ns = clock_max(sim->progress_ns, sim->host.asked_ns);

    return sim->phase == SIM_BOOT || sim->host.failing ? UINT64_MAX : since_ns + QUIET_MS * ms_ns;
}

void host_pump_questions(struct sim *sim)
{
    struct host *host = &sim->host;

    if (sim->wall_ns >= host_question_ns(sim)) {
        host->asked_ns = sim->wall_ns;
        host->asked = 0;
        sim->result.questions++;
    }
    while (host->asked_ns && host->asked < sim->count &&
           router_send(&host->router, PACKET_QUERY, host->asked, "", 0) == E_OK)
        host->asked++;
}
