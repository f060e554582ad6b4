/*
 * circuit_state.h - the states of a circuit, where it begins and at each in-port that it comes in
 * by.
 *
 * A circuit is two machines. Where it begins it is a source (struct source); at the in-port of each
 * node on its way, the last one included, it is a circuit (struct circuit).
 *
 *   circuit at an in-port
 *
 *           OPEN arrives            OPEN goes on            ACCEPT
 *     FREE -------------> HELD ------------------> OPENED ----------> FLOWING
 *      ^                   | |                       |  |                ^ |
 *      |      owner is told| | accepted or refused   |  | refused: its   | |
 *      |                   v | before it was told    |  | bytes are on   | |
 *      |                OFFERED ---------------------|--|-- their way    | |
 *      |                   |    accepted, or refused:|  +----------------+ |
 *      |                   |    bytes are on the way |                     |
 *      +-------------------+-------------------------+---------------------+
 *        no bytes follow     last byte has gone on     last byte has gone on,
 *        (refused, inline)   before the answer         or the link has died
 *
 *   source
 *
 *           router_open           OPEN goes             ACCEPT
 *     FREE -------------> WAITING ------------> OPENED ----------> FLOWING
 *      ^                     |                    |                   |
 *      |                     | refused            | no bytes follow,  | last byte is
 *      |                     v                    v or all are sent   v handed over,
 *      +----------------- DRAINING <--------------+-------------------+ or link died
 *        answered, and all
 *        acknowledged
 *
 * Either waits for its owner where it flows: a source that has handed over all that it was given,
 * for router_feed; a circuit that ends here and whose sink is full, for router_sink. Nothing goes
 * out behind the one meanwhile, and nothing is taken behind the other.
 *
 * What each state waits for, and for how long, is the list in README.md.
 *
 * Errors   a change that is not in the tables fails a CHECK
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum circuit_state {
    CIRCUIT_FREE,
    CIRCUIT_HELD,    /* its OPEN is held here, for a busy link, its turn, or to be told of */
    CIRCUIT_OFFERED, /* its OPEN is held here; its owner knows, and answers when it is ready */
    CIRCUIT_OPENED,  /* its OPEN went on; no answer yet */
    CIRCUIT_FLOWING, /* answered: its bytes flow, on, to the owner, or nowhere */
    CIRCUIT_STATES
};

enum source_state {
    SOURCE_FREE,
    SOURCE_WAITING, /* its OPEN waits here for the link or its turn */
    SOURCE_OPENED,  /* its OPEN is on its way; no answer yet */
    SOURCE_FLOWING, /* answered: its bytes are handed to the link */
    /* nothing more is handed over; not all is acknowledged yet, or there is no answer yet */
    SOURCE_DRAINING,
    SOURCE_STATES
};

/* Whether a state may follow another, by the pictures above. */
static inline bool circuit_follows(uint8_t state, enum circuit_state next)
{
    static const uint8_t follows[CIRCUIT_STATES] = {
        [CIRCUIT_FREE] = 1 << CIRCUIT_HELD,
        [CIRCUIT_HELD] =
            1 << CIRCUIT_OFFERED | 1 << CIRCUIT_OPENED | 1 << CIRCUIT_FLOWING | 1 << CIRCUIT_FREE,
        [CIRCUIT_OFFERED] = 1 << CIRCUIT_FLOWING | 1 << CIRCUIT_FREE,
        [CIRCUIT_OPENED] = 1 << CIRCUIT_FLOWING | 1 << CIRCUIT_FREE,
        [CIRCUIT_FLOWING] = 1 << CIRCUIT_FREE,
    };

    return follows[state] >> next & 1;
}

static inline bool source_follows(uint8_t state, enum source_state next)
{
    static const uint8_t follows[SOURCE_STATES] = {
        [SOURCE_FREE] = 1 << SOURCE_WAITING,
        [SOURCE_WAITING] = 1 << SOURCE_OPENED | 1 << SOURCE_DRAINING,
        [SOURCE_OPENED] = 1 << SOURCE_FLOWING | 1 << SOURCE_DRAINING,
        [SOURCE_FLOWING] = 1 << SOURCE_DRAINING,
        [SOURCE_DRAINING] = 1 << SOURCE_FREE,
    };

    return follows[state] >> next & 1;
}
