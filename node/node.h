/*
 * node.h - one node of a machine: links, router, messages, collectives, download and the program's
 * state.
 *
 * An event-driven state machine. Every entry is a bounded step that takes the present time; none
 * waits, reads a clock or allocates. The target feeds one node from interrupts and system calls;
 * tests and simulator feed many.
 *
 * Units    time in us since any start (wall) and in ns (model)
 * Context  kernel, interrupts masked; never called from within itself
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/ecube/abi.h"

struct node;
struct link;
struct plan_preload;
struct recorder;

struct node_config {
    struct link **links; /* port p of the node is links[p] */
    unsigned link_count;
    uint8_t *program; /* where the kernel reaches the byte at address program_address */
    /* start of the memory a program may use: stack, image and what else is downloaded, heap */
    uint32_t program_address;
    uint32_t program_bytes;
    uint32_t stack_top; /* 8-aligned */
    uint32_t image_address;
    /* working memory for queues and pools, node_memory_bytes(link_count, ring) bytes, 8-aligned */
    void *memory;
    uint8_t *plans; /* where this node keeps its parts of plans, plan_bytes of them */
    uint32_t plan_bytes;
    struct link_counters *link_counters; /* as in struct router_config */
    void *records; /* for records (wire/record.h), 8-aligned; 0 bytes: none are kept */
    uint32_t records_bytes;
    uint16_t incarnation; /* as in struct router_config */
    bool payload_checked; /* data payloads carry a CRC: needed where a link can damage bytes */
    /* Only a simulator sets these, for many nodes: what each saves stands in sim/README.md. */
    uint32_t *links_due;                /* as in struct router_config */
    void *pool;                         /* node_pool_bytes() bytes of it that lie elsewhere */
    uint16_t ring;                      /* as in struct router_config */
    const struct plan_preload *preload; /* where all parts of plans lie already */
};

struct fault {
    uint32_t kind; /* enum fault_kind */
    uint32_t address;
    uint32_t status_register;
    uint32_t registers[16]; /* r0..r12, sp, lr, pc */
    uint32_t processor_status;
    uint32_t line; /* of a failed CHECK: its line and, as text, its file: a string that stays */
    const char *text;
};

enum node_verdict {
    NODE_RESUME, /* the call is complete: *result is its value */
    NODE_BLOCK,  /* call node_step when something happens, then node_resume to ask again */
    NODE_END     /* the program is over */
};

struct node_start {
    uint32_t entry;
    uint32_t stack_top; /* 8-aligned */
    uint32_t block;     /* address and size of the private block: r0 and r1 at entry */
    uint32_t block_bytes;
    /* The image's code, and behind it its constants, end there, on pages of PROTECTED_PAGE_BYTES:
     * they are read-only, and of all memory the code alone is executed. So are the pages of data in
     * between the other two. All are the image's address: nothing is protected. */
    uint32_t code_end;
    uint32_t constants_end;
    uint32_t data_start;
    uint32_t data_end;
};

size_t node_bytes(void);
size_t node_memory_bytes(unsigned link_count, unsigned ring);
/* The part of these that holds eager messages until they are received. A simulator with many nodes
 * keeps it apart, for most nodes never use it. */
size_t node_pool_bytes(void);
void node_init(struct node *node, const struct node_config *config);

/* Takes what the links hold and does what is due, up to a bound; true when more is waiting. */
bool node_step(struct node *node, uint64_t now_us);

/* When node_step wants to be called next though nothing arrives; UINT64_MAX: never. */
uint64_t node_deadline(const struct node *node);

/* True once when a download has begun: the program's memory may be cleared, nobody needs what it
 * holds. To be asked before each step. */
bool node_takes_memory(struct node *node);

/* True once when a loaded program has been told to start; fills *start. */
bool node_take_start(struct node *node, struct node_start *start);

/* True while the program may run; false after exit, fault or STOP. */
bool node_program_runs(const struct node *node);

/* True once when the program may start or go on, or when it has ended. */
bool node_program_moves(struct node *node);

/* A system call: number, four arguments. NODE_RESUME sets *result. */
enum node_verdict node_call(struct node *node, uint64_t now_us, uint32_t number,
                            const uint32_t arguments[4], int32_t *result);

/* Whether a call is about the time, so that now_us must be exact. For all others it may be some
 * milliseconds old, as long as it never goes back. */
bool node_call_needs_time(uint32_t number);

/* Asks again for the call that NODE_BLOCK left open. */
enum node_verdict node_resume(struct node *node, uint64_t now_us, int32_t *result);

/* When node_resume wants to be called though nothing happens, for a program that sleeps;
 * UINT64_MAX: never. */
uint64_t node_wake_us(const struct node *node);

/* The program has been interrupted at pc: STATE tells the host where it computes. */
void node_interrupted(struct node *node, uint32_t pc, uint32_t lr);

/* The program (or, with FAULT_KERNEL, the kernel) has faulted: reports it to the host; the program
 * is over. */
void node_fault(struct node *node, uint64_t now_us, const struct fault *fault);

/* Only a simulator: notes what goes on from now on, in at most so many records, whatever START and
 * the host say. */
void node_record(struct node *node, uint32_t records);
/* What has been noted; NULL: nothing. */
const struct recorder *node_recorder(const struct node *node);
/* The run is over: what is open is noted, with what it waits for, and nothing more is. */
void node_close_records(struct node *node);

/* The node's own number; ID_UNKNOWN until a neighbour has told it. */
uint32_t node_id(const struct node *node);
