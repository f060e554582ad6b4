/*
 * collectives.c - collectives [BYTES]: every collective from and to every root (of a large machine
 * some), every byte checked, each in the model time that was predicted; then calls that are
 * impossible, at all nodes and at one.
 *
 * collectives BYTES[,BYTES...] NETWORK ROOTS CASE...: the same of single algorithms, each in all
 * these sizes and for so many roots (distances, masks), up to the last one, or, with ROOTS,LAST, to
 * that rank. A case is OPERATION:ALGORITHM, which runs, OPERATION:, by what the host chooses, or
 * -OPERATION:ALGORITHM, which the network must refuse. Behind =M/ORDER stands the order in which
 * an algorithm that reduces combines the first of M segments of ORDERED doubles, as `ecube plan
 * show` has it: a sum that is rounded is compared.
 *
 * It knows no network but that of a reversal. Every other collective is begun and waited for, the
 * others are called.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ecube.h>

enum {
    ROOTS_MAX = 6,
    ROOTS_ALL_MAX = 8,
    SIZES_MAX = 16,
    DIMENSIONS_MAX = 16,
    ORDERED = 125,
    NODES_MAX = 128,
    MOVEMENTS_MORE = 4, /* than there are nodes */
    UNTOUCHED = 0xee
};

static const char *const names[ECUBE_OPERATIONS] = {[ECUBE_BARRIER] = "barrier",
                                                    [ECUBE_BROADCAST] = "broadcast",
                                                    [ECUBE_SCATTER] = "scatter",
                                                    [ECUBE_GATHER] = "gather",
                                                    [ECUBE_EXCHANGE] = "exchange",
                                                    [ECUBE_ALLGATHER] = "allgather",
                                                    [ECUBE_REDUCE] = "reduce",
                                                    [ECUBE_ALIGN] = "align",
                                                    [ECUBE_ALLREDUCE] = "allreduce",
                                                    [ECUBE_REDUCE_SCATTER] = "reduce_scatter",
                                                    [ECUBE_SCAN] = "scan",
                                                    [ECUBE_SHIFT] = "shift",
                                                    [ECUBE_REVERSE] = "reverse",
                                                    [ECUBE_EXCHANGEV] = "exchangev",
                                                    [ECUBE_ALL_TO_SOME] = "all_to_some"};
static uint32_t bytes, rank, size;
static uint8_t *blocks, *answer, *block;
static struct ecube_block places[NODES_MAX];       /* of blocks, one behind the other */
static const char *algorithm;                      /* the one that is forced; NULL: none is */
static uint32_t sides[DIMENSIONS_MAX], dimensions; /* of the network, the last number first */
static uint32_t roots_max, root_last;              /* of single algorithms */
static uint32_t runs;

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t index)
{
    return (uint8_t)(from * 131 + to * 17 + index * 7 + 3);
}

static void fill(uint8_t *memory, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < bytes; i++) {
        memory[i] = pattern(from, to, i);
    }
}

static uint32_t differences(const uint8_t *memory, uint32_t from, uint32_t to)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < bytes; i++) {
        wrong += memory[i] != pattern(from, to, i);
    }
    return wrong;
}

/* What a collective is called with. */
struct call {
    enum ecube_operation operation;
    uint32_t root;
    enum ecube_type type; /* of a reduction */
    enum ecube_operator operator_;
};

/* Which collective it is that the rest of the line is about. */
static void title(const struct call *call)
{
    printf("%s by %s, %u bytes, root %u", names[call->operation],
           algorithm ? algorithm : "the cheapest", (unsigned)bytes, (unsigned)call->root);
    if (call->type) {
        printf(", type %d, operator %d", (int)call->type, (int)call->operator_);
    }
    printf(": ");
}

static uint32_t element_bytes(const struct call *call)
{
    return ecube_type_bytes(call->type);
}

static uint32_t element_count(const struct call *call)
{
    return bytes / element_bytes(call);
}

static int is_pair(const struct call *call)
{
    return call->type >= ECUBE_INT32_INT32;
}

static int is_floating(const struct call *call)
{
    return call->type == ECUBE_FLOAT || call->type == ECUBE_DOUBLE ||
           call->type == ECUBE_FLOAT_INT32 || call->type == ECUBE_DOUBLE_INT32;
}

static int is_unsigned(const struct call *call)
{
    return call->type >= ECUBE_UINT8 && call->type <= ECUBE_UINT64;
}

/* Bytes of a number, or of a pair's value. */
static uint32_t value_bytes(const struct call *call)
{
    return element_bytes(call) / (is_pair(call) ? 2 : 1);
}

/* Element i of a node's vector, of floating ones eighths; sums and products of them are exact. */
static int64_t element(const struct call *call, uint32_t from, uint32_t i)
{
    if (call->operator_ == ECUBE_PRODUCT) {
        return is_floating(call) ? 8 + 8 * ((from + i) % 2) : 3 + 2 * ((from + i) % 5);
    }
    return (int64_t)((from * 5 + i * 3) % 97) - 40;
}

/* What of a number is left in the type; as it is read, with or without a sign. */
static int64_t cut(const struct call *call, int64_t value)
{
    unsigned gone = 64 - 8 * value_bytes(call);

    if (is_floating(call)) {
        return value;
    }
    return is_unsigned(call) ? (int64_t)((uint64_t)value << gone >> gone)
                             : (int64_t)((uint64_t)value << gone) >> gone;
}

static int is_less(const struct call *call, int64_t a, int64_t b)
{
    return is_unsigned(call) ? (uint64_t)a < (uint64_t)b : a < b;
}

static int64_t combined_two(const struct call *call, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;

    switch (call->operator_) {
    case ECUBE_SUM: return (int64_t)(x + y);
    case ECUBE_PRODUCT: return (int64_t)(x * y / (is_floating(call) ? 8 : 1));
    case ECUBE_MIN:
    case ECUBE_MINLOC: return is_less(call, b, a) ? b : a;
    case ECUBE_MAX:
    case ECUBE_MAXLOC: return is_less(call, a, b) ? b : a;
    case ECUBE_LOGICAL_AND: return a != 0 && b != 0;
    case ECUBE_LOGICAL_OR: return a != 0 || b != 0;
    case ECUBE_LOGICAL_XOR: return (a != 0) != (b != 0);
    case ECUBE_BITWISE_AND: return (int64_t)(x & y);
    case ECUBE_BITWISE_OR: return (int64_t)(x | y);
    default: return (int64_t)(x ^ y);
    }
}

static int64_t index_of(uint32_t from, uint32_t i)
{
    return (int64_t)(from ^ i % 4);
}

/* The combination of the first ranks, and the lowest index of those that have it. */
static int64_t combined(const struct call *call, uint32_t ranks, uint32_t i, int64_t *index)
{
    int64_t result = cut(call, element(call, 0, i));

    for (uint32_t from = 1; from < ranks; from++) {
        result = cut(call, combined_two(call, result, cut(call, element(call, from, i))));
    }
    *index = INT32_MAX;
    for (uint32_t from = 0; from < ranks; from++) {
        if (element(call, from, i) == result && index_of(from, i) < *index) {
            *index = index_of(from, i);
        }
    }
    return result;
}

/* Writes an element; the same numbers have the same bytes. */
static void put(const struct call *call, uint8_t *at, int64_t value, int64_t index)
{
    float narrow = (float)value / 8;
    double wide = (double)value / 8;
    int32_t place = (int32_t)index;

    memset(at, 0, element_bytes(call));
    memcpy(at,
           !is_floating(call)                    ? (const void *)&value
           : value_bytes(call) == sizeof(double) ? (const void *)&wide
                                                 : (const void *)&narrow,
           value_bytes(call));
    if (is_pair(call)) {
        memcpy(at + value_bytes(call), &place, sizeof place);
    }
}

static void fill_vector(const struct call *call)
{
    for (uint32_t i = 0; i < element_count(call); i++) {
        put(call, block + i * element_bytes(call), element(call, rank, i), index_of(rank, i));
    }
    /* of what is for each node, its first element is the vector's element of that node's number */
    for (uint32_t to = 0; to < size && call->operation == ECUBE_REDUCE_SCATTER; to++) {
        for (uint32_t i = 0; i < element_count(call); i++) {
            put(call, blocks + (to * element_count(call) + i) * element_bytes(call),
                element(call, rank, to + i), index_of(rank, to + i));
        }
    }
}

static uint32_t vector_differences(const struct call *call)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < element_count(call); i++) {
        uint8_t wanted[16];
        int64_t index;
        uint32_t at = i + (call->operation == ECUBE_REDUCE_SCATTER ? rank : 0);
        int64_t value = combined(call, call->operation == ECUBE_SCAN ? rank + 1 : size, at, &index);
        put(call, wanted, value, index);
        wrong += memcmp(answer + i * element_bytes(call), wanted, element_bytes(call)) != 0;
    }
    return wrong * element_bytes(call);
}

/* Of all to some root 0 is all movements, 1 + m the one of number m alone: how far that goes. */
static int hop_of(uint32_t movement)
{
    int length = 1 << movement / 2;

    return movement % 2 ? -length : length;
}

static uint32_t movements_of(const struct call *call)
{
    return call->root == 0 ? ecube_movements(size) : 1;
}

/* The rank whose block of a slot comes here. */
static uint32_t mover(const struct call *call, uint32_t slot)
{
    int hop = hop_of(call->root == 0 ? slot : call->root - 1);
    int place = (ecube_place((int)rank) - hop + (int)size) % (int)size;

    return (uint32_t)ecube_rank_at(place);
}

static uint32_t moved_differences(const struct call *call)
{
    uint32_t wrong = 0;

    for (uint32_t slot = 0; slot < movements_of(call); slot++) {
        wrong += differences(answer + (size_t)slot * bytes, mover(call, slot), slot);
    }
    return wrong;
}

static int called(const struct call *call)
{
    int root = (int)call->root;
    switch (call->operation) {
    case ECUBE_BROADCAST: return ecube_broadcast(block, bytes, root);
    case ECUBE_SCATTER: return ecube_scatter(blocks, block, bytes, root);
    case ECUBE_GATHER: return ecube_gather(block, answer, bytes, root);
    case ECUBE_EXCHANGE: return ecube_exchange(blocks, answer, bytes);
    case ECUBE_ALLGATHER: return ecube_allgather(block, answer, bytes);
    case ECUBE_REDUCE:
        return ecube_reduce(block, answer, element_count(call), call->type, call->operator_, root);
    case ECUBE_ALLREDUCE:
        return ecube_allreduce(block, answer, element_count(call), call->type, call->operator_);
    case ECUBE_REDUCE_SCATTER:
        return ecube_reduce_scatter(blocks, answer, element_count(call), call->type,
                                    call->operator_);
    case ECUBE_SCAN:
        return ecube_scan(block, answer, element_count(call), call->type, call->operator_);
    case ECUBE_SHIFT: return ecube_shift(block, answer, bytes, root - (int)size);
    case ECUBE_REVERSE: return ecube_reverse(block, answer, bytes, call->root);
    case ECUBE_EXCHANGEV: return ecube_exchangev(blocks, places, answer, places);
    case ECUBE_ALL_TO_SOME:
        return root == 0 ? ecube_all_to_some(blocks, answer, bytes)
                         : ecube_pm2i(blocks, answer, bytes, hop_of(call->root - 1));
    default: return ecube_barrier();
    }
}

static int begun(const struct call *call, struct ecube_request *request)
{
    int root = (int)call->root;
    switch (call->operation) {
    case ECUBE_BROADCAST: return ecube_broadcast_start(block, bytes, root, request);
    case ECUBE_SCATTER: return ecube_scatter_start(blocks, block, bytes, root, request);
    case ECUBE_GATHER: return ecube_gather_start(block, answer, bytes, root, request);
    case ECUBE_EXCHANGE: return ecube_exchange_start(blocks, answer, bytes, request);
    case ECUBE_ALLGATHER: return ecube_allgather_start(block, answer, bytes, request);
    case ECUBE_REDUCE:
        return ecube_reduce_start(block, answer, element_count(call), call->type, call->operator_,
                                  root, request);
    case ECUBE_ALLREDUCE:
        return ecube_allreduce_start(block, answer, element_count(call), call->type,
                                     call->operator_, request);
    case ECUBE_REDUCE_SCATTER:
        return ecube_reduce_scatter_start(blocks, answer, element_count(call), call->type,
                                          call->operator_, request);
    case ECUBE_SCAN:
        return ecube_scan_start(block, answer, element_count(call), call->type, call->operator_,
                                request);
    case ECUBE_SHIFT: return ecube_shift_start(block, answer, bytes, root + (int)size, request);
    case ECUBE_REVERSE: return ecube_reverse_start(block, answer, bytes, call->root, request);
    case ECUBE_EXCHANGEV: return ecube_exchangev_start(blocks, places, answer, places, request);
    case ECUBE_ALL_TO_SOME:
        return root == 0 ? ecube_all_to_some_start(blocks, answer, bytes, request)
                         : ecube_pm2i_start(blocks, answer, bytes, hop_of(call->root - 1), request);
    default: return ecube_barrier_start(request);
    }
}

static int done(const struct call *call)
{
    static unsigned count;
    struct ecube_request request;
    int status;

    if (count++ % 2 == 0) {
        return called(call);
    }
    status = begun(call, &request);
    return status < 0 ? status : ecube_wait(&request, NULL);
}

static void prepare(const struct call *call)
{
    for (uint32_t i = 0; i < size + MOVEMENTS_MORE; i++) {
        fill(blocks + (size_t)i * bytes, rank, i);
    }
    for (uint32_t i = 0; i < size; i++) {
        places[i] = (struct ecube_block){i * bytes, bytes};
    }
    memset(answer, UNTOUCHED, (size_t)(size + MOVEMENTS_MORE) * bytes + 1);
    if (call->type) {
        fill_vector(call);
    } else if (call->operation == ECUBE_SCATTER) {
        memset(block, UNTOUCHED, bytes);
    } else {
        fill(block, rank, call->operation == ECUBE_BROADCAST ? 0 : call->root);
    }
}

/* Wrong bytes of the blocks of all nodes, as they were sent to `to`. */
static uint32_t all_differences(uint32_t to)
{
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < size; i++) {
        wrong += differences(answer + (size_t)i * bytes, i, to);
    }
    return wrong;
}

/* The node whose coordinates in these dimensions are this one's read backwards; 0: in all. */
static uint32_t mirrored(uint32_t mask)
{
    uint32_t to = 0, stride = 1, left = rank;

    if (mask == 0) {
        return size - 1 - rank;
    }
    for (uint32_t k = 0; k < dimensions; k++) {
        uint32_t at = left % sides[k];
        to += (mask >> k & 1 ? sides[k] - 1 - at : at) * stride;
        left /= sides[k];
        stride *= sides[k];
    }
    return to;
}

static uint32_t check(const struct call *call)
{
    switch (call->operation) {
    case ECUBE_BROADCAST: return differences(block, call->root, 0);
    case ECUBE_SCATTER: return differences(block, call->root, rank);
    case ECUBE_GATHER: return rank == call->root ? all_differences(call->root) : 0;
    case ECUBE_EXCHANGE:
    case ECUBE_EXCHANGEV: return all_differences(rank);
    case ECUBE_ALLGATHER: return all_differences(call->root);
    case ECUBE_REDUCE: return rank == call->root ? vector_differences(call) : 0;
    case ECUBE_ALLREDUCE:
    case ECUBE_REDUCE_SCATTER:
    case ECUBE_SCAN: return vector_differences(call);
    case ECUBE_SHIFT: return differences(answer, (rank + size - call->root) % size, call->root);
    case ECUBE_REVERSE: return differences(answer, mirrored(call->root), call->root);
    case ECUBE_ALL_TO_SOME: return moved_differences(call);
    default: return 0;
    }
}

static int is_rooted(enum ecube_operation operation)
{
    return operation == ECUBE_BROADCAST || operation == ECUBE_SCATTER ||
           operation == ECUBE_GATHER || operation == ECUBE_REDUCE;
}

/* Whether it took another time than predicted: 1, and says so. */
static uint32_t surprise(const struct call *call, uint64_t took_ns)
{
    uint32_t count = call->type ? element_count(call) * element_bytes(call) : bytes;
    int parted = is_rooted(call->operation) || call->operation == ECUBE_SHIFT ||
                 call->operation == ECUBE_REVERSE;
    struct ecube_prediction told;
    int parameter = parted ? (int)call->root : 0;
    if (call->operation == ECUBE_ALL_TO_SOME && call->root > 0) {
        parameter = (int)(ECUBE_MOVEMENT_ALONE + call->root - 1);
    }
    int status = ecube_predict(call->operation, parameter,
                               call->operation == ECUBE_BARRIER ? 0 : count, call->type, &told);

    if (status == 0 && told.model_ns == took_ns && told.bound_ns <= took_ns) {
        return 0;
    }
    title(call);
    printf("%llu ns, predicted %llu, bound %llu: %s\n", (unsigned long long)took_ns,
           (unsigned long long)told.model_ns, (unsigned long long)told.bound_ns,
           ecube_error_text(status));
    return 1;
}

/* Bytes of the answer that the call may write. */
static uint32_t answer_bytes(const struct call *call)
{
    switch (call->operation) {
    case ECUBE_GATHER: return rank == call->root ? size * bytes : 0;
    case ECUBE_EXCHANGE:
    case ECUBE_EXCHANGEV:
    case ECUBE_ALLGATHER: return size * bytes;
    case ECUBE_REDUCE: return rank == call->root ? element_count(call) * element_bytes(call) : 0;
    case ECUBE_ALLREDUCE:
    case ECUBE_REDUCE_SCATTER:
    case ECUBE_SCAN: return element_count(call) * element_bytes(call);
    case ECUBE_SHIFT:
    case ECUBE_REVERSE: return bytes;
    case ECUBE_ALL_TO_SOME: return movements_of(call) * bytes;
    default: return 0;
    }
}

/* Bytes behind them that were written all the same. */
static uint32_t count_touched(const struct call *call)
{
    uint32_t wrong = 0;

    for (uint32_t i = answer_bytes(call); i <= (size + MOVEMENTS_MORE) * bytes; i++) {
        wrong += answer[i] != UNTOUCHED;
    }
    return wrong;
}

/* Runs one collective on the data that have been prepared, and says what is wrong with it.
 * Returns 0 when it ended well in the predicted time. */
static uint32_t timed(const struct call *call)
{
    int status = ecube_align();
    uint64_t start_ns = ecube_model_ns();

    runs++;
    status = status < 0 ? status : done(call);
    status = status < 0 ? status : ecube_align();
    if (status < 0) {
        title(call);
        printf("%s\n", ecube_error_text(status));
        return 1 + bytes;
    }
    uint64_t took_ns = ecube_model_ns() - start_ns;
    return rank == call->root % size ? surprise(call, took_ns) : 0;
}

/* Runs one collective; returns how many bytes are wrong, at least 1 when it failed or its time is
 * another. */
static uint32_t run(struct call call)
{
    prepare(&call);
    uint32_t surprises = timed(&call);
    uint32_t wrong = check(&call) + count_touched(&call);

    if (wrong) {
        title(&call);
        printf("%u wrong bytes\n", (unsigned)wrong);
    }
    return wrong + surprises;
}

static uint32_t run_all(uint32_t root)
{
    uint32_t wrong = 0;

    for (enum ecube_operation operation = ECUBE_BARRIER; operation < ECUBE_REDUCE; operation++) {
        wrong += run((struct call){.operation = operation, .root = root});
    }
    for (enum ecube_type type = ECUBE_INT32; type <= ECUBE_DOUBLE; type++) {
        for (enum ecube_operator operator_ = ECUBE_SUM; operator_ <= ECUBE_MAX; operator_++) {
            wrong += run((struct call){ECUBE_REDUCE, root, type, operator_});
            wrong += run((struct call){ECUBE_ALLREDUCE, root, type, operator_});
            wrong += run((struct call){ECUBE_REDUCE_SCATTER, root, type, operator_});
        }
    }
    wrong += run((struct call){ECUBE_SCAN, root, ECUBE_DOUBLE, ECUBE_SUM});
    wrong += run((struct call){.operation = ECUBE_SHIFT, .root = root});
    wrong += run((struct call){.operation = ECUBE_REVERSE});
    wrong += run((struct call){.operation = ECUBE_ALL_TO_SOME});
    return wrong;
}

static int go_together(enum ecube_type type, enum ecube_operator operator_)
{
    const struct call call = {.type = type};

    if (is_pair(&call)) {
        return operator_ >= ECUBE_MINLOC;
    }
    return operator_ <= (is_floating(&call) ? ECUBE_MIN : ECUBE_BITWISE_XOR);
}

/* Every type with every operator: reduced, by all, and as a prefix, in turn. */
static uint32_t run_types(void)
{
    static const enum ecube_operation operations[] = {ECUBE_REDUCE, ECUBE_ALLREDUCE, ECUBE_SCAN};
    uint32_t wrong = 0;
    unsigned count = 0;

    for (enum ecube_type type = ECUBE_INT32; type <= ECUBE_DOUBLE_INT32; type++) {
        for (enum ecube_operator operator_ = ECUBE_SUM; operator_ <= ECUBE_MAXLOC; operator_++) {
            if (go_together(type, operator_)) {
                wrong += run((struct call){operations[count++ % 3], 0, type, operator_});
            }
        }
    }
    return wrong;
}

/* Returns how many of the calls did not end with that error, or, where this node's own arguments
 * are right, with word of another node's. */
static uint32_t count_others(const int *results, unsigned count, int wanted)
{
    uint32_t others = 0;

    for (unsigned i = 0; i < count && bytes > 0; i++) {
        if (results[i] != wanted && results[i] != ECUBE_E_ELSEWHERE) {
            printf("impossible call %u: %s, not %s\n", i, ecube_error_text(results[i]),
                   ecube_error_text(wanted));
            others++;
        }
    }
    return others;
}

/* Calls that cannot be, at all nodes or at the last alone: each fails at every node, as none may
 * wait for one that has given up. Returns how many did not. */
static uint32_t run_impossible(void)
{
    const uint32_t all = size * bytes;
    const int last = rank == size - 1;
    const enum ecube_errors_mode before = ecube_errors(ECUBE_ERRORS_RETURN);
    const int arguments[] = {
        ecube_exchange(blocks, blocks, bytes),
        ecube_exchange(blocks, blocks + all - 1, bytes),
        ecube_exchange(blocks + all - 1, blocks, bytes),
        ecube_exchange(blocks, last ? blocks : answer, bytes),
        ecube_broadcast(block, bytes, (int)size),
        ecube_broadcast(block, bytes, -1),
        ecube_scatter(blocks, block, bytes, last ? -1 : 0),
        ecube_gather(block, answer, bytes, INT32_MIN),
        ecube_reduce(block, answer, 1, ECUBE_INT8, ECUBE_SUM, -(int)size),
        ecube_scatter(blocks, blocks, bytes, 0),
        ecube_allgather(answer, answer, bytes),
        ecube_allreduce(block, block, bytes, ECUBE_INT8, ECUBE_SUM),
        ecube_shift(block, block, bytes, 1),
        ecube_shift(block, last ? block : answer, bytes, INT32_MIN),
        ecube_reverse(block, answer, bytes, UINT32_C(1) << 31),
        ecube_reverse(block, answer, bytes, last ? UINT32_MAX : 0),
        ecube_pm2i(block, answer, bytes, 3),
        ecube_pm2i(block, answer, bytes, last ? 0 : -1),
        ecube_pm2i(block, answer, bytes, 1 << 30),
        ecube_pm2i(block, answer, bytes, INT32_MIN),
        ecube_descend(block, 3, 1, 0, NULL),
        ecube_ascend(block, 1, 0, 0, NULL),
        ecube_ascend(block, 1, 1, ecube_iterations(1) + 1, NULL),
        ecube_reduce(block, answer, 1, (enum ecube_type)77, ECUBE_SUM, 0),
        ecube_reduce(block, answer, 1, ECUBE_INT32, (enum ecube_operator)300, 0),
        ecube_scan(block, answer, 1, ECUBE_INT32, ECUBE_MINLOC),
        ecube_allreduce(block, answer, 1, last ? ECUBE_FLOAT : ECUBE_UINT32, ECUBE_BITWISE_OR),
        ecube_allreduce(block, answer, 1, ECUBE_DOUBLE_INT32, ECUBE_SUM),
    };
    const int pointers[] = {
        ecube_gather(NULL, answer, bytes, 0),
        ecube_gather(block, rank == 0 ? NULL : answer, bytes, 0),
        ecube_scatter(blocks, NULL, bytes, 0),
        ecube_allgather(block, last ? NULL : answer, bytes),
        ecube_broadcast(last ? NULL : block, bytes, 0),
        ecube_exchange(blocks, last ? NULL : answer, bytes),
        ecube_reduce(last ? NULL : block, answer, bytes, ECUBE_INT8, ECUBE_MAX, 0),
        ecube_reduce_scatter(blocks, NULL, bytes, ECUBE_INT8, ECUBE_MAX),
        ecube_scan(NULL, answer, bytes, ECUBE_INT8, ECUBE_MAX),
        ecube_allreduce(block, answer, UINT32_MAX, ECUBE_DOUBLE, ECUBE_SUM),
        ecube_shift(block, last ? NULL : answer, bytes, -3),
        ecube_reverse(last ? NULL : block, answer, bytes, 0),
    };

    ecube_errors(before);
    return count_others(arguments, sizeof arguments / sizeof arguments[0], ECUBE_E_ARGUMENT) +
           count_others(pointers, sizeof pointers / sizeof pointers[0], ECUBE_E_FAULT);
}

/* Algorithms that are asked for, and such as there are not. Returns how much is wrong. */
static uint32_t run_forced(void)
{
    static const struct {
        struct call call;
        const char *name;
    } forced[] = {{{.operation = ECUBE_EXCHANGE}, "direct"},
                  {{.operation = ECUBE_EXCHANGE}, "neighbours"},
                  {{.operation = ECUBE_ALLGATHER}, "gather and broadcast"},
                  {{ECUBE_SCAN, 0, ECUBE_INT32, ECUBE_SUM}, "halving tree"},
                  {{ECUBE_SCAN, 0, ECUBE_INT32, ECUBE_SUM}, "chain 2 segments"}};
    const int refused[] = {ecube_algorithm(ECUBE_EXCHANGE, "best"),
                           ecube_algorithm(ECUBE_EXCHANGE, ""),
                           ecube_algorithm(ECUBE_ALIGN, "direct"),
                           ecube_algorithm((enum ecube_operation)1000, "direct")};
    uint32_t wrong = 0;

    for (unsigned i = 0; i < sizeof forced / sizeof forced[0]; i++) {
        int status = ecube_algorithm(forced[i].call.operation, forced[i].name);
        algorithm = forced[i].name;
        if (status < 0) {
            printf("%s: %s\n", forced[i].name, ecube_error_text(status));
            wrong++;
        }
        wrong += run(forced[i].call);
        wrong += ecube_algorithm(forced[i].call.operation, NULL) != ECUBE_OK;
        algorithm = NULL;
    }
    return wrong + count_others(refused, sizeof refused / sizeof refused[0], ECUBE_E_ARGUMENT);
}

/* A barrier that is begun, and waited for or tested: returns how much its status says wrong. */
static uint32_t run_begun(int tested)
{
    struct ecube_request request;
    struct ecube_status status;
    struct ecube_prediction told;
    int ended = ecube_predict(ECUBE_BARRIER, 0, 0, 0, &told);

    ended = ended < 0 ? ended : ecube_barrier_start(&request);
    while (ended == 0 && tested) {
        ended = ecube_test(&request, &status);
    }
    if (ended == 0) {
        ended = ecube_wait(&request, &status);
    }
    uint32_t wrong = (uint32_t)(ended != tested) + (status.source != ECUBE_ANY) +
                     (status.tag != ECUBE_ANY) + (status.bytes != 0) +
                     (status.steps != told.steps) + (status.done_ns > ecube_model_ns());

    if (wrong) {
        printf("a begun barrier: %d, source %d, tag %d, steps %u of %u\n", ended, status.source,
               status.tag, (unsigned)status.steps, (unsigned)told.steps);
    }
    return wrong;
}

/* Single algorithms ---------------------------------------------------------------------------- */

/* Reads "torus:3x3x2"; of a cube all sides are 2. */
static void read_network(const char *name)
{
    const char *at = strchr(name, ':');
    int is_cube = strncmp(name, "cube", 4) == 0;

    dimensions = is_cube ? (uint32_t)atoi(at + 1) : 1;
    for (const char *x = at; !is_cube && (x = strchr(x, 'x')) != NULL; x++) {
        dimensions++;
    }
    for (uint32_t k = dimensions; k-- > 0; at = is_cube ? at : strchr(at + 1, 'x')) {
        sides[k] = is_cube ? 2 : (uint32_t)atoi(at + 1);
    }
}

static uint32_t read_sizes(const char *text, uint32_t sizes[SIZES_MAX])
{
    uint32_t count = 0;

    for (; text && count < SIZES_MAX; text = strchr(text, ',') ? strchr(text, ',') + 1 : NULL) {
        sizes[count++] = (uint32_t)atoi(text);
    }
    return count;
}

/* How many roots, distances or masks there are to try. */
static uint32_t root_count(enum ecube_operation operation)
{
    uint32_t all = operation == ECUBE_REVERSE                         ? UINT32_C(1) << dimensions
                   : operation == ECUBE_ALL_TO_SOME                   ? 1 + ecube_movements(size)
                   : is_rooted(operation) || operation == ECUBE_SHIFT ? size
                                                                      : 1;

    return all < roots_max ? all : roots_max;
}

/* The i-th of them: the first, the last, and such as lie between. */
static uint32_t root_at(enum ecube_operation operation, uint32_t i)
{
    uint32_t count = root_count(operation);
    uint32_t last = operation == ECUBE_REVERSE       ? (UINT32_C(1) << dimensions) - 1
                    : operation == ECUBE_ALL_TO_SOME ? ecube_movements(size)
                                                     : root_last;

    return count < 2 ? 0 : i * last / (count - 1);
}

/* The next type and operator of which the bytes at hand hold an element. */
static void vary(struct call *call)
{
    enum {
        PAIRS = ECUBE_DOUBLE_INT32 * ECUBE_MAXLOC,
        STRIDE = 41
    }; /* no common divisor: all come */
    static uint32_t turn;

    do {
        turn = (turn + STRIDE) % PAIRS;
        call->type = (enum ecube_type)(1 + turn / ECUBE_MAXLOC);
        call->operator_ = (enum ecube_operator)(1 + turn % ECUBE_MAXLOC);
    } while (!go_together(call->type, call->operator_) ||
             (bytes > 0 && element_bytes(call) > bytes));
}

static int is_reduction(enum ecube_operation operation)
{
    return operation == ECUBE_REDUCE || operation == ECUBE_ALLREDUCE ||
           operation == ECUBE_REDUCE_SCATTER || operation == ECUBE_SCAN;
}

/* Every size with every root. */
static uint32_t run_sizes(enum ecube_operation operation, const uint32_t *sizes, uint32_t count)
{
    uint32_t roots = root_count(operation), wrong = 0;
    uint32_t turns = operation == ECUBE_BARRIER ? 1 : roots * count;

    for (uint32_t i = 0; i < turns; i++) {
        struct call call = {.operation = operation, .root = root_at(operation, i / count)};
        bytes = sizes[i % count];
        if (is_reduction(operation)) {
            vary(&call);
        }
        wrong += run(call);
    }
    return wrong;
}

/* Numbers of which hardly two brackets give the same sum. */
static double ragged(uint32_t from, uint32_t i)
{
    return (double)(1 + (from * 7 + i) % 13) / (double)(3 + from + i) * (from % 3 ? 1 : -64);
}

/* The sum in the order of the words "(0 1) 2", read from *at on to the end of its bracket. */
static double sum_of(const char **at, uint32_t i)
{
    double sum = 0;

    for (unsigned terms = 0; **at && **at != ')'; terms++) {
        double term;
        if (**at == '(') {
            (*at)++;
            term = sum_of(at, i);
            (*at)++;
        } else {
            char *end;
            term = ragged((uint32_t)strtoul(*at, &end, 10), i);
            *at = end;
        }
        sum = terms > 0 ? sum + term : term;
        *at += **at == ' ';
    }
    return sum;
}

static int gets_ordered(enum ecube_operation operation)
{
    return operation == ECUBE_ALLREDUCE || rank == (operation == ECUBE_SCAN ? size - 1 : 0);
}

/* A sum that is rounded, in the order that M/ORDER says for the first of M segments. */
static uint32_t run_ordered(enum ecube_operation operation, const char *words)
{
    const struct call call = {operation, 0, ECUBE_DOUBLE, ECUBE_SUM};
    char *order;
    uint32_t segments = (uint32_t)strtoul(words, &order, 10), wrong = 0;

    bytes = ORDERED * sizeof(double);
    for (uint32_t i = 0; i < size * ORDERED; i++) {
        double number = ragged(rank, i % ORDERED);
        memcpy(blocks + i * sizeof number, &number, sizeof number);
    }
    memcpy(block, blocks, bytes);
    uint32_t surprises = timed(&call);
    for (uint32_t i = 0; i < ORDERED / segments && gets_ordered(operation); i++) {
        const char *at = order + 1;
        double wanted = sum_of(&at, i);
        wrong += memcmp(answer + i * sizeof wanted, &wanted, sizeof wanted) != 0;
    }
    if (wrong) {
        title(&call);
        printf("%u of %u sums are not those of %s\n", (unsigned)wrong,
               (unsigned)(ORDERED / segments), order + 1);
    }
    return wrong + surprises;
}

static enum ecube_operation operation_named(const char *word, size_t length)
{
    enum ecube_operation i = ECUBE_BARRIER;

    while (i < ECUBE_OPERATIONS - 1 && (strncmp(names[i], word, length) != 0 || names[i][length])) {
        i++;
    }
    return i;
}

/* Returns how much is wrong with a case. */
static uint32_t run_case(char *word, const uint32_t *sizes, uint32_t count)
{
    int refused = word[0] == '-';
    char *name = strchr(word, ':'), *order = strchr(word, '=');
    enum ecube_operation operation =
        operation_named(word + refused, (size_t)(name - word - refused));

    if (order) {
        *order++ = '\0';
    }
    algorithm = name[1] ? name + 1 : NULL;
    int status = ecube_algorithm(operation, algorithm);
    if (status != (refused ? ECUBE_E_NETWORK : ECUBE_OK)) {
        printf("%s: %s\n", word, ecube_error_text(status));
        return 1;
    }
    uint32_t wrong = refused ? 0 : run_sizes(operation, sizes, count);
    wrong += order ? run_ordered(operation, order) : 0;
    return wrong + (ecube_algorithm(operation, NULL) != ECUBE_OK);
}

static uint32_t run_cases(char **words, uint32_t word_count, const uint32_t *sizes, uint32_t count)
{
    uint32_t wrong = 0;

    for (uint32_t i = 0; i < word_count; i++) {
        wrong += run_case(words[i], sizes, count);
    }
    if (rank == 0) {
        printf("%u cases, %u collectives\n", (unsigned)word_count, (unsigned)runs);
    }
    return wrong;
}

static uint32_t run_usual(void)
{
    uint32_t wrong = 0, roots = size < ROOTS_MAX ? size : ROOTS_MAX;

    for (uint32_t i = 0; i < roots; i++) {
        wrong += run_all(roots > 1 ? i * (size - 1) / (roots - 1) : 0);
    }
    return wrong + run_types() + run_begun(0) + run_begun(1) + run_forced() + run_impossible();
}

int main(int argc, char **argv)
{
    uint32_t sizes[SIZES_MAX] = {0}, most = ORDERED * sizeof(double);
    uint32_t count = read_sizes(argc > 1 ? argv[1] : "100", sizes);

    rank = (uint32_t)ecube_rank();
    size = (uint32_t)ecube_size();
    bytes = sizes[0];
    for (uint32_t i = 0; i < count; i++) {
        most = sizes[i] > most ? sizes[i] : most;
    }
    blocks = malloc((size_t)(size + MOVEMENTS_MORE) * most + 1);
    answer = malloc((size_t)(size + MOVEMENTS_MORE) * most + 1);
    block = malloc(most + 1);
    if (!blocks || !answer || !block) {
        printf("no memory for %u bytes\n", (unsigned)most);
        return 1;
    }
    if (argc > 3) {
        read_network(argv[2]);
        roots_max = (uint32_t)atoi(argv[3]);
        root_last = strchr(argv[3], ',') ? (uint32_t)atoi(strchr(argv[3], ',') + 1) : size - 1;
    }
    uint32_t wrong = argc > 3 ? run_cases(argv + 4, (uint32_t)argc - 4, sizes, count) : run_usual();
    if (wrong) {
        printf("%u wrong bytes, times or calls\n", (unsigned)wrong);
    }
    return wrong ? 1 : 0;
}
