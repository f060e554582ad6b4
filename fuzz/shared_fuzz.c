/*
 * shared_fuzz.c - links in shared memory, one of them with a neighbour that writes anything
 * anywhere: into its own words and ring, into ours, the carrier, at any time between our calls.
 *
 * Whatever it writes: its link goes on or is lost, and nothing else; the link beside it carries all
 * bytes, in order. What it writes over our own words does not even harm its link, until we start
 * again. Nobody is kept awake by memory that does not change, and no call rings a neighbour twice.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "fuzz/fuzz.h"
#include "fuzz/input.h"
#include "tests/drivers/fake_ivshmem.h"

enum action {
    DO_WRITE_WORD,
    DO_WRITE_OUR_WORD,
    DO_WRITE_BYTES,
    DO_CARRIER,
    DO_PUT,
    DO_TAKE,
    DO_SLEEP,
    DO_SEND,
    DO_KICK,
    DO_SENT,
    DO_RECEIVE,
    DO_RELEASE,
    DO_LISTEN,
    DO_WAKE,
    DO_COALESCE,
    DO_RESTART,
    DO_PROBE,
    DO_COUNT
};

enum { HOSTILE, HONEST, SENT_MAX = 256, NEWS_MAX = 3, PROBE_BYTES = 5000 };

static struct fake_node node;
static struct shared_memory *memories; /* of the hostile link, and of the honest one */
static struct shared_end honest;       /* the neighbour's end of that */
static uint8_t *segments[SENT_MAX];    /* that the hostile link has not counted as sent */
static uint32_t first_segment, next_segment;
static uint8_t honest_byte;

/* What the hostile neighbour would have put, did it tell the truth; as long as it has. */
static bool truthful;
static uint32_t put;
static uint8_t read_byte;

static struct link *link_at(unsigned port)
{
    return shared_memory_link(&node.links, port);
}

static struct shared_side *words(unsigned side)
{
    return &memories->side[side].words;
}

/* ---- our side ---- */

static void count_sent(void)
{
    uint32_t sent = link_at(HOSTILE)->ops->sent(link_at(HOSTILE));

    CHECK(sent - first_segment <= next_segment - first_segment);
    for (; first_segment != sent; first_segment++) {
        free(segments[first_segment % SENT_MAX]);
    }
}

static void forget_segments(void)
{
    for (; first_segment != next_segment; first_segment++) {
        free(segments[first_segment % SENT_MAX]);
    }
    first_segment = next_segment = 0;
}

/* A segment of its own memory, so that a read too far is found. */
static void send_segment(uint32_t bytes)
{
    uint8_t *data = malloc(bytes);
    int status;

    CHECK(data);
    memset(data, 0x5e, bytes);
    status = link_at(HOSTILE)->ops->send(link_at(HOSTILE), data, bytes);
    if (status == E_OK) {
        segments[next_segment++ % SENT_MAX] = data;
    } else {
        CHECK(status == E_FULL && next_segment - first_segment >= SHARED_SEGMENTS);
        free(data);
    }
    count_sent();
}

static void receive(void)
{
    struct link_chunk chunk;

    if (!link_at(HOSTILE)->ops->receive(link_at(HOSTILE), &chunk)) {
        return;
    }
    CHECK(chunk.bytes > 0 && chunk.bytes <= LINK_LONG_CHUNK_MAX && chunk.buffer < FAKE_BUFFERS);
    for (uint32_t i = 0; truthful && i < chunk.bytes; i++) {
        CHECK(chunk.data[i] == read_byte++);
    }
    memset(chunk.data - LINK_HEADROOM, 0x77, LINK_LONG_BUFFER_BYTES); /* it is ours */
}

static void release(uint8_t which)
{
    uint16_t buffer = which % FAKE_BUFFERS;

    if ((node.link[HOSTILE].free_buffers >> buffer & 1) == 0) {
        link_at(HOSTILE)->ops->release(link_at(HOSTILE), buffer);
    }
}

static void listen(void)
{
    unsigned news = 0;

    while (shared_memory_listen(&node.links)) {
        CHECK(++news <= NEWS_MAX);
    }
}

static void start(void)
{
    forget_segments();
    CHECK(fake_node_start(&node) == FAKE_LINKS);
}

/* ---- neighbours ---- */

/* Bytes go over the honest link both ways, whatever the other does. */
static void probe(void)
{
    static uint8_t data[PROBE_BYTES], got[PROBE_BYTES];
    struct link *link = link_at(HONEST);
    struct link_chunk chunk;
    uint32_t taken = 0;

    for (uint32_t i = 0; i < sizeof data; i++) {
        data[i] = honest_byte++;
    }
    CHECK(shared_end_put(&honest, data, sizeof data) == sizeof data);
    (void)shared_end_publish(&honest);
    while (link->ops->receive(link, &chunk)) {
        CHECK(memcmp(chunk.data, data + taken, chunk.bytes) == 0);
        taken += chunk.bytes;
        link->ops->release(link, chunk.buffer);
    }
    CHECK(taken == sizeof data);
    CHECK(link->ops->send(link, data, sizeof data) == E_OK);
    link->ops->kick(link);
    CHECK(shared_end_take(&honest, got, sizeof got) == sizeof got);
    CHECK(memcmp(data, got, sizeof got) == 0);
    CHECK(link->carrier == CARRIER_UP && !honest.broken);
}

/* A number near those that the link has, or any. */
static uint32_t read_number(struct input *input)
{
    const struct shared_end *end = &node.link[HOSTILE].end;
    const uint32_t near[] = {end->put, end->taken, end->their_put, end->their_taken, end->sleep};
    uint8_t what = input_u8(input);

    return what < 0xc0 ? near[what % 5] + (uint32_t)(int8_t)input_u8(input) * (what & 8 ? 4096 : 1)
                       : input_u32(input);
}

static void write_word(struct shared_side *side, struct input *input)
{
    uint8_t which = input_u8(input) % 6;
    uint32_t number = read_number(input);

    switch (which) {
    case 0: side->put = number; break;
    case 1: side->taken = number; break;
    case 2: side->sleep = number; break;
    case 3: side->put_from = number; break;
    case 4: side->taken_from = number; break;
    default: side->published = (uint16_t)number; break;
    }
}

/* Anywhere in the file. */
static void write_bytes(struct input *input)
{
    uint32_t at = input_u32(input) % SHARED_LINK_BYTES, bytes;
    const uint8_t *data = input_bytes(input, input_u8(input), &bytes);

    if (bytes > SHARED_LINK_BYTES - at) {
        bytes = SHARED_LINK_BYTES - at;
    }
    if (bytes > 0) {
        memcpy((uint8_t *)memories + at, data, bytes);
    }
}

/* As a neighbour that tells the truth puts bytes into its ring. */
static void put_bytes(uint32_t bytes)
{
    uint32_t room = SHARED_RING_BYTES - (put - node.link[HOSTILE].end.taken_published);

    for (uint32_t i = 0; i < bytes && i < room; i++, put++) {
        memories->ring[1][put % SHARED_RING_BYTES] = (uint8_t)put;
    }
    words(1)->put = put;
    words(1)->published++;
}

static void act(struct input *input)
{
    enum action action = input_u8(input) % DO_COUNT;
    uint32_t bells = node.links.bells;

    switch (action) {
    case DO_WRITE_WORD:
        truthful = false;
        write_word(words(1), input);
        break;
    case DO_WRITE_OUR_WORD: write_word(words(0), input); break;
    case DO_WRITE_BYTES:
        truthful = false;
        write_bytes(input);
        break;
    case DO_CARRIER:
        truthful = false;
        memories->carrier = input_u8(input) % 4;
        break;
    case DO_PUT: put_bytes(input_u16(input)); break;
    case DO_TAKE: words(1)->taken = node.link[HOSTILE].end.put_published; break;
    case DO_SLEEP:
        words(1)->put_from = node.link[HOSTILE].end.put + input_u8(input);
        words(1)->taken_from = put - SHARED_RING_BYTES + input_u16(input);
        words(1)->sleep = (words(1)->sleep | 3) + input_u8(input) % 5;
        break;
    case DO_SEND: send_segment(1 + input_u16(input)); break;
    case DO_KICK: link_at(HOSTILE)->ops->kick(link_at(HOSTILE)); break;
    case DO_SENT: count_sent(); break;
    case DO_RECEIVE: receive(); break;
    case DO_RELEASE: release(input_u8(input)); break;
    case DO_LISTEN: listen(); break;
    case DO_WAKE:
        shared_memory_interrupt(&node.links);
        shared_memory_quiet(&node.links);
        break;
    case DO_COALESCE: link_at(HOSTILE)->coalesce = input_u16(input); break;
    case DO_RESTART:
        truthful = false;
        start();
        bells = node.links.bells;
        break;
    default: probe(); break;
    }
    CHECK(action == DO_LISTEN || action == DO_PROBE || node.links.bells - bells <= 1);
}

static void check_link(enum carrier before)
{
    const struct shared_memory_link *link = &node.link[HOSTILE];

    CHECK(link->link.carrier == before ||
          (before == CARRIER_UP && link->link.carrier == CARRIER_LOST));
    CHECK(!truthful || (link->link.carrier == CARRIER_UP && !link->end.broken));
    CHECK(link->end.put - link->end.their_taken <= SHARED_RING_BYTES);
    CHECK(link->end.their_put - link->end.taken <= SHARED_RING_BYTES);
    CHECK(link->queued - link->sent <= SHARED_SEGMENTS);
}

static struct shared_memory *honest_memory(void)
{
    return (void *)((uint8_t *)memories + SHARED_LINK_BYTES);
}

static void clear(struct shared_memory *memory)
{
    memset(memory, 0, offsetof(struct shared_memory, side) + sizeof memory->side);
    memory->carrier = SHARED_CARRIER_UP;
}

static void begin(void)
{
    if (!memories) {
        memories = fake_memories();
        fake_node_make(&node, memories, 0);
    }
    clear(memories);
    clear(honest_memory());
    put = 0;
    read_byte = honest_byte = 0;
    truthful = true;
    start();
    shared_end_init(&honest, honest_memory(), 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input input = {data, size};

    if (size > FUZZ_INPUT_MAX) {
        return 0;
    }
    begin();
    while (input.left > 0) {
        enum carrier before = link_at(HOSTILE)->carrier;
        bool again = *input.data % DO_COUNT == DO_RESTART;

        act(&input);
        check_link(again ? link_at(HOSTILE)->carrier : before);
    }
    listen();
    shared_memory_interrupt(&node.links);
    probe();
    if (link_at(HOSTILE)->carrier == CARRIER_LOST) { /* nothing hangs on it */
        count_sent();
        CHECK(first_segment == next_segment);
    }
    forget_segments();
    return 0;
}
