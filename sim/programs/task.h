/*
 * task.h - what the simulator keeps of the program of a node.
 *
 * A task is in one state, and at one step: what its source has said last (program.h). The rest is
 * the scenario's.
 *
 * Units    bytes; model time in ns
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum task_state {
    TASK_NONE,   /* not started */
    TASK_READY,  /* goes on */
    TASK_SLEEPS, /* until model time has come to wake_ns */
    TASK_WAITS,  /* in a system call of its node, which is open */
    TASK_POLLS,  /* looks after each step of its node */
    TASK_ENDED
};

enum { SENDS_OPEN = 4, RECEIVES_OPEN = 8, REQUEST_NONE = -1 };

enum program_step_kind {
    STEP_CALL,  /* makes a system call */
    STEP_PAUSE, /* goes on at model time `until_ns` */
    STEP_POLL,  /* goes on after the next step of its node, at the latest at `until_ns` */
    STEP_FAULT  /* has been ended by a fault: its source says which */
};

/* What a program does next. */
struct program_step {
    uint8_t kind;    /* enum program_step_kind */
    uint32_t number; /* enum ecube_call */
    uint32_t arguments[4];
    uint64_t until_ns; /* UINT64_MAX: whenever something happens */
};

struct task {
    uint8_t state; /* enum task_state */
    bool asked;    /* `step` is a call that is still to be made */
    uint8_t pc, then;
    uint16_t size;    /* of options.sizes */
    int32_t result;   /* of its last call */
    int32_t status;   /* exit status */
    uint64_t wake_ns; /* the model event that stands for it; UINT64_MAX: none */
    struct program_step step;
    uint64_t start_ns;
    uint32_t sends, sent, receives, received; /* messages begun and done */
    int8_t sending[SENDS_OPEN], receiving[RECEIVES_OPEN];
    int8_t *begins, *ends; /* the one that its last call has begun, or taken the end of */
    uint8_t *data;         /* its memory, and the address of that */
    uint32_t data_address, data_bytes;
    uint64_t wrong;
};
