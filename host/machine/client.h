/*
 * client.h - the other end of serve.h: finds a machine that is up, asks it, and hands on what it
 * answers.
 *
 * Nobody waits for a process that is stopped, and for a first word only so long; the words behind
 * it may take as long as a program runs.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/console/message.h"

enum { CLIENT_ANSWER_MS = 3000 };

/* Connects to the control socket of the machine of this name. Where the machine takes nobody it
 * fails with errno EAGAIN: after CLIENT_ANSWER_MS, or, unless it may wait, at once. Then the
 * descriptor does not block. */
int client_open(const char *name, bool wait);

/* Sends a request, which is taken over; -1: it was not taken. */
int client_send(int fd, json_t *request);

/* Connects to the machine of this name, or with NULL to the only one that is up. Returns a
 * descriptor, or the exit status as a negative number. */
int client_connect(const char *name, struct message *message);

/* Sends a request (taken over) and calls event for every answer until "end" or "error". Returns
 * that last one, or NULL with a message when the machine has ended before, or does not answer. */
json_t *client_ask(int fd, json_t *request, void (*event)(void *context, const json_t *event),
                   void *context, struct message *message);

/* Whether it has hung up: its machine is no more. */
bool client_ended(int fd);

/* The exit status that the last answer says; prints its words, when it has any. */
int client_status(const json_t *answer);

/* Ends the machine and returns when nothing of it is left: 0, or the exit status, when it has
 * printed why not. */
int client_end(int fd);

/* What a machine tells at once (serve.h, info), and "name"; NULL with a message when there is none
 * or it does not answer: *status is the exit status of a verb that fails, then and later. */
json_t *client_info(const char *name, int *status, struct message *message);

/* Takes the board of a machine for this process's, so that a program is read as one of it; who
 * wants something of the machine afterwards is told what is wrong. */
void client_take_board(const char *name);

/* Fails when somebody debugs that node, or any. */
enum { CLIENT_ALL_NODES = -1 };
int client_check_free(const json_t *info, int node, struct message *message);

/* Connects, asks, closes; prints what is wrong and returns the exit status, the answer's
 * "status" when there is one. *answer, unless NULL, gets the last event. */
int client_run(const char *name, json_t *request, void (*event)(void *context, const json_t *event),
               void *context, json_t **answer);
