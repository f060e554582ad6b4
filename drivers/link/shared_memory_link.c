#include "drivers/link/shared_memory_link.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/mmio.h"
#include "drivers/interrupt/msix.h"
#include "drivers/pci/pci.h"
#include "drivers/status.h"

enum {
    IDENTITY = 0x11101af4, /* ivshmem: device 1110 of Red Hat's 1af4 */
    BAR_REGISTERS = 0,
    BAR_MEMORY = 2,
    DOORBELL = 12,
    DOORBELL_PEER_SHIFT = 16, /* whom to ring; below it which of its interrupts */
    /* A sender that waits for room is woken for so much, and not for each chunk that is taken. */
    ROOM_BYTES = SHARED_RING_BYTES / 2
};

static const struct link_ops shared_memory_ops;
static const uint16_t nothing; /* has arrived at a port without a link */

static struct shared_memory_link *link_of(struct link *link)
{
    return (struct shared_memory_link *)link; /* its first member */
}

/* ---- carrier ---- */

static void look_at_carrier(struct shared_memory_link *link)
{
    if (link->link.carrier == CARRIER_UP &&
        (link->end.broken || link->memory->carrier == SHARED_CARRIER_LOST)) {
        link->link.carrier = CARRIER_LOST;
    }
}

/* ---- out ---- */

static void publish(struct shared_memory_link *link)
{
    if (shared_end_moved(&link->end) && shared_end_publish(&link->end) &&
        link->link.carrier == CARRIER_UP) {
        mmio_write32(link->device->doorbell, link->bell);
        link->device->bells++;
    }
}

static struct shared_segment *oldest(struct shared_memory_link *link)
{
    return &link->waiting[link->sent % SHARED_SEGMENTS];
}

/* Copies what waits for room, as far as there is some. What waits at a lost link never goes. */
static void move(struct shared_memory_link *link)
{
    while (link->sent != link->queued) {
        struct shared_segment *segment = oldest(link);
        uint32_t bytes = link->link.carrier == CARRIER_LOST
                             ? segment->bytes
                             : shared_end_put(&link->end, segment->data, segment->bytes);

        segment->data += bytes;
        segment->bytes -= bytes;
        if (segment->bytes > 0) {
            break;
        }
        link->sent++;
    }
}

static int send(struct link *base, const void *data, uint32_t bytes)
{
    struct shared_memory_link *link = link_of(base);
    uint32_t done = 0;

    CHECK(bytes > 0);
    if (link->queued - link->sent == SHARED_SEGMENTS) {
        move(link);
        if (link->queued - link->sent == SHARED_SEGMENTS) {
            return E_FULL;
        }
    }
    if (link->queued == link->sent) {
        done = base->carrier == CARRIER_LOST ? bytes : shared_end_put(&link->end, data, bytes);
    }
    link->queued++;
    if (done == bytes) {
        link->sent++;
    } else {
        link->waiting[(link->queued - 1) % SHARED_SEGMENTS] =
            (struct shared_segment){(const uint8_t *)data + done, bytes - done};
    }
    return E_OK;
}

static void kick(struct link *base)
{
    move(link_of(base));
    publish(link_of(base));
}

static uint32_t sent(struct link *base)
{
    struct shared_memory_link *link = link_of(base);

    move(link);
    link->seen = link->sent;
    link->watched = link->sent != link->queued;
    return link->sent;
}

/* ---- in ---- */

static bool receive(struct link *base, struct link_chunk *chunk)
{
    struct shared_memory_link *link = link_of(base);
    uint16_t published = *base->arrived;

    if (link->free_buffers == 0) {
        base->taken = published;
        link->starved = true;
        return false;
    }
    chunk->buffer = (uint16_t)__builtin_ctzll(link->free_buffers);
    chunk->data = link->buffers + (size_t)chunk->buffer * LINK_LONG_BUFFER_BYTES + LINK_HEADROOM;
    chunk->bytes = shared_end_take(&link->end, chunk->data, LINK_LONG_CHUNK_MAX);
    if (chunk->bytes > 0) {
        link->free_buffers &= ~(UINT64_C(1) << chunk->buffer);
        return true;
    }
    base->taken = published;
    look_at_carrier(link);
    publish(link);
    return false;
}

static void release(struct link *base, uint16_t buffer)
{
    struct shared_memory_link *link = link_of(base);

    CHECK(buffer < link->device->config.buffer_count && (link->free_buffers >> buffer & 1) == 0);
    link->free_buffers |= UINT64_C(1) << buffer;
    if (link->starved) {
        link->starved = false;
        base->taken = (uint16_t)(*base->arrived - 1);
    }
}

static const struct link_ops shared_memory_ops = {
    .send = send,
    .kick = kick,
    .sent = sent,
    .receive = receive,
    .release = release,
};

/* ---- start-up ---- */

static void link_init(struct shared_memory_links *links, uint32_t port,
                      const struct shared_card_port *place)
{
    const struct shared_memory_links_config *config = &links->config;
    struct shared_memory_link *link = &config->links[port];
    struct shared_memory *memory;

    *link = (struct shared_memory_link){.device = links, .end = {.broken = true}};
    link->link.ops = &shared_memory_ops;
    link->link.long_chunks = true;
    link->link.arrived = &nothing;
    if (place->memory >= config->memory_count || place->side > 1) {
        return;
    }
    memory = (struct shared_memory *)(void *)(config->memories +
                                              (size_t)place->memory * SHARED_LINK_BYTES);
    link->link.carrier = CARRIER_UP;
    link->link.arrived = &memory->side[1 - place->side].words.published;
    link->memory = memory;
    link->buffers = config->buffers + (size_t)port * config->port_bytes;
    link->free_buffers = ~UINT64_C(0) >> (64 - config->buffer_count);
    link->bell = (uint32_t)place->bell << DOORBELL_PEER_SHIFT;
    shared_end_init(&link->end, memory, place->side);
    link->link.taken = (uint16_t)(*link->link.arrived - 1);
    look_at_carrier(link);
    link->told = link->end.taken;
    publish(link);
}

int shared_memory_links_init(struct shared_memory_links *links,
                             const struct shared_memory_links_config *config)
{
    struct pci_host host = {config->ecam, config->window, config->window_end};
    struct pci_device device;
    const volatile struct shared_card *card;
    int status;

    *links = (struct shared_memory_links){.config = *config};
    CHECK(config->buffer_count >= 1 && config->buffer_count <= LINK_BUFFERS_MAX);
    if (pci_find(&host, IDENTITY, &device) == PCI_NO_DEVICE) {
        return 0;
    }
    pci_enable(&host, &device);
    status = msix_enable(&device, config->message_address, config->message_data);
    card = (const struct shared_card *)(uintptr_t)device.bars[BAR_MEMORY];
    if (status != E_OK || device.bars[BAR_REGISTERS] == 0 || device.bars[BAR_MEMORY] == 0 ||
        card->magic != SHARED_CARD_MAGIC || card->version != SHARED_CARD_VERSION ||
        card->port_count > config->link_count) {
        return E_LINK_DEAD;
    }
    links->doorbell = device.bars[BAR_REGISTERS] + DOORBELL;
    links->port_count = card->port_count;
    links->spin_us = card->spin_us;
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_card_port place = {.memory = card->ports[port].memory,
                                         .side = card->ports[port].side,
                                         .bell = card->ports[port].bell};

        link_init(links, port, &place);
    }
    return (int)links->port_count;
}

bool shared_memory_has(const struct shared_memory_links *links, uint32_t port)
{
    return port < links->port_count && links->config.links[port].memory;
}

struct link *shared_memory_link(struct shared_memory_links *links, uint32_t port)
{
    CHECK(port < links->port_count);
    return &links->config.links[port].link;
}

/* ---- sleep ---- */

/* How many bytes must lie in the ring before the owner is woken: more than one chunk only if it
 * waits for them, and while the neighbour's ring can hold them all. */
static uint32_t wanted(const struct shared_memory_link *link)
{
    uint32_t bytes =
        link->link.coalesce > 1 ? (uint32_t)(link->link.coalesce - 1) * LINK_CHUNK_MAX + 1 : 1;

    return bytes > SHARED_RING_BYTES / 2 ? SHARED_RING_BYTES / 2 : bytes;
}

static uint32_t room_wanted(struct shared_memory_link *link)
{
    uint32_t bytes = 0;

    for (uint32_t i = link->sent; i != link->queued && bytes < ROOM_BYTES; i++) {
        bytes += link->waiting[i % SHARED_SEGMENTS].bytes;
    }
    return bytes < ROOM_BYTES ? bytes : ROOM_BYTES;
}

void shared_memory_flush(struct shared_memory_links *links)
{
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_memory_link *link = &links->config.links[port];

        if (link->memory) {
            move(link);
            publish(link);
        }
    }
}

bool shared_memory_listen(struct shared_memory_links *links)
{
    bool news = false;

    shared_memory_flush(links);
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_memory_link *link = &links->config.links[port];

        if (link->memory && link->link.carrier == CARRIER_UP) {
            shared_end_sleep(&link->end, link->starved ? 0 : wanted(link), room_wanted(link));
        }
    }
    mmio_barrier();
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_memory_link *link = &links->config.links[port];

        if (!link->memory || link->link.carrier != CARRIER_UP) {
            continue;
        }
        if (shared_end_missed(&link->end, link->starved ? 0 : wanted(link), 0) &&
            link->told != link->end.their_put) {
            link->told = link->end.their_put;
            link->link.taken = (uint16_t)(*link->link.arrived - 1); /* whatever the hint says */
            news = true;
        }
        news |= shared_end_missed(&link->end, 0, room_wanted(link));
        if (link->watched && link->sent != link->seen) {
            link->watched = false;
            news = true;
        }
        look_at_carrier(link);
        news |= link->link.carrier == CARRIER_LOST;
    }
    return news;
}

void shared_memory_quiet(struct shared_memory_links *links)
{
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_memory_link *link = &links->config.links[port];

        if (link->memory && link->link.carrier == CARRIER_UP) {
            shared_end_wake(&link->end);
        }
    }
}

void shared_memory_interrupt(struct shared_memory_links *links)
{
    for (uint32_t port = 0; port < links->port_count; port++) {
        struct shared_memory_link *link = &links->config.links[port];

        if (link->memory) {
            look_at_carrier(link);
            move(link);
        }
    }
}
