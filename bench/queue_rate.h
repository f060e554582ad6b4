/*
 * queue_rate.h - how many events a second the simulator's queue handles.
 *
 * The hold model: an event is taken and comes again at a random later time, with always as many
 * under way.
 *
 * Units    million events per second of the processor's time
 * Source   Jones, An empirical comparison of priority-queue and event-set implementations,
 *          Communications of the ACM 29(4), 1986
 */
#pragma once

#include <stdint.h>

double queue_rate(uint32_t under_way);
