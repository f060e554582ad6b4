/*
 * host.h - the host of a simulation: the controller that people's tool runs, fed with simulated
 * time, and the user who sits at it.
 *
 * It acts last in a round, when all partitions have, and sees what they have done. What it says of
 * a failure are the controller's words. It is told of no death: as on a board, it sees links that
 * have died. It can be away itself (fault.h): stopped for a time, or dead.
 *
 * Units    bytes, ns
 * Context  the loop, while no partition runs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "controller/state.h"
#include "sim/core/memory.h"
#include "sim/options.h"
#include "wire/load.h"
#include "sim/result.h"

struct sim;

/* The segments of a scenario's load. */
enum { SCENARIO_IMAGE, SCENARIO_BLOCKS, SCENARIO_MAP };

/* A program that the user has stopped, and loads once more (SIM_CANCEL). */
enum host_again { AGAIN_NO, AGAIN_WANTED, AGAIN_LOADED };

/* Bytes that the program of a rank has printed: that have been read, that it knows of. */
struct host_text {
    uint32_t taken, told;
};

struct host {
    struct controller controller;
    struct link *links[CONTROLLER_HOST_LINKS_MAX];
    void *memory; /* of the controller, in the mapping of the simulation */
    struct controller_load load;
    struct download_message messages[DOWNLOAD_MESSAGES_MAX];
    /* what nodes of a scenario are sent, and what they must answer */
    uint8_t list[LOAD_LIST_HEADER_BYTES + SCENARIO_PROGRAMS * LOAD_PROGRAM_BYTES +
                 SCENARIO_SEGMENTS_MAX * LOAD_SEGMENT_BYTES];
    const uint8_t *strings[SCENARIO_SEGMENTS_MAX];
    const uint8_t (*segment_digests[SCENARIO_SEGMENTS_MAX])[DIGEST_BYTES];
    uint8_t *blocks, *image, *map;    /* map NULL: rank r is at node r */
    uint8_t (*digests)[DIGEST_BYTES]; /* of the blocks */
    uint8_t image_digest[1][DIGEST_BYTES], map_digest[1][DIGEST_BYTES], list_digest[DIGEST_BYTES];
    struct host_text *texts;  /* of each rank */
    uint64_t base_ns, end_ns; /* model time of the last download */
    uint32_t links_reported, receipts;
    uint64_t passed_ns;  /* wall time up to which controller_pass has been told */
    uint64_t active_ns;  /* progress that the controller knows of */
    bool stopping;       /* the machine is broken, or one has aborted: programs are told to stop */
    uint64_t give_up_ns; /* wall time at which those are that STOP does not reach */
    bool cancelled;      /* the user wants the program stopped */
    uint8_t again;       /* enum host_again */
    bool stands;         /* programs that are left wait for ever */
    uint32_t outputs_here;
    bool gathers;    /* what programs have left is being fetched; then the run is over with: */
    uint8_t verdict; /* enum sim_verdict */
    struct controller_outputs outputs; /* memory for it */
    struct sim_outputs left;
    uint64_t away_ns; /* wall time until which it does nothing; 0: it is there */
    bool dead;        /* for ever: the next one is another incarnation */
    uint16_t incarnation;
};

bool host_init(struct sim *sim);
void host_free(struct sim *sim);
/* Takes what has arrived and does what is next; true: it must be stepped once more. */
bool host_step(struct sim *sim);
/* Wall time of its next deadline, in us. */
uint64_t host_deadline(const struct sim *sim);

/* Memory that it has, beside what is untouched. */
uint64_t host_bytes(const struct sim *sim);

/* Asks all nodes what they wait for. */
void host_ask(struct sim *sim);
/* Tells that the programs that still run wait for ever, and for whom. */
void host_tell_stands(struct sim *sim);
/* Tells the dead links that the controller knows of and has not told yet: it waits for more. */
void host_tell_links(struct sim *sim);

/* The host does nothing for a wall time: what comes stays on its links. */
void host_stop(struct sim *sim, uint64_t length_ns);
/* The host dies, and all that it knew. A second later another one begins at the same links. */
void host_die(struct sim *sim, bool carrier_lost);
/* The user tries to load a second program, stops the first, and loads it again when he may. */
void host_cancel(struct sim *sim);
