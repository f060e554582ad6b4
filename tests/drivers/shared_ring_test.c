/*
 * Links in shared memory: both ends against each other in every order, with rings of four bytes;
 * then every word that a neighbour may write.
 */
#include "tests/drivers/stepped_ring.h"

#include "tests/testing.h"

#include <string.h>

enum { NEAR_WRAP = -3 };

/* ---- both ends in every order ---- */

/* Searches, once with stores in order and once without, and expects a fault or none. */
static void search(struct stepped_case scenario, enum stepped_fault in_order,
                   enum stepped_fault reordered)
{
    for (int r = 0; r < 2; r++) {
        scenario.reordered = r == 1;
        struct stepped_outcome outcome = stepped_search(&scenario);
        assert_string_equal(stepped_fault_name(outcome.fault),
                            stepped_fault_name(r ? reordered : in_order));
    }
}

static void expect_right(struct stepped_case scenario)
{
    search(scenario, STEPPED_RIGHT, STEPPED_RIGHT);
}

/* One sends, the other takes. */
static struct stepped_case one_way(uint32_t bytes, uint32_t piece, uint32_t bite)
{
    return (struct stepped_case){.ends = {{.bytes = bytes, .piece = piece, .room_wanted = 1},
                                          {.bite = bite, .bytes_wanted = 1}},
                                 .first = (uint32_t)NEAR_WRAP};
}

static struct stepped_case both_ways(uint32_t first_bytes, uint32_t second_bytes, uint32_t piece)
{
    return (struct stepped_case){
        .ends = {{.bytes = first_bytes, piece, 4, .bytes_wanted = 1, .room_wanted = 1},
                 {.bytes = second_bytes, piece, 4, .bytes_wanted = 1, .room_wanted = 1}},
        .first = (uint32_t)NEAR_WRAP};
}

TEST(bytes_arrive_in_order_however_they_are_cut)
{
    for (uint32_t bytes = 1; bytes <= 5; bytes++) {
        for (uint32_t piece = 1; piece <= bytes; piece++) {
            expect_right(one_way(bytes, piece, piece == 2 ? 1 : 4));
        }
    }
}

TEST(counts_start_anywhere)
{
    for (uint32_t first = 0 - 4u; first != 4; first++) {
        struct stepped_case scenario = one_way(4, 3, 4);
        scenario.first = first;
        expect_right(scenario);
    }
}

TEST(both_ways_at_once_nobody_is_forgotten)
{
    expect_right(both_ways(1, 1, 1));
    expect_right(both_ways(2, 2, 2));
    expect_right(both_ways(5, 1, 5));
    expect_right(both_ways(3, 2, 1));
}

/* One end wants so many bytes before it is woken, the other so much room. */
static struct stepped_case with_wants(uint32_t bytes, uint32_t room)
{
    struct stepped_case scenario = one_way(5, 1, 4);

    scenario.ends[1].bytes_wanted = bytes;
    scenario.ends[0].room_wanted = room;
    return scenario;
}

TEST(who_wants_more_is_woken_when_it_is_there)
{
    for (uint32_t bytes = 1; bytes <= SHARED_RING_BYTES; bytes++) {
        expect_right(with_wants(bytes, SHARED_RING_BYTES));
        expect_right(with_wants(SHARED_RING_BYTES, bytes));
    }
}

/* Who does not look once more behind the publishing may sleep before the ring is full. */
TEST(halves_of_the_ring_may_be_wanted_from_both_sides_and_not_much_more)
{
    for (uint32_t bytes = 2; bytes <= SHARED_RING_BYTES; bytes++) {
        struct stepped_case most = with_wants(bytes, SHARED_RING_BYTES + 1 - bytes),
                            more = with_wants(bytes, SHARED_RING_BYTES + 2 - bytes);

        most.ends[0].lazy = more.ends[0].lazy = true;
        expect_right(most);
        search(more, STEPPED_STUCK, STEPPED_STUCK);
    }
}

TEST(an_end_may_start_again_at_any_step)
{
    for (unsigned restarts = 1; restarts <= 3; restarts++) {
        struct stepped_case small = one_way(1, 1, 1), large = one_way(5, 5, 4);
        small.restarts = large.restarts = restarts;
        expect_right(small);
        if (restarts < 3) {
            expect_right(large);
        }
    }
    struct stepped_case both = both_ways(1, 1, 1);
    both.restarts = 1;
    expect_right(both);
}

static void finds(enum stepped_mutant mutant, unsigned restarts, enum stepped_fault in_order,
                  enum stepped_fault reordered)
{
    struct stepped_case scenario = one_way(2, 1, 1);
    scenario.mutant = mutant;
    scenario.restarts = restarts;
    search(scenario, in_order, reordered);
}

TEST(without_a_barrier_a_wake_up_is_lost)
{
    finds(MUTANT_NO_BARRIER_BEFORE_LOOK, 0, STEPPED_STUCK, STEPPED_STUCK);
    finds(MUTANT_NO_BARRIER_AFTER_SLEEP, 0, STEPPED_STUCK, STEPPED_STUCK);
}

TEST(without_the_second_look_a_wake_up_is_lost)
{
    finds(MUTANT_NO_SECOND_LOOK, 0, STEPPED_STUCK, STEPPED_STUCK);
}

TEST(without_a_new_number_a_wake_up_is_lost)
{
    finds(MUTANT_SAME_NUMBER, 0, STEPPED_STUCK, STEPPED_STUCK);
}

TEST(who_forgets_whom_it_rang_for_rings_twice)
{
    finds(MUTANT_RINGS_AGAIN, 0, STEPPED_TWO_BELLS, STEPPED_TWO_BELLS);
}

TEST(counts_before_bytes_are_wrong_bytes_where_stores_pass_each_other)
{
    finds(MUTANT_NO_BARRIER_BEFORE_COUNTS, 0, STEPPED_RIGHT, STEPPED_WRONG_BYTE);
}

TEST(who_starts_again_must_ring_once_too_often)
{
    finds(MUTANT_SILENT_AT_START, 1, STEPPED_STUCK, STEPPED_STUCK);
    finds(MUTANT_RUNG_BEFORE, 1, STEPPED_STUCK, STEPPED_STUCK);
}

/* ---- what a neighbour may write ---- */

static struct shared_memory memory;

static const uint32_t starts[] = {0, 5, 0x7fffffff, 0xfffffffd};
enum { STARTS = 4, SPAN = 40 };

/* An end at side 0: it has put so many of which the neighbour has taken some, and the same the
 * other way. */
static struct shared_end end_with(uint32_t start, uint32_t put, uint32_t their_taken,
                                  uint32_t their_put, uint32_t taken)
{
    struct shared_end end;
    uint8_t bytes[SHARED_RING_BYTES] = "abc";

    memset(&memory, 0, offsetof(struct shared_memory, ring));
    memory.side[0].words.put = memory.side[0].words.taken = start;
    memory.side[1].words.put = memory.side[1].words.taken = start;
    shared_end_init(&end, &memory, 0);
    assert_false(end.broken);
    assert_int_equal(shared_end_put(&end, bytes, put), put);
    memory.side[1].words.put = start + their_put;
    assert_int_equal(shared_end_take(&end, bytes, taken), taken);
    assert_false(shared_end_publish(&end));
    memory.side[1].words.taken = start + their_taken;
    (void)shared_end_missed(&end, their_put == taken ? SHARED_RING_BYTES : 0, SHARED_RING_BYTES);
    assert_false(end.broken);
    return end;
}

/* A broken end does nothing any more. */
static void expect_dead(struct shared_end *end)
{
    const uint32_t put = memory.side[0].words.put, taken = memory.side[0].words.taken;
    uint8_t byte = 0x77, ring = memory.ring[0][end->put % SHARED_RING_BYTES];

    assert_int_equal(shared_end_put(end, &byte, 1), 0);
    assert_int_equal(shared_end_take(end, &byte, 1), 0);
    assert_false(shared_end_publish(end));
    assert_false(shared_end_missed(end, 1, 1));
    assert_int_equal(byte, 0x77);
    assert_int_equal(memory.ring[0][end->put % SHARED_RING_BYTES], ring);
    assert_int_equal(memory.side[0].words.put, put);
    assert_int_equal(memory.side[0].words.taken, taken);
    assert_true(end->broken);
}

/* The values near what can be, then far ones. */
static uint32_t candidate(uint32_t start, int index)
{
    return index < 2 * SPAN ? start + (uint32_t)(index - SPAN)
                            : start + (1u << (index - 2 * SPAN)) - 1;
}

enum { CANDIDATES = 2 * SPAN + 32 };

TEST(a_count_of_bytes_put_that_cannot_be_breaks_the_end)
{
    for (int s = 0; s < STARTS; s++) {
        for (uint32_t known = 0; known <= SHARED_RING_BYTES; known++) {
            for (int i = 0; i < CANDIDATES; i++) {
                struct shared_end end = end_with(starts[s], 0, 0, known, 0);
                uint32_t value = candidate(starts[s], i), believed = value - starts[s];
                uint8_t bytes[SHARED_RING_BYTES + 1];
                bool possible =
                    believed >= end.their_put - starts[s] && believed <= SHARED_RING_BYTES;
                memory.side[1].words.put = value;
                uint32_t taken = shared_end_take(&end, bytes, sizeof bytes);
                assert_int_equal(end.broken, !possible);
                assert_int_equal(taken, possible ? believed : 0);
                if (!possible) {
                    expect_dead(&end);
                }
            }
        }
    }
}

TEST(a_count_of_bytes_taken_that_cannot_be_breaks_the_end)
{
    for (int s = 0; s < STARTS; s++) {
        for (uint32_t put = 0; put <= SHARED_RING_BYTES; put++) {
            for (uint32_t known = 0; known <= put; known++) {
                for (int i = 0; i < CANDIDATES; i++) {
                    struct shared_end end = end_with(starts[s], put, known, 0, 0);
                    uint32_t value = candidate(starts[s], i), believed = value - starts[s];
                    uint8_t bytes[2 * SHARED_RING_BYTES] = {0};
                    bool possible = believed >= known && believed <= put;
                    memory.side[1].words.taken = value;
                    uint32_t gone = shared_end_put(&end, bytes, sizeof bytes);
                    assert_int_equal(end.broken, !possible);
                    assert_int_equal(gone, possible ? SHARED_RING_BYTES - put + believed : 0);
                    if (!possible) {
                        expect_dead(&end);
                    }
                }
            }
        }
    }
}

TEST(the_second_look_and_the_start_believe_no_more)
{
    for (int i = 0; i < CANDIDATES; i++) {
        struct shared_end end = end_with(5, 2, 1, 3, 2);
        uint32_t value = candidate(5, i);
        memory.side[1].words.put = value;
        bool there = shared_end_missed(&end, 1, 0);
        assert_int_equal(end.broken, value - 5 < 3 || value - 5 > 2 + SHARED_RING_BYTES);
        assert_int_equal(there, !end.broken && value - 5 >= 3);
        end = end_with(5, 2, 1, 3, 2);
        memory.side[1].words.taken = value;
        there = shared_end_missed(&end, 0, 4);
        assert_int_equal(end.broken, value - 5 < 1 || value - 5 > 2);
        assert_int_equal(there, !end.broken && value - 5 == 2);
        end = end_with(5, 2, 1, 3, 2);
        memory.side[1].words.put = value;
        shared_end_init(&end, &memory, 0);
        assert_int_equal(end.broken, value - 7 > SHARED_RING_BYTES);
        end = end_with(5, 2, 1, 3, 2);
        memory.side[1].words.taken = value;
        shared_end_init(&end, &memory, 0);
        assert_int_equal(end.broken, 7 - value > SHARED_RING_BYTES);
    }
}

TEST(whatever_a_sleeper_writes_it_is_rung_for_once)
{
    for (int number = 0; number < CANDIDATES; number++) {
        for (int wants = 0; wants < CANDIDATES; wants++) {
            struct shared_end end = end_with(0, 1, 0, 2, 1);
            uint8_t byte;
            memory.side[1].words.sleep = candidate(0, number);
            memory.side[1].words.put_from = candidate(0, wants);
            memory.side[1].words.taken_from = candidate(0, wants);
            assert_int_equal(shared_end_put(&end, &byte, 1), 1);
            bool rang = shared_end_publish(&end);
            assert_true(!rang || (candidate(0, number) & 3) != 0);
            assert_int_equal(shared_end_take(&end, &byte, 1), 1);
            assert_true(!shared_end_publish(&end) || !rang);
            assert_false(end.broken);
        }
    }
}

TEST(a_number_is_rung_for_when_what_it_waits_for_has_come)
{
    for (uint32_t sleep = 0xfffffff0; sleep != 0x10; sleep++) {
        for (uint32_t from = 0; from < 5; from++) {
            struct shared_end end = end_with(0xfffffffe, 1, 0, 2, 0);
            uint32_t before = end.rung;
            uint8_t byte;
            memory.side[1].words.sleep = sleep;
            memory.side[1].words.put_from = memory.side[1].words.taken_from = 0xfffffffe + from;
            assert_int_equal(shared_end_put(&end, &byte, 1), 1); /* two are put, one is taken */
            assert_int_equal(shared_end_take(&end, &byte, 1), 1);
            assert_int_equal(shared_end_publish(&end),
                             (sleep & ~3u) != before &&
                                 ((sleep & SHARED_WANTS_BYTES && from <= 2) ||
                                  (sleep & SHARED_WANTS_ROOM && from <= 1)));
        }
    }
}
