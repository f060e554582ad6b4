/*
 * raw.h - bare images that do one thing with the links and nothing else: the limits that the node
 * is measured against.
 *
 * One image, a role per run: -semihosting-config
 * enable=on,target=native,arg=raw,arg=ROLE,arg=COUNT. A role ends the emulator; its result is one
 * line "raw ROLE NUMBER NUMBER" on standard error.
 *
 * Units    bytes, us
 * Context  kernel, interrupts masked
 */
#pragma once

#include <stdint.h>

struct link;

enum { RAW_SEGMENT_BYTES = 65536 };

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

/* Sleeps until the links have something new. */
void raw_wait(void);

void raw_show(const char *role, uint64_t first, uint64_t second);
