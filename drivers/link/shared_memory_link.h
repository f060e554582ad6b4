/*
 * shared_memory_link.h - links through memory that two nodes share, and the doorbells by which they
 * wake each other.
 *
 * One maker of drivers/link/link.h. A PCI device (ivshmem-doorbell) rings: when a neighbour's
 * number is written to its register, that neighbour gets one interrupt. The device's own memory is
 * a card that the launcher has written: it says which of the node's ports are links in shared
 * memory, and where. Link memories lie behind each other in the node's address space. shared_ring.h
 * says how bytes pass and who is woken.
 *
 * A segment is copied into the ring when it is sent, or as soon as there is room. The carrier is a
 * word of the link's memory that the launcher writes before it rings.
 *
 * QEMU     see drivers/README.md
 *
 * Chunks of up to 16 KiB out of shared memory, in 36 buffers: the fewer the pieces, the less there
 * is to do for them. 36 is what a full window needs with whatever lies between
 * (`router/channel_receive.c`), and the buffers of nine ports fit the kernel's 7 MiB.
 *
 * Units    bytes
 * Errors   E_LINK_DEAD from init: the device lacks what we need
 * Context  kernel, interrupts masked
 * Source   QEMU, docs/specs/ivshmem-spec.txt: registers, doorbell, MSI-X
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/link.h"
#include "drivers/link/shared_memory_layout.h"
#include "drivers/link/shared_ring.h"

enum { SHARED_SEGMENTS = 128 /* of a link, that wait for room in its ring */ };

struct shared_segment {
    const uint8_t *data;
    uint32_t bytes;
};

struct shared_memory_link {
    struct link link;
    struct shared_memory_links *device;
    const struct shared_memory *memory; /* NULL: this port has no such link */
    struct shared_end end;
    uint8_t *buffers;
    uint64_t free_buffers; /* bit b: nobody holds buffer b */
    struct shared_segment waiting[SHARED_SEGMENTS];
    uint32_t queued; /* segments handed over since the start */
    uint32_t sent;   /* of them, copied */
    uint32_t bell;   /* what to write to ring the neighbour */
    uint32_t told;   /* the neighbour's count of bytes when listen last reported news */
    uint32_t seen;   /* what sent() last said */
    bool watched;    /* ... and that was not all: the asker waits for the rest */
    bool starved;    /* bytes wait, and no buffer is free */
};

struct shared_memory_links_config {
    uintptr_t ecam;              /* of PCI bus 0 */
    uint32_t window, window_end; /* where PCI devices may lie */
    uint32_t message_address;    /* a write there, of this number, raises our interrupt */
    uint32_t message_data;
    uint8_t *memories;                /* the first link memory; the others follow */
    uint32_t memory_count;            /* as many as the node can reach */
    struct shared_memory_link *links; /* link_count of them */
    uint32_t link_count;
    uint8_t *buffers;      /* those of a port lie port_bytes behind those of the one before */
    uint32_t port_bytes;   /* at least buffer_count * LINK_LONG_BUFFER_BYTES */
    uint32_t buffer_count; /* receive buffers of a link, at most LINK_BUFFERS_MAX */
};

struct shared_memory_links {
    struct shared_memory_links_config config;
    uintptr_t doorbell; /* its register; 0: there is no device */
    uint32_t port_count;
    uint32_t bells;   /* rung since the start */
    uint32_t spin_us; /* how long the owner may look for news before it sleeps */
};

/* Finds the device and takes up its links. Returns the number of ports on its card, 0 without a
 * device, or a status. */
int shared_memory_links_init(struct shared_memory_links *links,
                             const struct shared_memory_links_config *config);

/* Whether a port's link lies in shared memory; the link of a port, which without has no carrier. */
bool shared_memory_has(const struct shared_memory_links *links, uint32_t port);
struct link *shared_memory_link(struct shared_memory_links *links, uint32_t port);

/* Moves on whatever waits for room, and lets the neighbours see what was sent and taken. */
void shared_memory_flush(struct shared_memory_links *links);

/* Asks for bells from now on; true when something is already there that listen has not told of
 * before. */
bool shared_memory_listen(struct shared_memory_links *links);

/* Asks for none: the owner is awake and looks by itself. */
void shared_memory_quiet(struct shared_memory_links *links);

/* After a bell, which need not be one: takes note of carriers. */
void shared_memory_interrupt(struct shared_memory_links *links);
