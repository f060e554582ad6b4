/*
 * watch.h - what ends a simulation before its end: Ctrl-C and its like, and --timeout.
 *
 * A thread waits for them. It does no more than say so, and interrupts programs that compute for
 * long: the thread that simulates asks between two events.
 *
 * Units    ms
 * Context  one watch at a time
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Begins; before any other thread is made, which then leave the signals to this one. limit_ms 0:
 * there is no limit. `programs`: programs compute, and are interrupted. `look` (NULL: none) is
 * called now and then when the simulation is to end and has not, in the watch's thread. */
bool watch_begin(uint32_t limit_ms, bool programs, void (*look)(void));

/* Whether the simulation is to end. */
bool watch_over(void);
/* The same, for whoever is to end with it. */
const atomic_bool *watch_flag(void);
/* What has ended it: the number of a signal, 0: none has. */
int watch_signal(void);
/* The exit status of what it has ended. */
int watch_status(void);

/* From now on signals do what they do by themselves. */
void watch_end(void);
