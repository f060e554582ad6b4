/*
 * enter_test.c - how a node enters a collective when its neighbours are early, late, at odds with
 * it, in error, or say what is not theirs to say.
 *
 * Node 0 of four meets 1 in round 0 and 2 in round 1.
 */
#include "drivers/status.h"
#include "router/circuit.h"
#include "router/router.h"
#include "tests/mesh/neighbour.h"
#include "tests/unit/testing.h"

enum { BYTES = 16 };

static const struct enter_body barrier = {.epoch = 1, .operation = ECUBE_BARRIER};

static int32_t node_enters(struct neighbours *all, uint32_t operation, uint32_t bytes,
                           uint32_t root)
{
    struct ecube_abi_collective arguments = {.operation = operation,
                                             .root = root,
                                             .block_bytes = bytes,
                                             .send = MESH_DATA,
                                             .receive = MESH_DATA + 4096};
    int32_t request = mesh_collective(all->mesh, 0, &arguments);

    assert_true(request >= 0);
    neighbours_turn(all);
    return request;
}

/* Node 0 has told a neighbour what it enters. */
static void entered(struct neighbours *all, unsigned rank, struct enter_body enter)
{
    const struct heard *heard = neighbours_expect(all, PACKET_ENTER, rank);

    assert_int_equal(heard->enter.epoch, enter.epoch);
    assert_int_equal(heard->enter.operation, enter.operation);
    assert_int_equal(heard->enter.round, rank - 1);
    assert_int_equal(heard->status, enter.status);
}

/* A neighbour tells node 0 that it enters. */
static void enters(struct neighbours *all, unsigned rank, struct enter_body enter)
{
    neighbour_enters(all, rank, &enter, rank - 1);
    neighbours_turn(all);
}

static struct enter_body with_status(struct enter_body enter, int status)
{
    enter.status = (int16_t)status;
    return enter;
}

static void entry_goes_round_by_round_whoever_is_first(void **state)
{
    struct neighbours *all = *state;

    int32_t request = node_enters(all, ECUBE_BARRIER, 0, 0);
    entered(all, 1, barrier);
    enters(all, 2, with_status(barrier, E_PEER_GONE)); /* it has met 3 already */
    neighbours_expect_no_more(all);
    enters(all, 1, barrier);
    entered(all, 2, barrier);
    neighbours_expect_no_more(all);
    node_is_done_with(all, request, E_PEER_GONE);
}

static void only_the_neighbour_of_a_round_enters_it_and_only_what_is_due(void **state)
{
    struct neighbours *all = *state;
    struct enter_body old = barrier, early = barrier;

    old.epoch = (uint16_t)(barrier.epoch - 2);
    early.epoch = barrier.epoch + 2;
    node_enters(all, ECUBE_BARRIER, 0, 0);
    entered(all, 1, barrier);
    neighbour_enters(all, 2, &barrier, 0);
    neighbour_enters(all, 1, &barrier, 1);
    neighbour_enters(all, 1, &barrier, 2);
    neighbour_enters(all, 1, &old, 0);
    neighbour_enters_in_part(all, 1, &barrier);
    enters(all, 1, with_status(barrier, 1));
    neighbours_expect_no_more(all);
    enters(all, 1, early);
    neighbours_expect_no_more(all);
    assert_int_equal(node_state(all).partner, 1); /* still in round 0 */
    enters(all, 1, barrier);
    entered(all, 2, barrier);
    assert_int_equal(node_state(all).stage, COLLECTIVE_ENTRY);
    enters(all, 2, barrier);
    assert_int_equal(node_state(all).stage, COLLECTIVE_STEPS);
}

static void a_neighbour_that_is_one_collective_ahead_is_remembered(void **state)
{
    struct neighbours *all = *state;
    struct enter_body gone = with_status(barrier, E_PEER_GONE), next = barrier;

    next.epoch++;
    enters(all, 1, gone);
    enters(all, 1, next);
    int32_t first = node_enters(all, ECUBE_BARRIER, 0, 0);
    entered(all, 1, barrier);
    entered(all, 2, gone);
    neighbours_expect_no_more(all);
    node_enters(all, ECUBE_BARRIER, 0, 0);
    neighbours_expect_no_more(all); /* one after the other */
    enters(all, 2, barrier);
    node_is_done_with(all, first, E_PEER_GONE);
    entered(all, 1, next);
    entered(all, 2, next);
    neighbours_expect_no_more(all);
    enters(all, 2, next);
    assert_int_equal(node_state(all).stage, COLLECTIVE_STEPS);
}

static void an_end_of_a_program_prevails_over_a_disagreement(void **state)
{
    struct neighbours *all = *state;
    int32_t request = node_enters(all, ECUBE_BARRIER, 0, 0);

    entered(all, 1, barrier);
    enters(all, 1, with_status(barrier, E_MISMATCH));
    entered(all, 2, with_status(barrier, E_MISMATCH));
    enters(all, 2, with_status(barrier, E_PEER_GONE));
    node_is_done_with(all, request, E_PEER_GONE);
    /* None was completed: a message from behind it comes too early. */
    router_schedule_done(&all->mesh->nodes[1].node->router, 1);
    neighbour_opens(all, 1, 0, OPEN_EAGER | OPEN_INLINE, BYTES);
    neighbours_turn(all);
    assert_int_equal(neighbours_expect(all, PACKET_REFUSE, 1)->status, E_BUSY);
    neighbour_answers(all, 1, PACKET_STOP, 0, 0);
    neighbours_turn(all); /* who has had an answer gets no other */
    neighbours_expect_no_more(all);
}

static void who_is_at_odds_in_operation_size_or_root_is_told(void **state)
{
    struct neighbours *all = *state;
    struct enter_body mine = {.epoch = 0, .operation = ECUBE_BROADCAST, .bytes = BYTES, .root = 1};

    for (unsigned i = 0; i < 8; i++) {
        bool second = i >= 4; /* it is node 2 that is */
        struct enter_body other = mine;
        mine.epoch++;
        other = mine;
        other.operation = i % 4 == 1 ? ECUBE_SCATTER : mine.operation;
        other.bytes += i % 4 == 2;
        other.root += i % 4 == 3;
        bool agrees = i % 4 == 0;
        if (agrees)
            other.status = E_PEER_GONE; /* or the broadcast would begin */
        int32_t request = node_enters(all, ECUBE_BROADCAST, BYTES, 1);
        entered(all, 1, mine);
        enters(all, 1, second ? mine : other);
        entered(all, 2, second ? mine : with_status(mine, agrees ? E_PEER_GONE : E_MISMATCH));
        enters(all, 2, second ? other : mine);
        node_is_done_with(all, request, agrees ? E_PEER_GONE : E_MISMATCH);
    }
}

/* Each once, whenever it came, and none answers an answer. */
static void who_enters_with_a_program_that_has_ended_is_told(void **state)
{
    struct neighbours *all = *state;
    struct enter_body gone = {.epoch = 1, .operation = OPERATION_GONE, .status = E_PEER_GONE};

    enters(all, 1, barrier);
    neighbours_expect_no_more(all);
    neighbour_answers(all, 1, PACKET_STOP, 0, 0);
    neighbours_turn(all);
    entered(all, 1, gone);
    enters(all, 2, barrier);
    entered(all, 2, gone);
    enters(all, 1, gone);
    enters(all, 2, gone);
    neighbours_expect_no_more(all);
}

static void what_a_program_has_begun_goes_on_without_it(void **state)
{
    struct neighbours *all = *state;

    node_enters(all, ECUBE_BARRIER, 0, 0);
    entered(all, 1, barrier);
    enters(all, 2, barrier);
    neighbour_answers(all, 1, PACKET_STOP, 0, 0);
    neighbours_turn(all);
    neighbours_expect_no_more(all);
    enters(all, 1, barrier);
    neighbours_expect(all, PACKET_OPEN, 1); /* the first step */
    entered(all, 2, barrier);
}

/* Node 0 has entered a barrier. A circuit comes that is, but for `rank`, `epoch`, `step` or
 * `bytes`, that of its present step. */
static void step_gets(struct neighbours *all, unsigned rank, unsigned epoch, unsigned step,
                      uint32_t bytes)
{
    struct circuit_source source = {.dst = 0,
                                    .flags = OPEN_SCHEDULE | OPEN_INLINE,
                                    .hops = one_hop,
                                    .match = node_state(all).step - 1u + step,
                                    .epoch = (uint16_t)(barrier.epoch + epoch),
                                    .data = {mesh_at(all->mesh, rank, MESH_DATA)},
                                    .bytes = {bytes},
                                    .token = token_make(TOKEN_REQUEST, 0, 0)};

    assert_int_equal(router_open(&all->mesh->nodes[rank].node->router, &source), E_OK);
    neighbours_turn(all);
}

static void a_step_takes_its_own_circuit_only(void **state)
{
    static const struct {
        unsigned rank, epoch, step;
        uint32_t bytes;
        bool taken;
    } cases[] = {
        {1, 0, 0, 0, true},  {1, 0, 0, 8, true}, /* and ends in error */
        {2, 0, 0, 0, false}, {1, 1, 0, 0, false}, {1, 0, 1, 0, false},
    };

    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct neighbours *all = *state;
        int32_t request = node_enters(all, ECUBE_BARRIER, 0, 0);
        enters(all, 1, barrier);
        enters(all, 2, barrier);
        struct state_body before = node_state(all);
        assert_int_equal(before.stage, COLLECTIVE_STEPS);
        assert_int_equal(before.partner, 1);
        step_gets(all, cases[i].rank, cases[i].epoch, cases[i].step, cases[i].bytes);
        if (cases[i].bytes)
            node_is_done_with(all, request, E_MISMATCH);
        else
            assert_int_equal(node_state(all).step, before.step + (cases[i].taken ? 1 : 0));
        neighbours_end(state);
        assert_int_equal(neighbours_begin(state), 0);
    }
}

#define NODE_TEST(f) cmocka_unit_test_setup_teardown(f, neighbours_begin, neighbours_end)

TEST_MAIN(NODE_TEST(entry_goes_round_by_round_whoever_is_first),
          NODE_TEST(only_the_neighbour_of_a_round_enters_it_and_only_what_is_due),
          NODE_TEST(a_neighbour_that_is_one_collective_ahead_is_remembered),
          NODE_TEST(an_end_of_a_program_prevails_over_a_disagreement),
          NODE_TEST(who_is_at_odds_in_operation_size_or_root_is_told),
          NODE_TEST(who_enters_with_a_program_that_has_ended_is_told),
          NODE_TEST(what_a_program_has_begun_goes_on_without_it),
          NODE_TEST(a_step_takes_its_own_circuit_only))
