/*
 * internal.h - what the files of the controller share; not for its users.
 *
 * controller.c takes what arrives and hands out events; the other files each know one part of a
 * machine's life. They send nothing at once: they note what is to be sent, and controller.c has
 * them try (..._pump) whenever the router may have room.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "controller/state.h"
#include "network/network.h"
#include "router/notice.h"
#include "wire/collective.h"
#include "wire/message.h"
#include "wire/plan.h"

/* What has no answer is sent again: an offer, COLLECT. */
enum {
    REPEAT_US = 300 * 1000, /* after which it is */
    RETRY_US = 20 * 1000    /* the same, of one that a node had no room for, or the router */
};

/* controller.c */
/* A new event of this kind in the present phase, which the caller fills. */
struct controller_event *controller_tell(struct controller *controller, enum event_kind kind);
/* Notes that a node is to be sent a packet (enum packet_due). */
void controller_due(struct controller *controller, uint32_t rank, uint8_t due);

static inline bool controller_has(const struct controller *controller, uint32_t rank,
                                  unsigned flags)
{
    return (controller->nodes[rank].flags & flags) != 0;
}

/* boot.c */
/* One more than the highest port of a node that has a link, the host link's included: what the node
 * itself counts. Below it a path's end node has ports without a link. */
unsigned boot_ports(const struct network *network, uint32_t rank);
bool boot_has_link(const struct network *network, uint32_t rank, unsigned port);
void boot_begin(struct controller *controller);
/* What a node has told of its links is so no more. */
void boot_forget(struct controller *controller, uint32_t rank);
void boot_links(struct controller *controller, uint32_t rank, const struct links_body *links);
void boot_pass(struct controller *controller, uint64_t passed_us);
void boot_check(struct controller *controller);
/* It fails, for the reason that there is. */
void boot_give_up(struct controller *controller);

/* cables.c */
/* How many links are known to lead elsewhere; `unsure`: or are beside those that do. */
uint32_t cables_crossed(const struct controller *controller, bool *unsure);

/* loader.c */
void loader_cts(struct controller *controller, uint32_t rank, const struct cts_body *cts);
/* RETRY or CANCEL, which answer an offer too. */
void loader_reply(struct controller *controller, uint32_t rank, uint8_t kind,
                  const struct rts_reply_body *reply);
void loader_receipt(struct controller *controller, uint32_t rank,
                    const struct receipt_body *receipt);
/* One of the host's circuits has been accepted or refused. */
void loader_notice(struct controller *controller, const struct notice *notice);
void loader_pass(struct controller *controller);
void loader_pump(struct controller *controller);

/* silence.c */
/* A node is to answer, or all are; they count as heard just now. */
void silence_await(struct controller *controller, uint32_t rank);
void silence_await_all(struct controller *controller);
/* A node has been heard, or is not to be waited for. */
void silence_heard(struct controller *controller, uint32_t rank);
void silence_forget(struct controller *controller, uint32_t rank);
/* For how long a node has said nothing. */
uint64_t silence_us(const struct controller *controller, uint32_t rank);
/* Asks those that have been silent for long. *rank: who has been so for longest;
 * CONTROLLER_NO_NODE: nobody is waited for. True: for too long. */
bool silence_too_long(struct controller *controller, uint32_t *rank);

/* gatherer.c */
/* What a node says, in a gather. */
void gatherer_packet(struct controller *controller, const struct notice *notice);
/* A circuit has come to the host; bytes of one have. */
void gatherer_open(struct controller *controller, unsigned port);
void gatherer_notice(struct controller *controller, const struct notice *notice);
void gatherer_pump(struct controller *controller);
void gatherer_pass(struct controller *controller);
/* Its owner gives it up. */
void gatherer_stop(struct controller *controller);

/* fetcher.c */
/* RECORDS. */
void fetcher_packet(struct controller *controller, const struct notice *notice);
void fetcher_pump(struct controller *controller);
uint64_t fetcher_deadline(const struct controller *controller);
/* Whether nodes still note what goes on that is to be fetched: no program may be stopped yet. */
bool fetcher_closes(const struct controller *controller);

/* regions.c */
/* What a node says, in a run. */
void regions_packet(struct controller *controller, const struct notice *notice);
/* Whether a circuit's token, or match, is of a region. */
bool regions_owns(uint32_t token);
/* A circuit has come to the host; what there is of circuits. */
void regions_open(struct controller *controller, unsigned port, const uint8_t *packet);
void regions_notice(struct controller *controller, const struct notice *notice);
void regions_pump(struct controller *controller);
uint64_t regions_deadline(const struct controller *controller);
/* A program has ended, or all are stopped: nobody waits for it. */
void regions_program_ended(struct controller *controller, uint32_t rank);

/* plans.c */
/* A node asks for its part of a plan, or for a prediction: the packet that it is owed. */
void plans_ask(struct controller *controller, uint32_t rank, uint8_t due,
               const struct plan_ask_body *ask);
/* Sends a node what it has asked for; E_FULL: there is no room. May make an event. */
__attribute__((warn_unused_result)) int plans_answer(struct controller *controller, uint32_t rank);

/* programs.c */
/* What nodes tell of their programs. */
void run_packet(struct controller *controller, const struct notice *notice);
/* Returns its event. */
struct controller_event *run_end(struct controller *controller, enum end_reason reason);
/* Sends START and STOP; false: there is no room for all of them. */
bool run_pump(struct controller *controller);
/* Whether a node has entered an operation for the second time, to say whether sizes agreed. */
bool run_is_on_sizes(const struct entry *entry);

/* query.c */
enum question_purpose {
    QUESTION_WATCH = 1,   /* do the programs stand? */
    QUESTION_TIMEOUT = 2, /* so they do when their time is over */
    QUESTION_SECOND = 4   /* and the time is over after this */
};
void query_ask(struct controller *controller, uint8_t purpose);
struct node_answer query_answer_of(const struct state_body *state);
void query_state(struct controller *controller, uint32_t rank, const struct state_body *state);
/* TRAFFIC has come. */
void query_traffic(struct controller *controller, const struct notice *notice);
/* Whether the question is over, which has not been told. */
static inline bool query_is_over(const struct controller *controller)
{
    const struct controller_question *question = &controller->question;
    bool forgotten = question->until_us == UINT64_MAX && controller->phase != PHASE_RUN;

    return question->open && (question->over || question->waiting == 0 || forgotten);
}
/* Tells it, and draws the conclusions. */
void query_finish(struct controller *controller);
/* A node is not waited for any more, or again. */
void query_leave(struct controller *controller, uint32_t rank);
void query_join(struct controller *controller, uint32_t rank);
/* The watch over programs begins, or begins anew. */
void query_watch(struct controller *controller);
void query_pass(struct controller *controller, uint64_t passed_us);
void query_step(struct controller *controller);
uint64_t query_deadline(const struct controller *controller);
void query_pump(struct controller *controller);

/* failure.c */
/* The machine is broken; FAILURE_COLLECT_MS later it is told why. */
void failure_break(struct controller *controller);
void failure_link(struct controller *controller, uint32_t node, uint32_t peer, uint8_t reason);
/* Tells the next death, or the next thing of a failure; false: there is none. */
bool failure_tell_death(struct controller *controller);
void failure_tell(struct controller *controller);
