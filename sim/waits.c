/*
 * waits.c - who waits for whom, in words.
 */
#include <stdio.h>

#include "drivers/status.h"
#include "node/state.h"
#include "sim/actor.h"
#include "sim/fault.h"
#include "sim/state.h"
#include "sim/task.h"
#include "sim/waits.h"

static const char *const operations[] = {"barrier", "broadcast", "scatter", "gather", "exchange"};

const char *wait_operation(uint32_t operation)
{
    return operations[operation % SCHEDULE_OPERATIONS];
}

static void collective_text(const struct node *node, char *text, size_t room)
{
    const struct collective *c = &node->collective;
    uint32_t rank = node->router.id;
    const char *name = wait_operation(c->arguments.operation);

    if (!c->walking)
        snprintf(text, room, "node %u waits for node %u to enter %s", rank,
                 entry_partner(node, c->round), name);
    else if (!c->step_open)
        snprintf(text, room, "node %u waits for bytes of %s under way (%u in, %u out)", rank, name,
                 c->receives_pending, c->sends_pending);
    else
        snprintf(text, room, "node %u waits in step %u of %s for node %u%s%s%s", rank, c->step.step,
                 name, c->step.peer, c->step_waits & STEP_SEND ? ", to begin its send" : "",
                 (c->step_waits & STEP_SENDS) == STEP_ANSWER ? ", for the answer to its circuit"
                                                             : "",
                 c->step_waits & STEP_RECEIVE ? ", for its circuit" : "");
}

static void request_text(const struct node *node, const struct request *request, char *text,
                         size_t room)
{
    static const char *const states[] = {"not announced", "announced",       "stored there",
                                         "wanted there",  "circuit opening", "moving",
                                         "done"};

    if (request->kind == REQUEST_COLLECTIVE)
        collective_text(node, text, room);
    else if (request->kind == REQUEST_SEND)
        snprintf(text, room, "node %u waits to send %u bytes to node %d (%s)", node->router.id,
                 request->bytes, request->peer, states[request->state]);
    else
        snprintf(text, room, "node %u waits to receive from node %d, tag %d", node->router.id,
                 request->peer, request->tag);
}

/* A node whose program has not started: what it does in the download. */
static void load_text(const struct sim *sim, uint32_t rank, char *text)
{
    const struct node *node = sim_node(sim, rank);
    const struct load *load = &node->load;

    if (node->router.id == ID_UNKNOWN)
        snprintf(text, SIM_TEXT_MAX, "node %u does not know its number yet", rank);
    else if (load->state == LOAD_SENDING && load->left > 1)
        snprintf(text, SIM_TEXT_MAX, "node %u waits for node %u to take the image", rank,
                 load_child(node));
    else if (load->state == LOAD_RECEIVING)
        snprintf(text, SIM_TEXT_MAX, "node %u waits for the bytes of its image", rank);
    else if (node->program == PROGRAM_LOADED)
        snprintf(text, SIM_TEXT_MAX, "node %u waits for the start of its program", rank);
    else
        snprintf(text, SIM_TEXT_MAX, "node %u waits for its image", rank);
}

static void task_text(const struct sim *sim, uint32_t rank, char *text)
{
    const struct task *task = &sim->tasks[rank];
    const struct node *node = sim_node(sim, rank);

    if (task->state == TASK_NONE)
        load_text(sim, rank, text);
    else if (task->state == TASK_WAITS)
        request_text(node, &node->requests[task->request], text, SIM_TEXT_MAX);
    else
        snprintf(text, SIM_TEXT_MAX, "node %u waits for messages: %u of %u sent, %u received", rank,
                 task->sent, task->sends, task->received);
}

unsigned sim_waits(const struct sim *sim, char (*text)[SIM_TEXT_MAX], unsigned lines)
{
    unsigned count = 0;

    for (uint32_t rank = 0; rank < sim->count; rank++) {
        bool loaded = sim->phase == SIM_DOWNLOAD && sim->actors[rank].receipted;
        if (sim->tasks[rank].state == TASK_ENDED || loaded)
            continue;
        if (count < lines)
            task_text(sim, rank, text[count]);
        count++;
    }
    return count;
}
