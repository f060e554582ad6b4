/*
 * waits.c - what is told of a run that stands: who waits for whom.
 *
 * What programs wait for, and a circle of them, the controller has found in the nodes' answers
 * (STATE); it is told as the tool tells it. When there is no such circle, the simulator adds what
 * the answers cannot show: circuits that hold each other's links, on any number of routers, and
 * programs that wait for any of several messages (wait_search.c).
 */
#include "sim/observe/waits.h"

#include <stdio.h>

#include "controller/controller.h"
#include "controller/state.h"
#include "controller/waits.h"
#include "controller/words.h"
#include "sim/core/loop.h"
#include "sim/core/state.h"
#include "sim/programs/task.h"

enum { NODES_TOLD_MAX = 5, CIRCLE_TOLD_MAX = 128 };

/* False: no programs wait for each other, as far as the answers tell. */
static bool tell_circle(struct sim *sim)
{
    uint32_t ranks[CIRCLE_TOLD_MAX];
    uint32_t length = waits_circle(&sim->host.controller, ranks, CIRCLE_TOLD_MAX);
    char text[WORDS_MAX];

    if (length == 0 || length > CIRCLE_TOLD_MAX) {
        return false;
    }
    words_of_circle(&sim->options.network, ranks, length, text);
    sim_trouble(sim, about(SIM_TROUBLE_WAITS), "%s", text);
    return true;
}

/* Circuits in a circle; or those for whom others wait, and who wait for nobody. */
static void tell_circuits(struct sim *sim)
{
    struct wait_found found;

    if (!wait_search(sim, &found) || found.line_count == 0) {
        return;
    }
    sim_trouble(sim, about(SIM_TROUBLE_WAITS),
                found.cycle ? "deadlock, each waits for the next:"
                            : "nobody waits in a circle; all wait for these:");
    for (unsigned i = 0; i < found.line_count; i++) {
        sim_trouble(sim, about(SIM_TROUBLE_WAITS), "  %s", found.lines[i]);
    }
    if (found.cycle > found.line_count) {
        sim_trouble(sim, about(SIM_TROUBLE_WAITS), "  and %u more, and so round",
                    found.cycle - found.line_count);
    } else if (found.cycle) {
        sim_trouble(sim, about(SIM_TROUBLE_WAITS), "  and so round");
    }
}

/* A program that waits for any of its messages computes, as its node sees it. */
static void tell_polling(struct sim *sim, uint32_t rank, const struct wait_answer *answer)
{
    sim_trouble(sim, about_node(SIM_TROUBLE_WAITS, rank),
                "node %u (rank %u) waits for messages: %u of %u sent, %u received", (unsigned)rank,
                (unsigned)network_rank(&sim->options.network, rank), answer->task.sent,
                answer->task.sends, answer->task.received);
}

static void tell_node(struct sim *sim, uint32_t rank)
{
    const struct controller *controller = &sim->host.controller;
    char what[WORDS_MAX], requests[WORDS_MAX], doing[2 * WORDS_MAX], text[SIM_TEXT_MAX];

    words_of_state(controller, rank, what);
    words_of_requests(controller, rank, requests);
    snprintf(doing, sizeof doing, "%s%s", what, requests);
    words_of_wait(&sim->options.network, rank, doing, text, sizeof text);
    sim_trouble(sim, about_node(SIM_TROUBLE_WAITS, rank), "%s", text);
}

void sim_tell_waits(struct sim *sim)
{
    unsigned told = 0;

    if (!tell_circle(sim)) {
        tell_circuits(sim);
    }
    for (uint32_t rank = 0; rank < sim->count && told < NODES_TOLD_MAX; rank++) {
        if (sim->host.controller.nodes[rank].flags & NODE_RUNNING) {
            struct wait_answer answer;
            wait_ask(sim, &(struct wait_question){.kind = ASKED_TASK, .actor = rank}, &answer);
            if (answer.task.state == TASK_POLLS) {
                tell_polling(sim, rank, &answer);
            } else {
                tell_node(sim, rank);
            }
            told++;
        }
    }
}
