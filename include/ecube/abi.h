/*
 * abi.h - what crosses the SVC instruction between a node program and the kernel.
 *
 * SVC #0 with the call's number in r7 and its arguments in r0 to r3; the result comes back in r0.
 * Structures are passed by address, laid out alike for both sides (little-endian, natural
 * alignment). Programs use ecube.h; this header is for lib/ and for the kernel.
 */
#pragma once

#include <stdint.h>

enum ecube_call {
    ECUBE_CALL_EXIT = 0, /* (status): does not return */
    /* (data, bytes, enum ecube_stream): console text; bytes taken, at least one, when there is room
     * for it */
    ECUBE_CALL_WRITE = 1,
    ECUBE_CALL_INFO = 2,       /* (struct ecube_abi_info *) */
    ECUBE_CALL_SEND = 3,       /* (struct ecube_abi_message *): request number */
    ECUBE_CALL_RECEIVE = 4,    /* (struct ecube_abi_message *): request number */
    ECUBE_CALL_COLLECTIVE = 5, /* (struct ecube_abi_collective *): request number */
    ECUBE_CALL_WAIT = 6,       /* (request, struct ecube_abi_result *): blocks; frees the request */
    /* (request, struct ecube_abi_result *): 1 and freed when complete, else 0 */
    ECUBE_CALL_TEST = 7,
    ECUBE_CALL_CLOCK = 8,   /* (struct ecube_abi_clock *) */
    ECUBE_CALL_ADVANCE = 9, /* (ns low, ns high): adds computing time to the model clock */
    ECUBE_CALL_REPORT = 10, /* (struct ecube_abi_report *): one line of the result table */
    ECUBE_CALL_SLEEP = 11,  /* (ns low, ns high): blocks until the wall clock is there */
    /* (struct ecube_abi_plan *): blocks until this node has the plan: scratch_bytes and steps */
    ECUBE_CALL_PLAN = 12,
    ECUBE_CALL_PREDICT = 13, /* (struct ecube_abi_plan *): blocks until the host has answered */
    /* (struct ecube_abi_set *): blocks until one of the requests is complete, and frees it: 1, or 0
     * when asked not to block */
    ECUBE_CALL_WAIT_ANY = 15,
    /* (struct ecube_abi_probe *): blocks until there is a message: 1, or 0 when asked not to block
     */
    ECUBE_CALL_PROBE = 16,
    ECUBE_CALL_CANCEL = 17, /* (request): a receive that no message has found ends, E_CANCELLED */
    ECUBE_CALL_ABORT = 18,  /* (status): ends the programs of all nodes; does not return */
    /* (struct ecube_abi_piece[], count): what the host may fetch when the program has ended, until
     * the next load (wire/output.h); instead of what was named before */
    ECUBE_CALL_OUTPUT = 19,
    /* (struct ecube_abi_rendezvous *): blocks until the host has scattered into a region, or
     * gathered it: which, of enum ecube_region_way */
    ECUBE_CALL_REGION = 20,
    ECUBE_CALL_HOPS = 21, /* (rank): links on the way from this node to that of the rank */
    ECUBE_CALL_MARK = 22  /* (name, its length): notes the moment, where anything is noted */
};

enum {
    ECUBE_ANY = -1,               /* any source, any tag */
    ECUBE_EXCHANGEV_BYTES = 1000, /* the size for which its plan is chosen */
    ECUBE_REQUESTS_MAX = 64,      /* requests of one program that are not yet waited for */
    ECUBE_PIECES_MAX = 320,       /* of what a program leaves for the host */
    ECUBE_REGIONS_MAX = 8,        /* of one program */
    ECUBE_DIMENSIONS_MAX = 16,    /* of a network */
    ECUBE_PATHS_MAX = 16,         /* of one message */
    ECUBE_PORTS_ALL = 255,        /* in place of a number of ports */
    ECUBE_NAME_MAX = 24
};

/* What the host has done with a region. */
enum ecube_region_way { ECUBE_SCATTERED = 1, ECUBE_GATHERED = 2 };

/* The numbers that C's library gives them as files. */
enum ecube_stream { ECUBE_STREAM_OUTPUT = 1, ECUBE_STREAM_ERROR = 2 };

enum ecube_operation {
    ECUBE_BARRIER = 0,
    ECUBE_BROADCAST = 1,
    ECUBE_SCATTER = 2,
    ECUBE_GATHER = 3,
    ECUBE_EXCHANGE = 4, /* complete exchange (all-to-all personalized) */
    ECUBE_ALLGATHER = 5,
    ECUBE_REDUCE = 6,
    ECUBE_ALIGN = 7, /* sets every model clock to the latest of all; takes no model time */
    ECUBE_ALLREDUCE = 8,
    ECUBE_REDUCE_SCATTER = 9, /* node r gets the combination of what all have for it */
    ECUBE_SCAN = 10,          /* inclusive prefix: node r gets the combination of ranks 0 to r */
    ECUBE_SHIFT = 11,         /* `root` is the distance */
    ECUBE_REVERSE = 12,       /* `root` is the mask of dimensions */
    ECUBE_EXCHANGEV = 13,     /* complete exchange with a size for every pair */
    /* blocks to the places at distances +-2^j; `root` is 0, ECUBE_MOVEMENTS_AGAIN or
     * ECUBE_MOVEMENT_ALONE + a movement */
    ECUBE_ALL_TO_SOME = 14,
    ECUBE_OPERATIONS = 15
};

/* What stands in the place of the root of ALL_TO_SOME. */
enum {
    ECUBE_MOVEMENTS_AGAIN = 1, /* all, and once more +1 and -1 */
    ECUBE_MOVEMENT_ALONE = 2   /* this and the movement's number: it alone */
};

/* The movements of ALL_TO_SOME among so many places: +2^j is movement 2 j, -2^j is 2 j + 1, for
 * each 2^j below `size`. Of a power of two + size / 2 and - size / 2 are one, the last. */
static inline uint32_t ecube_movements(uint32_t size)
{
    uint32_t count = 0, length = 1;

    for (; length < size; length *= 2) {
        count += 2;
    }
    return count > 0 && length == size ? count - 1 : count;
}

/* Of the elements of a reduction; the pairs are ecube.h's structures of value and index. */
enum ecube_type {
    ECUBE_INT32 = 1,
    ECUBE_DOUBLE = 2,
    ECUBE_INT8 = 3,
    ECUBE_INT16 = 4,
    ECUBE_INT64 = 5,
    ECUBE_UINT8 = 6,
    ECUBE_UINT16 = 7,
    ECUBE_UINT32 = 8,
    ECUBE_UINT64 = 9,
    ECUBE_FLOAT = 10,
    ECUBE_INT32_INT32 = 11,
    ECUBE_INT64_INT32 = 12,
    ECUBE_FLOAT_INT32 = 13,
    ECUBE_DOUBLE_INT32 = 14
};

/* SUM, PRODUCT, MIN and MAX are for numbers, those from LOGICAL_AND to BITWISE_XOR for integers,
 * MINLOC and MAXLOC for pairs. */
enum ecube_operator {
    ECUBE_SUM = 1,
    ECUBE_MAX = 2,
    ECUBE_PRODUCT = 3,
    ECUBE_MIN = 4,
    ECUBE_LOGICAL_AND = 5,
    ECUBE_LOGICAL_OR = 6,
    ECUBE_LOGICAL_XOR = 7,
    ECUBE_BITWISE_AND = 8,
    ECUBE_BITWISE_OR = 9,
    ECUBE_BITWISE_XOR = 10,
    ECUBE_MINLOC = 11,
    ECUBE_MAXLOC = 12
};

/* Bytes of an element, a power of two; 0: there is no such type. */
static inline uint32_t ecube_type_bytes(uint32_t type)
{
    switch (type) {
    case ECUBE_INT8:
    case ECUBE_UINT8: return 1;
    case ECUBE_INT16:
    case ECUBE_UINT16: return 2;
    case ECUBE_INT32:
    case ECUBE_UINT32:
    case ECUBE_FLOAT: return 4;
    case ECUBE_INT64:
    case ECUBE_UINT64:
    case ECUBE_DOUBLE:
    case ECUBE_INT32_INT32:
    case ECUBE_FLOAT_INT32: return 8;
    case ECUBE_INT64_INT32:
    case ECUBE_DOUBLE_INT32: return 16;
    default: return 0;
    }
}

/* The number of an algorithm's name, FNV-1a of its bytes (Fowler, Noll & Vo, RFC 9923); 0: no
 * name. */
static inline uint32_t ecube_choice(const char *name)
{
    uint32_t hash = 0x811c9dc5;

    if (!name || !*name) {
        return 0;
    }
    for (; *name; name++) {
        hash = (hash ^ (uint8_t)*name) * 0x01000193;
    }
    return hash ? hash : 1;
}

struct ecube_abi_info {
    uint32_t rank;
    uint32_t size;
    uint32_t dims;
    /* first and last + 1 address that malloc may use; the image's bss lies below */
    uint32_t heap_start;
    uint32_t heap_end;
    uint32_t xi_ns; /* the machine profile: start-up, per hop, per element */
    uint32_t tau_ns;
    uint32_t element_ns;
    uint32_t sigma_permille;
    uint32_t ports;
    uint32_t element_bytes;
    uint32_t dimensions; /* of what ranks form; dimension 0 varies fastest with the rank */
    uint32_t wraps;      /* 1: the ends of every dimension are neighbours */
    uint32_t sizes[ECUBE_DIMENSIONS_MAX];
    uint32_t records; /* 1: marks are noted */
};

struct ecube_abi_message {
    uint32_t data; /* address */
    uint32_t bytes;
    int32_t peer; /* destination, or source or ECUBE_ANY */
    int32_t tag;  /* >= 0, or ECUBE_ANY in a receive */
    /* of a send: over at most so many paths at once, if it is long; 0 as 1. No receive's. */
    uint32_t paths;
};

/* Where a block lies, and how long it is. */
struct ecube_block {
    uint32_t at; /* bytes behind the begin of the buffer */
    uint32_t bytes;
};

struct ecube_abi_collective {
    uint32_t operation;
    uint32_t root;
    /* bytes of one block: per pair, per node; of the whole vector in a broadcast or reduction; of
     * EXCHANGEV the size for which the plan is to be the cheapest */
    uint32_t block_bytes;
    /* addresses: the blocks to send, in rank order; those received, of a broadcast the one buffer
     * at every node; working memory of as many bytes as PLAN says */
    uint32_t send;
    uint32_t receive;
    uint32_t scratch;
    uint32_t scratch_bytes;
    uint8_t type;      /* enum ecube_type; 0 where nothing is reduced */
    uint8_t operator_; /* enum ecube_operator; likewise */
    uint16_t spare;
    uint32_t choice; /* ecube_choice of the algorithm; 0: the host chooses */
    /* EXCHANGEV alone, addresses: a struct ecube_block for every rank, of what is sent to it, and
     * of what comes from it. They are read until the collective is over. */
    uint32_t send_blocks;
    uint32_t receive_blocks;
};

/* What there is to know of a collective before it is called; the first four and the choice are the
 * question. */
struct ecube_abi_plan {
    uint32_t operation;
    uint32_t root;
    uint32_t block_bytes;
    uint32_t type;
    uint32_t scratch_bytes; /* of this node */
    uint32_t steps;
    uint64_t model_ns; /* PREDICT alone: what it takes when all begin together on an idle machine */
    uint64_t bound_ns; /* ... and what no schedule can take less than */
    uint32_t choice;   /* as above */
    uint32_t spare;
};

struct ecube_abi_result {
    int32_t status; /* E_OK or a negative status */
    int32_t peer;
    int32_t tag;
    uint32_t bytes;
    uint32_t steps; /* collectives: steps of the schedule */
    /* of a receive that ended with E_TRUNCATED the bytes of the message; of a collective which one
     * of the program's it was: collectives that all nodes have entered have the same number */
    uint32_t detail;
    uint64_t done_ns; /* model time of completion */
};

/* Requests of which one is waited for. */
struct ecube_abi_set {
    uint32_t requests; /* address of their numbers, int32_t each */
    uint32_t count;    /* 1 to ECUBE_REQUESTS_MAX */
    uint32_t poll;     /* 1: only one that is complete by the program's model clock; no blocking */
    uint32_t index;    /* answer: which of them has ended, or (E_ARGUMENT) is none */
    struct ecube_abi_result result; /* answer, when one has ended */
};

/* The first message that a receive would take. */
struct ecube_abi_probe {
    int32_t peer, tag; /* as in a receive */
    uint32_t poll;     /* 1: no blocking */
    uint32_t spare;
    struct ecube_abi_result result; /* answer: sender, tag, bytes; done_ns: when it came */
};

/* A piece of what a program leaves for the host. */
struct ecube_abi_piece {
    uint32_t address;
    uint32_t bytes; /* 0: nothing, wherever it lies */
};

/* Memory of a program that the host fills or fetches. */
struct ecube_abi_region {
    char name[ECUBE_NAME_MAX]; /* ends with a zero byte */
    uint32_t address;
    uint32_t bytes;
};

/* The program waits at one of its regions. */
struct ecube_abi_rendezvous {
    uint32_t regions; /* address of all of them, struct ecube_abi_region each */
    uint32_t count;   /* 1 to ECUBE_REGIONS_MAX */
    uint32_t index;   /* of the one that it waits at */
    uint32_t moved;   /* answer: bytes, from the region's first on */
};

struct ecube_abi_clock {
    uint64_t model_ns;
    uint64_t wall_ns;
};

struct ecube_abi_report {
    char name[ECUBE_NAME_MAX]; /* ends with a zero byte */
    uint64_t bytes;
    uint64_t steps;
    uint64_t model_ns;
    uint64_t predicted_ns; /* 0: nothing is */
    uint64_t bound_ns;     /* lower bound */
    uint64_t wall_ns;
    uint64_t wrong; /* bytes that were not what they should be */
};
