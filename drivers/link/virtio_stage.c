#include "drivers/link/virtio_stage.h"

#include <string.h>

void virtio_stage_init(struct virtio_stages *stages)
{
    stages->used = false;
    stages->present = 0;
    memset(stages->ends, 0, sizeof(stages->ends));
}

bool virtio_stage_free(const struct virtio_stages *stages, const struct virtio_queue *queue)
{
    uint16_t end = stages->ends[(stages->present + 1) % VIRTIO_STAGES];
    return (int16_t)(queue->taken - end) >= 0;
}

bool virtio_stage_join(struct virtio_stages *stages, struct virtio_queue *queue, const void *data,
                       uint32_t bytes)
{
    struct virtio_descriptor *newest =
        &queue->ring.descriptors[(uint16_t)(queue->queued - 1) % VIRTIO_RING];
    if (queue->queued == queue->ring.avail_index || newest->bytes + bytes > VIRTIO_STAGE_BYTES) {
        return false;
    }
    if (!stages->used) {
        if (!virtio_stage_free(stages, queue)) {
            return false;
        }
        stages->used = true;
        stages->present = (uint8_t)((stages->present + 1) % VIRTIO_STAGES);
        stages->ends[stages->present] = queue->queued;
        uint8_t *stage = stages->memory[stages->present];
        memcpy(stage, (const void *)(uintptr_t)newest->address, newest->bytes);
        newest->address = (uintptr_t)stage;
    }
    memcpy(stages->memory[stages->present] + newest->bytes, data, bytes);
    newest->bytes += bytes;
    return true;
}
