/*
 * shared_memory_layout.h - what lies where in the memory of a link that two nodes share, and in the
 * card, in which the launcher describes a node's links.
 *
 *   a link's memory, SHARED_LINK_BYTES          a card, SHARED_CARD_BYTES
 *   00000  carrier   written by the launcher    magic, version, number of ports, time to spin
 *   01000  side 0's words                       for each port: which of the node's link memories,
 *   02000  side 1's words                         which side of it, whom to ring
 *   40000  ring of side 0: bytes to side 1
 *   80000  ring of side 1: bytes to side 0
 *
 * A word has one writer. Both sides are little-endian. All of it is zero before the first start.
 *
 * Units    bytes; counts of bytes run freely modulo 2^32
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#if defined(SHARED_WORD_TESTED) /* see shared_word.h */
enum { SHARED_RING_BYTES = 4 }; /* so few that everything can be tried */
#else
enum { SHARED_RING_BYTES = 1 << 18 }; /* a power of two */
#endif

enum {
    SHARED_LINK_BYTES = 1 << 20,
    SHARED_RINGS_AT = 1 << 18,
    SHARED_PAGE_BYTES = 4096,
    SHARED_LINE_BYTES = 64, /* a cache line: words of different ends lie in different ones */
    SHARED_PORTS_MAX = 16,
    SHARED_CARD_BYTES = 4096,
    SHARED_CARD_MAGIC = 0x65636c6b,
    SHARED_CARD_VERSION = 2,
    SHARED_NO_MEMORY = 0xff /* this port has no link in shared memory */
};

enum shared_carrier { SHARED_CARRIER_NONE, SHARED_CARRIER_UP, SHARED_CARRIER_LOST };

/* What a side that sleeps waits for; beside its number in `sleep`. */
enum {
    SHARED_WANTS_BYTES = 1, /* that the other side's `put` reaches put_from */
    SHARED_WANTS_ROOM = 2,  /* that the other side's `taken` reaches taken_from */
    SHARED_SLEEP_ONE = 4    /* a sleep's number counts by this */
};

/* All that one side writes. */
struct shared_side {
    _Alignas(SHARED_LINE_BYTES) volatile uint32_t put; /* into its own ring */
    volatile uint16_t published; /* how often `put` was moved on: a hint that costs one look */
    _Alignas(SHARED_LINE_BYTES) volatile uint32_t taken; /* out of the other's ring */
    _Alignas(SHARED_LINE_BYTES) volatile uint32_t sleep; /* number of its sleep, and its wants */
    volatile uint32_t put_from, taken_from;
};

struct shared_memory {
    _Alignas(SHARED_PAGE_BYTES) volatile uint32_t carrier; /* enum shared_carrier */
    union {
        struct shared_side words;
        _Alignas(SHARED_PAGE_BYTES) uint8_t page[SHARED_PAGE_BYTES];
    } side[2];
    _Alignas(SHARED_RINGS_AT) uint8_t ring[2][SHARED_RING_BYTES];
};

_Static_assert(offsetof(struct shared_memory, side) == 0x1000 &&
                   offsetof(struct shared_memory, ring) == 0x40000 &&
                   sizeof(struct shared_memory) <= SHARED_LINK_BYTES,
               "the picture above");

struct shared_card_port {
    uint8_t memory; /* which of the node's link memories, in the order of addresses */
    uint8_t side;
    uint16_t bell; /* the neighbour's number among those whom this node may ring */
};

struct shared_card {
    uint32_t magic;
    uint32_t version;
    uint32_t port_count;
    uint32_t spin_us; /* how long the node looks for news before it sleeps */
    struct shared_card_port ports[SHARED_PORTS_MAX];
};
