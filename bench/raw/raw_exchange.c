#include "bench/raw/raw.h"

#include "arch/armv7a/mmu.h"
#include "board/platform.h"
#include "arch/armv7a/trap.h"
#include "drivers/check.h"

enum { BLOCK_BYTES = RAW_SEGMENT_BYTES, PAGE_BYTES = 4096 };

struct exchange {
    bool rings;
    unsigned ports;
    uint32_t nodes;
    uint8_t *outgoing, *incoming; /* block s: for, and from, the node that is s away by XOR */
};

static void put(const struct exchange *exchange, unsigned port, const void *data, uint32_t bytes)
{
    if (exchange->rings) {
        ring_put(port, data, bytes);
    } else {
        raw_put(port, data, bytes);
    }
}

static void take(const struct exchange *exchange, unsigned port, void *buffer, uint32_t bytes)
{
    if (exchange->rings) {
        ring_take(port, buffer, bytes);
    } else {
        raw_take(port, buffer, bytes);
    }
}

/* Over each dimension of a step a node sends the block that it holds, and gets one that is as far
 * on its way; the last is for itself. With 8 nodes, step 5: over dimension 0 our own, over
 * dimension 2 that of the node across dimension 0. */
static void run_exchange(const struct exchange *exchange)
{
    for (uint32_t step = 1; step < exchange->nodes; step++) {
        uint8_t *place = exchange->incoming + step * BLOCK_BYTES;
        const uint8_t *block = exchange->outgoing + step * BLOCK_BYTES;
        for (unsigned p = 0; p < exchange->ports; p++) {
            if ((step >> p & 1) != 0) {
                put(exchange, p, block, BLOCK_BYTES);
                take(exchange, p, place, BLOCK_BYTES);
                block = place;
            }
        }
    }
}

/* The largest value of all nodes; no node gets it before all have come here. */
static uint32_t largest(const struct exchange *exchange, uint32_t value)
{
    for (unsigned p = 0; p < exchange->ports; p++) {
        uint32_t theirs;
        put(exchange, p, &value, sizeof value);
        take(exchange, p, &theirs, sizeof theirs);
        value = theirs > value ? theirs : value;
    }
    return value;
}

/* What is in a block's first word. */
static uint32_t label(uint32_t from, uint32_t to)
{
    return 0x80000000 | from << 16 | to;
}

static uint32_t *first_word(uint8_t *blocks, uint32_t step)
{
    return (uint32_t *)(void *)(blocks + step * BLOCK_BYTES);
}

/* Gives the exchange its memory, and each block for another node its label. */
static void prepare(struct exchange *exchange, uint32_t node)
{
    uint8_t *start = (uint8_t *)platform_program.image;
    uint8_t *end = start + 2 * (uintptr_t)exchange->nodes * BLOCK_BYTES;
    CHECK((uintptr_t)end <= platform_program.end);
    for (uint8_t *page = start; page != end; page += PAGE_BYTES) {
        CHECK(mmu_touch((uintptr_t)page));
    }
    exchange->outgoing = start;
    exchange->incoming = start + (uintptr_t)exchange->nodes * BLOCK_BYTES;
    for (uint32_t step = 1; step < exchange->nodes; step++) {
        *first_word(exchange->outgoing, step) = label(node, node ^ step);
    }
}

static void check(const struct exchange *exchange, uint32_t node)
{
    for (uint32_t step = 1; step < exchange->nodes; step++) {
        uint32_t *word = first_word(exchange->incoming, step);
        CHECK(*word == label(node ^ step, node));
        *word = 0;
    }
}

_Noreturn void raw_exchange(bool rings, unsigned ports, uint32_t node, uint32_t count)
{
    struct exchange exchange = {.rings = rings, .ports = ports, .nodes = 1u << ports};
    prepare(&exchange, node);
    (void)largest(&exchange, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t start_us = platform_now_us();
        run_exchange(&exchange);
        uint32_t us = (uint32_t)(platform_now_us() - start_us);
        check(&exchange, node);
        raw_sample_us(i, largest(&exchange, us));
    }
    if (node == 0) {
        raw_show_samples("exchange", count);
    }
    trap_halt();
}
