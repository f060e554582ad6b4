/*
 * virtio_queue.h - a split virtqueue of a virtio-mmio device, and the registers that both of us
 * need.
 *
 * We put descriptor numbers into the available ring, the device puts them back into the used ring.
 * Everything that the device writes is checked before it is believed.
 *
 * Units    bytes; entries
 * Errors   E_LINK_DEAD: the device has no such queue, or a shorter one
 * Context  kernel, interrupts masked
 * Source   OASIS Virtio 1.1: 2.6 (split virtqueues), 4.2.2 (MMIO registers)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    VIRTIO_RING = 128, /* descriptors of a queue: what QEMU allows at most */
    VIRTIO_DESCRIPTOR_DEVICE_WRITES = 2,
    VIRTIO_AVAIL_NO_INTERRUPT = 1
};

enum virtio_register {
    VIRTIO_MAGIC_VALUE = 0x000,
    VIRTIO_VERSION = 0x004,
    VIRTIO_DEVICE_ID = 0x008,
    VIRTIO_DEVICE_FEATURES = 0x010,
    VIRTIO_DEVICE_FEATURES_SEL = 0x014,
    VIRTIO_DRIVER_FEATURES = 0x020,
    VIRTIO_DRIVER_FEATURES_SEL = 0x024,
    VIRTIO_QUEUE_SEL = 0x030,
    VIRTIO_QUEUE_NUM_MAX = 0x034,
    VIRTIO_QUEUE_NUM = 0x038,
    VIRTIO_QUEUE_READY = 0x044,
    VIRTIO_QUEUE_NOTIFY = 0x050,
    VIRTIO_INTERRUPT_STATUS = 0x060,
    VIRTIO_INTERRUPT_ACK = 0x064,
    VIRTIO_STATUS = 0x070,
    VIRTIO_QUEUE_DESC = 0x080,   /* low word; the high word follows */
    VIRTIO_QUEUE_DRIVER = 0x090, /* the available ring */
    VIRTIO_QUEUE_DEVICE = 0x0a0, /* the used ring */
    VIRTIO_CONFIG = 0x100
};

struct virtio_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags;
    uint16_t next;
};

struct virtio_used_entry {
    uint32_t id;
    uint32_t bytes;
};

/* What we and the device share; the two indices run freely modulo 2^16. */
struct virtio_ring {
    _Alignas(16) struct virtio_descriptor descriptors[VIRTIO_RING];
    volatile uint16_t avail_flags; /* 1: no interrupts, please */
    volatile uint16_t avail_index;
    volatile uint16_t avail[VIRTIO_RING];
    volatile uint16_t used_event;
    _Alignas(4) volatile uint16_t used_flags;
    volatile uint16_t used_index;
    volatile struct virtio_used_entry used[VIRTIO_RING];
    uint16_t avail_event;
};

struct virtio_queue {
    struct virtio_ring ring;
    uintptr_t base; /* of the device's virtio-mmio registers */
    uint32_t number;
    uint16_t queued;  /* entries put into avail, published or not */
    uint16_t taken;   /* entries of used that we have looked at */
    uint16_t heard;   /* used_index when virtio_queue_news last told of it */
    bool event_index; /* the device interrupts at used_event (2.6.7) */
};

/* Hands an empty queue to the device; interrupts are off. */
int virtio_queue_init(struct virtio_queue *queue, uintptr_t base, uint32_t number,
                      bool event_index);

/* Asks for an interrupt when `count` entries that we have not taken are used; a device without
 * event index raises one for each. */
void virtio_queue_listen(struct virtio_queue *queue, uint16_t count);
/* Asks for none. */
void virtio_queue_quiet(struct virtio_queue *queue);

/* Puts a descriptor into the available ring; the device sees it after publish. */
void virtio_queue_put(struct virtio_queue *queue, uint16_t descriptor);
void virtio_queue_publish(struct virtio_queue *queue);
void virtio_queue_notify(const struct virtio_queue *queue);

/* 1 and the next used entry, 0 when there is none, E_LINK_DEAD when the device used more than it
 * was given. */
int virtio_queue_take(struct virtio_queue *queue, uint32_t *id, uint32_t *bytes);

/* True once for each state of the used ring with at least `count` entries that the owner has not
 * taken up. */
bool virtio_queue_news(struct virtio_queue *queue, uint16_t count);
