/*
 * offspring.h - what the nodes' processes have started, found by a mark in their environment.
 *
 * --qemu may name a script that starts QEMU as its child, in a pipe, through `timeout` or in a
 * session of its own: to kill the script leaves QEMU running. But all of them inherit the
 * environment, in which a node's process has ECUBE_NODE=RUN.NODE.
 *
 * Source   proc(5), /proc/PID/environ; pidfd_open(2): what is killed is what was looked at, even
 *          when the number has gone to another process
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { OFFSPRING_RUN_BYTES = 17 };

/* A name that no other run has. */
void offspring_name_run(char run[OFFSPRING_RUN_BYTES]);

/* Marks this process, for what it will execute. */
void offspring_mark(const char *run, uint32_t node);

/* Kills the processes of a run's nodes for which condemned says so (NULL: all), as they are found
 * now. Returns how many. */
unsigned offspring_kill(const char *run, bool (*condemned)(const void *context, uint32_t node),
                        const void *context);

/* Kills all of a run, until there are none or two seconds have passed. */
void offspring_end(const char *run);
