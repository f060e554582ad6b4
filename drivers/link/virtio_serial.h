/*
 * virtio_serial.h - links over one virtio-serial device: port n of the device (virtserialport nr=n)
 * is link n - 1.
 *
 * One maker of drivers/link/link.h. Segments go to the device by reference, one descriptor each;
 * received chunks are handed out in the very buffers that the device filled. The device is asked
 * for interrupts only while the owner sleeps or runs a program: virtio_serial_listen before,
 * virtio_serial_quiet after.
 *
 * QEMU     -smp 1,maxcpus=2 (memory barriers, see the board's README.md)
 *          -global virtio-mmio.force-legacy=false -device virtio-serial-device,max_ports=13
 *          -chardev socket,id=c1,fd=K -device virtserialport,chardev=c1,nr=1   (one pair per link)
 *
 * Interrupts are asked for by `listen` and refused by `quiet`; with `coalesce` the device
 * interrupts only when so many have arrived.
 *
 * Kicks are few: one per batch of segments; for receive buffers only when the device had used all,
 * so one is never missing.
 *
 * Transmit is silent, except to an owner that has asked (`sent`): else a relay whose buffers all
 * wait would never wake up.
 *
 * Units    bytes
 * Errors   E_LINK_DEAD from init: no such device, or it refuses what we need; E_TIMEOUT: it does
 *          not answer
 * Context  kernel, interrupts masked
 * Source   OASIS Virtio 1.1: 2.6 (split virtqueues), 4.2 (MMIO), 5.3 (console device)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "drivers/link/link.h"
#include "drivers/link/virtio_queue.h"
#include "drivers/link/virtio_stage.h"

enum {
    VIRTIO_CONTROL_BUFFER_BYTES = 64
}; /* one control message: 8 bytes, and a name that we do not need */

struct virtio_serial;

struct virtio_serial_port {
    struct link link;
    struct virtio_serial *device;
    uint8_t *buffers;
    uint64_t posted; /* bit b: receive buffer b is the device's */
    uint32_t queued; /* segments, of which one descriptor may carry several */
    uint32_t sent;
    uint32_t ends[VIRTIO_RING]; /* by descriptor: value of `queued` after its last segment */
    uint32_t number;
    bool added;   /* PORT_ADD seen */
    bool starved; /* buffers were posted to a ring that had run empty: the device wants a kick */
    bool watched; /* when sent() was last asked, segments were under way: the asker waits */
    struct virtio_queue receive;
    struct virtio_queue transmit;
    struct virtio_stages stages;
};

struct virtio_serial_config {
    uintptr_t base;                   /* of the virtio-mmio registers */
    struct virtio_serial_port *ports; /* port_count of them */
    uint32_t port_count;              /* links at most */
    uint8_t *buffers;      /* those of a port lie port_bytes behind those of the one before */
    uint32_t port_bytes;   /* at least buffer_count * LINK_BUFFER_BYTES, and a multiple of 8 */
    uint32_t buffer_count; /* receive buffers of a link, at most LINK_BUFFERS_MAX */
};

struct virtio_serial {
    struct virtio_serial_config config;
    struct virtio_queue control_receive;
    struct virtio_queue control_transmit;
    uint32_t control_message[2];
    uint8_t control_buffers[VIRTIO_RING][VIRTIO_CONTROL_BUFFER_BYTES];
    uint32_t link_count;
    bool event_index;
    bool broken; /* the device broke its own rules: nothing that it says counts any more */
};

/* Starts the device and its ports, and returns the number of links (the highest port present).
 * Waits for the device a bounded time. Needs no zeroed state. */
int virtio_serial_init(struct virtio_serial *serial, const struct virtio_serial_config *config);

struct link *virtio_serial_link(struct virtio_serial *serial, uint32_t link_index);

/* Tells the device of receive buffers that it may be waiting for. */
void virtio_serial_flush(struct virtio_serial *serial);

/* Asks for interrupts from now on; true when something is already waiting that listen has not told
 * of before. */
bool virtio_serial_listen(struct virtio_serial *serial);

/* Asks for no more interrupts: the owner is awake and looks by itself. */
void virtio_serial_quiet(struct virtio_serial *serial);

/* Answers the device's interrupt: acknowledges it and takes note of ports that opened or closed. */
void virtio_serial_interrupt(struct virtio_serial *serial);
