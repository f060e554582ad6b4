/*
 * link.c - frames from a router into buffers, and from buffers to the other router.
 *
 * What is sent is copied, or held if it is a packet that is passed on, and put aside until the
 * round is over. Then it is in the list of its receiver (`flight`), in order; the oldest is shown
 * when its wall time and its model time have come. The receiver holds it (`held`) until its router
 * gives it back. Faults act on whole frames before they go (launch). An end is written by its own
 * partition alone.
 */
#include "sim/core/link.h"

#include <stddef.h>
#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "sim/core/actor.h"
#include "sim/core/fault.h"
#include "sim/core/loop.h"
#include "sim/observe/history.h"
#include "sim/core/partition.h"
#include "sim/core/random.h"
#include "sim/core/state.h"
#include "wire/circuit.h"

_Static_assert(sizeof(void *) != 8 || offsetof(struct sim_end, held) == 128, "two lines");

/* Where every frame passes: 1 % of the instructions of a run are not spent on calls. */
#define EVERY_FRAME inline __attribute__((always_inline))

static const uint64_t second_ns = UINT64_C(1000000000);

static uint32_t end_index(const struct sim_end *end)
{
    return (uint32_t)(end - end->partition->sim->ends);
}

/* The link has something to tell its user. */
static void wake(struct sim_end *end)
{
    struct sim *sim = end->partition->sim;
    struct actor *actor = &sim->actors[end->actor];

    actor->links_due |= UINT32_C(1) << end->port;
    if (!actor->queued) {
        sim_wake(sim, end->actor);
    }
}

/* The receiver sees the chunk. */
static EVERY_FRAME void show(struct sim_end *end, struct chunk *chunk)
{
    struct partition *partition = end->partition;
    struct sim *sim = partition->sim;
    uint64_t head[3] = {0};

    if (chunk->bytes >= sizeof head && !chunk->middle) {
        memcpy(head, chunk->data, sizeof head); /* of a size that the compiler knows */
    } else if (!chunk->middle || !sim->unseen_bytes) {
        memcpy(head, chunk->data, chunk->bytes < sizeof head ? chunk->bytes : sizeof head);
    }
    uint64_t place = (uint64_t)end_index(end) << 40, bytes = (uint64_t)chunk->bytes << 48;
    partition_digest(partition, (uint64_t[]){sim->now_ns ^ place, head[0] ^ head[2],
                                             sim->wall_ns + bytes, head[1]});
    end->flight = chunk->next;
    end->arrived++;
    partition->events++;
    if (sim->options.history &&
        (!sim->options.stop_at || partition->events <= sim->options.stop_at)) {
        history_add(sim, end, chunk);
    }
    wake(end);
}

/* Shows what is due, and leaves an event for what is not. */
static EVERY_FRAME void advance(struct sim_end *end)
{
    struct partition *partition = end->partition;
    const struct sim *sim = partition->sim;

    while (!end->waiting && end->flight) {
        struct chunk *chunk = end->flight;
        if (chunk->wall_due_ns > sim->wall_ns) {
            partition_at_wall(partition, chunk->wall_due_ns, DUE_LINK, end_index(end));
            end->waiting = true;
        } else if (chunk->model_due_ns > sim->now_ns) {
            unsigned odd = sim->wall_ns / HOLD_EPOCH_NS & 1;
            partition->withheld[odd]++;
            partition_at_model(partition, chunk->model_due_ns, odd ? DUE_HELD1 : DUE_HELD,
                               end_index(end));
            end->waiting = true;
        } else {
            show(end, chunk);
        }
    }
}

void sim_end_due(struct sim_end *end)
{
    end->waiting = false;
    advance(end);
}

/* Adds to what is under way to an end. */
static inline void append(struct sim_end *to, struct chunk *first, struct chunk *last)
{
    *(to->first ? &to->last->next : &to->first) = first;
    to->last = last;
    if (!to->flight) {
        to->flight = first;
    }
}

static void discard(struct pool *pool, struct chunk *chunk)
{
    while (chunk) {
        struct chunk *next = chunk->next;
        pool_give(pool, chunk);
        chunk = next;
    }
}

void sim_end_take(struct sim_end *end, struct chunk *first)
{
    if (end->link.carrier == CARRIER_LOST) {
        discard(&end->partition->pool, first); /* lost with its link */
        return;
    }
    append(end, first, first->last);
    advance(end);
}

/* When a frame that is sent now is there. */
static uint64_t physical(struct sim *sim, struct sim_end *end, uint32_t bytes)
{
    const struct sim_faults *faults = &sim->options.faults;
    uint64_t leaves = sim->wall_ns;

    if (faults->rate) {
        leaves = leaves > end->busy_ns ? leaves : end->busy_ns;
        leaves += bytes * second_ns / faults->rate;
        end->busy_ns = leaves;
    }
    if (faults->jitter_ns) {
        leaves += random_below(&sim->seed, (uint32_t)faults->jitter_ns + 1);
    }
    return leaves + faults->delay_ns;
}

/* A piece of a frame for an end of another partition, or of the host: its bytes follow. */
struct record {
    uint64_t wall_due_ns, model_due_ns;
    uint32_t end; /* its index */
    uint32_t bytes, seen;
    uint8_t kind; /* enum chunk_kind */
    bool middle;
};

static inline bool is_own(const struct sim_end *end)
{
    return end->to_partition == end->partition->number;
}

/* Adds a record to what goes to the peer's partition; NULL: there is no memory. */
static inline struct record *add_record(struct partition *partition, const struct sim_end *end,
                                        struct record head)
{
    struct record *record =
        mailbag_add(&partition->out[end->to_partition], sizeof head + head.seen);

    if (record) {
        head.end = (uint32_t)(end->peer - partition->sim->ends);
        *record = head;
    }
    partition->no_memory |= !record;
    return record;
}

/* The pieces of a frame for another partition; they go back to the pool. */
static void post(struct partition *partition, const struct sim_end *end, struct chunk *first)
{
    for (const struct chunk *chunk = first; chunk; chunk = chunk->next) {
        struct record *record = add_record(partition, end,
                                           (struct record){.wall_due_ns = chunk->wall_due_ns,
                                                           .model_due_ns = chunk->model_due_ns,
                                                           .bytes = chunk->bytes,
                                                           .seen = chunk->seen,
                                                           .kind = chunk->kind,
                                                           .middle = chunk->middle});
        if (record) {
            memcpy(record + 1, chunk->data, chunk->seen);
        }
    }
    discard(&partition->pool, first);
}

size_t sim_take_record(struct partition *partition, const uint8_t *bytes)
{
    const struct record *record = (const struct record *)bytes;
    struct chunk *chunk = pool_take(&partition->pool, (enum chunk_kind)record->kind);

    if (chunk) {
        memcpy(chunk->data, record + 1, record->seen);
        chunk->bytes = record->bytes;
        chunk->seen = record->seen;
        chunk->middle = record->middle;
        chunk->wall_due_ns = record->wall_due_ns;
        chunk->model_due_ns = record->model_due_ns;
        chunk->last = chunk;
        sim_end_take(&partition->sim->ends[record->end], chunk);
    }
    partition->no_memory |= !chunk;
    return mailbag_record(sizeof *record + record->seen);
}

/* Puts a frame aside until the round is over: not even an event of this round that shows what came
 * to the receiver before may show it. */
static EVERY_FRAME void put_aside(struct partition *partition, struct sim_end *end,
                                  struct chunk *first, struct chunk *last)
{
    if (is_own(end)) {
        first->last = last;
        partition->no_memory |= !outbox_add(&partition->own, (struct sending){end->peer, first});
    } else {
        post(partition, end, first);
    }
}

/* The frame is complete. */
static void launch(struct partition *partition)
{
    struct sim *sim = partition->sim;
    struct filling *filling = &partition->filling;
    struct sim_end *end = filling->end;

    partition->link_events++;
    if (partition->no_memory || (sim->damages && !fault_frame(sim)) || end->mute) {
        discard(&partition->pool, filling->first);
    } else {
        uint64_t wall_due_ns = physical(sim, end, filling->bytes);
        for (struct chunk *chunk = filling->first; chunk; chunk = chunk->next) {
            chunk->wall_due_ns = wall_due_ns;
            chunk->model_due_ns = filling->model_due_ns;
        }
        put_aside(partition, end, filling->first, filling->last);
    }
    filling->first = filling->last = NULL;
}

/* Reads a packet that goes; the model time before which it is not shown. */
static inline uint64_t read_packet(struct partition *partition, const uint8_t *packet,
                                   uint32_t bytes)
{
    const struct sim *sim = partition->sim;

    partition->moved |= packet_kind(packet) == PACKET_ACCEPT; /* blocks may travel in OPENs alone */
    if (packet_kind(packet) != PACKET_OPEN || bytes < OPEN_BYTES) {
        return 0;
    }
    uint64_t due_ns = open_clock(packet);
    if (!(open_flags(packet) & (OPEN_SCHEDULE | OPEN_IMAGE))) {
        /* free traffic: late when model time has passed the moment at which it takes its link */
        partition->requests++;
        partition->late += sim->now_ns + sim->options.profile.tau_ns > due_ns;
    }
    return due_ns;
}

/* Reads the header that the first segment of a frame begins with. */
static void begin(struct partition *partition, struct sim_end *end, const uint8_t *data,
                  uint32_t bytes)
{
    const struct sim *sim = partition->sim;
    struct filling *filling = &partition->filling;
    uint32_t frame = bytes;

    *filling = (struct filling){.end = end};
    if (bytes >= FRAME_HEADER_BYTES) {
        bool checked = frame_flags(data) & FLAG_CHECKED;
        frame = FRAME_HEADER_BYTES + frame_length(data) + (checked ? FRAME_CHECK_BYTES : 0);
        if (frame_type(data) == FRAME_PACKET && bytes > FRAME_HEADER_BYTES) {
            filling->model_due_ns =
                read_packet(partition, data + FRAME_HEADER_BYTES, bytes - FRAME_HEADER_BYTES);
        }
        /* a run of data may be joined to up to the end of a long buffer */
        filling->is_long = frame_type(data) == FRAME_DATA || frame > CHUNK_SHORT_MAX ||
                           sim->options.payload_checked;
        partition->moved |= frame_type(data) == FRAME_DATA;
    }
    filling->left = filling->bytes = frame;
}

/* The chunk of this partition's pool that a packet is, because a router passes it on: the receiver
 * gets the same one, and may write into it, for its sender only waits to give it back. NULL: it
 * must be copied. */
static inline struct chunk *share(struct partition *partition, const uint8_t *data, uint32_t bytes)
{
    struct chunk *chunk = pool_chunk(&partition->pool, data);

    if (!chunk || chunk->data != data || chunk->bytes != bytes || chunk->listed) {
        return NULL;
    }
    chunk->holds++;
    chunk->next = NULL;
    return chunk;
}

/* Copies a frame, at least a word, word by word, as it has just been written: what is read in
 * larger pieces would wait until all of it lies in the cache. */
static inline void copy_frame(uint8_t *to, const uint8_t *from, uint32_t bytes)
{
    uint64_t word;

    for (uint32_t at = 0; at + sizeof word < bytes; at += sizeof word) {
        memcpy(&word, from + at, sizeof word);
        memcpy(to + at, &word, sizeof word);
    }
    memcpy(&word, from + bytes - sizeof word, sizeof word);
    memcpy(to + bytes - sizeof word, &word, sizeof word);
}

/* The way of most frames: a packet in one piece, where nothing happens to any. False: it is to go
 * the other way. */
static inline bool send_packet(struct partition *partition, struct sim_end *end,
                               const uint8_t *data, uint32_t bytes)
{
    const struct sim *sim = partition->sim;

    if (!sim->plain || partition->filling.left || end->mute || bytes <= FRAME_HEADER_BYTES ||
        bytes > CHUNK_SHORT_MAX || frame_type(data) != FRAME_PACKET ||
        FRAME_HEADER_BYTES + frame_length(data) != bytes) {
        return false;
    }
    struct chunk *chunk = is_own(end) ? share(partition, data, bytes) : NULL;
    if (!chunk) {
        chunk = pool_take(&partition->pool, CHUNK_SHORT);
        if (!chunk) {
            return false;
        }
        copy_frame(chunk->data, data, bytes);
        chunk->bytes = chunk->seen = bytes;
    }
    partition->link_events++;
    chunk->wall_due_ns = sim->wall_ns;
    chunk->model_due_ns =
        read_packet(partition, data + FRAME_HEADER_BYTES, bytes - FRAME_HEADER_BYTES);
    put_aside(partition, end, chunk, chunk);
    return true;
}

/* Contents that nobody looks at, not even the digest. */
static inline bool is_unseen(const struct sim *sim, const uint8_t *data)
{
    return (uintptr_t)data - (uintptr_t)sim->unseen < sim->unseen_bytes;
}

static void fill(struct partition *partition, const uint8_t *data, uint32_t bytes)
{
    bool seen = !is_unseen(partition->sim, data);
    struct filling *filling = &partition->filling;
    uint32_t room = filling->is_long ? (uint32_t)LINK_CHUNK_MAX : (uint32_t)CHUNK_SHORT_MAX;

    filling->left -= bytes;
    while (bytes) {
        struct chunk *chunk = filling->last;
        if (!chunk || chunk->bytes == room) {
            chunk = pool_take(&partition->pool, filling->is_long ? CHUNK_LONG : CHUNK_SHORT);
            if (!chunk) {
                partition->no_memory = true;
                return;
            }
            chunk->middle = filling->last != NULL;
            *(filling->last ? &filling->last->next : &filling->first) = chunk;
            filling->last = chunk;
        }
        uint32_t piece = bytes < room - chunk->bytes ? bytes : room - chunk->bytes;
        if (seen) {
            memcpy(chunk->data + chunk->bytes, data, piece);
            chunk->seen = chunk->bytes + piece;
        }
        chunk->bytes += piece;
        data += piece;
        bytes -= piece;
    }
}

static int end_send(struct link *link, const void *data, uint32_t bytes)
{
    struct sim_end *end = (struct sim_end *)link;
    struct partition *partition = end->partition;
    struct filling *filling = &partition->filling;
    const uint8_t *from = data;

    CHECK(bytes > 0 && (filling->left == 0 || filling->end == end));
    end->sent++;
    if (send_packet(partition, end, from, bytes)) {
        return E_OK;
    }
    while (bytes) {
        if (filling->left == 0) {
            begin(partition, end, from, bytes);
        }
        uint32_t piece = bytes < filling->left ? bytes : filling->left;
        fill(partition, from, piece);
        from += piece;
        bytes -= piece;
        if (filling->left == 0) {
            launch(partition);
        }
    }
    return E_OK;
}

static void end_kick(struct link *link)
{
    (void)link;
}

static uint32_t end_sent(struct link *link)
{
    return ((struct sim_end *)link)->sent;
}

static bool end_receive(struct link *link, struct link_chunk *out)
{
    struct sim_end *end = (struct sim_end *)link;

    if (end->arrived == end->link.taken) {
        return false;
    }
    if (end->numbers == UINT64_MAX) {
        end->starved = true;
        return false;
    }
    struct chunk *chunk = end->first;
    unsigned number = (unsigned)__builtin_ctzll(~end->numbers);
    end->first = chunk->next;
    end->link.taken++;
    end->numbers |= UINT64_C(1) << number;
    chunk->number = (uint16_t)number;
    if (number < HELD_FEW) {
        end->few[number] = chunk;
    } else {
        chunk->listed = true;
        chunk->next = end->held;
        end->held = chunk;
    }
    *out = (struct link_chunk){chunk->data, chunk->bytes, chunk->number};
    return true;
}

/* Takes off the chunk that the router has under a number. */
static struct chunk *take_held(struct sim_end *end, unsigned number)
{
    struct chunk **at = &end->held, *chunk;

    CHECK(end->numbers >> number & 1);
    end->numbers &= ~(UINT64_C(1) << number);
    if (number < HELD_FEW) {
        return end->few[number];
    }
    while ((*at)->number != number) {
        at = &(*at)->next;
    }
    chunk = *at;
    *at = chunk->next;
    chunk->listed = false;
    return chunk;
}

static void end_release(struct link *link, uint16_t buffer)
{
    struct sim_end *end = (struct sim_end *)link;

    pool_give(&end->partition->pool, take_held(end, buffer));
    if (end->starved) {
        end->starved = false;
        wake(end);
    }
}

static const struct link_ops ops = {end_send, end_kick, end_sent, end_receive, end_release};

void sim_end_init(struct sim *sim, struct sim_end *end, struct sim_end *peer, uint32_t actor,
                  uint32_t peer_actor, unsigned port)
{
    end->link = (struct link){.ops = &ops, .carrier = CARRIER_UP, .arrived = &end->arrived};
    end->partition = sim_partition(sim, actor);
    end->peer = peer;
    end->to_partition =
        peer_actor < sim->count ? sim->actors[peer_actor].partition : (uint8_t)sim->partition_count;
    end->actor = actor;
    end->port = (uint8_t)port;
}

/* What has not arrived yet is lost; an event that stands for it will find nothing. */
static void lose_flight(struct sim_end *end)
{
    struct pool *pool = &end->partition->pool;
    struct chunk **at = &end->first;
    struct chunk *last = NULL;

    while (*at && *at != end->flight) {
        last = *at;
        at = &(*at)->next;
    }
    discard(pool, *at);
    *at = NULL;
    end->last = last;
    end->flight = NULL;
}

void sim_end_absent(struct sim_end *end)
{
    end->link = (struct link){.ops = &ops, .carrier = CARRIER_UNKNOWN, .arrived = &end->arrived};
}

void sim_end_restart(struct sim_end *end)
{
    struct pool *pool = &end->partition->pool;

    while (end->numbers) {
        pool_give(pool, take_held(end, (unsigned)__builtin_ctzll(end->numbers)));
    }
    discard(pool, end->first);
    end->first = end->last = end->flight = NULL;
    end->starved = false;
    end->arrived = 0;
    end->sent = 0;
    end->link = (struct link){.ops = &ops, .carrier = CARRIER_UP, .arrived = &end->arrived};
    end->peer->link.carrier = CARRIER_UP;
    end->mute = end->peer->mute = false;
    wake(end->peer);
}

void sim_end_cut(struct sim_end *end)
{
    struct sim_end *both[] = {end, end->peer};

    for (unsigned i = 0; i < 2; i++) {
        both[i]->link.carrier = CARRIER_LOST;
        both[i]->mute = true;
        lose_flight(both[i]);
        wake(both[i]);
    }
}
