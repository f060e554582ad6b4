/*
 * raw.h - bare images that do one thing with the links and nothing else: the limits that the node
 * is measured against.
 *
 * One image, a role per run: -semihosting-config
 * enable=on,target=native,arg=raw,arg=NODE,arg=ROLE,arg=COUNT. The result is one line "raw ROLE
 * NUMBER NUMBER" on standard error.
 *
 * raw_* use the contract of links, whatever makes them, and hand memory over by reference, as
 * virtio-serial wants it. ring_* use the rings in shared memory themselves, in pieces as long as
 * the messages; both ends copy. Port 0 leads to the node before, the last port to the one behind.
 *
 * Units    bytes, us
 * Context  kernel, interrupts masked
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct link;

enum { RAW_SEGMENT_BYTES = 65536, RAW_MESSAGES = 8 };

/* What is sent; what comes, in memory that is filled in turn, as programs do. */
extern uint8_t raw_segment[RAW_SEGMENT_BYTES];
extern uint8_t raw_messages[RAW_MESSAGES][RAW_SEGMENT_BYTES];

/* Keeps the link's queue full of 64 KiB segments for ever. */
void raw_send(struct link *link);

/* Copies what comes into memory until `bytes` have come; shows bytes and us since the first chunk.
 */
void raw_receive(struct link *link, uint32_t bytes);

/* Sends 8 bytes and waits for 8 bytes, `count` times; shows the median and the mean round trip in
 * ns. */
void raw_ping(struct link *link, uint32_t count);

/* Sends everything that comes back where it came from. */
void raw_pong(struct link *link);

/* Forwards the chunks of one link to the other by reference, for ever. */
void raw_relay(struct link *from, struct link *to);

/* The same roles over rings; they speak in messages of 64 KiB, the receiver begins to count after
 * the first. */
void ring_send(void);
void ring_receive(uint32_t bytes);
void ring_ping(uint32_t count);
void ring_pong(void);
void ring_relay(void);

/* Send all the bytes, and wait for all of them, at one port. raw_put waits until the memory may be
 * changed. */
void raw_put(unsigned port, const void *data, uint32_t bytes);
void raw_take(unsigned port, void *buffer, uint32_t bytes);
void ring_put(unsigned port, const void *data, uint32_t bytes);
void ring_take(unsigned port, void *buffer, uint32_t bytes);

/* The complete exchange of 64 KiB on a hypercube whose port p leads across dimension p, `count`
 * times, each begun after all nodes have ended the one before: in step s a node exchanges with the
 * node that is s away by XOR, over the dimensions of s from the lowest, block by block. Node 0
 * shows the median and the mean of the slowest nodes' times in ns. */
_Noreturn void raw_exchange(bool rings, unsigned ports, uint32_t node, uint32_t count);

/* Sleeps until the links have something new. */
void raw_wait(void);

/* Keeps the us since `start_us`, or so many, as one of up to 65,536 samples; shows the median and
 * the mean of `count` of them in ns. */
void raw_sample(uint32_t index, uint64_t start_us);
void raw_sample_us(uint32_t index, uint32_t us);
void raw_show_samples(const char *role, uint32_t count);

void raw_show(const char *role, uint64_t first, uint64_t second);
