/*
 * exchange_test.c - collectives on up to 64 real nodes: right data, and model time equal to the
 * closed form.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/planner.h"
#include "drivers/status.h"
#include "tests/fabric/fabric.h"
#include "tests/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0, 1};
static const struct profile unit = {1000, 1000, 1000, 1500, 0, 1};
static const struct memory_fault no_fault;

static uint8_t pattern(unsigned src, unsigned dst, unsigned i)
{
    return (uint8_t)(src * 31 + dst * 17 + i * 7 + (i >> 8));
}

/* The sum over phases of algorithm AAP, by hand: C(d, i) circuits of i hops for each i. */
static uint64_t closed_form(const struct profile *p, unsigned dims, uint32_t bytes)
{
    uint64_t total = 0, choose = 1;

    for (unsigned i = 1; i <= dims; i++) {
        choose = choose * (dims - i + 1) / i;
        total += choose *
                 (p->xi_ns + (uint64_t)i * p->tau_ns + (uint64_t)(i + bytes - 1) * p->element_ns);
    }
    return total;
}

static struct fabric *started(unsigned dims, uint32_t data, uint64_t seed,
                              struct memory_fault fault, struct profile profile)
{
    struct fabric *fabric = fabric_make(dims, data, seed, fault, profile);

    plan_cache_force(fabric->cache, ECUBE_EXCHANGE, "AAP");
    assert_true(fabric_start(fabric));
    return fabric;
}

static void all_collective(struct fabric *fabric, const struct ecube_abi_collective *arguments)
{
    int32_t requests[128];

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        requests[rank] = fabric_collective(fabric, rank, arguments);
    }
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        struct ecube_abi_result result = fabric_wait(fabric, rank, requests[rank]);
        assert_int_equal(result.status, E_OK);
    }
}

static void exchange(struct fabric *fabric, const struct profile *profile, uint32_t bytes)
{
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = bytes,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA + fabric->count * bytes};

    for (unsigned rank = 0; rank < fabric->count; rank++) {
        uint8_t *send = fabric_at(fabric, rank, arguments.send);
        memset(fabric_at(fabric, rank, arguments.receive), 0, fabric->count * bytes);
        for (unsigned dst = 0; dst < fabric->count; dst++) {
            for (unsigned i = 0; i < bytes; i++) {
                send[dst * bytes + i] = pattern(rank, dst, i);
            }
        }
    }
    all_collective(fabric, &barrier);
    uint64_t before = fabric_clock(fabric, 0);
    all_collective(fabric, &arguments);
    for (unsigned rank = 0; rank < fabric->count; rank++) {
        const uint8_t *received = fabric_at(fabric, rank, arguments.receive);
        assert_int_equal(fabric_clock(fabric, rank) - before,
                         closed_form(profile, fabric->network.dims, bytes));
        for (unsigned src = 0; src < fabric->count; src++) {
            for (unsigned i = 0; src != rank && i < bytes; i++) {
                assert_int_equal(received[src * bytes + i], pattern(src, rank, i));
            }
        }
    }
}

TEST(exchange_takes_the_closed_form_to_the_tick_on_64_nodes)
{
    static const uint32_t sizes[] = {0, 1, 16, 100, 1000, 1024, 1025, 10000};

    for (unsigned dims = 0; dims <= 6; dims++) {
        struct fabric *fabric = started(dims, 2 * 64 * 10000, 1 + dims, no_fault, ipsc860);
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            exchange(fabric, &ipsc860, sizes[i]);
        }
        fabric_free(fabric);
    }
}

TEST(on_128_nodes_eta_of_100_bytes_is_3_359)
{
    struct fabric *fabric = started(7, 2 * 128 * 100, 7, no_fault, ipsc860);
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = 100,
                                             .send = FABRIC_DATA,
                                             .receive = FABRIC_DATA + 128 * 100};
    all_collective(fabric, &barrier);
    uint64_t before = fabric_clock(fabric, 77);
    all_collective(fabric, &arguments);
    uint64_t took_ns = fabric_clock(fabric, 77) - before, bound_ns = 100 * 127 * 425;
    assert_int_equal(took_ns, 18132500);
    assert_int_equal((took_ns * 1000 + bound_ns / 2) / bound_ns, 3359);
    fabric_free(fabric);
}

TEST(exchange_of_64_kib_is_exact_in_the_unit_profile)
{
    struct fabric *fabric = started(3, 2 * 8 * 65536, 99, no_fault, unit);
    exchange(fabric, &unit, 65536);
    exchange(fabric, &unit, 65536);
    fabric_free(fabric);
}

TEST(damaged_and_lost_bytes_are_repaired)
{
    struct memory_fault fault = {.flip_per_million = 20000, .drop_per_million = 20000};

    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct fabric *fabric = started(3, 2 * 8 * 10000, seed, fault, ipsc860);
        exchange(fabric, &ipsc860, 100);
        exchange(fabric, &ipsc860, 10000);
        fabric_free(fabric);
    }
}
