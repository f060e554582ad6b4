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
 * What each state waits for, and for how long, is the list below; its rules are those of README.md.
 *
 * A circuit's life, and every time limit:
 *
 * 1. `router_open` (SOURCE_WAITING): the OPEN waits for its link: another's set-up, turn, place,
 *    room. No limit of its own: what it waits for ends by 3 to 7, or its link dies (8).
 * 2. The OPEN goes over the first link (SOURCE_OPENED). Frames are acknowledged, with data or after
 *    40 ms (ACK_DELAY_US), every fourth at once (UNACKNOWLEDGED_MAX), and at once if they ask for
 *    it (FLAG_ASK): those of a node short of slots, and those passed on from a port whose window is
 *    half full. Where bytes may be lost all that is not is sent again every 400 ms (RETRY_US), and
 *    a frame of which a part has come, and then nothing for 50 ms (PART_US), is given up: else a
 *    long one that has lost bytes would swallow short ones until the link is dead.
 * 3. At each hop it is held (CIRCUIT_HELD) as in 1, or refused by rule 2 or 5. The source has the
 *    answer and frees it; the node tries again after 2 ms (ANSWER_RETRY_US), then longer, up to a
 *    quarter of a second; after E_BUSY in 100 us (SOON_US), doubled ten times.
 * 4. It goes on (CIRCUIT_OPENED). A schedule's bytes follow at once; all others wait for the
 *    answer.
 * 5. At its node the owner is told (CIRCUIT_OFFERED) and accepts when it comes to it: no limit,
 *    rule 1 says that it will.
 * 6. ACCEPT or REFUSE goes back, link by link, to the oldest without an answer; it waits for no
 *    credit. Then bytes flow (CIRCUIT_FLOWING, SOURCE_FLOWING) as credit allows. Where word of
 *    credit may be lost it is asked for after 400 ms, and every 400 ms (FLAG_ASK). Between portions
 *    bytes, and a circuit's end, wait for the owner of either end (NOTICE_FEED, NOTICE_FILLED): no
 *    limit, it answers at once.
 * 7. With the last byte it closes at each hop (`circuit_close`). Its place on the link (`lane.h`)
 *    is free when the neighbour says that it has read all, which it does at once. The source drains
 *    until all is acknowledged (SOURCE_DRAINING), and closes (`source_close`).
 * 8. A link is dead when its carrier is lost, at once; when an acknowledgement, or credit that was
 *    asked for, is late by `dead_after_ms` (15 s if the host does not say otherwise in HELLO); or
 *    when a header says what cannot be. The host's own silence kills no link that loses no byte.
 *    Then: set-ups over it are answered E_LINK_DEAD; OPENs from it are dropped; bytes for it are
 *    thrown away at the hop before; bytes from it that will not come are made up for by one frame
 *    with ABORT, so every hop behind closes; sources drain.
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
