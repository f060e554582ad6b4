/*
 * collectives.c - measures any collective, or pattern of messages (messages.h), by its name, at
 * several sizes, and checks each byte. `ecube bench` runs it.
 *
 *   collectives [OPTION]... OPERATION[,OPERATION]... [BYTES]...      default: 16 100 1000
 *
 * BYTES are those of a block, of a vector or of a message; vectors that are combined are sums of
 * integers of 32 bits. The root is rank 0, a shift goes to the next rank, a reversal mirrors all
 * dimensions. Each size is one line of the run's result table, with the time of the slowest node.
 * The scenario of the same name in `ecube sim` has the same; an exchangev goes by the plan for
 * blocks of 1,000 bytes, whatever its own are. Exit status 1 when a byte is wrong.
 *
 * With --iterations each size is run once more, at first, when its plan may have to be made; then N
 * times, of which the wall time is the median. Model time is the same in all of them; were it not,
 * the one that is not as predicted would be shown.
 *
 * --sends N sends N messages behind each other instead of 16. --poll asks for the end of a
 * collective until it is there, instead of waiting. --check-once fills and looks at the bytes of
 * the first time alone: for whoever counts the time of processors.
 *
 * Block b of rank s has the byte 37 s + 101 b + 7 i + i / 256 at place i. What is combined has the
 * integer (b count + i + 1) (2 s + 1) there, as the first k odd numbers have the sum k k: that of
 * the first k ranks is (b count + i + 1) k k.
 */
#include <ecube.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/collectives/messages.h"
#include "examples/words.h"

/* What a rank has before or after: a block, or one for every rank, or movement. */
enum span { NOTHING, ONE, ONE_AT_ROOT, ALL, ALL_AT_ROOT, MOVEMENTS, MESSAGES };

static const struct operation {
    const char *name;
    enum ecube_operation number;
    enum span sends, receives;
    int combines;
    enum pattern pattern;
} operations[] = {
    {"barrier", ECUBE_BARRIER, NOTHING, NOTHING, 0, NO_PATTERN},
    {"broadcast", ECUBE_BROADCAST, ONE_AT_ROOT, ONE, 0, NO_PATTERN},
    {"scatter", ECUBE_SCATTER, ALL_AT_ROOT, ONE, 0, NO_PATTERN},
    {"gather", ECUBE_GATHER, ONE, ALL_AT_ROOT, 0, NO_PATTERN},
    {"exchange", ECUBE_EXCHANGE, ALL, ALL, 0, NO_PATTERN},
    {"allgather", ECUBE_ALLGATHER, ONE, ALL, 0, NO_PATTERN},
    {"reduce", ECUBE_REDUCE, ONE, ONE_AT_ROOT, 1, NO_PATTERN},
    {"allreduce", ECUBE_ALLREDUCE, ONE, ONE, 1, NO_PATTERN},
    {"reduce_scatter", ECUBE_REDUCE_SCATTER, ALL, ONE, 1, NO_PATTERN},
    {"scan", ECUBE_SCAN, ONE, ONE, 1, NO_PATTERN},
    {"shift", ECUBE_SHIFT, ONE, ONE, 0, NO_PATTERN},
    {"reverse", ECUBE_REVERSE, ONE, ONE, 0, NO_PATTERN},
    {"exchangev", ECUBE_EXCHANGEV, ALL, ALL, 0, NO_PATTERN},
    {"all_to_some", ECUBE_ALL_TO_SOME, MOVEMENTS, MOVEMENTS, 0, NO_PATTERN},
    {"latency", ECUBE_OPERATIONS, MESSAGES, MESSAGES, 0, LATENCY},
    {"bandwidth", ECUBE_OPERATIONS, MESSAGES, MESSAGES, 0, BANDWIDTH},
    {"both_ways", ECUBE_OPERATIONS, MESSAGES, MESSAGES, 0, BOTH_WAYS},
    {"message_rate", ECUBE_OPERATIONS, MESSAGES, MESSAGES, 0, MESSAGE_RATE},
    {"incast", ECUBE_OPERATIONS, MESSAGES, MESSAGES, 0, INCAST},
};

enum {
    OPERATIONS = sizeof operations / sizeof operations[0],
    BYTES_MAX = 1 << 24,
    COUNT_MAX = 10000
};

/* How a size is run. */
struct way {
    unsigned times; /* the first does not count if there are others */
    int polls, checks_once;
};

/* What a run of an operation works with. */
struct buffers {
    unsigned char *send, *receive;
    struct ecube_block *table; /* of exchangev, for both sides */
    uint32_t bytes;
};

/* What has been measured: of a rank, and then of all. Behind it stand, for each time that the
 * operation was run, model time and wall time. */
struct outcome {
    uint64_t steps, hops, wrong;
    uint64_t ns[];
};

static uint32_t blocks_of(const struct operation *operation, int receives)
{
    enum span span = receives ? operation->receives : operation->sends;
    int here = span == ONE || span == ALL || ecube_rank() == 0;

    if (span == MESSAGES) {
        return messages_blocks(operation->pattern, receives);
    }
    if (span == MOVEMENTS) {
        return ecube_movements((uint32_t)ecube_size());
    }
    return span == NOTHING || !here ? 0 : span >= ALL ? (uint32_t)ecube_size() : 1;
}

/* The byte at a place of a block of a rank, or of the first `ranks` of them, combined. */
static unsigned char byte_of(const struct operation *operation, uint32_t bytes, uint32_t source,
                             uint32_t ranks, uint32_t block, uint32_t at)
{
    uint32_t element = block * (bytes / 4) + at / 4 + 1;

    if (!operation->combines) {
        return (unsigned char)(source * 37 + block * 101 + at * 7 + at / 256);
    }
    return (unsigned char)(element * (ranks ? ranks * ranks : 2 * source + 1) >> at % 4 * 8);
}

/* The rank from which movement +2^j or -2^j comes here: number 2 j, or 2 j + 1. */
static uint32_t mover_of(uint32_t number)
{
    int size = ecube_size(), length = 1 << number / 2;
    int place = ecube_place(ecube_rank()) + (number % 2 ? length : size - length);

    return (uint32_t)ecube_rank_at(place % size);
}

/* Whose block comes as the one of a number. */
static uint32_t source_of(const struct operation *operation, uint32_t number)
{
    uint32_t rank = (uint32_t)ecube_rank(), size = (uint32_t)ecube_size();

    if (operation->pattern != NO_PATTERN) {
        return messages_source(operation->pattern, number);
    }
    switch (operation->number) {
    case ECUBE_SHIFT: return (rank + size - 1) % size;
    case ECUBE_REVERSE: return size - 1 - rank;
    case ECUBE_ALL_TO_SOME: return mover_of(number);
    default: return operation->receives >= ALL ? number : 0;
    }
}

static void fill(const struct operation *operation, const struct buffers *buffers)
{
    uint32_t bytes = buffers->bytes, count = blocks_of(operation, 0);
    uint32_t rank = (uint32_t)ecube_rank();
    unsigned char *send = buffers->send;

    memset(buffers->receive, 0xee, (size_t)blocks_of(operation, 1) * bytes);
    if (operation->number == ECUBE_BROADCAST) {
        send = buffers->receive; /* where it is, it stays */
    }
    for (uint32_t block = 0; block < count; block++) {
        for (uint32_t at = 0; at < bytes; at++) {
            send[(size_t)block * bytes + at] = byte_of(operation, bytes, rank, 0, block, at);
        }
    }
    for (uint32_t i = 0; buffers->table && i < (uint32_t)ecube_size(); i++) {
        buffers->table[i] = (struct ecube_block){i * bytes, bytes};
    }
}

static uint64_t count_wrong(const struct operation *operation, const struct buffers *buffers)
{
    uint32_t bytes = buffers->bytes, count = blocks_of(operation, 1);
    uint32_t rank = (uint32_t)ecube_rank();
    uint32_t ranks = operation->number == ECUBE_SCAN ? rank + 1 : (uint32_t)ecube_size();
    uint32_t own = operation->sends >= ALL ? rank : 0; /* which of a sender's blocks is for here */
    uint64_t wrong = 0;

    for (uint32_t block = 0; block < count; block++) {
        uint32_t source = source_of(operation, block);
        own = operation->sends == MOVEMENTS ? block : own;
        own = operation->pattern ? messages_number(operation->pattern, block) : own;
        for (uint32_t at = 0; at < bytes; at++) {
            wrong += buffers->receive[(size_t)block * bytes + at] !=
                     byte_of(operation, bytes, source, ranks, own, at);
        }
    }
    return wrong;
}

static void begin(const struct operation *operation, const struct buffers *buffers,
                  struct ecube_request *request)
{
    const void *send = buffers->send;
    void *receive = buffers->receive;
    uint32_t bytes = buffers->bytes, count = bytes / 4;

    switch (operation->number) {
    case ECUBE_BARRIER: ecube_barrier_start(request); break;
    case ECUBE_BROADCAST: ecube_broadcast_start(receive, bytes, 0, request); break;
    case ECUBE_SCATTER: ecube_scatter_start(send, receive, bytes, 0, request); break;
    case ECUBE_GATHER: ecube_gather_start(send, receive, bytes, 0, request); break;
    case ECUBE_EXCHANGE: ecube_exchange_start(send, receive, bytes, request); break;
    case ECUBE_ALLGATHER: ecube_allgather_start(send, receive, bytes, request); break;
    case ECUBE_REDUCE:
        ecube_reduce_start(send, receive, count, ECUBE_INT32, ECUBE_SUM, 0, request);
        break;
    case ECUBE_ALLREDUCE:
        ecube_allreduce_start(send, receive, count, ECUBE_INT32, ECUBE_SUM, request);
        break;
    case ECUBE_REDUCE_SCATTER:
        ecube_reduce_scatter_start(send, receive, count, ECUBE_INT32, ECUBE_SUM, request);
        break;
    case ECUBE_SCAN: ecube_scan_start(send, receive, count, ECUBE_INT32, ECUBE_SUM, request); break;
    case ECUBE_SHIFT: ecube_shift_start(send, receive, bytes, 1, request); break;
    case ECUBE_REVERSE: ecube_reverse_start(send, receive, bytes, 0, request); break;
    case ECUBE_ALL_TO_SOME: ecube_all_to_some_start(send, receive, bytes, request); break;
    default: ecube_exchangev_start(send, buffers->table, receive, buffers->table, request); break;
    }
}

/* Runs it; steps of messages are how many this rank sends. */
static void run(const struct operation *operation, const struct buffers *buffers, int polls,
                struct outcome *outcome)
{
    struct ecube_request request;
    struct ecube_status status;

    if (operation->pattern) {
        messages_run(operation->pattern, buffers->send, buffers->receive, buffers->bytes);
        outcome->steps = messages_sent(operation->pattern);
        return;
    }
    begin(operation, buffers, &request);
    while (polls && ecube_test(&request, &status) == 0) {
    }
    if (!polls) {
        ecube_wait(&request, &status);
    }
    outcome->steps = status.steps;
}

/* The i-th time. A message that goes to and fro needs no common begin, and takes half of that; the
 * last rank waits for the first one as well, so it has no time of its own. Who has ended looks at
 * nothing before all others have: on a busy computer that would take their time. */
static void run_once(const struct operation *operation, const struct buffers *buffers,
                     const struct way *way, unsigned i, struct outcome *outcome)
{
    int to_and_fro = operation->pattern == LATENCY, checks = i == 0 || !way->checks_once;

    if (checks) {
        fill(operation, buffers);
    }
    if (!to_and_fro || i == 0) {
        ecube_align();
    }
    uint64_t model_ns = ecube_model_ns(), wall_ns = ecube_wall_ns();
    run(operation, buffers, way->polls, outcome);
    int divisor = to_and_fro ? 2 : 1, counts = !to_and_fro || ecube_rank() == 0;
    outcome->ns[2 * i] = counts ? (ecube_model_ns() - model_ns) / divisor : 0;
    outcome->ns[2 * i + 1] = counts ? (ecube_wall_ns() - wall_ns) / divisor : 0;
    if (!to_and_fro) {
        ecube_barrier();
    }
    outcome->wrong += checks ? count_wrong(operation, buffers) : 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* At rank 0: what all have. The slowest's times count, the longest way, all bytes that are wrong;
 * the most steps, but of messages all. */
static void merge(const struct operation *operation, unsigned times, const struct outcome *outcomes,
                  struct outcome *all)
{
    size_t words = sizeof *all / sizeof(uint64_t) + 2 * times;

    memset(all, 0, words * sizeof(uint64_t));
    for (int rank = 0; rank < ecube_size(); rank++) {
        const struct outcome *one =
            (const struct outcome *)((const uint64_t *)outcomes + (size_t)rank * words);
        all->steps = operation->pattern ? all->steps + one->steps : larger(all->steps, one->steps);
        all->hops = larger(all->hops, one->hops);
        all->wrong += one->wrong;
        for (unsigned i = 0; i < 2 * times; i++) {
            all->ns[i] = larger(all->ns[i], one->ns[i]);
        }
    }
    all->steps = operation->pattern == LATENCY ? 1 : all->steps;
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void predict(const struct operation *operation, uint32_t bytes, uint64_t hops,
                    struct ecube_prediction *prediction)
{
    int combines = operation->combines, shifts = operation->number == ECUBE_SHIFT;

    if (operation->pattern) {
        messages_predict(operation->pattern, bytes, (uint32_t)hops, prediction);
    } else {
        ecube_predict(operation->number, shifts && ecube_size() > 1, bytes,
                      combines ? ECUBE_INT32 : 0, prediction);
    }
}

/* At rank 0: one line of the result table. */
static void report(const struct operation *operation, uint32_t bytes, unsigned times,
                   const struct outcome *all, uint64_t *walls_ns)
{
    unsigned skipped = times > 1, counted = times - skipped, odd = 0;
    struct ecube_prediction prediction;

    predict(operation, bytes, all->hops, &prediction);
    while (odd + 1 < times && all->ns[2 * odd] == prediction.model_ns) {
        odd++;
    }
    for (unsigned i = 0; i < counted; i++) {
        walls_ns[i] = all->ns[2 * (i + skipped) + 1];
    }
    qsort(walls_ns, counted, sizeof *walls_ns, compare);
    struct ecube_report line = {
        .name = operation->name,
        .bytes = bytes,
        .steps = all->steps,
        .model_ns = all->ns[2 * odd],
        .predicted_ns = prediction.model_ns,
        .bound_ns = prediction.bound_ns,
        .wall_ns = walls_ns[counted / 2],
        .wrong = all->wrong,
    };
    ecube_report(&line);
}

static size_t outcome_bytes(unsigned times)
{
    return sizeof(struct outcome) + 2 * times * sizeof(uint64_t);
}

/* What `measure` works with: this rank's outcome, that of all and, at rank 0, each one's. */
static size_t scratch_bytes(unsigned times)
{
    return outcome_bytes(times) * (ecube_rank() == 0 ? (size_t)ecube_size() + 2 : 2);
}

/* How many bytes are wrong here, and at rank 0 on all nodes together. */
static uint64_t measure(const struct operation *operation, const struct buffers *buffers,
                        const struct way *way, void *scratch)
{
    uint32_t bytes = (uint32_t)outcome_bytes(way->times);
    struct outcome *mine = scratch, *all = (struct outcome *)((char *)scratch + bytes);
    struct outcome *each = (struct outcome *)((char *)all + bytes);

    memset(mine, 0, bytes);
    mine->hops = messages_hops(operation->pattern);
    for (unsigned i = 0; i < way->times; i++) {
        run_once(operation, buffers, way, i, mine);
    }
    ecube_gather(mine, each, bytes, 0);
    if (ecube_rank() != 0) {
        return mine->wrong;
    }
    merge(operation, way->times, each, all);
    report(operation, buffers->bytes, way->times, all, mine->ns);
    return all->wrong;
}

/* Whether all ranks have what they need: who has not says so, and none of them begins. */
static int all_have(int here)
{
    int all;

    ecube_allreduce(&here, &all, 1, ECUBE_INT32, ECUBE_MIN);
    return all;
}

/* Returns the exit status. */
static int run_size(const struct operation *operation, uint32_t bytes, const struct way *way)
{
    size_t sends = blocks_of(operation, 0), receives = blocks_of(operation, 1);
    struct buffers buffers = {
        .send = malloc(sends * bytes + 1), .receive = malloc(receives * bytes + 1), .bytes = bytes};
    void *scratch = malloc(scratch_bytes(way->times));
    int sized = operation->number == ECUBE_EXCHANGEV, status = 2;

    if (sized) {
        buffers.table = malloc((size_t)ecube_size() * sizeof *buffers.table);
    }
    int here = buffers.send && buffers.receive && scratch && (buffers.table || !sized);
    if (!here) {
        fprintf(stderr, "collectives: %s: no memory for blocks of %lu bytes\n", operation->name,
                (unsigned long)bytes);
    }
    if (all_have(here)) {
        status = measure(operation, &buffers, way, scratch) > 0;
    }
    free(buffers.send);
    free(buffers.receive);
    free(buffers.table);
    free(scratch);
    return status;
}

static const struct operation *find_operation(const char *name)
{
    char names[400] = "";

    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return &operations[i];
        }
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", operations[i].name);
    }
    words_refuse("collectives", "\"%s\" is none of%s", name, names);
}

static uint32_t size_of(const struct operation *operation, const char *word)
{
    long bytes = words_read("collectives", word, 0, BYTES_MAX);

    if (operation->combines && bytes % 4 != 0) {
        words_refuse("collectives", "%s combines integers of 4 bytes, and %ld is no multiple",
                     operation->name, bytes);
    }
    return operation->number == ECUBE_BARRIER ? 0 : (uint32_t)bytes;
}

/* At all sizes; returns the worst exit status. */
static int run_operation(const char *name, char **sizes, int count, const struct way *way)
{
    const struct operation *operation = find_operation(name);
    int status = 0;

    if (operation->pattern && ecube_size() == 1) {
        words_refuse("collectives", "%s wants two ranks", name);
    }
    if (operation->number == ECUBE_BARRIER) {
        count = 1; /* it has no bytes */
    }
    for (int i = 0; i < count; i++) {
        int ended = run_size(operation, size_of(operation, sizes[i]), way);
        status = ended > status ? ended : status;
    }
    return status;
}

/* Reads the options; returns the index of the first word behind them. */
static int read_options(int argc, char **argv, struct way *way)
{
    int at = 1;

    for (; argc > at && strncmp(argv[at], "--", 2) == 0; at++) {
        int counts = argc > at + 1;
        if (strcmp(argv[at], "--poll") == 0) {
            way->polls = 1;
        } else if (strcmp(argv[at], "--check-once") == 0) {
            way->checks_once = 1;
        } else if (counts && strcmp(argv[at], "--iterations") == 0) {
            way->times = 1 + (unsigned)words_read("collectives", argv[++at], 1, COUNT_MAX);
        } else if (counts && strcmp(argv[at], "--sends") == 0) {
            messages_want((uint32_t)words_read("collectives", argv[++at], 1, COUNT_MAX));
        } else {
            words_refuse("collectives", "'%s' is no option, or wants a number", argv[at]);
        }
    }
    return at;
}

int main(int argc, char **argv)
{
    static char defaults[][5] = {"16", "100", "1000"};
    static char *usual[] = {defaults[0], defaults[1], defaults[2]};
    struct way way = {.times = 1};
    int at = read_options(argc, argv, &way), given = argc > at + 1, status = 0;
    char one[] = "exchange", *names = argc > at ? argv[at] : one;

    for (char *name = strtok(names, ","); name; name = strtok(NULL, ",")) {
        int ended =
            run_operation(name, given ? argv + at + 1 : usual, given ? argc - at - 1 : 3, &way);
        status = ended > status ? ended : status;
    }
    return status;
}
