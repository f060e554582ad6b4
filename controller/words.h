/*
 * words.h - what the controller has found, in words: the tool and the simulator say the same.
 *
 * Context  any; pure, text goes where the caller says and is cut to its room
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "network/network.h"

struct cable_fault;
struct controller;
struct controller_event;
struct state_body;

enum { WORDS_MAX = 480 };

/* "crossed: link 1-3 (dimension 1) leads from node 1 to node 7, port 1": a whole sentence. */
void words_of_cable(const struct cable_fault *fault, char text[WORDS_MAX]);

/* A whole sentence for EVENT_BOOT_FAILED (but BOOT_HELD, whose reason the owner knows),
 * EVENT_LOAD_WAITS, EVENT_LOAD_FAILED, EVENT_FAULT of a wrong map, EVENT_DISAGREE, EVENT_NO_PLAN,
 * EVENT_LINK_DIED, EVENT_ENDED with ENDED_STANDS; false for others. */
bool words_of_event(const struct controller *controller, const struct controller_event *event,
                    char text[WORDS_MAX]);

/* The same for EVENT_LINK_DIED, with another reason than the event's. */
void words_of_dead_link(const struct controller *controller, const struct controller_event *event,
                        const char *why, char text[WORDS_MAX]);

/* "waits to receive from rank 3, tag 5, by testing, whose program has ended", "computes": what the
 * program of a node does; its place would follow. */
void words_of_state(const struct controller *controller, uint32_t rank, char text[WORDS_MAX]);
/* The same of an answer that has come another way. */
void words_of_doing(const struct controller *controller, uint32_t rank,
                    const struct state_body *state, char text[WORDS_MAX]);
/* What it has asked for besides, and what has come unasked, behind that: " (2 open requests)",
 * " (one of 3 open requests, 64 messages not received)", or nothing. */
void words_of_requests(const struct controller *controller, uint32_t rank, char text[WORDS_MAX]);

/* "node 3 (rank 3) waits to receive from rank 5"; `doing` is what words_of_state says, and what the
 * owner adds. */
void words_of_wait(const struct network *network, uint32_t rank, const char *doing, char *text,
                   size_t room);
/* "programs wait for each other in a circle: rank 0 for 1 for 0", "the program of rank 0 waits for
 * itself", of what waits_circle has found:
 * all of it, unless there is no room to name them. */
void words_of_circle(const struct network *network, const uint32_t *ranks, uint32_t length,
                     char text[WORDS_MAX]);
/* "broadcast of 4 bytes with root 1" */
void words_of_collective(const struct network *network, uint32_t operation, uint32_t bytes,
                         uint32_t root, char *text, size_t room);

/* "boot", "idle", "download" or "run"; "carrier lost, cut or its device gone" */
const char *words_of_phase(unsigned phase);
const char *words_of_dead(unsigned reason);
