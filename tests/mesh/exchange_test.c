/*
 * exchange_test.c - collectives on up to 64 real nodes: right data, and model time equal to the
 * closed form.
 */
#include <stdlib.h>
#include <string.h>

#include "drivers/status.h"
#include "tests/mesh/mesh.h"
#include "tests/unit/testing.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1500, 0};
static const struct profile unit = {1000, 1000, 1000, 1500, 0};
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

static struct mesh *started(unsigned dims, uint32_t data, uint64_t seed, struct memory_fault fault,
                            struct profile profile)
{
    struct mesh *mesh = mesh_make(dims, data, seed, fault, profile);

    assert_true(mesh_start(mesh));
    return mesh;
}

static void all_collective(struct mesh *mesh, const struct ecube_abi_collective *arguments)
{
    int32_t requests[128];

    for (unsigned rank = 0; rank < mesh->count; rank++)
        requests[rank] = mesh_collective(mesh, rank, arguments);
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        struct ecube_abi_result result = mesh_wait(mesh, rank, requests[rank]);
        assert_int_equal(result.status, E_OK);
    }
}

static void exchange(struct mesh *mesh, const struct profile *profile, uint32_t bytes)
{
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = bytes,
                                             .send = MESH_DATA,
                                             .receive = MESH_DATA + mesh->count * bytes};

    for (unsigned rank = 0; rank < mesh->count; rank++) {
        uint8_t *send = mesh_at(mesh, rank, arguments.send);
        memset(mesh_at(mesh, rank, arguments.receive), 0, mesh->count * bytes);
        for (unsigned dst = 0; dst < mesh->count; dst++)
            for (unsigned i = 0; i < bytes; i++)
                send[dst * bytes + i] = pattern(rank, dst, i);
    }
    all_collective(mesh, &barrier);
    uint64_t before = mesh_clock(mesh, 0);
    all_collective(mesh, &arguments);
    for (unsigned rank = 0; rank < mesh->count; rank++) {
        const uint8_t *received = mesh_at(mesh, rank, arguments.receive);
        assert_int_equal(mesh_clock(mesh, rank) - before,
                         closed_form(profile, mesh->network.dims, bytes));
        for (unsigned src = 0; src < mesh->count; src++)
            for (unsigned i = 0; src != rank && i < bytes; i++)
                assert_int_equal(received[src * bytes + i], pattern(src, rank, i));
    }
}

static void exchange_takes_the_closed_form_to_the_tick_on_64_nodes(void **state)
{
    static const uint32_t sizes[] = {0, 1, 16, 100, 1000, 1024, 1025, 10000};

    (void)state;
    for (unsigned dims = 0; dims <= 6; dims++) {
        struct mesh *mesh = started(dims, 2 * 64 * 10000, 1 + dims, no_fault, ipsc860);
        for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            exchange(mesh, &ipsc860, sizes[i]);
        mesh_free(mesh);
    }
}

static void on_128_nodes_eta_of_100_bytes_is_3_359(void **state)
{
    (void)state;
    struct mesh *mesh = started(7, 2 * 128 * 100, 7, no_fault, ipsc860);
    struct ecube_abi_collective barrier = {.operation = ECUBE_BARRIER};
    struct ecube_abi_collective arguments = {.operation = ECUBE_EXCHANGE,
                                             .block_bytes = 100,
                                             .send = MESH_DATA,
                                             .receive = MESH_DATA + 128 * 100};
    all_collective(mesh, &barrier);
    uint64_t before = mesh_clock(mesh, 77);
    all_collective(mesh, &arguments);
    uint64_t took_ns = mesh_clock(mesh, 77) - before, bound_ns = 100 * 127 * 425;
    assert_int_equal(took_ns, 18132500);
    assert_int_equal((took_ns * 1000 + bound_ns / 2) / bound_ns, 3359);
    mesh_free(mesh);
}

static void exchange_of_64_kib_is_exact_in_the_unit_profile(void **state)
{
    (void)state;
    struct mesh *mesh = started(3, 2 * 8 * 65536, 99, no_fault, unit);
    exchange(mesh, &unit, 65536);
    exchange(mesh, &unit, 65536);
    mesh_free(mesh);
}

static void damaged_and_lost_bytes_are_repaired(void **state)
{
    struct memory_fault fault = {.flip_per_million = 20000, .drop_per_million = 20000};

    (void)state;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct mesh *mesh = started(3, 2 * 8 * 10000, seed, fault, ipsc860);
        exchange(mesh, &ipsc860, 100);
        exchange(mesh, &ipsc860, 10000);
        mesh_free(mesh);
    }
}

TEST_MAIN(cmocka_unit_test(exchange_takes_the_closed_form_to_the_tick_on_64_nodes),
          cmocka_unit_test(on_128_nodes_eta_of_100_bytes_is_3_359),
          cmocka_unit_test(exchange_of_64_kib_is_exact_in_the_unit_profile),
          cmocka_unit_test(damaged_and_lost_bytes_are_repaired))
