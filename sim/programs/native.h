/*
 * native.h - programs of people's own, compiled for this computer: one copy for each simulated
 * node, which makes system calls as on a node.
 *
 * A rank is a fiber: it has a stack of its own, in its window of 4 GiB (include/ecube/gate.h), and
 * runs until it calls. What it does then is the pump's (program.h). It is ended when its node says
 * so, wherever it is.
 *
 * Native ranks are fibers, their file is mapped by us. Refused: a process or a thread for each
 * (4,096 of them), `dlmopen` (16 name spaces), copies of the file for `dlopen` (they would lie
 * where the system likes, and the kernel would need wider addresses).
 *
 * Code and constants lie in every window, mapped from the file: the pages are common, and a program
 * may send constants. Seven mappings a rank; a system gives 65,530.
 *
 * Units    bytes; addresses of a node
 * Context  while no partition runs
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "controller/controller.h"
#include "node/node.h"

struct sim;

enum { NATIVE_SEGMENTS = 2, NATIVE_CALLS_MAX = 64 };

/* A part of the file as it is mapped. */
struct native_segment {
    uint32_t address, bytes; /* of pages */
    uint32_t file_at;        /* on a page */
    bool writes;             /* else it is executed */
};

/* A word of 64 bits that becomes `value`, and the window's address when it is a pointer. */
struct native_relocation {
    uint32_t address;
    bool pointer;
    uint64_t value;
};

/* A program, as its file has it, and where the memory of a node lies. What is refused was refused
 * before: segments and relocations are inside the image. */
struct native_program {
    int file;
    struct native_segment segments[NATIVE_SEGMENTS]; /* code and constants; data */
    const struct native_relocation *relocations;
    uint32_t relocation_count;
    uint32_t file_end;               /* of data: behind it all is zero */
    struct controller_load download; /* list, strings, digests, messages */
    uint32_t stack_base, stack_top, image_base, end;
    uint64_t memory_max; /* bytes that the process may have, ranks included; 0: any */
};

/* Where the program of a rank is that a fault has ended, or that was interrupted, and who called it
 * there, innermost first; how many. */
unsigned native_calls(const struct sim *sim, uint32_t rank, uint32_t *addresses, unsigned room);

/* The same of a rank of another process, which has sent this. */
void native_note_calls(struct sim *sim, uint32_t rank, const uint32_t *addresses, unsigned count);

/* Whoever has computed since the last call is left for ever, and its node knows where; the others
 * go on, but with `all` nobody does any more. To be called again and again until the simulation is
 * not advanced any more. Context: any, a signal handler too. */
void native_interrupt(bool all);

/* Memory for all ranks; false: the system gives none, or no more mappings. native_free takes what
 * there is back. */
bool native_make(struct sim *sim);
void native_free(struct sim *sim);
/* Says where the memory of a node lies. */
void native_place(const struct sim *sim, uint32_t rank, struct node_config *config);
/* A download may write again where programs were; false: there is no memory. */
bool native_unload(struct sim *sim);
