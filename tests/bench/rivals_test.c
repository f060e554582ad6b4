/*
 * The libraries' algorithms as plans: they are plans, they take what SimGrid says where its model
 * and ours mean the same, and every library selects something for every size.
 */
#include "tests/testing.h"

#include <stdlib.h>

#include "bench/rivals/comparison.h"
#include "network/text.h"

enum { NODES_OF = 3, SIMGRID_CLOCK_NS = 5 };

static const uint16_t nodes_of[NODES_OF] = {8, 32, 128};

static struct network cube(unsigned dims)
{
    static const struct network_limits limits = {NETWORK_NODES_MAX, ""};
    struct network network;
    char error[NETWORK_ERROR_MAX], name[] = {'c', 'u', 'b', 'e', ':', (char)('0' + dims), '\0'};

    assert_true(network_parse(&network, name, &limits, error));
    return network;
}

static struct plan *planned(const struct rival *rival, unsigned dims, uint32_t bytes)
{
    struct network network = cube(dims);
    struct plan_fault fault = {.words = ""};
    struct plan *plan = rival_plan(rival, &network, bytes, &fault);

    if (!plan) {
        print_message("%s %s on cube:%u, %u bytes: %s\n", operation_name(rival->operation),
                      rival->name, dims, bytes, fault.words);
    }
    assert_non_null(plan);
    return plan;
}

/* Of which there is one piece, and several. */
TEST(every_rival_is_a_plan_on_cubes)
{
    for (unsigned i = 0; i < RIVALS; i++) {
        for (unsigned dims = 1; dims <= 5; dims++) {
            plan_free(planned(&rivals[i], dims, 64));
            plan_free(planned(&rivals[i], dims, 20000));
        }
    }
}

/* Where nobody waits for a link or a port, SimGrid 3.32 simulates the same times on the platform
 * of bench/simgrid_run.h, with the library's selector. */
TEST(rivals_take_what_simgrid_says)
{
    static const struct {
        unsigned dims;
        enum rival_number rival;
        uint32_t bytes;
        uint64_t ns;
    } figures[] = {
        {3, ALLTOALL_BRUCK, 16, 336600},
        {3, ALLTOALL_BRUCK, 100, 765000},
        {5, ALLTOALL_BRUCK, 1000, 34475000},
        {5, ALLTOALL_DOUBLING, 16, 7120600},
        {7, ALLTOALL_BRUCK, 100, 19775000},
        {3, ALLGATHER_DOUBLING, 1000, 3200000},
        {7, ALLGATHER_DOUBLING, 10000, 540275000},
        {5, ALLGATHER_NEIGHBOURS, 10000, 133270000},
        {7, ALLGATHER_RING, 10000, 554475000},
        {3, BROADCAST_BINOMIAL, 1000, 1500000},
        {7, BROADCAST_BINOMIAL, 10000, 30275000},
        {5, BROADCAST_SCATTER_DOUBLING, 100000, 83093750},
        {3, ALLREDUCE_DOUBLING, 16, 245400},
        {7, ALLREDUCE_DOUBLING, 100, 822500},
        {3, ALLREDUCE_RABENSEIFNER, 100000, 74825000},
        {5, ALLREDUCE_TREE_BINOMIAL, 100, 1175000},
        {3, REDUCE_SCATTER_HALVING, 10000, 29975000},
        {7, REDUCE_SCATTER_HALVING, 1000, 54500000},
        {5, REDUCE_SCATTER_DOUBLING, 100, 5857500},
        {5, REDUCE_SCATTER_PAIRS, 10000, 134905000},
    };

    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        const struct rival *rival = &rivals[figures[i].rival];
        struct plan *plan = planned(rival, figures[i].dims, figures[i].bytes);
        uint64_t ns =
            plan_time(plan, figures[i].bytes, RIVAL_ELEMENT_BYTES, &compared_profile).model_ns;
        assert_in_range(ns, figures[i].ns - SIMGRID_CLOCK_NS, figures[i].ns + SIMGRID_CLOCK_NS);
        plan_free(plan);
    }
}

static bool selects(enum library library, uint32_t operation, uint16_t nodes, uint32_t bytes)
{
    const struct selection *s;

    for (unsigned i = 0; (s = selection_of(i)); i++) {
        if (s->library == library && rivals[s->rival].operation == operation && s->nodes == nodes &&
            bytes >= s->bytes_first && bytes <= s->bytes_last) {
            return true;
        }
    }
    return false;
}

/* Ends of ranges and what lies beside them are enough. */
TEST(every_library_selects_for_every_size)
{
    static const uint32_t operations[] = {ECUBE_EXCHANGE, ECUBE_ALLGATHER, ECUBE_BROADCAST,
                                          ECUBE_ALLREDUCE, ECUBE_REDUCE_SCATTER};
    const struct selection *s;

    for (unsigned i = 0; (s = selection_of(i)); i++) {
        for (unsigned o = 0; o < sizeof operations / sizeof operations[0]; o++) {
            for (unsigned n = 0; n < NODES_OF; n++) {
                for (unsigned library = 0; library < LIBRARIES; library++) {
                    enum library one = (enum library)library;
                    assert_true(s->bytes_first <= s->bytes_last);
                    assert_true(selects(one, operations[o], nodes_of[n], s->bytes_first));
                    assert_true(selects(one, operations[o], nodes_of[n], s->bytes_last));
                    if (s->bytes_last < BYTES_MOST) {
                        assert_true(selects(one, operations[o], nodes_of[n], s->bytes_last + 1));
                    }
                }
            }
        }
    }
}

TEST(every_rival_is_selected_by_a_library)
{
    const struct selection *s;
    bool selected[RIVALS] = {false};

    for (unsigned i = 0; (s = selection_of(i)); i++) {
        selected[s->rival] = true;
    }
    for (unsigned i = 0; i < RIVALS; i++) {
        assert_non_null(rivals[i].plan);
        assert_true(selected[i]);
    }
}
