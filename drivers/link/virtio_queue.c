#include "drivers/link/virtio_queue.h"

#include "drivers/mmio.h"
#include "drivers/status.h"

_Static_assert(sizeof(struct virtio_descriptor) == 16, "virtio 2.6.5");
_Static_assert(sizeof(struct virtio_used_entry) == 8, "virtio 2.6.8");

static void address_write(const struct virtio_queue *queue, enum virtio_register offset,
                          const volatile void *address)
{
    uint64_t value = (uintptr_t)address;
    mmio_write32(queue->base + (uintptr_t)offset, (uint32_t)value);
    mmio_write32(queue->base + (uintptr_t)offset + 4, (uint32_t)(value >> 32));
}

void virtio_queue_listen(struct virtio_queue *queue, uint16_t count)
{
    queue->ring.avail_flags = 0;
    queue->ring.used_event = (uint16_t)(queue->taken + count - 1);
}

void virtio_queue_quiet(struct virtio_queue *queue)
{
    queue->ring.avail_flags = queue->event_index ? 0 : VIRTIO_AVAIL_NO_INTERRUPT;
    queue->ring.used_event = (uint16_t)(queue->taken - 1); /* long past */
}

int virtio_queue_init(struct virtio_queue *queue, uintptr_t base, uint32_t number, bool event_index)
{
    queue->base = base;
    queue->number = number;
    queue->queued = 0;
    queue->taken = 0;
    queue->heard = 0;
    queue->event_index = event_index;
    virtio_queue_quiet(queue);
    queue->ring.avail_index = 0;
    queue->ring.used_flags = 0;
    queue->ring.used_index = 0;

    mmio_write32(base + VIRTIO_QUEUE_SEL, number);
    if (mmio_read32(base + VIRTIO_QUEUE_NUM_MAX) < VIRTIO_RING) {
        return E_LINK_DEAD;
    }
    mmio_write32(base + VIRTIO_QUEUE_NUM, VIRTIO_RING);
    address_write(queue, VIRTIO_QUEUE_DESC, queue->ring.descriptors);
    address_write(queue, VIRTIO_QUEUE_DRIVER, &queue->ring.avail_flags);
    address_write(queue, VIRTIO_QUEUE_DEVICE, &queue->ring.used_flags);
    mmio_barrier();
    mmio_write32(base + VIRTIO_QUEUE_READY, 1);
    return E_OK;
}

void virtio_queue_put(struct virtio_queue *queue, uint16_t descriptor)
{
    queue->ring.avail[queue->queued % VIRTIO_RING] = descriptor;
    queue->queued++;
}

void virtio_queue_publish(struct virtio_queue *queue)
{
    mmio_barrier(); /* descriptors and entries before the index that covers them */
    queue->ring.avail_index = queue->queued;
    mmio_barrier(); /* the index before a look at what the device did meanwhile, before a kick */
}

void virtio_queue_notify(const struct virtio_queue *queue)
{
    mmio_write32(queue->base + VIRTIO_QUEUE_NOTIFY, queue->number);
}

int virtio_queue_take(struct virtio_queue *queue, uint32_t *id, uint32_t *bytes)
{
    uint16_t waiting = (uint16_t)(queue->ring.used_index - queue->taken);
    if (waiting == 0) {
        return 0;
    }
    if (waiting > (uint16_t)(queue->ring.avail_index - queue->taken)) {
        return E_LINK_DEAD;
    }
    mmio_barrier(); /* the index before the entry that it covers */
    const volatile struct virtio_used_entry *entry = &queue->ring.used[queue->taken % VIRTIO_RING];
    *id = entry->id;
    *bytes = entry->bytes;
    queue->taken++;
    return 1;
}

bool virtio_queue_news(struct virtio_queue *queue, uint16_t count)
{
    uint16_t used = queue->ring.used_index;
    bool news = (uint16_t)(used - queue->taken) >= count && used != queue->heard;
    queue->heard = used;
    return news;
}
