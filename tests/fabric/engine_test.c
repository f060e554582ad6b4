/*
 * engine_test.c - plans that the host would not choose, executed by real nodes: blocks that do not
 * lie together, circuits that go ahead, sums whose order can be seen in their bits. Data are right,
 * and model time is the planner's to the nanosecond.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/algorithms/candidates.h"
#include "drivers/status.h"
#include "tests/fabric/collectives.h"
#include "tests/planner/odd_plans.h"
#include "tests/testing.h"

enum { NODES_MAX = 32, BLOCK_MAX = 5000, SPACE_AT = 16 * BLOCK_MAX };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;
static const struct memory_fault losses = {.flip_per_million = 20000, .drop_per_million = 20000};

static struct fabric *started(const char *name, uint64_t seed, struct memory_fault fault)
{
    struct fabric *fabric = fabric_make_named(name, 2 * SPACE_AT, seed, fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

static struct plan *planned(const struct fabric *fabric, const struct plan_request *request)
{
    struct plan_fault fault = {.words = ""};
    struct plan *plan = plan_make(&fabric->network, request, &fault);

    if (!plan) {
        assert_string_equal(fault.words, "");
    }
    return plan;
}

/* What a call takes when all clocks begin equal. No plan comes from the host. */
static uint64_t measured_ns(struct fabric *fabric, const struct ecube_abi_collective *call)
{
    struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};

    collective_all_call(fabric, &align);
    uint64_t begin_ns = collective_latest_clock(fabric);
    collective_all_call(fabric, call);
    assert_int_equal(fabric_count_events(fabric, PACKET_PLAN_ASK), 0);
    return collective_latest_clock(fabric) - begin_ns;
}

/* Exchanges ----------------------------------------------------------------------------------- */

static uint8_t pattern(uint32_t from, uint32_t to, uint32_t i)
{
    return (uint8_t)(from * 31 + to * 17 + i * 7 + (i >> 8));
}

static void give(struct fabric *fabric, uint32_t rank, uint32_t bytes)
{
    uint8_t *send = fabric_at(fabric, rank, FABRIC_DATA);

    memset(fabric_at(fabric, rank, FABRIC_DATA + SPACE_AT), 0, SPACE_AT);
    for (uint32_t to = 0; to < fabric->count; to++) {
        for (uint32_t i = 0; i < bytes; i++) {
            send[to * bytes + i] = pattern(rank, to, i);
        }
    }
}

static void has_its_own(struct fabric *fabric, uint32_t rank, uint32_t bytes)
{
    const uint8_t *received = fabric_at(fabric, rank, FABRIC_DATA + SPACE_AT);

    for (uint32_t from = 0; from < fabric->count; from++) {
        for (uint32_t i = 0; i < bytes; i++) {
            if (received[from * bytes + i] != pattern(from, rank, i)) {
                fail_msg("%u bytes: node %u, from %u, byte %u", bytes, rank, from, i);
            }
        }
    }
}

static uint64_t exchange_ns(struct fabric *fabric, uint32_t bytes)
{
    struct ecube_abi_collective call = {.operation = ECUBE_EXCHANGE,
                                        .block_bytes = bytes,
                                        .send = FABRIC_DATA,
                                        .receive = FABRIC_DATA + SPACE_AT};

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        give(fabric, rank, bytes);
    }
    uint64_t took_ns = measured_ns(fabric, &call);
    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        has_its_own(fabric, rank, bytes);
    }
    return took_ns;
}

/* Whether the blocks of a circuit lie apart where they are sent from, and where they go. */
static bool lie_apart(const struct plan *plan, bool received)
{
    bool apart = false;

    for (uint32_t i = 0; i < plan->circuit_count; i++) {
        const struct plan_circuit *circuit = &plan->circuits[i];
        unsigned extents = received ? circuit->receive_count : circuit->send_count;
        uint32_t first = received ? circuit->receive_at : circuit->send_at;
        apart = apart || (circuit->hops && (extents > 1 || plan->extents[first].times > 1));
    }
    return apart;
}

/* Sizes end with UINT32_MAX. */
static void sizes_are_exchanged(struct fabric *fabric, struct plan *plan, const uint32_t *sizes)
{
    fabric_preload(fabric, plan);
    for (; *sizes != UINT32_MAX; sizes++) {
        assert_int_equal(exchange_ns(fabric, *sizes),
                         plan_time(plan, *sizes, 1, &ipsc860).model_ns);
    }
    plan_free(plan);
    fabric_free(fabric);
}

/* Blocks below 512 bytes are packed in slices, others go from where they are, and to it. */
static void every_size_is_exchanged(struct fabric *fabric, struct plan *plan)
{
    static const uint32_t sizes[] = {0, 1, 100, 511, 512, 1500, BLOCK_MAX, UINT32_MAX};

    sizes_are_exchanged(fabric, plan, sizes);
}

TEST(blocks_that_lie_apart_go_in_one_circuit)
{
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct fabric *fabric = started("cube:3", seed, seed % 2 ? no_fault : losses);
        struct plan *plan = dimensions_plan(&fabric->network);
        assert_true(lie_apart(plan, false) && lie_apart(plan, true));
        every_size_is_exchanged(fabric, plan);
    }
}

/* Sixteen small blocks do not fit into one slice. */
TEST(small_blocks_go_in_several_slices)
{
    static const uint32_t sizes[] = {511, UINT32_MAX};

    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct fabric *fabric = started("cube:5", seed, losses);
        sizes_are_exchanged(fabric, dimensions_plan(&fabric->network), sizes);
    }
}

/* What is repeated on a link is read again: it must not have been written over. */
TEST(blocks_are_stored_and_forwarded_between_neighbours)
{
    static const char *const names[] = {"ring:5", "cube:3", "mesh:2x3"};
    const struct plan_request request = {.operation = ECUBE_EXCHANGE, .algorithm = "neighbours"};

    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fabric *fabric = started(names[seed % 3], seed, seed <= 3 ? no_fault : losses);
        struct plan *plan = planned(fabric, &request);
        assert_true(lie_apart(plan, true));
        every_size_is_exchanged(fabric, plan);
    }
}

/* One plan on nodes, short and long blocks. */
static void takes_what_is_predicted(const char *name, const char *algorithm,
                                    const struct profile *profile)
{
    static const uint32_t sizes[] = {0, 100, 600, UINT32_MAX};
    const struct plan_request request = {
        .operation = ECUBE_EXCHANGE, .bytes = 600, .algorithm = algorithm, .profile = profile};
    struct fabric *fabric = fabric_make_named(name, 2 * SPACE_AT, 1, no_fault, *profile);

    assert_true(fabric_start(fabric));
    struct plan *plan = planned(fabric, &request);
    plan->bytes_min = 0;
    plan->bytes_max = UINT32_MAX;
    sizes_are_exchanged(fabric, plan, sizes);
}

TEST(every_exchange_takes_what_is_predicted)
{
    static const char *const names[] = {"cube:3",   "cube:4",    "ring:5",     "ring:6",
                                        "mesh:3x4", "torus:4x4", "torus:3x3x2"};
    static const struct profile all_ports = {65425, 9575, 425, 1000, PORTS_ALL, 1};
    char words[ALGORITHM_WORDS_MAX];
    const struct candidate *candidate;

    for (unsigned n = 0; n < sizeof names / sizeof names[0]; n++) {
        struct fabric *fabric = fabric_make_named(names[n], 2 * SPACE_AT, 1, no_fault, ipsc860);
        struct network network = fabric->network;
        fabric_free(fabric);
        for (unsigned i = 0; (candidate = candidate_of(ECUBE_EXCHANGE, i)); i++) {
            const struct profile *profile = candidate->wants_ports ? &all_ports : &ipsc860;
            const struct plan_request request = {
                .operation = ECUBE_EXCHANGE, .bytes = SPACE_AT, .profile = profile};
            for (unsigned v = 0; v < candidate_variants(candidate, &network, &request); v++) {
                candidate_words(candidate, &network, v, words);
                takes_what_is_predicted(names[n], words, profile);
            }
        }
    }
}

/* Circuits that go ahead ---------------------------------------------------------------------- */

/* Orders found by search, and timed, independently of this project. */
TEST(set_up_ahead_nodes_take_what_others_say)
{
    static const uint32_t three[] = {1, 6, 5, 2, 3, 4, 7};
    static const uint32_t four[] = {1, 10, 5, 2, 13, 6, 9, 14, 11, 4, 3, 12, 7, 8, 15};
    static const struct {
        const char *network;
        const uint32_t *masks;
        uint64_t model_ns;
    } cases[] = {{"cube:3", three, 3080850}, {"cube:4", four, 6514675}};

    for (unsigned i = 0; i < 2; i++) {
        for (uint64_t seed = 1; seed <= 5; seed++) {
            struct fabric *fabric = started(cases[i].network, seed, no_fault);
            struct plan *plan = ahead_plan(&fabric->network, cases[i].masks);
            fabric_preload(fabric, plan);
            assert_int_equal(exchange_ns(fabric, 1000), cases[i].model_ns);
            for (uint32_t bytes = 0; bytes < 600; bytes += 50) {
                assert_int_equal(exchange_ns(fabric, bytes),
                                 plan_time(plan, bytes, 1, &ipsc860).model_ns);
            }
            plan_free(plan);
            fabric_free(fabric);
        }
    }
}

/* Sums ---------------------------------------------------------------------------------------- */

enum { ELEMENTS = 700, VECTOR_BYTES = ELEMENTS * 8 };

/* Numbers of very different sizes: another order of additions has other bits. */
static double addend(uint32_t rank, uint32_t i)
{
    double sign = (rank + i) % 2 ? -1 : 1, size = (rank * 7 + i * 5) % 16;

    return sign * (1 + rank * 0.37 + i * 0.011) * (size < 8 ? 1e10 : 1e-6);
}

static void give_addends(struct fabric *fabric, uint32_t rank)
{
    uint8_t *send = fabric_at(fabric, rank, FABRIC_DATA);

    for (uint32_t i = 0; i < ELEMENTS; i++) {
        double number = addend(rank, i);
        memcpy(send + i * sizeof number, &number, sizeof number);
    }
}

/* The sum that the plan makes, and that in the order of ranks. */
static void expect_sums(struct fabric *fabric, const struct plan *plan, uint8_t *sum,
                        double *in_order)
{
    const uint8_t *send[NODES_MAX];
    uint8_t *receive[NODES_MAX] = {NULL};
    const struct plan_data data = {VECTOR_BYTES, ECUBE_DOUBLE, ECUBE_SUM, send, receive};

    for (uint32_t rank = 0; rank < fabric->count; rank++) {
        send[rank] = fabric_at(fabric, rank, FABRIC_DATA);
    }
    receive[plan->root] = sum;
    plan_perform(plan, &data);
    for (uint32_t i = 0; i < ELEMENTS; i++) {
        in_order[i] = addend(0, i);
        for (uint32_t rank = 1; rank < fabric->count; rank++) {
            in_order[i] += addend(rank, i);
        }
    }
}

TEST(sums_have_the_bits_of_the_plan_s_order)
{
    struct ecube_abi_collective call = {.operation = ECUBE_REDUCE,
                                        .root = 5,
                                        .block_bytes = VECTOR_BYTES,
                                        .send = FABRIC_DATA,
                                        .receive = FABRIC_DATA + SPACE_AT,
                                        .type = ECUBE_DOUBLE,
                                        .operator_ = ECUBE_SUM,
                                        .choice = ecube_choice("halving tree")};
    const struct plan_request request = {.operation = ECUBE_REDUCE,
                                         .root = 5,
                                         .bytes = VECTOR_BYTES,
                                         .type = ECUBE_DOUBLE,
                                         .algorithm = "halving tree"};
    uint8_t sum[VECTOR_BYTES];
    double in_order[ELEMENTS];

    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct fabric *fabric = started("ring:16", seed, no_fault);
        struct plan *plan = planned(fabric, &request);
        for (uint32_t rank = 0; rank < fabric->count; rank++) {
            give_addends(fabric, rank);
        }
        expect_sums(fabric, plan, sum, in_order);
        collective_all_call(fabric, &call);
        assert_memory_equal(fabric_at(fabric, 5, call.receive), sum, VECTOR_BYTES);
        assert_memory_not_equal(in_order, sum, VECTOR_BYTES);
        plan_free(plan);
        fabric_free(fabric);
    }
}
