#include "tests/drivers/fake_ivshmem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "drivers/check.h"

enum {
    LOW_MEMORY = 0x10000000, /* where windows are looked for */
    LOW_TRIES = 1000,
    REGION_BYTES = 16,
    SLOT_WORDS = (1 << 15) / 4,
    IDENTITY = 0,
    COMMAND = 4 / 4,
    CAPABILITIES = 0x34 / 4,
    CAPABILITY = 0x40
};

/* Memory below 4 GiB, as only such can a register's address be. */
static uint8_t *map_low(void)
{
    void *got = MAP_FAILED;

    for (uintptr_t i = 0; i < LOW_TRIES && got == MAP_FAILED; i++) {
        got =
            mmap((void *)(LOW_MEMORY + i * FAKE_WINDOW_BYTES), FAKE_WINDOW_BYTES,
                 PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    }
    CHECK((uintptr_t)got <= UINT32_MAX);
    return got;
}

struct shared_memory *fake_memories(void)
{
    uint8_t *memories = aligned_alloc(SHARED_RINGS_AT, FAKE_LINKS * SHARED_LINK_BYTES);

    CHECK(memories);
    memset(memories, 0, FAKE_LINKS * SHARED_LINK_BYTES);
    for (int i = 0; i < FAKE_LINKS; i++) {
        struct shared_memory *memory = (void *)(memories + i * SHARED_LINK_BYTES);

        memory->carrier = SHARED_CARRIER_UP;
    }
    return (void *)memories;
}

/* Header, and one capability: MSI-X with its table at the beginning of region 1. */
static void make_device(struct fake_node *node)
{
    uint32_t *words = node->configuration;

    words[IDENTITY] = 0x11101af4;
    words[COMMAND] = 1 << 20;
    words[CAPABILITIES] = CAPABILITY;
    words[CAPABILITY / 4] = 0x11;
    words[CAPABILITY / 4 + 1] = 1;
}

void fake_node_make(struct fake_node *node, struct shared_memory *memories, uint8_t side)
{
    uint8_t *ecam = calloc(1, FAKE_ECAM_BYTES);
    uint8_t *buffers = malloc((size_t)FAKE_LINKS * FAKE_BUFFERS * LINK_LONG_BUFFER_BYTES);

    CHECK(ecam && buffers);
    *node = (struct fake_node){.window = map_low()};
    node->configuration = (uint32_t *)(void *)ecam + FAKE_SLOT * SLOT_WORDS;
    node->doorbell = (uint32_t *)(void *)(node->window + 12);
    node->message = (uint32_t *)(void *)(node->window + REGION_BYTES);
    node->card = (void *)(node->window + 2 * REGION_BYTES);
    node->config = (struct shared_memory_links_config){
        .ecam = (uintptr_t)ecam,
        .window = (uint32_t)(uintptr_t)node->window,
        .window_end = (uint32_t)(uintptr_t)node->window + FAKE_WINDOW_BYTES,
        .message_address = FAKE_MESSAGE_ADDRESS,
        .message_data = FAKE_MESSAGE_DATA,
        .memories = (uint8_t *)memories,
        .memory_count = FAKE_LINKS,
        .links = node->link,
        .link_count = FAKE_LINKS,
        .buffers = buffers,
        .port_bytes = FAKE_BUFFERS * LINK_LONG_BUFFER_BYTES,
        .buffer_count = FAKE_BUFFERS};
    make_device(node);
    *node->card = (struct shared_card){
        .magic = SHARED_CARD_MAGIC, .version = SHARED_CARD_VERSION, .port_count = FAKE_LINKS};
    for (uint8_t port = 0; port < FAKE_LINKS; port++) {
        node->card->ports[port] =
            (struct shared_card_port){.memory = port, .side = side, .bell = port + 1};
    }
    *node->doorbell = FAKE_NOT_RUNG;
}

void fake_node_free(struct fake_node *node)
{
    free((void *)node->config.ecam);
    free(node->config.buffers);
    munmap(node->window, FAKE_WINDOW_BYTES);
}

int fake_node_start(struct fake_node *node)
{
    return shared_memory_links_init(&node->links, &node->config);
}

bool fake_node_rang(struct fake_node *node, uint32_t port)
{
    bool rang = *node->doorbell == (port + 1) << 16;

    *node->doorbell = FAKE_NOT_RUNG;
    return rang;
}
