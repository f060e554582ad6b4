/*
 * algorithm_test.c - programs that ask for an algorithm by its number: all nodes execute it, in the
 * time that is predicted for it; nodes that ask for different ones, for one that there is not, or
 * one that the network cannot have, all get an error, and the next collective works.
 */
#include <string.h>

#include "planner/planner.h"
#include "controller/words.h"
#include "drivers/status.h"
#include "tests/fabric/collectives.h"
#include "tests/testing.h"

enum { NODES = 6, BYTES = 96, SPACE_BYTES = NODES * BYTES, DATA_BYTES = 2 * SPACE_BYTES };

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};
static const struct memory_fault no_fault;

static struct fabric *ring(void)
{
    struct fabric *fabric = fabric_make_named("ring:6", DATA_BYTES, 1, no_fault, ipsc860);

    assert_true(fabric_start(fabric));
    return fabric;
}

static struct ecube_abi_collective call_by(uint32_t operation, const char *algorithm)
{
    bool reduces = operation_of(operation)->reduces;

    return (struct ecube_abi_collective){.operation = operation,
                                         .block_bytes = BYTES,
                                         .send = FABRIC_DATA,
                                         .receive = FABRIC_DATA + SPACE_BYTES,
                                         .scratch = FABRIC_DATA + DATA_BYTES,
                                         .scratch_bytes = DATA_BYTES,
                                         .type = reduces ? ECUBE_INT32 : 0,
                                         .operator_ = reduces ? ECUBE_SUM : 0,
                                         .choice = ecube_choice(algorithm)};
}

/* The last node calls `last`, the others `rest`; all end with this status. */
static void all_end(struct fabric *fabric, const struct ecube_abi_collective *rest,
                    const struct ecube_abi_collective *last, int status)
{
    struct ecube_abi_collective calls[NODES];

    for (uint32_t rank = 0; rank < NODES; rank++) {
        calls[rank] = rank + 1 < NODES ? *rest : *last;
    }
    collective_all_end(fabric, calls, status);
}

static void last_cannot(struct fabric *fabric, const struct ecube_abi_collective *rest,
                        const struct ecube_abi_collective *last, int status)
{
    struct ecube_abi_collective calls[NODES];

    for (uint32_t rank = 0; rank < NODES; rank++) {
        calls[rank] = rank + 1 < NODES ? *rest : *last;
    }
    collective_fails(fabric, calls, NODES - 1, status);
}

static uint64_t predicted_by(struct fabric *fabric, uint32_t operation, const char *algorithm)
{
    const struct plan_request request = {.operation = operation,
                                         .bytes = BYTES,
                                         .type = operation_of(operation)->reduces ? ECUBE_INT32 : 0,
                                         .algorithm = algorithm,
                                         .profile = &ipsc860};
    struct plan_fault fault;
    struct plan *plan = plan_make(&fabric->network, &request, &fault);

    assert_non_null(plan);
    uint64_t model_ns = plan_time(plan, BYTES, 4, &ipsc860).model_ns;
    plan_free(plan);
    return model_ns;
}

static void takes_its_time(struct fabric *fabric, uint32_t operation, const char *algorithm)
{
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    const struct ecube_abi_collective call = call_by(operation, algorithm);

    all_end(fabric, &align, &align, E_OK);
    uint64_t before = collective_latest_clock(fabric);
    all_end(fabric, &call, &call, E_OK);
    assert_int_equal(collective_latest_clock(fabric) - before,
                     predicted_by(fabric, operation, algorithm));
}

TEST(an_algorithm_that_is_asked_for_is_executed)
{
    static const struct {
        uint32_t operation;
        const char *algorithm;
    } cases[] = {{ECUBE_EXCHANGE, "direct"},
                 {ECUBE_EXCHANGE, "neighbours"},
                 {ECUBE_EXCHANGE, NULL},
                 {ECUBE_ALLGATHER, "gather and broadcast"},
                 {ECUBE_ALLGATHER, "ring of neighbours"},
                 {ECUBE_SCAN, "halving tree"},
                 {ECUBE_SCAN, "chain"},
                 {ECUBE_SCAN, "chain 4 segments"},
                 {ECUBE_SCAN, "chain 64 segments"}}; /* more than elements */
    struct fabric *fabric = ring();

    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
            takes_its_time(fabric, cases[i].operation, cases[i].algorithm);
        }
    }
    assert_true(predicted_by(fabric, ECUBE_EXCHANGE, "direct") !=
                predicted_by(fabric, ECUBE_EXCHANGE, "neighbours"));
    fabric_free(fabric);
}

static void host_says(const struct fabric *fabric, const char *words)
{
    char text[WORDS_MAX];

    assert_true(words_of_event(&fabric->controller, &fabric->last_event, text));
    assert_non_null(strstr(text, words));
}

TEST(nodes_that_ask_for_different_ones_get_an_error)
{
    const struct ecube_abi_collective direct = call_by(ECUBE_EXCHANGE, "direct");
    const struct ecube_abi_collective neighbours = call_by(ECUBE_EXCHANGE, "neighbours");
    const struct ecube_abi_collective cheapest = call_by(ECUBE_EXCHANGE, NULL);
    struct fabric *fabric = ring();

    all_end(fabric, &direct, &neighbours, E_MISMATCH);
    assert_int_equal(fabric->told[EVENT_DISAGREE], 1);
    host_says(fabric, "exchange of 96 bytes, by direct and by neighbours");
    all_end(fabric, &cheapest, &direct, E_MISMATCH); /* though it may be the same plan */
    host_says(fabric, "exchange of 96 bytes, by the host's choice and by direct");
    all_end(fabric, &direct, &cheapest, E_MISMATCH);
    all_end(fabric, &direct, &direct, E_OK);
    fabric_free(fabric);
}

TEST(what_there_is_not_fails_at_all_nodes)
{
    const struct ecube_abi_collective cheapest = call_by(ECUBE_EXCHANGE, NULL);
    const struct ecube_abi_collective unknown = call_by(ECUBE_EXCHANGE, "best");
    const struct ecube_abi_collective cube = call_by(ECUBE_EXCHANGE, "AAP");
    struct fabric *fabric = ring();

    all_end(fabric, &unknown, &unknown, E_ARGUMENT);
    last_cannot(fabric, &cheapest, &unknown, E_ARGUMENT);
    all_end(fabric, &cube, &cube, E_NETWORK);
    last_cannot(fabric, &cheapest, &cube, E_NETWORK);
    all_end(fabric, &cheapest, &cheapest, E_OK);
    fabric_free(fabric);
}

/* The tool's choice is for those who make none. */
TEST(what_the_tool_forces_holds_where_a_program_asks_for_nothing)
{
    const struct ecube_abi_collective align = {.operation = ECUBE_ALIGN};
    const struct ecube_abi_collective call = call_by(ECUBE_EXCHANGE, NULL);
    struct fabric *fabric = ring();

    plan_cache_force(fabric->cache, ECUBE_EXCHANGE, "neighbours");
    all_end(fabric, &align, &align, E_OK);
    uint64_t before = collective_latest_clock(fabric);
    all_end(fabric, &call, &call, E_OK);
    assert_int_equal(collective_latest_clock(fabric) - before,
                     predicted_by(fabric, ECUBE_EXCHANGE, "neighbours"));
    takes_its_time(fabric, ECUBE_EXCHANGE, "direct");
    fabric_free(fabric);
}
