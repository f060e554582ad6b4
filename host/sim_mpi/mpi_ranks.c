/*
 * mpi_ranks.c - parcels as messages, words as one allreduce.
 *
 * A parcel is on its way before the allreduce begins, and whoever waits for that takes the parcels
 * that come meanwhile. The words say how many come. A tag counts the halves of rounds, for a rank
 * may be half a round ahead of another.
 */
#include "host/sim_mpi/mpi_ranks.h"

#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "drivers/check.h"

enum {
    UNIT = 8,          /* bytes: parcels are whole units, as many as an int counts */
    TAGS = 1 << 14,    /* MPI gives at least twice as many */
    SPARE_BYTES = 4096 /* of a buffer, at least */
};

/* A buffer for what comes, used again and again. */
struct buffer {
    void *data;
    size_t room;
};

static struct {
    struct ranks ranks;
    struct parcel in[2 * RANKS_MAX];
    struct buffer buffers[2 * RANKS_MAX];
    MPI_Op combine;
    unsigned half; /* of a round */
    uint64_t spent_ns, begun_ns;
    uint32_t here[2 * RANKS_MAX]; /* of each rank on this computer: number and process */
} mpi;

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* Words of two ranks become those of both. */
static void combine(void *in, void *both, int *length, MPI_Datatype *type)
{
    const uint64_t *more = in;
    uint64_t *all = both;

    (void)type;
    for (int i = 0; i < *length; i++) {
        unsigned word = (unsigned)i % RANKS_WORDS;
        if (word >= WORDS_GREATEST) {
            all[i] += more[i];
        } else if (more[i] > all[i]) {
            all[i] = more[i];
        }
    }
}

static int tag_now(void)
{
    return (int)(mpi.half % TAGS);
}

static void *room_for(struct buffer *buffer, size_t bytes)
{
    if (bytes > buffer->room) {
        buffer->room = bytes + bytes / 2 + SPARE_BYTES;
        free(buffer->data);
        buffer->data = malloc(buffer->room);
        CHECK(buffer->data);
    }
    return buffer->data;
}

/* Takes a parcel of this half, if one is there. */
static void take(void)
{
    MPI_Message message;
    MPI_Status status;
    int there, units;

    MPI_Improbe(MPI_ANY_SOURCE, tag_now(), MPI_COMM_WORLD, &there, &message, &status);
    if (!there) {
        return;
    }
    CHECK(mpi.ranks.in_count < 2 * RANKS_MAX);
    MPI_Get_count(&status, MPI_UINT64_T, &units);
    size_t bytes = (size_t)units * UNIT;
    struct parcel *parcel = &mpi.in[mpi.ranks.in_count];
    *parcel = (struct parcel){(unsigned)status.MPI_SOURCE,
                              room_for(&mpi.buffers[mpi.ranks.in_count], bytes), bytes};
    mpi.ranks.in_count++;
    MPI_Mrecv(parcel->data, units, MPI_UINT64_T, &message, MPI_STATUS_IGNORE);
}

static int by_rank(const void *a, const void *b)
{
    const struct parcel *one = a, *other = b;

    return (one->rank > other->rank) - (one->rank < other->rank);
}

/* The buffers of parcels go with them. */
static void sort(unsigned first)
{
    unsigned count = mpi.ranks.in_count - first;

    qsort(mpi.in + first, count, sizeof *mpi.in, by_rank);
    for (unsigned i = first; i < mpi.ranks.in_count; i++) {
        unsigned at = i;
        while (mpi.buffers[at].data != mpi.in[i].data) {
            at++;
        }
        struct buffer buffer = mpi.buffers[i];
        mpi.buffers[i] = mpi.buffers[at];
        mpi.buffers[at] = buffer;
    }
}

static void post(const struct parcel *out, unsigned count, MPI_Request *requests)
{
    for (unsigned i = 0; i < count; i++) {
        CHECK(out[i].bytes / UNIT <= INT32_MAX);
        MPI_Isend(out[i].data, (int)(out[i].bytes / UNIT), MPI_UINT64_T, (int)out[i].rank,
                  tag_now(), MPI_COMM_WORLD, &requests[i]);
    }
}

/* So many parcels all told have come, and what goes has gone. */
static void finish(unsigned first, unsigned expected, MPI_Request *requests, unsigned count)
{
    while (mpi.ranks.in_count < first + expected) {
        take();
    }
    MPI_Waitall((int)count, requests, MPI_STATUSES_IGNORE);
    sort(first);
    mpi.half++;
}

static void exchange(struct ranks *ranks, uint64_t words[RANKS_WORDS], const struct parcel *out,
                     unsigned out_count)
{
    uint64_t begun = now_ns(), all[RANKS_WORDS];
    MPI_Request requests[RANKS_MAX], reduction;
    int done = 0;

    ranks->in_count = 0;
    post(out, out_count, requests);
    MPI_Iallreduce(words, all, RANKS_WORDS, MPI_UINT64_T, mpi.combine, MPI_COMM_WORLD, &reduction);
    while (!done) {
        take();
        MPI_Test(&reduction, &done, MPI_STATUS_IGNORE);
    }
    memcpy(words, all, sizeof all);
    finish(0, (unsigned)words[WORD_PARCELS + ranks->own], requests, out_count);
    mpi.spent_ns += now_ns() - begun;
}

static void deliver(struct ranks *ranks, const struct parcel *out, unsigned out_count,
                    unsigned in_count)
{
    uint64_t begun = now_ns();
    MPI_Request requests[RANKS_MAX];

    post(out, out_count, requests);
    finish(ranks->in_count, in_count, requests, out_count);
    mpi.spent_ns += now_ns() - begun;
}

static void broadcast(struct ranks *ranks, void *data, size_t bytes)
{
    uint64_t begun = now_ns();

    (void)ranks;
    MPI_Bcast(data, (int)bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    mpi.spent_ns += now_ns() - begun;
}

static uint64_t spent_ns(const struct ranks *ranks)
{
    (void)ranks;
    return mpi.spent_ns;
}

static uint64_t passed_ns(const struct ranks *ranks)
{
    (void)ranks;
    return now_ns() - mpi.begun_ns;
}

static bool has_ended(uint32_t process)
{
    return kill((pid_t)process, 0) != 0 && errno == ESRCH;
}

/* Rank 0 says it; where that is the one, the lowest on its computer. */
static unsigned lost(const struct ranks *ranks)
{
    unsigned found = ranks->count;
    uint32_t lowest = ranks->own;

    for (unsigned i = 0; i < ranks->here; i++) {
        uint32_t rank = mpi.here[2 * i];
        if (has_ended(mpi.here[2 * i + 1])) {
            found = rank < found ? rank : found;
        } else if (rank < lowest) {
            lowest = rank;
        }
    }
    return lowest == ranks->own && (ranks->own == 0 || found == 0) ? found : ranks->count;
}

/* Learns which ranks are on this computer; how many. */
static unsigned meet_here(uint32_t own)
{
    const uint32_t self[2] = {own, (uint32_t)getpid()};
    MPI_Comm here;
    int count;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here);
    MPI_Comm_size(here, &count);
    if (count <= RANKS_MAX) {
        MPI_Allgather(self, 2, MPI_UINT32_T, mpi.here, 2, MPI_UINT32_T, here);
    }
    MPI_Comm_free(&here);
    return (unsigned)count;
}

struct ranks *mpi_ranks_make(void)
{
    int count, own;

    MPI_Comm_size(MPI_COMM_WORLD, &count);
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    MPI_Op_create(combine, 1, &mpi.combine);
    mpi.begun_ns = now_ns();
    mpi.ranks = (struct ranks){.count = (unsigned)count,
                               .own = (unsigned)own,
                               .here = meet_here((uint32_t)own),
                               .in = mpi.in,
                               .exchange = exchange,
                               .deliver = deliver,
                               .broadcast = broadcast,
                               .spent_ns = spent_ns,
                               .passed_ns = passed_ns,
                               .lost = lost};
    return &mpi.ranks;
}
