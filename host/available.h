/*
 * available.h - how much memory this process may still take.
 *
 * The least of what the machine has, what a limit on the process (`ulimit -v`) leaves, and what the
 * group of processes that it runs in (a container) has left.
 *
 * Units    bytes
 * Source   proc(5), /proc/meminfo MemAvailable, /proc/self/statm; cgroups(7), memory.max
 */
#pragma once

#include <stdint.h>

uint64_t available_bytes(void);
