/*
 * client.h - the other end of serve.h: finds a machine that is up, asks it, and hands on what it
 * answers.
 */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "host/message.h"

/* Connects to the control socket of the machine of this name. Unless it may wait, it fails where
 * the machine takes nobody now, with errno EAGAIN, and the descriptor does not block. */
int client_open(const char *name, bool wait);

/* Sends a request, which is taken over; -1: it was not taken. */
int client_send(int fd, json_t *request);

/* Connects to the machine of this name, or with NULL to the only one that is up. Returns a
 * descriptor, or -1. */
int client_connect(const char *name, struct message *message);

/* Sends a request (taken over) and calls event for every answer until "end" or "error". Returns
 * that last one, or NULL with a message when the machine has ended before. */
json_t *client_ask(int fd, json_t *request, void (*event)(void *context, const json_t *event),
                   void *context, struct message *message);

/* What a machine tells at once (serve.h, info), and "name"; NULL with a message when there is none.
 */
json_t *client_info(const char *name, struct message *message);

/* Fails when somebody debugs that node, or any. */
enum { CLIENT_ALL_NODES = -1 };
int client_check_free(const json_t *info, int node, struct message *message);

/* Connects, asks, closes; prints what is wrong and returns the exit status, the answer's
 * "status" when there is one. *answer, unless NULL, gets the last event. */
int client_run(const char *name, json_t *request, void (*event)(void *context, const json_t *event),
               void *context, json_t **answer);
