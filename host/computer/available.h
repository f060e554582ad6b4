/*
 * available.h - how much memory this process may still take, and how much of a processor.
 *
 * Memory: the least of what the machine has, what a limit on the process (`ulimit -v`) leaves, and
 * what the group of processes that it runs in (a container) has left.
 *
 * Units    bytes
 * Source   proc(5), /proc/meminfo MemAvailable, /proc/self/statm, /proc/loadavg; cgroups(7),
 *          memory.max
 */
#pragma once

#include <stdint.h>

uint64_t available_bytes(void);

/* The part of a processor that each process gets which could run now, in thousandths. */
unsigned available_share_permille(void);
