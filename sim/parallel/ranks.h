/*
 * ranks.h - the processes that make one simulation together, each a range of its nodes: what goes
 * between them. Rank 0 has the host.
 *
 * The maker (host/sim_mpi) fills in the functions, and knows nothing of nodes. All ranks call the
 * same functions in the same order. A parcel is what one rank has for another in half a round.
 *
 * Units    bytes
 * Errors   none: a rank whose fellows are gone is ended by its maker
 * Context  one thread of each rank
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RANKS_MAX = 32 };

/* What all tell all in a round: of the first words the greatest, of the others the sum. */
enum ranks_word {
    WORD_MODEL, /* the time of the next event, complemented; 0: there is none */
    WORD_WALL,
    WORD_LEAST, /* of something, complemented */
    WORDS_GREATEST,
    WORD_READY = WORDS_GREATEST, /* nodes, */
    WORD_HOST,                   /* and the host */
    WORD_WORKED,                 /* ranks that had something to do in this round */
    WORD_SENT,                   /* partitions that have sent something */
    WORD_WITHHELD,               /* frames, since an even epoch */
    WORD_WITHHELD1,              /* ... since an odd one */
    WORD_EVENTS,
    WORD_ACTED,
    WORD_ENDED,
    WORD_MOVED,
    WORD_GOT_ON,
    WORD_MEASURED,
    WORD_NO_MEMORY,
    WORD_BYTES,   /* of pools */
    WORD_OVER,    /* rank 0 goes on no more */
    WORD_PARCELS, /* for each rank: that come to it */
    RANKS_WORDS = WORD_PARCELS + RANKS_MAX
};

struct parcel {
    unsigned rank; /* to whom, or from whom */
    void *data;
    size_t bytes;
};

struct ranks {
    unsigned count, own;
    unsigned here; /* of them on this computer */
    /* What has come, in the order of ranks; until the next exchange. */
    struct parcel *in;
    unsigned in_count;
    /* Combines the words, and takes what comes to this rank meanwhile. What goes out stays until
     * then. */
    void (*exchange)(struct ranks *ranks, uint64_t words[RANKS_WORDS], const struct parcel *out,
                     unsigned out_count);
    /* Parcels without words: so many more come. */
    void (*deliver)(struct ranks *ranks, const struct parcel *out, unsigned out_count,
                    unsigned in_count);
    /* Of rank 0 to all. */
    void (*broadcast)(struct ranks *ranks, void *data, size_t bytes);
    /* Time that has gone by in the functions above, in ns, and since the ranks began. */
    uint64_t (*spent_ns)(const struct ranks *ranks);
    uint64_t (*passed_ns)(const struct ranks *ranks);
    /* A rank that has ended amid the run, when this one is to say so; count: there is none. In any
     * thread. */
    unsigned (*lost)(const struct ranks *ranks);
};

/* The least of a number of each rank. */
uint64_t ranks_least(struct ranks *ranks, uint64_t number);
