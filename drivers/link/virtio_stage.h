/*
 * virtio_stage.h - joins short segments: they are copied behind each other into one descriptor.
 *
 * QEMU's serial device makes a system call for each descriptor, and the first of them wakes the
 * other end. A copy of some bytes costs less.
 *
 * Units    bytes
 * Errors   none
 * Context  kernel, interrupts masked
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/virtio_queue.h"

enum {
    VIRTIO_STAGES = 4, /* joined descriptors that may be under way */
    VIRTIO_STAGE_BYTES = 512
};

struct virtio_stages {
    bool used; /* the newest descriptor is at memory[present] */
    uint8_t present;
    uint16_t ends[VIRTIO_STAGES]; /* free when so many descriptors have been taken back */
    uint8_t memory[VIRTIO_STAGES][VIRTIO_STAGE_BYTES];
};

void virtio_stage_init(struct virtio_stages *stages);

/* Whether virtio_stage_join has room; if not, the queue's used descriptors should be taken back. */
bool virtio_stage_free(const struct virtio_stages *stages, const struct virtio_queue *queue);

/* Copies a segment behind the newest one. False: one of the two is long, the device may have the
 * newest already, or no stage is free. */
bool virtio_stage_join(struct virtio_stages *stages, struct virtio_queue *queue, const void *data,
                       uint32_t bytes);

/* A descriptor has been queued that is not joined. */
static inline void virtio_stage_leave(struct virtio_stages *stages)
{
    stages->used = false;
}
