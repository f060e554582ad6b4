/*
 * The virtio-serial links against a device made of plain memory: a thread answers the start-up
 * requests, after that each test plays the device by hand, honest or not.
 */
#include "tests/testing.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "drivers/mmio.h"
#include "drivers/status.h"
#include "drivers/link/virtio_serial.h"

enum { LINKS = 2, BUFFERS = 4, NO_KICK = 0xffff };
enum { EVENT_INDEX = 1 << 29 };
enum { EVENT_READY = 0, EVENT_ADD = 1, EVENT_PORT_READY = 3, EVENT_OPEN = 6 };

struct bench {
    uint32_t registers[0x200 / 4];
    struct virtio_serial serial;
    struct virtio_serial_port ports[LINKS];
    uint8_t buffers[LINKS * BUFFERS * LINK_BUFFER_BYTES];
    volatile bool stop;
};

static void set_register(struct bench *bench, uint32_t offset, uint32_t value)
{
    bench->registers[offset / 4] = value;
}

static void device_used(struct virtio_queue *queue, uint32_t id, uint32_t bytes)
{
    struct virtio_ring *ring = &queue->ring;
    ring->used[ring->used_index % VIRTIO_RING].id = id;
    ring->used[ring->used_index % VIRTIO_RING].bytes = bytes;
    mmio_barrier();
    ring->used_index++;
}

static void device_tells(struct bench *bench, uint8_t port, uint8_t event, uint8_t value)
{
    struct virtio_queue *queue = &bench->serial.control_receive;
    uint16_t id = queue->ring.avail[queue->ring.used_index % VIRTIO_RING];
    const uint8_t message[8] = {port, 0, 0, 0, event, 0, value, 0};
    memcpy(bench->serial.control_buffers[id], message, sizeof(message));
    device_used(queue, id, sizeof(message));
}

static void *device_answers(void *argument)
{
    struct bench *bench = argument;
    struct virtio_ring *ring = &bench->serial.control_transmit.ring;
    while (!bench->stop) {
        if (ring->avail_index == ring->used_index) {
            continue;
        }
        mmio_barrier();
        uint8_t port = (uint8_t)bench->serial.control_message[0];
        uint32_t event = bench->serial.control_message[1] & 0xffff;
        for (uint8_t p = 1; event == EVENT_READY && p <= LINKS; p++) {
            device_tells(bench, p, EVENT_ADD, 1);
        }
        if (event == EVENT_PORT_READY) {
            device_tells(bench, port, EVENT_OPEN, 1);
        }
        device_used(&bench->serial.control_transmit, 0, 0);
    }
    return NULL;
}

static struct bench *bench_with(uint32_t features)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    const struct virtio_serial_config config = {.base = (uintptr_t)bench->registers,
                                                .ports = bench->ports,
                                                .port_count = LINKS,
                                                .buffers = bench->buffers,
                                                .port_bytes = BUFFERS * LINK_BUFFER_BYTES,
                                                .buffer_count = BUFFERS};
    pthread_t device;
    set_register(bench, VIRTIO_MAGIC_VALUE, 0x74726976);
    set_register(bench, VIRTIO_VERSION, 2);
    set_register(bench, VIRTIO_DEVICE_ID, 3);
    set_register(bench, VIRTIO_DEVICE_FEATURES, 3 | features);
    set_register(bench, VIRTIO_QUEUE_NUM_MAX, VIRTIO_RING);
    set_register(bench, VIRTIO_CONFIG + 4, LINKS + 1);
    assert_int_equal(pthread_create(&device, NULL, device_answers, bench), 0);
    int links = virtio_serial_init(&bench->serial, &config);
    bench->stop = true;
    pthread_join(device, NULL);
    assert_int_equal(links, LINKS);
    return bench;
}

static struct bench *bench_open(void)
{
    return bench_with(0);
}

/* The next posted buffer of a port, filled with text. */
static uint16_t device_sends(struct bench *bench, unsigned index, const char *text)
{
    struct virtio_queue *queue = &bench->ports[index].receive;
    uint16_t id = queue->ring.avail[queue->ring.used_index % VIRTIO_RING];
    memcpy((void *)(uintptr_t)queue->ring.descriptors[id].address, text, strlen(text));
    device_used(queue, id, (uint32_t)strlen(text));
    return id;
}

static enum carrier carrier(struct bench *bench)
{
    struct link *link = virtio_serial_link(&bench->serial, 0);
    return link->carrier;
}

TEST(a_started_device_has_its_links_up)
{
    struct bench *bench = bench_open();
    assert_int_equal(carrier(bench), CARRIER_UP);
    assert_int_equal(bench->ports[1].link.carrier, CARRIER_UP);
    free(bench);
}

TEST(no_device_is_an_error_and_no_hang)
{
    struct bench *bench = calloc(1, sizeof(*bench));
    const struct virtio_serial_config config = {.base = (uintptr_t)bench->registers,
                                                .buffer_count = 1};
    assert_int_equal(virtio_serial_init(&bench->serial, &config), E_LINK_DEAD);
    free(bench);
}

TEST(a_chunk_lies_in_the_devices_buffer_behind_headroom)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 1);
    struct link_chunk chunk;
    assert_false(link->ops->receive(link, &chunk));
    uint16_t id = device_sends(bench, 1, "hello");
    assert_true(link->ops->receive(link, &chunk));
    assert_int_equal(chunk.bytes, 5);
    assert_memory_equal(chunk.data, "hello", 5);
    assert_int_equal(chunk.buffer, id);
    assert_ptr_equal(chunk.data,
                     bench->buffers + (BUFFERS + id) * LINK_BUFFER_BYTES + LINK_HEADROOM);
    link->ops->release(link, chunk.buffer);
    free(bench);
}

TEST(a_device_that_ran_out_of_buffers_is_kicked_once)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct link_chunk chunks[BUFFERS];
    for (unsigned i = 0; i < BUFFERS; i++) {
        (void)device_sends(bench, 0, "x");
        assert_true(link->ops->receive(link, &chunks[i]));
    }
    set_register(bench, VIRTIO_QUEUE_NOTIFY, NO_KICK);
    link->ops->release(link, chunks[0].buffer);
    link->ops->release(link, chunks[1].buffer);
    assert_int_equal(bench->registers[VIRTIO_QUEUE_NOTIFY / 4], NO_KICK);
    assert_false(link->ops->receive(link, &chunks[0]));
    assert_int_equal(bench->registers[VIRTIO_QUEUE_NOTIFY / 4], bench->ports[0].receive.number);
    set_register(bench, VIRTIO_QUEUE_NOTIFY, NO_KICK);
    link->ops->release(link, chunks[2].buffer);
    virtio_serial_flush(&bench->serial);
    assert_int_equal(bench->registers[VIRTIO_QUEUE_NOTIFY / 4], NO_KICK);
    free(bench);
}

TEST(segments_go_by_reference_and_are_counted_when_done)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct virtio_queue *queue = &bench->ports[0].transmit;
    static const char text[VIRTIO_RING + VIRTIO_STAGE_BYTES] = "segments";
    for (unsigned i = 0; i < VIRTIO_RING; i++) {
        assert_int_equal(link->ops->send(link, text + i, VIRTIO_STAGE_BYTES), E_OK);
    }
    assert_int_equal(link->ops->send(link, text, VIRTIO_STAGE_BYTES), E_FULL);
    assert_int_equal(queue->ring.avail_index, 0);
    link->ops->kick(link);
    assert_int_equal(queue->ring.avail_index, VIRTIO_RING);
    assert_int_equal(bench->registers[VIRTIO_QUEUE_NOTIFY / 4], queue->number);
    assert_ptr_equal(queue->ring.descriptors[7].address, text + 7);
    assert_int_equal(link->ops->sent(link), 0);
    device_used(queue, 0, 0);
    device_used(queue, 1, 0);
    assert_int_equal(link->ops->send(link, text, 1), E_OK);
    assert_int_equal(link->ops->sent(link), 2);
    assert_int_equal(carrier(bench), CARRIER_UP);
    free(bench);
}

/* Sends two short segments and kicks; the descriptor that carries both. */
static struct virtio_descriptor two_short(struct bench *bench)
{
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct virtio_queue *queue = &bench->ports[0].transmit;
    uint16_t slot = queue->queued % VIRTIO_RING;
    char first[] = "ab", second[] = "cde";
    assert_int_equal(link->ops->send(link, first, 2), E_OK);
    assert_int_equal(link->ops->send(link, second, 3), E_OK);
    link->ops->kick(link);
    return queue->ring.descriptors[slot];
}

TEST(short_segments_that_go_out_together_are_one_descriptor)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct virtio_queue *queue = &bench->ports[0].transmit;
    struct virtio_descriptor descriptor = two_short(bench);
    static const char text[VIRTIO_STAGE_BYTES];
    assert_int_equal(queue->ring.avail_index, 1);
    assert_int_equal(descriptor.bytes, 5);
    assert_memory_equal((const void *)(uintptr_t)descriptor.address, "abcde", 5);
    assert_int_equal(link->ops->send(link, "f", 1), E_OK); /* the first is the device's by now */
    assert_int_equal(queue->queued, 2);
    assert_int_equal(link->ops->send(link, text, sizeof(text)), E_OK);
    assert_ptr_equal(queue->ring.descriptors[2].address, text); /* a long one goes by reference */
    assert_int_equal(link->ops->send(link, "g", 1), E_OK);
    assert_int_equal(queue->queued, 4);
    device_used(queue, 0, 0);
    assert_int_equal(link->ops->sent(link), 2);
    link->ops->kick(link);
    device_used(queue, 1, 0);
    device_used(queue, 2, 0);
    assert_int_equal(link->ops->sent(link), 4);
    free(bench);
}

TEST(joined_segments_lie_still_until_the_device_is_done)
{
    struct bench *bench = bench_open();
    struct virtio_queue *queue = &bench->ports[0].transmit;
    const uint64_t oldest = two_short(bench).address;
    for (unsigned i = 1; i < VIRTIO_STAGES; i++) {
        assert_true(two_short(bench).address != oldest);
    }
    assert_int_equal(queue->queued, VIRTIO_STAGES);
    assert_int_equal(two_short(bench).bytes, 2); /* no place to join them in */
    device_used(queue, 0, 0);
    assert_int_equal(two_short(bench).address, oldest);
    free(bench);
}

TEST(listen_asks_for_transmit_interrupts_only_for_who_asked_what_is_sent)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct virtio_queue *queue = &bench->ports[0].transmit;
    assert_false(virtio_serial_listen(&bench->serial));
    assert_int_equal(bench->ports[0].receive.ring.avail_flags, 0);
    assert_int_equal(queue->ring.avail_flags, VIRTIO_AVAIL_NO_INTERRUPT);
    assert_int_equal(link->ops->send(link, "x", 1), E_OK);
    link->ops->kick(link);
    assert_false(virtio_serial_listen(&bench->serial));
    assert_int_equal(queue->ring.avail_flags, VIRTIO_AVAIL_NO_INTERRUPT);
    assert_int_equal(link->ops->sent(link), 0);
    assert_false(virtio_serial_listen(&bench->serial));
    assert_int_equal(queue->ring.avail_flags, 0);
    device_used(queue, 0, 0);
    assert_true(virtio_serial_listen(&bench->serial));
    assert_false(virtio_serial_listen(&bench->serial)); /* told once */
    virtio_serial_quiet(&bench->serial);
    assert_int_equal(bench->ports[0].receive.ring.avail_flags, VIRTIO_AVAIL_NO_INTERRUPT);
    free(bench);
}

TEST(a_patient_link_is_woken_when_enough_chunks_lie_there)
{
    struct bench *bench = bench_with(EVENT_INDEX);
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct virtio_ring *ring = &bench->ports[0].receive.ring;
    assert_false(virtio_serial_listen(&bench->serial));
    assert_int_equal(ring->used_event, ring->used_index); /* the next chunk */
    link->coalesce = 2;
    assert_false(virtio_serial_listen(&bench->serial));
    assert_int_equal((uint16_t)(ring->used_event - ring->used_index), 1); /* the second */
    device_sends(bench, 0, "a");
    assert_false(virtio_serial_listen(&bench->serial));
    assert_true(link_has_input(link)); /* for one who is awake */
    device_sends(bench, 0, "b");
    assert_true(virtio_serial_listen(&bench->serial));
    link->coalesce = BUFFERS; /* more than half of what the device has: it would run dry */
    device_sends(bench, 0, "c");
    assert_true(virtio_serial_listen(&bench->serial));
    virtio_serial_quiet(&bench->serial);
    assert_int_equal(ring->avail_flags, 0);
    assert_int_equal((uint16_t)(ring->used_event - ring->used_index), UINT16_MAX - 3); /* past */
    free(bench);
}

TEST(a_closed_port_has_lost_its_carrier_for_good)
{
    struct bench *bench = bench_open();
    device_tells(bench, 1, EVENT_OPEN, 0);
    virtio_serial_interrupt(&bench->serial);
    assert_int_equal(carrier(bench), CARRIER_LOST);
    device_tells(bench, 1, EVENT_OPEN, 1);
    virtio_serial_interrupt(&bench->serial);
    assert_int_equal(carrier(bench), CARRIER_LOST);
    assert_int_equal(bench->ports[1].link.carrier, CARRIER_UP);
    free(bench);
}

TEST(a_message_for_a_port_that_cannot_be_changes_nothing)
{
    struct bench *bench = bench_open();
    device_tells(bench, 0, EVENT_OPEN, 0);
    device_tells(bench, LINKS + 1, EVENT_OPEN, 0);
    device_tells(bench, 255, EVENT_ADD, 1);
    virtio_serial_interrupt(&bench->serial);
    assert_int_equal(carrier(bench), CARRIER_UP);
    free(bench);
}

/* Whatever the lie: no chunk comes of it and the links are gone. */
static void receive_fails_after(uint32_t id, uint32_t bytes, uint16_t index_step)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct link_chunk chunk;
    device_used(&bench->ports[0].receive, id, bytes);
    bench->ports[0].receive.ring.used_index =
        (uint16_t)(bench->ports[0].receive.ring.used_index + index_step);
    assert_false(link->ops->receive(link, &chunk));
    assert_int_equal(carrier(bench), CARRIER_LOST);
    free(bench);
}

TEST(a_lying_device_loses_its_links)
{
    receive_fails_after(BUFFERS, 1, 0);
    receive_fails_after(UINT32_MAX, 1, 0);
    receive_fails_after(0, LINK_CHUNK_MAX + 1, 0);
    receive_fails_after(0, 1, BUFFERS);
}

TEST(a_buffer_that_we_hold_cannot_arrive_again)
{
    struct bench *bench = bench_open();
    struct link *link = virtio_serial_link(&bench->serial, 0);
    struct link_chunk chunk;
    device_used(&bench->ports[0].receive, 2, 1);
    assert_true(link->ops->receive(link, &chunk));
    device_used(&bench->ports[0].receive, 2, 1);
    assert_false(link->ops->receive(link, &chunk));
    assert_int_equal(carrier(bench), CARRIER_LOST);
    free(bench);
}
