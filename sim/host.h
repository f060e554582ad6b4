/*
 * host.h - the host of a simulation: boot, download, start, end.
 *
 * It acts last in a round, when all partitions have, and sees what they have done.
 *
 * Units    bytes, ns
 * Context  the loop, while no partition runs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "router/port.h"
#include "router/state.h"
#include "sim/options.h"

struct sim;

enum message_state { MESSAGE_WAITS, MESSAGE_OFFERED, MESSAGE_READY, MESSAGE_OPENED, MESSAGE_DONE };

struct load_message {
    uint32_t root, count, match;
    uint8_t state;
    bool sent;
};

/* The host: boot, download, start, end. */
struct host {
    struct router router;
    void *memory;
    struct link *links[PORTS_MAX];
    uint32_t peers[PORTS_MAX];
    struct load_message messages[NETWORK_HALVINGS_MAX + 1];
    unsigned message_count, message_next;
    uint32_t name;
    uint8_t *blocks, *image, *digests; /* what nodes are sent, and what they must answer */
    uint32_t image_bytes;
    uint64_t again_ns; /* wall time of the next repetition; UINT64_MAX: none */
    uint64_t base_ns, clock_ns, end_ns;
    uint32_t links_told, receipts, exits, started;
    uint32_t stopped; /* STOP has been sent to nodes below this */
    bool failing;
    uint64_t stop_ns, give_up_ns; /* wall times; UINT64_MAX: not now */
    uint64_t asked_ns;            /* wall time of the last question to all nodes; 0: none */
    uint32_t asked;               /* it has gone to nodes below this */
};

/* boot.c */
bool host_init(struct sim *sim);
void host_free(struct sim *sim);
/* Takes what has arrived and does what is next; true: it must be stepped once more. */
bool host_step(struct sim *sim);
/* Wall time of its next deadline, in us. */
uint64_t host_deadline(const struct sim *sim);

/* ending.c */
/* The programs have ended: says what is wrong with them. */
void host_finish(struct sim *sim);
/* A link is dead: stops the other programs, and gives up those that it cannot reach. */
void host_pump_failure(struct sim *sim);
/* Wall time at which the nodes are asked what they do; and asking. */
uint64_t host_question_ns(const struct sim *sim);
void host_pump_questions(struct sim *sim);
