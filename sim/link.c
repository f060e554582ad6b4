#include "sim/link.h"

#include <string.h>

#include "drivers/check.h"
#include "drivers/status.h"
#include "sim/internal.h"
#include "sim/random.h"

static const uint64_t second_ns = UINT64_C(1000000000);

static uint32_t end_index(const struct sim_end *end)
{
    return (uint32_t)(end - end->sim->ends);
}

/* The link has something to tell its user. */
static void wake(struct sim_end *end)
{
    end->sim->actors[end->actor].attention |= UINT32_C(1) << end->port;
    sim_wake(end->sim, end->actor);
}

/* The receiver sees the chunk. */
static void show(struct sim_end *end, struct chunk *chunk)
{
    struct sim *sim = end->sim;
    uint64_t head[3] = {0};

    memcpy(head, chunk->data, chunk->bytes < sizeof head ? chunk->bytes : sizeof head);
    sim_digest(sim, sim->now_ns ^ (uint64_t)end_index(end) << 40,
               sim->wall_ns + ((uint64_t)chunk->bytes << 48));
    sim_digest(sim, head[0] ^ head[2], head[1]);
    end->flight = chunk->next;
    end->arrived++;
    sim->result.events++;
    if (sim->options.history)
        history_add(sim, end, chunk);
    wake(end);
}

/* Shows what is due, and leaves an event for what is not. */
static void advance(struct sim_end *end)
{
    struct sim *sim = end->sim;

    while (!end->waiting && end->flight) {
        struct chunk *chunk = end->flight;
        if (chunk->wall_due_ns > sim->wall_ns) {
            sim_at_wall(sim, chunk->wall_due_ns, EVENT_LINK, end_index(end));
            end->waiting = true;
        } else if (chunk->model_due_ns > sim->now_ns) {
            unsigned odd = sim->wall_ns / HOLD_EPOCH_NS & 1;
            sim->withheld[odd]++;
            sim_at_model(sim, chunk->model_due_ns, odd ? EVENT_HELD1 : EVENT_HELD, end_index(end));
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

static void discard(struct sim *sim, struct chunk *chunk)
{
    while (chunk) {
        struct chunk *next = chunk->next;
        pool_give(&sim->pool, chunk);
        chunk = next;
    }
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
    if (faults->jitter_ns)
        leaves += random_below(&sim->seed, (uint32_t)faults->jitter_ns + 1);
    return leaves + faults->delay_ns;
}

/* The frame is complete: puts it on its way. */
static void launch(struct sim *sim)
{
    struct filling *filling = &sim->filling;
    struct sim_end *end = filling->end, *to = end->peer;

    sim->result.link_events++;
    if (sim->verdict == SIM_NO_MEMORY || (sim->damages && !fault_frame(sim)) || to->deaf ||
        to->link.carrier != CARRIER_UP) {
        discard(sim, filling->first);
    } else {
        uint64_t wall_due_ns = physical(sim, end, filling->bytes);
        for (struct chunk *chunk = filling->first; chunk; chunk = chunk->next) {
            chunk->wall_due_ns = wall_due_ns;
            chunk->model_due_ns = filling->model_due_ns;
        }
        *(to->first ? &to->last->next : &to->first) = filling->first;
        to->last = filling->last;
        if (!to->flight)
            to->flight = filling->first;
        advance(to);
    }
    filling->first = filling->last = NULL;
}

/* A request of free traffic is late when model time has passed the moment at which it takes its
 * link. */
static void count_request(struct sim *sim, const uint8_t *packet)
{
    if (packet[30] & (OPEN_SCHEDULE | OPEN_IMAGE))
        return;
    sim->result.requests++;
    sim->result.late += sim->now_ns + sim->options.profile.tau_ns > get64(packet + 32);
}

/* Reads the header that the first segment of a frame begins with. */
static void begin(struct sim *sim, struct sim_end *end, const uint8_t *data, uint32_t bytes)
{
    struct filling *filling = &sim->filling;
    uint32_t frame = bytes;

    *filling = (struct filling){.end = end};
    if (bytes >= FRAME_HEADER_BYTES) {
        if (sim->trace)
            trace_frame(sim, end, data, bytes);
        const uint8_t *packet = data + FRAME_HEADER_BYTES;
        bool checked = data[3] & FLAG_CHECKED;
        frame = FRAME_HEADER_BYTES + get32(data + 4) + (checked ? FRAME_CHECK_BYTES : 0);
        if (data[2] == FRAME_PACKET && bytes >= FRAME_HEADER_BYTES + OPEN_BYTES &&
            packet[0] == PACKET_OPEN) {
            filling->model_due_ns = get64(packet + 32);
            count_request(sim, packet);
        }
        /* a run of data may be joined to up to the end of a long buffer */
        filling->is_long =
            data[2] == FRAME_DATA || frame > CHUNK_SHORT_MAX || sim->options.payload_checked;
        bool accepts =
            data[2] == FRAME_PACKET && bytes > FRAME_HEADER_BYTES && packet[0] == PACKET_ACCEPT;
        if (data[2] == FRAME_DATA || accepts) /* blocks may travel in OPENs alone */
            sim->progress_ns = sim->wall_ns;
    }
    filling->left = filling->bytes = frame;
}

/* A control frame that lies in a buffer of the pool, because a router passes it on, need not be
 * copied: the receiver sees the same memory. Only where nothing is ever sent again, for the
 * receiver writes into it while its sender still holds it. */
static bool share(struct sim *sim, const uint8_t *data, uint32_t bytes)
{
    struct filling *filling = &sim->filling;

    if (filling->is_long || filling->first || bytes != filling->left || sim->damages ||
        sim->pool.scrub)
        return false;
    struct chunk *owner = pool_owner(&sim->pool, data);
    if (!owner)
        return false;
    struct chunk *view = pool_view(&sim->pool, owner, (uint8_t *)(uintptr_t)data);
    if (!view)
        return false; /* a copy does it too, or says that there is no memory */
    view->bytes = bytes;
    filling->first = filling->last = view;
    filling->left = 0;
    return true;
}

static void fill(struct sim *sim, const uint8_t *data, uint32_t bytes)
{
    struct filling *filling = &sim->filling;
    uint32_t room = filling->is_long ? (uint32_t)LINK_CHUNK_MAX : (uint32_t)CHUNK_SHORT_MAX;

    filling->left -= bytes;
    while (bytes) {
        struct chunk *chunk = filling->last;
        if (!chunk || chunk->bytes == room) {
            chunk = pool_take(&sim->pool, filling->is_long ? CHUNK_LONG : CHUNK_SHORT);
            if (!chunk) {
                sim_no_memory(sim);
                return;
            }
            *(filling->last ? &filling->last->next : &filling->first) = chunk;
            filling->last = chunk;
        }
        uint32_t part = bytes < room - chunk->bytes ? bytes : room - chunk->bytes;
        memcpy(chunk->data + chunk->bytes, data, part);
        chunk->bytes += part;
        data += part;
        bytes -= part;
    }
}

static int end_send(struct link *link, const void *data, uint32_t bytes)
{
    struct sim_end *end = (struct sim_end *)link;
    struct sim *sim = end->sim;
    const uint8_t *from = data;

    CHECK(bytes > 0 && (sim->filling.left == 0 || sim->filling.end == end));
    end->sent++;
    while (bytes) {
        if (sim->filling.left == 0)
            begin(sim, end, from, bytes);
        uint32_t part = bytes < sim->filling.left ? bytes : sim->filling.left;
        if (!share(sim, from, part))
            fill(sim, from, part);
        from += part;
        bytes -= part;
        if (sim->filling.left == 0)
            launch(sim);
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

    if (end->arrived == end->link.taken)
        return false;
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
    if (number < HELD_FEW)
        return end->few[number];
    while ((*at)->number != number)
        at = &(*at)->next;
    chunk = *at;
    *at = chunk->next;
    return chunk;
}

static void end_release(struct link *link, uint16_t buffer)
{
    struct sim_end *end = (struct sim_end *)link;

    pool_give(&end->sim->pool, take_held(end, buffer));
    if (end->starved) {
        end->starved = false;
        wake(end);
    }
}

static const struct link_ops ops = {end_send, end_kick, end_sent, end_receive, end_release};

void sim_end_init(struct sim *sim, struct sim_end *end, struct sim_end *peer, uint32_t actor,
                  unsigned port)
{
    end->link = (struct link){.ops = &ops, .carrier = CARRIER_UP, .arrived = &end->arrived};
    end->sim = sim;
    end->peer = peer;
    end->actor = actor;
    end->port = (uint8_t)port;
}

/* What has not arrived yet is lost; an event that stands for it will find nothing. */
static void lose_flight(struct sim_end *end)
{
    struct chunk **at = &end->first;
    struct chunk *last = NULL;

    while (*at && *at != end->flight) {
        last = *at;
        at = &(*at)->next;
    }
    discard(end->sim, *at);
    *at = NULL;
    end->last = last;
    end->flight = NULL;
}

void sim_end_cut(struct sim_end *end)
{
    struct sim_end *both[] = {end, end->peer};

    for (unsigned i = 0; i < 2; i++) {
        both[i]->link.carrier = CARRIER_LOST;
        lose_flight(both[i]);
        wake(both[i]);
    }
}
