/*
 * standard_input.h - the tool's standard input as data of a job: a program reads it to its end, so
 * all of it is read before anything starts, when all else has been found right (job_plan).
 *
 * Who says nothing of it means rank 0, and a file or a pipe. From a pipe in which nothing comes
 * within a moment nothing is read: many a caller leaves one open that it never writes to.
 *
 * Context  once in a process
 */
#pragma once

#include "host/command/options.h"

/* Adds it to the data, if there is any. */
int standard_input_add(struct data_arguments *data, struct message *message);
