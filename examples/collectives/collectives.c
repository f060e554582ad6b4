/*
 * collectives.c - measures any collective by its name, at several sizes, and checks each byte.
 *
 *   collectives OPERATION [BYTES]...      default: 16 100 1000
 *
 * BYTES are those of a block, or of a vector; vectors that are combined are sums of integers of 32
 * bits. The root is rank 0, a shift goes to the next rank, a reversal mirrors all dimensions. Each
 * size is one line of the run's result table, with the time of the slowest node. The scenario of
 * the same name in `ecube sim` has the same; an exchangev goes by the plan for blocks of 1,000
 * bytes, whatever its own are. Exit status 1 when a byte is wrong.
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

/* What a rank has before or after: a block, or one for every rank, or movement. */
enum span { NOTHING, ONE, ONE_AT_ROOT, ALL, ALL_AT_ROOT, MOVEMENTS };

static const struct operation {
    const char *name;
    enum ecube_operation number;
    enum span sends, receives;
    int combines;
} operations[] = {
    {"barrier", ECUBE_BARRIER, NOTHING, NOTHING, 0},
    {"broadcast", ECUBE_BROADCAST, ONE_AT_ROOT, ONE, 0},
    {"scatter", ECUBE_SCATTER, ALL_AT_ROOT, ONE, 0},
    {"gather", ECUBE_GATHER, ONE, ALL_AT_ROOT, 0},
    {"exchange", ECUBE_EXCHANGE, ALL, ALL, 0},
    {"allgather", ECUBE_ALLGATHER, ONE, ALL, 0},
    {"reduce", ECUBE_REDUCE, ONE, ONE_AT_ROOT, 1},
    {"allreduce", ECUBE_ALLREDUCE, ONE, ONE, 1},
    {"reduce_scatter", ECUBE_REDUCE_SCATTER, ALL, ONE, 1},
    {"scan", ECUBE_SCAN, ONE, ONE, 1},
    {"shift", ECUBE_SHIFT, ONE, ONE, 0},
    {"reverse", ECUBE_REVERSE, ONE, ONE, 0},
    {"exchangev", ECUBE_EXCHANGEV, ALL, ALL, 0},
    {"all_to_some", ECUBE_ALL_TO_SOME, MOVEMENTS, MOVEMENTS, 0},
};

enum { OPERATIONS = sizeof operations / sizeof operations[0], BYTES_MAX = 1 << 24 };

/* What a run of an operation works with. */
struct buffers {
    unsigned char *send, *receive;
    struct ecube_block *table; /* of exchangev, for both sides */
    uint32_t bytes;
};

/* What has been measured: of a rank, and then of all. */
struct outcome {
    uint64_t steps, model_ns, wall_ns;
};

static uint32_t blocks_of(enum span span)
{
    int here = span == ONE || span == ALL || ecube_rank() == 0;

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

    switch (operation->number) {
    case ECUBE_SHIFT: return (rank + size - 1) % size;
    case ECUBE_REVERSE: return size - 1 - rank;
    case ECUBE_ALL_TO_SOME: return mover_of(number);
    default: return operation->receives >= ALL ? number : 0;
    }
}

static void fill(const struct operation *operation, const struct buffers *buffers)
{
    uint32_t bytes = buffers->bytes, count = blocks_of(operation->sends);
    uint32_t rank = (uint32_t)ecube_rank();
    unsigned char *send = buffers->send;

    memset(buffers->receive, 0xee, (size_t)blocks_of(operation->receives) * bytes);
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
    uint32_t bytes = buffers->bytes, count = blocks_of(operation->receives);
    uint32_t rank = (uint32_t)ecube_rank();
    uint32_t ranks = operation->number == ECUBE_SCAN ? rank + 1 : (uint32_t)ecube_size();
    uint32_t own = operation->sends >= ALL ? rank : 0; /* which of a sender's blocks is for here */
    uint64_t wrong = 0;

    for (uint32_t block = 0; block < count; block++) {
        uint32_t source = source_of(operation, block);
        own = operation->sends == MOVEMENTS ? block : own;
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

/* At rank 0: one line of the result table. */
static void report(const struct operation *operation, uint32_t bytes, const struct outcome *worst,
                   uint64_t wrong)
{
    int combines = operation->combines, shifts = operation->number == ECUBE_SHIFT;
    struct ecube_prediction prediction;

    if (ecube_rank() != 0) {
        return;
    }
    ecube_predict(operation->number, shifts && ecube_size() > 1, bytes, combines ? ECUBE_INT32 : 0,
                  &prediction);
    struct ecube_report line = {
        .name = operation->name,
        .bytes = bytes,
        .steps = worst->steps,
        .model_ns = worst->model_ns,
        .predicted_ns = prediction.model_ns,
        .bound_ns = prediction.bound_ns,
        .wall_ns = worst->wall_ns,
        .wrong = wrong,
    };
    ecube_report(&line);
}

/* Runs it once; how many bytes are wrong on all nodes together. */
static uint64_t measure(const struct operation *operation, const struct buffers *buffers)
{
    struct ecube_request request;
    struct ecube_status status;
    struct outcome worst;
    uint64_t wrong, all_wrong;

    fill(operation, buffers);
    ecube_align();
    uint64_t model_ns = ecube_model_ns(), wall_ns = ecube_wall_ns();
    begin(operation, buffers, &request);
    ecube_wait(&request, &status);
    struct outcome mine = {.steps = status.steps,
                           .model_ns = ecube_model_ns() - model_ns,
                           .wall_ns = ecube_wall_ns() - wall_ns};
    wrong = count_wrong(operation, buffers);
    ecube_allreduce(&mine, &worst, sizeof mine / sizeof(uint64_t), ECUBE_UINT64, ECUBE_MAX);
    ecube_allreduce(&wrong, &all_wrong, 1, ECUBE_UINT64, ECUBE_SUM);
    report(operation, buffers->bytes, &worst, all_wrong);
    return all_wrong;
}

/* Returns the exit status. */
static int run_size(const struct operation *operation, uint32_t bytes)
{
    struct buffers buffers = {.send = malloc((size_t)blocks_of(operation->sends) * bytes + 1),
                              .receive = malloc((size_t)blocks_of(operation->receives) * bytes + 1),
                              .bytes = bytes};
    int status = 2;

    if (operation->number == ECUBE_EXCHANGEV) {
        buffers.table = malloc((size_t)ecube_size() * sizeof *buffers.table);
    }
    if (buffers.send && buffers.receive &&
        (buffers.table || operation->number != ECUBE_EXCHANGEV)) {
        status = measure(operation, &buffers) > 0;
    } else {
        fprintf(stderr, "collectives: no memory for blocks of %lu bytes\n", (unsigned long)bytes);
    }
    free(buffers.send);
    free(buffers.receive);
    free(buffers.table);
    return status;
}

static const struct operation *find_operation(const char *name)
{
    for (unsigned i = 0; i < OPERATIONS; i++) {
        if (strcmp(operations[i].name, name) == 0) {
            return &operations[i];
        }
    }
    fprintf(stderr, "collectives: \"%s\" is none of", name);
    for (unsigned i = 0; i < OPERATIONS; i++) {
        fprintf(stderr, " %s", operations[i].name);
    }
    fputc('\n', stderr);
    return NULL;
}

/* Negative, after a message: it is no size of this operation. */
static long size_of(const struct operation *operation, const char *text)
{
    char *end;
    unsigned long bytes = strtoul(text, &end, 10);

    if (*end != 0 || end == text || bytes > BYTES_MAX) {
        fprintf(stderr, "collectives: \"%s\" is not a number of bytes up to %d\n", text, BYTES_MAX);
        return -1;
    }
    if (operation->combines && bytes % 4 != 0) {
        fprintf(stderr, "collectives: %s combines integers of 4 bytes, and %lu is no multiple\n",
                operation->name, bytes);
        return -1;
    }
    return operation->number == ECUBE_BARRIER ? 0 : (long)bytes;
}

int main(int argc, char **argv)
{
    static char *defaults[] = {"", "", "16", "100", "1000"};
    const struct operation *operation = find_operation(argc > 1 ? argv[1] : "exchange");
    char **sizes = argc > 2 ? argv : defaults;
    int count = argc > 2 ? argc : (int)(sizeof defaults / sizeof defaults[0]);
    int status = operation ? 0 : 2;

    if (operation && operation->number == ECUBE_BARRIER) {
        count = 3; /* it has no bytes */
    }
    for (int i = 2; i < count && status == 0; i++) {
        long bytes = size_of(operation, sizes[i]);
        status = bytes < 0 ? 2 : run_size(operation, (uint32_t)bytes);
    }
    return status;
}
