#include "drivers/link/virtio_serial.h"

#include <stddef.h>

#include "drivers/check.h"
#include "drivers/mmio.h"
#include "drivers/status.h"

enum {
    MAGIC = 0x74726976, /* MagicValue: the first four letters of virtio */
    VERSION_MODERN = 2,
    DEVICE_CONSOLE = 3,
    STATUS_ACKNOWLEDGE = 1,
    STATUS_DRIVER = 2,
    STATUS_DRIVER_OK = 4,
    STATUS_FEATURES_OK = 8,
    INTERRUPT_USED = 1,
    INTERRUPT_CONFIG = 2,
    FEATURE_MULTIPORT = 1 << 1, /* in the low word */
    FEATURE_EVENT_INDEX = 1 << 29,
    FEATURE_VERSION_1 = 1 << 0, /* bit 32, in the high word */
    CONFIG_MAX_PORTS = 4,       /* after columns and rows, 16 bits each */
    CONTROL_QUEUE_RECEIVE = 2,
    CONTROL_QUEUE_TRANSMIT = 3,
    PAGE_BYTES_MIN = 4096,       /* memory is there or absent in pages of this size, or larger */
    ANSWER_POLLS_MAX = 100000000 /* looks at memory, some hundred milliseconds */
};

/* struct virtio_console_control: 0 port u32 | 4 event u16 | 6 value u16 */
enum control_event {
    DEVICE_READY = 0,
    PORT_ADD = 1,
    PORT_REMOVE = 2,
    PORT_READY = 3,
    PORT_OPEN = 6,
    CONTROL_BYTES = 8
};

_Static_assert(LINK_BUFFERS_MAX <= 64, "bits of posted");

static const struct link_ops serial_ops;

static uint32_t register_read(const struct virtio_serial *serial, enum virtio_register offset)
{
    return mmio_read32(serial->config.base + (uintptr_t)offset);
}

static void register_write(const struct virtio_serial *serial, enum virtio_register offset,
                           uint32_t value)
{
    mmio_write32(serial->config.base + (uintptr_t)offset, value);
}

/* The device breaks its own rules: none of its links is to be trusted. */
static void device_broken(struct virtio_serial *serial)
{
    serial->broken = true;
    for (uint32_t i = 0; i < serial->config.port_count; i++) {
        serial->config.ports[i].link.carrier = CARRIER_LOST;
    }
}

/* queue_take with every lie of the device turned into one flag. */
static bool queue_take(struct virtio_serial *serial, struct virtio_queue *queue, uint32_t *id,
                       uint32_t *bytes)
{
    int taken = serial->broken ? 0 : virtio_queue_take(queue, id, bytes);
    if (taken < 0) {
        device_broken(serial);
    }
    return taken > 0;
}

/* ---- control messages ---- */

static void control_post(struct virtio_serial *serial, uint16_t buffer)
{
    struct virtio_descriptor *descriptor = &serial->control_receive.ring.descriptors[buffer];
    descriptor->address = (uintptr_t)serial->control_buffers[buffer];
    descriptor->bytes = VIRTIO_CONTROL_BUFFER_BYTES;
    descriptor->flags = VIRTIO_DESCRIPTOR_DEVICE_WRITES;
    virtio_queue_put(&serial->control_receive, buffer);
}

/*
 * Sends a control message and waits until the device has dealt with it. The device hands the
 * descriptor back after it has acted, so by then its answers are in the receive ring: this is how
 * enumeration knows that it is complete.
 */
static int control_send(struct virtio_serial *serial, uint32_t port_number,
                        enum control_event event, uint16_t value)
{
    struct virtio_queue *queue = &serial->control_transmit;
    serial->control_message[0] = port_number;
    serial->control_message[1] = (uint32_t)event | (uint32_t)value << 16;
    queue->ring.descriptors[0] = (struct virtio_descriptor){
        .address = (uintptr_t)serial->control_message, .bytes = CONTROL_BYTES};
    virtio_queue_put(queue, 0);
    virtio_queue_publish(queue);
    virtio_queue_notify(queue);

    uint32_t id;
    uint32_t bytes;
    for (uint32_t polls = 0; polls < ANSWER_POLLS_MAX; polls++) {
        if (queue_take(serial, queue, &id, &bytes)) {
            return E_OK;
        }
        if (serial->broken) {
            return E_LINK_DEAD;
        }
    }
    return E_TIMEOUT;
}

static struct virtio_serial_port *port_numbered(struct virtio_serial *serial, uint32_t number)
{
    if (number == 0 || number > serial->config.port_count) {
        return NULL; /* port 0 is the device's console, and no link */
    }
    return &serial->config.ports[number - 1];
}

static void control_handle(struct virtio_serial *serial, const uint8_t *message)
{
    uint32_t number = message[0] | (uint32_t)message[1] << 8 | (uint32_t)message[2] << 16 |
                      (uint32_t)message[3] << 24;
    uint32_t event = message[4] | (uint32_t)message[5] << 8;
    uint32_t value = message[6] | (uint32_t)message[7] << 8;
    struct virtio_serial_port *port = port_numbered(serial, number);
    if (port == NULL) {
        return;
    }
    if (event == PORT_ADD) {
        port->added = true;
    } else if (event == PORT_OPEN && value != 0 && port->link.carrier == CARRIER_UNKNOWN) {
        port->link.carrier = CARRIER_UP;
    } else if (event == PORT_OPEN && value == 0 && port->link.carrier == CARRIER_UP) {
        port->link.carrier = CARRIER_LOST;
    } else if (event == PORT_REMOVE) {
        port->link.carrier = CARRIER_LOST;
    }
}

static void control_receive(struct virtio_serial *serial)
{
    struct virtio_queue *queue = &serial->control_receive;
    uint32_t id;
    uint32_t bytes;
    bool taken = false;
    while (queue_take(serial, queue, &id, &bytes)) {
        if (id >= VIRTIO_RING) {
            device_broken(serial);
            return;
        }
        if (bytes >= CONTROL_BYTES) {
            control_handle(serial, serial->control_buffers[id]);
        }
        control_post(serial, (uint16_t)id);
        taken = true;
    }
    if (taken) {
        virtio_queue_listen(queue, 1);
        virtio_queue_publish(queue);
    }
}

/* ---- start-up ---- */

static int device_negotiate(struct virtio_serial *serial)
{
    if (register_read(serial, VIRTIO_MAGIC_VALUE) != MAGIC ||
        register_read(serial, VIRTIO_VERSION) != VERSION_MODERN ||
        register_read(serial, VIRTIO_DEVICE_ID) != DEVICE_CONSOLE) {
        return E_LINK_DEAD;
    }
    register_write(serial, VIRTIO_STATUS, 0);
    register_write(serial, VIRTIO_STATUS, STATUS_ACKNOWLEDGE);
    register_write(serial, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER);
    register_write(serial, VIRTIO_DEVICE_FEATURES_SEL, 0);
    uint32_t low = register_read(serial, VIRTIO_DEVICE_FEATURES);
    register_write(serial, VIRTIO_DEVICE_FEATURES_SEL, 1);
    uint32_t high = register_read(serial, VIRTIO_DEVICE_FEATURES);
    if ((low & FEATURE_MULTIPORT) == 0 || (high & FEATURE_VERSION_1) == 0) {
        return E_LINK_DEAD;
    }
    register_write(serial, VIRTIO_DRIVER_FEATURES_SEL, 0);
    register_write(serial, VIRTIO_DRIVER_FEATURES, FEATURE_MULTIPORT | (low & FEATURE_EVENT_INDEX));
    register_write(serial, VIRTIO_DRIVER_FEATURES_SEL, 1);
    register_write(serial, VIRTIO_DRIVER_FEATURES, FEATURE_VERSION_1);
    register_write(serial, VIRTIO_STATUS, STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK);
    if ((register_read(serial, VIRTIO_STATUS) & STATUS_FEATURES_OK) == 0) {
        return E_LINK_DEAD;
    }
    serial->event_index = (low & FEATURE_EVENT_INDEX) != 0;
    uint32_t device_ports = register_read(serial, VIRTIO_CONFIG + CONFIG_MAX_PORTS);
    if (serial->config.port_count >= device_ports) {
        serial->config.port_count = device_ports == 0 ? 0 : device_ports - 1;
    }
    return E_OK;
}

static void port_post(struct virtio_serial_port *port, uint16_t buffer)
{
    struct virtio_descriptor *descriptor = &port->receive.ring.descriptors[buffer];
    descriptor->address =
        (uintptr_t)(port->buffers + (size_t)buffer * LINK_BUFFER_BYTES + LINK_HEADROOM);
    descriptor->bytes = LINK_CHUNK_MAX;
    descriptor->flags = VIRTIO_DESCRIPTOR_DEVICE_WRITES;
    port->posted |= UINT64_C(1) << buffer;
    virtio_queue_put(&port->receive, buffer);
}

static int port_init(struct virtio_serial *serial, uint32_t number)
{
    struct virtio_serial_port *port = port_numbered(serial, number);
    port->link.ops = &serial_ops;
    port->link.arrived = &port->receive.ring.used_index;
    port->link.taken = 0;
    port->link.coalesce = 0;
    port->device = serial;
    port->buffers = serial->config.buffers + (size_t)(number - 1) * serial->config.port_bytes;
    port->posted = 0;
    port->queued = 0;
    port->sent = 0;
    virtio_stage_init(&port->stages);
    port->number = number;
    port->added = false;
    port->starved = false;
    port->watched = false;
    port->link.carrier = CARRIER_UNKNOWN;
    int status =
        virtio_queue_init(&port->receive, serial->config.base, 2 * number + 2, serial->event_index);
    if (status == E_OK) {
        status = virtio_queue_init(&port->transmit, serial->config.base, 2 * number + 3,
                                   serial->event_index);
    }
    return status;
}

/* Opens a port that the device has announced. Its names and its host side's state come back as
 * control messages. */
static int port_open(struct virtio_serial *serial, struct virtio_serial_port *port)
{
    for (uint32_t b = 0; b < serial->config.buffer_count; b++) {
        port_post(port, (uint16_t)b);
    }
    virtio_queue_publish(&port->receive);
    int status = control_send(serial, port->number, PORT_READY, 1);
    control_receive(serial);
    if (status == E_OK) {
        status = control_send(serial, port->number, PORT_OPEN, 1);
        control_receive(serial);
    }
    /* The device drops a kick that comes before it knows that we are open. */
    virtio_queue_notify(&port->receive);
    return status;
}

int virtio_serial_init(struct virtio_serial *serial, const struct virtio_serial_config *config)
{
    serial->config = *config;
    serial->link_count = 0;
    serial->broken = false;
    CHECK(config->buffer_count >= 1 && config->buffer_count <= LINK_BUFFERS_MAX);
    int status = device_negotiate(serial);
    if (status == E_OK) {
        status = virtio_queue_init(&serial->control_receive, serial->config.base,
                                   CONTROL_QUEUE_RECEIVE, serial->event_index);
    }
    if (status == E_OK) {
        status = virtio_queue_init(&serial->control_transmit, serial->config.base,
                                   CONTROL_QUEUE_TRANSMIT, serial->event_index);
    }
    for (uint32_t n = 1; status == E_OK && n <= serial->config.port_count; n++) {
        status = port_init(serial, n);
    }
    if (status != E_OK) {
        return status;
    }
    for (uint16_t b = 0; b < VIRTIO_RING; b++) {
        control_post(serial, b);
    }
    virtio_queue_listen(&serial->control_receive, 1);
    virtio_queue_publish(&serial->control_receive);
    register_write(serial, VIRTIO_STATUS,
                   STATUS_ACKNOWLEDGE | STATUS_DRIVER | STATUS_FEATURES_OK | STATUS_DRIVER_OK);
    virtio_queue_notify(&serial->control_receive);
    status = control_send(serial, 0, DEVICE_READY, 1);
    control_receive(serial);
    for (uint32_t n = 1; status == E_OK && n <= serial->config.port_count; n++) {
        if (serial->config.ports[n - 1].added) {
            status = port_open(serial, &serial->config.ports[n - 1]);
            serial->link_count = n;
        }
    }
    return status == E_OK ? (int)serial->link_count : status;
}

struct link *virtio_serial_link(struct virtio_serial *serial, uint32_t link_index)
{
    CHECK(link_index < serial->link_count);
    return &serial->config.ports[link_index].link;
}

/* ---- the link contract ---- */

static struct virtio_serial_port *port_of(struct link *link)
{
    return (struct virtio_serial_port *)link; /* its first member */
}

/* Descriptors come back in the order they went out, so slot i of the table is free again before its
 * next turn. */
static uint32_t port_sent(struct link *link)
{
    struct virtio_serial_port *port = port_of(link);
    uint32_t id;
    uint32_t bytes;
    uint16_t next = port->transmit.taken;
    while (queue_take(port->device, &port->transmit, &id, &bytes)) {
        if (id != next++ % VIRTIO_RING) {
            device_broken(port->device);
            break;
        }
        port->sent = port->ends[id];
    }
    port->watched = port->transmit.queued != port->transmit.taken;
    return port->sent;
}

/* The device reads memory as it is; memory that comes to be when the processor touches it must be
 * touched first. */
static void touch(const volatile uint8_t *data, uint32_t bytes)
{
    uint32_t into_page = (uint32_t)(uintptr_t)data % PAGE_BYTES_MIN;
    (void)data[0];
    for (uint32_t at = PAGE_BYTES_MIN - into_page; at < bytes; at += PAGE_BYTES_MIN) {
        (void)data[at];
    }
}

static int port_send(struct link *link, const void *data, uint32_t bytes)
{
    struct virtio_serial_port *port = port_of(link);
    struct virtio_queue *queue = &port->transmit;
    CHECK(bytes > 0);
    if (!virtio_stage_free(&port->stages, queue)) {
        (void)port_sent(link);
    }
    if (virtio_stage_join(&port->stages, queue, data, bytes)) {
        port->ends[(uint16_t)(queue->queued - 1) % VIRTIO_RING] = ++port->queued;
        return E_OK;
    }
    if ((uint16_t)(queue->queued - queue->taken) == VIRTIO_RING) {
        (void)port_sent(link);
        if ((uint16_t)(queue->queued - queue->taken) == VIRTIO_RING) {
            return E_FULL;
        }
    }
    touch(data, bytes);
    uint16_t slot = queue->queued % VIRTIO_RING;
    queue->ring.descriptors[slot] =
        (struct virtio_descriptor){.address = (uintptr_t)data, .bytes = bytes};
    virtio_queue_put(queue, slot);
    port->ends[slot] = ++port->queued;
    virtio_stage_leave(&port->stages);
    return E_OK;
}

static void port_kick(struct link *link)
{
    struct virtio_serial_port *port = port_of(link);
    if (port->transmit.ring.avail_index == port->transmit.queued) {
        return;
    }
    virtio_queue_publish(&port->transmit);
    virtio_queue_notify(&port->transmit);
}

static void port_flush(struct virtio_serial_port *port)
{
    if (port->starved) {
        port->starved = false;
        virtio_queue_notify(&port->receive);
    }
}

/*
 * Gives buffers back at once, without telling: a device that has buffers left looks again by
 * itself. One that has used all it was given has stopped looking, and is told, but not for each
 * buffer.
 */
static void port_repost(struct virtio_serial_port *port, uint16_t buffer)
{
    struct virtio_queue *queue = &port->receive;
    uint16_t before = queue->queued;
    port_post(port, buffer);
    virtio_queue_publish(queue);
    if (queue->ring.used_index == before) {
        port->starved = true;
    }
}

static bool port_receive(struct link *link, struct link_chunk *chunk)
{
    struct virtio_serial_port *port = port_of(link);
    uint32_t id;
    uint32_t bytes;
    while (queue_take(port->device, &port->receive, &id, &bytes)) {
        port->link.taken = port->receive.taken;
        if (id >= port->device->config.buffer_count || bytes > LINK_CHUNK_MAX ||
            (port->posted >> id & 1) == 0) {
            device_broken(port->device);
            break;
        }
        port->posted &= ~(UINT64_C(1) << id);
        if (bytes > 0) {
            chunk->data = port->buffers + (size_t)id * LINK_BUFFER_BYTES + LINK_HEADROOM;
            chunk->bytes = bytes;
            chunk->buffer = (uint16_t)id;
            return true;
        }
        port_repost(port, (uint16_t)id);
    }
    port_flush(port);
    return false;
}

static void port_release(struct link *link, uint16_t buffer)
{
    struct virtio_serial_port *port = port_of(link);
    CHECK(buffer < port->device->config.buffer_count && (port->posted >> buffer & 1) == 0);
    port_repost(port, buffer);
}

static const struct link_ops serial_ops = {
    .send = port_send,
    .kick = port_kick,
    .sent = port_sent,
    .receive = port_receive,
    .release = port_release,
};

/* ---- interrupts ---- */

void virtio_serial_flush(struct virtio_serial *serial)
{
    for (uint32_t i = 0; i < serial->link_count; i++) {
        port_flush(&serial->config.ports[i]);
    }
}

/* How many chunks must lie at a port before its user is woken. A device that is about to run out of
 * buffers is not kept waiting for more. */
static uint16_t coalesced(const struct virtio_serial_port *port)
{
    uint32_t given = (uint16_t)(port->receive.queued - port->receive.taken);
    uint32_t wanted = port->link.coalesce;
    return (uint16_t)(wanted <= 1 || wanted > given / 2 ? 1 : wanted);
}

/*
 * Ask first, look second: what the device used before it saw the request is found here, what it
 * uses after that raises the interrupt. Sending is reported only to one who has asked for it.
 */
bool virtio_serial_listen(struct virtio_serial *serial)
{
    virtio_serial_flush(serial);
    for (uint32_t i = 0; i < serial->link_count; i++) {
        struct virtio_serial_port *port = &serial->config.ports[i];
        virtio_queue_listen(&port->receive, coalesced(port));
        if (port->watched) {
            virtio_queue_listen(&port->transmit, 1);
        } else {
            virtio_queue_quiet(&port->transmit);
        }
    }
    mmio_barrier();
    bool news = false;
    for (uint32_t i = 0; i < serial->link_count; i++) {
        struct virtio_serial_port *port = &serial->config.ports[i];
        news |= virtio_queue_news(&port->receive, coalesced(port));
        if (port->watched && virtio_queue_news(&port->transmit, 1)) {
            port->watched = false;
            news = true;
        }
    }
    return news && !serial->broken;
}

void virtio_serial_quiet(struct virtio_serial *serial)
{
    for (uint32_t i = 0; i < serial->link_count; i++) {
        virtio_queue_quiet(&serial->config.ports[i].receive);
        virtio_queue_quiet(&serial->config.ports[i].transmit);
    }
}

void virtio_serial_interrupt(struct virtio_serial *serial)
{
    register_write(serial, VIRTIO_INTERRUPT_ACK, INTERRUPT_USED | INTERRUPT_CONFIG);
    mmio_barrier();
    control_receive(serial);
}
