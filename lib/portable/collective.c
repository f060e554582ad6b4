/*
 * collective.c - the collectives as programs call them.
 *
 * The kernel executes plans, which move every block to where it belongs, a node's own included.
 * What is left to do here is working memory: PLAN says how much a plan needs at this node, the heap
 * gives it, and the request keeps it until it has ended.
 *
 * Errors   One that this node alone has (no memory, a number out of range) still goes into the
 *          kernel's entry, where all nodes hear of it: those that had none would wait for ever for
 *          a node that never entered. So what fails here is passed on as a call that the kernel
 *          refuses, without scratch or with a size that no memory has.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "include/ecube/ecube.h"
#include "lib/portable/call.h"

/* ecube_choice of the algorithm of each operation; 0: the host chooses. */
static uint32_t choices[ECUBE_OPERATIONS];

static uint32_t choice_for(uint32_t operation)
{
    return operation < ECUBE_OPERATIONS ? choices[operation] : 0;
}

/* Asks for the plan, the host at first use, and finds the memory that it needs; NULL: it needs
 * none, or there is none, or no plan. Which it is the kernel sees, and says in the entry. */
static void *find_scratch(struct ecube_abi_collective *call)
{
    struct ecube_abi_plan plan = {.operation = call->operation,
                                  .root = call->root,
                                  .block_bytes = call->block_bytes,
                                  .type = call->type,
                                  .choice = call->choice};

    if (ecube_call(ECUBE_CALL_PLAN, ecube_address(&plan), 0) < 0 || plan.scratch_bytes == 0) {
        return NULL;
    }
    void *scratch = malloc(plan.scratch_bytes);
    call->scratch = ecube_address(scratch);
    call->scratch_bytes = scratch ? plan.scratch_bytes : 0;
    return scratch;
}

static int begin(struct ecube_called *called, struct ecube_request *request)
{
    struct ecube_abi_collective *call = &called->collective;
    call->choice = choice_for(call->operation);
    void *scratch = call->operation == ECUBE_ALIGN ? NULL : find_scratch(call);
    int32_t number = ecube_call(ECUBE_CALL_COLLECTIVE, ecube_address(call), 0);

    if (number < 0) {
        free(scratch);
        scratch = NULL;
    }
    called->began = called->number;
    *request = (struct ecube_request){
        .number = number, .began = called->began, .scratch = scratch, .collective = *call};
    return number < 0 ? number : ECUBE_OK;
}

static int start(struct ecube_abi_collective call, struct ecube_request *request)
{
    struct ecube_called called = {.number = (uint32_t)ECUBE_CALLED_START + call.operation,
                                  .collective = call};

    return ecube_returns(&called, begin(&called, request));
}

/* The blocking form: begun, then waited for. */
static int run(struct ecube_abi_collective call)
{
    struct ecube_called called = {.number = (uint32_t)ECUBE_CALLED_COLLECTIVE + call.operation,
                                  .collective = call};
    struct ecube_request request;
    int begun = begin(&called, &request);

    return ecube_returns(&called, begun < 0 ? begun : ecube_request_wait(&called, &request, NULL));
}

/* What moves blocks; `root` is the number that stands there. */
static struct ecube_abi_collective call_of(uint32_t operation, uint32_t root, uint32_t bytes,
                                           const void *send, const void *receive)
{
    return (struct ecube_abi_collective){.operation = operation,
                                         .root = root,
                                         .block_bytes = bytes,
                                         .send = ecube_address(send),
                                         .receive = ecube_address(receive)};
}

/* Every node gets a table of blocks for what it sends, and one for what it receives. */
static struct ecube_abi_collective sized_call(const void *send,
                                              const struct ecube_block *send_blocks, void *receive,
                                              const struct ecube_block *receive_blocks)
{
    struct ecube_abi_collective call =
        call_of(ECUBE_EXCHANGEV, 0, ECUBE_EXCHANGEV_BYTES, send, receive);

    call.send_blocks = ecube_address(send_blocks);
    call.receive_blocks = ecube_address(receive_blocks);
    return call;
}

_Static_assert(sizeof(struct ecube_int64_int32) == 16, "the kernel's element");
_Static_assert(sizeof(struct ecube_double_int32) == 16, "the kernel's element");

/* A type that there is not has elements of one byte: the kernel refuses it in the entry. More than
 * fits 32 bits is made a size that no memory has, of whole elements. */
static uint32_t vector_bytes(uint32_t count, enum ecube_type type)
{
    uint32_t element_bytes = ecube_type_bytes(type) ? ecube_type_bytes(type) : 1;
    uint32_t count_max = UINT32_MAX / element_bytes;

    return (count < count_max ? count : count_max) * element_bytes;
}

/* What no number of the wire says must not become one that does. */
static uint8_t number_of(unsigned value)
{
    return (uint8_t)(value < UINT8_MAX ? value : UINT8_MAX);
}

/* What combines vectors of `count` elements. */
static struct ecube_abi_collective combining_call(uint32_t operation, int root, uint32_t count,
                                                  enum ecube_type type,
                                                  enum ecube_operator operator_, const void *send,
                                                  void *receive)
{
    struct ecube_abi_collective call =
        call_of(operation, (uint32_t)root, vector_bytes(count, type), send, receive);

    call.type = number_of(type);
    call.operator_ = number_of(operator_);
    return call;
}

/* The distance from 0 to the number of nodes. */
static uint32_t distance_of(int distance)
{
    int size = ecube_size();

    return (uint32_t)((distance % size + size) % size);
}

int ecube_align(void)
{
    return run(call_of(ECUBE_ALIGN, 0, 0, NULL, NULL));
}

int ecube_align_start(struct ecube_request *request)
{
    return start(call_of(ECUBE_ALIGN, 0, 0, NULL, NULL), request);
}

int ecube_barrier(void)
{
    return run(call_of(ECUBE_BARRIER, 0, 0, NULL, NULL));
}

int ecube_barrier_start(struct ecube_request *request)
{
    return start(call_of(ECUBE_BARRIER, 0, 0, NULL, NULL), request);
}

int ecube_broadcast(void *data, uint32_t bytes, int root)
{
    return run(call_of(ECUBE_BROADCAST, (uint32_t)root, bytes, data, data));
}

int ecube_broadcast_start(void *data, uint32_t bytes, int root, struct ecube_request *request)
{
    return start(call_of(ECUBE_BROADCAST, (uint32_t)root, bytes, data, data), request);
}

int ecube_scatter(const void *blocks, void *block, uint32_t block_bytes, int root)
{
    return run(call_of(ECUBE_SCATTER, (uint32_t)root, block_bytes, blocks, block));
}

int ecube_scatter_start(const void *blocks, void *block, uint32_t block_bytes, int root,
                        struct ecube_request *request)
{
    return start(call_of(ECUBE_SCATTER, (uint32_t)root, block_bytes, blocks, block), request);
}

int ecube_gather(const void *block, void *blocks, uint32_t block_bytes, int root)
{
    return run(call_of(ECUBE_GATHER, (uint32_t)root, block_bytes, block, blocks));
}

int ecube_gather_start(const void *block, void *blocks, uint32_t block_bytes, int root,
                       struct ecube_request *request)
{
    return start(call_of(ECUBE_GATHER, (uint32_t)root, block_bytes, block, blocks), request);
}

int ecube_allgather(const void *block, void *blocks, uint32_t block_bytes)
{
    return run(call_of(ECUBE_ALLGATHER, 0, block_bytes, block, blocks));
}

int ecube_allgather_start(const void *block, void *blocks, uint32_t block_bytes,
                          struct ecube_request *request)
{
    return start(call_of(ECUBE_ALLGATHER, 0, block_bytes, block, blocks), request);
}

int ecube_exchange(const void *send, void *receive, uint32_t block_bytes)
{
    return run(call_of(ECUBE_EXCHANGE, 0, block_bytes, send, receive));
}

int ecube_exchange_start(const void *send, void *receive, uint32_t block_bytes,
                         struct ecube_request *request)
{
    return start(call_of(ECUBE_EXCHANGE, 0, block_bytes, send, receive), request);
}

int ecube_exchangev(const void *send, const struct ecube_block *send_blocks, void *receive,
                    const struct ecube_block *receive_blocks)
{
    return run(sized_call(send, send_blocks, receive, receive_blocks));
}

int ecube_exchangev_start(const void *send, const struct ecube_block *send_blocks, void *receive,
                          const struct ecube_block *receive_blocks, struct ecube_request *request)
{
    return start(sized_call(send, send_blocks, receive, receive_blocks), request);
}

/* Short blocks: each has a place, which begins with its length. */
struct places {
    uint32_t bytes; /* of one */
    uint8_t *send, *receive;
};

static struct places find_places(uint32_t bytes_max)
{
    enum { LENGTH_BYTES = sizeof(uint32_t), NONE_SO_LONG = UINT32_MAX - 2 * LENGTH_BYTES };
    struct places places = {.bytes = UINT32_MAX};
    uint32_t nodes = (uint32_t)ecube_size();

    if (bytes_max < NONE_SO_LONG) {
        places.bytes = (LENGTH_BYTES + bytes_max + LENGTH_BYTES - 1) / LENGTH_BYTES * LENGTH_BYTES;
        places.send = calloc((size_t)2 * nodes, places.bytes);
        places.receive = places.send ? places.send + (size_t)nodes * places.bytes : NULL;
    }
    return places;
}

/* Puts the blocks into their places; false: one is too long. */
static bool put_blocks(const struct places *places, const void *send,
                       const struct ecube_block *blocks, uint32_t bytes_max)
{
    for (int i = 0; i < ecube_size(); i++) {
        uint8_t *place = places->send + (size_t)i * places->bytes;
        if (blocks[i].bytes > bytes_max) {
            return false;
        }
        memcpy(place, &blocks[i].bytes, sizeof blocks[i].bytes);
        memcpy(place + sizeof blocks[i].bytes, (const uint8_t *)send + blocks[i].at,
               blocks[i].bytes);
    }
    return true;
}

/* Takes the blocks that are as long as is expected; false: one is not. */
static bool take_blocks(const struct places *places, void *receive,
                        const struct ecube_block *blocks)
{
    bool all = true;

    for (int i = 0; i < ecube_size(); i++) {
        const uint8_t *place = places->receive + (size_t)i * places->bytes;
        uint32_t bytes;
        memcpy(&bytes, place, sizeof bytes);
        if (bytes == blocks[i].bytes) {
            memcpy((uint8_t *)receive + blocks[i].at, place + sizeof bytes, bytes);
        }
        all = all && bytes == blocks[i].bytes;
    }
    return all;
}

/* A node that cannot take part passes on a call that the kernel refuses: without memory, or with a
 * type, which an exchange has not. */
int ecube_exchangev_short(const void *send, const struct ecube_block *send_blocks, void *receive,
                          const struct ecube_block *receive_blocks, uint32_t bytes_max)
{
    struct places places = find_places(bytes_max);
    struct ecube_called called = {
        .number = (uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_EXCHANGE,
        .collective = call_of(ECUBE_EXCHANGE, 0, places.bytes, places.send, places.receive)};
    struct ecube_request request;

    if (places.send && !put_blocks(&places, send, send_blocks, bytes_max)) {
        called.collective.type = ECUBE_INT32;
    }
    int status = begin(&called, &request);
    status = status < 0 ? status : ecube_request_wait(&called, &request, NULL);
    if (!places.send && status == ECUBE_E_FAULT) {
        status = ECUBE_E_FULL;
    } else if (status == ECUBE_OK && !take_blocks(&places, receive, receive_blocks)) {
        status = ECUBE_E_MISMATCH;
    }
    free(places.send);
    return ecube_returns(&called, status);
}

int ecube_reduce(const void *send, void *receive, uint32_t count, enum ecube_type type,
                 enum ecube_operator operator_, int root)
{
    return run(combining_call(ECUBE_REDUCE, root, count, type, operator_, send, receive));
}

int ecube_reduce_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                       enum ecube_operator operator_, int root, struct ecube_request *request)
{
    return start(combining_call(ECUBE_REDUCE, root, count, type, operator_, send, receive),
                 request);
}

int ecube_allreduce(const void *send, void *receive, uint32_t count, enum ecube_type type,
                    enum ecube_operator operator_)
{
    return run(combining_call(ECUBE_ALLREDUCE, 0, count, type, operator_, send, receive));
}

int ecube_allreduce_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                          enum ecube_operator operator_, struct ecube_request *request)
{
    return start(combining_call(ECUBE_ALLREDUCE, 0, count, type, operator_, send, receive),
                 request);
}

int ecube_reduce_scatter(const void *send, void *receive, uint32_t count, enum ecube_type type,
                         enum ecube_operator operator_)
{
    return run(combining_call(ECUBE_REDUCE_SCATTER, 0, count, type, operator_, send, receive));
}

int ecube_reduce_scatter_start(const void *send, void *receive, uint32_t count,
                               enum ecube_type type, enum ecube_operator operator_,
                               struct ecube_request *request)
{
    return start(combining_call(ECUBE_REDUCE_SCATTER, 0, count, type, operator_, send, receive),
                 request);
}

int ecube_scan(const void *send, void *receive, uint32_t count, enum ecube_type type,
               enum ecube_operator operator_)
{
    return run(combining_call(ECUBE_SCAN, 0, count, type, operator_, send, receive));
}

int ecube_scan_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                     enum ecube_operator operator_, struct ecube_request *request)
{
    return start(combining_call(ECUBE_SCAN, 0, count, type, operator_, send, receive), request);
}

int ecube_shift(const void *send, void *receive, uint32_t bytes, int distance)
{
    return run(call_of(ECUBE_SHIFT, distance_of(distance), bytes, send, receive));
}

int ecube_shift_start(const void *send, void *receive, uint32_t bytes, int distance,
                      struct ecube_request *request)
{
    return start(call_of(ECUBE_SHIFT, distance_of(distance), bytes, send, receive), request);
}

int ecube_reverse(const void *send, void *receive, uint32_t bytes, uint32_t dimensions)
{
    return run(call_of(ECUBE_REVERSE, dimensions, bytes, send, receive));
}

int ecube_reverse_start(const void *send, void *receive, uint32_t bytes, uint32_t dimensions,
                        struct ecube_request *request)
{
    return start(call_of(ECUBE_REVERSE, dimensions, bytes, send, receive), request);
}

int ecube_all_to_some(const void *send, void *receive, uint32_t block_bytes)
{
    return run(call_of(ECUBE_ALL_TO_SOME, 0, block_bytes, send, receive));
}

int ecube_all_to_some_start(const void *send, void *receive, uint32_t block_bytes,
                            struct ecube_request *request)
{
    return start(call_of(ECUBE_ALL_TO_SOME, 0, block_bytes, send, receive), request);
}

/* What stands in the place of the root of one movement; of a distance that is no power of two below
 * the number of nodes, what the kernel refuses. */
static uint32_t movement_by(int distance)
{
    uint32_t length = distance < 0 ? 0 - (uint32_t)distance : (uint32_t)distance;
    uint32_t size = (uint32_t)ecube_size(), movement = 0;

    if (length == 0 || (length & (length - 1)) || length >= size) {
        return UINT32_MAX;
    }
    for (; length > 1; length /= 2) {
        movement += 2;
    }
    movement += distance < 0 && movement + 1 < ecube_movements(size);
    return ECUBE_MOVEMENT_ALONE + movement;
}

int ecube_pm2i(const void *send, void *receive, uint32_t bytes, int distance)
{
    return run(call_of(ECUBE_ALL_TO_SOME, movement_by(distance), bytes, send, receive));
}

int ecube_pm2i_start(const void *send, void *receive, uint32_t bytes, int distance,
                     struct ecube_request *request)
{
    return start(call_of(ECUBE_ALL_TO_SOME, movement_by(distance), bytes, send, receive), request);
}

int ecube_call_movements(uint32_t root, const void *send, void *receive, uint32_t bytes,
                         uint32_t *steps)
{
    struct ecube_called called = {.number = (uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_ALL_TO_SOME,
                                  .collective =
                                      call_of(ECUBE_ALL_TO_SOME, root, bytes, send, receive)};
    struct ecube_request request;
    struct ecube_status status = {0};
    int ended = begin(&called, &request);

    ended = ended < 0 ? ended : ecube_request_wait(&called, &request, &status);
    *steps = status.steps;
    return ecube_returns(&called, ended);
}

/* With a type, which an exchange has not. */
int ecube_refuse_movements(int error)
{
    struct ecube_called called = {.number = (uint32_t)ECUBE_CALLED_COLLECTIVE + ECUBE_ALL_TO_SOME,
                                  .collective = call_of(ECUBE_ALL_TO_SOME, 0, 0, NULL, NULL)};
    struct ecube_request request;

    called.collective.type = ECUBE_INT32;
    int status = begin(&called, &request);
    status = status < 0 ? status : ecube_request_wait(&called, &request, NULL);
    return ecube_returns(&called, status == ECUBE_E_ARGUMENT ? error : status);
}

int ecube_predict(enum ecube_operation operation, int root, uint32_t bytes, enum ecube_type type,
                  struct ecube_prediction *prediction)
{
    struct ecube_abi_plan plan = {.operation = (uint32_t)operation,
                                  .root = (uint32_t)root,
                                  .block_bytes = bytes,
                                  .type = (uint32_t)type,
                                  .choice = choice_for((uint32_t)operation)};
    int32_t status = ecube_call(ECUBE_CALL_PREDICT, ecube_address(&plan), 0);

    *prediction = (struct ecube_prediction){0};
    if (status < 0) {
        return status;
    }
    *prediction = (struct ecube_prediction){
        .model_ns = plan.model_ns, .bound_ns = plan.bound_ns, .steps = plan.steps};
    return ECUBE_OK;
}

/* Whether the host can make such plans; a type is wanted of those that reduce. */
static int32_t ask_for(uint32_t operation, uint32_t choice, uint32_t type)
{
    struct ecube_abi_plan plan = {.operation = operation, .type = type, .choice = choice};

    return ecube_call(ECUBE_CALL_PREDICT, ecube_address(&plan), 0);
}

int ecube_algorithm(enum ecube_operation operation, const char *name)
{
    uint32_t number = (uint32_t)operation, choice = ecube_choice(name);

    if (number >= ECUBE_OPERATIONS || (name && choice == 0)) {
        return ECUBE_E_ARGUMENT;
    }
    int32_t status = ask_for(number, choice, 0);
    if (status == ECUBE_E_ARGUMENT) {
        status = ask_for(number, choice, ECUBE_INT32);
    }
    if (status < 0) {
        return status;
    }
    choices[number] = choice;
    return ECUBE_OK;
}
