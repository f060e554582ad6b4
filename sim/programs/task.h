/*
 * task.h - what the simulator keeps of the program of a node.
 *
 * A task is in one state and at one place of its scenario (pc); program.h says how it goes on.
 *
 * Units    bytes; model time in ns
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum task_state { TASK_NONE, TASK_READY, TASK_SLEEPS, TASK_WAITS, TASK_POLLS, TASK_ENDED };

enum { SENDS_OPEN = 4, RECEIVES_OPEN = 8, REQUEST_NONE = -1 };

/* A program: a state machine that makes system calls (program.h). */
struct task {
    uint8_t state; /* enum task_state */
    uint8_t pc;
    bool starting; /* it is in the start-up of a message */
    uint16_t size; /* of options.sizes */
    int32_t result;
    int32_t status; /* exit status */
    int32_t request;
    uint64_t wake_ns; /* the model event that stands for it; UINT64_MAX: none */
    uint64_t start_ns;
    uint32_t sends, sent, receives, received; /* messages begun and done */
    int8_t sending[SENDS_OPEN], receiving[RECEIVES_OPEN];
    uint8_t *data; /* its memory, and the address of that */
    uint32_t data_address, data_bytes;
    uint64_t wrong;
};
