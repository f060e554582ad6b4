#include "host/machine/record_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "host/computer/target.h"
#include "host/debug/rsp_client.h"
#include "host/machine/rundir.h"
#include "wire/record.h"

enum { PIECE_RECORDS = 1024 };

/* Records from number `from` on, so many of them that lie in a row. */
static int read_row(struct rsp_client *client, const struct record_ring *ring, uint64_t from,
                    uint32_t count, uint8_t *records, struct message *message)
{
    uint32_t at = ring->at + (uint32_t)(from % ring->room) * (uint32_t)RECORD_BYTES;

    return rsp_client_memory(client, target_board()->record_base + at, records,
                             count * (uint32_t)RECORD_BYTES, message);
}

static int read_ring(struct record_memory *memory, struct rsp_client *client,
                     const struct record_ring *ring, const atomic_bool *stop,
                     struct message *message)
{
    uint64_t there = ring->written < ring->room ? ring->written : ring->room;
    uint64_t left = there;
    uint8_t *at = malloc(there * RECORD_BYTES + 1);

    memory->records = at;
    while (at && left > 0) {
        uint64_t from = ring->written - left;
        uint64_t row = ring->room - from % ring->room;
        row = row < left ? row : left;
        row = row < PIECE_RECORDS ? row : PIECE_RECORDS;
        if (atomic_load(stop)) {
            return message_set(message, "broken off");
        }
        if (read_row(client, ring, from, (uint32_t)row, at, message) != 0) {
            return -1;
        }
        left -= row;
        at += row * RECORD_BYTES;
    }
    memory->count = (uint32_t)there;
    memory->lost = ring->written - there;
    return at ? 0 : message_set(message, "out of memory");
}

/* What the head says is believed as far as it lies in the memory for records. */
static int read_head(struct rsp_client *client, uint8_t generation, struct record_ring *ring,
                     struct message *message)
{
    const struct board *board = target_board();
    uint8_t head[RECORD_RING_BYTES];

    if (rsp_client_memory(client, board->record_base, head, sizeof head, message) != 0) {
        return -1;
    }
    if (!record_ring_unpack(head, generation, ring) || ring->at > board->record_bytes ||
        ring->room > (board->record_bytes - ring->at) / RECORD_BYTES) {
        return message_set(message, "the node has no records of this program");
    }
    return 0;
}

int record_memory_read(struct record_memory *memory, const char *rundir, uint8_t generation,
                       const atomic_bool *stop, struct message *message)
{
    char path[RUNDIR_PATH_MAX + RUNDIR_FILE_MAX];
    struct rsp_client *client = malloc(sizeof *client);
    struct record_ring ring;
    int status;

    if (!client) {
        return message_set(message, "out of memory");
    }
    snprintf(path, sizeof path, "%s/n%u.gdb", rundir, (unsigned)memory->node);
    status = rsp_client_open(client, path, message);
    if (status == 0) {
        status = read_head(client, generation, &ring, message);
        status = status == 0 ? read_ring(memory, client, &ring, stop, message) : status;
        rsp_client_leave(client, true);
    }
    if (status != 0) {
        free(memory->records);
        memory->records = NULL;
        memory->count = 0;
    }
    free(client);
    return status;
}
