/*
 * ecube.h - what a node program can do: messages, collectives, clocks, reports, data and output.
 *
 * A program runs once on every node of a network (cube, ring, mesh, torus) of ecube_size() nodes;
 * ecube_rank() says which one it is. It is ordinary C with the C library: main(argc, argv), printf,
 * malloc; its output appears on the host with its rank, its return value is its exit status.
 *
 * A call that ends in _start returns at once and fills a request; the transfer goes on while the
 * program computes. The buffers stay the transfer's until ecube_wait or ecube_test has said that it
 * is complete. The call without _start is the same followed by ecube_wait.
 *
 * At most ECUBE_REQUESTS_MAX transfers are open at a time, a blocking call among them. A receive
 * for which nothing is sent waits for ever, also when the sender's program has ended; the tool
 * notices when nobody goes on, ends the run and says who waits for whom.
 *
 * All nodes call every collective, in the same order, with the same sizes, root, type and operator.
 * Nodes that disagree get ECUBE_E_MISMATCH, and the tool names two of them. When one node cannot
 * take part (a wrong pointer or number, no memory), the collective fails at all of them: the others
 * get ECUBE_E_ELSEWHERE. Collectives work on every network. The host makes a plan for this machine
 * when an operation is first used, and sends each node its part, outside model time.
 *
 * Example, run by `ecube-cc sum.c -o sum.elf && ecube run --network cube:3 sum.elf`:
 *
 *   int mine = ecube_rank(), all[128];
 *   ecube_gather(&mine, all, sizeof mine, 0);
 *
 * An error ends the program, and the tool says which call it was, on which line, and why. A
 * transfer that a call with _start has begun reports its error in the wait or test that ends it.
 * ecube_errors(ECUBE_ERRORS_RETURN) makes calls return their errors. Some codes are always
 * returned and end no program: ECUBE_E_CANCELLED; those of ecube_wait_any and ecube_wait_some where
 * nothing is open, of ecube_dims elsewhere than on a cube, of ecube_coordinates, ecube_hops and
 * ecube_neighbour, and of ecube_algorithm and ecube_predict where there is no such algorithm or
 * plan.
 *
 * Units    sizes in bytes; times in ns, name ends in _ns
 * Errors   0 or a count on success, else a negative enum ecube_error, if it is returned at all
 * Context  node programs; one thread
 * Source   collectives: Boppana & Raghavendra, CENG 90-20 (1990), sections 2 and 3.2; Ozveren,
 *          LIDS-P-1721 (1987), section 2.2
 * Names    complete exchange is MPI's all-to-all, the papers' all-to-all personalized
 *          communication; scatter is their one-to-all personalized communication
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "abi.h"
#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a transfer ended. A collective has source and tag ECUBE_ANY. */
struct ecube_status {
    int source; /* rank of the sender; of a send, its destination */
    int tag;
    uint32_t bytes;   /* moved; 0 for a collective */
    uint32_t steps;   /* of the collective's schedule */
    uint64_t done_ns; /* model time of completion */
    int error;        /* ECUBE_OK or a negative enum ecube_error */
};

/* A transfer under way. Its members are lib/'s; keep it at its place until it is complete. */
struct ecube_request {
    int32_t number;                         /* the kernel's; negative: none */
    uint32_t began;                         /* the call that has begun it */
    void *scratch;                          /* working memory to free */
    struct ecube_abi_collective collective; /* what it was given, for an error's words */
};

/* What an error of a call does. */
enum ecube_errors_mode {
    ECUBE_ERRORS_FATAL = 0, /* it ends the program */
    ECUBE_ERRORS_RETURN = 1 /* the call returns it */
};

/* The machine whose time the model clock shows. A circuit of i hops and k elements takes
 * xi + i tau + (i + k - 1) element, alone on the machine. */
struct ecube_profile {
    uint32_t xi_ns;          /* start-up of a message */
    uint32_t tau_ns;         /* set-up of one hop */
    uint32_t element_ns;     /* one element over one link */
    uint32_t sigma_permille; /* host link time / node link time, in thousandths */
    uint32_t ports;          /* over how many links a node sends, and receives, at once;
                              * ECUBE_PORTS_ALL: over all that it has */
    uint32_t element_bytes;  /* of an element; a message's last one may be filled in part */
};

/* What a collective takes when all nodes begin it together (ecube_align) on an idle machine. */
struct ecube_prediction {
    uint64_t model_ns; /* until the last node has ended */
    uint64_t bound_ns; /* no schedule takes less */
    uint32_t steps;
};

/* One line of the run's result table. */
struct ecube_report {
    const char *name; /* cut after ECUBE_NAME_MAX - 1 characters */
    uint64_t bytes;   /* size of the operation, as in "bytes per pair" */
    uint64_t steps;
    uint64_t model_ns;     /* measured */
    uint64_t predicted_ns; /* of ecube_predict; 0: none, shown as "-" */
    uint64_t bound_ns;     /* likewise */
    uint64_t wall_ns;
    uint64_t wrong; /* bytes that were not what they should be */
};

/* Elements of ECUBE_MINLOC and ECUBE_MAXLOC, each of its type (ECUBE_FLOAT_INT32, ...). Where the
 * values of two are the same the lower index wins. What is spare is 0 in what was combined. */
struct ecube_int32_int32 {
    int32_t value, index;
};
struct ecube_int64_int32 {
    int64_t value;
    int32_t index, spare;
};
struct ecube_float_int32 {
    float value;
    int32_t index;
};
struct ecube_double_int32 {
    double value;
    int32_t index, spare;
};

/*
 * Says what an error does from now on, also the error of a transfer that has begun before. Returns
 * what errors did until now.
 */
enum ecube_errors_mode ecube_errors(enum ecube_errors_mode mode);

/* The own number, 0 to ecube_size() - 1. */
int ecube_rank(void);
/* The number of nodes. */
int ecube_size(void);
/* The number of dimensions of a cube, of 2^ecube_dims() nodes; ECUBE_E_NETWORK elsewhere. */
int ecube_dims(void);
/*
 * Where ranks lie. In the machine's network, or (ecube run --map, --as) in the one that they form.
 * Dimension 0 is the last number of the network's name, which varies fastest with
 * the rank; in a cube it is bit 0 of the rank.
 */
/* The coordinates of a rank, one for each dimension, of which `count` are written at most. Returns
 * how many dimensions there are, up to ECUBE_DIMENSIONS_MAX; ECUBE_E_ARGUMENT: no such rank. */
int ecube_coordinates(int rank, int *coordinates, int count);
/* The links of the machine on the way from here to a rank; ECUBE_E_ARGUMENT: no such rank. */
int ecube_hops(int rank);
/* The rank of the neighbour in a dimension, up (direction 1) or down (-1); in cubes, rings and tori
 * the last is the neighbour of the first. ECUBE_E_NETWORK: the network ends here, or has no such
 * dimension; ECUBE_E_ARGUMENT: another direction. */
int ecube_neighbour(int dimension, int direction);
/*
 * The places of the ring that ranks form: on a cube along the binary-reflected Gray code, so that
 * places that follow each other are neighbours, elsewhere in the order of ranks. The place of a
 * rank, and the rank at a place; ECUBE_E_ARGUMENT: there is none.
 */
int ecube_place(int rank);
int ecube_rank_at(int place);
/* The machine whose time the model clock shows. */
const struct ecube_profile *ecube_profile(void);

/*
 * Messages. A receive takes the oldest message that fits source and tag; either may be ECUBE_ANY.
 * Messages of one pair with one tag are received in the order of their sends. When a blocking send
 * returns, data may be changed. What is sent to oneself takes no model time. status may be NULL.
 *
 * Limits. A message of at most 1,024 bytes is short. A node keeps up to 64 messages, from all
 * senders together, that no receive has asked for; while it has a place, a blocking send of a short
 * message returns at once. One more place is kept for a short message to oneself. A longer message
 * waits for its receive, so send it to oneself only when the receive has been called. A message
 * that finds no place waits in its sender, and what that sender sends to the same node later waits
 * behind it, even if its receiver waits for it. So where more than 64 may come unasked, receive
 * each sender's messages in the order of its sends. A message, or a collective's blocks together,
 * are at most 4 GiB - 1 bytes, and lie in the program's memory (53 MiB on QEMU's board).
 *
 * In model time the start-ups of sends that are started one after the other overlap: on an iPSC/860
 * 32 of 0 bytes over one hop take 65.425 + 32 * 9.575 = 371.825 us, blocking ones 32 * 75 us.
 */

/* Sends bytes bytes with a tag of 0 or more. Returns ECUBE_OK. */
int ecube_send(const void *data, uint32_t bytes, int destination, int tag);
/* Receives at most bytes bytes. Returns how many came. */
int ecube_receive(void *data, uint32_t bytes, int source, int tag, struct ecube_status *status);
/*
 * Sends and receives at the same time, so that nodes may all call it in a circle; source and
 * destination may be one. Returns how many bytes came.
 */
int ecube_send_receive(const void *send, uint32_t send_bytes, int destination, int send_tag,
                       void *receive, uint32_t receive_bytes, int source, int receive_tag,
                       struct ecube_status *status);
/* Begins a send. Returns ECUBE_OK. */
int ecube_send_start(const void *data, uint32_t bytes, int destination, int tag,
                     struct ecube_request *request);
/*
 * The same as ecube_send and ecube_send_start, and received as they are, but a long message goes
 * over several paths at once that share no link (in cubes no node either, in rings both ways
 * round), as many as ports and links allow and as make it faster, or as --paths says. Its bytes are
 * divided so that all shares end together: k bytes over paths of i1, i2, ... hops take, alone on
 * the machine, the least T with
 *
 *     sum over the paths of floor((T - xi - i tau - (i - 1) element) / element) >= k
 *
 * (elements of a byte), xi + i tau + (i + k - 1) element where one path is best. A share that meets
 * another's message on its path tries again by itself, in the end on the path of ecube_send. On a
 * machine of one port, and for short messages, they are ecube_send. Source: Ozveren 1987, 2.2.1.
 */
int ecube_send_parallel(const void *data, uint32_t bytes, int destination, int tag);
int ecube_send_parallel_start(const void *data, uint32_t bytes, int destination, int tag,
                              struct ecube_request *request);
/* Begins a receive. Returns ECUBE_OK. */
int ecube_receive_start(void *data, uint32_t bytes, int source, int tag,
                        struct ecube_request *request);

/* Waits until the transfer is complete and ends the request. Returns its status' bytes. */
int ecube_wait(struct ecube_request *request, struct ecube_status *status);
/*
 * Returns 1 and ends the request when the transfer is complete, 0 when not yet, or its error. A
 * test that follows another one, with no work of the program in between, rests until one of the
 * program's transfers is complete, for 1 ms at most. A test after work never rests.
 */
int ecube_test(struct ecube_request *request, struct ecube_status *status);
/* Waits for all; statuses is NULL or has count entries. Returns ECUBE_OK or the first error. */
int ecube_wait_all(struct ecube_request *requests, unsigned count, struct ecube_status *statuses);
/*
 * Waits until one of count requests is complete and ends it; of several it takes the one that was
 * complete first in model time. It passes over requests that have ended, so a loop can take one
 * after the other. Returns what ecube_wait returns, and which it was in *index. ECUBE_E_ARGUMENT
 * with *index == count: none of them is open.
 */
int ecube_wait_any(struct ecube_request *requests, unsigned count, unsigned *index,
                   struct ecube_status *status);
/*
 * The same, and ends all that are complete at the model time at which the first one is. Returns how
 * many, 1 or more: which ones in indices, how each of them ended in statuses (its error too), which
 * both have count entries. ECUBE_E_ARGUMENT: none is open.
 */
int ecube_wait_some(struct ecube_request *requests, unsigned count, unsigned *indices,
                    struct ecube_status *statuses);
/*
 * Gives up a receive that no message has found yet. ecube_wait or ecube_test then ends it like any
 * other request: with ECUBE_E_CANCELLED and the buffer unchanged, or with its message if that came
 * first. Neither of them waits for a message that is not under way. Returns ECUBE_OK, also for a
 * receive that is complete; ECUBE_E_ARGUMENT for a request that is no receive.
 */
int ecube_cancel(struct ecube_request *request);

/*
 * Waits until a receive of this source and tag would find a message, and leaves the message where
 * it is; source and tag may be ECUBE_ANY. status, which is not NULL, says its source, tag and
 * bytes: a receive of just these takes this message. Returns its bytes. A probe sees no message
 * that a posted receive is to take, and none that waits in its sender because the 64 places are
 * full.
 */
int ecube_probe(int source, int tag, struct ecube_status *status);
/* The same without waiting: 1 when there is a message, else 0. One that follows another in vain
 * rests as ecube_test does. */
int ecube_iprobe(int source, int tag, struct ecube_status *status);

/*
 * Collectives. Blocks lie in rank order, one for every node. Buffers that a call reads must not
 * overlap those that it writes, else it fails with ECUBE_E_ARGUMENT. What only the root uses may be
 * NULL elsewhere. Some plans need working memory, which comes from the heap until the
 * request has ended; when a node has none, the call fails with ECUBE_E_FULL.
 */

/* Returns when every node has called it. */
int ecube_barrier(void);
/* Sets the model clock of every node to the latest of all, and takes no model time: where to begin
 * and end a measurement. */
int ecube_align(void);
/* Copies the root's bytes bytes at data to data on every node. */
int ecube_broadcast(void *data, uint32_t bytes, int root);
/* blocks: at the root alone, ecube_size() of them. Each node gets its own in block. */
int ecube_scatter(const void *blocks, void *block, uint32_t block_bytes, int root);
/* blocks: at the root alone, room for ecube_size() blocks; it gets every node's block. */
int ecube_gather(const void *block, void *blocks, uint32_t block_bytes, int root);
/* The same, and every node gets them all. */
int ecube_allgather(const void *block, void *blocks, uint32_t block_bytes);
/*
 * Complete exchange. send: one block for every node, receive: one block from every node:
 * receive[i] here is send[rank] of node i.
 */
int ecube_exchange(const void *send, void *receive, uint32_t block_bytes);
/*
 * Complete exchange with a size for every pair. send_blocks says for each rank where its block
 * begins, in bytes from send, and how long it is; receive_blocks the same of what comes from it.
 * Blocks may be empty, and lie in any order; the memory from the first to the last byte of what is
 * sent must not overlap that of what is received. The tables are the transfer's as long as the
 * buffers are.
 *
 * What a node sends to another must be as long as that one expects. If not, all other blocks arrive
 * all the same; then all nodes get ECUBE_E_MISMATCH, and the tool says whose sizes differ, and how.
 * The plan is the cheapest for blocks of ECUBE_EXCHANGEV_BYTES each.
 */
int ecube_exchangev(const void *send, const struct ecube_block *send_blocks, void *receive,
                    const struct ecube_block *receive_blocks);
/*
 * The same for short blocks: none is longer than bytes_max, which is the same at all nodes. Nodes
 * on the way do not know the sizes, so ecube_exchangev sends every block straight, each with a
 * set-up of its own. Here each travels with its length in a place for bytes_max bytes (up to the
 * next multiple of four), and ecube_exchange's plan for such places bundles them: of 4 bytes on
 * ring:32 it takes a seventh of the time. The places lie in the heap.
 *
 * A longer block: ECUBE_E_ARGUMENT, and ECUBE_E_ELSEWHERE at the other nodes. Where a block comes
 * that is not as long as is expected, that node gets ECUBE_E_MISMATCH, and all its other blocks.
 */
int ecube_exchangev_short(const void *send, const struct ecube_block *send_blocks, void *receive,
                          const struct ecube_block *receive_blocks, uint32_t bytes_max);
/*
 * Combines the nodes' vectors of count elements, element by element; the root alone gets the result
 * in receive. Type and operator must go together, else all nodes get ECUBE_E_ARGUMENT:
 *
 *   sum, product          integers wrap (two's complement); float and double are rounded to
 *                         nearest, even at a tie, after each operation
 *   min, max              of float and double -0 is less than +0, and a NaN wins
 *   logical               of integers: 0 is false, all else true; the result is 0 or 1
 *   bitwise               of integers
 *   minloc, maxloc        of pairs: the least or greatest value, as above, with its index
 *
 * Every operator gives the same bits whichever of two operands is the left one. All but sum and
 * product of float and double are associative as well: their result does not depend on the order.
 * Sum and product of float and double are bracketed as the plan has it ("ecube plan show" says
 * how): the same bits in every run, on every board and in the simulator. Every NaN comes out as one
 * quiet NaN (0x7fc00000, 0x7ff8000000000000). On a single node the result is the operand,
 * unchanged.
 */
int ecube_reduce(const void *send, void *receive, uint32_t count, enum ecube_type type,
                 enum ecube_operator operator_, int root);
/* The same, and every node gets the result. */
int ecube_allreduce(const void *send, void *receive, uint32_t count, enum ecube_type type,
                    enum ecube_operator operator_);
/*
 * Reduce-scatter with equal blocks: send is ecube_size() blocks of count elements, of which block i
 * is for node i. Each node gets the combination of what all nodes have for it in receive, a block.
 */
int ecube_reduce_scatter(const void *send, void *receive, uint32_t count, enum ecube_type type,
                         enum ecube_operator operator_);
/* Like allreduce, but node r gets the combination of the vectors of ranks 0 to r, its own
 * included, in the order of ranks; node 0 its own, unchanged. */
int ecube_scan(const void *send, void *receive, uint32_t count, enum ecube_type type,
               enum ecube_operator operator_);
/*
 * Shift: the bytes at send of rank r go to receive at rank (r + distance) mod ecube_size(), on
 * every network; a distance may be negative, or more than there are nodes. On a cube that is one
 * step, or with neighbours' steps alone ("hierarchical") at most ecube_dims() of them.
 */
int ecube_shift(const void *send, void *receive, uint32_t bytes, int distance);
/*
 * Reversal: the bytes at send go to the node at the mirrored place. In each dimension of a mask its
 * coordinate is size - 1 - x where this node's is x. In dimensions, the mask, bit 0 is the last
 * number of the network's name, which varies fastest with the rank, bit 1 the one before it, and so
 * on. 0 is all dimensions, and leads to rank ecube_size() - 1 - r. On a cube bit i is bit i of the
 * rank, so rank r sends to r XOR dimensions. A bit of no dimension: ECUBE_E_ARGUMENT.
 */
int ecube_reverse(const void *send, void *receive, uint32_t bytes, uint32_t dimensions);

/*
 * All to some: of a node at place i (ecube_place) a block goes to place i + 2^j and one to place
 * i - 2^j, modulo ecube_size(), for each 2^j below that. send and receive have a block for each of
 * these movements, ecube_movements(ecube_size()) of them: +1 -1 +2 -2 +4 -4 ... Of a power of two
 * 2^n + 2^(n-1) and - 2^(n-1) are one movement, the last: so there are 2 n - 1 blocks. What came
 * by a movement lies where what goes by it does: block 0 of receive is from place i - 1. On a cube
 * whose nodes use all their links at once it takes four steps of neighbours, on a 3-cube three.
 */
int ecube_all_to_some(const void *send, void *receive, uint32_t block_bytes);
/* One of them alone, a function of a PM2I network: the bytes go from place i to i + distance, which
 * is a power of two below ecube_size(), or - such a one; else ECUBE_E_ARGUMENT. On a cube that is
 * at most two steps of neighbours. */
int ecube_pm2i(const void *send, void *receive, uint32_t bytes, int distance);

/* Where a computation is: element `index` of all, partners index +- distance, 2^exponent. */
struct ecube_power {
    uint32_t exponent;
    uint64_t distance, index, elements;
};
/* Makes a new element of an old one, of the one `distance` above it, and of the one below it, as
 * all were before this iteration; indices modulo the number of elements. */
struct ecube_computation {
    void (*compute)(void *context, const struct ecube_power *power, void *element,
                    const void *above, const void *below);
    void *context;
};
/*
 * Computes new elements in so many iterations, with the distances 2^(iterations - 1), ..., 2, 1
 * (descend), or 1, 2, ... (ascend). Elements are spread over the nodes by place: a node has
 * ecube_place(ecube_rank()) * count and the next ones. count is a power of two, alike at all nodes,
 * and ecube_iterations(count) the most iterations, up to the last power of two below the number of
 * all elements. Elements are of any size. They travel in a pipeline of exchanges from all to some,
 * one in each block: M elements on N nodes take log M + M / N - 1 exchanges for all iterations,
 * of four steps on a cube with all ports. Returns the steps; ECUBE_E_ARGUMENT: such a count, size
 * or number of iterations there cannot be. Neither call can be used in a computation.
 */
int ecube_descend(void *elements, uint32_t count, uint32_t element_bytes, uint32_t iterations,
                  const struct ecube_computation *computation);
int ecube_ascend(void *elements, uint32_t count, uint32_t element_bytes, uint32_t iterations,
                 const struct ecube_computation *computation);
uint32_t ecube_iterations(uint32_t count);

/* Collectives, begun; ecube_wait or ecube_test completes them. The first use waits for its plan. */
int ecube_barrier_start(struct ecube_request *request);
int ecube_align_start(struct ecube_request *request);
int ecube_broadcast_start(void *data, uint32_t bytes, int root, struct ecube_request *request);
int ecube_scatter_start(const void *blocks, void *block, uint32_t block_bytes, int root,
                        struct ecube_request *request);
int ecube_gather_start(const void *block, void *blocks, uint32_t block_bytes, int root,
                       struct ecube_request *request);
int ecube_allgather_start(const void *block, void *blocks, uint32_t block_bytes,
                          struct ecube_request *request);
int ecube_exchange_start(const void *send, void *receive, uint32_t block_bytes,
                         struct ecube_request *request);
int ecube_exchangev_start(const void *send, const struct ecube_block *send_blocks, void *receive,
                          const struct ecube_block *receive_blocks, struct ecube_request *request);
int ecube_reduce_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                       enum ecube_operator operator_, int root, struct ecube_request *request);
int ecube_allreduce_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                          enum ecube_operator operator_, struct ecube_request *request);
int ecube_reduce_scatter_start(const void *send, void *receive, uint32_t count,
                               enum ecube_type type, enum ecube_operator operator_,
                               struct ecube_request *request);
int ecube_scan_start(const void *send, void *receive, uint32_t count, enum ecube_type type,
                     enum ecube_operator operator_, struct ecube_request *request);
int ecube_shift_start(const void *send, void *receive, uint32_t bytes, int distance,
                      struct ecube_request *request);
int ecube_reverse_start(const void *send, void *receive, uint32_t bytes, uint32_t dimensions,
                        struct ecube_request *request);
int ecube_all_to_some_start(const void *send, void *receive, uint32_t block_bytes,
                            struct ecube_request *request);
int ecube_pm2i_start(const void *send, void *receive, uint32_t bytes, int distance,
                     struct ecube_request *request);

/*
 * Asks the host what an operation takes, to the nanosecond. Any node may ask, alone. bytes is the
 * size of one block, or of a whole vector; type is that of the elements where they are combined,
 * else 0; root is also the distance of a shift (0 to ecube_size() - 1) or the mask of a reversal,
 * and 0 where there is none. For ecube_exchangev the answer is for blocks of this size between all
 * pairs. Returns ECUBE_OK, or ECUBE_E_ARGUMENT or ECUBE_E_NETWORK: there is no such plan.
 */
int ecube_predict(enum ecube_operation operation, int root, uint32_t bytes, enum ecube_type type,
                  struct ecube_prediction *prediction);

/*
 * Chooses the algorithm of an operation, for the collectives that this node begins from now on and
 * for its predictions. A name is "chain" or "chain 8 segments", as `ecube plan list` and `plan
 * explain` have them; NULL is the cheapest for each size, as in the beginning. All nodes must
 * choose the same one, else a collective ends with ECUBE_E_MISMATCH at all of them. Returns
 * ECUBE_OK; or changes nothing and returns ECUBE_E_ARGUMENT: there is no such operation or
 * algorithm, or ECUBE_E_NETWORK: this network cannot have it.
 */
int ecube_algorithm(enum ecube_operation operation, const char *name);

/*
 * The node's model clock, the profile's machine's: communication and ecube_compute advance it,
 * other work of the program does not. It goes on from the download: take the difference of two
 * readings.
 */
uint64_t ecube_model_ns(void);
/*
 * Time since some moment before the program's start, on the emulating computer. time(),
 * clock() and clock_gettime() show the same; sleep(), usleep() and nanosleep() wait for it, while
 * the node goes on carrying the messages of others. It is much alike on all nodes and in all runs,
 * so ecube_rank() is the better seed for random numbers.
 */
uint64_t ecube_wall_ns(void);
/*
 * Adds computing time to the model clock. Returns ECUBE_OK, or ECUBE_E_ARGUMENT and adds nothing
 * when the clock would pass 2^63 - 1 ns, 292 years.
 */
int ecube_compute(uint64_t ns);

/*
 * Marks this moment of the model clock under a name, of which 23 characters are kept, in the
 * timeline that `--trace` writes. Takes no model time. Without `--trace` it costs a look at a
 * variable; it may be called at any time and as often as you like.
 */
void ecube_mark(const char *name);

/* Adds a line to the run's result table. */
int ecube_report(const struct ecube_report *report);

/*
 * Data. What the user gives with the program lies in the node's memory when it begins, and what the
 * program leaves is fetched when all programs have ended; neither takes time of the run. The
 * functions return where the data lie, and how many bytes they are in *bytes, if bytes is not NULL;
 * NULL and 0 when the user gave none. Input and common data are read-only; private data may be
 * written.
 *
 * Of `--input FILE` each node has a part, its window: node r has the bytes from r * step on. With a
 * step as long as the window each node has its own bytes, with a shorter one neighbours have some
 * bytes in common, with 0 all have the same.
 *
 * Example, of 8 nodes, each of which turns its part of a file of numbers into squares:
 *
 *   size_t bytes;
 *   const float *values = ecube_input(&bytes);
 *   float *squares = malloc(bytes);
 *   for (size_t i = 0; i < bytes / sizeof *values; i++) squares[i] = values[i] * values[i];
 *   ecube_output(squares, bytes);
 *
 * Files. fopen reads the files that the user gave along, where they lie, and writes new ones; stdin
 * reads what the user gave for it, then it is at its end. A file that the program has written or
 * renamed comes back when all programs have ended: each node has files of its own, in its memory,
 * in one piece each, which must fit beside a copy while it grows. A name is a path of at most 255
 * bytes; directories need not be made. errno is as in POSIX: ENOENT, EEXIST, EBADF; EMFILE beyond
 * 32 that are open at a time; ENOSPC without memory, or beyond 318 that come back; EACCES for a
 * name with a component ".." or that begins with "/". Only /tmp/ may begin one: what is there stays
 * at the node, so tmpfile and tmpnam work. stat, rename, remove and ftruncate work, too; there are
 * no directories to read or make, and no links.
 *
 * What a program has written is lost only while it is in the buffer of its stream (fflush writes
 * it): exit and ecube_abort write all of them, a crash or the end of the run by another node does
 * not.
 *
 * Source   Sharma & Wagh, Decremental scattering for data transport between host and hypercube
 *          nodes, section III
 */

/* This node's window of the input. */
const void *ecube_input(size_t *bytes);
/* What all nodes have. */
const void *ecube_common(size_t *bytes);
/* What this node alone has. */
void *ecube_private(size_t *bytes);
/*
 * Names what comes back as this node's part of the run's output, in which the nodes' parts lie
 * behind each other in rank order. The bytes are read when the program has ended, in whichever way,
 * so they must stay: not on the stack, not freed. A second call names other bytes instead, 0 bytes
 * are none. Returns ECUBE_OK; ECUBE_E_FAULT: they do not lie in the program's memory; ECUBE_E_FULL:
 * no memory is left for the table of what comes back; ECUBE_E_SYSCALL: the kernel takes no output.
 */
int ecube_output(const void *data, size_t bytes);

/*
 * Regions: memory that the host fills and fetches while the program runs. A program names one, then
 * waits at it until somebody has typed `ecube scatter NAME` or `ecube gather NAME` at the machine
 * of `ecube up`, and all programs wait there: a rendezvous of all nodes and the host. The bytes
 * then move, for one node after the other, and the programs go on when all have moved. Transfers
 * that the program has begun come to their end before that, but for receives for which nothing has
 * come and long sends that nobody has asked for.
 *
 *   static float block[1024];
 *   ecube_region("block", block, sizeof block);
 *   while (ecube_region_wait("block", NULL) == ECUBE_SCATTERED) {
 *       work(block);
 *       ecube_region_wait("block", NULL);
 *   }
 *
 *   ecube scatter block --input samples.bin && ecube gather block --output result.bin
 *
 * In model time the bytes begin to move when the last program has come to wait. A node's clock goes
 * on to the end of its own transfer. The time of the user does not count.
 */

/*
 * Names memory, which must stay and may be written: a name of 1 to ECUBE_NAME_MAX - 1 characters
 * without "/", up to ECUBE_REGIONS_MAX of them; the same name again replaces what it stood for.
 * Returns ECUBE_OK; ECUBE_E_ARGUMENT: it is no such name, or there are no bytes; ECUBE_E_FULL:
 * there are too many; ECUBE_E_FAULT: it does not lie in the program's memory.
 */
int ecube_region(const char *name, void *memory, uint32_t bytes);
/*
 * Waits until the host has scattered into the region or gathered it. Returns which, ECUBE_SCATTERED
 * or ECUBE_GATHERED; *bytes, unless NULL, is how many bytes have moved, from the first on (all when
 * it was gathered; what lies behind those that were scattered stays). ECUBE_E_ARGUMENT: there is no
 * such region; ECUBE_E_UNATTENDED: the program runs by `ecube run` or `ecube sim`, where nobody
 * scatters or gathers; ECUBE_E_FAULT: the region is read-only.
 */
int ecube_region_wait(const char *name, uint32_t *bytes);

/*
 * Ends the whole run. This program ends when what it has printed so far is out, and what it has
 * written is in its files; those of all other nodes end at once, whatever they do. The tool says
 * who aborted and with which status, and exits with the lowest 8 bits of the status, or with 1 when
 * these are 0. When several abort at the same time, the first that the host hears of counts.
 */
__attribute__((noreturn)) void ecube_abort(int status);

#ifdef __cplusplus
}
#endif
