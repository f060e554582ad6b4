/*
 * pipeline.c - the time of messages in parcels, and the best size of parcels.
 *
 * A line has a stage for each of its nodes: the circuits that end there. The replay goes on parcel
 * by parcel, and with each along the stages, so all that a circuit waits for is known before it:
 * the parcel at its source, the source's last circuit, and the third last at its receiver.
 */
#include "controller/pipeline.h"

#include <string.h>

#include "drivers/check.h"
#include "network/network.h"
#include "wire/parcel.h"

enum { PLACES = 3 /* of a node; node/state.h: PARCELS_HELD */ };

struct stage {
    uint64_t sent_ns;          /* its last circuit is done */
    uint64_t place_ns[PLACES]; /* of the node at its end */
    uint32_t bytes;            /* of the present parcel */
    uint16_t hops;
    uint8_t place; /* of the next parcel that comes */
};

struct line {
    const struct download_costs *costs;
    struct load_cut cut;
    uint64_t beta_host_ns, beta_ns;
    struct stage stages[LINE_NODES_MAX];
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static struct load_cut cut_of(const struct load_list *list, const struct download_message *message)
{
    return (struct load_cut){.head = message->root,
                             .count = message->count,
                             .bytes = message->parcel_bytes,
                             .to = list->segments};
}

/* Until the path stands: what waits for the receiver, waits from then on. */
static uint64_t setup_ns(const struct line *line, uint32_t index)
{
    uint64_t beta_ns = index == 0 ? line->costs->beta_host_ns : line->costs->beta_ns;

    return beta_ns + (line->stages[index].hops - 1u) * (line->costs->hop_ns - line->costs->tau_ns);
}

static uint64_t transfer_ns(const struct line *line, uint32_t index)
{
    const struct stage *stage = &line->stages[index];

    return (stage->hops - 1u) * line->costs->tau_ns + download_bytes_ns(line->costs, stage->bytes);
}

static void make_line(struct line *line, const struct download_costs *costs,
                      const struct network *network, const struct download_message *message,
                      uint64_t host_ns)
{
    CHECK(message->count <= LINE_NODES_MAX);
    line->costs = costs;
    line->cut = cut_of(costs->list, message);
    for (uint32_t i = 0; i < message->count; i++) {
        uint32_t rank = message->root + i;
        uint32_t before = i == 0 ? network_host_root(network, rank) : rank - 1;
        unsigned hops =
            (i == 0) + network_distance(network, before, rank); /* the host's link first */
        line->stages[i] = (struct stage){.hops = (uint16_t)hops};
    }
    line->stages[0].sent_ns = host_ns;
}

/* How many nodes of the line need a string that several segments may have, or have a node behind
 * them that does. */
static uint32_t needed_by(const struct load_list *list, const struct load_cut *cut, uint32_t index)
{
    struct load_segment segment = load_segment_at(list, index);
    uint32_t line_end = cut->head + cut->count, end = cut->head;

    for (;;) {
        uint32_t last = segment.first + segment.count;
        if (segment.first < line_end && last > end) {
            end = last < line_end ? last : line_end;
        }
        if (++index == list->segments) {
            return end - cut->head;
        }
        segment = load_segment_at(list, index);
        if (!(segment.flags & LOAD_SAME)) {
            return end - cut->head;
        }
    }
}

/* Adds what the nodes from each on need of a slice. */
static void add_slice(struct line *line, const struct load_slice *slice)
{
    const struct load_list *list = line->costs->list;
    struct load_segment segment = load_segment_at(list, slice->segment);
    uint32_t count = needed_by(list, &line->cut, slice->segment);
    uint64_t end = slice->from + slice->bytes;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = line->cut.head + i;
        uint64_t from = rank > segment.first ? (uint64_t)(rank - segment.first) * segment.step : 0;
        if (from >= end) {
            return;
        }
        line->stages[i].bytes += (uint32_t)(end - larger(from, slice->from));
    }
}

/* The bytes of the parcel before which the walk stands, at each stage; false: there is none. */
static bool next_parcel(struct line *line, struct load_walk *walk)
{
    uint32_t parcel = walk->parcel;
    struct load_slice slice;
    bool any = false;

    for (uint32_t i = 0; i < line->cut.count; i++) {
        line->stages[i].bytes = 0;
    }
    while (walk->parcel == parcel && load_walk_next(line->costs->list, &line->cut, walk, &slice)) {
        add_slice(line, &slice);
        any = true;
    }
    return any;
}

/* The parcel goes along the line as far as it is needed; the first one, with the list, to its end.
 * G and P as in node/pipeline.c. */
static void pass_parcel(struct line *line, bool first)
{
    uint64_t come_ns = 0;

    for (uint32_t i = 0; i < line->cut.count; i++) {
        struct stage *stage = &line->stages[i];
        bool comes = first || stage->bytes > 0;

        if (comes) {
            uint64_t issue_ns = larger(come_ns, stage->sent_ns);
            come_ns = larger(issue_ns + setup_ns(line, i), stage->place_ns[stage->place]) +
                      transfer_ns(line, i);
            stage->sent_ns = come_ns;
        }
        if (i > 0) { /* it has left the place before, or was not needed behind it */
            struct stage *before = stage - 1;
            before->place_ns[before->place] = stage->sent_ns;
            before->place = (uint8_t)((before->place + 1) % PLACES);
        }
        if (!comes) {
            return;
        }
    }
}

static uint64_t end_of(const struct line *line)
{
    uint64_t end_ns = 0;

    for (uint32_t i = 0; i < line->cut.count; i++) {
        end_ns = larger(end_ns, line->stages[i].sent_ns);
    }
    return end_ns;
}

uint64_t pipeline_replay_ns(const struct download_costs *costs, const struct network *network,
                            const struct download_message *message, uint64_t *host_ns,
                            uint64_t limit_ns)
{
    struct line line;

    CHECK(message->parcel_bytes > 0);
    make_line(&line, costs, network, message, *host_ns);
    struct load_walk walk = load_walk_at(&line.cut);
    bool first = true;
    while (next_parcel(&line, &walk) || first) {
        pass_parcel(&line, first);
        first = false;
        if (line.stages[0].sent_ns > limit_ns) {
            return UINT64_MAX;
        }
    }
    *host_ns = line.stages[0].sent_ns;
    return end_of(&line);
}

/* Room. */

/* Where a message's line has the least room for what is for others alone. */
struct tightest {
    uint64_t all;  /* bytes of the message */
    uint64_t room; /* UINT64_MAX: nothing is */
    uint32_t rank;
};

static uint64_t message_bytes(const struct load_list *list, uint32_t first, uint32_t count)
{
    return load_data_bytes(list, 0, list->segments, first, count);
}

/* Behind its program's top, without the list; negative: that has no room. */
static int64_t room_at(const struct download_costs *costs, uint32_t rank)
{
    const struct load_list *list = costs->list;

    return (int64_t)costs->memory_end - load_program_of(list, rank).top -
           load_list_bytes(list->programs, list->segments);
}

/* False: a node has no room for the list. */
static bool find_tightest(struct tightest *tightest, const struct download_costs *costs,
                          const struct download_message *message, struct pipeline_full *full)
{
    const struct load_list *list = costs->list;

    *tightest = (struct tightest){.all = message_bytes(list, message->root, message->count),
                                  .room = UINT64_MAX};
    for (uint32_t left = message->count; left > 0 && costs->memory_end > 0; left--) {
        uint32_t rank = message->root + message->count - left;
        int64_t room = room_at(costs, rank);
        uint32_t list_bytes = load_list_bytes(list->programs, list->segments);

        if (room < 0) {
            uint64_t all = (uint64_t)(room + list_bytes > 0 ? room + list_bytes : 0);
            *full = (struct pipeline_full){rank, list_bytes, all};
            return false;
        }
        if ((uint64_t)room < tightest->room &&
            message_bytes(list, rank, left) > message_bytes(list, rank, 1)) {
            tightest->room = (uint64_t)room;
            tightest->rank = rank;
        }
    }
    return true;
}

/* As node/pieces.c holds them. */
static uint64_t held_bytes(uint64_t all, uint64_t parcel_bytes)
{
    return all > 2 * parcel_bytes ? 3 * parcel_bytes
           : all > parcel_bytes   ? 2 * parcel_bytes
                                  : parcel_bytes;
}

/* Choice. */

/* What is known of the messages before any size is tried. */
struct choosing {
    const struct download_costs *costs;
    const struct network *network;
    struct download_message *messages;
    unsigned count;
    struct tightest tightest[DOWNLOAD_MESSAGES_MAX];
    uint64_t bytes;   /* of the largest message */
    uint32_t longest; /* line */
    uint64_t best_ns; /* so far */
    uint32_t best;    /* its size; 0: there is none yet */
};

static void set_size(struct choosing *choosing, uint32_t bytes)
{
    for (unsigned i = 0; i < choosing->count; i++) {
        choosing->messages[i].parcel_bytes = choosing->messages[i].count > 1 ? bytes : 0;
    }
}

static bool fits(const struct choosing *choosing, uint32_t bytes, struct pipeline_full *full)
{
    for (unsigned i = 0; i < choosing->count; i++) {
        const struct tightest *tightest = &choosing->tightest[i];
        uint64_t need = held_bytes(tightest->all, bytes);

        if (choosing->messages[i].count > 1 && need > tightest->room) {
            *full = (struct pipeline_full){tightest->rank, need, tightest->room};
            return false;
        }
    }
    return true;
}

static uint32_t size_of(const struct choosing *choosing, uint64_t parcels)
{
    uint64_t bytes = (choosing->bytes + parcels - 1) / parcels;

    bytes = bytes < UINT32_MAX / 4 ? bytes : UINT32_MAX / 4;
    return bytes > PARCEL_BYTES_MIN ? (uint32_t)bytes : PARCEL_BYTES_MIN;
}

static uint64_t parcels_max(const struct choosing *choosing)
{
    uint64_t steps = (uint64_t)LINE_STEPS_MAX / choosing->longest;

    return steps < PARCELS_MAX ? steps : PARCELS_MAX;
}

/* The largest message in so many parcels; true: that is the best so far. */
static bool try(struct choosing *choosing, uint64_t parcels, struct pipeline_full *full)
{
    uint32_t bytes = size_of(choosing, parcels);

    if (!fits(choosing, bytes, full)) {
        return false;
    }
    set_size(choosing, bytes);
    uint64_t ns = download_replay_limited_ns(choosing->costs, choosing->network, choosing->messages,
                                             choosing->count, choosing->best_ns);
    bool better = choosing->best == 0 || ns < choosing->best_ns;
    if (better) {
        choosing->best_ns = ns;
        choosing->best = bytes;
    }
    return better;
}

/* Where m start-ups cost what m parcels save on the way along the line: a power of two. */
static uint64_t first_guess(const struct choosing *choosing)
{
    uint64_t way_ns = download_bytes_ns(choosing->costs, choosing->bytes), parcels = 1;
    uint64_t beta_ns = larger(choosing->costs->beta_ns, choosing->costs->beta_host_ns);

    while (parcels * 2 <= parcels_max(choosing) &&
           (double)parcels * (double)parcels * (double)beta_ns <
               (double)way_ns * (double)choosing->longest) {
        parcels *= 2;
    }
    return parcels;
}

/* From the guess to the better side, as long as that is better; then in between, closer and closer:
 * which size leaves the smallest last parcel matters, too. */
static void search(struct choosing *choosing, struct pipeline_full *full)
{
    uint64_t best = first_guess(choosing);

    while (best < parcels_max(choosing) && !fits(choosing, size_of(choosing, best), full)) {
        best *= 2;
    }
    try(choosing, best, full);
    uint64_t guess = best;
    for (uint64_t m = best * 2; m <= parcels_max(choosing) && try(choosing, m, full); m *= 2) {
        best = m;
    }
    for (uint64_t m = guess / 2; best == guess && m > 0 && try(choosing, m, full); m /= 2) {
        guess = best = m;
    }
    for (uint64_t step = best / 4; step > best / 32; step /= 2) {
        if (try(choosing, best - step, full)) {
            best -= step;
        } else if (try(choosing, best + step, full)) {
            best += step;
        }
    }
}

/* What no size of parcels can be below: the host's port to a range with a start-up for each
 * message, and the way along each line. */
static uint64_t least_ns(const struct choosing *choosing)
{
    const struct download_costs *costs = choosing->costs;
    uint64_t host_ns[NETWORK_HOST_LINKS_MAX] = {0}, end_ns = 0;

    for (unsigned i = 0; i < choosing->count; i++) {
        const struct download_message *message = &choosing->messages[i];
        uint64_t *sent_ns = &host_ns[network_range_of(choosing->network, message->root)];
        uint64_t way_ns = costs->beta_host_ns + (message->count - 1) * costs->beta_ns;
        end_ns = larger(end_ns, *sent_ns + way_ns);
        *sent_ns += costs->beta_host_ns + download_bytes_ns(costs, choosing->tightest[i].all);
        end_ns = larger(end_ns, *sent_ns);
    }
    return end_ns;
}

uint64_t pipeline_choose(const struct download_costs *costs, const struct network *network,
                         struct download_message *messages, unsigned count, uint64_t limit_ns,
                         struct pipeline_full *full)
{
    struct choosing choosing = {.costs = costs,
                                .network = network,
                                .messages = messages,
                                .count = count,
                                .best_ns = UINT64_MAX};

    CHECK(count <= DOWNLOAD_MESSAGES_MAX);
    *full = (struct pipeline_full){.rank = NETWORK_NO_NODE};
    for (unsigned i = 0; i < count; i++) {
        if (!find_tightest(&choosing.tightest[i], costs, &messages[i], full)) {
            return UINT64_MAX;
        }
        choosing.bytes = larger(choosing.bytes, choosing.tightest[i].all);
        choosing.longest =
            messages[i].count > choosing.longest ? messages[i].count : choosing.longest;
    }
    if (costs->hop_ns >= costs->tau_ns && least_ns(&choosing) > limit_ns) {
        return UINT64_MAX;
    }
    search(&choosing, full);
    set_size(&choosing, choosing.best);
    return choosing.best > 0 && choosing.best_ns <= limit_ns ? choosing.best_ns : UINT64_MAX;
}

uint64_t pipeline_closed_ns(const struct download_costs *costs, unsigned dims,
                            uint32_t common_parcels, uint32_t own_parcels, uint32_t parcel_bytes)
{
    uint64_t nodes = UINT64_C(1) << dims, parcel_ns = download_bytes_ns(costs, parcel_bytes);
    uint64_t host_ns = costs->beta_host_ns + parcel_ns, node_ns = costs->beta_ns + parcel_ns;
    uint64_t largest_ns =
        dims > 0 ? larger(host_ns, node_ns + (dims - 1) * costs->hop_ns) : host_ns;

    if (own_parcels > 0) {
        return (common_parcels + own_parcels * nodes) * host_ns;
    }
    return host_ns + (nodes - 1) * node_ns + (nodes - 1 - dims) * costs->hop_ns +
           (common_parcels - 1) * largest_ns;
}
