/*
 * gossip_test.c - searched gossips: barriers at their bound, allgathers of short blocks, the same
 * each time; what a shelf gives is looked at.
 */
#include "tests/testing.h"

#include <string.h>

#include "planner/algorithms/candidates.h"
#include "planner/algorithms/gossip.h"
#include "tests/networks.h"
#include "tests/planner/fake_shelf.h"
#include "tests/planner/planned.h"

static const struct profile ipsc860 = {65425, 9575, 425, 1000, 0, 1};

static struct plan *planned(const char *name, uint32_t operation, const char *algorithm)
{
    const struct plan_request request = {.operation = operation,
                                         .bytes = 8,
                                         .type = ECUBE_INT32,
                                         .algorithm = algorithm,
                                         .profile = &ipsc860};

    return planned_for(name, &request);
}

TEST(these_barriers_are_at_their_bound)
{
    static const char *const names[] = {"ring:3", "ring:5", "ring:6", "torus:3x3"};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct plan *plan = planned(names[i], ECUBE_BARRIER, NULL);
        struct plan_time time = plan_time(plan, 0, 1, &ipsc860);
        assert_int_equal(time.model_ns, time.bound_ns);
        plan_free(plan);
    }
}

TEST(gossips_do_what_they_promise)
{
    static const char *const names[] = {"ring:3", "ring:8", "mesh:1x4", "mesh:3x3", "torus:2x5"};
    static const uint32_t operations[] = {ECUBE_BARRIER, ECUBE_ALLGATHER, ECUBE_REDUCE_SCATTER};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned k = 0; k < sizeof operations / sizeof operations[0]; k++) {
            struct plan *plan = planned(names[i], operations[k], "gossip");
            const char *fault = machine_tries(plan, operations[k] == ECUBE_BARRIER ? 0 : 96);
            if (fault) {
                fail_msg("%s on %s: %s", operation_name(operations[k]), names[i], fault);
            }
            plan_free(plan);
        }
    }
}

TEST(gossips_take_no_less_than_they_say)
{
    static const char *const names[] = {"ring:6", "mesh:3x3"};
    static const uint32_t operations[] = {ECUBE_BARRIER, ECUBE_ALLGATHER, ECUBE_REDUCE_SCATTER};

    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        for (unsigned k = 0; k < sizeof operations / sizeof operations[0]; k++) {
            struct plan *plan = planned(names[i], operations[k], "gossip");
            for (uint32_t bytes = 0; bytes < 100000; bytes = 4 * (bytes + 1)) {
                for (unsigned all = 0; all < 2; all++) {
                    struct profile profile = ipsc860;
                    profile.ports = all ? PORTS_ALL : 1;
                    const struct plan_request request = {
                        .operation = operations[k], .bytes = bytes, .profile = &profile};
                    assert_true(plan_model_ns(plan, bytes, 4, &profile) >=
                                gossip_least(&plan->network, &request).ns);
                }
            }
            plan_free(plan);
        }
    }
}

/* The shelf ---------------------------------------------------------------------------------- */

static uint32_t digest_with(struct fake *fake, const char *name)
{
    fake_use(fake);
    struct plan *plan = planned(name, ECUBE_ALLGATHER, "gossip");
    uint32_t digest = plan->digest;
    plan_free(plan);
    plan_use_shelf(NULL);
    return digest;
}

/* Whoever changes what is found gives the search another version. */
TEST(this_is_what_version_1_finds)
{
    static const struct {
        const char *name;
        uint32_t sum; /* of the table */
    } cases[] = {{"ring:7", 0xd257266f}, {"mesh:3x4", 0x1e5d01bd}, {"torus:3x5", 0xc35654eb}};

    assert_int_equal(GOSSIP_VERSION, 1);
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake fake = {.count = 0};
        digest_with(&fake, cases[i].name);
        if (fake_sum(&fake) != cases[i].sum) {
            fail_msg("%s: %#x", cases[i].name, (unsigned)fake_sum(&fake));
        }
    }
}

/* Every word made another one, or left out: what is used tells all of all. */
TEST(a_damaged_table_is_refused_and_found_anew)
{
    struct fake whole = {.count = 0};
    uint32_t digest = digest_with(&whole, "ring:6");
    unsigned refused = 0;

    for (uint32_t at = 0; at < whole.count; at++) {
        for (unsigned change = 0; change < 2; change++) {
            struct fake fake = whole;
            fake.words[at] = change ? UINT16_MAX : fake.words[at] + 1;
            uint32_t other = digest_with(&fake, "ring:6");
            refused += fake.refused;
            assert_true(!fake.refused || (other == digest && fake.count == whole.count));
        }
        struct fake fake = whole;
        fake.count = at ? at : whole.count + 1;
        assert_int_equal(digest_with(&fake, "ring:6"), digest);
        assert_int_equal(fake.refused, 1);
    }
    assert_true(refused > whole.count); /* all that is no node, and most of the others */
}
