/*
 * process.h - what every program of the tool does first and last.
 */
#pragma once

/* Standard descriptors, signals, terminal, the exit status of a wrong command line. */
void process_begin(void);

/* A result that could not be written is no success: returns the exit status. */
int process_end(int status);
