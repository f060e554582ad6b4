/*
 * Closed forms and lower bounds against numbers worked out from the paper, and against sums over
 * steps.
 */
#include "tests/unit/testing.h"

#include "include/ecube/predict.h"

static const struct ecube_profile ipsc860 = {.xi_ns = 65425, .tau_ns = 9575, .element_ns = 425};
static const struct ecube_profile unit = {.xi_ns = 1000, .tau_ns = 1000, .element_ns = 1000};

static const struct {
    uint32_t dims;
    uint32_t block_bytes;
    uint64_t time_ns;
    uint64_t bound_ns;
} golden[] = {
#include "tests/golden/aap_times.txt"
};

static void aap_takes_the_papers_time_on_the_ipsc860(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof golden / sizeof golden[0]; i++) {
        uint32_t dims = golden[i].dims;
        uint32_t bytes = golden[i].block_bytes;
        assert_int_equal(ecube_predict_ns(ECUBE_EXCHANGE, dims, bytes, &ipsc860),
                         golden[i].time_ns);
        assert_int_equal(ecube_bound_ns(ECUBE_EXCHANGE, dims, bytes, &ipsc860), golden[i].bound_ns);
    }
}

static void eta_of_128_nodes_and_100_bytes_is_3_359(void **state)
{
    (void)state;
    uint64_t time_ns = ecube_predict_ns(ECUBE_EXCHANGE, 7, 100, &ipsc860);
    uint64_t bound_ns = ecube_bound_ns(ECUBE_EXCHANGE, 7, 100, &ipsc860);
    assert_int_equal(time_ns, 18132500);
    assert_int_equal((time_ns * 1000 + bound_ns / 2) / bound_ns, 3359);
}

static uint64_t binomial(uint32_t n, uint32_t k)
{
    uint64_t value = 1;
    for (uint32_t i = 1; i <= k; i++) {
        value = value * (n - k + i) / i;
    }
    return value;
}

static uint64_t circuit_ns(const struct ecube_profile *profile, uint64_t hops, uint64_t bytes)
{
    return profile->xi_ns + hops * profile->tau_ns + (hops + bytes - 1) * profile->element_ns;
}

static void check_sums(const struct ecube_profile *profile, uint32_t dims, uint32_t bytes)
{
    uint64_t exchange_ns = 0;
    uint64_t tree_ns = 0;
    for (uint32_t hops = 1; hops <= dims; hops++) {
        exchange_ns += binomial(dims, hops) * circuit_ns(profile, hops, bytes);
        tree_ns += circuit_ns(profile, 1, (uint64_t)bytes << (hops - 1));
    }
    assert_int_equal(ecube_predict_ns(ECUBE_EXCHANGE, dims, bytes, profile), exchange_ns);
    assert_int_equal(ecube_predict_ns(ECUBE_SCATTER, dims, bytes, profile), tree_ns);
    assert_int_equal(ecube_predict_ns(ECUBE_GATHER, dims, bytes, profile), tree_ns);
    assert_int_equal(ecube_predict_ns(ECUBE_BROADCAST, dims, bytes, profile),
                     dims * circuit_ns(profile, 1, bytes));
    assert_int_equal(ecube_predict_ns(ECUBE_BARRIER, dims, bytes, profile),
                     dims * circuit_ns(profile, 1, 0));
}

static void every_closed_form_is_the_sum_of_its_circuits(void **state)
{
    (void)state;
    for (uint32_t dims = 0; dims <= 16; dims++) {
        for (uint32_t bytes = 0; bytes <= 70000; bytes = bytes * 3 + 1) {
            check_sums(&ipsc860, dims, bytes);
            check_sums(&unit, dims, bytes);
        }
    }
}

/* 65,536 nodes, the largest blocks whose offsets fit 32 bits, 10 ms a byte; worked out with longer
 * integers. */
static void the_largest_cube_does_not_overflow(void **state)
{
    (void)state;
    static const struct ecube_profile slow = {
        .xi_ns = UINT32_MAX, .tau_ns = UINT32_MAX, .element_ns = 10000000};
    assert_int_equal(ecube_predict_ns(ECUBE_EXCHANGE, 16, 65535, &slow),
                     UINT64_C(45486220274838785));
    assert_int_equal(ecube_predict_ns(ECUBE_SCATTER, 16, 65535, &slow),
                     UINT64_C(42948499688953440));
    assert_int_equal(ecube_bound_ns(ECUBE_EXCHANGE, 16, 65535, &slow), UINT64_C(42948362250000000));
}

static void one_node_needs_no_time(void **state)
{
    (void)state;
    for (uint32_t operation = ECUBE_BARRIER; operation <= ECUBE_EXCHANGE; operation++) {
        assert_int_equal(ecube_predict_ns(operation, 0, 1000, &ipsc860), 0);
        assert_int_equal(ecube_bound_ns(operation, 0, 1000, &ipsc860), 0);
        assert_int_equal(ecube_predict_steps(operation, 0), 0);
    }
}

TEST_MAIN(cmocka_unit_test(aap_takes_the_papers_time_on_the_ipsc860),
          cmocka_unit_test(eta_of_128_nodes_and_100_bytes_is_3_359),
          cmocka_unit_test(every_closed_form_is_the_sum_of_its_circuits),
          cmocka_unit_test(the_largest_cube_does_not_overflow),
          cmocka_unit_test(one_node_needs_no_time))
